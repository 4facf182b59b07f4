"""1 sources: the shapes in which chats are written down, read as conversations and messages.

Knows what a record of a chat, a ChatGPT export or a Claude.ai export looks like. Does not know
files, redaction or episodes: `conversation` makes those of what is read here.

`conversation_of` reads a record that holds a whole conversation, `chat.message` one that is a
single message; `host_of` says who writes records of that shape.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from factbook.sources.files import CHAT
from factbook.sources.imports import chat, chatgpt, claude_ai
from factbook.sources.imports.base import BadMessage, Conversation, Message

__all__ = [
    "CHAT",
    "CHATGPT",
    "CLAUDE_AI",
    "EXPORTS",
    "BadMessage",
    "Conversation",
    "Message",
    "conversation_of",
    "host_of",
]

CHATGPT: Final = "chatgpt"
CLAUDE_AI: Final = "claude-ai"
EXPORTS: Final = frozenset({CHATGPT, CLAUDE_AI})


_SHAPES: Final = (
    (CHATGPT, chatgpt.is_conversation, chatgpt.conversation),
    (CLAUDE_AI, claude_ai.is_conversation, claude_ai.conversation),
    (CHAT, chat.is_conversation, chat.conversation),
)


def host_of(record: object) -> str:
    """Return who writes records of this shape, or an empty string where it is no chat."""
    if not isinstance(record, Mapping):
        return ""
    hosts = (host for host, is_one, _ in _SHAPES if is_one(record))
    return next(hosts, CHAT if chat.is_message(record) else "")


def conversation_of(record: Mapping[str, object]) -> Conversation | None:
    """Return the conversation that a record holds, or None where it holds none."""
    return next((read(record) for _, is_one, read in _SHAPES if is_one(record)), None)
