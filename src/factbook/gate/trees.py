"""A claim or its source as a tree: which of its words say something, of whom, and beside what."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from factbook.gate import kin
from factbook.gate.lexicon import Sort, words_of
from factbook.language.reader.read import read
from factbook.language.reader.reading import Reading
from factbook.language.reader.tree import Tree
from factbook.language.words import word_set

CACHED_TREES: Final = 1_024  # a source is held against several claims
USERS: Final = word_set("i im ive we me my our us user user's")
_SAYS: Final = frozenset({Sort.CONTENT, Sort.NUMBER})
_SUBJECTS: Final = frozenset({"nsubj", "csubj"})
_EMBEDS: Final = frozenset({"ccomp", "xcomp", "acl", "advcl"})
_THINGS: Final = frozenset({"NOUN", "NUM", "PRON", "PROPN"})
_OF: Final = frozenset({"obj", "obl"})
_BESIDES: Final = frozenset({"acl", "advcl", "conj"})  # clauses beside what a text claims
_OPENS: Final = frozenset(':"“„«')  # signs behind which somebody's words stand
_DEEPEST: Final = 12  # ours: words above a word in which its subject is looked for


class ClaimTree(Tree):
    """A claim or its source as a tree."""

    def __init__(self, reading: Reading) -> None:
        super().__init__(reading)
        self.root = next((n for n, token in enumerate(reading.tokens) if token.head < 0), -1)
        self.clauses = len(reading.clauses)
        self.clause = [-1] * len(reading.tokens)  # of each word; -1 for none
        for number, part in enumerate(reading.clauses):
            self.clause[part.first : part.last] = [number] * (part.last - part.first)
        entries = (next(iter(words_of(token.text)), None) for token in reading.tokens)
        self.keys = [  # of each word that says something; else empty
            entry.key if entry is not None and entry.sort in _SAYS else "" for entry in entries
        ]
        self.by_user = not USERS.isdisjoint({*self.lower} - {"user", "user's"})

    def where(self, key: str) -> list[int]:
        """Return the words that support one of a claim."""
        return [n for n, said in enumerate(self.keys) if said and kin.support(key, said)]

    def subject(self, at: int) -> int:
        """Return who or what does or is what a word says; -1 where nothing is named."""
        for _ in range(_DEEPEST):
            if at < 0:
                break
            if subjects := self.of(at, *_SUBJECTS):
                return subjects[0]
            if self.tokens[at].relation == "acl":
                return self.tokens[at].head
            at = self.tokens[at].head
        return -1

    def claim(self) -> int:
        """Return where what a text claims begins, behind who says so, in characters; 0 without.

        Of "They say that flats are cheap" it is 14, where "flats" begins.
        """
        roots = [n for n, token in enumerate(self.tokens) if token.head < 0]
        at = next((n for n in roots if self._doer(n) >= 0), self.root)
        begin = 0
        for _ in range(_DEEPEST):
            if at < 0:
                break
            doer = self._doer(at)
            marks = [n + 1 for n in self.of(at, "mark") if n < at]
            begin = min(self.under(doer)) if doer >= 0 else max(marks, default=begin)
            at = next((n for n in self._behind(at) if self._tells(at, n, doer)), -1)
        return self.tokens[begin].begin if begin else 0

    def _behind(self, at: int) -> list[int]:
        """Return what hangs on a word, and in its sentence, as a root, does not though it may."""
        here = next((end for _, end in self.reading.sentences if self.tokens[at].begin < end), 0)
        roots = [n for n in range(at + 1, len(self.tokens)) if self.tokens[n].head < 0]
        return self.below[at] + [n for n in roots if self.tokens[n].begin < here]

    def _tells(self, at: int, said: int, doer: int) -> bool:
        """Say whether a word is the verb of what another one says, knows or finds."""
        relation, theirs = self.tokens[said].relation, self._doer(said)
        if relation in _BESIDES or relation in _SUBJECTS:
            return False
        if theirs < 0:
            return relation == "ccomp" and bool(self.of(said, "mark"))
        if relation == "parataxis" and doer >= 0:
            first = min(self.under(theirs))
            return at < first and self.tokens[first - 1].text in _OPENS
        return relation == "ccomp" or theirs > at

    def _doer(self, at: int) -> int:
        """Return the subject of a verb, also where it is misread as another part; -1 for none."""
        if subjects := self.of(at, *_SUBJECTS):
            return max((n for n in subjects if n < at), default=subjects[0])
        if self.tokens[at].pos != "VERB":
            return -1
        before = (n for n in self.below[at] if n < at and self.tokens[n].pos in _THINGS)
        return next((n for n in before if not self.links(n)), -1)

    def above(self, at: int) -> Iterator[int]:
        """Yield the words in whose clauses a word stands as a part of what they say."""
        for _ in range(_DEEPEST):
            if self.tokens[at].relation not in _EMBEDS:
                return
            at = self.tokens[at].head
            yield at

    def owners(self, at: int) -> set[str]:
        """Return the pronouns that say whose a thing is."""
        return {self.lower[n] for n in self.of(at, "nmod") if self.tokens[n].pos == "PRON"}

    def joined(self) -> Iterator[tuple[int, int]]:
        """Yield the words that hang on each other, and what a verb joins: what is done where."""
        for at, token in enumerate(self.tokens):
            if token.head >= 0 and token.relation not in _EMBEDS | {"conj"}:
                yield at, token.head
            yield from pairwise(self.of(at, *_OF))

    def beside(self, at: int, other: int) -> bool:
        """Say whether two words stand in parts side by side: red bike and blue car.

        Of one who does two things both are said: "my aunt sings and is deaf".
        """
        if self.subject(at) == other or self.subject(other) == at:
            return False
        return self._conjoined(at, other) or self._conjoined(other, at)

    def _conjoined(self, at: int, other: int) -> bool:
        """Say whether a word stands in a part beside that of which another one is."""
        there = self.way(other)
        for n in self.way(at):
            token = self.tokens[n]
            if token.relation != "conj" or token.head not in there or n in there:
                continue
            if (token.pos in _THINGS) == (self.tokens[token.head].pos in _THINGS):
                return True
            if {self.tokens[m].relation for m in there if self.tokens[m].head == token.head} & _OF:
                return True  # one more object of a verb: "I use Rust at work and Lua at home"
        return False

    def shared(self, other: ClaimTree, clause: int) -> list[str]:
        """Return those of its words that a clause of another text holds."""
        return [
            key
            for key in self.keys
            if key and any(other.clause[n] == clause for n in other.where(key))
        ]


@functools.lru_cache(maxsize=CACHED_TREES)
def tree_of(text: str) -> ClaimTree:
    """Read a text as a tree; the same object for the same text."""
    return ClaimTree(read(text))
