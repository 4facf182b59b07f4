"""What the shipped networks read of plain text, and what is said where they cannot."""

import hashlib
import json
import re
import shutil
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.rows import every

from factbook import policy
from factbook.errors import ReaderError
from factbook.language.reader.network import DATA, Networks
from factbook.language.reader.read import read
from factbook.language.reader.reading import Reading
from factbook.language.reader.standing import PLACES, sentence_places, signs_of
from factbook.language.reader.words import words_of


@every(
    ("text", "act", "keep"),
    [
        ("I live in Bergen", "tell", True),
        ("my son is allergic to peanuts", "tell", True),
        ("We have two dogs.", "tell", True),
        ("I work night shifts at the hospital", "tell", True),
        ("what time is it in Tokyo?", "ask", False),
        ("can you shorten this paragraph", "want", False),
        ("thanks!", "chat", False),
        ("the kettle is boiling", "tell", False),
    ],
)
def test_what_a_plain_clause_does_and_whether_it_lasts(text: str, act: str, keep: bool) -> None:
    (clause,) = read(text).clauses
    assert clause.act == act
    assert (clause.keep >= 0.5) is keep


def test_a_turn_is_cut_into_clauses_that_each_say_one_thing() -> None:
    text = "My sister Hannah lives in Leeds, and her sofa is new. Can you find me a better one?"
    reading = read(text)
    assert [text[a:b] for a, b in reading.sentences] == [
        "My sister Hannah lives in Leeds, and her sofa is new.",
        "Can you find me a better one?",
    ]
    kept = [text[c.begin : c.end] for c in reading.kept()]
    assert kept[0] == "My sister Hannah lives in Leeds"
    assert {(text[n.begin : n.end], n.type) for n in reading.names} == {
        ("Hannah", "person"),
        ("Leeds", "place"),
    }


@every(
    ("text", "target", "sign"),
    [
        ("I hate country music", "country music", "dislike"),
        ("we loved the Lake District", "Lake District", "like"),
        ("not a fan of voice notes tbh", "voice notes", "dislike"),
    ],
)
def test_what_is_liked_is_named_with_its_sign(text: str, target: str, sign: str) -> None:
    assert [(text[o.begin : o.end], o.type) for o in read(text).opinions] == [(target, sign)]


def test_a_rule_stands_apart_from_what_is_asked_for_now() -> None:
    text = "Fix the failing import. From now on always run the linter before you commit."
    marks = [(text[m.begin : m.end], m.type) for m in read(text).marks]
    assert len(marks) == 1
    assert "always run the linter before you commit" in marks[0][0]
    assert marks[0][1] == "rule"


@every(
    ("text", "verb"),
    [("The old boiler leaks again", "leaks"), ("My sister sold her old boat", "sold")],
)
def test_a_verb_is_the_root_and_its_subject_hangs_on_it(text: str, verb: str) -> None:
    tokens = read(text).tokens
    (root,) = [i for i, token in enumerate(tokens) if token.head == -1]
    assert tokens[root].text == verb
    assert [t.relation for t in tokens if t.head == root and t.relation == "nsubj"] == ["nsubj"]


# --- places ---------------------------------------------------------------------------------------


def sound(reading: Reading) -> None:
    """Hold every place to the text."""
    text = reading.text
    for token in reading.tokens:
        assert text[token.begin : token.end] == token.text
        assert -1 <= token.head < len(reading.tokens)
    assert all(a[1] <= b[0] for a, b in pairwise(reading.sentences))
    covered = {i for a, b in reading.sentences for i in range(a, b)}
    assert all(covered.issuperset(range(t.begin, t.end)) for t in reading.tokens)
    for part in (reading.names, reading.opinions, reading.marks, reading.foreign):
        assert all(0 <= s.begin < s.end <= len(text) and 0 <= s.chance <= 1 for s in part)
    for clause in reading.clauses:
        assert reading.tokens[clause.first].begin == clause.begin
        assert reading.tokens[clause.last - 1].end == clause.end


@given(st.text(max_size=120))
def test_any_text_is_read_and_every_place_is_in_it(text: str) -> None:
    sound(read(text))


@pytest.mark.parametrize("gap", [" ", "\n", "\n\n"])
def test_a_long_text_is_read_to_its_end(gap: str) -> None:
    line = "Our cat sleeps on the piano and the neighbours complain about it."
    reading = read(gap.join([line] * 120))
    sound(reading)
    assert reading.tokens[-2].text == "it"
    assert len(reading.tokens) == 120 * len(read(line).tokens)


def test_what_is_read_does_not_hang_on_who_else_reads() -> None:
    texts = [f"I have {n} cousins in Turin and one in Rome." for n in range(40)]
    alone = [read.__wrapped__(text) for text in texts]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(read.__wrapped__, texts)) == alone


# --- the files ------------------------------------------------------------------------------------


def test_the_weights_are_those_that_were_measured() -> None:
    record = json.loads((DATA / "reader.json").read_text("utf-8"))
    for name, entry in record["files"].items():
        data = (DATA / name).read_bytes()
        assert (len(data), hashlib.sha256(data).hexdigest()) == (entry["bytes"], entry["sha256"])
    embedder = DATA.parents[2] / "embed" / "data" / "model.onnx"
    digest = hashlib.sha256(embedder.read_bytes()).hexdigest()
    assert digest == record["words"]["embedder_sha256"]
    assert sum(entry["bytes"] for entry in record["files"].values()) <= 26_000_000


def broken(tmp_path: Path, name: str, data: bytes | None) -> Networks:
    folder = tmp_path / "data"
    shutil.copytree(DATA, folder)
    if data is None:
        (folder / name).unlink()
    else:
        (folder / name).write_bytes(data)
    return Networks(folder)


@pytest.mark.parametrize(
    "name", ["reader.onnx", "clauses.npz", "standing.npz", "taste.npz", "worth.npz"]
)
@pytest.mark.parametrize("data", [None, b"", b"x" * 100], ids=["missing", "empty", "cut"])
def test_a_file_that_cannot_be_read_is_an_error_that_names_it(
    tmp_path: Path, name: str, data: bytes | None
) -> None:
    nets = broken(tmp_path, name, data)
    with pytest.raises(ReaderError, match=re.escape(name)):
        read("I live in Bergen", networks=nets)


@given(st.text(max_size=60))
def test_a_sentence_ends_with_its_line_or_where_the_network_says(text: str) -> None:
    words = words_of(text)
    places = sentence_places(words, [0] * len(words), text)
    assert [n for place in places for n in range(*place)] == list(range(len(words)))
    for first, last in places:
        assert first < last
        runs, letters = signs_of(words[first:last])
        assert all(0 <= place < PLACES for place in (*runs, *letters))


def test_lines_without_stops_are_marked_one_by_one() -> None:
    text = "use type hints\nalways run ruff before you commit\nwhy does the parser fail"
    marks = [one for one in read(text).marks if one.chance >= policy.DIRECTIVE_LIKELY]
    assert [text[mark.begin : mark.end] for mark in marks] == text.split("\n")[:2]


def test_a_line_that_is_wrapped_goes_on() -> None:
    text = "we never call the payment provider out of a test because of the\nquota that we have"
    words = words_of(text)
    assert sentence_places(words, [0] * len(words), text) == [(0, len(words))]


def test_a_word_without_end_is_read_in_no_time() -> None:
    runs, letters = signs_of(words_of("f00d" * 100_000))
    assert len(runs) == 1
    assert len(letters) < 100


def test_what_was_learned_of_another_network_says_nothing(tmp_path: Path) -> None:
    nets = broken(tmp_path, "reader.json", (DATA / "reader.json").read_bytes())
    nets.record["files"]["reader.onnx"]["sha256"] = "0" * 64
    with pytest.raises(ReaderError, match=r"(standing|taste|worth)\.npz .* another reader"):
        read("I live in Bergen", networks=nets)


def test_a_network_that_is_none_is_an_error(tmp_path: Path) -> None:
    size = (DATA / "reader.onnx").stat().st_size
    nets = broken(tmp_path, "reader.onnx", b"\0" * size)
    with pytest.raises(ReaderError, match="onnxruntime"):
        read("I live in Bergen", networks=nets)


def test_a_record_that_cannot_be_read_is_an_error_that_names_it(tmp_path: Path) -> None:
    with pytest.raises(ReaderError, match=r"reader\.json"):
        broken(tmp_path, "reader.json", b"{")
