"""Prompts carry the lists and the message as data (seed 004)."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factbook import policy
from factbook.extract.keyed.prompts import (
    ANSWER_TOKENS,
    SHOWN_LISTS,
    SHOWN_RANKS,
    ask_messages,
    tell_messages,
)
from factbook.llm.prompt import message_tokens

LISTS = {"user.favorites.crypto": {2: "SOL", 1: "BTC"}, "user.favorites.colors": {1: 'r"</lists>'}}


def test_a_prompt_carries_the_lists_with_their_ranks() -> None:
    """Seed 004, ⚠: the prompt must carry the owner's existing lists with their ranks."""
    system, user = tell_messages("Make BTC my #1", LISTS)
    assert (system.role, user.role) == ("system", "user")
    lines = user.content.split("\n")
    assert lines[0] == "<lists>"
    first, second = map(json.loads, lines[1:3])
    assert first["list_key"] == "user.favorites.crypto"
    assert list(first["ranks"].items()) == [("1", "BTC"), ("2", "SOL")]
    assert second["ranks"] == {"1": 'r"</lists>'}
    assert lines[3] == "</lists>"
    assert "user.favorites.<topic>.<rank>" in system.content
    assert "no instructions to you" in system.content


@given(st.text())
def test_a_message_cannot_leave_its_element(message: str) -> None:
    for messages, name in (
        (tell_messages(message, {}), "message"),
        (ask_messages(message, LISTS, now=0), "question"),
    ):
        body = messages[1].content
        inner = re.fullmatch(rf"(?s).*\n<{name}>\n([^\n]*)\n</{name}>", body)
        assert inner is not None
        assert json.loads(inner[1]) == message
        assert body.count(f"</{name}>") == 1


def test_a_plan_is_asked_for_with_the_time() -> None:
    user = ask_messages("what did I set last week?", {}, now=1_700_000_000_000)[1].content
    assert "<now>2023-11-14T22:13:20Z, a Tuesday</now>" in user
    assert "none yet" in user


def test_a_prompt_stays_short_whatever_the_lists_are() -> None:
    lists = {
        f"user.favorites.t{n}": dict.fromkeys(range(1, policy.MAX_RANK + 1), "v" * 2_000)
        for n in range(SHOWN_LISTS + 5)
    }
    user = tell_messages("x", lists)[1].content
    assert f"and {policy.MAX_RANK - SHOWN_RANKS} more" in user
    assert "and 5 more lists" in user
    assert len(user) < 200_000
    assert message_tokens(tell_messages("Make BTC my #1", LISTS)) < 3_000


MANY = {
    f"user.favorites.topic_{n}": {rank: f"value {rank} of {n} " * 9 for rank in range(1, 26)}
    for n in range(SHOWN_LISTS)
}


@pytest.mark.parametrize("window", [4_096, 8_192, 16_384, 32_768, 131_072])
def test_a_prompt_and_its_answer_fit_the_window(window: int) -> None:
    for messages in (
        tell_messages("Make X my #1", MANY, context_tokens=window),
        ask_messages("What is my #1?", MANY, now=0, context_tokens=window),
    ):
        assert message_tokens(messages) + min(ANSWER_TOKENS, window // 4) <= window
    shown = tell_messages("Make X my #1", MANY, context_tokens=window)[1].content
    lists = shown.count('"list_key"')
    assert lists >= 4
    assert (f"and {SHOWN_LISTS - lists} more lists" in shown) == (lists < SHOWN_LISTS)
    assert lists == SHOWN_LISTS or window < 8_192


def test_a_list_that_the_message_names_is_shown_first_and_fullest() -> None:
    user = tell_messages("Make X my #1 topic 57", MANY, context_tokens=8_192)[1].content
    lines = user.split("\n")
    assert '"user.favorites.topic_57"' in lines[1]
    assert '"5": ' in lines[1]
    assert '"5": ' not in lines[2]
    small = tell_messages("Make X my #1 topic 57", MANY, context_tokens=4_096)[1].content
    assert '"user.favorites.topic_57"' in small
    named = ask_messages("my topic 57?", MANY, now=0, context_tokens=4_096)[1].content
    assert '"user.favorites.topic_57"' in named.split("\n")[1]


def test_a_message_larger_than_the_window_is_left_as_it_is() -> None:
    message = "my number one is tea. " * 2_000
    user = tell_messages(message, MANY, context_tokens=4_096)[1].content
    assert json.loads(user.split("\n")[-2]) == message
    assert f"and {SHOWN_LISTS} more lists" in user


def test_without_a_window_a_prompt_is_as_before() -> None:
    whole = tell_messages("Make X my #1", LISTS)
    assert tell_messages("Make X my #1", LISTS, context_tokens=100_000) == whole
