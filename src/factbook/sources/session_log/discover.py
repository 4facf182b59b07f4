"""Find session logs, and tell by what is in them which host wrote them.

Names and labels are not believed: logs are copied, exported and renamed. The first 20 KB decide.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, NamedTuple

import orjson

from factbook.errors import NoLogsFound, PathMissing, PathUnreadable
from factbook.model.facts import ME
from factbook.sources.encoding import utf8
from factbook.sources.session_log.claude import agents_folder
from factbook.sources.session_log.codex import ENVELOPES, ITEMS
from factbook.sources.session_log.parser import LogFile
from factbook.sources.session_log.specstory import is_specstory, may_hold

HEAD_BYTES: Final = 20_000
_NAMED: Final = 5  # files that an error names with what is wrong with them
_FIRST_CHARS: Final = 1_000
_SUFFIXES: Final = (".json", ".jsonl")  # what a folder is searched for, beside SpecStory's `.md`
LEADS_OUT: Final = "link out of the folder; name it to have it read"

OPENCODE: Final = "OpenCode"
COPILOT: Final = "GitHub Copilot CLI"
_UNSUPPORTED: Final = frozenset({OPENCODE, COPILOT})

_TYPES: Final = """
agent-name ai-title attachment bridge-session custom-title file-history-delta file-history-snapshot
last-prompt mode permission-mode pr-link progress queue-operation summary system
"""
_CLAUDE_TYPES: Final = frozenset(_TYPES.split())

_TOKEN: Final = re.compile(r'"((?:[^"\\]|\\.)*)"|[{}\[\]:,]|[^\s{}\[\]:,"]+|"', re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Discovery:
    """What was found, and what was left aside and why."""

    files: list[LogFile] = field(default_factory=list)
    unsupported: list[tuple[Path, str]] = field(default_factory=list)  # (path, host)
    skipped: list[tuple[Path, str]] = field(default_factory=list)  # (path, why)


def default_folders() -> list[Path]:
    """Return the folders where the hosts keep their logs, as their own variables name them."""
    home = Path.home()
    claude = os.environ.get("CLAUDE_CONFIG_DIR")
    codex = os.environ.get("CODEX_HOME")
    gemini = os.environ.get("GEMINI_CLI_HOME")
    return [
        (Path(claude).expanduser() if claude else home / ".claude") / "projects",
        (Path(codex).expanduser() if codex else home / ".codex") / "sessions",
        (Path(gemini).expanduser() if gemini else home) / ".gemini" / "tmp",
    ]


def is_log_name(path: str) -> bool:
    """Tell whether a file in a folder may be a log, by its name."""
    name = path.lower()
    return name.endswith(_SUFFIXES) or (name.endswith(".md") and may_hold(path))


def discover(
    paths: Sequence[Path] | None = None,
    *,
    wanted: Callable[[str], bool] = is_log_name,
    hosts: Callable[[bytes], str] | None = None,
    others: Callable[[Path, bytes], LogFile | None] | None = None,
    owner: str = ME,
) -> Discovery:
    """Return the logs in the given files and folders; where none are asked for, in the hosts' own.

    The order is that of the paths, within a folder by name. A log that is named brings those of
    its sub-agents along. A file that is reached twice counts once. Where a link leads out of what
    was given it is left aside; one that was given is followed. `wanted` tells by its path whether
    a file in a folder is looked at, `hosts` by its first bytes who wrote it, and `others` knows
    files that no host wrote. `owner` is whom they are about.

    An empty list of paths is nothing to read: only None means the hosts' own folders. Raises
    PathMissing, PathUnreadable (for a path that was given), NoLogsFound.
    """
    hosts = hosts or detect
    if paths is None:
        where = default_folders()
        roots = [folder for folder in where if folder.is_dir()]
    elif not paths:
        return Discovery()
    else:
        roots = where = [Path(path).expanduser() for path in paths]
    for root in roots:
        _check(root)
    discovery = Discovery()
    seen: set[str] = set()
    inside = {os.path.realpath(root) for root in roots}
    for root in roots:
        folder = root
        if not root.is_dir():
            log = os.path.realpath(root)
            _add(log, discovery, seen, hosts, others, owner, named=True)
            folder = agents_folder(Path(log))
            if not folder.is_dir() or os.path.realpath(folder) != os.fspath(folder):
                continue
            inside.add(os.fspath(folder))
        for path in _walk(folder, discovery, wanted, inside):
            _add(path, discovery, seen, hosts, others, owner, named=False)
    if not discovery.files and not discovery.unsupported:
        aside = "".join(f"; {path}: {why}" for path, why in discovery.skipped[:_NAMED])
        raise NoLogsFound(path=", ".join(str(path) for path in where) + aside)
    return discovery


def _check(path: Path) -> None:
    """Raise where a path that was given is not there or cannot be read."""
    try:
        path.stat()
        if path.is_dir():
            with os.scandir(path):
                pass
        elif path.is_file():
            with path.open("rb"):
                pass
    except FileNotFoundError as error:
        raise PathMissing(path=path) from error
    except OSError as error:  # no permission, a loop of links, a part that is no folder
        raise PathUnreadable(path=path, reason=error.strerror or str(error)) from error
    except ValueError as error:  # a NUL character
        raise PathUnreadable(path=repr(str(path)), reason=str(error)) from error


def _walk(
    root: Path, discovery: Discovery, wanted: Callable[[str], bool], inside: set[str]
) -> Iterator[str]:
    """Iterate over the files below a folder that may be logs.

    Links are followed, but no loops, and none that leads out: who may write to a folder would
    choose what is read of the rest of the disk.
    """
    visited: set[str] = set()
    pending = [os.path.realpath(root)]
    while pending:
        folder = pending.pop()
        if folder in visited:
            continue
        visited.add(folder)
        try:
            with os.scandir(folder) as entries:
                ordered = sorted(entries, key=lambda entry: entry.name)
        except OSError as error:
            discovery.skipped.append((Path(folder), f"cannot be read ({error.strerror})"))
            continue
        folders: list[str] = []
        for entry in ordered:
            try:
                # Real paths, so that a file or folder that is linked to is known again.
                path = entry.path
                if _is_link(entry):
                    path = os.path.realpath(path)
                    if not _within(path, inside):
                        if entry.is_dir() or wanted(entry.path):
                            discovery.skipped.append((Path(entry.path), LEADS_OUT))
                        continue
                if entry.is_dir():
                    folders.append(path)
                elif wanted(entry.path):
                    yield path
            except OSError as error:  # a loop of links
                discovery.skipped.append((Path(entry.path), f"cannot be read ({error.strerror})"))
        pending += reversed(folders)


def _is_link(entry: os.DirEntry[str]) -> bool:
    junction = getattr(entry, "is_junction", None)  # of Windows, from Python 3.12 on
    return entry.is_symlink() or (junction is not None and bool(junction()))


def _within(path: str, roots: set[str]) -> bool:
    """Tell whether a real path is one of some others, or below one."""
    if path in roots:
        return True
    return any(path.startswith(root if root.endswith(os.sep) else root + os.sep) for root in roots)


def _add(
    name: str,
    discovery: Discovery,
    seen: set[str],
    hosts: Callable[[bytes], str],
    others: Callable[[Path, bytes], LogFile | None] | None,
    owner: str,
    *,
    named: bool,
) -> None:
    if name in seen:
        return
    seen.add(name)
    path = Path(name)
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):  # opening a pipe would wait for ever
            discovery.skipped.append((path, "not a file"))
            return
        if status.st_size == 0:
            discovery.skipped.append((path, "empty"))
            return
        with path.open("rb", buffering=0) as file:
            head = utf8(file.read(HEAD_BYTES))
        host = hosts(head)
        other = others(path, head) if others and not host else None
    except OSError as error:
        if named:
            raise PathUnreadable(path=path, reason=error.strerror or str(error)) from error
        discovery.skipped.append((path, f"cannot be read ({error.strerror})"))
        return
    if other is not None:
        discovery.files.append(other)
    elif host in _UNSUPPORTED:
        discovery.unsupported.append((path, host))
    elif host:
        discovery.files.append(LogFile(path=path, host=host, owner=owner))
    else:
        discovery.skipped.append((path, _why_not(head, chats=others is not None)))


def _why_not(head: bytes, *, chats: bool) -> str:
    if not head.strip(b" \t\r\n\x00"):
        return "empty"
    if not is_text(head):
        if any(char < 32 and char not in b"\t\r\n\x1b" for char in head[:1024]):
            return "binary"
        return "text in an encoding that is not known; save it as UTF-8"
    if chats:
        return "not a session log of a known agent, nor a chat in a known form"
    return "not a session log of a known agent"


def is_text(head: bytes) -> bool:
    """Tell whether the beginning of a file is text; it is in UTF-8 by now where it was any."""
    text = head[:1024].decode("utf-8", "replace")
    if "\x00" in text:
        return False
    odd = sum(1 for char in text if char == "\ufffd" or (char < " " and char not in "\t\r\n\x1b"))
    return odd * 10 <= len(text)


def detect(head: bytes) -> str:
    """Return the host that wrote a log, from its first bytes, or an empty string."""
    host = _host_of_first(head)
    if host:
        return host
    text = head.decode("utf-8", "replace")
    if is_specstory(text):
        return "specstory"
    # A record mostly tells its host at once; only the rest is worth reading to the end.
    for part in (text[:_FIRST_CHARS], text) if len(text) > _FIRST_CHARS else (text,):
        for keys in _top_levels(part):
            host = _host_of(keys)
            if host:
                return host
    return ""


def _host_of_first(head: bytes) -> str:
    """Return the host by the first line where it is a whole record, which is the common case."""
    line, newline, _ = head.partition(b"\n")
    try:
        record = orjson.loads(line) if newline else None
    except orjson.JSONDecodeError:
        return ""
    if not isinstance(record, dict):
        return ""
    top = {key: value if isinstance(value, str) else "" for key, value in record.items()}
    inner = {
        key: {name: text if isinstance(text, str) else "" for name, text in value.items()}
        for key, value in record.items()
        if isinstance(value, dict) and value
    }
    return _host_of(_Keys(top, inner))


class _Keys(NamedTuple):
    """What one record says of itself before its content."""

    top: dict[str, str]  # key -> its text, empty where it is none
    inner: dict[str, dict[str, str]]  # the same of the objects right inside


def _host_of(keys: _Keys) -> str:
    top, kind = keys.top, keys.top.get("type", "")
    if kind == "session.start" or "copilotVersion" in keys.inner.get("data", {}):
        return COPILOT
    if "info" in top and keys.inner.get("info", {}).get("id", "").startswith("ses_"):
        return OPENCODE
    if "payload" in top and kind in ENVELOPES:
        return "codex"
    if "projectHash" in top and "sessionId" in top:
        return "gemini-cli"
    if kind == "gemini" and "content" in top:
        return "gemini-cli"
    if "loglines" in top:
        return "claude-code"
    if kind in {"assistant", "user"} and "message" in keys.inner:
        return "claude-code"
    if kind in _CLAUDE_TYPES and {"leafUuid", "messageId", "sessionId", "uuid"} & top.keys():
        return "claude-code"
    if {"parentUuid", "isSidechain"} & top.keys():
        return "claude-code"
    if kind in {"result", "started"} and "agentId" in top and "key" in top:
        return "claude-code"  # the journal of a workflow
    if kind in ITEMS and {"role", "call_id", "arguments", "summary", "action"} & top.keys():
        return "codex"  # the first versions, without an envelope
    if "instructions" in top and "id" in top and "timestamp" in top:
        return "codex"  # the head of such a file
    return ""


def _top_levels(text: str) -> Iterator[_Keys]:
    """Iterate over the records in the beginning of a log, each by its keys; the last may be torn.

    Only keys count, at the depth where a host writes them: what a log quotes must not decide. A
    list of records is looked into as if they stood alone.
    """
    stack: list[str] = []  # the open brackets, outermost first
    names: list[str] = []  # the key that each open object is at
    top: dict[str, str] = {}
    inner: dict[str, dict[str, str]] = {}
    expects_key = False
    base = 0  # lists around the record
    for match in _TOKEN.finditer(text):
        mark = match[0]
        depth = len(stack) - base
        if mark == '"':
            break  # a text that the end of the head tore
        if mark == "{":
            stack.append("{")
            names.append("")
            expects_key = True
            if depth == 0:
                top, inner = {}, {}
        elif mark == "[":
            if not stack or (depth == 0 and base == len(stack)):
                base += 1
            elif depth == 1 and names[-1:] == ["loglines"]:
                yield _Keys({"loglines": ""}, {})
                return
            stack.append("[")
            names.append("")
            expects_key = False
        elif mark in "}]":
            if not stack:
                continue
            stack.pop()
            names.pop()
            expects_key = False
            if mark == "]" and len(stack) < base:
                base = len(stack)
            elif len(stack) - base == 0 and (top or inner):
                yield _Keys(top, inner)
                top, inner = {}, {}
        elif mark == ",":
            expects_key = bool(stack) and stack[-1] == "{"
        elif mark == ":":
            expects_key = False
        elif depth in {1, 2} and stack[-1] == "{" and match[1] is not None:
            if expects_key:
                names[-1] = match[1]
                if depth == 1:
                    top.setdefault(match[1], "")
                else:
                    inner.setdefault(names[-2], {}).setdefault(match[1], "")
            elif depth == 1:
                top[names[-1]] = match[1][:200]
            else:
                inner.setdefault(names[-2], {})[names[-1]] = match[1][:200]
    if top or inner:
        yield _Keys(top, inner)
