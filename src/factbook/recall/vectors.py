"""Find the nearest vectors of one owner: exactly when they are few, in two passes when many.

The vectors are half-precision rows with int64 ids, held in segments of `SEGMENT_ROWS`. A full
segment of a large index also carries a one-bit code: the signs of its rows after subtracting the
segment's own mean and turning by a fixed random rotation, stored column by column as uint64 words.
A search reads the codes of every row (48 bytes instead of 768), which yields for each row an upper
bound of its cosine; rows are then scored exactly from the highest bound down, until no bound that
is left reaches the k-th best cosine found. So easy data costs little, and hard data costs more
instead of losing results. The estimate and its error are those of RaBitQ (Gao and Long, 2024).

Why so, and what was tried:

- A mean for each segment instead of one for the index never grows stale: a segment is coded once,
  when it is full, and rows that arrive later bring their own mean.
- Comparing sign bits with sign bits (Hamming distance) is four times cheaper in the first pass, but
  its error is 1.4 times as large; many more rows must then be scored to find the same neighbours.
- `numpy.vecdot` sums every row in the same order wherever it stands, so equal rows have equal
  cosines and a result does not depend on block sizes or threads. A matrix product does neither.
- `float16.astype(float32)` converts one number at a time; shifting the bits as integers is four
  times faster (see `_widen`).

This module knows arrays only: no store, no embedder, no owner, no meaning of an id.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

type_Ids = NDArray[np.int64]
