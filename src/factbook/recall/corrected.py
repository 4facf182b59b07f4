"""Put what was said later before what it corrects: "I live in Salzburg now" before "in Vienna".

Both are much alike for a search, and often the older one more so; shown alone it would be believed.
Knows: texts, vectors, when something was said, and the rules that judge two claims. Does not know:
where hits come from, or how many are shown.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from factbook.model import Hit
from factbook.recall.query import STOPWORDS, words

if TYPE_CHECKING:
    from factbook.gate.judge import Claim
    from factbook.gate.reading import Reading

__all__ = ["put_right"]

_Claims: TypeAlias = "Sequence[tuple[Claim, Reading]]"

MOST_HITS: Final = 12  # ours: of the best, that are judged with one another
MOST_CHARS: Final = 400  # ours: longer texts say more than one thing
MOST_SENTENCES: Final = 3  # ours: of one text


def put_right(
    hits: Sequence[Hit], *, question: str, vectors: Mapping[str, NDArray[np.float32]]
) -> tuple[list[Hit], frozenset[str]]:
    """Return the hits, each correction before what it corrects, and the ids of what is corrected.

    A correction was said later, and by the rules of judging (docs/judging.md) it ends or
    contradicts the other one; it takes at least its relevance. Where it only contradicts it, and
    the question has a word that the older one alone has ("ferry 3"), that one is meant, and
    nothing moves. `vectors` holds unit vectors by the
    id of a hit; one that waits for its vector is compared by its words. Undated hits and long ones
    are left where they stand.
    """
    ordered = sorted(hits, key=lambda one: -one.score)
    rivals = [
        one
        for one in ordered[:MOST_HITS]
        if one.occurred_at is not None and len(one.text) <= MOST_CHARS
    ]
    asked = set(words(question)) - STOPWORDS
    claims = {one.id: _claims(one) for one in rivals} if len(rivals) > 1 else {}
    corrected: set[str] = set()
    for newer in sorted(rivals, key=_said_at):
        ended = [
            older
            for older in rivals
            if _said_at(older) < _said_at(newer)
            and older.text != newer.text
            and _corrects(
                claims[older.id],
                claims[newer.id],
                _similarity(older, newer, vectors),
                meant=not asked.isdisjoint({*words(older.text)} - {*words(newer.text)}),
            )
        ]
        if not ended:
            continue
        gone = {one.id for one in ended}
        corrected |= gone
        stands = next(at for at, one in enumerate(ordered) if one.id == newer.id)
        now = ordered.pop(stands)
        places = [at for at, one in enumerate(ordered) if one.id in gone]
        score = max(now.score, *(ordered[at].score for at in places))
        ordered.insert(min(stands, *places), replace(now, score=score))
    return ordered, frozenset(corrected)


def _said_at(hit: Hit) -> tuple[int, int]:
    """Return a key of when something was said; of one moment, what was kept later counts."""
    return (hit.occurred_at or 0, int(hit.id[1:]))


def _similarity(one: Hit, other: Hit, vectors: Mapping[str, NDArray[np.float32]]) -> float:
    if one.id in vectors and other.id in vectors:
        return float(vectors[one.id] @ vectors[other.id])
    first, second = set(words(one.text)), set(words(other.text))
    return 2 * len(first & second) / max(1, len(first) + len(second))


def _corrects(older: _Claims, newer: _Claims, similarity: float, *, meant: bool) -> bool:
    from factbook.gate.judge import Relation, judge

    ends = {Relation.SUPERSEDES} if meant else {Relation.SUPERSEDES, Relation.CONTRADICTION}
    return any(
        judge(
            one,
            other,
            similarity=similarity,
            older_reading=one_reading,
            newer_reading=other_reading,
        ).relation
        in ends
        for one, one_reading in older
        for other, other_reading in newer
    )


def _claims(hit: Hit) -> _Claims:
    """Return what the sentences of a hit claim, each as it is read; questions claim nothing."""
    # imported here: its tables take longer than a search, and most answers have nothing to judge
    from factbook.extract.sentences import split
    from factbook.gate.judge import Claim
    from factbook.gate.reading import read

    texts = [one.text.strip() for one in split(hit.text)]
    return [
        (Claim(text=one, occurred_at=hit.occurred_at), read(one))
        for one in texts
        if one and not one.endswith("?")
    ][:MOST_SENTENCES]
