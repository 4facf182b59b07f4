"""Read a text as it is meant where its letters are written in other ways.

A name may be escaped (`p\\u0061ssword`, `p%61ssword`), hold letters that show nothing (a zero-width
blank, a soft hyphen) or be set in full width. Such a text is searched a second time, with the plain
letters in their place, and what is found stands where the text has it.
"""

from __future__ import annotations

import re
from typing import Final

from factbook.redaction.spans import Rewritten, Span, rewritten

_UNSEEN: Final = "\u00ad\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff"
_WIDE: Final = "\uff01-\uff5e"
_TO_ASCII: Final = 0xFEE0  # from a letter of full width
_ODD_LETTER: Final = re.compile(f"[{_UNSEEN}{_WIDE}]")
_ESCAPES: Final = ("%4", "%5", "%6", "%7")
# Letters, `=`, `-` and `_`: what a name and its joint are made of. Of an address only letters are
# looked at, which nobody escapes without a reason.
_LETTER: Final = r"[46][1-9a-fA-F]|[57][0-9aA]|5[fF]"
_CODE: Final = rf"(?:2[dD]|3[dD]|{_LETTER})"
_SPELLED: Final = re.compile(
    rf"\\+u00(?P<escaped>{_CODE})|%(?P<percent>{_LETTER})|(?P<unseen>[{_UNSEEN}]+)|(?P<wide>[{_WIDE}])"
)


def spelled(text: str) -> tuple[list[Span], Rewritten] | None:
    """Write a text in plain letters: which of its parts they replace, and the text with them."""
    odd = "\\u00" in text or ("%" in text and any(mark in text for mark in _ESCAPES))
    if not odd and (text.isascii() or _ODD_LETTER.search(text) is None):
        return None
    plain = [(*match.span(), _plain(match)) for match in _SPELLED.finditer(text)]
    return (plain, rewritten(text, plain)) if plain else None


def _plain(match: re.Match[str]) -> str:
    """Give the letter that is meant; none for what shows nothing."""
    code = match["escaped"] or match["percent"]
    if code:
        return chr(int(code, 16))
    return chr(ord(match["wide"]) - _TO_ASCII) if match["wide"] else ""
