"""Seed 001's figures of success: each only where there is something to count.

Shares are from 0 to 1.

Counters of the day that are read (`apply` keeps all but the two of diversity, which whoever
measures it adds with `ops.Count`):

    tool_turns               searches
    passive_latency_ms       from the end of a turn until its memories were ready, added up
    passive_latency_turns    how many such times there are
    feedback_right, feedback_wrong
    diversity                share of distinct clusters among the memories of an answer, added up
    diversity_count          how many such shares there are

Beside these stand the passive recalls that failed, by the kind of error
(`Conversations.failures`): `passive_failed:IndexError`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from typing import Final

from factbook import policy
from factbook.model.confidence import value_at
from factbook.model.facts import EVERYONE, MERGED_KINDS, Injection, Millis
from factbook.store.kinds import COUNT, INJECTION, Pair
from factbook.store.port import Reads
from factbook.store.rows import LifeWhere

LATENCY_SUM: Final = "passive_latency_ms"
LATENCY_COUNT: Final = "passive_latency_turns"
DIVERSITY_SUM: Final = "diversity"
DIVERSITY_COUNT: Final = "diversity_count"
FEEDBACK_RIGHT: Final = "feedback_right"
FEEDBACK_WRONG: Final = "feedback_wrong"
SEARCHES: Final = "tool_turns"
PASSIVE_FAILED: Final = "passive_failed:"  # with the name of the error

_INJECTIONS: Final = 100_000  # the newest that the figures are computed from
_PASSIVE: Final = "passive"
_TOOL: Final = "tool"
_MERGE: Final = "merge"  # the rule of pairs that say the same and were not merged by themselves
_BY_RULES: Final = frozenset({"contradiction", "supersedes"})
_OTHERS_WORD: Final = frozenset({"verdict", policy.CORRECTION})  # of what a judge or person said
_SPREAD: Final = 1e-9  # below it every value is the same, and nothing correlates with it


def injections(store: Reads) -> list[Injection]:
    """Return what was injected, newest first, as far back as the figures look."""
    return store.find(INJECTION, {"owner": EVERYONE}, newest_first=True, limit=_INJECTIONS)


def day_counts(store: Reads) -> dict[str, dict[str, float]]:
    """Return counters as day -> name -> value."""
    by_day: dict[str, dict[str, float]] = {}
    for day_count in store.find(COUNT):
        by_day.setdefault(day_count.day, {})[day_count.name] = day_count.value
    return by_day


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """A part of a whole."""

    part: float
    of: float

    @property
    def value(self) -> float:
        """Return the share, 0 to 1."""
        return self.part / self.of


@dataclass(frozen=True, slots=True, kw_only=True)
class Metrics:
    """The figures; None where nothing was counted yet."""

    passive_relevance: Share | None  # streamed memories that the answer used
    tool_effectiveness: Share | None  # searches after which the agent asked no more
    searches: int | None  # how often the tool was used: its adoption
    diversity: Share | None  # distinct memories in an answer, on average
    passive_latency_ms: float | None  # on average
    deduplication: Share | None  # facts found to say the same that were merged
    deprecation: Share | None  # current facts that have faded below 0.3
    confidence_accuracy: float | None  # correlation of confidence and evidence, -1 to 1
    resolved_by_rules: Share | None  # contradictions that needed no judge
    right: Share | None  # facts that their owner rated right, of those rated

    @property
    def any(self) -> bool:
        """Tell whether there is any figure."""
        return any(getattr(self, field.name) is not None for field in fields(self))


def compute(
    *,
    day_counts: Mapping[str, Mapping[str, float]],
    injections: Iterable[Injection] = (),
    pairs: Iterable[Pair] = (),
    states: Mapping[str, int] | None = None,
    believed: Sequence[tuple[float, int]] = (),
) -> Metrics:
    """Compute every figure that there is data for.

    `states` counts facts by how they stand (`counts.fact_states`), and `believed` holds (confidence
    now, pieces of evidence) of facts that can grow.
    """
    totals: dict[str, float] = {}
    for counts in day_counts.values():
        for name, value in counts.items():
            totals[name] = totals.get(name, 0.0) + value
    shown, used, resolved, judged = 0, 0, 0, 0
    for injection in injections:
        if injection.mode == _PASSIVE and injection.judged_at is not None:
            shown += len(injection.items)
            used += len(set(injection.used) & set(injection.items))
        elif injection.mode == _TOOL and injection.resolved is not None:
            judged += 1
            resolved += injection.resolved
    timed = totals.get(LATENCY_COUNT, 0.0)
    spread = totals.get(DIVERSITY_COUNT, 0.0)
    right, wrong = totals.get(FEEDBACK_RIGHT, 0.0), totals.get(FEEDBACK_WRONG, 0.0)
    known = list(pairs)
    states = states or {}
    merged = states.get("merged_into", 0)
    apart = sum(1 for pair in known if pair.rule == _MERGE and _waits(pair))
    current = sum(states.get(name, 0) for name in ("active", "tool_only", "deprecated"))
    searches = totals.get(SEARCHES)
    return Metrics(
        passive_relevance=_share(used, shown),
        tool_effectiveness=_share(resolved, judged),
        searches=None if searches is None else int(searches),
        diversity=_share(totals.get(DIVERSITY_SUM, 0.0), spread),
        passive_latency_ms=totals.get(LATENCY_SUM, 0.0) / timed if timed else None,
        deduplication=_share(merged, merged + apart),
        deprecation=_share(states.get("deprecated", 0), current),
        confidence_accuracy=_correlation(believed),
        resolved_by_rules=_by_rules(known),
        right=_share(right, right + wrong),
    )


def believed(reads: Reads, *, now: Millis) -> list[tuple[float, int]]:
    """Return (confidence at that time, evidence) of the current facts that are consolidated."""
    lives = reads.lives(LifeWhere(kinds=MERGED_KINDS, current=True))
    return [(value_at(life, now), life.evidence_count) for life in lives]


def passive_by_day(injections: Iterable[Injection]) -> dict[str, Share]:
    """Return the passive relevance of each day (UTC), oldest first."""
    by_day: dict[str, tuple[int, int]] = {}
    for injection in injections:
        if injection.mode != _PASSIVE or injection.judged_at is None or not injection.items:
            continue
        day = datetime.fromtimestamp(injection.at / 1000, UTC).strftime("%Y-%m-%d")
        used, shown = by_day.get(day, (0, 0))
        by_day[day] = (
            used + len(set(injection.used) & set(injection.items)),
            shown + len(injection.items),
        )
    return {day: Share(part=by_day[day][0], of=by_day[day][1]) for day in sorted(by_day)}


def _by_rules(pairs: Sequence[Pair]) -> Share | None:
    """Return the share of contradictions that rules decided.

    A pair that waits, or that a judge or a person decided, is one that needed more than rules;
    pairs that say the same are no contradictions.
    """
    alone = sum(
        pair.relation in _BY_RULES and not pair.verdict and pair.rule not in _OTHERS_WORD
        for pair in pairs
    )
    helped = sum(
        1
        for pair in pairs
        if pair.rule not in (_MERGE, policy.CORRECTION)
        and (pair.relation == "ambiguous" or (pair.relation in _BY_RULES and pair.verdict))
    )
    return _share(alone, alone + helped)


def _waits(pair: Pair) -> bool:
    return pair.relation == "ambiguous" and not pair.verdict


def _share(part: float, of: float) -> Share | None:
    return Share(part=part, of=of) if of > 0 else None


def _correlation(believed: Sequence[tuple[float, int]]) -> float | None:
    """Return Pearson's correlation of confidence and the logarithm of the evidence.

    Growth is geometric (`c += 0.05 * (1 - c)`), so the tenth piece of evidence says less than the
    first; a plain count would hide that.
    """
    if len(believed) < 3:
        return None
    confidences = [confidence for confidence, _ in believed]
    others = [math.log1p(count) for _, count in believed]
    mean, other_mean = sum(confidences) / len(confidences), sum(others) / len(others)
    across = sum((a - mean) * (b - other_mean) for a, b in zip(confidences, others, strict=True))
    wide = sum((a - mean) ** 2 for a in confidences)
    other_wide = sum((b - other_mean) ** 2 for b in others)
    if wide < _SPREAD or other_wide < _SPREAD:
        return None
    return across / math.sqrt(wide * other_wide)
