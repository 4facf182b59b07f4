"""Say whether a text says anything at all: words of a language, and not signs or one word again."""

from __future__ import annotations

import functools
import re
from typing import Final

from factbook.gate.reading import TextReading, read
from factbook.language.words import WORD

CACHED_READINGS: Final = 4_096  # a claim and its sentences are read by several rules


@functools.lru_cache(maxsize=CACHED_READINGS)
def reading_of(text: str) -> TextReading:
    """Return what there is to know of a text, remembered for the rules that come next."""
    return read(text)


_STRUCTURE: Final = re.compile(
    r"[{}<>]|\"\s*:|\\[nux\"]|\]\s*,|```|^\s*(?:null|none|n/?a|undefined|nan|true|false|unknown|"
    r"todo|tbd|lorem ipsum.*|no (?:facts?|memories|information|extractions?)\b.*)\W*$",
    re.IGNORECASE,
)
_CUT_OFF: Final = re.compile(r"\b(?:the|a|an|and|or|of|my|your|because|than|very)\W*$", re.I)
_MASHED: Final = re.compile(r"[bcdfghjklmnpqrstvwxz]{6,}|(.)\1{3,}|(?:asdf|qwer|zxcv|hjkl)", re.I)
_MOST_SYMBOLS: Final = 0.4  # of a text that says something, what is no letter, digit or blank
_MOST_REPEATED: Final = 0.5  # of the words, how many may be one word
_FEWEST_REPEATED: Final = 3  # times that a word is repeated before that counts
_MOST_MASHED: Final = 0.4  # of the words, how many may be nothing that can be said aloud


def is_nonsensical(text: str) -> bool:
    """Say whether a text says nothing that could be true or false.

    No words, words of grammar alone, one word over and over, keys that were hit at random, a piece
    of JSON or code, or a sentence that breaks off.
    """
    stripped = text.strip()
    words = WORD.findall(stripped.lower())
    if not words or _STRUCTURE.search(stripped) or _CUT_OFF.search(stripped):
        return True
    plain = sum(character.isalnum() or character.isspace() for character in stripped)
    marks = sum(character in "'’-.,/&+" for character in stripped)
    if len(stripped) - plain - marks > _MOST_SYMBOLS * len(stripped):
        return True
    most = max(words.count(word) for word in set(words)) if len(words) <= 400 else 0
    if most >= _FEWEST_REPEATED and most > _MOST_REPEATED * len(words):
        return True
    mashed = sum(_MASHED.search(word) is not None for word in words)
    if mashed and mashed >= _MOST_MASHED * len(words):
        return True
    reading = reading_of(stripped)
    return not reading.order and not reading.values and not reading.names and not reading.foreign
