"""Read passages: who says what, where sentences end, what numbers and words are."""

from __future__ import annotations

import pytest

from factbook.gate.grounding import kin, read_passage
from factbook.gate.grounding.words import read_line, sentences


def speakers(text: str, *names: str) -> list[tuple[str, str]]:
    """Return the speakers of a text with their words."""
    passage = read_passage(text, owner_names=names)
    return [(one.speaker, text[one.start : one.end].strip()) for one in passage.utterances]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('User: "I ski."', [("owner", '"I ski."')]),
        ('User asked: "Why?"', [("owner", '"Why?"')]),
        ("The user said: I ski.", [("owner", "I ski.")]),
        ("User: I ski.\nAssistant: Good.", [("owner", "I ski."), ("assistant", "Good.")]),
        ("**User:** I ski.\n**Claude:** Good.", [("owner", "I ski."), ("assistant", "Good.")]),
        ("User: I ski. Assistant: Good.", [("owner", "I ski."), ("assistant", "Good.")]),
        ("[12:01] User: I ski.", [("owner", "I ski.")]),
        ("Ann: I ski.\nBo: I skate.", [("other", "I ski."), ("other", "I skate.")]),
        ("User 1: I ski.\nUser 2: No.", [("other", "I ski."), ("other", "No.")]),
        ("I ski and skate.", [("", "I ski and skate.")]),
        ("Subject: An offer\n\nDear Ann, buy.", [("", "Subject: An offer\n\nDear Ann, buy.")]),
    ],
)
def test_turns_are_told_apart(text: str, found: list[tuple[str, str]]) -> None:
    assert speakers(text) == found


def test_an_owner_may_have_a_name() -> None:
    text = "Ann: I ski.\nBo: I skate."
    assert speakers(text, "Bo") == [("other", "I ski."), ("owner", "I skate.")]


def test_later_goes_on_with_the_speaker() -> None:
    """Seed 002, practical example 2: the last line is told by the writer of the summary."""
    text = 'User asked: "How?"\nLater: "And why?"\nRequested more detail.'
    assert [who for who, _ in speakers(text)] == ["owner", "owner", ""]


def test_what_the_assistant_does_in_a_summary_is_the_assistants() -> None:
    lines = read_passage("The user asked. The assistant explained sorting.").lines
    assert [spoken.speaker for spoken in lines] == ["", "assistant"]


def test_a_place_has_its_utterance() -> None:
    text = "User: I ski.\nAssistant: Good."
    passage = read_passage(text)
    utterance = passage.speaker_at(text.index("Good"))
    assert utterance is not None
    assert utterance.speaker == "assistant"
    assert passage.named
    assert read_passage("").utterances == ()


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Dr. Ito left. She ran.", ["Dr. Ito left.", "She ran."]),
        ("It cost 3.5 euros. Fine!", ["It cost 3.5 euros.", "Fine!"]),
        ("He lives in the U.S. now.", ["He lives in the U.S. now."]),
        ("1. Oak\n2. Elm", ["Oak", "Elm"]),
        ("wrapped\nline", ["wrapped\nline"]),
        ("", []),
    ],
)
def test_sentences(text: str, found: list[str]) -> None:
    assert [text[start:end] for start, end in sentences(text)] == found


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("$5bn", "5 billion dollars"),
        ("1,500 goats", "1500 goats"),
        ("twenty-five goats", "25 goats"),
        ("two goats", "2 goats"),
        ("50 cents", "$0.50"),
        ("Q2", "second quarter"),
        ("the 3rd floor", "the third floor"),
        ("Sept. 4", "September 4"),
        ("a 30-day trial", "a trial of 30 days"),
    ],
)
def test_values_have_one_form(one: str, other: str) -> None:
    assert read_line(one).values == read_line(other).values != frozenset()


def test_a_compound_denies_nothing() -> None:
    assert not read_line("never-ending non-stop work").denied
    assert read_line("We never end work").denied >= {"end", "work"}


@pytest.mark.parametrize(
    ("claimed", "said", "strength"),
    [
        ("explan", "explain", kin.DERIVED),
        ("conceptu", "concept", kin.DERIVED),
        ("experi", "experiment", kin.NONE),
        ("dog", "poodl", kin.GENERAL),
        ("poodl", "dog", kin.NONE),
        ("bike", "bicycl", kin.SYNONYM),
        ("sister", "brother", kin.NONE),
    ],
)
def test_words_support_words(claimed: str, said: str, strength: float) -> None:
    assert kin.support(claimed, said) == strength


def test_opposites_and_rivals() -> None:
    assert kin.opposed("increas", "decreas")
    assert kin.opposed("suspici", "nonsuspici")
    assert kin.rival("sister", "brother")
    assert not kin.rival("sister", "sister")
    assert not kin.opposed("sister", "brother")
