"""Diversity: one hit for every cluster at cosine 0.8, clusters in the order of their best hits."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from factbook import policy
from factbook.errors import UsageError
from factbook.model.facts import Hit
from factbook.recall.diversity import clusters, diversity_score


def said(id: str, score: float, text: str = "") -> Hit:
    return Hit(
        id=id,
        kind="fact",
        text=text,
        score=score,
        confidence=1.0,
        occurred_at=None,
        source="",
        position=0,
        host="",
        project="",
        session="",
    )


def at(degrees: float) -> np.ndarray:
    return np.asarray([math.cos(math.radians(degrees)), math.sin(math.radians(degrees))], "f4")


def diversify(hits: list[Hit], *, limit: int, **how: Any) -> list[Hit]:
    return [group[0] for group in clusters(hits, **how)[:limit]]


def test_the_threshold_is_the_seeds() -> None:
    assert policy.DIVERSITY_SIMILARITY == 0.8


def test_one_hit_of_each_cluster_ordered_by_their_best() -> None:
    hits = [said("f1", 0.5, "a"), said("f2", 0.9, "b"), said("f3", 0.7, "c"), said("f4", 0.6, "d")]
    vectors = {"f1": at(0), "f2": at(90), "f3": at(10), "f4": at(85)}
    grouped = clusters(hits, vectors=vectors)
    assert [[hit.id for hit in group] for group in grouped] == [["f2", "f4"], ["f3", "f1"]]
    assert [hit.id for hit in diversify(hits, vectors=vectors, limit=5)] == ["f2", "f3"]
    assert [hit.id for hit in diversify(hits, vectors=vectors, limit=1)] == ["f2"]


def test_what_resembles_only_a_follower_is_not_hidden() -> None:
    # 0 and 30 degrees are alike (0.87), 30 and 60 too, 0 and 60 are not (0.5): no chain
    hits = [said("f1", 0.9, "a"), said("f2", 0.8, "b"), said("f3", 0.7, "c")]
    vectors = {"f1": at(0), "f2": at(30), "f3": at(60)}
    assert [hit.id for hit in diversify(hits, vectors=vectors, limit=5)] == ["f1", "f3"]


def test_without_a_vector_only_equal_texts_are_one() -> None:
    hits = [
        said("f1", 0.9, "Likes  TEA"),
        said("f2", 0.8, "likes tea"),
        said("f3", 0.7, "likes green tea"),
        said("f4", 0.6, "ｌｉｋｅｓ tea"),
    ]
    assert [hit.id for hit in diversify(hits, vectors={}, limit=5)] == ["f1", "f3"]
    # a waiting copy of a fact that has its vector
    assert [hit.id for hit in diversify(hits, vectors={"f1": at(0)}, limit=5)] == ["f1", "f3"]


def test_exactly_the_threshold_is_alike() -> None:
    one, other = np.asarray([1.0, 0.0]), np.asarray([0.5, math.sqrt(0.75)])
    hits = [said("f1", 0.9, "a"), said("f2", 0.8, "b")]
    both = {"f1": one, "f2": other}
    assert len(diversify(hits, vectors=both, limit=5, threshold=0.5)) == 1
    assert len(diversify(hits, vectors=both, limit=5, threshold=0.51)) == 2


@pytest.mark.parametrize("threshold", [math.nan, 1.5, -2.0])
def test_a_threshold_that_is_no_cosine_is_refused(threshold: float) -> None:
    with pytest.raises(UsageError, match="threshold"):
        clusters([], vectors={}, threshold=threshold)


@given(
    st.lists(st.tuples(st.floats(0, 360), st.floats(0, 1)), max_size=12),
    st.floats(0.1, 0.99),
)
def test_what_is_shown_never_resembles(rows: list[tuple[float, float]], threshold: float) -> None:
    hits = [said(f"f{n}", score, str(n)) for n, (_, score) in enumerate(rows)]
    vectors = {f"f{n}": at(angle) for n, (angle, _) in enumerate(rows)}
    shown = diversify(hits, vectors=vectors, limit=12, threshold=threshold)
    for place, hit in enumerate(shown):
        for other in shown[:place]:
            assert float(vectors[hit.id] @ vectors[other.id]) < threshold + 1e-6
            assert other.score >= hit.score
    if hits:
        assert shown[0].score == max(hit.score for hit in hits)
    grouped = clusters(hits, vectors=vectors, threshold=threshold)
    assert sorted(hit.id for group in grouped for hit in group) == sorted(hit.id for hit in hits)


def test_the_score_of_redundancy() -> None:
    assert diversity_score([]) is None
    assert diversity_score([at(0)]) is None
    assert diversity_score([at(0), at(0)]) == pytest.approx(0.0, abs=1e-6)
    assert diversity_score([at(0), at(90)]) == pytest.approx(1.0, abs=1e-6)
    assert diversity_score([at(0), at(90), at(0)]) == pytest.approx(2 / 3, abs=1e-6)
