"""Read files in other processes, so that reading and writing go on at the same time.

A worker gets files one by one through a pipe and answers with their steps. While the writer has
little to do, episodes come without their facts, and the writer asks the rules itself: so the work
is shared evenly, whatever the number of cores. A worker ends when its input ends, so nothing is
left behind when the parent is killed. On Linux it is a fork, which has
everything imported; elsewhere it is this module run by the same Python. Worker threads would not
help: parsing and extraction hold the interpreter's lock. The processes of `multiprocessing` were
tried and left: a killed parent leaves them waiting for ever.
"""

from __future__ import annotations

import dataclasses
import gc
import os
import pickle
import queue
import signal
import struct
import sys
import threading
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from operator import attrgetter
from typing import IO, TYPE_CHECKING, Any, Final, NamedTuple

from factbook.errors import FactbookError, InputError
from factbook.extract.rules import RuleSet
from factbook.model import fast_dataclass
from factbook.model.facts import Candidate, Cursor, Episode, Field, Millis
from factbook.model.ops import AssertFact, Op, RecordEpisode
from factbook.pipelines.steps import BatchStep, call_ops, episode_ops, propose
from factbook.redaction.base import Redacting
from factbook.sources.session_log import LogFile

if TYPE_CHECKING:
    import subprocess

_AHEAD_BYTES: Final = 8 * 1024 * 1024  # log bytes that a worker may be ahead of the writer
_BUSY_BYTES: Final = 2 * 1024 * 1024  # so far ahead, a worker also extracts; else the writer does
_SIZE: Final = struct.Struct("<Q")


def forks() -> bool:
    """Tell whether a worker is a copy of this process, ready at once."""
    return sys.platform == "linux"


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


class _Flat:
    """The values of a frozen dataclass as plain tuples, without one of their fields.

    A slotted dataclass pickles itself through Python code that asks for its fields each time, and
    is made again by setting each field through a check. A log gives thousands of episodes and
    claims: as tuples they cross the pipe in a third of the time.
    """

    def __init__(self, kind: type, *without: str) -> None:
        names = [field.name for field in dataclasses.fields(kind) if field.name not in without]
        self.row: Callable[[Any], tuple[Any, ...]] = attrgetter(*names)
        # Of the row and the fields that it is without, in their order.
        self.build: Callable[..., Any] = fast_dataclass.by_place(kind, without=without)


_EPISODE: Final = _Flat(Episode, "fields", "answer")
_FIELD: Final = _Flat(Field)
_CANDIDATE: Final = _Flat(Candidate)
_CLAIM: Final = _Flat(AssertFact, "candidate")
_record_episode: Final = fast_dataclass.by_name(RecordEpisode)


class _FlatStep(NamedTuple):
    """A step as it crosses the pipe: the ops of each kind keep their order."""

    episodes: list[tuple[Any, ...]]
    fields: list[tuple[tuple[str, int, int], ...]] | None  # theirs, where the rules need them yet
    claims: list[tuple[tuple[Any, ...], tuple[Any, ...]]]  # (candidate, what is said of it)
    rest: BatchStep  # with the other ops


def _flat(step: BatchStep, *, extracted: bool) -> _FlatStep:
    fields: list[tuple[tuple[str, int, int], ...]] | None = None if extracted else []
    episodes: list[tuple[Any, ...]] = []
    claims: list[tuple[tuple[Any, ...], tuple[Any, ...]]] = []
    others: list[Op] = []
    for op in step.ops:
        if type(op) is AssertFact:
            claims.append((_CANDIDATE.row(op.candidate), _CLAIM.row(op)))
        elif type(op) is RecordEpisode:
            episodes.append(_EPISODE.row(op.episode))
            if fields is not None:
                fields.append(tuple([_FIELD.row(field) for field in op.episode.fields]))
        else:
            others.append(op)
    return _FlatStep(episodes, fields, claims, dataclasses.replace(step, ops=others))


def _unflat(flat: _FlatStep, rules: RuleSet) -> BatchStep:
    # `apply` sorts the ops by kind anyway, so the order among the kinds need not be kept.
    ops = flat.rest.ops
    if flat.fields is None:
        for row in flat.episodes:
            # Without its fields: the rules have read them, and they are not stored.
            ops.append(_record_episode(episode=_EPISODE.build(*row, (), None)))
    else:
        for row, fields in zip(flat.episodes, flat.fields, strict=True):
            spans = tuple([_FIELD.build(*field) for field in fields])
            episode = _EPISODE.build(*row, spans, None)
            ops.append(_record_episode(episode=episode))
            ops += episode_ops(episode, rules=rules)
        ops += [op for call in flat.rest.calls for op in call_ops(call, rules=rules)]
    for candidate, said in flat.claims:
        ops.append(_CLAIM.build(*said, _CANDIDATE.build(*candidate)))
    return dataclasses.replace(flat.rest, calls=[])


class _Room:
    """How far one worker may be ahead of the writer, in log bytes: it bounds the memory."""

    def __init__(self) -> None:
        self._used = 0
        self._changed = threading.Condition()

    def busy(self) -> bool:
        """Tell whether the writer has enough to do for now."""
        return self._used > _BUSY_BYTES

    def take(self, size: int) -> None:
        """Take room for a step; waits until what is ahead is little enough for one more."""
        with self._changed:
            self._used += size
            self._changed.wait_for(lambda: self._used <= _AHEAD_BYTES)

    def give_back(self, size: int) -> None:
        """Give back the room of a step that is being written."""
        with self._changed:
            self._used -= size
            self._changed.notify()


class _Worker:
    """One process, with a pipe to it and one from it."""

    def __init__(self, rules: RuleSet, redactor: Redacting) -> None:
        self.room = _Room()
        self._child: subprocess.Popen[bytes] | None = None
        self._pid = 0
        if forks():
            self._fork(rules, redactor)
        else:
            self._spawn(rules, redactor)

    def _fork(self, rules: RuleSet, redactor: Redacting) -> None:
        # A forked child has everything imported. It runs our own readers only: no thread, no lock
        # and no database of the parent is touched, and it leaves by _exit, without finalizers.
        to_child, to_parent = os.pipe(), os.pipe()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # of forking beside threads
            self._pid = os.fork()
        if self._pid == 0:
            code = 1
            try:
                os.close(to_child[1])
                os.close(to_parent[0])
                gc.disable()  # short-lived, and a collection would copy every shared page
                with os.fdopen(to_child[0], "rb") as stdin, os.fdopen(to_parent[1], "wb") as stdout:
                    serve(stdin, stdout, rules=rules, redactor=redactor)
                code = 0
            except KeyboardInterrupt:
                pass  # the parent has it too, and says so
            except BaseException:  # noqa: BLE001 - the outermost of this process
                traceback.print_exc()
            finally:
                sys.stderr.flush()
                os._exit(code)
        os.close(to_child[0])
        os.close(to_parent[1])
        self.stdin: IO[bytes] = os.fdopen(to_child[1], "wb")
        self.stdout: IO[bytes] = os.fdopen(to_parent[0], "rb")

    def _spawn(self, rules: RuleSet, redactor: Redacting) -> None:
        import subprocess  # a fork does without it

        path = os.pathsep.join(part for part in sys.path if part)
        self._child = subprocess.Popen(
            [sys.executable, "-m", "factbook.pipelines.workers"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": path},
        )
        assert self._child.stdin is not None
        assert self._child.stdout is not None
        self.stdin, self.stdout = self._child.stdin, self._child.stdout
        _send(self.stdin, (rules.rules, redactor))

    def kill(self) -> None:
        """End the process, whatever it does."""
        if self._child is not None:
            self._child.kill()
        elif self._pid:
            os.kill(self._pid, signal.SIGKILL)

    def close(self) -> None:
        """End the process and close its pipes."""
        self.kill()
        if self._child is not None:
            self._child.wait()
        elif self._pid:
            os.waitpid(self._pid, 0)
            self._pid = 0
        for pipe in (self.stdin, self.stdout):
            with suppress(BrokenPipeError):  # what was not sent is for a process that is gone
                pipe.close()


class Workers:
    """A few processes that read files; results come back in the order of the tasks."""

    def __init__(
        self, tasks: Sequence[Task], *, rules: RuleSet, redactor: Redacting, count: int
    ) -> None:
        """Start the processes and give each its first file."""
        self._tasks = iter(tasks)
        self._rules = rules
        self._lock = threading.Lock()
        self._results: dict[int, queue.SimpleQueue[_FlatStep | _Done]] = {
            task.number: queue.SimpleQueue() for task in tasks
        }
        self._rooms: dict[int, _Room] = {}  # task number -> its worker's room
        self.workers = [_Worker(rules, redactor) for _ in range(min(count, len(tasks)))]
        self._listeners = [
            threading.Thread(target=self._listen, args=(worker,), daemon=True)
            for worker in self.workers
        ]
        for listener in self._listeners:
            listener.start()

    def close(self) -> None:
        """End the processes."""
        for worker in self.workers:
            worker.kill()
            worker.room.give_back(1 << 60)  # its listener may wait for room that nobody gives
        for listener in self._listeners:
            listener.join()
        for worker in self.workers:
            worker.close()

    def steps(self, number: int) -> Iterator[BatchStep]:
        """Yield the steps of one file; raises what reading it raised."""
        results = self._results[number]
        while True:
            item = results.get()
            if isinstance(item, _Done):
                if item.error is not None:
                    raise item.error
                return
            self._rooms[number].give_back(item.rest.read_bytes)
            # Here and not while listening, where it would contend with writing.
            yield _unflat(item, self._rules)

    def _listen(self, worker: _Worker) -> None:
        """Hand tasks to one worker and put its answers where they are waited for."""
        number: int | None = None
        try:
            while True:
                with self._lock:
                    task = next(self._tasks, None)
                if task is None:
                    return
                number = task.number
                self._rooms[number] = worker.room
                # Reading is most of the work and writing less than half of it, so whoever writes
                # takes a part of the reading while it waits for more: asking the rules.
                _send(worker.stdin, (task, worker.room.busy()))
                while True:
                    item = _receive(worker.stdout)
                    self._results[number].put(item)
                    if isinstance(item, _Done):
                        break
                    worker.room.take(item.rest.read_bytes)
        except BaseException as error:
            # The worker died, or this thread is about to. Whoever waits for its files must hear of
            # it, or would wait for ever.
            self._give_up(number, str(error) or type(error).__name__)
            if not isinstance(error, (OSError, EOFError, pickle.UnpicklingError)):
                raise

    def _give_up(self, number: int | None, why: str) -> None:
        failure = FactbookError(
            detail=f"a process that read logs ended unexpectedly ({why}); nothing of its file was"
            " counted as read, run `factbook ingest` again, with --workers 0 if it happens twice"
        )
        with self._lock:
            left = [task.number for task in self._tasks]
        for unread in [*([] if number is None else [number]), *left]:
            self._results[unread].put(_Done(number=unread, error=failure))


def _send(pipe: IO[bytes], value: object) -> None:
    data = pickle.dumps(value, protocol=pickle.HIGHEST_PROTOCOL)
    pipe.write(_SIZE.pack(len(data)))
    pipe.write(data)
    pipe.flush()


def _receive(pipe: IO[bytes]) -> Any:
    head = pipe.read(_SIZE.size)
    if len(head) < _SIZE.size:
        raise EOFError("its output ended")
    (size,) = _SIZE.unpack(head)
    data = pipe.read(size)
    if len(data) < size:
        raise EOFError("its output ended in the middle")
    return pickle.loads(data)  # noqa: S301 - from our own parent or child


def serve(stdin: IO[bytes], stdout: IO[bytes], *, rules: RuleSet, redactor: Redacting) -> None:
    """Read files for a parent until it closes the pipe."""
    try:
        while True:
            task, extract = _receive(stdin)
            try:
                for step in propose(
                    task.file,
                    cursor=task.cursor,
                    rules=rules if extract else None,
                    redactor=redactor,
                    now=task.now,
                ):
                    _send(stdout, _flat(step, extracted=extract))
            except (OSError, InputError) as error:
                _send(stdout, _Done(number=task.number, error=error))
            else:
                _send(stdout, _Done(number=task.number))
    except (EOFError, BrokenPipeError):
        return  # the parent is done, or gone


def _main() -> None:
    given_rules, redactor = _receive(sys.stdin.buffer)
    serve(sys.stdin.buffer, sys.stdout.buffer, rules=RuleSet(given_rules), redactor=redactor)


if __name__ == "__main__":
    # Under `-m` this file is `__main__`; what crosses the pipe must be of the importable module.
    from factbook.pipelines import workers

    with suppress(KeyboardInterrupt):
        workers._main()
