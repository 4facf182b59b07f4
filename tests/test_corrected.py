"""What was said later is shown before what it corrects."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from factbook.embed import bundled
from factbook.memory import Memory
from factbook.memory.conversation import ClaimJudge
from factbook.model.facts import Hit
from factbook.recall.corrections import put_right
from factbook.testing import FrozenClock

DAY = 24 * 3600 * 1000
NOW = 1_790_000_000_000


right = partial(put_right, judging=ClaimJudge())
ASKED = "where do I live, and what else do you know of me?"


def hit(number: int, text: str, *, score: float, days: int | None = 1) -> Hit:
    return Hit(
        id=f"e{number}",
        kind="episode",
        text=text,
        score=score,
        confidence=1.0,
        occurred_at=None if days is None else NOW - days * DAY,
        source="chat",
        position=number,
        host="chat",
        project="",
        session="s",
    )


def vectors_of(hits: list[Hit]) -> dict[str, NDArray[np.float32]]:
    rows = bundled().embed([one.text for one in hits])
    return {one.id: rows[n] for n, one in enumerate(hits)}


@pytest.mark.parametrize("waiting", [False, True])
@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("I live in Vienna.", "I live in Salzburg now, not Vienna."),
        ("Pim is 4 years old.", "Correction: Pim is 5 years old."),
        ("I work as a nurse.", "By the way! I work as a teacher now."),
        ("My favourite colour is blue.", "My favourite colour is green now."),
    ],
)
def test_a_correction_comes_before_what_it_corrects(older: str, newer: str, waiting: bool) -> None:
    hits = [
        hit(1, "I have a bicycle.", score=0.9),
        hit(2, older, score=0.8, days=30),
        hit(3, newer, score=0.3, days=2),
    ]
    found, corrected = right(hits, question=ASKED, vectors={} if waiting else vectors_of(hits))
    assert [one.id for one in found] == ["e1", "e3", "e2"]
    assert found[1].score == 0.8
    assert corrected == {"e2"}


def test_what_was_said_before_corrects_nothing() -> None:
    hits = [
        hit(1, "I live in Vienna.", score=0.8, days=2),
        hit(2, "I live in Salzburg now, not Vienna.", score=0.3, days=30),
    ]
    found, corrected = right(hits, question=ASKED, vectors=vectors_of(hits))
    assert [one.id for one in found] == ["e1", "e2"]
    assert corrected == set()


def test_what_a_question_names_stays_where_it_is() -> None:
    hits = [
        hit(1, "The ferry 3 leaves.", score=0.9, days=9),
        hit(2, "The ferry 7 leaves.", score=0.5, days=1),
        hit(3, "I live in Rome.", score=0.4, days=9),
        hit(4, "I live in Oslo now.", score=0.3, days=1),
    ]
    found, corrected = right(hits, question="ferry 3", vectors=vectors_of(hits))
    assert [one.id for one in found] == ["e1", "e2", "e4", "e3"]
    assert corrected == {"e3"}
    found, _ = right(hits, question="do I live in Rome?", vectors=vectors_of(hits))
    assert [one.id for one in found] == ["e2", "e1", "e4", "e3"]


def test_the_last_of_several_corrections_comes_first() -> None:
    hits = [
        hit(1, "I live in Graz.", score=0.9, days=90),
        hit(2, "I live in Vienna now.", score=0.7, days=60),
        hit(3, "Actually I moved to Linz last month.", score=0.2, days=1),
        hit(4, "My sister lives in Rome.", score=0.1, days=1),
    ]
    found, corrected = right(hits, question=ASKED, vectors=vectors_of(hits))
    assert [one.id for one in found] == ["e3", "e2", "e1", "e4"]
    assert corrected == {"e1", "e2"}


def test_two_matters_stay_where_they_are() -> None:
    hits = [
        hit(1, "I like tea.", score=0.9, days=9),
        hit(2, "My sister likes coffee, not tea.", score=0.8, days=8),
        hit(3, "I like coffee.", score=0.7, days=7),
        hit(4, "Where do I live?", score=0.6, days=6),
        hit(5, "I live in Rome.", score=0.5, days=None),
    ]
    found, corrected = right(hits, question=ASKED, vectors=vectors_of(hits))
    assert found == hits
    assert corrected == set()


TEXTS = st.sampled_from(
    ["I live in Rome.", "I live in Oslo now.", "I moved to Bern.", "I like tea.", "I hate tea.", ""]
)


@given(st.lists(st.tuples(TEXTS, st.floats(0, 1), st.none() | st.integers(0, 9)), max_size=8))
def test_nothing_is_lost_and_relevance_only_grows(
    said: list[tuple[str, float, int | None]],
) -> None:
    hits = [hit(n, text, score=score, days=days) for n, (text, score, days) in enumerate(said)]
    found, corrected = right(hits, question=ASKED, vectors={})
    assert {one.id for one in found} == {one.id for one in hits}
    assert len(found) == len(hits)
    before = {one.id: one.score for one in hits}
    assert all(one.score >= before[one.id] for one in found)
    assert [one.score for one in found] == sorted((one.score for one in found), reverse=True)
    assert corrected <= set(before)


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory(tmp_path / "m.db", key_file=tmp_path / "key", clock=FrozenClock(NOW)) as made:
        yield made
        assert made.check() == []


def test_a_correction_is_not_hidden_by_what_it_resembles(memory: Memory) -> None:
    """Seed 001 shows one of what is much alike; that must not be what is no longer true."""
    for n, text in enumerate(("I live in Vienna.", "I live in Salzburg now, not Vienna.")):
        memory.add_turn(text, session=f"s{n}")
    memory.embed()
    shown = [one.text for one in memory.search_memory("where do I live?")]
    assert shown[0] == "I live in Salzburg now, not Vienna."


def test_what_was_told_and_corrected_is_not_shown_as_its_owners_word(memory: Memory) -> None:
    wrong = memory.remember("My locker is number 44.")
    right = memory.review.correct(wrong.id, "My locker is number 45.")
    memory.embed()
    shown = [hit.text for hit in memory.recall("which number has my locker?").hits]
    assert shown == ["My locker is number 45."]
    memory.review.feedback(right.id, right=False)
    assert [hit.text for hit in memory.search_memory("my locker")] == []


def test_what_has_changed_since_is_found_with_what_took_its_place(memory: Memory) -> None:
    memory.remember("I live in Vienna.")
    memory.embed()
    now = memory.remember("I live in Salzburg now, not Vienna.")
    last = memory.review.correct(now.id, "I live in Hallein now, not Vienna.")
    memory.embed()
    hits = memory.recall("where do I live?").hits
    assert {hit.text: hit.replaced_by for hit in hits} == {
        "I live in Hallein now, not Vienna.": None,
        "I live in Vienna.": last.id,
    }
