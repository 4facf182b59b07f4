"""The deterministic planner: common phrasings of tell and ask, and what it refuses (seed 004)."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factbook.extract.keyed.contracts import batch_problems, plan_problem, plan_window
from factbook.extract.keyed.grounded import op_objection
from factbook.extract.keyed.phrases import MESSAGE_CHARS, Told, parse_ask, parse_tell
from factbook.recall.time_expressions import find_window

ONE: Mapping[str, Mapping[int, str]] = {"user.favorites.crypto": {1: "SOL"}}
TWO: Mapping[str, Mapping[int, str]] = {**ONE, "user.favorites.colors": {1: "red"}}
NOW = 1_790_000_000_000  # 2026-09-21, a Monday


def short(told: Told) -> list[str]:
    """Return operations in a form that is quick to read: "set crypto 1 BTC"."""
    assert not told.reason
    assert not told.needs_clarification
    found = []
    for parsed in told.ops:
        op = parsed.op
        key = (op.list_key or op.fact_key or "").removeprefix("user.").removeprefix("favorites.")
        ranks = [str(rank) for rank in (op.from_rank, op.rank) if rank is not None]
        values = ["/".join(op.values or []) or op.value or ""]
        words = [op.op.removeprefix("ranked_list_"), key, "->".join(ranks), *values]
        found.append(" ".join(filter(None, words)))
    return found


TELL = [
    ("BTC is my #1 favorite crypto", "set crypto 1 BTC"),
    ("BTC is my #1 favorite crypto.", "set crypto 1 BTC"),
    ("Make BTC my #1", "set crypto 1 BTC"),
    ("Can you make BTC my #1, please?", "set crypto 1 BTC"),
    ("Actually, ETH is my #1 now", "set crypto 1 ETH"),
    (
        "BTC is my #1 favorite and SOL is actually my #7 favorite",
        "set crypto 1 BTC | set crypto 7 SOL",
    ),
    ("Dune is my second favorite movie", "set movies 2 Dune"),
    ("My number two movie is Alien", "set movies 2 Alien"),
    ("my 3rd favourite film is Heat!", "set films 3 Heat"),
    ("My top pick for crypto is BTC", "set crypto 1 BTC"),
    ("BTC is #4 on my crypto list", "set crypto 4 BTC"),
    ("Put BTC at #1 and ETH at #2", "set crypto 1 BTC | set crypto 2 ETH"),
    ("My #1 crypto is BTC and #2 is ETH", "set crypto 1 BTC | set crypto 2 ETH"),
    (
        "Make BTC my #1, ETH my #2 and SOL my #3 favorite crypto",
        "set crypto 1 BTC | set crypto 2 ETH | set crypto 3 SOL",
    ),
    ("Make The Third Man my #1 movie", "set movies 1 The Third Man"),
    ("Set my #2 movie to Alien", "set movies 2 Alien"),
    (
        "My favorite countries are Spain, Greece and Thailand",
        "append countries Spain/Greece/Thailand",
    ),
    ("Spain and Greece are my favorite countries", "append countries Spain/Greece"),
    ("my favourite colour is navy blue", "set colors 1 navy blue"),
    ("navy blue is my favourite colour", "set colors 1 navy blue"),
    ("Change my favorite color to green", "set colors 1 green"),
    ("Make green my favorite color", "set colors 1 green"),
    ("my favorite animal is a cat", "set animals 1 cat"),
    ("Cats are my favorite animal", "set animals 1 Cats"),
    (
        "My favorite science fiction movies are Dune and Alien",
        "append science_fiction_movies Dune/Alien",
    ),
    ("My favorite band is Simon and Garfunkel", "set bands 1 Simon and Garfunkel"),
    ("My favorite bands are Simon & Garfunkel and Queen", "append bands Simon & Garfunkel/Queen"),
    ("My favorite author is J.R.R. Tolkien.", "set authors 1 J.R.R. Tolkien"),
    ("My favorite movie is Dr. No", "set movies 1 Dr. No"),
    ("My favorite movie is Never Let Me Go", "set movies 1 Never Let Me Go"),
    ('My favorite movie is "never say never"', "set movies 1 never say never"),
    ("“When it rains” is my favorite song", "set songs 1 When it rains"),
    (
        "My top 3 movies are Dune, Alien and Heat",
        "set movies 1 Dune | set movies 2 Alien | set movies 3 Heat",
    ),
    ("My favorite movies are:\n1. Dune\n2. Alien", "set movies 1 Dune | set movies 2 Alien"),
    ("My favorite movies are:\n- Dune\n- Alien", "append movies Dune/Alien"),
    ("Emma is one of my favorite books", "append books Emma"),
    ("One of my favorite books is Emma", "append books Emma"),
    ("My favorite books include Emma and Dune", "append books Emma/Dune"),
    ("add Dune to my favorite books", "append books Dune"),
    ("Add BTC, ETH and ADA to my crypto list", "append crypto BTC/ETH/ADA"),
    ("insert Emma at #2 in my favorite books", "insert books 2 Emma"),
    ("move BTC to #3", "move crypto 3 BTC"),
    ("Move BTC to the top of my favorite cryptos", "move crypto 1 BTC"),
    ("move BTC in my favorite crypto to #3", "move crypto 3 BTC"),
    ("move my #5 movie to #2", "move movies 5->2"),
    ("remove BTC from my favorite crypto", "remove crypto BTC"),
    ("remove #3 from my favorite movies", "remove movies 3"),
    ("remove my #3 favorite movie", "remove movies 3"),
    (
        "Remove Spain and Greece from my favorite countries",
        "remove countries Spain | remove countries Greece",
    ),
    ("clear my favorite movies", "clear movies"),
    ("Delete all my favorite movies", "clear movies"),
    ("my timezone is Europe/Athens", "set timezone Europe/Athens"),
    ("my name is Ann Lee", "set name Ann Lee"),
    ("my dog's name is Rex", "set dog.name Rex"),
    ("I was born on May 4, 1990", "set birthday May 4, 1990"),
    ("I was born in Athens", "set birthplace Athens"),
    ("I live in Athens, Greece", "set location Athens, Greece"),
    ("My name is Ann and I live in Athens", "set name Ann | set location Athens"),
    ("set user.editor.theme to dark", "set editor.theme dark"),
    ("user.favorites.crypto.2 = ETH", "set crypto 2 ETH"),
    ("forget my timezone", "clear timezone"),
    ("forget user.timezone", "clear timezone"),
    ("Clear user.favorites.crypto", "clear crypto"),
    (
        "My favorite color is blue. My favorite food is pizza.",
        "set colors 1 blue | set foods 1 pizza",
    ),
    ("Hey, please remember that my favorite color is blue. Thanks!", "set colors 1 blue"),
]


@pytest.mark.parametrize(("message", "ops"), TELL)
def test_what_the_rules_understand(message: str, ops: str) -> None:
    """Seed 004, ⚠ `--planner rules`: a deterministic parser for common phrasings of tell."""
    told = parse_tell(message, lists=ONE)
    assert short(told) == ops.split(" | ")
    assert told.understood
    assert told.response.ops == [parsed.op for parsed in told.ops]
    for parsed in told.ops:
        wanted = parsed.op.values or ([parsed.op.value] if parsed.op.value else [])
        assert [message[start:end] for start, end in parsed.values] == wanted
        assert parsed.clause_start <= parsed.start < parsed.end <= parsed.clause_end
        assert op_objection(parsed.op, message) is None  # the model's gate lets it pass too


REFUSED = [
    ("", "is empty"),
    ("BTC is not my #1 favorite", "what is not so"),
    ("BTC isn't my #1 favorite", "what is not so"),
    ("My favorite color is not blue", "what is not so"),
    ("my favorite crypto is BTC, not ETH", "more than a value"),
    ("BTC is no longer my #1 favorite", "what was so before"),
    ("BTC was my #1 favorite", "what was so before"),
    ("if BTC were my favorite", "supposes"),
    ("If BTC is my #1 favorite, sell", "in quotes"),
    ("My favorite color would be blue", "supposes"),
    ("Maybe BTC is my #1", "in quotes"),
    ("My wife says BTC is my #1 favorite", "in quotes"),
    ("Is BTC my #1 favorite?", "is a question"),
    ("What is my favorite color", "is a question"),
    ("It is my favorite movie", "does not say what is meant"),
    ("My favorite color is blue because it calms me", "more than a value"),
    ("My favorite color is blue. Just kidding.", "none of the phrasings"),
    ("My favorite movie is Dune or Alien", "which one"),
    ("My favorite color is red, green and blue", "several values"),
    ("My top 3 movies are Dune and Heat", "speaks of 3 and names 2"),
    ("Rex is my second dog", "does not say that it is about favorites"),
    ("My brother's favorite crypto is BTC", "none of the phrasings"),
    ("BTC is my brother's favorite crypto", "none of the phrasings"),
    ("Your favorite crypto is BTC", "none of the phrasings"),
    ("My wifi is slow", "none of the phrasings"),
    ("I like pizza", "none of the phrasings"),
    ("Make BTC my #0 crypto", "no rank 0"),
    ("Make BTC my #5000 crypto", "no rank 5000"),
    ("BTC is my #1 crypto and ETH is my #1 crypto", "another value"),
    ("My favorite color is", "none of the phrasings"),
    ("x" * (MESSAGE_CHARS + 1), "fewer words"),
    ("Make X my #1 and " * 200, "shorter sentences"),
    ("Thanks!", "nothing to set"),
]


@pytest.mark.parametrize(("message", "reason"), REFUSED)
def test_what_the_rules_refuse_has_a_reason(message: str, reason: str) -> None:
    """Seed 004, `--planner rules`: negations, questions and suppositions are no statements."""
    told = parse_tell(message, lists=ONE)
    assert not told.ops
    assert not told.needs_clarification
    assert reason in told.reason
    assert told.response.ops == []
    assert told.response.notes == [told.reason]


def test_a_message_that_names_no_list_is_asked_back() -> None:
    """Seed 004, acceptance test 3: no topic, two lists, nothing is written."""
    for message in ("Make BTC my #1", "remove BTC from my favorites", "move BTC to #2"):
        told = parse_tell(message, lists=TWO)
        assert told.needs_clarification == ("Which favorites list? crypto/colors/...",)
        assert not told.understood
        assert told.response.needs_clarification
    assert "There is none yet" in parse_tell("Make BTC my #1", lists={}).needs_clarification[0]
    assert short(parse_tell("BTC is my #1 crypto and SOL my #2", lists=TWO)) == [
        "set crypto 1 BTC",
        "set crypto 2 SOL",
    ]


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
    assert not batch_problems([parsed.op for parsed in told.ops])
    for parsed in told.ops:
        spans = [message[start:end] for start, end in parsed.values]
        assert spans == (parsed.op.values or ([parsed.op.value] if parsed.op.value else []))
    asked = parse_ask(message, lists=TWO, now=NOW, when=find_window)
    assert (asked.plan is not None) + bool(asked.needs_clarification) + bool(asked.reason) == 1
    assert asked.plan is None or plan_problem(asked.plan) is None


ASK: list[tuple[str, dict[str, Any]]] = [
    ("What are my favorite cryptos?", {"list_key": "user.favorites.crypto"}),
    ("who is my favorite author", {"list_key": "user.favorites.authors"}),
    (
        "What are my favorite science fiction movies?",
        {"list_key": "user.favorites.science_fiction_movies"},
    ),
    ("Which movies are my favorites?", {"list_key": "user.favorites.movies"}),
    ("What movies do I like best?", {"list_key": "user.favorites.movies"}),
    ("My favorite movies?", {"list_key": "user.favorites.movies"}),
    ("Can you tell me what my favorite color is?", {"list_key": "user.favorites.colors"}),
    ("What are my top 3 movies", {"list_key": "user.favorites.movies", "limit": 3}),
    ("Where is BTC in my favorite crypto?", {"list_key": "user.favorites.crypto"}),
    ("show my crypto", {"list_key": "user.favorites.crypto"}),
    ("user.favorites.crypto", {"list_key": "user.favorites.crypto"}),
    ("what's my #2 movie", {"fact_key": "user.favorites.movies.2"}),
    ("what is my second favorite movie?", {"fact_key": "user.favorites.movies.2"}),
    ("Which crypto is my #1?", {"fact_key": "user.favorites.crypto.1"}),
    ("What is #1 on my crypto list?", {"fact_key": "user.favorites.crypto.1"}),
    ("what is my timezone", {"fact_key": "user.timezone"}),
    ("when is my birthday?", {"fact_key": "user.birthday"}),
    ("what is my dog's name", {"fact_key": "user.dog.name"}),
    ("where do I live?", {"fact_key": "user.location"}),
    ("what is user.editor.theme?", {"fact_key": "user.editor.theme"}),
    ("what's my coffee order", {"fact_key": "user.coffee_order"}),
    ("list my favorites", {"key_prefix": "user.favorites"}),
    ("everything under user.favorites", {"key_prefix": "user.favorites"}),
    ("show user.editor.*", {"key_prefix": "user.editor"}),
    ("what do you know about me?", {"key_prefix": "user"}),
    ("what did I tell you about Rex?", {"entity": "Rex"}),
    ("what do you know about the old office", {"entity": "old office"}),
    (
        "what did I tell you about Rex last week",
        {"entity": "Rex", "since": "2026-09-14T00:00:00.000Z"},
    ),
    ("what did I set last week", {"since": "2026-09-14T00:00:00.000Z"}),
    (
        "what did I change yesterday?",
        {"since": "2026-09-20T00:00:00.000Z", "until": "2026-09-21T00:00:00.000Z"},
    ),
    ("all facts with the predicate used_tool", {"predicate": "used_tool"}),
]


@pytest.mark.parametrize(("question", "fields"), ASK)
def test_what_the_rules_plan(question: str, fields: dict[str, Any]) -> None:
    """Seed 004, acceptance test 5, and the plans beyond it: predicate, entity and time."""

    def when(text: str, *, now: int) -> Any:
        return find_window(text, now=now, zone=UTC)

    asked = parse_ask(question, lists=TWO, now=NOW, when=when, keys={"user.coffee_order"})
    assert asked.plan is not None
    assert plan_problem(asked.plan) is None
    assert plan_window(asked.plan)[2] is None
    said = asked.plan.model_dump(exclude_none=True, exclude={"intent", "topic", "include_ranks"})
    assert said == {"limit": 25, **fields}


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
    asked = parse_ask(question, lists=TWO, now=NOW, when=find_window)
    assert asked.plan is None
    assert reason in asked.reason


def test_a_question_about_no_list_is_asked_back() -> None:
    asked = parse_ask("What's my #1?", lists=TWO, now=NOW)
    assert asked.needs_clarification == ("Which favorites list? crypto/colors/...",)
    only = parse_ask("What's my #1?", lists=ONE, now=NOW)
    assert only.plan is not None
    assert only.plan.fact_key == "user.favorites.crypto.1"


def test_without_a_reader_of_times_no_time_is_understood() -> None:
    assert parse_ask("what did I set last week", lists=ONE, now=NOW).reason
