"""What was told and what was overheard against it: one question, both sides, either answer."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from conftest import examples
from factbook.maintenance.erasure import Standing
from factbook.memory import Memory
from factbook.model.facts import ME, Fact, Proposal, Status, Trust
from factbook.store.rows import Filters
from factbook.surface.cli import run
from factbook.testing import FrozenClock

LETTER: Final = (
    "Hi Marta,\n\nThanks for the flowers, they made my week. {}\n\nCome visit"
    " in June!\n\nLove,\nIngrid"
)
FORMS: Final[Mapping[str, str]] = {
    "quoted": "> {}",
    "quoted twice": "what do you make of it?\n\n> > {}",
    "mail": "From: a@example.org\nTo: b@example.org\nSubject: Hi\n\n{}\n\nBest",
    "forwarded": "fwd:\n--- Forwarded message ---\n{}",
    "fenced": "look\n```\n{}\n```",
    "chat log": "Anna: hi\nBen: {}\nAnna: nice",
    "told as another's": 'He wrote: "{}"',
    "letter": LETTER,
}
# What is told, what cannot be true beside it, and what may.
SAYINGS: Final = (
    ("I live in Oslo.", "I moved to Bergen.", "I like the opera house."),
    ("I work at Fjordbank.", "I joined Nordlys.", "I play the cello."),
    ("I like tea.", "I hate tea.", "I own a red bicycle."),
    ("My favorite editor is Vim.", "My favorite editor is Emacs.", "I live near the harbour."),
)


def opened(folder: Path) -> Memory:
    return Memory(folder / "f.db", clock=FrozenClock(), key_file=folder / "key")


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    found = opened(tmp_path)
    yield found
    assert found.check() == []
    found.close()


def night(memory: Memory) -> None:
    memory.clock.advance(days=1)  # type: ignore[attr-defined]
    memory.consolidate()


def current(memory: Memory) -> set[str]:
    return {one.statement for one in memory.query_facts()}


def asked(memory: Memory) -> list[Proposal]:
    """Return what waits, of which every open question about a told fact is one."""
    assert memory.review.questions() == []
    return [one for one in memory.review.proposals() if "against" in one.payload]


def sides(one: Proposal) -> tuple[dict[str, Any], dict[str, Any]]:
    (told,), heard = one.payload["against"], one.payload["heard"]  # type: ignore[misc]
    return told, heard  # type: ignore[return-value]


# --- how it was told ------------------------------------------------------------------------------


def by_remembering(memory: Memory, text: str) -> Fact:
    return memory.remember(text)


def by_correcting(memory: Memory, text: str) -> Fact:
    return memory.correct(memory.remember("I am called Kim.").id, text)


def by_pinning(memory: Memory, text: str) -> Fact:
    memory.add_turn(text)
    night(memory)
    fact = next(one for one in memory.query_facts() if one.statement == text)
    memory.review.pin(fact.id)
    return fact


def by_calling_it_right(memory: Memory, text: str) -> Fact:
    memory.add_turn(text)
    night(memory)
    fact = next(one for one in memory.query_facts() if one.statement == text)
    memory.review.feedback(fact.id, right=True)
    return fact


TOLD: Final = (by_remembering, by_correcting, by_pinning, by_calling_it_right)


@given(
    how=st.sampled_from(TOLD),
    saying=st.sampled_from(SAYINGS),
    forms=st.lists(st.sampled_from(sorted(FORMS)), min_size=1, max_size=3),
    accept=st.booleans(),
)
@settings(max_examples=examples(10), deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_what_was_overheard_against_what_was_told_is_asked_once_and_answered(
    how: Callable[[Memory, str], Fact], saying: tuple[str, str, str], forms: list[str], accept: bool
) -> None:
    told, opposed, beside = saying
    with tempfile.TemporaryDirectory() as folder, opened(Path(folder)) as memory:
        fact = how(memory, told)
        before = memory.explain(fact.id).fact.confidence
        for form in forms:
            memory.add_turn(FORMS[form].format(opposed))
            memory.add_turn(FORMS[form].format(beside))
            night(memory)
        (question,) = asked(memory)
        one, other = sides(question)
        assert (one["fact"], one["text"]) == (f"f{fact.id}", told)
        assert other["text"] == opposed
        assert all(side["episode"] and side["source"] for side in (one, other))
        assert told in current(memory)
        assert opposed not in current(memory)
        assert memory.explain(fact.id).fact.confidence == pytest.approx(before, abs=0.06)
        memory.review.decide(question.id, accept=accept)
        memory.add_turn(FORMS[forms[0]].format(opposed))
        night(memory)
        assert asked(memory) == []
        assert memory.review.disputed() == {}
        assert (opposed if accept else told) in current(memory)
        assert (told if accept else opposed) not in current(memory)
        if accept:
            heir = next(fact for fact in memory.query_facts() if fact.statement == opposed)
            assert heir.trust is Trust.DIRECT
            assert memory.store.facts_by_id([fact.id])[fact.id].superseded_by == heir.id
        assert memory.check() == []


@pytest.mark.parametrize("form", sorted(FORMS))
def test_what_speaks_against_nothing_told_is_not_asked_about(memory: Memory, form: str) -> None:
    memory.add_turn("I live in Oslo.")  # said in passing, and not told
    memory.remember("I like tea.")
    memory.add_turn(FORMS[form].format("I moved to Bergen."))
    night(memory)
    assert asked(memory) == []
    in_doubt = ["I moved to Bergen."] if form == "letter" else []
    assert [one.title for one in memory.review.proposals()] == in_doubt


def test_who_has_said_the_same_is_not_asked(memory: Memory) -> None:
    memory.remember("I live in Delft now.")
    memory.add_turn(LETTER.format("I live in Delft now."))
    night(memory)
    assert memory.review.proposals() == []


@pytest.mark.parametrize("accept", [True, False])
def test_a_key_is_told_too(memory: Memory, accept: bool) -> None:
    memory.tell("My favorite color is blue", planner="rules")
    memory.add_turn("> My favorite color is red")
    night(memory)
    (question,) = asked(memory)
    assert sides(question)[0]["text"] == "Favorite colors #1: blue"
    memory.review.decide(question.id, accept=accept)
    assert [one.object for one in memory.keyed.keyed_facts()] == ["red" if accept else "blue"]


@pytest.mark.parametrize("accept", [True, False])
def test_another_speaker_asks_and_takes_no_place(memory: Memory, accept: bool) -> None:
    told = memory.remember("I live in Oslo.")
    memory.add_turn("I moved to Bergen.", name="Ben")
    night(memory)
    assert current(memory) == {"I live in Oslo.", "I moved to Bergen."}
    (question,) = memory.review.questions()
    heard = next(one for one in question.ids if one != told.id)
    assert question.heard == heard
    assert all(question.sources)
    assert set(memory.review.disputed()) == {told.id, heard}
    memory.review.settle({question.ids: "ACCEPT" if accept else "REFUSE"})
    memory.add_turn("I moved to Bergen.", name="Ben", session="next day")
    night(memory)
    assert memory.review.questions() == []
    assert current(memory) == {"I moved to Bergen." if accept else "I live in Oslo."}


def test_another_speaker_does_not_answer_what_waits(memory: Memory) -> None:
    memory.remember("I live in Oslo.")
    memory.add_turn("> I moved to Bergen.")
    night(memory)
    memory.add_turn("I moved to Bergen.", name="Ben")
    night(memory)
    assert len(asked(memory)) == 1
    assert current(memory) == {"I live in Oslo."}


def test_ones_own_word_answers_what_waits(memory: Memory) -> None:
    memory.remember("I live in Oslo.")
    memory.add_turn("> I moved to Bergen.")
    night(memory)
    memory.add_turn("I moved to Bergen.")
    night(memory)
    assert asked(memory) == []
    assert current(memory) == {"I moved to Bergen."}


def test_two_pastes_in_one_night_are_no_second_observation(memory: Memory) -> None:
    for session in ("one", "another"):
        memory.add_turn(LETTER.format("I live in Delft now."), session=session)
    night(memory)
    rows = list(memory.store.facts(Filters(proposed=True), limit=None))
    assert [one.status for one in rows] == [Status.PROPOSED]


def test_an_answer_in_ones_own_words(memory: Memory) -> None:
    memory.remember("I live in Oslo.")
    memory.add_turn("> I moved to Bergen.")
    night(memory)
    (question,) = asked(memory)
    memory.review.decide(question.id, accept=True, text="I live in Bergen since May.")
    assert current(memory) == {"I live in Bergen since May."}
    assert memory.review.proposals() == []


def test_what_of_several_told_facts_still_holds_is_shown(memory: Memory) -> None:
    fact = memory.remember("I live in Oslo.")
    memory.add_turn("> I moved to Bergen.")
    night(memory)
    memory.correct(fact.id, "I live in Tromsø.")
    (question,) = memory.review.proposals()
    assert question.payload["against"] == []
    assert memory.review.disputed() == {}


def test_every_question_about_a_memory_has_one_form(memory: Memory) -> None:
    memory.remember("I live in Oslo.")
    memory.add_turn("> I moved to Bergen.")
    night(memory)
    memory.review.note("The user lives in Rome.")
    overheard, noted = memory.review.proposals()
    assert overheard.payload.keys() == noted.payload.keys()
    for question in (overheard, noted):
        uid = question.payload["episode"]
        assert isinstance(uid, str)
        (number,) = memory.store.episode_ids([uid]).values()
        text = memory.store.texts("episode", [number])[number]
        assert text[question.payload["start"] : question.payload["end"]] == question.payload["text"]  # type: ignore[misc]


def test_the_context_shows_both(memory: Memory) -> None:
    memory.remember("I live in Oslo.")
    memory.add_turn("> I moved to Bergen.")
    night(memory)
    found = memory.context("Where do I live?", memories=memory.search_memory("Where do I live?"))
    (line,) = [one for one in found.text.splitlines() if one.startswith("[f")]
    assert 'I live in Oslo. (overheard otherwise: "I moved to Bergen.")' in line


def test_the_command_line_shows_both_and_takes_the_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with Memory(tmp_path / "f.db", key_file=tmp_path / "key") as memory:
        fact = memory.remember("I live in Oslo.")
        memory.add_turn("> I moved to Bergen.")
        memory.consolidate()
        (question,) = asked(memory)
        heard = sides(question)[1]["fact"]
    monkeypatch.setenv("FACTBOOK_KEY_FILE", str(tmp_path / "key"))

    def said(*words: str) -> str:
        assert run(["--db", str(tmp_path / "f.db"), *words]) == 0
        return capsys.readouterr().out

    for shown in (said("review"), said("facts"), said("explain", f"f{fact.id}")):
        flat = " ".join(shown.split())
        assert "I moved to Bergen." in flat
        assert heard in flat
    assert f"against f{fact.id} I live in Oslo." in said("review")
    record = json.loads(said("review", "--json"))["proposals"][0]
    assert record["payload"]["heard"]["text"] == "I moved to Bergen."
    said("review", "accept", str(question.id))
    assert "I moved to Bergen." in said("facts")
    with opened(tmp_path) as memory:
        assert current(memory) == {"I moved to Bergen."}
        assert memory.check() == []


def test_who_erases_is_not_shown_the_rows_of_others(memory: Memory) -> None:
    mine = memory.remember("My locker code is 48211-77.")
    memory.remember("Bob's locker code is 48211-77.", owner="ann")
    found = memory.erasure.erase_fact(mine.id)
    assert isinstance(found.standing, Standing)
    assert found.standing.others >= 1
    assert found.standing.rows == []
    assert "Bob" not in repr(found)
    assert not found.nothing_left
    assert memory.query_facts(owner=ME) == []
