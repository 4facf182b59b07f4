"""Make commands of a shell out of operations; typer reads and completes them.

Each way to call an operation is made of its declaration: here the options and arguments, their
completion and their help. A command is made only when it is used, or its help is asked for.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Annotated, Any, Final

import typer

from factbook.model.facts import Everyone
from factbook.surface.operations.arguments import Llm
from factbook.surface.operations.base import Effect, Operation, Outcome, Parameter, Run, show

__all__ = ["command_of", "execute"]

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
    parameters = [*map(_typed, of.parameters), *extra]
    command.__signature__ = inspect.Signature([context, *parameters])  # type: ignore[attr-defined]
    command.__annotations__ = {
        parameter.name: parameter.annotation for parameter in [context, *parameters]
    }
    command.__doc__ = of.call.__doc__
    return command


def _typed(parameter: Parameter) -> inspect.Parameter:
    """Return a parameter as typer takes it."""
    arg = parameter.arg
    default = inspect.Parameter.empty if parameter.required else parameter.default
    kind: Any = parameter.kind
    words = arg.given == "words"
    shown = parameter.kind is not bool and default not in (
        None,
        "",
        (),
        0.0,
        inspect.Parameter.empty,
    )
    if parameter.many or words:
        kind, default = list[kind], default if parameter.required else None
    if default is None:
        kind = kind | None
    more: dict[str, Any] = {"help": arg.help, "show_default": shown and arg.given == "option"}
    if arg.metavar:
        more["metavar"] = arg.metavar
    if arg.complete is not None:
        more["autocompletion"] = arg.complete
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
    arguments = of.bind(given)
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
    """Open the memory as the operation and its arguments want it."""
    said = next(
        (
            arguments[parameter.name]
            for parameter in of.parameters
            if parameter.arg.given == "words"
        ),
        "",
    )
    effect = Effect.READS if of.reads(said or "") else of.effect
    from factbook.context import rules_in_force

    plain = _said(arguments, "no_redact")
    rules = rules_in_force(arguments["rules"]) if "rules" in arguments else None
    if effect is Effect.READS:
        run.reading(no_redact=plain, rules=rules)
        return
    llm = next((argument for argument in arguments.values() if isinstance(argument, Llm)), None)
    if llm is None:
        run.open(effect, redact=not plain, rules=rules)
    else:
        run.open(effect, redact=not plain, rules=rules, model=llm.config())


def _said(arguments: dict[str, Any], name: str) -> bool:
    return any(bool(getattr(argument, name, False)) for argument in arguments.values()) or bool(
        arguments.get(name)
    )


def emit(run: Run, outcome: Outcome) -> None:
    """Show an outcome: as JSON, or as its text."""
    screen = run.screen
    for note in outcome.notes:
        screen.note(note)
    if not outcome.shown:
        return
    if screen.as_json:
        if outcome.record or outcome.trouble is None:  # else the trouble is all there is to say
            screen.json(dict(outcome.record))
    else:
        show(outcome, screen)
    for warning in outcome.warnings:
        screen.warn(warning)
    about = outcome.nothing_of
    if about is None or isinstance(about, Everyone):
        return
    if run.memory.maintenance.has_others(about):
        screen.note(_OTHERS.format(owner=about))
