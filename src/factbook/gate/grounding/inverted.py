"""Find what a claim turns round although all its words stand in its source.

Knows: a claim and the sentences that ground it, as the reader reads both. Does not know: who
speaks, types, confidence.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from factbook.gate.given_up import given_up
from factbook.gate.grammar import words
from factbook.gate.lexicon import tables
from factbook.gate.reading import read
from factbook.gate.trees import Tree, tree_of
from factbook.language.reader.reading import Clause

__all__ = ["inverted"]

_UNMEANT: Final = frozenset({"if", "quoted", "wish"})  # flags of what does not hold
_TOLD: Final = frozenset({"quoted"})  # who tells of others may say from whom they have it
_NEARLY: Final = frozenset(words("almost nearly doubt doubts"))
_FROM: Final = frozenset(words("from over not"))
_DENYING: Final = frozenset(words("against without"))
_NOT_ALL: Final = -1
# How much or how often: 0 hardly, 1 some, 2 most, 3 all.
_AMOUNTS: Final = {
    word: rank
    for rank, listed in enumerate(
        (
            "rarely seldom hardly barely scarcely",
            "some sometimes few several occasionally part partly half",
            "most mostly many often usually frequently regularly generally",
            "all every each always whole entire entirely everything everyone constantly",
        )
    )
    for word in words(listed)
}


def inverted(text: str, source: str) -> str:
    """Say what a claim turns round of what it rests on; "" where it turns nothing."""
    claim, said = tree_of(text), tree_of(source.strip(_MARKS))
    held = [len(claim.shared(said, number)) for number in range(len(said.reading.clauses))]
    bearing = [
        clause
        for clause, count in zip(said.reading.clauses, held, strict=True)
        if count == max(held)
    ]
    return (
        _chosen(claim, said)
        or _unreal(claim, said, bearing)
        or _more(claim, said, bearing)
        or _linked(claim, said)
    )


_MARKS: Final = " \"'“”"  # what somebody says may stand in them


def _chosen(claim: Tree, said: Tree) -> str:
    """Find that a claim takes what its source takes another thing for: "tea over coffee"."""
    order, given = read(said.text).order, _given_up(claim)
    # Of a fragment not every tree is right.
    behind = zip(claim.keys[1:], claim.lower, strict=False)
    left = frozenset().union((key for key, word in behind if word in _FROM), *given)
    own = read(claim.text).keys - left
    against = _given_up(said)
    for gone in given:
        if gone <= set(order) and all(gone.isdisjoint(other) for other in against):
            return "the source chooses nothing against it"
    for gone in against:
        if gone.isdisjoint(left) and any(order.count(key) < 2 for key in gone & own):
            return "the source chooses it the other way round"
    return ""


def _given_up(tree: Tree) -> list[frozenset[str]]:
    return [given.keys for given in given_up(tree.reading)]


def _unreal(claim: Tree, said: Tree, bearing: Sequence[Clause]) -> str:
    """Find that a source tells it as nearly so, past, wished, supposed, or said by others."""
    own = frozenset().union(*(clause.flags for clause in claim.reading.clauses))
    own |= frozenset() if said.by_user else _TOLD
    if any(clause.kind in ("plan", "wish") for clause in claim.reading.clauses):
        own |= {"wish"}
    whys = []
    for clause in bearing:
        marks = set(said.lower[clause.first : clause.last])
        unmeant = (clause.flags & _UNMEANT) - own
        if marks & _NEARLY - set(claim.lower):
            whys.append("the source says that it nearly was")
        elif unmeant:
            whys.append(f"the source does not say that it is so ({min(unmeant)})")
        elif {"is", "am"} & set(claim.lower) and "past" in clause.flags and "past" not in own:
            whys.append("the source says that it was")
        else:
            return ""
    return whys[0] if whys else ""


def _more(claim: Tree, said: Tree, bearing: Sequence[Clause]) -> str:
    """Find that a claim says more, or more often, than its source."""
    own = max((_AMOUNTS[word] for word in claim.lower if word in _AMOUNTS), default=_NOT_ALL)
    words_there = (low for clause in bearing for low in said.lower[clause.first : clause.last])
    there = max((_AMOUNTS[low] for low in words_there if low in _AMOUNTS), default=_NOT_ALL)
    if there >= 0 and (own > there or (own == _NOT_ALL and there == 0)):
        return "the source says less of it"
    return ""


def _linked(claim: Tree, said: Tree) -> str:
    """Find "with" where the source says "without", "from" where it says "to"."""
    for at, key in enumerate(claim.keys):
        there = [said.links(n) for n in said.where(key)] if key else []
        for link in claim.links(at) or {""}:
            if there and all(_opposed(link, links) for links in there):
                return f'it says "{link}", and the source the opposite'
    return ""


def _opposed(link: str, links: set[str]) -> bool:
    """Say whether a word stands where others do that say the opposite."""
    pairs = tables().opposed_prepositions
    return link not in links and any(
        (link, other) in pairs or (other in _DENYING) != (link in _DENYING) for other in links
    )
