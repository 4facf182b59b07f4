"""Seed 000, line by line: rule-based fact extraction from JSONL session logs.

Each test names the line of the requirement that it shows.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import apsw
import pytest

from factbook.memory import Memory
from factbook.model.facts import EpisodeKind, Fact
from factbook.store.rows import Filters
from factbook.testing import FrozenClock

GOLDEN = {
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
UUID = "11111111-2222-4333-8444-55555555555"


class Log:
    """Writes a Claude Code session log, one record per call."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / f"{UUID}0.jsonl"
        self.records: list[str] = []

    def raw(self, line: str) -> Log:
        self.records.append(line)
        self.path.write_text("\n".join(self.records) + "\n", encoding="utf-8")
        return self

    def _record(self, kind: str, uuid: str, content: object) -> Log:
        n = len(self.records)
        return self.raw(
            json.dumps(
                {
                    "type": kind,
                    "uuid": uuid,
                    "parentUuid": None,
                    "sessionId": f"{UUID}0",
                    "timestamp": f"2026-11-17T10:{n // 60:02d}:{n % 60:02d}.000Z",
                    "cwd": "/home/ann/shop",
                    "message": {"role": kind, "content": content},
                }
            )
        )

    def says(self, text: str | list[object], uuid: str = "u1") -> Log:
        return self._record("user", uuid, text)

    def replies(self, text: str, uuid: str = "a1") -> Log:
        return self._record("assistant", uuid, [{"type": "text", "text": text}])

    def calls(self, uuid: str, *calls: tuple[str, str, dict[str, object]]) -> Log:
        blocks = [
            {"type": "tool_use", "id": one, "name": name, "input": given}
            for one, name, given in calls
        ]
        return self._record("assistant", uuid, blocks)

    def bash(self, command: str, uuid: str = "a1", call: str = "toolu_1") -> Log:
        return self.calls(uuid, (call, "Bash", {"command": command}))


@pytest.fixture
def log(tmp_path: Path) -> Log:
    return Log(tmp_path)


@pytest.fixture
def memory(tmp_path: Path):  # type: ignore[no-untyped-def]
    with Memory(
        tmp_path / "m.db",
        clock=FrozenClock(1_795_000_000_000),
        key_file=tmp_path / "key" / "redaction.key",
    ) as opened:
        yield opened
        assert opened.check() == []


def facts(memory: Memory, predicate: str | None = None) -> list[Fact]:
    return memory.query_facts(predicate=predicate)


def objects(memory: Memory, predicate: str) -> list[str]:
    return [fact.object for fact in facts(memory, predicate)]


def golden_log(folder: Path) -> Path:
    path = folder / "seed.jsonl"
    path.write_text(json.dumps(GOLDEN) + "\n", encoding="utf-8")
    return path


# --- the golden example ---------------------------------------------------------------------------


def test_golden_example_gives_exactly_three_facts_verbatim_without_redaction(
    tmp_path: Path,
) -> None:
    with Memory(tmp_path / "m.db", redact=False) as memory:
        memory.ingest([golden_log(tmp_path)])
        assert [
            (one.subject, one.predicate, one.object, one.confidence) for one in facts(memory)
        ] == [
            ("action_8bbd47e5", "used_tool", "Bash", 1.0),
            (
                "action_8bbd47e5",
                "executed_command",
                "sshpass -p 'pwd' ssh root@192.168.20.4 'ls -la'",
                1.0,
            ),
            ("action_8bbd47e5", "connects_to_host", "192.168.20.4", 0.9),
        ]
        assert memory.check() == []


def test_golden_example_is_redacted_by_default(memory: Memory, tmp_path: Path) -> None:
    memory.ingest([golden_log(tmp_path)])
    assert {one.predicate: one.object for one in facts(memory)} == {
        "used_tool": "Bash",
        "executed_command": "sshpass -p '[REDACTED:password]' ssh root@192.168.20.4 'ls -la'",
        "connects_to_host": "192.168.20.4",
    }
    assert b"'pwd'" not in b"".join(one.read_bytes() for one in tmp_path.glob("m.db*"))


def test_each_fact_records_its_method(memory: Memory, tmp_path: Path) -> None:
    memory.ingest([golden_log(tmp_path)])
    methods = {
        one.fact.predicate: one.evidence[0].method
        for one in (memory.explain(fact.id) for fact in facts(memory))
    }
    assert methods["used_tool"] == "Direct from `tool_use.name`"
    assert methods["executed_command"] == "Direct from `input.command`"
    assert methods["connects_to_host"]


def test_the_literal_pattern_is_there_on_request(tmp_path: Path, log: Log) -> None:
    from factbook.extract.rules import RuleSet

    log.bash("npm install @types/node")
    with Memory(tmp_path / "m.db", redact=False, rules=RuleSet.default(strict=True)) as memory:
        memory.ingest([log.path])
        assert objects(memory, "connects_to_host") == ["types"]  # the seed's own false positive


# --- parsing --------------------------------------------------------------------------------------


def test_content_as_text_and_as_blocks_both_work(memory: Memory, log: Log) -> None:
    log.says("look at /mnt/user/data", "u1")
    log.says([{"type": "text", "text": "and at /var/log/syslog"}], "u2")
    memory.ingest([log.path])
    assert {(one.subject, one.object) for one in facts(memory, "mentions_path")} == {
        ("task_u1", "/mnt/user/data"),
        ("task_u2", "/var/log/syslog"),
    }


def test_a_bad_line_is_skipped_and_counted(memory: Memory, log: Log) -> None:
    log.bash("ls /a", "a1", "t1").raw('{"type": "assistant", "mess').bash("ls /b", "a2", "t2")
    report = memory.ingest([log.path])
    assert objects(memory, "executed_command") == ["ls /a", "ls /b"]
    assert sum(report.lines.rejected.values()) == 1
    (rejected,) = memory.sources.rejections()
    assert rejected.position == 2


def test_user_messages_are_tasks_and_assistant_records_are_actions(
    memory: Memory, log: Log
) -> None:
    log.says("please list it", "u7").replies("I will.", "a7").bash("ls", "a8")
    memory.ingest([log.path])
    subjects = {one.subject: one.kind for one in memory.store.episodes(Filters(), limit=None)}
    assert subjects == {
        "task_u7": EpisodeKind.PROMPT,
        "action_a7": EpisodeKind.REPLY,
        "action_a8": EpisodeKind.TOOL_CALL,
    }
    assert [one.subject for one in facts(memory, "requested_in_session")] == ["task_u7"]
    assert objects(memory, "requested_in_session") == [f"{UUID}0"]


def test_two_calls_of_one_tool_in_one_record_are_one_fact_with_two_pieces_of_evidence(
    memory: Memory, log: Log
) -> None:
    log.calls("a1", ("t1", "Bash", {"command": "ls"}), ("t2", "Bash", {"command": "pwd"}))
    memory.ingest([log.path])
    (used,) = facts(memory, "used_tool")
    assert used.evidence_count == 2
    assert len(memory.explain(used.id).evidence) == 2
    assert objects(memory, "executed_command") == ["ls", "pwd"]


# --- predicates -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("command", "host"),
    [
        ("ssh root@192.168.20.4 'ls -la'", "192.168.20.4"),
        ("ssh -p 2222 -i ~/.ssh/id nas.local uptime", "nas.local"),
        ("scp backup.tgz ann@tower:/mnt/user/backup/", "tower"),
        ("rsync -av ./site/ deploy@web-1.example.org:/srv/www/", "web-1.example.org"),
        ("cd /tmp && sudo mosh ann@box", "box"),
    ],
)
def test_connects_to_host(memory: Memory, log: Log, command: str, host: str) -> None:
    log.bash(command)
    memory.ingest([log.path])
    (fact,) = facts(memory, "connects_to_host")
    assert (fact.object, fact.confidence, fact.subject) == (host, 0.9, "action_a1")


@pytest.mark.parametrize(
    "command",
    [
        "git clone git@github.com:ann/shop.git",
        "npm install @types/node@20",
        "git log --author ann@example.org",
        "echo 'run ssh root@host later'",
        "grep -rn '@app.route' src",
    ],
)
def test_connects_to_host_knows_what_is_no_connection(
    memory: Memory, log: Log, command: str
) -> None:
    log.bash(command)
    memory.ingest([log.path])
    assert facts(memory, "connects_to_host") == []


@pytest.mark.parametrize(
    ("command", "operation"),
    [
        ("unzip photos.zip -d photos", "archive_manipulation"),
        ("tar -xzf backup.tar.gz", "archive_manipulation"),
        ("gzip -9 dump.sql", "archive_manipulation"),
        ("sha256sum -c SHA256SUMS", "verification"),
        ("md5sum -c list.md5", "verification"),
        ("rsync -a --dry-run a/ b/", "verification"),
        ("gzip -t dump.sql.gz", "verification"),
        ("apt-get --check install", "verification"),
        ("pg_restore --verify x", "verification"),
    ],
)
def test_operation_type(memory: Memory, log: Log, command: str, operation: str) -> None:
    log.bash(command)
    memory.ingest([log.path])
    found = facts(memory, "operation_type")
    assert operation in [fact.object for fact in found]
    assert {fact.confidence for fact in found} == {0.8}


def test_mentions_path_in_requests_and_commands(memory: Memory, log: Log) -> None:
    log.says("unpack /mnt/user/data/photos.zip please", "u1").bash("ls /srv/www", "a1")
    memory.ingest([log.path])
    assert {
        (one.subject, one.object, one.confidence) for one in facts(memory, "mentions_path")
    } == {
        ("task_u1", "/mnt/user/data/photos.zip", 0.8),
        ("action_a1", "/srv/www", 0.8),
    }


@pytest.mark.parametrize(
    "text",
    ["sed s/a/b/ it", "see https://example.org/a/b", "3/4 of them", "yes and/or no", "1 / 2"],
)
def test_mentions_path_knows_what_is_no_path(memory: Memory, log: Log, text: str) -> None:
    log.says(text)
    memory.ingest([log.path])
    assert facts(memory, "mentions_path") == []


def test_targets_system(memory: Memory, log: Log) -> None:
    log.says("Back up my Unraid box", "u1").says("observers are served", "u2")
    memory.ingest([log.path])
    found = facts(memory, "targets_system")
    assert [(one.subject, one.object.lower(), one.confidence) for one in found] == [
        ("task_u1", "unraid", 0.7)
    ]


@pytest.mark.parametrize(
    ("predicate", "text", "confidence"),
    [
        (
            "provides_solution",
            "The solution: the timeout is raised to ten seconds, so slow starts no longer fail.",
            0.7,
        ),
        ("identifies_issue", "The upload failed because the disk is full.", 0.7),
        ("discovery", "I found that the cache is never cleared.", 0.6),
    ],
)
def test_snippets(memory: Memory, log: Log, predicate: str, text: str, confidence: float) -> None:
    log.replies(f"Let me look.\n\n{text} Then we go on.", "a1")
    memory.ingest([log.path])
    (fact,) = facts(memory, predicate)
    assert (fact.subject, fact.confidence) == ("action_a1", confidence)
    assert fact.object in text
    assert len(fact.object) <= 240


def test_more_exact_predicates(memory: Memory, log: Log) -> None:
    log.calls(
        "a1",
        ("t1", "Edit", {"file_path": "/s/auth.py", "old_string": "a", "new_string": "b"}),
        ("t2", "Bash", {"command": "ls", "description": "List the files"}),
        ("t3", "WebFetch", {"url": "https://example.org/x", "prompt": "read"}),
        ("t4", "WebSearch", {"query": "sqlite wal"}),
        ("t5", "mcp__linear-server__get_issue", {"id": "X-1"}),
    )
    memory.ingest([log.path])
    found = {(one.predicate, one.object, one.confidence) for one in facts(memory)}
    assert {
        ("modified_file", "/s/auth.py", 1.0),
        ("described_as", "List the files", 1.0),
        ("fetched_url", "https://example.org/x", 1.0),
        ("searched_for", "sqlite wal", 1.0),
        ("used_mcp_server", "linear-server", 1.0),
    } <= found


def test_there_are_at_least_twelve_predicates_and_each_has_its_band(memory: Memory) -> None:
    rules = [one.rule for one in memory.maintenance.rule_uses()]
    assert len({rule.predicate for rule in rules}) >= 12
    assert {rule.confidence for rule in rules} <= {1.0, 0.9, 0.8, 0.7, 0.6}
    seeds = {
        "used_tool": 1.0,
        "executed_command": 1.0,
        "connects_to_host": 0.9,
        "operation_type": 0.8,
        "mentions_path": 0.8,
        "targets_system": 0.7,
        "provides_solution": 0.7,
        "identifies_issue": 0.7,
        "discovery": 0.6,
    }
    assert {rule.predicate: rule.confidence for rule in rules if rule.predicate in seeds} == seeds


# --- tiers ----------------------------------------------------------------------------------------


def test_what_is_never_stored(memory: Memory, log: Log) -> None:
    log.says("   ", "u1").says("", "u2").bash("", "a1", "t1").replies("  \n ", "a2")
    log.bash("ls", "a3", "t3").raw(log.records[-1])  # the same record again: no duplicate
    memory.ingest([log.path])
    counts = Counter((one.predicate, one.object) for one in facts(memory))
    assert counts["executed_command", "ls"] == 1
    assert not [one for one in facts(memory) if not one.object.strip()]
    assert not [one for one in facts(memory) if one.object in ("the", "a", "and")]
    assert not [one for one in facts(memory) if one.subject in ("task_u1", "task_u2")]


def test_session_metadata_has_a_table_of_its_own(memory: Memory, log: Log) -> None:
    log.bash("ls")
    memory.ingest([log.path])
    (row,) = apsw.Connection(str(memory.path)).execute(
        "SELECT session_id, host, project, started_at FROM sessions"
    )
    assert row == (f"{UUID}0", "claude-code", "/home/ann/shop", "2026-11-17T10:00:00.000Z")
    assert "session_id" not in {one.predicate for one in facts(memory)}


# --- storage and queries --------------------------------------------------------------------------


def test_query_facts_as_the_seed_writes_it(memory: Memory, tmp_path: Path) -> None:
    memory.ingest([golden_log(tmp_path)])
    found = memory.query_facts(predicate="connects_to_host", min_confidence=0.8)
    assert [fact.object for fact in found] == ["192.168.20.4"]
    assert memory.query_facts(predicate="connects_to_host", min_confidence=0.95) == []


def test_plain_sql_works(memory: Memory, tmp_path: Path) -> None:
    memory.ingest([golden_log(tmp_path)])
    rows = apsw.Connection(str(memory.path)).execute(
        "SELECT subject, object, confidence FROM facts WHERE predicate = 'connects_to_host'"
    )
    assert list(rows) == [("action_8bbd47e5", "192.168.20.4", 0.9)]


def test_ingesting_again_changes_nothing(memory: Memory, log: Log, tmp_path: Path) -> None:
    log.says("look at /mnt/user/data", "u1").bash("ls /a", "a1")
    memory.ingest([log.path])
    before = list(memory.export())
    report = memory.ingest([log.path])
    assert report.receipt.stored == report.receipt.episodes == 0
    copy = tmp_path / "copy" / log.path.name
    copy.parent.mkdir()
    copy.write_bytes(log.path.read_bytes())
    again = memory.ingest([copy])
    assert again.receipt.stored == again.receipt.episodes == again.receipt.evidence == 0
    assert [one for one in memory.export() if one["record"] in ("fact", "evidence")] == [
        one for one in before if one["record"] in ("fact", "evidence")
    ]


# --- learned --------------------------------------------------------------------------------------


@pytest.mark.parametrize("tool", ["TodoWrite", "AskUserQuestion", "EnterPlanMode", "ExitPlanMode"])
def test_internal_tools_make_no_used_tool(memory: Memory, log: Log, tool: str) -> None:
    log.calls("a1", ("t1", tool, {"todos": []}))
    memory.ingest([log.path])
    assert facts(memory, "used_tool") == []


def test_warmup_is_skipped(memory: Memory, log: Log) -> None:
    log.says("Warmup", "u1")
    memory.ingest([log.path])
    assert facts(memory) == []


def test_noise_is_reported_per_rule(memory: Memory, log: Log) -> None:
    for n in range(8):
        log.says(f"restart the server now, try {n}", f"u{n}")
    memory.ingest([log.path])
    noisy = {
        one.rule.predicate: one.noise
        for one in memory.maintenance.rule_uses(noise=True)
        if one.noise
    }
    assert noisy["targets_system"].facts == 8
    assert "no_such_rule" not in noisy


def test_explain_shows_the_logic_and_the_line(memory: Memory, tmp_path: Path) -> None:
    path = golden_log(tmp_path)
    memory.ingest([path])
    (host,) = memory.query_facts(predicate="connects_to_host")
    told = memory.explain(host.id)
    assert told.rule is not None
    assert told.rule.predicate == "connects_to_host"
    assert told.evidence[0].quote == "192.168.20.4"
    assert (told.evidence[0].source, told.evidence[0].position) == (str(path), 1)
    assert told.originals[0].state == "found"
    assert "root@192.168.20.4" in told.originals[0].text
    assert "'pwd'" not in told.originals[0].text  # redacted on the way
    assert [event.op for event in told.history] == ["store"]


def test_sub_agents_are_marked_and_other_file_names_are_read_too(
    memory: Memory, tmp_path: Path
) -> None:
    agent = Log(tmp_path)
    agent.path = tmp_path / "agent-a52886dc.jsonl"
    agent.raw(
        json.dumps(
            {
                "type": "user",
                "uuid": "s1",
                "isSidechain": True,
                "agentId": "a52886dc",
                "sessionId": f"{UUID}0",
                "message": {"role": "user", "content": "Check /srv/www for timing attacks"},
            }
        )
    )
    memory.ingest([agent.path])
    (episode,) = memory.store.episodes(Filters(), limit=None)
    assert (episode.agent, episode.trust.value) == ("a52886dc", "derived")  # a model wrote it
    (source,) = memory.sources.sessions()
    assert source.source.agent == "a52886dc"


def test_thinking_system_and_snapshots_are_ignored_and_counted(memory: Memory, log: Log) -> None:
    log._record("assistant", "a1", [{"type": "thinking", "thinking": "I found that it failed"}])
    log.raw(json.dumps({"type": "system", "subtype": "turn_duration", "uuid": "x1"}))
    log.raw(json.dumps({"type": "file-history-snapshot", "messageId": "m", "snapshot": {}}))
    report = memory.ingest([log.path])
    assert facts(memory) == []
    assert sum(report.lines.ignored.values()) == report.lines.records == 3


def test_rules_can_be_added_and_keyword_lists_changed(tmp_path: Path, log: Log) -> None:
    from factbook.extract.rules import RuleSet
    from factbook.extract.user_rules import load_user_rules

    table = tmp_path / "rules.toml"
    table.write_text(
        r"""
[keywords]
targets_system = ["toaster"]

[[rule]]
name = "deploys_to"
predicate = "deploys_to"
confidence = 0.8
looks_in = "field command"
pattern = 'fly deploy .*--app (?P<object>\S+)'
subject = "action"
cues = ["deploy"]
""",
        encoding="utf-8",
    )
    log.says("the toaster and the unraid box", "u1").bash("fly deploy --app shop-eu", "a1")
    rules = RuleSet.default(user=load_user_rules(table))
    with Memory(tmp_path / "u.db", redact=False, rules=rules) as memory:
        memory.ingest([log.path])
        assert objects(memory, "deploys_to") == ["shop-eu"]
        assert objects(memory, "targets_system") == ["toaster"]
        assert memory.check() == []


def test_a_file_that_was_read_is_known_by_its_content(memory: Memory, log: Log) -> None:
    log.bash("ls /a", "a1")
    memory.ingest([log.path])
    size = log.path.stat().st_size
    log.records = [log.records[0].replace("ls /a", "ls /b")]
    log.path.write_text(log.records[0] + "\n", encoding="utf-8")  # as long as before
    assert log.path.stat().st_size == size
    report = memory.ingest([log.path])
    assert report.files[0].state == "replaced"
