"""How much what was found bears on a question, comparable from one answer to the next.

Scores of a ranking compare the hits of one question: its best hit has the best score, however
little it has to do with it. What comes by itself, and what may lead, needs a measure that is near 0
where nothing bears. Two signs tell: how near the meaning is, and how much of the question's words,
rare ones more, it holds; either is enough.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

from factbook import policy


def bearing(cosine: float, share: float) -> float:
    """Return how much something bears on a question, 0 to 1.

    `cosine` is that of its vector with the question's, NaN for none; `share` of the question's
    words that it holds, as `covered` returns it.
    """
    least, full = policy.BEARS_FROM, policy.BEARS_FULLY
    near = 0.0 if math.isnan(cosine) else min(1.0, max(0.0, (cosine - least) / (full - least)))
    said: float = share**policy.BEARS_WORDS
    return 1.0 - (1.0 - near) * (1.0 - said)


def covered(held: Iterable[str], asked: Iterable[str], rarity: Mapping[str, float]) -> float:
    """Return the share of a question's words that are held, each by its rarity; 0 for none."""
    wanted = set(asked)
    weight = {word: rarity.get(word, 1.0) for word in wanted}
    total = sum(weight.values())
    return sum(weight[word] for word in wanted.intersection(held)) / total if total else 0.0
