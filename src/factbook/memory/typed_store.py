"""Where typed memories have their record: in the file itself, or in MongoDB."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, NamedTuple, cast

from factbook.errors import UsageError
from factbook.model.facts import Millis
from factbook.store.port import Store
from factbook.store.rows import Problem
from factbook.store.screened import Screen, unscreened

if TYPE_CHECKING:
    from factbook.apply.typed_record import TypedMirror
    from factbook.store.mongo.record import TypedRecord
    from factbook.store.mongo.split import SplitStore


class RecordState(NamedTuple):
    name: str
    generation: int  # the number of its last commit
    memories: int
    problems: Sequence[Problem]


class TypedStore:
    """The record of typed memories of one memory, where it is another store's."""

    def __init__(self, url: str | None, tenant: str, *, reading: bool) -> None:
        """Take a URL and a tenant; without them, $FACTBOOK_TYPED_STORE and $FACTBOOK_TENANT.

        A file that is only read is as new as the record is when it is opened. Raises UsageError for
        a URL that is of no use.
        """
        url = os.environ.get("FACTBOOK_TYPED_STORE", "") if url is None else url
        self._url = url
        self._reading = reading
        self._tenant = tenant or os.environ.get("FACTBOOK_TENANT", "")
        self._record: TypedRecord | None = None
        self._split: SplitStore | None = None
        self._screen: Screen = unscreened
        if self._url and not self._url.startswith(("mongodb://", "mongodb+srv://")):
            raise UsageError(detail="typed memories are kept in MongoDB: give a mongodb:// URL")

    @property
    def name(self) -> str:
        """How messages name it; empty where there is none."""
        return self._record.name if self._record is not None else ""

    def over(self, store: Store, *, clock: Callable[[], Millis], screen: Screen) -> Store:
        """Return a store with this record, or the store itself where there is none."""
        if not self._url or self._reading:
            return store
        try:
            from factbook.store.mongo.split import SplitStore
        except ImportError as error:
            raise UsageError(
                detail="MongoDB needs another package; install it with"
                " `pip install 'factbook[mongo]'`"
            ) from error
        self._screen = screen
        self._split = SplitStore(store, *self._opened(store), clock=clock)
        try:
            self._split.bring_up()
        except BaseException:
            self._split.close()
            raise
        return cast("Store", self._split)

    def _opened(self, store: Store) -> tuple[TypedRecord, TypedMirror]:
        from factbook.apply.typed_record import TypedMirror
        from factbook.store.mongo.record import TypedRecord

        self._record = TypedRecord(self._url, tenant=f"TENANT:{self._tenant or store.tenant}")
        mirror = TypedMirror(self._record.id_of, tenant=store.tenant, screen=self._screen)
        return self._record, mirror

    def reopened(self, store: Store) -> None:
        """Look anew at a store that was reopened: another file may stand there now."""
        if self._split is not None:
            self._split.reopened(*self._opened(store))

    def before_reading(self, open_: Callable[[], AbstractContextManager[object]]) -> None:
        """Bring a file that will only be read up to the record, by opening it to write once."""
        if self._url and self._reading:
            with open_():
                pass

    def rebuild(self) -> int:
        """Make the projection anew; return how many memories the record has.

        Raises UsageError where there is no record, RecordError where it cannot be asked.
        """
        if self._split is None:
            raise UsageError(
                detail="typed memories have no record but the file; FACTBOOK_TYPED_STORE names one"
            )
        return self._split.rebuild()

    def state(self) -> RecordState | None:
        """Return how it is; None where there is none. Raises RecordError where it is away."""
        if self._record is None or self._split is None:
            return None
        self._split.bring_up()
        memories, problems = self._record.count("memories"), self._split.problems()
        return RecordState(self._record.name, self._record.generation(), memories, problems)
