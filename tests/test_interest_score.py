"""Hold the interest score to seed 003's formula, and its relations and pictures to their word."""

from __future__ import annotations

import math
import random
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from factbook import policy
from factbook.embed import bundled
from factbook.embed.halves import Vectors, unpacked
from factbook.errors import FactbookError, UsageError
from factbook.interests.interests import InterestRow
from factbook.interests.relate import (
    PreferenceRelation,
    related,
    shares,
)
from factbook.interests.score import (
    course,
    interests,
    weight,
)
from factbook.memory.reasons import Curve
from factbook.model.entities import Engagement, EngagementType, Entity, Valence
from factbook.model.facts import Trigger
from factbook.recall.known import joined
from factbook.surface.output import Page
from factbook.surface.plots import interest_plot
from factbook.surface.views.world import ranking

DAY = 24 * 3600 * 1000
NOW = 1_760_000_000_000
HALF = int(policy.INTEREST_HALF_LIFE_DAYS * DAY)


def decayed(done: list[Engagement], now: int) -> float:
    """Return the interest that engagements make up, as those of one entity."""
    return interests([one._replace(entity_id=1) for one in done], now).get(1, 0.0)


def did(
    kind: EngagementType = EngagementType.LIKE_COMMAND,
    *,
    at: int = NOW,
    entity: int | None = 1,
    preference: int | None = None,
    valence: Valence | None = None,
    strength: float | None = None,
) -> Engagement:
    """Return an engagement of the seed's strength and valence, unless others are given."""
    usual, way = policy.ENGAGEMENTS[kind]
    return Engagement(
        id=7,
        owner="ada",
        entity_id=entity,
        preference_id=preference,
        type=kind,
        valence=valence or way,
        strength=usual if strength is None else strength,
        episode_id=None,
        at=at,
    )


engagements = st.builds(
    did,
    st.sampled_from(EngagementType),
    at=st.integers(NOW - 400 * DAY, NOW + 5 * DAY),
    entity=st.sampled_from((1, 2, 3)),
    valence=st.sampled_from(Valence),
    strength=st.floats(0.0, 1.0),
)
many = st.lists(engagements, max_size=40)


# --- the formula ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        (EngagementType.LEARN_COMMAND, 1.0),
        (EngagementType.LIKE_COMMAND, 0.8),
        (EngagementType.DISLIKE_COMMAND, -0.8),
        (EngagementType.EXPLICIT_STATEMENT, 0.7),
        (EngagementType.SEARCH_INITIATED, 0.6),
        (EngagementType.FOLLOW_UP_QUESTION, 0.5),
        (EngagementType.PROACTIVE_NEGATIVE_REACTION, -0.8),
        (EngagementType.PROACTIVE_POSITIVE_REACTION, 0.5),
        (EngagementType.NORMAL_REACTION, 0.3),
        (EngagementType.MENTIONED_IN_PASSING, 0.2),
    ],
)
def test_each_of_the_ten_engagements_counts_with_its_strength(
    kind: EngagementType, value: float
) -> None:
    """Seed 003: ten strengths, the valence apart, its sign +1, -1 or 0."""
    assert decayed([did(kind)], NOW) == value
    assert decayed([did(kind, valence=Valence.NEUTRAL)], NOW) == 0
    turned = Valence.POSITIVE if value < 0 else Valence.NEGATIVE
    assert decayed([did(kind, valence=turned)], NOW) == -value


def test_interest_is_the_sum_of_sign_strength_and_recency() -> None:
    """Seed 003: interest = sum(valence_sign * strength * recency_decay), half-life 30 days."""
    done = [
        did(EngagementType.LEARN_COMMAND, at=NOW - 60 * DAY),
        did(EngagementType.SEARCH_INITIATED, at=NOW - 30 * DAY),
        did(EngagementType.FOLLOW_UP_QUESTION),
        did(EngagementType.PROACTIVE_NEGATIVE_REACTION, at=NOW - 15 * DAY),
    ]
    assert decayed(done, NOW) == pytest.approx(1 / 4 + 0.6 / 2 + 0.5 - 0.8 * 0.5**0.5)
    assert decayed([], NOW) == 0


@given(many)
def test_after_one_half_life_half_is_left(done: list[Engagement]) -> None:
    """Seed 003: a half-life of 30 days, for any mixture that lies in the past."""
    past = [one._replace(at=min(one.at, NOW)) for one in done]
    assert decayed(past, NOW + HALF) == pytest.approx(decayed(past, NOW) / 2, abs=1e-12)


@given(many, many)
def test_interest_is_additive(first: list[Engagement], second: list[Engagement]) -> None:
    """Two halves of what was done make up the whole."""
    together = decayed(first, NOW) + decayed(second, NOW)
    assert decayed([*first, *second], NOW) == pytest.approx(together, abs=1e-12)


@given(many, st.randoms(use_true_random=False))
def test_no_order_gives_another_score(done: list[Engagement], chooser: random.Random) -> None:
    """The sum is exact: equal to the last bit in any order."""
    shuffled = list(done)
    chooser.shuffle(shuffled)
    assert decayed(shuffled, NOW) == decayed(done, NOW)
    assert interests(shuffled, NOW) == interests(done, NOW)


@given(many)
def test_scores_by_entity_are_the_scores_of_its_engagements(done: list[Engagement]) -> None:
    found = interests(done, NOW)
    assert set(found) == {one.entity_id for one in done}
    for entity_id, score in found.items():
        assert score == decayed([one for one in done if one.entity_id == entity_id], NOW)
        assert math.isfinite(score)


@given(st.integers(-(2**62), 2**62))
def test_a_weight_lies_between_nothing_and_one(age: int) -> None:
    assert 0.0 <= weight(age) <= 1.0
    assert weight(age) >= weight(age + DAY)


def test_what_is_dated_ahead_counts_as_now() -> None:
    """A clock that went wrong must not make anybody care more than can be."""
    assert decayed([did(at=NOW + 400 * DAY)], NOW) == 0.8
    assert weight(-1) == weight(0) == 1.0


# --- preferences ----------------------------------------------------------------------------------


def test_what_names_an_entity_counts_for_it_once() -> None:
    """`/like espresso machines` names a preference and an entity: the entity gets it once."""
    done = [did(entity=1, preference=5)]
    assert interests(done, NOW) == {1: 0.8}
    assert interests(done, NOW, shares={5: {1: 1.0, 2: 0.5}}) == {1: 0.8, 2: 0.4}


def test_a_preference_counts_for_what_it_is_about() -> None:
    """`/dislike sports` makes no entity: it weighs on the entities that are about sports."""
    done = [
        did(EngagementType.DISLIKE_COMMAND, entity=None, preference=5),
        did(EngagementType.SEARCH_INITIATED, entity=2),
    ]
    assert interests(done, NOW) == {2: 0.6}
    found = interests(done, NOW, shares={5: {2: 0.5, 3: 1.0}})
    assert found == {2: pytest.approx(0.6 - 0.4), 3: -0.8}


def test_relations_come_from_the_cosine_alone_and_the_closest_first() -> None:
    """Seed 003: preference and entity are related by cosine similarity, computed, not stored."""
    likes = Vectors(ids=[5, 6], rows=np.array([[1, 0], [0, 1]], dtype=np.float32))
    things = Vectors(ids=[1, 2, 2], rows=np.array([[0.6, 0.8], [1, 0], [0, -1]], dtype=np.float32))
    found = related(likes, things, threshold=0.5)
    assert [(one.preference_id, one.entity_id) for one in found] == [(5, 2), (6, 1), (5, 1)]
    assert [one.cosine for one in found] == pytest.approx([1.0, 0.8, 0.6])
    assert related(likes, Vectors(ids=[], rows=np.zeros((0, 2), dtype=np.float32))) == []
    assert shares(found) == {5: {2: 1.0, 1: pytest.approx(0.6)}, 6: {1: pytest.approx(0.8)}}


def test_bad_vectors_are_refused_in_words() -> None:
    with pytest.raises(ValueError, match="5 bytes are not 1 vectors"):
        unpacked([1], b"12345")


def test_the_stores_halves_become_unit_rows() -> None:
    rows = np.array([[0.6, 0.8], [0, 0]], dtype=np.float16)
    found = unpacked([3, 4], rows.tobytes())
    assert list(found.ids) == [3, 4]
    assert np.linalg.norm(found.rows, axis=1) == pytest.approx([1.0, 0.0])


def test_an_entity_is_related_by_what_is_known_of_it() -> None:
    names = Vectors(ids=[1], rows=np.array([[0, 1]], dtype=np.float32))
    facts = Vectors(ids=[1, 1], rows=np.array([[1, 0], [0.8, 0.6]], dtype=np.float32))
    none = Vectors(ids=[], rows=np.zeros((0, 0), dtype=np.float32))
    likes = Vectors(ids=[5], rows=np.array([[1, 0]], dtype=np.float32))
    assert related(likes, names) == []
    assert related(likes, joined(names, none, facts)) == [PreferenceRelation(5, 1, 1.0)]
    assert related(likes, joined(none)) == related(likes, joined()) == []
    with pytest.raises(UsageError, match="different dimensions"):
        joined(names, Vectors(ids=[1], rows=np.ones((1, 3), dtype=np.float32)))


def test_the_bundled_embedder_relates_a_topic_to_what_is_said_of_its_things() -> None:
    """A dislike of sports reaches football, and not espresso."""
    embedder = bundled()
    likes = Vectors(ids=[1], rows=embedder.embed(["sports"]))
    texts = ["football league – a competition of sports clubs", "espresso – a coffee drink"]
    found = related(likes, Vectors(ids=[10, 11], rows=embedder.embed(texts)))
    assert [one.entity_id for one in found] == [10]


# --- the course and its pictures ------------------------------------------------------------------


def test_a_course_knows_only_what_had_happened() -> None:
    done = [did(at=NOW - 30 * DAY), did(EngagementType.DISLIKE_COMMAND, at=NOW + DAY)]
    found = course(done, [NOW - 31 * DAY, NOW - 30 * DAY, NOW - 1, NOW])
    assert found[:3] == [0.0, 0.8, pytest.approx(0.4)]
    assert found[3] == decayed(done, NOW)
    assert course(done, []) == []


@given(many)
def test_a_course_ends_at_the_score(done: list[Engagement]) -> None:
    assert course(done, [NOW - 9 * DAY, NOW])[-1] == decayed(done, NOW)


def curves(count: int) -> list[Curve]:
    """Return some curves that differ."""
    moments = [NOW + day * DAY for day in range(30)]
    return [
        Curve(name=f"thing {n}", moments=moments, scores=[n - day / 10 for day in range(30)])
        for n in range(count)
    ]


@pytest.mark.parametrize(("name", "head"), [("a.png", b"\x89PNG"), ("deep/a.svg", b"<?xml")])
def test_a_picture_is_drawn_and_is_the_same_every_time(
    tmp_path: Path, name: str, head: bytes
) -> None:
    """Seed 003's interest score has a picture: interest over time for each entity."""
    pytest.importorskip("matplotlib", reason="drawing comes with the bench extra")
    path = interest_plot(curves(13), tmp_path / name)
    once = path.read_bytes()
    assert once.startswith(head)
    assert path.stat().st_mode & 0o777 == 0o600  # as all that is exported
    path.chmod(0o644)
    assert interest_plot(curves(13), path).read_bytes() == once
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_picture_names_the_strongest_and_any_name_can_be_drawn(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="drawing comes with the bench extra")
    names = ("$x^2_{", "_hidden", "名前", "\x1b[31mred", "<b>", "")
    odd = [
        Curve(name=name, moments=[NOW], scores=[20 + n]) for n, name in enumerate(names, start=1)
    ]
    drawn = interest_plot([*curves(13), *odd], tmp_path / "a.svg").read_text(encoding="utf-8")
    assert "thing 12" in drawn
    assert "thing 3" not in drawn
    assert "x^2_{" in drawn
    assert "&lt;b&gt;" in drawn
    assert "\x1b" not in drawn


def test_what_cannot_be_drawn_is_said(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"neither \.png nor \.svg"):
        interest_plot(curves(1), tmp_path / "a.pdf")
    with pytest.raises(UsageError, match="no interest to draw yet"):
        interest_plot([], tmp_path / "a.png")
    uneven = Curve(name="x", moments=[NOW], scores=[])
    with pytest.raises(UsageError, match="1 moments and 0 scores"):
        interest_plot([uneven], tmp_path / "a.png")
    pytest.importorskip("matplotlib", reason="drawing comes with the bench extra")
    (tmp_path / "file").write_text("")
    with pytest.raises(FactbookError, match="cannot be written"):
        interest_plot(curves(1), tmp_path / "file" / "a.png")


def row(name: str, score: float, facts: int = 0, last: int | None = None) -> InterestRow:
    entity = Entity(1, "ada", name, NOW, NOW, 1, Trigger.COMMAND)
    return InterestRow(entity=entity, score=score, fact_count=facts, last_activity=last)


def test_bars_stand_on_either_side_of_zero_and_are_safe() -> None:
    """Seed 003's /interests: name, score, fact count, last activity."""
    rows = [
        row("ls50 meta\x1b[31m", 2.0, 8, NOW),
        row("espresso", 0.001),
        row("golf", -1.0, 1, NOW),
    ]

    def shown(rows: list[InterestRow], page: Page) -> list[str]:
        ranking(page, rows)
        return page.written.split("\n")

    lines = shown(rows, Page(width=100, plain=True))
    assert lines[0].split() == ["#", "entity", "interest", "facts", "last", "activity"]
    assert "............|############" in lines[1]
    assert "............|#..........." in lines[2]
    assert "......######|............" in lines[3]
    assert "+2.00" in lines[1]
    assert " 0.00" in lines[2]
    assert "-1.00" in lines[3]
    assert "\\x1b[31m" in lines[1]
    assert "2025-10" in lines[1]
    assert all(len(line) <= 40 for line in shown(rows, Page(width=40)))
    assert shown([], Page(width=80)) == [""]
    flat = shown([row("x", 0.0)], Page(width=80, plain=True))
    assert "............|............" in flat[1]
