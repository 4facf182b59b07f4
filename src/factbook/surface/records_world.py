"""The JSON forms of what a person cares about; docs/commands.md shows them.

Every function returns plain data and reads nothing. Moments are ISO 8601 in UTC. Values come
redacted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from factbook.model.facts import iso

if TYPE_CHECKING:
    from factbook.interests.interests import EntityView, InterestRow, LearnStatus
    from factbook.interests.scheduler import LoopReport
    from factbook.model.entities import (
        Engagement,
        Entity,
        Notice,
        NotifyState,
        Preference,
        Schedule,
        SearchAnswer,
        SearchLog,
    )
    from factbook.model.facts import Fact
    from factbook.surface.reasons import Cause, Chain, EntityWhy, FactWhy, NoticeWhy, Origin, Part

__all__ = [
    "engagement",
    "entity",
    "entity_view",
    "interest",
    "learn_status",
    "loop",
    "notice",
    "notify_state",
    "origin",
    "preference",
    "schedule",
    "search",
    "search_log",
    "why_entity",
    "why_fact",
    "why_notice",
]

Record = dict[str, object]


def entity(one: Entity, number: int | None = None) -> Record:
    """Return a thing that is known; `number` is its place in `/memory`."""
    return {
        **({} if number is None else {"number": number}),
        "id": one.id,
        "name": one.name,
        "aliases": list(one.aliases),
        "facts": one.fact_count,
        "trigger": one.trigger,
        "muted": one.muted,
        "created_at": iso(one.created_at),
        "updated_at": iso(one.updated_at),
        "last_activity": iso(one.last_activity),
        "deleted_at": iso(one.retired_at),
        "merged_into": one.merged_into_id,
    }


def entity_view(view: EntityView, brought: Origin, *, place: int) -> Record:
    """Return a thing with what is known of it."""
    return {
        "entity": entity(view.entity, place),
        "interest": view.interest,
        "brought_in_by": origin(brought),
        "facts": [
            {**_fact(one), "url": url, "search": search}
            for one in view.facts
            for url, search in [view.places.get(one.id, ("", None))]
        ],
        "engagements": [engagement(one) for one in view.engagements],
        "preferences": [
            {**preference(one), "cosine": round(cosine, 4)} for one, cosine in view.preferences
        ],
    }


def _fact(one: Fact) -> Record:
    return {
        "id": f"f{one.id}",
        "subject": one.subject,
        "text": one.object,
        "statement": one.statement,
        "confidence": one.confidence,
        "trust": one.trust,
        "learned_at": iso(one.learned_at),
    }


def engagement(one: Engagement) -> Record:
    """Return something that was done about a thing."""
    return {
        "id": one.id,
        "type": one.type,
        "valence": one.valence,
        "strength": one.strength,
        "at": iso(one.at),
        "episode": None if one.episode_id is None else f"e{one.episode_id}",
    }


def preference(one: Preference) -> Record:
    """Return a like or a dislike."""
    return {"topic": one.topic, "type": one.type, "created_at": iso(one.created_at)}


def interest(one: InterestRow) -> Record:
    """Return how much a thing is cared about."""
    return {
        "id": one.entity.id,
        "name": one.entity.name,
        "score": one.score,
        "facts": one.fact_count,
        "last_activity": iso(one.last_activity),
        "muted": one.entity.muted,
    }


def learn_status(one: LearnStatus) -> Record:
    """Return how far a thing to be learned has come."""
    return {
        "id": one.prompt.id,
        "text": one.prompt.text,
        "status": one.prompt.status,
        "searches_made": len(one.searches),
        "searches_remaining": one.prompt.searches_remaining,
        "created_at": iso(one.prompt.created_at),
        "entities": [{"name": of.name, "facts": facts} for of, facts in one.entities],
        "failed": [{"query": query, "why": why} for query, why in one.failed],
    }


def search(answer: SearchAnswer, log: SearchLog) -> Record:
    """Return what a search found."""
    return {
        "search": search_log(log),
        "results": [
            {
                "title": one.title,
                "url": one.url,
                "text": one.text,
                "image": one.image,
                "published_at": iso(one.published_at),
            }
            for one in answer.results
        ],
        "dropped": answer.dropped,
    }


def search_log(one: SearchLog) -> Record:
    """Return a search that was made."""
    return {
        "id": one.id,
        "query": one.query,
        "provider": one.provider,
        "trigger": one.trigger,
        "at": iso(one.at),
        "duration_ms": one.duration_ms,
        "extracted": one.extracted,
        "learn_prompt": one.learn_prompt_id,
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
        "kind": one.kind,
        "trigger": one.trigger,
        "facts": [f"f{fact}" for fact in one.fact_ids],
        "state": one.state,
        "created_at": iso(one.created_at),
        "sent_at": iso(one.sent_at),
        "channels": list(one.channels),
        "reason": one.reason,
    }


def notify_state(one: NotifyState) -> Record:
    """Return how much was told without an answer."""
    return {
        "muted": one.muted,
        "unanswered": one.unanswered,
        "last_sent_at": iso(one.last_sent_at),
        "engaged_at": iso(one.engaged_at),
    }


def cause(one: Cause | None) -> Record | None:
    """Return what somebody said or did that led to something."""
    if one is None:
        return None
    return {"text": one.text, "at": iso(one.at), "command": one.is_command}


def origin(one: Origin) -> Record:
    """Return how something came here: what was asked, searched for and found."""
    return {
        "prompt": one.prompt or None,
        "cause": cause(one.cause),
        "search": None if one.search is None else search_log(one.search),
        "title": one.title,
        "url": one.url,
    }


def why_entity(why: EntityWhy) -> Record:
    """Return why a thing is there, and what its interest is made of."""
    return {
        "entity": entity(why.entity),
        "interest": why.interest,
        "brought_in_by": origin(why.brought),
        "engagements": [_part(one, why.at) for one in why.parts],
    }


def _part(one: Part, now: int) -> Record:
    return {
        **engagement(one.engagement),
        "age_days": max(0, now - one.engagement.at) / 86_400_000,
        "adds": one.adds,
        "share": one.share,
        "preference": None if one.preference is None else one.preference.topic,
        "taken_back": one.taken_back,
        "cause": cause(one.cause),
    }


def why_fact(why: FactWhy) -> Record:
    """Return where a fact comes from."""
    return {
        "fact": _fact(why.fact),
        "entity": None if why.entity is None else entity(why.entity),
        "chain": [_chain(one) for one in why.chains],
    }


def _chain(one: Chain) -> Record:
    return {
        **origin(one.origin),
        "quote": one.evidence.quote,
        "start": one.evidence.start,
        "end": one.evidence.end,
        "episode": f"e{one.evidence.episode_id}",
        "rule": one.evidence.rule,
    }


def why_notice(why: NoticeWhy) -> Record:
    """Return why something was told."""
    return {
        "notice": notice(why.notice, why.entity.name),
        "interest": why.interest,
        "facts": [why_fact(one) for one in why.facts],
    }


def loop(one: LoopReport) -> Record:
    """Return how a loop of the work behind has fared."""
    return {
        "name": one.name,
        "enabled": one.enabled,
        "steps": one.steps,
        "did": one.did,
        "cancelled": one.cancelled,
        "failed": one.failed,
        "error": one.error,
        "last_at": iso(one.last_at),
    }
