"""What was shown of each client, as a table at the end."""

from __future__ import annotations

import subprocess
from collections import defaultdict
from typing import Final

import pytest

from clients.agents import HOSTS, command_of

_TITLES: Final = {"claude": "Claude Code", "codex": "Codex", "gemini": "Gemini CLI"}
_shown: dict[tuple[str, str], list[str]] = defaultdict(list)


def pytest_configure(config: pytest.Config) -> None:
    """Let tests say what they show."""
    config.addinivalue_line("markers", "shows(text): what a test shows of a client")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]):  # type: ignore[no-untyped-def]
    """Keep what became of each test of a client."""
    report = yield
    marker = item.get_closest_marker("shows")
    if marker is not None and (report.when == "call" or report.outcome != "passed"):
        given = getattr(item, "callspec", None)
        host = "codex" if given is None else given.params["host"]
        _shown[host, marker.args[0]].append(report.outcome)
    return report


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say of each client which version it is, and what was shown."""
    if not _shown:
        return
    terminalreporter.section("clients")
    for host in HOSTS:
        command = command_of(host)
        if command is None:
            terminalreporter.line(f"{_TITLES[host]}: not installed")
            continue
        ran = subprocess.run([*command, "--version"], capture_output=True, text=True, check=False)
        number = next((word for word in ran.stdout.split() if word[:1].isdigit()), "?")
        terminalreporter.line(f"{_TITLES[host]} {number}")
        for (of, text), outcomes in _shown.items():
            if of == host:
                passed = outcomes.count("passed")
                terminalreporter.line(f"  {passed} of {len(outcomes)}  {text}")
