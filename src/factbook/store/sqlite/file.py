"""Open a SQLite file as a ledger: errors in words, connections per thread, the schema."""

from __future__ import annotations

import os
import threading
import time
import uuid
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import resources
from pathlib import Path
from typing import Final, Literal

import apsw

from factbook import policy
from factbook.errors import (
    NotAStore,
    NotText,
    StoreCorrupt,
    StoreError,
    StoreFull,
    StoreLocked,
    StoreMissing,
    StoreReadOnly,
    StoreReplaced,
    StoreTooNew,
    StoreTooOld,
    UsageError,
)
from factbook.store.partial_files import becoming
from factbook.store.rows import Mode
from factbook.store.sqlite.guard import Guard, Identity, beside, held, identity_of, is_torn
from factbook.store.sqlite.upgrade import OLDEST, upgrade

APPLICATION_ID = 0x66616374  # "fact"
SCHEMA = 15
"""The number of `schema.sql`, which each change of it raises."""
MAGIC: Final = b"SQLite format 3\x00"  # what such a file begins with
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

_TO_READ_AGAIN = (
    "make it anew by reading the logs and chats again into another file, `factbook ingest --db"
    " NEW.db`, and have the factbook that made it export what nothing but it holds"
)
_TO_UPGRADE = (
    "open it to write, as `factbook embed` does, and it is upgraded with all that it holds"
)
_LONGEST_MS = 2**31 - 1  # that SQLite can wait
_NAMED_CHARS = 80  # of a text that is none, in its error

_kept: list[apsw.Connection] = []  # connections that must never be closed in this process


@contextmanager
def translated(path: Path) -> Iterator[None]:
    """Turn SQLite's errors into ours: one sentence that says what to do."""
    try:
        yield
    except (apsw.BusyError, apsw.LockedError, apsw.ProtocolError) as error:
        raise StoreLocked(path=path, seconds=busy_timeout_ms() / 1000) from error
    except (apsw.ReadOnlyError, apsw.CantOpenError, apsw.PermissionsError) as error:
        raise StoreReadOnly(path=path, reason=str(error)) from error
    except apsw.FullError as error:
        raise StoreFull(path=path) from error
    except apsw.NotADBError as error:
        raise NotAStore(path=path, reason=str(error)) from error
    except apsw.SQLError as error:
        if not is_damage(error):
            raise
        raise StoreCorrupt(path=path, reason=str(error)) from error
    except (apsw.CorruptError, UnicodeDecodeError) as error:  # what is stored is UTF-8
        raise StoreCorrupt(path=path, reason=str(error)) from error
    except UnicodeEncodeError as error:  # of a value that was to be bound, or hashed
        raise not_text(error.object) from error
    except apsw.IOError as error:
        raise StoreError(
            detail=f"{path} could not be read or written ({error}); check the disk and run it again"
        ) from error


# What the full text says of its own format, and what SQLite says of tables that are not as we made
# them: our statements name no others.
_OF_DAMAGE: Final = ("invalid fts5 file format", "no such column", "no such table")


def is_damage(error: BaseException) -> bool:
    """Tell whether an error is itself what SQLite says of a damaged file."""
    if isinstance(error, apsw.SQLError):
        return str(error).startswith(_OF_DAMAGE)
    return isinstance(error, apsw.CorruptError | apsw.NotADBError | UnicodeDecodeError)


def not_text(value: object) -> NotText:
    """Return the error of what holds half a character; its text can be shown everywhere."""
    return NotText(text=ascii(value)[:_NAMED_CHARS])


def busy_timeout_ms() -> int:
    """Return how long to wait for another writer: $FACTBOOK_BUSY_TIMEOUT_MS, else the policy's."""
    named = os.environ.get("FACTBOOK_BUSY_TIMEOUT_MS", "")
    if not (named.isascii() and named.isdigit()):
        return policy.BUSY_TIMEOUT_MS
    # Longer than SQLite can count is as long as it can.
    return int(named) if len(named) < len(str(_LONGEST_MS)) else _LONGEST_MS


def identity(connection: apsw.Connection) -> tuple[int, int]:
    """Return (application id, schema version) of a file."""
    application, version = (
        connection.execute(f"PRAGMA {name}").get for name in ("application_id", "user_version")
    )
    return int(str(application)), int(str(version))


class LedgerFile:
    """A SQLite file that is ours, at the newest schema, with one connection per thread."""

    _guard: Guard | None = None
    _files: tuple[Identity | None, Identity | None] = (None, None)  # the file, and its log

    def __init__(self, path: Path, *, mode: Mode = "create") -> None:
        """Open the file, making it where the mode allows.

        Raises StoreMissing, NotAStore, StoreTooNew, StoreTooOld, StoreLocked, StoreReadOnly or
        StoreCorrupt.
        """
        self.path = path
        self.mode: Mode = mode
        self._log = beside(path, "-wal")  # once: it is looked for twice in each transaction
        self._lock = threading.Lock()
        self._open()

    def _open(self) -> None:
        self._local = threading.local()
        self._connections: list[apsw.Connection] = []
        self._files = (None, None)
        self._prepare_file()
        journal = self._recognise()
        try:
            self._hold(journal)
            with translated(self.path):
                self._create()
        except BaseException:
            self._close()
            raise

    def _prepare_file(self) -> None:
        path = self.path
        try:
            there = path.exists()
            if path.is_dir():
                raise NotAStore(path=path, reason="it is a folder")
            if there and not path.is_file():  # a pipe would be waited for, without an end
                raise NotAStore(path=path, reason="it is no file")
            if not there:
                if self.mode != "create":
                    raise StoreMissing(path=path)
                path.parent.mkdir(parents=True, exist_ok=True)
                os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
            open_here = held(path)
            if open_here is not None:
                magic = os.pread(open_here, len(MAGIC), 0)
            else:
                with path.open("rb") as file:
                    magic = file.read(len(MAGIC))
        except OSError as error:  # a name that is too long, a folder that is another's
            raise StoreReadOnly(path=path, reason=error.strerror or str(error)) from error
        if magic and magic != MAGIC:
            raise NotAStore(path=path, reason="it is not an SQLite file")

    def _recognise(self) -> str:
        """Refuse what is not ours before anything could be written to it; return its journal."""
        with translated(self.path):
            probe = self.open_to_read()
            try:
                probe.execute("BEGIN")  # of one moment: another process may be making it
                application, version = identity(probe)
                tables = probe.execute("SELECT count(*) FROM sqlite_master").get
                journal = str(probe.execute("PRAGMA journal_mode").get)
            finally:
                probe.close()
        if application != APPLICATION_ID and tables:
            raise NotAStore(path=self.path, reason="it is the database of another program")
        if version > SCHEMA:
            raise StoreTooNew(path=self.path, found=version, known=SCHEMA)
        if version < SCHEMA and tables:
            upgraded = version >= OLDEST
            if not upgraded or self.mode == "read":
                advice = _TO_UPGRADE if upgraded else _TO_READ_AGAIN
                raise StoreTooOld(path=self.path, found=version, known=SCHEMA, advice=advice)
        if not tables and self.mode == "read":
            raise NotAStore(path=self.path, reason="it is empty")
        return journal

    def _hold(self, journal: str) -> None:
        """Hold the file before any connection is opened that stays: its log is then sure to stay.

        A file that is read and has no write-ahead log needs no guard, and one that is to be written
        gets its log here, because turning it on needs the file for oneself.
        """
        if journal != "wal":
            if self.mode == "read":
                return
            with translated(self.path):
                first = apsw.Connection(str(self.path), flags=apsw.SQLITE_OPEN_READWRITE)
                try:
                    first.set_busy_timeout(busy_timeout_ms())
                    _turn_on_log(first)
                finally:
                    first.close()
        self._guard = Guard.of(self.path, wait_s=busy_timeout_ms() / 1000)
        self._let_go = weakref.finalize(self, _abandon, self._guard)
        self._let_go.atexit = False  # the end of the process lets go of everything at once

    def open_to_read(self) -> apsw.Connection:
        """Open one more connection, for reading only; whoever asks for it closes it."""
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
            if self._log.exists() and self._log.stat().st_size:
                raise
            connection = apsw.Connection(uri + "&immutable=1", flags=flags)
        return connection

    def _connect(self, mode: Mode) -> apsw.Connection:
        first = not self._connections
        if not first:
            self.check_same()  # it would read another log by the index of ours
        if mode == "read":
            connection = self.open_to_read()
        else:
            connection = apsw.Connection(str(self.path), flags=apsw.SQLITE_OPEN_READWRITE)
        connection.set_busy_timeout(busy_timeout_ms())
        # SQLite deletes the log by its name, whichever file that is by then: `_close` says when.
        connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
        # A reader maps the file; a writer's resident memory would grow with the file if it did.
        more = ("mmap_size=268435456",) if mode == "read" else _WRITING_PRAGMAS
        for pragma in (*_PRAGMAS, *more):
            # One by one: what stands after a statement with a result waits until that is read.
            connection.execute(f"PRAGMA {pragma}").fetchall()
        connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchall()  # opens the log
        if self._guard is not None:
            self._guard.hold_index()
            if first:
                self._files = identity_of(self.path), identity_of(self._log)
        return connection

    def check_same(self) -> None:
        """See whether the path still names the files that are open here.

        Raises StoreReplaced: what would be written now, nobody else could ever read.
        """
        if self._is_same():
            return
        if identity_of(self.path) != self._files[0]:
            raise StoreReplaced(path=self.path, what="another file stands in its place, or none")
        raise StoreReplaced(path=self.path, what="its write-ahead log was deleted or replaced")

    def _is_same(self) -> bool:
        file, log = self._files
        return file is None or (
            identity_of(self.path) == file and (log is None or identity_of(self._log) == log)
        )

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Keep other writers of ledgers out until the block ends."""
        if self._guard is None:  # it is in memory: nobody else can open it
            yield
            return
        with self._guard.alone(wait_s=busy_timeout_ms() / 1000):
            yield

    @contextmanager
    def transaction(self) -> Iterator[apsw.Connection]:
        """Open a write transaction; it commits at the end of the block, or rolls back whole.

        Raises StoreReadOnly, StoreLocked, StoreReplaced and what `translated` names, and UsageError
        within a snapshot, which cannot see what would be written.
        """
        if self.mode == "read":
            raise StoreReadOnly(path=self.path, reason="it was opened for reading only")
        connection = self.connection
        if not connection.get_autocommit():
            raise UsageError(
                detail="a write was begun within a snapshot or another write of the same thread;"
                " end that block first."
            )
        with self.alone(), translated(self.path):
            connection.execute("BEGIN IMMEDIATE")
            try:
                self.check_same()
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                if not connection.get_autocommit():  # a full disk may have rolled back already
                    connection.execute("ROLLBACK")
                raise
            self.check_same()  # else nobody but us could read what is about to be acknowledged

    @property
    def connection(self) -> apsw.Connection:
        """The calling thread's connection."""
        connection: apsw.Connection | None = getattr(self._local, "connection", None)
        if connection is None:
            with translated(self.path):
                connection = self._connect(self.mode)
            self._local.connection = connection
            with self._lock:
                self._connections.append(connection)
        return connection

    @contextmanager
    def reading_apart(self) -> Iterator[apsw.Connection]:
        """Read all of a block as of one moment, in a connection that belongs to no thread."""
        connection = self._connect("read")
        try:
            connection.execute("BEGIN")
            yield connection
        finally:
            connection.close()

    def _create(self) -> None:
        """Make the tables of a file that has none, in one transaction with its number."""
        ours = (APPLICATION_ID, SCHEMA)
        if identity(self.connection) == ours:
            return
        sql = resources.files(__package__).joinpath("schema.sql").read_text(encoding="utf-8")
        if identity(self.connection)[0] == APPLICATION_ID:
            self._upgrade(sql)
            return
        with self.transaction() as connection:
            if identity(connection) == ours:  # another process has done it meanwhile
                return
            connection.execute(sql).fetchall()
            connection.execute(
                "INSERT INTO meta VALUES ('tenant', ?), ('commit', '0'), ('memory', '0'),"
                " ('everyone', '0')",
                (str(uuid.uuid4()),),
            )
            connection.execute(
                f"PRAGMA application_id={APPLICATION_ID}; PRAGMA user_version={SCHEMA}"
            )

    def _upgrade(self, sql: str) -> None:
        """Give a file of an older schema the newest one, whole or not at all."""
        self.connection.execute("PRAGMA foreign_keys=OFF")  # within a transaction it has no effect
        try:
            with self.transaction() as connection:
                version = identity(connection)[1]
                if version == SCHEMA:
                    return
                upgrade(connection, sql, version)
                connection.execute(f"PRAGMA user_version={SCHEMA}")
        finally:
            self.connection.execute("PRAGMA foreign_keys=ON")
        # Only to tidy up: where others read it or the disk is full, what it had twice stays.
        with suppress(apsw.Error):
            self.vacuum()

    def vacuum(self) -> None:
        """Write the file anew beside itself: in memory it might not fit."""
        self.connection.execute("PRAGMA temp_store=FILE")
        try:
            self.connection.execute("VACUUM")
        finally:
            self.connection.execute("PRAGMA temp_store=MEMORY")

    def close_thread(self) -> None:
        """Close the calling thread's connection; it gets another one if it asks again."""
        connection: apsw.Connection | None = getattr(self._local, "connection", None)
        if connection is None:
            return
        self._local.connection = None
        with self._lock:
            if connection in self._connections:  # `close` may have been there before
                self._connections.remove(connection)
        connection.close()

    def close(self) -> None:
        """Close every thread's connection.

        Raises StoreReplaced where only this process held something that was acknowledged: the
        error names the copy in which it has been saved.
        """
        saved = self.rescue()
        self._close()
        if saved is not None:
            raise StoreReplaced(
                path=self.path,
                what="what only this process held of it could not be written into it and was saved"
                f" as {saved}",
            )

    def _close(self) -> None:
        guard, self._guard = self._guard, None
        tidy = self._is_same()
        last = guard.leave() if guard is not None else False
        with self._lock:
            if is_torn(self.path):
                # To close a connection of a write that its parent goes on with would undo what it
                # has in the shared index of the log.
                _kept.extend(self._connections)
                self._connections.clear()
            for connection in self._connections:
                if tidy:
                    connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0)
                connection.close()
            self._connections.clear()
        self._local = threading.local()
        if guard is not None:
            self._let_go.detach()
            if last:
                guard.drop()

    def reopen(self) -> Path | None:
        """Save what only this process holds, and open what stands at the path now.

        Returns the copy that had to be made, or None: nothing was held here alone, or it could be
        written into the file itself. No other call may be under way.
        """
        saved = self.rescue()
        self._close()
        self._open()
        return saved

    def rescue(self) -> Path | None:
        """Save what stands in a log that nobody else can open any more.

        Where nobody has begun another log, it is moved into the file, as the next to close it
        would have done. Else two histories have begun at one point and cannot be one file: what is
        held here becomes a copy beside it, and nothing of either is lost.
        """
        with self._lock:
            connection = next(iter(self._connections), None)
        if self._is_same() or connection is None or self.mode == "read":
            return None
        replaced = identity_of(self.path) != self._files[0]
        with translated(self.path):
            copy = None
            if not _all_moved(connection, "NOOP") and (replaced or not self._moved(connection)):
                copy = self._copy(connection)
        if replaced and identity_of(self._log) == self._files[1]:
            # It is the log of the file that stood here: the next to open this one would have its
            # pages written over by it.
            self._log.unlink(missing_ok=True)
            beside(self.path, "-shm").unlink(missing_ok=True)
        return copy

    def _moved(self, connection: apsw.Connection) -> bool:
        """Move a log that was deleted into the file, where nobody can have begun another one."""
        if self._guard is None:
            return False
        with self._guard.no_newcomers() as mine:
            return mine and identity_of(self._log) is None and _all_moved(connection, "FULL")

    def _copy(self, connection: apsw.Connection) -> Path:
        number = 1
        while (copy := beside(self.path, f".saved-{number}")).exists():
            number += 1
        try:
            with becoming(copy) as (part, _):
                connection.execute("VACUUM INTO ?", (str(part),))
        except OSError as error:
            raise StoreReadOnly(path=copy, reason=error.strerror or str(error)) from error
        return copy


def _turn_on_log(connection: apsw.Connection) -> None:
    """Give a file its write-ahead log, where several processes may be doing it at once.

    SQLite does not wait for the file then, for two that wait for each other would wait for ever: it
    refuses at once, and whoever was refused finds the log turned on, or tries again.
    """
    until = time.monotonic() + busy_timeout_ms() / 1000
    while True:
        try:
            connection.execute("PRAGMA journal_mode=WAL").fetchall()
            return
        except apsw.BusyError:
            if time.monotonic() > until:
                raise
        time.sleep(0.005)


def _all_moved(connection: apsw.Connection, how: Literal["NOOP", "FULL"]) -> bool:
    """Tell whether all of the log is in the file, after moving it there, or as it is."""
    busy, logged, moved = connection.execute(f"PRAGMA wal_checkpoint({how})").fetchall()[0]
    return not busy and logged == moved


def _abandon(guard: Guard) -> None:
    """Let go of a file that was never closed."""
    if guard.leave():
        guard.drop()


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

    @contextmanager
    def reading_apart(self) -> Iterator[apsw.Connection]:
        """Read with the one connection: what stands in the file is something else."""
        yield self.connection
