"""Decide what is done for an entity by itself, and which new facts are worth a notice. Pure.

How much is known of it and how much its owner cares about it give its mode, and the mode decides.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from factbook import policy
from factbook.errors import UsageError
from factbook.model.facts import Fact, Millis


class EnrichmentMode(StrEnum):
    """Say what is done for an entity by itself (the rows of origins 003.3's adaptive table)."""

    BROAD = "broad"  # few facts: fill the gaps
    TARGETED = "targeted"  # look for what is not known
    BRIEFING = "briefing"  # much is known: only what is new
    SKIP = "skip"  # its owner does not want it


def mode_of(fact_count: int, interest: float) -> EnrichmentMode:
    """Return what is done for an entity: [0, 5) broad, [5, 15) targeted, from 15 on a briefing.

    The seed names 5 and 15 in two rows each; here they belong to the upper one. A negative
    interest means that nothing is done. Raises UsageError for what is no count or no number.
    """
    if fact_count < 0 or not math.isfinite(interest):
        raise UsageError(
            detail=f"An entity cannot have {fact_count} facts and an interest of {interest}; give a"
            " count of 0 or more and a finite number."
        )
    if interest < 0:
        return EnrichmentMode.SKIP
    if fact_count < policy.FEW_FACTS:
        return EnrichmentMode.BROAD
    return EnrichmentMode.TARGETED if fact_count < policy.MANY_FACTS else EnrichmentMode.BRIEFING


@dataclass(frozen=True, slots=True, kw_only=True)
class Find:
    """A new fact of an entity, with what is known about how new it is."""

    fact: Fact
    nearest: float | None = None  # greatest cosine to a fact known before; None: nothing to compare
    published_at: Millis | None = None  # when its source was published, where that is known


def worth_telling(
    mode: EnrichmentMode, new: Sequence[Find], *, briefed_at: Millis | None = None
) -> list[Fact]:
    """Return the new facts that a notice tells, in their order.

    Few facts known: every new one. From 5 on: one that is not near to any known before (cosine
    below `policy.MERGE_SIMILARITY`). From 15 on also: one that is newer than the last briefing
    (`briefed_at`, None where there was none); a fact without a date of its source is as new as when
    it was learned.
    """
    if mode is EnrichmentMode.SKIP:
        return []
    return [
        find.fact
        for find in new
        if mode is EnrichmentMode.BROAD
        or (_is_apart(find) and (mode is EnrichmentMode.TARGETED or _is_newer(find, briefed_at)))
    ]


def _is_apart(find: Find) -> bool:
    if find.nearest is None:
        return True
    if not -1.001 <= find.nearest <= 1.001:  # half precision may pass 1 by a little
        raise UsageError(detail=f"{find.nearest} is no cosine; give a number from -1 to 1.")
    return find.nearest < policy.MERGE_SIMILARITY


def _is_newer(find: Find, briefed_at: Millis | None) -> bool:
    at = find.fact.learned_at if find.published_at is None else find.published_at
    return briefed_at is None or at > briefed_at
