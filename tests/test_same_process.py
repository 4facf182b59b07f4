"""Another SQLite in the same process drops our locks; nothing that was acknowledged goes with them.

POSIX locks belong to a process and fall when it closes any descriptor of the file, so a stdlib
`sqlite3.connect(path)` with its `close` once had our write-ahead log deleted under us.
"""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import threading
from contextlib import closing
from pathlib import Path

import pytest

import interleaved
from factbook.apply.apply import apply
from factbook.errors import StoreError, StoreLocked, StoreReplaced
from factbook.memory import Memory
from factbook.model.facts import SourceState, Trigger
from factbook.model.ops import RecordEpisode, RecordSource
from factbook.store.rows import Filters
from factbook.store.sqlite import SQLiteStore, guard
from factbook.testing import sample_episode, sample_fact, sample_source
from factbook.testing.contract.files import files_of

strong = pytest.mark.skipif(sys.platform != "linux", reason="needs locks of open descriptions")


def write(store: SQLiteStore, number: int) -> None:
    episode = sample_episode(number, subject=f"action_{number}")
    ops = [
        RecordSource(source=sample_source()),
        RecordEpisode(episode=episode),
        sample_fact(episode, "used_tool", "Bash"),
    ]
    apply(store, ops, trigger=Trigger.USER_MESSAGE, actor="test", now=1_763_700_000_000)


def held(path: Path) -> set[str]:
    """Return the subjects of all facts, as who opens the file anew reads them; audit it too."""
    store = SQLiteStore(path)
    assert store.check() == []
    found = {one.subject for one in store.facts(Filters(), limit=None)}
    store.close()
    return found


def held_for_others(path: Path) -> set[str]:
    """Return the same as a process of its own reads it."""
    script = (
        "import sys; from pathlib import Path; sys.path.insert(0, sys.argv[2]);"
        "from test_same_process import held; print(*held(Path(sys.argv[1])))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(path), str(Path(__file__).parent)],
        capture_output=True,
        text=True,
        check=True,
    )
    return set(done.stdout.split())


def read_with_python(path: Path) -> int:
    with closing(sqlite3.connect(path)) as other:
        return int(other.execute("SELECT count(*) FROM facts").fetchone()[0])


# --- the log stays where it is --------------------------------------------------------------------


@strong
def test_pythons_own_sqlite_leaves_the_log_alone(tmp_path: Path) -> None:
    store = SQLiteStore(tmp_path / "f.db")
    log = tmp_path / "f.db-wal"
    write(store, 1)
    before = log.stat().st_ino
    for number in (2, 3, 4):
        assert read_with_python(store.path) == number - 1
        write(store, number)
    assert log.stat().st_ino == before
    assert store.check() == []
    store.close()
    assert not log.exists()  # the last one to close it still tidies up
    assert held_for_others(store.path) == {f"action_{n}" for n in (1, 2, 3, 4)}


def rounds(folder: Path, first: int, many: int) -> tuple[int, int]:
    """Play rounds; return how many facts were acknowledged and how many refused."""
    done = subprocess.run(
        [sys.executable, interleaved.__file__, str(folder), str(first), str(many)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    acknowledged, refused = 0, 0
    for number in range(first, first + many):
        noted = [
            line.split()
            for writer in (0, 1)
            for line in interleaved.notes(folder, number, writer).read_text().splitlines()
        ]
        promised = {uid for word, uid in noted if word == "ack"}
        store = SQLiteStore(interleaved.ledger(folder, number))
        there = {one.subject for one in store.facts(Filters(), limit=None)}
        assert promised - there == set(), f"round {number}"
        assert store.check() == []
        store.close()
        acknowledged += len(promised)
        refused += len(noted) - len(promised)
    return acknowledged, refused


@strong
def test_two_writers_that_read_with_pythons_sqlite_lose_nothing(tmp_path: Path) -> None:
    acknowledged, refused = rounds(tmp_path, 0, 6)
    assert acknowledged > 20
    assert refused == 0


@strong
@pytest.mark.slow
def test_two_hundred_interleavings(tmp_path: Path) -> None:
    acknowledged, refused = rounds(tmp_path, 1_000, 200)
    assert acknowledged > 1_000
    assert refused == 0


# --- a write lock that fell in the middle of a transaction ----------------------------------------

WRITES = """
import sys; from pathlib import Path; sys.path.insert(0, sys.argv[2])
from test_same_process import SQLiteStore, write
from factbook.errors import StoreLocked
store = SQLiteStore(Path(sys.argv[1]))
try:
    write(store, 7)
except StoreLocked:
    print("waited")
"""


@strong
def test_nobody_writes_beside_a_transaction_whose_lock_fell(tmp_path: Path) -> None:
    store = SQLiteStore(tmp_path / "f.db")
    write(store, 1)
    with store.writing(now=0) as writer:
        read_with_python(store.path)  # SQLite's own lock on writing is gone now
        done = subprocess.run(
            [sys.executable, "-c", WRITES, str(store.path), str(Path(__file__).parent)],
            env={**os.environ, "FACTBOOK_BUSY_TIMEOUT_MS": "50"},
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stdout.split() == ["waited"]
        writer.put_sources([SourceState(source=sample_source("file:/logs/b.jsonl"))])
    assert "file:/logs/b.jsonl" in {one.source.key for one in store.sources()}
    assert store.check() == []
    store.close()
    assert held(store.path) == {"action_1"}


def test_writers_of_one_process_wait_for_each_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FACTBOOK_BUSY_TIMEOUT_MS", "20")
    one, other = SQLiteStore(tmp_path / "f.db"), SQLiteStore(tmp_path / "f.db")
    with one.writing(now=0), pytest.raises(StoreLocked):
        write(other, 1)
    write(other, 2)
    one.close()
    write(other, 3)
    assert other.check() == []
    other.close()
    assert guard.held(tmp_path / "f.db") is None
    assert held(tmp_path / "f.db") == {"action_2", "action_3"}


def test_a_ledger_that_is_never_closed_is_let_go_of(tmp_path: Path) -> None:
    path = tmp_path / "f.db"
    SQLiteStore(path)
    assert guard.held(path) is None


FORKS = """
import os, sys, threading, time; from pathlib import Path; sys.path.insert(0, sys.argv[2])
from test_same_process import SQLiteStore, SourceState, Trigger, sample_source, write
from factbook.errors import FactbookError
path = Path(sys.argv[1])

def forked(number, old=None):
    child = os.fork()
    if child:
        return child
    try:
        for one in (old, None):
            try:
                write(one or SQLiteStore(path), number)
            except FactbookError as error:
                print(number, error, flush=True)
        if old:
            old.close()
    finally:
        os._exit(0)

store = SQLiteStore(path)
os.waitpid(forked(1, store), 0)
write(store, 2)

begun, end = threading.Event(), threading.Event()
def hold():
    with store.writing(now=0):
        begun.set()
        end.wait(0.2)
thread = threading.Thread(target=hold)
thread.start()
begun.wait()
os.waitpid(forked(3), 0)
thread.join()

with store.writing(now=0) as writer:
    writer.put_sources([SourceState(source=sample_source("file:/logs/before.jsonl"))])
    os.waitpid(forked(4, store), 0)
    writer.put_sources([SourceState(source=sample_source("file:/logs/after.jsonl"))])
write(store, 5)
known = {one.source.key for one in store.sources()}
assert {"file:/logs/before.jsonl", "file:/logs/after.jsonl"} < known
assert store.check() == []
store.close()
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_child_holds_nothing_and_writes_only_what_it_opens_itself(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", FORKS, str(tmp_path / "f.db"), str(Path(__file__).parent)],
        env={**os.environ, "FACTBOOK_BUSY_TIMEOUT_MS": "300"},
        capture_output=True,
        text=True,
        check=True,
    )
    # A fork waits for the write of another thread (3); a write of its own it cannot wait for (4).
    said = [line.split()[0] for line in done.stdout.splitlines()]
    assert said == ["1", "4", "4"], done.stdout
    assert "opened before this process was forked" in done.stdout
    assert "forked while its parent wrote" in done.stdout
    assert held(tmp_path / "f.db") == {f"action_{n}" for n in (1, 2, 3, 5)}


# --- what no lock can prevent is seen before a write is acknowledged ------------------------------


def without_strong_locks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the guard do without locks of open descriptions, as on a system that has none."""
    fcntl = pytest.importorskip("fcntl")
    monkeypatch.delattr(fcntl, "F_OFD_SETLK", raising=False)


def test_without_such_locks_the_write_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    without_strong_locks(monkeypatch)
    store = SQLiteStore(tmp_path / "f.db")
    write(store, 1)
    read_with_python(store.path)
    with pytest.raises(StoreReplaced, match="log was deleted"):
        write(store, 2)
    assert files_of(store).reopen() is None
    write(store, 3)
    assert store.check() == []
    assert held(store.path) == {"action_1", "action_3"}
    store.close()


def test_a_log_that_goes_during_a_write_is_not_acknowledged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    without_strong_locks(monkeypatch)
    store = SQLiteStore(tmp_path / "f.db")
    write(store, 1)

    def write_while_the_log_goes() -> None:
        with store.writing(now=0) as writer:
            writer.put_sources([SourceState(source=sample_source("file:/logs/b.jsonl"))])
            read_with_python(store.path)

    with pytest.raises(StoreReplaced):
        write_while_the_log_goes()
    assert (
        files_of(store).reopen() == tmp_path / "f.db.saved-1"
    )  # it was committed where nobody can see it
    assert store.check() == []
    store.close()
    assert held(store.path) == {"action_1"}


def test_a_deleted_log_is_written_into_the_file(tmp_path: Path) -> None:
    store = SQLiteStore(tmp_path / "f.db")
    write(store, 1)
    write(store, 2)
    (tmp_path / "f.db-wal").unlink()
    with pytest.raises(StoreReplaced, match="log was deleted"):
        write(store, 3)
    assert files_of(store).reopen() is None
    write(store, 4)
    assert store.check() == []
    store.close()
    assert held(store.path) == {"action_1", "action_2", "action_4"}


def test_closing_saves_what_only_this_process_holds(tmp_path: Path) -> None:
    store = SQLiteStore(tmp_path / "f.db")
    write(store, 1)
    (tmp_path / "f.db-wal").unlink()
    store.close()
    assert held(store.path) == {"action_1"}


def test_a_replaced_file_is_left_alone_and_what_was_held_becomes_a_copy(tmp_path: Path) -> None:
    other = SQLiteStore(tmp_path / "other.db")
    write(other, 8)
    other.close()
    memory = Memory(tmp_path / "f.db")
    write(memory.store, 1)
    (tmp_path / "other.db").replace(memory.path)
    with pytest.raises(StoreReplaced, match="another file"):
        write(memory.store, 2)
    copy = memory.reopen()
    assert copy == tmp_path / "f.db.saved-1"
    assert copy.stat().st_mode & 0o077 == 0
    write(memory.store, 9)
    assert memory.check() == []
    memory.close()
    assert held(memory.path) == {"action_8", "action_9"}
    assert held(copy) == {"action_1"}


def test_two_histories_never_become_one_file(tmp_path: Path) -> None:
    store = SQLiteStore(tmp_path / "f.db")
    write(store, 1)
    for suffix in ("-wal", "-shm"):
        (tmp_path / f"f.db{suffix}").unlink()
    subprocess.run(
        [sys.executable, "-c", WRITES, str(store.path), str(Path(__file__).parent)], check=True
    )
    with pytest.raises(StoreReplaced):
        write(store, 2)
    with pytest.raises(StoreReplaced, match=r"saved as .*f\.db\.saved-1"):
        store.close()
    assert held(store.path) == {"action_7"}
    assert held(tmp_path / "f.db.saved-1") == {"action_1"}


def test_another_thread_opens_no_connection_to_another_log(tmp_path: Path) -> None:
    store = SQLiteStore(tmp_path / "f.db")
    write(store, 1)
    (tmp_path / "f.db-wal").unlink()
    seen: list[BaseException] = []

    def read() -> None:
        try:
            store.head()
        except StoreError as error:
            seen.append(error)

    thread = threading.Thread(target=read)
    thread.start()
    thread.join()
    assert [type(one) for one in seen] == [StoreReplaced]
    assert files_of(store).reopen() is None
    assert store.check() == []
    store.close()


def test_kill_after_the_acknowledgement(tmp_path: Path) -> None:
    script = """
import os, signal, sys; from pathlib import Path; sys.path.insert(0, sys.argv[2])
from test_same_process import SQLiteStore, read_with_python, write
store = SQLiteStore(Path(sys.argv[1]))
for number in (1, 2, 3):
    write(store, number)
    print(f"action_{number}", flush=True)
    read_with_python(store.path)
os.kill(os.getpid(), signal.SIGKILL)
"""
    done = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path / "f.db"), str(Path(__file__).parent)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == -signal.SIGKILL
    assert (
        held_for_others(tmp_path / "f.db")
        == set(done.stdout.split())
        == {f"action_{n}" for n in (1, 2, 3)}
    )
