"""Long-term memory for AI agents and assistants that can show its sources."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from factbook.aio import AsyncMemory
    from factbook.errors import FactbookError
    from factbook.memory import Memory
    from factbook.model import EVERYONE, Evidence, Fact, Hit, Receipt

__all__ = [
    "EVERYONE",
    "AsyncMemory",
    "Evidence",
    "Fact",
    "FactbookError",
    "Hit",
    "Memory",
    "Receipt",
    "__version__",
]

__version__ = "0.1.0"

_HOMES = {
    "EVERYONE": "factbook.model",
    "AsyncMemory": "factbook.aio",
    "Evidence": "factbook.model",
    "Fact": "factbook.model",
    "FactbookError": "factbook.errors",
    "Hit": "factbook.model",
    "Memory": "factbook.memory",
    "Receipt": "factbook.model",
}


def __getattr__(name: str) -> object:
    # Loaded when first named: the command line starts without numpy and the parsers.
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
