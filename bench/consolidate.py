"""Measure one consolidation: time, memory, how both grow, and the join beside the exact one.

    python -m bench.consolidate [--n N] [--episodes M] [--small N] [--json]

A store is filled with N statements and M new episodes. Their vectors are real ones and mixtures of
them with noise (that many texts cannot be embedded in time); one fact in twenty says what another
one says, and one episode in four says what a fact says. Then one consolidation runs in a process of
its own. The same is done at a quarter of the size, which gives the exponent. `pair_recall` is the
share of the pairs of an exact join that the product's join finds, over the rows of a sample. The
baseline is what the seed's pseudocode does: scikit-learn's full similarity matrix, at 10,000 rows.
"""

from __future__ import annotations

import argparse
import json
import math
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from bench._common import emit, print_table
from bench.vectors import make_vectors

STEP: Final = 10_000
NOW: Final = 1_795_000_000_000
DAY_MS: Final = 24 * 3600 * 1000
TWINS: Final = 0.05  # share of the facts that say what another one says
SAID: Final = 0.25  # share of the episodes that say what a fact says
SAMPLE: Final = 1_500  # rows whose pairs are counted exactly
BASELINE_ROWS: Final = 10_000

_DOES: Final = ("repair", "collect", "paint", "study", "sell", "grow", "restore", "photograph")
_THINGS: Final = ("clocks", "kites", "maps", "roses", "boats", "radios", "violins", "stamps")


def _text(n: int) -> str:
    """Return a statement of its own for each number."""
    thing = f"{_THINGS[n % 8]} of series {n // 64}"
    return f"I {_DOES[n // 8 % 8]} {thing} at the weekend"


def fill(path: Path, vectors: NDArray[np.float16], *, facts: int, episodes: int) -> None:
    """Write facts with evidence and vectors, and episodes that wait for consolidation."""
    from factbook.apply.apply import apply
    from factbook.embed import bundled
    from factbook.memory import Memory
    from factbook.model.facts import (
        ME,
        At,
        Candidate,
        Episode,
        EpisodeKind,
        FactKind,
        Role,
        Source,
        Trigger,
        Trust,
    )
    from factbook.model.ops import (
        AssertFact,
        MarkProgress,
        Op,
        RecordEpisode,
        RecordSource,
        StoreVectors,
    )

    def said(n: int, text: str) -> Episode:
        return Episode(
            uid=f"bench:{n}",
            source="bench",
            kind=EpisodeKind.TURN,
            role=Role.USER,
            trust=Trust.DIRECT,
            text=text,
            position=n + 1,
            offset=0,
            occurred_at=NOW - (n % 60) * DAY_MS,
            session=f"s{n % 500}",
        )

    def stated(n: int, text: str) -> AssertFact:
        candidate = Candidate(
            subject=ME,
            predicate="states",
            object=text,
            statement=text,
            confidence=0.8,
            rule="bench",
            method="generated",
            start=0,
            end=len(text),
            kind=FactKind.STATEMENT,
            embed=True,
        )
        return AssertFact(
            candidate=candidate,
            episode=f"bench:{n}",
            owner=ME,
            confidence=0.8,
            trust=Trust.DIRECT,
            quote=text,
        )

    rng = np.random.default_rng(7)
    rows = vectors.copy()
    texts = [_text(n) for n in range(facts)]
    for n in rng.choice(facts // 2, int(facts * TWINS), replace=False).tolist():
        texts[facts - 1 - n] = texts[n].replace("at the weekend", "at weekends")
        rows[facts - 1 - n] = rows[n]
    for n in range(facts, facts + episodes):
        if rng.random() < SAID:
            twin = int(rng.integers(facts))
            texts.append(texts[twin])
            rows[n] = rows[twin]
        else:
            texts.append(f"What about {_text(n)[2:]}?")
    source = Source(key="bench", kind="conversation", host="bench", session="", uri="bench")
    with Memory(path, key_file=path.with_name("key"), clock=lambda: NOW) as memory:
        store, model, dim = memory.store, bundled().id, vectors.shape[1]
        for first in range(0, facts + episodes, STEP):
            last = min(first + STEP, facts + episodes)
            ops: list[Op] = [RecordSource(source=source)]
            ops += [RecordEpisode(episode=said(n, texts[n])) for n in range(first, last)]
            ops += [stated(n, texts[n]) for n in range(first, min(last, facts))]
            apply(store, ops, trigger=Trigger.USER_MESSAGE, actor="bench", now=NOW)
            for target in ("episode", "fact"):
                waiting = [one for one, _ in store.waiting(target, limit=STEP)]
                if not waiting:
                    continue
                op = StoreVectors(
                    target=target,
                    model=model,
                    ids=waiting,
                    vectors=rows[first : first + len(waiting)].tobytes(),
                    dim=dim,
                )
                apply(store, [op], trigger=Trigger.UPKEEP, actor="bench", now=NOW)
        # What made the facts is not new any more; the episodes behind it are.
        at = store.changed("vector:episode", At(), limit=facts).last
        marks: list[Op] = [MarkProgress(name=name, at=at) for name in ("extract", "support")]
        apply(store, marks, trigger=Trigger.UPKEEP, actor="bench", now=NOW)


def consolidate(path: Path) -> dict[str, Any]:
    """Run one consolidation in this process and return its figures."""
    from factbook.memory import Memory

    with Memory(path, key_file=path.with_name("key"), clock=lambda: NOW + DAY_MS) as memory:
        began = time.perf_counter()
        report = memory.consolidate()
        seconds = time.perf_counter() - began
        problems = len(memory.check())
    receipt = report.receipt
    return {
        "seconds": round(seconds, 2),
        "peak_mb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, 1),
        "phases": report.seconds,
        "merged": receipt.merged,
        "supported": receipt.supported,
        "stored": receipt.stored,
        "judged": receipt.judged,
        "problems": problems,
    }


def pair_recall(vectors: NDArray[np.float16], *, threshold: float) -> dict[str, float]:
    """Compare the product's join with exact products, over the rows of a sample."""
    from factbook.maintenance.join import near_pairs

    began = time.perf_counter()
    found = near_pairs(vectors, threshold=threshold)
    seconds = time.perf_counter() - began
    pairs = set(zip(found.left.tolist(), found.right.tolist(), strict=True))
    rng = np.random.default_rng(3)
    chosen = np.sort(rng.choice(len(vectors), min(SAMPLE, len(vectors)), replace=False))
    wide = vectors.astype(np.float32)
    exact = 0
    hit = 0
    for n in chosen.tolist():
        near = np.flatnonzero(wide @ wide[n] >= threshold + 1e-3)
        for other in near.tolist():
            if other != n:
                exact += 1
                hit += (min(n, other), max(n, other)) in pairs
    return {
        "pairs": len(pairs),
        "join_seconds": round(seconds, 2),
        "pair_recall": round(100 * hit / exact, 3) if exact else 100.0,
        "exact_pairs_of_sample": exact,
    }


def baseline(vectors: NDArray[np.float16]) -> dict[str, float]:
    """Measure the full matrix of scikit-learn, in this process."""
    from sklearn.metrics.pairwise import cosine_similarity

    rows = vectors[:BASELINE_ROWS].astype(np.float32)
    began = time.perf_counter()
    matrix = cosine_similarity(rows)
    pairs = int((np.triu(matrix, 1) >= 0.85).sum())
    return {
        "rows": len(rows),
        "seconds": round(time.perf_counter() - began, 2),
        "matrix_mb": round(matrix.nbytes / 1e6, 1),
        "pairs": pairs,
    }


def _child(path: Path) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-m", "bench.consolidate", "--child", str(path)],
        capture_output=True,
        text=True,
        check=True,
    )
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def main() -> None:
    """Run the part from the command line."""
    parser = argparse.ArgumentParser(prog="python -m bench.consolidate", description=__doc__)
    parser.add_argument("--n", type=int, default=10_000)
    parser.add_argument("--episodes", type=int, default=1_000)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--child", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        print(json.dumps(consolidate(given.child)))
        return
    vectors = make_vectors(given.n + given.episodes, 5).astype(np.float16)
    sizes = [(given.n // 4, given.episodes // 4), (given.n, given.episodes)]
    runs: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as scratch:
        for n, episodes in sizes:
            path = Path(scratch) / f"{n}.db"
            fill(path, vectors[: n + episodes], facts=n, episodes=episodes)
            runs.append(_child(path))
            path.unlink()
    small, large = runs
    figures: dict[str, Any] = {
        "n": given.n,
        "episodes": given.episodes,
        **large,
        "quarter": small,
        "exponent": round(math.log(large["seconds"] / small["seconds"]) / math.log(4), 3),
        **pair_recall(vectors[: given.n], threshold=0.85),
        "baseline_sklearn": baseline(vectors),
    }
    if not given.json:
        print_table(
            f"consolidation of {given.n:,} facts with {given.episodes:,} new episodes",
            [
                {
                    "": "factbook",
                    "seconds": figures["seconds"],
                    "peak MB": figures["peak_mb"],
                    "exponent": figures["exponent"],
                    "pair recall %": figures["pair_recall"],
                    "merged": figures["merged"],
                },
                {
                    "": f"sklearn matrix, {figures['baseline_sklearn']['rows']:,} rows",
                    "seconds": figures["baseline_sklearn"]["seconds"],
                    "peak MB": figures["baseline_sklearn"]["matrix_mb"],
                },
            ],
        )
    emit(figures, part=f"consolidate-{given.n}", as_json=given.json)


if __name__ == "__main__":
    main()
