"""Small things done to the texts and values of a log: dates, bounds, blocks in brackets."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Final

from factbook.model.facts import Millis

MAX_ID_CHARS: Final = 200  # ids are shorter; what is longer is not an id
MAX_KIND_CHARS: Final = 60  # names of record types in the account of lines

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_SECONDS_BELOW: Final = 1e11  # a smaller number counts seconds (until the year 5138), not ms
_LABEL: Final = "[REDACTED:"
_LABEL_CHARS: Final = 120  # more than the longest label
_TAG_ENDS: Final = frozenset({">", " ", "\n", "\t"})
_TAG_CHARS: Final = 2_000  # an opening tag with its attributes is shorter
_ANSI: Final = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\-_])")


def millis(value: object) -> Millis | None:
    """Return a time of a log in milliseconds since 1970, or None where it gives no usable one.

    Takes ISO 8601 (without an offset it is UTC) and numbers (seconds or milliseconds).
    """
    if isinstance(value, str):
        try:
            moment = datetime.fromisoformat(value)
            if moment.tzinfo is None:
                moment = moment.replace(tzinfo=UTC)
            since = moment - _EPOCH
        except (ValueError, OverflowError):
            return None
        if since.days < 0:
            return None
        return (since.days * 86_400 + since.seconds) * 1000 + round(since.microseconds / 1000)
    if isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value < 1e14:
        return round(value * 1000) if value < _SECONDS_BELOW else round(value)
    return None


def ident(value: object) -> str:
    """Return an id of a log as text, or an empty string where it is none."""
    if type(value) is str:
        if len(value) > MAX_ID_CHARS or "\x00" in value:
            return value.replace("\x00", "\ufffd")[:MAX_ID_CHARS]
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)[:MAX_ID_CHARS]
    return ""


def kind_name(value: object) -> str:
    """Return how a record type that nobody knows is written in the account of lines."""
    if not isinstance(value, str):
        return "(no type)" if value is None else "(type is not a text)"
    name = " ".join(value.split())
    return name[:MAX_KIND_CHARS] if name else "(no type)"


def plain(text: str) -> str:
    """Return terminal output without its colours and cursor movements."""
    return _ANSI.sub("", text) if "\x1b" in text else text


def storable(text: str) -> str:
    """Return a text without NUL characters, which end strings in too many places."""
    return text.replace("\x00", "\ufffd") if "\x00" in text else text


def cut_before(text: str, at: int) -> int:
    """Return the last place at or before `at` that does not cut a redaction label in two."""
    if at >= len(text):
        return len(text)
    start = text.rfind(_LABEL, max(0, at - _LABEL_CHARS), at + len(_LABEL) - 1)
    if start >= 0 and start < at and "]" not in text[start:at]:
        return start
    return at


def cut_after(text: str, at: int) -> int:
    """Return the first place at or after `at` that does not cut a redaction label in two."""
    start = text.rfind(_LABEL, max(0, at - _LABEL_CHARS), at + len(_LABEL) - 1)
    if start >= 0 and start < at:
        end = text.find("]", start, start + _LABEL_CHARS)
        if end >= at:
            return end + 1
    return at


def clip(text: str, limit: int) -> tuple[str, int]:
    """Return the first characters of a redacted text and how many were left out."""
    if len(text) <= limit:
        return text, 0
    end = cut_before(text, limit)
    return text[:end], len(text) - end


def abridge(text: str, limit: int) -> tuple[str, int]:
    """Return the first and the last part of a redacted text, and how many characters were left out.

    What people paste stands between what they say about it, so both ends are kept.
    """
    if len(text) <= limit:
        return text, 0
    head = cut_before(text, limit * 3 // 4)
    tail = cut_after(text, len(text) - limit // 4)
    cut = tail - head
    return f"{text[:head]}\n[... {cut:,} characters cut ...]\n{text[tail:]}", cut


def without(text: str, tag: str) -> str:
    """Return a text without its `<tag ...>...</tag>` blocks; one that is never closed stays."""
    parts, at = [], 0
    for start, _, end in _closed(text, tag):
        parts.append(text[at:start])
        at = end + len(f"</{tag}>")
    return "".join([*parts, text[at:]])


def block(text: str, tag: str) -> str | None:
    """Return what stands in the first `<tag ...>...</tag>` of a text, or None without one."""
    start = _opening(text, tag, 0)
    if start < 0:
        return None
    begin = text.find(">", start) + 1
    end = text.find(f"</{tag}>", begin)
    return text[begin:] if end < 0 else text[begin:end]


def blocks(text: str, tag: str) -> list[tuple[str, str]]:
    """Return (opening tag, content) of every closed `<tag ...>...</tag>` of a text."""
    return [(text[start:begin], text[begin:end]) for start, begin, end in _closed(text, tag)]


def _closed(text: str, tag: str) -> Iterator[tuple[int, int, int]]:
    """Yield where each closed block, its content and its closing tag begin.

    Searching by hand instead of by a regular expression keeps this linear however many tags are
    left open.
    """
    start, closing = _opening(text, tag, 0), f"</{tag}>"
    while start >= 0:
        begin = text.find(">", start) + 1
        end = text.find(closing, begin)
        if end < 0:
            return
        yield start, begin, end
        start = _opening(text, tag, end + len(closing))


def _opening(text: str, tag: str, at: int) -> int:
    """Return where the next opening tag of that name starts, or -1."""
    needle = f"<{tag}"
    start = text.find(needle, at)
    while start >= 0:
        after = start + len(needle)
        if text[after : after + 1] in _TAG_ENDS and text.find(">", after, after + _TAG_CHARS) >= 0:
            return start
        start = text.find(needle, after)
    return -1
