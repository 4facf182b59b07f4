"""kill -9 in the midst of the work behind: nothing is lost, nothing is done twice.

Searches wait in the file, and each result of them is read in one transaction; so a worker that is
killed at any moment leaves a clean file, and the next one goes on to the same end.
"""

from __future__ import annotations

import random
import shutil
import time
from pathlib import Path

import apsw
import pytest

import forked
from conftest import Cli
from factbook.memory import Memory
from factbook.store.sqlite import SQLiteStore

DOCUMENTS = Path(__file__).resolve().parent.parent / "examples" / "documents"
OFF = ("--off", "enrichment", "--off", "cleaner")
_LEFT = (
    "SELECT subject, object, evidence_count FROM fact_row WHERE kind = 'world' ORDER BY 1, 2",
    "SELECT n.name, g.type, g.valence FROM engagement_row g JOIN entity_row n"
    " ON n.id = g.entity_id ORDER BY 1, 2, 3",
    "SELECT query, trigger, extracted FROM search_log_row ORDER BY 1",
    "SELECT status FROM learn_prompt_row ORDER BY id",
    "SELECT n.name, (SELECT count(*) FROM notice_fact x WHERE x.notice_id = c.id)"
    " FROM notice_row c JOIN entity_row n ON n.id = c.entity_id ORDER BY 1",
    "SELECT count(*) FROM model_task WHERE kind = 'heard'",
)


def left(path: Path) -> list[list[tuple[object, ...]]]:
    """Return everything that the work behind came to, without the store's own numbers."""
    connection = apsw.Connection(str(path))
    return [list(connection.execute(sql)) for sql in _LEFT]


def start(db: Path, home: Path) -> forked.Child:
    """Let a worker do all that waits, in a process of its own."""
    given = {"FACTBOOK_SEARCH_PROVIDER": "folder", "FACTBOOK_SEARCH_FOLDER": str(DOCUMENTS)}
    return forked.start(
        ["--db", str(db), "worker", "--once", *OFF], env=Cli(home=home, env=given).environment()
    )


def kill_many(tmp_path: Path, *, times: int) -> None:
    asked = tmp_path / "asked.db"
    with Memory(asked, key_file=tmp_path / "redaction.key", model=None) as memory:
        memory.interests.learn("find me stuff about cargo bikes")
        memory.interests.learn("sourdough")
        memory.add_turn("I love the Pelle Mini, and the Halden Cargo 3 weighs 34 kg.", session="s")
        memory.add_turn("What about the Pelle Mini's brakes?", session="s")
    whole = tmp_path / "whole.db"
    shutil.copy(asked, whole)
    process = start(whole, tmp_path)
    began = time.monotonic()
    assert process.ends_within(120)
    duration = time.monotonic() - began
    expected = left(whole)
    assert len(expected[0]) > 5

    rng = random.Random(13)
    db, killed, finished = tmp_path / "killed.db", 0, 0
    shutil.copy(asked, db)
    for _ in range(6 * times):
        began = time.monotonic()
        if start(db, tmp_path).ends_within(rng.uniform(0.0, duration)):
            # a worker that has ended says how long one takes now: the first had a colder machine
            duration = min(duration, time.monotonic() - began)
        else:
            killed += 1
        store = SQLiteStore(db)
        assert store.check() == []
        store.close()
        if left(db) == expected:
            finished += 1
            for leftover in tmp_path.glob("killed.db*"):
                leftover.unlink()
            shutil.copy(asked, db)
        if killed == times:
            break
    assert killed == times  # else the moments were no test
    if left(db) != expected:
        assert start(db, tmp_path).ends_within(120)
    assert left(db) == expected
    assert finished or times < 10
    with Memory(db, key_file=tmp_path / "redaction.key", model=None) as memory:
        memory.embed()  # the dead hold nothing
        assert memory.maintenance.waiting() == 0
        assert memory.check() == []


def test_a_killed_worker_leaves_a_clean_file(tmp_path: Path) -> None:
    kill_many(tmp_path, times=4)


@pytest.mark.slow
def test_a_hundred_kills_at_random_moments(tmp_path: Path) -> None:
    kill_many(tmp_path, times=100)
