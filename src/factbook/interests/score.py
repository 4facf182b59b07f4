"""Say how much an owner cares about an entity, from what the owner did about it.

    interest = sum(valence sign * strength * 0.5 ** (days since / 30))

Nothing is kept. The seed leaves two things open: an engagement that names an entity counts for it
in full, and once, also where it names a preference beside it. One that names a preference counts
also for the other entities that it is about, by their share (`relate.shares`): `/dislike sports`
makes no entity, and without this it would stop nothing.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from factbook import policy
from factbook.model.entities import Engagement
from factbook.model.facts import Millis

DAY_MS: Final = 24 * 3600 * 1000

Shares = Mapping[int, Mapping[int, float]]
"""For each preference the entities that it is about, each with its share, above 0 and at most 1."""


def weight(age_ms: Millis) -> float:
    """Return what is left of an engagement of that age, from 1 down to 0; the future counts as now.

    It halves with every `policy.INTEREST_HALF_LIFE_DAYS`.
    """
    return float(0.5 ** (max(0, age_ms) / (policy.INTEREST_HALF_LIFE_DAYS * DAY_MS)))


def signed(engagement: Engagement) -> float:
    """Return an engagement's strength with the sign of its valence, from -1 to 1."""
    return policy.VALENCE_SIGN[engagement.valence] * engagement.strength


def interests(
    engagements: Iterable[Engagement], now: Millis, *, shares: Shares | None = None
) -> dict[int, float]:
    """Return the interest of every entity that an engagement touches, by the entity's id.

    `shares` says which entities a preference is about (`relate.shares`); without them it is the
    bare sum.
    """
    parts: dict[int, list[float]] = {}
    for engagement in engagements:
        value = signed(engagement) * weight(now - engagement.at)
        if engagement.entity_id is not None:
            parts.setdefault(engagement.entity_id, []).append(value)
        if engagement.preference_id is not None and shares:
            for entity_id, share in shares.get(engagement.preference_id, {}).items():
                if entity_id != engagement.entity_id:
                    parts.setdefault(entity_id, []).append(share * value)
    return {entity_id: math.fsum(values) for entity_id, values in parts.items()}


def course(engagements: Sequence[Engagement], moments: Sequence[Millis]) -> list[float]:
    """Return the interest at each of some moments, as known then: what came later is left out.

    What is dated after the last moment counts as made then, so that the end is what `interests`
    gives.
    """
    if not moments:
        return []
    last = max(moments)
    made = [(min(engagement.at, last), signed(engagement)) for engagement in engagements]
    return [
        math.fsum(value * weight(moment - at) for at, value in made if at <= moment)
        for moment in moments
    ]
