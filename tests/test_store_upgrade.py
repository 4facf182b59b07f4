"""A file of an older schema is upgraded where it stands, whole or not at all."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import apsw
import pytest

from factbook.apply.apply import apply
from factbook.errors import StoreTooOld
from factbook.model.facts import EVERYONE, ME, Trigger
from factbook.model.ops import RecordEpisode, RecordSource
from factbook.store.rows import EvidenceRow, Filters
from factbook.store.sqlite import SQLiteStore, file
from factbook.store.sqlite.file import SCHEMA
from factbook.store.transfer import exported
from factbook.testing import sample_episode, sample_fact, sample_source

OLD_EPISODES = """
CREATE TABLE episode_row (
  id INTEGER PRIMARY KEY, uid TEXT NOT NULL UNIQUE,
  source_id INTEGER NOT NULL REFERENCES source_row(id), owner TEXT NOT NULL, kind TEXT NOT NULL,
  role TEXT NOT NULL, trust TEXT NOT NULL, position INTEGER NOT NULL, byte_offset INTEGER NOT NULL,
  occurred_at INTEGER, subject TEXT NOT NULL, message TEXT NOT NULL, session TEXT NOT NULL,
  project TEXT NOT NULL, branch TEXT NOT NULL, agent TEXT NOT NULL, tool TEXT NOT NULL,
  call_id TEXT NOT NULL, attributes TEXT NOT NULL, is_error INTEGER NOT NULL, cut INTEGER NOT NULL,
  injected INTEGER NOT NULL, vector_state INTEGER NOT NULL, learned_at INTEGER NOT NULL,
  speaker TEXT NOT NULL, chars INTEGER NOT NULL, asks INTEGER NOT NULL, text TEXT NOT NULL
) STRICT;
INSERT INTO episode_row SELECT * FROM episodes_as_they_were;
CREATE INDEX episode_by_source ON episode_row(source_id);
CREATE INDEX episode_waiting ON episode_row(id) WHERE vector_state = 1;
"""
OLD_EVIDENCE = """
CREATE TABLE old_evidence (
  fact_id INTEGER NOT NULL REFERENCES fact_row(id),
  episode_id INTEGER NOT NULL REFERENCES episode_row(id),
  rule_id INTEGER NOT NULL REFERENCES rule_row(id),
  stance TEXT NOT NULL, quote TEXT NOT NULL, start_char INTEGER NOT NULL,
  end_char INTEGER NOT NULL, learned_at INTEGER NOT NULL, PRIMARY KEY (fact_id, episode_id)
) STRICT, WITHOUT ROWID;
INSERT INTO old_evidence SELECT fact_id, episode_id, rule_id, stance,
  (SELECT CAST(substr(CAST(text AS BLOB), start_char + 1, quote_chars) AS TEXT)
     FROM episode_row WHERE id = episode_id), start_char, end_char, learned_at FROM evidence_row;
DROP TABLE evidence_row;
ALTER TABLE old_evidence RENAME TO evidence_row;
"""
SAID = Filters(owner=EVERYONE)


def made_old(path: Path, version: int) -> None:
    """Give a file the tables of an older schema."""
    with closing(apsw.Connection(str(path))) as old:
        old.execute("PRAGMA foreign_keys=OFF; BEGIN")
        old.execute("CREATE TEMP TABLE episodes_as_they_were AS SELECT * FROM episode_row")
        for kind, name in old.execute(
            "SELECT type, name FROM sqlite_master WHERE type IN ('view', 'trigger')"
        ).fetchall():
            old.execute(f"DROP {kind} {name}")
        old.execute("ALTER TABLE episode_data RENAME TO episode_row; DROP TABLE told_row")
        old.execute("DROP TABLE episode_row; DROP TABLE place_row")
        old.execute(OLD_EPISODES).fetchall()
        if version == 12:
            old.execute(OLD_EVIDENCE).fetchall()
        old.execute("CREATE VIEW facts AS SELECT f.* FROM fact_row f JOIN episode_row e")
        old.execute(f"PRAGMA user_version={version}; COMMIT")


def schema_of(path: Path) -> set[tuple[str, str, str]]:
    """Return what a file's tables, indexes, views and triggers are, by kind and name."""
    with closing(apsw.Connection(str(path))) as connection:
        rows = connection.execute("SELECT type, name, sql FROM sqlite_master").fetchall()
    return {(kind, name, str(sql).replace('"', "")) for kind, name, sql in rows}


def kept(path: Path) -> tuple[list[object], list[EvidenceRow], list[object]]:
    """Return what a file holds."""
    store = SQLiteStore(path)
    assert store.check() == []
    evidence = store.evidence(fact_ids=range(1, 9))
    said = list(store.episodes(SAID, limit=None))
    _, *whole = exported(store, ME)  # the header has the time
    found = store.search("episode", ["zebra"], SAID, 5)
    store.close()
    assert [id_ for id_, _ in found] == [3]
    return list(said), evidence, whole


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A file with episodes of two projects, facts, and a quote that holds a NUL."""
    store = SQLiteStore(tmp_path / "m.db")
    for n in range(1, 5):
        said = "zebra\0 at the ferry" if n == 3 else f"harbour {n}"
        text = f"It is of the {said} indeed"
        episode = sample_episode(n, text=text, project=f"/home/ann/{'ab'[n % 2]}", branch="main")
        fact = sample_fact(episode, "used_tool", said)
        ops = [RecordSource(source=sample_source()), RecordEpisode(episode=episode), fact]
        apply(store, ops, trigger=Trigger.SESSION_LOG, actor="test", now=n)
    store.close()
    return tmp_path / "m.db"


@pytest.mark.parametrize("version", [12, 13])
def test_an_older_file_is_upgraded_with_all_that_it_holds(path: Path, version: int) -> None:
    before, shape = kept(path), schema_of(path)
    assert len({episode.project for episode in before[0]}) == 2
    made_old(path, version)
    assert kept(path) == before
    assert schema_of(path) == shape
    assert kept(path) == before  # opened again, it is as new


def test_a_file_that_lacks_a_table_alone_gets_it(path: Path) -> None:
    before, shape = kept(path), schema_of(path)
    with closing(apsw.Connection(str(path))) as old:
        old.execute("DROP TABLE told_row; PRAGMA user_version=14")
    assert kept(path) == before
    assert schema_of(path) == shape


def test_an_older_file_that_is_only_read_is_left_as_it_is(path: Path) -> None:
    made_old(path, 13)
    before = path.read_bytes()
    with pytest.raises(StoreTooOld, match=f"schema 13; .* {SCHEMA}.*`factbook embed`.*upgraded"):
        SQLiteStore(path, mode="read")
    assert path.read_bytes() == before


def test_an_upgrade_that_is_broken_off_leaves_the_file_as_it_was(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = kept(path)
    made_old(path, 13)
    old = schema_of(path)
    upgrade = file.upgrade

    def breaks_off(connection: apsw.Connection, schema: str, version: int) -> None:
        upgrade(connection, schema, version)
        raise KeyboardInterrupt

    with monkeypatch.context() as broken:
        broken.setattr(file, "upgrade", breaks_off)
        with pytest.raises(KeyboardInterrupt):
            SQLiteStore(path)
    assert schema_of(path) == old
    assert kept(path) == before


@pytest.mark.parametrize("error", [apsw.FullError, apsw.BusyError, apsw.LockedError])
def test_a_file_that_cannot_be_tidied_up_afterwards_is_upgraded_all_the_same(
    path: Path, monkeypatch: pytest.MonkeyPatch, error: type[apsw.Error]
) -> None:
    before = kept(path)
    made_old(path, 13)

    def fails(_: file.LedgerFile) -> None:
        raise error("no room")

    with monkeypatch.context() as full:
        full.setattr(file.LedgerFile, "vacuum", fails)
        SQLiteStore(path).close()
    assert kept(path) == before
