"""Read the words around a value: ranks, favorites, quotes, and the form of a request.

Knows English function words. Does not know topics, lists or operations.
"""

from __future__ import annotations

import re
from typing import Final

from factbook.language.numbers import CARDINALS, ORDINALS, SEVERAL
from factbook.language.questions import ends_asking

__all__ = [
    "FAVORITE",
    "NUMBER_WORD",
    "POLITE",
    "QUOTED",
    "RANK",
    "asks_something",
    "named_ranks",
    "rank_value",
    "unquoted",
]


_WORTH: Final = {**CARDINALS, **ORDINALS, "top": 1, "uno": 1}
NUMBER_WORD: Final = f"one|{SEVERAL}"
RANK: Final = (
    r"(?:#\s?\d{1,9}"
    rf"|(?:number|no\.?|nr\.?|rank|position|place|spot|slot)\s+(?:#?\d{{1,9}}|(?:{NUMBER_WORD}))"
    r"|\d{1,9}(?:st|nd|rd|th)"
    rf"|(?:{'|'.join(ORDINALS)})"
    rf"|(?:very\s+)?top(?!\s+(?:\d|{NUMBER_WORD})\b)"
    r"|numero\s+uno)(?![\w#])"
)
"""A rank as people say it: "#1", "number two", "3rd", "second", "top", "spot 4"."""

FAVORITE: Final = (
    r"(?:(?:all[- ]time|absolute|personal|current|very|own|most|new)\s+){0,4}"
    r"(?:favou?rites?|favs?|faves?)(?!\w)"
)
"""The word that makes a thing a favorite, with what goes before it."""

POLITE: Final = re.compile(
    r"(?:please\s+)?(?:can|could|would|will)\s+you\s+(?:please\s+|kindly\s+)?"
    r"(?=(?:make|set|put|add|append|insert|move|remove|delete|drop|clear|empty|change|update|rank"
    r"|place|mark|forget|remember|save|store|list|show|tell|give)\b)",
    re.IGNORECASE,
)
"""How a request begins that has the form of a question."""


def rank_value(words: str) -> int:
    """Return the number that a rank stands for; it may lie outside the ranks of a list."""
    digits = re.search(r"\d+", words)
    if digits:
        return int(digits[0])
    return next(_WORTH[word] for word in reversed(words.lower().split()) if word in _WORTH)


_LISTED: Final = re.compile(r"(?:^|\n)\s*\(?(\d{1,4})[.):]\s|(?<=\s)(\d{1,3})[.)]\s")
_NAMED_RANK: Final = re.compile(rf"(?<![\w#])(?:{RANK})", re.IGNORECASE)
_TOP_N: Final = re.compile(rf"(?i)\btop\s+(\d{{1,4}}|{NUMBER_WORD})\b")


def named_ranks(message: str) -> set[int]:
    """Return every rank that a message names; for "my top 3" the first three."""
    ranks = {rank_value(match[0]) for match in _NAMED_RANK.finditer(message)}
    ranks |= {int(match[1] or match[2]) for match in _LISTED.finditer(message)}
    for match in _TOP_N.finditer(message):
        ranks |= set(range(1, min(rank_value(match[1]), 1_000) + 1))
    return ranks


# --- what is really stated ------------------------------------------------------------------------

QUOTED: Final = re.compile(r"\"[^\"\n]*\"|“[^”\n]*”|«[^»\n]*»|「[^」\n]*」|`[^`\n]*`")


def unquoted(text: str) -> str:
    """Return a text of the same length in which what stands in quotes is blotted out."""
    return QUOTED.sub(lambda match: "_" * len(match[0]), text)


_REQUESTED: Final = re.compile(
    rf"(?:^|[,;:–—]\s*|\b(?:and|so|but|then|hey|hi|hello|please|ok|okay)\s+)(?:{POLITE.pattern})",
    re.IGNORECASE,
)


def asks_something(sentence: str) -> bool:
    """Say whether a sentence is a question; "Can you make BTC my #1?" is a request."""
    bare = sentence.strip()
    if _REQUESTED.search(bare):
        return False
    return ends_asking(bare)
