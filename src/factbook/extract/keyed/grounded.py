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

import re
from typing import Final

from factbook.extract.keyed.contracts import FactsOp, list_key_of, op_values
from factbook.extract.keyed.mentions import Heard, Sentences, locate
from factbook.extract.keyed.named import says_key
from factbook.extract.keyed.ranked import (
    adds,
    counted_place,
    in_order,
    mentions_rank,
    places,
    places_first,
    relative,
)
from factbook.extract.keyed.removal import removal_problem
from factbook.extract.keyed.speech import MOVING, VALUE, commands
from factbook.extract.keyed.wording import (
    asks_something,
    mood_problem,
    named_ranks,
    without_requests,
)
from factbook.language.questions import INVERTED
from factbook.model.keys import normalize_fact_key, split_rank_key

__all__ = ["Heard", "locate", "op_objection"]

_TURN: Final = re.compile(r";|\bbut\b|,\s+(?=\S+\s+(?:is|are)\b)", re.IGNORECASE)
_SETTING: Final = frozenset({"set", "ranked_list_set", "ranked_list_insert", "ranked_list_append"})


def op_objection(op: FactsOp, message: str | Heard) -> str | None:
    """Say why a message does not ask for an operation, in one sentence, or None where it does.

    Every value must stand in the message, in words that say what the operation does, and the ranks
    must be those that it names. Give a `Heard` for many operations of one message.
    """
    heard = Heard(message) if isinstance(message, str) else message
    values = op_values(op)
    for value in values:
        if heard.locate(value) is None:
            return f"the message does not hold {_shown(value)}"
    key = list_key_of(op)
    if op.op in _SETTING or (op.op == "ranked_list_move" and values):
        for value in values:
            problem = _setting_problem(op, key, value, heard)
            if problem:
                return problem
        return None
    texts = [Sentences(heard, None, key)]
    if values:
        texts = [Sentences(heard, place, key) for place in heard.places(values[0])]
    problems = [removal_problem(op, key, _rank_of(op), text) for text in texts]
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
        mood = _stated_problem(heard, place.start, place.end)
        if mood:
            objections.append(f"the message does not state {_shown(value)}: {mood}")
            continue
        text = Sentences(heard, place, key)
        if key is None:
            problem = _key_problem(op.fact_key or "", value, text)
        elif op.op == "ranked_list_append":
            problem = _added_problem(value, text)
        else:
            problem = _placed_problem(op, value, text)
        if problem is None:
            return None
        objections.append(problem)
    return objections[0]


def _stated_problem(heard: Heard, start: int, end: int) -> str:
    sentence = heard.sentence_at(start, end)
    at = sentence.start
    said = sentence.of(heard.message)
    words = sentence.of(heard.unquoted)
    words = words[: start - at] + "_" * (end - start) + words[end - at :]
    if asks_something(said) or _ASKED.match(words):
        return "it is a question"
    turns = [match.span() for match in _TURN.finditer(words)]
    left = max((stop for _, stop in turns if stop <= start - at), default=0)
    right = min((begin for begin, _ in turns if begin >= end - at), default=len(words))
    # A supposition at the beginning holds for the whole sentence: "If ..., BTC is my #1".
    opening = words.split(maxsplit=1)
    if left and opening and opening[0].lower() in ("if", "suppose", "unless", "imagine"):
        return mood_problem(opening[0])
    return mood_problem(without_requests(words[left:right]))


_ASKED: Final = re.compile(rf"\W*(?:(?:so|and|hey|hi|well|ok|okay)\W+)*{INVERTED}\b", re.IGNORECASE)


# --- a key ----------------------------------------------------------------------------------------


def _key_problem(key: str, value: str, text: Sentences) -> str | None:
    scope = text.scope(lambda words: says_key(key, words, value))
    if says_key(key, scope, value):
        return None
    return f"the message does not say what {normalize_fact_key(key)[0]} is"


# --- a place on a list ----------------------------------------------------------------------------


def _placed_problem(op: FactsOp, value: str, text: Sentences) -> str | None:
    rank = _rank_of(op)
    if rank is None:
        return None  # `op_problem` says that it is missing
    scope = text.scope(mentions_rank)
    named = named_ranks(scope)
    moves = op.op == "ranked_list_move"
    if not (places(scope) or (moves and _is_moved(scope))):
        if relative(text.here) and not named:
            return None
        if places_first(scope) and rank == 1:
            return None
        if in_order(text.here) and counted_place(text.here) == rank:
            return None
        return f"the message does not say that {_shown(value)} is a favorite or has a rank"
    if rank in (named or {1}) or counted_place(scope) == rank:
        return None
    if named:
        shown = ", ".join(f"#{named_rank}" for named_rank in sorted(named)[:5])
        of = f" for {_shown(value)}" if rank in text.heard.ranks else ""
        return f"the message names {shown} and not #{rank}{of}"
    return f"the message does not say that {_shown(value)} is #{rank}"


def _is_moved(scope: str) -> bool:
    return any(VALUE in order.after for order in commands(scope, MOVING)) and mentions_rank(scope)


def _added_problem(value: str, text: Sentences) -> str | None:
    scope = text.scope(adds)
    if adds(scope):
        return None
    return f"the message does not put {_shown(value)} on a list of favorites"


def _shown(value: str) -> str:
    return repr(value if len(value) <= 60 else value[:59] + "…")
