"""Hold the benches of the judge to what they promise: order, labels, generated pairs."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path

import pytest
from bench import changed, sick
from bench._common import BenchError
from bench.changed_templates import FILLERS, KIND_OF_POOL, TEMPLATES
from bench.judged import Judged, best_threshold, judge_pairs, share

from factbook.gate.judge import Relation

HEADER = "pair_ID\tsentence_A\tsentence_B\trelatedness_score\tentailment_judgment"
ROWS = [
    "1\tA man reads\tA man is reading\t4.8\tENTAILMENT",
    "2\tA man reads a book\tNobody reads a book\t3.9\tCONTRADICTION",
    "3\tA man reads\tA dog runs\t1.2\tNEUTRAL",
]


@pytest.fixture
def pairs_file(tmp_path: Path) -> Path:
    """Write a small file of pairs."""
    path = tmp_path / "pairs.txt"
    path.write_text("\n".join([HEADER, *ROWS]) + "\n", encoding="utf-8")
    return path


def test_a_file_of_pairs_is_read(pairs_file: Path) -> None:
    pairs = sick.read_pairs(pairs_file)
    assert [pair.id for pair in pairs] == ["1", "2", "3"]
    assert [pair.paraphrase for pair in pairs] == [True, False, False]


def test_other_names_of_the_label_and_no_labels_are_legal(tmp_path: Path) -> None:
    path = tmp_path / "pairs.txt"
    text = "\n".join([HEADER.replace("judgment", "label"), *ROWS])
    path.write_text(text, encoding="utf-8")
    assert sick.read_pairs(path)[1].label == "CONTRADICTION"
    path.write_text("pair_ID\tsentence_A\tsentence_B\n1\tA man reads\tA dog runs\n")
    assert sick.read_pairs(path)[0].label == ""


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "holds no pairs"),
        ("a\tb\n1\t2\n", "has no column"),
        (HEADER + "\n1\tA\tB\tmuch\tNEUTRAL\n", "is no relatedness"),
        (HEADER + "\n1\tA\n", "too few columns"),
    ],
)
def test_bad_files_are_named(tmp_path: Path, text: str, says: str) -> None:
    path = tmp_path / "bad.txt"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(BenchError, match=says):
        sick.read_pairs(path)
    with pytest.raises(BenchError, match="cannot read"):
        sick.read_pairs(tmp_path / "none.txt")


def test_scores_count_labels_against_lines(pairs_file: Path) -> None:
    pairs = sick.read_pairs(pairs_file)
    lines = [
        sick.prediction(pairs[0], merge=True, contradiction=False),
        sick.prediction(pairs[1], merge=False, contradiction=True),
        sick.prediction(pairs[2], merge=False, contradiction=True),
    ]
    found = sick.score(pairs, lines)
    assert (found["precision"], found["recall"]) == (50.0, 100.0)
    assert (found["paraphrases_merged"], found["contradictions_merged"]) == (100.0, 0.0)


def test_predictions_hold_every_pair_in_its_order(
    pairs_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out.jsonl"
    assert sick.main(["--sick", str(pairs_file), "--predictions", str(out), "--json"]) == 0
    lines = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    assert [set(line) for line in lines] == [{"pair_ID", "merge", "contradiction"}] * 3
    assert [line["pair_ID"] for line in lines] == ["1", "2", "3"]
    assert lines[0]["merge"] is True
    assert lines[1]["contradiction"] is True
    figures = json.loads(capsys.readouterr().out)
    assert {"product", "cosine_best", "cosine_085"} <= set(figures)


def test_the_best_threshold_separates_what_can_be_separated() -> None:
    assert best_threshold([0.9, 0.8, 0.3], [True, True, False]) == 0.8
    assert best_threshold([0.9, 0.9], [True, False]) == 1.0
    assert share([]) == 0.0


# ------------------------------------------------------------------ the generator


def test_the_same_seed_gives_the_same_pairs() -> None:
    assert changed.generate(seed=3, n=300) == changed.generate(seed=3, n=300)
    assert changed.generate(seed=3, n=300) != changed.generate(seed=4, n=300)


def test_the_default_set_is_large_varied_and_without_repeats() -> None:
    pairs = changed.generate()
    assert len(pairs) >= 1_200
    assert len({(pair.older, pair.newer) for pair in pairs}) == len(pairs)
    kinds = Counter(pair.kind for pair in pairs)
    assert set(kinds) == {"number", "name", "place", "date", "thing", "negation", "unchanged"}
    assert min(kinds.values()) >= 50
    assert len({pair.domain for pair in pairs}) == 10
    hows = {pair.how for pair in pairs if pair.kind == "unchanged"}
    assert hows == {"order", "synonym", "contraction", "voice", "tense"}


def test_halves_share_no_template() -> None:
    dev, held = changed.templates("dev"), changed.templates("held-out")
    assert len(dev) + len(held) == len(TEMPLATES)
    assert abs(len(dev) - len(held)) <= 1
    assert not set(dev) & set(held)


def test_every_slot_has_fillers_and_a_kind() -> None:
    for template in TEMPLATES:
        plain = set(re.findall(r"\{(\w+?)\d?\}", template.wordings[0][1]))
        for _, text in (*template.wordings, *(("", text) for text in template.negations)):
            for slot in re.findall(r"\{(\w+?)\d?\}", text):
                assert slot in plain, (slot, text)
        for pool in plain:
            assert pool in KIND_OF_POOL
            assert len(FILLERS[pool]) >= 4


def test_a_changed_pair_differs_in_one_value() -> None:
    for pair in changed.generate(n=600):
        if pair.kind not in ("negation", "unchanged") and pair.how == "plain":
            older, newer = pair.older.lower(), pair.newer.lower()
            assert older != newer
            start = 0
            while older[start : start + 1] == newer[start : start + 1]:
                start += 1
            end = 0
            while older[-1 - end : -end or None] == newer[-1 - end : -end or None]:
                end += 1
            longest = max(len(value) for values in FILLERS.values() for value in values)
            assert len(older) - start - end <= longest


def test_scores_of_changed_pairs_come_from_their_lines() -> None:
    lines = [
        {"pair": ["a", "b"], "kind": "number", "merge": True},
        {"pair": ["a", "c"], "kind": "name", "merge": False},
        {"pair": ["a", "d"], "kind": "unchanged", "merge": True},
    ]
    assert changed.score(lines) == {"false_merge_rate": 50.0, "paraphrase_recall": 100.0}


def test_wrong_judgements_are_listed() -> None:
    pair = changed.Pair(older="a", newer="b", kind="number", how="plain", domain="jobs")
    wrong = Judged(similarity=0.9, relation=Relation.SAME, rule="synonyms")
    right = Judged(similarity=0.9, relation=Relation.CONTRADICTION, rule="number")
    assert len(changed.errors([pair], [wrong])) == 1
    assert changed.errors([pair], [right]) == []
    assert changed.by_kind([pair], [right])[0]["contradiction"] == 100.0


def test_the_held_out_half_is_judged_as_promised() -> None:
    pairs = changed.generate(n=300, half="held-out")
    judged = judge_pairs([(pair.older, pair.newer) for pair in pairs])
    found = changed.score(
        [changed.prediction(pair, one) for pair, one in zip(pairs, judged, strict=True)]
    )
    assert found["false_merge_rate"] <= 1.0
    assert found["paraphrase_recall"] >= 80.0


def test_bad_arguments_are_refused() -> None:
    with pytest.raises(BenchError, match="positive"):
        changed.main(["--n", "0"])
