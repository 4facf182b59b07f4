"""What an owner told, against what was only overheard: it asks, and nothing else happens."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import count
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from conftest import examples
from factbook import policy
from factbook.apply.apply import apply
from factbook.maintenance.verdict_queue import waiting_pairs
from factbook.model.facts import ME, Candidate, Fact, FactKind, Role, Status, Trigger, Trust
from factbook.model.ops import (
    AssertFact,
    ContradictFacts,
    DoubtFact,
    JudgePair,
    MergeFacts,
    Op,
    PinFact,
    RateFact,
    RecordSource,
    RevertFact,
    SettlePair,
    SupersedeFact,
    UnmergeFact,
)
from factbook.sources.told import said_ops
from factbook.store.port import events_of
from factbook.store.rows import Filters
from factbook.store.sqlite import SQLiteStore

NOW = 1_763_700_000_000
DAY = 24 * 3600 * 1000


class Book:
    """A store with facts that were told, said in passing, or overheard."""

    def __init__(self, path: Path) -> None:
        self.store = SQLiteStore(path)
        self.now = NOW
        self._numbers = count(1)

    def close(self) -> None:
        assert self.store.check() == []
        self.store.close()

    def write(self, *ops: Op, trigger: Trigger = Trigger.UPKEEP, run_id: int | None = None) -> None:
        self.now += 60_000
        apply(self.store, ops, trigger=trigger, actor="test", now=self.now, run_id=run_id)

    def fact(self, text: str, *, trust: Trust, told: bool = False, confidence: float = 0.8) -> int:
        """Keep a text with the fact that it states, and return the number of the fact."""
        number = next(self._numbers)
        text = f"{text} ({number})"
        ops = said_ops(
            text,
            uid=f"u{number}",
            owner=ME,
            at=self.now,
            role=Role.USER if trust is Trust.DIRECT else Role.ASSISTANT,
            trust=trust,
            what="told" if told else "chat",
        )
        if not told and isinstance(ops[0], RecordSource):
            ops[0] = RecordSource(source=replace(ops[0].source, host="conversation"))
        candidate = Candidate(
            subject=ME,
            predicate="states",
            object=text,
            statement=text,
            confidence=confidence,
            rule="told",
            method="said so",
            start=0,
            end=len(text),
            kind=FactKind.STATEMENT,
            embed=True,
        )
        ops.append(
            AssertFact(
                candidate=candidate,
                episode=f"u{number}",
                owner=ME,
                confidence=min(confidence, policy.TRUST_CAP[trust]),
                trust=trust,
                quote=text,
            )
        )
        self.write(*ops, trigger=Trigger.COMMAND)
        return next(
            one.id for one in self.store.facts(Filters(), limit=None) if one.statement == text
        )

    def get(self, fact_id: int) -> Fact:
        return self.store.facts_by_id([fact_id])[fact_id]

    def asked(self) -> list[tuple[int, int]]:
        """Return the pairs that wait for a person."""
        return [
            (one.low_id, one.high_id)
            for one in waiting_pairs(self.store)
            if one.rule == policy.OVERHEARD
        ]

    def supersede(self, old: int, new: int, trigger: Trigger = Trigger.UPKEEP) -> None:
        self.write(
            SupersedeFact(old_id=old, new_id=new, rule="ended", detail="moved", similarity=0.7),
            trigger=trigger,
        )

    def contradict(self, one: int, other: int, trigger: Trigger = Trigger.UPKEEP) -> None:
        low, high = sorted((one, other))
        op = ContradictFacts(low_id=low, high_id=high, rule="slot", detail="", similarity=0.7)
        self.write(op, trigger=trigger)

    def merge(self, winner: int, loser: int, trigger: Trigger = Trigger.UPKEEP) -> None:
        counts = [self.get(winner).evidence_count, self.get(loser).evidence_count]
        op = MergeFacts(winner_id=winner, loser_ids=[loser], evidence_counts=counts, rule="same")
        self.write(op, trigger=trigger)


@pytest.fixture
def book(tmp_path: Path) -> Iterator[Book]:
    found = Book(tmp_path / "f.db")
    yield found
    found.close()


def test_what_was_overheard_asks_before_it_takes_the_place_of_what_was_told(book: Book) -> None:
    told = book.fact("I live in Oslo", trust=Trust.DIRECT, told=True)
    heard = book.fact("I moved to Bergen", trust=Trust.DERIVED)
    for _ in range(3):  # night after night
        book.supersede(told, heard)
    assert book.get(told).retired_at is None
    assert book.get(heard).retired_at is None
    assert book.asked() == [(told, heard)]
    book.write(SettlePair(low_id=told, high_id=heard, verdict="KEEP_BOTH"), trigger=Trigger.COMMAND)
    book.supersede(told, heard)
    assert book.asked() == []  # it was answered
    assert book.get(told).retired_at is None


def test_ones_own_later_word_needs_no_question(book: Book) -> None:
    told = book.fact("I live in Oslo", trust=Trust.DIRECT, told=True)
    said = book.fact("I moved to Bergen", trust=Trust.DIRECT)
    book.supersede(told, said)
    assert book.get(told).superseded_by == said
    assert book.asked() == []


@pytest.mark.parametrize("pinned", [False, True])
def test_what_was_told_is_not_halved_by_what_was_overheard(book: Book, pinned: bool) -> None:
    told = book.fact("I like tea", trust=Trust.DIRECT, told=not pinned)
    if pinned:
        book.write(PinFact(fact_id=told, pinned=True), trigger=Trigger.COMMAND)
    heard = book.fact("I hate tea", trust=Trust.DERIVED)
    before = [book.get(one).confidence for one in (told, heard)]
    book.contradict(told, heard)
    assert [book.get(one).confidence for one in (told, heard)] == before
    assert book.asked() == [(told, heard)]
    book.contradict(told, heard, trigger=Trigger.COMMAND)  # a person says so
    assert book.get(heard).confidence < before[1]
    assert book.asked() == []


def test_what_was_called_right_is_as_good_as_told(book: Book) -> None:
    fact = book.fact("I like tea", trust=Trust.DERIVED)
    book.write(RateFact(fact_id=fact, right=True), trigger=Trigger.COMMAND)
    heard = book.fact("I no longer like tea", trust=Trust.DERIVED)
    book.supersede(fact, heard)
    assert book.get(fact).retired_at is None
    assert book.asked() == [(fact, heard)]


def test_what_was_told_is_not_merged_into_what_was_overheard(book: Book) -> None:
    told = book.fact("I live in Oslo", trust=Trust.DIRECT, told=True)
    heard = book.fact("I am living in Oslo", trust=Trust.DERIVED)
    book.merge(heard, told)
    assert book.get(told).merged_into_id is None
    assert book.asked() == [(told, heard)]
    book.merge(told, heard)  # the other way round nothing that was told is lost
    assert book.get(heard).merged_into_id == told


def test_a_models_verdict_does_not_answer_for_a_person(book: Book) -> None:
    told = book.fact("I like tea", trust=Trust.DIRECT, told=True)
    heard = book.fact("I hate tea", trust=Trust.DERIVED)
    op = JudgePair(
        low_id=told, high_id=heard, relation="ambiguous", rule="x", detail="", similarity=0.7
    )
    book.write(op)
    before = book.get(told).confidence
    book.contradict(told, heard)  # the verdict of a model, in a night
    assert book.get(told).confidence == before
    assert book.asked() == [(told, heard)]
    book.write(SettlePair(low_id=told, high_id=heard, verdict="KEEP_BOTH"))
    assert book.asked() == [(told, heard)]


def test_an_overheard_episode_does_not_make_what_was_told_less_sure(book: Book) -> None:
    told = book.fact("I like tea", trust=Trust.DIRECT, told=True)
    heard = book.fact("I hate tea", trust=Trust.DERIVED)
    episode = book.get(heard).episode_id
    text = book.store.episodes_by_id([episode])[episode].text
    before = book.get(told).confidence
    book.write(
        DoubtFact(
            fact_id=told,
            episode_id=episode,
            quote=text,
            start=0,
            end=len(text),
            rule="negation",
            method="says otherwise",
        )
    )
    assert book.get(told).confidence == before


def test_what_was_overheard_and_pinned_may_still_win_a_merge(book: Book) -> None:
    pinned = book.fact("I live in Oslo", trust=Trust.DERIVED)
    book.write(PinFact(fact_id=pinned, pinned=True), trigger=Trigger.COMMAND)
    heard = book.fact("I am living in Oslo", trust=Trust.DERIVED)
    book.merge(pinned, heard)
    assert book.get(heard).merged_into_id == pinned
    assert book.asked() == []


# --- whatever happens -----------------------------------------------------------------------------

_WHAT = st.sampled_from(
    ("supersede", "contradict", "merge", "verdict", "pin", "unmerge", "undo", "correct")
)
_STEP = st.tuples(_WHAT, st.integers(0, 7), st.integers(0, 7))
_FACTS = st.lists(st.sampled_from(("told", "said", "heard", "web")), min_size=3, max_size=7)
_TRUST = {
    "told": Trust.DIRECT,
    "said": Trust.DIRECT,
    "heard": Trust.DERIVED,
    "web": Trust.EXTERNAL,
}


@given(kinds=_FACTS, steps=st.lists(_STEP, max_size=14))
@settings(max_examples=examples(12), deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_what_was_told_is_retired_by_ones_own_words_or_an_answer_alone(
    kinds: Sequence[str], steps: Sequence[tuple[str, int, int]]
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        book = Book(Path(folder) / "f.db")
        ids = [
            book.fact(f"thing {n}", trust=_TRUST[kind], told=kind == "told")
            for n, kind in enumerate(kinds)
        ]
        told = {one for one, kind in zip(ids, kinds, strict=True) if kind == "told"}
        for what, first, second in steps:
            one, other = ids[first % len(ids)], ids[second % len(ids)]
            before = {fact: book.get(fact) for fact in ids}
            _do(book, what, one, other, told, ids)
            for fact in told - {one, other} if what == "correct" else told:
                was, now = before.get(fact), book.get(fact)
                if was is None or was.retired_at is not None or what in ("undo", "unmerge"):
                    continue
                heir = now.superseded_by or now.merged_into_id
                if now.retired_at is not None:
                    assert heir is not None
                    assert book.get(heir).trust is Trust.DIRECT
                if (
                    what == "contradict" and now.confidence < was.confidence
                ):  # only one's own words contradict it
                    foe = other if fact == one else one
                    assert before[foe].trust is Trust.DIRECT
        book.close()


def _do(book: Book, what: str, one: int, other: int, told: set[int], ids: list[int]) -> None:
    current = all(book.get(fact).retired_at is None for fact in (one, other))
    if what == "pin" and book.get(one).retired_at is None:
        book.write(PinFact(fact_id=one, pinned=True), trigger=Trigger.COMMAND)
        told.add(one)
    elif what == "unmerge" and book.get(one).status is Status.MERGED_INTO:
        book.write(UnmergeFact(fact_id=one), trigger=Trigger.COMMAND)
    elif what == "undo":
        events = events_of(book.store, "fact", one)
        made = [event for event in events if event.trigger is Trigger.UPKEEP]
        if made:
            book.write(RevertFact(event_id=made[-1].id), trigger=Trigger.COMMAND)
    elif what == "correct" and book.get(one).retired_at is None:
        new = book.fact("corrected", trust=Trust.DIRECT, told=True)
        told.add(new)
        ids.append(new)
        book.write(PinFact(fact_id=one, pinned=False), trigger=Trigger.COMMAND)
        book.supersede(one, new, trigger=Trigger.COMMAND)
    elif one != other and current and what in ("supersede", "contradict", "merge"):
        getattr(book, what)(one, other)
    elif one != other and what == "verdict":
        low, high = sorted((one, other))
        book.write(SettlePair(low_id=low, high_id=high, verdict="KEEP_BOTH"))
