"""Keep a tenant's ledger in one SQLite file.

WAL, `synchronous=FULL`, `BEGIN IMMEDIATE` and a busy timeout: an acknowledged write is on the disk,
and many processes may read and write the same file. Facts, evidence, full text, vectors, queue and
history are tables of that one file, so they commit together.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from factbook.errors import StoreCorrupt
from factbook.model.facts import EVERYONE, Everyone, Millis
from factbook.store.rows import Mode, Problem
from factbook.store.sqlite.audit import audit
from factbook.store.sqlite.file import CopyInMemory, LedgerFile, translated
from factbook.store.sqlite.files import SQLiteFiles
from factbook.store.sqlite.snapshot import Snapshots, SQLiteApart
from factbook.store.sqlite.writer import SQLiteQuietWriter, SQLiteWriter


class SQLiteStore(Snapshots):
    """A `Store` in one SQLite file; thread-safe, with one connection per thread."""

    def __init__(
        self, path: Path, *, mode: Mode = "create", opened: LedgerFile | None = None
    ) -> None:
        """Open the file, making it where the mode allows, or take one that is open.

        Raises StoreMissing, NotAStore, StoreTooNew, StoreTooOld, StoreLocked, StoreReadOnly or
        StoreCorrupt.
        """
        super().__init__()
        self.path = path
        self._file = opened or LedgerFile(path, mode=mode)
        self._tenant = self._meta("tenant") or ""

    @property
    def name(self) -> str:
        return str(self.path)

    @property
    def files(self) -> SQLiteFiles | None:
        """What can be done with the bytes of the file; those of a copy in memory lie nowhere."""
        if isinstance(self._file, CopyInMemory):
            return None
        return SQLiteFiles(self._file, self._reopened)  # not kept: it holds the store

    @property
    def tenant(self) -> str:
        """The tenant's UUID, kept in the file."""
        return self._tenant

    def close(self) -> None:
        self._file.close()

    def _reopened(self) -> None:
        self._forget()
        self._tenant = self._meta("tenant") or ""

    def close_thread(self) -> None:
        self._file.close_thread()

    @contextmanager
    def rehearsal(self) -> Iterator[SQLiteStore]:
        """Give a copy in memory: a kill leaves nothing of it on the disk."""
        with translated(self.path):
            copy = SQLiteStore(self.path, opened=CopyInMemory(self._file))
        try:
            yield copy
        finally:
            copy.close()

    @contextmanager
    def writing(
        self, *, now: Millis, touches: Collection[str] | Everyone = EVERYONE
    ) -> Iterator[SQLiteWriter]:
        with self._file.transaction() as connection:
            writer = SQLiteWriter(connection, self.path, now=now)
            yield writer
            writer.commit(touches)

    @contextmanager
    def locked(self) -> Iterator[SQLiteQuietWriter]:
        with self._file.transaction() as connection:
            yield SQLiteQuietWriter(connection, self.path)

    def _rows(self, sql: str, bindings: Sequence[Any] | Mapping[str, Any] = ()) -> list[Any]:
        with translated(self.path):
            return self._file.connection.execute(sql, bindings).fetchall()

    def _scan(self, sql: str) -> Iterable[Any]:
        return self._file.connection.execute(sql)

    def _each(self, sql: str, bindings: Sequence[Any], limit: int | None) -> Iterator[Any]:
        """Iterate over rows, without keeping the thread at this moment until the last is taken.

        A statement that is half read would hide what others write, and refuse what the thread does.
        """
        if limit is not None or not self._file.connection.get_autocommit():
            yield from super()._each(sql, bindings, limit)
            return
        with translated(self.path), self._file.reading_apart() as connection:
            yield from connection.execute(sql, bindings)

    @contextmanager
    def apart(self) -> Iterator[SQLiteApart]:
        with translated(self.path), self._file.reading_apart() as connection:
            yield SQLiteApart(connection, self.path)

    def check(self) -> list[Problem]:
        """Audit the file; an empty list is clean."""
        try:
            with translated(self.path):
                return audit(self._file.connection, writable=self._file.mode != "read")
        except StoreCorrupt as error:
            return [Problem(what="file", detail=str(error))]
