"""Draw the figures of a memory, and what an owner cares about; matplotlib comes with `bench`."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from factbook import policy
from factbook.errors import FactbookError, UsageError
from factbook.memory.export import becoming
from factbook.surface import text
from factbook.surface.records import receipt_of

if TYPE_CHECKING:
    from factbook.maintenance.metrics import Share
    from factbook.memory import Memory
    from factbook.memory.reasons import Curve
    from factbook.memory.standing import Living
    from factbook.model.facts import Millis, Run

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
# Of curves: as many as a reader can still tell apart.
_COLORS: Final = (
    *("#2b7a3d", "#b5442e", "#2f6690", "#d9a21b", "#8e7cc3"),
    *("#3a9188", "#a05195", "#6c7a89", "#7f5539", "#d45087"),
)
_NAME_CHARS: Final = 32  # of a name in the legend
_FORMATS: Final = (".png", ".svg")


@contextmanager
def _figure(path: Path, title: str) -> Iterator[Any]:
    """Give the axes of a picture, and write it when they are drawn on, as the path ends.

    It shows what is private, so the file has mode 0600, as what is exported has. Raises UsageError
    where matplotlib is missing, and FactbookError where the file cannot be written.
    """
    try:
        import matplotlib as mpl

        mpl.use("Agg")
        from matplotlib import pyplot
    except ImportError as error:
        raise UsageError(
            detail="drawing needs matplotlib; `pip install 'factbook[bench]'` brings it"
        ) from error
    # The same rows give the same file, byte for byte: no salt in an SVG's ids, no date in its head.
    # A name in a script that the font lacks is drawn as boxes: no reason for a warning on stderr.
    with (
        mpl.rc_context({"svg.hashsalt": "factbook", "svg.fonttype": "none"}),
        warnings.catch_warnings(),
    ):
        warnings.filterwarnings("ignore", message="Glyph .* missing from", category=UserWarning)
        figure, axes = pyplot.subplots(figsize=_SIZE, dpi=_DPI, layout="constrained")
        try:
            yield axes
            axes.set_title(title)
            for side in ("top", "right"):
                axes.spines[side].set_visible(False)
            path.parent.mkdir(parents=True, exist_ok=True)
            form = path.suffix[1:].lower()
            with becoming(path) as (_, file):
                figure.savefig(file, format=form, metadata={"Date": None} if form == "svg" else {})
        except OSError as error:
            raise FactbookError(
                detail=f"{path} cannot be written ({error.strerror}); name another place for the"
                " picture"
            ) from error
        finally:
            pyplot.close(figure)


def draw(memory: Memory, life: Living, folder: Path, *, now: Millis) -> list[Path]:
    """Write every picture that there is data for into a folder, and return their paths.

    Raises UsageError where matplotlib is missing, and FactbookError where the folder cannot be
    written.
    """
    from factbook.memory.standing import believed_now, passive_by_day

    drawn = []

    def picture(name: str, title: str) -> Any:
        drawn.append(folder / f"{name}.png")
        return _figure(drawn[-1], title)

    if life.states:
        with picture("facts", "Facts by state") as axes:
            _states(axes, life.states)
    if values := believed_now(memory, now=now):
        with picture("confidence", "Confidence of statements now") as axes:
            _confidence(axes, values)
    if runs := memory.maintenance.runs(limit=_RUNS)[::-1]:
        with picture("runs", "What consolidations changed") as axes:
            _runs(axes, runs)
    if by_day := passive_by_day(memory):
        with picture("passive_relevance", "Streamed memories that were used") as axes:
            _relevance(axes, by_day)
    return drawn


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
    names = [str(run.id) for run in runs]
    below = [0] * len(runs)
    for change in _CHANGES:
        counts = [receipt_of(run).get(change, 0) for run in runs]
        if any(counts):
            axes.bar(names, counts, bottom=below, label="new" if change == "stored" else change)
            below = [base + other for base, other in zip(below, counts, strict=True)]
    if any(below):
        axes.legend(frameon=False)
    axes.set_xlabel("run")
    axes.set_ylabel("changes")


def _relevance(axes: Any, by_day: Mapping[str, Share]) -> None:
    axes.plot(list(by_day), [100 * share.value for share in by_day.values()], marker="o")
    axes.set_ylim(0, 100)
    axes.set_ylabel("% of the memories of a day")
    axes.tick_params(axis="x", rotation=45)


def interest_plot(rows: Sequence[Curve], path: Path, *, title: str = "Interest over time") -> Path:
    """Draw the curves of the strongest entities, dislikes too, as PNG or SVG by the path's ending.

    Of more than ten curves those are drawn whose score was farthest from zero at any moment.
    Returns the path. Raises UsageError for another ending, for nothing to draw, for a curve whose
    moments and scores differ in number, and where matplotlib is missing; FactbookError where the
    file cannot be written.
    """
    if path.suffix.lower() not in _FORMATS:
        raise UsageError(detail=f"{path} ends with neither .png nor .svg; name the picture so")
    for row in rows:
        if len(row.moments) != len(row.scores):
            raise UsageError(
                detail=f"the curve of {row.name} has {len(row.moments)} moments and"
                f" {len(row.scores)} scores; give one score for each moment"
            )
    drawn = [row for row in rows if row.scores]
    if not drawn:
        raise UsageError(
            detail="there is no interest to draw yet; say what you like, or `/learn` something"
        )
    with _figure(path, title) as axes:
        _curves(axes, drawn)
    return path


def _curves(axes: Any, rows: Sequence[Curve]) -> None:
    strongest = sorted(rows, key=lambda row: (-max(map(abs, row.scores)), row.name))[: len(_COLORS)]
    ranked = sorted(strongest, key=lambda curve: (-curve.scores[-1], curve.name))  # as lines end
    for color, line in zip(_COLORS, ranked, strict=False):
        days = [datetime.fromtimestamp(at / 1000, tz=UTC) for at in line.moments]
        # matplotlib leaves out of the legend what begins with an underscore, and reads $ as math
        name = text.fit(text.one_line(line.name), _NAME_CHARS).replace("$", r"\$").lstrip("_")
        marker = "o" if len(days) == 1 else ""
        axes.plot(days, list(line.scores), color=color, label=name or "?", marker=marker)
    axes.axhline(0.0, color="#333333", linewidth=1)
    axes.legend(frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5), fontsize="small")
    axes.set_ylabel(f"interest (half-life {policy.INTEREST_HALF_LIFE_DAYS:.0f} days)")
    axes.tick_params(axis="x", rotation=30)
