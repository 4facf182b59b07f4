"""What was learned over what the network knows: logistic regression over numbers and words.

The network's own heads learned from few texts of ours; such a layer learns from what people
published, too, in minutes, and moves nothing else that the network tells.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from factbook.language.reader.decode import Floats

PLACES: Final = 16_384  # numbers that words are counted in


class Seen(NamedTuple):
    """What a layer is asked about."""

    row: Floats  # what the network knows of it
    signs: Sequence[Sequence[int]]  # places of its words and what is around them, by their kind


class Layer:
    """Weights of each number of a row and of each place, for all answers but "none of them"."""

    def __init__(self, held: Mapping[str, NDArray[Any]]) -> None:
        """Take the arrays of the layer's file."""
        self._rows = held["rows"].astype(np.float32)  # (answers, numbers of a row)
        self._places = held["places"].astype(np.float32) * held["scale"].astype(np.float32)[:, None]
        self._bias = held["bias"].astype(np.float32)

    def chances(self, seen: Seen) -> list[float]:
        """Return how likely each answer is, shape (answers,)."""
        odds = self._bias + np.einsum("oi,i->o", self._rows, seen.row)
        for places in filter(None, seen.signs):
            odds = odds + self._places[:, places].sum(axis=1) / math.sqrt(len(places))
        most = max(0.0, float(odds.max()))
        likely = np.exp(odds - most)
        whole = float(likely.sum()) + math.exp(-most)
        return [float(one) / whole for one in likely]
