"""Which names may become an entity's (seed 003, entity name validation)."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import time
import unicodedata
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conftest import examples
from factbook import policy
from factbook.embed import bundled
from factbook.gate.names import (
    NAME_THRESHOLD,
    command_problem,
    judge_name,
    name_text,
    semantic_ok,
    structural_problem,
)
from factbook.model.keys import entity_name
from rows import every

ROOT = Path(__file__).resolve().parent.parent
SCRIPT = ROOT / "scripts" / "calibrate_names.py"


# --- structure: the seed's list -------------------------------------------------------------------


@every(
    ("name", "problem"),
    [
        ("a very long description of a speaker that nobody says", "more than 8 words"),
        ("{topic}", "a model wrote"),
        ("{desccription}", "a model wrote"),
        ("KEF confidence score: 0.9", "a model wrote"),
        ("kef -brief: a speaker", "a model wrote"),
        ("1. KEF LS50", "an item of a list"),
        ("12.KEF", "an item of a list"),
        ("https://example.org/kef", "an address"),
        ("www.example.org", "an address"),
        ("**KEF LS50**", "Markdown"),
        ("# KEF", "Markdown"),
        ("KEF\nLS50", "a line break"),
    ],
)
def test_the_structural_filter_of_seed_003(name: str, problem: str) -> None:
    """Seed 003, entity name validation, layer 1: words, artifacts, list items, URLs, markdown."""
    assert problem in str(structural_problem(name))


def test_eight_words_are_a_name() -> None:
    assert policy.NAME_WORDS == 8
    assert structural_problem("Ola Berg and the Very Long Nordlys Band") is None
    assert structural_problem("Ola Berg and the Very Long Nordlys Band Quartet") is not None


@pytest.mark.parametrize("sign", policy.NAME_ARTIFACTS)
def test_every_artifact_of_the_seed_is_refused_in_any_case(sign: str) -> None:
    assert structural_problem(f"kef {sign}") is not None
    assert structural_problem(f"kef {sign.upper()}") is not None


# --- structure: learned, and ours -----------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    [
        "kef\u202eatem",
        "ke\u200bf",
        "kef\x00",
        "kef\x1b[31m",
        "kef\u2066x\u2069",
        "kef\u061c x",
        "kef\x9b31m",
        "[31mkef",
        "kef\ue000",
    ],
)
def test_signs_that_cannot_be_seen_are_no_part_of_a_name(name: str) -> None:
    assert structural_problem(name) == "it holds signs that cannot be seen"
    assert command_problem(name) == "it holds signs that cannot be seen"


@pytest.mark.parametrize("name", ["[REDACTED:token]", "kef [REDACTED:api-key:5f0c]", "[REDACTED"])
def test_a_label_of_a_secret_is_no_part_of_a_name(name: str) -> None:
    assert structural_problem(name) is not None
    assert command_problem(name) is not None


ODD = st.lists(
    st.sampled_from(
        [
            *"ab ()[]{}《》'’s.:\x1b\x9b\x07\u200d\u202eé\u0301ﬁİß",
            "[REDACTED:",
            "\x1b[",
            "[31m",
            "'s",
        ]
    ),
    max_size=24,
).map("".join)


@given(st.text(max_size=200) | ODD)
@settings(max_examples=examples(100), deadline=None)
def test_a_name_is_the_name_of_itself(written: str) -> None:
    name = entity_name(written)
    assert entity_name(name) == name
    hidden = {char for char in name if unicodedata.category(char) in ("Cc", "Cf", "Cs")}
    assert hidden <= {"\u200c", "\u200d"}
    assert "[redacted" not in name
    waiting: list[str] = []
    for char in name:
        if char in "([{":
            waiting.append({"(": ")", "[": "]", "{": "}"}[char])
        elif char in ")]}":
            assert waiting.pop() == char
    assert waiting == []


@pytest.mark.parametrize("piece", ["(", ")", "’s", "(x", "\x1b[", "[redacted"])
def test_no_name_takes_long(piece: str) -> None:
    begin = time.process_time()
    entity_name(piece * 3_000)
    entity_name("(" * 3_000 + piece + ")" * 3_000)
    assert time.process_time() - begin < 2


@given(st.text(max_size=200))
@settings(max_examples=examples(50), deadline=None)
def test_every_text_is_judged(name: str) -> None:
    problem = structural_problem(name)
    assert problem is None or problem.startswith("it ")
    if problem is None:
        assert judge_name(name).accepted
        assert judge_name(name).name


# --- meaning --------------------------------------------------------------------------------------


def unit(*numbers: float) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
    vector = np.asarray(numbers, dtype=np.float32)
    return vector / np.linalg.norm(vector)


def test_the_semantic_filter_of_seed_003() -> None:
    """Seed 003, entity name validation, layer 2: too far from what was asked is refused."""
    asked = unit(1, 0)
    near = judge_name("KEF LS50", query_vector=asked, name_vector=unit(1, 1))
    assert (near.accepted, near.layer) == (True, "meaning")
    far = judge_name("Nordvik Insurance", query_vector=asked, name_vector=unit(0, 1))
    assert not far.accepted
    assert far.problem == f"it has too little to do with what was asked (0.00 < {NAME_THRESHOLD})"
    assert far.similarity == 0.0


def test_the_structural_filter_goes_first() -> None:
    verdict = judge_name("1. KEF", query_vector=unit(1, 0), name_vector=unit(1, 0))
    assert (verdict.layer, verdict.similarity) == ("structure", None)


def test_the_threshold_itself_is_near_enough_and_nan_is_not() -> None:
    assert semantic_ok(NAME_THRESHOLD)
    assert not semantic_ok(NAME_THRESHOLD - 0.001)
    assert not semantic_ok(float("nan"))


def test_a_name_is_compared_with_its_sentence() -> None:
    assert name_text("ls50", "The LS50\n is a speaker.") == "ls50 – The LS50 is a speaker."
    assert name_text("ls50") == "ls50"


def test_a_sponsor_is_refused_by_the_shipped_model() -> None:
    texts = [
        "bookshelf speakers",
        name_text("KEF LS50 Meta", "The KEF LS50 Meta is a speaker for the bookshelf."),
        name_text("Nordvik Insurance", "Cover for all you own, from Nordvik Insurance."),
    ]
    asked, speaker, sponsor = bundled().embed(texts)
    assert judge_name("KEF LS50 Meta", query_vector=asked, name_vector=speaker).accepted
    assert not judge_name("Nordvik Insurance", query_vector=asked, name_vector=sponsor).accepted


def test_the_page_shows_the_curve_that_the_script_prints() -> None:
    done = subprocess.run(
        [sys.executable, str(SCRIPT), "--check"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{NAME_THRESHOLD:.2f} (chosen)" in done.stdout


def test_the_script_measures_texts_of_ones_own(tmp_path: Path) -> None:
    spec = importlib.util.spec_from_file_location("calibrate_names", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    with pytest.raises(SystemExit, match=r"cannot read .*dataset\.jsonl"):
        list(script._gold_pairs(tmp_path))
    (tmp_path / "dataset.jsonl").write_text(
        '{"id": "1", "text": "The Nordlys band plays jazz. It rains."}\n'
        '{"id": "2", "text": "Kestrel is a database."}\n'
    )
    (tmp_path / "labels.jsonl").write_text(
        '{"id": "1", "entities": [{"name": "Nordlys"}]}\n'
        '{"id": "2", "entities": [{"name": "Kestrel"}]}\n'
    )
    pairs = list(script._gold_pairs(tmp_path))
    assert [pair.genuine for pair in pairs] == [True, False, True, False]
    assert script.chosen(pairs) in script.STEPS
