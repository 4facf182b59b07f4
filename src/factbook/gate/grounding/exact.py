"""Find the number, day or name of a claim that its source does not hold.

A network reads meanings, and finds 2018 and 2019 alike.
"""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Final

from factbook.gate.grounding.claim import read_claim
from factbook.gate.grounding.words import SentenceWords
from factbook.gate.reading import read
from factbook.language.calendar import WEEKDAY_NAMES

_WORD: Final = re.compile(r"\w+")
STEM: Final = 3  # letters by which a name is known again: Poland, Polish; Gary, gari
SHORTEST: Final = 3  # letters: AI, TV and US stand for words that people may write out
# How `words` writes months and days.
_CALENDAR: Final = frozenset({*(f"m{month:02}" for month in range(1, 13)), *WEEKDAY_NAMES})


def invented(claim: str, lines: Sequence[SentenceWords], text: str) -> tuple[str, str]:
    """Return what a claim has that its source has not: ("number" or "name", as written).

    Both are empty where all of it is there. `lines` may support the claim; a name may stand
    anywhere in `text`, which is these with the names of who speaks. A number that is written as a
    word may follow from what is said ("my twins": two children), unless other things of its kind
    are counted otherwise.
    """
    values = frozenset().union(*(line.values for line in lines))
    stems = _stems(text)
    for sentence in read_claim(claim, False):
        line = sentence.line
        for value in sorted(line.values - values):
            written = line.written(value)
            if not written.isalpha() or value in _CALENDAR:
                return "number", written
        for name in sorted(line.names):
            if len(name) > SHORTEST and stems.isdisjoint(_stems(name)):
                return "name", name
    return _counted_otherwise(claim, lines)


def _counted_otherwise(claim: str, lines: Iterable[SentenceWords]) -> tuple[str, str]:
    counted = [(value, word) for value, word in _bound(claim) if word]
    if counted:
        said: dict[str, set[str]] = {}
        for line in lines:
            for value, word in _bound(line.text):
                said.setdefault(word, set()).add(value)
        for value, word in counted:
            if word in said and value not in said[word]:
                return "number", f"{value} {word}"
    return "", ""


@functools.lru_cache(maxsize=4_096)
def _bound(text: str) -> tuple[tuple[str, str], ...]:
    return read(text).bound


@functools.lru_cache(maxsize=1_024)
def _stems(text: str) -> frozenset[str]:
    plain = unicodedata.normalize("NFKD", text.lower())
    letters = "".join(letter for letter in plain if not unicodedata.combining(letter))
    return frozenset(word[:STEM] for word in _WORD.findall(letters))
