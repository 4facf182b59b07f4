"""A memory that is in no file says so where a file is needed, and does everything else."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from factbook import Memory, UsageError
from factbook.testing import FrozenClock
from test_both_stores import in_memory  # noqa: F401

NOW = 1_763_700_000_000


@pytest.fixture
def memory(in_memory: str, tmp_path: Path) -> Iterator[Memory]:  # noqa: F811
    with Memory(in_memory, clock=FrozenClock(NOW), key_file=tmp_path / "key", model=None) as opened:
        yield opened


def test_what_needs_a_file_says_that_there_is_none(memory: Memory) -> None:
    for asked in (lambda: memory.sql("SELECT 1"), memory.reopen, lambda: memory.path):
        with pytest.raises(UsageError, match="this memory is in no file of this machine"):
            asked()
    stats = memory.stats()
    assert (stats.path, stats.size_bytes) == (memory.store.name, 0)


def test_what_is_erased_is_gone_from_its_rows(memory: Memory) -> None:
    fact = memory.remember("My locker code is 77-zebra-19.")
    other = memory.remember("I like tea.")
    assert memory.erasure.find_residues("77-zebra-19").rows != []
    done = memory.erasure.erase_fact(fact.id)
    assert done.file is None
    assert done.nothing_left
    sighting = memory.erasure.find_residues("77-zebra-19")
    assert (list(sighting.rows), sighting.in_file) == ([], None)
    assert memory.erasure.finish_erasing() is None
    assert [one.id for one in memory.query_facts()] == [other.id]


def test_the_doctor_says_that_it_is_no_file(memory: Memory) -> None:
    from factbook.memory.doctor import _database

    [found] = _database(memory)
    assert (found.level, found.name) == ("ok", "database")
    assert "it is no file" in found.detail
