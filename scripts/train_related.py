"""Train what tells how two statements stand to each other, and write it beside the reader.

    python scripts/train_related.py [--seen FILE]

Small decision trees (`related.npz`) over what both networks and the gate say of two statements
(`factbook.gate.related_signs`): the newer ends the older, says the same, or neither. The network of
pairs has learned from pairs that were written as such, a third of each kind; a memory holds many
statements of one person of which few have to do with each other. So the trees learn from `people`
of `data/language/ordinary`, all pairs that the network is asked about, and from the `pairs` that it
has not learned from. They belong to both networks: with every new one they are trained anew.

Printed is, from which chance on how many of a hundred changes and rewordings are found, and how
many of those found are none, each person read by what was learned of the others. By it the numbers
of `policy.RELATED` are chosen. `--seen` keeps the signs, whose reading takes most of the time.
"""

from __future__ import annotations

import argparse
import pickle
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.model_selection import GroupKFold

from factbook import policy
from factbook.embed import bundled
from factbook.gate.reading import read
from factbook.gate.related import vetoed
from factbook.gate.related_signs import Side, signs_of
from factbook.language.reader.boosted import LEAF
from factbook.language.reader.network import DATA, shared
from factbook.language.reader.relate import RELATER
from reader import files, rows

ORDINARY: Final = Path(__file__).resolve().parents[1] / "data" / "language" / "ordinary"
NOT_SEEN: Final = ("p51", "p52")  # writers of `pairs` that the network has not learned from
LABELS: Final = {"change": 1, "reword": 2}  # anything else is neither
TREES: Final = 150  # for each answer
LEAVES: Final = 8
LEAST: Final = 20  # pairs in a leaf
RATE: Final = 0.05
FOLDS: Final = 5
CUTS: Final = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95)


class Pair(NamedTuple):
    """Two statements of one person, and what the second is to the first."""

    writer: str
    older: str
    newer: str
    label: int


def of_people(part: str = "train") -> Iterator[Pair]:
    """Yield every pair of what each person says."""
    for row in rows.lines(ORDINARY / f"people.{part}.jsonl.xz"):
        labels = {tuple(pair): LABELS[name] for name in LABELS for pair in row[name]}
        for later, newer in enumerate(row["said"]):
            for earlier, older in enumerate(row["said"][:later]):
                yield Pair(row["a"], older, newer, labels.get((earlier, later), 0))


def of_pairs() -> Iterator[Pair]:
    """Yield the pairs that the network has not learned from."""
    for row in rows.lines(ORDINARY / "pairs.train.jsonl.xz"):
        if row["a"].partition(".")[0] in NOT_SEEN:
            yield Pair(row["a"], row["old"], row["new"], LABELS.get(row["label"], 0))


def seen(pairs: Sequence[Pair]) -> list[tuple[Pair, NDArray[np.float32], tuple[str, str]]]:
    """Return the signs of the pairs that are near enough to be asked about, and their vetoes."""
    texts = list(dict.fromkeys(text for pair in pairs for text in (pair.older, pair.newer)))
    vectors = dict(zip(texts, bundled().embed(texts), strict=True))
    found = []
    for pair in pairs:
        cosine = float(vectors[pair.older] @ vectors[pair.newer])
        if cosine < policy.RELATED_SIMILARITY:
            continue
        older, newer = (Side(RELATER.read(t), read(t)) for t in (pair.older, pair.newer))
        signs = signs_of(older, newer, RELATER.relate(pair.older, pair.newer), cosine)
        found.append((pair, signs, vetoed(older, newer)))
        if len(found) % 500 == 0:
            say(f"{len(found)} pairs read")
    return found


def grown(signs: NDArray[np.float32], right: NDArray[np.int64]) -> HistGradientBoostingClassifier:
    """Grow trees of signs, shape (pairs, signs), and of what is right, shape (pairs,)."""
    trees = HistGradientBoostingClassifier(
        max_iter=TREES,
        learning_rate=RATE,
        max_leaf_nodes=LEAVES,
        min_samples_leaf=LEAST,
        l2_regularization=1.0,
        early_stopping=False,
        random_state=1,
    )
    return trees.fit(signs, right)


def packed(trees: HistGradientBoostingClassifier) -> dict[str, NDArray[Any]]:
    """Return trees as `Boosted` reads them: nodes of all in a row, and where each tree begins."""
    nodes, roots, begin = [], [], 0
    for tree in (tree for of_step in trees._predictors for tree in of_step):
        held = tree.nodes
        asks = held["is_leaf"] == 0
        nodes.append(
            {
                "sign": np.where(asks, held["feature_idx"], LEAF).astype(np.int16),
                "bound": held["num_threshold"].astype(np.float32),
                "left": np.where(asks, begin + held["left"], 0).astype(np.uint16),
                "right": np.where(asks, begin + held["right"], 0).astype(np.uint16),
                "value": held["value"].astype(np.float32),
            }
        )
        roots.append(begin)
        begin += len(held)
    return {
        **{name: np.concatenate([some[name] for some in nodes]) for name in nodes[0]},
        "roots": np.array(roots, np.uint16).reshape(TREES, -1),
        "bias": np.ravel(trees._baseline_prediction).astype(np.float32),
    }


def chances(read_: Sequence[Any]) -> NDArray[np.float64]:
    """Return the chances of pairs, each by trees of other writers' pairs alone."""
    signs = np.stack([one for _, one, _ in read_])
    right = np.array([pair.label for pair, *_ in read_])
    writers = [pair.writer for pair, *_ in read_]
    found = np.zeros((len(right), 1 + len(LABELS)))
    for others, some in GroupKFold(FOLDS).split(signs, right, writers):
        found[some] = grown(signs[others], right[others]).predict_proba(signs[some])
    return found


def table(read_: Sequence[Any], found: NDArray[np.float64]) -> Iterator[str]:
    """Yield from which chance on how many are found and rightly so, of what nothing forbids."""
    right = np.array([pair.label for pair, *_ in read_])
    no_merge = np.array([bool(vetoes[0]) for *_, vetoes in read_])
    no_end = np.array([bool(vetoes[1]) for *_, vetoes in read_])
    apart = np.array([vetoes[1] == "other" for *_, vetoes in read_])
    for name, label, forbidden in (
        ("joined", LABELS["reword"], no_merge),
        ("ended", LABELS["change"], no_end),
        ("asked", LABELS["change"], apart),
    ):
        for cut in CUTS:
            taken = (found[:, label] >= cut) & ~forbidden
            hit = (right[taken] == label).mean() if taken.any() else 1.0
            share = taken[right == label].mean()
            right_of = f"{100 * hit:.1f} right of {taken.sum()}"
            yield f"{name} from {cut}: {100 * share:.1f} found, {right_of}"


def say(text: str) -> None:
    """Print at once: reading is long."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def main() -> None:
    """Read the pairs, grow the trees, print what they find, write them."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seen", type=Path, help="a file to keep the signs in, or to take them of")
    options = parser.parse_args()
    if options.seen and options.seen.exists():
        read_ = pickle.loads(options.seen.read_bytes())
    else:
        read_ = seen([*of_people(), *of_pairs()])
        if options.seen:
            options.seen.write_bytes(pickle.dumps(read_))
    found = chances(read_)
    people = [
        n for n, (pair, *_) in enumerate(read_) if pair.writer.partition(".")[0] not in NOT_SEEN
    ]
    say(f"{len(people)} pairs of people:")
    for line in table([read_[n] for n in people], found[people]):
        say(line)
    signs = np.stack([one for _, one, _ in read_])
    trees = packed(grown(signs, np.array([pair.label for pair, *_ in read_])))
    of_both = np.array(shared().checksum_of_pairs)
    np.savez_compressed(DATA / "related.npz", reader=of_both, **trees)
    files.write(DATA, shared().record)
    say(f"{(DATA / 'related.npz').stat().st_size} bytes")


if __name__ == "__main__":
    main()
