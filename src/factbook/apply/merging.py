"""4 apply: facts that say the same become one; what takes back a change, or evidence."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property, reduce
from typing import Any

from factbook import policy
from factbook.apply.bookkeeping import Bookkeeping
from factbook.apply.fact_rows import Past, awake, one_owner_only
from factbook.errors import NotFound, UsageError
from factbook.model.confidence import better_trust, shrunk, value_at, worse_trust
from factbook.model.facts import Stance, Status, Trust
from factbook.model.ops import MergeFacts, RevertFact, UnmergeFact, WithdrawEvidence
from factbook.store.derived.facts import current_by_claim, lives_by_id
from factbook.store.derived.ledger import stances
from factbook.store.kinds import EVENT, PAIR, Pair
from factbook.store.port import first
from factbook.store.rows import Life, LifeWhere, latest

# What can be taken back, besides merges. To take back what took something back would be to do it
# again, on facts that have gone on since.
_REVERTIBLE = frozenset(
    {"store", "support", "doubt", "contradict", "supersede", "pin", "unpin", "hold", "last"}
    | {"bound", "rate", "confirm"}
)


class MergeChanges(Bookkeeping):
    """What merges facts, takes them apart, and takes back what one event changed."""

    @cached_property
    def _parted(self) -> set[int]:
        """The events whose other half was taken back in this call."""
        return set()

    def merge(self, op: MergeFacts) -> None:
        ids = [op.winner_id, *op.loser_ids]
        if len(op.evidence_counts) != len(ids):
            raise UsageError(
                detail=f"a merge of {len(ids)} facts needs as many evidence counts, winner first;"
                f" {len(op.evidence_counts)} were given"
            )
        lives = {id_: self._find(id_) for id_ in ids}
        one_owner_only("merge", *lives.values())
        seen = dict(zip(ids, op.evidence_counts, strict=True))
        ready = len(lives) == len(ids) and all(
            life.current and life.evidence_count == seen[life.id] for life in lives.values()
        )
        if not ready:
            self.receipt.unchanged += 1  # somebody changed one of them: the next run looks again
            return
        winner = lives[op.winner_id]
        losers = [life for life in lives.values() if life.id != winner.id]
        kept = [loser for loser in losers if self._only_asks(loser, by=winner)]
        if kept:
            for life in kept:
                self._ask(winner, life, detail=op.detail or "they say the same", similarity=1.0)
            return
        said = stances(self.writer, ids)
        have = dict(said[winner.id])
        for loser_id in op.loser_ids:
            winner = self._merge_one(winner, lives[loser_id], have, said[loser_id], op)
        self.writer.drop_vectors("fact", list(op.loser_ids))

    def _merge_one(
        self,
        winner: Life,
        loser: Life,
        have: dict[int, Stance],
        offered: Mapping[int, Stance],
        op: MergeFacts,
    ) -> Life:
        moved = [episode for episode in offered if episode not in have]
        lent = self.writer.evidence(pairs=[(loser.id, episode) for episode in moved])
        self.writer.add_evidence([row._replace(fact_id=winner.id, learned_at=0) for row in lent])
        have.update({episode: offered[episode] for episode in moved})
        moment = max(winner.confidence_at, loser.confidence_at)
        as_of = min(moment, self.now)  # what holds for good is of the end of time
        supports = sum(1 for stance in have.values() if stance is Stance.SUPPORTS)
        after = winner._replace(
            confidence=max(value_at(winner, as_of), value_at(loser, as_of)),
            confidence_at=moment,
            trust=better_trust(winner.trust, loser.trust),
            evidence_count=supports,
            occurred_at=latest([winner.occurred_at, loser.occurred_at]),
            pinned=winner.pinned or loser.pinned,
        )
        self.change("absorb", winner, after, why=op.rule, added=moved, detail={"loser": loser.id})
        self.receipt.merged += 1
        gone = loser._replace(
            status=Status.MERGED_INTO, merged_into_id=winner.id, retired_at=self.now
        )
        says = {"says": op.detail} if op.detail else {}
        self.change("merge", loser, gone, why=op.rule, detail=says)
        return after

    def unmerge(self, op: UnmergeFact) -> None:
        """Take a fact out of the one it was merged into; they are not merged again."""
        loser = self._find(op.fact_id)
        if loser.merged_into_id is None:
            raise UsageError(detail=f"fact {op.fact_id} was not merged into another one")
        if current_by_claim(self.writer, [loser.claim]):
            raise UsageError(
                detail=f"fact {op.fact_id} was stated again since and is current as another row;"
                " there is nothing to take out"
            )
        self._part(loser, op="unmerge", why="unmerge")
        self.receipt.unmerged += 1

    def _part(
        self, loser: Life, *, op: str, why: str, detail: Mapping[str, object] | None = None
    ) -> None:
        """Make a merged fact current again and take its evidence from all that have it by it.

        These are its winner and whatever the winner was merged into since; the fact is kept apart
        from each of them.
        """
        winners = self._winners(loser)
        merged, absorbed = self._halves(loser, winners[0].id)
        before = _mapping(merged.detail.get("before")) if merged is not None else {}
        status = Status.PROPOSED if before.get("status") == Status.PROPOSED else awake(loser)
        back = loser._replace(status=status, merged_into_id=None, retired_at=None)
        self.change(op, loser, back, why=why, detail=detail)
        mine = set(stances(self.writer, [loser.id])[loser.id])
        for winner in winners:
            self._take_back(winner, loser.id, mine, why=why, absorbed=absorbed)
            self._keep_apart(winner.id, loser.id)
            absorbed = None  # only the winner itself was changed by this fact

    def _halves(self, loser: Life, winner_id: int) -> tuple[Past | None, Past | None]:
        """Return the two events of the last merge of a fact: its own, and that of its winner."""
        merged = [event for event in self._history(loser.id) if event.op == "merge"]
        absorbed = [
            event
            for event in self._history(winner_id)
            if event.op == "absorb" and event.detail.get("loser") == loser.id
        ]
        return merged[-1] if merged else None, absorbed[-1] if absorbed else None

    def _take_back(
        self,
        winner: Life,
        loser_id: int,
        episodes: Iterable[int],
        *,
        why: str,
        absorbed: Past | None,
    ) -> None:
        """Take from a winner those episodes that it has by merging, and by no other fact."""
        children = self._children(winner.id)
        lent = self._lent(winner.id) - self._evidence_of(child.id for child in children)
        moved = sorted(lent.intersection(episodes, stances(self.writer, [winner.id])[winner.id]))
        if not moved and absorbed is None:
            return
        self.writer.drop_evidence([(winner.id, episode) for episode in moved])
        after = self._recounted(winner)
        if absorbed is not None:
            after = self._as_before(after, absorbed, children)
        elif moved:
            after = after._replace(trust=self._witnessed(after))
        self.change("give_back", winner, after, why=why, removed=moved, detail={"loser": loser_id})

    def _as_before(self, winner: Life, absorbed: Past, children: Sequence[Life]) -> Life:
        """Return a winner with what it was before a merge, as far as nothing changed it since."""
        before = _mapping(absorbed.detail.get("before"))
        after = _mapping(absorbed.detail.get("after"))
        later = [event for event in self._history(winner.id) if event.id > absorbed.id]
        # What a later merge gave and gave back is even again; one that holds keeps its share.
        joined = {event.detail.get("loser") for event in later if event.op == "absorb"}
        held = any(child.id in joined for child in children)
        touched = {
            name
            for event in later
            if event.op not in ("absorb", "give_back")
            for name in _mapping(event.detail.get("before"))
        }

        def untouched(*names: str) -> bool:
            return all(
                name not in touched and getattr(winner, name) == after[name]
                for name in names
                if name in after
            )

        if untouched("confidence", "confidence_at") and not held:
            winner = winner._replace(
                confidence=before.get("confidence", winner.confidence),
                confidence_at=before.get("confidence_at", winner.confidence_at),
            )
        if untouched("pinned") and not any(child.pinned for child in children):
            winner = winner._replace(pinned=before.get("pinned", winner.pinned))
        if "trust" not in after:
            return winner
        if untouched("trust") and not held and not any("added" in event.detail for event in later):
            return winner._replace(trust=Trust(before["trust"]))
        return winner._replace(trust=self._witnessed(winner))

    def _witnessed(self, life: Life) -> Trust:
        """Return the trust that the episodes behind a fact give it; never more than it has."""
        trusts = [self._witness(support).trust for support in self._supports(life.id)]
        return worse_trust(life.trust, reduce(better_trust, trusts)) if trusts else life.trust

    def _keep_apart(self, one_id: int, other_id: int) -> None:
        low, high = sorted((one_id, other_id))
        pair = self._pair(low, high) or Pair(
            low, high, "same", "unmerged", "a person keeps both", 1.0, self.now, ""
        )
        self.writer.put(PAIR, [pair._replace(verdict="KEEP_BOTH")])

    def _children(self, winner_id: int) -> list[Life]:
        """Return the facts that are merged into this one, itself and not by another."""
        losers = {
            event.detail["loser"] for event in self._history(winner_id) if event.op == "absorb"
        }
        lives = lives_by_id(self.writer, sorted(losers))
        return [life for life in lives.values() if life.merged_into_id == winner_id]

    def _lent(self, fact_id: int) -> set[int]:
        """Return the episodes that a fact has from others that were merged into it."""
        lent: set[int] = set()
        for past in self._history(fact_id):
            added = _ints(past.detail.get("added"))
            lent = lent.union(added) if past.op == "absorb" else lent.difference(added)
            lent.difference_update(_ints(past.detail.get("removed")))
            lent.update(_ints(past.detail.get("kept")))
        return lent

    def _recounted(self, life: Life) -> Life:
        """Return a fact with the count and the date that its evidence rows give."""
        supports = self._supports(life.id)
        times = [self._witness(support).occurred_at for support in supports]
        return life._replace(evidence_count=len(supports), occurred_at=latest(times))

    def withdraw(self, op: WithdrawEvidence) -> None:
        """Let an episode speak for a fact no more.

        What its owner stands for stays as sure as it is. What they called wrong keeps the words
        that say so, which then bring nothing back.
        """
        life = self._find(op.fact_id)
        supports = self._supports(life.id)
        vouched = self._is_vouched(life)
        alone = supports == [op.episode_id]
        speaks = life.current and life.confidence > 0.0 and op.episode_id in supports
        if not speaks or (vouched and alone):
            self.receipt.unchanged += 1
            return
        if alone:
            self._unsupported(life, why=op.rule)
        else:
            self._lose(life, op, vouched=vouched)
        kept = not alone and op.episode_id in self._supports(life.id)
        self.receipt.unchanged += kept
        self.receipt.withdrawn += not kept

    def _unsupported(self, life: Life, *, why: str) -> None:
        """Retire a fact that nothing speaks for; what it took the place of comes back.

        It keeps its row, its last evidence and its confidence: nobody said that it is wrong.
        """
        after = life._replace(status=Status.RETRACTED, retired_at=self.now, valid_to=self.now)
        self.writer.drop_vectors("fact", [life.id])
        self.receipt.retracted += 1
        self.change("withdraw", life, after, why=why)
        for older in self.writer.lives(LifeWhere(superseded_by=[life.id])):
            gone = [event for event in self._history(older.id) if event.op == "supersede"]
            if gone and self._revert_change(older, gone[-1]):
                self.receipt.reverted += 1

    def _lose(self, life: Life, op: WithdrawEvidence, *, vouched: bool) -> None:
        """Take an episode from a fact that others speak for, and from what was merged into it."""
        for child in self._children(life.id):
            supports = self._supports(child.id)
            if supports != [op.episode_id]:
                if op.episode_id in supports:
                    self._lose(child, op, vouched=self._is_vouched(child))
            elif not current_by_claim(self.writer, [child.claim]):
                self._part(child, op="unmerge", why=op.rule)
                self._unsupported(self._find(child.id), why=op.rule)
            else:
                return  # it was stated again since, and keeps what stood behind it then
        life, left = self._find(life.id), self._supports(life.id)
        if op.episode_id not in left:
            return  # it had it by what was merged into it
        left.remove(op.episode_id)
        grew = any(event.op == "support" for event in self._history(life.id))
        self.writer.drop_evidence([(life.id, op.episode_id)])
        trust = self._witnessed(life)
        sure = life.confidence
        if not vouched:
            sure = min(shrunk(sure) if grew else sure, policy.TRUST_CAP[trust])
        after = self._recounted(life)._replace(
            confidence=sure,
            trust=trust,
            episode_id=life.episode_id if life.episode_id in left else min(left),
        )
        self.change("withdraw", life, after, why=op.rule, removed=[op.episode_id])

    def revert(self, op: RevertFact) -> None:
        """Restore what one event changed, where the fact is still as the event left it.

        The two events of a merge, "merge" at the loser and "absorb" at the winner, are one: either
        takes back both or neither, whatever became of the winner since.
        """
        event = first(self.writer, EVENT, {"id": op.event_id})
        if event is None:
            raise NotFound(what="event", name=op.event_id, hint="`factbook explain` shows them.")
        if event.target_kind != "fact":
            raise UsageError(
                detail=f"event {op.event_id} is of {event.target}; only changes of facts can be"
                " taken back"
            )
        life = self._find(event.target_id)
        past = Past(event.id, event.at, event.op, event.detail)
        if event.op in ("merge", "absorb"):
            done = self._revert_merge(life, past)
        else:
            done = event.op in _REVERTIBLE and self._revert_change(life, past)
        if done:
            self.receipt.reverted += 1
        else:
            self.receipt.unchanged += 1

    def _revert_merge(self, life: Life, event: Past) -> bool:
        if event.id in self._parted:
            self._parted.discard(event.id)
            return True  # its other half was taken back before, and with it this one
        loser = self._find(event.detail["loser"]) if event.op == "absorb" else life
        if loser.merged_into_id is None or current_by_claim(self.writer, [loser.claim]):
            return False  # it is out already, or the same was stated again since
        merged, absorbed = self._halves(loser, loser.merged_into_id)
        halves = {half.id for half in (merged, absorbed) if half is not None}
        if event.id not in halves:
            return False  # it was taken out and merged again since
        self._part(loser, op="revert", why=f"undo of event {event.id}", detail={"event": event.id})
        self._parted |= halves - {event.id}
        return True

    def _revert_change(self, life: Life, event: Past) -> bool:
        if event.op == "store":
            # What the run had stored is kept, as everything is, but put out of retrieval.
            before: dict[str, Any] = {"confidence": 0.0}
            after = {"confidence": event.detail.get("confidence")}
        else:
            before = _mapping(event.detail.get("before"))
            after = _mapping(event.detail.get("after"))
        added = set(_ints(event.detail.get("added")))
        if not after or any(getattr(life, name) != value for name, value in after.items()):
            return False
        if not added.issubset(stances(self.writer, [life.id])[life.id]):
            return False  # its evidence was taken back before
        restored = life._replace(**{name: _typed(name, value) for name, value in before.items()})
        if restored.current and not life.current:
            if current_by_claim(self.writer, [life.claim]):
                return False  # the same was stated again since: there is a current row
            if life.embeddable and restored.status is Status.ACTIVE:
                restored = restored._replace(status=Status.PENDING_EMBED)
        # What was merged into it holds some of the evidence too: that stays, as the other's.
        kept = added & self._evidence_of(child.id for child in self._children(life.id))
        removed = sorted(added - kept)
        self.writer.drop_evidence([(life.id, episode) for episode in removed])
        why = f"undo of event {event.id}"
        detail: dict[str, object] = {"event": event.id}
        if kept:
            detail["kept"] = sorted(kept)
        self.change(
            "revert", life, self._recounted(restored), why=why, removed=removed, detail=detail
        )
        for winner in self._winners(life):
            self._take_back(winner, life.id, removed, why=why, absorbed=None)
        return True


def _ints(value: object) -> list[int]:
    return [item for item in value if isinstance(item, int)] if isinstance(value, list) else []


def _mapping(value: object) -> dict[str, Any]:
    return dict(value) if isinstance(value, dict) else {}


def _typed(name: str, value: Any) -> Any:
    if name == "status":
        return Status(value)
    return Trust(value) if name == "trust" else value
