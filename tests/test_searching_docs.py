"""The page about searching: its examples run, and its settings are all there are."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path

import pytest

from factbook.errors import SearchFailure
from factbook.search_providers.config import _TABLE, PROVIDERS

PAGE = (Path(__file__).parents[1] / "docs" / "search.md").read_text(encoding="utf-8")


def test_the_examples_print_what_the_page_shows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```\n\n```text\n(.*?)```", PAGE, re.DOTALL)
    assert len(blocks) == 2
    names: dict[str, object] = {}
    for code, shown in blocks:
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            exec(compile(code, "docs/search.md", "exec"), names)
        assert out.getvalue() == shown


def test_every_setting_provider_and_failure_stands_on_the_page() -> None:
    for name in _TABLE.settings:
        assert f"| `{name}` | `FACTBOOK_SEARCH_{name.upper()}` |" in PAGE
    for provider in PROVIDERS:
        assert f"| `{provider}` |" in PAGE
    for failure in SearchFailure:
        assert f"| `{failure}` |" in PAGE
