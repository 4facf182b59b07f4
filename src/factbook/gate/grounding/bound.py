"""Say whether the words of a claim are bound as in its source: in one clause, to one subject.

Knows: a claim and the sentences that hold its words, both as trees. Does not know: who speaks.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from factbook.gate.grammar import words
from factbook.gate.grounding import kin
from factbook.gate.lexicon import Sort, words_of
from factbook.language.reader.read import read
from factbook.language.reader.reading import Token, children

CACHED_TREES: Final = 1_024  # a source is held against several claims
USERS: Final = frozenset(words("i we me my our us user user's"))
_ANYBODY: Final = frozenset(words("she he they who it that this which you one there"))
_NOBODY: Final = frozenset(words("it that this which who there"))  # stand for what is named nearby
_SAYS: Final = frozenset({Sort.CONTENT, Sort.NUMBER})
_QUALIFIES: Final = frozenset({"amod", "nummod"})
_SUBJECTS: Final = frozenset({"nsubj", "csubj"})
_EMBEDS: Final = frozenset({"ccomp", "xcomp", "acl", "advcl"})
_THINGS: Final = frozenset({"NOUN", "NUM", "PRON", "PROPN"})
_OF: Final = frozenset({"obj", "obl"})
_LINKS: Final = frozenset({"case", "mark"})
_DEEPEST: Final = 12  # ours: words above a word in which its subject is looked for


@dataclass(frozen=True, slots=True, eq=False)
class Tree:
    """A text as a tree; the same object for the same text."""

    text: str
    tokens: tuple[Token, ...]
    below: tuple[tuple[int, ...], ...]
    lower: tuple[str, ...]  # each word in lower case
    root: int  # the first word that hangs on none; -1 in an empty text
    clause: tuple[int, ...]  # of each word; -1 for none
    clauses: int
    keys: tuple[str, ...]  # of each word that says something; else empty
    by_user: bool  # its writer tells of themselves

    def where(self, key: str) -> list[int]:
        """Return the words that support one of a claim."""
        return [n for n, said in enumerate(self.keys) if said and kin.support(key, said)]

    def subject(self, at: int) -> int:
        """Return who or what does or is what a word says; -1 where nothing is named."""
        for _ in range(_DEEPEST):
            if at < 0:
                break
            for child in self.below[at]:
                if self.tokens[child].relation in _SUBJECTS:
                    return child
            if self.tokens[at].relation == "acl":
                return self.tokens[at].head
            at = self.tokens[at].head
        return -1

    def above(self, at: int) -> Iterator[int]:
        """Yield the words in whose clauses a word stands as a part of what they say."""
        for _ in range(_DEEPEST):
            if self.tokens[at].relation not in _EMBEDS:
                return
            at = self.tokens[at].head
            yield at

    def links(self, at: int) -> set[str]:
        """Return the prepositions of a word."""
        return {self.lower[n] for n in self.below[at] if self.tokens[n].relation in _LINKS}

    def owners(self, at: int) -> set[str]:
        """Return the pronouns that say whose a thing is."""
        of = (n for n in self.below[at] if self.tokens[n].relation == "nmod")
        return {self.lower[n] for n in of if self.tokens[n].pos == "PRON"}

    def joined(self) -> Iterator[tuple[int, int]]:
        """Yield the words that hang on each other, and what a verb joins: what is done where."""
        for at, token in enumerate(self.tokens):
            if token.head >= 0 and token.relation not in _EMBEDS | {"conj"}:
                yield at, token.head
            of = [n for n in self.below[at] if self.tokens[n].relation in _OF]
            yield from pairwise(of)

    def beside(self, at: int, other: int) -> bool:
        """Say whether two words stand in parts side by side: red bike and blue car."""
        return self._conjoined(at, other) or self._conjoined(other, at)

    def _conjoined(self, at: int, other: int) -> bool:
        """Say whether a word stands in a part beside that of which another one is."""
        there = self._way(other)
        for n in self._way(at):
            token = self.tokens[n]
            if token.relation != "conj" or token.head not in there or n in there:
                continue
            if (token.pos in _THINGS) == (self.tokens[token.head].pos in _THINGS):
                return True
            if {self.tokens[m].relation for m in there if self.tokens[m].head == token.head} & _OF:
                return True  # one more object of a verb: "I use Rust at work and Lua at home"
        return False

    def _way(self, at: int) -> list[int]:
        """Return a word and those that it hangs on, up to the root."""
        way = [at]
        while self.tokens[way[-1]].head >= 0 and len(way) <= len(self.tokens):
            way.append(self.tokens[way[-1]].head)
        return way

    def shared(self, other: Tree, clause: int) -> list[str]:
        """Return those of its words that a clause of another text holds."""
        return [
            key
            for key in self.keys
            if key and any(other.clause[n] == clause for n in other.where(key))
        ]

    def phrase(self, at: int) -> Iterator[int]:
        """Yield a word and all that hang on it."""
        yield at
        for child in self.below[at]:
            yield from self.phrase(child)


@functools.lru_cache(maxsize=CACHED_TREES)
def tree_of(text: str) -> Tree:
    reading = read(text)
    clause = [-1] * len(reading.tokens)
    for number, part in enumerate(reading.clauses):
        clause[part.first : part.last] = [number] * (part.last - part.first)
    keys = []
    for token in reading.tokens:
        entry = next(iter(words_of(token.text)), None)
        keys.append(entry.key if entry is not None and entry.sort in _SAYS else "")
    return Tree(
        text=text,
        tokens=tuple(reading.tokens),
        lower=tuple(token.text.lower() for token in reading.tokens),
        root=next((n for n, token in enumerate(reading.tokens) if token.head < 0), -1),
        clauses=len(reading.clauses),
        below=tuple(map(tuple, children(reading.tokens))),
        clause=tuple(clause),
        keys=tuple(keys),
        by_user=any(token.text.lower() in USERS - {"user", "user's"} for token in reading.tokens),
    )


def unbound(text: str, source: str) -> str:
    """Say how a source binds the words of a claim otherwise; "" where it binds them as the claim.

    A word that the source lacks is no matter of binding.
    """
    claim, said = tree_of(text), tree_of(source)
    if not said.by_user:
        if why := _apart(claim, said):
            return why
    elif why := _told_of_another(claim, said):
        return why  # who tells of themselves says a thing in several sentences: seed 002, example 1
    return _of_another(claim, said)


def _apart(claim: Tree, said: Tree) -> str:
    """Find two words that a claim joins and that no clause of the source does."""
    for at, token in enumerate(claim.tokens):
        if token.head < 0 or not claim.keys[at] or not claim.keys[token.head]:
            continue
        if claim.clause[at] != claim.clause[token.head]:
            continue
        lower = said.where(claim.keys[at])
        upper = said.where(claim.keys[token.head])
        if not lower or not upper:
            continue
        pairs = [(n, m) for n in lower for m in upper if said.clause[n] == said.clause[m]]
        if token.relation in _QUALIFIES:
            pairs = [pair for pair in pairs if not _qualifies_another(said, *pair)]
        if not pairs:
            head = claim.tokens[token.head].text
            return f'"{token.text}" and "{head}" are said of two things'
    return ""


def _told_of_another(claim: Tree, said: Tree) -> str:
    """Find a word that a claim says of the user, and that the source only says of another one.

    So it is where the source speaks of it in another clause, of another subject, than of the word
    that it hangs on in the claim: "I work in Turku. My parents have a farm." for "Works on a farm".
    """
    root = claim.root
    if root < 0 or not claim.keys[root] or claim.subject(root) >= 0:
        return ""
    upper = said.where(claim.keys[root])
    if upper and all(said.subject(n) == n and said.tokens[n].pos == "NOUN" for n in upper):
        return f"the source says of {said.tokens[upper[0]].text} what it does, not who it is"
    for at in claim.below[root]:
        lower = said.where(claim.keys[at]) if claim.keys[at] else []
        if not upper or not lower or claim.tokens[at].relation not in {"obj", "obl"}:
            continue
        if any(said.clause[n] == said.clause[m] for n in lower for m in upper):
            continue
        others = [said.subject(n) for n in lower]
        if not any(_may_be(claim, -1, said, other) for other in others):
            return f"the source says it of {said.tokens[others[0]].text}"
    return ""


def _qualifies_another(said: Tree, at: int, noun: int) -> bool:
    """Say whether a word qualifies another thing than this one."""
    token = said.tokens[at]
    return token.relation in _QUALIFIES and token.head not in {noun, said.tokens[noun].head}


def _of_another(claim: Tree, said: Tree) -> str:
    """Find that the source says of another one what a claim says of its subject."""
    root = claim.root
    if root < 0:
        return ""
    near = [n for n in claim.below[root] if claim.tokens[n].relation in {"obj", "xcomp", "obl"}]
    places = next(
        (at for n in (root, *near) if claim.keys[n] and (at := said.where(claim.keys[n]))), []
    )
    if not places:
        return ""
    held = [_held(claim, said, at) for at in places]
    subjects = [
        said.subject(at) for at, count in zip(places, held, strict=True) if count == max(held)
    ]
    who = claim.subject(root)
    if any(_may_be(claim, who, said, other) for other in subjects):
        return ""
    return f"the source says it of {said.tokens[subjects[0]].text}"


def _held(claim: Tree, said: Tree, at: int) -> int:
    """Count the words of a claim that stand in the clause of a word."""
    return len(claim.shared(said, said.clause[at]))


def _may_be(claim: Tree, who: int, said: Tree, other: int) -> bool:
    """Say whether the subject of a claim may be the one that its source names."""
    joined = {said.tokens[n].text.lower() for n in said.below[other]} if other >= 0 else set()
    if other < 0 or not joined.isdisjoint({"i", "we"}):
        return True  # nobody else, or "my wife and I"
    surface, told = said.tokens[other].text.lower(), said.tokens[other]
    named = claim.tokens[who].text.lower() if who >= 0 else ""
    if named == surface:
        return True
    if not named or named in USERS | _ANYBODY:
        if surface in USERS | _NOBODY or not surface[0].isalpha():
            return True
        if surface == "you":
            return False  # whom its writer speaks to
        if surface in _ANYBODY or told.pos == "PROPN":
            return not said.by_user
        return _share(said, other, claim, range(len(claim.tokens)))
    if surface in _ANYBODY:
        return True
    if surface in USERS:
        things = (said.tokens[n].pos for n in said.where(claim.keys[who] or named))
        if not any(pos in {"NOUN", "PROPN"} for pos in things):
            return True  # no other is named: "Kind of likes jazz"
        whose = {claim.tokens[n].text.lower() for n in claim.phrase(who)}
        return not whose.isdisjoint(USERS | {"her", "his", "their"})
    return _share(said, other, claim, claim.phrase(who))


def _share(said: Tree, other: int, claim: Tree, of: Iterator[int] | range) -> bool:
    """Say whether a phrase of the source holds a word of some words of a claim."""
    keys = [claim.keys[n] for n in of if claim.keys[n]]
    return any(
        said.keys[n] and any(kin.support(key, said.keys[n]) for key in keys)
        for n in said.phrase(other)
    )
