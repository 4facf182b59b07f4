"""What keeps a memory in order: the embedding queue, the nightly work, and a person's word on it.

`Memory` inherits it. It composes the parts of `upkeep` and holds no rule.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, cast

from factbook import policy
from factbook.errors import NotFound, UsageError
from factbook.model import EVERYONE, ME, Everyone, Fact, FactKind, Millis, Receipt, Trigger, whose

if TYPE_CHECKING:
    from factbook.embed import Embedder
    from factbook.ops import Op
    from factbook.propose import Redacting
    from factbook.store.base import Proposal, Run
    from factbook.store.sqlite import SQLiteStore
    from factbook.upkeep.consolidate import Consolidation, Question, Resolver, RunReport
    from factbook.upkeep.embedding import EmbeddingQueue, EmbedReport, Worker


_STARTING: Final = threading.Lock()  # two threads that start the worker at once must not make two


class Keeping:
    """The part of `Memory` that looks after what is there."""

    path: Path
    store: SQLiteStore
    _clock: Callable[[], Millis]
    _actor: str
    _worker: Worker | None = None

    @property
    def embedder(self) -> Embedder:
        """The embedding model."""
        raise NotImplementedError

    @property
    def redactor(self) -> Redacting:
        """The redactor."""
        raise NotImplementedError

    def _facts_like(self, text: str, owner: str) -> dict[int, float]:
        """Return an owner's facts that may say what a text says, with their cosines."""
        raise NotImplementedError

    def _apply(self, ops: Sequence[Op], *, trigger: Trigger = Trigger.COMMAND) -> Receipt:
        from factbook.apply import apply

        return apply(self.store, ops, trigger=trigger, actor=self._actor, now=self._clock())

    # --- embedding ------------------------------------------------------------------------------

    def _queue(self, store: SQLiteStore | None = None) -> EmbeddingQueue:
        from factbook.upkeep.embedding import EmbeddingQueue

        return EmbeddingQueue(
            store or self.store,
            embedder=lambda: self.embedder,
            clock=self._clock,
            actor=self._actor,
            path=self.path,
        )

    def embed(
        self, *, limit: int | None = None, progress: Callable[[int], None] | None = None
    ) -> EmbedReport:
        """Give waiting rows their vectors, facts first; safe to stop, and for several at once.

        A row that fails is tried again later and put aside after a few attempts; none blocks the
        others. Raises EmbedderMismatch where the file holds vectors of another model.
        """
        return self._queue().drain(limit=limit, progress=progress)

    def start_worker(self, *, idle_seconds: float = 1.0) -> Worker:
        """Embed in a thread of this process until the memory is closed."""
        from factbook.upkeep.embedding import Worker

        with _STARTING:
            if self._worker is None:
                self._worker = Worker(self._queue(), idle_seconds=idle_seconds)
            return self._worker

    def reembed(self, *, progress: Callable[[int], None] | None = None) -> int:
        """Make all vectors anew with this memory's embedder, and swap them at the end."""
        return self._queue().reembed(progress=progress)

    def set_aside(self) -> list[tuple[str, int, str]]:
        """Return (target, id, reason) of rows that cannot be embedded."""
        return self.store.set_aside()

    def retry_aside(self) -> int:
        """Let rows that were put aside be tried again; return how many."""
        return self.store.retry_aside()

    # --- consolidation --------------------------------------------------------------------------

    def consolidate(
        self,
        *,
        dry_run: bool = False,
        resolver: Resolver | None = None,
        on_phase: Callable[[str], None] | None = None,
        on_done: Callable[[SQLiteStore, RunReport], None] | None = None,
    ) -> RunReport:
        """Do the nightly work; with `dry_run` on a copy in memory, with the same report.

        What rules cannot decide is asked of `resolver`, else of the configured language model, if
        there is one; a dry run asks it too.

        `on_done` is given the store that was worked on, where the facts of the report stand as they
        are after it; that of a dry run is gone afterwards.

        Raises AlreadyRunning while another process does it.
        """
        resolver = resolver or self._resolver()
        if not dry_run:
            report = self._consolidation(self.store, resolver, on_phase).run()
            if on_done:
                on_done(self.store, report)
            return report
        with self.store.rehearsal() as store:
            report = self._consolidation(store, resolver, on_phase).run()
            if on_done:
                on_done(store, report)
            return report

    def _resolver(self) -> Resolver | None:
        """Return what judges ambiguous pairs where no resolver is given."""
        return None

    def undo(self, run_id: int, *, owner: str | Everyone = ME) -> RunReport:
        """Take back what a consolidation changed of an owner's; what changed since stays so."""
        return self._consolidation(self.store, None, None).undo(run_id, owner=owner)

    def runs(self, *, limit: int = 20) -> list[Run]:
        """Return the newest consolidations, newest first."""
        return self.store.runs(limit=limit)

    def _consolidation(
        self,
        store: SQLiteStore,
        resolver: Resolver | None,
        on_phase: Callable[[str], None] | None,
    ) -> Consolidation:
        from factbook.upkeep.consolidate import Consolidation

        return Consolidation(
            store,
            queue=self._queue(store),
            embedder=lambda: self.embedder,
            clock=self._clock,
            actor=self._actor,
            redact=self.redactor.redact,
            resolver=resolver,
            on_phase=on_phase,
        )

    def questions(self, *, owner: str | Everyone = ME) -> list[Question]:
        """Return the pairs of an owner's facts that rules could not decide."""
        from factbook.upkeep.consolidate import waiting_questions

        found = waiting_questions(self.store, now=self._clock(), redact=self.redactor.redact)
        return [one for one in found if owner in (one.owner, EVERYONE)]

    def settle(
        self, verdicts: Mapping[tuple[int, int], str], *, owner: str | Everyone = ME
    ) -> Receipt:
        """Decide an owner's waiting pairs: MERGE, KEEP_BOTH or CONTRADICTION for (low id, high id).

        What was only overheard against what was told (`Question.heard`) may also be answered with
        ACCEPT, which makes it its owner's word in the place of the other, or REFUSE: it is wrong.
        Raises UsageError, after deciding the others, for a pair that does not wait and for a
        verdict that is none; NotFound, before anything is decided, for a fact of another owner.
        """
        from factbook.upkeep.consolidate import settle_pairs

        if whose(owner) is not EVERYONE:
            for fact_id in self.store.facts_by_id(sorted({one for ids in verdicts for one in ids})):
                self._fact_of(fact_id, owner)

        total = Receipt()
        asked = {one.ids: one for one in self.questions(owner=owner) if one.heard}
        taken = {ids: verdicts[ids] for ids in asked if verdicts.get(ids) in ("ACCEPT", "REFUSE")}
        for ids, verdict in taken.items():
            self._hear_out(asked[ids], accept=verdict == "ACCEPT", receipt=total)
        wrong = settle_pairs(
            self.store,
            {ids: one for ids, one in verdicts.items() if ids not in taken},
            now=self._clock(),
            write=lambda ops: total.add(self._apply(ops)),
        )
        if wrong:
            raise UsageError(detail="; ".join(wrong))
        return total

    def _hear_out(self, one: Question, *, accept: bool, receipt: Receipt) -> None:
        """Take an owner's answer to what was overheard against what was told."""
        from factbook.ops import RateFact, SettlePair

        told = next(fact for fact in one.ids if fact != one.heard)
        if accept:
            said = self.store.facts_by_id([one.heard])[one.heard].statement
            self._tell(said, owner=one.owner, instead_of=(told,), receipt=receipt)
        ops: list[Op] = [SettlePair(low_id=one.low_id, high_id=one.high_id, verdict="KEEP_BOTH")]
        ops += [] if accept else [RateFact(fact_id=one.heard, right=False)]
        receipt.add(self._apply(ops))

    def proposals(self, *, state: str = "open", owner: str | Everyone = ME) -> list[Proposal]:
        """Return what waits for an owner's yes, or what was decided.

        What was overheard against facts that the owner told has both sides in its payload:
        `against`, a list of those that are current, and `heard`, each with its `fact`, `text`,
        `episode` and `source`. A yes puts it in their place.
        """
        return self._proposals(state, owner, None)

    def _proposals(
        self, state: str, owner: str | Everyone, among: Collection[int] | None
    ) -> list[Proposal]:
        """Return an owner's proposals; with `among`, only what was overheard about these facts."""
        found = []
        for one in self.store.proposals(state=state):
            # What names no owner was proposed of logs of agents, which are about `me`.
            if owner not in (one.payload.get("owner", ME), EVERYONE):
                continue
            sides = self._with_sides(one, among) if "against" in one.payload else None
            if sides is not None or among is None:
                found.append(sides or one)
        return found

    def _with_sides(self, one: Proposal, among: Collection[int] | None) -> Proposal | None:
        """Return a proposal with both sides as they are now; None where it is of no such fact."""
        from factbook.store.base import claim_digest

        owner, named = str(one.payload["owner"]), cast("list[object]", one.payload["against"])
        predicate, words = str(one.payload["type"]).lower(), str(one.payload["text"])
        claim = claim_digest(owner, owner, predicate, words)
        heard = list(self.store.current([claim]).values())
        told = [number for number in named if isinstance(number, int)]
        if among is not None and {*heard, *told}.isdisjoint(among):
            return None
        facts = self.store.facts_by_id([*heard, *told])
        sides = {number: self._side(fact) for number, fact in facts.items()}
        against = [sides[number] for number in told if facts[number].retired_at is None]
        more = {"against": against, **({"heard": sides[heard[0]]} if heard else {})}
        return one._replace(payload={**one.payload, **more})

    def disputed(
        self, *, owner: str | Everyone = ME, among: Collection[int] | None = None
    ) -> dict[int, list[dict[str, str]]]:
        """Return the facts that were told and overheard otherwise, until their owner answers.

        Each with the other sides of it, as in `proposals`, and `how` they are known: told or
        overheard. Where facts are given, what concerns none of them is left out.
        """
        found: dict[int, list[dict[str, str]]] = {}

        def note(told: dict[str, str], heard: dict[str, str]) -> None:
            for one, other, how in ((told, heard, "overheard"), (heard, told, "told")):
                found.setdefault(int(one["fact"][1:]), []).append({**other, "how": how})

        for one in self._proposals("open", owner, among):
            heard, against = one.payload.get("heard"), one.payload.get("against")
            if isinstance(heard, dict) and isinstance(against, list):
                for told in against:
                    note(told, heard)
        pairs = [one for one in self.store.pairs(waiting=True) if one.rule == policy.OVERHEARD]
        if any(among is None or not {*one[:2]}.isdisjoint(among) for one in pairs):
            for pair in self.questions(owner=owner):
                if pair.heard:
                    facts = self.store.facts_by_id(pair.ids)
                    heard = self._side(facts.pop(pair.heard))
                    note(self._side(*facts.values()), heard)
        return found

    def _side(self, fact: Fact) -> dict[str, str]:
        found = self.store.evidence_of([fact.id])[fact.id]
        first = next((one for one in found if one.stance == "supports"), None)
        return {
            "fact": f"f{fact.id}",
            "text": self.redactor.redact(fact.statement),
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
        planner: Literal["model", "rules"] = "model",
        owner: str = ME,
    ) -> Receipt:
        """Accept or refuse a proposal."""
        del text, planner  # only what a model proposes can be said in other words
        from factbook.ops import DecideProposal

        theirs = {one.id for one in self.proposals(owner=owner)}
        if any(one.id == proposal_id for one in self.store.proposals() if one.id not in theirs):
            raise NotFound(
                what="proposal", name=proposal_id, hint="`factbook review` lists those that wait."
            )
        return self._apply([DecideProposal(proposal_id=proposal_id, accept=accept, reason=reason)])

    # --- a person's word ------------------------------------------------------------------------

    def remember(self, text: str, *, owner: str = ME, at: Millis | None = None) -> Fact:
        """Keep a statement that a person gives as a fact; return the fact that holds it now.

        What says the same as a known fact becomes evidence for that one; what takes the place of
        a known one (another value in the same slot, "no longer") retires it at once.
        """
        return self._tell(text, owner=owner, at=at)

    def _tell(
        self,
        text: str,
        *,
        owner: str,
        at: Millis | None = None,
        instead_of: Sequence[int] = (),
        receipt: Receipt | None = None,
    ) -> Fact:
        from factbook.upkeep.telling import tell

        now = self._clock()
        return tell(
            self.store,
            text,
            owner=owner,
            at=now if at is None else at,
            like=self._facts_like,
            redact=self.redactor.redact,
            actor=self._actor,
            now=now,
            instead_of=instead_of,
            receipt=receipt,
        )

    def correct(self, fact_id: int, text: str, *, owner: str = ME) -> Fact:
        """Put a statement in the place of a fact: the old one keeps its row and its history.

        Raises UsageError for what was observed in a log: no words take the place of what happened.
        """
        old = self._current_fact(fact_id, owner)
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
        from factbook.ops import RateFact

        self._fact_of(fact_id, owner)
        return self._apply([RateFact(fact_id=fact_id, right=right)])

    def pin(self, fact_id: int, *, pinned: bool = True, owner: str = ME) -> Receipt:
        """Keep a fact from fading, from being superseded and from being doubted, or let go."""
        from factbook.ops import PinFact

        self._fact_of(fact_id, owner)
        return self._apply([PinFact(fact_id=fact_id, pinned=pinned)])

    def unmerge(self, fact_id: int, *, owner: str = ME) -> Receipt:
        """Take a merged fact out again with its own evidence; the two stay apart from then on."""
        from factbook.ops import UnmergeFact

        self._fact_of(fact_id, owner)
        return self._apply([UnmergeFact(fact_id=fact_id)])

    def _fact_of(self, fact_id: int, owner: str | Everyone) -> Fact:
        """Return a fact; that of another owner is not there."""
        fact = self.store.fact(fact_id)
        if fact is None or owner not in (fact.owner, EVERYONE):
            raise NotFound(
                what="fact", name=fact_id, hint="`factbook facts` lists the facts with their ids."
            )
        return fact

    def _current_fact(self, fact_id: int, owner: str) -> Fact:
        fact = self._fact_of(fact_id, owner)
        if fact.retired_at is not None:
            raise UsageError(
                detail=f"fact {fact_id} is {fact.status} already; `factbook explain {fact_id}` says"
                " what took its place"
            )
        return fact
