"""The worker: which step is made when, what ends it, and what it leaves behind.

Seed 003's background loops: "periodic during idle", the learn agent only when nothing else waits,
the cleaner once a day; and as was learned, a foreground message cancels background work.
"""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from factbook.apply.apply import apply
from factbook.errors import StoreError, UsageError
from factbook.interests.scheduler import (
    BACKOFF_MAX_MS,
    BACKOFF_MS,
    Loop,
    LoopResult,
    LoopStep,
    StepOutcome,
    Worker,
    moved,
)
from factbook.model.facts import At, SourceState, Trigger
from factbook.model.interest_ops import NoteAction
from factbook.model.ops import MarkProgress, RecordEpisode, RecordSource
from factbook.net import cancel
from factbook.net.cancel import Cancel, Cancelled, cancelling, current
from factbook.store.derived.counts import row_counts
from factbook.store.derived.notices import notify_state
from factbook.store.kinds import MARK, Mark
from factbook.store.port import marked
from factbook.store.sqlite import SQLiteStore
from factbook.testing import DAY, FrozenClock, sample_episode, sample_source

MINUTE = 60_000
SOON_S = 5.0  # what a busy machine may need


class Work:
    """A loop with a pile of work: each step takes one piece off."""

    def __init__(self, name: str, log: list[str], *, waiting: int = 0) -> None:
        self.name = name
        self.log = log
        self.waiting = waiting
        self.fails: BaseException | None = None

    def run(self) -> LoopResult:
        self.log.append(self.name)
        if self.fails is not None:
            raise self.fails
        if not self.waiting:
            return LoopResult()
        self.waiting -= 1
        return LoopResult(did=1, note=f"{self.name} did one")

    def loop(self, every_ms: int = MINUTE, **given: object) -> Loop:
        return Loop(name=self.name, every_ms=every_ms, run=self.run, **given)  # type: ignore[arg-type]


@pytest.fixture
def clock() -> FrozenClock:
    return FrozenClock()


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SQLiteStore]:
    opened = SQLiteStore(tmp_path / "f.db")
    yield opened
    assert opened.check() == []
    opened.close()


def now_ms() -> int:
    return time.time_ns() // 1_000_000


def until(said: Callable[[], object]) -> None:
    deadline = time.monotonic() + SOON_S
    while not said():
        assert time.monotonic() < deadline, "it did not come to that in time"
        time.sleep(0.005)


def seen(steps: list[LoopStep]) -> list[tuple[str, str, int]]:
    return [(one.loop, one.outcome.value, one.did) for one in steps]


# --- what is done when ----------------------------------------------------------------------------


def test_each_round_makes_one_step_of_each_loop_in_their_order(clock: FrozenClock) -> None:
    log: list[str] = []
    loops = [
        Work("searches", log, waiting=2).loop(),
        Work("extraction", log, waiting=3).loop(),
        Work("notices", log).loop(),
    ]
    with Worker(loops, clock=clock) as worker:
        steps = worker.drain()
    assert log[:6] == ["searches", "extraction", "notices"] * 2
    assert [one.loop for one in steps] == log
    assert [sum(one.did for one in steps if one.loop == name) for name in log[:3]] == [2, 3, 0]
    assert steps[0].note == "searches did one"


def test_a_step_that_did_something_has_idle_loops_asked_again(clock: FrozenClock) -> None:
    """An enrichment leaves a search, the search a text to extract: all in one go."""
    log: list[str] = []
    searches, extraction = Work("searches", log), Work("extraction", log)

    def enrich() -> LoopResult:
        log.append("enrichment")
        searches.waiting += 1
        return LoopResult(did=1)

    def search() -> LoopResult:
        result = searches.run()
        extraction.waiting += result.did
        return result

    loops = [
        Loop(name="searches", every_ms=MINUTE, run=search),
        extraction.loop(),
        Loop(name="enrichment", every_ms=10 * MINUTE, run=enrich, last_resort=True),
    ]
    with Worker(loops, clock=clock) as worker:
        done = [one for one in worker.drain() if one.did]
        assert [one.loop for one in done] == ["enrichment", "searches", "extraction"]
        assert log.count("enrichment") == 1, "its pace holds, whatever it left to others"


def test_enrichment_waits_until_nothing_else_does(clock: FrozenClock) -> None:
    """Seed 003, process 3: "idle and has no unprocessed content"."""
    log: list[str] = []
    extraction = Work("extraction", log, waiting=3)
    cleaner = Work("cleaner", log)
    loops = [
        extraction.loop(),
        Work("enrichment", log, waiting=1).loop(last_resort=True),
        cleaner.loop(),
    ]
    with Worker(loops, clock=clock) as worker:
        worker.drain()
    first = log.index("enrichment")
    assert log[:first].count("extraction") == 4, "asked once more, and it had nothing"
    assert log.count("cleaner") > 1, "what stands behind the last resort does not wait for it"


def test_enrichment_waits_for_a_loop_that_fails(
    clock: FrozenClock,
) -> None:
    log: list[str] = []
    broken, enrichment = Work("extraction", log), Work("enrichment", log, waiting=9)
    broken.fails = StoreError(detail="the disk is slow")
    loops = [broken.loop(), enrichment.loop(last_resort=True)]
    with Worker(loops, clock=clock) as worker:
        worker.drain()
        worker.drain()
        assert "enrichment" not in log
        broken.fails = None
        worker.drain()
        assert "enrichment" in log


def test_each_loop_can_be_off(clock: FrozenClock) -> None:
    log: list[str] = []
    names = ["searches", "extraction", "embedding", "notices", "enrichment", "cleaner"]
    for off in names:
        log.clear()
        loops = [Work(name, log, waiting=1).loop(enabled=name != off) for name in names]
        with Worker(loops, clock=clock) as worker:
            worker.drain()
            assert set(log) == set(names) - {off}
            report = {one.name: one for one in worker.report()}
            assert not report[off].enabled
            assert report[off].steps == 0


@pytest.mark.parametrize("given", [{"every_ms": 0}, {"max_ms": 0}])
def test_loops_that_cannot_be_run_are_refused(clock: FrozenClock, given: dict[str, int]) -> None:
    work = Work("notices", [])
    with pytest.raises(UsageError, match="'notices' cannot be run"):
        Worker([work.loop(**given)], clock=clock)
    with pytest.raises(UsageError, match="a name of its own"):
        Worker([work.loop(), work.loop()], clock=clock)


def test_what_steps_need_is_prepared_once_before_the_first_and_is_part_of_none(
    clock: FrozenClock, caplog: pytest.LogCaptureFixture
) -> None:
    log: list[str] = []

    def prepare() -> None:
        assert current() is None
        log.append("prepared")
        raise UsageError(detail="the certificates cannot be read")

    with Worker([Work("one", log).loop()], clock=clock, prepare=prepare) as worker:
        assert [step.outcome for step in worker.drain()] == [StepOutcome.DONE]
        worker.drain()
    assert log == ["prepared", "one", "one"]
    assert caplog.messages == [
        "the work behind could not be prepared: the certificates cannot be read"
    ]


def test_a_drain_ends_after_its_limit(clock: FrozenClock) -> None:
    endless = Loop(name="endless", every_ms=1, run=lambda: LoopResult(did=1))
    with Worker([endless], clock=clock) as worker:
        assert len(worker.drain(limit=7)) == 7


# --- failures -------------------------------------------------------------------------------------


def test_a_loop_that_fails_is_logged_backs_off_and_holds_up_no_other(
    clock: FrozenClock, caplog: pytest.LogCaptureFixture
) -> None:
    log: list[str] = []
    broken, good = Work("searches", log), Work("notices", log, waiting=2)
    broken.fails = StoreError(detail="the search provider\nis away")
    with Worker([broken.loop(), good.loop()], clock=clock) as worker:
        with caplog.at_level(logging.WARNING):
            steps = worker.drain()
        assert seen(steps)[:2] == [("searches", "failed", 0), ("notices", "done", 1)]
        assert log.count("searches") == 1, "not again before its time"
        assert "searches failed: the search provider is away" in caplog.text
        assert "Traceback" not in caplog.text
        waits = []
        for _ in range(12):
            worker.drain()
            report = worker.report()[0]
            waits.append(report.next_at - clock())
        assert waits[:3] == [2 * BACKOFF_MS, 4 * BACKOFF_MS, 8 * BACKOFF_MS]
        assert waits[-1] == BACKOFF_MAX_MS
        assert (report.failed, report.failing, report.steps) == (13, 13, 0)
        assert report.error == "the search provider is away"
        broken.fails = None
        worker.drain()
        report = worker.report()[0]
        assert (report.failed, report.failing, report.error) == (13, 0, "")


def test_a_fault_in_a_loop_is_logged_with_its_traceback_and_ends_nothing(
    clock: FrozenClock, caplog: pytest.LogCaptureFixture
) -> None:
    log: list[str] = []
    broken = Work("extraction", log)
    broken.fails = ZeroDivisionError("division by zero")
    with Worker([broken.loop(), Work("notices", log).loop()], clock=clock) as worker:
        worker.drain()
        worker.drain()
    assert log == ["extraction", "notices"] * 2
    assert "Traceback" in caplog.text
    assert "in run" in caplog.text


def test_a_step_that_takes_too_long_is_ended_and_counts_as_failed(clock: FrozenClock) -> None:
    def hang() -> LoopResult:
        token = cancel.current()
        assert token is not None
        token.wait(60)
        return LoopResult()

    with Worker([Loop(name="slow", every_ms=1, run=hang, max_ms=50)], clock=clock) as worker:
        (step,) = worker.drain()
        assert step.outcome is StepOutcome.FAILED
        assert step.error == "it did not end within 0.05 seconds and was cancelled"
        assert worker.report()[0].failing == 1


def test_a_clock_that_is_set_back_holds_up_nothing(clock: FrozenClock) -> None:
    log: list[str] = []
    with Worker([Work("notices", log).loop()], clock=clock, idle_ms=10_000) as worker:
        worker.foreground()
        clock.advance(days=-400)
        worker.start()
        until(lambda: log)
        until(lambda: worker.report()[0].steps == 1)
        clock.advance(days=-400)
        until(lambda: len(log) == 2)


# --- cancelling -----------------------------------------------------------------------------------


class Writing:
    """Writes episodes in one transaction, slowly, and asks between two whether to stop."""

    def __init__(self, store: SQLiteStore, *, count: int) -> None:
        self.store = store
        self.count = count
        self.begun = threading.Event()
        self.hold = True

    def run(self) -> LoopResult:
        if marked(self.store, "written").commit:
            return LoopResult()
        token = cancel.current()
        assert token is not None
        with self.store.writing(now=1) as writer:
            (source_id,) = writer.put_sources([SourceState(source=sample_source())])
            for n in range(self.count):
                token.check()
                one = sample_episode(n)
                writer.add_episodes([(source_id, one)])
                if n == self.count // 2:
                    self.begun.set()
                    if self.hold:
                        token.wait(60)
            writer.put(MARK, [Mark("written", 1, 0)])
        return LoopResult(did=self.count)


def test_an_action_ends_the_step_at_once_and_nothing_half_done_is_left(
    store: SQLiteStore, clock: FrozenClock
) -> None:
    writing = Writing(store, count=20)
    worker = Worker([Loop(name="writing", every_ms=MINUTE, run=writing.run)], clock=clock)
    steps: list[LoopStep] = []
    drain = threading.Thread(target=lambda: steps.extend(worker.drain()))
    drain.start()
    assert writing.begun.wait(SOON_S)
    worker.foreground()
    drain.join(SOON_S)
    assert seen(steps) == [("writing", "cancelled", 0)]
    assert row_counts(store)["episodes"] == 0
    report = worker.report()[0]
    assert (report.cancelled, report.failed, report.failing, report.error) == (1, 0, 0, "")
    writing.hold = False
    assert seen(worker.drain())[0] == ("writing", "done", 20), "taken up again"
    assert row_counts(store)["episodes"] == 20
    worker.close()


def test_a_step_that_had_ended_when_it_was_cancelled_counts_as_done(clock: FrozenClock) -> None:
    def run() -> LoopResult:
        worker.foreground()
        return LoopResult(did=1)

    worker = Worker([Loop(name="quick", every_ms=MINUTE, run=run)], clock=clock)
    assert seen(worker.drain()) == [("quick", "done", 1)]
    worker.close()


def test_an_error_of_a_step_that_is_cancelled_is_said_and_not_held_against_the_loop(
    clock: FrozenClock, caplog: pytest.LogCaptureFixture
) -> None:
    def run() -> LoopResult:
        worker.foreground()
        raise StoreError(detail="the connection was interrupted")

    worker = Worker([Loop(name="reading", every_ms=MINUTE, run=run)], clock=clock)
    (step,) = worker.drain()
    assert (step.outcome, step.error) == (StepOutcome.CANCELLED, "the connection was interrupted")
    assert "the connection was interrupted" in caplog.text
    assert worker.report()[0].failing == 0
    worker.close()


def test_an_action_between_two_steps_lets_no_other_begin(clock: FrozenClock) -> None:
    log: list[str] = []
    loops = [Work("searches", log, waiting=1).loop(), Work("notices", log, waiting=1).loop()]
    worker = Worker(loops, clock=clock, on_step=lambda _: worker.foreground())
    worker.drain()
    assert log == ["searches"]
    worker.close()


def acting(path: Path) -> str:
    """Return a program that does something as the owner, in a process of its own."""
    return textwrap.dedent(
        f"""
        from pathlib import Path
        from factbook.apply.apply import apply
        from factbook.model.facts import Trigger
        from factbook.model.interest_ops import (NoteAction)
        from factbook.store.sqlite import SQLiteStore
        store = SQLiteStore(Path({str(path)!r}))
        input()
        apply(store, [NoteAction(owner="me")], trigger=Trigger.USER_MESSAGE, actor="t", now=77)
        """
    )


def test_an_action_in_another_process_ends_the_step_too(
    store: SQLiteStore, clock: FrozenClock
) -> None:
    begun, ended = threading.Event(), []

    def run() -> LoopResult:
        begun.set()
        token = cancel.current()
        assert token is not None
        try:
            token.wait(60)
        except Cancelled:
            ended.append(time.monotonic())
            raise
        return LoopResult()

    apply(
        store,
        [RecordSource(source=sample_source()), RecordEpisode(episode=sample_episode(1))],
        trigger=Trigger.SESSION_LOG,
        actor="test",
        now=1,
    )
    watch = moved(lambda: store.head().commit, lambda: notify_state(store, "me").engaged_at)
    worker = Worker([Loop(name="hanging", every_ms=MINUTE, run=run)], clock=clock, foreground=watch)
    steps: list[LoopStep] = []
    program = [sys.executable, "-c", acting(store.path)]
    with worker, subprocess.Popen(program, stdin=subprocess.PIPE, text=True) as other:
        drain = threading.Thread(target=lambda: steps.extend(worker.drain()))
        drain.start()
        assert begun.wait(SOON_S)
        # a write that is nobody's action ends nothing
        op = MarkProgress(name="elsewhere", at=At(1))
        apply(store, [op], trigger=Trigger.UPKEEP, actor="test", now=2)
        time.sleep(0.1)
        assert not ended
        other.communicate("go\n", timeout=SOON_S * 4)
        assert other.returncode == 0
        drain.join(SOON_S)
    assert seen(steps) == [("hanging", "cancelled", 0)]
    assert notify_state(store, "me").engaged_at == 77


def test_a_store_is_asked_for_actions_only_when_something_was_written(store: SQLiteStore) -> None:
    asked: list[int] = []

    def newest() -> int | None:
        asked.append(1)
        return notify_state(store, "me").engaged_at

    look = moved(lambda: store.head().commit, newest)
    assert [look(), look(), look()] == [None] * 3
    assert len(asked) == 1
    apply(store, [NoteAction(owner="me")], trigger=Trigger.COMMAND, actor="test", now=5)
    assert [look(), look()] == [5, 5]
    assert len(asked) == 2


def test_a_watch_that_fails_is_said_once_and_ends_nothing(
    clock: FrozenClock, caplog: pytest.LogCaptureFixture
) -> None:
    def broken() -> object:
        raise StoreError(detail="the file is away")

    log: list[str] = []
    with Worker([Work("notices", log).loop()], clock=clock, foreground=broken) as worker:
        worker.drain()
        worker.drain()
    assert log == ["notices"] * 2
    assert caplog.text.count("whether somebody acts cannot be told: the file is away") == 1


def test_a_token_of_the_caller_ends_its_drain(clock: FrozenClock) -> None:
    token = Cancel()

    def run() -> LoopResult:
        token.cancel()
        cancel.check()
        return LoopResult()

    worker = Worker([Loop(name="asked", every_ms=1, run=run)], clock=clock)
    with worker, cancelling(token):
        assert seen(worker.drain()) == [("asked", "cancelled", 0)]


# --- its life -------------------------------------------------------------------------------------


def test_a_thread_works_only_while_nobody_is_served() -> None:
    log: list[str] = []
    worker = Worker([Work("notices", log).loop(every_ms=1)], clock=now_ms, idle_ms=300)
    worker.foreground()
    begun = time.monotonic()
    worker.start()
    until(lambda: log)
    assert time.monotonic() - begun > 0.25
    with worker.busy():
        log.clear()
        time.sleep(0.6)
        assert log == []
    until(lambda: log)
    worker.close()


def test_being_served_counts_for_as_many_as_are(clock: FrozenClock) -> None:
    worker = Worker([], clock=clock)
    with worker.busy():
        with worker.busy():
            pass
        clock.advance(days=1)
        assert worker._active()
    assert worker._active()
    clock.advance(days=1)
    assert not worker._active()


def test_a_step_that_runs_ends_when_somebody_is_served() -> None:
    begun, ended = threading.Event(), threading.Event()

    def run() -> LoopResult:
        begun.set()
        try:
            while True:
                cancel.check()
        finally:
            ended.set()

    worker = Worker([Loop(name="computing", every_ms=1, run=run)], clock=now_ms, idle_ms=60_000)
    worker.start()
    assert begun.wait(SOON_S)
    with worker.busy():
        assert ended.wait(SOON_S)
    worker.close()
    assert worker.report()[0].cancelled == 1


def test_closing_cancels_what_runs_and_can_be_done_again(clock: FrozenClock) -> None:
    begun = threading.Event()

    def run() -> LoopResult:
        begun.set()
        token = cancel.current()
        assert token is not None
        token.wait(60)
        return LoopResult()

    worker = Worker([Loop(name="hanging", every_ms=1, run=run)], clock=clock)
    worker.close()
    worker = Worker([Loop(name="hanging", every_ms=1, run=run)], clock=clock)
    worker.start()
    assert begun.wait(SOON_S)
    with pytest.raises(UsageError, match="runs already"):
        worker.drain()
    with pytest.raises(UsageError, match="runs already"):
        worker.start()
    before = time.monotonic()
    worker.close()
    worker.close()
    assert time.monotonic() - before < SOON_S
    with pytest.raises(UsageError, match="is closed"):
        worker.start()
    until(lambda: not any(one.name.startswith("factbook-") for one in threading.enumerate()))


def test_a_step_may_close_its_worker(clock: FrozenClock) -> None:
    def run() -> LoopResult:
        worker.close()
        cancel.check()
        return LoopResult()

    worker = Worker([Loop(name="last", every_ms=1, run=run)], clock=clock)
    begun = time.monotonic()
    assert seen(worker.drain()) == [("last", "cancelled", 0)]
    assert time.monotonic() - begun < SOON_S


SERVING = """
    import sys, time
    from factbook.net import cancel
    from factbook.interests.scheduler import Loop, LoopResult, Worker

    def run():
        print("begun", flush=True)
        try:
            token = cancel.current()
            {wait}
        except cancel.Cancelled:
            print("cancelled", flush=True)
            raise
        return LoopResult()

    worker = Worker(
        [Loop(name="hanging", every_ms=60_000, run=run)], clock=lambda: time.time_ns() // 1_000_000
    )
    worker.serve()
    print("ended", worker.report()[0].cancelled)
"""


def serving(wait: str = "token.wait(60)") -> subprocess.Popen[str]:
    program = textwrap.dedent(SERVING.format(wait=wait))
    process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "begun\n"
    return process


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_a_served_worker_cleanly(number: signal.Signals) -> None:
    with serving() as process:
        process.send_signal(number)
        out, _ = process.communicate(timeout=SOON_S * 2)
    assert out == "cancelled\nended 1\n"
    assert process.returncode == 0


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_a_signal_ends_a_worker_that_waits_for_work() -> None:
    with serving("return LoopResult(did=1)") as process:
        time.sleep(0.1)
        process.send_signal(signal.SIGTERM)
        out, _ = process.communicate(timeout=SOON_S * 2)
    assert out.endswith("ended 0\n")
    assert process.returncode == 0


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_a_second_signal_ends_a_worker_whose_step_does_not_obey() -> None:
    with serving("time.sleep(30)") as process:
        process.send_signal(signal.SIGTERM)
        time.sleep(0.3)
        process.send_signal(signal.SIGTERM)
        assert process.wait(SOON_S) == -signal.SIGTERM


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_signals_are_given_back(clock: FrozenClock) -> None:
    before = [signal.getsignal(one) for one in (signal.SIGTERM, signal.SIGINT)]
    worker = Worker([], clock=clock)
    threading.Timer(0.1, worker.close).start()
    worker.serve()
    assert [signal.getsignal(one) for one in (signal.SIGTERM, signal.SIGINT)] == before


def test_a_fault_of_the_watcher_is_not_swallowed(clock: FrozenClock) -> None:
    def on_step(_: LoopStep) -> None:
        raise RuntimeError("the screen is gone")

    worker = Worker([Work("notices", []).loop()], clock=clock, on_step=on_step)
    with pytest.raises(RuntimeError, match="the screen is gone"):
        worker.serve()
    with pytest.raises(UsageError, match="is closed"):
        worker.drain()


def test_idle_work_of_a_day_is_done_once_a_day(clock: FrozenClock) -> None:
    """Seed 003, loop 3: once per 24 hours, whatever else happens in between."""
    log: list[str] = []
    last: list[int] = []

    def clean() -> LoopResult:  # keeps its day in the store; here in a list
        if last and clock() - last[-1] < DAY:
            return LoopResult()
        last.append(clock())
        return LoopResult(did=1)

    loops = [
        Work("extraction", log, waiting=50).loop(),
        Loop(name="cleaner", every_ms=10 * MINUTE, run=clean),
    ]
    with Worker(loops, clock=clock) as worker:
        for _ in range(24 * 3):
            worker.drain()
            clock.advance(days=1 / 24)
    assert len(last) == 3
