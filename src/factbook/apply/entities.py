"""4 apply: what people care about. Called by `apply` alone, inside its transaction.

Who caused a text decides what it may do, and it is decided here, on the rows as they are under the
write lock: an entity comes in by what its owner said or asked for, or by a result of a search that
its owner caused, whatever an extractor or a model says. Everything about entities can be taken
back; what was told unasked is counted before it is sent, so that no two processes tell too much.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from factbook.apply.fact_rows import awake
from factbook.apply.interest_rows import ASKED, InterestPart, InterestRows
from factbook.apply.notices import NoticeChanges
from factbook.apply.searches import SearchChanges
from factbook.apply.tombstones import is_erased
from factbook.errors import NotAllowed, UsageError
from factbook.gate.names import command_problem, structural_problem
from factbook.language.nouns import singular
from factbook.model import interest_ops
from factbook.model.entities import Engagement, Preference, Valence
from factbook.model.facts import EVERYONE, EpisodeKind, Status, Trigger, Trust
from factbook.model.keys import entity_name
from factbook.model.ops import MergeFacts, Op, UnmergeFact
from factbook.store.derived.entities import deleted_entity, preference_of, world_lives
from factbook.store.derived.facts import current_by_claim, lives_by_id
from factbook.store.derived.notices import waiting_notice
from factbook.store.derived.searches import search_triggers
from factbook.store.kinds import ALIAS, ENGAGEMENT, ENTITY, PREFERENCE, Alias, EntityRow
from factbook.store.port import one_id
from factbook.store.rows import claim_digest

if TYPE_CHECKING:
    from factbook.apply.merging import MergeChanges


class WorldChanges(InterestPart):
    """The changes of entities and engagements, and the way to those of searches and notices."""

    def __init__(self, facts: MergeChanges) -> None:
        super().__init__(InterestRows(facts))
        self._notices = NoticeChanges(self._rows)
        self._searches = SearchChanges(self._rows)

    def run(self, op: Op) -> None:
        """Apply one op."""
        part, handle = _HANDLERS[type(op)]
        handle({"entities": self, "searches": self._searches, "notices": self._notices}[part], op)

    def knows(self, owner: str, name: str) -> bool:
        """Tell whether a canonical name is that of a current entity of an owner."""
        entity = self._rows.entity(owner, name)
        return entity is not None and entity.name == name

    def stored(self, owner: str, name: str, text: str, fact_id: int) -> None:
        """Take note of a fact about an entity that this call stored."""
        self._rows.made.setdefault((owner, name), {})[text] = fact_id

    def create(self, op: interest_ops.CreateEntity) -> None:
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
        if self._rows.entity(op.owner, op.name) is not None:
            self._receipt.unchanged += 1
            return
        deleted = deleted_entity(self._writer, op.owner, op.name)
        if deleted is not None:
            event = self._rows.last(deleted.id, "retire")
            by_owner = event.trigger is not Trigger.UPKEEP
            if by_owner and kind is not EpisodeKind.COMMAND:  # and its owner did not ask again
                counts = self._receipt.rejections
                counts["deleted_by_owner"] = counts.get("deleted_by_owner", 0) + 1
                return
            self._bring_back(deleted, why="it is spoken of again")
            return
        row = EntityRow(0, op.owner, op.name, self._now, self._now, episode_id, self._trigger)
        entity_id = one_id(self._writer.add(ENTITY, [row]))
        self._rows.named.pop((op.owner, op.name), None)
        self._receipt.entities += 1
        self._facts.event("store", "entity", entity_id, {"cause": f"episode:{episode_id}"})

    def _cause(self, op: interest_ops.CreateEntity) -> tuple[int, EpisodeKind]:
        """Return the episode that brings an entity in; raises NotAllowed where it must not."""
        episode_id = self._rows.episode(op.episode)
        witness = self._writer.heads([episode_id])[episode_id]
        if witness.owner != op.owner or witness.injected:
            raise NotAllowed(trigger=self._trigger, op=f"CreateEntity by {op.episode}")
        if not _stands_in(op.name, self._rows.own_text(episode_id)):
            raise NotAllowed(
                trigger=self._trigger, op=f"CreateEntity of what {op.episode} does not name"
            )
        if witness.trust is Trust.DIRECT:
            return episode_id, witness.kind
        asked = search_triggers(self._writer, op.owner, episode_id) & ASKED
        if witness.kind is EpisodeKind.SEARCH_RESULT and asked:
            return episode_id, witness.kind
        raise NotAllowed(trigger=self._trigger, op=f"CreateEntity by {op.episode}")

    def add_alias(self, op: interest_ops.AddAlias) -> None:
        entity = self._rows.entity(op.owner, op.entity)
        if (
            entity is None
            or not op.alias
            or op.alias != entity_name(op.alias)
            or self._rows.entity(op.owner, op.alias) is not None
            or self._writer.add(ALIAS, [Alias(op.owner, op.alias, entity.id)]) == [None]
        ):
            self._receipt.unchanged += 1
            return
        self._rows.named.clear()
        self._receipt.updated += 1
        self._facts.event("alias", "entity", entity.id, {"alias": op.alias})

    def merge(self, op: interest_ops.MergeEntities) -> None:
        winner, loser = self._rows.life(op.winner_id), self._rows.life(op.loser_id)
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
        self._rows.write(loser._replace(retired_at=self._now, merged_into_id=winner.id))
        aliases = self._writer.find(ALIAS, {"owner": loser.owner, "entity_id": loser.id})
        names = [alias.name for alias in aliases]
        self._writer.put(ALIAS, [Alias(loser.owner, name, winner.id) for name in names])
        if self._writer.add(ALIAS, [Alias(loser.owner, loser.name, winner.id)]) != [None]:
            names.append(loser.name)
        mutes = loser.muted and not winner.muted
        winner = winner._replace(muted=winner.muted or mutes)
        self._rows.write(winner)
        self._notices.hand_over(loser, winner, muted=winner.muted)
        self._rows.named.clear()
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

    def _move_facts(
        self, loser: EntityRow, winner: EntityRow, op: interest_ops.MergeEntities
    ) -> tuple[list[int], list[int]]:
        """Let the facts about one entity be about another; what both have is merged."""
        lives = {life.id: life for life in world_lives(self._writer, loser.owner, loser.name)}
        claims = {
            id_: claim_digest(life.owner, winner.name, life.predicate, life.object)
            for id_, life in lives.items()
        }
        there = current_by_claim(self._writer, list(claims.values()))
        moved: list[int] = []
        merged: list[int] = []
        for fact_id, life in sorted(lives.items()):
            known = there.get(claims[fact_id])
            if known is None:
                moves = life._replace(subject=winner.name, claim=claims[fact_id])
                self._writer.put_facts([(life, moves)])
                self._facts.event("move", "fact", fact_id, {"from": loser.name, "to": winner.name})
                moved.append(fact_id)
                continue
            counts = [known.evidence_count, life.evidence_count]
            self._facts.merge(
                MergeFacts(
                    winner_id=known.id, loser_ids=[fact_id], evidence_counts=counts, rule=op.rule
                )
            )
            merged.append(fact_id)
        return moved, merged

    def unmerge(self, op: interest_ops.UnmergeEntity) -> None:
        loser = self._rows.life(op.entity_id)
        if loser.merged_into_id is None:
            raise UsageError(detail=f"entity {loser.id} was not merged into another one")
        if self._rows.plain(loser.owner, loser.name) is not None:
            raise UsageError(
                detail=f"{loser.name} was brought in again since and is another entity now;"
                " there is nothing to take out"
            )
        event: Mapping[str, Any] = self._rows.last(loser.id, "merge").detail
        winner = self._rows.life(int(event["winner"]))
        if winner.merged_into_id is not None:
            # What is this one's went on with it, and comes back only the way it went.
            raise UsageError(
                detail=f"{winner.name}, which {loser.name} was merged into, was itself merged into"
                f" entity {winner.merged_into_id}; take entity {winner.id} out of there first"
            )
        self._writer.drop(ALIAS, {"owner": loser.owner, "name": event["names"]})
        self._rows.write(loser._replace(retired_at=None, merged_into_id=None))
        self._rows.named.clear()
        others = [name for name in event["names"] if name != loser.name]
        self._writer.add(ALIAS, [Alias(loser.owner, name, loser.id) for name in others])
        lives = lives_by_id(self._writer, [*event["moved"], *event["merged"]])
        for fact_id in event["moved"]:
            life = lives[fact_id]
            claim = claim_digest(life.owner, loser.name, life.predicate, life.object)
            stays = life.current and life.owner == loser.owner
            if stays and not current_by_claim(self._writer, [claim]):
                self._writer.put_facts([(life, life._replace(subject=loser.name, claim=claim))])
                self._facts.event("move", "fact", fact_id, {"from": life.subject, "to": loser.name})
        for fact_id in event["merged"]:
            if lives[fact_id].merged_into_id is not None:
                self._facts.unmerge(UnmergeFact(fact_id=fact_id))
        self._move_engagements(event["engagements"], winner.id, loser.id)
        unmuted = bool(event.get("muted_by_it")) and winner.current
        self._rows.write(winner._replace(muted=winner.muted and not unmuted))
        self._receipt.unmerged += 1
        self._facts.event("unmerge", "entity", loser.id, {"winner": winner.id})

    def retire(self, op: interest_ops.RetireEntity) -> None:
        entity = self._rows.life(op.entity_id)
        if not entity.current:
            self._receipt.unchanged += 1
            return
        gone: list[int] = []
        for life in world_lives(self._writer, entity.owner, entity.name):
            self._writer.drop_vectors("fact", [life.id])
            retired = life._replace(status=Status.RETRACTED, retired_at=self._now)
            self._facts.change("retract", life, retired, why=op.why)
            gone.append(life.id)
        waiting = waiting_notice(self._writer, entity.owner, entity.id)
        if waiting is not None:
            self._notices.drop(waiting, "its entity was removed")
        self._rows.write(entity._replace(retired_at=self._now))
        self._rows.named.clear()
        self._receipt.retracted += 1
        self._facts.event("retire", "entity", entity.id, {"why": op.why, "facts": gone})

    def restore(self, op: interest_ops.RestoreEntity) -> None:
        entity = self._rows.life(op.entity_id)
        if entity.merged_into_id is not None:
            raise UsageError(
                detail=f"entity {entity.id} was merged into entity {entity.merged_into_id};"
                " take it out of there"
            )
        if entity.current:
            self._receipt.unchanged += 1
            return
        if is_erased(self._writer, "entity", entity.id):
            raise UsageError(
                detail=f"entity {entity.id} was erased; there is nothing to bring back"
            )
        if self._rows.plain(entity.owner, entity.name) is not None:
            raise UsageError(detail=f"{entity.name} is known again as another entity")
        self._bring_back(entity, why="its owner brought it back")

    def _bring_back(self, entity: EntityRow, *, why: str) -> None:
        event: Mapping[str, Any] = self._rows.last(entity.id, "retire").detail
        # Another may go by that name since.
        self._writer.drop(ALIAS, {"owner": entity.owner, "name": entity.name})
        self._rows.write(entity._replace(retired_at=None))
        for life in lives_by_id(self._writer, event["facts"]).values():
            if life.status is not Status.RETRACTED or current_by_claim(self._writer, [life.claim]):
                continue
            back = life._replace(status=awake(life), retired_at=None)
            self._facts.change("restore", life, back, why=why)
        self._rows.named.clear()
        self._receipt.entities += 1
        self._facts.event("restore", "entity", entity.id, {"why": why})

    def mute(self, op: interest_ops.MuteEntity) -> None:
        entity = self._rows.life(op.entity_id)
        if entity.muted == op.muted:
            self._receipt.unchanged += 1
            return
        self._rows.write(entity._replace(muted=op.muted))
        waiting = waiting_notice(self._writer, entity.owner, entity.id)
        if op.muted and waiting is not None:
            self._notices.drop(waiting, "its owner wants to hear no more of it")
        self._receipt.updated += 1
        self._facts.event("mute" if op.muted else "unmute", "entity", entity.id)

    def engage(self, op: interest_ops.RecordEngagement) -> None:
        if not 0.0 <= op.strength <= 1.0:  # also refuses NaN
            raise UsageError(
                detail=f"the strength {op.strength} of {op.type} is not between 0 and 1"
            )
        if not (op.entity or op.preference):
            raise UsageError(detail=f"{op.type} is about an entity or a preference")
        entity = self._rows.entity(op.owner, op.entity) if op.entity else None
        liked = preference_of(self._writer, op.owner, op.preference) if op.preference else None
        if entity is None and liked is None:
            self._receipt.unchanged += 1
            return
        named = op.valence is Valence.NEUTRAL  # what others said may name what is known
        episode_id = self._rows.own_words(op.owner, op.episode, heard=named)
        said = self._writer.heads([episode_id])[episode_id].occurred_at
        at = self._now if said is None else min(said, self._now)
        about = (entity.id if entity else None, liked.id if liked else None)
        engagement = Engagement(
            0, op.owner, *about, op.type, op.valence, op.strength, episode_id, at
        )
        [engagement_id] = self._writer.add(ENGAGEMENT, [engagement])
        if engagement_id is None:
            self._receipt.unchanged += 1
            return
        if entity is not None:
            self._rows.write(entity)
        self._receipt.engagements += 1
        self._facts.event("store", "engagement", engagement_id, {"type": op.type})

    def set_preference(self, op: interest_ops.SetPreference) -> None:
        if not op.topic or op.topic != entity_name(op.topic):
            raise UsageError(
                detail=f"{op.topic!r:.80} is not a canonical topic; {entity_name(op.topic)!r} is"
            )
        episode_id = self._rows.own_words(op.owner, op.episode)
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

    def drop_preference(self, op: interest_ops.DropPreference) -> None:
        known = preference_of(self._writer, op.owner, op.topic)
        if known is None or known.type is not op.type:
            self._receipt.unchanged += 1
            return
        self._writer.put(PREFERENCE, [known._replace(retired_at=self._now)])
        self._receipt.preferences += 1
        self._facts.event("retire", "preference", known.id, {"why": "its owner took it back"})

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


_WORD = re.compile(r"\w+")


def _stands_in(name: str, text: str) -> bool:
    """Tell whether a text holds every word of a name, in whatever number and spelling of signs."""
    words = set(_WORD.findall(unicodedata.normalize("NFKC", text).casefold()))
    words |= {singular(word) for word in words}
    return all(word in words or singular(word) in words for word in _WORD.findall(name))


_HANDLERS: Mapping[type[Op], tuple[str, Callable[[Any, Any], None]]] = {
    interest_ops.CreateEntity: ("entities", WorldChanges.create),
    interest_ops.AddAlias: ("entities", WorldChanges.add_alias),
    interest_ops.MergeEntities: ("entities", WorldChanges.merge),
    interest_ops.UnmergeEntity: ("entities", WorldChanges.unmerge),
    interest_ops.RetireEntity: ("entities", WorldChanges.retire),
    interest_ops.RestoreEntity: ("entities", WorldChanges.restore),
    interest_ops.MuteEntity: ("entities", WorldChanges.mute),
    interest_ops.MuteOwner: ("notices", NoticeChanges.mute_owner),
    interest_ops.RecordEngagement: ("entities", WorldChanges.engage),
    interest_ops.SetPreference: ("entities", WorldChanges.set_preference),
    interest_ops.DropPreference: ("entities", WorldChanges.drop_preference),
    interest_ops.OpenLearnPrompt: ("searches", SearchChanges.open_prompt),
    interest_ops.PlanLearning: ("searches", SearchChanges.plan),
    interest_ops.QueueSearch: ("searches", SearchChanges.queue_search),
    interest_ops.RecordSearch: ("searches", SearchChanges.record_search),
    interest_ops.FailSearch: ("searches", SearchChanges.fail_search),
    interest_ops.RetrySearches: ("searches", SearchChanges.retry_searches),
    interest_ops.KeepSeen: ("searches", SearchChanges.keep_seen),
    interest_ops.MarkDiscovered: ("searches", SearchChanges.mark_discovered),
    interest_ops.MarkResultRead: ("searches", SearchChanges.mark_result_read),
    interest_ops.FailResult: ("searches", SearchChanges.fail_result),
    interest_ops.Fence: ("searches", SearchChanges.fence),
    interest_ops.MarkExtracted: ("searches", SearchChanges.mark_extracted),
    interest_ops.MarkHeard: ("searches", SearchChanges.mark_heard),
    interest_ops.Announce: ("notices", NoticeChanges.announce),
    interest_ops.ClaimNotice: ("notices", NoticeChanges.claim),
    interest_ops.FinishNotice: ("notices", NoticeChanges.finish),
    interest_ops.NoteAction: ("notices", NoticeChanges.note_action),
    interest_ops.SetSchedule: ("searches", SearchChanges.set_schedule),
    interest_ops.DropSchedule: ("searches", SearchChanges.drop_schedule),
    interest_ops.RunSchedule: ("searches", SearchChanges.run_schedule),
}
