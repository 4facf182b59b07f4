"""Find what was to be erased: every eight bytes of it, at every place.

A text that was copied around inside a database file may be left there in pieces: in the free part
of a page, in the terms of an index. So what is looked for is not the text but each run of `WIDTH`
bytes of it, as a 64-bit number, in the bytes of the file at every offset. A bit table of hashed
numbers passes over nearly all of the file; what it lets through is compared exactly.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

WIDTH: Final = 8
"""Bytes of one window: short enough to find a torn word, long enough to mean something."""

BLOCK: Final = 4 << 20
"""Bytes of a file that are looked at together; their buffers stay small beside the file."""

DENSE_BYTES: Final = 8 << 20
"""Texts up to here are looked for at every offset, longer ones at every eighth: what is left of so
much text is more than 15 bytes long, and such a piece holds a whole window."""

_TABLE_BITS: Final = (16, 27)  # of the bit table: at least, and at most (128 MB)
_SPARSE_BITS: Final = 5  # one place in 32 is taken
_SPREAD: Final = np.uint64(0x9E37_79B9_7F4A_7C15)  # 2**64 / the golden ratio: spreads close numbers

Numbers = NDArray[np.uint64]


def _at_every_offset(data: bytes) -> Iterator[tuple[int, Numbers]]:
    """Yield (offset, the windows that begin at it and every `WIDTH` bytes on)."""
    for offset in range(min(WIDTH, max(0, len(data) - WIDTH + 1))):
        count = (len(data) - offset) // WIDTH
        yield offset, np.frombuffer(data, "<u8", count, offset)


class Windows:
    """A set of windows that can be looked for."""

    def __init__(self, numbers: Numbers, *, dense: bool = True) -> None:
        """Take the windows as numbers; `dense` tells that they are of every offset."""
        self.dense = dense
        self._numbers: Numbers = np.unique(numbers)
        low, high = _TABLE_BITS
        bits = min(max(len(self._numbers).bit_length() + _SPARSE_BITS, low), high)
        self._shift = np.uint64(64 - bits)
        self._table = np.zeros(1 << bits, np.bool_)
        self._table[self._places(self._numbers)] = True

    @classmethod
    def of(cls, texts: Iterable[str]) -> Windows:
        """Return the windows of texts; one shorter than a window has none."""
        data = [text.encode("utf-8", "surrogatepass") for text in texts]
        dense = sum(len(raw) for raw in data) <= DENSE_BYTES
        parts = [
            part for raw in data for offset, part in _at_every_offset(raw) if dense or offset == 0
        ]
        return cls(np.concatenate(parts) if parts else np.empty(0, np.uint64), dense=dense)

    def __len__(self) -> int:
        """Return how many different windows there are."""
        return len(self._numbers)

    def found_in(self, blocks: Iterable[bytes]) -> Windows:
        """Return those of the windows that stand anywhere in the blocks."""
        seen: list[Numbers] = []
        for block in blocks:
            for _, numbers in _at_every_offset(block):
                hits = self._hits(numbers)
                if hits.any():
                    seen.append(np.unique(numbers[hits]))
        return Windows(np.concatenate(seen) if seen else np.empty(0, np.uint64), dense=self.dense)

    def without(self, others: Windows) -> Windows:
        """Return the windows that are not among the others."""
        left = np.setdiff1d(self._numbers, others._numbers, assume_unique=True)
        return Windows(left, dense=self.dense)

    def sharing(self, texts: Sequence[str], *, least: int) -> list[int]:
        """Return which texts have so many bytes in a row in common with what the windows are of.

        Where the windows are of very much text, one window is enough.
        """
        least = least if self.dense else WIDTH
        sharing: list[int] = []
        for first, pieces in _batches(texts):
            data = b"\xff".join(pieces)  # no text holds that byte, so no window reaches over two
            if len(data) < WIDTH or not len(self._numbers):
                continue
            hit = np.zeros(len(data) - WIDTH + 1, np.bool_)
            for offset, numbers in _at_every_offset(data):
                hit[offset::WIDTH] = self._hits(numbers)
            edges = np.flatnonzero(np.diff(np.concatenate(([0], hit.view(np.int8), [0]))))
            begins, ends = edges[::2], edges[1::2]
            begins = begins[ends - begins + WIDTH - 1 >= least]
            places = np.cumsum([0, *(len(piece) + 1 for piece in pieces)])
            which = np.unique(np.searchsorted(places, begins, side="right") - 1)
            sharing += [first + int(index) for index in which]
        return sharing

    def _places(self, numbers: Numbers) -> NDArray[np.uint64]:
        places: NDArray[np.uint64] = (numbers * _SPREAD) >> self._shift
        return places

    def _hits(self, numbers: Numbers) -> NDArray[np.bool_]:
        """Tell of each number whether it is one of the windows."""
        hits: NDArray[np.bool_] = self._table[self._places(numbers)]
        maybe = np.flatnonzero(hits)
        if len(maybe):
            asked = numbers[maybe]
            at = np.searchsorted(self._numbers, asked)
            at[at == len(self._numbers)] = 0
            hits[maybe] = self._numbers[at] == asked
        return hits


def joined(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Join pieces into blocks, kept apart so that no window reaches over two of them."""
    held: list[bytes] = []
    size = 0
    for piece in pieces:
        held.append(piece)
        size += len(piece) + 1
        if size >= BLOCK:
            yield b"\xff".join(held)
            held, size = [], 0
    if held:
        yield b"\xff".join(held)


def _batches(texts: Sequence[str]) -> Iterator[tuple[int, list[bytes]]]:
    """Yield (number of the first, texts as bytes), some megabytes at a time."""
    first, held, size = 0, list[bytes](), 0
    for n, text in enumerate(texts):
        held.append(text.encode("utf-8", "surrogatepass"))
        size += len(held[-1])
        if size >= BLOCK:
            yield first, held
            first, held, size = n + 1, [], 0
    if held:
        yield first, held
