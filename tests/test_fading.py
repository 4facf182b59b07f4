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
from factbook.language.reader.read import read
from factbook.maintenance.passing import true_until
from factbook.memory import Memory
from factbook.model.frame import memory_line
from factbook.surface.hook.lookup import Lookup
from factbook.testing import FrozenClock

LIFE = (
    "I'm allergic to penicillin.",
    "My sister Clara lives in Porto with her husband.",
    "My birthday is the 12th of March.",
    "Our neighbour's boat is called Marla.",
)
STEADY = ("I work as a baker at Miller and Sons.", "I drive an old Volvo.")
REST = (*STEADY, "I'm planning a long trip to Norway.")
LEFT = dict.fromkeys(LIFE, policy.STATED) | dict.fromkeys(STEADY, policy.LASTING_FLOOR)


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
    assert house.standing() == LEFT


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
        assert house.standing(memory=other) == LEFT


def test_what_lasts_is_found_by_who_asks_and_comes_by_itself_no_more(house: House) -> None:
    house.read(*STEADY, "I take my coffee black.", "I speak Polish.", days_ago=0)
    house.clock.advance(days=900)
    house.night()
    for question, said in (
        ("where do I work?", STEADY[0]),
        ("which car do I drive?", STEADY[1]),
        ("how do I take my coffee?", "I take my coffee black."),
        ("which languages do I speak?", "I speak Polish."),
    ):
        first, *_ = house.memory.search_memory(question, "facts")
        assert (first.text, first.confidence) == (said, policy.LASTING_FLOOR)
        assert "not said since" in memory_line(first, first.text, house.clock())
    fact = next(fact for fact in house.memory.query_facts() if fact.statement == STEADY[1])
    shown = house.memory.explain(fact.id)
    assert "last" in [event.op for event in shown.history]
    assert fact.true_to is None
    house.memory.review.feedback(fact.id, right=False)
    assert STEADY[1] not in house.standing()
    assert house.memory.check() == []


def test_what_takes_the_place_of_what_lasts_leaves_none_of_it(house: House) -> None:
    house.read("My editor is Vim.", days_ago=0)
    house.clock.advance(days=900)
    house.memory.add_turn("I switched from Vim to Helix.", session="later")
    house.night()
    assert house.standing().keys() == {"I switched from Vim to Helix."}
    assert house.memory.check() == []


def test_who_asks_about_what_nobody_said_is_told_nothing_else(house: House) -> None:
    house.read("My dentist is Dr. Falk.", "My sister Rita is a pilot.", days_ago=0)
    assert house.memory.search_memory("how do I take my coffee?", "facts") == []
    found = house.memory.search_memory("what does my sister do?", "facts")
    assert [hit.text for hit in found] == ["My sister Rita is a pilot."]
    assert house.memory.check() == []


def exported(memory: Memory) -> Iterator[str]:
    from factbook.surface.export import as_json_lines

    return as_json_lines(memory, owner="me")


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


PASSING = (
    "I'm in Rome this week.",
    "I have an exam next week.",
    "I have a concert next week.",
)  # said on Saturday, 2026-11-21
STAYS = ("I went to Lisbon in March.", "I began a new job today.", "I live in Porto since 2019.")
LASTING = (  # what begins at a time does not end there
    "I'm starting insulin next week.",
    "I take metformin from this week on.",
    "My daughter Emma starts school next week.",
    "My sister Clara is in Rome this week.",
    "My birthday is next week.",
)
BEGINS = (
    "I'm moving to Lisbon next month.",
    "I will start working at Acme next week.",
    "I will become a vegetarian next month.",
)


def test_what_says_until_when_it_is_true_fades_fast_from_then_on(house: House) -> None:
    house.read(*PASSING, *STAYS, days_ago=0)
    assert house.standing() == dict.fromkeys((*PASSING, *STAYS), policy.STATED)
    visit = next(fact for fact in house.memory.query_facts() if fact.statement == PASSING[0])
    assert "bound" in [event.op for event in house.memory.explain(visit.id).history]
    house.clock.advance(days=5)
    house.night()
    standing = house.standing()
    assert standing[PASSING[0]] < policy.MIN_CONFIDENCE_PASSIVE
    assert min(standing[text] for text in (*PASSING[1:], *STAYS)) > 0.65
    house.clock.advance(days=9)  # November and the next week are over
    house.night()
    standing = house.standing()
    assert PASSING[0] not in standing
    assert standing[PASSING[1]] < min(standing[text] for text in STAYS) - 0.1
    house.clock.advance(days=7)
    assert set(house.standing()) == set(STAYS)
    ids = [f"f{number}" for number in range(1, 7)]
    until = time.monotonic() + 9
    look = Lookup(str(house.db), owner="me", until=until, now=house.clock(), project="")
    named = look.named(ids, without=frozenset(), session="new")
    assert {memory.text for memory in named} == set(STAYS)


def test_what_begins_at_a_time_does_not_end_there(house: House) -> None:
    house.read(*LASTING, *BEGINS, days_ago=0)
    assert not any(fact.valid_to for fact in house.memory.query_facts())
    house.clock.advance(days=60)
    house.night()
    standing = house.standing()
    assert {said: standing.get(said) for said in LASTING} == dict.fromkeys(LASTING, policy.STATED)
    assert set(BEGINS) <= set(standing)


def test_of_health_what_is_todays_is_over_with_its_day(house: House) -> None:
    house.memory.remember("I'm tired today.")
    house.memory.remember("We're divorced today.")
    house.night()
    ends = {fact.statement: fact.valid_to for fact in house.memory.query_facts()}
    assert ends["I'm tired today."] is not None
    assert ends["We're divorced today."] is None


def test_said_again_it_counts_from_then(house: House) -> None:
    house.read(PASSING[0], days_ago=0)
    house.clock.advance(days=6)
    house.memory.add_turn(PASSING[0], session="later")
    house.night()
    assert house.standing()[PASSING[0]] >= policy.STATED


def test_until_when_it_is_true_is_given_back_with_its_run_and_comes_back_with_an_export(
    house: House,
) -> None:
    house.read(PASSING[0], days_ago=0)
    (fact,) = house.memory.query_facts()
    assert fact.valid_to is not None
    export = house.folder / "all.jsonl"
    with export.open("w", encoding="utf-8") as file:
        file.writelines(exported(house.memory))
    with house.opened(house.folder / "other.db") as other:
        other.import_(export)
        (copy,) = other.query_facts()
        assert copy.valid_to == fact.valid_to
    assert house.memory.check() == []
    house.memory.maintenance.undo(house.memory.maintenance.runs()[0].id)
    assert house.memory.sources.fact(fact.id).valid_to is None


@pytest.mark.parametrize(
    ("said", "until"),
    [
        ("I'm tired today", "2026-11-22"),
        ("I'm in Rome this week", "2026-11-23"),
        ("I have an exam tomorrow", "2026-11-23"),
        ("The concert is tomorrow", "2026-11-23"),
        ("I have an exam next week.", "2026-11-30"),
        ("I was tired this morning", None),
        ("I've been ill this week", None),
        ("I will be in Rome next week", None),
        ("I'm in Rome until tomorrow", None),
        ("I swim on Mondays", None),
        ("My birthday is on 12 March", None),
        ("School starts on 1 September", None),
        ("This is my favourite song", None),
        ("As of today I'm vegan", None),
        ("I'm sober one year today", None),
        ("I'm a father today", None),
        ("I'm in a new relationship this week", None),
        ("I have a new boss tomorrow", None),
        ("My first day at Acme is tomorrow", None),
        ("I want to learn piano this year", None),
        ("I'm flying to Lisbon on Monday", None),
        ("I'm allergic to penicillin and see a doctor tomorrow.", None),
        ("I'm starting insulin tomorrow.", None),
        *((said, None) for said in BEGINS),
    ],
)
def test_until_when_words_say_that_they_are_true(said: str, until: str | None) -> None:
    found = true_until(read(said), NOW, zone=UTC)
    assert (found and datetime.fromtimestamp(found / 1000, UTC).date().isoformat()) == until


def test_what_a_run_held_it_gives_back(house: House) -> None:
    house.read(LIFE[0], days_ago=10)
    (fact,) = house.memory.query_facts()
    assert house.memory.sources.fact(fact.id).confidence_at == policy.HELD_AT
    run = house.memory.maintenance.runs()[0]
    house.memory.maintenance.undo(run.id)
    assert house.memory.sources.fact(fact.id).confidence_at != policy.HELD_AT
