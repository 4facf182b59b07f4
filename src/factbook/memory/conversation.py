"""One conversation of one owner: keep its turns, recall by itself and on request, build context.

    with memory.conversation(owner="ann", session="monday") as talk:
        found = talk.take_prefetched()  # what came to mind meanwhile; never waits
        context = talk.context(question, memories=found.memories)
        talk.sync_turn(question, answer)               # the turn has ended: look ahead

Owner and session are bound once, so that no call can forget whose memory it reads. Everything that
belongs to the conversation alone is held here: its stream, and what it was shown.
"""

from __future__ import annotations

import re
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import Future, wait
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Final
from weakref import WeakValueDictionary

from factbook import policy
from factbook.context import look_again
from factbook.embed.minilm import token_counter
from factbook.errors import StoreLocked, UsageError
from factbook.language.questions import ends_asking
from factbook.maintenance.embedding import EmbeddingQueue
from factbook.maintenance.metrics import PASSIVE_FAILED
from factbook.memory.past import as_known
from factbook.memory.shown import ShownNotes
from factbook.model.facts import (
    ME,
    Everyone,
    Fact,
    FactKind,
    Hit,
    Millis,
    Receipt,
    Role,
    Trigger,
    Trust,
    one_owner,
    whose,
)
from factbook.model.frame import own_share
from factbook.model.interest_ops import NoteAction
from factbook.model.ops import Count, RecordInjection, RecordUse
from factbook.recall.budget import ToolResult, build_context
from factbook.recall.counting import told
from factbook.recall.diversity import diversity_score
from factbook.recall.executor import Beside
from factbook.recall.hits import episode_hit, fact_hit
from factbook.recall.measured import may_count
from factbook.recall.modes import TwoModes
from factbook.recall.plan import Turn
from factbook.recall.prefetch import PassiveStream, StreamState, in_stream
from factbook.recall.understood import computed, window_asked
from factbook.recall.usage_feedback import resolved, used
from factbook.redaction.base import last_question
from factbook.sources.conversation import turn_ops
from factbook.sources.conversation.turn import clean, moved_part
from factbook.store.damage import naming_damage
from factbook.store.kinds import COUNT, INJECTION, Least
from factbook.store.rows import Filters

if TYPE_CHECKING:
    from factbook.context import Context
    from factbook.gate.judge import JudgedClaim
    from factbook.gate.reading import TextReading
    from factbook.memory import Memory
    from factbook.memory.answering import Asked
    from factbook.memory.keyed import Planner
    from factbook.model.ops import Op
    from factbook.pipelines.keyed import Told
    from factbook.recall.budget import ContextLimits, PromptContext
    from factbook.recall.plan import SearchType
    from factbook.recall.prefetch import Streamed
    from factbook.recall.search import Answer
    from factbook.redaction.base import Redacting

JUDGED_SENTENCES: Final = 2  # ours: of one text
SESSIONS_KEPT: Final = 64  # conversations that hold a stream or what was shown at once
SEARCHES_KEPT: Final = 32  # the newest of a turn; a caller may never say that it has ended
POOLED: Final = 4  # for each hit that is asked for: found now, of which some were known at a moment
INJECTIONS_SEEN: Final = 200  # newest rows among which those of a turn's searches are
FRESH_ROWS: Final = 64  # rows that a stream embeds around one search
TURN_ROWS: Final = 4  # of the last two turns, which a stream leaves out: they wait until it is done
_ID: Final = re.compile(r"[fe]\d{1,18}", re.ASCII)
SETTLED_ROWS: Final = 4  # embedded at once; a search that comes meanwhile waits for no more


@naming_damage(at="_context.store", first=look_again)
class Conversation:
    """What an agent's loop needs of a memory, for one owner and one session.

    `Memory.conversation` makes it. Where the owner is EVERYONE it reads about all of them and
    keeps nothing: what is kept is one owner's. Any thread may call it.
    """

    def __init__(
        self, home: Conversations, *, owner: str | Everyone, session: str, share: float
    ) -> None:
        """Bind an owner and a session; see `Memory.conversation`."""
        self.owner = whose(owner)
        self.session = session
        self._home = home
        self._context = home.context
        self._share = share
        self._lock = threading.Lock()
        self._stream: PassiveStream | None = None
        self._taken: Streamed | None = None
        self._streamed: Sequence[Hit] = ()  # into the last turn, and not measured yet
        self._question = ""  # that the last turn ends with
        self._searched: list[tuple[str, Sequence[Hit]]] = []  # on request, in this turn

    def __enter__(self) -> Conversation:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End its stream and forget what it was shown; a later call begins anew."""
        stream = self._let_go()
        if stream is not None:
            stream.close()  # not under the lock: a search that runs is waited for

    def _let_go(self) -> PassiveStream | None:
        with self._lock:
            stream, self._stream = self._stream, None
            self._taken, self._streamed, self._searched = None, (), []
        return stream

    def add_turn(
        self,
        text: str,
        *,
        role: Role | str = Role.USER,
        occurred_at: Millis | None = None,
        uid: str | None = None,
        name: str = "",
        pasted: Sequence[tuple[int, int]] = (),
    ) -> Receipt:
        """Keep one turn as an episode, redacted; the same turn twice is one.

        `uid` is the caller's own id of the turn, `occurred_at` when it was said (now, if not
        given), `name` who speaks where several people do. An empty turn is nothing.

        `pasted` are parts of the text, (start, end) in characters, that are known to be pasted:
        they are kept and found, and nothing in them counts as the owner's own words.
        """
        turn = Turn(role=_role(role), text=text, at=occurred_at, id=uid or "", pasted=tuple(pasted))
        return self.add_turns([turn], name=name)

    def add_turns(self, turns: Sequence[Turn], *, name: str = "") -> Receipt:
        """Keep turns in one transaction; see `add_turn`."""
        return self._context.write(self._turn_ops(turns, name=name), Trigger.USER_MESSAGE)

    def sync_turn(self, user: str, assistant: str = "", *, at: Millis | None = None) -> Receipt:
        """Keep a turn that has ended, note what it used, and search behind it for the next one."""
        now = self._context.clock() if at is None else at
        turns = [Turn(role=Role.USER, text=user, at=now)]
        if assistant:
            turns.append(Turn(role=Role.ASSISTANT, text=assistant, at=now))
        ops = self._turn_ops(turns)
        with self._lock:
            taken, self._taken = self._taken, None
        if taken is not None and taken.state is StreamState.READY:
            ops.append(
                RecordInjection(
                    session=self.session,
                    owner=self._one(),
                    mode="passive",
                    items=[hit.id for hit in taken.memories],
                    used=used(taken.memories, assistant),
                    latency_ms=taken.latency_ms,
                )
            )
            self._streamed = taken.memories
        ops += self._search_uses(assistant)
        receipt = self._context.write(ops, Trigger.USER_MESSAGE)
        self.stream().sync_turn(turns)
        return receipt

    def remember(self, text: str, *, at: Millis | None = None) -> Fact:
        """Keep a statement of the owner as a fact; see `Memory.remember`."""
        return self._home.memory.review.remember(text, owner=self._one(), at=at)

    def tell(
        self,
        message: str,
        *,
        planner: Planner = "model",
        atomic: bool = True,
        at: Millis | None = None,
        message_id: str | None = None,
    ) -> Told:
        """Turn a message into operations on the owner's keyed facts; see `Memory.tell`."""
        return self._home.memory.keyed.tell(
            message, owner=self._one(), planner=planner, atomic=atomic, at=at, message_id=message_id
        )

    def search_memory(
        self,
        query: str,
        search_type: SearchType = "both",
        limit: int = 5,
        *,
        filters: Filters | None = None,
        as_of: Millis | None = None,
    ) -> list[Hit]:
        """Search facts, episodes or both and return the best, each with text, confidence and time.

        Any text is a legal query; "last month" and other times in it narrow the search, as
        `filters` do. With `as_of`, what was known at that moment (`past.as_known`). Blocks until
        the answer is there. What is returned is remembered as shown in this conversation.
        """
        if as_of is None:
            hits = self._modes(filters).search_memory(query, search_type, limit)
        else:
            hits = self._known_at(as_of, query, search_type, limit, filters or Filters())
        if not self._home.reading:
            self._shown("tool", [hit.id for hit in hits])
            self._home.hold(self)
            with self._lock:
                self._searched.append((query, hits))
                del self._searched[:-SEARCHES_KEPT]
        return hits

    def _known_at(
        self, at: Millis, query: str, search_type: SearchType, limit: int, filters: Filters
    ) -> list[Hit]:
        since, until = filters.since, min(at, filters.until or at)
        hits: list[Hit] = []
        most = limit * POOLED
        if search_type != "episodes":  # whenever what is known now was said
            modes = self._modes(replace(filters, since=None, until=None))
            hits += modes.search_memory(query, "facts", most)
        if search_type != "facts":
            modes = self._modes(replace(filters, until=until))
            hits += modes.search_memory(query, "episodes", most)
        return [
            hit
            for hit in as_known(self._context, hits, at)
            if (since is None or since <= (hit.occurred_at or 0)) and (hit.occurred_at or 0) < until
        ][:limit]

    def recall(
        self, question: str, *, limit: int = policy.DEFAULT_LIMIT, filters: Filters | None = None
    ) -> Answer:
        """Answer a question from the owner's memory, best first; see `Memory.recall`.

        Whoever `filters` name, it is this owner's memory that is asked.
        """
        return self._home.memory.engine.recall(
            question, limit=limit, filters=self._narrowed(filters)
        )

    def query_facts(
        self,
        *,
        predicate: str | Sequence[str] | None = None,
        min_confidence: float = 0.0,
        subject: str = "",
        object: str = "",  # the seeds' own word for this part of a fact
        kind: FactKind | None = None,
        limit: int | None = None,
        newest_first: bool = False,
    ) -> list[Fact]:
        """Return the owner's current facts that pass every given condition."""
        return self._home.memory.query_facts(
            predicate=predicate,
            min_confidence=min_confidence,
            subject=subject,
            object=object,
            kind=kind,
            owner=self.owner,
            limit=limit,
            newest_first=newest_first,
        )

    def ask(
        self, question: str, *, planner: Planner = "model", exclude_message: str | None = None
    ) -> Asked:
        """Answer a question from the owner's keyed facts; see `Memory.ask`."""
        return self._home.memory.keyed.ask(
            question, owner=self._one(), planner=planner, exclude_message=exclude_message
        )

    def stream(self) -> PassiveStream:
        """Return its passive stream, begun when it is first asked for."""
        self._home.hold(self)
        with self._lock:
            if self._stream is None:
                reading = self._home.reading
                modes = self._modes()
                self._stream = PassiveStream(
                    modes.stream,
                    still=modes.still,
                    prepare=None if reading else self._prepare,
                    settle=None if reading else self._settle,
                    release=self._home.release,
                    failed=self._home.count_failure,
                    generation=self._generation,
                    clock=self._context.clock,
                    enabled=in_stream(self.session, self._share),
                )
            return self._stream

    def _generation(self) -> int:
        """Return what moves where something that was found may hold, or may be shown, no more."""
        learned = self._context.resources.redactor.learned
        return self._context.store.head(self.owner).memory + learned

    def take_prefetched(self) -> Streamed:
        """Return what is ready for the turn that begins; never waits."""
        streamed = self._taken = self.stream().take_prefetched()
        return streamed

    def prefetch(self, query: str | Sequence[Turn]) -> list[Hit]:
        """Return what a text, or turns, call to mind: up to five facts and five episodes; blocks.

        Raises what the search raised.
        """
        turns = [Turn(role=Role.USER, text=query)] if isinstance(query, str) else query
        return self._modes().stream(turns)

    def queue_prefetch(self, query: str) -> bool:
        """Search with a text in the background for the next turn; return whether it was queued."""
        return self.stream().queue_prefetch(query)

    def called_to_mind(self, question: str) -> list[Hit]:
        """Return what a question calls to mind: what comes by itself, and turns of agents' logs.

        A turn tells more of what was done in it than the single facts that were seen there, and
        than what was said in it.
        """
        modes = self._modes()
        by_itself = modes.stream([Turn(role=Role.USER, text=question)], asks=True)
        turns = modes.turns(question)
        if not turns:
            return list(by_itself)
        shown = {hit.id for hit in turns}
        records = [int(hit.id[1:]) for hit in by_itself if hit.kind == "episode"]
        lying = self._context.store.turns(records)
        told = {f"e{id_}" for id_, turn in lying.items() if f"e{turn[0][0]}" in shown}
        rest = [hit for hit in by_itself if hit.id not in told]
        return [*turns, *(hit for hit in rest if hit.trust is not Trust.OBSERVED)]

    def counted(self, question: str) -> str:
        """Return what is counted for a question, in lines for a model; empty where nothing is."""
        if not may_count(question):
            return ""
        store, filters, now = self._context.store, Filters(owner=self.owner), self._context.clock()
        found = computed(
            question,
            window_asked(question, store, filters, now=now),
            store,
            filters,
            rules=self._context.resources.rules.rules,
            redact=self._context.redact,
            now=now,
        )
        return "" if found is None else told(found)

    def context(
        self,
        question: str = "",
        *,
        recent: Sequence[Turn] = (),
        tool_results: Sequence[ToolResult] = (),
        memories: Sequence[Hit] | None = None,
        system: str = "",
        limits: ContextLimits | None = None,
        count_tokens: Callable[[str], int] | None = None,
    ) -> PromptContext:
        """Build the context of a turn within its budget, with an account of what was left out.

        `memories` are what the passive stream brought; without them, what the question calls to
        mind. Tokens are counted by the shipped tokenizer unless another counter is given. What is
        put in is remembered as shown here, so that it is never taken for evidence. Secrets in what
        is said, and in what tools gave, are labels. Where a question asks for a number, a rank, the
        last, the first or a duration, what is counted for it stands among what tools gave.
        """
        if count_tokens is None:
            count_tokens = token_counter()
        redactor = self._context.resources.redactor
        question = redactor.redact(question)
        turns = [_without_secrets(turn, redactor) for turn in recent]
        turns += [Turn(role=Role.USER, text=question)] if question else []
        with self._context.store.snapshot():  # all of a context is of one moment
            if memories is None:
                memories = self.called_to_mind(question) if question else []
            memories = self._with_disputes(memories)
            tools = [
                replace(
                    result,
                    text=redactor.redact(result.text),
                    memories=self._with_disputes(result.memories),
                )
                for result in tool_results
            ]
            counted = self.counted(question)
            tools += [ToolResult(name="count", text=counted, id="count")] if counted else []
        context = build_context(
            turns,
            tools,
            memories,
            system,
            limits=limits,
            count_tokens=count_tokens,
            trust_of=trust_of,
            now=self._context.clock(),
        )
        if context.included and not self._home.reading:
            self._shown("context", list(context.included))
        return context

    def record_shown(
        self, items: Sequence[str], *, mode: str = "passive", reply: str | None = None
    ) -> None:
        """Remember memories, by their ids, that another program put before the model here.

        `reply` is what the model then said, where that is known: it tells which of them it used.
        Raises UsageError for what is no id.
        """
        for id_ in items:
            if not _ID.fullmatch(id_):
                raise UsageError(
                    detail=f"{id_!r:.80} is no id of a memory; give one like f12 or e3"
                )
        cited = None
        if reply is not None:
            store = self._context.store
            facts = store.facts_by_id([int(id_[1:]) for id_ in items if id_[0] == "f"])
            episodes = store.episodes_by_id([int(id_[1:]) for id_ in items if id_[0] == "e"])
            shown = [fact_hit(fact) for fact in facts.values()]
            shown += [episode_hit(episode, text=episode.text) for episode in episodes.values()]
            cited = used(shown, reply)
        op = RecordInjection(
            session=self.session, owner=self._one(), mode=mode, items=items, used=cited
        )
        self._context.write([op], Trigger.USER_MESSAGE)

    def _with_disputes(self, memories: Sequence[Hit]) -> list[Hit]:
        """Return memories with what speaks against them and waits for their owner's answer."""
        numbers = [
            int(memory.id[1:]) if memory.kind == "fact" and memory.id[1:].isdecimal() else 0
            for memory in memories
        ]
        disputed = (
            self._home.memory.review.disputed(owner=self.owner, among=numbers)
            if any(numbers)
            else {}
        )
        hits = []
        for hit, number in zip(memories, numbers, strict=True):
            sides = disputed.get(number, ())
            if sides:
                more = f"; {len(sides) - 1} more" if len(sides) > 1 else ""
                said = f'{sides[-1]["how"]} otherwise: "{sides[-1]["text"]}"{more}'
                hit = replace(hit, text=f"{hit.text} ({said})")
            hits.append(hit)
        return hits

    def _one(self) -> str:
        """Return the owner of what is kept; raises UsageError where the owner is EVERYONE."""
        return one_owner(self.owner)

    def _shown(self, mode: str, items: Sequence[str]) -> None:
        """Remember what was shown here; of everybody, as shown to whoever asks without a name."""
        to = ME if isinstance(self.owner, Everyone) else self.owner
        op = RecordInjection(session=self.session, owner=to, mode=mode, items=items)
        self._home.shown.write(op)

    def _narrowed(self, filters: Filters | None) -> Filters:
        return replace(filters or Filters(), owner=self.owner)

    def _modes(self, filters: Filters | None = None) -> TwoModes:
        return TwoModes(
            self._home.memory.engine, judging=ClaimJudge(), filters=self._narrowed(filters)
        )

    def _turn_ops(self, turns: Sequence[Turn], *, name: str = "") -> list[Op]:
        owner, now = self._one(), self._context.clock()
        ops: list[Op] = []
        if any(turn.role is Role.USER and turn.text.strip() for turn in turns):
            ops.append(NoteAction(owner=owner))
        for turn in turns:
            if turn.role is Role.USER:
                self._context.resources.redactor.learn_answer(self._question, turn.text)
            self._question = last_question(turn.text)
            ops += turn_ops(
                turn.text,
                role=turn.role,
                session=self.session,
                occurred_at=now if turn.at is None else turn.at,
                now=now,
                redactor=self._context.resources.redactor,
                uid=turn.id or None,
                owner=owner,
                name=name,
                pasted=turn.pasted,
            )
        return ops

    def _search_uses(self, answer: str) -> list[Op]:
        """Return what the answer used of the turn's searches, and whether each was enough."""
        with self._lock:
            searched, self._searched = self._searched, []
        if not searched:
            return []
        self._home.shown.settle()
        rows = [
            injection
            for injection in self._context.store.find(
                INJECTION,
                {"owner": self.owner, "session": self.session},
                newest_first=True,
                limit=INJECTIONS_SEEN,
            )
            if injection.mode == "tool" and injection.judged_at is None
        ]
        # Both from the newest back: the rows of this turn are the last ones.
        enough = resolved([query for query, _ in searched])
        return [
            RecordUse(
                injection_id=row.id,
                used=used(hits, answer),
                resolved=was_enough,
            )
            for row, (_, hits), was_enough in zip(
                rows, reversed(searched), reversed(enough), strict=False
            )
            if list(row.items) == [hit.id for hit in hits]
        ]

    def _prepare(self) -> None:
        """Embed what waits, before a stream searches, unless it is only what was just said.

        That is in the conversation anyway, so no search has to wait until it has its vectors.
        """
        store = self._context.store
        turns = store.waiting("episode", limit=TURN_ROWS + 1)
        if len(turns) > TURN_ROWS or store.waiting("fact", limit=1):
            self._home.embed()

    def _settle(self, stream: PassiveStream) -> None:
        """Embed the turns that have just ended and measure what was streamed into the last one.

        Runs in the stream's thread when its answer is ready: nobody waits for either.
        """
        self._home.keep_failures()
        queue = EmbeddingQueue(self._context)
        for target in ("fact", "episode"):
            for _ in range(FRESH_ROWS // SETTLED_ROWS):
                if stream.searching or not self._context.store.waiting(target, limit=1):
                    break
                queue.work(target, limit=SETTLED_ROWS)
        with self._lock:
            shown, self._streamed = self._streamed, ()
        vectors = self._home.memory.engine.vectors_of(hit.id for hit in shown)
        score = diversity_score(list(vectors.values()))
        if score is not None:
            value = min(1.0, max(0.0, score))
            counts = [Count(name="diversity", value=value), Count(name="diversity_count")]
            self._context.write(counts, Trigger.USER_MESSAGE)


_TURN_TRUST: Final = {
    Role.ASSISTANT: Trust.DERIVED,
    Role.TOOL: Trust.EXTERNAL,
    Role.SYSTEM: Trust.OBSERVED,
}


def _without_secrets(turn: Turn, redactor: Redacting) -> Turn:
    """Return a message as it may be shown, with its pasted parts where they stand in that."""
    text = redactor.redact(turn.text)
    if text == turn.text:
        return turn
    pasted = tuple(moved_part(turn.text, text, *part, redactor) for part in turn.pasted)
    return replace(turn, text=text, pasted=pasted)


def trust_of(turn: Turn) -> str:
    """Say how far a message is trusted; what its owner only hands on is not their own word."""
    if turn.role is not Role.USER:
        return _TURN_TRUST[turn.role]
    from factbook.extract.voice import own_words  # only what holds messages needs it

    heard = own_words(turn.text, pasted=turn.pasted).overheard
    own = own_share(turn.text, [(piece.start, piece.end) for piece in heard])
    return {"all": Trust.DIRECT, "some": f"{Trust.DIRECT} in part", "none": Trust.DERIVED}[own]


class Conversations:
    """The conversations of one memory.

    Each is the same object for all who ask for it. What one holds is kept for the newest so many of
    those that hold anything; the others end, and begin anew when they are used.
    """

    def __init__(self, context: Context, memory: Memory, *, reading: bool) -> None:
        """Compose over the parts of a memory, each made when it is first needed.

        `reading` says that the file is open for reading: nothing is kept as shown.
        """
        self.context = context
        self.memory = memory
        self.release = context.store.close_thread  # gives back what a thread holds of the store
        self.reading = reading
        self._lock = threading.Lock()
        self._known = WeakValueDictionary[tuple[str | Everyone, str], Conversation]()
        self._held: dict[tuple[str | Everyone, str], Conversation] = {}
        self.shown = ShownNotes(context, release=self.release)
        self._failed = Counter[str]()  # passive recalls that failed and are not in the file yet
        self._beside = Beside()
        self._embedding: Future[None] | None = None
        self._keeping = threading.Lock()  # between there and the file; no turn waits for it

    def of(self, owner: str | Everyone, session: str, *, share: float = 1.0) -> Conversation:
        """Return the conversation of an owner in a session; `share` is the first asker's.

        A session goes by the name under which its turns are kept: one that holds half a character
        is mended, for what is said in it must not be lost.
        """
        if not session.isascii() or not session.isprintable():
            session = clean(session)
        session = session.strip()
        with self._lock:
            conversation = self._known.get((owner, session))
            if conversation is None:
                conversation = Conversation(self, owner=owner, session=session, share=share)
                self._known[owner, session] = conversation
            return conversation

    def hold(self, conversation: Conversation) -> None:
        """Keep a conversation that begins to hold something; the one unused for longest ends."""
        key = (conversation.owner, conversation.session)
        with self._lock:
            self._held.pop(key, None)
            unused = []
            while len(self._held) >= SESSIONS_KEPT:
                unused.append(self._held.pop(next(iter(self._held))))
            self._held[key] = conversation
        for other in unused:
            stream = other._let_go()
            if stream is not None:
                self._begin(stream.close)  # behind: what it writes may wait for another writer

    def embed(self) -> None:
        """Embed some of what waits; who else writes for long is not waited for."""
        mine = False
        while not mine:  # one that others began may have passed by what is new
            with self._lock:
                embedding = self._embedding
                mine = embedding is None or embedding.done()
                if embedding is None or mine:
                    self._embedding = embedding = self._begin(self._drain)
            if not wait([embedding], timeout=policy.FRESH_WAIT_S).done:
                return
            embedding.result()

    def _drain(self) -> None:
        with suppress(StoreLocked):  # it waits on, and is found by its words
            EmbeddingQueue(self.context).drain(limit=FRESH_ROWS)

    def _begin(self, work: Callable[[], None]) -> Future[None]:
        def whole() -> None:
            try:
                work()
            finally:
                self.release()

        return self._beside.begin(whole)

    def failures(self, *, since: str = "") -> dict[str, int]:
        """Return how many passive recalls have failed, by the kind of error.

        Those in the file from a day on, and those of this process that could not be written there.
        """
        # Held for longer, it waits for who writes: then what failed is not in the file yet.
        kept = self._keeping.acquire(timeout=policy.SHOWN_WAIT_S)
        try:
            failed = Counter(self._failed)
            counts = self.context.store.find(COUNT, {"day": Least(since)})
        finally:
            if kept:
                self._keeping.release()
        for count in counts:
            if count.name.startswith(PASSIVE_FAILED):
                failed[count.name.removeprefix(PASSIVE_FAILED)] += int(count.value)
        return dict(sorted(failed.items()))

    def count_failure(self, error: BaseException) -> None:
        with self._lock:
            self._failed[type(error).__name__] += 1

    def keep_failures(self) -> None:
        """Write down what has failed; while that cannot be written, it stays counted here."""
        with self._keeping:
            with self._lock:
                failed = Counter(self._failed)
            if failed:
                ops = [Count(name=PASSIVE_FAILED + kind, value=n) for kind, n in failed.items()]
                self.context.write(ops, Trigger.USER_MESSAGE)
                with self._lock:
                    self._failed -= failed

    def close(self) -> None:
        with self._lock:
            held, self._held = list(self._held.values()), {}
        for conversation in held:
            conversation.close()
        self._beside.close()
        self.shown.close()


class ClaimJudge:
    """Judge corrections by the rules of judging, sentence by sentence (docs/judging.md)."""

    # imported when it is asked: its tables take longer than a search, and most need no judge

    def read(self, hit: Hit) -> Sequence[tuple[JudgedClaim, TextReading]]:
        """Return what the first sentences of a hit claim; questions claim nothing."""
        from factbook.extract.sentences import split
        from factbook.gate.judge import JudgedClaim
        from factbook.gate.reading import read

        texts = [sentence.text.strip() for sentence in split(hit.text)]
        return [
            (JudgedClaim(text=text, occurred_at=hit.occurred_at), read(text))
            for text in texts
            if text and not ends_asking(text)
        ][:JUDGED_SENTENCES]

    def corrects(
        self,
        older: Sequence[tuple[JudgedClaim, TextReading]],
        newer: Sequence[tuple[JudgedClaim, TextReading]],
        *,
        similarity: float,
        contradicting: bool,
    ) -> bool:
        """Say whether a newer claim ends an older one, or (`contradicting`) contradicts it."""
        from factbook.gate.judge import Relation, judge

        ends = {Relation.SUPERSEDES} | ({Relation.CONTRADICTION} if contradicting else set())
        return any(
            judge(
                old,
                new,
                similarity=similarity,
                older_reading=old_reading,
                newer_reading=new_reading,
            ).relation
            in ends
            for old, old_reading in older
            for new, new_reading in newer
        )


def _role(role: Role | str) -> Role:
    try:
        return Role(role)
    except ValueError:
        names = ", ".join(member.value for member in Role)
        raise UsageError(detail=f"{role!r} is no role; give one of {names}") from None
