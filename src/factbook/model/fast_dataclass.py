"""Make frozen values at the price of ordinary ones, where they are made by the ten thousand.

A frozen dataclass sets each of its fields through `object.__setattr__`, which costs three times an
ordinary assignment; reading a large log makes tens of thousands of values of up to 25 fields. Here
the fields are set on an instance of a class with the same slots that is not frozen, which then
becomes one of the frozen class. The result cannot be told from one made by the class itself.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

_P = ParamSpec("_P")
_T = TypeVar("_T")


def by_name(kind: Callable[_P, _T]) -> Callable[_P, _T]:
    """Return what makes values of a slotted dataclass without `__post_init__`, quickly.

    It takes what the class takes, by keyword only.
    """
    made: Callable[_P, _T] = _maker(kind, "*, ")
    return made


def by_place(kind: Callable[..., _T], *, without: tuple[str, ...] = ()) -> Callable[..., _T]:
    """Return what makes values of a slotted dataclass of their fields, in the fields' order.

    Those of `without` come last.
    """
    made: Callable[..., _T] = _maker(kind, "", without)
    return made


def _maker(kind: Any, star: str, last: tuple[str, ...] = ()) -> Any:
    if hasattr(kind, "__post_init__"):
        raise TypeError(f"{kind.__name__} checks its fields, which this would pass over")
    fields = dataclasses.fields(kind)
    names: dict[str, Any] = {
        "_draft": type(kind.__name__, (), {"__slots__": kind.__slots__}),
        "_kind": kind,
    }
    given, lines = [], []
    for field in sorted(fields, key=lambda attribute: attribute.name in last):
        name = field.name
        value = name
        if not star or field.default is field.default_factory is dataclasses.MISSING:
            given.append(name)
        elif field.default is not dataclasses.MISSING:
            names[f"_default_{name}"] = field.default
            given.append(f"{name}=_default_{name}")
        else:
            names[f"_new_{name}"] = field.default_factory
            given.append(f"{name}=_kind")
            value = f"_new_{name}() if {name} is _kind else {name}"
        lines.append(f"    self.{name} = {value}\n")
    source = (
        f"def make({star}{', '.join(given)}):\n    self = _draft()\n{''.join(lines)}"
        "    self.__class__ = _kind\n    return self\n"
    )
    exec(source, names)  # noqa: S102 - as `dataclasses` does; all names are those of its fields
    return names["make"]
