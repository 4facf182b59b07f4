"""Write answers where they belong: lines or JSON to stdout, notes and errors to stderr.

Colour only where a terminal shows it and nobody switched it off (NO_COLOR, TERM=dumb, a pipe).
"""

from __future__ import annotations

import errno
import io
import json
import os
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from typing import Any, Final, TextIO

from factbook.errors import FactbookError
from factbook.surface import text

__all__ = ["ReaderGone", "Screen", "dump"]

PROSE_WIDTH: Final = 100  # running text is hard to read in longer lines

# JSON strings may hold these as they are, a terminal may not; JSON's own \u escapes say the same.
_RAW: Final = re.compile(
    "[\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\U000e0000-\U000e0fff\ud800-\udfff]"
)


def dump(value: object, *, indent: int | None = None) -> str:
    """Return a value as readable JSON in which all that a terminal obeys is escaped."""
    found = json.dumps(value, ensure_ascii=False, allow_nan=False, indent=indent, default=_plain)
    return _RAW.sub(_escape, found) if _RAW.search(found) else found


def _escape(match: re.Match[str]) -> str:
    return str(json.dumps(match[0]))[1:-1]


def _plain(value: object) -> str:
    if isinstance(value, os.PathLike):
        return str(os.fspath(value))
    raise TypeError(f"{type(value).__name__} has no JSON form")


class ReaderGone(Exception):
    """Whoever read stdout has enough.

    Not a BrokenPipeError: typer takes that for a failure and exits with 1.
    """


class Screen:
    """Where one command writes, and how."""

    def __init__(self, *, as_json: bool) -> None:
        """Look at the streams once: colour, width, and that every character can be written."""
        self.as_json = as_json
        self._out = _ready(sys.stdout)
        self._err = _ready(sys.stderr)
        self.color = not as_json and _wants_color(self._out)
        self._err_color = _wants_color(self._err)
        self.of_errors: dict[str, object] = {}  # said of any error with --json, beside its kind
        self._started = False
        self._marked = ""

    @property
    def width(self) -> int | None:
        """How many cells a line has now; None where nobody sees where one ends."""
        return _width(self._out)

    @property
    def prose(self) -> int:
        """How many cells a line of running text takes."""
        return min(self.width or PROSE_WIDTH, PROSE_WIDTH)

    # --- text -----------------------------------------------------------------------------------

    def line(self, line: str = "") -> None:
        """Write a line that was made safe before; on a terminal a long one goes on below."""
        self._write(_flowing(line, self._out) + "\n")

    def lines(self, lines: Iterable[str]) -> None:
        """Write lines that were made safe before."""
        for line in lines:
            self.line(line)

    def say(self, raw: str, style: str = "") -> None:
        """Write one raw text, made safe and wrapped."""
        for line in text.wrap(text.safe(raw), self.prose):
            self._write(text.paint(line, style, color=self.color) + "\n")

    def paint(self, safe_text: str, style: str) -> str:
        """Colour a safe text, where there is colour."""
        return text.paint(safe_text, style, color=self.color)

    def wrap(self, safe_text: str, *, indent: int, lines: int | None = None) -> list[str]:
        """Break a safe text that may hold highlight marks into lines of prose."""
        return text.wrap(safe_text, self.prose - indent, lines=lines, close_marks=self.color)

    def table(
        self, columns: list[text.Column], rows: Iterable[list[str]], *, indent: int = 0
    ) -> None:
        """Write rows of raw texts as a table."""
        room = None if self.width is None else self.width - indent
        for line in text.table(columns, rows, width=room, color=self.color):
            self._write(" " * indent + line + "\n")

    # --- JSON -----------------------------------------------------------------------------------

    def json(self, value: object) -> None:
        """Write one JSON document."""
        self._write(dump(value, indent=2) + "\n")

    def json_stream(self, name: str, values: Iterable[Mapping[str, object]]) -> int:
        """Write `{"name": [...]}` with one value per line, none kept in memory; return how many."""
        self._write(f'{{"{name}": [')
        lead, written = "\n", 0
        for value in values:
            self._write(lead + dump(value))
            lead, written = ",\n", written + 1
        self._write("\n]}\n")
        return written

    def raw(self, line: str) -> None:
        """Write text that is safe by its form (JSON)."""
        self._write(line)

    # --- beside the answer ----------------------------------------------------------------------

    def note(self, raw: str) -> None:
        """Write a remark to stderr."""
        self._remark("note:", "yellow", raw)

    def warn(self, raw: str) -> None:
        """Write what went wrong with a part to stderr."""
        self._remark("warning:", "yellow", raw)

    def error(self, kind: str, message: str, **more: object) -> None:
        """Say what went wrong: a sentence on stderr, and with --json an object on stdout.

        `more` are fields of that object beside its kind and message.
        """
        if self.as_json and not self._started:
            shown = {"kind": kind, "message": message, **more, **self.of_errors}
            self.json({"error": shown})
        self._remark("error:", "red", message)

    def _remark(self, label: str, style: str, raw: str) -> None:
        line = text.paint(label, style, color=self._err_color) + " " + text.one_line(raw)
        with suppress(OSError):  # nobody reads stderr: there is no one left to tell
            self._err.write(_flowing(line, self._err) + "\n")
            self._err.flush()

    # --- the stream -----------------------------------------------------------------------------

    def _write(self, data: str) -> None:
        self._started = True
        self._guard(lambda: self._out.write(data))

    def flush(self) -> None:
        """Push everything out, so that a failure to write is seen here and not at exit."""
        self._guard(self._out.flush)

    @staticmethod
    def _guard(write: Callable[[], Any]) -> None:
        try:
            write()
        except OSError as error:
            if error.errno == errno.EPIPE:
                raise ReaderGone from error
            raise FactbookError(
                detail=f"the output could not be written ({error.strerror}); nothing was changed by"
                " that, make room or name another place and run it again"
            ) from error


def _ready(stream: TextIO | None) -> TextIO:
    if stream is None:  # the caller closed it
        return io.StringIO()
    if isinstance(stream, io.TextIOWrapper):
        # A terminal of another encoding shows what it cannot write as an escape.
        stream.reconfigure(errors="backslashreplace")
    return stream


def _wants_color(stream: TextIO) -> bool:
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return _is_terminal(stream)


def _is_terminal(stream: TextIO) -> bool:
    try:
        return stream.isatty()
    except ValueError:  # closed
        return False


def _flowing(line: str, stream: TextIO) -> str:
    """Break a line at blanks for a terminal; what a program or a file gets stays as it is."""
    width = _width(stream) if _is_terminal(stream) else None
    return line if width is None else "\n".join(text.flow(line, width))


def _width(stream: TextIO) -> int | None:
    named = os.environ.get("COLUMNS", "")
    if named.isdigit() and int(named) > 0:
        return max(int(named), 20)
    if not _is_terminal(stream):
        return None
    try:
        return max(os.get_terminal_size(stream.fileno()).columns, 20)
    except OSError:
        return 80
