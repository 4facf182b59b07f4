"""While another process writes, what is to be written waits, and what is asked is answered."""

from __future__ import annotations

import asyncio
import logging
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from factbook import AsyncMemory, Memory
from factbook.memory.conversation import SESSIONS_KEPT
from factbook.model.facts import EVERYONE
from factbook.store.kinds import INJECTION
from mcp_client import Server

WRITES = 8
READS = 20
SOON_S = 10.0  # a busy machine is slow; a write waits for thirty
HOLDER = """
import sys, apsw
connection = apsw.Connection(sys.argv[1])
connection.set_busy_timeout(20_000)
connection.execute("BEGIN IMMEDIATE")
print("held", flush=True)
sys.stdin.readline()
connection.execute("ROLLBACK")
connection.close()
"""


@pytest.fixture
def db(tmp_path: Path) -> Path:
    path = tmp_path / "m.db"
    with Memory(path, model=None, search_config=None) as memory:
        memory.remember("My cat is called Miso.")
        memory.embed()
    return path


@contextmanager
def held(path: Path) -> Iterator[None]:
    """Have another process begin a write, which ends with the block."""
    command = [sys.executable, "-c", HOLDER, str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        try:
            yield
        finally:
            holder.communicate(b"\n")


def told(number: int) -> str:
    return f"Box {number} listens on port {9000 + number}."


def shown(memory: Memory) -> list[list[str]]:
    return [list(row.items) for row in memory.store.find(INJECTION, {"owner": EVERYONE})]


def test_a_server_answers_what_is_asked_while_its_writes_wait(db: Path) -> None:
    with Server(db) as server:
        server.call("search_memory", query="cat")
        with held(db):
            writes = [
                server.send("tools/call", {"name": "remember", "arguments": {"text": told(number)}})
                for number in range(WRITES)
            ]
            began = time.monotonic()
            reads = [
                server.send("tools/call", {"name": "search_memory", "arguments": {"query": "cat"}})
                for _ in range(READS)
            ]
            assert server.ask("ping") == {}
            assert server.ask("tools/list")["tools"]
            for number in reads:
                found = server.wait(number)["result"]["structuredContent"]["memories"]
                assert "Miso" in found[0]["text"]
            assert server.call("get_context", question="my cat")["included"] == ["f1"]
            assert server.call("explain_memory", id="f1")["evidence"]
            assert server.call("timeline")
            for uri in ("memory://stats", "memory://facts/f1", "memory://rejections"):
                assert server.ask("resources/read", uri=uri)["contents"]
            assert time.monotonic() - began < SOON_S
        for number in writes:
            assert server.wait(number)["result"]["structuredContent"]["stored"] == 1
    with Memory(db) as memory:
        kept = {fact.statement for fact in memory.query_facts(limit=100)}
        assert {told(number) for number in range(WRITES)} <= kept
        assert len(shown(memory)) == READS + 2
        assert memory.check() == []


def test_threads_read_while_others_wait_to_write(db: Path) -> None:
    with Memory(db, model=None, search_config=None) as memory:
        memory.search_memory("cat")
        writers = [
            threading.Thread(target=memory.review.note, args=(told(number),))
            for number in range(WRITES)
        ]
        with held(db):
            for writer in writers:
                writer.start()
            began = time.monotonic()
            for number in range(READS):
                assert memory.search_memory("cat", session=f"s{number}")[0].id == "f1"
            talk = memory.conversation(session="s")
            assert list(talk.context("my cat").included) == ["f1"]
            memory.conversations.count_failure(OSError())
            counting = threading.Thread(target=memory.conversations.keep_failures)
            counting.start()
            assert memory.stats().passive_failures == {"OSError": 1}
            assert memory.recall("my cat").hits
            assert memory.graph.read().entities == []
            assert memory.keyed.keyed_facts() == []
            assert memory.explain(1).evidence
            assert time.monotonic() - began < SOON_S
        for writer in (*writers, counting):
            writer.join()
        assert memory.stats().passive_failures == {"OSError": 1}
    with Memory(db) as memory:
        kept = {fact.statement for fact in memory.query_facts(limit=100)}
        assert {told(number) for number in range(WRITES)} <= kept
        assert shown(memory).count(["f1"]) >= READS
        assert memory.check() == []


async def ask_while_writes_wait(db: Path) -> None:
    async with AsyncMemory(db, model=None, search_config=None) as memory:
        await memory.search_memory("cat")
        with held(db):
            writes = [
                asyncio.create_task(memory.review.note(told(number))) for number in range(WRITES)
            ]
            await asyncio.sleep(0)
            async with asyncio.timeout(SOON_S):
                found = await asyncio.gather(*(memory.search_memory("cat") for _ in range(READS)))
                await memory.graph.read()
                await memory.stats()
        assert [hits[0].id for hits in found] == ["f1"] * READS
        assert all([(await write).fact for write in writes])


def test_awaited_reads_do_not_wait_for_awaited_writes(db: Path) -> None:
    asyncio.run(ask_while_writes_wait(db))
    with Memory(db) as kept:
        assert len(shown(kept)) == READS + 1


def test_what_was_shown_is_kept_after_the_longest_wait(
    db: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FACTBOOK_BUSY_TIMEOUT_MS", "50")
    with Memory(db, model=None, search_config=None) as memory:
        with held(db):
            assert memory.search_memory("cat", session="late")
            at = memory.clock()
            time.sleep(1.0)
        time.sleep(1.0)
        (row,) = memory.store.find(INJECTION, {"owner": EVERYONE})
        assert (row.session, list(row.items)) == ("late", ["f1"])
        assert row.at <= at


def test_a_store_that_is_never_free_does_not_keep_a_memory_open(
    db: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("FACTBOOK_BUSY_TIMEOUT_MS", "50")
    memory = Memory(db, model=None, search_config=None)
    with held(db), caplog.at_level(logging.WARNING, logger="factbook.memory.shown"):
        for _ in range(3):
            assert memory.search_memory("cat")
        memory.close()
    assert len(caplog.records) == 3
    with Memory(db) as again:
        assert shown(again) == []


def test_an_answer_is_judged_by_what_was_shown_late(db: Path) -> None:
    with Memory(db, model=None, search_config=None) as memory:
        talk = memory.conversation(session="s")
        with held(db):
            talk.search_memory("cat")
            ended = threading.Thread(target=talk.sync_turn, args=("my cat?", "Miso [f1]."))
            ended.start()
            time.sleep(0.3)
        ended.join()
        (row,) = memory.store.find(INJECTION, {"owner": EVERYONE})
        assert list(row.used) == ["f1"]


def test_what_is_called_off_before_it_begins_is_not_written(db: Path) -> None:
    with Server(db) as server:
        with held(db):
            writes = [
                server.send("tools/call", {"name": "remember", "arguments": {"text": told(number)}})
                for number in range(WRITES)
            ]
            for called_off in (writes[-1], "true", writes[-1]):  # the last one has no thread yet
                server.say(
                    b'{"method":"notifications/cancelled","params":{"requestId":%s}}'
                    % str(called_off).encode()
                )
            assert server.ask("ping") == {}
        for number in writes[:-1]:
            assert server.wait(number)["result"]["structuredContent"]["stored"] == 1
        server.close()
        assert server._answers[writes[-1]].empty()
    with Memory(db) as memory:
        kept = {fact.statement for fact in memory.query_facts(limit=100)}
        assert {told(number) for number in range(WRITES)} - kept == {told(WRITES - 1)}


def test_no_search_waits_for_a_conversation_that_ends(db: Path) -> None:
    with Memory(db, model=None, search_config=None) as memory:
        memory.remember("My dog is called Rex.")  # what embeds it waits
        with held(db):
            for number in range(SESSIONS_KEPT):
                assert memory.conversation(session=f"s{number}").queue_prefetch("cat")
            began = time.monotonic()
            assert memory.search_memory("cat", session="another")
            assert memory.recall("dog").hits
            assert time.monotonic() - began < SOON_S
            talk = memory.conversation(session="s9")
            while not (streamed := talk.take_prefetched()).memories:
                assert time.monotonic() - began < 2 * SOON_S
                time.sleep(0.05)
            assert "Miso" in streamed.memories[0].text
