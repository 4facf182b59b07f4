"""The vector index against plain numpy: exact where few, near where many, whole while written."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from numpy.typing import NDArray

from factbook.store.sqlite import codes, vectors
from factbook.store.sqlite.vectors import VectorIndex
from rows import every

DIM = 384
MANY = 50_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Many:
    """A large index and what is in it."""

    index: VectorIndex
    ids: NDArray[np.int64]
    rows: NDArray[np.float32]  # before they were rounded to half precision

    def nearest(
        self, query: NDArray[np.float32], k: int, among: NDArray[np.bool_] | None = None
    ) -> set[int]:
        """Return the ids of the k rows that exact float32 search finds."""
        cosines = self.rows @ query
        if among is not None:
            cosines[~among] = -np.inf
            k = min(k, int(np.count_nonzero(among)))
        return set(self.ids[np.argsort(-cosines)[:k]].tolist())

    def halves_of(self, ids: NDArray[np.int64]) -> NDArray[np.float32]:
        """Return rows as they are kept: rounded to half precision, of length 1."""
        order = np.argsort(self.ids)
        rows = self.rows[order[np.searchsorted(self.ids, ids, sorter=order)]]
        rows = rows.astype(np.float16).astype(np.float32)
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def exact(
    ids: NDArray[np.int64], rows: NDArray[np.floating[Any]], query: NDArray[Any], k: int
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the k best by float64 cosines, equal ones by id."""
    wide = rows.astype(np.float64)
    wide /= np.linalg.norm(wide, axis=1, keepdims=True)
    cosines = wide @ (query / np.linalg.norm(query))
    order = np.lexsort((ids, -cosines))[:k]
    return ids[order], cosines[order]


def clustered(count: int, dim: int, seed: int) -> NDArray[np.float32]:
    """Make vectors as a text model does: all lean one way, few main directions, in clusters."""
    world = np.random.default_rng(7)
    weight = 1 / np.sqrt(1 + np.arange(dim) / 20)
    centres = world.standard_normal((400, dim)) * weight + world.standard_normal(dim)
    rng = np.random.default_rng(seed)
    rows = rng.standard_normal((count, dim), np.float32)
    rows *= (rng.uniform(0.3, 1.2, count)[:, None] * weight).astype(np.float32)
    rows += centres[rng.integers(0, len(centres), count)].astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    return rows


@pytest.fixture(scope="module")
def many() -> Many:
    """Make an index that is large enough for codes, with ids in no order."""
    rows = clustered(MANY, DIM, 1)
    ids = np.random.default_rng(2).permutation(10 * MANY)[:MANY].astype(np.int64)
    index = VectorIndex.from_blobs(ids, rows.astype(np.float16), dim=DIM)
    return Many(index=index, ids=ids, rows=rows)


@pytest.fixture
def tiny_parts() -> Iterator[None]:
    """Shrink the segments, so that a few rows reach every path that many rows take."""
    with pytest.MonkeyPatch.context() as patch:
        shrink(patch)
        yield


def shrink(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(vectors, "SEGMENT_ROWS", 8)
    patch.setattr(vectors, "EXACT_ROWS", 20)
    patch.setattr(vectors, "EXACT_CHOSEN", 4)


# --- few rows: exact ------------------------------------------------------------------------------


@settings(deadline=None, max_examples=60)
@given(
    count=st.integers(1, 700),
    words=st.integers(1, 9),
    k=st.integers(1, 800),
    seed=st.integers(0, 2**32 - 1),
)
def test_few_rows_are_ranked_as_numpy_ranks_them(count: int, words: int, k: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows = (rng.standard_normal((count, 8 * words)) * rng.uniform(0.01, 9)).astype(np.float16)
    ids = rng.permutation(3 * count)[:count].astype(np.int64) - count
    query = rng.standard_normal(8 * words)
    index = VectorIndex.from_blobs(ids, rows.tobytes(), dim=8 * words)
    found, cosines = index.view().search(query, k=k)
    best, truth = exact(ids, rows, query, k)
    np.testing.assert_allclose(cosines, truth, atol=3e-6)
    apart = np.abs(np.diff(truth)) > 1e-5
    sure = np.r_[True, apart] & np.r_[apart, True]
    np.testing.assert_array_equal(found[sure], best[sure])
    assert len(found) == min(k, count)
    assert np.all(np.diff(cosines) <= 0)


def test_every_half_is_widened_exactly() -> None:
    patterns = np.arange(2**16, dtype=np.uint32).astype(np.uint16).view(np.float16)
    halves = patterns[np.isfinite(patterns)].reshape(-1, 8)
    wide = np.empty(halves.shape, np.float32)
    codes.widen(halves, wide)
    np.testing.assert_array_equal(wide * np.float32(2.0**112), halves.astype(np.float32))


def test_equal_rows_come_by_id_wherever_they_stand() -> None:
    row = clustered(1, DIM, 3).astype(np.float16)
    others = clustered(3_000, DIM, 4).astype(np.float16)
    rows = np.concatenate((others, np.repeat(row, 40, axis=0)))
    order = np.random.default_rng(5).permutation(len(rows))
    ids = np.arange(len(rows))[order]
    found, cosines = VectorIndex.from_blobs(ids, rows[order], dim=DIM).view().search(row[0], k=25)
    np.testing.assert_array_equal(found, 3_000 + np.arange(25))
    assert np.ptp(cosines) == 0
    assert cosines[0] == pytest.approx(1, abs=1e-6)


def test_an_empty_index_answers_nothing() -> None:
    index = VectorIndex(dim=8)
    found, cosines = index.view().search(np.ones(8), k=5)
    assert (len(index), found.tolist(), cosines.tolist()) == (0, [], [])
    assert index.view().search(np.ones(8), k=5, allowed=[1, 2])[0].tolist() == []
    assert index.remove([1]) == 0
    index.add([], np.empty((0, 8), np.float16))
    assert len(VectorIndex.from_blobs([], b"", dim=8)) == 0


def test_blobs_are_not_copied() -> None:
    rows = clustered(100, DIM, 6).astype(np.float16)
    index = VectorIndex.from_blobs(np.arange(100), rows, dim=DIM)
    assert all(np.shares_memory(part.rows, rows) for part in index.view()._segments)


def test_cosines_of_chosen_rows_are_those_of_a_search(tiny_parts: None) -> None:
    rng = np.random.default_rng(21)
    rows = rng.standard_normal((300, 32)).astype(np.float32)
    ids = rng.permutation(1000)[:300]
    index = VectorIndex(dim=32)
    index.add(ids, rows)
    index.remove(ids[:20])
    query = rng.standard_normal(32).astype(np.float32)
    found, cosines = index.view().search(query, k=280)
    np.testing.assert_array_equal(index.view().cosines(query, found), cosines)
    upward = np.argsort(found)
    np.testing.assert_array_equal(index.view().cosines(query, found[upward]), cosines[upward])
    assert np.isnan(index.view().cosines(query, [int(ids[3]), 5000])).all()
    assert len(index.view().cosines(query, [])) == 0
    with pytest.raises(ValueError, match="given twice"):
        index.view().cosines(query, [7, 7])


# --- many rows: near enough -----------------------------------------------------------------------


def test_recall_of_many_rows(many: Many) -> None:
    hits = 0
    for query in clustered(40, DIM, 8):
        found, cosines = many.index.view().search(query, k=10)
        hits += len(set(found.tolist()) & many.nearest(query, 10))
        assert cosines == pytest.approx(many.halves_of(found) @ query, abs=1e-5)
        assert np.all(np.diff(cosines) <= 0)
    assert hits >= 0.98 * 400


def test_fewer_spreads_find_nearly_as_many(many: Many) -> None:
    best = some = 0
    for query in clustered(40, DIM, 8):
        found = set(many.index.view().search(query, k=60, spreads=2.5)[0].tolist())
        best += len(found & many.nearest(query, 10))
        some += len(found & many.nearest(query, 60))
    assert best >= 0.99 * 400
    assert some >= 0.98 * 2400


def test_filters_of_many_rows(many: Many) -> None:
    index, ids = many.index, many.ids
    np.testing.assert_array_equal(index.view().ids, ids)
    rng = np.random.default_rng(9)
    for share in (0.5, 0.2, 0.01, 0.0001, 0.0):
        hits = wanted = 0
        for query in clustered(8, DIM, 10):
            mask = rng.random(MANY) < share
            best = many.nearest(query, 10, mask)
            found, _ = index.view().search(query, k=10, allowed=rng.permutation(ids[mask]))
            assert len(found) == min(10, np.count_nonzero(mask))
            assert np.isin(found, ids[mask]).all()
            hits += len(set(found.tolist()) & best)
            wanted += len(best)
        assert hits >= 0.98 * wanted


def test_a_filter_for_what_is_far_away_still_finds_it(many: Many) -> None:
    query = clustered(1, DIM, 11)[0]
    cosines = many.rows @ query
    far = cosines < np.median(cosines)
    _, found = many.index.view().search(query, k=10, allowed=many.ids[far])
    # The median lies where rows are densest, and rounding to half precision reorders the best.
    np.testing.assert_allclose(found, np.sort(cosines[far])[:-11:-1], atol=1e-4)


def test_a_large_k_and_rows_without_spread(tiny_parts: None) -> None:
    index = VectorIndex.from_blobs(np.arange(100), np.ones((100, 16), np.float16), dim=16)
    for k in (3, 99, 100, 5_000):
        assert index.view().search(np.ones(16), k=k)[0].tolist() == list(range(min(k, 100)))


# --- writing --------------------------------------------------------------------------------------


class Changes(RuleBasedStateMachine):
    """Any series of writes leaves what one build of the same rows gives."""

    def __init__(self) -> None:
        super().__init__()
        self.patch = pytest.MonkeyPatch()
        shrink(self.patch)
        self.index = VectorIndex(dim=16)
        self.truth: dict[int, NDArray[np.float16]] = {}

    def teardown(self) -> None:
        self.patch.undo()

    @rule(ids=st.lists(st.integers(-5, 60), unique=True, max_size=40), seed=st.integers(0, 2**20))
    def add(self, ids: list[int], seed: int) -> None:
        rows = np.random.default_rng(seed).integers(1, 9, (len(ids), 16)).astype(np.float16)
        self.index.add(ids, rows)
        self.truth.update(zip(ids, rows, strict=True))

    @rule(ids=st.lists(st.integers(-5, 60), max_size=40))
    def remove(self, ids: list[int]) -> None:
        assert self.index.remove(ids) == len(self.truth.keys() & set(ids))
        for one in ids:
            self.truth.pop(one, None)

    @precondition(lambda self: self.truth)
    @rule()
    def reopen(self) -> None:
        rows = b"".join(row.tobytes() for row in self.truth.values())
        self.index = VectorIndex.from_blobs(list(self.truth), rows, dim=16)

    @rule(
        k=st.integers(1, 80),
        seed=st.integers(0, 2**20),
        allowed=st.none() | st.sets(st.integers(-9, 70)),
    )
    def search(self, k: int, seed: int, allowed: set[int] | None) -> None:
        query = np.random.default_rng(seed).standard_normal(16)
        kept = [i for i in sorted(self.truth) if allowed is None or i in allowed]
        fresh = VectorIndex(dim=16)
        if kept:
            fresh.add(kept, np.stack([self.truth[i] for i in kept]))
        best, cosines = fresh.view().search(query, k=k)
        view = self.index.view()
        asked = None if allowed is None else list(allowed)
        found, same = view.search(query, k=k, allowed=asked)
        np.testing.assert_array_equal(found, best)
        np.testing.assert_array_equal(same, cosines)

    @invariant()
    def holds_what_was_written(self) -> None:
        assert len(self.index) == len(self.truth)
        assert sorted(self.index.view().ids.tolist()) == sorted(self.truth)
        if self.truth:
            rows = np.stack(list(self.truth.values())).astype(np.float32)
            rows /= np.linalg.norm(rows, axis=1, keepdims=True)
            for query in np.eye(16, dtype=np.float32):
                cosines = self.index.view().cosines(query, list(self.truth))
                np.testing.assert_allclose(cosines, rows @ query, atol=1e-6)
        held = sum(len(part.ids) for part in self.index.view()._segments)
        assert held <= 2 * len(self.truth) + 8  # what is dead goes sooner or later


TestChanges = Changes.TestCase
TestChanges.settings = settings(deadline=None, max_examples=25, stateful_step_count=20)


def test_other_number_types_are_normalised_and_rounded() -> None:
    index = VectorIndex(dim=8)
    index.add([1, 2], [[1e30] + [0] * 7, [0.0, 1e-30] + [0] * 6])
    for query in np.eye(8, dtype=np.float32)[:2]:
        np.testing.assert_array_equal(index.view().cosines(query, [1, 2]), query[:2])


def test_a_large_index_stays_near_while_it_changes(many: Many) -> None:
    ids, rows = many.ids, many.rows.astype(np.float16)
    index = VectorIndex.from_blobs(ids[:30_000], rows[:30_000], dim=DIM)
    for start in range(30_000, MANY, 5_000):
        index.add(ids[start : start + 5_000], rows[start : start + 5_000])
    index.remove(ids[:9_000])
    kept = np.arange(MANY) >= 9_000
    hits = 0
    for query in clustered(10, DIM, 13):
        found, _ = index.view().search(query, k=10)
        hits += len(set(found.tolist()) & many.nearest(query, 10, kept))
    assert hits >= 98


def test_readers_never_see_half_a_write(tiny_parts: None) -> None:
    ids = np.arange(40)
    index = VectorIndex(dim=8)
    sides = np.eye(8, dtype=np.float16)
    index.add(ids, np.repeat(sides[:1], 40, axis=0))
    done = threading.Event()
    faults: list[str] = []

    def read() -> None:
        while not done.is_set():
            found, cosines = index.view().search(sides[0], k=100)
            if found.tolist() != ids.tolist() or len(set(cosines.tolist())) != 1:
                faults.append(f"{found} {cosines}")

    readers = [threading.Thread(target=read) for _ in range(3)]
    for reader in readers:
        reader.start()
    for turn in range(1, 150):
        index.add(ids, np.repeat(sides[turn % 8][None], 40, axis=0))
    done.set()
    for reader in readers:
        reader.join()
    assert not faults


# --- bad input ------------------------------------------------------------------------------------


@every(
    ("ids", "rows", "message"),
    [
        ([7], [[np.nan, *[1] * 7]], "row 7 is not finite"),
        ([7], [[np.inf, *[1] * 7]], "row 7 is not finite"),
        ([1, 8], [[1] * 8, [0] * 8], "row 8 is zero"),
        ([7], [[1] * 16], r"1 row ids came with vectors of shape \(1, 16\).*needs shape \(1, 8\)"),
        ([7, 9], [[1] * 8], "2 row ids came with"),
        ([7], [1] * 8, "1 row ids came with"),
        ([7, 7], [[1] * 8] * 2, "row id 7 is given twice"),
        ([0.5], [[1] * 8], "must be a flat list of integers"),
    ],
)
@every("kind", [np.float16, np.float32])
def test_bad_rows_are_refused_and_change_nothing(
    ids: list[int], rows: list[Any], message: str, kind: type[Any]
) -> None:
    index = VectorIndex(dim=8)
    index.add([1], np.ones((1, 8), np.float16))
    with pytest.raises(ValueError, match=message):
        index.add(ids, np.array(rows, kind))
    with pytest.raises(ValueError, match=message):
        VectorIndex.from_blobs(ids, np.array(rows, np.float16), dim=8)
    assert index.view().ids.tolist() == [1]


def test_bad_questions_are_refused() -> None:
    index = VectorIndex(dim=8)
    index.add([1, 2], np.ones((2, 8)))
    with pytest.raises(ValueError, match="the query is zero"):
        index.view().search(np.zeros(8), k=1)
    with pytest.raises(ValueError, match="the query is not finite"):
        index.view().search(np.full(8, np.nan), k=1)
    with pytest.raises(ValueError, match="holds vectors of 8; use the embedding model"):
        index.view().search(np.ones(16), k=1)
    with pytest.raises(ValueError, match="k is 0"):
        index.view().search(np.ones(8), k=0)


@pytest.mark.parametrize("dim", [0, -8, 12, 8_192])
def test_bad_dimensions_are_refused(dim: int) -> None:
    with pytest.raises(ValueError, match="a multiple of 8, not"):
        VectorIndex(dim=dim)


def test_blobs_of_another_size_are_refused() -> None:
    with pytest.raises(ValueError, match="17 bytes, which is no multiple of 16"):
        VectorIndex.from_blobs([1], bytes(17), dim=8)
