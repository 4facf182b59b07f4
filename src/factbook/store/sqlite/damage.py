"""Say of an error that nobody expects whether a damaged file is behind it.

What a damaged page gives may be anything: a number where a text belongs, half a JSON document, an
id that nobody has. To expect that of every row wherever it is used would be a try in a hundred
places, and one would be missing. So it is asked once, when it has happened, at the border that
everybody comes through: an error of the kinds that strange values cause, raised in our own code,
has the ledger audited. Damaged, it is StoreCorrupt with what the audit says; else it stays what it
is.
"""

from __future__ import annotations

import functools
import inspect
import operator
import struct
from collections.abc import Callable, Generator, Iterator
from types import GeneratorType
from typing import Any, Final, TypeVar

import apsw

from factbook.errors import FactbookError, StoreCorrupt
from factbook.store.base import Store

__all__ = ["name_damage", "naming_damage"]

_STRANGE: Final = (
    apsw.Error,
    ArithmeticError,
    AssertionError,
    AttributeError,
    LookupError,
    TypeError,
    ValueError,
    struct.error,
)
"""What code raises that is given values which no ledger holds."""
_LOOKED: Final = "factbook looked for damage in the ledger and found none"
_AS_IT_IS: Final = {"check", "close", "reopen"}

_T = TypeVar("_T")


def name_damage(store: Store, error: BaseException | None) -> None:
    """Raise StoreCorrupt from an error that the damage of a ledger explains; else do nothing."""
    if not isinstance(error, _STRANGE) or not _is_ours(error):
        return
    if isinstance(error, apsw.CorruptError | apsw.NotADBError | UnicodeDecodeError):
        raise StoreCorrupt(path=store.path, reason=f"{error}") from error
    if _LOOKED in getattr(error, "__notes__", ()):
        return
    try:
        problems = store.check()
    except FactbookError:
        return  # locked, or gone meanwhile: what happened first has to be told
    if problems:
        one = problems[0]
        why = f"{type(error).__name__}: {error}; {one.what}: {one.detail}"
        raise StoreCorrupt(path=store.path, reason=why) from error
    error.add_note(_LOOKED)


def naming_damage(*, at: str = "store") -> Callable[[type[_T]], type[_T]]:
    """Let every public method of a class name the damage of the ledger that is at `at`."""
    store_of: Callable[[Any], Store] = operator.attrgetter(at)

    def wrapped(kind: type[_T]) -> type[_T]:
        for name in dir(kind):
            method = inspect.getattr_static(kind, name)
            if not name.startswith("_") and name not in _AS_IT_IS and inspect.isfunction(method):
                setattr(kind, name, _naming(method, store_of))
        return kind

    return wrapped


def _naming(method: Callable[..., Any], store_of: Callable[[Any], Store]) -> Callable[..., Any]:
    @functools.wraps(method)
    def named(self: Any, *args: Any, **more: Any) -> Any:
        try:
            found = method(self, *args, **more)
        except _STRANGE as error:
            name_damage(store_of(self), error)
            raise
        return _rows(found, store_of(self)) if isinstance(found, GeneratorType) else found

    return named


def _rows(found: Iterator[object], store: Store) -> Generator[object, None, None]:
    try:
        yield from found
    except _STRANGE as error:
        name_damage(store, error)
        raise


def _is_ours(error: BaseException) -> bool:
    """Tell whether an error came up within our code, and not in that of who called it."""
    trace = error.__traceback__
    while trace is not None:
        frame = trace.tb_frame
        if (
            str(frame.f_globals.get("__name__", "")).startswith("factbook.")
            and frame.f_code.co_filename != __file__  # where a wrong call fails
        ):
            return True
        trace = trace.tb_next
    return False
