"""Read from the result of a tool call how it failed.

Knows: how failures look in the output of tools. Does not know what the call was.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from factbook import policy
from factbook.extract.base import Found, Rule, shorten
from factbook.model import Episode

__all__ = ["exit_code", "first_error"]

_ANSI: Final = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_EXIT: Final = re.compile(r"\bexit(?:ed)?(?: with)?(?: status)?(?: code)?:?\s*(-?\d{1,10})\b", re.I)
_EXIT_LINE: Final = re.compile(
    r"(?:Error:\s*)?(?:Process |Command )?exit(?:ed)?(?: with)?(?: status)?(?: code)?:?\s*-?\d+\.?", re.I
)
_TAGS: Final = re.compile(r"</?(?:tool_use_error|error|stderr|stdout|output)>")
_WORTHLESS: Final = re.compile(
    r"(?:Traceback \(most recent call last\):|During handling of the above exception.*|File \".*"
    r"|(?:std(?:out|err)|output)\s*:?|[-=~*_.^#\s]+|\[.{0,30}cut.{0,30}\]|>\s.*|\$\s.*|at\s.*"
    r"|wall time.*|chunk id.*|original token count.*)",
    re.IGNORECASE,
)
_ERROR: Final = re.compile(
    r"\berr(?:or)?s?\b|\w(?:Error|Exception)\b|\bfail(?:ed|ure|s)?\b|\bfatal\b|\bpanic\w*|\bdenied\b"
    r"|\bnot found\b|\bno such\b|\bcannot\b|\bcan't\b|\bcould not\b|\bcouldn't\b|\bunable to\b"
    r"|\binvalid\b|\bmissing\b|\btimed out\b|\btimeout\b|\brefused\b|\bunrecognized\b|\bunknown\b"
    r"|\bexceeds?\b|\bdoes not exist\b|\bdoesn't exist\b|\bnot allowed\b|\bconflict\b|✗|✘|❌|\bFAIL\b",
    re.IGNORECASE,
)
_NO_ERROR: Final = re.compile(r"\b(?:0|no|zero) (?:errors?|failed|failures?)\b|\berrors?: 0\b", re.I)
_REFUSED: Final = re.compile(
    r"The user doesn't want to (?:proceed|take this action)|\[Request interrupted by user"
    r"|User rejected|Tool use rejected|This command requires approval|Cancelled: parallel tool call",
    re.IGNORECASE,
)
_SCANNED_LINES: Final = 60  # ours: results are bounded, and the error stands near an end


def exit_code(text: str, rule: Rule, episode: Episode) -> Iterator[Found]:
    """Find a recorded exit code other than 0; `text` is the recorded value."""
    del rule
    code = text.strip()
    if not re.fullmatch(r"-?\d{1,10}", code) or int(code) == 0:
        return
    whole = episode.text
    for match in _EXIT.finditer(whole):
        if match[1] == code:
            yield Found(code, match.start(), match.end())
            return
    line = _lines(whole)
    if line:
        yield Found(code, *line[0])


def first_error(text: str, rule: Rule, episode: Episode) -> Iterator[Found]:
    """Find the line that says why the call failed, where the host marked it as failed."""
    del rule
    code = episode.attributes.get("exit_code", "0").strip()
    if not episode.is_error and code in {"", "0"}:
        return
    if _REFUSED.search(text, 0, 400):
        return  # the user said no: nothing failed
    lines = _lines(text)
    chosen: tuple[int, int] | None = None
    for start, end in lines:
        line = _clean(text[start:end])
        if _WORTHLESS.fullmatch(line) or _EXIT_LINE.fullmatch(line) or not line:
            continue
        if _ERROR.search(_NO_ERROR.sub("", line)):
            chosen = (start, end)
            break
        if chosen is None and episode.is_error and len(lines) <= 3:
            chosen = (start, end)
    if chosen:
        message = shorten(_clean(text[slice(*chosen)]), policy.SNIPPET_CHARS)
        if message:
            yield Found(message, *chosen)


def _lines(text: str) -> list[tuple[int, int]]:
    """Return the places of the first lines that hold something."""
    found: list[tuple[int, int]] = []
    at = 0
    while at < len(text) and len(found) < _SCANNED_LINES:
        stop = text.find("\n", at)
        stop = len(text) if stop < 0 else stop
        line = text[at:stop]
        if line.strip():
            start = at + len(line) - len(line.lstrip())
            found.append((start, start + min(len(line.strip()), 2_000)))
        at = stop + 1
    return found


def _clean(line: str) -> str:
    return _TAGS.sub("", _ANSI.sub("", line)).strip()
