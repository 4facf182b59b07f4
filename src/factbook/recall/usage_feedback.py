"""Tell which memories an answer used, and whether a search was enough.

A memory counts as cited when the answer names its id, shares four content words in a row with it,
or holds its value. No model reads the answer, so an answer that follows a memory in words of its
own counts as one that did not: the share is a lower bound, and comparable from day to day.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from factbook.language.words import stem
from factbook.model.facts import Hit
from factbook.recall.query import STOPWORDS, folded, words

GRAM: Final = 4  # CHECKLIST, origins 001.8: "shares a content-word 4-gram"
SAME_QUESTION: Final = 0.5  # ours: share of their words that two wordings of one question have
MIN_VALUE_CHARS: Final = 3  # shorter values ("no", "12") stand in answers by chance


def used(memories: Sequence[Hit], answer: str) -> list[str]:
    """Return the ids of the memories that an answer cites, in their order."""
    plain = folded(answer)
    named = set(re.findall(r"(?<![\w/.-])[ef]\d+(?![\w-])", plain))
    grams = _grams(answer)
    return [
        memory.id
        for memory in memories
        if memory.id in named
        or not grams.isdisjoint(_grams(memory.text))
        or _holds(plain, memory.object)
    ]


def _holds(plain: str, value: str) -> bool:
    wanted = folded(value)
    if len(wanted) < MIN_VALUE_CHARS or not any(word not in STOPWORDS for word in words(wanted)):
        return False
    return re.search(rf"(?<!\w){re.escape(wanted)}(?!\w)", plain) is not None


def _content(text: str) -> list[str]:
    """Return the stems of the words that carry the subject, in their order."""
    return [stem(word) for word in words(text.casefold()) if word not in STOPWORDS]


def _grams(text: str) -> set[tuple[str, ...]]:
    content = _content(text)
    return {tuple(content[at : at + GRAM]) for at in range(len(content) - GRAM + 1)}


def resolved(queries: Sequence[str]) -> list[bool]:
    """Tell of each search of a turn whether it was enough: no later one asks the same again.

    Two queries ask the same when they share at least half of the content words that either has.
    """
    asked = [frozenset(_content(query)) or frozenset({folded(query)}) for query in queries]
    return [
        not any(_same(terms, later) for later in asked[place + 1 :])
        for place, terms in enumerate(asked)
    ]


def _same(earlier: frozenset[str], later: frozenset[str]) -> bool:
    return len(earlier & later) >= SAME_QUESTION * len(earlier | later)
