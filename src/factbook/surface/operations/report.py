"""The operations that say how a memory is, and write it out."""

from __future__ import annotations

from datetime import date
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, Literal

from factbook.errors import StoreMissing, UsageError
from factbook.language.values import count, home_path, size
from factbook.surface import records, views
from factbook.surface.operations.arguments import Llm, RuleFile, Whose
from factbook.surface.operations.base import KEEP, Arg, Effect, Outcome, Run, operation
from factbook.surface.text import safe

if TYPE_CHECKING:
    from factbook.surface.output import Page

_STYLES: Final = {"ok": "green", "warn": "yellow", "fail": "red"}


@operation(KEEP)
def stats(
    run: Run,
    plot: Annotated[Path | None, Arg(metavar="DIR", terminal=True)] = None,
    cost: Annotated[bool, Arg("Only what calls of a model came to.")] = False,
    since: Annotated[str, Arg(metavar="DAY")] = "",
) -> Outcome:
    """Count what is stored, how facts stand, and every line that was read.

    Args:
        plot: Draw them as PNG files too; needs `pip install 'factbook[bench]'`.
        since: With --cost: from this day on (UTC), like 2026-11-01.
    """
    from factbook.memory.standing import living

    if cost:
        return _cost(run, since)
    if since:
        raise UsageError(detail="--since goes with --cost; the other figures are of all time")
    memory, now = run.memory, run.memory.clock()
    state, life = memory.stats(), living(memory, now=now)
    drawn: list[Path] = []
    if plot is not None:
        from factbook.surface import plots

        drawn = plots.draw(memory, life, plot.expanduser(), now=now)

    def show(page: Page) -> None:
        views.report.stats(page, state)
        views.keep.living(page, life)
        if plot is not None:
            page.line()
            page.say(f"{count(len(drawn), 'picture')} in {home_path(plot)}")

    more = {"plots": [str(path) for path in drawn]} if plot is not None else {}
    return Outcome(record={**records.plain(state), **records.plain(life), **more}, show=show)


def _cost(run: Run, since: str) -> Outcome:
    if since and not _is_day(since):
        raise UsageError(detail=f"--since {since} is no day; give one like 2026-11-01")
    cost_lines = run.memory.maintenance.cost(since=since)
    return Outcome(
        record=records.cost(cost_lines), show=lambda page: views.model.cost(page, cost_lines)
    )


def _is_day(said: str) -> bool:
    """Tell whether a text names a day in the one form in which days can be compared as texts."""
    try:
        return date.fromisoformat(said).isoformat() == said
    except ValueError:
        return False


@operation(KEEP, Effect.OWN, tool=False)
def doctor(
    run: Run,
    llm: bool = False,
    search: bool = False,
    client: Annotated[Literal["claude", "codex", "gemini"] | None, Arg(metavar="NAME")] = None,
    clean: bool = False,
    rebuild_typed: bool = False,
    model: Llm = Llm(),  # noqa: B008 - frozen, and its fields are the options
) -> Outcome:
    """Examine database, embedder, clients, key and disk, or what an option names alone.

    Args:
        llm: Only the configured language model: what answers, and what it can do. Makes a few small
            calls.
        search: Only searching and notices: what is set up, and whether one small search is
            answered.
        client: Only what is installed in claude, codex or gemini: whether its server answers, and
            when its hooks ran.
        clean: Also delete what killed processes left behind: half an export, half a copy.
        rebuild_typed: Also make the file's typed memories anew from their record in MongoDB.
    """
    from factbook.memory import doctor as examinations
    from factbook.surface.install import checks

    parts = [*["--llm"] * llm, *["--search"] * search, *["--client"] * (client is not None)]
    if len(parts) > 1:
        detail = f"{' and '.join(parts[:2])} are two examinations; ask for one of them"
        raise UsageError(detail=detail)
    flags = [*["--clean"] * clean, *["--rebuild-typed"] * rebuild_typed]
    if flags and parts:
        raise UsageError(detail=f"{flags[0]} goes with the whole examination, without {parts[0]}")
    if llm:
        examined = examinations.examine_model(model.config())
    elif search:
        examined = examinations.examine_searching()
    elif client is not None:
        examined = checks.examine(run.db, client)
    else:
        whole = examinations.examine(run.db, clean=clean, rebuild=rebuild_typed)
        examined = chain(whole, checks.examine(run.db))
    screen, findings = run.screen, []
    for result in examined:
        findings.append(result)
        if not screen.as_json:
            lead = f"{screen.paint(result.level.ljust(6), _STYLES[result.level])}{result.name:<12}"
            screen.say(screen.told(result.detail), lead=lead)
            screen.flush()  # the audit of a large file takes a while
    failed = sum(1 for finding in findings if finding.level == "fail")
    warned = sum(1 for finding in findings if finding.level == "warn")

    def show(page: Page) -> None:
        page.line()
        if failed:
            page.say(count(failed, "check") + " failed.", "red")
        else:
            also = f"; {count(warned, 'remark')} above" if warned else ""
            page.say(f"All is well{also}.", "green")

    return Outcome(
        record={"ok": not failed, "findings": findings}, show=show, code=1 if failed else 0
    )


@operation(KEEP, Effect.OWN, tool=False)
def export(
    run: Run,
    whose: Whose,
    out: Annotated[Path | None, Arg(metavar="OUT", given="argument")] = None,
    form: Annotated[
        Literal["jsonl", "csv-facts", "graph"], Arg(metavar="FORMAT", flag="--format")
    ] = "jsonl",
    force: Annotated[bool, Arg("Replace OUT if it exists.")] = False,
) -> Outcome:
    """Write out all of an owner, as JSON lines or as a table of facts.

    Args:
        out: The file to write; without one, stdout.
        form: jsonl (everything, one record per line), csv-facts (the facts as a table) or graph
            (what an agent keeps as a graph, as memory.json of @modelcontextprotocol/server-memory).
    """
    from factbook.context import default_key_file
    from factbook.memory.export import kept_files, write_whole
    from factbook.surface import export as export_

    screen = run.screen
    to_stdout = out is None or str(out) == "-"
    if to_stdout and screen.as_json and form != "jsonl":
        raise UsageError(detail=f"--json and --format {form} exclude each other on stdout")
    memory, about = run.reading(no_redact=whose.no_redact), whose.about
    if to_stdout and screen.as_json:
        return Outcome(record={"records": memory.export(owner=about)}, nothing_of=about)
    if form == "graph":
        lines = export_.as_graph(memory, owner=about)
    elif form == "jsonl":
        lines = export_.as_json_lines(memory, owner=about)
    else:
        lines = export_.as_csv(memory, run.redact, owner=about)
    if out is None or to_stdout:

        def write(page: Page) -> None:
            for line in lines:
                screen.raw(line)

        return Outcome(record={}, show=write, nothing_of=about)
    never = kept_files(run.db, default_key_file())
    written, size_ = write_whole(out.expanduser(), lines, replace=force, never=never)
    number = written - 1 if form == "csv-facts" else written  # less the names of the columns
    return Outcome(
        record={"path": str(out.expanduser()), "format": form, "records": number, "bytes": size_},
        show=f"{count(number, 'record')}, {size(size_)}, in {safe(home_path(out.expanduser()))}",
        nothing_of=about,
    )


@operation(KEEP, Effect.OWN, tool=False)
def secrets(
    run: Run,
    no: Annotated[
        str, Arg("A word that is none: it is hidden no more by itself.", metavar="WORD")
    ] = "",
) -> Outcome:
    """Count the secrets that are known again since they were told once, or take one back."""
    if no:
        kind = run.open(Effect.WRITES).maintenance.take_back_secret(no)
        return Outcome(
            record={"kind": kind},
            show=f"That word was remembered as {kind}, and is not from now on; what was replaced in"
            " the memory before stays so.",
        )
    known = run.open(Effect.READS).maintenance.told_secrets()
    taken_back = known.pop("", 0)
    return Outcome(
        record={"kinds": known, "taken_back": taken_back},
        show=lambda page: views.report.secrets(page, known, taken_back),
    )


@operation(KEEP, Effect.OWN)
def predicates(
    run: Run,
    noise: Annotated[bool, Arg("What of each looks like noise.")] = False,
    rules: RuleFile = None,
) -> Outcome:
    """List the predicates that session logs are read for, and how often each rule fired."""
    from factbook import RuleSet
    from factbook.context import rules_in_force
    from factbook.maintenance.maintenance import RuleUse

    rule_set = rules_in_force(rules) or RuleSet.default()
    counted = isinstance(run.db, str) or run.db.exists()
    if counted:
        uses = run.open(Effect.READS, rules=rule_set).maintenance.rule_uses(noise=noise)
    elif noise:
        raise StoreMissing(path=run.db)
    else:
        uses = [RuleUse(rule=rule, fired=0) for rule in rule_set.rules]
    if noise:
        noisy = [(-use.noise.score, use.rule.name, use) for use in uses if use.noise is not None]
        uses = [use for _, _, use in sorted(noisy, key=lambda row: row[:2])]
    return Outcome(
        record={"predicates": uses},
        show=lambda page: views.report.predicates(page, uses, noise=noise, counted=counted),
    )
