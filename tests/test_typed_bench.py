"""Hold the benches of typed memories to what they promise: reading, variants, lines."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from bench import speakers, typed
from bench._common import BenchError

TEXT = (
    "Mirza prefers invoices on paper, not by email. Her brother Tomas told me so in March. The "
    "printer in room 12 is for that."
)
MEMORIES = [
    {"type": "preference", "content": "Mirza prefers invoices on paper, not by email."},
    {"type": "fact", "content": "The printer for that is in room 12."},
    {"type": "opinion", "content": "Paper is best."},
]
CHAT = "User 1: Hi! I am a baker.\nUser 2: Nice. I keep bees and I love tea."


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Write a small folder of labelled texts."""
    inner = tmp_path / "memory_extraction"
    inner.mkdir()
    (inner / "dataset.jsonl").write_text(
        json.dumps({"id": "a", "text": TEXT}) + "\n", encoding="utf-8"
    )
    (inner / "labels.jsonl").write_text(
        json.dumps({"id": "a", "memories": MEMORIES}) + "\n", encoding="utf-8"
    )
    return tmp_path


def test_gold_is_offered_with_variants_that_differ(folder: Path) -> None:
    offers = typed.offers_of(typed.read_gold(folder))
    assert [offer.content for offer in offers if offer.variant == typed.GOLD] == [
        memory["content"] for memory in MEMORIES[:2]
    ]
    assert len({(offer.gold.id, offer.variant) for offer in offers}) == len(offers)
    for offer in offers:
        changed = offer.content != offer.gold.content
        assert changed == offer.variant.startswith(("changed_value", "added_detail"))
        assert (offer.passage != TEXT) == offer.variant.startswith("other_speaker")
    kinds = {offer.variant.split(":")[0] for offer in offers}
    assert kinds == {"gold", "changed_value", "added_detail", "other_speaker"}


def test_the_lines_are_written_and_scored(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "lines.jsonl"
    assert typed.main([str(folder), "--json", "--predictions", str(out)]) == 0
    lines = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    assert all(set(line) == {"id", "variant", "accepted"} for line in lines)
    found = typed.score(lines)
    assert found["gold_passed"] == 100.0
    assert found["variants_refused"] == 100.0


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("labels.jsonl", "{", "line 1 is no JSON"),
        ("labels.jsonl", '{"id": "a"}', "has no id or no memories"),
        ("labels.jsonl", '{"id": "b", "memories": []}', "names b, which has no text"),
        ("labels.jsonl", '{"id": "a", "memories": [{"type": "x"}]}', "the type 'x' is none of"),
        ("labels.jsonl", "", "holds no memory"),
        ("dataset.jsonl", "[]", "has no id or no text"),
    ],
)
def test_a_bad_folder_is_told(folder: Path, name: str, text: str, message: str) -> None:
    (folder / "memory_extraction" / name).write_text(text + "\n", encoding="utf-8")
    with pytest.raises(BenchError, match=message):
        typed.read_gold(folder)
    with pytest.raises(BenchError, match="cannot read"):
        typed.read_gold(folder / "nowhere")


def _personas(path: Path) -> Path:
    path.write_text(
        "user 1 personas,user 2 personas,Best Generated Conversation\n"
        f'"I am a baker.\nI love tea.","I keep bees.\nI love tea.","{CHAT}"\n',
        encoding="utf-8",
    )
    return path


def test_lines_are_offered_about_both_speakers(tmp_path: Path) -> None:
    path = _personas(tmp_path / "personas.csv")
    out = tmp_path / "lines.jsonl"
    assert speakers.main(["--personas", str(path), "--predictions", str(out), "--json"]) == 0
    lines = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    accepted = {
        (line["line"], line["line_owner"], line["asked_owner"]): line["accepted"] for line in lines
    }
    assert accepted == {
        ("I am a baker.", 1, 1): True,
        ("I am a baker.", 1, 2): False,
        ("I love tea.", 1, 1): False,
        ("I love tea.", 1, 2): True,
        ("I keep bees.", 2, 1): False,
        ("I keep bees.", 2, 2): True,
        ("I love tea.", 2, 1): False,
        ("I love tea.", 2, 2): True,
    }
    offers = [o for c in speakers.read_conversations(path) for o in speakers.offers_of(c)]
    scored = speakers.score(offers, [offer.verdict.stored for offer in offers])
    assert scored == {
        "wrong_offers": 2,  # the line that both have is left out
        "refused": 100.0,
        "own_with_words": 3,
        "own_kept": 100.0,
        "own_kept_of_all": 75.0,
    }


def test_a_bad_file_of_conversations_is_told(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("a,b\n1,2\n", encoding="utf-8")
    with pytest.raises(BenchError, match="has no column user 1 personas"):
        speakers.read_conversations(path)
    path.write_text("user 1 personas,user 2 personas,turns\n", encoding="utf-8")
    with pytest.raises(BenchError, match="holds no conversation"):
        speakers.read_conversations(path)
    with pytest.raises(BenchError, match="cannot read"):
        speakers.read_conversations(tmp_path / "nowhere.csv")
