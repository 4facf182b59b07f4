"""The deterministic planner: common phrasings of tell and ask, and what it refuses (seed 004)."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factbook.extract.keyed.ask import Window, parse_ask
from factbook.extract.keyed.contracts import batch_problems, op_values, plan_problem
from factbook.extract.keyed.mentions import locate
from factbook.extract.keyed.tell import ReadMessage, parse_tell
from factbook.recall.time_expressions import find_window

ONE: Mapping[str, Mapping[int, str]] = {"user.favorites.crypto": {1: "SOL"}}
TWO: Mapping[str, Mapping[int, str]] = {**ONE, "user.favorites.colors": {1: "red"}}
NOW = 1_790_000_000_000  # 2026-09-21, a Monday


def when(text: str) -> Window | None:
    found = find_window(text, now=NOW)
    return Window(found.phrase, found.since, found.until) if found else None


def short(told: ReadMessage) -> list[str]:
    """Return operations in a form that is quick to read: "set crypto 1 BTC"."""
    assert not told.reason
    assert not told.needs_clarification
    found = []
    for op in told.ops:
        key = (op.list_key or op.fact_key or "").removeprefix("user.").removeprefix("favorites.")
        ranks = [str(rank) for rank in (op.from_rank, op.rank) if rank is not None]
        values = ["/".join(op.values or []) or op.value or ""]
        words = [op.op.removeprefix("ranked_list_"), key, "->".join(ranks), *values]
        found.append(" ".join(filter(None, words)))
    return found


def test_a_message_that_names_no_list_is_asked_back() -> None:
    """Seed 004, acceptance test 3: no topic, two lists, nothing is written."""
    for message in ("Make BTC my #1", "remove BTC from my favorites", "move BTC to #2"):
        told = parse_tell(message, lists=TWO)
        assert told.needs_clarification == ("Which favorites list? crypto/colors/...",)
        assert not told.ops
    assert "There is none yet" in parse_tell("Make BTC my #1", lists={}).needs_clarification[0]
    assert short(parse_tell("BTC is my #1 crypto and SOL my #2", lists=TWO)) == [
        "set crypto 1 BTC",
        "set crypto 2 SOL",
    ]


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("Move The Third Man to #1", ["move crypto 1 The Third Man"]),
        ("call me The Third Man", ["set nickname The Third Man"]),
        ("Put Heat second in my favorite movies", ["set movies 2 Heat"]),
        ("make my #3 tea #1", ["move tea 3->1"]),
        ("my favorite film is My Fair Lady", ["set films 1 My Fair Lady"]),
        (
            "Add Never Let Me Go, Dune and 1984 to my favorite books",
            ["append books Never Let Me Go/Dune/1984"],
        ),
        (
            "my top 2 films are Never Say Never and Heat",
            ["set films 1 Never Say Never", "set films 2 Heat"],
        ),
    ],
)
def test_a_title_is_no_rank_and_no_denial(message: str, expected: list[str]) -> None:
    """What a value says is not what the message says of it."""
    assert short(parse_tell(message, lists=ONE)) == expected


@pytest.mark.parametrize(
    "message",
    ["Delete the first paragraph", "Delete #3 from the report", "Dune is the second movie"],
)
def test_a_rank_of_something_else_is_no_place(message: str) -> None:
    assert parse_tell(message, lists=ONE).reason


@given(
    st.one_of(
        st.text(max_size=80),
        st.lists(
            st.sampled_from(
                (
                    *("my", "favorite", "favorites", "#1", "second", "is", "are", "make", "BTC"),
                    *("and", ",", ".", "?", "not", "if", "movies", "to", "from", "in", "add", '"'),
                    *("move", "remove", "clear", "user.x", "=", ":", "\n", "1.", "top", "3", "I"),
                )
            ),
            max_size=14,
        ).map(" ".join),
    )
)
def test_any_message_is_read_or_refused(message: str) -> None:
    told = parse_tell(message, lists=TWO)
    assert bool(told.ops) + bool(told.needs_clarification) + bool(told.reason) == 1
    assert not batch_problems(told.ops)
    for op in told.ops:
        assert all(value in message and locate(value, message) for value in op_values(op))
    asked = parse_ask(message, lists=TWO, when=when)
    assert (asked.plan is not None) + bool(asked.needs_clarification) + bool(asked.reason) == 1
    assert asked.plan is None or plan_problem(asked.plan) is None


@pytest.mark.parametrize(
    ("question", "reason"),
    [
        ("", "is empty"),
        ("what is the weather", "none of the questions"),
        ("what are my favorite cryptos and colors?", "one at a time"),
        ("what are my favorite movies of last week", "as it is now"),
        ("what's my #5000 movie", "no rank 5000"),
        ("what did I set", "none of the questions"),
        ("x" * 2_000, "fewer words"),
    ],
)
def test_a_question_without_a_plan_has_a_reason(question: str, reason: str) -> None:
    asked = parse_ask(question, lists=TWO, when=when)
    assert asked.plan is None
    assert reason in asked.reason


def test_a_question_about_no_list_is_asked_back() -> None:
    asked = parse_ask("What's my #1?", lists=TWO)
    assert asked.needs_clarification == ("Which favorites list? crypto/colors/...",)
    only = parse_ask("What's my #1?", lists=ONE)
    assert only.plan is not None
    assert only.plan.fact_key == "user.favorites.crypto.1"


def test_without_a_reader_of_times_no_time_is_understood() -> None:
    assert parse_ask("what did I set last week", lists=ONE).reason
