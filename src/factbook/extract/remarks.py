"""Tell a statement about a thing from a remark in passing, in what a person writes of their own.

A person speaks of things far more often than about them ("The Q40 came up at work today"). What is
worth knowing in a month is read; a number that holds ("weighs 12 kg") is worth it too.
"""

from __future__ import annotations

import re
from typing import Final

from factbook.language.reader.read import read
from factbook.language.reader.reading import KEEP, NOT_MEANT

_SUPPOSED: Final = NOT_MEANT | {"wish"}
_NUMBER: Final = re.compile(r"\d")
_OWN: Final = re.compile(r"\b(?:my|our)\s+(?:[a-z-]+\s+){0,2}$", re.IGNORECASE)


def unowned(words: str, places: list[tuple[int, int, str]]) -> str:
    """Return a sentence without "my" before the names at `places`: "My Q40 has ..." is about it."""
    for start, _, _ in reversed(places):
        own = _OWN.search(words, 0, start)
        if own:
            words = words[: own.start()] + words[start:]
    return words


def in_passing(text: str, at: int) -> str:
    """Say why a text states nothing of a thing in the clause at a place; "" where it does."""
    clause = read(text).clause_at(at)
    if clause is None:
        return ""
    if clause.flags & _SUPPOSED:
        return "it is not said to be so"
    if clause.kind == "taste":
        return "it is an opinion"
    holds = clause.kind != "event" and "past" not in clause.flags
    counts = holds and _NUMBER.search(text, clause.begin, clause.end) is not None
    return "" if clause.keep >= KEEP or counts else "it tells of somebody's day"
