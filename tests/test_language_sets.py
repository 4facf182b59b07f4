"""The rules that read English, on the labelled sets of `data/language`: none is below its floor."""

from __future__ import annotations

import json

import pytest
from bench.language import FOLDER, below, floors, rows_of, score
from bench.language_rules import READERS


@pytest.mark.parametrize("name", sorted(READERS))
def test_a_set_is_read_as_well_as_its_floor_says(name: str) -> None:
    found = score(name, rows_of(name), READERS[name])
    wrong = "\n".join(map(str, found.wrong))
    assert not below(found, floors()[name]), f"{found}\n{wrong}"


def test_every_set_has_a_reader_a_floor_and_rows_with_all_fields() -> None:
    """No row stands twice in a set: what is asked of it is said once."""
    assert set(floors()) == set(READERS) == {path.stem for path in FOLDER.glob("*.jsonl")}
    for name in READERS:
        asked = []
        for row in rows_of(name):
            assert {"expected", "kind", "source"} <= set(row)
            asked.append(json.dumps({**row, "source": "", "expected": []}, sort_keys=True))
        assert len(asked) == len(set(asked)), name


def test_what_is_read_wrong_lowers_the_figures() -> None:
    """Precision counts the labels that are given, recall those that are right."""
    rows = [{"expected": ["a", "b"]}, {"expected": ["a"]}, {"expected": []}]
    right = score("x", rows, lambda row: row["expected"])
    assert (right.rows, right.precision, right.recall, right.wrong) == (3, 1.0, 1.0, [])
    nothing = score("x", rows, lambda _: [])
    assert (nothing.precision, nothing.recall, len(nothing.wrong)) == (1.0, 0.0, 2)
    always = score("x", rows, lambda _: ["a"])
    assert (always.precision, always.recall, len(always.wrong)) == (2 / 3, 2 / 3, 2)
    twice = score("x", rows[:1], lambda _: ["a", "a"])
    assert (twice.precision, twice.recall) == (0.5, 0.5)
    floor = {"rows": 3, "precision": 0.98, "recall": 0.98}
    assert not below(right, floor)
    assert below(nothing, floor)
    assert below(always, floor)
    assert below(score("x", rows[:2], lambda row: row["expected"]), floor)


def test_the_table_of_typed_memories_is_large_enough() -> None:
    """At least 120 claims that are near to the truth, and 60 that are true."""
    rows = rows_of("typed")
    assert sum(not row["expected"] for row in rows) >= 120
    assert sum(bool(row["expected"]) for row in rows) >= 60
