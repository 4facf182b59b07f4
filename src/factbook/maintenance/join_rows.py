"""Compare rows of vectors: a look at some, crowds of the same, and the pairs that are found."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Ids = NDArray[np.int64]
Mask = NDArray[np.bool_]
Vectors = NDArray[np.floating[Any]]

EXACT_ROWS: Final = 20_000
"""So many rows are compared each with each, which takes about 2 CPU seconds; by lists more rows
take no longer, but not all pairs are found."""

MAX_PAIRS: Final = 5_000_000
"""Pairs held at once, 12 bytes each, and some 30 more while they are thinned out or sorted."""

SAME: Final = 0.9999
"""Rows of this cosine are the same but for rounding: texts that differ in one letter are not."""

CROWD: Final = 32
"""So many rows that are the same are still paired each with each: at most 496 pairs."""

SAMPLE_ROWS: Final = 1_000
"""Rows compared with all others to find the margin."""

SAMPLE_RECALL: Final = 0.999
"""Share of the sampled pairs that the margin finds, unless told otherwise; it found 99.9 % of all
pairs of 100,000 rows, where 99.7 % of the sampled ones would have saved little time."""

ENOUGH_PAIRS: Final = 1_000
"""Pairs that can tell a margin for 1 pair in 1000; with fewer, pairs are made."""

USED_PAIRS: Final = 20_000
"""Pairs that the margin is measured on at most: more would not move it."""

ROW_PAIRS: Final = 1_000
"""Pairs of one sampled row that are kept; of more, every second, third ... stands for them."""

LISTS_PER_ROOT: Final = 2.0
"""Lists per sqrt(n): fewer are longer to compare, more take longer to find."""

LEARN_ROUNDS: Final = 4
"""Rounds of k-means; more make the lists no better for this."""

LEARN_ROWS: Final = 32
"""Rows for each list that k-means learns from."""

MOST_PROBED: Final = 0.1
"""Share of the lists from which on each row is compared with each: to note who looks where would
take as much memory as the vectors, to save less and less."""

FEW_NEW: Final = 8
"""A join of some rows with all compares them with each if they are one in so many or fewer."""

DENSE: Final = 1 / 16
"""Share of near pairs in a block from which on finding the nearest of its rows there costs less
than collecting all and thinning them out."""

BLOCK: Final = 2**21
"""Cosines computed at once: 8 MB."""

BLOCK_ROWS: Final = 4_096
"""Rows of a block on its long side, against 512 on the other: a square, or one much thinner, keeps
two threads waiting for each other."""

_MIXERS_SEED: Final = 41  # any fixed number: makes the odd factors of the hash of a row's bits


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Pairs:
    """Pairs of rows, each once, ordered by `left` and then `right`.

    Within one set of vectors `left < right`. Between two sets each side has its own numbers.
    """

    left: Ids  # (pairs,): row numbers
    right: Ids  # (pairs,): row numbers
    cosine: Floats  # (pairs,): at most 1
    grouped: int = 0  # rows that are paired only with the row that stands for their crowd
    nearest: int | None = None  # pairs beyond this many nearest of both rows are not here

    def __len__(self) -> int:
        """Count the pairs."""
        return len(self.left)


class PairCollector:
    """Collects pairs, at most `MAX_PAIRS`: then only the nearest of each row go on counting."""

    def __init__(self, rows: int, *, threshold: float, nearest: int | None) -> None:
        self.rows = rows
        self.threshold = threshold
        self.nearest = nearest  # of each row; None: all
        self._floor: Floats | None = None  # (rows,): a lower cosine is not among a row's nearest
        self._size = 0
        # Pages of these are taken from the machine only when they are written.
        self._left = np.empty(MAX_PAIRS, np.int32)
        self._right = np.empty(MAX_PAIRS, np.int32)
        self._cosine = np.empty(MAX_PAIRS, np.float32)

    def limit(self) -> None:
        """Let only so many nearest of each row count that all of them fit twice."""
        most = max(1, MAX_PAIRS // 2 // max(1, self.rows))
        self.nearest = most if self.nearest is None else min(most, self.nearest)

    def near(
        self, floats: Floats, at: Ids, other: Floats, others: Ids
    ) -> tuple[NDArray[np.intp], NDArray[np.intp], Floats]:
        """Compare two blocks whose rows have the numbers `at` and `others`; return what is near."""
        cosines = floats @ other.T
        near = self._enough(cosines, at, others)
        most = self.nearest
        if most is not None and np.count_nonzero(near) > DENSE * near.size:
            for numbers, block in ((at, cosines), (others, cosines.T)):
                place = block.shape[1] - most - 1  # one more than count: a row may meet itself
                if place >= 0:
                    last = np.partition(block, place, axis=1)[:, place]
                    # Computed in another block, these cosines may come out a little lower.
                    self._raise_floor(numbers, last - np.float32(1e-6))
            near = self._enough(cosines, at, others)
        flat = np.flatnonzero(near)
        i, j = np.divmod(flat, len(others)) if len(flat) else (flat, flat)
        return at[i], others[j], cosines.ravel()[flat]

    def add(self, left: Ids, right: Ids, cosine: Floats) -> None:
        """Take pairs that were not taken before."""
        done = 0
        while done < len(left):
            if self._size == MAX_PAIRS:
                self.limit()
                self._thin()
            some = min(len(left) - done, MAX_PAIRS - self._size)
            into = slice(self._size, self._size + some)
            self._left[into] = left[done : done + some]
            self._right[into] = right[done : done + some]
            self._cosine[into] = cosine[done : done + some]
            self._size += some
            done += some

    def pairs(self) -> tuple[Ids, Ids, Floats]:
        """Return all that was found, in order."""
        if self.nearest is not None:
            self._thin()
        left, right = self._left[: self._size], self._right[: self._size]
        key = left.astype(np.int64)
        key *= self.rows
        key += right
        order = np.argsort(key)
        del key
        cosine = np.minimum(self._cosine[: self._size][order], np.float32(1))
        return left[order].astype(np.int64), right[order].astype(np.int64), cosine

    def _enough(self, cosines: Floats, at: Ids, others: Ids) -> Mask:
        """Tell which cosines may count for either of their rows."""
        if self._floor is None:
            return cosines >= self.threshold
        return cosines >= np.minimum(self._floor[at][:, None], self._floor[others])

    def _raise_floor(self, at: Ids, cosines: Floats) -> None:
        """Note a cosine that each of some rows has to as many others as count."""
        if self._floor is None:
            self._floor = np.full(self.rows, self.threshold, np.float32)
        self._floor[at] = np.maximum(self._floor[at], cosines)

    def _thin(self) -> None:
        """Keep the pairs that are among the nearest of either row."""
        size, most = self._size, self.nearest
        if most is None or size == 0:
            return
        left, right, cosine = self._left[:size], self._right[:size], self._cosine[:size]
        # One number orders by row and then from the nearest: bits of a positive float ascend.
        key = np.empty(2 * size, np.uint64)
        key[:size], key[size:] = left, right
        key <<= np.uint64(32)
        key[:size] |= ~cosine.view(np.uint32)
        key[size:] |= ~cosine.view(np.uint32)
        order = np.argsort(key, kind="stable")
        del key
        degree = np.bincount(left, minlength=self.rows) + np.bincount(right, minlength=self.rows)
        starts = np.cumsum(degree) - degree
        busy = np.flatnonzero(degree >= most)
        last = order[starts[busy] + most - 1] % size
        # What only equals the last may stay out: else equal cosines could fill this up for ever.
        self._raise_floor(busy, np.nextafter(cosine[last], np.float32(2)))
        count = np.minimum(degree, most)
        places = np.arange(count.sum()) + np.repeat(starts - np.cumsum(count) + count, count)
        keep = np.zeros(size, np.bool_)
        keep[order[places] % size] = True
        kept = int(np.count_nonzero(keep))
        for array in (self._left, self._right, self._cosine):
            array[:kept] = array[:size][keep]
        self._size = kept


def finish_pairs(collector: PairCollector, crowds: _Crowds, only: Mask | None = None) -> Pairs:
    """Give the pairs the numbers of the caller's rows, and add those of the crowds."""
    left, right, cosine = collector.pairs()
    left, right = crowds.kept[left], crowds.kept[right]
    grouped = len(crowds.member)
    if grouped:
        first = np.minimum(crowds.member, crowds.stands)
        second = np.maximum(crowds.member, crowds.stands)
        ours = slice(None) if only is None else only[first] | only[second]
        left = np.concatenate((left, first[ours]))
        right = np.concatenate((right, second[ours]))
        cosine = np.concatenate((cosine, crowds.cosine[ours]))
        order = np.lexsort((right, left))
        left, right, cosine = left[order], right[order], cosine[order]
    return Pairs(left=left, right=right, cosine=cosine, grouped=grouped, nearest=collector.nearest)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Crowds:
    """Rows that take part, and rows for which another one stands."""

    kept: Ids  # (kept,): numbers of the rows that take part, ascending
    member: Ids  # (grouped,): rows for which another stands
    stands: Ids  # (grouped,): the row that stands for each; it may itself be a later one's member
    cosine: Floats  # (grouped,)

    def then(self, later: _Crowds) -> _Crowds:
        """Return this after a second grouping of the rows that it had kept."""
        return _Crowds(
            kept=self.kept[later.kept],
            member=np.concatenate((self.member, self.kept[later.member])),
            stands=np.concatenate((self.stands, self.kept[later.stands])),
            cosine=np.concatenate((self.cosine, later.cosine)),
        )


def _nobody(count: int) -> _Crowds:
    none = np.empty(0, np.int64)
    return _Crowds(kept=np.arange(count), member=none, stands=none, cosine=np.empty(0, np.float32))


def _grouped(member: Ids, stands: Ids, cosine: Floats) -> _Crowds:
    """Let a row stand for each member; `stands` and `cosine` are of all rows."""
    kept = np.ones(len(stands), np.bool_)
    kept[member] = False
    return _Crowds(
        kept=np.flatnonzero(kept),
        member=member,
        stands=stands[member],
        cosine=np.minimum(cosine[member], np.float32(1)),
    )


def identical_crowds(vectors: Vectors) -> _Crowds:
    """Group rows that are equal bit by bit, where they are more than `CROWD`."""
    count = len(vectors)
    if count <= CROWD or not vectors.shape[1]:
        return _nobody(count)
    kind = np.dtype(f"u{vectors.dtype.itemsize}")
    mixers = np.random.default_rng(_MIXERS_SEED).integers(
        0, 2**64, vectors.shape[1], np.uint64
    ) | np.uint64(1)
    sums = np.empty(count, np.uint64)
    for some in steps(count, BLOCK // vectors.shape[1] + 1):
        bits = np.ascontiguousarray(vectors[some]).view(kind)
        sums[some] = (bits * mixers).sum(axis=1, dtype=np.uint64)
    _, first, which, size = np.unique(
        sums, return_index=True, return_inverse=True, return_counts=True
    )
    stands = first[which]
    stands[size[which] <= CROWD] = -1
    member = np.flatnonzero((stands >= 0) & (stands != np.arange(count)))
    for some in steps(len(member), BLOCK_ROWS):  # a sum is only a hint that rows are equal
        at = member[some]
        unlike = at[(vectors[at] != vectors[stands[at]]).any(axis=1)]
        stands[unlike] = -1
    member = member[stands[member] >= 0]
    return _grouped(member, stands, np.ones(count, np.float32))


def alike_crowds(rows: Floats, seen: Look) -> _Crowds | None:
    """Group rows that are nearly equal to a sampled row, where they are more than `CROWD`."""
    waiting = seen.sample[seen.same >= CROWD]
    stands = np.full(len(rows), -1)
    cosine = np.empty(len(rows), np.float32)
    step = _look_rows(len(rows))
    while len(waiting):
        some, waiting = waiting[:step], waiting[step:]
        cosines = _against_all(rows[some], rows)
        for row, near in zip(some.tolist(), cosines, strict=True):
            if stands[row] >= 0:
                continue  # another sampled row of the same crowd stands for it
            crowd = np.flatnonzero((near >= SAME) & (stands < 0))
            if len(crowd) > CROWD:
                stands[crowd] = row
                cosine[crowd] = near[crowd]
        waiting = waiting[stands[waiting] < 0]
    member = np.flatnonzero((stands >= 0) & (stands != np.arange(len(rows))))
    if not len(member):
        return None
    return _grouped(member, stands, cosine)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Look:
    """What comparing some rows with all has shown."""

    sample: Ids  # (sample,): the rows that were looked at
    same: Ids  # (sample,): how many others are nearly equal to each
    estimate: float  # how many pairs all rows have, about
    owner: Ids  # (seen,): of each pair that was kept, the place in `sample` ...
    partner: Ids  # (seen,): ... and the other row
    cosine: Floats  # (seen,)
    weight: NDArray[np.float64]  # (seen,): for how many pairs of its row it stands

    def nearest(self, most: int | None) -> NDArray[np.bool_]:
        """Tell which pairs are among the nearest of their row, about."""
        if most is None:
            return np.ones(len(self.owner), np.bool_)
        order = np.lexsort((-self.cosine, self.owner))
        weight = self.weight[order]
        ahead = np.cumsum(weight) - weight
        starts = np.flatnonzero(np.diff(self.owner[order], prepend=-1))
        sizes = np.diff(starts, append=len(order))
        chosen = np.zeros(len(order), np.bool_)
        chosen[order] = ahead - np.repeat(ahead[starts], sizes) < most
        return chosen


def look_at(rows: Floats, threshold: float, rng: np.random.Generator) -> Look:
    """Compare some rows with all."""
    count = len(rows)
    sample = np.sort(rng.choice(count, min(SAMPLE_ROWS, count), replace=False))
    same = np.empty(len(sample), np.int64)
    degree = np.empty(len(sample), np.int64)
    owners, partners, cosines, weights = [], [], [], []
    for some in steps(len(sample), _look_rows(count)):
        block = _against_all(rows[sample[some]], rows)
        for place, near in zip(range(some.start, some.stop), block, strict=True):
            near[sample[place]] = -1
            partner = np.flatnonzero(near >= threshold)
            degree[place] = len(partner)
            same[place] = np.count_nonzero(near[partner] >= SAME)
            partner = partner[:: -(-len(partner) // ROW_PAIRS) or 1].copy()  # lets go of the rest
            owners.append(np.full(len(partner), place))
            partners.append(partner)
            cosines.append(near[partner])
            weights.append(np.full(len(partner), degree[place] / max(1, len(partner))))
    return Look(
        sample=sample,
        same=same,
        estimate=float(degree.mean()) * count / 2,
        owner=np.concatenate(owners),
        partner=np.concatenate(partners),
        cosine=np.concatenate(cosines),
        weight=np.concatenate(weights),
    )


def _look_rows(count: int) -> int:
    """Return how many rows are compared with all at once."""
    return int(np.clip(8 * BLOCK // count, 16, 512))


def _against_all(some: Floats, rows: Floats) -> Floats:
    """Return the cosines of some rows to all rows: shape (some, rows)."""
    cosines = np.empty((len(some), len(rows)), np.float32)
    for part in steps(len(rows), BLOCK_ROWS):  # the long side first: see BLOCK_ROWS
        cosines[:, part] = (rows[part] @ some.T).T
    return cosines


def steps(count: int, size: int, *, start: int = 0) -> Iterator[slice]:
    """Cut row numbers up to `count` into runs of `size`."""
    for first in range(start, count, size):
        yield slice(first, min(first + size, count))


def check_options(threshold: float, nearest: int | None) -> None:
    if not 0 < threshold <= 1:
        raise ValueError(f"threshold is {threshold}; give a cosine above 0 and up to 1")
    if nearest is not None and nearest < 1:
        raise ValueError(f"nearest is {nearest}; give at least 1, or None for all pairs")


def check_shape(vectors: Vectors, what: str) -> None:
    if vectors.ndim != 2 or vectors.dtype.kind != "f":
        raise ValueError(
            f"{what} are {vectors.dtype} of shape {vectors.shape}; give floats of shape (rows, dim)"
        )


def unit_rows(vectors: Vectors, at: Ids, what: str) -> Floats:
    """Return some rows as float32 of length 1; `what` names what a bad row belongs to."""
    rows = np.empty((len(at), vectors.shape[1]), np.float32)
    for some in steps(len(at), 2 * BLOCK_ROWS):
        wide = vectors[at[some]].astype(np.float64)
        length = np.sqrt(np.vecdot(wide, wide))
        bad = np.flatnonzero(~(np.isfinite(length) & (length > 0)))
        if len(bad):
            why = "zero" if length[bad[0]] == 0 else "not finite"
            raise ValueError(
                f"row {at[some][bad[0]]} of {what} is {why}, so it has no direction; embed it again"
            )
        wide /= length[:, None]
        rows[some] = wide
    return rows
