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
from functools import reduce
from operator import add
from typing import TYPE_CHECKING, Any, NamedTuple, get_args

from factbook import policy
from factbook.errors import ModelError, ModelFailure, NotFound, UsageError
from factbook.model.confidence import better_trust, halved, supported, value_at, worse_trust
from factbook.model.facts import (
    Event,
    Injection,
    Millis,
    ModelTask,
    Proposal,
    Receipt,
    Run,
    Stance,
    Status,
    Trigger,
    Trust,
)
from factbook.model.interest_ops import AddAlias, CreateEntity, InterestOp
from factbook.model.ops import (
    BeginCall,
    ChangeKeys,
    ConfirmFact,
    ContradictFacts,
    Count,
    DecideProposal,
    DoubtFact,
    EndCall,
    ErasingOp,
    FailTask,
    FinishRun,
    FinishTask,
    JudgePair,
    KeepLoose,
    MarkProgress,
    MergeFacts,
    Op,
    PinFact,
    Propose,
    QueueTask,
    RateFact,
    RecordInjection,
    RecordUse,
    ReplaceVectors,
    RetryTasks,
    RevertFact,
    SettlePair,
    StartRun,
    StoreNextVectors,
    SupersedeFact,
    SupportFact,
    UnmergeFact,
)
from factbook.model.text import stands_at
from factbook.store.base import Writer
from factbook.store.derived.facts import current_by_claim, lives_by_id
from factbook.store.derived.ledger import stances
from factbook.store.kinds import (
    ALL,
    CALL,
    COUNT,
    EVENT,
    INJECTION,
    LOOSE,
    MARK,
    MODEL_TASK,
    PAIR,
    PROPOSAL,
    RUN,
    CallCount,
    Calls,
    DayCount,
    Loose,
    Mark,
    Pair,
)
from factbook.store.port import events_of, first
from factbook.store.rows import EpisodeHead, EvidenceRow, Life

if TYPE_CHECKING:
    from factbook.apply.entities import WorldChanges
    from factbook.apply.erasure import Erasing
    from factbook.extract.voice import OwnWords

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

# What can be taken back, besides merges. To take back what took something back would be to do it
# again, on facts that have gone on since.
_REVERTIBLE = frozenset(
    {"store", "support", "doubt", "contradict", "supersede", "pin", "unpin", "rate", "confirm"}
)
_UNWRITTEN = 1 << 62  # events of this call have no ids yet and are later than all that have

_COPY_CHARS = 80  # ours: shorter texts are the same by chance


def copy_digest(text: str) -> str:
    """Return what copies of a text have in common; empty for one too short to be a copy."""
    same = " ".join(text.casefold().split())
    if len(same) < _COPY_CHARS:
        return ""
    return hashlib.blake2b(same.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def proposal_claim(kind: str, key: str) -> bytes:
    """Return what stands for a proposal, so that it is made once."""
    data = f"{kind}\0{key}".encode("utf-8", "surrogatepass")
    return hashlib.blake2b(data, digest_size=16).digest()


def memory_key(owner: str, predicate: str, text: str) -> str:
    """Return the key of a proposed memory: the same words of one owner and type are one."""
    return f"{owner}\0{predicate}\0{' '.join(text.casefold().split())}"


class _Past(NamedTuple):
    """One event in the history of a fact."""

    id: int
    at: Millis
    op: str
    detail: Mapping[str, Any]


class Changes:
    """The changes of one call of `apply`."""

    def __init__(
        self,
        writer: Writer,
        receipt: Receipt,
        *,
        now: Millis,
        trigger: Trigger,
        actor: str,
        run_id: int | None = None,
    ) -> None:
        self._writer = writer
        self._receipt = receipt
        self._now = now
        self._trigger = trigger
        self._actor = actor
        self._run_id = run_id  # of the consolidation that the changes belong to
        self._world: WorldChanges | None = None
        self._erasing: Erasing | None = None
        self._texts: dict[int, str] = {}
        self._heads: dict[int, EpisodeHead] = {}
        self._voices: dict[int, OwnWords] = {}
        self._unwritten: dict[int, list[_Past]] = {}  # fact id -> its events of this call
        self._parted: set[int] = set()  # events whose other half was taken back in this call
        self.events: list[Event] = []

    def run(self, ops: Iterable[Op]) -> None:
        """Apply the ops in their order."""
        for op in ops:
            _HANDLERS[type(op)](self, op)

    @property
    def world(self) -> WorldChanges:
        """What changes entities, engagements, searches and notices; reading logs needs none."""
        if self._world is None:
            from factbook.apply.entities import WorldChanges

            self._world = WorldChanges(
                self._writer, self._receipt, self, now=self._now, trigger=self._trigger
            )
        return self._world

    def care(self, op: Op) -> None:
        """Apply what is about entities, engagements, searches and notices."""
        self.world.run(op)

    def erase(self, op: Op) -> None:
        """Erase for good, or let what was erased be kept again."""
        if self._erasing is None:
            from factbook.apply.erasure import Erasing  # seldom needed

            self._erasing = Erasing(
                self._writer, self._receipt, self, now=self._now, actor=self._actor
            )
        self._erasing.run(op)

    # --- evidence -------------------------------------------------------------------------------

    def support(self, op: SupportFact) -> None:
        """Add an episode that speaks for a fact, and let the fact grow."""
        if not 0.0 <= op.confidence <= 1.0:  # also refuses NaN
            raise UsageError(
                detail=f"the confidence {op.confidence} of the support for fact {op.fact_id} is"
                " not between 0 and 1"
            )
        life = self._current(op.fact_id)
        if (
            life is None
            or not self._may_witness(op, life)
            or self._is_ruled_out(op, life)
            or self._is_copy(op, life)
            or not self._add_evidence(op, life, Stance.SUPPORTS)
        ):
            self._receipt.unchanged += 1
            return
        at = self._witness(op.episode_id).occurred_at
        # The row of the episode bounds what the op claims of it.
        trust = worse_trust(op.trust, self.heard(op.episode_id, op.start, op.end))
        own = min(op.confidence, policy.TRUST_CAP[trust])
        confidence, moment = supported(life, at=at, trust=trust, now=self._now, own=own)
        times = [one for one in (life.occurred_at, at) if one is not None]
        waits = life.status is Status.PROPOSED and op.rule != policy.OVERHEARD
        waits = waits and not self._witness(op.episode_id).other
        if waits:
            self._receipt.confirmed += 1  # origins 002.2: a second observation confirms a pattern
            self._close_proposal(life, told=self._witness(op.episode_id).told)
        after = life._replace(
            status=_awake(life) if waits else life.status,
            confidence=confidence,
            confidence_at=moment,
            trust=better_trust(life.trust, trust),
            evidence_count=life.evidence_count + 1,
            occurred_at=max(times, default=None),
        )
        self._receipt.supported += 1
        self.change("support", life, after, why=op.rule, added=[op.episode_id])

    def _close_proposal(self, life: Life, *, told: bool) -> None:
        """Take a fact that was told or seen again off the list of what waits for a yes."""
        claim = proposal_claim("memory", memory_key(life.owner, life.predicate, life.object))
        known = first(self._writer, PROPOSAL, {"claim": claim})
        if known is not None and known.state == "open":
            self._decide(
                known, "accepted", "its owner says so" if told else "it was observed again"
            )

    def _decide(self, proposal: Proposal, state: str, reason: str) -> None:
        decided = proposal._replace(
            state=state, decided_at=self._now, decided_by=self._actor, reason=reason
        )
        self._writer.put(PROPOSAL, [decided])
        self._receipt.settled += 1
        self.event("decide", "proposal", proposal.id, {"state": state, "reason": reason})

    def doubt(self, op: DoubtFact) -> None:
        """Add an episode that speaks against a fact, and halve the fact."""
        life = self._current(op.fact_id)
        heard = self.heard(op.episode_id, op.start, op.end) is not Trust.DIRECT
        heard = heard or self._witness(op.episode_id).other
        if (
            life is None
            or life.pinned
            or not self._may_witness(op, life)
            or (heard and self._is_vouched(life))  # what was told bends to no hearsay
            or not self._add_evidence(op, life, Stance.CONTRADICTS)
        ):
            self._receipt.unchanged += 1
            return
        at = self._witness(op.episode_id).occurred_at
        confidence, moment = halved(life, at=at, now=self._now)
        self._receipt.contradicted += 1
        self.change(
            "doubt",
            life,
            life._replace(confidence=confidence, confidence_at=moment),
            why=op.rule,
            added=[op.episode_id],
        )

    def _may_witness(self, op: SupportFact | DoubtFact, life: Life) -> bool:
        """Tell whether an episode can speak of a fact: our own text and others' words cannot."""
        witness = self._witness(op.episode_id)
        return not witness.injected and witness.owner == life.owner

    def _is_ruled_out(self, op: SupportFact, life: Life) -> bool:
        """Tell whether its owner said that it is wrong: nobody else's words bring it back."""
        own = self.heard(op.episode_id, op.start, op.end) is Trust.DIRECT
        if life.confidence > 0.0 or (own and not self._witness(op.episode_id).other):
            return False
        rated = [one for one in self._history(life.id) if one.op == "rate"]
        return bool(rated) and rated[-1].detail.get("why") == "wrong"

    def _is_copy(self, op: SupportFact, life: Life) -> bool:
        """Tell whether its text is that of an episode that counts already: a paste, no witness."""
        mine = copy_digest(self._text(op.episode_id))
        if not mine:
            return False
        known = self._writer.texts("episode", list(stances(self._writer, [life.id])[life.id]))
        return any(copy_digest(text) == mine for text in known.values())

    def _add_evidence(self, op: SupportFact | DoubtFact, life: Life, stance: Stance) -> bool:
        """Insert the evidence row unless the episode counts already; tell whether it did."""
        known = stances(self._writer, [life.id])[life.id]
        if op.episode_id in known:
            return False
        text = self._text(op.episode_id)
        if not stands_at(op.quote, text, op.start, op.end):
            raise UsageError(
                detail=f"the quote for fact {life.id} does not stand at {op.start} of episode"
                f" {op.episode_id}"
            )
        self._receipt.evidence += self._writer.add_evidence(
            [
                EvidenceRow(
                    fact_id=life.id,
                    episode_id=op.episode_id,
                    rule=op.rule,
                    method=op.method,
                    stance=stance,
                    quote=op.quote[: policy.QUOTE_CHARS],
                    start=op.start,
                    end=op.end,
                )
            ]
        )
        return True

    # --- contradiction --------------------------------------------------------------------------

    def contradict(self, op: ContradictFacts) -> None:
        """Halve both facts, once for the pair; which is right is flagged for a verdict.

        A fact loses half once per run, or per day outside of one: what contradicts many others is
        not the less likely for each of them.
        """
        low, high = self._find(op.low_id), self._find(op.high_id)
        known = self._pair(op.low_id, op.high_id)
        waiting = known is not None and known.relation == "ambiguous" and not known.verdict
        if not (low.current and high.current):
            self._receipt.unchanged += 1
            return
        if known is not None and not waiting:
            self._receipt.unchanged += 1
            return
        if self._only_asks(low, by=high, halves=True) or self._only_asks(high, by=low, halves=True):
            self._ask(low, high, detail=op.detail, similarity=op.similarity)
            return
        self._put_pair(op, "contradiction", verdict="CONTRADICTION" if waiting else "")
        for one, other in ((low, high), (high, low)):
            if one.pinned or self._was_halved(one):
                continue  # its owner vouches for it, or it has lost its half
            at = max((low.occurred_at or 0), (high.occurred_at or 0)) or None
            confidence, moment = halved(one, at=at, now=self._now)
            self._receipt.contradicted += 1
            self.change(
                "contradict",
                one,
                one._replace(confidence=confidence, confidence_at=moment),
                why=op.rule,
                detail={"other": other.id, "says": op.detail, "run": self._run_id},
            )

    def _was_halved(self, life: Life) -> bool:
        """Tell whether a contradiction of the same run, or of the day outside of one, holds."""
        run = self._run_id
        halvings: set[int] = set()
        for past in self._history(life.id):
            if past.op == "contradict" and past.detail.get("run") == run:
                if run is not None or _day(past.at) == _day(self._now):
                    halvings.add(past.id)
            elif past.op == "revert":
                halvings.discard(past.detail.get("event", 0))
        return bool(halvings)

    def supersede(self, op: SupersedeFact) -> None:
        """Retire the older fact and point it to the newer one."""
        old, new = self._find(op.old_id), self._find(op.new_id)
        _same_owner("supersede", old, new)
        if not (old.current and new.current) or old.id == new.id:
            self._receipt.unchanged += 1
            return
        if self._only_asks(old, by=new):
            self._ask(old, new, detail=op.detail, similarity=op.similarity)
            return
        if old.pinned:
            self._receipt.unchanged += 1
            return
        self._put_pair(op, "supersedes", verdict="")
        self._receipt.superseded += 1
        self._writer.drop_vectors("fact", [old.id])
        self.change(
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
        self._find(op.low_id), self._find(op.high_id)  # raises for one that is not there
        if self._pair(op.low_id, op.high_id) is not None:
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
        self._find(op.low_id), self._find(op.high_id)  # raises for one that is not there
        known = self._pair(op.low_id, op.high_id)
        # Of what was overheard a person is asked, and nobody answers for them.
        may = known is not None and (known.rule != policy.OVERHEARD or self._is_answer)
        if known is None or known.verdict or not may:
            self._receipt.unchanged += 1
            return
        settled = known._replace(verdict=op.verdict, settled_at=self._now, settled_by=self._actor)
        self._writer.put(PAIR, [settled])
        self._receipt.settled += 1
        self.event("settle", "fact", op.low_id, {"other": op.high_id, "verdict": op.verdict})

    # --- what was told and what was overheard ---------------------------------------------------

    def voice(self, episode_id: int) -> OwnWords:
        """Return which words of an episode are of whoever said it (`extract.voice`)."""
        if episode_id not in self._voices:
            from factbook.extract.voice import voice_of  # reading logs needs it for prompts alone

            self._voices[episode_id] = voice_of(
                self._writer.episodes_by_id([episode_id])[episode_id]
            )
        return self._voices[episode_id]

    def heard(self, episode_id: int, start: int, end: int) -> Trust:
        """Return how far a part of an episode is trusted: not as its owner's, where it is not."""
        trust = self._witness(episode_id).trust
        if trust is not Trust.DIRECT:
            return trust
        overheard = self.voice(episode_id).overheard
        return Trust.DERIVED if any(a < end and start < b for a, b, _ in overheard) else trust

    @property
    def _is_answer(self) -> bool:
        """Tell whether it is a person who decides."""
        return self._trigger is Trigger.COMMAND

    def _only_asks(self, life: Life, *, by: Life, halves: bool = False) -> bool:
        """Tell whether one fact may not retire or halve another unless a person says so.

        Nothing overheard takes the place of its owner's own words, and it does not even make less
        sure what the owner told on purpose. A person's answer may do either.
        """
        if self._is_answer:
            return False
        if by.trust is Trust.DIRECT:  # but of several who speak, each only speaks for himself
            return self._is_others(by) and self._is_vouched(life)
        return (life.trust is Trust.DIRECT and not halves) or self._is_vouched(life)

    def _is_others(self, life: Life) -> bool:
        """Tell whether a fact stands on what others said by their own names."""
        said = [self._witness(support) for support in self._supports(life.id)]
        direct = [episode_head for episode_head in said if episode_head.trust is Trust.DIRECT]
        return bool(direct) and all(episode_head.other for episode_head in direct)

    def _is_vouched(self, life: Life) -> bool:
        """Tell whether its owner stands for a fact: told it, pinned it, or called it right."""
        if life.pinned or any(self._witness(support).told for support in self._supports(life.id)):
            return True
        word = [one for one in self._history(life.id) if one.op in ("rate", "confirm")]
        return bool(word) and (word[-1].op == "confirm" or word[-1].detail.get("why") == "right")

    def _ask(self, one: Life, other: Life, *, detail: str, similarity: float) -> None:
        """Put a pair before a person, once; both facts stay as they are until it is answered."""
        low, high = sorted((one.id, other.id))
        known = self._pair(low, high)
        if known is not None and (known.verdict or known.rule == policy.OVERHEARD):
            self._receipt.unchanged += 1
            return
        says = f"only overheard, against what was told: {detail}".removesuffix(": ")
        asked = Pair(low, high, "ambiguous", policy.OVERHEARD, says, similarity, self._now, "")
        self._writer.put(PAIR, [asked])
        self._receipt.judged += known is None
        self._receipt.queued += 1

    def _put_pair(
        self, op: ContradictFacts | SupersedeFact | JudgePair, relation: str, *, verdict: str
    ) -> None:
        if isinstance(op, SupersedeFact):
            low, high = sorted((op.old_id, op.new_id))
        else:
            low, high = op.low_id, op.high_id
        if low >= high:
            raise UsageError(detail=f"a pair names two facts, the lower id first: {low}, {high}")
        if self._pair(low, high) is None:
            self._receipt.judged += 1
        pair = Pair(low, high, relation, op.rule, op.detail, op.similarity, self._now, verdict)
        self._writer.put(PAIR, [pair])

    def _pair(self, low_id: int, high_id: int) -> Pair | None:
        return first(self._writer, PAIR, {"low_id": low_id, "high_id": high_id})

    # --- merging --------------------------------------------------------------------------------

    def merge(self, op: MergeFacts) -> None:
        """Give the winner the losers' evidence and retire them with a pointer."""
        ids = [op.winner_id, *op.loser_ids]
        if len(op.evidence_counts) != len(ids):
            raise UsageError(
                detail=f"a merge of {len(ids)} facts needs as many evidence counts, winner first;"
                f" {len(op.evidence_counts)} were given"
            )
        lives = {id_: self._find(id_) for id_ in ids}
        _same_owner("merge", *lives.values())
        seen = dict(zip(ids, op.evidence_counts, strict=True))
        ready = len(lives) == len(ids) and all(
            life.current and life.evidence_count == seen[life.id] for life in lives.values()
        )
        if not ready:
            self._receipt.unchanged += 1  # somebody changed one of them: the next run looks again
            return
        winner = lives[op.winner_id]
        losers = [life for life in lives.values() if life.id != winner.id]
        kept = [loser for loser in losers if self._only_asks(loser, by=winner)]
        if kept:
            for life in kept:
                self._ask(winner, life, detail=op.detail or "they say the same", similarity=1.0)
            return
        said = stances(self._writer, ids)
        have = dict(said[winner.id])
        for loser_id in op.loser_ids:
            winner = self._merge_one(winner, lives[loser_id], have, said[loser_id], op)
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
        lent = self._writer.evidence(pairs=[(loser.id, one) for one in moved])
        self._writer.add_evidence(
            [evidence._replace(fact_id=winner.id, learned_at=0) for evidence in lent]
        )
        have.update({episode: offered[episode] for episode in moved})
        moment = max(winner.confidence_at, loser.confidence_at)
        times = [one for one in (winner.occurred_at, loser.occurred_at) if one is not None]
        supports = sum(1 for stance in have.values() if stance is Stance.SUPPORTS)
        after = winner._replace(
            confidence=max(value_at(winner, moment), value_at(loser, moment)),
            confidence_at=moment,
            trust=better_trust(winner.trust, loser.trust),
            evidence_count=supports,
            occurred_at=max(times, default=None),
            pinned=winner.pinned or loser.pinned,
        )
        self.change("absorb", winner, after, why=op.rule, added=moved, detail={"loser": loser.id})
        self._receipt.merged += 1
        self.change(
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
        if current_by_claim(self._writer, [loser.claim]):
            raise UsageError(
                detail=f"fact {op.fact_id} was stated again since and is current as another row;"
                " there is nothing to take out"
            )
        self._part(loser, op="unmerge", why="unmerge")
        self._receipt.unmerged += 1

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
        waits = Status.PENDING_EMBED if loser.embeddable else Status.ACTIVE
        proposed = before.get("status") == Status.PROPOSED
        self.change(
            op,
            loser,
            loser._replace(
                status=Status.PROPOSED if proposed else waits,
                merged_into_id=None,
                retired_at=None,
            ),
            why=why,
            detail=detail,
        )
        mine = set(stances(self._writer, [loser.id])[loser.id])
        for winner in winners:
            self._take_back(winner, loser.id, mine, why=why, absorbed=absorbed)
            self._keep_apart(winner.id, loser.id)
            absorbed = None  # only the winner itself was changed by this fact

    def _winners(self, life: Life) -> list[Life]:
        """Return what a fact was merged into, what that one was merged into, and so on."""
        lives: list[Life] = []
        while life.merged_into_id is not None:
            life = self._find(life.merged_into_id)
            lives.append(life)
        return lives

    def _halves(self, loser: Life, winner_id: int) -> tuple[_Past | None, _Past | None]:
        """Return the two events of the last merge of a fact: its own, and that of its winner."""
        merged = [one for one in self._history(loser.id) if one.op == "merge"]
        absorbed = [
            one
            for one in self._history(winner_id)
            if one.op == "absorb" and one.detail.get("loser") == loser.id
        ]
        return merged[-1] if merged else None, absorbed[-1] if absorbed else None

    def _take_back(
        self,
        winner: Life,
        loser_id: int,
        episodes: Iterable[int],
        *,
        why: str,
        absorbed: _Past | None,
    ) -> None:
        """Take from a winner those episodes that it has by merging, and by no other fact."""
        children = self._children(winner.id)
        lent = self._lent(winner.id) - self._evidence_of(child.id for child in children)
        moved = sorted(lent.intersection(episodes, stances(self._writer, [winner.id])[winner.id]))
        if not moved and absorbed is None:
            return
        self._writer.drop_evidence([(winner.id, one) for one in moved])
        after = self._recounted(winner)
        if absorbed is not None:
            after = self._as_before(after, absorbed, children)
        elif moved:
            after = after._replace(trust=self._witnessed(after))
        self.change("give_back", winner, after, why=why, removed=moved, detail={"loser": loser_id})

    def _as_before(self, winner: Life, absorbed: _Past, children: Sequence[Life]) -> Life:
        """Return a winner with what it was before a merge, as far as nothing changed it since."""
        before = _mapping(absorbed.detail.get("before"))
        after = _mapping(absorbed.detail.get("after"))
        later = [one for one in self._history(winner.id) if one.id > absorbed.id]
        # What a later merge gave and gave back is even again; one that holds keeps its share.
        joined = {one.detail.get("loser") for one in later if one.op == "absorb"}
        held = any(child.id in joined for child in children)
        touched = {
            name
            for one in later
            if one.op not in ("absorb", "give_back")
            for name in _mapping(one.detail.get("before"))
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
        if untouched("trust") and not held and not any("added" in one.detail for one in later):
            return winner._replace(trust=Trust(before["trust"]))
        return winner._replace(trust=self._witnessed(winner))

    def _witnessed(self, life: Life) -> Trust:
        """Return the trust that the episodes behind a fact give it; never more than it has."""
        trusts = [self._witness(support).trust for support in self._supports(life.id)]
        return worse_trust(life.trust, reduce(better_trust, trusts)) if trusts else life.trust

    def _keep_apart(self, one_id: int, other_id: int) -> None:
        low, high = sorted((one_id, other_id))
        pair = self._pair(low, high) or Pair(
            low, high, "same", "unmerged", "a person keeps both", 1.0, self._now, ""
        )
        self._writer.put(PAIR, [pair._replace(verdict="KEEP_BOTH")])

    def _children(self, winner_id: int) -> list[Life]:
        """Return the facts that are merged into this one, itself and not by another."""
        losers = {one.detail["loser"] for one in self._history(winner_id) if one.op == "absorb"}
        lives = lives_by_id(self._writer, sorted(losers))
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

    def _evidence_of(self, fact_ids: Iterable[int]) -> set[int]:
        return {evidence.episode_id for evidence in self._writer.evidence(fact_ids=list(fact_ids))}

    def _supports(self, fact_id: int) -> list[int]:
        said = stances(self._writer, [fact_id])[fact_id]
        return [one for one, stance in said.items() if stance is Stance.SUPPORTS]

    def _recounted(self, life: Life) -> Life:
        """Return a fact with the count and the date that its evidence rows give."""
        supports = self._supports(life.id)
        times = [self._witness(support).occurred_at for support in supports]
        return life._replace(
            evidence_count=len(supports),
            occurred_at=max((time_ for time_ in times if time_ is not None), default=None),
        )

    # --- a person's word ------------------------------------------------------------------------

    def pin(self, op: PinFact) -> None:
        """Stop a fact from fading, at the value that it has now, or let it fade from now on."""
        life = self._standing(op.fact_id)
        if life.pinned == op.pinned:
            self._receipt.unchanged += 1
            return
        after = life._replace(
            pinned=op.pinned, confidence=value_at(life, self._now), confidence_at=self._now
        )
        self._receipt.updated += 1
        self.change("pin" if op.pinned else "unpin", life, after, why="command")

    def rate(self, op: RateFact) -> None:
        """Take a person's word: right makes it sure from now on, wrong puts it out of retrieval."""
        life = self._standing(op.fact_id)
        value = value_at(life, self._now)
        after = life._replace(
            confidence=max(value, policy.FEEDBACK_RIGHT) if op.right else 0.0,
            confidence_at=self._now,
            pinned=life.pinned and op.right,
        )
        self._receipt.updated += 1
        self.change("rate", life, after, why="right" if op.right else "wrong")
        self._count("feedback_right" if op.right else "feedback_wrong", 1.0)

    def confirm(self, op: ConfirmFact) -> None:
        """Make a proposed fact active on a person's word."""
        life = self._standing(op.fact_id)
        if life.status is not Status.PROPOSED:
            self._receipt.unchanged += 1
            return
        after = life._replace(
            status=_awake(life),
            confidence=max(value_at(life, self._now), policy.FEEDBACK_RIGHT),
            confidence_at=self._now,
        )
        self._receipt.confirmed += 1
        self.change("confirm", life, after, why="command")

    # --- undo -----------------------------------------------------------------------------------

    def revert(self, op: RevertFact) -> None:
        """Restore what one event changed, where the fact is still as the event left it.

        The two events of a merge, "merge" at the loser and "absorb" at the winner, are one: either
        takes back both or neither, whatever became of the winner since.
        """
        event = first(self._writer, EVENT, {"id": op.event_id})
        if event is None:
            raise NotFound(what="event", name=op.event_id, hint="`factbook explain` shows them.")
        if event.target_kind != "fact":
            raise UsageError(
                detail=f"event {op.event_id} is of {event.target}; only changes of facts can be"
                " taken back"
            )
        life = self._find(event.target_id)
        past = _Past(event.id, event.at, event.op, event.detail)
        if event.op in ("merge", "absorb"):
            done = self._revert_merge(life, past)
        else:
            done = event.op in _REVERTIBLE and self._revert_change(life, past)
        if done:
            self._receipt.reverted += 1
        else:
            self._receipt.unchanged += 1

    def _revert_merge(self, life: Life, event: _Past) -> bool:
        if event.id in self._parted:
            self._parted.discard(event.id)
            return True  # its other half was taken back before, and with it this one
        loser = self._find(event.detail["loser"]) if event.op == "absorb" else life
        if loser.merged_into_id is None or current_by_claim(self._writer, [loser.claim]):
            return False  # it is out already, or the same was stated again since
        merged, absorbed = self._halves(loser, loser.merged_into_id)
        halves = {one.id for one in (merged, absorbed) if one is not None}
        if event.id not in halves:
            return False  # it was taken out and merged again since
        self._part(loser, op="revert", why=f"undo of event {event.id}", detail={"event": event.id})
        self._parted |= halves - {event.id}
        return True

    def _revert_change(self, life: Life, event: _Past) -> bool:
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
        if not added.issubset(stances(self._writer, [life.id])[life.id]):
            return False  # its evidence was taken back before
        restored = life._replace(**{name: _typed(name, value) for name, value in before.items()})
        if restored.current and not life.current:
            if current_by_claim(self._writer, [life.claim]):
                return False  # the same was stated again since: there is a current row
            if life.embeddable and restored.status is Status.ACTIVE:
                restored = restored._replace(status=Status.PENDING_EMBED)
        # What was merged into it holds some of the evidence too: that stays, as the other's.
        kept = added & self._evidence_of(child.id for child in self._children(life.id))
        removed = sorted(added - kept)
        self._writer.drop_evidence([(life.id, one) for one in removed])
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

    # --- bookkeeping ----------------------------------------------------------------------------

    def propose(self, op: Propose) -> None:
        """Put something before a person, once."""
        new = Proposal(
            id=0,
            kind=op.kind,
            title=op.title,
            payload=op.payload,
            proposed_at=self._now,
            state="open",
            decided_at=None,
            reason="",
            claim=proposal_claim(op.kind, op.key),
            decided_by="",
        )
        (made,) = self._writer.add(PROPOSAL, [new])
        if made is None:
            self._receipt.unchanged += 1
            return
        self._receipt.proposed += 1
        self.event("propose", "proposal", made, {"kind": op.kind, "title": op.title})

    def decide(self, op: DecideProposal) -> None:
        """Take a yes or no."""
        state = "edited" if op.edited else "accepted" if op.accept else "refused"
        known = first(self._writer, PROPOSAL, {"id": op.proposal_id})
        if known is None or known.state != "open":
            raise UsageError(detail=f"proposal {op.proposal_id} is not open; see `factbook review`")
        self._decide(known, state, op.reason)

    def mark(self, op: MarkProgress) -> None:
        """Remember how far the work has come."""
        self._writer.put(MARK, [Mark(op.name, *op.at)])

    def keep_loose(self, op: KeepLoose) -> None:
        """Remember which episodes stand alone."""
        self._writer.drop(LOOSE, ALL)
        self._writer.put(LOOSE, [Loose(id_) for id_ in op.episode_ids])

    def start_run(self, op: StartRun) -> None:
        """Begin a consolidation."""
        self._writer.put(RUN, [Run(op.run_id, self._now, None, "running", "", {})])
        self.event("start", "run", op.run_id)

    def finish_run(self, op: FinishRun) -> None:
        """Say where a consolidation stands."""
        known = first(self._writer, RUN, {"id": op.run_id})
        if known is None:
            raise NotFound(
                what="run", name=op.run_id, hint="`factbook consolidate --list` shows them."
            )
        finished = known.finished_at if op.state == "running" else self._now
        now = known._replace(finished_at=finished, state=op.state, phase=op.phase, report=op.report)
        self._writer.put(RUN, [now])
        if op.state != "running":
            self.event(op.state, "run", op.run_id)

    def next_vectors(self, op: StoreNextVectors) -> None:
        """Keep vectors of the next model."""
        written = self._writer.set_vectors(
            op.target, op.ids, op.vectors, model=op.model, dim=op.dim, next=True
        )
        self._receipt.embedded += len(written)

    def replace_vectors(self, op: ReplaceVectors) -> None:
        """Swap the vectors in use for those of the next model."""
        count = self._writer.replace_vectors(model=op.model, dim=op.dim)
        self.event("reembed", "store", 0, {"model": op.model, "vectors": count})

    def injection(self, op: RecordInjection) -> None:
        """Remember what was put before a model or a person."""
        new = Injection(
            id=0,
            at=self._now,
            owner=op.owner,
            session=op.session,
            mode=op.mode,
            items=op.items,
            used=op.used or (),
            judged_at=None if op.used is None else self._now,
            resolved=None,
        )
        self._writer.add(INJECTION, [new])
        if op.used is not None:
            self._count(f"{op.mode}_judged_items", float(len(op.items)))
            self._count(f"{op.mode}_used_items", float(len(op.used)))
        if op.latency_ms is not None:
            self._count(f"{op.mode}_latency_ms", op.latency_ms)
            self._count(f"{op.mode}_latency_turns", 1.0)
        self._count(f"{op.mode}_turns", 1.0)
        self._count(f"{op.mode}_items", float(len(op.items)))

    def use(self, op: RecordUse) -> None:
        """Remember which of it was used."""
        known = first(self._writer, INJECTION, {"id": op.injection_id})
        if known is None:
            raise NotFound(what="injection", name=op.injection_id, hint="")
        used = known._replace(used=op.used, judged_at=self._now, resolved=op.resolved)
        self._writer.put(INJECTION, [used])

    # --- a language model -----------------------------------------------------------------------

    def change_keys(self, op: ChangeKeys) -> None:
        """Set, move and clear keyed facts."""
        from factbook.apply.keyed import KeyChanges  # reading logs needs none of it

        KeyChanges(self._writer, self._receipt, self, now=self._now).run(op)

    def queue_task(self, op: QueueTask) -> None:
        """Queue an input that was kept in the same call; whoever keeps it is given time to ask."""
        ids = self._writer.episode_ids([op.episode])
        if op.episode not in ids:
            raise NotFound(what="episode", name=op.episode, hint="record it in the same call.")
        target = ids[op.episode]
        until = self._now + policy.MODEL_PATIENCE_MS
        task = ModelTask(op.kind, target, "queued", 0, "", op.version, until, self._now)
        self._writer.add(MODEL_TASK, [task])  # one that is there stays as it is

    def finish_task(self, op: FinishTask) -> None:
        """Remember that a model has answered for an input."""
        known = self._task(op)
        attempts = known.attempts if known else 0
        task = ModelTask(op.kind, op.target, "done", attempts, "", op.version, 0, self._now)
        self._writer.put(MODEL_TASK, [task])

    def _task(self, op: FinishTask | FailTask) -> ModelTask | None:
        return first(self._writer, MODEL_TASK, {"kind": op.kind, "target": op.target})

    def fail_task(self, op: FailTask) -> None:
        """Leave an input queued with its reason; after policy.MODEL_ATTEMPTS it is set aside."""
        known = self._task(op)
        attempts = (known.attempts if known else 0) + op.tried
        aside = attempts >= policy.MODEL_ATTEMPTS
        wait = policy.MODEL_BACKOFF_MS * 2 ** min(max(attempts - 1, 0), policy.MODEL_ATTEMPTS)
        task = ModelTask(
            op.kind,
            op.target,
            "aside" if aside else "failed",
            attempts,
            op.error,
            op.version,
            self._now + wait,
            self._now,
        )
        self._writer.put(MODEL_TASK, [task])
        if op.tried:
            self._count(f"model_failed_{op.kind}", 1.0)

    def retry_tasks(self, op: RetryTasks) -> None:
        """Let inputs that were set aside be tried again, with a clean count."""
        aside = self._writer.find(MODEL_TASK, {"kind": op.kind, "state": "aside"})
        again = [model_task._replace(state="failed", attempts=0, until=0) for model_task in aside]
        self._writer.put(MODEL_TASK, again)
        self._receipt.updated += len(again)

    def begin_call(self, op: BeginCall) -> None:
        """Reserve a call under the write lock, so that a budget holds between processes too."""
        day = _day(self._now)
        spent = self._writer.find(CALL, {"day": day})
        for name, used, limit in (
            ("calls", sum(calls.calls for calls in spent), op.max_calls),
            (
                "tokens",
                sum(calls.prompt_tokens + calls.answer_tokens for calls in spent),
                op.max_tokens,
            ),
            ("money", sum(calls.money for calls in spent), op.max_money),
        ):
            if limit is not None and used >= limit:
                raise ModelError(
                    kind=ModelFailure.OVER_BUDGET,
                    model=op.model,
                    reason=f"the budget of the day ({limit:g} {name}) is spent, {used:g} were used",
                )
        self._add_call(op, day, "begun", CallCount(calls=1))

    def end_call(self, op: EndCall) -> None:
        """Count a reserved call, however it ended."""
        day = _day(op.began_at)
        self._add_call(op, day, "begun", CallCount(calls=-1))
        came_to = CallCount(1, op.prompt_tokens, op.answer_tokens, op.latency_ms, op.money)
        self._add_call(op, day, op.outcome, came_to)

    def _add_call(self, op: BeginCall | EndCall, day: str, outcome: str, count: CallCount) -> None:
        key = {"day": day, "purpose": op.purpose, "model": op.model, "outcome": outcome}
        known = first(self._writer, CALL, key)
        if known is not None:
            count = CallCount._make(map(add, known.came_to, count))
        self._writer.put(CALL, [Calls(day, op.purpose, op.model, outcome, *count)])

    def count(self, op: Count) -> None:
        """Add to a counter of the day."""
        self._count(op.name, op.value)

    def _count(self, name: str, value: float) -> None:
        day = _day(self._now)
        known = first(self._writer, COUNT, {"day": day, "name": name})
        self._writer.put(COUNT, [DayCount(day, name, value + (known.value if known else 0.0))])

    # --- rows and events ------------------------------------------------------------------------

    def _find(self, fact_id: int) -> Life:
        life = lives_by_id(self._writer, [fact_id]).get(fact_id)
        if life is None:
            raise NotFound(
                what="fact", name=fact_id, hint="`factbook facts` lists the facts with their ids."
            )
        return life

    def _end(self, fact_id: int) -> Life:
        """Return a fact, or the last of those that it was merged into."""
        life = self._find(fact_id)
        return (self._winners(life) or [life])[-1]

    def _current(self, fact_id: int) -> Life | None:
        """Return a fact that may still change, following what it was merged into."""
        life = self._end(fact_id)
        return life if life.current else None

    def _standing(self, fact_id: int) -> Life:
        """Return the fact that a person means by an id: what it was merged into, or itself.

        Raises UsageError for one that has been superseded, and names what took its place.
        """
        life = self._end(fact_id)
        if life.current:
            return life
        heir = life
        while heir.superseded_by is not None:
            heir = self._end(heir.superseded_by)
        if heir.id == life.id:
            raise UsageError(detail=f"fact {fact_id} is {life.status} and cannot be changed")
        raise UsageError(
            detail=f"fact {fact_id} was superseded: fact {heir.id} took its place, use that one"
        )

    def _history(self, fact_id: int) -> list[_Past]:
        """Return the history of a fact with what this call has done to it, oldest first."""
        written = events_of(self._writer, "fact", fact_id)
        pasts = [_Past(event.id, event.at, event.op, event.detail) for event in written]
        return pasts + self._unwritten.get(fact_id, [])

    def _witness(self, episode_id: int) -> EpisodeHead:
        if episode_id not in self._heads:
            self._heads.update(self._writer.heads([episode_id]))
        if episode_id not in self._heads:
            raise NotFound(what="episode", name=episode_id, hint="`factbook recall` shows ids.")
        return self._heads[episode_id]

    def _text(self, episode_id: int) -> str:
        if episode_id not in self._texts:
            self._texts.update(self._writer.texts("episode", [episode_id]))
        if episode_id not in self._texts:
            raise NotFound(what="episode", name=episode_id, hint="`factbook recall` shows ids.")
        return self._texts[episode_id]

    def change(
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
        self._writer.put_facts([(before, after)])
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
        self.event(op, "fact", before.id, event)

    def event(
        self, op: str, kind: str, target: int, detail: Mapping[str, object] | None = None
    ) -> None:
        self.events.append(self.event_of(op, kind, target, detail))
        if kind == "fact":
            past = _Past(_UNWRITTEN + len(self.events), self._now, op, detail or {})
            self._unwritten.setdefault(target, []).append(past)

    def event_of(
        self, op: str, kind: str, target: int, detail: Mapping[str, object] | None
    ) -> Event:
        """Return an event of this call."""
        return Event(
            0, self._now, self._actor, self._trigger, op, kind, target, detail or {}, self._run_id
        )


def _awake(life: Life) -> Status:
    """Return where a proposed fact goes once it is confirmed."""
    return Status.PENDING_EMBED if life.embeddable else Status.ACTIVE


def _day(at: Millis) -> str:
    return datetime.fromtimestamp(at / 1000, UTC).strftime("%Y-%m-%d")


def _same_owner(verb: str, first: Life, *others: Life) -> None:
    for other in others:
        if other.owner != first.owner:
            raise UsageError(
                detail=f"fact {first.id} is of {first.owner} and fact {other.id} of {other.owner};"
                f" a {verb} stays with one owner"
            )


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
    ChangeKeys: Changes.change_keys,
    ConfirmFact: Changes.confirm,
    QueueTask: Changes.queue_task,
    FinishTask: Changes.finish_task,
    FailTask: Changes.fail_task,
    RetryTasks: Changes.retry_tasks,
    BeginCall: Changes.begin_call,
    EndCall: Changes.end_call,
}
_HANDLERS = {
    **_HANDLERS,
    **dict.fromkeys(get_args(InterestOp), Changes.care),
    **dict.fromkeys(get_args(ErasingOp), Changes.erase),
}
# Facts of the same call may be about what is new: `apply` brings these in before facts.
CHANGING: frozenset[type[Op]] = frozenset(_HANDLERS).difference((CreateEntity, AddAlias))
"""The Ops that are applied here, in the order in which they are given."""
