"""What can be told of a text by looking at it, for every part of factbook that asks."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

_ASKS: Final = re.compile(r"""[?？؟][?!]*(?=["'”’)\]]*(?:\s|$))""")


def asks(text: str) -> bool:
    """Say whether a text holds a question, as its question marks tell it.

    A mark counts at the end of a word: `?` inside an address or a pattern asks nothing.
    """
    # Most texts hold no such mark at all, which is told at once.
    marked = "?" in text or (not text.isascii() and ("？" in text or "؟" in text))
    return marked and _ASKS.search(text) is not None


def stands_at(quote: str, text: str, start: int, end: int) -> bool:
    """Say whether a quote is the whole of a span of a text, from its first character to its last.

    A text may go on as another one begins: where only the beginning is compared, a span of the
    longer one could end behind the shorter one.
    """
    return 0 <= start < end == start + len(quote) and text.startswith(quote, start)


def shorten(text: str, limit: int) -> str:
    """Return a text on one line, cut at a word where it is longer than `limit` characters."""
    if len(text) > 4 * limit:
        text = text[: 4 * limit] + " …"  # white space of a huge text need not be looked at
    text = " ".join(text.split())
    if len(text) <= limit:
        return text
    cut = text[: limit - 1]
    space = cut.rfind(" ")
    # A text without spaces (Chinese, a long token) has no word to be cut at.
    return (cut[:space] if space > limit // 2 else cut).rstrip(" ,;:") + "…"


def listed(items: Sequence[str], most: int, count: int = 0) -> str:
    """Return the first items in one line, and how many more there are of them, or of `count`."""
    more = max(count, len(items)) - min(most, len(items))
    return ", ".join(items[:most]) + (f" and {more} more" if more > 0 else "")


def file_names(paths: Iterable[str], most: int, count: int = 0) -> str:
    """Return the names of the first files of some paths, each once, as `listed` does."""
    return listed(list(dict.fromkeys(map(file_name, paths))), most, count)


def file_name(path: str) -> str:
    """Return the last part of a path of any system."""
    return re.split(r"[/\\]", path)[-1]


def strings(value: object, *, besides: frozenset[str] = frozenset()) -> list[str]:
    """Return the strings inside JSON data, but for those under these names."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return [
            text
            for name, inner in value.items()
            if name not in besides or not isinstance(inner, str)
            for text in strings(inner, besides=besides)
        ]
    if isinstance(value, list):
        return [text for item in value for text in strings(item, besides=besides)]
    return []
