"""Measure the vector index beside exact numpy search, on vectors like those of real texts.

    python -m bench.vectors --n N [--vectors FILE.npy] [--queries N] [--seed N] [--json]

A million texts cannot be embedded in time, so some thousands of generated sentences are, and the
rest are mixtures of two of them with noise. Queries come from other sentences of the same kind:
half of them as they are, half mixed. `--vectors` names float vectors to use instead of ours, one
row each; the last tenth becomes queries. Where the embedder is not installed, clustered random
vectors stand in, and the figures say so.

The baseline is what numpy offers: a float32 matrix times the query, and `argpartition`. The time of
both is for one query at a time, warm; recall@10 is the share of the baseline's ten that the index
returns.
"""

from __future__ import annotations

import argparse
import resource
import sys
import time
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from bench._common import OUT, BenchError, emit, print_table, run
from factbook.embed import bundled
from factbook.errors import EmbedderError
from factbook.store.sqlite.vectors import VectorIndex

Floats = NDArray[np.float32]

K: Final = 10
DIM: Final = 384  # of the stand-in
SENTENCES: Final = 4_000  # embedded
HELD_OUT: Final = 0.1  # share of the sentences that only queries use
MAIN_SHARE: Final = 0.5  # a mixture holds at least so much of its first vector
NOISE: Final = 0.5  # length of the noise at most; a vector has length 1
BLOCK: Final = 50_000  # rows mixed at once
WARM: Final = 20  # queries before the clock starts

WHO: Final = (
    "I", "my sister Ana", "the new colleague", "our landlord", "Dr. Okafor", "the build server",
    "the on-call engineer", "Tomasz", "the backend team", "my daughter", "the neighbour's dog",
    "the customer in Lisbon", "the choir", "the nightly job", "Priya from accounting",
)  # fmt: skip
DID: Final = (
    "moved {what} to {where}", "forgot about {what} {when}", "wants to replace {what}",
    "complained that {what} was too slow {when}", "asked me to check {what} {when}",
    "is allergic to anything near {what}", "finally fixed {what} {when}", "broke {what} {when}",
    "wrote a long note on {what}", "would rather have {what} than a day off",
    "spent three hours on {what} in {where}", "deleted {what} by mistake {when}",
    "bought {what} for the trip to {where}", "explained {what} to the interns in {where}",
    "could not find {what} anywhere in {where}", "is learning everything about {what}",
)  # fmt: skip
WHAT: Final = (
    "the auth module", "a sourdough starter", "the PostgreSQL replica", "two tickets for the opera",
    "the tax return", "the flaky integration test", "grandmother's piano", "a pair of hiking boots",
    "the Kubernetes manifest", "oat milk", "the SSH key of the staging host", "a used bicycle",
    "the quarterly report", "a vegetarian lasagne", "the login page", "an old radio",
    "the memory leak in the parser", "swimming lessons", "the CSV export", "a lease contract",
    "the vaccination card", "the Rust toolchain", "tomato seedlings", "the invoice numbers",
    "the release notes", "a second monitor", "Portuguese verbs", "the backup script",
    "the garden fence", "an electric guitar", "the rate limiter", "noise-cancelling headphones",
)  # fmt: skip
WHERE: Final = (
    "the kitchen", "Berlin", "the staging cluster", "the old repository", "the library",
    "Lake Garda", "meeting room four", "the attic", "/var/log", "the hospital", "Kyoto",
    "a branch named fix-timeouts", "the garage", "the second data centre",
)  # fmt: skip
WHEN: Final = (
    "yesterday", "last Tuesday", "in March", "after lunch", "before the release", "at 3 a.m.",
    "on the first day of school", "during the outage", "two years ago", "while it rained",
)  # fmt: skip
WHY: Final = (
    "", "", "because nobody else had the time", "and it worked at once", "which surprised everyone",
    "so the deadline moved by a week", "but the error came back", "since the price had doubled",
    "and we laughed about it all evening", "despite what the documentation says",
    "as the doctor had advised", "with port 8443 still open",
)  # fmt: skip


def sentences(count: int, seed: int) -> list[str]:
    """Return different generated sentences, of work and of life."""
    rng = np.random.default_rng(seed)
    made: dict[str, None] = {}
    while len(made) < count:
        who, did, why = (str(rng.choice(words)) for words in (WHO, DID, WHY))
        what, where, when = (str(rng.choice(words)) for words in (WHAT, WHERE, WHEN))
        text = f"{who} {did.format(what=what, where=where, when=when)} {why}".strip()
        made[text[0].upper() + text[1:] + "."] = None
    return list(made)


@lru_cache(maxsize=2)
def base(file: Path | None = None) -> tuple[Floats, str]:
    """Return unit vectors to mix, in no order, and where they come from."""
    if file is not None:
        return _read(file), file.name
    embedder = bundled()
    kept = OUT / f"sentences-{SENTENCES}-{embedder.id.replace('/', '_')}.npy"
    if kept.is_file():
        return _read(kept), embedder.id
    try:
        rows = embedder.embed(sentences(SENTENCES, 0))
    except EmbedderError as error:
        sys.stderr.write(f"bench: {error}; clustered random vectors stand in\n")
        return _stand_in(), "clustered random vectors"
    OUT.mkdir(parents=True, exist_ok=True)
    np.save(kept, rows)
    return rows, embedder.id


def _read(file: Path) -> Floats:
    try:
        rows = np.load(file, allow_pickle=False)
    except (OSError, ValueError) as error:
        raise BenchError(f"{file} cannot be read as a .npy file of vectors: {error}") from error
    if rows.ndim != 2 or len(rows) < 20 or rows.dtype.kind != "f":
        raise BenchError(
            f"{file} holds {rows.dtype} of shape {rows.shape}; give float rows, at least 20"
        )
    return _unit(rows.astype(np.float32))


def _stand_in() -> Floats:
    """Return random vectors in clusters that all lean one way, as those of texts do."""
    rng = np.random.default_rng(0)
    weight = 1 / np.sqrt(1 + np.arange(DIM) / 20)
    centres = rng.standard_normal((200, DIM)) * weight + rng.standard_normal(DIM) / 2
    rows = centres[rng.integers(0, len(centres), SENTENCES)]
    return _unit((rows + rng.standard_normal(rows.shape) * weight).astype(np.float32))


def _unit(rows: Floats) -> Floats:
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    return rows


def _mixtures(pool: Floats, count: int, rng: np.random.Generator) -> Floats:
    dim = pool.shape[1]
    first, second = (pool[rng.integers(0, len(pool), count)] for _ in range(2))
    share = rng.uniform(MAIN_SHARE, 1, (count, 1)).astype(np.float32)
    noise = rng.standard_normal((count, dim), np.float32)
    noise *= rng.uniform(0, NOISE / np.sqrt(dim), (count, 1)).astype(np.float32)
    return _unit(share * first + (1 - share) * second + noise)


def make_vectors(n: int, seed: int, *, file: Path | None = None) -> Floats:
    """Return n unit vectors: the real ones that are there, and mixtures of them with noise."""
    rows, _ = base(file)
    pool = rows[: -int(len(rows) * HELD_OUT)]
    rng = np.random.default_rng(seed)
    made = np.empty((n, pool.shape[1]), np.float32)
    real = min(len(pool), n // 2)
    made[:real] = pool[:real]
    for start in range(real, n, BLOCK):
        end = min(start + BLOCK, n)
        made[start:end] = _mixtures(pool, end - start, rng)
    for start in range(0, n, BLOCK):  # no block knows more real rows than another
        rng.shuffle(made[start : start + BLOCK])
    return made


def make_queries(count: int, seed: int, *, file: Path | None = None) -> Floats:
    """Return unit vectors to search with, made of sentences that no row was made of."""
    rows, _ = base(file)
    held = rows[-int(len(rows) * HELD_OUT) :]
    rng = np.random.default_rng((seed, 1))
    half = count // 2
    real = held[rng.integers(0, len(held), half)]
    queries: Floats = np.concatenate((real, _mixtures(held, count - half, rng)))
    return queries[rng.permutation(count)]


def measure_index(index: VectorIndex, queries: Floats, exact: Floats) -> dict[str, Any]:
    """Time the index and exact search over `exact`, whose row i has id i, and compare them."""
    for query in queries[:WARM]:
        index.view().search(query, k=K)
    found, seconds = [], []
    for query in queries:
        began = time.perf_counter()
        ids, _ = index.view().search(query, k=K)
        seconds.append(time.perf_counter() - began)
        found.append(set(ids.tolist()))
    exact @ queries[0]  # warm
    truth, baseline = [], []
    for query in queries:
        began = time.perf_counter()
        cosines = exact @ query
        best = np.argpartition(-cosines, K - 1)[:K] if len(exact) > K else np.arange(len(exact))
        baseline.append(time.perf_counter() - began)
        truth.append(set(best.tolist()))
    hits = sum(len(one & other) for one, other in zip(found, truth, strict=True))
    return {
        "vectors": {
            "p50_ms": round(float(np.percentile(seconds, 50)) * 1000, 2),
            "p99_ms": round(float(np.percentile(seconds, 99)) * 1000, 2),
            "recall@10": round(100 * hits / sum(map(len, truth)), 2),
        },
        "numpy_exact": {
            "p50_ms": round(float(np.percentile(baseline, 50)) * 1000, 2),
            "p99_ms": round(float(np.percentile(baseline, 99)) * 1000, 2),
            "recall@10": 100.0,
        },
    }


def measure(*, n: int, seed: int, queries: int = 200, file: Path | None = None) -> dict[str, Any]:
    """Build an index of n vectors, and measure it; also its build time and its memory."""
    exact = make_vectors(n, seed, file=file)
    blobs = exact.astype(np.float16)
    before = _resident_mb()
    began = time.perf_counter()
    index = VectorIndex.from_blobs(np.arange(n), blobs, dim=blobs.shape[1])
    build = time.perf_counter() - began
    grown = _resident_mb() - before
    figures = measure_index(index, make_queries(queries, seed, file=file), exact)
    figures["vectors"] |= {
        "build_s": round(build, 2),
        "index_mb": round(grown + blobs.nbytes / 2**20, 1),
    }
    return {"source": base(file)[1], **figures}


def _resident_mb() -> float:
    """Return the resident memory of this process: now where Linux tells, else its peak."""
    status = Path("/proc/self/statm")
    if status.is_file():
        return int(status.read_text().split()[1]) * resource.getpagesize() / 2**20
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (2**20 if sys.platform == "darwin" else 2**10)


def main() -> int:
    """Run the part from the command line."""
    parser = argparse.ArgumentParser(prog="python -m bench.vectors", description=__doc__)
    parser.add_argument("--n", type=int, default=100_000)
    parser.add_argument("--vectors", type=Path, help="float vectors to mix instead of our own")
    parser.add_argument("--queries", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    if given.n < 1 or given.queries < 1:
        raise BenchError(f"--n is {given.n} and --queries {given.queries}; both must be at least 1")
    figures: dict[str, Any] = {"n": given.n}
    figures |= measure(n=given.n, seed=given.seed, queries=given.queries, file=given.vectors)
    if not given.json:
        print_table(
            f"{K} nearest of {given.n:,} vectors ({figures['source']}), warm",
            [
                {
                    "": name,
                    "p50 ms": figures[name]["p50_ms"],
                    "p99 ms": figures[name]["p99_ms"],
                    "recall@10 %": figures[name]["recall@10"],
                    "build s": figures[name].get("build_s"),
                    "MB": figures[name].get("index_mb"),
                }
                for name in ("vectors", "numpy_exact")
            ],
        )
    emit(figures, part=f"vectors-{given.n}", as_json=given.json)
    return 0


if __name__ == "__main__":
    raise SystemExit(run(main))
