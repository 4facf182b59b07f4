"""Plain SQL through our own library: it reads, redacts, and can do nothing else."""

from __future__ import annotations

import asyncio
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conftest import Cli
from factbook.errors import StoreReplaced, UsageError
from factbook.memory import Memory
from factbook.memory.aio import AsyncMemory
from factbook.store.sqlite import plain
from factbook.store.sqlite.guard import beside
from rows import every

REFUSED = [
    "INSERT INTO meta VALUES ('a', 'b')",
    "UPDATE fact_row SET object = ''",
    "DELETE FROM fact_row RETURNING id",
    "CREATE TEMP TABLE t (a)",
    "CREATE TEMP VIEW v AS SELECT 1",
    "DROP TABLE meta",
    "ATTACH ':memory:' AS other",
    "ATTACH 'other.db' AS other",
    "DETACH main",
    "VACUUM",
    "VACUUM INTO 'copy.db'",
    "REINDEX",
    "ANALYZE",
    "BEGIN IMMEDIATE",
    "COMMIT",
    "SAVEPOINT s",
    "PRAGMA journal_mode = DELETE",
    "PRAGMA query_only = OFF",
    "PRAGMA writable_schema = ON",
    "PRAGMA user_version = 9",
    "PRAGMA wal_checkpoint(TRUNCATE)",
    "PRAGMA incremental_vacuum",
    "PRAGMA optimize",
    "PRAGMA locking_mode = EXCLUSIVE",
    "SELECT load_extension('x')",
    "INSERT INTO fact_fts(fact_fts) VALUES ('delete-all')",
    "INSERT INTO fact_fts(fact_fts, rank) VALUES ('integrity-check', 1)",
    "CREATE VIRTUAL TABLE temp.x USING fts5vocab('main', 'fact_fts', 'row')",
    "SELECT 1; SELECT 2",
    "SELECT 1; DELETE FROM meta",
    "WITH x AS (SELECT 1) DELETE FROM meta",
    "EXPLAIN DELETE FROM meta",
]
WRONG = [
    "",
    "  -- nothing",
    ";",
    "SELECT",
    "SELEKT 1",
    "SELECT * FROM nowhere",
    "SELECT nothing FROM facts",
    "SELECT ?",
    "SELECT * FROM facts('x')",
    "SELECT * FROM fact_fts WHERE fact_fts MATCH '\"'",
    "SELECT zeroblob(2000000000)",
    "SELECT json('{')",
    "SELECT '\udc80'",
    "SELECT 1\0",
]


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    folder = tmp_path_factory.mktemp("told")
    memory = Memory(folder / "f.db", key_file=folder / "key", model=None, search_config=None)
    memory.remember("I am allergic to hazelnuts")
    memory.remember("I live in Oslo", owner="ann")
    yield memory
    assert memory.check() == []
    memory.close()


def test_rows_are_dicts(told: Memory) -> None:
    rows = told.sql("SELECT statement, confidence, null AS n, x'00ff' AS b FROM facts ORDER BY id")
    assert rows[0] == {
        "statement": "I am allergic to hazelnuts",
        "confidence": 0.95,
        "n": None,
        "b": b"\x00\xff",
    }
    assert told.sql("SELECT 1 AS a, 2 AS a, 3 AS a_2") == [{"a": 1, "a_2": 2, "a_2_2": 3}]
    assert told.sql("SELECT ? AS x", ["y"]) == told.sql("SELECT :v AS x", {"v": "y"})
    assert told.sql("SELECT 1 WHERE 0") == []
    assert told.sql("PRAGMA user_version")[0]["user_version"] >= 5
    assert told.sql("SELECT count(*) AS n FROM pragma_table_info('fact_row')")[0]["n"] > 10
    found = told.sql("SELECT rowid FROM fact_fts WHERE fact_fts MATCH 'hazelnuts'")
    assert len(found) == 1
    assert told.sql("VALUES (1), (2);")[1] == {"column1": 2}
    with_recursive = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 3)"
    assert len(told.sql(f"{with_recursive} SELECT i FROM n")) == 3


@every("query", REFUSED)
def test_what_does_not_read_is_refused(told: Memory, query: str) -> None:
    before = told.path.read_bytes(), sorted(told.path.parent.iterdir())
    with pytest.raises(UsageError):
        told.sql(query)
    assert (told.path.read_bytes(), sorted(told.path.parent.iterdir())) == before


@pytest.mark.parametrize("query", WRONG)
def test_what_is_wrong_is_said(told: Memory, query: str) -> None:
    with pytest.raises(UsageError) as caught:
        told.sql(query)
    assert len(str(caught.value)) > 20


@settings(max_examples=150, deadline=None)
@given(st.text(max_size=40) | st.sampled_from(REFUSED).flatmap(st.permutations).map("".join))
def test_no_text_does_anything_but_read(told: Memory, query: str) -> None:
    with suppress(UsageError):
        told.sql(query, seconds=2)


def test_rows_and_time_are_bounded(told: Memory) -> None:
    numbers = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n"
    with pytest.raises(UsageError, match="more than 5 rows"):
        told.sql(numbers, limit=5)
    assert len(told.sql(f"{numbers} LIMIT 5", limit=5)) == 5
    assert len(told.sql(f"{numbers} LIMIT 20000", limit=None)) == 20_000
    with pytest.raises(UsageError, match="did not end within"):
        told.sql(f"{numbers} LIMIT -1 OFFSET 1000000000000", seconds=0.05)


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("DELETE FROM facts", "may only read"),
        ("UPDATE fact_row SET statement = ''", "may only read"),
        ("SELECT * FROM facts WHERE id = ?", "--param"),
        ("SELECT 1 UNION ALL SELECT 2", "--limit"),
    ],
)
def test_what_to_do_is_said_as_it_is_typed(told: Memory, query: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        told.sql(query, limit=1)


def test_few_rows_that_are_long_are_bounded_as_well(
    told: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c LIMIT 200) SELECT"
    with pytest.raises(UsageError, match=r"did not end within 0\.1 seconds"):
        told.sql(f"{rows} length(hex(randomblob(1000000))) FROM c", seconds=0.1)
    monkeypatch.setattr(plain, "_MOST", 1_000_000)
    with pytest.raises(UsageError, match="gives more than 1 MB"):
        told.sql(f"{rows} zeroblob(400000) FROM c", seconds=60)
    assert told.check() == []


def test_bytes_that_were_asked_for_as_text_are_no_damage(told: Memory) -> None:
    with pytest.raises(UsageError, match="a text of the answer is none"):
        told.sql("SELECT CAST(x'ff' AS TEXT)")
    assert told.check() == []


def test_a_log_that_is_another_is_not_read(told: Memory) -> None:
    beside(told.path, "-wal").unlink()
    with pytest.raises(StoreReplaced):
        told.sql("SELECT count(*) FROM fact_row")
    assert told.reopen() is None
    assert told.check() == []


def test_what_was_stored_is_redacted_again(tmp_path: Path) -> None:
    secret = "ghp_" + "a1B2" * 9
    with Memory(tmp_path / "f.db", key_file=tmp_path / "key", redact=False) as memory:
        memory.remember(f"My token is {secret}")
        assert secret in str(memory.sql("SELECT statement FROM facts"))
    with Memory(tmp_path / "f.db", key_file=tmp_path / "key", mode="read") as memory:
        (row,) = memory.sql("SELECT statement, statement AS again FROM facts")
        assert "[REDACTED:" in str(row["statement"])
        assert secret not in str(row)
        assert memory.check() == []


def test_a_query_is_run_as_it_is_written(told: Memory) -> None:
    secret = "ghp_" + "a1B2" * 9
    query = f"SELECT length('password={secret}') AS n, length(?) AS m"
    assert told.sql(query, [secret]) == [{"n": 9 + len(secret), "m": len(secret)}]


def test_a_file_that_cannot_be_written_is_read(tmp_path: Path) -> None:
    folder = tmp_path / "shut"
    with Memory(folder / "f.db", key_file=tmp_path / "key") as memory:
        memory.remember("I live in Oslo")
    folder.chmod(stat.S_IRUSR | stat.S_IXUSR)
    try:
        with Memory(folder / "f.db", key_file=tmp_path / "key", mode="read") as memory:
            assert memory.sql("SELECT object FROM facts") == [{"object": "I live in Oslo"}]
    finally:
        folder.chmod(stat.S_IRWXU)


def test_it_is_awaited_as_well(tmp_path: Path) -> None:
    async def ask() -> object:
        async with AsyncMemory(tmp_path / "f.db", key_file=tmp_path / "key") as memory:
            return await memory.sql("SELECT ? AS x", ["y"])

    assert asyncio.run(ask()) == [{"x": "y"}]


def test_the_command(cli: Cli, tmp_path: Path) -> None:
    db = tmp_path / "m.db"
    cli("remember", "I live in Oslo", "--db", db)
    query = "SELECT object, confidence, claim, null AS n FROM fact_row WHERE owner = ?"
    shown = cli("sql", query, "--param", "me", "--db", db).out
    assert [line.split()[0] for line in shown.splitlines()] == ["object", "I"]
    assert "NULL" in shown
    (row,) = cli("sql", query, "--param", "me", "--db", db, "--json").json()["rows"]
    assert (row["object"], row["confidence"], row["n"]) == ("I live in Oslo", 0.95, None)
    bytes.fromhex(row["claim"])
    assert cli("sql", "SELECT 1 WHERE 0", "--db", db).out == "No rows.\n"
    assert cli("sql", "SELECT 9e999 AS x", "--db", db, "--json").json() == {"rows": [{"x": "inf"}]}
    assert "refused" in cli("sql", "DELETE FROM meta", "--db", db, code=2).err
    assert "more than 1 rows" in cli("sql", "VALUES (1), (2)", "-n", "1", "--db", db, code=2).err
    assert len(cli("sql", "VALUES (1), (2)", "-n", "0", "--db", db).out.splitlines()) == 3
    cli("sql", "SELECT 1", "--db", tmp_path / "none.db", code=4)
