"""Find where a quote of a model stands in a text: the one test of whether it was copied."""

from __future__ import annotations

import re
from collections.abc import Iterator


def places(text: str, quote: str) -> Iterator[tuple[int, int]]:
    """Yield where a quote stands: letter by letter, else with other blanks between its words.

    One of blanks or signs alone stands nowhere.
    """
    words = quote.split()
    if not any(map(str.isalnum, quote)) or sum(map(len, words)) > len(text):
        return
    exact = quote.strip()
    at = text.find(exact)
    while at >= 0:
        yield at, at + len(exact)
        at = text.find(exact, at + 1)
    if len(words) > 1:
        for match in re.finditer(r"\s+".join(map(re.escape, words)), text):
            yield match.span()


def words_in(text: str, words: str, start: int, end: int) -> tuple[int, int] | None:
    """Return where a part of a text holds these words as whole words, in whatever case."""
    parts = words.split()
    if not parts:
        return None
    pattern = r"[\s\-‐‑–_]+".join(map(re.escape, parts))
    match = re.compile(rf"(?<!\w){pattern}(?!\w)", re.IGNORECASE).search(text, start, end)
    return match.span() if match else None
