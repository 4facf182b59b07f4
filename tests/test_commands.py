"""The commands of a conversation: what they do, what they answer, and that nothing else is one."""

from __future__ import annotations

import json
import math
import re
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factbook import policy
from factbook.errors import FactbookError, NotFound, SearchError, UsageError
from factbook.interests.interests import LearnStatus
from factbook.memory import Memory, reasons
from factbook.model.entities import Entity, LearnPrompt, SearchState
from factbook.model.facts import Trigger
from factbook.store.derived.entities import engagements_of, entities_of, world_facts
from factbook.store.derived.facts import fact_by_id
from factbook.store.derived.notices import notify_state
from factbook.store.derived.searches import search_tasks
from factbook.surface.chat.slash import (
    COMMANDS,
    SlashReply,
    invoke,
    is_command,
    parse,
    run,
)
from factbook.surface.operations.world import NO_SEARCH
from factbook.surface.output import Page
from factbook.surface.views import world as views
from factbook.testing import FrozenClock
from pages import DAY, MINUTE, SPEAKERS, Pages, World, open_world, page

Do = Callable[[str], SlashReply]
CONTROL = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
KEY = "sk-proj-" + "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5bC7dE9fG1h"


@pytest.fixture(scope="module")
def learned(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A memory that has learned about speakers, read what it found, and embedded it."""
    folder = tmp_path_factory.mktemp("learned")
    world = open_world(folder, SPEAKERS)
    with world.memory as memory:
        memory.interests.learn("find me stuff about speakers")
        memory.background.work()
        world.clock.now += 3 * MINUTE
        memory.interests.dislike("football")
        memory.background.work()
        assert memory.check() == []
    return folder


@pytest.fixture
def world(learned: Path, tmp_path: Path) -> Iterator[World]:
    """That memory, an hour later, to change at will."""
    for name in ("world.db", "key"):
        shutil.copy(learned / name, tmp_path / name)
    found = open_world(tmp_path, SPEAKERS)
    found.clock.now += 60 * MINUTE
    yield found
    assert found.memory.check() == []
    found.memory.close()


@pytest.fixture
def fresh(tmp_path: Path) -> Iterator[World]:
    """A memory in which nothing is."""
    found = open_world(tmp_path, SPEAKERS)
    yield found
    assert found.memory.check() == []
    found.memory.close()


@pytest.fixture
def do(world: World) -> Do:
    return lambda line: shown(run(world.memory, line))


def shown(reply: SlashReply) -> SlashReply:
    """Return a reply that any terminal may show and any program may read."""
    assert not CONTROL.search(reply.text), reply.text
    json.dumps(reply.data, allow_nan=False)
    return reply


def told(reply: SlashReply) -> Any:
    """Return what a reply says to programs, as JSON gives it back."""
    return json.loads(json.dumps(reply.data))


def place(memory: Memory, name: str) -> int:
    return [one.name for one in memory.interests.entities()].index(name) + 1


# --- which line is a command ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("/lern speakers", "did you mean /learn?"),
        ("/intrests", "did you mean /interests?"),
        ("/zzzz", "/help lists them"),
        ("/etc/hosts is odd", "put a blank before it"),
        ("/home/ann/notes.txt", "put a blank before it"),
        ("/2 of them", "put a blank before it"),
        ("/", "put a blank before it"),
        ("//learn x", "put a blank before it"),
        ("I like /learn", "begins with a slash"),
        ("", "begins with a slash"),
        (" /learn x", "begins with a slash"),
    ],
)
def test_what_is_no_command_is_said_to_be_none(line: str, says: str) -> None:
    with pytest.raises(UsageError, match=re.escape(says)):
        parse(line)


@pytest.mark.parametrize(
    ("line", "name", "argument"),
    [
        ("/learn", "learn", ""),
        ("/learn  kef   ls50 meta ", "learn", "kef ls50 meta"),
        ("/LEARN Speakers", "learn", "Speakers"),
        ("/learn\tspeakers", "learn", "speakers"),
        ("/remember one\nstatement", "remember", "one statement"),
    ],
)
def test_a_command_and_its_argument(line: str, name: str, argument: str) -> None:
    command, found = parse(line)
    assert (command.slash, found) == (name, argument)


@given(st.text())
def test_any_text_is_a_command_or_is_refused(line: str) -> None:
    try:
        command, argument = parse(line)
    except UsageError as error:
        said = str(error)
    else:
        assert is_command(line)
        assert command.slash in COMMANDS
        assert argument == " ".join(argument.split())
        said = ""
    assert not CONTROL.search(said)


def test_the_table_names_all_that_the_seed_and_its_additions_ask_for() -> None:
    """Seed 003, commands, and /mute, /why, /forget, /help beside them."""
    wanted = "learn like unlike dislike undislike memory interests schedule mute why forget help"
    assert set(wanted.split()) <= set(COMMANDS)
    for name, command in COMMANDS.items():
        assert (command.slash, command.form.split()[0]) == (name, f"/{name}")
        assert all(parse(one)[0] is command for one in command.examples)
        assert command.help.endswith(".")


def test_help_names_every_command_and_explains_one(do: Do) -> None:
    text = " ".join(do("/help").text.split())
    assert all(f"/{name}" in text and one.help in text for name, one in COMMANDS.items())
    one = do("/help /learn")
    assert "/learn kef ls50 meta" in one.text
    assert [row["name"] for row in told(one)["commands"]] == ["learn"]
    with pytest.raises(UsageError, match="did you mean /learn"):
        do("/help lern")


def test_quit_ends_the_conversation(do: Do) -> None:
    assert do("/quit").quit
    assert not do("/help").quit


# --- learn ----------------------------------------------------------------------------------------


def test_learn_answers_at_once_in_the_form_of_the_seed(fresh: World) -> None:
    """Seed 003: `/learn <topic>` keeps a LearnPrompt and answers before anything is searched."""
    reply = shown(run(fresh.memory, "/learn find me stuff about speakers"))
    assert reply.text == "Queued learning\n\n1) 'find me stuff about speakers' ..."
    assert reply.notes == ()
    assert fresh.pages.asked == []
    waiting = search_tasks(fresh.memory.store, states=(SearchState.QUEUED,))
    assert policy.LEARN_QUERIES[0] <= len(waiting) <= policy.LEARN_QUERIES[1]
    again = shown(run(fresh.memory, "/learn ai conferences in europe"))
    assert again.text == "Queued learning\n\n2) 'ai conferences in europe' ..."
    assert told(again)["prompt"]["searches_remaining"] == len(waiting)


def test_the_status_view_is_that_of_the_seed() -> None:
    """Seed 003: `/learn` shows the status exactly as its sample."""
    prompt = LearnPrompt(1, "me", "find me stuff about speakers", "completed", 0, 0, 0)
    one = Entity(1, "me", "wharfedale denton 85", 0, 0, 1, Trigger.LEARN_COMMAND)
    statuses = [
        LearnStatus(
            prompt=prompt,
            entities=[(one, 17), (one._replace(name="kef ls50 meta"), 8)],
            searches=[],
            failed=[],
        ),
        LearnStatus(
            prompt=prompt._replace(text="ai conferences in europe", status="active"),
            entities=[(one._replace(name="ml prague 2026"), 3)],
            searches=[],
            failed=[],
        ),
    ]
    page = Page()
    views.learning(page, statuses, first=1)
    assert page.written == (
        "Queued learning\n"
        "\n"
        "1) 'find me stuff about speakers' ✓\n"
        "   - wharfedale denton 85 (17 facts)\n"
        "   - kef ls50 meta (8 facts)\n"
        "2) 'ai conferences in europe' ...\n"
        "   - ml prague 2026 (3 facts)"
    )
    plain = Page(plain=True)
    views.learning(plain, statuses, first=1)
    assert plain.written.isascii()
    assert "speakers' (done)" in plain.written


def test_the_status_view_of_what_was_really_learned(world: World, do: Do) -> None:
    text = do("/learn").text
    assert text.startswith("Queued learning\n\n1) 'find me stuff about speakers' ✓\n   - ")
    status = world.memory.interests.learned()[0]
    assert text.count("\n   - ") == len(status.entities) > 1
    assert all(f"   - {one.name} ({facts} fact" in text for one, facts in status.entities)


def test_a_search_that_fails_is_shown_where_it_was_asked_for(fresh: World) -> None:
    from factbook.errors import SearchFailure

    run(fresh.memory, "/learn speakers")
    fresh.pages.down = SearchFailure.TIMEOUT
    fresh.memory.background.run_searches()
    reply = shown(run(fresh.memory, "/learn"))
    assert "1) 'speakers' ..." in reply.text
    assert "is tried again: The search with pages failed (timeout" in reply.text
    assert len(told(reply)["prompts"][0]["failed"]) > 0


def test_without_a_provider_learning_waits_and_says_so(tmp_path: Path) -> None:
    with Memory(tmp_path / "m.db", key_file=tmp_path / "key", search_config=None) as memory:
        assert shown(run(memory, "/learn speakers")).notes == (NO_SEARCH,)
        assert shown(run(memory, "/learn")).notes == (NO_SEARCH,)
        assert run(memory, "/schedule daily speakers").notes == (NO_SEARCH,)
        with pytest.raises(SearchError, match="no search provider is configured"):
            run(memory, "/search speakers")
        assert memory.check() == []


def test_nothing_to_be_learned_says_how_to_begin(fresh: World) -> None:
    assert "`/learn TOPIC`" in run(fresh.memory, "/learn").text
    assert "`/learn TOPIC`" in run(fresh.memory, "/memory").text
    assert "`/like TOPIC`" in run(fresh.memory, "/interests").text
    assert "`/schedule daily TOPIC`" in run(fresh.memory, "/schedule").text
    assert run(fresh.memory, "/notices").text == "Nothing was told yet."
    asked = invoke(fresh.memory, "learn", look=Page(program="factbook"))
    assert "`factbook learn TOPIC`" in asked.text


def test_a_search_shows_what_was_found(world: World, do: Do) -> None:
    reply = do("/search wharfedale denton review")
    assert reply.text.startswith("2 results for 'wharfedale denton review' by pages\n\n1) ")
    assert "https://audio.example/wharfedale-denton-85-review" in reply.text
    assert len(told(reply)["results"]) == 2
    world.pages.pages = []
    assert do("/search nothing").text == "Nothing was found for 'nothing' by pages."
    with pytest.raises(UsageError, match="say what to search for"):
        do("/search")


# --- likes and dislikes ---------------------------------------------------------------------------


def test_like_is_a_preference_an_engagement_and_an_entity(world: World, do: Do) -> None:
    """Seed 003: `/like` adds a preference and a 0.8 engagement, and creates the entity."""
    reply = do("/like espresso machines")
    assert reply.text.startswith("You like espresso machines. It is new here")
    assert told(reply)["new"] is True
    view = world.memory.interests.entity("espresso machines")
    assert [(one.type, one.strength) for one in view.engagements] == [("LIKE_COMMAND", 0.8)]
    assert do("/like Espresso  Machines").text == "You still like espresso machines."
    assert do("/like").text == "You like espresso machines."


def test_a_dislike_is_kept_and_taken_back(world: World, do: Do) -> None:
    """Seed 003: `/dislike`, `/unlike`, `/undislike`."""
    assert do("/dislike sports").text == "You dislike sports."
    assert do("/dislike").text == "You dislike football, sports."
    assert do("/undislike sports").text == "Taken back: you no longer dislike sports."
    do("/like tea")
    assert do("/unlike tea").data == {"topic": "tea", "type": "like", "removed": True}
    assert [one.topic for one in world.memory.interests.preferences()] == ["football"]
    with pytest.raises(NotFound, match="There is no like tea"):
        do("/unlike tea")
    for name in ("unlike", "undislike"):
        with pytest.raises(UsageError, match="say what to"):
            do(f"/{name}")


def test_what_is_liked_after_it_was_disliked_is_liked(world: World, do: Do) -> None:
    do("/like football")
    assert [(one.topic, one.type) for one in world.memory.interests.preferences()] == [
        ("football", "like")
    ]


@pytest.mark.parametrize(
    ("first", "second", "topic"),
    [
        ("the Velora City 2", "velora city 2", "velora city 2"),
        ("velora city 2", "The Velora City 2", "velora city 2"),
        ("the velora city 2", "velora city 2", "the velora city 2"),
        ("The Office", "the office", "the office"),
        ("The Office", "office", "the office"),
        ("a Halden Cargo 3", "Halden Cargo 3", "halden cargo 3"),
        ("The Who", "the who", "the who"),
        ("A Tribe Called Quest", "a tribe called quest", "a tribe called quest"),
    ],
)
def test_a_topic_is_one_with_and_without_its_article(
    fresh: World, first: str, second: str, topic: str
) -> None:
    assert run(fresh.memory, f"/like {first}").text.startswith(f"You like {topic}.")
    assert run(fresh.memory, f"/like {second}").text == f"You still like {topic}."
    assert run(fresh.memory, f"/dislike {second}").text == f"You dislike {topic}."
    assert [(one.topic, one.type) for one in fresh.memory.interests.preferences()] == [
        (topic, "dislike")
    ]
    assert [one.name for one in fresh.memory.interests.entities()] == [topic]
    assert run(fresh.memory, f"/undislike {first}").data["topic"] == topic
    assert fresh.memory.interests.preferences() == []


def test_a_preference_is_about_what_is_known(world: World, do: Do) -> None:
    assert do("/like the KEF LS50 Meta").text == "You like kef ls50 meta."
    assert do("/unlike kef ls50 meta").data["removed"] is True


def test_what_is_no_topic_is_refused(fresh: World) -> None:
    said = " ".join(["loud"] * (policy.NAME_WORDS + 1))
    for name in ("like", "dislike"):
        with pytest.raises(UsageError, match="has 9 words; 8 are the most"):
            run(fresh.memory, f"/{name} {said}")
        run(fresh.memory, f"/{name} {said.removeprefix('loud ')}")
    assert len(fresh.memory.interests.preferences()) == 1


# --- memory ---------------------------------------------------------------------------------------


def test_memory_lists_all_entities_with_their_facts(world: World, do: Do) -> None:
    """Seed 003: `/memory` lists all entities with fact counts."""
    known = world.memory.interests.entities()
    lines = do("/memory").text.splitlines()
    assert lines == [
        f"{number}) {one.name} ({one.fact_count} fact{'' if one.fact_count == 1 else 's'})"
        for number, one in enumerate(known, 1)
    ]
    assert len(lines) > 1


def test_memory_shows_one_by_its_number_or_its_name(world: World, do: Do) -> None:
    """Seed 003: `/memory [number]` shows entity details and facts."""
    name = "wharfedale denton 85"
    number = place(world.memory, name)
    reply = do(f"/memory {number}")
    assert reply.text == do(f"/memory {name.upper()}").text == do(f"/memory #{number}").text
    assert reply.text.startswith(f"{number}) {name}\n")
    assert "here since" in reply.text
    assert "when you asked to learn 'find me stuff about speakers'" in " ".join(reply.text.split())
    for fact in world.memory.interests.entity(name).facts:
        assert f"f{fact.id}  " in reply.text
        assert fact.statement in reply.text.replace("\n", " ")
    assert "https://audio.example/" in reply.text
    facts = told(reply)["facts"]
    assert isinstance(facts, list)
    assert all(one["url"] for one in facts)
    with pytest.raises(NotFound, match="no entity 99"):
        do("/memory 99")


def test_memory_deletes_softly_and_restores(world: World, do: Do) -> None:
    """Seed 003: `/memory [number] delete` removes an entity; here it can be brought back."""
    name = "wharfedale denton 85"
    facts = len(world.facts(name))
    assert facts
    reply = do(f"/memory {place(world.memory, name)} delete")
    assert "`/memory wharfedale denton 85 restore` brings it back" in reply.text
    assert name not in world.names()
    assert do(f"/memory {name} restore").text == f"{name} is back, with {facts} facts."
    assert len(world.facts(name)) == facts
    assert do(f"/forget {name}").text.startswith(f"Forgotten: {name}, with {facts} facts")
    with pytest.raises(NotFound):
        do(f"/why {name}")


def test_a_name_that_ends_in_a_verb_is_a_name(fresh: World) -> None:
    for name in ("safe delete", "magic erase", "file restore"):
        run(fresh.memory, f"/like {name}")
        assert run(fresh.memory, f"/memory {name}").text.splitlines()[0].endswith(name)
    run(fresh.memory, "/memory safe delete delete")
    run(fresh.memory, "/forget magic erase")
    assert fresh.names() == ["file restore"]


def test_a_fact_is_forgotten_softly(world: World, do: Do) -> None:
    fact = world.memory.interests.entity("kef ls50 meta").facts[0]
    assert do(f"/forget f{fact.id}").text.startswith(f"f{fact.id} is out of all retrieval: ")
    hits = world.memory.search_memory("kef ls50 meta driver", limit=20)
    assert f"f{fact.id}" not in [one.id for one in hits]
    shown = do("/memory kef ls50 meta").text
    assert f"f{fact.id} " not in shown
    assert fact.object not in shown
    why = do(f"/why f{fact.id}").text  # it is kept, with its sources
    assert "forgotten: you took it out of all retrieval" in why


def test_forgetting_for_good_leaves_nothing(world: World, do: Do) -> None:
    fact = world.memory.interests.entity("kef ls50 meta").facts[0]
    gone = do(f"/forget f{fact.id} erase")
    assert gone.text.startswith(f"Erased f{fact.id}: ")
    with pytest.raises(NotFound):
        do(f"/why f{fact.id}")
    do("/forget wharfedale denton 85 erase")
    assert "wharfedale denton 85" not in world.names()
    assert not world.memory.erasure.find_residues("wharfedale denton 85").rows
    number = place(world.memory, "speakers")
    assert do(f"/forget {number} erase").text.startswith("Erased speakers: ")
    with pytest.raises(NotFound):
        do("/forget nothing like it erase")
    with pytest.raises(UsageError, match="say what to forget"):
        do("/forget")


def test_what_is_still_said_of_an_erased_thing_is_told(world: World, do: Do) -> None:
    """Words of its owner about something else stay: where they stand is told, and how they go."""
    memory = world.memory
    memory.add_turn("My aunt was given a Wharfedale Denton 85 once", session="s")
    gone = do("/forget wharfedale denton 85 erase")
    rows = memory.erasure.find_residues("wharfedale denton 85").rows
    assert rows
    assert f"erase {' '.join(rows)}` erases" in " ".join(gone.notes)
    assert "but for what was kept, nothing of it is left" in gone.text
    for one in rows:
        memory.erasure.erase_episode(int(one[1:]))
    assert memory.erasure.find_residues("wharfedale denton 85").rows == []
    assert memory.erasure.find_residues("wharfedale denton 85").in_file is False


def test_what_was_erased_is_no_longer_listed(fresh: World) -> None:
    run(fresh.memory, "/learn brimley swift")
    run(fresh.memory, "/learn speakers")
    run(fresh.memory, "/forget brimley swift erase")
    text = run(fresh.memory, "/learn").text
    assert "erased" not in text
    assert "1) 'speakers'" in text
    assert run(fresh.memory, "/learn tea").text.startswith("Queued learning\n\n2) 'tea'")


def test_what_is_both_a_fact_and_a_name_is_asked_back(world: World, do: Do) -> None:
    fact = world.memory.interests.entity("kef ls50 meta").facts[0]
    do(f"/like f{fact.id}")
    with pytest.raises(UsageError, match="both a fact and the name of a thing"):
        do(f"/forget f{fact.id}")
    assert do(f"/why f{fact.id}").data.keys() >= {"engagements"}  # the name that its owner gave


def test_facts_of_others_are_not_there(world: World) -> None:
    fact = world.memory.interests.entity("kef ls50 meta").facts[0]
    for line in (f"/why f{fact.id}", f"/forget f{fact.id}", "/memory 1", "/why n1", "/mute 1"):
        with pytest.raises(NotFound):
            run(world.memory, line, owner="bob")
    assert "Nothing is known" in run(world.memory, "/memory", owner="bob").text
    assert fact_by_id(world.memory.store, fact.id) is not None


@pytest.mark.parametrize("number", [2**62, 2**63, 10**17])
def test_ids_that_cannot_be_are_not_there(do: Do, number: int) -> None:
    for target in (f"f{number}", f"n{number}"):
        with pytest.raises(NotFound):
            do(f"/why {target}")


# --- interests, and why ---------------------------------------------------------------------------


def test_interests_are_ranked_with_a_bar_and_the_numbers(world: World, do: Do) -> None:
    """Seed 003: `/interests` shows name, interest score, fact count and last activity."""
    reply = do("/interests")
    rows = world.memory.interests.ranked()
    lines = reply.text.splitlines()
    assert lines[0].split() == ["#", "entity", "interest", "facts", "last", "activity"]
    for line, row in zip(lines[1:], rows, strict=False):
        assert row.entity.name in line
        assert f"{row.score:+.2f}".replace("+0.00", "0.00") in line
    assert "█" in lines[1]
    assert lines[-1] == "you dislike: football"
    assert [one["name"] for one in told(reply)["interests"]] == [one.entity.name for one in rows]
    narrow = invoke(world.memory, "interests", look=Page(width=40, plain=True)).text
    assert narrow.isascii()
    assert max(map(len, narrow.splitlines())) <= 40
    with pytest.raises(UsageError, match="nothing follows here"):
        do("/interests all")


def test_why_an_entity_adds_up_to_its_interest(world: World, do: Do) -> None:
    do("/like kef ls50 meta")
    world.clock.advance(days=30)
    do("/dislike speakers")
    do("/like bookshelf speakers")
    do("/unlike bookshelf speakers")
    world.memory.embed()
    for row in world.memory.interests.ranked():
        why = reasons.of_entity(world.memory, row.entity)
        assert why.interest == pytest.approx(row.score, abs=1e-12)
        assert math.fsum(one.adds for one in why.parts) == pytest.approx(row.score, abs=1e-12)
    reply = do("/why kef ls50 meta")
    assert told(reply)["brought_in_by"]["prompt"] == "find me stuff about speakers"
    liked = next(one for one in told(reply)["engagements"] if one["type"] == "LIKE_COMMAND")
    assert (liked["strength"], liked["age_days"]) == (0.8, 30.0)
    assert liked["adds"] == pytest.approx(0.4)
    assert "+0.40     +0.80  30 days  liked it" in reply.text
    near = [one for one in told(reply)["engagements"] if one["share"] < 1]
    assert [one["preference"] for one in near] == ["speakers"]
    assert near[0]["adds"] == pytest.approx(-0.8 * near[0]["share"])
    back = told(do("/why bookshelf speakers"))["engagements"]
    assert [(one["taken_back"], one["adds"]) for one in back if one["type"] == "LIKE_COMMAND"] == [
        (True, 0.0)
    ]


def test_why_a_fact_is_the_chain_of_the_seed(world: World, do: Do) -> None:
    """Seed 003: LearnPrompt -> SearchLog -> Fact -> Entity, with quote and address."""
    fact = world.memory.interests.entity("kef ls50 meta").facts[0]
    reply = do(f"/why f{fact.id}")
    (chain, *_) = told(reply)["chain"]
    prompt = world.memory.interests.learned()[0].prompt
    assert chain["prompt"] == "find me stuff about speakers"
    assert chain["search"]["learn_prompt"] == prompt.id
    assert chain["search"]["trigger"] == "learn_command"
    assert chain["url"].startswith("https://")
    assert chain["quote"] in SPEAKERS[1].text + SPEAKERS[2].text
    assert told(reply)["entity"]["name"] == "kef ls50 meta"
    labels = re.findall(r"^(you asked|searched|found|it says|about) ", reply.text, re.MULTILINE)
    assert labels == ["you asked", "searched", "found", "it says", "about"]
    assert reply.text.splitlines()[-1].startswith("about     kef ls50 meta (")


def test_why_a_fact_that_somebody_said(world: World, do: Do) -> None:
    world.say("The KEF LS50 Meta has a grey cone.")
    world.memory.background.work()
    said = [
        one for one in world.memory.interests.entity("kef ls50 meta").facts if "grey" in one.object
    ]
    text = do(f"/why f{said[0].id}").text
    assert "you said  “The KEF LS50 Meta has a grey cone.”" in text
    waiting = world.memory.maintenance.waiting()
    kept = told(do("/remember I live in Oslo"))["fact"]
    assert world.memory.maintenance.waiting() == waiting + 2  # the worker embeds, and not a turn
    assert isinstance(kept, dict)
    assert "in your own words" in do(f"/why {kept['id']}").text


def test_why_a_fact_that_was_looked_up_by_itself(world: World, do: Do) -> None:
    do("/like kef ls50 meta")
    world.pages.pages = [page("LS50 news", "The KEF LS50 Meta has a new finish in green.")]
    for _ in range(4):
        world.memory.background.work(enrich=True)
        world.clock.now += MINUTE
    (fact,) = [
        one for one in world.memory.interests.entity("kef ls50 meta").facts if "green" in one.object
    ]
    assert ", by itself" in do(f"/why f{fact.id}").text


def test_why_a_notice_was_told(world: World, do: Do) -> None:
    notice = next(iter(world.memory.interests.notices()))
    reply = do(f"/why n{notice.id}")
    assert reply.text.splitlines()[0].startswith(f"n{notice.id}  ")
    assert "you asked to learn about it; your interest in it is" in reply.text
    assert reply.text.count("you asked to learn 'find me") >= 1
    assert len(told(reply)["facts"]) == len(notice.fact_ids)
    name = entities_of(world.memory.store, ids=[notice.entity_id])[0].name
    do(f"/mute {name}")
    assert "its owner wants to hear no more of it" in do(f"/why n{notice.id}").text
    do(f"/memory {name} delete")
    assert "None of its facts is held any more." in do(f"/why n{notice.id}").text
    with pytest.raises(UsageError, match="say of what"):
        do("/why")


def test_the_curves_end_where_the_scores_are(world: World, do: Do) -> None:
    do("/like kef ls50 meta")
    world.clock.advance(days=10)
    do("/dislike speakers")
    world.memory.embed()
    scores = {one.entity.name: one.score for one in world.memory.interests.ranked()}
    curves = reasons.curves(world.memory, owner="me")
    assert {one.name for one in curves} <= set(scores)
    for one in curves:
        assert one.scores[-1] == pytest.approx(scores[one.name], abs=1e-9)
        assert list(one.moments) == sorted(one.moments)


# --- schedules and notices ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("said", "every", "shown_as"),
    [
        ("daily tea news", DAY, "daily"),
        ("weekly tea news", 7 * DAY, "weekly"),
        ("every 6h tea news", 6 * 60 * MINUTE, "every 6h"),
        ("every 6 hours tea news", 6 * 60 * MINUTE, "every 6h"),
        ("Every 90 minutes tea news", 90 * MINUTE, "every 90m"),
        ("every day tea news", DAY, "daily"),
        ("every 2 weeks tea news", 14 * DAY, "every 2w"),
        ("every 36h tea news", 36 * 60 * MINUTE, "every 36h"),
    ],
)
def test_a_schedule_is_read_and_shown(fresh: World, said: str, every: int, shown_as: str) -> None:
    """Seed 003: `/schedule daily|weekly|every 6h TOPIC`."""
    reply = shown(run(fresh.memory, f"/schedule {said}"))
    assert reply.text == f"Scheduled {shown_as}: 'tea news', for the first time now."
    (kept,) = fresh.memory.interests.schedules()
    assert (kept.topic, kept.every_ms) == ("tea news", every)
    assert run(fresh.memory, "/schedule").text.startswith(f"1) {shown_as}: 'tea news' (next ")


def test_a_schedule_is_ended_by_its_number(fresh: World) -> None:
    """Seed 003: `/schedule`, `/schedule N delete`; its searches count as the owner's."""
    run(fresh.memory, "/schedule daily tea")
    run(fresh.memory, "/schedule weekly coffee")
    fresh.memory.background.run_schedules()
    assert {one.trigger for one in search_tasks(fresh.memory.store)} == {Trigger.USER_MESSAGE}
    assert run(fresh.memory, "/schedule 1 delete").text == "Ended: daily, 'tea'."
    assert [one.topic for one in fresh.memory.interests.schedules()] == ["coffee"]
    with pytest.raises(NotFound):
        run(fresh.memory, "/schedule 7 delete")


def test_a_topic_has_one_schedule_however_often_it_is_given(fresh: World) -> None:
    for line in ("daily tea news", "daily cake news"):
        run(fresh.memory, f"/schedule {line}")
    fresh.memory.background.run_schedules()
    (tea, cake) = before = fresh.memory.interests.schedules()
    fresh.clock.now += MINUTE
    again = shown(run(fresh.memory, "/schedule daily Tea news"))
    assert "Scheduled already, daily: 'tea news'" in again.text
    assert again.data["schedule"]["number"] == 1  # type: ignore[index]
    after = fresh.memory.interests.schedules()
    assert [one._replace(episode_id=0) for one in after] == [
        one._replace(episode_id=0) for one in before
    ]
    fresh.memory.erasure.erase_episode(tea.episode_id)  # it was said again since
    assert fresh.memory.interests.schedules() == after
    fresh.clock.now += MINUTE
    assert "Scheduled every 6h: 'tea news'" in run(fresh.memory, "/schedule every 6h tea news").text
    (now, other) = fresh.memory.interests.schedules()
    assert (now.id, now.topic, now.every_ms) == (tea.id, "tea news", 6 * 60 * MINUTE)
    assert other == cake
    assert fresh.memory.interests.schedule("tea news", MINUTE, owner="ann").id not in (now.id, 0)
    assert fresh.memory.check() == []


@pytest.mark.parametrize(
    ("said", "says"),
    [
        ("tea", "does not say how often"),
        ("daily", "does not say how often"),
        ("every 6h", "does not say how often"),
        ("every 6 parsecs tea", "does not say how often"),
        ("every 5 minutes tea", "too often"),
        ("every 0h tea", "too often"),
        ("every 999999 weeks tea", "too seldom"),
    ],
)
def test_a_schedule_that_is_none_says_how(fresh: World, said: str, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        run(fresh.memory, f"/schedule {said}")


def test_notices_are_listed_and_muted(world: World, do: Do) -> None:
    listed = do("/notices")
    assert len(told(listed)["notices"]) == len(world.memory.interests.notices()) > 0
    assert "n1  " in listed.text
    assert do("/mute").text == "No more notices; `/unmute` turns them on again."
    assert "There are no notices now; `/unmute`" in do("/notices").text
    assert do("/unmute").text == "Notices are on again."
    number = place(world.memory, "kef ls50 meta")
    muted = do(f"/mute {number}")
    assert muted.text == (
        "No more notices about kef ls50 meta; `/unmute kef ls50 meta` turns them on again."
    )
    assert "kef ls50 meta (" in do("/memory").text
    assert " muted" in do("/memory").text
    assert do("/unmute kef ls50 meta").data == {"entity": "kef ls50 meta", "muted": False}


def test_a_reaction_to_a_notice_is_an_engagement(world: World, do: Do) -> None:
    notice = world.memory.interests.notices()[0]
    assert do(f"/react n{notice.id} 👎").text == "Noted for 1 thing."
    found = engagements_of(world.memory.store, "me", entity_id=notice.entity_id)[0]
    assert (found.type, found.valence) == ("PROACTIVE_NEGATIVE_REACTION", "negative")
    for line in ("/react", "/react n1", "/react x1 👍", "/react n1 🦀"):
        with pytest.raises(UsageError):
            do(line)


# --- what holds for all of them -------------------------------------------------------------------

EVERY = {
    "learn": "/learn tea",
    "like": "/like tea",
    "unlike": "/unlike speakers",
    "dislike": "/dislike tea",
    "undislike": "/undislike football",
    "memory": "/memory",
    "interests": "/interests",
    "schedule": "/schedule daily tea",
    "search": "/search tea",
    "remember": "/remember I drink tea",
    "count": "/count tea",
    "rules": "/rules",
    "why": "/why 1",
    "forget": "/forget 1",
    "notices": "/notices",
    "react": "/react n1 👍",
    "mute": "/mute 1",
    "unmute": "/unmute",
    "help": "/help",
    "quit": "/quit",
}
READING = ("/learn", "/like", "/memory 1", "/schedule", "/why n1", "/help why")


@pytest.mark.parametrize("line", [*EVERY.values(), *READING])
def test_any_command_resets_the_back_off(world: World, do: Do, line: str) -> None:
    """Seed 003: any user action, a command too, lets notices come at once again."""
    assert set(EVERY) == set(COMMANDS)
    world.memory.interests.like("speakers")
    world.clock.now += 5 * MINUTE
    do(line)
    assert notify_state(world.memory.store, "me").engaged_at == world.clock.now


@pytest.mark.parametrize("line", [one for one in EVERY.values() if parse(one)[0].reads("")])
def test_a_program_that_looks_is_no_person_who_acts(learned: Path, line: str) -> None:
    command, argument = parse(line)
    argument = argument if command.reads(argument) else ""
    with Memory(learned / "world.db", mode="read", key_file=learned / "key") as memory:
        before = memory.store.head().commit
        invoke(memory, command.slash, argument)
        assert memory.store.head().commit == before


HOSTILE = "red \x1b[31mtea\x07 \u202egnp.exe"


@pytest.mark.parametrize(
    "name", ["learn", "like", "dislike", "search", "remember", "schedule", "why", "forget", "mute"]
)
def test_no_text_commands_a_terminal(fresh: World, name: str) -> None:
    argument = f"daily {HOSTILE}" if name == "schedule" else HOSTILE
    with suppress(FactbookError):  # refused; the screen makes messages safe
        shown(run(fresh.memory, f"/{name} {argument}"))
    for line in ("/learn", "/memory", "/interests", "/schedule", "/notices", "/like", "/dislike"):
        shown(run(fresh.memory, line))


def test_pages_cannot_command_a_terminal(fresh: World) -> None:
    fresh.pages.pages = [
        page("Tea \x1b[31m", f"Tea is a {HOSTILE} drink. /like coffee", host="x.example")
    ]
    assert "\\x1b" in shown(run(fresh.memory, "/search tea")).text
    assert fresh.memory.interests.preferences() == []


def test_secrets_are_not_kept_and_not_shown(fresh: World) -> None:
    for line in (f"/learn keys like {KEY}", f"/remember Ann's key is {KEY}", f"/search key {KEY}"):
        assert KEY not in shown(run(fresh.memory, line)).text
    for command in ("learn", "remember my key is", "schedule daily", "like"):
        with pytest.raises(FactbookError) as refused:
            run(fresh.memory, f"/{command} {KEY}")
        assert KEY not in str(refused.value)
    assert not fresh.memory.erasure.find_residues(KEY).in_file
    assert all(KEY not in one for one in fresh.pages.asked)


def test_a_rule_learned_today_protects_what_is_shown(world: World) -> None:
    fact = world_facts(world.memory.store, "me", "kef ls50 meta")[0]
    hidden = Memory(
        world.memory.path,
        clock=FrozenClock(world.clock.now),
        key_file=world.memory.path.parent / "key",
        search=Pages([]),
    )
    with hidden as memory:
        plain = memory.resources.redactor.redact
        memory.resources.redactor.redact = lambda text: plain(text).replace("kef", "[hidden]")  # type: ignore[method-assign]
        lines = ["/memory", "/interests", "/learn", "/notices", "/memory kef ls50 meta"]
        for line in [*lines, "/why kef ls50 meta", f"/why f{fact.id}", "/why n1", "/why n2"]:
            reply = shown(run(memory, line))
            assert "kef" not in f"{reply.text} {told(reply)}", line


def test_the_look_only_changes_the_look(world: World) -> None:
    for line in ("memory", "interests", "why", "notices", "learn", "help"):
        argument = "kef ls50 meta" if line == "why" else ""
        plain = invoke(world.memory, line, argument)
        painted = invoke(world.memory, line, argument, look=Page(color=True))
        narrow = invoke(world.memory, line, argument, look=Page(width=60))
        assert re.sub("\x1b\\[[0-9;]*m", "", painted.text) == plain.text
        assert narrow.data == painted.data == plain.data
        assert max(map(len, narrow.text.splitlines())) <= 60
    assert Page(width=3).prose == 3


# --- the page -------------------------------------------------------------------------------------

PAGE = Path(__file__).parents[1] / "docs" / "commands.md"
KETTLES = (
    page(
        "Kettles on test",
        "The Brimley Swift is a kettle with a glass body. The Brimley Swift holds 1.7 litres."
        " The Nordal is a kettle for four cups.",
        host="kettles.example",
    ),
    page(
        "Kettles in the office",
        "The Brimley Swift is a kettle that boils in three minutes."
        " The Nordal is a kettle made of steel.",
        host="office.example",
    ),
)


def replayed(text: str, folder: Path) -> str:
    """Return a page with what its commands really answer, one after the other."""
    head, begin, rest = text.partition("<!-- session:begin -->")
    session, end, tail = rest.partition("<!-- session:end -->")
    world = open_world(folder, KETTLES)
    with world.memory as memory:

        def answered(block: re.Match[str]) -> str:
            lines = []
            for line in re.findall(r"^> (.*)$", block[1], re.MULTILINE):
                world.clock.now += 2 * DAY if line.startswith("/why") else MINUTE
                lines += [f"> {line}", run(memory, line).text]
                memory.background.work()
            return "```\n" + "\n".join(lines) + "\n```"

        done = re.sub(r"```\n(> .*?)\n```", answered, session, flags=re.DOTALL)
        assert memory.check() == []
    return head + begin + done + end + tail


def test_the_page_shows_what_the_commands_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    text = PAGE.read_text(encoding="utf-8")
    assert replayed(text, tmp_path) == text


def test_the_page_names_every_command_and_its_example_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert all(f"`/{name}" in text for name in COMMANDS)
    (example,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FACTBOOK_KEY_FILE", str(tmp_path / "key"))
    exec(compile(example, str(PAGE), "exec"), {})
    assert capsys.readouterr().out.startswith("Queued learning\n\n1) 'kettles' ...")


def test_the_page_names_every_key(world: World, do: Do) -> None:
    text = PAGE.read_text(encoding="utf-8")
    for line in ("/schedule daily tea", "/like tea", "/like speakers"):
        do(line)
    fact = world.memory.interests.entity("kef ls50 meta").facts[0]
    lines = ["/memory kef ls50 meta", "/learn", "/schedule", "/search tea", f"/why f{fact.id}"]
    for line in [*lines, "/why tea", "/why n1", *EVERY.values()]:
        missing = [key for key in keys_of(told(do(line))) if f'"{key}"' not in text]
        assert not [key for key in missing if f"`{key}`" not in text], line


def keys_of(value: Any) -> set[str]:
    """Return the keys of a JSON value, at any depth."""
    if isinstance(value, dict):
        return set(value).union(*map(keys_of, value.values()))
    return set().union(*map(keys_of, value)) if isinstance(value, list) else set()
