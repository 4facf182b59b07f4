"""Find why something is known, cared about or told, as values: for `/why`, and for programs.

The seed's chain is walked backwards: entity <- fact <- result <- search <- prompt or message. Every
text is redacted once more: a rule learned today protects what was stored yesterday.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from factbook.errors import NotFound
from factbook.interests.relate import PreferenceRelation, shares
from factbook.interests.score import DAY_MS, course, signed, weight
from factbook.language.nouns import counted
from factbook.model.confidence import as_of
from factbook.model.facts import EpisodeKind, FactKind, Millis, Stance, StoredEpisode
from factbook.model.keys import entity_name

if TYPE_CHECKING:
    from factbook.memory import Memory
    from factbook.model.entities import Engagement, Entity, Notice, Preference, SearchLog
    from factbook.model.facts import Evidence, Fact

MOMENTS: Final = 121  # ours: points of a curve
CURVES: Final = 10  # ours: as many as a picture can show apart


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """The interest in one entity over time."""

    name: str
    moments: Sequence[Millis]  # ascending
    scores: Sequence[float]  # one for each moment


@dataclass(frozen=True, slots=True, kw_only=True)
class Cause:
    """What somebody said or did that led to something."""

    text: str
    at: Millis | None
    is_command: bool  # typed as a command, and not said in a conversation


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """How an episode came here: it was said, or found by a search that somebody caused."""

    cause: Cause | None = None  # the message or command behind it; None where that was erased
    search: SearchLog | None = None  # that found it
    prompt: str = ""  # what was to be learned, where the search was made for that
    url: str = ""  # of the page or document, empty for what the owner said
    title: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """What one engagement adds to an interest now."""

    engagement: Engagement
    adds: float  # with its sign, after its age and its share
    share: float = 1.0  # less where it is about a preference that the entity is near to
    preference: Preference | None = None  # that it is about, where it is
    taken_back: bool = False  # the preference was: it adds nothing
    cause: Cause | None = None  # what was said or done


@dataclass(frozen=True, slots=True, kw_only=True)
class PreferenceWhy:
    """Why somebody is held to like or dislike a topic."""

    preference: Preference
    causes: Sequence[Cause]  # what they said or did, newest first; what was erased is not there


@dataclass(frozen=True, slots=True, kw_only=True)
class EntityWhy:
    """Why an entity is there, and why it is cared about as much as it is."""

    entity: Entity
    interest: float  # now; what all parts add
    brought: Origin  # what brought it in
    parts: Sequence[Part]  # newest first
    preferences: Sequence[PreferenceWhy]  # that go by a name of it
    at: Millis  # now


@dataclass(frozen=True, slots=True, kw_only=True)
class Chain:
    """One way back from a fact to what somebody asked for."""

    evidence: Evidence
    origin: Origin


@dataclass(frozen=True, slots=True, kw_only=True)
class FactWhy:
    """Where a fact comes from."""

    fact: Fact
    entity: Entity | None  # that it is about, for what is known of the world
    chains: Sequence[Chain]  # oldest evidence first


@dataclass(frozen=True, slots=True, kw_only=True)
class NoticeWhy:
    """Why something was told, or waits to be."""

    notice: Notice
    entity: Entity
    interest: float  # now
    facts: Sequence[FactWhy]  # those that are still held


def brought_in(memory: Memory, entity: Entity) -> Origin:
    """Return what brought an entity in."""
    return _origins(memory, entity.owner, [entity.episode_id])[entity.episode_id]


def of_entity(memory: Memory, entity: Entity) -> EntityWhy:
    """Return why an entity is there and what its interest is made of."""
    now = memory.clock()
    parts = _parts(memory, entity, now=now)
    causes = _causes(
        memory,
        [part.engagement.episode_id for part in parts if part.engagement.episode_id is not None],
    )
    return EntityWhy(
        entity=_shown(memory, entity),
        interest=math.fsum(part.adds for part in parts),
        brought=brought_in(memory, entity),
        parts=[replace(part, cause=causes.get(part.engagement.episode_id or 0)) for part in parts],
        preferences=[
            held
            for name in (entity.name, *entity.aliases)
            for held in of_preference(memory, name, owner=entity.owner)
        ],
        at=now,
    )


def of_preference(memory: Memory, topic: str, *, owner: str) -> list[PreferenceWhy]:
    """Return why an owner likes or dislikes a topic, in either number; empty where they do not."""
    wanted = entity_name(topic)
    found = []
    for held in memory.interests.preferences(owner=owner):
        if counted(held.topic) != counted(wanted):
            continue
        said = {row.episode_id for row in memory.interests.engagements(held.id, owner=owner)}
        causes = _causes(memory, [id_ for id_ in {*said, held.episode_id} if id_])
        newest = sorted(causes.items(), key=lambda item: (item[1].at or 0, item[0]), reverse=True)
        shown = held._replace(topic=memory.resources.redactor.redact(held.topic))
        found.append(PreferenceWhy(preference=shown, causes=[cause for _, cause in newest]))
    return found


def _parts(memory: Memory, entity: Entity, *, now: Millis) -> list[Part]:
    """Return what each engagement adds to the interest in an entity, newest first."""
    owner = entity.owner
    view = memory.interests.entity(place_of(memory, entity), owner=owner)
    every = {
        preference.id: preference
        for preference in memory.interests.preferences(owner=owner, include_retired=True)
    }
    parts = []
    for engagement in view.engagements:
        liked = None if engagement.preference_id is None else every.get(engagement.preference_id)
        back = engagement.preference_id is not None and (
            liked is None or liked.retired_at is not None
        )
        adds = 0.0 if back else signed(engagement) * weight(now - engagement.at)
        parts.append(Part(engagement=engagement, adds=adds, preference=liked, taken_back=back))
    near = shares(PreferenceRelation(row.id, entity.id, cosine) for row, cosine in view.preferences)
    for preference_id, by_entity in near.items():
        parts += [
            Part(
                engagement=engagement,
                adds=by_entity[entity.id] * signed(engagement) * weight(now - engagement.at),
                share=by_entity[entity.id],
                preference=every[preference_id],
            )
            for engagement in memory.interests.engagements(preference_id, owner=owner)
            if engagement.entity_id != entity.id
        ]
    redact = memory.resources.redactor.redact
    return [
        part
        if part.preference is None
        else replace(part, preference=part.preference._replace(topic=redact(part.preference.topic)))
        for part in sorted(parts, key=lambda part: (-part.engagement.at, -part.engagement.id))
    ]


def curves(memory: Memory, *, owner: str) -> list[Curve]:
    """Return the interest over time in the entities that are farthest from indifferent now."""
    now = memory.clock()
    rows = [row for row in memory.interests.ranked(owner=owner) if row.score]
    strongest = sorted(rows, key=lambda row: (-abs(row.score), row.entity.id))[:CURVES]
    parts = {
        row.entity: [part for part in _parts(memory, row.entity, now=now) if not part.taken_back]
        for row in strongest
    }
    began = [part.engagement.at for entity_parts in parts.values() for part in entity_parts]
    if not began:
        return []
    first = min(*began, now - DAY_MS)
    moments = [first + (now - first) * step // (MOMENTS - 1) for step in range(MOMENTS)]
    return [
        Curve(
            name=memory.resources.redactor.redact(entity.name),
            moments=moments,
            scores=course(
                [
                    part.engagement._replace(strength=part.engagement.strength * part.share)
                    for part in entity_parts
                ],
                moments,
            ),
        )
        for entity, entity_parts in parts.items()
    ]


def of_fact(memory: Memory, fact: Fact) -> FactWhy:
    """Return the way back from a fact to what somebody asked for."""
    return _of_facts(memory, [fact])[0]


def _of_facts(memory: Memory, facts: Sequence[Fact]) -> list[FactWhy]:
    if not facts:
        return []
    redact, owner = memory.resources.redactor.redact, facts[0].owner
    evidence = {
        fact.id: [
            piece
            for piece in memory.sources.evidence(fact.id, owner=owner)
            if piece.stance is Stance.SUPPORTS
        ]
        for fact in facts
    }
    origins = _origins(
        memory, owner, [piece.episode_id for pieces in evidence.values() for piece in pieces]
    )
    now = memory.clock()
    reasons = []
    for fact in facts:
        about = None
        if fact.kind is FactKind.WORLD:
            about = memory.interests.named(fact.subject, owner=owner)
        reasons.append(
            FactWhy(
                fact=shown_fact(memory, as_of(fact, now)),
                entity=None if about is None else _shown(memory, about),
                chains=[
                    Chain(
                        evidence=replace(piece, quote=redact(piece.quote)),
                        origin=origins[piece.episode_id],
                    )
                    for piece in evidence.get(fact.id, [])
                ],
            )
        )
    return reasons


def shown_fact(memory: Memory, fact: Fact) -> Fact:
    """Return a fact as it may be shown, redacted once more."""
    redact = memory.resources.redactor.redact
    return replace(
        fact,
        subject=redact(fact.subject),
        object=redact(fact.object),
        statement=redact(fact.statement),
    )


def of_notice(memory: Memory, number: int, owner: str) -> NoticeWhy:
    """Return why something was told; raises NotFound where the owner has no such notice."""
    store = memory.store
    notices = memory.interests.notices(owner=owner, ids=[number]) if number < 2**63 else []
    if not notices:
        raise NotFound(what="notice", name=f"n{number}", hint="`factbook notices` lists them.")
    notice = notices[0]
    entity = memory.interests.entities(owner=owner, include_retired=True, ids=[notice.entity_id])[0]
    held = store.facts_by_id(notice.fact_ids)
    facts = [held[id_] for id_ in notice.fact_ids if id_ in held and held[id_].retired_at is None]
    return NoticeWhy(
        notice=notice._replace(reason=memory.resources.redactor.redact(notice.reason)),
        entity=_shown(memory, entity),
        interest=memory.interests.interest_scores(owner).get(entity.id, 0.0),
        facts=_of_facts(memory, facts),
    )


def _origins(memory: Memory, owner: str, ids: Sequence[int]) -> dict[int, Origin]:
    """Return how episodes came here; each of them is there."""
    store, redact = memory.store, memory.resources.redactor.redact
    wanted = set(ids)
    heads = store.heads(wanted)
    logs = {
        episode: log
        for log in reversed(memory.interests.searches(owner=owner))
        for episode in log.episode_ids
        if episode in wanted
    }  # the first search that found it
    learned = memory.interests.learn_prompts(owner=owner) if logs else ()
    prompts = {prompt.id: prompt.text for prompt in learned}
    causes = _causes(memory, [log.cause_id for log in logs.values() if log.cause_id] + [*wanted])
    origins = {}
    for episode_id in wanted:
        log, page = logs.get(episode_id), heads[episode_id].attributes
        origins[episode_id] = Origin(
            cause=causes.get(episode_id if log is None else log.cause_id or 0),
            search=None if log is None else log._replace(query=redact(log.query)),
            prompt="" if log is None else redact(prompts.get(log.learn_prompt_id or 0, "")),
            url=redact(page.get("url", "")),
            title=redact(page.get("title", "")),
        )
    return origins


def _causes(memory: Memory, ids: Iterable[int]) -> dict[int, Cause]:
    """Return what was said or done, by episode; pages of others are no cause."""
    redact = memory.resources.redactor.redact
    episodes: dict[int, StoredEpisode] = memory.store.episodes_by_id(sorted(set(ids)))
    return {
        episode.id: Cause(
            text=redact(episode.text),
            at=episode.occurred_at,
            is_command=episode.kind is EpisodeKind.COMMAND,
        )
        for episode in episodes.values()
        if episode.kind is not EpisodeKind.SEARCH_RESULT
    }


def _shown(memory: Memory, entity: Entity) -> Entity:
    redact = memory.resources.redactor.redact
    aliases = tuple(redact(alias) for alias in entity.aliases)
    return entity._replace(name=redact(entity.name), aliases=aliases)


def place_of(memory: Memory, entity: Entity) -> int:
    """Return the number of an entity in `/memory`, from 1."""
    return [row.id for row in memory.interests.entities(owner=entity.owner)].index(entity.id) + 1
