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

ROOT = Path(__file__).resolve().parent.parent
SCRIPT = ROOT / "scripts" / "calibrate_names.py"


# --- structure: the seed's list -------------------------------------------------------------------


@pytest.mark.parametrize(
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
    """
    3|42|1984|3.12|v2.1|1,600|12 inches|5 stars|50%|2-3 weeks|first|twenty|iv|10 of 12|16gb|+47 123|
    2024|the 1990s|may|March 2024|monday|5pm|10:30|summer 2023|January 5, 2024|5 January|2024-01-05|
    today|last week|q3 2024|mid-2020|friday evening|$1,600|€20|1,600 dollars|under $50|from 20 USD|
    france|Paris|northern italy|Paris, France|USA|New York|the netherlands|
    unknown|N/A|none|null|example|lorem ipsum|untitled|tbd|[name]|<entity>|your name|foo|true|
    read more|Privacy Policy|Subscribe to our newsletter|Sign up|Cookie Policy|Accept all cookies|
    All rights reserved|Copyright 2024 Nordlys|Share this|8 min read|by admin|Page 3 of 10|
    Sponsored|Related articles|Skip to main content|Add to cart|Table of contents|
    Powered by Nordlys|x|q|a|!!!|🎉|...|_|
    the best products|more details|product|website|users|the company|other options|some of the most|
    review of the|kef and|or kef|the speaker with|than others|
    hello|thanks|ok|hello there|
    as an AI language model|Sure, here are the entities|no entities found|not mentioned|
    the text does not say|I cannot determine the name|name: KEF|Entity: KEF|user: hello there|
    "name": "KEF"|/like jazz|/learn speakers|function foo() {|SELECT name; --|C:\\Users\\kef\\x|
    /usr/local/bin|192.168.0.1|d41d8cd98f00b204e9800998ecf8427e|ola@example.org|
    it is the best one of them|what is the best speaker to buy?|KEF is a maker of speakers.|
    <b>KEF</b>|KEF &amp; co|kef|
    """.replace("\n", "").split("|")[:-2],
)
def test_what_is_no_name_is_refused(name: str) -> None:
    assert structural_problem(name.strip()) is not None


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


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("a [REDACTED:api_key] b", "a b"),
        ("kef [redacted:token:5f0c]", "kef"),
        ("kef [REDACTED:to", "kef"),
        ("[REDACTED]", ""),
        ("\x1b[1;31mKEF\x1b[0m LS50", "kef ls50"),
        ("\x1b]0;title\x07KEF", "kef"),
        ("\x9b31mKEF", "kef"),
        ("[31mKEF", "kef"),
        ("kef\u202e\u2066 ls50\u2069", "kef ls50"),
        ("kef\x00ls50", "kef ls50"),
        ("Python (programming language)", "python (programming language)"),
        ("(KEF) LS50", "(kef) ls50"),
        ("((KEF))", "kef"),
        ("KEF (LS50", "kef ls50"),
        ("KEF) LS50]", "kef ls50"),
        ("KEF ([LS50)", "kef (ls50)"),
        ("KEF ()", "kef"),
        ("《三体", "三体"),
        ("C++", "c++"),
    ],
)
def test_what_an_entity_is_called(written: str, name: str) -> None:
    assert entity_name(written) == name


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
@settings(max_examples=400, deadline=None)
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


@pytest.mark.parametrize(
    "name",
    """
    KEF LS50 Meta|wharfedale denton 85|ml prague 2026|espresso machines|speakers|jazz|vinyl records|
    The Office|Breaking Bad|The Last of Us|This Is Us|The Good Place|New Order|Best Buy|Plan A|
    Node.js|C++|C#|AC/DC|R&B|H&M|Super Smash Bros.|50 Cent|2 Chainz|3 Doors Down|Maroon 5|Blink-182|
    U2|iPhone 15 Pro|Windows 11|Python 3.12|Who's Afraid of Virginia Woolf?|Dude, Where's My Car?|
    Bank of England|Paris Hilton|Black Friday|Friday Night Lights|April Ludgate|Spring Boot|
    Image Comics|404 Media|JavaScript|Johnson & Johnson|Guns N' Roses|J.R.R. Tolkien|Dr. Dre|
    Georgia O'Keeffe|東京タワー|三体|Дюна|Beyoncé|Let It Be|The Way We Were|According to Jim|
    I Am Legend|There Will Be Blood|SQLite|Booking.com|Last.fm|Yahoo!|Formula 1|Area 51|Rust|Go|
    Apple|Target|X-Men|T-Mobile|GPT-4|GeForce RTX 4090|WH-1000XM5|Levi's|Of Mice and Men|
    From Dusk Till Dawn|And Justice for All|Home Assistant|Raspberry Pi 5|New York Times|
    Boston Dynamics|London Symphony Orchestra|Texas Roadhouse|photography|sourdough
    """.replace("\n", "").split("|"),
)
def test_names_are_no_false_positives(name: str) -> None:
    """Seed 003: the structural filter had "zero false positives"."""
    assert structural_problem(name.strip()) is None


@given(st.text(max_size=200))
@settings(max_examples=200, deadline=None)
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
