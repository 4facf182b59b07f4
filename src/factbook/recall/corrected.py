"""Put what was said later before what it corrects: "I live in Salzburg now" before "in Vienna".

Both are much alike for a search, and often the older one more so; shown alone it would be believed.
Knows: texts, vectors, when something was said, and the rules that judge two claims. Does not know:
where hits come from, or how many are shown.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from factbook.model import Hit
from factbook.recall.query import STOPWORDS, words

if TYPE_CHECKING:
    from factbook.gate.judge import Claim
    from factbook.gate.reading import Reading

__all__ = ["put_right"]

MOST_HITS: Final = 8  # ours: of the best, that are judged with one another
MOST_CHARS: Final = 400  # ours: longer texts say more than one thing
MOST_SENTENCES: Final = 2  # ours: of one text
LEAST_ALIKE: Final = 0.2  # ours: cosine below which nothing is a correction of the other


def put_right(
    hits: Sequence[Hit], *, question: str, vectors: Mapping[str, NDArray[np.float32]]
) -> tuple[list[Hit], frozenset[str]]:
    """Return the hits, each correction before what it corrects, and the ids of what is corrected.

    A correction was said later, and by the rules of judging (docs/judging.md) it ends or
    contradicts the other one; it takes at least its relevance. Where it only contradicts it, and
    the question has a word that the older one alone has ("ferry 3"), that one is meant, and
    nothing moves. `vectors` holds unit vectors by the id of a hit; one that waits for its vector is
    compared by its words. Undated hits and long ones are left where they stand.
    """
    ordered = sorted(hits, key=lambda one: -one.score)
    rivals = [
        _Said(one, vectors.get(one.id))
        for one in ordered[:MOST_HITS]
        if one.occurred_at is not None and len(one.text) <= MOST_CHARS
    ]
    rivals.sort(key=lambda one: one.at)
    asked = set(words(question)) - STOPWORDS
    corrected: set[str] = set()
    for n, newer in enumerate(rivals):
        ended = {older.hit.id for older in rivals[:n] if _corrects(older, newer, asked)}
        if not ended:
            continue
        corrected |= ended
        stands = next(at for at, one in enumerate(ordered) if one.id == newer.hit.id)
        now = ordered.pop(stands)
        places = [at for at, one in enumerate(ordered) if one.id in ended]
        score = max(now.score, *(ordered[at].score for at in places))
        ordered.insert(min(stands, *places), replace(now, score=score))
    return ordered, frozenset(corrected)


class _Said:
    """A hit, and what is read of it when it is judged."""

    def __init__(self, hit: Hit, vector: NDArray[np.float32] | None) -> None:
        self.hit = hit
        self.vector = vector
        # of one moment, what was kept later was said later
        self.at = (hit.occurred_at or 0, int(hit.id[1:]))

    @cached_property
    def words(self) -> frozenset[str]:
        return frozenset(words(self.hit.text))

    @cached_property
    def claims(self) -> Sequence[tuple[Claim, Reading]]:
        """What its sentences claim, each as it is read; questions claim nothing."""
        # imported here: its tables take longer than a search, and most answers need no judge
        from factbook.extract.sentences import split
        from factbook.gate.judge import Claim
        from factbook.gate.reading import read

        texts = [one.text.strip() for one in split(self.hit.text)]
        return [
            (Claim(text=one, occurred_at=self.hit.occurred_at), read(one))
            for one in texts
            if one and not one.endswith("?")
        ][:MOST_SENTENCES]

    def similarity(self, other: _Said) -> float:
        """Return the cosine of both, or how many of their words are the same."""
        if self.vector is not None and other.vector is not None:
            return float(self.vector @ other.vector)
        return 2 * len(self.words & other.words) / max(1, len(self.words) + len(other.words))


def _corrects(older: _Said, newer: _Said, asked: AbstractSet[str]) -> bool:
    if older.at == newer.at or older.hit.text == newer.hit.text:
        return False
    similarity = older.similarity(newer)
    if similarity < LEAST_ALIKE:
        return False
    from factbook.gate.judge import Relation, judge

    ends = {Relation.SUPERSEDES}
    if asked.isdisjoint(older.words - newer.words):
        ends.add(Relation.CONTRADICTION)
    return any(
        judge(
            one,
            other,
            similarity=similarity,
            older_reading=one_reading,
            newer_reading=other_reading,
        ).relation
        in ends
        for one, one_reading in older.claims
        for other, other_reading in newer.claims
    )
