"""What the commands share: their options, the application, and the way from options to arguments.

Whatever costs time to import is imported where it is used, as in `cli`.
"""

from __future__ import annotations

import inspect
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, get_args

import typer
from typer.core import TyperCommand, TyperGroup

from factbook.surface import text
from factbook.surface.operations.base import Run
from factbook.surface.output import Screen

if TYPE_CHECKING:
    from factbook import RuleSet
    from factbook.llm.config import ModelConfig
    from factbook.memory import Memory

__all__ = [
    "ASK",
    "EXTRA",
    "KEEP",
    "READ",
    "Call",
    "Command",
    "Db",
    "Json",
    "Owner",
    "Shared",
    "app",
    "begin",
    "begin_run",
]


# --- completion -----------------------------------------------------------------------------------


def _complete_file(incomplete: str) -> list[str]:
    at, slash, name = incomplete.rpartition("/")
    folder = Path(at + slash or ".")
    there = folder.iterdir() if folder.is_dir() else ()
    return [f"{one}/" if one.is_dir() else str(one) for one in there if one.name.startswith(name)]


# --- options that several commands share ----------------------------------------------------------

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
Owner = Annotated[
    str, typer.Option("--owner", metavar="NAME", help="Whose memory it is; yours is `me`.")
]
# --- the application ------------------------------------------------------------------------------


READ: Final = "Put in"
ASK: Final = "Ask"
KEEP: Final = "Look after"


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
            return [self._read(one, param, ctx) for one in value]
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
        for one in params:
            if getattr(one, "is_flag", False):
                one.metavar = ""
            if getattr(one, "_runtime_param", self) is None:  # unknown to older versions
                one._runtime_param = _Reader(one.type_descriptor.annotation)
        return params


class Command(_LightParams, TyperCommand):
    """One command."""


class Group(_LightParams, TyperGroup):
    """All commands, in their order."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Name the commands in the order of this file."""
        del ctx
        return list(self.commands)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the commands by what they are for, in the order of this file."""
        del ctx
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


@dataclass(frozen=True, slots=True)
class Call:
    """One command at work: where it writes, and which database it means."""

    screen: Screen
    db: Path | str  # a URL where it is a store of another package

    def memory(
        self,
        mode: Literal["create", "write", "read"] = "read",
        *,
        redact: bool = True,
        rules: RuleSet | None = None,
        model: ModelConfig | Literal["configured"] | None = "configured",
    ) -> Memory:
        """Open the memory."""
        from factbook.memory import Memory

        return Memory(self.db, mode=mode, redact=redact, rules=rules, actor="cli", model=model)


def begin(ctx: typer.Context, db: str | None, as_json: bool) -> Call:
    """Join the options before and after the command; what stands nearer to it wins."""
    shared: Shared = ctx.find_root().obj
    screen = Screen(as_json=as_json or shared.as_json)
    shared.screen = screen
    from factbook.context import default_db, place_of

    named = shared.db if db is None else db
    place = default_db() if named is None else place_of(named)
    place = place.expanduser() if isinstance(place, Path) else place
    if place != default_db():
        screen.program = text.one_line(f"factbook --db {shlex.quote(str(place))}")
    return Call(screen, place)


EXTRA: Final = [
    inspect.Parameter("db", inspect.Parameter.KEYWORD_ONLY, default=None, annotation=Db),
    inspect.Parameter("as_json", inspect.Parameter.KEYWORD_ONLY, default=False, annotation=Json),
]
"""The options of every command."""


def begin_run(ctx: typer.Context, db: str | None, as_json: bool) -> Run:
    """Return one operation at work, where the options before and behind the command say."""
    call = begin(ctx, db, as_json)
    return Run(call.screen, db=call.db)
