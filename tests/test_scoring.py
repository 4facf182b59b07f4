"""Hold the score to the seed's factors, and the gate's confidence to its rule."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from factbook.gate.grounding import Support, read_passage
from factbook.gate.scoring import Score, contradicted, ground_claim, score, score_confidence
from factbook.model.memory_types import MemoryType, TypedClaim

FACT, PATTERN, NARRATIVE = MemoryType


def scored(
    text: str,
    source: str,
    kind: MemoryType = FACT,
    *,
    confidence: float = 0.9,
    known: Sequence[str] = (),
) -> Score:
    """Ground a claim and score it."""
    claim = TypedClaim(text=text, type=kind, confidence=confidence, reasoning="")
    return score(claim, ground_claim(claim, read_passage(source)), known=known)


def test_factor_1_exact_quote_key_phrases_nothing() -> None:
    """Seed 002, scoring: explicit mention 0.30 / 0.20 / nothing."""
    assert scored("I love quinces", "User: I love quinces.").mention == 0.30
    assert scored("Loves quinces", "User: I absolutely love baked quinces.").mention == 0.20
    assert scored("Loves pears", "User: I love quinces.").mention == 0.0


def test_factor_1_similar_only() -> None:
    """Seed 002, scoring: 0.10 where only a similar sentence supports it, and a third is left."""
    claim = TypedClaim(text="Loves quinces", type=FACT, confidence=0.9, reasoning="")
    grounding = ground_claim(claim, read_passage("User: I love quinces."))
    similar = type(grounding)(
        **{
            **{name: getattr(grounding, name) for name in grounding.__slots__},
            "support": Support.SIMILAR,
        }
    )
    found = score(claim, similar)
    assert found.mention == 0.10
    assert found.final == pytest.approx(0.30)
    assert not found.explicit


@pytest.mark.parametrize(("times", "worth"), [(1, 0.0), (2, 0.10), (3, 0.20), (5, 0.20)])
def test_factor_2_repetition(times: int, worth: float) -> None:
    """Seed 002, scoring: three mentions 0.20, two 0.10, one nothing."""
    sentences = [
        "I love quinces.",
        "As I said, I love quinces.",
        "Quinces, I love them.",
        "Did I say that I love quinces?",
        "Oh how I love quinces!",
    ]
    found = scored("Loves quinces", "User: " + " ".join(sentences[:times]))
    assert found.mentions == times
    assert found.repetition == worth


def test_factor_3_consistency() -> None:
    """Seed 002, scoring: +0.20 with what is known, -0.25 against it; nothing known is +0.20."""
    source = "User: I love quinces."
    assert scored("Loves quinces", source).consistency == 0.20
    assert scored("Loves quinces", source, known=["Lives in Ghent"]).consistency == 0.20
    against = scored("Loves quinces", source, known=["Lives in Ghent", "Hates quinces"])
    assert against.consistency == -0.25
    assert against.contradicts == "Hates quinces"
    assert against.final == pytest.approx(0.65)


def test_what_replaces_is_no_contradiction() -> None:
    """Seed 002, scoring: who says that something ended does not contradict that it was so."""
    assert contradicted("No longer eats meat", ["Eats meat"]) == ""
    assert contradicted("Does not eat meat", ["Eats meat"]) == "Eats meat"
    assert contradicted("Loves tea", []) == ""


def test_factor_4_type_credibility() -> None:
    """Seed 002, scoring: explicit fact 0.30, repeated pattern 0.20, narrative with a clue 0.15."""
    assert scored("Loves quinces", "User: I love quinces.").credibility == 0.30
    assert scored("Loves quinces", "Assistant: You love quinces.").credibility == 0.0
    once = 'User asked: "Can you draw a diagram?"'
    twice = f'{once}\nLater: "Another diagram, please."'
    assert scored("Asks for diagrams", once, PATTERN).credibility == 0.0
    assert scored("Asks for diagrams", twice, PATTERN).credibility == 0.20
    story = "User: We have been chatting since 2019."
    assert scored("Been chatting since 2019", story, NARRATIVE).credibility == 0.15
    assert scored("Copper melts", "User: Copper melts.", NARRATIVE).credibility == 0.0


def test_the_reachable_maxima() -> None:
    """Seed 002, scoring (decision): a fact reaches 1.00, a narrative 0.85 and never 0.95."""
    source = "User: Loves quinces. Truly loves quinces. Always loves quinces."
    assert scored("Loves quinces", source).total == 1.0
    story = "User: We talked about bees. We talked about bees again. Yes, we talked about bees."
    assert scored("We talked about bees", story, NARRATIVE).total == 0.85


def test_explicit_is_decided_by_code() -> None:
    """Seed 002, scoring (decision): the model's word for `explicit` is ignored."""
    extraction = {"text": "Loves quinces", "type": "USER_FACT", "explicit": False}
    believed = {**extraction, "explicit": True}
    source = "User: I love baked quinces."
    assert score_confidence(extraction, source) == score_confidence(believed, source)
    assert score_confidence(extraction, source) == pytest.approx(0.70)
    assert score_confidence(believed, "User: I love pears.") == pytest.approx(0.20)


def test_a_pattern_by_the_seeds_formula() -> None:
    """Seed 002, scoring (decision): example 2 gets 0.70 by the formula, and 0.85 by the gate."""
    source = 'User asked: "Step by step, please."\nLater: "Explain it step by step?"'
    found = scored("Prefers step-by-step explanations", source, PATTERN, confidence=0.85)
    assert found.final == 0.85
    assert found.total == pytest.approx(0.70)


@pytest.mark.parametrize("confidence", [0.80, 0.7999999, 0.75, 0.6, 0.0, 1.0])
def test_a_supported_claim_keeps_its_confidence_to_the_last_bit(confidence: float) -> None:
    """Seed 002, gate (decision): the model's confidence x 1, so that bounds are exact."""
    assert scored("Loves quinces", "User: I love quinces.", confidence=confidence).final == (
        confidence
    )


@pytest.mark.parametrize("confidence", [math.nan, math.inf, -math.inf, -0.1, 1.01])
def test_a_confidence_that_is_none_counts_as_nothing(confidence: float) -> None:
    assert scored("Loves quinces", "User: I love quinces.", confidence=confidence).final == 0.0


def test_a_claim_that_nothing_supports_has_no_confidence_left() -> None:
    """Seed 002, gate (decision): x 0 where nothing supports it, x 1/3 where a part does."""
    assert scored("Hates broccoli", "User: I love quinces.").final == 0.0
    assert scored("Grows quinces in Ghent", "User: I love quinces.").final == pytest.approx(0.3)


@settings(deadline=None)
@given(
    text=st.text(max_size=80),
    source=st.text(max_size=200),
    kind=st.sampled_from(MemoryType),
    confidence=st.floats(allow_nan=True),
    known=st.lists(st.text(max_size=40), max_size=3),
)
def test_a_score_is_always_a_number_from_0_to_1(
    text: str, source: str, kind: MemoryType, confidence: float, known: list[str]
) -> None:
    """Seed 002, tests listed: confidence scoring produces valid ranges."""
    found = scored(text, source, kind, confidence=confidence, known=known)
    assert 0.0 <= found.total <= 1.0
    assert 0.0 <= found.final <= 1.0
    assert score_confidence({"text": text, "type": kind}, source, known) == found.total
