"""What a memory does with a language model: typed memories, keyed facts, questions, judgements.

`Memory` inherits it. It composes the parts of `assist` and holds no rule. Without a configured
model each of these raises a ModelError of the kind not_configured, and everything else works.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Literal

from factbook import policy
from factbook.erasing import Erasing
from factbook.errors import ModelError, ModelFailure, UsageError
from factbook.model import ME, Everyone, Fact, FactKind, Millis, Receipt, Trigger

if TYPE_CHECKING:
    from factbook.assist.answering import Asked
    from factbook.assist.commands import CommandsReport
    from factbook.assist.meter import CostLine
    from factbook.assist.refused import RejectionSummary
    from factbook.assist.telling import RetriedTold, Told
    from factbook.assist.typed import TypedReport
    from factbook.gate.typed import TypedVerdict
    from factbook.keyed.contracts import ApplyResult, FactsAnswer, FactsOpsResponse, FactsQueryPlan
    from factbook.llm import LLM
    from factbook.llm.config import ModelConfig
    from factbook.store.base import ModelTask
    from factbook.upkeep.consolidate import Resolver

Planner = Literal["model", "rules"]


class Modelling(Erasing):
    """The part of `Memory` that a language model may help with."""

    _llm: LLM | None
    _model: ModelConfig | Literal["configured"] | None

    # --- the model ------------------------------------------------------------------------------

    @property
    def llm(self) -> LLM:
        """The configured model; raises ModelError of the kind not_configured without one."""
        if self._llm is None:
            config = self.model_config
            if config is None:
                raise ModelError(
                    kind=ModelFailure.NOT_CONFIGURED,
                    model="none",
                    reason="no model is configured; set FACTS_LLM_PROVIDER, FACTS_LLM_URL or"
                    " another FACTS_LLM_ variable, or [llm] in the configuration file",
                )
            self._llm = self.open_model(config)
        return self._llm

    def open_model(self, config: ModelConfig) -> LLM:
        """Return the model of a configuration, with its calls counted here."""
        from factbook.assist.meter import Budget, DayMeter
        from factbook.llm.client import open_llm

        meter = DayMeter(
            self.store,
            clock=self._clock,
            actor=self._actor,
            budget=Budget(
                calls=config.daily_calls,
                tokens=config.daily_tokens,
                money=config.daily_money,
            ),
        )
        return open_llm(config, clock=self._clock, meter=meter)

    @property
    def model_config(self) -> ModelConfig | None:
        """How the model is configured; None where it is off."""
        if self._model == "configured":
            from factbook.llm.config import config_path, load_config

            self._model = load_config(os.environ, config_path(os.environ))
        return self._model

    @property
    def has_model(self) -> bool:
        """Tell whether a model is given or configured."""
        return self._llm is not None or self.model_config is not None

    # --- typed memories (seed 002) --------------------------------------------------------------

    def extract_typed(
        self, *, limit: int | None = None, progress: Callable[[int], None] | None = None
    ) -> TypedReport:
        """Ask the model for memories in every summary that it has not answered for yet.

        What the gate lets in is stored, what it refuses is kept with its reason. A summary whose
        call failed waits for the next time. Raises ModelError where no model is configured.
        """
        from factbook.assist.typed import extract_typed

        return extract_typed(
            self.store,
            self.llm,
            embed=self.embedder.embed,
            known=self._known_near,
            redact=self.redactor.redact,
            clock=self._clock,
            actor=self._actor,
            trigger=Trigger.COMMAND,
            limit=limit,
            progress=progress,
        )

    def keep_verdict(self, verdict: TypedVerdict, *, summary: str, owner: str = ME) -> Receipt:
        """Keep what the gate decided of a claim about a summary: the memory, or its refusal."""
        from factbook.assist.typed import keep_verdict

        return keep_verdict(
            self.store,
            verdict,
            summary=summary,
            owner=owner,
            redact=self.redactor.redact,
            now=self._clock(),
            actor=self._actor,
        )

    def _known_near(self, text: str, owner: str) -> Sequence[str]:
        near = self._facts_like(text, owner)
        best = sorted(near, key=lambda one: -near[one])[: policy.TOLD_NEIGHBOURS]
        return [one.statement for one in self.store.facts_by_id(best).values()]

    def extract_commands(
        self, *, limit: int | None = None, progress: Callable[[int], None] | None = None
    ) -> CommandsReport:
        """Ask the model about commands and requests that no rule understands (seed 000).

        What it names must stand in the command, and goes through the same gate as a rule's claims.
        """
        from factbook.assist.commands import extract_commands

        return extract_commands(
            self.store,
            self.llm,
            redact=self.redactor.redact,
            clock=self._clock,
            actor=self._actor,
            limit=limit,
            progress=progress,
        )

    # --- keyed facts (seed 004) -----------------------------------------------------------------

    def tell(
        self,
        message: str,
        *,
        owner: str = ME,
        planner: Planner = "model",
        atomic: bool = True,
        at: Millis | None = None,
        message_id: str | None = None,
    ) -> Told:
        """Turn a message into operations on keyed facts, and apply them in one transaction.

        The message is kept first. The model (or, with `planner="rules"`, a parser of common
        phrasings) proposes operations; each must name a value that the message holds. Raises
        ModelError where the model fails: nothing is written then, and the message stays queued.
        """
        return self._told(
            message, owner=owner, planner=planner, atomic=atomic, at=at, message_id=message_id
        )

    def _told(
        self,
        message: str,
        *,
        owner: str,
        planner: Planner,
        atomic: bool = True,
        at: Millis | None = None,
        message_id: str | None = None,
        keep_question: bool = True,
    ) -> Told:
        from factbook.assist.telling import tell_keys

        return tell_keys(
            self.store,
            message,
            owner=owner,
            llm=self.llm if planner == "model" and self.has_model else None,
            planner=planner,
            atomic=atomic,
            at=at,
            message_id=message_id,
            redact=self.redactor.redact,
            clock=self._clock,
            actor=self._actor,
            keep_question=keep_question,
        )

    def ask(
        self,
        question: str,
        *,
        owner: str = ME,
        planner: Planner = "model",
        exclude_message: str | None = None,
    ) -> Asked:
        """Turn a question into a plan, and execute the plan without a model.

        Raises ModelError where the model fails: nothing is answered then.
        """
        from factbook.assist.answering import ask_keys

        return ask_keys(
            self.store,
            question,
            owner=owner,
            llm=self.llm if planner == "model" and self.has_model else None,
            planner=planner,
            exclude_message=exclude_message,
            redact=self.redactor.redact,
            now=self._clock(),
        )

    def plan(self, question: str, *, owner: str = ME, planner: Planner = "model") -> FactsQueryPlan:
        """Return how a question would be answered, without answering it; raises ModelError."""
        from factbook.assist.answering import plan_question

        return plan_question(
            self.store,
            self.redactor.redact(question),
            owner=owner,
            llm=self.llm if planner == "model" and self.has_model else None,
            planner=planner,
            now=self._clock(),
        )

    def apply_facts(
        self,
        response: FactsOpsResponse,
        *,
        message_id: str,
        owner: str = ME,
        atomic: bool = True,
    ) -> ApplyResult:
        """Apply operations on keyed facts for a message; a message that is unknown is recorded."""
        from factbook.assist.telling import apply_response

        return apply_response(
            self.store,
            response,
            owner=owner,
            message_id=message_id,
            atomic=atomic,
            redact=self.redactor.redact,
            now=self._clock(),
            actor=self._actor,
        )

    def execute_plan(
        self, plan: FactsQueryPlan, *, owner: str = ME, exclude_message: str | None = None
    ) -> FactsAnswer:
        """Read what a plan asks for; no model takes part."""
        from factbook.assist.answering import execute

        return execute(
            self.store,
            plan,
            owner=owner,
            exclude_message=exclude_message,
            redact=self.redactor.redact,
            now=self._clock(),
        )

    def retry_told(self) -> RetriedTold:
        """Ask the model again about messages whose operations failed and that may be tried."""
        from factbook.assist.telling import retry

        return retry(
            self.store,
            self.llm,
            redact=self.redactor.redact,
            clock=self._clock,
            actor=self._actor,
        )

    def keyed_facts(
        self,
        *,
        owner: str = ME,
        prefix: str = "",
        limit: int = policy.PAGE_LIMIT,
        after: str = "",
    ) -> list[Fact]:
        """Return current keyed facts by key and rank, at most policy.PAGE_MAX of them.

        A prefix ends at a segment: `user.favorites.crypto` never finds `user.favorites.cryptoX`.
        `after` is the last key of the page before.
        """
        if not 1 <= limit <= policy.PAGE_MAX:
            raise UsageError(
                detail=f"limit {limit} is out of bounds; give one from 1 to {policy.PAGE_MAX}"
            )
        found = self.store.keyed_facts(owner, prefix=prefix, limit=limit, after=after)
        return [self._shown(one) for one in found]

    def key_history(self, key: str, *, owner: str = ME) -> list[Fact]:
        """Return everything that a key has held, the oldest first."""
        return [self._shown(one) for one in self.store.key_history(owner, key)]

    def quotes_of(self, fact_id: int | None, *, owner: str | Everyone = ME) -> list[str]:
        """Return the newest words that a fact stands on, redacted; none for None."""
        if fact_id is None:
            return []
        self._fact_of(fact_id, owner)
        found = self.store.evidence_of([fact_id])[fact_id]
        episodes = self.store.episodes_by_id([one.episode_id for one in found[-1:]])
        return [self.redactor.redact(one.text) for one in episodes.values()]

    def _shown(self, fact: Fact) -> Fact:
        raise NotImplementedError

    # --- what waits, what was refused, what it cost ---------------------------------------------

    def model_tasks(self) -> list[ModelTask]:
        """Return inputs whose calls failed: what waits for another try, and what is set aside."""
        return self.store.model_tasks()

    def retry_tasks(self, kind: str) -> Receipt:
        """Let inputs that were set aside be tried again: typed, tell, commands or judge."""
        from factbook.ops import RetryTasks

        return self._apply([RetryTasks(kind=kind)])

    def rejection_summary(self, *, limit: int = 100) -> RejectionSummary:
        """Return what became of the last proposals of memories (seed 002)."""
        from factbook.assist.refused import summarize

        return summarize(self.store.typed_log(limit=limit))

    def cost(self, *, since: str = "") -> list[CostLine]:
        """Return what calls of models came to from a day ("2026-11-21", UTC) on."""
        from factbook.assist.meter import cost

        return cost(self.store, since=since)

    # --- proposals of memories ------------------------------------------------------------------

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
        from factbook.assist import proposals
        from factbook.assist.telling import CLARIFICATION

        found = next((one for one in self.proposals(owner=owner) if one.id == proposal_id), None)
        now = self._clock()
        if found is not None and found.kind == proposals.KIND:
            if accept:
                receipt = proposals.accept_memory(
                    self.store,
                    found,
                    text=text,
                    redact=self.redactor.redact,
                    actor=self._actor,
                    now=now,
                    tell=self._tell,
                )
                keys = [proposals.fact_id(one) for one in proposals.against(found)]
                for one in self.store.facts_by_id(keys).values():
                    if one.kind is FactKind.KEYED and one.retired_at is None:
                        said = text or str(found.payload["text"])
                        receipt.add(self._told(said, owner=owner, planner="rules").receipt)
                        break
                return receipt
            return proposals.refuse_memory(
                self.store, found, reason=reason, actor=self._actor, now=now
            )
        if found is not None and found.kind == CLARIFICATION and accept:
            if not text.strip():
                raise UsageError(
                    detail=f"proposal {proposal_id} is a question; answer it by saying the message"
                    " in clearer words, with --text"
                )
            told = self._told(
                text, owner=str(found.payload["owner"]), planner=planner, keep_question=False
            )
            if told.needs_clarification or told.errors:
                why = "; ".join((*told.needs_clarification, *told.errors))
                raise UsageError(detail=f"that is not clear either: {why}")
            told.receipt.add(
                super().decide(proposal_id, accept=True, reason=f"as: {told.message}", owner=owner)
            )
            return told.receipt
        if text:
            raise UsageError(detail=f"proposal {proposal_id} takes no other words")
        return super().decide(proposal_id, accept=accept, reason=reason, owner=owner)

    # --- the night ------------------------------------------------------------------------------

    def _resolver(self) -> Resolver | None:
        """Return the model's batched judgement; None without a model."""
        if not self.has_model:
            return None
        from factbook.upkeep.verdicts import model_resolver

        return model_resolver(self.llm)
