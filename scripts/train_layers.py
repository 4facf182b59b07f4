"""Train what tells likes and dislikes and what is worth knowing, and write both beside the reader.

    python scripts/train_layers.py --corpora FOLDER

Two layers over what the reader's network knows (`factbook.language.reader.layer`), by logistic
regression: of a thing, neither, liked or disliked (`taste.npz`); of a clause, whether it is worth
knowing in a month (`worth.npz`). They learn from messages that people published
(`reader.messages`: labelled by their hashes, their corpora lie in FOLDER) and from
`opinions.train` and `chats.train` of `data/language/ordinary`. They belong to one network: with
every new one they are trained anew. What is heard with them, `scripts/measure_messages.py` and
`python -m bench.ordinary` measure.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

from factbook.language.reader import labels
from factbook.language.reader.layer import Seen
from factbook.language.reader.read import clauses_of, things_of
from reader import layers, messages, rows
from reader.corpora import Corpora
from reader.layers import Learned

OURS: Final = 1.5  # what a thing of our own messages weighs beside one of a published message
OUR_CLAUSES: Final = 0.5  # and a clause of our chats, in which two in five are worth keeping
RIDGE: Final = 1.0
MOST_STEPS: Final = 150
ORDINARY: Final = messages.LANGUAGE / "ordinary"

Places = list[tuple[int, int]]
Labelled = tuple[str, list[tuple[int, int, str]]]  # a message, places of what is liked or not


def of_our_own() -> Iterator[Labelled]:
    """Yield our messages with what their writers like and dislike."""
    for row in rows.lines(ORDINARY / "opinions.train.jsonl.xz"):
        places = rows.quoted_spans(row["text"], [one["t"] for one in row["opinions"]])
        signs = [one["s"] for one in row["opinions"]]
        yield row["text"], [(*place, sign) for place, sign in zip(places, signs, strict=True)]


def of_messages(corpora: Corpora) -> Iterator[Labelled]:
    """Yield published messages of the part `train`."""
    for text, row in messages.labelled(corpora, "train"):
        yield text, [(begin, end, sign) for begin, end, sign in row["opinions"]]


def told(messages_: Iterator[Labelled]) -> Learned:
    """Return the things that messages name, and of each what it is: 0, or a sign's number + 1.

    What is named twice, or lies in a label without being its head, counts neither way.
    """
    found: list[Seen] = []
    right: list[int] = []
    for text, places in messages_:
        named = list(things_of(text))
        liked = _signs([(begin, end) for begin, end, _ in named], places)
        again = {
            text[named[n][0] : named[n][1]].lower() for n, sign in enumerate(liked) if sign > 0
        }
        for (begin, end, thing), sign in zip(named, liked, strict=True):
            if sign > 0 or (sign == 0 and text[begin:end].lower() not in again):
                found.append(thing.seen)
                right.append(sign)
    return Learned(found, right)


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


def kept_in_chats() -> Iterator[tuple[str, str, Places, Places]]:
    """Yield our chats: a message, what it answers, places of what is worth keeping, and none."""
    for row in rows.lines(ORDINARY / "chats.train.jsonl.xz"):
        places = rows.quoted_spans(row["text"], [clause["q"] for clause in row["clauses"]])
        kept = [p for p, clause in zip(places, row["clauses"], strict=True) if clause["keep"]]
        yield row["text"], row["before"] or "", kept, []


def kept_in_messages(corpora: Corpora) -> Iterator[tuple[str, str, Places, Places]]:
    """Yield published messages: what is worth keeping of them, and what may be."""
    for text, row in messages.labelled(corpora, "train"):
        doubted = row.get("unsure", {}).get("keep", ())
        yield text, "", [(a, b) for a, b in row["keep"]], [(a, b) for a, b in doubted]


def worth(said: Iterable[tuple[str, str, Places, Places]]) -> Learned:
    """Return the clauses of messages, and of each whether it is worth keeping."""
    found: list[Seen] = []
    right: list[int] = []
    for text, answers, kept, doubted in said:
        for begin, end, seen in clauses_of(text, answers):
            is_kept = any(rows.meet((begin, end), place) for place in kept)
            if is_kept or not any(rows.meet((begin, end), place) for place in doubted):
                found.append(seen)
                right.append(int(is_kept))
    return Learned(found, right)


def main() -> None:
    """Train them and write them."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--corpora", type=Path, required=True)
    corpora = Corpora(parser.parse_args().corpora)
    parts = {
        "taste": [(1.0, told(of_messages(corpora))), (OURS, told(of_our_own()))],
        "worth": [
            (1.0, worth(kept_in_messages(corpora))),
            (OUR_CLAUSES, worth(kept_in_chats())),
        ],
    }
    for name, some in parts.items():
        for whose, (_, told_) in zip(("published", "our own"), some, strict=True):
            count = sum(answer > 0 for answer in told_.right)
            print(f"{name}, {whose}: {len(told_.right)}, {count} of which count")
    layers.write(
        {name: layers.learned(some, ridge=RIDGE, steps=MOST_STEPS) for name, some in parts.items()}
    )


if __name__ == "__main__":
    main()
