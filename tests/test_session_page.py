"""One session on a page: what was asked, what came of it, what was done and left open."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.session_logs import EXAMPLES, NOW, claude, told_of, tool_result, tool_use, write

from conftest import SESSION, Cli, call, record
from factbook import policy
from factbook.errors import NotFound, UsageError
from factbook.memory import Memory
from factbook.recall.sessions import first_sentence, left_open
from factbook.testing import FrozenClock

GARDENLOG = "2b9a7f40-6d1c-4f7e-8c33-5a0b9d2e7f61"
HELPED = "3f0c4b1e-0000-4000-8000-000000000001"
PASSWORD = "Tr0ub4dor&3"


def memory_of(folder: Path, *logs: Path) -> Memory:
    memory = Memory(folder / "m.db", key_file=folder / "key", clock=FrozenClock(NOW), model=None)
    memory.ingest(list(logs))
    return memory


def said(uuid: str, text: str, **more: object) -> str:
    return record("assistant", uuid, [{"type": "text", "text": text}], **more)


def returned(uuid: str, of: str, text: str, *, failed: bool = False) -> str:
    block = {"type": "tool_result", "tool_use_id": f"toolu_{of}", "content": text}
    return record("user", uuid, [{**block, "is_error": failed}])


def log_of(folder: Path, *lines: str, name: str = SESSION) -> Path:
    path = folder / f"{name}.jsonl"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_a_page_tells_what_was_asked_done_and_committed(tmp_path: Path) -> None:
    with memory_of(tmp_path, EXAMPLES / "claude-code") as memory:
        page = memory.sources.session("2B9a")
    assert (page.session, page.title) == (GARDENLOG, "gardenlog: logins in the database")
    assert page.branches == ["main", "auth-sessions"]
    assert [turn.asked[:20] for turn in page.turns][:2] == [
        "Logins of gardenlog ",
        "good, do that. on a ",
    ]
    assert page.turns[0].ended.startswith("The sessions are kept in memory only")
    assert [act.text for act in page.commits] == [
        "Keep logins in the database",
        "Compare password hashes in constant time",
    ]
    files = {Path(act.text).name: act.times for act in page.files}
    assert files == {"auth.py": 5, "0007_login_session.sql": 2, "db.py": 1, "test_auth.py": 1}
    assert [act.outcome for act in page.checks] == ["failed", "passed", "passed", "passed"]
    (failure,) = page.failures
    assert "AttributeError" in failure.text
    assert failure.outcome.startswith("fixed by editing ")
    assert (page.open, page.left_out) == ([], {})


def test_logs_of_sub_agents_are_counted_in_and_what_they_were_told_is_no_prompt(
    tmp_path: Path,
) -> None:
    with memory_of(tmp_path, EXAMPLES / "claude-code") as memory:
        states = {state.id: state for state in memory.sources.sessions()}
        page = memory.sources.session(GARDENLOG)
        typed = [hit.text for hit in memory.sources.timeline(limit=200) if hit.kind == "episode"]
        (agent,) = [state for state in states.values() if state.source.agent]
        assert agent.id in page.sources
        assert memory.sources.session(f"s{agent.id}") == page
        assert memory.sources.session(str(agent.id)) == page
    assert page.agents == 1
    assert page.items == sum(states[id_].episode_count for id_ in page.sources)
    told_it = "Read src/gardenlog"
    assert not any(turn.asked.startswith(told_it) for turn in page.turns)
    assert typed
    assert not any(text.startswith(told_it) for text in typed)


def log_with_helper(folder: Path, *, alone: bool) -> tuple[Path, list[dict[str, object]]]:
    """Return a log that tells of a sub-agent as progress, and the sub-agent's own records."""
    path = {"file_path": "/home/ann/shop/cart.py", "old_string": "a", "new_string": "b"}
    helper = [
        claude("user", [{"type": "text", "text": "Round the prices in the cart"}], "h1"),
        claude("assistant", [tool_use("Edit", path, "toolu_h")], "h2"),
        claude("user", [tool_result("The file has been updated.", "toolu_h")], "h3"),
    ]
    log = write(
        folder / f"{HELPED}.jsonl",
        claude("user", "Please round all the prices", "u1"),
        claude("assistant", [tool_use("Task", {"description": "Round"}, "toolu_t")], "a1"),
        *([] if alone else [told_of("a77", one, f"p{n}") for n, one in enumerate(helper)]),
        claude("user", [tool_result("The cart rounds now.", "toolu_t")], "u2"),
        claude("assistant", "The prices are rounded in the cart.", "a2"),
    )
    said = claude("assistant", "The cart rounds now.", "h4")
    return log, [{**one, "isSidechain": True, "agentId": "a77"} for one in [*helper, said]]


def test_what_a_sub_agent_changed_stands_on_the_page_once_however_the_logs_tell_it(
    tmp_path: Path,
) -> None:
    own = tmp_path / HELPED / "subagents" / "agent-a77.jsonl"
    own.parent.mkdir(parents=True)
    log, records = log_with_helper(tmp_path, alone=False)
    with memory_of(tmp_path, log) as memory:
        first = memory.sources.session(HELPED)
        (edit,) = first.files
        assert (Path(edit.text).name, edit.times, first.agents) == ("cart.py", 1, 1)
        assert [turn.ended for turn in first.turns] == ["The prices are rounded in the cart."]

        assert memory.ingest([log]).receipt.episodes == 0
        write(own, *records)  # it comes later, with a reply that progress does not tell
        assert memory.ingest([tmp_path]).receipt.episodes == 1
        later = memory.sources.session(HELPED)
        assert (later.files, later.turns, later.agents) == (first.files, first.turns, 1)
        assert later.items == first.items + 1
    (other := tmp_path / "other").mkdir()
    with memory_of(other, log) as memory:
        page = memory.sources.session(HELPED)
        assert [act.times for act in page.files] == [1]
        assert (page.items, page.agents) == (later.items, 1)


def test_what_only_progress_told_is_erased_and_stays_so(tmp_path: Path) -> None:
    log, _ = log_with_helper(tmp_path, alone=False)
    with memory_of(tmp_path, log) as memory:
        with pytest.raises(UsageError, match="erase s1 s2"):
            memory.erasure.erase_source(str(log))
        for source in (1, 2):
            memory.erasure.erase_source(source)
        log.write_bytes(log.read_bytes() + b"\n")
        memory.ingest([log])
        assert list(memory.sources.sessions()) == []


DECLINED = "The user doesn't want to proceed with this tool use. The tool use was rejected."


def test_never_is_not_said_where_a_sub_agents_own_records_are_not_there(tmp_path: Path) -> None:
    asked = "how often did I edit stock.py"
    (other := tmp_path / "other").mkdir()
    extra = write(
        tmp_path / "other.jsonl",
        claude("assistant", [tool_use("Edit", {"file_path": "/home/ann/shop/tax.py"}, "toolu_x")]),
        claude("user", [tool_result("The file has been updated.", "toolu_x")], "x2"),
        claude("assistant", [tool_use("Task", {"description": "Look"}, "toolu_f")], "x3"),
        claude("user", [tool_result("Agent type not found", "toolu_f", is_error=True)], "x4"),
        claude("assistant", [tool_use("Task", {"description": "Look"}, "toolu_d")], "x5"),
        claude("user", [tool_result(DECLINED, "toolu_d", is_error=True)], "x6"),
    )

    def title(log: Path, folder: Path) -> str:
        with memory_of(folder, log, extra) as memory:
            computed = memory.recall(asked).computed
            assert computed is not None
            assert memory.sources.count(asked).title == computed.title
            assert computed.total == 0
            return computed.title

    what = 'modified_file "stock.py"'
    log, _ = log_with_helper(tmp_path, alone=False)
    assert title(log, tmp_path) == f"{what}: never, as far as these logs tell"
    log, _ = log_with_helper(tmp_path, alone=True)
    unsure = f"{what}: none in these logs, which may lack what 1 sub-agent did"
    assert title(log, other) == unsure


def test_a_fragment_goes_with_the_turn_before_and_its_reply_is_how_that_ended(
    tmp_path: Path,
) -> None:
    log = log_of(
        tmp_path,
        record("user", "u1", "Should the importer skip empty rows of the table?"),
        said("a1", "It could skip them. Shall I?"),
        record("user", "u2", "yes please"),
        said("a2", "Done. The importer skips empty rows now. Nothing else changed."),
        record("user", "u3", "/cost"),
    )
    with memory_of(tmp_path, log) as memory:
        page = memory.sources.session(SESSION)
    (turn,) = page.turns
    assert turn.more == "yes please; /cost"
    assert turn.ended == "The importer skips empty rows now."
    assert page.title == "Should the importer skip empty rows of the table?"


def test_the_answer_to_a_question_begins_with_its_yes_or_no(tmp_path: Path) -> None:
    log = log_of(
        tmp_path,
        record("user", "u1", "Is the importer covered by a test?"),
        said("a1", "Not yet. I will write one for empty tables now. It takes a minute."),
        record("user", "u2", "ok"),
    )
    with memory_of(tmp_path, log) as memory:
        (turn,) = memory.sources.session(SESSION).turns
    assert turn.ended == "Not yet. I will write one for empty tables now."


def test_a_failure_of_the_last_turn_and_what_its_reply_lists_are_left_open(tmp_path: Path) -> None:
    closing = (
        "The parser is split in two.\n\nRemaining:\n\n"
        "- [x] move the tests\n- [ ] update the manual\n- rename the option\n\n"
        "I fixed these:\n- the loop\n"
    )
    early = "The backup is there.\n\n## Next steps\n- this one was of an earlier turn\n"
    log = log_of(
        tmp_path,
        record("user", "u1", "Fetch the backup from the tower and unpack it"),
        call("a1", "Bash", command="tar -xzf backup.tgz"),
        returned("r1", "a1", "tar: backup.tgz: Cannot open: No such file", failed=True),
        said("a2", early),
        record("user", "u2", "Then split the parser into two modules"),
        call("a3", "Bash", command="python split.py"),
        returned("r3", "a3", "NameError: name 'parser' is not defined", failed=True),
        said("a4", closing),
    )
    with memory_of(tmp_path, log) as memory:
        page = memory.sources.session(SESSION)
    assert len(page.failures) == 2
    assert [act.outcome for act in page.failures] == ["", ""]
    failed, *listed = page.open
    assert "NameError" in failed
    assert listed == ["update the manual", "rename the option"]


def ran(n: int, command: str, error: str = "", text: str = "") -> list[str]:
    made = call(f"c{n}", "Bash", command=command)
    return [made, returned(f"r{n}", f"c{n}", error or text, failed=bool(error))]


def used(n: int, tool: str, error: str = "", **given: object) -> list[str]:
    made = call(f"c{n}", tool, **given)
    return [made, returned(f"r{n}", f"c{n}", error or "Done.", failed=bool(error))]


NO_PYTEST = "Exit code 127\n(eval):1: command not found: pytest"
BROKEN = "Exit code 1\nValueError: the key of the tills is not set"
RED = "E assert 3 == 2\n1 failed in 0.1s"
TILLS = "/home/ann/shop/tills.py"
NOT_THERE = "File does not exist."
TWICE = "Found 2 matches of the string to replace, but replace_all is false."


@pytest.mark.parametrize(
    ("lines", "outcome"),
    [
        # The same program, in whatever it is wrapped.
        ([*ran(1, "pytest --co", NO_PYTEST), *ran(2, "uv sync --extra dev"),
          *ran(3, ". .env && uv run pytest --co")],
         "then `. .env && uv run pytest --co` went well"),
        ([*ran(1, ". v/bin/activate && python -m pytest tests/t.py | head", BROKEN),
          *ran(2, "cd x; venv/bin/pytest -q tests", text="3 passed in 0.2s")],
         "then `cd x; venv/bin/pytest -q tests` went well"),
        ([*ran(1, "npm run build", BROKEN), *ran(2, "yarn build")], "then `yarn build` went well"),
        ([*ran(1, "cargo test cart", BROKEN),
          *ran(2, "cargo test", text="test result: ok. 3 passed; 0 failed; 0 ignored")],
         "then `cargo test` went well"),
        ([*ran(1, "git commit -m 'Sort'", BROKEN), *ran(2, "git -C x commit -m 'Sort tills'")],
         "then `git -C x commit -m 'Sort tills'` went well"),
        ([*ran(1, "gh pr merge 7", BROKEN), *ran(2, "gh pr merge 7 --squash")],
         "then `gh pr merge 7 --squash` went well"),
        # What the error names was installed.
        ([*ran(1, "pytest -q tests/t.py", "E ModuleNotFoundError: No module named 'till_box'"),
          *ran(2, "pip install till-box", text="Successfully installed till-box-1.2"),
          *ran(3, "pytest tests/t.py", text="3 passed in 0.2s")],
         "then `pip install till-box` installed till-box"),
        ([*ran(1, "pytest -q tests/t.py", "E ModuleNotFoundError: No module named 'till'"),
          *ran(2, "pip install till-box", text="Successfully installed till-box-1.2"),
          *ran(3, "pytest tests/t.py", text="3 passed in 0.2s")],
         "then `pytest tests/t.py` went well"),
        # A test that was to fail.
        ([*used(1, "Bash", RED, command="pytest tests/t.py", description="Check the test fails"),
          *ran(2, "pytest tests/t.py", text="3 passed in 0.2s")], "it was to fail"),
        ([*used(1, "Bash", RED, command="pytest tests/t.py", description="See why the test fails"),
          *ran(2, "pytest tests/t.py", text="3 passed in 0.2s")],
         "then `pytest tests/t.py` went well"),
        ([*used(1, "Bash", NO_PYTEST, command="pytest t.py", description="Check it fails"),
          *ran(2, "pytest t.py", text="3 passed in 0.2s")], "then `pytest t.py` went well"),
        # The same tool, or the same file.
        ([*used(1, "WebFetch", NOT_THERE, url="https://a.shop/1", prompt="x"),
          *used(2, "WebFetch", url="https://a.shop/1", prompt="y")], "then WebFetch went well"),
        ([*used(1, "Task", "Agent type 'sorter' not found.", subagent_type="sorter"),
          *used(2, "Task", subagent_type="tills:sorter")], "then Task went well"),
        ([*used(1, "Edit", TWICE, file_path=TILLS, old_string="a", new_string="b"),
          *used(2, "Write", file_path=TILLS, content="b")], "then Write went well"),
        # What only looks.
        (used(1, "Read", NOT_THERE, file_path=TILLS), "it was only a look"),
        (used(1, "Grep", "ENOENT: no such folder", pattern="till"), "it was only a look"),
        (ran(1, "cat HANDOVER.md", "cat: HANDOVER.md: No such file or directory"),
         "it was only a look"),
        # Nothing with the same aim went well.
        (ran(1, "uv run pytest tests/t.py", BROKEN), ""),
        ([*used(1, "Task", "Agent type 'sorter' not found.", subagent_type="sorter"),
          used(2, "Task", subagent_type="tills:sorter")[0]], ""),
        ([*ran(1, "pytest tests/t.py", BROKEN),
          *ran(2, "pytest tests/other.py", text="3 passed in 0.2s")], ""),
        ([*ran(1, "pytest tests/t.py", BROKEN), *ran(2, "uv run pytest --co", BROKEN),
          *ran(3, "pytest tests/t.py | tail -3", text="1 failed, 2 passed in 0.2s")], ""),
        ([*ran(1, "pytest tests/t.py", text="3 passed in 0.2s"),
          *ran(2, "pytest -x tests/t.py", BROKEN)], ""),
        ([*ran(1, "npm run build", BROKEN), *ran(2, "npm run lint"), *ran(3, "ls build")], ""),
        ([*ran(1, "python sort.py", BROKEN), *ran(2, "python other.py")], ""),
        ([*ran(1, "python sort.py", BROKEN), *ran(2, "python -c 'print(1)'")], ""),
        ([*ran(1, "pip install tilll", BROKEN), *ran(2, "pip install till")], ""),
        ([*ran(1, "docker compose up -d", BROKEN), *ran(2, "docker compose down")], ""),
        ([*ran(1, "make deploy", BROKEN), *ran(2, "make")], ""),
        ([*ran(1, "cd /s/api && make", BROKEN), *ran(2, "cd /s/web && make")], ""),
        ([*ran(1, "curl -f https://a.shop/up", BROKEN), *ran(2, "curl -f https://a.shop")], ""),
        ([*ran(1, "pytest -q", BROKEN), *ran(2, "pytest tests/t.py", text="3 passed in 1s")], ""),
        ([*ran(1, "pytest -q", BROKEN), *ran(2, "pytest --co -q")], ""),
        ([*used(1, "WebFetch", NOT_THERE, url="https://a.shop/1", prompt="x"),
          *used(2, "WebFetch", url="https://a.shop/2", prompt="x")], ""),
        ([*used(1, "Task", BROKEN, subagent_type="sorter", description="Sort"),
          *used(2, "Task", subagent_type="writer", description="Write")], ""),
        ([*used(1, "Edit", TWICE, file_path=TILLS, old_string="a", new_string="b"),
          *used(2, "Read", file_path=TILLS),
          *used(3, "Edit", file_path="/home/ann/shop/b.py", old_string="a", new_string="b")], ""),
    ],
)  # fmt: skip
def test_what_went_well_later_with_the_same_aim_is_not_left_open(
    tmp_path: Path, lines: list[str], outcome: str
) -> None:
    log = log_of(
        tmp_path, record("user", "u1", "Sort the tills"), *lines, said("a1", "The tills are done.")
    )
    with memory_of(tmp_path, log) as memory:
        page = memory.sources.session(SESSION)
    first = page.failures[0]
    assert first.outcome == outcome
    assert (first.text in page.open) == (not outcome)


def test_a_long_session_is_cut_to_its_ends_unless_all_of_it_is_wanted(tmp_path: Path) -> None:
    lines = []
    for n in range(30):
        at = f"2026-11-17T14:{n:02}:00.000Z"
        lines += [
            record("user", f"u{n}", f"Please write chapter {n} of the book", timestamp=at),
            call(f"c{n}", "Write", file_path=f"/home/ann/shop/{n}.md", content="x"),
            returned(f"r{n}", f"c{n}", "ok"),
            said(f"a{n}", f"Chapter {n} is written.", timestamp=at),
        ]
    with memory_of(tmp_path, log_of(tmp_path, *lines)) as memory:
        page = memory.sources.session(SESSION)
        whole = memory.sources.session(SESSION, whole=True)
    first, last = policy.SESSION_FIRST, policy.SESSION_LAST
    assert len(whole.turns) == len(whole.files) == 30
    assert whole.left_out == {}
    assert page.turns == [*whole.turns[:first], *whole.turns[-last:]]
    assert page.files == whole.files[-policy.SESSION_ROWS :]
    assert page.left_out == {"turns": 30 - first - last, "files": 30 - policy.SESSION_ROWS}


def test_a_name_that_means_none_or_several_is_told_which_are_near(tmp_path: Path) -> None:
    other = "5a3e1c11-0000-4000-8000-000000000002"
    logs = [
        log_of(tmp_path, record("user", "u1", "Write the first chapter of the book")),
        log_of(
            tmp_path,
            record("user", "x1", "Write the second chapter of the book", sessionId=other),
            name=other,
        ),
    ]
    with memory_of(tmp_path, *logs) as memory:
        sessions = memory.sources
        with pytest.raises(UsageError) as several:
            sessions.session("5a3e")
        assert SESSION in str(several.value)
        assert other in str(several.value)
        with pytest.raises(NotFound, match=other):
            sessions.session("5a3e1c12")
        with pytest.raises(NotFound, match="factbook sessions"):
            sessions.session("zzzz")
        with pytest.raises(NotFound):
            sessions.session(SESSION, owner="rita")
        assert sessions.session(other).session == other


def test_the_command_shows_a_page_and_its_record(cli: Cli, sample_log: Path) -> None:
    cli("ingest", sample_log, "--no-embed")
    number = cli("sessions").out.splitlines()[1].split()[0]
    shown = cli("sessions", number).out
    assert "Copy the backup from the tower" in shown
    assert "-> The login redirect works again." in shown
    assert "auth.py" in shown
    assert "left open  1" in shown
    page = cli("sessions", SESSION[:6], "--json").json()
    assert page["session"] == SESSION
    assert page["turns"][0]["ended"] == "The login redirect works again."
    assert page["started_at"].startswith("2026-11-17T")
    assert {act["text"] for act in page["hosts"]} >= {"192.168.20.4"}
    assert PASSWORD not in shown + json.dumps(page)
    assert "tower" not in cli("sessions", SESSION, "--host", "codex", code=2).out
    assert "did you mean" in cli("sessions", "5a3f", code=8).err
    assert "did you mean" not in cli("sessions", "s999", code=8).err


def test_what_is_stored_is_escaped_and_redacted_when_it_is_shown(cli: Cli, tmp_path: Path) -> None:
    log = log_of(
        tmp_path,
        record("user", "u1", "Show \x1b[31mred\x1b[0m words and log in with password: Tr0ub4dor&3"),
        said("a1", "It is \x1b[2Jred now, the password: Tr0ub4dor&3 works."),
    )
    cli("ingest", log, "--no-embed")
    shown = cli("sessions", SESSION).out
    assert "\x1b" not in shown
    assert "red" in shown
    assert PASSWORD not in shown


@pytest.mark.parametrize(
    ("reply", "items"),
    [
        ("Done.\n\n## Next steps\n\n1. Deploy it\n2. Tell Rita", ["Deploy it", "Tell Rita"]),
        ("**Not done:**\n- the manual\n  - a part of it\n- the page", ["the manual", "the page"]),
        ("### Still to do\n* wait\n\nThat is all.\n* no item", ["wait"]),
        ("What\u2019s left:\n- one\n\n## Done\n- two", ["one"]),
        ("I fixed the remaining bugs:\n- one\n- two", []),
        ("The remaining work is small, and next steps are clear.\n- one", []),
        ("```\nRemaining:\n- in code\n```", []),
        ("Everything is done.", []),
        ("", []),
    ],
)
def test_only_what_a_reply_lists_by_its_own_heading_is_open(reply: str, items: list[str]) -> None:
    assert left_open(reply) == items


@pytest.mark.parametrize(
    ("reply", "first"),
    [
        ("## Result\n\nThe tests pass now. All of them.", "The tests pass now."),
        ("Done. The importer is fast again.", "The importer is fast again."),
        ("Done.", "Done."),
        ("```\nls\n```", "```"),
        # What only leads to a list comes with its first item, and to code alone.
        ("Timings:\n\n| run | s |\n|---|---|\n| 1 | 4 |\n\nShip it.", "Timings:"),
        ("The till now has:\n\n- a drawer\n- a bell", "The till now has: a drawer"),
        (
            "Done. What the shop got:\n\n## Till\n\n1. **Sums**:\n   - rounded\n",
            "What the shop got: **Sums**: rounded",
        ),
        ("Start it so:\n\n```\nmake till\n```\n\nThen open the shop.", "Start it so:"),
        (
            "The till has two parts: a drawer and a bell.\n\n- more",
            "The till has two parts: a drawer and a bell.",
        ),
        ("The till is ready:", "The till is ready:"),
        ("", ""),
    ],
)
def test_the_first_sentence_that_says_something_is_what_came_of_it(reply: str, first: str) -> None:
    assert first_sentence(reply) == first
