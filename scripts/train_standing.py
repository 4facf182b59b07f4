"""Train what tells rules and decisions in prompts, and write its weights beside the reader's.

    python scripts/train_standing.py --logs FOLDER

A layer over what the reader's network knows of a sentence, by logistic regression
(`factbook.language.reader.standing`). It learns from prompts that developers typed, which
`data/language/logged_prompts.jsonl.xz` labels by their hashes, and, of less weight each, from
`prompts.train` and `chats.train` of `data/language/ordinary`; in the chats there are no rules. The
typed prompts stay where they were published, in mirrors below FOLDER, each FOLDER/OWNER+NAME or
FOLDER/OWNER+NAME/repo. The layer belongs to one network: with every new one it is trained anew.
Figures on the part `held` of both kinds of prompts go to the screen.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
from scipy.sparse import csr_matrix, hstack, vstack
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import precision_recall_curve

import logged
from factbook.language.reader.network import DATA
from factbook.language.reader.read import sentences_of
from factbook.language.reader.standing import PLACES, signs_of
from reader import files, rows

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

ORDINARY: Final = logged.LANGUAGE / "ordinary"
OURS: Final = 0.15  # what a prompt of ours weighs beside a typed one: they hold rules more often
CHATS: Final = 2_000  # messages of our chats that are looked through for such without a request
RIDGE: Final = 0.7
SCALE: Final = 0.05  # of the network's numbers, each in its standard deviations
MOST_STEPS: Final = 300
SHARE: Final = 0.5  # of a sentence, or of what is marked, that makes it one that states it
PRECISIONS: Final = (0.3, 0.5, 0.75)


Prompt = tuple[str, list[tuple[int, int]]]  # with the places of what holds on


class Told(NamedTuple):
    """Sentences: what the network knows of them, their words and letters, what they state."""

    row: Floats  # (sentences, 784)
    signs: Any  # sparse, (sentences, 2 * PLACES)
    right: NDArray[np.bool_]


def of_our_own(part: str) -> Iterator[Prompt]:
    """Yield our prompts with the places of what holds on."""
    for row in rows.lines(ORDINARY / f"prompts.{part}.jsonl.xz"):
        places = rows.quoted_spans(row["text"], [mark["q"] for mark in row["marks"]])
        yield row["text"], [place for place in places if place is not None]


def of_chats() -> Iterator[Prompt]:
    """Yield what people say to an assistant of their lives, and ask nothing: no rule is in it."""
    for row in islice(rows.lines(ORDINARY / "chats.train.jsonl.xz"), CHATS):
        if all(clause["act"] != "want" for clause in row["clauses"]):
            yield row["text"], []


def of_logs(folder: Path, part: str) -> Iterator[Prompt]:
    """Yield the labelled prompts of logs with the places of what holds on."""
    for row, log in logged.logs("prompts", part, folder):
        left = dict(row["prompts"])
        for text in map(str.strip, logged.said(log, row["path"], "user")):
            marks = left.pop(logged.named(text), None)  # a log that goes on says all again
            if marks is not None:
                yield text, [(begin, end) for begin, end, _ in marks]


def told(prompts: Iterator[Prompt]) -> Told:
    """Read prompts sentence by sentence."""
    known: list[Floats] = []
    signs: list[tuple[list[int], list[int]]] = []
    right: list[bool] = []
    for text, places in prompts:
        for words, row in sentences_of(text):
            known.append(row)
            signs.append(signs_of(words))
            right.append(any(_states(words[0].begin, words[-1].end, *mark) for mark in places))
    return Told(
        np.array(known),
        hstack([_sparse([one[n] for one in signs]) for n in (0, 1)]),
        np.array(right),
    )


def _states(begin: int, end: int, first: int, last: int) -> bool:
    both = min(end, last) - max(begin, first)
    return both > 0 and both >= SHARE * min(end - begin, last - first)


def _sparse(rows_of_places: Sequence[Sequence[int]]) -> Any:
    sizes = [len(places) for places in rows_of_places]
    held = np.repeat([max(1, size) ** -0.5 for size in sizes], sizes)
    bounds = np.cumsum([0, *sizes])
    columns = np.concatenate([np.array(places, np.int64) for places in rows_of_places])
    return csr_matrix((held, columns, bounds), shape=(len(sizes), PLACES))


def learned(parts: Sequence[tuple[float, Told]]) -> dict[str, NDArray[Any]]:
    """Return the weights, of sentences that weigh something each."""
    weights = np.concatenate([np.full(len(some.right), weight) for weight, some in parts])
    right = np.concatenate([some.right for _, some in parts])
    rows_ = np.concatenate([some.row for _, some in parts])
    # by what is typed alone: our own prompts are of another kind
    mean, spread = parts[0][1].row.mean(0), parts[0][1].row.std(0) + 1e-6
    scaled = SCALE * (rows_ - mean) / spread
    seen = hstack([csr_matrix(scaled), vstack([some.signs for _, some in parts])]).tocsr()
    model = LogisticRegression(C=1 / RIDGE, max_iter=MOST_STEPS).fit(seen, right, weights)
    size = rows_.shape[1]
    of_row = SCALE * model.coef_[0][:size] / spread
    of_signs = model.coef_[0][size:].reshape(2, PLACES)
    scale = np.abs(of_signs).max(axis=1) / 127
    short = np.round(of_signs / scale[:, None]).astype(np.int8)
    return {
        "row": of_row.astype(np.float32),
        "words": short[0],
        "letters": short[1],
        "scale": scale.astype(np.float32),
        "bias": np.float64(model.intercept_[0] - mean @ of_row),
    }


def figures(held: dict[str, NDArray[Any]], some: Told) -> str:
    """Say how many of the sentences that state something are found, at which precision."""
    weights = np.concatenate([held["words"] * held["scale"][0], held["letters"] * held["scale"][1]])
    odds = some.row @ held["row"] + some.signs @ weights + held["bias"]
    precision, recall, _ = precision_recall_curve(some.right, odds)
    found = [max(recall[precision >= least]) for least in PRECISIONS]
    shown = ", ".join(
        f"{100 * r:.0f} at {100 * p:.0f} %" for p, r in zip(PRECISIONS, found, strict=True)
    )
    return f"{int(some.right.sum())} of {len(some.right)} sentences, found of 100: {shown}"


def main() -> None:
    """Train it, measure it, and write it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--logs", type=Path, required=True, help="a folder of mirrors")
    options = parser.parse_args()
    typed = told(of_logs(options.logs, "train"))
    ours = told(chain(of_our_own("train"), of_chats()))
    held = learned([(1.0, typed), (OURS, ours)])
    record = json.loads((DATA / "reader.json").read_text("utf-8"))
    held["reader"] = np.array(record["files"]["reader.onnx"]["sha256"])
    np.savez_compressed(DATA / "standing.npz", **held)
    files.write(DATA, record)
    print("typed:", figures(held, told(of_logs(options.logs, "held"))))
    print("ours:", figures(held, told(of_our_own("held"))))


if __name__ == "__main__":
    main()
