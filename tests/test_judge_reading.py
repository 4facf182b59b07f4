"""What is read of one text: values, names, denials, cues, roles, tense."""

from __future__ import annotations

from factbook.gate.lexicon import tables, words_of
from factbook.gate.reading import MAX_WORDS, read
from rows import every


def test_a_denial_reaches_up_to_a_break() -> None:
    assert read("I don't like tea, coffee is fine").denied == {"like", "tea"}
    assert read("I don't like tea but coffee").denied == {"like", "tea"}


def test_the_agent_of_a_passive_sentence_is_found() -> None:
    assert read("The report was written by Anna").agent == "anna"
    assert read("The report was written by me").agent == "@1"
    assert read("The report was set up by two men").agent == "man"
    assert read("He is standing by the river").agent == ""


def test_adverbs_of_manner_are_known_by_their_form() -> None:
    table = tables()
    assert all(table.mild(key) for key in read("slowly, grudgingly").keys)
    assert not any(table.mild(key) for key in read("he met Waverly, only weekly").keys - {"meet"})


def test_phrases_are_one_word() -> None:
    assert read("He used to smoke").modals == {"former"}
    assert read("Docker is used to build").modals == frozenset()
    assert read("He has to leave").modals == {"duty"}


def test_who_is_spoken_of() -> None:
    assert read("I told my sister").persons == {"1"}
    assert read("The user told her").persons == {"1", "she"}
    assert not read("A man is here").definite
    assert not read("There is a man").definite
    assert read("On Monday the library is open").definite


def test_another_language_is_known_to_be_one() -> None:
    assert read("Anna wohnt in Wien").foreign is False  # "in" is English as well: rules apply
    assert read("我喜欢咖啡").foreign
    assert read("любит кофе").foreign
    assert not read("Anna likes coffee").foreign


def test_long_texts_are_cut_and_say_so() -> None:
    assert read("word " * (MAX_WORDS + 1)).cut
    assert read("x" * 5_000).cut
    assert not read("word " * MAX_WORDS).cut


@every(
    "chunk", ["", "...", "n't", "'s", "'", "''", "-", "–", "(", "’", "&", "1,", "v", "%", "\x00"]
)
def test_odd_pieces_are_legal(chunk: str) -> None:
    assert isinstance(words_of(chunk), tuple)
