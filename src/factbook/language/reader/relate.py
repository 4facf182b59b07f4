"""Say how two texts stand to each other, read by the network in both directions."""

from __future__ import annotations

import functools
from collections.abc import Callable
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
    """Return how two texts stand to each other.

    Of a text about its first hundred words are read. Raises ReaderError where the network cannot be
    loaded.
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


class Relater(NamedTuple):
    """What reads texts, and two texts together: the networks as the judge of claims needs them."""

    relate: Callable[[str, str], Chances]
    read: Callable[[str], Reading]


RELATER: Final = Relater(relate, read)
"""The networks that ship with the package, loaded with the first text."""
