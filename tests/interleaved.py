"""Two processes write to one ledger while each reads it with Python's own `sqlite3` as well.

Run as a program: `interleaved.py FOLDER FIRST ROUNDS`. One process loads everything once and forks
two writers for each round. A writer does at random: write a fact, read all with `sqlite3` and close
it, keep such a reader open over a write, read in a thread beside the writes, open the ledger anew;
and it ends by `close` or by kill -9. What was acknowledged, and what was refused, each writer notes
in a file of its own.
"""

from __future__ import annotations

import os
import random
import signal
import sqlite3
import sys
import threading
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path

from factbook.apply.apply import apply
from factbook.errors import StoreError, StoreReplaced
from factbook.model.facts import Trigger
from factbook.model.ops import Op, RecordEpisode, RecordSource
from factbook.store.sqlite import SQLiteStore
from factbook.testing import sample_episode, sample_fact, sample_source
from factbook.testing.contract.files import files_of

NOW = 1_790_000_000_000
STEPS = 14


def ledger(folder: Path, number: int) -> Path:
    return folder / f"{number}.db"


def notes(folder: Path, number: int, writer: int) -> Path:
    return folder / f"{number}.{writer}.acks"


def read_beside(path: Path) -> None:
    """Read the ledger as plain SQL is read: with another SQLite, and close it."""
    # Locked for a moment it may be: what is written is safe all the same.
    with closing(sqlite3.connect(path, timeout=5)) as other, suppress(sqlite3.OperationalError):
        other.execute("SELECT count(*) FROM facts").fetchall()


class Writer:
    """One process that writes and reads."""

    def __init__(self, folder: Path, number: int, writer: int) -> None:
        self.path = ledger(folder, number)
        self.rng = random.Random(number * 2 + writer)
        self.writer = writer
        self.count = 0
        self.notes = os.open(notes(folder, number, writer), os.O_CREAT | os.O_WRONLY | os.O_APPEND)
        self.store = SQLiteStore(self.path)

    def write(self) -> None:
        """Write one episode and note that it was acknowledged."""
        self.count += 1
        uid = f"w{self.writer}-{self.count}"
        number = self.writer * 1_000 + self.count
        filler = "the ferry leaves at noon " * self.rng.randrange(1, 400)
        episode = sample_episode(number, uid=uid, text=f"{uid} {filler}", subject=uid)
        ops: list[Op] = [
            RecordSource(source=sample_source()),
            RecordEpisode(episode=episode),
            sample_fact(episode, "noted", uid),
        ]
        try:
            apply(self.store, ops, trigger=Trigger.USER_MESSAGE, actor="test", now=NOW)
        except StoreReplaced:
            os.write(self.notes, f"refused {uid}\n".encode())
            files_of(self.store).reopen()
        else:
            os.write(self.notes, f"ack {uid}\n".encode())

    def read(self) -> None:
        read_beside(self.path)

    def read_over_a_write(self) -> None:
        with closing(sqlite3.connect(self.path, timeout=5)) as other:
            other.execute("BEGIN")
            other.execute("SELECT count(*) FROM facts").fetchall()
            self.write()

    def read_in_a_thread(self) -> None:
        threads = [threading.Thread(target=read_beside, args=(self.path,)) for _ in range(3)]
        for one in threads:
            one.start()
            self.write()
        for one in threads:
            one.join()

    def open_anew(self) -> None:
        self.store.close()
        self.store = SQLiteStore(self.path)

    def run(self) -> None:
        steps: list[tuple[Callable[[], None], int]] = [
            (self.write, 4),
            (self.read, 4),
            (self.read_over_a_write, 2),
            (self.read_in_a_thread, 2),
            (self.open_anew, 1),
        ]
        chosen, weights = zip(*steps, strict=True)
        for _ in range(self.rng.randrange(2, STEPS)):
            (step,) = self.rng.choices(chosen, weights)
            step()
        if self.rng.random() < 0.5:
            os.kill(os.getpid(), signal.SIGKILL)
        self.store.close()


def play(folder: Path, number: int) -> None:
    """Play one round: two writers beside one another, to their ends."""
    SQLiteStore(ledger(folder, number)).close()
    children = []
    for writer in (0, 1):
        child = os.fork()
        if child == 0:
            try:
                Writer(folder, number, writer).run()
                os._exit(0)
            except StoreError as error:
                os.write(2, f"{number}.{writer}: {type(error).__name__}: {error}\n".encode())
                os._exit(3)
            finally:
                os._exit(4)  # a child must not go on as its parent
        children.append(child)
    for child in children:
        _, status = os.waitpid(child, 0)
        if os.WIFEXITED(status) and os.WEXITSTATUS(status):
            raise SystemExit(f"a writer of round {number} ended with {os.WEXITSTATUS(status)}")


if __name__ == "__main__":
    target, first, rounds = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    for round_number in range(first, first + rounds):
        play(target, round_number)
