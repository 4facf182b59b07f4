"""The pages about models and keyed facts show what the program prints, and their code runs."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

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


def test_the_session_of_the_readme_is_what_the_program_prints() -> None:
    """Learning about something from documents, liking it, and being told what is new."""
    done = subprocess.run(
        [sys.executable, str(ROOT / "scripts" / "learning_session.py"), "--check"],
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"run scripts/learning_session.py\n{done.stdout}{done.stderr}"
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    for said in ("/learn find me stuff about", "/like Halden Cargo 3", "I just discovered"):
        assert said in readme


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("refused", ROOT / "scripts" / "refused.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


ANSWER = """```json answer
{"ops": [{"op": "set", "fact_key": "user.timezone", "value": "Europe/Athens"}]}
```
"""
TELL = """```console
# 2026-05-04 20:00
$ export FACTS_LLM_URL=http://127.0.0.1:11434

$ factbook tell "My timezone is Europe/Athens"
```
"""


def test_a_page_has_as_many_answers_as_it_asks_the_model_for(script: ModuleType) -> None:
    told = "Facts-S(1)\n  stored    user.timezone = Europe/Athens\n"
    assert told in script.rendered(f"{ANSWER}\n{TELL}")
    with pytest.raises(SystemExit, match="1 calls of the model have no answer on the page"):
        script.rendered(TELL)
    with pytest.raises(SystemExit, match="1 answers of the model were never asked for"):
        script.rendered(f"{ANSWER}\n{ANSWER}\n{TELL}")


def test_a_reason_that_the_page_does_not_name_is_found(script: ModuleType) -> None:
    page = (ROOT / "docs" / "refused.md").read_text(encoding="utf-8")
    assert script.unnamed(page) == []
    without = page.replace("`refused_before`", "").replace("`operation_refused`", "")
    assert script.unnamed(without) == [
        "docs/refused.md does not name refused_before",
        "docs/refused.md does not name operation_refused",
    ]


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


def test_prompts_of_a_log_of_aider_are_what_was_typed() -> None:
    done = subprocess.run(
        [sys.executable, "-c", AIDER],
        env={**os.environ, "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT / 'scripts'}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "['add a test\\nfor the cart', 'no, not there']",
        "['add a test\\nfor the cart', '/run pytest']",
        "[]",
    ]


AIDER = r"""
from logged import said
chat = "# aider chat\n\n#### add a test\n#### for the cart\n\nDone.\n\n#### no, not there\n> Tokens"
typed = "# 2026-02-02\n+add a test\n+for the cart\n\n# 2026-02-02\n+/run pytest\n"
print(list(said(chat, ".aider.chat.history.md", "user")))
print(list(said(typed, "app/.aider.input.history", "user")))
print(list(said(chat, ".aider.chat.history.md", "assistant")))
"""
