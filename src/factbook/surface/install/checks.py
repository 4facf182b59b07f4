"""Examine what is installed in each client: does the server answer, do the hooks run.

What was configured is started as the client would start it. Codex alone knows which hooks its user
trusts, so it is asked.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from factbook.errors import FactbookError
from factbook.language.values import amount, count, home_path, moment
from factbook.memory.doctor import CheckResult, Level
from factbook.sources.spool import Spool, folder_of
from factbook.surface.install.clients import (
    CLIENTS,
    OWN_VARIABLES,
    TWICE,
    Client,
    Seat,
    has_plugin,
    is_our_hook,
    our_hooks,
    server_at,
)
from factbook.surface.install.files import read
from factbook.surface.install.jsonc import Document

SECONDS: Final = 10.0  # that a server or a client has to answer
SLOW_S: Final = 1.0  # Codex asks its model without the tools of a server that takes longer
HOSTS: Final = {"claude": "claude-code", "codex": "codex", "gemini": "gemini-cli"}
_PROTOCOL: Final = "2025-06-18"
_ABOUT: Final = {"clientInfo": {"name": "factbook doctor", "version": "1"}}


def examine(db: Path | str, only: str = "") -> Iterator[CheckResult]:
    """Examine each client in which something is installed; with `only`, that one in any case."""
    for client in CLIENTS.values():
        if only in ("", client.name):
            yield from _client(client, db, asked=bool(only))


def _client(client: Client, db: Path | str, *, asked: bool) -> Iterator[CheckResult]:
    def said(level: Level, detail: str) -> CheckResult:
        return CheckResult(level, client.name, detail)

    hooked = there = False
    plugin = has_plugin(client)
    places = [str(db)]
    looked: set[Path] = set()  # in a home folder, the project's files are the user's
    for project in (False, True):
        seat = client.seat(project=project)
        try:
            server = None if seat.servers in looked else server_at(seat)
            hooks = {} if seat.hooks in looked else _hooks(seat)
        except (FactbookError, ValueError, RecursionError) as error:
            where = f"{home_path(seat.servers)}, {home_path(seat.hooks)}"
            yield said("warn", f"what is installed cannot be read in {where}: {error}")
            continue
        finally:
            looked |= {seat.servers, seat.hooks}
        again = f"`factbook install {client.name}{' --project' * project}`"
        if server is not None:
            there = True
            yield said(*_answers(client, server, seat, again))
        if hooks:
            there = hooked = True
            places += _databases(hooks.values())
            yield said(*_complete(client, hooks, seat, again))
    if client.name == "codex" and (hooked or plugin):
        yield said(*_trusted())
    if there and plugin:
        yield said("warn", f"{TWICE}; `factbook install {client.name} --undo` takes out one")
    if there or plugin:
        yield said(*_fired(client, places))
    elif asked:
        yield said("warn", f"nothing is installed; `factbook install {client.name}` does it")


def _answers(
    client: Client, server: Mapping[str, Any], seat: Seat, again: str
) -> tuple[Level, str]:
    """Start the server, ask it for its tools, and say how long that took."""
    command = [str(server["command"]), *map(str, server["args"])]
    began = time.perf_counter()
    try:
        answer = _ask(
            command,
            [
                ("initialize", {"protocolVersion": _PROTOCOL, "capabilities": {}, **_ABOUT}),
                ("notifications/initialized", None),
                ("tools/list", {}),
            ],
            env=server.get("env") or {},
        )
        tools = len(answer["tools"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        why = f"{shlex.join(command)} of {home_path(seat.servers)} gives no tools ({error})"
        return "fail", f"{why}; {again} puts the one that runs here in its place"
    took = time.perf_counter() - began
    told = f"server answers with {count(tools, 'tool')} ({amount(took)}, {home_path(seat.servers)})"
    if client.name == "codex" and took > SLOW_S:
        return "warn", f"{told}; Codex leaves out what takes longer than about {SLOW_S:g} s"
    return "ok", told


def _ask(
    command: Sequence[str],
    messages: Sequence[tuple[str, Mapping[str, object] | None]],
    *,
    env: Mapping[str, str],
) -> Any:
    """Start a program that speaks JSON-RPC on stdin and stdout; return its last answer's result.

    Raises OSError where it cannot be started, and ValueError where it gives none in time.
    """
    usual = {name: value for name, value in os.environ.items() if name not in OWN_VARIABLES}
    lines = [
        json.dumps(
            {"jsonrpc": "2.0", "method": method, "params": params or {}}
            | ({} if params is None else {"id": number})
        )
        for number, (method, params) in enumerate(messages)
    ]
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=usual | dict(env),
    ) as process:
        ended = threading.Timer(SECONDS, process.kill)
        ended.start()
        try:
            assert process.stdin is not None
            assert process.stdout is not None
            with suppress(BrokenPipeError):
                process.stdin.write("".join(f"{line}\n" for line in lines).encode())
                process.stdin.flush()
            for line in process.stdout:
                with suppress(ValueError):
                    said = json.loads(line)
                    if isinstance(said, dict) and said.get("id") == len(lines) - 1:
                        return said.get("result")
        finally:
            ended.cancel()
            process.kill()
    raise ValueError(f"it did not answer within {SECONDS:g} s, or ended before")


def _hooks(seat: Seat) -> dict[str, str]:
    document = Document(read(seat.hooks) or "")
    events = document.get(("hooks",))
    return {
        event: document.get(places[0])["command"]
        for event in (events if isinstance(events, dict) else ())
        if (places := [*our_hooks(document, event)])
    }


def _complete(
    client: Client, hooks: Mapping[str, str], seat: Seat, again: str
) -> tuple[Level, str]:
    missing = [event for event in client.events if event not in hooks]
    where = home_path(seat.hooks)
    for command in hooks.values():
        program = next(word for word in shlex.split(command) if word != "&" and "=" not in word)
        if shutil.which(program) is None:
            return "fail", f"{program} of {where} is not there; {again} puts in the one that is"
    if missing:
        return "warn", f"no hook at {', '.join(missing)} in {where}; {again} puts it there"
    return "ok", f"hooks at {', '.join(hooks)} ({where})"


def _trusted() -> tuple[Level, str]:
    """Ask Codex which of our hooks its user trusts, wherever they stand."""
    program = shutil.which("codex")
    if program is None:
        return "warn", "whether its hooks are trusted cannot be told: there is no `codex` on PATH"
    try:
        answer = _ask(
            [program, "app-server"],
            [
                ("initialize", _ABOUT),
                ("initialized", None),
                ("hooks/list", {"cwds": [str(Path.cwd())]}),
            ],
            env={},
        )
        hooks = [hook for folder in answer["data"] for hook in folder["hooks"]]
        ours = [hook for hook in hooks if is_our_hook(hook)]
        skipped = [
            hook["eventName"]
            for hook in ours
            if hook["trustStatus"] not in ("trusted", "managed") or not hook["enabled"]
        ]
    except (OSError, ValueError, KeyError, TypeError) as error:
        return "warn", f"whether its hooks are trusted cannot be told: {error!r}"
    if skipped or not ours:
        named = ", ".join(skipped) or "all"
        return "warn", f"not trusted, and skipped: {named}; type /hooks in `codex` and trust them"
    return "ok", "its hooks are trusted"


def _databases(commands: Iterable[str]) -> Iterator[str]:
    for words in map(shlex.split, commands):
        if "--db" in words[:-1]:
            yield words[words.index("--db") + 1]


def _fired(client: Client, places: Sequence[str]) -> tuple[Level, str]:
    """Say when each event last came, and what went wrong then."""
    last: dict[str, int] = {}
    failed = ""
    spools = [Spool(folder_of(place)) for place in set(places)]
    for spool, session in [(each, state) for each in spools for state in each.sessions()]:
        if session.get("host") == HOSTS[client.name]:
            # by the process that reads on
            behind = spool.prepared(session["name"], session["owner"])
            failed = failed or str(session.get("failed") or behind.get("failed") or "")
            for event, at in session.get("events", {}).items():
                last[event] = max(at, last.get(event, 0))
    if not last:
        return "ok", "no hook has run yet: a session shows it"
    told = ", ".join(f"{event} {moment(at)}" for event, at in sorted(last.items()))
    late = f"; of late: {failed}" if failed else ""
    return "warn" if failed else "ok", f"hooks ran: {told}{late}"
