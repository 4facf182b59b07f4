"""The signs by which is told how two statements of one person stand to each other."""

from __future__ import annotations

from collections.abc import Collection
from itertools import chain
from typing import Final, NamedTuple

import numpy as np

from factbook.gate.reading import TextReading
from factbook.language.reader import labels
from factbook.language.reader.decode import Floats
from factbook.language.reader.reading import Reading
from factbook.language.reader.relate import Scores

_NOUNS: Final = frozenset({"NOUN", "PROPN"})
_DOING: Final = frozenset({"VERB", "ADJ"})
_OWNERS: Final = ("me", "person", "thing")
_FLAGS: Final = tuple(flag for flag in labels.FLAGS if flag not in ("quoted", "irony"))


class Side(NamedTuple):
    """One of two texts, as the reader and as the gate read it."""

    read: Reading
    text: TextReading


def signs_of(older: Side, newer: Side, scores: Scores, similarity: float) -> Floats:
    """Return the signs of two texts, always as many: what `related.npz` has learned from.

    `scores` are the network's of both, `similarity` is their cosine.
    """
    first, second = older.text.keys, newer.text.keys
    shared = len(first & second)
    sides = (older.read, newer.read)
    return np.array(
        [
            *scores.there,
            *scores.back,
            similarity,
            similarity if shared else 0.0,
            shared,
            shared / max(1, len(first | second)),
            len(first),
            len(second),
            _cosine(older.read.sense, newer.read.sense),
            *(len(_words(sides[0], kinds) & _words(sides[1], kinds)) for kinds in (_NOUNS, _DOING)),
            *(
                len(_of_relation(sides[0], name) & _of_relation(sides[1], name))
                for name in ("nsubj", "root")
            ),
            _kinds(older.read).isdisjoint(_kinds(newer.read)),
            _owners(older.read) == _owners(newer.read),
            *_clauses(older.read),
            *_clauses(newer.read),
        ],
        np.float32,
    )


def _cosine(first: Floats, second: Floats) -> float:
    return float(first @ second / (np.linalg.norm(first) * np.linalg.norm(second) + 1e-9))


def _words(text: Reading, kinds: Collection[str]) -> set[str]:
    return {token.text.lower() for token in text.tokens if token.pos in kinds}


def _of_relation(text: Reading, relation: str) -> set[str]:
    return {token.text.lower() for token in text.tokens if token.relation == relation}


def _kinds(text: Reading) -> set[str]:
    return {clause.kind for clause in text.clauses}


def _owners(text: Reading) -> set[str]:
    return {clause.of for clause in text.clauses}


def _clauses(text: Reading) -> list[float]:
    owners = _owners(text)
    flags = set(chain.from_iterable(clause.flags for clause in text.clauses))
    return [
        len(text.clauses),
        *(float(owner in owners) for owner in _OWNERS),
        *(float(flag in flags) for flag in _FLAGS),
    ]
