"""The plugin of Claude Code and Codex and the extension of Gemini CLI say what the package does."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import factbook
from factbook.surface.install.clients import CLIENTS, HOOK, HOOK_SECONDS, is_our_server

ROOT = Path(__file__).resolve().parent.parent
PLUGIN = ROOT / "plugins" / "factbook"
EXTENSION = ROOT / "plugins" / "factbook-gemini"


def read(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def test_every_manifest_has_the_version_of_the_package() -> None:
    (listed,) = read(ROOT / ".claude-plugin" / "marketplace.json")["plugins"]
    assert ROOT / listed["source"] == PLUGIN
    manifests = [
        listed,
        read(PLUGIN / ".claude-plugin" / "plugin.json"),
        read(PLUGIN / ".codex-plugin" / "plugin.json"),
        read(EXTENSION / "gemini-extension.json"),
    ]
    assert {(one["name"], one["version"]) for one in manifests} == {
        ("factbook", factbook.__version__)
    }


def test_the_server_stands_once_for_each_client() -> None:
    claude = read(PLUGIN / ".claude-plugin" / "plugin.json")
    codex = read(PLUGIN / ".codex-plugin" / "plugin.json")
    assert "mcpServers" not in claude  # it reads .mcp.json unasked, and would start two
    for path in (PLUGIN / codex["mcpServers"], EXTENSION / "gemini-extension.json"):
        ((name, server),) = read(path)["mcpServers"].items()
        assert name == "factbook"
        assert is_our_server(server)
    assert (PLUGIN / codex["hooks"]).is_file()
    assert [*(PLUGIN / codex["skills"]).glob("*/SKILL.md")]


@pytest.mark.parametrize(
    ("folder", "clients"), [(PLUGIN, ("claude", "codex")), (EXTENSION, ("gemini",))]
)
def test_the_hooks_are_those_that_install_puts_in(folder: Path, clients: tuple[str, ...]) -> None:
    hooks = read(folder / "hooks" / "hooks.json")["hooks"]
    for client in map(CLIENTS.__getitem__, clients):
        ours = {"type": "command", **client.hook, "command": HOOK}
        ours["timeout"] = HOOK_SECONDS * client.second
        assert hooks == {event: [{"hooks": [ours]}] for event in client.events}


@pytest.mark.parametrize("folder", [PLUGIN, EXTENSION])
def test_a_plugin_has_the_licence_of_the_package(folder: Path) -> None:
    assert (folder / "LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes()
