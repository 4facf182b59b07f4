"""ChatGPT's export: conversations as trees of messages (`conversations.json`).

An edited prompt or a regenerated answer is a branch beside the one before. The branch that ends at
`current_node` is the conversation as the user sees it; the others are left out, and counted.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from factbook.model.facts import Role
from factbook.sources.imports.base import (
    BadMessage,
    ContentParts,
    Conversation,
    Fields,
    ImportedCall,
    Message,
    Result,
    first,
    id_of,
    name_of,
    read_blocks,
    role_of,
)

OTHER_BRANCH: Final = "other_branch"
HIDDEN: Final = "hidden"

_CONTEXT: Final = frozenset({"model_editable_context", "user_editable_context"})
_THOUGHTS: Final = frozenset({"reasoning_recap", "thoughts"})
_EVERYBODY: Final = "all"  # the recipient of what is said rather than sent to a tool


def is_conversation(record: Fields) -> bool:
    """Tell whether a record is a conversation as ChatGPT exports it."""
    mapping = record.get("mapping")
    if not isinstance(mapping, Mapping):
        return False
    if "current_node" in record:
        return True
    node = next(iter(mapping.values()), None)
    return isinstance(node, Mapping) and {"message", "parent", "children"} <= node.keys()


def conversation(record: Fields) -> Conversation:
    """Return a conversation: the current branch in order, then what stands beside it."""
    mapping = record.get("mapping")
    nodes: dict[str, object] = dict(mapping) if isinstance(mapping, Mapping) else {}
    branch = _branch(record, nodes)
    taken = set(branch)
    messages = [_message(nodes[name], beside=False) for name in branch]
    messages += [_message(node, beside=True) for name, node in nodes.items() if name not in taken]
    return Conversation(
        host="chatgpt",
        id=id_of(record, ("conversation_id", "id")),
        messages=[message for message in messages if message is not None],
        title=name_of(record.get("title")),
        at=record.get("create_time"),
    )


def _branch(record: Fields, nodes: dict[str, object]) -> list[str]:
    """Return the names of the nodes from the root to the current one."""
    at = record.get("current_node")
    if not isinstance(at, str) or at not in nodes:
        at = _newest_leaf(nodes)
    names: dict[str, None] = {}  # a dict, for a file may lead in a circle
    while isinstance(at, str) and at in nodes and at not in names:
        names[at] = None
        node = nodes[at]
        at = node.get("parent") if isinstance(node, Mapping) else None
    return list(reversed(names))


def _newest_leaf(nodes: dict[str, object]) -> str:
    """Return the node that was written last among those that nothing follows."""
    parents = {
        node.get("parent")
        for node in nodes.values()
        if isinstance(node, Mapping) and isinstance(node.get("parent"), str)
    }
    newest, newest_at = "", -1.0
    for name, node in nodes.items():
        if name in parents or not isinstance(node, Mapping):
            continue
        message = node.get("message")
        at = message.get("create_time") if isinstance(message, Mapping) else None
        seconds = float(at) if isinstance(at, (int, float)) else 0.0
        if seconds >= newest_at:
            newest, newest_at = name, seconds
    return newest


def _message(node: object, *, beside: bool) -> Message | BadMessage | None:
    """Return the message of a node; the root has none."""
    if not isinstance(node, Mapping):
        return BadMessage(raw=node, detail="a node that is no object")
    record = node.get("message")
    if record is None:
        return None
    if not isinstance(record, Mapping):
        return BadMessage(raw=record, detail="a message that is no object")
    author = record.get("author")
    author = author if isinstance(author, Mapping) else {}
    word = author.get("role")
    role = role_of(word)
    content = record.get("content")
    if not isinstance(content, (Mapping, str)):
        return BadMessage(raw=record, detail="a message without a content")
    if not isinstance(word, str):
        return BadMessage(raw=record, detail="a message without a role")
    said, skip = _said(content, record, role)
    metadata = record.get("metadata")
    metadata = metadata if isinstance(metadata, Mapping) else {}
    if beside:
        skip = OTHER_BRANCH
    elif metadata.get("is_visually_hidden_from_conversation") is True:
        skip = HIDDEN
    text = "\n".join(part for part in (said.text, *_attached(metadata)) if part)
    return Message(
        raw=record,
        role=role,
        role_name=word,
        said=ContentParts(text=text, calls=said.calls, results=said.results),
        id=id_of(record, ("id",)) or id_of(node, ("id",)),
        at=record.get("create_time"),
        # The name of a person is the account's; that of a tool says which one answers.
        name=name_of(author.get("name")) if role is Role.TOOL else "",
        skip=skip,
    )


def _said(content: Fields | str, record: Fields, role: Role | None) -> tuple[ContentParts, str]:
    """Return what a content says, and why it is left out where it is."""
    if isinstance(content, str):
        return ContentParts(text=content), ""
    kind = content.get("content_type")
    kind = kind if isinstance(kind, str) else ""
    if kind in _CONTEXT:
        return ContentParts(), kind
    if kind in _THOUGHTS:
        return ContentParts(), "thoughts"
    if kind == "tether_quote":  # a page or file that was quoted, whoever the record says wrote it
        name = id_of(content, ("title", "domain", "url"))
        text = read_blocks(content.get("text")).text
        return ContentParts(results=(Result(name=name, text=text),)), ""
    text = _words(content)
    recipient = record.get("recipient")
    if role is Role.ASSISTANT and isinstance(recipient, str) and recipient not in ("", _EVERYBODY):
        return ContentParts(calls=(ImportedCall(name=recipient, given=text),)), ""
    return ContentParts(text=text), ""


def _words(content: Fields) -> str:
    parts = content.get("parts")
    if isinstance(parts, list):
        return read_blocks(parts).text
    value = first(content, ("text", "result", "content", "summary"))
    return read_blocks(value).text if isinstance(value, (str, list)) else ""


def _attached(metadata: Fields) -> list[str]:
    """Return a line for each file that was attached; the export holds their names alone."""
    attached = metadata.get("attachments")
    lines: list[str] = []
    for file in attached if isinstance(attached, list) else []:
        kind = file.get("mime_type") if isinstance(file, Mapping) else None
        if isinstance(file, Mapping) and not str(kind).startswith("image/"):
            name = id_of(file, ("name",))
            lines.append(f"[file: {name}]" if name else "[file]")
    return lines
