"""Whoever speaks in the first person is held to their own words, as the product reads them."""

from __future__ import annotations

from factbook.gate.grounding import read_passage
from factbook.gate.typed_claims import judge_typed
from factbook.language.reader.relate import RELATER
from factbook.model.memory_types import MemoryType, TypedClaim

NOTE = "We moved the nightly backups to Hetzner. Restores take me about forty minutes now."


def _stored(claim: str) -> bool:
    given = TypedClaim(text=claim, type=MemoryType.USER_FACT, confidence=0.9, reasoning="")
    return judge_typed(given, read_passage(NOTE), net=RELATER).stored


def test_a_note_of_ones_own_is_held_to_its_words() -> None:
    assert read_passage(NOTE).told_by_oneself
    assert not read_passage("The user moved the backups to Hetzner.").told_by_oneself
    assert not read_passage("She sat an exam in the US. See part I.").told_by_oneself
    assert _stored("The user moved the nightly backups to Hetzner.")
    assert not _stored("The user moved the nightly backups to Azure.")
    assert not _stored("Restores take about four minutes.")
