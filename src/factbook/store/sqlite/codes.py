"""Keep rows of half precision in segments, and bound their cosines to a query by one-bit codes.

A code holds the signs of a segment's rows, after subtracting the segment's mean and turning by a
fixed random rotation, laid out column by column as 64-bit words: 48 bytes a row instead of 768. The
estimates and their errors are those of RaBitQ (Gao and Long, SIGMOD 2024), which the rotation makes
unbiased whatever the data are. What is done with the bounds is said in `vectors`.
"""

from __future__ import annotations

import math
import threading
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

Bits = NDArray[np.uint64]
Floats = NDArray[np.float32]
Halves = NDArray[np.float16]
Ids = NDArray[np.int64]
Mask = NDArray[np.bool_]
Positions = NDArray[np.intp]

QUERY_STEP: Final = 0.586
"""Step of the best even 3-bit grid for a normal coordinate, in standard deviations (Max, 1960);
one bit needs no step, only a sign."""

BLOCK: Final = 256  # rows converted at once, so that they are still in cache when scored
HALF_TO_FLOAT: Final = np.float32(2.0**112)  # bias of float32 exponents over those of float16
_CODE_LOSS: Final = 1 - 2 / np.pi  # share of a normal vector's square that its signs do not hold
_ROTATION_SEED: Final = 384  # any fixed number: equal rows must always have equal codes


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Code:
    """The first pass over one segment: cosine ~ slope * signs . query + offset + centre . query."""

    columns: Bits  # (words, rows): word j of every row side by side
    slope: Floats  # (rows,): turns a sum over signs into a cosine
    offset: Floats  # (rows,): what the centre adds to the cosine, whatever the query
    centre: Floats  # (dim,): mean of the rows, rotated


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Segment:
    """A run of rows that never changes; a change makes another segment that shares the arrays."""

    ids: Ids  # (rows,)
    rows: Halves  # (rows, dim)
    scale: Floats  # (rows,): 1 / length of the row as rounded to half precision
    keys: Ids  # ids of the live rows, ascending; a dead row may have the id of a live one
    order: Positions | None  # where the rows of `keys` stand; None: in the same places
    live: Mask | None = None  # (rows,): False where removed or replaced; None: all are live
    code: Code | None = None  # None: scanned exactly

    @property
    def live_rows(self) -> int:
        """Count the rows that have not been removed or replaced."""
        return len(self.keys)

    def find(self, wanted: Ids) -> tuple[Positions, Positions]:
        """Return where live `wanted` ids (ascending, distinct) stand in `wanted` and in here."""
        keys = self.keys
        if not len(keys) or not len(wanted) or keys[0] > wanted[-1] or keys[-1] < wanted[0]:
            return NOWHERE, NOWHERE
        first, last = np.searchsorted(wanted, (keys[0], keys[-1] + 1))
        sought = wanted[first:last]
        place = np.searchsorted(keys, sought)  # in range: no id sought lies beyond the last
        hits = np.flatnonzero(keys[place] == sought)
        here = place[hits]
        return hits + first, here if self.order is None else self.order[here]

    def without(self, places: Positions) -> Segment:
        """Return this segment with the rows at `places` dead."""
        live = np.ones(len(self.ids), np.bool_) if self.live is None else self.live.copy()
        live[places] = False
        order = np.arange(len(self.ids)) if self.order is None else self.order
        order = order[live[order]]
        return replace(self, live=live, keys=self.ids[order], order=order)


NOWHERE: Final[Positions] = np.empty(0, np.intp)


def segment_of(ids: Ids, rows: Halves, scale: Floats, live: Mask | None = None) -> Segment:
    """Describe checked rows as a segment without a code."""
    keys, order = ids, None
    if live is not None or not np.all(ids[1:] > ids[:-1]):
        order = np.arange(len(ids)) if live is None else np.flatnonzero(live)
        order = order[np.argsort(ids[order], kind="stable")]
        keys = ids[order]
    return Segment(ids=ids, rows=rows, scale=scale, keys=keys, order=order, live=live)


def encode(segment: Segment) -> Segment:
    """Return the segment with its one-bit code."""
    if segment.code is not None:
        return segment
    count, dim = segment.rows.shape
    rows = np.empty((count, dim), np.float32)
    widen(segment.rows, rows)
    rows *= (segment.scale * HALF_TO_FLOAT)[:, None]
    rows = rows @ rotation(dim).T
    centre = rows.mean(axis=0)
    offset = np.vecdot(rows, centre) - np.vecdot(centre, centre)
    rows -= centre
    signs = _pack(rows > 0)
    square = np.vecdot(rows, rows)
    np.abs(rows, out=rows)
    total = rows.sum(axis=1)
    # A row that equals the mean has no direction; its slope of 0 says that its offset is exact.
    slope = np.divide(square, total, out=np.zeros_like(square), where=total > 0)
    code = Code(columns=np.ascontiguousarray(signs.T), slope=slope, offset=offset, centre=centre)
    return replace(segment, code=code)


@lru_cache(maxsize=4)
def rotation(dim: int) -> Floats:
    """Return the random orthogonal matrix that spreads every direction over all coordinates."""
    normal = np.random.default_rng(_ROTATION_SEED).standard_normal((dim, dim))
    q, r = np.linalg.qr(normal)
    return np.ascontiguousarray(q * np.sign(np.diag(r)), dtype=np.float32)


def _pack(bits: NDArray[np.bool_ | np.uint8]) -> Bits:
    """Pack the last axis into 64-bit words, the last word filled up with zeros."""
    packed = np.packbits(bits, axis=-1)
    words = -(-packed.shape[-1] // 8)
    padded = np.zeros((*packed.shape[:-1], words * 8), np.uint8)
    padded[..., : packed.shape[-1]] = packed
    return padded.view(np.uint64)


def widen(rows: Halves, out: Floats) -> None:
    """Write `rows * 2**-112` as float32, exactly; finite rows only.

    The bits of a half, moved to where a float32 has its exponent and fraction, are that number
    with the smaller exponent bias. The factor belongs to the caller, who multiplies something
    smaller than the rows by it.
    """
    bits = out.view(np.int32)
    halves = rows.view(np.int16)
    for start in range(0, len(rows), BLOCK):
        block = bits[start : start + BLOCK]
        np.copyto(block, halves[start : start + BLOCK])
        np.left_shift(block, 13, out=block)
        np.bitwise_and(block, np.int32(-0x7000_0001), out=block)  # 0x8FFF_FFFF: one sign bit


class _Scratch(threading.local):
    """Keep each thread's work buffers: a fresh one would cost a page fault every 4096 bytes."""

    def __init__(self) -> None:
        self._buffers: dict[str, NDArray[np.uint8]] = {}

    def take(self, name: str, shape: tuple[int, ...], kind: type[np.generic]) -> NDArray[Any]:
        """Return the buffer of that name, its content undefined; the next caller gets it again."""
        size = math.prod(shape) * np.dtype(kind).itemsize
        buffer = self._buffers.get(name)
        if buffer is None or len(buffer) < size:
            buffer = self._buffers[name] = np.empty(size, np.uint8)
        return buffer[:size].view(kind).reshape(shape)


scratch: Final = _Scratch()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Lens:
    """The query as each coded segment sees it, from the segment's mean, in planes of bits.

    `bound = slope * (high - low * W) + offset + shift`, where W counts the bits in which the row's
    signs differ from the planes, each weighted by its plane.
    """

    planes: Bits  # (words, planes, segments), the lowest bit first
    high: Floats  # (segments,)
    low: Floats  # (segments,)
    shift: Floats  # (segments,)


def focus(turned: Floats, centres: Floats, bits: int, spreads: float) -> Lens:
    """Cut the rotated query into bit planes for each centre, and say how far the estimate may err.

    With 3 bits, a coordinate becomes an odd level from -7 to 7, which is a sum of signs weighted
    1, 2 and 4; so its product with a row's signs needs only XOR and bit counts.
    """
    dim = len(turned)
    top = 2**bits - 1
    tiny = np.finfo(np.float32).tiny
    seen = turned - centres
    square = np.vecdot(seen, seen)
    step = np.maximum(QUERY_STEP * np.sqrt(square / dim), tiny)
    cells = np.clip(np.floor(seen / step[:, None] + (top + 1) / 2), 0, top)
    levels = 2 * cells - top
    # Levels of this size are the query plus a part at right angles to it: no bias, more spread.
    unit = square / np.maximum(np.vecdot(levels, seen), tiny)
    rounding = np.maximum(unit * unit * np.vecdot(levels, levels) - square, 0)
    spread = np.sqrt(_CODE_LOSS * square + rounding)
    planes = cells.astype(np.uint8)[:, None, :] >> np.arange(bits, dtype=np.uint8)[:, None]
    return Lens(
        planes=np.ascontiguousarray(_pack(planes & 1).transpose(2, 1, 0)),
        high=(unit * (top * dim) + spreads * spread).astype(np.float32),
        low=(2 * unit).astype(np.float32),
        shift=np.vecdot(centres, turned),
    )


def differing(columns: Bits, planes: Bits) -> NDArray[np.uint16]:
    """Count the bits in which each row differs from the planes (words, planes, rows or 1)."""
    words, rows = columns.shape
    depth = planes.shape[1]
    total = scratch.take("total", (depth, rows), np.uint16)
    partial = scratch.take("partial", (depth, rows), np.uint8)
    for first in range(0, words, 3):  # three words differ in at most 192 bits, which fit 8
        some = slice(first, min(first + 3, words))
        shape = (some.stop - first, depth, rows)
        differ = scratch.take("differ", shape, np.uint64)
        count = scratch.take("count", shape, np.uint8)
        np.bitwise_xor(columns[some, None], planes[some], out=differ)
        np.bitwise_count(differ, out=count)
        np.add.reduce(count, axis=0, out=partial)
        if first == 0:
            np.copyto(total, partial)
        else:
            np.add(total, partial, out=total)
    weighted = total[-1]
    for plane in total[-2::-1]:
        np.add(weighted, weighted, out=weighted)
        np.add(weighted, plane, out=weighted)
    result: NDArray[np.uint16] = weighted
    return result


def bound(code: Code, lens: Lens, at: int, out: Floats) -> None:
    """Write the upper bound of the cosine of each row of the segment with number `at`."""
    weighted = differing(code.columns, lens.planes[:, :, at : at + 1])
    np.multiply(weighted, -lens.low[at], out=out)
    out += lens.high[at]
    out *= code.slope
    out += code.offset
    out += lens.shift[at]


def cosines(rows: Halves, scale: Floats, query: Floats, out: Floats) -> None:
    """Write the exact cosine of each row to the unit query."""
    for start in range(0, len(rows), BLOCK):
        block = rows[start : start + BLOCK]
        wide = scratch.take("wide", block.shape, np.float32)
        widen(block, wide)
        np.vecdot(wide, query * HALF_TO_FLOAT, out=out[start : start + len(block)])
    out *= scale
    np.clip(out, -1.0, 1.0, out=out)


def highest(scores: Floats, count: int, *, least: int) -> Positions:
    """Return, ascending, the places of roughly the `count` highest scores above minus infinity.

    The limit is read off an even sample, since sorting out a million scores takes as long as
    computing them. At least the `least` highest are there, with all that equal the last of them.
    """
    stride = max(1, count // 16)
    limit = nth_highest(scores[::stride], -(-count // stride))
    places = np.flatnonzero(scores >= max(limit, LOWEST))
    if len(places) < least:
        limit = nth_highest(scores, least)
        places = np.flatnonzero(scores >= max(limit, LOWEST))
    elif len(places) > 2 * count:  # rows whose order has the period of the sample
        picked = scores[places]
        places = places[picked >= nth_highest(picked, max(count, least))]
    return places


LOWEST: Final = np.finfo(np.float32).min  # any score but the minus infinity of a row left out


def nth_highest(scores: Floats, n: int) -> np.float32:
    """Return the n-th highest score, or minus infinity where there are not so many."""
    if n > len(scores):
        return np.float32(-np.inf)
    place = len(scores) - n
    return np.float32(np.partition(scores, place)[place])
