"""A damaged file is said to be damaged, by the one error that means it, wherever it is met."""

from __future__ import annotations

import json
import traceback
from contextlib import closing
from pathlib import Path

import apsw
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.typing import NDArray

import damage
from factbook import policy
from factbook.errors import NotFound, StoreCorrupt
from factbook.memory import Memory
from factbook.store.rows import Filters
from factbook.store.sqlite.audit import LENGTH_OFF, vector_length


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for the ledger that is damaged in many ways."""
    return tmp_path_factory.mktemp("damage")


def test_no_damage_is_met_by_any_other_error(kept: Path) -> None:
    count = damage.run(0, 10, kept)
    assert dict(count.raw) == {}
    assert dict(count.alarms) == {}
    assert count.seen > 0


@pytest.mark.slow
def test_three_hundred_and_sixty_damages(kept: Path) -> None:
    count = damage.run(1_000, 360, kept)
    assert dict(count.raw) == {}
    assert dict(count.alarms) == {}
    harmful = count.damages - count.harmless
    assert harmful > 150
    assert sum(count.missed.values()) < 0.1 * harmful, str(count)


CHANGES = {
    "text that is not UTF-8": "UPDATE fact_row SET object = CAST(x'61ff62' AS TEXT)",
    "a word that is none of its kind": "UPDATE episode_data SET trust = 'direat'",
    "a status that is none": "UPDATE fact_row SET status = 'activf'",
    "no JSON": "UPDATE source_row SET lines = '{'",
    "a vector of no length": "UPDATE fact_vector SET vector = zeroblob(length(vector))",
    "a vector of no numbers": "UPDATE fact_vector SET vector ="
    " CAST(replace(hex(zeroblob(384)), '00', char(0x7e, 0x7e)) AS BLOB)",
    "a short vector": "UPDATE fact_vector SET vector = x'00'",
    "no dimension": "UPDATE meta SET value = 'x' WHERE name = 'embedder_dim'",
}


def vector_problems(path: Path, numbers: NDArray[np.float16]) -> list[str]:
    """Put a vector in the place of a ledger's first, and audit it."""
    with closing(apsw.Connection(str(path))) as raw:
        raw.execute("UPDATE fact_vector SET vector = ?", (numbers.tobytes(),))
    with damage.memory_of(path, "read") as memory:
        return [one.what for one in memory.check()]


def test_a_vector_that_is_a_little_too_long_was_changed(tmp_path: Path) -> None:
    path = tmp_path / "f.db"
    with damage.memory_of(path) as memory:
        memory.remember("I am allergic to hazelnuts")
        memory.embed()
    even = np.full(384, 1 / np.sqrt(384))
    uneven = np.geomspace(1, 1e-9, 384)
    for good in (even, uneven / np.linalg.norm(uneven), np.eye(384)[7]):
        assert vector_problems(path, good.astype(np.float16)) == []
        assert vector_problems(path, (good * 1.002).astype(np.float16)) == ["vector"]
        assert vector_problems(path, (good * 0.998).astype(np.float16)) == ["vector"]


@settings(deadline=None)
@given(
    hnp.arrays(np.float64, st.integers(1, 400), elements=st.floats(-1, 1, width=32)).filter(
        lambda one: bool(np.linalg.norm(one) > 1e-6)
    )
)
def test_rounding_is_no_damage(numbers: NDArray[np.float64]) -> None:
    half = (numbers / np.linalg.norm(numbers)).astype(np.float32).astype(np.float16)
    assert abs(vector_length(half.tobytes()) - 1) < LENGTH_OFF


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES.keys())
def test_content_that_none_of_us_wrote(change: str, tmp_path: Path) -> None:
    path = tmp_path / "f.db"
    with damage.memory_of(path) as memory:
        memory.remember("I am allergic to hazelnuts")
        memory.embed()
        assert memory.check() == []
    with closing(apsw.Connection(str(path))) as raw:
        raw.execute("PRAGMA ignore_check_constraints = ON").fetchall()
        raw.execute(change)
    failures = 0
    try:
        memory = damage.memory_of(path)
    except StoreCorrupt:
        return
    assert memory.check() != []
    for _, use in damage.uses(memory, tmp_path / "none.jsonl")[1:-3]:
        try:
            use()
        except StoreCorrupt:
            failures += 1
        except NotFound:
            pass
    memory.close()
    assert failures or "vector" in change or "dim" in change


def test_who_only_reads_compares_full_text_as_well(tmp_path: Path) -> None:
    path = tmp_path / "f.db"
    with damage.memory_of(path) as memory:
        memory.remember("I am allergic to hazelnuts")
    with damage.memory_of(path, "read") as memory:
        assert memory.check() == []
    with closing(apsw.Connection(str(path))) as raw:
        raw.execute("UPDATE fact_row SET statement = 'I am allergic to peanuts'")
    before = path.read_bytes()
    with damage.memory_of(path, "read") as memory:
        assert [one.what for one in memory.check()] == ["full_text"]
    assert path.read_bytes() == before


def test_an_error_of_another_cause_stays_what_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with damage.memory_of(tmp_path / "f.db") as memory:
        memory.remember("I live in Oslo")
        with monkeypatch.context() as patch:
            patch.setattr("factbook.store.sqlite.ledger.as_fact", None)  # a defect of ours
            with pytest.raises(TypeError, match="not callable") as caught:
                memory.query_facts()
        shown = "".join(traceback.format_exception(caught.value))
        assert shown.count("looked for damage in the ledger and found none") == 1
        assert memory.check() == []


def test_an_index_of_no_known_format_is_damage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(policy, "LOOK_BYTES", 0)  # SQLite says so itself: nobody need look
    path = tmp_path / "f.db"
    with damage.memory_of(path) as memory:
        memory.remember("I live in Oslo")
    with closing(apsw.Connection(str(path))) as raw:
        raw.execute("UPDATE fact_fts_config SET v = 0 WHERE k = 'version'")
    memory = damage.memory_of(path)
    with pytest.raises(StoreCorrupt, match="fts5 file format"):
        memory.recall("Oslo")
    assert memory.check() != []
    memory.close()


def test_an_error_of_the_caller_is_not_looked_into(tmp_path: Path) -> None:
    def fail() -> None:
        with damage.memory_of(tmp_path / "f.db"):
            raise ValueError("mine")

    with pytest.raises(ValueError, match="mine") as caught:
        fail()
    assert not getattr(caught.value, "__notes__", ())
    with damage.memory_of(tmp_path / "f.db") as memory:
        with pytest.raises(TypeError) as wrong:
            memory.recall()  # type: ignore[call-arg]
        assert not getattr(wrong.value, "__notes__", ())
        assert memory.check() == []


def test_a_defect_that_fails_at_every_call_has_the_file_read_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with damage.memory_of(tmp_path / "f.db") as memory:
        memory.remember("I live in Oslo")
        notes = []
        for _ in range(3):
            with pytest.raises(TypeError) as caught:
                memory.recall(7)  # type: ignore[arg-type]
            notes += caught.value.__notes__
        assert ["found none" in one for one in notes] == [True, False, False]
        assert all("factbook doctor" in one for one in notes[1:])
    monkeypatch.setattr(policy, "LOOK_BYTES", 1_000)
    with damage.memory_of(tmp_path / "f.db") as memory:
        with pytest.raises(TypeError) as caught:
            memory.recall(7)  # type: ignore[arg-type]
        assert "not looked at" in "".join(caught.value.__notes__)
        assert memory.check() == []


def test_an_error_of_what_was_given_to_be_called_is_not_looked_into(tmp_path: Path) -> None:
    def clock() -> int:
        return int(json.loads("no time"))

    memory = Memory(tmp_path / "f.db", key_file=tmp_path / "key", clock=clock)
    with pytest.raises(json.JSONDecodeError) as caught:
        memory.remember("I live in Oslo")
    assert not getattr(caught.value, "__notes__", ())
    assert memory.check() == []
    memory.close()


def test_what_reads_the_store_beside_memory_is_covered(tmp_path: Path) -> None:
    path = tmp_path / "f.db"
    with damage.memory_of(path) as memory:
        memory.remember("I live in Oslo")
    with closing(apsw.Connection(str(path))) as raw:
        raw.execute("UPDATE fact_row SET trust = 'direat'")

    def read() -> None:
        with damage.memory_of(path) as memory:
            list(memory.store.facts(Filters(), limit=None))

    with pytest.raises(StoreCorrupt, match="direat"):
        read()
