"""AsyncMemory: nothing is missing, many at once, cancellation, close, errors, an agent's loop."""

from __future__ import annotations

import asyncio
import contextvars
import inspect
import logging
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

import factbook
from factbook.errors import NotFound, StoreMissing, UsageError
from factbook.memory import Memory, aio
from factbook.memory.aio import AsyncConversation, AsyncMemory
from factbook.memory.conversation import Conversation
from factbook.memory.review import Review
from factbook.model.facts import Hit, Millis
from factbook.recall.prefetch import StreamState
from factbook.testing import FrozenClock

PATIENCE = 30.0  # seconds after which a test gives up waiting


class Gate:
    """A clock that lets nobody through until it is told to: what asks it stands still."""

    def __init__(self) -> None:
        self.clock = FrozenClock()
        self.opened = threading.Event()
        self.opened.set()
        self.waiting = threading.Event()  # somebody stands before it

    def __call__(self) -> Millis:
        if not self.opened.is_set():
            self.waiting.set()
            assert self.opened.wait(PATIENCE)
        return self.clock()

    def shut(self) -> None:
        self.waiting.clear()
        self.opened.clear()

    async def reached(self) -> None:
        """Wait until somebody stands before it."""
        assert await asyncio.to_thread(self.waiting.wait, PATIENCE)


class Words:
    """A small embedder of its own: words are hashed into 32 numbers."""

    id = "words-1"
    dim = 32

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        rows = np.full((len(texts), self.dim), 0.01, np.float32)
        for n, text in enumerate(texts):
            for word in text.lower().split():
                rows[n, sum(word.strip(".,?!").encode()) % self.dim] += 1
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        return rows


@pytest.fixture
def gate() -> Gate:
    return Gate()


@pytest.fixture
def make(tmp_path: Path, gate: Gate) -> Iterator[Callable[..., AsyncMemory]]:
    def made(*, threads: int = 4) -> AsyncMemory:
        return AsyncMemory(
            tmp_path / "f.db",
            clock=gate,
            embedder=Words(),
            key_file=tmp_path / "key",
            threads=threads,
        )

    yield made
    with Memory(tmp_path / "f.db", key_file=tmp_path / "key") as memory:
        assert memory.check() == []


# --- nothing is missing ---------------------------------------------------------------------------


def test_every_part_is_there_by_its_name(tmp_path: Path) -> None:
    waiting = AsyncMemory(tmp_path / "f.db", key_file=tmp_path / "key")
    with Memory(tmp_path / "f.db", key_file=tmp_path / "key") as memory:
        named = {name: getattr(memory, name) for name in dir(memory) if not name.startswith("_")}
        parts = {name: type(one) for name, one in named.items() if _is_part(one)}
    assert len(parts) == 9
    for name, kind in parts.items():
        assert type(getattr(waiting, name)).__name__ == f"Async{kind.__name__}"


def _is_part(one: object) -> bool:
    return type(one).__module__.startswith("factbook.") and hasattr(
        aio, f"Async{type(one).__name__}"
    )


@pytest.mark.parametrize("mirror", [AsyncMemory, AsyncConversation, aio.AsyncReview])
def test_every_method_is_awaited_with_the_parameters_of_the_blocking_one(mirror: type) -> None:
    kind = {"AsyncMemory": Memory, "AsyncConversation": Conversation, "AsyncReview": Review}
    blocking = kind[mirror.__name__]
    names = [name for name in vars(blocking) if not name.startswith("_")]
    for name in names:
        method = getattr(blocking, name)
        if not inspect.isfunction(method) or name == "conversation":
            continue
        awaited = getattr(mirror, name)
        assert (
            inspect.signature(awaited).parameters.keys()
            == inspect.signature(method).parameters.keys()
        )
        assert (awaited.__doc__ or "").strip()
        yields = inspect.isgeneratorfunction(inspect.unwrap(method))
        assert (inspect.isasyncgenfunction if yields else inspect.iscoroutinefunction)(awaited)


def test_a_mirror_that_lacks_a_method_or_has_one_too_many_is_refused() -> None:
    with pytest.raises(TypeError, match="differ in forget, pin"):

        @aio._mirrors(_Two)
        class Lacking:
            def pin(self) -> None:
                """Pin."""

            def forget(self) -> None:
                """Forget."""

            def keep(self) -> None:
                """Keep."""


class _Two:
    def keep(self) -> None:
        """Keep."""


def test_it_is_made_with_what_memory_is_made_with() -> None:
    mine = dict(inspect.signature(AsyncMemory.__init__).parameters)
    assert mine.pop("threads").default >= 2
    assert mine == dict(inspect.signature(Memory.__init__).parameters)


def test_it_is_exported() -> None:
    assert factbook.AsyncMemory is AsyncMemory
    assert "AsyncMemory" in factbook.__all__


# --- an agent's loop ------------------------------------------------------------------------------


def test_an_agents_loop(tmp_path: Path) -> None:
    """What came by itself, what is asked for, an answer, and the turn is kept."""

    async def until_ready(talk: AsyncConversation) -> list[Hit]:
        for _ in range(int(PATIENCE * 100)):
            found = await talk.take_prefetched()
            if found.state is not StreamState.LATE:
                return list(found.memories)
            await asyncio.sleep(0.01)
        raise AssertionError("nothing came")

    async def answer(memory: AsyncMemory, question: str) -> str:
        talk = memory.conversation(session="chat")
        streamed = await until_ready(talk)
        asked = await talk.search_memory(question, "facts", limit=3)
        built = await talk.context(question, memories=[*streamed, *asked])
        said = f"I know: {asked[0].text}" if asked else "I do not know."
        await talk.sync_turn(question, said)
        return f"{said} ({len(streamed)} by themselves, {built.tokens} tokens)"

    async def talk() -> list[str]:
        async with AsyncMemory(tmp_path / "f.db", key_file=tmp_path / "key") as memory:
            await memory.remember("My dog is called Rex.")
            await memory.remember("I live in Oslo.")
            await memory.embed()
            said = [
                await answer(memory, "What is the name of my dog?"),
                await answer(memory, "And is my dog happy in Oslo?"),
            ]
            assert await memory.check() == []
            return said

    first, second = asyncio.run(talk())
    assert first.startswith("I know: My dog is called Rex. (0 by themselves")
    assert second.startswith("I know: ")
    assert "(0 by themselves" not in second  # the turn before called them to mind


def test_a_search_in_the_background_is_there_for_the_next_turn(
    make: Callable[..., AsyncMemory],
) -> None:
    async def run() -> None:
        async with make() as memory:
            await memory.remember("My dog is called Rex.")
            assert [one.text for one in await memory.conversation().prefetch("dog called")] == [
                "My dog is called Rex."
            ]
            assert await memory.conversation(session="s").queue_prefetch("dog called")
            stream = await memory.conversation(session="s").stream()
            while (found := await memory.take_prefetched("s")).state is StreamState.LATE:
                await asyncio.sleep(0.01)
            assert [one.text for one in found.memories] == ["My dog is called Rex."]
            assert stream.stats.searched == 1

    asyncio.run(run())


def test_export_is_iterated_and_other_calls_go_on_meanwhile(
    make: Callable[..., AsyncMemory], tmp_path: Path
) -> None:
    async def run() -> list[dict[str, object]]:
        async with make() as memory:
            for n in range(300):
                await memory.add_turn(f"turn {n} of many", session="s", uid=f"u{n}")
            found = []
            async for one in memory.export():
                found.append(one)
                if len(found) in (1, 200):
                    await memory.add_turn(f"written meanwhile, after {len(found)}", session="t")
            async for _ in memory.export():
                break  # left in the middle: the rest is not read
            return found

    records = asyncio.run(run())
    texts = [one["text"] for one in records if one["record"] == "episode"]
    assert [text for text in texts if str(text).startswith("turn ")] == [
        f"turn {n} of many" for n in range(300)
    ]


# --- many at once ---------------------------------------------------------------------------------


def test_twenty_awaits_at_once(make: Callable[..., AsyncMemory]) -> None:
    async def run() -> None:
        async with make() as memory:
            receipts = await asyncio.gather(
                *(memory.add_turn(f"the ferry {n} leaves", session=f"s{n}") for n in range(20))
            )
            assert sum(one.episodes for one in receipts) == 20
            found = await asyncio.gather(
                *(memory.search_memory(f"ferry {n}", "episodes", 1) for n in range(20))
            )
            assert [hits[0].text for hits in found] == [f"the ferry {n} leaves" for n in range(20)]

    asyncio.run(run())


def test_the_event_loop_goes_on_while_a_call_waits(
    make: Callable[..., AsyncMemory], gate: Gate
) -> None:
    async def run() -> None:
        async with make() as memory:
            gate.shut()
            kept = asyncio.create_task(memory.add_turn("hello there", session="s"))
            await gate.reached()
            assert not kept.done()
            gate.opened.set()
            assert (await kept).episodes == 1

    asyncio.run(run())


def test_a_turn_does_not_wait_behind_the_night(
    make: Callable[..., AsyncMemory], gate: Gate
) -> None:
    async def run() -> None:
        async with make(threads=1) as memory:
            await memory.add_turn("I live in Oslo.", session="s")
            gate.shut()
            night = asyncio.create_task(memory.consolidate())
            more = asyncio.create_task(memory.embed())
            await gate.reached()
            assert await memory.maintenance.waiting() == 1  # though long work stands still
            assert not night.done()
            gate.opened.set()
            assert (await night).state == "done"
            await more

    asyncio.run(run())


def test_context_variables_are_seen_in_the_thread(tmp_path: Path) -> None:
    who: contextvars.ContextVar[str] = contextvars.ContextVar("who", default="nobody")
    seen: list[str] = []

    def clock() -> Millis:
        seen.append(who.get())
        return 1_763_700_000_000

    async def run() -> None:
        who.set("ann")
        memory = AsyncMemory(tmp_path / "f.db", clock=clock, key_file=tmp_path / "key")
        async with memory:
            await memory.query_facts()

    asyncio.run(run())
    assert set(seen) == {"ann"}


# --- cancellation ---------------------------------------------------------------------------------


def test_what_a_cancelled_await_has_begun_is_ended_whole(
    make: Callable[..., AsyncMemory], gate: Gate
) -> None:
    async def run() -> None:
        async with make() as memory:
            gate.shut()
            kept = asyncio.create_task(memory.add_turn("this one has begun", session="s"))
            await gate.reached()
            kept.cancel()
            with pytest.raises(asyncio.CancelledError):
                await kept
            gate.opened.set()
        async with make() as memory:
            hits = await memory.search_memory("has begun", "episodes")
            assert [one.text for one in hits] == ["this one has begun"]

    asyncio.run(run())


def test_what_had_not_begun_does_not_happen(make: Callable[..., AsyncMemory], gate: Gate) -> None:
    async def run() -> None:
        async with make(threads=1) as memory:
            gate.shut()
            first = asyncio.create_task(memory.add_turn("the first", session="s"))
            await gate.reached()
            second = asyncio.create_task(memory.add_turn("the second", session="s"))
            await asyncio.sleep(0)
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(second, 0.01)
            gate.opened.set()
            assert (await first).episodes == 1
            records = [one async for one in memory.export() if one["record"] == "episode"]
            assert [one["text"] for one in records] == ["the first"]

    asyncio.run(run())


def test_an_error_that_nobody_waits_for_is_logged(
    make: Callable[..., AsyncMemory], gate: Gate, caplog: pytest.LogCaptureFixture
) -> None:
    async def run() -> None:
        async with make() as memory:
            gate.shut()
            task = asyncio.create_task(memory.erasure.erase_fact(4711))
            await gate.reached()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            gate.opened.set()

    with caplog.at_level(logging.WARNING, logger="factbook.memory.aio"):
        asyncio.run(run())
    (said,) = [one.getMessage() for one in caplog.records if one.name == "factbook.memory.aio"]
    assert said.startswith("a cancelled call failed: NotFound: ")


def test_iterations_are_cancelled_in_the_middle(make: Callable[..., AsyncMemory]) -> None:
    async def run() -> None:
        async with make() as memory:
            for n in range(5):
                await memory.add_turn(f"turn {n}", session="s")

            async def count() -> None:
                async for _ in memory.export():
                    await asyncio.sleep(PATIENCE)

            task = asyncio.create_task(count())
            await asyncio.sleep(0.05)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert [one async for one in memory.export()]

    asyncio.run(run())


# --- close ----------------------------------------------------------------------------------------


def test_close_waits_for_what_has_begun_and_refuses_what_comes(
    make: Callable[..., AsyncMemory], gate: Gate
) -> None:
    async def run() -> None:
        memory = make()
        await memory.add_turn("opened by the first call", session="s")
        gate.shut()
        kept = asyncio.create_task(memory.add_turn("still under way", session="s"))
        await gate.reached()
        closing = asyncio.create_task(memory.close())
        await asyncio.sleep(0)
        with pytest.raises(UsageError, match=r"is closed; open another one"):
            await memory.maintenance.waiting()
        with pytest.raises(UsageError, match="is closed"):
            _ = [one async for one in memory.export()]
        gate.opened.set()
        await closing
        assert (await kept).episodes == 1
        await memory.close()  # again is nothing

    asyncio.run(run())


def test_close_ends_the_streams_and_the_threads(
    make: Callable[..., AsyncMemory],
) -> None:
    def alive() -> set[threading.Thread]:
        return {one for one in threading.enumerate() if one.name.startswith("factbook-")}

    async def run() -> None:
        before = alive()
        async with make() as memory:
            await memory.sync_turn("My dog is called Rex.", "Nice!", session="s")
            rows = memory.export()
            assert await anext(rows)  # an iteration that nobody ends
            assert alive() - before
        deadline = time.monotonic() + PATIENCE
        while alive() - before and time.monotonic() < deadline:
            await asyncio.sleep(0.01)  # a pool's thread ends a moment after its last work
        assert alive() <= before
        with pytest.raises(UsageError, match="is closed"):
            _ = [one async for one in rows]

    asyncio.run(run())


def test_a_cancelled_close_goes_on_behind(make: Callable[..., AsyncMemory], gate: Gate) -> None:
    async def run() -> None:
        memory = make()
        await memory.maintenance.waiting()
        gate.shut()
        kept = asyncio.create_task(memory.add_turn("still under way", session="s"))
        await gate.reached()
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(memory.close(), 0.01)
        gate.opened.set()
        assert (await kept).episodes == 1
        await memory.close()

    asyncio.run(run())


def test_the_blocking_memory_is_there_between_open_and_close(
    make: Callable[..., AsyncMemory],
) -> None:
    async def run() -> None:
        memory = make()
        with pytest.raises(UsageError, match="not open yet"):
            _ = memory.blocking
        async with memory:
            assert memory.blocking.path == memory.path
            await asyncio.to_thread(memory.blocking.add_turn, "said in a thread", session="s")
            assert await memory.maintenance.waiting() == 1
        with pytest.raises(UsageError, match="closed"):
            _ = memory.blocking

    asyncio.run(run())


# --- errors ---------------------------------------------------------------------------------------


def test_errors_come_through_unchanged(make: Callable[..., AsyncMemory], tmp_path: Path) -> None:
    async def run() -> tuple[NotFound, NotFound]:
        async with make() as memory:
            with pytest.raises(NotFound) as mine:
                await memory.explain(4711)
            with pytest.raises(UsageError, match="'pirate' is no role; give one of"):
                await memory.add_turn("Ahoy", role="pirate")
            with pytest.raises(TypeError):
                await memory.review.pin()  # type: ignore[call-arg]
            with pytest.raises(NotFound) as its:
                memory.blocking.explain(4711)
            return mine.value, its.value

    mine, its = asyncio.run(run())
    assert str(mine) == str(its)
    assert type(mine) is type(its)


def test_a_file_that_cannot_be_opened_is_said_at_once(tmp_path: Path) -> None:
    async def run() -> None:
        with pytest.raises(StoreMissing):
            async with AsyncMemory(tmp_path / "none.db", mode="read"):
                pass

    asyncio.run(run())
    with pytest.raises(UsageError, match="threads is 0; give 1 or more"):
        AsyncMemory(tmp_path / "x.db", threads=0)
    asyncio.run(run())  # and again


def test_several_loops_one_after_the_other(make: Callable[..., AsyncMemory]) -> None:
    memory = make()
    asyncio.run(memory.add_turn("in the first loop", session="s"))
    hits = asyncio.run(memory.search_memory("loop", "episodes"))
    assert [one.text for one in hits] == ["in the first loop"]
    asyncio.run(memory.close())
