"""Tell the line breaks that end something from those that are there because a line was full.

In doubt a line stays one of its own, which costs a sentence at most; two lines that are joined
wrongly would make one up.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Final

from factbook.language.common_words import is_everyday, is_function_word
from factbook.language.sentences import is_shortened
from factbook.net import cancel

WIDEST: Final = 120  # ours: nobody wraps wider; text beyond is not wrapped at all
NARROWEST: Final = 30  # ours: a shorter line is not taken to be full

_LINE: Final = re.compile(r"(?P<margin>[ \t]*(?:>[ \t]?)*)(?P<said>[^\n]*?)[ \t\r]*(?:\n|\Z)")
_FENCE: Final = re.compile(r"```|~~~")
_ITEM: Final = re.compile(r"(?:[-*+•‣▪·–✓✔✗✘]|\(?\d{1,3}[.)]|\(?[a-zA-Z]\))[ \t]+")
_BLOCK: Final = re.compile(
    r"#{1,6}[ \t]|\||[-*_=─━═—]{3,}[ \t]*$|</?\w|\[\^?\w{1,20}\]:[ \t]|[^\n]*(?:\t| \| )"
)
_PAIR: Final = re.compile(r"[*_]{0,2}[^\W\d_][^\n:.!?]{0,60}:[*_]{0,2}(?:\s|$)")
_CLOSED: Final = re.compile(r"[.!?…:。][\"'”’)\]*_`]*$")
_OPEN: Final = ",;&(-–—/"  # nothing ends in these
_AROUND: Final = "\"'“”‘’()[]*_`.,;:!?"


@lru_cache(maxsize=32)
def unwrapped(text: str, *, begin: int = 0) -> str:
    """Return a text of the same length with a blank for every break inside a sentence.

    What is not a sentence that goes on keeps its break. Marks of quotation at the beginning of a
    joined line are blanks too; behind a hyphen the break is `\\0`, which stands for nothing.
    Breaks before `begin` stay as they are: a title is a line of its own.
    """
    lines = list(_LINE.finditer(text, begin))
    widest = max((width for line in lines if (width := _width(line)) <= WIDEST), default=0)
    parts, done = [], 0
    for above, below in _breaks(lines):
        if _goes_on(above, below, widest):
            end, start = above.end("said"), below.start("said")
            hyphen = re.search(r"[^\W\d_]-$", above["said"])
            parts += [text[done:end], ("\0" if hyphen else " ") * (start - end)]
            done = start
    return "".join([*parts, text[done:]])


def _breaks(lines: Sequence[re.Match[str]]) -> Iterator[tuple[re.Match[str], re.Match[str]]]:
    """Yield the pairs of lines between which a paragraph may go on."""
    fenced = False
    for above, below in pairwise(lines):
        cancel.check()
        said, following = above["said"], below["said"]
        fence = _FENCE.match(said)
        fenced ^= fence is not None
        own = _ITEM.match(following) or _BLOCK.match(following) or _PAIR.match(following)
        blank = not said.strip() or not following.strip()
        ends = fenced or fence or own or blank or _BLOCK.match(said)
        quoted = above["margin"].count(">") == below["margin"].count(">")
        if quoted and not ends and not said.endswith("\\") and not _FENCE.match(following):
            yield above, below


def _goes_on(above: re.Match[str], below: re.Match[str], widest: int) -> bool:
    said, word = above["said"], below["said"].split(maxsplit=1)[0]
    if _CLOSED.search(said) and not is_shortened(said, always=True):
        return False
    last = said.rsplit(maxsplit=1)[-1]
    if last[-1] in _OPEN or is_function_word(last.lower()):
        return True
    if len(said) < NARROWEST or _width(above) > WIDEST:
        return False
    full = _width(above) + 1 + len(word) > widest
    named = last[0].isupper() or not is_everyday(word.strip(_AROUND).lower())
    return word[0].islower() or (full and (named or not word[0].isupper()))


def _width(line: re.Match[str]) -> int:
    return len(line["margin"] + line["said"])
