"""Name what a typed memory is made of: its types, a claim, and why one is refused."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class MemoryType(StrEnum):
    """Say what a memory about a person is."""

    USER_FACT = "USER_FACT"  # an explicit, factual statement about the user; advisory
    USER_PATTERN = "USER_PATTERN"  # an inferred tendency; a suggestion that the user may override
    SHARED_NARRATIVE = "SHARED_NARRATIVE"  # shared context; purely for warmth

    @property
    def label(self) -> str:
        """Return the word that the seed's log lines use: Fact, Pattern or Narrative."""
        return _LABELS[self]


_LABELS = {
    MemoryType.USER_FACT: "Fact",
    MemoryType.USER_PATTERN: "Pattern",
    MemoryType.SHARED_NARRATIVE: "Narrative",
}


class RejectionReason(StrEnum):
    """Say why a candidate was refused; one list for the two that origins 002.2 gives."""

    LOW_CONFIDENCE = "low_confidence"  # under the floor of every type
    FACT_BELOW_THRESHOLD = "fact_below_threshold"  # under the threshold of its own type
    NOT_GROUNDED_IN_SUMMARY = "not_grounded_in_summary"  # nothing supports it
    HALLUCINATION = "hallucination"  # partly supported, with a content word that nothing supports
    TYPE_RULE_VIOLATION = "type_rule_violation"  # a rule of its type forbids it
    SEMANTICALLY_INVALID = "semantically_invalid"  # says nothing that could be true

    @classmethod
    def _missing_(cls, value: object) -> RejectionReason | None:
        """Read the other name that the seed's log schema has for a missed threshold."""
        return cls.FACT_BELOW_THRESHOLD if value == "confidence_below_threshold" else None


@dataclass(frozen=True, slots=True, kw_only=True)
class TypedClaim:
    """What a model says of a person, before any of it is believed."""

    text: str  # "Loves fettuccini"
    type: MemoryType
    confidence: float  # the model's own, from 0 to 1
    reasoning: str  # why the model is confident; kept, and never weighed
    quote: str = ""  # the words that the model names as its source; code locates the claim itself


@dataclass(frozen=True, slots=True, kw_only=True)
class RefusedItem:
    """An item of a model's answer that cannot be a claim; it never reaches the gate."""

    position: int  # in the answer, from 0
    claim: TypedClaim  # as the model wrote it, cut to a bounded length
    reason: RejectionReason
    detail: str  # one clause for a person
