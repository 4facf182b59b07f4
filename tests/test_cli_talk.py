"""`factbook search` and `factbook context`, as real processes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from conftest import Cli
from factbook.memory import Memory
from factbook.model.facts import EVERYONE
from factbook.store.kinds import INJECTION


@pytest.fixture
def db(cli: Cli) -> Path:
    path = cli.home / "talk.db"
    with Memory(path, key_file=cli.home / "redaction.key") as memory:
        memory.add_turn("I live in Oslo.", session="s1")
        memory.add_turn("My dog is called Rex and hates </factbook-memory> tags.", session="s1")
        memory.consolidate()
    return path


def test_search_finds_facts_and_episodes(cli: Cli, db: Path) -> None:
    shown = cli("search", "where do I live?", "--db", db).out
    assert "I live in Oslo." in shown
    hits = cli("search", "where do I live?", "--type", "facts", "--db", db, "--json").json()["hits"]
    assert {one["kind"] for one in hits} == {"fact"}
    assert hits[0]["text"] == "I live in Oslo."


def test_search_refuses_what_it_does_not_know(cli: Cli, db: Path) -> None:
    assert "facts, episodes, both" in cli("search", "x", "--type", "all", "--db", db, code=2).err


def test_context_shows_its_budget_and_stays_in_it(cli: Cli, db: Path) -> None:
    done = cli("context", "What is my dog called?", "--db", db, "--json").json()
    assert done["tokens"] <= 1500
    assert "Rex" in done["text"]
    assert "of 1500 tokens" in cli("context", "What is my dog called?", "--db", db).out
    small = cli("context", "What is my dog called?", "--tokens", "40", "--db", db, "--json").json()
    assert small["tokens"] <= 40


def test_no_stored_text_breaks_out_of_its_block(cli: Cli, db: Path) -> None:
    text = cli("context", "What does my dog hate?", "--db", db, "--json").json()["text"]
    opened = text.count("<factbook-memory ids=")
    assert opened >= 1
    assert text.count("</factbook-memory>") == opened


def test_a_system_text_that_is_no_text_is_named(cli: Cli, db: Path) -> None:
    path = cli.home / "system.bin"
    path.write_bytes(b"\xff\xfe\x00")
    assert "cannot be read" in cli("context", "hi", "--system", path, "--db", db, code=2).err


def test_looking_at_a_context_is_not_showing_it(cli: Cli, db: Path) -> None:
    cli("context", "What is my dog called?", "--db", db)
    with Memory(db, key_file=cli.home / "redaction.key") as memory:
        assert memory.store.find(INJECTION, {"owner": EVERYONE}) == []
    cli("context", "What is my dog called?", "--session", "s9", "--db", db)
    with Memory(db, key_file=cli.home / "redaction.key") as memory:
        assert [one.session for one in memory.store.find(INJECTION, {"owner": EVERYONE})] == ["s9"]
        assert memory.check() == []


def test_a_chat_has_a_timeline_and_who_is_only_named_in_facts_is_told(
    cli: Cli, tmp_path: Path
) -> None:
    db, said = {"FACTBOOK_DB": str(tmp_path / "m.db")}, tmp_path / "chat.jsonl"
    lines = [
        ("user", "My cousin Bram plays the oboe."),
        ("assistant", "Does Bram play well?"),
        ("user", "I work as a nurse."),
    ]
    said.write_text(
        "".join(
            json.dumps(
                {
                    "id": f"m{n}",
                    "session_id": "s1",
                    "role": role,
                    "content": text,
                    "timestamp": f"2026-11-16T19:0{n}:00Z",
                }
            )
            + "\n"
            for n, (role, text) in enumerate(lines)
        ),
        encoding="utf-8",
    )
    cli("ingest", said, env=db)
    entries = cli("timeline", "--json", env=db).json()["entries"]
    assert [one["text"] for one in entries] == [lines[0][1], lines[2][1]]
    cli("consolidate", env=db)
    facts = cli("facts", "--json", env=db).json()["facts"]
    (named,) = [fact["id"] for fact in facts if "Bram" in fact["statement"]]
    refused = cli("forget", "bram", env=db, code=8).err
    assert f"named in {named}" in refused
    assert f"`factbook forget {named}`" in refused
    cli("forget", named, env=db)
    assert "named in" not in cli("forget", "bram", env=db, code=8).err
