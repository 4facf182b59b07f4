"""Every operation, in the order of the help: one table that each way to call them is made from.

Knows: which modules declare operations. Does not know: any of them.
"""

from __future__ import annotations

from importlib import import_module

from factbook.surface.operations.base import EVERY, Effect, Operation, Outcome, Run, tool_schema
from factbook.surface.output import Page

__all__ = ["EVERY", "Effect", "Operation", "Outcome", "Run", "tool_schema"]

for _module in (
    "put_in",
    "ask",
    "report",
    "keep",
    "model",
    "world",
    "things",
    "behind",
    "erase",
    "night",
):
    import_module(f"{__name__}.{_module}")

Page.commands = EVERY
