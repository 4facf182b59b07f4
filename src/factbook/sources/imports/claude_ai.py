"""Claude.ai's export: conversations with their messages in a list (`conversations.json`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from factbook.sources.imports.base import (
    BadMessage,
    ContentParts,
    Conversation,
    Fields,
    Message,
    Result,
    first,
    id_of,
    name_of,
    read_blocks,
    role_of,
)

OTHER_BRANCH: Final = "other_branch"
_PARENT: Final = "parent_message_uuid"


def is_conversation(record: Fields) -> bool:
    """Tell whether a record is a conversation as Claude.ai exports it."""
    return isinstance(record.get("chat_messages"), list)


def conversation(record: Fields) -> Conversation:
    """Return a conversation: its messages in order, with those of other branches left out."""
    listed = record.get("chat_messages")
    records = listed if isinstance(listed, list) else []
    beside = _beside(records, record.get("current_leaf_message_uuid"))
    return Conversation(
        host="claude-ai",
        id=id_of(record, ("uuid", "id")),
        messages=[_message(item, beside=number in beside) for number, item in enumerate(records)],
        title=name_of(record.get("name")),
        at=record.get("created_at"),
    )


def _message(record: object, *, beside: bool) -> Message | BadMessage:
    if not isinstance(record, Mapping):
        return BadMessage(raw=record, detail="a message that is no object")
    word = first(record, ("sender", "role"))
    if not isinstance(word, str):
        return BadMessage(raw=record, detail="a message without a sender")
    content, plain = record.get("content"), record.get("text")
    if not isinstance(content, (list, str)) and not isinstance(plain, str):
        return BadMessage(raw=record, detail="a message without a content")
    said = read_blocks(content)
    # The blocks are the message; `text` says of some of them only that they cannot be shown.
    text = said.text if said.text or said.calls or said.results else read_blocks(plain).text
    marks, attached = _attached(record)
    return Message(
        raw=record,
        role=role_of(word),
        role_name=word,
        said=ContentParts(
            text="\n".join(part for part in (text, *marks) if part),
            calls=said.calls,
            results=(*said.results, *attached),
        ),
        id=id_of(record, ("uuid", "id")),
        at=first(record, ("created_at", "updated_at")),
        skip=OTHER_BRANCH if beside else "",
    )


def _attached(record: Fields) -> tuple[list[str], list[Result]]:
    """Return a line for each file that came with a message, and the texts that were read of it."""
    marks: dict[str, None] = {}
    texts: list[Result] = []
    for key in ("attachments", "files", "files_v2"):
        listed = record.get(key)
        for file in listed if isinstance(listed, list) else []:
            if not isinstance(file, Mapping):
                continue
            name = id_of(file, ("file_name", "name"))
            text = file.get("extracted_content")
            if isinstance(text, str) and text.strip():
                texts.append(Result(name=name, text=text, kind="attachment"))
            marks[f"[file: {name}]" if name else "[file]"] = None
    return list(marks), texts


def _beside(records: Sequence[object], leaf: object) -> set[int]:
    """Return the numbers of the messages that stand on other branches than the current one.

    Only what hangs on the branch at another place than its end is beside it: a message whose
    parent is not in the export is kept.
    """
    parents: dict[str, str] = {}
    numbers: dict[str, int] = {}
    for number, item in enumerate(records):
        name = id_of(item, ("uuid", "id")) if isinstance(item, Mapping) else ""
        if name and isinstance(item, Mapping):
            parents[name] = id_of(item, (_PARENT,))
            numbers[name] = number
    if not any(parents.values()):
        return set()
    last = next(reversed(parents))
    at = leaf if isinstance(leaf, str) and leaf in parents else last
    branch: set[str] = set()
    while at in parents and at not in branch:
        branch.add(at)
        at = parents[at]
    starts = {parents[name] for name in branch if parents[name]}
    beside: dict[str, bool] = dict.fromkeys(branch, False)
    for name in parents:
        way: dict[str, None] = {}
        step = name
        while step not in beside and step in parents and step not in way:
            way[step] = None
            if parents[step] in starts:
                break
            step = parents[step]
        hangs = beside.get(step, step in parents and step not in branch and parents[step] in starts)
        beside.update(dict.fromkeys(way, hangs))
    return {numbers[name] for name, off in beside.items() if off}
