"""Tell the words of a claim that state something from those that only link what is stated.

Knows: a claim, the words of it that have no support, and the sentences it rests on. Does not know:
speakers, types, confidence. Pure.

Who sums up a text writes "causing", "due to", "with an April 14 deadline", "X rather than Y", where
the text says "so", "because", "until April 14", "X, not Y". Such a claim is written anew without
what its source says in another way, and held against the source again: names, numbers, things and
what is denied still have to stand there. Nothing is let pass here by likeness.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Final

from factbook.gate.given_up import given_up
from factbook.gate.grammar import words
from factbook.gate.type_sanity import (
    reading_of,
)
from factbook.language.reader.read import read
from factbook.language.reader.reading import Reading
from factbook.language.words import stem

__all__ = ["rewritten"]

LEAST_WORDS: Final = 4  # ours: content words that must remain of a claim that is written anew
MOST_TAKEN: Final = 0.25  # ours: of its content words, how many may be taken away
MOST_MISSING: Final = 4  # ours: with more words that nothing supports no claim is a paraphrase

# How words hang that link what is stated and state nothing of their own: "because it leaves a
# mess", ", causing mould", "due to". The first verb is what is claimed.
_LINKS: Final = frozenset({"acl", "advcl", "case", "cc", "fixed", "mark"})
# One decision is told by any of these, where the source tells of it by another one.
_DECIDING: Final = frozenset(
    map(stem, words("adopt choose chose chosen decide decision opt pick select settle use"))
)
_TURNING: Final = frozenset(map(stem, words("change go migrate move switch")))  # from this to that
# Words that a source says by other means: a unit, "until", "at the cost of".
_SAID_BY: Final[Mapping[str, re.Pattern[str]]] = {
    stem(word): re.compile(pattern, re.IGNORECASE)
    for listed, pattern in (
        ("temperature degrees", r"°|\bdegrees\b|\bcelsius\b|\bfahrenheit\b"),
        ("deadline due", r"\b(?:until|by|before|due|no later than)\b"),
        ("price cost", r"[$€£]|\b(?:dollars|euros|pounds)\b"),
        ("prefers prefer", r"\brather\b"),
        ("loss sacrifice", r"\b(?:at the (?:cost|expense) of|cost|lose|sacrific)"),
    )
    for word in words(listed)
}
_AT_FIRST: Final = re.compile(r"\s+first(?=[.,;]|$)", re.IGNORECASE)
_IN_ORDER: Final = re.compile(r"\b(?:before|until|first|after|then|once)\b", re.IGNORECASE)
_INTENDS: Final = re.compile(r"\b(?:decid|plan|want|agree|intend|aim|choos|chose)", re.I)
_PURPOSE: Final = re.compile(
    r"(?P<before>\b(?!decid|plan|want|agree|intend|aim|choos|chose|hop|able|like|lov)\w+)"
    r"\s+(?:in order )?to (?=[a-z]+\b)",
    re.IGNORECASE,
)
_ONE: Final = re.compile(r"\bone (?=[a-z])", re.IGNORECASE)
_IN_LINE: Final = re.compile(r"\b(?:in line|in accordance|in keeping) with\b", re.IGNORECASE)
_WORD: Final = re.compile(r"[^\W\d_]+")


def rewritten(
    text: str, *, missing: Sequence[str], conflict: str, source: str, pattern: bool = False
) -> str:
    """Return a claim without what its source says in another way; "" where that is nothing.

    A `pattern` of behaviour may tell of questions, where its source asks them.
    `missing` are its words without support, `conflict` what speaks against it, as a grounding names
    both, and `source` the sentences that it was held against.
    """
    if len(missing) > MOST_MISSING:
        return ""
    if pattern and missing and _QUESTIONS.issuperset(missing) and "?" in source:
        return " ".join(_QUESTION.sub(" ", text).split())
    new = _IN_LINE.sub("with", text)
    if not _WORKING.isdisjoint(missing):
        new = _WORKS_AS.sub(lambda match: "am a " if match["i"] else "Is a ", new)
    for word in _ENJOYING.intersection(missing):
        liked = _LIKED.search(source)
        new = re.sub(rf"\b{word}\b", liked[0] if liked else word, new, flags=re.IGNORECASE)
    if conflict == "number" and _IN_ORDER.search(source):
        new = _AT_FIRST.sub("", new)
    elif conflict == "hypothetical" and _INTENDS.search(text):
        new = _PURPOSE.sub(r"\g<before> and wants to ", new)
    elif conflict == "negated" or "rather" in missing:
        new = _contrasted(new, source)
    if "one" in missing:
        new = _ONE.sub("a ", new)
    taken = _linking(new, missing, source)
    if taken:
        count = len(reading_of(text).order)
        if count - len(taken) < LEAST_WORDS or len(taken) > MOST_TAKEN * count:
            return ""
        for word in taken:
            new = re.sub(rf"(?<![\w'-]){re.escape(word)}(?![\w'-])", "", new, flags=re.IGNORECASE)
        new = " ".join(new.split())
    return new if new != text else ""


# "Works as a tailor" is said of who says "I'm a tailor", "enjoys chess" of who loves chess.
_WORKING: Final = frozenset(words("work works working"))
_WORKS_AS: Final = re.compile(r"(?:(?<=\b(?P<i>[iI]) )work|\bworks) as (?:an? )?", re.IGNORECASE)
_ENJOYING: Final = frozenset(words("enjoy enjoys enjoying enjoyed"))
_LIKED: Final = re.compile(r"\b(?:love|like)[sd]?\b(?= (?:to )?\w)", re.IGNORECASE)
_QUESTIONS: Final = frozenset({"question", "questions"})
_QUESTION: Final = re.compile(r"\bquestions?\b", re.IGNORECASE)


def _contrasted(text: str, source: str) -> str:
    """Leave out what a claim chooses against, where its source chooses against the same."""
    tree = read(text)
    against = frozenset().union(*(given.keys for given in given_up(read(source))))
    cut = [given for given in given_up(tree) if given.keys <= against]
    gone = frozenset().union(*(given.words for given in cut))
    return _without(tree, gone) if gone else text


def _without(tree: Reading, gone: Collection[int]) -> str:
    """Return a text without some of its words, and without marks that nothing stands between."""
    kept = [token for n, token in enumerate(tree.tokens) if n not in gone]
    return " ".join(token.text for token in kept)


def _linking(text: str, missing: Sequence[str], source: str) -> list[str]:
    """Return those of the missing words that link, or that the source says by other means."""
    tokens = {token.text.lower(): token.relation for token in read(text).tokens}
    told = {stem(word) for word in _WORD.findall(source.lower())}
    linking = []
    for word in missing:
        key = stem(word)
        said_by = _SAID_BY.get(key)
        decides = key in _DECIDING and not told.isdisjoint(_DECIDING | _TURNING)
        turns = key in _TURNING and not told.isdisjoint(_DECIDING) and given_up(read(source))
        links = tokens.get(word) in _LINKS or (said_by is not None and said_by.search(source))
        if decides or turns or links:
            linking.append(word)
    return linking
