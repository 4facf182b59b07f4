"""Was a memory used? By its id, four content words in a row, or its value (seed 001's metrics)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factbook.model.facts import Hit
from factbook.recall.usage_feedback import resolved, used


def said(id: str, text: str, object: str = "") -> Hit:
    return Hit(
        id=id,
        kind="fact",
        text=text,
        object=object,
        score=0.5,
        confidence=0.9,
        occurred_at=None,
        source="",
        position=0,
        host="",
        project="",
        session="",
    )


TEA = said("f12", "Ana drinks a strong green tea every morning", "green tea")


@pytest.mark.parametrize(
    ("answer", "cited"),
    [
        ("As noted in [f12], she does.", True),
        ("F12 says so", True),
        ("see f123 and /f12 and f12-b", False),
        ("She drinks her strong, green teas in the morning.", True),
        ("I would offer Green  Tea.", True),
        ("I would offer green teapots.", False),
        ("Something strong in the morning?", False),
        ("", False),
    ],
)
def test_how_an_answer_shows_a_memory(answer: str, cited: bool) -> None:
    assert used([TEA], answer) == ["f12"] * cited


def test_short_and_empty_values_prove_nothing() -> None:
    memories = [said("f1", "a", "no"), said("f2", "b", ""), said("f3", "c", "with it")]
    assert used(memories, "no, with it there is no doubt") == []


def test_only_what_is_cited_is_used() -> None:
    memories = [TEA, said("e3", "Bob keeps bees behind the old mill house", "")]
    assert used(memories, "Bob keeps bees behind an old mill house, I think.") == ["e3"]


def test_a_search_is_enough_when_the_question_is_not_asked_again() -> None:
    assert resolved(["tea of Ana", "Ana's favourite tea", "bees of Bob"]) == [False, True, True]
    assert resolved(["where do I live?", "where do I live?"]) == [False, True]
    assert resolved(["", ""]) == [False, True]
    assert resolved([]) == []


@given(st.text(), st.text(), st.text())
def test_any_text_is_legal(text: str, value: str, answer: str) -> None:
    assert set(used([said("f1", text, value)], answer)) <= {"f1"}
    assert len(resolved([text, value, answer])) == 3
