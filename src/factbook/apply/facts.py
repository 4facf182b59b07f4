"""4 apply: what changes facts that are there. Called by `apply` alone, inside its transaction.

Every change is decided on the rows as they are at that moment, under the write lock: what was read
before may be stale, and a fact that has retired or changed meanwhile is left alone and counted as
unchanged. Each change writes one event with what it was before and after, which is what `explain`
draws and what an undo takes back.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, get_args

from factbook import policy
from factbook.apply.bookkeeping import memory_key, proposal_claim
from factbook.apply.fact_rows import awake, day_of, one_owner_only
from factbook.apply.merging import MergeChanges
from factbook.errors import UsageError
from factbook.model import ops
from factbook.model.confidence import better_trust, fades, halved, supported, value_at, worse_trust
from factbook.model.facts import FactKind, Stance, Status, Trust
from factbook.model.interest_ops import AddAlias, CreateEntity, InterestOp
from factbook.model.text import stands_at
from factbook.store.derived.ledger import stances
from factbook.store.kinds import PAIR, PROPOSAL, Pair
from factbook.store.port import first
from factbook.store.rows import EvidenceRow, Life, LifeWhere, Wiped, latest

if TYPE_CHECKING:
    from factbook.apply.entities import WorldChanges
    from factbook.apply.erasure import Erasing

_COPY_CHARS = 80  # ours: shorter texts are the same by chance


def copy_digest(text: str) -> str:
    """Return what copies of a text have in common; empty for one too short to be a copy."""
    same = " ".join(text.casefold().split())
    if len(same) < _COPY_CHARS:
        return ""
    return hashlib.blake2b(same.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


class Changes(MergeChanges):
    """The changes of one call of `apply`; what an Op asks for, its class says."""

    def run(self, given: Iterable[ops.Op]) -> None:
        """Apply the ops in their order."""
        for op in given:
            _HANDLERS[type(op)](self, op)

    @cached_property
    def world(self) -> WorldChanges:
        """What changes entities, engagements, searches and notices; reading logs needs none."""
        from factbook.apply.entities import WorldChanges

        return WorldChanges(self)

    def care(self, op: ops.Op) -> None:
        """Apply what is about entities, engagements, searches and notices."""
        self.world.run(op)

    def erase(self, op: ops.Op) -> None:
        """Erase for good, or let what was erased be kept again."""
        self._erasing.run(op)

    @cached_property
    def _erasing(self) -> Erasing:
        from factbook.apply.erasure import Erasing  # seldom needed

        return Erasing(self)

    @property
    def wiped(self) -> Wiped | None:
        """What was erased; None where nothing was."""
        erasing: Erasing | None = vars(self).get("_erasing")  # it is not made for a look
        return erasing.wiped if erasing is not None and erasing.wiped.erasures else None

    def support(self, op: ops.SupportFact) -> None:
        if not 0.0 <= op.confidence <= 1.0:  # also refuses NaN
            raise UsageError(
                detail=f"the confidence {op.confidence} of the support for fact {op.fact_id} is"
                " not between 0 and 1"
            )
        life = self.end_of(op.fact_id)
        if op.agrees and life.current:
            self._agree(op, life)
            return
        past = self._is_past(op, life)
        if (
            not (life.current or past)
            or not self._may_witness(op, life)
            or self._is_ruled_out(op, life)
            or self._is_copy(op, life)
            or not self._add_evidence(op, life, Stance.SUPPORTS)
        ):
            self.receipt.unchanged += 1
            return
        witness = self._witness(op.episode_id)
        at = witness.occurred_at
        seen = life._replace(
            evidence_count=life.evidence_count + 1, occurred_at=latest([life.occurred_at, at])
        )
        self.receipt.supported += 1
        if past:  # it makes nothing surer that is over
            self.change("support", life, seen, why=op.rule, added=[op.episode_id])
            return
        heard_at = at
        if at is not None and at < life.confidence_at:
            # Read late, it is no older for the fact than the silence that the fact counts from.
            heard_at = min(self.silent_from(witness.source_id, at), life.confidence_at)
        # The row of the episode bounds what the op claims of it.
        trust = worse_trust(op.trust, self.heard(op.episode_id, op.start, op.end))
        own = min(op.confidence, policy.TRUST_CAP[trust])
        confidence, moment = supported(life, at=heard_at, trust=trust, now=self.now, own=own)
        waits = life.status is Status.PROPOSED and op.rule != policy.OVERHEARD
        waits = waits and not self._witness(op.episode_id).other
        if waits:
            self.receipt.confirmed += 1  # origins 002.2: a second observation confirms a pattern
            self._close_proposal(life, told=self._witness(op.episode_id).told)
        after = seen._replace(
            status=awake(life) if waits else life.status,
            confidence=confidence,
            confidence_at=moment,
            trust=better_trust(life.trust, trust),
        )
        self.change("support", life, after, why=op.rule, added=[op.episode_id])

    def _is_past(self, op: ops.SupportFact, life: Life) -> bool:
        """Tell whether an episode says what was true then, and what another has taken since."""
        at, until = self._witness(op.episode_id).occurred_at, life.valid_to
        if life.status is not Status.SUPERSEDED or at is None or until is None:
            return False
        return at < until

    def _agree(self, op: ops.SupportFact, life: Life) -> None:
        """Make a fact as sure as two readings of one evidence are; it may be surer already.

        It is as old as it was: nothing was said again.
        """
        known = stances(self.writer, [life.id])[life.id]
        trust = worse_trust(op.trust, life.trust)
        sure = min(op.confidence, policy.TRUST_CAP[trust])
        doubted = life.confidence <= 0.0 or Stance.CONTRADICTS in known.values()
        if known.get(op.episode_id) is not Stance.SUPPORTS or doubted or life.confidence >= sure:
            self.receipt.unchanged += 1
            return
        after = life._replace(confidence=sure)
        self.receipt.supported += 1
        self.change("support", life, after, why=op.rule)

    def _close_proposal(self, life: Life, *, told: bool) -> None:
        """Take a fact that was told or seen again off the list of what waits for a yes."""
        claim = proposal_claim("memory", memory_key(life.owner, life.predicate, life.object))
        known = first(self.writer, PROPOSAL, {"claim": claim})
        if known is not None and known.state == "open":
            why = "its owner says so" if told else "it was observed again"
            self._decide(known, "accepted", why)

    def doubt(self, op: ops.DoubtFact) -> None:
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
            self.receipt.unchanged += 1
            return
        at = self._witness(op.episode_id).occurred_at
        confidence, moment = halved(life, at=at, now=self.now)
        self.receipt.contradicted += 1
        after = life._replace(confidence=confidence, confidence_at=moment)
        self.change("doubt", life, after, why=op.rule, added=[op.episode_id])

    def _may_witness(self, op: ops.SupportFact | ops.DoubtFact, life: Life) -> bool:
        """Tell whether an episode can speak of a fact: our own text and others' words cannot."""
        witness = self._witness(op.episode_id)
        return not witness.injected and witness.owner == life.owner

    def _is_ruled_out(self, op: ops.SupportFact, life: Life) -> bool:
        """Tell whether its owner said that it is wrong: nobody else's words bring it back."""
        own = self.heard(op.episode_id, op.start, op.end) is Trust.DIRECT
        if life.confidence > 0.0 or (own and not self._witness(op.episode_id).other):
            return False
        rated = [event for event in self._history(life.id) if event.op == "rate"]
        return bool(rated) and rated[-1].detail.get("why") == "wrong"

    def _is_copy(self, op: ops.SupportFact, life: Life) -> bool:
        """Tell whether its text is that of an episode that counts already: a paste, no witness."""
        mine = copy_digest(self._text(op.episode_id))
        if not mine:
            return False
        known = self.writer.texts("episode", list(stances(self.writer, [life.id])[life.id]))
        return any(copy_digest(text) == mine for text in known.values())

    def _add_evidence(
        self, op: ops.SupportFact | ops.DoubtFact, life: Life, stance: Stance
    ) -> bool:
        """Insert the evidence row unless the episode counts already; tell whether it did."""
        known = stances(self.writer, [life.id])[life.id]
        if op.episode_id in known:
            return False
        text = self._text(op.episode_id)
        if not stands_at(op.quote, text, op.start, op.end):
            raise UsageError(
                detail=f"the quote for fact {life.id} does not stand at {op.start} of episode"
                f" {op.episode_id}"
            )
        quote = op.quote[: policy.QUOTE_CHARS]
        row = EvidenceRow(
            life.id, op.episode_id, op.rule, op.method, stance, quote, op.start, op.end
        )
        self.receipt.evidence += self.writer.add_evidence([row])
        return True

    def contradict(self, op: ops.ContradictFacts) -> None:
        """Halve both facts, once for the pair; which is right is flagged for a verdict.

        A fact loses half once per run, or per day outside of one: what contradicts many others is
        not the less likely for each of them.
        """
        low, high = self._find(op.low_id), self._find(op.high_id)
        known = self._pair(op.low_id, op.high_id)
        waiting = known is not None and known.relation == "ambiguous" and not known.verdict
        if not (low.current and high.current) or (known is not None and not waiting):
            self.receipt.unchanged += 1
            return
        if self._only_asks(low, by=high, halves=True) or self._only_asks(high, by=low, halves=True):
            self._ask(low, high, detail=op.detail, similarity=op.similarity)
            return
        self._put_pair(op, "contradiction", verdict="CONTRADICTION" if waiting else "")
        for life, other in ((low, high), (high, low)):
            if life.pinned or self._was_halved(life):
                continue  # its owner vouches for it, or it has lost its half
            at = max((low.occurred_at or 0), (high.occurred_at or 0)) or None
            confidence, moment = halved(life, at=at, now=self.now)
            self.receipt.contradicted += 1
            after = life._replace(confidence=confidence, confidence_at=moment)
            detail = {"other": other.id, "says": op.detail, "run": self._run_id}
            self.change("contradict", life, after, why=op.rule, detail=detail)

    def _was_halved(self, life: Life) -> bool:
        """Tell whether a contradiction of the same run, or of the day outside of one, holds."""
        run = self._run_id
        halvings: set[int] = set()
        for past in self._history(life.id):
            if past.op == "contradict" and past.detail.get("run") == run:
                if run is not None or day_of(past.at) == day_of(self.now):
                    halvings.add(past.id)
            elif past.op == "revert":
                halvings.discard(past.detail.get("event", 0))
        return bool(halvings)

    def supersede(self, op: ops.SupersedeFact) -> None:
        old, new = self._find(op.old_id), self._find(op.new_id)
        one_owner_only("supersede", old, new)
        if not (old.current and new.current) or old.id == new.id:
            self.receipt.unchanged += 1
            return
        if self._only_asks(old, by=new):
            self._ask(old, new, detail=op.detail, similarity=op.similarity)
            return
        if old.pinned:
            self.receipt.unchanged += 1
            return
        self._put_pair(op, "supersedes", verdict="")
        self.receipt.superseded += 1
        self.writer.drop_vectors("fact", [old.id])
        after = old._replace(
            status=Status.SUPERSEDED,
            superseded_by=new.id,
            retired_at=self.now,
            valid_to=new.occurred_at if new.occurred_at is not None else self.now,
        )
        self.change("supersede", old, after, why=op.rule, detail={"says": op.detail})

    def judge(self, op: ops.JudgePair) -> None:
        self._find(op.low_id), self._find(op.high_id)  # raises for one that is not there
        known = self._pair(op.low_id, op.high_id)
        for_a_person = known is not None and known.rule in policy.FOR_A_PERSON
        waits = known is not None and known.relation == "ambiguous" and not known.verdict
        handed_on = op.rule in policy.FOR_A_PERSON and waits and not for_a_person
        if known is not None and not handed_on:
            self.receipt.unchanged += 1
            return
        self._put_pair(op, op.relation, verdict="")
        if op.relation == "ambiguous":
            self.receipt.queued += 1

    def settle(self, op: ops.SettlePair) -> None:
        if op.verdict not in policy.VERDICTS:
            raise UsageError(
                detail=f"{op.verdict!r} is no verdict; use one of {', '.join(policy.VERDICTS)}"
            )
        self._find(op.low_id), self._find(op.high_id)  # raises for one that is not there
        known = self._pair(op.low_id, op.high_id)
        # Of some pairs a person is asked, and nobody answers for them.
        may = known is not None and (known.rule not in policy.FOR_A_PERSON or self._is_answer)
        if known is None or known.verdict or not may:
            self.receipt.unchanged += 1
            return
        settled = known._replace(verdict=op.verdict, settled_at=self.now, settled_by=self.actor)
        self.writer.put(PAIR, [settled])
        self.receipt.settled += 1
        self.event("settle", "fact", op.low_id, {"other": op.high_id, "verdict": op.verdict})

    def _put_pair(
        self,
        op: ops.ContradictFacts | ops.SupersedeFact | ops.JudgePair,
        relation: str,
        *,
        verdict: str,
    ) -> None:
        if isinstance(op, ops.SupersedeFact):
            low, high = sorted((op.old_id, op.new_id))
        else:
            low, high = op.low_id, op.high_id
        if low >= high:
            raise UsageError(detail=f"a pair names two facts, the lower id first: {low}, {high}")
        if self._pair(low, high) is None:
            self.receipt.judged += 1
        pair = Pair(low, high, relation, op.rule, op.detail, op.similarity, self.now, verdict)
        self.writer.put(PAIR, [pair])

    def pin(self, op: ops.PinFact) -> None:
        life = self._standing(op.fact_id)
        if life.pinned == op.pinned:
            self.receipt.unchanged += 1
            return
        after = life._replace(
            pinned=op.pinned,
            confidence=value_at(life, self.now),
            confidence_at=max(life.confidence_at, self.now),
        )
        self.receipt.updated += 1
        self.change("pin" if op.pinned else "unpin", life, after, why="command")

    def hold(self, op: ops.HoldFact) -> None:
        life = self._current(op.fact_id)
        if life is None or not fades(life) or (op.until and life.valid_to == op.until):
            self.receipt.unchanged += 1
            return
        self.receipt.updated += 1
        if op.until is not None:
            lasts = op.until == policy.LASTING_TO
            name, why = ("last", "of_a_person") if lasts else ("bound", "says_until_when")
            self.change(name, life, life._replace(valid_to=op.until), why=why)
            return
        self.change("hold", life, life._replace(confidence_at=policy.HELD_AT), why="of_a_life")

    def rate(self, op: ops.RateFact) -> None:
        """Take a person's word: right makes it sure from now on, wrong puts it out of retrieval.

        Raises UsageError for what is pinned, where a model says so.
        """
        life = self._standing(op.fact_id)
        if op.session and life.pinned:
            raise UsageError(
                detail=f"the user pinned f{life.id}, so no model takes it out; tell them that"
                f" `factbook feedback f{life.id} wrong` does"
            )
        if op.session and life.confidence == 0.0:
            self.receipt.unchanged += 1
            return
        value = value_at(life, self.now)
        after = life._replace(
            confidence=max(value, policy.FEEDBACK_RIGHT) if op.right else 0.0,
            confidence_at=max(life.confidence_at, self.now),
            pinned=life.pinned and op.right,
        )
        self.receipt.updated += 1
        told = {"session": op.session, "reason": op.reason}
        detail = {name: said for name, said in told.items() if said}
        self.change("rate", life, after, why="right" if op.right else "wrong", detail=detail)
        self._count("feedback_right" if op.right else "feedback_wrong", 1.0)

    def retract(self, op: ops.RetractFact) -> None:
        """Retire what its source holds no more, unless its owner stands for it or called it wrong.

        That is of an agent's graph, or of a file of rules.
        """
        life = self._current(op.fact_id)
        kept = (FactKind.GRAPH, FactKind.DIRECTIVE)
        mine = life is not None and life.kind in kept and life.confidence > 0.0
        if life is None or not mine or self._is_vouched(life):
            self.receipt.unchanged += 1
            return
        # Without confidence, so that the episode that said it is in no answer either.
        after = life._replace(
            status=Status.RETRACTED, confidence=0.0, retired_at=self.now, valid_to=self.now
        )
        self.writer.drop_vectors("fact", [life.id])
        self.receipt.retracted += 1
        self.change("retract", life, after, why=op.rule)

    def retract_node(self, op: ops.RetractNode) -> None:
        where = LifeWhere(owner=op.owner, kinds=[FactKind.GRAPH], subjects=[op.name], current=True)
        for life in self.writer.lives(where):
            self.retract(ops.RetractFact(fact_id=life.id, rule=op.rule))

    def confirm(self, op: ops.ConfirmFact) -> None:
        life = self._standing(op.fact_id)
        if life.status is not Status.PROPOSED:
            self.receipt.unchanged += 1
            return
        after = life._replace(
            status=awake(life),
            confidence=max(value_at(life, self.now), policy.FEEDBACK_RIGHT),
            confidence_at=max(life.confidence_at, self.now),
        )
        self.receipt.confirmed += 1
        self.change("confirm", life, after, why="command")

    def change_keys(self, op: ops.ChangeKeys) -> None:
        from factbook.apply.keyed import KeyChanges  # reading logs needs none of it

        KeyChanges(self).run(op)


_HANDLERS: Mapping[type[ops.Op], Callable[[Changes, Any], None]] = {
    ops.SupportFact: Changes.support,
    ops.DoubtFact: Changes.doubt,
    ops.WithdrawEvidence: Changes.withdraw,
    ops.ContradictFacts: Changes.contradict,
    ops.SupersedeFact: Changes.supersede,
    ops.JudgePair: Changes.judge,
    ops.SettlePair: Changes.settle,
    ops.MergeFacts: Changes.merge,
    ops.UnmergeFact: Changes.unmerge,
    ops.PinFact: Changes.pin,
    ops.HoldFact: Changes.hold,
    ops.RateFact: Changes.rate,
    ops.RetractFact: Changes.retract,
    ops.RetractNode: Changes.retract_node,
    ops.RevertFact: Changes.revert,
    ops.Propose: Changes.propose,
    ops.DecideProposal: Changes.decide,
    ops.MarkProgress: Changes.mark,
    ops.KeepLoose: Changes.keep_loose,
    ops.StartRun: Changes.start_run,
    ops.FinishRun: Changes.finish_run,
    ops.StoreNextVectors: Changes.next_vectors,
    ops.ReplaceVectors: Changes.replace_vectors,
    ops.RecordInjection: Changes.injection,
    ops.RecordUse: Changes.use,
    ops.Count: Changes.count,
    ops.ChangeKeys: Changes.change_keys,
    ops.ConfirmFact: Changes.confirm,
    ops.QueueTask: Changes.queue_task,
    ops.FinishTask: Changes.finish_task,
    ops.FailTask: Changes.fail_task,
    ops.RetryTasks: Changes.retry_tasks,
    ops.BeginCall: Changes.begin_call,
    ops.EndCall: Changes.end_call,
}
_HANDLERS = {
    **_HANDLERS,
    **dict.fromkeys(get_args(InterestOp), Changes.care),
    **dict.fromkeys(get_args(ops.ErasingOp), Changes.erase),
}
# Facts of the same call may be about what is new: `apply` brings these in before facts.
CHANGING: frozenset[type[ops.Op]] = frozenset(_HANDLERS).difference((CreateEntity, AddAlias))
"""The Ops that are applied here, in the order in which they are given."""
