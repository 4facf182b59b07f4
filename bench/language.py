"""Measure the rules that read English on the labelled sets of `data/language`.

    python -m bench.language [--set NAME ...] [--show] [--json] [--write-floors]

Each row has the labels that are right (`expected`); a reader of `bench.language_rules` gives it
those that the rules read. Precision is the share of the labels given that are right, recall the
share of the right ones that are given, over all rows of a set. A set has a floor for each, and may
not lose rows. `--write-floors` makes the floors again: the figures less 0.02, rounded down.
"""

from __future__ import annotations

import argparse
import json
import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from rich.console import Console

from bench._common import ROOT, BenchError, emit, print_table, run
from bench.language_rules import READERS, Row

FOLDER: Final = ROOT / "data" / "language"
FLOORS: Final = FOLDER / "floors.json"
SLACK: Final = 0.02  # what a change of method may trade of single rows


@dataclass(frozen=True, slots=True, kw_only=True)
class Wrong:
    """A row that is read wrong."""

    row: Row
    found: Sequence[str]

    def __str__(self) -> str:
        """Return the row, and what was read of it."""
        return f"{json.dumps(self.row, ensure_ascii=False)}\n  read as {self.found}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """How well a set is read."""

    name: str
    rows: int
    precision: float
    recall: float
    wrong: Sequence[Wrong] = field(default=(), repr=False)


def rows_of(name: str) -> list[dict[str, Any]]:
    """Return the rows of a set."""
    path = FOLDER / f"{name}.jsonl"
    if not path.is_file():
        raise BenchError(f"{path} is not there; the sets are {', '.join(READERS)}")
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def score(name: str, rows: Iterable[Row], reader: Callable[[Row], Sequence[str]]) -> Score:
    """Read every row and count the labels that are right."""
    right = given = wanted = count = 0
    wrong = []
    for row in rows:
        count += 1
        found, expected = Counter(reader(row)), Counter(row["expected"])
        right += (found & expected).total()
        given += found.total()
        wanted += expected.total()
        if found != expected:
            wrong.append(Wrong(row=row, found=list(found.elements())))
    return Score(
        name=name,
        rows=count,
        precision=right / given if given else 1.0,
        recall=right / wanted if wanted else 1.0,
        wrong=wrong,
    )


def floors() -> dict[str, dict[str, float]]:
    """Return the floors of every set: rows, precision, recall."""
    found: dict[str, dict[str, float]] = json.loads(FLOORS.read_text(encoding="utf-8"))
    return found


def write_floors(scores: Sequence[Score]) -> None:
    """Write the floors of what was measured beside those of the other sets."""
    made = floors() if FLOORS.is_file() else {}
    for one in scores:
        made[one.name] = {"rows": one.rows} | {
            name: math.floor((figure - SLACK) * 1000) / 1000
            for name, figure in (("precision", one.precision), ("recall", one.recall))
        }
    FLOORS.write_text(json.dumps(made, indent=2, sort_keys=True) + "\n", encoding="utf-8")


def main() -> int:
    """Print the figures by set; returns 1 where one is below its floor."""
    parser = argparse.ArgumentParser(prog="python -m bench.language", description=__doc__)
    parser.add_argument("--set", action="append", choices=list(READERS), dest="sets")
    parser.add_argument("--show", action="store_true", help="print the rows that are read wrong")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--write-floors", action="store_true")
    given = parser.parse_args()
    scores = [score(name, rows_of(name), READERS[name]) for name in given.sets or READERS]
    if given.write_floors:
        write_floors(scores)
    lowest = floors()
    table = [
        {
            "set": one.name,
            "rows": one.rows,
            "precision": one.precision,
            "floor": lowest[one.name]["precision"],
            "recall": one.recall,
            "floor of recall": lowest[one.name]["recall"],
            "wrong": len(one.wrong),
        }
        for one in scores
    ]
    if not given.json:
        print_table("English rules, on data/language", table)
    if given.show:
        console = Console(highlight=False, markup=False, soft_wrap=True)
        for one in scores:
            for wrong in one.wrong:
                console.print(f"{one.name}: {wrong}")
    emit({"sets": table}, part="language", as_json=given.json)
    return int(any(below(one, lowest[one.name]) for one in scores))


def below(one: Score, floor: Mapping[str, float]) -> bool:
    """Say whether a set is read worse than its floor, or has lost rows."""
    figures = {"rows": one.rows, "precision": one.precision, "recall": one.recall}
    return any(figures[name] < lowest for name, lowest in floor.items())


if __name__ == "__main__":
    raise SystemExit(run(main))
