"""A store that is asked by names as they are kept: no back end knows of redaction."""

from __future__ import annotations

import functools
import inspect
import operator
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Protocol, TypeVar, cast

from factbook.store.named import public_methods
from factbook.store.port import Reads, Store
from factbook.store.rows import LifeWhere

_S = TypeVar("_S")
_T = TypeVar("_T")


class Screen(Protocol):
    """What every record goes through before it is written, and every text that is asked for."""

    def __call__(self, record: _T, /) -> _T:
        """Return the record as it may be kept."""


def unscreened(record: _T) -> _T:
    """Return a record as it is."""
    return record


# Of the texts that a read is given, these are words to look for, the values of a query, or what
# fields are called, and no names to compare with.
_WORDS = frozenset({"by", "params", "terms", "text"})
_NAMED = re.compile(r"\b(?:str|Filters|Where|LifeWhere)\b")
_PLAIN = re.compile("[a-z_]{0,24}")  # no such word is redacted, and most that is asked for is one


def screening(*, at: str, only: Collection[str] = ()) -> Callable[[type[_S]], type[_S]]:
    """Let every method of a class that is given a name compare with it as it was kept.

    That is each parameter of text, Filters, Where or LifeWhere; which they are, their annotations
    say. With `only` it is the parameters of these names. `at` is where an instance has its screen.
    What was kept before its name was known for a secret is still found by a Where with that name.
    """
    screen_of = operator.attrgetter(at)

    def wrapped(kind: type[_S]) -> type[_S]:
        for name, method in public_methods(kind):
            given = {
                part
                for part, hint in method.__annotations__.items()
                if (part in only if only else _NAMED.search(str(hint)))
            }
            given -= {*_WORDS, "return"}
            if given:
                setattr(kind, name, _screening(method, frozenset(given), screen_of))
        return kind

    return wrapped


def _screening(
    method: Callable[..., Any], given: Collection[str], screen_of: Callable[[Any], Screen]
) -> Callable[..., Any]:
    names = list(inspect.signature(method).parameters)

    @functools.wraps(method)
    def screened(self: Any, *args: Any, **named: Any) -> Any:
        screen = screen_of(self)
        if screen is unscreened:
            return method(self, *args, **named)

        def kept(part: str, value: Any) -> Any:
            if part not in given:
                return value
            if isinstance(value, Mapping):  # conditions; its keys are fields of ours
                return {field: either(condition) for field, condition in value.items()}
            return value.screened(of) if isinstance(value, LifeWhere) else of(value)

        def of(value: Any) -> Any:
            is_plain = isinstance(value, str) and _PLAIN.fullmatch(value)
            return value if is_plain else screen(value)

        def either(value: Any) -> Any:
            # What was kept before its name was known for a secret is found by it still.
            clean = of(value)
            return clean if clean == value or not isinstance(value, str) else (clean, value)

        return method(
            self,
            *map(kept, names[1:], args),
            **{part: kept(part, value) for part, value in named.items()},
        )

    return screened


def _forwarding(method: Callable[..., Any]) -> Callable[..., Any]:
    name = method.__name__

    @functools.wraps(method)
    def forward(self: _ScreenedReads, *args: Any, **named: Any) -> Any:
        return getattr(self._reads, name)(*args, **named)

    return forward


class _ScreenedReads:
    """The reads of a store, or of a moment of it."""

    def __init__(self, reads: Reads, screen: Screen) -> None:
        self._reads = reads
        self._screen = screen

    def __getattr__(self, name: str) -> Any:
        """Return what is given no name: writes get what went through the screen before."""
        return getattr(self._reads, name)


for _name in dir(Reads):
    if not _name.startswith("_"):
        setattr(_ScreenedReads, _name, _forwarding(getattr(Reads, _name)))
screening(at="_screen")(_ScreenedReads)


class _ScreenedStore(_ScreenedReads):
    """A store whose moments and copies are screened as it is."""

    _reads: Store

    @contextmanager
    def snapshot(self) -> Iterator[_ScreenedReads]:
        with self._reads.snapshot() as moment:
            yield _ScreenedReads(moment, self._screen)

    @contextmanager
    def apart(self) -> Iterator[_ScreenedReads]:
        with self._reads.apart() as moment:
            yield _ScreenedReads(moment, self._screen)

    @contextmanager
    def rehearsal(self) -> Iterator[_ScreenedStore]:
        with self._reads.rehearsal() as copy:
            yield _ScreenedStore(copy, self._screen)


def screened(store: Store, screen: Screen) -> Store:
    """Return a store whose reads put every name that they are given through a screen."""
    return cast(Store, _ScreenedStore(store, screen))
