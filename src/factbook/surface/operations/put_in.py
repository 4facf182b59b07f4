"""The operations that read what there is into a memory, and make it searchable."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

from factbook.errors import FactbookError, NoLogsFound, UnsupportedHost, UsageError
from factbook.language.values import count
from factbook.model.facts import ME
from factbook.surface import records, views
from factbook.surface.operations.arguments import RuleFile
from factbook.surface.operations.base import READ, Arg, Effect, Outcome, Run, operation

if TYPE_CHECKING:
    from factbook.pipelines.observed import IngestReport
    from factbook.sources.session_log import Discovery

EXIT_INPUT: Final = 3  # a part of the input could not be read; the rest was

_NO_REDACT: Final = "--no-redact is on: secrets are stored and shown as they are"
_STOPPED: Final = (
    "stopped; all that was written before is kept, and `factbook ingest` goes on from there"
)
_STOPPED_AT_ONCE: Final = (
    "stopped before anything was written; the next `factbook ingest` begins at the same place"
)


@operation(READ, Effect.OWN, tool=False)
def ingest(
    run: Run,
    paths: Annotated[Sequence[Path], Arg(metavar="PATH", given="argument")] = (),
    no_embed: bool = False,
    no_redact: bool = False,
    rules: RuleFile = None,
    workers: Annotated[int | None, Arg(metavar="N", least=0)] = None,
    kind: Annotated[str | None, Arg(metavar="KIND")] = None,
    owner: Annotated[str, Arg(metavar="NAME")] = ME,
    strict: bool = False,
) -> Outcome:
    """Read logs, chats, notes and files of rules, going on from where the last run stopped.

    Args:
        paths: Files or folders of logs and chats, files of notes, or of rules that agents load,
            with those in folders; without any, the agents' own folders and the files of rules of
            the projects that sessions name.
        no_embed: Leave the embedding for `factbook embed`; rows are found by their words; rules and
            decisions in prompts are left for the night then, those in files for the next time.
        no_redact: Store secrets as they are, instead of a label in their place.
        workers: Read with N processes beside this one, 0 for none; otherwise the amount of work
            decides.
        kind: What the files are where their content does not tell: session_log, conversation, note
            or summary.
        owner: Whom the files are about, where they do not say.
        strict: Take every @name in a command for a host, right or wrong, instead of reading the
            command.
    """
    from factbook.context import rules_in_force

    rule_set = rules_in_force(rules, strict=strict)
    discovery = _discover(paths, owner=owner, kind=kind)
    if no_redact:
        run.screen.note(_NO_REDACT)
    began = time.perf_counter()
    memory = run.open(Effect.CREATES, redact=not no_redact, rules=rule_set)
    before = {name: number for name, _, number, _ in memory.stats().predicates}
    report = _read(run, discovery, workers=workers)
    seconds = time.perf_counter() - began
    trouble: FactbookError | None = None
    embedded, interrupted = 0, False
    if not no_embed:
        try:
            embedded, interrupted = _embed(run, limit=None)
            if not interrupted:
                if kind is None:
                    report.add(run.memory.sources.read_rule_files(paths or None, owner=owner))
                with _told_where_stopped(run):
                    run.memory.read_directives()
                rules_embedded, interrupted = _embed(run, limit=None)
                embedded += rules_embedded
        except FactbookError as error:
            trouble = error  # what was read is kept: say so first
    after = memory.stats().predicates if report.receipt.stored else ()
    new = [(name, sure, number - before.get(name, 0)) for name, sure, number, _ in after]
    done = records.Ingested(
        report=report,
        predicates=[row for row in new if row[2] > 0],
        embedded=embedded,
        waiting=memory.maintenance.waiting(),
        seconds=seconds,
    )
    unread = views.report.failed_files(report)
    return Outcome(
        record={"database": run.db, **records.plain(done)},
        show=lambda page: views.report.ingest(page, done),
        notes=[_left(done.waiting)] if interrupted else [],
        warnings=() if interrupted else unread,
        trouble=trouble,
        code=Outcome.INTERRUPTED if interrupted else EXIT_INPUT if unread else 0,
    )


def _discover(paths: Sequence[Path], *, owner: str, kind: str | None) -> Discovery:
    """Find the logs before a database is made: a mistyped path leaves nothing behind."""
    from factbook.sources.discover import discover
    from factbook.sources.rule_files import is_rule_file, rule_files_at
    from factbook.sources.session_log import Discovery

    rest = [path for path in paths if kind is not None or not is_rule_file(path)]
    if paths and not rest:
        return Discovery()
    try:
        discovery = discover(rest or None, owner=owner, kind=kind)
    except NoLogsFound:
        if kind is not None or not rule_files_at(rest):
            raise
        return Discovery()  # a project's folder
    if not discovery.files and discovery.unsupported:
        path, host = discovery.unsupported[0]
        raise UnsupportedHost(path=path, host=host)
    return discovery


def _read(run: Run, discovery: Discovery, *, workers: int | None) -> IngestReport:
    from factbook.surface.progress import bar

    total = sum(_size(file.path) for file in discovery.files)
    reading = bar("reading", total=total, unit="bytes", quiet=run.quiet)
    before = run.memory.stats().counts["episodes"]

    def stopped() -> str:
        kept = run.memory.stats().counts["episodes"] - before
        return _STOPPED if kept else _STOPPED_AT_ONCE

    with _told_where_stopped(run, stopped), reading as advance:
        return run.memory.ingest(discovery=discovery, progress=advance, workers=workers)


@contextmanager
def _told_where_stopped(run: Run, said: Callable[[], str] = lambda: _STOPPED) -> Iterator[None]:
    try:
        yield
    except KeyboardInterrupt:
        run.screen.note(said())
        raise


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0  # the reader says what is wrong with the file


def _embed(run: Run, *, limit: int | None) -> tuple[int, bool]:
    """Embed what waits; return how many rows were, and whether Ctrl-C ended it."""
    from factbook.surface.progress import bar

    memory = run.memory
    waiting = memory.maintenance.waiting() + memory.maintenance.outdated()
    if not waiting:
        return 0, False
    total = waiting if limit is None else min(waiting, limit)
    try:
        with bar("embedding", total=total, unit="rows", quiet=run.quiet) as advance:
            return memory.embed(limit=limit, progress=advance).receipt.embedded, False
    except KeyboardInterrupt:
        left = memory.maintenance.waiting() + memory.maintenance.outdated()
        return waiting - left, True


def _left(waiting: int) -> str:
    return (
        f"stopped; {count(waiting, 'row')} still to embed, found by words until `factbook embed`"
        " has finished them"
    )


@operation(READ, Effect.OWN, name="import", tool=False)
def import_(
    run: Run,
    file: Annotated[Path, Arg(metavar="FILE", given="argument")],
    dry_run: Annotated[bool, Arg("Say what would come, and keep nothing.")] = False,
    no_embed: bool = False,
    no_redact: bool = False,
    owner: Annotated[str, Arg(metavar="NAME")] = ME,
) -> Outcome:
    """Put an export back: restore it into an empty memory, or join it with what is there.

    Args:
        file: What `factbook export FILE` has written, or the memory.json of the MCP server
            @modelcontextprotocol/server-memory.
        no_embed: Leave the embedding for `factbook embed`; rows are found by their words.
        no_redact: Store secrets as they are, instead of a label in their place.
        owner: Whose the graph of a memory.json is; an export says so itself.
    """
    from factbook.pipelines.imported import form_of
    from factbook.surface.progress import bar

    path = file.expanduser()
    form = form_of(path)  # before a database is made: a mistyped path leaves nothing behind
    if owner != ME and form != "graph":
        raise UsageError(detail="an export says whose it is; --owner is for a memory.json")
    if no_redact:
        run.screen.note(_NO_REDACT)
    redact = not no_redact
    opened = run.open_or_empty if dry_run else partial(run.open, Effect.CREATES)
    memory = opened(redact=redact)
    again = "stopped; run it again, and it goes on: what has come is not doubled"
    importing = bar("importing", total=_size(path), unit="bytes", quiet=run.quiet)
    with _told_where_stopped(run, lambda: again), importing as advance:
        done = memory.import_(path, dry_run=dry_run, progress=advance, owner=owner)
    embedded, interrupted = 0, False
    trouble: FactbookError | None = None
    if not no_embed and not dry_run:
        try:
            embedded, interrupted = _embed(run, limit=None)
        except FactbookError as error:
            trouble = error
    waiting = memory.maintenance.waiting()
    failed = bool(done.unread or done.incomplete)
    return Outcome(
        record={**records.plain(done), "embedded": embedded, "waiting": waiting},
        show=lambda page: views.report.imported(page, done),
        notes=[_left(waiting)] if interrupted else [],
        trouble=trouble,
        code=Outcome.INTERRUPTED if interrupted else EXIT_INPUT if failed else 0,
    )


@operation(READ, Effect.WRITES, tool=False)
def embed(
    run: Run, limit: Annotated[int | None, Arg("At most N rows.", metavar="N", least=1)] = None
) -> Outcome:
    """Give waiting rows their vectors; safe to stop and run again."""
    embedded, interrupted = _embed(run, limit=limit)
    waiting = run.memory.maintenance.waiting()
    done = f"{count(embedded, 'row')} embedded" if embedded else "Nothing was embedded"
    rest = f"{count(waiting)} still waiting" if waiting else "nothing waits"
    if waiting and not embedded and not interrupted:
        rest += ": another process holds them, or they rest after a failure; in a few minutes they"
        rest += " are free again"
    return Outcome(
        record={"embedded": embedded, "waiting": waiting},
        show=f"{done}; {rest}.",
        notes=[_left(waiting)] if interrupted else [],
        code=Outcome.INTERRUPTED if interrupted else 0,
    )
