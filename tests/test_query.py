"""What a question becomes before it is searched for; any text must be a legal query."""

from __future__ import annotations

import apsw
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from factbook.recall import query
from factbook.store.sqlite.text import fts_query

TURNS = [
    "Ana: I painted the old boat shed blue.",
    "Ben: Lovely! Which blue did you take?",
    "Ana: Cobalt. My sister helped.",
]
any_text = st.text(st.characters(exclude_categories=()), max_size=60)
"""Every code point, lone surrogates and NUL among them."""


@pytest.fixture(scope="module")
def full_text() -> apsw.Connection:
    db = apsw.Connection(":memory:")
    db.execute(
        "CREATE VIRTUAL TABLE t USING fts5(x, tokenize='porter unicode61 remove_diacritics 2')"
    )
    return db


def rows(db: apsw.Connection, text: str) -> list[int]:
    found = db.execute("SELECT rowid FROM t WHERE t MATCH ?", (text,))
    return [int(row) for (row,) in found]


@given(any_text)
@example('"')
@example("a\0b")
@example('NEAR(x y) AND NOT "z*" ^q -w {x}: (')
@example("\ud800")
@example("x" * 5000)
def test_any_text_is_a_legal_query(full_text: apsw.Connection, text: str) -> None:
    written = fts_query(query.content_terms(text))
    if written:
        rows(full_text, written)


@given(st.text(st.characters(max_codepoint=0x24F), max_size=60))
def test_a_word_finds_the_text_it_was_cut_from(full_text: apsw.Connection, text: str) -> None:
    """Beyond the Latin blocks Python and SQLite know letters of different Unicode versions."""
    storable = text.replace("\0", " ")
    with full_text:
        full_text.execute("DELETE FROM t")
        full_text.execute("INSERT INTO t(rowid, x) VALUES (1, ?)", (storable,))
    for word in query.words(storable):
        assert rows(full_text, fts_query([word])) == [1]


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("cafe", "At the café again"),
        ("ÜBUNG", "eine Übung"),
        ("cafe\u0301", "café"),
        ("naïve", "naive"),
        ("हिन्दी", "यह हिन्दी है"),
        ("東京", "東京"),
        ("painting", "she paints"),
        ("foo_bar", "call foo_bar()"),
        ("10.0.0.7", "ssh to 10.0.0.7"),
    ],
)
def test_words_fold_as_the_index_does(full_text: apsw.Connection, question: str, text: str) -> None:
    with full_text:
        full_text.execute("DELETE FROM t")
        full_text.execute("INSERT INTO t(rowid, x) VALUES (1, ?)", (text,))
    assert rows(full_text, fts_query(query.content_terms(question))) == [1]


@given(any_text)
def test_terms_are_unique_bounded_and_stable(text: str) -> None:
    terms = query.content_terms(text)
    assert len(terms) == len(set(terms)) <= query.MAX_TERMS
    assert query.content_terms(" ".join(terms)) == terms


def test_operators_are_words() -> None:
    assert fts_query(["near", "or", "x"]) == '"near" OR "or" OR "x"'
    assert fts_query(['say "hi"']) == '"say ""hi"""'
    assert fts_query([]) == ""


def test_speakers_are_the_labels_of_a_dialog() -> None:
    assert query.speakers(TURNS) == {"Ana"}
    assert query.speakers([*TURNS, "Ben: I see."]) == {"Ana", "Ben"}


def test_lone_labels_among_plain_texts_speak_for_nobody() -> None:
    logs = ["Error: no such file", "Error: no such host", "built", "pushed", "tagged", "done"]
    assert query.speakers(logs) == frozenset()
    assert query.speakers([]) == frozenset()


def test_names_become_the_first_person() -> None:
    assert query.named_speakers("When did Ana paint it?", ["Ana", "Ben"]) == {"Ana"}
    assert query.first_person("When did Ana paint Ana's shed?", ["Ana"]) == (
        "When did I paint my shed?"
    )
    assert query.first_person("what did ana’s sister do?", ["Ana"]) == "what did my sister do?"
    assert query.first_person("Who is Anabel?", ["Ana"]) == "Who is Anabel?"
    assert query.first_person("Who painted?", []) == "Who painted?"


def test_a_first_name_names_the_whole_label() -> None:
    assert query.named_speakers("What does Ana do?", ["Ana Lima"]) == {"Ana Lima"}
    assert query.first_person("Is Ana Lima's boat Ana's?", ["Ana Lima"]) == "Is my boat my?"


def test_names_are_no_search_terms_unless_nothing_else_is() -> None:
    assert query.without_names(["ana", "painted", "shed"], ["Ana"]) == ["painted", "shed"]
    assert query.without_names(["ana"], ["Ana"]) == ["ana"]


@given(any_text, st.lists(any_text, max_size=4))
def test_names_may_be_any_text(question: str, names: list[str]) -> None:
    query.named_speakers(question, names)
    query.first_person(question, names)
    query.without_names(query.content_terms(question), names)
    query.speakers([question, *names])
    query.asks(question)
