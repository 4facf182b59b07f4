"""4 apply: erase for good, and keep out what was erased. `apply` alone calls it.

Everything else in here keeps what it changes; this takes it out. What an act of erasing takes:

- a fact: its row, what was merged into it or superseded by it, what its key has held; and in the
  episodes that it was read from, the words that it stands on (or, on request, the whole episodes);
- an episode: its text; facts that stand on nothing else go with it, the others lose this evidence;
- a source: all of its episodes; an entity: all that is about it, and its name in what factbook
  itself wrote or fetched; an owner: everything of theirs.

What is gone leaves a tombstone without content, so that the next reading of the same log does not
bring it back. What somebody says anew, later than the erasure, is something new and is let in.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import reduce
from typing import TYPE_CHECKING, Any

from factbook import policy
from factbook.apply.delete_cascade import DeleteCascade, Doomed
from factbook.apply.tombstones import Tombstones, is_erased
from factbook.apply.wiping import Wiping
from factbook.errors import NotFound, UsageError
from factbook.model.confidence import better_trust, worse_trust
from factbook.model.facts import ErasureAct, Stance
from factbook.model.ops import (
    AllowAgain,
    EraseEntity,
    EraseEpisode,
    EraseFact,
    EraseNoted,
    EraseOwner,
    EraseRejection,
    EraseSource,
    Op,
)
from factbook.redaction.told import TAKEN_BACK
from factbook.store import kinds
from factbook.store.derived.facts import lives_by_id
from factbook.store.derived.ledger import stances
from factbook.store.port import Writer, first, one_id
from factbook.store.rows import Life, Wiped, latest

if TYPE_CHECKING:
    from factbook.apply.fact_rows import FactRows

# What was noted -> its part of Doomed, its kind.
_NOTED: Mapping[str, tuple[str, kinds.Kind[Any]]] = {
    "preference": ("preferences", kinds.PREFERENCE),
    "learn_prompt": ("prompts", kinds.LEARN_PROMPT),
    "schedule": ("schedules", kinds.SCHEDULE),
    "search_log": ("searches", kinds.SEARCH_LOG),
    "search_task": ("tasks", kinds.SEARCH_TASK),
    "proposal": ("proposals", kinds.PROPOSAL),
}
_ROWS: Mapping[str, kinds.Kind[Any]] = {"entity": kinds.ENTITY, "rejection": kinds.REJECTION}


class Erasing:
    """The erasures of one call of `apply`; what an Op asks for, its class says."""

    def __init__(self, facts: FactRows) -> None:
        self._facts = facts
        self._writer, self._receipt = facts.writer, facts.receipt
        self._now, self._actor = facts.now, facts.actor
        self._cascade = DeleteCascade(facts.writer)
        self.wiped = Wiped()

    def run(self, op: Op) -> None:
        """Apply one op."""
        _HANDLERS[type(op)](self, op)

    def fact(self, op: EraseFact) -> None:
        self._there("fact", op.fact_id, "`factbook facts` lists the facts with their ids.")
        facts = self._cascade.lineage([self._facts.end_of(op.fact_id).id])
        doomed = Doomed(facts=facts)
        spans = self._writer.evidence(fact_ids=facts)
        if op.whole_episodes:
            doomed.episodes = {span.episode_id for span in spans}
        else:
            doomed.masks = self._cascade.said_in(spans, facts)
        self._erase("fact", op.fact_id, doomed)

    def episode(self, op: EraseEpisode) -> None:
        self._there("episode", op.episode_id, "`factbook recall` shows ids.")
        self._erase("episode", op.episode_id, Doomed(episodes={op.episode_id}))

    def source(self, op: EraseSource) -> None:
        self._there("source", op.source_id, "`factbook sessions` lists the sources.")
        self._erase("source", op.source_id, self._cascade.part_of_source(op.source_id))

    def rejection(self, op: EraseRejection) -> None:
        self._there("rejection", op.rejection_id, "`factbook rejections --json` shows their ids.")
        self._erase("rejection", op.rejection_id, Doomed(rejections={op.rejection_id}))

    def entity(self, op: EraseEntity) -> None:
        self._there("entity", op.entity_id, "`factbook entities` lists them.")
        [entity] = self._writer.find(kinds.ENTITY, {"id": op.entity_id})
        while entity.merged_into_id is not None:  # it is known by another name now
            [entity] = self._writer.find(kinds.ENTITY, {"id": entity.merged_into_id})
        doomed = self._cascade.about_entity(entity.id)
        spoken = self._writer.evidence(fact_ids=doomed.facts)
        for episode, spans in self._cascade.said_in(spoken, doomed.facts).items():
            doomed.masks.setdefault(episode, []).extend(spans)
        self._erase("entity", entity.id, doomed)

    def noted(self, op: EraseNoted) -> None:
        if op.target not in _NOTED:
            raise UsageError(detail=f"{op.target!r} is none of {', '.join(_NOTED)}")
        self._there(op.target, op.row_id, "`factbook erase --check TEXT` names rows.")
        doomed = Doomed()
        part, _ = _NOTED[op.target]
        getattr(doomed, part).add(op.row_id)
        self._erase(op.target, op.row_id, doomed)

    def owner(self, op: EraseOwner) -> None:
        if not op.owner:
            raise UsageError(detail="an owner has a name; give it")
        doomed = self._cascade.belonging_to(op.owner)
        if not doomed.size:
            raise NotFound(what="owner", name=op.owner, hint="nothing is kept about them.")
        self._erase("owner", 0, doomed, owner=op.owner)
        # Nobody knows whose a secret was; what was taken back is none.
        told = [row.digest for row in self._writer.find(kinds.TOLD) if row.kind != TAKEN_BACK]
        self._writer.drop(kinds.TOLD, {"digest": told})

    def allow(self, op: AllowAgain) -> None:
        act = first(self._writer, kinds.ERASURE, {"id": op.erasure_id})
        if act is None:
            raise NotFound(
                what="erasure", name=op.erasure_id, hint="`factbook erase --list` shows them."
            )
        self._writer.drop(kinds.TOMBSTONE, {"erasure_id": act.id})
        self._writer.put(kinds.ERASURE, [act._replace(allowed_at=self._now)])
        self._receipt.updated += 1
        self._facts.event("allow", "erasure", op.erasure_id)

    def _there(self, target: str, row_id: int, hint: str) -> None:
        if is_erased(self._writer, target, row_id):
            raise NotFound(what=target, name=row_id, hint="it was erased.")
        if not self._has(target, row_id):
            raise NotFound(what=target, name=row_id, hint=hint)

    def _has(self, target: str, row_id: int) -> bool:
        match target:
            case "episode":
                return bool(self._writer.heads([row_id]))
            case "fact":
                return bool(lives_by_id(self._writer, [row_id]))
            case "source":
                return bool(self._writer.sources(ids=[row_id]))
            case _:
                kind = _ROWS.get(target) or _NOTED[target][1]
                return first(self._writer, kind, {"id": row_id}) is not None

    def _erase(self, what: str, target: int, doomed: Doomed, *, owner: str = "") -> None:
        act = ErasureAct(0, self._now, self._actor, what, {}, clean=False, allowed_at=None)
        act, wiping = carried_out(self._writer, doomed, act, self._lose, owner=owner)
        self.wiped.erasures.append(act.id)
        self.wiped.texts += wiping.texts
        self.wiped.taken += wiping.taken
        self.wiped.beside |= wiping.beside
        for name, count in act.counts.items():
            self._receipt.erased[name] = self._receipt.erased.get(name, 0) + count
        self._facts.event("erase", what, target, {"erasure": act.id})
        for fact in sorted(doomed.facts - ({target} if what == "fact" else set())):
            self._facts.event("erase", "fact", fact, {"erasure": act.id})

    def _lose(self, before: Life, after: Life, episodes: set[int]) -> None:
        self._facts.change("lose", before, after, why="erased", removed=sorted(episodes))


def carried_out(
    writer: Writer,
    doomed: Doomed,
    act: ErasureAct,
    lose: Callable[[Life, Life, set[int]], None],
    *,
    owner: str = "",
) -> tuple[ErasureAct, Wiping]:
    """Erase rows, and all that cannot stay without them; return the act as it is kept.

    `lose` writes a fact that stays as it is without the episodes that it loses.
    """
    cascade = DeleteCascade(writer)
    cascade.complete(doomed)
    act = act._replace(id=one_id(writer.add(kinds.ERASURE, [act])))
    Tombstones(writer).keep_out(doomed, act.id)
    _take_evidence(writer, cascade.lost(doomed), lose)
    wiping = Wiping(writer, doomed, act.id, now=act.at, owner=owner)
    act = act._replace(counts=wiping.run())
    writer.put(kinds.ERASURE, [act])
    return act, wiping


def _take_evidence(
    writer: Writer, lost: Mapping[int, set[int]], lose: Callable[[Life, Life, set[int]], None]
) -> None:
    """Let facts that stay lose the evidence that goes, and the trust that it gave them."""
    writer.drop_evidence([(fact, id_) for fact, gone in lost.items() for id_ in gone])
    said = stances(writer, sorted(lost))
    heads_by_id = writer.heads({episode for left in said.values() for episode in left})
    for fact, life in lives_by_id(writer, sorted(lost)).items():
        supports = [id_ for id_, stance in said[fact].items() if stance is Stance.SUPPORTS]
        heads = [heads_by_id[support] for support in supports]
        trust = worse_trust(life.trust, reduce(better_trust, [head.trust for head in heads]))
        after = life._replace(
            evidence_count=len(supports),
            occurred_at=latest([head.occurred_at for head in heads]),
            trust=trust,
            confidence=min(life.confidence, policy.TRUST_CAP[trust]),
            episode_id=life.episode_id if life.episode_id in supports else min(supports),
        )
        lose(life, after, lost[fact])


_HANDLERS: Mapping[type[Op], Callable[[Erasing, Any], None]] = {
    EraseFact: Erasing.fact,
    EraseEpisode: Erasing.episode,
    EraseSource: Erasing.source,
    EraseRejection: Erasing.rejection,
    EraseEntity: Erasing.entity,
    EraseNoted: Erasing.noted,
    EraseOwner: Erasing.owner,
    AllowAgain: Erasing.allow,
}
