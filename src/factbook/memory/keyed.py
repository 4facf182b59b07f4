"""Facts under keys: told in sentences, asked in sentences, kept as operations.

It composes the parts of `assist` and holds no rule. What needs a language model raises a ModelError
of the kind not_configured without one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal

from factbook import policy
from factbook.context import part
from factbook.errors import UsageError
from factbook.memory.answering import ask_keys, execute, plan_question
from factbook.model.facts import ME, Everyone, Fact, Millis
from factbook.pipelines.keyed import apply_response, retry, tell_keys
from factbook.recall.facts import fact_of, shown
from factbook.store.derived.keyed import key_history, keyed_facts
from factbook.store.derived.ledger import evidence_of

if TYPE_CHECKING:
    from factbook.context import Context
    from factbook.extract.keyed.contracts import (
        ApplyResult,
        FactsAnswer,
        FactsOpsResponse,
        FactsQueryPlan,
    )
    from factbook.memory.answering import Asked
    from factbook.pipelines.keyed import RetriedTold, Told

Planner = Literal["model", "rules"]


@part
class Keyed:
    """The keyed facts of a memory; `Memory.keyed`."""

    def __init__(self, context: Context) -> None:
        """Compose over what the memory works with."""
        self._context = context
        self._store = context.store

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
        return tell_keys(
            self._context,
            message,
            owner=owner,
            planner=planner,
            atomic=atomic,
            at=at,
            message_id=message_id,
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
        return ask_keys(
            self._context, question, owner=owner, planner=planner, exclude_message=exclude_message
        )

    def plan(self, question: str, *, owner: str = ME, planner: Planner = "model") -> FactsQueryPlan:
        """Return how a question would be answered, without answering it; raises ModelError."""
        return plan_question(self._context, question, owner=owner, planner=planner)

    def apply_facts(
        self, response: FactsOpsResponse, *, message_id: str, owner: str = ME, atomic: bool = True
    ) -> ApplyResult:
        """Apply operations on keyed facts for a message; a message that is unknown is recorded."""
        return apply_response(
            self._context, response, owner=owner, message_id=message_id, atomic=atomic
        )

    def apply_quoted(
        self,
        ops: Sequence[Mapping[str, object]],
        *,
        quote: str,
        owner: str = ME,
        atomic: bool = True,
    ) -> ApplyResult:
        """Apply a model's operations on keyed facts for the prompt of the owner that it quotes.

        Only the owner's own words change keys: without them nothing is done, and the errors say so.
        Each operation has the fields of `FactsOp`; raises UsageError for what is none.
        """
        from factbook.pipelines.noted import apply_quoted  # only agents come this way

        return apply_quoted(self._context, ops, quote=quote, owner=owner, atomic=atomic)

    def execute_plan(
        self, plan: FactsQueryPlan, *, owner: str = ME, exclude_message: str | None = None
    ) -> FactsAnswer:
        """Read what a plan asks for; no model takes part."""
        return execute(self._context, plan, owner=owner, exclude_message=exclude_message)

    def retry_told(self) -> RetriedTold:
        """Ask the model again about messages whose operations failed and that may be tried."""
        return retry(self._context)

    def keyed_facts(
        self, *, owner: str = ME, prefix: str = "", limit: int = policy.PAGE_LIMIT, after: str = ""
    ) -> list[Fact]:
        """Return current keyed facts by key and rank, at most policy.PAGE_MAX of them.

        A prefix ends at a segment: `user.favorites.crypto` never finds `user.favorites.cryptoX`.
        `after` is the last key of the page before.
        """
        if not 1 <= limit <= policy.PAGE_MAX:
            raise UsageError(
                detail=f"limit {limit} is out of bounds; give one from 1 to {policy.PAGE_MAX}"
            )
        facts = keyed_facts(self._store, owner, prefix=prefix, limit=limit, after=after)
        return [shown(self._context, fact) for fact in facts]

    def key_history(self, key: str, *, owner: str = ME) -> list[Fact]:
        """Return everything that a key has held, the oldest first."""
        return [shown(self._context, fact) for fact in key_history(self._store, owner, key)]

    def quotes_of(self, fact_id: int | None, *, owner: str | Everyone = ME) -> list[str]:
        """Return the newest words that a fact stands on, redacted; none for None."""
        if fact_id is None:
            return []
        fact_of(self._context, fact_id, owner)
        evidence = evidence_of(self._store, [fact_id])[fact_id]
        episodes = self._store.episodes_by_id([piece.episode_id for piece in evidence[-1:]])
        return [self._context.redact(episode.text) for episode in episodes.values()]
