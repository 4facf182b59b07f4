"""Find every secret of a text in one pass, with a look around only where something hints at one.

All hints of all finders are one RE2 automaton, so a text without hints costs one look at each of
its characters. It runs on a copy in which every character that is not ASCII is a `?`: hints are
ASCII, one character stays one byte, offsets stay right, and lone surrogates cannot harm. The
finders then read the text itself, each within a bounded distance of its hint, so the work grows
with the length of the text and no pattern can make it explode.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
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
    wallets,
)
from factbook.sources.redact.labels import label_around
from factbook.sources.redact.reading import MAX_VALUE
from factbook.sources.redact.spans import Span

__all__ = ["CROWD_CHARS", "CROWD_HINTS", "KINDS", "scan"]

CROWD_CHARS: Final = 8192
CROWD_HINTS: Final = 192
"""Hints in so many characters that make them a crowd. The densest texts of real logs have 59 of
them; a text in which every line holds a secret, or looks like one, has 103, and 152 at most."""

_Finder = Callable[[str, int, int], Iterable[Span]]
# Where hints of several families match, the first one is taken; assignments see what is left over.
_FAMILIES: Final[tuple[tuple[str, _Finder], ...]] = (
    (formats.HINT, formats.format_spans),
    (addresses.HINT, addresses.address_spans),
    (blocks.HINT, blocks.block_spans),
    (wallets.HINT, wallets.wallet_spans),
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
_RUN: Final = re.compile(rb"(.)\1*", re.DOTALL)
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
    | wallets.KINDS
    | {"unread"}
)
"""Every kind that a label can say."""


def scan(text: str, *, changed: Sequence[Span] | None = None) -> list[Span]:
    """Find the secrets of a text, in the order of their hints; some may overlap.

    `changed`: where labels were written since the text was searched last, in order. Only what can
    see one of them is searched again: what is near, and everything that looks far.
    """
    data = text.encode("ascii", "replace")
    foreign = [] if text.isascii() else list(prose.foreign_names(text))
    spans: list[Span] = []
    few = changed is None and len(foreign) <= CROWD_HINTS
    if few and _search(_HINTS, text, data, 0, len(data), spans, most=CROWD_HINTS // 4):
        spans.extend(wallets.phrase_spans(text, data, 0, len(data)))
        for name in foreign:
            spans.extend(prose.foreign_span(text, name))
        return spans
    spans = list(_crowds(text, data, foreign))  # so many hints may be a crowd
    crowds = [(low, high) for low, high, _ in spans]
    parts: list[tuple[re2._Regexp, int, int]] = []
    if changed is None:
        parts.append((_HINTS, 0, len(data)))
    else:
        done = 0
        for low, high in _windows(changed, len(data)):
            parts += ((_WIDE, done, low), (_HINTS, low, high))
            done = high
        parts.append((_WIDE, done, len(data)))
    for hints, low, high in parts:
        for start, stop in crowds:
            if start < high and low < stop:
                _search(hints, text, data, low, max(low, start), spans)
                low = min(high, stop)
        _search(hints, text, data, low, high, spans)
    done = 0
    for start, stop in (*crowds, (len(data), len(data))):
        spans.extend(wallets.phrase_spans(text, data, done, start))
        done = stop
    for name in foreign:
        if not any(low <= name.start() < high for low, high in crowds):
            spans.extend(prose.foreign_span(text, name))
    return spans


def _crowds(text: str, data: bytes, foreign: Sequence[re.Match[str]]) -> Iterator[Span]:
    """Give the parts of a text that are withheld as a whole, since nearly all of them is hints.

    Reading on from a hint costs up to some hundred microseconds, so a text that is made of hints
    could keep a machine busy. Nobody writes one; what is in it is taken for a secret unread.
    """
    if len(data) < CROWD_CHARS:
        return
    labelled = "[REDACTED:" in text
    counts = Counter(name.start() // CROWD_CHARS for name in foreign)
    for block in range(len(data) // CROWD_CHARS + 1):
        low = block * CROWD_CHARS
        for hit in _HINTS.finditer(data, low, low + CROWD_CHARS):
            at = hit.start()
            run = data[at - 1 : at + 4] == b"AAAAA"  # that of encoded zeros goes on and on
            if not run and (not labelled or label_around(text, at, KINDS) is None):
                counts[block] += 1
                if counts[block] > CROWD_HINTS:
                    break
    done = -1
    for block in sorted(block for block, count in counts.items() if count > CROWD_HINTS):
        if block < done:
            continue
        done = block + 1
        while counts[done] > CROWD_HINTS:
            done += 1
        low = block * CROWD_CHARS
        start = max((text.rfind(gap, max(0, low - MAX_VALUE), low) + 1 for gap in " \n"), default=0)
        ends = [text.find(gap, done * CROWD_CHARS, done * CROWD_CHARS + MAX_VALUE) for gap in " \n"]
        stop = min((end for end in ends if end >= 0), default=min(len(text), done * CROWD_CHARS))
        yield start or low, stop, "unread"


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
    hints: re2._Regexp,
    text: str,
    data: bytes,
    pos: int,
    limit: int,
    spans: list[Span],
    *,
    most: int = sys.maxsize,
) -> bool:
    """Search a part of a text for hints and ask their finders, or give up where they stand thick.

    `most` is how many hints there may be in a block of CROWD_CHARS; False tells that it gave up.
    """
    edge = left = 0
    labelled = "[REDACTED:" in text
    low = high = 0  # the span that reaches furthest
    whole = False  # it is a key in a format of its own, so nothing in it can be another one
    while pos < limit:
        # Iterating is cheaper than searching for each hint anew.
        begin, pos = pos, limit
        for hit in hints.finditer(data, begin):
            at, end = hit.span()
            if at >= limit:
                return True
            label = label_around(text, at, KINDS) if labelled else None
            if label is not None:  # a label is never redacted
                pos = max(end, label)
                break
            if at >= edge:
                edge, left = at - at % CROWD_CHARS + CROWD_CHARS, most
            left -= 1
            if left < 0:
                return False
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
                    if asked.own_shape and (run := _RUN.match(data, at)) is not None:
                        pos = max(pos, run.end() - (end - at))  # none begins inside a run
                    break
    return True


def _end(span: Span) -> int:
    return span[1]
