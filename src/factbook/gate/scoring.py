"""Score a typed claim: the seed's factors, and the confidence that the gate goes by.

`total` is what the seed's `score_confidence` computes, by which its own examples cannot be reached
(a pattern with two mentions gets 0.70, and example 2 says 0.85). So the gate goes by `final`: the
model's confidence as it is where the claim stands in the source word for word or by all its key
phrases, a third of it where it is only similar or partly there, nothing where nothing supports it;
less 0.25 where it contradicts what is known.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from factbook import policy
from factbook.gate.grounding import Grounding, Passage, Support, ground, read_passage
from factbook.gate.judge import JudgedClaim, Relation, judge
from factbook.gate.type_rules import shared_clue
from factbook.gate.type_sanity import reading_of
from factbook.language.reader.relate import Relater
from factbook.model.memory_types import MemoryType, TypedClaim

Embed = Callable[[Sequence[str]], NDArray[np.float32]]

MANY_MENTIONS: Final = 3  # origins 002.5: from here repetition counts fully
TWO_MENTIONS: Final = 2
KNOWN_LEAST: Final = 0.5  # ours: how similar two texts with a word in common are taken to be at
# least; the judge's rules decide by words, and its similarities were measured


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """Every factor of a claim's score."""

    mention: float  # origins 002.5, factor 1: how it is mentioned, 0 to 0.30
    repetition: float  # factor 2: how often, 0 to 0.20
    consistency: float  # factor 3: with what is known, 0.20 or -0.25
    credibility: float  # factor 4: of its type, 0 to 0.30
    total: float  # the seed's score: the sum, from 0 to 1
    explicit: bool  # code decided it from the located span and its speaker
    mentions: int  # sentences that support it
    contradicts: str  # the known fact that it contradicts, or ""
    factor: float  # of the model's confidence that remains by its support: 1, 1/3 or 0
    final: float  # what the gate goes by, from 0 to 1


def score(claim: TypedClaim, grounding: Grounding, *, known: Sequence[str] = ()) -> Score:
    """Score a claim that was held against its source.

    `known` are texts of what is known of the owner; none of them counts as consistent, as in the
    seed's examples. A confidence that is no number from 0 to 1 counts as 0.
    """
    stands = grounding.grounded
    mention = 0.0
    if stands:
        mention = {
            Support.EXACT: policy.EXACT_QUOTE_SCORE,
            Support.PHRASES: policy.KEY_PHRASES_SCORE,
            Support.SIMILAR: policy.SIMILAR_SCORE,
        }[grounding.support]
    mentions = grounding.mentions if stands else 0
    repetition = 0.0
    if mentions >= MANY_MENTIONS:
        repetition = policy.THREE_MENTIONS_SCORE
    elif mentions == TWO_MENTIONS:
        repetition = policy.TWO_MENTIONS_SCORE
    against = contradicted(claim.text, known)
    consistency = policy.CONTRADICTS_SCORE if against else policy.CONSISTENT_SCORE
    explicit = (
        stands
        and grounding.support in (Support.EXACT, Support.PHRASES)
        and grounding.speaker in ("owner", "")
    )
    credibility = 0.0
    if claim.type is MemoryType.USER_FACT and explicit:
        credibility = policy.EXPLICIT_FACT_SCORE
    elif claim.type is MemoryType.USER_PATTERN and mentions >= TWO_MENTIONS:
        credibility = policy.REPEATED_PATTERN_SCORE
    elif (
        claim.type is MemoryType.SHARED_NARRATIVE
        and stands
        and shared_clue(claim.text, grounding.quote)
    ):
        credibility = policy.CLUED_NARRATIVE_SCORE
    factor = _factor(claim.text, grounding)
    confidence = claim.confidence if 0.0 <= claim.confidence <= 1.0 else 0.0  # false for NaN
    # Where nothing is subtracted the model's number stays exactly what it is: bounds are exact.
    final = confidence if factor == 1.0 else confidence * factor
    if against:
        final = _clamp(math.fsum((final, policy.CONTRADICTS_SCORE)))
    return Score(
        mention=mention,
        repetition=repetition,
        consistency=consistency,
        credibility=credibility,
        total=_clamp(round(math.fsum((mention, repetition, consistency, credibility)), 10)),
        explicit=explicit,
        mentions=mentions,
        contradicts=against,
        factor=factor,
        final=final,
    )


def ground_claim(
    claim: TypedClaim,
    passage: Passage,
    *,
    embed: Embed | None = None,
    speaker: str | None = "owner",
    net: Relater | None = None,
    least: float = policy.CLAIM_SUPPORTED,
) -> Grounding:
    """Hold a claim against the words of its owner, and against what is told of the owner."""
    text = claim.text
    if _BEGINS.match(text):
        text = text[0].lower() + text[1:]
    return ground(
        text,
        passage,
        embed=embed,
        speaker=speaker,
        pattern=claim.type is MemoryType.USER_PATTERN,
        net=net,
        least=least,
    )


# Verbs that say nothing without their object; with a capital they are read as a name.
_BEGINS: Final = re.compile(r"(?:Owns?|Gets?|Got)\b")


def score_confidence(
    extraction: Mapping[str, object],
    summary: str,
    known: Sequence[str] = (),
    *,
    embed: Embed | None = None,
) -> float:
    """Return the seed's confidence score of an extraction, from 0 to 1.

    `extraction` holds `text` and `type`; its `explicit` is a model's word for itself and ignored.
    """
    claim = TypedClaim(
        text=str(extraction["text"]),
        type=MemoryType(str(extraction["type"])),
        confidence=0.0,  # the seed's score does not read it
        reasoning="",
    )
    grounding = ground_claim(claim, read_passage(summary), embed=embed)
    return score(claim, grounding, known=known).total


def partly_supported(text: str, grounding: Grounding) -> bool:
    """Say whether some content word of a claim has support, though the claim has not."""
    reading = reading_of(text)
    return len(grounding.missing) < len(reading.order) + len(reading.values)


def contradicted(text: str, known: Sequence[str]) -> str:
    """Return the first known text that a claim contradicts; "" where it contradicts none.

    What says that something has ended or changed ("no longer", "moved to") contradicts nothing: it
    replaces what was known.
    """
    if not known:
        return ""
    newer = JudgedClaim(text=text)
    reading = reading_of(text)
    for other in known:
        older_reading = reading_of(other)
        judged = judge(
            JudgedClaim(text=other),
            newer,
            similarity=_likeness(reading.keys, older_reading.keys),
            older_reading=older_reading,
            newer_reading=reading,
        )
        if judged.relation is Relation.CONTRADICTION:
            return other
    return ""


def _likeness(words: frozenset[str], others: frozenset[str]) -> float:
    """Estimate a cosine from the words that two texts share."""
    shared = len(words & others)
    if not shared:
        return 0.0
    return KNOWN_LEAST + (1 - KNOWN_LEAST) * 2 * shared / (len(words) + len(others))


def _factor(text: str, grounding: Grounding) -> float:
    if grounding.grounded:
        return policy.SIMILAR_ONLY_FACTOR if grounding.support is Support.SIMILAR else 1.0
    return policy.SIMILAR_ONLY_FACTOR if partly_supported(text, grounding) else 0.0


def _clamp(value: float) -> float:
    return max(0.0, min(1.0, value))
