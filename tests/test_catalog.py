"""What ranking knows of every episode follows the store without being sorted anew."""

from __future__ import annotations

from dataclasses import fields

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
        grown.refresh()
        for n, (session, name) in enumerate(turns):
            if n in cuts:
                grown.refresh()
            memory.add_turn(f"Turn {n}, is it?", session=session, name=name)
        assert_equal(grown.refresh()[0], Catalog(memory.store).refresh()[0])
