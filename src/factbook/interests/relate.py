"""Say which entities a preference is about, from their vectors alone (origins 003.7: never stored).

Knows: unit vectors and ids, and which topics may be about others. Does not know: the store, the
embedder. A relation lives as long as the question for it: another embedding model, another name,
and it is another one.

A preference has the vector of its topic. An entity has that of its name and those of the facts
about it (`joined`): the name of a maker says nothing of what a thing is, a sentence often does. By
names alone the threshold finds one relation in fifteen, by names and facts four in ten.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from typing import Final, NamedTuple

import numpy as np

from factbook.embed.halves import Vectors
from factbook.errors import UsageError
from factbook.extract.name_tokens import (
    is_uncommon,
)
from factbook.language.nouns import is_plural

__all__ = [
    "RELATED",
    "PreferenceRelation",
    "is_family",
    "related",
    "share",
    "shares",
]

RELATED: Final = 0.45
"""Cosine from which an entity is taken to be of a preference's topic: calibrated for the bundled
embedder by `python -m bench.interests --relations`: by names and facts, 97 % of what reaches it is
right. A dislike that reaches the wrong thing is worse than one that misses some."""


class PreferenceRelation(NamedTuple):
    """A preference and an entity that it is about."""

    preference_id: int
    entity_id: int
    cosine: float  # from the threshold to 1


def is_family(topic: str, *, is_entity: bool, is_kind: bool | None = None) -> bool:
    """Say whether a preference may be about others than what it names: "sports", "green tea".

    Whoever dislikes one model of a maker, or one book, says nothing of the next, however near their
    names are. `topic` is canonical; `is_entity` says whether an entity has that name, and `is_kind`
    whether what is known of it writes it as a kind, in lower case (None where that is not known).
    """
    words = _OF_A_KIND.split(topic, maxsplit=1)[0].split()
    if not words:
        return False
    if is_plural(words[-1]):
        return True
    if is_kind is not None:
        return is_kind
    if any(map(is_uncommon, words)):  # a name, or one word that few use: "techno"
        return len(words) == 1 and not is_entity
    return not any(char.isdigit() for char in topic)


# "speakers with a walnut cabinet" are speakers
_OF_A_KIND: Final = re.compile(r"\s+(?:with|without|from|for|of|in|at|on|about|by|that|to)\s+")


def related(
    preferences: Vectors, entities: Vectors, *, threshold: float = RELATED
) -> list[PreferenceRelation]:
    """Return every pair whose cosine reaches the threshold, the closest first.

    An entity may stand in several rows of the same id (its name, and what is known of it): the
    closest counts. Raises UsageError where the two were embedded in different dimensions.
    """
    if not len(preferences.ids) or not len(entities.ids):
        return []
    if preferences.rows.shape[1] != entities.rows.shape[1]:
        raise UsageError(
            detail=f"preferences have {preferences.rows.shape[1]} dimensions and entities"
            f" {entities.rows.shape[1]}; embed both with the same model (`factbook reembed`)"
        )
    cosines = np.clip(preferences.rows @ entities.rows.T, -1.0, 1.0)
    best: dict[tuple[int, int], float] = {}
    for row, column in np.argwhere(cosines >= threshold).tolist():
        pair = preferences.ids[row], entities.ids[column]
        best[pair] = max(best.get(pair, -1.0), float(cosines[row, column]))
    preference_relations = [PreferenceRelation(*pair, cosine) for pair, cosine in best.items()]
    return sorted(
        preference_relations,
        key=lambda preference_relation: (
            -preference_relation.cosine,
            preference_relation.preference_id,
            preference_relation.entity_id,
        ),
    )


def share(cosine: float, *, threshold: float = RELATED) -> float:
    """Return which part of a preference's engagements counts for an entity at that cosine.

    Nothing below the threshold, at it `threshold`, all of it at 1: the cosine itself. A share that
    began at 0 would make a dislike of a whole topic count for next to nothing, since a topic and a
    thing of that topic are seldom nearer than 0.7.
    """
    if not math.isfinite(cosine):
        raise UsageError(detail=f"a cosine of {cosine} is no number; embed the two again")
    return min(1.0, cosine) if cosine >= threshold else 0.0


def shares(relations: Iterable[PreferenceRelation]) -> dict[int, dict[int, float]]:
    """Return the shares of relations in the shape that `score.interests` takes."""
    by_preference: dict[int, dict[int, float]] = {}
    for relation in relations:
        part = share(
            relation.cosine, threshold=0.0
        )  # the threshold was applied when they were related
        if part:
            by_preference.setdefault(relation.preference_id, {})[relation.entity_id] = part
    return by_preference
