"""`factbook erase`, run as people run it: as a process, on a real file."""

from __future__ import annotations

import os
import re
import shlex
from contextlib import suppress
from pathlib import Path

import apsw
import pytest

import forked
from conftest import Cli
from factbook.memory import Memory


@pytest.fixture
def db(cli: Cli) -> tuple[Cli, Path]:
    """A memory with two facts."""
    path = cli.home / "m.db"
    with Memory(path, key_file=cli.home / "redaction.key", model=None) as memory:
        memory.remember("My locker code is 77-zebra-19")
        memory.remember("I like tea")
    return cli, path


def test_it_erases_a_fact_and_shows_that_it_is_gone(db: tuple[Cli, Path]) -> None:
    cli, path = db
    assert "f1" in cli("erase", "--check", "77-zebra-19", "--db", path, code=1).out
    shown = cli("erase", "f1", "--dry-run", "--db", path).out
    assert "1 fact, 1 episode would go" in shown
    done = cli("erase", "f1", "--yes", "--db", path)
    assert "Erased f1: 1 fact, 1 episode." in done.out
    assert "nothing of it is left" in done.out
    assert b"77-zebra" not in path.read_bytes()
    assert "Nothing of it" in cli("erase", "--check", "77-zebra-19", "--db", path).out
    assert "1 fact, 1 episode" in cli("erase", "--list", "--db", path).out
    assert "was erased" in cli("erase", "f1", "--yes", "--db", path, code=8).err
    assert "f2" in cli("facts", "--db", path).out


def test_a_file_that_was_erased_is_not_said_to_be_kept_again(cli: Cli, tmp_path: Path) -> None:
    note, path = tmp_path / "note.md", tmp_path / "m.db"
    note.write_text("The spare key of the boat shed hangs behind the third plank on the left.\n")
    first = cli("ingest", note, "--kind", "note", "--db", path).out
    assert "1 kept" in first
    assert "kept out" not in first
    cli("erase", "--source", note, "--yes", "--db", path)
    again = cli("ingest", note, "--kind", "note", "--db", path).out
    assert "1 kept" not in again
    assert "kept out  what was erased before" in again
    assert "Nothing of it" in cli("erase", "--check", "third plank", "--db", path).out


def test_where_the_same_words_still_stand_is_told_with_what_erases_them(
    db: tuple[Cli, Path],
) -> None:
    cli, path = db
    with Memory(path, key_file=cli.home / "redaction.key", model=None) as memory:
        memory.interests.like("Quadrophon LS50")
        memory.add_turn("My aunt was given a quadrophon ls50", session="s")
    done = cli("erase", "--entity", "quadrophon ls50", "--yes", "--db", path, code=3).out
    assert "but for what was kept, nothing of it is left" in " ".join(done.split())
    assert "  e4  My aunt was given a q██████████████\n" in done
    found = cli("erase", "--check", "Quadrophon LS50", "--json", "--db", path, code=1).json()
    typed = f"factbook --db {shlex.quote(str(path))} erase {' '.join(found['rows'])}"
    assert f"`{typed}` erases it too." in " ".join(done.split())
    done = cli("erase", *found["rows"], "--yes", "--db", path).out
    assert "looked through: nothing of it is left." in done
    assert "Nothing of it" in cli("erase", "--check", "Quadrophon LS50", "--db", path).out
    assert b"uadrophon" not in path.read_bytes()


def test_json_is_one_document(db: tuple[Cli, Path]) -> None:
    cli, path = db
    would = cli("erase", "f1", "e1", "--dry-run", "--json", "--db", path).json()
    assert [one["what"] for one in would["would_erase"]] == ["f1", "e1"]
    (erased,) = cli("erase", "f1", "e1", "--yes", "--json", "--db", path).json()["erased"]
    assert erased["rows"] == {"facts": 1, "episodes": 1}
    assert erased["clean"] is True
    assert erased["copies"] == []
    (listed,) = cli("erase", "--list", "--json", "--db", path).json()["erasures"]
    assert (listed["what"], listed["clean"], listed["actor"]) == ("fact", True, "cli")
    found = cli("erase", "--check", "zebra", "--json", "--db", path).json()
    assert found == {"rows": [], "in_file": False, "pieces": 0, "copies": []}
    assert cli("erase", "--allow", "1", "--json", "--db", path).json() == {"allowed": 1}
    assert cli("erase", "--finish", "--json", "--db", path).json()["clean"] is True


def test_what_is_gone_already_is_said_with_what_cleans_the_file_of_it(
    db: tuple[Cli, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    cli, path = db
    monkeypatch.setattr("factbook.store.sqlite.files.PATIENCE_MS", 100)
    reader = apsw.Connection(str(path))
    reader.execute("BEGIN; SELECT count(*) FROM episode_row").fetchall()
    with Memory(path, key_file=cli.home / "redaction.key", model=None) as memory:
        memory.erasure.erase_fact(1)  # which cannot clean the file
    reader.close()
    again = f"factbook erase --finish --db {path}"
    assert again in cli("erase", "f1", "--yes", "--db", path, code=8).err
    assert "written anew" in cli("erase", "--finish", "--db", path).out
    assert "--finish" not in cli("erase", "f1", "--yes", "--db", path, code=8).err


def test_an_owner_goes(db: tuple[Cli, Path]) -> None:
    cli, path = db
    cli("remember", "I keep ferrets", "--owner", "bertramina", "--db", path)
    cli("erase", "--owner", "bertramina", "--yes", "--db", path)
    assert b"bertramina" not in path.read_bytes()
    assert "tea" in cli("facts", "--db", path).out


@pytest.mark.parametrize(
    ("args", "code", "said"),
    [
        ([], 2, "one thing at a time"),
        (["f1"], 2, "--yes"),
        (["f1", "--json"], 2, "--yes"),
        (["x1", "--yes"], 2, "is no id"),
        (["f", "--yes"], 2, "is no id"),
        (["f99999999999999999999", "--yes"], 2, "is no id"),
        (["e1", "--whole-episodes", "--yes"], 2, "goes with facts"),
        (["f1", "--list"], 2, "one thing at a time"),
        (["f99", "--yes"], 8, "There is no fact 99"),
        (["--source", "/nowhere.jsonl", "--yes"], 8, "There is no source"),
        (["--entity", "ls50", "--yes"], 8, "There is no entity"),
        (["--owner", "nobody", "--yes"], 8, "There is no owner"),
        (["--allow", "7"], 8, "There is no erasure"),
        (["--check", " "], 2, "empty"),
    ],
)
def test_what_cannot_be_done_is_said(
    db: tuple[Cli, Path], args: list[str], code: int, said: str
) -> None:
    cli, path = db
    assert said in cli("erase", *args, "--db", path, code=code).err
    assert b"77-zebra-19" in path.read_bytes() or path.with_name("m.db-wal").exists()


def test_a_terminal_gets_whole_words(db: tuple[Cli, Path]) -> None:
    import fcntl
    import pty
    import struct
    import termios

    cli, path = db
    with Memory(path, key_file=cli.home / "redaction.key", model=None) as memory:
        memory.add_turn("Everybody at the harbour likes tea, and I like tea", session="s")
    mine, its = pty.openpty()
    fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 60, 0, 0))
    child = forked.start(
        ["forget", "f2", "erase", "--db", str(path)],
        env=cli.environment({"TERM": "xterm"}),
        files=[its, its, its],
    )
    os.close(its)
    shown = b""
    with suppress(OSError):  # Linux says so when the other side has closed
        while part := os.read(mine, 65536):
            shown += part
    os.close(mine)
    child.wait(60)
    lines = re.sub(r"\x1b\[[\d;]*m", "", shown.decode()).splitlines()
    assert "Erased f2" in "\n".join(lines)
    assert "nothing of it is left" in " ".join(" ".join(lines).split())
    broken = [line for line in lines if " " in line.strip()]  # a path is one word, however long
    assert 50 < max(map(len, broken)) <= 60
