"""Read files of chats: lines that grow, and documents and archives that are written anew.

A log of lines is read on from where the last run stopped. A document or an archive is read from
its start whenever it has changed; the identity of its turns makes that harmless.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Final

import orjson

from factbook import policy
from factbook.model.facts import Cursor, Millis
from factbook.redaction.base import Redacting
from factbook.sources.base import Batch
from factbook.sources.conversation.document import Elements, Readable, Unreadable, members, opened
from factbook.sources.conversation.parser import ChatParser
from factbook.sources.encoding import open_utf8
from factbook.sources.files import ZIP, may_be_chat
from factbook.sources.imports import chat, conversation_of, host_of
from factbook.sources.session_log.jsonl import decode_slowly, split_lines
from factbook.sources.session_log.parser import LogFile, RecordOutcome
from factbook.sources.session_log.reader import FileReading, is_document
from factbook.sources.session_log.reader import read as read_log

_LOOKED_AT: Final = 20  # records at the beginning of a document that may tell what it is
_LINES_LOOKED_AT: Final = 200  # and lines, which cost less
_HEAD_BYTES: Final = 16 * 1024 * 1024  # what is read to know the first record of a document


def recognise(path: Path, head: bytes) -> str:
    """Return who wrote a file of chats, by what is in it, or an empty string where it is none.

    `head` is the beginning of the file. Raises OSError where the file cannot be read, and
    Unreadable for an archive that is damaged, locked or a bomb.
    """
    if not may_be_chat(head):
        return ""
    if head.startswith(ZIP):
        return _recognise_archive(path)
    with open_utf8(path) as handle:
        if is_document(handle, path):
            return _host(Elements(_Limited(handle)))
    return _host_of_lines(path)


def _recognise_archive(path: Path) -> str:
    with path.open("rb") as handle:
        for info in members(handle):
            with opened(handle, info) as file:
                host = _host(Elements(_Limited(file)))
            if host:
                return host
    return ""


class _Limited:
    """The beginning of a file, so that a huge one is not read only to see what it is."""

    def __init__(self, file: Readable) -> None:
        self._file = file
        self._left = _HEAD_BYTES

    def read(self, size: int) -> bytes:
        """Return the next bytes, none behind the limit."""
        data = self._file.read(min(size, self._left))
        self._left -= len(data)
        return data


def _host(elements: Elements) -> str:
    hosts = (host_of(_whole(element.value)) for element in islice(elements, _LOOKED_AT))
    return next(filter(None, hosts), "")


def _host_of_lines(path: Path) -> str:
    """Look at the first lines, read as leniently as the reader does; one too long tells nothing."""
    with open_utf8(path) as handle:
        lines = split_lines(handle, offset=0, number=0)
        for line in islice(lines, _LINES_LOOKED_AT):
            if line.offset > 4 * _HEAD_BYTES:
                break
            host = "" if line.too_long else _host_of_line(line.data)
            if host:
                return host
    return ""


def _host_of_line(line: bytes) -> str:
    try:
        return host_of(orjson.loads(line))
    except orjson.JSONDecodeError:
        hosts = (host_of(part.value) for part in decode_slowly(line) if not part.reason)
        return next(filter(None, hosts), "")


def _whole(value: object) -> object:
    """Return a list of messages as the conversation that it is."""
    return {"messages": value} if isinstance(value, list) else value


def read(
    file: LogFile,
    *,
    cursor: Cursor | None,
    redactor: Redacting,
    now: Millis,
    batch_bytes: int = policy.BATCH_BYTES,
) -> Iterator[Batch]:
    """Iterate over what a file of chats says beyond its cursor.

    Raises PathMissing and PathUnreadable.
    """
    document = partial(_documents, batch_bytes=batch_bytes)
    return read_log(
        file,
        cursor=cursor,
        redactor=redactor,
        now=now,
        batch_bytes=batch_bytes,
        parser=ChatParser,
        document=document if _is_whole(file.path) else None,
    )


def _is_whole(path: Path) -> bool:
    """Tell whether a file is read as a whole: an archive or a document."""
    try:
        with open_utf8(path) as handle:
            if handle.read(len(ZIP)) == ZIP:
                return True
            handle.seek(0)
            return is_document(handle, path)
    except OSError:
        return False  # the reader opens it again, and says what is wrong


def _documents(reading: FileReading, batch_bytes: int) -> Iterator[Batch]:
    """Read a document, or those of an archive one after the other."""
    assert isinstance(reading.parser, ChatParser)
    reading.parser.as_document = True
    handle = reading.handle
    size, mtime_ns = reading.state()
    handle.seek(0)
    packed = handle.read(len(ZIP)) == ZIP
    handle.seek(0)
    try:
        if not packed:
            yield from _elements(reading, Elements(handle), batch_bytes, start=0, scale=1.0)
        else:
            entries = members(handle)
            scale = size / max(1, sum(info.file_size for info in entries))
            start = 0
            for info in entries:
                with opened(handle, info) as file:
                    yield from _elements(
                        reading, Elements(file), batch_bytes, start=start, scale=scale
                    )
                start += int(info.file_size * scale)
            if not entries:
                reading.note(RecordOutcome("ignored", "archive without conversations"))
    except Unreadable as error:
        reading.reject("not_json", str(error), "", position=reading.line + 1, offset=0)
    reading.offset = size
    yield reading.batch(size=size, mtime_ns=mtime_ns)


def _elements(
    reading: FileReading, elements: Elements, batch_bytes: int, *, start: int, scale: float
) -> Iterator[Batch]:
    """Take all values of one document; each of its bytes is `scale` bytes of the file."""
    assert isinstance(reading.parser, ChatParser)
    before = reading.line
    counted = 0
    size, _ = reading.state()
    for element in elements:
        at = reading.parser.number + 1  # of the next message, which is where a bad value stands
        if element.reason:
            reading.reject(element.reason, element.detail, element.text, position=at, offset=0)
        else:
            reading.value(_whole(element.value), position=at, offset=0)
        if elements.bytes - counted >= batch_bytes:
            counted = elements.bytes
            reading.count.lines += before + elements.lines - reading.line
            reading.line = before + elements.lines
            # Short of the end: a run that is killed here begins anew.
            reading.offset = min(start + int(elements.bytes * scale), size - 1)
            yield reading.batch(size=reading.offset, mtime_ns=0)
    if elements.mended:
        reading.count.repaired[elements.mended] = reading.count.repaired.get(elements.mended, 0) + 1
    reading.count.lines += before + elements.lines - reading.line
    reading.line = before + elements.lines


def message_at(path: Path, position: int) -> bytes:
    """Return one message of a document or an archive as JSON, by the number that it was given.

    Empty where there is none any more. Raises OSError where the file cannot be read.
    """
    with open_utf8(path) as handle:
        packed = handle.read(len(ZIP)) == ZIP
        handle.seek(0)
        try:
            if not packed:
                return _find(Elements(handle), position)[0]
            for info in members(handle):
                with opened(handle, info) as file:
                    raw, position = _find(Elements(file), position)
                if raw:
                    return raw
        except Unreadable:
            return b""
    return b""


def _find(elements: Elements, position: int) -> tuple[bytes, int]:
    """Return a message, or how many positions are left to go behind these elements."""
    for element in elements:
        value = _whole(element.value)
        if element.reason or not isinstance(value, dict):
            continue
        conversation = conversation_of(value)
        if conversation is not None:
            if position <= len(conversation.messages):
                return _json(conversation.messages[position - 1].raw), 0
            position -= len(conversation.messages)
        elif chat.is_part(value):
            if position == 1:
                return _json(value), 0
            position -= 1
    return b"", position


def _json(value: object) -> bytes:
    try:
        return orjson.dumps(value)
    except orjson.JSONEncodeError:
        return repr(value).encode("utf-8", "replace")  # lone surrogates, or nested too deep
