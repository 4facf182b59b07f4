"""Find all pairs of vectors that are near each other, without the matrix of all pairs.

Knows: arrays, row numbers, cosine similarity. Does not know: the store, facts, what a pair means.

Up to `EXACT_ROWS` rows are compared each with each, in blocks that stay in a core's cache. More are
joined by inverted lists, as a vector index of that kind would search them:

1. spherical k-means on some of the rows gives about two times sqrt(n) centres; the rows nearest to
   a centre are its list;
2. a row is compared with its own list, and with every list whose centre is nearly as near to it as
   its own: nearer than that less a margin. A pair is found if either row looks into the other's
   list, which needs a far smaller margin than if one given row had to;
3. the margin is measured in the run itself. Some rows are compared with all, exactly, and the
   margin is what finds the wanted share of their pairs, counted by pairs and counted by rows.
   Where the rows have too few pairs to tell, pairs are made: a row and itself, moved towards
   another row until their cosine is the threshold.

Rows without structure would be compared with most lists; they are compared each with each instead.
Equal input and seed give equal pairs.

What is not returned, so that the answer cannot grow with the square:

- Of more than `CROWD` rows that are equal bit by bit, the first stands for all: the others are
  paired with it alone, and a row near to them is paired with it alone. Where all pairs would be
  more than `MAX_PAIRS`, rows of a cosine of `SAME` or more to one row are treated like that too.
- Where pairs are more than `MAX_PAIRS` even so, only the nearest of each row are returned, and
  `Pairs.nearest` says how many.

Why so, and what was rejected:

- A margin, not a number of lists for each row: at equal recall it compares half as many pairs,
  since a row in the middle of its list needs no second one.
- Exact pruning by the triangle inequality: lists are about 55 degrees wide and near means 32, so
  almost no list can be ruled out.
- Raising the threshold where there are too many pairs: one crowd of rows that are very near each
  other would silence the rest.
- A graph of neighbours finds the nearest, not all above a threshold, and building one costs more.

Cosines are sums of float32 products: a pair within about 1e-6 of the threshold may fall either way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from factbook import policy

__all__ = ["Pairs", "Progress", "components", "cross_pairs", "near_pairs", "near_pairs_of"]

Floats = NDArray[np.float32]
Ids = NDArray[np.int64]
Mask = NDArray[np.bool_]
Vectors = NDArray[np.floating[Any]]

Progress = Callable[[int], None]
"""Called now and then with the number of rows done since the last call; they add up to all rows."""

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


def near_pairs(
    vectors: Vectors,
    *,
    threshold: float = policy.MERGE_SIMILARITY,
    nearest: int | None = None,
    recall: float = SAMPLE_RECALL,
    exact_rows: int = EXACT_ROWS,
    seed: int = 0,
    progress: Progress | None = None,
) -> Pairs:
    """Return the pairs of rows whose cosine is at least `threshold`.

    `vectors` has shape (rows, dim); rows count by their direction, whatever their length. With
    `nearest`, a pair is returned only if one of its rows is among that many nearest of the other.
    More than `exact_rows` rows are joined by inverted lists, which find about `recall` of the pairs
    (see the module; 1 finds all, and compares all); `seed` chooses what they learn from. The lower
    the threshold, the more the last pairs cost: at 0.5, the last 2 % take most of the time.

    Memory beyond the input: 4 bytes for each number of the vectors, and some tens of MB; at most
    400 MB where pairs are too many.
    Raises ValueError for a row that is zero or not finite, and for options out of range.
    """
    _check_options(threshold, nearest)
    if not 0 < recall <= 1:
        raise ValueError(f"recall is {recall}; give a share of the pairs above 0 and up to 1")
    _check_shape(vectors, "the vectors")
    total = len(vectors)
    told = progress or _ignore
    rng = np.random.default_rng(seed)
    crowds = _identical(vectors)
    rows = _unit(vectors, crowds.kept, "the vectors")
    seen: _Look | None = None
    while len(rows) > exact_rows or len(rows) * (len(rows) - 1) // 2 > MAX_PAIRS:
        seen = _look(rows, threshold, rng)
        if seen.estimate <= MAX_PAIRS:
            break
        closer = _alike(rows, seen)
        if closer is None:
            break
        rows = rows[closer.kept]
        crowds = crowds.then(closer)
        seen = None
    found = _Found(len(rows), threshold=threshold, nearest=nearest)
    if seen is not None and seen.estimate > MAX_PAIRS:
        found.limit()
    told(total - len(rows))
    plan = None
    if len(rows) > exact_rows and seen is not None and recall < 1:
        plan = _plan(rows, seen, found, recall, rng)
    del seen
    if plan is None:
        _join_exactly(rows, found, told)
    else:
        _join_by_lists(rows, *plan, found, told)
    return _finish(found, crowds)


def near_pairs_of(
    new: ArrayLike,
    vectors: Vectors,
    *,
    threshold: float = policy.MERGE_SIMILARITY,
    nearest: int | None = None,
    progress: Progress | None = None,
) -> Pairs:
    """Return the pairs of `near_pairs` in which at least one row is among `new`.

    `new` holds row numbers of `vectors`, in any order. A few new rows are compared with all rows,
    exactly; where they are more than one in `FEW_NEW` of very many rows, the whole join costs less
    and is made. `progress` counts the new rows. With `nearest`, only what new rows are near to
    counts: a pair is returned if it is among that many nearest of one of them, or among that many
    nearest new rows of the other.

    Raises ValueError as `near_pairs` does, and for a number that is not that of a row.
    """
    _check_options(threshold, nearest)
    _check_shape(vectors, "the vectors")
    total = len(vectors)
    wanted = np.asarray(new)
    if wanted.ndim != 1 or (wanted.size and wanted.dtype.kind not in "iu"):
        raise ValueError(
            f"new rows are {wanted.dtype} of shape {wanted.shape}; give a flat list of row numbers"
        )
    wanted = np.unique(wanted.astype(np.int64))
    if len(wanted) and (wanted[0] < 0 or wanted[-1] >= total):
        wrong = wanted[0] if wanted[0] < 0 else wanted[-1]
        raise ValueError(f"new row {wrong} is none of the {total} rows; give numbers below that")
    told = progress or _ignore
    is_new = np.zeros(total, np.bool_)
    is_new[wanted] = True
    if total > EXACT_ROWS and len(wanted) > total // FEW_NEW:
        every = near_pairs(vectors, threshold=threshold, nearest=nearest)
        told(len(wanted))
        ours = is_new[every.left] | is_new[every.right]
        return Pairs(
            left=every.left[ours],
            right=every.right[ours],
            cosine=every.cosine[ours],
            grouped=every.grouped,
            nearest=every.nearest,
        )
    crowds = _identical(vectors)
    rows = _unit(vectors, crowds.kept, "the vectors")
    fresh = is_new[crowds.kept]
    asked = np.flatnonzero(fresh)
    told(len(wanted) - len(asked))
    found = _Found(len(rows), threshold=threshold, nearest=nearest)
    for some in _steps(len(asked), BLOCK_ROWS):
        at = asked[some]
        one = rows[at]
        for others in _steps(len(rows), BLOCK // BLOCK_ROWS):
            i, j, cosine = found.near(one, at, rows[others], np.arange(others.start, others.stop))
            once = (i < j) | (~fresh[j] & (i != j))
            i, j, cosine = i[once], j[once], cosine[once]
            found.add(np.minimum(i, j), np.maximum(i, j), cosine)
        told(len(at))
    return _finish(found, crowds, is_new)


def cross_pairs(
    left: Vectors,
    right: Vectors,
    *,
    threshold: float = policy.EVIDENCE_SIMILARITY,
    nearest: int | None = None,
    progress: Progress | None = None,
) -> Pairs:
    """Return the pairs of a `left` and a `right` row whose cosine is at least `threshold`.

    Exact: every row of one is compared with every row of the other, in blocks. Equal rows are not
    grouped, but where pairs are more than `MAX_PAIRS`, only the nearest of each row are returned,
    as with `nearest`, and `Pairs.nearest` says how many. `progress` counts the rows of `left`.

    Raises ValueError for a row that is zero or not finite, and for vectors of unlike dimensions.
    """
    _check_options(threshold, nearest)
    _check_shape(left, "the left vectors")
    _check_shape(right, "the right vectors")
    if len(left) and len(right) and left.shape[1] != right.shape[1]:
        raise ValueError(
            f"the left vectors have {left.shape[1]} dimensions and the right ones "
            f"{right.shape[1]}; embed both with the same model"
        )
    told = progress or _ignore
    count = len(left)
    found = _Found(count + len(right), threshold=threshold, nearest=nearest)
    others = _unit(right, np.arange(len(right)), "the right vectors")
    numbers = np.arange(count, count + len(right))  # both sides in one row of numbers
    for some in _steps(count, BLOCK_ROWS):
        at = np.arange(some.start, some.stop)
        one = _unit(left, at, "the left vectors")
        for part in _steps(len(right), BLOCK // BLOCK_ROWS):
            found.add(*found.near(one, at, others[part], numbers[part]))
        told(len(at))
    first, second, cosine = found.pairs()
    return Pairs(left=first, right=second - count, cosine=cosine, nearest=found.nearest)


def components(n: int, left: ArrayLike, right: ArrayLike) -> list[list[int]]:
    """Return the connected components of more than one row, each ascending, by their first row.

    Every round hangs each root that has a lower neighbour under one; only a root below all its
    neighbours remains, so roots at least halve, and few rounds join any graph.
    """
    one, other = np.asarray(left, np.int64), np.asarray(right, np.int64)
    if one.shape != other.shape or one.ndim != 1:
        raise ValueError(f"pairs have {one.shape} left and {other.shape} right rows; give as many")
    for ends in (one, other):
        wrong = ends[(ends < 0) | (ends >= n)]
        if len(wrong):
            raise ValueError(f"a pair names row {wrong[0]}, but there are {n} rows, from 0 on")
    root = np.arange(n)
    while len(one):
        one, other = root[one], root[other]
        apart = one != other
        one, other = one[apart], other[apart]
        np.minimum.at(root, np.maximum(one, other), np.minimum(one, other))
        above = root[root]
        while not np.array_equal(above, root):
            root = above
            above = root[root]
    order = np.argsort(root, kind="stable")
    starts = np.flatnonzero(np.diff(root[order], prepend=-1))
    return [part.tolist() for part in np.split(order, starts[1:]) if len(part) > 1]


# --- what has been found --------------------------------------------------------------------------


class _Found:
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
        self, one: Floats, at: Ids, other: Floats, others: Ids
    ) -> tuple[NDArray[np.intp], NDArray[np.intp], Floats]:
        """Compare two blocks whose rows have the numbers `at` and `others`; return what is near."""
        cosines = one @ other.T
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


def _finish(found: _Found, crowds: _Crowds, only: Mask | None = None) -> Pairs:
    """Give the pairs the numbers of the caller's rows, and add those of the crowds."""
    left, right, cosine = found.pairs()
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
    return Pairs(left=left, right=right, cosine=cosine, grouped=grouped, nearest=found.nearest)


# --- rows that are the same -----------------------------------------------------------------------


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


def _identical(vectors: Vectors) -> _Crowds:
    """Group rows that are equal bit by bit, where they are more than `CROWD`."""
    count = len(vectors)
    if count <= CROWD or not vectors.shape[1]:
        return _nobody(count)
    kind = np.dtype(f"u{vectors.dtype.itemsize}")
    mixers = np.random.default_rng(_MIXERS_SEED).integers(
        0, 2**64, vectors.shape[1], np.uint64
    ) | np.uint64(1)
    sums = np.empty(count, np.uint64)
    for some in _steps(count, BLOCK // vectors.shape[1] + 1):
        bits = np.ascontiguousarray(vectors[some]).view(kind)
        sums[some] = (bits * mixers).sum(axis=1, dtype=np.uint64)
    _, first, which, size = np.unique(
        sums, return_index=True, return_inverse=True, return_counts=True
    )
    stands = first[which]
    stands[size[which] <= CROWD] = -1
    member = np.flatnonzero((stands >= 0) & (stands != np.arange(count)))
    for some in _steps(len(member), BLOCK_ROWS):  # a sum is only a hint that rows are equal
        at = member[some]
        unlike = at[(vectors[at] != vectors[stands[at]]).any(axis=1)]
        stands[unlike] = -1
    member = member[stands[member] >= 0]
    kept = np.ones(count, np.bool_)
    kept[member] = False
    return _Crowds(
        kept=np.flatnonzero(kept),
        member=member,
        stands=stands[member],
        cosine=np.ones(len(member), np.float32),
    )


def _alike(rows: Floats, seen: _Look) -> _Crowds | None:
    """Group rows that are nearly equal to a sampled row, where they are more than `CROWD`."""
    waiting = seen.sample[seen.same >= CROWD]
    stands = np.full(len(rows), -1)
    cosine = np.empty(len(rows), np.float32)
    step = _look_rows(len(rows))
    while len(waiting):
        some, waiting = waiting[:step], waiting[step:]
        cosines = _against_all(rows[some], rows)
        for one, near in zip(some.tolist(), cosines, strict=True):
            if stands[one] >= 0:
                continue  # another sampled row of the same crowd stands for it
            crowd = np.flatnonzero((near >= SAME) & (stands < 0))
            if len(crowd) > CROWD:
                stands[crowd] = one
                cosine[crowd] = near[crowd]
        waiting = waiting[stands[waiting] < 0]
    member = np.flatnonzero((stands >= 0) & (stands != np.arange(len(rows))))
    if not len(member):
        return None
    kept = np.ones(len(rows), np.bool_)
    kept[member] = False
    return _Crowds(
        kept=np.flatnonzero(kept),
        member=member,
        stands=stands[member],
        cosine=np.minimum(cosine[member], np.float32(1)),
    )


# --- a look at some rows --------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Look:
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


def _look(rows: Floats, threshold: float, rng: np.random.Generator) -> _Look:
    """Compare some rows with all."""
    count = len(rows)
    sample = np.sort(rng.choice(count, min(SAMPLE_ROWS, count), replace=False))
    same = np.empty(len(sample), np.int64)
    degree = np.empty(len(sample), np.int64)
    owners, partners, cosines, weights = [], [], [], []
    for some in _steps(len(sample), _look_rows(count)):
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
    return _Look(
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
    for part in _steps(len(rows), BLOCK_ROWS):  # the long side first: see BLOCK_ROWS
        cosines[:, part] = (rows[part] @ some.T).T
    return cosines


# --- inverted lists -------------------------------------------------------------------------------


def _centres(rows: Floats, rng: np.random.Generator) -> Floats:
    """Return unit centres of the rows, by spherical k-means on some of them."""
    count = len(rows)
    lists = min(count, max(1, int(LISTS_PER_ROOT * count**0.5)))
    some = rows[np.sort(rng.choice(count, min(count, lists * LEARN_ROWS), replace=False))]
    centres = some[np.sort(rng.choice(len(some), lists, replace=False))]
    for _ in range(LEARN_ROUNDS):
        nearest = np.concatenate(
            [(some[part] @ centres.T).argmax(axis=1) for part in _steps(len(some), _wide(centres))]
        )
        order = np.argsort(nearest, kind="stable")
        starts = np.flatnonzero(np.diff(nearest[order], prepend=-1))  # of lists that are not empty
        sums = np.add.reduceat(some[order], starts, axis=0)
        length = np.sqrt(np.vecdot(sums, sums))
        centres = sums / np.maximum(length, np.finfo(np.float32).tiny)[:, None]
    return centres


def _wide(centres: Floats) -> int:
    """Return how many rows are compared with all centres at once."""
    return max(1, BLOCK // len(centres))


def _plan(
    rows: Floats, seen: _Look, found: _Found, recall: float, rng: np.random.Generator
) -> tuple[Floats, float] | None:
    """Return centres and the margin; None where each row is better compared with each."""
    centres = _centres(rows, rng)
    pairs = _sampled_pairs(rows, seen, found.threshold, found.nearest, rng)
    margin = _margin(rows[seen.sample], centres, pairs, recall)
    return None if margin is None else (centres, margin)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Sampled:
    """Pairs on which the margin is measured."""

    one: Floats  # (pairs, dim)
    other: Floats  # (pairs, dim)
    by_pair: NDArray[np.float64]  # (pairs,): weight, where every pair counts as much
    by_row: NDArray[np.float64]  # (pairs,): weight, where every row with pairs counts as much


def _sampled_pairs(
    rows: Floats,
    seen: _Look,
    threshold: float,
    nearest: int | None,
    rng: np.random.Generator,
) -> _Sampled:
    """Return pairs that were seen, and made ones where those are too few."""
    chosen = np.flatnonzero(seen.nearest(nearest))
    if len(chosen) > USED_PAIRS:
        chosen = chosen[np.linspace(0, len(chosen) - 1, USED_PAIRS).astype(np.int64)]
    owner, weight = seen.owner[chosen], seen.weight[chosen]
    of_row = np.bincount(owner, weights=weight, minlength=len(seen.sample))[owner]
    made = max(0, ENOUGH_PAIRS - len(chosen))
    at, towards = rng.integers(0, len(rows), (2, made))
    return _Sampled(
        one=np.concatenate((rows[seen.sample[owner]], rows[at])),
        other=np.concatenate(
            (rows[seen.partner[chosen]], _moved(rows[at], rows[towards], threshold))
        ),
        by_pair=np.concatenate((weight, np.ones(made))),
        by_row=np.concatenate((weight / of_row, np.ones(made))),
    )


def _margin(sample: Floats, centres: Floats, pairs: _Sampled, recall: float) -> float | None:
    """Return how much farther than its own list another one may be for a row to look into it.

    None: more lists would have to be looked into than `MOST_PROBED`.
    """
    needed = np.concatenate(
        [
            _needed(pairs.one[some], pairs.other[some], centres)
            for some in _steps(len(pairs.one), _wide(centres))
        ]
    )
    margin = max(_quantile(needed, weight, recall) for weight in (pairs.by_pair, pairs.by_row))
    margin += 1e-5  # the same cosine, computed in another block, may differ by that
    looks = 0
    for some in _steps(len(sample), _wide(centres)):
        near = sample[some] @ centres.T
        looks += int(np.count_nonzero(near >= near.max(axis=1, keepdims=True) - margin))
    return margin if looks <= MOST_PROBED * len(sample) * len(centres) else None


def _needed(one: Floats, other: Floats, centres: Floats) -> Floats:
    """Return the least margin by which either row of each pair looks into the other's list."""
    at = np.arange(len(one))
    first, second = one @ centres.T, other @ centres.T
    list_of_one, list_of_other = first.argmax(axis=1), second.argmax(axis=1)
    needed: Floats = np.minimum(
        first[at, list_of_one] - first[at, list_of_other],
        second[at, list_of_other] - second[at, list_of_one],
    )
    return needed


def _moved(rows: Floats, others: Floats, cosine: float) -> Floats:
    """Return each row moved towards another one, until its cosine to where it was is `cosine`."""
    across = others - np.vecdot(rows, others)[:, None] * rows
    length = np.maximum(np.sqrt(np.vecdot(across, across)), np.finfo(np.float32).tiny)
    moved: Floats = cosine * rows + np.sqrt(1 - cosine**2) * across / length[:, None]
    return moved.astype(np.float32)


def _quantile(values: Floats, weights: NDArray[np.float64], share: float) -> float:
    """Return the least value that this share of the weight does not exceed."""
    order = np.argsort(values)
    below = np.cumsum(weights[order])
    place = int(np.searchsorted(below, share * below[-1]))
    return float(values[order[min(place, len(order) - 1)]])


def _join_by_lists(
    rows: Floats, centres: Floats, margin: float, found: _Found, told: Progress
) -> None:
    """Compare each row with the lists that it looks into."""
    count, lists = len(rows), len(centres)
    own = np.empty(count, np.int32)  # the list of each row
    looks = []  # row * lists + list, ascending: which row looks into which list
    for some in _steps(count, _wide(centres)):
        near = rows[some] @ centres.T
        own[some] = near.argmax(axis=1)
        flat = np.flatnonzero(near >= near.max(axis=1, keepdims=True) - margin)
        looks.append(flat + some.start * lists)
    looking = np.concatenate(looks)
    del looks
    members = np.split(np.argsort(own, kind="stable"), _ends(own, lists))
    into = (looking % lists).astype(np.int32)
    order = np.argsort(into, kind="stable")
    lookers = np.split(looking[order] // lists, _ends(into, lists))
    for number, (inside, outside) in enumerate(zip(members, lookers, strict=True)):
        if not len(inside):
            continue
        listed = rows[inside]
        for some in _steps(len(outside), max(1, BLOCK // len(inside))):
            at = outside[some]
            i, j, cosine = found.near(rows[at], at, listed, inside)
            # A pair is met twice if each looks into the other's list; the lower row's look counts.
            once = i < j
            late = np.flatnonzero((i > j) & (own[i] != number))
            key = j[late] * lists + own[i[late]]
            place = np.minimum(np.searchsorted(looking, key), len(looking) - 1)
            once[late[looking[place] != key]] = True
            i, j, cosine = i[once], j[once], cosine[once]
            found.add(np.minimum(i, j), np.maximum(i, j), cosine)
        told(len(inside))


def _ends(numbers: NDArray[np.int32], lists: int) -> NDArray[np.intp]:
    """Return where each list but the last ends, once the numbers are sorted."""
    return np.cumsum(np.bincount(numbers, minlength=lists))[:-1]


def _join_exactly(rows: Floats, found: _Found, told: Progress) -> None:
    """Compare each row with all that follow it."""
    count = len(rows)
    for some in _steps(count, BLOCK_ROWS):
        one, at = rows[some], np.arange(some.start, some.stop)
        for others in _steps(count, BLOCK // BLOCK_ROWS, start=some.start):
            i, j, cosine = found.near(one, at, rows[others], np.arange(others.start, others.stop))
            if others.start < some.stop:
                later = i < j
                i, j, cosine = i[later], j[later], cosine[later]
            found.add(i, j, cosine)
        told(len(at))


# --- what comes in --------------------------------------------------------------------------------


def _steps(count: int, size: int, *, start: int = 0) -> Iterator[slice]:
    """Cut row numbers up to `count` into runs of `size`."""
    for first in range(start, count, size):
        yield slice(first, min(first + size, count))


def _ignore(step: int) -> None:
    del step


def _check_options(threshold: float, nearest: int | None) -> None:
    if not 0 < threshold <= 1:
        raise ValueError(f"threshold is {threshold}; give a cosine above 0 and up to 1")
    if nearest is not None and nearest < 1:
        raise ValueError(f"nearest is {nearest}; give at least 1, or None for all pairs")


def _check_shape(vectors: Vectors, what: str) -> None:
    if vectors.ndim != 2 or vectors.dtype.kind != "f":
        raise ValueError(
            f"{what} are {vectors.dtype} of shape {vectors.shape}; give floats of shape (rows, dim)"
        )


def _unit(vectors: Vectors, at: Ids, what: str) -> Floats:
    """Return some rows as float32 of length 1; `what` names what a bad row belongs to."""
    rows = np.empty((len(at), vectors.shape[1]), np.float32)
    for some in _steps(len(at), 2 * BLOCK_ROWS):
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
