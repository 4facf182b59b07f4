"""Seed 002, as far as the gate goes: its examples, in its own words.

The seed's example scores that its formula cannot give are documented in `factbook.gate.scoring`;
the verdicts are the seed's.
"""

from __future__ import annotations

from typing import Any

import pytest

from factbook.embed import bundled
from factbook.errors import RejectionError, UsageError
from factbook.gate.grounding import read_passage
from factbook.gate.typed_claims import Action, TypedVerdict, judge_typed
from factbook.memory.compat.seed002 import (
    contextual_clue_found,
    contradicts_known,
    cosine_similarity,
    count_mentions,
    embed,
    is_consistent_with_known,
    is_exact_quote,
    is_nonsensical,
    key_phrases_present,
    pattern_outcome,
    reject_fact,
    score_confidence,
    semantic_similarity,
    store_fact,
    validate_fact_against_summary,
)
from factbook.model.memory_types import MemoryType, RejectionReason, TypedClaim

STRONG = (
    "User: \"I absolutely love fettuccini. Seriously, it's my favorite pasta.\n"
    'The creamy alfredo sauce is just perfect. I make it at home all the time."'
)
INFERRED = (
    'User asked: "Can you break this down step by step?"\n'
    'Later: "Could you walk me through the algorithm step by step?"\n'
    "Requested detailed explanation with examples."
)


def judged(extraction: dict[str, Any], summary: str, *, vectors: bool = False) -> TypedVerdict:
    """Put an extraction of the seed through the gate."""
    return judge_typed(
        TypedClaim(
            text=extraction["text"],
            type=MemoryType(extraction["type"]),
            confidence=extraction["confidence"],
            reasoning=extraction["reasoning"],
        ),
        read_passage(summary),
        embed=bundled().embed if vectors else None,
    )


# ------------------------------------------------------------------ the test of the seed


def test_extraction_hallucination_rejection() -> None:
    """Confirm hallucinations are rejected."""
    summary = "We discussed music production."

    # Simulate LLM extraction
    extraction: dict[str, Any] = {
        "text": "Works as professional producer",
        "type": "USER_FACT",
        "confidence": 0.70,
        "explicit": False,
    }

    # Validate
    is_valid = validate_fact_against_summary(extraction["text"], summary)
    assert not is_valid, "Hallucination should be rejected"

    # Score confidence
    score = score_confidence(extraction, summary)
    assert score < 0.80, "Confidence should be lowered by failed validation"

    # Store should be rejected
    with pytest.raises(RejectionError):
        store_fact(extraction)


# ------------------------------------------------------------------ validation examples


def test_validation_example_1() -> None:
    """Seed 002, validation example 1: PASS."""
    summary = "User said: I absolutely love fettuccini pasta, especially with alfredo sauce."
    assert validate_fact_against_summary("Loves fettuccini", summary)
    assert not validate_fact_against_summary(
        "Loves fettuccini", "User said: I don't love fettuccini pasta."
    )


def test_validation_example_2() -> None:
    """Seed 002, validation example 2: PASS."""
    summary = "Asked for step-by-step explanation of the algorithm."
    assert validate_fact_against_summary("Prefers step-by-step explanations", summary)


def test_validation_example_3() -> None:
    """Seed 002, validation example 3: FAIL, too specific."""
    summary = "We discussed fettuccini briefly."
    assert not validate_fact_against_summary(
        "Absolutely loves fettuccini pasta with truffle oil", summary
    )


def test_validation_example_4() -> None:
    """Seed 002, validation example 4: FAIL, overgeneralized."""
    summary = "User mentioned liking pasta."
    assert not validate_fact_against_summary("Loves fettuccini specifically", summary)


# ------------------------------------------------------------------ practical examples


@pytest.mark.parametrize("vectors", [False, True])
def test_practical_example_1(vectors: bool) -> None:
    """Seed 002, practical example 1: stored as USER_FACT, 0.95 >= 0.80."""
    verdict = judged(
        {
            "text": "Loves fettuccini with alfredo sauce",
            "type": "USER_FACT",
            "confidence": 0.95,
            "reasoning": "Explicitly stated 'absolutely love', repeated preference",
        },
        STRONG,
        vectors=vectors,
    )
    assert verdict.action is Action.STORED_ACTIVE
    assert verdict.final == 0.95
    assert verdict.threshold == 0.80
    assert verdict.shown == ("explicit", "current", "factual")


@pytest.mark.parametrize("vectors", [False, True])
def test_practical_example_2(vectors: bool) -> None:
    """Seed 002, practical example 2: stored as USER_PATTERN, 0.85 >= 0.75."""
    verdict = judged(
        {
            "text": "Prefers step-by-step explanations",
            "type": "USER_PATTERN",
            "confidence": 0.85,
            "reasoning": "Requested 'step by step' twice, clear communication preference",
        },
        INFERRED,
        vectors=vectors,
    )
    assert verdict.action is Action.STORED_ACTIVE
    assert verdict.final == 0.85
    assert verdict.score.mentions >= 2
    assert verdict.threshold == 0.75


@pytest.mark.parametrize("vectors", [False, True])
def test_practical_example_3(vectors: bool) -> None:
    """Seed 002, practical example 3: rejected, 0.65 < 0.75, and kept as a pattern proposal."""
    verdict = judged(
        {
            "text": "Prefers conceptual explanations",
            "type": "USER_PATTERN",
            "confidence": 0.65,
            "reasoning": "Asked for explanation once, not enough repetition",
        },
        'User asked: "Can you explain this concept?"',
        vectors=vectors,
    )
    assert verdict.grounding.grounded, "validation: PASS (concept mentioned)"
    assert verdict.action is Action.REJECTED
    assert verdict.reason is RejectionReason.FACT_BELOW_THRESHOLD
    assert verdict.proposal
    assert (verdict.final, verdict.threshold) == (0.65, 0.75)
    assert verdict.detail == "0.65 < 0.75"


@pytest.mark.parametrize("vectors", [False, True])
def test_practical_example_4(vectors: bool) -> None:
    """Seed 002, practical example 4: rejected as a hallucination, adjusted to 0.23."""
    verdict = judged(
        {
            "text": "Works as a professional FL Studio producer",
            "type": "USER_FACT",
            "confidence": 0.7,
            "reasoning": "Discussed FL Studio extensively",
        },
        "We discussed music production in FL Studio.",
        vectors=vectors,
    )
    assert verdict.action is Action.REJECTED
    assert verdict.reason is RejectionReason.HALLUCINATION
    assert round(verdict.final, 2) == 0.23
    assert "professional" in verdict.detail
    assert not verdict.grounding.exact_match
    assert not verdict.grounding.key_phrases
    assert not verdict.proposal


# ------------------------------------------------------------------ the seed's functions


@pytest.mark.parametrize(
    ("confidence", "outcome"),
    [
        (0.80, "apply_pattern_update"),
        (0.799, "log_pattern_proposal"),
        (0.75, "log_pattern_proposal"),
        (0.749, "discard"),
    ],
)
def test_the_pattern_gate_by_its_names(confidence: float, outcome: str) -> None:
    """Seed 002, confidence gate example: apply, log as proposal, discard."""
    assert pattern_outcome(confidence) == outcome


def test_what_scoring_asks() -> None:
    """Seed 002, scoring: its questions, by their names."""
    summary = "User said: I love fettuccini. I make fettuccini at home."
    assert is_exact_quote("love fettuccini", summary)
    assert not is_exact_quote("Loves fettuccini", summary)
    assert key_phrases_present("Loves fettuccini", summary)
    assert not key_phrases_present("Loves ravioli", summary)
    assert count_mentions("Loves fettuccini", summary) == 2
    assert count_mentions("Loves ravioli", summary) == 0
    assert is_consistent_with_known("Loves fettuccini", [])
    assert contradicts_known("Loves fettuccini", ["Hates fettuccini"])
    assert not is_consistent_with_known("Loves fettuccini", ["Hates fettuccini"])
    assert contextual_clue_found("Been chatting since 2019")
    assert is_nonsensical("asdf asdf asdf")
    assert 0.5 < semantic_similarity("Loves fettuccini", summary) <= 1.001
    assert semantic_similarity("Loves fettuccini", "") == 0.0
    one, other = embed(["I love fettuccini", "Loves fettuccini"])
    assert cosine_similarity(one, one) == pytest.approx(1.0, abs=1e-3)
    assert 0.5 < cosine_similarity(one, other) < 1.0
    assert cosine_similarity(one * 0, other) == 0.0


def test_store_fact_returns_what_the_gate_lets_pass_and_says_what_it_refuses() -> None:
    """Seed 002, tests listed: the gates are enforced where a fact is stored."""
    extraction = {"text": "Loves fettuccini", "type": "USER_FACT", "confidence": 0.95}
    summary = "User said: I love fettuccini."
    assert store_fact(extraction, summary=summary).action is Action.STORED_ACTIVE
    kept: list[tuple[TypedVerdict, str]] = []

    class Kept:
        @property
        def typed(self) -> Kept:
            return self

        def keep_verdict(self, verdict: TypedVerdict, *, summary: str) -> object:
            kept.append((verdict, summary))
            return None

    store_fact(extraction, summary=summary, memory=Kept())
    with pytest.raises(
        RejectionError, match=r'"Hates broccoli" was refused \(not_grounded'
    ) as info:
        store_fact({**extraction, "text": "Hates broccoli"}, summary=summary, memory=Kept())
    assert info.value.details["reason"] == "not_grounded_in_summary"
    assert [verdict.stored for verdict, _ in kept] == [True, False]
    assert isinstance(reject_fact("Hates broccoli", "low_confidence"), RejectionError)


@pytest.mark.parametrize(
    "bad",
    [
        {"text": "Loves tea", "type": "USER_FACT", "confidence": "high"},
        {"text": "Loves tea", "type": "USER_FACT", "confidence": True},
        {"text": "Loves tea", "type": "OPINION", "confidence": 0.9},
        {"text": 5, "type": "USER_FACT", "confidence": 0.9},
        {"type": "USER_FACT", "confidence": 0.9},
    ],
)
def test_store_fact_refuses_what_is_no_extraction(bad: dict[str, object]) -> None:
    with pytest.raises(UsageError, match="extraction"):
        store_fact(bad, summary="User: I love tea.")
