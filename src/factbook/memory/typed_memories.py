"""What a language model finds in what was read: typed memories, what commands mean, what is said.

It composes the parts of `assist` and holds no rule. Without a configured model each raises a
ModelError of the kind not_configured.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from factbook import policy
from factbook.context import part
from factbook.memory.refused import summarize
from factbook.model.confidence import as_of, is_passive, value_at
from factbook.model.facts import ME, Fact, FactKind, Receipt, Trigger, Trust
from factbook.pipelines.commands import extract_commands
from factbook.pipelines.turns import extract_turns, turns_waiting
from factbook.pipelines.typed import extract_typed, keep_verdict
from factbook.recall.facts import shown
from factbook.store.derived.ledger import typed_log
from factbook.store.rows import LifeWhere

if TYPE_CHECKING:
    from factbook.context import Context
    from factbook.gate.typed_claims import TypedVerdict
    from factbook.memory.refused import RejectionSummary
    from factbook.memory.typed_store import RecordState, TypedStore
    from factbook.pipelines.commands import CommandsReport
    from factbook.pipelines.turns import TurnsReport
    from factbook.pipelines.typed import TypedReport


@dataclass(frozen=True, slots=True, kw_only=True)
class Envelope:
    """What a context holds of an owner's typed memories without a question; the surest first."""

    facts: Sequence[Fact]  # at most 5
    patterns: Sequence[Fact]  # at most 3
    narratives: Sequence[Fact]  # at most 2


@part
class Typed:
    """The typed memories of a memory; `Memory.typed`."""

    def __init__(
        self,
        context: Context,
        *,
        like: Callable[[str, str], Mapping[int, float]],
        near: Callable[[str, str], Mapping[int, float]],
        record: TypedStore,
    ) -> None:
        """Compose; `like` finds an owner's facts that may say what a text says, with cosines.

        `near` finds their statements, rules and decisions that are near to a text.
        """
        self._record = record
        self._near = near
        self._context = context
        self._store = context.store
        self._like = like

    def extract_typed(
        self, *, limit: int | None = None, progress: Callable[[int], None] | None = None
    ) -> TypedReport:
        """Ask the model for memories in every summary that it has not answered for yet.

        What the gate lets in is stored, what it refuses is kept with its reason. A summary whose
        call failed waits for the next time. Raises ModelError where no model is configured.
        """
        return extract_typed(
            self._context,
            known=self._known_near,
            trigger=Trigger.COMMAND,
            limit=limit,
            progress=progress,
        )

    def keep_verdict(self, verdict: TypedVerdict, *, summary: str, owner: str = ME) -> Receipt:
        """Keep what the gate decided of a claim about a summary: the memory, or its refusal."""
        return keep_verdict(self._context, verdict, summary=summary, owner=owner)

    def extract_commands(
        self, *, limit: int | None = None, progress: Callable[[int], None] | None = None
    ) -> CommandsReport:
        """Ask the model about commands and requests that no rule understands.

        What it names must stand in the command, and goes through the same gate as a rule's claims.
        """
        return extract_commands(self._context, limit=limit, progress=progress)

    def extract_turns(
        self, *, limit: int | None = None, progress: Callable[[int], None] | None = None
    ) -> TurnsReport:
        """Ask the model what people say in turns that it has not answered for yet.

        Statements, preferences, rules and decisions, names, and what is over or otherwise now: each
        must quote its turn, and goes through the same gate as what the reader finds. A turn whose
        call failed waits for the next time. Raises ModelError where no model is configured.
        """
        return extract_turns(self._context, near=self._near, limit=limit, progress=progress)

    def turns_waiting(self) -> int:
        """Return how many turns no model has answered for."""
        return turns_waiting(self._store)

    def envelope(self, *, owner: str = ME) -> Envelope:
        """Return what is surest of an owner now, as it may come by itself, with no search for it.

        Of what is equally sure the newest comes first. Confidences are what they are now.
        """
        now = self._context.clock()
        with self._store.snapshot() as moment:
            lives = moment.lives(LifeWhere(owner=owner, kinds=[FactKind.TYPED], current=True))
            surest = sorted(
                (
                    (value, life.occurred_at or 0, life.id, life.predicate)
                    for life in lives
                    if is_passive(value := value_at(life, now)) and life.trust is not Trust.EXTERNAL
                ),
                reverse=True,
            )
            ids = {
                kind: [row_id for _, _, row_id, predicate in surest if predicate == kind][:most]
                for kind, most in policy.CONTEXT_TYPED.items()
            }
            facts = moment.facts_by_id([row_id for chosen in ids.values() for row_id in chosen])
        said = {
            kind: [shown(self._context, as_of(facts[row_id], now)) for row_id in chosen]
            for kind, chosen in ids.items()
        }
        return Envelope(
            facts=said["user_fact"],
            patterns=said["user_pattern"],
            narratives=said["shared_narrative"],
        )

    def rejection_summary(self, *, limit: int = 100) -> RejectionSummary:
        """Return what became of the last proposals of memories."""
        return summarize(typed_log(self._store, limit=limit))

    def record_state(self) -> RecordState | None:
        """Return how the record of typed memories is; None where the file itself is it.

        Raises RecordError where it cannot be asked.
        """
        return self._record.state()

    def rebuild_record(self) -> int:
        """Make what the file holds of the record anew; return how many memories the record has.

        Raises UsageError where the file itself is the record, RecordError where it is away.
        """
        return self._record.rebuild()

    def _known_near(self, text: str, owner: str) -> Sequence[str]:
        near = self._like(text, owner)
        best = sorted(near, key=lambda fact_id: -near[fact_id])[: policy.TOLD_NEIGHBOURS]
        return [fact.statement for fact in self._store.facts_by_id(best).values()]
