"""Find every secret of a text in one pass, with a look around only where something hints at one.

All hints of all finders are one RE2 automaton, so a text without hints costs one look at each of
its characters. It runs on a copy in which every character that is not ASCII is a `?`: hints are
ASCII, one character stays one byte, offsets stay right, and lone surrogates cannot harm. The
finders then read the text itself, each within a bounded distance of its hint, so the work grows
with the length of the text and no pattern can make it explode.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, islice
from operator import itemgetter
from typing import Final

import re2

from factbook.redaction import (
    addresses,
    assignments,
    blocks,
    calls,
    formats,
    headers,
    logins,
    named,
    names,
    numbers,
    outputs,
    prose,
    shell,
    wallets,
)
from factbook.redaction.assignments import read_name
from factbook.redaction.labels import label_around, label_places
from factbook.redaction.reading import MAX_VALUE, line_end
from factbook.redaction.spans import Span
from factbook.redaction.spelled import spelled

CROWD_CHARS: Final = 8192
CROWD_LOOKS: Final = 10
"""Times that the hints of a crowd would have each of its characters looked at, on average. In the
densest text of real logs it is 6, and 9 where every line holds a secret or looks like one."""
_WORD: Final = 16  # characters from a hint to an odd letter of its name
_LINE_LOOKS: Final = 1024  # so many characters of the rest of its line are read from a hint at most

_Finder = Callable[[str, int, int], Iterable[Span]]
# What a hint costs besides reading its line, in characters that could be read meanwhile. Where
# hints of several families match, the first one is taken; assignments see what is left over.
_FAMILIES: Final[tuple[tuple[str, _Finder, int], ...]] = (
    (formats.HINT, formats.format_spans, 128),
    (addresses.HINT, addresses.address_spans, 128),
    (blocks.HINT, blocks.block_spans, 768),
    (wallets.HINT, wallets.wallet_spans, 128),
    (headers.HINT, headers.bearer_spans, 768),
    (shell.HINT, shell.command_spans, 768),
    (calls.HINT, calls.call_spans, 768),
    (logins.HINT, logins.login_spans, 768),
    (outputs.HINT, outputs.output_spans, 768),
    (numbers.HINT, numbers.number_spans, 256),
    (assignments.HINT, named.named_spans, 256),
    (prose.HINT, prose.prose_spans, 768),
)
_COSTS: Final = {finder: cost for _, finder, cost in _FAMILIES}
_LEAST: Final = min(_COSTS.values())  # also that of a name whose values are no secrets
# Finders that may look at any distance from their hint. The others look at most so many characters
# before it and behind it.
_FAR: Final = (blocks.block_spans, headers.bearer_spans, calls.call_spans)
_BACK: Final = 520
_FORTH: Final = 1200
# Their hints may begin as another family's do: `passwort` is one of prose and of assignments.
_IN_ORDER: Final = (logins.login_spans, named.named_spans, prose.prose_spans)
_NAMED: Final = (named.named_spans,)
_GIVEN: Final = re.compile(r"[\w.-]{0,96}\w(?:\\{0,15}[\"'])?[:=] ?(?:\\{0,15}[\"'])?")
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
    for mark in _MARKS.finditer(pattern):
        depth += {"(": 1, ")": -1}.get(mark[0], 0)
        if mark[0] == "|" and not depth:
            cuts.append(mark.start())
    return [pattern[a + 1 : b] for a, b in zip(cuts, [*cuts[1:], len(pattern)], strict=True)]


def _by_first_letter() -> str:
    """Join all hints, those that begin alike side by side.

    RE2 then shares their beginnings, and makes the states of the automaton, which it does while it
    reads, in two thirds of the time. Of hints that match at the same place the first one counts;
    those that change places here never do (a test holds it). What begins with a group or a class,
    and the families whose hints may begin like those of another one, stay where they are, behind.
    """
    sorted_, rest = [], []
    for hint, finder, _ in _FAMILIES:
        if finder in _IN_ORDER:
            rest.append(f"(?:{hint})")
        else:
            sorted_ += _alternatives(hint)
    sorted_.sort(key=lambda alternative: alternative[0] if alternative[0] not in "([" else "~")
    return "|".join([*sorted_, *rest])


_HINTS: Final = _compile(_by_first_letter())
_WHOSE: Final = _compile("|".join(f"({hint})" for hint, _, _ in _FAMILIES))
_NAMES: Final = _compile(assignments.HINT)
_WIDE: Final = _compile("|".join(f"(?:{hint})" for hint, finder, _ in _FAMILIES if finder in _FAR))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asked:
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


def _whom(text: str, data: bytes, at: int, end: int) -> _Asked:
    return _ADDRESS if text.startswith("://", at) else _asked(data[at:end])


KINDS: Final = (
    formats.KINDS
    | addresses.KINDS
    | blocks.KINDS
    | headers.KINDS
    | shell.KINDS
    | logins.KINDS
    | calls.KINDS
    | outputs.KINDS
    | names.KINDS
    | numbers.KINDS
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
    labels = label_places(text, KINDS)
    spans: list[Span] = list(_crowds(text, data, foreign, labels))
    crowds = [(low, high) for low, high, _ in spans]
    near = [(0, len(data))] if changed is None else list(_windows(changed, len(data)))
    parts: list[tuple[re2._Regexp, int, int]] = []
    done = 0
    for low, high in near:
        parts += ((_WIDE, done, low), (_HINTS, low, high))
        done = high
    parts.append((_WIDE, done, len(data)))
    for hints, low, high in parts:
        for start, stop in crowds:
            if start < high and low < stop:
                _search(hints, text, data, low, max(low, start), labels, spans)
                low = min(high, stop)
        _search(hints, text, data, low, high, labels, spans)
    done = 0
    if changed is None:  # a label only cuts a row of words
        for start, stop in (*crowds, (len(data), len(data))):
            spans.extend(wallets.phrase_spans(text, data, done, start))
            done = stop
    for name in foreign:
        if not any(low <= name.start() < high for low, high in crowds):
            spans.extend(prose.foreign_span(text, name))
    spans.extend(_spelled_spans(text))
    return spans


def _spelled_spans(text: str) -> Iterator[Span]:
    """Give the secrets of names that are written oddly, which plain letters tell."""
    again = spelled(text)
    if again is None:
        return
    replaced, plain = again
    data = plain.text.encode("ascii", "replace")
    labels = label_places(plain.text, KINDS)
    crowds = list(_crowds(plain.text, data, (), labels))
    yield from plain.mapped_back(crowds)
    unread = [(low, high) for low, high, _ in crowds]
    letters = [start for start, _, _ in plain.placed(replaced)]
    for hit in _HINTS.finditer(data):
        at, end = hit.span()
        near = bisect_left(letters, at - _WORD)
        if near == len(letters) or letters[near] >= end + _WORD:
            continue  # nothing there is read in another way
        if label_around(labels, at) is None and label_around(unread, at) is None:
            for finder in _whom(plain.text, data, at, end).finders:
                yield from plain.mapped_back(finder(plain.text, at, end))


def _crowds(
    text: str, data: bytes, foreign: Sequence[re.Match[str]], labels: Sequence[tuple[int, int]]
) -> Iterator[Span]:
    """Give the parts of a text that are withheld as a whole, since nearly all of them is hints.

    Reading on from a hint costs up to some hundred microseconds, so a text that is made of hints
    could keep a machine busy. Nobody writes one; what is in it is taken for a secret unread.
    """
    if len(data) < CROWD_CHARS:
        return
    most = CROWD_LOOKS * CROWD_CHARS
    few = most // (max(_COSTS.values()) + _LINE_LOOKS)
    names = [name.span() for name in foreign]
    crowds: list[tuple[int, int]] = []
    for low in range(0, len(data), CROWD_CHARS):
        high = low + CROWD_CHARS
        hits = _HINTS.finditer(data, low, high)
        first = list(islice(hits, few + 1))
        named_here = names[bisect_left(names, (low, 0)) : bisect_left(names, (high, 0))]
        if len(first) + len(named_here) <= few:
            continue
        looks = sum(_COSTS[prose.prose_spans] + _rest(text, end) for _, end in named_here)
        doubted: list[tuple[int, int]] = []  # names that are read only if they decide it
        for hit in chain(first, hits):
            if looks > most:
                looks -= _saved(text, doubted)
                doubted.clear()
            if looks > most:
                break
            at, end = hit.span()
            run = data[at - 1 : at + 4] == b"AAAAA"  # that of encoded zeros goes on and on
            if run or label_around(labels, at) is not None:
                continue
            finder = _whom(text, data, at, end).finders[0]
            looks += _COSTS[finder] + _rest(text, end)
            if finder is named.named_spans:
                doubted.append((at, end))
        if looks > most:
            looks -= _saved(text, doubted)
        if looks > most:
            last = max(_last(data, low, high), *(end for _, end in named_here), low)
            far = _WIDE.search(data, max(low, last - _LINE_LOOKS), last) is not None
            stop = high if far else min(high, last + _rest(text, last))
            if crowds and crowds[-1][1] == low:
                crowds[-1] = (crowds[-1][0], stop)
            else:
                crowds.append((low, stop))
    for low, high in crowds:
        start = max(text.rfind(gap, max(0, low - MAX_VALUE), low) + 1 for gap in " \n")
        ends = [text.find(gap, high, high + MAX_VALUE) for gap in " \n"]
        stop = min((end for end in ends if end >= 0), default=min(len(text), high))
        yield start or low, stop, "unread"


def _last(data: bytes, low: int, high: int) -> int:
    """Find the end of the last hint of a part, by halving what may hold it."""
    last = low
    while high - low > 1:
        middle = (low + high) // 2
        hit = _HINTS.search(data, middle, high)
        if hit is None:
            high = middle
        else:
            low, last = max(middle, hit.start()), hit.end()
    return last


def _rest(text: str, pos: int) -> int:
    """Count the characters of the rest of a line that are read from a hint."""
    return line_end(text, pos, pos + _LINE_LOOKS) - pos


def _saved(text: str, hints: Iterable[tuple[int, int]]) -> int:
    """Count the characters that some hints of names have not looked at: values of no secret."""
    cost = _COSTS[named.named_spans] - _LEAST
    return sum(cost + _rest(text, end) for at, end in hints if read_name(text, at, end) is None)


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
    labels: Sequence[tuple[int, int]],
    spans: list[Span],
) -> None:
    low = high = 0  # the span that reaches furthest
    whole = False  # it is a key in a format of its own, so nothing in it can be another one
    while pos < limit:
        # Iterating is cheaper than searching for each hint anew.
        begin, pos = pos, limit
        for hit in hints.finditer(data, begin):
            at, end = hit.span()
            if at >= limit:
                return
            label = label_around(labels, at) if labels else None
            if label is not None:  # a label is never redacted
                pos = max(end, label)
                break
            asked = _whom(text, data, at, end)
            if labels and not asked.hides and asked.finders == _NAMED:
                near = bisect_left(labels, (at, 0))
                if near < len(labels) and _GIVEN.fullmatch(text, at, labels[near][0]) is not None:
                    continue  # a label is all that stands behind the name
            if low <= at < high and (whole or not asked.own_shape):
                continue
            for finder in asked.finders:
                secret_spans = list(finder(text, at, end))
                if secret_spans:
                    spans.extend(secret_spans)
                    start, stop, _ = max(secret_spans, key=itemgetter(1))
                    if stop > high:
                        low, high, whole = start, stop, finder is formats.format_spans
                    break
            else:
                if asked.hides:
                    pos = at + 1
                    if asked.own_shape and (run := _RUN.match(data, at)) is not None:
                        pos = max(pos, run.end() - (end - at))  # none begins inside a run
                    break
