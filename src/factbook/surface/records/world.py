"""The JSON forms of what a person cares about; docs/commands.md shows them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from factbook.model.facts import iso
from factbook.surface.records.fields import Record, fields, listed

if TYPE_CHECKING:
    from factbook.interests.interests import EntityView, InterestRow, LearnStatus
    from factbook.maintenance.cleaner import CleanReport
    from factbook.memory.reasons import Chain, EntityWhy, FactWhy, NoticeWhy, Origin, Part
    from factbook.model.entities import Entity, Notice, Schedule, SearchAnswer, SearchLog

__all__ = [
    "ENGAGEMENT",
    "LOOP",
    "NOTIFY_STATE",
    "PREFERENCE",
    "cleaned",
    "entity",
    "entity_view",
    "interest",
    "learn_status",
    "notice",
    "numbered",
    "schedule",
    "search",
    "why_entity",
    "why_fact",
    "why_notice",
]

PREFERENCE: Final = "topic type created_at"
ENGAGEMENT: Final = "id type valence strength at episode=episode_id:e"
NOTIFY_STATE: Final = "muted unanswered last_sent_at engaged_at"
LOOP: Final = "name enabled steps did cancelled failed error last_at"
_ENTITY: Final = (
    "id name aliases facts=fact_count trigger muted created_at updated_at last_activity"
    " deleted_at=retired_at merged_into=merged_into_id"
)
_FACT: Final = "id:f subject text=object statement confidence trust learned_at"
_LOG: Final = "id query provider trigger at duration_ms extracted learn_prompt=learn_prompt_id"


def entity(one: Entity) -> Record:
    """Return a thing that is known."""
    return fields(one, _ENTITY)


def numbered(found: Sequence[Entity]) -> list[Record]:
    """Return things with their places in `/memory`."""
    return [{"number": number, **entity(one)} for number, one in enumerate(found, 1)]


def entity_view(view: EntityView, brought: Origin, *, place: int) -> Record:
    """Return a thing with what is known of it."""
    return {
        "entity": {"number": place, **entity(view.entity)},
        "interest": view.interest,
        "brought_in_by": _origin(brought),
        "facts": [
            fields(fact, _FACT, url=url, search=search)
            for fact in view.facts
            for url, search in [view.places.get(fact.id, ("", None))]
        ],
        "engagements": listed(view.engagements, ENGAGEMENT),
        "preferences": [
            fields(one, PREFERENCE, cosine=round(cosine, 4)) for one, cosine in view.preferences
        ],
    }


def interest(interest_row: InterestRow) -> Record:
    """Return how much a thing is cared about."""
    return fields(
        interest_row,
        "id=entity.id name=entity.name score facts=fact_count last_activity muted=entity.muted",
    )


def learn_status(one: LearnStatus) -> Record:
    """Return how far a thing to be learned has come."""
    return {
        **fields(one.prompt, "id text status"),
        "searches_made": len(one.searches),
        **fields(one.prompt, "searches_remaining created_at"),
        "entities": [{"name": of.name, "facts": facts} for of, facts in one.entities],
        "failed": [{"query": query, "why": why} for query, why in one.failed],
    }


def search(answer: SearchAnswer, log: SearchLog) -> Record:
    """Return what a search found."""
    return {
        "search": fields(log, _LOG),
        "results": listed(answer.results, "title url text image published_at"),
        "dropped": answer.dropped,
    }


def schedule(one: Schedule, number: int) -> Record:
    """Return what is searched for again and again; `number` is its place in `/schedule`."""
    return {
        "number": number,
        "topic": one.topic,
        "every_seconds": one.every_ms / 1000,
        "next_at": iso(one.next_at),
    }


def notice(one: Notice, name: str) -> Record:
    """Return what was told by itself, or waits to be."""
    return {
        "id": f"n{one.id}",
        "entity": name,
        **fields(one, "kind trigger"),
        "facts": [f"f{fact}" for fact in one.fact_ids],
        **fields(one, "state created_at sent_at channels reason"),
    }


def _or_none(one: Any, names: str) -> Record | None:
    return None if one is None else fields(one, names)


def _origin(origin: Origin) -> Record:
    """Return how something came here: what was asked, searched for and found."""
    return {
        "prompt": origin.prompt or None,
        "cause": _or_none(origin.cause, "text at command=is_command"),
        "search": _or_none(origin.search, _LOG),
        "title": origin.title,
        "url": origin.url,
    }


def cleaned(report: CleanReport) -> Record:
    """Return what cleaning has merged and dropped."""
    return fields(report, "merged merged_facts retired asked waiting note")


def why_entity(why: EntityWhy) -> Record:
    """Return why a thing is there, and what its interest is made of."""
    return {
        "entity": entity(why.entity),
        "interest": why.interest,
        "brought_in_by": _origin(why.brought),
        "engagements": [_part(part, why.at) for part in why.parts],
    }


def _part(part: Part, now: int) -> Record:
    return {
        **fields(part.engagement, ENGAGEMENT),
        "age_days": max(0, now - part.engagement.at) / 86_400_000,
        "adds": part.adds,
        "share": part.share,
        "preference": None if part.preference is None else part.preference.topic,
        "taken_back": part.taken_back,
        "cause": _or_none(part.cause, "text at command=is_command"),
    }


def why_fact(why: FactWhy) -> Record:
    """Return where a fact comes from."""
    return {
        "fact": fields(why.fact, _FACT),
        "entity": None if why.entity is None else entity(why.entity),
        "chain": [_chain(chain) for chain in why.chains],
    }


def _chain(chain: Chain) -> Record:
    place = fields(chain.evidence, "quote start end episode=episode_id:e rule")
    return {**_origin(chain.origin), **place}


def why_notice(why: NoticeWhy) -> Record:
    """Return why something was told."""
    return {
        "notice": notice(why.notice, why.entity.name),
        "interest": why.interest,
        "facts": [why_fact(fact) for fact in why.facts],
    }
