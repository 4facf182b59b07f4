"""Measure the passive stream: what it adds to a turn, and when its answer is ready.

    python -m bench.passive [--n N] [--turns N] [--pause-ms N] [--json]

A store of N memories, four fifths turns of conversations and one fifth facts, with vectors like
those of real texts (see `bench.recall`). A conversation of many turns then runs over it, in two
ways:

- `stream`: the stream alone, over a memory that nothing is written to;
- `memory`: as an agent uses it: each turn is kept first, and the stream makes its vectors when it
  has searched.

`added` is what the turn itself waits for: `take_prefetched` at its start, and `sync_turn` at its
end, per turn. `ready` is the time from the end of a turn until the answer for the next one is
there. Writing the turn down is not streaming; its time is `kept`. The pause between two turns is
time in which a person reads or a model writes. `search_alone` is the baseline: the same search in
the foreground, which is what a turn would wait for without the stream.
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import numpy as np

from bench._common import emit, print_table, run
from bench.recall import NOW, fill, sentences, vocabulary
from bench.vectors import make_vectors
from factbook.apply.apply import apply
from factbook.embed import bundled
from factbook.memory import Memory
from factbook.memory.conversation import ClaimJudge
from factbook.model.facts import Candidate, FactKind, Role, Trigger, Trust
from factbook.model.ops import AssertFact, StoreVectors
from factbook.recall.modes import TwoModes
from factbook.recall.plan import Turn
from factbook.recall.prefetch import PassiveStream, StreamState

FACT_SHARE: Final = 5  # every fifth memory is a fact
STEP: Final = 20_000
CONFIDENCE: Final = 0.9
WARM: Final = 5  # turns before the clock starts
LONGEST: Final = 30.0  # seconds that an answer is waited for


def assert_facts(memory: Memory, texts: Sequence[str], vectors: np.ndarray) -> None:
    """Write each text as a statement of the owner, said in the episode that has the same words."""
    for first in range(0, len(texts), STEP):
        part = texts[first : first + STEP]
        ops = [
            AssertFact(
                candidate=Candidate(
                    subject="me",
                    predicate="states",
                    object=text,
                    statement=text,
                    confidence=CONFIDENCE,
                    rule="said",
                    method="The owner said it",
                    start=0,
                    end=len(text),
                    kind=FactKind.STATEMENT,
                    embed=True,
                ),
                episode=f"bench:{first + n}",
                owner="me",
                confidence=CONFIDENCE,
                trust=Trust.DIRECT,
                quote=text[:400],
            )
            for n, text in enumerate(part)
        ]
        apply(memory.store, ops, trigger=Trigger.USER_MESSAGE, actor="bench", now=NOW)
        waiting = memory.store.waiting("fact", limit=STEP)
        op = StoreVectors(
            target="fact",
            model=memory.resources.embedder.id,
            ids=[one for one, _ in waiting],
            vectors=vectors[first : first + len(waiting)].tobytes(),
            dim=vectors.shape[1],
        )
        apply(memory.store, [op], trigger=Trigger.UPKEEP, actor="bench", now=NOW)


def said(words: list[str], count: int, seed: int) -> list[tuple[str, str]]:
    """Return what the user and the assistant say in each turn; every third seeks advice."""
    rng = np.random.default_rng(seed)
    asked = sentences(rng, words, count, 7)
    answers = sentences(rng, words, count, 30)
    return [
        (f"Can you recommend {ask}?" if n % 3 == 0 else f"I think that {ask} matters.", answer)
        for n, (ask, answer) in enumerate(zip(asked, answers, strict=True))
    ]


def as_turns(user: str, assistant: str) -> list[Turn]:
    """Return one turn of the conversation as its two messages."""
    return [Turn(role=Role.USER, text=user), Turn(role=Role.ASSISTANT, text=assistant)]


def quantiles(seconds: Sequence[float]) -> dict[str, float]:
    """Return the median and the 99th percentile in milliseconds."""
    return {
        "p50_ms": round(float(np.percentile(seconds, 50)) * 1000, 3),
        "p99_ms": round(float(np.percentile(seconds, 99)) * 1000, 3),
    }


class Clock:
    """Time blocks of code, by the wall and by the processor time of this thread."""

    def __init__(self) -> None:
        self.wall: list[float] = []
        self.cpu: list[float] = []

    @contextmanager
    def timed(self, *, more: bool = False) -> Iterator[None]:
        """Add the time of a block; with `more` to the last one."""
        cpu, wall = time.thread_time(), time.perf_counter()
        yield
        wall, cpu = time.perf_counter() - wall, time.thread_time() - cpu
        if more:
            self.wall[-1] += wall
            self.cpu[-1] += cpu
        else:
            self.wall.append(wall)
            self.cpu.append(cpu)

    def figures(self) -> dict[str, float]:
        """Return the quantiles of both after the first turns."""
        return {
            **quantiles(self.wall[WARM:]),
            "cpu_p99_ms": quantiles(self.cpu[WARM:])["p99_ms"],
        }


def converse(
    stream: PassiveStream,
    turns: Sequence[tuple[str, str]],
    *,
    keep: Callable[[Sequence[Turn]], object] | None,
    pause: float,
) -> dict[str, Any]:
    """Run a conversation over a stream and return its figures."""
    added, kept = Clock(), Clock()
    states: dict[str, int] = {}
    latencies = []
    for user, assistant in turns:
        with added.timed():
            found = stream.take_prefetched()
        states[str(found.state)] = states.get(str(found.state), 0) + 1
        until = time.monotonic() + LONGEST
        while found.state is StreamState.LATE and time.monotonic() < until:
            time.sleep(0.002)
            found = stream.take_prefetched()
        if found.latency_ms is not None:
            latencies.append(found.latency_ms / 1000)
        ended = as_turns(user, assistant)
        if keep is not None:
            with kept.timed():
                keep(ended)
        with added.timed(more=True):
            stream.sync_turn(ended)
        time.sleep(pause)
    figures: dict[str, Any] = {
        "added": added.figures(),
        "ready": quantiles(latencies[WARM:]),
        "states": states,
    }
    if keep is not None:
        figures["kept"] = kept.figures()
    return figures


def main() -> int:
    """Run the part from the command line."""
    parser = argparse.ArgumentParser(prog="python -m bench.passive", description=__doc__)
    parser.add_argument("--n", type=int, default=100_000, help="memories in the store")
    parser.add_argument("--turns", type=int, default=200)
    parser.add_argument("--pause-ms", type=float, default=150.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    rng = np.random.default_rng(given.seed)
    words = vocabulary(rng)
    vectors = make_vectors(given.n, given.seed).astype(np.float16)
    facts = given.n // FACT_SHARE
    episodes = given.n - facts
    texts = sentences(rng, words, episodes, 18)
    turns = said(words, given.turns + WARM, given.seed)
    figures: dict[str, Any] = {"n": given.n, "turns": given.turns, "pause_ms": given.pause_ms}
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        with Memory(
            folder / "bench.db", key_file=folder / "key", clock=lambda: NOW, embedder=bundled()
        ) as memory:
            fill(memory, vectors[:episodes], texts)
            assert_facts(memory, texts[:facts], vectors[episodes:])
            modes = TwoModes(memory.engine, judging=ClaimJudge())
            alone = Clock()
            for user, assistant in turns:
                with alone.timed():
                    modes.stream(as_turns(user, assistant))
            figures["search_alone"] = alone.figures()
            with PassiveStream(
                modes.stream,
                still=modes.still,
                generation=lambda: memory.store.head().memory,
                clock=lambda: NOW,
            ) as stream:
                figures["stream"] = converse(stream, turns, keep=None, pause=given.pause_ms / 1000)

            figures["memory"] = converse(
                memory.conversation(session="bench").stream(),
                turns,
                keep=lambda ended: memory.conversation(session="bench").add_turns(ended),
                pause=given.pause_ms / 1000,
            )
    figures["peak_mb"] = round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
    if not given.json:
        rows = [{"": "search in the foreground", **figures["search_alone"]}]
        rows += [
            {"": f"{way}: {what}", **figures[way][what]}
            for way in ("stream", "memory")
            for what in ("added", "ready", "kept")
            if what in figures[way]
        ]
        print_table(f"passive recall over {given.n:,} memories (milliseconds)", rows)
        for way in ("stream", "memory"):
            print(f"{way}: {figures[way]['states']}")
    emit(figures, part="passive", as_json=given.json)
    return 0


if __name__ == "__main__":
    raise SystemExit(run(main))
