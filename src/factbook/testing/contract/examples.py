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
from factbook.store import kinds
from factbook.testing.contract.base import NOW


def proposal(id: int, claim: bytes, **other: Any) -> Proposal:
    row = Proposal(id, "rule", "one", {"n": [id, None]}, NOW, "open", None, "", claim, "")
    return row._replace(**other)


def entity(id: int, name: str, **other: Any) -> kinds.EntityRow:
    row = kinds.EntityRow(id, "me", name, NOW, NOW, id, Trigger.COMMAND)
    return row._replace(**other)


def preference(id: int, topic: str, **other: Any) -> Preference:
    row = Preference(id, "me", topic, PreferenceType.LIKE, NOW, episode_id=id)
    return row._replace(**other)


def engagement(id: int, **other: Any) -> Engagement:
    kind = EngagementType.LIKE_COMMAND
    row = Engagement(id, "me", id, None, kind, Valence.POSITIVE, 0.8, id, NOW)
    return row._replace(**other)


def search(id: int, **other: Any) -> kinds.SearchRow:
    row = kinds.SearchRow(id, f"u{id}", "me", NOW, "kef", Trigger.COMMAND, "folder", 12)
    return row._replace(**other)


def task(id: int, **other: Any) -> SearchTask:
    about = (1, 1, id)
    row = SearchTask(id, ME, "kef", Trigger.COMMAND, *about, SearchState.QUEUED, 0, "", 0, NOW)
    return row._replace(**other)


def notice(id: int, **other: Any) -> kinds.NoticeRow:
    kind, state = NoticeKind.LEARNED, NoticeState.WAITING
    row = kinds.NoticeRow(id, ME, id, kind, Trigger.COMMAND, "", state, NOW, None, [], "")
    return row._replace(**other)


# Of each kind two rows that differ in every part of their key, by their key, and the second once
# more with other fields.
EXAMPLES: Mapping[kinds.Kind[Any], tuple[Any, Any, Any]] = {
    kinds.PAIR: (
        kinds.Pair(1, 2, "same", "merge", "", 0.9, NOW, ""),
        kinds.Pair(2, 3, "ambiguous", "polarity", "one says no", 0.8, NOW + 1, "", NOW, "me"),
        kinds.Pair(2, 3, "contradiction", "negation", "", 0.7, NOW, "KEEP_BOTH"),
    ),
    kinds.PROPOSAL: (
        proposal(1, b"a"),
        proposal(2, b"\xff\0"),
        proposal(2, b"\xff\0", state="refused", decided_at=NOW, payload={}),
    ),
    kinds.RUN: (
        Run(1, NOW, None, "running", "", {}),
        Run(2, NOW + 1, NOW + 2, "done", "merge", {"faded": [1, 2], "error": "é"}),
        Run(2, NOW + 1, NOW + 9, "undone", "", {}),
    ),
    kinds.MARK: (
        kinds.Mark("extract", 0, 1 << 62),
        kinds.Mark("judge", 1 << 60, 7),
        kinds.Mark("judge", 3, -1),
    ),
    kinds.LOOSE: (kinds.Loose(1), kinds.Loose(2), kinds.Loose(2)),
    kinds.INJECTION: (
        Injection(1, NOW, ME, "s1", "passive", ["e1", "f1"], [], None, None),
        Injection(2, NOW + 1, "ann", "s2", "tool", [], ["e1"], NOW, False),
        Injection(2, NOW + 2, "ann", "", "tool", ["f2"], [], NOW, True),
    ),
    kinds.COUNT: (
        kinds.DayCount("2025-11-20", "turns", 1.0),
        kinds.DayCount("2025-11-21", "turns", 0.5),
        kinds.DayCount("2025-11-21", "turns", 2.0),
    ),
    kinds.READER: (
        kinds.Reader(1, "redactor", "none", NOW, NOW),
        kinds.Reader(2, "rules", "3", NOW, NOW + 1),
        kinds.Reader(2, "rules", "3", NOW, NOW + 2),
    ),
    kinds.CALL: (
        kinds.Calls("2025-11-20", "typed", "m", "ok", 1, 2, 3, 4.5, 0.0),
        kinds.Calls("2025-11-21", "tell", "n", "begun", 0, 0, 0, 0.0, 0.25),
        kinds.Calls("2025-11-21", "tell", "n", "begun", 2, 1, 1, 1.0, 0.5),
    ),
    kinds.LEASE: (
        kinds.Lease("cleaner", "", 3, 0),
        kinds.Lease("search 7", "one/a/b:1:2:c", 0, NOW),
        kinds.Lease("search 7", "two", 1 << 40, NOW + 1),
    ),
    kinds.EMBED_TASK: (
        kinds.EmbedTask("episode", 1, 7, 0, 0, "", False),
        kinds.EmbedTask("fact", 2, 0, NOW, 3, "too long é", True),
        kinds.EmbedTask("fact", 2, 8, 0, 4, "", False),
    ),
    kinds.MODEL_TASK: (
        ModelTask("heard", 1, "done", 0, "", "", 0, NOW),
        ModelTask("tell", 2, "failed", 2, "it timed out", "v1", NOW + 9, NOW),
        ModelTask("tell", 2, "aside", 5, "é", "v2", NOW + 99, NOW + 3),
    ),
    kinds.EVENT: (
        Event(1, NOW, "cli", Trigger.COMMAND, "store", "fact", 1, {}, None),
        Event(2, NOW, "cli", Trigger.UPKEEP, "merge", "entity", 2, {"loser": 3, "why": "é"}, 7),
        Event(2, NOW + 1, "cli", Trigger.COMMAND, "merge", "fact", 2, {}, 7),
    ),
    kinds.REJECTION: (
        kinds.Refusal(1, b"\0", NOW, 1, None, 3, 4, "not_json", "a detail", "{", owner="bob"),
        kinds.Refusal(
            2, b"a", NOW + 1, 2, 2, 1, 0, "a", "", "x", "r", "p", ME, "T", 0.5, 0.7, {"n": 1}
        ),
        kinds.Refusal(2, b"a", NOW, 2, 2, 1, 0, "a", "", "x", "r", "p", "ann", "T"),
    ),
    kinds.ENTITY: (
        entity(1, "kef"),
        entity(2, "oslo"),
        entity(2, "oslo", muted=True, updated_at=NOW + 1),
    ),
    kinds.ALIAS: (
        kinds.Alias("me", "kef ls50", 1),
        kinds.Alias("you", "the city", 2),
        kinds.Alias("you", "the city", 1),
    ),
    kinds.ENGAGEMENT: (
        engagement(1),
        engagement(2, at=NOW + 1, type=EngagementType.NORMAL_REACTION, valence=Valence.NEGATIVE),
        engagement(2, type=EngagementType.NORMAL_REACTION, strength=0.1),
    ),
    kinds.PREFERENCE: (
        preference(1, "jazz"),
        preference(2, "opera", type=PreferenceType.DISLIKE),
        preference(2, "opera", created_at=NOW + 1),
    ),
    kinds.SEARCH_LOG: (
        search(1),
        search(2, query="oslo", duration_ms=None, cause_id=2, extracted=True, entity_id=2),
        search(2, discovered=True),
    ),
    kinds.SEARCH_FIND: (
        kinds.FindRow(1, 1, None),
        kinds.FindRow(2, 2, 0.5),
        kinds.FindRow(2, 2, None),
    ),
    kinds.LEARN_PROMPT: (
        kinds.PromptRow(1, ME, "kef", "active", 1, NOW, NOW),
        kinds.PromptRow(2, "ann", "oslo", "completed", 2, NOW, NOW + 1),
        kinds.PromptRow(2, "ann", "oslo", "active", 2, NOW, NOW + 2),
    ),
    kinds.SEARCH_TASK: (
        task(1),
        task(2, learn_prompt_id=2, entity_id=2, state=SearchState.FAILED, created_at=NOW + 1),
        task(2, attempts=3, error="no answer", until=NOW + 9, state=SearchState.ASIDE),
    ),
    kinds.SCHEDULE: (
        Schedule(1, ME, "kef", 60_000, NOW, NOW, 1),
        Schedule(2, "ann", "oslo", 9, NOW + 1, NOW, 2, NOW),
        Schedule(2, "ann", "oslo", 9, NOW + 2, NOW, 2),
    ),
    kinds.NOTICE: (
        notice(1),
        notice(2, state=NoticeState.SENT, sent_at=NOW, channels=["log"], created_at=NOW + 1),
        notice(2, state=NoticeState.DROPPED, reason="it was muted"),
    ),
    kinds.NOTICE_FACT: (kinds.NoticeFact(1, 1), kinds.NoticeFact(2, 2), kinds.NoticeFact(2, 2)),
    kinds.NOTIFY: (
        NotifyState("ann", 0, None, None, False),
        NotifyState("me", 2, NOW, NOW + 1, True),
        NotifyState("me", 0, NOW, NOW + 2, False),
    ),
    kinds.SEARCH_RESULT: (
        kinds.ResultRow(1, 0, 1),
        kinds.ResultRow(2, 1, 2, [[0, 3], [4, 9]], True, 2),
        kinds.ResultRow(2, 1, 3, [], False, 1),
    ),
    kinds.ERASURE: (
        ErasureAct(1, NOW, "cli", "fact", {"facts": 1}, False, None),
        ErasureAct(2, NOW + 1, "cli", "owner", {}, True, NOW + 2),
        ErasureAct(2, NOW, "sdk", "source", {"episodes": 3, "facts": 1}, False, None),
    ),
    kinds.ERASED: (
        kinds.ErasedRow("entity", 1, 1),
        kinds.ErasedRow("preference", 2, 2),
        kinds.ErasedRow("preference", 2, 1),
    ),
    kinds.RECORDED: (
        kinds.Recorded("event", 1, "k1"),
        kinds.Recorded("fact", 2, "k2"),
        kinds.Recorded("fact", 2, "k3"),
    ),
    kinds.TOLD: (
        kinds.ToldRow(b"\0a", 8, "password"),
        kinds.ToldRow(b"b", 20, "token"),
        kinds.ToldRow(b"b", 20, "api-key"),
    ),
    kinds.TOMBSTONE: (
        kinds.Tombstone(b"\0a", "uid", 1),
        kinds.Tombstone(b"\xff\0", "claim", 2),
        kinds.Tombstone(b"\xff\0", "name", 1),
    ),
    kinds.OWNER: (kinds.OwnerRow("ann", 3), kinds.OwnerRow("me", 0), kinds.OwnerRow("me", 9)),
    kinds.SECRET: (
        kinds.Secret("a", "00ff"),
        kinds.Secret("erase_key", "0f"),
        kinds.Secret("erase_key", ""),
    ),
}
# What rows of a kind refer to.
NEEDS: Mapping[kinds.Kind[Any], Sequence[kinds.Kind[Any]]] = {
    kinds.ALIAS: (kinds.ENTITY,),
    kinds.ENGAGEMENT: (kinds.ENTITY,),
    kinds.SEARCH_LOG: (kinds.ENTITY,),
    kinds.SEARCH_RESULT: (kinds.ENTITY, kinds.SEARCH_LOG),
    kinds.SEARCH_FIND: (kinds.ENTITY, kinds.SEARCH_LOG),
    kinds.SEARCH_TASK: (kinds.ENTITY, kinds.LEARN_PROMPT),
    kinds.NOTICE: (kinds.ENTITY,),
    kinds.NOTICE_FACT: (kinds.ENTITY, kinds.NOTICE),
    kinds.ERASED: (kinds.ERASURE,),
    kinds.TOMBSTONE: (kinds.ERASURE,),
}
