"""Sum up what became of a model's proposals of memories, and say what to do about it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from factbook import policy
from factbook.model.facts import Millis

GROUPS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "low_confidence": "Below threshold",
        "fact_below_threshold": "Below threshold",
        "not_grounded_in_summary": "Not grounded",
        "hallucination": "Hallucination",
        "type_rule_violation": "Type rule",
        "semantically_invalid": "Nonsensical",
        "refused_before": "Refused before",
    }
)
"""The seed's headings, and what of the reasons stands under each."""
OTHER: Final = "Other"
ACCEPTED: Final = "Accepted"

_ADVICE: Final[Mapping[str, str]] = MappingProxyType(
    {
        "Below threshold": "Refine extraction prompt to be stricter on {kind} confidence",
        "Not grounded": "Ask for the quoted span and refuse to extract without one",
        "Hallucination": "Ask the prompt to use the source's own words, with no detail added",
        "Type rule": "Show the prompt which {kind} statements are not memories (`factbook"
        " rejections --reason type_rule_violation`)",
        "Refused before": "Nothing to do: its owner said no, and it stays out",
        "Nonsensical": "Check the summaries: what comes out says nothing",
        OTHER: "Look at them: `factbook rejections --typed`",
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Trend:
    type: str  # USER_FACT, USER_PATTERN or SHARED_NARRATIVE
    group: str  # a value of GROUPS
    count: int
    lowest: float | None  # confidence of these
    highest: float | None
    needed: float | None  # the threshold of the type
    advice: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RejectionSummary:
    """What became of the last proposals of memories."""

    total: int
    counts: Mapping[str, int]  # by heading, the seed's order, Accepted last
    trend: Trend | None

    def lines(self) -> list[str]:
        """Return it as the seed prints it."""
        lines = [f"[REJECTION SUMMARY] Last {self.total} extractions"]
        for name, count in self.counts.items():
            if count or name == ACCEPTED:
                lines.append(f"  - {name}: {count} ({_percent(count, self.total)}%)")
        if self.trend is not None:
            lines += ["", "[TRENDING] Most common rejection type:"]
            lines.append(f"  - {self.trend.type}{_where(self.trend)}")
            lines.append(f"  - Recommendation: {self.trend.advice}")
        return lines


def summarize(
    log: Sequence[tuple[Millis, str, str, float | None, float | None]],
) -> RejectionSummary:
    """Sum up rows of (at, type, reason or "" where it was let in, confidence, threshold)."""
    counts = dict.fromkeys([*dict.fromkeys(GROUPS.values()), OTHER, ACCEPTED], 0)
    refused: Counter[tuple[str, str]] = Counter()
    for _, type_, reason, _, _ in log:
        group = GROUPS.get(reason, OTHER) if reason else ACCEPTED
        counts[group] += 1
        if reason:
            refused[type_, group] += 1
    return RejectionSummary(total=len(log), counts=counts, trend=_trend(refused, log))


def _trend(
    refused: Counter[tuple[str, str]],
    log: Sequence[tuple[Millis, str, str, float | None, float | None]],
) -> Trend | None:
    if not refused:
        return None
    # Of equally many, the type and heading that come first by name: the same data, the same line.
    (type_, group), count = min(refused.items(), key=lambda item: (-item[1], item[0]))
    sure = [
        row[3]
        for row in log
        if row[1] == type_ and row[2] and GROUPS.get(row[2], OTHER) == group and row[3] is not None
    ]
    kind = type_.split("_")[-1].lower()
    return Trend(
        type=type_,
        group=group,
        count=count,
        lowest=min(sure, default=None),
        highest=max(sure, default=None),
        needed=policy.TYPE_THRESHOLD.get(type_),
        advice=_ADVICE[group].format(kind=kind),
    )


def _where(trend: Trend) -> str:
    if trend.group != "Below threshold":
        return f": {trend.group.lower()} ({trend.count})"
    if trend.lowest is None or trend.highest is None or trend.needed is None:
        return ""
    low, high = f"{trend.lowest:.2f}", f"{trend.highest:.2f}"
    span = low if low == high else f"{low}–{high}"
    return f" with confidence {span} (needs {trend.needed:.2f}+)"


def _percent(part: int, whole: int) -> int:
    return round(100 * part / whole) if whole else 0
