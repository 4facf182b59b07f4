"""Tool calls as text: the tool's name, then one line per input, with the span of every value."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from pathlib import PurePosixPath
from typing import Final

import orjson

from factbook import policy
from factbook.model import fast_dataclass
from factbook.model.facts import Field
from factbook.redaction.base import Redacting
from factbook.sources.session_log.text import MAX_KIND_CHARS, clip, storable

PATH_CHARS: Final = 4_096  # PATH_MAX of Linux: a path cut in the middle would be another path
QUERY_CHARS: Final = 4_000  # addresses, queries and patterns
OTHER_CHARS: Final = 8 * policy.FIELD_CHARS  # all inputs without a name of ours, together
DESCRIPTION_CHARS: Final = 4_000  # what the model says the call is for
_MANY: Final = 200  # values of one input that are kept: a list of files, of queries

_NAMES: Final[Mapping[str, str]] = {
    "absolute_path": "path",
    "agent_type": "agent_type",
    "cmd": "command",
    "command": "command",
    "description": "description",
    "filePath": "path",
    "file_path": "path",
    "notebook_path": "path",
    "path": "path",
    "paths": "path",
    "pattern": "pattern",
    "prompt": "prompt",
    "queries": "query",
    "query": "query",
    "skill": "skill",
    "subagent_type": "agent_type",
    "url": "url",
    "urls": "url",
}  # what the hosts call an input -> what we call it

_LIMITS: Final[Mapping[str, int]] = {
    "agent_type": policy.FIELD_CHARS,
    "change": policy.FIELD_CHARS,
    "command": policy.COMMAND_CHARS,
    "description": DESCRIPTION_CHARS,
    "path": PATH_CHARS,
    "pattern": QUERY_CHARS,
    "prompt": policy.PROMPT_CHARS,
    "query": QUERY_CHARS,
    "skill": policy.FIELD_CHARS,
    "url": QUERY_CHARS,
}

_COMMAND_IS: Final[Mapping[str, str]] = {
    "Skill": "skill",
    "SlashCommand": "skill",
    "memory": "operation",
    "str_replace_based_edit_tool": "operation",
    "str_replace_editor": "operation",
}  # tools whose `command` is not a command line

_MESSAGE_IS_PROMPT: Final = frozenset({"send_input", "spawn_agent"})

_BOOKS: Final = """
BashOutput KillBash KillShell TaskCreate TaskGet TaskList TaskOutput TaskStop TaskUpdate ToolSearch
close_agent tool_search tool_suggest update_plan wait_agent write_stdin write_todos
"""
BOOKKEEPING: Final = policy.INTERNAL_TOOLS | frozenset(_BOOKS.split())
"""Tools by which a host keeps its own books; a vector of such a call would answer no question."""

_TELLING: Final = frozenset({"command", "description", "prompt", "query"})
_SHELLS: Final = frozenset({"bash", "dash", "sh", "zsh"})
_PATCHED: Final = re.compile(
    r"^\*\*\* (?:(Add|Update|Delete) File|(Move) to): (.+?)[ \t\r]*$", re.MULTILINE
)

_field: Final = fast_dataclass.by_name(Field)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rendered:
    """A tool call as text."""

    text: str  # redacted and bounded
    fields: tuple[Field, ...]  # spans of the values in the text
    cut: int  # characters left out
    embed: bool  # whether the call says in words what it does


class Lines:
    """Lines of `name: value`, with the spans of the values."""

    def __init__(self, first: str = "") -> None:
        self._parts = [first] if first else []
        self._at = len(first) + 1 if first else 0
        self.fields: list[Field] = []
        self.cut = 0

    def add(self, name: str, value: str, *, field: str = "", limit: int = 0) -> None:
        """Add a line; its value becomes a span where `field` names it."""
        if "\x00" in value:
            value = storable(value)
        start = self._at + len(name) + 2
        if limit and len(value) > limit:
            value, cut = clip(value, limit)
            self.cut += cut
            line = f"{name}: {value} [... {cut:,} characters cut ...]"
        else:
            line = f"{name}: {value}"
        if field:
            self.fields.append(_field(name=field, start=start, end=start + len(value)))
        self._parts.append(line)
        self._at += len(line) + 1

    def note(self, text: str) -> None:
        """Add a line of our own."""
        self._parts.append(text)
        self._at += len(text) + 1

    @property
    def text(self) -> str:
        """All lines."""
        return "\n".join(self._parts)


def render_call(tool: str, given: object, redactor: Redacting) -> Rendered:
    """Return a tool call as text; `given` is its input as the log has it (an object or a text)."""
    if isinstance(given, str):
        given = {"patch" if "*** Begin Patch" in given else "input": given}
    elif not isinstance(given, Mapping):
        given = {} if given is None else {"input": given}
    value = redactor.redact_value(_normal(tool, given))
    lines = Lines(storable(tool) or "(unnamed tool)")
    if isinstance(value, Mapping):
        _add_inputs(lines, tool, value)
    telling = any(field.name in _TELLING for field in lines.fields)
    return Rendered(
        text=lines.text,
        fields=tuple(lines.fields),
        cut=lines.cut,
        embed=telling and tool not in BOOKKEEPING,
    )


def _normal(tool: str, given: Mapping[str, object]) -> Mapping[str, object]:
    """Return the input with a command line where the host logged a list of arguments.

    This comes before redaction, which reads a command line better than a list.
    """
    for key in ("command", "cmd"):
        arguments = given.get(key)
        if isinstance(arguments, list):
            return {**given, key: command_line(arguments)}
    return given


def command_line(arguments: list[object]) -> str:
    """Return a list of arguments as one command line; of `bash -lc X` the X."""
    words = [str(word) for word in arguments]
    match words:
        case [shell, "-c" | "-lc" | "-ic", command] if PurePosixPath(shell).name in _SHELLS:
            return command
    return shlex.join(words)


def _add_inputs(lines: Lines, tool: str, value: Mapping[str, object]) -> None:
    room = OTHER_CHARS
    skipped = 0
    for key, item in value.items():
        if not item and (item is False or item != 0):
            continue  # null, false and what is empty say nothing that their absence does not say
        name = _NAMES.get(key)
        if name == "command":
            name = _COMMAND_IS.get(tool, name)
        elif key == "message" and tool in _MESSAGE_IS_PROMPT:
            name = "prompt"
        if name is not None:
            if type(item) is str:
                lines.add(name, item, field=name, limit=_LIMITS.get(name, policy.FIELD_CHARS))
                if name == "command" and "*** Begin Patch" in item:
                    _add_patched(lines, item)
                continue
            if isinstance(item, list) and all(isinstance(text, str) for text in item):
                limit = _LIMITS.get(name, policy.FIELD_CHARS)
                for text in item[:_MANY]:
                    lines.add(name, text, field=name, limit=limit)
                continue
        if key == "patch" and isinstance(item, str):
            _add_patched(lines, item)
        other = item if type(item) is str else _compact(item)
        if room <= 0:
            skipped += len(other)
            continue
        limit = min(policy.FIELD_CHARS, room)
        room -= min(len(other), limit)
        name = _key(key)
        lines.add(name, other, field=name, limit=limit)
    if skipped:
        lines.cut += skipped
        lines.note(f"[... further input of {skipped:,} characters cut ...]")


@lru_cache(maxsize=1024)
def _key(key: str) -> str:
    return " ".join(storable(key).split())[:MAX_KIND_CHARS] or "(no name)"


def _compact(item: object) -> str:
    try:
        return orjson.dumps(item, default=str, option=orjson.OPT_NON_STR_KEYS).decode()
    except (orjson.JSONEncodeError, TypeError):
        return repr(item)  # nested deeper than orjson writes


def _add_patched(lines: Lines, patch: str) -> None:
    """Add the files that a patch touches, each with what happens to it."""
    for match in islice(_PATCHED.finditer(patch), _MANY):
        lines.add("path", match[3], field="path", limit=PATH_CHARS)
        lines.add("change", (match[1] or match[2]).lower(), field="change")
