"""Train what tells rules and decisions in prompts, and write its weights beside the reader's.

    python scripts/train_standing.py --logs FOLDER

A layer over what the reader's network knows of a sentence, by logistic regression
(`factbook.language.reader.standing`). It learns from prompts that developers typed, which
`data/language/logged_prompts.jsonl.xz` labels by their hashes, and, of less weight each, from
`prompts.train` and `chats.train` of `data/language/ordinary`; in the chats there are no rules. The
typed prompts stay where they were published, in mirrors below FOLDER, each FOLDER/OWNER+NAME or
FOLDER/OWNER+NAME/repo. The layer belongs to one network: with every new one it is trained anew.
Figures on projects that it did not learn from go to the screen.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
from scipy.sparse import csr_matrix, hstack
from sklearn.linear_model import LogisticRegression

import logged
from asker.logs import LogsError
from factbook import policy
from factbook.extract.voice import blanked, in_layout
from factbook.language.reader.network import DATA, shared
from factbook.language.reader.read import sentences_of
from factbook.language.reader.standing import PLACES, Standing, signs_of
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
FIFTHS: Final = 5  # parts of the projects, each of which is told by the others


Prompt = tuple[str, list[tuple[int, int]]]  # with the places of what holds on


class Told(NamedTuple):
    """Sentences: what the network knows of them, their words and letters, what they state."""

    row: Floats  # (sentences, 784)
    signs: Sequence[tuple[list[int], list[int]]]
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


def of_logs(folder: Path, part: str) -> Iterator[tuple[str, Prompt]]:
    """Yield the labelled prompts of logs, each with its repository; LogsError where one lacks."""
    for row, log in logged.logs("prompts", part, folder):
        left = dict(row["prompts"])
        for text in map(str.strip, logged.said(log, row["path"], "user")):
            marks = left.pop(logged.named(text), None)  # a log that goes on says all again
            if marks is not None:
                yield row["repository"], (text, [(begin, end) for begin, end, _ in marks])
        if left:
            raise LogsError(f"{row['repository']}: {len(left)} prompts of {row['blob']} are gone")


def told(prompts: Iterator[Prompt]) -> Told:
    """Read prompts sentence by sentence."""
    known: list[Floats] = []
    signs: list[tuple[list[int], list[int]]] = []
    right: list[bool] = []
    for text, places in prompts:
        # as what an owner says is read (`directives.own_reading`)
        own = blanked(text, in_layout(text))[: policy.DIRECTIVE_CHARS]
        for words, row in sentences_of(own):
            known.append(row)
            signs.append(signs_of(words))
            right.append(any(_states(words[0].begin, words[-1].end, *mark) for mark in places))
    return Told(np.array(known), signs, np.array(right))


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
    signs = zip(*chain.from_iterable(some.signs for _, some in parts), strict=True)
    seen = hstack([csr_matrix(scaled), *map(_sparse, signs)]).tocsr()
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


def chances(held: Mapping[str, NDArray[Any]], some: Told) -> NDArray[np.float64]:
    """Return how likely sentences state something, as the reader will tell it."""
    standing = Standing(held)
    return np.array([standing.chance(*told) for told in zip(some.row, some.signs, strict=True)])


def figures(sure: NDArray[np.float64], right: NDArray[np.bool_]) -> str:
    """Say how many of the sentences that state something are found, and how many others."""
    shown = [
        f"from {least} {int((sure >= least).sum())}, {int((right & (sure >= least)).sum())} right"
        for least in (policy.DIRECTIVE_LIKELY, policy.DIRECTIVE_SURE)
    ]
    return f"{int(right.sum())} of {len(right)} sentences state something; {'; '.join(shown)}"


def main() -> None:
    """Train it, measure it, and write it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--logs", type=Path, required=True, help="a folder of mirrors")
    options = parser.parse_args()
    by_project: dict[str, list[Prompt]] = {}
    for project, prompt in of_logs(options.logs, "train"):
        by_project.setdefault(project, []).append(prompt)
    typed = [told(iter(prompts)) for prompts in by_project.values()]
    ours = told(chain(of_our_own("train"), of_chats()))
    # each fifth of the projects by what was learned of the others
    sizes = np.array([len(some.right) for some in typed])
    order = np.argsort(-sizes, kind="stable")
    unseen = []
    for n in range(FIFTHS):
        aside = set(order[n::FIFTHS].tolist())
        rest = [some for k, some in enumerate(typed) if k not in aside]
        held = learned([(1.0, joined(rest)), (OURS, ours)])
        unseen += [(chances(held, typed[k]), typed[k].right) for k in aside]
    both = [np.concatenate(some) for some in zip(*unseen, strict=True)]
    print(f"{sum(map(len, by_project.values()))} prompts of {len(by_project)} projects")
    print("projects of `train`, by the others:", figures(*both), flush=True)
    held = learned([(1.0, joined(typed)), (OURS, ours)])
    held["reader"] = np.array(shared().checksum)
    np.savez_compressed(DATA / "standing.npz", **held)
    files.write(DATA, shared().record)
    for name, prompts in (
        ("held", (prompt for _, prompt in of_logs(options.logs, "held"))),
        ("held of ours", of_our_own("held")),
    ):
        some = told(prompts)
        print(f"{name}:", figures(chances(held, some), some.right), flush=True)


def joined(parts: Sequence[Told]) -> Told:
    """Return the sentences of some as one."""
    return Told(
        np.concatenate([some.row for some in parts]),
        [signs for some in parts for signs in some.signs],
        np.concatenate([some.right for some in parts]),
    )


if __name__ == "__main__":
    main()
