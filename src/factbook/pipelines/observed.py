"""What was observed: the way of what agents' logs, chats and notes show.

    file -> episodes -> candidates of the rules -> the gate -> Ops -> Receipt
    '------------- `steps`, here or in `workers` -------------'   `ingest_files`

Each batch of a file is one transaction that also moves the file's cursor, so a killed run loses at
most the batch it was in, and the next run goes on from there. Large runs are read by a few
processes beside this one; what is written, and in which order, is the same.
"""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

from factbook import policy
from factbook.errors import InputError
from factbook.model.facts import Cursor, LineCount, Receipt, SourceState, Trigger
from factbook.model.ops import AdvanceCursor, Op, RecordEpisode
from factbook.pipelines.steps import BatchStep, propose
from factbook.pipelines.workers import Task, Workers, forks
from factbook.redaction.base import Redacting
from factbook.sources.files import file_key
from factbook.sources.session_log import Discovery, LogFile

if TYPE_CHECKING:
    from factbook.context import Context

__all__ = ["FileReport", "IngestReport", "Redacting", "ingest_files"]

_COLLECT_AFTER: Final = 200_000  # new objects; Python's own 700 costs a tenth of the writing


@dataclass(slots=True, kw_only=True)
class FileReport:
    """What came of one file."""

    path: Path
    host: str
    state: str = "unchanged"  # new, grown, replaced, unchanged or failed
    read_bytes: int = 0
    error: str = ""


@dataclass(slots=True, kw_only=True)
class IngestReport:
    """What came of one ingest: the receipt, every line accounted for, and every file."""

    receipt: Receipt = field(default_factory=Receipt)
    lines: LineCount = field(default_factory=LineCount)
    files: list[FileReport] = field(default_factory=list)
    unsupported: list[tuple[Path, str]] = field(default_factory=list)  # (path, host)
    skipped: list[tuple[Path, str]] = field(default_factory=list)  # (path, why)
    read_bytes: int = 0

    def add(self, other: IngestReport) -> None:
        """Add what came of other files."""
        self.receipt.add(other.receipt)
        self.lines.add(other.lines)
        self.files += other.files
        self.skipped += other.skipped
        self.read_bytes += other.read_bytes


@contextmanager
def _few_collections() -> Iterator[None]:
    """Let Python look for cycles rarely: reading makes objects by the thousand, and no cycles."""
    threshold, *others = gc.get_threshold()
    gc.set_threshold(max(threshold, _COLLECT_AFTER) if threshold else 0, *others)
    try:
        yield
    finally:
        gc.set_threshold(threshold, *others)


@_few_collections()
def ingest_files(
    context: Context,
    discovery: Discovery,
    *,
    progress: Callable[[int], None] | None = None,
    workers: int | None = None,
) -> IngestReport:
    """Read every file from where it stopped and write what it says.

    `progress` is called with the number of bytes that were read and kept since its last call. A
    file that cannot be read is reported and the others go on; an error of the store ends the run.
    `workers` is the number of processes that read beside this one: 0 for none, None for what the
    machine and the amount of work suggest.
    """
    store = context.store
    report = IngestReport(unsupported=list(discovery.unsupported), skipped=list(discovery.skipped))
    known = {source.source.key: source for source in store.sources()}
    for file in discovery.files if known else ():
        key = file_key(file)
        kept = key if key in known else context.resources.screened(key)  # a path may hold a secret
        if kept in known:
            known[key] = known[kept]
    work = _Pending(context, report, progress or (lambda _: None))
    with _Reading(context, discovery.files, known, workers=workers) as reading:
        for number, file in enumerate(discovery.files):
            state = known.get(file_key(file))
            seen = FileReport(path=file.path, host=file.host)
            report.files.append(seen)
            if progress:
                progress(reading.done_before[number])
            try:
                for step in reading.steps(number):
                    if step.restart:
                        seen.state = "replaced"
                    elif seen.state == "unchanged" and step.read_bytes:
                        seen.state = "grown" if state else "new"
                    seen.read_bytes += step.read_bytes
                    work.add(step)
            except (OSError, InputError) as error:
                seen.state, seen.error = "failed", str(error)
    work.flush()
    return report


class _Reading:
    """Read the files in order, here or in worker processes."""

    def __init__(
        self,
        context: Context,
        files: Sequence[LogFile],
        known: Mapping[str, SourceState],
        *,
        workers: int | None,
    ) -> None:
        self._files = files
        self._rules = context.resources.rules
        self._redactor = context.resources.redactor
        self._now = context.clock()
        self._cursors: list[Cursor | None] = []
        self.done_before: list[int] = []  # bytes that an earlier run read
        pending: list[int] = []
        for file in files:
            state = known.get(file_key(file))
            cursor = state.cursor if state else None
            size = _size(file.path)
            done = min(cursor.offset, size) if cursor else 0
            self._cursors.append(cursor)
            self.done_before.append(done)
            pending.append(size - done)
        self._pool: Workers | None = None
        self._given: set[int] = set()
        count = worker_count(sum(pending)) if workers is None else workers
        if count:
            self._start(pending, count)

    def _start(self, pending: Sequence[int], count: int) -> None:
        tasks: list[Task] = []
        here = 0
        # Processes that must start from nothing need a while: the first files are read here then.
        # Forks start at once, and this process is spared the making ready of redactor and rules.
        head_start = 0 if forks() else policy.HEAD_START_BYTES
        for number, size in enumerate(pending):
            if size and here >= head_start:
                file, cursor = self._files[number], self._cursors[number]
                tasks.append(Task(number=number, file=file, cursor=cursor, now=self._now))
            here += size
        if tasks:
            self._given = {task.number for task in tasks}
            self._pool = Workers(tasks, rules=self._rules, redactor=self._redactor, count=count)

    def __enter__(self) -> _Reading:
        return self

    def __exit__(self, *raised: object) -> None:
        if self._pool is not None:
            self._pool.close()

    def steps(self, number: int) -> Iterator[BatchStep]:
        """Yield the steps of one file; what it tells is known when the next is read.

        A process beside this one cannot know what another file has told meanwhile. Where a text
        that it read holds such a secret, the rest of the file is read here again.
        """
        file, cursor = self._files[number], self._cursors[number]
        if self._pool is not None and number in self._given:
            for step in (beside := self._pool.steps(number)):
                if self._holds_told(step):
                    break
                self._redactor.hear(step.told)
                yield step
                moved = (op.cursor for op in step.ops if isinstance(op, AdvanceCursor))
                cursor = next(moved, cursor)
            else:
                return
            for _ in beside:  # its process waits for room
                pass
        for step in propose(
            file, cursor=cursor, rules=self._rules, redactor=self._redactor, now=self._now
        ):
            self._redactor.hear(step.told)
            yield step

    def _holds_told(self, step: BatchStep) -> bool:
        """Tell whether a text holds a secret that its reader did not know."""
        texts = (op.episode.text for op in step.ops if isinstance(op, RecordEpisode))
        return any(map(self._redactor.holds_told, texts))


def worker_count(pending_bytes: int) -> int:
    """Return how many processes are worth their start for so many bytes."""
    if pending_bytes < policy.WORKERS_FROM_BYTES:
        return 0
    # This process has work of its own, and each of the others makes ready for itself what it reads
    # with, which takes as long as reading some megabytes.
    return max(1, min(policy.MAX_WORKERS, (os.cpu_count() or 1) - 1))


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0  # the reader says what is wrong with the file


class _Pending:
    """Steps that wait to be written together: many small files share one transaction."""

    def __init__(
        self, context: Context, report: IngestReport, progress: Callable[[int], None]
    ) -> None:
        self._context = context
        self._report = report
        self._progress = progress
        self._ops: list[Op] = []
        self._trigger = Trigger.SESSION_LOG  # of all that waits
        self._bytes = 0
        self._lines = LineCount()

    def add(self, step: BatchStep) -> None:
        if step.trigger is not self._trigger:
            self.flush()
            self._trigger = step.trigger
        self._ops += step.ops
        self._bytes += step.read_bytes
        self._lines.add(step.lines)
        if self._bytes >= policy.BATCH_BYTES:
            self.flush()

    def flush(self) -> None:
        receipt = self._context.write(self._ops, self._trigger, screened=True)
        # Counted only now: what was not written did not happen.
        self._report.receipt.add(receipt)
        self._report.lines.add(self._lines)
        self._report.read_bytes += self._bytes
        self._progress(self._bytes)
        self._ops, self._bytes, self._lines = [], 0, LineCount()
