"""Find the prose in Markdown: paragraphs and list items, not code, headings, tables or rules."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

_LINE: Final = re.compile(r"[^\n]*\n?")
_FENCE: Final = re.compile(r"[ \t>]*(`{3,}(?!.*`)|~{3,})")  # behind backticks stand no others
_NOT_PROSE: Final = re.compile(
    r"[ \t]*(?:\#{1,6}[ \t]|\||[-*_=─━═—]{3,}[ \t]*$|</?\w[^>]*>[ \t]*$|`[^`\n]{0,80}─|★"
    r"|```[^`\n]*```$|[-+*] {5,}\S)"  # code in a line of its own, and a line of it behind a mark
)
_LIST_ITEM: Final = re.compile(
    r"[ \t>]*(?:[-*+•✓✔✗✘✅❌⚠️→]+|\(?\d{1,3}[.)]|\(?[a-zA-Z][.)])[ \t]+(?:\[[ xX]\][ \t]+)?"
)
_INDENT: Final = re.compile(r"[ \t>]*")
_ENTRY: Final = re.compile(r"(\w[\w -]{0,40}):[ \t]*(.*)")
_SENTENCE: Final = re.compile(r"\w[^:]*$")  # no value, list or comment of YAML, which are marked
_HEAD_LINES: Final = 200  # ours: front matter is shorter
_ENDED: Final = frozenset(".!?:。！？")
_WRAPPED: Final = 60  # ours: a line that ends before is one of its own, not wrapped text
_WRAPPED_LOW: Final = 40  # ours: the same where the next line begins in lower case


def front_matter(lines: Sequence[str]) -> tuple[int, dict[str, str]]:
    """Return the line behind the entries that stand between `---` lines at the top, and them.

    (0, {}) where there are none, where they are never closed, or a line among them is none: then
    that is text, with a rule above and below it.
    """
    if not lines or lines[0].rstrip() != "---":
        return 0, {}
    entries: dict[str, str] = {}
    for number, line in enumerate(lines[1:_HEAD_LINES], 1):
        if line.rstrip() in ("---", "..."):
            return number + 1, entries
        entry = _ENTRY.fullmatch(line.rstrip())
        if entry:
            entries[entry[1].strip().lower()] = entry[2].strip("\"' ")
        elif _SENTENCE.match(line):
            return 0, {}
    return 0, {}


def prose_blocks(text: str) -> list[tuple[int, int]]:
    """Return the places of paragraphs and list items, lines that only the width parts as one."""
    blocks: list[tuple[int, int]] = []
    fence = ""
    joins = False  # whether the next plain line goes on with the current block
    in_list = False
    above = 0  # where the line before this one begins
    for match in _LINE.finditer(text):
        start = match.start()
        line = match[0].rstrip()
        if not line:
            joins = False
            continue
        mark = _FENCE.match(line)
        if mark:
            kind = mark[1][:3]
            fence = "" if fence == kind else (fence or kind)
            joins = False
            continue
        if fence or _NOT_PROSE.match(line):
            if fence and line.endswith(fence) and line.count(fence) == 1:
                fence = ""  # it closes behind words
            joins = False
            if not fence:
                in_list = False
            continue
        stop = start + len(line)
        item = _LIST_ITEM.match(line)
        indent = _INDENT.match(line)
        first = start + (item.end() if item else indent.end() if indent else 0)
        if first >= stop:
            continue
        code = not in_list and not joins and line.startswith(("    ", "\t"))
        if item is None and code:
            continue
        if (
            item is None
            and joins
            and (
                is_wrapped(text[above : blocks[-1][1]], text[first:stop])
                or (in_list and line[0] in " \t" and text[first].islower())
            )
        ):
            blocks[-1] = (blocks[-1][0], stop)
        else:
            blocks.append((first, stop))
        above = first
        joins = True
        in_list = item is not None or (in_list and line[0] in " \t")
    return blocks


def is_wrapped(line: str, following: str) -> bool:
    """Say whether a line without its end goes on in the one that follows it."""
    if len(line) < _WRAPPED_LOW or line[-1] in _ENDED:
        return False
    return following[:1].islower() or len(line) >= _WRAPPED
