"""Turn a person's message into operations on keyed facts, and apply them (seed 004).

    message -> kept -> the model's JSON (or a parser of phrasings) -> every operation checked
    against the message and the lists as they are -> one transaction -> what the database counted

The message is kept before the model is asked, so that a failure loses nothing: it stays queued
with its reason. An operation whose value the message does not hold is refused, whoever proposes it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from factbook import policy
from factbook.apply import apply
from factbook.assist.labels import write_label
from factbook.errors import ModelError, ModelFailure, UsageError
from factbook.keyed.clarify import forced_clarification
from factbook.keyed.contracts import (
    ApplyResult,
    FactsOp,
    FactsOpsResponse,
    batch_problems,
    list_key_of,
    op_values,
)
from factbook.keyed.grounded import Heard, locate, op_objection
from factbook.keys import (
    FAVORITES,
    normalize_fact_key,
    normalize_fact_value,
    split_rank_key,
)
from factbook.model import (
    Episode,
    EpisodeKind,
    Millis,
    Receipt,
    Role,
    Source,
    Trigger,
    Trust,
)
from factbook.ops import (
    ChangeKeys,
    FailTask,
    FinishTask,
    KeyStep,
    Op,
    Propose,
    RecordEpisode,
    RecordSource,
)
from factbook.sources.conversation.turn import clean, own_text, within

if TYPE_CHECKING:
    from factbook.llm import LLM
    from factbook.store.base import Store

KIND: Final = "tell"  # of the tasks in the store, and the purpose of the calls
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

    @property
    def changed(self) -> bool:
        """Tell whether the database changed."""
        return bool(self.receipt.stored or self.receipt.updated or self.receipt.retracted)

    def to_json(self) -> dict[str, Any]:
        """Return it as plain values."""
        return {
            "label": self.label,
            "owner": self.owner,
            "planner": self.planner,
            "message_id": self.message_id,
            "message": self.message,
            "store_count": self.result.store_count,
            "update_count": self.result.update_count,
            "keys": [{"key": key, "action": action} for key, action in self.receipt.keys],
            "needs_clarification": list(self.needs_clarification),
            "warnings": list(self.warnings),
            "errors": list(self.errors),
            "notes": list(self.notes),
        }


@dataclass(slots=True)
class _Built:
    """The steps of a batch, and why operations have none."""

    steps: list[KeyStep] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)


def tell_keys(
    store: Store,
    message: str,
    *,
    owner: str,
    llm: LLM | None,
    planner: str,
    atomic: bool,
    at: Millis | None,
    message_id: str | None,
    redact: Callable[[str], str],
    clock: Callable[[], Millis],
    actor: str,
) -> Told:
    """Keep a message, have operations proposed for it, and apply them.

    Raises UsageError for an empty or far too long message, ModelError where the model fails.
    """
    now = clock()
    said = _said(message, redact)
    moment, _ = within(min(now if at is None else at, now), now)
    uid = message_id or f"told:{_digest(owner, said, str(moment))}"
    apply(
        store,
        _message_ops(said, uid=uid, owner=owner, at=moment),
        trigger=Trigger.USER_MESSAGE,
        actor=actor,
        now=now,
    )
    return _process(store, uid, said, owner, llm, planner, atomic, clock, actor)


def retry(
    store: Store,
    llm: LLM,
    *,
    redact: Callable[[str], str],
    clock: Callable[[], Millis],
    actor: str,
) -> list[Told]:
    """Ask again about messages whose operations failed; a message that fails again waits on."""
    done: list[Told] = []
    for episode in store.unasked(KIND, episode_kinds=(), now=clock(), limit=policy.MAX_OPS):
        try:
            done.append(
                _process(
                    store,
                    episode.uid,
                    redact(episode.text),
                    episode.owner,
                    llm,
                    "model",
                    True,
                    clock,
                    actor,
                )
            )
        except ModelError as error:
            if error.kind in (ModelFailure.CONNECT, ModelFailure.OVER_BUDGET):
                break  # the next ones would fail alike
    return done


def _process(
    store: Store,
    uid: str,
    said: str,
    owner: str,
    llm: LLM | None,
    planner: str,
    atomic: bool,
    clock: Callable[[], Millis],
    actor: str,
) -> Told:
    lists = lists_of(store, owner)
    try:
        response = _proposed(said, lists, llm, planner)
    except ModelError as error:
        if error.kind is not ModelFailure.NOT_CONFIGURED:
            tried = error.kind is not ModelFailure.OVER_BUDGET
            _fail(store, uid, str(error), clock, actor, tried=tried)
        raise
    asked = forced_clarification(said, response, list(lists))
    if asked:
        return _answered(store, uid, said, owner, planner, clock, actor, response, asked)
    built = steps_of(response.ops, said)
    rule, method = _rule(llm, planner)
    if built.errors and atomic:
        return _refused(store, uid, said, owner, planner, clock, actor, response, built)
    ops: list[Op] = [FinishTask(kind=KIND, target=_target(store, uid), version=rule)]
    if built.steps:
        change = ChangeKeys(
            owner=owner,
            episode=uid,
            steps=built.steps,
            trust=Trust.DIRECT,
            rule=rule,
            method=method,
            atomic=atomic,
        )
        ops.insert(0, change)
    try:
        receipt = apply(store, ops, trigger=Trigger.USER_MESSAGE, actor=actor, now=clock())
    except UsageError as error:  # a step that the lists as they are do not allow
        built.errors.append(str(error))
        return _refused(store, uid, said, owner, planner, clock, actor, response, built)
    return Told(
        label=write_label(receipt, planner=planner),
        owner=owner,
        message=said,
        message_id=uid,
        receipt=receipt,
        result=result_of(receipt, built.warnings, built.errors),
        notes=response.notes,
        warnings=built.warnings,
        errors=[*built.errors, *receipt.problems],
        planner=planner,
    )


def _proposed(
    said: str, lists: Mapping[str, Mapping[int, str]], llm: LLM | None, planner: str
) -> FactsOpsResponse:
    if planner == _RULES:
        from factbook.keyed.phrases import parse_tell

        parsed = parse_tell(said, lists=lists)
        if parsed.reason:
            raise UsageError(detail=f"the rules do not read that: {parsed.reason}")
        return FactsOpsResponse(
            ops=[one.op for one in parsed.ops],
            needs_clarification=list(parsed.needs_clarification),
        )
    if llm is None:
        raise ModelError(
            kind=ModelFailure.NOT_CONFIGURED, model="none", reason="no model is configured"
        )
    from factbook.keyed.prompts import tell_messages

    return llm.ask(tell_messages(said, lists), FactsOpsResponse, purpose=KIND)


def _rule(llm: LLM | None, planner: str) -> tuple[str, str]:
    if planner == _RULES or llm is None:
        return "told:rules", "Parsed from the message by rules"
    return "told:model", f"Proposed by {llm.id}, found in the message by code"


def _answered(
    store: Store,
    uid: str,
    said: str,
    owner: str,
    planner: str,
    clock: Callable[[], Millis],
    actor: str,
    response: FactsOpsResponse,
    asked: Sequence[str],
) -> Told:
    """Return what needs to be said more clearly; no fact is written, and the question waits."""
    questions = [one[: policy.SNIPPET_CHARS] for one in asked]
    ops: list[Op] = [
        FinishTask(kind=KIND, target=_target(store, uid), version=CLARIFICATION),
        Propose(
            kind=CLARIFICATION,
            key=uid,
            title=f"{' '.join(questions)} You said: {said}"[: policy.QUOTE_CHARS],
            payload={"owner": owner, "message": said, "episode": uid, "questions": questions},
        ),
    ]
    receipt = apply(store, ops, trigger=Trigger.USER_MESSAGE, actor=actor, now=clock())
    return Told(
        label=write_label(receipt, planner=planner),
        owner=owner,
        message=said,
        message_id=uid,
        receipt=receipt,
        result=ApplyResult(),
        needs_clarification=list(asked),
        notes=response.notes,
        planner=planner,
    )


def _refused(
    store: Store,
    uid: str,
    said: str,
    owner: str,
    planner: str,
    clock: Callable[[], Millis],
    actor: str,
    response: FactsOpsResponse,
    built: _Built,
) -> Told:
    """Return why nothing was written; the message stays queued, as after any useless answer."""
    if planner != _RULES:
        _fail(store, uid, "; ".join(built.errors), clock, actor)
    return Told(
        label=write_label(Receipt(), planner=planner),
        owner=owner,
        message=said,
        message_id=uid,
        receipt=Receipt(),
        result=ApplyResult(
            warnings=built.warnings, errors=built.errors, rolled_back=bool(built.steps)
        ),
        notes=response.notes,
        warnings=built.warnings,
        errors=built.errors,
        planner=planner,
    )


def _fail(
    store: Store,
    uid: str,
    why: str,
    clock: Callable[[], Millis],
    actor: str,
    *,
    tried: bool = True,
) -> None:
    target = _target(store, uid)
    op = FailTask(kind=KIND, target=target, version=KIND, error=why[:1_000], tried=tried)
    apply(store, [op], trigger=Trigger.USER_MESSAGE, actor=actor, now=clock())


def _target(store: Store, uid: str) -> int:
    return store.episode_ids([uid])[uid]


# --- operations that are given --------------------------------------------------------------------


def apply_response(
    store: Store,
    response: FactsOpsResponse,
    *,
    owner: str,
    message_id: str,
    atomic: bool,
    redact: Callable[[str], str],
    now: Millis,
    actor: str,
) -> ApplyResult:
    """Apply given operations for a message (seed 004's `apply_facts_ops`).

    For a known message, a value that it holds is quoted from there, else the whole message is its
    evidence. A message that is not known is recorded as what it is: these operations, by command.
    """
    known = store.episode_ids([message_id])
    ops: list[Op] = []
    if known:
        text = store.texts_of(list(known.values()))[known[message_id]]
    else:
        text = redact("; ".join(_words(one) for one in response.ops)) or "no operation"
        ops += _message_ops(text, uid=message_id, owner=owner, at=now)
    built = steps_of(response.ops, text, must_hold=False)
    if built.errors and atomic:
        return ApplyResult(
            warnings=built.warnings, errors=built.errors, rolled_back=bool(built.steps)
        )
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
        receipt = apply(store, ops, trigger=Trigger.COMMAND, actor=actor, now=now)
    except UsageError as error:
        return ApplyResult(
            warnings=built.warnings, errors=[*built.errors, str(error)], rolled_back=True
        )
    return result_of(receipt, built.warnings, built.errors)


def _words(op: FactsOp) -> str:
    where = op.fact_key or op.list_key or ""
    rank = f" #{op.rank}" if op.rank is not None else ""
    return f"{op.op} {where}{rank} = {', '.join(op_values(op))}".rstrip(" =")


def result_of(
    receipt: Receipt, warnings: Sequence[str] = (), errors: Sequence[str] = ()
) -> ApplyResult:
    """Return seed 004's account of a receipt."""

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
    heard = Heard(text) if must_hold else None
    for place, op in enumerate(ops):
        number = place + 1
        if place in problems:
            built.errors.append(f"operation {number}: {problems[place]}")
            continue
        steps, error = _op_steps(op, text, number, built.warnings, heard)
        if error:
            built.errors.append(f"operation {number}: {error}")
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
    values: list[tuple[str, int, int]] = []
    for raw in op_values(op):
        value, warning = normalize_fact_value(raw, list_key is not None)
        if warning:
            warnings.append(warning)
        span = locate(value, text)
        values.append((value, *(span or (0, len(text)))))
    sure = 1.0 if op.confidence is None else op.confidence
    whole = (0, len(text))

    def step(action: str, key: str, one: tuple[str, int, int] | None, **more: Any) -> KeyStep:
        value, start, end = one or ("", *whole)
        return KeyStep(
            action=action,
            key=key,
            value=value,
            confidence=sure,
            start=start,
            end=end,
            number=number,
            **more,
        )

    first = values[0] if values else None
    if op.op in ("set", "clear") and list_key is None:
        key, warning = normalize_fact_key(op.fact_key or "")
        if warning:
            warnings.append(warning)
        return [step("set" if op.op == "set" else "unset", key, first)], ""
    assert list_key is not None
    rank = op.rank
    if rank is None and op.fact_key is not None:
        ranked = split_rank_key(op.fact_key)
        rank = ranked[1] if ranked else None
    if op.op in ("set", "ranked_list_set"):
        return [step("rank", list_key, first, rank=rank, insert=op.mode == "insert")], ""
    if op.op == "ranked_list_insert":
        return [step("rank", list_key, first, rank=rank, insert=True)], ""
    if op.op == "ranked_list_append":
        return [step("append", list_key, one) for one in values], ""
    if op.op == "ranked_list_move":
        return [step("move", list_key, first, rank=rank, from_rank=op.from_rank)], ""
    if op.op in ("ranked_list_remove", "clear"):
        return [step("remove", list_key, first, rank=rank)], ""
    return [step("clear", list_key, None)], ""


# --- the owner's lists and the message ------------------------------------------------------------


def lists_of(store: Store, owner: str) -> dict[str, dict[int, str]]:
    """Return the ranked lists of an owner: list key -> rank -> value."""
    found: dict[str, dict[int, str]] = {}
    for fact in store.keyed_facts(owner, prefix=FAVORITES):
        ranked = split_rank_key(fact.predicate)
        if ranked is not None:
            found.setdefault(ranked[0], {})[ranked[1]] = fact.object
    return found


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


def _message_ops(said: str, *, uid: str, owner: str, at: Millis | None) -> list[Op]:
    key = f"told:{owner}"
    source = Source(key=key, kind="note", host="factbook", session=key, uri=key, title="told")
    episode = Episode(
        uid=uid,
        source=key,
        kind=EpisodeKind.TURN,
        role=Role.USER,
        trust=Trust.DIRECT,
        text=said,
        position=0,
        offset=0,
        occurred_at=at,
        owner=owner,
        session=key,
    )
    return [RecordSource(source=source), RecordEpisode(episode=episode)]


def _digest(*parts: str) -> str:
    data = "\0".join(parts).encode("utf-8", "surrogatepass")
    return hashlib.blake2b(data, digest_size=12).hexdigest()
