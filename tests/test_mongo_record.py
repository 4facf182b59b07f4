"""The record of typed memories in MongoDB: whole commits, once each, whatever becomes of a wire."""

from __future__ import annotations

import contextlib
import threading
import uuid
from collections.abc import Callable, Iterator
from typing import Any

import pytest

pytest.importorskip("pymongo")

import bson

from factbook.errors import RecordChanged, RecordError, StoreError, UsageError
from factbook.store.mongo.record import KINDS, Document, TypedRecord
from mongo_servers import (
    NO_MAJORITY,
    NOT_PRIMARY,
    Proxy,
    at,
    changed,
    documents_of,
    drop_index,
    proxy,
)

AT = 1_763_700_000_000


@pytest.fixture
def database() -> str:
    return f"test_{uuid.uuid4().hex[:12]}"


_opened: list[TypedRecord] = []


@pytest.fixture(autouse=True)
def closing() -> Iterator[None]:
    yield
    while _opened:
        _opened.pop().close()


def record(address: str, database: str, tenant: str = "one", options: str = "") -> TypedRecord:
    url = f"mongodb://{address}/{database}?directConnection=true{options}"
    _opened.append(TypedRecord(url, tenant=tenant, pause=lambda seconds: None))
    return _opened[-1]


def memory(one: TypedRecord, subject: str, text: str, **more: Any) -> Document:
    return {"_id": one.id_of(subject, text), "subject_id": subject, "text": text, **more}


def texts(one: TypedRecord, after: int = 0) -> list[str]:
    return sorted(document["text"] for document in changed(one, after)[1]["memories"])


def test_a_commit_is_there_whole_and_moves_what_it_touches(
    mongo_address: str, database: str
) -> None:
    one = record(mongo_address, database)
    assert changed(one) == (0, {kind: [] for kind in KINDS})
    ann = memory(one, "USER:ann", "likes tea")
    event = {"_id": one.id_of("USER:ann", "e1"), "subject_id": "USER:ann", "op": "store"}
    assert one.commit({"memories": [ann], "events": [event]}, after=0, at=AT) == 1
    assert one.commit({"memories": [memory(one, "USER:bo", "runs")]}, after=1, at=AT) == 2
    assert one.commit({"memories": [ann | {"text": "likes coffee"}]}, after=2, at=AT) == 3
    assert texts(one) == ["likes coffee", "runs"]
    assert texts(one, after=1) == ["likes coffee", "runs"]
    assert texts(one, after=2) == ["likes coffee"]
    assert [one.generation(whose) for whose in (None, "USER:ann", "USER:bo", "USER:cy")] == [
        3,
        3,
        2,
        0,
    ]
    assert one.check() == []
    journal = documents_of(mongo_address, database)["typed_commits"]
    assert [head["commit"] for head in journal] == [1, 2, 3]
    assert all(head["done"] and "redo" not in head for head in journal)  # no text stays behind


def test_who_decided_on_what_is_no_longer_true_is_told(mongo_address: str, database: str) -> None:
    one, two = record(mongo_address, database), record(mongo_address, database)
    one.commit({"memories": [memory(one, "USER:ann", "first")]}, after=0, at=AT)
    with pytest.raises(RecordChanged):
        two.commit({"memories": [memory(two, "USER:ann", "second")]}, after=0, at=AT)
    assert texts(two) == ["first"]


def test_a_large_commit_is_one_commit(mongo_address: str, database: str) -> None:
    one = record(mongo_address, database)
    large = [memory(one, "USER:ann", str(n) + "x" * 1_000_000) for n in range(9)]
    one.commit({"memories": large}, after=0, at=AT)
    assert len(texts(one)) == 9
    assert [head["commit"] for head in documents_of(mongo_address, database)["typed_commits"]] == [
        1
    ]


@pytest.mark.parametrize(
    "option", ["w=1", "journal=false", "readConcernLevel=local", "readPreference=secondary"]
)
def test_a_weaker_promise_is_refused(option: str) -> None:
    with pytest.raises(UsageError, match=option.split("=")[0].lower()):
        TypedRecord(f"mongodb://127.0.0.1/x?{option}", tenant="one")


def test_what_is_no_url_is_refused_without_its_password() -> None:
    with pytest.raises(UsageError):
        TypedRecord("mongodb://", tenant="one")
    url = "mongodb://ann:hunter2@127.0.0.1:9/x?serverSelectionTimeoutMS=50"
    with contextlib.closing(TypedRecord(url, tenant="one")) as named:
        assert named.name == "mongodb://127.0.0.1:9/x"
        with pytest.raises(RecordError) as refused:
            named.generation()
    assert "hunter2" not in str(refused.value)


# --- whose it is ----------------------------------------------------------------------------------


def test_every_command_names_the_tenant_and_every_write_its_concern(
    mongo_address: str, database: str
) -> None:
    with proxy(mongo_address) as between:
        one = record(between.address, database)
        one.commit({"memories": [memory(one, "USER:ann", "a")]}, after=0, at=AT)
        one.generation("USER:ann")
        changed(one)
        one.count("memories")
    asked = [
        command for command in between.seen if command.collection.startswith(("typed_", "memory_"))
    ]
    assert {command.name for command in asked} >= {"insert", "update", "find"}
    for command in asked:
        if command.name in ("insert", "update", "delete"):
            concern = command.body["writeConcern"]
            assert (concern["w"], concern["j"], concern["wtimeout"]) == ("majority", True, 3_000)
            for write in command.batch:
                scoped = write.get("q", write)
                assert scoped["tenant_id"] == "one", command
        elif command.name in ("find", "aggregate"):
            assert command.body["readConcern"]["level"] == "majority"
            scoped = command.body.get("filter") or command.body["pipeline"][0]["$match"]
            assert scoped["tenant_id"] == "one", command


def test_tenants_share_nothing(mongo_address: str, database: str) -> None:
    """64 tenants of one database are 2,016 pairs; their names are made to be mistaken."""
    parts = ["a", "A", "1:a", "a:1", "", " a", "a/", "é"]
    tenants = [one + other for one in parts for other in parts]
    tenants = [name or "none" for name in tenants]
    tenants = [f"{name}{n}" if tenants.count(name) > 1 else name for n, name in enumerate(tenants)]
    assert len({*tenants}) == 64
    records = {name: record(mongo_address, database, name) for name in tenants}
    for name, mine in records.items():  # each says the same of the same person, and its own name
        same = memory(mine, "USER:ann", "likes tea", tenant=name)
        mine.commit({"memories": [same], "rejections": [same]}, after=0, at=AT)
        with pytest.raises(RecordChanged):
            mine.commit({"memories": [same]}, after=0, at=AT)
    for name, mine in records.items():
        upto, found = changed(mine)
        assert (upto, mine.generation(), mine.generation("USER:ann")) == (1, 1, 1)
        kept = [*found["memories"], *found["rejections"]]
        assert [one["tenant"] for one in kept] == [name] * 2
        assert (mine.count("memories"), mine.count("memories", "USER:ann")) == (1, 1)
    first = records[tenants[0]]
    first.commit({"memories": [memory(first, "USER:ann", "likes tea", gone=True)]}, after=1, at=AT)
    assert [one.generation() for one in records.values()] == [2] + [1] * 63
    assert not any("gone" in str(changed(one)) for one in list(records.values())[1:])


# --- what becomes of a wire -----------------------------------------------------------------------

WRITES = ("insert typed_commits", "update typed_memories", "update memory_events")
STEPS = (*WRITES, "update typed_generations", "update typed_commits")


def _write(between: Proxy, database: str) -> tuple[TypedRecord, Callable[[], int]]:
    one = record(between.address, database, options="&socketTimeoutMS=1500")
    documents = {
        "memories": [memory(one, "USER:ann", text) for text in ("a", "b", "c")],
        "events": [{"_id": one.id_of("USER:ann", "e"), "subject_id": "USER:ann", "op": "store"}],
    }
    return one, lambda: one.commit(documents, after=0, at=AT)


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize(
    "said",
    ["lose", "lose answer", NOT_PRIMARY, NO_MAJORITY],
    ids=["lost", "answer", "primary", "w"],
)
def test_a_step_that_fails_once_is_taken_again(
    mongo_address: str, database: str, step: str, said: Any
) -> None:
    with proxy(mongo_address, at(step, said)) as between:
        _, write = _write(between, database)
        assert write() == 1
    there = record(mongo_address, database)
    assert texts(there) == ["a", "b", "c"]
    assert len(changed(there)[1]["events"]) == 1
    assert there.check() == []


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("said", ["lose", "lose answer", NOT_PRIMARY], ids=["lost", "after", "no"])
def test_a_step_that_always_fails_leaves_nothing_or_all(
    mongo_address: str, database: str, step: str, said: Any
) -> None:
    with proxy(mongo_address, at(step, said, times=1_000)) as between:
        _, write = _write(between, database)
        with pytest.raises(RecordError):
            write()
    there = record(mongo_address, database)
    found = texts(there)  # whoever comes next ends what was left half way
    begun = step != "insert typed_commits" or said == "lose answer"
    assert found == (["a", "b", "c"] if begun else [])
    # The one that was not told tries again: nothing is there twice.
    documents = {"memories": [memory(there, "USER:ann", text) for text in ("a", "b", "c")]}
    assert there.commit(documents, after=int(begun), at=AT) == 1 + begun
    assert texts(there) == ["a", "b", "c"]
    assert there.check() == []


def test_a_majority_that_never_answers_is_no_acknowledgement(
    mongo_address: str, database: str
) -> None:
    with proxy(mongo_address, at("update typed_memories", NO_MAJORITY, times=100)) as between:
        _, write = _write(between, database)
        with pytest.raises(RecordError, match="majority"):
            write()


def test_a_slow_answer_ends_in_an_error_or_in_the_commit(mongo_address: str, database: str) -> None:
    with proxy(mongo_address, at("insert typed_commits", "slow")) as between:
        _, write = _write(between, database)
        assert write() == 1
    assert texts(record(mongo_address, database)) == ["a", "b", "c"]


def test_an_answer_that_is_an_error_is_named(mongo_address: str, database: str) -> None:
    refused = {"ok": 0.0, "code": 13, "codeName": "Unauthorized", "errmsg": "not allowed"}
    with proxy(mongo_address, lambda command: refused) as between:
        one, write = _write(between, database)
        with pytest.raises(RecordError, match="not allowed"):
            write()
        with pytest.raises(RecordError, match="not allowed"):
            one.generation()


def test_a_replica_set_commits_in_one_transaction(mongo_address: str, database: str) -> None:
    with proxy(mongo_address, set_name="rs") as between:
        one, write = _write(between, database)
        assert write() == 1
        assert one.commit({"memories": [memory(one, "USER:bo", "d")]}, after=1, at=AT) == 2
        with pytest.raises(RecordChanged):
            one.commit({"memories": [memory(one, "USER:bo", "e")]}, after=1, at=AT)
    ended = [command for command in between.seen if command.name == "commitTransaction"]
    assert [command.body["writeConcern"]["w"] for command in ended] == ["majority"] * 2
    assert texts(record(mongo_address, database)) == ["a", "b", "c", "d"]


def test_writers_at_once_lose_nothing(mongo_address: str, database: str) -> None:
    written: list[str] = []

    def work(name: str) -> None:
        mine = record(mongo_address, database)
        for n in range(8):
            while True:
                after = changed(mine)[0]
                try:
                    mine.commit(
                        {"memories": [memory(mine, "USER:ann", f"{name}{n}")]}, after=after, at=AT
                    )
                except RecordChanged:
                    continue
                written.append(f"{name}{n}")
                break

    threads = [threading.Thread(target=work, args=(name,)) for name in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    one = record(mongo_address, database)
    assert texts(one) == sorted(written)
    assert len(written) == 32
    assert one.generation() == 32
    assert one.check() == []


def test_a_document_that_is_too_large_is_named_before_anything_is_written(
    mongo_address: str, database: str
) -> None:
    with proxy(mongo_address) as between:
        one = record(between.address, database)
        large = [memory(one, "USER:ann", "x" * size) for size in (100, 15_000_001)]
        with pytest.raises(
            StoreError, match=r"typed_memories would have 15 MB.*nothing was written"
        ):
            one.commit({"memories": large}, after=0, at=AT)
        assert between.seen == []
        one.commit({"memories": [memory(one, "USER:ann", "x" * 14_000_000)]}, after=0, at=AT)
    assert len(texts(one)) == 1


def test_what_is_missing_or_half_done_is_named_and_mended(
    mongo_address: str, database: str
) -> None:
    one = record(mongo_address, database)
    one.commit({"memories": [memory(one, "USER:ann", "a")]}, after=0, at=AT)
    with proxy(mongo_address, at("update typed_memories", "lose", times=1_000)) as between:
        other, more = record(between.address, database), [memory(one, "USER:ann", "b")]
        with pytest.raises(RecordError):
            other.commit({"memories": more}, after=1, at=AT)
    drop_index(mongo_address, database, "typed_memories", "tenant_id", "subject_id")
    [index, commit] = [problem.detail for problem in one.check()]
    assert "typed_memories" in index
    assert "lacks its index tenant_subject" in index
    assert "commit 2" in commit
    assert "left half way" in commit
    assert all("`factbook doctor --rebuild-typed`" in detail for detail in (index, commit))
    one.repair()
    assert one.check() == []
    assert texts(one) == ["a", "b"]


def test_what_bson_keeps_of_a_text_is_all_of_it() -> None:
    """What a real server holds is these bytes; the one that runs here loses what is after a NUL."""
    text = "a\0b\u2028\U0001f600"
    assert bson.decode(bson.encode({"text": text}))["text"] == text
