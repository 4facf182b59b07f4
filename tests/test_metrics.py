"""Seed 001's figures of success, computed from what was counted."""

from __future__ import annotations

from factbook.maintenance.metrics import Share, compute, passive_by_day
from factbook.model.facts import Injection
from factbook.store.kinds import Pair

NOON = 1_763_726_400_000  # 2025-11-21 12:00 UTC
DAY = 24 * 3600 * 1000


def injection(
    n: int,
    *,
    mode: str = "passive",
    items: tuple[str, ...] = ("f1", "f2"),
    used: tuple[str, ...] = (),
    judged: bool = True,
    resolved: bool | None = None,
    at: int = NOON,
) -> Injection:
    return Injection(n, at, "me", "s", mode, items, used, at if judged else None, resolved)


def pair(low: int, relation: str, rule: str, verdict: str = "") -> Pair:
    return Pair(low, low + 1, relation, rule, "", 0.9, NOON, verdict)


def test_without_data_there_is_no_figure() -> None:
    found = compute(day_counts={})
    assert not found.any
    assert found.passive_relevance is None
    assert found.passive_latency_ms is None


def test_passive_relevance_is_the_share_of_shown_items_that_were_used() -> None:
    found = compute(
        day_counts={},
        injections=[
            injection(1, used=("f1",)),
            injection(2, used=("f1", "f2")),
            injection(3, judged=False),  # nobody has looked yet
            injection(4, used=("f9",)),  # it was not shown
            injection(5, mode="tool", used=("f1", "f2")),
        ],
    )
    assert found.passive_relevance == Share(part=3, of=6)


def test_tool_effectiveness_counts_judged_searches_only() -> None:
    answers = (True, True, False, None)
    found = compute(
        day_counts={"2025-11-20": {"tool_turns": 3.0}, "2025-11-21": {"tool_turns": 1.0}},
        injections=[injection(n, mode="tool", resolved=one) for n, one in enumerate(answers)],
    )
    assert found.tool_effectiveness == Share(part=2, of=3)
    assert found.searches == 4


def test_latency_and_diversity_are_averages_over_all_days() -> None:
    found = compute(
        day_counts={
            "2025-11-20": {
                "passive_latency_ms": 60.0,
                "passive_latency_turns": 2.0,
                "diversity": 1.5,
                "diversity_count": 2.0,
            },
            "2025-11-21": {
                "passive_latency_ms": 120.0,
                "passive_latency_turns": 1.0,
            },
        }
    )
    assert found.passive_latency_ms == 60.0
    assert found.diversity is not None
    assert found.diversity.value == 0.75


def test_facts_that_say_the_same_are_merged_or_wait_to_be() -> None:
    found = compute(
        day_counts={},
        pairs=[
            pair(1, "ambiguous", "merge"),
            pair(3, "ambiguous", "merge", "KEEP_BOTH"),  # a person says that they are two
            pair(5, "ambiguous", "polarity"),
        ],
        states={"active": 6, "tool_only": 2, "deprecated": 2, "merged_into": 3, "superseded": 9},
    )
    assert found.deduplication == Share(part=3, of=4)
    assert found.deprecation == Share(part=2, of=10)


def test_contradictions_that_needed_no_judge() -> None:
    found = compute(
        day_counts={},
        pairs=[
            pair(1, "contradiction", "negation"),
            pair(3, "supersedes", "moved_to"),
            pair(5, "contradiction", "verdict", "CONTRADICTION"),  # it was ambiguous before
            pair(7, "ambiguous", "polarity"),
            pair(9, "ambiguous", "merge"),  # no contradiction
            pair(11, "supersedes", "correction"),  # its owner's word, and no contradiction found
            pair(13, "same", "unmerged", "KEEP_BOTH"),
        ],
    )
    assert found.resolved_by_rules == Share(part=2, of=4)


def test_feedback() -> None:
    found = compute(day_counts={"2025-11-21": {"feedback_right": 3.0, "feedback_wrong": 1.0}})
    assert found.right == Share(part=3, of=4)


def test_confidence_accuracy_is_a_correlation() -> None:
    rising = [(0.6 + 0.04 * n, n) for n in range(1, 9)]
    found = compute(day_counts={}, believed=rising).confidence_accuracy
    assert found is not None
    assert found > 0.9
    falling = [(0.9 - 0.04 * n, n) for n in range(1, 9)]
    against = compute(day_counts={}, believed=falling).confidence_accuracy
    assert against is not None
    assert against < -0.9
    assert compute(day_counts={}, believed=[(0.7, 2)] * 5).confidence_accuracy is None
    assert compute(day_counts={}, believed=rising[:2]).confidence_accuracy is None


def test_passive_relevance_by_day() -> None:
    found = passive_by_day(
        [
            injection(1, at=NOON, used=("f1",)),
            injection(2, at=NOON - DAY, used=("f1", "f2")),
            injection(3, at=NOON - DAY),
            injection(4, at=NOON, judged=False),
            injection(5, at=NOON, items=()),
        ]
    )
    assert found == {"2025-11-20": Share(part=2, of=4), "2025-11-21": Share(part=1, of=2)}
