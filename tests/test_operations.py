"""The table of operations: what is said once is the same wherever an operation can be called."""

from __future__ import annotations

import importlib.util
import json
from functools import cache
from pathlib import Path
from typing import Any, cast, get_args

import pytest

from factbook.errors import UsageError
from factbook.extract.keyed.contracts import FactsOp, OpName
from factbook.surface.chat.slash import COMMANDS
from factbook.surface.cli import group
from factbook.surface.operations import EVERY, Effect, Operation, tool_schema, tools
from factbook.surface.operations.base import TOOLS

OPERATIONS = list(EVERY.values())
assert tools  # it fills TOOLS
SCRIPT = Path(__file__).resolve().parent.parent / "scripts" / "command_pages.py"


def id_of(one: Operation) -> str:
    return one.name


@pytest.mark.parametrize("one", OPERATIONS, ids=id_of)
def test_an_operation_says_what_it_does_and_what_it_takes(one: Operation) -> None:
    assert one.help.endswith(".")
    assert "\n" not in one.help
    names = [part.name for part in one.parameters]
    assert len(names) == len(set(names))
    assert all(part.arg.help.endswith((".", "...")) for part in one.parameters)


@cache
def in_a_shell() -> dict[str, Any]:
    """Return every command of a shell."""
    commands: dict[str, Any] = group().commands
    return commands


@pytest.mark.parametrize("one", OPERATIONS, ids=id_of)
def test_a_command_of_a_shell_has_the_parameters_of_its_operation(one: Operation) -> None:
    commands = in_a_shell()
    if not one.panel:
        assert one.name not in commands
        return
    shown = {part.name for part in commands[one.name].params}
    assert shown - {"db", "as_json"} == {part.name for part in one.parameters}
    assert commands[one.name].help == one.help
    assert all(part.arg.help for part in one.parameters)


@pytest.mark.parametrize("one", [one for one in OPERATIONS if one.slash], ids=id_of)
def test_a_command_of_a_conversation_is_an_operation(one: Operation) -> None:
    command = COMMANDS[one.slash]
    assert (command.help, command.form) == (one.help, one.form)
    assert command.examples
    assert all(line.startswith(f"/{one.slash}") for line in command.examples)


@pytest.mark.parametrize(
    "one", [one for one in [*OPERATIONS, *TOOLS.values()] if one.tool], ids=id_of
)
def test_a_tool_has_a_schema_of_what_it_takes(one: Operation) -> None:
    schema = json.loads(json.dumps(tool_schema(one)))
    told = schema["inputSchema"]["properties"]
    known = [part for part in one.parameters if not part.arg.terminal]
    assert set(told) == {part.key for part in known}
    assert all(told[part.key]["description"] == part.arg.help for part in known)
    required = [part.key for part in known if part.required]
    assert schema["inputSchema"].get("required", []) == required
    hints = schema["annotations"]
    assert hints["readOnlyHint"] == (one.effect is Effect.READS)
    assert hints["destructiveHint"] == (one.effect is Effect.ERASES)


def test_the_operations_on_keyed_facts_are_told_as_they_are() -> None:
    """The server tells of them without importing what checks them, which takes long."""
    (part,) = (part for part in TOOLS["apply_facts"].parameters if part.key == "ops")
    assert part.arg.schema is not None
    told = cast("dict[str, Any]", part.arg.schema["properties"])
    fields = FactsOp.model_json_schema()["properties"]
    assert told["op"]["enum"] == list(get_args(OpName)) == fields["op"]["enum"]
    assert told["mode"]["enum"] == fields["mode"]["anyOf"][0]["enum"]
    assert told.keys() == fields.keys() - {"confidence"}  # how sure it is, no model says


def test_the_arguments_of_a_tool_are_checked() -> None:
    facts = EVERY["facts"]
    given = facts.take({"predicate": ["lives_in"], "object": "Oslo", "limit": "3", "since": None})
    assert given == {"predicate": ["lives_in"], "object_": "Oslo", "limit": 3}
    for wrong, why in (
        ({"limit": -1}, "limit -1 is too small"),
        ({"limit": "many"}, "limit is no integer: 'many'"),
        ({"limit": True}, "limit is no integer: True"),
        ({"predicate": "lives_in"}, "predicate is a list"),
        ({"newest": "yes"}, "newest is no boolean"),
        ({"colour": "red"}, "there is no 'colour' here; give"),
    ):
        with pytest.raises(UsageError, match=why):
            facts.bind(facts.take(wrong))


def test_the_pages_of_commands_are_what_the_table_says() -> None:
    """Headings, usages, options, and what can be typed; scripts/command_pages.py writes them."""
    spec = importlib.util.spec_from_file_location("command_pages", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    for path, text in script.pages().items():
        assert path.read_text(encoding="utf-8") == text, path.name
