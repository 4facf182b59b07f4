"""Read quoted and bare values where they stand, in text that may be escaped any number of times.

A command inside JSON inside JSON has backslashes before its quotes. What opens a value is a quote
with the backslashes before it, and the same number of them closes it: more are a quote inside the
value, fewer are the end of the string around it.
"""

from __future__ import annotations

import re
import sys
from typing import Final, NamedTuple

from factbook.redaction.lazy import Lazy

MAX_VALUE: Final = 512
"""Characters of a value that are looked at; a longer secret is followed to its end."""

_LONGEST_QUOTE: Final = 4096  # a quote that is not closed within this is taken for an unclosed one
_MOST_ESCAPES: Final = 64  # escaped quotes inside one value

# A shell writes a quote inside quotes by leaving them: 'it'\''s', 'it'"'"'s'. In a command that is
# itself quoted the same characters open and close a value: bash -c 'mysql -p'\''hunter2'\'''.
_LEFT: Final = r"'\\{1,15}''|'\\{0,15}\"'\\{0,15}\"'"
_REENTERED: Final = re.compile(_LEFT)
_OPENING: Final = re.compile(
    rf"({_LEFT})|(\\{{0,15}})(\"\"\"|'''|\"\"|''|``(?!`)|[\"'`](?!``)|&quot;|&apos;|&#3[49];|"
    r"[“”„‘’‚«])"
)
_OPENS: Final = frozenset("\\\"'`&“”„‘’‚«")
_CLOSING: Final = {"“": "”", "„": "”", "‘": "’", "‚": "’", "«": "»"}
_TO_CLOSE: Final = {  # without backslashes before the quote, those inside come in pairs
    quote: re.compile(rf"(?s:[^{quote}\\]++|\\.)*+{quote}") for quote in ('"', "`")
}
_TRIPLE: Final = ('"""', "'''")

_BARE: Final = re.compile(r"[^\s\"'`<>\\]+")
_WHOLE: Final = re.compile(r"\S+")
_FIELD: Final = re.compile(r"[^;\s\"'`\\]+")
_BRACED: Final = re.compile(r"\{[^{}\s\"'`\\]+\}(?=;|$|[\"'\s])")
_SHELL_WORD: Final = re.compile(r"(?:[^\s\"'`\\;&|<>()]|\\[^\s\"'\\nrtu0-9])+")
_RUN: Final = re.compile(r"[^\s\"'`<>\\]*")
_ESCAPED_END: Final = re.compile(r"\\+(?:[nrt\"]|u00[01])")
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
_CLOSES: Final = re.compile(r"[)\]}]")
_BRACKET: Final = re.compile(r"[()\[\]{}]")
_BRACKETS: Final = {")": "(", "]": "[", "}": "{"}


class Value(NamedTuple):
    """One value in its text; a tuple, because one is made at every name."""

    start: int  # first character of the value itself
    end: int  # behind its last character
    quote: str  # what it was quoted with; empty for a bare one
    after: int  # where reading goes on: behind the closing quote


def read_quoted(text: str, pos: int, *, within: int = _LONGEST_QUOTE) -> Value | None:
    """Read the quoted value whose quote (with its backslashes) begins at `pos`.

    A value that is not closed in its line, or within so many characters, was cut: it ends there.
    """
    opened = _OPENING.match(text, pos) if text[pos : pos + 1] in _OPENS else None
    if opened is None:
        return None
    slashes, quote = len(opened[2] or ""), opened[1] or opened[3]
    start = opened.end()
    if len(quote) == 2 and quote[0] == quote[1]:  # an empty string
        return Value(start=start - 1, end=start - 1, quote=quote[0], after=start)
    limit = min(len(text), start + within)
    if quote not in _TRIPLE:
        limit = line_end(text, start, limit)
    closing = _CLOSING.get(quote, quote)
    if not slashes and quote in _TO_CLOSE:
        closed = _TO_CLOSE[quote].match(text, start, limit)
        end = closed.end() - 1 if closed is not None else limit
        if closed is None or text.count(quote, start, end) >= _MOST_ESCAPES:
            return Value(start, limit, quote, limit)
        return Value(start, end, quote, end + 1)
    at = start
    doubtful: Value | None = None  # it ends here, unless its quote is one inside the value
    for _ in range(_MOST_ESCAPES):
        close = text.find(closing, at, limit)
        if close < 0:
            break
        before = close
        while before > start and text[before - 1] == "\\":
            before -= 1
        at = after = close + len(closing)
        if slashes == 0 and (close - before) % 2 == 0:
            value = Value(start=start, end=close, quote=quote, after=after)
            again = _reentered(text, close) if quote == "'" else None
            if again is None:
                return value
            at, doubtful = again, doubtful or value
        elif slashes and close - before <= slashes:  # those belong to the quote
            return Value(start=start, end=before, quote=quote, after=after)
    return doubtful or Value(start=start, end=limit, quote=quote, after=limit)


def _reentered(text: str, close: int) -> int | None:
    """Tell where a value goes on whose quote at `close` is one inside it: `it''s`."""
    left = _REENTERED.match(text, close)
    if left is not None:
        return left.end()
    return close + 2 if text.startswith("'", close + 1) else None


def read_bare(text: str, pos: int, *, whole: bool) -> Value | None:
    """Read the bare value at `pos`.

    `whole`: the value is alone in its line, as in an .env file, so quotes and brackets belong to
    it. Otherwise they end it, and so does what begins the next setting.
    """
    match = (_WHOLE if whole else _BARE).match(text, pos, pos + MAX_VALUE)
    if match is None:
        return None
    value = match[0]
    if value.isalnum():  # nothing in it ends it
        return Value(pos, match.end(), "", match.end())
    if "\\" in value:
        value = _ESCAPED_END.split(value, 1)[0]
    if _MARK.search(value) is not None:
        value = _NEXT.split(value, 1)[0]
    if not whole and _CLOSES.search(value) is not None:
        value = value[: _balanced(value)]
    return _bare(pos, value.rstrip(";," if whole else ".,;:"))


def read_field(text: str, pos: int) -> Value | None:
    """Read the bare value of a connection string, which a semicolon ends; braces may quote it."""
    braced = _BRACED.match(text, pos, pos + MAX_VALUE)
    if braced is not None:
        return Value(start=pos + 1, end=braced.end() - 1, quote="{", after=braced.end())
    match = _FIELD.match(text, pos, pos + MAX_VALUE)
    return None if match is None else _bare(pos, match[0])


def read_shell_word(text: str, pos: int) -> Value | None:
    """Read the bare value of a shell's assignment, which a blank or the next command ends."""
    match = _SHELL_WORD.match(text, pos, pos + MAX_VALUE)
    return None if match is None else _bare(pos, match[0].rstrip(","))


def _bare(pos: int, value: str) -> Value | None:
    if not value:
        return None
    end = pos + len(value)
    return Value(pos, end, "", end)


def run_on(text: str, end: int) -> int:
    """Follow a secret that is longer than what was looked at to its real end."""
    return match_end(_RUN, text, end)


def match_end(
    pattern: re.Pattern[str] | Lazy, text: str, pos: int, limit: int = sys.maxsize
) -> int:
    """Find where what a pattern finds at `pos` ends; `pos` where it finds nothing."""
    match = pattern.match(text, pos, limit)
    return pos if match is None else match.end()


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
