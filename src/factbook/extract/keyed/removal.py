"""Tell whether a message asks for something to be taken away: a value, a rank, a list, a fact.

An order to remove needs its verb, with what is to go as its object; "I no longer like BTC" is one
with what it is about. A model's word is not enough.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from factbook.extract.keyed.contracts import FactsOp, rank_of
from factbook.extract.keyed.named import says_key
from factbook.extract.keyed.ranked import PLACING
from factbook.extract.keyed.told import OWN, REFERRING, SELF, Told
from factbook.extract.keyed.wording import named_ranks, stems_of, words_of

__all__ = ["REMOVING", "removal_problem"]


REMOVING: Final = stems_of(
    "remove delete drop erase forget take strike kick cross scratch unset clear discard exclude"
    " eliminate purge scrap trash dump ditch wipe replace get throw empty reset clean nuke destroy"
    " redo"
)
_AWAY: Final = words_of("from off out away rid")
_WHERE: Final = words_of("from off out of in at")
_NEED_AWAY: Final = stems_of("take get throw strike kick cross")
_SPARING: Final = words_of("except but besides keep keeping without apart unlike not")
_WHOLE: Final = words_of("everything all")
_NO_ORDER: Final = re.compile(r"(?:[^s]s|ed|ing)$")  # of a verb that is no order


def removal_problem(op: FactsOp, told: Told) -> str | None:
    """Say why a message does not ask for what takes something away, or None where it does.

    `told` holds the place of the operation's value, where it has one.
    """
    kind = "" if told.list_key is None else op.op
    if not kind:
        what = "to forget that"
    elif kind == "ranked_list_clear":
        what = "to clear that list"
    elif kind == "ranked_list_move" or op.value is not None:
        what = "to move that" if kind == "ranked_list_move" else "to remove that"
    else:
        what = f"to remove #{rank_of(op)}"
    problems = [*_ordered(op, told, kind), *_over(op, told, kind)]
    if "" in problems:
        return None
    return f"the message does not ask {what}{f': {problems[0]}' if problems else ''}"


def _ordered(op: FactsOp, told: Told, kind: str) -> Iterator[str]:
    """Yield for every verb that orders it why that is not meant, or ""."""
    rank, moves = rank_of(op) or 0, kind == "ranked_list_move"
    for verb, problem in _orders(told, PLACING if moves else REMOVING):
        behind, objects = _behind(told, verb), _objects(told, verb)
        ranks = named_ranks(told.text_of(behind).partition(" with ")[0])
        if not kind:
            asked = any(_is_fact(told, op.fact_key or "", i, verb) for i in objects)
        elif moves:
            asked = {rank, op.from_rank or rank} <= ranks
        elif op.value is not None:
            left = {i for i in objects if not _spares(told, told.below[i])}
            moved = ranks and told.stems[verb] == "drop"  # "Drop BTC to #5"
            asked = not left.isdisjoint(told.meant) and not moved and _is_from_list(told, behind)
        elif kind == "ranked_list_clear":
            asked = any(_is_list(told, i, verb) for i in objects) and not _spares(told, behind)
        else:
            mine = any(i in told.about or told.words[i] in OWN for i in behind)
            asked = rank in ranks and mine and not _spares(told, behind)
        if asked:
            yield problem


def _over(op: FactsOp, told: Told, kind: str) -> Iterator[str]:
    """Yield the same for every word that says that it is so no more: "I no longer like BTC"."""
    for i in filter(told.ended, range(len(told.tokens))):
        mine = told.subject(i) in SELF
        if not kind:
            key = op.fact_key or ""
            over = mine and told.stems[i] not in REMOVING and says_key(key, told, told.beside(i))
        elif told.own is not None:
            of_value = i in (told.own, told.tokens[told.own].head) and not named_ranks(told.text)
            over = of_value and (i in told.about or (mine and told.stems[i] in PLACING))
        else:
            over = mine and any(_is_list(told, j, -1) for j in told.below[i])
        if over:
            yield told.unmeant(i, order=True)


def _orders(told: Told, verbs: frozenset[str]) -> Iterator[tuple[int, str]]:
    """Yield every verb of some that its writer orders or tells to have done; and why not."""
    for i, stem in enumerate(told.stems):
        mine, wished = told.subject(i) in SELF, told.tokens[i].relation == "xcomp"
        behind = {told.words[j] for j in _behind(told, i)}
        away = stem not in _NEED_AWAY or verbs is PLACING or behind & _AWAY  # "get my list"
        if stem not in verbs or not away or not told.requested(i):
            continue
        plain = not _NO_ORDER.search(told.words[i]) or wished
        if plain == (mine and not wished):
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


def _spares(told: Told, words: Iterable[int]) -> bool:
    """Say whether something is left out of an order: "everything but BTC", "ETH, not BTC"."""
    return any(told.words[i] in _SPARING for i in words)


def _is_from_list(told: Told, behind: Iterable[int]) -> bool:
    """Say whether it is to leave a list, where words say what it is to leave."""
    where = [i for i in behind if told.words[i] in _WHERE and told.tokens[i].relation == "case"]
    left = {j for i in where for j in told.under(told.tokens[i].head)}
    return (
        not where
        or not left.isdisjoint(told.about)
        or any(told.words[j] in REFERRING for j in left)
    )


def _is_list(told: Told, i: int, verb: int) -> bool:
    """Say whether a word stands for the whole list: "my crypto list", "everything on it"."""
    if told.words[i] in REFERRING:  # "Clear it", of a list that was named before
        return any(j < verb for j in told.named) or len(told.tokens) <= 4
    around, behind = told.under(i), _behind(told, i)
    kinds = [told.tokens[j] for j in around if j not in told.about and j != i]
    others = told.named.isdisjoint(around) and any(kind.pos == "NOUN" for kind in kinds)
    if others or named_ranks(told.text_of([min(told.beside(i)), *behind])):
        return False  # "my grocery list", "my #2 crypto"
    return i in told.about or (told.words[i] in _WHOLE and not told.about.isdisjoint(behind))


def _is_fact(told: Told, key: str, i: int, verb: int) -> bool:
    """Say whether what a verb is done to is what a key is about, and mine."""
    if told.words[i] in REFERRING:
        return says_key(key, told, range(verb), owned=True)
    around = told.under(i)
    behind = [
        j
        for k in (i, verb)
        for j in told.below[k]
        if j > i and told.tokens[j].relation in ("obl", "nmod", "acl")
    ]
    mine = any(told.words[j] in OWN for j in around)
    return mine and all(says_key(key, told, [j]) for j in behind) and says_key(key, told, around)
