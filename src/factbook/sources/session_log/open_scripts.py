"""The scripts of a log whose end has not come yet, and what is told of their calls when it comes.

A script that takes long goes on as a cell, which another call waits for. Knows: how Codex says that
a script ended, failed or goes on. Does not know records, nor episodes.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from factbook.sources.session_log.printed import Print, Result, results_in

__all__ = ["Came", "End", "OpenScript", "OpenScripts", "came", "cell_of"]

_SCRIPTS: Final = 512  # that are remembered; the oldest is forgotten
_SHELLS: Final = frozenset({"exec_command", "write_stdin"})  # what they give has an exit code
_HEADER: Final = re.compile(
    r"Script (?:completed|(?P<failed>failed)|running with cell ID (?P<cell>\S{1,40}))\n"
    r"(?:Wall time [^\n]{0,80}(?:\n|$))?(?:Output:(?:\n|$))?"
)
_ERROR: Final = "Script error:\n"
_OWN_ERROR: Final = re.compile(r"(?P<malformed>Syntax)?\w*Error: ")  # the script's, no tool's
_WITH_OTHERS: Final = "(its output stands with that of the other calls of the script)"


class Came(NamedTuple):
    """What came of a script."""

    parts: tuple[str, ...]  # what it printed; of one that failed the last is why
    failed: bool
    cell: str  # the number of the cell that it goes on as; empty where it ended

    @property
    def text(self) -> str:
        return "\n".join(self.parts)


class End(NamedTuple):
    """How a call of a script ended."""

    text: str
    code: str = ""  # exit code
    is_error: bool = False
    attributes: Mapping[str, str] = {}


def came(parts: Sequence[str]) -> Came | None:
    """Return what came of a script; None where the output is none of a script."""
    header = _HEADER.match(parts[0]) if parts else None
    if header is None:
        return None
    rest = [parts[0][header.end() :], *parts[1:]]
    printed = [part.removeprefix(_ERROR) for part in (rest if rest[0] else rest[1:])]
    return Came(tuple(printed), bool(header["failed"]), header["cell"] or "")


def cell_of(cell: str, number: int) -> str:
    """Return under what a call of a script goes on; no process of the shell is called so."""
    return f"cell {cell}#{number}"


class OpenScript(NamedTuple):
    """A script whose end has not come yet."""

    tools: tuple[str, ...] = ()  # that it calls, in order; none where it cannot be read
    prints: tuple[Print, ...] = ()

    def calls_of(self, call_id: str) -> list[str]:
        """Return the ids of its calls; the only one of a script has the id of the script."""
        if len(self.tools) < 2:
            return [call_id]
        return [f"{call_id}#{number}" for number in range(1, len(self.tools) + 1)]

    def ends(self, what: Came) -> list[End] | None:
        """Return how each of its calls ended; None where what came belongs to no one of them."""
        if not self.tools:
            return [End(what.text, is_error=what.failed)]
        if what.failed:
            return [_failed(what)] if len(self.tools) == 1 else None
        shells = [tool in _SHELLS for tool in self.tools]
        results = results_in(self.prints, shells, what.parts)
        if results is None:
            return None
        return [_end(result, shell) for result, shell in zip(results, shells, strict=True)]

    def untold(self) -> list[End]:
        """Return how its calls ended where only what they printed together is known."""
        return [_end(Result(_WITH_OTHERS), tool in _SHELLS) for tool in self.tools]


def _end(result: Result, shell: bool) -> End:
    attributes: dict[str, str] = {}
    if shell and not result.code:
        attributes = {"process": result.process} if result.process else {"end": "untold"}
    is_error = result.failed or result.code not in {"", "0"}
    return End(result.text, result.code, is_error, attributes)


def _failed(what: Came) -> End:
    """Return how the only call of a script ended that failed.

    A malformed script was never run. Where the script made the mistake, its call may have ended.
    """
    own = _OWN_ERROR.match(what.parts[-1]) if what.parts else None
    if own is None:
        return End(what.text, is_error=True)
    if own["malformed"]:
        return End(what.text, is_error=True, attributes={"denied": "true"})
    return End(what.text, attributes={"end": "untold"})


class OpenScripts:
    """The scripts of a log whose end has not come, by the calls that run them and wait for them."""

    def __init__(self, state: object = None) -> None:
        """Take up what `save` returned for the same log, or begin anew."""
        saved: Any = state if isinstance(state, Mapping) else {}
        self._scripts = {call_id: _script(raw) for call_id, raw in saved.get("scripts", ())}
        self._cells: dict[str, str] = dict(saved.get("cells", ()))  # -> call that runs the script
        self._waits: dict[str, str] = dict(saved.get("waits", ()))  # call that waits -> cell

    def save(self) -> dict[str, object]:
        """Return what waits as JSON data."""
        return {
            "scripts": [[call_id, list(script)] for call_id, script in self._scripts.items()],
            "cells": [[cell, call_id] for cell, call_id in self._cells.items()],
            "waits": [[call_id, cell] for call_id, cell in self._waits.items()],
        }

    def run(self, call_id: str, script: OpenScript) -> None:
        """Remember a script, which a call runs."""
        _note(self._scripts, call_id, script)

    def wait(self, call_id: str, cell: str) -> None:
        """Remember a call that waits for a script."""
        _note(self._waits, call_id, cell)

    def asked_by(self, call_id: str) -> tuple[str, OpenScript, str] | None:
        """Return (call that runs it, script, cell) of what a call runs or waits for, or None."""
        cell = self._waits.pop(call_id, "")
        runs = self._cells.get(cell, "") if cell else call_id
        script = self._scripts.get(runs)
        return None if script is None else (runs, script, cell)

    def goes_on(self, call_id: str, what: Came) -> None:
        """Note as which cell a script goes on."""
        _note(self._cells, what.cell, call_id)

    def ended(self, call_id: str, cell: str) -> None:
        """Forget a script that ended."""
        self._scripts.pop(call_id, None)
        self._cells.pop(cell, None)


def _note(noted: dict[str, Any], key: str, value: object) -> None:
    if not key or value == "":
        return
    noted[key] = value
    if len(noted) > _SCRIPTS:
        del noted[next(iter(noted))]


def _script(raw: Any) -> OpenScript:
    tools, prints = raw
    read = (Print(tuple(calls), form, maybe) for calls, form, maybe in prints)
    return OpenScript(tuple(tools), tuple(read))
