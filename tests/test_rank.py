"""The order of a pool: what moves a row up, what never depends on anything else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from factbook.recall.rank import DEFAULT_WEIGHTS, CandidatePool, Ranking, RankWeights, fuse

NAN = float("nan")


def pool(
    *,
    lexical: Sequence[float],
    cosine: Sequence[float],
    ids: Sequence[int] | None = None,
    sources: Sequence[int] | None = None,
    positions: Sequence[int] | None = None,
    asks: Sequence[bool] | None = None,
    named: Sequence[bool] | None = None,
    timely: Sequence[bool] | None = None,
    lengths: Sequence[int] | None = None,
) -> CandidatePool:
    """Build a pool of rows that stand alone unless said otherwise."""
    count = len(lexical)

    def column(values: Sequence[Any] | None, default: Sequence[Any], kind: Any) -> Any:
        return np.array(default if values is None else values, kind)

    return CandidatePool(
        ids=column(ids, range(count), np.int64),
        sources=column(sources, [-1] * count, np.int64),
        positions=column(positions, [0] * count, np.int64),
        lexical=np.array(lexical, np.float64),
        cosine=np.array(cosine, np.float64),
        asks=column(asks, [False] * count, np.bool_),
        named=column(named, [False] * count, np.bool_),
        timely=None if timely is None else np.array(timely, np.bool_),
        lengths=column(lengths, [100] * count, np.int64),
    )


def dialog(strengths: Sequence[float], *, asks: Sequence[bool] | None = None) -> CandidatePool:
    """Build one source whose rows were found by text alone."""
    count = len(strengths)
    return pool(
        lexical=strengths,
        cosine=[NAN] * count,
        sources=[7] * count,
        positions=range(count),
        asks=asks,
    )


scores = st.one_of(st.just(NAN), st.floats(-1, 30, allow_nan=False))


@st.composite
def pools(draw: st.DrawFn) -> CandidatePool:
    """Draw a pool of any shape, with unique ids."""
    count = draw(st.integers(0, 30))

    def rows(values: st.SearchStrategy[Any]) -> list[Any]:
        return draw(st.lists(values, min_size=count, max_size=count))

    return pool(
        lexical=rows(scores),
        cosine=rows(st.one_of(st.just(NAN), st.floats(-1, 1, allow_nan=False))),
        ids=draw(st.permutations(range(count))),
        sources=rows(st.integers(-1, 3)),
        positions=rows(st.integers(0, 12)),
        asks=rows(st.booleans()),
        named=rows(st.booleans()),
        timely=draw(st.sampled_from([None, rows(st.booleans())])),
        lengths=rows(st.integers(0, 10**9)),
    )


def ranked_ids(given_pool: CandidatePool, ranking: Ranking) -> list[int]:
    return [int(row) for row in given_pool.ids[ranking.order]]


def test_an_empty_pool_has_an_empty_order() -> None:
    ranking = fuse(pool(lexical=[], cosine=[]))
    assert len(ranking.order) == len(ranking.scores) == 0


@given(pools())
def test_every_row_is_ranked_once_and_scores_are_finite_shares(some: CandidatePool) -> None:
    ranking = fuse(some)
    assert sorted(ranking.order) == list(range(len(some)))
    assert np.all((ranking.scores >= 0) & (ranking.scores <= 1 + 1e-12))
    assert np.all(np.diff(ranking.scores[ranking.order]) <= 0)


@given(pools(), st.randoms())
def test_the_order_of_the_rows_does_not_matter(some: CandidatePool, random: Any) -> None:
    shuffled = list(range(len(some)))
    random.shuffle(shuffled)
    columns = {name: getattr(some, name) for name in CandidatePool.__dataclass_fields__}
    other = CandidatePool(**{n: None if c is None else c[shuffled] for n, c in columns.items()})
    assert ranked_ids(some, fuse(some)) == ranked_ids(other, fuse(other))


@given(pools(), st.floats(0.01, 1000))
def test_the_scale_of_a_leg_does_not_matter(some: CandidatePool, factor: float) -> None:
    scaled = replace(some, lexical=some.lexical * factor)
    np.testing.assert_allclose(fuse(some).scores, fuse(scaled).scores, atol=1e-9)


@given(pools(), st.integers(0, 29), st.floats(0, 1))
def test_a_better_score_never_lowers_a_row(some: CandidatePool, row: int, share: float) -> None:
    """A leg's best sets the scale, so a row is raised up to it and not beyond."""
    if row >= len(some) or not np.isfinite(some.lexical[row]):
        return
    lexical = some.lexical.copy()
    lexical[row] += share * max(0.0, float(np.nanmax(lexical)) - lexical[row])
    assert fuse(replace(some, lexical=lexical)).scores[row] >= fuse(some).scores[row] - 1e-12


def test_ties_are_ordered_by_id() -> None:
    same = pool(lexical=[2, 2, 2], cosine=[0.5] * 3, ids=[30, 10, 20])
    assert ranked_ids(same, fuse(same)) == [10, 20, 30]


def test_both_legs_beat_one() -> None:
    found = pool(lexical=[3, 3, NAN], cosine=[0.5, 0.1, 0.5])
    assert fuse(found).order[0] == 0


def test_a_row_without_a_vector_counts_as_the_farthest_one() -> None:
    waiting = fuse(pool(lexical=[3, 3, 1], cosine=[NAN, 0.2, 0.6]))
    assert waiting.scores[0] == pytest.approx(waiting.scores[1])


@pytest.mark.parametrize("missing", [NAN, float("inf"), -float("inf")])
def test_scores_that_are_no_numbers_count_as_missing(missing: float) -> None:
    ranking = fuse(pool(lexical=[missing, 1.0], cosine=[missing, 0.3]))
    assert list(ranking.order) == [1, 0]
    assert np.all(np.isfinite(ranking.scores))


def test_no_leg_found_anything() -> None:
    nothing = pool(lexical=[NAN, NAN], cosine=[NAN, NAN], ids=[2, 1])
    assert ranked_ids(nothing, fuse(nothing)) == [1, 2]


def test_a_turn_beside_a_hit_comes_before_a_turn_far_from_it() -> None:
    ranking = fuse(dialog([0, 0, 0, 9] + [0] * 20))
    places = {int(row): place for place, row in enumerate(ranking.order)}
    assert places[3] == 0
    assert {places[2], places[4]} == {1, 2}
    assert places[3 + DEFAULT_WEIGHTS.reach] < places[3 + DEFAULT_WEIGHTS.reach + 1]


def test_an_answer_gains_from_the_question_before_it() -> None:
    plain = fuse(dialog([9, 1, 0, 0], asks=[False] * 4))
    asked = fuse(dialog([9, 1, 0, 0], asks=[True, False, False, False]))
    assert asked.scores[1] > plain.scores[1]
    assert asked.scores[0] < plain.scores[0]


def test_surroundings_end_at_the_source() -> None:
    rows = pool(
        lexical=[9, 1, 1],
        cosine=[NAN] * 3,
        sources=[1, 1, 2],
        positions=[5, 6, 6],
    )
    ranking = fuse(rows)
    assert ranking.scores[1] > ranking.scores[2]


def test_rows_that_stand_nowhere_have_no_neighbours() -> None:
    alone = fuse(pool(lexical=[9, 1], cosine=[NAN, NAN], positions=[0, 1]))
    beside = fuse(pool(lexical=[9, 1], cosine=[NAN, NAN], positions=[0, 1], sources=[4, 4]))
    assert beside.scores[1] > alone.scores[1]


def test_rows_at_one_place_count_once() -> None:
    """A fact and the episode that proves it stand at one place."""
    once = pool(lexical=[9, 1], cosine=[NAN] * 2, sources=[1, 1], positions=[0, 1])
    twice = pool(lexical=[9, 4, 1], cosine=[NAN] * 3, sources=[1] * 3, positions=[0, 0, 1])
    assert fuse(twice).scores[2] == pytest.approx(fuse(once).scores[1])


@pytest.mark.parametrize("flag", ["named", "timely"])
def test_the_named_speaker_and_the_named_time_come_first(flag: str) -> None:
    flags: dict[str, Any] = {flag: [False, True]}
    assert fuse(pool(lexical=[1, 1], cosine=[0.3, 0.3], **flags)).order[0] == 1


def test_a_word_or_two_come_after_a_sentence() -> None:
    assert fuse(pool(lexical=[1, 1], cosine=[0.3, 0.3], lengths=[4, 80])).order[0] == 1


def test_huge_source_numbers_are_as_good_as_small_ones() -> None:
    small = pool(lexical=[3, 1], cosine=[0.1, 0.2], sources=[1, 1], positions=[0, 1])
    huge = replace(small, sources=small.sources * (2**62), positions=small.positions + 2**39)
    np.testing.assert_array_equal(fuse(small).scores, fuse(huge).scores)


def test_columns_of_different_lengths_are_refused() -> None:
    rows = pool(lexical=[1, 2], cosine=[0.1, 0.2])
    with pytest.raises(ValueError, match=r"CandidatePool\.cosine has 1 rows and ids 2"):
        replace(rows, cosine=np.array([0.1]))


@pytest.mark.parametrize("position", [-1, 2**40])
def test_impossible_positions_are_refused(position: int) -> None:
    with pytest.raises(ValueError, match="positions"):
        pool(lexical=[1], cosine=[0.1], positions=[position])


@pytest.mark.parametrize(
    "bad", [{"nearby": -0.1}, {"lexical": NAN}, {"sharpness": 0.0}, {"reach": -1}]
)
def test_weights_that_mean_nothing_are_refused(bad: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="RankWeights"):
        RankWeights(**bad)
