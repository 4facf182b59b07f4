"""Tell whether a message asks for something to be taken away: a value, a rank, a list, a fact.

An order to remove needs its verb, with what is to go as its object; "I no longer like BTC" is one
with what it is about. A model's word is not enough.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from factbook.extract.keyed.contracts import FactsOp, rank_of
from factbook.extract.keyed.named import says_key
from factbook.extract.keyed.places import Place, place_in
from factbook.extract.keyed.ranked import PLACING
from factbook.extract.keyed.told import OWN, SELF, Told, stems_of
from factbook.extract.keyed.wording import named_ranks, words_of
from factbook.model.keys import canonical_list_key

__all__ = ["NO_ORDER", "REMOVING", "removal_problem"]


REMOVING: Final = stems_of(
    "remove delete drop erase forget take strike kick cross scratch unset clear discard exclude"
    " eliminate purge scrap trash dump ditch wipe replace get throw empty reset clean nuke destroy"
    " redo restart start"
)
_AWAY: Final = words_of("from off out rid away")
_NEED_AWAY: Final = stems_of("take get throw strike kick cross")
_SPARING: Final = words_of("except but besides keep keeping without apart unlike not")
_FEELING: Final = stems_of("like love enjoy want care need")
_IT: Final = words_of("it that them this these those")
_NO_OBJECT: Final = ("advmod", "cc", "discourse", "mark", "punct", "vocative")
NO_ORDER: Final = re.compile(r"(?:[^s]s|ed|ing)$")  # of a verb that is no order


def removal_problem(op: FactsOp, list_key: str | None, told: Told) -> str | None:
    """Say why a message does not ask for what takes something away, or None where it does.

    `told` holds the place of the operation's value, where it has one.
    """
    rank = rank_of(op)
    if list_key is None:
        what, orders = "to forget that", _fact_orders(op.fact_key or "", told)
    elif op.op == "ranked_list_clear":
        what, orders = "to clear that list", _clear_orders(told, list_key)
    elif op.op == "ranked_list_move":
        ranks = {number for number in (rank, op.from_rank) if number is not None}
        what, orders = "to move that", _move_orders(told, ranks)
    elif op.value is not None:
        what, orders = "to remove that", _value_orders(told)
    else:
        what, orders = f"to remove #{rank}", _rank_orders(told, rank or 0, list_key)
    problems = list(orders)
    if "" in problems:
        return None
    return f"the message does not ask {what}{f': {problems[0]}' if problems else ''}"


def _orders(told: Told, verbs: frozenset[str]) -> Iterator[tuple[int, str]]:
    """Yield every verb of some that its writer orders or tells to have done; and why not."""
    for i, stem in enumerate(told.stems):
        token, subject = told.tokens[i], told.subject(i)
        if stem not in verbs or told.own == i or subject not in ("you", *SELF, None):
            continue
        plain = not NO_ORDER.search(told.words[i]) or token.relation == "xcomp"
        if plain == (subject in SELF and token.relation != "xcomp"):
            continue  # "I forget my timezone all the time", "Bob always forgets it"
        denied = "it says what is not so" if any(map(told.negated, told.up(i))) else ""
        yield i, told.unmeant(i, order=True) or denied


def _objects(told: Told, verb: int) -> list[int]:
    """Return what a verb is done to: its object and what stands in one row with it."""
    token, holders = told.tokens[verb], [verb]
    if token.relation == "xcomp":
        holders.append(token.head)  # "I want BTC removed"
    rid = "rid" in told.words[verb + 1 : verb + 3]
    direct = ("obl", "nmod") if rid else ("obj", "xcomp")
    objects = [i for j in holders for i in told.below[j] if told.tokens[i].relation in direct]
    return [k for i in objects for k in told.siblings(i)]


def _behind(told: Told, verb: int) -> list[int]:
    """Return the words of a sentence from a verb on."""
    sentence = told.sentence(verb)
    return [i for i in range(verb, len(told.tokens)) if told.sentence(i) == sentence]


def _spares(told: Told, words: list[int]) -> bool:
    """Say whether something is left out of an order: "everything but BTC", "ETH, not BTC"."""
    return any(told.words[i] in _SPARING for i in words)


def _away(told: Told, verb: int) -> list[int]:
    """Return the words that say what something is to leave."""
    case = [i for i in _behind(told, verb) if told.words[i] in _AWAY]
    heads = [told.tokens[i].head for i in case if told.tokens[i].relation == "case"]
    return told.under(heads[-1]) if heads else []


def _is_from_list(told: Told, verb: int) -> bool:
    """Say whether it is to leave a list, where words say what it is to leave."""
    away = _away(told, verb)
    if not away:
        said = any(told.words[i] in _AWAY for i in _behind(told, verb))
        return said or told.stems[verb] not in _NEED_AWAY
    return not {*away}.isdisjoint(told.about) or told.words[away[-1]] in ("it", "there")


def _places(told: Told, verb: int, list_key: str) -> Iterator[Place]:
    """Yield the places of a list that a verb is done to: "my #2 crypto", "all of my cryptos"."""
    objects = _objects(told, verb)
    behind = [i for i in told.under(verb) if i > verb]
    for phrase in [behind, *(told.under(i) for i in objects if i not in behind)]:
        words = [i for i in phrase if told.tokens[i].relation not in _NO_OBJECT]
        said = re.split(r"\s+with\s+", told.text_of(words))[0]  # "replace my list with BTC"
        place = place_in(said, [list_key])
        named = place and place.topic and canonical_list_key(place.topic)
        if place is not None and not place.key and (named or list_key) == list_key:
            yield place


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
    first = told.siblings(told.own)[0]
    for i in told.up(told.own):
        over = told.ended(i) and i in (told.own, told.tokens[first].head) and not ranks
        liked = told.stems[i] in _FEELING and told.subject(i) in SELF
        if over and (liked or i in told.about):
            yield told.unmeant(i, order=True)


def _rank_orders(told: Told, rank: int, list_key: str) -> Iterator[str]:
    for verb, problem in _orders(told, REMOVING):
        if not _spares(told, _behind(told, verb)):
            yield from (problem for at in _places(told, verb, list_key) if at.rank == rank)


def _move_orders(told: Told, ranks: set[int]) -> Iterator[str]:
    for verb, problem in _orders(told, PLACING):
        if ranks <= named_ranks(told.text_of(_behind(told, verb))):
            yield problem


def _clear_orders(told: Told, list_key: str) -> Iterator[str]:
    for verb, problem in _orders(told, REMOVING):
        objects = _objects(told, verb)
        # "Clear it", of a list that was named before.
        it = any(told.words[i] in _IT for i in objects)
        it = it and (any(i < verb for i in told.named) or len(told.tokens) <= 4)
        whole = any(at.rank is None for at in _places(told, verb, list_key))
        if (it or whole) and not _spares(told, _behind(told, verb)):
            yield problem
    for i in range(len(told.tokens)):
        over = told.ended(i) and told.subject(i) in SELF
        if over and any(_places(told, i, list_key)):
            yield told.unmeant(i, order=True)


def _fact_orders(key: str, told: Told) -> Iterator[str]:
    for verb, problem in _orders(told, REMOVING):
        for i in _objects(told, verb):
            around = told.under(i)
            mine = OWN & {told.words[j] for j in around}
            others = [
                j
                for k in (i, verb)
                for j in told.below[k]
                if j > i and told.tokens[j].relation in ("obl", "nmod", "acl")
            ]
            other = any(not says_key(key, told, [j]) for j in others)
            it = told.words[i] in _IT and says_key(key, told, range(verb), owned=True)
            if it or (mine and not other and says_key(key, told, sorted(around))):
                yield problem
    for i, stem in enumerate(told.stems):
        over = told.ended(i) and told.subject(i) in SELF and stem not in REMOVING
        if over and says_key(key, told, range(len(told.tokens))):
            yield told.unmeant(i, order=True)
