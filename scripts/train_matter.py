"""Train what tells a private question from one that can be looked up, and write its weights.

    python scripts/train_matter.py

A linear model over the vectors of the bundled embedder: one for English and one for every language
of `matter_questions.txt`, which is all that it is trained with. The weights go to
`src/factbook/interest/matter.json` with the id of the embedder that they belong to. Their error is
measured on other questions, by other hands: `python -m bench.privacy`.
"""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from factbook.embed import bundled

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

HERE: Final = Path(__file__).resolve().parent
OUT: Final = HERE.parent / "src" / "factbook" / "interest" / "matter.json"
FILLINGS: Final = 4  # questions that one with a slot makes
RIDGE: Final = 0.3  # of 0.1, 0.3 and 1 the best on the first half of the authors of the bench
STEPS: Final = 30  # of Newton's method; it stands still after 10
DIGITS: Final = 3


def questions() -> list[tuple[str, str, bool]]:
    """Return (language, question, whether it is private), the slots filled; the same each time."""
    slots: dict[tuple[str, str], list[str]] = {}
    found: list[tuple[str, str, bool]] = []
    chance = random.Random(3)
    for line in (HERE / "matter_questions.txt").read_text("utf-8").splitlines():
        if not line or line.startswith("#"):
            continue
        kind, *rest = line.split(" ", 2)
        if kind == "=":
            slots[rest[0], rest[1].split(" ", 1)[0]] = []
            slot, filled = rest[0], rest[1].split(" ", 1)
            slots[slot, filled[0]] = filled[1].split("|")
            continue
        language, frame = rest
        times = FILLINGS if "{" in frame else 2
        for _ in range(times):
            text = frame
            for slot in "nktfg":
                while f"{{{slot}}}" in text:
                    words = slots.get((slot, language)) or slots[slot, "*"]
                    text = text.replace(f"{{{slot}}}", chance.choice(words), 1)
            found.append((language, text, kind == "p"))
    return found


def trained(vectors: Floats, private: NDArray[np.bool_]) -> Floats:
    """Return the weights and the bias of a ridge logistic regression with balanced classes."""
    rows = np.hstack([vectors, np.ones((len(vectors), 1))])
    share = private.mean()
    weight = np.where(private, 0.5 / share, 0.5 / (1 - share))
    penalty = np.full(rows.shape[1], RIDGE)
    penalty[-1] = 1e-3
    found = np.zeros(rows.shape[1])
    for _ in range(STEPS):
        guess = 1 / (1 + np.exp(-rows @ found))
        slope = rows.T @ (weight * (guess - private)) + penalty * found
        bend = (rows * (weight * guess * (1 - guess))[:, None]).T @ rows + np.diag(penalty)
        found -= np.linalg.solve(bend, slope)
    return np.asarray(found, dtype=np.float64)


def main() -> None:
    """Train both and write them."""
    every = questions()
    embedder = bundled()
    vectors = np.asarray(embedder.embed([text for _, text, _ in every]), dtype=np.float64)
    private = np.array([one for *_, one in every])
    english = np.array([language == "en" for language, *_ in every])
    weights = {
        "en": trained(vectors[english], private[english]),
        "*": trained(vectors, private),
    }
    shown = {name: [round(float(one), DIGITS) for one in row] for name, row in weights.items()}
    text = json.dumps({"embedder": embedder.id, "weights": shown}, separators=(",", ":"))
    OUT.write_text(text.replace("],", "],\n") + "\n", "utf-8")
    print(f"{len(every)} questions, {OUT.stat().st_size} bytes")


if __name__ == "__main__":
    main()
