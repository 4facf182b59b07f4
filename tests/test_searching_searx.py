"""Our client against a real searx on this machine, the package `searx` of Debian.

It runs with the example settings of the package, of which only the port, the secret and the
engines are others: a `json_engine` that asks a fixture here, and two whose servers are not there.
So nothing leaves this machine. The package is not among the test tools: `make searx` installs it
(as root).
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from factbook.errors import SearchError, SearchFailure
from factbook.search_providers import SearchConfig, open_search
from factbook.testing.model_server import ModelServer, Reply

PROGRAM = Path("/usr/bin/searx-run")
EXAMPLE = Path("/usr/share/doc/searx/examples/settings.yml")
START_S = 60.0

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not (PROGRAM.exists() and EXAMPLE.exists()),
        reason="Debian's package searx is not installed; `make searx` installs it (as root)",
    ),
]

# The package's own Python has a YAML library; ours need not.
WRITE_SETTINGS = """
import json, sys, yaml
example, made, changes = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
with open(example, encoding="utf-8") as file:
    settings = yaml.safe_load(file)
settings["server"].update(changes["server"])
settings["engines"] = changes["engines"]
with open(made, "w", encoding="utf-8") as file:
    yaml.safe_dump(settings, file)
"""

FOUND = {
    "results": [
        {
            "link": "https://hifi.example.org/ls50",
            "name": "KEF LS50 <b>Meta</b>",
            "says": "The KEF LS50 Meta costs $1,600 &amp; has a MAT driver.",
        },
        {"link": "http://192.168.1.1/admin", "name": "Router", "says": "Set a new password."},
        {"link": "https://hifi.example.org/r3", "name": "KEF R3", "says": "The R3 has three ways."},
    ]
}


def free_port() -> int:
    """Return a port that nobody listens on."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def engine(name: str, shortcut: str, port: int, *, category: str) -> dict[str, object]:
    """Describe an engine that asks a server of this machine."""
    return {
        "name": name,
        "engine": "json_engine",
        "shortcut": shortcut,
        "categories": category,
        "search_url": f"http://127.0.0.1:{port}/fixture?q={{query}}",
        "enable_http": True,
        "results_query": "results",
        "url_query": "link",
        "title_query": "name",
        "content_query": "says",
        "title_html_to_text": True,
        "content_html_to_text": True,
        "timeout": 5.0,
    }


@contextmanager
def serving(folder: Path, fixture: int) -> Iterator[str]:
    """Run searx on a free port of this machine; yield its address."""
    port = free_port()
    changes = {
        "server": {"port": port, "secret_key": "of-a-test-alone"},
        "engines": [
            engine("fixture", "fix", fixture, category="general"),
            engine("gone", "gon", free_port(), category="science"),
            # another one, as searx rests an engine for some seconds that failed, and says nothing
            engine("absent", "abs", free_port(), category="it"),
        ],
    }
    settings, log = folder / "settings.yml", folder / "searx.log"
    command = ["/usr/bin/python3", "-c", WRITE_SETTINGS, str(EXAMPLE), str(settings)]
    subprocess.run([*command, json.dumps(changes)], check=True, timeout=60)
    environment = {"PATH": os.environ["PATH"], "SEARX_SETTINGS_PATH": str(settings)}
    with (
        log.open("wb") as out,
        subprocess.Popen(
            [str(PROGRAM)], stdout=out, stderr=subprocess.STDOUT, env=environment, cwd=folder
        ) as process,
    ):
        try:
            until = time.monotonic() + START_S
            while not healthy(f"http://127.0.0.1:{port}"):
                said = log.read_text(errors="replace")[-2_000:]
                assert process.poll() is None, f"searx ended: {said}"
                assert time.monotonic() < until, f"searx does not answer: {said}"
                time.sleep(0.1)
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()
            process.wait(timeout=20)


def healthy(url: str) -> bool:
    """Say whether searx answers."""
    try:
        with urllib.request.urlopen(f"{url}/healthz", timeout=5) as answer:
            return bool(answer.status == 200)
    except urllib.error.HTTPError as error:
        error.close()
        return False
    except OSError:
        return False  # it does not listen yet


@pytest.fixture(scope="module")
def fixture() -> Iterator[ModelServer]:
    """Serve what the engine of searx finds."""
    found = Reply.raw(json.dumps(FOUND).encode())
    with ModelServer(Reply.status(404), routes={"/fixture": found}) as server:
        yield server


@pytest.fixture(scope="module")
def url(fixture: ModelServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Serve searx."""
    port = int(fixture.url.rpartition(":")[2])
    with serving(tmp_path_factory.mktemp("searx"), port) as found:
        yield found


def test_results_come_from_a_real_searx(url: str, fixture: ModelServer) -> None:
    answer = open_search(SearchConfig(provider="searxng", url=url)).search("kef ls50 meta")
    assert [(one.title, one.url) for one in answer.results] == [
        ("KEF LS50 Meta", "https://hifi.example.org/ls50"),
        ("KEF R3", "https://hifi.example.org/r3"),
    ]
    assert answer.results[0].text == "The KEF LS50 Meta costs $1,600 & has a MAT driver."
    assert (answer.provider, answer.dropped) == ("searxng", 1)
    assert fixture.requests[-1].query == "q=kef+ls50+meta"


def test_the_limit_holds(url: str) -> None:
    provider = open_search(SearchConfig(provider="searxng", url=url))
    assert len(provider.search("kef", limit=1).results) == 1


def test_no_text_is_an_order_to_searx(url: str, fixture: ModelServer) -> None:
    """`!gon` would ask another engine, `!!fix` send us elsewhere, `:de` change the language."""
    provider = open_search(SearchConfig(provider="searxng", url=url))
    assert provider.search("!gon !!fix :de <3 kef").results
    assert fixture.requests[-1].query == "q=gon+fix+de+3+kef"


def test_an_engine_can_be_named(url: str) -> None:
    config = SearchConfig(provider="searxng", url=url, engines="fixture", language="en")
    assert len(open_search(config).search("kef").results) == 2


def test_engines_that_do_not_answer_are_told_beside_those_that_do(url: str) -> None:
    config = SearchConfig(provider="searxng", url=url, engines="fixture,gone")
    answer = open_search(config).search("kef")
    assert len(answer.results) == 2
    assert any("gone" in remark for remark in answer.remarks)


def test_nobody_having_looked_is_not_nothing_found(url: str) -> None:
    config = SearchConfig(provider="searxng", url=url, engines="absent")
    with pytest.raises(SearchError) as caught:
        open_search(config).search("kef")
    assert caught.value.kind is SearchFailure.CONNECT
    assert "absent" in str(caught.value)
