"""What is stated says something by itself, and what its owner says is taken for their own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.session_logs import NOW

from factbook.extract.voice import own_words
from factbook.memory import Memory
from factbook.testing import FrozenClock


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    clock = FrozenClock(NOW)
    with Memory(tmp_path / "m.db", clock=clock, key_file=tmp_path / "key", model=None) as memory:
        yield memory


def told(memory: Memory, text: str) -> list[str]:
    """Return what is stated of a message, after a night."""
    memory.add_turn(text, session="one")
    memory.consolidate()
    assert memory.check() == []
    return sorted(fact.statement for fact in memory.query_facts())


@pytest.mark.parametrize(
    ("text", "stated"),
    [
        ("I used to smoke but stopped in 2024.", ["I used to smoke but stopped in 2024."]),
        ("I played handball for years, then quit in march", None),
        ("I have two kids, one is in school", ["I have two kids, one is in school"]),
        ("Nora's birthday is on the 12th of november (not me, mine is april 3rd)", None),
        ("ok mine is april 3rd", []),
        (
            "we moved! I live in Ghent since saturday",
            ["we moved! I live in Ghent since saturday"],
        ),
        ("The second one.", []),
        ("I live in Bremen and work at Stahlhaus", ["I live in Bremen", "work at Stahlhaus"]),
        ("One of my brothers is a pilot.", ["One of my brothers is a pilot."]),
    ],
)
def test_a_statement_takes_along_what_it_goes_on_from(
    memory: Memory, text: str, stated: list[str] | None
) -> None:
    assert told(memory, text) == ([text] if stated is None else stated)


@pytest.mark.parametrize(
    ("text", "stated"),
    [
        ("the school let me go :( looking for a job again", "the school let me go"),
        ("update: i moved to Ghent", "i moved to Ghent"),
        ("my ex kept the dog :( looking to adopt another one", "my ex kept the dog"),
    ],
)
def test_a_face_or_a_label_makes_nobody_else_speak(memory: Memory, text: str, stated: str) -> None:
    assert any(stated in said for said in told(memory, text))
    assert own_words(text).overheard == ()
    (episode,) = memory.sql("SELECT attributes FROM episode_row")
    assert "overheard" not in str(episode["attributes"])


def test_one_says_me_of_oneself(memory: Memory) -> None:
    assert own_words("me: I love cats").overheard == ()
    assert own_words("me: I love cats\nTom: I love dogs").overheard != ()
    for text in ("Tom: I love cats", "boss: I moved to Ghent", "mom: I moved to Ghent"):
        assert own_words(text).overheard != ()
    assert memory.check() == []
