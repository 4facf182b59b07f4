"""Was a memory used? By its id, four content words in a row, or its value (seed 001's metrics)."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factbook.recall.usage_feedback import Use, passive_relevance, resolved, uses


@dataclass(frozen=True)
class Shown:
    """A memory, as far as the metric looks at it."""

    id: str
    text: str
    object: str = ""


TEA = Shown("f12", "Ana drinks a strong green tea every morning", "green tea")


@pytest.mark.parametrize(
    ("answer", "how"),
    [
        ("As noted in [f12], she does.", "id"),
        ("F12 says so", "id"),
        ("see f123 and /f12 and f12-b", ""),
        ("She drinks her strong, green teas in the morning.", "words"),
        ("I would offer Green  Tea.", "value"),
        ("I would offer green teapots.", ""),
        ("Something strong in the morning?", ""),
        ("", ""),
    ],
)
def test_how_an_answer_shows_a_memory(answer: str, how: str) -> None:
    (use,) = uses([TEA], answer)
    assert use == Use(id="f12", how=how)  # type: ignore[arg-type]
    assert use.cited is bool(how)


def test_short_and_empty_values_prove_nothing() -> None:
    memories = [Shown("f1", "a", "no"), Shown("f2", "b", ""), Shown("f3", "c", "with it")]
    assert [one.how for one in uses(memories, "no, with it there is no doubt")] == ["", "", ""]


def test_the_share_of_cited_memories() -> None:
    memories = [TEA, Shown("e3", "Bob keeps bees behind the old mill house", "")]
    found = uses(memories, "Bob keeps bees behind an old mill house, I think.")
    assert [one.how for one in found] == ["", "words"]
    assert passive_relevance(found) == 50.0
    assert passive_relevance([]) is None


def test_a_search_is_enough_when_the_question_is_not_asked_again() -> None:
    assert resolved(["tea of Ana", "Ana's favourite tea", "bees of Bob"]) == [False, True, True]
    assert resolved(["where do I live?", "where do I live?"]) == [False, True]
    assert resolved(["", ""]) == [False, True]
    assert resolved([]) == []


@given(st.text(), st.text(), st.text())
def test_any_text_is_legal(text: str, value: str, answer: str) -> None:
    (use,) = uses([Shown("f1", text, value)], answer)
    assert use.how in ("", "id", "words", "value")
    assert len(resolved([text, value, answer])) == 3
