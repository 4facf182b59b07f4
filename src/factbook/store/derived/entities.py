"""Entities, engagements and preferences, over the verbs of a store."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence

from factbook.model.entities import Engagement, EngagementType, Entity, Preference, Valence
from factbook.model.facts import EVERYONE, ME, Everyone, Fact, FactKind, Millis, Status, Trigger
from factbook.store.derived.facts import holds, merged_ends
from factbook.store.kinds import (
    ALIAS,
    ENGAGEMENT,
    ENTITY,
    EVENT,
    FACT,
    PREFERENCE,
    SEARCH_RESULT,
    Above,
    EntityRow,
    Where,
    given,
)
from factbook.store.port import Reads, first
from factbook.store.rows import Life, LifeWhere, latest

# Nobody was interested yet: the owner only named it, or answered to what was told.
_PASSING = frozenset({EngagementType.MENTIONED_IN_PASSING, EngagementType.NORMAL_REACTION})


def entities_of(
    reads: Reads,
    owner: str | Everyone = ME,
    *,
    include_retired: bool = False,
    ids: Collection[int] | None = None,
    names: Collection[str] | None = None,
) -> list[Entity]:
    """Return entities by id, oldest first, with their other names and what is counted of them."""
    where = given(owner=owner, id=ids, name=names)
    if not include_retired:
        where["retired_at"] = None
    return _counted(reads, reads.find(ENTITY, where))


def entity_named(reads: Reads, owner: str, name: str) -> Entity | None:
    """Return the current entity that goes by a canonical name or an alias."""
    row = row_named(reads, owner, name)
    return None if row is None else _counted(reads, [row])[0]


def row_named(reads: Reads, owner: str, name: str) -> EntityRow | None:
    """Return the row of the current entity that goes by a canonical name or an alias."""
    row = first(reads, ENTITY, {"owner": owner, "name": name, "retired_at": None})
    alias = first(reads, ALIAS, {"owner": owner, "name": name}) if row is None else None
    if alias is None:
        return row
    return first(reads, ENTITY, {"id": alias.entity_id, "retired_at": None, "owner": owner})


def deleted_entity(reads: Reads, owner: str, name: str) -> EntityRow | None:
    """Return the row of the entity of that name that was forgotten last, merged ones aside."""
    rows = reads.find(ENTITY, {"owner": owner, "name": name})
    if alias := first(reads, ALIAS, {"owner": owner, "name": name}):
        rows += reads.find(ENTITY, {"id": alias.entity_id, "owner": owner})
    gone = [row for row in rows if not row.current and row.merged_into_id is None]
    return max(gone, key=lambda row: (row.name == name, row.retired_at, row.id), default=None)


def _counted(reads: Reads, rows: Sequence[EntityRow]) -> list[Entity]:
    """Return entities with their aliases, the number of facts about them, and when that moved."""
    if not rows:
        return []
    ids = [row.id for row in rows]
    aliases: dict[int, list[str]] = defaultdict(list)
    owners = {row.owner for row in rows}
    names = {row.name for row in rows}
    for alias in reads.find(ALIAS, {"entity_id": ids, "owner": EVERYONE}):
        aliases[alias.entity_id].append(alias.name)
    last: dict[int, Millis] = {}
    where: Where = {"owner": EVERYONE, "entity_id": ids}
    for (entity_id,), tally in reads.tally(ENGAGEMENT, ("entity_id",), where, most="at").items():
        last[entity_id] = tally.most
    where = {
        "owner": owners.pop() if len(owners) == 1 else sorted(owners),
        "kind": FactKind.WORLD,
        "retired_at": None,
        "subject": sorted(names),
        "confidence": Above(0),  # what its owner called wrong is kept, and counts no more
    }
    counts: dict[tuple[str, str], int] = defaultdict(int)
    said: dict[tuple[str, str], Millis] = {}
    for (owner, name, status), tally in reads.tally(
        FACT, ("owner", "subject", "status"), where, most="occurred_at"
    ).items():
        if status != Status.PROPOSED:
            counts[owner, name] += tally.rows
        if tally.most is not None:
            said[owner, name] = max(said.get((owner, name), 0), tally.most)
    every = names.union(*aliases.values())
    joined = _stated(reads, EVERYONE, every)
    for row in rows:
        stated = [
            joined.get((row.owner, name), {}).values() for name in (row.name, *aliases[row.id])
        ]
        facts = {life.id: life for lives in stated for life in lives}
        counts[row.owner, row.name] += len(facts)
        when = latest([said.get((row.owner, row.name)), *(f.occurred_at for f in facts.values())])
        if when is not None:
            said[row.owner, row.name] = when
    heads = reads.heads({row.episode_id for row in rows})
    return [
        Entity(
            *row,
            aliases=tuple(sorted(aliases[row.id])),
            fact_count=counts[row.owner, row.name],
            last_activity=latest([last.get(row.id), said.get((row.owner, row.name))]),
            since=heads[row.episode_id].occurred_at if row.episode_id in heads else None,
        )
        for row in rows
    ]


def names_by_id(reads: Reads, owner: str) -> dict[int, str]:
    """Return the ids of an owner's current entities with their names."""
    return {row.id: row.name for row in reads.find(ENTITY, {"owner": owner, "retired_at": None})}


def known_names(reads: Reads, owner: str) -> dict[str, str]:
    """Return every name and alias of an owner's current entities -> the canonical name."""
    names = names_by_id(reads, owner)
    aliases = reads.find(ALIAS, {"owner": owner})
    by_alias = {alias.name: names[alias.entity_id] for alias in aliases if alias.entity_id in names}
    return {**by_alias, **{name: name for name in names.values()}}


def deleted_names(reads: Reads, owner: str) -> set[str]:
    """Return the names of entities that their owner removed and did not bring back.

    What upkeep retired for want of facts comes back as soon as it is spoken of.
    """
    rows = reads.find(ENTITY, {"owner": owner})
    current = {row.name for row in rows if row.current}
    gone = [row for row in rows if not row.current and row.merged_into_id is None]
    where = {"target_kind": "entity", "target_id": [row.id for row in gone], "op": "retire"}
    by = {event.target_id: event.trigger for event in reads.find(EVENT, where)}
    return {row.name for row in gone if by.get(row.id) is not Trigger.UPKEEP} - current


def world_lives(reads: Reads, owner: str, name: str) -> list[Life]:
    """Return the rows of the current facts about an entity, by id."""
    return reads.lives(
        LifeWhere(owner=owner, kinds=[FactKind.WORLD], subjects=[name], current=True)
    )


def _stated(
    reads: Reads, owner: str | Everyone, names: Collection[str]
) -> dict[tuple[str, str], dict[int, Life]]:
    """Return the statements of owners that say what was known of entities, by (owner, name) and id.

    What somebody said of an entity is kept once: it is joined with the statement that says it.
    """
    where = LifeWhere(owner=owner, kinds=[FactKind.WORLD], subjects=sorted(names), current=False)
    gone = {life.id: life for life in reads.lives(where) if life.status is Status.MERGED_INTO}
    stated: dict[tuple[str, str], dict[int, Life]] = {}
    for fact_id, end in (merged_ends(reads, list(gone.values())) if gone else {}).items():
        if end.kind is not FactKind.WORLD and holds(end):
            about = gone[fact_id]
            stated.setdefault((about.owner, about.subject), {})[end.id] = end
    return stated


def world_facts(reads: Reads, owner: str, name: str, *, limit: int | None = None) -> list[Fact]:
    """Return the current facts about an entity, newest first, with what its owner states of it."""
    row = row_named(reads, owner, name)
    others = reads.find(ALIAS, {"owner": owner, "entity_id": row.id}) if row is not None else []
    ids = [life.id for life in world_lives(reads, owner, name) if holds(life)]
    for stated in _stated(reads, owner, {name, *(alias.name for alias in others)}).values():
        ids += stated
    facts = reads.facts_by_id(ids).values()
    return sorted(facts, key=lambda fact: (fact.learned_at, fact.id), reverse=True)[:limit]


def fact_places(reads: Reads, fact_ids: Sequence[int]) -> dict[int, tuple[str, int | None]]:
    """Return (address of the page or "", search that found it first) of world facts."""
    episodes = {life.id: life.episode_id for life in reads.lives(LifeWhere(ids=fact_ids))}
    heads = reads.heads(set(episodes.values()))
    searches: dict[int, int] = {}
    for result in reads.find(SEARCH_RESULT, {"episode_id": set(episodes.values())}):
        searches.setdefault(result.episode_id, result.search_id)  # they come by their search
    return {
        fact: (heads[episode].attributes.get("url", ""), searches.get(episode))
        for fact, episode in episodes.items()
    }


def about_vectors(reads: Reads, owner: str) -> tuple[list[int], bytes]:
    """Return the vectors of an owner's world facts, each under the id of its entity.

    (n ids, n rows of float16 one after the other)
    """
    entities = {name: entity_id for entity_id, name in names_by_id(reads, owner).items()}
    about = {
        life.id: entities[life.subject]
        for life in reads.lives(LifeWhere(owner=owner, kinds=[FactKind.WORLD], current=True))
        if life.subject in entities
    }
    ids, rows = reads.vectors("fact", sorted(about))
    return [about[fact] for fact in ids], rows


def engagements_of(
    reads: Reads,
    owner: str | Everyone = ME,
    *,
    entity_id: int | None = None,
    preference_id: int | None = None,
) -> list[Engagement]:
    """Return engagements, newest first."""
    where = given(owner=owner, entity_id=entity_id, preference_id=preference_id)
    engagements = reads.find(ENGAGEMENT, where)
    return sorted(engagements, key=lambda engagement: (engagement.at, engagement.id), reverse=True)


def asked_for(reads: Reads, owner: str) -> set[int]:
    """Return the entities that an owner asked about or spoke well of, and did not just name."""
    groups = reads.tally(
        ENGAGEMENT, ("entity_id", "type"), {"owner": owner, "valence": Valence.POSITIVE}
    )
    return {
        entity_id for entity_id, kind in groups if entity_id is not None and kind not in _PASSING
    }


def preferences_of(
    reads: Reads, owner: str | Everyone = ME, *, include_retired: bool = False
) -> list[Preference]:
    """Return preferences, oldest first."""
    where: dict[str, object] = {"owner": owner}
    if not include_retired:
        where["retired_at"] = None
    return reads.find(PREFERENCE, where)


def preference_of(reads: Reads, owner: str, topic: str) -> Preference | None:
    """Return what an owner thinks of a topic now."""
    return first(reads, PREFERENCE, {"owner": owner, "topic": topic, "retired_at": None})
