"""What changes facts that are there: growth, doubt, contradiction, merging, undo."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from factbook.apply.apply import apply
from factbook.errors import NotAllowed, NotFound, UsageError
from factbook.maintenance.metrics import day_counts
from factbook.maintenance.verdict_queue import judged_pairs, waiting_pairs
from factbook.model.facts import (
    ME,
    At,
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
from factbook.model.ops import (
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
from factbook.store.derived.facts import fact_by_id
from factbook.store.derived.ledger import evidence_of, stances
from factbook.store.kinds import EVENT
from factbook.store.port import events_of
from factbook.store.rows import Changes, Filters
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

    def say(
        self,
        text: str,
        *,
        at: Millis = NOW,
        trust: Trust = Trust.DIRECT,
        owner: str = ME,
        injected: bool = False,
    ) -> int:
        """Record an episode and return its id."""
        uid = f"{text}@{at}"
        episode = sample_episode(
            1,
            uid=uid,
            text=text,
            occurred_at=at,
            trust=trust,
            kind=EpisodeKind.TURN,
            owner=owner,
            injected=injected,
        )
        self.write([RecordEpisode(episode=episode)])
        return self.store.episode_ids([uid])[uid]

    def fact(
        self,
        text: str,
        *,
        at: Millis = NOW,
        confidence: float = 0.8,
        trust: Trust = Trust.DIRECT,
        owner: str = ME,
    ) -> Fact:
        """State a fact with an episode that says it."""
        self.say(text, at=at, trust=trust, owner=owner)
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
                    owner=owner,
                    confidence=confidence,
                    trust=trust,
                    quote=text,
                )
            ]
        )
        return next(
            one
            for one in self.store.facts(Filters(owner=owner), limit=None)
            if one.statement == text
        )

    def get(self, fact: Fact) -> Fact:
        found = fact_by_id(self.store, fact.id)
        assert found is not None
        return found

    def behind(self, fact: Fact) -> set[int]:
        """Return the episodes behind a fact."""
        return set(stances(self.store, [fact.id])[fact.id])

    def undo(self, run_id: int) -> Receipt:
        """Take back what a run changed, the newest change first."""
        events = self.store.find(EVENT, {"run_id": run_id})
        return self.write([RevertFact(event_id=one.id) for one in reversed(events)])

    def verdicts(self) -> dict[tuple[int, int], str]:
        """Return the verdicts of all judged pairs."""
        return {(one.low_id, one.high_id): one.verdict for one in judged_pairs(self.store)}

    def support(self, fact: Fact, episode: int, *, trust: Trust = Trust.DIRECT) -> SupportFact:
        text = self.store.episodes_by_id([episode])[episode].text
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
        text = self.store.episodes_by_id([episode])[episode].text
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
    stances = [one.stance for one in evidence_of(ledger.store, [fact.id])[fact.id]]
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


def test_the_row_of_an_episode_bounds_what_is_claimed_of_it(ledger: Ledger) -> None:
    """Seed 001: what a channel says cannot lift a fact above the channel's cap."""
    fact = ledger.fact("I live in Oslo", confidence=0.3, trust=Trust.EXTERNAL)
    page = ledger.say("The page says: Oslo is home", trust=Trust.EXTERNAL)
    ledger.write([replace(ledger.support(fact, page, trust=Trust.DIRECT), confidence=1.0)])
    after = ledger.get(fact)
    assert (after.confidence, after.trust) == (0.6, Trust.EXTERNAL)


def test_injected_text_and_the_words_of_others_are_no_witness(ledger: Ledger) -> None:
    fact = ledger.fact("I live in Oslo")
    ours = ledger.say("Oslo, as I was told before", injected=True)
    theirs = ledger.say("Oslo is my home too", owner="bob")
    for episode in (ours, theirs):
        for op in (ledger.support(fact, episode), ledger.doubt(fact, episode)):
            receipt = ledger.write([op])
            assert (receipt.supported, receipt.contradicted, receipt.unchanged) == (0, 0, 1)
    assert ledger.get(fact) == fact


@pytest.mark.parametrize("confidence", [1.5, -0.1, float("nan")])
def test_the_confidence_of_a_support_is_from_0_to_1(ledger: Ledger, confidence: float) -> None:
    fact = ledger.fact("I live in Oslo")
    op = replace(ledger.support(fact, ledger.say("Oslo it is")), confidence=confidence)
    with pytest.raises(UsageError, match="not between 0 and 1"):
        ledger.write([op])


def test_external_text_that_adds_nothing_does_not_begin_a_window_anew(ledger: Ledger) -> None:
    fact = ledger.fact("I live in Oslo", confidence=0.9)
    later = NOW + 10 * DAY
    page = ledger.say("Oslo, says the page", at=later, trust=Trust.EXTERNAL)
    assert ledger.write([ledger.support(fact, page)], now=later).supported == 1
    after = ledger.get(fact)
    assert (after.confidence, after.confidence_at) == (0.9, NOW)


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
    assert len(waiting_pairs(ledger.store)) == 1
    settle = SettlePair(low_id=one.id, high_id=other.id, verdict="KEEP_BOTH")
    assert ledger.write([settle]).settled == 1
    assert ledger.write([settle]).settled == 0
    assert waiting_pairs(ledger.store) == []


def test_a_verdict_is_one_of_three_words(ledger: Ledger) -> None:
    with pytest.raises(UsageError, match="MERGE, KEEP_BOTH, CONTRADICTION"):
        ledger.write([SettlePair(low_id=1, high_id=2, verdict="maybe")])


def contradiction(one: Fact, other: Fact) -> ContradictFacts:
    low, high = sorted((one.id, other.id))
    return ContradictFacts(low_id=low, high_id=high, rule="x", detail="", similarity=0.9)


def test_a_fact_loses_half_once_per_run(ledger: Ledger) -> None:
    tea = ledger.fact("I like tea")
    others = [ledger.fact(f"I hate tea, version {n}") for n in range(4)]
    ledger.write([contradiction(tea, one) for one in others[:2]], run_id=1)
    ledger.write([contradiction(tea, others[2])], run_id=1)
    assert ledger.get(tea).confidence == pytest.approx(0.4)
    assert [ledger.get(one).confidence for one in others[:3]] == pytest.approx([0.4] * 3)
    assert len(ledger.verdicts()) == 3  # every pair is recorded all the same
    ledger.write([contradiction(tea, others[3])], run_id=2)
    assert ledger.get(tea).confidence == pytest.approx(0.2)


def test_outside_of_a_run_a_fact_loses_half_once_per_day(ledger: Ledger) -> None:
    tea = ledger.fact("I like tea")
    first, second, third = (ledger.fact(f"I hate tea, version {n}") for n in range(3))
    ledger.write([contradiction(tea, first), contradiction(tea, second)])
    assert ledger.get(tea).confidence == pytest.approx(0.4)
    ledger.write([contradiction(tea, third)], now=NOW + DAY)
    assert ledger.get(tea).confidence == pytest.approx(0.2)


def test_a_halving_that_was_taken_back_does_not_shield(ledger: Ledger) -> None:
    tea, first, second = (ledger.fact(text) for text in ("I like tea", "I hate tea", "No tea"))
    ledger.write([contradiction(tea, first)], run_id=1)
    ledger.undo(1)
    assert ledger.get(tea).confidence == 0.8
    assert ledger.write([contradiction(tea, second)], run_id=1).contradicted == 2


def test_a_pair_that_a_person_keeps_is_not_halved(ledger: Ledger) -> None:
    one, other = ledger.fact("I like tea"), ledger.fact("I hate tea")
    judged = JudgePair(
        low_id=one.id, high_id=other.id, relation="ambiguous", rule="r", detail="", similarity=0.8
    )
    settled = SettlePair(low_id=one.id, high_id=other.id, verdict="KEEP_BOTH")
    ledger.write([judged, settled])
    assert ledger.write([contradiction(one, other)]).contradicted == 0
    assert ledger.verdicts() == {(one.id, other.id): "KEEP_BOTH"}


def test_a_pair_of_unknown_facts_is_refused(ledger: Ledger) -> None:
    fact = ledger.fact("I like tea")
    judged = JudgePair(
        low_id=fact.id, high_id=999, relation="same", rule="r", detail="", similarity=0.8
    )
    ops: list[Op] = [
        judged,
        SettlePair(low_id=fact.id, high_id=999, verdict="KEEP_BOTH"),
        ContradictFacts(low_id=fact.id, high_id=999, rule="r", detail="", similarity=0.9),
        SupersedeFact(old_id=fact.id, new_id=999, rule="r", detail=""),
        MergeFacts(winner_id=fact.id, loser_ids=[999], evidence_counts=[1, 1], rule="same"),
    ]
    for op in ops:
        with pytest.raises(NotFound, match="999"):
            ledger.write([op])


def test_nothing_is_merged_or_superseded_across_owners(ledger: Ledger) -> None:
    mine, theirs = ledger.fact("I live in Oslo"), ledger.fact("Oslo is home", owner="bob")
    with pytest.raises(UsageError, match="one owner"):
        ledger.write([merge(mine, theirs)])
    with pytest.raises(UsageError, match="one owner"):
        ledger.write([SupersedeFact(old_id=mine.id, new_id=theirs.id, rule="r", detail="")])


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
    assert {one[:2] for one in judged_pairs(ledger.store)} == {(winner.id, loser.id)}
    with pytest.raises(UsageError, match="was not merged"):
        ledger.write([UnmergeFact(fact_id=loser.id)])


def test_vectors_of_what_retires_are_gone_and_readers_hear_of_it(ledger: Ledger) -> None:
    winner, loser = ledger.fact("I live in Oslo"), ledger.fact("Oslo is home")
    ledger.write(
        [
            StoreVectors(
                target="fact",
                model="m",
                ids=[winner.id, loser.id],
                vectors=b"\0\x3c\0\0" * 2,
                dim=2,
            )
        ],
        trigger=Trigger.UPKEEP,
    )
    ledger.write([merge(winner, loser)])
    changes = ledger.store.changed("vector:fact", At())
    assert (changes.came, changes.gone, changes.more) == ([winner.id], [loser.id], False)
    assert changes.last.commit == ledger.store.head().commit
    assert ledger.store.changed("vector:fact", changes.last) == Changes([], [], changes.last, False)
    ledger.write([UnmergeFact(fact_id=loser.id)])
    assert ledger.get(loser).status is Status.PENDING_EMBED


def test_unmerge_leaves_what_another_merged_fact_brought_too(ledger: Ledger) -> None:
    winner = ledger.fact("I live in Oslo", confidence=0.9)
    first, second = ledger.fact("Oslo is home"), ledger.fact("At home in Oslo")
    shared = ledger.say("Oslo is where I live")
    ledger.write([ledger.support(first, shared), ledger.support(second, shared)])
    own = [ledger.behind(one) for one in (winner, first, second)]
    ledger.write([merge(winner, ledger.get(first), ledger.get(second))])
    ledger.write([UnmergeFact(fact_id=first.id)])
    assert ledger.behind(winner) == own[0] | own[2]
    assert ledger.get(winner).evidence_count == 3
    assert ledger.store.check() == []
    ledger.write([UnmergeFact(fact_id=second.id)])
    assert [ledger.behind(one) for one in (winner, first, second)] == own


def test_unmerge_in_a_chain_takes_from_every_winner(ledger: Ledger) -> None:
    a, b, c = (ledger.fact(text) for text in ("Oslo is home", "I live in Oslo", "Home is Oslo"))
    own = [ledger.behind(one) for one in (a, b, c)]
    ledger.write([merge(b, a)])
    ledger.write([merge(c, ledger.get(b))])
    ledger.write([UnmergeFact(fact_id=a.id)])
    assert [ledger.behind(one) for one in (a, b, c)] == [own[0], own[1], own[1] | own[2]]
    assert [ledger.get(one).evidence_count for one in (a, b, c)] == [1, 1, 2]
    assert ledger.verdicts() == {(a.id, b.id): "KEEP_BOTH", (a.id, c.id): "KEEP_BOTH"}


def test_unmerge_gives_back_the_trust_the_pin_and_the_confidence(ledger: Ledger) -> None:
    winner = ledger.fact("Oslo is home", confidence=0.6, trust=Trust.EXTERNAL)
    loser = ledger.fact("I live in Oslo", confidence=0.7)
    ledger.write([PinFact(fact_id=loser.id, pinned=True)])
    ledger.write([merge(winner, ledger.get(loser))])
    taken = ledger.get(winner)
    assert (taken.trust, taken.pinned, taken.confidence) == (Trust.DIRECT, True, 0.7)
    ledger.write([UnmergeFact(fact_id=loser.id)], now=NOW + 2 * DAY)
    assert ledger.get(winner) == winner


def test_unmerge_after_a_change_gives_the_trust_of_the_evidence(ledger: Ledger) -> None:
    winner = ledger.fact("Oslo is home", confidence=0.6, trust=Trust.EXTERNAL)
    loser = ledger.fact("I live in Oslo", confidence=0.7)
    ledger.write([merge(winner, loser)])
    ledger.write([RateFact(fact_id=winner.id, right=True)])
    ledger.write([ledger.support(winner, ledger.say("Oslo, seen", trust=Trust.OBSERVED))])
    ledger.write([UnmergeFact(fact_id=loser.id)])
    after = ledger.get(winner)
    assert after.trust is Trust.OBSERVED
    assert after.confidence > 0.9  # its owner said so since


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
    assert day_counts(ledger.store) == {
        "2025-11-21": {"feedback_right": 1.0, "feedback_wrong": 1.0}
    }


def test_a_word_on_a_merged_fact_is_for_what_it_was_merged_into(ledger: Ledger) -> None:
    a, b, c = (ledger.fact(text) for text in ("Oslo is home", "I live in Oslo", "Home is Oslo"))
    ledger.write([merge(b, a)])
    ledger.write([merge(c, ledger.get(b))])
    ledger.write([PinFact(fact_id=a.id, pinned=True)])
    assert ledger.get(c).pinned
    ledger.write([RateFact(fact_id=a.id, right=False)])
    assert ledger.get(c).confidence == 0.0
    assert ledger.get(a).confidence == 0.8
    assert ledger.write([ledger.support(a, ledger.say("Oslo, of course"))]).supported == 1
    assert ledger.get(c).evidence_count == 4


def test_a_word_on_a_superseded_fact_names_what_took_its_place(ledger: Ledger) -> None:
    old, new, newest = (ledger.fact(f"I live in {place}") for place in ("Oslo", "Bergen", "Rome"))
    ledger.write([SupersedeFact(old_id=old.id, new_id=new.id, rule="moved", detail="")])
    ledger.write([merge(newest, new)])
    for op in (RateFact(fact_id=old.id, right=True), PinFact(fact_id=old.id, pinned=True)):
        with pytest.raises(UsageError, match=f"fact {newest.id} took its place"):
            ledger.write([op])


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
    events = ledger.store.find(EVENT, {"run_id": 7})
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
    events = ledger.store.find(EVENT, {"run_id": 1})
    receipt = ledger.write([RevertFact(event_id=one.id) for one in reversed(events)])
    assert (receipt.reverted, receipt.unchanged) == (1, 1)
    assert ledger.get(tea).confidence == 0.9
    assert ledger.get(hate).confidence == 0.8


def test_an_undo_counts_the_evidence_that_is_there(ledger: Ledger) -> None:
    """A count that is the same as then by chance is not the count of then."""
    winner, loser = ledger.fact("I live in Oslo", confidence=0.9), ledger.fact("Oslo is home")
    ledger.write([merge(winner, loser)], run_id=1)
    ledger.write([UnmergeFact(fact_id=loser.id)])
    ledger.write([ledger.support(winner, ledger.say("My home: Oslo", at=NOW + DAY))])
    receipt = ledger.undo(1)
    assert (receipt.reverted, receipt.unchanged) == (0, 2)
    assert ledger.get(winner).evidence_count == 2
    assert ledger.get(winner).occurred_at == NOW + DAY


def test_a_support_that_was_merged_on_is_taken_back_there_too(ledger: Ledger) -> None:
    winner, loser = ledger.fact("I live in Oslo", confidence=0.9), ledger.fact("Oslo is home")
    episode = ledger.say("My home: Oslo", at=NOW + DAY)
    ledger.write([ledger.support(loser, episode)], run_id=1)
    ledger.write([merge(winner, ledger.get(loser))], run_id=2)
    assert ledger.undo(1).reverted == 1
    assert episode not in ledger.behind(winner) | ledger.behind(loser)
    assert ledger.get(winner).evidence_count == 2
    assert ledger.get(winner).occurred_at == NOW


@pytest.mark.parametrize("since", ["supported", "merged", "superseded"])
def test_a_merge_is_taken_back_whatever_became_of_the_winner(ledger: Ledger, since: str) -> None:
    winner, loser = ledger.fact("I live in Oslo", confidence=0.9), ledger.fact("Oslo is home")
    other = ledger.fact("Home is Oslo", confidence=0.95)
    mine = ledger.behind(loser)
    ledger.write([merge(winner, loser)], run_id=1)
    change: dict[str, Op] = {
        "supported": ledger.support(winner, ledger.say("Oslo again")),
        "merged": merge(other, ledger.get(winner)),
        "superseded": SupersedeFact(old_id=winner.id, new_id=other.id, rule="r", detail=""),
    }
    ledger.write([change[since]], run_id=2)
    receipt = ledger.undo(1)
    assert (receipt.reverted, receipt.unchanged) == (2, 0)
    assert ledger.get(loser).retired_at is None
    assert ledger.behind(loser) == mine
    assert not mine & (ledger.behind(winner) | ledger.behind(other))
    assert ledger.verdicts()[winner.id, loser.id] == "KEEP_BOTH"


def test_a_merge_is_taken_back_whole_or_not_at_all(ledger: Ledger) -> None:
    winner, loser = ledger.fact("I live in Oslo", confidence=0.9), ledger.fact("Oslo is home")
    other = ledger.fact("I live in Bergen", at=NOW + DAY)
    ledger.write([merge(winner, loser)], run_id=1)
    ledger.write([SupersedeFact(old_id=winner.id, new_id=other.id, rule="r", detail="")])
    ledger.fact("Oslo is home", at=NOW + 2 * DAY)  # stated again: a row of its own
    receipt = ledger.undo(1)
    assert (receipt.reverted, receipt.unchanged) == (0, 2)
    assert ledger.get(winner).evidence_count == 2


def test_either_half_takes_a_merge_back(ledger: Ledger) -> None:
    winner, loser = ledger.fact("I live in Oslo", confidence=0.9), ledger.fact("Oslo is home")
    ledger.write([merge(winner, loser)], run_id=1)
    absorbed = next(one for one in ledger.store.find(EVENT, {"run_id": 1}) if one.op == "absorb")
    assert ledger.write([RevertFact(event_id=absorbed.id)]).reverted == 1
    assert (ledger.get(winner), ledger.get(loser).retired_at) == (winner, None)
    assert ledger.write([RevertFact(event_id=absorbed.id)]).reverted == 0


def test_an_undo_holds(ledger: Ledger) -> None:
    """The pair keeps its row, so that the next night leaves it alone."""
    oslo, home = ledger.fact("I live in Oslo"), ledger.fact("Oslo is home")
    tea, hate = ledger.fact("I like tea"), ledger.fact("I hate tea")
    old, new = ledger.fact("I drive a Fiat"), ledger.fact("I sold the Fiat")
    ledger.write(
        [
            merge(oslo, home),
            contradiction(tea, hate),
            SupersedeFact(old_id=old.id, new_id=new.id, rule="sold", detail=""),
        ],
        run_id=1,
    )
    assert ledger.undo(1).unchanged == 0
    pairs = {(one.low_id, one.high_id) for one in judged_pairs(ledger.store)}
    assert pairs == {(oslo.id, home.id), (tea.id, hate.id), (old.id, new.id)}
    assert ledger.verdicts()[oslo.id, home.id] == "KEEP_BOTH"
    assert ledger.write([contradiction(tea, hate)], run_id=2).contradicted == 0


def test_what_took_something_back_is_not_taken_back(ledger: Ledger) -> None:
    old, new = ledger.fact("I live in Oslo"), ledger.fact("I live in Bergen")
    ledger.write([SupersedeFact(old_id=old.id, new_id=new.id, rule="r", detail="")], run_id=1)
    ledger.undo(1)
    undone = events_of(ledger.store, "fact", old.id)[-1]
    assert undone.op == "revert"
    assert ledger.write([RevertFact(event_id=undone.id)]).unchanged == 1
    assert ledger.get(old).retired_at is None


# --- who may --------------------------------------------------------------------------------------


def test_a_log_cannot_merge_or_pin(ledger: Ledger) -> None:
    for op in (PinFact(fact_id=1, pinned=True), UnmergeFact(fact_id=1)):
        with pytest.raises(NotAllowed):
            ledger.write([op], trigger=Trigger.SESSION_LOG)


def test_only_a_command_takes_back_and_a_message_changes_no_fact(ledger: Ledger) -> None:
    fact, other = ledger.fact("I live in Oslo"), ledger.fact("Oslo is home")
    superseding = SupersedeFact(old_id=fact.id, new_id=other.id, rule="r", detail="")
    supporting = ledger.support(fact, ledger.say("Oslo again"))
    refused: list[tuple[Trigger, Op]] = [
        (Trigger.USER_MESSAGE, superseding),
        (Trigger.USER_MESSAGE, supporting),
        (Trigger.UPKEEP, RevertFact(event_id=1)),
        (Trigger.UPKEEP, UnmergeFact(fact_id=fact.id)),
    ]
    for trigger, op in refused:
        with pytest.raises(NotAllowed):
            ledger.write([op], trigger=trigger)


def test_unknown_facts_are_named(ledger: Ledger) -> None:
    with pytest.raises(NotFound, match="999"):
        ledger.write([PinFact(fact_id=999, pinned=True)])
