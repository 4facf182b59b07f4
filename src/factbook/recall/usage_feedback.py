"""Tell which memories an answer used, and whether a search was enough.

A memory counts as cited when the answer names its id, shares four content words in a row with it,
or holds its value. No model reads the answer, so an answer that follows a memory in words of its
own counts as one that did not: the share is a lower bound, and comparable from day to day.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal, Protocol, TypeAlias

from factbook.language.words import stem
from factbook.recall.query import STOPWORDS, folded, words

GRAM: Final = 4  # CHECKLIST, origins 001.8: "shares a content-word 4-gram"
SAME_QUESTION: Final = 0.5  # ours: share of their words that two wordings of one question have
MIN_VALUE_CHARS: Final = 3  # shorter values ("no", "12") stand in answers by chance

How: TypeAlias = Literal["id", "words", "value", ""]


class ShownMemory(Protocol):
    """What is needed of a memory; `Hit` is one."""

    @property
    def id(self) -> str: ...

    @property
    def text(self) -> str: ...

    @property
    def object(self) -> str: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Use:
    """Whether an answer used a memory, and how that shows."""

    id: str
    how: How  # empty: it does not show

    @property
    def cited(self) -> bool:
        """Tell whether it was used."""
        return self.how != ""


def uses(memories: Sequence[ShownMemory], answer: str) -> list[Use]:
    """Return for each memory, in their order, whether the answer cites it."""
    plain = folded(answer)
    named = set(re.findall(r"(?<![\w/.-])[ef]\d+(?![\w-])", plain))
    grams = _grams(answer)
    return [Use(id=memory.id, how=_how(memory, plain, named, grams)) for memory in memories]


def _how(memory: ShownMemory, plain: str, named: set[str], grams: set[tuple[str, ...]]) -> How:
    if memory.id in named:
        return "id"
    if grams and not grams.isdisjoint(_grams(memory.text)):
        return "words"
    return "value" if _holds(plain, memory.object) else ""


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


def passive_relevance(memories: Sequence[Use]) -> float | None:
    """Return the share of memories that were cited, in percent; None without memories."""
    return 100.0 * sum(use.cited for use in memories) / len(memories) if memories else None


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
