"""Confidence as a function of a stored moment: how it grows, fades and is halved.

A fact stores a confidence and the moment that it is of. The value at another time follows from
them, the kind of the fact, and the days between; nothing has to be written for a fact to fade, and
thirty nightly runs give what one run thirty days later gives. Growth is applied at the time when
the evidence happened, so the order in which logs are read matters little.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final, Protocol

from factbook import policy
from factbook.model.facts import Fact, FactKind, Millis, Status, Trust
from factbook.model.fading import DAY_MS, faded, hold_days, value_then

_TRUST_RANK: Final = {trust: rank for rank, trust in enumerate(policy.TRUST_ORDER)}


def better_trust(trust: Trust, other: Trust) -> Trust:
    """Return the trust of the channel that is believed more."""
    return trust if _TRUST_RANK[trust] <= _TRUST_RANK[other] else other


def worse_trust(trust: Trust, other: Trust) -> Trust:
    """Return the trust of the channel that is believed less."""
    return trust if _TRUST_RANK[trust] >= _TRUST_RANK[other] else other


class ConfidenceHolder(Protocol):
    """What a confidence depends on; `Fact` and the store's `Life` are such."""

    @property
    def kind(self) -> FactKind: ...
    @property
    def predicate(self) -> str: ...  # it names the window of a typed memory
    @property
    def pinned(self) -> bool: ...  # a pinned fact does not fade
    @property
    def confidence(self) -> float: ...  # from 0 to 1, as of `confidence_at`
    @property
    def confidence_at(self) -> Millis: ...
    @property
    def valid_to(self) -> Millis | None: ...  # until when it is true, where that is known
    @property
    def retired_at(self) -> Millis | None: ...  # since when it is not current


def fades(fact: ConfidenceHolder) -> bool:
    """Tell whether a fact fades: what happened stays true, and a setting holds until changed."""
    held = fact.pinned or fact.confidence_at >= policy.HELD_AT
    return not held and fact.kind not in policy.LASTING_KINDS


def value_at(fact: ConfidenceHolder, now: Millis) -> float:
    """Return the confidence at a time, from 0 to 1; before its own moment it is as it was then."""
    return value_then(
        fact.confidence,
        fact.confidence_at,
        now,
        kind=fact.kind,
        predicate=fact.predicate,
        pinned=fact.pinned,
        until=fact.valid_to if fact.retired_at is None else None,
    )


def grown(confidence: float, *, cap: float = 1.0) -> float:
    """Return the confidence after one more independent episode speaks for it.

    Seed 001: `+0.05 * (1 - c)`. What a channel says cannot lift a fact above the channel's cap.
    """
    return max(confidence, min(cap, confidence + policy.EVIDENCE_GROWTH * (1.0 - confidence)))


def shrunk(confidence: float) -> float:
    """Return the confidence after one episode less speaks for it: the inverse of `grown`."""
    return max(0.0, (confidence - policy.EVIDENCE_GROWTH) / (1.0 - policy.EVIDENCE_GROWTH))


def supported(
    fact: ConfidenceHolder, *, at: Millis | None, trust: Trust, now: Millis, own: float = 0.0
) -> tuple[float, Millis]:
    """Return (confidence, its moment) after an episode of that time and channel supports the fact.

    `own` is how sure the episode alone makes it. Evidence from before the fact's moment adds what
    would be left of it by then, and does not turn the clock back; a date in the future counts as
    now. Evidence that adds nothing leaves the moment alone: it must not make a window begin anew.
    """
    cap = policy.TRUST_CAP[trust]
    moment = now if at is None else min(at, now)
    if not fades(fact) or moment >= fact.confidence_at:
        value = value_at(fact, moment)
        after = max(grown(value, cap=cap), own)
        if after > value:
            return after, max(fact.confidence_at, moment)
        return fact.confidence, fact.confidence_at
    days = (fact.confidence_at - moment) / DAY_MS - hold_days(fact.kind, fact.predicate)
    left = faded(1.0, days)
    gain = grown(fact.confidence, cap=cap) - fact.confidence
    return max(fact.confidence + gain * left, own * left), fact.confidence_at


def halved(fact: ConfidenceHolder, *, at: Millis | None, now: Millis) -> tuple[float, Millis]:
    """Return (confidence, its moment) after a contradiction (origins 001.4: both lose half)."""
    moment = max(fact.confidence_at, now if at is None else min(at, now))
    return value_at(fact, moment) * policy.CONTRADICTION_FACTOR, moment


def is_deprecated(value: float) -> bool:
    """Tell whether a fact is out of all retrieval; exactly 0.3 is still found by a search."""
    return value < policy.MIN_CONFIDENCE_ACTIVE


def is_passive(value: float) -> bool:
    """Tell whether a fact may come by itself; exactly 0.5 is for searches only."""
    return value > policy.MIN_CONFIDENCE_PASSIVE


def as_of(fact: Fact, now: Millis) -> Fact:
    """Return a fact with the confidence and the status that it has at a time."""
    value = value_at(fact, now)
    gone = fact.retired_at is None and is_deprecated(value)
    status = Status.DEPRECATED if gone else fact.status
    if value == fact.confidence and status is fact.status:
        return fact
    return replace(fact, confidence=value, confidence_at=now, status=status)
