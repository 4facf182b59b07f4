"""The gate: what may enter, with which confidence, and why the rest may not."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factbook import policy
from factbook.gate.observed import judge
from factbook.model.facts import Accepted, Candidate, Episode, EpisodeKind, Rejected, Role, Trust

EPISODE = Episode(
    uid="u",
    source="file:/log.jsonl",
    kind=EpisodeKind.REPLY,
    role=Role.ASSISTANT,
    trust=Trust.DERIVED,
    text="The fix is to close the file.",
    position=1,
    offset=0,
    subject="action_1",
)
CANDIDATE = Candidate(
    subject="action_1",
    predicate="provides_solution",
    object="The fix is to close the file.",
    statement="The fix is to close the file.",
    confidence=0.7,
    rule="provides_solution",
    method="Keywords",
    start=0,
    end=29,
)


def reason(candidate: Candidate, episode: Episode = EPISODE) -> str:
    verdict = judge(candidate, episode)
    assert isinstance(verdict, Rejected)
    assert verdict.reason in policy.REJECTION_REASONS
    assert verdict.detail
    assert verdict.candidate is candidate
    return verdict.reason


@pytest.mark.parametrize(
    "value", ["The of an", "THE", "of  the, and", "(a)", "the\u00a0of", "[REDACTED:token:ab12] the"]
)
def test_an_object_of_generic_words_alone_is_refused(value: str) -> None:
    assert reason(replace(CANDIDATE, object=value)) == "generic"


@pytest.mark.parametrize("value", ["the fix", "Fix", "of ß", "é", "/", "a[REDACTED:token]b"])
def test_one_word_of_its_own_is_enough(value: str) -> None:
    assert isinstance(judge(replace(CANDIDATE, object=value), EPISODE), Accepted)


def test_a_good_candidate_enters_with_the_trust_of_its_episode() -> None:
    assert judge(CANDIDATE, EPISODE) == Accepted(
        candidate=CANDIDATE, confidence=0.7, trust=Trust.DERIVED
    )


@pytest.mark.parametrize("trust", list(Trust))
def test_confidence_is_capped_by_trust(trust: Trust) -> None:
    sure = replace(CANDIDATE, confidence=1.0)
    verdict = judge(sure, replace(EPISODE, trust=trust))
    assert isinstance(verdict, Accepted)
    assert (verdict.confidence, verdict.trust) == (policy.TRUST_CAP[trust], trust)


def test_the_trust_of_the_record_counts_before_that_of_its_channel() -> None:
    verdict = judge(
        replace(CANDIDATE, confidence=1.0, trust=Trust.OBSERVED),
        replace(EPISODE, trust=Trust.EXTERNAL),
    )
    assert isinstance(verdict, Accepted)
    assert (verdict.confidence, verdict.trust) == (1.0, Trust.OBSERVED)


@pytest.mark.parametrize("value", ["", "  ", "\n\t", "\u2003"])
def test_empty(value: str) -> None:
    assert reason(replace(CANDIDATE, object=value)) == "empty"


@pytest.mark.parametrize("value", ["the", "The", "a and the", "(it)", "of, the."])
def test_generic(value: str) -> None:
    assert reason(replace(CANDIDATE, object=value)) == "generic"


@pytest.mark.parametrize("value", ["Bash", "the file", "вода", "/", "…", "a.b", "0"])
def test_not_generic(value: str) -> None:
    assert isinstance(judge(replace(CANDIDATE, object=value), EPISODE), Accepted)


@pytest.mark.parametrize(("start", "end"), [(0, 0), (5, 2), (-3, 4), (0, 99), (40, 50), (3, 4)])
def test_no_span_no_fact(start: int, end: int) -> None:
    assert reason(replace(CANDIDATE, start=start, end=end)) == "no_span"


@pytest.mark.parametrize(
    "value", ["[REDACTED:password:ab12cd34]", "[REDACTED:token]", "'[REDACTED:key:1]', [REDACTED]"]
)
def test_redacted(value: str) -> None:
    assert reason(replace(CANDIDATE, object=value)) == "redacted"


def test_a_label_within_a_command_is_no_reason() -> None:
    command = "login -p '[REDACTED:password:ab12cd34]'"
    assert isinstance(judge(replace(CANDIDATE, object=command), EPISODE), Accepted)


def test_injected_text_is_never_evidence() -> None:
    assert reason(CANDIDATE, replace(EPISODE, injected=True)) == "injected"


@pytest.mark.parametrize(
    "value", [math.nan, math.inf, -math.inf, -0.1, 1.0001, True, "0.7", None, 10**400]
)
def test_bad_confidence(value: object) -> None:
    assert reason(replace(CANDIDATE, confidence=value)) == "bad_confidence"  # type: ignore[arg-type]


@given(
    text=st.text(max_size=40),
    value=st.text(max_size=20),
    start=st.integers(-5, 50),
    end=st.integers(-5, 50),
    confidence=st.floats(),
    trust=st.sampled_from(Trust),
)
def test_every_verdict_is_sound(
    text: str, value: str, start: int, end: int, confidence: float, trust: Trust
) -> None:
    episode = replace(EPISODE, text=text, trust=trust)
    candidate = replace(CANDIDATE, object=value, start=start, end=end, confidence=confidence)
    verdict = judge(candidate, episode)
    assert verdict == judge(candidate, episode)
    if isinstance(verdict, Accepted):
        assert 0 <= verdict.confidence <= policy.TRUST_CAP[trust]
        assert text[start:end].strip()
        assert value.strip()
    else:
        assert verdict.reason in policy.REJECTION_REASONS
