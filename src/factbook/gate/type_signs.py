"""Tell by what a memory that keeps the rules of its type shows that it is of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from factbook.gate.grounding import Grounding, Support
from factbook.gate.type_rules import (
    CONNECTION,
    CONTINUITY,
    FACT,
    HABIT,
    LASTING,
    MEMORY,
    NARRATIVE,
    PATTERN,
    supporting_clauses,
)
from factbook.model.memory_types import MemoryType, TypedClaim

SHOWN: Final[Mapping[MemoryType, tuple[str, ...]]] = {
    FACT: ("explicit", "current", "factual"),
    PATTERN: ("observable", "consistent", "behavioural"),
    NARRATIVE: ("memory", "continuity", "connection"),
}
"""What a memory of each type must show: a fact and a pattern all of it, a narrative at least one.

A pattern that is not shown to be consistent is no lie: it waits as a proposal.
"""
_STORY: Final = dict(zip(SHOWN[NARRATIVE], (MEMORY, CONTINUITY, CONNECTION), strict=True))


def shown_by(claim: TypedClaim, grounding: Grounding) -> tuple[str, ...]:
    """Return the names of what a claim that breaks no rule of its type shows of it."""
    said_so = grounding.grounded and grounding.speaker in ("owner", "")
    missing = set()
    if claim.type is NARRATIVE:
        texts = claim.text, grounding.quote
        missing = {name for name, of in _STORY.items() if not any(map(of.search, texts))}
    elif claim.type is PATTERN:
        missing |= set() if said_so else {"observable"}
        missing |= set() if _is_consistent(claim, grounding) else {"consistent"}
    elif not said_so or grounding.support is Support.SIMILAR:
        missing = {"explicit"}
    return tuple(name for name in SHOWN[claim.type] if name not in missing)


def _is_consistent(claim: TypedClaim, grounding: Grounding) -> bool:
    """Say whether it was seen twice, or is told of as a habit by the one who saw it."""
    if grounding.mentions >= 2:
        return True
    clauses = supporting_clauses(claim.text, grounding.quote) if grounding.quote else []
    return any(HABIT.search(clause) or LASTING.search(clause) for clause in clauses)
