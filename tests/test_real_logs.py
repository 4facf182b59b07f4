"""Real session logs: no crash, every line accounted for, and the exact gold of the tool calls."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from data import data_dir
from factbook import policy
from factbook.memory import Memory
from factbook.testing import FrozenClock

FOLDER = data_dir()
pytestmark = pytest.mark.skipif(FOLDER is None, reason="the data folder is not here")


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    folder = tmp_path_factory.mktemp("real")
    clock = FrozenClock(1_795_000_000_000)
    with Memory(folder / "m.db", clock=clock, key_file=folder / "key") as opened:
        yield opened


@pytest.fixture(scope="module")
def sessions() -> Path:
    assert FOLDER is not None
    return FOLDER / "sessions"


def of_a_sub_agent(record: Any) -> Any:
    """Return the record of a sub-agent that a record of progress tells of; else itself."""
    data = record.get("data") if isinstance(record, dict) else None
    of_agent = isinstance(data, dict) and data.get("type") == "agent_progress"
    return data.get("message") if of_agent else record


def claude_calls(sessions: Path) -> tuple[set[tuple[str, str]], set[str]]:
    """Count (record uuid, tool) pairs and tool_use ids with nothing but the standard library."""
    pairs: set[tuple[str, str]] = set()
    ids: set[str] = set()
    decoder = json.JSONDecoder()
    for path in sorted(sessions.rglob("*.jsonl")):
        for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
            at = 0
            while at < len(line):
                try:
                    record, at = decoder.raw_decode(line, at)
                except json.JSONDecodeError:
                    break
                record = of_a_sub_agent(record)
                message = record.get("message") if isinstance(record, dict) else None
                if not isinstance(message, dict) or record.get("type") != "assistant":
                    continue
                content = message.get("content")
                for block in content if isinstance(content, list) else ():
                    if isinstance(block, dict) and block.get("type") == "tool_use":
                        if block["name"] in policy.INTERNAL_TOOLS:
                            continue
                        pairs.add((f"action_{record['uuid']}", block["name"]))
                        ids.add(block["id"])
    return pairs, ids


def test_every_line_of_every_file_is_accounted_for(memory: Memory, sessions: Path) -> None:
    report = memory.ingest([sessions])
    assert [file.path for file in report.files if file.state == "failed"] == []
    assert report.lines.total() == report.lines.records + report.lines.ignored.get("blank", 0)
    assert report.lines.waiting == 0
    assert memory.check() == []
    again = memory.ingest([sessions])
    assert again.receipt.episodes == again.receipt.stored == again.receipt.evidence == 0


def test_used_tool_is_exact(memory: Memory, sessions: Path) -> None:
    memory.ingest([sessions])  # the tests may run in any order, and apart
    pairs, ids = claude_calls(sessions)
    facts = memory.query_facts(predicate="used_tool", host="claude-code")
    assert {(fact.subject, fact.object) for fact in facts} == pairs
    assert len(facts) == len(pairs)
    assert sum(fact.evidence_count for fact in facts) == len(ids)
