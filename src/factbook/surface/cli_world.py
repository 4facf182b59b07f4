"""The commands about what a person cares about, and the work behind.

As in `cli`: each command turns options into arguments and hands what comes back to the screen. What
a command of a chat does too is done by the very same function (`commands`).
"""

from __future__ import annotations

import signal
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, NoReturn

import typer

from factbook.errors import UsageError
from factbook.model.facts import ME
from factbook.surface.options import ASK, KEEP, READ, Call, Command, Db, Json, Owner, app, begin
from factbook.surface.output import Screen

if TYPE_CHECKING:
    from types import FrameType

    from factbook.interests.scheduler import Step, Worker
    from factbook.memory import Memory
    from factbook.surface.progress import Say
    from factbook.surface.slash_commands import Reply

IDLE_SECONDS: Final = 2.0  # nobody has acted for so long: work may begin
_MOST_IDLE: Final = 3_600.0
_LINE_S: Final = (
    2.0  # between two lines about what was done, where no terminal shows one that moves
)
_CREATING: Final = frozenset({"learn", "like", "dislike", "schedule", "search"})

TopicWords = Annotated[
    list[str], typer.Argument(metavar="TOPIC", help="In your own words.", show_default=False)
]
MaybeTopic = Annotated[
    list[str] | None,
    typer.Argument(metavar="[TOPIC]", help="In your own words.", show_default=False),
]


# --- what a chat can do too -----------------------------------------------------------------------


def _do(
    ctx: typer.Context,
    name: str,
    words: Sequence[str] | None,
    owner: str,
    db: str | None,
    as_json: bool,
) -> None:
    """Do what a command of a chat does, and show its answer."""
    from factbook.surface.slash_commands import COMMANDS, invoke

    call = begin(ctx, db, as_json)
    argument = " ".join(" ".join(words or []).split())
    mode: Literal["create", "write", "read"] = "write"
    if COMMANDS[name].reads(argument):
        mode = "read"  # looking is no action: a program may look as often as it likes
    elif name in _CREATING:
        mode = "create"
    with call.memory(mode) as memory:
        reply = invoke(memory, name, argument, owner=owner, look=call.screen.blank())
    _show(call, reply)
    if reply.code:
        raise typer.Exit(reply.code)


def _show(call: Call, reply: Reply) -> None:
    for one in reply.notes:
        call.screen.note(one)
    if call.screen.as_json:
        call.screen.json(dict(reply.data))
    elif reply.text:
        call.screen.lines(reply.text.split("\n"))


@app.command(cls=Command, rich_help_panel=READ)
def learn(
    ctx: typer.Context,
    topic: MaybeTopic = None,
    owner: Owner = ME,
    db: Db = None,
    as_json: Json = False,
) -> None:
    """Learn about a topic in the background; alone, show how far that has come."""
    _do(ctx, "learn", topic, owner, db, as_json)


@app.command(cls=Command, rich_help_panel=READ)
def schedule(
    ctx: typer.Context,
    what: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[daily|weekly|every 6h TOPIC | N delete]",
            help="How often and what to search for; without it, what is scheduled.",
            show_default=False,
        ),
    ] = None,
    owner: Owner = ME,
    db: Db = None,
    as_json: Json = False,
) -> None:
    """Search for something again and again; alone, show what is scheduled."""
    _do(ctx, "schedule", what, owner, db, as_json)


@app.command(cls=Command, rich_help_panel=READ)
def lookup(
    ctx: typer.Context,
    query: Annotated[
        list[str], typer.Argument(metavar="QUERY", help="Any words.", show_default=False)
    ],
    owner: Owner = ME,
    db: Db = None,
    as_json: Json = False,
) -> None:
    """Search with the configured provider now, and keep what is found."""
    _do(ctx, "search", query, owner, db, as_json)


@app.command(cls=Command, rich_help_panel=READ)
def react(
    ctx: typer.Context,
    target: Annotated[
        str,
        typer.Argument(
            metavar="n3|e12", help="A notice, or a turn of the assistant.", show_default=False
        ),
    ],
    emoji: Annotated[
        str, typer.Argument(metavar="EMOJI", help="👍 or 👎, among others.", show_default=False)
    ],
    owner: Owner = ME,
    db: Db = None,
    as_json: Json = False,
) -> None:
    """Say of a notice or an answer whether you want more like it."""
    _do(ctx, "react", [target, emoji], owner, db, as_json)


@app.command("memory", cls=Command, rich_help_panel=ASK)
def memory_(
    ctx: typer.Context,
    what: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[NAME|N] [delete|restore]",
            help="A thing, by its name or its number; without it, all of them.",
            show_default=False,
        ),
    ] = None,
    owner: Owner = ME,
    db: Db = None,
    as_json: Json = False,
) -> None:
    """Show what is known about what you care about; forget a thing, or bring it back."""
    _do(ctx, "memory", what, owner, db, as_json)


@app.command(cls=Command, rich_help_panel=ASK)
def interests(
    ctx: typer.Context,
    plot: Annotated[
        Path | None,
        typer.Option(
            "--plot",
            metavar="FILE",
            help="Draw them over time too, as .png or .svg.",
            show_default=False,
        ),
    ] = None,
    owner: Owner = ME,
    db: Db = None,
    as_json: Json = False,
) -> None:
    """Show what you care about, most first, as far as what you did tells."""
    from factbook.surface.slash_commands import invoke

    call = begin(ctx, db, as_json)
    with call.memory() as memory:
        reply = invoke(memory, "interests", owner=owner, look=call.screen.blank())
        drawn: Path | None = None
        if plot is not None:
            from factbook.surface.plots_interest import interest_plot
            from factbook.surface.reasons import curves

            drawn = interest_plot(curves(memory, owner=owner), plot.expanduser())
    if call.screen.as_json:
        more = {} if drawn is None else {"plot": str(drawn)}
        call.screen.json({**reply.data, **more})
        return
    _show(call, reply)
    if drawn is not None:
        from factbook.surface.text import home_path

        call.screen.line()
        call.screen.say(f"The picture is in {home_path(drawn)}.")


@app.command(cls=Command, rich_help_panel=ASK)
def why(
    ctx: typer.Context,
    what: Annotated[
        list[str],
        typer.Argument(
            metavar="NAME|N|f12|n3",
            help="A thing, a fact or a notice.",
            show_default=False,
        ),
    ],
    owner: Owner = ME,
    db: Db = None,
    as_json: Json = False,
) -> None:
    """Show why a thing is cared about, where a fact comes from, why a notice was told."""
    _do(ctx, "why", what, owner, db, as_json)


@app.command(cls=Command, rich_help_panel=ASK)
def notices(ctx: typer.Context, owner: Owner = ME, db: Db = None, as_json: Json = False) -> None:
    """List what was told by itself, and what waits to be."""
    _do(ctx, "notices", None, owner, db, as_json)


@app.command(cls=Command, rich_help_panel=KEEP)
def forget(
    ctx: typer.Context,
    what: Annotated[
        list[str],
        typer.Argument(
            metavar="NAME|N|f12 [erase]",
            help="A thing or a fact; with erase, it is taken out for good.",
            show_default=False,
        ),
    ],
    owner: Owner = ME,
    db: Db = None,
    as_json: Json = False,
) -> None:
    """Leave a thing or a fact out; with `erase` behind it, take it out for good."""
    _do(ctx, "forget", what, owner, db, as_json)


# --- entities -------------------------------------------------------------------------------------


@app.command(cls=Command, rich_help_panel=KEEP)
def entities(
    ctx: typer.Context,
    all_: Annotated[
        bool,
        typer.Option(
            "--all", help="Those too that were deleted or merged away.", show_default=False
        ),
    ] = False,
    clean: Annotated[
        bool,
        typer.Option(
            "--clean",
            help="First merge those that are the same thing and drop those that came to nothing,"
            " in the memories of all owners.",
            show_default=False,
        ),
    ] = False,
    unmerge: Annotated[
        int | None,
        typer.Option(
            "--unmerge",
            metavar="ID",
            help="First take an entity out of the one that it was merged into.",
            show_default=False,
        ),
    ] = None,
    owner: Owner = ME,
    db: Db = None,
    as_json: Json = False,
) -> None:
    """List the things that facts are gathered about, and what became of them."""
    call = begin(ctx, db, as_json)
    if clean and unmerge is not None:
        raise UsageError(detail="--clean and --unmerge are two things; do one after the other")
    with call.memory("write" if clean or unmerge is not None else "read") as memory:
        done: dict[str, object] = {}
        said = ""
        if clean:
            done, said = _clean(memory)
        elif unmerge is not None:
            memory.interests.unmerge_entity(unmerge, owner=owner)
            done, said = {"unmerged": unmerge}, f"Entity {unmerge} stands on its own again."
        found = [
            one
            for one in memory.interests.entities(owner=owner, include_retired=True)
            if all_ or one.current
        ]
        from factbook.surface import records_world, render_world
        from factbook.surface.slash_commands import shown_entities

        shown = shown_entities(memory, found)
    if call.screen.as_json:
        call.screen.json({**done, "entities": [records_world.entity(one) for one in shown]})
        return
    if said:
        call.screen.say(said)
        call.screen.line()
    table = render_world.entity_table(shown, look=call.screen.blank())
    call.screen.lines((table or "There are none.").split("\n"))


def _clean(memory: Memory) -> tuple[dict[str, object], str]:
    from factbook.surface.text import count

    report = memory.background.clean()
    parts = [
        f"{count(report.merged, 'entity', 'entities')} merged",
        f"{count(report.retired)} dropped",
        f"{count(report.merged_facts, 'fact')} merged",
    ]
    if report.waiting:
        parts.append(f"{count(report.waiting, 'pair')} undecided")
    note = f" {report.note}" if report.note else ""
    done: dict[str, object] = {
        "cleaned": {
            "merged": report.merged,
            "merged_facts": report.merged_facts,
            "retired": report.retired,
            "asked": report.asked,
            "waiting": report.waiting,
            "note": report.note,
        }
    }
    return done, f"{', '.join(parts)}.{note}"


# --- the work behind ------------------------------------------------------------------------------


@app.command(cls=Command, rich_help_panel=KEEP)
def worker(
    ctx: typer.Context,
    once: Annotated[
        bool,
        typer.Option("--once", help="Stop when nothing is left to do.", show_default=False),
    ] = False,
    off: Annotated[
        list[str] | None,
        typer.Option(
            "--off",
            metavar="LOOP",
            help="Leave a loop out: searches, extraction, embedding, notices, enrichment or"
            " cleaner; may be repeated.",
            show_default=False,
        ),
    ] = None,
    idle: Annotated[
        float,
        typer.Option(
            "--idle-seconds",
            "--idle",
            metavar="SECONDS",
            help="How long nobody must have acted before anything begins.",
        ),
    ] = IDLE_SECONDS,
    retry: Annotated[
        bool,
        typer.Option(
            "--retry",
            help="First let rows and searches that were put aside be tried again.",
            show_default=False,
        ),
    ] = False,
    db: Db = None,
    as_json: Json = False,
) -> None:
    """Do the work behind, until Ctrl-C: search, read, embed, tell, look things up, clean."""
    call = begin(ctx, db, as_json)
    if not 0.0 < idle <= _MOST_IDLE:  # also refuses NaN
        raise UsageError(
            detail=f"--idle-seconds {idle:g} is no time to wait; give seconds, at most"
            f" {_MOST_IDLE:,.0f}"
        )
    with call.memory("write") as memory:
        retried = (
            memory.maintenance.retry_aside() + memory.background.retry_searches() if retry else 0
        )
        _work(call, memory, once=once, off=off or [], idle_ms=round(idle * 1000), retried=retried)


def _work(
    call: Call, memory: Memory, *, once: bool, off: Sequence[str], idle_ms: int, retried: int
) -> None:
    from factbook.redaction.records import Screening
    from factbook.surface import records_world, render_world
    from factbook.surface.progress import line
    from factbook.surface.records import keep as records
    from factbook.surface.views import keep

    with line(quiet=call.screen.as_json) as say, _warnings():
        progress = _Progress(say, call.screen)
        behind = memory.background.worker(off=off, idle_ms=idle_ms, on_step=progress.note)
        with behind, _stopping():
            if "embedding" not in off:
                # A model that does not load, or is not that of the database, is told at once: every
                # step would fail by it.
                progress.add("embedding", memory.embed(limit=1).receipt.embedded)
            if once:
                _drain(behind)
            else:
                behind.serve()
        report = behind.report()
        progress.flush()
    failed = _failed_searches(memory)
    aside = Screening(memory.resources.redactor)(memory.maintenance.set_aside())
    waiting = max(0, memory.maintenance.waiting() - len(aside))
    embedded = progress.total["embedding"]
    if call.screen.as_json:
        call.screen.json(
            {
                "embedded": embedded,
                "failed": sum(one.failed for one in report),
                "retried": retried,
                "waiting": waiting,
                "aside": records.aside(aside),
                "searches_failed": [
                    {"query": query, "why": why, "aside": given_up}
                    for query, why, given_up in failed
                ],
                "loops": [records_world.loop(one) for one in report],
            }
        )
        return
    said = render_world.work(report, failed, embedded=embedded, waiting=waiting)
    call.screen.lines(said.split("\n"))
    keep.aside(call.screen, aside)


def _failed_searches(memory: Memory) -> list[tuple[str, str, bool]]:
    """Return (query, why, whether it was put aside) of searches that were not answered."""
    from factbook.model.entities import SearchState

    redact = memory.resources.redactor.redact
    states = (SearchState.FAILED, SearchState.ASIDE)
    return [
        (redact(one.query), redact(one.error), one.state is SearchState.ASIDE)
        for one in memory.background.waiting_searches(states)
    ]


def _drain(behind: Worker) -> None:
    from factbook.interests.scheduler import DRAIN_STEPS

    while len(behind.drain()) == DRAIN_STEPS:
        pass


@contextmanager
def _stopping() -> Iterator[None]:
    """Let SIGTERM and Ctrl-C end the work, which is its proper end: services are stopped so."""

    def stop(number: int, frame: FrameType | None) -> NoReturn:
        del number, frame
        raise KeyboardInterrupt

    before: Any = signal.signal(signal.SIGTERM, stop)
    try:
        with suppress(KeyboardInterrupt):
            yield
    finally:
        signal.signal(signal.SIGTERM, before)


@contextmanager
def _warnings() -> Iterator[None]:
    """Show what fails behind on stderr, as it fails."""
    import logging

    handler = logging.StreamHandler()  # where stderr is now: a line that moves takes care of it
    handler.setFormatter(logging.Formatter("warning: %(message)s"))
    log = logging.getLogger("factbook")
    log.addHandler(handler)
    try:
        yield
    finally:
        log.removeHandler(handler)


class _Progress:
    """Says what was done: in the line that moves, or now and then in a line of its own."""

    def __init__(self, say: Say, screen: Screen) -> None:
        self.total: Counter[str] = Counter()
        self._say = say
        self._screen = screen
        self._plain = not screen.as_json and not _moves()
        self._new: Counter[str] = Counter()
        self._notes: dict[str, str] = {}  # loop -> its last note
        self._unsaid: list[str] = []
        self._said_at = time.monotonic()

    def add(self, loop: str, did: int) -> None:
        """Take down what a loop did."""
        self.total[loop] += did
        self._new[loop] += did

    def note(self, step: Step) -> None:
        """Take down a step; the worker calls this."""
        self.add(step.loop, step.did)
        if step.note and step.note != self._notes.get(step.loop):
            self._notes[step.loop] = step.note
            self._unsaid.append(f"{step.loop}: {step.note}")
        self._say(self._counts(self.total) or "nothing to do yet")
        if time.monotonic() - self._said_at >= _LINE_S:
            self.flush()

    def flush(self) -> None:
        """Write what was not written yet, where no line moves."""
        if self._plain:
            for line in filter(None, [self._counts(self._new), *self._unsaid]):
                self._screen.note(line)
        self._new.clear()
        self._unsaid.clear()
        self._said_at = time.monotonic()

    @staticmethod
    def _counts(found: Counter[str]) -> str:
        return ", ".join(f"{loop} {number}" for loop, number in found.items() if number)


def _moves() -> bool:
    """Tell whether `progress.line` shows a line that moves."""
    try:
        return sys.stderr is not None and sys.stderr.isatty()
    except ValueError:  # closed
        return False
