"""What is one thing: names by rules."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factbook.gate.same_entity import SameEntityVerdict, compare, known_as
from factbook.gate.terms import MOST_TERMS, terms_of
from factbook.memory import Memory

# --- terms ----------------------------------------------------------------------------------------


@given(st.text(max_size=80), st.text(max_size=80))
def test_any_text_can_be_compared(a: str, b: str) -> None:
    for found in (compare([a], [b]), compare([a], [b], cosine=0.9)):
        assert 0.0 <= found.score <= 1.0
        assert found.why
    same = compare([a], [a], cosine=1.0)
    assert same.verdict in (
        SameEntityVerdict.MERGE,
        SameEntityVerdict.DIFFERENT,
    )  # different only without any name


def test_a_page_that_poses_as_a_name_is_read_in_bounded_time() -> None:
    page = " ".join(f"word{n} {n}" for n in range(20_000))
    assert len(terms_of(page)) == MOST_TERMS
    assert compare([page], ["word1"], cosine=0.9).score <= 1


# --- names ----------------------------------------------------------------------------------------


def test_without_a_cosine_only_what_is_written_alike_is_merged() -> None:
    for cosine in (math.nan, math.inf, 7.0):
        other = compare(["moka pot"], ["moka pots"], cosine=cosine)
        assert other.verdict is SameEntityVerdict.DIFFERENT
        same = compare(["moka pot"], ["moka pot"], cosine=cosine)
        assert same.verdict is SameEntityVerdict.MERGE


def test_an_alias_is_a_name() -> None:
    known = ["kef ls50 meta", "ls fifty"]
    assert compare(["LS Fifty"], known).verdict is SameEntityVerdict.MERGE


def test_a_name_that_fits_two_known_ones_equally_stands_for_neither() -> None:
    known = {name: name for name in ("samsung s24", "acme s24", "moka pot")}
    near = {"samsung s24": 0.9, "acme s24": 0.9, "moka pot": 0.1}
    assert known_as("s24", known, cosines=near) is None
    del known["acme s24"]
    assert known_as("s24", known, cosines=near) == "samsung s24"
    assert known_as("s25", known, cosines=near) is None
    assert known_as("tea", {}) is None


def test_a_name_written_with_a_capital_keeps_its_number() -> None:
    known = {"car": "car", "espresso machine": "espresso machine"}
    assert known_as("cars", known, written="find me stuff about Cars") is None
    assert known_as("cars", known, written="find me stuff about cars") == "car"
    assert known_as("espresso machines", known, written="Espresso machines") == "espresso machine"


def test_what_is_known_under_its_own_name_is_that() -> None:
    assert known_as("speakers", {"speaker": "speaker", "speakers": "speakers"}) == "speakers"


@pytest.mark.parametrize(
    ("first", "then"), [("speaker", "speakers"), ("espresso machines", "espresso machine")]
)
def test_what_is_liked_in_both_numbers_is_one_entity(tmp_path: Path, first: str, then: str) -> None:
    with Memory(tmp_path / "mine.db", key_file=tmp_path / "key", search_config=None) as memory:
        memory.interests.like(first)
        memory.interests.like(then)
        assert [one.name for one in memory.interests.entities()] == [first]
