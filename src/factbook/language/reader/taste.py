"""Tell which things of a text its writer likes and dislikes.

A layer over what the network knows of a noun, the word that it hangs on, its clause and its
sentence, and over the words around it; learned from more than the network's own tags, which are one
of its signs (`scripts/train_layers.py`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

import numpy as np

from factbook.language.reader import labels
from factbook.language.reader.decode import Floats, softmax
from factbook.language.reader.layer import PLACES, Seen
from factbook.language.reader.reading import Clause, Token, children
from factbook.language.words import place_of

_NAMING: Final = frozenset({"NOUN", "PROPN", "X"})
_PARTS: Final = frozenset({"compound", "flat"})  # of a name
_LIKED, _DISLIKED = (
    [n for n, tag in enumerate(labels.OPINION_TAGS) if tag[2:] == sign] for sign in labels.SIGNS
)


class Thing(NamedTuple):
    """A thing that a text names, by the words of its part that the network read at once."""

    first: int
    last: int  # the word behind its last
    seen: Seen


def things(
    tokens: Sequence[Token],
    base: int,
    scores: Mapping[str, Floats],
    sentences: Sequence[tuple[int, int]],
    clauses: Sequence[Clause],
) -> Iterator[Thing]:
    """Yield the things that a part of a text names: `tokens` from the number `base` on.

    `sentences` are places of words in the part, each (first, behind the last).
    """
    vectors = scores["tokens"]
    tags = softmax(scores["tag.opinion"])
    signs = np.stack([tags[:, _LIKED].sum(axis=1), tags[:, _DISLIKED].sum(axis=1)], axis=1)
    own = softmax(scores["tag.foreign"])[:, 0]
    share = own.mean()
    around = _Around(tokens, base)
    of_word: dict[int, Clause] = {}
    for clause in clauses:
        of_word |= dict.fromkeys(range(clause.first - base, clause.last - base), clause)
    for begin, end in sentences:
        sentence, signed = vectors[begin:end].mean(axis=0), signs[begin:end].max(axis=0)
        for at in range(begin, end):
            if not around.is_named(at):
                continue
            first, last = around.name(at)
            part = of_word.get(at)
            head = tokens[at].head - base
            whole = (part.first - base, part.last - base) if part else (begin, end)
            known = [
                vectors[at],
                vectors[head] if tokens[at].head >= 0 else np.zeros_like(vectors[at]),
                vectors[slice(*whole)].mean(axis=0),
                sentence,
                signs[first:last].max(axis=0),
                signed,
                np.array([own[at], share, *_said(part)], np.float32),
            ]
            around_it = around.places(at, begin, end, whole)
            yield Thing(first, last, Seen(np.concatenate(known), (around_it,)))


def _said(clause: Clause | None) -> list[float]:
    if clause is None:
        return [0.0] * (len(labels.ACTS) + len(labels.FLAGS) + 1)
    acts = [float(clause.act == act) for act in labels.ACTS]
    return [*acts, *(float(flag in clause.flags) for flag in labels.FLAGS), clause.keep]


class _Around:
    """The words of a part, and what stands around each in its tree."""

    def __init__(self, tokens: Sequence[Token], base: int) -> None:
        self._tokens = tokens
        self._heads = [token.head - base if token.head >= 0 else -1 for token in tokens]
        self._lows = [token.text.lower() for token in tokens]
        self._below = children(tokens, base)

    def is_named(self, at: int) -> bool:
        """Tell whether a word names a thing and is no part of a longer name."""
        token = self._tokens[at]
        if token.pos not in _NAMING and not (
            token.pos == "VERB"
            and token.text.endswith("ing")
            and all(self._tokens[i].relation != "obj" for i in self._below[at])
        ):
            return False
        head = self._heads[at]
        return not (token.relation in _PARTS and head >= 0 and self._tokens[head].pos in _NAMING)

    def name(self, at: int) -> tuple[int, int]:
        """Return the words of a thing's name, (first, behind the last)."""
        parts = {i for i in self._below[at] if self._tokens[i].relation in (*_PARTS, "nummod")}
        first, last = at, at + 1
        while first - 1 in parts:
            first -= 1
        while last in parts:
            last += 1
        return first, last

    def places(self, at: int, begin: int, end: int, clause: tuple[int, int]) -> list[int]:
        """Return the places of the words of its sentence, of its clause and of its tree."""
        lows, tokens, below = self._lows, self._tokens, self._below
        said = lows[begin:end]
        found = [f"s {word}" for word in said]
        found += [f"s {a} {b}" for a, b in pairwise(said)]
        found += [f"c {word}" for word in lows[slice(*clause)]]
        found += [f"h {lows[at]}", f"p {tokens[at].pos}", f"r {tokens[at].relation}"]
        for i in below[at]:
            found += [f"m {lows[i]}", f"m {tokens[i].relation} {lows[i]}"]
            found += [f"mm {lows[j]}" for j in below[i]]
        head = self._heads[at]
        if head >= 0:
            found += [f"g {lows[head]}", f"g {tokens[at].relation} {lows[head]}"]
            found += [f"gd {lows[i]}" for i in below[head] if i != at]
            if self._heads[head] >= 0:
                found.append(f"gg {tokens[head].relation} {lows[self._heads[head]]}")
        found += [
            f"{step} {lows[at + step]}" for step in (-2, -1, 1, 2) if begin <= at + step < end
        ]
        return sorted({place_of(sign, PLACES) for sign in found})
