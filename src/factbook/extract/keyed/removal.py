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
from factbook.extract.keyed.told import LIST_WORD, OWN, Told, stems_of
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
_ENDED: Final = re.compile(
    r"\b(?:no\s+longer|any\s?more|any\s+longer|do(?:es)?(?:\s+not|n['’]t))(?!\w)", re.IGNORECASE
)
_SELF: Final = ("i", "we")
_IT: Final = frozenset(("it", "that", "them", "this", "these", "those"))


def removal_problem(op: FactsOp, list_key: str | None, rank: int | None, told: Told) -> str | None:
    """Say why a message does not ask for what takes something away, or None where it does.

    `told` holds the place of the operation's value, where it has one.
    """
    if list_key is None:
        return _asked(told, _fact_orders(op.fact_key or "", told), "to forget that")
    if op.op == "ranked_list_clear":
        return _asked(told, _clear_orders(told), "to clear that list")
    if op.op == "ranked_list_move":
        ranks = {number for number in (rank, op.from_rank) if number is not None}
        return _asked(told, _rank_orders(told, ranks, PLACING), "to move that")
    if op.value is not None:
        return _asked(told, _value_orders(told), "to remove that")
    return _asked(told, _rank_orders(told, {rank or 0}, _REMOVING), f"to remove #{rank}")


def _asked(told: Told, orders: Iterator[tuple[int, str]], what: str) -> str | None:
    """Return None where one order is meant, else why none is."""
    why = ""
    for _, problem in orders:
        if not problem:
            return None
        why = why or f": {problem}"
    return f"the message does not ask {what}{why}"


def _orders(told: Told, verbs: frozenset[str]) -> Iterator[tuple[int, str]]:
    """Yield every verb of some that its writer orders or tells to have done; and why not."""
    for i, word in enumerate(told.stems):
        if word not in verbs or told.own == i:
            continue
        first = told.tokens[i].relation == "root" or told.tokens[i].pos == "VERB"
        if not first or told.subject(i) not in ("you", *_SELF, None):
            continue
        mine = told.subject(i) in _SELF
        if mine and told.words[i] == word and told.tokens[i].relation != "xcomp":
            continue  # "I forget my timezone all the time"
        problem = told.unmeant(i, order=True) or (
            "it says what is not so" if any(map(told.negated, told.up(i))) else ""
        )
        yield i, problem


def _objects(told: Told, verb: int) -> list[int]:
    """Return what a verb is done to: its object and what stands in one row with it."""
    holders = [verb]
    if told.tokens[verb].relation == "xcomp":
        holders.append(told.tokens[verb].head)  # "I want BTC removed"
    if told.tokens[verb].relation == "conj" and not any(
        told.tokens[i].relation == "obj" for i in told.below[verb]
    ):
        holders.append(told.tokens[verb].head)
    direct = ("obj", "xcomp")
    if "rid" in told.words[verb + 1 : verb + 3]:
        holders += [i for i in told.below[verb] if told.words[i] == "rid"]
        direct = ("obl", "nmod")
    objects = [i for j in holders for i in told.below[j] if told.tokens[i].relation in direct]
    if direct[0] == "obl":
        objects = [i for i in objects if "of" in {told.words[j] for j in told.below[i]}]
    return [k for i in objects for k in told.siblings(i)]


def _phrase(told: Told, i: int) -> list[int]:
    """Return a word with those that hang on it, to the second below."""
    return [i, *told.below[i], *(k for j in told.below[i] for k in told.below[j])]


def _spared(told: Told, i: int) -> bool:
    """Say whether a word is left out of an order: "everything but BTC", "ETH, not BTC"."""
    return any(told.words[j] in _SPARING for j in told.below[i])


def _is_from_list(told: Told, verb: int) -> bool:
    """Say whether it is to leave a list, where words say what it is to leave."""
    here = [i for i in range(verb, len(told.tokens)) if told.sentence(i) == told.sentence(verb)]
    away = [i for i in here if told.words[i] in _AWAY and told.tokens[i].relation == "case"]
    if not away:
        return told.stems[verb] not in _NEED_AWAY or any(told.words[i] in _AWAY for i in here)
    left = told.tokens[away[0]].head
    return bool({left, *told.below[left]} & told.about) or told.words[left] in ("it", "there")


# --- a value --------------------------------------------------------------------------------------


def _value_orders(told: Told) -> Iterator[tuple[int, str]]:
    if told.own is None:
        return
    for verb, problem in _orders(told, _REMOVING):
        for i in _objects(told, verb):
            forgets = told.stems[verb] == "forget" and i != told.own
            if (
                i not in told.meant
                or forgets
                or _spared(told, i)
                or told.tokens[i].relation == "xcomp"
            ):
                continue
            ranked = (
                named_ranks(told.text[told.tokens[verb].begin :]) and told.stems[verb] == "drop"
            )
            mine = told.subject(verb) in _SELF and not told.about
            if _is_from_list(told, verb) and not ranked and not mine:
                yield verb, problem
    for i in told.up(told.own):
        if not told.ended(i) or named_ranks(told.text):
            continue
        mine = told.tokens[told.siblings(told.own)[0]].head == i or told.own == i
        if not mine:
            continue
        liked = told.stems[i] in _FEELING and told.subject(i) in _SELF
        if (liked or i in told.about) and told.tokens[told.own].relation in ("obj", "nsubj"):
            yield i, told.unmeant(i, order=True)


# --- a rank ---------------------------------------------------------------------------------------


def _rank_orders(told: Told, ranks: set[int], verbs: frozenset[str]) -> Iterator[tuple[int, str]]:
    for verb, problem in _orders(told, verbs):
        end = next(
            (end for start, end in told.sentences if start <= told.tokens[verb].begin < end),
            len(told.text),
        )
        after = told.text[told.tokens[verb].end : end]
        here = [i for i in range(verb, len(told.tokens)) if told.tokens[i].begin < end]
        if not ranks <= named_ranks(after) or {*(told.words[i] for i in here)} & _SPARING:
            continue
        other = [
            i
            for i in _objects(told, verb)
            if told.tokens[i].pos in ("NOUN", "PROPN") and not _is_place(told, i)
        ]
        if not other and _is_from_list(told, verb):
            yield verb, problem


def _is_place(told: Told, i: int) -> bool:
    """Say whether a word is a rank or of the list, as "spot" is and "paragraph" is not."""
    favorite = re.match(FAVORITE, told.words[i], re.IGNORECASE)
    rank = named_ranks(told.words[i]) or told.words[i] == "#"
    return i in told.about or bool(rank or favorite) or told.words[i] in PICK


# --- a list ---------------------------------------------------------------------------------------


def _clear_orders(told: Told) -> Iterator[tuple[int, str]]:
    for verb, problem in _orders(told, _CLEARING):
        sentence = told.sentence(verb)
        here = [i for i in range(len(told.tokens)) if told.sentence(i) == sentence and i > verb]
        if {*(told.words[i] for i in here)} & _SPARING:
            continue
        objects = _objects(told, verb)
        if any(_is_the_list(told, i, verb) for i in objects):
            yield verb, problem
        elif any(told.words[i] in _IT for i in objects) and told.stems[verb] != "forget":
            earlier = any(i < verb for i in told.named)
            if earlier or len(told.tokens) <= 4:
                yield verb, problem
    for i, word in enumerate(told.stems):
        over = word in _HAVING and told.ended(i) and told.subject(i) in _SELF
        if over and any(_is_the_list(told, j, i) for j in _objects(told, i)):
            yield i, told.unmeant(i, order=True)


def _is_the_list(told: Told, i: int, verb: int) -> bool:
    """Say whether a word stands for the whole of a list and not for something in it.

    "my crypto list", "everything on my list of favorite cryptos"; not "my crypto wallet" and not
    "my #2 crypto".
    """
    around = _phrase(told, i)
    if named_ranks(told.text[told.tokens[verb].end : told.tokens[i].end]):
        return False
    if told.words[i] in _ALL:
        return any(k in told.about for j in (*around, *told.below[verb]) for k in told.siblings(j))
    if i not in told.about:
        return False
    if told.words[i] in LIST_WORD:
        told_of = [j for j in around if told.tokens[j].relation in ("compound", "amod")]
        plain = ("favorite", "favourite", "fav", "fave", "whole", "entire", "old", "ranked")
        return all(j in told.named or told.words[j] in plain for j in told_of)
    return True


# --- a fact ---------------------------------------------------------------------------------------


def _fact_orders(key: str, told: Told) -> Iterator[tuple[int, str]]:
    for verb, problem in _orders(told, _CLEARING):
        if told.subject(verb) in _SELF:
            continue
        objects = _objects(told, verb)
        whole = sorted(k for i in objects for k in _phrase(told, i))
        for i in objects:
            around = _phrase(told, i)
            words = told.text[told.tokens[whole[0]].begin : told.tokens[whole[-1]].end]
            mine = OWN & {told.words[j] for j in around}
            other = any(
                told.tokens[j].relation in ("obl", "nmod", "acl")
                and told.words[j] not in OWN
                and not says_key(key, " ".join(["my", told.words[j]]))
                for k in (i, verb)
                for j in told.below[k]
                if j > i
            )
            if (mine and not other and says_key(key, words)) or (
                told.words[i] in _IT
                and says_key(key, told.text[: told.tokens[verb].begin], owned=True)
            ):
                yield verb, problem
    for i, word in enumerate(told.stems):
        over = told.ended(i) and told.subject(i) in _SELF and word not in _REMOVING | _CLEARING
        if over and says_key(key, _ENDED.sub(" ", told.text)):
            yield i, told.unmeant(i, order=True)
