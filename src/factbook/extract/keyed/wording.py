"""Read the words around a value: ranks, favorites, quotes, asides and polite forms."""

from __future__ import annotations

import re
from typing import Final

from factbook.extract.base import word_set
from factbook.language.numbers import CARDINALS, ORDINALS, SEVERAL
from factbook.language.words import stem


def stems_of(text: str) -> frozenset[str]:
    """Return the stems of words: the forms of a verb have one."""
    return frozenset(map(stem, text.split()))


LIST_WORD: Final = word_set("list lists ranking rankings favorites favourites favs faves")
_WORTH: Final = {**CARDINALS, **ORDINALS, "top": 1, "uno": 1}
_NUMBER: Final = f"one|{SEVERAL}"
RANK: Final = (
    r"(?:#\s?\d{1,9}"
    rf"|(?:number|no\.?|nr\.?|rank|position|place|spot|slot)\s+(?:#?\d{{1,9}}|(?:{_NUMBER}))"
    r"|\d{1,9}(?:st|nd|rd|th)"
    rf"|(?:{'|'.join(ORDINALS)})"
    rf"|(?:very\s+)?top(?!\s+(?:\d|{_NUMBER})\b)"
    r"|numero\s+uno)(?![\w#])"
)
"""A rank as people say it: "#1", "number two", "3rd", "second", "top", "spot 4"."""

FAVORITE: Final = (
    r"(?:(?:all[- ]time|absolute|personal|current|very|own|most|new)\s+){0,4}"
    r"(?:favou?rites?|favs?|faves?)(?!\w)"
)
"""The word that makes a thing a favorite, with what goes before it."""

COUNT: Final = rf"top\s+(?P<count>\d{{1,4}}|{_NUMBER})(?!\w)"
POLITE: Final = (
    r"(?:please\s+)?(?:can|could|would|will)\s+you\s+(?:please\s+|kindly\s+)?"
    r"(?=(?:make|set|put|add|append|insert|move|remove|delete|drop|clear|empty|change|update|rank"
    r"|place|mark|forget|remember|save|store|list|show|tell|give)\b)"
)
"""How a request begins that has the form of a question."""

ASIDE: Final = (
    r"(?:hey|hi|hello|there|ok|okay|alright|well|so|oh|yes|yeah|yep|actually|honestly|btw|fyi|also"
    r"|by\s+the\s+way|and|then|please|kindly|now|just\s+so\s+you\s+know|for\s+the\s+record|today"
    r"|from\s+now\s+on|these\s+days|currently|(?:please\s+)?(?:note|remember)(?:\s+(?:that|this|it))?"
    r"|i\s+(?:want|need|would\s+like|['’]d\s+like)\s+you\s+to|let['’]?s|great|got\s+it|cheers"
    r"|thanks|thank\s+you|(?:so|very)\s+much|a\s+lot)(?!\w)"
)
"""What is said before what is stated and says nothing of it."""

LATER: Final = re.compile(
    r"(?:[\s,]+(?:now|right\s+now|please|instead|again|too|as\s+well|these\s+days|at\s+the\s+moment"
    r"|thanks|thank\s+you|btw|though|of\s+course|of\s+all\s+time|of\s+all|ever|so\s+far|for\s+me"
    r"|from\s+now\s+on|by\s+far|of\s+mine))+$"
)
"""The same behind it, in lower case: a film is called "Apocalypse Now"."""

QUOTED: Final = re.compile(r"\"[^\"\n]*\"|“[^”\n]*”|«[^»\n]*»|「[^」\n]*」|`[^`\n]*`")


def unquoted(text: str) -> str:
    """Return a text of the same length in which what stands in quotes is blotted out."""
    return QUOTED.sub(lambda match: "_" * len(match[0]), text)


def shown(text: str, chars: int = 80) -> str:
    """Return words as a reason quotes them."""
    text = " ".join(text.split())
    return repr(text if len(text) <= chars else text[: chars - 1] + "…")


def rank_value(words: str) -> int:
    """Return the number that a rank stands for; it may lie outside the ranks of a list."""
    digits = re.search(r"\d+", words)
    if digits:
        return int(digits[0])
    return next(_WORTH[word] for word in reversed(words.lower().split()) if word in _WORTH)


_LISTED: Final = re.compile(r"(?:^|\n)\s*\(?(\d{1,4})[.):]\s|(?<=\s)(\d{1,3})[.)]\s")
_NAMED_RANK: Final = re.compile(rf"(?<![\w#])(?:{RANK})", re.IGNORECASE)
_COUNTED: Final = re.compile(rf"\b{COUNT}", re.IGNORECASE)


def named_ranks(message: str) -> set[int]:
    """Return every rank that a message names; for "my top 3" the first three."""
    ranks = {rank_value(match[0]) for match in _NAMED_RANK.finditer(message)}
    ranks |= {int(match[1] or match[2]) for match in _LISTED.finditer(message)}
    for match in _COUNTED.finditer(message):
        ranks |= set(range(1, min(rank_value(match["count"]), 1_000) + 1))
    return ranks
