"""Searches, what is to be learned, and schedules, over the verbs of a store."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Sequence

from factbook.model.entities import (
    EngagementType,
    Entity,
    LearnPrompt,
    Schedule,
    SearchLog,
    SearchState,
    SearchTask,
)
from factbook.model.facts import EVERYONE, ME, Everyone, Fact, FactKind, Millis, Trigger
from factbook.store.derived.entities import entities_of, world_lives
from factbook.store.derived.facts import holds, lives_by_id
from factbook.store.kinds import (
    ENGAGEMENT,
    ENTITY,
    LEARN_PROMPT,
    SCHEDULE,
    SEARCH_FIND,
    SEARCH_LOG,
    SEARCH_RESULT,
    SEARCH_TASK,
    Least,
    PromptRow,
    ResultRow,
    given,
)
from factbook.store.leases import due
from factbook.store.port import Reads, first

OPEN = (SearchState.QUEUED, SearchState.FAILED)
LEFT = (*OPEN, SearchState.ASIDE)  # what is set aside was not made, however long it waits


def search_logs(
    reads: Reads,
    owner: str | Everyone = ME,
    *,
    extracted: bool | None = None,
    learn_prompt_id: int | None = None,
    ids: Collection[int] | None = None,
    uid: str = "",
    limit: int | None = None,
) -> list[SearchLog]:
    """Return searches, oldest first."""
    where = given(
        owner=owner, extracted=extracted, learn_prompt_id=learn_prompt_id, id=ids, uid=uid or None
    )
    rows = reads.find(SEARCH_LOG, where, limit=limit)
    results: dict[int, list[int]] = defaultdict(list)
    for result in reads.find(SEARCH_RESULT, {"search_id": [row.id for row in rows]}):
        results[result.search_id].append(result.episode_id)
    kept = [name for name in SearchLog._fields if name != "episode_ids"]
    return [
        SearchLog(**{name: getattr(row, name) for name in kept}, episode_ids=tuple(results[row.id]))
        for row in rows
    ]


def is_discovered(reads: Reads, search_id: int) -> bool:
    """Tell whether a search was looked through for new things."""
    row = first(reads, SEARCH_LOG, {"id": search_id})
    return row is not None and row.discovered


def results_of(reads: Reads, search_id: int) -> list[ResultRow]:
    """Return how far each result of a search was read, best first."""
    return reads.find(SEARCH_RESULT, {"search_id": search_id})


def untold_finds(reads: Reads, search_id: int) -> list[tuple[Fact, float | None]]:
    """Return the new facts of a search that hold still, with what is nearest, oldest first."""
    finds = reads.find(SEARCH_FIND, {"search_id": search_id})
    nearest = {find.fact_id: find.nearest for find in finds}
    facts = reads.facts_by_id(sorted(nearest))
    return [
        (fact, nearest[fact.id])
        for _, fact in sorted(facts.items())
        if fact.kind is FactKind.WORLD and holds(fact)
    ]


def search_triggers(reads: Reads, owner: str, episode_id: int) -> set[Trigger]:
    """Return what caused the searches of an owner that found an episode."""
    searches = [row.search_id for row in reads.find(SEARCH_RESULT, {"episode_id": episode_id})]
    return {row.trigger for row in reads.find(SEARCH_LOG, {"owner": owner, "id": searches})}


def search_tasks(
    reads: Reads,
    owner: str | Everyone = EVERYONE,
    *,
    states: Collection[SearchState] = OPEN,
    now: Millis | None = None,
) -> list[SearchTask]:
    """Return searches that were asked for, oldest first; with `now`, those that may be made."""
    tasks = reads.find(SEARCH_TASK, {"owner": owner, "state": tuple(states)})
    return [task for task in tasks if now is None or due(task.until, now=now)]


def searches_since(reads: Reads, trigger: Trigger, at: Millis) -> dict[str, int]:
    """Return how many searches each owner was given with this trigger from a moment on.

    Those that failed count as well: they were asked for, and left the machine perhaps.
    """
    where = {"owner": EVERYONE, "trigger": trigger, "created_at": Least(at)}
    tallies = reads.tally(SEARCH_TASK, ("owner",), where)
    return {owner: tally.rows for (owner,), tally in tallies.items()}


def looked_up(reads: Reads) -> dict[int, list[tuple[Millis, str]]]:
    """Return (when, query) of the searches about each entity, made or in vain, oldest first."""
    lookups: dict[int, list[tuple[Millis, str]]] = defaultdict(list)
    for task in reads.find(SEARCH_TASK, {"owner": EVERYONE, "entity_id": Least(1)}):
        if task.entity_id is not None:
            lookups[task.entity_id].append((task.created_at, task.query))
    return dict(lookups)


def learn_prompts(
    reads: Reads, owner: str | Everyone = ME, *, cause: str = ""
) -> list[LearnPrompt]:
    """Return what was asked to be learned, oldest first; `cause` is the uid of a command."""
    where: dict[str, object] = {"owner": owner}
    if cause:
        where["episode_id"] = list(reads.episode_ids([cause]).values())
    return _with_rest(reads, reads.find(LEARN_PROMPT, where))


def unplanned(reads: Reads) -> list[LearnPrompt]:
    """Return what is to be learned and has no searches yet, oldest first."""
    rows = reads.find(LEARN_PROMPT, {"owner": EVERYONE, "status": "active"})
    where = {"owner": EVERYONE, "learn_prompt_id": [row.id for row in rows]}
    planned = {prompt for (prompt,) in reads.tally(SEARCH_TASK, ("learn_prompt_id",), where)}
    return _with_rest(reads, [row for row in rows if row.id not in planned])


def _with_rest(reads: Reads, rows: Sequence[PromptRow]) -> list[LearnPrompt]:
    where = {"owner": EVERYONE, "learn_prompt_id": [row.id for row in rows], "state": LEFT}
    left = reads.tally(SEARCH_TASK, ("learn_prompt_id",), where) if rows else {}
    return [
        LearnPrompt(*row[:4], left[row.id,].rows if (row.id,) in left else 0, *row[5:])
        for row in rows
    ]


def learned_of(reads: Reads, prompt_id: int) -> list[tuple[Entity, int]]:
    """Return (entity, facts) that the searches of a prompt gave, most facts first.

    The chain: prompt -> search -> fact -> entity. What it asked about comes first, with all that
    the pages of its searches say of it: they may have been read before.
    """
    prompt = first(reads, LEARN_PROMPT, {"id": prompt_id})
    if prompt is None:
        return []
    logs = reads.find(SEARCH_LOG, {"owner": EVERYONE, "learn_prompt_id": prompt_id})
    results = reads.find(SEARCH_RESULT, {"search_id": [log.id for log in logs]})
    episodes = sorted({result.episode_id for result in results})
    command = {"episode_id": prompt.episode_id, "type": EngagementType.LEARN_COMMAND}
    asked = reads.find(ENGAGEMENT, {"owner": EVERYONE, **command})
    mine = {engagement.entity_id for engagement in asked if engagement.entity_id is not None}
    fact_ids = {row.fact_id for row in reads.evidence(episode_ids=episodes)}
    pages = _pages(reads, episodes)
    for entity in reads.find(ENTITY, {"id": mine}):
        about = [life.id for life in world_lives(reads, entity.owner, entity.name)]
        rows = reads.evidence(fact_ids=about)
        where = _pages(reads, sorted({row.episode_id for row in rows}))
        wanted = {*pages.values()}
        fact_ids |= {row.fact_id for row in rows if where.get(row.episode_id) in wanted}
    counts = Counter(
        (life.owner, life.subject)
        for life in lives_by_id(reads, fact_ids).values()
        if life.kind is FactKind.WORLD and holds(life)
    )
    entities = [
        (entity, counts[entity.owner, entity.name])
        for entity in entities_of(reads, EVERYONE, names={name for _, name in counts})
        if (entity.owner, entity.name) in counts
    ]
    return sorted(entities, key=lambda entry: (entry[0].id not in mine, -entry[1], entry[0].id))


def _pages(reads: Reads, episode_ids: Sequence[int]) -> dict[int, str]:
    """Return the page of each episode that is of one, without the place in it."""
    heads = reads.heads(episode_ids)
    pages = {
        episode: head.attributes.get("url", "").partition("#")[0] for episode, head in heads.items()
    }
    return {episode: page for episode, page in pages.items() if page}


def schedules_of(
    reads: Reads, owner: str | Everyone = ME, *, at: Millis | None = None
) -> list[Schedule]:
    """Return schedules that go on, oldest first; with `at`, those whose time has come."""
    going = reads.find(SCHEDULE, {"owner": owner, "retired_at": None})
    return [schedule for schedule in going if at is None or schedule.is_due(at)]
