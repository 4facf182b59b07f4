"""Tell whether a message asks for something to be taken away: a value, a rank, a list, a fact.

An order to remove needs its verb, with what is to go as its object; "I no longer like BTC" is one
with what it is about. A model's word is not enough.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from factbook.extract.keyed.contracts import FactsOp
from factbook.extract.keyed.named import says_key
from factbook.extract.keyed.ranked import PICK, PLACING
from factbook.extract.keyed.told import LIST_WORD, OWN, SELF, Told, stems_of
from factbook.extract.keyed.wording import FAVORITE, named_ranks, words_of

__all__ = ["removal_problem"]


_REMOVING: Final = stems_of(
    "remove delete drop erase forget take strike kick cross scratch unset clear discard exclude"
    " eliminate purge scrap trash dump ditch wipe replace get throw"
)
_CLEARING: Final = stems_of(
    "clear empty erase reset delete remove drop forget wipe scrap purge trash dump discard unset"
    " clean nuke destroy replace redo restart start get throw"
)
_AWAY: Final = words_of("from off out rid away")
_NEED_AWAY: Final = stems_of("take get throw strike kick cross")
_SPARING: Final = words_of("except but besides keep keeping without apart unlike not")
_FEELING: Final = stems_of("like love enjoy want care need")
_HAVING: Final = stems_of("want need have keep live work use speak be")
_ALL: Final = words_of("everything all each every items entries values contents")
_IT: Final = words_of("it that them this these those")
_FORM: Final = re.compile(r"(?:[^s]s|ed|ing)$")  # of a verb that is no order
_PLAIN: Final = words_of("favorite favourite fav fave whole entire old ranked")


def removal_problem(op: FactsOp, list_key: str | None, rank: int | None, told: Told) -> str | None:
    """Say why a message does not ask for what takes something away, or None where it does.

    `told` holds the place of the operation's value, where it has one.
    """
    if list_key is None:
        what, orders = "to forget that", _fact_orders(op.fact_key or "", told)
    elif op.op == "ranked_list_clear":
        what, orders = "to clear that list", _clear_orders(told)
    elif op.op == "ranked_list_move":
        ranks = {number for number in (rank, op.from_rank) if number is not None}
        what, orders = "to move that", _rank_orders(told, ranks, PLACING)
    elif op.value is not None:
        what, orders = "to remove that", _value_orders(told)
    else:
        what, orders = f"to remove #{rank}", _rank_orders(told, {rank or 0}, _REMOVING)
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
        plain = not _FORM.search(told.words[i]) or token.relation == "xcomp"
        if plain == (subject in SELF and token.relation != "xcomp"):
            continue  # "I forget my timezone all the time", "Bob always forgets it"
        denied = "it says what is not so" if any(map(told.negated, told.up(i))) else ""
        yield i, told.unmeant(i, order=True) or denied


def _objects(told: Told, verb: int) -> list[int]:
    """Return what a verb is done to: its object and what stands in one row with it."""
    token, direct, of = told.tokens[verb], ("obj", "xcomp"), False
    holders = [verb]
    if token.relation == "xcomp":
        holders.append(token.head)  # "I want BTC removed"
    if token.relation == "conj" and not any(
        told.tokens[i].relation == "obj" for i in told.below[verb]
    ):
        holders.append(token.head)
    if "rid" in told.words[verb + 1 : verb + 3]:
        holders += [i for i in told.below[verb] if told.words[i] == "rid"]
        direct, of = ("obl", "nmod"), True
    objects = [i for j in holders for i in told.below[j] if told.tokens[i].relation in direct]
    objects = [i for i in objects if not of or "of" in {told.words[j] for j in told.below[i]}]
    return [k for i in objects for k in told.siblings(i)]


def _behind(told: Told, verb: int) -> list[int]:
    """Return the words of a sentence from a verb on."""
    sentence = told.sentence(verb)
    return [i for i in range(verb, len(told.tokens)) if told.sentence(i) == sentence]


def _spares(told: Told, words: list[int]) -> bool:
    """Say whether something is left out of an order: "everything but BTC", "ETH, not BTC"."""
    return any(told.words[i] in _SPARING for i in words)


def _is_from_list(told: Told, verb: int) -> bool:
    """Say whether it is to leave a list, where words say what it is to leave."""
    here = _behind(told, verb)
    away = [i for i in here if told.words[i] in _AWAY and told.tokens[i].relation == "case"]
    if not away:
        return told.stems[verb] not in _NEED_AWAY or any(told.words[i] in _AWAY for i in here)
    left = told.tokens[away[0]].head
    return bool({left, *told.below[left]} & told.about) or told.words[left] in ("it", "there")


def _value_orders(told: Told) -> Iterator[str]:
    if told.own is None:
        return
    ranks = named_ranks(told.text)
    for verb, problem in _orders(told, _REMOVING):
        gone = [
            i for i in _objects(told, verb) if i in told.meant and not _spares(told, told.below[i])
        ]
        moved = ranks and told.stems[verb] == "drop"  # "Drop BTC to #5"
        mine = told.subject(verb) in SELF and not told.about
        if gone and _is_from_list(told, verb) and not moved and not mine:
            yield problem
    first = told.siblings(told.own)[0]
    for i in told.up(told.own):
        over = told.ended(i) and i in (told.own, told.tokens[first].head) and not ranks
        liked = told.stems[i] in _FEELING and told.subject(i) in SELF
        if (
            over
            and (liked or i in told.about)
            and told.tokens[told.own].relation in ("obj", "nsubj")
        ):
            yield told.unmeant(i, order=True)


def _rank_orders(told: Told, ranks: set[int], verbs: frozenset[str]) -> Iterator[str]:
    for verb, problem in _orders(told, verbs):
        here = _behind(told, verb)
        after = told.text[told.tokens[verb].end : told.tokens[here[-1]].end]
        things = [i for i in _objects(told, verb) if told.tokens[i].pos in ("NOUN", "PROPN")]
        placed = all(_is_place(told, i) for i in things)
        if ranks <= named_ranks(after) and placed and not _spares(told, here):
            if _is_from_list(told, verb):
                yield problem


def _is_place(told: Told, i: int) -> bool:
    """Say whether a word is a rank or of the list, as "spot" is and "paragraph" is not."""
    word = told.words[i]
    rank = named_ranks(word) or word == "#" or re.match(FAVORITE, word)
    return bool(rank) or i in told.about or word in PICK


def _clear_orders(told: Told) -> Iterator[str]:
    for verb, problem in _orders(told, _CLEARING):
        objects = _objects(told, verb)
        # "Clear it", of a list that was named before.
        it = any(told.words[i] in _IT for i in objects) and told.stems[verb] != "forget"
        it = it and (any(i < verb for i in told.named) or len(told.tokens) <= 4)
        if not _spares(told, _behind(told, verb)):
            if it or any(_is_the_list(told, i, verb) for i in objects):
                yield problem
    for i, stem in enumerate(told.stems):
        over = stem in _HAVING and told.ended(i) and told.subject(i) in SELF
        if over and any(_is_the_list(told, j, i) for j in _objects(told, i)):
            yield told.unmeant(i, order=True)


def _is_the_list(told: Told, i: int, verb: int) -> bool:
    """Say whether a word stands for the whole of a list and not for something in it.

    "my crypto list", "everything on my list of favorite cryptos"; not "my crypto wallet" and not
    "my #2 crypto".
    """
    around = told.phrase(i)
    if named_ranks(told.text[told.tokens[verb].end : told.tokens[i].end]):
        return False
    if told.words[i] in _ALL:
        return any(k in told.about for j in (*around, *told.below[verb]) for k in told.siblings(j))
    told_of = [j for j in around if told.tokens[j].relation in ("compound", "amod")]
    plain = all(j in told.named or told.words[j] in _PLAIN for j in told_of)
    return i in told.about and (plain or told.words[i] not in LIST_WORD)


def _fact_orders(key: str, told: Told) -> Iterator[str]:
    for verb, problem in _orders(told, _CLEARING):
        if told.subject(verb) in SELF:
            continue
        for i in _objects(told, verb):
            around = told.phrase(i)
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
        over = told.ended(i) and told.subject(i) in SELF and stem not in _REMOVING | _CLEARING
        if over and says_key(key, told, range(len(told.tokens))):
            yield told.unmeant(i, order=True)
