"""The application that typer makes of the table: its options, its help, how a value is read."""

from __future__ import annotations

import inspect
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final, get_args

import typer
from typer.core import TyperCommand, TyperGroup

from factbook.surface import text
from factbook.surface.operations.base import ASK, KEEP, READ, Run
from factbook.surface.output import Screen


def _complete_file(incomplete: str) -> list[str]:
    at, slash, name = incomplete.rpartition("/")
    folder = Path(at + slash or ".")
    there = folder.iterdir() if folder.is_dir() else ()
    return [
        f"{path}/" if path.is_dir() else str(path) for path in there if path.name.startswith(name)
    ]


Db = Annotated[
    str | None,
    typer.Option(
        "--db",
        metavar="FILE",
        autocompletion=_complete_file,
        help="The database (or its URL), instead of $FACTBOOK_DB or the one in your data folder.",
        show_default=False,
    ),
]
Json = Annotated[
    bool, typer.Option("--json", help="Print JSON instead of text.", show_default=False)
]


class _Reader:
    """Read the value of one option.

    typer's own way loads pydantic, which takes a quarter of the time that a whole `factbook recall`
    may take, to make a number of a text.
    """

    def __init__(self, annotation: Any) -> None:
        self._kind = (get_args(annotation) or (annotation,))[0]

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
        """Return the value in the type of the parameter; typer calls this."""
        if isinstance(value, (list, tuple)):
            return [self._read(item, param, ctx) for item in value]
        return None if value is None else self._read(value, param, ctx)

    def _read(self, value: Any, param: Any, ctx: Any) -> Any:
        if isinstance(value, self._kind):
            return value
        try:
            return self._kind(value)
        except ValueError:
            what = {int: "a whole number", float: "a number"}.get(self._kind, "one of its values")
            raise typer.BadParameter(f"{value!r} is not {what}", ctx=ctx, param=param) from None


class _LightParams:
    """Show flags in the help without a type beside them, and read values without pydantic."""

    def get_params(self, ctx: Any) -> Any:
        params = super().get_params(ctx)  # type: ignore[misc]
        for param in params:
            if getattr(param, "is_flag", False):
                param.metavar = ""
            if getattr(param, "_runtime_param", self) is None:  # unknown to older versions
                param._runtime_param = _Reader(param.type_descriptor.annotation)
        return params


class Command(_LightParams, TyperCommand):
    """One command."""


class Group(_LightParams, TyperGroup):
    """All commands, in their order."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the commands by what they are for, in the order of this file."""
        for panel in (READ, ASK, KEEP):
            rows = [
                (name, command.get_short_help_str(limit=100))
                for name, command in self.commands.items()
                if getattr(command, "rich_help_panel", None) == panel
            ]
            with formatter.section(panel):
                formatter.write_dl(rows)


app = typer.Typer(
    name="factbook",
    cls=Group,
    help="Long-term memory for AI agents that can show its sources.",
    epilog="Start with `factbook ingest`, then `factbook recall 'which hosts did I connect to?'`.",
    rich_markup_mode=None,  # rich would take half of the time that the help may take
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)


@dataclass(slots=True)
class Shared:
    """What the options before the command said, and the screen once a command has one."""

    db: str | None = None
    as_json: bool = False
    screen: Screen | None = None


EXTRA: Final = [
    inspect.Parameter("db", inspect.Parameter.KEYWORD_ONLY, default=None, annotation=Db),
    inspect.Parameter("as_json", inspect.Parameter.KEYWORD_ONLY, default=False, annotation=Json),
]
"""The options of every command."""


def begin(ctx: typer.Context, db: str | None, as_json: bool) -> Run:
    """Join the options before and behind the command; what stands nearer to it wins."""
    from factbook.context import default_db, place_of

    shared: Shared = ctx.find_root().obj
    screen = shared.screen = Screen(as_json=as_json or shared.as_json)
    named = shared.db if db is None else db
    place = default_db() if named is None else place_of(named)
    place = place.expanduser() if isinstance(place, Path) else place
    if place != default_db():
        screen.program = text.one_line(f"factbook --db {shlex.quote(str(place))}")
    return Run(screen, db=place)
