"""Tell whether a message asks for something to be taken away: a value, a rank, a list, a fact.

An order to remove needs its verb, with what is to go as its object; "I no longer like BTC" is one
with what it is about. A model's word is not enough.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from factbook.extract.base import word_set
from factbook.extract.keyed.contracts import FactsOp, rank_of
from factbook.extract.keyed.named import says_key
from factbook.extract.keyed.ranked import PLACING
from factbook.extract.keyed.told import OWN, REFERRING, SELF, Told
from factbook.extract.keyed.wording import named_ranks, stems_of

REMOVING: Final = stems_of(
    "remove delete drop erase forget take strike kick cross scratch unset clear discard exclude"
    " eliminate purge scrap trash dump ditch wipe replace get throw empty reset clean nuke destroy"
    " redo restart start"
)
_AWAY: Final = word_set("from off out away")
_WHERE: Final = word_set("from off out of in at")
_NEED_AWAY: Final = stems_of("take get throw strike kick cross")
_NEED_AGAIN: Final = stems_of("start restart")
_ANEW: Final = word_set("over again anew fresh scratch empty")
_SPARING: Final = word_set("except but besides keep keeping without apart unlike not")
_WHOLE: Final = word_set("everything all")
NO_ORDER: Final = re.compile(r"(?:[^s]s|ed|ing)$")  # of a verb that is no order


def removal_problem(op: FactsOp, told: Told) -> str | None:
    """Say why a message does not ask for what takes something away, or None where it does.

    `told` holds the place of the operation's value, where it has one.
    """
    rank = rank_of(op) or 0
    if told.list_key is None:
        what, orders = "to forget that", _fact_orders(op.fact_key or "", told)
    elif op.op == "ranked_list_clear":
        what, orders = "to clear that list", _clear_orders(told)
    elif op.op == "ranked_list_move":
        what, orders = "to move that", _move_orders(told, {rank, op.from_rank or rank})
    elif op.value is not None:
        what, orders = "to remove that", _value_orders(told)
    else:
        what, orders = f"to remove #{rank}", _rank_orders(told, rank)
    problems = list(orders)
    if "" in problems:
        return None
    return f"the message does not ask {what}{f': {problems[0]}' if problems else ''}"


def _orders(told: Told, verbs: frozenset[str]) -> Iterator[tuple[int, str]]:
    """Yield every verb of some that its writer orders or tells to have done; and why not."""
    for i, stem in enumerate(told.stems):
        token, mine = told.tokens[i], told.subject(i) in SELF
        if stem not in verbs or told.own == i or not told.requested(i):
            continue
        if verbs is REMOVING and not _takes_away(told, i):
            continue  # "get my list", "start my list with BTC"
        plain = not NO_ORDER.search(told.words[i]) or token.relation == "xcomp"
        if plain == (mine and token.relation != "xcomp"):
            continue  # "I forget my timezone all the time", "Bob always forgets it"
        denied = "it says what is not so" if any(map(told.negated, told.way(i))) else ""
        yield i, told.unmeant(i, order=True) or denied


def _takes_away(told: Told, verb: int) -> bool:
    """Say whether a verb takes away: "get" does with "rid" behind it, "start" with "over"."""
    behind = {told.words[i] for i in _behind(told, verb)}
    if told.stems[verb] in _NEED_AWAY:
        return not behind.isdisjoint(_AWAY | {"rid"})
    return told.stems[verb] not in _NEED_AGAIN or not behind.isdisjoint(_ANEW)


def _objects(told: Told, verb: int) -> list[int]:
    """Return what a verb is done to: its object and what stands in one row with it."""
    token, holders = told.tokens[verb], [verb]
    if token.relation == "xcomp":
        holders.append(token.head)  # "I want BTC removed"
    rid = "rid" in told.words[verb + 1 : verb + 3]
    direct = ("obl", "nmod") if rid else ("obj", "iobj", "xcomp")
    objects = [i for j in holders for i in told.below[j] if told.tokens[i].relation in direct]
    return [k for i in objects for k in told.siblings(i)]


def _behind(told: Told, verb: int) -> list[int]:
    """Return the words of a sentence from a verb on."""
    sentence = told.sentence(verb)
    return [i for i in range(verb, len(told.tokens)) if told.sentence(i) == sentence]


def _spares(told: Told, words: Iterable[int]) -> bool:
    """Say whether something is left out of an order: "everything but BTC", "ETH, not BTC"."""
    return any(told.words[i] in _SPARING for i in words)


def _is_from_list(told: Told, verb: int) -> bool:
    """Say whether it is to leave a list, where words say what it is to leave."""
    behind = _behind(told, verb)
    where = [i for i in behind if told.words[i] in _WHERE and told.tokens[i].relation == "case"]
    if where:
        left = {j for i in where for j in told.phrase(told.tokens[i].head)}
        return not left.isdisjoint(told.about) or any(told.words[j] in REFERRING for j in left)
    return True


def _is_list(told: Told, i: int) -> bool:
    """Say whether a word stands for the whole list: "my crypto list", "everything on it"."""
    around, behind = told.phrase(i), _behind(told, i)
    kinds = [told.tokens[j] for j in around if j not in told.about and j != i]
    others = told.named.isdisjoint(around) and any(kind.pos == "NOUN" for kind in kinds)
    if others or named_ranks(told.text_of([min(told.beside(i)), *behind])):
        return False  # "my grocery list", "my #2 crypto"
    return i in told.about or (told.words[i] in _WHOLE and not told.about.isdisjoint(behind))


def _value_orders(told: Told) -> Iterator[str]:
    if told.own is None:
        return
    ranks = named_ranks(told.text)
    for verb, problem in _orders(told, REMOVING):
        objects = [i for i in _objects(told, verb) if not _spares(told, told.below[i])]
        moved = ranks and told.stems[verb] == "drop"  # "Drop BTC to #5"
        mine = told.subject(verb) in SELF and not told.about
        if {*objects} & {*told.meant} and _is_from_list(told, verb) and not moved and not mine:
            yield problem
    for i in (told.own, told.tokens[told.own].head):
        liked = told.stems[i] in PLACING and told.subject(i) in SELF
        if i >= 0 and told.ended(i) and not ranks and (liked or i in told.about):
            yield told.unmeant(i, order=True)


def _rank_orders(told: Told, rank: int) -> Iterator[str]:
    for verb, problem in _orders(told, REMOVING):
        behind = _behind(told, verb)
        mine = any(i in told.about or told.words[i] in OWN for i in behind)
        named = named_ranks(told.text_of(behind).partition(" with ")[0])
        if rank in named and mine and not _spares(told, behind):
            yield problem


def _move_orders(told: Told, ranks: set[int]) -> Iterator[str]:
    for verb, problem in _orders(told, PLACING):
        if ranks <= named_ranks(told.text_of(_behind(told, verb))):
            yield problem


def _clear_orders(told: Told) -> Iterator[str]:
    for verb, problem in _orders(told, REMOVING):
        for i in _objects(told, verb):
            # "Clear it", of a list that was named before.
            it = told.words[i] in REFERRING
            it = it and (any(j < verb for j in told.named) or len(told.tokens) <= 4)
            if (it or _is_list(told, i)) and not _spares(told, _behind(told, verb)):
                yield problem
    for i in range(len(told.tokens)):
        over = told.ended(i) and told.subject(i) in SELF
        if over and any(_is_list(told, j) for j in told.below[i]):
            yield told.unmeant(i, order=True)


def _fact_orders(key: str, told: Told) -> Iterator[str]:
    for verb, problem in _orders(told, REMOVING):
        for i in _objects(told, verb):
            around = told.phrase(i)
            mine = OWN & {told.words[j] for j in around}
            behind = [
                j
                for k in (i, verb)
                for j in told.below[k]
                if j > i and told.tokens[j].relation in ("obl", "nmod", "acl")
            ]
            other = any(not says_key(key, told, [j]) for j in behind)
            it = told.words[i] in REFERRING and says_key(key, told, range(verb), owned=True)
            if it or (mine and not other and says_key(key, told, around)):
                yield problem
    for i, stem in enumerate(told.stems):
        over = told.ended(i) and told.subject(i) in SELF and stem not in REMOVING
        if over and says_key(key, told, told.beside(i)):
            yield told.unmeant(i, order=True)
