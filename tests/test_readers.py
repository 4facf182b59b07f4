"""With what texts were read: it is in the file, and the doctor says where it differs from today."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import apsw
import pytest

from conftest import Cli
from factbook.extract import versions
from factbook.extract.rules import RuleSet
from factbook.extract.versions import redactor_version, rules_version
from factbook.maintenance.maintenance import readers_used
from factbook.memory import Memory
from factbook.testing import FrozenClock


def test_sources_remember_with_what_they_were_read(tmp_path: Path, sample_log: Path) -> None:
    clock = FrozenClock()
    path = tmp_path / "m.db"
    with Memory(path, clock=clock, key_file=tmp_path / "key", model=None) as memory:
        began = clock.now
        memory.ingest([sample_log])
        memory.add_turn("I like tea", session="s")
        clock.advance(days=3)
        memory.add_turn("I like jazz", session="s")
        used = {one.part: one for one in readers_used(memory.store)}
        assert used["redactor"].version == redactor_version(memory.resources.redactor)
        assert used["rules"].version == rules_version(memory.resources.rules)
        assert (used["redactor"].sources, used["rules"].sources) == (2, 2)
        assert used["redactor"].first_at == began
        assert used["redactor"].last_at == clock.now
        assert memory.check() == []
    with Memory(path, key_file=tmp_path / "key", model=None, redact=False) as memory:
        memory.add_turn("I like rain", session="s")
        versions = {one.version: one.sources for one in readers_used(memory.store)}
        assert versions["none"] == 1
        memory.erasure.erase_owner("me")  # what read nothing that is kept is not told of
        assert readers_used(memory.store) == []
        assert memory.check() == []


def test_a_version_changes_with_the_code_and_with_the_rules(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rules = RuleSet.default()
    first = rules_version(rules)
    assert rules_version(RuleSet.default()) == first
    assert rules_version(RuleSet(rules.rules[:-1])) != first
    surer = replace(rules.rules[0], confidence=0.123)
    assert rules_version(RuleSet([surer, *rules.rules[1:]])) != first

    package = tmp_path / "somebodys_redactor"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "own.py").write_text("class Own: ...\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    from somebodys_redactor.own import Own  # type: ignore[import-not-found]

    before = redactor_version(Own())
    assert redactor_version(Own()) == before
    (package / "tables.py").write_text("WORDS = 'password'\n")
    versions._code.cache_clear()
    assert redactor_version(Own()) != before


def test_the_doctor_says_where_they_differ(cli: Cli, sample_log: Path) -> None:
    db = cli.home / "m.db"
    cli("ingest", sample_log, "--no-embed", "--db", db)

    def told() -> list[tuple[str, str]]:
        findings = cli("doctor", "--json", "--db", db).json()["findings"]
        return [(one["level"], one["detail"]) for one in findings if one["name"] == "readers"]

    ((level, said),) = told()
    assert (level, "nothing was read with others" in said) == ("ok", True)
    connection = apsw.Connection(str(db))
    connection.execute("UPDATE reader_row SET version = 'cafe00' WHERE part = 'redactor'")
    connection.close()
    ((level, said),) = told()
    assert level == "warn"
    assert "1 source read with redactor cafe00, last on 20" in said
    assert "factbook ingest --db NEW.db" in said
    own = cli.home / "config" / "factbook" / "rules.toml"
    own.parent.mkdir(parents=True, exist_ok=True)
    own.write_text(RULE)
    assert [said.partition(", ")[0] for _, said in told()] == [
        "1 source read with redactor cafe00",
        f"1 source read with rules {rules_version(RuleSet.default())}",
    ]


RULE = """
[[rule]]
name = "deploys_to"
predicate = "deploys_to"
confidence = 0.8
looks_in = "command"
pattern = 'fly deploy .*--app (?P<object>\\S+)'
subject = "action"
cues = ["deploy", "deployed"]
"""
