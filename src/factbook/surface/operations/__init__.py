"""Every operation, in the order of the help: one table that each way to call them is made from.

Knows: which modules declare operations. Does not know: any of them.
"""

from __future__ import annotations

from factbook.surface.operations import ask as ask
from factbook.surface.operations import behind as behind
from factbook.surface.operations import erase as erase
from factbook.surface.operations import keep as keep
from factbook.surface.operations import model as model
from factbook.surface.operations import night as night
from factbook.surface.operations import put_in as put_in
from factbook.surface.operations import report as report
from factbook.surface.operations import things as things
from factbook.surface.operations import world as world
from factbook.surface.operations.base import EVERY, Effect, Operation, Outcome, Run, tool_schema

__all__ = ["EVERY", "Effect", "Operation", "Outcome", "Run", "tool_schema"]
