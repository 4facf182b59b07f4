"""Whatever a caller has to name is exported from `factbook`, and nothing else is."""

from __future__ import annotations

import inspect
import re
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

import pytest

import factbook
from factbook import Conversation, Memory
from factbook.memory import _Made
from factbook.testing import FrozenClock
from memory_parts import PARTS, kinds, public
from rows import every

PYTHONS = {
    "Callable",
    "Collection",
    "Iterable",
    "Iterator",
    "Literal",
    "Mapping",
    "None",
    "Path",
    "PathLike",
    "Sequence",
}
PLAIN = {"Millis", "Mode", "SQLValue", "Store"}  # other names of int, str and values; given by us


def test_what_a_signature_names_is_exported() -> None:
    named = set[str]()
    for part, kind in {**kinds(), "conversation": Conversation}.items():
        own = part in ("", "conversation")
        for method in [*public(kind).values(), *([kind.__init__] if part == "" else [])]:
            for name, hint in inspect.unwrap(method).__annotations__.items():
                if own or name != "return":
                    named |= set(re.findall(r"\b[A-Z]\w+", str(hint)))
    assert named - PYTHONS - PLAIN - {"PassiveStream"} - set(factbook.__all__) == set()


@every("name", factbook.__all__)
def test_what_is_exported_is_there(name: str) -> None:
    assert getattr(factbook, name) is not None


def test_memory_has_what_an_agent_needs_and_no_more() -> None:
    assert len(public(Memory)) <= 25


def test_times_are_given_as_datetimes_too(tmp_path: Path) -> None:
    clock = FrozenClock()
    now = datetime.fromtimestamp(clock() / 1000, UTC)
    with Memory(tmp_path / "m.db", clock=clock, key_file=tmp_path / "key", model=None) as memory:
        fact = memory.remember("I live in Oslo")
        known = memory.explain(fact.id)
        assert known.fact.when == known.fact.learned == known.evidence[0].when == now
        assert {one.when for one in known.history} == {now}
        assert memory.recall("Where do I live?").hits[0].when == now
        assert memory.check() == []


def test_what_is_forgotten_is_recalled_no_more_and_can_come_back(tmp_path: Path) -> None:
    clock = FrozenClock()
    with Memory(tmp_path / "m.db", clock=clock, key_file=tmp_path / "key", model=None) as memory:
        told = memory.remember("I live in Oslo")
        hers = memory.remember("I live in Bergen", owner="ann")
        memory.interests.like("Brimley Swift")
        memory.forget(f"f{told.id}")
        memory.forget("brimley swift")
        assert memory.query_facts() == []
        assert memory.interests.entities() == []
        for nothing in (hers.id, 10**30, "f99", "velora"):
            with pytest.raises(factbook.NotFound):
                memory.forget(nothing)
        assert [one.id for one in memory.query_facts(owner="ann")] == [hers.id]
        memory.review.feedback(told.id, right=True)
        memory.interests.restore_entity("brimley swift")
        assert [one.id for one in memory.query_facts()] == [told.id]
        assert memory.check() == []


class _Slow(Memory):
    """A memory with a part that takes a while to make."""

    @_Made
    def slow(self) -> object:
        time.sleep(0.05)
        return object()


def test_a_part_is_one_for_all_threads(tmp_path: Path) -> None:
    with (
        _Slow(tmp_path / "m.db", key_file=tmp_path / "key", model=None) as memory,
        ThreadPoolExecutor(8) as pool,
    ):
        found = [one.result() for one in [pool.submit(lambda: memory.slow) for _ in range(8)]]
        assert all(one is memory.slow for one in found)
        assert all(isinstance(vars(Memory)[name], _Made) for name in ("conversations", *PARTS))
