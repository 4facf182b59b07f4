"""Ranked lists: every step keeps ranks and values unique, and loses nothing unasked (seed 004)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factbook import policy
from factbook.apply.ranked_lists import RankProblem, Ranks, rank_of, stepped
from factbook.model.keys import fold_value
from factbook.model.ops import KeyStep


def step(action: str, value: str = "", rank: int | None = None, **more: Any) -> KeyStep:
    return KeyStep(action=action, key="user.favorites.x", value=value, rank=rank, **more)


RANK = st.one_of(
    st.integers(1, 8),
    st.integers(policy.MAX_RANK - 2, policy.MAX_RANK),
    st.sampled_from([0, -1, policy.MAX_RANK + 1]),
)
VALUE = st.sampled_from(["A", "B", "C", "D", "a", " b ", "E", "F", "G", "", "  "])
STEP: st.SearchStrategy[KeyStep] = st.one_of(
    st.builds(step, st.just("rank"), VALUE, RANK, insert=st.booleans()),
    st.builds(step, st.just("append"), VALUE),
    st.builds(step, st.just("move"), VALUE, RANK, from_rank=st.none() | RANK),
    st.builds(step, st.just("remove"), VALUE, st.none() | RANK),
    st.builds(step, st.just("clear")),
)
LIST = (
    st.dictionaries(
        st.one_of(st.integers(1, 8), st.integers(policy.MAX_RANK - 2, policy.MAX_RANK)),
        st.sampled_from("ABCDEFG"),
    )
    .map(lambda ranks: {ranks[rank]: rank for rank in ranks})
    .map(lambda values: {rank: value for value, rank in values.items()})
)  # each value once


def folded(values: Iterable[str]) -> list[str]:
    return [fold_value(value) for value in values]


def after_steps(ranks: Ranks, steps: Sequence[KeyStep]) -> Ranks:
    """Return a list after steps; one that cannot be done changes nothing."""
    for one in steps:
        with suppress(RankProblem):
            ranks = stepped(ranks, one)
    return ranks


@given(LIST, st.lists(STEP, max_size=6))
def test_ranks_and_values_stay_unique(ranks: dict[int, str], steps: list[KeyStep]) -> None:
    """Seed 004, learned: unique ranks; a value never stands twice."""
    done = after_steps(ranks, steps)
    values = folded(done.values())
    assert len(values) == len(set(values))
    assert all(1 <= rank <= policy.MAX_RANK for rank in done)
    assert all(value.strip() for value in done.values())
    assert not steps or list(done) == sorted(done) or done == ranks


@given(LIST, STEP)
def test_no_value_is_lost_unasked(ranks: dict[int, str], one: KeyStep) -> None:
    """Only what a step replaces, removes or clears leaves the list."""
    before = dict(ranks)
    try:
        done = stepped(ranks, one)
    except RankProblem:
        assert ranks == before
        return
    left = set(folded(ranks.values())) - set(folded(done.values()))
    if one.action == "clear":
        assert not done
    elif one.action == "remove":
        assert len(left) == 1
    elif one.action == "rank" and not one.insert:
        assert left <= set(folded([ranks.get(one.rank or 0, "")]))
    else:
        assert not left


@given(LIST, STEP)
def test_the_same_place_twice_changes_nothing_more(ranks: dict[int, str], one: KeyStep) -> None:
    """Seed 004, apply: the same value again is a no-op."""
    once = after_steps(ranks, [one])
    if one.action in ("rank", "append", "clear") or (one.action == "move" and one.value):
        assert after_steps(once, [one]) == once


@given(LIST, st.integers(1, 8), st.sampled_from("ABCXY"), st.booleans())
def test_a_value_stands_where_it_was_placed(
    ranks: dict[int, str], rank: int, value: str, insert: bool
) -> None:
    assert rank_of(stepped(ranks, step("rank", value, rank, insert=insert)), value) == rank


def test_the_default_replaces() -> None:
    """Seed 004, acceptance test 1: SOL at #1, then "Make BTC my #1"."""
    assert stepped({1: "SOL", 2: "ETH"}, step("rank", "BTC", 1)) == {1: "BTC", 2: "ETH"}


def test_two_ranks_in_one_message() -> None:
    """Seed 004, acceptance test 2: both ranks existed, so both are updates."""
    steps = [step("rank", "BTC", 1), step("rank", "SOL", 7)]
    assert after_steps({1: "SOL", 7: "ADA"}, steps) == {1: "BTC", 7: "SOL"}


def test_a_value_moves_instead_of_standing_twice() -> None:
    """Seed 004, ⚠ decision: a value that the list already holds moves; a gap is legal."""
    done = stepped({1: "SOL", 2: "btc", 3: "ETH"}, step("rank", "BTC", 1))
    assert done == {1: "BTC", 3: "ETH"}


def test_insert_shifts_to_the_first_gap() -> None:
    """Seed 004, ⚠ decision: `mode="insert"` shifts."""
    done = stepped({1: "A", 2: "B", 4: "D"}, step("rank", "X", 1, insert=True))
    assert done == {1: "X", 2: "A", 3: "B", 4: "D"}


@pytest.mark.parametrize(
    ("one", "after"),
    [
        (step("move", "A", 3), "BCADE"),
        (step("move", rank=1, from_rank=4), "DABCE"),
        (step("move", "b", 2), "ABCDE"),
        (step("remove", rank=2), "ACDE"),
        (step("remove", "e"), "ABCD"),
        (step("append", "F"), "ABCDEF"),
        (step("append", "b"), "ABCDE"),
        (step("rank", "E", 2, insert=True), "AEBCD"),
        (step("clear"), ""),
    ],
)
def test_steps(one: KeyStep, after: str) -> None:
    assert stepped(dict(enumerate("ABCDE", 1)), one) == dict(enumerate(after, 1))


def test_removing_closes_up_to_the_next_gap() -> None:
    done = stepped({1: "A", 2: "B", 3: "C", 7: "G"}, step("remove", rank=1))
    assert done == {1: "B", 2: "C", 7: "G"}


@pytest.mark.parametrize(
    ("one", "problem"),
    [
        (step("rank", "X", 0), "there is no rank 0; ranks are 1 to 1000"),
        (step("rank", "X", 1001), "there is no rank 1001; ranks are 1 to 1000"),
        (step("rank", " ", 1), "the value is empty"),
        (step("remove", "X"), "'X' is not in the list"),
        (step("remove", rank=9), "nothing stands at rank 9"),
        (step("remove"), "say what to remove either by its value or by its rank"),
        (step("move", "X", 2), "'X' is not in the list"),
        (step("move", rank=2), "say what to move either by its value or by its rank"),
        (step("append", "Y"), "there is no room for 'Y'; ranks end at 1000"),
        (
            step("rank", "Y", 1000, insert=True),
            "there is no room behind rank 1000; ranks end at 1000",
        ),
    ],
)
def test_what_cannot_be_done_says_why_and_changes_nothing(one: KeyStep, problem: str) -> None:
    ranks = {1: "A", 1000: "Z"}
    with pytest.raises(RankProblem, match=f"^{re.escape(problem)}$"):
        stepped(ranks, one)
    assert ranks == {1: "A", 1000: "Z"}
