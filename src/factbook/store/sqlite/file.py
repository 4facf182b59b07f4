"""Open a SQLite file as a ledger: errors in words, connections per thread, migrations."""

from __future__ import annotations

import os
import threading
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import resources
from pathlib import Path
from typing import Literal

import apsw

from factbook import policy
from factbook.errors import (
    NotAStore,
    StoreCorrupt,
    StoreError,
    StoreFull,
    StoreLocked,
    StoreMissing,
    StoreReadOnly,
    StoreTooNew,
)
from factbook.store.parts import becoming

APPLICATION_ID = 0x66616374  # "fact"
_MAGIC = b"SQLite format 3\x00"
_PRAGMAS = (
    "trusted_schema=OFF",
    "foreign_keys=ON",
    "cache_size=-32768",  # KiB
    "temp_store=MEMORY",
)
_WRITING_PRAGMAS = (
    "journal_mode=WAL",
    "synchronous=FULL",
    "secure_delete=ON",
    # Pages. At the usual 1000 nearly every batch of logs would be copied from the WAL at once, and
    # pages that the next batch changes again with it.
    "wal_autocheckpoint=4000",
)

Mode = Literal["create", "write", "read"]


@contextmanager
def translated(path: Path) -> Iterator[None]:
    """Turn SQLite's errors into ours: one sentence that says what to do."""
    try:
        yield
    except (apsw.BusyError, apsw.LockedError) as error:
        raise StoreLocked(path=path, seconds=busy_timeout_ms() / 1000) from error
    except (apsw.ReadOnlyError, apsw.CantOpenError, apsw.PermissionsError) as error:
        raise StoreReadOnly(path=path, reason=str(error)) from error
    except apsw.FullError as error:
        raise StoreFull(path=path) from error
    except apsw.NotADBError as error:
        raise NotAStore(path=path, reason=str(error)) from error
    except apsw.CorruptError as error:
        raise StoreCorrupt(path=path, reason=str(error)) from error
    except apsw.IOError as error:
        raise StoreError(
            detail=f"{path} could not be read or written ({error}); check the disk and run it again"
        ) from error


def busy_timeout_ms() -> int:
    """Return how long to wait for another writer: $FACTBOOK_BUSY_TIMEOUT_MS, else the policy's."""
    named = os.environ.get("FACTBOOK_BUSY_TIMEOUT_MS", "")
    return int(named) if named.isdigit() else policy.BUSY_TIMEOUT_MS


def identity(connection: apsw.Connection) -> tuple[int, int]:
    """Return (application id, schema version) of a file."""
    application = connection.execute("PRAGMA application_id").fetchall()[0][0]
    version = connection.execute("PRAGMA user_version").fetchall()[0][0]
    return int(str(application)), int(str(version))


def migrations() -> list[tuple[int, str]]:
    """Return (version, SQL) of every migration, in order."""
    folder = resources.files("factbook.store.schema")
    found = [
        (int(item.name.split("_", 1)[0]), item.read_text(encoding="utf-8"))
        for item in folder.iterdir()
        if item.name.endswith(".sql")
    ]
    return sorted(found)


def _is_whole(path: Path, version: int) -> bool:
    """Tell whether a file is a readable ledger of that schema."""
    try:
        connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
        try:
            said = connection.execute("PRAGMA quick_check(1)").fetchall()
            return said == [("ok",)] and identity(connection) == (APPLICATION_ID, version)
        finally:
            connection.close()
    except apsw.Error:
        return False


class LedgerFile:
    """A SQLite file that is ours, at the newest schema, with one connection per thread."""

    def __init__(self, path: Path, *, mode: Mode = "create") -> None:
        """Open the file, making or migrating it where the mode allows.

        Raises StoreMissing, NotAStore, StoreTooNew, StoreLocked, StoreReadOnly or StoreCorrupt.
        """
        self.path = path
        self.mode: Mode = mode
        self._local = threading.local()
        self._lock = threading.Lock()
        self._connections: list[apsw.Connection] = []
        self._prepare_file()
        self._recognise()
        with translated(self.path):
            self._migrate()

    def _prepare_file(self) -> None:
        path = self.path
        if path.is_dir():
            raise NotAStore(path=path, reason="it is a folder")
        if not path.exists():
            if self.mode != "create":
                raise StoreMissing(path=path)
            try:
                path.parent.mkdir(parents=True, exist_ok=True)
                os.close(os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600))
            except OSError as error:
                raise StoreReadOnly(path=path, reason=error.strerror or str(error)) from error
        try:
            with path.open("rb") as file:
                magic = file.read(len(_MAGIC))
        except OSError as error:
            raise StoreReadOnly(path=path, reason=error.strerror or str(error)) from error
        if magic and magic != _MAGIC:
            raise NotAStore(path=path, reason="it is not an SQLite file")

    def _recognise(self) -> None:
        """Refuse what is not ours before anything could be written to it."""
        with translated(self.path):
            probe = self._open_to_read()
            try:
                application, version = identity(probe)
                tables = probe.execute("SELECT count(*) FROM sqlite_master").get
            finally:
                probe.close()
        if application != APPLICATION_ID and tables:
            raise NotAStore(path=self.path, reason="it is the database of another program")
        newest = migrations()[-1][0]
        if version > newest:
            raise StoreTooNew(path=self.path, found=version, known=newest)
        if self.mode == "read" and version < newest:
            if version == 0:
                raise NotAStore(path=self.path, reason="it is empty")
            raise StoreReadOnly(path=self.path, reason=f"schema {version} must be migrated first")

    def _open_to_read(self) -> apsw.Connection:
        flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
        uri = self.path.absolute().as_uri() + "?mode=ro"
        connection = apsw.Connection(uri, flags=flags)
        connection.set_busy_timeout(busy_timeout_ms())
        try:
            connection.execute("SELECT count(*) FROM sqlite_master").fetchall()
        except (apsw.CantOpenError, apsw.ReadOnlyError):
            # A file in a folder that cannot be written has no place for WAL's index. Without a
            # journal beside it nobody is writing, and it is read as it stands.
            connection.close()
            journal = self.path.with_name(f"{self.path.name}-wal")
            if journal.exists() and journal.stat().st_size:
                raise
            connection = apsw.Connection(uri + "&immutable=1", flags=flags)
        return connection

    def _connect(self) -> apsw.Connection:
        if self.mode == "read":
            connection = self._open_to_read()
        else:
            connection = apsw.Connection(str(self.path), flags=apsw.SQLITE_OPEN_READWRITE)
        connection.set_busy_timeout(busy_timeout_ms())
        # A reader maps the file; a writer's resident memory would grow with the file if it did.
        more = ("mmap_size=268435456",) if self.mode == "read" else _WRITING_PRAGMAS
        for pragma in (*_PRAGMAS, *more):
            # One by one: what stands after a statement with a result waits until that is read.
            connection.execute(f"PRAGMA {pragma}").fetchall()
        return connection

    @property
    def connection(self) -> apsw.Connection:
        """The calling thread's connection."""
        found: apsw.Connection | None = getattr(self._local, "connection", None)
        if found is None:
            with translated(self.path):
                found = self._connect()
            self._local.connection = found
            with self._lock:
                self._connections.append(found)
        return found

    def _migrate(self) -> None:
        known = migrations()
        version = identity(self.connection)[1]
        if version == known[-1][0]:
            return
        if version > 0:
            self._back_up(version)
        for number, sql in known:
            self._migrate_to(number, sql)

    def _back_up(self, version: int) -> None:
        """Keep a whole copy of the file beside it, readable by its owner only, once a version."""
        copy = self.path.with_name(f"{self.path.name}.schema-{version}.bak")
        if copy.exists() and _is_whole(copy, version):
            return
        try:
            with becoming(copy) as (part, _):
                self.connection.execute("VACUUM INTO ?", (str(part),))
        except OSError as error:
            raise StoreReadOnly(path=copy, reason=error.strerror or str(error)) from error

    def _migrate_to(self, number: int, sql: str) -> None:
        connection = self.connection
        connection.execute("BEGIN IMMEDIATE")
        try:
            if identity(connection)[1] < number:  # another process may have done it meanwhile
                connection.execute(sql).fetchall()
                if number == 1:
                    connection.execute(
                        "INSERT INTO meta VALUES ('tenant', ?), ('generation', '0')",
                        (str(uuid.uuid4()),),
                    )
                connection.execute(
                    f"PRAGMA application_id={APPLICATION_ID}; PRAGMA user_version={number}"
                )
        except BaseException:
            connection.execute("ROLLBACK")
            raise
        connection.execute("COMMIT")

    def close_thread(self) -> None:
        """Close the calling thread's connection; it gets another one if it asks again."""
        found: apsw.Connection | None = getattr(self._local, "connection", None)
        if found is None:
            return
        self._local.connection = None
        with self._lock:
            if found in self._connections:  # `close` may have been there before
                self._connections.remove(found)
        found.close()

    def close(self) -> None:
        """Close every thread's connection."""
        with self._lock:
            for connection in self._connections:
                connection.close()
            self._connections.clear()
        self._local = threading.local()


class CopyInMemory(LedgerFile):
    """A copy of a ledger in this process's memory, for one thread; it ends with the process.

    A file, also one in the temporary folder, would be left behind by a kill. A transaction that is
    rolled back would hold up everybody who writes while a model is asked.
    """

    def __init__(self, of: LedgerFile) -> None:
        self.path = of.path  # it names the ledger in messages, and is not opened
        self.mode = "write"
        self._local = threading.local()
        self._lock = threading.Lock()
        connection = apsw.Connection(":memory:")
        with connection.backup("main", of.connection, "main") as backup:
            backup.step(-1)  # all pages at once: of one moment
        for pragma in (*_PRAGMAS, *_WRITING_PRAGMAS):
            connection.execute(f"PRAGMA {pragma}").fetchall()
        self._connections = [connection]

    @property
    def connection(self) -> apsw.Connection:
        """The one connection."""
        return self._connections[0]
