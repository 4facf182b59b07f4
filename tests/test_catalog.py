"""What ranking knows of every episode follows the store without being sorted anew."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from factbook.memory import Memory
from factbook.recall.catalog import Catalog, EpisodeTable
from factbook.testing import FrozenClock

NOW = 1_790_000_000_000


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
        grown = Catalog(memory.store)
        table_of(grown)
        for n, (session, name) in enumerate(turns):
            if n in cuts:
                table_of(grown)
            memory.add_turn(f"Turn {n}, is it?", session=session, name=name)
        assert_equal(table_of(grown), table_of(Catalog(memory.store)))


def table_of(catalog: Catalog) -> EpisodeTable:
    with catalog.snapshot() as held:
        return held.table


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
    )
    assert table.holds(np.asarray(asked, np.int64)).tolist() == [one in ids for one in asked]


def test_a_question_keeps_its_moment_while_other_threads_go_on(tmp_path: Path) -> None:
    """Whoever began to read earlier is given what is held as of then, and nothing newer."""
    with Memory(tmp_path / "m.db", key_file=tmp_path / "key", clock=FrozenClock(NOW)) as memory:
        catalog = Catalog(memory.store)

        def add(n: int) -> None:
            memory.add_turn(f"Turn {n}, is it?", session="a")
            memory.embed()

        def seen() -> list[int]:
            with catalog.snapshot() as held:
                assert held.episodes is not None
                assert held.table.ids.tolist() == sorted(held.episodes.ids.tolist())
                return held.table.ids.tolist()

        def elsewhere(work: Callable[[], object]) -> object:
            with ThreadPoolExecutor(1) as pool:
                done = pool.submit(work).result()
                pool.submit(memory.store.close_thread).result()
                return done

        add(1)
        with catalog.snapshot() as held:
            elsewhere(lambda: add(2))
            assert elsewhere(seen) == [1, 2]
            assert seen() == [1]  # of this thread's own moment still
            assert held.episodes is not None
            assert held.table.ids.tolist() == held.episodes.ids.tolist() == [1]
        with memory.store.snapshot():  # begun by somebody who knows nothing of the catalog
            elsewhere(lambda: add(3))
            assert elsewhere(seen) == [1, 2, 3]
            assert seen() == [1, 2]
        assert seen() == [1, 2, 3]
        assert memory.check() == []
