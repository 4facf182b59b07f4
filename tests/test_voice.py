"""Whose words a message holds, and that every road from words to facts asks."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, get_args

import pytest
from bench.voices import score
from hypothesis import given, settings
from hypothesis import strategies as st

from factbook import policy
from factbook.apply.apply import apply
from factbook.errors import FactbookError
from factbook.extract.voice import own_words
from factbook.memory import Memory
from factbook.model.entities import EngagementType, PreferenceType, Valence
from factbook.model.facts import ME, Candidate, FactKind, Status, Trigger, Trust
from factbook.model.interest_ops import (
    CreateEntity,
    OpenLearnPrompt,
    QueueSearch,
    RecordEngagement,
    SetPreference,
    SetSchedule,
)
from factbook.model.ops import AssertFact, ChangeKeys, DoubtFact, KeyStep, Op, SupportFact
from factbook.store.derived.entities import engagements_of
from factbook.store.derived.facts import fact_by_id
from factbook.store.derived.ledger import evidence_of
from factbook.store.rows import Filters
from factbook.testing import FrozenClock

MAIL: Final = "> I moved to Bergen and I love Coldplay."


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    found = Memory(tmp_path / "f.db", clock=FrozenClock(), key_file=tmp_path / "key")
    yield found
    assert found.check() == []
    found.close()


def said(memory: Memory, text: str, **more: Any) -> str:
    """Keep a turn and return its uid."""
    before = {one.uid for one in memory.store.episodes(Filters(), limit=None)}
    memory.add_turn(text, session="s", **more)
    rows = memory.store.episodes(Filters(), limit=None)
    return next(one.uid for one in rows if one.uid not in before)


def facts(memory: Memory, trust: Trust = Trust.DIRECT) -> list[str]:
    rows = list(memory.store.facts(Filters(proposed=True), limit=None))
    return sorted(one.statement for one in rows if one.trust is trust and one.retired_at is None)


# --- from a message to what is kept of it ---------------------------------------------------------


def test_a_quoted_mail_supersedes_nothing_that_was_told(memory: Memory) -> None:
    told = memory.remember("I live in Oslo.")
    memory.add_turn("look what Anna writes\n\n> I moved to Bergen.\n> I work there now.")
    for _ in range(2):
        memory.clock.advance(days=1)  # type: ignore[attr-defined]
        memory.consolidate()
    assert fact_by_id(memory.store, told.id).retired_at is None  # type: ignore[union-attr]
    assert facts(memory) == ["I live in Oslo."]


def test_what_was_pasted_makes_nothing_direct_and_is_found(memory: Memory) -> None:
    said_ = "I work as a nurse.\nI live in Bergen.\nI love Coldplay."
    memory.add_turn(said_, pasted=[(18, len(said_))])
    memory.consolidate()
    assert facts(memory) == ["I work as a nurse."]
    assert memory.interests.preferences() == []
    assert any("Bergen" in hit.text for hit in memory.search_memory("Who lives in Bergen?"))


def test_in_doubt_a_statement_waits_for_a_yes(memory: Memory) -> None:
    text = (
        "Hi Marta,\n\nThanks for the flowers, they made my week.\n\nI live in Delft now.\n\n"
        "Come visit in June!\n\nLove,\nIngrid"
    )
    memory.add_turn(text)
    memory.consolidate()
    assert facts(memory) == []
    assert facts(memory, Trust.DERIVED) == ["I live in Delft now."]
    memory.add_turn(text + "!")  # pasting it again is no second observation
    memory.consolidate()
    rows = list(memory.store.facts(Filters(proposed=True), limit=None))
    assert [one.status for one in rows] == [Status.PROPOSED]
    waiting = memory.review.proposals()
    assert [one.title for one in waiting] == ["I live in Delft now."]
    why, *_ = evidence_of(memory.store, [rows[0].id])[rows[0].id]
    assert why.rule == policy.OVERHEARD
    memory.review.decide(waiting[0].id, accept=True)
    assert [one.statement for one in memory.query_facts()] == [rows[0].statement]


def test_where_a_paste_stands_survives_redaction(memory: Memory) -> None:
    text = "my router password: hunter2-ZebraQuilt99\nI live in Bergen.\nthanks!"
    start = text.index("I live")
    uid = said(memory, text, pasted=[(start, start + 17)])
    episode = memory.store.episodes_by_id(list(memory.store.episode_ids([uid]).values()))
    ((first, last),) = next(iter(episode.values())).pasted
    kept = next(iter(episode.values())).text
    assert "I live in Bergen." in kept[first:last]
    assert "ZebraQuilt" not in kept


# --- every road -----------------------------------------------------------------------------------


def assertion(uid: str, kind: FactKind, subject: str = ME) -> AssertFact:
    quote = "I moved to Bergen"
    start = MAIL.index(quote)
    candidate = Candidate(
        subject=subject,
        predicate="states",
        object=quote,
        statement=quote,
        confidence=0.9,
        rule="forged",
        method="whatever an extractor says",
        start=start,
        end=start + len(quote),
        kind=kind,
        embed=True,
    )
    return AssertFact(
        candidate=candidate, episode=uid, owner=ME, confidence=0.9, trust=Trust.DIRECT, quote=quote
    )


def roads(uid: str, episode_id: int, fact_id: int) -> Mapping[type[Op], list[Op]]:
    """Return for each Op that takes a message as its owner's word what a forger would write."""
    step = KeyStep(action="set", key="user.city", value="Bergen", start=13, end=19, confidence=0.9)
    support = {
        "fact_id": fact_id,
        "episode_id": episode_id,
        "quote": "I moved to Bergen",
        "start": 2,
        "end": 19,
        "rule": "forged",
        "method": "forged",
    }
    return {
        AssertFact: [assertion(uid, FactKind.STATEMENT), assertion(uid, FactKind.TYPED)],
        SupportFact: [SupportFact(**support, trust=Trust.DIRECT, confidence=0.9)],  # type: ignore[arg-type]
        DoubtFact: [DoubtFact(**support)],  # type: ignore[arg-type]
        CreateEntity: [CreateEntity(owner=ME, name="coldplay", episode=uid)],
        SetPreference: [
            SetPreference(owner=ME, topic="coldplay", type=PreferenceType.LIKE, episode=uid)
        ],
        RecordEngagement: [
            RecordEngagement(
                owner=ME,
                type=EngagementType.EXPLICIT_STATEMENT,
                valence=Valence.POSITIVE,
                strength=0.7,
                entity="radiohead",
                episode=uid,
            )
        ],
        OpenLearnPrompt: [OpenLearnPrompt(owner=ME, text="Coldplay", episode=uid)],
        SetSchedule: [
            SetSchedule(owner=ME, topic="coldplay", every_ms=86_400_000, next_at=0, episode=uid)
        ],
        QueueSearch: [QueueSearch(owner=ME, query="Coldplay", episode=uid)],
        ChangeKeys: [
            ChangeKeys(
                owner=ME,
                episode=uid,
                steps=[step],
                trust=Trust.DIRECT,
                rule="forged",
                method="forged",
                atomic=True,
            )
        ],
    }


NO_ROAD: Final = """
    NoteReaders KeepTold WithdrawEvidence
    RecordSource RecordEpisode RejectCandidate RejectLine AdvanceCursor StoreVectors
    ContradictFacts SupersedeFact JudgePair SettlePair MergeFacts UnmergeFact PinFact RateFact
    HoldFact RetractFact RevertFact Propose DecideProposal MarkProgress KeepLoose StartRun FinishRun
    StoreNextVectors ReplaceVectors RecordInjection RecordUse Count ConfirmFact QueueTask
    FinishTask FailTask RetryTasks BeginCall EndCall EraseFact EraseEpisode EraseSource
    EraseRejection EraseEntity EraseOwner EraseNoted AllowAgain AddAlias MergeEntities UnmergeEntity
    RetireEntity RestoreEntity MuteEntity MuteOwner DropPreference PlanLearning RecordSearch
    FailSearch RetrySearches KeepSeen MarkDiscovered MarkResultRead FailResult Fence
    MarkExtracted MarkHeard Announce ClaimNotice FinishNotice NoteAction DropSchedule
    RunSchedule Restore RetractNode
"""
"""Ops that take no message as a word of its owner: they work on rows, or on a person's command."""


def test_every_op_is_a_road_or_none() -> None:
    """Whoever adds an Op says here whether it takes a message as its owner's word."""
    known = {one.__name__ for one in roads("", 0, 0)} | set(NO_ROAD.split())
    assert {one.__name__ for one in get_args(Op)} == known


@pytest.mark.parametrize("road", sorted(one.__name__ for one in roads("", 0, 0)))
def test_no_road_takes_a_quote_for_its_owners_word(memory: Memory, road: str) -> None:
    told = memory.remember("I live in Oslo.")
    setting_up = said(memory, "I like Radiohead.")
    apply(
        memory.store,
        [CreateEntity(owner=ME, name="radiohead", episode=setting_up)],
        trigger=Trigger.USER_MESSAGE,
        actor="test",
        now=1,
    )
    uid = said(memory, MAIL)
    episode_id = memory.store.episode_ids([uid])[uid]
    before = fact_by_id(memory.store, told.id)
    forged = {one.__name__: ops for one, ops in roads(uid, episode_id, told.id).items()}[road]
    for trigger in (Trigger.USER_MESSAGE, Trigger.UPKEEP, Trigger.COMMAND):
        for op in forged:
            with suppress(FactbookError):  # refused
                apply(memory.store, [op], trigger=trigger, actor="test", now=2)
    after = fact_by_id(memory.store, told.id)
    assert before is not None
    assert after is not None
    assert (after.retired_at, after.trust) == (None, Trust.DIRECT)
    assert after.confidence >= before.confidence * 0.999
    assert facts(memory) == ["I live in Oslo."]
    assert [one.name for one in memory.interests.entities()] == ["radiohead"]
    assert memory.interests.preferences() == []
    assert engagements_of(memory.store, owner=ME) == []
    for table in ("learn_prompt_row", "schedule_row", "search_task"):
        assert list(memory.sql(f"SELECT * FROM {table}")) == []


# --- the function ---------------------------------------------------------------------------------


@given(text=st.text(alphabet="aI> \n.:?'\"-ÄB1@", max_size=120), cuts=st.data())
@settings(max_examples=150, deadline=None)
def test_spans_and_what_is_overheard_are_the_whole_message(text: str, cuts: st.DataObject) -> None:
    start = cuts.draw(st.integers(0, len(text)))
    end = cuts.draw(st.integers(start, len(text)))
    found = own_words(text, pasted=[(start, end)])
    parts = sorted([*found.spans, *((one.start, one.end) for one in found.overheard)])
    assert [one for span in parts for one in range(*span)] == list(range(len(text)))
    assert len(found.text) == len(text)
    assert all(one.why for one in found.overheard)
    theirs = {at for one in found.overheard for at in range(one.start, one.end)}
    assert theirs.issuperset(range(start, end))
    assert found.text == "".join("\n" if n in theirs else sign for n, sign in enumerate(text))


def test_long_and_odd_messages_are_read_at_once() -> None:
    for text in (" " * 200_000, "\n" * 200_000, "a\n" * 9_000, ". " * 9_000, "Hi A, " * 3_000):
        assert len(own_words(text).text) == len(text)


def test_a_like_of_others_inside_a_line_is_not_ones_own() -> None:
    for text in (
        "my mum wrote hi love I moved to leeds",
        "★★★★ I live round the corner and I love this place.",
    ):
        assert "I " not in own_words(text).text, text


@pytest.mark.slow
def test_voices() -> None:
    """The floors of `python -m bench.voices`, on the half that nothing was fitted on."""
    found = score("held out")
    assert found.leaks / found.pastes <= 0.14, json.dumps(found._asdict())
    assert found.short_heard / found.short >= 0.76, json.dumps(found._asdict())
