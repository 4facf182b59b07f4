"""What is read of a text: words in trees, sentences, clauses, names, opinions, rules."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol

import numpy as np
from numpy.typing import NDArray

NOT_MEANT: Final = frozenset({"quoted", "if", "irony"})  # flags of what nobody asserts
JOINING: Final = frozenset({"cc", "discourse", "punct"})  # relations of words that only join
KEEP: Final = 0.28  # ours: from this chance on a clause is worth knowing in a month


@dataclass(frozen=True, slots=True)
class Token:
    """A word in its tree."""

    text: str
    begin: int  # in the text, in characters
    end: int
    pos: str  # of `labels.POS`
    head: int  # the index of the word that it hangs on; -1 for a root
    relation: str  # of `labels.RELATIONS`


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of the text that is something: a name, what is liked, a rule."""

    begin: int
    end: int
    type: str
    chance: float  # 0 to 1: that it is something at all
    scope: str = ""  # of `labels.SCOPES`: where a rule or a decision holds; else empty
    sure: float = 1.0  # 0 to 1: of the type, among all types


@dataclass(frozen=True, slots=True)
class Clause:
    """A part of a text that says one thing."""

    begin: int
    end: int
    act: str  # of `labels.ACTS`
    of: str  # whose matter it is, of `labels.OWNERS`
    keep: float  # 0 to 1: that it is worth knowing in a month
    kind: str  # of `labels.KINDS`
    flags: frozenset[str]  # of `labels.FLAGS`
    first: int  # its first word
    last: int  # the word behind its last


@dataclass(frozen=True, slots=True)
class Reading:
    """All that was read of a text. Places are in characters of `text`."""

    text: str
    tokens: Sequence[Token]
    sentences: Sequence[tuple[int, int]]
    clauses: Sequence[Clause]
    names: Sequence[Span]
    opinions: Sequence[Span]
    marks: Sequence[Span]  # rules and decisions
    # The mean of its words' vectors, (384,), by which more may be told of it as a whole; another
    # version of the network has other ones.
    sense: NDArray[np.float32] = field(compare=False, repr=False)
    foreign: Sequence[Span]  # what are not its writer's own words

    def clause_at(self, at: int) -> Clause | None:
        """Return the clause in which a character stands."""
        return next((clause for clause in self.clauses if clause.begin <= at < clause.end), None)

    def kept(self, chance: float = KEEP) -> list[Clause]:
        """Return the clauses that are worth keeping, in their order."""
        return [clause for clause in self.clauses if clause.keep >= chance]


class Reader(Protocol):
    """What reads English."""

    @property
    def version(self) -> str:
        """Its name; what another version has read may be read again."""

    def read(self, text: str, answers: str = "", /) -> Reading:
        """Return what is said in a text; `answers` is the line that it answers."""


def children(tokens: Sequence[Token], base: int = 0) -> list[list[int]]:
    """Return for each word the words that hang on it, in their order.

    `tokens` are whole sentences of a text, from the one with the number `base` on.
    """
    below: list[list[int]] = [[] for _ in tokens]
    for n, token in enumerate(tokens):
        if token.head >= 0:
            below[token.head - base].append(n)
    return below
