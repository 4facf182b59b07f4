"""Calls are read with their results: what is claimed of them, wherever the result stands."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from factbook.extract.outcomes import error_line
from factbook.extract.tests_run import closing
from factbook.memory import Memory
from factbook.model.facts import Fact
from factbook.testing import FrozenClock

SESSION = "11111111-2222-4333-8444-555555555559"
DENIED = (
    "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was"
    " a file edit, the new_string was NOT written to the file)."
)


class Log:
    """Writes a Claude Code log, call by call and result by result."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / f"{SESSION}.jsonl"
        self.lines: list[str] = []

    def _record(self, kind: str, block: dict[str, object], **more: object) -> None:
        n = len(self.lines)
        record = {
            "type": kind,
            "uuid": f"{kind[0]}{n}",
            "parentUuid": None,
            "sessionId": SESSION,
            "timestamp": f"2026-11-17T10:{n // 60:02d}:{n % 60:02d}.000Z",
            "cwd": "/home/ann/shop",
            "message": {"role": kind, "content": [block]},
            **more,
        }
        self.lines.append(json.dumps(record))
        self.path.write_text("\n".join(self.lines) + "\n", encoding="utf-8")

    def call(self, id: str, tool: str, **given: object) -> None:
        self._record("assistant", {"type": "tool_use", "id": id, "name": tool, "input": given})

    def result(self, id: str, text: str, *, error: bool = False, outcome: object = None) -> None:
        block: dict[str, object] = {"type": "tool_result", "tool_use_id": id, "content": text}
        more = {"toolUseResult": outcome} if outcome else {}
        self._record("user", block | ({"is_error": True} if error else {}), **more)

    def bash(self, command: str, text: str, *, error: bool = False, **given: object) -> None:
        id = f"toolu_{len(self.lines)}"
        self.call(id, "Bash", command=command, **given)
        self.result(id, text, error=error)

    def edit(self, path: str, *, old: str = "a = 1", new: str = "a = 2", error: str = "") -> None:
        id = f"toolu_{len(self.lines)}"
        self.call(id, "Edit", file_path=path, old_string=old, new_string=new)
        self.result(id, error or "The file has been updated.", error=bool(error))


@pytest.fixture
def log(tmp_path: Path) -> Log:
    return Log(tmp_path)


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    clock = FrozenClock(1_795_000_000_000)
    with Memory(tmp_path / "m.db", clock=clock, key_file=tmp_path / "key") as opened:
        yield opened
        assert opened.check() == []


def facts(memory: Memory, predicate: str) -> list[Fact]:
    return memory.query_facts(predicate=predicate)


def told(memory: Memory, log: Log, predicate: str) -> list[str]:
    memory.ingest([log.path])
    return [fact.statement for fact in facts(memory, predicate)]


# --- the join -------------------------------------------------------------------------------------

HAPPENED = (
    "executed_command", "ran", "modified_file", "committed", "installed_package", "verified",
    "operation_type", "read_file",
)  # fmt: skip


@pytest.mark.parametrize(
    "said",
    [
        DENIED,
        "This command requires approval",
        "PreToolUse:Bash hook error: [check.sh]: this is not allowed here",
        "[Request interrupted by user for tool use]",
    ],
)
def test_what_was_refused_did_not_happen(memory: Memory, log: Log, said: str) -> None:
    log.bash("pip install requests && git commit -m 'Add requests' && pytest", said, error=True)
    log.edit("/home/ann/shop/a.py", error=said)
    log.call("t9", "Read", file_path="/home/ann/shop/b.py")
    log.result("t9", said, error=True)
    memory.ingest([log.path])
    assert [fact for predicate in HAPPENED for fact in facts(memory, predicate)] == []
    assert len(facts(memory, "used_tool")) == 3


@pytest.mark.parametrize("error", [False, True])
def test_what_was_stopped_midway_was_executed(memory: Memory, log: Log, *, error: bool) -> None:
    log.call("t1", "Bash", command="./reindex.sh && git commit -m 'Reindex'")
    log.result("t1", "part 1 of 9", error=error, outcome={"stdout": "part 1", "interrupted": True})
    memory.ingest([log.path])
    (done,) = facts(memory, "executed_command")
    (ran,) = facts(memory, "ran")
    assert ran.statement == f"ran `{done.object}`: it was stopped before its end"
    assert facts(memory, "committed") == facts(memory, "failed_with") == []
    assert memory.sources.count("how often did reindex.sh succeed").total == 0


def test_an_edit_that_failed_changed_nothing(memory: Memory, log: Log) -> None:
    log.edit("/home/ann/shop/a.py", error="String to replace not found in file.")
    assert told(memory, log, "modified_file") == []
    assert [fact.statement for fact in facts(memory, "failed_with")] == [
        "Edit of /home/ann/shop/a.py failed: String to replace not found in file."
    ]


def test_an_edit_says_what_was_changed(memory: Memory, log: Log) -> None:
    log.edit("/s/a.py", old="def f():\n    return 1\n", new="def f():\n    return 2\n")
    log.call("t7", "Write", file_path="/s/b.md", content="# Notes\n\nmore")
    log.result("t7", "File created successfully")
    assert told(memory, log, "modified_file") == [
        "changed file /s/a.py: `return 1` became `return 2`",
        "changed file /s/b.md: wrote `# Notes`",
    ]


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        ("total = price\n", "# Rounded, as the till does.\ntax = rate * 2\ntotal = price + tax\n",
         "wrote `# Rounded, as the till does.`"),
        ("total = round(price)\n", "total = round(price, 2)\n",
         "`total = round(price)` became `total = round(price, 2)`"),
        ("old = 1\n", "", "took out `old = 1`"),
        ("raise ShopError(f'the cart of {customer.name} holds nothing that can be sold now')\n",
         "raise ShopError(f'the cart of {customer.name} holds nothing that can be sold here')\n",
         "`…nothing that can be sold now')` became `…nothing that can be sold here')`"),
    ],
)  # fmt: skip
def test_a_line_became_another_only_where_it_is_rewritten(
    memory: Memory, log: Log, old: str, new: str, what: str
) -> None:
    log.edit("/s/a.py", old=old, new=new)
    assert told(memory, log, "modified_file") == [f"changed file /s/a.py: {what}"]


def test_a_tool_that_writes_says_why_before_it_quotes(memory: Memory, log: Log) -> None:
    said = "Found 2 places for the old text, so nothing was written.\nText:\n  raise ValueError: x"
    log.edit("/s/a.py", error=said)
    assert told(memory, log, "failed_with") == [
        "Edit of /s/a.py failed: Found 2 places for the old text, so nothing was written."
    ]


@pytest.mark.parametrize("failed", [False, True])
def test_a_result_of_a_later_run_is_joined(memory: Memory, log: Log, *, failed: bool) -> None:
    log.call("t1", "Bash", command="git commit -m 'Fix the cart'", description="Commit")
    memory.ingest([log.path])
    assert facts(memory, "ran") == facts(memory, "committed") == []
    text = "nothing to commit, working tree clean" if failed else "[main 1a2b3c4] Fix the cart"
    log.result("t1", f"Exit code 1\n{text}" if failed else text, error=failed)
    memory.ingest([log.path])
    (ran,) = facts(memory, "ran")
    assert ran.subject == "action_a0"
    assert [fact.statement for fact in facts(memory, "committed")] == (
        [] if failed else ["committed 1a2b3c4: Fix the cart"]
    )


def test_reading_in_pieces_gives_what_reading_at_once_gives(tmp_path: Path, log: Log) -> None:
    log.call("t1", "Bash", command="pytest -q")
    log.call("t2", "Edit", file_path="/s/a.py", old_string="a", new_string="b")
    log.result("t2", "updated")
    log.result("t1", "Exit code 1\nE   TypeError: no\n1 failed, 2 passed in 0.10s", error=True)
    log.edit("/s/b.py")
    log.bash("pytest -q", "3 passed in 0.10s")
    whole = log.path.read_text(encoding="utf-8").splitlines(keepends=True)
    found = []
    for name, cuts in (("once", [len(whole)]), ("pieces", range(1, len(whole) + 1))):
        clock = FrozenClock(1_794_910_000_000)  # minutes later: what is open yet may be answered
        with Memory(tmp_path / f"{name}.db", clock=clock, key_file=tmp_path / "key") as memory:
            for cut in cuts:
                log.path.write_text("".join(whole[:cut]), encoding="utf-8")
                memory.ingest([log.path])
            found.append({(f.predicate, f.object, f.statement) for f in memory.query_facts()})
    assert found[0] == found[1]
    assert any(predicate == "fixed_by" for predicate, _, _ in found[0])


def test_a_call_that_never_got_a_result_is_told_as_one(memory: Memory, log: Log) -> None:
    log.call("t1", "Edit", file_path="/s/a.py", old_string="a", new_string="b")
    assert told(memory, log, "modified_file") == ["was to change file /s/a.py; no result is known"]
    assert facts(memory, "ran") == []


def test_a_command_at_the_end_of_a_log_is_told_though_nothing_follows(
    tmp_path: Path, log: Log
) -> None:
    log.call("t1", "Bash", command="make deploy")
    clock = FrozenClock(1_794_910_000_000)  # minutes later
    with Memory(tmp_path / "m.db", clock=clock, key_file=tmp_path / "key") as memory:
        assert told(memory, log, "executed_command") == []
        clock.advance(days=0.2)
        for _ in range(2):
            (file,) = memory.ingest([log.path]).files
            assert file.state == "unchanged"
            assert [fact.object for fact in facts(memory, "executed_command")] == ["make deploy"]
        log.result("t1", "deployed")
        assert told(memory, log, "ran") == ["ran `make deploy`: ok"]


def test_a_search_that_is_recorded_when_it_is_over_was_made(memory: Memory, tmp_path: Path) -> None:
    log = tmp_path / "rollout-2026-11-17T10-00-00-019f3a10-5c1e-7d42-9b30-6f2c81d4e7a5.jsonl"
    search = {"type": "search", "query": "sqlite wal"}
    payloads: list[tuple[str, dict[str, object]]] = [
        ("session_meta", {"id": "019f3a10-5c1e-7d42-9b30-6f2c81d4e7a5", "cwd": "/home/ann/shop"}),
        ("response_item", {"type": "web_search_call", "status": "completed", "action": search}),
    ]
    records = [
        {"timestamp": "2026-11-17T10:00:00.000Z", "type": type, "payload": payload}
        for type, payload in payloads
    ]
    log.write_text("".join(json.dumps(one) + "\n" for one in records), encoding="utf-8")
    memory.ingest([log])
    assert [fact.statement for fact in facts(memory, "searched_for")] == [
        "searched the web for sqlite wal"
    ]


def _codex(path: Path, *items: dict[str, object]) -> Path:
    head = {"id": "019f3a10-5c1e-7d42-9b30-6f2c81d4e7a5", "cwd": "/home/ann/shop"}
    records = [("session_meta", head), *(("response_item", one) for one in items)]
    lines = [
        {"timestamp": f"2026-11-17T10:00:{n:02d}.000Z", "type": type, "payload": payload}
        for n, (type, payload) in enumerate(records)
    ]
    path.write_text("".join(json.dumps(one) + "\n" for one in lines), encoding="utf-8")
    return path


def _called(id: str, tool: str, output: str, **given: object) -> list[dict[str, object]]:
    call = {"type": "function_call", "name": tool, "arguments": json.dumps(given), "call_id": id}
    return [call, {"type": "function_call_output", "call_id": id, "output": output}]


@pytest.mark.parametrize("typed", ["", "q"])
def test_a_command_that_goes_on_ends_where_it_is_waited_for(
    memory: Memory, tmp_path: Path, typed: str
) -> None:
    more = {"chars": typed} if typed else {}
    running = "Wall time: 1.0 seconds\nProcess running with session ID 77\nOutput:\n"
    ended = "Wall time: 1.0 seconds\nProcess exited with code {}\nOutput:\n{}"
    name = "rollout-2026-11-17T10-00-00-019f3a10-5c1e-7d42-9b30-6f2c81d4e7a5.jsonl"
    log = _codex(
        tmp_path / name,
        *_called("c1", "exec_command", running, cmd="go test ./..."),
        *_called("c2", "write_stdin", running, session_id=77),
        *_called("c3", "write_stdin", ended.format(1, "panic: no cart"), session_id=77, **more),
        *_called("c4", "exec_command", running, cmd="git commit -m 'Fix the cart'"),
        *_called(
            "c5", "write_stdin", ended.format(0, "[main 1a2b3c4] Fix the cart"), session_id=77
        ),
    )
    memory.ingest([log])
    failed = f"{'write_stdin to ' * bool(typed)}`go test ./...`"
    for predicate, statements in (
        ("verified", ["`go test ./...` failed: panic: no cart"] * (not typed)),
        ("failed_with", [f"{failed} failed: panic: no cart"]),
        ("exited_with", [f"{failed} exited with code 1"]),
        ("committed", ["committed 1a2b3c4: Fix the cart"]),
    ):
        assert [fact.statement for fact in facts(memory, predicate)] == statements
    assert "ran `git commit -m 'Fix the cart'`: ok" in [
        fact.statement for fact in facts(memory, "ran")
    ]


# --- one sentence for an action -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("command", "text", "error", "statement"),
    [
        ("ls", "a\nb", False, "List: ran `ls`: ok"),
        ("make", "Exit code 2\ncc: fatal error: no input files", True,
         "List: ran `make`: exit code 2: cc: fatal error: no input files"),
        ("pytest", "=== 3 passed in 0.1s ===", False, "List: ran `pytest`: 3 passed"),
        ("cat out.txt", "=== 3 passed in 0.1s ===", False, "List: ran `cat out.txt`: ok"),
        ("npm run dev", "Command running in background with ID: b1", False,
         "List: ran `npm run dev`: it went on in the background"),
    ],
)  # fmt: skip
def test_ran(
    memory: Memory, log: Log, command: str, text: str, *, error: bool, statement: str
) -> None:
    log.bash(command, text, error=error, description="List")
    assert told(memory, log, "ran") == [statement]


def test_a_command_without_output_ended_too(memory: Memory, log: Log) -> None:
    log.bash("mkdir x", "")
    assert told(memory, log, "ran") == ["ran `mkdir x`: ok"]


# --- commits and packages -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("command", "text", "error", "statements"),
    [
        ("git commit -m 'Fix it'", "[main 1a2b3c4] Fix it\n 1 file changed", False,
         ["committed 1a2b3c4: Fix it"]),
        ("git commit -m 'Fix it' && git push", "[a/b 1a2b3c4] Fix it\nrejected", True,
         ["committed 1a2b3c4: Fix it"]),
        ("git commit --amend --no-edit", "[main 99aabb0] Fix it", False,
         ["committed 99aabb0: Fix it"]),
        ("git commit -qm 'Fix it'", "", False, ["committed: Fix it"]),
        ("git commit -m 'Fix it' | tail -3", "husky - pre-commit hook exited with code 1", False,
         []),
        ("git commit -m 'Fix it'; true", "nothing to commit, working tree clean", False, []),
        ("git commit -m 'Fix it'", "error: gpg failed to sign the data", True, []),
    ],
)  # fmt: skip
def test_committed(
    memory: Memory, log: Log, command: str, text: str, *, error: bool, statements: list[str]
) -> None:
    log.bash(command, text, error=error)
    assert told(memory, log, "committed") == statements


def made(count: int, *lines: str) -> str:
    counted = f" {count} file{'s' if count > 1 else ''} changed, 9 insertions(+)"
    return "\n".join(["[main 1a2b3c4] Sort the tills", counted, *lines])


COMMIT = "git commit -m 'Sort the tills'"
NEW = " create mode 100644 "


@pytest.mark.parametrize(
    ("commands", "files"),
    [
        # What git names is in it, what was added by name, and what is left of its count.
        ([(f"git add .gitignore tills.py lib && {COMMIT}",
           made(5, f"{NEW}.gitignore", f"{NEW}lib/a.py", f"{NEW}lib/b.py"))],
         " (.gitignore, a.py, b.py, tills.py and 1 more)"),
        ([("git add docs/a.md b.py", ""), (f"git -C /home/ann/shop {COMMIT[4:]}", made(2))],
         " (a.md, b.py)"),
        ([("git add a.py", ""), ("git reset", ""), ("git add b.py", ""), (COMMIT, made(1))],
         " (b.py)"),
        ([(COMMIT, made(2, " rename lib/{old => new}/a.py (97%)", " delete mode 100644 b.py"))],
         " (a.py, b.py)"),
        ([("git add a.py", ""), ("git commit -m 'Sort the tills' b.py", made(1))], " (b.py)"),
        ([(f"git add a.py && {COMMIT}", "error: the hook says no"), (COMMIT, made(1))], " (a.py)"),
        ([(f"git add a.py && {COMMIT} -q", "")], " (a.py)"),
        # The turn changed tills.py and, outside of the project, a plan.
        ([("git commit -am 'Sort the tills'", made(1))], " (tills.py)"),
        ([("git add -A", ""), (COMMIT, made(1))], " (tills.py)"),
        ([("git add src", ""), (COMMIT, made(1))], " (tills.py)"),
        # Nothing tells which: one was ignored, or another changed by somebody else.
        ([("git commit -am 'Sort the tills'", made(2))], ""),
        ([("git add .", ""), (COMMIT, made(3, f"{NEW}c.py"))], " (c.py and 2 more)"),
        ([(f"git add -A && {COMMIT} -q", "")], ""),
        ([("git add a.py b.py", ""), (COMMIT, made(1))], ""),
        # Something else may have changed files, or taken the change back.
        ([("sed -i s/a/b/ b.py", ""), ("git commit -am 'Sort the tills'", made(1))], ""),
        ([("git checkout src/tills.py", ""), ("git add -A", ""), (COMMIT, made(1))], ""),
        ([(f"npm install till && git add -A && {COMMIT}", made(1))], ""),
        ([("npm install till", ""), (f"git add b.py && {COMMIT}", made(1))], " (b.py)"),
        ([("pytest -q", "1 passed in 1s"), ("git commit -am 'Sort the tills'", made(1))],
         " (tills.py)"),
        ([("git add a.py", ""), ("git commit --amend --no-edit -m 'Sort the tills'", "")], ""),
    ],
)  # fmt: skip
def test_a_commit_names_the_files_that_the_log_shows_to_be_in_it(
    memory: Memory, log: Log, commands: list[tuple[str, str]], files: str
) -> None:
    log.edit("/home/ann/.claude/plans/sort.md")
    log.edit("/home/ann/shop/src/tills.py")
    for command, text in commands:
        memory.ingest([log.path])  # what was added waits from one run to the next
        log.bash(command, text, error=text.startswith("error"))
    (statement,) = told(memory, log, "committed")
    assert statement.partition("Sort the tills")[2] == files


@pytest.mark.parametrize("listed", [False, True])
def test_a_new_file_is_in_a_commit_that_names_it(memory: Memory, log: Log, *, listed: bool) -> None:
    log.edit("/home/ann/shop/tills.py")
    log.call("t1", "Write", file_path="/home/ann/shop/.env", content="A=1")
    log.result("t1", "File created successfully at: /home/ann/shop/.env")
    log.bash(f"git add -A && {COMMIT}", made(2, *[f"{NEW}.env"] * listed))
    (statement,) = told(memory, log, "committed")
    assert statement.endswith(" (.env, tills.py)" if listed else " Sort the tills")


@pytest.mark.parametrize(
    ("command", "text", "statement"),
    [
        ("pip install requests", "Successfully installed idna-3.4 requests-2.31.0",
         "installed package requests 2.31.0 with pip"),
        ("pip install requests", "Downloading requests-2.31.0-py3-none-any.whl (62 kB)",
         "installed package requests 2.31.0 with pip"),
        ("npm i react@18.2.0", "added 3 packages", "installed package react 18.2.0 with npm"),
        ("cargo add serde", "      Adding serde v1.0.197 to dependencies",
         "installed package serde 1.0.197 with cargo"),
        ("uv add httpx", " + httpx==0.27.0", "installed package httpx 0.27.0 with uv"),
        ("go get example.com/a/b@v2.0.0-rc.3", "go: upgraded example.com/a/b v2.0.0-rc.2 =>"
         " v2.0.0-rc.3", "installed package example.com/a/b 2.0.0-rc.3 with go"),
        ("npm i left@next", "+ left@3.0.0-beta.1", "installed package left 3.0.0-beta.1 with npm"),
        ("brew install jq", "jq was installed", "installed package jq with brew"),
        ("pip install -e '.[dev]'", "Successfully installed requests-2.31.0",
         "installed package requests 2.31.0 with pip"),
        ("pip install -q -r dev.txt", "Successfully installed py-till-2.0rc1",
         "installed package py-till 2.0rc1 with pip"),
        ("uv pip install .", "Installed 1 package in 3ms\n + till==2.0 (from file:///s)",
         "installed package till 2.0 with pip"),
        ("pip install -e .", "Requirement already satisfied: requests in ./v", ""),
        ("npm install .", "Successfully installed requests-2.31.0", ""),
        ("pip install --dry-run requests", "Would install idna-3.4 requests-2.31.0", ""),
        ("apt-get -s install jq", "Inst jq (1.7.1-3 Debian [amd64])", ""),
        ("npm install --dry-run react", "added 1 package in 300ms", ""),
        ("pip install nope | tail -1", "ERROR: No matching distribution found for nope", ""),
    ],
)  # fmt: skip
def test_installed(memory: Memory, log: Log, command: str, text: str, statement: str) -> None:
    log.bash(command, text)
    assert told(memory, log, "installed_package") == [statement][: bool(statement)]


# --- what was checked -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("command", "text", "error", "statement"),
    [
        ("pytest -q", "1 failed, 5 passed in 0.4s", True,
         "`pytest -q` failed: 1 failed, 5 passed"),
        ("pytest | tail -1", "== 1 failed, 5 passed in 0.4s ==", False,
         "`pytest` failed: 1 failed, 5 passed"),
        ("npm test", "Tests:       1 failed, 4 passed, 5 total\nTime: 2 s", True,
         "`npm test` failed: 1 failed, 4 passed, 5 total"),
        ("cargo test", "test result: ok. 5 passed; 0 failed; 0 ignored", False,
         "`cargo test` passed: 5 passed; 0 failed"),
        ("bun test", " 12 pass\n 0 fail\nRan 12 tests across 2 files. [9ms]", False,
         "`bun test` passed: 12 pass, 0 fail"),
        ("node --test", "ℹ tests 3\nℹ pass 3\nℹ fail 0", False,
         "`node --test` passed: pass 3, fail 0"),
        ("go test ./...", "--- FAIL: TestA (0.00s)\nFAIL\tshop/cart\t0.01s", True,
         "`go test ./...` failed: --- FAIL: TestA, FAIL shop/cart"),
        ("go test -run '^$' ./...", "ok  \tshop/cart\t0.21s [no tests to run]\n"
         "ok  \tshop/tax\t(cached)\tcoverage: 0.0% of statements [no tests to run]\n"
         "?   \tshop/seed\t[no test files]", False, ""),
        ("go test -cover ./...", "?   \tshop/seed\t[no test files]\n"
         "ok  \tshop/cart\t0.2s [no tests to run]\n"
         "ok  \tshop/tax\t0.3s\tcoverage: 81.5% of statements", False,
         "`go test -cover ./...` passed: ok shop/tax"),
        ("cargo test tax", "test result: ok. 0 passed; 0 failed; 0 ignored; 30 filtered out", False,
         ""),
        ("cargo test tax", "test result: ok. 2 passed; 0 failed; 0 ignored\n"
         "test result: ok. 0 passed; 0 failed; 0 ignored", False,
         "`cargo test tax` passed: 2 passed; 0 failed, 0 passed; 0 failed"),
        ("pytest -k tax", "3 skipped, 20 deselected in 0.2s", False, ""),
        ("pytest -k tax", "Exit code 5\n==== 20 deselected in 0.02s ====", True, ""),
        ("pytest tests/tax", "Exit code 5\n==== no tests ran in 0.01s ====", True, ""),
        ("python -m unittest -k tax", "Exit code 5\nRan 0 tests in 0.000s\n\nNO TESTS RAN", True,
         ""),
        ("pytest -k tax", "Exit code 2\n20 deselected, 1 error in 0.2s", True,
         "`pytest -k tax` failed: 20 deselected, 1 error"),
        ("npx jest", "Exit code 1\nTest Suites: 1 failed, 1 total\nTests:       0 total", True,
         "`npx jest` failed: Test Suites: 1 failed, 1 total"),
        ("rspec", "Exit code 1\n0 examples, 0 failures, 1 error occurred outside of examples", True,
         "`rspec` failed: 0 examples, 0 failures, 1 error"),
        ("sha256sum -c SUMS", "a.zip: OK", False, "`sha256sum -c SUMS` passed"),
        ("npm test | tail -2", "done", False, ""),
        ("npm ci && npm test", "npm error code E404", True, ""),
        ("pytest", "Exit code 127\npytest: command not found", True, ""),
        ("test -f x", "", False, ""),
    ],
)  # fmt: skip
def test_verified(
    memory: Memory, log: Log, command: str, text: str, *, error: bool, statement: str
) -> None:
    log.bash(command, text, error=error)
    assert told(memory, log, "verified") == [statement][: bool(statement)]
    assert {fact.object for fact in facts(memory, "verified")} <= {"passed", "failed"}


def test_packages_without_tests_to_run_passed_none() -> None:
    assert closing("ok  \tshop/cart\t0.21s [no tests to run]") == ("no tests ran", False, False)
    failed = closing("?   \tshop/seed\t[no test files]\nFAIL\tshop/tax [build failed]")
    assert failed == ("FAIL shop/tax", True, True)


def test_what_no_runner_writes_closes_nothing() -> None:
    assert closing("I found 3 failed logins in the report\nand 5 passed by") is None


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("$ tsc\nsrc/a.ts(3,5): error TS2322: Type 'x'.\nFound 1 error.\nerror: script \"lint\""
         " exited with code 2", "src/a.ts(3,5): error TS2322: Type 'x'."),
        ("npm error code E404\nnpm error 404 Not Found - GET https://r.test/x\nnpm error A complete"
         " log of this run can be found in: x", "npm error 404 Not Found - GET https://r.test/x"),
        ("FAILED tests/a.py::t - x\nE   AssertionError: assert 1 == 2\n1 failed in 0.1s",
         "E AssertionError: assert 1 == 2"),
        ("error[E0308]: mismatched types\n --> src/a.rs:3\nerror: aborting due to 1 error",
         "error[E0308]: mismatched types"),
        ("(pass) a\nerror: expected 2\n    at x.ts:1\n(fail) cart > adds\n 1 fail",
         "error: expected 2"),
        ('import (\n\t"errors"\n)\n--- FAIL: TestCart (0.01s)\nFAIL', "--- FAIL: TestCart (0.01s)"),
        ("--- FAIL: TestCart (0.01s)\n    cart_test.go:12: want 2, got 3\nFAIL\tshop\t0.1s",
         "cart_test.go:12: want 2, got 3"),
        ("[unit] shop: read /tmp/x: no such file or directory\n[unit] --- FAIL: TestCart (0.01s)\n"
         "[unit]     cart_test.go:12: want 2, got 3", "cart_test.go:12: want 2, got 3"),
        ("--- FAIL: TestCart (0.3s)\n    cart_test.go:7: Phase 1: fill\n    hooks.go:9: out: ok\n"
         "[... 40 lines cut ...]\n    cart_test.go:12: want 2, got 3\nFAIL\tshop\t0.1s",
         "cart_test.go:12: want 2, got 3"),
        ("=== RUN   TestA\n    a_test.go:3: note\n--- PASS: TestA (0.0s)\n=== RUN   TestCart\n"
         "=== RUN   TestCart/long\n    cart_test.go:31: found = true, want false\n"
         "=== RUN   TestCart/short\n    cart_test.go:40: note\n--- FAIL: TestCart (0.0s)\n"
         "    --- FAIL: TestCart/long (0.0s)\n    --- PASS: TestCart/short (0.0s)\nFAIL",
         "cart_test.go:31: found = true, want false"),
        ("    cart_test.go:32: \n        \tError Trace:\t/s/cart_test.go:32\n        \tError:"
         "      \tNot equal: \n        \t            \texpected: \"ended\"\n"
         "        \t            \tactual  : \"active\"\n        \t            \t\n"
         "        \t            \tDiff:\n"
         "        \tTest:       \tTestCart\n--- FAIL: TestCart (0.05s)\nFAIL",
         'Not equal: expected: "ended" actual : "active"'),
        ("        \tError Trace:\t/s/cart_test.go:32\n        \t            \t/s/help.go:9\n"
         "        \tError:      \t\n        \t            \topen /x: no such file\n"
         "        \tTest:       \tTestCart\n--- FAIL: TestCart (0.05s)\nFAIL",
         "open /x: no such file"),
        ("[lint] tasks/lint: line 7: CI: unbound variable\n[lint] ERROR task failed",
         "[lint] tasks/lint: line 7: CI: unbound variable"),
        ("[lint] Linting\n[lint] src/a.go:6:3: empty branch\n[lint] ERROR task failed",
         "[lint] src/a.go:6:3: empty branch"),
        (" ❯ Page.lookupError node_modules/dom/config.js:37:19\n ❯ find node_modules/dom/q.js:9:2\n"
         " Tests  1 failed | 3 passed (4)", ""),
        ("    at throwError (/s/lib/a.js:3:9)\n    at run (/s/lib/b.js:7:1)\nCannot find page 7",
         "Cannot find page 7"),
        ("make: *** [Makefile:3: all] Error 1\ntask failed", "make: *** [Makefile:3: all] Error 1"),
    ],
)  # fmt: skip
def test_the_line_that_names_the_error(text: str, line: str) -> None:
    assert error_line(text) == line


def test_an_error_of_one_word_is_one_where_nothing_says_more() -> None:
    trace = "java.lang.NullPointerException\n\tat A.b(A.java:3)"
    assert error_line(trace) == "java.lang.NullPointerException"


def test_a_failure_names_its_command(memory: Memory, log: Log) -> None:
    log.bash("cd /s && npm run lint", "Exit code 1\nTypeError: x is not a function", error=True)
    assert told(memory, log, "failed_with") == [
        "`cd /s && npm run lint` failed: TypeError: x is not a function"
    ]


def test_a_pipe_hides_no_failure_that_its_output_shows(memory: Memory, log: Log) -> None:
    shown = "[lint] src/a.go:6:3: empty branch\n1 issues:\n[lint] ERROR task failed"
    log.bash("mise run lint 2>&1 | head -30", shown)
    log.bash("head -3 lint.log", shown)
    log.bash("make report", "Error: none found in log\nDone.")
    assert told(memory, log, "ran") == [
        "ran `mise run lint 2>&1 | head -30`: [lint] src/a.go:6:3: empty branch",
        "ran `head -3 lint.log`: ok",
        "ran `make report`: ok",
    ]


@pytest.mark.parametrize(
    ("command", "text", "error"),
    [
        ("npm run web 2>&1 &\nsleep 4\necho up", "sh: vite: command not found\nup",
         "sh: vite: command not found"),
        ("(cd web && npm run build) 2>&1 | tail -4", 'npm error Missing script: "build"',
         'npm error Missing script: "build"'),
        ("npm run lint || true", "npm error no till", "npm error no till"),
        ("rmdir old; ls", "rmdir: old: No such file or directory\na.py",
         "rmdir: old: No such file or directory"),
        ("git push 2>&1 | tail -2", "fatal: no till here", "fatal: no till here"),
        ("node api.js > /tmp/api.log 2>&1 & sleep 3; tail -4 /tmp/api.log",
         "    at Till.open (/s/src/till.ts:31:9)\n    at run (node:x:7:1)\n\nNode.js v24.1.0",
         "at Till.open (/s/src/till.ts:31:9)"),
        ('grep -c "^`$" a.md', '(eval):1: unmatched "', '(eval):1: unmatched "'),
        ("bun run test 2>&1 | tail -3", "error: no till\n(fail) sells [1.00ms]",
         "error: no till"),
    ],
)  # fmt: skip
def test_a_command_failed_whose_end_its_line_hides(
    memory: Memory, log: Log, command: str, text: str, error: str
) -> None:
    log.bash(command, text)
    (ran,) = told(memory, log, "ran")
    assert ran.endswith(f": {error}")
    assert [fact.object for fact in facts(memory, "failed_with")] == [error]


@pytest.mark.parametrize(
    ("command", "text"),
    [
        ("npm run build && npm test", "Error: shown by a test\n    at a (/s/a.js:1:1)"),
        ("make; grep -h rror app.log", "Error: till is empty"),
        ("make; cat app.log", "Traceback (most recent call last):\nKeyError: 'till'"),
        ("cat app.log | head -5", "Error: till is empty"),
        ("curl -s web/till | head -5", "error: no till"),
        ("curl -s web/till | jq .", '{\n  "error": "no till"\n}'),
        ("npm test 2>&1 | head -40", "$ vitest\nerror: All fail\n  seen by its test"),
        ("npm test 2>&1 | tail -9", "error: All fail\n Tests  4 passed (4)"),
        ("python3 -m pip -V || pip -V", "python3: error: no pip\npip 24"),
        ("if npm run lint; then make; fi; ls", "npm error no till"),
        ("for n in 1 2; do ./up.sh && break; sleep 1; done", "error: no till\nup"),
        ("docker compose logs web 2>&1 | tail -9", "Error: no till\n    at a (/s/a.js:1:1)"),
        ("journalctl -u till | tail -9", "ERROR: no till"),
        ("sqlite3 a.db 'select said from calls' | head", "Error: no till\nfine"),
        ("rm -r till; ls till", "ls: till: No such file or directory"),
        ("git commit -m \"$(cat <<'E'\nSell\nE\n)\"", "error: All fail\n[main 1a2b3c4] Sell"),
        ('rg "a `till` b" docs', "zsh:1: command not found: till\ndocs/a.md: a"),
    ],
)
def test_what_only_mentions_an_error_did_not_fail(
    memory: Memory, log: Log, command: str, text: str
) -> None:
    log.bash(command, text)
    memory.ingest([log.path])
    assert facts(memory, "failed_with") == []
    assert [fact for fact in facts(memory, "verified") if fact.object == "failed"] == []
    (ran,) = facts(memory, "ran")
    assert ran.statement.endswith((": ok", "passed"))


def test_a_test_run_that_never_began_failed(memory: Memory, log: Log) -> None:
    log.bash("pytest -x 2>&1 | head -9", "ImportError while loading a.py.\nE   KeyError: 'till'")
    assert told(memory, log, "verified") == ["`pytest -x` failed: E KeyError: 'till'"]
    assert memory.sources.count("how often did the tests fail").total == 1


@pytest.mark.parametrize(
    ("command", "text", "installed"),
    [
        (
            "pip install till web-kit 2>&1 | tail -1",
            "Successfully installed web_kit-2.0",
            ["web-kit"],
        ),
        ("pip install till", "Requirement already satisfied: till in /lib", []),
        ("uv add till kit", " + kit==1.0", ["kit"]),
        (
            "apt install till kit",
            "till is already the newest version (2).\nSetting up kit",
            ["kit"],
        ),
        ("pip install till", "Successfully installed a-1 b-2…", ["till"]),
        ("pip install till", "Collecting till\nDone", ["till"]),
    ],
)
def test_what_was_there_was_not_installed(
    memory: Memory, log: Log, command: str, text: str, installed: list[str]
) -> None:
    log.bash(command, text)
    memory.ingest([log.path])
    assert [fact.object for fact in facts(memory, "installed_package")] == installed


@pytest.mark.parametrize(
    ("command", "text", "error"),
    [
        ("rg -n till src 2>/dev/null", "src/a.rs:1:use till;\nsrc/b.rs:9:use till::{Error};", ""),
        ("grep -rn till src", "src/b.c:9: error: no till\nsrc/c.c:2: till", ""),
        ("rg till src docs", "rg: docs: No such file or directory (os error 2)\nsrc/a.rs:1: till",
         "rg: docs: No such file or directory (os error 2)"),
        ("cat a.txt b.txt", "The error log is empty.\ncat: b.txt: No such file or directory",
         "cat: b.txt: No such file or directory"),
        ("ls *.lock", "zsh:1: no matches found: *.lock", "zsh:1: no matches found: *.lock"),
        ("for f in a b; do sed -n 1,9p $f; done", "jobs:\n  fail-fast: false", ""),
        ("git show nope", "fatal: bad object nope", "fatal: bad object nope"),
        ("gh pr view 7 --json till", 'Unknown JSON field: "till"', 'Unknown JSON field: "till"'),
        ("grep -n till x", "Command timed out after 2m 0.0s\na.c:9: error: no till",
         "Command timed out after 2m 0.0s"),
        ("sudo cat a", "sudo: unable to resolve host x", "sudo: unable to resolve host x"),
        ("sudo cat a", "sudo: unable to resolve host x\ncat: a: No such file or directory",
         "cat: a: No such file or directory"),
        ("ls till", "Permission denied (publickey).", "Permission denied (publickey)."),
        ("ls a nope", "a\n/bin/ls: cannot access 'nope': No such file or directory",
         "/bin/ls: cannot access 'nope': No such file or directory"),
        ("fd till a b", "a/till\n[fd error]: Search path 'b' is not a directory.",
         "[fd error]: Search path 'b' is not a directory."),
        ("awk 1 a b", "1\ngawk: fatal: cannot open file `b' for reading: No such file",
         "gawk: fatal: cannot open file `b' for reading: No such file"),
        ("go list ./...", "main.go:4:2: no required module provides package till",
         "main.go:4:2: no required module provides package till"),
        ("rg till docs src", "src/a.c:9: error: no till\nrg: docs: No such file or directory",
         "rg: docs: No such file or directory"),
        ("cat a.txt b.txt", "Error: no till here\ncat: b.txt: No such file or directory",
         "cat: b.txt: No such file or directory"),
        ("cat a.txt 2>/dev/null", "Till\nError: no till here\nfatal: till", ""),
        ("git log nope | cat", "a till\nfatal: bad object nope", "fatal: bad object nope"),
        ("gh pr view 7; gh pr view 8", "Add a till\nIt fails for an empty till.", ""),
    ],
)  # fmt: skip
def test_what_a_command_shows_is_no_error_of_it(
    memory: Memory, log: Log, command: str, text: str, error: str
) -> None:
    log.bash(command, f"Exit code 2\n{text}", error=True)
    said = f": {error}" if error else ""
    assert told(memory, log, "ran") == [f"ran `{command}`: exit code 2{said}"]
    assert [fact.object for fact in facts(memory, "failed_with")] == [error][: bool(error)]


@pytest.mark.parametrize(
    "answer",
    ["The server returned HTTP 403 Forbidden.\n\nThe body was not retrieved.",
     "REDIRECT DETECTED: The URL redirects to a different host.\n\nOriginal URL: https://a.test/"],
)  # fmt: skip
def test_a_page_that_did_not_come_was_not_fetched(memory: Memory, log: Log, answer: str) -> None:
    log.call("w1", "WebFetch", url="https://rates.shop.example/day", prompt="the rates")
    log.result("w1", answer)
    assert told(memory, log, "fetched_url") == []
    assert facts(memory, "connects_to_host") == []
    (failed,) = facts(memory, "failed_with")
    assert failed.object == answer.split("\n")[0]


def test_a_search_that_was_not_made_failed(memory: Memory, log: Log) -> None:
    answer = 'Web search results for query: "go runes"\n\nWeb search error: unavailable\n\nSorry.'
    log.call("w1", "WebSearch", query="go runes")
    log.result("w1", answer)
    assert told(memory, log, "searched_for") == []


# --- what made it pass ----------------------------------------------------------------------------


def test_fixed_by_names_what_was_changed_in_between(memory: Memory, log: Log) -> None:
    failed = "E   KeyError: 'cart'\n1 failed in 0.1s"
    log.bash("cd /s && pytest -q 2>&1 | tail -5", failed)
    log.bash("cat cart.py", "…")
    log.edit("/s/cart.py")
    log.bash("npm run build", "done")
    log.bash("git status", "clean")
    log.bash("cd /s && pytest -q", "1 passed in 0.1s")
    log.bash("cd /s && pytest -q", "1 passed in 0.1s")
    assert told(memory, log, "fixed_by") == [
        "fixed: E KeyError: 'cart' — by editing /s/cart.py and running `npm run build`; `pytest -q`"
        " passes"
    ]


@pytest.mark.parametrize(
    ("purpose", "fixed"),
    [
        ("Run the cart test to verify it fails", 0),
        ("Make sure the new tests fail first", 0),
        ("Run the failing test", 1),
        ("See whether the cart test fails", 1),
        ("", 1),
    ],
)
def test_a_test_that_was_to_fail_is_no_failure_to_fix(
    memory: Memory, log: Log, purpose: str, fixed: int
) -> None:
    log.bash("pytest -q", "E   KeyError: 'cart'\n1 failed in 1s", error=True, description=purpose)
    log.edit("/s/cart.py")
    log.bash("pytest -q", "3 passed in 1s")
    assert len(told(memory, log, "fixed_by")) == fixed


def test_running_it_again_and_looking_mends_nothing(memory: Memory, log: Log) -> None:
    log.bash("mise run cart 2>&1 | tail -5", "--- FAIL: TestCart (0.01s)\nFAIL")
    log.bash("git -C /s log --oneline", "1a2b3c4 Cart")
    log.bash("go doc net/http", "package http")
    log.edit("/s/cart.go")
    log.bash("mise run cart", "ok  \tshop\t0.1s")
    assert told(memory, log, "fixed_by") == [
        "fixed: --- FAIL: TestCart (0.01s) — by editing /s/cart.go; `mise run cart` passes"
    ]


@pytest.mark.parametrize("given", [{"dangerouslyDisableSandbox": True}, {"command": "A=1 make up"}])
def test_what_passes_once_it_may_do_more_was_not_fixed_by_what_is_between(
    memory: Memory, log: Log, given: dict[str, object]
) -> None:
    log.bash("make up", "Exit code 2\nerror: no route to the registry", error=True)
    log.bash("npm run build", "done")
    id = "toolu_more"
    log.call(id, "Bash", **{"command": "make up", **given})
    log.result(id, "ok  \tshop\t0.1s")
    assert told(memory, log, "fixed_by") == []


@pytest.mark.parametrize("between", ["nothing", "a read", "another command", "a failed edit"])
def test_what_passes_without_a_change_was_not_fixed(memory: Memory, log: Log, between: str) -> None:
    log.bash("pytest -q", "E   KeyError: 'cart'\n1 failed in 0.1s", error=True)
    if between == "a read":
        log.bash("grep -rn cart src", "src/cart.py:1")
    if between == "a failed edit":
        log.edit("/s/cart.py", error="String to replace not found in file.")
    if between == "another command":
        log.edit("/s/cart.py")
    again = "pytest -q tests/other.py" if between == "another command" else "pytest -q"
    log.bash(again, "1 passed in 0.1s")
    assert told(memory, log, "fixed_by") == []


def test_only_what_came_after_the_last_failure_fixed_it(memory: Memory, log: Log) -> None:
    log.bash("pytest -q", "E   KeyError: 'cart'\n1 failed in 0.1s", error=True)
    log.edit("/s/a.py")
    log.bash("pytest -q", "E   TypeError: no\n1 failed in 0.1s", error=True)
    log.edit("/s/b.py")
    log.bash("pytest -q", "1 passed in 0.1s")
    assert told(memory, log, "fixed_by") == [
        "fixed: E TypeError: no — by editing /s/b.py; `pytest -q` passes"
    ]


# --- hosts ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("command", "host"),
    [
        ("curl -fsS https://api.shop.io/v1/health", "api.shop.io"),
        ("wget -q https://ann:pw@dl.shop.io:8443/a.tgz", "dl.shop.io"),
        ("nc -zv 10.0.0.7 5432", "10.0.0.7"),
        ("psql -h db.lan -U ann shop", "db.lan"),
        ("psql postgresql://ann@db2.lan/shop", "db2.lan"),
        ("redis-cli -h cache.lan ping", "cache.lan"),
        ("mysql --host=sql.lan shop", "sql.lan"),
        ("kubectl --context prod-eu get pods", "prod-eu"),
        ("docker -H ssh://ann@tower.lan ps", "tower.lan"),
        ("curl http://localhost:8000/x", ""),
        ("curl https://example.com", ""),
        ("curl file:///etc/hosts", ""),
        ("nc -l 8080", ""),
        ("curl https://api.shop.REDACTED.py", ""),  # what another program took out
        ("ssh ann@shop.REDACTED", ""),
        ("curl https://redacted.shop.io/", "redacted.shop.io"),
        ("echo https://api.shop.io", ""),
    ],
)
def test_hosts_of_clients(memory: Memory, log: Log, command: str, host: str) -> None:
    log.bash(command, "ok")
    memory.ingest([log.path])
    assert [fact.object for fact in facts(memory, "connects_to_host")] == [host][: bool(host)]


@pytest.mark.parametrize(
    ("command", "output", "hosts"),
    [
        ('nc -z -w3 10.0.0.7 5432 2>&1 && echo "OPEN" || echo "CLOSED"', "CLOSED", []),
        ('nc -z -w3 10.0.0.7 5432 2>&1 && echo "OPEN" || echo "CLOSED"', "OPEN", ["10.0.0.7"]),
        ("curl -s http://10.0.0.8:3000/health || echo 'API: DOWN'", "API: DOWN", []),
        ("curl -s http://10.0.0.8:3000/health || echo 'API: DOWN'", "ok", ["10.0.0.8"]),
        ("curl -s http://10.0.0.8/ ; false || echo DOWN", "<html>\nDOWN", ["10.0.0.8"]),
    ],
)
def test_no_host_is_reached_where_the_command_says_otherwise(
    memory: Memory, log: Log, command: str, output: str, hosts: list[str]
) -> None:
    log.bash(command, output)
    memory.ingest([log.path])
    assert [fact.object for fact in facts(memory, "connects_to_host")] == hosts


def test_no_host_is_reached_by_what_failed(memory: Memory, log: Log) -> None:
    log.bash("curl https://api.shop.io", "curl: (6) Could not resolve host", error=True)
    log.bash("ssh ann@web1.lan uptime", "Exit code 255\nConnection refused", error=True)
    log.bash("ssh ann@web2.lan false", "Exit code 1", error=True)
    log.call("t9", "WebFetch", url="https://docs.shop.io/a", prompt="?")
    log.result("t9", "a page")
    memory.ingest([log.path])
    hosts = {fact.object for fact in facts(memory, "connects_to_host")}
    assert hosts == {"web2.lan", "docs.shop.io"}
