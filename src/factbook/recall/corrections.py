"""Put what was said later before what it corrects: "I live in Salzburg now" before "in Vienna".

Both are much alike for a search, and often the older one more so; shown alone it would be believed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from functools import cached_property
from typing import Any, Final, Protocol

import numpy as np
from numpy.typing import NDArray

from factbook.model.facts import Hit
from factbook.recall.query import STOPWORDS, words


class Judging(Protocol):
    """Judge whether what was said later corrects what was said before."""

    def read(self, hit: Hit) -> Any:
        """Return what a hit claims, for `corrects`; read once, and only where it is needed."""

    def corrects(self, older: Any, newer: Any, *, similarity: float, contradicting: bool) -> bool:
        """Say whether it ends the older one, or also, where that counts, only contradicts it.

        `similarity` is the cosine of both.
        """


MOST_HITS: Final = 8  # ours: of the best, that are judged with one another
MOST_CHARS: Final = 400  # ours: longer texts say more than one thing
LEAST_ALIKE: Final = 0.2  # ours: cosine below which nothing is a correction of the other


def put_right(
    hits: Sequence[Hit],
    *,
    question: str,
    vectors: Mapping[str, NDArray[np.float32]],
    judging: Judging,
) -> tuple[list[Hit], frozenset[str]]:
    """Return the hits, each correction before what it corrects, and the ids of what is corrected.

    A correction was said later, and by the rules of judging (docs/judging.md) it ends or
    contradicts the other one; it takes at least its relevance. Where it only contradicts it, and
    the question has a word that the older one alone has ("ferry 3"), that one is meant, and
    nothing moves. `vectors` holds unit vectors by the id of a hit; one that waits for its vector is
    compared by its words. Undated hits and long ones are left where they stand.
    """
    ordered = sorted(hits, key=lambda hit: -hit.score)
    rivals = [
        _Said(hit, vectors.get(hit.id), judging)
        for hit in ordered[:MOST_HITS]
        if hit.occurred_at is not None and len(hit.text) <= MOST_CHARS
    ]
    rivals.sort(key=lambda rival: rival.at)
    asked = set(words(question)) - STOPWORDS
    corrected: set[str] = set()
    for n, newer in enumerate(rivals):
        ended = {
            older.hit.id for older in rivals[:n] if _is_corrected(older, newer, asked, judging)
        }
        if not ended:
            continue
        corrected |= ended
        stands = next(at for at, hit in enumerate(ordered) if hit.id == newer.hit.id)
        now = ordered.pop(stands)
        places = [at for at, hit in enumerate(ordered) if hit.id in ended]
        score = max(now.score, *(ordered[at].score for at in places))
        ordered.insert(min(stands, *places), replace(now, score=score))
    return ordered, frozenset(corrected)


class _Said:
    """A hit, and what is read of it when it is judged."""

    def __init__(self, hit: Hit, vector: NDArray[np.float32] | None, judging: Judging) -> None:
        self.hit = hit
        self._judging = judging
        self.vector = vector
        # of one moment, what was kept later was said later
        self.at = (hit.occurred_at or 0, int(hit.id[1:]))

    @cached_property
    def words(self) -> frozenset[str]:
        return frozenset(words(self.hit.text))

    @cached_property
    def claims(self) -> Any:
        """What it claims, as whoever judges reads it."""
        return self._judging.read(self.hit)

    def similarity(self, other: _Said) -> float:
        """Return the cosine of both, or how many of their words are the same."""
        if self.vector is not None and other.vector is not None:
            return float(self.vector @ other.vector)
        return 2 * len(self.words & other.words) / max(1, len(self.words) + len(other.words))


def _is_corrected(older: _Said, newer: _Said, asked: AbstractSet[str], judging: Judging) -> bool:
    if older.at == newer.at or older.hit.text == newer.hit.text:
        return False
    similarity = older.similarity(newer)
    if similarity < LEAST_ALIKE:
        return False
    meant = not asked.isdisjoint(older.words - newer.words)
    return judging.corrects(
        older.claims, newer.claims, similarity=similarity, contradicting=not meant
    )
