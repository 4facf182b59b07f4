"""What an agent's loop needs of a memory: keep turns, recall by itself and on request, context.

`Memory` inherits it. It composes the parts of `recall` and `sources.conversation` and holds no
rule.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from functools import partial
from typing import TYPE_CHECKING, Final

from factbook.erasing import Erasing
from factbook.model import EVERYONE, ME, Everyone, Hit, Millis, Receipt, Role, Trigger, one_owner

if TYPE_CHECKING:
    from factbook.ops import Op
    from factbook.recall.budget import Context, ContextLimits, ToolResult
    from factbook.recall.modes import TwoModes
    from factbook.recall.plan import SearchType, Turn
    from factbook.recall.search import Engine
    from factbook.recall.stream import PassiveStream, Streamed

SESSIONS_KEPT: Final = 64  # conversations whose streams are held at once
SEARCHES_KEPT: Final = 32  # the newest of a turn; a caller may never say that it has ended
INJECTIONS_SEEN: Final = 200  # newest rows among which those of a turn's searches are
FRESH_ROWS: Final = 64  # rows that a stream embeds around one search
TURN_ROWS: Final = 4  # of the last two turns, which a stream leaves out: they wait until it is done
SETTLED_ROWS: Final = 4  # embedded at once; a search that comes meanwhile waits for no more


class Conversing(Erasing):
    """The part of `Memory` that takes part in conversations."""

    _reading: bool
    _streams: dict[tuple[str, str], PassiveStream]
    _taken: dict[tuple[str, str], Streamed]
    _streamed: dict[tuple[str, str], Sequence[Hit]]  # streamed and not measured yet
    _searched: dict[tuple[str, str], list[tuple[str, Sequence[Hit]]]]  # on request, this turn
    _stream_lock: threading.Lock

    @property
    def engine(self) -> Engine:
        """The search that both modes share."""
        raise NotImplementedError

    def _write(self, ops: Sequence[Op]) -> Receipt:
        from factbook.apply import apply

        return apply(
            self.store, ops, trigger=Trigger.USER_MESSAGE, actor=self._actor, now=self._clock()
        )

    # --- keeping turns --------------------------------------------------------------------------

    def add_turn(
        self,
        text: str,
        *,
        role: Role | str = Role.USER,
        session: str = "",
        occurred_at: Millis | None = None,
        uid: str | None = None,
        owner: str = ME,
        name: str = "",
    ) -> Receipt:
        """Keep one turn of a conversation as an episode, redacted; the same turn twice is one.

        `uid` is the caller's own id of the turn, `occurred_at` when it was said (now, if not
        given), `name` who speaks where several people do. An empty turn is nothing.
        """
        from factbook.recall.plan import Turn

        turn = Turn(role=_role(role), text=text, at=occurred_at, id=uid or "")
        return self.add_turns([turn], session=session, owner=owner, name=name)

    def add_turns(
        self, turns: Sequence[Turn], *, session: str = "", owner: str = ME, name: str = ""
    ) -> Receipt:
        """Keep turns in one transaction; see `add_turn`."""
        ops = self._turn_ops(turns, session=session, owner=one_owner(owner), name=name)
        with self._stream_lock:
            mine = self._streams.get((owner, session))
        with mine.own_writing() if mine else nullcontext() as wrote:
            receipt = self._write(ops)
            if ops and wrote:
                wrote()
        return receipt

    def _turn_ops(
        self, turns: Sequence[Turn], *, session: str, owner: str, name: str = ""
    ) -> list[Op]:
        from factbook.ops import NoteAction
        from factbook.sources.conversation import turn_ops

        now = self._clock()
        ops: list[Op] = []
        if any(turn.role is Role.USER and turn.text.strip() for turn in turns):
            ops.append(NoteAction(owner=owner))
        for turn in turns:
            ops += turn_ops(
                turn.text,
                role=turn.role,
                session=session,
                occurred_at=now if turn.at is None else turn.at,
                now=now,
                redactor=self.redactor,
                uid=turn.id or None,
                owner=owner,
                name=name,
            )
        return ops

    # --- on request (seed 001, mode B) ----------------------------------------------------------

    def search_memory(
        self,
        query: str,
        search_type: SearchType = "both",
        limit: int = 5,
        *,
        session: str = "",
        owner: str | Everyone = ME,
    ) -> list[Hit]:
        """Search facts, episodes or both and return the best, each with text, confidence and time.

        Any text is a legal query; "last month" and other times in it narrow the search. Blocks
        until the answer is there. What is returned is remembered as shown in `session`.
        """
        hits = self._modes(owner).search_memory(query, search_type, limit)
        if not self._reading:
            from factbook.ops import RecordInjection

            items = [hit.id for hit in hits]
            self._write(
                [RecordInjection(session=session, owner=_shown_to(owner), mode="tool", items=items)]
            )
            if owner is EVERYONE:
                return hits
            with self._stream_lock:
                while (
                    len(self._searched) >= SESSIONS_KEPT and (owner, session) not in self._searched
                ):
                    self._searched.pop(next(iter(self._searched)))
                searched = self._searched.setdefault((owner, session), [])
                searched.append((query, hits))
                del searched[:-SEARCHES_KEPT]
        return hits

    # --- by itself (seed 001, mode A) -----------------------------------------------------------

    def stream(self, session: str = "", *, owner: str = ME, share: float = 1.0) -> PassiveStream:
        """Return the passive stream of a conversation, one for each.

        With `share` below 1, only that share of all sessions has a stream (an A/B test).
        """
        from factbook.recall.stream import PassiveStream

        owner = one_owner(owner)
        unused: list[PassiveStream] = []
        with self._stream_lock:
            found = self._streams.pop((owner, session), None)
            if found is None:
                while len(self._streams) >= SESSIONS_KEPT:
                    oldest = next(iter(self._streams))  # the one that was asked for longest ago
                    unused.append(self._streams.pop(oldest))
                    self._taken.pop(oldest, None)
                    self._streamed.pop(oldest, None)
                modes = self._modes(owner)
                found = PassiveStream(
                    modes.stream,
                    prepare=None if self._reading else self._prepare,
                    settle=None if self._reading else partial(self._settle, owner, session),
                    release=self.store.close_thread,
                    generation=self.store.memory_generation,
                    clock=self._clock,
                    share=share,
                    session=session,
                )
            self._streams[owner, session] = found
        for one in unused:  # not under the lock: a search that runs is waited for
            one.close()
        return found

    def _prepare(self) -> None:
        """Embed what waits, before a stream searches, unless it is only what was just said.

        That is in the conversation anyway, so no search has to wait until it has its vectors.
        """
        turns = self.store.waiting("episode", limit=TURN_ROWS + 1)
        if len(turns) > TURN_ROWS or self.store.waiting("fact", limit=1):
            self._queue().drain(limit=FRESH_ROWS)

    def _settle(self, owner: str, session: str, stream: PassiveStream) -> None:
        """Embed the turns that have just ended and measure what was streamed into the last one.

        Runs in the stream's thread when its answer is ready: nobody waits for either.
        """
        from factbook.ops import Count
        from factbook.recall.diversity import diversity_score

        queue = self._queue()
        for target in ("fact", "episode"):
            for _ in range(FRESH_ROWS // SETTLED_ROWS):
                if stream.searching or not self.store.waiting(target, limit=1):
                    break
                with stream.own_writing() as wrote:
                    done = queue.work(target, limit=SETTLED_ROWS)
                    if done.claimed > done.failed + done.aside:
                        wrote()
        shown = self._streamed.pop((owner, session), ())
        vectors = self.engine.vectors_of(hit.id for hit in shown)
        score = diversity_score(list(vectors.values()))
        if score is not None:
            value = min(1.0, max(0.0, score))
            self._write([Count(name="diversity", value=value), Count(name="diversity_count")])

    def take(self, session: str = "", *, owner: str = ME) -> Streamed:
        """Return what is ready for the turn that begins; never waits."""
        found = self.stream(session, owner=owner).take()
        self._taken[owner, session] = found
        return found

    def prefetch(self, query: str, *, session: str = "", owner: str | Everyone = ME) -> list[Hit]:
        """Return what a text calls to mind: up to five facts and five episodes; blocks.

        Raises what the search raised.
        """
        from factbook.recall.plan import Turn

        del session
        return self._modes(owner).stream([Turn(role=Role.USER, text=query)])

    def queue_prefetch(self, query: str, *, session: str = "", owner: str = ME) -> bool:
        """Search with a text in the background for the next turn; return whether it was queued."""
        return self.stream(session, owner=owner).queue_prefetch(query)

    def sync_turn(
        self,
        user: str,
        assistant: str = "",
        *,
        session: str = "",
        owner: str = ME,
        at: Millis | None = None,
    ) -> Receipt:
        """Keep a turn that has ended, note what it used, and search behind it for the next one."""
        from factbook.ops import RecordInjection
        from factbook.recall.plan import Turn
        from factbook.recall.stream import StreamState
        from factbook.recall.used import uses

        now = self._clock() if at is None else at
        turns = [Turn(role=Role.USER, text=user, at=now)]
        if assistant:
            turns.append(Turn(role=Role.ASSISTANT, text=assistant, at=now))
        ops = self._turn_ops(turns, session=session, owner=one_owner(owner))
        taken = self._taken.pop((owner, session), None)
        if taken is not None and taken.state is StreamState.READY:
            used = [one.id for one in uses(taken.memories, assistant) if one.cited]
            ops.append(
                RecordInjection(
                    session=session,
                    owner=owner,
                    mode="passive",
                    items=[hit.id for hit in taken.memories],
                    used=used,
                    latency_ms=taken.latency_ms,
                )
            )
            self._streamed[owner, session] = taken.memories
        ops += self._search_uses(assistant, session=session, owner=owner)
        receipt = self._write(ops)
        self.stream(session, owner=owner).sync_turn(turns)
        return receipt

    def _search_uses(self, answer: str, *, session: str, owner: str) -> list[Op]:
        """Return what the answer used of the turn's searches, and whether each was enough."""
        from factbook.ops import RecordUse
        from factbook.recall.used import resolved, uses

        with self._stream_lock:
            searched = self._searched.pop((owner, session), [])
        if not searched:
            return []
        rows = [
            one
            for one in self.store.injections(session=session, limit=INJECTIONS_SEEN)
            if (one.mode, one.session, one.owner) == ("tool", session, owner)
            and one.judged_at is None
        ]
        # Both from the newest back: the rows of this turn are the last ones.
        enough = resolved([query for query, _ in searched])
        return [
            RecordUse(
                injection_id=row.id,
                used=[one.id for one in uses(hits, answer) if one.cited],
                resolved=was_enough,
            )
            for row, (_, hits), was_enough in zip(
                rows, reversed(searched), reversed(enough), strict=False
            )
            if list(row.items) == [hit.id for hit in hits]
        ]

    # --- context --------------------------------------------------------------------------------

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
        session: str = "",
        owner: str | Everyone = ME,
    ) -> Context:
        """Build the context of a turn within its budget, with an account of what was left out.

        `memories` are what the passive stream brought; without them, what the question calls to
        mind. Tokens are counted by the shipped tokenizer unless another counter is given. What is
        put in is remembered as shown in `session`, so that it is never taken for evidence.
        """
        from factbook.ops import RecordInjection
        from factbook.recall.budget import build_context
        from factbook.recall.plan import Turn

        if count_tokens is None:
            from factbook.embed.minilm import token_counter

            count_tokens = token_counter()
        if memories is None:
            memories = self.prefetch(question, owner=owner) if question else []
        turns = [*recent, Turn(role=Role.USER, text=question)] if question else list(recent)
        found = build_context(
            turns,
            tool_results,
            memories,
            system,
            limits=limits,
            count_tokens=count_tokens,
            now=self._clock(),
        )
        if found.included and not self._reading:
            self._write(
                [
                    RecordInjection(
                        session=session,
                        owner=_shown_to(owner),
                        mode="context",
                        items=list(found.included),
                    )
                ]
            )
        return found

    def _modes(self, owner: str | Everyone) -> TwoModes:
        from factbook.recall.modes import TwoModes
        from factbook.store.base import Filters

        return TwoModes(self.engine, filters=Filters(owner=owner))

    def _facts_like(self, text: str, owner: str) -> dict[int, float]:
        from factbook import policy
        from factbook.store.base import Filters

        filters = Filters(owner=owner, kinds=sorted(policy.MERGED_KINDS))
        return self.engine.facts_like(text, filters=filters)

    def _let_go(self) -> None:
        """Forget what this process holds of the memory's texts: streams, and what was found."""
        self._close_streams()
        with self._stream_lock:
            self._taken.clear()
            self._streamed.clear()
            self._searched.clear()

    def _close_streams(self) -> None:
        with self._stream_lock:
            streams, self._streams = list(self._streams.values()), {}
        for one in streams:
            one.close()


def _shown_to(owner: str | Everyone) -> str:
    """Return who is shown what is found of everybody: the one who asks without another name."""
    return ME if isinstance(owner, Everyone) else owner


def _role(role: Role | str) -> Role:
    from factbook.errors import UsageError

    try:
        return Role(role)
    except ValueError:
        names = ", ".join(one.value for one in Role)
        raise UsageError(detail=f"{role!r} is no role; give one of {names}") from None
