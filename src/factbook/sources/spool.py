"""What a hook leaves for the next one, and for the process behind it: a folder beside the database.

Of each session of an owner two small files of JSON, each with one writer: `<session>.session`, what
the hook saw (whose it is, where its transcripts are, which turn it is, which memories it gave), and
`<session>.next`, what was prepared for the next turn. They hold ids, paths and times, and not a
word of a prompt or of a memory: what is erased from the database is nowhere here.
"""

from __future__ import annotations

import json
import os
import re
import stat
import sys
import time
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any, Final

VERSION: Final = 1
ME: Final = "me"  # that of `model.facts`, which takes longer to import than a hook may
FILE_BYTES: Final = 256 * 1024  # of one file; a larger one is not read
SESSIONS: Final = 64  # kept, the newest
KEPT_S: Final = 14 * 24 * 3600
ACTIVE_S: Final = 24 * 3600  # since its last event
SHOWN_IDS: Final = 2_000  # given in one session, the newest
TWIN_MS: Final = 2_000  # between two runs of a hook at one event; a client ends one that is later
ENTERS_S: Final = 0.05  # that one waits for another to enter
TRANSCRIPTS: Final = 4  # of one session, the newest: a client that resumes one may write a new file
GIVEN: Final = 200  # events that gave something and wait to be recorded, the newest

WAITS: Final = "waits.lock"  # held by the process that is next
WORKS: Final = "works.lock"  # and by the one that works
ENTERS: Final = "enters.lock"  # by a hook, while it looks whether it is the only one

_UNSAFE: Final = re.compile(r"[^A-Za-z0-9_-]")


def folder_of(db: str | os.PathLike[str]) -> str:
    """Return where the spool of a database is."""
    return f"{os.path.abspath(db)}.hooks"


class Spool:
    """The sessions that hooks saw, of one database."""

    def __init__(self, folder: str) -> None:
        """Take the folder; it is made when something is written."""
        self.folder = folder

    def session(self, name: str, owner: str = ME) -> dict[str, Any]:
        """Return what is known of a session of an owner; empty for a new one."""
        return self._read(f"{_file_name(name, owner)}.session")

    def enter(self, name: str, event: int, now: int, owner: str = ME) -> dict[str, Any] | None:
        """Return what is known of a session at one of its events, of which a number tells.

        None where another process has entered with the same one just now: a client that has the
        hook twice runs it twice. `now` is in milliseconds.
        """
        with self._held():
            state = self.session(name, owner) | {"owner": owner}
            last, at = state.get("entered") or (None, 0)
            if last == event and abs(now - at) < TWIN_MS:
                return None
            state["entered"] = [event, now]
            self.keep_session(name, state)
        return state

    def prepared(self, name: str, owner: str = ME) -> dict[str, Any]:
        """Return what was prepared for the next turn of a session; empty for nothing."""
        return self._read(f"{_file_name(name, owner)}.next")

    def keep_session(self, name: str, state: dict[str, Any]) -> bool:
        """Write down what is known of a session; return whether that could be done."""
        state |= {"name": name, "owner": state.get("owner", ME)}
        for key, most in (("shown", SHOWN_IDS), ("given", GIVEN)):
            state[key] = state.get(key, [])[-most:]
        return self._write(f"{_file_name(name, state['owner'])}.session", state)

    def keep_prepared(self, name: str, state: dict[str, Any], owner: str = ME) -> bool:
        """Write down what was prepared, unless its session was erased; False where that fails."""
        file = _file_name(name, owner)
        return not self._read(f"{file}.session") or self._write(f"{file}.next", state)

    def sessions(self) -> list[dict[str, Any]]:
        """Return what is known of every session, the one with the newest event first."""
        states = [self._read(name) for name in self._files(".session")]
        return sorted(
            (state for state in states if {"name", "owner"} <= state.keys()),
            key=lambda state: -_number(state.get("at")),
        )

    def transcripts(self, owner: str, *, since: int) -> list[str]:
        """Return the transcripts of an owner's sessions with an event since then (milliseconds)."""
        return list(
            dict.fromkeys(
                path
                for state in self.sessions()
                if state["owner"] == owner and _number(state.get("at")) >= since
                for path in transcripts_of(state)
            )
        )

    def is_awaited(self) -> bool:
        """Tell whether a process waits for its turn to work: it will see what is there by then."""
        try:
            opened = os.open(os.path.join(self.folder, WAITS), os.O_RDWR | _NO_LINK)
        except OSError:
            return False
        try:
            return not take(opened)
        finally:
            os.close(opened)

    @contextmanager
    def _held(self) -> Iterator[None]:
        """Keep other hooks from entering; nobody waits long for it, or where it cannot be."""
        opened = -1
        with suppress(OSError):
            os.makedirs(self.folder, mode=0o700, exist_ok=True)
            if self._is_ours():
                path = os.path.join(self.folder, ENTERS)
                opened = os.open(path, os.O_RDWR | os.O_CREAT | _NO_LINK, 0o600)
        until = time.monotonic() + ENTERS_S
        while opened >= 0 and not take(opened) and time.monotonic() < until:
            time.sleep(0.001)
        try:
            yield
        finally:
            if opened >= 0:
                os.close(opened)

    def forget(self, meant: Callable[[Mapping[str, Any]], bool], *, dry_run: bool = False) -> int:
        """Remove the sessions that are meant, and what nobody can read; return how many they are.

        With `dry_run` they are only counted.
        """
        states = {name.rpartition(".")[0]: self._read(name) for name in self._files(".session")}
        gone = {name for name, state in states.items() if state and meant(state)}
        stays = {name for name, state in states.items() if state} - gone
        for name in self._files(*_ENDINGS) if not dry_run else ():
            if name.rpartition(".")[0] not in stays:  # what a killed hook has left goes, too
                with suppress(OSError):
                    os.unlink(os.path.join(self.folder, name))
        return len(gone)

    def prune(self) -> None:
        """Remove what is old, and what is more than is kept."""
        oldest = time.time() - KEPT_S
        paths = [os.path.join(self.folder, name) for name in self._files(*_ENDINGS)]
        ages = sorted(((_written(path), path) for path in paths), reverse=True)
        for place, (written, path) in enumerate(ages):
            if place >= 2 * SESSIONS or written < oldest:
                with suppress(OSError):
                    os.unlink(path)

    def _files(self, *endings: str) -> list[str]:
        names = os.listdir(self.folder) if self._is_ours() else []
        return [name for name in names if name.endswith(endings)]

    def _is_ours(self) -> bool:
        """Tell whether the folder is there, is one, and is nobody else's."""
        try:
            there = os.lstat(self.folder)
        except OSError:
            return False
        if not stat.S_ISDIR(there.st_mode):
            return False
        return not hasattr(os, "getuid") or there.st_uid == os.getuid()

    def _read(self, name: str) -> dict[str, Any]:
        if not self._is_ours():
            return {}
        try:
            opened = os.open(os.path.join(self.folder, name), os.O_RDONLY | _NO_LINK | _NO_WAIT)
            try:
                about = os.fstat(opened)
                if not stat.S_ISREG(about.st_mode) or about.st_size > FILE_BYTES:
                    return {}
                state = json.loads(os.read(opened, FILE_BYTES))
            finally:
                os.close(opened)
        except (OSError, ValueError):
            return {}
        return state if isinstance(state, dict) and state.get("version") == VERSION else {}

    def _write(self, name: str, state: dict[str, Any]) -> bool:
        """Write a file whole, or leave the one before; nobody else can read it."""
        content = json.dumps({**state, "version": VERSION}, separators=(",", ":")).encode()
        if len(content) > FILE_BYTES:
            return False
        path = os.path.join(self.folder, name)
        part = f"{path}.{os.getpid()}.tmp"
        try:
            os.makedirs(self.folder, mode=0o700, exist_ok=True)
            if not self._is_ours():
                return False
            opened = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NO_LINK, 0o600)
            try:
                os.write(opened, content)
            finally:
                os.close(opened)
            os.replace(part, path)
        except OSError:
            return False
        return True


def take(opened: int) -> bool:
    """Lock an open file, unless another process has: until it is closed, or this process ends."""
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(opened, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def transcripts_of(state: Mapping[str, Any]) -> list[str]:
    """Return the transcripts of a session that are there, the one that was named last first."""
    return [path for path in state.get("transcripts", ()) if os.path.isfile(path)]


_ENDINGS: Final = (".session", ".next", ".tmp")
_NO_LINK: Final = getattr(os, "O_NOFOLLOW", 0)
_NO_WAIT: Final = getattr(os, "O_NONBLOCK", 0)  # for what is a pipe and no file


def _file_name(session: str, owner: str) -> str:
    plain = _UNSAFE.sub("_", session)[:80]
    if plain == session and owner == ME:
        return plain
    whole = f"{session}\0{owner}".encode("utf-8", "replace")
    return f"{plain}-{zlib.crc32(whole):08x}"


def _number(value: object) -> float:
    return float(value) if isinstance(value, int | float) else 0.0


def _written(path: str) -> float:
    try:
        return os.stat(path).st_mtime
    except OSError:
        return 0.0
