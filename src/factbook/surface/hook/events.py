"""What is done at each event of a client, and what is said to it.

    SessionStart                              a digest of the project
    UserPromptSubmit, BeforeAgent             what bears on the prompt, and on the turns before it
    Stop, AfterAgent, PreCompact, SessionEnd  a process of its own reads on in the transcript

Anything else is nothing to us, and so is a prompt that nothing bears on: no word is printed then.
Gemini's PreCompress comes before every call of the model, so it is left alone.
"""

from __future__ import annotations

import json
import os
import re
import sys
import time
import zlib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from factbook.sources.spool import ME, TRANSCRIPTS, Spool, folder_of

if TYPE_CHECKING:
    from factbook.surface.hook.deadline import Deadline

START: Final = "SessionStart"
PROMPTS: Final = frozenset({"UserPromptSubmit", "BeforeAgent"})
ENDS: Final = frozenset({"Stop", "AfterAgent", "PreCompact", "SessionEnd"})
COMPACT: Final = "compact"
CLEAR: Final = "clear"
ANEW: Final = frozenset({COMPACT, CLEAR})  # sources of a start after which nothing is known
INPUT_BYTES: Final = 16 * 1024 * 1024
LEFT_S: Final = 0.06  # of the deadline, for what is done after the look-up
_KEPT_FROM_CHILD: Final = ("CLAUDE", "CODEX_", "GEMINI_")  # variables of clients, tokens among them


def run(deadline: Deadline) -> None:
    from factbook.surface.hook import START_DEADLINE_S

    options = _options(sys.argv[1:])
    given = _input()  # a prompt may hold what is no letter of its encoding
    event = json.loads(given.decode(json.detect_encoding(given), errors="replace"))
    name, session = event.get("hook_event_name"), event.get("session_id")
    db = database(options.get("db", ""))
    if options.get("key-file"):
        os.environ["FACTBOOK_KEY_FILE"] = options["key-file"]  # of the process behind it
    if not (db and isinstance(session, str) and session):
        return
    if name == START:
        deadline.put_off(START_DEADLINE_S)
    elif name not in PROMPTS and name not in ENDS:
        return
    hook = Hook(db, owner=options.get("owner") or ME, until=time.monotonic() + deadline.left)
    said = hook.answer(event, host=options.get("host") or host_of(event))
    if said:
        answer = {"hookSpecificOutput": {"hookEventName": name, "additionalContext": said}}
        os.write(1, json.dumps(answer).encode())


class Hook:
    """What is done at the events of one database's owner."""

    def __init__(self, db: str, *, owner: str, until: float) -> None:
        """Take where the database is, and when the time is over, on the monotonic clock."""
        self._db = db
        self._owner = owner
        self._until = until - LEFT_S
        self._now = time.time_ns() // 1_000_000
        self._spool = Spool(folder_of(db))

    def answer(self, event: Mapping[str, Any], *, host: str) -> str:
        """Do what an event asks for, and return what is to be said to the model."""
        name, session = str(event["hook_event_name"]), str(event["session_id"])
        state = self._spool.enter(session, number_of(event), self._now, self._owner)
        if state is None:
            return ""
        begun = START in state.get("events", {})
        state["at"] = state.setdefault("events", {})[name] = self._now
        state["host"] = host
        path, cwd = (event.get(told) or "" for told in ("transcript_path", "cwd"))
        if isinstance(path, str) and path:
            older = [other for other in state.get("transcripts", ()) if other != path]
            state["transcripts"] = [path, *older][:TRANSCRIPTS]
        if isinstance(cwd, str) and cwd:
            state["cwd"] = cwd
        if name in ENDS:
            state["asked"] = state.get("asked", 0) + 1
            kept = self._spool.keep_session(session, state)
            if kept and state.get("transcripts") and not self._spool.is_awaited():
                start_behind(self._db)
            return ""
        from factbook.surface.hook.reminder import Reminder  # it takes longer than an end may

        prompt, again = None, False
        if name == START:
            source = event.get("source")
            if source in ANEW:
                state["shown"], state["anew"] = [], self._now
                again = source == COMPACT
            # Before anything else: the time may be over before there is anything to say.
            self._spool.keep_session(session, state)
            if begun and source == "resume":
                return ""  # what it began with is there still
            if source == CLEAR and host == "gemini-cli":
                return ""  # it drops what is said then
        else:
            state["turn"] = state.get("turn", 0) + 1
            prompt = str(event.get("prompt", ""))
        reminder = Reminder(self._db, owner=self._owner, until=self._until, now=self._now)
        prepared = self._spool.prepared(session, self._owner)
        said = reminder.remind(state, prompt, prepared, again=again)
        kept = self._spool.keep_session(session, state)
        return said if kept else ""  # what cannot be remembered as shown would be said for ever


def number_of(event: Mapping[str, Any]) -> int:
    """Return what tells an event of a session from the next one, and tells nobody what was said."""
    told = {name: said for name, said in event.items() if name != "timestamp"}
    return zlib.crc32(json.dumps(told, sort_keys=True).encode())


def host_of(event: Mapping[str, Any]) -> str:
    name = str(event.get("hook_event_name"))
    transcript = str(event.get("transcript_path")).replace("\\", "/")
    if name in ("BeforeAgent", "AfterAgent") or "/.gemini/" in transcript:
        return "gemini-cli"
    return "codex" if "/rollout-" in transcript else "claude-code"


def database(named: str = "") -> str:
    """Return where a database is; by default, as `context.default_db` does; empty for no file."""
    named = named or os.environ.get("FACTBOOK_DB", "")
    if named.startswith("sqlite:///"):
        from urllib.parse import unquote

        return unquote(named.removeprefix("sqlite://"))
    if named:
        return "" if re.match(r"[A-Za-z][A-Za-z0-9+.-]+://", named) else os.path.abspath(named)
    home = os.path.expanduser("~")
    if sys.platform == "win32":
        data = os.path.join(os.environ.get("LOCALAPPDATA") or home, "factbook", "factbook")
    elif sys.platform == "darwin":
        data = os.path.join(home, "Library", "Application Support", "factbook")
    else:
        share = os.environ.get("XDG_DATA_HOME", "").strip() or os.path.join(home, ".local", "share")
        data = os.path.join(share, "factbook")
    return os.path.join(data, "factbook.db")


def start_behind(db: str) -> None:
    """Start the process that reads on, in a session of its own, and do not wait for it."""
    command = [sys.executable, "-m", "factbook.memory.follow", db]
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(_KEPT_FROM_CHILD) or name == "CODEX_HOME"
    }
    if not hasattr(os, "posix_spawn"):
        import subprocess

        subprocess.Popen(
            command,
            env=kept,
            creationflags=getattr(subprocess, "DETACHED_PROCESS", 0),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        return
    for number in range(3, 64):  # a pipe of the client that it would hold open
        try:
            os.set_inheritable(number, False)
        except OSError:
            continue
    nothing = [(os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_RDWR, 0) for number in range(3)]
    try:
        os.posix_spawn(command[0], command, kept, file_actions=nothing, setsid=True)
    except NotImplementedError:  # an older system
        os.posix_spawn(command[0], command, kept, file_actions=nothing, setpgroup=0)


def _options(args: Sequence[str]) -> dict[str, str]:
    """Read `--name value` and `--name=value`; what it does not know it passes over."""
    options: dict[str, str] = {}
    waiting = ""
    for arg in args:
        if waiting:
            options[waiting], waiting = arg, ""
        elif arg.startswith("--"):
            name, given, value = arg[2:].partition("=")
            if given:
                options[name] = value
            elif name in ("db", "key-file", "owner", "host"):
                waiting = name
    return options


def _input() -> bytes:
    parts: list[bytes] = []
    size = 0
    while part := os.read(0, 1 << 20):
        size += len(part)
        if size > INPUT_BYTES:
            return b""
        parts.append(part)
    return b"".join(parts)
