"""Refuse what a message does not say: every operation a model proposes must stand in it.

A model that writes "Bitcoin" for "BTC" has made something up: the value itself must stand there, as
whole words. Around it the message must say what the operation does: a word of the key (`named`),
that the value has that rank or is a favorite (`ranked`), an order to take away (`removal`). In a
question, a negation, a supposition or somebody else's mouth it says none of that.
"""

from __future__ import annotations

from typing import Final

from factbook.extract.keyed.contracts import FactsOp, list_key_of, op_values, rank_of
from factbook.extract.keyed.mentions import Heard
from factbook.extract.keyed.named import says_key
from factbook.extract.keyed.ranked import added, placed
from factbook.extract.keyed.removal import removal_problem
from factbook.extract.keyed.told import Told
from factbook.extract.keyed.wording import shown
from factbook.model.keys import normalize_fact_key

_TAKING_AWAY: Final = frozenset({"clear", "ranked_list_remove", "ranked_list_clear"})


def op_objection(op: FactsOp, message: str | Heard) -> str | None:
    """Say why a message does not ask for an operation, in one sentence, or None where it does.

    Every value must stand in the message, in words that say what the operation does, and the ranks
    must be those that it names. Give a `Heard` for many operations of one message.
    """
    key, values = list_key_of(op), op_values(op)
    heard = Heard(message, values) if isinstance(message, str) else message
    for value in values:
        if not heard.places(value):
            return f"the message does not hold {shown(value, 60)}"
    if not values:
        return removal_problem(op, Told(heard, None, key))
    for value in values:
        # One place of the value is enough; of several that have none, the first tells why.
        told = [Told(heard, place, key) for place in heard.places(value)]
        objections = [_objection(op, value, at) for at in told]
        if None not in objections:
            return objections[0]
    return None


def _objection(op: FactsOp, value: str, told: Told) -> str | None:
    """Say why the words around one place of a value do not ask for an operation."""
    if op.op in _TAKING_AWAY:
        return removal_problem(op, told)
    quoted = shown(value, 60)
    if told.own is None:
        return f"the message does not hold {quoted} as a word"
    if told.list_key is None:
        problem, says = told.unmeant(told.own), says_key(op.fact_key or "", told)
        key = normalize_fact_key(op.fact_key or "")[0]
        otherwise = "" if says else f"the message does not say what {key} is"
    elif op.op == "ranked_list_append":
        problem, otherwise = added(told)
    else:
        problem, otherwise = placed(told, rank_of(op) or 0)
    if problem:
        return f"the message does not state {quoted}: {problem}"
    return otherwise or None
