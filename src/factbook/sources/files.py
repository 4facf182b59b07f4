"""Name a file to read together with what the file itself does not say of it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from factbook.sources.session_log.parser import LogFile, source_key

SESSION_LOG: Final = "session_log"
CONVERSATION: Final = "conversation"
NOTE: Final = "note"
SUMMARY: Final = "summary"
KINDS: Final = (SESSION_LOG, CONVERSATION, NOTE, SUMMARY)
"""What a person may say that a file is, where they know better than its content tells."""

CHAT: Final = "chat"
"""The host of a log of messages, in one of the common forms."""

NOTE_SUFFIXES: Final = (".md", ".markdown", ".mdown", ".txt", ".text")  # what people call notes
ARCHIVES: Final = (".zip", ".dms")  # what exports are delivered in; browsers rename some
ZIP: Final = b"PK\x03\x04"  # how an archive begins

_COMMENTS: Final = re.compile(rb"\A(?:(?:#|//)[^\n]*\n\s*)+")  # before the first record
_CHAT_KEY: Final = re.compile(
    rb'"(?:(?:role|speaker|sender|from|author|mapping|chat_messages|messages|turns)"'
    rb"|conversation|dialog)"
)  # one of these keys stands at the beginning of every chat


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceFile(LogFile):
    """A file that is no log of an agent: a chat, an export, notes or a summary."""

    kind: str = CONVERSATION  # one of KINDS


def file_key(file: LogFile) -> str:
    """Return the key that identifies a file for ever; as notes it is another source."""
    if isinstance(file, SourceFile) and file.kind in (NOTE, SUMMARY):
        return source_key(file, kind=file.kind)
    return source_key(file)


def may_be_chat(head: bytes) -> bool:
    """Tell by the beginning of a file whether it is worth asking if it is a chat."""
    if head.startswith(ZIP):
        return True
    bare = _COMMENTS.sub(b"", head.lstrip(b"\xef\xbb\xbf \t\r\n"))
    return bare.startswith((b"{", b"[")) and _CHAT_KEY.search(head) is not None
