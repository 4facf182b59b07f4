"""4 apply: what people care about (seed 003). Called by `apply` alone, inside its transaction.

Who caused a text decides what it may do, and it is decided here, on the rows as they are under the
write lock: an entity comes in by what its owner said or asked for, or by a result of a search that
its owner caused, whatever an extractor or a model says. Everything about entities can be taken
back; what was told unasked is counted before it is sent, so that no two processes tell too much.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from factbook import policy
from factbook.errors import NotAllowed, NotFound, TakenOver, UsageError
from factbook.gate.names import command_problem, structural_problem
from factbook.language.nouns import singular
from factbook.model.backoff import may_send
from factbook.model.entities import (
    Engagement,
    Entity,
    Notice,
    NoticeKind,
    NoticeState,
    Preference,
    Schedule,
    SearchState,
    SearchTask,
    Valence,
)
from factbook.model.facts import (
    EVERYONE,
    EpisodeKind,
    Event,
    Millis,
    Receipt,
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
    DropSchedule,
    FailResult,
    FailSearch,
    Fence,
    FinishNotice,
    KeepSeen,
    MarkDiscovered,
    MarkExtracted,
    MarkHeard,
    MarkResultRead,
    MergeEntities,
    MuteEntity,
    MuteOwner,
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
from factbook.model.keys import entity_name
from factbook.model.ops import MergeFacts, Op, UnmergeFact
from factbook.store.base import Writer, claim_digest
from factbook.store.derived.entities import (
    deleted_entity,
    entities_by_id,
    entity_named,
    preference_of,
    world_lives,
)
from factbook.store.derived.facts import current_by_claim, lives_by_id
from factbook.store.derived.notices import notices_of, notify_state, row_of, waiting_notice
from factbook.store.derived.searches import LEFT, search_triggers
from factbook.store.kinds import (
    ALIAS,
    ENGAGEMENT,
    ENTITY,
    LEARN_PROMPT,
    NOTICE,
    NOTICE_FACT,
    NOTIFY,
    PREFERENCE,
    SCHEDULE,
    SEARCH_FIND,
    SEARCH_LOG,
    SEARCH_RESULT,
    SEARCH_TASK,
    Alias,
    EntityRow,
    FindRow,
    NoticeFact,
    PromptRow,
    ResultRow,
    SearchRow,
)
from factbook.store.leases import stands
from factbook.store.port import events_of, first, one_id
from factbook.store.rows import Life

if TYPE_CHECKING:
    from factbook.extract.voice import OwnWords

# The searches that may bring entities in (seed 003's trigger table).
_ASKED = frozenset({Trigger.USER_MESSAGE, Trigger.LEARN_COMMAND})
_SEARCHING = _ASKED | {Trigger.ENRICHMENT}


class FactChanges(Protocol):
    """What changes of entities need of the changes of facts (`Changes`)."""

    def change(
        self,
        op: str,
        before: Life,
        after: Life,
        *,
        why: str,
        detail: Mapping[str, object] | None = None,
    ) -> None:
        """Write a fact with its event."""

    def event(
        self, op: str, kind: str, target: int, detail: Mapping[str, object] | None = None
    ) -> None:
        """Append to the history."""

    def merge(self, op: MergeFacts) -> None:
        """Merge facts."""

    def unmerge(self, op: UnmergeFact) -> None:
        """Take a merged fact out again."""

    def voice(self, episode_id: int) -> OwnWords:
        """Return which words of an episode are its owner's own; None where that is no question."""


class WorldChanges:
    """The changes of entities, engagements, searches and notices of one call of `apply`."""

    def __init__(
        self,
        writer: Writer,
        receipt: Receipt,
        facts: FactChanges,
        *,
        now: Millis,
        trigger: Trigger,
    ) -> None:
        self._writer = writer
        self._receipt = receipt
        self._facts = facts
        self._now = now
        self._trigger = trigger
        self._stored: dict[tuple[str, str], dict[str, int]] = {}  # (owner, name) -> object -> id
        self._known: dict[tuple[str, str], Entity | None] = {}

    def run(self, op: Op) -> None:
        """Apply one op."""
        _HANDLERS[type(op)](self, op)

    # --- what facts need ------------------------------------------------------------------------

    def knows(self, owner: str, name: str) -> bool:
        """Tell whether a canonical name is that of a current entity of an owner."""
        found = self._entity(owner, name)
        return found is not None and found.name == name

    def stored(self, owner: str, name: str, text: str, fact_id: int) -> None:
        """Take note of a fact about an entity that this call stored."""
        self._stored.setdefault((owner, name), {})[text] = fact_id

    # --- entities -------------------------------------------------------------------------------

    def create(self, op: CreateEntity) -> None:
        """Make an entity known, if what brings it in may."""
        if op.name != entity_name(op.name):
            raise UsageError(
                detail=f"{op.name!r} is not the canonical name of an entity;"
                f" {entity_name(op.name)!r} is"
            )
        episode_id, kind = self._cause(op)
        typed = kind is EpisodeKind.COMMAND  # a person's word for a thing is a name
        problem = command_problem(op.name) if typed else structural_problem(op.name)
        if problem:
            raise UsageError(detail=f"{op.name!r:.80} is no name of an entity: {problem}")
        if self._entity(op.owner, op.name) is not None:
            self._receipt.unchanged += 1
            return
        deleted = deleted_entity(self._writer, op.owner, op.name)
        if deleted is not None:
            event = self._last(deleted.id, "retire")
            by_owner = event.trigger is not Trigger.UPKEEP
            if by_owner and kind is not EpisodeKind.COMMAND:  # and its owner did not ask again
                counts = self._receipt.rejections
                counts["deleted_by_owner"] = counts.get("deleted_by_owner", 0) + 1
                return
            self._bring_back(deleted, why="it is spoken of again")
            return
        row = EntityRow(0, op.owner, op.name, self._now, self._now, episode_id, self._trigger)
        entity_id = one_id(self._writer.add(ENTITY, [row]))
        self._known.pop((op.owner, op.name), None)
        self._receipt.entities += 1
        self._facts.event("store", "entity", entity_id, {"cause": f"episode:{episode_id}"})

    def _cause(self, op: CreateEntity) -> tuple[int, EpisodeKind]:
        """Return the episode that brings an entity in; raises NotAllowed where it must not."""
        episode_id = self._episode(op.episode)
        witness = self._writer.heads([episode_id])[episode_id]
        if witness.owner != op.owner or witness.injected:
            raise NotAllowed(trigger=self._trigger, op=f"CreateEntity by {op.episode}")
        if not _stands_in(op.name, self._own_text(episode_id)):
            raise NotAllowed(
                trigger=self._trigger, op=f"CreateEntity of what {op.episode} does not name"
            )
        if witness.trust is Trust.DIRECT:
            return episode_id, witness.kind
        asked = search_triggers(self._writer, op.owner, episode_id) & _ASKED
        if witness.kind is EpisodeKind.SEARCH_RESULT and asked:
            return episode_id, witness.kind
        raise NotAllowed(trigger=self._trigger, op=f"CreateEntity by {op.episode}")

    def add_alias(self, op: AddAlias) -> None:
        """Let an entity be known by another name, unless that is another entity's."""
        entity = self._entity(op.owner, op.entity)
        if (
            entity is None
            or not op.alias
            or op.alias != entity_name(op.alias)
            or self._entity(op.owner, op.alias) is not None
            or self._writer.add(ALIAS, [Alias(op.owner, op.alias, entity.id)]) == [None]
        ):
            self._receipt.unchanged += 1
            return
        self._known.clear()
        self._receipt.updated += 1
        self._facts.event("alias", "entity", entity.id, {"alias": op.alias})

    def merge(self, op: MergeEntities) -> None:
        """Give the winner the loser's facts, engagements and names, and retire the loser."""
        winner, loser = self._life(op.winner_id), self._life(op.loser_id)
        if winner.owner != loser.owner:
            raise UsageError(
                detail=f"entity {winner.id} is of {winner.owner} and entity {loser.id} of"
                f" {loser.owner}; a merge stays with one owner"
            )
        if not (winner.current and loser.current) or winner.id == loser.id:
            self._receipt.unchanged += 1  # somebody changed one of them: the next run looks again
            return
        moved, merged = self._move_facts(loser, winner, op)
        engagements = self._move_engagements(None, loser.id, winner.id)
        self._write(loser._replace(retired_at=self._now, merged_into_id=winner.id))
        names = [*loser.aliases]
        self._writer.put(ALIAS, [Alias(loser.owner, name, winner.id) for name in names])
        if self._writer.add(ALIAS, [Alias(loser.owner, loser.name, winner.id)]) != [None]:
            names.append(loser.name)
        mutes = loser.muted and not winner.muted
        winner = winner._replace(muted=winner.muted or mutes)
        self._write(winner)
        self._hand_over(loser, winner, muted=winner.muted)
        self._known.clear()
        self._receipt.merged += 1
        self._facts.event(
            "merge",
            "entity",
            loser.id,
            {
                "winner": winner.id,
                "why": op.rule,
                "says": op.detail,
                "moved": moved,
                "merged": merged,
                "engagements": engagements,
                "names": names,
                "muted_by_it": mutes,
            },
        )

    def _hand_over(self, loser: Entity, winner: Entity, *, muted: bool) -> None:
        """Let what waits to be told of one entity be told of the other."""
        waiting = waiting_notice(self._writer, loser.owner, loser.id)
        if waiting is None:
            return
        if not muted and winner.current:
            other = waiting_notice(self._writer, winner.owner, winner.id)
            if other is not None:
                self._tell(other.id, waiting.fact_ids)
            else:
                moved = waiting._replace(id=0, entity_id=winner.id, kind=NoticeKind.LEARNED)
                self._add_notice(moved._replace(created_at=self._now))
        self._drop(waiting, f"it is now known as {winner.name}")

    def _move_facts(
        self, loser: Entity, winner: Entity, op: MergeEntities
    ) -> tuple[list[int], list[int]]:
        """Let the facts about one entity be about another; what both have is merged."""
        lives = {life.id: life for life in world_lives(self._writer, loser.owner, loser.name)}
        claims = {
            one: claim_digest(life.owner, winner.name, life.predicate, life.object)
            for one, life in lives.items()
        }
        there = current_by_claim(self._writer, list(claims.values()))
        moved: list[int] = []
        merged: list[int] = []
        for one, life in sorted(lives.items()):
            known = there.get(claims[one])
            if known is None:
                moves = life._replace(subject=winner.name, claim=claims[one])
                self._writer.put_facts([(life, moves)])
                self._facts.event("move", "fact", one, {"from": loser.name, "to": winner.name})
                moved.append(one)
                continue
            counts = [known.evidence_count, life.evidence_count]
            self._facts.merge(
                MergeFacts(
                    winner_id=known.id, loser_ids=[one], evidence_counts=counts, rule=op.rule
                )
            )
            merged.append(one)
        return moved, merged

    def unmerge(self, op: UnmergeEntity) -> None:
        """Take an entity out of the one it was merged into, with what was its own then."""
        loser = self._life(op.entity_id)
        if loser.merged_into_id is None:
            raise UsageError(detail=f"entity {loser.id} was not merged into another one")
        if self._plain(loser.owner, loser.name) is not None:
            raise UsageError(
                detail=f"{loser.name} was brought in again since and is another entity now;"
                " there is nothing to take out"
            )
        event: Mapping[str, Any] = self._last(loser.id, "merge").detail
        winner = self._life(int(event["winner"]))
        if winner.merged_into_id is not None:
            # What is this one's went on with it, and comes back only the way it went.
            raise UsageError(
                detail=f"{winner.name}, which {loser.name} was merged into, was itself merged into"
                f" entity {winner.merged_into_id}; take entity {winner.id} out of there first"
            )
        self._writer.drop(ALIAS, {"owner": loser.owner, "name": event["names"]})
        self._write(loser._replace(retired_at=None, merged_into_id=None))
        self._known.clear()
        others = [name for name in event["names"] if name != loser.name]
        self._writer.add(ALIAS, [Alias(loser.owner, name, loser.id) for name in others])
        lives = lives_by_id(self._writer, [*event["moved"], *event["merged"]])
        for one in event["moved"]:
            life = lives[one]
            claim = claim_digest(life.owner, loser.name, life.predicate, life.object)
            if (
                life.current
                and life.owner == loser.owner
                and not current_by_claim(self._writer, [claim])
            ):
                self._writer.put_facts([(life, life._replace(subject=loser.name, claim=claim))])
                self._facts.event("move", "fact", one, {"from": life.subject, "to": loser.name})
        for one in event["merged"]:
            if lives[one].merged_into_id is not None:
                self._facts.unmerge(UnmergeFact(fact_id=one))
        self._move_engagements(event["engagements"], winner.id, loser.id)
        unmuted = bool(event.get("muted_by_it")) and winner.current
        self._write(winner._replace(muted=winner.muted and not unmuted))
        self._receipt.unmerged += 1
        self._facts.event("unmerge", "entity", loser.id, {"winner": winner.id})

    def retire(self, op: RetireEntity) -> None:
        """Forget an entity and the facts about it."""
        entity = self._life(op.entity_id)
        if not entity.current:
            self._receipt.unchanged += 1
            return
        gone: list[int] = []
        for life in world_lives(self._writer, entity.owner, entity.name):
            self._writer.drop_vectors("fact", [life.id])
            retired = life._replace(
                status=Status.RETRACTED,
                retired_at=self._now,
                valid_to=life.valid_to,
            )
            self._facts.change("retract", life, retired, why=op.why)
            gone.append(life.id)
        waiting = waiting_notice(self._writer, entity.owner, entity.id)
        if waiting is not None:
            self._drop(waiting, "its entity was removed")
        self._write(entity._replace(retired_at=self._now))
        self._known.clear()
        self._receipt.retracted += 1
        self._facts.event("retire", "entity", entity.id, {"why": op.why, "facts": gone})

    def restore(self, op: RestoreEntity) -> None:
        """Bring an entity back that was forgotten."""
        entity = self._life(op.entity_id)
        if entity.merged_into_id is not None:
            raise UsageError(
                detail=f"entity {entity.id} was merged into entity {entity.merged_into_id};"
                " take it out of there"
            )
        if entity.current:
            self._receipt.unchanged += 1
            return
        if self._writer.is_erased("entity", entity.id):
            raise UsageError(
                detail=f"entity {entity.id} was erased; there is nothing to bring back"
            )
        if self._plain(entity.owner, entity.name) is not None:
            raise UsageError(detail=f"{entity.name} is known again as another entity")
        self._bring_back(entity, why="its owner brought it back")

    def _bring_back(self, entity: Entity, *, why: str) -> None:
        event: Mapping[str, Any] = self._last(entity.id, "retire").detail
        # Another may go by that name since.
        self._writer.drop(ALIAS, {"owner": entity.owner, "name": entity.name})
        self._write(entity._replace(retired_at=None))
        for one, life in lives_by_id(self._writer, event["facts"]).items():
            if life.status is not Status.RETRACTED or current_by_claim(self._writer, [life.claim]):
                continue
            awake = Status.PENDING_EMBED if life.embeddable else Status.ACTIVE
            self._facts.change(
                "restore", life, life._replace(status=awake, retired_at=None), why=why
            )
            del one
        self._known.clear()
        self._receipt.entities += 1
        self._facts.event("restore", "entity", entity.id, {"why": why})

    def mute(self, op: MuteEntity) -> None:
        """Tell nothing more of an entity, or begin again."""
        entity = self._life(op.entity_id)
        if entity.muted == op.muted:
            self._receipt.unchanged += 1
            return
        self._write(entity._replace(muted=op.muted))
        waiting = waiting_notice(self._writer, entity.owner, entity.id)
        if op.muted and waiting is not None:
            self._drop(waiting, "its owner wants to hear no more of it")
        self._receipt.updated += 1
        self._facts.event("mute" if op.muted else "unmute", "entity", entity.id)

    def mute_owner(self, op: MuteOwner) -> None:
        """Tell an owner nothing, or begin again."""
        state = notify_state(self._writer, op.owner)
        if state.muted == op.muted:
            self._receipt.unchanged += 1
            return
        self._writer.put(NOTIFY, [state._replace(muted=op.muted)])
        self._receipt.updated += 1

    # --- engagements and preferences ------------------------------------------------------------

    def engage(self, op: RecordEngagement) -> None:
        """Keep an engagement; one with a thing that is not known is none."""
        if not 0.0 <= op.strength <= 1.0:  # also refuses NaN
            raise UsageError(
                detail=f"the strength {op.strength} of {op.type} is not between 0 and 1"
            )
        if not (op.entity or op.preference):
            raise UsageError(detail=f"{op.type} is about an entity or a preference")
        entity = self._entity(op.owner, op.entity) if op.entity else None
        liked = preference_of(self._writer, op.owner, op.preference) if op.preference else None
        if entity is None and liked is None:
            self._receipt.unchanged += 1
            return
        named = op.valence is Valence.NEUTRAL  # what others said may name what is known
        episode_id = self._own_words(op.owner, op.episode, heard=named)
        said = self._writer.heads([episode_id])[episode_id].occurred_at
        at = self._now if said is None else min(said, self._now)
        one = Engagement(
            0,
            op.owner,
            entity.id if entity else None,
            liked.id if liked else None,
            op.type,
            op.valence,
            op.strength,
            episode_id,
            at,
        )
        [engagement_id] = self._writer.add(ENGAGEMENT, [one])
        if engagement_id is None:
            self._receipt.unchanged += 1
            return
        if entity is not None:
            self._write(entity)
        self._receipt.engagements += 1
        self._facts.event("store", "engagement", engagement_id, {"type": op.type})

    def set_preference(self, op: SetPreference) -> None:
        """Keep a like or a dislike; the opposite one of the same topic goes."""
        if not op.topic or op.topic != entity_name(op.topic):
            raise UsageError(
                detail=f"{op.topic!r:.80} is not a canonical topic; {entity_name(op.topic)!r} is"
            )
        episode_id = self._own_words(op.owner, op.episode)
        known = preference_of(self._writer, op.owner, op.topic)
        if known is not None and known.type is op.type:
            self._receipt.unchanged += 1
            return
        if known is not None:
            self._writer.put(PREFERENCE, [known._replace(retired_at=self._now)])
            self._facts.event("retire", "preference", known.id, {"why": f"now a {op.type}"})
        row = Preference(0, op.owner, op.topic, op.type, self._now, episode_id=episode_id)
        preference_id = one_id(self._writer.add(PREFERENCE, [row]))
        self._receipt.preferences += 1
        self._facts.event("store", "preference", preference_id, {"type": op.type})

    def drop_preference(self, op: DropPreference) -> None:
        """Take back a like or a dislike."""
        known = preference_of(self._writer, op.owner, op.topic)
        if known is None or known.type is not op.type:
            self._receipt.unchanged += 1
            return
        self._writer.put(PREFERENCE, [known._replace(retired_at=self._now)])
        self._receipt.preferences += 1
        self._facts.event("retire", "preference", known.id, {"why": "its owner took it back"})

    # --- searches -------------------------------------------------------------------------------

    def open_prompt(self, op: OpenLearnPrompt) -> None:
        """Keep what is to be learned, and let its searches wait."""
        episode_id = self._own_words(op.owner, op.episode)
        row = PromptRow(0, op.owner, op.text, "active", episode_id, self._now, self._now)
        prompt_id = one_id(self._writer.add(LEARN_PROMPT, [row]))
        self._facts.event("store", "learn_prompt", prompt_id)
        if op.queries:
            self.plan(PlanLearning(prompt_id=prompt_id, queries=op.queries, planner="rules"))

    def plan(self, op: PlanLearning) -> None:
        """Give what is to be learned its searches; once, whoever is faster."""
        low, high = policy.LEARN_QUERIES
        if not low <= len(op.queries) <= high or not all(one.strip() for one in op.queries):
            raise UsageError(
                detail=f"learning takes {low} to {high} searches, not {len(op.queries)}"
            )
        prompt = first(self._writer, LEARN_PROMPT, {"id": op.prompt_id})
        if prompt is None:
            raise NotFound(what="prompt", name=op.prompt_id, hint="`factbook learn` lists them.")
        planned = {"owner": EVERYONE, "learn_prompt_id": prompt.id}
        if self._writer.find(SEARCH_TASK, planned, limit=1):
            self._receipt.unchanged += 1
            return
        for query in op.queries:
            self._queue(
                prompt.owner,
                query,
                Trigger.LEARN_COMMAND,
                learn_prompt_id=prompt.id,
                cause_id=prompt.episode_id,
            )
        self._receipt.searches += len(op.queries)
        detail = {"searches": len(op.queries), "planner": op.planner}
        self._facts.event("plan", "learn_prompt", op.prompt_id, detail)

    def queue_search(self, op: QueueSearch) -> None:
        """Let a search wait."""
        if op.entity_id is not None and not self._life(op.entity_id).current:
            self._receipt.unchanged += 1
            return
        cause_id = self._own_words(op.owner, op.episode) if op.episode else None
        self._queue(
            op.owner,
            op.query,
            self._search_trigger(),
            entity_id=op.entity_id,
            cause_id=cause_id,
        )
        self._receipt.searches += 1

    def record_search(self, op: RecordSearch) -> None:
        """Keep a search and its results; its task is done."""
        trigger = self._search_trigger()
        task = None if op.task_id is None else self._task(op.task_id)
        if op.task_id is not None:
            if task is None:
                raise NotFound(what="search", name=op.task_id, hint="it was never asked for.")
            if task.trigger is not trigger or task.owner != op.owner:
                raise NotAllowed(trigger=self._trigger, op=f"RecordSearch of task {task.id}")
            self._own(task, op.claimer)
            if task.state is SearchState.DONE:
                self._receipt.unchanged += 1  # another process was faster
                return
        ids = list(dict.fromkeys(self._episode(uid) for uid in op.results))
        heads = self._writer.heads(ids)
        for one in ids:
            external = heads[one].trust is Trust.EXTERNAL
            if heads[one].kind is not EpisodeKind.SEARCH_RESULT or not external:
                raise UsageError(
                    detail=f"episode {one} is no result of a search: results are external text"
                )
            if heads[one].owner != op.owner:
                raise UsageError(detail=f"episode {one} is of {heads[one].owner}")
        entity_id = op.entity_id if task is None else task.entity_id
        cause_id = task.cause_id if task else None
        if op.episode:
            cause_id = self._own_words(op.owner, op.episode)
        row = SearchRow(
            0,
            op.uid,
            op.owner,
            self._now,
            op.query,
            trigger,
            op.provider,
            op.duration_ms,
            extracted=not ids,  # there is nothing to read
            learn_prompt_id=task.learn_prompt_id if task else None,
            entity_id=entity_id,
            cause_id=cause_id,
        )
        search_id = one_id(self._writer.add(SEARCH_LOG, [row]))
        results = [ResultRow(search_id, n, episode_id) for n, episode_id in enumerate(ids)]
        self._writer.add(SEARCH_RESULT, results)
        self._facts.event("store", "search", search_id, {"results": len(ids)})
        if task is not None:
            self._end(task._replace(state=SearchState.DONE, error=""))
        if task is not None and task.learn_prompt_id is not None:
            self._settle(task.learn_prompt_id)
        self._receipt.searches += 1

    def fail_search(self, op: FailSearch) -> None:
        """Leave a search waiting, later with each failure, and set it aside after a few."""
        task = self._task(op.task_id)
        if task is None:
            raise NotFound(what="search", name=op.task_id, hint="it was never asked for.")
        self._own(task, op.claimer)
        if task.state not in (SearchState.QUEUED, SearchState.FAILED):
            self._receipt.unchanged += 1
            return
        attempts = task.attempts + op.tried
        aside = op.aside or attempts >= policy.SEARCH_ATTEMPTS
        self._end(
            task._replace(
                state=SearchState.ASIDE if aside else SearchState.FAILED,
                attempts=attempts,
                error=op.error,
                until=self._now + policy.SEARCH_BACKOFF_MS * 2 ** max(0, attempts - 1),
            )
        )
        self._receipt.updated += 1

    def retry_searches(self, op: RetrySearches) -> None:
        """Let searches that were set aside be tried again, and what could not be read be read."""
        del op
        aside = self._writer.find(SEARCH_TASK, {"owner": EVERYONE, "state": SearchState.ASIDE})
        again = [task._replace(state=SearchState.FAILED, attempts=0, until=0) for task in aside]
        self._writer.put(SEARCH_TASK, again)
        self._receipt.updated += len(again)
        for kind in ("search", "hear"):
            self._receipt.updated += self._writer.retry_tasks(kind)

    def _own(self, task: SearchTask, claimer: str) -> None:
        """Raise TakenOver where another worker makes a search, or has made it."""
        holder, _, until = self._writer.lease(f"search {task.id}")
        if claimer != holder and (claimer or stands(holder, until, now=self._now)):
            raise TakenOver(what=f"search {task.id}")

    def fence(self, op: Fence) -> None:
        """Raise TakenOver where a lease has another holder by now."""
        if self._writer.lease(op.lease)[1] != op.token:
            raise TakenOver(what=op.lease)

    def keep_seen(self, op: KeepSeen) -> None:
        """Remember the new names that a model saw in a result."""
        places = [(one.start, one.end) for one in op.names]
        rows = self._results(op.search_id, op.episode_id)
        self._writer.put(SEARCH_RESULT, [row._replace(seen=places) for row in rows])

    def mark_discovered(self, op: MarkDiscovered) -> None:
        """Remember that a search was looked through for new things."""
        row = first(self._writer, SEARCH_LOG, {"id": op.search_id})
        if row is None or row.discovered:
            self._receipt.unchanged += 1
            return
        self._writer.put(SEARCH_LOG, [row._replace(discovered=True)])

    def mark_result_read(self, op: MarkResultRead) -> None:
        """Remember that a result was read, and which facts of it this call stored."""
        log = self._log(op.search_id)
        rows = [row for row in self._results(log.id, op.episode_id) if not row.is_read]
        if not rows:
            self._receipt.unchanged += 1
            return
        self._writer.put(SEARCH_RESULT, [row._replace(is_read=True) for row in rows])
        finds: list[FindRow] = []
        for one in op.finds:
            entity = self._entity(log.owner, one.entity)
            stored = self._stored.get((log.owner, entity.name), {}) if entity else {}
            if one.object in stored:
                finds.append(FindRow(log.id, stored[one.object], one.nearest))
        self._writer.add(SEARCH_FIND, finds)

    def fail_result(self, op: FailResult) -> None:
        """Remember that a result could not be read."""
        rows = self._results(op.search_id, op.episode_id)
        self._writer.put(SEARCH_RESULT, [row._replace(failed=row.failed + 1) for row in rows])

    def mark_extracted(self, op: MarkExtracted) -> None:
        """Remember that a search was read."""
        log = self._log(op.search_id)
        self._writer.drop(SEARCH_FIND, {"search_id": log.id})
        rows = self._writer.find(SEARCH_RESULT, {"search_id": log.id})
        self._writer.put(SEARCH_RESULT, [row._replace(is_read=True, seen=None) for row in rows])
        if log.extracted:
            self._receipt.unchanged += 1
            return
        self._writer.put(SEARCH_LOG, [log._replace(extracted=True)])
        if log.learn_prompt_id is not None:
            self._settle(log.learn_prompt_id)

    def _log(self, search_id: int) -> SearchRow:
        log = first(self._writer, SEARCH_LOG, {"id": search_id})
        if log is None:
            raise NotFound(what="search", name=search_id, hint="it was never made.")
        return log

    def _results(self, search_id: int, episode_id: int) -> list[ResultRow]:
        """Return the rows of one result of a search."""
        where = {"search_id": search_id, "episode_id": episode_id}
        return self._writer.find(SEARCH_RESULT, where)

    def mark_heard(self, op: MarkHeard) -> None:
        """Remember that a message was read."""
        if not self._writer.set_heard(op.episode_id):
            self._receipt.unchanged += 1

    def _settle(self, prompt_id: int) -> None:
        """Complete a prompt whose searches are all made and read."""
        prompt = first(self._writer, LEARN_PROMPT, {"id": prompt_id, "status": "active"})
        of_it = {"owner": EVERYONE, "learn_prompt_id": prompt_id}
        left = self._writer.find(SEARCH_TASK, {**of_it, "state": LEFT}, limit=1)
        unread = self._writer.find(SEARCH_LOG, {**of_it, "extracted": False}, limit=1)
        if prompt is None or left or unread:
            return
        self._writer.put(LEARN_PROMPT, [prompt._replace(status="completed", updated_at=self._now)])
        self._facts.event("complete", "learn_prompt", prompt_id)

    def _queue(
        self,
        owner: str,
        query: str,
        trigger: Trigger,
        *,
        learn_prompt_id: int | None = None,
        entity_id: int | None = None,
        cause_id: int | None = None,
    ) -> None:
        """Let a search wait."""
        about = (learn_prompt_id, entity_id, cause_id)
        task = SearchTask(0, owner, query, trigger, *about, SearchState.QUEUED, 0, "", 0, self._now)
        self._writer.add(SEARCH_TASK, [task])

    def _task(self, task_id: int) -> SearchTask | None:
        return first(self._writer, SEARCH_TASK, {"id": task_id})

    def _end(self, task: SearchTask) -> None:
        """Overwrite the state of a search that was asked for; whoever was making it has ended."""
        self._writer.put(SEARCH_TASK, [task])
        self._writer.set_lease(f"search {task.id}", "")

    def _search_trigger(self) -> Trigger:
        if self._trigger is Trigger.COMMAND:
            return Trigger.USER_MESSAGE  # seed 003: a command of a person is a person's search
        if self._trigger not in _SEARCHING:
            raise NotAllowed(trigger=self._trigger, op="RecordSearch")
        return self._trigger

    # --- notices --------------------------------------------------------------------------------

    def announce(self, op: Announce) -> None:
        """Let new facts about an entity wait to be told, together with those that wait already."""
        entity = self._entity(op.owner, op.entity)
        if entity is None or entity.muted or notify_state(self._writer, op.owner).muted:
            return
        known = [life.id for life in world_lives(self._writer, op.owner, entity.name)]
        if op.search_id is None:
            stored = self._stored.get((op.owner, entity.name), {})
            new = set(stored.values())
            told = [one for text, one in stored.items() if op.facts is None or text in op.facts]
        else:
            finds = self._writer.find(SEARCH_FIND, {"search_id": op.search_id})
            new = {find.fact_id for find in finds}.intersection(known)
            told = sorted(new.intersection(op.fact_ids))
            self._writer.drop(SEARCH_FIND, {"search_id": op.search_id, "fact_id": told})
        if not told:
            return
        waiting = waiting_notice(self._writer, op.owner, entity.id)
        if waiting is not None:
            self._tell(waiting.id, told)
            if op.image and not waiting.image:
                self._put_notice(waiting._replace(image=op.image))
            self._receipt.notices += 1
            return
        first = new.issuperset(known)
        notice_id = self._add_notice(
            Notice(
                0,
                op.owner,
                entity.id,
                NoticeKind.DISCOVERED if first else NoticeKind.LEARNED,
                self._search_trigger(),
                told,
                op.image,
                NoticeState.WAITING,
                self._now,
                None,
                (),
                "",
            )
        )
        self._receipt.notices += 1
        self._facts.event("store", "notice", notice_id, {"facts": len(told)})

    def claim(self, op: ClaimNotice) -> None:
        """Begin to deliver a notice; it counts as told from here on, so that none goes twice."""
        notice = self._notice(op.notice_id)
        entity = self._life(notice.entity_id)
        state = notify_state(self._writer, notice.owner)
        ready = notice.state is NoticeState.WAITING and entity.current and not entity.muted
        if not ready or may_send(state, self._now) != self._now:
            self._receipt.unchanged += 1
            return
        self._put_notice(notice._replace(state=NoticeState.CLAIMED, sent_at=self._now))
        self._writer.set_lease(f"notice {notice.id}", op.holder)
        self._writer.put(
            NOTIFY, [state._replace(unanswered=state.unanswered + 1, last_sent_at=self._now)]
        )
        self._receipt.notices += 1
        self._facts.event("claim", "notice", notice.id)

    def finish(self, op: FinishNotice) -> None:
        """Say what became of a notice."""
        notice = self._notice(op.notice_id)
        ends = {NoticeState.SENT, NoticeState.FAILED, NoticeState.DROPPED, NoticeState.WAITING}
        may = {
            NoticeState.CLAIMED: ends,
            NoticeState.WAITING: {NoticeState.DROPPED},
        }.get(notice.state, set())
        if op.state not in ends:
            raise UsageError(detail=f"{op.state} is no end of a notice")
        if op.state not in may:
            self._receipt.unchanged += 1
            return
        if op.state is NoticeState.DROPPED:
            self._drop(notice, op.reason)
            return
        self._writer.set_lease(f"notice {notice.id}", "")
        again = op.state is NoticeState.WAITING  # it counts as told all the same: no storm
        self._put_notice(
            notice._replace(
                state=op.state,
                channels=tuple(op.channels),
                reason=op.reason,
                sent_at=None if again else notice.sent_at,
            )
        )
        self._receipt.updated += 1
        self._facts.event(str(op.state), "notice", notice.id, {"channels": list(op.channels)})

    def _drop(self, notice: Notice, reason: str) -> None:
        self._put_notice(notice._replace(state=NoticeState.DROPPED, reason=reason))
        self._receipt.updated += 1
        self._facts.event("drop", "notice", notice.id, {"why": reason})

    def note_action(self, op: NoteAction) -> None:
        """Remember that an owner did something: notices may come at once again."""
        state = notify_state(self._writer, op.owner)
        self._writer.put(NOTIFY, [state._replace(unanswered=0, engaged_at=self._now)])

    # --- schedules ------------------------------------------------------------------------------

    def set_schedule(self, op: SetSchedule) -> None:
        """Let a topic be searched for again and again."""
        if op.every_ms <= 0:
            raise UsageError(detail=f"a schedule every {op.every_ms} ms is none")
        episode_id = self._own_words(op.owner, op.episode)
        row = Schedule(0, op.owner, op.topic, op.every_ms, op.next_at, self._now, episode_id)
        schedule_id = one_id(self._writer.add(SCHEDULE, [row]))
        self._receipt.updated += 1
        self._facts.event("store", "schedule", schedule_id, {"every_ms": op.every_ms})

    def drop_schedule(self, op: DropSchedule) -> None:
        """End a schedule."""
        known = first(self._writer, SCHEDULE, {"id": op.schedule_id, "retired_at": None})
        if known is None:
            self._receipt.unchanged += 1
            return
        self._writer.put(SCHEDULE, [known._replace(retired_at=self._now)])
        self._receipt.updated += 1
        self._facts.event("retire", "schedule", known.id)

    def run_schedule(self, op: RunSchedule) -> None:
        """Queue the search of a schedule that is due, once however long it was not looked at."""
        known = first(self._writer, SCHEDULE, {"id": op.schedule_id, "retired_at": None})
        if known is None or known.next_at > self._now:
            self._receipt.unchanged += 1
            return
        missed = (self._now - known.next_at) // known.every_ms
        next_at = known.next_at + (missed + 1) * known.every_ms
        self._writer.put(SCHEDULE, [known._replace(next_at=next_at)])
        cause_id = known.episode_id
        asked = {"owner": EVERYONE, "cause_id": cause_id, "state": LEFT}
        if not self._writer.find(SEARCH_TASK, asked, limit=1):  # what nobody could make
            # does not pile up
            self._queue(known.owner, known.topic, Trigger.USER_MESSAGE, cause_id=cause_id)
            self._receipt.searches += 1
        self._facts.event("run", "schedule", known.id)

    # --- rows -----------------------------------------------------------------------------------

    def _entity(self, owner: str, name: str) -> Entity | None:
        """Return the current entity of a name or alias."""
        key = (owner, name)
        if key not in self._known:
            self._known[key] = entity_named(self._writer, owner, name)
        return self._known[key]

    def _plain(self, owner: str, name: str) -> Entity | None:
        """Return the current entity whose own name this is."""
        found = entity_named(self._writer, owner, name)
        return found if found is not None and found.name == name else None

    def _write(self, entity: Entity) -> None:
        """Overwrite the state of an entity, which changes now."""
        row = EntityRow._make(entity[: len(EntityRow._fields)])
        self._writer.put(ENTITY, [row._replace(updated_at=self._now)])
        self._known.clear()

    def _move_engagements(self, ids: Sequence[int] | None, source: int, target: int) -> list[int]:
        """Give engagements of one entity to another, all without `ids`; return which moved.

        A message counts once for each type and thing: what the other has already stays.
        """
        where = {"owner": EVERYONE, "entity_id": source}
        moving = self._writer.find(ENGAGEMENT, where if ids is None else {**where, "id": ids})
        there = self._writer.find(ENGAGEMENT, {"owner": EVERYONE, "entity_id": target})
        taken = {(one.episode_id, one.type, one.preference_id) for one in there}
        moved = [
            one._replace(entity_id=target)
            for one in moving
            if one.episode_id is None or (one.episode_id, one.type, one.preference_id) not in taken
        ]
        self._writer.put(ENGAGEMENT, moved)
        return [one.id for one in moved]

    def _life(self, entity_id: int) -> Entity:
        found = entities_by_id(self._writer, [entity_id]).get(entity_id)
        if found is None:
            raise NotFound(what="entity", name=entity_id, hint="`factbook memory` lists them.")
        return found

    def _notice(self, notice_id: int) -> Notice:
        found = notices_of(self._writer, EVERYONE, ids=[notice_id])
        if not found:
            raise NotFound(what="notice", name=notice_id, hint="`factbook why` shows them.")
        return found[0]

    def _add_notice(self, notice: Notice) -> int:
        notice_id = one_id(self._writer.add(NOTICE, [row_of(notice)]))
        self._tell(notice_id, notice.fact_ids)
        return notice_id

    def _put_notice(self, notice: Notice) -> None:
        self._writer.put(NOTICE, [row_of(notice)])

    def _tell(self, notice_id: int, fact_ids: Sequence[int]) -> None:
        """Let a notice tell of more facts."""
        self._writer.add(NOTICE_FACT, [NoticeFact(notice_id, fact_id) for fact_id in fact_ids])

    def _last(self, entity_id: int, op: str) -> Event:
        return [one for one in events_of(self._writer, "entity", entity_id) if one.op == op][-1]

    def _episode(self, uid: str) -> int:
        found = self._writer.episode_ids([uid]).get(uid)
        if found is None:
            raise NotFound(what="episode", name=uid, hint="record it in the same call.")
        return found

    def _own_words(self, owner: str, uid: str, *, heard: bool = False) -> int:
        """Return an episode that its owner said; raises NotAllowed for anything else.

        With `heard`, what its owner only handed on is enough.
        """
        episode_id = self._episode(uid)
        witness = self._writer.heads([episode_id])[episode_id]
        if witness.owner != owner or witness.injected or witness.trust is not Trust.DIRECT:
            raise NotAllowed(trigger=self._trigger, op=f"this by {uid}, which {owner} did not say")
        if not heard and not self._own_text(episode_id).strip():
            raise NotAllowed(trigger=self._trigger, op=f"this by {uid}, all of which is another's")
        return episode_id

    def _own_text(self, episode_id: int) -> str:
        """Return an episode with line breaks for what is not its owner's own words."""
        return self._facts.voice(episode_id).text


_WORD = re.compile(r"\w+")


def _stands_in(name: str, text: str) -> bool:
    """Tell whether a text holds every word of a name, in whatever number and spelling of signs."""
    words = set(_WORD.findall(unicodedata.normalize("NFKC", text).casefold()))
    words |= {singular(one) for one in words}
    return all(one in words or singular(one) in words for one in _WORD.findall(name))


_HANDLERS: Mapping[type[Op], Callable[[WorldChanges, Any], None]] = {
    CreateEntity: WorldChanges.create,
    AddAlias: WorldChanges.add_alias,
    MergeEntities: WorldChanges.merge,
    UnmergeEntity: WorldChanges.unmerge,
    RetireEntity: WorldChanges.retire,
    RestoreEntity: WorldChanges.restore,
    MuteEntity: WorldChanges.mute,
    MuteOwner: WorldChanges.mute_owner,
    RecordEngagement: WorldChanges.engage,
    SetPreference: WorldChanges.set_preference,
    DropPreference: WorldChanges.drop_preference,
    OpenLearnPrompt: WorldChanges.open_prompt,
    PlanLearning: WorldChanges.plan,
    QueueSearch: WorldChanges.queue_search,
    RecordSearch: WorldChanges.record_search,
    FailSearch: WorldChanges.fail_search,
    RetrySearches: WorldChanges.retry_searches,
    KeepSeen: WorldChanges.keep_seen,
    MarkDiscovered: WorldChanges.mark_discovered,
    MarkResultRead: WorldChanges.mark_result_read,
    FailResult: WorldChanges.fail_result,
    Fence: WorldChanges.fence,
    MarkExtracted: WorldChanges.mark_extracted,
    MarkHeard: WorldChanges.mark_heard,
    Announce: WorldChanges.announce,
    ClaimNotice: WorldChanges.claim,
    FinishNotice: WorldChanges.finish,
    NoteAction: WorldChanges.note_action,
    SetSchedule: WorldChanges.set_schedule,
    DropSchedule: WorldChanges.drop_schedule,
    RunSchedule: WorldChanges.run_schedule,
}
