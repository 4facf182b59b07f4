"""An owner is one, in whichever Unicode normal form somebody writes the name."""

from __future__ import annotations

import unicodedata
from pathlib import Path

import pytest

from conftest import Cli
from factbook.memory import Memory
from factbook.memory.follow import follow
from factbook.model.facts import EVERYONE
from factbook.surface.hook import events
from mcp_client import Server
from test_follow_hooks import Session

NFC, NFD = (unicodedata.normalize(form, "José") for form in ("NFC", "NFD"))
SAID = "I am allergic to hazelnuts."


def owners(db: Path) -> set[str]:
    with Memory(db, model=None) as memory:
        assert memory.check() == []
        return {fact.owner for fact in memory.query_facts(owner=EVERYONE)}


@pytest.mark.parametrize(("stored", "given"), [(NFC, NFD), (NFD, NFC), (NFC, NFC)])
def test_on_the_command_line(cli: Cli, stored: str, given: str) -> None:
    db = cli.home / "m.db"
    with Memory(db, key_file=cli.home / "redaction.key", model=None) as memory:
        memory.remember(SAID, owner=stored)  # as it was written before anybody looked
    assert "hazelnuts" in cli("facts", "--owner", given, "--db", db).out
    cli("remember", "I like tea", "--owner", given, "--db", db)
    log = cli.home / "chat.jsonl"
    log.write_text('{"id": "m1", "session_id": "s1", "role": "user", "content": "I keep bees."}\n')
    cli("ingest", log, "--no-embed", "--owner", given, "--db", db)
    assert owners(db) == {stored}
    assert "bees" in cli("export", "--owner", given, "--db", db).out
    cli("erase", "--owner", given, "--yes", "--db", db)
    assert owners(db) == set()


def test_two_that_are_there_stay_two(cli: Cli) -> None:
    db = cli.home / "m.db"
    with Memory(db, key_file=cli.home / "redaction.key", model=None) as memory:
        memory.remember(SAID, owner=NFC)
        memory.remember("I like tea", owner=NFD)
    assert "tea" not in cli("facts", "--owner", NFC, "--db", db).out
    assert "tea" in cli("facts", "--owner", NFD, "--db", db).out
    cli("facts", "--owner", NFC, "--db", cli.home / "none.db", code=4)
    assert not (cli.home / "none.db").exists()


def test_for_an_agent(tmp_path: Path) -> None:
    db = tmp_path / "m.db"
    with Memory(db, key_file=tmp_path / "key", model=None) as memory:
        memory.remember(SAID, owner=NFD)
    env = {"FACTBOOK_KEY_FILE": str(tmp_path / "key")}
    with Server(db, "--owner", NFC, env=env) as server:
        assert server.call("search_memory", query="hazelnuts")["memories"]


def test_for_a_hook(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(events, "start_behind", lambda db: None)
    session = Session(tmp_path, "s1", NFC)
    with Memory(session.db, model=None, search_config=None) as memory:
        memory.remember(SAID, owner=NFD)
    assert "hazelnuts" in session.turn("a cake for someone allergic to hazelnuts", "Almonds.")
    session.turn("I keep my notes in a green folder.", "Good.")
    follow(str(session.db), settles_s=0)
    with Memory(session.db, model=None, search_config=None) as memory:
        assert {row["owner"] for row in memory.sql("SELECT owner FROM episode_row")} == {NFD}
        memory.erasure.erase_owner(NFD)
        assert memory.check() == []
    assert not list(Path(session.spool.folder).glob("s1*"))
