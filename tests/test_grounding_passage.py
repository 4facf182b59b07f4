"""Read passages: who says what, where sentences end, what numbers and words are."""

from __future__ import annotations

from factbook.gate import kin
from factbook.gate.grounding import read_passage
from factbook.gate.grounding.words import read_line


def speakers(text: str, *names: str) -> list[tuple[str, str]]:
    """Return the speakers of a text with their words."""
    passage = read_passage(text, owner_names=names)
    return [(one.speaker, text[one.start : one.end].strip()) for one in passage.utterances]


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


def test_a_compound_denies_nothing() -> None:
    assert not read_line("never-ending non-stop work").denied
    assert read_line("We never end work").denied >= {"end", "work"}


def test_opposites() -> None:
    assert kin.opposed("increas", "decreas")
    assert kin.opposed("suspici", "nonsuspici")
    assert not kin.opposed("sister", "brother")
