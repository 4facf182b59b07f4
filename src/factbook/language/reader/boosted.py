"""What was learned as many small decision trees, each mending what those before it get wrong.

Where signs count only together (the same person, and another verb) a weighed sum knows too little
(gradient boosting, Friedman 2001). `scripts/train_related.py` grows them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from factbook.language.reader.decode import Floats, softmax

LEAF: Final = -1  # the sign of a node that asks nothing


class Boosted:
    """Trees for each answer; nodes of all trees stand in a row, as `scripts/reader` writes them."""

    def __init__(self, held: Mapping[str, NDArray[Any]]) -> None:
        """Take the arrays of the file: of each node its sign, bound, two next nodes and value."""
        self._sign = held["sign"].astype(np.int64)
        self._bound = held["bound"].astype(np.float32)
        self._next = np.stack([held["left"], held["right"]]).astype(np.int64)
        self._value = held["value"].astype(np.float32)
        self._roots = held["roots"].astype(np.int64)  # (trees, answers)
        self._bias = held["bias"].astype(np.float32)  # (answers,)

    def chances(self, row: Floats) -> Floats:
        """Return how likely each answer is, shape (answers,), of the numbers of one row."""
        at = self._roots.ravel()
        while (asks := self._sign[at] != LEAF).any():
            more = row[self._sign[at]] > self._bound[at]
            at = np.where(asks, self._next[more.astype(np.int64), at], at)
        chances: Floats = softmax(
            self._bias + self._value[at].reshape(self._roots.shape).sum(axis=0)
        )
        return chances
