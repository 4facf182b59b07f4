"""What the verbs of a memory do with a record in MongoDB that fails, or that others write to."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("pymongo")

from conftest import Cli
from factbook import policy
from factbook.errors import RecordError
from factbook.llm.config import ModelConfig
from factbook.memory import Memory
from factbook.model.facts import Event, FactKind, Trigger
from factbook.store.kinds import EVENT
from factbook.testing.model_server import ModelServer, Reply
from mongo_house import LIVES, LOVES, MAYBE, STEPS, SUMMARY, WRONG, House, keep, told
from mongo_servers import NO_MAJORITY, NOT_PRIMARY, Command, at, drop_index, proxy


def in_between(house: House, place: int, do: Callable[[], None]) -> Callable[[Command], Any]:
    """Do something when the generation is asked for the n-th time, before it is answered."""
    asked = [0]

    def answer(command: Command) -> Any:
        if (command.name, command.collection) == ("find", "typed_generations"):
            asked[0] += 1
            if asked[0] == place:
                do()
        return None

    return answer


def test_many_long_events_of_one_commit_are_several_documents(house: House) -> None:
    one, two = house.file("one"), house.file("two")
    keep(one, LOVES)
    [fact] = one.query_facts(kind=FactKind.TYPED)
    said = [{"note": f"{n} " + "x" * 10_000} for n in range(1_500)]
    with one.store.writing(now=house.clock()) as writer:
        writer.add(
            EVENT,
            [
                Event(0, house.clock(), "test", Trigger.COMMAND, "note", "fact", fact.id, detail)
                for detail in said
            ],
        )
    [fact] = two.query_facts(kind=FactKind.TYPED)
    history = [event.detail for event in two.explain(fact.id).history if event.op == "note"]
    assert history == said
    assert {len(document["events"]) for document in house.documents()["memory_events"]} > {1}
    assert told(one) == told(two)


def test_what_erasing_would_do_is_told_while_others_write(house: House) -> None:
    other = house.file("other")
    keep(other, LOVES)
    with proxy(house.address) as between:
        mine = house.file("mine", address=between.address)
        [fact] = mine.query_facts(kind=FactKind.TYPED)
        before = len(between.seen)
        plan = mine.erasure.erase_fact(fact.id, dry_run=True).receipt.erased
        asked = [command.collection for command in between.seen[before:]]
        # The last time that it asks, nobody else can write to its file.
        last = asked.count("typed_generations")
        between.answer = in_between(house, last, lambda: keep(other, STEPS))
        assert mine.erasure.erase_fact(fact.id, dry_run=True).receipt.erased == plan
    assert len(told(mine)[0]) == len(told(other)[0]) == 2


# --- what was queued ------------------------------------------------------------------------------

OFFERED = Reply.json(
    {
        "extractions": [
            {"text": text, "type": str(kind), "confidence": sure, "reasoning": "said", "quote": ""}
            for text, kind, sure in (LOVES, STEPS, MAYBE, WRONG)
        ]
    }
)


@pytest.mark.parametrize(
    ("step", "said"),
    [
        ("insert typed_commits", "lose"),
        ("insert typed_commits", NOT_PRIMARY),
        ("update typed_memories", "lose answer"),
        ("update typed_memories", NO_MAJORITY),
    ],
    ids=["lost", "no", "after", "w"],
)
def test_a_summary_stays_queued_until_the_record_has_what_was_found_in_it(
    house: House, step: str, said: Any
) -> None:
    summary = house.folder / "summary.md"
    summary.write_text(SUMMARY, encoding="utf-8")
    with (
        ModelServer([OFFERED, OFFERED]) as model,
        proxy(house.address) as between,
        Memory(
            house.folder / "mine.db",
            clock=house.clock,
            key_file=house.folder / "key",
            model=ModelConfig(url=model.url, timeout_s=5.0),
            typed_store=house.url(between.address),
            tenant="house",
        ) as memory,
    ):
        memory.ingest([summary], kind="summary")
        between.answer = at(step, said, times=1_000)
        with pytest.raises(RecordError, match="can be done again"):
            memory.typed.extract_typed()
        between.answer = lambda command: None
        report = memory.typed.extract_typed()
        assert (report.summaries, report.offered, report.failed) == (1, 4, [])
        facts, refused, proposed = told(memory)
        assert (len(facts), len(refused), len(proposed)) == (3, 1, 1)
        assert [fact[6] for fact in facts] == [1, 1, 1]  # each stands on that summary, once
        assert memory.typed.extract_typed().summaries == 0
        assert told(house.file("other")) == told(memory)
        assert memory.check() == []
    documents = house.documents()
    assert len(documents["typed_memories"]) == 3
    assert len(documents["typed_rejections"]) == len(documents["typed_proposals"]) == 1


# --- what the doctor says and does ----------------------------------------------------------------


def test_the_doctor_names_what_is_wrong_and_mends_it(house: House, cli: Cli) -> None:
    with proxy(house.address) as between:
        one = house.file("one", address=between.address)
        keep(one, LOVES)
        between.answer = at("update typed_memories", "lose", times=1_000)
        with pytest.raises(RecordError):
            keep(one, LIVES)
    house.close()
    drop_index(house.address, house.database, "typed_memories", "tenant_id", "commit")
    env = {"FACTBOOK_TYPED_STORE": house.url(), "FACTBOOK_TENANT": "house"}
    named = cli("doctor", "--db", house.folder / "one.db", env=env, code=1)
    said = " ".join(named.out.split())
    assert "typed_memories in mongodb://" in said
    rebuild = f"`factbook --db {house.folder / 'one.db'} doctor --rebuild-typed`"
    assert f"lacks its index tenant_commit; {rebuild} builds it" in said
    assert "was left half way; the next write ends it" in said
    mended = cli("doctor", "--rebuild-typed", "--db", house.folder / "one.db", env=env)
    assert "2 memories, made anew from commit" in " ".join(mended.out.split())
    assert {fact[2] for fact in told(house.file("one"))[0]} == {LOVES[0], LIVES[0]}


# --- how long a file is held ----------------------------------------------------------------------


def test_others_write_to_a_file_whose_write_waits_for_a_slow_record(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All times are a tenth of what they are: 2.2 s for the record, 3 s for the file."""
    monkeypatch.setattr(policy, "RECORD_WAIT_S", policy.RECORD_WAIT_S / 10)
    monkeypatch.setenv("FACTBOOK_BUSY_TIMEOUT_MS", str(policy.BUSY_TIMEOUT_MS // 10))
    times = "&connectTimeoutMS=150&wtimeoutMS=300"
    began, failed = threading.Event(), list[str]()

    def slow(command: Command) -> Any:
        if command.name == "insert":
            began.set()
        return "slow" if began.is_set() else None

    with proxy(house.address) as between:
        between.patience = 0.3
        address = house.url(between.address).replace("TimeoutMS=1500", "TimeoutMS=350")
        path, key = house.folder / "one.db", house.folder / "key"
        opened = Memory(
            path, clock=house.clock, key_file=key, model=None, typed_store=address + times
        )
        with opened as slowed, Memory(path, key_file=key, model=None, typed_store="") as beside:
            keep(slowed, STEPS)
            between.answer = slow

            def write() -> None:
                try:
                    keep(slowed, LOVES)
                except RecordError as error:
                    failed.append(str(error))
                finally:
                    slowed.store.close_thread()

            thread = threading.Thread(target=write)
            thread.start()
            assert began.wait(10)
            asked = time.monotonic()
            beside.remember("I like tea")
            assert time.monotonic() - asked < 2.5
            thread.join(30)
            between.answer = lambda command: None
            assert len(failed) == 1
            assert "took longer than the 2.2 seconds" in failed[0]
            keep(slowed, LOVES)
            assert {fact[2] for fact in told(slowed)[0]} == {LOVES[0], STEPS[0]}
