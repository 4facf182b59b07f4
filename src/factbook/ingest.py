"""The way from 1 to 4 in one place: file -> episodes -> candidates -> verdicts -> Ops -> Receipt.

Each batch of a file is one transaction that also moves the file's cursor, so a killed run loses at
most the batch it was in, and the next run goes on from there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from factbook import policy
from factbook.apply import apply
from factbook.errors import InputError
from factbook.extract.rules import RuleSet
from factbook.gate.observed import judge
from factbook.model import (
    Accepted,
    Episode,
    LineCount,
    Millis,
    Receipt,
    Trigger,
)
from factbook.ops import (
    AdvanceCursor,
    AssertFact,
    Op,
    RecordEpisode,
    RecordSource,
    RejectCandidate,
    RejectLine,
)
from factbook.sources.base import Batch
from factbook.sources.session_log import Discovery, LogFile, read, source_key
from factbook.store.base import Store


class Redacting(Protocol):
    """What a reader needs of a redactor."""

    def redact(self, text: str) -> str:
        """Return the text with every secret replaced by its label."""

    def redact_value(self, value: object) -> object:
        """Return JSON data with every secret in its strings replaced."""


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


def ingest_files(
    store: Store,
    found: Discovery,
    *,
    rules: RuleSet,
    redactor: Redacting,
    clock: Callable[[], Millis],
    actor: str,
    progress: Callable[[int], None] | None = None,
) -> IngestReport:
    """Read every file from where it stopped and write what it says.

    `progress` is called with the number of bytes done since its last call. A file that cannot be
    read is reported and the others go on; an error of the store ends the run.
    """
    report = IngestReport(unsupported=list(found.unsupported), skipped=list(found.skipped))
    known = store.source_states()
    work = _Pending(store, rules=rules, clock=clock, actor=actor, report=report)
    for file in found.files:
        state = known.get(source_key(file))
        seen = FileReport(path=file.path, host=file.host)
        report.files.append(seen)
        size = _size(file.path)
        done = state.cursor.offset if state else 0
        if progress:
            progress(min(done, size))
        try:
            for batch in read(
                file, cursor=state.cursor if state else None, redactor=redactor, now=clock()
            ):
                seen.state = "replaced" if batch.restart else ("grown" if state else "new")
                seen.read_bytes += batch.read_bytes
                work.add(batch)
                if progress:
                    progress(batch.read_bytes)
        except (OSError, InputError) as error:
            seen.state, seen.error = "failed", str(error)
    work.flush()
    return report


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0  # the reader says what is wrong with the file


class _Pending:
    """Batches that wait to be written together: many small files share one transaction."""

    def __init__(
        self,
        store: Store,
        *,
        rules: RuleSet,
        clock: Callable[[], Millis],
        actor: str,
        report: IngestReport,
    ) -> None:
        self._store = store
        self._rules = rules
        self._clock = clock
        self._actor = actor
        self._report = report
        self._ops: list[Op] = []
        self._bytes = 0
        self._lines = LineCount()

    def add(self, batch: Batch) -> None:
        self._ops += batch_ops(batch, rules=self._rules)
        self._bytes += batch.read_bytes
        self._lines.add(batch.lines)
        if self._bytes >= policy.BATCH_BYTES:
            self.flush()

    def flush(self) -> None:
        receipt = apply(
            self._store,
            self._ops,
            trigger=Trigger.SESSION_LOG,
            actor=self._actor,
            now=self._clock(),
        )
        # Counted only now: what was not written did not happen.
        self._report.receipt.add(receipt)
        self._report.lines.add(self._lines)
        self._report.read_bytes += self._bytes
        self._ops, self._bytes, self._lines = [], 0, LineCount()


def batch_ops(batch: Batch, *, rules: RuleSet) -> list[Op]:
    """Return everything that a batch asks the store to do."""
    ops: list[Op] = [RecordSource(source=batch.source)]
    for episode in batch.episodes:
        ops.append(RecordEpisode(episode=episode))
        ops += episode_ops(episode, rules=rules)
    ops += [RejectLine(source=batch.source.key, line=line) for line in batch.rejected]
    ops.append(
        AdvanceCursor(
            source=batch.source.key,
            cursor=batch.cursor,
            lines=batch.lines,
            restart=batch.restart,
        )
    )
    return ops


def episode_ops(episode: Episode, *, rules: RuleSet) -> Iterable[Op]:
    """Extract and judge what one episode says."""
    for candidate in rules.extract(episode):
        verdict = judge(candidate, episode)
        if isinstance(verdict, Accepted):
            end = min(candidate.end, candidate.start + policy.QUOTE_CHARS)
            yield AssertFact(
                candidate=candidate,
                episode=episode.uid,
                owner=episode.owner,
                confidence=verdict.confidence,
                trust=verdict.trust,
                quote=episode.text[candidate.start : end],
            )
        else:
            yield RejectCandidate(
                candidate=candidate,
                episode=episode.uid,
                owner=episode.owner,
                reason=verdict.reason,
                detail=verdict.detail,
            )


def describe_host(files: Sequence[LogFile]) -> dict[str, int]:
    """Return how many files each host has."""
    counts: dict[str, int] = {}
    for file in files:
        counts[file.host] = counts.get(file.host, 0) + 1
    return counts
