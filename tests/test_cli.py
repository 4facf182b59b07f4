"""The command line, run as people run it: as a process, on real files."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import signal
import stat
import subprocess
import sys
import time
from functools import cache
from pathlib import Path

import apsw
import pytest

import forked
from conftest import SESSION, Cli, call, record, sample_lines
from factbook.memory import Memory
from factbook.pipelines.graph import GraphEntity, GraphRelation
from factbook.surface.cli import group as every_command
from rows import every

DOCS = Path(__file__).parents[1] / "docs" / "cli.md"
EXAMPLES = Path(__file__).parents[1] / "examples"
HIT_KEYS = {
    "id",
    "kind",
    "text",
    "score",
    "confidence",
    "occurred_at",
    "source",
    "position",
    "evidence",
}
EVIDENCE_KEYS = {"rule", "method", "quote", "start", "end", "source", "position", "occurred_at"}


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> tuple[Cli, Path]:
    """A database with the sample session in it, embedded; only read by the tests that share it."""
    folder = tmp_path_factory.mktemp("filled")
    (folder / "logs").mkdir()
    log = folder / "logs" / f"{SESSION}.jsonl"
    log.write_text("\n".join(sample_lines()), encoding="utf-8")
    (folder / "home").mkdir()
    shared = Cli(home=folder / "home", env={"FACTBOOK_DB": str(folder / "memory.db")})
    shared("ingest", log)
    return shared, log


# --- help and documentation -----------------------------------------------------------------------


@cache
def commands() -> dict[str, set[str]]:
    """Return every command with the options that it has."""
    group = every_command()
    return {
        name: {opt for param in command.params for opt in param.opts if opt.startswith("-")}
        for name, command in group.commands.items()
    }


def test_help_names_every_command(cli: Cli) -> None:
    shown = cli("--help").out
    assert all(f"\n  {name} " in shown for name in commands())
    assert cli("-h").out == cli().out == shown


@every("name", sorted(commands()))
def test_every_command_and_option_is_documented(name: str) -> None:
    sections = re.split(r"^## ", DOCS.read_text(encoding="utf-8"), flags=re.MULTILINE)
    (section,) = [one for one in sections if re.match(f"`factbook {re.escape(name)}[ `]", one)]
    everywhere = {"--db", "--json"}  # documented once, for all
    for option in commands()[name] - everywhere:
        assert f"`{option}" in section, f"{option} of {name}"
    assert all(f"`{option}" in sections[0] or f"`{option}" in sections[1] for option in everywhere)


def test_nothing_heavy_is_imported_for_help(cli: Cli) -> None:
    ended = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "factbook", "--help"],
        env=cli.environment(),
        capture_output=True,
        text=True,
        check=True,
    )
    loaded = {line.rpartition("|")[2].strip() for line in ended.stderr.splitlines()}
    heavy = ("numpy", "onnxruntime", "pydantic", "rich", "apsw", "orjson")
    for one in (*heavy, "factbook.memory", "factbook.store", "factbook.model.keys"):
        assert one not in loaded


def test_recall_imports_neither_rich_nor_pydantic(filled: tuple[Cli, Path]) -> None:
    cli, _ = filled
    ended = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "factbook", "recall", "hosts"],
        env=cli.environment(),
        capture_output=True,
        text=True,
        check=True,
    )
    loaded = {line.rpartition("|")[2].strip() for line in ended.stderr.splitlines()}
    assert "numpy" in loaded
    assert not {"rich", "pydantic", "scipy", "sklearn"} & loaded


def test_version(cli: Cli) -> None:
    from factbook import __version__

    assert cli("version").out == cli("--version").out == f"factbook {__version__}\n"
    assert cli("version", "--json").json() == {"version": __version__}


def test_completion_knows_commands_and_predicates(cli: Cli) -> None:
    # The shell is named here: which one started the tests is not for a test to depend on.
    named = {"_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"}
    assert "complete" in cli("--show-completion", "bash", env=named).out
    asked = {
        "_FACTBOOK_COMPLETE": "complete_bash",
        "COMP_WORDS": "factbook facts --predicate conn",
        "COMP_CWORD": "3",
    }
    assert "connects_to_host" in cli(env=asked).out


# --- options that stand everywhere ----------------------------------------------------------------


def test_db_and_json_work_before_and_after_the_command(
    cli: Cli, sample_log: Path, tmp_path: Path
) -> None:
    db = tmp_path / "m.db"
    cli("--db", db, "ingest", sample_log, "--no-embed")
    before = cli("--db", db, "--json", "facts").json()
    after = cli("facts", "--json", "--db", db).json()
    assert before == after
    assert before["facts"]


def test_the_option_wins_over_the_variable_and_the_nearer_one_over_the_other(
    cli: Cli, sample_log: Path, tmp_path: Path
) -> None:
    one, two, three = (tmp_path / name for name in ("1.db", "2.db", "3.db"))
    cli(
        "--db",
        two,
        "ingest",
        sample_log,
        "--no-embed",
        "--db",
        one,
        env={"FACTBOOK_DB": str(three)},
    )
    assert one.exists()
    assert not two.exists()
    assert not three.exists()
    cli("ingest", sample_log, "--no-embed", env={"FACTBOOK_DB": str(three)})
    assert three.exists()


def test_arguments_may_have_the_names_of_commands(cli: Cli, sample_log: Path) -> None:
    cli("--db", cli.home / "facts", "ingest", sample_log, "--no-embed")
    found = cli("--db", cli.home / "facts", "recall", "stats", "facts", "backup", "--json").json()
    assert found["question"] == "stats facts backup"


def test_without_a_name_the_database_is_in_the_data_folder(cli: Cli, sample_log: Path) -> None:
    cli("ingest", sample_log, "--no-embed")
    path = cli.home / "data" / "factbook" / "factbook.db"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


# --- ingest ---------------------------------------------------------------------------------------


def test_ingest_says_what_it_did_and_what_comes_next(cli: Cli, sample_log: Path) -> None:
    done = cli("ingest", sample_log, "--no-embed")
    assert "1 file" in done.out
    assert "claude-code 1" in done.out
    assert "connects_to_host" in done.out
    assert "factbook recall" in done.out
    assert "reading" in done.err
    assert "100%" in done.err
    assert "factbook embed" in done.out  # rows wait


def test_ingest_json_accounts_for_every_line(cli: Cli, sample_log: Path, tmp_path: Path) -> None:
    with sample_log.open("a", encoding="utf-8") as file:
        file.write('not json\n\n{"type": "something-new", "uuid": "x", "sessionId": "s"}\n{"ty')
    found = cli("ingest", sample_log, "--no-embed", "--json", "--db", tmp_path / "m.db").json()
    lines = found["lines"]
    parts = [sum(lines[name].values()) for name in ("kept", "ignored", "unknown", "rejected")]
    blank = lines["ignored"]["blank"]
    assert sum(parts) == lines["records"] + blank == lines["lines"]
    assert (blank, lines["waiting"]) == (1, 1)
    assert lines["rejected"] == {"not_json": 1}
    assert lines["ignored"]["file history snapshot"] == 1
    assert sum(lines["unknown"].values()) == 1
    assert found["receipt"]["stored"] == sum(one["new_facts"] for one in found["predicates"])
    assert [one["state"] for one in found["files"]] == ["new"]
    assert found["waiting"] > 0


def test_the_json_example_of_the_documentation_adds_up() -> None:
    (shown,) = re.findall(r'"lines": \{\n.*?\n  \}', DOCS.read_text(encoding="utf-8"), re.DOTALL)
    lines = json.loads(f"{{{shown}}}")["lines"]
    parts = [sum(lines[name].values()) for name in ("kept", "ignored", "unknown", "rejected")]
    assert sum(parts) == lines["records"] + lines["ignored"]["blank"] == lines["lines"]


def test_the_summary_of_an_ingest_adds_up(cli: Cli) -> None:
    shown = cli("ingest", EXAMPLES, "--no-embed").out
    line = next(one for one in shown.splitlines() if " kept · " in one)
    head, _, rest = line.partition("  ")
    lines, records = (int(one.split()[0].replace(",", "")) for one in head.split(", "))
    assert lines > records  # a session of Gemini CLI is one document of many lines
    parts = dict(re.findall(r"([\d,]+) (kept|left out|of unknown|refused)", rest))
    assert sum(int(one.replace(",", "")) for one in parts) == records
    assert re.search(r"[\d,]+ in \d+ more kinds?", shown)


def test_a_half_written_line_is_told_when_it_is_the_only_news(cli: Cli, sample_log: Path) -> None:
    cli("ingest", sample_log, "--no-embed")
    with sample_log.open("a", encoding="utf-8") as file:
        file.write('{"type": "user", "uu')
    shown = cli("ingest", sample_log, "--no-embed").out
    assert "0 lines  1 half-written, left for the next run" in shown


def test_the_next_commands_can_be_run_as_they_are_shown(cli: Cli, sample_log: Path) -> None:
    odd = cli.home / "odd name.db"
    shown = cli("--db", odd, "ingest", sample_log, "--no-embed").out
    assert f"factbook --db '{odd}' recall " in shown
    assert "  factbook recall " in cli("ingest", sample_log, "--no-embed").out


def test_the_number_of_workers_changes_no_fact(cli: Cli, sample_log: Path, tmp_path: Path) -> None:
    stored = []
    for number in ("0", "1"):
        db = tmp_path / f"{number}.db"
        done = cli("ingest", sample_log, "--no-embed", "--json", "--workers", number, "--db", db)
        stored.append(done.json()["receipt"])
    assert stored[0] == stored[1]
    assert "--workers -1" in cli("ingest", sample_log, "--workers", "-1", code=2).err


def test_a_second_ingest_changes_nothing_and_a_grown_file_is_read_on(
    cli: Cli, sample_log: Path
) -> None:
    cli("ingest", sample_log, "--no-embed")
    again = cli("ingest", sample_log, "--no-embed")
    assert "Nothing new" in again.out
    with sample_log.open("a", encoding="utf-8") as file:
        file.write(call("a9", "Bash", command="ssh root@nas.local uptime") + "\n")
    grown = cli("ingest", sample_log, "--no-embed", "--json").json()
    assert [one["state"] for one in grown["files"]] == ["grown"]
    assert {one["predicate"]: one["new_facts"] for one in grown["predicates"]}[
        "connects_to_host"
    ] == 1


def test_secrets_are_redacted_unless_they_are_wanted_and_that_is_said(
    cli: Cli, sample_log: Path, tmp_path: Path
) -> None:
    hidden = cli("ingest", sample_log, "--no-embed")
    assert "secrets" not in hidden.err
    facts = cli("facts", "-p", "executed_command", "--json").json()["facts"]
    commands = [fact["object"] for fact in facts]
    assert "Tr0ub4dor&3" not in "\n".join(commands)
    assert any("[REDACTED:" in command for command in commands)
    open_db = tmp_path / "open.db"
    said = cli("ingest", sample_log, "--no-embed", "--no-redact", "--db", open_db)
    assert "secrets are stored and shown as they are" in said.err
    shown = cli("facts", "-p", "executed_command", "--no-redact", "--db", open_db)
    assert "Tr0ub4dor&3" in shown.out
    assert "as it is" in shown.err
    # A read redacts again, whatever was stored.
    assert "Tr0ub4dor&3" not in cli("facts", "--db", open_db).out
    assert "Tr0ub4dor&3" not in cli("export", "--db", open_db).out


def test_explain_redacts_the_quote_of_what_was_stored_as_it_is(cli: Cli) -> None:
    seed = EXAMPLES / "claude-code" / "seed-000.jsonl"
    cli("ingest", seed, "--no-embed", "--no-redact")
    secret = re.compile(r"\bpwd\b")
    assert secret.search(cli("explain", "f2", "--no-redact").out)
    for given in ((), ("--json",)):
        shown = cli("explain", "f2", *given).out
        assert not secret.search(shown)
        assert "[REDACTED:" in shown
    seed_copy = cli.home / "seed-000.jsonl"  # a log that is gone leaves only what is stored
    seed_copy.write_bytes(seed.read_bytes())
    gone = cli.home / "gone.db"
    cli("ingest", seed_copy, "--no-embed", "--no-redact", "--db", gone)
    seed_copy.unlink()
    assert not secret.search(cli("explain", "f2", "--db", gone).out)


def test_strict_uses_the_literal_pattern(cli: Cli, sample_log: Path) -> None:
    sample_log.write_text(call("a1", "Bash", command="npm install @types/node") + "\n")
    cli("ingest", sample_log, "--no-embed", "--strict")
    (found,) = cli("facts", "-p", "connects_to_host", "--json").json()["facts"]
    assert found["object"] == "types"


def test_own_rules_come_from_a_file(cli: Cli, sample_log: Path, tmp_path: Path) -> None:
    rules = tmp_path / "rules.toml"
    rules.write_text(
        '[[rule]]\nname = "unpacked"\npredicate = "unpacked"\nconfidence = 0.8\n'
        'subject = "action"\nlooks_in = "field command"\nmethod = "Archive after tar"\n'
        "pattern = 'tar -xzf (?P<object>\\S+)'\nstatement = \"unpacked {object}\"\n"
    )
    cli("ingest", sample_log, "--no-embed", "--rules", rules)
    (found,) = cli("facts", "-p", "unpacked", "--json").json()["facts"]
    assert found["object"] == "backup.tgz"
    assert "unpacked" in cli("predicates", "--rules", rules).out


def test_embed_finishes_what_waits(cli: Cli, sample_log: Path) -> None:
    waiting = cli("ingest", sample_log, "--no-embed", "--json").json()["waiting"]
    first = cli("embed", "--limit", "1", "--json").json()
    assert first["embedded"] >= 1
    done = cli("embed")
    assert "nothing waits" in done.out
    assert "embedding" in done.err
    assert cli("embed", "--json").json() == {"embedded": 0, "waiting": 0}
    assert waiting > 1


def test_ctrl_c_while_embedding_leaves_rows_waiting_and_says_so(cli: Cli, tmp_path: Path) -> None:
    log = tmp_path / f"{SESSION}.jsonl"
    text = "What about the {} of part {} in the warehouse, and who keeps the list of its shelves? "
    log.write_text(
        "".join(record("user", f"u{n}", (text * 2).format(*[n] * 4)) + "\n" for n in range(1000))
    )
    db = tmp_path / "m.db"
    child = subprocess.Popen(
        [sys.executable, "-m", "factbook", "ingest", str(log), "--db", str(db)],
        env=cli.environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and child.poll() is None:
        if db.exists() and vectors_of(db):
            break
        time.sleep(0.05)
    child.send_signal(signal.SIGINT)
    out, err = child.communicate(timeout=60)
    assert child.returncode == 130, err
    assert "still to embed" in err
    assert "1,000 lines" in out
    with Memory(db, mode="write") as memory:
        assert memory.maintenance.waiting() > 0
        assert memory.check() == []


def vectors_of(db: Path) -> int:
    """Return how many vectors a database holds while another process writes it."""
    try:
        connection = apsw.Connection(str(db), flags=apsw.SQLITE_OPEN_READONLY)
        return int(connection.execute("SELECT count(*) FROM episode_vector").get)
    except apsw.Error:
        return 0  # not made yet


# --- recall ---------------------------------------------------------------------------------------


def test_recall_shows_the_answer_with_its_evidence(filled: tuple[Cli, Path]) -> None:
    cli, log = filled
    shown = cli("recall", "which hosts did I connect to?").out
    assert "192.168.20.4" in shown
    assert "2026-11-17 14:03" in shown
    assert "/home/ann/shop" in shown
    assert "confidence 0.90" in shown
    assert f"{log}:2" in shown
    assert "»192.168.20.4«" in shown  # the quote, marked in its line
    assert "connects_to_host" in shown
    assert "still to embed" not in shown


def test_recall_json(filled: tuple[Cli, Path]) -> None:
    cli, log = filled
    found = cli("recall", "which hosts did I connect to?", "--json").json()
    assert found["predicates"] == ["connects_to_host"]
    assert found["waiting"] == 0
    for hit in found["hits"]:
        assert hit.keys() >= HIT_KEYS
        assert all(one.keys() >= EVIDENCE_KEYS for one in hit["evidence"])
    best = found["hits"][0]
    assert best["kind"] == "fact"
    assert best["occurred_at"] == "2026-11-17T14:03:00.000Z"
    assert best["source"] == str(log)
    held = {hit["object"] for hit in found["hits"] if hit["predicate"] == "connects_to_host"}
    assert held == {"192.168.20.4", "tower"}


def test_recall_takes_the_question_in_many_words(filled: tuple[Cli, Path]) -> None:
    cli, _ = filled
    asked = cli("recall", "which", "hosts", "did", "I", "connect", "to?", "--json").json()
    assert asked["question"] == "which hosts did I connect to?"
    assert asked["hits"]


def test_recall_says_which_time_it_understood(filled: tuple[Cli, Path]) -> None:
    cli, _ = filled
    asked = "what did I change in november 2026?"
    assert "november 2026 (2026-11-01 to 2026-11-30)" in cli("recall", asked).out
    window = cli("recall", asked, "--json").json()["window"]
    assert window["phrase"] == "in november 2026"
    assert window["since"] == "2026-11-01T00:00:00.000Z"


def test_recall_says_when_its_hits_are_from_another_time(filled: tuple[Cli, Path]) -> None:
    cli, _ = filled
    asked = "which hosts did I connect to on 2020-05-01?"
    shown = cli("recall", asked).out
    assert "2020-05-01" in shown.splitlines()[0]
    assert "this is from other times" in shown
    assert cli("recall", asked, "--json").json()["outside"] is True


def test_recall_narrows(filled: tuple[Cli, Path]) -> None:
    cli, _ = filled

    def hits(*options: str) -> list[dict[str, object]]:
        found = cli("recall", "backup", "--json", *options).json()["hits"]
        assert isinstance(found, list)
        return found

    assert {hit["kind"] for hit in hits()} == {"episode"}  # the turns that they are found in
    assert {hit["kind"] for hit in hits("--records")} == {"fact", "episode"}
    assert {hit["kind"] for hit in hits("--kind", "fact")} == {"fact"}
    assert {hit["kind"] for hit in hits("--kind", "episode")} == {"episode"}
    assert {hit["predicate"] for hit in hits("--kind", "prompt")} == {"prompt"}
    assert {hit["predicate"] for hit in hits("-p", "executed_command")} == {"executed_command"}
    assert len(hits("--limit", "1")) == 1
    assert hits("--host", "codex") == []
    assert hits("--project", "elsewhere") == []
    assert hits("--since", "2026-11-18") == []
    assert hits("--until", "2026-11-17") == []
    assert hits("--since", "2026-11-17", "--until", "2026-11-18", "--project", "shop")


def test_recall_says_when_rows_wait(cli: Cli, sample_log: Path) -> None:
    cli("ingest", sample_log, "--no-embed")
    shown = cli("recall", "backup from the tower").out
    assert "still to embed" in shown
    assert "factbook embed" in shown
    assert "tower" in shown


def test_nothing_found_is_no_error(filled: tuple[Cli, Path]) -> None:
    cli, _ = filled
    shown = cli("recall", "backup", "--since", "2027-01-01")
    assert "Nothing was found" in shown.out


# --- facts ----------------------------------------------------------------------------------------


def test_facts_filters(filled: tuple[Cli, Path]) -> None:
    cli, _ = filled

    def objects(*options: str) -> list[str]:
        found = cli("facts", "--limit", "0", "--json", *options).json()["facts"]
        return [one["object"] for one in found]

    assert objects("--predicate", "connects_to_host") == ["192.168.20.4", "tower"]
    assert objects("-p", "connects_to_host", "--newest") == ["tower", "192.168.20.4"]
    assert objects("-p", "connects_to_host", "--min-confidence", "0.95") == []
    assert objects("--subject", "action_a4", "-p", "modified_file") == ["/home/ann/shop/auth.py"]
    assert objects("--object", "tower") == ["tower"]
    assert objects("--session", SESSION)
    assert objects("--session", "another") == []
    assert objects("--host", "codex") == []
    assert objects("-p", "connects_to_host", "-p", "modified_file") == [
        "192.168.20.4",
        "tower",
        "/home/ann/shop/auth.py",
    ]


def test_facts_limit_is_kept_and_all_can_be_had(filled: tuple[Cli, Path]) -> None:
    cli, _ = filled
    everything = cli("facts", "--json", "--limit", "0").json()["facts"]
    assert len(everything) > 5
    assert cli("facts", "--json", "--limit", "1000000").json()["facts"] == everything
    assert cli("facts", "--json", "--limit", "3").json()["facts"] == everything[:3]
    cut = cli("facts", "--limit", "3").out
    assert "The first 3; --limit 0 shows all" in cut
    assert len(cut.splitlines()) == 5
    assert "--limit 0" not in cli("facts", "--limit", "0").out


def test_facts_with_evidence(filled: tuple[Cli, Path]) -> None:
    cli, log = filled
    (fact,) = cli("facts", "--object", "tower", "--evidence", "--json").json()["facts"]
    (evidence,) = fact["evidence"]
    assert (evidence["source"], evidence["position"]) == (str(log), 3)
    assert evidence["quote"] == "tower"
    assert f"{log}:3" in cli("facts", "--object", "tower", "--evidence").out


def test_no_facts_is_said(filled: tuple[Cli, Path]) -> None:
    cli, _ = filled
    assert "No facts match" in cli("facts", "-p", "no_such_predicate").out
    assert cli("facts", "-p", "no_such_predicate", "--json").json() == {"facts": []}


# --- explain --------------------------------------------------------------------------------------


def fact_id(cli: Cli, *options: str) -> str:
    found = cli("facts", "--json", *options).json()["facts"]
    return str(found[0]["id"])


def test_explain_shows_rule_evidence_and_history(filled: tuple[Cli, Path]) -> None:
    cli, log = filled
    one = fact_id(cli, "--object", "192.168.20.4")
    shown = cli("explain", one).out
    assert "connects_to_host" in shown
    assert "0.90" in shown
    assert f"{log}, line 2" in shown
    assert "»192.168.20.4«" in shown
    assert "the log still holds it" in shown
    assert "history" in shown
    assert "store, by cli" in shown
    assert "Tr0ub4dor" not in shown
    assert cli("explain", one.removeprefix("f")).out == shown


def test_explain_shows_what_was_said_too(tmp_path: Path, cli: Cli) -> None:
    said = {"role": "user", "content": "I live in Ghent", "timestamp": "2026-03-01T00:00:00Z"}
    chat = tmp_path / "chat.jsonl"
    chat.write_text(json.dumps(said) + "\n", encoding="utf-8")
    shown = cli("ingest", chat).out
    assert " consolidate\n" in shown  # the night makes facts of it; there are none to list
    assert "facts --predicate" not in shown
    assert "I live in Ghent" in cli("explain", "e1").out
    assert cli("explain", "e1", "--json").json()["text"] == "I live in Ghent"
    cli("explain", "e9", code=8)


def test_explain_json(filled: tuple[Cli, Path]) -> None:
    cli, _ = filled
    found = cli("explain", fact_id(cli, "--object", "192.168.20.4"), "--json").json()
    assert found["fact"]["object"] == "192.168.20.4"
    assert found["rule"]["name"] == "connects_to_host"
    (evidence,) = found["evidence"]
    assert evidence["original"]["state"] == "found"
    assert "192.168.20.4" in evidence["original"]["text"]
    assert "Tr0ub4dor" not in json.dumps(found)
    assert found["history"][0]["op"] == "store"


def test_explain_shows_a_long_command_whole(cli: Cli, sample_log: Path) -> None:
    command = "echo " + " ".join(f"word{n}" for n in range(120))
    sample_log.write_text(call("a1", "Bash", command=command) + "\n")
    cli("ingest", sample_log, "--no-embed")
    table = cli("facts", "-p", "executed_command", env={"COLUMNS": "100"}).out
    assert "word119" not in table
    whole = cli("explain", fact_id(cli, "-p", "executed_command")).out
    assert " ".join(whole.split()).count(command) >= 1


def test_explain_says_when_the_log_has_changed_or_is_gone(cli: Cli, sample_log: Path) -> None:
    cli("ingest", sample_log, "--no-embed")
    one = fact_id(cli, "--object", "tower")
    original = sample_log.read_text()
    sample_log.write_text(original.replace("tower", "lower"))
    assert "changed:" in cli("explain", one).out
    sample_log.unlink()
    gone = cli("explain", one)
    assert "gone:" in gone.out
    assert "»tower«" in gone.out  # what was kept still shows it
    assert cli("explain", one, "--json").json()["evidence"][0]["original"]["state"] == "gone"


def test_explain_shows_some_evidence_and_all_on_request(cli: Cli, sample_log: Path) -> None:
    blocks = [
        {"type": "tool_use", "id": f"t{n}", "name": "Bash", "input": {"command": f"ls /d{n}"}}
        for n in range(8)
    ]
    sample_log.write_text(record("assistant", "a1", blocks) + "\n")
    cli("ingest", sample_log, "--no-embed")
    one = fact_id(cli, "-p", "used_tool")
    some = cli("explain", one).out
    assert "evidence 5 of 8" in some
    assert "evidence 6 of 8" not in some
    assert "3 more pieces" in some
    assert "evidence 8 of 8" in cli("explain", one, "--all").out


# --- the other lists ------------------------------------------------------------------------------


def test_sessions(filled: tuple[Cli, Path]) -> None:
    cli, log = filled
    shown = cli("sessions").out
    assert SESSION in shown
    assert "claude-code" in shown
    assert "/home/ann/shop" in shown
    (one,) = cli("sessions", "--json").json()["sessions"]
    assert (one["session"], one["source"]) == (SESSION, str(log))
    for option, value in (("--host", "codex"), ("--since", "2026-11-18"), ("--project", "x")):
        assert cli("sessions", "--json", option, value).json() == {"sessions": []}
    assert cli("sessions", "--json", "--until", "2026-11-18", "--limit", "1").json()["sessions"]
    assert cli("sessions", "--json", "--project", "/home/ANN/Shop").json()["sessions"]


def test_timeline_is_grouped_by_day(filled: tuple[Cli, Path]) -> None:
    cli, _ = filled
    lines = cli("timeline").out.splitlines()
    assert lines[0] == "Tue 2026-11-17"
    assert any("14:03" in line and "> " in line and "Copy the backup" in line for line in lines)
    assert any("192.168.20.4" in line for line in lines)
    entries = cli("timeline", "--json", "--since", "2026-11-01", "--project", "shop").json()
    assert {one["kind"] for one in entries["entries"]} == {"fact", "episode"}
    only = cli("timeline", "--json", "-p", "modified_file").json()["entries"]
    assert {one["predicate"] for one in only if one["kind"] == "fact"} == {"modified_file"}
    assert len(cli("timeline", "--json", "--limit", "2").json()["entries"]) == 2
    assert cli("timeline", "--json", "--until", "2026-11-01").json() == {"entries": []}
    for option in ("--host", "--session"):
        assert cli("timeline", "--json", option, "nobody").json() == {"entries": []}
    assert "Nothing happened" in cli("timeline", "--since", "2027-01-01").out


def test_stats(filled: tuple[Cli, Path]) -> None:
    cli, _ = filled
    shown = cli("stats").out
    assert "connects_to_host" in shown
    assert "claude-code 1" in shown
    found = cli("stats", "--json").json()
    assert found["counts"]["sources"] == 1
    assert {one["predicate"]: one["facts"] for one in found["predicates"]}["connects_to_host"] == 2
    assert found["lines"]["records"] > 0


def test_predicates_and_how_often_their_rules_fired(filled: tuple[Cli, Path], cli: Cli) -> None:
    used, _ = filled
    found = {one["name"]: one for one in used("predicates", "--json").json()["predicates"]}
    assert found["connects_to_host"]["fired"] == 2
    assert found["connects_to_host"]["confidence"] == 0.9
    assert len({one["predicate"] for one in found.values()}) >= 12
    assert "connects_to_host" in used("predicates").out
    # The table can be read before there is a database.
    bare = cli("predicates").out
    assert "connects_to_host" in bare
    assert "fired" not in bare
    assert cli("predicates", "--noise", code=4).out == ""


def test_noise(filled: tuple[Cli, Path]) -> None:
    cli, _ = filled
    found = cli("predicates", "--noise", "--json").json()["predicates"]
    assert found
    assert all(0 <= one["noise"]["score"] <= 1 for one in found)
    assert "noise" in cli("predicates", "--noise").out


def test_rejections(cli: Cli, sample_log: Path) -> None:
    cli("ingest", sample_log, "--no-embed")
    assert cli("rejections").out == "Nothing was refused.\n"
    with sample_log.open("a", encoding="utf-8") as file:
        file.write("one\ntwo\n")
    cli("ingest", sample_log, "--no-embed")
    shown = cli("rejections").out
    assert "not_json" in shown
    assert f"{sample_log.name}:10" in shown
    found = cli("rejections", "--limit", "1", "--json").json()["rejections"]
    assert [one["position"] for one in found] == [10]


# --- export ---------------------------------------------------------------------------------------


def test_export_json_lines(filled: tuple[Cli, Path], tmp_path: Path) -> None:
    cli, _ = filled
    records = [json.loads(line) for line in cli("export").out.splitlines()]
    kinds = {one["record"] for one in records}
    assert kinds >= {"source", "episode", "fact", "evidence", "event"}
    out = tmp_path / "all.jsonl"
    said = cli("export", out)
    assert f"{len(records)} records" in said.out
    assert stat.S_IMODE(out.stat().st_mode) == 0o600
    assert [json.loads(line) for line in out.read_text().splitlines()] == records
    assert cli("export", "--json").json()["records"] == records
    assert cli("export", "-").out == cli("export").out
    assert [one.name for one in tmp_path.iterdir()] == ["all.jsonl"]  # no part is left


def test_a_table_holds_no_formula(cli: Cli) -> None:
    cli("remember", '=HYPERLINK("http://tower.lan/?"&A1) is what I keep in the first cell')
    (row,) = csv.DictReader(io.StringIO(cli("export", "--format", "csv-facts").out))
    assert row["statement"].startswith("'=HYPERLINK(")


def test_every_cell_of_a_table_is_redacted(cli: Cli, tmp_path: Path) -> None:
    secret = "ghp_aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5"
    db = tmp_path / "bare.db"
    with Memory(db, redact=False, key_file=tmp_path / "key", model=None) as memory:
        memory.graph.create_entities([GraphEntity(f"deploy {secret}", "key")])
        memory.graph.create_relations([GraphRelation("Ann", "Lier", f"has {secret}")])
    said = cli("--db", db, "export", "--format", "csv-facts").out
    assert [row["object"] for row in csv.DictReader(io.StringIO(said))] == ["key", "Lier"]
    assert secret not in said


def test_export_csv(filled: tuple[Cli, Path], tmp_path: Path) -> None:
    cli, _ = filled
    rows = list(csv.DictReader(io.StringIO(cli("export", "--format", "csv-facts").out)))
    facts = cli("facts", "--limit", "0", "--json").json()["facts"]
    assert [row["object"] for row in rows] == [one["object"] for one in facts]
    said = cli("export", tmp_path / "f.csv", "--format", "csv-facts", "--json").json()
    assert said["records"] == len(rows)
    assert said["bytes"] == (tmp_path / "f.csv").stat().st_size


def test_export_overwrites_nothing_by_accident(filled: tuple[Cli, Path], tmp_path: Path) -> None:
    cli, _ = filled
    out = tmp_path / "mine.txt"
    out.write_text("dear diary")
    said = cli("export", out, code=2)
    assert "--force" in said.err
    assert out.read_text() == "dear diary"
    cli("export", out, "--force")
    assert out.read_text().startswith("{")
    db = Path(cli.env["FACTBOOK_DB"])
    before = db.read_bytes()
    assert "the database itself" in cli("export", db, "--force", code=2).err
    assert db.read_bytes() == before
    for end in ("-wal", "-shm"):
        part = db.with_name(db.name + end)
        assert "a part of the database" in cli("export", part, "--force", code=2).err
    key = Path(cli.environment()["FACTBOOK_KEY_FILE"])
    before = key.read_bytes()
    assert "the redaction key" in cli("export", key, "--force", code=2).err
    assert key.read_bytes() == before
    cli("export", tmp_path, "--force", code=2)
    assert "could not be written" in cli("export", tmp_path / "no" / "where", code=1).err
    assert "no format" in cli("export", "--format", "xml", code=2).err


def test_an_export_is_imported(filled: tuple[Cli, Path], tmp_path: Path) -> None:
    cli, sample = filled
    file, db = tmp_path / "all.jsonl", tmp_path / "new.db"
    cli("export", "--all-owners", file)
    records = len(file.read_text().splitlines()) - 1
    assert "is no export" in cli("--db", db, "import", sample, code=2).err
    assert not db.exists()
    would = cli("--db", db, "import", file, "--dry-run", "--json").json()
    assert sum(would["added"].values()) == records
    assert not db.exists()
    said = cli("--db", db, "import", file)
    assert f"{records} records: {records} came" in said.out
    done = cli("--db", db, "import", file, "--dry-run", "--json").json()
    assert (done["added"], done["dry_run"], done["waiting"]) == ({}, True, 0)
    assert sum(done["known"].values()) == records
    facts = ("facts", "--limit", "0", "--json")
    assert cli("--db", db, *facts).json()["facts"] == cli(*facts).json()["facts"]
    with file.open("a", encoding="utf-8") as lines:
        lines.write("half a li")
    said = cli("--db", db, "import", file, code=3)
    assert f"line {records + 2}: not_json" in said.out
    assert "not_json" in cli("--db", db, "rejections").out


# --- doctor ---------------------------------------------------------------------------------------


def test_doctor_finds_all_well(filled: tuple[Cli, Path]) -> None:
    cli, _ = filled
    found = cli("doctor", "--json").json()
    assert found["ok"] is True
    names = {one["name"] for one in found["findings"]}
    assert names >= {
        "factbook",
        "packages",
        "sqlite",
        "database",
        "integrity",
        "waiting",
        "embedder",
        "key",
        "logs",
        "disk",
    }
    assert "All is well" in cli("doctor").out


def test_doctor_works_before_there_is_anything(cli: Cli) -> None:
    found = cli("doctor", "--json").json()
    levels = {one["name"]: one["level"] for one in found["findings"]}
    assert levels["database"] == "warn"
    assert levels["embedder"] == "ok"


def test_doctor_finds_a_counter_that_lies_and_files_that_others_can_read(
    cli: Cli, sample_log: Path, tmp_path: Path
) -> None:
    db = tmp_path / "m.db"
    cli("ingest", sample_log, "--no-embed", "--db", db)
    connection = apsw.Connection(str(db))
    connection.execute("UPDATE fact_row SET evidence_count = 7 WHERE id = 1")
    connection.close()
    db.chmod(0o644)
    done = cli("doctor", "--db", db, "--json", code=1)
    found = done.json()
    assert found["ok"] is False
    levels = {(one["name"], one["level"]) for one in found["findings"]}
    assert ("integrity", "fail") in levels
    assert ("database", "warn") in levels
    assert "failed" in cli("doctor", "--db", db, code=1).out


def test_what_a_killed_process_left_is_named_and_goes_and_a_live_one_keeps_its_file(
    cli: Cli, sample_log: Path, tmp_path: Path
) -> None:
    db = tmp_path / "m.db"
    cli("ingest", sample_log, "--no-embed", "--db", db)
    script = (
        "import sys, time\n"
        "from pathlib import Path\n"
        "from factbook.memory.export import write_whole\n"
        "def lines():\n"
        "    yield 'my locker code is 77-zebra-19' * 4096\n"
        "    print('written', flush=True)\n"
        "    time.sleep(60)\n"
        "write_whole(Path(sys.argv[1]), lines(), replace=False, never={})\n"
    )

    def writing() -> subprocess.Popen[str]:
        command = [sys.executable, "-c", script, str(tmp_path / "out.jsonl")]
        found = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert found.stdout is not None
        assert found.stdout.readline() == "written\n"
        return found

    def halves() -> set[Path]:
        files = [one for one in tmp_path.iterdir() if one.is_file()]
        return {one for one in files if b"77-zebra-19" in one.read_bytes()}

    def named(*args: str) -> list[tuple[str, str]]:
        findings = cli("doctor", "--db", db, "--json", *args).json()["findings"]
        return [(one["level"], one["detail"]) for one in findings if one["name"] == "left behind"]

    killed = writing()
    killed.kill()
    killed.communicate()
    (left,) = halves()
    assert stat.S_IMODE(left.stat().st_mode) == 0o600
    ((level, said),) = named()
    assert level == "warn"
    assert left.name in said
    assert "factbook doctor --clean" in said
    assert halves() == {left}

    alive = writing()  # it deletes what the killed one left of the same file
    (living,) = halves()
    assert living != left
    assert named() == []
    assert named("--clean") == [("ok", "nothing; nothing was deleted")]
    assert halves() == {living}
    alive.kill()
    alive.communicate()
    ((level, said),) = named("--clean")
    assert (level, living.name in said) == ("ok", True)
    assert halves() == set()
    assert "--clean goes with" in cli("doctor", "--clean", "--llm", code=2).err


# --- terminals ------------------------------------------------------------------------------------

NASTY = (
    "[bold]markup[/bold] \x1b[2J\x1b]8;;http://evil.example\x07click\x1b]8;;\x07 "
    "\x1b]52;c;aGk=\x07 over\rwrite "
    "\u202eright to left\u202c \x9b31m \x07bell \u2028next \U000e0041tag \x7f"
)
# What factbook itself says to a terminal: colours, and where the progress bar stands.
_OURS = re.compile(r"\x1b\[[0-9;]*m")
_BAR = re.compile(r"\x1b\[\?25[lh]|\x1b\[[12]?[AK]|\r")
_FORBIDDEN = re.compile(
    "[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\U000e0000-\U000e007f]"
)


def test_no_stored_text_reaches_the_terminal_as_a_command(cli: Cli, tmp_path: Path) -> None:
    folder = tmp_path / "\x1b[31mlogs\u202e"
    folder.mkdir()
    log = folder / f"{SESSION}.jsonl"
    log.write_text(
        "\n".join(
            [
                record("user", "u1", f"please {NASTY} /etc/pass{NASTY}", cwd=f"/home/{NASTY}"),
                call("a1", "Bash", command=f"ssh root@host1 'echo {NASTY}'"),
                call("a2", f"Tool{NASTY}", command="ls"),
                call("a3", "Edit", file_path=f"/tmp/{NASTY}", old_string="a", new_string="b"),
                json.dumps({"type": "custom-title", "customTitle": NASTY, "sessionId": SESSION}),
                f"broken {NASTY}",
                "",
            ]
        ),
        encoding="utf-8",
    )
    db = tmp_path / "m.db"
    runs = [("ingest", str(log), "--no-embed")]
    runs += [
        ("recall", f"please {NASTY}"),
        *(("explain", str(number)) for number in range(2, 5)),
        ("facts", "--limit", "0", "--evidence"),
        ("sessions",),
        ("timeline",),
        ("stats",),
        ("doctor",),
        ("rejections",),
        ("predicates", "--noise"),
        ("export",),
        ("export", "--format", "csv-facts"),
    ]
    for run in runs:
        for more in ((), ("--json",)):
            if run[-1] == "csv-facts" and more:
                continue
            done = cli(*run, *more, "--db", db, env={"FORCE_COLOR": "1", "COLUMNS": "80"})
            for text in (_OURS.sub("", done.out), _BAR.sub("", _OURS.sub("", done.err))):
                assert _FORBIDDEN.search(text) is None, (run, text)
    assert "\\x1b[2J" in cli("recall", "please", "--db", db).out  # shown, as an escape
    assert "[bold]markup[/bold]" in cli("facts", "-p", "executed_command", "--db", db).out
    with Memory(db) as memory:
        assert memory.check() == []


def test_colour_only_where_it_is_wanted(filled: tuple[Cli, Path]) -> None:
    cli, _ = filled
    assert "\x1b" not in cli("stats").out
    assert "\x1b[" in cli("stats", env={"FORCE_COLOR": "1"}).out
    assert "\x1b" not in cli("stats", env={"FORCE_COLOR": "1", "NO_COLOR": "1"}).out
    assert "\x1b" not in cli("stats", "--json", env={"FORCE_COLOR": "1"}).out
    assert "\x1b" not in cli("stats", env={"FORCE_COLOR": "1", "TERM": "dumb"}).out


@pytest.mark.parametrize("width", [48, 100])
@pytest.mark.parametrize(
    "command",
    [
        ("facts",),
        ("timeline",),
        ("sessions",),
        ("stats",),
        ("predicates",),
        ("predicates", "--noise"),
    ],
)
def test_tables_keep_to_the_width(
    filled: tuple[Cli, Path], width: int, command: tuple[str, ...]
) -> None:
    cli, _ = filled
    shown = cli(*command, env={"COLUMNS": str(width)}).out
    tables = [line for line in shown.splitlines() if ".db" not in line]  # the path stays whole
    assert max(len(line) for line in tables) <= width


def test_output_that_cannot_be_encoded_is_escaped(filled: tuple[Cli, Path]) -> None:
    cli, _ = filled
    done = cli("recall", "hosts", env={"PYTHONIOENCODING": "ascii"})
    assert "\\xb7" in done.out  # the dot between the parts


# --- pipes and exits ------------------------------------------------------------------------------


def test_a_closed_pipe_ends_quietly(cli: Cli, tmp_path: Path) -> None:
    log = tmp_path / f"{SESSION}.jsonl"
    log.write_text(
        "".join(call(f"a{n}", "Bash", command=f"ls /srv/{n:0200d}") + "\n" for n in range(1500))
    )
    db = tmp_path / "m.db"
    cli("ingest", log, "--no-embed", "--db", db)
    for command in ("facts --limit 0", "facts --limit 0 --json", "export"):
        ended = subprocess.run(
            f"{sys.executable} -m factbook {command} --db {db} | head -n 2;"
            " echo ${PIPESTATUS[0]}",
            shell=True,
            executable="/bin/bash",
            env=cli.environment(),
            capture_output=True,
            text=True,
            check=True,
        )
        assert ended.stdout.splitlines()[-1] == "141"
        assert ended.stderr == ""


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_output_to_a_full_disk_is_an_error(filled: tuple[Cli, Path]) -> None:
    cli, _ = filled
    with Path("/dev/full").open("w") as full:
        ended = subprocess.run(
            [sys.executable, "-m", "factbook", "facts"],
            env=cli.environment(),
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert ended.returncode == 1
    assert "could not be written" in ended.stderr
    assert "nothing was changed" not in ended.stderr  # a command that writes has done so by then
    assert ended.stderr.count("\n") == 1


def test_a_closed_stdout_is_no_traceback(filled: tuple[Cli, Path]) -> None:
    cli, _ = filled
    ended = subprocess.run(
        f"{sys.executable} -m factbook stats >&-",
        shell=True,
        env=cli.environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0
    assert ended.stderr == ""


def test_the_installed_script_is_the_same(filled: tuple[Cli, Path]) -> None:
    cli, _ = filled
    script = Path(sys.executable).with_name("factbook")
    if not script.exists():
        pytest.skip("factbook is on the path, not installed")
    ended = subprocess.run(
        [script, "stats", "--json"], env=cli.environment(), capture_output=True, check=True
    )
    assert json.loads(ended.stdout) == cli("stats", "--json").json()


def test_a_progress_bar_moves_on_a_terminal(cli: Cli, sample_log: Path) -> None:
    pty = pytest.importorskip("pty")
    parent, child = pty.openpty()
    process = forked.start(
        ["ingest", str(sample_log), "--no-embed"],
        env=cli.environment({"TERM": "xterm-256color", "COLUMNS": "100"}),
        files=[child, child, child],
    )
    os.close(child)
    shown = b""
    while True:
        try:
            part = os.read(parent, 65536)
        except OSError:  # Linux says so when the other side has closed
            break
        if not part:
            break
        shown += part
    os.close(parent)
    assert process.wait(60) == 0
    text = shown.decode()
    assert "reading" in text
    assert "\x1b[?25l" in text  # the cursor hides while the bar moves
    assert "\x1b[36m" in text  # and the table is coloured
