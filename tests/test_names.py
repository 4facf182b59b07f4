"""Where names stand in a text (seed 003, without a model)."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from conftest import examples
from factbook.extract.name_tokens import (
    NameSign,
)
from factbook.extract.names import (
    names_in,
)
from factbook.language.common_words import opens_sentences
from factbook.model.keys import entity_name
from growth import grows_with_length
from rows import every


def found(text: str) -> list[str]:
    return [span.name for span in names_in(text)]


def test_titles_in_other_languages_are_found_by_their_quotes() -> None:
    assert found("我昨天读完了《三体》，很喜欢。") == ["三体"]
    assert [span.how for span in names_in("我昨天读完了《三体》")] == [NameSign.QUOTED]


def test_the_sign_of_a_name_is_said() -> None:
    spans = names_in('I like "Dune", Radiohead, the KEF LS50 and #ElectricGuitar.')
    assert [(span.name, span.how) for span in spans] == [
        ("dune", NameSign.READ),
        ("radiohead", NameSign.READ),
        ("kef ls50", NameSign.MODEL_NUMBER),
        ("electric guitar", NameSign.HASHTAG),
    ]


def test_whoever_gives_capitals_to_every_word_gives_no_names() -> None:
    assert found("i love Music and Dancing and my Dog and my Garden") == []


@given(st.text(max_size=400) | st.from_regex(r"([A-Z][a-z]{2,8}[ ,.'\"\n#1-9-]{1,2}){1,30}"))
@settings(max_examples=examples(37), deadline=None)
def test_every_name_stands_in_its_text(text: str) -> None:
    last = 0
    for span in names_in(text):
        assert text[span.start : span.end] == span.surface
        assert last <= span.start < span.end
        assert span.name
        assert span.name == entity_name(span.name)
        last = span.end


@every(
    "piece",
    [
        "so ",
        "I love ",
        '"a ',
        "Anna Berg and ",
        "(",
        "a_",
        "/a",
        "a@",
        "a.",
        "#a ",
        "«a ",
        " ",
        "[a](",
        "ab12",
        "1",
        "\n",
        "`",
        "<a ",
        "<!-- ",
        "Anna: ",
        "\u202e",
    ],
)
def test_no_text_takes_long(piece: str) -> None:
    assert grows_with_length(names_in, piece * (24_000 // len(piece)))


# --- words ----------------------------------------------------------------------------------------


def test_what_may_open_a_sentence_is_told_from_what_begins_a_name() -> None:
    assert opens_sentences("watching")
    assert opens_sentences("yesterday")
    assert not opens_sentences("dark")
