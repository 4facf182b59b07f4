"""AsyncMemory: the same memory for an agent that lives in an event loop.

    async with AsyncMemory("agent.db") as memory:
        found = await memory.take_prefetched("chat")  # what came by itself; never waits
        hits = await memory.search_memory("the ferry", "facts")  # what the agent asks for
        await memory.sync_turn(question, answer, session="chat")

Every method is that of `Memory` or of one of its parts, run in a thread: `_asked`, `_told` and
`_worked` take its parameters, its defaults, its result and its text over, and a class that lacks
one is refused when it is made (`_mirrors`), so that nothing is written twice and nothing can drift.
Errors come through unchanged. Callbacks (`progress`, `on_phase`, `on_done`) are called in the
thread.

Four kinds of threads, each with a connection of its own to the file: a few for what a turn asks, as
many for what it writes, so that no question waits for who waits for another writer, one for long
work (reading logs, embedding, the night), so that no turn waits behind it, and one for iterations.

A cancelled await takes nothing back: what its thread has begun it ends, whole, and what had not
begun does not happen. An error that nobody waits for any more is logged.
"""

from __future__ import annotations

import asyncio
import contextvars
import functools
import inspect
import logging
import os
import threading
from collections.abc import AsyncGenerator, Callable, Collection, Coroutine, Generator
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice
from typing import TYPE_CHECKING, Any, Concatenate, Final, Generic, Literal, ParamSpec, TypeVar

from factbook.context import default_db
from factbook.errors import UsageError
from factbook.interests.interests import Interests
from factbook.interests.jobs import Background
from factbook.maintenance.erasure import Erasure
from factbook.maintenance.maintenance import Maintenance
from factbook.memory import Memory
from factbook.memory.conversation import Conversation
from factbook.memory.keyed import Keyed
from factbook.memory.review import Review
from factbook.memory.typed_memories import Typed
from factbook.model.facts import ME, Everyone, Millis, Trigger, whose
from factbook.pipelines.graph import Graph
from factbook.pipelines.sources import Sources
from factbook.recall.time_expressions import now_ms
from factbook.store.named import place_of
from factbook.store.rows import Mode

if TYPE_CHECKING:
    from factbook.embed import Embedder
    from factbook.extract.rules import RuleSet
    from factbook.language.reader.reading import Reader
    from factbook.llm import LLM
    from factbook.llm.config import ModelConfig
    from factbook.search_providers.base import SearchProvider
    from factbook.search_providers.config import SearchConfig

_log = logging.getLogger(__name__)

THREADS: Final = 4  # for what turns ask, and for what they write; most wait for disk or model
ROWS_AT_ONCE: Final = 256  # rows that an iteration fetches with one change of threads

Lane = Literal["asking", "telling", "work", "rows"]

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")  # what blocks: the memory, a conversation, a part


class _Awaited(Generic[T]):
    """What has the methods of something that blocks, awaited."""

    _memory: AsyncMemory

    def _blocking(self) -> T:
        raise NotImplementedError


class _Form:
    """Makes the awaited form of a method, which runs in one lane."""

    def __init__(self, lane: Lane) -> None:
        self._lane = lane

    def __call__(
        self, method: Callable[Concatenate[T, P], R]
    ) -> Callable[Concatenate[_Awaited[T], P], Coroutine[Any, Any, R]]:
        lane = self._lane

        @functools.wraps(method)
        async def awaited(self: _Awaited[T], /, *args: P.args, **kwargs: P.kwargs) -> R:
            pool = self._memory._lanes[lane]
            return await self._memory._run(pool, lambda: method(self._blocking(), *args, **kwargs))

        awaited.__qualname__ = f"Async{method.__qualname__}"
        return awaited


_asked = _Form("asking")  # of a method that a turn asks something with
_told = _Form("telling")  # that a turn writes something with
_worked = _Form("work")  # that may take long


def _mirrors(kind: type, *, but: Collection[str] = ()) -> Callable[[type[R]], type[R]]:
    """Refuse a class, when it is made, that lacks a public method of `kind` or has one too many.

    `but` are those that it has in another form, or not at all.
    """

    def checked(mirror: type[R]) -> type[R]:
        wanted = {name for name in vars(kind) if not name.startswith("_")} - set(but)
        wanted = {name for name in wanted if inspect.isfunction(getattr(kind, name))}
        given = {name for name in vars(mirror) if not name.startswith("_")} - set(but)
        if wanted != given:
            differ = ", ".join(sorted(wanted ^ given))
            raise TypeError(f"{mirror.__name__} and {kind.__name__} differ in {differ}")
        return mirror

    return checked


class _Part(_Awaited[T]):
    def __init__(self, memory: AsyncMemory, name: str) -> None:
        self._memory = memory
        self._name = name

    def _blocking(self) -> T:
        part: T = getattr(self._memory._blocking(), self._name)
        return part


@_mirrors(Interests)
class AsyncInterests(_Part[Interests]):
    """What an owner cares about, awaited."""

    search_web = _worked(Interests.search_web)
    learn = _told(Interests.learn)
    learned = _told(Interests.learned)
    like = _told(Interests.like)
    dislike = _told(Interests.dislike)
    unlike = _told(Interests.unlike)
    undislike = _told(Interests.undislike)
    entities = _asked(Interests.entities)
    entity = _asked(Interests.entity)
    find_entity = _asked(Interests.find_entity)
    named = _asked(Interests.named)
    topic = _asked(Interests.topic)
    delete_entity = _told(Interests.delete_entity)
    restore_entity = _told(Interests.restore_entity)
    unmerge_entity = _told(Interests.unmerge_entity)
    schedule = _told(Interests.schedule)
    schedules = _asked(Interests.schedules)
    unschedule = _told(Interests.unschedule)
    mute = _told(Interests.mute)
    react = _told(Interests.react)
    interest_scores = _asked(Interests.interest_scores)
    is_interested = _asked(Interests.is_interested)
    ranked = _asked(Interests.ranked)
    pages = _asked(Interests.pages)
    preferences = _asked(Interests.preferences)
    engagements = _asked(Interests.engagements)
    notify_state = _asked(Interests.notify_state)
    searches = _asked(Interests.searches)
    learn_prompts = _asked(Interests.learn_prompts)
    notices = _asked(Interests.notices)
    knowledge = _asked(Interests.knowledge)
    search_for = _worked(Interests.search_for)
    note_action = _told(Interests.note_action)


@_mirrors(Background)
class AsyncBackground(_Part[Background]):
    """The work behind, awaited."""

    plan_learning = _worked(Background.plan_learning)
    run_schedules = _worked(Background.run_schedules)
    run_searches = _worked(Background.run_searches)
    retry_searches = _told(Background.retry_searches)
    run_extraction = _worked(Background.run_extraction)
    run_enrichment = _worked(Background.run_enrichment)
    clean = _worked(Background.clean)
    notifier = _asked(Background.notifier)
    work = _worked(Background.work)
    waiting_searches = _asked(Background.waiting_searches)
    loops = _asked(Background.loops)
    worker = _asked(Background.worker)


@_mirrors(Keyed)
class AsyncKeyed(_Part[Keyed]):
    """The keyed facts, awaited."""

    tell = _told(Keyed.tell)
    ask = _asked(Keyed.ask)
    plan = _asked(Keyed.plan)
    apply_facts = _told(Keyed.apply_facts)
    apply_quoted = _told(Keyed.apply_quoted)
    execute_plan = _told(Keyed.execute_plan)
    retry_told = _worked(Keyed.retry_told)
    keyed_facts = _asked(Keyed.keyed_facts)
    key_history = _asked(Keyed.key_history)
    quotes_of = _asked(Keyed.quotes_of)


@_mirrors(Graph)
class AsyncGraph(_Part[Graph]):
    """The graph that an agent keeps, awaited."""

    read = _asked(Graph.read)
    search = _asked(Graph.search)
    open = _asked(Graph.open)
    create_entities = _told(Graph.create_entities)
    create_relations = _told(Graph.create_relations)
    add_observations = _told(Graph.add_observations)
    join = _told(Graph.join)
    delete_entities = _told(Graph.delete_entities)
    delete_observations = _told(Graph.delete_observations)
    delete_relations = _told(Graph.delete_relations)


@_mirrors(Typed)
class AsyncTyped(_Part[Typed]):
    """The typed memories, awaited."""

    extract_typed = _worked(Typed.extract_typed)
    keep_verdict = _told(Typed.keep_verdict)
    extract_commands = _worked(Typed.extract_commands)
    extract_turns = _worked(Typed.extract_turns)
    turns_waiting = _asked(Typed.turns_waiting)
    envelope = _asked(Typed.envelope)
    rejection_summary = _asked(Typed.rejection_summary)
    record_state = _asked(Typed.record_state)
    rebuild_record = _told(Typed.rebuild_record)


@_mirrors(Review)
class AsyncReview(_Part[Review]):
    """What waits for a person's word, awaited."""

    questions = _asked(Review.questions)
    settle = _told(Review.settle)
    proposals = _asked(Review.proposals)
    proposal = _asked(Review.proposal)
    write_rule = _told(Review.write_rule)
    read_stored = _worked(Review.read_stored)
    disputed = _asked(Review.disputed)
    decide = _told(Review.decide)
    remember = _told(Review.remember)
    note = _told(Review.note)
    forget = _told(Review.forget)
    correct = _told(Review.correct)
    feedback = _told(Review.feedback)
    pin = _told(Review.pin)
    unmerge = _told(Review.unmerge)


@_mirrors(Sources, but=("facts",))
class AsyncSources(_Part[Sources]):
    """What the memory was read from, awaited."""

    discover = _worked(Sources.discover)
    read_rule_files = _worked(Sources.read_rule_files)
    record = _asked(Sources.record)
    episode = _asked(Sources.episode)
    count = _asked(Sources.count)
    understood = _asked(Sources.understood)
    spelled = _asked(Sources.spelled)
    predicates = _asked(Sources.predicates)
    directives = _asked(Sources.directives)
    fact = _asked(Sources.fact)
    evidence = _asked(Sources.evidence)
    episodes = _asked(Sources.episodes)
    sessions = _asked(Sources.sessions)
    session = _asked(Sources.session)
    timeline = _asked(Sources.timeline)
    rejections = _asked(Sources.rejections)


@_mirrors(Maintenance)
class AsyncMaintenance(_Part[Maintenance]):
    """What looks after what is there, awaited."""

    embed = _worked(Maintenance.embed)
    reembed = _worked(Maintenance.reembed)
    set_aside = _told(Maintenance.set_aside)
    retry_aside = _told(Maintenance.retry_aside)
    waiting = _asked(Maintenance.waiting)
    outdated = _asked(Maintenance.outdated)
    consolidate = _worked(Maintenance.consolidate)
    undo = _worked(Maintenance.undo)
    read_by_others = _asked(Maintenance.read_by_others)
    reread = _worked(Maintenance.reread)
    runs = _asked(Maintenance.runs)
    rule_uses = _asked(Maintenance.rule_uses)
    has_others = _asked(Maintenance.has_others)
    model_tasks = _asked(Maintenance.model_tasks)
    retry_tasks = _told(Maintenance.retry_tasks)
    cost = _asked(Maintenance.cost)
    told_secrets = _asked(Maintenance.told_secrets)
    take_back_secret = _told(Maintenance.take_back_secret)


@_mirrors(Erasure)
class AsyncErasure(_Part[Erasure]):
    """What erases for good, awaited."""

    erase_fact = _worked(Erasure.erase_fact)
    erase_episode = _worked(Erasure.erase_episode)
    erase_source = _worked(Erasure.erase_source)
    erase_rejection = _worked(Erasure.erase_rejection)
    erase_entity = _worked(Erasure.erase_entity)
    erase_owner = _worked(Erasure.erase_owner)
    erase_row = _worked(Erasure.erase_row)
    erasures = _asked(Erasure.erasures)
    allow_again = _told(Erasure.allow_again)
    finish_erasing = _worked(Erasure.finish_erasing)
    find_residues = _worked(Erasure.find_residues)
    standing = _asked(Erasure.standing)


@_mirrors(Conversation)
class AsyncConversation(_Awaited[Conversation]):
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

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def _blocking(self) -> Conversation:
        return self._memory._blocking().conversation(
            owner=self.owner, session=self.session, share=self._share
        )

    close = _told(Conversation.close)
    add_turn = _told(Conversation.add_turn)
    add_turns = _told(Conversation.add_turns)
    sync_turn = _told(Conversation.sync_turn)
    remember = _told(Conversation.remember)
    tell = _told(Conversation.tell)
    search_memory = _asked(Conversation.search_memory)
    recall = _asked(Conversation.recall)
    query_facts = _asked(Conversation.query_facts)
    ask = _asked(Conversation.ask)
    stream = _asked(Conversation.stream)
    take_prefetched = _asked(Conversation.take_prefetched)
    prefetch = _asked(Conversation.prefetch)
    queue_prefetch = _asked(Conversation.queue_prefetch)
    called_to_mind = _asked(Conversation.called_to_mind)
    counted = _asked(Conversation.counted)
    context = _asked(Conversation.context)
    record_shown = _told(Conversation.record_shown)


@_mirrors(Memory, but=("close", "conversation", "export", "blocking"))
class AsyncMemory(_Awaited[Memory]):
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
        reader: Reader | None = None,
        llm: LLM | None = None,
        model: ModelConfig | Literal["configured"] | None = "configured",
        search: SearchProvider | None = None,
        search_config: SearchConfig | Literal["configured"] | None = "configured",
        notify_on: Collection[Trigger] | None = None,
        typed_store: str | None = None,
        tenant: str = "",
        actor: str = "python",
        threads: int = THREADS,
    ) -> None:
        """Take what `Memory` takes; the file is opened by `async with`, or by the first call.

        `threads` is how many calls of turns run at once that ask, and how many that write.
        """
        if threads < 1:
            raise UsageError(detail=f"threads is {threads}; give 1 or more.")
        self.path = place_of(path) if path is not None else default_db()
        self._open = functools.partial(
            Memory,
            self.path,
            mode=mode,
            clock=clock,
            embedder=embedder,
            redact=redact,
            key_file=key_file,
            rules=rules,
            reader=reader,
            llm=llm,
            model=model,
            search=search,
            search_config=search_config,
            notify_on=notify_on,
            typed_store=typed_store,
            tenant=tenant,
            actor=actor,
        )
        self._held: Memory | None = None
        self._memory = self
        self.interests = AsyncInterests(self, "interests")
        self.background = AsyncBackground(self, "background")
        self.keyed = AsyncKeyed(self, "keyed")
        self.graph = AsyncGraph(self, "graph")
        self.typed = AsyncTyped(self, "typed")
        self.review = AsyncReview(self, "review")
        self.sources = AsyncSources(self, "sources")
        self.maintenance = AsyncMaintenance(self, "maintenance")
        self.erasure = AsyncErasure(self, "erasure")
        self._opening = threading.Lock()
        sizes: dict[Lane, int] = {"asking": threads, "telling": threads, "work": 1, "rows": 1}
        self._lanes = {
            lane: ThreadPoolExecutor(size, thread_name_prefix=f"factbook-{lane}")
            for lane, size in sizes.items()
        }
        self._iterations: set[Generator[dict[str, object], None, None]] = set()
        self._ending: Future[None] | None = None  # set as soon as it is being closed

    async def __aenter__(self) -> AsyncMemory:
        try:
            await self._run(self._lanes["asking"], self._blocking)
        except BaseException:
            await self.close()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """End what was asked for before, then the streams, and close the file.

        A second call waits for the first. Cancelled, it goes on behind.
        """
        if self._ending is None:
            work = self._lanes["work"]
            self._ending = work.submit(self._end)
            work.shutdown(wait=False)
        await asyncio.shield(asyncio.wrap_future(self._ending))

    @property
    def blocking(self) -> Memory:
        """The memory itself, whose methods block: for code that runs in a thread anyway.

        Raises UsageError before it is opened and after it is closed.
        """
        if self._held is None or self._ending is not None:
            state = "not open yet" if self._ending is None else "closed"
            raise UsageError(detail=f"the memory in {self.path} is {state}; use `async with`.")
        return self._held

    def conversation(
        self, *, owner: str | Everyone = ME, session: str = "", share: float = 1.0
    ) -> AsyncConversation:
        """Bind an owner and a session; see `Memory.conversation`. Nothing is awaited for it."""
        return AsyncConversation(self, owner=owner, session=session, share=share)

    def _blocking(self) -> Memory:
        with self._opening:
            if self._held is None:
                self._held = self._open()
            return self._held

    def _end(self) -> None:
        """Wait for what has begun and close the file; runs in the thread of long work."""
        for rows in list(self._iterations):
            # In its thread: a connection is used by one at a time.
            self._lanes["rows"].submit(rows.close)
        for lane, pool in self._lanes.items():
            if lane != "work":
                pool.shutdown(wait=True)
        if self._held is not None:
            self._held.close()

    async def _run(self, pool: ThreadPoolExecutor, work: Callable[[], R]) -> R:
        if self._ending is not None:
            raise UsageError(detail=f"the memory in {self.path} is closed; open another one.")
        asked = pool.submit(contextvars.copy_context().run, work)
        try:
            return await asyncio.wrap_future(asked)
        except asyncio.CancelledError:
            asked.add_done_callback(_tell)
            raise

    reopen = _worked(Memory.reopen)
    ingest = _worked(Memory.ingest)
    read_directives = _worked(Memory.read_directives)
    add_turn = _told(Memory.add_turn)
    sync_turn = _told(Memory.sync_turn)
    remember = _told(Memory.remember)
    correct = _told(Memory.correct)
    forget = _told(Memory.forget)
    tell = _told(Memory.tell)
    embed = _worked(Memory.embed)
    consolidate = _worked(Memory.consolidate)
    recall = _asked(Memory.recall)
    search_memory = _asked(Memory.search_memory)
    take_prefetched = _asked(Memory.take_prefetched)
    context = _asked(Memory.context)
    ask = _asked(Memory.ask)
    query_facts = _asked(Memory.query_facts)
    explain = _asked(Memory.explain)
    stats = _asked(Memory.stats)
    sql = _asked(Memory.sql)
    check = _worked(Memory.check)
    import_ = _worked(Memory.import_)

    async def export(
        self, *, owner: str | Everyone = ME
    ) -> AsyncGenerator[dict[str, object], None]:
        """Iterate over everything as plain records: sources, episodes, facts, evidence, history."""
        rows, lane = self._exported(owner), self._lanes["rows"]
        self._iterations.add(rows)
        try:
            while batch := await self._run(lane, lambda: list(islice(rows, ROWS_AT_ONCE))):
                for row in batch:
                    yield row
        finally:
            self._iterations.discard(rows)
            if self._ending is None:
                lane.submit(rows.close)  # after the batch that may still be under way

    def _exported(self, owner: str | Everyone) -> Generator[dict[str, object], None, None]:
        yield from self._blocking().export(owner=owner)


def _tell(asked: Future[Any]) -> None:
    error = None if asked.cancelled() else asked.exception()
    if error is not None:
        _log.warning("a cancelled call failed: %s: %s", type(error).__name__, error)
