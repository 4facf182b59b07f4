"""`factbook install`: what it puts into a client's configuration, and what it leaves alone."""

from __future__ import annotations

import json
import os
import shlex
import stat
import string
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import platformdirs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conftest import SESSION, Cli, examples, record
from factbook.errors import FactbookError
from factbook.sources.spool import Spool, folder_of
from factbook.surface.install import clients
from factbook.surface.install.carry_out import carry_out
from factbook.surface.install.checks import HOSTS
from factbook.surface.install.clients import (
    CLIENTS,
    COPIES,
    Install,
    Seat,
    is_our_hook,
    is_our_server,
    passing,
)
from factbook.surface.install.files import Change
from factbook.surface.install.jsonc import Document, Unfit
from factbook.surface.install.toml_table import put, remove

NAMES = ("claude", "codex", "gemini")
BACKUP = "*.factbook-backup-*"
VARIABLES = {"FACTBOOK_DB": '/srv/it\'s "mine" $x/memory.db'}
OTHERS: dict[str, Any] = {
    "model": "opus",
    "mcpServers": {"notes": {"command": "notes", "args": ["-v"], "env": {"A": "1"}}},
    "hooks": {
        "SessionStart": [{"matcher": "startup", "hooks": [{"type": "command", "command": "a"}]}],
        "Stop": [{"hooks": [{"type": "command", "command": "tap -- /x/factbook-hook"}]}],
        "Notification": [],
    },
}


@pytest.fixture
def home(tmp_path: Path) -> Cli:
    """A home, and no client on the PATH."""
    folder = tmp_path / "home"
    folder.mkdir()
    return Cli(home=folder, env={"PATH": "/none"})


def files_of(client: str, home: Path) -> tuple[Path, Path]:
    """Return where servers and hooks stand."""
    return {
        "claude": (home / ".claude.json", home / ".claude/settings.json"),
        "codex": (home / ".codex/config.toml", home / ".codex/hooks.json"),
        "gemini": (home / ".gemini/settings.json",) * 2,
    }[client]


def server_in(path: Path) -> Any:
    if path.suffix == ".toml":
        return tomllib.loads(path.read_text("utf-8"))["mcp_servers"]["factbook"]
    return json.loads(path.read_text("utf-8"))["mcpServers"]["factbook"]


def hooks_in(path: Path) -> dict[str, list[Any]]:
    """Return our hooks, by event."""
    groups = json.loads(path.read_text("utf-8"))["hooks"]
    every = {
        event: [entry for group in of for entry in group["hooks"]] for event, of in groups.items()
    }
    return {event: ours for event, of in every.items() if (ours := [*filter(is_our_hook, of)])}


def snapshot(folder: Path) -> dict[str, tuple[bytes, int]]:
    """Return every file below a folder but copies: its bytes and its mode."""
    return {
        str(path.relative_to(folder)): (path.read_bytes(), path.stat().st_mode)
        for path in folder.rglob("*")
        if path.is_file() and "factbook-backup" not in path.name
    }


@pytest.mark.parametrize("client", NAMES)
def test_an_owner_is_named_to_server_and_hooks_and_stays(home: Cli, client: str) -> None:
    servers, hooks = files_of(client, home.home)

    def named() -> set[tuple[str, ...]]:
        commands = [
            shlex.split(entry["command"]) for of in hooks_in(hooks).values() for entry in of
        ]
        return {tuple(words[-2:]) for words in [*commands, server_in(servers)["args"]]}

    home("install", client, "--owner", "bob")
    assert named() == {("--owner", "bob")}
    assert "nothing to change" in home("install", client).out  # an upgrade changes no owner
    home("install", client, "--owner", "mia")
    assert named() == {("--owner", "mia")}
    home("install", client, "--owner", "me")
    assert not any("--owner" in words for words in named())
    home("install", client, "--owner", " ", code=2)


# --- from nothing, and back -----------------------------------------------------------------------


@pytest.mark.parametrize("client", NAMES)
def test_a_fresh_home_gets_a_server_and_hooks_and_loses_both_again(home: Cli, client: str) -> None:
    servers, hooks = files_of(client, home.home)
    shown = home("install", client, "--dry-run").out
    assert "+++ " in shown
    assert snapshot(home.home) == {}
    done = home("install", client).out
    assert all(line in done for line in shown.splitlines())
    server = server_in(servers)
    assert is_our_server(server)
    assert Path(server["command"]).is_absolute()
    assert server["env"]["FACTBOOK_DB"] == str(home.home / "data/factbook/factbook.db")
    ours = hooks_in(hooks)
    assert set(ours) == set(CLIENTS[client].events)
    assert {hook["timeout"] for [hook] in ours.values()} == {2000 if client == "gemini" else 2}
    assert stat.S_IMODE(servers.stat().st_mode) == 0o600
    before = snapshot(home.home)
    again = home("install", client, "--json").json()
    assert not any(file["changed"] or file["backup"] for file in again["files"])
    assert "nothing to change" in home("install", client).out
    assert snapshot(home.home) == before
    assert "-" in home("install", client, "--undo", "--dry-run").out
    assert snapshot(home.home) == before
    home("install", client, "--undo")
    assert snapshot(home.home) == {}
    assert "nothing to change" in home("install", client, "--undo").out


@pytest.mark.parametrize("client", NAMES)
@pytest.mark.parametrize("only", ["--no-hooks", "--no-mcp"])
def test_either_half_comes_and_goes_alone(home: Cli, client: str, only: str) -> None:
    servers, hooks = files_of(client, home.home)
    home("install", client, only)
    half = snapshot(home.home)
    text = "".join(path.read_text("utf-8") for path in {servers, hooks} if path.exists())
    assert ("SessionStart" in text) == (only == "--no-mcp")
    assert ("PATH" not in text and '"mcp"' in text) == (only == "--no-hooks")
    home("install", client)
    home("install", client, "--undo", "--no-mcp" if only == "--no-hooks" else "--no-hooks")
    assert {name: json_or_text(said[0]) for name, said in snapshot(home.home).items()} == {
        name: json_or_text(said[0]) for name, said in half.items()
    }
    home("install", client, "--undo", only)
    assert snapshot(home.home) == {}
    assert "nothing to do" in home("install", client, "--no-hooks", "--no-mcp", code=2).err


def json_or_text(said: bytes) -> object:
    try:
        return json.loads(said)
    except ValueError:
        return said


@pytest.mark.parametrize("client", NAMES)
def test_a_project_has_files_of_its_own(
    home: Cli, client: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = tmp_path / "shop"
    project.mkdir()
    monkeypatch.chdir(project)
    home("install", client, "--project")
    assert snapshot(home.home) == {}
    assert (
        set(snapshot(project))
        == {
            "claude": {".mcp.json", ".claude/settings.json"},
            "codex": {".codex/config.toml", ".codex/hooks.json"},
            "gemini": {".gemini/settings.json"},
        }[client]
    )
    home("install", client, "--project", "--undo")
    assert snapshot(project) == {}
    assert not [*project.rglob(BACKUP)]


def test_the_variables_of_clients_name_their_folders(home: Cli, tmp_path: Path) -> None:
    named = {
        name: str(tmp_path / name)
        for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "GEMINI_CLI_HOME")
    }
    for client in NAMES:
        home("install", client, env=named)
    assert snapshot(home.home) == {}
    for path in (
        "CLAUDE_CONFIG_DIR/.claude.json",
        "CLAUDE_CONFIG_DIR/settings.json",
        "CODEX_HOME/config.toml",
        "CODEX_HOME/hooks.json",
        "GEMINI_CLI_HOME/.gemini/settings.json",
    ):
        assert (tmp_path / path).is_file()


def test_a_usual_database_is_not_named(home: Cli) -> None:
    plain = {"XDG_DATA_HOME": "", "XDG_CONFIG_HOME": "", "FACTBOOK_KEY_FILE": ""}
    home("install", "gemini", env=plain)
    servers, hooks = files_of("gemini", home.home)
    assert "env" not in server_in(servers)
    assert "FACTBOOK" not in hooks_in(hooks)["AfterAgent"][0]["command"]
    home("--db", "my memory.db", "install", "gemini", env=plain)
    assert server_in(servers)["env"] == {"FACTBOOK_DB": str(Path("my memory.db").absolute())}
    (hook,) = hooks_in(hooks)["AfterAgent"]
    assert hook["command"].endswith(f" --db '{Path('my memory.db').absolute()}'")
    home("install", "gemini", env=plain)
    assert "FACTBOOK_DB" not in servers.read_text("utf-8")


def test_an_installation_that_may_vanish_is_remarked(monkeypatch: pytest.MonkeyPatch) -> None:
    assert passing() == ""
    monkeypatch.setattr(
        sys, "prefix", str(platformdirs.user_cache_path() / "uv" / "archive-v0" / "x")
    )
    assert "may be emptied" in passing()


# --- among what others put there ------------------------------------------------------------------


@pytest.mark.parametrize("client", ["claude", "gemini"])
@pytest.mark.parametrize("form", ["two", "four", "tab", "flat", "tight", "windows"])
def test_what_others_put_there_stays_byte_for_byte(home: Cli, client: str, form: str) -> None:
    text = {
        "two": json.dumps(OTHERS, indent=2) + "\n",
        "four": json.dumps(OTHERS, indent=4),
        "tab": json.dumps(OTHERS, indent="\t") + "\n",
        "flat": json.dumps(OTHERS),
        "tight": json.dumps(OTHERS, separators=(",", ":")),
        "windows": "\ufeff" + json.dumps(OTHERS, indent=2).replace("\n", "\r\n"),
    }[form]
    paths = set(files_of(client, home.home))
    for path in paths:
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="")
        path.chmod(0o640)
    before = snapshot(home.home)
    home("install", client)
    for path in paths:
        said = path.read_bytes().decode().removeprefix("\ufeff")
        now = json.loads(said)
        assert now["model"] == "opus"
        assert now["mcpServers"]["notes"] == OTHERS["mcpServers"]["notes"]
        assert now["hooks"]["SessionStart"][0] == OTHERS["hooks"]["SessionStart"][0]
        assert stat.S_IMODE(path.stat().st_mode) == 0o640
        (copy,) = path.parent.glob(f"{path.name}{BACKUP}")
        assert copy.read_bytes() == before[str(path.relative_to(home.home))][0]
        assert stat.S_IMODE(copy.stat().st_mode) == 0o640
        # what was there before is there in its order, and only signs between were put in
        rest = iter(said)
        assert all(sign in rest for sign in text.removeprefix("\ufeff"))
        assert ("\r\n" in said) == (said.count("\n") == said.count("\r\n") > 0)
    home("install", client, "--undo")
    assert snapshot(home.home) == before


@pytest.mark.parametrize("form", ["pretty", "flat", "toml"])
def test_a_diff_shows_no_token_of_other_servers(home: Cli, form: str) -> None:
    tokens = ["plain-looking-value", "second'value", "hunter2"]
    environment = {"API_KEY": tokens[0], "B": tokens[1]}
    github = {"command": "gh", "env": environment, "args": ["-k", tokens[2]]}
    client = "codex" if form == "toml" else "claude"
    path, _ = files_of(client, home.home)
    path.parent.mkdir(exist_ok=True)
    if form == "toml":
        path.write_text(
            f'[mcp_servers.github]\ncommand = "gh"\nargs = ["-k", "{tokens[2]}"]\n'
            f'env = {{ API_KEY = "{tokens[0]}", B = "{tokens[1]}" }}\n'
        )
    else:
        indent = 2 if form == "pretty" else None
        path.write_text(json.dumps({"mcpServers": {"github": github}}, indent=indent))
    for way in (["--dry-run"], [], ["--undo"]):
        for flags in ([], ["--json"]):
            shown = home(*flags, "install", client, *way)
            assert not [token for token in tokens if token in shown.out + shown.err]
            if not flags and way != ["--undo"]:
                assert "mcp" in shown.out


def test_comments_and_trailing_commas_stay(home: Cli) -> None:
    path = files_of("gemini", home.home)[0]
    path.parent.mkdir()
    text = """// mine
{
  "theme": "dark", // the eyes
  /* servers */ "mcpServers": {
    "a": { "command": "a" }, // first
    // nothing more
  },
  "hooks": { // later
  } // end
}
"""
    path.write_text(text, encoding="utf-8")
    home("install", "gemini")
    said = path.read_text("utf-8")
    for comment in ("// mine", "// the eyes", "/* servers */", "// first", "// later", "// end"):
        assert comment in said
    assert said.index("// first") < said.index('"factbook"')
    assert is_our_server(Document(said).get(("mcpServers", "factbook")))
    home("install", "gemini", "--undo")
    assert path.read_text("utf-8") == text


def test_comments_and_tables_of_codex_stay(home: Cli) -> None:
    path, _ = files_of("codex", home.home)
    path.parent.mkdir()
    text = (
        '# mine\nmodel = "gpt-5" # fast\n\n[mcp_servers.notes]\ncommand = "notes"\n# after'
        '\n[hooks.state."/x/hooks.json:stop:0:0"]\ntrusted_hash = "sha256:1"'
    )
    path.write_text(text, encoding="utf-8")
    home("install", "codex")
    said = path.read_text("utf-8")
    assert said.startswith(text + "\n")
    home("install", "codex", "--db", "/srv/other.db")
    assert server_in(path)["env"]["FACTBOOK_DB"] == "/srv/other.db"
    assert path.read_text("utf-8").startswith(text + "\n")
    path.write_text(path.read_text("utf-8") + '\n# more\n[tui]\ntheme = "x"\n', encoding="utf-8")
    home("install", "codex", "--undo")
    assert path.read_text("utf-8") == text + '\n\n# more\n[tui]\ntheme = "x"\n'


@pytest.mark.parametrize("client", NAMES)
def test_undo_takes_out_what_was_put_in_after_other_edits(home: Cli, client: str) -> None:
    home("install", client)
    for path in set(files_of(client, home.home)):
        if path.suffix == ".json":
            said = json.loads(path.read_text("utf-8"))
            hook = {"type": "command", "command": "mine"}
            said.setdefault("hooks", {}).setdefault("Stop", []).insert(0, {"hooks": [hook]})
            for of in said["hooks"].values():
                of[-1]["hooks"].append(hook)
            path.write_text(json.dumps({"mine": 1, **said}), encoding="utf-8")
    home("install", client, "--undo")
    for path in set(files_of(client, home.home)):
        if path.suffix == ".json":
            said = json.loads(path.read_text("utf-8"))
            assert said["mine"] == 1
            assert said["hooks"]
            assert all(
                group["hooks"] and {entry["command"] for entry in group["hooks"]} == {"mine"}
                for of in said["hooks"].values()
                for group in of
            )
            assert "factbook" not in path.read_text("utf-8")


@pytest.mark.parametrize("client", NAMES)
def test_few_copies_stay_and_the_one_that_undo_needs(home: Cli, client: str) -> None:
    servers, hooks = files_of(client, home.home)
    servers.parent.mkdir(exist_ok=True)
    before = "# mine\n[x]\n\n\n" if client == "codex" else '{\n\n    "x"  : {}\n\n}\n'
    servers.write_text(before, "utf-8")
    for number in range(9):
        home("--db", f"/srv/{number}.db", "install", client)
    for path in {servers, hooks}:
        copies = [*path.parent.glob(f"{path.name}.factbook-backup-*")]
        assert len(copies) == COPIES + (path == servers)
    home("install", client, "--undo")
    assert servers.read_text("utf-8") == before


def test_what_the_user_added_to_our_server_stays(home: Cli) -> None:
    home("install", "codex")
    path, _ = files_of("codex", home.home)
    said = path.read_text("utf-8").replace('["mcp"]', '["mcp", "--read-only"]')
    path.write_text(said + "required = true\n", encoding="utf-8")
    changed = home("install", "codex", "--db", "/srv/b.db", "--json").json()
    assert [file["changed"] for file in changed["files"]] == [True, True]
    server = server_in(path)
    assert server["args"][-2:] == ["mcp", "--read-only"]
    assert server["required"] is True
    assert server["env"]["FACTBOOK_DB"] == "/srv/b.db"


def test_an_older_installation_is_replaced_and_stands_once(home: Cli) -> None:
    path = files_of("gemini", home.home)[0]
    path.parent.mkdir()
    old = {"type": "command", "command": "/old/bin/factbook-hook", "timeout": 1}
    said = {
        "mcpServers": {"factbook": {"command": "factbook", "args": ["mcp"], "trust": True}},
        "hooks": {"AfterAgent": [{"hooks": [old]}, {"hooks": [old, {"command": "b"}]}]},
    }
    path.write_text(json.dumps(said), encoding="utf-8")
    home("install", "gemini")
    assert server_in(path)["trust"] is True
    assert Path(server_in(path)["command"]).is_absolute()
    (hook,) = hooks_in(path)["AfterAgent"]
    assert "/old/bin" not in hook["command"]
    assert {"hooks": [{"command": "b"}]} in json.loads(path.read_text("utf-8"))["hooks"][
        "AfterAgent"
    ]


# --- what cannot be changed -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("client", "text"),
    [
        ("claude", '{"mcpServers": {'),
        ("claude", '{"mcpServers": []}'),
        ("claude", '{"mcpServers": {"factbook": null}}'),
        ("claude", '{"mcpServers": {"factbook": {"type": "http", "url": "https://x"}}}'),
        ("claude", '{"a": NaN}'),
        ("claude", '{"a": 1 "b": 2}'),
        ("claude", "[]"),
        ("claude", "[" * 5000 + "]" * 5000),
        ("gemini", '{"hooks": "no"}'),
        ("gemini", '{"hooks": {"SessionStart": null}}'),
        ("gemini", "{'a': 1}"),
        ("codex", "model = "),
        ("codex", 'mcp_servers = { a = { command = "a" } }'),
        ("codex", 'mcp_servers.factbook.url = "https://x"'),
        ("codex", 'mcp_servers.factbook = { command = "factbook", args = ["mcp"] }'),
    ],
)
def test_what_cannot_be_changed_is_left_alone_and_said(home: Cli, client: str, text: str) -> None:
    path = files_of(client, home.home)[0]
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8")
    before = snapshot(home.home)
    done = home("install", client, code=2)
    assert str(path) in done.err
    assert "left as it is" in done.err
    assert "mcp" in done.out  # what may be pasted instead
    assert "SessionStart" in done.out
    assert home("install", client, "--json", code=2).json()["error"]
    assert snapshot(home.home) == before
    assert not [*home.home.rglob(BACKUP)]


def test_a_file_that_is_no_text_cannot_be_read(home: Cli) -> None:
    path = files_of("claude", home.home)[1]
    path.parent.mkdir()
    path.write_bytes(b'{"a": "\xff"}')
    assert "UTF-8" in home("install", "claude", code=3).err
    assert [*snapshot(home.home)] == [".claude/settings.json"]
    path.unlink()
    path.mkdir()
    assert "cannot be read" in home("install", "claude", code=3).err


def test_a_file_that_is_read_only_is_not_replaced(home: Cli) -> None:
    path = files_of("gemini", home.home)[0]
    path.parent.mkdir()
    path.write_text("{}", encoding="utf-8")
    path.chmod(0o444)
    assert "read-only" in home("install", "gemini", code=1).err
    assert path.read_text("utf-8") == "{}"
    assert not [*home.home.rglob(BACKUP)]


def test_a_file_that_its_client_writes_is_not_replaced(home: Cli) -> None:
    path = files_of("claude", home.home)[0]
    path.write_text("{}", encoding="utf-8")
    lock = path.with_name(".claude.json.lock")
    lock.mkdir()
    assert "writes" in home("install", "claude", code=1).err
    assert path.read_text("utf-8") == "{}"
    os.utime(lock, (1, 1))
    home("install", "claude")


def test_a_folder_that_cannot_be_made_is_said(home: Cli) -> None:
    (home.home / ".gemini").write_text("", encoding="utf-8")
    assert ".gemini" in home("install", "gemini", code=3).err


def test_a_file_that_changed_since_it_was_read_is_not_written(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    path.write_text("{}", encoding="utf-8")
    change = Change(path=path, before="{}", after='{"a": 1}')
    path.write_text('{"b": 1}', encoding="utf-8")
    with pytest.raises(FactbookError, match="meanwhile"):
        change.write()
    assert path.read_text("utf-8") == '{"b": 1}'
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_links_are_followed(home: Cli, tmp_path: Path) -> None:
    real = tmp_path / "dotfiles" / "gemini.json"
    real.parent.mkdir()
    real.write_text('{"a": 1}', encoding="utf-8")
    path = files_of("gemini", home.home)[0]
    path.parent.mkdir()
    path.symlink_to(real)
    home("install", "gemini")
    assert path.is_symlink()
    assert is_our_server(server_in(real))
    home("install", "gemini", "--undo")
    assert real.read_text("utf-8") == '{"a": 1}'
    path.unlink()
    path.symlink_to(tmp_path / "dotfiles" / "new.json")
    home("install", "gemini")
    assert is_our_server(server_in(tmp_path / "dotfiles" / "new.json"))


# --- Claude Code writes its own file --------------------------------------------------------------

CLAUDE = """#!{python}
import json, os, sys
path = os.path.expanduser("~/.claude.json")
said = json.load(open(path)) if os.path.exists(path) else {{}}
mcp, verb, *rest = sys.argv[1:]
assert (mcp, rest[:3]) == ("mcp", ["-s", "user", "factbook"]), sys.argv
servers = said.setdefault("mcpServers", {{}})
if os.path.exists(os.path.expanduser("~/broken")):
    sys.exit("it is broken")
if verb == "remove":
    del servers["factbook"]
else:
    assert rest[3] == "--", "others read what a program is called with"
    servers["factbook"] = {{"type": "stdio", "command": rest[4], "args": rest[5:], "env": {{}}}}
json.dump(said | {{"starts": said.get("starts", 0) + 1}}, open(path, "w"))
"""


@pytest.fixture
def with_claude(home: Cli, tmp_path: Path) -> Cli:
    """A home with a `claude` that writes its own file."""
    program = tmp_path / "bin" / "claude"
    program.parent.mkdir()
    program.write_text(CLAUDE.format(python=sys.executable), encoding="utf-8")
    program.chmod(0o755)
    return Cli(home=home.home, env={"PATH": str(program.parent)})


def test_claude_is_asked_to_write_its_own_file(with_claude: Cli) -> None:
    path, _ = files_of("claude", with_claude.home)
    path.write_text('{"other": 1}', encoding="utf-8")
    done = with_claude("install", "claude")
    assert "written by `claude mcp add`" in done.out
    said = json.loads(path.read_text("utf-8"))
    assert (said["starts"], said["other"]) == (1, 1)
    (copy,) = with_claude.home.glob(BACKUP)
    assert copy.read_text("utf-8") == '{"other": 1}'
    again = with_claude("install", "claude", "--json").json()
    assert not any(file["changed"] for file in again["files"])
    moved = with_claude("--db", "/srv/b.db", "install", "claude", "--no-hooks", "--json").json()
    assert moved["files"][0]["by"] == "claude mcp add"
    assert server_in(path)["env"]["FACTBOOK_DB"] == "/srv/b.db"
    with_claude("install", "claude", "--undo")
    assert json.loads(path.read_text("utf-8")) == {"other": 1, "mcpServers": {}, "starts": 4}


def test_a_password_is_for_the_file_alone(with_claude: Cli) -> None:
    url = "mongodb://ann:s3cret@db.example/memory"
    done = with_claude("--db", url, "install", "claude")
    assert "hooks read a file of SQLite" in done.err
    path, hooks = files_of("claude", with_claude.home)
    assert server_in(path)["env"]["FACTBOOK_DB"] == url
    assert not hooks.exists()
    again = with_claude("--db", url.replace("s3cret", "n3w"), "install", "claude", "--json")
    undone = with_claude("install", "claude", "--undo")
    for said in (done, again, undone):
        assert "s3cret" not in said.out + said.err
        assert "n3w" not in said.out + said.err
    path.write_text("no JSON", encoding="utf-8")
    by_hand = with_claude("--db", url, "install", "claude", code=2)
    assert "s3cret" not in by_hand.out + by_hand.err
    with_claude("--db", url, "install", "claude", "--project", code=2)
    with_claude("--db", url, "install", "codex", "--no-mcp", code=2)


def test_what_claude_refuses_is_said(with_claude: Cli) -> None:
    (with_claude.home / "broken").touch()
    assert "it is broken" in with_claude("install", "claude", code=1).err


# --- what the doctor says of it -------------------------------------------------------------------


@pytest.mark.parametrize("client", NAMES)
def test_the_doctor_says_it_once_in_a_home_folder(
    home: Cli, monkeypatch: pytest.MonkeyPatch, client: str
) -> None:
    home("install", client)
    monkeypatch.chdir(home.home)
    said = home("doctor", "--client", client).out
    assert (said.count("server answers with"), said.count("hooks at ")) == (1, 1)


@pytest.mark.parametrize("client", NAMES)
def test_the_doctor_asks_the_server_and_says_when_hooks_ran(home: Cli, client: str) -> None:
    assert "nothing is installed" in home("doctor", "--client", client).out
    home("install", client)
    said = home("doctor", "--client", client).out
    assert "server answers with 8 tools" in said
    assert f"hooks at {', '.join(CLIENTS[client].events)}" in said
    assert "no hook has run yet" in said
    assert ("cannot be told: there is no `codex`" in said) == (client == "codex")
    spool = Spool(
        folder_of(home.home / "data/factbook/factbook.db")
    )  # the hook's, whatever --db is
    (home.home / "data/factbook").mkdir(parents=True)
    state = {"at": 1, "host": HOSTS[client], "events": {"SessionStart": 1_790_000_000_000}}
    assert spool.keep_session("one", state)
    assert "hooks ran: SessionStart 2026-09-21" in home("doctor", "--client", client).out
    assert spool.keep_session("two", state | {"failed": "StoreBusy"})
    done = home("--db", home.home / "other.db", "doctor", "--client", client)
    assert "of late: StoreBusy" in done.out
    assert spool.keep_session("two", state)
    assert "of late" not in home("doctor", "--client", client).out
    assert spool.keep_prepared("two", {"failed": "StoreFull"})  # where nobody looks on
    assert "of late: StoreFull" in home("doctor", "--client", client).out
    findings = home("doctor", "--json").json()["findings"]
    assert [one["level"] for one in findings if one["name"] == client][:2] == ["ok", "ok"]
    assert not [one for one in findings if one["name"] in set(NAMES) - {client}]


def test_the_doctor_finds_what_is_gone(home: Cli) -> None:
    path = files_of("gemini", home.home)[0]
    home("install", "gemini")
    said = json.loads(path.read_text("utf-8"))
    whole = json.dumps(said)
    said["mcpServers"]["factbook"]["command"] = "/none/factbook"
    for group in said["hooks"]["AfterAgent"]:
        group["hooks"][0]["command"] = "/none/factbook-hook"
    path.write_text(json.dumps(said), encoding="utf-8")
    done = home("doctor", "--client", "gemini", code=1).out
    assert "gives no tools" in done
    assert "/none/factbook-hook" in done
    assert " ".join(done.split()).count("factbook install gemini") == 2
    said = json.loads(whole)
    del said["hooks"]["SessionEnd"]
    said["mcpServers"]["factbook"]["args"] = ["-c", "pass", "factbook", "mcp"]
    path.write_text(json.dumps(said), encoding="utf-8")
    done = home("doctor", "--client", "gemini", code=1).out
    assert "or ended before" in " ".join(done.split())
    assert "no hook at SessionEnd" in done
    path.write_text("{", encoding="utf-8")
    assert "cannot be read" in home("doctor", "--client", "gemini").out


CODEX = """#!{python}
import json, sys
for line in sys.stdin:
    said = json.loads(line)
    if said.get("method") == "hooks/list":
        hooks = [
            {{"eventName": event, "enabled": True, "trustStatus": trust}}
            | {{"command": "factbook-hook"}}
            for event, trust in (("stop", "untrusted"), ("sessionStart", "trusted"))
        ]
        print("a word of a log")
        result = {{"data": [{{"hooks": hooks}}]}}
        print(json.dumps({{"id": said["id"], "result": result}}), flush=True)
"""


def test_codex_is_asked_which_hooks_are_trusted(home: Cli, tmp_path: Path) -> None:
    program = tmp_path / "bin" / "codex"
    program.parent.mkdir()
    program.write_text(CODEX.format(python=sys.executable), encoding="utf-8")
    program.chmod(0o755)
    home("install", "codex", "--no-mcp")
    env = {"PATH": str(program.parent)}
    assert "not trusted, and skipped: stop;" in home("doctor", "--client", "codex", env=env).out
    said = program.read_text("utf-8").replace("untrusted", "trusted")
    program.write_text(said, encoding="utf-8")
    assert "its hooks are trusted" in home("doctor", "--client", "codex", env=env).out


PLUGINS = {
    "claude": (".claude/settings.json", '{"enabledPlugins": {"factbook@shop": %s}}'),
    "codex": (".codex/config.toml", '[plugins."factbook@shop"]\nenabled = %s\n'),
    "gemini": (".gemini/extensions/factbook/gemini-extension.json", "{}"),
}


@pytest.mark.parametrize("client", NAMES)
def test_a_plugin_beside_it_is_told(home: Cli, client: str) -> None:
    name, text = PLUGINS[client]
    path = home.home / name
    path.parent.mkdir(parents=True)
    path.write_text(text.replace("%s", "true"), "utf-8")
    assert "nothing is installed" not in home("doctor", "--client", client).out
    assert "what runs second does nothing" in home("install", client).err
    findings = home("doctor", "--client", client, "--json").json()["findings"]
    told = [each for each in findings if "what runs second does nothing" in each["detail"]]
    assert [each["level"] for each in told] == ["warn"]
    assert "does nothing" not in home("install", client, "--undo").err
    if client != "gemini":
        path.write_text(text.replace("%s", "false"), "utf-8")
        assert "does nothing" not in home("install", client).err


def test_the_doctor_counts_echoes(cli: Cli, tmp_path: Path) -> None:
    log = tmp_path / f"{SESSION}.jsonl"
    block = '<factbook-memory ids="f1">I love sage.</factbook-memory>'
    log.write_text(record("user", "u1", f"Buy pasta.\n{block}") + "\n", encoding="utf-8")
    cli("ingest", log)
    (said,) = [
        one["detail"]
        for one in cli("doctor", "--json").json()["findings"]
        if one["name"] == "echoes"
    ]
    assert said == "1 piece of what we put there came back in logs of claude-code, left out"


# --- any configuration ----------------------------------------------------------------------------

_KEYS = st.sampled_from(["mcpServers", "hooks", "SessionStart", "Stop", "matcher", "a", 'ü"\\'])
_PLAIN = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=5),
)
_VALUES = st.recursive(
    _PLAIN,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_KEYS, inner, max_size=3),
    max_leaves=12,
)
_HOOKS = st.fixed_dictionaries({"type": st.just("command"), "command": st.text()}).filter(
    lambda hook: not is_our_hook(hook)
)
_GROUPS = st.lists(st.fixed_dictionaries({"hooks": st.lists(_HOOKS)}), max_size=2)
_SERVERS = st.dictionaries(st.text().filter(lambda name: name != "factbook"), _VALUES)
_EVENTS = st.dictionaries(st.sampled_from(["SessionStart", "Stop", "Else"]), _GROUPS)
_CONFIGS = st.builds(
    lambda rest, servers, hooks: rest | servers | hooks,
    st.dictionaries(_KEYS.filter(lambda key: key not in ("mcpServers", "hooks")), _VALUES),
    st.just({}) | st.fixed_dictionaries({"mcpServers": _SERVERS}),
    st.just({}) | st.fixed_dictionaries({"hooks": _EVENTS}),
)


@st.composite
def _texts(draw: st.DrawFn) -> str:
    """A configuration as some program, or somebody, has written it."""
    value = draw(_CONFIGS)
    text = json.dumps(
        value,
        indent=draw(st.sampled_from([None, 1, 2, 4, "\t"])),
        ensure_ascii=draw(st.booleans()),
        separators=draw(st.sampled_from([None, (",", ":"), (" , ", " : ")])),
    )
    if draw(st.booleans()):
        text = text.replace("\n", "\r\n")
    around = st.text(" \t\r\n", max_size=3)
    return draw(around) + text + draw(around)


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as name:
        yield Path(name)


def in_place(folder: Path, client: str) -> Install:
    servers = folder / ("config.toml" if client == "codex" else "settings.json")
    seat = Seat(servers=servers, hooks=folder / "settings.json")
    return Install(client=CLIENTS[client], seat=seat, variables=VARIABLES)


def clear(folder: Path) -> None:
    for path in folder.iterdir():
        path.unlink()


@settings(max_examples=examples(150))
@given(client=st.sampled_from(["gemini", "claude"]), text=_texts())
def test_what_undo_leaves_is_what_was_there(folder: Path, client: str, text: str) -> None:
    clear(folder)
    install = in_place(folder, client)
    path = install.seat.hooks
    path.write_bytes(text.encode())
    list(carry_out(install, install.changes(undo=False), user=False))
    said = json.loads(path.read_bytes())
    assert is_our_server(said["mcpServers"]["factbook"])
    assert set(hooks_in(path)) == set(install.client.events)
    assert not any(change.diff for change in install.changes(undo=False))
    list(carry_out(install, install.changes(undo=True), user=False))
    assert path.read_bytes() == text.encode()


@settings(max_examples=examples(100))
@given(text=_texts(), key=st.text(string.ascii_letters, min_size=1), value=_VALUES)
def test_what_others_write_in_between_stays(folder: Path, text: str, key: str, value: Any) -> None:
    clear(folder)
    install = in_place(folder, "gemini")
    path = install.seat.hooks
    path.write_bytes(text.encode())
    list(carry_out(install, install.changes(undo=False), user=False))
    said = json.loads(path.read_bytes())
    edited = {f"my {key}": value, **said}
    path.write_text(json.dumps(edited), encoding="utf-8")
    list(carry_out(install, install.changes(undo=True), user=False))
    assert json.loads(path.read_bytes()) == {f"my {key}": value, **json.loads(text)}


_LINES = st.sampled_from(
    [
        "# note",
        "",
        "a = 1",
        'b = "x"  # why',
        "[t]",
        "[t.u]",
        "[mcp_servers.other]",
        'command = "c"',
        "args = [\n  1,\n]",
        "[[list]]",
        's = """\n[mcp_servers.other]\n"""',
    ]
)


@settings(max_examples=examples(150))
@given(lines=st.lists(_LINES), newline=st.sampled_from(["\n", "\r\n"]), end=st.booleans())
def test_a_table_comes_and_goes_and_touches_nothing(
    lines: list[str], newline: str, end: bool
) -> None:
    text = newline.join(lines).replace("\n", newline) + newline * end
    try:
        before = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return
    values: dict[str, Any] = {"command": '/a "b"\\\x7f', "args": ["mcp"], "env": VARIABLES}
    path = ("mcp_servers", "factbook")
    there = put(text, path, values)
    assert there.startswith(text)
    assert tomllib.loads(there)["mcp_servers"]["factbook"] == values
    changed = put(there, path, {"args": ["mcp", "-x"]})
    assert tomllib.loads(changed)["mcp_servers"]["factbook"] == {**values, "args": ["mcp", "-x"]}
    assert tomllib.loads(remove(changed, path)) == before
    assert remove(there, path).strip() == text.strip()


# --- texts ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    ['{"a": 1}{', "{,}", '{"a":}', '{"a" 1}', '{"a": tru}', "[1 2]", '{"a": "\n"}', "{1: 2}", "/*"],
)
def test_what_is_no_json_is_refused(text: str) -> None:
    with pytest.raises(Unfit, match=r"line [12] is no JSON"):
        Document(text)


def test_a_comment_is_never_swallowed() -> None:
    document = Document('{"a": 1 // one\n}')
    document.put(("b",), 2)
    assert document.value == {"a": 1, "b": 2}
    assert "// one" in document.text
    document.remove(("b",))
    assert document.text == '{"a": 1 // one\n}'
    document = Document('{\n  // about b\n  "b": 1, "c": 2\n}')
    document.remove(("b",))
    assert document.value == {"c": 2}
    assert "// about b\n" in document.text


@pytest.mark.parametrize(
    ("command", "ours"),
    [
        ("/x/factbook-hook", True),
        ("FACTBOOK_DB='/a b/c.db' '/x y/factbook-hook'", True),
        ("& 'C:\\Users\\ann b\\factbook-hook' --db x", True),
        ("tap -- /x/factbook-hook", False),
        ("/x/factbook-hooked", False),
        ("echo 'factbook-hook", False),
        ("", False),
        (None, False),
    ],
)
def test_a_hook_is_ours_by_what_it_runs(command: str | None, ours: bool) -> None:
    assert is_our_hook({"command": command}) == ours


@pytest.mark.parametrize(
    ("client", "command"),
    [
        ("claude", "'C:/it is/factbook-hook.exe' --db 'C:/a b.db'"),
        ("codex", r'"C:\it is\factbook-hook.exe" "--db" "C:\a b.db"'),
        ("gemini", r"& 'C:\it is\factbook-hook.exe' '--db' 'C:\a b.db'"),
    ],
)
def test_on_windows_a_hook_is_for_the_shell_of_its_client(
    client: str, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setattr(clients, "program", lambda *_: [r"C:\it is\factbook-hook.exe"])
    seat = CLIENTS[client].user()
    variables = {"FACTBOOK_DB": r"C:\a b.db"}
    hook = Install(client=CLIENTS[client], seat=seat, variables=variables).hook
    assert hook["command"] == command
