"""Taking in the record of typed memories: some at a time, while others write."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import pytest

pytest.importorskip("pymongo")

from factbook.apply.typed_documents import claim_of
from factbook.errors import RecordError
from factbook.memory import Memory
from factbook.model.facts import FactKind
from factbook.store.mongo import record as reading
from factbook.store.mongo import split
from factbook.store.mongo.record import Document, TypedRecord
from factbook.testing import DAY
from mongo_house import AGAIN, LIVES, LOVES, MAYBE, STEPS, WRONG, House, keep, told
from mongo_servers import Command, changed, proxy, raw_client


@pytest.fixture
def by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every commit be a page of its own."""
    monkeypatch.setattr(reading, "_PAGE", 1)


def backwards(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let everything come after what names it, as where all was changed while it was read."""
    forwards = TypedRecord.changed

    def changed_(record: TypedRecord, after: int) -> Iterator[tuple[int, str, list[Document]]]:
        pages = [*forwards(record, after)]
        upto = max((commit for commit, _, _ in pages), default=after)
        for _, kind, documents in reversed(pages):
            for document in reversed(documents):
                yield upto, kind, [document]

    monkeypatch.setattr(TypedRecord, "changed", changed_)


def write(house: House) -> None:
    """Write everything that a record holds: all kinds of it, kept, changed and given up."""
    one = house.file("one")
    for said in (LOVES, STEPS, MAYBE, WRONG):
        keep(one, said)
    keep(one, LIVES, owner="ann")
    keep(one, LOVES, text=AGAIN)
    house.clock.now += DAY
    [asked] = one.review.proposals()
    one.review.decide(asked.id, accept=True)
    [loves] = [fact for fact in one.query_facts(kind=FactKind.TYPED) if "fett" in fact.statement]
    one.review.feedback(loves.id, right=False)


@pytest.mark.usefixtures("by_one")
def test_a_record_that_is_read_a_commit_at_a_time_is_the_same(house: House) -> None:
    write(house)
    assert told(house.file("two")) == told(house.file("one"))


def test_what_names_something_that_comes_later_waits_for_it(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(house)
    backwards(monkeypatch)
    two = house.file("two")
    assert told(two) == told(house.file("one"))
    assert two.check() == []


def test_a_claim_that_was_given_up_and_made_again_is_there_once(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two = house.file("one"), house.file("two")
    keep(one, LOVES)
    assert told(two) == told(one)
    [loves] = one.query_facts(kind=FactKind.TYPED)
    one.review.correct(loves.id, "I love linguine")
    keep(one, LOVES, text=AGAIN)
    memories = house.documents()["typed_memories"]
    assert sorted((memory["round"], memory["status"]) for memory in memories) == [
        (0, "superseded"),
        (1, "active"),
    ]
    backwards(monkeypatch)
    assert told(two) == told(one)
    assert told(house.file("three")) == told(one)


def test_of_two_memories_with_one_claim_the_second_is_put_aside(house: House) -> None:
    one = house.file("one")
    keep(one, LOVES)
    keep(one, LIVES)
    mine = TypedRecord(house.url(), tenant="TENANT:house")
    with raw_client(house.url()) as client:
        memories = client[house.database]["typed_memories"]
        [loves] = memories.find({"text": LOVES[0]})
        key = mine.id_of("USER:me", "memory", claim_of(loves).hex(), "1")
        memories.insert_one({**loves, "_id": key, "round": 1})
    mine.close()
    two = house.file("two")
    assert told(two) == told(one)
    state = two.typed.record_state()
    assert state is not None
    assert [problem.detail for problem in state.problems] == [
        f"typed_memories {key} is not believed: another memory holds its claim"
    ]


@pytest.mark.usefixtures("by_one")
def test_what_is_changed_while_it_is_read_comes_again_as_it_is_then(house: House) -> None:
    mine, other = (TypedRecord(house.url(), tenant="one") for _ in range(2))
    same, late = (
        {"_id": mine.id_of("USER:ann", text), "subject_id": "USER:ann", "text": text}
        for text in ("same", "late")
    )
    for after, documents in enumerate(([same], [late], [same | {"text": "third"}])):
        other.commit({"memories": documents}, after=after, at=0)
    read = []
    for upto, _, documents in mine.changed(0):
        read += [(upto, document["commit"], document["text"]) for document in documents]
        if len(read) == 0 and mine.generation() == 3:  # the summaries come first: there are none
            other.commit({"memories": [late | {"text": "changed"}]}, after=3, at=0)
    assert read == [(3, 3, "third"), (4, 4, "changed")]
    for record in (mine, other):
        record.close()


@pytest.mark.usefixtures("by_one")
def test_a_reading_that_breaks_goes_on_where_it_was(house: House) -> None:
    write(house)
    with proxy(house.address) as between:
        url = house.url(between.address)
        mine = TypedRecord(url, tenant="TENANT:house", pause=lambda seconds: None)
        whole = changed(mine)
        broken = set()

        def answer(command: Command) -> str | None:
            if command.name == "getMore" and command.body["collection"] not in broken:
                broken.add(command.body["collection"])
                return "lose"
            return None

        between.answer = answer
        assert changed(mine) == whole
        mine.close()
    assert len(broken) > 2


def test_an_answer_asks_once_whether_others_wrote_and_a_write_asks_once_more(house: House) -> None:
    write(house)
    with proxy(house.address) as between:
        one = house.file("two", address=between.address)
        one.context("Does anybody love fettuccini?")

        def asked(ask: Callable[[], object]) -> list[str]:
            between.seen.clear()
            ask()
            return [f"{command.name} {command.collection}" for command in between.seen]

        once = ["find typed_generations"]
        assert asked(one.typed.envelope) == once
        assert asked(lambda: one.recall("fettuccini")) == once
        assert asked(lambda: one.query_facts(kind=FactKind.TYPED)) == once
        # What a context showed is kept, which is a write.
        assert asked(lambda: one.context("Does anybody love fettuccini?")) == once * 2
        assert asked(lambda: one.review.disputed()) == once
        with contextlib.ExitStack() as stack:
            opened = one.store.writing(now=house.clock())
            assert asked(lambda: stack.enter_context(opened)) == once
        keep(house.file("one"), LIVES)
        answers = [one.typed.envelope(), one.recall("Kiel").hits]
    assert "Kiel" in str(answers[0])
    assert "Kiel" in str(answers[1])


def test_what_was_kept_before_goes_into_the_record_though_that_broke_off(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Others have written there already, and the reading of their documents moved the file on."""
    keep(house.file("two"), LIVES)
    with Memory(
        house.folder / "one.db",
        clock=house.clock,
        key_file=house.folder / "key",
        model=None,
        typed_store="",
    ) as alone:
        for said in (LOVES, STEPS, MAYBE, WRONG):
            keep(alone, said)
    monkeypatch.setattr(split, "_ADOPTED", 1)
    commit, left = TypedRecord.commit, [2]

    def breaking(record: TypedRecord, *args: Any, **named: Any) -> int:
        left[0] -= 1
        if left[0] < 0:
            raise RecordError(name="the record", reason="it is away")
        return commit(record, *args, **named)

    monkeypatch.setattr(TypedRecord, "commit", breaking)
    with pytest.raises(RecordError):
        house.file("one")
    left[0] = 100
    one = house.file("one")
    assert told(house.file("three")) == told(one)
    assert [len(part) for part in told(one)] == [4, 1, 1]
    left[0] = 0
    assert told(house.file("one"))[0]  # all of it is there: nothing is left to be written
