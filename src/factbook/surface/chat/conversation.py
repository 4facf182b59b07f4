"""Talk with somebody: keep what is said, answer from memory, search where that is not enough.

    Chat(memory, view, owner="me", session="monday").run()

A turn: what was typed is kept, then what memory knows of it is looked up and judged (`Memory.
knowledge`). Where that is enough, or it is about whoever asks, nothing is searched for; else the
search provider is asked, where there is one. A model answers from what was found, with tools;
without a model, or where it fails, what it would have been given is shown with its sources. The
answer is kept as a turn of the assistant, so that it can be reacted to.

Only lines that a person types are commands: neither a page nor a memory nor an answer ever becomes
one. What goes on behind (`Background.loops`) runs in this process while nobody is served; with
`wait`, all of it is done after each turn instead, so that a script sees what comes of it.

Ctrl-C stops an answer and keeps what was said of it; at the prompt, a second one ends the chat.

A message is one line. More lines are one where they come pasted into a terminal, stand between two
lines of three quotation marks, or are a private key, which could not be told for one line by line.
"""

from __future__ import annotations

import logging
import os
import re
import signal
import threading
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from types import FrameType
from typing import TYPE_CHECKING, Any, Final

from factbook import policy
from factbook.errors import (
    FactbookError,
    ModelError,
    ModelFailure,
    SearchError,
    SearchFailure,
    UsageError,
)
from factbook.interests.knowledge import Asking, Knowledge
from factbook.interests.scheduler import LoopResult, LoopStep, Worker
from factbook.language import values
from factbook.language.values import count
from factbook.memory.chat_model import (
    Prompt,
    SearchArguments,
    SearchMemoryArguments,
    Talk,
    Toolbox,
    ToolCallShown,
    ToolText,
    pages_as_data,
)
from factbook.memory.chat_turns import Basis, ChatTurns, asks_for_news
from factbook.model.facts import ME, Hit, Role
from factbook.net.cancel import Cancel, Cancelled, cancelling
from factbook.recall.budget import PromptContext, render_memories
from factbook.redaction.records import Screening
from factbook.surface import views
from factbook.surface.chat.slash import is_command, run
from factbook.surface.chat.view import Memo, Source, View

if TYPE_CHECKING:
    from factbook.interests.deliver import Delivery
    from factbook.memory import Memory
    from factbook.model.entities import SearchAnswer

# All of these are ours.
FOUND_MEMORIES: Final = 5  # of one search of the memory by a model
SCRIPTED_OFF: Final = ("enrichment", "cleaner")  # by itself, not for what was just said
KICKS_S: Final = (0.0, 0.05)  # after a signal, when whoever waits for a line is woken
EXIT_INTERRUPTED: Final = 130  # 128 + SIGINT, as shells count
EXIT_TERMINATED: Final = 143  # 128 + SIGTERM
STOPPED: Final = " [stopped]"  # behind what is kept of an answer that did not end

# of no meaning by default, so that nobody else uses it for anything; Windows has none
_KICK: Final[int | None] = getattr(signal, "SIGURG", None)
_CITED: Final = re.compile(r"(?<![\w/.-])[ef]\d+(?![\w-])")
_BLOCK: Final = '"""'  # a line that begins and ends a message of several
_KEY: Final = r"(?:[A-Z0-9]+ ){0,4}PRIVATE KEY\b"
_KEY_BEGINS: Final = re.compile(rf"-- ?BEGIN {_KEY}(?!.*-- ?END )")
_KEY_ENDS: Final = re.compile(rf"-- ?END {_KEY}")
_OF_KEY: Final = re.compile(r"\s*(?:[A-Za-z0-9+/=]+|[A-Za-z][\w-]*: .*)?\s*")  # one of its lines
_WRITTEN: Final = {"+1": "👍", "-1": "👎"}
# A picture and its colour of skin are asked for by signs of their own.
_NO_LOOKS: Final = dict.fromkeys([0xFE0F, *range(0x1F3FB, 0x1F400)])
_UNREACHED: Final = frozenset(
    {
        ModelFailure.CONNECT,
        ModelFailure.TIMEOUT,
        ModelFailure.HTTP,
        ModelFailure.OVER_BUDGET,
        ModelFailure.NOT_CONFIGURED,
    }
)  # whoever fails so will fail again at once


def reaction_in(line: str) -> tuple[str, str] | None:
    """Return (emoji, target) of a line that is nothing but a reaction; None for any other.

    The target is "" for what was shown last, or a notice or a turn: "👎 n3".
    """
    sign, _, target = line.strip().partition(" ")
    sign = _WRITTEN.get(sign, sign).translate(_NO_LOOKS)
    known = {
        reaction.translate(_NO_LOOKS): reaction
        for reaction in (*policy.POSITIVE_REACTIONS, *policy.NEGATIVE_REACTIONS)
    }
    target = target.strip()
    if sign not in known or (target and not re.fullmatch(r"[ne]\d{1,18}", target)):
        return None
    return known[sign], target


def _pasted_in(lines: Iterable[str]) -> Iterator[tuple[int, int]]:
    """Yield the spans of a message of several lines that came pasted.

    A key ends a line that is typed, so what comes with breaks in it was pasted. Where in its first
    line the paste begins nobody sees: that one is judged by its words.
    """
    at = 0
    for line in lines:
        if "\n" in line:
            yield at + line.index("\n"), at + len(line)
        at += len(line) + 1


class Chat:
    """One conversation of one owner."""

    def __init__(
        self,
        memory: Memory,
        view: View,
        *,
        owner: str = ME,
        session: str = "",
        worker: bool = True,
        wait: bool = False,
    ) -> None:
        """Compose a conversation; an earlier one of the same name is gone on with.

        With `worker`, the work behind runs in this process while nobody is served. With `wait`, it
        is done after each turn, before the next line is read.
        """
        self._memory = memory
        self._view = view
        self._owner = owner
        self.session = session or f"chat-{uuid.uuid4().hex[:12]}"
        self._works = worker
        self._waits = wait
        self._turns = ChatTurns(memory, owner=owner, session=self.session)
        self._target = ""  # of a reaction: what was shown last
        self._token: Cancel | None = None  # of the turn that goes on
        self._pressed = 0  # signals that came in it
        self._terminated = False
        self._talk: Talk | None = None
        self._lock = threading.Lock()  # of the next two
        self._serving = False  # whether a turn goes on, in which no notice is shown
        self._held: list[Delivery] = []
        self._remarked: set[str] = set()
        self._ahead: list[str | None] = []  # read already, and part of the next message
        self._pasted: list[tuple[int, int]] = []  # parts of the message that came in brackets

    def run(self) -> int:
        """Talk until the last line or /quit; return the exit code."""
        with self._signals(), self._warnings(), self._worker() as worker:
            interrupted = welcomed = False
            while not self._terminated:
                try:
                    if not welcomed:
                        welcomed = True
                        self._welcome()
                    line = self._typed()
                    if line is None:
                        break
                    if not self._turn(line, worker):
                        return 0
                    interrupted = False
                except KeyboardInterrupt:
                    if interrupted:
                        return EXIT_INTERRUPTED
                    interrupted = True
                    self._view.note("Ctrl-C again ends the chat; so do Ctrl-D and /quit")
        return EXIT_TERMINATED if self._terminated else 0

    def _welcome(self) -> None:
        memory = self._memory
        model = memory.resources.llm.id if memory.resources.has_model else ""
        before = f", gone on with after {count(len(self._turns.history), 'turn')}"
        parts = [
            f"conversation {self.session}{before if self._turns.history else ''}",
            f"model {model}" if model else "no model is configured: what memory has is shown",
            "searches where memory is not enough"
            if memory.resources.has_search
            else "nothing is searched",
            "/help lists the commands",
        ]
        self._view.note("; ".join(parts))

    def _typed(self) -> str | None:
        line = self._ahead.pop() if self._ahead else self._view.read()
        if line is None:
            return None
        lines = [line]
        if line.strip() == _BLOCK:
            lines = []
            while (more := self._more()) is not None and more.strip() != _BLOCK:
                lines.append(more)
            if lines and is_command(lines[0]):
                lines[0] = f" {lines[0]}"  # a text, whatever it begins with
        else:
            while _KEY_BEGINS.search(lines[0]) and (more := self._more()) is not None:
                if not _KEY_ENDS.search(more) and not _OF_KEY.fullmatch(more):
                    self._ahead.append(more)
                    break
                lines.append(more)
                if _KEY_ENDS.search(more):
                    break
        self._pasted = list(_pasted_in(lines))
        return "\n".join(lines)

    def _more(self) -> str | None:
        line = self._view.read(more=True)
        if line is None:
            self._ahead.append(None)  # the end of the message is that of the conversation
        return line

    def _turn(self, line: str, worker: Worker | None) -> bool:
        """Take one line; return whether the conversation goes on."""
        if not line.strip():
            return True
        with self._lock:
            self._serving = True
        self._view.heard(self._memory.resources.redactor.redact(line))
        goes_on = True
        with nullcontext() if worker is None else worker.busy():
            try:
                with self._guarded("stopped"):
                    goes_on = self._take(line)
            finally:
                self._show_held()
        if goes_on:
            self._behind(worker)
        return goes_on

    def _take(self, line: str) -> bool:
        if is_command(line):
            if "\n" in line.strip():  # pasted: nobody has read what stands further below
                raise UsageError(
                    detail="a command is one line, and this has more, so nothing was done; put a"
                    " blank before it to say it as it is"
                )
            if self._view.begins_pasted:  # who pasted it may not have seen what it is
                self._view.offer(line)
                self._view.note("this was pasted, so it is not run: Enter runs it as it stands now")
                return True
        elif reaction := reaction_in(line):
            emoji, target = reaction
            wanted = target or self._target
            if not wanted:
                self._view.note("there is nothing here to react to; `👍 n3` reacts to a notice")
                return True
            line = f"/react {wanted} {emoji}"
        else:
            self._answer(line)
            return True
        reply = run(self._memory, line, owner=self._owner, look=self._view.look)
        self._view.replied(line.split(maxsplit=1)[0], reply)
        return not reply.quit

    def _answer(self, message: str) -> None:
        self._target = ""  # a reaction means what is shown from here on
        memory = self._memory
        recent = [turn.text for turn in reversed(self._turns.history)]
        uid = self._turns.keep(message, Role.USER, pasted=self._pasted)
        said = memory.resources.redactor.redact(message)
        known = memory.interests.knowledge(
            message, owner=self._owner, recent=recent, pasted=self._pasted
        )
        hits = self._turns.hits(message, known, mine=not memory.resources.has_model)
        if known.asking is not Asking.NOTHING:
            self._say_beside(said, hits)
        answer = _Answer(message=said, uid=uid, known=known, hits=hits)
        if memory.resources.has_model:
            self._modelled(answer)
        else:
            self._bare(answer)

    def _say_beside(self, message: str, hits: Sequence[Hit]) -> None:
        """Say what was counted for a question, and what there is none of."""
        from factbook import Filters

        about = self._memory.sources.understood(
            message, hits, filters=Filters(owner=self._owner), in_time=False
        )
        if about.computed is not None:
            self._view.note(views.counted.in_words(about.computed))
        for remark in views.counted.remarks(about):
            self._view.note(remark)

    def _search(self, answer: _Answer, query: str) -> SearchAnswer | None:
        """Search for the answer to a message; None where it fails or stays, which is said.

        Where nothing has the words of the question, what it is about is searched for alone.
        """
        known = answer.known
        names = " ".join([*(entity.entity.name for entity in known.entities), *known.unknown])
        answer.withheld = False
        search = self._memory.interests.search_for
        try:
            reply, _ = search(query, episode=answer.uid, owner=self._owner)
            if not reply.results and names and names != query:
                reply, _ = search(names, episode=answer.uid, owner=self._owner)
        except SearchError as error:
            answer.withheld = error.kind is SearchFailure.WITHHELD
            if not answer.withheld:
                self._problem(error, kept=True)
            return None
        return Screening(self._memory.resources.redactor)(reply)

    def _bare(self, answer: _Answer) -> None:
        """Show what an answer would be made from, and search where that is not enough."""
        known = answer.known
        if stopped := self._turns.not_to_be_told(answer.message):
            names = ", ".join(stopped)
            self._view.note(f"kept; nothing more is told of {names} by itself (/unmute undoes it)")
            return
        search_answer: SearchAnswer | None = None
        context = self._turns.context(answer.hits, policy.NUM_CTX)
        if self._turns.is_searched_for(known, answer.message, memories=len(context.included)):
            search_answer = self._search(answer, known.query)
        query = known.query if search_answer is not None else ""
        self._view.based(self._turns.basis(known, query, memories=len(context.included)))
        shown = self._shown(answer, context)
        if search_answer is not None:
            self._view.found(search_answer, known.query)
        elif tastes := self._turns.tastes(answer.message):
            self._view.note(tastes)
        elif asks_for_news(answer.message):
            self._view.note("what is new is told here by itself; /notices lists what was told")
        elif not shown and known.asking is Asking.NOTHING:
            self._view.note("kept")
        self._keep_shown(answer, context)

    def _shown(self, answer: _Answer, context: PromptContext) -> bool:
        """Show the memories of a context with their sources; return whether there were any."""
        by_id = {hit.id: hit for hit in answer.hits}
        places = self._places(list(by_id.values()))
        memories = [
            Memo(hit.id, hit.text, (hit.timestamp or "")[:10], hit.confidence, places[hit.id])
            for hit in (by_id[name] for name in context.included)
        ]
        self._view.remembered(memories)
        return bool(memories)

    def _keep_shown(self, answer: _Answer, context: PromptContext) -> None:
        """Keep what was shown as a turn, by ids and names alone, so that it can be reacted to."""
        names = [entity.entity.name for entity in answer.known.entities]
        facts = [id_ for id_ in context.included if id_.startswith("f")]
        if names and facts:
            self._keep_answer(f"Shown from memory: {', '.join(names)} ({', '.join(facts)})")

    def _modelled(self, answer: _Answer) -> None:
        memory, known = self._memory, answer.known
        if self._talk is None:
            self._talk = Talk(memory.resources.llm)
        context = self._turns.context(answer.hits, memory.resources.llm.context_tokens)
        answer.given.update(context.included)
        pages = ""
        try:
            basis = self._decided(answer, context)
        except ModelError as error:
            self._failed(answer, context, error)
            return
        if basis.of == "search":
            search_answer = self._search(answer, basis.query)
            if search_answer is None and answer.withheld and basis.query != known.query:
                basis = replace(basis, query=known.query)  # a model has read more than the message
                search_answer = self._search(answer, basis.query)
            if search_answer is None:
                basis = replace(basis, of="conversation", query="")
            else:
                pages = pages_as_data(search_answer, redact=memory.resources.redactor.redact)
        self._view.based(basis)
        prompt = Prompt(
            system=context.text,
            history=self._turns.history[:-1],
            message=answer.message,
            pages=pages,
        )
        self._stream(answer, context, prompt)

    def _decided(self, answer: _Answer, context: PromptContext) -> Basis:
        """Return what an answer stands on: the rule says so, or else the model does.

        Raises ModelError where the model cannot be reached at all.
        """
        known = answer.known
        if not self._turns.is_searched_for(known, answer.message, memories=len(context.included)):
            return self._turns.basis(known, "", memories=len(context.included))
        texts = {hit.id: hit.text for hit in answer.hits if hit.id in context.included}
        assert self._talk is not None
        try:
            said = self._talk.judge(answer.message, texts)
        except ModelError as error:
            if error.kind in _UNREACHED:
                raise
            self._view.note(f"whether memory is enough is decided by the rule alone: {error}")
            return self._turns.basis(known, known.query)
        if said.needs == "memory":
            why = f"{self._memory.resources.llm.id} says that {', '.join(said.facts)} answer it"
            return Basis(of="memory", why=why, facts=said.facts)
        if said.needs == "neither":
            return Basis(of="conversation", why="")
        query = self._memory.resources.redactor.redact(said.query)
        return self._turns.basis(known, query or known.query)

    def _stream(self, answer: _Answer, context: PromptContext, prompt: Prompt) -> None:
        """Show an answer as it comes, and keep it, also where it was stopped or broke off."""
        assert self._talk is not None
        said: list[str] = []
        stopped = False
        broken: ModelError | None = None
        try:
            for part in self._talk.answer(prompt, self._tools(answer)):
                if isinstance(part, ToolCallShown):
                    self._view.asked(part.tool, part.query, part.said)
                    if said and not said[-1].endswith("\n"):
                        said.append("\n")
                else:
                    said.append(part)
                    self._view.piece(part)
        except Cancelled:
            stopped = True
        except ModelError as error:
            broken = error
        whole = "".join(said).strip()
        if broken is not None and not whole:
            self._failed(answer, context, broken)
            return
        kept = ""
        if whole:
            kept = self._keep_answer(whole + (STOPPED if stopped or broken else ""))
        cited = list(dict.fromkeys(_CITED.findall(whole)))
        places = self._places([hit for hit in (*answer.hits, *answer.more) if hit.id in cited])
        self._view.answered(
            kept, [Source(id_, places[id_]) for id_ in cited if places.get(id_)], stopped=stopped
        )
        if broken is not None:
            self._problem(broken, kept=True)
        elif not whole and not stopped:
            self._view.note("the model said nothing")
        invented = [id_ for id_ in cited if id_ not in answer.given]
        if invented:
            self._view.note(f"the answer names {', '.join(invented)}, which it was not given")

    def _failed(self, answer: _Answer, context: PromptContext, error: ModelError) -> None:
        self._problem(error, kept=True)
        if self._shown(answer, context):
            self._keep_shown(answer, context)

    def _tools(self, answer: _Answer) -> Toolbox:
        memory = self._memory

        def search_memory(given: SearchMemoryArguments) -> ToolText:
            hits = memory.search_memory(
                given.query,
                given.search_type,
                FOUND_MEMORIES,
                session=self.session,
                owner=self._owner,
            )
            hits = [hit for hit in hits if hit.session != self.session]
            answer.more += hits
            answer.given.update(hit.id for hit in hits)
            search_answer = render_memories(hits, now=memory.clock()) or "Nothing was found."
            return ToolText(text=search_answer, said=count(len(hits), "memory", "memories"))

        def search(given: SearchArguments) -> ToolText:
            search_answer = self._search(answer, memory.resources.redactor.redact(given.query))
            if answer.withheld:
                return ToolText(
                    text="error: this may be a private matter of the user, so it is not searched"
                    " for; answer from memory",
                    said="it may be private, so nothing is searched for",
                )
            if search_answer is None:
                return ToolText(text="error: the search failed; answer without it", said="failed")
            pages = pages_as_data(search_answer, redact=memory.resources.redactor.redact)
            return ToolText(text=pages, said=count(len(search_answer.results), "result"))

        return Toolbox(
            search_memory=search_memory, search=search if memory.resources.has_search else None
        )

    def _keep_answer(self, said: str) -> str:
        self._target = self._turns.id_of(self._turns.keep(said, Role.ASSISTANT))
        return self._target

    def _places(self, hits: Sequence[Hit]) -> dict[str, str]:
        """Return where memories come from: the address of a page, or a place in a source."""
        pages = self._turns.pages(hits)
        return {hit.id: pages.get(hit.id) or values.place(hit.source, hit.position) for hit in hits}

    def _tell(self, delivery: Delivery) -> None:
        """Show a notice between two turns; comes from the thread of the worker."""
        with self._lock:
            if self._serving:
                self._held.append(delivery)
                return
        self._show(delivery)

    def _show_held(self) -> None:
        """End a turn, and show what was held back meanwhile."""
        self._view.ended()
        with self._lock:
            self._serving = False
            held, self._held = self._held, []
        for delivery in held:
            self._show(delivery)

    def _show(self, delivery: Delivery) -> None:
        self._target = f"n{delivery.notice.id}"
        self._view.notice(delivery)

    def _pass_notices(self) -> LoopResult:
        """Tell this owner what waits: what others are told is none of this conversation's."""
        done = self._memory.background.notifier(self._tell, owner=self._owner).pass_once()
        return LoopResult(did=len(done.sent) + done.failed)

    @contextmanager
    def _worker(self) -> Iterator[Worker | None]:
        if not self._works and not self._waits:
            yield None
            return
        memory = self._memory
        off = SCRIPTED_OFF if self._waits else ()
        loops = [
            replace(loop, run=self._pass_notices) if loop.name == "notices" else loop
            for loop in memory.background.loops(off=off)
        ]
        with Worker(
            loops, clock=memory.clock, foreground=self._turns.foreground, on_step=self._remark
        ) as worker:
            if not self._waits:
                worker.start()
            yield worker

    def _behind(self, worker: Worker | None) -> None:
        if worker is None or self._waits:
            with self._guarded("stopped; the rest is done later"):
                worker.drain() if worker is not None else self._pass_notices()

    @contextmanager
    def _guarded(self, stopped: str) -> Iterator[None]:
        """Let a signal stop what is done, and say what went wrong with it."""
        self._pressed = 0
        token = self._token = Cancel()
        try:
            with cancelling(token):
                yield
        except Cancelled:
            self._view.note(stopped)
        except FactbookError as error:
            self._problem(error)
        finally:
            self._token = None

    def _problem(self, error: FactbookError, *, kept: bool = False) -> None:
        """Say what went wrong; commands are named as they are typed here.

        `kept`: what was said is in memory, whatever failed behind it.
        """
        said = self._memory.resources.redactor.redact(str(error))
        if kept:
            said = said.replace("nothing was written", "what you said is kept")
        self._view.problem(type(error).__name__, self._view.look.told(said))

    def _remark(self, step: LoopStep) -> None:
        """Say what a search that was made behind ran into, once."""
        if step.loop == "searches" and step.note and step.note not in self._remarked:
            self._remarked.add(step.note)
            self._view.note(step.note)

    @contextmanager
    def _signals(self) -> Iterator[None]:
        """Let Ctrl-C stop the turn that goes on, and SIGTERM end the conversation behind it."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return

        def stop(number: int, frame: FrameType | None) -> None:
            self._terminated = self._terminated or number == signal.SIGTERM
            self._pressed += 1
            token = self._token
            if token is None or self._pressed > 1:  # at the prompt, or the turn does not end
                raise KeyboardInterrupt
            token.cancel()

        before: dict[int, Any] = {}
        for number in (int(signal.SIGINT), int(signal.SIGTERM)):
            if signal.getsignal(number) is not signal.SIG_IGN:  # as nohup wants it
                before[number] = signal.signal(number, stop)
        try:
            with self._watched(before):
                yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    @contextmanager
    def _watched(self, signals: Iterable[int]) -> Iterator[None]:
        """Cancel the turn that goes on as soon as a signal comes, and wake who waits for a line.

        A handler runs in the main thread when that comes back from what it waits for. A signal that
        comes right before it begins to wait, or to another thread, does not end the waiting. But
        its number is written to a pipe at once; whoever reads it there cancels the turn, and sends
        the main thread a signal that means nothing, which does.
        """
        known = frozenset(signals)
        ours, pythons = os.pipe()
        os.set_blocking(pythons, False)
        waiting = threading.get_ident()

        def watch() -> None:
            while numbers := os.read(ours, 64):
                if known.isdisjoint(numbers):
                    continue
                token = self._token
                if token is not None:
                    token.cancel()
                for pause in KICKS_S:
                    time.sleep(pause)
                    if _KICK is not None:
                        signal.pthread_kill(waiting, _KICK)
            os.close(ours)

        threading.Thread(target=watch, name="factbook-signals", daemon=True).start()
        kicked = None if _KICK is None else signal.signal(_KICK, lambda number, frame: None)
        before = signal.set_wakeup_fd(pythons, warn_on_full_buffer=False)
        try:
            yield
        finally:
            signal.set_wakeup_fd(before)
            if _KICK is not None:
                signal.signal(_KICK, kicked)
            os.close(pythons)  # the thread reads its end

    @contextmanager
    def _warnings(self) -> Iterator[None]:
        """Show what fails behind between the turns, and not in the middle of a line."""
        handler = _Remarks(self._view.note)
        log = logging.getLogger("factbook")
        propagates = log.propagate
        log.addHandler(handler)
        log.propagate = False
        try:
            yield
        finally:
            log.propagate = propagates
            log.removeHandler(handler)


@dataclass(slots=True, kw_only=True)
class _Answer:
    """What one answer is made from."""

    message: str  # redacted
    uid: str  # of its episode
    known: Knowledge
    hits: Sequence[Hit]  # what memory has for it, best first
    more: list[Hit] = field(default_factory=list)  # that a tool found
    given: set[str] = field(default_factory=set)  # ids that the model was shown
    withheld: bool = False  # the last search was not made, for it may be a private matter


class _Remarks(logging.Handler):
    """Hands warnings to a view, each once."""

    def __init__(self, note: Callable[[str], None]) -> None:
        super().__init__(logging.WARNING)
        self._note = note
        self._said: set[str] = set()

    def emit(self, record: logging.LogRecord) -> None:
        said = record.getMessage()
        if said not in self._said:
            self._said.add(said)
            self._note(said)
