"""Tell the line breaks that end something from those that are there because a line was full.

Knows: how plain text, Markdown and mails wrap a paragraph over lines, and what begins a line of its
own (items, headings, rows, `key: value`). Does not know what is said, nor what a name is.

A break counts as a blank only where something says so: the line above does not end yet, or the
line below goes on in lower case, or all lines are full. All else stays a line of its own, which
costs a sentence at most; two lines that are joined wrongly would make one up.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Final, NamedTuple

from factbook.extract.base import word_set
from factbook.language.calendar import is_calendar_word
from factbook.language.common_words import is_everyday, is_function_word, is_nationality
from factbook.language.sentences import is_shortened
from factbook.language.verbs import with_s
from factbook.net import cancel

__all__ = ["may_be_name", "needs_object", "unwrapped"]

WIDEST: Final = 120  # ours: nobody wraps wider; text beyond is not wrapped at all
FULL_CHARS: Final = 45  # ours: a shorter line is not taken to be full
RUN_ON_CHARS: Final = 30  # ours: the same, where the next line begins in lower case
FILLED_LINES: Final = 3  # ours: lines that are all full show that a text is wrapped
FILLED_SHARE: Final = 0.9  # ours: of all lines that end in no full stop
FILLED_CHARS: Final = 30  # ours: nobody wraps narrower
SHARE: Final = 0.6  # ours: of the widest line; a shorter one is much shorter than its neighbours

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
_LAST: Final = re.compile(r"(?P<word>[^\W_]+(?:['’\-][^\W_]+)*)?(?P<mark>[,;&(\-–—/]?)[*_`]*$")
_FIRST: Final = re.compile(r"[\"'“‘(\[*_`]*(?P<word>[^\W_]+(?:['’\-.][^\W_]+)*)?")

# Words that no line ends in: what stands behind them is on the next one.
_LEADS_ON: Final = word_set("""
    the a an these those my your his her its our their of by with from for to at into onto between
    among during without within until per via than and or but nor as if because while whether whose
    every either about around under against toward towards since until after before
    """)
# These end a sentence too, a title ("What it is") and a link of a menu ("Log in").
_MAY_LEAD_ON: Final = word_set("""
    on in off up out over down through along across behind above below this that which who whom
    where when is are was were has have had isn't aren't wasn't can could will would may might must
    should cannot does do did been being be some any each no not both
    """)
# Verbs that say nothing without what they do it to: "The bike takes".
_NEEDS: Final = word_set("""
    take have cost use weigh contain include hold need require offer provide support measure
    feature make give get let keep carry deliver produce allow enable reach bring put show feel
    become seem receive consist belong depend combine replace add mean want like love describe
    sell build send cover join form share serve lack
    """)


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


def needs_object(verb: str) -> bool:
    """Tell whether a verb, in any form of the present or past, says nothing alone."""
    low = verb.lower()
    return low in _NEEDS_FORMS


_NEEDS_FORMS: Final = frozenset(
    form for verb in _NEEDS for form in (verb, with_s(verb))
) | word_set("""
    has had took used weighed contained included held needed required offered provided supported
    measured featured made gave got kept carried delivered produced allowed enabled reached brought
    became seemed received consisted belonged depended
    """)


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
    blocks = list(_blocks(text, begin))
    filled = _filled(text, blocks)
    for block in blocks:
        widest = _widest(text, block)
        for above, below in pairwise(block):
            if not _goes_on(text, above, below, widest, filled, block[0]):
                continue
            hyphen = text[above.end - 1] == "-" and text[above.end - 2].isalpha()
            parts += [text[done : above.end], ("\0" if hyphen else " ") * (below.body - above.end)]
            done = below.body
    parts.append(text[done:])
    return "".join(parts)


def _filled(text: str, blocks: Sequence[Sequence[_Line]]) -> int:
    """Return the width to which a text fills its lines; 0 where its lines end anywhere."""
    breaks = [
        (above, below)
        for block in blocks
        for above, below in pairwise(block)
        if above.kind in ("text", "item")
        and below.kind == "text"
        and above.width <= WIDEST
        and not _closed(text, above)
        and not _PAIR.match(below.words(text))
    ]
    width = max((above.width for above, _ in breaks), default=0)
    full = sum(_is_full(text, above, below, width) for above, below in breaks)
    fills = full >= max(FILLED_LINES, FILLED_SHARE * len(breaks)) and width >= FILLED_CHARS
    return width if fills else 0


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


def _goes_on(text: str, above: _Line, below: _Line, widest: int, filled: int, first: _Line) -> bool:
    """Tell whether a line goes on with the one above it."""
    if above.kind not in ("text", "item") or below.kind != "text" or above.depth != below.depth:
        return False
    if _closed(text, above):
        return False
    said, more = above.words(text)[-_TAIL_CHARS:], below.words(text)
    opens = _FIRST.match(more)
    word = (opens["word"] if opens else "") or ""
    pair = _PAIR.match(more)
    open_ended, doubtful = _open_ended(said)
    if pair and (word[:1].isupper() or not open_ended):
        return False
    if is_shortened(said, always=True):
        return True
    if not word:
        return open_ended
    lower = word[:1].islower()
    if word[:1].isupper() and word != "I" and is_function_word(word.lower()):
        return False  # "The", "It": a sentence begins, and no sentence ended, so this is a line
    if open_ended and not (doubtful and word[:1].isupper()):
        return True
    if above.breaks:
        return False
    if filled:
        return _is_full(text, above, below, filled)
    full = bool(widest) and _is_full(text, above, below, widest)
    if lower:
        if below.indent > above.indent and above.kind == "item":
            return True
        # of somebody who writes without capitals lower case says nothing
        tells = not text[first.body : first.body + 1].islower() or first.kind == "item"
        if tells:
            return above.width >= RUN_ON_CHARS and above.width >= SHARE * (widest or WIDEST)
        return full and above.width >= FULL_CHARS
    if not full or above.width < FULL_CHARS:
        return False
    # a capital inside a sentence is that of a name
    last = said.rsplit(None, 1)[-1].lstrip("\"'“‘(*_`")
    return open_ended or not word[0].isupper() or may_be_name(word) or last[:1].isupper()


def may_be_name(word: str) -> bool:
    """Tell whether a word with a capital may stand inside a sentence: "March", "Danish", "Odense".

    An everyday word has its capital from the beginning of a sentence or of a line.
    """
    low = word.lower()
    return not is_everyday(low) or is_calendar_word(low) or is_nationality(low)


def _open_ended(said: str) -> tuple[bool, bool]:
    """Tell whether a line hardly ends here, and whether there are lines that do."""
    last = _LAST.search(said)
    if last is None:
        return False, False
    if last["mark"]:
        return True, False
    word = (last["word"] or "").lower().replace("’", "'")
    if word in _LEADS_ON:
        return True, False
    return word in _MAY_LEAD_ON or needs_object(word), True
