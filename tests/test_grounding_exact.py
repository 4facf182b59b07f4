"""What is exact in a claim is held against its source by rule, however sure the network is."""

from __future__ import annotations

import pytest

from factbook.gate.grounding import read_passage
from factbook.gate.grounding.exact import invented
from factbook.gate.typed_claims import judge_typed
from factbook.language.reader.relate import RELATER
from factbook.model.memory_types import MemoryType, RejectionReason, TypedClaim


@pytest.mark.parametrize(
    ("source", "claim", "kind"),
    [
        ("The user moved to Riga in 2018.", "Moved to Riga in 2019", "number"),
        ("The user has three cats and one dog.", "Has four cats", "number"),
        ("The lease of the user ends on 3 June 2027.", "The lease ends on 3 July 2027", "number"),
        ("The user's exam is on Tuesday.", "The exam is on Thursday", "number"),
        ("The user wakes at 6:30 most days.", "Wakes at 7:30", "number"),
        ("The user pays 1,200 euros of rent.", "Pays a rent of 1,300 euros", "number"),
        ("The user married Carla in Rome.", "Married Carla in Naples", "name"),
        ("The user works for Nordea with Eino.", "Works for Nordea with Aino", "name"),
    ],
)
def test_a_number_a_day_or_a_name_that_is_not_there_is_refused(
    source: str, claim: str, kind: str
) -> None:
    passage = read_passage(source)
    verdict = judge_typed(
        TypedClaim(text=claim, type=MemoryType.USER_FACT, confidence=0.95, reasoning=""),
        passage,
        net=RELATER,
    )
    assert not verdict.stored
    assert verdict.reason in (
        RejectionReason.HALLUCINATION,
        RejectionReason.NOT_GROUNDED_IN_SUMMARY,
    )
    assert verdict.grounding.conflict == kind
    assert kind in verdict.detail


@pytest.mark.parametrize(
    ("source", "claim"),
    [
        ("The user prefers tea over coffee.", "Prefers coffee over tea"),
        ("The user moved from Lima to Cusco.", "Moved from Cusco to Lima"),
        ("The user works at a bank. Its director was on television.", "Is the director of a bank"),
        ("The user does not like fettuccini.", "Likes fettuccini"),
        ("The user lived in Oslo for six years.", "Lived in Oslo for six months"),
        ("The user drives a van.", "Drives a red van"),
        ("The user rarely eats meat.", "Often eats meat"),
    ],
)
def test_one_thing_that_is_changed_in_a_summary_is_refused(source: str, claim: str) -> None:
    verdict = judge_typed(
        TypedClaim(text=claim, type=MemoryType.USER_FACT, confidence=0.95, reasoning=""),
        read_passage(source),
        net=RELATER,
    )
    assert not verdict.stored
    assert verdict.detail


@pytest.mark.parametrize(
    ("source", "claim"),
    [
        ("The user's twins turn six in May.", "Has two children"),
        ("The user has three cats.", "Has 3 cats"),
        ("The user grew up in Poland.", "Is Polish"),
        ("The user pays 1,200 euros of rent.", "Pays 1200 euros"),
        ("Zoë moved to Malmö.", "Zoe lives in Malmo"),
        ("The user was away from March to May.", "Was away in March and May"),
    ],
)
def test_what_follows_or_is_written_otherwise_is_there(source: str, claim: str) -> None:
    passage = read_passage(source)
    assert invented(claim, [spoken.line for spoken in passage.lines], source) == ("", "")
