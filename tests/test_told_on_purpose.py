"""What was told on purpose is known by the fact itself."""

from __future__ import annotations

from pathlib import Path

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
