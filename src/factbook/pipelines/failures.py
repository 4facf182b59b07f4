"""Tell of what failed in a session how it went on, as far as its facts tell.

What failed is over once something with the same aim went well: the same program, tool or file.
Where something was only looked for, nothing is left to be done.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Final

from factbook import policy
from factbook.extract.base import parse_place
from factbook.extract.session_parser import RULES
from factbook.extract.tests_run import aims, is_to_fail
from factbook.model.facts import Fact
from factbook.model.text import shorten

_FAILED: Final = "failed_with"
_RAN: Final = "ran"
_CHECKED: Final = "verified"
_TOOL: Final = "used_tool"
_COMMAND: Final = "executed_command"
_CHANGED: Final = "modified_file"
_READ: Final = "read_file"
_INSTALLED: Final = "installed_package"
_ABOUT: Final = ("delegated_to", "described_as", "fetched_url", "searched_for")
CALLED: Final = (_FAILED, _RAN, _CHECKED, _TOOL, _COMMAND, _CHANGED, _READ, _INSTALLED, *_ABOUT)
"""The facts that tell what was called, and how it ended."""

_LOOKS: Final = tuple(
    tool
    for rule in RULES
    if rule.name in ("read_file", "searched_code")
    for place in [parse_place(rule.looks_in)]
    if place is not None
    for tool in place.of
)
_LOOKED: Final = "it was only a look"
_TO_FAIL: Final = "it was to fail"
_ENDED_WELL: Final = ": ok"  # how the sentence of a command ends that nothing is said against
_UNANSWERED: Final = "; no result is known"
_WORD: Final = re.compile(r"[\w-]+")
_JOINT: Final = re.compile(r"[-_]+")  # pip writes one where a module has the other


@dataclass(slots=True)
class _Call:
    """What the facts of one call say."""

    tool: str = ""
    command: str = ""
    tested: bool = False
    passed: bool = False
    broken: bool = False  # something says that it did not end well, or that it did not end
    failures: list[Fact] = field(default_factory=list)
    changed: set[str] = field(default_factory=set)
    read: set[str] = field(default_factory=set)
    installed: set[str] = field(default_factory=set)
    about: set[str] = field(default_factory=set)  # whom it was given, what it looked for


def went_on(facts: Iterable[Fact]) -> dict[int, str]:
    """Return in words how the failures of a session went on that are not open, by their facts."""
    calls: dict[str, _Call] = {}
    done = sorted(
        (fact for fact in facts if fact.predicate in CALLED),
        key=lambda fact: (fact.occurred_at or 0, fact.id),
    )
    for fact in done:
        _learn(calls.setdefault(fact.subject, _Call()), fact)
    with_files = {call.tool for call in calls.values() if call.changed or call.read}
    ended: dict[int, str] = {}
    later: list[_Call] = []  # calls that went well behind one, the last first
    for call in reversed(calls.values()):
        for failure in call.failures:
            ended[failure.id] = _how(failure, call, later[::-1], with_files)
        if not call.broken and (call.passed or not call.command):
            later.append(call)
    return {id_: how for id_, how in ended.items() if how}


def _learn(call: _Call, fact: Fact) -> None:
    call.broken = call.broken or fact.statement.endswith(_UNANSWERED)
    if fact.predicate == _FAILED:
        call.failures.append(fact)
        call.broken = True
    elif fact.predicate == _TOOL:
        call.tool = fact.object
    elif fact.predicate == _COMMAND:
        call.command = fact.object
    elif fact.predicate == _RAN:
        call.passed = call.passed or fact.statement.endswith(_ENDED_WELL)
    elif fact.predicate == _CHECKED:
        call.tested = True
        call.passed = call.passed or fact.object == "passed"
        call.broken = call.broken or fact.object != "passed"
    elif fact.predicate == _CHANGED:
        call.changed.add(fact.object)
    elif fact.predicate == _READ:
        call.read.add(fact.object)
    elif fact.predicate == _INSTALLED:
        call.installed.add(fact.object)
    elif fact.predicate in _ABOUT:
        call.about.add(fact.object)


def _how(failure: Fact, call: _Call, later: Sequence[_Call], with_files: Collection[str]) -> str:
    if call.command:
        wanted = aims(call.command)
        if not wanted:
            return _LOOKED
        to_fail = call.tested and any(map(is_to_fail, call.about))
        # What leads to the last command of a line went well, or that one had not been reached.
        for other in later:
            command = shorten(other.command, policy.PROMPT_SHOWN)
            missed = sorted(each for each in other.installed if _is_named(each, failure.object))
            if missed:
                return f"then `{command}` installed {', '.join(missed)}"
            if not to_fail and any(wanted[-1].is_met_by(each) for each in aims(other.command)):
                return f"then `{command}` went well"
        if to_fail:
            return _TO_FAIL
        return ""
    path = failure.statement.removeprefix(f"{call.tool} of ").partition(" failed: ")[0]
    for other in later:
        same = other.tool == call.tool
        if call.tool in with_files:
            same = same and path in other.read
        elif same:
            same = _same_matter(failure, {*call.about, path} - {call.tool}, other.about)
        if same or path in other.changed:
            return f"then {other.tool} went well"
    return _LOOKED if any(fnmatchcase(call.tool, looks) for looks in _LOOKS) else ""


def _is_named(package: str, error: str) -> bool:
    """Tell whether an error names a package, as pip or as a module is called."""
    name, said = (_JOINT.sub("-", text.lower()) for text in (package, error))
    return re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", said) is not None


def _same_matter(failure: Fact, wanted: Collection[str], done: Collection[str]) -> bool:
    """Tell whether two calls of a tool were about the same; a failure may name what it lacked."""
    if not wanted and not done:
        return True
    words = set(_WORD.findall(failure.object))
    return any(each in wanted or each.rpartition(":")[2] in words for each in done)
