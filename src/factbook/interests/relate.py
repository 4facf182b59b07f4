"""Say which entities a preference is about, from their vectors alone (origins 003.7: never stored).

A preference has the vector of its topic, an entity that of its name and those of the facts about it
(`joined`): the name of a maker says nothing of what a thing is. By names alone the threshold finds
one relation in fifteen, by names and facts four in ten.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final, NamedTuple

import numpy as np

from factbook.embed.halves import Vectors
from factbook.extract.name_tokens import is_uncommon
from factbook.language.nouns import is_plural

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

    Whoever dislikes one model of a maker says nothing of the next, however near their names are.
    `topic` is canonical; `is_entity` says whether an entity has that name, and `is_kind` whether
    what is known of it writes it as a kind, in lower case (None where that is not known).
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
    closest counts.
    """
    if not len(preferences.ids) or not len(entities.ids):
        return []
    cosines = np.clip(preferences.rows @ entities.rows.T, -1.0, 1.0)
    best: dict[tuple[int, int], float] = {}
    for row, column in np.argwhere(cosines >= threshold).tolist():
        pair = preferences.ids[row], entities.ids[column]
        best[pair] = max(best.get(pair, -1.0), float(cosines[row, column]))
    relations = [PreferenceRelation(*pair, cosine) for pair, cosine in best.items()]
    return sorted(relations, key=lambda relation: (-relation.cosine, *relation))


def shares(relations: Iterable[PreferenceRelation]) -> dict[int, dict[int, float]]:
    """Return which part of a preference's engagements counts for an entity: the cosine itself.

    A share that began at 0 would make a dislike of a whole topic count for next to nothing, since a
    topic and a thing of that topic are seldom nearer than 0.7.
    """
    by_preference: dict[int, dict[int, float]] = {}
    for relation in relations:
        by_preference.setdefault(relation.preference_id, {})[relation.entity_id] = relation.cosine
    return by_preference
