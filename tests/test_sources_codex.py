"""Codex: what is logged twice is read once, and the exit codes find their outputs."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from factbook.extract.rules import RuleSet
from factbook.memory import Memory
from factbook.model.facts import EpisodeKind, Trust
from session_logs import CODEX, account, batches, codex, episodes, of_kind, one_of, rejected, write

ID = "019f3a10-5c1e-7d42-9b30-6f2c81d4e7a5"
META = codex(
    "session_meta",
    id=ID,
    cwd="/home/ann/shop",
    source="cli",
    thread_source="user",
    git={"branch": "main", "repository_url": "https://github.com/ann/shop.git"},
)
TURN = codex("event_msg", type="task_started", turn_id="turn-1")


def item(kind: str, **payload: object) -> dict[str, object]:
    """Return an item for the model."""
    return codex("response_item", type=kind, **payload)


def message(role: str, text: str) -> dict[str, object]:
    """Return a message as the model sees it."""
    return item("message", role=role, content=[{"type": "input_text", "text": text}])


def event(kind: str, **payload: object) -> dict[str, object]:
    """Return an event for the screen."""
    return codex("event_msg", type=kind, **payload)


def called(cmd: object, call_id: str = "c1", **more: object) -> dict[str, object]:
    """Return a call of the shell."""
    arguments = json.dumps({"cmd": cmd, "workdir": "/srv"})
    return item("function_call", name="exec_command", arguments=arguments, call_id=call_id, **more)


def gave(output: object, call_id: str = "c1") -> dict[str, object]:
    """Return what a call gave back."""
    return item("function_call_output", call_id=call_id, output=output)


def test_what_is_logged_twice_is_read_once(tmp_path: Path) -> None:
    log = write(
        tmp_path / "r.jsonl",
        META,
        TURN,
        message("developer", "<permissions instructions>x</permissions instructions>"),
        message("user", "# AGENTS.md instructions for /home/ann\n\nbe brief"),
        message("user", "<environment_context>\n<cwd>/x</cwd>\n</environment_context>"),
        message("user", "Fix the login"),
        event("user_message", message="Fix the login", images=[], local_images=["a.png"]),
        item("reasoning", summary=[], encrypted_content="x"),
        event("agent_message", message="Looking."),
        message("assistant", "Looking."),
        event("token_count", info=None),
    )
    found = batches(log, CODEX)
    prompt = one_of(list(found[0].episodes), EpisodeKind.PROMPT)
    assert (prompt.text, prompt.trust) == ("Fix the login\n[image]", Trust.DIRECT)
    assert (prompt.uid, prompt.position) == ("turn-1:prompt:0", 7)
    assert (prompt.subject, prompt.project) == (f"task_{ID}:7", "/home/ann/shop")
    reply = one_of(list(found[0].episodes), EpisodeKind.REPLY)
    assert (reply.text, reply.subject) == ("Looking.", f"action_{ID}:10")
    records = of_kind(list(found[0].episodes), EpisodeKind.RECORD)
    assert [one.attributes for one in records] == [
        {"branch": "main"},
        {"repository": "https://github.com/ann/shop.git"},
    ]
    assert (found[0].source.session, found[0].source.project) == (ID, "/home/ann/shop")
    account(found)


def test_a_file_without_the_event_is_read_from_the_items(tmp_path: Path) -> None:
    log = write(
        tmp_path / "r.jsonl",
        META,
        TURN,
        message("user", "<environment_context>x</environment_context>"),
        message("user", "Fix the login"),
        message("assistant", "Done."),
        message("user", "And the footer"),
        event("task_complete"),
    )
    found = episodes(log, CODEX)
    assert [(one.text, one.position) for one in of_kind(found, EpisodeKind.PROMPT)] == [
        ("Fix the login", 4),
        ("And the footer", 6),
    ]


def test_the_first_versions_wrote_items_alone(tmp_path: Path) -> None:
    log = write(
        tmp_path / "r.jsonl",
        {"id": ID, "timestamp": "2025-06-01T10:00:00Z", "instructions": None, "git": {}},
        {"record_type": "state"},
        {
            "type": "message",
            "role": "user",
            "content": [{"type": "input_text", "text": "List files"}],
        },
        {
            "type": "function_call",
            "name": "shell",
            "arguments": json.dumps({"command": ["bash", "-lc", "ls -la"]}),
            "call_id": "c1",
        },
        {
            "type": "function_call_output",
            "call_id": "c1",
            "output": json.dumps({"output": "a.txt", "metadata": {"exit_code": 2}}),
        },
    )
    prompt, call, result = episodes(log, CODEX)
    assert prompt.text == "List files"
    assert call.value("command") == "ls -la"
    assert (result.text, result.attributes) == ("Exit code 2\na.txt", {"exit_code": "2"})
    assert result.session == ID


def test_a_call_is_named_by_its_id(tmp_path: Path) -> None:
    log = write(tmp_path / "r.jsonl", META, called("ssh root@tower"), gave("ok"))
    found = episodes(log, CODEX)
    call = one_of(found, EpisodeKind.TOOL_CALL)
    assert (call.subject, call.uid, call.call_id) == ("action_c1", "call:c1", "c1")
    assert (call.tool, call.value("command")) == ("exec_command", "ssh root@tower")
    assert call.value("workdir") == "/srv"
    result = one_of(found, EpisodeKind.TOOL_RESULT)
    assert (result.subject, result.uid, result.tool) == ("action_c1", "result:c1", "exec_command")


@pytest.mark.parametrize(
    ("output", "text", "code"),
    [
        (
            "Chunk ID: 1\nWall time: 0.1 seconds\nProcess exited with code 0\n"
            "Original token count: 3\nOutput:\na\nb\n",
            "a\nb",
            "0",
        ),
        ("Exit code: 1\nWall time: 0 seconds\nOutput:\nbad patch\n", "Exit code 1\nbad patch", "1"),
        (
            "Wall time: 1 second\nProcess running with session ID 77\nOutput:\nwaiting",
            "waiting",
            "",
        ),
        (
            "Command: /bin/zsh -lc 'cat > a <<E\nExit code: 7\nE'\nChunk ID: 2\n"
            "Wall time: 0.1 seconds\nProcess exited with code 1\n"
            "Original token count: 2\nOutput:\nno room\n",
            "Exit code 1\nno room",
            "1",
        ),
        (
            "Command: /bin/bash -lc make\nWall time: 1.0 seconds\n"
            "Process running with session ID 5\nOutput:\ncc a.c",
            "cc a.c",
            "",
        ),
        (
            "Command: sort\nWall time: 3 s\nOutput:\n2",
            "Command: sort\nWall time: 3 s\nOutput:\n2",
            "",
        ),
        ({"content": "failed", "success": False}, "failed", ""),
        (
            [{"type": "input_text", "text": "a"}, {"type": "input_image", "image_url": "x"}],
            "a\n[image]",
            "",
        ),
        ("plain", "plain", ""),
    ],
)
def test_the_frame_around_an_output_is_taken_off(
    tmp_path: Path, output: object, text: str, code: str
) -> None:
    result = one_of(
        episodes(write(tmp_path / "r.jsonl", META, called("x"), gave(output)), CODEX),
        EpisodeKind.TOOL_RESULT,
    )
    assert result.text == text
    assert result.attributes.get("exit_code", "") == code
    assert result.is_error == (code == "1" or text == "failed")


def test_a_structured_exit_code_is_joined_to_its_output(tmp_path: Path) -> None:
    ended = event(
        "exec_command_end", call_id="c1", exit_code=3, aggregated_output="no", source="agent"
    )
    found = batches(write(tmp_path / "r.jsonl", META, called("x"), ended, gave("no")), CODEX)
    result = one_of(list(found[0].episodes), EpisodeKind.TOOL_RESULT)
    assert (result.text, result.attributes) == ("Exit code 3\nno", {"exit_code": "3"})
    assert account(found).ignored["event: exec_command_end"] == 1
    assert found[0].cursor.state["codes"] == {}


def test_a_command_that_the_user_ran_is_a_prompt(tmp_path: Path) -> None:
    ended = event(
        "exec_command_end",
        call_id="c9",
        source="user_shell",
        command=["bash", "-lc", "df -h"],
        aggregated_output="95% full",
        exit_code=0,
    )
    found = episodes(write(tmp_path / "r.jsonl", META, ended), CODEX)
    prompt = one_of(found, EpisodeKind.PROMPT)
    assert (prompt.value("command"), prompt.trust) == ("df -h", Trust.DIRECT)
    result = one_of(found, EpisodeKind.TOOL_RESULT)
    assert (result.text, result.subject) == ("95% full", prompt.subject)


def test_a_patch_names_its_files(tmp_path: Path) -> None:
    patch = (
        "*** Begin Patch\n*** Update File: src/auth.py\n*** Move to: src/login.py\n@@\n-a\n+b\n"
        "*** Add File: docs/auth.md\n+x\n*** Delete File: old.py\n*** End Patch\n"
    )
    log = write(
        tmp_path / "r.jsonl",
        item("custom_tool_call", name="apply_patch", call_id="c1", input=patch, status="completed"),
        called(f"apply_patch <<'EOF'\n{patch}EOF", "c2"),
    )
    for call in episodes(log, CODEX):
        named = [(f.name, call.text[f.start : f.end]) for f in call.fields]
        pairs = [value for name, value in named if name in {"path", "change"}]
        assert pairs == [
            "src/auth.py",
            "update",
            "src/login.py",
            "move",
            "docs/auth.md",
            "add",
            "old.py",
            "delete",
        ]


@pytest.mark.parametrize(
    ("record", "tool", "field", "value"),
    [
        (
            item("web_search_call", action={"type": "search", "query": "q", "queries": ["q"]}),
            "web_search",
            "query",
            "q",
        ),
        (
            item("web_search_call", action={"type": "open_page", "url": "https://x.org"}),
            "web_search",
            "url",
            "https://x.org",
        ),
        (
            item(
                "local_shell_call", call_id="c1", action={"type": "exec", "command": ["ls", "a b"]}
            ),
            "local_shell",
            "command",
            "ls 'a b'",
        ),
        (
            item("tool_search_call", call_id="c1", arguments={"query": "q"}),
            "tool_search",
            "query",
            "q",
        ),
        (
            item("function_call", name="spawn_agent", call_id="c1", arguments='{"message":"look"}'),
            "spawn_agent",
            "prompt",
            "look",
        ),
        (
            item("function_call", name="write_stdin", call_id="c1", arguments='{"chars":"y"}'),
            "write_stdin",
            "chars",
            "y",
        ),
        (item("function_call", name="x", call_id="c1", arguments="{torn"), "x", "input", "{torn"),
    ],
)
def test_calls_of_every_form_are_read(
    tmp_path: Path, record: dict[str, object], tool: str, field: str, value: str
) -> None:
    (call,) = episodes(write(tmp_path / "r.jsonl", record), CODEX)
    assert (call.kind, call.tool) == (EpisodeKind.TOOL_CALL, tool)
    assert call.value(field) == value


def test_a_tool_of_factbook_is_known_by_its_namespace(tmp_path: Path) -> None:
    call = item(
        "function_call", name="recall", namespace="mcp__factbook", arguments="{}", call_id="c1"
    )
    found = episodes(write(tmp_path / "r.jsonl", META, call, gave("30 days")), CODEX)
    assert one_of(found, EpisodeKind.TOOL_CALL).attributes == {"namespace": "mcp__factbook"}
    assert one_of(found, EpisodeKind.TOOL_RESULT).injected


def test_a_fork_keeps_its_own_session_and_copies_keep_their_ids(tmp_path: Path) -> None:
    first = [META, TURN, event("user_message", message="Fix it"), called("ls")]
    one = episodes(write(tmp_path / "a.jsonl", *first), CODEX)
    own = codex("session_meta", id="fork-1", forked_from_id=ID, cwd="/home/ann/shop", git={})
    two = batches(write(tmp_path / "b.jsonl", own, *first), CODEX)
    uids = {e.uid for e in one if e.kind is not EpisodeKind.RECORD}
    assert {e.uid for e in two[0].episodes} == uids
    assert two[0].source.session == "fork-1"


@pytest.mark.parametrize("turn", [[TURN], []], ids=["with a turn", "an early version"])
def test_what_a_fork_repeats_is_said_once(tmp_path: Path, turn: list[dict[str, object]]) -> None:
    said = [
        META,
        *turn,
        event("user_message", message="Fix src/login.py"),
        item("message", role="assistant", content=[{"type": "output_text", "text": "I look."}]),
        called("curl https://api.example.org"),
        gave("no route"),
        codex("compacted", message="The login was looked at."),
    ]
    own = codex("session_meta", id="fork-1", forked_from_id=ID, cwd="/home/ann/shop", git={})
    copies = [{**one, "timestamp": "2026-11-18T09:00:00.000Z"} for one in said]
    again = event("user_message", message="And src/tests.py")
    write(tmp_path / "a.jsonl", *said)
    write(tmp_path / "b.jsonl", own, *copies, event("task_started", turn_id="t-9"), again)
    write(tmp_path / "c.jsonl", {**own, "payload": {"id": "fork-2"}}, own, *copies)
    with Memory(tmp_path / "m.db", key_file=tmp_path / "key") as memory:
        memory.ingest([tmp_path / "a.jsonl"])
        before = memory.sql("SELECT subject, predicate, object FROM facts")
        memory.ingest([tmp_path / "b.jsonl", tmp_path / "c.jsonl"])
        after = memory.sql("SELECT subject, predicate, object FROM facts")
        kinds = Counter(row["kind"] for row in memory.sql("SELECT kind FROM episode_row"))
    assert {row["object"] for row in after if row not in before} == {"fork-1", "src/tests.py"}
    assert kinds["prompt"] == 2
    assert kinds["reply"] == kinds["tool_call"] == kinds["tool_result"] == kinds["summary"] == 1


def test_a_log_that_was_moved_is_no_fork_and_may_be_read_better(tmp_path: Path) -> None:
    said = [META, TURN, event("user_message", message="Fix src/login.py")]
    first = write(tmp_path / "a.jsonl", *said)
    with Memory(tmp_path / "m.db", rules=RuleSet([]), key_file=tmp_path / "key") as memory:
        memory.ingest([first])
        assert memory.sql("SELECT object FROM facts WHERE predicate = 'mentions_path'") == []
    (tmp_path / "elsewhere").mkdir()
    moved = first.rename(tmp_path / "elsewhere" / "b.jsonl")
    with Memory(tmp_path / "m.db", key_file=tmp_path / "key") as memory:
        memory.ingest([moved])
        (found,) = memory.sql("SELECT object FROM facts WHERE predicate = 'mentions_path'")
        assert found["object"] == "src/login.py"
        assert memory.check() == []


def test_the_prompts_of_a_sub_agent_were_written_by_a_model(tmp_path: Path) -> None:
    head = codex("session_meta", id="sub-1", parent_thread_id=ID, cwd="/x", git=None)
    (batch,) = batches(
        write(tmp_path / "r.jsonl", head, TURN, event("user_message", message="Look")), CODEX
    )
    (prompt,) = batch.episodes
    assert (prompt.trust, prompt.agent) == (Trust.DERIVED, "sub-1")
    assert prompt.attributes == {"author": "model"}
    assert batch.source.agent == "sub-1"


def test_the_context_of_an_editor_is_not_what_was_typed(tmp_path: Path) -> None:
    text = (
        "# Context from my IDE setup:\n\n## Open tabs:\n- a.py\n\n## My request for Codex:\nFix it"
    )
    (prompt,) = episodes(
        write(tmp_path / "r.jsonl", TURN, event("user_message", message=text)), CODEX
    )
    assert prompt.text == "Fix it"


def test_a_compaction_and_a_name_are_kept(tmp_path: Path) -> None:
    log = write(
        tmp_path / "r.jsonl",
        META,
        codex("compacted", message="We fixed the login.", replacement_history=[]),
        codex("compacted", message="", replacement_history=[]),
        event("thread_name_updated", thread_id=ID, thread_name="Logins"),
    )
    found = batches(log, CODEX)
    summary = one_of(list(found[0].episodes), EpisodeKind.SUMMARY)
    assert (summary.text, summary.subject) == ("We fixed the login.", f"session_{ID}")
    assert found[0].source.title == "Logins"


def test_what_nobody_knows_yet_is_counted_and_broken_records_are_refused(tmp_path: Path) -> None:
    log = write(
        tmp_path / "r.jsonl",
        item("hologram"),
        event("hologram"),
        codex("hologram"),
        {"type": "response_item"},
    )
    found = batches(log, CODEX)
    assert account(found).unknown == {"item: hologram": 1, "event: hologram": 1, "hologram": 1}
    assert [one.detail for one in rejected(found)] == ["a response_item record without a payload"]
