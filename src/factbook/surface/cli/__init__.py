"""The command line: `factbook COMMAND`, made of the table of operations.

Whatever costs time to import is imported where it is used: `factbook --help` and `factbook recall`
in a new process must both feel immediate.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable, Sequence
from typing import Annotated, Any, Final

import typer

from factbook.errors import FactbookError, ModelError, UsageError
from factbook.surface.cli import doors as doors
from factbook.surface.cli import talk as talk
from factbook.surface.cli.app import EXTRA, Command, Db, Json, Shared, app, begin
from factbook.surface.cli.shell import command_of
from factbook.surface.operations import EVERY, Operation, Outcome
from factbook.surface.output import ReaderGone, Screen

EXIT_PIPE: Final = 141  # 128 + SIGPIPE
GARBAGE_THRESHOLD: Final = 100_000  # new objects between two searches for garbage

# Found by name, because typer brings its own copy of click since 0.26 and used the package before.
_CommandLineError: Final[type[Exception]] = next(
    base for base in typer.BadParameter.__mro__ if base.__name__ == "ClickException"
)


def _print_version(wanted: bool) -> None:
    if wanted:
        from factbook import __version__

        typer.echo(f"factbook {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def common(
    ctx: typer.Context,
    db: Db = None,
    as_json: Json = False,
    version: Annotated[
        bool,
        typer.Option(
            "--version",
            callback=_print_version,
            is_eager=True,
            help="Print the version and stop.",
            show_default=False,
        ),
    ] = False,
) -> None:
    """Long-term memory for AI agents that can show its sources."""
    del version
    shared: Shared = ctx.find_root().obj
    shared.db, shared.as_json = db, as_json
    if ctx.invoked_subcommand is None:
        typer.echo(ctx.get_help())


def run_consolidation() -> None:
    sys.exit(run(["consolidate", *sys.argv[1:]]))


def main() -> None:
    # Starting makes many objects and hardly any garbage: looking for it as often as usual would
    # take a tenth of a short command.
    gc.set_threshold(GARBAGE_THRESHOLD)
    sys.exit(run(sys.argv[1:]))


def run(args: Sequence[str]) -> int:
    """Run one command and return its exit code; what went wrong is one sentence on stderr.

    An error that factbook does not know keeps its traceback.
    """
    shared = Shared()
    try:
        code = _invoke(args, shared)
        if shared.screen is not None:
            shared.screen.flush()
        elif sys.stdout is not None:
            sys.stdout.flush()
    except FactbookError as error:
        return _fail(shared, args, error)
    except (ReaderGone, BrokenPipeError):
        _discard_stdout()
        return EXIT_PIPE
    except (KeyboardInterrupt, typer.Abort):
        return Outcome.INTERRUPTED
    return code


def _invoke(args: Sequence[str], shared: Shared) -> int:
    command: Any = group(args)
    try:
        result = command.main(
            args=list(args), prog_name="factbook", standalone_mode=False, obj=shared
        )
    except _CommandLineError as error:
        said: Any = error
        hint = ""
        if getattr(said, "ctx", None) is not None:
            hint = f"; `{said.ctx.command_path} --help` shows how it is used"
        message = " ".join(str(said.format_message()).split()).rstrip(".")
        raise UsageError(detail=message + hint) from error
    return result if isinstance(result, int) else 0


def group(args: Sequence[str] | None = None) -> Any:
    """Build the commands that the arguments can mean; all of them would take longer than one.

    An argument may have the name of a command by chance, so this is a choice and not a decision.
    Where only their names are asked for, they are built without their parameters.
    """
    every = [operation for operation in EVERY.values() if operation.panel]
    wanted = [operation for operation in every if args is None or operation.name in args]
    bare = not wanted and "_FACTBOOK_COMPLETE" not in os.environ
    app.registered_commands = []
    for operation in wanted or every:
        call = _bare(operation) if bare else command_of(operation, EXTRA, begin)
        app.command(operation.name, cls=Command, rich_help_panel=operation.panel)(call)
    return typer.main.get_command(app)


def _bare(operation: Operation) -> Callable[[], None]:
    """Return a function without parameters: of a list of commands only the help is seen."""

    def nothing() -> None: ...

    nothing.__doc__ = operation.help
    return nothing


def _fail(shared: Shared, args: Sequence[str], error: FactbookError) -> int:
    more: dict[str, object] = {}
    if isinstance(error, ModelError):  # its class says less than how it failed
        more = {"failure": str(error.kind), "model": str(error.details["model"])}
        more |= {name: error.details[name] for name in ("label",) if name in error.details}
    asked_json = "--json" in args[: args.index("--") if "--" in args else len(args)]
    screen = shared.screen or Screen(as_json=asked_json)
    try:
        screen.error(type(error).__name__, str(error), **more)
        screen.flush()
    except (ReaderGone, FactbookError):  # nobody listens on stdout; stderr has been told
        _discard_stdout()
    return error.exit_code


def _discard_stdout() -> None:
    """Point stdout at nothing, so that the interpreter's last flush does not complain."""
    if sys.stdout is None:
        return
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, sys.stdout.fileno())
    except (OSError, ValueError):  # stdout is no file: then there is nothing to flush
        return
    finally:
        os.close(nowhere)
