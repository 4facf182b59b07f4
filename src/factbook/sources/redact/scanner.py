"""Find every secret of a text in one pass, with a look around only where something hints at one.

All hints of all finders are one RE2 automaton, so a text without hints costs one look at each of
its characters. It runs on a copy in which every character that is not ASCII is a `?`: hints are
ASCII, one character stays one byte, offsets stay right, and lone surrogates cannot harm. The
finders then read the text itself, each within a bounded distance of its hint, so the work grows
with the length of the text and no pattern can make it explode.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
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
    named,
    names,
    outputs,
    prose,
)
from factbook.sources.redact.labels import label_around
from factbook.sources.redact.spans import Span

__all__ = ["KINDS", "scan"]

_Finder = Callable[[str, int, int], Iterable[Span]]
# Where hints of several families match, the first one is taken; assignments see what is left over.
_FAMILIES: Final[tuple[tuple[str, _Finder], ...]] = (
    (formats.HINT, formats.format_spans),
    (addresses.HINT, addresses.address_spans),
    (blocks.HINT, blocks.block_spans),
    (headers.HINT, headers.bearer_spans),
    (commands.HINT, commands.command_spans),
    (calls.HINT, calls.call_spans),
    (logins.HINT, logins.login_spans),
    (outputs.HINT, outputs.output_spans),
    (assignments.HINT, named.named_spans),
    (prose.HINT, prose.prose_spans),
)
# Finders that may look at any distance from their hint. The others look at most so many characters
# before it and behind it.
_FAR: Final = (blocks.block_spans, headers.bearer_spans, calls.call_spans)
_BACK: Final = 520
_FORTH: Final = 1200
# Their hints may begin as another family's do: `passwort` is one of prose and of assignments.
_IN_ORDER: Final = (logins.login_spans, named.named_spans, prose.prose_spans)
_MARKS: Final = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|[()|]")  # a class is one mark
_AUTOMATON_BYTES: Final = 64 << 20  # room for the automaton's states, made as they are needed


def _compile(pattern: str) -> re2._Regexp:
    options = re2.Options()
    options.encoding = re2.Options.Encoding.LATIN1
    options.max_mem = _AUTOMATON_BYTES
    return re2.compile(pattern.encode("ascii"), options)


def _alternatives(pattern: str) -> list[str]:
    """Cut a pattern at the bars that stand in no bracket."""
    cuts, depth = [-1], 0
    for found in _MARKS.finditer(pattern):
        depth += {"(": 1, ")": -1}.get(found[0], 0)
        if found[0] == "|" and not depth:
            cuts.append(found.start())
    return [pattern[a + 1 : b] for a, b in zip(cuts, [*cuts[1:], len(pattern)], strict=True)]


def _by_first_letter() -> str:
    """Join all hints, those that begin alike side by side.

    RE2 then shares their beginnings, and makes the states of the automaton, which it does while it
    reads, in two thirds of the time. Of hints that match at the same place the first one counts;
    those that change places here never do (a test holds it). What begins with a group or a class,
    and the families whose hints may begin like those of another one, stay where they are, behind.
    """
    sorted_, rest = [], []
    for hint, finder in _FAMILIES:
        if finder in _IN_ORDER:
            rest.append(f"(?:{hint})")
        else:
            sorted_ += _alternatives(hint)
    sorted_.sort(key=lambda one: one[0] if one[0] not in "([" else "~")
    return "|".join([*sorted_, *rest])


_HINTS: Final = _compile(_by_first_letter())
_WHOSE: Final = _compile("|".join(f"({hint})" for hint, _ in _FAMILIES))
_NAMES: Final = _compile(assignments.HINT)
_WIDE: Final = _compile("|".join(f"(?:{hint})" for hint, finder in _FAMILIES if finder in _FAR))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asked:
    """Who is asked about a hint."""

    finders: tuple[_Finder, ...]  # one after the other, until one finds something
    own_shape: bool  # it may begin a key in a format of its own
    hides: bool  # another hint may begin inside: `npm_t` is that of a key, or of `npm_token=`


# Hints of addresses are of any length and should not be remembered.
_ADDRESS: Final = _Asked(finders=(addresses.address_spans,), own_shape=False, hides=False)


@lru_cache(maxsize=8192)
def _asked(hint: bytes) -> _Asked:
    """Name the finders for what the automaton stopped at.

    Asked apart from the search, and remembered, because groups make the search itself slower.
    """
    whose = _WHOSE.match(hint)
    first = named.named_spans if whose is None else _FAMILIES[whose.lastindex - 1][1]
    own_shape = first is formats.format_spans
    both = first is not named.named_spans and _NAMES.match(hint) is not None
    return _Asked(
        finders=(first, named.named_spans) if both else (first,),
        own_shape=own_shape,
        hides=own_shape or hint.endswith(b"key-") or _NAMES.search(hint, 1) is not None,
    )


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


def scan(text: str, *, changed: Sequence[Span] | None = None) -> list[Span]:
    """Find the secrets of a text, in the order of their hints; some may overlap.

    `changed`: where labels were written since the text was searched last, in order. Only what can
    see one of them is searched again: what is near, and everything that looks far.
    """
    data = text.encode("ascii", "replace")
    spans: list[Span] = []
    if changed is None:
        _search(_HINTS, text, data, 0, len(data), spans)
    else:
        done = 0
        for low, high in _windows(changed, len(data)):
            _search(_WIDE, text, data, done, low, spans)
            _search(_HINTS, text, data, low, high, spans)
            done = high
        _search(_WIDE, text, data, done, len(data), spans)
    if not text.isascii():
        spans.extend(prose.foreign_spans(text))
    return spans


def _windows(changed: Sequence[Span], size: int) -> Iterator[tuple[int, int]]:
    """Give the parts of a text from which a change can be seen, in order and without overlap."""
    start = stop = 0
    for low, high, _ in changed:
        if stop and low - _FORTH <= stop:
            stop = min(size, high + _BACK)
            continue
        if stop:
            yield start, stop
        start, stop = max(0, low - _FORTH), min(size, high + _BACK)
    if stop:
        yield start, stop


def _search(
    hints: re2._Regexp, text: str, data: bytes, pos: int, limit: int, spans: list[Span]
) -> None:
    """Search a part of a text for hints and ask their finders."""
    labelled = "[REDACTED:" in text
    low = high = 0  # the span that reaches furthest
    whole = False  # it is a key in a format of its own, so nothing in it can be another one
    while pos < limit:
        # Iterating is cheaper than searching for each hint anew.
        begin, pos = pos, limit
        for hit in hints.finditer(data, begin):
            at, end = hit.span()
            if at >= limit:
                return
            label = label_around(text, at, KINDS) if labelled else None
            if label is not None:  # a label is never redacted
                pos = max(end, label)
                break
            asked = _ADDRESS if text.startswith("://", at) else _asked(data[at:end])
            if low <= at < high and (whole or not asked.own_shape):
                continue
            for finder in asked.finders:
                found = list(finder(text, at, end))
                if found:
                    spans.extend(found)
                    start, stop, _ = max(found, key=_end)
                    if stop > high:
                        low, high, whole = start, stop, finder is formats.format_spans
                    break
            else:
                if asked.hides:
                    pos = at + 1
                    break


def _end(span: Span) -> int:
    return span[1]
