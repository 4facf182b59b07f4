"""Finding logs: the content tells the host, and everything left aside has a reason."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from factbook.errors import NoLogsFound, PathMissing, PathUnreadable
from factbook.sources.session_log import discover
from factbook.sources.session_log.discover import COPILOT, LEADS_OUT, OPENCODE, detect
from rows import every
from session_logs import CLAUDE, CODEX, GEMINI, claude, codex, lines_of, write

QUOTED = '{"parentUuid": null, "type": "session_meta", "payload": {}, "projectHash": 1}'


@every(
    ("head", "host"),
    [
        (lines_of(claude("user", "hi")), CLAUDE),
        (lines_of(claude("user", "x" * 90_000))[:20_000], CLAUDE),
        (lines_of({"type": "summary", "summary": "t", "leafUuid": "u"}), CLAUDE),
        (lines_of({"type": "file-history-snapshot", "messageId": "m"}), CLAUDE),
        (lines_of({"type": "queue-operation", "sessionId": "s"}), CLAUDE),
        (lines_of({"type": "permission-mode", "sessionId": "s"}), CLAUDE),
        (lines_of({"type": "started", "key": "v2:h", "agentId": "a"}), CLAUDE),
        (lines_of({"odd": 1}, claude("user", "hi")), CLAUDE),
        (b'{"type": "assistant", "uuid": "8bbd47e5", "message": {"content": []}}', CLAUDE),
        (json.dumps({"loglines": [{}]}, indent=1).encode(), CLAUDE),
        (json.dumps([claude("user", "hi")], indent=1).encode(), CLAUDE),
        (lines_of(codex("session_meta", id="x", base="y" * 90_000))[:20_000], CODEX),
        (lines_of(codex("event_msg", type="task_started")), CODEX),
        (lines_of({"id": "x", "timestamp": "t", "instructions": None}), CODEX),
        (lines_of({"type": "message", "role": "user", "content": []}), CODEX),
        (lines_of(codex("response_item", type="message", text=QUOTED)), CODEX),
        (lines_of(claude("user", QUOTED)), CLAUDE),
        (
            json.dumps({"sessionId": "s", "projectHash": "h", "messages": []}, indent=2).encode(),
            GEMINI,
        ),
        (lines_of({"sessionId": "s", "projectHash": "h"}), GEMINI),
        (json.dumps({"info": {"id": "ses_12"}, "messages": []}, indent=2).encode(), OPENCODE),
        (lines_of({"type": "session.start", "data": {"copilotVersion": "1.0.64"}}), COPILOT),
        (b"", ""),
        (b"just text\n", ""),
        (b'{"info": {"id": "other"}}\n', ""),
        (b"\x00\x01\x02", ""),
        (lines_of({"agentType": "general-purpose"}), ""),
        (json.dumps([{"sessionId": "s", "type": "user", "message": "hi"}]).encode(), ""),
        (b'{"a": "' + b"{[" * 9_000, ""),
        (b"[" * 20_000, ""),
    ],
)
def test_the_content_tells_the_host(head: bytes, host: str) -> None:
    assert detect(head) == host


def test_a_folder_is_searched_in_order_and_the_rest_named_with_its_reason(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    write(tmp_path / "b" / "1.jsonl", claude("user", "hi"))
    write(tmp_path / "a.jsonl", codex("session_meta", id="x"))
    write(tmp_path / "c.json", {"info": {"id": "ses_1"}})
    (tmp_path / "empty.jsonl").touch()
    (tmp_path / "binary.jsonl").write_bytes(bytes(range(256)) * 9)
    (tmp_path / "other.json").write_text('{"name": "package"}')
    (tmp_path / "wide.jsonl").write_bytes("{}".encode("utf-16"))
    (tmp_path / "unmarked.jsonl").write_bytes(b"".join(bytes([0, one]) for one in b"{} " * 9))
    (tmp_path / "other_part.jsonl").write_bytes("Привет, как дела?".encode("cp1251"))
    (tmp_path / "notes.md").write_text("not looked at")
    found = discover([tmp_path])
    assert [(log.path.name, log.host) for log in found.files] == [
        ("a.jsonl", CODEX),
        ("1.jsonl", CLAUDE),
    ]
    assert found.unsupported == [(tmp_path / "c.json", OPENCODE)]
    assert {path.name: why for path, why in found.skipped} == {
        "empty.jsonl": "empty",
        "binary.jsonl": "binary",
        "other.json": "not a session log of a known agent",
        "wide.jsonl": "not a session log of a known agent",
        "unmarked.jsonl": "not a session log of a known agent",
        "other_part.jsonl": "text in an encoding that is not known; save it as UTF-8",
    }


def test_a_file_is_taken_whatever_its_name_and_counts_once(tmp_path: Path) -> None:
    log = write(tmp_path / "export.txt", claude("user", "hi"))
    (tmp_path / "link.jsonl").symlink_to(log)
    found = discover([log, tmp_path, log])
    assert [one.path for one in found.files] == [log]


def test_a_log_that_is_named_brings_those_of_its_sub_agents(tmp_path: Path) -> None:
    log = write(tmp_path / "s1.jsonl", claude("user", "hi"))
    (tmp_path / "s1" / "subagents" / "workflows").mkdir(parents=True)
    agent = write(tmp_path / "s1" / "subagents" / "agent-a1.jsonl", claude("user", "look"))
    deeper = tmp_path / "s1" / "subagents" / "workflows" / "agent-a2.jsonl"
    write(deeper, claude("user", "look"))
    other = write(tmp_path / "s2.jsonl", claude("user", "hi"))
    assert [one.path for one in discover([log]).files] == [log, agent, deeper]
    (tmp_path / "s2").mkdir()
    (tmp_path / "s2" / "subagents").symlink_to(agent.parent, target_is_directory=True)
    assert [one.path for one in discover([other]).files] == [other]


def test_links_are_followed_without_loops(tmp_path: Path) -> None:
    real = tmp_path / "real"
    real.mkdir()
    write(real / "1.jsonl", claude("user", "hi"))
    (real / "again").symlink_to(real, target_is_directory=True)
    (tmp_path / "linked").symlink_to(real, target_is_directory=True)
    (tmp_path / "self.jsonl").symlink_to(tmp_path / "self.jsonl")
    (tmp_path / "gone.jsonl").symlink_to(tmp_path / "nowhere.jsonl")
    os.mkfifo(tmp_path / "pipe.jsonl")
    found = discover([tmp_path / "linked", tmp_path])
    assert [one.path for one in found.files] == [real / "1.jsonl"]
    names = {path.name for path, _ in found.skipped}
    assert {"self.jsonl", "nowhere.jsonl", "pipe.jsonl"} <= names


def test_no_link_leads_out_of_a_folder(tmp_path: Path) -> None:
    """Who may write to a folder does not choose what else is read; its owner does, by name."""
    inside, outside = tmp_path / "logs", tmp_path / "logs-private"
    for folder in (inside / "deep", outside / "deep"):
        folder.mkdir(parents=True)
    mine = write(inside / "1.jsonl", claude("user", "hi"))
    theirs = write(outside / "deep" / "2.jsonl", claude("user", "secret"))
    (inside / "file.jsonl").symlink_to(theirs)
    (inside / "deep" / "folder").symlink_to(outside, target_is_directory=True)
    (inside / "up").symlink_to(tmp_path, target_is_directory=True)
    (inside / "chain.jsonl").symlink_to(inside / "file.jsonl")
    (inside / "unread.png").symlink_to(theirs)  # nobody asked for it
    (inside / "deep" / "again").symlink_to(inside, target_is_directory=True)
    (inside / "deep" / "same.jsonl").symlink_to(mine)
    left = {
        inside / "file.jsonl",
        inside / "deep" / "folder",
        inside / "up",
        inside / "chain.jsonl",
    }

    found = discover([inside])
    assert [one.path for one in found.files] == [mine]
    assert {path for path, why in found.skipped if why == LEADS_OUT} == left
    for named in (inside / "file.jsonl", inside / "deep" / "folder", outside):
        assert theirs in [one.path for one in discover([named]).files]
    both = discover([inside, outside])  # what is named as well is inside
    assert [one.path for one in both.files] == [mine, theirs]
    assert {path for path, _ in both.skipped} == {inside / "up"}
    whole = tmp_path / "whole"
    whole.symlink_to(inside, target_is_directory=True)
    assert [one.path for one in discover([whole]).files] == [mine]
    mine.unlink()
    (inside / "deep" / "same.jsonl").unlink()
    with pytest.raises(NoLogsFound, match="link out of the folder"):
        discover([inside])


def test_no_link_leads_out_of_the_folders_of_the_hosts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    projects = tmp_path / "home" / ".claude" / "projects"
    projects.mkdir(parents=True)
    mine = write(projects / "1.jsonl", claude("user", "hi"))
    (tmp_path / "elsewhere").mkdir()
    write(tmp_path / "elsewhere" / "2.jsonl", claude("user", "secret"))
    (projects / "-x").symlink_to(tmp_path / "elsewhere", target_is_directory=True)
    found = discover()
    assert [one.path for one in found.files] == [mine]
    assert found.skipped == [(projects / "-x", LEADS_OUT)]


def test_the_folders_of_the_hosts_are_the_default(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    with pytest.raises(NoLogsFound, match=r"\.claude/projects"):
        discover()
    for place, record in [
        (".claude/projects/-x", claude("user", "hi")),
        (".codex/sessions/2026/11/14", codex("session_meta", id="x")),
        (".gemini/tmp/5f0c/chats", {"sessionId": "s", "projectHash": "h"}),
        ("elsewhere/projects/-x", claude("user", "hi")),
        ("codex-home/sessions", codex("session_meta", id="x")),
    ]:
        (tmp_path / place).mkdir(parents=True)
        write(tmp_path / place / "1.jsonl", record)
    assert [one.host for one in discover().files] == [CLAUDE, CODEX, GEMINI]
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "elsewhere"))
    monkeypatch.setenv("CODEX_HOME", "~/codex-home")
    paths = [one.path.relative_to(tmp_path).parts[0] for one in discover().files]
    assert paths == ["elsewhere", "codex-home", ".gemini"]


def test_bad_paths_are_named(tmp_path: Path) -> None:
    with pytest.raises(PathMissing, match="does not exist; give a log file or a folder"):
        discover([tmp_path / "gone"])
    with pytest.raises(NoLogsFound, match="No agent session logs were found in"):
        discover([tmp_path])
    (tmp_path / "empty.jsonl").touch()
    with pytest.raises(NoLogsFound):
        discover([tmp_path / "empty.jsonl"])
    with pytest.raises(PathUnreadable):
        discover([Path("with\x00nul")])
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    with pytest.raises(PathUnreadable, match="check its permissions"):
        discover([loop])


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_what_may_not_be_read_is_an_error_when_named_and_skipped_when_found(tmp_path: Path) -> None:
    log = write(tmp_path / "1.jsonl", claude("user", "hi"))
    write(tmp_path / "2.jsonl", claude("user", "hi"))
    log.chmod(0)
    with pytest.raises(PathUnreadable, match="Permission denied"):
        discover([log])
    found = discover([tmp_path])
    assert [one.path.name for one in found.files] == ["2.jsonl"]
    assert found.skipped == [(log, "cannot be read (Permission denied)")]


def test_a_folder_of_an_unsupported_host_alone_is_named_not_missing(tmp_path: Path) -> None:
    write(tmp_path / "full.jsonl", {"info": {"id": "ses_1"}})
    found = discover([tmp_path])
    assert found.files == []
    assert [host for _, host in found.unsupported] == [OPENCODE]
