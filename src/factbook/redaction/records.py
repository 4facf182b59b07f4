"""Redact every text of a record: the one border that all that is stored goes through.

A record is a frozen dataclass, or what it is made of: strings, sequences, mappings. Nothing here
knows which records there are, so a new one, or a new field of an old one, is covered by itself.
What asks for stored rows goes through the same function: a name that holds a secret is kept under
its label, and is found by the name as it was.
"""

from __future__ import annotations

import dataclasses
import operator
import re
import typing
from collections.abc import Callable, Collection, Mapping, Sequence
from enum import Enum
from functools import cache, partial
from typing import Any, Final, TypeVar

from factbook.redaction.base import Redacting

__all__ = ["Redacting", "Screening", "identity_of"]

_T = TypeVar("_T")

# What the hosts make ids of, uuids, counters and prefixed random words, and we of turns: redaction
# need not look at these, and must not find anything in them. The repetitions give nothing back (`+`
# after them): no shorter one could be followed by what comes next.
_PLAIN_ID: Final = re.compile(
    r"(?:turn:|task_|action_)[0-9a-f]{32}"
    r"|(?:[a-z]{1,12}+[:_]){0,3}(?:[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
    r"|(?:toolu|call|msg|req|fc|rs|ws)_\w{1,48}+|\w{1,12}+)(?:[:#@.-][\w]{1,12}+){0,4}"
)
_MADE_BY_US: Final = re.compile(r"(?:(?:task|action|session)_|(?:call|result|queued|summary):)+")


def identity_of(text: str, redact: Callable[[str], str]) -> str:
    """Return an id; one that is not like the hosts' own ids is redacted like any text."""
    if not text or _PLAIN_ID.fullmatch(text):
        return text
    made = _MADE_BY_US.match(text)  # what we put before an id would hide its beginning
    start = made.end() if made else 0
    return text[:start] + redact(text[start:])


class Screening:
    """Redacts every text of a record, and remembers the names that it found nothing in."""

    def __init__(self, redactor: Redacting, *, without: Collection[str] = ()) -> None:
        """Take fields to leave alone, wherever they stand, by their name."""
        self._redactor = redactor
        self._parts = partial(_parts, without=frozenset(without))
        self._clean: set[str] = set()
        self._learned = 0

    def __call__(self, record: _T, /) -> _T:
        """Return a record with every text in it redacted; the record itself where all is clean."""
        learned = self._redactor.learned
        if learned != self._learned:  # what was clean may hold a secret that is known by now
            self._learned = learned
            self._clean.clear()
        result: _T = self._screened(record)
        return result

    def _screened(self, value: Any) -> Any:
        kind = type(value)
        if kind is str:
            return self._text(value)
        if kind in _WITHOUT_TEXT or isinstance(value, Enum):
            return value
        if hasattr(kind, "__dataclass_fields__"):
            return self._record(value)
        if isinstance(value, Mapping):  # what a key is called tells what its value is
            after = {
                self._screened(key): self._screened(item)
                for key, item in typing.cast(
                    Any, self._redactor.redact_value(dict(value)) if value else value
                ).items()
            }
            return value if after == value else after
        if isinstance(value, (list, tuple, set, frozenset)):
            parts = [self._screened(part) for part in value]
            if all(map(operator.is_, parts, value)):
                return value
            return parts if kind is list else getattr(kind, "_make", kind)(parts)
        return value

    def _text(self, text: str) -> str:
        clean = self._clean
        if text in clean:
            return text
        redacted = identity_of(text, self._redactor.redact)
        if redacted is text and self._redactor.holds_told(text):  # a name that was told as a secret
            redacted = self._redactor.redact(text)
        if redacted == text:
            if len(text) <= _SHORT:
                if len(clean) >= _REMEMBERED:
                    clean.clear()
                clean.add(text)
            return text
        return redacted

    def _record(self, value: Any) -> Any:
        kind: Any = type(value)
        texts, others = self._parts(kind)
        changed: dict[str, Any] = {}
        clean = self._clean
        for name in texts:
            before = getattr(value, name)
            if before in clean:
                continue
            after = self._text(before) if type(before) is str else self._screened(before)
            if after is not before:
                changed[name] = after
        for name in others:
            before = getattr(value, name)
            if before:
                after = self._screened(before)
                if after is not before:
                    changed[name] = after
        return dataclasses.replace(value, **changed) if changed else value


_SHORT: Final = 200  # characters of a text that is remembered when nothing is found in it
_REMEMBERED: Final = 8192  # of those
_WITHOUT_TEXT: Final = frozenset({int, float, bool, bytes, type(None)})


@cache
def _parts(kind: type, *, without: frozenset[str]) -> tuple[Sequence[str], Sequence[str]]:
    """Name the fields of a dataclass that are texts, and those that may hold some."""
    names = [field.name for field in dataclasses.fields(kind) if field.name not in without]
    try:
        hints = typing.get_type_hints(kind)
    except NameError:  # named for a type checker alone: any field may hold text
        return (), tuple(names)
    texts = tuple(name for name in names if hints[name] is str)
    return texts, tuple(name for name in names if name not in texts and _may_hold_text(hints[name]))


def _may_hold_text(hint: Any) -> bool:
    """Tell whether a value of a type may hold text; in doubt it may."""
    if isinstance(hint, list):  # the arguments of a function, which holds none
        return False
    inner = typing.get_args(hint)
    if inner:
        return any(_may_hold_text(argument) for argument in inner if argument is not Ellipsis)
    enumerated = isinstance(hint, type) and issubclass(hint, Enum)
    return hint not in _WITHOUT_TEXT and not enumerated
