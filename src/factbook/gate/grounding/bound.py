"""Say whether the words of a claim are bound as in its source: in one clause, to one subject."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from factbook.gate import kin
from factbook.gate.trees import USERS, ClaimTree, tree_of
from factbook.language.words import word_set

_ANYBODY: Final = word_set("she he they who it that this which you one there")
_NOBODY: Final = word_set("it that this which who there")  # stand for what is named nearby
QUALIFIES: Final = frozenset({"amod", "nummod"})


def unbound(text: str, source: str) -> str:
    """Say how a source binds the words of a claim otherwise; "" where it binds them as the claim.

    A word that the source lacks is no matter of binding.
    """
    claim, said = tree_of(text), tree_of(source)
    # Who tells of themselves says a thing in several sentences: seed 002, example 1.
    why = _told_of_another(claim, said) if said.by_user else _apart(claim, said)
    return why or _of_another(claim, said)


def of_another(text: str, source: str) -> str:
    """Say of whom else a source says what a claim says of its subject; "" for nobody else."""
    return _of_another(tree_of(text), tree_of(source))


def _apart(claim: ClaimTree, said: ClaimTree) -> str:
    """Find two words that a claim joins and that no clause of the source does."""
    for at, token in enumerate(claim.tokens):
        if token.head < 0 or not claim.keys[at] or not claim.keys[token.head]:
            continue
        if claim.clause[at] != claim.clause[token.head]:
            continue
        lower = said.where(claim.keys[at])
        upper = said.where(claim.keys[token.head])
        if not lower or not upper:
            continue
        pairs = [(n, m) for n in lower for m in upper if said.clause[n] == said.clause[m]]
        if token.relation in QUALIFIES:
            pairs = [pair for pair in pairs if not qualifies_another(said, *pair)]
        if not pairs:
            head = claim.tokens[token.head].text
            return f'"{token.text}" and "{head}" are said of two things'
    return ""


def _told_of_another(claim: ClaimTree, said: ClaimTree) -> str:
    """Find a word that a claim says of the user, and that its source says of another one alone."""
    root = claim.root
    if root < 0 or not claim.keys[root] or claim.subject(root) >= 0:
        return ""
    upper = said.where(claim.keys[root])
    if upper and all(said.subject(n) == n and said.tokens[n].pos == "NOUN" for n in upper):
        return f"the source says of {said.tokens[upper[0]].text} what it does, not who it is"
    for at in claim.of(root, "obj", "obl"):
        lower = said.where(claim.keys[at]) if claim.keys[at] else []
        if not upper or not lower:
            continue
        if any(said.clause[n] == said.clause[m] for n in lower for m in upper):
            continue
        others = [said.subject(n) for n in lower]
        if not any(_may_be(claim, -1, said, other) for other in others):
            return f"the source says it of {said.tokens[others[0]].text}"
    return ""


def qualifies_another(said: ClaimTree, at: int, noun: int) -> bool:
    """Say whether a word only tells how many or which another thing than `noun` is."""
    token = said.tokens[at]
    return token.relation in QUALIFIES and token.head not in {noun, said.tokens[noun].head}


def _of_another(claim: ClaimTree, said: ClaimTree) -> str:
    """Find that the source says of another one what a claim says of its subject."""
    root = claim.root
    if root < 0:
        return ""
    near = claim.of(root, "obj", "xcomp", "obl")
    places = next(
        (at for n in (root, *near) if claim.keys[n] and (at := said.where(claim.keys[n]))), []
    )
    if not places:
        return ""
    held = [len(claim.shared(said, said.clause[at])) for at in places]
    subjects = [
        said.subject(at) for at, count in zip(places, held, strict=True) if count == max(held)
    ]
    who = claim.subject(root)
    if any(_may_be(claim, who, said, other) for other in subjects):
        return ""
    return f"the source says it of {said.tokens[subjects[0]].text}"


def _may_be(claim: ClaimTree, who: int, said: ClaimTree, other: int) -> bool:
    """Say whether the subject of a claim may be the one that its source names."""
    joined = {said.tokens[n].text.lower() for n in said.below[other]} if other >= 0 else set()
    if other < 0 or not joined.isdisjoint({"i", "we"}):
        return True  # nobody else, or "my wife and I"
    surface, told = said.tokens[other].text.lower(), said.tokens[other]
    named = claim.tokens[who].text.lower() if who >= 0 else ""
    if named == surface:
        return True
    if not named or named in USERS | _ANYBODY:
        if surface in USERS | _NOBODY or not surface[0].isalpha():
            return True
        if surface == "you":
            return False  # whom its writer speaks to
        if surface in _ANYBODY or told.pos == "PROPN":
            return not said.by_user
        return _share(said, other, claim, range(len(claim.tokens)))
    if surface in _ANYBODY:
        return True
    if surface in USERS:
        things = (said.tokens[n].pos for n in said.where(claim.keys[who] or named))
        if not any(pos in {"NOUN", "PROPN"} for pos in things):
            return True  # no other is named: "Kind of likes jazz"
        whose = {claim.tokens[n].text.lower() for n in claim.under(who)}
        return not whose.isdisjoint(USERS | {"her", "his", "their"})
    return _share(said, other, claim, claim.under(who))


def _share(said: ClaimTree, other: int, claim: ClaimTree, of: Iterable[int]) -> bool:
    keys = [claim.keys[n] for n in of if claim.keys[n]]
    return any(
        said.keys[n] and any(kin.support(key, said.keys[n]) for key in keys)
        for n in said.under(other)
    )
