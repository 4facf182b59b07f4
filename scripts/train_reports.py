"""Train what tells the sentences of a reply that report something, and write its weights.

    python scripts/train_reports.py

A linear model over the signs of `factbook.extract.reports`, by ridge regression on the log odds,
trained with the sentences of our own in `report_sentences.txt`. Each is one example for every rule
whose words it holds. The weights go to `src/factbook/extract/data/reports.json`; printed is how
well fifths of the sentences are told by the other four.
"""

from __future__ import annotations

import json
import zlib
from base64 import b64encode
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from factbook.extract.prose import keyword_pattern
from factbook.extract.reports import LIKELY, PLACES, SIGN_WEIGHT, masked, signs
from factbook.extract.session_parser import RULES

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

HERE: Final = Path(__file__).resolve().parent
SENTENCES: Final = HERE / "report_sentences.txt"
OUT: Final = HERE.parent / "src" / "factbook" / "extract" / "data" / "reports.json"
LABELS: Final = {"fault": "identifies_issue", "fix": "provides_solution", "found": "discovery"}
RIDGE: Final = 0.1
STEPS: Final = 12
FIFTHS: Final = 5


class Example(NamedTuple):
    """A sentence as one rule meets it."""

    text: str
    row: Floats
    right: bool


def examples() -> list[Example]:
    """Return every sentence for each rule whose words it holds; raises ValueError without any."""
    words = {
        rule.predicate: keyword_pattern(rule.keywords)
        for rule in RULES
        if rule.predicate in LABELS.values()
    }
    made: list[Example] = []
    for line in SENTENCES.read_text("utf-8").splitlines():
        if line.startswith("#"):
            continue
        labels, _, whole = line.partition("|")
        lead, _, text = whole.rpartition(" >> ")
        right = {LABELS[label] for label in labels.split(",") if label != "none"}
        asked = [kind for kind, some in words.items() if some.search(masked(text).lower())]
        if not right <= set(asked) or not asked:
            raise ValueError(f"no rule is asked about: {line}")
        made += [
            Example(whole, _row(signs(text, kind, words[kind], lead=lead)), kind in right)
            for kind in asked
        ]
    return made


def _row(places: set[int]) -> Floats:
    row = np.zeros(PLACES + 1)
    row[list(places)] = SIGN_WEIGHT / np.sqrt(len(places))
    row[PLACES] = 1.0
    return row


def fitted(rows: Floats, right: Floats) -> Floats:
    """Return the weights, the bias last, by Newton's method on as many unknowns as rows."""
    penalty = np.full(rows.shape[1], RIDGE)
    penalty[-1] = 1e-3
    weights = np.zeros(rows.shape[1])
    eased = rows / penalty
    alike = eased @ rows.T
    for _ in range(STEPS):
        chance = 1 / (1 + np.exp(-rows @ weights))
        slope = rows.T @ (chance - right) + penalty * weights
        inner = np.diag(1 / np.maximum(chance * (1 - chance), 1e-4)) + alike
        weights -= slope / penalty - eased.T @ np.linalg.solve(inner, eased @ slope)
    return weights


def main() -> None:
    """Train it, print how well it tells, and write it."""
    made = examples()
    rows = np.array([one.row for one in made])
    right = np.array([float(one.right) for one in made])
    part = np.array([zlib.crc32(one.text.encode()) % FIFTHS for one in made])
    odds = np.zeros(len(made))
    for fifth in range(FIFTHS):
        odds[part == fifth] = rows[part == fifth] @ fitted(
            rows[part != fifth], right[part != fifth]
        )
    told = odds >= LIKELY
    print(
        f"{len(made)} examples, {int(right.sum())} reports: of those told "
        f"{right[told].mean():.3f} are right, of the right {told[right > 0].mean():.3f} are told"
    )
    weights = fitted(rows, right)
    scale = float(np.abs(weights[:-1]).max()) / 127
    held = {
        "words": sorted(
            word for rule in RULES if rule.predicate in LABELS.values() for word in rule.keywords
        ),
        "scale": round(scale, 8),
        "bias": round(float(weights[-1]), 6),
        "int8": b64encode(np.round(weights[:-1] / scale).astype(np.int8).tobytes()).decode("ascii"),
    }
    OUT.write_text(json.dumps(held, indent=1) + "\n", "utf-8")
    print(f"{OUT.stat().st_size} bytes")


if __name__ == "__main__":
    main()
