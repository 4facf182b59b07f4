"""The operations on the work behind: what is searched for again, what it gathered, the worker."""

from __future__ import annotations

import re
import signal
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any, Final, NoReturn

from factbook.errors import UsageError
from factbook.language.values import every
from factbook.model.entities import SearchState
from factbook.model.facts import EVERYONE, ME
from factbook.surface import records, views
from factbook.surface.operations.arguments import Owner
from factbook.surface.operations.base import KEEP, READ, Arg, Effect, Outcome, Run, operation
from factbook.surface.operations.world import NO_SEARCH, alone
from factbook.surface.text import one_line

if TYPE_CHECKING:
    from types import FrameType

    from factbook.interests.scheduler import LoopReport, LoopStep
    from factbook.surface.output import Page, Screen
    from factbook.surface.progress import Say

IDLE_SECONDS: Final = 2.0  # nobody has acted for so long: work may begin
_MOST_IDLE: Final = 3_600.0
# between two lines about what was done, where no terminal shows one that moves
_LINE_S: Final = 2.0

HOUR_MS: Final = 3_600_000
LEAST_EVERY_MS: Final = 10 * 60_000  # ours: a schedule that comes more often is a mistake
MOST_EVERY_MS: Final = 366 * 24 * HOUR_MS
_UNITS: Final[Mapping[str, int]] = MappingProxyType(
    {"m": 60_000, "h": HOUR_MS, "d": 24 * HOUR_MS, "w": 7 * 24 * HOUR_MS}
)
_EVERY: Final = re.compile(
    r"(?:(?P<word>daily|weekly)"
    r"|every\s+(?:(?P<number>\d{1,6})\s*)?"
    r"(?P<unit>m(?:in(?:ute)?s?)?|h(?:(?:ou)?rs?)?|d(?:ays?)?|w(?:eeks?)?))\s+(?P<topic>\S.*)",
    re.IGNORECASE,
)
_DROP: Final = re.compile(r"#?(\d{1,9})\s+delete", re.IGNORECASE)


@operation(
    READ,
    Effect.CREATES,
    examples=("/schedule daily ai conferences in europe", "/schedule 1 delete"),
    shows=alone,
    undone_by="schedule N delete",
)
def schedule(
    run: Run,
    what: Annotated[
        str, Arg(metavar="[daily|weekly|every 6h TOPIC | N delete]", given="words")
    ] = "",
    owner: Owner = ME,
) -> Outcome:
    """Search for something again and again; alone, show what is scheduled.

    Args:
        what: How often and what to search for; without it, what is scheduled.
    """
    interests = run.memory.interests
    if not what:
        known = run.shown(interests.schedules(owner=owner))
        nothing = f"No schedules yet; {run.page.typed('schedule daily TOPIC')} begins."
        return Outcome(
            record={"schedules": [records.schedule(row, n) for n, row in enumerate(known, 1)]},
            show=(lambda page: views.world.schedules(page, known)) if known else nothing,
        )
    drop = _DROP.fullmatch(what)
    if drop is not None:
        gone = run.shown(interests.unschedule(int(drop[1]), owner=owner))
        return Outcome(
            record={"ended": records.schedule(gone, int(drop[1]))},
            show=f"Ended: {every(gone.every_ms)}, '{one_line(gone.topic)}'.",
        )
    topic, every_ms = _when(what, run.page)
    before = interests.schedules(owner=owner)
    kept = interests.schedule(topic, every_ms, owner=owner)
    number = interests.schedules(owner=owner).index(kept) + 1
    made = run.shown(kept)
    said = f"{every(made.every_ms)}: '{one_line(made.topic)}'"
    of_it = [one.every_ms for one in before if one.topic.casefold() == kept.topic.casefold()]
    if of_it == [kept.every_ms]:
        said = f"Scheduled already, {said}; nothing was changed."
    else:
        said = f"Scheduled {said}, for the {'next' if of_it else 'first'} time now."
    return Outcome(
        record={"schedule": records.schedule(made, number)},
        show=said,
        notes=() if run.memory.resources.has_search else (NO_SEARCH,),
    )


def _when(said: str, page: Page) -> tuple[str, int]:
    match = _EVERY.fullmatch(said)
    if match is None:
        raise UsageError(
            detail=f"{one_line(said)[:60]!r} does not say how often;"
            f" {page.typed('schedule daily TOPIC')}, {page.typed('schedule every 6h TOPIC')} or"
            f" {page.typed('schedule 2 delete')}"
        )
    unit = (match["word"] or match["unit"])[0].lower()
    every_ms = int(match["number"] or 1) * _UNITS[unit]
    if not LEAST_EVERY_MS <= every_ms <= MOST_EVERY_MS:
        extreme = "often" if every_ms < LEAST_EVERY_MS else "seldom"
        raise UsageError(
            detail=f"{every(every_ms)} is too {extreme}; give between {every(LEAST_EVERY_MS)} and"
            f" {every(MOST_EVERY_MS)}"
        )
    return match["topic"], every_ms


@operation(KEEP, Effect.OWN)
def entities(
    run: Run,
    all_: Annotated[bool, Arg("Those too that were deleted or merged away.", flag="--all")] = False,
    clean: bool = False,
    unmerge: Annotated[int | None, Arg(metavar="ID")] = None,
    owner: Owner = ME,
) -> Outcome:
    """List the things that facts are gathered about, and what became of them.

    Args:
        clean: First merge those that are the same thing and drop those that came to nothing, in the
            memories of all owners.
        unmerge: First take an entity out of the one that it was merged into.
    """
    if clean and unmerge is not None:
        raise UsageError(detail="--clean and --unmerge are two things; do one after the other")
    memory = run.open(Effect.WRITES if clean or unmerge is not None else Effect.READS)
    done: dict[str, object] = {}
    said = ""
    if clean:
        report = memory.background.clean()
        done = {"cleaned": report}
        said = views.world.cleaned(report)
    elif unmerge is not None:
        memory.interests.unmerge_entity(unmerge, owner=owner)
        done, said = {"unmerged": unmerge}, f"Entity {unmerge} stands on its own again."
    every_one = memory.interests.entities(owner=owner, include_retired=True)
    things = run.shown([entity for entity in every_one if all_ or entity.current])

    def show(page: Page) -> None:
        if said:
            page.say(said)
            page.line()
        views.world.entity_table(page, things)
        if not things:
            page.line("There are none.")

    return Outcome(record={**done, "entities": things}, show=show)


@operation(KEEP, Effect.OWN, tool=False)
def worker(
    run: Run,
    once: Annotated[bool, Arg("Stop when nothing is left to do.")] = False,
    off: Annotated[Sequence[str], Arg(metavar="LOOP")] = (),
    idle: Annotated[
        float, Arg(short="--idle", metavar="SECONDS", flag="--idle-seconds")
    ] = IDLE_SECONDS,
    retry: bool = False,
) -> Outcome:
    """Do the work behind, until Ctrl-C: search, read, embed, look things up, clean.

    Args:
        off: Leave a loop out: searches, extraction, embedding, notices, enrichment or cleaner; may
            be repeated.
        idle: How long nobody must have acted before anything begins.
        retry: First let rows and searches that were put aside be tried again.
    """
    if not 0.0 < idle <= _MOST_IDLE:  # also refuses NaN
        raise UsageError(
            detail=f"--idle-seconds {idle:g} is no time to wait; give seconds, at most"
            f" {_MOST_IDLE:,.0f}"
        )
    memory = run.open(Effect.WRITES)
    retried = memory.maintenance.retry_aside() + memory.background.retry_searches() if retry else 0
    report, embedded = _work(run, once=once, off=off, idle_ms=round(idle * 1000))
    return _worked(run, report, embedded=embedded, retried=retried)


def _work(
    run: Run, *, once: bool, off: Sequence[str], idle_ms: int
) -> tuple[Sequence[LoopReport], int]:
    from factbook.interests.scheduler import DRAIN_STEPS
    from factbook.surface.progress import line

    with line(quiet=run.screen.as_json) as say, _warnings():
        progress = _Progress(say, run.screen)
        behind = run.memory.background.worker(off=off, idle_ms=idle_ms, on_step=progress.note)
        with behind, _stopping():
            if "embedding" not in off:
                # A model that does not load, or is not that of the database, is told at once: every
                # step would fail by it.
                progress.add("embedding", run.memory.embed(limit=1).receipt.embedded)
            if not once:
                behind.serve()
            while once and len(behind.drain()) == DRAIN_STEPS:
                pass
        report = behind.report()
        progress.flush()
    return report, progress.total["embedding"]


def _worked(run: Run, report: Sequence[LoopReport], *, embedded: int, retried: int) -> Outcome:
    memory = run.memory
    tasks = memory.background.waiting_searches(
        (SearchState.FAILED, SearchState.ASIDE), owner=EVERYONE
    )
    failed = [
        (search_task.query, search_task.error, search_task.state is SearchState.ASIDE)
        for search_task in run.shown(tasks)
    ]
    aside = run.shown(memory.maintenance.set_aside())
    waiting = max(0, memory.maintenance.waiting() - len(aside))

    def show(page: Page) -> None:
        views.world.work(page, report, failed, embedded=embedded, waiting=waiting)
        views.keep.aside(page, aside)

    return Outcome(
        record={
            "embedded": embedded,
            "failed": sum(loop_report.failed for loop_report in report),
            "retried": retried,
            "waiting": waiting,
            "aside": records.aside(aside),
            "searches_failed": [
                {"query": query, "why": why, "aside": given_up} for query, why, given_up in failed
            ],
            "loops": report,
        },
        show=show,
    )


@contextmanager
def _stopping() -> Iterator[None]:
    """Let SIGTERM and Ctrl-C end the work, which is its proper end: services are stopped so."""

    def stop(number: int, frame: FrameType | None) -> NoReturn:
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
        from factbook.surface.progress import moves

        self.total: Counter[str] = Counter()
        self._say = say
        self._screen = screen
        self._plain = not screen.as_json and not moves()
        self._new: Counter[str] = Counter()
        self._notes: dict[str, str] = {}  # loop -> its last note
        self._unsaid: list[str] = []
        self._said_at = time.monotonic()

    def add(self, loop: str, did: int) -> None:
        self.total[loop] += did
        self._new[loop] += did

    def note(self, step: LoopStep) -> None:
        """Take down a step; the worker calls this."""
        self.add(step.loop, step.did)
        if step.note and step.note != self._notes.get(step.loop):
            self._notes[step.loop] = step.note
            self._unsaid.append(f"{step.loop}: {step.note}")
        self._say(self._counts(self.total) or "nothing to do yet")
        if time.monotonic() - self._said_at >= _LINE_S:
            self.flush()

    def flush(self) -> None:
        if self._plain:
            for line in filter(None, [self._counts(self._new), *self._unsaid]):
                self._screen.note(line)
        self._new.clear()
        self._unsaid.clear()
        self._said_at = time.monotonic()

    @staticmethod
    def _counts(counts: Counter[str]) -> str:
        return ", ".join(f"{loop} {number}" for loop, number in counts.items() if number)
