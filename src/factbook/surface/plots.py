"""Draw the figures of a memory as PNG files; matplotlib comes with the `bench` extra."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from factbook import policy
from factbook.errors import FactbookError, UsageError

if TYPE_CHECKING:
    from factbook.maintenance.metrics import Share
    from factbook.memory import Memory
    from factbook.memory.standing import Living
    from factbook.model.facts import Millis, Run

__all__ = ["draw"]

_SIZE: Final = (8.0, 4.5)  # inches
_DPI: Final = 110
_BINS: Final = 20
_RUNS: Final = 60  # the newest that are drawn
_STATES: Final = (
    ("active", "#2b7a3d"),
    ("tool_only", "#d9a21b"),
    ("deprecated", "#b5442e"),
    ("superseded", "#6c7a89"),
    ("merged_into", "#8e7cc3"),
)
_CHANGES: Final = ("stored", "supported", "contradicted", "superseded", "merged", "queued")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Plot:
    """One picture."""

    name: str  # of the file
    title: str
    draw: Callable[[Any], None]  # on the axes of matplotlib


def draw(memory: Memory, found: Living, folder: Path, *, now: Millis) -> list[Path]:
    """Write every picture that there is data for, and return their paths.

    Raises UsageError where matplotlib is missing, and FactbookError where the folder cannot be
    written.
    """
    try:
        import matplotlib as mpl

        mpl.use("Agg")
        from matplotlib import pyplot
    except ImportError as error:
        raise UsageError(
            detail="drawing needs matplotlib; `pip install 'factbook[bench]'` brings it"
        ) from error
    paths = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for one in _plots(memory, found, now=now):
            figure, axes = pyplot.subplots(figsize=_SIZE, dpi=_DPI)
            try:
                one.draw(axes)
                axes.set_title(one.title)
                for side in ("top", "right"):
                    axes.spines[side].set_visible(False)
                figure.tight_layout()
                path = folder / f"{one.name}.png"
                figure.savefig(path)
                paths.append(path)
            finally:
                pyplot.close(figure)
    except OSError as error:
        raise FactbookError(
            detail=f"{error.filename or folder} cannot be written ({error.strerror}); name another"
            " folder with --plot"
        ) from error
    return paths


def _plots(memory: Memory, found: Living, *, now: Millis) -> list[_Plot]:
    from factbook.memory.standing import believed_now, passive_by_day

    values = believed_now(memory, now=now)
    runs = memory.maintenance.runs(limit=_RUNS)[::-1]
    by_day = passive_by_day(memory)
    plots = []
    if found.states:
        plots.append(
            _Plot(
                name="facts", title="Facts by state", draw=lambda axes: _states(axes, found.states)
            )
        )
    if values:
        plots.append(
            _Plot(
                name="confidence",
                title="Confidence of statements now",
                draw=lambda axes: _confidence(axes, values),
            )
        )
    if runs:
        plots.append(
            _Plot(
                name="runs",
                title="What consolidations changed",
                draw=lambda axes: _runs(axes, runs),
            )
        )
    if by_day:
        plots.append(
            _Plot(
                name="passive_relevance",
                title="Streamed memories that were used",
                draw=lambda axes: _relevance(axes, by_day),
            )
        )
    return plots


def _states(axes: Any, states: Mapping[str, int]) -> None:
    shown = [(name, color) for name, color in _STATES if states.get(name)]
    axes.barh(
        [name.replace("_", " ") for name, _ in shown],
        [states[name] for name, _ in shown],
        color=[color for _, color in shown],
    )
    axes.invert_yaxis()
    axes.set_xlabel("facts")


def _confidence(axes: Any, values: Sequence[float]) -> None:
    axes.hist(values, bins=_BINS, range=(0.0, 1.0), color="#2b7a3d")
    for limit in (policy.MIN_CONFIDENCE_ACTIVE, policy.MIN_CONFIDENCE_PASSIVE):
        axes.axvline(limit, color="#333333", linestyle="--", linewidth=1)
    axes.set_xlabel("confidence: below 0.3 out of retrieval, above 0.5 brought by itself")
    axes.set_ylabel("facts")


def _runs(axes: Any, runs: Sequence[Run]) -> None:
    names = [str(one.id) for one in runs]
    below = [0] * len(runs)
    for change in _CHANGES:
        counts = [_count(one, change) for one in runs]
        if any(counts):
            axes.bar(names, counts, bottom=below, label="new" if change == "stored" else change)
            below = [one + other for one, other in zip(below, counts, strict=True)]
    if any(below):
        axes.legend(frameon=False)
    axes.set_xlabel("run")
    axes.set_ylabel("changes")


def _count(run: Run, name: str) -> int:
    receipt = run.report.get("receipt")
    found = receipt.get(name, 0) if isinstance(receipt, dict) else 0
    return found if isinstance(found, int) else 0


def _relevance(axes: Any, by_day: Mapping[str, Share]) -> None:
    axes.plot(list(by_day), [100 * one.value for one in by_day.values()], marker="o")
    axes.set_ylim(0, 100)
    axes.set_ylabel("% of the memories of a day")
    axes.tick_params(axis="x", rotation=45)
