"""The record in MongoDB while servers are slow, and where a transaction of theirs fails."""

from __future__ import annotations

import contextlib
import time
import uuid
from collections.abc import Callable, Iterator
from typing import Any

import pytest

pytest.importorskip("pymongo")

from pymongo.errors import ConfigurationError

from factbook import policy
from factbook.errors import RecordChanged, RecordError, UsageError
from factbook.store.mongo import address
from factbook.store.mongo.record import Document, TypedRecord
from mongo_servers import (
    NO_MAJORITY,
    NO_TRANSACTION,
    NOT_PRIMARY,
    PASSING,
    Answer,
    Command,
    at,
    changed,
    documents_of,
    proxy,
)

AT = 1_763_700_000_000
TEXTS = ["a", "b", "c"]


@pytest.fixture
def database() -> str:
    return f"test_{uuid.uuid4().hex[:12]}"


@contextlib.contextmanager
def record(host: str, database: str, options: str = "") -> Iterator[TypedRecord]:
    url = f"mongodb://{host}/{database}?directConnection=true{options}"
    opened = TypedRecord(url, tenant="one", pause=lambda seconds: None)
    with contextlib.closing(opened):
        yield opened


def documents(mine: TypedRecord) -> dict[str, list[Document]]:
    memories = [
        {"_id": mine.id_of("USER:ann", text), "subject_id": "USER:ann", "text": text}
        for text in TEXTS
    ]
    event = {"_id": mine.id_of("USER:ann", "e"), "subject_id": "USER:ann", "op": "store"}
    return {"memories": memories, "events": [event]}


def kept(host: str, database: str) -> list[str]:
    """Return what a reader who comes next finds; it says that nothing is wrong."""
    with record(host, database) as mine:
        found = changed(mine)[1]
        assert len(found["events"]) == bool(found["memories"])
        assert mine.check() == []
    return sorted(document["text"] for document in found["memories"])


# --- how long it is waited for --------------------------------------------------------------------

QUICK = "&serverSelectionTimeoutMS=200&connectTimeoutMS=100&socketTimeoutMS=400"  # 1.2 s at most


def test_a_write_never_waits_as_long_as_others_wait_for_it() -> None:
    """Even where each part of its last attempt lasts as long as it may, and it is repeated."""
    times = address.parsed("mongodb://127.0.0.1/x").times
    reach = times["serverSelectionTimeoutMS"] + 2 * times["connectTimeoutMS"]
    counted = reach + 2 * times["socketTimeoutMS"]
    begun = policy.RECORD_WAIT_S * 1000 - counted
    assert begun > 5_000  # so long may a large commit take
    assert begun + 2 * (reach + times["socketTimeoutMS"]) < policy.BUSY_TIMEOUT_MS
    assert policy.RECORD_WAIT_S * 1000 <= 0.75 * policy.BUSY_TIMEOUT_MS
    assert times["wTimeoutMS"] < times["socketTimeoutMS"]


@pytest.mark.parametrize("set_name", ["", "rs"])
def test_a_commit_that_is_answered_slowly_ends_in_time_and_says_so(
    mongo_address: str, database: str, set_name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(policy, "RECORD_WAIT_S", 1.6)
    with (
        proxy(mongo_address, set_name=set_name) as between,
        record(between.address, database, QUICK) as mine,
    ):
        mine.commit(documents(mine), after=0, at=AT)
        between.patience, between.answer = 0.3, lambda command: "slow"
        began = time.monotonic()
        with (
            pytest.raises(RecordError, match=r"mongodb://.* took longer .* can be done again"),
            mine.holding(),
        ):
            mine.commit({"memories": documents(mine)["memories"]}, after=1, at=AT)
        assert time.monotonic() - began < 1.6
        between.answer = lambda command: None
        assert changed(mine)[0] in (1, 2)  # whoever comes next ends it, if it was begun
    monkeypatch.undo()
    assert kept(mongo_address, database) == TEXTS


def test_time_that_is_spent_here_is_not_waited_for(
    mongo_address: str, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(policy, "RECORD_WAIT_S", 1.5)
    with record(mongo_address, database, QUICK) as mine, mine.holding():
        mine.generation()
        time.sleep(1.6)
        assert mine.commit(documents(mine), after=0, at=AT) == 1


@pytest.mark.parametrize(
    ("option", "named"),
    [
        ("wtimeoutMS=0", "wTimeoutMS=0"),
        ("wtimeoutMS=60000", "wTimeoutMS=60000"),
        ("socketTimeoutMS=0", "socketTimeoutMS=0"),
        ("connectTimeoutMS=0", "connectTimeoutMS=0"),
        ("serverSelectionTimeoutMS=30000", "serverSelectionTimeoutMS=30000"),
        ("timeoutMS=5000", "timeoutMS"),
    ],
)
def test_a_url_that_waits_for_too_long_is_refused(option: str, named: str) -> None:
    with pytest.raises(UsageError, match=named):
        TypedRecord(f"mongodb://127.0.0.1/x?{option}", tenant="one")


def test_a_shorter_wait_for_a_majority_is_what_every_write_says(
    mongo_address: str, database: str
) -> None:
    with (
        proxy(mongo_address) as between,
        record(between.address, database, "&wtimeoutMS=1234") as mine,
    ):
        mine.commit(documents(mine), after=0, at=AT)
    writes = [command for command in between.seen if command.name in ("insert", "update")]
    assert {command.body["writeConcern"]["wtimeout"] for command in writes} == {1234}


def test_a_name_that_dns_does_not_know_is_called_that(monkeypatch: pytest.MonkeyPatch) -> None:
    def parse(url: str, **named: Any) -> None:
        raise ConfigurationError(f"The DNS query name does not exist: {url}")

    monkeypatch.setattr(address, "parse_uri", parse)
    with pytest.raises(UsageError, match="DNS has no servers") as refused:
        TypedRecord("mongodb+srv://ann:hunter2@nothing.invalid/x", tenant="one")
    assert "hunter2" not in str(refused.value)


# --- within a transaction -------------------------------------------------------------------------

INSERT, UPDATE, COMMIT = "insert typed_commits", "update typed_memories", "commitTransaction "
CONFLICT = PASSING | {"code": 112, "codeName": "WriteConflict", "errmsg": "conflict"}
STEPPED_DOWN = PASSING | NOT_PRIMARY
UNKNOWN = {
    "ok": 0.0,
    "code": 50,
    "codeName": "MaxTimeMSExpired",
    "errmsg": "exceeded time limit",
    "errorLabels": ["UnknownTransactionCommitResult"],
}
REFUSED = {"ok": 0.0, "code": 13, "codeName": "Unauthorized", "errmsg": "not allowed"}


@contextlib.contextmanager
def transacting(mongo_address: str, database: str, answer: Answer) -> Iterator[TypedRecord]:
    with (
        proxy(mongo_address, answer, set_name="rs") as between,
        record(between.address, database, "&socketTimeoutMS=1500") as mine,
    ):
        yield mine


def once_there(
    answer: Any, *, first: str = "lose answer", others: Any = None
) -> Callable[[Command], Any]:
    """Let the first end of a transaction reach the server without an answer; then say something."""
    ends = list[Command]()

    def said(command: Command) -> Any:
        if command.name != "commitTransaction":
            return others if ends else None
        ends.append(command)
        return first if len(ends) == 1 else answer if len(ends) == 2 else others

    return said


@pytest.mark.parametrize("step", [INSERT, UPDATE, COMMIT])
@pytest.mark.parametrize(
    "said", ["lose", STEPPED_DOWN, NO_TRANSACTION], ids=["lost", "primary", "aborted"]
)
def test_a_transaction_that_fails_once_is_done_again(
    mongo_address: str, database: str, step: str, said: Any
) -> None:
    with transacting(mongo_address, database, at(step, said)) as mine:
        assert mine.commit(documents(mine), after=0, at=AT) == 1
        assert mine.generation() == 1
    assert kept(mongo_address, database) == TEXTS


@pytest.mark.parametrize("said", [NO_TRANSACTION, UNKNOWN, "lose"], ids=["gone", "time", "lost"])
def test_a_commit_whose_answer_was_lost_is_found_by_its_document(
    mongo_address: str, database: str, said: Any
) -> None:
    """The server has it. What it says of it when it is asked again tells nobody."""
    with transacting(mongo_address, database, once_there(said)) as mine:
        assert mine.commit(documents(mine), after=0, at=AT) == 1
        assert mine.commit({"memories": documents(mine)["memories"]}, after=1, at=AT) == 2
    assert kept(mongo_address, database) == TEXTS


def test_a_commit_that_a_majority_did_not_acknowledge_in_time_is_looked_for(
    mongo_address: str, database: str
) -> None:
    with transacting(mongo_address, database, at(COMMIT, NO_MAJORITY)) as mine:
        assert mine.commit(documents(mine), after=0, at=AT) == 1
    assert kept(mongo_address, database) == TEXTS


@pytest.mark.parametrize("step", [INSERT, UPDATE, COMMIT])
@pytest.mark.parametrize(
    "said",
    ["lose", STEPPED_DOWN, NO_TRANSACTION, REFUSED],
    ids=["lost", "primary", "aborted", "refused"],
)
def test_a_transaction_that_always_fails_leaves_nothing(
    mongo_address: str, database: str, step: str, said: Any
) -> None:
    with (
        transacting(mongo_address, database, at(step, said, times=1_000)) as mine,
        pytest.raises(RecordError) as failed,
    ):
        mine.commit(documents(mine), after=0, at=AT)
    assert not isinstance(failed.value, RecordChanged)
    assert kept(mongo_address, database) == []
    with record(mongo_address, database) as mine:
        assert mine.commit(documents(mine), after=0, at=AT) == 1
    assert kept(mongo_address, database) == TEXTS


def test_a_commit_of_which_nothing_is_heard_is_not_acknowledged_and_is_there_once(
    mongo_address: str, database: str
) -> None:
    with (
        transacting(mongo_address, database, once_there("lose", others="lose")) as mine,
        pytest.raises(RecordError),
    ):
        mine.commit(documents(mine), after=0, at=AT)
    assert kept(mongo_address, database) == TEXTS
    with record(mongo_address, database) as mine, pytest.raises(RecordChanged):
        mine.commit(documents(mine), after=0, at=AT)  # who decides again sees it first


@pytest.mark.parametrize("step", [INSERT, UPDATE])
def test_who_meets_a_transaction_that_is_not_done_yet_decides_again(
    mongo_address: str, database: str, step: str
) -> None:
    with transacting(mongo_address, database, at(step, CONFLICT)) as mine:
        with pytest.raises(RecordChanged):
            mine.commit(documents(mine), after=0, at=AT)
        assert mine.commit(documents(mine), after=0, at=AT) == 1
    assert kept(mongo_address, database) == TEXTS


def test_a_slow_end_of_a_transaction_is_one_commit(mongo_address: str, database: str) -> None:
    with transacting(mongo_address, database, once_there(UNKNOWN, first="slow")) as mine:
        assert mine.commit(documents(mine), after=0, at=AT) == 1
    assert kept(mongo_address, database) == TEXTS


def test_what_a_single_server_left_half_way_is_ended_when_it_has_become_a_set(
    mongo_address: str, database: str
) -> None:
    with (
        proxy(mongo_address, at(UPDATE, "lose", times=1_000)) as between,
        record(between.address, database) as mine,
        pytest.raises(RecordError),
    ):
        mine.commit(documents(mine), after=0, at=AT)
    with transacting(mongo_address, database, lambda command: None) as mine:
        assert mine.generation() == 0
        with pytest.raises(RecordChanged):
            mine.commit(documents(mine), after=0, at=AT)
        assert mine.generation() == 1  # so that whoever decides again sees it
    assert kept(mongo_address, database) == TEXTS


# --- what is there already ------------------------------------------------------------------------


def test_an_index_that_somebody_else_has_named_is_taken_as_it_is(
    mongo_address: str, database: str
) -> None:
    called = {"ok": 0.0, "code": 85, "codeName": "IndexOptionsConflict", "errmsg": "other name"}
    with (
        proxy(
            mongo_address, lambda command: called if command.name == "createIndexes" else None
        ) as between,
        record(between.address, database) as mine,
    ):
        assert mine.commit(documents(mine), after=0, at=AT) == 1


def test_parts_of_a_commit_that_never_was_are_cleared_up(mongo_address: str, database: str) -> None:
    def heads(command: Command) -> Any:
        is_head = command.name == "insert" and command.batch[0].get("done") is False
        return "lose" if is_head else None

    large = {"_id": "", "subject_id": "USER:ann", "text": "x" * 3_000_000}
    with (
        proxy(mongo_address, heads) as between,
        record(between.address, database) as mine,
    ):
        ids = [mine.id_of("USER:ann", str(n)) for n in range(3)]
        many = {"memories": [large | {"_id": id_} for id_ in ids]}
        with pytest.raises(RecordError):
            mine.commit(many, after=0, at=AT)
        assert len(documents_of(mongo_address, database)["typed_commits"]) == 2
        between.answer = lambda command: None
        assert mine.commit(documents(mine), after=0, at=AT) == 1
        mine.repair()
    [head] = documents_of(mongo_address, database)["typed_commits"]
    assert head["done"]
    assert kept(mongo_address, database) == TEXTS
