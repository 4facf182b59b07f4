"""AsyncMemory: the same memory for an agent that lives in an event loop.

    async with AsyncMemory("agent.db") as memory:
        found = await memory.take("chat")                       # what came by itself; never waits
        hits = await memory.search_memory("the ferry", "facts")  # what the agent asks for
        await memory.sync_turn(question, answer, session="chat")

Every method is that of `Memory`, run in a thread: `_asked` and `_worked` take its parameters, its
defaults, its result and its text over, so that nothing is written twice and nothing can drift.
Errors come through unchanged. Callbacks (`progress`, `on_phase`, `on_done`) are called in the
thread.

Three kinds of threads, each with a connection of its own to the file: a few for what a turn needs,
one for long work (reading logs, embedding, the night), so that no turn waits behind it, and one for
iterations.

A cancelled await takes nothing back: what its thread has begun it ends, whole, and what had not
begun does not happen. An error that nobody waits for any more is logged.

Knows: threads, futures, `Memory`, `Conversation`. Does not know: what any method does.
"""

from __future__ import annotations

import asyncio
import contextvars
import functools
import logging
import os
import threading
from collections.abc import AsyncGenerator, Callable, Collection, Coroutine, Generator
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Concatenate, Final, Literal, ParamSpec, TypeVar

from factbook import policy
from factbook.conversation import Conversation
from factbook.errors import UsageError
from factbook.memory import Memory, default_db
from factbook.model import ME, Everyone, Millis, Trigger, whose
from factbook.recall.when import now_ms
from factbook.store.sqlite import Mode

if TYPE_CHECKING:
    from factbook.embed import Embedder
    from factbook.extract.rules import RuleSet
    from factbook.llm import LLM
    from factbook.llm.config import ModelConfig
    from factbook.searching.base import SearchProvider
    from factbook.searching.config import SearchConfig

__all__ = ["AsyncConversation", "AsyncMemory"]

_log = logging.getLogger(__name__)

THREADS: Final = 4  # for what a turn needs; most of a call waits for the disk or the model
ROWS_AT_ONCE: Final = 256  # rows that an iteration fetches with one change of threads

P = ParamSpec("P")
R = TypeVar("R")


def _asked(
    method: Callable[Concatenate[Memory, P], R],
) -> Callable[Concatenate[AsyncMemory, P], Coroutine[Any, Any, R]]:
    """Return the awaited form of a method that a turn needs."""

    @functools.wraps(method)
    async def awaited(self: AsyncMemory, /, *args: P.args, **kwargs: P.kwargs) -> R:
        return await self._run(self._turns, lambda: method(self._opened(), *args, **kwargs))

    awaited.__qualname__ = f"AsyncMemory.{method.__name__}"
    return awaited


def _worked(
    method: Callable[Concatenate[Memory, P], R],
) -> Callable[Concatenate[AsyncMemory, P], Coroutine[Any, Any, R]]:
    """Return the awaited form of a method that may take long."""

    @functools.wraps(method)
    async def awaited(self: AsyncMemory, /, *args: P.args, **kwargs: P.kwargs) -> R:
        return await self._run(self._work, lambda: method(self._opened(), *args, **kwargs))

    awaited.__qualname__ = f"AsyncMemory.{method.__name__}"
    return awaited


def _said(
    method: Callable[Concatenate[Conversation, P], R],
) -> Callable[Concatenate[AsyncConversation, P], Coroutine[Any, Any, R]]:
    """Return the awaited form of a method of a conversation."""

    @functools.wraps(method)
    async def awaited(self: AsyncConversation, /, *args: P.args, **kwargs: P.kwargs) -> R:
        return await self._memory._run(
            self._memory._turns, lambda: method(self._bound(), *args, **kwargs)
        )

    awaited.__qualname__ = f"AsyncConversation.{method.__name__}"
    return awaited


class AsyncConversation:
    """One conversation of one owner, awaited; `AsyncMemory.conversation` makes it."""

    def __init__(
        self, memory: AsyncMemory, *, owner: str | Everyone, session: str, share: float
    ) -> None:
        """Bind an owner and a session; see `Memory.conversation`."""
        self.owner = whose(owner)
        self.session = session
        self._memory = memory
        self._share = share

    async def __aenter__(self) -> AsyncConversation:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    def _bound(self) -> Conversation:
        return self._memory._opened().conversation(
            owner=self.owner, session=self.session, share=self._share
        )

    close = _said(Conversation.close)
    add_turn = _said(Conversation.add_turn)
    add_turns = _said(Conversation.add_turns)
    sync_turn = _said(Conversation.sync_turn)
    remember = _said(Conversation.remember)
    tell = _said(Conversation.tell)
    search_memory = _said(Conversation.search_memory)
    recall = _said(Conversation.recall)
    query_facts = _said(Conversation.query_facts)
    ask = _said(Conversation.ask)
    stream = _said(Conversation.stream)
    take = _said(Conversation.take)
    prefetch = _said(Conversation.prefetch)
    queue_prefetch = _said(Conversation.queue_prefetch)
    context = _said(Conversation.context)


class AsyncMemory:
    """One tenant's memory in one file, awaited.

    Any task of any event loop may call it. Use it as an async context manager, or await `close`.
    """

    def __init__(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        mode: Mode = "create",
        clock: Callable[[], Millis] = now_ms,
        embedder: Embedder | None = None,
        redact: bool = True,
        key_file: str | os.PathLike[str] | None = None,
        rules: RuleSet | None = None,
        llm: LLM | None = None,
        model: ModelConfig | Literal["configured"] | None = "configured",
        search: SearchProvider | None = None,
        search_config: SearchConfig | Literal["configured"] | None = "configured",
        notify_on: Collection[Trigger] = policy.NOTIFY_ON,
        actor: str = "python",
        threads: int = THREADS,
    ) -> None:
        """Take what `Memory` takes; the file is opened by `async with`, or by the first call.

        `threads` is how many calls of turns run at once.
        """
        if threads < 1:
            raise UsageError(detail=f"threads is {threads}; give 1 or more.")
        self.path = Path(path) if path is not None else default_db()
        self._open = functools.partial(
            Memory,
            self.path,
            mode=mode,
            clock=clock,
            embedder=embedder,
            redact=redact,
            key_file=key_file,
            rules=rules,
            llm=llm,
            model=model,
            search=search,
            search_config=search_config,
            notify_on=notify_on,
            actor=actor,
        )
        self._memory: Memory | None = None
        self._opening = threading.Lock()
        self._turns = ThreadPoolExecutor(threads, thread_name_prefix="factbook-turn")
        self._work = ThreadPoolExecutor(1, thread_name_prefix="factbook-work")
        self._rows = ThreadPoolExecutor(1, thread_name_prefix="factbook-rows")
        self._iterations: set[Generator[dict[str, object], None, None]] = set()
        self._ending: Future[None] | None = None  # set as soon as it is being closed

    async def __aenter__(self) -> AsyncMemory:
        """Open the file; raises what `Memory` raises."""
        try:
            await self._run(self._turns, self._opened)
        except BaseException:
            await self.close()
            raise
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """End what was asked for before, then the streams and the worker, and close the file.

        A second call waits for the first. Cancelled, it goes on behind.
        """
        if self._ending is None:
            self._ending = self._work.submit(self._end)
            self._work.shutdown(wait=False)
        await asyncio.shield(asyncio.wrap_future(self._ending))

    @property
    def blocking(self) -> Memory:
        """The memory itself, whose methods block: for code that runs in a thread anyway.

        Raises UsageError before it is opened and after it is closed.
        """
        if self._memory is None or self._ending is not None:
            state = "not open yet" if self._ending is None else "closed"
            raise UsageError(detail=f"the memory in {self.path} is {state}; use `async with`.")
        return self._memory

    def conversation(
        self, *, owner: str | Everyone = ME, session: str = "", share: float = 1.0
    ) -> AsyncConversation:
        """Bind an owner and a session; see `Memory.conversation`. Nothing is awaited for it."""
        return AsyncConversation(self, owner=owner, session=session, share=share)

    # --- threads --------------------------------------------------------------------------------

    def _opened(self) -> Memory:
        with self._opening:
            if self._memory is None:
                self._memory = self._open()
            return self._memory

    def _end(self) -> None:
        """Wait for what has begun and close the file; runs in the thread of long work."""
        for rows in list(self._iterations):
            self._rows.submit(rows.close)  # in its thread: a connection is used by one at a time
        self._turns.shutdown(wait=True)
        self._rows.shutdown(wait=True)
        if self._memory is not None:
            self._memory.close()

    async def _run(self, pool: ThreadPoolExecutor, work: Callable[[], R]) -> R:
        if self._ending is not None:
            raise UsageError(detail=f"the memory in {self.path} is closed; open another one.")
        asked = pool.submit(contextvars.copy_context().run, work)
        try:
            return await asyncio.wrap_future(asked)
        except asyncio.CancelledError:
            asked.add_done_callback(_tell)
            raise

    # --- putting in -----------------------------------------------------------------------------

    discover = _worked(Memory.discover)
    ingest = _worked(Memory.ingest)
    record = _asked(Memory.record)
    add_turn = _asked(Memory.add_turn)
    add_turns = _asked(Memory.add_turns)
    remember = _asked(Memory.remember)

    # --- asking ---------------------------------------------------------------------------------

    recall = _asked(Memory.recall)
    search_memory = _asked(Memory.search_memory)
    query_facts = _asked(Memory.query_facts)
    explain = _asked(Memory.explain)
    episode = _asked(Memory.episode)
    sessions = _asked(Memory.sessions)
    timeline = _asked(Memory.timeline)
    sql = _asked(Memory.sql)

    # --- turns ----------------------------------------------------------------------------------

    take = _asked(Memory.take)
    passive_failures = _asked(Memory.passive_failures)
    prefetch = _asked(Memory.prefetch)
    queue_prefetch = _asked(Memory.queue_prefetch)
    sync_turn = _asked(Memory.sync_turn)
    context = _asked(Memory.context)

    # --- embedding ------------------------------------------------------------------------------

    waiting = _asked(Memory.waiting)
    embed = _worked(Memory.embed)
    start_worker = _asked(Memory.start_worker)
    reembed = _worked(Memory.reembed)
    set_aside = _asked(Memory.set_aside)
    retry_aside = _asked(Memory.retry_aside)
    retry_searches = _asked(Memory.retry_searches)

    # --- consolidation --------------------------------------------------------------------------

    consolidate = _worked(Memory.consolidate)
    undo = _worked(Memory.undo)
    runs = _asked(Memory.runs)
    questions = _asked(Memory.questions)
    settle = _asked(Memory.settle)
    proposals = _asked(Memory.proposals)
    disputed = _asked(Memory.disputed)
    decide = _asked(Memory.decide)

    # --- a person's word ------------------------------------------------------------------------

    correct = _asked(Memory.correct)
    feedback = _asked(Memory.feedback)
    pin = _asked(Memory.pin)
    unmerge = _asked(Memory.unmerge)

    # --- a language model -----------------------------------------------------------------------

    open_model = _asked(Memory.open_model)
    extract_typed = _worked(Memory.extract_typed)
    extract_commands = _worked(Memory.extract_commands)
    keep_verdict = _asked(Memory.keep_verdict)
    tell = _asked(Memory.tell)
    ask = _asked(Memory.ask)
    plan = _asked(Memory.plan)
    apply_facts = _asked(Memory.apply_facts)
    execute_plan = _asked(Memory.execute_plan)
    retry_told = _worked(Memory.retry_told)
    keyed_facts = _asked(Memory.keyed_facts)
    key_history = _asked(Memory.key_history)
    quotes_of = _asked(Memory.quotes_of)
    model_tasks = _asked(Memory.model_tasks)
    retry_tasks = _asked(Memory.retry_tasks)
    rejection_summary = _asked(Memory.rejection_summary)
    cost = _asked(Memory.cost)

    # --- what its owner cares about -------------------------------------------------------------

    learn = _asked(Memory.learn)
    learned = _asked(Memory.learned)
    like = _asked(Memory.like)
    dislike = _asked(Memory.dislike)
    unlike = _asked(Memory.unlike)
    undislike = _asked(Memory.undislike)
    preferences = _asked(Memory.preferences)
    entities = _asked(Memory.entities)
    entity = _asked(Memory.entity)
    find_entity = _asked(Memory.find_entity)
    delete_entity = _asked(Memory.delete_entity)
    restore_entity = _asked(Memory.restore_entity)
    unmerge_entity = _asked(Memory.unmerge_entity)
    interests = _asked(Memory.interests)
    interest_scores = _asked(Memory.interest_scores)
    schedule = _asked(Memory.schedule)
    schedules = _asked(Memory.schedules)
    unschedule = _asked(Memory.unschedule)
    mute = _asked(Memory.mute)
    react = _asked(Memory.react)
    notices = _asked(Memory.notices)
    note_action = _asked(Memory.note_action)
    cares = _asked(Memory.cares)
    now = _asked(Memory.now)
    clean = _worked(Memory.clean)
    loops = _asked(Memory.loops)
    background = _asked(Memory.background)
    notifier = _asked(Memory.notifier)
    channels = _asked(Memory.channels)
    knowledge = _asked(Memory.knowledge)
    search_web = _worked(Memory.search_web)
    search_for = _worked(Memory.search_for)
    plan_learning = _worked(Memory.plan_learning)
    run_schedules = _worked(Memory.run_schedules)
    run_searches = _worked(Memory.run_searches)
    run_extraction = _worked(Memory.run_extraction)
    run_enrichment = _worked(Memory.run_enrichment)
    work = _worked(Memory.work)

    # --- erasing for good -----------------------------------------------------------------------

    erase_fact = _worked(Memory.erase_fact)
    erase_episode = _worked(Memory.erase_episode)
    erase_source = _worked(Memory.erase_source)
    erase_rejection = _worked(Memory.erase_rejection)
    erase_entity = _worked(Memory.erase_entity)
    erase_owner = _worked(Memory.erase_owner)
    erase_row = _worked(Memory.erase_row)
    standing = _asked(Memory.standing)
    erasures = _asked(Memory.erasures)
    allow_again = _asked(Memory.allow_again)
    finish_erasing = _worked(Memory.finish_erasing)
    sight = _worked(Memory.sight)
    drop_copies = _asked(Memory.drop_copies)

    # --- looking after --------------------------------------------------------------------------

    rule_uses = _asked(Memory.rule_uses)
    stats = _asked(Memory.stats)
    rejections = _asked(Memory.rejections)
    check = _worked(Memory.check)
    reopen = _worked(Memory.reopen)

    async def export(
        self, *, owner: str | Everyone = ME
    ) -> AsyncGenerator[dict[str, object], None]:
        """Iterate over everything as plain records: sources, episodes, facts, evidence, history."""
        rows = self._exported(owner)
        self._iterations.add(rows)
        try:
            while batch := await self._run(self._rows, lambda: list(islice(rows, ROWS_AT_ONCE))):
                for one in batch:
                    yield one
        finally:
            self._iterations.discard(rows)
            if self._ending is None:
                self._rows.submit(rows.close)  # after the batch that may still be under way

    def _exported(self, owner: str | Everyone) -> Generator[dict[str, object], None, None]:
        yield from self._opened().export(owner=owner)


def _tell(asked: Future[Any]) -> None:
    """Log the error of a call whose caller has gone."""
    error = None if asked.cancelled() else asked.exception()
    if error is not None:
        _log.warning("a cancelled call failed: %s: %s", type(error).__name__, error)
