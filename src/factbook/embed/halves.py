"""Write unit vectors as the half-precision bytes that a store keeps, and read them back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, kw_only=True)
class Vectors:
    """Some rows of one kind: which they are, and where they lie."""

    ids: Sequence[int]
    rows: NDArray[np.float32]  # shape (ids, dimensions), each of length 1; (0, 0) without ids


def packed(rows: NDArray[np.float32]) -> bytes:
    """Return unit rows as the bytes of half-precision numbers, one row behind the other."""
    return rows.astype("<f2").tobytes()


def unpacked(ids: Sequence[int], raw: bytes) -> Vectors:
    """Return the vectors that a store hands out for some ids, as `Store.vectors` does.

    Raises ValueError where the bytes are not equally many halves for each id.
    """
    if not ids:
        return Vectors(ids=[], rows=np.zeros((0, 0), np.float32))
    if len(raw) % (2 * len(ids)):
        raise ValueError(f"{len(raw)} bytes are not {len(ids)} vectors of half-precision numbers")
    rows = np.frombuffer(raw, "<f2").reshape(len(ids), -1).astype(np.float32)
    lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows))  # halves are unit only to 3 digits
    rows /= np.where(lengths > 0, lengths, np.float32(1.0))[:, None]
    return Vectors(ids=list(ids), rows=rows)
