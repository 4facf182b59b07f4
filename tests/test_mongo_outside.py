"""What others do to a record of typed memories and to its files, beside factbook."""

from __future__ import annotations

import asyncio
import contextlib
import copy
import random
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pymongo")

import bson

from conftest import Cli
from factbook.errors import RecordError, UsageError
from factbook.memory import Memory
from factbook.memory.aio import AsyncMemory
from factbook.model.facts import FactKind
from factbook.store.sqlite import SQLiteStore
from mongo_house import LIVES, LOVES, MAYBE, WRONG, House, keep, told
from mongo_servers import raw_client

TYPED = (
    "typed_memories",
    "typed_summaries",
    "typed_rejections",
    "typed_proposals",
    "memory_events",
)
ODD: tuple[Any, ...] = (
    *(None, 5, -1, 1.5, 2**62, True, "", "x", "0" * 32, [], ["a"], {}),
    *({"ledger": "x"}, {"$gt": 1}, bson.ObjectId("0" * 24), datetime(2020, 1, 1, tzinfo=UTC)),
)


def _places(part: Any, before: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    for key, value in part.items() if isinstance(part, Mapping) else enumerate(part):
        yield (*before, key)
        if isinstance(value, (dict, list)):
            yield from _places(value, (*before, key))


@pytest.mark.parametrize("times", [25, pytest.param(100, marks=pytest.mark.slow)])
@pytest.mark.parametrize("collection", TYPED)
def test_whatever_stands_in_a_document_the_others_are_taken_in(
    house: House, collection: str, times: int
) -> None:
    one, chance = house.file("one"), random.Random(collection)
    for said in (LOVES, LIVES, MAYBE, WRONG):
        keep(one, said)
    [waiting] = one.review.proposals()
    one.review.decide(waiting.id, accept=False, reason="no")
    whole = house.documents()[collection][0]
    places = [place for place in _places(whole) if place[0] != "_id"]
    with raw_client(house.url()) as client:
        there = client[house.database][collection]
        for n in range(times):
            spoilt, place, odd = copy.deepcopy(whole), chance.choice(places), chance.choice(ODD)
            if place == ("schema_version",) and isinstance(odd, int):
                continue  # that is a later one, which is refused
            part: Any = spoilt
            for key in place[:-1]:
                part = part[key]
            part[place[-1]] = odd
            there.replace_one({"_id": whole["_id"]}, spoilt)
            with house.file(f"reader{n}") as reader:
                told(reader)


@pytest.mark.parametrize("collection", TYPED)
@pytest.mark.parametrize(
    "added",
    [
        {"_id": {"a": 1}},
        {"_id": {"a": 1}, "erased": True},
        {"_id": bson.ObjectId("0" * 24), "erased": True},
        {"_id": "x", "schema_version": "two"},
        {"_id": "x"},
    ],
    ids=str,
)
def test_a_document_of_somebody_else_is_put_aside(
    house: House, collection: str, added: dict[str, Any]
) -> None:
    one = house.file("one")
    keep(one, LOVES)
    with raw_client(house.url()) as client:
        client[house.database][collection].insert_one(
            {"tenant_id": "TENANT:house", "subject_id": "USER:me", "commit": 1, **added}
        )
    two = house.file("two")
    assert len(told(two)[0]) == 1
    assert two.typed.rebuild_record() == 1 + (
        collection == "typed_memories" and "erased" not in added
    )
    keep(two, LIVES)
    assert told(one) == told(two)


@pytest.mark.parametrize(
    ("collection", "place"),
    [
        ("typed_memories", "evidence.0.method"),
        ("typed_summaries", "source.title"),
        ("typed_summaries", "source.uri"),
        ("typed_rejections", "extracted_text"),
        ("typed_rejections", "detail"),
        ("typed_rejections", "validation_details.said"),
        ("typed_proposals", "title"),
        ("memory_events", "events.0.detail.why"),
    ],
)
def test_a_secret_in_a_document_is_not_taken_in(house: House, collection: str, place: str) -> None:
    secret = "ghp_aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5"
    one = house.file("one")
    for said in (LOVES, MAYBE, WRONG):
        keep(one, said)
    with raw_client(house.url()) as client:
        there = client[house.database][collection]
        for document in list(there.find()):
            part: Any = document
            *above, last = place.split(".")
            for key in above:
                part = part[int(key) if key.isdigit() else key]
            part[last] = f"it is {secret} he said"
            there.replace_one({"_id": document["_id"]}, document)
    two = house.file("two")
    told(two)
    assert not two.erasure.find_residues(secret).in_file
    assert two.check() == []


def test_evidence_is_found_in_a_document_that_is_redacted_when_it_is_taken_in(house: House) -> None:
    secret = "ghp_aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5"
    text = f'User: "The key is {"x" * len(secret)}. I absolutely love fettuccini."'
    one = house.file("one")
    keep(one, LOVES, text=text)
    with raw_client(house.url()) as client:  # by one who knew no such key for a secret
        there = client[house.database]["typed_summaries"]
        there.update_one({}, {"$set": {"text": text.replace("x" * len(secret), secret)}})
    two = house.file("two")
    [fact] = two.query_facts(kind=FactKind.TYPED)
    assert [shown.quote for shown in two.explain(fact.id).evidence] == [
        shown.quote for shown in one.explain(fact.id).evidence
    ]
    assert two.check() == []


@pytest.mark.parametrize(
    ("collection", "added"),
    [
        ("typed_commits", {"_id": "x", "commit": 7}),
        ("typed_commits", {"_id": "x", "commit": 1.5}),
    ],
    ids=str,
)
def test_a_journal_that_somebody_else_wrote_in_is_named(
    house: House, collection: str, added: dict[str, Any]
) -> None:
    keep(house.file("one"), LOVES)
    with raw_client(house.url()) as client:
        client[house.database][collection].insert_one({"tenant_id": "TENANT:house", **added})
    with pytest.raises(RecordError, match="something else"):
        house.file("two")


@pytest.mark.parametrize("number", ["x", None])
def test_a_generation_that_is_no_number_is_named(house: House, number: object) -> None:
    one = house.file("one")
    keep(one, LOVES)
    with raw_client(house.url()) as client:
        client[house.database]["typed_generations"].update_many(
            {"generation": 1}, {"$set": {"generation": number}}
        )
    with pytest.raises(RecordError, match="something else"):
        told(one)


@pytest.mark.parametrize("is_older", [False, True])
def test_a_file_that_was_replaced_says_what_the_record_does(house: House, is_older: bool) -> None:
    one, two = house.file("one"), house.file("two")
    keep(one, LOVES)
    told(two)
    older = house.folder / "older.db"
    if is_older:
        with house.file("three") as three:
            told(three)
        (house.folder / "three.db").rename(older)
    keep(one, LIVES)
    told(two)
    for path in house.folder.glob("two.db*"):
        path.unlink()
    if is_older:
        older.rename(house.folder / "two.db")
    two.reopen()
    assert told(two) == told(one)
    keep(two, MAYBE)
    assert told(one) == told(two)


def test_what_a_file_could_not_take_in_it_takes_in_the_next_time(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two = house.file("one"), house.file("two")
    keep(one, LOVES)
    told(two)
    keep(one, LIVES)
    write = SQLiteStore.writing

    @contextlib.contextmanager
    def full(self: SQLiteStore, **named: Any) -> Iterator[Any]:
        with write(self, **named) as writer:
            yield writer
            raise OSError("the disk is full")

    with monkeypatch.context() as patch:
        patch.setattr(SQLiteStore, "writing", full)
        with pytest.raises(OSError, match="full"):
            told(two)
    assert told(two) == told(one)


def test_the_asynchronous_memory_says_what_others_keep(house: House) -> None:
    one = house.file("one")
    keep(one, LOVES)

    async def asked() -> None:
        async with AsyncMemory(
            house.folder / "other.db",
            clock=house.clock,
            key_file=house.folder / "key",
            model=None,
            typed_store=house.url(),
            tenant="house",
        ) as memory:
            assert LOVES[0] in (await memory.context("What do I love to eat?")).text
            await asyncio.to_thread(keep, one, LIVES)
            said = await asyncio.gather(
                *(memory.context("Where do I live?") for _ in range(5)),
                *(memory.remember(f"I like tea number {n}") for n in range(5)),
            )
            assert all("Kiel" in answer.text for answer in said[:5])

    asyncio.run(asked())


def test_sql_is_as_new_as_the_record(house: House) -> None:
    one, two = house.file("one"), house.file("two")
    for n, said in enumerate((LOVES, LIVES), 1):
        keep(one, said)
        assert two.sql("SELECT count(*) AS n FROM facts") == [{"n": n}]


def test_what_is_exported_goes_into_a_file_without_a_record_and_back(
    house: House, tmp_path: Path
) -> None:
    one = house.file("one")
    for said in (LOVES, LIVES, MAYBE, WRONG):
        keep(one, said)
    key = house.folder / "key"
    with Memory(tmp_path / "own.db", clock=house.clock, key_file=key, typed_store="") as memory:
        memory.import_(list(one.export()))
        assert told(memory) == told(one)
        rows = list(memory.export())
    house.file("new", tenant="new").import_(rows)
    assert told(house.file("newer", tenant="new")) == told(one)


# --- erasing --------------------------------------------------------------------------------------


def test_an_owner_is_erased_with_what_no_row_here_stands_for(house: House) -> None:
    one = house.file("one")
    for owner in ("ann", "bob"):
        for said in (LOVES, MAYBE, WRONG):
            keep(one, said, owner=owner)
    with raw_client(house.url()) as client:
        there = client[house.database]["typed_memories"]
        there.update_many({"subject_id": "USER:ann"}, {"$set": {"confidence": 7.5}})
        two = house.file("two")
        keep(two, LIVES, owner="ann")
        two.erasure.erase_owner("ann")
        documents = [doc for some in house.documents().values() for doc in some]
        assert [doc for doc in documents if "ann" in str(doc)] == []
        assert there.count_documents({"subject_id": "USER:bob"}) == 2
    assert {fact[0] for fact in told(house.file("three"))[0]} == {"bob"}


def test_a_file_with_a_record_erases_nothing_without_it(house: House) -> None:
    keep(house.file("one"), LOVES)
    house.close()
    path, key = house.folder / "one.db", house.folder / "key"
    with Memory(path, clock=house.clock, key_file=key, model=None, typed_store="") as memory:
        [loves] = memory.query_facts(kind=FactKind.TYPED)
        assert memory.erasure.erase_fact(loves.id, dry_run=True).receipt.erased
        with pytest.raises(UsageError, match="FACTBOOK_TYPED_STORE"):
            memory.erasure.erase_fact(loves.id)
    one = house.file("one")
    one.erasure.erase_fact(loves.id, whole_episodes=True)
    assert "fettuccini" not in str(house.documents())


# --- what the doctor says -------------------------------------------------------------------------


def test_a_file_that_is_lost_is_made_anew_by_the_doctor(house: House, cli: Cli) -> None:
    one = house.file("one")
    keep(one, LOVES)
    env = {"FACTBOOK_TYPED_STORE": house.url(), "FACTBOOK_TENANT": "house"}
    lost = house.folder / "lost.db"
    assert "--rebuild-typed makes one" in " ".join(cli("doctor", "--db", lost, env=env).out.split())
    assert not lost.exists()
    cli("doctor", "--rebuild-typed", "--db", lost, env=env)
    assert told(house.file("lost")) == told(one)


def test_the_doctor_names_a_file_whose_record_nobody_names(house: House, cli: Cli) -> None:
    keep(house.file("one"), LOVES)
    house.close()
    said = " ".join(cli("doctor", "--db", house.folder / "one.db").out.split())
    assert "record is not named in FACTBOOK_TYPED_STORE" in said
