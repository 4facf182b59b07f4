"""What the pages say of modules and tests is there, and code cites sections that the page has."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "src" / "factbook"
PAGES = ("origins", "architecture", "decisions")
TESTS = {
    name
    for path in (ROOT / "tests").rglob("test_*.py")
    for name in (path.stem, *re.findall(r"def (test_\w+)", path.read_text("utf-8")))
}


def text_of(page: str) -> str:
    return (ROOT / "docs" / f"{page}.md").read_text("utf-8")


@pytest.mark.parametrize("page", PAGES)
def test_every_module_that_a_page_names_is_there(page: str) -> None:
    named = set(re.findall(r"`((?:[a-z_]+/)+[a-z_0-9*]+\.(?:py|sql))`", text_of(page)))
    gone = [one for one in sorted(named) if not (ROOT / one).exists()]
    assert [one for one in gone if not list(PACKAGE.glob(one))] == []


@pytest.mark.parametrize("page", PAGES)
def test_every_test_that_a_page_names_is_there(page: str) -> None:
    named = {one for one in re.findall(r"\b(test_\w+)", text_of(page)) if not one.endswith("_")}
    assert sorted(named - TESTS) == []


def test_code_cites_sections_that_the_page_has() -> None:
    sections = set(re.findall(r"^\| (\d{3}\.\d)", text_of("origins"), re.MULTILINE))
    cited = {
        one
        for path in PACKAGE.rglob("*.py")
        for one in re.findall(r"\borigins (\d{3}(?:\.\d)?)", path.read_text("utf-8"))
    }
    assert sections
    assert sorted(cited - sections) == []
