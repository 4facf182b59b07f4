"""Seed 003, line by line: entities that their owner brings in, facts about them, interest, notices.

Each test names the line of the requirement that it shows. The pages that are searched are our own;
the model, where one takes part, is our scripted server, which speaks Ollama's protocol over HTTP.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from factbook import policy
from factbook.errors import NotFound, SearchFailure, UsageError
from factbook.extract.entity_prompts import entities_messages
from factbook.gate.names import NAME_THRESHOLD, semantic_ok, structural_problem
from factbook.gate.notices import EnrichmentMode, mode_of
from factbook.interests.deliver import Delivery
from factbook.interests.score import interests
from factbook.model.backoff import delay_ms
from factbook.model.entities import (
    Engagement,
    EngagementType,
    NoticeKind,
    NoticeState,
    PreferenceType,
    SearchState,
    Valence,
)
from factbook.model.facts import Status, Trigger, Trust
from factbook.store.derived.entities import engagements_of, entities_of, world_facts
from factbook.store.derived.searches import search_logs, search_tasks
from factbook.testing.model_server import ModelServer, Reply, Request
from pages import DAY, MINUTE, SPEAKERS, World, open_world, page

LEARN = "find me stuff about speakers"


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    found = open_world(tmp_path, SPEAKERS)
    yield found
    assert found.memory.check() == []
    found.memory.close()


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer(Reply.status(500)) as found:
        yield found


def modelled(tmp_path: Path, server: ModelServer) -> World:
    return open_world(tmp_path, SPEAKERS, server=server)


# --- principles -----------------------------------------------------------------------------------


def test_a_message_brings_in_what_its_owner_names(world: World) -> None:
    """Principle 1: user messages create entities."""
    world.say("I'm thinking about the KEF LS50 Meta for the living room.")
    world.memory.background.work()
    assert world.names() == ["kef ls50 meta"]


def test_a_search_of_our_own_creates_nothing(world: World) -> None:
    """Principles 1 and 3: autonomous enrichment is fact-only."""
    world.memory.interests.like("kef ls50 meta")
    for _ in range(6):
        world.clock.advance(days=1)
        world.memory.background.work(enrich=True)
    assert world.names() == ["kef ls50 meta"]
    assert world.facts("kef ls50 meta") == [
        "The KEF LS50 Meta is a bookshelf speaker.",
        "The KEF LS50 Meta uses a MAT driver.",
        "The KEF LS50 Meta is a speaker that costs 1,600 dollars.",
    ]
    logs = search_logs(world.memory.store)
    assert {one.trigger for one in logs} == {Trigger.ENRICHMENT}
    engaged = {one.type for one in engagements_of(world.memory.store)}
    assert engaged == {EngagementType.LIKE_COMMAND}  # an enrichment is no engagement


def test_whatever_triggered_a_search_facts_about_known_entities_are_read(world: World) -> None:
    """Principle 2: fact extraction is universal."""
    world.memory.interests.like("kef ls50 meta")
    world.memory.background.work()
    world.memory.interests.search_web("wharfedale denton 85")
    world.memory.background.work()
    assert "The KEF LS50 Meta uses a MAT driver." in world.facts("kef ls50 meta")


# --- the trigger table ----------------------------------------------------------------------------


@pytest.mark.parametrize("how", ["search_web", "learn"])
def test_what_a_person_searches_for_may_bring_in_others_like_it(world: World, how: str) -> None:
    """Trigger table, user_message and learn_command: new entities Yes, facts Yes, engagements Yes,
    notifications Yes."""
    getattr(world.memory.interests, how)(LEARN)
    world.memory.background.work()
    assert set(world.names()) == {"speakers", "wharfedale denton 85", "kef ls50 meta"}
    assert "It costs 600 dollars." in " ".join(world.facts("wharfedale denton 85"))
    engaged = {
        entities_of(world.memory.store, ids=[one.entity_id])[0].name
        for one in engagements_of(world.memory.store)
        if one.entity_id is not None
    }
    assert engaged == set(world.names())
    told = {
        entities_of(world.memory.store, ids=[one.entity_id])[0].name
        for one in world.memory.interests.notices()
    }
    assert told >= {"wharfedale denton 85", "kef ls50 meta"}


def test_what_was_mentioned_in_passing_is_no_entity(world: World) -> None:
    """Principle 1: no conference sponsors, no companies mentioned in passing, no web copy."""
    world.memory.interests.learn(LEARN)
    world.memory.background.work()
    for name in world.names():
        assert not any(word in name for word in ("megamart", "persia", "newsletter", "sponsor"))


def test_the_result_of_an_enrichment_is_told_unless_configured_otherwise(tmp_path: Path) -> None:
    """⚠ notifications for enrichment: `notify_on`, by default as the table says (Yes)."""
    for on, expected in ((policy.NOTIFY_ON, 1), (frozenset({Trigger.LEARN_COMMAND}), 0)):
        folder = tmp_path / str(expected)
        folder.mkdir()
        world = open_world(folder, SPEAKERS, notify_on=on)
        world.memory.interests.like("kef ls50 meta")
        world.memory.background.work()
        world.memory.background.work(enrich=True)
        assert world.facts("kef ls50 meta")
        assert len(world.memory.interests.notices()) == expected
        world.memory.close()


def test_the_configuration_narrows_what_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FACTBOOK_NOTIFY_ON", "learn_command")
    world = open_world(tmp_path, SPEAKERS)
    world.memory.interests.like("kef ls50 meta")
    world.memory.background.work()
    world.memory.background.work(enrich=True)
    assert world.facts("kef ls50 meta")
    assert not world.memory.interests.notices()
    world.memory.close()


def test_the_default_trigger_of_a_search_is_the_message_of_a_person(world: World) -> None:
    """Phases: additive, default trigger `user_message`."""
    rows = world.memory.store._rows(
        "SELECT dflt_value FROM pragma_table_info('search_log_row') WHERE name = 'trigger'"
    )
    assert rows == [("'user_message'",)]


# --- extraction -----------------------------------------------------------------------------------


def entities_prompt(request: Request) -> bool:
    return "Entities:" in request.prompt or "Known entities:" in request.prompt


def test_two_passes_and_a_prompt_of_its_own_for_known_entities(
    tmp_path: Path, server: ModelServer
) -> None:
    """Extraction: two passes (entities, then facts); known-only is a different prompt."""
    world = modelled(tmp_path, server)

    def answer(request: Request) -> Reply:
        if "queries" in str(request.schema):
            return Reply.json({"queries": ["speakers", "best speakers", "new speakers"]})
        if "facts" in str(request.schema):
            return Reply.json({"facts": []})
        return Reply.json({"entities": []} if "quote" in str(request.schema) else {"known": []})

    server.script = answer
    world.memory.interests.like("kef ls50 meta")
    world.memory.background.work()
    server.requests.clear()
    world.memory.background.work(enrich=True)
    systems = {one.messages[0]["content"] for one in server.requests}
    known = entities_messages("q", "t", known=["x"], full=False)[0].content
    full = entities_messages("q", "t", known=["x"], full=True)[0].content
    assert known != full
    assert known in systems
    assert full not in systems
    world.memory.interests.learn(LEARN)
    server.requests.clear()
    world.memory.background.work()
    assert full in {one.messages[0]["content"] for one in server.requests}
    world.memory.close()


def test_a_model_that_disobeys_creates_nothing(tmp_path: Path, server: ModelServer) -> None:
    """⚠ known-only is enforced in code too."""
    world = modelled(tmp_path, server)

    def answer(request: Request) -> Reply:
        schema = str(request.schema)
        if "queries" in schema:
            return Reply.json({"queries": ["a speakers", "b speakers", "c speakers"]})
        if "facts" in schema:
            return Reply.json({"facts": []})
        if "quote" in schema:
            return Reply.json(
                {"entities": [{"name": "MegaMart", "quote": "Sponsored by MegaMart"}]}
            )
        return Reply.json({"known": ["MegaMart", "kef ls50 meta", "the moon"]})

    server.script = answer
    world.memory.interests.like("kef ls50 meta")
    for _ in range(3):
        world.clock.advance(days=1)
        world.memory.background.work(enrich=True)
    assert world.names() == ["kef ls50 meta"]
    assert "unknown_entity" in {one.reason for one in world.memory.sources.rejections()}
    world.memory.interests.learn(LEARN)
    world.memory.background.work()
    assert "megamart" not in world.names()
    world.memory.close()


def test_a_model_that_fails_leaves_its_input_unread(tmp_path: Path, server: ModelServer) -> None:
    """A failure of the model is never "no facts": the log stays unread and is tried again."""
    world = modelled(tmp_path, server)
    world.memory.interests.like("kef ls50 meta")
    world.memory.interests.search_web("kef ls50 meta")
    report = world.memory.background.run_extraction()
    assert report.searches == 0
    assert [what for what, _ in report.failed] == ["search 1"]
    assert world.facts("kef ls50 meta") == []
    assert [one.extracted for one in search_logs(world.memory.store)] == [False]
    assert [one.kind for one in world.memory.maintenance.model_tasks()] == ["search"]
    server.script = lambda request: Reply.json(
        {"facts": []}
        if "facts" in str(request.schema)
        else ({"entities": []} if "quote" in str(request.schema) else {"known": []})
    )
    assert world.memory.background.run_extraction().searches == 0  # not before its time
    world.clock.advance(days=1)
    assert world.memory.background.run_extraction().searches == 1
    assert world.facts("kef ls50 meta")
    world.memory.close()


def test_logs_and_messages_are_read_once(world: World) -> None:
    """Extraction: mark `extracted`; messages have a processed flag; embedding backfill."""
    world.memory.interests.search_web("kef ls50 meta")
    world.say("The KEF LS50 Meta it is.")
    first = world.memory.background.work()
    assert first.extraction is not None
    assert (first.extraction.searches, first.extraction.messages) == (1, 1)
    assert first.embedded > 0
    assert world.memory.maintenance.waiting() == 0
    again = world.memory.background.work()
    assert again.extraction is not None
    assert (again.extraction.searches, again.extraction.messages, again.embedded) == (0, 0, 0)
    assert world.memory.store._rows("SELECT extracted FROM searchlog") == [(1,)]
    rows = world.memory.store._rows(
        "SELECT processed FROM messagelog WHERE content LIKE 'The KEF%'"
    )
    assert rows == [(1,)]


def test_a_follow_up_question_is_an_engagement(world: World) -> None:
    """Extraction: follow-up question engagements."""
    world.say("Tell me about the KEF LS50 Meta.")
    world.memory.background.work()
    world.say("What about the LS50's bass response?")
    world.memory.background.work()
    found = [one for one in engagements_of(world.memory.store) if one.type == "FOLLOW_UP_QUESTION"]
    assert [(one.strength, one.valence) for one in found] == [(0.5, Valence.POSITIVE)]
    assert world.names() == ["kef ls50 meta"]


def test_what_is_said_twice_is_evidence_and_no_second_fact(world: World) -> None:
    """Insertion-time deduplication: a fact that says the same supports the known one."""
    world.pages.pages.append(
        page("Copy", "The KEF LS50 Meta uses a MAT driver. Nothing else is here.", host="b.example")
    )
    world.memory.interests.search_web("kef ls50 meta")
    world.memory.background.work()
    facts = world_facts(world.memory.store, "me", "kef ls50 meta")
    found = [one for one in facts if "MAT" in one.object]
    assert [one.evidence_count for one in found] == [2]


# --- names ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    [
        "the quick brown fox jumps over the lazy dog",
        "{topic} speakers",
        "speakers {desccription}",
        "kef confidence score: 0.9",
        "kef-brief: a speaker",
        "1. kef ls50 meta",
        "https://kef.example/ls50",
        "**kef ls50**",
        "kef\nls50",
        "1984",
        "12,500",
        "march 2026",
        "2026-11-21",
        "tuesday",
        "germany",
        "unknown",
        "n/a",
    ],
)
def test_the_structural_filter(name: str) -> None:
    """Structural filter, and what was learned: numbers, dates, months, locations, placeholders."""
    assert structural_problem(name)


@pytest.mark.parametrize(
    "name", ["kef ls50 meta", "wharfedale denton 85", "ml prague 2026", "espresso machines", "c++"]
)
def test_a_name_passes_the_structural_filter(name: str) -> None:
    """Structural filter: zero false positives on the seed's own names."""
    assert structural_problem(name) is None


def test_the_semantic_filter_has_a_threshold_of_its_own_embedder() -> None:
    """Semantic filter: cosine below the threshold is rejected; calibrated for the embedder."""
    assert semantic_ok(NAME_THRESHOLD)
    assert not semantic_ok(np.nextafter(NAME_THRESHOLD, -1))
    assert not semantic_ok(math.nan)


# --- /learn ---------------------------------------------------------------------------------------


def test_learning_answers_at_once_and_searches_behind(world: World) -> None:
    """/learn TOPIC: LearnPrompt, immediate acknowledgement, 3-5 queries, sequential searches with
    trigger=learn_command and learn_prompt_id."""
    prompt = world.memory.interests.learn(LEARN)
    low, high = policy.LEARN_QUERIES
    assert low <= prompt.searches_remaining <= high
    assert (prompt.text, prompt.status) == (LEARN, "active")
    assert world.pages.asked == []  # nothing was searched yet
    world.memory.background.work()
    assert len(world.pages.asked) == prompt.searches_remaining
    assert len(set(world.pages.asked)) == prompt.searches_remaining
    logs = search_logs(world.memory.store)
    assert {(one.trigger, one.learn_prompt_id) for one in logs} == {("learn_command", prompt.id)}
    assert world.memory.interests.learned()[0].done


def test_queries_by_fixed_patterns_need_no_model(world: World) -> None:
    """Without a model: topic; what is; latest; compared with; how to."""
    world.memory.interests.learn("espresso machines")
    tasks = [one.query for one in search_tasks(world.memory.store)]
    assert tasks[0] == "espresso machines"
    assert [
        bool(part in query)
        for part, query in zip(
            ("what are", "latest", "compared with", "how to"), tasks[1:], strict=True
        )
    ] == [True] * 4


def test_a_model_thinks_of_the_searches_when_there_is_one(
    tmp_path: Path, server: ModelServer
) -> None:
    """/learn: 3-5 varied queries from the user's prompt via LLM; its failure leaves rules."""
    world = modelled(tmp_path, server)
    server.script = [Reply.json({"queries": ["kef speakers", "denton 85", "speaker tests"]})]
    world.memory.interests.learn(LEARN)
    world.memory.background.plan_learning()
    asked = [one.query for one in search_tasks(world.memory.store)]
    assert asked == ["kef speakers", "denton 85", "speaker tests"]
    server.script = Reply.status(500)
    world.memory.interests.learn("espresso machines")
    world.memory.background.plan_learning()
    asked = [one.query for one in search_tasks(world.memory.store) if one.learn_prompt_id == 2]
    assert asked[0] == "espresso machines"
    world.memory.close()


def test_the_chain_from_prompt_to_entity(world: World) -> None:
    """Chain: LearnPrompt -> SearchLog (learn_prompt_id) -> Fact (source...id) -> Entity."""
    prompt = world.memory.interests.learn(LEARN)
    world.memory.background.work()
    rows = world.memory.store._rows(
        "SELECT DISTINCT p.prompt_text, e.name FROM learnprompt p"
        " JOIN searchlog s ON s.learn_prompt_id = p.id"
        " JOIN fact f ON f.source_search_log_id = s.id JOIN entity e ON e.id = f.entity_id"
        " ORDER BY e.name"
    )
    assert rows == [(LEARN, "kef ls50 meta"), (LEARN, "wharfedale denton 85")]
    status = world.memory.interests.learned()[0]
    assert status.prompt.id == prompt.id
    assert {one.name: count for one, count in status.entities} == {
        "wharfedale denton 85": len(world.facts("wharfedale denton 85")),
        "kef ls50 meta": len(world.facts("kef ls50 meta")),
    }


def test_a_search_that_fails_is_said_and_tried_again(world: World) -> None:
    """No failure looks like an empty result."""
    world.pages.down = SearchFailure.TIMEOUT
    world.memory.interests.learn(LEARN)
    report = world.memory.background.work()
    assert report.lookups is not None
    assert report.lookups.made == 0
    assert len(report.lookups.failed) == 5
    status = world.memory.interests.learned()[0]
    assert not status.done
    assert len(status.failed) == 5
    world.pages.down = None
    world.clock.now += 5 * MINUTE
    world.memory.background.work()
    assert world.memory.interests.learned()[0].done


# --- /like and the others -------------------------------------------------------------------------


def test_liking_is_a_preference_an_engagement_and_an_entity(world: World) -> None:
    """/like: preference + 0.8 engagement + creates entity."""
    world.memory.interests.like("espresso machines")
    assert world.names() == ["espresso machines"]
    preference = world.memory.interests.preferences()[0]
    assert (preference.topic, preference.type) == ("espresso machines", PreferenceType.LIKE)
    engagement = engagements_of(world.memory.store)[0]
    assert (engagement.type, engagement.strength) == ("LIKE_COMMAND", 0.8)
    world.memory.interests.unlike("espresso machines")
    assert world.memory.interests.preferences() == []
    assert world.memory.interests.ranked()[0].score == 0.0
    with pytest.raises(NotFound):
        world.memory.interests.unlike("espresso machines")


def test_disliking_is_a_strong_negative_engagement(world: World) -> None:
    """/dislike, /undislike: high-strength negative engagement; removes the dislike."""
    world.memory.interests.dislike("sports")
    engagement = engagements_of(world.memory.store)[0]
    assert (engagement.type, engagement.valence) == ("DISLIKE_COMMAND", Valence.NEGATIVE)
    assert engagement.strength == 0.8
    assert world.names() == []  # only a like brings an entity in
    world.memory.interests.undislike("sports")
    assert world.memory.interests.preferences() == []


def test_entities_are_listed_shown_and_deleted(world: World) -> None:
    """/memory, /memory [number], /memory [number] delete: soft by default."""
    world.memory.interests.learn(LEARN)
    world.memory.background.work()
    listed = world.memory.interests.entities()
    view = world.memory.interests.entity(2)
    assert view.entity == listed[1]
    assert [one.object for one in view.facts][::-1] == world.facts(listed[1].name)
    assert all(url.startswith("https://") for url, _ in view.places.values())
    gone = world.memory.interests.delete_entity(2)
    assert gone.name not in world.names()
    assert gone.name not in [hit.text for hit in world.memory.search_memory(gone.name)]
    world.say(f"{gone.name} again")
    world.memory.background.work()
    assert gone.name not in world.names()  # its owner deleted it and did not ask for it
    world.memory.interests.restore_entity(gone.name)
    assert gone.name in world.names()
    assert world.facts(gone.name)


def test_interests_are_ranked_with_score_facts_and_last_activity(world: World) -> None:
    """/interests: name, score, fact count, last activity."""
    world.memory.interests.like("kef ls50 meta")
    world.memory.interests.like("espresso machines")
    world.clock.now += MINUTE
    world.memory.interests.search_web("kef ls50 meta")
    world.memory.background.work()
    rows = world.memory.interests.ranked()
    assert [one.entity.name for one in rows] == ["kef ls50 meta", "espresso machines"]
    assert rows[0].score == pytest.approx(1.4, abs=1e-3)
    assert (rows[0].fact_count, rows[0].last_activity) == (3, world.clock.now)
    world.memory.interests.dislike("espresso machines")
    assert world.memory.interests.ranked()[-1].entity.name == "espresso machines"


def test_a_schedule_searches_as_its_owner_would(world: World) -> None:
    """/schedule: its searches count as user_message; /schedule N delete ends it."""
    world.memory.interests.schedule("kef ls50 meta", DAY)
    for _ in range(3):
        world.memory.background.work()
        world.clock.advance(days=1)
    logs = search_logs(world.memory.store)
    assert [one.trigger for one in logs] == [Trigger.USER_MESSAGE] * 3
    assert world.facts("kef ls50 meta")
    world.memory.interests.unschedule(1)
    world.memory.background.work()
    assert len(search_logs(world.memory.store)) == 3
    with pytest.raises(NotFound):
        world.memory.interests.unschedule(1)


# --- engagements and interest ---------------------------------------------------------------------


def test_the_ten_strengths() -> None:
    """Engagements reference, whole."""
    table = {
        str(kind): (strength, str(sign)) for kind, (strength, sign) in policy.ENGAGEMENTS.items()
    }
    assert table == {
        "LEARN_COMMAND": (1.0, "positive"),
        "LIKE_COMMAND": (0.8, "positive"),
        "DISLIKE_COMMAND": (0.8, "negative"),
        "EXPLICIT_STATEMENT": (0.7, "positive"),
        "SEARCH_INITIATED": (0.6, "positive"),
        "FOLLOW_UP_QUESTION": (0.5, "positive"),
        "PROACTIVE_NEGATIVE_REACTION": (0.8, "negative"),
        "PROACTIVE_POSITIVE_REACTION": (0.5, "positive"),
        "NORMAL_REACTION": (0.3, "positive"),
        "MENTIONED_IN_PASSING": (0.2, "positive"),
    }


@pytest.mark.parametrize(
    ("text", "kind", "strength", "valence"),
    [
        ("I love the KEF LS50 Meta.", "EXPLICIT_STATEMENT", 0.7, "positive"),
        ("I hate the KEF LS50 Meta.", "EXPLICIT_STATEMENT", 0.7, "negative"),
        ("Search for KEF LS50 Meta reviews", "SEARCH_INITIATED", 0.6, "positive"),
        (
            "I was listening on my KEF LS50 Meta when the bell rang.",
            "MENTIONED_IN_PASSING",
            0.2,
            "positive",
        ),
    ],
)
def test_what_a_message_does(
    world: World, text: str, kind: str, strength: float, valence: str
) -> None:
    """Passive engagements: explicit statement, search initiated, mentioned in passing."""
    world.say(text)
    world.memory.background.work()
    found = [
        (one.type, one.strength, one.valence)
        for one in engagements_of(world.memory.store)
        if one.entity_id is not None
    ]
    assert found == [(kind, strength, valence)]


@pytest.mark.parametrize("emoji", [*policy.POSITIVE_REACTIONS, *policy.NEGATIVE_REACTIONS])
def test_reactions(world: World, emoji: str) -> None:
    """Reactions: on a proactive message 0.5 or a strong stop of 0.8; on a normal one 0.3."""
    world.memory.interests.like("kef ls50 meta")
    world.memory.interests.search_web("kef ls50 meta")
    world.memory.background.work()
    before = world.memory.interests.ranked()[0].score
    notice = world.memory.interests.notices()[0]
    world.memory.interests.react(f"n{notice.id}", emoji)
    positive = emoji in policy.POSITIVE_REACTIONS
    newest = engagements_of(world.memory.store)[0]
    assert newest.strength == (0.5 if positive else 0.8)
    assert newest.valence == (Valence.POSITIVE if positive else Valence.NEGATIVE)
    change = world.memory.interests.ranked()[0].score - before
    assert change == pytest.approx(0.5 if positive else -0.8, abs=1e-3)
    world.memory.add_turn("The KEF LS50 Meta has a MAT driver.", role="assistant", session="s")
    answer = world.memory.store._rows("SELECT max(id) FROM episode_row WHERE role = 'assistant'")
    world.memory.interests.react(f"e{answer[0][0]}", emoji)
    newest = engagements_of(world.memory.store)[0]
    assert (newest.type, newest.strength) == ("NORMAL_REACTION", 0.3)


def test_a_reaction_that_says_nothing_is_refused(world: World) -> None:
    """Learned: the emoji set."""
    with pytest.raises(UsageError):
        world.memory.interests.react("n1", "🍕")


def test_interest_halves_in_thirty_days() -> None:
    """interest = sum(valence_sign x strength x recency_decay), half-life 30 days."""
    one = Engagement(1, "me", 1, None, EngagementType.LEARN_COMMAND, Valence.POSITIVE, 1.0, None, 0)
    against = one._replace(valence=Valence.NEGATIVE, strength=0.8)
    aside = one._replace(valence=Valence.NEUTRAL)
    assert sum(interests([one], 30 * DAY).values()) == pytest.approx(0.5)
    assert sum(interests([one, against, aside], 60 * DAY).values()) == pytest.approx(0.25 - 0.2)


# --- preferences ----------------------------------------------------------------------------------


def test_what_is_said_to_be_liked_is_a_preference(world: World) -> None:
    """Explicit statement: "I'm really into espresso"."""
    world.say("I'm really into espresso.")
    world.memory.background.work()
    assert [(one.topic, one.type) for one in world.memory.interests.preferences()] == [
        ("espresso", "like")
    ]


def test_preferences_relate_to_entities_by_their_vectors(world: World) -> None:
    """Preference-entity relationships are computed, not stored."""
    world.memory.interests.like("walnut bookshelf speakers")
    world.memory.interests.learn(LEARN)
    world.memory.background.work()
    about = world.memory.interests.entity("wharfedale denton 85").preferences
    assert [one.topic for one, _ in about] == ["walnut bookshelf speakers"]
    names = {row[0] for row in world.memory.store._rows("SELECT name FROM sqlite_master")}
    assert not {one for one in names if "preference" in one and "entity" in one}


def test_embeddings_are_local_blobs(world: World) -> None:
    """Embeddings: local, as blobs; here normalised half precision."""
    world.memory.interests.like("espresso machines")
    world.memory.background.work()
    for view in ("entity", "preference"):
        blob = world.memory.store._rows(f"SELECT embedding FROM {view}")[0][0]
        vector = np.frombuffer(blob, np.float16).astype(np.float32)
        assert len(vector) == world.memory.resources.embedder.dim
        assert np.linalg.norm(vector) == pytest.approx(1.0, abs=1e-3)


# --- enrichment -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("facts", "mode"),
    [
        (0, EnrichmentMode.BROAD),
        (4, EnrichmentMode.BROAD),
        (5, EnrichmentMode.TARGETED),
        (14, EnrichmentMode.TARGETED),
        (15, EnrichmentMode.BRIEFING),
    ],
)
def test_the_mode_follows_how_much_is_known(facts: int, mode: EnrichmentMode) -> None:
    """⚠ 5 and 15: [0,5) [5,15) [15,∞); negative interest: skip."""
    assert mode_of(facts, 1.0) is mode
    assert mode_of(facts, -0.1) is EnrichmentMode.SKIP


def test_the_entity_with_the_highest_priority_is_looked_up(world: World) -> None:
    """Priority: interest x 1 / max(1, facts); search-only; negative interest is skipped."""
    world.memory.interests.like("kef ls50 meta")
    world.memory.interests.like("espresso machines")
    world.memory.interests.search_web("kef ls50 meta")
    world.memory.background.work()
    assert (
        world.memory.background.run_enrichment().entity == "espresso machines"
    )  # 0.8 / 1 over 1.4 / 3
    task = search_tasks(world.memory.store)[0]
    assert (task.trigger, task.state) == (Trigger.ENRICHMENT, SearchState.QUEUED)
    world.memory.interests.dislike("espresso machines")
    world.memory.interests.dislike("kef ls50 meta")
    world.memory.background.work()
    world.clock.advance(days=30)
    # A dislike takes the place of a like: negative interest is skipped.
    assert all(one.score < 0 for one in world.memory.interests.ranked())
    assert world.memory.background.run_enrichment().query == ""


def test_enrichment_keeps_to_its_daily_budget(world: World) -> None:
    """Each loop is budgeted."""
    for number in range(6):
        world.memory.interests.like(f"thing {chr(97 + number)}lpha machine")
    made = [world.memory.background.run_enrichment(daily=3).query for _ in range(6)]
    assert [bool(one) for one in made] == [True] * 3 + [False] * 3
    world.memory.background.run_searches()
    world.clock.advance(days=1)
    assert world.memory.background.run_enrichment(daily=3).query


def test_what_was_only_named_in_passing_is_not_looked_up(world: World) -> None:
    """A name that somebody just mentions does not leave the machine by itself."""
    world.say("I was listening on my KEF LS50 Meta when the bell rang.")
    world.memory.background.work()
    assert world.names() == ["kef ls50 meta"]
    assert world.memory.background.run_enrichment().query == ""
    world.memory.interests.like("kef ls50 meta")
    assert world.memory.background.run_enrichment().entity == "kef ls50 meta"


def test_a_dislike_reaches_what_it_is_about(world: World) -> None:
    """Preferences relate to entities: disliking a topic lowers the interest in things of it."""
    world.memory.interests.learn(LEARN)
    world.memory.background.work()
    before = {one.entity.name: one.score for one in world.memory.interests.ranked()}
    world.memory.interests.dislike("bookshelf speakers with a walnut cabinet")
    world.memory.background.work()
    after = {one.entity.name: one.score for one in world.memory.interests.ranked()}
    assert after["wharfedale denton 85"] < before["wharfedale denton 85"]


def test_a_query_is_redacted_by_what_is_known_when_it_leaves(tmp_path: Path) -> None:
    """Secrets never leave the machine, also those that a rule learned of after it was queued."""
    world = open_world(tmp_path, SPEAKERS)
    world.memory.interests.learn("speakers")
    for task in search_tasks(world.memory.store):
        world.memory.store._file.connection.execute(
            "UPDATE search_task SET query = 'speakers AKIAIOSFODNN7EXAMPLE' WHERE id = ?",
            (task.id,),
        )
    world.memory.background.run_searches()
    assert world.pages.asked
    assert not any("AKIAIOSFODNN7EXAMPLE" in one for one in world.pages.asked)
    world.memory.close()


def test_what_was_looked_up_in_vain_rests(world: World) -> None:
    """Learned: what cannot be found is not asked for again and again."""
    world.memory.interests.like("zorblatt quux machine")
    asked = 0
    for _ in range(48):
        world.clock.now += 30 * MINUTE
        asked += bool(world.memory.background.run_enrichment().query)
        world.memory.background.run_searches()
    assert 1 <= asked <= 4


# --- notices --------------------------------------------------------------------------------------


def deliver(world: World) -> list[Delivery]:
    shown: list[Delivery] = []
    world.memory.background.notifier(shown.append).pass_once()
    return shown


def test_one_message_for_each_entity_in_the_seeds_words(world: World) -> None:
    """Notifications: one message per (entity, new facts), the two texts, image when available."""
    world.memory.interests.learn(LEARN)
    world.memory.background.work()
    texts: dict[str, Delivery] = {}
    while waiting := world.memory.interests.notices(states=[NoticeState.WAITING]):
        for one in deliver(world):
            texts[one.entity] = one
        world.clock.now += MINUTE
        assert waiting
    denton = texts["wharfedale denton 85"]
    count = len(world.facts("wharfedale denton 85"))
    head = f"I just discovered wharfedale denton 85 and learned {count} facts about it"
    assert denton.text.splitlines()[0] == head
    assert denton.image == "https://audio.example/denton.png"
    world.pages.pages.append(
        page("More", "The KEF LS50 Meta comes in five colours.", host="c.example")
    )
    world.memory.interests.search_web("kef ls50 meta colours")
    world.memory.background.work()
    more = deliver(world)
    assert [one.notice.kind for one in more] == [NoticeKind.LEARNED]
    assert more[0].text.splitlines()[0] == "I just learned some new stuff about kef ls50 meta..."


def test_the_back_off_doubles_and_any_act_resets_it(world: World) -> None:
    """Cadence: 0, 1, 2, 4, 8 min ... doubled per unanswered message, capped; reset to zero."""
    assert [delay_ms(n) // MINUTE for n in range(9)] == [0, 1, 2, 4, 8, 16, 32, 60, 60]
    world.memory.interests.learn(LEARN)
    world.memory.background.work()
    assert len(deliver(world)) == 1
    assert deliver(world) == []
    world.memory.interests.react(f"n{world.memory.interests.notices()[0].id}", "👍")
    assert len(deliver(world)) == 1


def test_muting(world: World) -> None:
    """Learned: /mute."""
    world.memory.interests.learn(LEARN)
    world.memory.background.work()
    world.memory.interests.mute()
    assert deliver(world) == []
    world.memory.interests.mute(muted=False)
    assert len(deliver(world)) == 1


def test_what_its_owner_called_wrong_is_not_brought_back_by_a_page(world: World) -> None:
    """Text of others never overrules its owner's word."""
    world.memory.interests.search_web("kef ls50 meta")
    world.memory.background.work()
    fact = next(
        one
        for one in world_facts(world.memory.store, "me", "kef ls50 meta")
        if "1,600" in one.object
    )
    world.memory.review.feedback(fact.id, right=False)
    assert fact.object not in world.facts("kef ls50 meta")
    world.pages.pages.append(
        page("Again", "The KEF LS50 Meta is a speaker that costs 1,600 dollars.", host="z.example")
    )
    world.clock.now += MINUTE
    world.memory.interests.search_web("kef ls50 meta price")
    world.memory.background.work()
    assert fact.object not in world.facts("kef ls50 meta")
    assert world.memory.store.facts_by_id([fact.id])[fact.id].confidence == 0.0


# --- what is told again ---------------------------------------------------------------------------


def test_external_text_is_marked_and_comes_by_itself_only_where_it_is_cared_about(
    world: World,
) -> None:
    """DESIGN: `external` never reaches passive context unless its owner engaged with the entity."""
    world.memory.interests.like("kef ls50 meta")
    world.memory.interests.search_web("kef ls50 meta")
    world.memory.background.work()
    facts = world_facts(world.memory.store, "me", "kef ls50 meta")
    assert {one.trust for one in facts} == {Trust.EXTERNAL}
    assert all(one.confidence <= policy.TRUST_CAP[Trust.EXTERNAL] for one in facts)
    assert {one.status for one in facts} == {Status.ACTIVE}
    question = "which driver does the KEF LS50 Meta use?"
    assert any("MAT driver" in hit.text for hit in world.memory.conversation().prefetch(question))
    for _ in range(3):
        world.memory.interests.dislike("kef ls50 meta")
        world.memory.interests.undislike("kef ls50 meta")
        world.memory.interests.dislike("kef ls50 meta")
    world.memory.interests.unlike("kef ls50 meta") if any(
        one.type == "like" for one in world.memory.interests.preferences()
    ) else None
    assert world.memory.interests.ranked()[0].score < 0
    assert not any(
        "MAT driver" in hit.text for hit in world.memory.conversation().prefetch(question)
    )


def test_what_was_asked_about_comes_first_and_has_what_was_known(world: World) -> None:
    """/learn: a second prompt over the same pages is not ticked off with nothing below it."""
    world.memory.interests.learn(LEARN)
    world.memory.background.work()
    world.memory.interests.learn("wharfedale denton 85")
    world.memory.background.work()
    second = world.memory.interests.learned()[1]
    assert second.done
    entity, facts = second.entities[0]
    assert entity.name == "wharfedale denton 85"
    assert facts == len(world_facts(world.memory.store, "me", entity.name))


@pytest.mark.parametrize("topic", ["?", "...", "— —"])
def test_what_has_no_words_is_not_learned(world: World, topic: str) -> None:
    with pytest.raises(UsageError, match="names nothing"):
        world.memory.interests.learn(topic)


@pytest.mark.parametrize(
    ("typed", "name"),
    [
        ("KEF\u200b LS50", "kef ls50"),
        ("kef\u00ad ls50", "kef ls50"),
        ("\x1b[31mkef ls50\x1b[0m", "kef ls50"),
        ("KEF\u2060 LS50\u202e", "kef ls50"),
    ],
)
def test_signs_that_nobody_sees_are_no_part_of_what_is_asked(
    world: World, typed: str, name: str
) -> None:
    world.memory.interests.like(typed)
    world.memory.interests.learn(typed)
    world.memory.interests.search_web(typed)
    assert world.names() == [name]
    assert not any("\x1b" in one or "\u200b" in one for one in world.pages.asked)


def test_a_secret_is_nothing_to_learn_about(world: World) -> None:
    with pytest.raises(UsageError, match="names nothing"):
        world.memory.interests.learn("ghp_" + "a1B2" * 9)
    assert world.names() == []
    assert world.memory.interests.learned() == []


@pytest.mark.parametrize(
    ("table", "column"),
    [
        ("entity_row", "owner"),
        ("fact_row", "owner"),  # with its subject, which names the entity
        ("evidence_row", "episode_id"),  # source_search_log_id, source_message_id
        ("search_result_row", "episode_id"),
        ("search_log_row", "at"),
        ("search_log_row", "query"),
        ("search_log_row", "trigger"),
        ("search_log_row", "learn_prompt_id"),
        ("learn_prompt_row", "owner"),
        ("learn_prompt_row", "status"),
        ("engagement_row", "owner"),
        ("engagement_row", "entity_id"),
        ("engagement_row", "preference_id"),
        ("engagement_row", "type"),
        ("engagement_row", "episode_id"),
        ("engagement_row", "at"),
        ("preference_row", "owner"),
    ],
)
def test_the_columns_that_the_seed_indexes_are_indexed(
    world: World, table: str, column: str
) -> None:
    """Tables (every column): idx."""
    found = world.memory.store._rows(
        "SELECT i.name FROM pragma_index_list(?) i JOIN pragma_index_info(i.name) c"
        " WHERE c.seqno = 0 AND c.name = ?",
        (table, column),
    )
    assert found


@pytest.mark.parametrize(
    "queries",
    [
        ["speakers"],
        [f"speakers number {n}" for n in range(9)],
        ["speakers " * 40, "speakers new", "speakers best"],
        ["speakers", "Speakers", "speakers "],
    ],
)
def test_a_model_that_plans_too_few_too_many_or_too_long_searches_is_not_followed(
    tmp_path: Path, server: ModelServer, queries: list[str]
) -> None:
    """/learn: 3-5 queries, whatever a model answers."""
    world = modelled(tmp_path, server)
    server.script = Reply.json({"queries": queries})
    world.memory.interests.learn("speakers")
    world.memory.background.plan_learning()
    planned = [one.query for one in search_tasks(world.memory.store)]
    assert policy.LEARN_QUERIES[0] <= len(planned) <= policy.LEARN_QUERIES[1]
    assert planned[1] == "what are speakers"  # the fixed patterns
    world.memory.close()
