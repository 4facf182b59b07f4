"""Whole logs: the examples that ship with the project, and real ones where they are at hand."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from data import data_dir
from factbook.model.facts import Cursor, Episode, EpisodeKind, LineCount
from factbook.redaction import NO_REDACTION, Redactor
from factbook.redaction.base import Redacting
from factbook.sources.session_log import LogFile, discover, read
from session_logs import CLAUDE, EXAMPLES, GEMINI, NOW, account, kept

DATA = data_dir()
SESSIONS = DATA / "sessions" if DATA and (DATA / "sessions").is_dir() else None
FOLDERS = [
    EXAMPLES,
    pytest.param(
        SESSIONS, marks=pytest.mark.skipif(SESSIONS is None, reason="no sample data at hand")
    ),
]


def read_folder(
    folder: Path, *, redactor: Redacting = NO_REDACTION
) -> tuple[list[Episode], LineCount, dict[LogFile, Cursor]]:
    """Read all logs of a folder."""
    found: list[Episode] = []
    lines = LineCount()
    cursors: dict[LogFile, Cursor] = {}
    for log in discover([folder]).files:
        batches = list(read(log, cursor=None, redactor=redactor, now=NOW))
        lines.add(account(batches))
        found += [one for batch in batches for one in batch.episodes]
        cursors[log] = kept(batches[-1].cursor)
    return found, lines, cursors


def values_of(folder: Path) -> Iterator[tuple[LogFile, object]]:
    """Iterate over the records of a folder, read in the plainest way."""
    for log in discover([folder]).files:
        if log.host == GEMINI and log.path.suffix == ".json":
            for message in json.loads(log.path.read_text(encoding="utf-8"))["messages"]:
                yield log, message
            continue
        for line in log.path.read_bytes().split(b"\n"):
            if line.strip():
                yield log, json.loads(line)


@pytest.mark.parametrize("folder", FOLDERS)
def test_every_line_of_every_file_is_accounted_for(folder: Path) -> None:
    _, lines, _ = read_folder(folder)
    records = sum(1 for _ in values_of(folder))
    assert lines.records == records
    assert lines.total() == records + lines.ignored.get("blank", 0)
    assert lines.waiting == 0
    assert sum(lines.kept.values()) > records / 2


@pytest.mark.parametrize("folder", FOLDERS)
def test_every_call_of_claude_code_gives_its_action_and_its_tool(folder: Path) -> None:
    found, _, _ = read_folder(folder)
    pairs: set[tuple[object, object]] = set()
    ids: set[object] = set()
    for log, record in values_of(folder):
        if log.host != CLAUDE or not isinstance(record, dict):
            continue
        data = record.get("data")
        if isinstance(data, dict) and data.get("type") == "agent_progress":
            record = data["message"]  # of a sub-agent
        message = record.get("message")
        content = message.get("content") if isinstance(message, dict) else None
        for block in content if isinstance(content, list) else []:
            if isinstance(block, dict) and block.get("type") == "tool_use":
                pairs.add((f"action_{record['uuid']}", block["name"]))
                ids.add(block.get("id", record["uuid"]))
    hosts = {f"file:{log.path}": log.host for log in discover([folder]).files}
    calls = [
        one
        for one in found
        if one.kind is EpisodeKind.TOOL_CALL and hosts[one.source.partition("?agent=")[0]] == CLAUDE
    ]
    assert {(one.subject, one.tool) for one in calls} == pairs
    assert len({one.uid for one in calls}) == len(ids)


@pytest.mark.parametrize("folder", FOLDERS)
def test_a_second_read_of_unchanged_files_gives_nothing(folder: Path) -> None:
    _, _, cursors = read_folder(folder)
    for log, cursor in cursors.items():
        assert list(read(log, cursor=cursor, redactor=NO_REDACTION, now=NOW)) == []


@pytest.mark.parametrize("folder", FOLDERS)
def test_every_span_and_place_holds(folder: Path) -> None:
    found, _, _ = read_folder(folder, redactor=Redactor(key=b"k" * 32))
    for one in found:
        assert one.text
        assert one.position >= 1
        for part in one.fields:
            assert 0 <= part.start <= part.end <= len(one.text)
        if one.kind is EpisodeKind.RECORD:
            assert all(value in one.text for value in one.attributes.values())


def test_an_episode_stands_where_its_line_is() -> None:
    for log in discover([EXAMPLES]).files:
        if log.path.suffix == ".json":
            continue
        data = log.path.read_bytes()
        lines = data.split(b"\n")
        for batch in read(log, cursor=None, redactor=NO_REDACTION, now=NOW):
            for one in batch.episodes:
                line = data[one.offset :].split(b"\n", 1)[0]
                assert line == lines[one.position - 1]
                assert line


def test_the_examples_hold_every_kind_and_nothing_that_nobody_knows() -> None:
    found, lines, _ = read_folder(EXAMPLES)
    assert 150 <= lines.records <= 300
    assert lines.unknown == {}
    assert lines.rejected == {}
    kinds = Counter(one.kind for one in found)
    elsewhere = {EpisodeKind.TURN, EpisodeKind.NOTE, EpisodeKind.COMMAND, EpisodeKind.SEARCH_RESULT}
    assert set(kinds) == set(EpisodeKind) - elsewhere  # typed or searched for, in no log
    assert {log.host for log in discover([EXAMPLES]).files} == {
        "claude-code",
        "codex",
        "gemini-cli",
    }
    assert any(one.injected or "search_memory" in one.tool for one in found)
    for text in ("192.168.20.4", "203.0.113.17", "backup.example.net", "pi-hole.lan"):
        assert any(text in (one.value("command") or "") for one in found)
    assert sum(1 for one in found if "unzip" in (one.value("command") or "")) >= 4
    edits = {
        one.occurred_at // 86_400_000
        for one in found
        if one.tool in {"Edit", "MultiEdit"} and "auth.py" in one.text and one.occurred_at
    }
    assert len(edits) >= 4


def test_no_secret_of_the_examples_is_left() -> None:
    found, _, _ = read_folder(EXAMPLES, redactor=Redactor(key=b"k" * 32))
    planted = [
        "not-a-real-password",
        "not-a-real-password-1111",
        "not-a-real-password-3333",
        "not-a-real-key-0000",
        "not-a-real-token-2222",
        "'pwd'",
    ]
    logs = "".join(log.path.read_text("utf-8") for log in discover([EXAMPLES]).files)
    assert all(secret in logs for secret in planted)
    whole = "\n".join(one.text for one in found)
    for secret in planted:
        assert secret not in whole
    assert "[REDACTED:" in whole


def test_the_record_of_seed_000_stands_in_the_examples_on_one_line() -> None:
    (line,) = (EXAMPLES / "claude-code" / "seed-000.jsonl").read_text().splitlines()
    assert json.loads(line) == {
        "type": "assistant",
        "uuid": "8bbd47e5",
        "message": {
            "content": [
                {
                    "type": "tool_use",
                    "name": "Bash",
                    "input": {"command": "sshpass -p 'pwd' ssh root@192.168.20.4 'ls -la'"},
                }
            ]
        },
    }
