"""The operations of the night: consolidating, what it changed, and having it done every night."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

from factbook.errors import UsageError
from factbook.language.values import amount, count, home_path, moment
from factbook.model.facts import EVERYONE
from factbook.surface import records, views
from factbook.surface.operations.arguments import Whose
from factbook.surface.operations.base import KEEP, Arg, Effect, Outcome, Run, operation
from factbook.surface.text import safe

if TYPE_CHECKING:
    from factbook.maintenance import timer
    from factbook.maintenance.consolidate import RunReport
    from factbook.memory.standing import Left
    from factbook.surface.output import Page

RUNS_SHOWN: Final = 20


@operation(KEEP, Effect.OWN)
def consolidate(
    run: Run,
    whose: Whose,
    dry_run: Annotated[bool, Arg("Do it on a copy in memory, and show what would change.")] = False,
    undo: Annotated[int | None, Arg(metavar="RUN", least=1)] = None,
    all_: Annotated[bool, Arg("Show every change.", flag="--all", terminal=True)] = False,
) -> Outcome:
    """Do the nightly work: what recurs, what is supported, what contradicts, what is the same.

    Args:
        undo: Take back what a run changed, as far as it has not changed since; the vectors stay.
    """
    if undo is not None and dry_run:
        raise UsageError(detail="--undo and --dry-run exclude each other")
    # A dry run works on a copy: the database itself is only read.
    memory = run.open(Effect.READS if dry_run else Effect.WRITES, redact=not whose.no_redact)
    if undo is not None:
        return _undo(run, undo)
    from factbook.maintenance.consolidate import PHASES
    from factbook.memory.standing import left_by
    from factbook.surface.progress import phases

    lefts: list[Left] = []
    began = time.perf_counter()
    try:
        with phases(PHASES, quiet=run.quiet) as begun:
            report = memory.consolidate(
                dry_run=dry_run,
                on_phase=begun,
                on_done=lambda store, done: lefts.append(
                    left_by(memory, done.run_id, store=store, owner=whose.about)
                ),
            )
    except KeyboardInterrupt:
        return Outcome.interrupted(
            "nothing was changed"
            if dry_run
            else "stopped; all that was written before is kept, and `factbook consolidate` goes on"
            " from there"
        )
    when = f"{moment(report.as_of)}, {amount(time.perf_counter() - began)}"
    head = f"run {report.run_id} · {when}"
    if dry_run:
        head = f"dry run · {when}; this is what would change"
    return _report(run.shown(report), run.shown(lefts[0]), head=head, dry_run=dry_run, all_=all_)


@operation(KEEP, Effect.OWN, tool=False)
def reread(
    run: Run,
    source: Annotated[str, Arg(metavar="PATH")] = "",
    dry_run: Annotated[
        bool, Arg("Do it on a copy in memory, and count what would change.")
    ] = False,
) -> Outcome:
    """Read again what another version of the language reader has read.

    Args:
        source: Only of this source: a path, a name, or an id of `factbook sessions`, like s12.
    """
    from factbook.surface.progress import bar

    memory = run.open(Effect.READS if dry_run else Effect.WRITES)
    total = memory.maintenance.read_by_others(source=source)
    try:
        with bar("reading again", total=total, unit="sources", quiet=run.quiet) as advance:
            report = memory.maintenance.reread(source=source, dry_run=dry_run, progress=advance)
    except KeyboardInterrupt:
        return Outcome.interrupted(
            "nothing was changed"
            if dry_run
            else "stopped; what was read again is kept, and `factbook reread` goes on from there"
        )
    got = report.receipt
    record = {
        "version": report.version,
        "dry_run": dry_run,
        "sources": report.sources,
        "episodes": report.episodes,
        "facts_added": got.stored,
        "evidence_added": got.evidence,
        "evidence_kept": report.kept,
        "evidence_withdrawn": got.withdrawn,
        "facts_retired": got.retracted,
    }

    def show(page: Page) -> None:
        if not report.sources:
            page.say(f"Nothing was read by another version than {report.version}.")
            return
        page.say(
            f"{count(report.sources, 'source')} read again with {report.version}"
            f" ({count(report.episodes, 'message')}){'; this is what would change' * dry_run}:"
        )
        page.say(f"{count(got.stored, 'new fact')}, {count(got.evidence, 'new piece')} of evidence")
        page.say(f"{count(report.kept, 'piece')} of evidence kept")
        page.say(
            f"{count(got.withdrawn, 'piece')} withdrawn, {count(got.retracted, 'fact')} retired"
        )
        if not dry_run:
            page.say(f"{page.typed('consolidate')} compares what is new with the rest.", "dim")

    return Outcome(record=record, show=show)


def _report(report: RunReport, left: Left, *, head: str, dry_run: bool, all_: bool) -> Outcome:
    def show(page: Page) -> None:
        views.keep.account(
            page,
            left.changes,
            head=head,
            embedded=report.receipt.embedded,
            waiting=report.waiting,
            all_=all_,
        )
        views.keep.aside(page, left.aside)
        if report.turns is not None and (report.turns.calls or report.turns.stopped):
            views.model.turns(page, report.turns)
        for call in report.calls:
            page.say(f"asked the model about {call.told()}", "dim")
        if report.error:
            page.warn(f"the judge gave no answer, and the pairs wait on: {report.error}")
        views.model.unanswered(page, left.unanswered)

    return Outcome(
        record={
            **records.plain(left.changes.run),
            "dry_run": dry_run,
            "receipt": report.receipt,
            "changes": left.changes,
            "pairs_waiting": report.waiting,
            "aside": records.aside(left.aside),
            "turns": report.turns,
            "error": report.error,
            "calls": report.calls,
            "unanswered": left.unanswered,
        },
        show=show,
    )


def _undo(run: Run, run_id: int) -> Outcome:
    # the night serves all
    receipt = run.memory.maintenance.undo(run_id, owner=EVERYONE).receipt
    left = ""
    if receipt.unchanged:
        left = f"; {count(receipt.unchanged)} stay, for what they changed has changed since"
    return Outcome(
        record={"run": run_id, "state": "undone", "receipt": receipt},
        show=lambda page: page.say(
            f"run {run_id}: {count(receipt.reverted, 'change')} taken back{left}."
        ),
    )


@operation(KEEP)
def runs(
    run: Run,
    whose: Whose,
    number: Annotated[int | None, Arg(metavar="RUN", given="argument")] = None,
    limit: Annotated[int, Arg("The newest N; 0 for all.", "-n", metavar="N", least=0)] = RUNS_SHOWN,
    all_: Annotated[bool, Arg("With RUN, show every change.", flag="--all", terminal=True)] = False,
) -> Outcome:
    """List consolidations, the newest first, or show one.

    Args:
        number: Show the changes of this one.
    """
    if number is not None:
        return _past_run(run, number, whose, all_=all_)
    rows = run.memory.maintenance.runs(limit=limit or 1 << 30)
    nothing = "There was no consolidation yet; `factbook consolidate` does one."
    return Outcome(
        record={"runs": rows},
        show=lambda page: views.keep.runs(page, rows) if rows else page.say(page.told(nothing)),
    )


def _past_run(run: Run, number: int, whose: Whose, *, all_: bool) -> Outcome:
    from factbook.memory.standing import changes_of

    changes = run.shown(changes_of(run.memory, number, owner=whose.about))
    past = changes.run
    state = past.state if past.state != "running" else f"running, {views.keep.reached(past)}"
    return Outcome(
        record={**records.plain(past), "changes": changes},
        show=lambda page: views.keep.account(
            page,
            changes,
            head=f"run {past.id} · {moment(past.started_at)}, {state}",
            embedded=records.receipt_of(past).get("embedded", 0),
            waiting=0,
            all_=all_,
        ),
    )


@operation(KEEP, Effect.OWN, tool=False)
def install_timer(
    run: Run,
    at: Annotated[str, Arg("When, in local time.", metavar="HH:MM")] = "03:30",
    cron: Annotated[bool, Arg("A line of your crontab, instead of systemd.")] = False,
    dry_run: Annotated[bool, Arg("Print it, and write nothing.")] = False,
    remove: Annotated[bool, Arg("Take away what it wrote, with --cron the line.")] = False,
) -> Outcome:
    """Have new logs read and the memory consolidated every night."""
    from factbook.context import default_key_file
    from factbook.maintenance import timer

    if remove:
        return _untimed(cron=cron, dry_run=dry_run)
    job = timer.job(db=run.db, key_file=default_key_file(), at=at)
    if not cron:
        return _systemd(job, dry_run=dry_run)
    line = timer.cron_line(job)
    replaced = not dry_run and timer.install_cron(line)

    def show(page: Page) -> None:
        if not dry_run:
            page.say("replaced in your crontab:" if replaced else "put into your crontab:")
        page.line(safe(line))

    return Outcome(record={"dry_run": dry_run, "line": line, "replaced": replaced}, show=show)


def _untimed(*, cron: bool, dry_run: bool) -> Outcome:
    """Take away what was installed, and say what ends it now."""
    from factbook.maintenance import timer

    gone: list[str]
    if cron:
        gone = ["the line in your crontab"] if not dry_run and timer.remove_cron() else []
    else:
        gone = [] if dry_run else [str(path) for path in timer.remove(timer.unit_folder())]
    stop = [f"systemctl --user stop {timer.NAME}.timer", "systemctl --user daemon-reload"]
    commands = stop if gone and not cron else []

    def show(page: Page) -> None:
        if not gone:
            page.say("There was no timer of ours.")
        for item in gone:
            page.say(f"removed: {home_path(item)}")
        _typed(page, "To end it now, type:", commands)

    return Outcome(record={"removed": gone, "commands": commands}, show=show)


def _systemd(job: timer.Job, *, dry_run: bool) -> Outcome:
    from factbook.maintenance import timer

    files = timer.unit_files(job, folder=timer.unit_folder())
    before: Sequence[Path] = [] if dry_run else timer.install(files)
    start = f"systemctl --user enable --now {timer.NAME}.timer"
    commands = ["systemctl --user daemon-reload", start]

    def show(page: Page) -> None:
        for file in files:
            if dry_run:
                page.line(page.paint(safe(f"# {file.path}"), "dim"))
                page.lines(safe(file.text).splitlines())
                page.line()
            else:
                verb = "replaced" if file.path in before else "written"
                page.say(f"{verb}: {home_path(file.path)}")
        _typed(page, "To start it, type:", commands)

    return Outcome(
        record={
            "dry_run": dry_run,
            "files": [{"path": str(file.path), "text": file.text} for file in files],
            "replaced": [str(path) for path in before],
            "commands": commands,
        },
        show=show,
    )


def _typed(page: Page, said: str, commands: Sequence[str]) -> None:
    if commands:
        page.say(said)
        page.lines(f"  {command}" for command in commands)
