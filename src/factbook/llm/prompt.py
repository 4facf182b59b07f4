"""What every prompt needs: text as data that cannot end its quotes, and how much fits a window."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Final

from factbook.llm.base import Message

MESSAGE_TOKENS: Final = 8  # ours: what a chat template puts around one message

_LETTERS: Final = re.compile(r"[A-Za-z ]+")
# What a reader does not see or takes for the end of a line: controls, marks of direction, joiners,
# tags, the byte order mark, and halves of characters.
_UNSEEN: Final = re.compile(
    "[\x7f-\x9f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ud800-\udfff\ufeff"
    "\ufff9-\ufffb\U000e0000-\U000e007f]"
)


def quoted(text: str) -> str:
    r"""Return a text as one JSON string on one line, which nothing inside it can end.

    Invisible characters are escaped, and `</` is written `<\/`, so that no text can close the
    element that it stands in; a JSON reader finds the very same text again.
    """
    escaped = json.dumps(text, ensure_ascii=False).replace("</", "<\\/")
    return _UNSEEN.sub(_as_escape, escaped)


def _as_escape(match: re.Match[str]) -> str:
    return json.dumps(match[0])[1:-1]


def estimate_tokens(text: str) -> int:
    """Return how many tokens a text has at most, for the vocabularies in use.

    Two letters or blanks make a token (English has four to one), every other character of ASCII is
    one, because many vocabularies take digits and signs apart, and beyond ASCII every byte is one.
    It is meant to be too high: an endpoint that cuts a prompt that is too long does so silently.
    """
    rest = _LETTERS.sub("", text)
    letters = len(text) - len(rest)
    return (letters + 1) // 2 + len(rest.encode("utf-8", "surrogatepass"))


def message_tokens(messages: Sequence[Message]) -> int:
    """Return how many tokens messages have at most, with what a chat template adds."""
    return sum(MESSAGE_TOKENS + estimate_tokens(message.content) for message in messages)
