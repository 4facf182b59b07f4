"""What was told on purpose is known by the fact itself."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from factbook.memory import Memory
from factbook.model.facts import Fact
from factbook.model.told import told_on_purpose
from factbook.testing import FrozenClock


def on_purpose(fact: Fact) -> bool:
    return told_on_purpose(kind=fact.kind, trust=fact.trust, host=fact.host, pinned=fact.pinned)


def test_what_is_remembered_or_set_is_and_what_is_said_in_passing_is_not(tmp_path: Path) -> None:
    clock = FrozenClock()
    with Memory(tmp_path / "m.db", clock=clock, key_file=tmp_path / "k", model=None) as memory:
        told = memory.remember("My locker is number 44.")
        memory.tell("My favorite color is blue", planner="rules")
        memory.add_turn("I work as a baker at Miller and Sons.", session="chat")
        memory.embed()
        memory.consolidate()
        facts = {fact.statement: on_purpose(fact) for fact in memory.query_facts()}
        assert facts[told.statement]
        assert any(said for text, said in facts.items() if "blue" in text)
        assert not facts["I work as a baker at Miller and Sons."]
        passing = next(fact for fact in memory.query_facts() if "baker" in fact.statement)
        memory.review.pin(passing.id)
        assert on_purpose(memory.sources.fact(passing.id))


def test_what_nobody_sees_of_it_is_not_kept(tmp_path: Path) -> None:
    with Memory(tmp_path / "m.db", key_file=tmp_path / "k", model=None) as memory:
        told = memory.remember("My locker is num\u200bber 44\u2060, \x1b[31mas I\u202e said.\ufeff")
        assert told.statement == "My locker is number 44, as I said."
        assert memory.sources.episode(1).text == told.statement
        assert memory.remember("My locker is number 44, as I said.").id == told.id
        assert memory.remember("We are a family: 👨\u200d👩\u200d👧").statement.endswith(
            "👨\u200d👩\u200d👧"
        )
        assert memory.check() == []


def test_a_models_word_is_not() -> None:
    assert not told_on_purpose(kind="directive", trust="derived", host="rules")
    assert not told_on_purpose(kind="statement", trust="derived", host="factbook")


HOUR = 3_600_000


@pytest.fixture
def clock() -> FrozenClock:
    return FrozenClock(1_790_000_000_000)


@pytest.fixture
def memory(tmp_path: Path, clock: FrozenClock) -> Iterator[Memory]:
    with Memory(tmp_path / "m.db", clock=clock, key_file=tmp_path / "k", model=None) as made:
        yield made
        assert made.check() == []


def sure(memory: Memory) -> dict[str, float]:
    return {fact.statement: round(fact.confidence, 2) for fact in memory.query_facts()}


@pytest.mark.parametrize("told", [True, False])
def test_what_was_said_before_a_correction_does_not_undo_it(
    memory: Memory, clock: FrozenClock, told: bool
) -> None:
    if told:
        memory.remember("I am 51")
    else:
        memory.add_turn("I am 51", session="1")
        memory.consolidate()
    (wrong,) = memory.query_facts()
    clock.now += 24 * HOUR
    memory.add_turn("i am 51 and my back is sore", session="2")
    clock.now += HOUR
    memory.review.correct(wrong.id, "I am 52")
    clock.now += 8 * HOUR
    memory.consolidate()
    facts = sure(memory)
    assert facts["I am 52"] == 0.95
    assert not any("am 51" in statement for statement in facts)
    assert "my back is sore" in facts
    before = memory.explain(wrong.id)
    assert [piece.quote for piece in before.evidence][-1] == "i am 51"


def test_what_is_told_takes_the_place_of_what_was_said_earlier_that_day(
    memory: Memory, clock: FrozenClock
) -> None:
    memory.add_turn("i am 51 and my back is sore", session="1")
    clock.now += HOUR
    memory.remember("I am 52")
    clock.now += 8 * HOUR
    memory.consolidate()
    assert sure(memory) == {"I am 52": 0.95, "my back is sore": 0.7}


def test_what_is_said_again_after_a_correction_counts(memory: Memory, clock: FrozenClock) -> None:
    first = memory.remember("I am 51")
    clock.now += HOUR
    memory.review.correct(first.id, "I am 52")
    clock.now += 48 * HOUR
    memory.add_turn("i am 51 and my back is sore", session="1")
    clock.now += 8 * HOUR
    memory.consolidate()
    assert sure(memory)["i am 51"] >= 0.7


def test_no_part_of_what_was_told_is_stated_besides(memory: Memory, clock: FrozenClock) -> None:
    memory.remember("My aunt's name is Odile and she has gout")
    memory.tell("My timezone is Europe/Rome", planner="rules")
    clock.now += 8 * HOUR
    memory.consolidate()
    assert sure(memory) == {
        "My aunt's name is Odile and she has gout": 0.95,
        "Timezone: Europe/Rome": 0.95,
    }


def test_what_is_told_is_no_less_sure_for_what_it_takes_in(
    memory: Memory, clock: FrozenClock
) -> None:
    memory.add_turn("my dog is called Rex", session="1")
    memory.consolidate()
    clock.now += 30 * HOUR
    told = memory.remember("I have a dog and his name is Rex")
    assert told.evidence_count == 2
    assert told.confidence == 0.95
