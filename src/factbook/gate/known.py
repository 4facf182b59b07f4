"""Decide what is known already: the thing that a name names, the fact that a claim says again."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from factbook import policy
from factbook.gate.judge import JudgedClaim, Relation, TextReading, judge, read
from factbook.gate.same_entity import known_as
from factbook.model.entities import ABOUT
from factbook.model.facts import Fact, FactKind


class Admission(NamedTuple):
    """What a name that may be one comes to: a new thing, unless it names one of these."""

    known: str | None = None  # the entity that it stands for
    removed: str | None = None  # the one that its owner removed: a mention does not bring it back


def admit(
    name: str,
    written: str,
    *,
    known: Mapping[str, str],
    removed: Collection[str],
    cosines: Mapping[str, float],
) -> Admission:
    """Decide whether a canonical name brings in a new thing.

    `written` is the name as somebody wrote it, `known` leads from every name to its entity,
    `removed` are the canonical names of what the owner removed, and `cosines` the likeness of the
    name to those of entities.
    """
    same = known_as(name, known, cosines=cosines, written=written)
    if same is not None:
        return Admission(known=same)
    return Admission(removed=known_as(name, {gone: gone for gone in removed}, written=written))


def is_known(name: str, names: Collection[str]) -> bool:
    """Tell the name of a known thing, and one that ends in such a name.

    Without its last words it may be another thing: "halden" and "halden q40".
    """
    return any(f" {whole}".endswith(f" {name}") for whole in names)


@dataclass(slots=True, kw_only=True)
class EntityClaim:
    """What is said of a thing, ready to be compared."""

    fact: Fact | None = None  # None for what is not stored yet
    says: str  # the sentence as it was found
    text: str  # which can be read alone (`extract.world.statement_of`)
    vector: NDArray[np.float32]  # unit vector of `text`
    reading: TextReading = field(init=False)

    def __post_init__(self) -> None:
        """Read it once for all comparisons."""
        self.reading = read(self.text)


class NearestKnown(NamedTuple):
    """How near a claim comes to what is known."""

    cosine: float | None  # the greatest one, or the twin's; None where nothing is known
    twin: EntityClaim | None  # what says the same


def nearest(entity: str, claim: EntityClaim, known: Sequence[EntityClaim]) -> NearestKnown:
    """Return how near a claim about an entity comes to what is known of it, and what it repeats.

    It is repeated word for word, as the judge of two claims says, or as the beginning of a known
    sentence. Of the known, the `policy.TOLD_NEIGHBOURS` nearest are compared, down to
    `policy.JUDGED_SIMILARITY`.
    """
    if not known:
        return NearestKnown(None, None)
    cosines = np.stack([entity_claim.vector for entity_claim in known]) @ claim.vector
    order = np.argsort(-cosines)
    for index in order[: policy.TOLD_NEIGHBOURS].tolist():
        cosine, known_claim = float(cosines[index]), known[index]
        if known_claim.text.casefold() == claim.text.casefold():
            return NearestKnown(cosine, known_claim)
        if cosine < policy.JUDGED_SIMILARITY:
            break
        if _same(entity, known_claim, claim, cosine):
            return NearestKnown(cosine, known_claim)
    return NearestKnown(float(cosines[order[0]]), None)


def _same(entity: str, known: EntityClaim, claim: EntityClaim, cosine: float) -> bool:
    said = judge(
        _claim(entity, known.text),
        _claim(entity, claim.text),
        similarity=cosine,
        older_reading=known.reading,
        newer_reading=claim.reading,
    )
    return said.relation is Relation.SAME or contains(known.text, claim.text)


_GOES_ON: Final = re.compile(r"(?:\s*[,;:–—]|\s+(?:and|but|while|which|who|as|so|because)\b)")


def contains(known: str, said: str) -> bool:
    """Tell whether a sentence is the beginning of a known one, up to where a clause of it ends.

    What is cut after its first clause at one time and kept whole at another is one statement.
    """
    whole, part = " ".join(known.split()), " ".join(said.split()).rstrip(" .!;,")
    if not part or not whole.casefold().startswith(part.casefold()):
        return False
    return _GOES_ON.match(whole[len(part) :]) is not None


def _claim(entity: str, text: str) -> JudgedClaim:
    return JudgedClaim(text=text, subject=entity, predicate=ABOUT, object=text, kind=FactKind.WORLD)
