"""Tenants of one database: what a verb answers or changes is as if a tenant were alone."""

from __future__ import annotations

import contextlib
import random
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pymongo")

from factbook.errors import FactbookError
from factbook.memory import Memory
from factbook.model.facts import EVERYONE, FactKind
from factbook.store.rows import LifeWhere, RejectionFilters
from factbook.testing import DAY, FrozenClock
from mongo_house import AGAIN, LIVES, LOVES, MAYBE, STEPS, SUMMARY, WRONG, keep, told

OWNERS = ("me", "ann")
TEXTS = (SUMMARY, f"{SUMMARY}That was all.\n", AGAIN)
SAID = (LOVES, LIVES, STEPS, MAYBE, WRONG, ("Asks for it step by step", *MAYBE[1:]))
PARTS = ["a", "A", "1:a", "a:1", "", " a", "a/", "é"]
NAMES = [f"{one}{other}" if one + other else "none" for one in PARTS for other in PARTS]
TENANTS = [f"{name}{n}" if NAMES.count(name) > 1 else name for n, name in enumerate(NAMES)]


Verb = Callable[[Memory, random.Random, str], Any]


def _number(memory: Memory, chance: random.Random, owner: str) -> int:
    """Return the number of a fact; now and then of another's, or one that there is not."""
    whose = owner if chance.random() < 0.8 else EVERYONE
    lives = memory.store.lives(LifeWhere(kinds=[FactKind.TYPED], owner=whose))
    there = [life.id for life in lives]
    return chance.choice([*there, *there, 9_999])


def _keep(memory: Memory, chance: random.Random, owner: str) -> Any:
    keep(memory, chance.choice(SAID), owner=owner, text=chance.choice(TEXTS))


def _refuse(memory: Memory, chance: random.Random, owner: str) -> Any:
    keep(memory, WRONG, owner=owner, text=chance.choice(TEXTS))


def _decide(memory: Memory, chance: random.Random, owner: str) -> Any:
    waiting = [proposal.id for proposal in memory.review.proposals(owner=owner)]
    number = chance.choice(waiting) if waiting else 9
    accept = chance.random() < 0.5
    return memory.review.decide(number, accept=accept, reason="so", owner=owner)


def _erase_owner(memory: Memory, chance: random.Random, owner: str) -> Any:
    return memory.erasure.erase_owner(owner, dry_run=chance.random() < 0.7).receipt.erased


def _erase(memory: Memory, chance: random.Random, owner: str) -> Any:
    number, dry_run = _number(memory, chance, owner), chance.random() < 0.5
    whole = chance.random() < 0.5
    done = memory.erasure.erase_fact(number, owner=owner, whole_episodes=whole, dry_run=dry_run)
    return done.receipt.erased


def _erase_rejection(memory: Memory, chance: random.Random, owner: str) -> Any:
    there = memory.sources.rejections(filters=RejectionFilters(owner=owner))
    number = chance.choice([*(row.id for row in there), 9_999])
    return memory.erasure.erase_rejection(number, owner=owner).receipt.erased


def _explain(memory: Memory, chance: random.Random, owner: str) -> Any:
    explained = memory.explain(_number(memory, chance, owner), owner=owner)
    quotes = sorted(row.quote for row in explained.evidence)
    return explained.fact.statement, quotes, [event.op for event in explained.history]


def _exported(memory: Memory, chance: random.Random, owner: str) -> Any:
    return sorted(
        str(record.get("statement") or record.get("text") or record.get("excerpt"))
        for record in memory.export(owner=owner)
        if record["record"] in ("fact", "episode", "rejection")
    )


def _import(memory: Memory, chance: random.Random, owner: str) -> Any:
    return memory.import_(list(memory.export()), dry_run=chance.random() < 0.5).receipt


def _counts(memory: Memory, chance: random.Random, owner: str) -> Any:
    stats = memory.stats()
    return stats.counts, stats.predicates, stats.hosts


def _rebuild(memory: Memory, chance: random.Random, owner: str) -> Any:
    """Return how many memories the record has: as many as an own file has facts."""
    with contextlib.suppress(FactbookError):  # the file alone: there is none
        memories = memory.typed.rebuild_record()
        state = memory.typed.record_state()
        assert state is not None
        assert (state.memories, state.problems) == (memories, [])
        return memories
    return len(told(memory)[0])


VERBS: tuple[tuple[int, Verb], ...] = (
    (8, _keep),
    (3, _decide),
    (4, _erase),
    (3, _erase_owner),
    (3, _explain),
    (1, _exported),
    (1, _import),
    (2, _counts),
    (1, _rebuild),
    (
        2,
        lambda memory, chance, owner: memory.review.pin(
            _number(memory, chance, owner), owner=owner
        ),
    ),
    (2, lambda memory, chance, owner: memory.forget(_number(memory, chance, owner), owner=owner)),
    (
        2,
        lambda memory, chance, owner: memory.review.feedback(
            _number(memory, chance, owner), right=True, owner=owner
        ),
    ),
    (3, _erase_rejection),
    (2, lambda memory, chance, owner: memory.typed.rejection_summary().lines()),
    (1, lambda memory, chance, owner: [row.excerpt for row in memory.sources.rejections()]),
    (
        2,
        lambda memory, chance, owner: [
            fact.statement for fact in memory.query_facts(kind=FactKind.TYPED, owner=owner)
        ],
    ),
    (1, lambda memory, chance, owner: [hit.text for hit in memory.recall("Kiel").hits]),
    (1, lambda memory, chance, owner: memory.context("Where do I live?", owner=owner).text),
    (1, lambda memory, chance, owner: memory.sql("SELECT count(*) AS n FROM facts")),
    (1, lambda memory, chance, owner: memory.check()),
    (2, lambda memory, chance, owner: memory.typed.envelope(owner=owner)),
    (1, lambda memory, chance, owner: told(memory, owner)),
)


class Tenant:
    """One tenant's file, and the same said to a file that is its own record."""

    def __init__(self, url: str, folder: Path, name: str, seed: int) -> None:
        self.name = name
        self.clock = FrozenClock()
        self.open = contextlib.ExitStack()
        self.seed = seed
        self.memories = [
            self.open.enter_context(
                Memory(
                    folder / f"{seed}{kind}.db",
                    clock=self.clock,
                    key_file=folder / "key",
                    model=None,
                    typed_store=typed_store,
                    tenant=name,
                )
            )
            for kind, typed_store in (("shared", url), ("own", ""))
        ]

    def do(self, step: int) -> Verb | None:
        """Do the same to both files; return what was done, None where it was an error."""
        weights, verbs = zip(*VERBS, strict=True)
        self.clock.now += DAY // 10
        answers, is_error = [], False
        for memory in self.memories:
            chance = random.Random(f"{self.seed}:{step}")
            [verb] = chance.choices(verbs, weights) if step > 1 else [(_keep, _refuse)[step]]
            try:
                answers.append(repr(verb(memory, chance, chance.choice(OWNERS))))
            except FactbookError as error:
                answers.append(f"{type(error).__name__}: {error}")
                is_error = True
        shared, own = answers
        assert shared == own, (self.name, self.seed, step)
        return None if is_error else verb

    def compare(self) -> None:
        """Hold all that both say of everybody to be the same."""
        shared, own = self.memories
        assert told(shared, EVERYONE) == told(own, EVERYONE), (self.name, self.seed)
        assert shared.check() == own.check() == []


@pytest.mark.parametrize("steps", [8, pytest.param(60, marks=pytest.mark.slow)])
def test_a_tenant_is_told_and_changes_only_its_own(
    mongo_address: str, tmp_path: Path, steps: int
) -> None:
    """64 tenants are 2,016 pairs. All have the same owners, and say the same of them."""
    assert len({*TENANTS}) == 64  # their names are made to be mistaken
    url = f"mongodb://{mongo_address}/test_{uuid.uuid4().hex[:12]}?directConnection=true"
    with contextlib.ExitStack() as open_:
        them = [Tenant(url, tmp_path, name, seed) for seed, name in enumerate(TENANTS)]
        for tenant in them:
            open_.enter_context(tenant.open)
        turns = [(tenant, step) for tenant in them for step in range(steps)]
        random.Random(8).shuffle(turns)  # each has its own order, and they are all in between
        done = {tenant.do(step) for tenant, step in turns}
        assert [place for place, (_, verb) in enumerate(VERBS) if verb not in done] == []
        for tenant in them:
            tenant.compare()
