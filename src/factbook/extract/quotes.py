"""Find where a quote of a model stands in a text: the one test of whether it was copied."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from factbook.extract.base import finds


def places(text: str, quote: str) -> Iterator[tuple[int, int]]:
    """Yield where a quote stands: letter by letter, else with other blanks between its words.

    One of blanks or signs alone stands nowhere.
    """
    words = quote.split()
    if not any(map(str.isalnum, quote)) or sum(map(len, words)) > len(text):
        return
    exact = quote.strip()
    for at in finds(text, exact):
        yield at, at + len(exact)
    if len(words) > 1:
        for match in re.finditer(r"\s+".join(map(re.escape, words)), text):
            yield match.span()


def said_places(text: str, quote: str) -> Iterator[tuple[int, int]]:
    """Yield where a quote of what somebody said stands: as it is, else as it is read.

    Case, the form of apostrophes, quotation marks and dashes, and the signs around the quote are
    how a model writes, and no words.
    """
    found = False
    for place in places(text, quote):
        found = True
        yield place
    if not found:
        yield from places(_as_read(text), _as_read(quote).strip(_AROUND))


_AROUND: Final = " \t\n.,;:!?\"'"
_SIGNS: Final = str.maketrans(
    dict.fromkeys("’‘ʼ`´‚", "'") | dict.fromkeys("“”„«»", '"') | dict.fromkeys("‐‑‒–—―−", "-")
    | {"…": "."}
)  # fmt: skip


def _as_read(text: str) -> str:
    """Return a text in lower case with plain signs, of the same length."""
    return "".join(low if len(low := char.lower()) == 1 else char for char in text).translate(
        _SIGNS
    )


def words_in(text: str, words: str, start: int, end: int) -> tuple[int, int] | None:
    """Return where a part of a text holds these words as whole words, in whatever case."""
    match = whole_words(words).search(text, start, end) if words.split() else None
    return match.span() if match else None


@lru_cache(maxsize=512)
def whole_words(words: str) -> re.Pattern[str]:
    """Return what finds these words as whole words, in whatever case, with or without hyphens."""
    joined = r"[\s\-‐‑–_]+".join(map(re.escape, words.split()))
    return re.compile(rf"(?<!\w){joined}(?!\w)", re.IGNORECASE)
