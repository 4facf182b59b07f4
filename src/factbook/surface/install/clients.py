"""The clients: where each keeps its configuration, and what is put there.

A server and hooks are recognised as ours by what they run, so they are found again after a client
or a person has written the file anew, moved them, or put keys of their own beside them.
"""

from __future__ import annotations

import json
import os
import shlex
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath, PureWindowsPath
from typing import Any, Final

import platformdirs

from factbook.errors import FactbookError, UsageError
from factbook.maintenance.timer import program
from factbook.model.facts import ME
from factbook.surface.install import toml_table
from factbook.surface.install.files import Change, copies, read, without_passwords
from factbook.surface.install.jsonc import Document

NAME: Final = "factbook"
HOOK: Final = "factbook-hook"
HOOK_MODULE: Final = "factbook.surface.hook"
HOOK_CALL: Final = ("-c", f"from {HOOK_MODULE} import main; main()")
HOOK_SECONDS: Final = 2  # its own deadline is below one; a loaded machine starts it late
TABLE: Final = "mcp_servers"
SERVER: Final = ("mcpServers", NAME)
OWN_VARIABLES: Final = ("FACTBOOK_DB", "FACTBOOK_KEY_FILE")
HOOK_OPTIONS: Final = dict(zip(("--db", "--key-file"), OWN_VARIABLES, strict=True))
TWICE: Final = "the plugin brings server and hooks, too, and what runs second does nothing"
COPIES: Final = 5  # of a file that stay, the newest

_LOG_EVENTS: Final = ("SessionStart", "UserPromptSubmit", "Stop", "PreCompact", "SessionEnd")


@dataclass(frozen=True, slots=True, kw_only=True)
class Seat:
    """The files of a client that servers and hooks stand in."""

    servers: Path
    hooks: Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Client:
    """A program that agents run in."""

    name: str
    title: str
    events: Sequence[str]  # at which it is to run our hook
    second: int  # how long a second is in its timeouts
    user: Callable[[], Seat]
    project: Seat  # below the folder of a project
    server: Mapping[str, Any]  # what a new server has besides, as the client itself writes it
    hook: Mapping[str, str]
    on_windows: Callable[[Sequence[str]], str]  # a command, for the shell that it runs hooks in
    then: str = ""  # what the user has to do

    def seat(self, *, project: bool) -> Seat:
        if not project:
            return self.user()
        here = Path.cwd()
        return Seat(servers=here / self.project.servers, hooks=here / self.project.hooks)


def _home(variable: str) -> Path | None:
    named = os.environ.get(variable)
    return Path(named).expanduser() if named else None


def _claude() -> Seat:
    named = _home("CLAUDE_CONFIG_DIR")
    folder = named or Path.home() / ".claude"
    old = folder / ".config.json"  # older versions kept it there, and it is read before the other
    state = old if old.is_file() else (named or Path.home()) / ".claude.json"
    return Seat(servers=state, hooks=folder / "settings.json")


def _codex() -> Seat:
    folder = _home("CODEX_HOME") or Path.home() / ".codex"
    return Seat(servers=folder / "config.toml", hooks=folder / "hooks.json")


def _gemini() -> Seat:
    settings = (_home("GEMINI_CLI_HOME") or Path.home()) / ".gemini" / "settings.json"
    return Seat(servers=settings, hooks=settings)


def _for_bash(words: Sequence[str]) -> str:
    # Without blanks it is the same for PowerShell, which is taken where there is no bash.
    return shlex.join(word.replace("\\", "/") for word in words)


def _for_cmd(words: Sequence[str]) -> str:
    return " ".join(f'"{word}"' for word in words)


def _for_powershell(words: Sequence[str]) -> str:
    return " ".join(["&", *("'{}'".format(word.replace("'", "''")) for word in words)])


CLIENTS: Final = {
    client.name: client
    for client in (
        Client(
            name="claude",
            title="Claude Code",
            events=_LOG_EVENTS,
            second=1,
            user=_claude,
            project=Seat(servers=Path(".mcp.json"), hooks=Path(".claude/settings.json")),
            server={"type": "stdio", "command": "", "args": [], "env": {}},
            hook={},
            on_windows=_for_bash,
        ),
        Client(
            name="codex",
            title="Codex",
            events=_LOG_EVENTS,
            second=1,
            user=_codex,
            project=Seat(servers=Path(".codex/config.toml"), hooks=Path(".codex/hooks.json")),
            server={},
            hook={},
            on_windows=_for_cmd,
            then="Codex skips hooks that you have not trusted: start `codex` once, and it asks; or"
            " type /hooks there",
        ),
        Client(
            name="gemini",
            title="Gemini CLI",
            # PreCompress comes before every call of the model: it says nothing
            events=("SessionStart", "BeforeAgent", "AfterAgent", "SessionEnd"),
            second=1000,
            user=_gemini,
            project=Seat(
                servers=Path(".gemini/settings.json"), hooks=Path(".gemini/settings.json")
            ),
            server={},
            hook={"name": NAME},
            on_windows=_for_powershell,
            then="Gemini CLI starts servers and hooks only in folders that you trust, and asks when"
            " it is started in another one",
        ),
    )
}

Place = tuple[str, str, int, str, int]  # of a hook: its event, group and number
Kept = Callable[[tuple[str, ...]], bool]  # whether a part stays, though it is empty


def environment(db: Path | str) -> dict[str, str]:
    """Return the variables that our programs need where a client starts them.

    A client gives what it starts another environment than a shell: what is not as usual is named.
    """
    usual = Path(platformdirs.user_data_path("factbook")) / "factbook.db"
    named = {}
    if db != usual or os.environ.get("XDG_DATA_HOME"):
        named["FACTBOOK_DB"] = os.path.abspath(db) if isinstance(db, Path) else db  # noqa: PTH100
    key = os.environ.get("FACTBOOK_KEY_FILE")
    if not key and os.environ.get("XDG_CONFIG_HOME"):
        key = str(platformdirs.user_config_path("factbook") / "redaction.key")
    if key:
        named["FACTBOOK_KEY_FILE"] = os.path.abspath(key)  # noqa: PTH100
    return named


def has_plugin(client: Client) -> bool:
    folder = client.user().hooks.parent
    try:
        if client.name == "gemini":
            return (folder / "extensions" / NAME / "gemini-extension.json").is_file()
        if client.name == "codex":
            tables = toml_table.read(read(folder / "config.toml") or "").get("plugins", {})
            there = {name for name, table in tables.items() if table.get("enabled", True)}
        else:
            tables = Document(read(folder / "settings.json") or "").get(("enabledPlugins",)) or {}
            there = {name for name, enabled in tables.items() if enabled}
    except (FactbookError, ValueError, RecursionError, AttributeError):
        return False  # what cannot be read is told where it is to be changed
    return any(name.partition("@")[0] == NAME for name in there)


def passing() -> str:
    """Return a remark where this installation may vanish under the client; "" where it stays."""
    if not Path(sys.prefix).is_relative_to(platformdirs.user_cache_path()):
        return ""
    return (
        f"this factbook runs from a cache ({sys.prefix}), which may be emptied; install it with"
        " `pipx install` or `uv tool install` first"
    )


def is_our_server(entry: object) -> bool:
    if not isinstance(entry, Mapping) or not isinstance(entry.get("args"), list):
        return False
    runs = PurePath(str(entry.get("command"))).stem == NAME or NAME in entry["args"]
    return runs and "mcp" in entry["args"]


def server_at(seat: Seat) -> Mapping[str, Any] | None:
    text = read(seat.servers) or ""
    if seat.servers.suffix == ".toml":
        entry = toml_table.read(text).get(TABLE, {}).get(NAME)
    else:
        entry = Document(text).get(SERVER)
    return entry if is_our_server(entry) else None


def owner_at(seat: Seat) -> str:
    """Return whose memory a configuration serves: a later install without an owner keeps it."""
    try:
        server = server_at(seat)
    except (ValueError, RecursionError, KeyError, TypeError):
        return ME  # it is left as it is, and the error is told where it would be changed
    return _owner_apart(server["args"])[0] if server else ME


def _owner_apart(args: Sequence[str]) -> tuple[str, list[str]]:
    """Return (the owner that our server is given, what else stands behind "mcp")."""
    owner, rest = ME, []
    words = iter(args[args.index("mcp") + 1 :] if "mcp" in args else ())
    for word in words:
        option, given, value = word.partition("=")
        if option == "--owner":
            owner = value if given else next(words, ME)
        else:
            rest.append(word)
    return owner, rest


def is_our_hook(entry: object) -> bool:
    """Tell whether a hook of a configuration is ours; one that wraps it is not."""
    command = entry.get("command") if isinstance(entry, Mapping) else None
    try:
        words = shlex.split(command) if isinstance(command, str) else []
    except ValueError:
        return False
    while words and ("=" in words[0] or words[0] == "&"):
        del words[0]
    return bool(words) and (PureWindowsPath(words[0]).stem == HOOK or HOOK_CALL[-1] in words)


@dataclass(frozen=True, slots=True, kw_only=True)
class Install:
    """What is put into the configuration of a client, or taken out of it."""

    client: Client
    seat: Seat
    variables: Mapping[str, str]
    owner: str = ME  # whose memory it is
    mcp: bool = True  # whether it is about the server
    hooks: bool = True  # whether it is about the hooks

    @property
    def texts(self) -> list[tuple[Path, str]]:
        """What a person may put into each file instead."""
        server = self.server(None)
        if self.seat.servers.suffix == ".toml":
            said = toml_table.table((TABLE, NAME), server)
        else:
            said = json.dumps({"mcpServers": {NAME: server}}, indent=2)
        hooks = {event: [{"hooks": [self.hook]}] for event in self.client.events}
        told = [(self.seat.servers, without_passwords(said))] * self.mcp
        return told + [(self.seat.hooks, json.dumps({"hooks": hooks}, indent=2))] * self.hooks

    @property
    def hook(self) -> dict[str, Any]:
        words = program(HOOK, *HOOK_CALL)
        for option, name in HOOK_OPTIONS.items():
            words += [option, self.variables[name]] if name in self.variables else []
        words += self._of_owner
        command = self.client.on_windows(words) if sys.platform == "win32" else shlex.join(words)
        timeout = HOOK_SECONDS * self.client.second
        return {"type": "command", **self.client.hook, "command": command, "timeout": timeout}

    @property
    def _of_owner(self) -> list[str]:
        return ["--owner", self.owner] if self.owner != ME else []

    def server(self, there: Mapping[str, Any] | None) -> dict[str, Any]:
        """Return the server as it is to stand, with what the user added to one of ours."""
        command, *args = program(NAME)
        old = dict(there or self.client.server)
        kept = old.get("args") or []
        env = old.get("env") or {}
        own = {name: value for name, value in env.items() if name not in OWN_VARIABLES}
        _, after = _owner_apart(kept)
        new = {**old, "command": command, "args": [*args, "mcp", *after, *self._of_owner]}
        if "env" in old or self.variables:
            new["env"] = own | dict(self.variables)
        return new

    def changes(self, *, undo: bool) -> list[Change]:
        """Return what would change, file by file; nothing is written.

        Raises UsageError for a file in which it cannot be changed: `texts` are for such a one.
        """
        parts = [(self.seat.servers, self._servers, self._no_servers)] * self.mcp
        parts += [(self.seat.hooks, self._hooks, self._no_hooks)] * self.hooks
        texts: dict[Path, tuple[str | None, str | None]] = {}
        for path, put, take in parts:
            before, now = texts.get(path) or (read(path),) * 2
            try:
                if not undo:
                    now = put(now or "")
                elif now is not None:
                    now = _taken(path, now, take)
            except (ValueError, RecursionError, KeyError, TypeError) as error:
                raise UsageError(detail=self._refused(path, error, undo=undo)) from error
            texts[path] = before, now
        return [
            Change(path=path, before=before, after=after) for path, (before, after) in texts.items()
        ]

    def prune(self, path: Path) -> None:
        """Remove older copies beside a file, but none that taking out what is ours looks at."""
        there = copies(path)
        takes = ((self.seat.servers, self._no_servers), (self.seat.hooks, self._no_hooks))
        for place, take in takes:
            if place == path:
                needed = next((copy for copy in there if _unchanged(take, there[copy])), None)
                there = {copy: said for copy, said in there.items() if copy != needed}
        for copy in [*there][COPIES:]:
            copy.unlink(missing_ok=True)

    def _refused(self, path: Path, error: Exception, *, undo: bool) -> str:
        why = str(error) or "it is nested too deeply"
        by_hand = "take out what is of factbook" if undo else "put in what is shown above"
        return f"{path} was left as it is: {why}; mend it, or {by_hand} by hand"

    def _servers(self, text: str) -> str:
        if self.seat.servers.suffix == ".toml":
            there = toml_table.read(text).get(TABLE, {}).get(NAME)
            new = self._checked_server(there)
            values = {
                name: value for name, value in new.items() if (there or {}).get(name) != value
            }
            return toml_table.put(text, (TABLE, NAME), values) if values else text
        document = Document(text)
        there = document.get(SERVER)
        if there is None and document.has(SERVER):
            there = {}  # null is no server of ours
        new = self._checked_server(there)
        if new == there:
            return text
        document.put(SERVER, new)
        return document.text

    def _checked_server(self, there: Any) -> dict[str, Any]:
        if there is not None and not is_our_server(there):
            raise ValueError(f"another server is called {NAME} there")
        return self.server(there)

    def _no_servers(self, text: str, kept: Kept) -> str:
        if self.seat.servers.suffix == ".toml":
            there = toml_table.read(text).get(TABLE, {}).get(NAME)
            return toml_table.remove(text, (TABLE, NAME)) if is_our_server(there) else text
        document = Document(text)
        if not is_our_server(document.get(SERVER)):
            return text
        document.remove(SERVER)
        _prune(document, ("mcpServers",), kept)
        return document.text

    def _hooks(self, text: str) -> str:
        document, wanted = Document(text), self.hook
        for event in self.client.events:
            places = [*our_hooks(document, event)]
            for place in reversed(places[1:]):
                _remove_hook(document, place)
            there = document.get(places[0]) if places else None
            if there is None:
                document.append(("hooks", event), {"hooks": [wanted]})
            elif there | wanted != there:
                document.put(places[0], there | wanted)
        return document.text

    def _no_hooks(self, text: str, kept: Kept) -> str:
        document = Document(text)
        events = document.get(("hooks",))
        gone = False
        for event in events if isinstance(events, dict) else ():
            places = [*our_hooks(document, event)]
            for place in reversed(places):
                _remove_hook(document, place)
            if places:
                _prune(document, ("hooks", event), kept)
                gone = True
        if not gone:
            return text
        _prune(document, ("hooks",), kept)
        return document.text


def our_hooks(document: Document, event: str) -> Iterator[Place]:
    """Yield where our hooks of an event stand; one is enough."""
    groups = document.get(("hooks", event))
    for number, group in enumerate(groups if isinstance(groups, list) else ()):
        entries = group.get("hooks") if isinstance(group, dict) else None
        for index, entry in enumerate(entries if isinstance(entries, list) else ()):
            if is_our_hook(entry):
                yield "hooks", event, number, "hooks", index


def _remove_hook(document: Document, place: Place) -> None:
    alone = len(document.get(place[:4])) == 1
    document.remove(place[:3] if alone else place)


def _prune(document: Document, path: tuple[str, ...], kept: Kept) -> None:
    if document.get(path) in ({}, []) and not kept(path):
        document.remove(path)


def _taken(path: Path, text: str, take: Callable[[str, Kept], str]) -> str | None:
    """Return a text without what is ours; None where nothing else was ever in the file.

    Where nothing but white space tells it from what stood there before ours came in, it is that.
    """
    if (changed := take(text, _never)) == text:
        return text
    # the newest copy that has nothing of ours is how it was
    before = next((old for old in copies(path).values() if _unchanged(take, old)), None)
    if before is None:
        return None if _said(path, changed) in ([], ["{", "}"]) else changed
    if path.suffix != ".toml":
        changed = take(text, Document(before).has)
    return before if _said(path, changed) == _said(path, before) else changed


def _never(path: tuple[str, ...]) -> bool:
    return False


def _unchanged(take: Callable[[str, Kept], str], old: str) -> bool:
    try:
        return take(old, _never) == old
    except (ValueError, RecursionError, KeyError, TypeError):
        return False


def _said(path: Path, text: str) -> list[str]:
    """Return a text without the white space that says nothing."""
    if path.suffix == ".toml":
        return [line.rstrip() for line in text.splitlines() if line.strip()]
    return Document(text).said
