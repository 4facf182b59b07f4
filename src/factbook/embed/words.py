"""The table of the embedder's words, read from its file where it lies: 12 MB that stand there once.

Every network that ships is a copy of the embedder's with the same words: each takes their vectors
from here and holds the rest of its weights only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

EMBEDDER: Final = Path(__file__).with_name("data")


class WordTable:
    """8-bit rows with a scale each."""

    def __init__(self, path: Path, places: Mapping[str, Any]) -> None:
        """Map the table of a file; nothing is read yet.

        `places` says where its `words.int8` and `words.scales` lie, as bytes and shapes.
        """
        rows, scales = places["words.int8"], places["words.scales"]
        self._rows = np.memmap(
            path, np.int8, "r", offset=rows["offset"], shape=tuple(rows["shape"])
        )
        self._scales = np.memmap(
            path, np.float16, "r", offset=scales["offset"], shape=tuple(scales["shape"])
        )

    def of(self, ids: Sequence[int]) -> NDArray[np.float32]:
        """Return the vectors of tokens, shape (tokens, 384)."""
        at = np.asarray(ids, np.int64)
        vectors: NDArray[np.float32] = self._rows[at].astype(np.float32)
        vectors *= self._scales[at].astype(np.float32)
        return vectors
