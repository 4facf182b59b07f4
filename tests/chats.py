"""Small chats for the tests of their readers, and short ways to read them."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

from factbook import policy
from factbook.model.facts import ME, Cursor, Episode, LineCount
from factbook.redaction import NO_REDACTION
from factbook.redaction.base import Redacting
from factbook.sources import conversation, notes
from factbook.sources.base import Batch
from factbook.sources.files import CONVERSATION, SourceFile
from session_logs import EXAMPLES, NOW, account, lines_of

CHATS = EXAMPLES / "chats"
SESSION = "7d0e2b11-0000-4000-8000-00000000c4a7"


def turn(role: str, content: object, **more: object) -> dict[str, object]:
    """Return one message of a chat log."""
    return {"role": role, "content": content, **more}


def uuid(number: int, kind: int = 1) -> str:
    """Return an id as the exports have them."""
    return f"00000000-000{kind}-4000-8000-{number:012d}"


def node(
    number: int,
    parent: int | None,
    role: str = "",
    content: object = "",
    *,
    at: float | None = None,
    **more: object,
) -> dict[str, object]:
    """Return a node of ChatGPT's tree; one without a role has no message."""
    name = more.pop("name", None)
    if isinstance(content, str):
        content = {"content_type": "text", "parts": [content]}
    message = {
        "id": uuid(number),
        "author": {"role": role, "name": name, "metadata": {}},
        "create_time": at,
        "content": content,
        "recipient": "all",
        "metadata": {},
        **more,
    }
    return {
        "id": uuid(number),
        "message": message if role else None,
        "parent": None if parent is None else uuid(parent),
        "children": [],
    }


def chatgpt(
    *nodes: dict[str, object], current: int | None = None, **more: object
) -> dict[str, object]:
    """Return a conversation as ChatGPT exports it."""
    found: dict[str, object] = {
        "title": "A talk",
        "create_time": 1_795_000_000.0,
        "mapping": {str(one["id"]): one for one in nodes},
        "conversation_id": uuid(1, 2),
        **more,
    }
    if current is not None:
        found["current_node"] = uuid(current)
    return found


def claude_ai(*messages: object, number: int = 1, **more: object) -> dict[str, object]:
    """Return a conversation as Claude.ai exports it."""
    return {
        "uuid": uuid(number, 3),
        "name": "A talk",
        "created_at": "2026-11-05T09:00:00.000000Z",
        "chat_messages": list(messages),
        **more,
    }


def said(number: int, sender: str, text: str, **more: object) -> dict[str, object]:
    """Return a message of Claude.ai."""
    return {
        "uuid": uuid(number, 4),
        "sender": sender,
        "text": text,
        "content": [{"type": "text", "text": text}],
        "created_at": f"2026-11-05T09:{number:02d}:00.000000Z",
        **more,
    }


def write_lines(path: Path, *records: object) -> Path:
    """Write one record per line."""
    path.write_bytes(lines_of(*records))
    return path


def write_json(path: Path, value: object) -> Path:
    """Write one document."""
    path.write_text(json.dumps(value), encoding="utf-8")
    return path


def write_zip(path: Path, files: dict[str, bytes]) -> Path:
    """Write an archive as exports are delivered."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return path


def batches(
    path: Path,
    *,
    host: str = "chat",
    kind: str = CONVERSATION,
    owner: str = ME,
    cursor: Cursor | None = None,
    redactor: Redacting = NO_REDACTION,
    batch_bytes: int = policy.BATCH_BYTES,
) -> list[Batch]:
    """Read a file from a cursor."""
    file = SourceFile(path=path, host=host, kind=kind, owner=owner)
    if kind != CONVERSATION:
        return list(notes.read(file, cursor=cursor, redactor=redactor, now=NOW))
    return list(
        conversation.read(file, cursor=cursor, redactor=redactor, now=NOW, batch_bytes=batch_bytes)
    )


def read(path: Path, **options: object) -> tuple[list[Episode], LineCount]:
    """Return all episodes of a file and the account of its records, held to its own sum."""
    found = batches(path, **options)  # type: ignore[arg-type]
    return [one for batch in found for one in batch.episodes], account(found)


def texts(path: Path, **options: object) -> list[str]:
    """Return the texts of all episodes of a file."""
    return [one.text for one in read(path, **options)[0]]
