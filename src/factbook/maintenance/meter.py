"""Count the calls of a model in the store, and hold them to the budget of the day."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING

from factbook.model.facts import Millis, Trigger
from factbook.model.ops import BeginCall, EndCall, Op
from factbook.store.kinds import CALL, Least

if TYPE_CHECKING:
    from factbook.context import Context
    from factbook.llm import LLM, ModelCall
    from factbook.llm.config import ModelConfig
    from factbook.store.kinds import CallCount
    from factbook.store.port import Store


class DayMeter:
    """Reserve every call in the store before it is made, and count it when it has ended.

    The reservation is made under the write lock, so the number of calls holds between processes
    too; tokens and money are known only afterwards, so what runs at the same moment may pass them
    by one call each.
    """

    def __init__(self, context: Context, config: ModelConfig) -> None:
        """Meter the calls of the context's store, by what a day may cost."""
        self._context = context
        self._config = config
        self._began = threading.local()

    def before(self, purpose: str, model: str) -> None:
        """Reserve a call; raises ModelError of the kind over_budget where none is left."""
        self._began.at = self._context.clock()
        self._write(
            BeginCall(
                purpose=purpose,
                model=model,
                max_calls=self._config.daily_calls,
                max_tokens=self._config.daily_tokens,
                max_money=self._config.daily_money,
            ),
            self._began.at,
        )

    def after(self, call: ModelCall) -> None:
        """Count a call that was reserved in this thread, however it ended."""
        self._write(
            EndCall(
                purpose=call.purpose,
                model=call.model,
                began_at=getattr(self._began, "at", call.at),
                outcome=call.outcome,
                prompt_tokens=call.prompt_tokens,
                answer_tokens=call.answer_tokens,
                latency_ms=call.latency_ms,
                money=call.money or 0.0,
            ),
            self._context.clock(),
        )

    def _write(self, op: Op, now: Millis) -> None:
        self._context.write([op], Trigger.COMMAND, now=now)


@dataclass(frozen=True, slots=True, kw_only=True)
class CostLine:
    """What the calls of one day, purpose, model and outcome came to."""

    day: str  # as 2026-11-21, in UTC
    purpose: str
    model: str
    outcome: str  # "ok", "begun" (it has not ended, or its process was killed) or a ModelFailure
    count: CallCount


def cost(store: Store, *, since: str = "") -> list[CostLine]:
    """Return what calls of models came to from a day on, oldest first."""
    return [
        CostLine(
            day=calls.day,
            purpose=calls.purpose,
            model=calls.model,
            outcome=calls.outcome,
            count=calls.came_to,
        )
        for calls in store.find(CALL, {"day": Least(since)})
        if calls.calls
    ]


def open_metered(context: Context, config: ModelConfig) -> LLM:
    """Return the model of a configuration, with its calls counted in the context's store."""
    from factbook.llm.client import open_llm

    return open_llm(
        config, clock=context.clock, meter=DayMeter(context, config), redact=context.redact
    )
