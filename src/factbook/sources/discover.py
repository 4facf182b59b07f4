"""Find what can be read: logs of agents first, then chats, exports, notes and summaries.

What a file is, its content tells. Notes alone have nothing to be known by, so a text is one only
where somebody says so: by naming the file itself, or its kind.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from factbook.errors import InputError, UsageError
from factbook.model.facts import ME
from factbook.sources.files import (
    ARCHIVES,
    CHAT,
    CONVERSATION,
    KINDS,
    NOTE,
    NOTE_SUFFIXES,
    SESSION_LOG,
    SUMMARY,
    SourceFile,
    may_be_chat,
)
from factbook.sources.session_log import Discovery, LogFile
from factbook.sources.session_log import discover as discover_logs
from factbook.sources.session_log.discover import detect, is_log_name, is_text

Paths = str | os.PathLike[str] | Iterable[str | os.PathLike[str]]
"""One path, or several."""

_NOTES: Final = "notes"  # the host of notes and summaries: nobody's format


def each(paths: Paths) -> list[Path]:
    """Return the paths that are given: one, or several; UsageError for one that names nothing.

    An empty text would name the folder that the program runs in.
    """
    given = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
    if wrong := [path for path in given if not path or not isinstance(path, str | os.PathLike)]:
        raise UsageError(detail=f"{wrong[0]!r} names no file and no folder")
    return [Path(path) for path in given]


def discover(paths: Paths | None = None, *, owner: str = ME, kind: str | None = None) -> Discovery:
    """Return what can be read in files and folders; where none are asked for, in the hosts' own.

    An empty list is nothing to read.

    `owner` is whom it is about, where a file does not say. `kind` (one of `files.KINDS`) says what
    the files are, where their content does not; a folder of notes is read only with it. Raises
    PathMissing, PathUnreadable (for a path that was given), NoLogsFound, InputError for a damaged
    archive that was given, and UsageError for a kind that there is not.
    """
    if kind is not None and kind not in KINDS:
        raise UsageError(detail=f"{kind!r} is no kind of source; it is one of {', '.join(KINDS)}")
    roots = None if paths is None else [path.expanduser() for path in each(paths)]
    if kind is not None and kind != SESSION_LOG and roots is None:
        raise UsageError(detail=f"name the files or folders that are of the kind {kind}")
    if kind == SESSION_LOG or not roots:
        return discover_logs(roots, owner=owner)
    named = {os.path.realpath(root) for root in roots if root.is_file()}

    def other(path: Path, head: bytes) -> LogFile | None:
        if kind in (NOTE, SUMMARY):
            return _note(path, head, kind, owner)
        host = _host(path, head)
        if host or kind == CONVERSATION:
            return SourceFile(path=path, host=host or CHAT, owner=owner)
        if os.fspath(path) in named and path.suffix.lower() in NOTE_SUFFIXES:
            return _note(path, head, NOTE, owner)
        return None

    def wanted(name: str) -> bool:
        suffix = os.path.splitext(name)[1].lower()  # noqa: PTH122 - a Path per file costs more
        if kind in (NOTE, SUMMARY):
            return suffix in NOTE_SUFFIXES
        return is_log_name(name) or (suffix in ARCHIVES and _holds_chats(Path(name)))

    # Where somebody said that the files are something else, none is a log of an agent.
    hosts = detect if kind is None else lambda _: ""
    return discover_logs(roots, wanted=wanted, hosts=hosts, others=other, owner=owner)


def _note(path: Path, head: bytes, kind: str, owner: str) -> LogFile | None:
    return SourceFile(path=path, host=_NOTES, kind=kind, owner=owner) if is_text(head) else None


def _host(path: Path, head: bytes) -> str:
    if not may_be_chat(head):
        return ""
    # Folders of nothing but logs can do without all that knows chats.
    from factbook.sources.conversation import recognise
    from factbook.sources.conversation.document import Unreadable

    try:
        return recognise(path, head)
    except Unreadable as error:
        raise InputError(
            detail=f"{path} cannot be read as an export of chats ({error}); download it again, or"
            " unpack it and give its conversations.json"
        ) from error


def _holds_chats(path: Path) -> bool:
    from factbook.sources.conversation import recognise
    from factbook.sources.conversation.document import Unreadable

    try:
        with path.open("rb") as file:
            return bool(recognise(path, file.read(4)))
    except (OSError, Unreadable):
        return False  # one that was not named need not be readable
