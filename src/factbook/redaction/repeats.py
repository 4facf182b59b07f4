"""Find what was recognised as a secret again where nothing announces it, in the same text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import re2

from factbook.redaction.spans import Span
from factbook.redaction.values import is_called, is_path, is_stand_in, is_wordy

SHORTEST: Final = 8
_LETTERS: Final = 5  # different ones; of fewer is a rule, which may go on through a whole text
LONGEST: Final = 256  # longer ones are keys with a shape of their own
_MOST: Final = 512  # different secrets of one text that are looked for at once
_AUTOMATON_BYTES: Final = 64 << 20
_MARK: Final = re.compile(r"[^\w\-./ ]")
_ESCAPE: Final = re.compile(r"(?:\\[nrt]|%[0-9A-Fa-f]{2}|\x1b\[[0-9;]*m)\Z")
_ESCAPE_CHARS: Final = 12
_SPECIAL: Final = re.compile(rb"([^A-Za-z0-9_])")


def repeats(text: str, spans: Sequence[Span]) -> Iterator[Span]:
    """Give the further places of the secrets in `spans` whose look no other word has."""
    kinds: dict[str, str] = {}
    for start, end, kind in spans:
        if SHORTEST <= end - start <= LONGEST and len(kinds) < _MOST:
            word = text[start:end]
            if word not in kinds and is_distinct(word):
                kinds[word] = kind
    # Nearly always the secrets stand once, which costs one look for each.
    wanted = {w: kind for w, kind in kinds.items() if text.find(w, text.find(w) + 1) >= 0}
    known = {start for start, _, _ in spans}
    return (span for span in places(text, wanted) if span[0] not in known)


def places(text: str, kinds: Mapping[str, str]) -> Iterator[Span]:
    """Give where words stand by themselves, and their kinds."""
    words = sorted(kinds, key=len, reverse=True)  # of two that begin alike the longer is meant
    for at in range(0, len(words), _MOST):
        yield from _places(text, words[at : at + _MOST], kinds)


def _places(text: str, words: Sequence[str], kinds: Mapping[str, str]) -> Iterator[Span]:
    options = re2.Options()
    options.encoding = re2.Options.Encoding.LATIN1
    options.max_mem = _AUTOMATON_BYTES
    pattern = b"|".join(_SPECIAL.sub(rb"\\\1", w.encode("ascii", "replace")) for w in words)
    for hit in re2.compile(pattern, options).finditer(text.encode("ascii", "replace")):
        start, end = hit.span()
        kind = kinds.get(text[start:end])
        inside = (start > 0 and _joins(text[start - 1]) and not _escaped(text, start)) or (
            end < len(text) and _joins(text[end])
        )
        if kind is not None and not inside:
            yield start, end, kind


def _joins(sign: str) -> bool:
    """Tell whether a sign beside a secret makes it a part of a word: not another script."""
    return sign.isascii() and sign.isalnum()


def _escaped(text: str, start: int) -> bool:
    """Tell whether the letter before a place ends what stands for a mark: a line break in JSON."""
    return _ESCAPE.search(text, max(0, start - _ESCAPE_CHARS), start) is not None


def is_distinct(word: str) -> bool:
    """Tell whether a secret looks like no word, path or number, so that it is one everywhere."""
    digits = any(map(str.isdigit, word))
    letters = any(map(str.isalpha, word))
    marks = _MARK.search(word) is not None
    capitals = word != word.upper() and word != word.lower()
    sorts = digits + letters + marks + capitals
    phrase = len(word) >= 16 and (word.count("-") >= 3 or word.count(".") >= 3)
    return (
        letters
        and len(set(word)) >= _LETTERS
        and (sorts >= 3 or (sorts >= 2 and not is_wordy(word)) or phrase)
        and not (sorts == 2 and capitals and is_called(word))
        and not is_path(word)
        and not is_stand_in(word)
        and word.split(None, 1) == [word]
    )
