"""The retrieval bench reads its formats, writes lines to score anew, and counts rightly."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from bench import retrieval
from bench._common import BenchError
from numpy.typing import NDArray

from factbook.language.words import words


class WordCounts:
    """A small real embedder: words hashed into 64 dimensions."""

    def embed(self, texts: Sequence[str], /) -> NDArray[np.float32]:
        rows = np.zeros((len(texts), 64), np.float32)
        for row, text in zip(rows, texts, strict=True):
            row[0] = 0.01  # so that a text without words has a direction as well
            for word in words(text):
                row[1 + sum(word.encode()) % 63] += 1
        normal: NDArray[np.float32] = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        return normal


DIALOG = [
    {
        "sample_id": "boats",
        "conversation": {
            "speaker_a": "Ana",
            "speaker_b": "Ben",
            "session_1_date_time": "9:05 am on 3 March, 2024",
            "session_1": [
                {"speaker": "Ana", "dia_id": "D1:1", "text": "Guess what I did on Sunday!"},
                {"speaker": "Ben", "dia_id": "D1:2", "text": "Did you paint the boat shed?"},
                {
                    "speaker": "Ana",
                    "dia_id": "D1:3",
                    "text": "Yes, in cobalt blue.",
                    "blip_caption": "a blue wooden wall",
                },
            ],
            "session_2_date_time": "7:30 pm on 20 April, 2024",
            "session_2": [
                {"speaker": "Ben", "dia_id": "D2:1", "text": "I sold my kayak to a neighbour."},
                {"speaker": "Ana", "dia_id": "D2:2", "text": "What a pity, it was a fast one."},
            ],
        },
        "qa": [
            {
                "question": "Which colour did Ana give the boat shed?",
                "evidence": ["D:1:03"],
                "category": 4,
            },
            {
                "question": "What became of the kayak that Ben had in April?",
                "evidence": ["D2:1; D1:2"],
                "category": 2,
            },
            {"question": "Who is Carla?", "evidence": [], "category": 5},
        ],
    }
]
HAYSTACK = [
    {
        "question_id": "q1",
        "question_type": "single-session-user",
        "question": "Which seeds did I order?",
        "answer": "beetroot",
        "question_date": "2024/05/02 (Thu) 10:00",
        "haystack_session_ids": ["s1", "s2"],
        "haystack_dates": ["2024/04/01 (Mon) 08:00", "2024/04/02 (Tue) 08:00"],
        "haystack_sessions": [
            [{"role": "user", "content": "My bike needs new brakes."}],
            [
                {"role": "user", "content": "I ordered beetroot seeds.", "has_answer": True},
                {"role": "assistant", "content": "Sow them in April."},
            ],
        ],
        "answer_session_ids": ["s2"],
    },
    {"question_id": "q2_abs", "answer_session_ids": ["s9"]},
]


def written(path: Path, content: Any) -> Path:
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


def test_locomo_is_read_as_it_is_judged(tmp_path: Path) -> None:
    (conversation,) = retrieval.read_locomo(written(tmp_path / "l.json", DIALOG))
    assert conversation.units[2].text == "Ana: Yes, in cobalt blue. [image: a blue wooden wall]"
    assert [question.gold for question in conversation.questions] == [("D1:3",), ("D2:1", "D1:2")]
    assert [question.category for question in conversation.questions] == ["single-hop", "temporal"]


def test_locomo_predictions_can_be_scored_anew(tmp_path: Path) -> None:
    out = tmp_path / "predictions.jsonl"
    figures = retrieval.locomo(written(tmp_path / "l.json", DIALOG), WordCounts(), out)
    lines = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    assert [set(line) for line in lines] == [{"sample_id", "question", "ranked"}] * 2
    assert all(len(line["ranked"]) == len(set(line["ranked"])) == 5 for line in lines)
    assert lines[1]["ranked"][0] == "D2:1"
    assert figures["product"]["all"]["R@5"] == 100.0
    assert set(figures["baselines"]) == {"BM25", "BM25, stemmed", "vectors", "rank fusion"}


def test_variants_hold_what_is_shipped(tmp_path: Path) -> None:
    figures = retrieval.compare_variants(written(tmp_path / "l.json", DIALOG), WordCounts())
    assert figures["variants"]["as shipped"]["R@5"] == 100.0
    assert set(figures["held_out"]["chosen"]) == {"boats"}


def test_a_session_of_longmemeval_s_is_as_high_as_its_best_turn(tmp_path: Path) -> None:
    pools = retrieval.read_longmemeval_s(written(tmp_path / "s.json", HAYSTACK))
    out = tmp_path / "predictions.jsonl"
    figures = retrieval.longmemeval(pools, WordCounts(), out)
    assert json.loads(out.read_text(encoding="utf-8"))["ranked"] == ["s2", "s1"]
    assert figures["questions"] == 1
    assert figures["product"]["all"]["recall_all@5"] == 100.0


def test_a_shared_pool_holds_evidence_and_distractors(tmp_path: Path) -> None:
    turn = {"role": "user", "content": "I ordered beetroot seeds."}
    session = {"date": "2024/04/02 (Tue) 08:00", "turns": [turn]}
    asked = [
        {
            "question_id": "q1",
            "question": "Which seeds did I order?",
            "evidence_sessions": [session],
        },
        {"question_id": "q2", "question": "Anything else?", "evidence_sessions": []},
    ]
    noise = [{"id": "n1", "text": "My bike.", "timestamp": "2024/04/01 (Mon) 08:00"}]
    (pool,) = retrieval.read_longmemeval(
        written(tmp_path / "q.json", asked), written(tmp_path / "d.json", noise)
    )
    assert [unit.id for unit in pool.units] == ["q1#0", "n1"]
    assert [question.gold for question in pool.questions] == [("q1#0",)]


def test_recall_any_and_recall_all_differ() -> None:
    question = retrieval.Question(id="q", text="?", category="c", gold=("a", "b"))
    ranked = ["a", *(f"x{n}" for n in range(6)), "b"]
    answers = [retrieval.Answered(conversation="c", question=question, ranked=ranked)]
    assert retrieval.session_recall(answers) == {
        "recall_any@5": 100.0,
        "recall_all@5": 0.0,
        "recall_any@10": 100.0,
        "recall_all@10": 100.0,
    }
    assert retrieval.evidence_recall(answers, [5, 10]) == {"R@5": 50.0, "R@10": 100.0}


@pytest.mark.parametrize(("content", "says"), [(b"{", "is not JSON"), (b"{}", "no JSON list")])
def test_a_file_of_another_kind_is_refused(tmp_path: Path, content: bytes, says: str) -> None:
    path = tmp_path / "x.json"
    path.write_bytes(content)
    with pytest.raises(BenchError, match=says):
        retrieval.read_locomo(path)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(BenchError, match=r"gone\.json cannot be read"):
        retrieval.read_locomo(tmp_path / "gone.json")


def test_predictions_belong_to_one_set(tmp_path: Path) -> None:
    one = str(tmp_path / "x.json")
    with pytest.raises(BenchError, match="exactly one set"):
        retrieval.main(["--locomo", one, "--longmemeval-s", one, "--predictions", one])
