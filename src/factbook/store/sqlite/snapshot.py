"""What one snapshot of a SQLite file answers, and what is held in memory as of it."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from factbook.errors import UsageError
from factbook.model.facts import EVERYONE, EpisodeKind, Everyone
from factbook.store.rows import Filters, Head, Nearest
from factbook.store.sqlite.file import LedgerFile
from factbook.store.sqlite.reads import SQLiteReads

if TYPE_CHECKING:
    import apsw
    import numpy as np
    from numpy.typing import NDArray

    from factbook.store.sqlite.nearest import Follower, Held


class SQLiteSnapshot(SQLiteReads):
    """The reads of one snapshot; its thread alone may ask for more than is held in memory."""

    def __init__(self, store: Snapshots, head: Head, *, writing: bool = False) -> None:
        """Take the moment of the calling thread's snapshot, or of the write that it is in."""
        self.path = store.path
        self._store = store
        self._head = head
        self._writing = writing
        self._thread = threading.get_ident()
        self._held: Held | None = None

    def head(self, owner: str | Everyone = EVERYONE) -> Head:
        return self._head if owner is EVERYONE else super().head(owner)

    def in_memory(self) -> Held:
        """Return what is held in memory, read when it is first asked for."""
        if self._held is None:
            self._held = super().in_memory() if self._writing else self._store.hold(self)
        return self._held

    def turns(self, ids: Sequence[int]) -> dict[int, Sequence[tuple[int, EpisodeKind]]]:
        return super().turns(ids) if self._held is None else self._held.table.turns(ids)

    def take(self, held: Held) -> None:
        """Take what is held in memory as of this moment."""
        self._held = held

    def _rows(self, sql: str, bindings: Sequence[Any] | Mapping[str, Any] = ()) -> list[Any]:
        if threading.get_ident() != self._thread:
            raise UsageError(
                detail="this asks for more than a snapshot has in memory; ask it in the thread"
                " whose snapshot it is"
            )
        return self._store._rows(sql, bindings)

    def _scan(self, sql: str) -> Iterable[Any]:
        return self._store._scan(sql)

    def _plain(self, filters: Filters) -> Filters:
        # Where nothing is anybody else's, to ask for the owner of each row finds nothing out.
        known = self._held
        if known is None or filters.owner is EVERYONE or not known.table.is_all_of(filters.owner):
            return filters
        return replace(filters, owner=EVERYONE)


class SQLiteApart(SQLiteReads):
    """The reads of a moment that a connection of their own keeps."""

    def __init__(self, connection: apsw.Connection, path: Path) -> None:
        """Take a connection that has begun to read."""
        self.path = path
        self._connection = connection

    def _rows(self, sql: str, bindings: Sequence[Any] | Mapping[str, Any] = ()) -> list[Any]:
        return self._connection.execute(sql, bindings).fetchall()


class Snapshots(SQLiteReads):
    """The part of the store that makes snapshots, and holds in memory what they share."""

    _file: LedgerFile

    def __init__(self) -> None:
        """Hold nothing in memory yet."""
        self._following = threading.Lock()
        self._follower: Follower | None = None
        self._moments = threading.local()

    @contextmanager
    def snapshot(self) -> Iterator[SQLiteSnapshot]:
        outer = self._moment
        if outer is not None:
            yield outer
            return
        connection = self._file.connection
        if not connection.get_autocommit():
            yield SQLiteSnapshot(self, self.head(), writing=True)
            return
        try:
            # Begun one after the other, so that no thread comes with an older moment than the last.
            with self._following:
                connection.execute("BEGIN")
                # The first read is what fixes the moment.
                self._moments.now = moment = SQLiteSnapshot(self, self.head())
                known = self._follower
                if known is not None and known.commit <= moment.head().commit:
                    moment.take(self._follow(known, moment))
            yield moment
        finally:
            self._moments.now = None
            if not connection.get_autocommit():  # an I/O error may have ended it
                connection.execute("ROLLBACK")

    @property
    def _moment(self) -> SQLiteSnapshot | None:
        moment: SQLiteSnapshot | None = getattr(self._moments, "now", None)
        return moment

    def hold(self, moment: SQLiteSnapshot) -> Held:
        """Return what is held as of a snapshot of the calling thread.

        Of a moment before the one that others have come to all is read anew, for this one answer.
        """
        from factbook.store.sqlite.nearest import Follower

        with self._following:
            if self._follower is None:
                self._follower = Follower()
            if self._follower.commit <= moment.head().commit:
                return self._follow(self._follower, moment)
        return self._follow(Follower(), moment)

    def _follow(self, follower: Follower, moment: SQLiteSnapshot) -> Held:
        return follower.follow(moment._rows, moment.embedder, moment.head().commit)

    def _forget(self) -> None:
        """Hold nothing in memory any more: another file stands in the place of this one."""
        with self._following:
            self._follower = None

    def in_memory(self) -> Held:
        """Return what is held in memory as of the thread's snapshot, or as of now."""
        with self.snapshot() as moment:
            return moment.in_memory()

    def nearest(
        self, target: str, vectors: NDArray[np.float32], filters: Filters, k: int
    ) -> list[Nearest]:
        with self.snapshot() as moment:
            return moment.nearest(target, vectors, filters, k)

    def _plain(self, filters: Filters) -> Filters:
        moment = self._moment
        return filters if moment is None else moment._plain(filters)
