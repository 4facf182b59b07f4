"""Hold the bench of entity resolution to what it promises: formats, order, scores."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from bench import entities
from bench._common import BenchError
from bench.entities import best_f1, files_of, read_description, read_pairs, score

LINES = [
    "COL name VAL moka pot m3 COL price VAL 20.00 COL class VAL 7"
    "\tCOL name VAL moka pot m-3 COL price VAL  COL class VAL 7\t1",
    "COL name VAL moka pot m3 COL price VAL 20.00 COL class VAL 7"
    "\tCOL name VAL tea kettle k9 COL price VAL 45 COL class VAL 8\t0",
    "COL name VAL tea kettle k9 COL price VAL 45.00 COL class VAL 8"
    "\tCOL name VAL tea kettle k9 steel COL price VAL 44 COL class VAL 8\t1",
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Write a folder with one set of pairs."""
    inner = tmp_path / "Kitchen"
    inner.mkdir()
    (inner / "valid.txt").write_text("\n".join(LINES) + "\n", encoding="utf-8")
    return tmp_path


def test_a_description_is_read() -> None:
    found = read_description("COL title VAL the COLD case COL authors VAL a , b COL year VAL ")
    assert found.name == "the COLD case"
    assert dict(found.attributes) == {"authors": "a , b", "year": ""}


def test_the_first_value_there_is_names_the_thing() -> None:
    found = read_description("COL name VAL  COL maker VAL acme COL price VAL 3")
    assert (found.name, dict(found.attributes)) == ("acme", {"name": "", "price": "3"})
    assert read_description("COL name VAL ").name == ""


def test_what_numbers_the_things_is_left_out() -> None:
    assert "class" not in read_description("COL name VAL x COL Class VAL 3 COL id VAL 9").attributes


@pytest.mark.parametrize(
    "line",
    [
        "no columns\tCOL name VAL x\t1",
        "COL name VAL x\t1",
        "COL name VAL x\tCOL name VAL y\tmaybe",
        "COL name VAL x\tCOL name VAL y\t1\t0",
    ],
)
def test_a_bad_line_is_one_clear_sentence(tmp_path: Path, line: str) -> None:
    path = tmp_path / "test.txt"
    path.write_text(f"{LINES[0]}\n{line}\n", encoding="utf-8")
    with pytest.raises(BenchError, match=r"test\.txt line 2: .*correct it"):
        read_pairs(path)


def test_files_are_found_in_a_folder_or_in_its_folders(folder: Path) -> None:
    inner = folder / "Kitchen"
    assert files_of(folder) == files_of(inner) == files_of(inner / "valid.txt")
    (inner / "test.txt").write_text(LINES[0], encoding="utf-8")
    assert files_of(folder) == [inner / "test.txt"]
    (inner / "empty").mkdir()
    with pytest.raises(BenchError, match="name a file or folder of pairs"):
        files_of(inner / "empty")
    with pytest.raises(BenchError):
        read_pairs(folder / "absent.txt")


def test_scores_are_percent() -> None:
    assert score([True, True, False, False], [True, False, True, False]) == {
        "precision": 50.0,
        "recall": 50.0,
        "f1": 50.0,
    }
    assert score([False], [False]) == {"precision": 0.0, "recall": 0.0, "f1": 0.0}


def test_the_best_threshold_takes_equal_values_together() -> None:
    values, gold = [0.9, 0.8, 0.8, 0.1], [True, True, False, False]
    assert best_f1(values, gold) == 0.8
    assert best_f1([0.2, 0.1], [False, False]) == float("inf")


def test_predictions_keep_the_order_of_the_file_and_the_product_is_beside_its_baselines(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bench._common.OUT", folder / "out")
    predicted = folder / "predictions.jsonl"
    assert entities.main([str(folder), "--predictions", str(predicted), "--json"]) == 0
    lines = [json.loads(line) for line in predicted.read_text(encoding="utf-8").splitlines()]
    assert [(one["left"], one["right"]) for one in lines] == [
        tuple(line.split("\t")[:2]) for line in LINES
    ]
    assert [one["same"] for one in lines] == [True, False, True]
    assert all(one["same"] for one in lines if one["merge"])
    figures = json.loads(capsys.readouterr().out)["sets"]["Kitchen/valid.txt"]
    assert figures["product"]["f1"] == 100.0
    assert {"exact_name", "cosine_name", "cosine_record", "merged_unasked"} <= set(figures)


def test_labels_change_no_prediction(folder: Path, tmp_path: Path) -> None:
    pairs = read_pairs(folder / "Kitchen" / "valid.txt")
    bare = tmp_path / "bare.txt"
    bare.write_text("\n".join(line.rpartition("\t")[0] for line in LINES), encoding="utf-8")
    unlabelled = read_pairs(bare)
    assert all(pair.same is None for pair in unlabelled)
    said = [
        entities.prediction(p, s) for p, s in zip(pairs, entities.judge_pairs(pairs), strict=True)
    ]
    again = entities.judge_pairs(unlabelled)
    assert said == [entities.prediction(p, s) for p, s in zip(unlabelled, again, strict=True)]


def test_a_file_without_labels_is_predicted_and_not_scored(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bench._common.OUT", tmp_path / "out")
    bare = tmp_path / "bare.txt"
    bare.write_text("\n".join(line.rpartition("\t")[0] for line in LINES), encoding="utf-8")
    assert entities.main([str(bare), "--json"]) == 0
    (figures,) = json.loads(capsys.readouterr().out)["sets"].values()
    assert figures == {"pairs": 3}
