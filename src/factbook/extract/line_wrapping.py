"""Tell the line breaks that end something from those that are there because a line was full.

Knows: how plain text, Markdown and mails wrap a paragraph over lines, and what begins a line of its
own (items, headings, rows, `key: value`). Does not know what is said, nor what a name is.

A break counts as a blank only where the line below goes on in lower case, or had no room above and
begins no sentence. All else stays a line of its own, which costs a sentence at most; two lines that
are joined wrongly would make one up.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Final, NamedTuple

from factbook.language.calendar import is_calendar_word
from factbook.language.common_words import is_everyday, is_function_word, is_nationality
from factbook.language.sentences import is_shortened
from factbook.net import cancel

__all__ = ["unwrapped"]

WIDEST: Final = 120  # ours: nobody wraps wider; text beyond is not wrapped at all
FULL_CHARS: Final = 30  # ours: a shorter line is not taken to be full

_TAIL_CHARS: Final = 80  # of a line, to see how it ends: one may be megabytes long

_LINE: Final = re.compile(r"[^\n]*\n?")
_QUOTE: Final = re.compile(r"(?:[ \t]{0,3}>[ \t]?)*")
_FENCE: Final = re.compile(r"[ \t]*(?:```|~~~)")
_BLOCK: Final = re.compile(
    r"[ \t]*(?:#{1,6}[ \t]|\||[-*_=─━═—]{3,}[ \t]*$|</?\w|\[\^?\w{1,20}\]:[ \t])|[^\n]*(?:\t| \| )"
)
_ITEM: Final = re.compile(
    r"[ \t]*(?:[-*+•‣▪·–✓✔✗✘]|\(?\d{1,3}[.)]|\(?[a-zA-Z]\))[ \t]+(?:\[[ xX]\][ \t]+)?"
)
_PAIR: Final = re.compile(
    r"[ \t]*[*_]{0,2}(?P<key>[^\W\d_][^\W_]*(?:[ /&'’\-]{1,3}[^\W_]+){0,4})(?: \([^()\n]{1,20}\))?"
    r"[*_]{0,2}[ \t]?:[*_]{0,2}(?:\s|$)"
)
_CLOSED: Final = re.compile(r"[.!?…:。][\"'”’)\]*_`]*$")
_OPENING: Final = "\"'“‘([*_`"


class _Line(NamedTuple):
    """One line: where it is, what stands in it behind marks of quotation, and what it begins."""

    start: int
    end: int  # without the line break and the blanks before it
    body: int  # where it begins behind its marks of quotation and its indentation
    depth: int  # of quotation
    indent: int
    kind: str  # "text", "item", "block", "code" or "" for a blank line
    breaks: bool  # it ends in a break that its writer asked for

    def words(self, text: str) -> str:
        return text[self.body : self.end]

    @property
    def width(self) -> int:
        return self.end - self.start


@lru_cache(maxsize=32)
def unwrapped(text: str, *, begin: int = 0) -> str:
    """Return a text of the same length with a blank for every break inside a paragraph.

    What is not a sentence that goes on keeps its break. Marks of quotation at the beginning of a
    joined line are blanks too; behind a hyphen the break is `\\0`, which stands for nothing.
    Breaks before `begin` stay as they are: a title is a line of its own.
    """
    if "\n" not in text[begin:]:
        return text
    parts: list[str] = []
    done = 0
    for block in _blocks(text, begin):
        widest = _widest(text, block)
        for above, below in pairwise(block):
            if not _goes_on(text, above, below, widest):
                continue
            hyphen = text[above.end - 1] == "-" and text[above.end - 2].isalpha()
            parts += [text[done : above.end], ("\0" if hyphen else " ") * (below.body - above.end)]
            done = below.body
    parts.append(text[done:])
    return "".join(parts)


def _closed(text: str, line: _Line) -> bool:
    said = line.words(text)[-_TAIL_CHARS:]
    return _CLOSED.search(said) is not None and not is_shortened(said, always=True)


def _is_full(text: str, above: _Line, below: _Line, width: int) -> bool:
    """Tell whether the first word of a line had no room in the one above it."""
    return above.width + 1 + len(below.words(text).split(maxsplit=1)[0]) > width


def _blocks(text: str, begin: int) -> Iterator[list[_Line]]:
    """Yield the runs of lines without a blank one between them."""
    block: list[_Line] = []
    for line in _lines(text, begin):
        if not line.kind:
            yield block
            block = []
        else:
            block.append(line)
    yield block


def _lines(text: str, begin: int) -> Iterator[_Line]:
    fenced = False
    listed = False  # an item stands above, so that indented lines go on with it
    blank = True
    for match in _LINE.finditer(text, begin):
        cancel.check()
        start, raw = match.start(), match[0]
        if not raw:
            return
        line = raw.rstrip()
        quoted = _QUOTE.match(line)
        behind = quoted.end() if quoted else 0
        depth = line.count(">", 0, behind)
        behind = behind if depth else 0
        inner = line[behind:]
        indent = len(inner) - len(inner.lstrip())
        kind = "text"
        if not inner.strip():
            kind = ""
        elif _FENCE.match(inner):
            fenced, kind = not fenced, "block"
        elif fenced or (blank and not listed and inner.startswith(("    ", "\t"))):
            kind = "code"
        elif (item := _ITEM.match(inner)) and (listed or blank or _opens_list(item)):
            kind = "item"
        elif _BLOCK.match(inner):
            kind = "block"
        if kind == "item":
            listed = True
        elif kind and not indent:
            listed = listed and not blank
        blank = not kind
        body = start + behind + indent
        asked = line.endswith("\\") or raw.removesuffix("\n").endswith("  ")
        yield _Line(start, start + len(line), body, depth, indent, kind, asked)


def _opens_list(item: re.Match[str]) -> bool:
    """Tell whether an item may stand directly under a paragraph: "3. It" is what a line goes on."""
    number = item[0].strip("( .)\t")
    return not number.isdigit() or number == "1"


def _widest(text: str, block: Sequence[_Line]) -> int:
    """Return how wide the lines of a block get; 0 where they are not wrapped at all."""
    widest = 0
    for line in block:
        if line.kind not in ("text", "item"):
            continue
        if text.rfind(" ", line.start, line.end) - line.start > WIDEST:
            return 0
        if line.width <= WIDEST:
            widest = max(widest, line.width)
    return widest


def _goes_on(text: str, above: _Line, below: _Line, widest: int) -> bool:
    """Tell whether a line goes on with the one above it."""
    if above.kind not in ("text", "item") or below.kind != "text" or above.depth != below.depth:
        return False
    said, more = above.words(text)[-_TAIL_CHARS:], below.words(text)
    if above.breaks or _closed(text, above) or _PAIR.match(more):
        return False
    first = more.lstrip(_OPENING)
    if first[:1].islower():
        return above.width >= FULL_CHARS
    opens = first[:1].isupper() and _is_plain(first.split()[0])
    last = said.split()[-1]
    if not opens and (last[-1] in ",;&(-–—/" or is_function_word(last.lower())):
        return True  # no line ends behind "of", or a comma
    if not widest or above.width < FULL_CHARS or not _is_full(text, above, below, widest):
        return False
    return not opens or last.lstrip(_OPENING)[:1].isupper()


def _is_plain(word: str) -> bool:
    """Tell whether a word has its capital from the beginning of a sentence or of a line."""
    low = word.strip(".,;:!?\"'“”‘’)*_`").lower()
    return is_everyday(low) and not is_calendar_word(low) and not is_nationality(low)
