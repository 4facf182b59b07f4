"""Take a person's yes to a proposed memory: as it stands, or in the person's own words."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from factbook import policy
from factbook.errors import UsageError
from factbook.model.facts import Candidate, Fact, FactKind, Millis, Receipt, Trigger, Trust
from factbook.model.ops import ConfirmFact, DecideProposal, Op, RateFact, SupersedeFact
from factbook.pipelines.claims import ASKED, Witness, asserted
from factbook.pipelines.stated import STATES
from factbook.sources.told import digest, said_ops
from factbook.store.derived.facts import current_by_claim, lives_by_id, standing
from factbook.store.kinds import PROPOSAL
from factbook.store.rows import claim_digest

if TYPE_CHECKING:
    from factbook.context import Context
    from factbook.model.facts import Proposal

_RULE: Final = "confirmed"


def accept_memory(
    context: Context, proposal: Proposal, *, text: str, tell: Callable[..., Fact]
) -> Receipt:
    """Accept a proposal of the kind "memory"; `text` puts other words in its place.

    The yes itself is an episode: what the owner confirms, the owner has said. A statement is told
    (`pipelines.told`): it is its owner's word from then on, and takes the place of the facts that
    it speaks against.

    Raises UsageError for a proposal of another kind, or one that was decided.
    """
    if proposal.kind != ASKED or proposal.state != "open":
        raise UsageError(
            detail=f"proposal {proposal.id} is no memory that waits; `factbook review` lists them"
        )
    store, now = context.store, context.clock()
    owner, type_ = str(proposal.payload["owner"]), str(proposal.payload["type"])
    predicate, offered = type_.lower(), str(proposal.payload["text"])
    said = " ".join(context.redact(text).split()) or offered
    old_claim = claim_digest(owner, owner, predicate, offered)
    known = current_by_claim(store, [old_claim])
    if predicate == STATES:
        told = [fact_id(side) for side in against(proposal)]
        lives = lives_by_id(store, [*told, *(life.id for life in known.values())])
        gone = [life.id for life in lives.values() if life.kind is not FactKind.KEYED]
        receipt = Receipt()
        tell(said, owner=owner, instead_of=gone, receipt=receipt)
        if not store.find(PROPOSAL, {"id": proposal.id, "state": "open"}):
            return receipt  # what it proposed was told, word for word
        taken = DecideProposal(
            proposal_id=proposal.id, accept=True, edited=True, reason=f"as: {said}"
        )
        receipt.add(context.write([taken], Trigger.COMMAND, now=now))
        return receipt
    if said == offered and known:
        ops: list[Op] = [
            ConfirmFact(fact_id=known[old_claim].id),
            DecideProposal(proposal_id=proposal.id, accept=True),
        ]
        return context.write(ops, Trigger.COMMAND, now=now)
    edited = said != offered
    ops = _said_by_owner(said, owner, predicate, now)
    ops.append(
        DecideProposal(
            proposal_id=proposal.id,
            accept=True,
            edited=edited,
            reason=f"as: {said}" if edited else "",
        )
    )
    receipt = context.write(ops, Trigger.COMMAND, now=now)
    if edited and known:
        # The owner's own words take the place of what was proposed.
        new_claim = claim_digest(owner, owner, predicate, said)
        supersede = SupersedeFact(
            old_id=known[old_claim].id,
            new_id=standing(store, [new_claim])[new_claim],
            rule=policy.CORRECTION,
            detail="its owner said it in other words",
        )
        receipt.add(context.write([supersede], Trigger.COMMAND, now=now))
    return receipt


def against(proposal: Proposal) -> Sequence[Mapping[str, str]]:
    """Return the told facts that a proposal of `Review.proposals` speaks against."""
    sides = proposal.payload.get("against", ())
    return sides if isinstance(sides, list) else ()


def fact_id(side: Mapping[str, str]) -> int:
    return int(side["fact"][1:])


def refuse_memory(context: Context, proposal: Proposal, *, reason: str) -> Receipt:
    """Refuse a proposal of the kind "memory"; a fact that waited for the yes leaves retrieval."""
    owner, type_ = str(proposal.payload["owner"]), str(proposal.payload["type"])
    claim = claim_digest(owner, owner, type_.lower(), str(proposal.payload["text"]))
    ops: list[Op] = [
        RateFact(fact_id=life.id, right=False)
        for life in current_by_claim(context.store, [claim]).values()
    ]
    ops.append(DecideProposal(proposal_id=proposal.id, accept=False, reason=reason))
    return context.write(ops, Trigger.COMMAND)


def _said_by_owner(said: str, owner: str, predicate: str, now: Millis) -> list[Op]:
    uid = f"confirmed:{digest(owner, said, str(now))}"
    candidate = Candidate(
        subject=owner,
        predicate=predicate,
        object=said,
        statement=said,
        confidence=policy.TOLD,
        rule=_RULE,
        method="Its owner confirmed it",
        start=0,
        end=len(said),
        kind=FactKind.TYPED,
        embed=True,
    )
    return [
        *said_ops(said, uid=uid, owner=owner, at=now),
        asserted(candidate, Witness(uid, owner, Trust.DIRECT, said)),
    ]
