"""The command line: `factbook COMMAND`.

Each command turns options into arguments, asks `Memory`, and hands what comes back to `render` or
`records`. Whatever costs time to import is imported where it is used: `factbook --help` and a
`factbook recall` in a new process must both feel immediate.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, NoReturn

import typer

from factbook import policy
from factbook.errors import (
    FactbookError,
    StoreMissing,
    UnsupportedHost,
    UsageError,
)
from factbook.model.facts import ME, EpisodeKind, FactKind
from factbook.surface.operations.ask import dispute
from factbook.surface.options import (
    ASK,
    KEEP,
    READ,
    AllOwners,
    Call,
    Command,
    Db,
    Host,
    Json,
    LlmModel,
    LlmProvider,
    LlmTimeout,
    LlmUrl,
    MinConfidence,
    NoRedact,
    Owner,
    Predicates,
    Project,
    RuleFile,
    Shared,
    Since,
    Until,
    app,
    at_least,
    begin,
    fact_number,
    filters_from,
    model_from,
    reading,
    redacted_fact,
    rules_in_force,
    say_others,
    whose_of,
)
from factbook.surface.output import Screen

if TYPE_CHECKING:
    from factbook import Filters
    from factbook.maintenance.maintenance import RuleUse
    from factbook.memory import Memory
    from factbook.pipelines.observed import IngestReport
    from factbook.sources.session_log import Discovery


EXIT_INPUT: Final = 3  # a part of the input could not be read; the rest was
EXIT_INTERRUPTED: Final = 130  # 128 + SIGINT, as shells count
EVIDENCE_SHOWN: Final = 5
REJECTIONS_SHOWN: Final = 50

_NO_REDACT: Final = "--no-redact is on: secrets are stored and shown as they are"
_KINDS: Final = ("fact", "episode", *(kind.value for kind in EpisodeKind))


# --- completion -----------------------------------------------------------------------------------


def _complete_kind(incomplete: str) -> list[str]:
    return [kind for kind in _KINDS if kind.startswith(incomplete)]


# --- the application ------------------------------------------------------------------------------


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


# --- put in ---------------------------------------------------------------------------------------


@app.command(cls=Command, rich_help_panel=READ)
def ingest(
    ctx: typer.Context,
    paths: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="PATH",
            help="Files or folders of logs and chats, or files of notes; without any, the agents'"
            " own folders.",
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
    kind: Annotated[
        str | None,
        typer.Option(
            "--kind",
            metavar="KIND",
            help="What the files are where their content does not tell: session_log,"
            " conversation, note or summary.",
            show_default=False,
        ),
    ] = None,
    owner: Annotated[
        str,
        typer.Option(
            "--owner",
            metavar="NAME",
            help="Whom chats and notes are about, where the file does not say.",
        ),
    ] = ME,
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
    """Read session logs, chats, exports and notes, going on from where the last run stopped."""
    call = begin(ctx, db, as_json)
    screen = call.screen
    if workers is not None:
        at_least(0, workers, "--workers")
    rule_set = rules_in_force(rules, strict=strict)
    found = _discover(paths or [], owner=owner, kind=kind)
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
            waiting=memory.maintenance.waiting(),
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


def _discover(paths: Sequence[Path], *, owner: str, kind: str | None) -> Discovery:
    """Find the logs before a database is made: a mistyped path leaves nothing behind."""
    from factbook.sources.discover import discover

    found = discover(paths, owner=owner, kind=kind)
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

    waiting = memory.maintenance.waiting()
    if not waiting:
        return 0, False
    total = waiting if limit is None else min(waiting, limit)
    try:
        with bar("embedding", total=total, unit="rows", quiet=screen.as_json) as advance:
            return memory.embed(limit=limit, progress=advance).receipt.embedded, False
    except KeyboardInterrupt:
        return waiting - memory.maintenance.waiting(), True


def _say_interrupted(memory: Memory, screen: Screen) -> NoReturn:
    from factbook.surface.text import count

    screen.note(
        f"stopped; {count(memory.maintenance.waiting(), 'row')} still to embed, found by words"
        " until `factbook embed` has finished them"
    )
    raise typer.Exit(EXIT_INTERRUPTED)


def _show_receipt(
    call: Call,
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

    from factbook.context import default_db
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


@app.command(cls=Command, rich_help_panel=READ)
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
    call = begin(ctx, db, as_json)
    if limit is not None:
        at_least(1, limit, "--limit")
    with call.memory("write") as memory:
        embedded, interrupted = _embed(memory, call.screen, limit=limit)
        waiting = memory.maintenance.waiting()
        if call.screen.as_json:
            call.screen.json({"embedded": embedded, "waiting": waiting})
        else:
            from factbook.surface.text import count

            done = f"{count(embedded, 'row')} embedded" if embedded else "Nothing was embedded"
            rest = f"{count(waiting)} still waiting" if waiting else "nothing waits"
            if waiting and not embedded and not interrupted:
                rest += ": another process holds them, or they rest after a failure; in a few"
                rest += " minutes they are free again"
            call.screen.say(f"{done}; {rest}.")
        if interrupted:
            _say_interrupted(memory, call.screen)


# --- ask ------------------------------------------------------------------------------------------


@app.command(cls=Command, rich_help_panel=ASK)
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
    owner: Owner = ME,
    all_owners: AllOwners = False,
    no_redact: NoRedact = False,
    rules: RuleFile = None,
    db: Db = None,
    as_json: Json = False,
) -> None:
    """Answer a question with facts and episodes, and their evidence."""
    call = begin(ctx, db, as_json)
    at_least(1, limit, "--limit")
    asked = " ".join(question).strip()
    if not asked:
        raise UsageError(detail="the question is empty; ask something, in your own words")
    filters = filters_from(
        predicate=predicate,
        min_confidence=min_confidence,
        since=since,
        until=until,
        host=host,
        project=project,
        owner=whose_of(owner, all_owners),
    )
    filters = _of_kind(filters, kind)
    with reading(call, no_redact=no_redact, rules=rules_in_force(rules)) as memory:
        found = memory.recall(asked, limit=limit, filters=filters)
        if not found.hits:
            say_others(call, memory, filters.owner)
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
            redact=memory.resources.redactor.redact,
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


@app.command(cls=Command, rich_help_panel=ASK)
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
    owner: Owner = ME,
    all_owners: AllOwners = False,
    no_redact: NoRedact = False,
    rules: RuleFile = None,
    db: Db = None,
    as_json: Json = False,
) -> None:
    """Show why a fact is believed: rule, evidence, history."""
    call = begin(ctx, db, as_json)
    fact_id, about = fact_number(fact), whose_of(owner, all_owners)
    from factbook.maintenance.confidence_history import course
    from factbook.recall.time_expressions import now_ms
    from factbook.surface import maintenance

    with reading(call, no_redact=no_redact, rules=rules_in_force(rules)) as memory:
        found = memory.explain(fact_id, owner=about)
        redact = memory.resources.redactor.redact
        stored = memory.store.fact(fact_id) or found.fact
        following = maintenance.successors(memory.store, stored)
        life = course(stored, found.history, now=now_ms())
        if call.screen.as_json:
            from factbook.surface import records, records_keep

            found = replace(
                found,
                fact=redacted_fact(found.fact, redact),
                evidence=[replace(one, quote=redact(one.quote)) for one in found.evidence],
                history=[
                    one._replace(detail=_redacted_detail(one.detail, memory))
                    for one in found.history
                ],
            )
            call.screen.json(
                {
                    **records.explanation(found),
                    "course": records_keep.course(life, redact=redact),
                    "successors": [records_keep.successor(one, redact=redact) for one in following],
                }
            )
            return
        from factbook.surface import render, render_keep

        most = None if all_ else EVIDENCE_SHOWN
        render.explanation(
            call.screen,
            found,
            episodes=memory.store.episodes_by_id([one.episode_id for one in found.evidence[:most]]),
            redact=redact,
            pattern=found.rule.matches if found.rule else "",
            most=most,
            more=[
                *render_keep.life_rows(stored, following, redact=redact),
                *((f"{one['how']} otherwise", dispute(one)) for one in found.disputes),
            ],
        )
        call.screen.line()
        render_keep.history(call.screen, life, evidence=found.evidence, redact=redact)


def _redacted_detail(detail: Mapping[str, object], memory: Memory) -> dict[str, object]:
    found = memory.resources.redactor.redact_value(dict(detail))
    assert isinstance(found, dict)
    return found


# --- look after -----------------------------------------------------------------------------------


@app.command(cls=Command, rich_help_panel=KEEP)
def stats(
    ctx: typer.Context,
    plot: Annotated[
        Path | None,
        typer.Option(
            "--plot", metavar="DIR", help="Draw them as PNG files too.", show_default=False
        ),
    ] = None,
    cost: Annotated[
        bool,
        typer.Option("--cost", help="Only what calls of a model came to.", show_default=False),
    ] = False,
    since: Annotated[
        str,
        typer.Option(
            "--since",
            metavar="DAY",
            help="With --cost: from this day on, like 2026-11-01.",
            show_default=False,
        ),
    ] = "",
    db: Db = None,
    as_json: Json = False,
) -> None:
    """Count what is stored, how facts stand, and every line that was read."""
    from factbook.recall.time_expressions import now_ms
    from factbook.surface import maintenance

    call = begin(ctx, db, as_json)
    if cost:
        with call.memory() as memory:
            from factbook.surface.cli_model import show_cost

            show_cost(call, memory, since=since)
        return
    if since:
        raise UsageError(detail="--since goes with --cost; the other figures are of all time")
    now = now_ms()
    with call.memory() as memory:
        found, living = memory.stats(), maintenance.living(memory, now=now)
        drawn: list[Path] = []
        if plot is not None:
            from factbook.surface import plots

            drawn = plots.draw(memory, living, plot.expanduser(), now=now)
        if call.screen.as_json:
            from factbook.surface import records, records_keep

            more = {"plots": [str(path) for path in drawn]} if plot is not None else {}
            call.screen.json({**records.stats(found), **records_keep.living(living), **more})
            return
        from factbook.surface import render, render_keep
        from factbook.surface.text import count, home_path

        render.stats(call.screen, found)
        render_keep.living(call.screen, living)
        if plot is not None:
            call.screen.line()
            call.screen.say(f"{count(len(drawn), 'picture')} in {home_path(plot)}")


@app.command(cls=Command, rich_help_panel=KEEP)
def doctor(
    ctx: typer.Context,
    llm: Annotated[
        bool,
        typer.Option(
            "--llm",
            help="Only the configured language model: what answers, and what it can do. Makes a"
            " few small calls.",
            show_default=False,
        ),
    ] = False,
    search: Annotated[
        bool,
        typer.Option(
            "--search",
            help="Only searching and notices: what is set up, and whether one small search is"
            " answered.",
            show_default=False,
        ),
    ] = False,
    clean: Annotated[
        bool,
        typer.Option(
            "--clean",
            help="Also delete what killed processes left behind: half an export, half a copy.",
            show_default=False,
        ),
    ] = False,
    provider: LlmProvider = None,
    model: LlmModel = None,
    url: LlmUrl = None,
    timeout: LlmTimeout = None,
    db: Db = None,
    as_json: Json = False,
) -> None:
    """Examine database, embedder, key, folders and disk, or the language model, or searching."""
    from factbook.surface import doctor as doctor_
    from factbook.surface import text

    call = begin(ctx, db, as_json)
    screen = call.screen
    findings = []
    styles = {"ok": "green", "warn": "yellow", "fail": "red"}
    if llm and search:
        raise UsageError(detail="--llm and --search are two examinations; ask for one of them")
    if clean and (llm or search):
        raise UsageError(detail="--clean goes with the whole examination, without --llm, --search")
    if llm:
        examined = doctor_.examine_model(model_from(provider, model, url, timeout))
    else:
        examined = doctor_.examine_searching() if search else doctor_.examine(call.db, clean=clean)
    for one in examined:
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


@app.command(cls=Command, rich_help_panel=KEEP)
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
    owner: Owner = ME,
    all_owners: AllOwners = False,
    no_redact: NoRedact = False,
    db: Db = None,
    as_json: Json = False,
) -> None:
    """Write out all of an owner, as JSON lines or as a table of facts."""
    from factbook.context import default_key_file
    from factbook.surface import export as export_
    from factbook.surface.text import count, home_path, size

    call, about = begin(ctx, db, as_json), whose_of(owner, all_owners)
    screen = call.screen
    if form not in ("jsonl", "csv-facts"):
        raise UsageError(detail=f"{form!r} is no format; give jsonl or csv-facts")
    to_stdout = out is None or str(out) == "-"
    if to_stdout and screen.as_json and form != "jsonl":
        raise UsageError(detail="--json and --format csv-facts exclude each other on stdout")
    with reading(call, no_redact=no_redact) as memory:
        redactor = memory.resources.redactor
        say_others(call, memory, about)
        if to_stdout and screen.as_json:
            screen.json_stream(
                "records", export_.as_records(memory, redactor.redact_value, owner=about)
            )
            return
        lines = (
            export_.as_json_lines(memory, redactor.redact_value, owner=about)
            if form == "jsonl"
            else export_.as_csv(memory, redactor.redact, owner=about)
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


@app.command("rules", cls=Command, rich_help_panel=KEEP)
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
    from factbook import RuleSet
    from factbook.maintenance.maintenance import RuleUse

    call = begin(ctx, db, as_json)
    screen = call.screen
    rule_set = rules_in_force(rules) or RuleSet.default()
    counted = isinstance(call.db, str) or call.db.exists()
    if counted:
        with call.memory(rules=rule_set) as memory:
            uses = memory.maintenance.rule_uses(noise=noise)
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
        render.rules(screen, uses, pattern=lambda use: use.rule.matches, counted=counted)


def _noisiest_first(use: RuleUse) -> tuple[float, str]:
    return (-use.noise.score if use.noise else 0.0, use.rule.name)
