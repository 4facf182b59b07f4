"""The README's commands and code are true."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_python_example_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (code,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FACTBOOK_KEY_FILE", str(tmp_path / "key"))
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    exec(compile(code, "README.md", "exec"), {})
    assert "unpacked archive" in capsys.readouterr().out


def test_every_link_leads_somewhere() -> None:
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]:
        for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
            if "://" not in target:
                assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_the_named_commands_exist() -> None:
    from typer.main import get_command

    from factbook.surface.cli import app

    known = set(get_command(app).commands)  # type: ignore[attr-defined]
    for command in re.findall(r"^\$ factbook (\w+)", README, re.MULTILINE):
        assert command in known
