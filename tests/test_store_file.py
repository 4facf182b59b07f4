"""The file of a store: what a migration leaves behind, and one connection for each thread."""

from __future__ import annotations

import os
import stat
import threading
from pathlib import Path

import apsw
import pytest

from factbook.errors import FactbookError
from factbook.store.sqlite import SQLiteStore, file


def old(path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a ledger of the first schema; return where its backup will be."""
    first = file.migrations()[:1]
    with monkeypatch.context() as patch:
        patch.setattr(file, "migrations", lambda: first)
        SQLiteStore(path).close()
    return path.with_name(f"{path.name}.schema-1.bak")


def version(path: Path) -> int:
    connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        return file.identity(connection)[1]
    finally:
        connection.close()


@pytest.mark.parametrize("half", [b"", b"SQLite format 3\x00 and no more"])
def test_half_a_backup_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, half: bytes
) -> None:
    path = tmp_path / "f.db"
    backup = old(path, monkeypatch)
    backup.write_bytes(half)
    SQLiteStore(path).close()
    assert (version(backup), version(path)) == (1, file.migrations()[-1][0])
    assert stat.S_IMODE(backup.stat().st_mode) == 0o600
    assert not list(tmp_path.glob("*part"))


def test_a_whole_backup_is_left_as_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "f.db"
    backup = old(path, monkeypatch)
    backup.write_bytes(path.read_bytes())
    before = backup.stat().st_ino
    SQLiteStore(path).close()
    assert backup.stat().st_ino == before


def test_a_backup_is_never_readable_by_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "f.db"
    backup = old(path, monkeypatch)
    modes: set[int] = set()
    replace = Path.replace

    def seen(self: Path, target: Path) -> Path:
        modes.add(stat.S_IMODE(self.stat().st_mode))
        assert not target.exists()
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", seen)
    before = os.umask(0)
    try:
        SQLiteStore(path).close()
    finally:
        os.umask(before)
    assert modes == {0o600}
    assert backup.exists()


def test_a_backup_that_cannot_be_made_stops_the_migration(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "f.db"
    backup = old(path, monkeypatch)
    backup.mkdir()
    with pytest.raises(FactbookError):
        SQLiteStore(path)
    assert version(path) == 1
    assert not list(tmp_path.glob("*part"))


def test_a_thread_closes_its_own_connection(tmp_path: Path) -> None:
    store = SQLiteStore(tmp_path / "f.db")

    def work() -> None:
        assert store.generation() == 0
        store.close_thread()
        store.close_thread()
        assert store.generation() == 0  # asked again, it opens another one
        store.close_thread()

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert len(store._file._connections) == 1
    assert store.generation() == 0
    store.close()
