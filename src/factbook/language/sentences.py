"""Find the sentences of a text, of one that somebody types as well as of one that is printed.

A sentence ends at its marks, at the end of a line that is not wrapped, and at an emoji before a new
beginning; not at an abbreviation, inside `code`, or where a lower-case word goes on.

Measured on the ends of the sentences of EWT and GUM (F1): 98.4 and 99.2, pysbd 96.1 and 97.0 at a
tenth of the speed, sentencex line by line 97.1 and 98.3, with 4 MB of its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final, NamedTuple

from factbook.language.calendar import MONTHS
from factbook.language.common_words import opens_sentences
from factbook.language.markdown import is_wrapped, prose_blocks
from factbook.language.words import word_set


class Span(NamedTuple):
    """The place of a part of a text."""

    start: int
    end: int

    def of(self, text: str) -> str:
        """Return the part itself."""
        return text[self.start : self.end]


LINE_END: Final = "\x1f"
"""Ends a sentence wherever it stands: put where something was taken out of a text."""


_CLOSING: Final = r"(?:[\"'”’»)\]*_`]|\[\d{1,3}\])"  # also the mark of a footnote
_STOP: Final = re.compile(
    rf"(?P<mark>(?<![.!?…])[.!?…]++)(?P<closed>{_CLOSING}*+)(?=\s|\x1f|$)"
    rf"|(?P<full>[。！？]+{_CLOSING}*+)"
    r"|(?P<glued>(?<=[a-z\d]{2})[.!?]+)(?=I(?:['’]|\s|$)|[A-Z][a-z]+(?:['’]s)? )"
    r"|(?P<smile>[\U0001F300-\U0001FAFF\u2600-\u27BF\uFE0F]+)(?=\s+[A-Z])"
    r"|(?P<line>\n)"
    r"|(?P<cut>\x1f+)"
)
_WORD_BEFORE: Final = re.compile(r"(?:^|[\s(\"“‘\[/-]|(?<!\w)')([^\W\d_]+(?:\.[^\W\d_]+)*)\.$")
_NEVER: Final = word_set("""
    dr mr mrs ms prof st mt gen gov sen rep capt lt col sgt rev hon pres vs cf approx resp incl esp
    dept pt ft feat e.g i.e viz al
""")
"""Short forms that something always follows."""
_OFTEN: Final = word_set("""
    etc inc ltd co corp jr sr a.m p.m u.s u.k u.s.a d.c bros ave blvd rd ph.d
""")
"""Short forms that end a sentence where the next word is one that begins one."""

_BEFORE_NUMBERS: Final = word_set("no nos nr fig eq sec art ch p pp ca vol est min max") | {
    name for name in MONTHS if len(name) < 5 and name not in ("may", "june", "july")
}
_LETTERED: Final = word_set("vitamin plan option grade type group class part section hepatitis")
_NUMBERED: Final = re.compile(r"\W*\d{1,3}[.)]+\Z")
_NEXT: Final = re.compile(r"\s*(?P<word>[^\W_]+(?:['’][^\W_]+)?)?")
_GOES_ON: Final = re.compile(r"[ \t]*(?:[,;)\]:]|\.(?!\.)|-\s|[–—]|\[\d)")
_EMPTY: Final = " \t\r\n.!?…\"'”’)]*_\x1f"
_ABOVE: Final = 12  # characters in which an abbreviation stands
_SPAN_CHARS: Final = 1_200  # an unpaired backtick must not join all that follows


def sentences(
    text: str, start: int = 0, end: int | None = None, *, lines: bool = True
) -> Iterator[Span]:
    """Yield the sentences of a plain text in order, without the blanks around them.

    Marks alone are no sentence. A line break ends one unless a long line goes on in lower case;
    without `lines` none does.
    """
    stop = len(text) if end is None else end
    begin = start
    for match in _STOP.finditer(text, start, stop):
        if match["line"] and not lines:
            continue
        if _ends(text, begin, match, stop):
            yield from _trimmed(text, begin, match.end())
            begin = match.end()
    yield from _trimmed(text, begin, stop)


@lru_cache(maxsize=4)
def markdown_sentences(text: str) -> tuple[Span, ...]:
    """Return the sentences of the prose of a Markdown text in order (`markdown.prose_blocks`)."""
    return tuple(
        sentence
        for start, end in prose_blocks(text)
        for sentence in sentences(text, start, end, lines=False)
    )


def last_end(text: str, start: int = 0) -> int:
    """Return where the last whole sentence of a text that is cut off ends; 0 where none does.

    The last one may go on behind the cut. Sentences that end before `start` are not looked at.
    """
    ends = [sentence.end for sentence in sentences(text, start)]
    return ends[-2] if len(ends) > 1 else 0


def around(text: str, start: int, end: int) -> Span:
    """Return the sentence that holds a span, or all the sentences that it reaches over."""
    over = [
        sentence for sentence in sentences(text) if sentence.end > start and sentence.start < end
    ]
    return Span(over[0].start, over[-1].end) if over else Span(start, end)


def is_shortened(text: str, *, always: bool = False) -> bool:
    """Say whether a text ends in the full stop of a short form or an initial.

    With `always`, of one that something always follows: "Dr." is, "Inc." may end a sentence.
    """
    match = _WORD_BEFORE.search(text[-_ABOVE:])
    if match is None:
        return False
    word = match[1].lower()
    known = len(word) == 1 or word in _NEVER or word in _BEFORE_NUMBERS
    return known or (not always and (word in _OFTEN or "." in word))


def _ends(text: str, begin: int, match: re.Match[str], stop: int) -> bool:
    """Say whether a sentence that began at `begin` ends where a mark, a line or an emoji stands."""
    at = match.end()
    if match["line"]:
        return not _is_wrapped(text, begin, match.start(), at)
    if match["mark"] is None or at >= stop:
        return True
    if at - begin < _SPAN_CHARS and text.count("`", begin, match.start()) % 2:
        return False
    if _GOES_ON.match(text, at, stop):
        return False
    word = _NEXT.match(text, at, stop)["word"] or ""  # type: ignore[index]  # it always matches
    if word[:1].islower() and "\n" not in text[at : at + 2]:
        dots = match["mark"] == "…" or (len(match["mark"]) > 1 and "." in match["mark"])
        if (match["closed"] or dots) and word.split("'")[0] not in ("i", "my", "we", "im"):
            return False
    if match["mark"] != ".":
        return True
    return not _is_short(text, begin, match.start() + 1, word)


def _is_short(text: str, begin: int, at: int, following: str) -> bool:
    """Say whether a full stop belongs to the short form or the number before it."""
    if _NUMBERED.match(text[begin:at] if at - begin < _ABOVE else ""):
        return True  # "1. Bitcoin"
    match = _WORD_BEFORE.search(text[max(begin, at - _ABOVE) : at])
    if match is None:
        return False
    word = match[1].lower()
    if word in _NEVER:
        return True
    if word in _OFTEN:
        return not opens_sentences(following.lower()) or following[:1].islower()
    if word in _BEFORE_NUMBERS and (len(word) > 1 or following[:1].isdigit()):
        return following[:1].isdigit() or (word in MONTHS and following[:1].islower())
    if "." in word:
        return not following[:1].isupper() or not opens_sentences(following.lower())
    if len(word) > 1:
        return False
    before = text[max(begin, at - _ABOVE - 10) : at - 2].split()
    return not (match[1] == "I" or (before and before[-1].lower() in _LETTERED))


def _is_wrapped(text: str, begin: int, at: int, following: int) -> bool:
    line = text[max(begin, text.rfind("\n", begin, at) + 1) : at]
    return text[following : following + 1].islower() and is_wrapped(line, text[following])


def _trimmed(text: str, start: int, end: int) -> Iterator[Span]:
    while start < end and (text[start].isspace() or text[start] == LINE_END):
        start += 1
    while start < end and (text[end - 1].isspace() or text[end - 1] == LINE_END):
        end -= 1
    if text[start:end].strip(_EMPTY):
        yield Span(start, end)
