"""Typed memories whose record is in MongoDB: one answer with the rest, nothing lost with a file."""

from __future__ import annotations

import contextlib
import json
import logging
import subprocess
import sys
import threading
import uuid
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pymongo")

from conftest import Cli
from factbook.errors import RecordError, UsageError
from factbook.llm.config import ModelConfig
from factbook.memory import Memory
from factbook.model.facts import FactKind
from factbook.model.memory_types import MemoryType
from factbook.store.kinds import PAIR
from factbook.store.mongo.record import TypedRecord
from factbook.store.rows import Filters
from factbook.surface.records import standing
from factbook.testing import DAY
from factbook.testing.model_server import ModelServer, Reply
from mongo_house import AGAIN, LIVES, LOVES, MAYBE, STEPS, SUMMARY, WRONG, House, keep, told
from mongo_servers import NOT_PRIMARY, Command, proxy, raw_client


def test_what_one_file_keeps_the_other_says(house: House) -> None:
    one, two = house.file("one"), house.file("two")
    for said in (LOVES, STEPS, MAYBE, WRONG):
        keep(one, said)
    keep(one, LIVES, owner="ann")
    assert told(two) == told(one)
    facts, refused, proposed = told(two)
    assert (len(facts), len(refused), len(proposed)) == (4, 1, 1)
    assert [one.statement for one in two.query_facts(kind=FactKind.TYPED, owner="ann")] == [
        "Lives in Kiel"
    ]
    two.maintenance.embed()
    assert two.recall("pasta").hits[0].text == "Loves fettuccini"
    [fact] = [one for one in two.query_facts(kind=FactKind.TYPED) if "fettuccini" in one.statement]
    [evidence] = two.explain(fact.id).evidence
    assert evidence.quote in SUMMARY
    assert two.typed.rejection_summary() == one.typed.rejection_summary()
    assert (one.check(), two.check()) == ([], [])


def test_what_is_changed_in_turns_is_the_same_everywhere(house: House) -> None:
    one, two = house.file("one"), house.file("two")
    keep(one, LOVES)
    keep(two, LIVES)
    [loves] = [fact for fact in two.query_facts(kind=FactKind.TYPED) if "fett" in fact.statement]
    house.clock.now += DAY
    two.review.pin(loves.id)
    keep(one, MAYBE)
    [asked] = two.review.proposals()
    two.review.decide(asked.id, accept=True)
    keep(two, LOVES, text=AGAIN)
    [lives] = [fact for fact in one.query_facts(kind=FactKind.TYPED) if "Kiel" in fact.statement]
    one.review.feedback(lives.id, right=False)
    assert told(one) == told(two)
    assert told(house.file("three")) == told(one)
    assert (one.check(), two.check()) == ([], [])


def test_a_lost_file_loses_nothing_of_the_record(house: House) -> None:
    one = house.file("one")
    for said in (LOVES, STEPS, MAYBE, WRONG):
        keep(one, said)
    before = told(one)
    house.close()
    (house.folder / "one.db").unlink()
    assert told(house.file("one")) == before


def test_what_was_kept_before_there_was_a_record_goes_into_it(house: House, tmp_path: Path) -> None:
    path, key = house.folder / "old.db", house.folder / "key"
    with Memory(path, clock=house.clock, key_file=key, model=None, typed_store="") as memory:
        for said in (LOVES, MAYBE, WRONG):
            keep(memory, said)
        before = told(memory)
    other = house.file("other")
    keep(other, LOVES, text=AGAIN)
    keep(other, STEPS)
    old = house.file("old")
    facts = told(old)[0]
    assert len(facts) == 3
    assert {fact[2] for fact in facts} == {LOVES[0], MAYBE[0], STEPS[0]}
    assert len(next(fact for fact in facts if fact[2] == LOVES[0])[10]) == 2  # evidence of both
    assert told(other) == told(old)
    assert told(old)[1:] == before[1:]
    assert old.check() == []


def test_owners_and_tenants_are_apart(house: House) -> None:
    one, other = house.file("one"), house.file("other", tenant="other")
    keep(one, LOVES)
    keep(other, LIVES)
    assert [fact[2] for fact in told(one)[0]] == ["Loves fettuccini"]
    assert [fact[2] for fact in told(other)[0]] == ["Lives in Kiel"]
    assert {document["tenant_id"] for document in house.documents()["typed_memories"]} == {
        "TENANT:house",
        "TENANT:other",
    }


def test_documents_carry_the_seeds_names(house: House) -> None:
    memory = house.file("one")
    keep(memory, LOVES, owner="246030816692404234")
    keep(memory, WRONG, owner="246030816692404234")
    [fact] = house.documents()["typed_memories"]
    assert (fact["subject_id"], fact["tenant_id"]) == ("USER:246030816692404234", "TENANT:house")
    assert (fact["type"], fact["text"], fact["schema_version"]) == ("USER_FACT", LOVES[0], 1)
    [refused] = house.documents()["typed_rejections"]
    assert refused["rejection_reason"] == "not_grounded_in_summary"
    assert refused["extracted_text"] == WRONG[0]
    assert {"timestamp", "confidence_score", "threshold", "validation_details"} <= refused.keys()
    assert {"exact_match", "key_phrases", "semantic_similarity", "reason"} <= refused[
        "validation_details"
    ].keys()


def test_erasing_takes_it_out_of_the_record_and_of_every_file(house: House) -> None:
    one, two = house.file("one"), house.file("two")
    keep(one, LOVES)
    keep(one, WRONG)
    keep(one, LIVES, owner="ann")
    assert len(told(two)[0]) == 2
    [loves] = one.query_facts(kind=FactKind.TYPED)
    one.erasure.erase_fact(loves.id, whole_episodes=True)
    one.erasure.erase_owner("ann")
    for store in (one, two, house.file("three")):
        assert not told(store)[0]
        assert store.check() == []
    said = json.dumps(house.documents(), default=str)
    assert "fettuccini" not in said
    assert "Kiel" not in said
    assert "ann" not in said.casefold().replace("planned", "")


def test_the_seeds_pipeline_runs_end_to_end_into_mongodb(
    house: House, caplog: pytest.LogCaptureFixture
) -> None:
    """Seed 002: extract, validate, type rules, gate, storage with a write concern, log lines."""
    offered = [
        {"text": text, "type": str(kind), "confidence": sure, "reasoning": "said", "quote": ""}
        for text, kind, sure in (LOVES, STEPS, MAYBE, WRONG)
    ]
    summary = house.folder / "summary.md"
    summary.write_text(SUMMARY, encoding="utf-8")
    with (
        ModelServer([Reply.json({"extractions": offered})]) as model,
        caplog.at_level(logging.INFO),
        proxy(house.address) as between,
        Memory(
            house.folder / "seed.db",
            clock=house.clock,
            key_file=house.folder / "key",
            model=ModelConfig(url=model.url, timeout_s=5.0),
            typed_store=house.url(between.address),
            tenant="house",
        ) as memory,
    ):
        memory.ingest([summary], kind="summary")
        report = memory.typed.extract_typed()
        assert (report.summaries, report.offered) == (1, 4)
        assert told(house.file("other")) == told(memory)
        assert memory.check() == []
    for mark in ("[EXTRACT]", "[VALIDATE]", "[GATE]", "[STORE]", "[RESULT]"):
        assert mark in caplog.text
    kept = house.documents()
    assert sorted(one["text"] for one in kept["typed_memories"]) == sorted(
        (LOVES[0], STEPS[0], MAYBE[0])
    )
    [refused] = kept["typed_rejections"]
    assert (refused["extracted_text"], refused["type"]) == (WRONG[0], "USER_FACT")
    writes = [one for one in between.seen if one.name in ("insert", "update")]
    assert writes
    assert all(one.body["writeConcern"]["w"] == "majority" for one in writes)


def test_a_secret_never_reaches_the_record(house: House) -> None:
    memory = house.file("one")
    text = 'User: "I love fettuccini, and my password is hunter2-Xk91."'
    keep(memory, ("Password is hunter2-Xk91", MemoryType.USER_FACT, 0.95), text=text)
    keep(memory, LOVES, text=text)
    assert "hunter2" not in json.dumps(house.documents(), default=str)


def test_what_another_file_erases_takes_what_stands_on_it_here(house: House) -> None:
    one, two = house.file("one"), house.file("two")
    keep(one, LOVES)
    two.remember("I absolutely love fettuccini")
    two.remember("I keep bees")
    two.embed()
    two.consolidate()  # what two was told speaks for the memory too, and so the record names it
    two.embed()
    assert two.recall("pasta").hits
    one.erasure.erase_owner("me")
    assert [fact.statement for fact in two.query_facts()] == ["I keep bees"]
    assert two.check() == []
    sighting = two.erasure.find_residues("fettuccini")
    assert (sighting.rows, sighting.in_file, sighting.pieces) == ([], False, 0)
    assert not [one.id for one in two.recall("pasta").hits if "fettuccini" in one.text]
    assert two.review.questions() == []
    assert "fettuccini" not in json.dumps(house.documents(), default=str)


@pytest.mark.parametrize("whole_episodes", [False, True])
def test_nothing_of_a_typed_memory_is_left_in_another_file(
    house: House, whole_episodes: bool
) -> None:
    one, two = house.file("one"), house.file("two")
    keep(one, LOVES)
    two.remember("I hate pasta such as fettuccini")
    two.embed()
    two.consolidate()
    [loves] = two.query_facts(kind=FactKind.TYPED)
    assert two.engine.vectors_of([f"f{loves.id}"])
    assert [question.texts[0] for question in two.review.questions()] == [LOVES[0]]
    [here] = one.query_facts(kind=FactKind.TYPED)
    one.erasure.erase_fact(here.id, whole_episodes=whole_episodes)
    assert two.query_facts(kind=FactKind.TYPED) == []
    assert two.review.questions() == []
    assert two.store.find(PAIR) == []
    assert two.store.evidence(fact_ids=[loves.id]) == []
    assert not two.engine.vectors_of([f"f{loves.id}"])
    for text in (LOVES[0], "absolutely love fettuccini"):
        sighting = two.erasure.find_residues(text)
        assert (sighting.rows, sighting.in_file, sighting.pieces) == ([], False, 0), text
    assert (one.check(), two.check()) == ([], [])


def test_erasing_says_what_the_server_may_still_hold(house: House) -> None:
    memory = house.file("one")
    keep(memory, LOVES)
    [loves] = memory.query_facts(kind=FactKind.TYPED)
    done = memory.erasure.erase_fact(loves.id)
    assert done.record.startswith("mongodb://127.0.0.1")
    assert standing(done)["record"] == done.record


def test_a_projection_is_made_anew(house: House, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    one = house.file("one")
    for said in (LOVES, STEPS, MAYBE, WRONG):
        keep(one, said)
    before = told(one)
    assert one.typed.rebuild_record() == 3
    assert told(one) == before
    state = one.typed.record_state()
    assert state is not None
    assert (state.memories, state.problems) == (3, [])
    house.close()
    env = {"FACTBOOK_TYPED_STORE": house.url(), "FACTBOOK_TENANT": "house"}
    done = cli("doctor", "--rebuild-typed", "--db", house.folder / "one.db", env=env)
    assert "3 memories, made anew from commit" in " ".join(done.out.split()), done.out
    assert told(house.file("one")) == before


def test_an_answer_that_is_kept_is_dropped_when_another_process_writes(house: House) -> None:
    """The passive stream and contexts follow the record, whoever writes to it."""
    one, two = house.file("one"), house.file("two")
    keep(one, LIVES)
    talk = two.conversation(session="s")
    assert "Kiel" in two.context("Where do I live?").text
    talk.sync_turn("Where do I live, and what do I love to eat?")
    subprocess.run(
        [
            sys.executable,
            "-c",
            f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r})\n"
            "from pathlib import Path\n"
            "from mongo_house import House, keep, LOVES\n"
            "from factbook.memory import Memory\n"
            f"with Memory({str(house.folder / 'other.db')!r}, model=None, tenant='house',\n"
            f"    key_file={str(house.folder / 'key')!r}, typed_store={house.url()!r}) as memory:\n"
            "    keep(memory, LOVES)\n",
        ],
        check=True,
        timeout=60,
    )
    assert LOVES[0] in two.context("What do I love to eat?").text
    [loves] = [one for one in two.query_facts(kind=FactKind.TYPED) if "fett" in one.statement]
    two.review.feedback(loves.id, right=False)
    assert LOVES[0] not in one.context("What do I love to eat?").text


# --- what must not be -----------------------------------------------------------------------------


def test_what_was_erased_does_not_come_back_from_another_file(house: House) -> None:
    one, two = house.file("one"), house.file("two")
    keep(one, LOVES)
    assert len(told(two)[0]) == 1
    [loves] = one.query_facts(kind=FactKind.TYPED)
    one.erasure.erase_fact(loves.id, whole_episodes=True)
    assert not told(two)[0]
    house.clock.now += DAY
    with contextlib.suppress(UsageError):  # it is kept out there, too
        keep(two, LOVES)
    keep(house.file("three"), LOVES)  # who never held it says it: here it stays erased
    assert not told(one)[0]
    assert not told(two)[0]
    assert [memory.check() for memory in (one, two)] == [[], []]


def test_a_file_belongs_to_one_record_and_one_tenant(house: House) -> None:
    keep(house.file("one"), LOVES)
    house.close()
    with pytest.raises(UsageError, match="another record, or of another tenant"):
        house.file("one", tenant="other")
    assert [fact[2] for fact in told(house.file("one"))[0]] == [LOVES[0]]


def test_a_record_that_was_made_anew_or_put_back_is_named(house: House) -> None:
    one = house.file("one")
    keep(one, LOVES)
    client = raw_client(house.url())
    with client:
        client[house.database]["typed_generations"].update_many(
            {"generation": 1}, {"$set": {"generation": 0}}
        )
        with pytest.raises(RecordError, match="older state"):
            one.query_facts()
    house.database = f"test_{uuid.uuid4().hex[:12]}"
    with pytest.raises(UsageError, match="another record"):
        house.file("one")


def test_what_was_kept_without_the_record_is_put_into_it(house: House) -> None:
    keep(house.file("one"), LOVES)
    house.close()
    path, key = house.folder / "one.db", house.folder / "key"
    with Memory(path, clock=house.clock, key_file=key, model=None, typed_store="") as memory:
        keep(memory, LIVES)
    one = house.file("one")
    assert one.typed.rebuild_record() == 2
    assert told(house.file("two")) == told(one)


def test_a_document_that_is_not_what_it_should_be_is_put_aside(house: House) -> None:
    one = house.file("one")
    for said in (LOVES, LIVES, STEPS):
        keep(one, said)
    spoilt = [
        {"status": "boss"},
        {"confidence": 7.5},
        {"type": "ROOT"},
        {"text": "Loves what somebody wrote into the database"},
        {"evidence": "none"},
    ]
    client = raw_client(house.url())
    with client:
        memories = client[house.database]["typed_memories"]
        whole = memories.find_one({"text": LOVES[0]})
        assert whole is not None
        for change in spoilt:
            memories.update_one({"_id": whole["_id"]}, {"$set": {**whole, **change}})
            reader = house.file(f"reader{len(str(change))}")
            assert {fact[2] for fact in told(reader)[0]} == {LIVES[0], STEPS[0]}, change
            state = reader.typed.record_state()
            assert state is not None
            assert "is not believed" in state.problems[0].detail


def test_a_document_changes_no_other_text_and_no_other_owner(house: House) -> None:
    one, two = house.file("one"), house.file("two")
    keep(one, LOVES, owner="ann")
    [summary] = house.documents()["typed_summaries"]
    two.remember("I like tea")
    [note] = list(two.store.facts(Filters(), limit=None))
    [evidence] = two.explain(note.id).evidence
    uid = next(iter(two.store.heads([evidence.episode_id]).values())).uid
    client = raw_client(house.url())
    with client:
        there = client[house.database]["typed_summaries"]
        there.update_one({"_id": summary["_id"]}, {"$set": {"uid": uid, "subject_id": "USER:me"}})
    told(two)
    assert two.explain(note.id).fact.statement == note.statement
    assert two.store.texts("episode", [evidence.episode_id])[evidence.episode_id] == "I like tea"


def test_reads_of_the_command_line_and_exports_are_as_new_as_the_record(
    house: House, cli: Cli
) -> None:
    keep(house.file("one"), LOVES)
    house.file("two").close()
    env = {"FACTBOOK_TYPED_STORE": house.url(), "FACTBOOK_TENANT": "house"}
    keep(house.file("one"), LIVES)
    listed = cli("export", "--db", house.folder / "two.db", env=env).out
    assert LOVES[0] in listed
    assert LIVES[0] in listed
    keep(house.file("one"), STEPS)
    exported = [row for row in house.file("two").export() if row["record"] == "fact"]
    assert STEPS[0] in {row["statement"] for row in exported}
    two = house.file("two")
    keep(house.file("one"), LIVES, owner="ann")
    assert two.sql("SELECT count(*) AS n FROM facts") == [{"n": 4}]


def test_no_message_holds_a_password_or_a_memory(house: House) -> None:
    for url in ("mongodb://ann:hun7/ter@h/x", "mongodb://ann:hunter2@h/x?tlsCAFile=/nowhere"):
        with pytest.raises(UsageError) as refused:
            TypedRecord(url, tenant="one")
        assert "hun" not in str(refused.value)
    refusal = {
        "n": 0,
        "nModified": 0,
        "ok": 1.0,
        "writeErrors": [{"index": 0, "code": 121, "errmsg": "no"}],
    }
    with proxy(
        house.address,
        lambda one: refusal if (one.name, one.collection) == ("update", "typed_memories") else None,
    ) as between:
        with pytest.raises(RecordError) as failed:
            keep(house.file("one", address=between.address), LOVES)
        assert "fettuccini" not in str(failed.value)


def test_what_another_process_writes_of_an_owner_moves_that_owners_number(house: House) -> None:
    one, two = house.file("one"), house.file("two")
    keep(two, LOVES)
    before = two.store.head("ann").memory
    keep(one, LIVES, owner="ann")
    two.remember("I like tea")
    assert two.store.head("ann").memory > before


# --- when the record is away ----------------------------------------------------------------------


def test_where_the_record_is_away_every_answer_says_so(house: House) -> None:
    keep(house.file("one"), LOVES)
    with proxy(house.address) as between:
        memory = house.file("two", address=between.address)
        assert len(told(memory)[0]) == 1
        between.answer = lambda command: "lose"
        for ask in (
            lambda: memory.recall("pasta"),
            lambda: memory.remember("I like tea"),
        ):
            with pytest.raises(RecordError):
                ask()
        between.answer = lambda command: None
        assert len(told(memory)[0]) == 1


STEPS_OF_A_WRITE = (
    "insert typed_commits",
    "update typed_summaries",
    "update typed_memories",
    "update memory_events",
    "update typed_generations",
    "update typed_commits",
)


@pytest.mark.parametrize(
    "step",
    [
        STEPS_OF_A_WRITE[0],
        *(pytest.param(step, marks=pytest.mark.slow) for step in STEPS_OF_A_WRITE[1:]),
    ],
)
@pytest.mark.parametrize("said", ["lose", "lose answer", NOT_PRIMARY], ids=["lost", "after", "no"])
def test_a_write_that_fails_is_done_again_and_is_there_once(
    house: House, step: str, said: Any
) -> None:
    broken = [True]

    def answer(command: Command) -> Any:
        return said if broken[0] and f"{command.name} {command.collection}" == step else None

    with proxy(house.address, answer) as between:
        memory = house.file("one", address=between.address)
        with pytest.raises(RecordError):
            keep(memory, LOVES)
        broken[0] = False
        keep(memory, LOVES)
        facts, _, _ = told(memory)
        assert len(facts) == 1
        assert told(house.file("two")) == told(memory)
        assert memory.check() == []
    assert len(house.documents()["typed_memories"]) == 1


def test_a_kill_between_the_record_and_the_file_loses_nothing(house: House) -> None:
    """The record has it, the file has not: the next look takes it in."""
    keep(house.file("other"), STEPS)
    program = f"""
import os, sys
sys.path.insert(0, {str(Path(__file__).parent)!r})
from pathlib import Path
from factbook.store.kinds import PAIR
from factbook.store.mongo.record import TypedRecord
whole = TypedRecord.commit
def commit(self, *args, **named):
    whole(self, *args, **named)
    os._exit(9)
TypedRecord.commit = commit
from mongo_house import House, keep, LOVES
from factbook.memory import Memory
memory = Memory({str(house.folder / "one.db")!r}, key_file={str(house.folder / "key")!r},
    model=None, typed_store={house.url()!r}, tenant="house")
keep(memory, LOVES)
"""
    killed = subprocess.run([sys.executable, "-c", program], timeout=60)
    assert killed.returncode == 9
    memory = house.file("one")
    assert {fact[2] for fact in told(memory)[0]} == {LOVES[0], STEPS[0]}
    assert told(house.file("two")) == told(memory)
    assert memory.check() == []
    keep(memory, LOVES)
    assert len(told(memory)[0]) == 2


def test_who_was_overtaken_decides_again(house: House) -> None:
    files = [house.file(name) for name in "abc"]
    failed: list[Exception] = []

    def work(memory: Memory, place: int) -> None:
        try:
            for n in range(6):
                # The same in all of them: whoever comes second adds evidence to it.
                keep(memory, LOVES, text=f'User: "I absolutely love fettuccini, no. {n}."')
                keep(memory, LOVES, owner=f"ann{n}", text=f'User: "I love fettuccini {place}."')
        except Exception as error:  # noqa: BLE001 - whatever it is, the test's own thread says it
            failed.append(error)
        finally:
            memory.store.close_thread()

    threads = [
        threading.Thread(target=work, args=(memory, place)) for place, memory in enumerate(files)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert failed == []
    assert told(files[0]) == told(files[1]) == told(files[2])
    facts = told(files[0])[0]
    assert len(facts) == 7
    assert sorted(fact[6] for fact in facts) == [3] * 6 + [6]
    assert all(memory.check() == [] for memory in files)


def test_a_url_of_another_kind_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="mongodb://"):
        Memory(tmp_path / "a.db", typed_store="postgres://x")
