"""Read files in other processes, so that reading and writing go on at the same time.

A worker is this module run by the same Python: it gets the rules and the redactor once, then files
one by one over its standard input, and answers with their steps over its standard output. It ends
when its input ends, so nothing is left behind when the parent is killed. Worker threads would not
help: parsing and extraction hold the interpreter's lock.
"""

from __future__ import annotations

import dataclasses
import io
import os
import pickle
import queue
import struct
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from operator import attrgetter
from types import TracebackType
from typing import IO, Any, Final

from factbook.errors import FactbookError, InputError
from factbook.extract.rules import RuleSet
from factbook.model import (
    Candidate,
    Cursor,
    Episode,
    Field,
    LineCount,
    Millis,
    RejectedLine,
    Source,
)
from factbook.ops import (
    AdvanceCursor,
    AssertFact,
    RecordEpisode,
    RecordSource,
    RejectCandidate,
    RejectLine,
)
from factbook.propose import Redacting, Step, propose
from factbook.sources.session_log import LogFile

_AHEAD: Final = 4  # steps that a worker may be ahead of the writer: bounds the memory
_SIZE: Final = struct.Struct("<Q")


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """One file to read."""

    number: int  # its place among the files of the run
    file: LogFile
    cursor: Cursor | None
    now: Millis


@dataclass(frozen=True, slots=True, kw_only=True)
class _Done:
    """A file is read to its end, or could not be."""

    number: int
    error: FactbookError | OSError | None = None


# What crosses the pipe by the thousand. A slotted dataclass pickles itself through Python code that
# asks for its fields each time; taking its slots directly is three times as fast both ways.
_WIRED: Final[tuple[type[Any], ...]] = (
    Candidate,
    Cursor,
    Episode,
    Field,
    LineCount,
    RejectedLine,
    Source,
    AdvanceCursor,
    AssertFact,
    RecordEpisode,
    RecordSource,
    RejectCandidate,
    RejectLine,
)
_SETTERS: Final[dict[type, tuple[Callable[..., None], ...]]] = {
    kind: tuple(getattr(kind, part.name).__set__ for part in dataclasses.fields(kind))
    for kind in _WIRED
}


def _build(kind: type, *values: object) -> object:
    """Make a value of a wired class from its slots, without checks that it passed before."""
    made: object = object.__new__(kind)
    for put, value in zip(_SETTERS[kind], values, strict=True):
        put(made, value)
    return made


def _reducer(kind: type) -> Callable[[Any], tuple[Any, ...]]:
    names = [part.name for part in dataclasses.fields(kind)]
    get = attrgetter(*names)
    if len(names) == 1:
        return lambda value: (_build, (kind, get(value)))
    return lambda value: (_build, (kind, *get(value)))


_TABLE: Final[dict[type, Callable[[Any], Any]]] = {kind: _reducer(kind) for kind in _WIRED}


def _dump(value: object) -> bytes:
    buffer = io.BytesIO()
    pickler = pickle.Pickler(buffer, protocol=pickle.HIGHEST_PROTOCOL)
    pickler.dispatch_table = _TABLE
    pickler.dump(value)
    return buffer.getvalue()


class Workers:
    """A few processes that read files; results come back in the order of the tasks."""

    def __init__(
        self, tasks: Sequence[Task], *, rules: RuleSet, redactor: Redacting, count: int
    ) -> None:
        """Start the processes and give each its first file."""
        self._tasks = iter(tasks)
        self._lock = threading.Lock()
        self._results: dict[int, queue.SimpleQueue[Step | _Done]] = {
            task.number: queue.SimpleQueue() for task in tasks
        }
        self._slots: dict[int, threading.Semaphore] = {}  # task number -> its worker's room
        self._failed: str = ""
        self._processes: list[subprocess.Popen[bytes]] = []
        hello = _dump((rules.rules, redactor))
        for _ in range(min(count, len(tasks))):
            process = subprocess.Popen(
                [sys.executable, "-m", "factbook.workers"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                env={
                    **os.environ,
                    "PYTHONPATH": os.pathsep.join(part for part in sys.path if part),
                },
            )
            self._processes.append(process)
            threading.Thread(target=self._listen, args=(process, hello), daemon=True).start()

    def __enter__(self) -> Workers:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for process in self._processes:
            process.kill()
            process.wait()
            for pipe in (process.stdin, process.stdout):
                if pipe is not None:
                    pipe.close()

    def steps(self, number: int) -> Iterator[Step]:
        """Yield the steps of one file; raises what reading it raised."""
        results = self._results[number]
        while True:
            item = results.get()
            if isinstance(item, _Done):
                if item.error is not None:
                    raise item.error
                return
            self._slots[number].release()
            yield item

    def _listen(self, process: subprocess.Popen[bytes], hello: bytes) -> None:
        """Hand tasks to one worker and put its answers where they are waited for."""
        slots = threading.Semaphore(_AHEAD)
        number: int | None = None
        stdin, stdout = process.stdin, process.stdout
        assert stdin is not None
        assert stdout is not None
        try:
            _send(stdin, hello)
            while True:
                with self._lock:
                    task = next(self._tasks, None)
                if task is None:
                    return
                number = task.number
                self._slots[number] = slots
                _send(stdin, _dump(task))
                while True:
                    slots.acquire()
                    item = pickle.loads(_receive(stdout))  # noqa: S301 - from our own child
                    self._results[number].put(item)
                    if isinstance(item, _Done):
                        slots.release()
                        break
        except (OSError, EOFError, pickle.UnpicklingError) as error:
            # The worker died. Whoever waits for its files must hear of it.
            self._give_up(number, str(error) or type(error).__name__)

    def _give_up(self, number: int | None, why: str) -> None:
        failure = FactbookError(
            detail=f"a process that read logs ended unexpectedly ({why}); nothing of its file was"
            " counted as read, run `factbook ingest` again, with --workers 1 if it happens twice"
        )
        with self._lock:
            left = [task.number for task in self._tasks]
        for one in [*([] if number is None else [number]), *left]:
            self._results[one].put(_Done(number=one, error=failure))


def _send(pipe: IO[bytes], data: bytes) -> None:
    pipe.write(_SIZE.pack(len(data)))
    pipe.write(data)
    pipe.flush()


def _receive(pipe: IO[bytes]) -> bytes:
    head = pipe.read(_SIZE.size)
    if len(head) < _SIZE.size:
        raise EOFError("its output ended")
    (size,) = _SIZE.unpack(head)
    data = pipe.read(size)
    if len(data) < size:
        raise EOFError("its output ended in the middle")
    return data


def serve(stdin: IO[bytes], stdout: IO[bytes]) -> None:
    """Read files for a parent until it closes the pipe."""

    def answer(item: Any) -> None:
        _send(stdout, _dump(item))

    try:
        given_rules, redactor = pickle.loads(_receive(stdin))  # noqa: S301 - from our own parent
        rules = RuleSet(given_rules)
        while True:
            task: Task = pickle.loads(_receive(stdin))  # noqa: S301
            try:
                for step in propose(
                    task.file, cursor=task.cursor, rules=rules, redactor=redactor, now=task.now
                ):
                    answer(step)
            except (OSError, InputError) as error:
                answer(_Done(number=task.number, error=error))
            else:
                answer(_Done(number=task.number))
    except (EOFError, BrokenPipeError):
        return  # the parent is done, or gone


if __name__ == "__main__":
    # Under `-m` this file is `__main__`; what crosses the pipe must be of the importable module.
    from factbook import workers

    workers.serve(sys.stdin.buffer, sys.stdout.buffer)
