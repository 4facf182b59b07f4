"""Hold a ledger so that no other SQLite in this process can take its log away.

SQLite's locks are POSIX locks, which belong to a process: when any part of the process closes any
descriptor of the file, all of them are gone. Python's own `sqlite3` is another SQLite than ours and
knows nothing of our connections, so a `sqlite3.connect(path)` with a `close` in the program that
uses us takes our locks along. It then believes to be the last user of the file, empties our
write-ahead log and deletes it; what we write afterwards is in a file without a name.

A guard holds what matters a second time, with locks of an open file description (OFD). They belong
to one descriptor and fall with nothing else, and POSIX locks of any process, ours too, collide with
them. It holds

- the file for reading, as every connection to it does: nobody can believe to be its last user, and
  so nobody deletes the log,
- the index of the log (`-shm`) as being in use: nobody clears it under those who have it mapped,
- while we write, one byte that only ledgers use: even where SQLite's own lock on writing has fallen
  in the middle of a transaction, no other process begins one.

There is one guard for each file in a process, however often it is opened there: to close one of two
descriptors would drop the locks again. Where the system has no such locks (Windows needs none: its
locks belong to handles), a guard only keeps the writers of this process apart, and what remains is
that `LedgerFile` looks whether its files are still those of its path.
"""

from __future__ import annotations

import errno
import os
import struct
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from factbook import policy
from factbook.errors import StoreError, StoreLocked, StoreReadOnly

if sys.platform != "win32":
    import fcntl

# Where SQLite locks what: its file format (the lock-byte page), os_unix.c (UNIX_SHM_DMS).
_PENDING: Final = (0x4000_0000, 1)
_SHARED: Final = (0x4000_0002, 510)
_IN_USE: Final = (128, 1)  # in the index of the log
_WRITING: Final = (0x4000_0200, 1)  # ours: the first byte that SQLite does not use

_WAITS_S: Final = (0.001, 0.002, 0.005, 0.010, 0.015, 0.020, 0.025, 0.050)
"""How long to wait before looking again, as SQLite's own busy handler does."""

Identity = tuple[int, int]  # device and inode

_NO_SUCH_LOCKS: Final = {errno.EINVAL, errno.ENOLCK, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP}


def beside(path: Path, suffix: str) -> Path:
    """Return the path of a part of a ledger: its log (`-wal`), or the index of it (`-shm`)."""
    return path.parent / f"{path.name}{suffix}"


def identity_of(path: Path | str) -> Identity | None:
    """Return which file is at a path; None where there is none."""
    try:
        return _identity(os.stat(path))  # noqa: PTH116 - twice in each write: a third of Path.stat
    except OSError:
        return None


def _identity(status: os.stat_result) -> Identity:
    return status.st_dev, status.st_ino


class _Locks:
    """Locks of one open file description; a system without them gives none, and says so."""

    def __init__(self, path: Path) -> None:
        self._for_reading = False
        try:
            self.descriptor = os.open(path, os.O_RDWR)
        except OSError:
            self.descriptor = os.open(path, os.O_RDONLY)
            self._for_reading = True

    def take(self, part: tuple[int, int], *, alone: bool = False) -> bool | None:
        """Lock a part for reading, or alone; False where it is taken, None without such locks."""
        return self._set(part, "write" if alone else "read")

    def give_back(self, part: tuple[int, int]) -> None:
        self._set(part, "none")

    def _set(self, part: tuple[int, int], kind: str) -> bool | None:
        if sys.platform == "win32":
            return None
        command = getattr(fcntl, "F_OFD_SETLK", None)
        if command is None or (self._for_reading and kind == "write"):
            return None  # who cannot write the file gets no such lock, and SQLite says why
        types = {"read": fcntl.F_RDLCK, "write": fcntl.F_WRLCK, "none": fcntl.F_UNLCK}
        begin, length = part
        if sys.platform == "linux":
            flock = struct.pack("hhqqi4x", types[kind], os.SEEK_SET, begin, length, 0)
        else:  # macOS and the BSDs have the numbers first
            flock = struct.pack("qqihh", begin, length, 0, types[kind], os.SEEK_SET)
        try:
            fcntl.fcntl(self.descriptor, command, flock)
        except OSError as error:
            if error.errno in (errno.EAGAIN, errno.EACCES):
                return False
            if error.errno in _NO_SUCH_LOCKS:
                return None
            raise
        return True

    def close(self) -> None:
        with suppress(OSError):
            os.close(self.descriptor)


class Guard:
    """What this process holds of one ledger, whoever closes what."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.users = 0
        self.strong = False  # whether it holds locks that nobody else can drop
        self._file = _Locks(path)
        self._index: _Locks | None = None
        self._writers = threading.Lock()
        self._writer = 0  # the thread that writes
        self._forked = False

    @property
    def descriptor(self) -> int:
        """The open file, to be read and never closed by others."""
        return self._file.descriptor

    @property
    def index(self) -> int | None:
        """The open index of the log, likewise."""
        return self._index.descriptor if self._index is not None else None

    @classmethod
    def of(cls, path: Path, *, wait_s: float) -> Guard:
        """Hold the file at a path, which is in WAL mode; `leave` ends that.

        Raises StoreLocked, or StoreReadOnly where it cannot be opened.
        """
        try:
            key = _identity(path.stat())
        except OSError as error:
            raise StoreReadOnly(path=path, reason=error.strerror or str(error)) from error
        if key in _torn:
            raise StoreError(
                detail=f"this process was forked while its parent wrote to {path}, and holds half"
                " of that write; start it anew (`spawn`), or fork it when nothing is written"
            )
        with _changing:
            guard = _guards.get(key)
            if guard is None:
                try:
                    guard = cls(path)
                except OSError as error:
                    raise StoreReadOnly(path=path, reason=error.strerror or str(error)) from error
                try:
                    guard.strong = guard._wait(_SHARED, wait_s, alone=False) is True
                except BaseException:
                    guard._file.close()
                    raise
                _guards[key] = guard
            guard.users += 1
        return guard

    def hold_index(self) -> None:
        """Hold the index of the log as well; it is there once a connection has read the file."""
        with _changing:
            if not self.strong or self._index is not None:
                return
            try:
                index = _Locks(beside(self.path, "-shm"))
            except OSError:
                return  # a file that nobody can write has none
            self._index = index  # never closed before the connections: that would drop their locks
            index.take(_IN_USE)

    @contextmanager
    def alone(self, *, wait_s: float) -> Iterator[None]:
        """Keep every other writer out, of this process and of others, until the block ends.

        Raises StoreLocked when that takes longer than `wait_s`.
        """
        if self._forked:
            raise StoreError(
                detail=f"{self.path} was opened before this process was forked; open it again here"
            )
        if not self._writers.acquire(timeout=wait_s):
            raise StoreLocked(path=self.path, seconds=wait_s)
        try:
            self._writer = threading.get_ident()
            self._wait(_WRITING, wait_s, alone=True)
            try:
                yield
            finally:
                if self.strong:
                    self._file.give_back(_WRITING)
        finally:
            self._writer = 0
            self._writers.release()

    @contextmanager
    def no_newcomers(self) -> Iterator[bool]:
        """Let nobody open the file meanwhile; those who have it open are not disturbed.

        Yields whether it could be had.
        """
        mine = self.strong and self._file.take(_PENDING, alone=True) is True
        try:
            yield mine
        finally:
            if mine:
                self._file.give_back(_PENDING)

    def _wait(self, part: tuple[int, int], wait_s: float, *, alone: bool) -> bool | None:
        """Lock a part as soon as it is free; None without such locks."""
        if alone and not self.strong:
            return None
        end = time.monotonic() + wait_s
        for turn in range(sys.maxsize):
            taken = self._file.take(part, alone=alone)
            if taken is not False:
                return taken
            if time.monotonic() >= end:
                break
            time.sleep(_WAITS_S[min(turn, len(_WAITS_S) - 1)])
        raise StoreLocked(path=self.path, seconds=wait_s)

    def leave(self) -> bool:
        """Be one user less; tell whether it was the last, who `drop`s it after its connections.

        The locks of the last one end here, so that SQLite can tidy up when it closes the file.
        """
        with _changing:
            self.users -= 1
            if self.users or self._forked:
                return False
            for key, guard in list(_guards.items()):
                if guard is self:
                    del _guards[key]
            self._file.give_back(_SHARED)
            if self._index is not None:
                self._index.give_back(_IN_USE)
            return True

    def drop(self) -> None:
        """Close the descriptors of a guard that nobody uses any more."""
        if self._forked:
            return
        self._file.close()
        if self._index is not None:
            self._index.close()

    def pause(self) -> bool:
        """Let nobody of this process write until `resume`; False where that takes too long."""
        if self._writer == threading.get_ident():
            return False
        return self._writers.acquire(timeout=policy.FORK_WAIT_S)

    def resume(self) -> None:
        """Let others write again."""
        self._writers.release()

    def forked(self) -> None:
        """Let go of it in a forked child: it must not hold what its parent has let go of."""
        self.drop()
        self._forked = True


_guards: dict[Identity, Guard] = {}
_changing = threading.Lock()


def held(path: Path) -> int | None:
    """Return the descriptor under which this process holds a file already, or its index.

    Who opens and closes such a file would drop the locks of its connections; not on Windows.
    """
    identity = identity_of(path)
    if identity is None or sys.platform == "win32":
        return None
    with _changing:
        guard = _guards.get(identity)
        if guard is not None:
            return guard.descriptor
        indexes = [other.index for other in _guards.values() if other.index is not None]
    return next((index for index in indexes if _identity(os.fstat(index)) == identity), None)


# Of a ledger that its parent was writing to, a forked child has an SQLite that believes to be
# writing for ever. So a fork waits for a write of another thread, and where it cannot (the thread
# itself is writing, or it takes too long) the child is told.
_torn: set[Identity] = set()
_forking = threading.local()


def is_torn(path: Path) -> bool:
    """Tell whether this process was forked in the midst of a write to a ledger."""
    return bool(_torn) and identity_of(path) in _torn


def _before_fork() -> None:
    _forking.paused = [guard for guard in list(_guards.values()) if guard.pause()]


def _after_fork_in_parent() -> None:
    for guard in _forking.paused:
        guard.resume()
    _forking.paused = []


def _after_fork() -> None:
    global _changing
    _changing = threading.Lock()
    for key, guard in _guards.items():
        guard.forked()
        if guard not in _forking.paused:
            _torn.add(key)
    _guards.clear()
    _forking.paused = []


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_before_fork, after_in_parent=_after_fork_in_parent, after_in_child=_after_fork
    )
