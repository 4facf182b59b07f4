"""Small logs for the tests of the readers, and short ways to read them."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import orjson

from factbook import policy
from factbook.model.facts import Cursor, Episode, EpisodeKind, LineCount, RejectedLine
from factbook.redaction import NO_REDACTION
from factbook.redaction.base import Redacting
from factbook.sources.base import Batch
from factbook.sources.session_log import LogFile, read

NOW = 1_795_219_200_000  # 2026-11-21
SESSION = "3f0c4b1e-0000-4000-8000-000000000001"
CLAUDE = "claude-code"
CODEX = "codex"
GEMINI = "gemini-cli"
EXAMPLES = Path(__file__).parents[1] / "examples"


def claude(kind: str, content: object, uuid: str = "u1", **more: object) -> dict[str, object]:
    """Return one record of Claude Code."""
    return {
        "parentUuid": None,
        "isSidechain": False,
        "cwd": "/home/ann/shop",
        "sessionId": SESSION,
        "type": kind,
        "message": {"role": kind, "content": content},
        "uuid": uuid,
        "timestamp": "2026-11-17T14:03:00.000Z",
        **more,
    }


def tool_use(name: str, given: object, call_id: str = "toolu_1") -> dict[str, object]:
    """Return the block of a tool call."""
    return {"type": "tool_use", "id": call_id, "name": name, "input": given}


def tool_result(content: object, call_id: str = "toolu_1", **more: object) -> dict[str, object]:
    """Return the block of a tool result."""
    return {"type": "tool_result", "tool_use_id": call_id, "content": content, **more}


def told_of(agent: str, inner: dict[str, object], uuid: str, **more: object) -> dict[str, object]:
    """Return a record of a sub-agent as the log of its caller tells of it, as progress."""
    names = ("type", "message", "uuid", "timestamp", "toolUseResult")
    message = {name: inner[name] for name in names if name in inner}
    data = {"type": "agent_progress", "prompt": "", "agentId": agent, "message": message}
    return {**claude("progress", "", uuid, **more), "message": None, "data": data}


def codex(kind: str, **payload: object) -> dict[str, object]:
    """Return one record of Codex."""
    return {"timestamp": "2026-11-17T14:03:00.000Z", "type": kind, "payload": payload}


def lines_of(*records: object) -> bytes:
    """Return records as lines; bytes stand as they are."""
    return b"".join(
        one if isinstance(one, bytes) else json.dumps(one).encode() + b"\n" for one in records
    )


def write(path: Path, *records: object) -> Path:
    """Write records as a log."""
    path.write_bytes(lines_of(*records))
    return path


def batches(
    path: Path,
    host: str = CLAUDE,
    *,
    cursor: Cursor | None = None,
    redactor: Redacting = NO_REDACTION,
    batch_bytes: int = policy.BATCH_BYTES,
) -> list[Batch]:
    """Read a log from a cursor."""
    log = LogFile(path=path, host=host)
    return list(read(log, cursor=cursor, redactor=redactor, now=NOW, batch_bytes=batch_bytes))


def episodes(path: Path, host: str = CLAUDE, **options: object) -> list[Episode]:
    """Return all episodes of a log."""
    return [one for batch in batches(path, host, **options) for one in batch.episodes]  # type: ignore[arg-type]


def account(all_batches: list[Batch]) -> LineCount:
    """Return the account of all batches, each held to its own sum."""
    total = LineCount()
    for batch in all_batches:
        blank = batch.lines.ignored.get("blank", 0)
        assert batch.lines.total() == batch.lines.records + blank + batch.lines.waiting
        total.add(batch.lines)
    return total


def rejected(all_batches: list[Batch]) -> list[RejectedLine]:
    """Return all lines that were refused."""
    return [one for batch in all_batches for one in batch.rejected]


def kept(cursor: Cursor) -> Cursor:
    """Return a cursor as a store gives it back: its state has been JSON."""
    return dataclasses.replace(cursor, state=orjson.loads(orjson.dumps(cursor.state)))


def of_kind(found: list[Episode], kind: EpisodeKind) -> list[Episode]:
    """Return the episodes of one kind."""
    return [one for one in found if one.kind is kind]


def one_of(found: list[Episode], kind: EpisodeKind) -> Episode:
    """Return the only episode of one kind."""
    matching = of_kind(found, kind)
    assert len(matching) == 1, [(one.kind, one.text[:60]) for one in found]
    return matching[0]
