"""Find the facts near a fact that the reader's network is asked about, and which pairs are closest.

A circle is all facts of one owner and subject.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Final

import numpy as np

from factbook import policy
from factbook.maintenance.join import near_pairs_of
from factbook.maintenance.join_rows import Floats, Pairs
from factbook.store.rows import Life

_EVEN: Final = 1e-6  # by which cosines of the same two differ


class Circles:
    """Facts of one owner and subject each, as the reader's network is asked about them."""

    def __init__(self, lives: Sequence[Life], vectors: Floats) -> None:
        """Take facts and their vectors, row by row."""
        self._lives = lives
        self._vectors = vectors
        self._rows: dict[tuple[str, str], list[int]] = {}
        for n, life in enumerate(lives):
            self._rows.setdefault((life.owner, life.subject), []).append(n)

    def nearest(self, new: Sequence[int]) -> dict[tuple[int, int], float]:
        """Return the pairs that the network is asked about, with their cosines, nearest first.

        They are each new fact's nearest; the nearest of all where they are more than one run reads.
        """
        fresh = set(new)
        near: dict[tuple[int, int], float] = {}
        for rows in self._rows.values():
            among = [at for at, n in enumerate(rows) if n in fresh]
            if not among or len(rows) < 2:
                continue
            pairs = near_pairs_of(
                among,
                self._vectors[rows],
                threshold=policy.RELATED_SIMILARITY,
                nearest=policy.RELATED_NEIGHBOURS,
            )
            near |= {(rows[left], rows[right]): cosine for left, right, cosine in each(pairs)}
        nearest = sorted(near, key=lambda pair: (-near[pair], pair))[: policy.RELATED_PAIRS]
        return {pair: near[pair] for pair in nearest}

    def closest(self, left: int, right: int, alike: Collection[tuple[int, int]]) -> bool:
        """Tell whether neither of two facts has a nearer one.

        What says the same as it (`alike`, by ids) is none, nor what was told in the same message.
        """
        for one, other in ((left, right), (right, left)):
            life = self._lives[one]
            rows = self._rows[life.owner, life.subject]
            cosines = self._vectors[rows] @ self._vectors[one]
            nearer = np.flatnonzero(cosines > self._vectors[other] @ self._vectors[one] + _EVEN)
            for n in (rows[at] for at in nearer.tolist()):
                near = self._lives[n]
                if near.episode_id != life.episode_id and ids_of(life, near) not in alike:
                    return False
        return True


def each(pairs: Pairs) -> Iterable[tuple[int, int, float]]:
    """Return pairs one by one: (left row, right row, cosine)."""
    return zip(pairs.left.tolist(), pairs.right.tolist(), pairs.cosine.tolist(), strict=True)


def ids_of(left: Life, right: Life) -> tuple[int, int]:
    """Return the ids of two facts, the lower one first."""
    return (left.id, right.id) if left.id < right.id else (right.id, left.id)
