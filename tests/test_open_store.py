"""A store is opened by a path or a URL; those of other packages by their entry points."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from conftest import Cli
from factbook import AsyncMemory, Memory, UsageError
from factbook.context import default_db
from factbook.store import open_store
from factbook.store.derived.counts import row_counts
from factbook.store.named import place_of

STORE = """
from pathlib import Path
from factbook.store.sqlite import SQLiteStore

class Shelf(SQLiteStore):
    '''A store that a URL names.'''
    shelf = 'a shelf'

def opened(url, *, mode):
    return Shelf(Path(url.removeprefix("shelf://")), mode=mode)
"""
ENTRIES = """[factbook.stores]
shelf = shelf_for_factbook:opened
gone = shelf_that_is_gone:opened
"""


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Install a package with a store of its own."""
    folder = tmp_path / "site"
    about = folder / "shelf_for_factbook-1.0.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: shelf-for-factbook\nVersion: 1.0\n"
    )
    (about / "entry_points.txt").write_text(ENTRIES)
    (folder / "shelf_for_factbook.py").write_text(STORE)
    monkeypatch.syspath_prepend(str(folder))
    yield folder
    sys.modules.pop("shelf_for_factbook", None)


def test_a_path_and_its_url_name_one_file(tmp_path: Path) -> None:
    path = tmp_path / "a b.db"
    with Memory(f"sqlite://{path.as_posix().replace(' ', '%20')}", model=None) as memory:
        assert memory.path == path
        memory.add_turn("I like tea")
    store = open_store(path, mode="read")
    assert row_counts(store)["episodes"] == 1
    assert store.check() == []
    store.close()


@pytest.mark.parametrize(
    "url",
    ["sqlite://", "sqlite:///", "sqlite://m.db", "sqlite://host/m.db", "sqlite:///m.db?mode=ro"],
)
def test_a_url_that_names_no_whole_path_is_refused(url: str) -> None:
    with pytest.raises(UsageError, match="names no file"):
        open_store(url)


@pytest.mark.parametrize("name", ["m.db", "C:\\m.db", "C:/m.db", "sqlite:m.db", "a:b", ":memory:"])
def test_what_is_no_url_is_a_path(name: str) -> None:
    assert place_of(name) == Path(name)


async def _asked(url: str) -> int:
    async with AsyncMemory(url, model=None) as memory:
        await memory.add_turn("I like rain")
        return (await memory.stats()).counts["episodes"]


def test_a_store_of_another_package_is_opened_by_its_url(
    package: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import asyncio

    url = f"shelf://{tmp_path}/m.db"
    assert place_of(url) == url
    monkeypatch.setenv("FACTBOOK_DB", url)
    assert default_db() == url
    with Memory(model=None) as memory:
        assert getattr(memory.store, "shelf") == "a shelf"  # noqa: B009
        memory.add_turn("My token is ghp_" + "a1B2" * 9)
        assert memory.path == tmp_path / "m.db"
        assert memory.check() == []
    assert b"ghp_a1B2" not in (tmp_path / "m.db").read_bytes()
    assert asyncio.run(_asked(url)) == 2


def test_every_command_takes_the_url(package: Path, tmp_path: Path, cli: Cli) -> None:
    url = f"shelf://{tmp_path}/m.db"
    path = f"{package}:{Path(__file__).parents[1] / 'src'}"
    cli = replace(cli, env={"PYTHONPATH": path})
    cli("remember", "I live in Oslo", "--db", url)
    assert "Oslo" in cli("facts", env={"FACTBOOK_DB": url}).out
    findings = cli("doctor", "--json", "--db", url).json()["findings"]
    assert {"database", "integrity"} <= {one["name"] for one in findings}
    done = cli("--db", url, "export", tmp_path / "out.jsonl")
    assert "record" in done.out
    assert cli("predicates", "--json", "--db", url).json()["predicates"]
    shown = cli("install-timer", "--cron", "--dry-run", "--db", url).out
    assert f"--db {url} consolidate" in shown


def test_a_scheme_that_nobody_registered_is_named_and_its_url_is_not(
    package: Path, tmp_path: Path, cli: Cli
) -> None:
    with pytest.raises(
        UsageError, match="no store is installed for mysql://, only for gone://, sh"
    ):
        open_store("mysql://me:secret@host/db")
    with pytest.raises(UsageError, match=r"gone://.*cannot be loaded.*shelf_that_is_gone"):
        open_store("gone://here")
    done = cli("facts", "--db", "mysql://me:secret@host/db", code=2)
    assert "mysql://" in done.err
    assert "secret" not in done.out + done.err
    findings = cli("doctor", "--json", "--db", "mysql://me:secret@host/db", code=1).json()
    assert any("mysql://" in one["detail"] for one in findings["findings"])
    assert not any("secret" in one["detail"] for one in findings["findings"])
