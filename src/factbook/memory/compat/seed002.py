"""Offer the functions of origins 002.1 by the seed's own names.

Holds no rules. An `extraction` is a mapping with `text` and `type`, and with `confidence`,
`reasoning` and `quote` where it has them; its `explicit` is a model's word for itself, and code
decides that.

    summary = "User said: I absolutely love fettuccini pasta."
    extraction = {"text": "Loves fettuccini", "type": "USER_FACT", "confidence": 0.95}
    validate_fact_against_summary(extraction["text"], summary)   # True
    score_confidence(extraction, summary)                        # 0.7
    store_fact(extraction, summary=summary)                      # the verdict, or RejectionError
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from factbook import policy
from factbook.embed import bundled
from factbook.errors import RejectionError, UsageError
from factbook.gate.grounding import (
    Grounding,
    Support,
    ground,
    read_passage,
    validate_fact_against_summary,
)
from factbook.gate.scoring import Embed, contradicted, score_confidence
from factbook.gate.type_rules import shared_clue
from factbook.gate.type_sanity import is_nonsensical
from factbook.gate.typed_claims import TypedVerdict, judge_typed
from factbook.language.reader.relate import RELATER
from factbook.model.memory_types import MemoryType, TypedClaim

__all__ = [
    "contextual_clue_found",
    "contradicts_known",
    "cosine_similarity",
    "count_mentions",
    "embed",
    "is_consistent_with_known",
    "is_exact_quote",
    "is_nonsensical",
    "key_phrases_present",
    "pattern_outcome",
    "reject_fact",
    "score_confidence",
    "semantic_similarity",
    "store_fact",
    "validate_fact_against_summary",
]


class KeepsVerdicts(Protocol):
    """Where a verdict of the gate is kept: its memory, or its refusal."""

    def keep_verdict(self, verdict: TypedVerdict, *, summary: str) -> object:
        """Keep what the gate decided of a claim that is said to come from `summary`."""


class HasTyped(Protocol):
    """A memory, as far as typed memories go."""

    @property
    def typed(self) -> KeepsVerdicts:
        """Where verdicts are kept."""


def store_fact(
    extraction: Mapping[str, object],
    *,
    summary: str = "",
    known: Sequence[str] = (),
    memory: HasTyped | None = None,
    embed: Embed | None = None,
) -> TypedVerdict:
    """Put an extraction through the gate and keep what comes out.

    Returns the verdict of what is stored, active or waiting. Raises RejectionError, with the
    reason, for what the gate refuses; the refusal is kept as well. An extraction without a summary
    has no evidence and is refused. Without `memory` nothing is written.
    """
    verdict = judge_typed(
        claim_of(extraction), read_passage(summary), embed=embed, known=known, net=RELATER
    )
    if memory is not None:
        memory.typed.keep_verdict(verdict, summary=summary)
    if verdict.reason is not None:
        raise RejectionError(
            text=verdict.claim.text, reason=verdict.reason.value, detail=_sentence(verdict.detail)
        )
    return verdict


def reject_fact(fact: str, reason: str) -> RejectionError:
    """Return the error that says that a fact was refused, for the caller to raise."""
    return RejectionError(text=fact, reason=reason, detail="it was not stored.")


def claim_of(extraction: Mapping[str, object]) -> TypedClaim:
    """Read an extraction of the seed's form; raises UsageError where a field is none."""
    confidence = extraction.get("confidence", 0.0)
    if isinstance(confidence, bool) or not isinstance(confidence, int | float):
        raise UsageError(
            detail=f"The confidence of an extraction is {confidence!r}; give a number from 0 to 1."
        )
    kinds = ", ".join(MemoryType)
    if extraction.get("type") not in set(MemoryType) or not isinstance(extraction.get("text"), str):
        raise UsageError(
            detail=f"The extraction {dict(extraction)!r} needs a text and a type of {kinds}."
        )
    return TypedClaim(
        text=str(extraction["text"]),
        type=MemoryType(str(extraction["type"])),
        confidence=float(confidence),
        reasoning=str(extraction.get("reasoning", "")),
        quote=str(extraction.get("quote", "")),
    )


def pattern_outcome(confidence: float) -> str:
    """Name what the seed's pattern gate does at a confidence, by its function names.

    `apply_pattern_update` from 0.80, `log_pattern_proposal` from 0.75, else `discard`.
    """
    if confidence >= policy.PATTERN_APPLIES:
        return "apply_pattern_update"
    if confidence >= policy.TYPE_THRESHOLD[MemoryType.USER_PATTERN.value]:
        return "log_pattern_proposal"
    return "discard"


def is_exact_quote(text: str, summary: str) -> bool:
    """Say whether a text stands in a summary word for word, and is not denied there."""
    return _ground(text, summary).support is Support.EXACT


def key_phrases_present(text: str, summary: str) -> bool:
    """Say whether all key phrases of a text are in a summary, and nothing speaks against it."""
    grounding = _ground(text, summary)
    return grounding.grounded and grounding.support in (Support.EXACT, Support.PHRASES)


def semantic_similarity(text: str, summary: str) -> float:
    """Return the cosine of a text to the most similar sentences of a summary."""
    sentences = [line.line.text for line in read_passage(summary).lines]
    if not sentences:
        return 0.0
    vectors = embed([text, *sentences])
    return float((vectors[1:] @ vectors[0]).max())


def count_mentions(text: str, summary: str) -> int:
    """Count the sentences of a summary that support a text; 0 where it is not grounded."""
    grounding = _ground(text, summary)
    return grounding.mentions if grounding.grounded else 0


def is_consistent_with_known(text: str, known_facts: Sequence[str]) -> bool:
    """Say whether a text contradicts nothing that is known; true where nothing is."""
    return not contradicted(text, known_facts)


def contradicts_known(text: str, known_facts: Sequence[str]) -> bool:
    """Say whether a text contradicts something that is known."""
    return bool(contradicted(text, known_facts))


def contextual_clue_found(text: str, summary: str = "") -> bool:
    """Say whether a text, or its summary, tells of something shared."""
    return shared_clue(text, summary)


def embed(texts: Sequence[str]) -> NDArray[np.float32]:
    """Return unit vectors of texts by the embedder that ships with the package."""
    return bundled().embed(texts)


def cosine_similarity(vector: NDArray[np.float32], other: NDArray[np.float32]) -> float:
    """Return the cosine of two vectors of the same length; 0 where one has no length."""
    norm = float(np.linalg.norm(vector) * np.linalg.norm(other))
    return float(np.dot(vector, other)) / norm if norm else 0.0


def _ground(text: str, summary: str) -> Grounding:
    return ground(text, read_passage(summary), speaker="owner")


def _sentence(detail: str) -> str:
    return f"{detail}." if detail else "it was not stored."
