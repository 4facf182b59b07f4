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
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

import logged
from asker.logs import LogsError
from factbook import policy
from factbook.extract.voice import blanked, in_layout
from factbook.language.reader.layer import Layer, Seen
from factbook.language.reader.read import sentences_of
from reader import layers, rows
from reader.layers import Learned

if TYPE_CHECKING:
    from numpy.typing import NDArray

ORDINARY: Final = logged.LANGUAGE / "ordinary"
OURS: Final = 0.3  # what a prompt of ours weighs beside a typed one: they hold rules more often
CHATS: Final = 2_000  # messages of our chats that are looked through for such without a request
RIDGE: Final = 0.7
MOST_STEPS: Final = 300
FIFTHS: Final = 5  # parts of the projects, each of which is told by the others


Prompt = tuple[str, list[tuple[int, int]]]  # with the places of what holds on


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


def told(prompts: Iterable[Prompt]) -> Learned:
    """Read prompts sentence by sentence."""
    found: list[Seen] = []
    right: list[int] = []
    for text, places in prompts:
        # as what an owner says is read (`directives.own_reading`)
        own = blanked(text, in_layout(text))[: policy.DIRECTIVE_CHARS]
        for begin, end, seen, _ in sentences_of(own):
            found.append(seen)
            right.append(int(any(rows.meet((begin, end), place) for place in places)))
    return Learned(found, right)


def chances(held: Mapping[str, NDArray[Any]], some: Learned) -> NDArray[np.float64]:
    """Return how likely sentences state something, as the reader will tell it."""
    standing = Layer(held)
    return np.array([standing.chances(one)[0] for one in some.seen])


def figures(sure: NDArray[np.float64], right: NDArray[np.int_]) -> str:
    """Say how many of the sentences that state something are found, and how many others."""
    shown = [
        f"from {least} {int((sure >= least).sum())}, {int(right[sure >= least].sum())} right"
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
    typed = [told(prompts) for prompts in by_project.values()]
    ours = told(chain(of_our_own("train"), of_chats()))
    # each fifth of the projects by what was learned of the others
    sizes = np.array([len(some.right) for some in typed])
    order = np.argsort(-sizes, kind="stable")
    unseen = []
    for n in range(FIFTHS):
        aside = set(order[n::FIFTHS].tolist())
        rest = [some for k, some in enumerate(typed) if k not in aside]
        held = layers.learned([(1.0, joined(rest)), (OURS, ours)], ridge=RIDGE, steps=MOST_STEPS)
        unseen += [(chances(held, typed[k]), np.array(typed[k].right)) for k in aside]
    both = [np.concatenate(some) for some in zip(*unseen, strict=True)]
    print(f"{sum(map(len, by_project.values()))} prompts of {len(by_project)} projects")
    print("projects of `train`, by the others:", figures(*both), flush=True)
    held = layers.learned([(1.0, joined(typed)), (OURS, ours)], ridge=RIDGE, steps=MOST_STEPS)
    layers.write({"standing": held})
    for name, prompts in (
        ("held", (prompt for _, prompt in of_logs(options.logs, "held"))),
        ("held of ours", of_our_own("held")),
    ):
        some = told(prompts)
        print(f"{name}:", figures(chances(held, some), np.array(some.right)), flush=True)


def joined(parts: Iterable[Learned]) -> Learned:
    """Return the sentences of some as one."""
    seen, right = zip(*parts, strict=True)
    return Learned(list(chain(*seen)), list(chain(*right)))


if __name__ == "__main__":
    main()
