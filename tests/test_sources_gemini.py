"""Gemini CLI: one document, or one record per line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from factbook.model.facts import EpisodeKind, Trust
from session_logs import GEMINI, account, batches, episodes, kept, of_kind, one_of, write

SESSION = "b7d2f0c4-3e58-4a19-8d6b-91c0a5e7f324"
PROMPT = {
    "id": "11111111-0000-4000-8000-000000000001",
    "timestamp": "2026-11-15T18:20:00Z",
    "type": "user",
    "content": [{"text": "Why is DNS down?\n--- Content from referenced files ---\nsecret file"}],
}
ANSWER = {
    "id": "11111111-0000-4000-8000-000000000002",
    "timestamp": "2026-11-15T18:20:09Z",
    "type": "gemini",
    "content": "I will look.",
    "toolCalls": [
        {
            "id": "run-1",
            "name": "run_shell_command",
            "args": {"command": "ssh pi@pi-hole.lan 'pihole status'", "description": "Look"},
            "result": [
                {"functionResponse": {"id": "run-1", "response": {"output": "down\nExit Code: 3"}}}
            ],
            "status": "success",
            "timestamp": "2026-11-15T18:20:12Z",
        },
        {"name": "read_file", "args": {"absolute_path": "/x"}, "status": "executing"},
        "not a call",
    ],
}


def document(tmp_path: Path, *messages: object, **more: object) -> Path:
    """Write a session as a document."""
    log = tmp_path / "session-2026.json"
    whole = {"sessionId": SESSION, "projectHash": "5f0c", "messages": list(messages), **more}
    log.write_text(json.dumps(whole, indent=2), encoding="utf-8")
    return log


def test_a_document_is_read_message_by_message(tmp_path: Path) -> None:
    notices = [{"type": kind, "content": "x"} for kind in ("info", "warning", "error")]
    log = document(tmp_path, PROMPT, ANSWER, *notices, summary="DNS repaired")
    found = batches(log, GEMINI)
    prompt = one_of(list(found[0].episodes), EpisodeKind.PROMPT)
    assert (prompt.text, prompt.trust, prompt.position) == ("Why is DNS down?", Trust.DIRECT, 1)
    assert (prompt.uid, prompt.subject) == (PROMPT["id"], f"task_{SESSION}:1")
    reply = one_of(list(found[0].episodes), EpisodeKind.REPLY)
    assert (reply.text, reply.subject) == ("I will look.", f"action_{SESSION}:2")
    first, second = of_kind(list(found[0].episodes), EpisodeKind.TOOL_CALL)
    assert first.value("command") == "ssh pi@pi-hole.lan 'pihole status'"
    assert (first.uid, first.subject) == ("call:run-1", "action_run-1")
    assert first.occurred_at == prompt.occurred_at + 12_000 if prompt.occurred_at else False
    assert (second.value("path"), second.subject) == ("/x", f"action_{SESSION}:2")
    result = one_of(list(found[0].episodes), EpisodeKind.TOOL_RESULT)
    assert (result.subject, result.attributes) == ("action_run-1", {"exit_code": "3"})
    assert result.is_error
    assert found[0].source.title == "DNS repaired"
    assert account(found).ignored == {
        "message: info": 1,
        "message: warning": 1,
        "message: error": 1,
    }


@pytest.mark.parametrize(
    ("call", "text", "is_error", "attributes"),
    [
        ({"result": "plain"}, "plain", False, {}),
        ({"status": "error", "resultDisplay": "File not found"}, "File not found", True, {}),
        ({"status": "cancelled", "resultDisplay": "no"}, "no", False, {"denied": "true"}),
        ({"result": [{"functionResponse": {"response": {"error": "bad"}}}]}, "bad", False, {}),
        ({"status": "success", "resultDisplay": {"fileDiff": "-a\n+b"}}, "-a\n+b", False, {}),
    ],
)
def test_results_of_every_form_are_read(
    tmp_path: Path,
    call: dict[str, object],
    text: str,
    is_error: bool,
    attributes: dict[str, str],
) -> None:
    answer = {"id": "m1", "type": "gemini", "toolCalls": [{"id": "c1", "name": "t", **call}]}
    result = one_of(episodes(document(tmp_path, answer), GEMINI), EpisodeKind.TOOL_RESULT)
    assert (result.text, result.is_error, dict(result.attributes)) == (text, is_error, attributes)


def test_the_newer_form_is_read_line_by_line(tmp_path: Path) -> None:
    head = {"sessionId": SESSION, "projectHash": "5f0c", "directories": ["/home/ann"]}
    unfinished = {**ANSWER, "content": "", "toolCalls": []}
    log = write(
        tmp_path / "session-1.jsonl", head, PROMPT, unfinished, ANSWER, {"$set": {"summary": "DNS"}}
    )
    found = batches(log, GEMINI)
    kinds = [one.kind.value for one in found[0].episodes]
    assert kinds == ["prompt", "reply", "tool_call", "tool_result", "tool_call", "record"]
    assert found[0].episodes[0].position == 2
    assert (found[0].source.project, found[0].source.title) == ("/home/ann", "DNS")
    with log.open("ab") as file:
        file.write(b'{"$rewindTo":"m1"}\n' + json.dumps({**PROMPT, "id": "m9"}).encode() + b"\n")
    (more,) = batches(log, GEMINI, cursor=kept(found[0].cursor))
    assert [one.uid for one in more.episodes] == [f"{SESSION}:m9"]
    account([more])


def test_the_prompts_of_a_sub_agent_were_written_by_a_model(tmp_path: Path) -> None:
    (batch,) = batches(document(tmp_path, PROMPT, kind="subagent"), GEMINI)
    (prompt,) = batch.episodes
    assert (prompt.trust, prompt.agent) == (Trust.DERIVED, SESSION)
    assert batch.source.agent == SESSION


def test_an_empty_session_is_no_error(tmp_path: Path) -> None:
    found = batches(document(tmp_path), GEMINI)
    assert account(found).ignored == {"empty session": 1}


def test_what_is_said_twice_is_kept_twice(tmp_path: Path) -> None:
    once = {"type": "user", "content": [{"text": "go on"}]}
    log = write(
        tmp_path / "s.jsonl", {"sessionId": SESSION}, {**once, "id": "1"}, {**once, "id": "2"}
    )
    assert [one.text for one in episodes(log, GEMINI)] == ["go on", "go on"]
