"""What `factbook install` and the plugins put into real agents works there, and goes away again."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from clients.agents import HOSTS, Run, command_of, on_path, run
from clients.scripted import Say, Use

ROOT = Path(__file__).resolve().parents[1]
FACTBOOK = [sys.executable, "-m", "factbook"]
TOLD = "I love fettuccini with sage."
PROMPT = "What was the fettuccini that I love?"
CONNECTED = {"claude": "✔ Connected", "codex": "enabled", "gemini": "- Connected"}


def session(
    host: str, folder: Path, before: Sequence[Sequence[str]], *, server: str = "factbook"
) -> Run:
    """Run one prompt in a home where something was told, behind some commands."""
    tool = f"mcp__{server}__search_memory" if host == "claude" else "search_memory"
    return run(
        host,
        folder,
        [PROMPT],
        [Use(tool, {"query": "sage"}), Say("With sage.")],
        before=[[*FACTBOOK, "remember", TOLD], *before],
        allowed=[tool],
        env={**on_path(host, folder), "GEMINI_CLI_TRUST_WORKSPACE": "true"},
    )


def holds(done: Run) -> None:
    """Hold a session to what the server answers and what the hook brings."""
    assert not any(done.codes), done.said
    assert any("factbook-memory ids" in one for one in done.asked), "the hook reached no model"
    found = [one for one in done.asked if "fettuccini with sage" in one]
    assert any('\\"memories\\"' in one or '"memories"' in one for one in found), done.said


@pytest.mark.shows(
    "`factbook install` brings server and hooks, twice is once, --undo takes them out"
)
@pytest.mark.parametrize("host", HOSTS)
def test_what_is_installed_is_called_and_goes_away(tmp_path: Path, host: str) -> None:
    program = command_of(host) or []
    done = session(
        host,
        tmp_path / host,
        [
            ["/bin/cp", "-a", "../home", "../before"],
            [*FACTBOOK, "install", host],
            [*FACTBOOK, "install", host],
            [*program, "mcp", "list"],
            [*FACTBOOK, "doctor", "--client", host],
        ],
    )
    holds(done)
    assert CONNECTED[host] in done.said
    assert "server answers with 8 tools" in done.said
    assert ("not trusted, and skipped: " in done.said) == (host == "codex")
    home, was = tmp_path / host / "home", tmp_path / host / "before"
    env = {**os.environ, "HOME": str(home), "PATH": "/none"}
    env |= {"CODEX_HOME": str(home / ".codex")}
    subprocess.run([*FACTBOOK, "install", host, "--undo"], env=env, check=True)
    for path in (".claude/settings.json", ".codex/config.toml", ".codex/hooks.json"):
        if (was / path).exists():
            assert (home / path).read_text("utf-8") == (was / path).read_text("utf-8")
    for path in (".claude.json", ".gemini/settings.json"):
        if (home / path).exists():
            assert "factbook-hook" not in (home / path).read_text("utf-8")
            assert '"mcp"' not in (home / path).read_text("utf-8")


PLUGIN = {
    "claude": [
        ["plugin", "validate", "--strict", str(ROOT)],
        [
            "plugin",
            "validate",
            "--strict",
            "--profile",
            "directory",
            str(ROOT / "plugins/factbook"),
        ],
        ["plugin", "marketplace", "add", str(ROOT)],
        ["plugin", "install", "factbook@factbook"],
    ],
    "codex": [
        ["plugin", "marketplace", "add", str(ROOT)],
        ["plugin", "add", "factbook@factbook"],
    ],
    "gemini": [["extensions", "install", "--consent", str(ROOT / "plugins/factbook-gemini")]],
}


@pytest.mark.shows("the plugin or extension brings server and hooks")
@pytest.mark.parametrize("host", HOSTS)
def test_the_plugin_brings_server_and_hooks(tmp_path: Path, host: str) -> None:
    if not (Path(sys.executable).parent / "factbook-hook").exists():
        pytest.skip("factbook-hook is not installed here: pip install -e .")
    program = command_of(host) or []
    done = session(
        host,
        tmp_path / host,
        [[*program, *words] for words in PLUGIN[host]],
        server="plugin_factbook_factbook",
    )
    holds(done)
    if host != "gemini":
        assert any("host, file or person you know nothing of" in one for one in done.asked)
