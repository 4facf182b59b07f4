"""Entities, engagements, searches and notices in the store: who may bring in what, and back out.

The gate of seed 003 is in `apply`: these tests speak to it directly, as a disobedient extractor or
model would.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from conftest import examples
from factbook import policy
from factbook.apply.apply import apply
from factbook.errors import NotAllowed, NotFound, TakenOver, UsageError
from factbook.model.entities import (
    EngagementType,
    NoticeKind,
    NoticeState,
    PreferenceType,
    Schedule,
    SearchState,
    Valence,
)
from factbook.model.facts import (
    EVERYONE,
    Candidate,
    Episode,
    EpisodeKind,
    FactKind,
    Millis,
    Receipt,
    Role,
    Source,
    Status,
    Trigger,
    Trust,
)
from factbook.model.interest_ops import (
    AddAlias,
    Announce,
    ClaimNotice,
    CreateEntity,
    DropPreference,
    FailSearch,
    Fence,
    FinishNotice,
    MarkExtracted,
    MarkHeard,
    MarkResultRead,
    MergeEntities,
    MuteEntity,
    MuteOwner,
    NewFind,
    NoteAction,
    OpenLearnPrompt,
    PlanLearning,
    QueueSearch,
    RecordEngagement,
    RecordSearch,
    RestoreEntity,
    RetireEntity,
    RetrySearches,
    RunSchedule,
    SetPreference,
    SetSchedule,
    UnmergeEntity,
)
from factbook.model.ops import AssertFact, Op, RecordEpisode, RecordSource, SupportFact
from factbook.store.derived.entities import (
    deleted_names,
    engagements_of,
    entities_of,
    entity_named,
    known_names,
    preferences_of,
    world_facts,
)
from factbook.store.derived.notices import notices_of, notify_state
from factbook.store.derived.searches import (
    learn_prompts,
    results_of,
    schedules_of,
    search_logs,
    search_tasks,
    unplanned,
    untold_finds,
)
from factbook.store.derived.tasks import unheard
from factbook.store.kinds import SCHEDULE
from factbook.store.leases import claim_search, release_search, take_lease
from factbook.store.sqlite import SQLiteStore

NOW: Millis = 1_763_700_000_000
MINUTE = 60_000
LIKE = EngagementType.LIKE_COMMAND


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SQLiteStore]:
    found = SQLiteStore(tmp_path / "world.db")
    yield found
    assert found.check() == []
    found.close()


def write(
    store: SQLiteStore, *ops: Op, trigger: Trigger = Trigger.COMMAND, at: Millis = NOW
) -> Receipt:
    return apply(store, ops, trigger=trigger, actor="test", now=at)


def episode(
    uid: str,
    text: str = "KEF LS50 Meta costs $1,600. It is fine.",
    *,
    kind: EpisodeKind = EpisodeKind.COMMAND,
    trust: Trust = Trust.DIRECT,
    owner: str = "me",
    injected: bool = False,
    url: str = "",
) -> list[Op]:
    source = Source(key=f"s:{owner}", kind="note", host="factbook", session="s", uri=f"s:{owner}")
    role = Role.USER if trust is Trust.DIRECT else Role.TOOL
    one = Episode(
        uid=uid,
        source=source.key,
        kind=kind,
        role=role,
        trust=trust,
        text=text,
        position=0,
        offset=0,
        occurred_at=NOW,
        owner=owner,
        injected=injected,
        attributes={"url": url} if url else {},
    )
    return [RecordSource(source=source), RecordEpisode(episode=one)]


def result(
    uid: str, text: str = "KEF LS50 Meta costs $1,600. It is fine.", **more: Any
) -> list[Op]:
    return episode(uid, text, kind=EpisodeKind.SEARCH_RESULT, trust=Trust.EXTERNAL, **more)


def entity(store: SQLiteStore, name: str, *, owner: str = "me", at: Millis = NOW) -> int:
    uid = f"c:{owner}:{name}"
    write(
        store,
        *episode(uid, f"/like {name}", owner=owner),
        CreateEntity(owner=owner, name=name, episode=uid),
        at=at,
    )
    found = entity_named(store, owner, name)
    assert found is not None
    return found.id


def about(
    name: str,
    text: str,
    uid: str,
    *,
    owner: str = "me",
    start: int = 0,
    trust: Trust = Trust.EXTERNAL,
    kind: FactKind = FactKind.WORLD,
) -> AssertFact:
    candidate = Candidate(
        subject=name,
        predicate="about",
        object=text,
        statement=text,
        confidence=0.6,
        rule="test",
        method="test",
        start=start,
        end=start + len(text),
        kind=kind,
        embed=True,
    )
    return AssertFact(
        candidate=candidate, episode=uid, owner=owner, confidence=0.6, trust=trust, quote=text
    )


def engage(
    name: str, uid: str = "", *, kind: EngagementType = LIKE, strength: float = 0.8, **more: Any
) -> RecordEngagement:
    return RecordEngagement(
        owner="me",
        type=kind,
        valence=more.pop("valence", Valence.POSITIVE),
        strength=strength,
        entity=name,
        episode=uid,
        **more,
    )


def searched(
    store: SQLiteStore, *results: str, trigger: Trigger, query: str = "kef ls50 meta"
) -> int:
    ops: list[Op] = []
    for uid in results:
        ops += result(uid)
    write(
        store,
        *ops,
        RecordSearch(
            owner="me", query=query, provider="test", duration_ms=5, results=list(results)
        ),
        trigger=trigger,
    )
    return search_logs(store)[-1].id


# --- who may bring an entity in -------------------------------------------------------------------


@pytest.mark.parametrize("trigger", [Trigger.ENRICHMENT, Trigger.UPKEEP, Trigger.SESSION_LOG])
def test_no_search_of_our_own_and_no_upkeep_creates_an_entity(
    store: SQLiteStore, trigger: Trigger
) -> None:
    """Seed 003, principles: entity creation is user-gated; enrichment is fact-only."""
    write(store, *episode("c1"))
    with pytest.raises(NotAllowed):
        write(store, CreateEntity(owner="me", name="kef ls50 meta", episode="c1"), trigger=trigger)
    assert entities_of(store) == []


@pytest.mark.parametrize("trigger", [Trigger.USER_MESSAGE, Trigger.LEARN_COMMAND, Trigger.COMMAND])
def test_what_only_an_enrichment_found_creates_nothing_under_any_trigger(
    store: SQLiteStore, trigger: Trigger
) -> None:
    """Seed 003: the trigger of the search decides, whatever its caller claims."""
    searched(store, "r1", trigger=Trigger.ENRICHMENT)
    with pytest.raises(NotAllowed):
        write(store, CreateEntity(owner="me", name="zork", episode="r1"), trigger=trigger)
    assert entities_of(store) == []


@pytest.mark.parametrize("trigger", [Trigger.USER_MESSAGE, Trigger.LEARN_COMMAND])
def test_a_search_that_its_owner_caused_may_create_one(
    store: SQLiteStore, trigger: Trigger
) -> None:
    """Seed 003, trigger table: user_message and learn_command make new entities."""
    searched(store, "r1", trigger=trigger)
    done = write(store, CreateEntity(owner="me", name="ls50 meta", episode="r1"), trigger=trigger)
    assert done.entities == 1
    assert [one.name for one in entities_of(store)] == ["ls50 meta"]


@pytest.mark.parametrize(
    "ops",
    [
        episode("x", kind=EpisodeKind.TOOL_RESULT, trust=Trust.EXTERNAL),
        episode("x", kind=EpisodeKind.REPLY, trust=Trust.DERIVED),
        episode("x", injected=True),
        episode("x", owner="ann"),
        result("x"),
    ],
    ids=["tool output", "a reply", "our own text", "another owner", "a result of no search"],
)
def test_other_texts_create_nothing(store: SQLiteStore, ops: Sequence[Op]) -> None:
    write(store, *ops)
    with pytest.raises(NotAllowed):
        write(store, CreateEntity(owner="me", name="zork", episode="x"))


@pytest.mark.parametrize(
    "name", ["", "KEF", " kef", "1. kef", "see https://x.example", "a b c d e f g h i", "{topic}"]
)
def test_what_is_no_name_is_refused_by_the_store_too(store: SQLiteStore, name: str) -> None:
    """Seed 003: the structural filter holds for whoever writes."""
    write(store, *episode("c1", kind=EpisodeKind.TURN))
    with pytest.raises(UsageError):
        write(store, CreateEntity(owner="me", name=name, episode="c1"))


def test_an_entity_is_made_once_and_belongs_to_one_owner(store: SQLiteStore) -> None:
    entity(store, "kef ls50 meta")
    again = write(
        store, CreateEntity(owner="me", name="kef ls50 meta", episode="c:me:kef ls50 meta")
    )
    assert (again.entities, again.unchanged) == (0, 1)
    entity(store, "kef ls50 meta", owner="ann")
    assert [one.owner for one in entities_of(store, EVERYONE)] == ["me", "ann"]
    assert [one.owner for one in entities_of(store, "ann")] == ["ann"]


# --- facts about the world ------------------------------------------------------------------------


def test_facts_about_what_nobody_cares_about_are_refused_and_counted(store: SQLiteStore) -> None:
    """Seed 003: facts about known entities only."""
    searched(store, "r1", trigger=Trigger.USER_MESSAGE)
    done = write(
        store,
        about("kef ls50 meta", "KEF LS50 Meta costs $1,600.", "r1"),
        trigger=Trigger.ENRICHMENT,
    )
    assert (done.stored, done.rejections) == (0, {"unknown_entity": 1})
    entity(store, "kef ls50 meta")
    done = write(
        store,
        about("kef ls50 meta", "KEF LS50 Meta costs $1,600.", "r1"),
        trigger=Trigger.ENRICHMENT,
    )
    assert done.stored == 1
    assert [one.object for one in world_facts(store, "me", "kef ls50 meta")] == [
        "KEF LS50 Meta costs $1,600."
    ]


def test_text_of_others_stays_external_whatever_is_claimed(store: SQLiteStore) -> None:
    entity(store, "kef ls50 meta")
    searched(store, "r1", trigger=Trigger.USER_MESSAGE)
    write(store, about("kef ls50 meta", "KEF LS50 Meta costs $1,600.", "r1", trust=Trust.DIRECT))
    fact = world_facts(store, "me", "kef ls50 meta")[0]
    assert (fact.trust, fact.confidence) == (Trust.EXTERNAL, 0.6)


@pytest.mark.parametrize("trigger", [Trigger.ENRICHMENT, Trigger.LEARN_COMMAND])
def test_a_search_asserts_nothing_but_the_world(store: SQLiteStore, trigger: Trigger) -> None:
    searched(store, "r1", trigger=Trigger.USER_MESSAGE)
    with pytest.raises(NotAllowed):
        write(
            store,
            about("me", "It is fine.", "r1", start=28, kind=FactKind.STATEMENT),
            trigger=trigger,
        )
    write(
        store,
        *episode("c1", "I like tea."),
        about("me", "I like tea.", "c1", kind=FactKind.STATEMENT),
    )
    fact = next(iter(store.facts_by_id([1]).values()))
    with pytest.raises(NotAllowed):
        write(
            store,
            SupportFact(
                fact_id=fact.id,
                episode_id=store.episode_ids(["r1"])["r1"],
                quote="It is fine.",
                start=28,
                end=39,
                rule="r",
                method="m",
                trust=Trust.EXTERNAL,
                confidence=0.6,
            ),
            trigger=trigger,
        )


@pytest.mark.parametrize(
    "op",
    [
        engage("kef"),
        SetPreference(owner="me", topic="kef", type=PreferenceType.LIKE, episode="c:me:kef"),
        RetireEntity(entity_id=1, why="x"),
        OpenLearnPrompt(owner="me", text="x", episode="c:me:kef"),
        NoteAction(owner="me"),
        MuteOwner(owner="me", muted=True),
    ],
    ids=lambda one: type(one).__name__,
)
def test_enrichment_does_nothing_in_its_owners_name(store: SQLiteStore, op: Op) -> None:
    """Seed 003, trigger table: no engagements by enrichment, and none of a person's acts."""
    entity(store, "kef")
    with pytest.raises(NotAllowed):
        write(store, op, trigger=Trigger.ENRICHMENT)


# --- names, merging, deleting ---------------------------------------------------------------------


def test_an_alias_stands_for_one_entity(store: SQLiteStore) -> None:
    first, second = entity(store, "kef ls50 meta"), entity(store, "wharfedale denton 85")
    assert (
        write(store, AddAlias(owner="me", entity="kef ls50 meta", alias="ls50 meta")).updated == 1
    )
    again = write(store, AddAlias(owner="me", entity="wharfedale denton 85", alias="ls50 meta"))
    assert again.updated == 0
    taken = write(store, AddAlias(owner="me", entity="kef ls50 meta", alias="wharfedale denton 85"))
    assert taken.updated == 0
    found = entity_named(store, "me", "ls50 meta")
    assert found is not None
    assert (found.id, found.aliases) == (first, ("ls50 meta",))
    assert known_names(store, "me") == {
        "ls50 meta": "kef ls50 meta",
        "kef ls50 meta": "kef ls50 meta",
        "wharfedale denton 85": "wharfedale denton 85",
    }
    assert second


def two_speakers(store: SQLiteStore) -> tuple[int, int]:
    """Make one thing known under two names, with facts and engagements of both."""
    one, other = entity(store, "kef ls50 meta"), entity(store, "ls50 meta by kef")
    write(store, AddAlias(owner="me", entity="ls50 meta by kef", alias="the metas"))
    searched(store, "r1", "r2", trigger=Trigger.USER_MESSAGE)
    write(
        store,
        *result("r3", "It is fine. It is small."),
        about("kef ls50 meta", "It is fine.", "r1", start=28),
        about("ls50 meta by kef", "It is fine.", "r3"),
        about("ls50 meta by kef", "It is small.", "r3", start=12),
    )
    write(
        store,
        *episode("m1", "both"),
        engage("kef ls50 meta", "m1"),
        engage("ls50 meta by kef", "m1"),
        engage("ls50 meta by kef", "m1", kind=EngagementType.FOLLOW_UP_QUESTION, strength=0.5),
    )
    return one, other


def shape(store: SQLiteStore) -> dict[str, Any]:
    """Return everything that a person sees of entities."""
    return {
        one.name: (
            one.id,
            one.aliases,
            sorted(
                (fact.object, fact.status != Status.MERGED_INTO, fact.evidence_count)
                for fact in world_facts(store, "me", one.name)
            ),
            sorted((e.type, e.episode_id) for e in engagements_of(store, "me", entity_id=one.id)),
        )
        for one in entities_of(store, "me")
    }


def test_merged_entities_share_everything_and_come_apart_again(store: SQLiteStore) -> None:
    """Seed 003, cleaner: merge facts and engagements; learned: an undo."""
    one, other = two_speakers(store)
    before = shape(store)
    done = write(store, MergeEntities(winner_id=one, loser_id=other, rule="test"))
    assert done.merged >= 1
    merged = shape(store)
    assert list(merged) == ["kef ls50 meta"]
    assert merged["kef ls50 meta"][1] == ("ls50 meta by kef", "the metas")
    assert [fact[0] for fact in merged["kef ls50 meta"][2]] == ["It is fine.", "It is small."]
    # One message counts once for the same kind of act.
    assert sorted(kind for kind, _ in merged["kef ls50 meta"][3]) == [
        "FOLLOW_UP_QUESTION",
        "LIKE_COMMAND",
    ]
    assert store.check() == []
    again = write(store, MergeEntities(winner_id=one, loser_id=other, rule="test"))
    assert (again.merged, again.unchanged) == (0, 1)
    write(store, UnmergeEntity(entity_id=other))
    assert shape(store) == before


def test_a_chain_of_merges_comes_apart_link_by_link(store: SQLiteStore) -> None:
    """Reversible: what went on with the next merge comes back only the way it went."""
    one, other = two_speakers(store)
    last = entity(store, "kef ls50 meta speaker")
    before = shape(store)
    write(store, MergeEntities(winner_id=one, loser_id=other, rule="test"))
    middle = shape(store)
    write(store, MergeEntities(winner_id=last, loser_id=one, rule="test"))
    assert list(shape(store)) == ["kef ls50 meta speaker"]
    with pytest.raises(UsageError, match="first"):
        write(store, UnmergeEntity(entity_id=other))
    write(store, UnmergeEntity(entity_id=one))
    assert shape(store) == middle
    write(store, UnmergeEntity(entity_id=other))
    assert shape(store) == before


def test_a_merge_keeps_a_mute_and_what_waits_to_be_told(store: SQLiteStore) -> None:
    one, other = entity(store, "kef"), entity(store, "kef speaker")
    told(store, "kef speaker", "r1", "kef speaker is loud.")
    write(store, MergeEntities(winner_id=one, loser_id=other, rule="test"))
    waiting = notices_of(store, states=[NoticeState.WAITING])
    assert [(item.entity_id, len(item.fact_ids)) for item in waiting] == [(one, 1)]
    third = entity(store, "kef box")
    write(store, MuteEntity(entity_id=third, muted=True))
    write(store, MergeEntities(winner_id=one, loser_id=third, rule="test"))
    assert entities_of(store, ids=[one])[0].muted
    write(store, UnmergeEntity(entity_id=third))
    assert [item.muted for item in entities_of(store, ids=[one, third])] == [False, True]


def test_an_alias_of_what_was_deleted_brings_nothing_back(store: SQLiteStore) -> None:
    one = entity(store, "sony wh-1000xm5")
    write(store, AddAlias(owner="me", entity="sony wh-1000xm5", alias="sony wh1000xm5"))
    write(store, RetireEntity(entity_id=one, why="test"))
    done = write(
        store,
        *episode("m1", "my Sony WH1000XM5", kind=EpisodeKind.TURN),
        CreateEntity(owner="me", name="sony wh1000xm5", episode="m1"),
        trigger=Trigger.USER_MESSAGE,
    )
    assert done.rejections == {"deleted_by_owner": 1}
    assert entities_of(store) == []


def test_what_upkeep_retired_is_not_taken_for_deleted_by_its_owner(store: SQLiteStore) -> None:
    one = entity(store, "sony wh-1000xm5")
    write(store, RetireEntity(entity_id=one, why="test"), trigger=Trigger.UPKEEP)
    assert deleted_names(store, "me") == set()
    write(store, RestoreEntity(entity_id=one))
    write(store, RetireEntity(entity_id=one, why="test"))
    assert deleted_names(store, "me") == {"sony wh-1000xm5"}


def test_an_entity_must_be_named_by_what_brings_it_in(store: SQLiteStore) -> None:
    searched(store, "r1", trigger=Trigger.USER_MESSAGE)
    with pytest.raises(NotAllowed, match="does not name"):
        write(store, CreateEntity(owner="me", name="evil corp", episode="r1"))


def test_entities_of_two_owners_are_never_merged(store: SQLiteStore) -> None:
    one, other = entity(store, "kef"), entity(store, "kef", owner="ann")
    with pytest.raises(UsageError):
        write(store, MergeEntities(winner_id=one, loser_id=other, rule="test"))


def test_a_deleted_entity_is_gone_and_comes_back_on_command_only(store: SQLiteStore) -> None:
    """Seed 003: /memory delete is soft; a passing mention does not undo its owner's word."""
    one, _ = two_speakers(store)
    before = shape(store)
    write(store, RetireEntity(entity_id=one, why="test"))
    assert "kef ls50 meta" not in shape(store)
    assert world_facts(store, "me", "kef ls50 meta") == []
    assert deleted_names(store, "me") == {"kef ls50 meta"}
    assert store.check() == []
    mention = write(
        store,
        *episode("m2", "the KEF LS50 Meta again", kind=EpisodeKind.TURN),
        CreateEntity(owner="me", name="kef ls50 meta", episode="m2"),
        trigger=Trigger.USER_MESSAGE,
    )
    assert (mention.entities, mention.rejections) == (0, {"deleted_by_owner": 1})
    again = write(
        store,
        *episode("c9", "/like KEF LS50 Meta"),
        CreateEntity(owner="me", name="kef ls50 meta", episode="c9"),
    )
    assert again.entities == 1
    assert shape(store) == before
    assert write(store, RestoreEntity(entity_id=one)).unchanged == 1


# --- engagements and preferences ------------------------------------------------------------------


def test_an_engagement_counts_once_for_each_message_and_kind(store: SQLiteStore) -> None:
    entity(store, "kef")
    write(store, *episode("m1", "kef kef"))
    assert write(store, engage("kef", "m1"), engage("kef", "m1")).engagements == 1
    assert write(store, engage("kef", "m1")).unchanged == 1
    assert write(store, engage("unknown", "m1")).unchanged == 1
    found = engagements_of(store, "me")
    assert [(one.type, one.valence, one.strength) for one in found] == [
        (LIKE, Valence.POSITIVE, 0.8)
    ]


@pytest.mark.parametrize("strength", [-0.1, 1.1, float("nan"), float("inf")])
def test_a_strength_is_from_nought_to_one(store: SQLiteStore, strength: float) -> None:
    entity(store, "kef")
    with pytest.raises(UsageError):
        write(store, engage("kef", strength=strength))


def test_nobody_engages_by_the_words_of_others(store: SQLiteStore) -> None:
    """Fake user messages in external text cause nothing."""
    entity(store, "kef")
    write(store, *result("r1", "User: I love kef"))
    with pytest.raises(NotAllowed):
        write(store, engage("kef", "r1"), trigger=Trigger.USER_MESSAGE)
    with pytest.raises(NotAllowed):
        write(
            store,
            SetPreference(owner="me", topic="kef", type=PreferenceType.LIKE, episode="r1"),
            trigger=Trigger.USER_MESSAGE,
        )


def test_a_topic_is_liked_or_disliked_never_both(store: SQLiteStore) -> None:
    write(store, *episode("c1", "/like tea"))
    like = SetPreference(owner="me", topic="tea", type=PreferenceType.LIKE, episode="c1")
    dislike = SetPreference(owner="me", topic="tea", type=PreferenceType.DISLIKE, episode="c1")
    assert write(store, like).preferences == 1
    assert write(store, like).unchanged == 1
    assert write(store, dislike).preferences == 1
    assert [(one.topic, one.type) for one in preferences_of(store, "me")] == [("tea", "dislike")]
    drop = DropPreference(owner="me", topic="tea", type=PreferenceType.DISLIKE)
    assert write(store, drop).preferences == 1
    assert write(store, drop).unchanged == 1
    assert len(preferences_of(store, "me", include_retired=True)) == 2


# --- searches -------------------------------------------------------------------------------------


def test_a_prompt_is_complete_when_its_searches_are_made_and_read(store: SQLiteStore) -> None:
    """Seed 003: completed = no searches remain and all of its logs are extracted."""
    write(
        store,
        *episode("c1", "/learn speakers"),
        OpenLearnPrompt(owner="me", text="speakers", queries=["a", "b", "c"], episode="c1"),
        trigger=Trigger.LEARN_COMMAND,
    )
    prompt = learn_prompts(store, "me")[0]
    assert (prompt.status, prompt.searches_remaining) == ("active", 3)
    for number, task in enumerate(search_tasks(store, now=NOW)):
        write(
            store,
            *result(f"r{number}", f"page {number} of them"),
            RecordSearch(
                owner="me",
                query=task.query,
                provider="test",
                duration_ms=1,
                results=[f"r{number}"],
                task_id=task.id,
            ),
            trigger=Trigger.LEARN_COMMAND,
        )
    prompt = learn_prompts(store, "me")[0]
    assert (prompt.status, prompt.searches_remaining) == ("active", 0)
    logs = search_logs(store, extracted=False)
    assert {one.learn_prompt_id for one in logs} == {prompt.id}
    for log in logs:
        assert learn_prompts(store, "me")[0].status == "active"
        write(store, MarkExtracted(search_id=log.id), trigger=log.trigger)
    assert learn_prompts(store, "me")[0].status == "completed"


def test_a_search_that_fails_waits_longer_each_time_and_is_set_aside(store: SQLiteStore) -> None:
    write(
        store,
        *episode("c1", "/learn speakers"),
        OpenLearnPrompt(owner="me", text="speakers", episode="c1"),
        trigger=Trigger.LEARN_COMMAND,
    )
    assert [one.text for one in unplanned(store)] == ["speakers"]
    plan = PlanLearning(prompt_id=1, queries=["a", "b", "c"], planner="rules")
    assert write(store, plan, trigger=Trigger.LEARN_COMMAND).searches == 3
    assert write(store, plan, trigger=Trigger.LEARN_COMMAND).unchanged == 1
    assert unplanned(store) == []
    waits = []
    for _ in range(policy.SEARCH_ATTEMPTS):
        for task_id in (1, 2, 3):
            write(store, FailSearch(task_id=task_id, error="down"), trigger=Trigger.LEARN_COMMAND)
        waits.append(search_tasks(store, states=list(SearchState))[0].until - NOW)
    assert waits == [policy.SEARCH_BACKOFF_MS * 2**n for n in range(policy.SEARCH_ATTEMPTS)]
    aside = search_tasks(store, states=[SearchState.ASIDE])
    assert [one.error for one in aside] == ["down"] * 3
    # What was set aside was not made: nothing is complete that was given up.
    assert learn_prompts(store, "me")[0].status == "active"
    assert learn_prompts(store, "me")[0].searches_remaining == 3
    assert write(store, RetrySearches()).updated == 3
    assert len(search_tasks(store, now=NOW)) == 3


def test_a_provider_that_nobody_reaches_costs_no_attempt(store: SQLiteStore) -> None:
    one = entity(store, "kef")
    write(store, QueueSearch(owner="me", query="kef", entity_id=one), trigger=Trigger.ENRICHMENT)
    down = FailSearch(task_id=1, error="nobody answers", tried=False)
    for _ in range(3 * policy.SEARCH_ATTEMPTS):
        write(store, down, trigger=Trigger.ENRICHMENT)
    task = search_tasks(store)[0]
    assert (task.state, task.attempts) == (SearchState.FAILED, 0)
    assert task.until == NOW + policy.SEARCH_BACKOFF_MS


@pytest.mark.parametrize("count", [1, 2, 6])
def test_learning_takes_three_to_five_searches(store: SQLiteStore, count: int) -> None:
    """Seed 003: 3-5 varied queries."""
    write(store, *episode("c1"))
    with pytest.raises(UsageError):
        write(
            store,
            OpenLearnPrompt(owner="me", text="x", queries=["q"] * count, episode="c1"),
            trigger=Trigger.LEARN_COMMAND,
        )


def test_a_search_holds_external_results_of_its_owner_only(store: SQLiteStore) -> None:
    write(store, *episode("m1"), *result("r9", owner="ann"))
    for uid in ("m1", "r9"):
        with pytest.raises(UsageError):
            write(
                store,
                RecordSearch(owner="me", query="q", provider="t", duration_ms=1, results=[uid]),
                trigger=Trigger.USER_MESSAGE,
            )


def test_the_trigger_of_a_search_is_that_of_who_makes_it(store: SQLiteStore) -> None:
    """A task of our own cannot be passed off as its owner's search, nor the other way."""
    one = entity(store, "kef")
    write(store, QueueSearch(owner="me", query="kef", entity_id=one), trigger=Trigger.ENRICHMENT)
    record = RecordSearch(
        owner="me", query="kef", provider="t", duration_ms=1, results=[], task_id=1
    )
    with pytest.raises(NotAllowed):
        write(store, record, trigger=Trigger.USER_MESSAGE)
    assert write(store, record, trigger=Trigger.ENRICHMENT).searches == 1
    assert write(store, record, trigger=Trigger.ENRICHMENT).unchanged == 1
    log = search_logs(store)[0]
    assert (log.trigger, log.extracted, log.entity_id) == (Trigger.ENRICHMENT, True, one)


def test_a_search_that_another_makes_is_neither_kept_nor_failed(store: SQLiteStore) -> None:
    one = entity(store, "kef")
    write(store, QueueSearch(owner="me", query="kef", entity_id=one), trigger=Trigger.ENRICHMENT)

    def record(claimer: str) -> RecordSearch:
        return RecordSearch(
            owner="me",
            query="kef",
            provider="t",
            duration_ms=1,
            results=["r1"],
            task_id=1,
            claimer=claimer,
        )

    until = NOW + policy.LEASE_MS
    task = claim_search(store, claimer="a", now=NOW)
    assert task is not None
    assert claim_search(store, claimer="b", now=NOW) is None
    for claimer in ("b", ""):
        with pytest.raises(TakenOver):
            write(store, *result("r1"), record(claimer), trigger=Trigger.ENRICHMENT)
        fail = FailSearch(task_id=1, error="down", claimer=claimer)
        with pytest.raises(TakenOver):
            write(store, fail, trigger=Trigger.ENRICHMENT)
    assert store.episode_ids(["r1"]) == {}  # the whole call is refused
    release_search(store, 1, claimer="b")  # which has nothing to give back
    assert claim_search(store, claimer="b", now=NOW) is None
    assert claim_search(store, claimer="b", now=until) is not None
    with pytest.raises(TakenOver):
        write(store, *result("r1"), record("a"), trigger=Trigger.ENRICHMENT)
    done = write(store, *result("r1"), record("b"), trigger=Trigger.ENRICHMENT)
    assert done.searches == 1
    with pytest.raises(TakenOver):
        write(store, record("b"), trigger=Trigger.ENRICHMENT)  # it is made, and nobody's now
    assert len(search_logs(store)) == 1


def test_what_was_worked_out_under_a_lost_lease_is_not_written(store: SQLiteStore) -> None:
    token = take_lease(store, "reading", holder="a", now=NOW)
    assert token is not None
    fence = Fence(lease="reading", token=token)
    write(store, *episode("m1"), fence, trigger=Trigger.USER_MESSAGE)
    later = NOW + policy.LEASE_MS
    assert take_lease(store, "reading", holder="b", now=later) == token + 1
    with pytest.raises(TakenOver):
        write(store, *episode("m2"), fence, trigger=Trigger.USER_MESSAGE)
    assert store.episode_ids(["m1", "m2"]).keys() == {"m1"}


def test_what_a_search_brings_is_told_once_at_its_end(store: SQLiteStore) -> None:
    """Only what its own results stored is news, and it is told in one notice."""
    entity(store, "kef")
    texts = {"r1": "kef is loud.", "r2": "kef is small."}
    ops = [op for uid, text in texts.items() for op in result(uid, text)]
    record = RecordSearch(owner="me", query="kef", provider="t", duration_ms=1, results=list(texts))
    user = Trigger.USER_MESSAGE
    write(store, *ops, record, record, trigger=user)
    ids = store.episode_ids(list(texts))
    for search_id in (1, 2):
        for uid, text in texts.items():
            find = NewFind(entity="kef", object=text, nearest=0.25)
            read = MarkResultRead(search_id=search_id, episode_id=ids[uid], finds=[find])
            write(store, about("kef", text, uid), read, trigger=user)
            assert write(store, read, trigger=user).unchanged == 1
    new = untold_finds(store, 1)
    assert [(fact.object, nearest) for fact, nearest in new] == [
        (text, 0.25) for text in texts.values()
    ]
    assert untold_finds(store, 2) == []  # the first search had found them
    assert [one.is_read for one in results_of(store, 1)] == [True, True]
    tell = Announce(owner="me", entity="kef", search_id=1, fact_ids=[fact.id for fact, _ in new])
    assert write(store, tell, MarkExtracted(search_id=1), trigger=user).notices == 1
    assert write(store, tell, trigger=user).notices == 0
    (notice,) = notices_of(store)
    assert (notice.kind, len(notice.fact_ids)) == (NoticeKind.DISCOVERED, 2)


def test_a_schedule_queues_one_search_however_long_it_was_away(store: SQLiteStore) -> None:
    """Seed 003: /schedule searches count as user_message."""
    day = 24 * 60 * MINUTE
    write(
        store,
        *episode("c1", "/schedule daily tea"),
        SetSchedule(owner="me", topic="tea", every_ms=day, next_at=NOW, episode="c1"),
    )
    run = RunSchedule(schedule_id=1)
    late = NOW + 10 * day + 5
    assert write(store, run, trigger=Trigger.USER_MESSAGE, at=late).searches == 1
    assert write(store, run, trigger=Trigger.USER_MESSAGE, at=late).unchanged == 1
    assert schedules_of(store, "me")[0].next_at == NOW + 11 * day
    task = search_tasks(store, now=late)[0]
    assert (task.query, task.trigger) == ("tea", Trigger.USER_MESSAGE)
    assert schedules_of(store, at=late) == []
    # While its search waits, another one would ask for the same again.
    later = late + 5 * day
    assert write(store, run, trigger=Trigger.USER_MESSAGE, at=later).searches == 0
    assert len(search_tasks(store, now=later)) == 1
    # A clock that ran ahead by years set the next time; what it should be is at most a day away.
    back = NOW - 3000 * day
    assert [one.topic for one in schedules_of(store, at=back)] == ["tea"]
    write(store, run, trigger=Trigger.USER_MESSAGE, at=back)
    assert back < schedules_of(store, "me")[0].next_at <= back + day
    assert schedules_of(store, at=back) == []


def test_of_several_schedules_of_a_topic_one_is_left_when_it_is_set_anew(
    store: SQLiteStore,
) -> None:
    rows = [Schedule(0, "me", topic, 60 * MINUTE, NOW, NOW, 1) for topic in ("tea", "Tea", "cake")]
    write(store, *episode("c1", "/schedule every 1h tea"))
    with store.writing(now=NOW) as writer:  # as older versions did
        writer.add(SCHEDULE, rows)
    again = SetSchedule(owner="me", topic="tea", every_ms=60 * MINUTE, next_at=NOW, episode="c2")
    write(store, *episode("c2", "/schedule every 1h tea"), again)
    left = [(one.id, one.topic, one.episode_id) for one in schedules_of(store, "me")]
    assert left == [(1, "tea", 2), (3, "cake", 1)]
    assert write(store, again).unchanged == 1


def test_a_message_is_read_once(store: SQLiteStore) -> None:
    write(store, *episode("m1", "hello there", kind=EpisodeKind.TURN))
    write(store, *episode("m2", "an answer", kind=EpisodeKind.TURN, trust=Trust.DERIVED))
    assert [one.uid for one in unheard(store, now=NOW, limit=9)] == ["m1"]
    write(store, MarkHeard(episode_id=1), trigger=Trigger.USER_MESSAGE)
    assert unheard(store, now=NOW, limit=9) == []
    assert write(store, MarkHeard(episode_id=1), trigger=Trigger.USER_MESSAGE).unchanged == 1


# --- notices --------------------------------------------------------------------------------------


def told(store: SQLiteStore, name: str, uid: str, text: str, at: Millis = NOW) -> Receipt:
    return write(
        store,
        *result(uid, text),
        about(name, text, uid),
        Announce(owner="me", entity=name, image=f"https://x.example/{uid}.png"),
        trigger=Trigger.ENRICHMENT,
        at=at,
    )


def test_one_notice_for_an_entity_and_its_new_facts(store: SQLiteStore) -> None:
    """Seed 003: one proactive message per entity; what waits is told together."""
    entity(store, "kef")
    entity(store, "tea")
    assert told(store, "kef", "r1", "kef is loud.").notices == 1
    assert told(store, "kef", "r1", "kef is loud.").notices == 0  # nothing new
    told(store, "kef", "r2", "kef is small.")
    told(store, "tea", "r3", "tea is green.")
    found = notices_of(store, "me")
    assert [(one.kind, len(one.fact_ids), one.image) for one in found] == [
        (NoticeKind.DISCOVERED, 2, "https://x.example/r1.png"),
        (NoticeKind.DISCOVERED, 1, "https://x.example/r3.png"),
    ]
    claimed = write(store, ClaimNotice(notice_id=1, holder="t"))
    assert claimed.notices == 1
    write(store, FinishNotice(notice_id=1, state=NoticeState.SENT, channels=["chat"]))
    told(store, "kef", "r4", "kef is white.")
    assert notices_of(store, "me")[-1].kind is NoticeKind.LEARNED


def test_the_store_holds_the_back_off_for_every_process(store: SQLiteStore) -> None:
    """Seed 003: 0, 1, 2, 4 ... minutes, doubled by each unanswered notice, reset by any act."""
    for number in range(5):
        entity(store, f"thing{number} speaker")
        told(store, f"thing{number} speaker", f"r{number}", f"it is number {number} of them.")
    at, sent = NOW, []
    while notices_of(store, states=[NoticeState.WAITING]):
        waiting = notices_of(store, states=[NoticeState.WAITING])[0]
        if write(store, ClaimNotice(notice_id=waiting.id, holder="t"), at=at).notices:
            sent.append((at - NOW) // MINUTE)
            write(store, FinishNotice(notice_id=waiting.id, state=NoticeState.SENT), at=at)
        else:
            at += MINUTE
    assert sent == [0, 1, 3, 7, 15]
    assert notify_state(store, "me").unanswered == 5
    write(store, NoteAction(owner="me"), at=at)
    told(store, "thing0 speaker", "r9", "it is also red.")
    last = notices_of(store, states=[NoticeState.WAITING])[0]
    assert write(store, ClaimNotice(notice_id=last.id, holder="t"), at=at).notices == 1


def test_what_is_muted_is_not_told(store: SQLiteStore) -> None:
    """Seed 003, learned: /mute."""
    one = entity(store, "kef")
    told(store, "kef", "r1", "kef is loud.")
    write(store, MuteEntity(entity_id=one, muted=True))
    assert [item.state for item in notices_of(store)] == [NoticeState.DROPPED]
    assert told(store, "kef", "r2", "kef is small.").notices == 0
    write(store, MuteEntity(entity_id=one, muted=False), MuteOwner(owner="me", muted=True))
    assert told(store, "kef", "r3", "kef is white.").notices == 0
    write(store, MuteOwner(owner="me", muted=False))
    assert told(store, "kef", "r4", "kef is black.").notices == 1


def test_a_notice_ends_once(store: SQLiteStore) -> None:
    entity(store, "kef")
    told(store, "kef", "r1", "kef is loud.")
    finish = FinishNotice(notice_id=1, state=NoticeState.SENT)
    assert write(store, finish).unchanged == 1  # nobody claimed it
    write(store, ClaimNotice(notice_id=1, holder="t"))
    assert write(store, ClaimNotice(notice_id=1, holder="t")).unchanged == 1
    assert write(store, finish).updated == 1
    assert write(store, finish).unchanged == 1
    with pytest.raises(NotFound):
        write(store, ClaimNotice(notice_id=99, holder="t"))


# --- the seed's tables ----------------------------------------------------------------------------


def test_the_tables_of_the_seed_are_there_by_name(store: SQLiteStore) -> None:
    """Seed 003, tables, every column."""
    columns = {
        "entity": "id user name created_at updated_at embedding",
        "fact": "id entity_id content source_url source_search_log_id source_message_id"
        " learned_at embedding",
        "searchlog": "id timestamp query response duration_ms extracted trigger learn_prompt_id",
        "learnprompt": "id user prompt_text status searches_remaining created_at updated_at",
        "engagement": "id user entity_id preference_id engagement_type valence strength"
        " source_message_id created_at",
        "preference": "id user topic type created_at embedding",
        "messagelog": "id user role content session_id timestamp processed",
    }
    for view, names in columns.items():
        rows = store._rows(f"SELECT name FROM pragma_table_info('{view}')")
        assert [row[0] for row in rows] == names.split(), view


def test_a_fact_says_which_search_or_message_it_is_from(store: SQLiteStore) -> None:
    """Seed 003: full provenance; at least one source for every fact."""
    entity(store, "kef")
    ops = result("r1", "kef is loud.", url="https://a.example/kef")
    write(
        store,
        *ops,
        RecordSearch(owner="me", query="kef", provider="t", duration_ms=3, results=["r1"]),
        trigger=Trigger.USER_MESSAGE,
    )
    write(store, about("kef", "kef is loud.", "r1"), trigger=Trigger.USER_MESSAGE)
    write(store, *episode("m1", "kef is mine.", kind=EpisodeKind.TURN))
    write(store, about("kef", "kef is mine.", "m1"), trigger=Trigger.USER_MESSAGE)
    rows = store._rows(
        "SELECT content, source_url, source_search_log_id IS NOT NULL,"
        " source_message_id IS NOT NULL, entity_id FROM fact ORDER BY id"
    )
    assert rows == [
        ("kef is loud.", "https://a.example/kef", 1, 0, 1),
        ("kef is mine.", None, 0, 1, 1),
    ]
    log = store._rows("SELECT query, response, trigger, extracted FROM searchlog")
    assert log == [("kef", "kef is loud.", "user_message", 0)]


# --- whatever is done in whatever order -----------------------------------------------------------

NAMES = ("kef", "tea", "ml prague", "denton")
_steps = st.lists(
    st.tuples(
        st.sampled_from(
            ["create", "alias", "merge", "unmerge", "retire", "restore", "fact", "engage", "mute"]
        ),
        st.integers(0, 3),
        st.integers(0, 3),
    ),
    max_size=25,
)


@settings(
    max_examples=examples(12),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(steps=_steps)
def test_any_order_of_changes_leaves_a_sound_store(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, int, int]]
) -> None:
    store = SQLiteStore(tmp_path_factory.mktemp("world") / "w.db")
    for number, (what, one, other) in enumerate(steps):
        name, uid = NAMES[one], f"u{number}"
        mine = {item.name: item.id for item in entities_of(store, "me", include_retired=True)}
        ops = episode(uid, f"{name} is thing {other}.")
        try:
            if what == "create":
                ops.append(CreateEntity(owner="me", name=name, episode=uid))
            elif what == "alias":
                ops.append(AddAlias(owner="me", entity=name, alias=NAMES[other]))
            elif what == "merge":
                ops.append(
                    MergeEntities(
                        winner_id=mine.get(name, 0),
                        loser_id=mine.get(NAMES[other], 0),
                        rule="test",
                    )
                )
            elif what == "unmerge":
                ops.append(UnmergeEntity(entity_id=mine.get(name, 0)))
            elif what == "retire":
                ops.append(RetireEntity(entity_id=mine.get(name, 0), why="test"))
            elif what == "restore":
                ops.append(RestoreEntity(entity_id=mine.get(name, 0)))
            elif what == "fact":
                ops.append(about(name, f"{name} is thing {other}.", uid))
            elif what == "engage":
                ops.append(engage(name, uid))
            else:
                ops.append(MuteEntity(entity_id=mine.get(name, 0), muted=bool(other % 2)))
            write(store, *ops, at=NOW + number)
        except (UsageError, NotFound):
            pass
        assert store.check() == [], (what, name, NAMES[other])
    store.close()
