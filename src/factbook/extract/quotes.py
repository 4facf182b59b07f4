"""Find where a quote of a model stands in a text: the one test of whether it was copied."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

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


def words_in(text: str, words: str, start: int, end: int) -> tuple[int, int] | None:
    """Return where a part of a text holds these words as whole words, in whatever case."""
    match = whole_words(words).search(text, start, end) if words.split() else None
    return match.span() if match else None


@lru_cache(maxsize=512)
def whole_words(words: str) -> re.Pattern[str]:
    """Return what finds these words as whole words, in whatever case, with or without hyphens."""
    joined = r"[\s\-‐‑–_]+".join(map(re.escape, words.split()))
    return re.compile(rf"(?<!\w){joined}(?!\w)", re.IGNORECASE)
