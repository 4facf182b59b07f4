"""Show how far a long run is, on stderr: bytes while reading, rows while embedding.

rich is imported here and nowhere else, because only runs that take seconds can afford it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from factbook.surface.output import is_terminal

if TYPE_CHECKING:
    from rich.progress import Progress, ProgressColumn

Advance = Callable[[int], None]
Say = Callable[[str], None]


@contextmanager
def bar(label: str, *, total: int, unit: str, quiet: bool = False) -> Iterator[Advance]:
    """Show a bar while the block runs and give the function that moves it.

    `unit` is "bytes" or the name of the things that are counted. Where stderr is no terminal, one
    line is written at the end; with `quiet`, or nothing to do, nothing is.
    """
    if quiet or total <= 0 or sys.stderr is None:
        yield lambda _: None
        return
    with _progress(*_columns(unit)) as progress:
        task = progress.add_task(label, total=total)
        yield lambda step: progress.advance(task, step)
        if not progress.finished:
            # A file may shrink while it is read, and a batch may embed less than was expected.
            progress.update(task, completed=total)


@contextmanager
def phases(names: Sequence[str], *, quiet: bool = False) -> Iterator[Say]:
    """Show which of a few phases runs, and give the function that names the next one.

    Only on a terminal, and nothing of it stays.
    """
    with _passing(names[0], len(names), quiet=quiet) as update:
        yield lambda name: update(
            description=name, completed=names.index(name) if name in names else 0
        )


@contextmanager
def line(*, quiet: bool = False) -> Iterator[Say]:
    """Show one line that changes, for work without an end, and give the function that sets it.

    Only on a terminal, and nothing of it stays.
    """
    with _passing("", None, quiet=quiet) as update:
        yield lambda said: update(description=said)


@contextmanager
def _passing(said: str, total: int | None, *, quiet: bool) -> Iterator[Callable[..., None]]:
    if quiet or not moves():
        yield lambda **_: None
        return
    from rich.progress import BarColumn, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns: list[ProgressColumn] = [
        TextColumn("{task.description:<12}", markup=False),
        BarColumn(bar_width=32),
        TextColumn("{task.completed:.0f} of {task.total:.0f}"),
    ]
    if total is None:
        columns = [SpinnerColumn(), TextColumn("{task.description}", markup=False)]
    with _progress(*columns, TimeElapsedColumn(), transient=True) as progress:
        task = progress.add_task(said, total=total)
        yield lambda **more: progress.update(task, **more)


def moves() -> bool:
    """Tell whether a line that changes can be shown."""
    return sys.stderr is not None and is_terminal(sys.stderr)


def _progress(*columns: ProgressColumn, transient: bool = False) -> Progress:
    from rich.console import Console
    from rich.progress import Progress

    console = Console(stderr=True, highlight=False)
    if not console.is_terminal:
        console = Console(stderr=True, highlight=False, width=100)
    return Progress(*columns, console=console, transient=transient)


def _columns(unit: str) -> list[ProgressColumn]:
    from rich.progress import (
        BarColumn,
        ProgressColumn,
        Task,
        TaskProgressColumn,
        TextColumn,
        TimeRemainingColumn,
    )
    from rich.text import Text

    from factbook.language.values import count, size

    class Done(ProgressColumn):
        def render(self, task: Task) -> Text:
            total = task.total or 0
            if unit == "bytes":
                return Text(f"{size(task.completed)} of {size(total)}")
            return Text(f"{count(int(task.completed))} of {count(int(total))} {unit}")

    class Speed(ProgressColumn):
        def render(self, task: Task) -> Text:
            speed = task.finished_speed or task.speed
            if speed is None:
                return Text("")
            return Text(f"{size(speed)}/s" if unit == "bytes" else f"{speed:,.0f}/s", style="dim")

    left = TimeRemainingColumn(compact=True, elapsed_when_finished=True)
    name = TextColumn("{task.description:<9}", markup=False)
    return [name, BarColumn(bar_width=32), TaskProgressColumn(), Done(), Speed(), left]
