"""Train what tells the sentences of a reply that report something, and write its weights.

    python scripts/train_reports.py --logs FOLDER

A linear model over the signs of `factbook.extract.reports`, by logistic regression.
It is trained with sentences of our own, `reports.train` of `data/language/ordinary`, and with those
of logs of public projects that `data/language/logged_reports.jsonl.xz` labels by their hashes: the
sentences stay where they were published, in mirrors below FOLDER, each FOLDER/OWNER+NAME or
FOLDER/OWNER+NAME/repo. Each sentence is one example for every rule whose words it holds. The
weights go to `src/factbook/extract/data/reports.json`, and the figures on the part `held` of the
logs to the screen; `python -m bench.ordinary --sets reports` measures on our own sentences.
"""

from __future__ import annotations

import argparse
import json
from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np
from sklearn.linear_model import LogisticRegression

import logged
from factbook.extract.base import Rule
from factbook.extract.prose import announced, candidates, keyword_pattern, snippets
from factbook.extract.reports import LIKELY, PLACES, SIGN_WEIGHT, masked, signs
from factbook.extract.session_parser import RULES
from reader.rows import lines

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

HERE: Final = Path(__file__).resolve().parent
SENTENCES: Final = logged.LANGUAGE / "ordinary" / "reports.train.jsonl.xz"
OUT: Final = HERE.parent / "src" / "factbook" / "extract" / "data" / "reports.json"
RIDGE: Final = 5.0
MOST_STEPS: Final = 1000
PROSE: Final = tuple(rule for rule in RULES if rule.find is snippets)
WORDS: Final = {rule.predicate: keyword_pattern(rule.keywords) for rule in PROSE}


def of_our_own() -> Iterator[tuple[Floats, float]]:
    """Yield every sentence of ours as each rule meets it whose words it holds."""
    for row in lines(SENTENCES):
        lower = masked(row["text"]).lower()
        for rule in PROSE:
            if not WORDS[rule.predicate].search(lower):
                continue
            seen = signs(row["text"], rule.predicate, WORDS[rule.predicate], lead=row["lead"])
            yield _row(seen), float(rule.predicate in row["says"])


def of_logs(folder: Path, part: str) -> Iterator[tuple[Floats, float]]:
    """Yield the labelled sentences of the logs of a part, as each rule meets them."""
    for row, log in logged.logs("reports", part, folder):
        met = set[tuple[str, str, str]]()  # a log that goes on says all again
        for text in logged.said(log, row["path"], "assistant"):
            for rule in PROSE:
                met |= {(rule.predicate, *said) for said in _met(text, rule)}
        for kind, sentence, lead in sorted(met):
            says = row["sentences"].get(logged.named(sentence, lead))
            if says is not None:
                seen = signs(sentence, kind, WORDS[kind], lead=lead)
                yield _row(seen), float(kind in says)


def _met(text: str, rule: Rule) -> Iterator[tuple[str, str]]:
    """Yield what a rule judges of a reply: sentences, and the lines that lead to them."""
    for candidate in candidates(text, rule):
        yield candidate.place.of(text), candidate.lead
        if both := announced(text, candidate, rule):
            yield both.of(text), ""


def _row(places: set[int]) -> Floats:
    row = np.zeros(PLACES, dtype=np.float32)
    row[list(places)] = SIGN_WEIGHT / np.sqrt(len(places))
    return row


def main() -> None:
    """Train it, measure it, and write it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--logs", type=Path, required=True, help="a folder of mirrors")
    options = parser.parse_args()
    rows, right = map(np.array, zip(*of_our_own(), *of_logs(options.logs, "train"), strict=True))
    model = LogisticRegression(C=1 / RIDGE, max_iter=MOST_STEPS).fit(rows, right)
    weights = np.append(model.coef_[0], model.intercept_[0])
    scale = float(np.abs(weights[:-1]).max()) / 127
    held = {
        "words": sorted(word for rule in PROSE for word in rule.keywords),
        "scale": round(scale, 8),
        "bias": round(float(weights[-1]), 6),
        "int8": b64encode(np.round(weights[:-1] / scale).astype(np.int8).tobytes()).decode("ascii"),
    }
    OUT.write_text(json.dumps(held, indent=1) + "\n", "utf-8")
    print(f"{len(rows)} examples, {OUT.stat().st_size} bytes")
    rows, right = map(np.array, zip(*of_logs(options.logs, "held"), strict=True))
    shown = rows @ (np.round(weights[:-1] / scale) * scale) + weights[-1] >= LIKELY
    print(
        f"held logs: {int(shown.sum())} of {len(rows)} shown, {int((shown * right).sum())} of them"
        f" right, of {int(right.sum())} that report"
    )


if __name__ == "__main__":
    main()
