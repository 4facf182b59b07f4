"""How sure a fact was over time, by its history; and what a run changed, by its events."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

import pytest

from factbook.maintenance.changes_report import account
from factbook.maintenance.confidence_history import course
from factbook.memory import Memory
from factbook.model.facts import ME, Event, Fact, FactKind, Millis, Status, Trigger, Trust
from factbook.model.ops import ContradictFacts, JudgePair, MergeFacts, StartRun, SupersedeFact
from factbook.store.derived.facts import fact_by_id
from factbook.store.port import events_of
from factbook.store.rows import Filters
from factbook.testing import FrozenClock

DAY: Millis = 24 * 3600 * 1000
START: Millis = 1_760_000_000_000


@pytest.fixture
def clock() -> FrozenClock:
    return FrozenClock(START)


@pytest.fixture
def memory(tmp_path: Path, clock: FrozenClock) -> Iterator[Memory]:
    with Memory(tmp_path / "m.db", clock=clock, key_file=tmp_path / "key") as opened:
        yield opened
        assert opened.check() == []


def stored(memory: Memory, fact_id: int) -> tuple[Fact, list[Event]]:
    fact = fact_by_id(memory.store, fact_id)
    assert fact is not None
    return fact, events_of(memory.store, "fact", fact_id)


def test_a_course_follows_growth_fading_and_a_pin(memory: Memory, clock: FrozenClock) -> None:
    fact = memory.remember("I live in Porto")
    clock.advance(days=50)
    memory.remember("I live in Porto")
    clock.advance(days=10)
    memory.review.pin(fact.id)
    clock.advance(days=30)
    found = course(*stored(memory, fact.id), now=clock.now)
    assert [one.op for one in found.steps] == ["store", "support", "pin"]
    begun, again, pinned = found.steps
    assert (begun.before, begun.after, begun.as_of) == (None, 0.95, START)
    assert again.before == pytest.approx(0.95 * math.exp(-0.5))
    assert again.after == 0.95
    assert pinned.before == pinned.after == pytest.approx(0.95 * math.exp(-0.1))
    assert found.value == pytest.approx(pinned.after)  # it has not faded since
    points = found.points(91)  # one a day
    assert points[0] == 0.95
    assert points[49] == pytest.approx(0.95 * math.exp(-0.49))
    assert points[50] == 0.95
    assert points[75] == points[90] == pytest.approx(pinned.after)


def test_a_course_ends_where_the_fact_retired(memory: Memory, clock: FrozenClock) -> None:
    old = memory.remember("I live in Porto")
    clock.advance(days=20)
    new = memory.correct(old.id, "Home is Faro")
    clock.advance(days=300)
    found = course(*stored(memory, old.id), now=clock.now)
    assert found.retired
    assert found.end == START + 20 * DAY
    assert found.steps[-1].op == "supersede"
    assert found.steps[-1].others == (new.id,)
    assert found.value == pytest.approx(0.95 * math.exp(-0.2))


def test_a_course_of_what_does_not_fade() -> None:
    fact = Fact(
        id=1,
        owner=ME,
        subject="action_1",
        predicate="used_tool",
        object="Bash",
        statement="used Bash",
        kind=FactKind.OBSERVATION,
        status=Status.ACTIVE,
        confidence=1.0,
        confidence_at=START,
        trust=Trust.OBSERVED,
        evidence_count=2,
        occurred_at=START,
        learned_at=START,
        episode_id=1,
    )
    history = [
        Event(
            id=n,
            at=START + n * DAY,
            actor="cli",
            trigger=Trigger.SESSION_LOG,
            op=op,
            target_kind="fact",
            target_id=1,
            detail=detail,
        )
        for n, (op, detail) in enumerate(
            [("store", {"confidence": 0.9}), ("update", {"evidence": 1, "confidence": [0.9, 1.0]})]
        )
    ]
    found = course(fact, history, now=START + 900 * DAY)
    assert [(one.before, one.after) for one in found.steps] == [(None, 0.9), (0.9, 1.0)]
    assert found.value == 1.0


def test_a_course_without_history_stands_still(memory: Memory) -> None:
    fact, _ = stored(memory, memory.remember("I live in Porto").id)
    found = course(fact, [], now=START)
    assert (list(found.steps), found.value) == ([], 0.95)
    assert found.points(3) == [0.95, 0.95, 0.95]


def test_the_account_of_a_run(memory: Memory, clock: FrozenClock) -> None:
    texts = ("I live in Porto", "Tea wakes me up", "Coffee is fine", "Jazz is nice", "I run a lot")
    one, tea, coffee, jazz, run = (memory.remember(text) for text in texts)
    jazz_too = memory.remember("I am fond of swing")
    clock.advance(days=10)
    faded = 0.95 * math.exp(-0.1)
    from factbook.apply.apply import apply

    apply(
        memory.store,
        [
            StartRun(run_id=1),
            ContradictFacts(
                low_id=tea.id, high_id=coffee.id, rule="polarity", detail="a or b", similarity=0.8
            ),
            SupersedeFact(old_id=one.id, new_id=run.id, rule="moved", detail="", similarity=0.7),
            MergeFacts(
                winner_id=jazz.id, loser_ids=[jazz_too.id], evidence_counts=[1, 1], rule="same"
            ),
            JudgePair(
                low_id=run.id - 1,
                high_id=run.id,
                relation="ambiguous",
                rule="polarity",
                detail="who knows",
                similarity=0.6,
            ),
        ],
        trigger=Trigger.UPKEEP,
        actor="night",
        now=clock.now,
        run_id=1,
    )
    found = account(memory.store, memory.maintenance.runs()[0])
    (opposed,) = found.contradicted
    assert opposed.fact_ids == (tea.id, coffee.id)
    # Both are values at the moment of the newer evidence, which is that of the facts here.
    assert opposed.before == pytest.approx((0.95, 0.95))
    assert opposed.after == pytest.approx((0.475, 0.475))
    (replaced,) = found.superseded
    assert (replaced.old_id, replaced.new_id, replaced.rule) == (one.id, run.id, "moved")
    (merged,) = found.merged
    assert (merged.winner_id, merged.loser_ids) == (jazz.id, (jazz_too.id,))
    (queued,) = found.queued
    assert (queued.low_id, queued.high_id) == (run.id - 1, run.id)
    assert found.changes == 4
    assert found.facts[run.id].confidence == pytest.approx(faded)  # as it was at that time


def test_support_that_restores_a_faded_fact_is_told_as_growth(
    memory: Memory, clock: FrozenClock
) -> None:
    """What faded in between must not make support look like a loss, or like nothing."""
    from factbook.apply.apply import apply
    from factbook.model.ops import SupportFact

    fact = memory.remember("I live in Porto")
    clock.advance(days=60)
    said = "Porto is where my home is, and I live there"
    memory.add_turn(said, session="s", uid="said-again")
    (episode,) = [one for one in memory.store.episodes(Filters(), limit=None) if one.text == said]
    apply(
        memory.store,
        [
            StartRun(run_id=1),
            SupportFact(
                fact_id=fact.id,
                episode_id=episode.id,
                quote=said,
                start=0,
                end=len(said),
                rule="supporting_episode",
                method="close",
                trust=Trust.DIRECT,
                confidence=0.95,  # as sure as it was: the event names no change of confidence
            ),
        ],
        trigger=Trigger.UPKEEP,
        actor="night",
        now=clock.now,
        run_id=1,
    )
    (moved,) = account(memory.store, memory.maintenance.runs()[0]).supported
    assert moved.before == pytest.approx(0.95 * math.exp(-0.6))
    assert moved.after == pytest.approx(0.95)
    assert (moved.episodes, moved.why) == (1, ("supporting_episode",))
