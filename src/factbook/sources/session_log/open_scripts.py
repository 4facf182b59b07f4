"""The scripts of a log whose end has not come yet, and what is told of their calls when it comes.

A script that takes long goes on as a cell, which another call waits for.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from factbook.sources.session_log.printed import UNTOLD, Print, Result, of_shell, results_in

_SCRIPTS: Final = 512  # that are remembered; the oldest is forgotten
_SHELLS: Final = frozenset({"exec_command", "write_stdin"})  # what they give has an exit code
_HEADER: Final = re.compile(
    r"Script (?P<end>completed|failed|terminated|running with cell ID (?P<cell>\S{1,40}))\n"
    r"(?:Wall time [^\n]{0,80}(?:\n|$))?(?:Output:(?:\n|$))?"
)
_ERROR: Final = "Script error:\n"
_OWN_ERROR: Final = re.compile(r"\w*Error: ")  # the script's, no tool's
_MALFORMED: Final = re.compile(r"SyntaxError: (?![\s\S]*(?:JSON|regular expression))")
_ELSEWHERE: Final = "(its output stands with that of the other calls of the script)"


class Came(NamedTuple):
    """What came of a script."""

    parts: Sequence[str]  # what it printed; of one that failed the last is why
    end: str  # "completed", "failed" or "terminated"; or that it goes on
    cell: str  # the cell that it goes on as; empty where it ended


def came(parts: Sequence[str]) -> Came | None:
    """Return what came of a script; None where the output is none of a script."""
    header = _HEADER.match(parts[0]) if parts else None
    if header is None:
        return None
    first = parts[0][header.end() :]
    printed = [first, *parts[1:]] if first else [*parts[1:]]
    if header["end"] == "failed" and printed:
        printed[-1] = printed[-1].removeprefix(_ERROR)
    cell = f"cell {header['cell']}" if header["cell"] else ""  # no process is called so
    return Came(printed, header["end"], cell)


class OpenScript(NamedTuple):
    """A script whose end has not come yet."""

    tools: Sequence[str] = ()  # that it calls, in order; none where it cannot be read
    prints: Sequence[Print] = ()

    def calls_of(self, call_id: str) -> list[str]:
        """Return the ids of its calls; the only one of a script has the id of the script."""
        each = [f"{call_id}#{number}" for number, _ in enumerate(self.tools, 1)]
        return each if len(each) > 1 else [call_id]

    def results(self, what: Came) -> tuple[list[Result], str]:
        """Return what came of each of its calls, and what belongs to no one of them."""
        text, several = "\n".join(what.parts), len(self.tools) > 1
        if what.cell:
            marks = [{"process": id_} for id_ in self.calls_of(what.cell)]
            return [Result("" if several else text, marks=mark) for mark in marks], text * several
        if what.end == "completed" and self.tools:
            shells = [tool in _SHELLS for tool in self.tools]
            results = results_in(self.prints, shells, what.parts)
            if results is not None:
                return results, ""
            return [of_shell(_ELSEWHERE) if shell else Result(_ELSEWHERE) for shell in shells], text
        # Of several calls nobody says which were made.
        return ([], text) if several else ([self._stopped(text, what)], "")

    def _stopped(self, text: str, what: Came) -> Result:
        """Return what came of the only call of a script that failed or was stopped."""
        if what.end == "terminated":
            return Result(text, marks={"interrupted": "true"})
        error = what.parts[-1] if what.parts and self.tools else ""
        if _OWN_ERROR.match(error) and not _MALFORMED.match(error):
            return Result(text, marks=UNTOLD)  # its call may have ended
        never_run = {"denied": "true"} if _MALFORMED.match(error) else {}
        return Result(text, failed=what.end == "failed", marks=never_run)


class OpenScripts:
    """The scripts of a log whose end has not come, by the calls that run them and wait for them."""

    def __init__(self, state: object = None) -> None:
        """Take up what `save` returned for the same log, or begin anew."""
        saved: Any = state if isinstance(state, Mapping) else {}
        self._scripts = {
            call_id: OpenScript(tuple(tools), tuple((call, form) for call, form in prints))
            for call_id, (tools, prints) in saved.get("scripts", {}).items()
        }
        # A call that waits -> the cell that it waits for -> the call that runs the script.
        self._asks: dict[str, str] = dict(saved.get("asks", {}))

    def save(self) -> dict[str, object]:
        """Return what waits as JSON data."""
        scripts = {call_id: [*script] for call_id, script in self._scripts.items()}
        return {"scripts": scripts, "asks": {**self._asks}}

    def runs(self, call_id: str, script: OpenScript) -> None:
        """Remember the script that a call runs."""
        _note(self._scripts, call_id, script)

    def asks(self, of: str, what: str) -> None:
        """Note which cell a call waits for, or as which cell the script of a call goes on."""
        _note(self._asks, of, what)

    def asked_by(self, call_id: str) -> tuple[str, OpenScript, str] | None:
        """Return (call that runs it, script, cell) of what a call runs or waits for, or None."""
        cell = self._asks.pop(call_id, "")
        runs = self._asks.get(cell, "") if cell else call_id
        script = self._scripts.get(runs)
        return None if script is None else (runs, script, cell)

    def ended(self, call_id: str, cell: str) -> None:
        """Forget a script that ended."""
        self._scripts.pop(call_id, None)
        self._asks.pop(cell, None)


def _note(noted: dict[str, Any], key: str, value: object) -> None:
    noted.pop(key, None)
    noted |= {key: value} if key else {}
    if len(noted) > _SCRIPTS:
        del noted[next(iter(noted))]
