"""Run `factbook-hook` as a client does, event by event, and time each process.

    python -m bench.hook [--n N] [--runs N] [--seed N] [--json]

A memory of N made-up memories (every fifth a fact) is written first. Each event is a new process,
its time from the start to the end; `python` is one that reads its input and ends, the baseline.

- the table: milliseconds of each event on the clock and of the processor (another machine's load is
  in the first alone), how many answered, how many characters at most
- stopped: prompts that a client would have dropped (an exit code other than 0, or output that is
  no answer) where the database is missing, locked, of a newer version, damaged, or never answers
- locomo: for how many of its questions something is brought, how many of these have evidence among
  it, and for how many something of another dialog, where nothing should be
- cli_ms: what `factbook recall` takes for the same prompt
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import numpy as np

from bench._common import data_dir, emit, print_table, run
from bench.passive import FACT_SHARE, assert_facts
from bench.recall import NOW, fill, sentences, vocabulary
from bench.retrieval import read_locomo
from bench.vectors import make_vectors
from factbook import Memory, Turn
from factbook.embed import bundled
from factbook.model.facts import Role
from factbook.surface.hook.lookup import Lookup
from factbook.surface.hook.reminder import ITEMS

HOOK: Final = (sys.executable, "-c", "from factbook.surface.hook import main; main()")
PLAIN: Final = (sys.executable, "-c", "import sys; sys.stdin.buffer.read()")
RECALL: Final = (sys.executable, "-m", "factbook", "recall")
PROJECT: Final = "/home/ann/shop"


def _event(name: str, session: str, prompt: str, folder: Path) -> bytes:
    told = {
        "session_id": session,
        "transcript_path": str(folder / "none.jsonl"),
        "cwd": PROJECT,
        "hook_event_name": name,
        "prompt": prompt,
        "source": "startup",
    }
    return json.dumps(told).encode()


ENV: Final = {
    name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"
}

Times = tuple[float, float]  # milliseconds: on the clock, and of the processor


def _timed(
    command: Sequence[str], stdin: bytes
) -> tuple[Times, subprocess.CompletedProcess[bytes]]:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    began = time.perf_counter()
    done = subprocess.run(command, input=stdin, capture_output=True, env=ENV, check=False)
    wall = time.perf_counter() - began
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    worked = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return (wall * 1000, worked * 1000), done


def _said(done: subprocess.CompletedProcess[bytes]) -> int | None:
    """Return how many characters were put before the model; None for what stops a client."""
    if done.returncode or done.stderr:
        return None
    if not done.stdout:
        return 0
    try:
        return len(json.loads(done.stdout)["hookSpecificOutput"]["additionalContext"])
    except (ValueError, KeyError):
        return None


def _row(name: str, times: Sequence[Times], said: Sequence[int | None]) -> dict[str, object]:
    walls = [wall for wall, _ in times]
    p50, p95 = np.percentile(walls, [50, 95])
    return {
        "event": name,
        "p50_ms": round(float(p50), 1),
        "p95_ms": round(float(p95), 1),
        "max_ms": round(max(walls), 1),
        "cpu_p95_ms": round(float(np.percentile([cpu for _, cpu in times], 95)), 1),
        "answered": sum(bool(size) for size in said),
        "chars": max((size or 0 for size in said), default=0),
        "stopped": sum(size is None for size in said),
    }


def measure(db: Path, known: Sequence[str], *, runs: int) -> list[dict[str, object]]:
    """Return a row for each event; `known` are texts that the memory holds.

    The events take turns, so that all see the same machine; but for the one that starts a process
    of its own, which would work beside the others.
    """
    asked = [" ".join(known[-1 - number].split()[:6]) for number in range(runs)]
    events = [
        ("SessionStart", lambda n: ""),
        ("UserPromptSubmit: known", lambda n: f"what about {asked[n]}?"),
        ("UserPromptSubmit: unknown", lambda n: f"write a haiku of frogs {n} on Mars"),
        ("UserPromptSubmit: 20 kB", lambda n: " ".join(known[n : n + 200])[:20_000]),
        ("PreCompress", lambda n: ""),
    ]
    times: dict[str, list[Times]] = {"python": []}
    said: dict[str, list[int | None]] = {"python": []}

    def once(name: str, number: int, prompt: str) -> None:
        told = _event(name.partition(":")[0], f"{name[-4:]}{number}", prompt, db.parent)
        ms, done = _timed((*HOOK, "--db", str(db)), told)
        times.setdefault(name, []).append(ms)
        said.setdefault(name, []).append(_said(done))

    for number in range(runs):
        times["python"].append(_timed(PLAIN, b"{}")[0])
        for name, prompt in events:
            once(name, number, prompt(number))
    for number in range(runs):
        once("Stop", number, "")
    return [_row(name, times[name], said[name]) for name in times]


# --- databases that cannot be asked ---------------------------------------------------------------


@contextmanager
def _locked(db: Path) -> Iterator[None]:
    locking = sqlite3.connect(db, isolation_level=None)
    try:
        locking.execute("PRAGMA locking_mode=EXCLUSIVE")
        locking.execute("BEGIN EXCLUSIVE")
        locking.execute("CREATE TABLE held (x)")
        yield
    finally:
        locking.close()


@contextmanager
def _newer(db: Path) -> Iterator[None]:
    with sqlite3.connect(db) as raw:
        raw.execute("PRAGMA user_version = 9999")
    yield


@contextmanager
def _damaged(db: Path) -> Iterator[None]:
    with db.open("r+b") as content:
        content.seek(4096)
        content.write(os.urandom(1_000_000))
    yield


@contextmanager
def _missing(db: Path) -> Iterator[None]:
    db.unlink()
    yield


@contextmanager
def _never(db: Path) -> Iterator[None]:
    db.unlink()
    os.mkfifo(db)
    yield


def sick(db: Path, *, runs: int) -> list[dict[str, object]]:
    """Return a row for each state in which a database cannot be asked."""
    rows = []
    states: list[tuple[str, Callable[[Path], Any]]] = [
        ("locked", _locked),
        ("newer", _newer),
        ("damaged", _damaged),
        ("missing", _missing),
        ("a pipe", _never),
    ]
    for state, spoil in states:
        copy = db.with_name(f"{state}.db")
        shutil.copy(db, copy)
        times: list[Times] = []
        said: list[int | None] = []
        with spoil(copy):
            for number in range(runs):
                name = ("UserPromptSubmit", "SessionStart")[number % 2]
                told = _event(name, f"s{number}", "what about the frogs of Mars?", db.parent)
                ms, done = _timed((*HOOK, "--db", str(copy)), told)
                times.append(ms)
                said.append(_said(done))
        rows.append(_row(state, times, said))
        for path in copy.parent.glob(f"{copy.name}*"):
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    return rows


# --- what comes unasked ---------------------------------------------------------------------------


def bearing(path: Path) -> dict[str, object]:
    """Return what the words of LoCoMo's questions bring, of their own dialog and of another."""
    dialogs = read_locomo(path)
    asked = answered = right = brought = strange = 0
    with tempfile.TemporaryDirectory() as folder:
        for number, dialog in enumerate(dialogs):
            db = Path(folder) / f"{number}.db"
            said = {unit.id: unit.text.partition(": ")[2] for unit in dialog.units}
            with Memory(db, model=None, search_config=None) as memory:
                turns = [Turn(role=Role.USER, text=text) for text in said.values()]
                memory.conversation(session="earlier").add_turns(turns)
            for question in dialog.questions:
                texts = _brought(db, question.text)
                asked += 1
                answered += bool(texts)
                brought += len(texts)
                right += any(said.get(gold) in texts for gold in question.gold)
            for question in dialogs[number - 1].questions:
                strange += bool(_brought(db, question.text))
    return {
        "questions": asked,
        "answered_pct": round(100 * answered / asked, 1),
        "evidence_pct": round(100 * right / asked, 1),
        "items": round(brought / max(1, answered), 1),
        "of_another_pct": round(100 * strange / asked, 1),
    }


def _brought(db: Path, prompt: str) -> list[str]:
    now = time.time_ns() // 1_000_000
    lookup = Lookup(str(db), owner="me", until=time.monotonic() + 60, now=now)
    memories = lookup.bearing_on(prompt, without=frozenset(), session="now")
    return [memory.text for memory in lookup.apart(memories, ITEMS)]


def main() -> int:
    """Write a memory, run the hook on it, print the tables."""
    parser = argparse.ArgumentParser(prog="python -m bench.hook", description=__doc__)
    parser.add_argument("--n", type=int, default=20_000, help="memories in the store")
    parser.add_argument("--runs", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    words = vocabulary(np.random.default_rng(given.seed))
    vectors = make_vectors(given.n, given.seed).astype(np.float16)
    facts = given.n // FACT_SHARE
    episodes = given.n - facts
    texts = sentences(np.random.default_rng(given.seed), words, episodes, 18)
    with tempfile.TemporaryDirectory() as folder:
        ENV["PYTHONPYCACHEPREFIX"] = folder  # an installed package is compiled once too
        db = Path(folder) / "m.db"
        with Memory(db, clock=lambda: NOW, embedder=bundled(), model=None) as memory:
            fill(memory, vectors[:episodes], texts)
            assert_facts(memory, texts[:facts], vectors[episodes:])
        raw = sqlite3.connect(db, isolation_level=None)
        # The hook has a clock of its own: nothing is to have faded by then.
        raw.execute("UPDATE fact_row SET confidence_at = ?", (time.time_ns() // 1_000_000,))
        raw.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        raw.close()
        measure(db, texts, runs=1)
        states = sick(db, runs=max(2, given.runs // 3))
        asked = ("--db", str(db), f"what about {texts[3]}?")
        rows = measure(db, texts, runs=given.runs)
        cli = [_timed((*RECALL, *asked), b"")[0][0] for _ in range(5)]
    data = data_dir()
    locomo = bearing(data / "locomo" / "locomo_dev3.json") if data is not None else None
    figures = {
        "n": given.n,
        "locomo": locomo,
        "events": rows,
        "states": states,
        "stopped": sum(int(str(row["stopped"])) for row in [*rows, *states]),
        "cli_ms": round(statistics.median(cli), 1),
    }
    if not given.json:
        print_table(f"hook: {given.n} memories", rows)
        print_table("databases that cannot be asked", states)
        if locomo:
            print_table("what the words of LoCoMo's questions bring", [locomo])
        print_table("", [{"stopped": figures["stopped"], "cli_ms": figures["cli_ms"]}])
    emit(figures, part="hook", as_json=given.json)
    return 0


if __name__ == "__main__":
    sys.exit(run(main))
