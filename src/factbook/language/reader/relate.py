"""Say how two texts stand to each other, whether one bears the other out, whose matter one is."""

from __future__ import annotations

import collections
import functools
import re
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from factbook.language.reader import labels
from factbook.language.reader.decode import softmax
from factbook.language.reader.network import Networks, shared
from factbook.language.reader.read import read
from factbook.language.reader.reading import Reading


class Chances(NamedTuple):
    """How an older text stands to a newer one, each chance 0 to 1."""

    change: float  # the newer takes the place of the older
    changed_back: float  # the same, read the other way round
    reword: float  # both say the same, in the direction that is less sure


@functools.lru_cache(maxsize=65_536)
def relate(older: str, newer: str, *, networks: Networks | None = None) -> Chances:
    """Return how two texts stand to each other; of each its first hundred words are read.

    Raises ReaderError where the network cannot be loaded.
    """
    nets = networks or shared()
    there = softmax(nets.pair(older, newer)["relation"].ravel())
    back = softmax(nets.pair(newer, older)["relation"].ravel())
    change, reword = labels.PAIRS.index("change"), labels.PAIRS.index("reword")
    return Chances(
        change=float(there[change]),
        changed_back=float(back[change]),
        reword=float(min(there[reword], back[reword])),
    )


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

    relate: Callable[[str, str], Chances]
    read: Callable[[str], Reading]
    supports: Callable[[str, str], float]


RELATER: Final = Relater(relate, read, supports)
"""The networks that ship with the package, loaded with the first text."""
