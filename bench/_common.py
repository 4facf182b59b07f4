"""Share what every part of the bench needs: where the data is, tables, and JSON.

A part ends with `emit(figures, part="name", as_json=...)`; it prints tables with `print_table`
before that, unless the caller wants only JSON. Input that cannot be read is reported as
`BenchError`, whose text is one sentence that says what is wrong, where, and what to do; `run` turns
it into exit code 2.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Literal

from rich.console import Console
from rich.table import Table
from rich.text import Text

ROOT = Path(__file__).resolve().parent.parent  # the checkout
OUT = ROOT / "bench" / "out"  # figures as JSON, and plots
USAGE_ERROR = 2  # the exit code for input that cannot be used


class BenchError(Exception):
    """The bench cannot run: says what is wrong, where, and what to do."""


def data_dir() -> Path | None:
    """Find the folder with the data to measure on.

    It is the folder named by the environment variable FACTBOOK_DATA, else `../shared/data` beside
    the checkout, else None: parts then measure on what they generate themselves.
    """
    named = os.environ.get("FACTBOOK_DATA")
    if named:
        path = Path(named)
        if not path.is_dir():
            raise BenchError(f"FACTBOOK_DATA names {path}, which is no folder; correct or unset it")
        return path
    path = ROOT.parent / "shared" / "data"
    return path if path.is_dir() else None


def print_table(
    title: str, rows: Sequence[Mapping[str, object]], *, console: Console | None = None
) -> None:
    """Print rows as a table whose columns are the keys of the first row.

    Numbers stand right-aligned, floats with two decimals; None is shown as a dash.
    """
    table = Table(title=title, title_justify="left", title_style="bold")
    first = rows[0] if rows else {}
    for name, value in first.items():
        justify: Literal["left", "right"] = "right" if isinstance(value, int | float) else "left"
        table.add_column(name, justify=justify, overflow="fold")
    for row in rows:
        table.add_row(*(_cell(row.get(name)) for name in first))
    (console or Console()).print(table)


def _cell(value: object) -> Text:
    if value is None:
        return Text("-")
    return Text(f"{value:.2f}" if isinstance(value, float) else str(value))


def emit(figures: Mapping[str, object], *, part: str, as_json: bool) -> Path:
    """Write the figures of a part to `bench/out/<part>.json`, and print them as one JSON object.

    Without `as_json` nothing is printed, since the tables were. Returns the file.
    """
    OUT.mkdir(parents=True, exist_ok=True)
    path = OUT / f"{part}.json"
    text = json.dumps(figures, indent=2, ensure_ascii=False)
    path.write_text(text + "\n", encoding="utf-8")
    if as_json:
        sys.stdout.write(text + "\n")
    return path


def run(main: Callable[[], int]) -> int:
    """Run a part's main function and turn a `BenchError` into a sentence and an exit code."""
    try:
        return main()
    except BenchError as error:
        sys.stderr.write(f"bench: {error}\n")
        return USAGE_ERROR
