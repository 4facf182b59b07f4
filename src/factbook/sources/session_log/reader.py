"""Read a log from where it was left: batches of episodes, an account of every line, a new cursor.

A cursor says how far the file was read, by digests of its beginning and of what was read last that
it is still the same file, and what the parser must remember. A file that grew is read on; one that
was truncated, replaced or rewritten is read anew, which the uids of the episodes make harmless.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import BinaryIO, Final

import orjson

from factbook import policy
from factbook.errors import PathMissing, PathUnreadable, UnsupportedHost
from factbook.model.facts import Cursor, Episode, LineCount, Millis, RejectedLine
from factbook.redaction.base import Redacting
from factbook.sources.base import Batch
from factbook.sources.encoding import WESTERN, Transcoded, decoded, open_utf8, status
from factbook.sources.session_log.claude import ClaudeParser
from factbook.sources.session_log.codex import CodexParser
from factbook.sources.session_log.gemini import GeminiParser
from factbook.sources.session_log.jsonl import (
    LogLine,
    RefusedPart,
    decode_slowly,
    is_blank,
    split_lines,
)
from factbook.sources.session_log.parser import BadRecord, LogFile, Parser, RecordOutcome
from factbook.sources.session_log.specstory import SpecStoryParser
from factbook.sources.session_log.text import storable

_CHUNK: Final = 1024 * 1024  # bytes read at once
_KINDS: Final = 100  # different kinds that are counted by name; a log could hold any number
_EXCERPT_WINDOW: Final = 4_096  # characters that are redacted before the excerpt is cut from them
_BOM: Final = b"\xef\xbb\xbf"

_PARSERS: Final[Mapping[str, type[Parser]]] = {
    parser.host: parser for parser in (ClaudeParser, CodexParser, GeminiParser, SpecStoryParser)
}


def read(
    file: LogFile,
    *,
    cursor: Cursor | None,
    redactor: Redacting,
    now: Millis,
    batch_bytes: int = policy.BATCH_BYTES,
    parser: type[Parser] | None = None,
    document: Callable[[FileReading], Iterator[Batch]] | None = None,
) -> Iterator[Batch]:
    """Iterate over what a log says beyond its cursor, in batches of about `batch_bytes` bytes.

    An unchanged file gives nothing. `restart` is set on the first batch of a file that is not the
    one the cursor was made for. `parser` reads a file that is no log of an agent; `document` reads
    one that is not a record per line, and is read from its start whenever it has changed. Raises
    PathMissing, PathUnreadable, UnsupportedHost.
    """
    if parser is None:
        if file.host not in _PARSERS:
            raise UnsupportedHost(path=file.path, host=file.host)
        parser = _PARSERS[file.host]
    try:
        with open_utf8(file.path, buffering=_CHUNK) as handle:
            whole = document is not None or parser.in_parts or is_document(handle, file.path)
            beginning = _beginning(handle, cursor, whole=whole)
            if beginning is None:
                return
            cursor, restart = beginning
            ready = parser(file, redactor=redactor, now=now, state=cursor.state)
            reading = FileReading(handle, ready, cursor=cursor, restart=restart)
            if document is not None:
                yield from document(reading)
            elif whole:
                yield reading.document()
            else:
                yield from reading.lines(batch_bytes)
    except FileNotFoundError as error:
        raise PathMissing(path=file.path) from error
    except OSError as error:
        raise PathUnreadable(path=file.path, reason=error.strerror or str(error)) from error


def _beginning(
    handle: BinaryIO, cursor: Cursor | None, *, whole: bool
) -> tuple[Cursor, bool] | None:
    """Return where reading begins and whether the file is another one; None for an unchanged one.

    A log only grows: one that changed without growing was written anew.
    """
    if cursor is None:
        return Cursor(), False
    size, mtime_ns = status(handle)
    same_head = _digest(handle, 0, cursor.offset) == cursor.head
    unmoved = (size, mtime_ns) == (cursor.size, cursor.mtime_ns)
    if unmoved and same_head:
        return None
    if whole or not same_head or size <= cursor.size or _tail(handle, cursor.offset) != cursor.tail:
        return Cursor(), cursor.offset > 0 or cursor.line > 0
    return cursor, False


class FileReading:
    """One file being read: what the batch at hand holds, and where it began."""

    def __init__(self, handle: BinaryIO, parser: Parser, *, cursor: Cursor, restart: bool) -> None:
        self.handle = handle
        self.parser = parser
        self._restart = restart
        self.offset = cursor.offset
        self.line = cursor.line
        self.began = cursor.offset  # where the batch at hand began
        open_line = cursor.state.get("open")
        # The last line of the run before had no newline yet; what follows belongs to it.
        self._open = open_line if isinstance(open_line, int) else None
        self.count = LineCount()
        if isinstance(handle, Transcoded) and handle.guessed and not cursor.offset:
            _more(self.count.repaired, handle.guessed)  # once for the file
        self._outcomes: dict[RecordOutcome, int] = {}
        self._rejected: list[RejectedLine] = []

    def state(self) -> tuple[int, int]:
        """Return the size of the file and when it was changed."""
        return status(self.handle)

    def lines(self, batch_bytes: int) -> Iterator[Batch]:
        """Read line after line."""
        self.handle.seek(self.offset)
        reached = self.offset
        continued = self._open
        first = self.line - (continued is not None)
        for line in split_lines(self.handle, offset=self.offset, number=first):
            number, start, _, reached, complete, _ = line
            if self.offset - self.began >= batch_bytes:
                yield self.batch(size=self.offset, mtime_ns=0)
            started = start if continued is None else continued
            if not self._take(line, started, continues=continued is not None):
                break
            self._open = None if complete else started
            continued = None
            self.offset = reached
            self.line = number
        if self.offset > self.began or self._restart or self.count.waiting:
            yield self.batch(size=reached, mtime_ns=self.state()[1])

    def document(self) -> Batch:
        """Read a file that is one JSON document, or pretty-printed ones in a row."""
        self.handle.seek(0)
        data = self.handle.read(policy.MAX_LINE_BYTES + 1)
        size = len(data)
        newlines = data.count(b"\n") + (not data.endswith(b"\n"))
        self.count.lines += newlines
        if size > policy.MAX_LINE_BYTES:
            size = self.state()[0]
            detail = f"{size:,} bytes in one document"
            self.reject("too_long", detail, _excerpt(data), position=1, offset=0)
        else:
            self._document(data)
        self.offset, self.line = size, newlines
        return self.batch(size=size, mtime_ns=self.state()[1])

    def _take(self, line: LogLine, offset: int, *, continues: bool) -> bool:
        """Account for a line; return False for one that is not finished yet."""
        count = self.count
        number, data = line.number, line.data
        if line.too_long:
            if not line.complete:
                return self._wait()
            count.lines += not continues
            detail = f"{line.end - line.offset:,} bytes, over {policy.MAX_LINE_BYTES:,}"
            self.reject("too_long", detail, _excerpt(data), position=number, offset=offset)
            return True
        if offset == 0 and data.startswith(_BOM):
            data = data[3:]
        try:
            record = orjson.loads(data)
        except orjson.JSONDecodeError:
            if is_blank(data, finished=line.complete, continues=continues):
                if continues:
                    return True
                if not line.complete:
                    return self._wait()  # a record may follow on this very line
                count.lines += 1
                _more(count.ignored, "blank")
                return True
            if not line.complete and not _is_whole(data):
                return self._wait()
            count.lines += not continues
            for piece in decode_slowly(data):
                self.piece(piece, position=number, offset=offset)
            return True
        if not line.complete and type(record) is not dict:
            return self._wait()
        count.lines += not continues
        if number > 1 and type(record) is dict:
            self._record(record, position=number, offset=offset)
        else:
            self.value(record, position=number, offset=offset)
        return True

    def _wait(self) -> bool:
        self.count.waiting += 1
        return False

    def _document(self, data: bytes) -> None:
        """Take the one record of a document, or records that were pretty-printed in a row."""
        if self.parser.in_parts:
            for position, offset, record, wrong in self.parser.parts(data):
                if record is None:
                    self.reject("bad_record", wrong, "", position=position, offset=offset)
                else:
                    self._record(record, position=position, offset=offset)
            return
        try:
            value = orjson.loads(data)
        except orjson.JSONDecodeError:
            pass  # damaged, or several values: the slow way
        else:
            if isinstance(value, list) and value:
                self._inner(value)
            else:
                self.value(value, position=1, offset=0)
            return
        text, _ = decoded(data)
        position, offset, at = 1, 0, 0
        for piece in decode_slowly(data):
            passed = text[at : piece.start]
            position += passed.count("\n")
            offset += len(passed.encode("utf-8", "replace"))
            at = piece.start
            self.piece(piece, position=position, offset=offset)

    def piece(self, piece: RefusedPart, *, position: int, offset: int) -> None:
        for note in piece.repaired:
            _more(self.count.repaired, note)
        if piece.reason:
            sample = piece.text[:_EXCERPT_WINDOW]
            self.reject(piece.reason, piece.detail, sample, position=position, offset=offset)
        else:
            self.value(piece.value, position=position, offset=offset)

    def value(self, value: object, *, position: int, offset: int) -> None:
        """Take one JSON value: a record, or a whole session with its records inside."""
        if not isinstance(value, dict):
            detail = f"a JSON {_json_type(value)}"
            self.reject("not_an_object", detail, _sample(value), position=position, offset=offset)
            return
        inner = self.parser.expand(value)
        if inner is not None:
            self._inner(inner)
        else:
            self._record(value, position=position, offset=offset)

    def _inner(self, records: list[object]) -> None:
        """Take the records of a whole session, which are numbered from 1 in its document."""
        if not records:
            self.count.records += 1
            _more(self.count.ignored, "empty session")
        for index, record in enumerate(records, 1):
            if isinstance(record, dict):
                self._record(record, position=index, offset=0)
            else:
                detail = f"a JSON {_json_type(record)} among the records"
                self.reject("not_an_object", detail, _sample(record), position=index, offset=0)

    def _record(self, record: dict[str, object], *, position: int, offset: int) -> None:
        parser = self.parser
        before = len(parser.episodes)
        try:
            outcome: RecordOutcome = parser.feed(record, position, offset)
        except BadRecord as error:
            self.reject("bad_record", str(error), _sample(record), position=position, offset=offset)
            return
        except RecursionError:
            del parser.episodes[before:]
            parser.inner, parser.refused = {}, []
            detail = "nested too deep to be walked through"
            self.reject("too_deep", detail, "", position=position, offset=offset)
            return
        self.note(outcome)
        for inner, times in parser.inner.items():
            self.note(inner, times)
        parser.inner = {}
        for detail, part in parser.refused:
            self.reject("bad_record", detail, _sample(part), position=position, offset=offset)
        parser.refused = []

    def note(self, outcome: RecordOutcome, times: int = 1) -> None:
        """Count what became of a record."""
        self._outcomes[outcome] = self._outcomes.get(outcome, 0) + times

    def reject(self, reason: str, detail: str, sample: str, *, position: int, offset: int) -> None:
        self.count.records += 1
        _more(self.count.rejected, reason)
        excerpt = ""
        if sample.lstrip()[:1] in ("{", "["):
            # The middle of something else (a line of a key block, say) has lost what would tell
            # the redactor what it is, so nothing of it is kept; file and line still say where.
            excerpt = self.parser.redactor.redact(storable(sample[:_EXCERPT_WINDOW]))
        self._rejected.append(
            RejectedLine(
                position=position,
                offset=offset,
                reason=reason,
                detail=detail,
                excerpt=excerpt[: policy.EXCERPT_CHARS],
            )
        )

    def batch(self, *, size: int, mtime_ns: int) -> Batch:
        """Close the batch at hand."""
        for (where, kind), times in self._outcomes.items():
            self.count.records += times
            counts = getattr(self.count, where)
            known = self.parser.small(kind)  # kinds hold words of the log
            _more(counts, known if known in counts or len(counts) < _KINDS else "other", times)
        self._outcomes = {}
        if self.parser.injected:
            _more(self.count.repaired, "injected", self.parser.injected)
            self.parser.injected = 0
        state = self.parser.save()
        if self._open is not None:
            state["open"] = self._open
        episodes: list[Episode] = self.parser.episodes
        batch = Batch(
            source=self.parser.source(),
            episodes=episodes,
            rejected=self._rejected,
            lines=self.count,
            cursor=Cursor(
                offset=self.offset,
                line=self.line,
                size=size,
                mtime_ns=mtime_ns,
                head=_digest(self.handle, 0, self.offset),
                tail=_tail(self.handle, self.offset),
                state={name: self.parser.safe(value) for name, value in state.items()},
            ),
            read_bytes=self.offset - self.began,
            restart=self._restart,
            others=self.parser.others(),
        )
        self.parser.episodes = []
        self._rejected, self.count = [], LineCount()
        self.began, self._restart = self.offset, False
        return batch


def is_document(handle: BinaryIO, path: Path) -> bool:
    """Tell whether a file is one JSON document rather than a record per line."""
    if path.suffix.lower() == ".json":
        return True
    # Pretty-printed JSON opens with a bracket alone on its line.
    if status(handle)[0] > policy.MAX_LINE_BYTES:
        return False
    first = handle.readline(64)
    handle.seek(0)
    return first.endswith(b"\n") and first.removeprefix(_BOM).strip() in {b"{", b"["}


def _digest(handle: BinaryIO, start: int, end: int) -> str:
    """Return a digest of up to `policy.CURSOR_DIGEST_BYTES` from `start`, not beyond `end`."""
    count = min(policy.CURSOR_DIGEST_BYTES, end - start)
    if hasattr(os, "pread") and not isinstance(handle, Transcoded):
        data = os.pread(handle.fileno(), count, start)
    else:  # Windows, and what is no file
        at = handle.tell()
        handle.seek(start)
        data = handle.read(count)
        handle.seek(at)
    return hashlib.blake2b(data, digest_size=16).hexdigest()


def _tail(handle: BinaryIO, end: int) -> str:
    """Return a digest of the last `policy.CURSOR_DIGEST_BYTES` before `end`."""
    return _digest(handle, max(0, end - policy.CURSOR_DIGEST_BYTES), end)


def _is_whole(data: bytes) -> bool:
    """Tell whether a last line without a newline holds nothing but whole records."""
    values = 0
    for piece in decode_slowly(data):
        if piece.reason or not isinstance(piece.value, dict):
            return False
        values += 1
    return values > 0


def _excerpt(data: bytes) -> str:
    return data[:_EXCERPT_WINDOW].decode("utf-8", WESTERN)


def _sample(value: object) -> str:
    """Return the beginning of a value as JSON."""
    if isinstance(value, str):
        return value[:_EXCERPT_WINDOW]
    try:
        return orjson.dumps(value).decode("utf-8", "replace")[:_EXCERPT_WINDOW]
    except orjson.JSONEncodeError:
        return ""  # nested deeper than orjson writes


def _json_type(value: object) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, (int, float)):
        return "number"
    return "string" if isinstance(value, str) else "array"


def _more(counts: dict[str, int], kind: str, times: int = 1) -> None:
    counts[kind] = counts.get(kind, 0) + times
