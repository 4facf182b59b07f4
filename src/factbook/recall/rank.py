"""Order what the legs of recall found: full text, vectors, and the turns around a turn.

Everything is a value in and a value out, and the work is a few passes of numpy over the pool: 1,500
rows take about a millisecond.

A row's score is the sum of
1. its own strength: BM25 and cosine, each as a share of the pool's best and sharpened;
2. a part of its neighbours' strength, more from the question that it answers;
3. the best strength nearby, because what belongs together is said together;
4. small corrections: asking is not telling, the named speaker, the time that the question names,
   and turns of a word or two.

`docs/ranking.md` has the figures of every part and of what was tried and left out:
- reciprocal rank fusion: it throws the distance between the first hit and the second away, and the
  weaker leg drags the better one down (below BM25 alone on dialogs);
- z-scores instead of shares of the best: equal within noise, but they depend on how deep the pool
  is, which differs from store to store;
- BM25 over windows or whole sessions, and coverage of the question's words by idf: parts 2 and 3
  say the same from the scores that are there already;
- unstemmed BM25 beside the stemmed one, the product of both legs: they raise what is high already;
- pseudo-relevance feedback (Rocchio on the vectors of the first 3 or 5): half a point either way;
- the mean vector and other corrections of hubs: the hub was the speaker's name, and it is better
  taken from the question (`query.first_person`);
- a second vector per turn that holds the turn before as well: twice the embedding for no gain once
  part 2 is there;
- the time as a filter, and its words taken out of the question: both lose to a plain bonus, because
  people tell of July in August, and the words "last year" stand in turns too.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Final

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

_SPAN: Final = 1 << 40
"""Positions of one source stay below this, so that (source, position) fits one 64-bit key."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RankWeights:
    """Weigh the parts of a score; own strength counts 1 per leg at most, the rest is relative.

    Each value stands on a plateau: half as much again or half as much, alone, moves R@5 and R@10 of
    the three development dialogs by two points at most. They are round numbers chosen by hand;
    "gains" are what is lost with 0 in their place.
    """

    lexical: float = 1.0  # BM25 against cosine; 0.75 to 1.25 are level, 2 loses four points
    sharpness: float = 1.5  # power on the shares: one clear hit beats two vague ones; gains 1
    after: float = 0.25  # of the turn before, for the turn that follows it
    before: float = 0.2  # of the turn after, for the turn that precedes it
    answer: float = 0.25  # on top of `after` when the turn before asks; gains 3.6 at R@5
    nearby: float = 0.75  # of the best row around; gains 3.8 at R@5
    reach: int = 8  # rows to either side that are "nearby"; 5 to 20 are level
    asking: float = 0.2  # against a row that asks: it resembles a question, and answers none
    speaker: float = 0.2  # for a row said by whom the question names; gains 1.5
    length: float = 0.1  # for a full row, so that "ok" stands first nowhere; level from 0 to 0.6
    full_length: int = 300  # characters from which a row counts as full; falls with the logarithm
    timely: float = 0.8  # for a row told in the time that the question names; gains 1.1 and 1.5

    def __post_init__(self) -> None:
        """Refuse weights with which a score would mean nothing."""
        counts = ("reach", "full_length")
        values = (getattr(self, one.name) for one in fields(self) if one.name not in counts)
        if not all(np.isfinite(value) and value >= 0 for value in values) or self.sharpness == 0:
            raise ValueError("RankWeights: weights are finite and not negative, sharpness above 0")
        if self.reach < 0 or self.full_length < 1:
            raise ValueError("RankWeights: reach is 0 or more and full_length 1 or more")


DEFAULT_WEIGHTS: Final = RankWeights()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CandidatePool:
    """Hold the rows to order as columns of one length: what the legs found, and their neighbours.

    Fill it with the best few hundred of each leg and the rows up to `RankWeights.reach` positions
    around them; cosines are cheap, so give them for all rows of the pool that have a vector.
    """

    ids: Ints  # each row's own number; equal scores are ordered by it, lowest first
    sources: Ints  # where it stands; negative: nowhere, so it has no neighbours
    positions: Ints  # its ordinal within the source, 0 or more; consecutive rows differ by 1
    lexical: Floats  # BM25, larger is better (FTS5's bm25() with its sign turned); NaN: not found
    cosine: Floats  # with the question's vector; NaN: the row has no vector yet
    asks: Bools  # it holds a question (`query.asks`)
    named: Bools  # it was said by someone whom the question names (`query.named_speakers`)
    lengths: Ints  # characters of its text
    timely: Bools | None = None  # it was told in the time that the question names; None: no time

    def __post_init__(self) -> None:
        """Refuse columns of different lengths and places that cannot be."""
        count = len(self.ids)
        for one in fields(self):
            column = getattr(self, one.name)
            if column is not None and len(column) != count:
                raise ValueError(
                    f"CandidatePool.{one.name} has {len(column)} rows and ids {count};"
                    " give every column one value per row"
                )
        if count and not (int(self.positions.min()) >= 0 and int(self.positions.max()) < _SPAN):
            raise ValueError("CandidatePool.positions must be from 0 to 2**40 - 1")

    def __len__(self) -> int:
        """Count the rows."""
        return len(self.ids)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Ranking:
    """Give the order of a pool and what it stands on."""

    order: NDArray[np.intp]  # rows of the pool, best first; ties by id
    scores: Floats  # of each row of the pool, in the pool's order; from 0 to 1


def fuse(pool: CandidatePool, *, weights: RankWeights = DEFAULT_WEIGHTS) -> Ranking:
    """Order a pool by text, meaning and surroundings.

    The same pool gives the same ranking in whatever order its rows come. Scores compare rows of one
    question, not of two: both legs are measured against the best of their pool.
    """
    lexical = _share(pool.lexical, missing=0.0) ** weights.sharpness
    # A row that waits for its vector is taken to be as far as the farthest row that has one:
    # as 0 it would lose to rows that vectors alone found by a thread.
    cosine = _share(pool.cosine, missing=None) ** weights.sharpness
    own = weights.lexical * lexical + cosine

    places = _Places(pool)
    strength, asks = places.strongest(own), places.any(pool.asks)
    before = places.shifted(strength, -1)
    score = (
        own
        + weights.after * before
        + weights.answer * np.where(places.shifted(asks, -1) > 0, before, 0.0)
        + weights.before * places.shifted(strength, 1)
    )
    nearby = own.copy()
    for offset in range(1, weights.reach + 1):
        np.maximum(nearby, places.shifted(strength, offset), out=nearby)
        np.maximum(nearby, places.shifted(strength, -offset), out=nearby)
    score += weights.nearby * nearby

    full = np.log1p(weights.full_length)
    length = np.log1p(np.clip(pool.lengths, 0, weights.full_length)) / full
    score += weights.speaker * pool.named + weights.length * length
    if pool.timely is not None:
        score += weights.timely * pool.timely
    # A bonus for telling is a malus for asking, and stays >= 0.
    score += weights.asking * ~pool.asks

    strongest = weights.lexical + 1.0
    around = 1.0 + weights.after + weights.answer + weights.before + weights.nearby
    ceiling = strongest * around + weights.speaker + weights.asking
    ceiling += weights.length + weights.timely
    return Ranking(order=np.lexsort((pool.ids, -score)), scores=score / ceiling)


def _share(values: Floats, *, missing: float | None) -> Floats:
    """Return each value as a share of the best, negatives as 0; `missing=None` is the least one."""
    known = np.isfinite(values)
    if not known.any():
        return np.zeros(len(values), np.float64)
    shares = np.maximum(np.where(known, values, 0.0), 0.0).astype(np.float64)
    best = shares.max()
    if best > 0:
        shares /= best
    shares[~known] = shares[known].min() if missing is None else missing
    return shares


class _Places:
    """Find rows by their place; rows at one place (a fact and its episode) count as one there."""

    def __init__(self, pool: CandidatePool) -> None:
        self._placed = pool.sources >= 0
        # The store's numbers may be any size; within a pool they are few.
        _, compact = np.unique(pool.sources, return_inverse=True)
        self._keys: Ints = compact.astype(np.int64) * (2 * _SPAN) + _SPAN // 2 + pool.positions
        self._known, self._slots = np.unique(self._keys[self._placed], return_inverse=True)

    def strongest(self, values: Floats) -> Floats:
        """Return the largest value at each place."""
        zeros = np.zeros(len(self._known), np.float64)
        np.maximum.at(zeros, self._slots, values[self._placed])
        return zeros

    def any(self, flags: Bools) -> Floats:
        """Return 1 for each place where a row has the flag."""
        return self.strongest(flags.astype(np.float64))

    def shifted(self, at_places: Floats, offset: int) -> Floats:
        """Return for each row the value `offset` positions on, 0 where the pool has none."""
        if not len(self._known):
            return np.zeros(len(self._keys), np.float64)
        wanted = self._keys + offset
        slots = np.minimum(np.searchsorted(self._known, wanted), len(self._known) - 1)
        there = self._placed & (self._known[slots] == wanted)
        return np.where(there, at_places[slots], 0.0)
