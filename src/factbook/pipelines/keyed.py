"""Keyed facts: the way of what a person's message changes under keys.

    message -> its episode -> operations of a model or of the rules of phrasing -> checked against
    the message, and on the lists as they are -> Ops, one transaction -> Receipt

The message is kept before the model is asked, so that a failure loses nothing: it stays queued
with its reason. An operation whose value the message does not hold is refused, whoever proposes it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from factbook import policy
from factbook.errors import ModelError, ModelFailure, Overtaken, UsageError
from factbook.extract.keyed.clarify import forced_clarification
from factbook.extract.keyed.contracts import (
    ApplyResult,
    FactsOp,
    FactsOpsResponse,
    batch_problems,
    list_key_of,
    op_values,
    rank_of,
    redacted,
)
from factbook.extract.keyed.grounded import op_objection
from factbook.extract.keyed.mentions import Heard, locate
from factbook.extract.keyed.prompts import tell_messages
from factbook.extract.keyed.tell import parse_tell
from factbook.extract.voice import voice_of
from factbook.model.facts import EVERYONE, Candidate, FactKind, Millis, Receipt, Trigger, Trust
from factbook.model.keys import FAVORITES, normalize_fact_key, normalize_fact_value, split_rank_key
from factbook.model.ops import ChangeKeys, FailTask, FinishTask, KeyStep, Op, Propose, QueueTask
from factbook.pipelines.asking import is_endpoints, wait_ms, was_sent
from factbook.pipelines.claims import Witness, refused
from factbook.pipelines.keyed_labels import FAILED, write_label
from factbook.sources.conversation.turn import clean, own_text, within
from factbook.sources.told import digest, said_ops
from factbook.store.derived.keyed import keyed_facts
from factbook.store.rows import Filters

if TYPE_CHECKING:
    from factbook.context import Context
    from factbook.llm import LLM
    from factbook.store.port import Store

KIND: Final = "tell"  # of the tasks in the store, and the purpose of the calls
PROMPT_VERSION: Final = "keyed"  # of the tasks; that of the words stands in keyed.prompts
RETRIED_AT_ONCE: Final = 100  # ours: messages that one pass asks about again
_ERROR_CHARS: Final = 1_000
CLARIFICATION: Final = "clarification"  # of proposals: a question that waits for its answer
_RULES: Final = "rules"


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What became of a message."""

    label: str  # Facts-S(1), Facts-U(2), ...
    owner: str
    message: str  # as it is kept, redacted
    message_id: str  # Episode.uid
    receipt: Receipt
    result: ApplyResult
    needs_clarification: Sequence[str] = ()
    notes: Sequence[str] = ()
    warnings: Sequence[str] = ()
    errors: Sequence[str] = ()
    planner: str = "model"
    failed: bool = False  # the operations were of no use: nothing was written

    @property
    def changed(self) -> bool:
        """Tell whether the database changed."""
        return bool(self.receipt.stored or self.receipt.updated or self.receipt.retracted)


@dataclass(slots=True)
class _Built:
    """The steps of a batch, and why operations have none."""

    steps: list[KeyStep] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    refused: list[tuple[str, str, str]] = field(default_factory=list)  # (key, value, why)

    def refuse(self, number: int, op: FactsOp, why: str) -> None:
        """Leave an operation out."""
        self.errors.append(f"operation {number}: {why}")
        key = (op.fact_key or op.list_key or "")[: policy.KEY_CHARS]
        self.refused.append((key, ", ".join(op_values(op))[: policy.QUOTE_CHARS], why))

    def undone(self) -> ApplyResult:
        """Return the account of a batch of which nothing is written."""
        return ApplyResult(warnings=self.warnings, errors=self.errors, rolled_back=bool(self.steps))


def tell_keys(
    context: Context,
    message: str,
    *,
    owner: str,
    planner: str,
    atomic: bool = True,
    at: Millis | None = None,
    message_id: str | None = None,
    keep_question: bool = True,
) -> Told:
    """Keep a message, have operations proposed for it, and apply them.

    With `keep_question` an ambiguous message waits for its owner's answer (`factbook review`).
    Raises UsageError for an empty or far too long message and for an id that another message has,
    ModelError where the model fails.
    """
    llm = None if planner == _RULES else context.model
    if planner != _RULES and llm is None:
        raise not_configured()
    now = context.clock()
    said = _said(message, context.redact)
    moment, _ = within(min(now if at is None else at, now), now)
    uid = message_id or f"told:{digest(owner, said, str(moment))}"
    _check_id(context.store, uid, owner, said)
    ops = said_ops(said, uid=uid, owner=owner, at=moment)
    if planner != _RULES:
        # Whoever is killed before the answer comes leaves the message queued.
        ops.append(QueueTask(kind=KIND, episode=uid, version=PROMPT_VERSION))
    context.write(ops, Trigger.USER_MESSAGE, now=now)
    return _Telling(
        context=context,
        uid=uid,
        said=said,
        owner=owner,
        llm=llm,
        planner=planner,
        atomic=atomic,
        keep_question=keep_question,
    ).run()


@dataclass(slots=True, kw_only=True)
class RetriedTold:
    """What became of messages that were asked about again."""

    done: list[Told] = field(default_factory=list)
    failed: list[tuple[int, str]] = field(default_factory=list)  # (episode id, why), still queued


def retry(context: Context) -> RetriedTold:
    """Ask again about messages whose operations failed; a message that fails again waits on.

    What was said later stays: a message that was overtaken is done, and says so.
    """
    llm, retried = context.llm, RetriedTold()
    waiting = context.store.untasked(
        KIND, Filters(owner=EVERYONE), now=context.clock(), limit=RETRIED_AT_ONCE, tried_only=True
    )
    for episode in waiting:
        telling = _Telling(
            context=context,
            uid=episode.uid,
            said=context.redact(episode.text),
            owner=episode.owner,
            llm=llm,
            planner="model",
            atomic=True,
            late=True,
        )
        try:
            told = telling.run()
        except ModelError as error:
            retried.failed.append((episode.id, context.redact(str(error))))
            endpoints = is_endpoints(error, answered=True)
            if endpoints or error.kind in (ModelFailure.CONNECT, ModelFailure.OVER_BUDGET):
                break  # the next ones would fail alike
            continue
        if told.failed:
            retried.failed.append((episode.id, "; ".join(told.errors)))
        else:
            retried.done.append(told)
    return retried


@dataclass(frozen=True, slots=True, kw_only=True)
class _Telling:
    """One message on its way to operations."""

    context: Context
    uid: str
    said: str
    owner: str
    llm: LLM | None
    planner: str
    atomic: bool
    keep_question: bool = True
    late: bool = False  # it was said a while ago: what was said since must stay

    def run(self) -> Told:
        """Have operations proposed, check them, and apply them."""
        lists = lists_of(self.context.store, self.owner)
        try:
            response = redacted(self._proposed(lists), self.context.redact)
        except ModelError as error:
            if error.kind is not ModelFailure.NOT_CONFIGURED:
                tried = was_sent(error) and not is_endpoints(error, answered=True)
                self._fail(str(error), tried=tried, wait=wait_ms(error))
            raise
        asked = forced_clarification(self.said, response, list(lists))
        if asked:
            return self._asks_back(response, asked)
        built = steps_of(response.ops, self.said)
        if built.errors and self.atomic:
            return self._refused(response, built)
        return self._applied(response, built)

    def _proposed(self, lists: Mapping[str, Mapping[int, str]]) -> FactsOpsResponse:
        if self.planner == _RULES:
            parsed = parse_tell(self.said, lists=lists)
            if parsed.reason:
                raise UsageError(detail=f"the rules do not read that: {parsed.reason}")
            return FactsOpsResponse(
                ops=list(parsed.ops), needs_clarification=list(parsed.needs_clarification)
            )
        if self.llm is None:
            raise not_configured()
        messages = tell_messages(self.said, lists, context_tokens=self.llm.context_tokens)
        return self.llm.ask(messages, FactsOpsResponse, purpose=KIND)

    def _applied(self, response: FactsOpsResponse, built: _Built) -> Told:
        rule, method = self._rule()
        ops: list[Op] = []
        if built.steps:
            change = ChangeKeys(
                owner=self.owner,
                episode=self.uid,
                steps=built.steps,
                trust=Trust.DIRECT,
                rule=rule,
                method=method,
                atomic=self.atomic,
                late=self.late,
            )
            ops.append(change)
        ops += self._refusals(built)
        ops.append(self._finished(rule))
        try:
            receipt = self._write(ops)
        except Overtaken as error:
            # Nothing will ever make it current again: it is answered, and what came later holds.
            built.errors.append(str(error))
            return self._done(self._write([self._finished("overtaken")]), response, built)
        except UsageError as error:  # a step that the lists as they are do not allow
            why = self.context.redact(str(error))
            built.errors.append(why)
            built.refused.append(("", "", why))
            return self._refused(response, built)
        return self._done(receipt, response, built)

    def _done(self, receipt: Receipt, response: FactsOpsResponse, built: _Built) -> Told:
        return self._told(
            receipt,
            response,
            result=result_of(receipt, built.warnings, built.errors),
            warnings=built.warnings,
            errors=[*built.errors, *receipt.problems],
        )

    def _told(self, receipt: Receipt, response: FactsOpsResponse, **more: Any) -> Told:
        """Return what became of the message; `more` are what else there is to say, as of `Told`."""
        return Told(
            label=FAILED if "failed" in more else write_label(receipt, planner=self.planner),
            owner=self.owner,
            message=self.said,
            message_id=self.uid,
            receipt=receipt,
            notes=response.notes,
            planner=self.planner,
            **more,
        )

    def _asks_back(self, response: FactsOpsResponse, asked: Sequence[str]) -> Told:
        """Return what needs to be said more clearly; no fact is written, and the question waits."""
        questions = [question[: policy.SNIPPET_CHARS] for question in asked]
        ops: list[Op] = [self._finished(CLARIFICATION)]
        if self.keep_question:
            title = f"{' '.join(questions)} You said: {self.said}"[: policy.QUOTE_CHARS]
            payload = {
                "owner": self.owner,
                "message": self.said,
                "episode": self.uid,
                "questions": questions,
            }
            ops.append(Propose(kind=CLARIFICATION, key=self.uid, title=title, payload=payload))
        receipt = self._write(ops)
        return self._told(receipt, response, result=ApplyResult(), needs_clarification=list(asked))

    def _refused(self, response: FactsOpsResponse, built: _Built) -> Told:
        """Return why nothing was written; the message stays queued, as after a useless answer."""
        if self.planner != _RULES:
            self._fail("; ".join(built.errors))
        self._write(self._refusals(built))
        return self._told(
            Receipt(),
            response,
            failed=True,
            result=built.undone(),
            warnings=built.warnings,
            errors=built.errors,
        )

    def _refusals(self, built: _Built) -> list[Op]:
        """Return the rows of the rejection log: every refusal is kept with its reason."""
        rule, method = self._rule()
        heard = Witness(self.uid, self.owner, Trust.DIRECT, self.said)
        return [
            refused(
                Candidate(
                    subject=self.owner,
                    predicate=key,
                    object=value or key or "(nothing)",
                    statement=value or key or "(nothing)",
                    confidence=0.0,
                    rule=rule,
                    method=method,
                    start=0,
                    end=len(self.said),
                    kind=FactKind.KEYED,
                ),
                heard,
                "operation_refused",
                why,
            )
            for key, value, why in built.refused
        ]

    def _rule(self) -> tuple[str, str]:
        if self.planner == _RULES or self.llm is None:
            return "told:rules", "Parsed from the message by rules"
        return "told:model", f"Proposed by {self.llm.id}, found in the message by code"

    def _finished(self, version: str) -> FinishTask:
        return FinishTask(kind=KIND, target=self._target(), version=version)

    def _fail(self, why: str, *, tried: bool = True, wait: int = 0) -> None:
        error = self.context.redact(why)[:_ERROR_CHARS]
        failed = FailTask(
            kind=KIND,
            target=self._target(),
            version=PROMPT_VERSION,
            error=error,
            tried=tried,
            wait_ms=wait,
        )
        self._write([failed])

    def _target(self) -> int:
        return self.context.store.episode_ids([self.uid])[self.uid]

    def _write(self, ops: Sequence[Op]) -> Receipt:
        return self.context.write(ops, Trigger.USER_MESSAGE)


def not_configured() -> ModelError:
    """Return the error that says that there is no model to ask."""
    return ModelError(
        kind=ModelFailure.NOT_CONFIGURED,
        model="none",
        reason="no model is configured; set a FACTS_LLM_ variable, or say --planner rules",
    )


def _check_id(store: Store, uid: str, owner: str, said: str) -> None:
    """Refuse an id that another message has: its words would be taken for evidence."""
    known = store.episode_ids([uid])
    if not known:
        return
    episode = store.episodes_by_id(list(known.values()))[known[uid]]
    if episode.owner != owner or episode.text != said:
        raise UsageError(detail=f"the message id {uid} belongs to another message; give a new one")


def apply_response(
    context: Context,
    response: FactsOpsResponse,
    *,
    owner: str,
    message_id: str,
    atomic: bool,
    by_command: bool = True,
) -> ApplyResult:
    """Apply given operations for a message.

    For a known message, a value that it holds is quoted from there, else the whole message is its
    evidence. A message that is not known is recorded as what it is: these operations, by command;
    where nobody commands it (`by_command`), what its owner's words do not ask for is an error.
    """
    store, now = context.store, context.clock()
    response = redacted(response, context.redact)
    given = "; ".join(map(_words, response.ops))[: policy.PROMPT_CHARS] or "no operation"
    ops: list[Op] = []
    known = store.episode_ids([message_id])
    text = ""
    if known:
        episode = store.episodes_by_id(list(known.values()))[known[message_id]]
        text = episode.text if by_command else voice_of(episode).text  # places stay the same
        if episode.owner != owner:
            raise UsageError(
                detail=f"{message_id} is a message of {episode.owner}, and says nothing of {owner}"
            )
    unheard = [value for op in response.ops for value in op_values(op) if not locate(value, text)]
    if unheard and not by_command:
        why = f"the message does not say {', '.join(map(repr, unheard))}"
        return ApplyResult(errors=[why], rolled_back=True)
    if unheard:
        # What the message does not hold it cannot prove: the command itself is the evidence.
        message_id, text = f"{message_id}#ops:{digest(given)}", given
        known = {}
    if not known:
        text = given
        ops += said_ops(text, uid=message_id, owner=owner, at=now)
    built = steps_of(response.ops, text, must_hold=not by_command)
    if built.errors and atomic:
        return built.undone()
    if built.steps:
        change = ChangeKeys(
            owner=owner,
            episode=message_id,
            steps=built.steps,
            trust=Trust.DIRECT,
            rule="told:ops",
            method="Given as operations",
            atomic=atomic,
        )
        ops.append(change)
    try:
        receipt = context.write(ops, Trigger.COMMAND, now=now)
    except UsageError as error:
        errors = [*built.errors, str(error)]
        return ApplyResult(warnings=built.warnings, errors=errors, rolled_back=True)
    return result_of(receipt, built.warnings, built.errors)


def _words(op: FactsOp) -> str:
    where = op.fact_key or op.list_key or ""
    rank = f" #{op.rank}" if op.rank is not None else ""
    return f"{op.op} {where}{rank} = {', '.join(op_values(op))}".rstrip(" =")


def result_of(receipt: Receipt, warnings: Sequence[str], errors: Sequence[str]) -> ApplyResult:
    """Return origins 004.5's account of a receipt."""

    def keys(*actions: str) -> list[str]:
        return [key for key, action in receipt.keys if action in actions]

    return ApplyResult(
        store_count=len(keys("store")),
        update_count=len(keys("update")),
        stored_fact_keys=keys("store", "update"),
        cleared_fact_keys=keys("clear"),
        unchanged_fact_keys=keys("noop"),
        warnings=list(warnings),
        errors=[*errors, *receipt.problems],
    )


def steps_of(ops: Sequence[FactsOp], text: str, *, must_hold: bool = True) -> _Built:
    """Return the steps of operations, each with its span in the message; or why it has none.

    With `must_hold` a value that the message does not hold makes its operation an error.
    """
    built = _Built()
    problems = batch_problems(ops)
    values = [value for op in ops for value in op_values(op)]
    heard = Heard(text, values) if must_hold else None
    for place, op in enumerate(ops):
        number = place + 1
        if place in problems:
            built.refuse(number, op, problems[place])
            continue
        steps, error = _op_steps(op, text, number, built.warnings, heard)
        if error:
            built.refuse(number, op, error)
        else:
            built.steps += steps
    return built


def _op_steps(
    op: FactsOp, text: str, number: int, warnings: list[str], heard: Heard | None
) -> tuple[list[KeyStep], str]:
    list_key = list_key_of(op)
    objection = op_objection(op, heard) if heard is not None else None
    if objection is not None:
        return [], objection
    if list_key is None:
        key, warning = normalize_fact_key(op.fact_key or "")
        warnings += [warning] if warning else []
        action = "unset" if op.op == "clear" else "set"
    else:
        key, action = list_key, _ACTIONS[op.op]
    values: list[tuple[str, tuple[int, int]]] = []
    for raw in op_values(op):
        value, warning = normalize_fact_value(raw, list_key is not None)
        warnings += [warning] if warning else []
        values.append((value, locate(value, text) or (0, len(text))))
    steps = [
        KeyStep(
            action=action,
            key=key,
            value=value,
            rank=rank_of(op),
            from_rank=op.from_rank,
            insert=op.op == "ranked_list_insert" or op.mode == "insert",
            confidence=1.0 if op.confidence is None else op.confidence,
            start=start,
            end=end,
            number=number,
        )
        for value, (start, end) in values or [("", (0, len(text)))]
    ]
    return steps, ""


_ACTIONS: Final = {
    "set": "rank",
    "clear": "remove",
    "ranked_list_set": "rank",
    "ranked_list_insert": "rank",
    "ranked_list_append": "append",
    "ranked_list_move": "move",
    "ranked_list_remove": "remove",
    "ranked_list_clear": "clear",
}
"""The step on a list that an operation is."""


def lists_of(store: Store, owner: str) -> dict[str, dict[int, str]]:
    """Return the ranked lists of an owner: list key -> rank -> value."""
    lists: dict[str, dict[int, str]] = {}
    for fact in keyed_facts(store, owner, prefix=FAVORITES):
        ranked = split_rank_key(fact.predicate)
        if ranked is not None:
            lists.setdefault(ranked[0], {})[ranked[1]] = fact.object
    return lists


def _said(message: str, redact: Callable[[str], str]) -> str:
    # Lines are kept: a list with one item in each is one.
    lines = (" ".join(line.split()) for line in redact(own_text(clean(message))).splitlines())
    said = "\n".join(line for line in lines if line)
    if not said:
        raise UsageError(detail="there is nothing to tell: the text is empty")
    if len(said) > policy.PROMPT_CHARS:
        raise UsageError(
            detail=f"the message has {len(said)} characters, and at most {policy.PROMPT_CHARS} are"
            " read at once; say it in parts"
        )
    return said
