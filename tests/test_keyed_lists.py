"""Ranked lists: every step keeps ranks and values unique, and loses nothing unasked (seed 004)."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factbook import policy
from factbook.extract.keyed.lists import (
    Append,
    Clear,
    Move,
    PutAtRank,
    RankChange,
    Remove,
    Step,
    apply_steps,
    rank_of,
)
from factbook.model.keys import fold_value

RANK = st.one_of(
    st.integers(1, 8),
    st.integers(policy.MAX_RANK - 2, policy.MAX_RANK),
    st.sampled_from([0, -1, policy.MAX_RANK + 1]),
)
VALUE = st.sampled_from(["A", "B", "C", "D", "a", " b ", "E", "F", "G", "", "  "])
STEP: st.SearchStrategy[Step] = st.one_of(
    st.builds(PutAtRank, rank=RANK, value=VALUE, mode=st.sampled_from(["replace", "insert"])),
    st.builds(Append, values=st.lists(VALUE, max_size=4)),
    st.builds(Move, to=RANK, value=st.none() | VALUE, from_rank=st.none() | RANK),
    st.builds(Remove, value=st.none() | VALUE, rank=st.none() | RANK),
    st.builds(Clear),
)
LIST = (
    st.dictionaries(
        st.one_of(st.integers(1, 8), st.integers(policy.MAX_RANK - 2, policy.MAX_RANK)),
        st.sampled_from("ABCDEFG"),
    )
    .map(lambda ranks: {ranks[rank]: rank for rank in ranks})
    .map(lambda values: {rank: value for value, rank in values.items()})
)  # each value once


def folded(values: Sequence[str]) -> list[str]:
    return [fold_value(value) for value in values]


@given(LIST, st.lists(STEP, max_size=6))
def test_ranks_and_values_stay_unique(ranks: dict[int, str], steps: list[Step]) -> None:
    """Seed 004, learned: unique ranks; a value never stands twice."""
    done = apply_steps(ranks, steps)
    values = folded(list(done.ranks.values()))
    assert len(values) == len(set(values))
    assert all(1 <= rank <= policy.MAX_RANK for rank in done.ranks)
    assert all(value.strip() for value in done.ranks.values())
    assert list(done.ranks) == sorted(done.ranks)
    assert len(done.results) == len(steps)


@given(LIST, STEP)
def test_no_value_is_lost_unasked(ranks: dict[int, str], step: Step) -> None:
    """Only what a step replaces, removes or clears leaves the list."""
    done = apply_steps(ranks, [step])
    result = done.results[0]
    before, after = set(folded(list(ranks.values()))), set(folded(list(done.ranks.values())))
    assert set(folded(result.left)) == before - after
    match step:
        case Clear():
            assert not after
        case Remove():
            assert len(result.left) == (not result.problem)
        case PutAtRank(mode="replace", rank=rank):
            assert set(result.left) <= {ranks.get(rank)}
        case _:
            assert not result.left
    if result.problem:
        assert done.ranks == ranks
        assert not result.changed
        assert not done.changes


@given(LIST, STEP)
def test_the_same_place_twice_changes_nothing_more(ranks: dict[int, str], step: Step) -> None:
    """Seed 004, apply: the same value again is a no-op."""
    once = apply_steps(ranks, [step])
    if isinstance(step, PutAtRank | Append | Clear) or (isinstance(step, Move) and step.value):
        assert apply_steps(once.ranks, [step]).ranks == once.ranks


@given(LIST, st.integers(1, 8), st.sampled_from("ABCXY"), st.sampled_from(["replace", "insert"]))
def test_a_value_stands_where_it_was_placed(
    ranks: dict[int, str], rank: int, value: str, mode: str
) -> None:
    done = apply_steps(ranks, [PutAtRank(rank=rank, value=value, mode=mode)])  # type: ignore[arg-type]
    if not done.problems:
        assert rank_of(done.ranks, value) == rank


@given(LIST, st.lists(STEP, max_size=4))
def test_changes_lead_from_the_list_before_to_the_list_after(
    ranks: dict[int, str], steps: list[Step]
) -> None:
    done = apply_steps(ranks, steps)
    rebuilt = dict(ranks)
    for change in done.changes:
        assert rebuilt.get(change.rank) == change.old
        if change.new is None:
            del rebuilt[change.rank]
        else:
            rebuilt[change.rank] = change.new
    assert rebuilt == done.ranks


def test_the_default_replaces() -> None:
    """Seed 004, acceptance test 1: SOL at #1, then "Make BTC my #1"."""
    done = apply_steps({1: "SOL", 2: "ETH"}, [PutAtRank(rank=1, value="BTC")])
    assert done.ranks == {1: "BTC", 2: "ETH"}
    assert done.results[0].left == ("SOL",)
    assert done.changes == [RankChange(rank=1, old="SOL", new="BTC")]


def test_two_ranks_in_one_message() -> None:
    """Seed 004, acceptance test 2: both ranks existed, so both are updates."""
    done = apply_steps(
        {1: "SOL", 7: "ADA"}, [PutAtRank(rank=1, value="BTC"), PutAtRank(rank=7, value="SOL")]
    )
    assert done.ranks == {1: "BTC", 7: "SOL"}
    assert [(change.old, change.new) for change in done.changes] == [("SOL", "BTC"), ("ADA", "SOL")]


def test_a_value_moves_instead_of_standing_twice() -> None:
    """Seed 004, ⚠ decision: a value that the list already holds moves; a gap is legal."""
    done = apply_steps({1: "SOL", 2: "btc", 3: "ETH"}, [PutAtRank(rank=1, value="BTC")])
    assert done.ranks == {1: "BTC", 3: "ETH"}


def test_insert_shifts_to_the_first_gap() -> None:
    """Seed 004, ⚠ decision: `mode="insert"` shifts."""
    done = apply_steps({1: "A", 2: "B", 4: "D"}, [PutAtRank(rank=1, value="X", mode="insert")])
    assert done.ranks == {1: "X", 2: "A", 3: "B", 4: "D"}


@pytest.mark.parametrize(
    ("step", "after"),
    [
        (Move(to=3, value="A"), "BCADE"),
        (Move(to=1, from_rank=4), "DABCE"),
        (Move(to=2, value="b"), "ABCDE"),
        (Remove(rank=2), "ACDE"),
        (Remove(value="e"), "ABCD"),
        (Append(values=["F", "b", "F", "G"]), "ABCDEFG"),
        (PutAtRank(rank=2, value="E", mode="insert"), "AEBCD"),
        (Clear(), ""),
    ],
)
def test_steps(step: Step, after: str) -> None:
    done = apply_steps(dict(enumerate("ABCDE", 1)), [step])
    assert done.ranks == dict(enumerate(after, 1))
    assert not done.problems


def test_removing_closes_up_to_the_next_gap() -> None:
    done = apply_steps({1: "A", 2: "B", 3: "C", 7: "G"}, [Remove(rank=1)])
    assert done.ranks == {1: "B", 2: "C", 7: "G"}


@pytest.mark.parametrize(
    ("step", "problem"),
    [
        (PutAtRank(rank=0, value="X"), "there is no rank 0; ranks are 1 to 1000"),
        (PutAtRank(rank=1001, value="X"), "there is no rank 1001; ranks are 1 to 1000"),
        (PutAtRank(rank=1, value=" "), "the value is empty"),
        (Remove(value="X"), "'X' is not in the list"),
        (Remove(rank=9), "nothing stands at rank 9"),
        (Remove(), "say what to remove either by its value or by its rank"),
        (Move(to=2, value="X"), "'X' is not in the list"),
        (Move(to=2), "say what to move either by its value or by its rank"),
        (Append(values=["Y"]), "there is no room for 'Y'; ranks end at 1000"),
        (
            PutAtRank(rank=1000, value="Y", mode="insert"),
            "there is no room behind rank 1000; ranks end at 1000",
        ),
    ],
)
def test_what_cannot_be_done_says_why_and_changes_nothing(step: Step, problem: str) -> None:
    ranks = {1: "A", 1000: "Z"}
    done = apply_steps(ranks, [step, PutAtRank(rank=2, value="B")])
    assert done.problems == {0: problem}
    assert done.ranks == {1: "A", 2: "B", 1000: "Z"}  # the other steps are done
