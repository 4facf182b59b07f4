"""kill -9 in the middle of an ingest: what is left is clean, and a finished run is the same."""

from __future__ import annotations

import json
import random
import time
from pathlib import Path

import apsw
import pytest

import forked
from conftest import Cli
from factbook.memory import Memory
from factbook.store.sqlite import SQLiteStore

_FACTS = """
SELECT f.owner, f.subject, f.predicate, f.object, f.statement, f.confidence, f.trust,
       f.evidence_count, f.occurred_at, f.status, e.uid, r.name, v.start_char, v.end_char,
       v.quote_chars
FROM evidence_row v JOIN fact_row f ON f.id = v.fact_id JOIN episode_row e ON e.id = v.episode_id
JOIN rule_row r ON r.id = v.rule_id ORDER BY 1, 2, 3, 4, 11"""


def write_logs(folder: Path, *, files: int, records: int) -> None:
    """Write session logs of commands, results and prompts, the same every time."""
    rng = random.Random(7)
    folder.mkdir()
    for number in range(files):
        session = f"{number:08x}-0000-4000-8000-000000000000"
        lines = []
        for n in range(records):
            uuid = f"{number:08x}-{n:04x}-4000-8000-111111111111"
            base = {
                "uuid": uuid,
                "sessionId": session,
                "timestamp": f"2026-11-{number % 20 + 1:02d}T10:{n // 60 % 60:02d}:00.000Z",
                "cwd": "/home/ann/shop",
                "gitBranch": "main",
            }
            call = f"toolu_{number}_{n // 3}"
            if n % 3 == 0:
                command = rng.choice(
                    ["ssh root@nas-{0} ls /mnt/user", "tar -xzf /srv/backup-{0}.tgz", "ls /tmp/{0}"]
                ).format(rng.randrange(50))
                content: object = [
                    {"type": "tool_use", "id": call, "name": "Bash", "input": {"command": command}}
                ]
                lines.append({**base, "type": "assistant", "message": {"content": content}})
            elif n % 3 == 1:
                text = "\n".join(f"line {i} of {rng.random()}" for i in range(60))
                content = [{"type": "tool_result", "tool_use_id": call, "content": text}]
                lines.append({**base, "type": "user", "message": {"content": content}})
            else:
                text = f"please look at /var/log/app-{rng.randrange(99)}.log on the server"
                lines.append({**base, "type": "user", "message": {"content": text}})
        body = "\n".join(json.dumps(line) for line in lines) + "\n"
        (folder / f"{session}.jsonl").write_text(body, encoding="utf-8")


def facts(path: Path) -> list[tuple[object, ...]]:
    """Return every fact with every piece of its evidence, without the store's own numbers."""
    return list(apsw.Connection(str(path)).execute(_FACTS))


def start(logs: Path, db: Path, home: Path) -> forked.Child:
    return forked.start(
        ["--db", str(db), "ingest", "--no-embed", str(logs)], env=Cli(home=home).environment()
    )


def kill_many(tmp_path: Path, *, times: int, files: int, records: int) -> None:
    logs = tmp_path / "logs"
    write_logs(logs, files=files, records=records)
    whole = tmp_path / "whole.db"
    process = start(logs, whole, tmp_path)
    began = time.monotonic()
    assert process.ends_within(120)
    duration = time.monotonic() - began
    expected = facts(whole)
    assert expected

    rng = random.Random(11)
    db, interrupted, finished = tmp_path / "killed.db", 0, 0
    for _ in range(times):
        interrupted += not start(logs, db, tmp_path).ends_within(rng.uniform(0.0, duration))
        if not db.exists() or db.stat().st_size == 0:
            continue  # killed before there was anything to audit
        store = SQLiteStore(db)
        assert store.check() == []
        store.close()
        if facts(db) == expected:
            finished += 1
            for leftover in tmp_path.glob("killed.db*"):
                leftover.unlink()
    assert interrupted > times // 3  # else the moments were no test
    if not db.exists() or facts(db) != expected:
        assert start(logs, db, tmp_path).ends_within(120)
    assert facts(db) == expected
    with Memory(db) as memory:
        assert memory.check() == []


def test_a_killed_ingest_leaves_a_clean_file(tmp_path: Path) -> None:
    kill_many(tmp_path, times=6, files=6, records=600)


@pytest.mark.slow
def test_two_hundred_kills_at_random_moments(tmp_path: Path) -> None:
    kill_many(tmp_path, times=200, files=12, records=1500)
