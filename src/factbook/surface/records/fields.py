"""Make JSON of values by naming their fields, once for each form.

    FACT = "id:f subject occurred_at merged_into=merged_into_id:f"
    fields(fact, FACT) == {"id": "f12", "subject": "...", "occurred_at": "2026-...Z", ...}

A name stands for the field of that name, `key=path` for another one, with dots into what it holds.
A moment becomes ISO 8601 in UTC, which the annotation of its field tells; `:f` makes the id of a
row, which begins with a letter, or of several. What holds others is written as lists and objects.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import asdict, is_dataclass
from enum import Enum
from functools import cache
from typing import Any, cast

from factbook.model.facts import iso

__all__ = ["Record", "fields", "listed", "plain"]

Record = dict[str, object]


def fields(one: Any, names: str, **more: object) -> Record:
    """Return the named fields of a value as a record, and `more` behind them."""
    found: Record = {key: read(one) for key, read in _readers(names)}
    found.update(more)
    return found


def listed(values: Iterable[Any], names: str) -> list[Record]:
    """Return the named fields of each value."""
    return [fields(value, names) for value in values]


def plain(value: Any) -> object:
    """Return a value as JSON holds it."""
    if isinstance(value, (str, int, float, type(None))):
        return str(value) if isinstance(value, Enum) else value
    if isinstance(value, Mapping):
        return {str(key): plain(one) for key, one in value.items()}
    if is_dataclass(value) and not isinstance(value, type):
        return plain(asdict(value))
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return plain(value._asdict())
    if isinstance(value, Iterable):
        return [plain(one) for one in value]
    return str(value)


@cache
def _readers(names: str) -> list[tuple[str, Callable[[Any], object]]]:
    return [_reader(name) for name in names.split()]


def _reader(name: str) -> tuple[str, Callable[[Any], object]]:
    named, _, letter = name.partition(":")
    key, _, path = named.partition("=")
    *steps, last = (path or key).split(".")

    def read(one: Any) -> object:
        for step in steps:
            one = getattr(one, step)
        found = getattr(one, last)
        if letter:
            return _named(letter, found)
        return iso(found) if _is_moment(cast(Hashable, type(one)), last) else plain(found)

    return key, read


def _named(letter: str, number: object) -> object:
    if isinstance(number, Sequence):
        return [_named(letter, one) for one in number]
    return None if number is None else f"{letter}{number}"


@cache
def _is_moment(kind: Hashable, name: str) -> bool:
    for base in inspect.getmro(cast(type, kind)):
        told = vars(base).get("__annotations__", {})
        if name in told:
            return "Millis" in str(told[name])
    return False
