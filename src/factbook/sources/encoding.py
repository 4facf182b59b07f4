"""Read files as UTF-8, whatever they are written in, and say what had to be guessed.

UTF-8 and UTF-16 with its mark are certain. Without a mark, UTF-16 shows by the NUL bytes of its
blanks and signs, which stand at every other place. A byte that is neither stands alone between
letters in texts of Western Europe, where old programs wrote Windows-1252 (which holds Latin-1);
elsewhere it is damage, or an encoding that nothing tells apart, and becomes the sign for what
cannot be read.
"""

from __future__ import annotations

import codecs
import io
import os
import unicodedata
from pathlib import Path
from typing import BinaryIO, Final

from factbook.errors import PathUnreadable

GUESSED: Final = "read as Windows-1252"
UNMARKED: Final = "read as UTF-16"
INVALID: Final = "invalid UTF-8"
WESTERN: Final = "factbook.western"
"""The error handler of `bytes.decode` that reads what is no UTF-8 as Windows-1252, where it can be
that."""

_WIDE: Final = {
    codecs.BOM_UTF32_LE: "utf-32",  # before UTF-16, whose mark it begins with
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
_WIDE_BYTES: Final = 256 * 1024 * 1024  # ours: a text that is not UTF-8 is held as a whole
_HEAD_BYTES: Final = 4096  # in which a file shows what it is written in
_FEW_CHARS: Final = 4  # of fewer nobody can tell
_NULS: Final = 16  # ours: of as many characters one is a blank or a sign, or it is no UTF-16
_NO_TEXT: Final = {"Cc", "Cn", "Cs"}  # controls, and what is no character
_IN_A_ROW: Final = 2  # "naïve", "œuvre", "à": more is no word of Western Europe


def _western(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeDecodeError):
        raise error
    data, start, end = error.object, error.start, error.end
    first, last = start, start
    while first > 0 and data[first - 1] >= 0x80:
        first -= 1
    while last < len(data) and data[last] >= 0x80:
        last += 1
    # More than one byte, or the end: the beginning of a character that was cut off.
    if end - start == 1 and last - first <= _IN_A_ROW and end < len(data):
        try:
            return data[start:end].decode("cp1252"), end
        except UnicodeDecodeError:
            pass
    return "\ufffd", end


codecs.register_error(WESTERN, _western)


def decoded(data: bytes) -> tuple[str, str]:
    """Return bytes as text, and what was mended: nothing, GUESSED or INVALID."""
    try:
        return data.decode("utf-8"), ""
    except UnicodeDecodeError:
        text = data.decode("utf-8", WESTERN)
        return text, INVALID if "\ufffd" in text else GUESSED


def utf8(head: bytes) -> bytes:
    """Return the beginning of a file in UTF-8."""
    codec = _codec(head)
    return (head.decode(codec, "replace") if codec else decoded(head)[0]).encode("utf-8")


class Transcoded(io.BytesIO):
    """A file in UTF-16 or UTF-32, as the file in UTF-8 that says the same.

    `guessed` is UNMARKED where no mark says that it is, else empty.
    """

    def __init__(self, data: bytes, *, codec: str, mtime_ns: int) -> None:
        # What is not whole at the end may be so when the file has grown.
        text = codecs.getincrementaldecoder(codec)("replace").decode(data)
        super().__init__(text.encode("utf-8", "replace"))
        self.mtime_ns = mtime_ns
        self.guessed = "" if codec in _WIDE.values() else UNMARKED


def open_utf8(path: Path, *, buffering: int = -1) -> BinaryIO:
    """Open a file to be read as UTF-8 bytes.

    Raises OSError, and PathUnreadable for one in UTF-16 that is too large to be held.
    """
    file = path.open("rb", buffering=buffering)
    try:
        codec = _codec(file.read(_HEAD_BYTES))
        file.seek(0)
        if not codec:
            return file
        about = os.fstat(file.fileno())
        if about.st_size > _WIDE_BYTES:
            reason = f"{about.st_size:,} bytes of {codec.upper()} text; save it as UTF-8"
            raise PathUnreadable(path=path, reason=reason)
        made = Transcoded(file.read(), codec=codec, mtime_ns=about.st_mtime_ns)
        if not made.getbuffer().nbytes:  # two bytes and no character: not yet a text in any code
            file.seek(0)
            return file
    except BaseException:
        file.close()
        raise
    file.close()
    return made


def status(file: BinaryIO) -> tuple[int, int]:
    """Return the size of an open file as it is read, and when it was changed (nanoseconds)."""
    if isinstance(file, Transcoded):
        return file.getbuffer().nbytes, file.mtime_ns
    about = os.fstat(file.fileno())
    return about.st_size, about.st_mtime_ns


def _codec(head: bytes) -> str:
    marked = (codec for mark, codec in _WIDE.items() if head.startswith(mark))
    return next(marked, "") or _unmarked(head[:_HEAD_BYTES])


def _unmarked(head: bytes) -> str:
    """Return the UTF-16 that a text without a mark is in; empty for anything else.

    The other order of its bytes often makes characters as well, but no line ends and few blanks.
    """
    count = len(head) // 2
    if b"\0" not in head or count < _FEW_CHARS:
        return ""
    candidates = []
    for codec, high in (("utf-16-le", head[1::2]), ("utf-16-be", head[: 2 * count : 2])):
        nuls = high.count(0)
        if nuls < max(2, count / _NULS):  # one may be left of a crash
            continue
        try:
            text = codecs.getincrementaldecoder(codec)().decode(head)
        except UnicodeDecodeError:
            continue
        if all(char in "\t\n\r\f" or unicodedata.category(char) not in _NO_TEXT for char in text):
            candidates.append((-nuls, len(set(high)), codec))
    return min(candidates)[2] if candidates else ""
