"""How confidence and recency fade. Imports the standard library alone: hooks load this file."""

from __future__ import annotations

import math
from typing import Final

from factbook import policy

DAY_MS: Final = 24 * 3600 * 1000


def hold_days(kind: str, predicate: str) -> float:
    """Return the days for which the confidence of a fact holds before it fades."""
    return policy.HOLD_DAYS.get(predicate, 0.0) if kind == "typed" else 0.0


def faded(value: float, days: float) -> float:
    """Return what is left of a value after so many days; all of it before."""
    return value * math.exp(-policy.DECAY_PER_DAY * days) if days > 0 else value


def value_then(
    value: float,
    at: int,
    now: int,
    *,
    kind: str,
    predicate: str,
    pinned: bool,
    until: int | None = None,
) -> float:
    """Return the confidence that a fact of a moment `at` has `now`, both in milliseconds.

    `until` is when it is over by its own words, where they say so and it is current; what lasts
    falls no lower than to where a search finds it.
    """
    if pinned or kind in policy.LASTING_KINDS:
        return value
    left = faded(value, (now - at) / DAY_MS - hold_days(kind, predicate))
    if until == policy.LASTING_TO:
        return max(left, min(value, policy.LASTING_FLOOR))
    over = 0.0 if until is None else (now - max(until, at)) / DAY_MS
    return left * math.exp(-policy.PASSED_PER_DAY * over) if over > 0 else left


def recency(occurred_at: int | None, now: int) -> float:
    """Return `exp(-0.01 * days)`: 1 for now and for the future, 0 where no date is known."""
    return 0.0 if occurred_at is None else faded(1.0, (now - occurred_at) / DAY_MS)


def relevance_score(similarity: float, confidence: float, recency: float) -> float:
    """Return `similarity*0.6 + confidence*0.3 + recency*0.1`; all three from 0 to 1."""
    return (
        similarity * policy.SIMILARITY_WEIGHT
        + confidence * policy.CONFIDENCE_WEIGHT
        + recency * policy.RECENCY_WEIGHT
    )
