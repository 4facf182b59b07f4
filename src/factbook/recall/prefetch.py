"""Bring memories by themselves, one turn late, and never let a turn wait for them.

After turn N has ended, one background thread searches with what turns N-1 and N say; what it finds
is cached for turn N+1. Seen from the turn that uses it, N, that is the seed's "N-2 and N-1".

    stream = PassiveStream(
        modes.stream, still=modes.still, generation=lambda: store.head().memory, clock=now_ms
    )
    found = stream.take_prefetched()  # at once: what is ready for the turn that begins
    ...                                   # the turn, with found.memories in its context
    stream.sync_turn([question, answer])  # the turn has ended: search for the next one

What was found for an older turn is dropped and counted. Where memory was written to since the
search began, what was found is looked up again (`still`), and what no longer holds is left out; so
nothing stale is shown, and nothing is lost because others write. Newer work replaces older work
that has not begun. A search or a look that fails is kept in `last_error`, logged once per kind and
counted; the turn sees the state `failed` and no exception.
"""

from __future__ import annotations

import hashlib
import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from factbook.errors import FactbookError, UsageError
from factbook.model.facts import Hit, Millis, Role
from factbook.recall.plan import Turn

_log = logging.getLogger(__name__)

RECENT_TURNS: Final = 2  # origins 001.3: get_recent_turns(count=2)
KEPT_TURNS: Final = 8  # ended turns that are remembered
MESSAGE_CHARS: Final = 4_000  # of one message that is searched with: its beginning and its end


class StreamState(StrEnum):
    """Say what the stream has for a turn."""

    READY = "ready"  # memories are there
    EMPTY = "empty"  # the search found nothing, or nothing that still holds
    LATE = "late"  # the search has not ended
    STALE = "stale"  # what was found is of an older turn
    FAILED = "failed"  # the search, or the look at what it found, raised an error
    NONE = "none"  # nothing was searched for: the first turn
    OFF = "off"  # the stream is switched off


@dataclass(frozen=True, slots=True, kw_only=True)
class Streamed:
    """What the stream has for one turn."""

    state: StreamState
    turn: int  # the turn it is for
    memories: tuple[Hit, ...] = ()
    generation: int | None = None  # of memory, as of which the memories hold or a later one
    ready_at: Millis | None = None
    latency_ms: float | None = None  # from the end of the turn before until it was ready
    error: str = ""  # of a search that failed


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamStats:
    """Count what became of the turns and of the searches."""

    queued: int = 0  # searches asked for
    searched: int = 0  # searches that ended
    replaced: int = 0  # asked for, and dropped for newer ones before they began
    ready: int = 0  # turns that got memories
    empty: int = 0  # turns for which nothing was found that still held
    late: int = 0  # turns that began before the search had ended
    stale: int = 0  # turns whose memories were of an older turn
    failed: int = 0  # turns whose search failed, or that could not look
    errors: int = 0  # searches that failed, and turns that could not look
    none: int = 0  # turns without a search
    off: int = 0  # turns while the stream was off


@dataclass(frozen=True, slots=True, kw_only=True)
class _Work:
    turn: int  # the turn that it is for
    messages: tuple[Turn, ...]
    began: float  # when the turn before ended, as the timer has it


def in_stream(session: str, share: float) -> bool:
    """Tell whether a session is in the arm with the stream, for `share` (0 to 1) of all sessions.

    The same session is always in the same arm. Raises UsageError for another share.
    """
    if not 0.0 <= share <= 1.0:
        raise UsageError(detail=f"the share of sessions is {share}; give a number from 0 to 1.")
    digest = hashlib.blake2b(session.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest) < share * 2**64


class PassiveStream:
    """Search behind the conversation; every method returns at once but those that say otherwise.

    Any thread may call it. Close it, or use it as a context manager.
    """

    def __init__(
        self,
        search: Callable[[Sequence[Turn]], Sequence[Hit]],
        *,
        still: Callable[[Sequence[Hit]], Sequence[Hit]],
        generation: Callable[[], int],
        clock: Callable[[], Millis],
        enabled: bool = True,
        prepare: Callable[[], object] | None = None,
        settle: Callable[[PassiveStream], object] | None = None,
        release: Callable[[], object] | None = None,
        failed: Callable[[BaseException], object] | None = None,
    ) -> None:
        """Take what the stream works with.

        `search` gets the messages of the last two turns, oldest first; it runs in the stream's
        thread only, one call at a time. `prepare` is called there before each search and may write.
        `settle` is called there when an answer is ready and nothing newer waits, and when the
        stream is closed; it does what nobody should wait for. `release` is called there last, when
        the stream is closed. `failed` is told the error of each search that failed, and of each
        turn that could not look, in the thread where it did. `generation` moves with every write
        that may make what was found untrue; where it has moved, `still` returns what holds now of
        what was found. Both are asked in the turn: they must be cheap and wait for no writer. One
        that is not `enabled` searches nothing (`in_stream` chooses the arms of an A/B test).
        """
        self._search = search
        self._still = still
        self._prepare = prepare
        self._settle = settle
        self._unsettled = False  # a search has begun since `settle` was last called
        self._release = release
        self._on_failure = failed
        self._generation = generation
        self._clock = clock
        self._enabled = enabled
        self._lock = threading.RLock()  # a search may end while its start still holds it
        self._pool: ThreadPoolExecutor | None = None
        self._futures: set[Future[Streamed]] = set()
        self._closed = False
        self._running: _Work | None = None
        self._waiting: _Work | None = None
        self._ended_turns = 0
        self._turns: deque[tuple[Turn, ...]] = deque(maxlen=KEPT_TURNS)
        self._cached: Streamed | None = None
        self._taken: Streamed | None = None
        self._last_error: BaseException | None = None
        self._logged: set[str] = set()
        self._counts: dict[str, int] = {}

    def __enter__(self) -> PassiveStream:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def enabled(self) -> bool:
        """Tell whether memories are streamed."""
        return self._enabled

    @property
    def last_error(self) -> BaseException | None:
        """The error of the newest search that ended, or None where it ended well."""
        return self._last_error

    @property
    def stats(self) -> StreamStats:
        """The counts until now."""
        with self._lock:
            return StreamStats(**self._counts)

    @property
    def searching(self) -> bool:
        """Tell whether a search runs or waits."""
        return self._running is not None or self._waiting is not None

    def get_recent_turns(self, count: int = RECENT_TURNS) -> list[Turn]:
        """Return the messages of the last `count` turns that ended, oldest first."""
        with self._lock:
            ended = list(self._turns)[-count:] if count > 0 else []
        return [message for messages in ended for message in messages]

    def take_prefetched(self) -> Streamed:
        """Return what is there for the turn after the last that ended.

        Never waits for a search. Asked again for the same turn, it gives what has come since then;
        the turn is counted once, by the best that it got.
        """
        generation, failed = 0, None
        if self._enabled:
            try:
                generation = self._generation()
            except FactbookError as error:  # the store is locked or gone: a turn must go on
                self._count_failure(error)
                failed = error
        with self._lock:
            turn = self._next_turn()
            streamed = self._failure(turn, failed) if failed else self._look(turn, generation)
            before = self._taken if self._taken and self._taken.turn == turn else None
            if before is None:
                self._count(streamed.state)
            elif before.state is not streamed.state:
                self._count(before.state, -1)
                self._count(streamed.state)
            self._taken = streamed
            return streamed

    def _look(self, turn: int, generation: int) -> Streamed:
        if not self._enabled:
            return Streamed(state=StreamState.OFF, turn=turn)
        cached = self._cached
        if cached is not None and cached.turn == turn:
            if cached.state is StreamState.READY and cached.generation != generation:
                return self._looked_up(cached, generation)
            return cached
        if any(work is not None and work.turn == turn for work in (self._running, self._waiting)):
            return Streamed(state=StreamState.LATE, turn=turn)
        if cached is not None:
            return Streamed(state=StreamState.STALE, turn=turn, generation=cached.generation)
        return Streamed(state=StreamState.NONE, turn=turn)

    def _looked_up(self, cached: Streamed, generation: int) -> Streamed:
        """Return what still holds of what was found; what does not is not kept either."""
        try:
            memories = tuple(self._still(cached.memories))
        except FactbookError as error:  # as where a turn begins; the next look may succeed
            self._count_failure(error)
            return self._failure(cached.turn, error)
        state = StreamState.READY if memories else StreamState.EMPTY
        # Read before the look: a write between the two is looked for again, never missed.
        streamed = replace(cached, state=state, memories=memories, generation=generation)
        self._cached = streamed
        return streamed

    def sync_turn(self, turns: Turn | Sequence[Turn]) -> bool:
        """Say that a turn has ended with these messages, and queue the search for the next one.

        Returns whether a search was queued: not for turns without any text.
        """
        messages = (turns,) if isinstance(turns, Turn) else tuple(turns)
        began = time.perf_counter()
        with self._lock:
            self._ended_turns += 1
            self._turns.append(messages)
            recent = tuple(_bounded(turn) for turn in self.get_recent_turns() if turn.text.strip())
            if not recent:
                self._cached = None  # it was for another turn
                return False
            return self._queue(_Work(turn=self._next_turn(), messages=recent, began=began))

    def handle_turn(self, user_input: str, respond: Callable[[str, Streamed], str]) -> str:
        """Run a whole turn: take what is ready, let `respond` answer with it, and sync the turn.

        Blocks as long as `respond` does, and raises what it raises; then nothing is queued.
        """
        answer = respond(user_input, self.take_prefetched())
        self.sync_turn(
            [
                Turn(role=Role.USER, text=user_input, at=self._clock()),
                Turn(role=Role.ASSISTANT, text=answer, at=self._clock()),
            ]
        )
        return answer

    def queue_prefetch(self, query: str) -> bool:
        """Queue a search with a text of one's own for the next turn; return whether it was."""
        began = time.perf_counter()
        with self._lock:
            if not query.strip():
                return False
            message = _bounded(Turn(role=Role.USER, text=query))
            return self._queue(_Work(turn=self._next_turn(), messages=(message,), began=began))

    def retrieve_memories_async(self, turns: Sequence[Turn]) -> Future[Streamed]:
        """Search with these messages in the stream's thread; the future has what was found.

        What `sync_turn` does without the cache: for callers with a loop of their own. Raises
        UsageError after `close`.
        """
        with self._lock:
            if self._closed:
                raise UsageError(detail="the passive stream is closed; open another one.")
            messages = tuple(_bounded(turn) for turn in turns if turn.text.strip())
            work = _Work(turn=self._next_turn(), messages=messages, began=time.perf_counter())
            future = self._submit(work)
            future.add_done_callback(lambda _: self._settle_soon())
            return future

    def cache_for_next_turn(self, streamed: Streamed) -> None:
        """Keep what was found for the turn that it is for; newer replaces older, never reversed."""
        with self._lock:
            if self._cached is None or self._cached.turn <= streamed.turn:
                self._cached = streamed

    def close(self) -> None:
        """Drop what has not begun, wait for the search that has, and end the thread."""
        with self._lock:
            self._closed = True
            self._waiting = None
            pool, self._pool = self._pool, None
            waiting = list(self._futures)
        if pool is not None:
            for future in waiting:
                future.cancel()  # one that has begun is not stopped by this
            if self._unsettled:
                self._settle_in(pool)
            released = pool.submit(self._release) if self._release is not None else None
            pool.shutdown(wait=True)
            if released is not None:
                released.result()

    def _next_turn(self) -> int:
        return self._ended_turns + 1

    def _queue(self, work: _Work) -> bool:
        """Start a search, or let it wait for the one that runs; the lock is held."""
        if not self._enabled or self._closed:
            return False
        self._count("queued")
        if self._running is not None:
            if self._waiting is not None:
                self._count("replaced")
            self._waiting = work
            return True
        self._start(work)
        return True

    def _start(self, work: _Work) -> None:
        self._running = work
        self._submit(work).add_done_callback(lambda done: self._ended(work, done))

    def _submit(self, work: _Work) -> Future[Streamed]:
        if self._pool is None:
            self._pool = ThreadPoolExecutor(1, thread_name_prefix="factbook-stream")
        self._unsettled = self._settle is not None
        future = self._pool.submit(self._retrieve, work)
        self._futures.add(future)
        future.add_done_callback(self._futures.discard)
        return future

    def _retrieve(self, work: _Work) -> Streamed:
        """Search, as of a generation that was read before: what is written meanwhile moves it."""
        try:
            if self._prepare is not None:
                self._prepare()
            generation = self._generation()
            memories = tuple(self._search(work.messages))
        except BaseException as error:
            self._count_failure(error)
            raise
        return Streamed(
            state=StreamState.READY if memories else StreamState.EMPTY,
            turn=work.turn,
            memories=memories,
            generation=generation,
            ready_at=self._clock(),
            latency_ms=(time.perf_counter() - work.began) * 1000,
        )

    def _ended(self, work: _Work, done: Future[Streamed]) -> None:
        """Cache what a search found and start the one that waits; runs in the stream's thread."""
        error = None if done.cancelled() else done.exception()
        streamed = None
        if error is not None:
            streamed = self._failure(work.turn, error)
        elif not done.cancelled():
            streamed = done.result()
        with self._lock:
            self._running = None
            if streamed is not None:
                self._count("searched")
                if error is None:
                    self._last_error = None
                if self._cached is None or self._cached.turn <= streamed.turn:
                    self._cached = streamed
            waiting, self._waiting = self._waiting, None
            if waiting is not None and not self._closed:
                self._start(waiting)
            else:
                self._settle_soon()

    def _settle_soon(self) -> None:
        """Let the thread settle what searches have left to do, unless it has more of them."""
        with self._lock:
            if self._unsettled and self._pool is not None and not self.searching:
                self._settle_in(self._pool)

    def _settle_in(self, pool: ThreadPoolExecutor) -> None:
        self._unsettled = False
        if self._settle is not None:
            pool.submit(self._settle, self).add_done_callback(self._settled_ended)

    def _settled_ended(self, done: Future[object]) -> None:
        """Log why settling failed: the answer is there, and what was left waits for the next."""
        error = done.exception()
        if error is not None and self._new_trouble(error):
            _log.warning("passive recall left work undone: %s: %s", type(error).__name__, error)

    def _failure(self, turn: int, error: BaseException) -> Streamed:
        said = f"{type(error).__name__}: {error}"
        with self._lock:
            self._last_error = error
        if self._new_trouble(error):
            _log.warning("passive recall failed and brings nothing: %s", said)
        return Streamed(state=StreamState.FAILED, turn=turn, error=said, ready_at=self._clock())

    def _count_failure(self, error: BaseException) -> None:
        with self._lock:
            self._count("errors")
        if self._on_failure is not None:
            self._on_failure(error)

    def _new_trouble(self, error: BaseException) -> bool:
        """Tell whether an error was not seen before, so that each kind is logged once."""
        said = f"{type(error).__name__}: {error}"
        with self._lock:
            new = said not in self._logged
            self._logged.add(said)
        return new

    def _count(self, name: str, by: int = 1) -> None:
        self._counts[str(name)] = self._counts.get(str(name), 0) + by


def _bounded(turn: Turn) -> Turn:
    """Return a message of bounded length: people paste a page and ask below it."""
    text = turn.text
    if len(text) <= MESSAGE_CHARS:
        return turn
    half = MESSAGE_CHARS // 2
    head = text[:half].rpartition(" ")[0] or text[:half]
    tail = text[-half:].partition(" ")[2] or text[-half:]
    return replace(turn, text=f"{head}\n{tail}")
