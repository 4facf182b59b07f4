"""What an owner cares about: what they learn, like, ask for and have told.

The same methods serve the chat, the command line and Python; they compose the parts of `interest`
and hold no rule. Without a search provider everything but searching works.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from factbook import policy
from factbook.context import part
from factbook.embed.halves import unpacked
from factbook.errors import NotFound, UsageError
from factbook.extract.mentions import RECENT_MESSAGES, asked_about, spoken_of
from factbook.extract.things import asked_names, is_of_owner
from factbook.extract.voice import voice_of
from factbook.extract.world import is_kind
from factbook.gate.names import command_problem, structural_problem
from factbook.gate.same_entity import known_as
from factbook.interests.knowledge import knowledge
from factbook.interests.learning import queries_for
from factbook.interests.lookup import Lookup
from factbook.interests.relate import PreferenceRelation, is_family, related, shares
from factbook.interests.score import interests
from factbook.model.entities import (
    Engagement,
    EngagementType,
    Entity,
    LearnPrompt,
    Notice,
    NoticeState,
    NotifyState,
    Preference,
    PreferenceType,
    Schedule,
    SearchAnswer,
    SearchLog,
    SearchState,
    Valence,
)
from factbook.model.facts import (
    EVERYONE,
    ME,
    EpisodeKind,
    Fact,
    Millis,
    Receipt,
    Role,
    Trigger,
    one_owner,
)
from factbook.model.interest_ops import (
    CreateEntity,
    DropPreference,
    DropSchedule,
    MuteEntity,
    MuteOwner,
    NoteAction,
    OpenLearnPrompt,
    RestoreEntity,
    RetireEntity,
    SetPreference,
    SetSchedule,
    UnmergeEntity,
)
from factbook.model.keys import entity_name, without_hidden
from factbook.pipelines.world_names import engaged
from factbook.recall.facts import shown
from factbook.recall.known import joined
from factbook.redaction.labels import without_labels
from factbook.sources.told import digest, said_ops
from factbook.store.derived.counts import row_owners
from factbook.store.derived.entities import (
    about_vectors,
    engagements_of,
    entities_of,
    entity_named,
    fact_places,
    known_names,
    names_by_id,
    preferences_of,
    world_facts,
)
from factbook.store.derived.ledger import said_before
from factbook.store.derived.notices import notices_of, notify_state
from factbook.store.derived.searches import (
    learn_prompts,
    learned_of,
    schedules_of,
    search_logs,
    search_tasks,
)
from factbook.store.rows import LifeWhere

if TYPE_CHECKING:
    from factbook.context import Context
    from factbook.interests.knowledge import Knowledge
    from factbook.model.ops import Op
    from factbook.store.port import Store


KIND_FACTS: Final = 8  # facts that are looked at for how they write a name
NUMBER_DIGITS: Final = 18  # more are no number of a row
ARTICLES: Final = ("the ", "a ", "an ")


@dataclass(frozen=True, slots=True, kw_only=True)
class LearnStatus:
    """How far a thing to be learned has come: prompt -> searches -> facts -> entities."""

    prompt: LearnPrompt
    entities: Sequence[tuple[Entity, int]]  # with the facts that its searches gave, most first
    searches: Sequence[SearchLog]
    failed: Sequence[tuple[str, str]]  # (query, why) of searches that wait for another try

    @property
    def done(self) -> bool:
        """Tell whether nothing of it is left to do."""
        return self.prompt.status == "completed"


@dataclass(frozen=True, slots=True, kw_only=True)
class EntityView:
    """An entity with what is known of it."""

    entity: Entity
    interest: float
    facts: Sequence[Fact]  # newest first
    places: Mapping[int, tuple[str, int | None]]  # fact id -> (address, search that found it)
    engagements: Sequence[Engagement]  # newest first
    preferences: Sequence[tuple[Preference, float]]  # about it, with their cosine


@dataclass(frozen=True, slots=True, kw_only=True)
class InterestRow:
    """How much an owner cares about an entity (name, score, facts, last activity)."""

    entity: Entity
    score: float
    fact_count: int
    last_activity: Millis | None


@part
class Interests:
    """What a memory knows of what its owners care about; `Memory.interests`."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._store = context.store
        # owner -> (commit, entities cared about)
        self._cared: dict[str, tuple[int, frozenset[str]]] = {}

    def search_web(
        self, query: str, *, owner: str = ME, message: str = ""
    ) -> tuple[SearchAnswer, SearchLog]:
        """Search for what an owner asks for, keep the results, return them; they are read later.

        `message` is the uid of a turn that the search is made for: what it names and how is read
        from it, and not from the query. Raises SearchError.
        """
        text = self._some(query, "search for")
        lookup = Lookup(self._context)
        if message:
            return lookup.search(text, owner=owner, trigger=Trigger.USER_MESSAGE, episode=message)
        uid, ops = self._said(f"/search {text}", owner)
        ops += self._topic_ops(text, EngagementType.SEARCH_INITIATED, owner, uid)
        self._context.write(ops, Trigger.USER_MESSAGE)
        return lookup.search(text, owner=owner, trigger=Trigger.USER_MESSAGE, episode=uid)

    def learn(self, request: str, *, owner: str = ME) -> LearnPrompt:
        """Keep that something is to be learned and return at once; its searches are made behind.

        Raises UsageError for an empty request.
        """
        text = self._some(request, "learn about")
        uid, ops = self._said(f"/learn {text}", owner)
        queries = () if self._context.resources.has_model else queries_for(text)
        ops.append(OpenLearnPrompt(owner=owner, text=text, queries=queries, episode=uid))
        ops += self._topic_ops(text, EngagementType.LEARN_COMMAND, owner, uid)
        self._context.write(ops, Trigger.LEARN_COMMAND)
        return learn_prompts(self._store, owner, cause=uid)[-1]

    def learned(self, *, owner: str = ME) -> list[LearnStatus]:
        """Return how far everything that was to be learned has come, oldest first.

        What was erased since is not among it.
        """
        waiting = search_tasks(self._store, states=(SearchState.FAILED, SearchState.ASIDE))
        return [
            LearnStatus(
                prompt=prompt,
                entities=learned_of(self._store, prompt.id),
                searches=search_logs(self._store, owner, learn_prompt_id=prompt.id),
                failed=[
                    (task.query, task.error)
                    for task in waiting
                    if task.learn_prompt_id == prompt.id
                ],
            )
            for prompt in learn_prompts(self._store, owner)
            if prompt.text != f"erased:{prompt.id}"  # what the store leaves of such a row
        ]

    def like(self, topic: str, *, owner: str = ME) -> Receipt:
        """Keep that an owner likes a topic; it becomes an entity where it is none yet."""
        return self._prefer(topic, PreferenceType.LIKE, owner)

    def dislike(self, topic: str, *, owner: str = ME) -> Receipt:
        """Keep that an owner dislikes a topic."""
        return self._prefer(topic, PreferenceType.DISLIKE, owner)

    def unlike(self, topic: str, *, owner: str = ME) -> Receipt:
        """Take back a like; what it added to the interest goes with it."""
        return self._unprefer(topic, PreferenceType.LIKE, owner)

    def undislike(self, topic: str, *, owner: str = ME) -> Receipt:
        """Take back a dislike."""
        return self._unprefer(topic, PreferenceType.DISLIKE, owner)

    def _prefer(self, topic: str, kind: PreferenceType, owner: str) -> Receipt:
        text = self._some(topic, str(kind))
        name = topic_of(self._store, text, owner)
        if len(name.split()) > policy.NAME_WORDS:
            raise UsageError(
                detail=f"what to {kind} has {len(name.split())} words; {policy.NAME_WORDS} are the"
                " most: name one thing"
            )
        uid, ops = self._said(f"/{kind} {text}", owner)
        ops.append(SetPreference(owner=owner, topic=name, type=kind, episode=uid))
        liked = kind is PreferenceType.LIKE
        entity = known_as(name, known_names(self._store, owner), written=text)
        if liked and entity is None and command_problem(name) is None:
            ops.append(CreateEntity(owner=owner, name=name, episode=uid))
        done = EngagementType.LIKE_COMMAND if liked else EngagementType.DISLIKE_COMMAND
        ops.append(engaged(owner, done, uid, entity=entity or name, preference=name))
        return self._context.write(ops, Trigger.COMMAND)

    def _unprefer(self, topic: str, kind: PreferenceType, owner: str) -> Receipt:
        text = self._some(topic, f"un{kind}")
        name = topic_of(self._store, text, owner)
        known = {one.topic for one in preferences_of(self._store, owner) if one.type is kind}
        if name not in known:
            listed = ", ".join(sorted(known)) or "nothing"
            raise NotFound(what=kind, name=name, hint=f"you {kind} {listed}.")
        _, ops = self._said(f"/un{kind} {text}", owner)
        ops.append(DropPreference(owner=owner, topic=name, type=kind))
        return self._context.write(ops, Trigger.COMMAND)

    def entities(
        self, *, owner: str = ME, include_retired: bool = False, ids: Collection[int] | None = None
    ) -> list[Entity]:
        """Return the entities of an owner in the order in which they came in.

        The numbers of the current ones in `/memory` are their places here.
        """
        return entities_of(self._store, owner, include_retired=include_retired, ids=ids)

    def pages(
        self, fact_ids: Sequence[int], *, owner: str = ME
    ) -> dict[int, tuple[str, int | None]]:
        """Return (address of the page or "", search that found it first) of an owner's facts."""
        mine = self._store.lives(LifeWhere(ids=fact_ids, owner=owner))
        return fact_places(self._store, [life.id for life in mine])

    def entity(self, which: int | str, *, owner: str = ME) -> EntityView:
        """Return an entity, by its place in `entities` (from 1) or its name, with what is known."""
        with self._store.snapshot():
            entity = self.find_entity(which, owner=owner)
            facts = [
                shown(self._context, fact) for fact in world_facts(self._store, owner, entity.name)
            ]
            return EntityView(
                entity=entity,
                interest=self.interest_scores(owner).get(entity.id, 0.0),
                facts=facts,
                places=fact_places(self._store, [fact.id for fact in facts]),
                engagements=engagements_of(self._store, owner, entity_id=entity.id),
                preferences=self._preferences_about(entity),
            )

    def find_entity(self, which: int | str, *, owner: str = ME) -> Entity:
        """Return an entity by its place in `entities` (from 1) or its name; raises NotFound."""
        text = str(which).strip().removeprefix("#")
        if _is_number(text):
            known = self.entities(owner=owner)
            if 1 <= int(text) <= len(known):
                return known[int(text) - 1]
        entity = entity_named(self._store, owner, entity_name(text)) if text else None
        if entity is None:
            raise NotFound(what="entity", name=text, hint="`factbook memory` lists them.")
        return entity

    def named(self, name: str, *, owner: str = ME) -> Entity | None:
        """Return the entity that a text names, by its name alone; None where there is none."""
        key = entity_name(name)
        return entity_named(self._store, owner, key) if key else None

    def topic(self, request: str, *, owner: str = ME) -> str:
        """Return what a like or a dislike in these words is about."""
        return topic_of(self._store, request, owner)

    def delete_entity(self, which: int | str, *, owner: str = ME) -> Entity:
        """Forget an entity and the facts about it; `restore_entity` brings both back.

        A message that names it later does not bring it back, a command of its owner does.
        """
        entity = self.find_entity(which, owner=owner)
        _, ops = self._said(f"/memory {entity.name} delete", owner)
        ops.append(RetireEntity(entity_id=entity.id, why="its owner deleted it"))
        self._context.write(ops, Trigger.COMMAND)
        return entity

    def restore_entity(self, name: str, *, owner: str = ME) -> Entity:
        """Bring back a deleted entity with the facts about it; raises NotFound."""
        wanted = entity_name(name)
        gone = [
            entity
            for entity in entities_of(self._store, owner, include_retired=True)
            if entity.name == wanted and not entity.current and entity.merged_into_id is None
        ]
        if not gone:
            raise NotFound(what="deleted entity", name=wanted, hint="nothing was deleted by it.")
        _, ops = self._said(f"/memory {wanted} restore", owner)
        self._context.write([*ops, RestoreEntity(entity_id=gone[-1].id)], Trigger.COMMAND)
        return self.find_entity(wanted, owner=owner)

    def unmerge_entity(self, entity_id: int, *, owner: str = ME) -> Receipt:
        """Take an entity out of the one it was merged into, with what was its own."""
        if row_owners(self._store, "entity", entity_id) - {one_owner(owner)}:
            raise NotFound(what="entity", name=entity_id, hint="`factbook entities` lists them.")
        return self._context.write([UnmergeEntity(entity_id=entity_id)], Trigger.COMMAND)

    def schedule(self, topic: str, every_ms: int, *, owner: str = ME) -> Schedule:
        """Search for a topic again and again, for the first time now.

        One that has a schedule keeps it, and it comes as often as is said now.
        """
        text = self._some(topic, "schedule")
        uid, ops = self._said(f"/schedule {text}", owner)
        ops.append(
            SetSchedule(
                owner=owner,
                topic=text,
                every_ms=every_ms,
                next_at=self._context.clock(),
                episode=uid,
            )
        )
        ops += self._topic_ops(text, EngagementType.SEARCH_INITIATED, owner, uid)
        self._context.write(ops, Trigger.COMMAND)
        going = schedules_of(self._store, owner)
        return next(one for one in going if one.topic.casefold() == text.casefold())

    def schedules(self, *, owner: str = ME) -> list[Schedule]:
        """Return the schedules of an owner, oldest first; their numbers are their places."""
        return schedules_of(self._store, owner)

    def unschedule(self, place: int, *, owner: str = ME) -> Schedule:
        """End a schedule by its place in `schedules` (from 1); raises NotFound."""
        known = self.schedules(owner=owner)
        if not 1 <= place <= len(known):
            raise NotFound(what="schedule", name=place, hint="`factbook schedule` lists them.")
        schedule = known[place - 1]
        _, ops = self._said(f"/schedule {place} delete", owner)
        self._context.write([*ops, DropSchedule(schedule_id=schedule.id)], Trigger.COMMAND)
        return schedule

    def mute(self, which: int | str | None = None, *, muted: bool = True, owner: str = ME) -> str:
        """Tell nothing by itself, of one entity or at all, or begin again; return of what."""
        verb = "/mute" if muted else "/unmute"
        if which is None:
            _, ops = self._said(verb, owner)
            self._context.write([*ops, MuteOwner(owner=owner, muted=muted)], Trigger.COMMAND)
            return ""
        entity = self.find_entity(which, owner=owner)
        _, ops = self._said(f"{verb} {entity.name}", owner)
        self._context.write([*ops, MuteEntity(entity_id=entity.id, muted=muted)], Trigger.COMMAND)
        return entity.name

    def react(self, target: str, emoji: str, *, owner: str = ME) -> Receipt:
        """Take a reaction to a notice ("n3") or to a message of a conversation ("e12").

        Raises UsageError for an emoji that says neither yes nor no, and NotFound.
        """
        positive = emoji in _signs(policy.POSITIVE_REACTIONS)
        if not positive and emoji not in _signs(policy.NEGATIVE_REACTIONS):
            known = " ".join((*policy.POSITIVE_REACTIONS, *policy.NEGATIVE_REACTIONS))
            raise UsageError(detail=f"{emoji!r} is no reaction; use one of {known}")
        kind, number = target[:1], target[1:]
        if kind not in ("n", "e") or not _is_number(number):
            raise UsageError(detail=f"{target!r} is no target; use n3 for a notice, e12 for a turn")
        done, names = self._reacted_to(kind, int(number), owner, positive=positive)
        valence = Valence.POSITIVE if positive else Valence.NEGATIVE
        uid, ops = self._said(f"{emoji} {target}", owner)
        ops += [engaged(owner, done, uid, entity=name, valence=valence) for name in names]
        return self._context.write(ops, Trigger.COMMAND)

    def _reacted_to(
        self, kind: str, number: int, owner: str, *, positive: bool
    ) -> tuple[EngagementType, list[str]]:
        if kind == "n":
            notices = notices_of(self._store, owner, ids=[number])
            if not notices:
                raise NotFound(what="notice", name=number, hint="`factbook notices` lists them.")
            entity = self._standing_entity(notices[0].entity_id)
            engaged = (
                EngagementType.PROACTIVE_POSITIVE_REACTION
                if positive
                else EngagementType.PROACTIVE_NEGATIVE_REACTION
            )
            return engaged, [entity.name] if entity.current else []
        episode = self._store.episodes_by_id([number]).get(number)
        if episode is None or episode.owner != owner or episode.role is not Role.ASSISTANT:
            raise NotFound(what="answer", name=number, hint="react to a turn of the assistant.")
        names = spoken_of([episode.text], known_names(self._store, owner))
        return EngagementType.NORMAL_REACTION, names

    def _standing_entity(self, entity_id: int) -> Entity:
        row = entities_of(self._store, EVERYONE, include_retired=True, ids=[entity_id])[0]
        return row if row.merged_into_id is None else self._standing_entity(row.merged_into_id)

    def interest_scores(self, owner: str = ME, *, at: Millis | None = None) -> dict[int, float]:
        """Return the interest of an owner's entities by id.

        What a preference that was taken back had added counts no more.
        """
        now = self._context.clock() if at is None else at
        return interests(self._counted(owner), now, shares=shares(self._relations(owner)))

    def _counted(self, owner: str) -> list[Engagement]:
        kept = {preference.id for preference in preferences_of(self._store, owner)}
        return [
            engagement
            for engagement in engagements_of(self._store, owner)
            if engagement.preference_id is None or engagement.preference_id in kept
        ]

    def is_interested(self, owner: str, entity: str) -> bool:
        """Tell whether an owner cares about an entity, by its canonical name (interest above 0)."""
        commit = self._store.head(owner).memory
        known = self._cared.get(owner)
        if known is None or known[0] != commit:
            # Without what preferences add by their vectors: a turn must not wait for that.
            scores = interests(self._counted(owner), self._context.clock())
            names = names_by_id(self._store, owner)
            cared = frozenset(name for key, name in names.items() if scores.get(key, 0.0) > 0)
            self._cared[owner] = known = (commit, cared)
        return entity in known[1]

    def ranked(self, *, owner: str = ME) -> list[InterestRow]:
        """Return an owner's entities by how much they are cared about, most first."""
        scores = self.interest_scores(owner)
        rows = [
            InterestRow(
                entity=entity,
                score=scores.get(entity.id, 0.0),
                fact_count=entity.fact_count,
                last_activity=entity.last_activity,
            )
            for entity in entities_of(self._store, owner)
        ]
        return sorted(rows, key=lambda row: (-row.score, row.entity.id))

    def preferences(self, *, owner: str = ME, include_retired: bool = False) -> list[Preference]:
        """Return what an owner likes and dislikes, oldest first."""
        return preferences_of(self._store, owner, include_retired=include_retired)

    def engagements(self, preference_id: int, *, owner: str = ME) -> list[Engagement]:
        """Return what an owner did about a preference, newest first."""
        return engagements_of(self._store, owner, preference_id=preference_id)

    def _relations(self, owner: str) -> list[PreferenceRelation]:
        entities = names_by_id(self._store, owner)
        names = frozenset(entities.values())
        preferences = [
            preference.id
            for preference in preferences_of(self._store, owner)
            if is_family(
                preference.topic,
                is_entity=preference.topic in names,
                is_kind=self._is_kind(owner, preference.topic)
                if preference.topic in names
                else None,
            )
        ]
        if not preferences or not entities:
            return []
        known = joined(
            unpacked(*self._store.vectors("entity", list(entities))),
            unpacked(*about_vectors(self._store, owner)),  # what is known tells, too
        )
        liked = unpacked(*self._store.vectors("preference", preferences))
        return related(liked, known)

    def _is_kind(self, owner: str, name: str) -> bool | None:
        known = world_facts(self._store, owner, name, limit=KIND_FACTS)
        return is_kind(name, [fact.object for fact in known])

    def _preferences_about(self, entity: Entity) -> list[tuple[Preference, float]]:
        known = {one.id: one for one in preferences_of(self._store, entity.owner)}
        return [
            (known[preference], cosine)
            for preference, about, cosine in self._relations(entity.owner)
            if about == entity.id
        ]

    def notify_state(self, *, owner: str = ME) -> NotifyState:
        """Return how much an owner was told without answering."""
        return notify_state(self._store, owner)

    def searches(self, *, owner: str = ME) -> list[SearchLog]:
        """Return the searches that were made for an owner, oldest first."""
        return search_logs(self._store, owner)

    def learn_prompts(self, *, owner: str = ME) -> list[LearnPrompt]:
        """Return what an owner asked to be learned, oldest first."""
        return learn_prompts(self._store, owner)

    def notices(
        self,
        *,
        owner: str = ME,
        states: Sequence[NoticeState] = (),
        ids: Sequence[int] | None = None,
        limit: int | None = None,
    ) -> list[Notice]:
        """Return what was told, or waits to be told, by itself, oldest first."""
        return notices_of(self._store, owner, states=states, ids=ids, limit=limit)

    def knowledge(
        self,
        message: str,
        *,
        owner: str = ME,
        recent: Sequence[str] = (),
        pasted: Sequence[tuple[int, int]] = (),
    ) -> Knowledge:
        """Return what is known of what a message asks about, and whether it is enough.

        `recent` are the texts that were said before it, newest first: "it" may refer to what they
        are about. `pasted` are the parts of the message that `add_turn` was told of: nothing in
        them asks for a search in its owner's name. Nothing is searched for and nothing is written.
        """
        return knowledge(self._context, message, owner=owner, recent=recent, pasted=pasted)

    def search_for(
        self, query: str, *, episode: str, owner: str = ME
    ) -> tuple[SearchAnswer, SearchLog]:
        """Search for the answer to a message of an owner, kept as `episode` (its uid).

        What the message itself asks about by name may become an entity; what only the query names
        may not, for a model may have written it after reading pages of others: such a search is
        read for facts about known entities alone. What may be a private matter is not sent
        (`SearchFailure.WITHHELD`). Raises SearchError, and NotFound where there is no such message.
        """
        held = self._store.episode_ids([episode]).get(episode)
        message = self._store.episodes_by_id([held])[held] if held is not None else None
        if message is None or message.owner != owner or message.role is not Role.USER:
            raise NotFound(what="message", name=episode, hint="keep it first, with `add_turn`.")
        lookup = Lookup(self._context)
        lookup.cleared(query, owner=owner, cause=held)  # before anything comes of its names
        # A folder may be asked what is private; no entity comes of that.
        public = lookup.verdict(query, owner=owner, cause=held).leaves
        known = known_names(self._store, owner)
        asked = voice_of(message).text
        ops: list[Op] = [
            CreateEntity(owner=owner, name=name, episode=episode)
            for name in (asked_names(asked, known, problem=structural_problem) if public else ())
        ]
        if ops:
            self._context.write(ops, Trigger.USER_MESSAGE)
        before = said_before(self._store, message, limit=2 * RECENT_MESSAGES)
        said = [message.text, *(turn.text for turn in before if turn.role is Role.USER)]
        own = public and is_of_owner(query, said=said, known=known)
        return lookup.search(
            query,
            owner=owner,
            trigger=Trigger.USER_MESSAGE if own else Trigger.ENRICHMENT,
            episode=episode,
        )

    def note_action(self, *, owner: str = ME) -> None:
        """Say that an owner did something just now: notices may come at once again."""
        self._context.write([NoteAction(owner=owner)], Trigger.USER_MESSAGE)

    def _said(self, text: str, owner: str) -> tuple[str, list[Op]]:
        now = self._context.clock()
        uid = f"command:{digest(owner, text, str(now), str(self._store.head().commit))}"
        return uid, said_ops(
            text,
            uid=uid,
            owner=owner,
            at=now,
            what="commands",
            title="commands",
            kind=EpisodeKind.COMMAND,
            embed=False,
        )

    def _topic_ops(self, text: str, kind: EngagementType, owner: str, uid: str) -> list[Op]:
        """Return the ops that bring in what an owner asks about, by name, and note the interest."""
        known = known_names(self._store, owner)
        name = asked_about(text, known=known)
        if name not in known and (structural_problem(name) or command_problem(text)) is not None:
            return []
        name = known_as(name, known, written=text) or name
        done = engaged(owner, kind, uid, entity=name)
        if name in known.values():  # "mirden golford" may be said of "the mirden golford"
            return [done]
        return [CreateEntity(owner=owner, name=name, episode=uid), done]

    def _some(self, text: str, verb: str) -> str:
        # What was copied from a page may hold signs that nobody sees, and that break a word in two.
        said = " ".join(self._context.redact(without_hidden(text)).split())
        if not said:
            raise UsageError(detail=f"say what to {verb}")
        if not any(map(str.isalnum, entity_name(without_labels(said)))):  # nor does a secret
            raise UsageError(detail=f"{said!r} names nothing to {verb}")
        if len(said) > policy.VALUE_CHARS:
            raise UsageError(
                detail=f"what to {verb} has {len(said)} characters; {policy.VALUE_CHARS} are the"
                " most"
            )
        return said


def topic_of(store: Store, text: str, owner: str) -> str:
    """Return the topic of a preference that a text names, canonical; "" where it names nothing.

    What is kept of a topic, with or without its article, stays its name, and so does a known
    entity. Else an article goes that was not written as a part of the name: "The Who" keeps its
    own, and so does what is written all in small letters.
    """
    name = entity_name(text)
    article = next((article for article in ARTICLES if name.startswith(article)), "")
    bare = name.removeprefix(article)
    known = known_names(store, owner)
    kept = {preference.topic for preference in preferences_of(store, owner)}
    if article and name in known and name not in kept:
        return known[name]
    for form in (name, bare, *(article + bare for article in ARTICLES)):
        if form in kept:
            return form
    for form in (name, bare):
        entity = known_as(form, known, written=text)
        if entity is not None:
            return entity
    said = " ".join(text.split())
    rest = said.removeprefix(article)
    return name if rest == said or rest.islower() else bare


def _is_number(text: str) -> bool:
    """Tell whether a text is a number as people count and a store keeps them."""
    return text.isascii() and text.isdigit() and len(text) <= NUMBER_DIGITS


def _signs(emojis: Sequence[str]) -> set[str]:
    """Return emojis with and without the sign that asks for their picture."""
    return {form for emoji in emojis for form in (emoji, emoji.replace("\ufe0f", ""))}
