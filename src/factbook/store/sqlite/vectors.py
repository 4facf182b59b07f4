"""Find the nearest vectors of one owner: exactly when they are few, in three steps when many.

Rows are half precision, in segments of `SEGMENT_ROWS`. A full segment of a large index also has
one-bit codes (`codes`). A search narrows down in three steps:

1. signs of the query against the codes of all rows, which gives every row an upper bound of its
   cosine; some of the highest are scored exactly;
2. rows whose bound reaches the k-th best cosine so far get a tighter bound, from the same codes and
   a query of `QUERY_BITS` bits for each coordinate;
3. rows are scored exactly, from the highest bound down, until no bound reaches the k-th best.

So easy data costs little, and hard data costs time before it costs results.

Why so, and what was rejected:

- A mean per segment, not one for the index: a segment is coded once, when it is full, and rows that
  come later bring their own mean, so no code ever goes stale.
- Step 2 on all rows took more than twice as long as step 1; step 3 right after step 1 had three to
  five times as many rows to score.
- `numpy.vecdot`, not a matrix product: it sums every row in the same order wherever the row stands,
  so equal rows have equal cosines and no result depends on block sizes or threads.
- Shifting bits, not `float16.astype(float32)`: numpy converts halves one by one, four times slower.
- One thread per search: with a helper, threads wait for the interpreter lock between steps of some
  10 us, and on two cores that were busy anyway a search took more than twice as long.
- A graph or inverted lists would read fewer rows, but must be rebuilt or repaired as rows come and
  go, and a filter breaks their recall. Here a filter is applied before rows are chosen.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from factbook.store.sqlite import codes
from factbook.store.sqlite.codes import Floats, Halves, Ids, Mask, Positions

SEGMENT_ROWS: Final = 8_192
"""Rows of a segment: the work of one step, whose buffers stay in a core's cache; also the most rows
that an index scans exactly because their segment is not full yet."""

EXACT_ROWS: Final = 16_384
"""An index of so many rows is scanned exactly (4 ms) and needs no codes."""

EXACT_CHOSEN: Final = 8_192
"""A filter that leaves so many rows or fewer has them scored directly."""

FIRST_RERANK: Final = 512
"""Rows scored exactly before the k-th best cosine is first known; at least 4k."""

MAX_REFINED: Final = 131_072
"""Rows that get the tighter bound at most: like `MAX_RERANK`, it bounds what hard data may cost."""

MAX_RERANK: Final = 16_384
"""Rows scored exactly at most: the bound on the time that hard data may cost."""

SPREADS: Final = 3.0
"""How many standard errors an upper bound lies above its estimate: the row at the k-th place is
missed about once in 400 searches by the normal law (1 in 740 at each step 1 and 2), a nearer one
less often."""

QUERY_BITS: Final = 3
"""Bits of each coordinate of the query for the tighter bound; a fourth narrows it by 3 % more."""

MAX_DIM: Final = 4_096
"""Weighted bit counts of a row, at most 7 for each dimension, must fit 16 bits."""


class VectorView:
    """The rows of an index at one moment; it never changes, and any thread may read it.

    An index gives its newest one.
    """

    __slots__ = ("_centres", "_ids", "_segments", "_size", "_starts", "dim")

    def __init__(self, *, dim: int, segments: Sequence[codes.Segment] = ()) -> None:
        """Show the live rows of the segments."""
        self.dim: Final = dim
        self._segments: Final = tuple(segments)
        self._starts: Final = np.cumsum([0, *(len(part.ids) for part in segments)])
        self._size: Final = sum(part.live_rows for part in segments)
        self._ids: Ids | None = None
        # Segments with a code come first: a segment is coded no later than those behind it.
        centres = [part.code.centre for part in segments if part.code is not None]
        many = self._size > EXACT_ROWS
        self._centres: Final = np.stack(centres) if centres and many else None

    def __len__(self) -> int:
        """Count the rows."""
        return self._size

    @property
    def ids(self) -> Ids:
        """Return the ids of all rows."""
        if self._ids is None:
            parts = [s.ids if s.live is None else s.ids[s.live] for s in self._segments]
            self._ids = np.concatenate(parts) if parts else np.empty(0, np.int64)
            self._ids.flags.writeable = False
        return self._ids

    def search(
        self,
        query: ArrayLike,
        *,
        k: int,
        allowed: ArrayLike | None = None,
        spreads: float = SPREADS,
    ) -> tuple[Ids, Floats]:
        """Return the ids and cosines of the k nearest rows, best first, equal cosines by id.

        `query` is one vector of any length but zero. `allowed` (ids, unknown ones are ignored)
        leaves only some rows, before any is chosen.
        Fewer than k rows come back only where fewer are there. The cosines are exact; that the
        rows are the nearest is certain up to `EXACT_ROWS` rows and likely beyond: the more so, and
        the slower, the higher the bounds lie (`spreads`, see `SPREADS`).
        """
        unit = _unit(query, self.dim)
        if k < 1:
            raise ValueError(f"k is {k}; ask a vector search for at least 1 row")
        keep = self._keep(allowed)
        if keep is not None and np.count_nonzero(keep) <= EXACT_CHOSEN:
            few = np.flatnonzero(keep)
            return self._best(few, self._exact(few, unit), k)
        centres = self._centres
        if centres is None or 4 * k > MAX_RERANK:
            scores = self._scores(unit, keep, None)
            places = codes.highest(scores, k, least=k)
            return self._best(places, scores[places], k)
        turned = np.vecdot(codes.rotation(self.dim), unit)
        scores = self._scores(unit, keep, codes.focus(turned, centres, 1, spreads))
        places = codes.highest(scores, max(FIRST_RERANK, 4 * k), least=k)
        cosines = self._exact(places, unit)
        scores[places] = -np.inf
        limit = codes.nth_highest(cosines, k)
        left = np.flatnonzero(scores >= max(limit, codes.LOWEST))
        bounds = scores[left]
        if len(left) > MAX_REFINED:
            some = bounds >= codes.nth_highest(bounds, MAX_REFINED)
            left, bounds = left[some], bounds[some]
        if len(left) > FIRST_RERANK:
            bounds = self._refined(left, bounds, codes.focus(turned, centres, QUERY_BITS, spreads))
        batch = FIRST_RERANK
        while len(left) and len(places) < MAX_RERANK:
            high = bounds >= max(limit, codes.nth_highest(bounds, batch))
            places = np.concatenate((places, left[high]))
            cosines = np.concatenate((cosines, self._exact(left[high], unit)))
            limit = codes.nth_highest(cosines, k)
            low = ~high & (bounds >= limit)
            left, bounds = left[low], bounds[low]
            batch *= 2
        return self._best(places, cosines, k)

    def cosines(self, query: ArrayLike, ids: ArrayLike) -> Floats:
        """Return the exact cosine of each row to a vector; NaN for an id that the index lacks."""
        unit = _unit(query, self.dim)
        asked = _as_ids(ids)
        by_id = np.argsort(asked, kind="stable")
        wanted = asked[by_id]
        if not np.all(wanted[1:] > wanted[:-1]):
            raise ValueError("a row id is given twice; give each id once")
        result = np.full(len(asked), np.nan, np.float32)
        for part in self._segments:
            there, here = part.find(wanted)
            if len(here):
                cosines = np.empty(len(here), np.float32)
                codes.cosines(part.rows[here], part.scale[here], unit, cosines)
                result[by_id[there]] = cosines
        return result

    def _keep(self, allowed: ArrayLike | None) -> Mask | None:
        """Turn a filter into one bool for each row, dead ones among them; None: no filter."""
        if allowed is None:
            return None
        keep = np.zeros(int(self._starts[-1]), np.bool_)
        wanted = _as_ids(allowed)
        if not np.all(wanted[1:] > wanted[:-1]):
            wanted = np.unique(wanted)
        for start, part in zip(self._starts, self._segments, strict=False):
            keep[part.find(wanted)[1] + start] = True
        return keep

    def _scores(self, unit: Floats, keep: Mask | None, lens: codes.Lens | None) -> Floats:
        """Score every row: a bound where there is a lens and a code, else the cosine itself."""
        starts = self._starts
        scores: Floats = codes.scratch.take("scores", (int(starts[-1]),), np.float32)
        for at, part in enumerate(self._segments):
            out = scores[starts[at] : starts[at + 1]]
            if lens is not None and part.code is not None:
                codes.bound(part.code, lens, at, out)
            else:
                codes.cosines(part.rows, part.scale, unit, out)
            if part.live is not None:
                out[~part.live] = -np.inf
            if keep is not None:
                out[~keep[starts[at] : starts[at + 1]]] = -np.inf
        return scores

    def _refined(self, places: Positions, bounds: Floats, lens: codes.Lens) -> Floats:
        """Return the bounds of rows at ascending places, tighter where the rows have a code."""
        bounds = bounds.copy()
        words = lens.planes.shape[0]
        # Segment by segment: what the lens says of each is then a number, not a column of its own.
        cuts = np.searchsorted(places, self._starts[: lens.high.size + 1])  # uncoded rows are last
        for at, (first, last) in enumerate(pairwise(cuts.tolist())):
            code = self._segments[at].code
            if first == last or code is None:
                continue
            here = places[first:last] - self._starts[at]
            columns = codes.scratch.take("columns", (words, len(here)), np.uint64)
            np.take(code.columns, here, axis=1, out=columns, mode="clip")
            weighted = codes.differing(columns, lens.planes[:, :, at : at + 1])
            tight = code.slope[here] * (lens.high[at] - lens.low[at] * weighted)
            tight += code.offset[here]
            tight += lens.shift[at]
            bounds[first:last] = tight
        return bounds

    def _pieces(self, places: Positions) -> Iterator[tuple[codes.Segment, slice, Positions]]:
        """Cut ascending places by segment: the segment, which of `places`, and where in it."""
        cuts = np.searchsorted(places, self._starts)
        for at, (first, last) in enumerate(pairwise(cuts.tolist())):
            if first < last:
                here = places[first:last] - self._starts[at]
                yield self._segments[at], slice(first, last), here

    def _exact(self, places: Positions, unit: Floats) -> Floats:
        """Return the cosines of the rows at ascending places."""
        cosines = np.empty(len(places), np.float32)
        chunk = 4 * codes.BLOCK
        for start in range(0, len(places), chunk):
            some = places[start : start + chunk]
            rows = codes.scratch.take("rows", (len(some), self.dim), np.float16)
            scale = codes.scratch.take("scale", (len(some),), np.float32)
            for part, where, here in self._pieces(some):
                np.take(part.rows, here, axis=0, out=rows[where], mode="clip")
                np.take(part.scale, here, out=scale[where], mode="clip")
            codes.cosines(rows, scale, unit, cosines[start : start + chunk])
        return cosines

    def _best(self, places: Positions, cosines: Floats, k: int) -> tuple[Ids, Floats]:
        """Return the ids and cosines of the k best of some rows, equal cosines by id."""
        if len(places) > k:
            near = cosines >= codes.nth_highest(cosines, k)
            places, cosines = places[near], cosines[near]
        upward = np.argsort(places)
        ids = np.empty(len(places), np.int64)
        for part, where, here in self._pieces(places[upward]):
            ids[upward[where]] = part.ids[here]
        order = np.lexsort((ids, -cosines))[:k]
        return ids[order], cosines[order]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Tail:
    """The segment that is being filled. Rows past `count` are nobody's yet; no view shows them."""

    ids: Ids  # (SEGMENT_ROWS,)
    rows: Halves  # (SEGMENT_ROWS, dim)
    scale: Floats  # (SEGMENT_ROWS,)
    count: int  # rows filled
    live: Mask | None  # (count,): as in a segment

    def segment(self) -> codes.Segment:
        """Show the filled rows as a segment."""
        end = self.count
        return codes.segment_of(self.ids[:end], self.rows[:end], self.scale[:end], self.live)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Rows:
    """Checked rows on their way into the index."""

    ids: Ids  # (rows,), distinct
    rows: Halves  # (rows, dim), finite and not zero
    scale: Floats  # (rows,)


class VectorIndex:
    """A set of vectors by id that can be searched while it changes.

    Any thread may call anything: writers wait for each other, and a reader sees the rows as they
    were before or after a write, never in between. A row takes `2 * dim` bytes, 12 more, and in a
    large index `dim / 8 + 8` for its code: 840 MB for a million rows of 384.
    """

    __slots__ = ("_lock", "_sealed", "_tail", "_view")

    def __init__(self, *, dim: int) -> None:
        """Make an empty index for vectors of `dim` coordinates, a multiple of 8."""
        if not 0 < dim <= MAX_DIM or dim % 8:
            raise ValueError(
                f"a vector index needs a dimension from 8 to {MAX_DIM} that is a multiple of 8, "
                f"not {dim}"
            )
        self._lock: Final = threading.Lock()
        self._sealed: list[codes.Segment] = []
        self._tail: _Tail | None = None
        self._view = VectorView(dim=dim)

    @classmethod
    def from_blobs(
        cls, ids: ArrayLike, blobs: bytes | memoryview | Halves, *, dim: int
    ) -> VectorIndex:
        """Make an index of rows that lie one behind the other, without copying them.

        `blobs` holds one half-precision row of `dim` for each id, as little-endian bytes or as an
        array, and must not change afterwards. Rows need not have length 1.
        """
        index = cls(dim=dim)
        if isinstance(blobs, np.ndarray):
            rows = blobs
        else:
            size = memoryview(blobs).nbytes
            if size % (2 * dim):
                raise ValueError(
                    f"the vectors take {size} bytes, which is no multiple of {2 * dim}, "
                    f"the size of one row of dimension {dim}"
                )
            rows = np.frombuffer(blobs, "<f2").astype(np.float16, copy=False).reshape(-1, dim)
        checked = _checked(ids, rows, dim)
        count = len(checked.ids)
        parts = -(-count // SEGMENT_ROWS)
        edges = [count * at // parts for at in range(parts + 1)] if parts else []
        sealed = [
            codes.segment_of(checked.ids[a:b], checked.rows[a:b], checked.scale[a:b])
            for a, b in pairwise(edges)
        ]
        index._commit(sealed, None)
        return index

    @property
    def dim(self) -> int:
        """Return the number of coordinates of a vector."""
        return self._view.dim

    def __len__(self) -> int:
        """Count the rows."""
        return len(self._view)

    def view(self) -> VectorView:
        """Return the rows as they are now."""
        return self._view

    def add(self, ids: ArrayLike, vectors: ArrayLike) -> None:
        """Add one row for each id; a row whose id is known is replaced.

        Half-precision vectors are kept as they are, others normalised and rounded. Raises
        ValueError, and changes nothing, for a wrong shape, an id given twice, or a vector that is
        zero or not finite.
        """
        new = _checked(ids, np.asarray(vectors), self.dim)
        with self._lock:
            sealed, tail, _ = self._without(np.sort(new.ids))
            self._commit(*self._with(sealed, tail, new))

    def remove(self, ids: ArrayLike) -> int:
        """Remove the rows of the ids, and return how many there were."""
        gone = np.unique(_as_ids(ids))
        with self._lock:
            sealed, tail, removed = self._without(gone)
            if removed:
                self._commit(sealed, tail)
        return removed

    def _without(self, gone: Ids) -> tuple[list[codes.Segment], _Tail | None, int]:
        """Return the segments and the tail with some ids dead, and how many were there."""
        removed = 0
        sealed = []
        for part in self._sealed:
            _, here = part.find(gone)
            removed += len(here)
            sealed.append(part.without(here) if len(here) else part)
        tail = self._tail
        if tail is not None:
            part = tail.segment()
            _, here = part.find(gone)
            removed += len(here)
            if len(here):
                tail = replace(tail, live=part.without(here).live)
        return sealed, tail, removed

    def _with(
        self, sealed: list[codes.Segment], tail: _Tail | None, new: _Rows
    ) -> tuple[list[codes.Segment], _Tail | None]:
        """Return the segments and the tail with rows behind them; a full tail becomes a segment."""
        done = 0
        while done < len(new.ids):
            if tail is None:
                tail = _Tail(
                    ids=np.empty(SEGMENT_ROWS, np.int64),
                    rows=np.empty((SEGMENT_ROWS, self.dim), np.float16),
                    scale=np.empty(SEGMENT_ROWS, np.float32),
                    count=0,
                    live=None,
                )
            some = min(SEGMENT_ROWS - tail.count, len(new.ids) - done)
            end = tail.count + some
            tail.ids[tail.count : end] = new.ids[done : done + some]
            tail.rows[tail.count : end] = new.rows[done : done + some]
            tail.scale[tail.count : end] = new.scale[done : done + some]
            live = tail.live
            if live is not None:
                live = np.concatenate((live, np.ones(some, np.bool_)))
            tail = replace(tail, count=end, live=live)
            done += some
            if end == SEGMENT_ROWS:
                sealed = [*sealed, tail.segment()]
                tail = None
        return sealed, tail

    def _commit(self, sealed: list[codes.Segment], tail: _Tail | None) -> None:
        """Show readers the new rows, all at once.

        A segment that is mostly dead gives its rows to the tail, so memory and time follow the
        rows that live, and no write has to move more than it has killed.
        """
        for part in [part for part in sealed if 2 * part.live_rows < len(part.ids)]:
            sealed = [other for other in sealed if other is not part]
            live = codes.NOWHERE if part.live is None else np.flatnonzero(part.live)
            rest = _Rows(ids=part.ids[live], rows=part.rows[live], scale=part.scale[live])
            sealed, tail = self._with(sealed, tail, rest)
        if tail is not None and tail.live is not None and not tail.live.any():
            tail = None
        segments = sealed if tail is None else [*sealed, tail.segment()]
        if sum(part.live_rows for part in segments) > EXACT_ROWS:
            sealed = [codes.encode(part) for part in sealed]
            segments = sealed if tail is None else [*sealed, segments[-1]]
        self._sealed, self._tail = sealed, tail
        self._view = VectorView(dim=self.dim, segments=segments)


def _as_ids(ids: ArrayLike) -> Ids:
    array = np.asarray(ids)
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
        raise ValueError(
            f"row ids must be a flat list of integers, not {array.dtype} of shape {array.shape}"
        )
    return array.astype(np.int64, copy=False)


def _unit(query: ArrayLike, dim: int) -> Floats:
    """Return a query as float32 of length 1."""
    given = np.asarray(query)
    if given.shape != (dim,):
        raise ValueError(
            f"the query has shape {given.shape}, but the index holds vectors of {dim}; "
            "use the embedding model that the index was made with"
        )
    # Float64, so that the squares of the largest and the smallest float32 stay in range.
    wide = given.astype(np.float64)
    length = np.sqrt(np.vecdot(wide, wide))
    if not (np.isfinite(length) and length > 0):
        raise ValueError(_refusal("the query", zero=bool(length == 0)))
    unit: Floats = (wide / length).astype(np.float32)
    return unit


def _refusal(which: str, *, zero: bool) -> str:
    return f"{which} is {'zero' if zero else 'not finite'}, so it has no direction; embed it again"


def _checked(ids: ArrayLike, vectors: NDArray[Any], dim: int) -> _Rows:
    """Return rows that the index can hold, or raise ValueError and name the row id at fault."""
    flat = _as_ids(ids)
    if vectors.size == 0 and len(flat) == 0:
        vectors = np.empty((0, dim), np.float16)
    if vectors.ndim != 2 or vectors.shape != (len(flat), dim):
        raise ValueError(
            f"{len(flat)} row ids came with vectors of shape {vectors.shape}; "
            f"this index needs shape ({len(flat)}, {dim})"
        )
    ascending = np.sort(flat)
    twice = np.flatnonzero(ascending[1:] == ascending[:-1])
    if len(twice):
        raise ValueError(f"row id {ascending[twice[0]]} is given twice; give each id once")
    if vectors.dtype != np.float16:
        wide = vectors.astype(np.float64)
        length = np.sqrt(np.vecdot(wide, wide))
        bad = np.flatnonzero(~(np.isfinite(length) & (length > 0)))
        if len(bad):
            at = bad[0]
            raise ValueError(_refusal(f"the vector of row {flat[at]}", zero=bool(length[at] == 0)))
        vectors = (wide / length[:, None]).astype(np.float16)
    return _Rows(ids=flat, rows=vectors, scale=_scales(flat, vectors))


def _scales(ids: Ids, rows: Halves) -> Floats:
    """Return 1 / length of each row; refuse one that is zero or not finite."""
    scale = np.empty(len(rows), np.float32)
    for start in range(0, len(rows), codes.BLOCK):
        where = slice(start, start + codes.BLOCK)
        block = rows[where]
        wide = codes.scratch.take("wide", block.shape, np.float32)
        exponent = block.view(np.uint16) & np.uint16(0x7C00)
        codes.widen(block, wide)
        wide *= codes.HALF_TO_FLOAT
        length = np.sqrt(np.vecdot(wide, wide))
        good = (exponent.max(axis=1) < 0x7C00) & (length > 0)
        if not good.all():
            at = int(np.argmin(good))
            which = f"the vector of row {ids[start + at]}"
            raise ValueError(_refusal(which, zero=bool(length[at] == 0)))
        np.divide(1, length, out=scale[where])
    return scale
