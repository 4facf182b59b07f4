"""Hold claims against passages: what grounds a fact, and what must not."""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from factbook import embed, policy
from factbook.gate.grounding import (
    Grounding,
    Support,
    ground,
    read_passage,
    validate_fact_against_summary,
)
from factbook.gate.grounding.inverted import inverted
from factbook.language.reader.read import read
from factbook.language.reader.relate import Relater, relate


def owned(claim: str, text: str, *, pattern: bool = False) -> Grounding:
    """Hold a claim about the user against their words."""
    return ground(claim, read_passage(text), speaker="owner", pattern=pattern)


# ------------------------------------------------------------------ the seed's examples

FETTUCCINI = "User said: I absolutely love fettuccini pasta, especially with alfredo sauce."
STEPS = "Asked for step-by-step explanation of the algorithm."


@pytest.mark.parametrize(
    ("fact", "summary", "valid"),
    [
        pytest.param("Loves fettuccini", FETTUCCINI, True, id="Seed 002, validation example 1"),
        pytest.param(
            "Prefers step-by-step explanations", STEPS, True, id="Seed 002, validation example 2"
        ),
        pytest.param(
            "Absolutely loves fettuccini pasta with truffle oil",
            "We discussed fettuccini briefly.",
            False,
            id="Seed 002, validation example 3",
        ),
        pytest.param(
            "Loves fettuccini specifically",
            "User mentioned liking pasta.",
            False,
            id="Seed 002, validation example 4",
        ),
        pytest.param(
            "Works as professional producer",
            "We discussed music production.",
            False,
            id="Seed 002, test_extraction_hallucination_rejection",
        ),
        pytest.param(
            "Works as a professional FL Studio producer",
            "We discussed music production in FL Studio.",
            False,
            id="Seed 002, practical example 4",
        ),
        pytest.param(
            "Loves fettuccini", "I don't love fettuccini.", False, id="Seed 002, negation"
        ),
    ],
)
def test_the_seeds_validation(fact: str, summary: str, valid: bool) -> None:
    assert validate_fact_against_summary(fact, summary) is valid


def test_practical_example_1() -> None:
    """Seed 002, practical example 1: sauce and pasta are said in two sentences of one turn."""
    text = (
        "User: \"I absolutely love fettuccini. Seriously, it's my favorite pasta.\n"
        'The creamy alfredo sauce is just perfect. I make it at home all the time."'
    )
    found = owned("Loves fettuccini with alfredo sauce", text)
    assert (found.grounded, found.support, found.speaker) == (True, Support.PHRASES, "owner")


def test_practical_example_2_is_mentioned_twice() -> None:
    """Seed 002, practical example 2: "step by step" twice counts as two mentions."""
    text = (
        'User asked: "Can you break this down step by step?"\n'
        'Later: "Could you walk me through the algorithm step by step?"\n'
        "Requested detailed explanation with examples."
    )
    found = owned("Prefers step-by-step explanations", text, pattern=True)
    assert (found.grounded, found.mentions) == (True, 2)


def test_practical_example_3_by_derivation() -> None:
    """Seed 002, practical example 3: "concept" supports "conceptual", "explain" explanations."""
    text = 'User asked: "Can you explain this concept?"'
    found = owned("Prefers conceptual explanations", text, pattern=True)
    assert (found.grounded, found.key_phrases, found.mentions) == (True, True, 1)


# ------------------------------------------------------------------ the steps


def test_exact_stands_word_for_word() -> None:
    found = owned("plays the  Oboe.", "User: My son left. He says everybody plays the oboe here.")
    assert found.exact_match
    assert not owned("loves art", "User: Who loves artichokes?").exact_match


def test_a_quote_is_the_sentence_and_its_place() -> None:
    text = "User: It rains. I keep four bees in Delft. Bye."
    found = owned("Keeps bees in Delft", text)
    assert found.quote == "I keep four bees in Delft."
    assert text[found.start : found.end] == found.quote


def test_missing_words_are_named() -> None:
    found = owned("Works as a senior welder", "User: I work as a welder.")
    assert (found.grounded, found.missing) == (False, ("senior",))
    assert found.why == "Nothing supports: senior."


def test_to_have_and_to_be_need_more_than_the_word() -> None:
    assert not owned("Has a dog", "User: Let us discuss dogs.").grounded
    assert not owned("Is a plumber", "User: I'm interested in plumbing.").grounded
    assert owned("Is a plumber", "User: I'm a plumber.").grounded


def test_sentences_of_two_turns_are_never_joined() -> None:
    text = "User: I love sauces.\nAnn: Good.\nUser: Alfredo is my cousin."
    assert not owned("Loves alfredo sauces", text).grounded


# ------------------------------------------------------------------ what speaks against it


def test_the_assistants_words_are_not_the_users() -> None:
    text = "User: What shall I cook?\nAssistant: You love beets, so cook beets."
    assert not owned("Loves beets", text).grounded
    assert not validate_fact_against_summary("Loves beets", text)
    said = ground("Loves beets", read_passage(text))
    assert said.speaker == "assistant"


def test_what_the_assistant_is_told_to_have_done_is_its_own() -> None:
    text = "The user asked about Crete. The assistant recommended a boat trip."
    assert not owned("Recommended a boat trip", text).grounded


def test_a_wish_and_a_question_may_show_a_pattern() -> None:
    text = "User: Could you show an example?"
    assert owned("Asks for examples", text, pattern=True).grounded
    assert not owned("Shows examples", text).grounded


# ------------------------------------------------------------------ similarity


def fixed(vectors: dict[str, tuple[float, float]]) -> embed.Embedder:
    """Return an embedder of two numbers a text, (1, 0) where none is given."""

    class Fixed:
        id = "fixed"
        dim = 2

        def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
            return np.array([vectors.get(text, (1.0, 0.0)) for text in texts], np.float32)

    return Fixed()


def test_similar_sentences_support_a_near_word() -> None:
    passage = read_passage("I am fond of my vocation.")
    found = ground("I am fond of my calling", passage, embed=fixed({}).embed)
    assert (found.support, found.missing) == (Support.SIMILAR, ("calling",))
    assert found.similarity == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("claim", "text"),
    [
        ("I am fond of Petra", "I am fond of Paula."),  # a name
        ("I have 3 goats", "I have 4 goats."),  # a number
        ("I do not like goats", "I like goats."),  # a denial
        ("I sold the train", "I bought the train."),  # an opposite
    ],
)
def test_similarity_alone_rescues_nothing(claim: str, text: str) -> None:
    """Seed 002, step 3, as CHECKLIST settles it: every name, number and denial needs support."""
    found = ground(claim, read_passage(text), embed=fixed({}).embed)
    assert not found.grounded


def test_similarity_must_be_more_than_the_seeds() -> None:
    at = policy.GROUNDING_SIMILARITY - 0.001
    vectors = {"I am fond of my calling": (at, float((1 - at * at) ** 0.5))}
    passage = read_passage("I am fond of my vocation.")
    assert not ground("I am fond of my calling", passage, embed=fixed(vectors).embed).grounded


def test_the_bundled_embedder_fits() -> None:
    passage = read_passage("User: I like quiet evenings.\nUser: I visit the bookstore every week.")
    found = ground("I visit the bookshop every week", passage, embed=embed.bundled().embed)
    assert found.support is Support.SIMILAR
    assert found.similarity is not None
    assert found.similarity > policy.GROUNDING_SIMILARITY


# ------------------------------------------------------------------ any text, and speed


@settings(max_examples=150, deadline=None)
@given(claim=st.text(max_size=80), text=st.text(max_size=200))
def test_any_text_is_legal(claim: str, text: str) -> None:
    passage = read_passage(text)
    found = ground(claim, passage)
    assert 0 <= found.start <= found.end <= len(text)
    assert found.quote == text[found.start : found.end]
    assert ground(claim, passage) == found


@settings(max_examples=100, deadline=None)
@given(text=st.text(st.sampled_from("I love no bees. \n:Ua5\"'?-"), min_size=1, max_size=60))
def test_what_is_grounded_has_a_quote(text: str) -> None:
    found = ground("I love bees", read_passage(text))
    assert not found.grounded or found.quote


@pytest.mark.parametrize(
    "text",
    ["*" * 40_000, "A " * 20_000, '"' * 40_000, "Ann: " * 9_000, "x" * 90_000, "5," * 30_000],
)
def test_a_hostile_text_takes_no_long_time(text: str) -> None:
    began = time.process_time()
    ground("Keeps bees in Delft", read_passage(text))
    assert not ground(text, read_passage("User: I keep bees.")).grounded
    assert time.process_time() - began < 8.0


def test_a_page_is_no_claim() -> None:
    found = owned("Keeps bees. " * 400, "User: I keep bees.")
    assert found.why == "The claim has more than 4,000 characters: it is a page."


def test_two_thousand_candidates_a_second() -> None:
    """Ten times slower would be a mistake, whatever else this machine does."""
    passage = read_passage("User: I moved to Delft in March. I keep bees. My son plays the oboe.")
    ground("Keeps bees", passage)
    began = time.process_time()
    for number in range(400):
        ground(f"Keeps {number} bees in Delft", passage, speaker="owner")
    assert time.process_time() - began < 2.0


# --- with the reader ------------------------------------------------------------------------------

TOLD = (
    "The user paid for the works on her roof in May. She nurses children on a ward of the clinic."
)


def _reader(seen: list[str], chance: float) -> Relater:
    def supports(text: str, claim: str) -> float:
        seen.append(text)
        return chance

    return Relater(relate, read, supports)


def test_the_reader_is_shown_what_is_nearest_and_not_what_has_the_same_words() -> None:
    claim, near, by_words = "User works in a hospital", list[str](), list[str]()
    passage = read_passage(TOLD)
    ground(claim, passage, embed=embed.bundled().embed, net=_reader(near, 1.0))
    assert near[0] == "She nurses children on a ward of the clinic."
    ground(claim, passage, net=_reader(by_words, 1.0))
    assert by_words[0] == "The user paid for the works on her roof in May."


@pytest.mark.parametrize(
    ("claim", "source", "turned"),
    [
        ("Changed from Vim to Emacs", "I changed from Vim to Emacs.", False),
        ("Changed from Emacs to Vim", "I changed from Vim to Emacs.", True),
        ("Moved from Sheets to Excel", "i moved from Sheets to Excel in may", False),
        ("Sold a boat", "I nearly sold a boat.", True),
        ("Oldest oar is broken", "Her oldest oar is broken.", True),
    ],
)
def test_words_in_their_order_turn_nothing_but_by_what_stands_around_them(
    claim: str, source: str, turned: bool
) -> None:
    assert bool(inverted(claim, source)) is turned
