"""Measure recall at a size: the vector leg, and the whole answer to a question.

    python -m bench.recall --n N [--vectors FILE.npy] [--questions N] [--json]

Vectors are real ones and mixtures of them with noise (texts of that number cannot be embedded in
time); the texts beside them are generated: words of a Zipf distribution, in sources of 200 turns.
`vectors` is the index alone, beside `numpy_exact`, a float32 product over all rows, in the same
run. `recall` is what a user waits for, warm: time phrase, embedding the question, full text,
vectors, ranking, evidence. The process holds one store; each question is another one.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from bench._common import emit, print_table, run
from bench.vectors import make_vectors, measure
from factbook.apply.apply import apply
from factbook.embed import bundled
from factbook.memory import Memory
from factbook.model.facts import Episode, EpisodeKind, Role, Source, Trigger, Trust
from factbook.model.ops import Op, RecordEpisode, RecordSource, StoreVectors

VOCABULARY: Final = 30_000
TURNS: Final = 200  # episodes of one source
STEP: Final = 20_000  # episodes written in one transaction
DAY_MS: Final = 24 * 3600 * 1000
NOW: Final = 1_795_000_000_000


def vocabulary(rng: np.random.Generator) -> list[str]:
    """Return pronounceable words, the most frequent first."""
    consonants, vowels = list("bcdfghklmnprstvw"), list("aeiou")
    words: dict[str, None] = {}
    while len(words) < VOCABULARY:
        syllables = int(rng.integers(2, 5))
        words["".join(rng.choice(consonants) + rng.choice(vowels) for _ in range(syllables))] = None
    return list(words)


def sentences(rng: np.random.Generator, words: list[str], count: int, size: int) -> list[str]:
    """Return texts of about `size` words, drawn as real texts use them (Zipf, shifted).

    The shift leaves the most frequent word in about one text of twelve, as the most frequent
    content words of real dialogs are; stopwords are not searched for, so they are left out.
    """
    weights = 1.0 / (np.arange(len(words)) + 20.0)
    weights /= weights.sum()
    lengths = np.maximum(3, rng.poisson(size, count))
    drawn = rng.choice(len(words), int(lengths.sum()), p=weights)
    ends = np.cumsum(lengths)
    return [
        " ".join(words[one] for one in drawn[end - length : end])
        for end, length in zip(ends.tolist(), lengths.tolist(), strict=True)
    ]


def fill(memory: Memory, vectors: NDArray[np.float16], texts: list[str]) -> None:
    """Write the texts as episodes with their vectors, through the one writer."""
    for first in range(0, len(texts), STEP):
        last = min(first + STEP, len(texts))
        ops: list[Op] = []
        for n in range(first, last):
            key = f"bench:{n // TURNS}"
            if n % TURNS == 0:
                ops.append(
                    RecordSource(
                        source=Source(
                            key=key, kind="conversation", host="bench", session=key, uri=key
                        )
                    )
                )
            ops.append(RecordEpisode(episode=_episode(n, key, texts[n])))
        apply(memory.store, ops, trigger=Trigger.USER_MESSAGE, actor="bench", now=NOW)
        waiting = memory.store.waiting("episode", limit=STEP)
        vector_op = StoreVectors(
            target="episode",
            model=memory.resources.embedder.id,
            ids=[one for one, _ in waiting],
            vectors=vectors[first:last].tobytes(),
            dim=vectors.shape[1],
        )
        apply(memory.store, [vector_op], trigger=Trigger.UPKEEP, actor="bench", now=NOW)


def _episode(n: int, key: str, text: str) -> Episode:
    return Episode(
        uid=f"bench:{n}",
        source=key,
        kind=EpisodeKind.TURN,
        role=Role.USER,
        trust=Trust.DIRECT,
        text=text,
        position=n % TURNS + 1,
        offset=0,
        occurred_at=NOW - (n % 700) * DAY_MS,
    )


def _milliseconds(seconds: list[float]) -> dict[str, float]:
    return {
        "p50_ms": round(float(np.percentile(seconds, 50)) * 1000, 2),
        "p99_ms": round(float(np.percentile(seconds, 99)) * 1000, 2),
    }


def questions(rng: np.random.Generator, words: list[str], count: int) -> Iterator[str]:
    """Yield questions of four to seven content words among the usual function words."""
    for text in sentences(rng, words, count, 5):
        yield f"what did I say about {text} and why?"


def whole(vectors: NDArray[np.float16], *, seed: int, count: int, folder: Path) -> dict[str, float]:
    """Measure `Memory.recall` over a store of these vectors and generated texts."""
    rng = np.random.default_rng(seed)
    words = vocabulary(rng)
    with Memory(
        folder / "bench.db", key_file=folder / "key", clock=lambda: NOW, embedder=bundled()
    ) as memory:
        fill(memory, vectors, sentences(rng, words, len(vectors), 18))
        asked = list(questions(rng, words, count + 5))
        for question in asked[:5]:
            memory.recall(question)  # loads the model and the vectors: measured warm
        seconds = []
        for question in asked[5:]:
            began = time.perf_counter()
            memory.recall(question)
            seconds.append(time.perf_counter() - began)
    return _milliseconds(seconds)


def main() -> int:
    """Run the part from the command line."""
    parser = argparse.ArgumentParser(prog="python -m bench.recall", description=__doc__)
    parser.add_argument("--n", type=int, default=100_000)
    parser.add_argument("--vectors", type=Path, help="float vectors to mix instead of our own")
    parser.add_argument("--questions", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    figures: dict[str, Any] = {"n": given.n}
    figures |= measure(n=given.n, seed=given.seed, file=given.vectors)
    vectors = make_vectors(given.n, given.seed, file=given.vectors).astype(np.float16)
    with tempfile.TemporaryDirectory() as folder:
        figures["recall"] = whole(
            vectors, seed=given.seed, count=given.questions, folder=Path(folder)
        )
    if not given.json:
        print_table(
            f"recall over {given.n:,} rows, warm (milliseconds)",
            [
                {
                    "": name,
                    "p50": one["p50_ms"],
                    "p99": one.get("p99_ms"),
                    "recall@10 %": one.get("recall@10"),
                }
                for name, one in figures.items()
                if isinstance(one, dict) and "p50_ms" in one
            ],
        )
    emit(figures, part=f"recall-{given.n}", as_json=given.json)
    return 0


if __name__ == "__main__":
    raise SystemExit(run(main))
