"""Measure the join of near vectors: what it finds, what it costs, and how the cost grows.

    python -m bench.join --n N [--vectors FILE.npy] [--threshold T] [--whole] [--json]

Vectors are those of real sentences and mixtures of them with noise, as in `bench.vectors`. Recall
is the share of the exact pairs that the join returns: of the pairs of some rows, each compared with
all, or with `--whole` of all pairs. Seconds are those of the processor, of all threads together,
since others may use the machine; the exponent is that of the cost between n/4 and n rows. The
baseline is the matrix of all cosines as scikit-learn computes it, which fits in memory only for a
part of the rows.
"""

from __future__ import annotations

import argparse
import gc
import resource
import sys
import time
from dataclasses import dataclass
from math import log
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from bench._common import BenchError, emit, print_table, run
from bench.vectors import base, make_vectors
from factbook import policy
from factbook.maintenance.join import (
    near_pairs,
)
from factbook.maintenance.join_rows import (
    Pairs,
)

Halves = NDArray[np.float16]
Ids = NDArray[np.int64]

BASELINE_ROWS: Final = 10_000
SAMPLE_ROWS: Final = 4_000  # for the recall, unless all pairs are asked for
EXACT: Final = 2**62  # more rows than there are: each is compared with each
ROUNDS: Final = 2  # of each join; the fastest counts
STEP: Final = 256  # rows compared with all at once


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """What a piece of work took."""

    cpu_s: float  # of all threads
    wall_s: float
    peak_mb: float | None  # beyond what was there before; None where the system does not tell


class Meter:
    """Measures what happens between its making and `read`."""

    def __init__(self) -> None:
        gc.collect()
        self._before = _forget_peak()
        self._wall, self._cpu = time.perf_counter(), _cpu_s()

    def read(self) -> Cost:
        """Return the cost so far."""
        cpu, wall, peak = _cpu_s() - self._cpu, time.perf_counter() - self._wall, _peak_mb()
        known = self._before is not None and peak is not None
        return Cost(
            cpu_s=cpu, wall_s=wall, peak_mb=(peak or 0) - (self._before or 0) if known else None
        )


def _cpu_s() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def _forget_peak() -> float | None:
    """Let the peak of the memory start from now, and return it; None where that cannot be done."""
    try:
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    except OSError:
        return None
    return _peak_mb()


def _peak_mb() -> float | None:
    try:
        lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    except OSError:
        return None
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM")), None)


def join(vectors: Halves, *, threshold: float, **options: Any) -> tuple[Pairs, Cost]:
    """Join the rows, and say what it took."""
    meter = Meter()
    pairs = near_pairs(vectors, threshold=threshold, **options)
    return pairs, meter.read()


def exponent(*, n: int, seconds: float, fewer: int, fewer_seconds: float) -> float:
    """Return x, where the cost grows as n to the power of x."""
    return log(seconds / fewer_seconds) / log(n / fewer)


def pair_recall(
    pairs: Pairs, vectors: Halves, *, threshold: float, rows: int = SAMPLE_ROWS, seed: int = 0
) -> float:
    """Return the share of the exact pairs of some rows that are in `pairs`, in percent."""
    n = len(vectors)
    wide = vectors.astype(np.float32)
    wide /= np.linalg.norm(wide, axis=1, keepdims=True)
    sample = np.random.default_rng((seed, 2)).choice(n, min(rows, n), replace=False)
    exact: list[Ids] = []
    for first in range(0, len(sample), STEP):
        some = sample[first : first + STEP]
        i, j = np.nonzero(wide[some] @ wide.T >= threshold)
        one = some[i]
        keys = np.minimum(one, j) * n + np.maximum(one, j)
        exact.append(keys[one != j])
    return _share(np.unique(np.concatenate(exact)), pairs.left * n + pairs.right)


def whole_recall(pairs: Pairs, exact: Pairs, *, n: int) -> float:
    """Return the share of all exact pairs that are in `pairs`, in percent."""
    return _share(exact.left * n + exact.right, pairs.left * n + pairs.right)


def _share(wanted: Ids, found: Ids) -> float:
    return 100 * float(np.isin(wanted, found).mean()) if len(wanted) else 100.0


def baseline(vectors: Halves, *, threshold: float) -> tuple[int, Cost] | None:
    """Return how many pairs scikit-learn's matrix holds, and what it took; None without it."""
    try:
        from sklearn.metrics.pairwise import cosine_similarity  # type: ignore[import-untyped]
    except ImportError:
        sys.stderr.write("bench: scikit-learn is not installed; the baseline is left out\n")
        return None
    wide = vectors.astype(np.float32)
    meter = Meter()
    left, _ = np.nonzero(np.triu(cosine_similarity(wide), 1) >= threshold)
    cost = meter.read()
    return len(left), cost


def measure(
    *, n: int, seed: int, threshold: float, file: Path | None = None, whole: bool = False
) -> dict[str, Any]:
    """Join n rows and n/4 rows, and compare with what is exact."""
    fewer = max(2, n // 4)
    near_pairs(make_vectors(2, seed, file=file))  # warm
    _, less = _fastest(make_vectors(fewer, seed, file=file).astype(np.float16), threshold)
    vectors = make_vectors(n, seed, file=file).astype(np.float16)
    pairs, cost = _fastest(vectors, threshold)
    figures: dict[str, Any] = {
        "join": {
            **_figures(len(pairs), cost),
            "recall": round(pair_recall(pairs, vectors, threshold=threshold, seed=seed), 3),
            "exponent": round(
                exponent(n=n, seconds=cost.cpu_s, fewer=fewer, fewer_seconds=less.cpu_s), 2
            ),
        }
    }
    if whole:
        every, took = join(vectors, threshold=threshold, exact_rows=EXACT)
        figures["join"]["recall"] = round(whole_recall(pairs, every, n=n), 3)
        figures["exact"] = {**_figures(len(every), took), "recall": 100.0, "exponent": None}
    few = vectors[:BASELINE_ROWS]
    plain = baseline(few, threshold=threshold)
    if plain is not None:
        found, took = join(few, threshold=threshold)
        rows = f"{len(few):,} rows"
        recall = round(pair_recall(found, few, threshold=threshold, seed=seed), 3)
        figures |= {
            f"join, {rows}": {**_figures(len(found), took), "recall": recall, "exponent": None},
            f"scikit-learn, {rows}": {**_figures(*plain), "recall": 100.0, "exponent": None},
        }
    return {"source": base(file)[1], **figures}


def _fastest(vectors: Halves, threshold: float) -> tuple[Pairs, Cost]:
    """Join some times, and return the time of the fastest and the memory of the greediest."""
    runs = [join(vectors, threshold=threshold) for _ in range(ROUNDS)]
    pairs, best = min(runs, key=lambda one: one[1].cpu_s)
    peaks = [cost.peak_mb for _, cost in runs if cost.peak_mb is not None]
    return pairs, Cost(cpu_s=best.cpu_s, wall_s=best.wall_s, peak_mb=max(peaks) if peaks else None)


def _figures(pairs: int, cost: Cost) -> dict[str, Any]:
    return {
        "pairs": pairs,
        "cpu_s": round(cost.cpu_s, 2),
        "wall_s": round(cost.wall_s, 2),
        "peak_mb": None if cost.peak_mb is None else round(cost.peak_mb, 1),
    }


def main() -> int:
    """Run the part from the command line."""
    parser = argparse.ArgumentParser(prog="python -m bench.join", description=__doc__)
    parser.add_argument("--n", type=int, default=100_000)
    parser.add_argument("--vectors", type=Path, help="float vectors to mix instead of our own")
    parser.add_argument("--threshold", type=float, default=policy.MERGE_SIMILARITY)
    parser.add_argument("--whole", action="store_true", help="compare with all exact pairs")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    if given.n < 8:
        raise BenchError(f"--n is {given.n}; give at least 8 rows")
    if not 0 < given.threshold <= 1:
        raise BenchError(f"--threshold is {given.threshold}; give a cosine above 0 and up to 1")
    figures: dict[str, Any] = {"n": given.n, "threshold": given.threshold}
    figures |= measure(
        n=given.n,
        seed=given.seed,
        threshold=given.threshold,
        file=given.vectors,
        whole=given.whole,
    )
    if not given.json:
        print_table(
            f"pairs of cosine {given.threshold} among {given.n:,} vectors ({figures['source']})",
            [
                {
                    "": name,
                    "pairs": row["pairs"],
                    "recall %": row["recall"],
                    "CPU s": row["cpu_s"],
                    "wall s": row["wall_s"],
                    "peak MB": row["peak_mb"],
                    "exponent": row["exponent"],
                }
                for name, row in figures.items()
                if isinstance(row, dict)
            ],
        )
    emit(figures, part=f"join-{given.n}", as_json=given.json)
    return 0


if __name__ == "__main__":
    raise SystemExit(run(main))
