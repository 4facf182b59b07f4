"""Read what is labelled in session logs of public projects out of mirrors of their repositories.

`data/language/logged_*.jsonl.xz` name each log by the hash that git knows its bytes by, and each
text in it by a hash of its own, so what was published stays where it was.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any, Final

from asker.logs import read_blob, transcript
from reader.rows import lines

LANGUAGE: Final = Path(__file__).resolve().parent.parent / "data" / "language"

_TYPED: Final = {".aider.chat.history.md": "#### ", ".aider.input.history": "+"}
"""What aider calls its logs, and how the lines in them begin that were typed."""

_SPECSTORY: Final = ".specstory/"
_PARTED: Final = re.compile(r"\n(?:[ \t]*\n)+|^[ \t]*(?:[-=_*]{2,}|#+[ \t].*)$", re.MULTILINE)
_LEAD: Final = re.compile(r"^\s*(?:>+|[-*+](?=\s)|\d+[.)](?=\s)|\[.\]|\*\*\w[^*\n]*\*\*)\s*")

Row = dict[str, Any]


def logs(name: str, part: str, folder: Path) -> Iterator[tuple[Row, str]]:
    """Yield the rows of a set and a part, each with its log; LogsError where a mirror lacks."""
    for row in lines(LANGUAGE / f"logged_{name}.jsonl.xz"):
        if row["part"] == part:
            log = read_blob(folder, row["repository"], row["blob"])
            yield row, log.decode("utf-8", "replace")


def named(text: str, lead: str = "") -> str:
    """Return the name by which a text, and the line that leads to it, is labelled."""
    return hashlib.sha256(f"{lead}\n{text.strip()}".encode()).hexdigest()[:16]


def said(log: str, path: str, role: str) -> Iterator[str]:
    """Yield what one side said in a log of Claude Code or Codex, or of what has a path.

    That is SpecStory, or aider, of whose logs only what its users said is read, or a diary in which
    somebody kept what he typed: every paragraph and item of a list in it, whoever said it.
    """
    if path.endswith(tuple(_TYPED)):
        lead = next(lead for name, lead in _TYPED.items() if path.endswith(name))
        if role == "user":
            yield from _typed(log, lead)
        return
    if path and _SPECSTORY not in path:
        yield from _paragraphs(log)
        return
    for line in (transcript(log, path) if path else log).split("\n"):
        try:
            row = json.loads(line)
        except ValueError:
            continue  # what was cut off in the log holds no text that was labelled
        for message in (row.get("message"), row.get("payload")) if isinstance(row, dict) else ():
            if isinstance(message, dict) and message.get("role") == role:
                yield from _texts(message.get("content") or ())


def _typed(log: str, lead: str) -> Iterator[str]:
    """Yield the runs of lines that begin with a sign, without it."""
    for is_typed, lines_ in groupby(log.split("\n"), lambda line: line.startswith(lead)):
        if is_typed:
            yield "\n".join(line[len(lead) :].rstrip() for line in lines_)


def _paragraphs(diary: str) -> Iterator[str]:
    """Yield the paragraphs of a diary, and the lines of each, without the marks before them."""
    for block in _PARTED.split(diary):
        lines_ = [_LEAD.sub("", line).strip() for line in (block or "").split("\n")]
        if text := "\n".join(lines_).strip().strip('"').strip():
            yield text
            if "\n" in text:
                yield from filter(None, lines_)


def _texts(content: Any) -> Iterator[str]:
    if isinstance(content, str):
        yield content
        return
    for block in content:
        if isinstance(block, dict) and block.get("type") in ("text", "input_text", "output_text"):
            yield block["text"]
