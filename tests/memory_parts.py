"""Every public method of a memory and of its parts, by its name, for tests that try them all."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from factbook.memory import Memory, aio

PARTS = (
    "interests",
    "background",
    "keyed",
    "graph",
    "typed",
    "review",
    "sources",
    "maintenance",
    "erasure",
)


def public(kind: type) -> dict[str, Callable[..., Any]]:
    """Return the public methods of a class by their names."""
    found = inspect.getmembers(kind, inspect.isfunction)
    return {name: one for name, one in found if not name.startswith("_")}


def kinds(*, awaited: bool = False) -> dict[str, type]:
    """Return the classes of a memory's parts by their names there; "" is the memory itself."""
    mirrors = {name: getattr(aio, f"Async{name.capitalize()}") for name in PARTS}
    if awaited:
        return {"": aio.AsyncMemory, **mirrors}
    return {"": Memory, **{name: getattr(aio, name.capitalize()) for name in PARTS}}


def methods(*, awaited: bool = False) -> dict[str, Callable[..., Any]]:
    """Return all public methods, those of a part as "review.pin"."""
    return {
        f"{part}.{name}".lstrip("."): method
        for part, kind in kinds(awaited=awaited).items()
        for name, method in public(kind).items()
    }


def bound(memory: object, name: str) -> Any:
    """Return a method of a memory or of one of its parts, by its name in `methods`."""
    found = memory
    for one in name.split("."):
        found = getattr(found, one)
    return found
