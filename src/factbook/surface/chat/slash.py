"""The commands of a conversation: `/learn`, `/like`, `/memory`, `/interests`, `/why` and the rest.

    reply = run(memory, "/learn kef ls50 meta", owner="me")
    print(reply.text)

They are the operations that have a slash form; a chat, the command line and a program call the same
functions. Only what a person types is ever handed to `run`: nothing that a page or a model says
becomes a command. What is wrong with a command is a FactbookError with one sentence, as everywhere.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Final

from factbook.errors import UsageError
from factbook.model.facts import ME
from factbook.surface import records, views
from factbook.surface.operations import EVERY, Operation, Outcome, Run
from factbook.surface.operations.base import CHAT, Arg, Effect, operation, show
from factbook.surface.output import Page
from factbook.surface.text import one_line

if TYPE_CHECKING:
    from factbook.memory import Memory

_NEAR: Final = 0.6  # how alike a mistyped command must be to the one that is suggested


@dataclass(frozen=True, slots=True, kw_only=True)
class SlashReply:
    """What a command answers."""

    text: str  # for people: no markup, and nothing in it that a terminal obeys
    data: Mapping[str, object] = field(default_factory=dict)  # the same for programs, JSON-able
    notes: Sequence[str] = ()  # remarks beside the answer, one sentence each
    quit: bool = False  # whether the conversation is to end
    code: int = 0  # what a program ends with that did this alone


def is_command(line: str) -> bool:
    """Tell whether a line is meant as a command: it begins with a slash, without a blank before."""
    return line.startswith("/")


def parse(line: str) -> tuple[Operation, str]:
    """Return the command that a line names, and its argument.

    Raises UsageError for a line that is none, with the nearest one where there is one.
    """
    said = line.rstrip()
    word, *rest = said[1:].split(None, 1) if is_command(said) and said[1:] else [""]
    name, argument = word.casefold(), "".join(rest)
    command = COMMANDS.get(name)
    if command is not None:
        return command, " ".join(argument.split())
    shown = one_line(said.split(" ", 1)[0] if said else "")[:60]
    if not is_command(said):
        raise UsageError(detail=f"{shown!r} is no command; one begins with a slash, as /help")
    if not re.fullmatch(r"[a-z]+", name):  # a path, a fraction, a date
        raise UsageError(
            detail=f"{shown!r} is no command; put a blank before it to say it as it is, or type"
            " /help"
        )
    near = difflib.get_close_matches(name, COMMANDS, n=1, cutoff=_NEAR)
    hint = f"did you mean /{near[0]}?" if near else "/help lists them"
    raise UsageError(detail=f"{shown!r} is no command; {hint}")


def run(memory: Memory, line: str, *, owner: str = ME, look: Page | None = None) -> SlashReply:
    """Do what a line that a person typed commands, and note that the person did something.

    Raises UsageError for what is no command, and what the command itself raises.
    """
    command, argument = parse(line)
    if command.reads(argument):
        memory.interests.note_action(owner=owner)  # the others note it with what they keep
    return _done(memory, command, argument, owner, look or Page())


def invoke(
    memory: Memory, name: str, argument: str = "", *, owner: str = ME, look: Page | None = None
) -> SlashReply:
    """Do what a command does without noting that somebody acted: for reading by a program.

    Raises UsageError for a name that is no command, and what the command itself raises.
    """
    command, said = parse(f"/{name} {argument}")
    return _done(memory, command, said, owner, look or Page())


def _done(memory: Memory, command: Operation, argument: str, owner: str, look: Page) -> SlashReply:
    given = command.words(argument)
    if any(parameter.name == "owner" for parameter in command.parameters):
        given["owner"] = owner
    page = look.blank()
    outcome = command.call(Run(page, memory=memory), **command.bind(given))
    assert outcome is not None
    show(outcome, page)
    return SlashReply(
        text=page.written,
        data=records.plain(outcome.record),
        notes=outcome.notes,
        quit=outcome.quit,
        code=outcome.code,
    )


@operation(CHAT, Effect.OWN, examples=("/help", "/help learn"), tool=False)
def help_(
    run: Run, command: Annotated[str, Arg("One of them.", metavar="[COMMAND]", given="words")] = ""
) -> Outcome:
    """Show what can be typed."""
    del run
    wanted = command.removeprefix("/")
    shown = [parse(f"/{wanted}")[0]] if wanted else list(COMMANDS.values())
    rows = [(op.form, op.help) for op in shown]
    examples = shown[0].examples if wanted else ()
    return Outcome(
        record={"commands": shown}, show=lambda page: views.world.help_of(page, rows, examples)
    )


@operation(CHAT, Effect.OWN, examples=("/quit",), tool=False)
def quit_(run: Run) -> Outcome:
    """End the conversation."""
    del run
    return Outcome(record={}, quit=True)


COMMANDS: Final[Mapping[str, Operation]] = MappingProxyType(
    {op.slash: op for op in EVERY.values() if op.slash}
)
"""Every command by its name, in the order of the help."""
