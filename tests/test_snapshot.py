"""One answer is of one moment, whoever writes meanwhile; and what came by itself is not lost."""

from __future__ import annotations

import itertools
import multiprocessing
import os
import random
import threading
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from conftest import examples
from factbook.apply.apply import apply
from factbook.context import Resources
from factbook.embed import bundled
from factbook.errors import EmbedderError, NotFound, UsageError
from factbook.memory import Memory
from factbook.memory.doctor import examine
from factbook.model.facts import ME, Candidate, EpisodeKind, FactKind, Hit, Role, Trigger, Trust
from factbook.model.ops import (
    AssertFact,
    MergeFacts,
    Op,
    RecordEpisode,
    RecordSource,
    SupersedeFact,
)
from factbook.recall.plan import Turn
from factbook.recall.prefetch import Streamed, StreamState
from factbook.store.derived import ledger
from factbook.store.derived.counts import count_waiting
from factbook.store.rows import Filters
from factbook.store.sqlite import SQLiteStore
from factbook.testing import FrozenClock, sample_episode, sample_fact, sample_source

DAY = 24 * 3600 * 1000
NOW = 1_790_000_000_000
WORDS = ("ferry", "harbour", "bakery", "hazelnut", "lamp", "violin", "garden", "bicycle", "train")

# How long `make fault` has writers and readers go on, in threads and again in processes, and how
# many turns its conversation has; three minutes and 2,000 turns are what the first figures are of.
BESIDE_SECONDS = float(os.environ.get("FACTBOOK_BESIDE_SECONDS", "45"))
LOOP_TURNS = int(os.environ.get("FACTBOOK_LOOP_TURNS", "2000"))


class Told:
    """The bundled embedder, which calls somebody each time that it is asked who it is."""

    def __init__(self) -> None:
        self._real = bundled()
        self.calls: Callable[[], None] = lambda: None
        self.error: Exception | None = None

    @property
    def id(self) -> str:
        self.calls()
        return self._real.id

    @property
    def dim(self) -> int:
        return self._real.dim

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        if self.error is not None:
            raise self.error
        return self._real.embed(texts)


def elsewhere(memory: Memory, work: Callable[[], object]) -> None:
    """Do something in another thread, wait for it, and leave no connection of that thread."""

    def done() -> None:
        try:
            work()
        finally:
            memory.store.close_thread()

    with ThreadPoolExecutor(1) as pool:
        pool.submit(done).result()


def opened(folder: Path, **more: Any) -> Memory:
    return Memory(folder / "m.db", key_file=folder / "key", **more)


def said(n: int) -> str:
    return f"The {WORDS[n % 9]} of {WORDS[n * 5 % 9]} number {n} opens at {n % 24} o'clock."


# --- one answer, one moment -----------------------------------------------------------------------


@pytest.mark.parametrize("embedded", [False, True])
def test_what_is_written_during_an_answer_is_no_part_of_it(tmp_path: Path, embedded: bool) -> None:
    told, numbers = Told(), itertools.count(10)
    with opened(tmp_path, embedder=told, clock=FrozenClock(NOW)) as memory:

        def others() -> None:
            with opened(tmp_path, clock=FrozenClock(NOW)) as other:
                for _ in range(5):
                    other.add_turn(f"The ferry number {next(numbers)} is late.", session="b")
                newest = other.query_facts(limit=1, newest_first=True)
                other.review.feedback(newest[0].id, right=False)
                if embedded:
                    other.embed()

        def interfere() -> None:
            told.calls = lambda: None  # once for each question
            elsewhere(memory, others)
            elsewhere(memory, lambda: memory.recall("Which ferry?", limit=50))

        for n in range(3):
            memory.add_turn(f"The ferry number {n} is here.", session="a")
        for what in ("timetable", "captain", "whistle"):
            memory.remember(f"I like the {what} of the ferry.")
        memory.embed()
        for ask in (
            lambda: memory.recall("Is the ferry here?", limit=50).hits,
            lambda: memory.search_memory("Is the ferry here?", limit=50),
            lambda: memory.conversation().prefetch("Is the ferry here?"),
        ):
            undisturbed = ask()
            assert {hit.kind for hit in undisturbed} == {"episode", "fact"}
            told.calls = interfere
            assert ask() == undisturbed
            assert ask() != undisturbed
        found = memory.recall("Is the ferry late?", limit=50).hits
        assert any("late" in hit.text for hit in found)
        assert memory.check() == []


@pytest.mark.parametrize("what", ["stats", "explain", "timeline", "living", "still"])
def test_reads_that_belong_together_are_of_one_moment(
    tmp_path: Path, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After each single read somebody writes; what is returned is as if nobody had."""
    from factbook.memory.standing import living

    numbers = itertools.count(10)
    with opened(tmp_path, clock=FrozenClock(NOW)) as memory:
        memory.remember("I play the cello in an orchestra.")
        (fact,) = memory.query_facts()
        told = memory.remember("My dog is called Bruno.")
        found = memory.conversation().prefetch("My dog and my cello")
        assert len(found) == 2
        asks: dict[str, Callable[[], Any]] = {
            "stats": lambda: [(one.counts, one.hosts, one.predicates) for one in [memory.stats()]],
            "explain": lambda: memory.explain(fact.id),
            "timeline": memory.sources.timeline,
            "living": lambda: living(memory, now=NOW),
            "still": lambda: memory.engine.still(found, filters=Filters(owner=ME)),
        }
        before = asks[what]()
        busy = threading.Lock()

        def write() -> None:
            with opened(tmp_path, clock=FrozenClock(NOW + 1)) as other:
                other.remember(f"I have {next(numbers)} bicycles.")
                other.review.pin(fact.id)
                other.remember("I play the cello in an orchestra.")
                with suppress(UsageError):  # it was before
                    other.review.feedback(told.id, right=False)
                call = sample_episode(next(numbers))
                asked = sample_episode(next(numbers), kind=EpisodeKind.PROMPT)
                ops: list[Op] = [RecordSource(source=sample_source())]
                ops += [RecordEpisode(episode=one) for one in (call, asked)]
                ops += [sample_fact(call, "connects_to_host", "nas")]
                apply(other.store, ops, trigger=Trigger.SESSION_LOG, actor="test", now=NOW)

        def disturbed(read: Callable[..., Any]) -> Callable[..., Any]:
            def reads(*args: Any, **options: Any) -> Any:
                found = read(*args, **options)
                found = list(found) if isinstance(found, Iterator) else found
                if busy.acquire(blocking=False):
                    elsewhere(memory, write)
                    busy.release()
                return found

            return reads

        look_again = Resources.look_again

        def undisturbed(resources: Resources) -> None:
            """Look for what others were told before the answer begins: it is no part of it."""
            is_free = busy.acquire(blocking=False)
            look_again(resources)
            if is_free:
                busy.release()

        monkeypatch.setattr(Resources, "look_again", undisturbed)
        for name in ("_rows", "episodes", "facts"):
            monkeypatch.setattr(SQLiteStore, name, disturbed(getattr(SQLiteStore, name)))
        assert asks[what]() == before
        monkeypatch.undo()
        assert asks[what]() != before
        assert memory.check() == []


# --- what is found before something is written ----------------------------------------------------

SAID = (
    "I play the cello in an orchestra.",
    "My dog is called Bruno.",
    "I keep a rowing boat in the harbour.",
    "Hazelnuts make me ill.",
    "I paint the garden shed green.",
    "I ride a bicycle to the observatory.",
)
ASKED = "How are my cello, my dog, my boat, the hazelnuts, the shed and the bicycle?"


def holds(memory: Memory, hit: Hit) -> bool:
    """Tell whether a hit says what stands in memory now, by ways that the stream does not take."""
    number = int(hit.id[1:])
    if hit.kind == "episode":
        rows = {one.id: one for one in memory.store.episodes(Filters(owner=ME), limit=None)}
        taken_back = ledger.outdated(memory.store, [number])
        return number in rows and rows[number].text == hit.text and not taken_back
    facts = {one.id: one for one in memory.query_facts()}
    fact = facts.get(number)
    return fact is not None and fact.statement == hit.text and fact.confidence > 0.5


def change(memory: Memory, step: str, n: int, hit: Hit) -> None:
    """Do one thing to what a memory holds; what it cannot be done to is left alone."""
    facts = memory.query_facts()
    old, new = (facts[n % len(facts)].id, facts[n // 2 % len(facts)].id) if facts else (0, 0)
    ops: list[Op] = []
    if step == "write":
        memory.remember(f"I have {n} bicycles and {n} cellos.")
    elif step == "erase":
        with suppress(NotFound):
            memory.erasure.erase_row(hit.id)
    elif step == "supersede" and old != new:
        ops = [SupersedeFact(old_id=old, new_id=new, rule="test", detail="later")]
    elif step == "merge" and old != new:
        counts = [memory.explain(one).fact.evidence_count for one in (new, old)]
        ops = [MergeFacts(winner_id=new, loser_ids=[old], evidence_counts=counts, rule="test")]
    elif step in ("wrong", "right") and old:
        memory.review.feedback(old, right=step == "right")
    elif step in ("unsaid", "cut"):
        # What an episode says, or a part of it, is a fact for a while.
        fact = said_in(memory, hit, hit.text if step == "unsaid" else hit.text.split()[-1])
        if fact and step == "unsaid":
            memory.review.feedback(fact, right=False)
        elif fact:
            memory.erasure.erase_fact(fact)
    apply(memory.store, ops, trigger=Trigger.UPKEEP, actor="test", now=NOW)


def said_in(memory: Memory, hit: Hit, part: str) -> int:
    """Make a part of an episode's text a fact and return its id; 0 where that is not there."""
    episode = memory.store.episodes_by_id([int(hit.id[1:])])[int(hit.id[1:])]
    start = episode.text.find(part)
    if start < 0:
        return 0
    said = Candidate(
        subject="me",
        predicate="states",
        object=part,
        statement=part,
        confidence=0.9,
        rule="test",
        method="said",
        start=start,
        end=start + len(part),
        kind=FactKind.STATEMENT,
    )
    op = AssertFact(
        candidate=said,
        episode=episode.uid,
        owner=ME,
        confidence=0.9,
        trust=Trust.DIRECT,
        quote=part,
    )
    apply(memory.store, [op], trigger=Trigger.USER_MESSAGE, actor="test", now=NOW)
    return max((one.id for one in memory.query_facts() if one.object == part), default=0)


STEPS = ("write", "erase", "supersede", "merge", "wrong", "right", "unsaid", "cut", "fade", "take")


@settings(max_examples=examples(6), deadline=None)
@example(steps=[("unsaid", 0), ("take", 0), ("cut", 1)])
@given(
    steps=st.lists(
        st.tuples(st.sampled_from(STEPS), st.integers(0, 9)),
        min_size=1,
        max_size=5,
    )
)
def test_whatever_is_written_after_the_search_nothing_stale_is_there_and_nothing_lost(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, int]]
) -> None:
    folder = tmp_path_factory.mktemp("after")
    clock, erased = FrozenClock(NOW), set[str]()
    with opened(folder, clock=clock) as memory, opened(folder, clock=clock) as other:
        for text in SAID[::2]:
            memory.remember(text)
        for text in SAID[1::2]:
            memory.add_turn(text, session="before")
        memory.sync_turn(ASKED, session="a")
        found = left = ended(memory, "a").memories
        assert sorted(hit.text for hit in left) == sorted(SAID)
        for step, n in [*steps, ("take", 0)]:
            if step == "fade":
                clock.now += (100 + 100 * n) * DAY
                other.add_turn(f"It is day {n} now.", session="b")
            elif step != "take":
                among = [hit for hit in found if hit.kind == "episode" or step == "erase"]
                hit = among[n % len(among)]
                change(other, step, n, hit)
                erased |= {hit.text} if step == "erase" else set()
            else:
                took = memory.take_prefetched("a")
                left = tuple(hit for hit in left if holds(other, hit))
                assert [(hit.id, hit.text) for hit in took.memories] == [
                    (hit.id, hit.text) for hit in left
                ]
                assert took.state is (StreamState.READY if left else StreamState.EMPTY)
                assert not [text for text in erased if text in repr(took)]
                for hit in took.memories:
                    if hit.kind == "fact":
                        known = other.explain(int(hit.id[1:]))
                        assert hit.confidence == known.fact.confidence
                        behind = [one.episode_id for one in known.evidence]
                        assert [one.episode_id for one in hit.evidence] == behind[:3]
        assert other.check() == []


# --- failures are counted -------------------------------------------------------------------------


def waits_for(condition: Callable[[], bool]) -> None:
    until = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.001)


def ended(memory: Memory, session: str) -> Streamed:
    stream = memory.conversation(session=session).stream()
    waits_for(lambda: not stream.searching)
    return memory.take_prefetched(session)


def test_a_passive_recall_that_fails_is_counted_where_it_is_looked_for(tmp_path: Path) -> None:
    told = Told()
    with opened(tmp_path, embedder=told) as memory:
        memory.sync_turn("Where does the ferry leave?", "At noon.", session="a")
        assert ended(memory, "a").state is not StreamState.FAILED
        waits_for(lambda: not count_waiting(memory.store))  # the stream embeds behind its answer
        told.error = EmbedderError(detail="the model is gone")
        memory.sync_turn("And the next ferry?", "At one.", session="a")
        assert ended(memory, "a").state is StreamState.FAILED
        assert memory.stats().passive_failures == {"EmbedderError": 1}
        assert memory.conversation(session="a").stream().stats.errors == 1
    with opened(tmp_path) as memory:
        assert memory.stats().passive_failures == {"EmbedderError": 1}
        assert memory.conversations.failures(since="2999-01-01") == {}
        assert memory.check() == []
    (found,) = [one for one in examine(tmp_path / "m.db") if one.name == "passive recall"]
    assert (found.level, "EmbedderError 1" in found.detail) == ("warn", True)


def test_a_memory_that_is_only_read_counts_for_itself(tmp_path: Path) -> None:
    told = Told()
    with opened(tmp_path) as memory:
        memory.add_turn("The ferry leaves at noon.")
        memory.embed()
    told.error = EmbedderError(detail="the model is gone")
    with opened(tmp_path, mode="read", embedder=told) as memory:
        memory.conversation(session="a").stream().sync_turn(
            Turn(role=Role.USER, text="When does the ferry leave?")
        )
        assert ended(memory, "a").state is StreamState.FAILED
        assert memory.stats().passive_failures == {"EmbedderError": 1}
    with opened(tmp_path, mode="read") as memory:
        assert memory.stats().passive_failures == {}


# --- many at once ---------------------------------------------------------------------------------


def write_on(memory: Memory, seed: int, go_on: Callable[[], bool], counts: Counter[str]) -> None:
    """Do what writers do: turns, facts, vectors, now and then a fact that goes."""
    draw = random.Random(seed)
    for n in itertools.count(seed * 1_000_000):
        if not go_on():
            return
        act = draw.random()
        if act < 0.6:
            memory.add_turn(said(n), session=f"w{seed}")
        elif act < 0.8:
            memory.remember(f"I like the {WORDS[n % 9]} number {n}.")
        elif act < 0.9:
            memory.embed()
        else:
            facts = memory.query_facts(limit=5, newest_first=True) or [memory.remember("I sing.")]
            # Another may have retired it since: that is refused by name, and does no harm.
            with suppress(UsageError):
                memory.review.feedback(draw.choice(facts).id, right=False)
        counts["writes"] += 1


def read_on(memory: Memory, seed: int, go_on: Callable[[], bool], counts: Counter[str]) -> None:
    """Do what readers do, and count what each answer was like."""
    draw = random.Random(seed)
    session = f"r{seed}"
    while go_on():
        question = f"Which {draw.choice(WORDS)} opens near the {draw.choice(WORDS)}?"
        act = draw.random()
        if act < 0.3:
            hits = memory.recall(question).hits
        elif act < 0.6:
            hits = memory.search_memory(question, session=session)
        else:
            came = ended(memory, session) if act < 0.9 else memory.take_prefetched(session)
            counts[f"take {came.state}"] += 1
            context = memory.context(question, memories=came.memories or None, session=session)
            memory.sync_turn(question, f"Noted {len(context.text)}.", session=session)
            hits = []
        if act < 0.1 and hits and hits[0].id.startswith("f"):
            explained = memory.explain(int(hits[0].id[1:]))
            assert explained.fact.evidence_count == len(explained.evidence)
        counts["reads"] += 1


def run(
    work: Callable[[Memory, int, Callable[[], bool], Counter[str]], None],
    memory: Memory,
    seed: int,
    until: float,
) -> Counter[str]:
    counts: Counter[str] = Counter()
    try:
        work(memory, seed, lambda: time.time() < until, counts)
    except Exception:  # noqa: BLE001 - what went wrong is what the test is about
        counts[f"error: {traceback.format_exc()}"] += 1
    return counts


def in_process(work: Any, folder: Path, seed: int, seconds: float, results: Any) -> None:
    with opened(folder) as memory:
        memory.recall("What is there?")  # the model is loaded
        counts = run(work, memory, seed, time.time() + seconds)
    results.put(counts)


def beside(folder: Path, *, writers: int, readers: int, seconds: float, processes: bool) -> None:
    """Have writers and readers go on beside each other; nothing may fail."""
    with opened(folder) as memory:
        for n in range(30):
            memory.add_turn(said(n), session="before")
        memory.embed()
        jobs = [(write_on, n) for n in range(writers)]
        jobs += [(read_on, 100 + n) for n in range(readers)]
        total: Counter[str] = Counter()
        if processes:
            context = multiprocessing.get_context("spawn")
            results = context.Queue()
            started = [
                context.Process(target=in_process, args=(work, folder, seed, seconds, results))
                for work, seed in jobs
            ]
            for one in started:
                one.start()
            for _ in started:
                total.update(results.get(timeout=2 * seconds + 120))  # loading a model is slow
            for one in started:
                one.join()
        else:
            until = time.time() + seconds
            with ThreadPoolExecutor(len(jobs)) as pool:
                asked = [pool.submit(run, work, memory, seed, until) for work, seed in jobs]
                for one in asked:
                    total.update(one.result())
        print(dict(total))
        assert not [name for name in total if name.startswith("error")], total
        assert total["writes"]
        assert total["reads"]
        assert not total[f"take {StreamState.FAILED}"] + total[f"take {StreamState.STALE}"]
        memory.close()  # what failed is written down by now
    with opened(folder) as memory:
        assert memory.stats().passive_failures == {}
        assert memory.check() == []


def converse(folder: Path, *, turns: int) -> None:
    """Run the README's loop; each answer of the stream is taken, whenever the turn begins."""
    draw = random.Random(7)
    states: Counter[str] = Counter()
    with opened(folder) as memory:
        for n in range(turns):
            came = ended(memory, "kitchen") if n % 4 else memory.take_prefetched("kitchen")
            states[came.state] += 1
            question = said(n) if n % 3 else f"What is at the {WORDS[n % 9]}?"
            context = memory.context(question, memories=came.memories, session="kitchen")
            memory.sync_turn(question, f"Noted {len(context.text)}.", session="kitchen")
            time.sleep(draw.random() * 0.02)  # a turn ends at any moment of what goes on behind it
        stream = memory.conversation(session="kitchen").stream()
        assert stream.stats.errors == 0, stream.last_error
        print(dict(states))
        lost = states[StreamState.STALE] + states[StreamState.FAILED]
        assert not lost, states
        assert states[StreamState.READY] > turns // 2
        assert memory.check() == []


def test_writers_and_readers_go_on_beside_each_other(tmp_path: Path) -> None:
    beside(tmp_path, writers=2, readers=2, seconds=1.0, processes=False)


def test_a_conversation_loses_nothing_that_came_by_itself(tmp_path: Path) -> None:
    converse(tmp_path, turns=40)


@pytest.mark.slow
@pytest.mark.parametrize("processes", [False, True])
def test_many_writers_and_readers_go_on_for_long(tmp_path: Path, processes: bool) -> None:
    beside(tmp_path, writers=8, readers=4, seconds=BESIDE_SECONDS, processes=processes)


@pytest.mark.slow
def test_a_long_conversation_loses_nothing_that_came_by_itself(tmp_path: Path) -> None:
    converse(tmp_path, turns=LOOP_TURNS)
