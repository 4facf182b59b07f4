"""What waits for a person's word, and what a person's word does to what is known.

It composes the parts of `upkeep` and `assist` and holds no rule.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, cast

from factbook import policy
from factbook.context import part
from factbook.errors import NotFound, UsageError
from factbook.extract.user_rules import append_rule, rules_of
from factbook.maintenance.consolidate import settle_pairs, waiting_questions
from factbook.maintenance.learning import KIND
from factbook.maintenance.verdict_queue import Ids, newer_ops, waiting_pairs
from factbook.memory import proposals
from factbook.model.facts import (
    EVERYONE,
    ME,
    Everyone,
    Fact,
    FactKind,
    Millis,
    Receipt,
    Trigger,
    whose,
)
from factbook.model.ops import DecideProposal, Op, PinFact, RateFact, SettlePair, UnmergeFact
from factbook.pipelines.claims import ASKED
from factbook.pipelines.keyed import CLARIFICATION, tell_keys
from factbook.pipelines.noting import is_noted
from factbook.pipelines.ruled import read_commands
from factbook.pipelines.told import tell
from factbook.recall.facts import current_fact, fact_of
from factbook.store.derived.facts import current_by_claim
from factbook.store.derived.ledger import evidence_of
from factbook.store.kinds import PROPOSAL
from factbook.store.rows import claim_digest

if TYPE_CHECKING:
    from factbook.context import Context
    from factbook.maintenance.consolidate import PairQuestion
    from factbook.memory.keyed import Planner
    from factbook.model.facts import Proposal
    from factbook.pipelines.noted import Noted


@part
class Review:
    """What its owner says of a memory, and what it asks of them; `Memory.review`."""

    def __init__(
        self, context: Context, *, like: Callable[[str, str], Mapping[int, float]]
    ) -> None:
        """Compose; `like` finds an owner's facts that may say what a text says, with cosines."""
        self._context = context
        self._store = context.store
        self._like = like
        self._tell = partial(tell, context, like=like)
        self._noting = threading.Lock()  # a limit is looked at and used up by one at a time

    def questions(self, *, owner: str | Everyone = ME) -> list[PairQuestion]:
        """Return the pairs of an owner's facts that rules could not decide, but for near ones.

        Those are for a model alone (`policy.NEAR_PAIR`): no rule finds anything between them.
        """
        questions = waiting_questions(
            self._store, now=self._context.clock(), redact=self._context.redact
        )
        return [
            question
            for question in questions
            if owner in (question.owner, EVERYONE) and question.rule != policy.NEAR_PAIR
        ]

    def settle(
        self, verdicts: Mapping[tuple[int, int], str], *, owner: str | Everyone = ME
    ) -> Receipt:
        """Decide an owner's waiting pairs: MERGE, KEEP_BOTH or CONTRADICTION for (low id, high id).

        What was only overheard against what was told (`PairQuestion.heard`) may also be answered
        with ACCEPT, which makes it its owner's word in place of the other, or REFUSE: it is wrong.
        Of any other pair NEWER says that what was said last holds, and the other no more.
        Raises UsageError, after deciding the others, for a pair that does not wait and for a
        verdict that is none; NotFound, before anything is decided, for a fact of another owner.
        """
        if whose(owner) is not EVERYONE:
            named = sorted({id_ for ids in verdicts for id_ in ids})
            for fact_id in self._store.facts_by_id(named):
                fact_of(self._context, fact_id, owner)
        total = Receipt()
        taken: set[Ids] = set()
        for pair in self.questions(owner=owner):
            verdict = verdicts.get(pair.ids)
            if pair.heard and verdict in ("ACCEPT", "REFUSE"):
                self._hear_out(pair, accept=verdict == "ACCEPT", receipt=total)
            elif not pair.heard and verdict == "NEWER":
                total.add(self._context.write(newer_ops(self._store, pair), Trigger.COMMAND))
            else:
                continue
            taken.add(pair.ids)
        wrong = settle_pairs(
            self._store,
            {ids: answer for ids, answer in verdicts.items() if ids not in taken},
            now=self._context.clock(),
            write=lambda ops: total.add(self._context.write(ops, Trigger.COMMAND)),
        )
        if wrong:
            raise UsageError(detail="; ".join(wrong))
        return total

    def _hear_out(self, pair: PairQuestion, *, accept: bool, receipt: Receipt) -> None:
        told = next(fact for fact in pair.ids if fact != pair.heard)
        if accept:
            said = self._store.facts_by_id([pair.heard])[pair.heard].statement
            self._tell(said, owner=pair.owner, instead_of=(told,), receipt=receipt)
        ops: list[Op] = [SettlePair(low_id=pair.low_id, high_id=pair.high_id, verdict="KEEP_BOTH")]
        ops += [] if accept else [RateFact(fact_id=pair.heard, right=False)]
        receipt.add(self._context.write(ops, Trigger.COMMAND))

    def proposals(self, *, state: str = "open", owner: str | Everyone = ME) -> list[Proposal]:
        """Return what waits for an owner's yes, or what was decided.

        What was overheard against facts that the owner told has both sides in its payload:
        `against`, a list of those that are current, and `heard`, each with its `fact`, `text`,
        `episode` and `source`. A yes puts it in their place. Learned predicates come last, the
        best first: what does something before what only looks, what most sessions do first.
        """
        with self._store.snapshot():
            return sorted(self._proposals(state, owner, None), key=_worth)

    def proposal(self, proposal_id: int, *, owner: str | Everyone = ME) -> Proposal:
        """Return what waits under a number; raises NotFound, UsageError where it was decided."""
        for state in ("open", "accepted", "refused"):
            for proposal in self.proposals(state=state, owner=owner):
                if proposal.id == proposal_id and state == "open":
                    return proposal
                if proposal.id == proposal_id:
                    raise UsageError(detail=f"proposal {proposal_id} was decided already")
        raise NotFound(
            what="proposal", name=proposal_id, hint="`factbook review` lists those that wait."
        )

    def write_rule(self, proposal_id: int, path: Path, *, owner: str = ME) -> bool:
        """Put the rule that is proposed into a file of rules; False where none is proposed.

        Raises RuleError where the file with it is not as docs/rules.md says, and UsageError where
        the rule holds what is redacted by now; the file is left as it is then.
        """
        toml = self.proposal(proposal_id, owner=owner).payload.get("toml")
        if not isinstance(toml, str) or not toml.strip():
            return False
        if self._context.redact(toml) != toml:
            raise UsageError(
                detail=f"the rule of proposal {proposal_id} holds what is redacted as a secret by"
                f" now; `factbook review refuse {proposal_id}` puts it away"
            )
        append_rule(path.expanduser(), toml)
        return True

    def read_stored(
        self, proposal_id: int, *, owner: str = ME, progress: Callable[[int], None] = lambda _: None
    ) -> Receipt:
        """Run the rule that is proposed over the commands that are stored.

        `progress` is called with how many of them were read since its last call. What is broken off
        and done again does it once.
        """
        toml = str(self.proposal(proposal_id, owner=owner).payload.get("toml") or "")
        rules = rules_of(toml, Path(f"proposal {proposal_id}"))
        return read_commands(self._context, rules, progress=progress)

    def _proposals(
        self, state: str, owner: str | Everyone, among: Collection[int] | None
    ) -> list[Proposal]:
        """Return an owner's proposals; with `among`, only what was overheard about these facts."""
        listed = []
        for proposal in self._store.find(PROPOSAL, {"state": state}):
            # What names no owner was proposed of logs of agents, which are about `me`.
            if owner not in (proposal.payload.get("owner", ME), EVERYONE):
                continue
            sides = self._with_sides(proposal, among) if "against" in proposal.payload else None
            if sides is not None or among is None:
                listed.append(sides or proposal)
        return listed

    def _with_sides(self, proposal: Proposal, among: Collection[int] | None) -> Proposal | None:
        """Return a proposal with both sides as they are now; None where it is of no such fact."""
        payload = proposal.payload
        owner, named = str(payload["owner"]), cast("list[object]", payload["against"])
        predicate, words = str(payload["type"]).lower(), str(payload["text"])
        claim = claim_digest(owner, owner, predicate, words)
        heard = [life.id for life in current_by_claim(self._store, [claim]).values()]
        told = [number for number in named if isinstance(number, int)]
        if among is not None and {*heard, *told}.isdisjoint(among):
            return None
        facts = self._store.facts_by_id([*heard, *told])
        sides = {number: self._side(fact) for number, fact in facts.items()}
        against = [sides[number] for number in told if facts[number].retired_at is None]
        more = {"against": against, **({"heard": sides[heard[0]]} if heard else {})}
        return proposal._replace(payload={**payload, **more})

    def disputed(
        self, *, owner: str | Everyone = ME, among: Collection[int] | None = None
    ) -> dict[int, list[dict[str, str]]]:
        """Return the facts that were told and overheard otherwise, until their owner answers.

        Each with the other sides of it, as in `proposals`, and `how` they are known: told or
        overheard. Where facts are given, what concerns none of them is left out. What a model
        alone states puts nothing in question: it would speak beside what its owner said.
        """
        sides: dict[int, list[dict[str, str]]] = {}

        def note(told: dict[str, str], heard: dict[str, str]) -> None:
            for side, other, how in ((told, heard, "overheard"), (heard, told, "told")):
                sides.setdefault(int(side["fact"][1:]), []).append({**other, "how": how})

        with self._store.snapshot():
            for proposal in self._proposals("open", owner, among):
                heard, against = proposal.payload.get("heard"), proposal.payload.get("against")
                if isinstance(heard, dict) and isinstance(against, list):
                    for told in () if is_noted(proposal) else against:
                        note(told, heard)
            pairs = [pair for pair in waiting_pairs(self._store) if pair.rule == policy.OVERHEARD]
            if any(among is None or not {*pair[:2]}.isdisjoint(among) for pair in pairs):
                for question in self.questions(owner=owner):
                    if question.heard:
                        facts = self._store.facts_by_id(question.ids)
                        heard = self._side(facts.pop(question.heard))
                        note(self._side(*facts.values()), heard)
        return sides

    def _side(self, fact: Fact) -> dict[str, str]:
        evidence = evidence_of(self._store, [fact.id])[fact.id]
        first = next((piece for piece in evidence if piece.stance == "supports"), None)
        return {
            "fact": f"f{fact.id}",
            "text": self._context.redact(fact.statement),
            "episode": f"e{first.episode_id}" if first else "",
            "source": first.source if first else "",
        }

    def decide(
        self,
        proposal_id: int,
        *,
        accept: bool,
        reason: str = "",
        text: str = "",
        planner: Planner = "model",
        owner: str = ME,
    ) -> Receipt:
        """Accept or refuse a proposal; `text` puts other words in its place.

        A proposed memory becomes active, or a statement of its owner in the owner's own words. A
        question that waits is answered by the message in clearer words, which `planner` reads as in
        `tell`. What else is proposed takes no text.
        """
        waiting = (open_ for open_ in self.proposals(owner=owner) if open_.id == proposal_id)
        proposal = next(waiting, None)
        if proposal is not None and proposal.kind == ASKED:
            if accept:
                receipt = proposals.accept_memory(
                    self._context, proposal, text=text, tell=self._tell
                )
                keys = [proposals.fact_id(side) for side in proposals.against(proposal)]
                for fact in self._store.facts_by_id(keys).values():
                    if fact.kind is FactKind.KEYED and fact.retired_at is None:
                        said = text or str(proposal.payload["text"])
                        told = tell_keys(self._context, said, owner=owner, planner="rules")
                        receipt.add(told.receipt)
                        break
                return receipt
            return proposals.refuse_memory(self._context, proposal, reason=reason)
        if proposal is not None and proposal.kind == CLARIFICATION and accept:
            if not text.strip():
                raise UsageError(
                    detail=f"proposal {proposal_id} is a question; answer it by saying the message"
                    " in clearer words, with --text"
                )
            told = tell_keys(
                self._context,
                text,
                owner=str(proposal.payload["owner"]),
                planner=planner,
                keep_question=False,
            )
            if told.needs_clarification or told.errors:
                why = "; ".join((*told.needs_clarification, *told.errors))
                raise UsageError(detail=f"that is not clear either: {why}")
            told.receipt.add(
                self._decide(proposal_id, accept=True, reason=f"as: {told.message}", owner=owner)
            )
            return told.receipt
        if text:
            raise UsageError(detail=f"proposal {proposal_id} takes no other words")
        return self._decide(proposal_id, accept=accept, reason=reason, owner=owner)

    def remember(self, text: str, *, owner: str = ME, at: Millis | None = None) -> Fact:
        """Keep a statement that a person gives as a fact; return the fact that holds it now.

        What says the same as a known fact becomes evidence for that one; what takes the place of
        a known one (another value in the same slot, "no longer") retires it at once.
        """
        return self._tell(text, owner=owner, at=at)

    def note(
        self,
        text: str,
        *,
        quote: str = "",
        instead_of: int | None = None,
        session: str = "",
        owner: str = ME,
    ) -> Noted:
        """Keep what a model states of its own accord, as derived; see `noted.note`.

        It is bounded for a `session`, which names one of a client, and for a day. Where `quote`
        stands in a prompt of the owner that says it, it is the owner's own word.
        """
        from factbook.pipelines.noted import note  # only agents come this way

        with self._noting:
            return note(
                self._context,
                text,
                owner=owner,
                quote=quote,
                instead_of=instead_of,
                session=session,
                like=self._like,
            )

    def forget(
        self, fact_id: int, *, reason: str = "", session: str = "", owner: str = ME
    ) -> Noted:
        """Leave a fact out of recall on a model's word; see `noted.forget`."""
        from factbook.pipelines.noted import forget  # only agents come this way

        with self._noting:
            return forget(self._context, fact_id, owner=owner, session=session, reason=reason)

    def correct(self, fact_id: int, text: str, *, owner: str = ME) -> Fact:
        """Put a statement in the place of a fact: the old one keeps its row and its history.

        Raises UsageError for what was observed in a log: no words take the place of what happened.
        """
        old = current_fact(self._context, fact_id, owner)
        if old.kind is FactKind.OBSERVATION:
            raise UsageError(
                detail=f"fact {fact_id} ({old.statement}) was observed in a log, so no words take"
                f" its place; `factbook feedback {fact_id} wrong` says that it is not so"
            )
        if " ".join(text.split()).casefold() == old.statement.casefold():
            raise UsageError(detail=f"fact {fact_id} says that already")
        return self._tell(text, owner=old.owner, instead_of=(old.id,))

    def feedback(self, fact_id: int, *, right: bool, owner: str = ME) -> Receipt:
        """Take a person's word on whether a fact is right; a wrong one leaves all retrieval."""
        fact_of(self._context, fact_id, owner)
        return self._context.write([RateFact(fact_id=fact_id, right=right)], Trigger.COMMAND)

    def pin(self, fact_id: int, *, pinned: bool = True, owner: str = ME) -> Receipt:
        """Keep a fact from fading, from being superseded and from being doubted, or let go."""
        fact_of(self._context, fact_id, owner)
        return self._context.write([PinFact(fact_id=fact_id, pinned=pinned)], Trigger.COMMAND)

    def unmerge(self, fact_id: int, *, owner: str = ME) -> Receipt:
        """Take a merged fact out again with its own evidence; the two stay apart from then on."""
        fact_of(self._context, fact_id, owner)
        return self._context.write([UnmergeFact(fact_id=fact_id)], Trigger.COMMAND)

    def _decide(self, proposal_id: int, *, accept: bool, reason: str, owner: str) -> Receipt:
        theirs = {proposal.id for proposal in self.proposals(owner=owner)}
        opened = self._store.find(PROPOSAL, {"id": proposal_id, "state": "open"})
        if any(proposal.id not in theirs for proposal in opened):
            raise NotFound(
                what="proposal", name=proposal_id, hint="`factbook review` lists those that wait."
            )
        return self._context.write(
            [DecideProposal(proposal_id=proposal_id, accept=accept, reason=reason)], Trigger.COMMAND
        )


def _worth(proposal: Proposal) -> tuple[bool, bool, int, int, int]:
    """Return what sorts proposals: what waits for an answer as it came, then predicates."""
    number = proposal.payload.get
    if proposal.kind != KIND:
        return (False, False, 0, 0, proposal.id)
    sessions, count = (
        value if isinstance(value := number(n), int) else 0 for n in ("sessions", "count")
    )
    return (True, bool(number("only_looks")), -sessions, -count, proposal.id)
