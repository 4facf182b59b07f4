"""What ranking knows of every episode follows the store without being sorted anew."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields
from pathlib import Path
from typing import Any, TypeVar, cast

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from factbook.embed.halves import unpacked
from factbook.errors import UsageError
from factbook.memory import Memory
from factbook.model.facts import EVERYONE
from factbook.store.port import Reads, Store
from factbook.store.rows import Filters
from factbook.store.sqlite.episode_table import EpisodeTable
from factbook.testing import FrozenClock

NOW = 1_790_000_000_000
T = TypeVar("T")


def assert_equal(one: EpisodeTable, other: EpisodeTable) -> None:
    for field in fields(EpisodeTable):
        np.testing.assert_array_equal(getattr(one, field.name), getattr(other, field.name))
        if field.name not in ("names", "owned_by"):
            assert getattr(one, field.name).dtype == getattr(other, field.name).dtype


@settings(max_examples=25, deadline=None)
@given(
    turns=st.lists(
        st.tuples(st.sampled_from("abcd"), st.sampled_from(["", "Ana", "Ben", "Cem"])), max_size=30
    ),
    cuts=st.sets(st.integers(0, 30), max_size=4),
)
def test_a_table_that_grew_is_one_that_was_read_at_once(
    tmp_path_factory: pytest.TempPathFactory, turns: list[tuple[str, str]], cuts: set[int]
) -> None:
    folder = tmp_path_factory.mktemp("catalog")
    with Memory(folder / "m.db", key_file=folder / "key", clock=FrozenClock(NOW)) as memory:
        table_of(memory.store)
        for n, (session, name) in enumerate(turns):
            if n in cuts:
                table_of(memory.store)
            memory.add_turn(f"Turn {n}, is it?", session=session, name=name)
        with Memory(folder / "m.db", key_file=folder / "key") as other:
            assert_equal(table_of(memory.store), table_of(other.store))


def table_of(store: Store) -> EpisodeTable:
    with store.snapshot() as moment:
        table: EpisodeTable = cast("Any", moment).in_memory().table
        return table


@given(ids=st.sets(st.integers(0, 9)), asked=st.lists(st.integers(-2, 12)))
def test_an_id_that_is_not_in_the_table_is_nobodys(ids: set[int], asked: list[int]) -> None:
    known = np.asarray(sorted(ids), np.int64)
    empty = np.zeros(len(ids), np.int64)
    table = EpisodeTable(
        known,
        empty,
        empty,
        empty.astype(np.float64),
        empty,
        empty.astype(np.bool_),
        empty.astype(np.int32),
        empty.astype(np.int32),
        ("",),
        ("me",),
        empty,
        empty,
        empty,
    )
    rows = table.rows(np.asarray(asked, np.int64))
    assert table.ids[rows].tolist() == [one for one in asked if one in ids]


ONE = np.eye(1, 384, dtype=np.float32)


def near(moment: Reads, *, owner: str = "me") -> list[int]:
    """Return the ids of the episodes of an owner that have a vector, as a moment has them."""
    (found,) = moment.nearest("episode", ONE, Filters(owner=owner), 50)
    assert sorted(found.cosines.tolist(), reverse=True) == found.cosines.tolist()
    return sorted(found.ids.tolist())


def elsewhere(store: Store, work: Callable[[], T]) -> T:
    """Do something in another thread, and leave no connection of it."""
    with ThreadPoolExecutor(1) as pool:
        done = pool.submit(work).result()
        pool.submit(store.close_thread).result()
        return done


def test_a_question_keeps_its_moment_while_other_threads_go_on(tmp_path: Path) -> None:
    """Whoever began to read earlier is given what is held as of then, and nothing newer."""
    with Memory(tmp_path / "m.db", key_file=tmp_path / "key", clock=FrozenClock(NOW)) as memory:
        store = memory.store

        def add(n: int) -> None:
            memory.add_turn(f"Turn {n}, is it?", session="a")
            memory.embed()

        def seen() -> list[int]:
            with store.snapshot() as moment:
                found = near(moment)
                assert store.outlines(range(9)).ids.tolist() == found
                assert near(store) == found
                return found

        add(1)
        with store.snapshot() as moment:
            assert near(moment) == [1]
            elsewhere(store, lambda: add(2))
            assert elsewhere(store, seen) == [1, 2]
            assert seen() == [1]  # of this thread's own moment still
            assert elsewhere(store, lambda: near(moment)) == [1]  # and of whom it is handed to
        with store.snapshot():  # nothing was asked of it before others went on
            elsewhere(store, lambda: add(3))
            assert elsewhere(store, seen) == [1, 2, 3]
            assert seen() == [1, 2]
        assert seen() == [1, 2, 3]
        assert memory.check() == []


def test_a_helper_thread_is_given_what_is_in_memory_and_nothing_else(tmp_path: Path) -> None:
    with Memory(tmp_path / "m.db", key_file=tmp_path / "key", clock=FrozenClock(NOW)) as memory:
        memory.add_turn("Is it here?", session="a")
        memory.embed()
        store = memory.store
        with store.snapshot() as moment:
            with pytest.raises(UsageError, match="in the thread whose snapshot"):
                elsewhere(store, lambda: near(moment))
            assert store.speakers("me") == []
            assert elsewhere(store, lambda: near(moment)) == [1]
            with pytest.raises(UsageError, match="in the thread whose snapshot"):
                elsewhere(store, lambda: moment.nearest("episode", ONE, Filters(session="a"), 5))
            (found,) = moment.nearest("episode", ONE, Filters(session="a"), 5)
            assert found.ids.tolist() == [1]


def test_nearest_is_exact_and_filtered_first(tmp_path: Path) -> None:
    """Whatever the filters leave, the best of it is found, in the order of a product."""
    with Memory(tmp_path / "m.db", key_file=tmp_path / "key", clock=FrozenClock(NOW)) as memory:
        for n in range(60):
            memory.add_turn(
                f"Number {n} of {n % 7}.", session=f"s{n % 3}", owner="ada" if n % 2 else "ben"
            )
        memory.embed()
        store = memory.store
        asked = memory.resources.embedder.embed(["number four of six", "seven"])
        for filters in (
            Filters(owner="ada"),
            Filters(owner=EVERYONE),
            Filters(owner="ben", session="s1"),
            Filters(owner=EVERYONE, session="s2", ids=range(1, 40)),
            Filters(owner="ben", ids=[7, 3, 3, 2, 999]),
            Filters(owner="nobody"),
        ):
            left = unpacked(*store.vectors("episode", store.ids("episode", filters)))
            for k in (1, 4, 100):
                for found, vector in zip(
                    store.nearest("episode", asked, filters, k), asked, strict=True
                ):
                    cosines = left.rows @ vector if len(left.ids) else np.empty(0)
                    order = np.lexsort((left.ids, -cosines.round(5)))[:k]
                    assert found.cosines == pytest.approx(cosines[order], abs=2e-6)
                    assert set(found.ids.tolist()) <= set(left.ids)
        assert sorted(store.speakers("ada")) == []


def test_who_speaks_is_told_of_one_owner(tmp_path: Path) -> None:
    with Memory(tmp_path / "m.db", key_file=tmp_path / "key", clock=FrozenClock(NOW)) as memory:
        store = memory.store
        assert store.speakers("me") == []
        memory.add_turn("I paint.", name="Ana")
        memory.add_turn("I sing.", name="Ben")
        assert sorted(store.speakers("me")) == ["Ana", "Ben"]
        memory.add_turn("I ski.", name="Cem", owner="ada")
        assert sorted(store.speakers("me")) == ["Ana", "Ben"]
        assert store.speakers("ada") == ["Cem"]
        assert sorted(store.speakers(EVERYONE)) == ["Ana", "Ben", "Cem"]
        assert store.outlines([1, 2, 3], owner="ada").speakers == ["Cem"]
        assert store.outlines([1, 3, 7]).ids.tolist() == [1, 3]
