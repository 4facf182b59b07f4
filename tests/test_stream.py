"""The passive stream: one turn late, never in the way, never stale, never silent (seed 001)."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from factbook.errors import StoreLocked, UsageError
from factbook.model.facts import Hit, Role
from factbook.recall.plan import Turn
from factbook.recall.prefetch import (
    MESSAGE_CHARS,
    PassiveStream,
    Streamed,
    StreamState,
    in_stream,
)
from factbook.testing import FrozenClock

LONG = 10.0  # seconds; a test that waits so long has failed


def hit(id: str, text: str = "") -> Hit:
    return Hit(
        id=id,
        kind="fact",
        text=text or id,
        score=0.5,
        confidence=0.9,
        occurred_at=None,
        source="",
        position=0,
        host="",
        project="",
        session="",
    )


def user(text: str) -> Turn:
    return Turn(role=Role.USER, text=text)


class Owner:
    """A memory: answers a search with one hit that repeats what was asked, when it is let."""

    def __init__(self) -> None:
        self.generation = 1
        self.gate = threading.Event()
        self.gate.set()
        self.began = threading.Semaphore(0)
        self.asked: list[list[str]] = []
        self.threads: set[str] = set()
        self.error: Exception | None = None
        self.during: Callable[[], None] = lambda: None
        self.gone: set[str] = set()  # ids of hits that hold no more
        self.looks = 0
        self.look_error: Exception | None = None

    def search(self, turns: Sequence[Turn]) -> list[Hit]:
        self.asked.append([turn.text for turn in turns])
        self.threads.add(threading.current_thread().name)
        self.began.release()
        assert self.gate.wait(LONG)
        self.during()
        if self.error is not None:
            raise self.error
        said = " / ".join(turn.text for turn in turns)
        if said == "nothing":
            return []
        return [hit(f"f{len(self.asked)}", said), hit(f"e{len(self.asked)}", f"After {said}")]

    def still(self, hits: Sequence[Hit]) -> list[Hit]:
        self.looks += 1
        if self.look_error is not None:
            raise self.look_error
        return [one for one in hits if one.id not in self.gone]

    def stream(self, **more: Any) -> PassiveStream:
        given = {"generation": lambda: self.generation, "clock": FrozenClock(), **more}
        return PassiveStream(self.search, still=self.still, **given)


@pytest.fixture
def owner() -> Owner:
    return Owner()


@pytest.fixture
def stream(owner: Owner) -> Iterator[PassiveStream]:
    with owner.stream() as made:
        yield made


def settled(stream: PassiveStream, searched: int) -> None:
    """Wait until so many searches have ended."""
    until = time.monotonic() + LONG
    while stream.stats.searched < searched:
        assert time.monotonic() < until
        time.sleep(0.001)


def texts(found: Streamed) -> list[str]:
    return [memory.text for memory in found.memories if memory.id.startswith("f")]


def test_after_turn_n_the_turns_before_and_n_are_used_in_the_next(
    owner: Owner, stream: PassiveStream
) -> None:
    assert stream.take_prefetched().state is StreamState.NONE
    for n, said in enumerate(("one", "two", "three"), start=1):
        assert stream.sync_turn(user(said))
        settled(stream, n)
    assert owner.asked == [["one"], ["one", "two"], ["two", "three"]]
    found = stream.take_prefetched()
    assert (found.state, found.turn, found.generation) == (StreamState.READY, 4, 1)
    assert texts(found) == ["two / three"]
    assert found.latency_ms is not None
    assert found.ready_at is not None
    assert [turn.text for turn in stream.get_recent_turns()] == ["two", "three"]
    assert [turn.text for turn in stream.get_recent_turns(count=1)] == ["three"]
    assert stream.get_recent_turns(count=0) == []


def test_a_turn_never_waits_for_a_search(owner: Owner, stream: PassiveStream) -> None:
    owner.gate.clear()
    stream.sync_turn(user("slow"))
    found = stream.take_prefetched()
    assert (found.state, found.memories) == (StreamState.LATE, ())
    owner.gate.set()
    settled(stream, 1)
    assert stream.take_prefetched().state is StreamState.READY  # a second look in the same turn
    stats = stream.stats
    assert (stats.late, stats.ready) == (0, 1)  # the turn is counted once


def test_newer_work_replaces_what_has_not_begun(owner: Owner, stream: PassiveStream) -> None:
    owner.gate.clear()
    stream.sync_turn(user("one"))
    assert owner.began.acquire(timeout=LONG)
    stream.sync_turn(user("two"))
    stream.sync_turn(user("three"))
    owner.gate.set()
    settled(stream, 2)
    assert owner.asked == [["one"], ["two", "three"]]
    assert stream.stats.replaced == 1
    assert texts(stream.take_prefetched()) == ["two / three"]


def test_what_was_found_for_an_older_turn_is_dropped(owner: Owner, stream: PassiveStream) -> None:
    stream.sync_turn(user("one"))
    settled(stream, 1)
    stream.close()
    stream.sync_turn(user("two"))
    found = stream.take_prefetched()
    assert (found.state, found.memories) == (StreamState.STALE, ())
    assert stream.take_prefetched().state is StreamState.STALE
    assert stream.stats.stale == 1


def ids(found: Streamed) -> list[str]:
    return [memory.id for memory in found.memories]


def test_seed_002_what_is_cached_outlives_no_write_unseen(
    owner: Owner, stream: PassiveStream
) -> None:
    stream.sync_turn(user("one"))
    settled(stream, 1)
    assert (ids(stream.take_prefetched()), owner.looks) == (["f1", "e1"], 0)
    owner.generation += 1
    owner.gone = {"f1"}
    assert (ids(stream.take_prefetched()), owner.looks) == (["e1"], 1)
    assert (ids(stream.take_prefetched()), owner.looks) == (
        ["e1"],
        1,
    )  # looked up once for each write
    owner.generation += 1
    owner.gone = {"e1"}  # what was dropped stays dropped
    found = stream.take_prefetched()
    assert (found.state, found.memories) == (StreamState.EMPTY, ())
    owner.generation += 1
    owner.gone = set()
    assert stream.take_prefetched().state is StreamState.EMPTY
    assert (stream.stats.empty, stream.stats.ready, len(owner.asked)) == (1, 0, 1)


def test_what_is_written_while_the_search_runs_is_looked_up(
    owner: Owner, stream: PassiveStream
) -> None:
    def write() -> None:
        owner.generation += 1
        owner.gone.add("f1")

    owner.during = write
    stream.sync_turn(user("one"))
    settled(stream, 1)
    assert ids(stream.take_prefetched()) == ["e1"]
    assert len(owner.asked) == 1


@given(writes=st.lists(st.sampled_from(["f1", "e1", "other", "take"]), max_size=12))
def test_whatever_is_written_only_what_still_holds_is_there(writes: list[str]) -> None:
    owner = Owner()
    with owner.stream() as stream:
        stream.sync_turn(user("one"))
        settled(stream, 1)
        for one in [*writes, "take"]:
            if one != "take":
                owner.gone.add(one)
                owner.generation += 1
                continue
            left = [hit for hit in ("f1", "e1") if hit not in owner.gone]
            found = stream.take_prefetched()
            assert ids(found) == left
            assert found.state is (StreamState.READY if left else StreamState.EMPTY)
        assert owner.looks <= len(writes)


def test_a_look_that_fails_is_a_failure_and_no_empty_result(owner: Owner) -> None:
    failed: list[BaseException] = []
    with owner.stream(failed=failed.append) as stream:
        stream.sync_turn(user("one"))
        settled(stream, 1)
        owner.generation += 1
        owner.look_error = StoreLocked(path=Path("m.db"), seconds=1.0)
        found = stream.take_prefetched()
        assert (found.state, found.memories) == (StreamState.FAILED, ())
        assert "StoreLocked" in found.error
        assert failed == [stream.last_error] == [owner.look_error]
        assert (stream.stats.failed, stream.stats.errors) == (1, 1)
        owner.look_error = None
        assert ids(stream.take_prefetched()) == ["f1", "e1"]  # nothing was lost by it
        assert (stream.stats.failed, stream.stats.ready) == (0, 1)


def test_what_prepares_a_search_may_write(owner: Owner) -> None:
    def write() -> None:
        owner.generation += 1

    with owner.stream(prepare=write) as stream:
        stream.sync_turn(user("one"))
        settled(stream, 1)
        assert stream.take_prefetched().state is StreamState.READY
    assert owner.asked == [["one"]]


def waits_for(condition: Callable[[], bool]) -> None:
    until = time.monotonic() + LONG
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.001)


def test_what_settles_comes_after_the_answer_and_may_write(owner: Owner) -> None:
    done: list[tuple[int, str]] = []

    def settle(stream: PassiveStream) -> None:
        done.append((len(owner.asked), threading.current_thread().name))
        owner.generation += 1

    with owner.stream(settle=settle) as stream:
        for n in range(1, 4):
            stream.sync_turn(user(f"turn {n}"))
            waits_for(lambda n=n: len(done) == n and not stream.searching)  # type: ignore[misc]
            assert stream.take_prefetched().state is StreamState.READY
        stream.retrieve_memories_async([user("asked")])
        waits_for(lambda: len(done) == 4)
    assert [asked for asked, _ in done] == [1, 2, 3, 4]
    assert {name for _, name in done} == owner.threads
    assert owner.generation == 5


def test_newer_searches_come_before_settling(owner: Owner) -> None:
    settled_after: list[int] = []
    owner.gate.clear()
    with owner.stream(
        settle=lambda _: settled_after.append(len(owner.asked)),
    ) as stream:
        stream.sync_turn(user("one"))
        assert owner.began.acquire(timeout=LONG)
        stream.sync_turn(user("two"))
        assert stream.searching
        owner.gate.set()
        waits_for(lambda: bool(settled_after))
    assert settled_after == [2]


def test_closing_settles_what_is_left_and_a_failure_is_told_once(
    owner: Owner, caplog: pytest.LogCaptureFixture
) -> None:
    settled_names: list[str] = []

    def settle(stream: PassiveStream) -> None:
        settled_names.append(threading.current_thread().name)
        raise StoreLocked(path=Path("m.db"), seconds=1.0)

    for _ in range(2):
        stream = owner.stream(settle=settle)
        with stream, caplog.at_level(logging.WARNING):
            stream.sync_turn(user("one"))
            settled(stream, 1)
            waits_for(lambda: bool(settled_names))
            stream.sync_turn(user("two"))
            stream.close()
        assert len(settled_names) == 2
        assert len([one for one in caplog.messages if "left work undone" in one]) == 1
        assert stream.last_error is None
        settled_names.clear()
        caplog.clear()


def test_an_error_is_kept_logged_once_and_not_an_empty_result(
    owner: Owner, stream: PassiveStream, caplog: pytest.LogCaptureFixture
) -> None:
    owner.error = OSError("the disk is gone")
    with caplog.at_level(logging.WARNING):
        for n in (1, 2):
            stream.sync_turn(user(f"turn {n}"))
            settled(stream, n)
    found = stream.take_prefetched()
    assert (found.state, found.memories) == (StreamState.FAILED, ())
    assert "the disk is gone" in found.error
    assert stream.last_error is owner.error
    assert len(caplog.records) == 1
    assert stream.stats.failed == 1
    owner.error = None
    stream.sync_turn(user("turn 3"))
    settled(stream, 3)
    assert stream.take_prefetched().state is StreamState.READY
    assert stream.last_error is None


def test_a_store_that_cannot_be_asked_does_not_break_the_turn(owner: Owner) -> None:
    def locked() -> int:
        raise StoreLocked(path="memory.db")

    with owner.stream(generation=locked) as stream:
        stream.sync_turn(user("one"))
        settled(stream, 1)
        assert stream.take_prefetched().state is StreamState.FAILED
        assert isinstance(stream.last_error, StoreLocked)


def test_nothing_found_is_a_state_of_its_own(stream: PassiveStream) -> None:
    stream.sync_turn(user("nothing"))
    settled(stream, 1)
    assert stream.take_prefetched().state is StreamState.EMPTY
    assert stream.stats.empty == 1


@pytest.mark.parametrize("text", ["", "   \n", "\t"])
def test_turns_without_text_queue_nothing(owner: Owner, stream: PassiveStream, text: str) -> None:
    assert not stream.sync_turn([user(text)])
    assert not stream.sync_turn([])
    assert stream.take_prefetched().state is StreamState.NONE
    assert not stream.queue_prefetch(text)
    assert owner.asked == []


@pytest.mark.parametrize("text", ["ok", "🙂🙂", "नमस्ते दुनिया", "\x00", "half \ud83d"])
def test_any_text_is_legal(stream: PassiveStream, text: str) -> None:
    assert stream.sync_turn(user(text))
    settled(stream, 1)
    assert stream.take_prefetched().state is StreamState.READY


def test_a_turn_of_100_000_tokens_is_searched_by_its_ends(
    owner: Owner, stream: PassiveStream
) -> None:
    stream.sync_turn(user("first " + "word " * 100_000 + "last question?"))
    settled(stream, 1)
    (searched,) = owner.asked[0]
    assert len(searched) <= MESSAGE_CHARS + 1
    assert searched.startswith("first ")
    assert searched.endswith("last question?")
    assert len(stream.get_recent_turns()[0].text) > 400_000


def test_switched_off_nothing_is_searched(owner: Owner) -> None:
    with owner.stream(enabled=False) as stream:
        assert not stream.sync_turn(user("one"))
        assert stream.take_prefetched().state is StreamState.OFF
        assert stream.stats.off == 1
    assert owner.asked == []


def test_the_arms_of_an_ab_test() -> None:
    sessions = [f"session {n}" for n in range(2_000)]
    half = [one for one in sessions if in_stream(one, 0.5)]
    assert 900 < len(half) < 1_100
    assert all(in_stream(one, 0.6) for one in half)  # a larger share only adds sessions
    assert all(in_stream(one, 1.0) for one in sessions)
    assert not any(in_stream(one, 0.0) for one in sessions)
    with pytest.raises(UsageError, match="share"):
        in_stream("x", float("nan"))


def test_the_seeds_own_names(owner: Owner, stream: PassiveStream) -> None:
    found = stream.retrieve_memories_async([user("tea")]).result(LONG)
    assert texts(found) == ["tea"]
    stream.cache_for_next_turn(found)
    assert texts(stream.take_prefetched()) == ["tea"]
    seen: list[Streamed] = []

    def respond(text: str, streamed: Streamed) -> str:
        seen.append(streamed)
        return f"You said {text}."

    assert stream.handle_turn("bees", respond) == "You said bees."
    settled(stream, 1)
    stream.handle_turn("honey", respond)
    assert [one.state for one in seen] == [StreamState.READY, StreamState.READY]
    assert texts(seen[1]) == ["bees / You said bees."]


def test_a_response_that_fails_queues_nothing(owner: Owner, stream: PassiveStream) -> None:
    def respond(text: str, streamed: Streamed) -> str:
        raise KeyError(text)

    with pytest.raises(KeyError):
        stream.handle_turn("bees", respond)
    assert owner.asked == []


def test_one_thread_and_close_ends_it(owner: Owner) -> None:
    stream = owner.stream()
    for n in range(20):
        stream.sync_turn(user(f"turn {n}"))
    stream.retrieve_memories_async([user("x")]).result(LONG)
    assert len(owner.threads) == 1
    stream.close()
    stream.close()
    assert not [one for one in threading.enumerate() if one.name in owner.threads]
    assert not stream.sync_turn(user("after"))
    with pytest.raises(UsageError, match="closed"):
        stream.retrieve_memories_async([user("x")])
    assert stream.take_prefetched().state is not StreamState.FAILED


def test_close_drops_what_has_not_begun(owner: Owner) -> None:
    stream = owner.stream()
    owner.gate.clear()
    stream.sync_turn(user("one"))
    assert owner.began.acquire(timeout=LONG)
    stream.sync_turn(user("two"))
    closing = threading.Thread(target=stream.close)
    closing.start()
    owner.gate.set()
    closing.join(LONG)
    assert not closing.is_alive()
    assert owner.asked == [["one"]]


def test_a_turn_takes_less_than_five_milliseconds_of_work(stream: PassiveStream) -> None:
    spent = []
    for n in range(300):
        began = time.thread_time()
        stream.take_prefetched()
        stream.sync_turn(user(f"turn {n}"))
        spent.append(time.thread_time() - began)
    assert sorted(spent)[int(0.99 * len(spent))] < 0.005


@given(st.lists(st.sampled_from(["turn", "write", "take", "queue", "skip"])))
@settings(max_examples=50, deadline=None)
def test_memories_are_always_of_this_turn_and_hold_in_this_generation(steps: list[str]) -> None:
    owner, turn = Owner(), 0

    def search(turns: Sequence[Turn]) -> list[Hit]:
        return [hit("f1", f"{turns[-1].text} at {owner.generation}")]

    def still(hits: Sequence[Hit]) -> list[Hit]:
        said = hits[0].text.rpartition(" ")[0]
        return [hit("f1", f"{said} {owner.generation}")]

    with PassiveStream(
        search, still=still, generation=lambda: owner.generation, clock=FrozenClock()
    ) as stream:
        for step in steps:
            if step == "turn":
                turn += 1
                stream.sync_turn(user(f"turn {turn}"))
            elif step == "skip":
                stream.sync_turn(user(""))  # what was found was for another turn
            elif step == "write":
                owner.generation += 1
            elif step == "queue":
                stream.queue_prefetch(f"turn {turn}")
            else:
                found = stream.take_prefetched()
                if found.state is StreamState.READY:
                    assert texts(found) == [f"turn {turn} at {owner.generation}"]
                else:
                    assert found.memories == ()
