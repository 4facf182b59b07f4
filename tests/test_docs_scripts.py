"""The pages about models and keyed facts show what the program prints, and their code runs."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


def run_script(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(ROOT / "scripts" / "refused.py"), *arguments],
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
        check=False,
    )


def test_what_the_pages_show_is_what_the_program_prints() -> None:
    done = run_script("--check")
    assert done.returncode == 0, f"run scripts/refused.py\n{done.stdout}{done.stderr}"
    assert done.stdout.count("shows what the program prints") == 3


def test_the_code_about_keyed_facts_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = (ROOT / "docs" / "keyed-facts.md").read_text(encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FACTBOOK_KEY_FILE", str(tmp_path / "key"))
    for example in re.findall(r"```python\n(.*?)```", page, re.DOTALL):
        exec(compile(example, "docs/keyed-facts.md", "exec"), {})
    assert capsys.readouterr().out.splitlines() == [
        "Facts-S(1) by rules 1 ['user.favorites.crypto.1']",
        "1 BTC",
        "1 ('user.favorites.crypto',)",
    ]
