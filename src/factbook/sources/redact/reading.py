"""Read quoted and bare values where they stand, in text that may be escaped any number of times.

A command inside JSON inside JSON has backslashes before its quotes. What opens a value is a quote
with the backslashes before it, and the same number of them closes it: more are a quote inside the
value, fewer are the end of the string around it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

__all__ = ["MAX_VALUE", "Value", "line_end", "read_bare", "read_quoted", "run_on"]

MAX_VALUE: Final = 512
"""Characters of a value that are looked at; a longer secret is followed to its end."""

_LONGEST_QUOTE: Final = 4096  # a quote that is not closed within this is taken for an unclosed one
_MOST_ESCAPES: Final = 64  # escaped quotes inside one value

_OPENING: Final = re.compile(
    r"(\\{0,15})(\"\"\"|'''|\"\"|''|``(?!`)|[\"'`](?!``)|&quot;|&apos;|&#3[49];|[“”„‘’‚«])"
)
_CLOSING: Final = {"“": "”", "„": "”", "‘": "’", "‚": "’", "«": "»"}

_BARE: Final = re.compile(r"[^\s\"'`<>\\]+")
_WHOLE: Final = re.compile(r"\S+")
_RUN: Final = re.compile(r"[^\s\"'`<>\\]*")
_ESCAPED_BREAK: Final = re.compile(r"\\+(?:[nrt]|u00[01])")
# Where a bare value ends although no blank follows: the next setting, the next command.
_NEXT: Final = re.compile(
    r"""(?x)
      ;(?=\s*[A-Za-z_][\w .]{0,40}=) | ;$ | ;(?=\\)
    | &(?:quot|apos|lt|gt|\#\d+|\#x[0-9a-fA-F]+);
    | &(?:amp;)?(?=[\w.\[\]%-]{1,60}=) | && | \|\| | &$
    | ,(?=["'\\]|$) | ,(?=[\w.-]{1,40}["']?\s?[=:]) | \|$
    """
)
_MARK: Final = re.compile(r"[;&|,]")  # without one of them there is nothing for _NEXT to find
_BRACKET: Final = re.compile(r"[()\[\]{}]")
_BRACKETS: Final = {")": "(", "]": "[", "}": "{"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Value:
    """One value in its text."""

    start: int  # first character of the value itself
    end: int  # behind its last character
    quote: str  # what it was quoted with; empty for a bare one
    after: int  # where reading goes on: behind the closing quote


def read_quoted(text: str, pos: int, *, within: int = _LONGEST_QUOTE) -> Value | None:
    """Read the quoted value whose quote (with its backslashes) begins at `pos`.

    A value that is not closed in its line, or within so many characters, was cut: it ends there.
    """
    opened = _OPENING.match(text, pos)
    if opened is None:
        return None
    slashes, quote = len(opened[1]), opened[2]
    start = opened.end()
    if len(quote) == 2 and quote[0] == quote[1]:  # an empty string
        return Value(start=start - 1, end=start - 1, quote=quote[0], after=start)
    limit = min(len(text), start + within)
    if len(quote) == 1:
        limit = line_end(text, start, limit)
    closing = _CLOSING.get(quote, quote)
    at = start
    for _ in range(_MOST_ESCAPES):
        close = text.find(closing, at, limit)
        if close < 0:
            break
        before = close
        while before > start and text[before - 1] == "\\":
            before -= 1
        count = close - before
        after = close + len(closing)
        if slashes == 0 and count % 2 == 0:
            return Value(start=start, end=close, quote=quote, after=after)
        if slashes and count <= slashes:  # the backslashes before it belong to the quote
            return Value(start=start, end=before, quote=quote, after=after)
        at = after
    return Value(start=start, end=limit, quote=quote, after=limit)


def read_bare(text: str, pos: int, *, whole: bool) -> Value | None:
    """Read the bare value at `pos`.

    `whole`: the value is alone in its line, as in an .env file, so quotes and brackets belong to
    it. Otherwise they end it, and so does what begins the next setting.
    """
    found = (_WHOLE if whole else _BARE).match(text, pos, pos + MAX_VALUE)
    if found is None:
        return None
    value = found[0]
    if "\\" in value:
        value = _ESCAPED_BREAK.split(value, 1)[0]
    if _MARK.search(value) is not None:
        value = _NEXT.split(value, 1)[0]
    if not whole:
        value = value[: _balanced(value)]
    value = value.rstrip(";," if whole else ".,;:")
    if not value:
        return None
    return Value(start=pos, end=pos + len(value), quote="", after=pos + len(value))


def run_on(text: str, end: int) -> int:
    """Follow a secret that is longer than what was looked at to its real end."""
    rest = _RUN.match(text, end)
    return rest.end() if rest is not None else end


def line_end(text: str, pos: int, limit: int) -> int:
    """Find the end of the line at `pos`, at most `limit`."""
    end = text.find("\n", pos, limit)
    return end if end >= 0 else min(limit, len(text))


def _balanced(value: str) -> int:
    """Find where a bracket closes that was opened before the value."""
    depth = dict.fromkeys(_BRACKETS.values(), 0)
    for bracket in _BRACKET.finditer(value):
        opened = _BRACKETS.get(bracket[0])
        if opened is None:
            depth[bracket[0]] += 1
        elif depth[opened] == 0:
            return bracket.start()
        else:
            depth[opened] -= 1
    return len(value)
