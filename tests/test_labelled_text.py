"""What is labelled by hashes is found again in logs, diaries and messages as published."""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

SCRIPTS = str(Path(__file__).resolve().parent.parent / "scripts")

DIARY = """# Prompts of May

[x] always run the tests
  before you commit
2. use uv, not pip

> Which port is it?
---
"call it Atlas"
"""


def of_scripts(name: str) -> Iterator[ModuleType]:
    """Import a module of the scripts, and leave the way of imports as it was."""
    sys.path.insert(0, SCRIPTS)
    try:
        yield importlib.import_module(name)
    finally:
        sys.path.remove(SCRIPTS)


@pytest.fixture
def logged() -> Iterator[ModuleType]:
    yield from of_scripts("logged")


@pytest.fixture
def train_layers() -> Iterator[ModuleType]:
    pytest.importorskip("sklearn")
    yield from of_scripts("train_layers")


def test_paragraphs_and_items_of_a_diary_are_prompts(logged: ModuleType) -> None:
    said = list(logged.said(DIARY, "docs/prompts.md", "user"))
    assert "use uv, not pip" in said
    assert "always run the tests" in said
    assert "Which port is it?" in said
    assert "call it Atlas" in said
    assert not any("Prompts of May" in text or "---" in text for text in said)


def test_what_was_typed_to_aider_is_told_from_the_rest(logged: ModuleType) -> None:
    log = "#### fix it\n#### and test it\n\nI changed a.py\n#### thanks\n"
    assert list(logged.said(log, "x/.aider.chat.history.md", "user")) == [
        "fix it\nand test it",
        "thanks",
    ]
    assert not list(logged.said(log, "x/.aider.chat.history.md", "assistant"))


def test_what_one_side_said_in_a_session_is_told_from_the_other(logged: ModuleType) -> None:
    rows = [
        {"message": {"role": "user", "content": "fix it"}},
        {"message": {"role": "assistant", "content": [{"type": "text", "text": "done"}]}},
        {"payload": {"role": "user", "content": [{"type": "input_text", "text": "thanks"}]}},
    ]
    log = "\n".join(map(json.dumps, rows)) + "\n{cut off"
    assert list(logged.said(log, "", "user")) == ["fix it", "thanks"]
    assert list(logged.said(log, "", "assistant")) == ["done"]


@pytest.mark.parametrize(
    ("place", "sign", "expected"),
    [
        ((0, 4), "like", [1, 0]),
        ((5, 9), "dislike", [0, 2]),
        ((0, 9), "like", [1, -1]),  # two in one label: the one that it covers best, and unclear
        ((20, 24), "like", [0, 0]),
    ],
)
def test_a_label_is_of_the_thing_that_it_covers_best(
    train_layers: ModuleType, place: tuple[int, int], sign: str, expected: list[int]
) -> None:
    assert train_layers._signs([(0, 4), (5, 9)], [(*place, sign)]) == expected


def test_a_clause_is_kept_where_it_or_its_label_is_half_covered(train_layers: ModuleType) -> None:
    assert train_layers.rows.meet((0, 10), (5, 40))
    assert train_layers.rows.meet((0, 40), (30, 40))
    assert not train_layers.rows.meet((0, 10), (6, 40))
    assert not train_layers.rows.meet((0, 10), (10, 40))
