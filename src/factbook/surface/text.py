"""Make any text fit for a terminal: safe, measured in cells, cut, wrapped, marked and coloured.

Stored text comes from logs, tools and web pages. A terminal obeys control characters, so every one
of them is shown as an escape (`\\x1b`) before the text is measured or coloured. rich could do most
of this, but importing it costs a quarter of the time that a whole `factbook recall` may take.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import KW_ONLY, dataclass
from functools import cache
from typing import Any, Final

# Internal marks around a highlighted part. `safe` escapes control characters, so none of these can
# come from stored text.
ON: Final = "\x01"
OFF: Final = "\x02"

# Control characters of both sets, delete, direction marks (they reorder what a reader sees), line
# separators, invisible tag characters (they hide text from people but not from models), and lone
# surrogates (no stream can encode them). Newline and tab are handled apart.
UNSAFE: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff"
    "\ufff9-\ufffb\U000e0000-\U000e0fff\ud800-\udfff]"
)
_TAB: Final = "    "
COLOUR: Final = re.compile(r"\x1b\[[\d;]*m")

_STYLES: Final = {
    "bold": "1",
    "dim": "2",
    "red": "31",
    "green": "32",
    "yellow": "33",
    "cyan": "36",
    "mark": "1;33",  # what the eye should find first: a quote in its line
}


def safe(text: str) -> str:
    """Return a text that no terminal obeys: control characters as escapes, tabs as blanks.

    Newlines stay; a carriage return before one is dropped.
    """
    if UNSAFE.search(text):
        text = UNSAFE.sub(_escape, text.replace("\r\n", "\n"))
    return text.replace("\t", _TAB)


def _escape(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def one_line(text: str) -> str:
    """Return a safe text on one line, runs of white space as one blank."""
    return " ".join(safe(text).split())


def cells(text: str) -> int:
    if text.isascii() and ON not in text and OFF not in text:
        return len(text)
    return sum(_cell(char) for char in text)


@cache
def _cell(char: str) -> int:
    if char in (ON, OFF) or unicodedata.category(char) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(char) in ("W", "F") else 1


def fit(text: str, width: int, *, keep: str = "start") -> str:
    """Cut a safe line to a width, with an ellipsis where something is left out.

    `keep` says which end stays: "start", or "end" for paths.
    """
    if width < 1:
        return ""
    if cells(text) <= width:
        return text
    if width == 1:
        return "…"
    chars = text if keep == "start" else text[::-1]
    used, end = 0, 0
    for end, char in enumerate(chars):  # noqa: B007
        used += _cell(char)
        if used > width - 1:
            break
    cut = chars[:end]
    if keep == "start":
        cut = cut.rstrip()
        return cut + "…" + (OFF if cut.count(ON) > cut.count(OFF) else "")
    return "…" + cut[::-1]


def wrap(text: str, width: int, *, lines: int | None = None, close_marks: bool = True) -> list[str]:
    """Break a safe text into lines of at most `width` cells, at its blanks.

    A word that is longer than a line stays whole: an address or a path has to be copied. With
    `lines`, only so many are kept, the last one ends in an ellipsis, and long words are cut.
    Highlight marks that are open at the end of a line are closed there and opened again on the
    next, as colour needs it.
    """
    width = max(width, 8)
    wrapped: list[str] = []
    for paragraph in text.split("\n"):
        wrapped += _broken(paragraph.rstrip(), width, whole=lines is None)
        if lines is not None and len(wrapped) > lines:
            break
    if lines is not None and len(wrapped) > lines:
        last = wrapped[lines - 1]
        wrapped = [*wrapped[: lines - 1], last if last.endswith("…") else fit(last + " …", width)]
    return _close_marks(wrapped) if close_marks else wrapped


def flow(line: str, width: int | None) -> list[str]:
    """Break a line that may be coloured at its blanks, for a terminal of `width` cells.

    A word that is longer than a line stays whole: an address or a path has to be copied.
    """
    if width is None or len(line) <= width:  # the usual case, whatever its colours
        return [line]
    return _broken(line, width)


def _broken(line: str, width: int, *, whole: bool = True) -> list[str]:
    """Break a line at its blanks, the next lines indented as it is; `whole` cuts no word."""
    plain = COLOUR.sub("", line)
    if cells(plain) <= width:
        return [line]
    lead = " " * min(len(plain) - len(plain.lstrip(" ")), width // 2)
    lines, current, used = [], "", 0
    for word in re.findall(r" *[^ ]+", line):
        long = cells(COLOUR.sub("", word))
        if used and used + long > width:
            lines.append(current)
            word = lead + word.lstrip(" ")
            current, used, long = "", 0, cells(COLOUR.sub("", word))
        if whole or used + long <= width:
            current, used = current + word, used + long
            continue
        for char in word:  # a word longer than the line is cut where the line ends
            if used + _cell(char) > width:
                lines.append(current)
                current, used = lead, len(lead)
            current, used = current + char, used + _cell(char)
    return [*lines, current]


def _close_marks(lines: Sequence[str]) -> list[str]:
    closed = []
    is_open = False
    for line in lines:
        text = (ON if is_open else "") + line
        is_open = text.count(ON) > text.count(OFF)
        closed.append(text + (OFF if is_open else ""))
    return closed


def mark(text: str, start: int, end: int) -> str:
    """Put highlight marks around a part of a raw text and make the whole safe."""
    return safe(text[:start]) + ON + safe(text[start:end]) + OFF + safe(text[end:])


def paint(text: str, style: str, *, color: bool) -> str:
    """Colour a safe text; its highlight marks become colour too, or » and « without any."""
    if not color:
        return text.replace(ON, "»").replace(OFF, "«")
    if not text:
        return text
    code = ";".join(_STYLES[part] for part in style.split()) if style else ""
    opened = f"\x1b[{code}m" if code else ""
    marked = text.replace(ON, f"\x1b[0m\x1b[{_STYLES['mark']}m").replace(OFF, f"\x1b[0m{opened}")
    return f"{opened}{marked}\x1b[0m" if code or marked != text else marked


@dataclass(frozen=True, slots=True)
class Column:
    title: str
    of: Callable[[Any], str]  # its cell, raw, of the value that a row shows
    style: str = ""
    _: KW_ONLY
    right: bool = False  # aligned to the right: numbers
    least: int = 0  # cells that it keeps where the table is too wide; 0: it never gives way
    most: int = 200  # cells that it takes at most; longer cells are cut
    keep: str = "start"  # which end of a cut cell stays
    optional: bool = False  # left out, the last one first, where giving way is not enough


def table(
    columns: Sequence[Column],
    values: Iterable[object],
    *,
    width: int | None,
    color: bool,
    sample: int = 500,
) -> Iterable[str]:
    """Lay out values as lines, a row each; cells are made safe and cut here.

    Widths are taken from the first `sample` rows, so that any number of rows can stream through.
    `width=None` means that no terminal limits the line. Columns that are empty are left out.
    """
    waiting: list[list[str]] = []
    layout: list[int] | None = None
    for value in values:
        cleaned = [one_line(column.of(value)) for column in columns]
        if layout is not None:
            yield _row(columns, cleaned, layout, color=color)
            continue
        waiting.append(cleaned)
        if len(waiting) == sample:
            layout = _layout(columns, waiting, width)
            yield from _lines(columns, waiting, layout, color=color)
    if layout is None and waiting:
        yield from _lines(columns, waiting, _layout(columns, waiting, width), color=color)


def _layout(
    columns: Sequence[Column], rows: Sequence[Sequence[str]], width: int | None
) -> list[int]:
    """Return the width of every column; 0 leaves it out."""
    wide = []
    for n, column in enumerate(columns):
        longest = max(cells(row[n]) for row in rows)
        wide.append(min(max(longest, cells(column.title)), column.most) if longest else 0)
    if width is None:
        return wide
    while True:
        fitted, over = _shrunk(columns, wide, width)
        spare = [n for n, column in enumerate(columns) if column.optional and wide[n]]
        if over <= 0 or not spare:
            return fitted
        wide[spare[-1]] = 0


def _shrunk(columns: Sequence[Column], wide: Sequence[int], width: int) -> tuple[list[int], int]:
    """Let the flexible columns give way; return the widths and how much is still too wide."""
    widths = list(wide)
    over = sum(widths) + 2 * (sum(1 for size in widths if size) - 1) - width
    while over > 0:
        givers = [n for n, column in enumerate(columns) if 0 < column.least < widths[n]]
        if not givers:
            break
        widest = max(givers, key=lambda n: widths[n] - columns[n].least)
        # The widest gives way first, down to the next widest, so that short cells stay whole.
        others = [widths[n] for n in givers if n != widest]
        floor = max(columns[widest].least, max(others, default=0))
        step = min(over, max(1, widths[widest] - floor))
        widths[widest] -= step
        over -= step
    return widths, over


def _lines(
    columns: Sequence[Column], rows: Sequence[Sequence[str]], layout: Sequence[int], *, color: bool
) -> Iterable[str]:
    if any(column.title for column in columns):
        shown = [(column, n) for column, n in zip(columns, layout, strict=True) if n]
        head = "  ".join(_cell_text(column.title, column, n) for column, n in shown)
        yield paint(head.rstrip(), "dim", color=color)
    for row in rows:
        yield _row(columns, row, layout, color=color)


def _row(
    columns: Sequence[Column], row: Sequence[str], layout: Sequence[int], *, color: bool
) -> str:
    parts = []
    last = max((n for n, wide in enumerate(layout) if wide), default=0)
    for n, (column, cell, wide) in enumerate(zip(columns, row, layout, strict=True)):
        if not wide:
            continue
        text = _cell_text(cell, column, wide)
        if n == last and not column.right:
            text = text.rstrip()
        parts.append(paint(text, column.style, color=color))
    return "  ".join(parts).rstrip()


def _cell_text(text: str, column: Column, width: int) -> str:
    text = fit(text, width, keep=column.keep)
    blanks = " " * (width - cells(text))
    return blanks + text if column.right else text + blanks


def line_of(text: str, start: int, end: int) -> tuple[str, int, int]:
    """Return the lines of a text that a span touches, and the span within them."""
    first = text.rfind("\n", 0, start) + 1
    last = text.find("\n", max(end - 1, start))
    return text[first : len(text) if last < 0 else last], start - first, end - first
