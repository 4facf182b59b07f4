"""What fades by silence and what does not, and from when silence counts."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from tests.session_logs import NOW

from factbook import policy
from factbook.memory import Memory
from factbook.surface.hook.lookup import Lookup
from factbook.testing import FrozenClock

LIFE = (
    "I'm allergic to penicillin.",
    "My sister Clara lives in Porto with her husband.",
    "My birthday is the 12th of March.",
    "Our neighbour's boat is called Marla.",
)
REST = ("I work as a baker at Miller and Sons.", "I drive an old Volvo.")


class House:
    """A memory with a clock that stands still."""

    def __init__(self, folder: Path) -> None:
        self.clock = FrozenClock(NOW)
        self.db = folder / "m.db"
        self.folder = folder
        self.memory = self.opened(self.db)

    def opened(self, db: Path) -> Memory:
        return Memory(db, clock=self.clock, key_file=self.folder / "key", model=None)

    def read(self, *said: str, days_ago: int) -> None:
        """Read a chat of so many days ago."""
        at = datetime.fromtimestamp(self.clock() / 1000, UTC) - timedelta(days=days_ago)
        messages = [
            {"role": "user", "content": text, "timestamp": at.isoformat(), "id": f"m{n}"}
            for n, text in enumerate(said)
        ]
        chat = self.folder / "chat.json"
        chat.write_text(json.dumps({"messages": messages}), encoding="utf-8")
        self.memory.ingest([chat], workers=0)
        self.night()

    def night(self) -> None:
        self.memory.embed()
        self.memory.maintenance.consolidate()

    def standing(self, *, memory: Memory | None = None) -> dict[str, float]:
        """Return what stands, and how sure."""
        facts = (memory or self.memory).query_facts()
        return {fact.statement: round(fact.confidence, 3) for fact in facts}


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    house = House(tmp_path)
    yield house
    house.memory.close()


def test_an_old_chat_leaves_no_fact_dead_at_birth(house: House) -> None:
    house.read(*LIFE, *REST, days_ago=730)
    assert house.standing() == dict.fromkeys((*LIFE, *REST), policy.STATED)
    house.clock.advance(days=40)
    house.night()
    assert house.standing()[REST[0]] == pytest.approx(0.469, abs=0.002)
    house.clock.advance(days=325)
    house.night()
    assert house.standing() == dict.fromkeys(LIFE, policy.STATED)


def test_what_does_not_fade_comes_to_a_session_and_an_export_brings_it_back(house: House) -> None:
    house.read(*LIFE, *REST, days_ago=10)
    house.clock.advance(days=300)
    ids = [f"f{fact.id}" for fact in house.memory.query_facts()]
    until = time.monotonic() + 9
    look = Lookup(str(house.db), owner="me", until=until, now=house.clock(), project="")
    named = look.named(ids, without=frozenset(), session="new")
    assert {memory.text for memory in named} == set(LIFE)
    export = house.folder / "all.jsonl"
    with export.open("w", encoding="utf-8") as file:
        file.writelines(exported(house.memory))
    with house.opened(house.folder / "other.db") as other:
        other.import_(export)
        assert house.standing(memory=other) == dict.fromkeys(LIFE, policy.STATED)


def exported(memory: Memory) -> Iterator[str]:
    from factbook.surface.export import as_json_lines

    return as_json_lines(memory, lambda value: value, owner="me")


def test_it_grows_shrinks_and_is_explained_like_others(house: House) -> None:
    house.read(LIFE[0], days_ago=10)
    (fact,) = house.memory.query_facts()
    house.clock.advance(days=200)
    house.memory.add_turn(LIFE[0], session="later")
    house.night()
    (grown,) = house.memory.query_facts()
    assert grown.confidence > fact.confidence
    assert "hold" in [event.op for event in house.memory.explain(fact.id).history]
    house.memory.review.pin(fact.id)
    house.memory.review.pin(fact.id, pinned=False)
    house.clock.advance(days=200)
    assert house.memory.query_facts()[0].confidence == grown.confidence
    house.memory.review.feedback(fact.id, right=False)
    assert house.memory.query_facts() == []


def test_what_a_run_held_it_gives_back(house: House) -> None:
    house.read(LIFE[0], days_ago=10)
    (fact,) = house.memory.query_facts()
    assert house.memory.sources.fact(fact.id).confidence_at == policy.HELD_AT
    run = house.memory.maintenance.runs()[0]
    house.memory.maintenance.undo(run.id)
    assert house.memory.sources.fact(fact.id).confidence_at != policy.HELD_AT
