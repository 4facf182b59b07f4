"""Read what a person tells by rules alone: the planner that is chosen by `--planner rules`.

Knows the common English phrasings of setting a favorite, a list, a rank or a fact about oneself.
It takes a message whole or not at all: one sentence that it does not understand, and nothing is
done, because that sentence may take back another one. It never guesses, and says why it refuses.

Every value is a span of the message. Questions are read by `questions`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from factbook import policy
from factbook.extract.keyed.clarify import clarification
from factbook.extract.keyed.clause_words import (
    Refused,
    UnplacedOp,
)
from factbook.extract.keyed.clauses import (
    ClauseReader,
)
from factbook.extract.keyed.contracts import FactsOp, FactsOpsResponse, batch_problems
from factbook.extract.keyed.grounded import Heard, op_objection
from factbook.extract.keyed.questions import ReadQuestion, parse_ask
from factbook.model.keys import canonical_list_key

__all__ = ["MESSAGE_CHARS", "ParsedOp", "ReadMessage", "ReadQuestion", "parse_ask", "parse_tell"]

MESSAGE_CHARS: Final = 4_000
"""The longest message that the rules read: nobody states a favorite in more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedOp:
    """One operation, and where the message asks for it."""

    op: FactsOp
    start: int  # of its value, or of the first of them; of the clause where there is none
    end: int
    values: tuple[tuple[int, int], ...]  # of each of its values, in their order
    clause_start: int  # of the words that say it
    clause_end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadMessage:
    """What the rules made of a message."""

    ops: tuple[ParsedOp, ...] = ()
    needs_clarification: tuple[str, ...] = ()  # what to ask; there are no operations then
    reason: str = ""  # why the message was not understood; there are no operations then

    @property
    def understood(self) -> bool:
        """Say whether the operations may be applied."""
        return bool(self.ops)

    @property
    def response(self) -> FactsOpsResponse:
        """The same in the shape in which a model answers."""
        return FactsOpsResponse(
            ops=[parsed.op for parsed in self.ops],
            needs_clarification=list(self.needs_clarification),
            notes=[self.reason] if self.reason else [],
        )


# --- the message ----------------------------------------------------------------------------------


def parse_tell(message: str, *, lists: Mapping[str, Mapping[int, str]]) -> ReadMessage:
    """Return the operations that a message asks for, or why there are none.

    `lists` are the owner's lists, `{"user.favorites.crypto": {1: "BTC"}}`: a message that names no
    topic means the only one, and is asked back where there are more.
    """
    if not message.strip():
        return ReadMessage(reason="the message is empty")
    if len(message) > MESSAGE_CHARS:
        return ReadMessage(
            reason=f"the message has {len(message)} characters; the rules read up to"
            f" {MESSAGE_CHARS}, so say it in fewer words"
        )
    known = list(dict.fromkeys(map(canonical_list_key, lists)))
    try:
        unplaced_ops = ClauseReader(message, frozenset(known)).read()
    except Refused as refused:
        return ReadMessage(reason=str(refused))
    if not unplaced_ops:
        return ReadMessage(reason="there is nothing to set in the message")
    return _resolved(message, unplaced_ops, known)


def _resolved(message: str, ops: Sequence[UnplacedOp], known: Sequence[str]) -> ReadMessage:
    """Give every operation its list, ask back where that would be a guess."""
    named = list(
        dict.fromkeys(
            canonical_list_key(unplaced_op.topic) for unplaced_op in ops if unplaced_op.topic
        )
    )
    default = named[0] if len(named) == 1 else None
    if default is None and not named and len(known) == 1:
        default = known[0]
    if default is None and any(
        not unplaced_op.key and unplaced_op.topic is None for unplaced_op in ops
    ):
        return ReadMessage(needs_clarification=(clarification(dict.fromkeys([*named, *known])),))
    parsed: list[ParsedOp] = []
    for unplaced_op in ops:
        op = _op(message, unplaced_op, default)
        if isinstance(op, str):
            return ReadMessage(reason=op)
        places = tuple((span.start, span.end) for span in unplaced_op.values)
        parsed.append(
            ParsedOp(
                op=op,
                start=places[0][0] if places else unplaced_op.clause.start,
                end=places[-1][1] if places else unplaced_op.clause.end,
                values=places,
                clause_start=unplaced_op.clause.start,
                clause_end=unplaced_op.clause.end,
            )
        )
    problems = batch_problems([parsed_op.op for parsed_op in parsed])
    if problems:
        return ReadMessage(reason=next(iter(problems.values())))
    heard = Heard(message)
    unmeant = next(filter(None, (op_objection(parsed_op.op, heard) for parsed_op in parsed)), "")
    if unmeant:
        return ReadMessage(reason=unmeant)
    if len(parsed) > policy.MAX_OPS:
        return ReadMessage(
            reason=f"the message asks for more than {policy.MAX_OPS} changes at once"
        )
    return ReadMessage(ops=tuple(parsed))


def _op(message: str, unplaced_op: UnplacedOp, default: str | None) -> FactsOp | str:
    """Return an operation, or why it is none."""
    texts = [span.of(message) for span in unplaced_op.values]
    for text in texts:
        if len(text) > policy.VALUE_CHARS:
            return f"a value has {len(text)} characters; it may have {policy.VALUE_CHARS}"
    for rank in (unplaced_op.rank, unplaced_op.from_rank):
        if rank is not None and not 1 <= rank <= policy.MAX_RANK:
            return f"there is no rank {rank}; ranks are 1 to {policy.MAX_RANK}"
    if unplaced_op.key:
        return FactsOp(
            op=unplaced_op.op,
            fact_key=unplaced_op.key,
            value=texts[0] if texts else None,
            confidence=policy.TOLD,
        )
    many = unplaced_op.op == "ranked_list_append"
    return FactsOp(
        op=unplaced_op.op,
        list_key=canonical_list_key(unplaced_op.topic) if unplaced_op.topic else default,
        rank=unplaced_op.rank,
        from_rank=unplaced_op.from_rank,
        value=None if many or not texts else texts[0],
        values=texts if many else None,
        confidence=policy.TOLD,
    )
