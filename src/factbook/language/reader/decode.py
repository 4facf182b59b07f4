"""Turn the scores of the reader's network into stretches of words and trees. Pure arithmetic."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
OUTSIDE, BEGIN, INSIDE = range(3)
_NEVER = -1e9


class Stretch(NamedTuple):
    """Words from one to another of one type, and how sure that is."""

    first: int
    last: int  # exclusive
    type: str
    chance: float  # 0 to 1: of its words being such a stretch, the least of them
    mean: float  # the same, of all of them
    sure: float  # 0 to 1: of its type, among all types; the mean of its words


def softmax(scores: Floats) -> Floats:
    """Return chances along the last axis."""
    shifted = np.exp(scores - scores.max(axis=-1, keepdims=True))
    chances: Floats = shifted / shifted.sum(axis=-1, keepdims=True)
    return chances


def stretches(
    scores: Floats,
    tags: Sequence[str],
    *,
    bias: float | Floats = 0.0,
    costs: Sequence[float] | None = None,
) -> list[Stretch]:
    """Decode tags `O`, `B-type`, `I-type` of words: where first, then of which type.

    `scores` has the shape (words, tags). Where is decided over all types together, as types are
    mixed up more often than places; `bias`, of all words or of each, is taken off the outside, so
    that more is found. `costs` are what it takes for a stretch to begin or to end before each word.
    """
    if not len(scores):
        return []
    begins = [i for i, tag in enumerate(tags) if tag[0] == "B"]
    insides = [i for i, tag in enumerate(tags) if tag[0] == "I"]
    chances = softmax(scores)
    places = np.stack(
        [chances[:, 0], chances[:, begins].sum(axis=1), chances[:, insides].sum(axis=1)], axis=1
    )
    logs = np.log(places + 1e-9)
    logs[:, OUTSIDE] -= bias
    path = best_path(logs, costs)
    found = []
    first = 0
    while first < len(path):
        if path[first] != BEGIN:
            first += 1
            continue
        last = first + 1
        while last < len(path) and path[last] == INSIDE:
            last += 1
        types = np.vstack([chances[first, begins], chances[first + 1 : last][:, insides]]) + 1e-9
        types = np.log(types / types.sum(axis=1, keepdims=True)).mean(axis=0)
        best = int(types.argmax())
        outside = places[first:last, OUTSIDE]
        chance, mean = 1 - float(outside.max()), 1 - float(outside.mean())
        sure = float(np.exp(types[best]))
        found.append(Stretch(first, last, tags[begins[best]][2:], chance, mean, sure))
        first = last
    return found


def best_path(scores: Floats, costs: Sequence[float] | None = None) -> list[int]:
    """Return the likeliest run of outside, begin, inside, where inside follows no outside."""
    total = scores[0].astype(np.float64)
    total[INSIDE] = _NEVER
    steps = []
    for i, row in enumerate(scores[1:], 1):
        moves = np.repeat(total[:, None], 3, axis=1)
        moves[OUTSIDE, INSIDE] = _NEVER
        if costs is not None:
            moves[:, BEGIN] -= costs[i]
            moves[BEGIN:, OUTSIDE] -= costs[i]
        steps.append(moves.argmax(axis=0))
        total = moves.max(axis=0) + row
    path = [int(total.argmax())]
    for step in reversed(steps):
        path.append(int(step[path[-1]]))
    return path[::-1]


def tree(arcs: Floats) -> list[int]:
    """Return each word's head, 0 for a root and i + 1 for word i; every word leads to a root.

    `arcs` has the shape (words, 1 + words). Each word takes its best head; of words that lead round
    in a circle the one becomes a root that loses least by it.
    """
    heads = [int(head) for head in arcs.argmax(axis=1)]
    settled = [False] * len(heads)
    for word in range(len(heads)):
        path: list[int] = []
        at = word
        while not settled[at] and at not in path:
            path.append(at)
            if heads[at] == 0:
                break
            at = heads[at] - 1
        if not settled[at] and heads[at] != 0:
            circle = path[path.index(at) :]
            heads[max(circle, key=lambda i: float(arcs[i, 0] - arcs[i, heads[i]]))] = 0
        for i in path:
            settled[i] = True
    return heads
