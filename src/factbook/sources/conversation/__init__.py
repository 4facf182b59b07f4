"""1 sources: conversations: turns as they happen, logs of chats, exports of ChatGPT and Claude.ai.

Knows who says a turn and how far each is believed, what identifies a turn, how files of chats are
read (also inside the archives that they are delivered in) and how every record of them is
accounted for. Does not know facts, rules or the store.

`turn_ops` keeps one turn; `read` gives what a file says beyond a cursor; `recognise` tells whether
a file is one.
"""

from __future__ import annotations

from factbook.sources.conversation.reader import message_at, read, recognise
from factbook.sources.conversation.turn import turn_ops

__all__ = ["message_at", "read", "recognise", "turn_ops"]
