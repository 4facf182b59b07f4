"""Rows of every kind for the tests of the verbs of records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from factbook.model.entities import (
    Engagement,
    EngagementType,
    NoticeKind,
    NoticeState,
    NotifyState,
    Preference,
    PreferenceType,
    Schedule,
    SearchState,
    SearchTask,
    Valence,
)
from factbook.model.facts import ME, ErasureAct, Event, Injection, ModelTask, Proposal, Run, Trigger
from factbook.store.kinds import (
    ALIAS,
    CALL,
    COUNT,
    EMBED_TASK,
    ENGAGEMENT,
    ENTITY,
    ERASED,
    ERASURE,
    EVENT,
    INJECTION,
    LEARN_PROMPT,
    LEASE,
    LOOSE,
    MARK,
    MODEL_TASK,
    NOTICE,
    NOTICE_FACT,
    NOTIFY,
    OWNER,
    PAIR,
    PREFERENCE,
    PROPOSAL,
    READER,
    RECORDED,
    REJECTION,
    RUN,
    SCHEDULE,
    SEARCH_FIND,
    SEARCH_LOG,
    SEARCH_RESULT,
    SEARCH_TASK,
    SECRET,
    TOMBSTONE,
    Alias,
    Calls,
    DayCount,
    EmbedTask,
    EntityRow,
    ErasedRow,
    FindRow,
    Kind,
    Lease,
    Loose,
    Mark,
    NoticeFact,
    NoticeRow,
    OwnerRow,
    Pair,
    PromptRow,
    Reader,
    Recorded,
    Refusal,
    ResultRow,
    SearchRow,
    Secret,
    Tombstone,
)
from factbook.testing.contract.base import NOW


def proposal(id: int, claim: bytes, **other: Any) -> Proposal:
    row = Proposal(id, "rule", "one", {"n": [id, None]}, NOW, "open", None, "", claim, "")
    return row._replace(**other)


def entity(id: int, name: str, **other: Any) -> EntityRow:
    row = EntityRow(id, "me", name, NOW, NOW, id, Trigger.COMMAND)
    return row._replace(**other)


def preference(id: int, topic: str, **other: Any) -> Preference:
    row = Preference(id, "me", topic, PreferenceType.LIKE, NOW, episode_id=id)
    return row._replace(**other)


def engagement(id: int, **other: Any) -> Engagement:
    kind = EngagementType.LIKE_COMMAND
    row = Engagement(id, "me", id, None, kind, Valence.POSITIVE, 0.8, id, NOW)
    return row._replace(**other)


def search(id: int, **other: Any) -> SearchRow:
    row = SearchRow(id, f"u{id}", "me", NOW, "kef", Trigger.COMMAND, "folder", 12)
    return row._replace(**other)


def task(id: int, **other: Any) -> SearchTask:
    about = (1, 1, id)
    row = SearchTask(id, ME, "kef", Trigger.COMMAND, *about, SearchState.QUEUED, 0, "", 0, NOW)
    return row._replace(**other)


def notice(id: int, **other: Any) -> NoticeRow:
    kind, state = NoticeKind.LEARNED, NoticeState.WAITING
    row = NoticeRow(id, ME, id, kind, Trigger.COMMAND, "", state, NOW, None, [], "")
    return row._replace(**other)


# Of each kind two rows that differ in every part of their key, by their key, and the second once
# more with other fields.
EXAMPLES: Mapping[Kind[Any], tuple[Any, Any, Any]] = {
    PAIR: (
        Pair(1, 2, "same", "merge", "", 0.9, NOW, ""),
        Pair(2, 3, "ambiguous", "polarity", "one says no", 0.8, NOW + 1, "", NOW, "me"),
        Pair(2, 3, "contradiction", "negation", "", 0.7, NOW, "KEEP_BOTH"),
    ),
    PROPOSAL: (
        proposal(1, b"a"),
        proposal(2, b"\xff\0"),
        proposal(2, b"\xff\0", state="refused", decided_at=NOW, payload={}),
    ),
    RUN: (
        Run(1, NOW, None, "running", "", {}),
        Run(2, NOW + 1, NOW + 2, "done", "merge", {"faded": [1, 2], "error": "é"}),
        Run(2, NOW + 1, NOW + 9, "undone", "", {}),
    ),
    MARK: (Mark("extract", 0, 1 << 62), Mark("judge", 1 << 60, 7), Mark("judge", 3, -1)),
    LOOSE: (Loose(1), Loose(2), Loose(2)),
    INJECTION: (
        Injection(1, NOW, ME, "s1", "passive", ["e1", "f1"], [], None, None),
        Injection(2, NOW + 1, "ann", "s2", "tool", [], ["e1"], NOW, False),
        Injection(2, NOW + 2, "ann", "", "tool", ["f2"], [], NOW, True),
    ),
    COUNT: (
        DayCount("2025-11-20", "turns", 1.0),
        DayCount("2025-11-21", "turns", 0.5),
        DayCount("2025-11-21", "turns", 2.0),
    ),
    READER: (
        Reader(1, "redactor", "none", NOW, NOW),
        Reader(2, "rules", "3", NOW, NOW + 1),
        Reader(2, "rules", "3", NOW, NOW + 2),
    ),
    CALL: (
        Calls("2025-11-20", "typed", "m", "ok", 1, 2, 3, 4.5, 0.0),
        Calls("2025-11-21", "tell", "n", "begun", 0, 0, 0, 0.0, 0.25),
        Calls("2025-11-21", "tell", "n", "begun", 2, 1, 1, 1.0, 0.5),
    ),
    LEASE: (
        Lease("cleaner", "", 3, 0),
        Lease("search 7", "one/a/b:1:2:c", 0, NOW),
        Lease("search 7", "two", 1 << 40, NOW + 1),
    ),
    EMBED_TASK: (
        EmbedTask("episode", 1, 7, 0, 0, "", False),
        EmbedTask("fact", 2, 0, NOW, 3, "too long é", True),
        EmbedTask("fact", 2, 8, 0, 4, "", False),
    ),
    MODEL_TASK: (
        ModelTask("heard", 1, "done", 0, "", "", 0, NOW),
        ModelTask("tell", 2, "failed", 2, "it timed out", "v1", NOW + 9, NOW),
        ModelTask("tell", 2, "aside", 5, "é", "v2", NOW + 99, NOW + 3),
    ),
    EVENT: (
        Event(1, NOW, "cli", Trigger.COMMAND, "store", "fact", 1, {}, None),
        Event(2, NOW, "cli", Trigger.UPKEEP, "merge", "entity", 2, {"loser": 3, "why": "é"}, 7),
        Event(2, NOW + 1, "cli", Trigger.COMMAND, "merge", "fact", 2, {}, 7),
    ),
    REJECTION: (
        Refusal(1, b"\0", NOW, 1, None, 3, 4, "not_json", "a detail", "{", owner="bob"),
        Refusal(2, b"a", NOW + 1, 2, 2, 1, 0, "a", "", "x", "r", "p", ME, "T", 0.5, 0.7, {"n": 1}),
        Refusal(2, b"a", NOW, 2, 2, 1, 0, "a", "", "x", "r", "p", "ann", "T"),
    ),
    ENTITY: (
        entity(1, "kef"),
        entity(2, "oslo"),
        entity(2, "oslo", muted=True, updated_at=NOW + 1),
    ),
    ALIAS: (Alias("me", "kef ls50", 1), Alias("you", "the city", 2), Alias("you", "the city", 1)),
    ENGAGEMENT: (
        engagement(1),
        engagement(2, at=NOW + 1, type=EngagementType.NORMAL_REACTION, valence=Valence.NEGATIVE),
        engagement(2, type=EngagementType.NORMAL_REACTION, strength=0.1),
    ),
    PREFERENCE: (
        preference(1, "jazz"),
        preference(2, "opera", type=PreferenceType.DISLIKE),
        preference(2, "opera", created_at=NOW + 1),
    ),
    SEARCH_LOG: (
        search(1),
        search(2, query="oslo", duration_ms=None, cause_id=2, extracted=True, entity_id=2),
        search(2, discovered=True),
    ),
    SEARCH_FIND: (FindRow(1, 1, None), FindRow(2, 2, 0.5), FindRow(2, 2, None)),
    LEARN_PROMPT: (
        PromptRow(1, ME, "kef", "active", 1, NOW, NOW),
        PromptRow(2, "ann", "oslo", "completed", 2, NOW, NOW + 1),
        PromptRow(2, "ann", "oslo", "active", 2, NOW, NOW + 2),
    ),
    SEARCH_TASK: (
        task(1),
        task(2, learn_prompt_id=2, entity_id=2, state=SearchState.FAILED, created_at=NOW + 1),
        task(2, attempts=3, error="no answer", until=NOW + 9, state=SearchState.ASIDE),
    ),
    SCHEDULE: (
        Schedule(1, ME, "kef", 60_000, NOW, NOW, 1),
        Schedule(2, "ann", "oslo", 9, NOW + 1, NOW, 2, NOW),
        Schedule(2, "ann", "oslo", 9, NOW + 2, NOW, 2),
    ),
    NOTICE: (
        notice(1),
        notice(2, state=NoticeState.SENT, sent_at=NOW, channels=["log"], created_at=NOW + 1),
        notice(2, state=NoticeState.DROPPED, reason="it was muted"),
    ),
    NOTICE_FACT: (NoticeFact(1, 1), NoticeFact(2, 2), NoticeFact(2, 2)),
    NOTIFY: (
        NotifyState("ann", 0, None, None, False),
        NotifyState("me", 2, NOW, NOW + 1, True),
        NotifyState("me", 0, NOW, NOW + 2, False),
    ),
    SEARCH_RESULT: (
        ResultRow(1, 0, 1),
        ResultRow(2, 1, 2, [[0, 3], [4, 9]], True, 2),
        ResultRow(2, 1, 3, [], False, 1),
    ),
    ERASURE: (
        ErasureAct(1, NOW, "cli", "fact", {"facts": 1}, False, None),
        ErasureAct(2, NOW + 1, "cli", "owner", {}, True, NOW + 2),
        ErasureAct(2, NOW, "sdk", "source", {"episodes": 3, "facts": 1}, False, None),
    ),
    ERASED: (
        ErasedRow("entity", 1, 1),
        ErasedRow("preference", 2, 2),
        ErasedRow("preference", 2, 1),
    ),
    RECORDED: (Recorded("event", 1, "k1"), Recorded("fact", 2, "k2"), Recorded("fact", 2, "k3")),
    TOMBSTONE: (
        Tombstone(b"\0a", "uid", 1),
        Tombstone(b"\xff\0", "claim", 2),
        Tombstone(b"\xff\0", "name", 1),
    ),
    OWNER: (OwnerRow("ann", 3), OwnerRow("me", 0), OwnerRow("me", 9)),
    SECRET: (Secret("a", "00ff"), Secret("erase_key", "0f"), Secret("erase_key", "")),
}
# What rows of a kind refer to.
NEEDS: Mapping[Kind[Any], Sequence[Kind[Any]]] = {
    ALIAS: (ENTITY,),
    ENGAGEMENT: (ENTITY,),
    SEARCH_LOG: (ENTITY,),
    SEARCH_RESULT: (ENTITY, SEARCH_LOG),
    SEARCH_FIND: (ENTITY, SEARCH_LOG),
    SEARCH_TASK: (ENTITY, LEARN_PROMPT),
    NOTICE: (ENTITY,),
    NOTICE_FACT: (ENTITY, NOTICE),
    ERASED: (ERASURE,),
    TOMBSTONE: (ERASURE,),
}
