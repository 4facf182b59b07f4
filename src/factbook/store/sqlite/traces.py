"""Find in files what was to be erased: every eight bytes of it, at every place.

Knows: bytes. Does not know: tables, what the bytes mean.

A text that was copied around inside a database file may be left there in pieces: in the free part
of a page, in the terms of an index. So what is looked for is not the text but each run of `WIDTH`
bytes of it, as a 64-bit number, in the bytes of the file at every offset. A bit table of hashed
numbers passes over nearly all of the file; what it lets through is compared exactly.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

__all__ = ["WIDTH", "Windows", "blocks_of"]

WIDTH: Final = 8
"""Bytes of one window: short enough to find a torn word, long enough to mean something."""

BLOCK: Final = 4 << 20
"""Bytes of a file that are looked at together; their buffers stay small beside the file."""

DENSE_BYTES: Final = 8 << 20
"""Texts up to here are looked for at every offset, longer ones at every eighth: what is left of so
much text is more than 15 bytes long, and such a piece holds a whole window."""

_TABLE_BITS: Final = 22
_SPREAD: Final = np.uint64(0x9E37_79B9_7F4A_7C15)  # 2**64 / the golden ratio: spreads close numbers

Numbers = NDArray[np.uint64]


def _at_every_offset(data: bytes) -> Iterator[tuple[int, Numbers]]:
    """Yield (offset, the windows that begin at it and every `WIDTH` bytes on)."""
    for offset in range(min(WIDTH, max(0, len(data) - WIDTH + 1))):
        count = (len(data) - offset) // WIDTH
        yield offset, np.frombuffer(data, "<u8", count, offset)


class Windows:
    """A set of windows that can be looked for."""

    def __init__(self, numbers: Numbers) -> None:
        """Take the windows as numbers."""
        self._numbers: Numbers = np.unique(numbers)
        self._table = np.zeros(1 << _TABLE_BITS, np.bool_)
        self._table[self._places(self._numbers)] = True

    @classmethod
    def of(cls, texts: Iterable[str]) -> Windows:
        """Return the windows of texts; one shorter than a window has none."""
        data = [text.encode("utf-8", "surrogatepass") for text in texts]
        dense = sum(len(one) for one in data) <= DENSE_BYTES
        parts = [
            part for one in data for offset, part in _at_every_offset(one) if dense or offset == 0
        ]
        return cls(np.concatenate(parts) if parts else np.empty(0, np.uint64))

    def __len__(self) -> int:
        """Return how many different windows there are."""
        return len(self._numbers)

    def found_in(self, blocks: Iterable[bytes]) -> Windows:
        """Return those of the windows that stand anywhere in the blocks."""
        seen: list[Numbers] = []
        for block in blocks:
            for _, numbers in _at_every_offset(block):
                hits = numbers[self._table[self._places(numbers)]]
                if len(hits):
                    seen.append(np.intersect1d(hits, self._numbers))
        return Windows(np.concatenate(seen) if seen else np.empty(0, np.uint64))

    def without(self, others: Windows) -> Windows:
        """Return the windows that are not among the others."""
        return Windows(np.setdiff1d(self._numbers, others._numbers, assume_unique=True))

    def longest_run(self, data: bytes) -> int:
        """Return how many bytes in a row of some data are covered by windows."""
        if len(data) < WIDTH or not len(self._numbers):
            return 0
        hit = np.zeros(len(data) - WIDTH + 1, np.bool_)
        for offset, numbers in _at_every_offset(data):
            inside = self._table[self._places(numbers)]
            if inside.any():
                inside = inside & np.isin(numbers, self._numbers)
            hit[offset::WIDTH] = inside
        edges = np.flatnonzero(np.diff(np.concatenate(([0], hit.view(np.int8), [0]))))
        return int((edges[1::2] - edges[::2]).max()) + WIDTH - 1 if len(edges) else 0

    @staticmethod
    def _places(numbers: Numbers) -> NDArray[np.uint64]:
        return (numbers * _SPREAD) >> np.uint64(64 - _TABLE_BITS)


def blocks_of(path: Path) -> Iterator[bytes]:
    """Yield the bytes of a file in blocks that overlap by less than a window; none without it."""
    try:
        file = path.open("rb")
    except FileNotFoundError:
        return
    with file:
        tail = b""
        while data := file.read(BLOCK):
            yield tail + data
            tail = data[-(WIDTH - 1) :]


def joined(pieces: Iterable[bytes], *, limit: int = BLOCK) -> Iterator[bytes]:
    """Join pieces into blocks, kept apart so that no window reaches over two of them."""
    held: list[bytes] = []
    size = 0
    for piece in pieces:
        held.append(piece)
        size += len(piece) + 1
        if size >= limit:
            yield b"\xff".join(held)
            held, size = [], 0
    if held:
        yield b"\xff".join(held)


def escaped(texts: Sequence[str]) -> list[str]:
    """Return how texts look inside JSON, where that differs."""
    import orjson

    found = []
    for text in texts:
        data = orjson.dumps(text.encode("utf-8", "replace").decode("utf-8", "replace"))[1:-1]
        inside = data.decode("utf-8", "replace")
        if inside != text:
            found.append(inside)
    return found
