"""What a newcomer gets with two commands, and that nothing of it ever stops a prompt."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest

from clients.agents import FOLDER, HOSTS, Run, command_of, on_path, run
from clients.scripted import Say
from clients.test_install import PLUGIN
from factbook.memory import Memory

FACTBOOK = [sys.executable, "-m", "factbook"]
DECIDED = "We decided that the shop deploys with Fabric on Tuesdays."
ASKED = "With what did we decide that the shop deploys?"
ELSEWHERE = "Compute the determinant of a Hilbert matrix of order twelve."
MARK = "factbook-memory ids"


def of(host: str, folder: Path) -> dict[str, str]:
    """Return the environment of an agent that trusts the folder it works in."""
    return {**on_path(host, folder), "GEMINI_CLI_TRUST_WORKSPACE": "true"}


def asked_of(done: Run, prompt: str) -> list[str]:
    """Return what reached the model with a prompt."""
    return [each for each in done.asked if prompt in each]


@pytest.mark.shows("two commands, and the next session knows what the last one decided")
@pytest.mark.parametrize("host", HOSTS)
def test_the_next_session_knows_what_the_last_one_decided(tmp_path: Path, host: str) -> None:
    done = run(
        host,
        tmp_path / host,
        [DECIDED, ELSEWHERE, ASKED],
        [Say("So be it."), Say("It is tiny."), Say("With Fabric.")],
        before=[[*FACTBOOK, "install", host]],
        env=of(host, tmp_path / host),
        sessions=True,
    )
    assert not any(done.codes), done.said
    first, second, third = (asked_of(done, said) for said in (DECIDED, ELSEWHERE, ASKED))
    assert first, "the prompt reached no model"
    assert MARK not in first[0], "there was nothing to remind of"
    assert any(MARK in each and "deploys with Fabric" in each for each in third)
    assert third[0].count("deploys with Fabric") == 1
    assert second, "the prompt reached no model"


@pytest.mark.shows("with a prompt that nothing bears on, nothing comes")
@pytest.mark.parametrize("host", HOSTS)
def test_nothing_comes_where_nothing_bears(tmp_path: Path, host: str) -> None:
    done = run(
        host,
        tmp_path / host,
        [ELSEWHERE],
        [Say("It is tiny.")],
        before=[[*FACTBOOK, "install", host], [*FACTBOOK, "remember", DECIDED]],
        env=of(host, tmp_path / host),
    )
    assert not any(done.codes), done.said
    (state,) = done.spool.sessions()
    assert [given["turn"] for given in state["given"]] == [0]
    assert asked_of(done, ELSEWHERE)[0].count(MARK) == 1


# --- no prompt is stopped -------------------------------------------------------------------------


@contextmanager
def missing(path: Path) -> Iterator[None]:
    path.unlink()
    yield


@contextmanager
def corrupt(path: Path) -> Iterator[None]:
    data = bytearray(path.read_bytes())
    data[100:] = os.urandom(len(data) - 100)
    path.write_bytes(data)
    yield


@contextmanager
def newer(path: Path) -> Iterator[None]:
    with sqlite3.connect(path) as db:
        db.execute("PRAGMA user_version = 999")
    db.close()
    yield


@contextmanager
def hanging(path: Path) -> Iterator[None]:
    path.unlink()
    os.mkfifo(path)
    yield


@contextmanager
def locked(path: Path) -> Iterator[None]:
    db = sqlite3.connect(path, isolation_level=None)
    db.execute("PRAGMA locking_mode = EXCLUSIVE")
    db.execute("BEGIN EXCLUSIVE")
    yield
    db.close()


@pytest.mark.shows("a database that is missing, locked, newer, corrupt or hangs stops no prompt")
@pytest.mark.parametrize("spoil", [missing, locked, newer, corrupt, hanging])
@pytest.mark.parametrize("host", HOSTS)
def test_no_database_stops_a_prompt(
    tmp_path: Path, host: str, spoil: Callable[[Path], AbstractContextManager[None]]
) -> None:
    path = tmp_path / "m.db"
    env = of(host, tmp_path / host)
    env |= {"FACTBOOK_DB": str(path), "FACTBOOK_KEY_FILE": str(tmp_path / "key")}
    with Memory(path, model=None, search_config=None, key_file=tmp_path / "key") as memory:
        memory.remember(DECIDED)
    with spoil(path):
        done = run(
            host,
            tmp_path / host,
            [ASKED, ELSEWHERE],
            [Say("I do not know."), Say("It is tiny.")],
            before=[[*FACTBOOK, "install", host]],
            env=env,
        )
    assert not any(done.codes), done.said
    for prompt in (ASKED, ELSEWHERE):
        assert asked_of(done, prompt), done.said
    assert done.spool.sessions(), "no hook ran"


# --- twice, and elsewhere -------------------------------------------------------------------------


@pytest.mark.shows("with the plugin and `factbook install` both, each memory comes once")
@pytest.mark.parametrize("host", HOSTS)
def test_with_plugin_and_install_it_comes_once(tmp_path: Path, host: str) -> None:
    program = command_of(host) or []
    plugin: Sequence[Sequence[str]] = [[*program, *words] for words in PLUGIN[host]]
    done = run(
        host,
        tmp_path / host,
        [ASKED],
        [Say("With Fabric.")],
        before=[
            [*FACTBOOK, "remember", DECIDED],
            *plugin,
            [*FACTBOOK, "install", host],
            [*FACTBOOK, "doctor", "--client", host],
        ],
        env=of(host, tmp_path / host),
    )
    assert not any(done.codes), done.said
    assert done.said.count("what runs second does nothing") == 2  # as install and doctor say
    assert asked_of(done, ASKED)[0].count(MARK) == 1
    (state,) = done.spool.sessions()
    assert (state["turn"], len(state["given"])) == (1, 1)


SDK = """
import asyncio, json, sys
from mcp import ClientSession, StdioServerParameters, stdio_client

async def main():
    (entry,) = json.loads(sys.argv[1])["mcpServers"].values()
    async with stdio_client(StdioServerParameters(**entry)) as (read, write):
        async with ClientSession(read, write) as session:
            await session.initialize()
            tools = [tool.name for tool in (await session.list_tools()).tools]
            found = await session.call_tool("search_memory", {"query": "deploys Fabric"})
            print(json.dumps([tools, found.content[0].text]))

asyncio.run(main())
"""


def test_any_client_of_mcp_takes_one_line(tmp_path: Path) -> None:
    if not (FOLDER / "sdk").exists():
        pytest.skip(f"the SDK of MCP is not installed in {FOLDER}: run `make clients`")
    path = tmp_path / "m.db"
    with Memory(path, model=None, search_config=None, key_file=tmp_path / "key") as memory:
        memory.remember(DECIDED)
    line = '{"mcpServers": {"factbook": {"command": "factbook", "args": ["mcp"]}}}'
    assert line in Path(__file__).parents[1].joinpath("docs/install.md").read_text("utf-8")
    named = f', "env": {{"FACTBOOK_DB": "{path}", "FACTBOOK_KEY_FILE": "{tmp_path / "key"}"}}}}}}}}'
    ran = subprocess.run(
        [sys.executable, "-c", SDK, line.removesuffix("}}}") + named],
        env={
            "PATH": os.pathsep.join([str(Path(sys.executable).parent), "/usr/bin", "/bin"]),
            "HOME": str(tmp_path),
            "PYTHONPATH": str(FOLDER / "sdk"),
        },
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert ran.returncode == 0, ran.stderr
    assert '"search_memory", "explain_memory"' in ran.stdout
    assert "deploys with Fabric" in ran.stdout
