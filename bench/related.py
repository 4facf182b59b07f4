"""Choose from which chances on the reader's network merges, retires and asks (`policy.RELATED`).

    python -m bench.related [--rows DIR] [--skip N] [--harmed P] [--strangers P] [--asked P]

The pairs are those of `data/language/ordinary`, part `tune`, and of `train` all but the first N,
which the network knows best: give how many it saw in more than its last passes. Beside the three
labels stand strangers: statements of different rows by one writer that are nearest to each other,
of which none ends or repeats another. A memory holds many of them for each pair that has something
to do with another, so what happens to them counts most. For each threshold of chance and cosine the
bounds are: percent of the look-alikes and of the strangers that would be merged or retired (each of
the two has half of it; so many changes may be merged too, and rewordings retired), and percent of
the strangers that would be asked about. Within them the most reach wins.
"""

from __future__ import annotations

import argparse
import math
import random
from collections import defaultdict
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from bench._common import emit, print_table, run
from bench.ordinary import FOLDER, rows_of
from factbook import policy
from factbook.embed import bundled
from factbook.gate.reading import read
from factbook.gate.related import RelatedTexts, related
from factbook.language.reader.relate import RELATER

STRANGER: Final = "stranger"
CHANCES: Final = (0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99, 0.995, 0.997, 0.999)
COSINES: Final = (0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75)
SURE: Final = 0.6  # the least chance on which something is done unasked
NEIGHBOURS: Final = 3  # of each statement

Labelled = tuple[str, RelatedTexts]


def strangers(rows: Sequence[dict[str, Any]], most: int) -> list[tuple[str, str]]:
    """Return statements of different rows that are near each other, by one writer each."""
    by_writer: defaultdict[str, list[tuple[int, str]]] = defaultdict(list)
    for n, row in enumerate(rows):
        by_writer[row["a"].partition(".")[0]] += [(n, row["old"]), (n, row["new"])]
    chance = random.Random(1)
    found = []
    for written in by_writer.values():
        vectors = bundled().embed([text for _, text in written])
        for at in chance.sample(range(len(written)), min(len(written), most // len(by_writer))):
            order = np.argsort(-(vectors @ vectors[at]))
            far = [int(n) for n in order if written[n][0] != written[at][0]][:NEIGHBOURS]
            found += [(written[n][1], written[at][1]) for n in far]
    return found


def scored(pairs: Sequence[tuple[str, str, str]]) -> list[Labelled]:
    """Read pairs (label, older, newer) as the judge does."""
    vectors = bundled().embed([text for _, *both in pairs for text in both])
    return [
        (
            label,
            related(
                (older, read(older)),
                (newer, read(newer)),
                float(vectors[2 * n] @ vectors[2 * n + 1]),
                RELATER,
            ),
        )
        for n, (label, older, newer) in enumerate(pairs)
    ]


def may_be_asked(texts: RelatedTexts) -> bool:
    """Tell whether two texts may be of one matter."""
    return texts.no_end != "other" and texts.nearness >= policy.RELATED["ask_cosine"]


def columns(scores: Sequence[RelatedTexts]) -> dict[str, Any]:
    """Return each step's chances, 0 where it is forbidden."""
    return {
        "merge": np.array([0 if s.no_merge else s.chances.reword for s in scores]),
        "end": np.array(
            [0 if s.no_end else min(s.chances.change, s.chances.changed_back) for s in scores]
        ),
        "ask": np.array([s.doubt if may_be_asked(s) else -np.inf for s in scores]),
    }


def choose(
    scores: Sequence[Labelled], bounds: dict[str, tuple[float, float]]
) -> tuple[dict[str, float], dict[str, dict[str, float]]]:
    """Return the numbers, and what share of each label each step takes, in percent.

    `bounds` says for each step what percent of look-alikes and of strangers it may take.
    """
    labels = np.array([label for label, _ in scores])
    similar = np.array([s.similarity for _, s in scores])
    chances = columns([s for _, s in scores])

    def shares_of(passes: NDArray[np.bool_]) -> dict[str, float]:
        return {
            label: 100 * float(passes[labels == label].mean()) for label in set(labels.tolist())
        }

    numbers: dict[str, float] = {}
    taken: dict[str, dict[str, float]] = {}
    for step, wanted in (("merge", "reword"), ("end", "change")):
        none: dict[str, float] = {}
        best = (-1.0, 1.01, 1.01, none)  # a chance that nothing has
        for chance, cosine in product(CHANCES, COSINES):
            if chance < SURE:
                continue
            shares = shares_of((chances[step] >= chance) & (similar >= cosine))
            wrong = max(shares["lookalike"], shares["change" if step == "merge" else "reword"])
            if wrong <= bounds[step][0] and shares[STRANGER] <= bounds[step][1]:
                best = max(best, (shares[wanted], chance, cosine, shares), key=lambda b: b[:3])
        numbers |= {step: best[1], f"{step}_cosine": best[2]}
        taken[step] = best[3]
    told = np.sort(chances["ask"][labels == STRANGER])[::-1]
    least = told[min(len(told) - 1, int(len(told) * bounds["ask"][1] / 100))]
    least = max(float(least), 0.0)
    numbers["ask"] = math.floor(10 * least) / 10 + 0.1
    numbers["ask_cosine"] = policy.RELATED["ask_cosine"]
    taken["ask"] = shares_of(chances["ask"] >= numbers["ask"])
    return numbers, taken


def main() -> int:
    """Score the pairs, print the numbers for `policy.RELATED`."""
    parser = argparse.ArgumentParser(prog="python -m bench.related", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--rows", type=Path, default=FOLDER, help="the folder of the rows")
    parser.add_argument("--skip", type=int, default=0, help="the first rows, which were trained on")
    parser.add_argument("--most", type=int, default=400, help="statements that strangers are for")
    parser.add_argument("--harmed", type=float, default=3.3, help="percent of the look-alikes")
    parser.add_argument("--strangers", type=float, default=3.0, help="percent of them harmed")
    parser.add_argument("--asked", type=float, default=12.0, help="percent of strangers asked")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    rows = list(rows_of(given.rows, "pairs", "tune"))
    rows += list(rows_of(given.rows, "pairs", "train"))[given.skip :]
    pairs = [(row["label"], row["old"], row["new"]) for row in rows]
    pairs += [(STRANGER, older, newer) for older, newer in strangers(rows, given.most)]
    half = (given.harmed / 2, given.strangers / 2)
    numbers, taken = choose(
        scored(pairs), {"merge": half, "end": half, "ask": (100.0, given.asked)}
    )
    if not given.json:
        print_table("policy.RELATED", [{step: str(n) for step, n in numbers.items()}])
        print_table("percent of the pairs", [{"step": k, **v} for k, v in taken.items()])
    emit({"numbers": numbers, "taken": taken}, part="related", as_json=given.json)
    return 0


if __name__ == "__main__":
    raise SystemExit(run(main))
