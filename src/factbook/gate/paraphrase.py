"""Tell the words of a claim that state something from those that only link what is stated.

A summary writes "causing", "due to", "X rather than Y" where the text says "so", "because", "X, not
Y". Such a claim is written anew without that and held against its source again: names, numbers,
things and what is denied still have to stand there. Nothing is let pass here by likeness.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from factbook.gate.given_up import given_up
from factbook.gate.type_sanity import reading_of
from factbook.language.reader.read import read
from factbook.language.words import stem, word_set

LEAST_WORDS: Final = 4  # ours: content words that must remain of a claim that is written anew
MOST_TAKEN: Final = 0.25  # ours: of its content words, how many may be taken away
MOST_MISSING: Final = 4  # ours: with more words that nothing supports no claim is a paraphrase

# How words hang that link what is stated and state nothing of their own: "because it leaves a
# mess", ", causing mould", "due to". The first verb is what is claimed.
_LINKS: Final = frozenset({"acl", "advcl", "case", "cc", "fixed", "mark"})
# One decision is told by any of these, where the source tells of it by another one.
_DECIDING: Final = frozenset(
    map(stem, word_set("adopt choose chose chosen decide decision opt pick select settle use"))
)
# From this to that.
_TURNING: Final = frozenset(map(stem, word_set("change go migrate move switch")))
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
    for word in listed.split()
}
_IN_LINE: Final = re.compile(r"\b(?:in line|in accordance|in keeping) with\b", re.IGNORECASE)
_WORD: Final = re.compile(r"[^\W\d_]+")


def rewritten(text: str, *, missing: Sequence[str], conflict: str, source: str) -> str:
    """Return a claim without what its source says in another way; "" where that is nothing.

    `missing` are its words without support, `conflict` what speaks against it, as a grounding names
    both, and `source` the sentences that it was held against.
    """
    if len(missing) > MOST_MISSING:
        return ""
    new = _IN_LINE.sub("with", text)
    if conflict == "negated" or "rather" in missing:
        new = _contrasted(new, source)
    taken = _linking(new, missing, source)
    if taken:
        count = len(reading_of(text).order)
        if count - len(taken) < LEAST_WORDS or len(taken) > MOST_TAKEN * count:
            return ""
        for word in taken:
            new = re.sub(rf"(?<![\w'-]){re.escape(word)}(?![\w'-])", "", new, flags=re.IGNORECASE)
        new = " ".join(new.split())
    return new if new != text else ""


def _contrasted(text: str, source: str) -> str:
    """Leave out what a claim chooses against, where its source chooses against the same."""
    tree = read(text)
    against = frozenset().union(*(given.keys for given in given_up(read(source))))
    cut = [given for given in given_up(tree) if given.keys <= against]
    gone = frozenset().union(*(given.words for given in cut))
    kept = (token.text for n, token in enumerate(tree.tokens) if n not in gone)
    return " ".join(kept) if gone else text


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
