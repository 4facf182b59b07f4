"""What the commands share: their options, the application, and the way from options to arguments.

Whatever costs time to import is imported where it is used, as in `cli`.
"""

from __future__ import annotations

import inspect
import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, cast, get_args

import typer
from typer.core import TyperCommand, TyperGroup

from factbook.errors import NotFound, UsageError
from factbook.model.facts import EVERYONE, ME, Everyone
from factbook.surface import text
from factbook.surface.operations.base import Run
from factbook.surface.output import Screen

if TYPE_CHECKING:
    from factbook import Filters, RuleSet
    from factbook.errors import ModelError
    from factbook.llm.config import ModelConfig
    from factbook.memory import Memory
    from factbook.memory.keyed import Planner
    from factbook.model.facts import Fact, Millis

__all__ = [
    "ASK",
    "EXIT_CLARIFY",
    "KEEP",
    "READ",
    "AllOwners",
    "Call",
    "Command",
    "Db",
    "Host",
    "Json",
    "LlmModel",
    "LlmProvider",
    "LlmTimeout",
    "LlmUrl",
    "MinConfidence",
    "NoRedact",
    "Owner",
    "PlannerOption",
    "Predicates",
    "Project",
    "RuleFile",
    "Session",
    "Shared",
    "Since",
    "Until",
    "app",
    "at_least",
    "begin",
    "fact_number",
    "facts_failed",
    "filters_from",
    "model_from",
    "planner_of",
    "reading",
    "redacted_fact",
    "say_others",
    "whose_of",
]

EXIT_CLARIFY: Final = 10  # nothing was done: a question came back, which is neither yes nor no
_NO_REDACT_SHOWN: Final = "--no-redact is on: what is stored is shown as it is, secrets too"


# --- completion -----------------------------------------------------------------------------------


def _complete_file(incomplete: str) -> list[str]:
    at, slash, name = incomplete.rpartition("/")
    folder = Path(at + slash or ".")
    there = folder.iterdir() if folder.is_dir() else ()
    return [f"{one}/" if one.is_dir() else str(one) for one in there if one.name.startswith(name)]


def _complete_host(incomplete: str) -> list[str]:
    hosts = ("claude-code", "codex", "gemini-cli")
    return [host for host in hosts if host.startswith(incomplete)]


# --- options that several commands share ----------------------------------------------------------

WHEN = "7d, 36h, 2w, yesterday, 2026-11-02 or 2026-11-02T10:30"

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
NoRedact = Annotated[
    bool,
    typer.Option("--no-redact", help="Show what is stored as it is.", show_default=False),
]
RuleFile = Annotated[
    Path | None,
    typer.Option(
        "--rules",
        metavar="FILE",
        help="Your own rules (TOML), instead of rules.toml in your configuration folder.",
        show_default=False,
    ),
]
Since = Annotated[
    str, typer.Option("--since", metavar="WHEN", help=f"Not before: {WHEN}.", show_default=False)
]
Until = Annotated[
    str, typer.Option("--until", metavar="WHEN", help="Before this moment.", show_default=False)
]
Predicates = Annotated[
    list[str] | None,
    typer.Option(
        "--predicate",
        "-p",
        metavar="NAME",
        help="Only facts of this predicate; may be repeated.",
        show_default=False,
    ),
]
MinConfidence = Annotated[
    float,
    typer.Option(
        "--min-confidence",
        metavar="X",
        help="Only facts at least this sure, from 0 to 1.",
        show_default=False,
    ),
]
Host = Annotated[
    str,
    typer.Option(
        "--host",
        metavar="AGENT",
        help="Only of this agent: claude-code, codex or gemini-cli.",
        autocompletion=_complete_host,
        show_default=False,
    ),
]
Project = Annotated[
    str,
    typer.Option(
        "--project",
        metavar="FOLDER",
        help="Only of this working folder, or of any that has this in its path.",
        show_default=False,
    ),
]
Session = Annotated[
    str, typer.Option("--session", metavar="ID", help="Only of this session.", show_default=False)
]

Owner = Annotated[
    str, typer.Option("--owner", metavar="NAME", help="Whose memory it is; yours is `me`.")
]
AllOwners = Annotated[
    bool,
    typer.Option(
        "--all-owners", help="What is about anybody, not about one owner.", show_default=False
    ),
]

LlmProvider = Annotated[
    str | None,
    typer.Option(
        "--llm-provider",
        metavar="NAME",
        help="ollama or openai (any compatible endpoint), instead of $FACTS_LLM_PROVIDER.",
        show_default=False,
    ),
]
LlmModel = Annotated[
    str | None,
    typer.Option(
        "--llm-model", metavar="NAME", help="Instead of $FACTS_LLM_MODEL.", show_default=False
    ),
]
LlmUrl = Annotated[
    str | None,
    typer.Option("--llm-url", metavar="URL", help="Instead of $FACTS_LLM_URL.", show_default=False),
]
LlmTimeout = Annotated[
    float | None,
    typer.Option(
        "--llm-timeout",
        metavar="SECONDS",
        help="Of a whole call, instead of $FACTS_LLM_TIMEOUT_S.",
        show_default=False,
    ),
]

_PLANNERS: Final = ("model", "rules")
PlannerOption = Annotated[
    str,
    typer.Option(
        "--planner",
        metavar="HOW",
        help="model, or rules: a parser of common phrasings, without a model.",
    ),
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


# --- options into arguments -----------------------------------------------------------------------


def reading(call: Call, *, no_redact: bool, rules: RuleSet | None = None) -> Memory:
    """Open the memory for reading, and say so where it shows what is stored as it is."""
    if no_redact:
        call.screen.note(_NO_REDACT_SHOWN)
    return call.memory(redact=not no_redact, rules=rules)


def filters_from(
    *,
    predicate: Sequence[str] | None = None,
    min_confidence: float = 0.0,
    since: str = "",
    until: str = "",
    host: str = "",
    project: str = "",
    session: str = "",
    subject: str = "",
    object_: str = "",
    owner: str | Everyone = ME,
) -> Filters:
    """Make filters of the options of a reading command."""
    from factbook import Filters

    if not 0.0 <= min_confidence <= 1.0:  # also refuses NaN
        raise UsageError(
            detail=f"--min-confidence {min_confidence} is no confidence; give a number from 0 to 1"
        )
    first, last = moment_of("--since", since), moment_of("--until", until)
    if first is not None and last is not None and first >= last:
        raise UsageError(
            detail=f"--since {since} is not before --until {until}; nothing lies between"
        )
    return Filters(
        predicates=tuple(predicate or ()),
        min_confidence=min_confidence,
        since=first,
        until=last,
        host=host,
        project=str(Path(project).expanduser()) if project.startswith("~") else project,
        session=session,
        subject=subject,
        object=object_,
        owner=owner,
    )


def whose_of(owner: str, all_owners: bool = False) -> str | Everyone:
    """Return whom a command reads about, by `--owner` and `--all-owners`."""
    if not all_owners:
        if not owner.strip():
            raise UsageError(detail="--owner is empty; name somebody, or leave it out for yourself")
        return owner
    if owner != ME:
        raise UsageError(detail="--owner and --all-owners go against each other; give one of them")
    return EVERYONE


def say_others(call: Call, memory: Memory, owner: str | Everyone) -> None:
    """Say how to ask about somebody else, where one owner has nothing and others have something.

    Who they are is not said: a name alone may tell too much.
    """
    if not isinstance(owner, Everyone) and memory.store.has_others(owner):
        call.screen.note(
            f"this is about {owner} alone, and the memory holds more than that: --owner NAME asks"
            " about somebody else, --all-owners about everybody"
        )


def model_from(
    provider: str | None, model: str | None, url: str | None, timeout: float | None
) -> ModelConfig | None:
    """Return how the model is configured by flags, environment and file; None where it is off."""
    import os

    from factbook.llm.config import load_config
    from factbook.net.settings import config_path

    return load_config(
        os.environ,
        config_path(os.environ),
        provider=provider,
        model=model,
        url=url,
        timeout_s=timeout,
    )


def planner_of(said: str) -> Planner:
    """Return who is to read a person's words."""
    if said not in _PLANNERS:
        raise UsageError(detail=f"{said!r} is no planner; give one of {', '.join(_PLANNERS)}")
    return cast("Planner", said)


def facts_failed(call: Call, error: ModelError) -> None:
    """Show the label of a failed model (seed 004); the error itself is shown where it arrives."""
    from factbook.pipelines.keyed_labels import FAILED, failure_message

    call.screen.of_errors["label"] = FAILED
    if not call.screen.as_json:
        call.screen.line(call.screen.paint(FAILED, "red"))
        call.screen.say(failure_message(error))


def moment_of(option: str, value: str) -> Millis | None:
    """Read the moment that an option names; None where it names none."""
    if not value:
        return None
    from factbook.recall.time_expressions import now_ms, parse_moment

    try:
        return parse_moment(value, now=now_ms())
    except (OverflowError, ValueError, OSError):  # a year that no clock can tell
        raise UsageError(
            detail=f"{option} {value} lies outside of time; give one like {WHEN}"
        ) from None


def at_least(least: int, value: int, option: str) -> None:
    """Refuse a number that is too small, or too large to count with."""
    if value < least:
        raise UsageError(detail=f"{option} {value} is too small; give {least} or more")
    if value >= 2**62:  # what SQLite can count, with room for one more
        raise UsageError(detail=f"{option} {value} is too large; give a smaller number")


def fact_number(text: str) -> int:
    """Read the id of a fact: `f12` or `12`."""
    digits = text.strip().removeprefix("f")
    if not digits.isascii() or not digits.isdigit():
        hint = (
            "; that is an episode, only facts can be explained"
            if text.startswith("e") and text[1:].isdigit()
            else "; `factbook facts` lists the facts with their ids"
        )
        raise UsageError(detail=f"{text!r} is not the id of a fact, give one like f12{hint}")
    number = int(digits[:20])
    if number >= 2**63:
        raise NotFound(
            what="fact", name=text, hint="`factbook facts` lists the facts with their ids."
        )
    return number


def redacted_fact(one: Fact, redact: Callable[[str], str]) -> Fact:
    """Redact once more on the way out: a rule learned today protects what was stored yesterday."""
    object_, statement = redact(one.object), redact(one.statement)
    if object_ == one.object and statement == one.statement:
        return one
    return replace(one, object=object_, statement=statement)
