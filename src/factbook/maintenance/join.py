"""Find all pairs of vectors that are near each other, without the matrix of all pairs.

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

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from factbook import policy
from factbook.maintenance.join_rows import (
    BLOCK,
    BLOCK_ROWS,
    ENOUGH_PAIRS,
    EXACT_ROWS,
    FEW_NEW,
    LEARN_ROUNDS,
    LEARN_ROWS,
    LISTS_PER_ROOT,
    MAX_PAIRS,
    MOST_PROBED,
    SAMPLE_RECALL,
    USED_PAIRS,
    Floats,
    Look,
    PairCollector,
    Pairs,
    Vectors,
    alike_crowds,
    check_options,
    check_shape,
    finish_pairs,
    identical_crowds,
    look_at,
    steps,
    unit_rows,
)


def near_pairs(
    vectors: Vectors,
    *,
    threshold: float = policy.MERGE_SIMILARITY,
    nearest: int | None = None,
    recall: float = SAMPLE_RECALL,
    exact_rows: int = EXACT_ROWS,
    seed: int = 0,
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
    check_options(threshold, nearest)
    if not 0 < recall <= 1:
        raise ValueError(f"recall is {recall}; give a share of the pairs above 0 and up to 1")
    check_shape(vectors, "the vectors")
    rng = np.random.default_rng(seed)
    crowds = identical_crowds(vectors)
    rows = unit_rows(vectors, crowds.kept, "the vectors")
    seen: Look | None = None
    while len(rows) > exact_rows or len(rows) * (len(rows) - 1) // 2 > MAX_PAIRS:
        seen = look_at(rows, threshold, rng)
        if seen.estimate <= MAX_PAIRS:
            break
        closer = alike_crowds(rows, seen)
        if closer is None:
            break
        rows = rows[closer.kept]
        crowds = crowds.then(closer)
        seen = None
    pair_collector = PairCollector(len(rows), threshold=threshold, nearest=nearest)
    if seen is not None and seen.estimate > MAX_PAIRS:
        pair_collector.limit()
    plan = None
    if len(rows) > exact_rows and seen is not None and recall < 1:
        plan = _plan(rows, seen, pair_collector, recall, rng)
    del seen
    if plan is None:
        _join_exactly(rows, pair_collector)
    else:
        _join_by_lists(rows, *plan, pair_collector)
    return finish_pairs(pair_collector, crowds)


def near_pairs_of(
    new: ArrayLike,
    vectors: Vectors,
    *,
    threshold: float = policy.MERGE_SIMILARITY,
    nearest: int | None = None,
) -> Pairs:
    """Return the pairs of `near_pairs` in which at least one row is among `new`.

    `new` holds row numbers of `vectors`, in any order. A few new rows are compared with all rows,
    exactly; where they are more than one in `FEW_NEW` of very many rows, the whole join costs less
    and is made. With `nearest`, only what new rows are near to counts: a pair is returned if it is
    among that many nearest of one of them, or among that many nearest new rows of the other.

    Raises ValueError as `near_pairs` does, and for a number that is not that of a row.
    """
    check_options(threshold, nearest)
    check_shape(vectors, "the vectors")
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
    is_new = np.zeros(total, np.bool_)
    is_new[wanted] = True
    if total > EXACT_ROWS and len(wanted) > total // FEW_NEW:
        every = near_pairs(vectors, threshold=threshold, nearest=nearest)
        ours = is_new[every.left] | is_new[every.right]
        return Pairs(
            left=every.left[ours],
            right=every.right[ours],
            cosine=every.cosine[ours],
            grouped=every.grouped,
            nearest=every.nearest,
        )
    crowds = identical_crowds(vectors)
    rows = unit_rows(vectors, crowds.kept, "the vectors")
    fresh = is_new[crowds.kept]
    asked = np.flatnonzero(fresh)
    pair_collector = PairCollector(len(rows), threshold=threshold, nearest=nearest)
    for some in steps(len(asked), BLOCK_ROWS):
        at = asked[some]
        block = rows[at]
        for others in steps(len(rows), BLOCK // BLOCK_ROWS):
            i, j, cosine = pair_collector.near(
                block, at, rows[others], np.arange(others.start, others.stop)
            )
            once = (i < j) | (~fresh[j] & (i != j))
            i, j, cosine = i[once], j[once], cosine[once]
            pair_collector.add(np.minimum(i, j), np.maximum(i, j), cosine)
    return finish_pairs(pair_collector, crowds, is_new)


def cross_pairs(
    left: Vectors, right: Vectors, *, threshold: float = policy.EVIDENCE_SIMILARITY
) -> Pairs:
    """Return the pairs of a `left` and a `right` row whose cosine is at least `threshold`.

    Exact: every row of one is compared with every row of the other, in blocks. Equal rows are not
    grouped, but where pairs are more than `MAX_PAIRS`, only the nearest of each row are returned,
    as with `nearest`, and `Pairs.nearest` says how many.

    Raises ValueError for a row that is zero or not finite, and for vectors of unlike dimensions.
    """
    check_options(threshold, None)
    check_shape(left, "the left vectors")
    check_shape(right, "the right vectors")
    if len(left) and len(right) and left.shape[1] != right.shape[1]:
        raise ValueError(
            f"the left vectors have {left.shape[1]} dimensions and the right ones "
            f"{right.shape[1]}; embed both with the same model"
        )
    count = len(left)
    pair_collector = PairCollector(count + len(right), threshold=threshold, nearest=None)
    others = unit_rows(right, np.arange(len(right)), "the right vectors")
    numbers = np.arange(count, count + len(right))  # both sides in one row of numbers
    for some in steps(count, BLOCK_ROWS):
        at = np.arange(some.start, some.stop)
        block = unit_rows(left, at, "the left vectors")
        for part in steps(len(right), BLOCK // BLOCK_ROWS):
            pair_collector.add(*pair_collector.near(block, at, others[part], numbers[part]))
    first, second, cosine = pair_collector.pairs()
    return Pairs(left=first, right=second - count, cosine=cosine, nearest=pair_collector.nearest)


def components(n: int, left: ArrayLike, right: ArrayLike) -> list[list[int]]:
    """Return the connected components of more than one row, each ascending, by their first row.

    Every round hangs each root that has a lower neighbour under one; only a root below all its
    neighbours remains, so roots at least halve, and few rounds join any graph.
    """
    head, tail = np.asarray(left, np.int64), np.asarray(right, np.int64)
    if head.shape != tail.shape or head.ndim != 1:
        raise ValueError(f"pairs have {head.shape} left and {tail.shape} right rows; give as many")
    for ends in (head, tail):
        wrong = ends[(ends < 0) | (ends >= n)]
        if len(wrong):
            raise ValueError(f"a pair names row {wrong[0]}, but there are {n} rows, from 0 on")
    root = np.arange(n)
    while len(head):
        head, tail = root[head], root[tail]
        apart = head != tail
        head, tail = head[apart], tail[apart]
        np.minimum.at(root, np.maximum(head, tail), np.minimum(head, tail))
        above = root[root]
        while not np.array_equal(above, root):
            root = above
            above = root[root]
    order = np.argsort(root, kind="stable")
    starts = np.flatnonzero(np.diff(root[order], prepend=-1))
    return [part.tolist() for part in np.split(order, starts[1:]) if len(part) > 1]


def _centres(rows: Floats, rng: np.random.Generator) -> Floats:
    """Return unit centres of the rows, by spherical k-means on some of them."""
    count = len(rows)
    lists = min(count, max(1, int(LISTS_PER_ROOT * count**0.5)))
    some = rows[np.sort(rng.choice(count, min(count, lists * LEARN_ROWS), replace=False))]
    centres = some[np.sort(rng.choice(len(some), lists, replace=False))]
    for _ in range(LEARN_ROUNDS):
        nearest = np.concatenate(
            [(some[part] @ centres.T).argmax(axis=1) for part in steps(len(some), _wide(centres))]
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
    rows: Floats, seen: Look, collector: PairCollector, recall: float, rng: np.random.Generator
) -> tuple[Floats, float] | None:
    """Return centres and the margin; None where each row is better compared with each."""
    centres = _centres(rows, rng)
    pairs = _sampled_pairs(rows, seen, collector.threshold, collector.nearest, rng)
    margin = _margin(rows[seen.sample], centres, pairs, recall)
    return None if margin is None else (centres, margin)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Sampled:
    """Pairs on which the margin is measured."""

    left: Floats  # (pairs, dim)
    right: Floats  # (pairs, dim)
    by_pair: NDArray[np.float64]  # (pairs,): weight, where every pair counts as much
    by_row: NDArray[np.float64]  # (pairs,): weight, where every row with pairs counts as much


def _sampled_pairs(
    rows: Floats, seen: Look, threshold: float, nearest: int | None, rng: np.random.Generator
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
        left=np.concatenate((rows[seen.sample[owner]], rows[at])),
        right=np.concatenate(
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
            _needed(pairs.left[some], pairs.right[some], centres)
            for some in steps(len(pairs.left), _wide(centres))
        ]
    )
    margin = max(_quantile(needed, weight, recall) for weight in (pairs.by_pair, pairs.by_row))
    margin += 1e-5  # the same cosine, computed in another block, may differ by that
    looks = 0
    for some in steps(len(sample), _wide(centres)):
        near = sample[some] @ centres.T
        looks += int(np.count_nonzero(near >= near.max(axis=1, keepdims=True) - margin))
    return margin if looks <= MOST_PROBED * len(sample) * len(centres) else None


def _needed(floats: Floats, other: Floats, centres: Floats) -> Floats:
    """Return the least margin by which either row of each pair looks into the other's list."""
    at = np.arange(len(floats))
    first, second = floats @ centres.T, other @ centres.T
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


def _join_by_lists(rows: Floats, centres: Floats, margin: float, pairs: PairCollector) -> None:
    """Compare each row with the lists that it looks into."""
    count, lists = len(rows), len(centres)
    own = np.empty(count, np.int32)  # the list of each row
    looks = []  # row * lists + list, ascending: which row looks into which list
    for some in steps(count, _wide(centres)):
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
        for some in steps(len(outside), max(1, BLOCK // len(inside))):
            at = outside[some]
            i, j, cosine = pairs.near(rows[at], at, listed, inside)
            # A pair is met twice if each looks into the other's list; the lower row's look counts.
            once = i < j
            late = np.flatnonzero((i > j) & (own[i] != number))
            key = j[late] * lists + own[i[late]]
            place = np.minimum(np.searchsorted(looking, key), len(looking) - 1)
            once[late[looking[place] != key]] = True
            i, j, cosine = i[once], j[once], cosine[once]
            pairs.add(np.minimum(i, j), np.maximum(i, j), cosine)


def _ends(numbers: NDArray[np.int32], lists: int) -> NDArray[np.intp]:
    """Return where each list but the last ends, once the numbers are sorted."""
    return np.cumsum(np.bincount(numbers, minlength=lists))[:-1]


def _join_exactly(rows: Floats, pairs: PairCollector) -> None:
    """Compare each row with all that follow it."""
    count = len(rows)
    for some in steps(count, BLOCK_ROWS):
        block, at = rows[some], np.arange(some.start, some.stop)
        for others in steps(count, BLOCK // BLOCK_ROWS, start=some.start):
            i, j, cosine = pairs.near(block, at, rows[others], np.arange(others.start, others.stop))
            if others.start < some.stop:
                later = i < j
                i, j, cosine = i[later], j[later], cosine[later]
            pairs.add(i, j, cosine)
