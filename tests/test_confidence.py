"""Confidence as a function of a stored moment (seed 001, section 3)."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factbook import policy
from factbook.model.confidence import (
    DAY_MS,
    grown,
    halved,
    is_deprecated,
    is_passive,
    supported,
    value_at,
)
from factbook.model.facts import FactKind, Trust

NOW = 1_763_700_000_000


@dataclass(frozen=True)
class Held:
    """A fact as far as its confidence goes."""

    kind: FactKind = FactKind.STATEMENT
    predicate: str = "states"
    pinned: bool = False
    confidence: float = 0.8
    confidence_at: int = NOW
    valid_to: int | None = None
    retired_at: int | None = None


def test_ten_days_take_ten_percent() -> None:
    """Seed 001: `confidence *= exp(-days * 0.01)`, about 10 % per 10 days."""
    assert value_at(Held(), NOW + 10 * DAY_MS) == pytest.approx(0.8 * math.exp(-0.1))


@pytest.mark.parametrize("kind", [FactKind.OBSERVATION, FactKind.KEYED])
def test_what_happened_and_what_is_set_do_not_fade(kind: FactKind) -> None:
    assert value_at(Held(kind=kind), NOW + 3650 * DAY_MS) == 0.8


def test_a_pinned_fact_does_not_fade() -> None:
    assert value_at(Held(pinned=True), NOW + 3650 * DAY_MS) == 0.8


@pytest.mark.parametrize(
    ("predicate", "days"), [("user_fact", 30), ("user_pattern", 14), ("shared_narrative", 7)]
)
def test_typed_memories_hold_for_their_window_and_fade_after_it(predicate: str, days: int) -> None:
    held = Held(kind=FactKind.TYPED, predicate=predicate)
    assert value_at(held, NOW + days * DAY_MS) == 0.8
    assert value_at(held, NOW + (days + 10) * DAY_MS) == pytest.approx(0.8 * math.exp(-0.1))


def test_a_clock_that_jumps_back_changes_nothing() -> None:
    assert value_at(Held(), NOW - 400 * DAY_MS) == 0.8


def test_the_growth_of_the_seed() -> None:
    """Seed 001: `confidence += 0.05 * (1 - confidence)` for each supporting episode."""
    assert grown(0.6) == pytest.approx(0.62)
    assert grown(grown(0.6)) == pytest.approx(0.639)


def test_a_channel_cannot_lift_a_fact_above_its_cap() -> None:
    external = grown(0.59, cap=policy.TRUST_CAP[Trust.EXTERNAL])
    assert external == pytest.approx(0.6)
    assert grown(0.9, cap=policy.TRUST_CAP[Trust.EXTERNAL]) == 0.9


def test_the_boundaries_are_those_of_the_checklist() -> None:
    """Exactly 0.3 is for tools, exactly 0.5 is for tools only."""
    assert not is_deprecated(0.3)
    assert is_deprecated(0.2999999)
    assert not is_passive(0.5)
    assert is_passive(0.5000001)


days = st.floats(0, 400)
confidences = st.floats(0, 1)


@given(confidences, st.lists(days, max_size=8), days)
def test_thirty_runs_are_one_run(start: float, evidence: list[float], later: float) -> None:
    """Looking at a fact in between changes nothing: its value follows from the stored moment."""
    held = Held(confidence=start)
    often = held
    for day in sorted(evidence):
        at = NOW + int(day * DAY_MS)
        value_at(often, at)
        confidence, moment = supported(often, at=at, trust=Trust.DIRECT, now=NOW + 401 * DAY_MS)
        often = replace(often, confidence=confidence, confidence_at=moment)
    once = held
    for day in sorted(evidence):
        confidence, moment = supported(
            once, at=NOW + int(day * DAY_MS), trust=Trust.DIRECT, now=NOW + 800 * DAY_MS
        )
        once = replace(once, confidence=confidence, confidence_at=moment)
    end = NOW + int((401 + later) * DAY_MS)
    assert value_at(often, end) == value_at(once, end)


@given(confidences, days, days, st.sampled_from(list(Trust)))
def test_evidence_never_lowers_and_time_never_raises(
    start: float, at: float, later: float, trust: Trust
) -> None:
    held = Held(confidence=start)
    now = NOW + 500 * DAY_MS
    confidence, moment = supported(held, at=NOW + int(at * DAY_MS), trust=trust, now=now)
    after = replace(held, confidence=confidence, confidence_at=moment)
    assert 0.0 <= confidence <= 1.0
    end = max(moment, NOW) + int(later * DAY_MS)
    assert value_at(after, end) >= value_at(held, end) - 1e-12
    assert value_at(after, end) <= confidence


@given(confidences, st.floats(-4000, 4000))
def test_old_evidence_adds_what_is_left_of_it(start: float, at: float) -> None:
    """A log that is read late supports a fact no more than the same log read in time."""
    held = Held(confidence=start)
    confidence, moment = supported(
        held, at=NOW + int(at * DAY_MS), trust=Trust.DIRECT, now=NOW + DAY_MS
    )
    assert held.confidence_at <= moment <= NOW + DAY_MS
    assert 0.0 <= confidence <= grown(start) + 1e-12


def test_evidence_from_the_future_counts_as_now() -> None:
    _, moment = supported(Held(), at=NOW + 90 * DAY_MS, trust=Trust.DIRECT, now=NOW)
    assert moment == NOW


def test_a_contradiction_takes_half_of_what_is_left() -> None:
    confidence, moment = halved(Held(), at=NOW + 10 * DAY_MS, now=NOW + 20 * DAY_MS)
    assert moment == NOW + 10 * DAY_MS
    assert confidence == pytest.approx(0.4 * math.exp(-0.1))


def test_only_what_raises_a_typed_memory_begins_its_window_anew() -> None:
    held = Held(kind=FactKind.TYPED, predicate="user_fact", confidence=0.9)
    later = NOW + 20 * DAY_MS
    external = supported(held, at=later, trust=Trust.EXTERNAL, now=later)
    assert external == (0.9, NOW)
    confidence, moment = supported(held, at=later, trust=Trust.DIRECT, now=later)
    assert confidence > 0.9
    assert moment == later


def test_evidence_that_adds_nothing_leaves_a_faded_value_as_it_is() -> None:
    later = NOW + 10 * DAY_MS
    assert supported(Held(), at=later, trust=Trust.EXTERNAL, now=later) == (0.8, NOW)
