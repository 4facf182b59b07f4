"""Read searches and messages for entities, facts and engagements (seed 003, loop 1).

    search or message -> who is spoken of -> gates -> what is said of them -> Ops -> Receipt

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
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from factbook import cancel, policy
from factbook.errors import (
    EmbedderError,
    FactbookError,
    ModelError,
    ModelFailure,
    StoreError,
    TakenOver,
    UsageError,
)
from factbook.extract import entity_prompts
from factbook.extract.external import hostile, taint
from factbook.extract.heard import Named, hear, preferences_in
from factbook.extract.opinions import NO_MORE_OF_IT
from factbook.extract.topics import topic_of
from factbook.extract.voice import OwnWords, own_words
from factbook.extract.world import (
    STEERED,
    Discovery,
    ResultText,
    WorldClaim,
    corroborated,
    discover,
    facts_about,
)
from factbook.gate.grounding import Support, ground, read_passage
from factbook.gate.judge import Claim, Reading, Relation, judge, read
from factbook.gate.names import judge_name, name_text, structural_problem
from factbook.gate.restated import RESTATED_SIMILARITY, contains, restates
from factbook.gate.same_entity import known_as, part_of
from factbook.http import one_line
from factbook.interest.notify import Find, mode_of, worth_telling
from factbook.keys import entity_name
from factbook.model import (
    EVERYONE,
    Candidate,
    Fact,
    FactKind,
    Millis,
    Receipt,
    StoredEpisode,
    Trigger,
    Trust,
)
from factbook.ops import (
    AddAlias,
    Announce,
    AssertFact,
    CreateEntity,
    FailResult,
    FailTask,
    Fence,
    FinishTask,
    KeepSeen,
    MarkDiscovered,
    MarkExtracted,
    MarkHeard,
    MarkResultRead,
    MuteEntity,
    NewFind,
    Op,
    RecordEngagement,
    RejectCandidate,
    SeenName,
    SetPreference,
    SupportFact,
)
from factbook.store.leases import due, holder_name
from factbook.world import EngagementType, PreferenceType, SearchLog, Valence

if TYPE_CHECKING:
    from pydantic import BaseModel

    from factbook.context import Context
    from factbook.llm.base import LLM, Message
    from factbook.store.base import ModelTask, Store
    from factbook.store.base_world import ResultState

__all__ = ["ABOUT", "Extraction", "ExtractionReport", "spoken_of"]

ABOUT: Final = "about"
SEARCH_TASK: Final = "search"  # kinds of model tasks
HEAR_TASK: Final = "hear"
READING: Final = "reading"  # the lease of whoever reads
RULES: Final = "rules"  # the version of what failed without a model having a part in it
RECENT_MESSAGES: Final = 6  # ours: of the conversation, that "it" and a follow-up may refer to
MODEL_ENTITIES: Final = 12  # ours: entities of one text that a model is asked about, one call each

_LOG = logging.getLogger(__name__)
_DISCOVERING: Final = frozenset({Trigger.USER_MESSAGE, Trigger.LEARN_COMMAND})
_Answer = TypeVar("_Answer", bound="BaseModel")


@dataclass(slots=True, kw_only=True)
class ExtractionReport:
    """What one pass over unread searches and messages did."""

    searches: int = 0  # read to their end
    messages: int = 0
    pieces: int = 0  # transactions of reading: messages, and steps of searches
    note: str = ""  # why nothing was read, where another worker reads
    failed: list[tuple[str, str]] = field(default_factory=list)  # (what, why), unread still
    receipt: Receipt = field(default_factory=Receipt)


@dataclass(slots=True)
class _Read:
    """What one piece comes to, before it is written."""

    ops: list[Op] = field(default_factory=list)
    names: dict[str, list[str]] = field(default_factory=dict)  # canonical -> surfaces, known or new
    new: set[str] = field(default_factory=set)
    finds: list[NewFind] = field(default_factory=list)  # facts that it brings


@dataclass(slots=True, kw_only=True)
class _Piece:
    """What is read next: one text, or one step of a search."""

    kind: str  # of the task that keeps count of its failures
    target: int
    trigger: Trigger
    work: Callable[[], list[Op]]
    result: ResultState | None = None  # that is read or looked through
    discovers: bool = False  # whether it brings in what a search shows
    ends: bool = False  # whether its search or message is read then

    @property
    def what(self) -> str:
        """What it belongs to, for whoever looks after it."""
        return f"{'search' if self.kind == SEARCH_TASK else 'message'} {self.target}"


@dataclass(slots=True, kw_only=True)
class _Known:
    """A fact about an entity, ready to be compared with."""

    fact: Fact | None  # None for one that this very call brings
    says: str  # its object: the sentence as it was found
    text: str  # its statement, which can be read alone
    vector: NDArray[np.float32]
    reading: Reading


class Extraction:
    """Reads what one store holds unread."""

    def __init__(
        self,
        context: Context,
        *,
        interests: Callable[[str], Mapping[int, float]],
    ) -> None:
        """Compose; `interests` gives an owner's interest by entity id."""
        self._context = context
        self._store = context.store
        self._clock = context.clock
        self._redact = context.redact
        self._interests = interests
        self._notify_on = context.notify_on
        self._lease = _Lease(context.store, context.clock)
        self._cache: dict[tuple[str, str], list[_Known]] = {}  # facts of entities, for one piece
        self._made: dict[str, NDArray[np.float32]] = {}  # vectors of texts, for one input
        self._input = ("", 0)

    # --- passes ---------------------------------------------------------------------------------

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
                    one = self._next()
                    if one is None or not self._read(one, report):
                        return report
            except TakenOver as error:
                report.note = str(error)
        return report

    def _next(self) -> SearchLog | StoredEpisode | None:
        """Return what is to be read next, without what failed and may not be tried yet."""
        held = self._held()
        for log in self._store.search_logs(EVERYONE, extracted=False, limit=len(held) + 1):
            if (SEARCH_TASK, log.id) not in held:
                return log
        for message in self._store.unheard(owner=EVERYONE, limit=len(held) + 1):
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
            for target, one in tasks.items()
            if (one.state == "aside" or not due(one.until, now=now))
            and (modelled or one.version == RULES)
            and not self._goes_on(one)
        }

    def _goes_on(self, task: ModelTask) -> bool:
        """Tell whether results of a search can be read before it may be tried again.

        What is wrong with one of them says nothing of the others; a model that failed at one is
        given time.
        """
        if task.kind != SEARCH_TASK or task.state == "aside" or task.version != RULES:
            return False
        (log,) = self._store.search_logs(EVERYONE, ids=[task.target])
        return not self._may_discover(log) and any(
            not one.is_read and one.failed < task.attempts
            for one in self._store.result_states(log.id)
        )

    def _may_discover(self, log: SearchLog) -> bool:
        """Tell whether a search may bring new things in and was not looked through for them."""
        return log.trigger in _DISCOVERING and not self._store.is_discovered(log.id)

    def _tasks(self) -> dict[tuple[str, int], ModelTask]:
        return {
            (one.kind, one.target): one
            for one in self._store.model_tasks()
            if one.kind in (SEARCH_TASK, HEAR_TASK)
        }

    def _read(self, one: SearchLog | StoredEpisode, report: ExtractionReport) -> bool:
        """Read the next piece and write what it says; False where the next would fail alike."""
        piece = self._of_search(one) if isinstance(one, SearchLog) else self._of_message(one)
        self._cache.clear()
        if self._input != (piece.kind, piece.target):
            self._input = (piece.kind, piece.target)
            self._made.clear()
        try:
            self._lease.renew()
            ops = piece.work()
            cancel.check()
            if piece.ends and (self._context.model is not None or self._input in self._tasks()):
                ops.append(
                    FinishTask(
                        kind=piece.kind, target=piece.target, version=entity_prompts.PROMPT_VERSION
                    )
                )
            write = self._write_new if piece.discovers else self._write
            write(ops, piece.trigger, report)
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
        why = _reason(error, self._redact)
        report.failed.append((piece.what, why))
        kind = error.kind if isinstance(error, ModelError) else None
        if kind in (ModelFailure.NOT_CONFIGURED, ModelFailure.OVER_BUDGET):
            return False  # it was not tried: its count stays
        if not isinstance(error, FactbookError):  # none of our own words: its traceback says where
            _LOG.warning("%s could not be read: %s", piece.what, why, exc_info=error)
        known = self._tasks().get((piece.kind, piece.target))
        attempts = known.attempts if known else 0
        elsewhere = isinstance(error, EmbedderError) or kind is ModelFailure.CONNECT
        ops: list[Op] = []
        if piece.result is not None and not elsewhere:
            ops.append(FailResult(search_id=piece.target, episode_id=piece.result.episode_id))
        # Several results that fail in one round are one failure of their search.
        counted = piece.result is not None and piece.result.failed < attempts
        if elsewhere or kind is not None or not counted:
            tried = not isinstance(error, EmbedderError)
            ops.append(
                FailTask(
                    kind=piece.kind,
                    target=piece.target,
                    version=entity_prompts.PROMPT_VERSION if kind else RULES,
                    error=why,
                    tried=tried,
                )
            )
            if piece.kind == SEARCH_TASK and attempts + tried >= policy.MODEL_ATTEMPTS:
                # It is set aside: what its other results brought is told now, or never.
                ops += self._tell(self._store.search_logs(EVERYONE, ids=[piece.target])[0])
        self._write(ops, piece.trigger, report)
        return not elsewhere

    # --- searches -------------------------------------------------------------------------------

    def _of_search(self, log: SearchLog) -> _Piece:
        """Return the next piece of a search; its trigger decides what it may do."""

        def piece(
            work: Callable[[], list[Op]],
            result: ResultState | None = None,
            *,
            discovers: bool = False,
            ends: bool = False,
        ) -> _Piece:
            return _Piece(
                kind=SEARCH_TASK,
                target=log.id,
                trigger=log.trigger,
                work=work,
                result=result,
                discovers=discovers,
                ends=ends,
            )

        states = self._store.result_states(log.id)
        llm = self._context.model
        if self._may_discover(log):
            unseen = [
                one for one in states if one.seen is None and one.failed < policy.LOOK_ATTEMPTS
            ]
            if llm is None or not unseen:
                return piece(lambda: self._discover(log, states), discovers=True)
            seen = min(unseen, key=lambda one: one.failed)
            return piece(lambda: self._look(log, seen.episode_id, llm), seen)
        unread = [one for one in states if not one.is_read]
        if not unread:
            return piece(lambda: [*self._tell(log), MarkExtracted(search_id=log.id)], ends=True)
        result = min(unread, key=lambda one: one.failed)  # what failed comes last
        return piece(lambda: self._result(log, result.episode_id, llm), result)

    def _result(self, log: SearchLog, episode_id: int, llm: LLM | None) -> list[Op]:
        """Return what one result says of the entities that are known."""
        episode = self._store.episodes_by_id([episode_id])[episode_id]
        details = self._store.attributes_of([episode_id])[episode_id]
        found = _Read(names=self._names(log.owner))
        claims, refused = facts_about(
            episode.text, names=found.names, title=details.get("title", ""), external=True
        )
        claims = [
            *claims,
            *self._model_facts(
                log.query, episode, found, llm, allow_new_entities=log.trigger in _DISCOVERING
            ),
        ]
        self._keep(claims, episode, found)
        orders = {one.why for one in taint(episode.text) if hostile(one)} if refused else set()
        orders.add(STEERED)
        for content, why in refused:
            reason = "external_instruction" if why in orders else "not_a_fact"
            found.ops.append(_refusal(episode, log.owner, content, reason, why))
        found.ops.append(MarkResultRead(search_id=log.id, episode_id=episode_id, finds=found.finds))
        return found.ops

    def _discover(self, log: SearchLog, states: Sequence[ResultState]) -> list[Op]:
        """Return what brings in the things that the results of a person's search show."""
        stored = self._store.episodes_by_id([one.episode_id for one in states])
        results = [stored[one.episode_id] for one in states]
        attributes = self._store.attributes_of(list(stored))
        found = _Read(names=self._names(log.owner))
        topic = topic_of(log.query).topic
        texts = [
            ResultText(
                text=one.text,
                title=attributes[one.id].get("title", ""),
                host=attributes[one.id].get("host", ""),
            )
            for one in results
        ]
        offered, left_out = discover(texts, query=log.query, topic=topic)
        seen = _seen(states, results, texts)
        if seen:
            more = corroborated(seen, texts, query=log.query, topic=topic)
            offered = [*offered, *more.found]
            left_out = [*left_out, *more.left_out]
        query_vector: NDArray[np.float32] | None = None
        for one in offered:
            if _is_known(one.name, found.names):
                continue
            index = one.spans[0][0]
            episode = results[index]
            problem = structural_problem(one.name)
            if problem:
                found.ops.append(_refusal(episode, log.owner, one.name, "not_a_name", problem))
                continue
            if query_vector is None:
                query_vector = self._vectors([topic or log.query])[0]
            context = _context(one, episode)
            vector = self._vectors([name_text(one.name, context)])[0]
            said = judge_name(one.name, query_vector=query_vector, name_vector=vector).problem
            if said is not None:
                found.ops.append(_refusal(episode, log.owner, one.name, "unrelated_name", said))
                continue
            name = self._bring_in(one.name, one.surface, episode, log.owner, found)
            if name:
                self._engage_discovered(log, name, found)
        untold = {one.one.name: one for one in left_out if not _is_known(one.one.name, found.names)}
        for one, reason, why in untold.values():
            episode = results[one.spans[0][0]]
            found.ops.append(_refusal(episode, log.owner, one.surface, reason, why))
        return [*found.ops, MarkDiscovered(search_id=log.id)]

    def _write_new(self, ops: Sequence[Op], trigger: Trigger, report: ExtractionReport) -> None:
        """Write what a search brings in; of new things that the store refuses, the reason."""
        try:
            self._write(ops, trigger, report)
            return
        except UsageError as error:
            new = [one for one in ops if isinstance(one, CreateEntity)]
            if not new:
                raise
            _LOG.warning("of what a search would bring in, some is refused: %s", error)
        names = {one.name for one in new}
        parted: dict[str, list[Op]] = {}
        left: list[Op] = []
        for op in ops:
            if isinstance(op, CreateEntity):
                parted.setdefault(op.name, []).append(op)
            elif isinstance(op, RecordEngagement) and op.entity in names:
                parted.setdefault(op.entity, []).append(op)
            else:
                left.append(op)
        for one in new:
            try:
                self._write(parted[one.name], trigger, report)
            except UsageError as error:
                found = self._store.episode_ids([one.episode])[one.episode]
                episode = self._store.episodes_by_id([found])[found]
                left.append(_refusal(episode, one.owner, one.name, "not_a_name", str(error)))
        self._write(left, trigger, report)

    def _engage_discovered(self, log: SearchLog, name: str, found: _Read) -> None:
        """Note what its owner did to bring an entity in: a search for things like it."""
        if log.cause_id is None:
            return
        cause = self._store.episodes_by_id([log.cause_id])[log.cause_id]
        learning = log.trigger is Trigger.LEARN_COMMAND
        kind = EngagementType.SEARCH_INITIATED if learning else EngagementType.MENTIONED_IN_PASSING
        found.ops.append(_engagement(log.owner, name, kind, cause.uid))

    def _bring_in(
        self, name: str, surface: str, episode: StoredEpisode, owner: str, found: _Read
    ) -> str:
        """Return the entity of a name: a known one that is the same thing, or a new one.

        Empty for one that its owner removed: a mention does not bring it back.
        """
        known = self._store.known_names(owner)
        known.update({one: one for one in found.new})
        cosines = self._name_cosines(name, owner)
        canonical = known_as(name, known, cosines=cosines, written=surface)
        if canonical is not None:
            found.ops.append(AddAlias(owner=owner, entity=canonical, alias=name))
            found.names.setdefault(canonical, [canonical]).append(name)
            found.names[name] = []  # it has no facts of its own
            return canonical
        removed = {one: one for one in self._store.deleted_names(owner)}
        deleted = known_as(name, removed, written=surface)
        if deleted is not None:
            why = f"its owner removed {deleted}"
            found.ops.append(_refusal(episode, owner, surface, "deleted_by_owner", why))
            return ""
        found.ops.append(CreateEntity(owner=owner, name=name, episode=episode.uid))
        found.names[name] = sorted({name, entity_name(surface), surface} - {""})
        found.new.add(name)
        return name

    def _name_cosines(self, name: str, owner: str) -> dict[str, float]:
        """Return the cosine of a name and each known one that has its vector."""
        embedder = self._context.embedder
        if self._store.embedder() != (embedder.id, embedder.dim):
            return {}
        by_id = self._store.entity_ids(owner)
        ids, raw = self._store.target_vectors("entity", list(by_id))
        if not ids:
            return {}
        rows = np.frombuffer(raw, np.float16).reshape(-1, embedder.dim).astype(np.float32)
        near = rows @ self._vectors([name])[0]
        return {by_id[one]: float(near[n]) for n, one in enumerate(ids)}

    # --- messages -------------------------------------------------------------------------------

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
        known = self._store.known_names(owner)
        found = _Read(names=self._names(owner))
        before = self._store.said_before(message.id, limit=RECENT_MESSAGES)
        recent = spoken_of([one.text for one in before], known)
        llm = self._context.model
        voice = own_words(text, pasted=message.pasted)
        named = hear(text, known=known, recent=recent, voice=voice)
        # What others wrote in it nobody reads on; of the rest every place stays where it is.
        text = voice.text
        message = replace(message, text=text)
        if llm is not None:
            named = [*named, *self._model_heard(message, named, found, llm)]
        for one in named:
            self._hear(one, message, found)
        for topic, kind, start, end in preferences_in(text, voice=OwnWords(text, ())):
            self._prefer(topic, kind, message, found, text[start:end])
        spoken = {one.name for one in named} & found.names.keys()
        mine = {name: found.names[name] for name in sorted(spoken) if found.names[name]}
        claims, _ = facts_about(text, names=mine, external=False)
        if llm is not None and mine:
            claims = [*claims, *self._model_facts("", message, found, llm, allow_new_entities=True)]
        self._keep(claims, message, found)
        found.ops.append(MarkHeard(episode_id=message.id))
        return found.ops

    def _hear(self, one: Named, message: StoredEpisode, found: _Read) -> None:
        owner, name = message.owner, one.name
        if not one.is_known and name not in found.names:
            problem = structural_problem(name)
            if problem:
                found.ops.append(_refusal(message, owner, name, "not_a_name", problem))
                return
            name = self._bring_in(name, message.text[one.start : one.end], message, owner, found)
            if not name:
                return
        found.ops.append(_engagement(owner, name, one.type, message.uid, valence=one.valence))
        if one.why == NO_MORE_OF_IT:
            known = self._store.entity_named(owner, name)
            if (
                known is not None and known.current
            ):  # of one that comes in just now nothing is told anyway
                found.ops.append(MuteEntity(entity_id=known.id, muted=True))

    def _prefer(
        self,
        topic: str,
        kind: PreferenceType,
        message: StoredEpisode,
        found: _Read,
        quote: str,
    ) -> None:
        name = entity_name(topic)
        problem = structural_problem(name)
        if problem:
            found.ops.append(_refusal(message, message.owner, quote, "not_a_name", problem))
            return
        found.ops.append(
            SetPreference(owner=message.owner, topic=name, type=kind, episode=message.uid)
        )
        strength, positive = policy.ENGAGEMENTS[EngagementType.EXPLICIT_STATEMENT]
        valence = positive if kind is PreferenceType.LIKE else Valence.NEGATIVE
        if name not in found.names:
            found.ops.append(
                RecordEngagement(
                    owner=message.owner,
                    type=EngagementType.EXPLICIT_STATEMENT,
                    valence=valence,
                    strength=strength,
                    preference=name,
                    episode=message.uid,
                )
            )

    # --- with a model ---------------------------------------------------------------------------

    def _ask(
        self, llm: LLM, messages: Sequence[Message], schema: type[_Answer], purpose: str
    ) -> _Answer:
        """Ask a model, as whoever reads still."""
        self._lease.renew()
        return llm.ask(messages, schema, purpose=purpose)

    def _look(self, log: SearchLog, episode_id: int, llm: LLM) -> list[Op]:
        """Return what keeps the new names that a model sees in a result; code decides of them."""
        episode = self._store.episodes_by_id([episode_id])[episode_id]
        known = self._names(log.owner)
        messages = entity_prompts.entities_messages(
            log.query, episode.text, known=sorted(known), full=True
        )
        answer = self._ask(llm, messages, entity_prompts.EntitiesFull, "entities")
        names, refused = entity_prompts.read_entities(answer, episode.text, known=known, full=True)
        seen = [SeenName(start=one.start, end=one.end) for one in names if one.name not in known]
        return [
            *(_refusal(episode, log.owner, what, reason, why) for what, reason, why in refused),
            KeepSeen(search_id=log.id, episode_id=episode_id, names=seen),
        ]

    def _model_heard(
        self, message: StoredEpisode, named: Sequence[Named], found: _Read, llm: LLM
    ) -> list[Named]:
        messages = entity_prompts.entities_messages(
            "", message.text, known=sorted(found.names), full=True
        )
        answer = self._ask(llm, messages, entity_prompts.EntitiesFull, "entities")
        names, refused = entity_prompts.read_entities(
            answer, message.text, known=found.names, full=True, external=False
        )
        found.ops += [
            _refusal(message, message.owner, what, reason, why) for what, reason, why in refused
        ]
        heard = {one.name for one in named}
        _, valence = policy.ENGAGEMENTS[EngagementType.MENTIONED_IN_PASSING]
        return [
            Named(
                name=one.name,
                start=one.start,
                end=one.end,
                type=EngagementType.MENTIONED_IN_PASSING,
                valence=valence,
                is_known=one.name in found.names,
                why=f"named by {llm.id}",
            )
            for one in names
            if one.name not in heard
        ]

    def _model_facts(
        self,
        query: str,
        episode: StoredEpisode,
        found: _Read,
        llm: LLM | None,
        *,
        allow_new_entities: bool,
    ) -> list[WorldClaim]:
        """Return what a model says is said of the entities of a text, held to the text."""
        if llm is None:
            return []
        spoken = _named_in(episode.text, found.names)
        if not allow_new_entities and spoken:
            messages = entity_prompts.entities_messages(
                query, episode.text, known=sorted(spoken), full=False
            )
            answer = self._ask(llm, messages, entity_prompts.EntitiesKnown, "entities")
            names, refused = entity_prompts.read_entities(
                answer, episode.text, known=found.names, full=False
            )
            found.ops += [
                _refusal(episode, episode.owner, what, reason, why) for what, reason, why in refused
            ]
            spoken = [one.name for one in names]
        claims: list[WorldClaim] = []
        passage = read_passage(episode.text)
        for name in spoken[:MODEL_ENTITIES]:
            known = [one.object for one in self._store.world_facts(episode.owner, name, limit=20)]
            messages = entity_prompts.facts_messages(name, episode.text, known=known)
            answered = self._ask(llm, messages, entity_prompts.EntityFacts, "facts")
            offered, refused = entity_prompts.read_facts(
                answered,
                name,
                episode.text,
                names=found.names.get(name, ()),
                external=episode.trust is Trust.EXTERNAL,
            )
            found.ops += [
                _refusal(episode, episode.owner, what, reason, why) for what, reason, why in refused
            ]
            for one in offered:
                held = ground(one.content, passage)
                if held.support is Support.NONE:
                    found.ops.append(
                        _refusal(
                            episode,
                            episode.owner,
                            one.content,
                            "not_a_fact",
                            "its source does not say so",
                        )
                    )
                else:
                    claims.append(one)
        return claims

    # --- facts ----------------------------------------------------------------------------------

    def _keep(
        self,
        claims: Sequence[WorldClaim],
        episode: StoredEpisode,
        found: _Read,
    ) -> None:
        """Add the ops for what is said: new facts, or evidence for those that say the same."""
        for claim in claims:
            cancel.check()
            vector = self._vectors([_statement(claim.entity, claim.content)])[0]
            says = _statement(claim.entity, claim.content)
            reading = read(says)
            known = self._facts_of(episode.owner, claim.entity)
            nearest, twin = _nearest(claim.entity, says, vector, reading, known)
            if twin is not None:
                # Of what this very call brings, a second assertion is the evidence.
                found.ops.append(
                    _assertion(claim, episode, says=twin.says)
                    if twin.fact is None
                    else _support(twin.fact, claim, episode)
                )
                continue
            found.ops.append(_assertion(claim, episode))
            known.append(
                _Known(fact=None, says=claim.content, text=says, vector=vector, reading=reading)
            )
            found.finds.append(NewFind(entity=claim.entity, object=claim.content, nearest=nearest))

    def _facts_of(self, owner: str, name: str) -> list[_Known]:
        key = (owner, name)
        if key not in self._cache:
            facts = self._store.world_facts(owner, name)
            vectors = self._vectors_of(facts)
            self._cache[key] = [
                _Known(
                    fact=one,
                    says=one.object,
                    text=one.statement,
                    vector=vectors[one.id],
                    reading=read(one.statement),
                )
                for one in facts
            ]
        return self._cache[key]

    def _vectors_of(self, facts: Sequence[Fact]) -> dict[int, NDArray[np.float32]]:
        """Return the vectors of facts: those that are stored, and the others made here."""
        embedder = self._context.embedder
        found: dict[int, NDArray[np.float32]] = {}
        if self._store.embedder() == (embedder.id, embedder.dim):
            ids, raw = self._store.vector_rows("fact", [one.id for one in facts])
            rows = np.frombuffer(raw, np.float16).reshape(-1, embedder.dim).astype(np.float32)
            found.update(zip(ids, rows, strict=True))
        waiting = [one for one in facts if one.id not in found]
        if waiting:
            made = self._vectors([one.statement for one in waiting])
            found.update({one.id: made[n] for n, one in enumerate(waiting)})
        return found

    def _tell(self, log: SearchLog) -> list[Op]:
        """Let what a search brought be told, as far as the mode of each entity finds it worth it.

        What is new is what its pieces stored and what holds still.
        """
        if log.trigger not in self._notify_on:
            return []
        told: dict[str, list[tuple[Fact, float | None]]] = {}
        for fact, nearest in self._store.untold_finds(log.id):
            told.setdefault(fact.subject, []).append((fact, nearest))
        scores = self._interests(log.owner) if told else {}
        ops: list[Op] = []
        for name, new in told.items():
            known = self._store.entity_named(log.owner, name)
            if known is None:
                continue
            attributes = self._store.attributes_of([fact.episode_id for fact, _ in new])
            details = [attributes[fact.episode_id] for fact, _ in new]
            finds = [
                Find(fact=fact, nearest=nearest, published_at=_published(one))
                for (fact, nearest), one in zip(new, details, strict=True)
            ]
            mode = mode_of(max(0, known.fact_count - len(new)), scores.get(known.id, 0.0))
            worth = worth_telling(mode, finds, briefed_at=self._store.told_at(known.id))
            if worth:
                ops.append(
                    Announce(
                        owner=log.owner,
                        entity=name,
                        image=next((one["image"] for one in details if one.get("image")), ""),
                        search_id=log.id,
                        fact_ids=[one.id for one in worth],
                    )
                )
        return ops

    # --- parts ----------------------------------------------------------------------------------

    def _names(self, owner: str) -> dict[str, list[str]]:
        """Return the names under which each current entity is spoken of."""
        found: dict[str, list[str]] = {}
        for surface, name in self._store.known_names(owner).items():
            found.setdefault(name, []).append(surface)
        return found

    def _vectors(self, texts: Sequence[str]) -> NDArray[np.float32]:
        missing = [one for one in dict.fromkeys(texts) if one not in self._made]
        if missing:
            self._made.update(zip(missing, self._context.embedder.embed(missing), strict=True))
        return np.stack([self._made[one] for one in texts])


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
            self._store.drop_lease(READING, token=self._token)

    def renew(self) -> None:
        """Hold it longer; raises TakenOver where another worker has, or has had it."""
        if self._clock() - self._at < policy.LEASE_MS // 4:
            return
        token = self._take()
        if token is not None and token != self._token:
            self._store.drop_lease(READING, token=token)
        if token != self._token:
            raise TakenOver(what=READING)

    def fence(self) -> Fence:
        """Return the op that refuses what was read where another worker has read since."""
        return Fence(lease=READING, token=self._token)

    def _take(self) -> int | None:
        self._at = self._clock()
        return self._store.take_lease(READING, holder=self._holder, now=self._at)


def _seen(
    states: Sequence[ResultState],
    results: Sequence[StoredEpisode],
    texts: Sequence[ResultText],
) -> list[Discovery]:
    """Return the new names that a model saw in results."""
    return [
        Discovery(
            name=entity_name(results[index].text[start:end]),
            surface=results[index].text[start:end],
            spans=[(index, start, end)],
            hosts=(texts[index].host,),
            why="named by a model",
        )
        for index, state in enumerate(states)
        for start, end in state.seen or ()
    ]


def _is_known(name: str, names: Mapping[str, Sequence[str]]) -> bool:
    """Tell the name of a known thing, and one that is a part of such a name."""
    return name in names or part_of(name, list(names)) is not None


def _published(details: Mapping[str, str]) -> Millis | None:
    """Return when a page was published, where that is known."""
    at = details.get("published_at", "")
    return int(at) if at.isascii() and at.isdigit() else None


def _nearest(
    entity: str,
    says: str,
    vector: NDArray[np.float32],
    reading: Reading,
    known: Sequence[_Known],
) -> tuple[float | None, _Known | None]:
    """Return (greatest cosine to a known fact, the known fact that says the same)."""
    if not known:
        return None, None
    cosines = np.stack([one.vector for one in known]) @ vector
    order = np.argsort(-cosines)
    for index in order[: policy.TOLD_NEIGHBOURS].tolist():
        cosine, one = float(cosines[index]), known[index]
        if one.text.casefold() == says.casefold():
            return cosine, one
        if cosine < policy.JUDGED_SIMILARITY:
            break
        said = judge(
            _claim(entity, one.text),
            _claim(entity, says),
            similarity=cosine,
            older_reading=one.reading,
            newer_reading=reading,
        )
        same = (
            said.relation is Relation.SAME
            or contains(one.text, says)
            or (
                said.relation in (Relation.AMBIGUOUS, Relation.DIFFERENT)
                and cosine >= RESTATED_SIMILARITY
                and restates(entity, one.text, says)
            )
        )
        if same:
            return cosine, one
    return float(cosines[order[0]]), None


def _claim(entity: str, text: str) -> Claim:
    return Claim(text=text, subject=entity, predicate=ABOUT, object=text, kind=FactKind.WORLD)


_PRONOUN: Final = re.compile(
    r"(?:it|they)\b(?=\s)|its\b(?=\s)|(?:it|they)(?='s\b|’s\b)", re.IGNORECASE
)


def _statement(entity: str, content: str) -> str:
    """Return what is said of an entity so that it can be read alone: its name for "it"."""
    if entity_name(entity) in entity_name(content):
        return content
    pronoun = _PRONOUN.match(content)
    if pronoun is None:
        return f"{entity}: {content}"
    owned = pronoun[0].casefold() == "its"
    return f"{entity}{chr(39) + 's' if owned else ''}{content[pronoun.end() :]}"


def _candidate(claim: WorldClaim, says: str = "") -> Candidate:
    """Return a claim as a candidate; `says` is the fact in other words that it is evidence for."""
    content = says or claim.content
    return Candidate(
        subject=claim.entity,
        predicate=ABOUT,
        object=content,
        statement=_statement(claim.entity, content),
        confidence=claim.confidence,
        rule=claim.rule,
        method="A sentence that says something of a known entity",
        start=claim.start,
        end=claim.end,
        kind=FactKind.WORLD,
        embed=True,
    )


def _assertion(claim: WorldClaim, episode: StoredEpisode, *, says: str = "") -> AssertFact:
    candidate = _candidate(claim, says)
    return AssertFact(
        candidate=candidate,
        episode=episode.uid,
        owner=episode.owner,
        confidence=min(claim.confidence, policy.TRUST_CAP[episode.trust]),
        trust=episode.trust,
        quote=episode.text[claim.start : claim.end],
    )


def _support(fact: Fact, claim: WorldClaim, episode: StoredEpisode) -> SupportFact:
    candidate = _candidate(claim)
    return SupportFact(
        fact_id=fact.id,
        episode_id=episode.id,
        quote=episode.text[claim.start : claim.end],
        start=claim.start,
        end=claim.end,
        rule=candidate.rule,
        method=candidate.method,
        trust=episode.trust,
        confidence=claim.confidence,
    )


def _refusal(
    episode: StoredEpisode, owner: str, what: str, reason: str, detail: str
) -> RejectCandidate:
    """Return the op that keeps what was not let in, with the reason."""
    text = what or episode.text[:1]
    at = max(0, episode.text.find(text))
    candidate = Candidate(
        subject=owner,
        predicate=ABOUT,
        object=text,
        statement=text,
        confidence=policy.EXTERNAL_FACT,
        rule=f"world_{reason}",
        method="What was not let in about the world",
        start=at,
        end=min(len(episode.text), at + len(text)),
        kind=FactKind.WORLD,
        trust=Trust(episode.trust),
    )
    return RejectCandidate(
        candidate=candidate, episode=episode.uid, owner=owner, reason=reason, detail=detail
    )


def _engagement(
    owner: str,
    name: str,
    kind: EngagementType,
    episode: str,
    *,
    valence: Valence | None = None,
) -> RecordEngagement:
    strength, usual = policy.ENGAGEMENTS[kind]
    return RecordEngagement(
        owner=owner,
        type=kind,
        valence=valence or usual,
        strength=strength,
        entity=name,
        episode=episode,
    )


def _context(one: Discovery, episode: StoredEpisode) -> str:
    """Return the words around the place where an entity is named."""
    _, start, end = one.spans[0]
    return " ".join(episode.text[max(0, start - 80) : end + 80].split())


def _named_in(text: str, names: Mapping[str, Sequence[str]]) -> list[str]:
    folded = f" {' '.join(entity_name(part) for part in text.split())} "
    return [
        name
        for name, surfaces in names.items()
        if any(f" {entity_name(one)} " in folded for one in surfaces if one)
    ]


def spoken_of(texts: Sequence[str], known: Mapping[str, str]) -> list[str]:
    """Return the entities that the last messages name, those of the newest first."""
    found: dict[str, None] = {}
    names: dict[str, list[str]] = {}
    for surface, name in known.items():
        names.setdefault(name, []).append(surface)
    for text in texts:
        found.update(dict.fromkeys(_named_in(text, names)))
    return list(found)
