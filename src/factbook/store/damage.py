"""Say of an error that nobody expects whether a damaged file is behind it.

What a damaged page gives may be anything: a number where a text belongs, half a JSON document, an
id that nobody has. To expect that of every row wherever it is used would be a try in a hundred
places, and one would be missing. So it is asked once, when it has happened, at the border that
everybody comes through: an error of the kinds that strange values cause, raised in our own code,
has the ledger audited. Damaged, it is StoreCorrupt with what the audit says; else it stays what it
is. An audit reads the whole file, so a defect that fails at every call has it read once in a while
and no more, and a large file is left to `doctor`.
"""

from __future__ import annotations

import functools
import operator
import os
import struct
import sysconfig
import time
from collections.abc import Callable, Generator, Iterator
from types import GeneratorType
from typing import Any, Final, TypeVar
from weakref import WeakKeyDictionary

import apsw

from factbook import policy
from factbook.errors import FactbookError, StoreCorrupt
from factbook.store.named import public_methods
from factbook.store.port import Store
from factbook.store.sqlite.file import is_damage

NOT_SEEN: Final = (
    "letters that changed within a text without making another word, small changes of a vector,"
    " numbers such as times and confidences, and what was lost whole with what points to it; nor,"
    " above 512 MB and open for reading only, whether full text agrees with its rows"
)
"""What damage an audit cannot tell from what was stored: there are no check sums of rows."""

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
_NOT_LOOKED: Final = (
    "whether the ledger is damaged was not looked at: it is large, or was found whole a short while"
    " ago; `factbook doctor` looks"
)
# what calls the methods of a memory, where a wrong call fails
_CALLING: Final = frozenset({__name__, "factbook.store.named", "factbook.store.screened"})
_AS_IT_IS: Final = {"check", "close", "reopen"}
_LIBRARIES: Final = tuple(
    {os.path.join(sysconfig.get_path(name), "") for name in ("stdlib", "purelib", "platlib")}  # noqa: PTH118
)

_found_whole: WeakKeyDictionary[Store, float] = WeakKeyDictionary()
"""When a store was last looked at for nothing, on the monotonic clock."""

_T = TypeVar("_T")


def name_damage(store: Store, error: BaseException | None) -> None:
    """Raise StoreCorrupt from an error that the damage of a ledger explains; else do nothing."""
    if not isinstance(error, _STRANGE) or not _is_ours(error):
        return
    if is_damage(error):
        raise StoreCorrupt(path=store.name, reason=f"{error}") from error
    if {_LOOKED, _NOT_LOOKED} & set(getattr(error, "__notes__", ())):
        return
    if not _is_due(store):
        error.add_note(_NOT_LOOKED)
        return
    try:
        problems = store.check()
    except FactbookError:
        return  # locked, or gone meanwhile: what happened first has to be told
    if problems:
        problem = problems[0]
        why = f"{type(error).__name__}: {error}; {problem.what}: {problem.detail}"
        raise StoreCorrupt(path=store.name, reason=why) from error
    _found_whole[store] = time.monotonic()
    error.add_note(_LOOKED)


def _is_due(store: Store) -> bool:
    """Tell whether an audit is worth its time now."""
    last = _found_whole.get(store)
    if last is not None and time.monotonic() < last + policy.LOOK_AGAIN_S:
        return False
    files = store.files
    try:
        return files is not None and files.path.stat().st_size <= policy.LOOK_BYTES
    except OSError:
        return False


def naming_damage(
    *, at: str = "store", first: Callable[[Any], None] | None = None
) -> Callable[[type[_T]], type[_T]]:
    """Let every public method of a class name the damage of the ledger that is at `at`.

    `first` is called with the instance before each.
    """
    store_of: Callable[[Any], Store] = operator.attrgetter(at)

    def wrapped(kind: type[_T]) -> type[_T]:
        for name, method in public_methods(kind):
            if name not in _AS_IT_IS:
                setattr(kind, name, _naming(method, store_of, first))
        return kind

    return wrapped


def _naming(
    method: Callable[..., Any],
    store_of: Callable[[Any], Store],
    first: Callable[[Any], None] | None,
) -> Callable[..., Any]:
    @functools.wraps(method)
    def named(self: Any, *args: Any, **more: Any) -> Any:
        try:
            if first is not None:
                first(self)
            answer = method(self, *args, **more)
        except _STRANGE as error:
            name_damage(store_of(self), error)
            raise
        return _rows(answer, store_of(self)) if isinstance(answer, GeneratorType) else answer

    return named


def _rows(rows: Iterator[object], store: Store) -> Generator[object, None, None]:
    try:
        yield from rows
    except _STRANGE as error:
        name_damage(store, error)
        raise


def _is_ours(error: BaseException) -> bool:
    """Tell whether an error came up within our code.

    Not in that of who called it, and not in what a caller has given to be called, such as a model.
    """
    ours = False
    trace = error.__traceback__
    while trace is not None:
        path = trace.tb_frame.f_code.co_filename
        name = str(trace.tb_frame.f_globals.get("__name__", ""))
        if name.startswith("factbook."):
            ours = ours or name not in _CALLING
        elif name and not path.startswith(_LIBRARIES):  # apsw adds frames of its C code
            ours = False
        trace = trace.tb_next
    return ours
