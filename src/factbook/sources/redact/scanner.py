"""Find every secret of a text in one pass, with a look around only where something hints at one.

All hints of all finders are one RE2 automaton, so a text without hints costs one look at each of
its characters. It runs on a copy in which every character that is not ASCII is a `?`: hints are
ASCII, one character stays one byte, offsets stay right, and lone surrogates cannot harm. The
finders then read the text itself, each within a bounded distance of its hint, so the work grows
with the length of the text and no pattern can make it explode.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Final

import re2

from factbook.sources.redact import (
    addresses,
    assignments,
    blocks,
    calls,
    commands,
    formats,
    headers,
    logins,
    names,
    outputs,
    prose,
)
from factbook.sources.redact.spans import Span

__all__ = ["KINDS", "scan"]

_Finder = Callable[[str, int, int], Iterator[Span]]
# Where hints of several families match, the first one is taken; assignments see what is left over.
_FAMILIES: Final[tuple[tuple[str, _Finder], ...]] = (
    (formats.HINT, formats.format_spans),
    (addresses.HINT, addresses.address_spans),
    (blocks.HINT, blocks.block_spans),
    (headers.HINT, headers.bearer_spans),
    (commands.HINT, commands.command_spans),
    (logins.HINT, logins.login_spans),
    (calls.HINT, calls.call_spans),
    (outputs.HINT, outputs.output_spans),
    (assignments.HINT, assignments.assignment_spans),
    (prose.HINT, prose.prose_spans),
)
_AUTOMATON_BYTES: Final = 64 << 20  # room for the automaton's states, made as they are needed


def _compile(pattern: str) -> re2._Regexp:
    options = re2.Options()
    options.encoding = re2.Options.Encoding.LATIN1
    options.max_mem = _AUTOMATON_BYTES
    return re2.compile(pattern.encode("ascii"), options)


_HINTS: Final = _compile("|".join(f"(?:{hint})" for hint, _ in _FAMILIES))
_WHOSE: Final = _compile("|".join(f"({hint})" for hint, _ in _FAMILIES))
_NAMES: Final = _compile(assignments.HINT)
_ADDRESS: Final = (addresses.address_spans,)
# What is asked where a name stands but nothing was found in its usual places.
_NAMED: Final = (assignments.assignment_spans, outputs.field_spans, prose.prose_spans)


@lru_cache(maxsize=8192)
def _finders(hint: bytes) -> tuple[_Finder, ...]:
    """Name the finders for what the automaton stopped at.

    Asked apart from the search, and remembered, because groups make the search itself slower.
    """
    whose = _WHOSE.match(hint)
    first = _FAMILIES[whose.lastindex - 1][1] if whose is not None else assignments.assignment_spans
    if first is assignments.assignment_spans:
        return _NAMED
    # The hint may have swallowed a name, or its beginning, as `npm_t` does in `npm_token=`.
    beginning = first is formats.format_spans and not hint.startswith(b"eyJ")
    if beginning or _NAMES.search(hint) is not None:
        return (first, *_NAMED)
    if first is logins.login_spans:
        return (first, prose.prose_spans)
    return (first,)


KINDS: Final = (
    formats.KINDS
    | addresses.KINDS
    | blocks.KINDS
    | headers.KINDS
    | commands.KINDS
    | logins.KINDS
    | calls.KINDS
    | outputs.KINDS
    | names.KINDS
)
"""Every kind that a label can say."""


def scan(text: str) -> list[Span]:
    """Find the secrets of a text, in the order of their hints; some may overlap."""
    spans: list[Span] = []
    low = high = 0  # the span that reaches furthest
    whole = False  # it is a key in a format of its own, so nothing in it can be another one
    for hit in _HINTS.finditer(text.encode("ascii", "replace")):
        at, end = hit.span()
        # Only addresses have hints of any length, which should not be remembered.
        finders = _ADDRESS if text.startswith("://", at) else _finders(hit.group())
        own_shape = finders[0] is formats.format_spans
        if low <= at < high and (whole or not own_shape):
            continue
        for finder in finders:
            found = list(finder(text, at, end))
            if found:
                spans.extend(found)
                start, stop, _ = max(found, key=_end)
                if stop > high:
                    low, high, whole = start, stop, finder is formats.format_spans
                break
    if not text.isascii():
        spans.extend(prose.foreign_spans(text))
    return spans


def _end(span: Span) -> int:
    return span[1]
