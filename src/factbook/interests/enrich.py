"""Choose what to look up by itself: the entity that its owner cares about and little is known of.

Search-only (origins 003.7): it queues a search with the trigger `enrichment`, whose results can add
facts to known entities and never an entity, a preference or an engagement.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from factbook import policy
from factbook.gate.notices import EnrichmentMode, mode_of
from factbook.interests.notify import enrich_query
from factbook.model.entities import Entity
from factbook.model.facts import EVERYONE, Millis, Trigger
from factbook.model.interest_ops import QueueSearch
from factbook.store.derived.entities import asked_for, entities_of, world_facts
from factbook.store.derived.searches import looked_up, search_tasks, searches_since

if TYPE_CHECKING:
    from factbook.context import Context
    from factbook.store.port import Store

_HOUR: Final = 3600 * 1000
_DAY: Final = 24 * _HOUR
# Ours: an entity that was looked up rests, or one about which nothing can be found would be asked
# for again and again, since its few facts keep it first.
REST_MS: Final[Mapping[EnrichmentMode, int]] = {
    EnrichmentMode.BROAD: 6 * _HOUR,
    EnrichmentMode.TARGETED: _DAY,
    EnrichmentMode.BRIEFING: 3 * _DAY,
}
FRUITLESS: Final = 5  # ours: each search without a new fact doubles the rest, this often


@dataclass(frozen=True, slots=True, kw_only=True)
class Enriched:
    """A search that was queued, or why none was."""

    entity: str = ""
    query: str = ""
    why: str = ""  # where none was queued


def priority(interest: float, fact_count: int) -> float:
    """Return `interest * 1 / fact_count`; no facts count as one."""
    return interest / max(1, fact_count)


def enrich(
    context: Context,
    *,
    interests: Callable[[str], Mapping[int, float]],
    daily: int = policy.ENRICH_DAILY,
) -> Enriched:
    """Queue one search about the entity with the highest priority that has rested enough.

    `interests` gives an owner's interest by entity id. At most `daily` searches of each owner in a
    day (UTC), those in vain too, and only about what the owner asked for or spoke well of.
    """
    store, now = context.store, context.clock()
    made = searches_since(store, Trigger.ENRICHMENT, now - now % _DAY)
    asked: dict[str, set[int]] = {}
    spent = False
    waiting = {task.entity_id for task in search_tasks(store) if task.entity_id is not None}
    made_about = looked_up(store)
    scores: dict[str, Mapping[int, float]] = {}
    ranked: list[tuple[float, int, Entity, EnrichmentMode]] = []
    for entity in entities_of(store, EVERYONE):
        if entity.owner not in scores:
            scores[entity.owner] = interests(entity.owner)
            asked[entity.owner] = asked_for(store, entity.owner)
        if made.get(entity.owner, 0) >= daily:
            spent = True
            continue
        # What was only named in passing is nobody's business: its name does not leave the machine.
        if entity.id not in asked[entity.owner]:
            continue
        interest = scores[entity.owner].get(entity.id, 0.0)
        mode = mode_of(entity.fact_count, interest)
        if mode is EnrichmentMode.SKIP or interest <= 0 or entity.id in waiting:
            continue
        if _rests(store, entity, mode, made_about.get(entity.id, ()), now):
            continue
        ranked.append((priority(interest, entity.fact_count), -entity.id, entity, mode))
    due = next(
        (row for row in sorted(ranked, reverse=True) if may_be_enriched(store, row[2])), None
    )
    if due is None:
        over = f"the {daily} searches of the day are made"
        return Enriched(why=over if spent else "nothing that its owner cares about is due")
    _, _, entity, mode = due
    mine = made_about.get(entity.id, [])
    known = [fact.object for fact in world_facts(store, entity.owner, entity.name)]
    since = max((at for at, _ in mine), default=None)
    queries = enrich_query(entity.name, mode, known, since, asked=[query for _, query in mine])
    op = QueueSearch(owner=entity.owner, query=queries[0], entity_id=entity.id)
    context.write([op], Trigger.ENRICHMENT, now=now)
    return Enriched(entity=entity.name, query=queries[0])


def may_be_enriched(store: Store, entity: Entity) -> bool:
    """Tell whether a thing may be looked up unasked: it is known to be public, and nobody's own.

    A page said something of it, or its owner gave a command about it. The name of what was only
    spoken of does not leave the machine.
    """
    # imported here: a pass that finds nothing due needs none of it
    from factbook.interests.privacy import own_names
    from factbook.recall.known import is_public

    if own_names(store, entity.name.title(), owner=entity.owner):
        return False
    return is_public(store, entity.owner, entity.name)


def _rests(
    store: Store,
    entity: Entity,
    mode: EnrichmentMode,
    made: Sequence[tuple[Millis, str]],
    now: Millis,
) -> bool:
    if not made:
        return False
    newest = world_facts(store, entity.owner, entity.name, limit=1)
    learned = newest[0].learned_at if newest else 0
    fruitless = sum(1 for at, _ in made if at > learned)
    rest: int = REST_MS[mode] * 2 ** min(max(0, fruitless - 1), FRUITLESS)
    return now - made[-1][0] < rest
