"""Who comes into memory by name, and what an owner does about each.

    results of a search -> extract.discovery: what is of its kind -> gate.names, gate.known -> Ops
    a name in a message -> extract.heard: what is done of it -> gate.names, gate.known -> Ops

A thing comes in as `CreateEntity` with an engagement, or stays out with its reason.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from factbook import policy
from factbook.extract.discovery import NewThing, ResultText, corroborated, discover
from factbook.extract.mentions import Mention, called
from factbook.extract.opinions import NO_MORE_OF_IT
from factbook.extract.topics import topic_of
from factbook.gate.known import admit, is_known
from factbook.gate.names import judge_name, name_text, structural_problem
from factbook.model.entities import EngagementType, PreferenceType, SearchLog, Valence
from factbook.model.facts import StoredEpisode, Trigger
from factbook.model.interest_ops import (
    AddAlias,
    CreateEntity,
    MarkDiscovered,
    MuteEntity,
    RecordEngagement,
    SetPreference,
)
from factbook.model.keys import entity_name
from factbook.model.ops import Op
from factbook.pipelines.world_facts import Gathered, TextVectors, refusal
from factbook.store.derived.entities import deleted_names, entity_named, known_names

if TYPE_CHECKING:
    from factbook.context import Context
    from factbook.store.kinds import ResultRow


class EntityIntake:
    """Brings things in under their names, with what their owner did to bring them in."""

    def __init__(self, context: Context, vectors: TextVectors) -> None:
        """Compose."""
        self._store = context.store
        self._vectors = vectors

    def known(self, owner: str) -> dict[str, list[str]]:
        """Return the names under which each current entity is spoken of."""
        return called(known_names(self._store, owner))

    def discover(self, log: SearchLog, states: Sequence[ResultRow]) -> list[Op]:
        """Return what brings in the things that the results of a person's search show."""
        stored = self._store.episodes_by_id([state.episode_id for state in states])
        results = [stored[state.episode_id] for state in states]
        heads = self._store.heads(stored)
        gained = Gathered(names=self.known(log.owner))
        topic = topic_of(log.query).topic
        texts = [
            ResultText(
                text=result.text,
                title=heads[result.id].attributes.get("title", ""),
                host=heads[result.id].attributes.get("host", ""),
            )
            for result in results
        ]
        offered, left_out = discover(texts, query=log.query, topic=topic)
        seen = _seen(states, results, texts)
        if seen:
            more = corroborated(seen, texts, query=log.query, topic=topic)
            offered = [*offered, *more.things]
            left_out = [*left_out, *more.left_out]
        for thing in offered:
            if not is_known(thing.name, gained.names):
                self._discovered(thing, log, results[thing.spans[0][0]], topic, gained)
        untold = {out.thing.name: out for out in left_out}
        for thing, reason, why in untold.values():
            if not is_known(thing.name, gained.names):
                gained.ops.append(refusal(results[thing.spans[0][0]], thing.surface, reason, why))
        return [*gained.ops, MarkDiscovered(search_id=log.id)]

    def _discovered(
        self, thing: NewThing, log: SearchLog, episode: StoredEpisode, topic: str, gained: Gathered
    ) -> None:
        """Bring in a thing that results show, if it has a name and to do with what was asked."""
        said = judge_name(thing.name)
        if said.accepted:
            _, start, end = thing.spans[0]
            around = " ".join(episode.text[max(0, start - 80) : end + 80].split())
            said = judge_name(
                thing.name,
                query_vector=self._vectors.of([topic or log.query])[0],
                name_vector=self._vectors.of([name_text(thing.name, around)])[0],
            )
        if said.problem is not None:
            gained.ops.append(refusal(episode, thing.name, said.reason, said.problem))
            return
        name = self._bring_in(thing.name, thing.surface, episode, gained)
        if not name or log.cause_id is None:
            return
        # What its owner did to bring it in: a search for things like it.
        cause = self._store.episodes_by_id([log.cause_id])[log.cause_id]
        learning = log.trigger is Trigger.LEARN_COMMAND
        kind = EngagementType.SEARCH_INITIATED if learning else EngagementType.MENTIONED_IN_PASSING
        gained.ops.append(engaged(log.owner, kind, cause.uid, entity=name))

    def hear(self, mention: Mention, message: StoredEpisode, gained: Gathered) -> None:
        """Note what an owner does about a thing that a message names."""
        owner, name = message.owner, mention.name
        if not mention.is_known and name not in gained.names:
            problem = structural_problem(name)
            if problem:
                gained.ops.append(refusal(message, name, "not_a_name", problem))
                return
            name = self._bring_in(name, message.text[mention.start : mention.end], message, gained)
            if not name:
                return
        gained.ops.append(
            engaged(owner, mention.type, message.uid, entity=name, valence=mention.valence)
        )
        if mention.why == NO_MORE_OF_IT:
            known = entity_named(self._store, owner, name)
            # Of one that comes in just now nothing is told anyway.
            if known is not None and known.current:
                gained.ops.append(MuteEntity(entity_id=known.id, muted=True))

    def prefer(
        self, topic: str, kind: PreferenceType, message: StoredEpisode, gained: Gathered, quote: str
    ) -> None:
        """Note that an owner likes or dislikes a topic."""
        owner, name = message.owner, entity_name(topic)
        problem = structural_problem(name)
        if problem:
            gained.ops.append(refusal(message, quote, "not_a_name", problem))
            return
        gained.ops.append(SetPreference(owner=owner, topic=name, type=kind, episode=message.uid))
        if name not in gained.names:
            valence = None if kind is PreferenceType.LIKE else Valence.NEGATIVE
            stated = EngagementType.EXPLICIT_STATEMENT
            gained.ops.append(engaged(owner, stated, message.uid, preference=name, valence=valence))

    def _bring_in(self, name: str, surface: str, episode: StoredEpisode, gained: Gathered) -> str:
        """Return the entity of a name: a known one that is the same thing, or a new one.

        Empty for one that its owner removed: a mention does not bring it back.
        """
        owner = episode.owner
        said = admit(
            name,
            surface,
            known=known_names(self._store, owner) | {new: new for new in gained.new},
            removed=deleted_names(self._store, owner),
            cosines=self._vectors.name_cosines(name, owner),
        )
        if said.known is not None:
            gained.ops.append(AddAlias(owner=owner, entity=said.known, alias=name))
            gained.names.setdefault(said.known, [said.known]).append(name)
            gained.names[name] = []  # it has no facts of its own
            return said.known
        if said.removed is not None:
            why = f"its owner removed {said.removed}"
            gained.ops.append(refusal(episode, surface, "deleted_by_owner", why))
            return ""
        gained.ops.append(CreateEntity(owner=owner, name=name, episode=episode.uid))
        gained.names[name] = sorted({name, entity_name(surface), surface} - {""})
        gained.new.add(name)
        return name


def engaged(
    owner: str,
    kind: EngagementType,
    episode: str,
    *,
    entity: str = "",
    preference: str = "",
    valence: Valence | None = None,
) -> RecordEngagement:
    """Return the op that keeps what an owner did about a thing or a topic, as strong as its kind.

    `episode` is the uid of what they said or typed, `valence` what is usual where it is not given.
    """
    strength, usual = policy.ENGAGEMENTS[kind]
    return RecordEngagement(
        owner=owner,
        type=kind,
        valence=valence or Valence(usual),
        strength=strength,
        entity=entity,
        preference=preference,
        episode=episode,
    )


def by_new_thing(ops: Sequence[Op]) -> tuple[list[tuple[CreateEntity, list[Op]]], list[Op]]:
    """Part ops into (what makes a new thing, all that is of it), for each of them, and the rest."""
    parts: dict[str, tuple[CreateEntity, list[Op]]] = {
        op.name: (op, [op]) for op in ops if isinstance(op, CreateEntity)
    }
    rest: list[Op] = []
    for op in ops:
        if isinstance(op, RecordEngagement) and op.entity in parts:
            parts[op.entity][1].append(op)
        elif not isinstance(op, CreateEntity):
            rest.append(op)
    return list(parts.values()), rest


def _seen(
    states: Sequence[ResultRow], results: Sequence[StoredEpisode], texts: Sequence[ResultText]
) -> list[NewThing]:
    """Return the new names that a model saw in results."""
    return [
        NewThing(
            name=entity_name(results[index].text[start:end]),
            surface=results[index].text[start:end],
            spans=[(index, start, end)],
            hosts=(texts[index].host,),
            why="named by a model",
        )
        for index, state in enumerate(states)
        for start, end in state.seen or ()
    ]
