"""Read back the line of a log that an episode came from, when it is still there.

The log stays the source: factbook keeps what it needs of it, and shows the rest on request,
redacted on the way.
"""

from __future__ import annotations

from codecs import BOM_UTF8
from dataclasses import dataclass
from pathlib import Path

import orjson

from factbook.policy import MAX_LINE_BYTES
from factbook.redaction.base import Redacting
from factbook.sources.conversation import message_at
from factbook.sources.encoding import decoded, open_utf8
from factbook.sources.session_log.reader import is_document

_WINDOW = 700  # characters of the line that are shown around the quote
_PROSE_BYTES = 16_000  # of a note, behind the line where a paragraph begins
_NEEDLE = 40  # characters of the quote that must stand in the line for it to be the same one


@dataclass(frozen=True, slots=True, kw_only=True)
class Original:
    """The line of a log as it is now."""

    state: str  # "found", "changed" (the line is another now) or "gone" (the file or line is)
    text: str  # redacted, around the quote; a sentence that says why when it is not found


def read_original(
    path: Path, *, offset: int, position: int, quote: str, redactor: Redacting
) -> Original:
    """Return the line at a byte offset, redacted, cut to a window around the quote."""
    if position == 0:
        return Original(state="gone", text="It was told to factbook itself, not read from a file.")
    try:
        line = _line(path, offset=offset, position=position)
    except OSError as error:
        return Original(state="gone", text=f"{path} cannot be read ({error.strerror}).")
    if not line.strip():
        return Original(state="gone", text=f"{path} has no line {position} any more.")
    text = _redacted(line, redactor)
    at = _find(text, quote)
    if at < 0:
        at = _find(text, redactor.redact(quote))  # it was stored as it stood in the log
    if at < 0:
        return Original(state="changed", text=f"{path}, line {position} holds something else now.")
    start = max(0, at - _WINDOW // 2)
    end = min(len(text), start + _WINDOW)
    before, behind = "…" if start else "", "…" if end < len(text) else ""
    return Original(state="found", text=f"{before}{text[start:end]}{behind}")


def _line(path: Path, *, offset: int, position: int) -> bytes:
    """Return what an episode was read from: a line, a message of a document, a part of a note."""
    with open_utf8(path) as file:
        packed = file.read(4) == b"PK\x03\x04"
        file.seek(0)
        whole = packed or is_document(file, path)
        file.seek(offset)
        if not whole:
            line = file.readline(MAX_LINE_BYTES)
            if line.lstrip(b"\xef\xbb\xbf \t")[:1] not in (b"{", b"["):
                line += file.read(_PROSE_BYTES)  # a paragraph has several lines
            return line
        document = b"" if packed else file.read(MAX_LINE_BYTES)
    # The messages of a log stand in one list; those of chats are numbered as they are read.
    return _message(document, position) or message_at(path, position)


def _redacted(line: bytes, redactor: Redacting) -> str:
    """Return a line with its strings redacted one by one, as they were when they were read."""
    text, _ = decoded(line.removeprefix(BOM_UTF8))
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError:
        return redactor.redact(text.rstrip("\n"))
    # Once more as a whole: what stands across two strings is seen only there.
    return redactor.redact(orjson.dumps(redactor.redact_value(value)).decode())


def _message(document: bytes, position: int) -> bytes:
    """Return one message of a log that is a single JSON document."""
    try:
        value = orjson.loads(document)
        records = value["messages"] if "messages" in value else value["loglines"]
        return orjson.dumps(records[position - 1])
    except (orjson.JSONDecodeError, KeyError, IndexError, TypeError):
        return b""


def _find(text: str, quote: str) -> int:
    """Return where the quote stands in a line of JSON, whose strings escape some characters."""
    needle = quote[:_NEEDLE].split("\n", 1)[0]
    for form in (needle, orjson.dumps(needle.encode("utf-8", "replace").decode()).decode()[1:-1]):
        at = text.find(form)
        if at >= 0:
            return at
    return -1
