"""Take a list apart as people say or write it: "Spain, Greece and Thailand" is three.

A name that holds an "and" is one item in quotes. Every item is a span of the text, so that what is
stored can be shown where it was said.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from factbook.language.sentences import is_shortened

QUOTES: Final = dict(zip('"“„«「『`‘', '"”“»」』`’', strict=True))
"""Signs that open a quote, each with the one that closes it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SpokenItem:
    """One item of a list as it was said, by its place in the text."""

    start: int
    end: int
    rank: int | None = None  # the number that stands before it


_COMMAS: Final = ",;،、，；|"
_COMMA: Final = re.compile(r"(?<!\d)[,;،、，；|]|[,;،、，；|](?!\d)")
_AND: Final = re.compile(r"\s+(?:and\s+also|and|plus|as\s+well\s+as)\s+", re.IGNORECASE)
_LAST_AND: Final = re.compile(
    r"\s+(?:and\s+also|and\s+then|and|plus|as\s+well\s+as|or|then)\s+|\s*&\s*", re.IGNORECASE
)
_AMPERSAND: Final = re.compile(r"\s*&\s*|\s+\+\s+")
_LEAD: Final = re.compile(
    r"(?:(?:and|or|then|plus|also|finally|lastly|&|followed\s+by)\s+)+", re.IGNORECASE
)
_LINE_SIGN: Final = re.compile(r"\s*(?:[-*•–—·▪◦‣]|\(?(\d{1,4})[.):]|#(\d{1,4})[:.)]?)\s+")
_INLINE_SIGN: Final = re.compile(r"(?:(?<=[\s,;])|^)(?:\(?(\d{1,3})[.)]|#(\d{1,3})[:.)]?)\s+(?=\S)")
_QUOTED: Final = re.compile(r"\"[^\"\n]+\"|“[^”\n]+”|«[^»\n]+»|「[^」\n]+」|\([^()\n]+\)")


def spoken_items(text: str) -> list[SpokenItem]:
    """Return the items of a list as it is spoken or written, in their order.

    Lines, bullets, numbers, commas and a last "and" part items. Without any comma "Spain and
    Greece" is two: what is one name ("rock & roll") is joined by `&`, or stands in quotes. Whoever
    reads "my favorite band is ..." expects one value and does not ask here.
    """
    lines = [match for match in re.finditer(r"[^\n\r]+", text) if match[0].strip()]
    if len(lines) > 1 or (lines and _LINE_SIGN.match(lines[0][0])):
        inline = _inline(text, 0, len(text)) if len(lines) == 1 else []
        if inline:
            return inline
        items: list[SpokenItem] = []
        for line in lines:
            sign = _LINE_SIGN.match(line[0])
            if sign:
                number = sign[1] or sign[2]
                rank = int(number) if number else None
                items += _item(text, line.start() + sign.end(), line.end(), rank)
            else:
                items += _parted(text, line.start(), line.end())
        return items
    return _inline(text, 0, len(text)) or _parted(text, 0, len(text))


def split_spoken_list(text: str) -> list[str]:
    """Return the values of a spoken list: "Spain, Greece and Thailand" is three."""
    return [text[item.start : item.end] for item in spoken_items(text)]


def _inline(text: str, start: int, end: int) -> list[SpokenItem]:
    """Return the items of "1. Dune 2. Alien 3. Heat"; nothing where the numbers do not count up."""
    signs = list(_INLINE_SIGN.finditer(text, start, end))
    numbers = [int(sign[1] or sign[2]) for sign in signs]
    if len(signs) < 2 or text[start : signs[0].start()].strip():
        return []
    if numbers != list(range(numbers[0], numbers[0] + len(numbers))):
        return []
    ends = [sign.start() for sign in signs[1:]] + [end]
    items: list[SpokenItem] = []
    for sign, until, number in zip(signs, ends, numbers, strict=True):
        piece = re.sub(r"(?i)(?:[\s,;]|\s+and)+$", "", text[sign.end() : until])
        items += _item(text, sign.end(), sign.end() + len(piece), number)
    return items


def _parted(text: str, start: int, end: int) -> list[SpokenItem]:
    """Return the items of one line without signs."""
    masked = _mask(text)
    cuts = [match.span() for match in _COMMA.finditer(masked, start, end)]
    pieces = _between(start, end, cuts)
    if cuts:
        filled = [index for index, piece in enumerate(pieces) if _solid(text, piece)]
        last = filled[-1] if filled else 0
        begin, until = pieces[last]
        led = _LEAD.match(masked, _skip(masked, begin, until), until)
        if not led:
            ands = list(_LAST_AND.finditer(masked, begin, until))
            if ands:
                pieces[last : last + 1] = _between(begin, until, [ands[-1].span()])
    else:
        ands = list(_AND.finditer(masked, start, end))
        if not ands:
            signs = list(_AMPERSAND.finditer(masked, start, end))
            ands = signs if len(signs) > 1 else []
        pieces = _between(start, end, [match.span() for match in ands])
    items: list[SpokenItem] = []
    for begin, until in pieces:
        begin = _skip(masked, begin, until)
        led = _LEAD.match(masked, begin, until)
        items += _item(text, led.end() if led else begin, until, None)
    return items


def _mask(text: str) -> str:
    """Return a text of the same length in which quotes hold no separator."""
    return _QUOTED.sub(lambda match: "_" * len(match[0]), text)


def _between(start: int, end: int, cuts: list[tuple[int, int]]) -> list[tuple[int, int]]:
    pieces = []
    for begin, until in cuts:
        pieces.append((start, begin))
        start = until
    return [*pieces, (start, end)]


def _solid(text: str, piece: tuple[int, int]) -> bool:
    return bool(text[piece[0] : piece[1]].strip())


def _skip(text: str, start: int, end: int) -> int:
    while start < end and text[start].isspace():
        start += 1
    return start


def _is_margin(char: str) -> bool:
    return char.isspace() or char in _COMMAS or char == ":"


def _item(text: str, start: int, end: int, rank: int | None) -> list[SpokenItem]:
    while True:
        while start < end and _is_margin(text[start]):
            start += 1
        while end > start and _is_margin(text[end - 1]):
            end -= 1
        piece = text[start:end]
        closing = QUOTES.get(piece[:1])
        if piece.endswith(".") and not is_shortened(piece):
            end -= 1
        elif closing and len(piece) > 2 and piece[-1] == closing and closing not in piece[1:-1]:
            start, end = start + 1, end - 1
        else:
            break
    return [SpokenItem(start=start, end=end, rank=rank)] if start < end else []
