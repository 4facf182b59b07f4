"""Say what a call costs; pure. The budget of a day is held where calls are counted."""

from __future__ import annotations

from factbook.llm.config import EmbedConfig, ModelConfig


def money_of(
    config: ModelConfig | EmbedConfig, prompt_tokens: int, answer_tokens: int = 0
) -> float | None:
    """Return what a call costs in the configured currency; None where no price is configured."""
    if config.price_in is None:
        return None
    price_out = config.price_out if isinstance(config, ModelConfig) else None
    return (prompt_tokens * config.price_in + answer_tokens * (price_out or 0.0)) / 1_000_000
