"""Walk through JSON documents of any size: one value at a time, never the whole file at once.

An export is one list of thousands of conversations. Its elements are decoded one by one from a
window of text, so memory is bounded by the largest of them; what cannot be read is reported with
its place, and reading goes on behind it.
"""

from __future__ import annotations

import codecs
import json
import re
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import IO, BinaryIO, Final, NamedTuple, Protocol

from factbook import policy
from factbook.sources.encoding import GUESSED, INVALID, WESTERN
from factbook.sources.session_log.jsonl import DECODER

MEMBER_BYTES: Final = 4 * 1024**3
"""What is read of one file of an archive: exports of years of chats are a tenth of it."""
MAX_RATIO: Final = 200
"""How far a file of an archive may be packed; JSON of chats packs to a tenth, bombs to a
thousandth."""
RATIO_FROM_BYTES: Final = 16 * 1024 * 1024  # a smaller file may be packed as it likes

_CHUNK: Final = 1024 * 1024
_NEAR_END: Final = 16  # an error this close to the end of the window may be the end of the window
_WASTED: Final = 8 * policy.MAX_LINE_BYTES  # characters of broken values that are read in vain
_ENCRYPTED: Final = 1  # flag of a file in an archive
_MEMBER: Final = re.compile(r"(?:.*/)?conversations(?:[-_]\d{1,6})?\.json")
_BLANK: Final = re.compile(r"[\s,\x00\ufeff]*")
_PLAIN: Final = r'(?:"(?:[^"\\]|\\.){0,500}"|[^,"{}\[\]]{1,40})'  # a value without others inside
_HEAD: Final = re.compile(rf'\{{\s*"(\w{{1,60}})"\s*:(?:\s*{_PLAIN}\s*,\s*"(\w{{1,60}})"\s*:)?')
_OVERLAP: Final = 2_000  # characters that such a beginning may take


class Element(NamedTuple):
    """One value of a document, or a part that cannot be read."""

    value: object
    reason: str = ""  # one of policy.LINE_REJECTIONS, empty for a value
    detail: str = ""
    text: str = ""  # the beginning of the unreadable part


class Unreadable(Exception):
    """The file breaks off, or is no archive that can be read."""


class Readable(Protocol):
    """What a document is read from."""

    def read(self, size: int, /) -> bytes:
        """Return the next bytes, none at the end."""


class Elements:
    """The values of a document: the elements of a list, or values one behind the other.

    `bytes` counts what was read so far, `lines` the line breaks in it.
    """

    def __init__(self, file: Readable) -> None:
        self._file = file
        self._decoder = codecs.getincrementaldecoder("utf-8")()
        self._window = ""
        self._at = 0  # where the next value begins in the window
        self._ended = False
        self._begins: re.Pattern[str] | None = None  # how the values begin
        self._wasted = 0
        self.broken = False  # the rest of the file could not be read
        self.mended = ""  # how bytes were read that are no UTF-8
        self.bytes = 0  # bytes read
        self.lines = 0
        self._last = b"\n"

    def __iter__(self) -> Iterator[Element]:
        self._blanks()
        in_list = self._window[self._at : self._at + 1] == "["
        if in_list:
            self._at += 1
        while True:
            self._blanks()
            if self._at >= len(self._window):
                if in_list and not self.broken:
                    yield Element(None, "not_json", "the list is not closed", "")
                break
            if in_list and self._window[self._at] == "]":
                self._at += 1
                in_list = False
                continue
            yield self._next()
        self.lines += self._last != b"\n"

    def _next(self) -> Element:
        """Decode the value at hand, reading on as long as it may only be cut off."""
        wanted = 1
        while True:
            try:
                value, end = DECODER.raw_decode(self._window, self._at)
            except RecursionError:
                return self._skip("too_deep", "nested too deep to be read", read=_CHUNK)
            except json.JSONDecodeError as error:
                near_end = error.pos >= len(self._window) - _NEAR_END
                if (near_end or error.msg.startswith("Unterminated")) and not self._ended:
                    if len(self._window) - self._at >= policy.MAX_LINE_BYTES:
                        detail = f"over {policy.MAX_LINE_BYTES:,} characters in one value"
                        return self._skip("too_long", detail, read=policy.MAX_LINE_BYTES)
                    self._more(wanted)
                    wanted *= 2  # so that a long value is tried a few times only
                    continue
                return self._skip("not_json", error.msg, read=error.pos - self._at)
            bare = isinstance(value, (int, float))
            if bare and end >= len(self._window) - _NEAR_END and not self._ended:
                self._more(1)  # a number may go on
                continue
            self._learn()
            self._at = end
            return Element(value)

    def _learn(self) -> None:
        """Remember how the values begin: by one key, or by two with a plain value between."""
        if self._begins is None and (match := _HEAD.match(self._window, self._at)):
            second = rf'\s*{_PLAIN}\s*,\s*"{match[2]}"\s*:' if match[2] else ""
            self._begins = re.compile(rf'\{{\s*"{match[1]}"\s*:{second}')

    def _skip(self, reason: str, detail: str, *, read: int) -> Element:
        """Pass over a value that cannot be read, to where one like the others begins."""
        text = self._window[self._at : self._at + 4 * policy.EXCERPT_CHARS]
        self._learn()
        self._wasted += read
        self._at += 1
        while self._begins is not None and self._wasted <= _WASTED:
            match = self._begins.search(self._window, self._at)
            if match:
                self._at = match.start()
                return Element(None, reason, detail, text)
            if self._ended:
                break
            self._at = max(self._at, len(self._window) - _OVERLAP)
            self._more(1)
        while not self._ended:
            self._at = len(self._window)
            self._more(4)
        self._at = len(self._window)
        self.broken = True
        return Element(None, reason, detail, text)

    def _blanks(self) -> None:
        while True:
            match = _BLANK.match(self._window, self._at)
            self._at = match.end() if match else self._at
            if self._at < len(self._window) or self._ended:
                return
            self._more(1)

    def _text(self, data: bytes, *, final: bool = False) -> str:
        """Decode the next bytes; where they are no UTF-8, that is guessed from here on."""
        try:
            return self._decoder.decode(data, final)
        except UnicodeDecodeError:
            self._decoder.errors = WESTERN
            text = self._decoder.decode(data, final)
            self.mended = INVALID if "\ufffd" in text else GUESSED
            return text

    def _more(self, chunks: int) -> None:
        """Read on; what is done with leaves the window."""
        parts = [self._window[self._at :]]
        self._at = 0
        for _ in range(chunks):
            try:
                data = self._file.read(_CHUNK)
            except (zipfile.BadZipFile, zlib.error, EOFError) as error:
                raise Unreadable(str(error) or "it breaks off") from error
            self.bytes += len(data)
            self.lines += data.count(b"\n")
            self._last = data[-1:] or self._last
            if not data or self.bytes > MEMBER_BYTES:
                self._ended = True
                parts.append(self._text(b"", final=True))
                break
            parts.append(self._text(data))
        self._window = "".join(parts)


def members(handle: BinaryIO) -> list[zipfile.ZipInfo]:
    """Return the files of an archive that hold conversations, by name.

    Raises Unreadable where it is no archive that can be read.
    """
    try:
        with zipfile.ZipFile(handle) as archive:
            infos = [info for info in archive.infolist() if _MEMBER.fullmatch(info.filename)]
    except (zipfile.BadZipFile, NotImplementedError, ValueError, EOFError) as error:
        raise Unreadable(f"no zip archive that can be read ({error})") from error
    return sorted(infos, key=lambda info: info.filename)


@contextmanager
def opened(handle: BinaryIO, info: zipfile.ZipInfo) -> Iterator[IO[bytes]]:
    """Open a file of an archive without unpacking it to disk.

    Raises Unreadable for what is damaged, locked, packed in a way that no export is, or a bomb.
    """
    if info.file_size > MEMBER_BYTES:
        raise Unreadable(f"{info.file_size:,} bytes in one file of the archive")
    if info.file_size > max(RATIO_FROM_BYTES, MAX_RATIO * info.compress_size):
        raise Unreadable(
            f"{info.compress_size:,} bytes that unpack to {info.file_size:,}: no chats pack so well"
        )
    if info.flag_bits & _ENCRYPTED:
        raise Unreadable("the archive is locked with a password; unpack it first")
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise Unreadable("the archive is packed in an unusual way; unpack it first")
    with ExitStack() as stack:
        try:
            archive = stack.enter_context(zipfile.ZipFile(handle))
            file = stack.enter_context(archive.open(info))
        except (zipfile.BadZipFile, zlib.error, EOFError) as error:
            raise Unreadable(f"no zip archive that can be read ({error})") from error
        yield file
