"""Tool output, reduced to what a person would look for later.

The first lines, the last lines, and in between the lines that report an error or a finding; where
lines were left out, a line says how many. The log itself stays the source of the rest.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import islice
from typing import Final

import re2

from factbook import policy
from factbook.sources.session_log.text import cut_before

_SCAN_CHARS: Final = 1024 * 1024  # how much of the middle is searched for lines worth noting
_FAILED: Final = re2.compile(
    rb"(?mi)^.*(?:error|\bfail|exception|traceback|fatal|panic|denied|refused|cannot|unable to).*$"
)
_DECISIVE: Final = re2.compile(
    r"(?m)^\s*(?:\(fail\) |--- FAIL|FAILED |FAIL\s+\S|E   |not ok |[✗✘×●] |error\["
    r"|[^\s:]+:\d+:\d+:? ).*$".encode()
)  # the line of a test runner, a compiler or a linter
_FOUND: Final = re2.compile(
    rb"(?mi)^.*(?:warning|\bfound\b|discovered|\bmatche[sd]|\bpassed\b|\b[0-9]+ tests?\b).*$"
)
_EXIT_CODE: Final = re.compile(r"(?:Error: )?Exit code:? (-?\d{1,10})(?:\n|$)", re.IGNORECASE)

_GO_FAILED: Final = re2.compile(rb"(?m)^(?:\[[\w:.-]+\] )?[ \t]*--- FAIL: ")
_GO_TOLD: Final = re2.compile(rb"^(?:\[[\w:.-]+\] )?[ \t]+\S+\.go:\d+: \S")
_ASSERTED: Final = re2.compile(rb"^[ \t]+Error(?: Trace)?:")
_GO_TESTS: Final = 3  # failed tests whose own words are kept
_GO_LINES: Final = 200  # lines of a failed test that are looked through
_BELOW: Final = 3  # lines below an assertion that say what it compared


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """How much of an output is kept, and from where."""

    head: int = policy.RESULT_HEAD_LINES  # first lines
    noted: int = policy.RESULT_NOTED_LINES  # lines in between that report something
    tail: int = policy.RESULT_TAIL_LINES  # last lines
    chars: int = policy.RESULT_CHARS  # in all


REPORT: Final = Shape()
"""What a command, a search or a web page gave."""

CONTENT: Final = Shape(head=6, noted=0, tail=0, chars=6 * policy.RESULT_LINE_CHARS)
"""A file that was only read: the file is not evidence, its first lines say which one it is."""

ECHO: Final = Shape(head=2, noted=0, tail=0, chars=2 * policy.RESULT_LINE_CHARS)
"""A changed file shown back: the call itself says what was changed."""

_CONTENT_TOOLS: Final = frozenset(
    {"Read", "NotebookRead", "View", "read_file", "read_many_files", "view_image"}
)
_ECHO_TOOLS: Final = frozenset(
    {"Edit", "MultiEdit", "Write", "NotebookEdit", "replace", "write_file"}
)


def shape_of(tool: str, *, is_error: bool) -> Shape:
    """Return how much of the output of a tool is kept; of a failure always as of a report."""
    if is_error:
        return REPORT
    if tool in _CONTENT_TOOLS:
        return CONTENT
    return ECHO if tool in _ECHO_TOOLS else REPORT


def exit_code(text: str) -> str:
    """Return the exit code that an output begins with ("Exit code 1"), or an empty string."""
    match = _EXIT_CODE.match(text)
    return match[1] if match else ""


def condense(text: str, shape: Shape = REPORT) -> tuple[str, int]:
    """Return the lines of a redacted output that are kept, and how many characters are not."""
    if len(text) <= shape.chars and text.count("\n") < shape.head + shape.noted + shape.tail:
        return _short(text)
    head, head_end = _head(text, shape.head, shape.chars * (2 if shape.tail else 4) // 4)
    if head_end >= len(text):
        return _joined(text, [(0, line) for line in head], lines_after=0)
    tail, tail_start = _tail(text, head_end, shape.tail, shape.chars // 4)
    noted, gaps = _noted(text, head_end, tail_start, shape.noted, shape.chars // 4)
    parts = [(0, line) for line in head]
    parts += [(gap, line) for gap, line in zip(gaps, noted, strict=False)]
    after = gaps[-1]
    if tail:
        parts += [(after, tail[0])] + [(0, line) for line in tail[1:]]
        after = 0
    return _joined(text, parts, lines_after=after)


def _short(text: str) -> tuple[str, int]:
    if len(text) <= policy.RESULT_LINE_CHARS:
        return text, 0
    lines = text.split("\n")
    if max(map(len, lines)) <= policy.RESULT_LINE_CHARS:
        return text, 0
    return _joined(text, [(0, _line(line)) for line in lines], lines_after=0)


def _joined(text: str, parts: list[tuple[int, str]], *, lines_after: int) -> tuple[str, int]:
    """Join (lines left out before it, line) pairs; count the characters that are not kept."""
    out: list[str] = []
    kept = 0
    for gap, line in parts:
        if gap:
            out.append(_gap(gap))
        out.append(line)
        kept += len(line) - line.endswith("…") + 1
    if lines_after:
        out.append(_gap(lines_after))
    return "\n".join(out), max(0, len(text) + 1 - kept)


def _gap(lines: int) -> str:
    return f"[... {lines:,} line{'' if lines == 1 else 's'} cut ...]"


def _line(line: str) -> str:
    if len(line) <= policy.RESULT_LINE_CHARS:
        return line
    return line[: cut_before(line, policy.RESULT_LINE_CHARS)] + "…"


def _head(text: str, count: int, budget: int) -> tuple[list[str], int]:
    """Return the first lines, and where the text after them starts."""
    lines: list[str] = []
    at = 0
    while len(lines) < count and budget > 0 and at <= len(text):
        end = text.find("\n", at)
        end = len(text) if end < 0 else end
        line = _line(text[at : min(end, at + 2 * policy.RESULT_LINE_CHARS)])
        lines.append(line)
        budget -= len(line) + 1
        at = end + 1
    return lines, at


def _tail(text: str, start: int, count: int, budget: int) -> tuple[list[str], int]:
    """Return the last lines, and where they start; never before `start`."""
    lines: list[str] = []
    at = len(text)
    while len(lines) < count and at > start:
        begin = max(text.rfind("\n", start, at - 1 if lines else at) + 1, start)
        end = at - 1 if lines else at
        line = _line(text[begin : min(end, begin + 2 * policy.RESULT_LINE_CHARS)])
        budget -= len(line) + 1
        if budget < 0 and lines:
            break
        lines.append(line)
        at = begin
    lines.reverse()
    return lines, at


def _told_by_go(middle: bytes, *, goes_on: bool) -> list[tuple[int, int]]:
    """Return the lines in which failed tests of Go say why: of each the last, or its assertion.

    `goes_on` says that the first of them began above.
    """
    found: list[tuple[int, int]] = []
    ends = (middle.find(b"\n", failed.end()) for failed in _GO_FAILED.finditer(middle))
    begins = [0] if goes_on else []
    begins += [end + 1 for end in islice(ends, _GO_TESTS) if end >= 0]
    for at in begins:
        last: tuple[int, int] | None = None
        asserted: list[tuple[int, int]] = []
        for _ in range(_GO_LINES):
            end = middle.find(b"\n", at)
            line = middle[at:end] if end >= 0 else b""
            if not line[:1].isspace() and not _GO_TOLD.match(line):
                break
            asserts = _ASSERTED.match(line) is not None
            if asserts or asserted:
                asserted.append((at, end))
                if not asserts and len(asserted) > 1 + _BELOW:
                    break
            elif _GO_TOLD.match(line):
                last = (at, end)
            at = end + 1
        found += asserted or ([last] if last else [])
    return found


def _noted(text: str, start: int, end: int, count: int, budget: int) -> tuple[list[str], list[int]]:
    """Return the lines between that report something, and how many lines were left out around them.

    The second list has one number more than the first: what follows the last noted line.
    """
    # At the end of the text the last line has no newline of its own.
    left = text.count("\n", start, end) + (end == len(text))
    if not count:
        return [], [left]
    middle = text[start : min(end, start + _SCAN_CHARS)].encode("utf-8", "replace")
    # What failed comes before what was merely found, and first of all what names it exactly.
    hits = [match.span() for match in islice(_DECISIVE.finditer(middle), count // 2)]
    above = _GO_FAILED.search(text[:start].encode("utf-8", "replace")) is not None
    hits += [hit for hit in _told_by_go(middle, goes_on=above) if hit not in hits]
    hits = hits[:count]
    for pattern in (_FAILED, _FOUND):
        if len(hits) < count:
            known = set(hits)
            spans = (match.span() for match in pattern.finditer(middle))
            hits += islice((hit for hit in spans if hit not in known), count - len(hits))
    chosen: list[tuple[int, int, str]] = []
    for a, b in hits:
        shown = middle[a : min(b, a + 4 * policy.RESULT_LINE_CHARS)]
        line = _line(shown.decode("utf-8", "replace"))
        if len(chosen) < count and len(line) < budget:
            chosen.append((a, b, line))
            budget -= len(line) + 1
    chosen.sort()
    gaps: list[int] = []
    at = 0
    for a, b, _ in chosen:
        gaps.append(middle.count(b"\n", at, a))
        left -= gaps[-1] + 1
        at = b + 1
    gaps.append(max(0, left))
    return [line for _, _, line in chosen], gaps
