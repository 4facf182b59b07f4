"""Say what happened in labels: `Facts-S(n)`, `Facts-U(n)`, `Facts-R(n)`, `Facts-F` (origins 004.7).

Every number is what the database counted.
"""

from __future__ import annotations

from typing import Final

from factbook.errors import ModelError, ModelFailure
from factbook.model.facts import Receipt

FAILED: Final = "Facts-F"
UNAVAILABLE: Final = "Facts system failed: The Facts LLM ({model}) is unavailable ({why})"
"""Seed 004's message; its model is Qwen, ours the one that is configured."""
_NOTHING: Final = "nothing was written; what you tell waits to be tried again"


def write_label(receipt: Receipt, *, planner: str) -> str:
    """Return the label of a write: what was stored, updated and cleared."""
    parts = []
    if receipt.stored:
        parts.append(f"Facts-S({receipt.stored})")
    if receipt.updated:
        parts.append(f"Facts-U({receipt.updated})")
    if receipt.retracted:
        parts.append(f"Facts-C({receipt.retracted})")
    return _by(" ".join(parts) or "Facts-S(0)", planner)


def read_label(canonical_keys: int, *, planner: str) -> str:
    """Return the label of a read: how many distinct canonical keys; a list counts once."""
    return _by(f"Facts-R({canonical_keys})", planner)


def _by(label: str, planner: str) -> str:
    return label if planner == "model" else f"{label} by {planner}"


def failure_message(error: ModelError) -> str:
    """Return what is said where the model failed; it is never taken for an empty answer."""
    model = str(error.details.get("model", "none"))
    if error.kind is ModelFailure.NOT_CONFIGURED:
        return (
            "Facts system failed: no Facts LLM is configured; nothing was written. Set a FACTS_LLM_"
            " variable, or say --planner rules for common phrasings."
        )
    return f"{UNAVAILABLE.format(model=model, why=error.kind)}; {_NOTHING}."
