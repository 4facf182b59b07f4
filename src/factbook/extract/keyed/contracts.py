"""The JSON that a model may answer with, and what becomes of it.

What breaks the strict shapes makes the whole answer invalid. What only makes one operation useless
(no key, a rank missing) parses, and `op_problem` says so of it alone: a person learns which it was.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated, Final, Literal, TypeVar

from pydantic import Field, StringConstraints

from factbook import policy
from factbook.extract.answers import Strict
from factbook.model.facts import Millis
from factbook.model.keys import (
    FAVORITES,
    extract_topic_from_list_key,
    fold_value,
    names_something,
    normalize_fact_key,
    normalize_fact_value,
    split_rank_key,
)

NOTE_CHARS: Final = 1_000  # of a note or of one clarification
MAX_NOTES: Final = 20

OpName = Literal[
    "set",
    "clear",
    "ranked_list_set",
    "ranked_list_insert",
    "ranked_list_append",
    "ranked_list_move",
    "ranked_list_remove",
    "ranked_list_clear",
]
PlanIntent = Literal[
    "facts_get_ranked_list",
    "facts_get_by_prefix",
    "facts_get_exact_key",
    "facts_get_by_predicate",
    "facts_get_by_entity",
    "facts_get_by_time",
]
_Key = Annotated[str, StringConstraints(max_length=policy.KEY_CHARS)]
_Value = Annotated[str, StringConstraints(max_length=policy.VALUE_CHARS)]
_Note = Annotated[str, StringConstraints(max_length=NOTE_CHARS)]
_Rank = Annotated[int, Field(ge=1, le=policy.MAX_RANK)]
_Share = Annotated[float, Field(ge=0.0, le=1.0)]


class FactsOp(Strict):
    """One change that a message asks for."""

    op: OpName
    fact_key: _Key | None = Field(default=None, description="for set and clear: user.timezone")
    list_key: _Key | None = Field(
        default=None, description="for ranked_list_*: user.favorites.<topic>"
    )
    rank: _Rank | None = Field(
        default=None, description="where the value is to stand; for remove, the rank to remove"
    )
    from_rank: _Rank | None = Field(
        default=None, description="for ranked_list_move without a value: where it stands now"
    )
    value: _Value | None = Field(default=None, description="as it stands in the message")
    values: Annotated[list[_Value], Field(max_length=policy.MAX_OPS)] | None = Field(
        default=None, description="for ranked_list_append: one string per item"
    )
    mode: Literal["replace", "insert"] | None = Field(
        default=None, description="for ranked_list_set; replace unless the message says insert"
    )
    confidence: _Share | None = None


class FactsOpsResponse(Strict):
    """Everything that one message asks for, or what has to be asked back first."""

    ops: Annotated[list[FactsOp], Field(max_length=policy.MAX_OPS)]
    needs_clarification: Annotated[list[_Note], Field(max_length=MAX_NOTES)] = Field(
        default_factory=list, description="questions to the person; nothing is written then"
    )
    notes: Annotated[list[_Note], Field(max_length=MAX_NOTES)] = Field(default_factory=list)


class FactsQueryPlan(Strict):
    """How a question is answered without a model."""

    intent: PlanIntent
    list_key: _Key | None = None
    topic: _Key | None = None
    key_prefix: _Key | None = None
    fact_key: _Key | None = None
    predicate: _Key | None = None
    entity: _Value | None = None
    since: Annotated[str, StringConstraints(max_length=40)] | None = Field(
        default=None, description="ISO 8601, inclusive"
    )
    until: Annotated[str, StringConstraints(max_length=40)] | None = Field(
        default=None, description="ISO 8601, exclusive"
    )
    limit: Annotated[int, Field(ge=1, le=policy.PAGE_MAX)] = policy.PLAN_LIMIT
    include_ranks: bool = True


_Answer = TypeVar("_Answer", bound=Strict)


def redacted(answer: _Answer, redact: Callable[[str], str]) -> _Answer:
    """Return what a model answers without secrets, whatever it has them from."""

    def safe(value: object) -> object:
        if isinstance(value, list):
            return [safe(part) for part in value]
        if isinstance(value, Strict):
            return redacted(value, redact)
        return redact(value) if isinstance(value, str) else value

    said = {name: safe(value) for name, value in answer if name not in ("op", "mode", "intent")}
    return answer.model_copy(update=said)


@dataclass(frozen=True, slots=True, kw_only=True)
class ApplyResult:
    """What the database did with operations; every count is its own."""

    store_count: int = 0  # keys that had no current value before
    update_count: int = 0  # keys whose current value changed
    stored_fact_keys: Sequence[str] = ()  # of both, in the order of the operations
    cleared_fact_keys: Sequence[str] = ()  # keys that have no current value any more
    unchanged_fact_keys: Sequence[str] = ()  # held that value already: counted nowhere
    warnings: Sequence[str] = ()  # what was changed in a key or a value on the way
    errors: Sequence[str] = ()  # which operation could not be done, and why
    rolled_back: bool = False  # an error undid the other operations too (atomic)


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyedFact:
    """One current value, as an answer shows it."""

    fact_key: str  # user.favorites.crypto.1
    value: str
    rank: int | None = None  # of an item of a list
    fact_id: int | None = None  # its row, for `explain`
    confidence: float | None = None  # now
    set_at: Millis | None = None  # when it was said


@dataclass(frozen=True, slots=True, kw_only=True)
class FactsAnswer:
    """What a plan found."""

    facts: Sequence[KeyedFact] = ()  # lists in the order of their ranks
    count: int = 0  # of facts
    canonical_keys: Sequence[str] = ()  # distinct; a list counts once, and `Facts-R` counts these
    left_out: int = 0  # facts that the plan's limit left out


# What stands where a secret stood; a model may write it in another case or lose its brackets. The
# shape is that of `sources.redact.labels`, which a reader of keys does not import.
_LABEL: Final = re.compile(
    r"\[\s*redacted\s*:[^\]\n]{0,80}\]?|\bredacted:[a-z0-9-]{3,40}(?::[0-9a-f]{1,12})?\]?",
    re.IGNORECASE,
)


def list_key_of(op: FactsOp) -> str | None:
    """Return the key of the list that an operation, or a `set` of a rank, is about, or None."""
    if op.op in _TAKES:
        if op.list_key is None or any(_list_key_problems(op.list_key)):
            return None
        return normalize_fact_key(op.list_key)[0]
    ranked = split_rank_key(op.fact_key) if op.fact_key is not None else None
    return ranked[0] if ranked else None


def rank_of(op: FactsOp) -> int | None:
    """Return the rank that an operation names, also at the end of its key."""
    ranked = split_rank_key(op.fact_key) if op.rank is None and op.fact_key is not None else None
    return ranked[1] if ranked else op.rank


def op_values(op: FactsOp) -> list[str]:
    """Return every value that an operation would write or look for, as it was proposed."""
    return [*([] if op.value is None else [op.value]), *(op.values or ())]


def op_problem(op: FactsOp) -> str | None:
    """Say why an operation, looked at alone, cannot be done, in one sentence; None where it can."""
    return next(_problems(op), None)


def _problems(op: FactsOp) -> Iterator[str]:
    """Yield what is wrong with an operation, as far as nothing comes before."""
    if op.confidence is not None and op.confidence < policy.MIN_CONFIDENCE_ACTIVE:
        yield (
            f"the model is not sure enough: its confidence is {op.confidence:g}, and"
            f" {policy.MIN_CONFIDENCE_ACTIVE:g} is the least"
        )
    for key in (op.fact_key, op.list_key):
        if key is not None and _LABEL.search(key):
            yield f"the key {key!r} holds the label of a redacted secret, which names nothing"
    if op.op not in _TAKES:
        yield from _key_problems(op)
        return
    if op.list_key is None:
        yield f"{op.op} names no list_key; give one like {FAVORITES}.crypto"
    yield from _list_key_problems(op.list_key or "")
    if op.fact_key is not None:
        yield f"{op.op} takes a list_key and no fact_key"
    if op.op == "ranked_list_append" and not op_values(op):
        yield "ranked_list_append has no values"
    if op.op == "ranked_list_move" and op.rank is None:
        yield "ranked_list_move has no rank to move to"
    by_rank = op.op in ("ranked_list_set", "ranked_list_insert")
    if by_rank and op.rank is None:
        yield f"{op.op} has no rank; give one from 1 to {policy.MAX_RANK}"
    if op.op == "ranked_list_insert" and op.mode == "replace":
        yield "ranked_list_insert cannot replace; that is ranked_list_set"
    fields, words = _TAKES[op.op]
    given = {name for name in _FIELDS if getattr(op, name) is not None}
    named = {"ranked_list_move": op.from_rank, "ranked_list_remove": op.rank}
    twice = op.op in named and (op.value is None) == (named[op.op] is None)
    if twice or not given.issubset(fields.split()):
        yield f"{op.op} takes {words}"
    for value in [op.value] if by_rank else op_values(op):
        yield from _value_problems(value, op.op, ranked=True)


_FIELDS: Final = ("value", "values", "rank", "from_rank")
_TAKES: Final = {
    "ranked_list_set": ("value rank", "one value and its rank"),
    "ranked_list_insert": ("value rank", "one value and its rank"),
    "ranked_list_append": ("value values", "no rank; ranked_list_insert does"),
    "ranked_list_move": ("value rank from_rank", "either a value or a from_rank"),
    "ranked_list_remove": ("value rank", "either a value or a rank"),
    "ranked_list_clear": ("", "no value and no rank; ranked_list_remove does"),
}
"""The fields that an operation on a list may have, and what it takes, in words."""


def _key_problems(op: FactsOp) -> Iterator[str]:
    if op.fact_key is None:
        yield f"{op.op} names no fact_key; give one like user.timezone"
    if op.list_key is not None or op.values is not None or op.from_rank is not None:
        yield f"{op.op} takes a fact_key and a value; a list has operations of its own"
    said = op.fact_key or ""
    if not names_something(said):
        yield f"the fact_key {said!r} has no letter or digit"
    key, ranked = normalize_fact_key(said)[0], split_rank_key(said)
    if "." not in key:
        yield f"the fact_key {key!r} has one part; say whose it is, as in user.{key}"
    yield from _rank_problems(said)
    if key == FAVORITES or (extract_topic_from_list_key(key) and not ranked):
        how = "clear a list with ranked_list_clear"
        if op.op == "set":
            how = f"a list is set by ranks, as in {FAVORITES}.crypto.1"
        yield f"{key} is no single fact; {how}"
    if op.rank is not None and ranked is None:
        yield f"{key} has no ranks; only lists below {FAVORITES} have"
    if ranked and op.rank not in (None, ranked[1]):
        yield f"the key {key} and the rank {op.rank} differ"
    if op.op == "set":
        yield from _value_problems(op.value, "set", ranked=ranked is not None)
    elif op.value is not None:
        yield "clear takes no value"


def _list_key_problems(list_key: str) -> Iterator[str]:
    key = normalize_fact_key(list_key)[0]
    if not key.startswith(FAVORITES + "."):
        yield f"the list_key {list_key!r} is not below {FAVORITES}"
    ranked = split_rank_key(key)
    if ranked is not None:
        yield f"the list_key {key} names a rank; give the list {ranked[0]} and the rank apart"
    yield from _rank_problems(list_key)


def _rank_problems(key: str) -> Iterator[str]:
    """Say where a key ends in a number that is no rank: `user.favorites.crypto.0`."""
    segments = [segment for segment in key.split(".") if segment.strip()]
    last = segments[-1].strip() if len(segments) > 3 else ""
    normal = normalize_fact_key(key)[0]
    if last.isdecimal() and normal.startswith(FAVORITES) and split_rank_key(normal) is None:
        yield f"the key {key!r} ends in a rank outside 1 to {policy.MAX_RANK}"


def _value_problems(value: str | None, op: str, *, ranked: bool) -> Iterator[str]:
    kept = normalize_fact_value(value or "", ranked)[0]
    if not kept:
        yield f"{op} has {'no' if value is None else 'an empty'} value"
    if _LABEL.search(kept) and not names_something(_LABEL.sub(" ", kept)):
        yield f"the value of {op} is the label of a redacted secret, and the secret is not kept"


def batch_problems(ops: Sequence[FactsOp]) -> dict[int, str]:
    """Return what is wrong with each operation, by its place; also where two of them disagree.

    The same operation twice is no conflict: the second one changes nothing.
    """
    problems: dict[int, str] = {}
    set_to: dict[str, tuple[int, str]] = {}  # key -> (place, folded value)
    stands: dict[tuple[str, str], tuple[int, str]] = {}  # (list, folded value) -> (place, key)
    filled: dict[str, int] = {}  # list or key -> the place of the last operation that filled it
    for place, op in enumerate(ops):
        problem = op_problem(op)
        list_key = list_key_of(op) or ""
        target = normalize_fact_key(op.fact_key)[0] if op.fact_key else f"{list_key}.{op.rank}"
        if problem is not None:
            problems[place] = problem
        elif op.op in ("clear", "ranked_list_clear"):
            whole = target if op.op == "clear" else list_key
            if whole in filled:
                problems[place] = f"operation {filled[whole] + 1} fills {whole}, this one clears it"
        else:
            filled |= {list_key: place, target: place}
            if op.op in ("set", "ranked_list_set") and op.mode != "insert" and op.value:
                value = fold_value(normalize_fact_value(op.value, bool(list_key))[0])
                before = set_to.setdefault(target, (place, value))
                other = stands.setdefault((list_key or target, value), (place, target))
                if before[1] != value:
                    problems[place] = f"operation {before[0] + 1} sets {target} to another value"
                elif other[1] != target:
                    problems[place] = f"operation {other[0] + 1} sets the same value at {other[1]}"
    return problems


def plan_problem(plan: FactsQueryPlan) -> str | None:
    """Say why a plan cannot be carried out, in one sentence, or None where it can."""
    return next(_plan_problems(plan), None)


def _plan_problems(plan: FactsQueryPlan) -> Iterator[str]:
    if plan.intent == "facts_get_ranked_list":
        if plan.list_key is None and plan.topic is None:
            yield "facts_get_ranked_list has neither a list_key nor a topic"
        if plan.list_key is not None:
            yield from _list_key_problems(plan.list_key)
        elif not names_something(plan.topic or ""):
            yield f"the topic {plan.topic!r} has no letter or digit"
    elif plan.intent == "facts_get_by_time":
        if not (plan.since or plan.until):
            yield f"{plan.intent} has neither since nor until"
    else:
        name = _LOOKED_UP[plan.intent]
        said = getattr(plan, name)
        if not said or not said.strip():
            yield f"{plan.intent} has no {name}"
        elif name.endswith(("key", "prefix")) and not names_something(said):
            yield f"the {name} {said!r} has no letter or digit"


_LOOKED_UP: Final = {
    "facts_get_by_prefix": "key_prefix",
    "facts_get_exact_key": "fact_key",
    "facts_get_by_predicate": "predicate",
    "facts_get_by_entity": "entity",
}


def plan_window(plan: FactsQueryPlan) -> tuple[Millis | None, Millis | None, str | None]:
    """Return (since, until, problem) of a plan; a moment without a zone is one of UTC."""
    moments: list[Millis | None] = []
    for name, text in (("since", plan.since), ("until", plan.until)):
        if not text:
            moments.append(None)
            continue
        try:
            moment = datetime.fromisoformat(text.strip())
            moments.append(int(moment.replace(tzinfo=moment.tzinfo or UTC).timestamp() * 1000))
        except (ValueError, OverflowError):
            return None, None, f"{name} is {text!r}; give a moment like 2026-11-02T10:30:00Z"
    since, until = moments
    if since is not None and until is not None and since >= until:
        return None, None, f"since {plan.since} is not before until {plan.until}"
    return since, until, None
