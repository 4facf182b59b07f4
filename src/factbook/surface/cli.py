"""The command line: `factbook COMMAND`.

Each command turns options into arguments, asks `Memory`, and hands what comes back to `render` or
`records`. Whatever costs time to import is imported where it is used: `factbook --help` and a
`factbook recall` in a new process must both feel immediate.
"""

from __future__ import annotations

import gc
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, NoReturn, get_args

import typer
from typer.core import TyperCommand, TyperGroup

from factbook import policy
from factbook.errors import (
    FactbookError,
    NotFound,
    StoreMissing,
    UnsupportedHost,
    UsageError,
)
from factbook.model import EpisodeKind, FactKind
from factbook.surface.output import ReaderGone, Screen

if TYPE_CHECKING:
    from factbook.extract.rules import RuleSet
    from factbook.ingest import IngestReport
    from factbook.memory import Memory, RuleUse
    from factbook.model import Evidence, Fact, Millis
    from factbook.sources.session_log import Discovery
    from factbook.store.base import Filters, SourceState

__all__ = ["app", "main", "run"]

EXIT_INPUT: Final = 3  # a part of the input could not be read; the rest was
EXIT_INTERRUPTED: Final = 130  # 128 + SIGINT, as shells count
EXIT_PIPE: Final = 141  # 128 + SIGPIPE
GARBAGE_THRESHOLD: Final = 100_000  # new objects between two searches for garbage
FACTS_SHOWN: Final = 50
EVIDENCE_SHOWN: Final = 5
SESSIONS_SHOWN: Final = 50
TIMELINE_SHOWN: Final = 100
REJECTIONS_SHOWN: Final = 50

_NO_REDACT: Final = "--no-redact is on: secrets are stored and shown as they are"
_NO_REDACT_SHOWN: Final = "--no-redact is on: what is stored is shown as it is, secrets too"

# Found by name, because typer brings its own copy of click since 0.26 and used the package before.
_CommandLineError: Final[type[Exception]] = next(
    one for one in typer.BadParameter.__mro__ if one.__name__ == "ClickException"
)

_KINDS: Final = ("fact", "episode", *(kind.value for kind in EpisodeKind))


# --- completion -----------------------------------------------------------------------------------


def _complete_predicate(incomplete: str) -> list[str]:
    from factbook.extract.session_parser import RULES

    names = dict.fromkeys(rule.predicate for rule in RULES)
    return [name for name in names if name.startswith(incomplete)]


def _complete_kind(incomplete: str) -> list[str]:
    return [kind for kind in _KINDS if kind.startswith(incomplete)]


def _complete_host(incomplete: str) -> list[str]:
    hosts = ("claude-code", "codex", "gemini-cli")
    return [host for host in hosts if host.startswith(incomplete)]


# --- options that several commands share ----------------------------------------------------------

_WHEN = "7d, 36h, 2w, yesterday, 2026-11-02 or 2026-11-02T10:30"

Db = Annotated[
    Path | None,
    typer.Option(
        "--db",
        metavar="FILE",
        help="The database, instead of $FACTBOOK_DB or the one in your data folder.",
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
    str, typer.Option("--since", metavar="WHEN", help=f"Not before: {_WHEN}.", show_default=False)
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
        autocompletion=_complete_predicate,
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


# --- the application ------------------------------------------------------------------------------


_READ: Final = "Put in"
_ASK: Final = "Ask"
_KEEP: Final = "Look after"


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


class _Command(_LightParams, TyperCommand):
    pass


class _Group(_LightParams, TyperGroup):
    def list_commands(self, ctx: Any) -> list[str]:
        """Name the commands in the order of this file."""
        del ctx
        return list(self.commands)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the commands by what they are for, in the order of this file."""
        del ctx
        for panel in (_READ, _ASK, _KEEP):
            rows = [
                (name, command.get_short_help_str(limit=100))
                for name, command in self.commands.items()
                if getattr(command, "rich_help_panel", None) == panel
            ]
            with formatter.section(panel):
                formatter.write_dl(rows)


app = typer.Typer(
    name="factbook",
    cls=_Group,
    help="Long-term memory for AI agents that can show its sources.",
    epilog="Start with `factbook ingest`, then `factbook recall 'which hosts did I connect to?'`.",
    rich_markup_mode=None,  # rich would take half of the time that the help may take
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)


@dataclass(slots=True)
class _Shared:
    """What the options before the command said, and the screen once a command has one."""

    db: Path | None = None
    as_json: bool = False
    screen: Screen | None = None


@dataclass(frozen=True, slots=True)
class _Call:
    """One command at work: where it writes, and which database it means."""

    screen: Screen
    db: Path

    def memory(
        self,
        mode: Literal["create", "write", "read"] = "read",
        *,
        redact: bool = True,
        rules: RuleSet | None = None,
    ) -> Memory:
        from factbook.memory import Memory

        return Memory(self.db, mode=mode, redact=redact, rules=rules, actor="cli")


def _begin(ctx: typer.Context, db: Path | None, as_json: bool) -> _Call:
    """Join the options before and after the command; what stands nearer to it wins."""
    shared: _Shared = ctx.find_root().obj
    screen = Screen(as_json=as_json or shared.as_json)
    shared.screen = screen
    path = db or shared.db
    if path is None:
        from factbook.memory import default_db

        path = default_db()
    return _Call(screen, path.expanduser())


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
    shared: _Shared = ctx.find_root().obj
    shared.db, shared.as_json = db, as_json
    if ctx.invoked_subcommand is None:
        typer.echo(ctx.get_help())


# --- put in ---------------------------------------------------------------------------------------


@app.command(cls=_Command, rich_help_panel=_READ)
def ingest(
    ctx: typer.Context,
    paths: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="PATH",
            help="Log files or folders; without any, the agents' own folders.",
            show_default=False,
        ),
    ] = None,
    no_embed: Annotated[
        bool,
        typer.Option(
            "--no-embed",
            help="Leave the embedding for `factbook embed`; rows are found by their words.",
            show_default=False,
        ),
    ] = False,
    no_redact: Annotated[
        bool,
        typer.Option(
            "--no-redact",
            help="Store secrets as they are, instead of a label in their place.",
            show_default=False,
        ),
    ] = False,
    rules: RuleFile = None,
    workers: Annotated[
        int | None,
        typer.Option(
            "--workers",
            metavar="N",
            help="Read with N processes beside this one, 0 for none; otherwise the amount of work"
            " decides.",
            show_default=False,
        ),
    ] = None,
    strict: Annotated[
        bool,
        typer.Option(
            "--strict",
            help="Take every @name in a command for a host, right or wrong, instead of reading"
            " the command.",
            show_default=False,
        ),
    ] = False,
    db: Db = None,
    as_json: Json = False,
) -> None:
    """Read session logs, going on from where the last run stopped."""
    call = _begin(ctx, db, as_json)
    screen = call.screen
    if workers is not None:
        _at_least(0, workers, "--workers")
    rule_set = _rule_set(rules, strict=strict)
    found = _discover(paths or [])
    if no_redact:
        screen.note(_NO_REDACT)
    began = time.perf_counter()
    with call.memory("create", redact=not no_redact, rules=rule_set) as memory:
        before = _facts_by_predicate(memory)
        report = _read(memory, found, screen, workers=workers)
        seconds = time.perf_counter() - began
        after = _facts_by_predicate(memory) if report.receipt.stored else {}
        trouble: FactbookError | None = None
        embedded, interrupted = 0, False
        if not no_embed:
            try:
                embedded, interrupted = _embed(memory, screen, limit=None)
            except FactbookError as error:
                trouble = error  # what was read is kept: say so first
        _show_receipt(
            call,
            report,
            predicates=[
                (name, confidence, number - before.get(name, (0.0, 0))[1])
                for name, (confidence, number) in after.items()
                if number > before.get(name, (0.0, 0))[1]
            ],
            embedded=embedded,
            waiting=memory.waiting(),
            seconds=seconds,
        )
        if trouble is not None:
            raise trouble
        if interrupted:
            _say_interrupted(memory, screen)
    from factbook.surface.render import failed_files

    unread = failed_files(report)
    for sentence in unread:
        screen.warn(sentence)
    if unread:
        raise typer.Exit(EXIT_INPUT)


def _discover(paths: Sequence[Path]) -> Discovery:
    """Find the logs before a database is made: a mistyped path leaves nothing behind."""
    from factbook.sources.session_log import discover

    found = discover(paths)
    if not found.files and found.unsupported:
        path, host = found.unsupported[0]
        raise UnsupportedHost(path=path, host=host)
    return found


def _read(memory: Memory, found: Discovery, screen: Screen, *, workers: int | None) -> IngestReport:
    from factbook.surface.progress import bar

    total = sum(_size(file.path) for file in found.files)
    try:
        with bar("reading", total=total, unit="bytes", quiet=screen.as_json) as advance:
            return memory.ingest(found=found, progress=advance, workers=workers)
    except KeyboardInterrupt:
        screen.note(
            "stopped; all that was written before is kept, and `factbook ingest` goes on from there"
        )
        raise typer.Exit(EXIT_INTERRUPTED) from None


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0  # the reader says what is wrong with the file


def _facts_by_predicate(memory: Memory) -> dict[str, tuple[float, int]]:
    return {
        name: (confidence, number)
        for name, confidence, number, _ in memory.store.predicate_counts()
    }


def _embed(memory: Memory, screen: Screen, *, limit: int | None) -> tuple[int, bool]:
    """Embed what waits; return how many rows were, and whether Ctrl-C ended it."""
    from factbook.surface.progress import bar

    waiting = memory.waiting()
    if not waiting:
        return 0, False
    total = waiting if limit is None else min(waiting, limit)
    try:
        with bar("embedding", total=total, unit="rows", quiet=screen.as_json) as advance:
            return memory.embed(limit=limit, progress=advance).receipt.embedded, False
    except KeyboardInterrupt:
        return waiting - memory.waiting(), True


def _say_interrupted(memory: Memory, screen: Screen) -> NoReturn:
    from factbook.surface.text import count

    screen.note(
        f"stopped; {count(memory.waiting(), 'row')} still to embed, found by words until"
        " `factbook embed` has finished them"
    )
    raise typer.Exit(EXIT_INTERRUPTED)


def _show_receipt(
    call: _Call,
    report: IngestReport,
    *,
    predicates: list[tuple[str, float, int]],
    embedded: int,
    waiting: int,
    seconds: float,
) -> None:
    if call.screen.as_json:
        from factbook.surface import records

        call.screen.json(
            records.ingest(
                report,
                database=str(call.db),
                predicates=predicates,
                embedded=embedded,
                waiting=waiting,
                seconds=seconds,
            )
        )
        return
    import shlex

    from factbook.memory import default_db
    from factbook.surface import render

    hint = "" if call.db == default_db() else f"--db {shlex.quote(str(call.db))}"
    render.ingest(
        call.screen,
        report,
        predicates=predicates,
        embedded=embedded,
        waiting=waiting,
        seconds=seconds,
        hint=hint,
    )


@app.command(cls=_Command, rich_help_panel=_READ)
def embed(
    ctx: typer.Context,
    limit: Annotated[
        int | None,
        typer.Option("--limit", metavar="N", help="At most N rows.", show_default=False),
    ] = None,
    db: Db = None,
    as_json: Json = False,
) -> None:
    """Give waiting rows their vectors; safe to stop and run again."""
    call = _begin(ctx, db, as_json)
    if limit is not None:
        _at_least(1, limit, "--limit")
    with call.memory("write") as memory:
        embedded, interrupted = _embed(memory, call.screen, limit=limit)
        waiting = memory.waiting()
        if call.screen.as_json:
            call.screen.json({"embedded": embedded, "waiting": waiting})
        else:
            from factbook.surface.text import count

            done = f"{count(embedded, 'row')} embedded" if embedded else "Nothing was embedded"
            rest = f"{count(waiting)} still waiting" if waiting else "nothing waits"
            call.screen.say(f"{done}; {rest}.")
        if interrupted:
            _say_interrupted(memory, call.screen)


# --- ask ------------------------------------------------------------------------------------------


@app.command(cls=_Command, rich_help_panel=_ASK)
def recall(
    ctx: typer.Context,
    question: Annotated[
        list[str],
        typer.Argument(metavar="QUESTION", help="In your own words.", show_default=False),
    ],
    limit: Annotated[
        int, typer.Option("--limit", "-n", metavar="N", help="At most N hits.")
    ] = policy.DEFAULT_LIMIT,
    since: Since = "",
    until: Until = "",
    predicate: Predicates = None,
    kind: Annotated[
        str,
        typer.Option(
            "--kind",
            metavar="KIND",
            help=f"Only hits of one kind: {', '.join(_KINDS)}.",
            autocompletion=_complete_kind,
            show_default=False,
        ),
    ] = "",
    host: Host = "",
    project: Project = "",
    min_confidence: MinConfidence = 0.0,
    no_redact: NoRedact = False,
    rules: RuleFile = None,
    db: Db = None,
    as_json: Json = False,
) -> None:
    """Answer a question with facts and episodes, and their evidence."""
    call = _begin(ctx, db, as_json)
    _at_least(1, limit, "--limit")
    asked = " ".join(question).strip()
    if not asked:
        raise UsageError(detail="the question is empty; ask something, in your own words")
    filters = _filters(
        predicate=predicate,
        min_confidence=min_confidence,
        since=since,
        until=until,
        host=host,
        project=project,
    )
    filters = _of_kind(filters, kind)
    with _reading(call, no_redact=no_redact, rules=_rule_set(rules)) as memory:
        found = memory.recall(asked, limit=limit, filters=filters)
        if call.screen.as_json:
            from factbook.surface import records

            call.screen.json(records.answer(found))
            return
        from factbook.surface import render

        shown = {
            hit.evidence[0].episode_id for hit in found.hits if hit.kind == "fact" and hit.evidence
        }
        render.answer(
            call.screen,
            found,
            episodes=memory.store.episodes_by_id(sorted(shown)),
            redact=memory.redactor.redact,
        )


@app.command(cls=_Command, rich_help_panel=_ASK)
def facts(
    ctx: typer.Context,
    predicate: Predicates = None,
    min_confidence: MinConfidence = 0.0,
    subject: Annotated[
        str,
        typer.Option("--subject", metavar="NAME", help="Only of this subject.", show_default=False),
    ] = "",
    object_: Annotated[
        str,
        typer.Option(
            "--object", metavar="TEXT", help="Only with exactly this object.", show_default=False
        ),
    ] = "",
    since: Since = "",
    until: Until = "",
    host: Host = "",
    project: Project = "",
    session: Session = "",
    limit: Annotated[
        int, typer.Option("--limit", "-n", metavar="N", help="At most N facts; 0 for all.")
    ] = FACTS_SHOWN,
    newest: Annotated[
        bool, typer.Option("--newest", help="The newest first.", show_default=False)
    ] = False,
    evidence: Annotated[
        bool,
        typer.Option("--evidence", help="With the places that show each fact.", show_default=False),
    ] = False,
    no_redact: NoRedact = False,
    db: Db = None,
    as_json: Json = False,
) -> None:
    """List facts by exact conditions."""
    call = _begin(ctx, db, as_json)
    _at_least(0, limit, "--limit")
    filters = _filters(
        predicate=predicate,
        min_confidence=min_confidence,
        since=since,
        until=until,
        host=host,
        project=project,
        session=session,
        subject=subject,
        object_=object_,
    )
    screen = call.screen
    with _reading(call, no_redact=no_redact) as memory:
        redact = memory.redactor.redact
        # One more than is shown tells whether there are more.
        rows = iter(
            memory.store.facts(filters, limit=limit + 1 if limit else None, newest_first=newest)
        )
        shown = islice(rows, limit) if limit else rows
        shown_by = _evidence_reader(memory) if evidence else None
        if screen.as_json:
            screen.json_stream("facts", _fact_records(shown, redact, shown_by))
            return
        from factbook.surface import render

        number = render.facts(
            screen,
            shown,
            redact=redact,
            one_predicate=len(filters.predicates) == 1,
            shown_by=shown_by,
        )
        if not number:
            screen.say("No facts match. `factbook stats` lists the predicates that there are.")
        elif next(rows, None) is not None:
            screen.say(f"The first {number}; --limit 0 shows all that match.", "dim")


def _fact_records(
    found: Iterable[Fact],
    redact: Callable[[str], str],
    shown_by: Callable[[Fact], Sequence[Evidence]] | None,
) -> Iterator[dict[str, object]]:
    from factbook.surface import records

    for one in found:
        yield records.fact(
            _redacted(one, redact), shown_by=shown_by(one) if shown_by is not None else None
        )


def _redacted(one: Fact, redact: Callable[[str], str]) -> Fact:
    """Redact once more on the way out: a rule learned today protects what was stored yesterday."""
    object_, statement = redact(one.object), redact(one.statement)
    if object_ == one.object and statement == one.statement:
        return one
    return replace(one, object=object_, statement=statement)


def _evidence_reader(memory: Memory) -> Callable[[Fact], Sequence[Evidence]]:
    def read(one: Fact) -> Sequence[Evidence]:
        redact = memory.redactor.redact
        found = memory.store.evidence_of([one.id])[one.id]
        return [replace(part, quote=redact(part.quote)) for part in found]

    return read


@app.command(cls=_Command, rich_help_panel=_ASK)
def explain(
    ctx: typer.Context,
    fact: Annotated[
        str, typer.Argument(metavar="FACT", help="Its id, as f12 or 12.", show_default=False)
    ],
    all_: Annotated[
        bool,
        typer.Option(
            "--all",
            help=f"Show every piece of evidence, not the first {EVIDENCE_SHOWN}.",
            show_default=False,
        ),
    ] = False,
    no_redact: NoRedact = False,
    rules: RuleFile = None,
    db: Db = None,
    as_json: Json = False,
) -> None:
    """Show why a fact is believed: rule, evidence, history."""
    call = _begin(ctx, db, as_json)
    fact_id = _fact_id(fact)
    with _reading(call, no_redact=no_redact, rules=_rule_set(rules)) as memory:
        found = memory.explain(fact_id)
        redact = memory.redactor.redact
        if call.screen.as_json:
            from factbook.surface import records

            found = replace(
                found,
                fact=_redacted(found.fact, redact),
                evidence=[replace(one, quote=redact(one.quote)) for one in found.evidence],
            )
            call.screen.json(records.explanation(found))
            return
        from factbook.extract.rules import pattern_words
        from factbook.surface import render

        most = None if all_ else EVIDENCE_SHOWN
        render.explanation(
            call.screen,
            found,
            episodes=memory.store.episodes_by_id([one.episode_id for one in found.evidence[:most]]),
            redact=redact,
            pattern=pattern_words(found.rule) if found.rule else "",
            most=most,
        )


def _fact_id(text: str) -> int:
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


@app.command(cls=_Command, rich_help_panel=_ASK)
def timeline(
    ctx: typer.Context,
    since: Since = "",
    until: Until = "",
    predicate: Predicates = None,
    host: Host = "",
    project: Project = "",
    session: Session = "",
    limit: Annotated[
        int, typer.Option("--limit", "-n", metavar="N", help="The newest N entries; 0 for all.")
    ] = TIMELINE_SHOWN,
    no_redact: NoRedact = False,
    db: Db = None,
    as_json: Json = False,
) -> None:
    """Show what was asked and done, day by day."""
    call = _begin(ctx, db, as_json)
    _at_least(0, limit, "--limit")
    filters = _filters(
        predicate=predicate,
        since=since,
        until=until,
        host=host,
        project=project,
        session=session,
    )
    with _reading(call, no_redact=no_redact) as memory:
        found = memory.timeline(filters=filters, limit=limit or None)
        redact = memory.redactor.redact
        if call.screen.as_json:
            from factbook.surface import records

            call.screen.json_stream(
                "entries",
                (records.hit(replace(one, text=redact(one.text))) for one in found),
            )
            return
        from factbook.surface import render

        if not found:
            call.screen.say("Nothing happened then, as far as the logs say.")
            return
        render.timeline(call.screen, found, redact=redact)


@app.command(cls=_Command, rich_help_panel=_ASK)
def sessions(
    ctx: typer.Context,
    since: Since = "",
    until: Until = "",
    host: Host = "",
    project: Project = "",
    limit: Annotated[
        int, typer.Option("--limit", "-n", metavar="N", help="The newest N; 0 for all.")
    ] = SESSIONS_SHOWN,
    no_redact: NoRedact = False,
    db: Db = None,
    as_json: Json = False,
) -> None:
    """List the sessions that were read, the newest first."""
    call = _begin(ctx, db, as_json)
    _at_least(0, limit, "--limit")
    filters = _filters(since=since, until=until, host=host, project=project)
    with _reading(call, no_redact=no_redact) as memory:
        redact = memory.redactor.redact
        matching = [one for one in memory.sessions() if _session_passes(one, filters)]
        shown = matching[:limit] if limit else matching
        if call.screen.as_json:
            from factbook.surface import records

            call.screen.json_stream(
                "sessions",
                (
                    records.session(
                        replace(one, source=replace(one.source, title=redact(one.source.title)))
                    )
                    for one in shown
                ),
            )
            return
        from factbook.surface import render
        from factbook.surface.text import count

        if not shown:
            call.screen.say("No session matches.")
            return
        render.sessions(call.screen, shown, redact=redact)
        if len(shown) < len(matching):
            call.screen.say(
                f"{count(len(shown))} of {count(len(matching))}; --limit 0 shows all.", "dim"
            )


def _session_passes(one: SourceState, filters: Filters) -> bool:
    if filters.host and one.source.host != filters.host:
        return False
    if filters.project and filters.project.lower() not in one.source.project.lower():
        return False
    if filters.since is not None and (one.last_at is None or one.last_at < filters.since):
        return False
    return not (
        filters.until is not None and (one.first_at is None or one.first_at >= filters.until)
    )


# --- look after -----------------------------------------------------------------------------------


@app.command(cls=_Command, rich_help_panel=_KEEP)
def stats(ctx: typer.Context, db: Db = None, as_json: Json = False) -> None:
    """Count what is stored, and every line that was read."""
    call = _begin(ctx, db, as_json)
    with call.memory() as memory:
        found = memory.stats()
        if call.screen.as_json:
            from factbook.surface import records

            call.screen.json(records.stats(found))
            return
        from factbook.surface import render

        render.stats(call.screen, found)


@app.command(cls=_Command, rich_help_panel=_KEEP)
def doctor(ctx: typer.Context, db: Db = None, as_json: Json = False) -> None:
    """Examine database, embedder, key, folders and disk."""
    from factbook.surface import doctor as doctor_
    from factbook.surface import text

    call = _begin(ctx, db, as_json)
    screen = call.screen
    findings = []
    styles = {"ok": "green", "warn": "yellow", "fail": "red"}
    for one in doctor_.examine(call.db):
        findings.append(one)
        if screen.as_json:
            continue
        lines = text.wrap(text.safe(one.detail), screen.prose - 18)
        lead = f"{screen.paint(one.level.ljust(6), styles[one.level])}{one.name:<12}"
        screen.line(lead + lines[0])
        screen.lines(" " * 18 + line for line in lines[1:])
        screen.flush()  # the audit of a large file takes a while
    failed = sum(1 for one in findings if one.level == "fail")
    if screen.as_json:
        screen.json(
            {
                "ok": not failed,
                "findings": [
                    {"level": one.level, "name": one.name, "detail": one.detail} for one in findings
                ],
            }
        )
    else:
        warned = sum(1 for one in findings if one.level == "warn")
        screen.line()
        if failed:
            screen.say(text.count(failed, "check") + " failed.", "red")
        else:
            also = f"; {text.count(warned, 'remark')} above" if warned else ""
            screen.say(f"All is well{also}.", "green")
    if failed:
        raise typer.Exit(1)


@app.command(cls=_Command, rich_help_panel=_KEEP)
def export(
    ctx: typer.Context,
    out: Annotated[
        Path | None,
        typer.Argument(
            metavar="OUT", help="The file to write; without one, stdout.", show_default=False
        ),
    ] = None,
    form: Annotated[
        str,
        typer.Option(
            "--format",
            metavar="FORMAT",
            help="jsonl (everything, one record per line) or csv-facts (the facts as a table).",
        ),
    ] = "jsonl",
    force: Annotated[
        bool, typer.Option("--force", help="Replace OUT if it exists.", show_default=False)
    ] = False,
    no_redact: NoRedact = False,
    db: Db = None,
    as_json: Json = False,
) -> None:
    """Write everything out, as JSON lines or as a table of facts."""
    from factbook.memory import default_key_file
    from factbook.surface import export as export_
    from factbook.surface.text import count, home_path, size

    call = _begin(ctx, db, as_json)
    screen = call.screen
    if form not in ("jsonl", "csv-facts"):
        raise UsageError(detail=f"{form!r} is no format; give jsonl or csv-facts")
    to_stdout = out is None or str(out) == "-"
    if to_stdout and screen.as_json and form != "jsonl":
        raise UsageError(detail="--json and --format csv-facts exclude each other on stdout")
    with _reading(call, no_redact=no_redact) as memory:
        redactor = memory.redactor
        if to_stdout and screen.as_json:
            screen.json_stream("records", export_.as_records(memory, redactor.redact_value))
            return
        lines = (
            export_.as_json_lines(memory, redactor.redact_value)
            if form == "jsonl"
            else export_.as_csv(memory, redactor.redact)
        )
        if to_stdout:
            for line in lines:
                screen.raw(line)
            return
        assert out is not None
        path = out.expanduser()
        never = export_.kept_files(call.db, default_key_file())
        written, size_ = export_.write_whole(path, lines, replace=force, never=never)
        number = written - 1 if form == "csv-facts" else written  # less the names of the columns
        if screen.as_json:
            screen.json({"path": str(path), "format": form, "records": number, "bytes": size_})
        else:
            screen.say(f"{count(number, 'record')}, {size(size_)}, in {home_path(path)}")


@app.command("rules", cls=_Command, rich_help_panel=_KEEP)
def list_rules(
    ctx: typer.Context,
    noise: Annotated[
        bool,
        typer.Option("--noise", help="What of each looks like noise.", show_default=False),
    ] = False,
    rules: RuleFile = None,
    db: Db = None,
    as_json: Json = False,
) -> None:
    """List the rules that find facts, and how often each fired."""
    from factbook.extract.rules import RuleSet, pattern_words
    from factbook.memory import RuleUse

    call = _begin(ctx, db, as_json)
    screen = call.screen
    rule_set = _rule_set(rules) or RuleSet.default()
    counted = call.db.exists()
    if counted:
        with call.memory(rules=rule_set) as memory:
            uses = memory.rule_uses(noise=noise)
    elif noise:
        raise StoreMissing(path=call.db)
    else:
        uses = [RuleUse(rule=rule, fired=0) for rule in rule_set.rules]
    if noise:
        uses = sorted((use for use in uses if use.noise is not None), key=_noisiest_first)
    if screen.as_json:
        from factbook.surface import records

        screen.json({"rules": [records.rule(use) for use in uses]})
        return
    from factbook.surface import render

    if noise and not uses:
        screen.say("No rule has fired yet.")
    elif noise:
        render.noise(screen, uses)
    else:
        render.rules(screen, uses, pattern=lambda use: pattern_words(use.rule), counted=counted)


def _noisiest_first(use: RuleUse) -> tuple[float, str]:
    return (-use.noise.score if use.noise else 0.0, use.rule.name)


@app.command(cls=_Command, rich_help_panel=_KEEP)
def rejections(
    ctx: typer.Context,
    limit: Annotated[
        int, typer.Option("--limit", "-n", metavar="N", help="The newest N.")
    ] = REJECTIONS_SHOWN,
    no_redact: NoRedact = False,
    db: Db = None,
    as_json: Json = False,
) -> None:
    """List lines and claims that were refused, and why."""
    call = _begin(ctx, db, as_json)
    _at_least(1, limit, "--limit")
    with _reading(call, no_redact=no_redact) as memory:
        redact = memory.redactor.redact
        found = memory.rejections(limit=limit)
        if call.screen.as_json:
            from factbook.surface import records

            call.screen.json(
                {
                    "rejections": [
                        records.rejection(
                            replace(one, detail=redact(one.detail), excerpt=redact(one.excerpt))
                        )
                        for one in found
                    ]
                }
            )
            return
        from factbook.surface import render

        if not found:
            call.screen.say("Nothing was refused.")
            return
        render.rejections(call.screen, found, redact=redact)


@app.command(cls=_Command, rich_help_panel=_KEEP)
def version(ctx: typer.Context, db: Db = None, as_json: Json = False) -> None:
    """Print the version."""
    from factbook import __version__

    call = _begin(ctx, db, as_json)
    if call.screen.as_json:
        call.screen.json({"version": __version__})
    else:
        call.screen.say(f"factbook {__version__}")


# --- options into arguments -----------------------------------------------------------------------


def _reading(call: _Call, *, no_redact: bool, rules: RuleSet | None = None) -> Memory:
    if no_redact:
        call.screen.note(_NO_REDACT_SHOWN)
    return call.memory(redact=not no_redact, rules=rules)


def _rule_set(path: Path | None, *, strict: bool = False) -> RuleSet | None:
    """Return the rules with those of a file; None where the table alone is in force."""
    if path is None:
        import platformdirs

        usual = platformdirs.user_config_path("factbook") / "rules.toml"
        path = usual if usual.exists() else None
    if path is None and not strict:
        return None
    from factbook.extract.rules import RuleSet

    if path is None:
        return RuleSet.default(strict=strict)
    from factbook.extract.user_rules import load_user_rules

    return RuleSet.default(strict=strict, user=load_user_rules(path.expanduser()))


def _filters(
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
) -> Filters:
    from factbook.store.base import Filters

    if not 0.0 <= min_confidence <= 1.0:  # also refuses NaN
        raise UsageError(
            detail=f"--min-confidence {min_confidence} is no confidence; give a number from 0 to 1"
        )
    first, last = _moment("--since", since), _moment("--until", until)
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
    )


def _of_kind(filters: Filters, kind: str) -> Filters:
    if not kind:
        return filters
    if kind not in _KINDS:
        raise UsageError(detail=f"{kind!r} is no kind; give one of {', '.join(_KINDS)}")
    if kind == "fact":
        return replace(filters, kinds=tuple(FactKind))
    if kind == "episode":
        return replace(filters, episode_kinds=tuple(EpisodeKind))
    return replace(filters, episode_kinds=(EpisodeKind(kind),))


def _moment(option: str, value: str) -> Millis | None:
    if not value:
        return None
    from factbook.recall.when import now_ms, parse_moment

    try:
        return parse_moment(value, now=now_ms())
    except (OverflowError, ValueError, OSError):  # a year that no clock can tell
        raise UsageError(
            detail=f"{option} {value} lies outside of time; give one like {_WHEN}"
        ) from None


def _at_least(least: int, value: int, option: str) -> None:
    if value < least:
        raise UsageError(detail=f"{option} {value} is too small; give {least} or more")
    if value >= 2**62:  # what SQLite can count, with room for one more
        raise UsageError(detail=f"{option} {value} is too large; give a smaller number")


# --- the way in and out ---------------------------------------------------------------------------


def main() -> None:
    """Run the command line and leave with its exit code."""
    # Starting makes many objects and hardly any garbage: looking for it as often as usual would
    # take a tenth of a short command.
    gc.set_threshold(GARBAGE_THRESHOLD)
    sys.exit(run(sys.argv[1:]))


def run(args: Sequence[str]) -> int:
    """Run one command and return its exit code; what went wrong is one sentence on stderr.

    An error that factbook does not know keeps its traceback.
    """
    shared = _Shared()
    try:
        code = _invoke(args, shared)
        if shared.screen is not None:
            shared.screen.flush()
        elif sys.stdout is not None:
            sys.stdout.flush()
    except FactbookError as error:
        return _fail(shared, args, type(error).__name__, str(error), error.exit_code)
    except (ReaderGone, BrokenPipeError):
        _discard_stdout()
        return EXIT_PIPE
    except (KeyboardInterrupt, typer.Abort):
        return EXIT_INTERRUPTED
    return code


def _invoke(args: Sequence[str], shared: _Shared) -> int:
    command: Any = _group(args)
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


def _group(args: Sequence[str]) -> Any:
    """Build the commands that the arguments can mean; all of them would take longer than one.

    An argument may have the name of a command by chance, so this is a choice and not a decision.
    """
    every = app.registered_commands
    named = [one for one in every if (one.name or getattr(one.callback, "__name__", "")) in args]
    if not named or "--help" in args or "-h" in args:
        return typer.main.get_command(app)
    app.registered_commands = named
    try:
        return typer.main.get_command(app)
    finally:
        app.registered_commands = every


def _fail(shared: _Shared, args: Sequence[str], kind: str, message: str, code: int) -> int:
    asked_json = "--json" in args[: args.index("--") if "--" in args else len(args)]
    screen = shared.screen or Screen(as_json=asked_json)
    try:
        screen.error(kind, message)
        screen.flush()
    except (ReaderGone, FactbookError):  # nobody listens on stdout; stderr has been told
        _discard_stdout()
    return code


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
