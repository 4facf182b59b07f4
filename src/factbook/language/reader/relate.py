"""Say how two texts stand to each other, whether one bears the other out, whose matter one is."""

from __future__ import annotations

import collections
import functools
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Final, NamedTuple

import numpy as np

from factbook.language.reader import labels
from factbook.language.reader.decode import Floats, softmax
from factbook.language.reader.network import Networks, shared
from factbook.language.reader.read import read
from factbook.language.reader.reading import Reading


class Scores(NamedTuple):
    """What the network says of two texts, read in both orders: logarithms of chances, (8,) each.

    What the second is to the first, of `labels.PAIRS`; whether it follows from it, is against it or
    neither; whether the first bears it out.
    """

    there: Floats  # the older one first
    back: Floats

    @property
    def change(self) -> float:
        """Return how likely the newer takes the older's place, 0 to 1, by the network alone."""
        return float(np.exp(self.there[labels.PAIRS.index("change")]))

    @property
    def reword(self) -> float:
        """Return how likely both say the same, 0 to 1, in the order that is less sure."""
        at = labels.PAIRS.index("reword")
        return float(np.exp(min(self.there[at], self.back[at])))


class Chances(NamedTuple):
    """How an older text stands to a newer one, each chance 0 to 1."""

    change: float  # the newer takes the place of the older
    reword: float  # both say the same


@functools.lru_cache(maxsize=65_536)
def relate(older: str, newer: str, *, networks: Networks | None = None) -> Scores:
    """Return what the network says of two texts; of each its first hundred words are read.

    Raises ReaderError where the network cannot be loaded.
    """
    nets = networks or shared()
    there, back = nets.pair(older, newer), nets.pair(newer, older)
    return Scores(_logs(there), _logs(back))


def _logs(scores: Mapping[str, Floats]) -> Floats:
    parts = (softmax(scores[name].ravel()) for name in ("relation", "inference", "support"))
    return np.log(np.concatenate([*parts]) + _LEAST)


def weigh(signs: Floats) -> Chances:
    """Return how two texts stand to each other, of their signs (`gate.related_signs`).

    Raises ReaderError where what was learned of the networks cannot be loaded.
    """
    _, change, reword = shared().related.chances(signs).tolist()
    return Chances(change, reword)


@functools.lru_cache(maxsize=65_536)
def supports(text: str, claim: str, *, networks: Networks | None = None) -> float:
    """Return the chance, 0 to 1, that what a text says bears a claim out.

    Of both together about a hundred words are read: give it the sentences that bear on the claim.
    Raises ReaderError where the network cannot be loaded.
    """
    nets = networks or shared()
    return float(softmax(nets.pair(text, claim)["support"].ravel())[1])


@functools.lru_cache(maxsize=4096)
def own_matter(question: str, *, networks: Networks | None = None) -> float:
    """Return how much a question reads like one of whoever asks, as log odds within 6.

    Raises ReaderError where the network cannot be loaded.
    """
    nets = networks or shared()
    world, own = nets.pair(question, "")["matter"].ravel().tolist()
    return float(max(-_SUREST, min(_SUREST, own - world)))


_LEAST: Final = 1e-6  # no chance is less
_SUREST: Final = 6.0  # log odds: beyond it nothing more is known


def bearing(sentences: Sequence[str], claim: str) -> list[int]:
    """Return the numbers of sentences, those that share most words with a claim first.

    `sentences` are of one text, in which a rare word counts more than one that stands everywhere. A
    word counts by its first six letters, and those under three not at all.
    """
    held = [_stems(sentence) for sentence in sentences]
    count = collections.Counter(stem for stems in held for stem in stems)
    asked = _stems(claim)
    worth = [sum(1 / count[stem] for stem in asked & stems) for stems in held]
    return sorted(range(len(held)), key=lambda i: -worth[i])


def shares_words(text: str, claim: str) -> bool:
    """Say whether a text has any word of a claim, as `bearing` counts them."""
    return not _stems(text).isdisjoint(_stems(claim))


def _stems(text: str) -> set[str]:
    return {word[:6] for word in _WORD.findall(text.lower())}


_WORD: Final = re.compile(r"\w{3,}")


class Relater(NamedTuple):
    """What reads texts, and two texts together: the networks as the judge of claims needs them."""

    relate: Callable[[str, str], Scores]
    read: Callable[[str], Reading]
    supports: Callable[[str, str], float]
    weigh: Callable[[Floats], Chances] = weigh


RELATER: Final = Relater(relate, read, supports)
"""The networks that ship with the package, loaded with the first text."""
