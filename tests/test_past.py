"""What was known at a moment is found as it was then."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from factbook import Filters, Memory, Turn
from factbook.model.facts import Role
from factbook.recall.plan import SearchType


def day(month: int, number: int = 1) -> int:
    return int(datetime(2026, month, number, tzinfo=UTC).timestamp() * 1000)


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory(tmp_path / "m.db", key_file=tmp_path / "key", clock=lambda: day(11)) as memory:
        yield memory


def found(memory: Memory, query: str, at: int, search_type: SearchType = "both") -> list[str]:
    return [hit.text for hit in memory.search_memory(query, search_type, as_of=at)]


def test_what_took_the_place_of_something_is_not_known_before_it_did(memory: Memory) -> None:
    memory.remember("I live in Ghent.", at=day(2))
    memory.remember("I live in Lyon.", at=day(6))
    memory.remember("I live in Porto.", at=day(9))
    asked = "where do I live"
    assert found(memory, asked, day(1)) == []
    assert found(memory, asked, day(3)) == ["I live in Ghent."]
    assert found(memory, asked, day(7), "facts") == ["I live in Lyon."]
    assert found(memory, asked, day(7))[0] == "I live in Lyon."  # then what was said before
    assert found(memory, asked, day(10), "facts") == ["I live in Porto."]
    assert [hit.text for hit in memory.search_memory(asked, "facts")] == ["I live in Porto."]


def test_it_is_as_sure_as_it_was_and_when_it_had_last_been_said(memory: Memory) -> None:
    fact = memory.remember("I love fettuccini with sage.", at=day(2))
    memory.remember("I love fettuccini with sage.", at=day(8))
    (then,) = memory.search_memory("fettuccini sage", as_of=day(5))
    (now,) = memory.search_memory("fettuccini sage", "facts")
    assert then.id == now.id == f"f{fact.id}"
    assert then.occurred_at == day(2)
    assert now.occurred_at == day(8)
    assert len(then.evidence) == 1
    (first,) = memory.search_memory("fettuccini sage", as_of=day(2) + 1)
    assert first.confidence == pytest.approx(0.95)
    assert 0.3 < then.confidence < 0.95


def test_what_its_owner_called_wrong_was_never_known(memory: Memory) -> None:
    fact = memory.remember("I love fettuccini with sage.", at=day(2))
    memory.review.feedback(fact.id, right=False)
    assert found(memory, "fettuccini sage", day(5), "facts") == []


def test_episodes_are_those_said_before_and_filters_hold(memory: Memory) -> None:
    talk = memory.conversation(session="s1")
    said = {day(3): "The harbour crane was painted green.", day(7): "It was sold to Kiel."}
    talk.add_turns([Turn(role=Role.USER, text=text, at=at) for at, text in said.items()])
    assert found(memory, "crane Kiel", day(5), "episodes") == [said[day(3)]]
    later = Filters(since=day(4))
    assert memory.search_memory("crane Kiel", filters=later, as_of=day(5)) == []
    (hit,) = memory.search_memory("crane Kiel", "episodes", filters=later, as_of=day(8))
    assert hit.text == said[day(7)]
