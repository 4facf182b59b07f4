"""Hold the bench of grounding to what it promises: lines, labels, what a new value is."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from bench import grounding
from bench._common import BenchError

DOCUMENT = "Anna sold two goats in Delft on Monday."
ROWS = [
    {"id": "a", "summary": "Anna sold two goats.", "label": 1, "edit_types": []},
    {"id": "b", "summary": "Anna sold nine goats.", "label": 0, "edit_types": ["entity"]},
    {"id": "c", "summary": "Anna sold goats in Ghent.", "label": 0, "edit_types": ["entity"]},
    {"id": "d", "summary": "Anna sold these goats.", "label": 0, "edit_types": ["other"]},
]


@pytest.fixture
def summaries(tmp_path: Path) -> Path:
    """Write a small file of summaries."""
    path = tmp_path / "summedits_farm.json"
    rows = [row | {"doc": DOCUMENT, "original_summary": "Anna sold two goats."} for row in ROWS]
    path.write_text(json.dumps(rows), encoding="utf-8")
    return path


def test_lines_and_figures(summaries: Path) -> None:
    items = grounding.read_items(summaries)
    lines = grounding.predict(items)
    assert lines == [
        {"id": "a", "accepted": True},
        {"id": "b", "accepted": False},
        {"id": "c", "accepted": False},
        {"id": "d", "accepted": True},
    ]
    figures = grounding.score(items, lines)
    assert figures["balanced_accuracy"] == pytest.approx((100 + 200 / 3) / 2, abs=0.1)
    assert figures["new_values"] == 2
    assert figures["new_value_refused"] == 100.0
    by_edit = figures["by_edit_type"]
    assert isinstance(by_edit, dict)
    assert by_edit["entity"]["balanced_accuracy"] == 100.0
    assert by_edit["other"]["balanced_accuracy"] == 50.0


def test_a_file_may_have_no_labels(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bench._common.OUT", tmp_path / "out")
    path = tmp_path / "plain.json"
    path.write_text(json.dumps([{"id": 1, "doc": DOCUMENT, "summary": "Anna sold goats."}]))
    out = tmp_path / "lines.jsonl"
    assert grounding.main(["--summedits", str(path), "--predictions", str(out), "--json"]) == 0
    assert json.loads(out.read_text()) == {"id": "1", "accepted": True}
    assert "product" not in json.loads(capsys.readouterr().out)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "cannot read"),
        ("{}", "holds no list"),
        ('[{"id": 1, "doc": ""}]', "has no summary"),
        ("[3]", "has no id"),
    ],
)
def test_bad_files_are_named(tmp_path: Path, text: str, says: str) -> None:
    path = tmp_path / "bad.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(BenchError, match=says):
        grounding.read_items(path)


def test_values_are_numbers_dates_and_names_by_their_looks() -> None:
    text = "Anna saw 3.5 goats. On Monday she met Bo's two dogs."
    assert grounding.values_of(text) == {"3.5", "monday", "bo", "two"}
