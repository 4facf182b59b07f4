"""Train what tells the sentences of a reply that report something, and write its weights.

    python scripts/train_reports.py

A linear model over the signs of `factbook.extract.reports`, by ridge regression on the log odds,
trained with the sentences of our own in `reports.train` of `data/language/ordinary`. Each is one
example for every rule whose words it holds. The weights go to
`src/factbook/extract/data/reports.json`;
`python -m bench.ordinary --sets reports` measures them.
"""

from __future__ import annotations

import json
import lzma
from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from factbook.extract.prose import keyword_pattern, snippets
from factbook.extract.reports import PLACES, SIGN_WEIGHT, masked, signs
from factbook.extract.session_parser import RULES

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

HERE: Final = Path(__file__).resolve().parent
SENTENCES: Final = HERE.parent / "data" / "language" / "ordinary" / "reports.train.jsonl.xz"
OUT: Final = HERE.parent / "src" / "factbook" / "extract" / "data" / "reports.json"
RIDGE: Final = 0.1
STEPS: Final = 12


def examples() -> Iterator[tuple[Floats, float]]:
    """Yield every sentence as each rule meets it whose words it holds, and whether it reports."""
    words = {
        rule.predicate: keyword_pattern(rule.keywords) for rule in RULES if rule.find is snippets
    }
    with lzma.open(SENTENCES, "rt", encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            for kind, some in words.items():
                if some.search(masked(row["text"]).lower()):
                    seen = signs(row["text"], kind, some, lead=row["lead"])
                    yield _row(seen), float(kind in row["says"])


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
    """Train it, and write it."""
    rows, right = map(np.array, zip(*examples(), strict=True))
    weights = fitted(rows, right)
    scale = float(np.abs(weights[:-1]).max()) / 127
    held = {
        "words": sorted(word for rule in RULES if rule.find is snippets for word in rule.keywords),
        "scale": round(scale, 8),
        "bias": round(float(weights[-1]), 6),
        "int8": b64encode(np.round(weights[:-1] / scale).astype(np.int8).tobytes()).decode("ascii"),
    }
    OUT.write_text(json.dumps(held, indent=1) + "\n", "utf-8")
    print(f"{OUT.stat().st_size} bytes")


if __name__ == "__main__":
    main()
