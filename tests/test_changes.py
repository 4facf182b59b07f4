"""What changes facts that are there: growth, doubt, contradiction, merging, undo."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from factbook.apply import apply
from factbook.errors import NotAllowed, NotFound, UsageError
from factbook.model import (
    ME,
    Candidate,
    EpisodeKind,
    Fact,
    FactKind,
    Millis,
    Receipt,
    Stance,
    Status,
    Trigger,
    Trust,
)
from factbook.ops import (
    AssertFact,
    ContradictFacts,
    DoubtFact,
    JudgePair,
    MergeFacts,
    Op,
    PinFact,
    RateFact,
    RecordEpisode,
    RecordSource,
    RevertFact,
    SettlePair,
    StoreVectors,
    SupersedeFact,
    SupportFact,
    UnmergeFact,
)
from factbook.store.base import Filters
from factbook.store.sqlite import SQLiteStore
from factbook.testing import sample_episode, sample_source

DAY = 24 * 3600 * 1000
NOW = 1_763_700_000_000


class Ledger:
    """A store with short ways to say things."""

    def __init__(self, path: Path) -> None:
        self.store = SQLiteStore(path)
        self.write([RecordSource(source=sample_source())])

    def write(
        self,
        ops: Sequence[Op],
        *,
        now: Millis = NOW,
        trigger: Trigger = Trigger.COMMAND,
        run_id: int | None = None,
    ) -> Receipt:
        return apply(self.store, ops, trigger=trigger, actor="test", now=now, run_id=run_id)

    def say(self, text: str, *, at: Millis = NOW, trust: Trust = Trust.DIRECT) -> int:
        """Record an episode and return its id."""
        uid = f"{text}@{at}"
        episode = sample_episode(
            1,
            uid=uid,
            text=text,
            occurred_at=at,
            trust=trust,
            kind=EpisodeKind.TURN,
        )
        self.write([RecordEpisode(episode=episode)])
        return self.store.episode_ids([uid])[uid]

    def fact(self, text: str, *, at: Millis = NOW, confidence: float = 0.8) -> Fact:
        """State a fact with an episode that says it."""
        self.say(text, at=at)
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
        self.write(
            [
                AssertFact(
                    candidate=candidate,
                    episode=f"{text}@{at}",
                    owner=ME,
                    confidence=confidence,
                    trust=Trust.DIRECT,
                    quote=text,
                )
            ]
        )
        return next(one for one in self.store.facts(Filters(), limit=None) if one.statement == text)

    def get(self, fact: Fact) -> Fact:
        found = self.store.fact(fact.id)
        assert found is not None
        return found

    def support(self, fact: Fact, episode: int, *, trust: Trust = Trust.DIRECT) -> SupportFact:
        text = self.store.texts_of([episode])[episode]
        return SupportFact(
            fact_id=fact.id,
            episode_id=episode,
            quote=text,
            start=0,
            end=len(text),
            rule="supporting_episode",
            method="close",
            trust=trust,
        )

    def doubt(self, fact: Fact, episode: int) -> DoubtFact:
        text = self.store.texts_of([episode])[episode]
        return DoubtFact(
            fact_id=fact.id,
            episode_id=episode,
            quote=text,
            start=0,
            end=len(text),
            rule="negation",
            method="says otherwise",
        )


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    found = Ledger(tmp_path / "f.db")
    yield found
    assert found.store.check() == []
    found.store.close()


def merge(winner: Fact, *losers: Fact) -> MergeFacts:
    return MergeFacts(
        winner_id=winner.id,
        loser_ids=[one.id for one in losers],
        evidence_counts=[one.evidence_count for one in (winner, *losers)],
        rule="same",
    )


# --- evidence -------------------------------------------------------------------------------------


def test_an_episode_counts_once(ledger: Ledger) -> None:
    fact = ledger.fact("I live in Oslo", confidence=0.6)
    episode = ledger.say("My home is in Oslo", at=NOW + DAY)
    first = ledger.write([ledger.support(fact, episode)], now=NOW + 2 * DAY)
    again = ledger.write([ledger.support(fact, episode)], now=NOW + 3 * DAY)
    assert (first.supported, first.evidence) == (1, 1)
    assert (again.supported, again.evidence, again.unchanged) == (0, 0, 1)
    after = ledger.get(fact)
    assert after.evidence_count == 2
    assert after.confidence_at == NOW + DAY
    assert after.confidence == pytest.approx(0.6 * 2.718281828**-0.01 * 0.95 + 0.05)


def test_the_same_claim_again_is_growth_at_the_time_when_it_was_said(ledger: Ledger) -> None:
    fact = ledger.fact("I live in Oslo", confidence=0.6)
    ledger.fact("I live in Oslo", at=NOW + DAY, confidence=0.6)
    after = ledger.get(fact)
    assert after.evidence_count == 2
    assert after.confidence > 0.6
    assert after.occurred_at == NOW + DAY


def test_a_quote_that_does_not_stand_is_refused_whole(ledger: Ledger) -> None:
    fact = ledger.fact("I live in Oslo")
    episode = ledger.say("My home is in Oslo")
    wrong = replace(ledger.support(fact, episode), quote="My home is in Rome")
    with pytest.raises(UsageError, match="does not stand"):
        ledger.write([wrong])
    assert ledger.get(fact).evidence_count == 1


def test_evidence_against_halves_once(ledger: Ledger) -> None:
    fact = ledger.fact("I like tea", confidence=0.8)
    episode = ledger.say("I do not like tea at all", at=NOW)
    assert ledger.write([ledger.doubt(fact, episode)]).contradicted == 1
    assert ledger.write([ledger.doubt(fact, episode)]).contradicted == 0
    after = ledger.get(fact)
    assert after.confidence == pytest.approx(0.4)
    assert after.evidence_count == 1  # what speaks against is evidence, and not counted as support
    stances = [one.stance for one in ledger.store.evidence_of([fact.id])[fact.id]]
    assert stances == [Stance.SUPPORTS, Stance.CONTRADICTS]


def test_a_deprecated_fact_is_revived_by_new_evidence(ledger: Ledger) -> None:
    fact = ledger.fact("I play chess", confidence=0.31)
    later = NOW + 100 * DAY
    found = Filters(now=later, deprecated=False)
    assert list(ledger.store.facts(found, limit=None)) == []
    for day in range(4):
        episode = ledger.say(f"Chess again, evening {day}", at=later)
        ledger.write([ledger.support(fact, episode)], now=later)
    assert [one.id for one in ledger.store.facts(found, limit=None)] == []
    for day in range(5):
        episode = ledger.say(f"I played chess, round {day}", at=later)
        ledger.write([ledger.support(fact, episode)], now=later)
    assert [one.id for one in ledger.store.facts(found, limit=None)] == [fact.id]


# --- contradiction --------------------------------------------------------------------------------


def test_a_clear_contradiction_halves_both_once(ledger: Ledger) -> None:
    one, other = ledger.fact("I like tea"), ledger.fact("I hate tea", confidence=0.6)
    op = ContradictFacts(
        low_id=one.id, high_id=other.id, rule="antonym", detail="like, hate", similarity=0.9
    )
    assert ledger.write([op]).contradicted == 2
    assert ledger.write([op]).contradicted == 0
    assert ledger.get(one).confidence == pytest.approx(0.4)
    assert ledger.get(other).confidence == pytest.approx(0.3)


def test_superseding_keeps_the_old_row_with_its_pointer_and_its_end(ledger: Ledger) -> None:
    old = ledger.fact("I live in Oslo")
    new = ledger.fact("I moved to Bergen", at=NOW + 30 * DAY)
    op = SupersedeFact(old_id=old.id, new_id=new.id, rule="moved", detail="moved to")
    assert ledger.write([op], now=NOW + 31 * DAY).superseded == 1
    after = ledger.get(old)
    assert after.status is Status.SUPERSEDED
    assert after.superseded_by == new.id
    assert after.valid_to == NOW + 30 * DAY
    assert after.retired_at == NOW + 31 * DAY
    assert [one.id for one in ledger.store.facts(Filters(), limit=None)] == [new.id]
    assert ledger.get(new).confidence == 0.8


def test_a_pinned_fact_is_not_superseded_and_not_doubted(ledger: Ledger) -> None:
    old, new = ledger.fact("I live in Oslo"), ledger.fact("I live in Bergen")
    ledger.write([PinFact(fact_id=old.id, pinned=True)])
    op = SupersedeFact(old_id=old.id, new_id=new.id, rule="slot", detail="another place")
    assert ledger.write([op]).superseded == 0
    episode = ledger.say("I do not live in Oslo")
    assert ledger.write([ledger.doubt(old, episode)]).contradicted == 0
    assert ledger.get(old).confidence == 0.8


def test_each_ambiguous_pair_is_queued_once_and_settled_once(ledger: Ledger) -> None:
    one, other = ledger.fact("I work on backends"), ledger.fact("I work on frontends")
    op = JudgePair(
        low_id=one.id,
        high_id=other.id,
        relation="ambiguous",
        rule="close",
        detail="maybe",
        similarity=0.8,
    )
    assert ledger.write([op]).queued == 1
    assert ledger.write([op]).queued == 0
    assert len(ledger.store.pairs(waiting=True)) == 1
    settle = SettlePair(low_id=one.id, high_id=other.id, verdict="KEEP_BOTH")
    assert ledger.write([settle]).settled == 1
    assert ledger.write([settle]).settled == 0
    assert ledger.store.pairs(waiting=True) == []


def test_a_verdict_is_one_of_three_words(ledger: Ledger) -> None:
    with pytest.raises(UsageError, match="MERGE, KEEP_BOTH, CONTRADICTION"):
        ledger.write([SettlePair(low_id=1, high_id=2, verdict="maybe")])


# --- merging --------------------------------------------------------------------------------------


def test_the_winner_takes_the_union_of_the_evidence(ledger: Ledger) -> None:
    winner = ledger.fact("I live in Oslo", confidence=0.9)
    loser = ledger.fact("My home is in Oslo", at=NOW + DAY, confidence=0.7)
    shared = ledger.say("Oslo is where I live", at=NOW + 2 * DAY)
    ledger.write([ledger.support(winner, shared), ledger.support(loser, shared)])
    winner, loser = ledger.get(winner), ledger.get(loser)
    assert ledger.write([merge(winner, loser)], now=NOW + 3 * DAY).merged == 1
    after, gone = ledger.get(winner), ledger.get(loser)
    assert after.evidence_count == 3  # two of one, two of the other, one of them shared
    assert after.occurred_at == NOW + 2 * DAY
    assert after.confidence >= winner.confidence
    assert (gone.status, gone.merged_into_id) == (Status.MERGED_INTO, winner.id)
    assert gone.retired_at == NOW + 3 * DAY


def test_a_claim_that_was_merged_is_evidence_for_its_winner(ledger: Ledger) -> None:
    first, second, third = (
        ledger.fact(text) for text in ("I live in Oslo", "Oslo is home", "At home in Oslo")
    )
    ledger.write([merge(second, third)])
    ledger.write([merge(first, ledger.get(second))])
    ledger.say("At home in Oslo", at=NOW + DAY)
    candidate = Candidate(
        subject=ME,
        predicate="states",
        object="At home in Oslo",
        statement="At home in Oslo",
        confidence=0.6,
        rule="told",
        method="said so",
        start=0,
        end=15,
        kind=FactKind.STATEMENT,
        embed=True,
    )
    op = AssertFact(
        candidate=candidate,
        episode=f"At home in Oslo@{NOW + DAY}",
        owner=ME,
        confidence=0.6,
        trust=Trust.DIRECT,
        quote="At home in Oslo",
    )
    receipt = ledger.write([op], now=NOW + DAY)
    assert (receipt.stored, receipt.supported) == (0, 1)
    assert ledger.get(first).evidence_count == 4


def test_a_fact_that_changed_meanwhile_is_not_merged(ledger: Ledger) -> None:
    winner, loser = ledger.fact("I live in Oslo"), ledger.fact("Oslo is home")
    stale = merge(winner, loser)
    ledger.write([ledger.support(loser, ledger.say("Home, sweet Oslo"))])
    receipt = ledger.write([stale])
    assert (receipt.merged, receipt.unchanged) == (0, 1)
    assert ledger.get(loser).status is Status.PENDING_EMBED


def test_unmerge_gives_everything_back_and_keeps_them_apart(ledger: Ledger) -> None:
    winner = ledger.fact("I live in Oslo", confidence=0.9)
    loser = ledger.fact("Oslo is home", confidence=0.7)
    shared = ledger.say("Oslo is where I live")
    ledger.write([ledger.support(winner, shared), ledger.support(loser, shared)])
    before = ledger.get(winner), ledger.get(loser)
    ledger.write([merge(*before)])
    assert ledger.write([UnmergeFact(fact_id=loser.id)]).unmerged == 1
    assert ledger.get(winner).evidence_count == before[0].evidence_count
    assert ledger.get(loser).evidence_count == before[1].evidence_count
    assert ledger.get(loser).retired_at is None
    assert ledger.store.judged() == {(winner.id, loser.id)}
    with pytest.raises(UsageError, match="was not merged"):
        ledger.write([UnmergeFact(fact_id=loser.id)])


def test_vectors_of_what_retires_are_gone_and_readers_hear_of_it(ledger: Ledger) -> None:
    winner, loser = ledger.fact("I live in Oslo"), ledger.fact("Oslo is home")
    ledger.write(
        [
            StoreVectors(
                target="fact", model="m", ids=[winner.id, loser.id], vectors=b"\0\x3c" * 4, dim=2
            )
        ],
        trigger=Trigger.UPKEEP,
    )
    ledger.write([merge(winner, loser)])
    assert ledger.store.vectors("fact").ids == [winner.id]
    assert ledger.store.gone("fact") == ([loser.id], 1)
    ledger.write([UnmergeFact(fact_id=loser.id)])
    assert ledger.get(loser).status is Status.PENDING_EMBED


# --- a person's word ------------------------------------------------------------------------------


def test_a_pin_holds_the_value_that_the_fact_has_then(ledger: Ledger) -> None:
    fact = ledger.fact("I live in Oslo", confidence=0.8)
    ledger.write([PinFact(fact_id=fact.id, pinned=True)], now=NOW + 10 * DAY)
    held = ledger.get(fact)
    assert held.pinned
    assert held.confidence == pytest.approx(0.8 * 2.718281828**-0.1)
    late = Filters(now=NOW + 900 * DAY, deprecated=False)
    assert [one.id for one in ledger.store.facts(late, limit=None)] == [fact.id]


def test_feedback_decides(ledger: Ledger) -> None:
    fact = ledger.fact("I live in Oslo", confidence=0.5)
    ledger.write([RateFact(fact_id=fact.id, right=True)])
    assert ledger.get(fact).confidence == 0.9
    ledger.write([RateFact(fact_id=fact.id, right=False)])
    assert ledger.get(fact).confidence == 0.0
    assert list(ledger.store.facts(Filters(now=NOW, deprecated=False), limit=None)) == []
    assert ledger.store.day_counts() == {
        "2025-11-21": {"feedback_right": 1.0, "feedback_wrong": 1.0}
    }


# --- undo -----------------------------------------------------------------------------------------


def test_every_change_of_a_run_can_be_taken_back(ledger: Ledger) -> None:
    oslo, home = ledger.fact("I live in Oslo"), ledger.fact("Oslo is home")
    tea, hate = ledger.fact("I like tea"), ledger.fact("I hate tea")
    old, new = ledger.fact("I drive a Fiat"), ledger.fact("I sold the Fiat")
    episode = ledger.say("My home is Oslo")
    before = [ledger.get(one) for one in (oslo, home, tea, hate, old, new)]
    ledger.write([ledger.support(oslo, episode)], run_id=7)
    ledger.write([merge(ledger.get(oslo), home)], run_id=7)
    ledger.write(
        [
            ContradictFacts(
                low_id=tea.id, high_id=hate.id, rule="antonym", detail="", similarity=0.9
            ),
            SupersedeFact(old_id=old.id, new_id=new.id, rule="sold", detail=""),
        ],
        run_id=7,
    )
    events = ledger.store.run_events(7)
    assert {one.op for one in events} == {"support", "absorb", "merge", "contradict", "supersede"}
    receipt = ledger.write([RevertFact(event_id=one.id) for one in reversed(events)])
    assert (receipt.reverted, receipt.unchanged) == (len(events), 0)
    assert [ledger.get(one) for one in (oslo, home, tea, hate, old, new)] == before


def test_an_undo_leaves_what_changed_since(ledger: Ledger) -> None:
    tea, hate = ledger.fact("I like tea"), ledger.fact("I hate tea")
    ledger.write(
        [
            ContradictFacts(
                low_id=tea.id, high_id=hate.id, rule="antonym", detail="", similarity=0.9
            )
        ],
        run_id=1,
    )
    ledger.write([RateFact(fact_id=tea.id, right=True)])
    events = ledger.store.run_events(1)
    receipt = ledger.write([RevertFact(event_id=one.id) for one in reversed(events)])
    assert (receipt.reverted, receipt.unchanged) == (1, 1)
    assert ledger.get(tea).confidence == 0.9
    assert ledger.get(hate).confidence == 0.8


# --- who may --------------------------------------------------------------------------------------


def test_a_log_cannot_merge_or_pin(ledger: Ledger) -> None:
    for op in (PinFact(fact_id=1, pinned=True), UnmergeFact(fact_id=1)):
        with pytest.raises(NotAllowed):
            ledger.write([op], trigger=Trigger.SESSION_LOG)


def test_unknown_facts_are_named(ledger: Ledger) -> None:
    with pytest.raises(NotFound, match="999"):
        ledger.write([PinFact(fact_id=999, pinned=True)])
