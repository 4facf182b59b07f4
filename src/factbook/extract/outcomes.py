"""Read from the result of a tool call how it failed.

Knows: how failures look in the output of tools. Does not know what the call was.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from factbook import policy
from factbook.extract.base import Rule, RuleHit
from factbook.model.facts import Episode
from factbook.model.text import shorten

__all__ = ["exit_code", "first_error"]

_ANSI: Final = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_EXIT_WORDS: Final = r"exit(?:ed)?(?: with)?(?: status)?(?: code)?:?"
_EXIT: Final = re.compile(rf"\b{_EXIT_WORDS}\s*(-?\d{{1,10}})\b", re.IGNORECASE)
_EXIT_LINE: Final = re.compile(
    rf"(?:Error:\s*)?(?:Process |Command )?{_EXIT_WORDS}\s*-?\d+\.?", re.IGNORECASE
)
_TAGS: Final = re.compile(r"</?(?:tool_use_error|error|stderr|stdout|output)>")
_SAYS_WHY: Final = re.compile(
    r"(?:^|[\s:\[(])(?:error|fatal|panic|ERR!)(?:\[\w+\])?\s*[:!\]]|\b\w*(?:Error|Exception)\b(?:\s\[\w+\])?:"
    r"|: (?:command )?not found\b|\bno such file\b|\bpermission denied\b|^FAILED\b"
    r"|\bfailed with\b|^E\s{2,}\S",
    re.IGNORECASE,
)  # a line like this one names the cause
_STRONG: Final = (
    "rror", "ERROR", "ERR!", "atal", "FATAL", "anic", "Exception", "not found", "o such file",
    "enied", "failed with", "FAILED", "E   ",
)  # fmt: skip
"""Pieces of words, one of which every line that `_SAYS_WHY` finds holds (near enough)."""
_HINTS_AT_IT: Final = re.compile(
    r"\berr(?:or)?s?\b|\w(?:Error|Exception)\b|\bfail(?:ed|ure|s)?\b|\bfatal\b|\bpanic\w*"
    r"|\bdenied\b|\bnot found\b|\bno such\b|\bcannot\b|\bcan't\b|\bcould not\b|\bcouldn't\b"
    r"|\bunable to\b|\binvalid\b|\bmissing\b|\btimed out\b|\btimeout\b|\brefused\b"
    r"|\bunrecognized\b|\bunknown\b|\bexceeds?\b|\bdoes not exist\b|\bdoesn't exist\b"
    r"|\bnot allowed\b|\bnot running\b|\bconflict\b|\bno \w+ found\b|[✗✘❌×]|\bfile has\b",
    re.IGNORECASE,
)  # one like this is taken where no line names it
_BESIDE_IT: Final = re.compile(
    r"\((?:pass|skip)\)|\bPASS(?:ED)?\b|\bok\b\s*$|\bwarn(?:ing)?\b|\bhint:|^[⚠ℹi]\s|[│┃]"
    r"|^\d+\s*[|+-]|\"\"\"|^[+>-]\s|\b(?:0|no|zero) (?:errors?|failed|failures?)\b|\berrors?: 0\b"
    r"|\bthrow\b|^\s*(?:def|class|return|assert)\b",
    re.IGNORECASE,
)  # passed tests, warnings, quoted source
_REFUSED: Final = re.compile(
    r"The user doesn't want to (?:proceed|take this action)|\[Request interrupted by user"
    r"|User rejected|Tool use rejected|requires? approval|requested permissions? to"
    r"|Cancelled: parallel tool call|Sibling tool call errored",
    re.IGNORECASE,
)
_LINE_CHARS: Final = 2_000


def exit_code(text: str, rule: Rule, episode: Episode) -> Iterator[RuleHit]:
    """Find a recorded exit code other than 0; `text` is the recorded value."""
    del rule
    code = text.strip()
    if not re.fullmatch(r"-?\d{1,10}", code) or int(code) == 0:
        return
    whole = episode.text
    for match in _EXIT.finditer(whole):
        if match[1] == code:
            yield RuleHit(code, match.start(), match.end())
            return
    place = _first_line(whole)
    if place:
        yield RuleHit(code, *place)


def first_error(text: str, rule: Rule, episode: Episode) -> Iterator[RuleHit]:
    """Find the line that says why the call failed, where the host marked it as failed."""
    del rule
    code = episode.attributes.get("exit_code", "0").strip()
    if not episode.is_error and code in {"", "0"}:
        return
    if episode.attributes.get("denied") or _REFUSED.search(text, 0, 400):
        return  # the user said no: nothing failed
    hits = sorted(at for word in _STRONG if word in text for at in _finds(text, word))
    place = _line_with(text, hits, _SAYS_WHY)
    if place is None:
        place = _line_with(text, (hit.start() for hit in _HINTS_AT_IT.finditer(text)), None)
    if place:
        message = shorten(_clean(text[slice(*place)]), policy.SNIPPET_CHARS)
        if message:
            yield RuleHit(message, *place)


def _finds(text: str, word: str) -> Iterator[int]:
    at = text.find(word)
    while at >= 0:
        yield at
        at = text.find(word, at + 1)


def _line_with(
    text: str, hits: Iterable[int], pattern: re.Pattern[str] | None
) -> tuple[int, int] | None:
    """Return the first of the hit lines that the pattern finds and that is the error itself."""
    done = -1
    for hit in hits:
        if hit <= done:
            continue
        start, done = _line_around(text, hit)
        line = _clean(text[start:done])
        if pattern is not None and not pattern.search(line):
            continue
        if line and not _BESIDE_IT.search(line) and not _EXIT_LINE.fullmatch(line):
            return start, done
    return None


def _line_around(text: str, at: int) -> tuple[int, int]:
    """Return the place of the line around a character, without the blanks at its ends.

    Of a very long line only the part around the character is taken.
    """
    start = max(text.rfind("\n", max(0, at - _LINE_CHARS), at) + 1, at - _LINE_CHARS)
    end = text.find("\n", at, at + _LINE_CHARS)
    line = text[start : end if end >= 0 else at + _LINE_CHARS]
    start += len(line) - len(line.lstrip())
    return start, max(at + 1, start + len(line.strip()))


def _first_line(text: str) -> tuple[int, int] | None:
    """Return the place of the first line that holds something."""
    lead = len(text) - len(text.lstrip())
    return _line_around(text, lead) if lead < len(text) else None


def _clean(line: str) -> str:
    if "\x1b" in line:
        line = _ANSI.sub("", line)
    if "<" in line:
        line = _TAGS.sub("", line)
    return line.strip()
