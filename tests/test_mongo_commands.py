"""Every command that the verbs of a memory send to MongoDB: whose it is, and what it promises."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pytest

pytest.importorskip("pymongo")

from pymongo import monitoring

from factbook.llm.config import ModelConfig
from factbook.memory import Memory
from factbook.memory.doctor import examine
from factbook.model.facts import FactKind
from factbook.testing import DAY
from factbook.testing.model_server import ModelServer, Reply
from mongo_house import AGAIN, LIVES, LOVES, MAYBE, STEPS, SUMMARY, WRONG, House, keep, told
from mongo_servers import proxy

TENANT = "TENANT:house"
WRITES = {"insert": "documents", "update": "updates", "delete": "deletes"}
READS = ("find", "aggregate", "count", "distinct")
OF_NOBODY = ("getMore", "killCursors", "endSessions", "listIndexes", "abortTransaction", "hello")


class Listener(monitoring.CommandListener):
    """Remembers every command while somebody listens."""

    def __init__(self) -> None:
        self.heard: list[tuple[str, dict[str, Any]]] | None = None

    def started(self, event: monitoring.CommandStartedEvent) -> None:
        if self.heard is not None:
            self.heard.append((event.command_name, {**event.command}))

    def succeeded(self, event: monitoring.CommandSucceededEvent) -> None:
        """Nothing is asked of answers."""

    def failed(self, event: monitoring.CommandFailedEvent) -> None:
        """Nothing is asked of answers."""


LISTENER = Listener()
monitoring.register(LISTENER)  # of every client of this process that is made from here on


@contextlib.contextmanager
def listening() -> Iterator[list[tuple[str, dict[str, Any]]]]:
    LISTENER.heard = heard = []
    try:
        yield heard
    finally:
        LISTENER.heard = None


def promises(concern: Mapping[str, Any]) -> bool:
    """Tell whether a write concern is what is promised."""
    return (concern["w"], concern["j"], concern["wtimeout"]) == ("majority", True, 3_000)


def whose(name: str, command: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    """Return what says whose it is in a command: filters, and documents as they are written."""
    if name in WRITES:
        writes = command[WRITES[name]]
        replaced = [
            write["u"]
            for write in writes
            if "u" in write and not next(iter(write["u"])).startswith("$")
        ]
        return [*(write.get("q", write) for write in writes), *replaced]
    if name == "aggregate":
        return [command["pipeline"][0]["$match"]]
    return [command.get("filter") or command["query"]]


def check(heard: Sequence[tuple[str, dict[str, Any]]]) -> None:
    """Hold every command to what is promised."""
    begun, ended = set[str](), set[str]()
    for name, command in heard:
        transaction = f"{command['lsid']}{command['txnNumber']}" if "autocommit" in command else ""
        if name == "createIndexes":
            assert promises(command["writeConcern"]), command
        elif name == "commitTransaction":
            assert promises(command["writeConcern"]), command
            ended.add(transaction)
        elif name in WRITES or name in READS:
            for scope in whose(name, command):
                assert scope["tenant_id"] == TENANT, command
            if transaction:
                assert "writeConcern" not in command
                if command.get("startTransaction"):
                    assert command["readConcern"]["level"] == "snapshot"
                begun.add(transaction)
            elif name in WRITES:
                assert promises(command["writeConcern"]), command
            else:
                assert command["readConcern"]["level"] == "majority", command
                assert command.get("$readPreference", {}).get("mode", "primary") != "secondary"
        else:
            assert name in OF_NOBODY, name
    assert begun == ended


def use(house: House, address: str, env: pytest.MonkeyPatch) -> None:
    """Run through every verb that reads or writes typed memories."""
    one = house.file("one", address=address)
    two = house.file("two", address=address)
    keep(one, LOVES)
    keep(one, LIVES, owner="ann")
    keep(two, STEPS)
    keep(one, WRONG)
    keep(two, MAYBE)
    [asked] = one.review.proposals()
    one.review.decide(asked.id, accept=True)
    keep(two, ("Asks for it step by step", *MAYBE[1:]))
    for waiting in two.review.proposals():
        two.review.decide(waiting.id, accept=False, reason="no")
    keep(two, LOVES, text=AGAIN)
    house.clock.now += DAY
    facts = one.query_facts(kind=FactKind.TYPED)
    one.review.pin(facts[0].id)
    one.review.feedback(facts[0].id, right=True)
    one.forget(facts[1].id)
    one.review.correct(facts[2].id, "I love spaghetti")
    one.tell("BTC is my #1 favorite crypto", planner="rules")
    one.remember("I like tea")
    one.explain(facts[0].id)
    one.typed.rejection_summary()
    one.sources.rejections()
    one.stats()
    one.sql("SELECT count(*) FROM facts")
    one.maintenance.embed()
    one.consolidate()
    for run in one.maintenance.runs():
        one.maintenance.undo(run.id)
    one.recall("pasta")
    one.search_memory("pasta")
    one.context("What do I love?")
    one.typed.envelope()
    talk = one.conversation(session="s")
    talk.sync_turn("What do I love to eat?", "Pasta.")
    talk.take_prefetched()
    exported = list(two.export())
    three = house.file("three", address=address)
    three.import_(exported, dry_run=True)
    three.import_(exported)
    told(three)
    [lives] = three.query_facts(kind=FactKind.TYPED, owner="ann")
    three.erasure.erase_fact(lives.id, owner="ann", dry_run=True)
    three.erasure.erase_fact(lives.id, owner="ann", whole_episodes=True)
    refused = next(row for row in one.sources.rejections() if row.type)
    one.erasure.erase_rejection(refused.id)
    one.erasure.find_residues("fettuccini")
    one.erasure.erase_owner("me")
    for act in one.erasure.erasures():
        one.erasure.allow_again(act.id)
    keep(two, LIVES, text='User: "I live in Kiel with a cat."')
    one.typed.rebuild_record()
    one.typed.record_state()
    assert told(one) == told(two) == told(three)
    assert [memory.check() for memory in (one, two, three)] == [[], [], []]
    house.close()
    env.setenv("FACTBOOK_TYPED_STORE", house.url(address))
    env.setenv("FACTBOOK_TENANT", "house")
    env.setenv("FACTBOOK_KEY_FILE", str(house.folder / "key"))
    for rebuild in (False, True):
        found = list(examine(house.folder / "one.db", rebuild=rebuild))
        assert [result.text for result in found if result.level == "fail"] == []


def extract(house: House, address: str) -> None:
    """Let a model find memories in a summary."""
    offered = [
        {"text": text, "type": str(kind), "confidence": sure, "reasoning": "said", "quote": ""}
        for text, kind, sure in (LOVES, STEPS, MAYBE, WRONG)
    ]
    summary = house.folder / "summary.md"
    summary.write_text(SUMMARY, encoding="utf-8")
    with (
        ModelServer([Reply.json({"extractions": offered})]) as model,
        Memory(
            house.folder / "four.db",
            clock=house.clock,
            key_file=house.folder / "key",
            model=ModelConfig(url=model.url, timeout_s=5.0),
            typed_store=house.url(address),
            tenant="house",
        ) as memory,
    ):
        memory.ingest([summary], kind="summary")
        assert memory.typed.extract_typed().offered == 4


@pytest.mark.parametrize("set_name", ["", "rs"], ids=["single", "set"])
def test_every_command_of_every_verb_is_a_tenants_and_promises_enough(
    house: House, set_name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with proxy(house.address, set_name=set_name) as between, listening() as heard:
        extract(house, between.address)
        use(house, between.address, monkeypatch)
    check(heard)
    names = {name for name, _ in heard}
    assert names >= {"insert", "update", "find", "createIndexes"}
    assert ("commitTransaction" in names) == bool(set_name)
    collections = {command[name] for name, command in heard if name in (*WRITES, *READS)}
    assert collections == {
        *("typed_memories", "typed_summaries", "typed_rejections", "typed_proposals"),
        *("memory_events", "typed_commits", "typed_generations"),
    }
