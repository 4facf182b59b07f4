"""What is named: places of ledgers, and owners."""

from __future__ import annotations

import functools
import inspect
import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

from factbook.errors import UsageError
from factbook.model.facts import Everyone, one_owner, whose

_S = TypeVar("_S")
_URL = re.compile(r"[a-z][a-z0-9+.-]+://", re.IGNORECASE)


def place_of(named: str | os.PathLike[str]) -> Path | str:
    """Return the path that a text names as one or as `sqlite:///`; any other URL as it is.

    Raises UsageError for a `sqlite:` URL without a whole path, or with more than that.
    """
    if not isinstance(named, str) or not _URL.match(named):
        return Path(named)
    from urllib.parse import urlsplit
    from urllib.request import url2pathname

    url = urlsplit(named)
    if url.scheme != "sqlite":
        return named
    if url.netloc or url.query or url.fragment or url.path in ("", "/"):
        raise UsageError(
            detail=f"{named} names no file; give a path, or sqlite:/// and a whole one"
        )
    return Path(url2pathname(url.path))


def public_methods(kind: type) -> Iterator[tuple[str, Callable[..., Any]]]:
    """Yield the public methods of a class by their names, to be wrapped one after the other."""
    for name in dir(kind):
        method = inspect.getattr_static(kind, name)
        if not name.startswith("_") and inspect.isfunction(method):
            yield name, method


def named_owners(kind: type[_S]) -> type[_S]:
    """Let every public method of a class refuse an owner that is none before it does anything.

    One that is annotated as `str` keeps or changes something: it refuses EVERYONE too.
    """
    for name, method in public_methods(kind):
        hint = method.__annotations__.get("owner")
        if hint is not None:
            place = list(inspect.signature(method).parameters).index("owner")
            setattr(kind, name, _checking(method, place, one_owner if hint == "str" else whose))
    return kind


def _checking(
    method: Callable[..., Any], place: int, check: Callable[[Any], str | Everyone]
) -> Callable[..., Any]:
    @functools.wraps(method)
    def checked(*args: Any, **named: Any) -> Any:
        if "owner" in named:
            check(named["owner"])
        elif len(args) > place:
            check(args[place])
        return method(*args, **named)

    return checked
