"""Train a layer over what the reader's network knows, by logistic regression."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
from scipy.sparse import csr_matrix, hstack
from sklearn.linear_model import LogisticRegression

from factbook.language.reader.layer import PLACES, Seen
from factbook.language.reader.network import DATA, shared
from reader import files

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

SCALE: Final = 0.05  # of the network's numbers, each in its standard deviations


class Learned(NamedTuple):
    """What was seen, and which answer is right of each: 0 for none of them."""

    seen: list[Seen]
    right: list[int]


def learned(
    parts: Sequence[tuple[float, Learned]], *, ridge: float, steps: int
) -> dict[str, NDArray[Any]]:
    """Return the weights, of parts each of which weighs something."""
    weights = np.concatenate([np.full(len(some.right), weight) for weight, some in parts])
    right = np.concatenate([np.array(some.right) for _, some in parts])
    seen = [one for _, some in parts for one in some.seen]
    rows = np.stack([one.row for one in seen])
    mean, spread = rows.mean(0), rows.std(0) + 1e-3
    scaled = csr_matrix((SCALE * (rows - mean) / spread).astype(np.float32))
    table = hstack([scaled, _sparse(seen)]).tocsr()
    model = LogisticRegression(C=1 / ridge, max_iter=steps).fit(table, right, weights)
    # Beside the first answer, which is none of them; of two answers there is one row.
    odds, bias = model.coef_, model.intercept_
    if len(model.classes_) > 2:
        odds, bias = odds[1:] - odds[0], bias[1:] - bias[0]
    size = rows.shape[1]
    of_row = SCALE * odds[:, :size] / spread
    scale = np.abs(odds[:, size:]).max(axis=1) / 127
    return {
        "rows": of_row.astype(np.float32),
        "places": np.round(odds[:, size:] / scale[:, None]).astype(np.int8),
        "scale": scale.astype(np.float32),
        "bias": (bias - of_row @ mean).astype(np.float32),
    }


def write(layers: Mapping[str, dict[str, NDArray[Any]]]) -> None:
    """Write layers beside the reader that they were learned of."""
    for name, held in layers.items():
        of_reader = np.array(shared().checksum)
        np.savez_compressed(DATA / f"{name}.npz", reader=of_reader, **held)
    files.write(DATA, shared().record)


def _sparse(seen: Sequence[Seen]) -> Any:
    """Return which signs were seen; those of a kind weigh alike, however many they are."""
    sizes = [[len(places) for places in one.signs] for one in seen]
    held = [np.full(size, size**-0.5) for kinds in sizes for size in kinds if size]
    columns = [np.array(places, np.int64) for one in seen for places in one.signs]
    bounds = np.cumsum([0, *map(sum, sizes)])
    table = (np.concatenate(held).astype(np.float32), np.concatenate(columns), bounds)
    return csr_matrix(table, shape=(len(seen), PLACES))
