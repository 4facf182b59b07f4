"""What searches and messages say of the world: entities, facts, engagements.

    source       search, message          `WorldReading.run`, oldest first, one worker at a time
    episodes     its results, itself      pieces, each one transaction (`_of_search`, `_of_message`)
    candidates   names, claims, likes     `extract`, and what a model sees (`world_model`)
    verdicts     new, known, refused      `gate.names`, `gate.known`, `gate.notices`
    Ops          with the reader's fence  who comes in (`world_names`), what is kept (`world_facts`)
    receipt      in `ExtractionReport`, with what could not be read

Two modes. *Full*: what a person caused may bring entities in. *Known-only*: what we looked up by
ourselves is read for facts about known entities and for nothing else, with a prompt of its own
where there is a model; `apply` refuses the rest whatever this module, a rule or a model says.

Reading goes by pieces, each one transaction: a message; of a search, what a model sees in each
result, the new things that all of them show, what each result says, and in the end what is told of
it. So a step that is stopped loses the piece that it was at, and the next one goes on from there.

One worker at a time reads, by a lease: what a text says is compared with what is known. What
cannot be read waits, visibly and longer each time, and holds up no other: it is never "no facts".
Errors of the store itself are no fault of a text and end the pass.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Final

from factbook import policy
from factbook.errors import (
    EmbedderError,
    FactbookError,
    ModelError,
    ModelFailure,
    StoreError,
    TakenOver,
    UsageError,
)
from factbook.extract import turn_reading
from factbook.extract.entity_prompts import PROMPT_VERSION
from factbook.extract.mentions import RECENT_MESSAGES, called, hear, spoken_of
from factbook.extract.opinions import preferences_in
from factbook.extract.prompt_injection import hostile, taint
from factbook.extract.voice import own_words
from factbook.extract.world import STEERED, facts_about
from factbook.model.entities import SearchLog
from factbook.model.facts import EVERYONE, Millis, Receipt, StoredEpisode, Trigger
from factbook.model.interest_ops import FailResult, Fence, MarkExtracted, MarkHeard, MarkResultRead
from factbook.model.ops import FailTask, FinishTask, Op
from factbook.net import cancel
from factbook.net.http import one_line
from factbook.pipelines.asking import is_endpoints, wait_ms
from factbook.pipelines.world_facts import (
    Facts,
    Gathered,
    TextVectors,
    announcements,
    joined_ops,
    refusal,
)
from factbook.pipelines.world_model import ModelReading
from factbook.pipelines.world_names import EntityIntake, by_new_thing
from factbook.store.derived.entities import known_names
from factbook.store.derived.ledger import said_before
from factbook.store.derived.searches import is_discovered, results_of, search_logs
from factbook.store.derived.tasks import open_tasks, unheard
from factbook.store.kinds import MODEL_TASK
from factbook.store.leases import drop_lease, due, holder_name, take_lease

if TYPE_CHECKING:
    from factbook.context import Context
    from factbook.model.facts import ModelTask
    from factbook.store.kinds import ResultRow
    from factbook.store.port import Store

SEARCH_TASK: Final = "search"  # kinds of model tasks
HEAR_TASK: Final = "hear"
READING: Final = "reading"  # the lease of whoever reads
RULES: Final = "rules"  # the version of what failed without a model having a part in it

_LOG = logging.getLogger(__name__)
_DISCOVERING: Final = frozenset({Trigger.USER_MESSAGE, Trigger.LEARN_COMMAND})


@dataclass(slots=True, kw_only=True)
class ExtractionReport:
    """What one pass over unread searches and messages did."""

    searches: int = 0  # read to their end
    messages: int = 0
    pieces: int = 0  # transactions of reading: messages, and steps of searches
    note: str = ""  # why nothing was read, where another worker reads
    failed: list[tuple[str, str]] = field(default_factory=list)  # (what, why), unread still
    receipt: Receipt = field(default_factory=Receipt)


@dataclass(slots=True, kw_only=True)
class _Piece:
    """What is read next: one text, or one step of a search."""

    kind: str  # of the task that keeps count of its failures
    target: int
    trigger: Trigger
    work: Callable[[], list[Op]]
    result: ResultRow | None = None  # that is read or looked through
    discovers: bool = False  # whether it brings in what a search shows
    ends: bool = False  # whether its search or message is read then

    @property
    def what(self) -> str:
        """What it belongs to, for whoever looks after it."""
        return f"{'search' if self.kind == SEARCH_TASK else 'message'} {self.target}"


class WorldReading:
    """Reads what one store holds unread of searches and messages."""

    def __init__(
        self, context: Context, *, interests: Callable[[str], Mapping[int, float]]
    ) -> None:
        """Compose; `interests` gives an owner's interest by entity id."""
        self._context = context
        self._store = context.store
        self._clock = context.clock
        self._interests = interests
        self._lease = _Lease(context.store, context.clock)
        self._vectors = TextVectors(context)  # of one search or message
        self._names = EntityIntake(context, self._vectors)
        self._facts = Facts(context, self._vectors)
        self._model = ModelReading(context, renew=self._lease.renew)
        self._input = ("", 0)

    def run(self, *, limit: int | None = None) -> ExtractionReport:
        """Read unread searches, then unread messages, oldest first; `limit` pieces at most.

        What fails is no piece, and what comes after it is read. While another worker reads,
        nothing is, and the report says so.
        """
        report = ExtractionReport()
        if self._next() is None:
            return report
        with self._lease.held() as mine:
            if not mine:
                report.note = "another worker is reading"
                return report
            try:
                while limit is None or report.pieces < limit:
                    cancel.check()
                    piece = self._next()
                    if piece is None or not self._read(piece, report):
                        return report
            except TakenOver as error:
                report.note = str(error)
        return report

    def _next(self) -> SearchLog | StoredEpisode | None:
        """Return what is to be read next, without what failed and may not be tried yet."""
        held = self._held()
        for log in search_logs(self._store, EVERYONE, extracted=False, limit=len(held) + 1):
            if (SEARCH_TASK, log.id) not in held:
                return log
        for message in unheard(self._store, EVERYONE, now=self._clock(), limit=len(held) + 1):
            if (HEAR_TASK, message.id) not in held:
                return message
        return None

    def _held(self) -> set[tuple[str, int]]:
        """Return what failed and may not be tried yet, or was set aside.

        Without a model, what only a model failed at is read by rules at once.
        """
        tasks = self._tasks()
        if not tasks:
            return set()
        now, modelled = self._clock(), self._context.model is not None
        return {
            target
            for target, task in tasks.items()
            if (task.state == "aside" or not due(task.until, now=now))
            and (modelled or task.version == RULES)
            and not self._goes_on(task)
        }

    def _goes_on(self, task: ModelTask) -> bool:
        """Tell whether results of a search can be read before it may be tried again.

        What is wrong with one of them says nothing of the others; a model that failed at one is
        given time.
        """
        if task.kind != SEARCH_TASK or task.state == "aside" or task.version != RULES:
            return False
        (log,) = search_logs(self._store, EVERYONE, ids=[task.target])
        return not self._may_discover(log) and any(
            not result.is_read and result.failed < task.attempts
            for result in results_of(self._store, log.id)
        )

    def _may_discover(self, log: SearchLog) -> bool:
        """Tell whether a search may bring new things in and was not looked through for them."""
        return log.trigger in _DISCOVERING and not is_discovered(self._store, log.id)

    def _tasks(self) -> dict[tuple[str, int], ModelTask]:
        tasks = open_tasks(self._store, SEARCH_TASK, HEAR_TASK)
        return {(task.kind, task.target): task for task in tasks}

    def _read(self, found: SearchLog | StoredEpisode, report: ExtractionReport) -> bool:
        """Read the next piece and write what it says; False where the next would fail alike."""
        piece = self._of_search(found) if isinstance(found, SearchLog) else self._of_message(found)
        self._facts.clear()
        if self._input != (piece.kind, piece.target):
            self._input = (piece.kind, piece.target)
            self._vectors.clear()
        try:
            self._lease.renew()
            ops = piece.work()
            cancel.check()
            if piece.ends and (self._context.model is not None or self._input in self._tasks()):
                ops.append(FinishTask(kind=piece.kind, target=piece.target, version=PROMPT_VERSION))
            write = self._write_new if piece.discovers else self._write
            write(ops, piece.trigger, report)
            if piece.kind == HEAR_TASK and (twice := joined_ops(self._store, [piece.target])):
                report.receipt.add(self._context.write(twice, Trigger.UPKEEP))
        except StoreError:
            raise  # no fault of what was read
        except Exception as error:  # noqa: BLE001
            # The border of untrusted text. Whatever a page makes our own code raise, it must not
            # stop the reading of all others for ever, nor do so unseen: it is logged with its
            # traceback, counted in the report and in the file, shown by doctor, tried again later
            # and in the end set aside.
            return self._failed(piece, error, report)
        report.pieces += 1
        if piece.ends:
            report.searches += piece.kind == SEARCH_TASK
            report.messages += piece.kind == HEAR_TASK
        return True

    def _write(self, ops: Sequence[Op], trigger: Trigger, report: ExtractionReport) -> None:
        """Write what was read, unless another worker reads by now."""
        report.receipt.add(self._context.write([*ops, self._lease.fence()], trigger))

    def _failed(self, piece: _Piece, error: Exception, report: ExtractionReport) -> bool:
        """Let what could not be read wait; False where the next pieces would fail alike."""
        why = _reason(error, self._context.redact)
        report.failed.append((piece.what, why))
        kind = error.kind if isinstance(error, ModelError) else None
        if kind in (ModelFailure.NOT_CONFIGURED, ModelFailure.OVER_BUDGET):
            return False  # it was not tried: its count stays
        if not isinstance(error, FactbookError):  # none of our own words: its traceback says where
            _LOG.warning("%s could not be read: %s", piece.what, why, exc_info=error)
        known = self._tasks().get((piece.kind, piece.target))
        attempts = known.attempts if known else 0
        endpoints = isinstance(error, ModelError) and is_endpoints(error, answered=True)
        untried = isinstance(error, EmbedderError) or endpoints
        elsewhere = untried or kind is ModelFailure.CONNECT
        ops: list[Op] = []
        if piece.result is not None and not elsewhere:
            ops.append(FailResult(search_id=piece.target, episode_id=piece.result.episode_id))
        # Several results that fail in one round are one failure of their search.
        counted = piece.result is not None and piece.result.failed < attempts
        if elsewhere or kind is not None or not counted:
            tried = not untried
            ops.append(
                FailTask(
                    kind=piece.kind,
                    target=piece.target,
                    version=PROMPT_VERSION if kind else RULES,
                    error=why,
                    tried=tried,
                    wait_ms=wait_ms(error) if isinstance(error, ModelError) else 0,
                )
            )
            if piece.kind == SEARCH_TASK and attempts + tried >= policy.MODEL_ATTEMPTS:
                # It is set aside: what its other results brought is told now, or never.
                ops += self._announce(search_logs(self._store, EVERYONE, ids=[piece.target])[0])
        self._write(ops, piece.trigger, report)
        return not elsewhere

    def _of_search(self, log: SearchLog) -> _Piece:
        """Return the next piece of a search; its trigger decides what it may do."""

        piece = partial(_Piece, kind=SEARCH_TASK, target=log.id, trigger=log.trigger)
        states = results_of(self._store, log.id)
        if self._may_discover(log):
            waiting = [state for state in states if state.seen is None]
            unseen = [state for state in waiting if state.failed < policy.LOOK_ATTEMPTS]
            if self._context.model is None or not unseen:
                return piece(work=lambda: self._names.discover(log, states), discovers=True)
            seen = min(unseen, key=lambda result_row: result_row.failed)
            return piece(work=lambda: self._look(log, seen.episode_id), result=seen)
        unread = [state for state in states if not state.is_read]
        if not unread:
            done = MarkExtracted(search_id=log.id)
            return piece(work=lambda: [*self._announce(log), done], ends=True)
        result = min(unread, key=lambda result_row: result_row.failed)  # what failed comes last
        return piece(work=lambda: self._result(log, result.episode_id), result=result)

    def _look(self, log: SearchLog, episode_id: int) -> list[Op]:
        """Return what keeps the new names that a model sees in a result."""
        episode = self._store.episodes_by_id([episode_id])[episode_id]
        return self._model.look(log, episode, self._names.known(log.owner))

    def _result(self, log: SearchLog, episode_id: int) -> list[Op]:
        """Return what one result says of the entities that are known."""
        episode = self._store.episodes_by_id([episode_id])[episode_id]
        details = self._store.heads([episode_id])[episode_id].attributes
        gained = Gathered(names=self._names.known(log.owner))
        claims, refused = facts_about(
            episode.text, names=gained.names, title=details.get("title", ""), external=True
        )
        ours = log.trigger not in _DISCOVERING
        claims = [*claims, *self._model.facts(log.query, episode, gained, known_only=ours)]
        self._facts.keep(claims, episode, gained)
        orders = {mark.why for mark in taint(episode.text) if hostile(mark)} if refused else set()
        orders.add(STEERED)
        for content, why in refused:
            reason = "external_instruction" if why in orders else "not_a_fact"
            gained.ops.append(refusal(episode, content, reason, why))
        read = MarkResultRead(search_id=log.id, episode_id=episode_id, finds=gained.finds)
        return [*gained.ops, read]

    def _announce(self, log: SearchLog) -> list[Op]:
        return announcements(self._context, log, self._interests)

    def _write_new(self, ops: Sequence[Op], trigger: Trigger, report: ExtractionReport) -> None:
        """Write what a search brings in; of new things that the store refuses, the reason."""
        try:
            self._write(ops, trigger, report)
            return
        except UsageError as error:
            parts, left = by_new_thing(ops)
            if not parts:
                raise
            _LOG.warning("of what a search would bring in, some is refused: %s", error)
        for thing, part in parts:
            try:
                self._write(part, trigger, report)
            except UsageError as error:
                episode_id = self._store.episode_ids([thing.episode])[thing.episode]
                episode = self._store.episodes_by_id([episode_id])[episode_id]
                left.append(refusal(episode, thing.name, "not_a_name", str(error)))
        self._write(left, trigger, report)

    def _of_message(self, message: StoredEpisode) -> _Piece:
        return _Piece(
            kind=HEAR_TASK,
            target=message.id,
            trigger=Trigger.USER_MESSAGE,
            work=lambda: self._message(message),
            ends=True,
        )

    def _message(self, message: StoredEpisode) -> list[Op]:
        """Return what a message of its owner says: who is spoken of, and how they are seen."""
        owner, text = message.owner, message.text
        known = known_names(self._store, owner)
        gained = Gathered(names=called(known))
        before = said_before(self._store, message, limit=RECENT_MESSAGES)
        recent = spoken_of([episode.text for episode in before], known)
        voice = own_words(text, pasted=message.pasted)
        named = hear(text, known=known, recent=recent, voice=voice)
        # What others wrote in it nobody reads on; of the rest every place stays where it is.
        text = voice.text
        message = replace(message, text=text)
        if self._context.model is not None and not self._is_turn_read(message.id):
            named = [*named, *self._model.heard(message, named, gained)]
        for mention in named:
            self._names.hear(mention, message, gained)
        for topic, kind, start, end in preferences_in(text, voice=voice):
            self._names.prefer(topic, kind, message, gained, text[start:end])
        spoken = {mention.name for mention in named} & gained.names.keys()
        mine = {name: gained.names[name] for name in sorted(spoken) if gained.names[name]}
        claims, _ = facts_about(text, names=mine, external=False)
        if mine:
            claims = [*claims, *self._model.facts("", message, gained)]
        self._facts.keep(claims, message, gained)
        return [*gained.ops, MarkHeard(episode_id=message.id)]

    def _is_turn_read(self, episode_id: int) -> bool:
        """Tell whether a model was asked for the names of a message with the rest of its turn."""
        done = {"kind": turn_reading.PURPOSE, "target": episode_id, "state": "done"}
        tasks = self._store.find(MODEL_TASK, done)
        return any(task.version == turn_reading.PROMPT_VERSION for task in tasks)


def _reason(error: Exception, redact: Callable[[str], str]) -> str:
    """Return why a text could not be read, as one line; a fault of ours by its kind too."""
    said = str(error)
    if said and not isinstance(error, FactbookError | ValueError):
        said = f"{type(error).__name__}: {said}"
    return one_line(redact(said or type(error).__name__))


class _Lease:
    """The right to read a store, which one worker at a time has."""

    def __init__(self, store: Store, clock: Callable[[], Millis]) -> None:
        self._store = store
        self._clock = clock
        self._holder = holder_name()
        self._token = 0
        self._at: Millis = 0

    @contextmanager
    def held(self) -> Iterator[bool]:
        """Hold the lease while the context lasts; False where another worker has it."""
        token = self._take()
        if token is None:
            yield False
            return
        self._token = token
        try:
            yield True
        finally:
            drop_lease(self._store, READING, token=self._token)

    def renew(self) -> None:
        """Hold it longer; raises TakenOver where another worker has, or has had it."""
        if self._clock() - self._at < policy.LEASE_MS // 4:
            return
        token = self._take()
        if token is not None and token != self._token:
            drop_lease(self._store, READING, token=token)
        if token != self._token:
            raise TakenOver(what=READING)

    def fence(self) -> Fence:
        """Return the op that refuses what was read where another worker has read since."""
        return Fence(lease=READING, token=self._token)

    def _take(self) -> int | None:
        self._at = self._clock()
        return take_lease(self._store, READING, holder=self._holder, now=self._at)
