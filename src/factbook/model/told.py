"""Tell what an owner said on purpose, so that it be kept: it leads where it bears on a question.

Imports the standard library alone: hooks may load this file.
"""

from __future__ import annotations

from typing import Final

from factbook import policy

_KINDS: Final = frozenset({"keyed", "directive"})  # settings, rules and decisions


def told_on_purpose(*, kind: str, trust: str | None, host: str, pinned: bool = False) -> bool:
    """Tell whether a fact of a kind was told on purpose, by its trust and its first source's host.

    `remember` and `tell` keep what they are given under factbook's own host; a rule or a decision
    is given to be kept. A model's or another's word is never told on purpose.
    """
    own = trust == "direct"
    return pinned or (own and (kind in _KINDS or host == policy.TOLD_HOST))
