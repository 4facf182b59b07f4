"""Cancel background work 200 times in the midst of each kind of step, and time how soon it ends.

    python -m bench.cancel [--n N] [--seed N] [--json]

Every step is one of the product's own loops over a SQLite file, and takes long:

- search: a search with a SearXNG that accepts the connection and never answers
- model: a message is read by a language model that never answers
- embedding: a batch of long texts is embedded with the bundled model
- extraction: a search with eight results of 6,000 characters is read by rules
- hostile: the same, of pages that are made to take long: of lines without words, of lists and of
  brackets without an end
- message: a message of 20,000 characters that its owner wrote is read by rules

and is cancelled after 5 to 60 ms of it (the first two) or 5 to 500 ms (the others), in two ways:

- here: `Worker.foreground()` in another thread; timed from that call
- elsewhere: another process writes that its owner did something, and the worker notices; timed from
  before that write, so with its commit

until the step has ended and was taken down, with whatever it gives back to the file. Wall times, as
somebody who waits has them.

- p50_ms, p99_ms, max_ms: of the cancellations; over_100_ms: how many took longer
- step_ms: the baseline, how long somebody would wait for the step itself to end; of search and
  model that is their deadline
- left_undone: steps that were not taken up again afterwards and done; audit_problems: what `check`
  says of the files at the end
- watch_cpu, idle_cpu: percent of one processor that goes into watching a step that waits, and into
  waiting for work
"""

from __future__ import annotations

import argparse
import itertools
import random
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Final

import numpy as np

from bench._common import BenchError, emit, print_table, run
from factbook import policy
from factbook.apply.apply import apply
from factbook.interests.jobs import prepare
from factbook.interests.scheduler import Loop, LoopResult, LoopStep, StepOutcome, Worker, moved
from factbook.llm.config import ModelConfig
from factbook.memory import Memory
from factbook.model.entities import SearchAnswer, SearchResult
from factbook.model.facts import Trigger
from factbook.recall.time_expressions import now_ms
from factbook.search_providers import open_search
from factbook.search_providers.config import SEARXNG, SearchConfig
from factbook.sources.told import said_ops
from factbook.store.derived.counts import count_waiting
from factbook.store.derived.notices import last_action
from factbook.store.derived.searches import search_logs
from factbook.store.port import Store

WAITING_S: Final = (0.005, 0.06)  # into a step that waits for others, before it is cancelled
WORKING_S: Final = (0.005, 0.5)  # into one that computes
MODEL_TIMEOUT_S: Final = 30.0
CPU_S: Final = 2.0  # over which the processor time of waiting is taken
BOUND_MS: Final = 100.0
TRIES: Final = 5  # for each cancellation that is wanted: a step may end before it is cancelled

# A page of made-up prose about made-up things: it must only take long to read.
_THINGS: Final = ("Marlow 5", "Marlow 5 Signature", "Teviot Two", "Calder bookshelf speaker")
_SENTENCES: Final = (
    "The {thing} weighs {n} kilograms and stands on four rubber feet.",
    "Its cabinet is made of birch plywood that is {n} millimetres thick.",
    "The {thing} was first shown in Leeds in {year} and costs {n} pounds a pair.",
    "Reviewers praised the {thing} for its calm treble, and missed some bass below {n} hertz.",
    "{thing} owners say that the grilles come off easily, which the maker advises against.",
    "The company says that the {thing} needs {n} hours of use before it sounds its best.",
)
# What pages are made of that are to take long: each of them once took seconds.
MESSAGE_CHARS: Final = 20_000
_WRITTEN: Final = (
    "I love the Marlow 5 and ",
    "THE MARLOW ",
    "I met Anna. I hate it. ",
    "My dog is called Pim, do I like it? ",
)
_HOSTILE: Final = ("- \n", "\n.\n", "\n", " \n", "<!-- ", "<memory ", "subscribe ", "Teviot Two, ")


@dataclass(slots=True, kw_only=True)
class Case:
    """One kind of step, and a memory in which it waits to be made."""

    name: str
    loop: str  # of the product
    memory: Memory
    refill: Callable[[], object]  # let work wait, where none does
    deadline_ms: float | None = None  # of a step that waits for others
    spare: Callable[[], bool] = field(default=lambda: True)  # whether work waits


# --- what takes long ------------------------------------------------------------------------------


@contextmanager
def silent_server() -> Iterator[str]:
    """Accept every connection, read what comes, and never answer; give the address."""
    listener = socket.create_server(("127.0.0.1", 0), backlog=64)
    stopping = threading.Event()

    def hold(connection: socket.socket) -> None:
        with connection:
            try:
                while connection.recv(65_536):
                    pass
            except OSError:
                return  # reset by the other side, as is its right

    def accept() -> None:
        while True:
            connection, _ = listener.accept()
            if stopping.is_set():
                connection.close()
                return
            threading.Thread(target=hold, args=(connection,), daemon=True).start()

    thread = threading.Thread(target=accept, daemon=True)
    thread.start()
    port = listener.getsockname()[1]
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        stopping.set()
        socket.create_connection(("127.0.0.1", port)).close()
        thread.join()
        listener.close()


class Pages:
    """A search provider that gives eight long pages at once."""

    id = "pages"

    def __init__(self, chance: random.Random, text: Callable[[random.Random, int], str]) -> None:
        self._chance = chance
        self._text = text

    def search(self, query: str, *, limit: int = policy.SEARCH_RESULTS) -> SearchAnswer:
        """Return pages, none like another."""
        results = [
            SearchResult(
                title=f"{query} {n}",
                url=f"https://pages.example/{self._chance.getrandbits(40)}",
                text=self._text(self._chance, policy.RESULT_TEXT_CHARS),
            )
            for n in range(limit)
        ]
        return SearchAnswer(provider=self.id, results=results, duration_ms=1)


def prose(chance: random.Random, size: int) -> str:
    """Return so many characters of sentences."""
    text = ""
    while len(text) < size:
        sentence = chance.choice(_SENTENCES)
        text += sentence.format(
            thing=chance.choice(_THINGS), n=chance.randint(2, 90), year=chance.randint(1970, 2024)
        )
        text += " "
    return text[:size]


def hostile(chance: random.Random, size: int) -> str:
    """Return a sentence and so many characters of what is made to take long."""
    begun = prose(chance, 200)
    piece = chance.choice(_HOSTILE)
    return (begun + piece * size)[:size]


def say(memory: Memory, text: str, n: int) -> None:
    """Let the owner say something that waits to be read and embedded."""
    ops = said_ops(text, uid=f"said:{n}", owner="me", at=now_ms())
    apply(memory.store, ops, trigger=Trigger.USER_MESSAGE, actor="bench", now=now_ms())


def cases(folder: Path, silent: str, chance: random.Random) -> Iterator[Case]:
    """Prepare the kinds of steps, each in a file of its own."""

    def opened(name: str, **given: object) -> Memory:
        settings: dict[str, object] = {"model": None, "search_config": None, **given}
        return Memory(folder / f"{name}.db", key_file=folder / "key", **settings)  # type: ignore[arg-type]

    provider = open_search(SearchConfig(provider=SEARXNG, url=silent), environ={})
    memory = opened("search", search=provider)
    memory.interests.learn("quiet bookshelf speakers")
    yield Case(
        name="search",
        loop="searches",
        memory=memory,
        refill=lambda: None,
        deadline_ms=policy.SEARCH_TIMEOUT_S * 1000,
    )
    config = ModelConfig(provider="openai", url=silent, timeout_s=MODEL_TIMEOUT_S)
    memory = opened("model", model=config)
    say(memory, "I have been reading about the Marlow 5 and I love it.", 0)
    yield Case(
        name="model",
        loop="extraction",
        memory=memory,
        refill=lambda: None,
        deadline_ms=MODEL_TIMEOUT_S * 1000,
    )
    memory = opened("embedding")
    said = itertools.count()
    store = memory.store

    def say_much(memory: Memory = memory) -> None:
        for _ in range(64):
            say(memory, prose(chance, 1_200), next(said))

    yield Case(
        name="embedding",
        loop="embedding",
        memory=memory,
        refill=say_much,
        spare=lambda: count_waiting(store) > 16,
    )
    for name, text in (("extraction", prose), ("hostile", hostile)):
        memory = opened(name, search=Pages(chance, text))
        for thing in _THINGS:
            memory.interests.like(thing)
        store = memory.store

        def search(memory: Memory = memory) -> None:
            memory.interests.search_web("marlow 5 speakers")

        def waits(store: Store = store) -> bool:
            return bool(search_logs(store, extracted=False))

        yield Case(name=name, loop="extraction", memory=memory, refill=search, spare=waits)
    memory = opened("message")
    wrote = itertools.count()

    def write(memory: Memory = memory) -> None:
        piece = chance.choice(_WRITTEN)
        say(memory, (piece * MESSAGE_CHARS)[:MESSAGE_CHARS], next(wrote))

    yield Case(name="message", loop="extraction", memory=memory, refill=write, spare=lambda: False)


# --- who acts -------------------------------------------------------------------------------------

_ELSEWHERE: Final = """
import sys, time
from factbook.memory import Memory
with Memory(sys.argv[1], key_file=sys.argv[2], model=None, search_config=None) as memory:
    memory.interests.note_action()  # imports what it needs; whoever acts all day has it
    print("ready", flush=True)
    for line in sys.stdin:
        at = time.monotonic_ns()
        memory.interests.note_action()
        print(at, flush=True)
"""


@contextmanager
def somebody(memory: Memory, folder: Path) -> Iterator[Callable[[], int]]:
    """Give what acts in another process and returns when it did, in ns of the monotonic clock."""
    command = [sys.executable, "-c", _ELSEWHERE, str(memory.path), str(folder / "key")]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        stdin, stdout = process.stdin, process.stdout
        assert stdin is not None
        assert stdout is not None
        if stdout.readline() != "ready\n":
            raise BenchError("the other process could not open the memory; its error stands above")

        def act() -> int:
            stdin.write("\n")
            stdin.flush()
            return int(stdout.readline())

        try:
            yield act
        finally:
            stdin.close()


# --- measuring ------------------------------------------------------------------------------------


@dataclass(slots=True)
class Watched:
    """A loop of the product whose beginning can be waited for."""

    loop: Loop
    begun: threading.Event = field(default_factory=threading.Event)

    def again(self) -> Loop:
        """Return the loop, to be run once more."""

        def step() -> LoopResult:
            self.begun.set()
            return self.loop.run()

        return Loop(name=self.loop.name, every_ms=1, run=step)


def loop_of(case: Case) -> Loop:
    """Return the product's own loop of a case."""
    return next(one for one in case.memory.background.loops() if one.name == case.loop)


def cancelled_once(
    case: Case, chance: random.Random, act: Callable[[], int] | None
) -> float | None:
    """Return how long one cancellation took in ms; None where the step ended before it."""
    watched = Watched(loop_of(case))
    store = case.memory.store
    watch = None if act is None else moved(lambda: store.head().commit, partial(last_action, store))
    worker = Worker(
        [watched.again()],
        clock=now_ms,
        foreground=watch,
        prepare=lambda: prepare(case.memory._context),
    )
    steps: list[LoopStep] = []
    ended: list[int] = []

    def drain() -> None:
        steps.extend(worker.drain(limit=1))
        ended.append(time.monotonic_ns())

    with worker:
        thread = threading.Thread(target=drain)
        thread.start()
        if not watched.begun.wait(10):
            raise BenchError(f"the step {case.name} did not begin within 10 seconds; run it again")
        time.sleep(chance.uniform(*(WAITING_S if case.deadline_ms else WORKING_S)))
        at = time.monotonic_ns()
        if act is None:
            worker.foreground()
        else:
            at = act()
        thread.join()
    # a step that does not obey counts with all the time that somebody waited for its end
    return (ended[0] - at) / 1e6 if steps and ended[0] > at else None


def measured(case: Case, way: str, lags: Sequence[float], step_ms: float) -> dict[str, object]:
    """Return the figures of one case and way."""
    found = np.array(lags)
    return {
        "step": case.name,
        "by": way,
        "n": len(lags),
        "p50_ms": round(float(np.quantile(found, 0.5)), 2),
        "p99_ms": round(float(np.quantile(found, 0.99)), 2),
        "max_ms": round(float(found.max()), 2),
        "over_100_ms": int((found > BOUND_MS).sum()),
        "step_ms": round(step_ms, 1),
    }


def run_case(
    case: Case, folder: Path, chance: random.Random, *, n: int
) -> tuple[list[dict[str, object]], int, int]:
    """Return (the figures of both ways, steps that were left undone, problems of the file)."""
    memory = case.memory

    def fill() -> None:
        if not case.spare():
            case.refill()

    def steps() -> Worker:
        return Worker([loop_of(case)], clock=now_ms)

    if case.deadline_ms is None:  # words are compiled by the first step
        fill()
        with steps() as worker:
            worker.drain(limit=1)
    rows: list[dict[str, object]] = []
    lags: dict[str, list[float]] = {}
    for way in ("here", "elsewhere"):
        with ExitStack() as stack:
            act = stack.enter_context(somebody(memory, folder)) if way == "elsewhere" else None
            found: list[float] = []
            for _ in range(n * TRIES):
                fill()
                lag = cancelled_once(case, chance, act)
                if lag is not None:
                    found.append(lag)
                if len(found) == n:
                    break
            else:
                raise BenchError(
                    f"most steps of {case.name} ended before they were cancelled; give a smaller n"
                )
        lags[way] = found
    step_ms, undone = case.deadline_ms or 0.0, 0
    if case.deadline_ms is None:
        fill()
        with steps() as worker:
            done = worker.drain(limit=1)
            step_ms = done[0].ms
            undone = int(done[0].outcome is not StepOutcome.DONE or not done[0].did)
    rows += [measured(case, way, found, step_ms) for way, found in lags.items()]
    problems = len(memory.store.check())
    return rows, undone, problems


def waiting_cpu(memory: Memory) -> dict[str, float]:
    """Return percents of a processor: while a step waits and is watched, and without work."""
    begun = threading.Event()

    def wait() -> LoopResult:
        begun.set()
        time.sleep(CPU_S + 0.5)
        return LoopResult()

    store = memory.store
    watch = moved(lambda: store.head().commit, partial(last_action, store))
    found: dict[str, float] = {}
    worker = Worker([Loop(name="w", every_ms=60_000, run=wait)], clock=now_ms, foreground=watch)
    with worker:
        worker.start()
        begun.wait(10)
        for name in ("watch_cpu", "idle_cpu"):
            at = time.process_time()
            time.sleep(CPU_S)
            found[name] = round((time.process_time() - at) / CPU_S * 100, 2)
            time.sleep(1.0)  # the step ends in between
    return found


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.cancel",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--n", type=int, default=200, help="cancellations of each step and way")
    parser.add_argument("--seed", type=int, default=5)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    if given.n < 1:
        raise BenchError(f"--n is {given.n}; give 1 or more")
    chance = random.Random(given.seed)
    rows: list[dict[str, object]] = []
    undone = problems = 0
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="factbook-cancel-")))
        silent = stack.enter_context(silent_server())
        cpu: dict[str, float] = {}
        for case in cases(folder, silent, chance):
            with case.memory:
                found, left, wrong = run_case(case, folder, chance, n=given.n)
                rows += found
                undone += left
                problems += wrong
                if not cpu:
                    cpu = waiting_cpu(case.memory)
    figures: dict[str, object] = {
        "cancellations": rows,
        "p99_ms": max(float(str(row["p99_ms"])) for row in rows),
        "over_100_ms": sum(int(str(row["over_100_ms"])) for row in rows),
        "left_undone": undone,
        "audit_problems": problems,
        **cpu,
    }
    if not given.json:
        print_table("Cancelling background work", rows)
        print_table(
            "At the end", [{name: figures[name] for name in figures if name != "cancellations"}]
        )
    emit(figures, part="cancel", as_json=given.json)
    return 0


if __name__ == "__main__":
    sys.exit(run(main))
