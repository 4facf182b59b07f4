"""The SQLite store treats files that are not its own with care."""

from __future__ import annotations

import multiprocessing
import os
import stat
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import apsw
import pytest

from factbook.apply.apply import apply
from factbook.errors import (
    NotAStore,
    StoreCorrupt,
    StoreError,
    StoreLocked,
    StoreMissing,
    StoreReadOnly,
    StoreTooNew,
    StoreTooOld,
)
from factbook.model.facts import ME, Trigger
from factbook.model.ops import RecordEpisode, RecordSource
from factbook.store.derived.counts import row_counts
from factbook.store.rows import Filters
from factbook.store.sqlite import Mode, SQLiteStore
from factbook.store.sqlite.upgrade import OLDEST
from factbook.store.transfer import exported
from factbook.testing import sample_episode, sample_fact, sample_source


def _write(path: Path, first: int, count: int) -> None:
    store = SQLiteStore(path)
    for n in range(first, first + count):
        episode = sample_episode(n)
        apply(
            store,
            [
                RecordSource(source=sample_source()),
                RecordEpisode(episode=episode),
                sample_fact(episode, "used_tool", "Bash"),
            ],
            trigger=Trigger.SESSION_LOG,
            actor=f"writer {first}",
            now=1,
        )
    store.close()


def test_an_export_is_of_one_moment(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    _write(path, 1, 3)
    store = SQLiteStore(path)
    whole = list(exported(store, ME))
    export = exported(store, ME)
    read = [next(export)]
    episode = RecordEpisode(episode=sample_episode(9))  # who reads may write meanwhile
    apply(store, [episode], trigger=Trigger.SESSION_LOG, actor="test", now=2)
    assert [*read, *export] == whole
    assert len(list(exported(store, ME))) > len(whole)
    left = exported(store, ME)
    next(left)
    del left  # ended with its generator: the log is copied into the file, whole
    assert store._file.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").get == (0, 0, 0)
    assert path.with_name("m.db-wal").stat().st_size == 0
    assert store.check() == []
    store.close()


@pytest.mark.parametrize("error", [None, KeyError("of the caller"), apsw.IOError("of the disk")])
def test_a_snapshot_is_never_left_open(tmp_path: Path, error: Exception | None) -> None:
    path = tmp_path / "m.db"
    store = SQLiteStore(path)
    with suppress(KeyError, apsw.IOError), store.snapshot(), store.snapshot():
        if error is not None:
            raise error
    _write(path, 1, 3)
    assert store._file.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").get == (0, 0, 0)
    assert path.with_name("m.db-wal").stat().st_size == 0
    assert store.check() == []
    store.close()


def test_a_new_file_is_private(tmp_path: Path) -> None:
    SQLiteStore(tmp_path / "deep" / "er" / "m.db").close()
    assert stat.S_IMODE((tmp_path / "deep" / "er" / "m.db").stat().st_mode) == 0o600


def test_a_missing_file_is_not_made_for_reading(tmp_path: Path) -> None:
    with pytest.raises(StoreMissing, match="factbook ingest"):
        SQLiteStore(tmp_path / "m.db", mode="read")
    assert list(tmp_path.iterdir()) == []


def test_text_is_not_a_store(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("dear diary")
    with pytest.raises(NotAStore):
        SQLiteStore(path)
    assert path.read_text() == "dear diary"


def test_a_folder_is_not_a_store(tmp_path: Path) -> None:
    with pytest.raises(NotAStore, match="folder"):
        SQLiteStore(tmp_path)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no such pipes")
@pytest.mark.parametrize("mode", ["create", "read"])
def test_a_pipe_is_not_a_store_and_nobody_waits_for_it(
    tmp_path: Path, mode: Literal["create", "read"]
) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(NotAStore, match="no file"):
        SQLiteStore(tmp_path / "pipe", mode=mode)


def test_the_database_of_another_program_is_left_untouched(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    apsw.Connection(str(path)).execute("CREATE TABLE songs (name); INSERT INTO songs VALUES ('x')")
    before = path.read_bytes()
    with pytest.raises(NotAStore, match="another program"):
        SQLiteStore(path)
    assert path.read_bytes() == before
    assert [one.name for one in tmp_path.iterdir()] == ["other.db"]


@pytest.mark.parametrize(
    ("version", "error", "said"),
    [
        (999, StoreTooNew, "schema 999.*upgrade factbook"),
        (OLDEST - 1, StoreTooOld, "older state.*ingest --db NEW.db"),
        (0, StoreTooOld, "schema 0"),
    ],
)
@pytest.mark.parametrize("mode", ["create", "write", "read"])
def test_a_file_of_another_schema_is_left_untouched(
    tmp_path: Path, version: int, error: type[StoreError], said: str, mode: Mode
) -> None:
    path = tmp_path / "m.db"
    _write(path, 0, 3)
    connection = apsw.Connection(str(path))
    connection.execute(f"PRAGMA user_version = {version}")
    connection.close()
    before = path.read_bytes()
    with pytest.raises(error, match=said):
        SQLiteStore(path, mode=mode)
    assert path.read_bytes() == before
    assert {one.name.removeprefix("m.db") for one in tmp_path.iterdir()} <= {"", "-wal", "-shm"}


def test_a_ledger_is_made_whole_or_not_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "m.db"
    with monkeypatch.context() as patch:
        patch.setattr("factbook.store.sqlite.file.APPLICATION_ID", "no number")
        with pytest.raises(apsw.SQLError):
            SQLiteStore(path)
    store = SQLiteStore(path)  # nothing of the first try is there
    assert store.check() == []
    store.close()


def test_a_damaged_file_says_so(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    _write(path, 0, 50)
    data = bytearray(path.read_bytes())
    data[8192:40960] = os.urandom(40960 - 8192)
    path.write_bytes(data)
    found: object
    try:
        found = SQLiteStore(path).check()
    except StoreCorrupt as error:
        found = error
    assert found


def test_a_lock_is_waited_for_and_then_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "m.db"
    _write(path, 0, 1)
    other = apsw.Connection(str(path))
    other.execute("BEGIN IMMEDIATE")
    monkeypatch.setenv("FACTBOOK_BUSY_TIMEOUT_MS", "50")
    with pytest.raises(StoreLocked):
        _write(path, 1, 1)
    other.execute("ROLLBACK")
    _write(path, 1, 1)
    store = SQLiteStore(path)
    assert row_counts(store)["episodes"] == 2
    assert store.check() == []


def test_a_file_opened_for_reading_is_not_written(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    _write(path, 0, 3)
    store = SQLiteStore(path, mode="read")
    assert len(list(store.facts(Filters(), limit=None))) == 3
    with pytest.raises(StoreReadOnly), store.writing(now=1):
        pass
    assert store.check() == []


def test_the_history_cannot_be_changed(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    _write(path, 0, 1)
    connection = apsw.Connection(str(path))
    for sql in ("DELETE FROM event_row", "UPDATE event_row SET actor = 'me'"):
        with pytest.raises(apsw.ConstraintError, match="append-only"):
            connection.execute(sql)


def test_many_processes_write_one_file(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    context = multiprocessing.get_context("spawn")
    # They overlap on purpose: episodes 20-29 are offered by two of them and count once.
    workers = [context.Process(target=_write, args=(path, first, 30)) for first in (0, 20, 50)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(60)
        assert worker.exitcode == 0
    store = SQLiteStore(path)
    assert row_counts(store)["episodes"] == 80
    assert row_counts(store)["facts"] == 80
    assert store.check() == []


@pytest.mark.parametrize(
    ("damage", "what"),
    [
        ("UPDATE fact_row SET evidence_count = 7 WHERE id = 1", "evidence_count"),
        ("UPDATE source_row SET episode_count = 99", "episode_count"),
        ("UPDATE evidence_row SET end_char = 9999 WHERE fact_id = 2", "evidence_span"),
        ("UPDATE evidence_row SET quote_chars = 9999 WHERE fact_id = 2", "evidence_span"),
        ("UPDATE fact_row SET object = 'Fish' WHERE id = 1", "claim"),
        ("UPDATE fact_row SET status = 'pending_embed', embeddable = 1 WHERE id = 1;"
         "INSERT INTO fact_vector VALUES (1, 1, x'00')", "fact_vector"),
        ("UPDATE episode_data SET vector_state = 2 WHERE id = 1", "episode_vector"),
        ("UPDATE episode_data SET attributes = '{' WHERE id = 1", "json"),
        ("UPDATE episode_data SET injected = 1 WHERE id = 1", "evidence_from_injected_text"),
        ("UPDATE fact_row SET status = 'merged_into', merged_into_id = 1, retired_at = 5"
         " WHERE id = 1", "pointer"),
        ("INSERT INTO episode_fts(episode_fts, rowid, text)"
         " SELECT 'delete', id, text FROM episode_row WHERE id = 1", "full_text"),
        ("UPDATE episode_data SET text = 'Bash and some other words' WHERE id = 1", "full_text"),
        ("DROP TRIGGER event_is_never_deleted; DELETE FROM event_row", "history"),
        ("UPDATE fact_row SET occurred_at = 5 WHERE id = 1", "fact_time"),
    ],
)  # fmt: skip
def test_check_finds_the_damage(tmp_path: Path, damage: str, what: str) -> None:
    path = tmp_path / "m.db"
    _write(path, 0, 3)
    apsw.Connection(str(path)).execute(damage)
    assert what in {problem.what for problem in SQLiteStore(path).check()}


def _open_each(folder: Path, together: Any, failed: Any) -> None:
    for n in range(25):
        together.wait(60)
        try:
            SQLiteStore(folder / f"{n}.db").close()
        except StoreError as error:
            failed.put(f"{n}: {error}")


def test_processes_make_a_file_at_the_same_moment(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    together, failed = context.Barrier(4), context.Queue()
    workers = [
        context.Process(target=_open_each, args=(tmp_path, together, failed)) for _ in range(4)
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(120)
    assert failed.empty(), failed.get()
    assert SQLiteStore(tmp_path / "24.db").check() == []


def test_every_setting_is_in_force(tmp_path: Path) -> None:
    store = SQLiteStore(tmp_path / "m.db")
    connection = store._file.connection

    def value(pragma: str) -> object:
        return connection.execute(f"PRAGMA {pragma}").fetchall()[0][0]

    assert value("journal_mode") == "wal"
    assert value("synchronous") == 2
    assert value("secure_delete") == 1
    assert value("foreign_keys") == 1
    assert value("trusted_schema") == 0


def test_a_quote_behind_a_nul_is_read_whole(tmp_path: Path) -> None:
    store = SQLiteStore(tmp_path / "m.db")
    episode = sample_episode(1, text="a\0 quokka naps.")
    claim = sample_fact(episode, "mentions", "quokka")
    fact = replace(claim.candidate, start=3, end=9)
    ops = [RecordSource(source=sample_source()), RecordEpisode(episode=episode)]
    apply(
        store, [*ops, replace(claim, candidate=fact)], trigger=Trigger.SESSION_LOG, actor="t", now=1
    )
    assert [row.quote for row in store.evidence(fact_ids=[1])] == ["quokka"]
    assert store.check() == []
    store.close()
