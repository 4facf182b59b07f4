"""Show each thing once: one hit for every cluster of hits that say nearly the same.

Clusters grow around their best hit: in the order of relevance, a hit joins the first cluster whose
best hit it resembles, else it opens a cluster. So the order of the clusters is that of their best
hits, and no two hits that are shown resemble each other. Tried and left out: connected components,
which chain (A like B, B like C, A unlike C) and swallow the whole answer to a broad question; and
the most confident hit of each cluster, as the seed has it, which can lose what was asked for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from factbook import policy
from factbook.errors import UsageError
from factbook.model.facts import Hit
from factbook.recall.query import folded


def clusters(
    hits: Sequence[Hit],
    *,
    vectors: Mapping[str, NDArray[np.float32]],
    threshold: float = policy.DIVERSITY_SIMILARITY,
) -> list[list[Hit]]:
    """Return the hits in clusters, each best first, the clusters by their best hits.

    `vectors` holds unit vectors by the id of a hit. A hit without one joins a cluster only where
    its text is the same but for case, spaces and forms of letters. Equal relevance keeps the order
    that was given. Raises UsageError for a threshold that is not from -1 to 1.
    """
    if not -1.0 <= threshold <= 1.0:  # NaN too
        raise UsageError(detail=f"the diversity threshold is {threshold}; give a cosine, -1 to 1.")
    ordered = sorted(hits, key=lambda hit: -hit.score)
    known = [vectors[hit.id] for hit in ordered if hit.id in vectors]
    rows = np.stack(known) if known else np.zeros((0, 1), np.float32)
    # Not a matrix product: for some dozens of hits, waking the threads of one costs more than it.
    alike = (np.vecdot(rows[:, None], rows[None]) >= threshold).tolist()
    groups: list[list[Hit]] = []
    leaders: list[tuple[int, int]] = []  # (row, cluster) of the best hits that have a vector
    by_text: dict[str, int] = {}
    row = -1
    for hit in ordered:
        has_vector = hit.id in vectors
        row += has_vector
        text = folded(hit.text)
        at = by_text.get(text)
        if at is None and has_vector:
            at = next((cluster for best, cluster in leaders if alike[row][best]), None)
        if at is None:
            at = len(groups)
            groups.append([])
            if has_vector:
                leaders.append((row, at))
        groups[at].append(hit)
        by_text.setdefault(text, at)
    return groups


def diversity_score(vectors: Sequence[NDArray[np.float32]]) -> float | None:
    """Return 1 minus the mean cosine of all pairs; None below two vectors."""
    count = len(vectors)
    if count < 2:
        return None
    rows = np.stack(list(vectors)).astype(np.float64)
    total = float(np.square(rows.sum(axis=0)).sum() - np.square(rows).sum())
    return 1.0 - total / (count * (count - 1))
