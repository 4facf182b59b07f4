"""Decide whether what is known is enough to answer a question.

It is where at least three facts reach a relevance of 0.6, each thing that is named has one of them,
and one of them says what is asked: ours, as a sentence about a thing is near to any question about
it. "Tell me about X" asks for no more than X.
"""

from __future__ import annotations

from collections.abc import Sequence

from factbook import policy
from factbook.model.entities import KnownFact


def bearing(facts: Sequence[KnownFact]) -> list[KnownFact]:
    """Return the facts that count: those over the seed's relevance."""
    return [fact for fact in facts if fact.relevance >= policy.ENOUGH_RELEVANCE]


def is_enough(
    names: Sequence[str], unknown: Sequence[str], facts: Sequence[KnownFact], *, broad: bool
) -> tuple[bool, str]:
    """Return whether facts are enough to answer, and why, in words.

    `names` are the known things that are asked about, `unknown` those of which nobody spoke yet;
    `broad` says that nothing but the things themselves is asked for.
    """
    if unknown:
        return False, _unread(unknown)
    if not names:
        return False, "nothing that is known bears on it"
    counted = bearing(facts)
    spoken = {known_fact.fact.subject for known_fact in counted}
    silent = [name for name in names if name not in spoken]
    if not counted:
        if not facts:
            return False, _unread(names)
        return False, f"what is known of {_listed(names)} does not bear on it"
    number = f"{len(counted)} fact{'' if len(counted) == 1 else 's'} about {_listed(names)}"
    if len(counted) < policy.ENOUGH_FACTS:
        return False, (
            f"{number} bear{'s' if len(counted) == 1 else ''} on it, and {policy.ENOUGH_FACTS} are"
            " enough"
        )
    if silent:
        return False, f"nothing that bears on it is known of {_listed(silent)}"
    if not broad and not any(known_fact.answers for known_fact in counted):
        return False, f"{number} are there, and none says what is asked"
    best = ", ".join(f"{known_fact.relevance:.2f}" for known_fact in counted[: policy.ENOUGH_FACTS])
    return True, f"{number} bear on it (relevance {best})"


def _unread(names: Sequence[str]) -> str:
    return f"no page read so far says anything of {_listed(names)}"


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
