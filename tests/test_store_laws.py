"""A store answers as the store in memory does, whatever was written to both."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from factbook.apply.apply import apply
from factbook.errors import NotFound
from factbook.model.facts import (
    EVERYONE,
    At,
    EpisodeKind,
    FactKind,
    Role,
    Stance,
    Status,
    Trigger,
    Trust,
)
from factbook.store.kinds import EPISODE, ERASED, KINDS, ErasedRow, Least
from factbook.store.port import Store, Writer
from factbook.store.rows import Filters, LifeWhere
from factbook.store.sqlite import SQLiteStore
from factbook.testing import sample_episode
from factbook.testing.contract.base import NOW, evidence, fill, life, writing
from factbook.testing.contract.erased import ERASURES, every_row, scene
from factbook.testing.contract.examples import EXAMPLES, NEEDS
from factbook.testing.contract.records import every, give_needs, key
from factbook.testing.contract.search import DIM, packed
from factbook.testing.memory_store import open_memory

AT = 1_763_000_000_000
OWNERS = st.sampled_from(["me", "ann", "Bob"])
TIMES = st.none() | st.integers(AT, AT + 5)
# Words that every stemmer leaves alone.
TEXTS = st.lists(st.sampled_from(["nas", "Oslo", "kef", "tool", "é", "x1", "a_b"]), max_size=4).map(
    " ".join
)
PLACES = st.sampled_from(["", "/home/ann/shop", "/srv/Shop", "/x"])
SESSIONS = st.sampled_from(["", "s1", "s2"])
STATES = [
    (Status.ACTIVE, None),
    (Status.PROPOSED, None),
    (Status.PENDING_EMBED, None),
    (Status.RETRACTED, NOW),
]
EPISODES = st.fixed_dictionaries(
    {
        "text": TEXTS,
        "owner": OWNERS,
        "occurred_at": TIMES,
        "project": PLACES,
        "session": SESSIONS,
        "kind": st.sampled_from([EpisodeKind.TURN, EpisodeKind.TOOL_CALL, EpisodeKind.SUMMARY]),
        "role": st.sampled_from([Role.USER, Role.ASSISTANT]),
        "trust": st.sampled_from([*Trust]),
        "speaker": st.sampled_from(["", "bob", "Me"]),
        "embed": st.booleans(),
    }
)
FACTS = st.fixed_dictionaries(
    {
        "owner": OWNERS,
        "subject": st.sampled_from(["kef", "oslo"]),
        "predicate": st.sampled_from(["user.name", "user.name.first", "likes"]),
        "statement": TEXTS,
        "kind": st.sampled_from([FactKind.OBSERVATION, FactKind.TYPED, FactKind.WORLD]),
        "confidence": st.sampled_from([0.0, 0.25, 0.9, 1.0]),
        "confidence_at": st.integers(AT, AT + 5),
        "occurred_at": TIMES,
        "pinned": st.booleans(),
        "embeddable": st.just(True),
        "episode_id": st.integers(1, 3),
    }
)
ROWS = [
    (kind, verb, n)
    for kind in KINDS
    for verb in ("add", "put", "drop")
    for n in range(3)
    # What others refer to is there from the beginning, and stays.
    if verb == "add"
    or not (kind.append_only or (verb == "drop" and any(kind in one for one in NEEDS.values())))
]
WRITES = st.one_of(
    st.tuples(st.just("episode"), st.integers(1, 3), EPISODES),
    st.tuples(st.just("fact"), FACTS, st.sampled_from(STATES)),
    st.tuples(st.just("change"), st.integers(1, 4), FACTS, st.sampled_from(STATES)),
    st.tuples(
        st.just("evidence"), st.integers(1, 3), st.integers(1, 3), st.sampled_from([*Stance])
    ),
    st.tuples(st.just("record"), st.sampled_from(ROWS)),
    st.tuples(st.just("vectors"), st.sampled_from(["episode", "fact"]), st.integers(1, 5)),
    st.tuples(st.just("rewrite"), st.integers(1, 4), TEXTS, st.booleans()),
    st.tuples(st.just("erase"), st.sampled_from(["episode", "source"]), st.integers(1, 4)),
    st.tuples(st.just("no vectors"), st.sampled_from(["episode", "fact"]), st.integers(1, 5)),
)
FILTERS = st.builds(
    Filters,
    owner=OWNERS | st.just(EVERYONE),
    since=TIMES,
    until=TIMES,
    project=st.sampled_from(["", "shop", "SRV"]),
    session=SESSIONS,
    predicates=st.sampled_from([(), ("likes",)]),
    kinds=st.sampled_from([(), (FactKind.TYPED, FactKind.WORLD)]),
    episode_kinds=st.sampled_from([(), (EpisodeKind.TURN,)]),
    roles=st.sampled_from([(), (Role.USER,)]),
    trusts=st.sampled_from([(), (Trust.DIRECT, Trust.OBSERVED)]),
    min_confidence=st.sampled_from([0.0, 0.25, 0.5]),
    subject=st.sampled_from(["", "kef"]),
    rules=st.sampled_from([(), ("used_tool",), ("other",)]),
    turns_any_time=st.booleans(),
    now=st.none() | st.integers(AT, AT + 10**11),
    deprecated=st.booleans(),
    proposed=st.booleans(),
    ids=st.none() | st.lists(st.integers(0, 7), max_size=4),
)


def write(writer: Writer, n: int, what: tuple[Any, ...]) -> object:
    """Do one thing of a write; return what the store says of it."""
    match what:
        case "episode", source, given:
            return writer.add_episodes([(source, sample_episode(n, uid=f"n{n}", **given))])
        case "fact", given, (status, retired_at):
            row = life(n, **given, object=f"object {n}", status=status, retired_at=retired_at)
            return writer.add_facts([row])
        case "change", fact_id, given, (status, retired_at):
            [row] = writer.lives(LifeWhere(ids=[fact_id])) or [None]
            if row is not None:
                given = {name: given[name] for name in ("confidence", "pinned", "occurred_at")}
                after = row._replace(**given, status=status, retired_at=retired_at)
                writer.put_facts([(row, after)])
        case "evidence", fact_id, episode_id, stance:
            if writer.evidence(pairs=[(fact_id, episode_id)]):
                return writer.drop_evidence([(fact_id, episode_id)])
            return writer.add_evidence([evidence(fact_id, episode_id, rule="other", stance=stance)])
        case "record", (kind, verb, number):
            row = EXAMPLES[kind][number]
            if verb == "drop":
                return writer.drop(kind, key(kind, row))
            return getattr(writer, verb)(kind, [row])
        case "vectors", target, id:
            return writer.set_vectors(target, [id], packed(1 + id % 3), model="m", dim=DIM)
        case "rewrite", id, text, injected:
            for kept in writer.whole_episodes([id]):
                after = replace(kept.episode, text=text, injected=injected, owner="ann", speaker="")
                writer.rewrite_episodes({id: after})
        case "erase", target, id:
            return writer.add(ERASED, [ErasedRow(target, id, 1)])
        case "no vectors", target, id:
            writer.drop_vectors(target, [id])
    return None


def answers(store: Store, filters: Filters) -> Iterator[object]:
    """Give what a store answers to everything."""
    for kind in KINDS:
        yield store.find(kind, every(kind))
        name = kind.key[-1]
        yield store.tally(kind, kind.key[:1], every(kind), most=name, distinct=name)
        if "at" in kind.asked:
            yield store.find(kind, {**every(kind), "at": Least(NOW + 1)}, newest_first=True)
    yield store.tally(EPISODE, ["source_id", "role"], {"owner": filters.owner})
    yield store.lives(LifeWhere(kinds=[*FactKind]))
    if isinstance(filters.owner, str):
        yield store.lives(LifeWhere(owner=filters.owner, under="user.name", current=True))
        yield store.sources(owner=filters.owner)
    yield store.evidence(episode_ids=range(9))
    yield store.evidence(fact_ids=range(9), each=1)
    yield store.sources()
    for newest_first in (False, True):
        yield list(store.facts(filters, limit=3, newest_first=newest_first))
        yield list(store.episodes(filters, limit=3, newest_first=newest_first))
    for target in ("episode", "fact"):
        yield store.ids(target, filters)
        yield {one for one, _ in store.search(target, ["NAS", "oslo kef", "E"], filters, 99)}
        yield store.waiting(target, limit=9)
        yield store.vectors(target, range(9))
        for near in store.nearest(target, np.eye(2, DIM, dtype=np.float32), filters, 3):
            yield near.ids.tolist(), near.cosines.round(3).tolist()
        for what in ("episode", "vector:episode", "vector:fact", "fact"):
            yield store.changed(what, At(1))
    for tried_only in (False, True):
        yield store.untasked("tell", filters, now=NOW + 9, limit=2, tried_only=tried_only)
    yield store.embedder()
    yield store.heads(range(9))
    yield sorted(store.speakers(filters.owner))
    found = store.outlines([1, 4, 9], reach=1, owner=filters.owner)
    yield [part.tolist() for part in found[:3]], found.chars.tolist(), [*found.speakers]


@settings(max_examples=40)
@given(st.lists(st.lists(WRITES, max_size=4), max_size=5), FILTERS)
def test_both_answer_alike(batches: list[list[tuple[Any, ...]]], filters: Filters) -> None:
    with (
        tempfile.TemporaryDirectory() as folder,
        closing(SQLiteStore(Path(folder) / "m.db")) as store,
        closing(open_memory("memory://laws" + folder)) as twin,
    ):
        for one in (store, twin):
            fill(one)
            with writing(one) as writer:
                for kind in NEEDS:
                    give_needs(writer, kind)
        n = 9
        for batch in batches:
            with writing(store) as left, writing(twin) as right:
                for what in batch:
                    n += 1
                    assert write(left, n, what) == write(right, n, what)
            assert store.head() == twin.head()
        for left_answer, right_answer in zip(
            answers(store, filters), answers(twin, filters), strict=True
        ):
            assert left_answer == right_answer


@settings(max_examples=20)
@given(st.lists(st.sampled_from([*ERASURES]), min_size=1, max_size=4, unique=True))
def test_erasures_leave_the_same_in_both(whats: list[str]) -> None:
    def erase(store: Store) -> Iterator[object]:
        scene(store)
        for op in [ERASURES[what][0](store) for what in whats]:
            try:
                yield apply(store, [op], trigger=Trigger.COMMAND, actor="test", now=NOW + 1)
            except NotFound as error:  # it went with another one
                yield str(error)
        yield from every_row(store)
        assert store.check() == []

    with (
        tempfile.TemporaryDirectory() as folder,
        closing(SQLiteStore(Path(folder) / "m.db")) as store,
        closing(open_memory("memory://erasures" + folder)) as twin,
    ):
        rows = [*erase(store)]
        assert rows == [*erase(twin)]
        words = [word for what in whats for word in ERASURES[what][2]]
        assert [word for word in words if word in repr(rows).lower()] == []
