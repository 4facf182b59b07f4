"""The join of near vectors against comparing each with each; what crowds do to it; bad rows."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from factbook.maintenance import join_rows
from factbook.maintenance.join import (
    components,
    cross_pairs,
    near_pairs,
    near_pairs_of,
)
from factbook.maintenance.join_rows import (
    Pairs,
)

DIM = 64
EVERY = 2**62  # for exact_rows: each row is compared with each
CLOSE = 1e-5  # cosines this near to a threshold may fall either way

Vectors = NDArray[np.floating[Any]]
Keys = set[tuple[int, int]]


def unit(rows: Vectors) -> NDArray[np.float32]:
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / lengths, np.float32)


def families(count: int, seed: int, *, dim: int = DIM, size: int = 8) -> NDArray[np.float32]:
    """Make rows in families of about `size`, nearer or farther, that all lean one way."""
    rng = np.random.default_rng(seed)
    weight = 1 / np.sqrt(1 + np.arange(dim) / 8)
    heads = rng.standard_normal((count // size + 1, dim)) * weight + rng.standard_normal(dim) / 3
    spread = rng.uniform(0.05, 0.6, (count, 1))
    of = rng.integers(0, len(heads), count)
    return unit(heads[of] + spread * rng.standard_normal((count, dim)) * weight)


def matrix(left: Vectors, right: Vectors) -> NDArray[np.float64]:
    one, other = left.astype(np.float64), right.astype(np.float64)
    one /= np.linalg.norm(one, axis=1, keepdims=True)
    other /= np.linalg.norm(other, axis=1, keepdims=True)
    return one @ other.T


def numbers(pairs: Pairs) -> NDArray[np.int64]:
    """Return one number for each pair, in the order of pairs."""
    return pairs.left * 2**32 + pairs.right


def keys(pairs: Pairs) -> Keys:
    return set(zip(pairs.left.tolist(), pairs.right.tolist(), strict=True))


def where(cosines: NDArray[np.float64], threshold: float) -> Keys:
    i, j = np.nonzero(cosines >= threshold)
    return set(zip(i.tolist(), j.tolist(), strict=True))


def brute(vectors: Vectors, threshold: float) -> Keys:
    return {(i, j) for i, j in where(matrix(vectors, vectors), threshold) if i < j}


def assert_whole(pairs: Pairs, cosines: NDArray[np.float64]) -> None:
    """Hold what is true of any result: order, types, each pair once, and its cosine."""
    assert [one.dtype.name for one in (pairs.left, pairs.right)] == ["int64", "int64"]
    assert pairs.cosine.dtype.name == "float32"
    assert len(pairs.left) == len(pairs.right) == len(pairs.cosine) == len(pairs)
    assert bool((np.diff(numbers(pairs)) > 0).all())
    assert np.allclose(pairs.cosine, cosines[pairs.left, pairs.right], atol=2e-6)
    assert pairs.cosine.max(initial=0) <= 1


@st.composite
def rows(draw: st.DrawFn, *, most: int = 90) -> Vectors:
    """Draw vectors of some dimension: families, copies, far-off lengths, either precision."""
    count = draw(st.integers(0, most))
    dim = draw(st.sampled_from((2, 3, 17, 48)))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    made = families(count, int(rng.integers(2**32)), dim=dim, size=draw(st.integers(1, 20)))
    for _ in range(draw(st.integers(0, 3)) if count else 0):  # a few copies; crowds come below
        made[rng.integers(0, count)] = made[rng.integers(0, count)]
    scaled = made * rng.uniform(0.5, 2, (count, 1)).astype(np.float32)
    return scaled.astype(draw(st.sampled_from((np.float16, np.float32))))


# --- equal to comparing each with each ------------------------------------------------------------


@given(rows(), st.floats(0.05, 1.0))
@settings(max_examples=150, deadline=None)
def test_below_exact_rows_the_join_is_brute_force(vectors: Vectors, threshold: float) -> None:
    pairs = near_pairs(vectors, threshold=threshold)
    assert_whole(pairs, matrix(vectors, vectors))
    assert bool((pairs.left < pairs.right).all())
    assert brute(vectors, threshold + CLOSE) <= keys(pairs) <= brute(vectors, threshold - CLOSE)
    assert (pairs.grouped, pairs.nearest) == (0, None)


@given(rows(), st.floats(0.05, 1.0), st.data())
@settings(max_examples=100, deadline=None)
def test_pairs_of_new_rows_are_those_of_all_that_touch_one(
    vectors: Vectors, threshold: float, data: st.DataObject
) -> None:
    count = len(vectors)
    new = data.draw(st.lists(st.integers(0, count - 1))) if count else []
    pairs = near_pairs_of(new, vectors, threshold=threshold)
    assert_whole(pairs, matrix(vectors, vectors))

    def touching(every: Keys) -> Keys:
        return {(i, j) for i, j in every if i in new or j in new}

    assert keys(pairs) >= touching(brute(vectors, threshold + CLOSE))
    assert keys(pairs) <= touching(brute(vectors, threshold - CLOSE))


@given(st.integers(0, 60), st.integers(0, 60), st.integers(0, 2**32 - 1), st.floats(0.05, 1.0))
@settings(max_examples=100, deadline=None)
def test_cross_pairs_are_brute_force(left: int, right: int, seed: int, threshold: float) -> None:
    every = families(left + right, seed)
    one, other = every[:left], every[left:].astype(np.float16)
    pairs = cross_pairs(one, other, threshold=threshold)
    cosines = matrix(one, other)
    assert_whole(pairs, cosines)
    assert where(cosines, threshold + CLOSE) <= keys(pairs) <= where(cosines, threshold - CLOSE)


@given(rows(), st.integers(1, 5))
@settings(max_examples=60, deadline=None)
def test_nearest_keeps_what_is_among_the_nearest_of_either_row(
    vectors: Vectors, nearest: int
) -> None:
    cosines = matrix(vectors, vectors)
    pairs = near_pairs(vectors, threshold=0.3, nearest=nearest)
    assert_whole(pairs, cosines)
    assert pairs.nearest == nearest
    np.fill_diagonal(cosines, -1)
    best = -np.sort(-cosines, axis=1)[:, : nearest + 1]
    last = best[:, nearest - 1] if len(vectors) > nearest else np.full(len(vectors), -1.0)
    limit = np.minimum(last[:, None], last[None, :])  # of the row that is easier to please
    sure = (cosines > limit + CLOSE) & (cosines >= 0.3 + CLOSE)
    may = (cosines >= limit - CLOSE) & (cosines >= 0.3 - CLOSE)
    assert {(i, j) for i, j in where(sure * 1.0, 1) if i < j} <= keys(pairs)
    assert keys(pairs) <= {(i, j) for i, j in where(may * 1.0, 1) if i < j}


def test_blocks_join_without_a_seam() -> None:
    """Compare more rows than one block holds, on every side."""
    vectors = families(join_rows.BLOCK_ROWS + 700, 3, dim=24)
    wanted = brute(vectors, 0.9)
    assert len(wanted) > 1_000
    assert len(keys(near_pairs(vectors, threshold=0.9)) ^ wanted) <= 2
    new = np.arange(0, len(vectors), 2)
    ours = {(i, j) for i, j in wanted if i % 2 == 0 or j % 2 == 0}
    assert len(keys(near_pairs_of(new, vectors, threshold=0.9)) ^ ours) <= 2
    across = where(matrix(vectors, vectors[:600]), 0.9)
    assert len(keys(cross_pairs(vectors, vectors[:600], threshold=0.9)) ^ across) <= 2


# --- by lists -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("count", "exact_rows"),
    [(3_000, 0), (9_000, 1_000), pytest.param(24_000, 20_000, marks=pytest.mark.slow)],
)
def test_lists_find_nearly_all_pairs_and_no_others(count: int, exact_rows: int) -> None:
    vectors = families(count, count).astype(np.float16)
    wanted = keys(near_pairs(vectors, exact_rows=EVERY))
    pairs = near_pairs(vectors, exact_rows=exact_rows)
    assert len(wanted) > count
    assert keys(pairs) <= wanted
    assert len(keys(pairs)) >= 0.995 * len(wanted)
    assert bool((np.diff(numbers(pairs)) > 0).all())


def test_rows_with_few_pairs_are_found_by_made_pairs() -> None:
    """Hide 200 pairs at the threshold among rows without any: a sample of 1,000 sees about 15."""
    vectors = families(26_000, 5, dim=96, size=1)
    alone = near_pairs(vectors, exact_rows=EVERY)
    vectors = np.delete(vectors, np.unique(alone.right), axis=0)
    at = np.arange(200)
    others = vectors[at + 400]  # away from a row in the direction of another
    others -= np.vecdot(others, vectors[at])[:, None] * vectors[at]
    vectors[at + 200] = 0.86 * vectors[at] + np.sqrt(1 - 0.86**2) * unit(others)
    wanted = keys(near_pairs(vectors, exact_rows=EVERY))
    found = keys(near_pairs(vectors, exact_rows=1_000, seed=2))
    assert len(wanted) >= 200
    assert found <= wanted
    assert len(found) >= 0.99 * len(wanted)


def test_rows_without_structure_are_compared_each_with_each() -> None:
    vectors = unit(np.random.default_rng(0).standard_normal((2_000, 12)))
    wanted = keys(near_pairs(vectors, threshold=0.8, exact_rows=EVERY))
    assert keys(near_pairs(vectors, threshold=0.8, exact_rows=500, recall=1)) == wanted
    assert len(keys(near_pairs(vectors, threshold=0.8, exact_rows=500))) >= 0.99 * len(wanted)


def test_a_seed_gives_the_same_pairs_each_time() -> None:
    vectors = families(4_000, 9)
    first, again = (near_pairs(vectors, exact_rows=100, seed=3) for _ in range(2))
    assert np.array_equal(first.left, again.left)
    assert np.array_equal(first.right, again.right)
    assert np.array_equal(first.cosine, again.cosine)


def test_lower_recall_looks_into_fewer_lists() -> None:
    vectors = families(8_000, 2)
    few = near_pairs(vectors, threshold=0.6, exact_rows=100, recall=0.9)
    many = near_pairs(vectors, threshold=0.6, exact_rows=100)
    wanted = near_pairs(vectors, threshold=0.6, exact_rows=EVERY)
    assert 0.85 * len(wanted) <= len(few) < len(many) <= len(wanted)


def test_nearest_by_lists_is_nearest_of_all() -> None:
    vectors = families(6_000, 8, size=60)
    wanted = keys(near_pairs(vectors, threshold=0.5, nearest=4, exact_rows=EVERY))
    found = keys(near_pairs(vectors, threshold=0.5, nearest=4, exact_rows=500))
    assert len(found & wanted) >= 0.98 * len(wanted)
    # A pair that is missed leaves its place to the next nearest.
    assert len(found - wanted) <= 0.02 * len(wanted)


def test_many_new_rows_of_many_are_joined_as_all_are() -> None:
    vectors = families(join_rows.EXACT_ROWS + 500, 4, dim=32)
    new = np.arange(0, len(vectors), 3)
    found = keys(near_pairs_of(new, vectors, threshold=0.95))
    wanted = {
        (i, j)
        for i, j in keys(near_pairs(vectors, threshold=0.95, exact_rows=EVERY))
        if i % 3 == 0 or j % 3 == 0
    }
    assert found <= wanted
    assert len(found) >= 0.995 * len(wanted)


# --- crowds ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("exact_rows", [EVERY, 500])
def test_of_a_crowd_of_equal_rows_the_first_stands_for_all(exact_rows: int) -> None:
    vectors = families(1_200, 1)
    crowd = np.arange(100, 1_100, 5)
    vectors[crowd] = vectors[100]
    near = unit(vectors[100:101] + 0.001)[0]
    vectors[50], vectors[1_150] = near, near
    pairs = near_pairs(vectors, threshold=0.9, exact_rows=exact_rows)
    found = keys(pairs)
    assert pairs.grouped == len(crowd) - 1
    assert {(100, one) for one in crowd[1:].tolist()} <= found
    assert {(50, 100), (100, 1_150), (50, 1_150)} <= found
    assert not any(i in crowd[1:] or (j in crowd[1:] and i != 100) for i, j in found)
    others = np.delete(np.arange(len(vectors)), crowd[1:])
    wanted = {
        (int(others[i]), int(others[j])) for i, j in brute(vectors[others], 0.9)
    }  # what is left when the crowd is one row
    assert wanted <= found
    joined = components(len(vectors), pairs.left, pairs.right)
    every = np.array(sorted(brute(vectors, 0.9)))
    assert joined == components(len(vectors), every[:, 0], every[:, 1])


def test_new_rows_of_a_crowd_meet_the_row_that_stands_for_it() -> None:
    vectors = families(300, 6)
    vectors[100:200] = vectors[100]
    every = keys(near_pairs(vectors, threshold=0.9))
    for new in ([150, 151], [100], [5, 299], list(range(300))):
        wanted = {(i, j) for i, j in every if i in new or j in new}
        assert keys(near_pairs_of(new, vectors, threshold=0.9)) == wanted


def test_as_many_equal_rows_as_are_no_crowd_are_paired_each_with_each() -> None:
    vectors = np.repeat(families(2, 0)[:1], join_rows.CROWD, axis=0)
    assert len(near_pairs(vectors)) == join_rows.CROWD * (join_rows.CROWD - 1) // 2
    assert len(near_pairs(np.repeat(vectors[:1], join_rows.CROWD + 1, axis=0))) == join_rows.CROWD


@pytest.mark.parametrize("exact_rows", [EVERY, 1_000])
def test_ten_thousand_copies_of_one_sentence_cost_ten_thousand_pairs(exact_rows: int) -> None:
    vectors = families(12_000, 7)
    vectors[1_000:11_000] = vectors[0]
    pairs = near_pairs(vectors, exact_rows=exact_rows)
    assert pairs.grouped == 10_000
    assert len(pairs) < 25_000
    (first, *_) = components(len(vectors), pairs.left, pairs.right)
    assert set(range(1_000, 11_000)) < set(first)


@pytest.mark.parametrize("exact_rows", [EVERY, 1_000])
def test_copies_that_differ_by_rounding_are_one_crowd(exact_rows: int) -> None:
    rng = np.random.default_rng(2)
    vectors = families(6_000, 7)
    vectors[500:5_500] = vectors[0] + 0.0005 * rng.standard_normal((5_000, DIM))
    pairs = near_pairs(vectors, exact_rows=exact_rows)  # 12 million pairs, each with each
    assert pairs.grouped == 5_000
    assert pairs.nearest is None
    assert len(pairs) < 15_000
    (first, *_) = components(len(vectors), pairs.left, pairs.right)
    assert {0, *range(500, 5_500)} <= set(first)
    assert pairs.cosine.min() >= 0.85 - CLOSE


@pytest.mark.parametrize("exact_rows", [EVERY, 1_000])
def test_one_tight_cluster_gives_the_nearest_of_each_row(exact_rows: int) -> None:
    rng = np.random.default_rng(4)
    vectors = unit(rng.standard_normal(DIM) * 4 + rng.standard_normal((3_400, DIM)))
    pairs = near_pairs(vectors, exact_rows=exact_rows)  # 5.8 million pairs, each with each
    assert pairs.grouped == 0
    assert pairs.nearest is not None
    assert len(vectors) * pairs.nearest // 2 <= len(pairs) <= join_rows.MAX_PAIRS
    cosines = matrix(vectors, vectors)
    np.fill_diagonal(cosines, -1)
    some = np.arange(0, len(vectors), 250)[:, None]
    best = np.argsort(-cosines[some[:, 0]], axis=1)[:, : pairs.nearest]
    sought = np.minimum(some, best) * 2**32 + np.maximum(some, best)
    assert np.isin(sought, numbers(pairs)).mean(axis=1).min() >= 0.98


def test_cosines_that_are_all_equal_do_not_fill_the_memory() -> None:
    """3,300 rows at the same angle to each other: 5.4 million pairs, none nearer than another."""
    count = 3_300
    vectors = np.zeros((count, count + 1), np.float16)
    vectors[:, 0] = 3
    vectors[np.arange(count), np.arange(count) + 1] = 1
    pairs = near_pairs(vectors, threshold=0.8)
    assert pairs.nearest is not None
    assert 0 < len(pairs) <= join_rows.MAX_PAIRS
    assert np.bincount(np.concatenate((pairs.left, pairs.right))).min() >= 1


def test_too_many_pairs_across_leave_the_nearest() -> None:
    rng = np.random.default_rng(4)
    rows = unit(rng.standard_normal(16) * 6 + rng.standard_normal((4_700, 16)))
    left, right = rows[:2_350], rows[2_350:]
    pairs = cross_pairs(left, right)  # 5.5 million
    assert pairs.nearest is not None
    assert len(pairs) <= join_rows.MAX_PAIRS
    assert_whole(pairs, matrix(left, right))
    best = matrix(left, right).argmax(axis=1)
    assert np.isin(np.arange(len(left)) * 2**32 + best, numbers(pairs)).all()


# --- what comes in --------------------------------------------------------------------------------


@pytest.mark.parametrize("exact_rows", [0, EVERY])
def test_no_row_one_row_two_rows(exact_rows: int) -> None:
    two = families(2, 0)[[0, 0]]
    for vectors in (two[:0], two[:1], np.empty((0, 0), np.float32)):
        pairs = near_pairs(vectors, exact_rows=exact_rows)
        assert (len(pairs), pairs.left.dtype.name, pairs.cosine.dtype.name) == (
            0,
            "int64",
            "float32",
        )
        assert len(near_pairs_of([], vectors)) == 0
        assert len(cross_pairs(vectors, two[: len(vectors)])) == len(vectors)
    pairs = near_pairs(two, exact_rows=exact_rows)
    assert keys(pairs) == {(0, 1)}
    assert pairs.cosine.tolist() == pytest.approx([1])
    assert keys(near_pairs_of([1], two)) == {(0, 1)}
    assert len(near_pairs_of([], two)) == 0
    assert keys(near_pairs(np.concatenate((two[:1], -two[:1])), exact_rows=exact_rows)) == set()


@pytest.mark.parametrize(("value", "why"), [(0.0, "zero"), (np.nan, "not finite")])
def test_a_row_without_a_direction_is_named(value: float, why: str) -> None:
    vectors = families(80, 0).astype(np.float16)
    vectors[40:] = vectors[0]  # a crowd, so that rows have other numbers inside
    vectors[77] = value
    good = families(5, 1)
    with pytest.raises(ValueError, match=f"row 77 of the vectors is {why}.*embed it again"):
        near_pairs(vectors)
    with pytest.raises(ValueError, match=f"row 77 of the vectors is {why}"):
        near_pairs_of([0], vectors)
    with pytest.raises(ValueError, match=f"row 77 of the left vectors is {why}"):
        cross_pairs(vectors, good)
    with pytest.raises(ValueError, match=f"row 77 of the right vectors is {why}"):
        cross_pairs(good, vectors)


def test_an_infinite_half_is_not_finite() -> None:
    vectors = families(3, 0).astype(np.float16)
    vectors[2, 0] = np.inf
    with pytest.raises(ValueError, match=r"row 2 .* not finite"):
        near_pairs(vectors)


def test_what_cannot_be_joined_is_refused_in_a_sentence() -> None:
    vectors = families(4, 0)
    with pytest.raises(ValueError, match="shape"):
        near_pairs(vectors[0])
    with pytest.raises(ValueError, match="int64"):
        near_pairs(np.ones((2, 2), np.int64))
    for threshold in (0.0, -1.0, 1.5, float("nan")):
        with pytest.raises(ValueError, match=r"threshold is .*; give a cosine"):
            near_pairs(vectors, threshold=threshold)
    with pytest.raises(ValueError, match="nearest is 0"):
        near_pairs(vectors, nearest=0)
    with pytest.raises(ValueError, match="recall is 0"):
        near_pairs(vectors, recall=0)
    with pytest.raises(ValueError, match="new row 4 is none of the 4 rows"):
        near_pairs_of([1, 4], vectors)
    with pytest.raises(ValueError, match="new row -1"):
        near_pairs_of([-1, 2], vectors)
    with pytest.raises(ValueError, match="flat list of row numbers"):
        near_pairs_of(np.array([0.5]), vectors)
    with pytest.raises(ValueError, match="64 dimensions and the right ones 8"):
        cross_pairs(vectors, families(4, 0, dim=8))


def test_the_input_is_left_as_it_was() -> None:
    vectors = families(2_000, 1) * 2
    before = vectors.copy()
    near_pairs(vectors, exact_rows=100)
    near_pairs_of([0, 1], vectors)
    cross_pairs(vectors, vectors[:9])
    assert np.array_equal(vectors, before)


# --- components -----------------------------------------------------------------------------------


@given(
    st.integers(1, 40).flatmap(
        lambda n: st.tuples(
            st.just(n),
            st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)), max_size=60),
        )
    )
)
def test_components_are_what_can_be_reached(case: tuple[int, list[tuple[int, int]]]) -> None:
    n, pairs = case
    reach = {row: {row} for row in range(n)}
    for one, other in pairs:
        if reach[one] is not reach[other]:
            reach[one] |= reach[other]
            for row in reach[other]:
                reach[row] = reach[one]
    wanted = sorted({tuple(sorted(group)) for group in reach.values() if len(group) > 1})
    found = components(n, [one for one, _ in pairs], [other for _, other in pairs])
    assert [tuple(group) for group in found] == wanted


def test_a_long_chain_is_one_component() -> None:
    order = np.random.default_rng(0).permutation(100_000)
    (group,) = components(100_000, order[:-1], order[1:])
    assert group == list(range(100_000))


def test_pairs_of_rows_that_are_not_there_are_refused() -> None:
    assert components(0, [], []) == []
    with pytest.raises(ValueError, match="names row 3, but there are 3 rows"):
        components(3, [0], [3])
    with pytest.raises(ValueError, match="give as many"):
        components(3, [0, 1], [1])


def test_importing_the_join_loads_neither_a_model_nor_a_store() -> None:
    code = (
        "import sys, factbook.maintenance.join; "
        "print([m for m in ('onnxruntime', 'apsw', 'sklearn', 'scipy') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
