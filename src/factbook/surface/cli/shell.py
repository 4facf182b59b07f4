"""Make commands of a shell out of operations; typer reads and completes them.

Each way to call an operation is made of its declaration: here the options and arguments, their
completion and their help. A command is made only when it is used, or its help is asked for.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Annotated, Any, Final

import typer

from factbook.model.facts import EVERYONE, ME, Everyone
from factbook.surface.operations.arguments import Llm
from factbook.surface.operations.base import Effect, Operation, Outcome, Parameter, Run, show

# Who the others are is not said: a name alone may tell too much.
_OTHERS: Final = (
    "this is about {owner} alone, and the memory holds more than that: --owner NAME asks about"
    " somebody else, --all-owners about everybody"
)


def command_of(
    of: Operation, extra: Sequence[inspect.Parameter], begin: Any
) -> Callable[..., None]:
    """Return a function with the signature that typer reads; `extra` are options of all commands.

    `begin` makes a Run of typer's context and the extra options.
    """

    def command(ctx: typer.Context, **given: Any) -> None:
        own = {parameter.name: given.pop(parameter.name) for parameter in extra}
        code = execute(of, begin(ctx, **own), given)
        if code:
            raise typer.Exit(code)

    context = inspect.Parameter(
        "ctx", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=typer.Context
    )
    parameters = [context, *map(_typed, of.parameters), *extra]
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    command.__doc__ = of.help
    return command


def _typed(parameter: Parameter) -> inspect.Parameter:
    arg = parameter.arg
    default = inspect.Parameter.empty if parameter.required else parameter.default
    kind: Any = parameter.kind
    words = arg.given == "words"
    nothing = (None, "", (), 0.0, inspect.Parameter.empty)
    shown = parameter.kind is not bool and default not in nothing
    if parameter.many or words:
        kind, default = list[kind], default if parameter.required else None
    if default is None:
        kind = kind | None
    more: dict[str, Any] = {"help": arg.help, "show_default": shown and arg.given == "option"}
    if arg.metavar:
        more["metavar"] = arg.metavar
    if known := arg.choices or arg.known:
        more["autocompletion"] = lambda incomplete: [
            name for name in (known() if callable(known) else known) if name.startswith(incomplete)
        ]
    if arg.given == "option":
        about = typer.Option(*filter(None, (parameter.flag, arg.short)), **more)
    else:
        about = typer.Argument(**more)
    return inspect.Parameter(
        parameter.name,
        inspect.Parameter.KEYWORD_ONLY,
        default=default,
        annotation=Annotated[kind, about],
    )


def execute(of: Operation, run: Run, given: dict[str, Any]) -> int:
    """Do an operation as it was typed, and show what it found; return the exit code."""
    for parameter in of.parameters:
        if parameter.arg.given == "words" and given[parameter.name] is not None:
            given[parameter.name] = " ".join(" ".join(given[parameter.name]).split())
    if owner := given.get("owner"):
        given["owner"] = run.spelled(owner)
    arguments = of.bind(given)
    run.page.about = EVERYONE if given.get("all_owners") else given.get("owner") or ME
    with run:
        if of.effect is not Effect.OWN:
            _open(of, run, arguments)
        outcome = of.call(run, **arguments)
        if outcome is None:
            return 0
        emit(run, outcome)
        if outcome.trouble is not None:
            raise outcome.trouble
        return outcome.code


def _open(of: Operation, run: Run, arguments: dict[str, Any]) -> None:
    from factbook.context import rules_in_force

    words = (parameter.name for parameter in of.parameters if parameter.arg.given == "words")
    said = next((arguments[name] for name in words), "") or ""
    rules = rules_in_force(arguments["rules"]) if "rules" in arguments else None
    given = arguments.values()
    plain = arguments.get("no_redact") or any(getattr(arg, "no_redact", False) for arg in given)
    if of.reads(said):
        run.reading(no_redact=bool(plain), rules=rules)
        return
    llms: list[Any] = [arg.config() for arg in given if isinstance(arg, Llm)]
    run.open(of.effect, redact=not plain, rules=rules, model=[*llms, "configured"][0])


def emit(run: Run, outcome: Outcome) -> None:
    screen = run.screen
    for note in outcome.notes:
        screen.note(note)
    if not outcome.shown:
        return
    if screen.as_json:
        if outcome.record or outcome.trouble is None:  # else the trouble is all there is to say
            screen.json(outcome.record)
    else:
        show(outcome, screen)
    for warning in outcome.warnings:
        screen.warn(warning)
    about = outcome.nothing_of
    if about is None or isinstance(about, Everyone):
        return
    if run.memory.maintenance.has_others(about):
        screen.note(_OTHERS.format(owner=about))
