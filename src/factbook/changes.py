"""4 apply: what changes facts that are there. Called by `apply` alone, inside its transaction.

Every change is decided on the rows as they are at that moment, under the write lock: what was read
before may be stale, and a fact that has retired or changed meanwhile is left alone and counted as
unchanged. Each change writes one event with what it was before and after, which is what `explain`
draws and what an undo takes back.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from factbook import policy
from factbook.confidence import halved, supported, value_at
from factbook.errors import NotFound, UsageError
from factbook.model import Millis, Receipt, Stance, Status, Trust
from factbook.ops import (
    ContradictFacts,
    Count,
    DecideProposal,
    DoubtFact,
    FinishRun,
    JudgePair,
    KeepLoose,
    MarkProgress,
    MergeFacts,
    Op,
    PinFact,
    Propose,
    RateFact,
    RecordInjection,
    RecordUse,
    ReplaceVectors,
    RevertFact,
    SettlePair,
    StartRun,
    StoreNextVectors,
    SupersedeFact,
    SupportFact,
    UnmergeFact,
)
from factbook.store.base import Life, NewEvent, NewEvidence, Pair, Place, Run, Writer

_TRUST_RANK = {trust: rank for rank, trust in enumerate(policy.TRUST_ORDER)}
# What a change of a fact may touch, and therefore what an event says and an undo restores.
_PARTS = (
    "status",
    "confidence",
    "confidence_at",
    "trust",
    "evidence_count",
    "occurred_at",
    "retired_at",
    "valid_to",
    "merged_into_id",
    "superseded_by",
    "pinned",
)

_COPY_CHARS = 80  # ours: shorter texts are the same by chance


def copy_digest(text: str) -> str:
    """Return what copies of a text have in common; empty for one too short to be a copy."""
    same = " ".join(text.casefold().split())
    if len(same) < _COPY_CHARS:
        return ""
    return hashlib.blake2b(same.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


class Changes:
    """The changes of one call of `apply`."""

    def __init__(self, writer: Writer, receipt: Receipt, *, now: Millis) -> None:
        self._writer = writer
        self._receipt = receipt
        self._now = now
        self._texts: dict[int, str] = {}
        self._places: dict[int, Place] = {}
        self.events: list[NewEvent] = []

    def run(self, ops: Iterable[Op]) -> None:
        """Apply the ops in their order."""
        for op in ops:
            _HANDLERS[type(op)](self, op)

    # --- evidence -------------------------------------------------------------------------------

    def support(self, op: SupportFact) -> None:
        """Add an episode that speaks for a fact, and let the fact grow."""
        life = self._current(op.fact_id)
        if life is None or self._is_copy(op) or not self._add_evidence(op, Stance.SUPPORTS):
            self._receipt.unchanged += 1
            return
        at = self._place(op.episode_id).occurred_at
        confidence, moment = supported(
            life, at=at, trust=op.trust, now=self._now, own=op.confidence
        )
        times = [one for one in (life.occurred_at, at) if one is not None]
        after = life._replace(
            confidence=confidence,
            confidence_at=moment,
            trust=min(life.trust, op.trust, key=_TRUST_RANK.__getitem__),
            evidence_count=life.evidence_count + 1,
            occurred_at=max(times, default=None),
        )
        self._receipt.supported += 1
        self._change("support", life, after, why=op.rule, added=[op.episode_id])

    def doubt(self, op: DoubtFact) -> None:
        """Add an episode that speaks against a fact, and halve the fact."""
        life = self._current(op.fact_id)
        if life is None or life.pinned or not self._add_evidence(op, Stance.CONTRADICTS):
            self._receipt.unchanged += 1
            return
        at = self._place(op.episode_id).occurred_at
        confidence, moment = halved(life, at=at, now=self._now)
        self._receipt.contradicted += 1
        self._change(
            "doubt",
            life,
            life._replace(confidence=confidence, confidence_at=moment),
            why=op.rule,
            added=[op.episode_id],
        )

    def _is_copy(self, op: SupportFact) -> bool:
        """Tell whether its text is that of an episode that counts already: a paste, no witness."""
        mine = copy_digest(self._text(op.episode_id))
        if not mine:
            return False
        known = self._writer.texts(list(self._writer.stances([op.fact_id])[op.fact_id]))
        return any(copy_digest(text) == mine for text in known.values())

    def _add_evidence(self, op: SupportFact | DoubtFact, stance: Stance) -> bool:
        """Insert the evidence row unless the episode counts already; tell whether it did."""
        known = self._writer.stances([op.fact_id])[op.fact_id]
        if op.episode_id in known:
            return False
        text = self._text(op.episode_id)
        room = min(op.end - op.start, policy.QUOTE_CHARS)
        if not (0 < len(op.quote) == room and text.startswith(op.quote, op.start)):
            raise UsageError(
                detail=f"the quote for fact {op.fact_id} does not stand at {op.start} of episode"
                f" {op.episode_id}"
            )
        rule_id = self._writer.rules([(op.rule, op.method)])[op.rule, op.method]
        self._receipt.evidence += self._writer.add_evidence(
            [
                NewEvidence(
                    fact_id=op.fact_id,
                    episode_id=op.episode_id,
                    rule_id=rule_id,
                    stance=stance,
                    quote=op.quote,
                    start=op.start,
                    end=op.end,
                )
            ]
        )
        return True

    # --- contradiction --------------------------------------------------------------------------

    def contradict(self, op: ContradictFacts) -> None:
        """Halve both facts, once for the pair; which is right is flagged for a verdict."""
        lives = self._writer.lives([op.low_id, op.high_id])
        low, high = lives.get(op.low_id), lives.get(op.high_id)
        known = self._writer.pair(op.low_id, op.high_id)
        waiting = known is not None and known.relation == "ambiguous"
        if low is None or high is None or not (low.current and high.current):
            self._receipt.unchanged += 1
            return
        if known is not None and not waiting:
            self._receipt.unchanged += 1
            return
        self._put_pair(op, "contradiction", verdict="CONTRADICTION" if waiting else "")
        for one, other in ((low, high), (high, low)):
            if one.pinned:
                continue  # its owner vouches for it
            at = max((low.occurred_at or 0), (high.occurred_at or 0)) or None
            confidence, moment = halved(one, at=at, now=self._now)
            self._receipt.contradicted += 1
            self._change(
                "contradict",
                one,
                one._replace(confidence=confidence, confidence_at=moment),
                why=op.rule,
                detail={"other": other.id, "says": op.detail},
            )

    def supersede(self, op: SupersedeFact) -> None:
        """Retire the older fact and point it to the newer one."""
        lives = self._writer.lives([op.old_id, op.new_id])
        old, new = lives.get(op.old_id), lives.get(op.new_id)
        if old is None or new is None:
            raise NotFound(what="fact", name=op.old_id if old is None else op.new_id, hint="")
        if not (old.current and new.current) or old.id == new.id or old.pinned:
            self._receipt.unchanged += 1
            return
        self._put_pair(op, "supersedes", verdict="")
        self._receipt.superseded += 1
        self._writer.drop_vectors("fact", [old.id])
        self._change(
            "supersede",
            old,
            old._replace(
                status=Status.SUPERSEDED,
                superseded_by=new.id,
                retired_at=self._now,
                valid_to=new.occurred_at if new.occurred_at is not None else self._now,
            ),
            why=op.rule,
            detail={"says": op.detail},
        )

    def judge(self, op: JudgePair) -> None:
        """Remember the relation of a pair that was not judged before."""
        if self._writer.pair(op.low_id, op.high_id) is not None:
            self._receipt.unchanged += 1
            return
        self._put_pair(op, op.relation, verdict="")
        if op.relation == "ambiguous":
            self._receipt.queued += 1

    def settle(self, op: SettlePair) -> None:
        """Decide a pair that waits."""
        if op.verdict not in policy.VERDICTS:
            raise UsageError(
                detail=f"{op.verdict!r} is no verdict; use one of {', '.join(policy.VERDICTS)}"
            )
        if self._writer.settle_pair(op.low_id, op.high_id, op.verdict):
            self._receipt.settled += 1
            self._event("settle", "fact", op.low_id, {"other": op.high_id, "verdict": op.verdict})
        else:
            self._receipt.unchanged += 1

    def _put_pair(
        self, op: ContradictFacts | SupersedeFact | JudgePair, relation: str, *, verdict: str
    ) -> None:
        if isinstance(op, SupersedeFact):
            low, high = sorted((op.old_id, op.new_id))
        else:
            low, high = op.low_id, op.high_id
        if low >= high:
            raise UsageError(detail=f"a pair names two facts, the lower id first: {low}, {high}")
        if self._writer.pair(low, high) is None:
            self._receipt.judged += 1
        self._writer.put_pair(
            Pair(low, high, relation, op.rule, op.detail, op.similarity, self._now, verdict)
        )

    # --- merging --------------------------------------------------------------------------------

    def merge(self, op: MergeFacts) -> None:
        """Give the winner the losers' evidence and retire them with a pointer."""
        ids = [op.winner_id, *op.loser_ids]
        lives = self._writer.lives(ids)
        seen = dict(zip(ids, op.evidence_counts, strict=True))
        ready = len(lives) == len(ids) == len(set(ids)) and all(
            one.current and one.evidence_count == seen[one.id] for one in lives.values()
        )
        if not ready:
            self._receipt.unchanged += 1  # somebody changed one of them: the next run looks again
            return
        winner = lives[op.winner_id]
        stances = self._writer.stances(ids)
        have = dict(stances[winner.id])
        for loser_id in op.loser_ids:
            winner = self._merge_one(winner, lives[loser_id], have, stances[loser_id], op)
        self._writer.drop_vectors("fact", list(op.loser_ids))

    def _merge_one(
        self,
        winner: Life,
        loser: Life,
        have: dict[int, Stance],
        offered: Mapping[int, Stance],
        op: MergeFacts,
    ) -> Life:
        moved = [episode for episode in offered if episode not in have]
        self._writer.copy_evidence(loser.id, winner.id, moved)
        have.update({episode: offered[episode] for episode in moved})
        moment = max(winner.confidence_at, loser.confidence_at)
        times = [one for one in (winner.occurred_at, loser.occurred_at) if one is not None]
        supports = sum(1 for one in have.values() if one is Stance.SUPPORTS)
        after = winner._replace(
            confidence=max(value_at(winner, moment), value_at(loser, moment)),
            confidence_at=moment,
            trust=min(winner.trust, loser.trust, key=_TRUST_RANK.__getitem__),
            evidence_count=supports,
            occurred_at=max(times, default=None),
            pinned=winner.pinned or loser.pinned,
        )
        self._change("absorb", winner, after, why=op.rule, added=moved, detail={"loser": loser.id})
        self._receipt.merged += 1
        self._change(
            "merge",
            loser,
            loser._replace(
                status=Status.MERGED_INTO, merged_into_id=winner.id, retired_at=self._now
            ),
            why=op.rule,
            detail={"says": op.detail} if op.detail else {},
        )
        return after

    def unmerge(self, op: UnmergeFact) -> None:
        """Take a fact out of the one it was merged into; they are not merged again."""
        loser = self._find(op.fact_id)
        if loser.merged_into_id is None:
            raise UsageError(detail=f"fact {op.fact_id} was not merged into another one")
        winner = self._find(loser.merged_into_id)
        if self._writer.facts([self._claim(loser)]):
            raise UsageError(
                detail=f"fact {op.fact_id} was stated again since and is current as another row;"
                " there is nothing to take out"
            )
        mine = self._writer.stances([loser.id])[loser.id]
        moved = [one for one in self._moved(winner.id, loser.id) if one in mine]
        self._writer.remove_evidence(winner.id, moved)
        self._take_back(winner, loser, moved)
        low, high = sorted((winner.id, loser.id))
        pair = self._writer.pair(low, high)
        said = pair._replace(verdict="KEEP_BOTH") if pair else None
        self._writer.put_pair(
            said
            or Pair(
                low, high, "same", "unmerged", "a person keeps both", 1.0, self._now, "KEEP_BOTH"
            )
        )
        self._receipt.unmerged += 1

    def _take_back(self, winner: Life, loser: Life, moved: Sequence[int]) -> None:
        left = self._writer.stances([winner.id])[winner.id]
        supports = [one for one, stance in left.items() if stance is Stance.SUPPORTS]
        times = [self._place(one).occurred_at for one in supports]
        self._change(
            "give_back",
            winner,
            winner._replace(
                evidence_count=len(supports),
                occurred_at=max((one for one in times if one is not None), default=None),
            ),
            why="unmerge",
            removed=list(moved),
            detail={"loser": loser.id},
        )
        self._change(
            "unmerge",
            loser,
            loser._replace(
                status=Status.PENDING_EMBED if loser.embeddable else Status.ACTIVE,
                merged_into_id=None,
                retired_at=None,
            ),
            why="unmerge",
        )

    def _moved(self, winner_id: int, loser_id: int) -> list[int]:
        """Return the episodes that the winner has from this loser, by its history."""
        moved: list[int] = []
        for event in self._writer.history("fact", winner_id):
            if event.detail.get("loser") != loser_id:
                continue
            if event.op == "absorb":
                moved = _ints(event.detail.get("added"))
            elif event.op == "give_back":
                moved = []
        return moved

    def _claim(self, life: Life) -> bytes:
        from factbook.store.base import claim_digest

        return claim_digest(life.owner, life.subject, life.predicate, life.object)

    # --- a person's word ------------------------------------------------------------------------

    def pin(self, op: PinFact) -> None:
        """Stop a fact from fading, at the value that it has now, or let it fade from now on."""
        life = self._find(op.fact_id)
        if life.pinned == op.pinned:
            self._receipt.unchanged += 1
            return
        after = life._replace(
            pinned=op.pinned, confidence=value_at(life, self._now), confidence_at=self._now
        )
        self._receipt.updated += 1
        self._change("pin" if op.pinned else "unpin", life, after, why="command")

    def rate(self, op: RateFact) -> None:
        """Take a person's word: right makes it sure from now on, wrong puts it out of retrieval."""
        life = self._find(op.fact_id)
        value = value_at(life, self._now)
        after = life._replace(
            confidence=max(value, policy.FEEDBACK_RIGHT) if op.right else 0.0,
            confidence_at=self._now,
            pinned=life.pinned and op.right,
        )
        self._receipt.updated += 1
        self._change("rate", life, after, why="right" if op.right else "wrong")
        self._count("feedback_right" if op.right else "feedback_wrong", 1.0)

    # --- undo -----------------------------------------------------------------------------------

    def revert(self, op: RevertFact) -> None:
        """Restore what one event changed, where the fact is still as the event left it."""
        event = self._writer.event(op.event_id)
        if event is None:
            raise NotFound(what="event", name=op.event_id, hint="`factbook explain` shows them.")
        life = self._find(int(event.target.split(":", 1)[1]))
        if event.op == "store":
            # What the run had stored is kept, as everything is, but put out of retrieval.
            before: dict[str, Any] = {"confidence": 0.0}
            after = {"confidence": event.detail.get("confidence")}
        else:
            before = _mapping(event.detail.get("before"))
            after = _mapping(event.detail.get("after"))
        if not after or any(getattr(life, name) != value for name, value in after.items()):
            self._receipt.unchanged += 1
            return
        restored = life._replace(**{name: _typed(name, value) for name, value in before.items()})
        if restored.current and not life.current and self._writer.facts([self._claim(life)]):
            self._receipt.unchanged += 1  # the same was stated again since: there is a current row
            return
        added = _ints(event.detail.get("added"))
        self._writer.remove_evidence(life.id, added)
        if restored.current and not life.current and life.embeddable:
            restored = restored._replace(status=Status.PENDING_EMBED)
        self._receipt.reverted += 1
        self._change("revert", life, restored, why=f"undo of event {op.event_id}", removed=added)

    # --- bookkeeping ----------------------------------------------------------------------------

    def propose(self, op: Propose) -> None:
        """Put something before a person, once."""
        digest = hashlib.blake2b(f"{op.kind}\0{op.key}".encode(), digest_size=16).digest()
        made = self._writer.add_proposal(digest, op.kind, op.title, op.payload)
        if made is None:
            self._receipt.unchanged += 1
            return
        self._receipt.proposed += 1
        self._event("propose", "proposal", made, {"kind": op.kind, "title": op.title})

    def decide(self, op: DecideProposal) -> None:
        """Take a yes or no."""
        state = "accepted" if op.accept else "refused"
        if not self._writer.decide_proposal(op.proposal_id, state, op.reason):
            raise UsageError(detail=f"proposal {op.proposal_id} is not open; see `factbook review`")
        self._receipt.settled += 1
        self._event("decide", "proposal", op.proposal_id, {"state": state, "reason": op.reason})

    def mark(self, op: MarkProgress) -> None:
        """Remember how far the work has come."""
        self._writer.set_mark(op.name, op.value)

    def keep_loose(self, op: KeepLoose) -> None:
        """Remember which episodes stand alone."""
        self._writer.set_loose(op.episode_ids)

    def start_run(self, op: StartRun) -> None:
        """Begin a consolidation."""
        self._writer.put_run(Run(op.run_id, self._now, None, "running", "", {}))
        self._event("start", "run", op.run_id)

    def finish_run(self, op: FinishRun) -> None:
        """Say where a consolidation stands."""
        known = self._writer.run(op.run_id)
        if known is None:
            raise NotFound(
                what="run", name=op.run_id, hint="`factbook consolidate --list` shows them."
            )
        finished = known.finished_at if op.state == "running" else self._now
        self._writer.put_run(
            known._replace(finished_at=finished, state=op.state, phase=op.phase, report=op.report)
        )
        if op.state != "running":
            self._event(op.state, "run", op.run_id)

    def next_vectors(self, op: StoreNextVectors) -> None:
        """Keep vectors of the next model."""
        written = self._writer.set_next_vectors(
            op.target, op.ids, op.vectors, model=op.model, dim=op.dim
        )
        self._receipt.embedded += len(written)

    def replace_vectors(self, op: ReplaceVectors) -> None:
        """Swap the vectors in use for those of the next model."""
        count = self._writer.replace_vectors(model=op.model, dim=op.dim)
        self._event("reembed", "store", 0, {"model": op.model, "vectors": count})

    def injection(self, op: RecordInjection) -> None:
        """Remember what was put before a model or a person."""
        made = self._writer.add_injection(op.owner, op.session, op.mode, op.items)
        if op.used is not None:
            self._writer.set_use(made, op.used, resolved=None)
            self._count(f"{op.mode}_judged_items", float(len(op.items)))
            self._count(f"{op.mode}_used_items", float(len(op.used)))
        if op.latency_ms is not None:
            self._count(f"{op.mode}_latency_ms", op.latency_ms)
            self._count(f"{op.mode}_latency_turns", 1.0)
        self._count(f"{op.mode}_turns", 1.0)
        self._count(f"{op.mode}_items", float(len(op.items)))

    def use(self, op: RecordUse) -> None:
        """Remember which of it was used."""
        if not self._writer.set_use(op.injection_id, op.used, resolved=op.resolved):
            raise NotFound(what="injection", name=op.injection_id, hint="")

    def count(self, op: Count) -> None:
        """Add to a counter of the day."""
        self._count(op.name, op.value)

    def _count(self, name: str, value: float) -> None:
        day = datetime.fromtimestamp(self._now / 1000, UTC).strftime("%Y-%m-%d")
        self._writer.add_count(day, name, value)

    # --- rows and events ------------------------------------------------------------------------

    def _find(self, fact_id: int) -> Life:
        found = self._writer.lives([fact_id]).get(fact_id)
        if found is None:
            raise NotFound(
                what="fact", name=fact_id, hint="`factbook facts` lists the facts with their ids."
            )
        return found

    def _current(self, fact_id: int) -> Life | None:
        """Return a fact that may still change, following what it was merged into."""
        life = self._find(fact_id)
        return life if life.current else None

    def _text(self, episode_id: int) -> str:
        if episode_id not in self._texts:
            self._texts.update(self._writer.texts([episode_id]))
        if episode_id not in self._texts:
            raise NotFound(what="episode", name=episode_id, hint="`factbook recall` shows ids.")
        return self._texts[episode_id]

    def _place(self, episode_id: int) -> Place:
        if episode_id not in self._places:
            self._places.update(self._writer.places([episode_id]))
        return self._places[episode_id]

    def _change(
        self,
        op: str,
        before: Life,
        after: Life,
        *,
        why: str,
        added: Sequence[int] = (),
        removed: Sequence[int] = (),
        detail: Mapping[str, object] | None = None,
    ) -> None:
        self._writer.write_lives([after])
        changed = [name for name in _PARTS if getattr(before, name) != getattr(after, name)]
        event: dict[str, object] = {
            "why": why,
            "before": {name: getattr(before, name) for name in changed},
            "after": {name: getattr(after, name) for name in changed},
            **(detail or {}),
        }
        if added:
            event["added"] = list(added)
        if removed:
            event["removed"] = list(removed)
        self._event(op, "fact", before.id, event)

    def _event(
        self, op: str, kind: str, target: int, detail: Mapping[str, object] | None = None
    ) -> None:
        self.events.append(NewEvent(op=op, target_kind=kind, target_id=target, detail=detail))


def _ints(value: object) -> list[int]:
    return [one for one in value if isinstance(one, int)] if isinstance(value, list) else []


def _mapping(value: object) -> dict[str, Any]:
    return dict(value) if isinstance(value, dict) else {}


def _typed(name: str, value: Any) -> Any:
    if name == "status":
        return Status(value)
    return Trust(value) if name == "trust" else value


_HANDLERS: Mapping[type[Op], Callable[[Changes, Any], None]] = {
    SupportFact: Changes.support,
    DoubtFact: Changes.doubt,
    ContradictFacts: Changes.contradict,
    SupersedeFact: Changes.supersede,
    JudgePair: Changes.judge,
    SettlePair: Changes.settle,
    MergeFacts: Changes.merge,
    UnmergeFact: Changes.unmerge,
    PinFact: Changes.pin,
    RateFact: Changes.rate,
    RevertFact: Changes.revert,
    Propose: Changes.propose,
    DecideProposal: Changes.decide,
    MarkProgress: Changes.mark,
    KeepLoose: Changes.keep_loose,
    StartRun: Changes.start_run,
    FinishRun: Changes.finish_run,
    StoreNextVectors: Changes.next_vectors,
    ReplaceVectors: Changes.replace_vectors,
    RecordInjection: Changes.injection,
    RecordUse: Changes.use,
    Count: Changes.count,
}
CHANGING: tuple[type[Op], ...] = tuple(_HANDLERS)
"""The Ops that are applied here, in the order in which they are given."""
