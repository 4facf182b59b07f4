"""Read files as UTF-8, whatever they are written in, and say what had to be guessed.

UTF-8 and UTF-16 with its mark are certain. A byte that is neither stands alone between letters in
texts of Western Europe, where old programs wrote Windows-1252 (which holds Latin-1); elsewhere it
is damage, or an encoding that nothing tells apart, and becomes the sign for what cannot be read.
"""

from __future__ import annotations

import codecs
import io
import os
from pathlib import Path
from typing import BinaryIO, Final

from factbook.errors import PathUnreadable

GUESSED: Final = "read as Windows-1252"
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
_MARK_BYTES: Final = 4
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
    """A file in UTF-16 or UTF-32, as the file in UTF-8 that says the same."""

    def __init__(self, data: bytes, *, codec: str, mtime_ns: int) -> None:
        # What is not whole at the end may be so when the file has grown.
        text = codecs.getincrementaldecoder(codec)("replace").decode(data)
        super().__init__(text.encode("utf-8", "replace"))
        self.mtime_ns = mtime_ns


def open_utf8(path: Path, *, buffering: int = -1) -> BinaryIO:
    """Open a file to be read as UTF-8 bytes.

    Raises OSError, and PathUnreadable for one in UTF-16 that is too large to be held.
    """
    file = path.open("rb", buffering=buffering)
    try:
        codec = _codec(file.read(_MARK_BYTES))
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
    return next((codec for mark, codec in _WIDE.items() if head.startswith(mark)), "")
