"""Say which entities a preference is about, from their vectors alone (seed 003: never stored).

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
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from factbook.errors import UsageError
from factbook.extract.names import is_uncommon
from factbook.nouns import is_plural

__all__ = [
    "RELATED",
    "Relation",
    "Vectors",
    "is_family",
    "joined",
    "related",
    "share",
    "shares",
    "unpacked",
]

RELATED: Final = 0.45
"""Cosine from which an entity is taken to be of a preference's topic: calibrated for the bundled
embedder by `python -m bench.interests --relations`: by names and facts, 97 % of what reaches it is
right. A dislike that reaches the wrong thing is worse than one that misses some."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Vectors:
    """Some rows of one kind: which they are, and where they lie."""

    ids: Sequence[int]
    rows: NDArray[np.float32]  # shape (ids, dimensions), each of length 1


class Relation(NamedTuple):
    """A preference and an entity that it is about."""

    preference_id: int
    entity_id: int
    cosine: float  # from the threshold to 1


def unpacked(ids: Sequence[int], raw: bytes, *, dim: int) -> Vectors:
    """Return the vectors that the store hands out as bytes of half precision.

    Raises UsageError where the bytes are not `dim` halves for each id.
    """
    if len(raw) != 2 * dim * len(ids):
        raise UsageError(
            detail=f"{len(raw)} bytes are not {len(ids)} vectors of {dim} half-precision numbers;"
            " pass the dimension of the embedder that made them"
        )
    rows = np.frombuffer(raw, dtype=np.float16).reshape(len(ids), dim).astype(np.float32)
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)  # halves are unit only to 3 digits
    unit = rows / np.where(lengths > 0, lengths, np.float32(1.0))
    return Vectors(ids=list(ids), rows=unit.astype(np.float32, copy=False))


def joined(*parts: Vectors) -> Vectors:
    """Return the rows of all parts as one, for `related`; an id may come in several of them."""
    kept = [one for one in parts if len(one.ids)]
    if not kept:
        return Vectors(ids=[], rows=np.zeros((0, 0), dtype=np.float32))
    if len({one.rows.shape[1] for one in kept}) > 1:
        raise UsageError(
            detail="vectors of different dimensions cannot be joined; embed all with the same model"
            " (`factbook reembed`)"
        )
    ids = [row_id for one in kept for row_id in one.ids]
    return Vectors(ids=ids, rows=np.concatenate([one.rows for one in kept]))


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
) -> list[Relation]:
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
    found = [Relation(*pair, cosine) for pair, cosine in best.items()]
    return sorted(found, key=lambda one: (-one.cosine, one.preference_id, one.entity_id))


def share(cosine: float, *, threshold: float = RELATED) -> float:
    """Return which part of a preference's engagements counts for an entity at that cosine.

    Nothing below the threshold, at it `threshold`, all of it at 1: the cosine itself. A share that
    began at 0 would make a dislike of a whole topic count for next to nothing, since a topic and a
    thing of that topic are seldom nearer than 0.7.
    """
    if not math.isfinite(cosine):
        raise UsageError(detail=f"a cosine of {cosine} is no number; embed the two again")
    return min(1.0, cosine) if cosine >= threshold else 0.0


def shares(relations: Iterable[Relation]) -> dict[int, dict[int, float]]:
    """Return the shares of relations in the shape that `score.interests` takes."""
    found: dict[int, dict[int, float]] = {}
    for one in relations:
        part = share(one.cosine, threshold=0.0)  # the threshold was applied when they were related
        if part:
            found.setdefault(one.preference_id, {})[one.entity_id] = part
    return found
