"""Carry out what was shown: each file is written by us, or by the client where that is safer."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from factbook.errors import FactbookError
from factbook.surface.install.clients import NAME, SERVER, Install
from factbook.surface.install.files import Change, read
from factbook.surface.install.jsonc import Document

_SECONDS: Final = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    path: Path
    backup: Path | None  # the copy of what was there; None where no file was
    by: str  # the command that wrote it, "" where we did


def carry_out(install: Install, changes: Sequence[Change], *, user: bool) -> Iterator[Written]:
    """Write each change that is one, and yield each as it is done.

    Claude Code writes its own file at any time while it runs, so it is asked to, where it is there;
    `user` tells whether it is the file of the user and not of a project.
    """
    for change in changes:
        if change.before == change.after:
            continue
        program = shutil.which("claude") if install.client.name == "claude" and user else None
        if program and change.path == install.seat.servers:
            done = _by_claude(program, change)
        else:
            done = Written(path=change.path, backup=change.write(), by="")
        install.prune(change.path)
        yield done


def _by_claude(program: str, change: Change) -> Written:
    backup = change.back_up()
    old, new = (Document(said or "").get(SERVER) for said in (change.before, change.after))
    if old:
        _asked(program, "remove", "-s", "user", NAME)
    if new:
        _asked(program, "add", "-s", "user", NAME, "--", new["command"], *new["args"])
        # its variables may hold a password, and others can read what a program is called with
        document = Document(now := read(change.path) or "")
        if document.get(SERVER) != new:
            document.put(SERVER, new)
            Change(path=change.path, before=now, after=document.text).write(copied=False)
    if Document(read(change.path) or "").get(SERVER) != new:
        raise FactbookError(
            detail=f"`claude mcp` was asked to change {change.path}, which holds something else now"
        )
    return Written(path=change.path, backup=backup, by=f"claude mcp {'add' if new else 'remove'}")


def _asked(program: str, *words: str) -> None:
    try:
        done = subprocess.run(
            [program, "mcp", *words],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=_SECONDS,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise FactbookError(detail=f"{program} cannot be run ({error})") from error
    if done.returncode:
        said = " ".join((done.stderr or done.stdout).split()) or f"exit code {done.returncode}"
        raise FactbookError(detail=f"`claude mcp {words[0]}` failed ({said})")
