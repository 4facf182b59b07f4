"""Tell by what a memory shows of which type it is, or that it is of none.

Knows: the signs that each type asks for. Does not know: what speaks against a claim (`type_rules`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from factbook.gate.grounding import Grounding, Passage, Support
from factbook.gate.type_rules import (
    CONNECTION,
    CONTINUITY,
    FACT,
    HABIT,
    LASTING,
    MEMORY,
    NARRATIVE,
    PATTERN,
    RULES,
    Pattern,
    Requirement,
    is_over,
    moody,
    supporting_clauses,
)
from factbook.model.memory_types import MemoryType, TypedClaim

__all__ = [
    "SHOWN",
    "shown_by",
]

# ------------------------------------------------------------------ what a memory must show


def _is_explicit(_claim: TypedClaim, grounding: Grounding, _passage: Passage) -> bool:
    return (
        grounding.grounded
        and grounding.support in (Support.EXACT, Support.PHRASES)
        and grounding.speaker in ("owner", "")
    )


def _is_current(claim: TypedClaim, grounding: Grounding, passage: Passage) -> bool:
    return not is_over(claim, grounding, passage)


def _is_factual(claim: TypedClaim, grounding: Grounding, passage: Passage) -> bool:
    return not any(
        rule.breaks(claim, grounding, passage) for rule in RULES[FACT] if rule.name != "over"
    )


def _is_observable(_claim: TypedClaim, grounding: Grounding, _passage: Passage) -> bool:
    return grounding.grounded and grounding.speaker in ("owner", "")


def _is_consistent(claim: TypedClaim, grounding: Grounding, passage: Passage) -> bool:
    """Say whether it was seen twice, or is told of as a habit by the one who saw it."""
    if grounding.mentions >= 2:
        return True
    quote = grounding.quote
    if not quote:
        return False
    return any(
        HABIT.search(clause) or LASTING.search(clause)
        for clause in supporting_clauses(claim.text, quote)
    )


def _is_behavioural(claim: TypedClaim, grounding: Grounding, passage: Passage) -> bool:
    return not moody(claim, grounding, passage)


_FOLLOWS: Final = (_is_current, _is_factual, _is_behavioural)


def _has(pattern: Pattern) -> Callable[[TypedClaim, Grounding, Passage], bool]:
    def holds(claim: TypedClaim, grounding: Grounding, _passage: Passage) -> bool:
        return bool(pattern.search(claim.text) or pattern.search(grounding.quote))

    return holds


SHOWN: Final[Mapping[MemoryType, tuple[Requirement, ...]]] = {
    FACT: (
        Requirement(name="explicit", type=FACT, asks="the user said it", holds=_is_explicit),
        Requirement(name="current", type=FACT, asks="it still holds", holds=_is_current),
        Requirement(name="factual", type=FACT, asks="it is a claim, no opinion", holds=_is_factual),
    ),
    PATTERN: (
        Requirement(name="observable", type=PATTERN, asks="it can be seen", holds=_is_observable),
        Requirement(
            name="consistent",
            type=PATTERN,
            asks="it was seen at least twice, or is told of as a habit",
            holds=_is_consistent,
        ),
        Requirement(
            name="behavioural",
            type=PATTERN,
            asks="it is what the user does, no feeling",
            holds=_is_behavioural,
        ),
    ),
    NARRATIVE: (
        Requirement(name="memory", type=NARRATIVE, asks="a shared memory", holds=_has(MEMORY)),
        Requirement(
            name="continuity", type=NARRATIVE, asks="that it goes on", holds=_has(CONTINUITY)
        ),
        Requirement(name="connection", type=NARRATIVE, asks="a connection", holds=_has(CONNECTION)),
    ),
}
"""What a memory of each type must show: a fact and a pattern all of it, a narrative at least one.

A pattern that is not shown to be consistent is no lie: it waits as a proposal.
"""


def shown_by(
    claim: TypedClaim, grounding: Grounding, passage: Passage, *, keeps_rules: bool = False
) -> tuple[str, ...]:
    """Return the names of what a claim shows of its type.

    `keeps_rules` says that it was found to break none; what follows from that is not asked again.
    """
    return tuple(
        requirement.name
        for requirement in SHOWN[claim.type]
        if (keeps_rules and requirement.holds in _FOLLOWS)
        or requirement.holds(claim, grounding, passage)
    )
