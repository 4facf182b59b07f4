"""What is known of a message, and whether it is enough to answer from memory (seed 003)."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from factbook import policy
from factbook.errors import NotFound, SearchError, SearchFailure
from factbook.extract.asked import QUERY_CHARS, search_query
from factbook.extract.private_matters import Asking
from factbook.extract.things import asked_names, is_of_owner, without_names
from factbook.gate.names import structural_problem
from factbook.interests.privacy import own_names
from factbook.memory.aio import AsyncMemory
from factbook.model.facts import Role, Trigger
from factbook.model.fading import recency, relevance_score
from factbook.recall.known import ANSWERS, NEAR
from factbook.sources.conversation.turn import turn_uid
from factbook.testing import FrozenClock
from pages import DAY, World, open_world, page
from rows import every

SWIFT = page(
    "Brimley Swift",
    "The Brimley Swift is a kettle with a glass body. The Brimley Swift holds 1.7 litres."
    " The Brimley Swift costs 45 euros. The Brimley Swift weighs 900 grams."
    " The Brimley Swift was released in 2021. The Brimley Swift is made in Leeds.",
)
OTHER = page(
    "Tarn Classic", "The Tarn Classic is a kettle of steel. The Tarn Classic costs 60 euros."
)


@pytest.fixture(scope="module")
def learned(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, World]:
    """A memory that has learned about a kettle, in a folder of its own; it is closed."""
    folder = tmp_path_factory.mktemp("learned")
    found = open_world(folder, [SWIFT, OTHER])
    found.memory.interests.learn("brimley swift")
    found.memory.background.work()
    assert len(found.facts("brimley swift")) >= 5
    found.memory.close()
    return folder, found


@pytest.fixture
def world(learned: tuple[Path, World], tmp_path: Path) -> Iterator[World]:
    """A memory that has learned about a kettle."""
    folder, before = learned
    shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
    found = open_world(tmp_path, before.pages.pages)
    found.clock.now = before.clock.now
    found.pages.asked += before.pages.asked
    yield found
    assert found.memory.check() == []
    found.memory.close()


def message(world: World, text: str, owner: str = "me") -> str:
    """Keep a message, and return its uid."""
    own = f"{text} {world.clock.now} long enough to be one of a kind"
    world.memory.add_turn(text, session="s", uid=own, owner=owner)
    uid = turn_uid(owner, "", own_id=own, role=Role.USER, text="", occurred_at=None)
    assert world.memory.store.episode_ids([uid])
    return uid


# --- what is known --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "asked",
    [
        "Tell me about the Brimley Swift",
        "what do you know about the brimley swift?",
        "How much does the Brimley Swift cost?",
        "how heavy is the brimley swift?",
        "When was the Swift released?",
    ],
)
def test_enough_is_known(world: World, asked: str) -> None:
    """CHECKLIST: enough when at least 3 facts of the entities in question score over 0.6."""
    found = world.memory.interests.knowledge(asked)
    assert found.enough, found.why
    assert [one.entity.name for one in found.entities] == ["brimley swift"]
    assert len(found.bearing) >= policy.ENOUGH_FACTS
    assert all(one.relevance >= policy.ENOUGH_RELEVANCE for one in found.bearing)
    assert "facts about brimley swift bear on it" in found.why


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        ("does the Brimley Swift work with solar panels?", "does not bear|none says|are enough"),
        ("who is the chief executive behind the Brimley Swift?", "none says what is asked"),
        (
            "How much does the Tarn Classic cost?",
            "no page read so far says anything of tarn classic",
        ),
        (
            "Compare the Brimley Swift with the Tarn Classic",
            "no page read so far says anything of tarn classic",
        ),
        ("who won the football match?", "nothing that is known bears on it"),
    ],
)
def test_not_enough_is_known(world: World, asked: str, why: str) -> None:
    found = world.memory.interests.knowledge(asked)
    assert not found.enough
    assert re.search(why, found.why), found.why
    assert found.asking is Asking.WORLD


def test_two_facts_are_not_enough(tmp_path: Path) -> None:
    """CHECKLIST: at least 3 facts."""
    said = "The Brimley Swift is a kettle with a glass body. The Brimley Swift costs 45 euros."
    world = open_world(tmp_path, [page("Brimley Swift", said)])
    world.memory.interests.learn("brimley swift")
    world.memory.background.work()
    found = world.memory.interests.knowledge("what is the brimley swift?")
    assert len(found.facts) == 2
    assert not found.enough
    assert found.why == "2 facts about brimley swift bear on it, and 3 are enough"


def test_relevance_is_that_of_seed_001(world: World) -> None:
    asked = "how much does the brimley swift cost?"
    best = world.memory.interests.knowledge(asked).facts[0]
    vectors = world.memory.resources.embedder.embed([asked, best.fact.statement])
    expected = relevance_score(
        float(vectors[0] @ vectors[1]),
        best.fact.confidence,
        recency(best.fact.occurred_at, world.memory.clock()),
    )
    assert best.relevance == pytest.approx(expected, abs=1e-4)
    assert best.answers
    assert "45 euros" in best.fact.object
    assert best.place == SWIFT.url


def test_what_was_learned_long_ago_is_worth_less(world: World) -> None:
    before = world.memory.interests.knowledge("tell me about the brimley swift")
    world.clock.now += 60 * DAY
    after = world.memory.interests.knowledge("tell me about the brimley swift")
    assert after.facts[0].relevance < before.facts[0].relevance
    assert not after.enough
    assert not world.memory.interests.knowledge(
        "tell me about the brimley swift", owner="ann"
    ).entities


def test_it_and_parts_of_names_mean_what_was_spoken_of(world: World) -> None:
    found = world.memory.interests.knowledge(
        "how much does it cost?", recent=["I saw the Brimley Swift"]
    )
    assert found.enough, found.why
    assert found.query == "brimley swift how much does it cost"
    assert not world.memory.interests.knowledge("how much does it cost?").entities
    assert world.memory.interests.knowledge("what does the Swift weigh?").entities[0].cosine is None


def test_it_means_what_was_asked_about_last(world: World) -> None:
    """A question about something that is not known ends what "it" meant before."""
    asked = "How often do I feed it?"
    before = ["What is a sourdough starter?", "I saw the Brimley Swift"]
    found = world.memory.interests.knowledge(asked, recent=before)
    assert not found.entities
    assert found.query == "sourdough starter How often do I feed it"
    on = world.memory.interests.knowledge("and its price?", recent=["is it loud?", *before])
    assert not on.entities
    # of a part of the thing, it is still spoken of
    part = ["What does the lid weigh?", "I saw the Brimley Swift"]
    assert world.memory.interests.knowledge("how much does it cost?", recent=part).entities


def test_a_message_without_names_is_about_what_is_near(world: World) -> None:
    """Seed 003: retrieve relevant entities via embedding similarity against the message."""
    found = world.memory.interests.knowledge("which kettle with a glass body was that?")
    assert [one.entity.name for one in found.entities] == ["brimley swift"]
    assert found.entities[0].cosine is not None
    assert found.entities[0].cosine >= NEAR
    assert not world.memory.interests.knowledge("how do vaccines work?").entities


def test_nothing_is_near_before_anything_is_embedded(tmp_path: Path) -> None:
    world = open_world(tmp_path, [SWIFT])
    assert not world.memory.interests.knowledge("which kettle has a glass body?").entities
    world.memory.interests.like("brimley swift")
    assert not world.memory.interests.knowledge("which kettle has a glass body?").entities
    assert world.memory.interests.knowledge("what about the brimley swift?").entities


def test_secrets_are_redacted_on_the_way_out(world: World) -> None:
    found = world.memory.interests.knowledge(
        "is AKIAIOSFODNN7EXAMPLE the key of the Brimley Swift?"
    )
    assert "AKIAIOSFODNN7EXAMPLE" not in found.query


def test_odd_messages_are_no_trouble(world: World) -> None:
    for odd in ("", " ", "?", "\x00\x1b[2J", "\ud800", "(" * 5_000, "swift " * 5_000, "😀"):
        world.memory.interests.knowledge(odd)


@pytest.mark.anyio
async def test_it_can_be_awaited(world: World) -> None:
    async with AsyncMemory(
        world.memory.path, clock=world.clock, key_file=world.memory.path.parent / "key"
    ) as memory:
        assert (await memory.interests.knowledge("tell me about the brimley swift")).enough


# --- what is asked --------------------------------------------------------------------------------


@every(
    ("said", "wanted"),
    [
        ("what is espresso?", Asking.WORLD),
        ("who wrote Faust", Asking.WORLD),
        ("tell me about the KEF LS50 Meta", Asking.WORLD),
        ("find me stuff about speakers", Asking.WORLD),
        ("how do I bake bread?", Asking.WORLD),
        ("how do I get red wine out of a rug?", Asking.WORLD),
        ("I wonder what a heat pump costs", Asking.WORLD),
        ("I went to Rome. Which museum is the best there?", Asking.WORLD),
        ("recommend me a film", Asking.WORLD),
        ("how many eggs do I need for a cake?", Asking.WORLD),
        ("does it have to be charged?", Asking.WORLD),
        ("how long do we boil an egg?", Asking.WORLD),
        ("how do I tie a bow tie?", Asking.WORLD),
        ("how do I kill a child process?", Asking.WORLD),
        ("how do I take a screenshot?", Asking.WORLD),
        ("what is my dog called?", Asking.OWNER),
        ("do I like jazz?", Asking.OWNER),
        ("do I have a car?", Asking.OWNER),
        ("what games do I like?", Asking.OWNER),
        ("how much water do I drink?", Asking.OWNER),
        ("how do I take my coffee?", Asking.OWNER),
        ("when do I have to take my pills?", Asking.OWNER),
        ("what should I give my wife?", Asking.OWNER),
        ("where do I live?", Asking.OWNER),
        ("what did we decide?", Asking.OWNER),
        ("remind me of my plans", Asking.OWNER),
        ("did I tell you about Rome?", Asking.OWNER),
        ("hello", Asking.NOTHING),
        ("how are you?", Asking.NOTHING),
        ("can you help me?", Asking.NOTHING),
        ("what else?", Asking.NOTHING),
        ("I love espresso", Asking.NOTHING),
        ("thanks!", Asking.NOTHING),
        ("", Asking.NOTHING),
    ],
)
def test_what_a_message_wants_to_know(world: World, said: str, wanted: Asking) -> None:
    assert world.memory.interests.knowledge(said).asking is wanted


@every(
    ("said", "wanted"),
    [
        ("what tyres does my Halden take?", Asking.WORLD),
        ("is my Halden waterproof?", Asking.WORLD),
        ("is the Halden safe for my dog?", Asking.WORLD),
        ("do I need a licence for the Halden?", Asking.WORLD),
        ("do I like the Halden?", Asking.OWNER),
        ("where do I keep the Halden?", Asking.OWNER),
        ("what did my wife say about the Halden?", Asking.OWNER),
        ("when is my appointment about the Halden?", Asking.OWNER),
    ],
)
def test_a_question_about_a_thing_one_has_is_about_the_thing(
    world: World, said: str, wanted: Asking
) -> None:
    assert (
        world.memory.interests.knowledge(said.replace("Halden", "Brimley Swift")).asking is wanted
    )


def test_a_fact_answers_only_with_what_is_asked_for(world: World) -> None:
    """A name with a number in it is no number, and no price either."""
    costs = world.memory.interests.knowledge("how much is the Brimley Swift?")
    assert costs.enough, costs.why
    assert {one.fact.object for one in costs.facts if one.answers} == {
        "The Brimley Swift costs 45 euros."
    }
    when = world.memory.interests.knowledge("When was the Swift released?")
    assert all("2021" in one.fact.object for one in when.facts if one.answers)
    gears = world.memory.interests.knowledge("how many lids has the Brimley Swift?")
    assert not gears.enough


def test_names_of_ones_own_are_those_that_ones_own_words_bring_in(world: World) -> None:
    for said in (
        "My dog is called Pim, and my favourite film is called Heat.",
        "My daughter Lena likes Dune. My wife is Canadian.",
        "In my opinion Coldplay is great. I am reading a book called Momo.",
        "I have an appointment with Dr. Max Weber.",
    ):
        world.say(said)

    def own(asked: str) -> list[str]:
        return own_names(world.memory.store, asked, owner="me")

    assert own("how old is pim?") == ["pim"]
    assert own("What does Lena's school cost?") == ["lena"]
    assert own("where is Dr. Weber?") == ["max weber"]
    for other in (
        "who directed Heat?",
        "who wrote Dune?",
        "is Coldplay on tour?",
        "who wrote Momo?",
        "is Canadian maple syrup sweet?",
        "who was Alfred Weber?",
        "how much is the Weber Genesis?",
    ):
        assert own(other) == [], other
    assert own_names(world.memory.store, "how old is pim?", owner="ann") == []


def test_a_query_has_an_end() -> None:
    assert len(search_query("why is " + "the sky blue " * 100 + "?")) <= QUERY_CHARS


def test_names_are_left_out_whatever_their_number() -> None:
    assert without_names("The Cargo Bikes are fast", ["cargo bikes"]) == "it are fast"
    assert without_names("recargo bikes", ["cargo bikes"]) == "recargo bikes"


# --- searching for an answer ----------------------------------------------------------------------


def test_a_search_for_a_message_brings_in_what_it_asks_about(world: World) -> None:
    """Seed 003: user message -> search -> SearchLog with trigger user_message."""
    uid = message(world, "How much does the Tarn Classic cost?")
    answer, log = world.memory.interests.search_for(
        "how much does the Tarn Classic cost", episode=uid
    )
    assert answer.results
    assert log.trigger is Trigger.USER_MESSAGE
    assert world.memory.store.episodes_by_id([log.cause_id or 0])
    world.memory.background.work()
    assert "tarn classic" in world.names()
    assert any("60 euros" in one for one in world.facts("tarn classic"))
    # asked for once, however many searches were made for it
    view = world.memory.interests.entity("tarn classic")
    assert len(view.engagements) == 1


def test_what_only_a_query_names_brings_nothing_in(world: World) -> None:
    """Seed 003: entity creation is user-gated; a model may write what a page wants it to."""
    world.pages.pages += [
        page("QuickLoan", "QuickLoan is a kettle and a loan.", host="b.example"),
        page("QuickLoan kettle", "QuickLoan is a kettle of the best.", host="c.example"),
    ]
    before = world.names()
    uid = message(world, "which kettle is good?")
    _, log = world.memory.interests.search_for("QuickLoan kettle", episode=uid)
    assert log.trigger is Trigger.ENRICHMENT
    world.memory.background.work()
    assert world.names() == before
    own = world.memory.interests.search_for("which kettle is good", episode=uid)[1]
    assert own.trigger is Trigger.USER_MESSAGE


def test_a_search_needs_a_message_of_its_owner(world: World) -> None:
    uid = message(world, "How much does the Tarn Classic cost?", owner="ann")
    for wrong in ("turn:none", uid):
        with pytest.raises(NotFound, match="add_turn"):
            world.memory.interests.search_for("tarn classic", episode=wrong)
    assert world.pages.asked[-1:] != ["tarn classic"]


def test_a_search_that_fails_keeps_what_was_asked_about(world: World) -> None:
    world.pages.down = SearchFailure.TIMEOUT
    uid = message(world, "How much does the Tarn Classic cost?")
    with pytest.raises(SearchError):
        world.memory.interests.search_for("tarn classic", episode=uid)
    assert "tarn classic" in world.names()


def test_whose_words_a_query_has() -> None:
    known = {"kef ls50 meta": "kef ls50 meta"}
    said = ["how much does the pelle mini cost?"]
    assert is_of_owner("Pelle Mini cost", said=said, known=known)
    assert is_of_owner("KEF LS50 Meta", said=said, known=known)
    assert not is_of_owner("Pelle Mini price QuickLoan", said=said, known=known)


def test_only_names_fit_for_entities_are_brought_in() -> None:
    brought_in = partial(asked_names, problem=structural_problem)
    assert brought_in("How much does the Pelle Mini cost?", {}) == ["pelle mini"]
    assert brought_in("How much does the Pelle Mini cost?", {"pelle mini": "pelle mini"}) == []
    assert brought_in("What is the Halden Cargo 3?", {}) == ["halden cargo 3"]
    assert brought_in("what happened in March 2020?", {}) == []
    assert brought_in("I like cats", {}) == []


# --- the thresholds -------------------------------------------------------------------------------


def test_the_thresholds_are_those_that_the_script_prints() -> None:
    """CHECKLIST: a threshold calibrated for the shipped embedder on data, and printed."""
    root = Path(__file__).parents[1]
    ended = subprocess.run(
        [sys.executable, str(root / "scripts" / "calibrate_knowledge.py")],
        capture_output=True,
        text=True,
        check=True,
    )
    rows = re.findall(r"\| \*\*(\d\.\d\d)\*\* \| \*\*(\d+)%\*\* \| \*\*(\d+)%\*\* \|", ended.stdout)
    assert [float(one[0]) for one in rows] == [ANSWERS, NEAR]
    answers, near = ([int(one) for one in row[1:]] for row in rows)
    assert answers[0] >= 75
    assert answers[1] <= 5
    assert near[0] >= 90
    assert near[1] <= 2
    shown = (root / "docs" / "chat.md").read_text(encoding="utf-8")
    for line in ended.stdout.splitlines():
        if line.startswith("|"):
            assert line in shown


def test_the_clock_is_the_memorys(world: World) -> None:
    assert isinstance(world.clock, FrozenClock)


def test_a_thing_that_is_known_with_its_article_is_searched_for_without(world: World) -> None:
    world.memory.interests.like("The Mirden Golford")
    world.memory.interests.search_web("search for mirden golford reviews")
    known = {entity.name for entity in world.memory.interests.entities()}
    assert "the mirden golford" in known
    assert "mirden golford" not in known
