"""Read an export back: its lines become rows, and its rows Ops, batch by batch.

A line that cannot be read stops nothing: it is counted, named, and kept in the log of what was
refused. What the file was made of does not have to fit into memory.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final, Literal

import orjson

from factbook import policy
from factbook.context import Context
from factbook.errors import UsageError
from factbook.model.facts import ME, Millis, Receipt, RejectedLine, Source, Trigger
from factbook.model.ops import AdvanceCursor, Op, RecordSource, RejectLine, Restore
from factbook.model.restored import FileRow, ImportState, LeftOut
from factbook.store.kinds import EVENT
from factbook.store.transfer import FORMAT, HEADER, row_of
from factbook.store.transfer.records import BadRecord, known

_BATCH: Final = 500  # rows that are written at once
_EXCERPT: Final = 200  # characters of a line that is kept aside
_WINDOW: Final = 4_096  # characters that are redacted before the excerpt is cut from them


@dataclass(slots=True, kw_only=True)
class ImportReport:
    """What an import came to."""

    owner: str | None = None  # whose the export is; None: everybody's
    at: Millis | None = None  # when what was exported last changed
    dry_run: bool = False  # nothing was kept
    records: int = 0  # of the file, without its header
    added: dict[str, int] = field(default_factory=dict)  # kind of record -> how many are new
    known: dict[str, int] = field(default_factory=dict)  # were here already
    kept_out: dict[str, int] = field(default_factory=dict)  # were erased here, or there
    still_here: list[str] = field(default_factory=list)  # f12, e34, a name: erased there alone
    unread: int = 0  # lines that could not be read; the log of what was refused has them
    incomplete: int = 0  # records that name what is not there
    left: list[LeftOut] = field(default_factory=list)  # of both, the first ones
    receipt: Receipt = field(default_factory=Receipt)


def import_records(
    context: Context,
    given: str | Path | Iterable[Mapping[str, object]],
    *,
    dry_run: bool = False,
    progress: Callable[[int], None] | None = None,
) -> ImportReport:
    """Put an export back: a file, or the records of `Memory.export`.

    Raises UsageError for what is no export, or one of a newer factbook.
    """
    if not dry_run:
        return _Import(context, given, progress).run()
    with context.store.rehearsal() as copy:
        report = _Import(replace(context, store=copy), given, progress).run()
    report.dry_run = True
    return report


def form_of(path: Path) -> Literal["export", "graph"]:
    """Tell what a file holds by its first line.

    Raises UsageError where it is neither an export, or one of a newer factbook, nor a graph.
    """
    first = next(read_lines(path), None)
    if first is not None and first.record.get("type") in ("entity", "relation"):
        return "graph"
    _header_of(first, str(path))
    return "export"


@dataclass(frozen=True, slots=True)
class Line:
    """One record of a file, or why there is none."""

    number: int  # from 1
    offset: int
    size: int
    record: Mapping[str, object] = field(default_factory=dict)
    reason: str = ""  # one of policy.LINE_REJECTIONS
    detail: str = ""
    excerpt: str = ""  # as it is, and longer than what is kept


class _Import:
    """One import into one store."""

    def __init__(
        self,
        context: Context,
        given: str | Path | Iterable[Mapping[str, object]],
        progress: Callable[[int], None] | None,
    ) -> None:
        self._context = context
        if isinstance(given, str | Path):
            self._name, self._lines = str(given), read_lines(Path(given))
        else:
            self._name = "records"
            self._lines = (Line(number, 0, 1, record) for number, record in enumerate(given, 1))
        self._progress = progress or (lambda _: None)
        self._report = ImportReport()
        newest = context.store.find(EVENT, limit=1, newest_first=True)
        fresh = not newest and not context.store.sources()
        self._state = ImportState(fresh=fresh, last_event=newest[0].id if newest else 0)
        self._bad: list[Line] = []

    def run(self) -> ImportReport:
        header = _header_of(next(self._lines, None), self._name)
        owner, at = header.get("owner"), header.get("at")
        self._report.owner = owner if isinstance(owner, str) else None
        self._report.at = at if isinstance(at, int) else None
        batch: list[FileRow] = []
        for line in self._lines:
            self._progress(line.size)
            self._report.records += 1
            row = self._row(line)
            if row is None:
                continue
            if len(batch) >= _BATCH and row.kind != "evidence":  # which stays with its fact
                self._write(batch)
                batch = []
            batch.append(row)
        self._write(batch, last=True)
        if self._report.unread or self._state.left_count:
            self._read_anew()
        return self._told(header)

    def _read_anew(self) -> None:
        """Let the files that it names be read again, from their start, where they are.

        What was lost may be an episode of any of them, which nobody would look for any more; also
        of one that was here before, for an import that was killed may have brought it.
        """
        ops: list[Op] = []
        named = self._state.ids.get("source", {})
        for state in self._context.store.sources(ids=sorted(named.values())):
            if state.source.reader:
                anew = replace(state.cursor, offset=0, size=0, mtime_ns=0, head="", tail="")
                key, lines = state.source.key, state.lines
                ops.append(AdvanceCursor(source=key, cursor=anew, lines=lines, restart=True))
        if ops:
            self._report.receipt.add(self._context.write(ops, Trigger.COMMAND))

    def _row(self, line: Line) -> FileRow | None:
        kind = line.record.get("record")
        reason, detail = line.reason, line.detail
        if not reason and not known(kind):
            shown = shown_kind(self._context, kind)
            reason, detail = "bad_record", f"there are no records of the kind {shown}"
        if not reason:
            try:
                return FileRow(line.number, str(kind), row_of(line.record))
            except BadRecord as error:
                reason, detail = "bad_record", f"{kind}: {error}"
        self._report.unread += 1
        if len(self._bad) < _BATCH:
            self._bad.append(replace(line, reason=reason, detail=detail))
        return None

    def _write(self, rows: list[FileRow], *, last: bool = False) -> None:
        op = Restore(rows=rows, so_far=self._state, last=last)
        self._report.receipt.add(self._context.write([op], Trigger.COMMAND))

    def _told(self, header: Mapping[str, object]) -> ImportReport:
        report, state = self._report, self._state
        for name in ("added", "known", "kept_out"):
            counts = getattr(state, name)
            setattr(report, name, {kind: counts[kind] for kind in sorted(counts) if counts[kind]})
        report.incomplete = state.left_count
        report.still_here = state.still_here
        unread = [LeftOut(line.number, "", f"{line.reason}: {line.detail}") for line in self._bad]
        report.left = sorted([*unread, *state.left])
        if self._bad:
            whose = report.owner or ME
            keep_aside(self._context, str(header.get("tenant")), self._name, self._bad, owner=whose)
        return report


def _header_of(line: Line | None, name: str) -> Mapping[str, object]:
    record = line.record if line else {}
    form = record.get("format")
    if record.get("record") != HEADER or not isinstance(form, int):
        raise UsageError(
            detail=f"{name} is no export: its first line is no header; `factbook export FILE`"
            " writes one, and `factbook ingest` reads logs and chats"
        )
    if form > FORMAT:
        raise UsageError(
            detail=f"{name} is an export of a newer factbook ({record.get('factbook')}, format"
            f" {form}); this one reads up to {FORMAT}: import it with that one"
        )
    return record


def shown_kind(context: Context, kind: object) -> str:
    """Return what a line of a file calls its kind, as it may be told."""
    return context.redact(f"{kind!r:.{_WINDOW}}")[:80]


def keep_aside(context: Context, key: str, name: str, lines: Sequence[Line], *, owner: str) -> None:
    """Remember the lines of a file that could not be read, as those of a log are.

    Nothing is kept of one that is the middle of something else: it has lost what would tell the
    redactor what it is.
    """

    def excerpt(line: Line) -> str:
        said = line.excerpt or orjson.dumps(line.record, default=str).decode()[:_WINDOW]
        return context.redact(said)[:_EXCERPT] if said[:1] in ("{", "[") else ""

    source = Source(key=f"import:{key}", kind="import", host=policy.TOLD_HOST, session="", uri=name)
    refused = [
        RejectLine(
            source=source.key,
            line=RejectedLine(
                position=line.number,
                offset=line.offset,
                reason=line.reason,
                detail=line.detail,
                excerpt=excerpt(line),
            ),
            owner=owner,
        )
        for line in lines
    ]
    context.write([RecordSource(source=source), *refused], Trigger.COMMAND)


def read_lines(path: Path) -> Iterator[Line]:
    try:
        with path.open("rb") as file:
            offset = 0
            for number in itertools.count(1):
                data = file.readline(policy.MAX_LINE_BYTES)
                if not data:
                    return
                size = len(data)
                end = data
                while not end.endswith(b"\n") and (end := file.readline(1 << 20)):
                    size += len(end)  # of a line that is too long nothing more is kept
                if data.strip():
                    yield _parsed(data, number, offset, size)
                offset += size
    except (OSError, ValueError) as error:  # no file has half a character or a NUL in its name
        why = error.strerror if isinstance(error, OSError) else "no file has that name"
        raise UsageError(detail=f"{path} cannot be read ({why}); name another file") from error


def _parsed(data: bytes, number: int, offset: int, size: int) -> Line:
    excerpt = data[:_WINDOW].decode("utf-8", "replace").strip()
    place: dict[str, Any] = {"number": number, "offset": offset, "size": size}
    if size > policy.MAX_LINE_BYTES:
        detail = f"{size} bytes"
        return Line(**place, reason="too_long", detail=detail, excerpt=excerpt)
    try:
        record = orjson.loads(data)
    except orjson.JSONDecodeError as error:
        return Line(**place, reason="not_json", detail=error.msg, excerpt=excerpt)
    if not isinstance(record, dict):
        return Line(**place, reason="not_an_object", detail="no object", excerpt=excerpt)
    return Line(**place, record=record)
