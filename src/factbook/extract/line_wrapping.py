"""Join the lines of a sentence that plain text breaks where a line is full.

A break counts as a blank only where the sentence goes on beyond doubt: with no capital, or behind a
word of grammar or a comma. All else stays a line of its own, which costs a sentence at most; two
lines that are joined wrongly would make one up.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from factbook.language.common_words import is_function_word
from factbook.net import cancel

__all__ = ["unwrapped"]

FULL_CHARS: Final = 30  # ours: a shorter line is not taken to be full

_BREAK: Final = re.compile(r"(?<=[^\s.!?…:。|>])[ \t]*\n[ \t]{0,3}(?:>[ \t]?)*(?=[^\W_])")
_LAST: Final = re.compile(r"[^\W_]+(?:['’][^\W_]+)?$")
_OWN_LINE: Final = re.compile(  # of what begins a line of its own
    r"[a-z]?\d{0,3}[.)][ \t]|[^\W\d_][^\n:.]{0,40}:(?:\s|$)"
)
_BLOCK: Final = re.compile(r"[ \t>]*(?:#{1,6}[ \t]|\||```|~~~)")


@lru_cache(maxsize=32)
def unwrapped(text: str, *, begin: int = 0) -> str:
    """Return a text of the same length with a blank for every break inside a sentence.

    Marks of quotation at the beginning of a joined line are blanks too; behind a hyphen the break
    is `\\0`, which stands for nothing. Breaks before `begin` stay as they are: a title is a line of
    its own.
    """
    parts: list[str] = []
    done = 0
    for match in _BREAK.finditer(text, begin):
        cancel.check()
        start, end = match.span()
        above = text[max(text.rfind("\n", 0, start) + 1, start - FULL_CHARS * 4) : start]
        if len(above) < FULL_CHARS or _BLOCK.match(above) or _OWN_LINE.match(text, end):
            continue
        last = _LAST.search(above)
        open_ended = last is not None and is_function_word(last[0].lower())
        if not text[end].isupper() or open_ended or above[-1] in ",;&(":
            hyphen = above[-1] == "-" and above[-2].isalpha()
            parts += [text[done:start], ("\0" if hyphen else " ") * (end - start)]
            done = end
    return "".join([*parts, text[done:]])
