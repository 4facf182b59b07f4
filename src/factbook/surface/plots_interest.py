"""Draw what an owner cares about: curves over time as a file, and bars for a terminal.

The file needs matplotlib, which comes with the `bench` extra; the bars need nothing. Knows: names,
scores, times. Does not know: the store, or how a score comes about.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from factbook import policy
from factbook.errors import FactbookError, UsageError
from factbook.memory.reasons import Curve
from factbook.model.facts import Millis
from factbook.surface import text

__all__ = ["Standing", "interest_lines", "interest_plot"]

_SIZE: Final = (8.0, 4.5)  # inches
_DPI: Final = 110
_CURVES: Final = 10  # that a reader can still tell apart: the palette below
_COLORS: Final = (
    "#2b7a3d",
    "#b5442e",
    "#2f6690",
    "#d9a21b",
    "#8e7cc3",
    "#3a9188",
    "#a05195",
    "#6c7a89",
    "#7f5539",
    "#d45087",
)
_NAME_CHARS: Final = 32  # of a name in the legend
_FORMATS: Final = (".png", ".svg")
_HALF: Final = 12  # cells of a bar on either side of zero
_NAME_CELLS: Final = 40  # of a name beside its bar


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """The interest in one entity now."""

    name: str
    score: float
    fact_count: int
    last_activity: Millis | None  # of its newest fact or engagement


def interest_plot(rows: Sequence[Curve], path: Path, *, title: str = "Interest over time") -> Path:
    """Draw the curves of the strongest entities, dislikes too, as PNG or SVG by the path's ending.

    Of more than ten curves those are drawn whose score was farthest from zero at any moment.
    Returns the path. Raises UsageError for another ending, for nothing to draw, for a curve whose
    moments and scores differ in number, and where matplotlib is missing; FactbookError where the
    file cannot be written.
    """
    if path.suffix.lower() not in _FORMATS:
        raise UsageError(detail=f"{path} ends with neither .png nor .svg; name the picture so")
    for one in rows:
        if len(one.moments) != len(one.scores):
            raise UsageError(
                detail=f"the curve of {one.name} has {len(one.moments)} moments and"
                f" {len(one.scores)} scores; give one score for each moment"
            )
    drawn = [one for one in rows if one.scores]
    if not drawn:
        raise UsageError(
            detail="there is no interest to draw yet; say what you like, or `/learn` something"
        )
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
            _curves(axes, drawn)
            axes.set_title(title)
            path.parent.mkdir(parents=True, exist_ok=True)
            stamp = {"Date": None} if path.suffix.lower() == ".svg" else {}
            figure.savefig(path, metadata=stamp)
        except OSError as error:
            raise FactbookError(
                detail=f"{error.filename or path} cannot be written ({error.strerror});"
                " name another file for the picture"
            ) from error
        finally:
            pyplot.close(figure)
    return path


def _curves(axes: Any, rows: Sequence[Curve]) -> None:
    strongest = sorted(rows, key=lambda one: (-max(map(abs, one.scores)), one.name))[:_CURVES]
    ranked = sorted(strongest, key=lambda one: (-one.scores[-1], one.name))  # as the lines end
    for color, one in zip(_COLORS, ranked, strict=False):
        days = [datetime.fromtimestamp(at / 1000, tz=UTC) for at in one.moments]
        # matplotlib leaves out of the legend what begins with an underscore, and reads $ as math
        name = text.fit(text.one_line(one.name), _NAME_CHARS).replace("$", r"\$").lstrip("_")
        marker = "o" if len(days) == 1 else ""
        axes.plot(days, list(one.scores), color=color, label=name or "?", marker=marker)
    axes.axhline(0.0, color="#333333", linewidth=1)
    axes.legend(frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5), fontsize="small")
    axes.set_ylabel(f"interest (half-life {policy.INTEREST_HALF_LIFE_DAYS:.0f} days)")
    axes.tick_params(axis="x", rotation=30)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


def interest_lines(
    rows: Sequence[Standing], *, width: int | None, color: bool, plain: bool = False
) -> list[str]:
    """Return the ranking as lines for a terminal: a bar to either side of zero, and the numbers.

    The rows stand as they are given; the longest bar is the score farthest from zero. `plain` draws
    with ASCII signs, for a terminal that shows no others. Names are made safe.
    """
    most = max((abs(one.score) for one in rows), default=0.0)
    columns = [
        text.Column(title="#", style="dim", right=True, least=1),
        text.Column(title="entity", style="bold", most=_NAME_CELLS, flexible=True),
        text.Column(title="", least=2 * _HALF + 1, optional=True),
        text.Column(title="interest", right=True),
        text.Column(title="facts", right=True),
        text.Column(title="last activity", style="dim", optional=True),
    ]
    table = [
        [
            str(place),
            one.name,
            _bar(one.score / most if most else 0.0, plain=plain),
            _shown(one.score),
            text.count(one.fact_count),
            text.moment(one.last_activity),
        ]
        for place, one in enumerate(rows, start=1)
    ]
    return list(text.table(columns, table, width=width, color=color))


def _shown(score: float) -> str:
    """Return a score with its sign; one that rounds to nothing has none."""
    found = f"{score:+.2f}"
    return "0.00" if float(found) == 0 else found


def _bar(value: float, *, plain: bool) -> str:
    """Return a bar for -1 to 1 around an axis in the middle.

    The blanks on its left are the axis's own, since a table drops those of a cell.
    """
    full, empty, axis = ("#", ".", "|") if plain else ("█", "·", "│")
    cells = min(_HALF, round(_HALF * abs(value)))
    if cells == 0 and value:
        cells = 1  # little is not nothing
    left = cells if value < 0 else 0
    right = cells if value > 0 else 0
    return empty * (_HALF - left) + full * left + axis + full * right + empty * (_HALF - right)
