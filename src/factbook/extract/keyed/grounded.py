"""Refuse what a message does not say: every operation a model proposes must stand in it.

A model that writes "Bitcoin" for "BTC" has made something up. What is looked for is the value
itself, in any case, width and spelling of blanks and quotes, as whole words. Around the value, the
message must say what the operation does:

| the operation | what the message must say |
|---|---|
| sets a key | a word of the key, or what it is also called (`named`) |
| sets, inserts or moves at a rank | that the value has a rank or is a favorite (`ranked`), and that rank |
| appends | that the value is a favorite, or belongs to the list |
| removes, clears, moves from a rank | the order to, or that it is no longer so (`removal`) |

In a question, a negation, a supposition or somebody else's mouth it says none of that. Which list is
meant where none is named is for `clarify` to ask.
"""  # noqa: E501

from __future__ import annotations

from typing import Final

from factbook.extract.keyed.contracts import FactsOp, list_key_of, op_values
from factbook.extract.keyed.mentions import Heard, locate
from factbook.extract.keyed.named import says_key
from factbook.extract.keyed.ranked import Placed
from factbook.extract.keyed.removal import removal_problem
from factbook.extract.keyed.told import Told
from factbook.extract.keyed.wording import shown
from factbook.model.keys import normalize_fact_key, split_rank_key

__all__ = ["Heard", "locate", "op_objection"]

_SETTING: Final = frozenset({"set", "ranked_list_set", "ranked_list_insert", "ranked_list_append"})


def op_objection(op: FactsOp, message: str | Heard) -> str | None:
    """Say why a message does not ask for an operation, in one sentence, or None where it does.

    Every value must stand in the message, in words that say what the operation does, and the ranks
    must be those that it names. Give a `Heard` for many operations of one message.
    """
    heard = Heard(message) if isinstance(message, str) else message
    values = op_values(op)
    for value in values:
        if not heard.places(value):
            return f"the message does not hold {shown(value, 60)}"
    key = list_key_of(op)
    if op.op in _SETTING or (op.op == "ranked_list_move" and values):
        for value in values:
            problem = _setting_problem(op, key, value, heard)
            if problem:
                return problem
        return None
    texts = [Told(heard, None, key)]
    if values:
        texts = [Told(heard, place, key) for place in heard.places(values[0])]
    problems = [removal_problem(op, key, _rank_of(op), told) for told in texts]
    return None if None in problems else problems[0]


def _rank_of(op: FactsOp) -> int | None:
    """Return the rank that an operation names, also at the end of its key."""
    if op.rank is not None or op.fact_key is None:
        return op.rank
    ranked = split_rank_key(op.fact_key)
    return ranked[1] if ranked else None


def _setting_problem(op: FactsOp, key: str | None, value: str, heard: Heard) -> str | None:
    """Return the objection of the place of a value that has none, or of the first place."""
    objections: list[str] = []
    for place in heard.places(value):
        told = Told(heard, place, key)
        if key is None:
            problem = _key_problem(op.fact_key or "", value, told)
        elif op.op == "ranked_list_append":
            problem = _added_problem(value, told)
        else:
            problem = _placed_problem(op, value, told)
        if problem is None:
            return None
        objections.append(problem)
    return objections[0]


def _key_problem(key: str, value: str, told: Told) -> str | None:
    if told.own is None:
        return f"the message does not hold {shown(value, 60)} as a word"
    problem = told.unmeant(told.own)
    if problem:
        return _unstated(value, problem)
    if says_key(key, told, told.said):
        return None
    return f"the message does not say what {normalize_fact_key(key)[0]} is"


def _placed_problem(op: FactsOp, value: str, told: Told) -> str | None:
    rank = _rank_of(op)
    if rank is None:
        return None  # `op_problem` says that it is missing
    placed = Placed(told)
    place, problem = placed.here
    if place is None:
        if placed.is_at(rank):
            return None
        return f"the message does not say that {shown(value, 60)} is a favorite or has a rank"
    if problem:
        return _unstated(value, problem)
    if rank in (place.ranks or {placed.number() or placed.counted() or 1}):
        return None
    if place.ranks:
        ranks = ", ".join(f"#{named_rank}" for named_rank in sorted(place.ranks)[:5])
        of = f" for {shown(value, 60)}" if rank in told.heard.ranks else ""
        return f"the message names {ranks} and not #{rank}{of}"
    return f"the message does not say that {shown(value, 60)} is #{rank}"


def _added_problem(value: str, told: Told) -> str | None:
    problem = Placed(told).added()
    if problem is None:
        return None
    if problem:
        return _unstated(value, problem)
    return f"the message does not put {shown(value, 60)} on a list of favorites"


def _unstated(value: str, problem: str) -> str:
    return f"the message does not state {shown(value, 60)}: {problem}"
