"""Train what tells likes and dislikes, and write its weights beside the reader's.

    python scripts/train_taste.py --corpora FOLDER

A layer over what the reader's network knows of a thing (`factbook.language.reader.taste`), by
logistic regression: neither, liked, disliked. It learns from messages that people published
(`reader.messages`: labelled by their hashes, their corpora lie in FOLDER) and from `opinions.train`
of `data/language/ordinary`. It belongs to one network: with every new one it is trained anew. What
is heard with it, `scripts/measure_messages.py` and `python -m bench.ordinary` measure.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from scipy.sparse import csr_matrix, hstack
from sklearn.linear_model import LogisticRegression

from factbook.language.reader import labels
from factbook.language.reader.network import DATA, shared
from factbook.language.reader.read import things_of
from factbook.language.reader.taste import PLACES, Thing
from reader import files, messages, rows
from reader.corpora import Corpora

if TYPE_CHECKING:
    from numpy.typing import NDArray

OURS: Final = 1.0  # what a thing of our own messages weighs beside one of a published message
RIDGE: Final = 1.0
SCALE: Final = 0.05  # of the network's numbers, each in its standard deviations
MOST_STEPS: Final = 150

Labelled = tuple[str, list[tuple[int, int, str]]]  # a message, places of what is liked or not


def of_our_own() -> Iterator[Labelled]:
    """Yield our messages with what their writers like and dislike."""
    for row in rows.lines(messages.LANGUAGE / "ordinary" / "opinions.train.jsonl.xz"):
        places = rows.quoted_spans(row["text"], [one["t"] for one in row["opinions"]])
        signs = [one["s"] for one in row["opinions"]]
        yield row["text"], [(*place, sign) for place, sign in zip(places, signs, strict=True)]


def of_messages(corpora: Corpora) -> Iterator[Labelled]:
    """Yield published messages of the part `train`."""
    for text, row in messages.labelled(corpora, "train"):
        yield text, [(begin, end, sign) for begin, end, sign in row["opinions"]]


def told(messages_: Iterator[Labelled]) -> tuple[list[Thing], list[int]]:
    """Return the things that messages name, and of each what it is: 0, or a sign's number + 1.

    What is named twice, or lies in a label without being its head, counts neither way.
    """
    found: list[Thing] = []
    right: list[int] = []
    for text, places in messages_:
        named = list(things_of(text))
        liked = _signs([(begin, end) for begin, end, _ in named], places)
        again = {
            text[named[n][0] : named[n][1]].lower() for n, sign in enumerate(liked) if sign > 0
        }
        for (begin, end, thing), sign in zip(named, liked, strict=True):
            if sign > 0 or (sign == 0 and text[begin:end].lower() not in again):
                found.append(thing)
                right.append(sign)
    return found, right


def _signs(named: Sequence[tuple[int, int]], places: Sequence[tuple[int, int, str]]) -> list[int]:
    """Return of each thing 0 for neither, a sign's number + 1, or -1 where it is unclear."""
    signs = [0] * len(named)
    for begin, end, sign in places:
        inside = [n for n, (first, last) in enumerate(named) if begin < last and first < end]
        for n in inside:
            signs[n] = signs[n] or -1
        if inside:
            best = max(inside, key=lambda n: _shared(named[n], (begin, end)))
            signs[best] = 1 + labels.SIGNS.index(sign)
    return signs


def _shared(place: tuple[int, int], other: tuple[int, int]) -> float:
    both = min(place[1], other[1]) - max(place[0], other[0])
    return both / max(place[1] - place[0], other[1] - other[0])


def _sparse(things: Sequence[Thing]) -> Any:
    sizes = [len(thing.places) for thing in things]
    held = np.repeat([size**-0.5 for size in sizes], sizes).astype(np.float32)
    columns = np.concatenate([np.array(thing.places, np.int64) for thing in things])
    return csr_matrix((held, columns, np.cumsum([0, *sizes])), shape=(len(sizes), PLACES))


def learned(parts: Sequence[tuple[float, list[Thing], list[int]]]) -> dict[str, NDArray[Any]]:
    """Return the weights, of things that weigh something each."""
    weights = np.concatenate([np.full(len(right), weight) for weight, _, right in parts])
    right = np.concatenate([np.array(right) for _, _, right in parts])
    seen = [thing for _, some, _ in parts for thing in some]
    rows_ = np.stack([thing.row for thing in seen])
    mean, spread = rows_.mean(0), rows_.std(0) + 1e-3
    scaled = csr_matrix((SCALE * (rows_ - mean) / spread).astype(np.float32))
    table = hstack([scaled, _sparse(seen)]).tocsr()
    model = LogisticRegression(C=1 / RIDGE, max_iter=MOST_STEPS).fit(table, right, weights)
    odds = model.coef_[1:] - model.coef_[0]  # beside what is neither liked nor disliked
    size = rows_.shape[1]
    of_row = SCALE * odds[:, :size] / spread
    scale = np.abs(odds[:, size:]).max(axis=1) / 127
    return {
        "rows": of_row.astype(np.float32),
        "places": np.round(odds[:, size:] / scale[:, None]).astype(np.int8),
        "scale": scale.astype(np.float32),
        "bias": (model.intercept_[1:] - model.intercept_[0] - of_row @ mean).astype(np.float32),
    }


def main() -> None:
    """Train it and write it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--corpora", type=Path, required=True)
    options = parser.parse_args()
    published = told(of_messages(Corpora(options.corpora)))
    ours = told(of_our_own())
    for name, (_, right) in (("published", published), ("our own", ours)):
        print(f"{name}: {len(right)} things, {sum(sign > 0 for sign in right)} liked or not")
    held = learned([(1.0, *published), (OURS, *ours)])
    held["reader"] = np.array(shared().checksum)
    np.savez_compressed(DATA / "taste.npz", **held)
    files.write(DATA, shared().record)


if __name__ == "__main__":
    main()
