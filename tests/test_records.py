"""Every kind of small rows keeps the contract of its verbs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from factbook.apply.apply import apply
from factbook.errors import UsageError
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
from factbook.model.facts import EVERYONE, ME, Event, Injection, ModelTask, Proposal, Run, Trigger
from factbook.model.ops import RecordEpisode, RecordSource
from factbook.store.kinds import (
    ALIAS,
    CALL,
    COUNT,
    ENGAGEMENT,
    ENTITY,
    EVENT,
    INJECTION,
    KINDS,
    LEARN_PROMPT,
    LOOSE,
    MARK,
    MODEL_TASK,
    NOTICE,
    NOTICE_FACT,
    NOTIFY,
    PAIR,
    PREFERENCE,
    PROPOSAL,
    READER,
    REJECTION,
    RUN,
    SCHEDULE,
    SEARCH_FIND,
    SEARCH_LOG,
    SEARCH_RESULT,
    SEARCH_TASK,
    Alias,
    Below,
    Calls,
    DayCount,
    EntityRow,
    FindRow,
    Kind,
    Least,
    Loose,
    Mark,
    NoticeFact,
    NoticeRow,
    Pair,
    PromptRow,
    Reader,
    Refusal,
    ResultRow,
    SearchRow,
    Tally,
    Where,
)
from factbook.store.port import first
from factbook.store.sqlite import SQLiteStore
from factbook.store.sqlite.writer import SQLiteWriter
from factbook.testing import sample_episode, sample_fact, sample_source

NOW = 1_763_700_000_000


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
    MARK: (Mark("extract", 0), Mark("judge", 1 << 60), Mark("judge", -1)),
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
}


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SQLiteStore]:
    """Give a store with what rows may refer to: sources, episodes and facts of the ids 1 to 3."""
    store = SQLiteStore(tmp_path / "m.db")
    episodes = [sample_episode(n, text=f"tool {n}") for n in (1, 2, 3)]
    ops = [
        *(RecordSource(source=sample_source(key)) for key in (sample_source().key, "b", "c")),
        *(RecordEpisode(episode=one) for one in episodes),
        *(sample_fact(one, "used_tool", f"tool {n}") for n, one in enumerate(episodes, 1)),
    ]
    apply(store, ops, trigger=Trigger.SESSION_LOG, actor="test", now=NOW)
    connection = store._file.connection
    connection.execute("DROP TRIGGER event_is_never_deleted; DELETE FROM event_row")
    yield store
    store.close()


def writing(store: SQLiteStore) -> Any:
    return store.writing(trigger=Trigger.COMMAND, actor="test", now=NOW)


def every(kind: Kind[Any]) -> Where:
    return {"owner": EVERYONE} if "owner" in kind.fields else {}


def key(kind: Kind[Any], row: Any) -> dict[str, Any]:
    return {name: getattr(row, name) for name in kind.key}


def give_needs(writer: Any, kind: Kind[Any]) -> None:
    for needed in NEEDS.get(kind, ()):
        writer.add(needed, EXAMPLES[needed][:2])


def added(store: SQLiteStore, kind: Kind[Any]) -> tuple[Any, Any]:
    one, other, _ = EXAMPLES[kind]
    writer: SQLiteWriter
    with writing(store) as writer:
        give_needs(writer, kind)
        ids = writer.add(kind, [one, other])
    assert ids == ([one.id, other.id] if kind.has_ids else [0, 0])
    return one, other


def these(kinds: Iterable[Kind[Any]]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("kind", [pytest.param(one, id=one.name) for one in kinds])


kinds = these(KINDS)
changing = these(kind for kind in KINDS if not kind.append_only)


def test_every_kind_has_examples() -> None:
    assert {*EXAMPLES} == {*KINDS}


@kinds
def test_what_is_added_is_found(store: SQLiteStore, kind: Kind[Any]) -> None:
    one, other = added(store, kind)
    assert store.find(kind, every(kind)) == [one, other]
    assert store.find(kind, every(kind), newest_first=True) == [other, one]
    assert store.find(kind, every(kind), limit=1) == [one]
    assert [type(part) for part in store.find(kind, every(kind))[0]] == [type(x) for x in one]
    assert first(store, kind, key(kind, other)) == other
    assert store.find(kind, {**every(kind), kind.key[0]: []}) == []
    with writing(store) as writer:
        assert writer.find(kind, every(kind)) == [one, other]


@kinds
def test_every_field_may_be_asked_that_is_declared(store: SQLiteStore, kind: Kind[Any]) -> None:
    rows = added(store, kind)
    for name in (*kind.key, *kind.unique, *kind.asked):
        values = [getattr(row, name) for row in rows]
        for value in values:
            same = [row for row in rows if getattr(row, name) == value]
            assert store.find(kind, {**every(kind), name: value}) == same
        if None not in values:
            assert store.find(kind, {**every(kind), name: values}) == [*rows]
            best = [row for row in rows if getattr(row, name) == max(values)]
            assert store.find(kind, {**every(kind), name: Least(max(values))}) == best
            assert store.find(kind, {**every(kind), name: Below(min(values))}) == []
        assert store.find(kind, {**every(kind), name: EVERYONE}) == [*rows]


@kinds
def test_a_row_is_added_once(store: SQLiteStore, kind: Kind[Any]) -> None:
    one, other = added(store, kind)
    again = EXAMPLES[kind][2]
    with writing(store) as writer:
        assert writer.add(kind, [again]) == [None]
        if kind.has_ids and kind.unique:
            assert writer.add(kind, [again._replace(id=0)]) == [None]
    assert store.find(kind, every(kind)) == [one, other]


@these(kind for kind in KINDS if kind.has_ids)
def test_the_store_gives_ids(store: SQLiteStore, kind: Kind[Any]) -> None:
    one, other, _ = EXAMPLES[kind]
    with writing(store) as writer:
        give_needs(writer, kind)
        assert writer.add(kind, [one._replace(id=0), other._replace(id=0)]) == [1, 2]
    assert [row.id for row in store.find(kind, every(kind))] == [1, 2]


@changing
def test_what_is_put_stands_for_what_was_there(store: SQLiteStore, kind: Kind[Any]) -> None:
    one, other, changed = EXAMPLES[kind]
    with writing(store) as writer:
        give_needs(writer, kind)
    for _ in range(2):
        with writing(store) as writer:
            writer.put(kind, [one, other])
        assert store.find(kind, every(kind)) == [one, other]
    for _ in range(2):
        with writing(store) as writer:
            writer.put(kind, [changed])
        assert store.find(kind, every(kind)) == [one, changed]


@changing
def test_what_is_dropped_is_gone(store: SQLiteStore, kind: Kind[Any]) -> None:
    one, other = added(store, kind)
    with writing(store) as writer:
        assert [writer.drop(kind, key(kind, one)) for _ in range(2)] == [1, 0]
        assert writer.find(kind, every(kind)) == [other]
        assert writer.drop(kind, every(kind)) == 1
    assert store.find(kind, every(kind)) == []


@these(kind for kind in KINDS if kind.append_only)
def test_what_is_appended_is_never_changed(store: SQLiteStore, kind: Kind[Any]) -> None:
    rows = [*added(store, kind)]
    with writing(store) as writer, pytest.raises(UsageError):
        writer.put(kind, [EXAMPLES[kind][2]])
    with writing(store) as writer, pytest.raises(UsageError):
        writer.drop(kind, key(kind, rows[0]))
    assert store.find(kind, every(kind)) == rows


@kinds
def test_rows_are_counted_by_their_fields(store: SQLiteStore, kind: Kind[Any]) -> None:
    rows = added(store, kind)
    assert store.tally(kind, kind.key, every(kind)) == {
        tuple(key(kind, row).values()): Tally(1, getattr(row, kind.time, None)) for row in rows
    }
    assert store.tally(kind, kind.key, {**every(kind), kind.key[0]: ()}) == {}
    for name in kind.asked:
        groups: dict[object, list[Any]] = {}
        for row in rows:
            groups.setdefault(getattr(row, name), []).append(getattr(row, kind.time, None))
        assert store.tally(kind, [name], every(kind)) == {
            (value,): Tally(len(times), max(times) if kind.time else None)
            for value, times in groups.items()
        }


@kinds
def test_no_field_is_asked_that_is_not_declared(store: SQLiteStore, kind: Kind[Any]) -> None:
    unknown = {*kind.fields, "no such"} - {*kind.key, *kind.unique, *kind.asked}
    for name in sorted(unknown):
        where = {**every(kind), name: 1}
        with pytest.raises(UsageError):
            store.find(kind, where)
        with pytest.raises(UsageError):
            store.tally(kind, [name], every(kind))
        with writing(store) as writer, pytest.raises(UsageError):
            writer.drop(kind, where)


@these(kind for kind in KINDS if "owner" in kind.fields)
def test_rows_with_owners_are_asked_for_with_one(store: SQLiteStore, kind: Kind[Any]) -> None:
    without: Sequence[Where] = [{}, {"owner": ""}, {"owner": " "}]
    for where in without:
        with pytest.raises(UsageError):
            store.find(kind, where)
        with pytest.raises(UsageError):
            store.tally(kind, kind.key, where)
        with writing(store) as writer, pytest.raises(UsageError):
            writer.drop(kind, where)


def test_names_are_compared_as_they_are_kept(tmp_path: Path) -> None:
    def screen(record: Any) -> Any:
        if isinstance(record, str):
            return record.replace("hunter22", "[REDACTED]")
        return type(record)(map(screen, record)) if isinstance(record, (list, tuple)) else record

    store = SQLiteStore(tmp_path / "m.db", screen=screen)
    row = proposal(1, b"a", kind="about [REDACTED]")
    with writing(store) as writer:
        writer.add(PROPOSAL, [row])
    assert store.find(PROPOSAL, {"kind": "about hunter22"}) == [row]
    assert store.find(PROPOSAL, {"kind": ["about hunter22"]}) == [row]
    assert store.tally(PROPOSAL, ["kind"], {"kind": "about hunter22"}) == {
        ("about [REDACTED]",): Tally(1, NOW)
    }
    store.close()
