"""What each mode of recall may see, and the seed's relevance (seed 001)."""

from __future__ import annotations

import math

import numpy as np
import pytest

from factbook.errors import UsageError
from factbook.model.facts import Hit
from factbook.model.fading import recency, relevance_score
from factbook.recall.plan import (
    Mode,
    plan_search,
    select,
)

DAY = 24 * 3600 * 1000
NOW = 1_790_000_000_000


def hit(id: str, *, score: float = 0.5, confidence: float = 0.9, text: str = "") -> Hit:
    return Hit(
        id=id,
        kind="fact" if id.startswith("f") else "episode",
        text=text or id,
        score=score,
        confidence=confidence,
        occurred_at=NOW,
        source="",
        position=0,
        host="",
        project="",
        session="",
    )


@pytest.mark.parametrize(
    ("confidence", "passive", "active"),
    [
        (0.29, False, False),
        (0.3, False, True),
        (0.5, False, True),
        (0.500001, True, True),
        (1.0, True, True),
        (math.nan, False, False),
    ],
)
def test_thresholds_of_the_modes(confidence: float, passive: bool, active: bool) -> None:
    assert plan_search(Mode.PASSIVE).admits(confidence) is passive
    assert plan_search(Mode.ACTIVE).admits(confidence) is active


def test_relevance_is_the_seeds() -> None:
    assert relevance_score(1.0, 1.0, 1.0) == pytest.approx(1.0)
    assert relevance_score(0.8, 0.5, 0.2) == pytest.approx(0.8 * 0.6 + 0.5 * 0.3 + 0.2 * 0.1)


def test_recency_fades_by_a_tenth_in_ten_days() -> None:
    assert recency(NOW, NOW) == 1.0
    assert recency(NOW - 10 * DAY, NOW) == pytest.approx(math.exp(-0.1))
    assert recency(NOW + 400 * DAY, NOW) == 1.0  # a date in the future is now
    assert recency(None, NOW) == 0.0
    assert recency(0, NOW) == pytest.approx(0.0, abs=1e-6)  # 1970


def test_signature_of_the_tool() -> None:
    plan = plan_search(Mode.ACTIVE, search_type="facts", limit=7)
    assert (plan.facts, plan.episodes, plan.limit) == (7, 0, 7)
    passive = plan_search(Mode.PASSIVE)
    assert (passive.facts, passive.episodes, passive.limit) == (5, 5, 10)


@pytest.mark.parametrize("limit", [0, -1, True, 2.5, math.nan])
def test_a_limit_that_is_no_count_is_refused(limit: int) -> None:
    with pytest.raises(UsageError, match="limit"):
        plan_search(Mode.ACTIVE, limit=limit)


def test_another_search_type_is_refused() -> None:
    with pytest.raises(UsageError, match="search_type"):
        plan_search(Mode.ACTIVE, search_type="all")  # type: ignore[arg-type]


def test_selection_filters_diversifies_and_limits() -> None:
    hits = [
        hit("f1", score=0.9),
        hit("f2", score=0.8),  # says what f1 says
        hit("f3", score=0.7, confidence=0.4),
        hit("e1", score=0.6),
        hit("e2", score=0.5),
    ]
    one, other = np.asarray([1.0, 0.0], "f4"), np.asarray([0.0, 1.0], "f4")
    vectors = {"f1": one, "f2": one, "e1": other}
    active = select(hits, plan_search(Mode.ACTIVE, limit=3), vectors=vectors)
    assert [found.id for found in active] == ["f1", "f3", "e1"]
    passive = select(hits, plan_search(Mode.PASSIVE), vectors=vectors)
    assert [found.id for found in passive] == ["f1", "e1", "e2"]
    facts = select(hits, plan_search(Mode.ACTIVE, search_type="facts"), vectors=vectors)
    assert [found.id for found in facts] == ["f1", "f3"]
