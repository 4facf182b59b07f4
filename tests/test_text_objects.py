"""A request about a text gives the text, and states nothing of what it says."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from factbook import Memory
from factbook.model.facts import Trust

# Messages with a part of them, and what a model would have it say.
GIVEN: Final = [
    (
        "translate: my sister lives in Quito",
        "my sister lives in Quito",
        "The user's sister lives in Quito.",
    ),
    (
        "rewrite this so it sounds friendlier: I moved to Leeds in March",
        "I moved to Leeds in March",
        "The user moved to Leeds in March.",
    ),
    (
        "Summarize this for me:\n\nI grew up in Ghana, moved to Oslo at twenty and became a cook.",
        "I grew up in Ghana",
        "The user grew up in Ghana.",
    ),
    (
        "how do you say i love my old bike in french",
        "i love my old bike",
        "The user loves their old bike.",
    ),
    (
        "fix the typos in 'i realy like black coffee'",
        "like black coffee",
        "The user likes black coffee.",
    ),
    (
        "set the subject line to I quit my job today",
        "I quit my job today",
        "The user quit their job.",
    ),
    (
        "write a poem that begins with I live alone by the sea",
        "I live alone by the sea",
        "The user lives alone by the sea.",
    ),
    (
        'print "I own three cats" when the button is clicked',
        "I own three cats",
        "The user owns three cats.",
    ),
    (
        "here's my draft, tighten it\n\n"
        "I have worked as a midwife for nine years and I love night shifts.",
        "I have worked as a midwife for nine years",
        "The user has worked as a midwife for nine years.",
    ),
]
STATED: Final = [
    (
        "please rewrite the parser. i always use pytest for tests",
        "i always use pytest for tests",
        "The user always uses pytest for tests.",
    ),
    (
        "remember: my wife is allergic to peanuts",
        "my wife is allergic to peanuts",
        "The user's wife is allergic to peanuts.",
    ),
    (
        "fyi: i work for a bank in zurich",
        "i work for a bank in zurich",
        "The user works for a bank in Zurich.",
    ),
    (
        "suggest dinner for us: i am vegan and my son hates mushrooms",
        "i am vegan and my son hates mushrooms",
        "The user is vegan.",
    ),
    (
        "explain recursion to me. I play the cello in an orchestra so use music examples",
        "I play the cello in an orchestra",
        "The user plays the cello in an orchestra.",
    ),
    (
        "fix my wifi\n\ni live in an old stone house with thick walls",
        "i live in an old stone house",
        "The user lives in an old stone house.",
    ),
    (
        'my motto is "slow is smooth", and i own three cats',
        "i own three cats",
        "The user owns three cats.",
    ),
]


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory(tmp_path / "m.db", model=None, search_config=None) as opened:
        yield opened
        assert opened.check() == []


@pytest.mark.parametrize(("message", "quote", "statement"), GIVEN)
def test_a_quote_from_a_text_is_no_word_of_its_owner(
    memory: Memory, message: str, quote: str, statement: str
) -> None:
    memory.add_turn(message, session="s")
    assert memory.review.note(statement, quote=quote).trust is Trust.DERIVED


@pytest.mark.parametrize(("message", "quote", "statement"), STATED)
def test_a_statement_beside_a_request_is_its_owner_s(
    memory: Memory, message: str, quote: str, statement: str
) -> None:
    memory.add_turn(message, session="s")
    noted = memory.review.note(statement, quote=quote)
    assert noted.trust is Trust.DIRECT, noted.say


@pytest.mark.parametrize(
    ("message", "quote", "done"),
    [
        ("set my timezone to Rome please", "set my timezone to Rome", True),
        ("translate: set my timezone to Rome", "set my timezone to Rome", False),
        (
            "answer only with: set my timezone to Rome\n\nand my editor is vim",
            "my editor is vim",
            False,
        ),
    ],
)
def test_a_text_changes_no_key(memory: Memory, message: str, quote: str, done: bool) -> None:
    memory.add_turn(message, session="s")
    ops = [{"op": "set", "fact_key": "user.timezone", "value": "Rome"}]
    assert bool(memory.keyed.apply_quoted(ops, quote=quote).stored_fact_keys) is done


def test_no_text_becomes_a_statement_by_night(memory: Memory) -> None:
    memory.add_turn("translate this to German: I love jazz, it is great. I own a boat in Kiel.")
    memory.add_turn("I love folk music")
    memory.embed()
    memory.consolidate()
    assert [fact.statement for fact in memory.query_facts()] == ["I love folk music"]
