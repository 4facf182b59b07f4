"""The README's commands and code are true."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path
from types import ModuleType

import pytest

from conftest import Cli

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


@pytest.mark.parametrize(
    ("number", "shows"),
    [(0, "allergic to hazelnuts"), (1, "unpacked archive")],
    ids=["the loop of an agent", "logs"],
)
def test_the_python_examples_run(
    number: int,
    shows: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    examples = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    assert len(examples) == 2
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FACTBOOK_KEY_FILE", str(tmp_path / "key"))
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    exec(compile(examples[number], "README.md", "exec"), {})
    assert shows in capsys.readouterr().out


EXAMPLES = [
    (page, example)
    for page in PAGES
    for example in re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
]
AMID_YOURS = {"loops.md", "mongodb.md", "notifications.md", "rules.md"}  # code that needs yours


def test_what_the_python_of_the_pages_imports_is_there() -> None:
    for page, example in EXAMPLES:
        lines = [line for line in example.splitlines() if re.match(r"(?:from|import) ", line)]
        exec(compile("\n".join(lines), page.name, "exec"), {})


@pytest.mark.parametrize("name", sorted({page.name for page, _ in EXAMPLES} - AMID_YOURS))
def test_the_python_of_the_pages_runs(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FACTBOOK_KEY_FILE", str(tmp_path / "key"))
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    known: dict[str, object] = {}  # a page goes on where it was
    for example in [code for page, code in EXAMPLES if page.name == name]:
        exec(compile(example, name, "exec"), known)


def test_what_was_remembered_is_corrected_by_the_id_that_it_printed(
    tmp_path: Path, cli: Cli
) -> None:
    db = {"FACTBOOK_DB": str(tmp_path / "m.db")}
    cli("ingest", ROOT / "examples", "--no-embed", env=db)
    remember, correct = (
        re.search(rf'^\$ factbook {name} (?:(f\d+) )?"([^"]+)"', README, re.MULTILINE)
        for name in ("remember", "correct")
    )
    assert remember is not None
    assert correct is not None
    printed = cli("remember", remember[2], env=db).out.split()[0]
    refused = cli("correct", correct[1], correct[2], env=db, code=2)  # a fact of the examples
    assert "was observed in a log" in refused.err
    done = cli("correct", printed, correct[2], env=db)
    assert f"takes the place of {printed}  {remember[2]}" in done.out


def test_every_link_leads_somewhere() -> None:
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
            if "://" not in target:
                assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_the_named_commands_exist() -> None:
    from factbook.surface.cli import group

    known = set(group().commands)
    for page in PAGES:
        shown = re.findall(r"^\$ factbook ([\w-]+)", page.read_text(encoding="utf-8"), re.MULTILINE)
        assert set(shown) <= known, page.name
    for command in re.findall(r"`([a-z-]+)`", _section("CHANGELOG.md", "- `factbook consolidate`")):
        assert command in known


def _section(name: str, start: str) -> str:
    """Return the paragraph of a page that starts so, without `factbook` before its commands."""
    page = (ROOT / name).read_text(encoding="utf-8")
    found = page[page.index(start) :].split("\n- ", 1)[0]
    return found.replace("`factbook ", "`")


def test_the_life_of_a_fact_is_what_the_program_prints() -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "scripts" / "life_of_a_fact.py"), "--check"],
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"run scripts/life_of_a_fact.py\n{done.stdout}{done.stderr}"


@pytest.fixture
def demo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The demo, in a folder of its own."""
    monkeypatch.setenv("LOGS", str(ROOT / "examples" / "chats"))
    monkeypatch.setenv("PLACE", str(tmp_path / "demo"))
    spec = importlib.util.spec_from_file_location("demo", ROOT / "examples" / "demo.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_demo_ends_with_a_report_and_a_context(demo: ModuleType, cli: Cli) -> None:
    shown = []

    def run(*arguments: str, quiet: bool = False) -> str:
        out = cli(*arguments, env=demo.SETTINGS).out
        shown.append("" if quiet else f"$ factbook {shlex.join(arguments)}\n{out}")
        return out

    demo.main(run)
    report = "\n".join(shown)
    report = report[report.rindex("$ factbook consolidate") :]
    heads = ("new facts", "supported", "contradicted", "superseded", "merged", "queued")
    places = [report.index(f"\n{head}") for head in heads]
    assert places == sorted(places)
    context = report[report.index("$ factbook context") :]
    assert "I drink my coffee black" in context
    assert 'statement: "I like mushrooms' not in context, "what is over does not come by itself"
    assert re.search(r"^\d+ of 1500 tokens", context, re.MULTILINE)


def test_the_demo_runs_the_commands_that_a_user_types(
    demo: ModuleType, capfd: pytest.CaptureFixture[str]
) -> None:
    demo.run("--version")
    assert re.fullmatch(r"\n\$ factbook --version\nfactbook \d[^\n]*\n", capfd.readouterr().out)
    assert json.loads(demo.run("predicates", "--json", quiet=True))
    assert capfd.readouterr().out == ""


def test_the_demo_says_that_a_command_is_at_work(
    demo: ModuleType, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(demo, "SILENT_S", 0.02, raising=False)
    assert demo.run("--version", quiet=True).startswith("factbook ")
    shown = capfd.readouterr()
    assert shown.out == ""
    assert "at work for 0 s" in shown.err


def test_the_days_of_the_demo_pass_in_order() -> None:
    days = tomllib.loads((ROOT / "examples" / "days.toml").read_text(encoding="utf-8"))["day"]
    assert [day["ago"] for day in days] == sorted((day["ago"] for day in days), reverse=True)
