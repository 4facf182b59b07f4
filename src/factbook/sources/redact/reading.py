"""Read quoted and bare values where they stand, in text that may be escaped any number of times.

A command inside JSON inside JSON has its quotes written as `\\\\\\"`. What opens a value is a quote
with the backslashes before it, and the same number of backslashes closes it: more of them are a
quote inside the value, fewer are the end of the string around it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

__all__ = ["OPEN_QUOTE", "Value", "read_bare", "read_quoted"]

MAX_VALUE: Final = 4096
"""Characters of a value that are looked at; a longer secret is followed to its end."""

OPEN_QUOTE: Final = re.compile(r"""(\\*)(["'`]{1,3}|&quot;|&apos;|&\#39;|[“”„‘’‚«])""".replace(r"\#", "#"))
_CLOSERS: Final = {"“": "”", "”": "”", "„": "“”", "‘": "’", "’": "’", "‚": "‘’", "«": "»"}

_BARE: Final = re.compile(r"""[^\s"'`<>\\]+""")
_WHOLE: Final = re.compile(r"\S+")
_RUN: Final = re.compile(r"[^\s\"'`<>\\]*")
_ESCAPED_BREAK: Final = re.compile(r"\\+(?:[nrt]|u00[01])")
# Where a bare value ends although no blank follows: the next setting, the next command.
_NEXT: Final = re.compile(
    r"""(?x)
      ;(?=\s*[A-Za-z_][\w .]{0,40}=) | ;$ | ;(?=[\s\\])
    | &(?:amp;)?(?=[\w.\[\]%-]{1,60}=) | && | \|\| | &$
    | ,(?=["'\\]|$) | ,(?=[\w.-]{1,40}["']?\s?[=:]) | \|$ | \|(?=[a-z]+\s)
    """
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Value:
    """One value in its text."""

    start: int  # first character of the value itself
    end: int  # behind its last character
    quote: str  # what it was quoted with; empty for a bare one
    after: int  # where reading goes on: behind the closing quote


def read_quoted(text: str, pos: int) -> Value | None:
    """Read the quoted value whose quote (with its backslashes) begins at `pos`.

    A value that is not closed in its line was cut: it ends with the line.
    """
    opened = OPEN_QUOTE.match(text, pos, pos + 24)
    if opened is None:
        return None
    slashes, quote = len(opened[1]), opened[2]
    start = opened.end()
    if quote[0] in "\"'`" and len(quote) == 2:  # an empty string
        return Value(start=start - 1, end=start - 1, quote=quote[0], after=start)
    limit = min(len(text), start + MAX_VALUE)
    line = text.find("\n", start, limit)
    if len(quote) == 3:
        close = text.find(quote, start, limit)
        end = close if close >= 0 else limit
        return Value(start=start, end=end, quote=quote, after=min(len(text), end + 3))
    if line >= 0:
        limit = line
    closers = _CLOSERS.get(quote, quote)
    if len(quote) > 1:  # an entity
        close = text.find(quote, start, limit)
        end = close if close >= 0 else limit
        return Value(start=start, end=end, quote=quote, after=min(len(text), end + len(quote)))
    at = start
    while True:
        close = min((i for i in (text.find(c, at, limit) for c in closers) if i >= 0), default=-1)
        if close < 0:
            return Value(start=start, end=limit, quote=quote, after=limit)
        before = close
        while before > start and text[before - 1] == "\\":
            before -= 1
        count = close - before
        if count == slashes or (slashes == 0 and count % 2 == 0) or quote == "'" and slashes == 0:
            # The backslashes of the closing quote are not part of the value.
            end = close - slashes if slashes else close
            return Value(start=start, end=end, quote=quote, after=close + 1)
        if slashes and count < slashes:
            return Value(start=start, end=close - count, quote=quote, after=close)
        at = close + 1


def read_bare(text: str, pos: int, *, whole: bool) -> Value | None:
    """Read the bare value at `pos`.

    `whole`: the value is alone in its line, as in an .env file, so quotes, brackets and backslashes
    belong to it. Otherwise they end it, and so does what begins the next setting.
    """
    found = (_WHOLE if whole else _BARE).match(text, pos, pos + MAX_VALUE)
    if found is None:
        return None
    start, end = found.span()
    value = found[0]
    broken = _ESCAPED_BREAK.search(value) if whole else None
    if broken is not None:
        end = start + broken.start()
        value = value[: broken.start()]
    cut = _NEXT.search(value)
    if cut is not None:
        end = start + cut.start()
        value = value[: cut.start()]
    if not whole:
        end = start + _balanced(value)
    while end > start and (text[end - 1] in ".,;:" or (text[end - 1] in "\"'`" and whole)):
        end -= 1
    if end <= start:
        return None
    return Value(start=start, end=end, quote="", after=found.end())


def run_on(text: str, end: int) -> int:
    """Follow a secret that is longer than what was looked at to its real end."""
    rest = _RUN.match(text, end)
    return rest.end() if rest is not None else end


_PAIRS: Final = {")": "(", "]": "[", "}": "{"}


def _balanced(value: str) -> int:
    """Find where a closing bracket ends a value that was opened before it."""
    if not any(c in value for c in ")]}"):
        return len(value)
    depth = {"(": 0, "[": 0, "{": 0}
    for i, c in enumerate(value):
        if c in depth:
            depth[c] += 1
        elif c in _PAIRS:
            depth[_PAIRS[c]] -= 1
            if depth[_PAIRS[c]] < 0:
                return i
    return len(value)
