"""Which of near facts are closest, and how many of the network's doubts a night asks about."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import pytest

from factbook import policy
from factbook.embed import bundled
from factbook.gate.related import MAY_BE_OVER, doubt
from factbook.language.reader.relate import RELATER
from factbook.maintenance.circles import Circles, ids_of
from factbook.memory import Memory
from factbook.model.facts import EVERYONE, ME
from factbook.store.rows import Life, LifeWhere

SAID = (
    "I drive a Volvo 240.",
    "My band plays on Wednesdays.",
    "I smoke one pack a day.",
    "I rent a flat in Como.",
    "My sister studies law.",
    "I have two grandsons.",
)


def lives_of(memory: Memory) -> list[Life]:
    return sorted(memory.store.lives(LifeWhere(owner=ME)), key=lambda life: life.id)


def test_two_are_closest_where_neither_has_a_nearer_one_that_says_something_else() -> None:
    with (
        tempfile.TemporaryDirectory() as folder,
        Memory(Path(folder) / "m.db", key_file=Path(folder) / "key") as memory,
    ):
        for text in SAID[:3]:
            memory.remember(text)
        lives = lives_of(memory)
        angles = np.radians([0, 20, 50])  # the middle one is nearer to the first
        vectors = np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)
        circles = Circles(lives, vectors)
        assert circles.closest(0, 1, set())
        assert not circles.closest(1, 2, set())
        assert not circles.closest(0, 2, set())
        # What says the same as one of them is no nearer one, nor what was said in the same breath.
        assert circles.closest(1, 2, {ids_of(lives[1], lives[0])})
        together = [life._replace(episode_id=lives[0].episode_id) for life in lives[:2]]
        assert Circles([*together, lives[2]], vectors).closest(1, 2, set())
        strange = [lives[0]._replace(owner="bob"), *lives[1:]]
        assert Circles(strange, vectors).closest(1, 2, set())
        assert memory.check() == []


def doubted(path: Path) -> list[float]:
    """Return how likely the pairs are that a night asks about for the network alone."""
    now = 1_790_000_000_000
    with Memory(path, clock=lambda: now, key_file=path.with_name("key")) as memory:
        for said in (
            "My knee hurts on stairs.",
            "I never travel by plane.",
            "We have no children.",
            "I cannot swim.",
            "I work at the harbour.",
            "The garden is a mess.",
            "I do not drink coffee.",
            "My mother lives alone.",
        ):
            memory.remember(said)
        now += 7 * 24 * 3_600_000
        for said in (
            "My knee is new, I run up all stairs.",
            "I travel by plane each week.",
            "Our daughter has her first tooth.",
            "I swim each morning now.",
            "I work at the bakery.",
            "The garden is tidy, everything blooms.",
            "I drink my second coffee at noon.",
            "My mother moved in with her sister.",
        ):
            memory.remember(said)
        memory.consolidate()
        questions = [q for q in memory.review.questions(owner=EVERYONE) if q.rule == MAY_BE_OVER]
        assert memory.check() == []
        return [doubt(*question.texts, _cosine(*question.texts), RELATER) for question in questions]


def _cosine(one: str, other: str) -> float:
    first, second = bundled().embed([one, other])
    return float(first @ second)


def test_a_night_asks_about_the_likeliest_of_what_the_network_doubts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    every = doubted(tmp_path / "every.db")
    assert 1 < len(every) <= policy.DOUBTS_A_RUN
    assert sum(much < policy.RELATED["ask"] for much in every) <= 1
    assert min(every) >= policy.RELATED_ASK_ONE
    monkeypatch.setattr(policy, "DOUBTS_A_RUN", 1)
    assert doubted(tmp_path / "one.db") == [max(every)]


def test_a_night_asks_one_thing_at_most_that_is_unlikely(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sure = policy.RELATED["ask"] + 4
    monkeypatch.setattr(policy, "RELATED", {**policy.RELATED, "ask": sure})
    every = doubted(tmp_path / "every.db")
    assert [much < sure for much in every].count(True) == 1
    monkeypatch.setattr(policy, "WEAK_DOUBTS_A_RUN", 0)
    assert len(doubted(tmp_path / "sure.db")) == len(every) - 1


def test_a_night_asks_nothing_of_two_matters(tmp_path: Path) -> None:
    now = 1_790_000_000_000
    path = tmp_path / "m.db"
    with Memory(path, clock=lambda: now, key_file=tmp_path / "key") as memory:
        for said in ("My business partner ran with the money in 2019.", "We used to play ludo."):
            memory.remember(said)
        now += 7 * 24 * 3_600_000
        for said in ("I hope to pay the smaller loan until Easter.", "I think I am the sixth."):
            memory.remember(said)
        memory.consolidate()
        assert memory.review.questions(owner=EVERYONE) == []
        assert memory.check() == []
