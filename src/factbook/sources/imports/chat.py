"""Chats in the common forms: one message per record, or a record with the messages in a list.

The first is what most programs log (`role` and `content`); the second is OpenAI's form for chats
(`{"messages": [...]}`) and ShareGPT's (`{"conversations": [{"from": ..., "value": ...}]}`).
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
    first,
    id_of,
    name_of,
    read_blocks,
    role_of,
)

_ROLE: Final = ("role", "speaker", "sender", "from", "author")
_CONTENT: Final = ("content", "text", "value", "message", "body", "parts")
_ID: Final = ("id", "uuid", "message_id", "messageId", "turn_id", "uid")
_TIMES: Final = """
timestamp time created_at createdAt create_time occurred_at datetime date created ts
"""
_TIME: Final = tuple(_TIMES.split())
_SESSIONS: Final = """
session_id sessionId session conversation_id conversationId thread_id threadId chat_id chatId
"""
_SESSION: Final = tuple(_SESSIONS.split())
_OWN_SESSION: Final = (*_SESSION, "id", "uuid")  # of a record that is a conversation
_OWNER: Final = ("owner", "owner_id", "user_id", "user")
_TITLE: Final = ("title", "name")
_LISTS: Final = ("messages", "conversations", "conversation", "turns", "dialog", "dialogue")
_LOOKED_AT: Final = 20  # messages of a list that are looked at to know it for a conversation

_EMPTY: Final = ContentParts()


def is_message(record: Fields) -> bool:
    """Tell whether a record is one message: it has a role and a place for what is said."""
    if not any(name in record for name in _CONTENT) and not _has_calls(record):
        return False
    # A `speaker` may be anybody; a sender or author alone is also a mail or a book.
    return role_of(_role_word(record)) is not None or bool(name_of(record.get("speaker")))


def is_part(record: Fields) -> bool:
    """Tell whether a record has any part of a message, so that what it lacks can be named."""
    return any(name in record for name in (*_ROLE, *_CONTENT))


def is_conversation(record: Fields) -> bool:
    """Tell whether a record holds messages in a list."""
    return _messages(record) is not None


def conversation(record: Fields) -> Conversation:
    """Return the conversation that a record holds."""
    return Conversation(
        host="chat",
        id=id_of(record, _OWN_SESSION),
        messages=[message(item) for item in _messages(record) or ()],
        title=name_of(first(record, _TITLE)),
        at=first(record, _TIME),
        owner=id_of(record, _OWNER),
    )


def message(record: object) -> Message | BadMessage:
    """Return one message."""
    if not isinstance(record, Mapping):
        return BadMessage(raw=record, detail="a message that is no object")
    word = _role_word(record)
    role = role_of(word)
    name = name_of(record.get("name"))
    if role is None and "role" not in record:
        # Not a role but a name: in a dialog of people each of them speaks for themselves.
        speaker = name_of(word)
        if not speaker:
            return BadMessage(raw=record, detail="a message without a role")
        role, name = Role.USER, name or speaker
    elif role is not None and "role" in record and not name:
        name = _person(record)
    content = first(record, _CONTENT)
    said = read_blocks(content) if isinstance(content, (str, list, Mapping)) else _EMPTY
    calls = (*said.calls, *_calls(record))
    if content is None and not calls and not any(key in record for key in _CONTENT):
        return BadMessage(raw=record, detail="a message without a content")
    if word in ("function_call", "tool_call") and said.text and not calls:
        calls, said = (ImportedCall(name=name, given=said.text),), _EMPTY
    return Message(
        raw=record,
        role=role,
        role_name=word if isinstance(word, str) else "",
        said=ContentParts(text=said.text, calls=calls, results=said.results),
        id=id_of(record, _ID),
        at=first(record, _TIME),
        name=name,
        call_id=id_of(record, ("tool_call_id",)),
        session=id_of(record, _SESSION),
        owner=id_of(record, _OWNER),
    )


def _role_word(record: Fields) -> object:
    """Return what a record says of who speaks; of an author object its role."""
    word = first(record, _ROLE)
    return first(word, ("role", "name")) if isinstance(word, Mapping) else word


def _person(record: Fields) -> str:
    """Return who speaks where a record has a role and a name beside it."""
    for key in _ROLE[1:]:
        value = record.get(key)
        if isinstance(value, str) and role_of(value) is None:
            return name_of(value)
    return ""


def _messages(record: Fields) -> list[object] | None:
    for name in _LISTS:
        value = record.get(name)
        if isinstance(value, list) and value:
            beginning = value[:_LOOKED_AT]
            if any(isinstance(item, Mapping) and is_message(item) for item in beginning):
                return value
    return None


def _has_calls(record: Fields) -> bool:
    calls, single = record.get("tool_calls"), record.get("function_call")
    return isinstance(calls, list) or isinstance(single, Mapping)


def _calls(record: Fields) -> tuple[ImportedCall, ...]:
    """Return the tool calls that stand beside the content."""
    imported_calls: list[ImportedCall] = []
    beside = record.get("tool_calls")
    for call in beside if isinstance(beside, list) else []:
        if isinstance(call, Mapping):
            function = call.get("function")
            inner = function if isinstance(function, Mapping) else call
            imported_calls.append(
                ImportedCall(
                    name=name_of(inner.get("name")),
                    given=first(inner, ("arguments", "input")),
                    id=id_of(call, ("id",)),
                )
            )
    single = record.get("function_call")
    if isinstance(single, Mapping):
        name = name_of(single.get("name"))
        imported_calls.append(ImportedCall(name=name, given=single.get("arguments")))
    return tuple(imported_calls)
