"""What a memory is asked is answered alike by a file and by the store in memory."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from factbook import Memory
from factbook.model.facts import EVERYONE, Event
from factbook.testing import FrozenClock
from test_import import plain, records_of

# A command has an id of its own, nobody knows how long a night takes, and a conversation embeds
# beside what else is written; what was erased is known by digests with a key of each store.
BY_CHANCE = {("episode", "uid"), ("run", "report"), ("event", "id")} | {
    ("secret", "value"),
    ("tombstone", "mark"),
}
ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture
def in_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Register the store in memory, as its package does; give a URL of it."""
    about = tmp_path / "site" / "twin-1.0.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: twin\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(
        "[factbook.stores]\nmemory = factbook.testing.memory_store:open_memory\n"
    )
    monkeypatch.syspath_prepend(str(about.parent))
    yield f"memory://{tmp_path.name}"
    sys.path_importer_cache.pop(str(about.parent), None)


def the_loop(memory: Memory, clock: FrozenClock) -> Iterator[tuple[str, Any]]:
    """Do what the README does, and give every answer with what was asked."""
    yield "ingest", memory.ingest([ROOT / "examples"]).receipt
    with memory.conversation(owner="mara", session="kitchen") as talk:
        for said in ("I work at Lindewerk.", "I'm allergic to hazelnuts.", "What can I bake?"):
            # What comes by itself comes when it is ready: not at the same moment in both.
            yield f"context of {said}", talk.context(said, memories=()).text
            talk.sync_turn(said, "Noted.")
        yield "remember", talk.remember("I bake on Sundays.")
    told = memory.tell("BTC is my #1 favorite crypto", planner="rules")
    yield "tell", (told.receipt, told.result)
    yield "tell again", memory.tell("ETH is my #1 favorite crypto", planner="rules").receipt
    old = memory.remember("I live in Oslo")
    yield "correct", memory.correct(old.id, "I live in Bergen")
    yield "like", memory.interests.like("Brimley Swift")
    memory.embed()  # what the conversation has left
    yield "embed", memory.maintenance.waiting()
    yield "facts", memory.query_facts(owner=EVERYONE)
    yield "hosts", memory.query_facts(predicate="connects_to_host", min_confidence=0.8)
    yield "recall", memory.recall("show me every archive I unpacked").hits
    yield "search", memory.search_memory("what am I allergic to?", "facts", owner="mara")
    yield "context", memory.context("where do I live?").text
    yield "ask", memory.ask("What is my #1 favorite crypto?", planner="rules").answer
    for fact in memory.query_facts(owner=EVERYONE)[-6:]:
        why = memory.explain(fact.id, owner=EVERYONE)
        yield f"explain {fact.id}", (replace(why, history=()), unnumbered(why.history))
    clock.advance(days=1)
    run = memory.consolidate()
    yield "consolidate", (run.state, run.receipt, run.faded, run.waiting, unnumbered(run.events))
    yield "review", memory.review.proposals()
    yield "timeline", list(memory.sources.timeline())
    yield "rejections", memory.sources.rejections(limit=20)
    yield "stats", replace(memory.stats(), tenant="", path="", size_bytes=0)
    yield "forget", memory.forget(old.id + 1)
    yield "facts at last", memory.query_facts(owner=EVERYONE, include_deprecated=True)
    yield "export", exported(memory)
    yield "check", memory.check()


def the_erasures(memory: Memory) -> Iterator[tuple[str, Any]]:
    """Take a fact, a thing and an owner out of what the loop has left, and give every answer."""
    [coin] = memory.keyed.keyed_facts()
    done = memory.erasure.erase_fact(coin.id, whole_episodes=True)
    yield "erase a fact", (done.receipt, done.standing, done.nothing_left)
    done = memory.erasure.erase_entity("Brimley Swift")
    yield "erase a thing", (done.receipt, done.standing, done.nothing_left)
    yield "would erase", memory.erasure.erase_owner("mara", dry_run=True).receipt
    done = memory.erasure.erase_owner("mara")
    yield "erase an owner", (done.receipt, done.standing, done.nothing_left)
    yield "erasures", memory.erasure.erasures()
    yield "residues", memory.erasure.find_residues("Brimley Swift").rows
    yield "export", exported(memory)
    yield "check", memory.check()


def exported(memory: Memory) -> list[str]:
    """Return all that a memory exports but for what is by chance, in no order."""
    return sorted(
        json.dumps({key: one[key] for key in one if (one["record"], key) not in BY_CHANCE})
        for one in memory.export(owner=EVERYONE)
        if one["record"] != "export" and one.get("op") != "import"
    )


def unnumbered(events: Sequence[Event]) -> list[Event]:
    """Return events without their numbers."""
    return [one._replace(id=0) for one in events]


def test_the_main_loop_is_the_same_over_both_stores_and_each_is_restored_into_the_other(
    tmp_path: Path, in_memory: str
) -> None:
    clocks = FrozenClock(), FrozenClock()
    given: dict[str, Any] = {"key_file": tmp_path / "key", "model": None, "search_config": None}
    with (
        Memory(tmp_path / "m.db", clock=clocks[0], **given) as file,
        Memory(in_memory, clock=clocks[1], **given) as twin,
    ):
        for (asked, one), (_, other) in zip(
            the_loop(file, clocks[0]), the_loop(twin, clocks[1]), strict=True
        ):
            assert other == one, asked
        records = records_of(file)
        with (
            Memory(f"{in_memory}.again", clock=clocks[0], **given) as restored,
            Memory(tmp_path / "again.db", clock=clocks[0], **given) as back,
        ):
            assert restored.import_(records).left == []
            assert plain(records_of(restored)) == plain(records)
            assert back.import_(restored.export(owner=EVERYONE)).left == []
            assert back.check() == []
            question = "show me every archive I unpacked"
            for memory in (restored, back):
                memory.embed()
                assert memory.recall(question).hits == file.recall(question).hits
        for (asked, one), (_, other) in zip(the_erasures(file), the_erasures(twin), strict=True):
            assert other == one, asked
        for memory in (file, twin):
            kept = json.dumps(records_of(memory)).lower()
            assert [
                word for word in ("lindewerk", "brimley", "favorite crypto") if word in kept
            ] == []
