"""Run the work behind while nobody is being served, one step at a time.

A loop offers one step: a bounded piece of work that ends in one transaction, or none. So a step
that is cancelled has left nothing half done, and is taken up again when all is quiet. What fails
waits, longer each time, and holds up no other loop.

Two threads: one works, the other chooses, watches for somebody who acts in another process, and
ends what takes too long. So no signal and no watching ever interrupts a transaction.
"""

from __future__ import annotations

import logging
import queue
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from contextvars import copy_context
from dataclasses import dataclass, replace
from enum import StrEnum
from types import FrameType
from typing import Any, Final, Self

from factbook.errors import FactbookError, UsageError
from factbook.model.facts import Millis
from factbook.net.cancel import Cancel, Cancelled, cancelling, current
from factbook.net.http import one_line

_LOG = logging.getLogger(__name__)

# Ours, all of them: the seed says "periodic during idle".
IDLE_MS: Final = 2_000  # nobody has acted for so long: work may begin
STEP_MS: Final = 5 * 60_000  # a step that takes longer is ended, and counts as failed
BACKOFF_MS: Final = 5_000  # a loop waits so long after a failure; doubles with each
BACKOFF_MAX_MS: Final = 15 * 60_000
WATCH_S: Final = 0.02  # how often a running step is looked after
PAUSE_S: Final = 0.25  # how often loops are looked at when nothing is to be done
CLOSE_S: Final = 10.0  # how long `close` waits for a step that does not obey
DRAIN_STEPS: Final = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopResult:
    """What one step of a loop did."""

    did: int = 0  # pieces of work; 0 where nothing waited
    note: str = ""  # what was done, for whoever watches


@dataclass(frozen=True, slots=True, kw_only=True)
class Loop:
    """Work that comes again and again, in small steps."""

    name: str
    every_ms: int  # from a step that found nothing to the next
    run: Callable[[], LoopResult]  # one step; asks `cancel.check()` between two pieces
    enabled: bool = True
    last_resort: bool = False  # only when all loops before it have just found nothing
    max_ms: int = STEP_MS  # a step that takes longer is ended


class StepOutcome(StrEnum):
    """Say how a step ended."""

    DONE = "done"  # also where it found nothing to do
    CANCELLED = "cancelled"  # somebody acted, or the worker was closed
    FAILED = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopStep:
    """One step that was made."""

    loop: str
    outcome: StepOutcome
    did: int
    ms: float
    note: str = ""
    error: str = ""  # in one line; also of a step that failed while it was cancelled


@dataclass(slots=True, kw_only=True)
class LoopReport:
    """A loop, and how it has fared since the worker was made."""

    loop: Loop
    name: str
    enabled: bool
    steps: int = 0  # ended by themselves
    did: int = 0
    cancelled: int = 0
    failed: int = 0
    failing: int = 0  # failures since the last step that went well
    error: str = ""  # of the last failure, empty while all is well
    last_at: Millis | None = None  # when a step last ended by itself
    next_at: Millis = 0  # not before
    quiet: bool = False  # its last step found nothing

    def due(self, now: Millis) -> bool:
        """Tell whether its time has come; a wait that no rule gives is a clock that was set."""
        return not now < self.next_at <= now + max(self.loop.every_ms, BACKOFF_MAX_MS)


class Worker:
    """Runs loops in their order while nobody is being served."""

    def __init__(
        self,
        loops: Sequence[Loop],
        *,
        clock: Callable[[], Millis],
        idle_ms: int = IDLE_MS,
        foreground: Callable[[], object] | None = None,
        on_step: Callable[[LoopStep], object] | None = None,
        prepare: Callable[[], object] | None = None,
    ) -> None:
        """Compose a worker; nothing runs yet.

        The order of the loops is their precedence. `foreground` gives a value that changes when
        somebody acts, in whatever process; it is asked every 20 ms while a step runs and must be
        quick. `prepare` runs once before the first step and is part of none: an import cannot be
        cancelled. Raises UsageError for loops that cannot be run.
        """
        names = [loop.name for loop in loops]
        for loop in loops:
            if loop.every_ms <= 0 or loop.max_ms <= 0 or names.count(loop.name) > 1:
                raise UsageError(
                    detail=f"The loop {loop.name!r} cannot be run: give every loop a name of its"
                    " own, and an interval and a limit above 0 ms."
                )
        self._lines = [
            LoopReport(loop=loop, name=loop.name, enabled=loop.enabled) for loop in loops
        ]
        self._clock = clock
        self._idle_ms = idle_ms
        self._read = foreground
        self._seen: object = None  # what `foreground` gave last
        self._watching = False  # whether it gave anything yet
        self._watch_error = ""
        self._on_step = on_step
        self._prepare = prepare
        self._lock = threading.Lock()  # of what follows
        self._token: Cancel | None = None  # of the step that runs
        self._actions = 0  # that were noticed
        self._acted_at: Millis | None = None
        self._busy = 0  # how many are being served
        self._running = threading.Lock()  # held by whoever runs steps
        self._wake: queue.SimpleQueue[None] = queue.SimpleQueue()  # a signal may come in its midst
        self._closing = False
        self._runner: int | None = None  # the thread that chooses
        self._hands: ThreadPoolExecutor | None = None

    def foreground(self) -> None:
        """Say that somebody acts: what runs ends at once, and nothing begins for `idle_ms`."""
        with self._lock:
            self._actions += 1
            self._acted_at = self._clock()
            token = self._token
        if token is not None:
            token.cancel()

    @contextmanager
    def busy(self) -> Iterator[None]:
        """Say that somebody is being served while the context lasts."""
        with self._lock:
            self._busy += 1
        self.foreground()
        try:
            yield
        finally:
            with self._lock:
                self._busy -= 1
                self._acted_at = self._clock()

    def report(self) -> list[LoopReport]:
        """Return how each loop has fared, in their order."""
        return [replace(line) for line in self._lines]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def start(self) -> None:
        """Run in a thread of its own until `close`; raises UsageError where it runs already."""
        self._claim()
        threading.Thread(target=self._work, name="factbook-worker", daemon=True).start()

    def serve(self) -> None:
        """Run in this thread until `close`, SIGTERM or Ctrl-C; the worker is closed then.

        The step that runs is cancelled by them. A second signal acts as if this were not here.
        """
        self._claim()
        try:
            with self._signals():
                self._work()
        finally:
            self.close()

    def drain(self, *, limit: int = DRAIN_STEPS) -> list[LoopStep]:
        """Ask every loop now, and go on until none finds anything; return the steps.

        Loops whose time has not come are asked, too, and nobody's silence is waited for. It ends
        early where somebody acts, and after `limit` steps.
        """
        self._claim()
        steps: list[LoopStep] = []
        try:
            self._get_ready()
            self._look()
            actions = self._actions
            for line in self._lines:
                line.next_at = 0
            busy = True
            while busy and not self._stopped(actions):
                busy = False
                for step in self._round(actions):
                    steps.append(step)
                    if len(steps) == limit:
                        return steps
                    busy = busy or step.did > 0
        finally:
            self._release()
        return steps

    def close(self) -> None:
        """Cancel the step that runs, wait for its end, and run no more; again, nothing happens."""
        with self._lock:
            self._closing = True
            token = self._token
        if token is not None:
            token.cancel()
        self._wake.put(None)
        inside = threading.get_ident() == self._runner or (token is not None and current() is token)
        if not inside:
            if self._running.acquire(timeout=CLOSE_S):
                self._running.release()
            else:
                _LOG.warning("a step did not end within %g seconds of being cancelled", CLOSE_S)
        if self._hands is not None:
            self._hands.shutdown(wait=False)

    def _claim(self) -> None:
        if self._closing:
            raise UsageError(detail="The worker is closed; make another one.")
        if not self._running.acquire(blocking=False):
            raise UsageError(detail="The worker runs already; close it, or let it work.")
        self._runner = threading.get_ident()

    def _release(self) -> None:
        self._runner = None
        self._running.release()

    def _stopped(self, actions: int) -> bool:
        return self._closing or self._actions != actions

    @contextmanager
    def _signals(self) -> Iterator[None]:
        """Let SIGTERM and Ctrl-C end the work; a handler waits for nothing and takes no lock."""
        before: dict[int, Any] = {}  # what the signal module takes and gives back

        def restore() -> None:
            while before:
                signal.signal(*before.popitem())

        def stop(_signal: int, _frame: FrameType | None) -> None:
            restore()
            self._closing = True
            self._wake.put(None)

        if threading.current_thread() is threading.main_thread():
            for signals in (signal.SIGTERM, signal.SIGINT):
                if signal.getsignal(signals) is not signal.SIG_IGN:  # as nohup wants it
                    before[signals] = signal.signal(signals, stop)
        try:
            yield
        finally:
            restore()

    def _work(self) -> None:
        """Run rounds of steps while nobody is being served; the caller has claimed the worker."""
        self._runner = threading.get_ident()
        try:
            self._get_ready()
            while not self._closing:
                self._look()
                actions = self._actions
                did = [] if self._active() else [step.did for step in self._round(actions)]
                if not any(did) and not self._closing:
                    with suppress(queue.Empty):
                        self._wake.get(timeout=PAUSE_S)
        finally:
            self._release()

    def _get_ready(self) -> None:
        prepare, self._prepare = self._prepare, None
        if prepare is None or self._closing:
            return
        try:
            prepare()
        except Exception as error:  # noqa: BLE001 - the step that needs it says so, in its report
            _LOG.warning("the work behind could not be prepared: %s", error)

    def _active(self) -> bool:
        with self._lock:
            if self._busy:
                return True
            # an action in the future is of a clock that was set back since
            return (
                self._acted_at is not None and 0 <= self._clock() - self._acted_at < self._idle_ms
            )

    def _round(self, actions: int) -> Iterator[LoopStep]:
        """Make one step of each loop that is due; end where more than `actions` were noticed.

        A last resort waits until each loop before it found nothing when it was last asked.
        """
        quiet = True
        for line in self._lines:
            last_resort = line.loop.last_resort
            if line.enabled and line.due(self._clock()) and (quiet or not last_resort):
                step = self._step(line, actions)
                if step is None:
                    return
                yield step
            quiet = quiet and (last_resort or line.quiet or not line.enabled)

    def _look(self) -> None:
        if self._read is None:
            return
        try:
            value = self._read()
        except FactbookError as error:
            if str(error) != self._watch_error:
                _LOG.warning("whether somebody acts cannot be told: %s", error)
            self._watch_error = str(error)
            return
        self._watch_error = ""
        if self._watching and value != self._seen:
            self.foreground()
        self._seen, self._watching = value, True

    def _step(self, line: LoopReport, actions: int) -> LoopStep | None:
        """Make one step and take down how it ended; None where somebody acted before it began."""
        token = Cancel()
        with self._lock:
            if self._stopped(actions):
                return None
            self._token = token
        if self._hands is None:
            self._hands = ThreadPoolExecutor(1, thread_name_prefix="factbook-step")
        begun = time.monotonic()
        # in the context of the caller: a token that it obeys ends its steps, too
        work = self._hands.submit(copy_context().run, _obey, token, line.loop.run)
        try:
            overdue = self._attend(work, token, begun + line.loop.max_ms / 1000)
        finally:
            with self._lock:
                self._token = None
        ms = (time.monotonic() - begun) * 1000
        step = self._taken_down(line, work, ms, stopped=token.cancelled, overdue=overdue)
        if self._on_step is not None:
            self._on_step(step)
        return step

    def _attend(self, work: Future[LoopResult], token: Cancel, deadline: float) -> bool:
        """Wait for the end of a step; return whether it was ended for taking too long."""
        overdue = False
        try:
            while not wait([work], timeout=WATCH_S).done:
                self._look()
                if self._closing:
                    token.cancel()
                if time.monotonic() > deadline and not token.cancelled:
                    overdue = True
                    token.cancel()
        except BaseException:  # Ctrl-C in `drain`: no step goes on unattended
            token.cancel()
            wait([work])
            raise
        return overdue

    def _taken_down(
        self, line: LoopReport, work: Future[LoopResult], ms: float, *, stopped: bool, overdue: bool
    ) -> LoopStep:
        error, result = work.exception(), LoopResult()
        said = ""
        if error is None:
            result = work.result()
        elif overdue:
            said = f"it did not end within {line.loop.max_ms / 1000:g} seconds and was cancelled"
        elif isinstance(error, Exception):
            said = one_line(str(error) or type(error).__name__)
        elif not isinstance(error, Cancelled):
            raise error  # the process is to end
        if said:
            # an error that is none of ours is a fault in a loop: its traceback says where
            traced = None if isinstance(error, FactbookError | Cancelled) else error
            _LOG.warning("%s failed: %s", line.name, said, exc_info=traced)
        line.quiet = error is None and not result.did
        if error is not None and not overdue and (stopped or not said):
            outcome = StepOutcome.CANCELLED
            line.cancelled += 1
            line.next_at = 0
        else:
            outcome = StepOutcome.DONE if error is None else StepOutcome.FAILED
            line.error = said
            line.last_at = self._clock()
            pause = line.loop.every_ms
            if error is None:
                line.steps += 1
                line.did += result.did
                line.failing = 0
            else:
                line.failed += 1
                line.failing += 1
                pause = BACKOFF_MS << min(line.failing - 1, BACKOFF_MAX_MS.bit_length())
                pause = min(pause, BACKOFF_MAX_MS)
            line.next_at = line.last_at + pause
        if result.did:
            for other in self._lines:  # each may find what this one left, and this one more of it
                if not other.failing and not other.loop.last_resort:
                    other.next_at = 0
        return LoopStep(
            loop=line.name, outcome=outcome, did=result.did, ms=ms, note=result.note, error=said
        )


def moved(commit: Callable[[], int], read: Callable[[], object]) -> Callable[[], object]:
    """Return a reader of `read` that asks it only when `commit` has moved.

    With the number of a store's commits, a look at what did not change costs one row.
    """
    at: int | None = None
    value: object = None

    def look() -> object:
        nonlocal at, value
        now = commit()
        if now != at:
            value = read()
            at = now
        return value

    return look


def _obey(token: Cancel, run: Callable[[], LoopResult]) -> LoopResult:
    with cancelling(token):
        token.check()
        return run()
