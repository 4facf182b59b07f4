"""What is claimed, said again and refused: one builder, one gate, one cap."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

import factbook
from factbook import policy
from factbook.model.facts import Candidate, Trust
from factbook.model.ops import AssertFact, RejectCandidate
from factbook.pipelines.claims import Witness, asserted, judged, refused, supported
from factbook.testing import sample_episode

TEXT = "Ann keeps her notes on the nas."
SAID = Witness("told:1", "ann", Trust.EXTERNAL, TEXT, 7)
CLAIM = Candidate(
    subject="ann",
    predicate="states",
    object=TEXT,
    statement=TEXT,
    confidence=0.95,
    rule="told",
    method="by hand",
    start=4,
    end=9,
)


@pytest.mark.parametrize("trust", Trust)
def test_what_is_claimed_is_no_surer_than_its_channel(trust: Trust) -> None:
    heard = SAID._replace(trust=trust)
    sure = min(0.95, policy.TRUST_CAP[trust])
    assert asserted(CLAIM, heard).confidence == sure
    assert supported(3, CLAIM, heard).confidence == sure
    assert asserted(replace(CLAIM, trust=trust), SAID).confidence == sure  # its own trust first


def test_what_is_claimed_quotes_its_span_and_names_its_episode() -> None:
    claim = asserted(CLAIM, SAID, proposed=True, factors={"a": 1})
    assert claim == AssertFact(
        candidate=CLAIM,
        episode="told:1",
        owner="ann",
        confidence=0.6,
        trust=Trust.EXTERNAL,
        quote="keeps",
        proposed=True,
        factors={"a": 1},
    )
    assert asserted(CLAIM, SAID, quote="a piece").quote == "a piece"
    again = supported(3, CLAIM, SAID)
    assert (again.fact_id, again.episode_id, again.quote) == (3, 7, "keeps")


def test_the_gate_decides_what_was_observed() -> None:
    episode = sample_episode(1)
    claim = replace(CLAIM, object="nas", start=0, end=3)
    let_in = judged(claim, episode)
    assert let_in == asserted(claim, episode)
    refusal = judged(replace(claim, object=" "), episode)
    assert isinstance(refusal, RejectCandidate)
    assert refusal == refused(replace(claim, object=" "), episode, "empty", "the object is empty")


def test_one_module_builds_what_claims_a_fact() -> None:
    package = Path(factbook.__file__).parent
    builds = re.compile(r"(?<!class )\bAssertFact\(|by_name\(AssertFact\)")
    found = {
        path.relative_to(package).as_posix()
        for path in package.rglob("*.py")
        if builds.search(path.read_text(encoding="utf-8"))
    }
    assert found == {"pipelines/claims.py", "testing/__init__.py"}  # and a sample for tests
