"""Read a text as it is meant where its letters are written in other ways.

A name may be escaped (`p\\u0061ssword`, `p%61ssword`), hold letters that show nothing (a zero-width
blank, a soft hyphen) or be set in full width. Such a text is searched a second time, with the plain
letters in their place, and what is found stands where the text has it.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from typing import Final

from factbook.redaction.spans import Span

__all__ = ["Spelled", "spelled"]

_UNSEEN: Final = "\u00ad\u200b-\u200d\u2060\ufeff"
_WIDE: Final = "\uff01-\uff5e"
_TO_ASCII: Final = 0xFEE0  # from a letter of full width
# One of these is in every name that is written so; looking for each is faster than for any.
_ODD_LETTERS: Final = "\u00ad\u200b\u200c\u200d\u2060\ufeffｓｋｗｎＳＫＷＮ"
_ESCAPES: Final = ("%4", "%5", "%6", "%7")
# Letters, `=`, `-` and `_`: what a name and its joint are made of. Of an address only letters are
# looked at, which nobody escapes without a reason.
_LETTER: Final = r"[46][1-9a-fA-F]|[57][0-9aA]|5[fF]"
_CODE: Final = rf"(?:2[dD]|3[dD]|{_LETTER})"
_SPELLED: Final = re.compile(
    rf"\\+u00(?P<escaped>{_CODE})|%(?P<percent>{_LETTER})|(?P<unseen>[{_UNSEEN}]+)|(?P<wide>[{_WIDE}])"
)


class Spelled:
    """A text in plain letters, and where its pieces stand in the text before."""

    def __init__(self, text: str, matches: Iterable[re.Match[str]]) -> None:
        """Take a text, and what in it stands for other letters."""
        pieces: list[str] = []
        self._places: Final[list[int]] = [0]  # where the pieces begin here
        self._before: Final[list[int]] = [0]  # and there
        done = size = 0
        for match in matches:
            code = match["escaped"] or match["percent"]
            wide = match["wide"]
            plain = chr(int(code, 16)) if code else chr(ord(wide) - _TO_ASCII) if wide else ""
            pieces += (text[done : match.start()], plain)
            size += match.start() - done
            self._places.append(size)
            self._before.append(match.start())
            size += len(plain)
            done = match.end()
            self._places.append(size)
            self._before.append(done)
        self.text: Final = "".join((*pieces, text[done:]))

    def mapped_back(self, spans: Iterable[Span]) -> Iterator[Span]:
        """Turn places here into places of the text before."""
        for start, end, kind in spans:
            yield self._place(start), self._place(end), kind

    def _place(self, at: int) -> int:
        piece = bisect_right(self._places, at) - 1
        return self._before[piece] + at - self._places[piece]


def spelled(text: str) -> Spelled | None:
    """Write a text in plain letters; None where it is."""
    odd = "\\u00" in text or ("%" in text and any(mark in text for mark in _ESCAPES))
    if not odd and (text.isascii() or not any(letter in text for letter in _ODD_LETTERS)):
        return None
    matches = list(_SPELLED.finditer(text))
    return Spelled(text, matches) if matches else None
