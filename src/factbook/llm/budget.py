"""Say what a call costs and whether the budget of the day allows another one; pure functions."""

from __future__ import annotations

from dataclasses import dataclass

from factbook.errors import ModelError, ModelFailure
from factbook.llm.config import EmbedConfig, ModelConfig


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What may be spent in a day; None is no limit, 0 allows nothing."""

    money: float | None = None  # in `currency`
    calls: int | None = None
    tokens: int | None = None  # of prompts and answers together
    currency: str = "USD"


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """What the calls of a day have spent so far, however they ended."""

    money: float = 0.0
    calls: int = 0
    tokens: int = 0


@dataclass(frozen=True, slots=True)
class Budget:
    """Refuse calls once a limit is reached.

    What a call will cost is known after it. So the last call of a day may pass a limit of tokens
    or money, by what it uses itself; no call begins after that.
    """

    limits: Limits

    def check(self, spent: Spent, *, model: str) -> None:
        """Let a call begin; raises ModelError of the kind over_budget where a limit is reached."""
        limits = self.limits
        reached = ""
        if limits.calls is not None and spent.calls >= limits.calls:
            reached = f"{spent.calls:,} of {limits.calls:,} calls a day are made (daily_calls)"
        elif limits.tokens is not None and spent.tokens >= limits.tokens:
            reached = f"{spent.tokens:,} of {limits.tokens:,} tokens a day are used (daily_tokens)"
        elif limits.money is not None and spent.money >= limits.money:
            used = f"{spent.money:.4f} of {limits.money:g} {limits.currency}"
            reached = f"{used} a day are spent (daily_money)"
        if reached:
            raise ModelError(kind=ModelFailure.OVER_BUDGET, model=model, reason=reached)


def limits_of(config: ModelConfig) -> Limits:
    """Return the limits that a configuration sets."""
    return Limits(
        money=config.daily_money,
        calls=config.daily_calls,
        tokens=config.daily_tokens,
        currency=config.currency,
    )


def money_of(
    config: ModelConfig | EmbedConfig, prompt_tokens: int, answer_tokens: int = 0
) -> float | None:
    """Return what a call costs in the configured currency; None where no price is configured."""
    if config.price_in is None:
        return None
    price_out = config.price_out if isinstance(config, ModelConfig) else None
    return (prompt_tokens * config.price_in + answer_tokens * (price_out or 0.0)) / 1_000_000
