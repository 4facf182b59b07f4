"""Say how a sentence binds the words of a claim otherwise than the claim: of whom, to what, whose.

All words of a claim may stand in what somebody said, and still be said of somebody else: "My wife
has a boat" is not said by "my wife's sister has a boat".
"""

from __future__ import annotations

from typing import Final

from factbook.gate import kin
from factbook.gate.grounding.bound import QUALIFIES, of_another, qualifies_another
from factbook.gate.grounding.inverted import inverted
from factbook.gate.judge import rebound
from factbook.gate.reading import read
from factbook.gate.trees import USERS, ClaimTree, tree_of
from factbook.language.words import word_set

_ME: Final = "i"
_NAMED_BEFORE: Final = word_set("he she it they who whom that which this these those")
_THEIRS: Final = word_set("his her its their whose")
_SUBJECTS: Final = frozenset({"nsubj", "csubj"})
_NAMES: Final = frozenset({"NOUN", "PROPN"})
_PARTS: Final = frozenset({"appos", "compound", "flat"})  # of one and the same name
_GENITIVE: Final = frozenset({"'s", "’s", "'", "’"})


def misbound(text: str, source: str) -> str:
    """Say how the sentences that a claim rests on bind its words otherwise; "" where they do not.

    Nothing is said of words that the source lacks.
    """
    claim, said = tree_of(text), tree_of(source)
    if why := inverted(text, source) or (not _is_agent(text, source) and of_another(text, source)):
        return why
    if rebound(read(source), read(text)):
        return "the source says it the other way round"
    return _of_several(claim, said) or _qualified(claim, said) or _whose(claim, said)


def _is_agent(text: str, source: str) -> bool:
    """Tell whether who does it in a claim is who did it in a passive source: "made by Ann"."""
    claim, agent = tree_of(text), read(source).agent
    who = claim.subject(claim.root) if claim.root >= 0 else -1
    return bool(agent) and who >= 0 and claim.keys[who] == agent


def _of_several(claim: ClaimTree, said: ClaimTree) -> str:
    """Find that no one of whom the source speaks is who all the words are said of."""
    held: list[tuple[int, set[str]]] = []
    for at, key in enumerate(claim.keys):
        places = said.where(key) if key else []
        who = {_said_of(said, n) for n in places}
        if places and "" not in who:
            held.append((at, who))
    if not held or set.intersection(*(who for _, who in held)):
        return ""
    (at, first), *rest = held
    other = next((n for n, who in rest if not who & first), rest[-1][0])
    return f'"{claim.tokens[at].text}" and "{claim.tokens[other].text}" are said of two'


def _said_of(said: ClaimTree, at: int) -> str:
    """Return of whom a word is said: of the user, of another by a word, "" where that is open."""
    who = said.subject(at)
    for _ in said.tokens:
        if who < 0 or said.tokens[who].relation in _SUBJECTS:
            break
        who = said.subject(said.tokens[who].head)  # "a boat called Ada" is its owner's matter
    else:
        return ""
    if who < 0:
        return ""
    names = {said.lower[n] for n in (who, *said.of(who, "conj"))}
    if said.lower[who] in _NAMED_BEFORE or said.owners(who) & _THEIRS:
        return ""
    if not names.isdisjoint(USERS):
        return _ME if len(names) == 1 else ""  # "my wife and I": of both
    return said.keys[who] or said.lower[who]


def _qualified(claim: ClaimTree, said: ClaimTree) -> str:
    """Find that what a claim says of one thing, as how many or which, only qualifies others."""
    for at, token in enumerate(claim.tokens):
        if token.relation not in QUALIFIES or token.head < 0:
            continue
        if not claim.keys[at] or not claim.keys[token.head]:
            continue
        places, heads = said.where(claim.keys[at]), said.where(claim.keys[token.head])
        if places and heads and all(qualifies_another(said, n, m) for n in places for m in heads):
            return f'"{token.text}" is said of another thing than "{claim.tokens[token.head].text}"'
    return ""


def _whose(claim: ClaimTree, said: ClaimTree) -> str:
    """Find that a thing is another's, or that who it is said of only tells whose a thing is."""
    for at, key in enumerate(claim.keys):
        places = said.where(key) if key and claim.tokens[at].pos in _NAMES else []
        if not places:
            continue
        word = claim.tokens[at].text
        if not _tells_whose(claim, at) and all(_tells_whose(said, n) for n in places):
            return f"the source says it of what is {word}'s"
        mine = _owners(claim, at)
        if mine and all(_differ(mine, _owners(said, n)) for n in places):
            return f"the source says it of the {word} of another"
    return ""


def _tells_whose(tree: ClaimTree, at: int) -> bool:
    """Tell whether a word only says whose another thing is: "my wife's sister"."""
    while tree.tokens[at].relation in _PARTS and tree.tokens[at].head >= 0:
        at = tree.tokens[at].head
    ends = {tree.lower[n] for n in tree.of(at, "case")}
    return tree.tokens[at].relation == "nmod" and not ends.isdisjoint(_GENITIVE)


def _owners(tree: ClaimTree, at: int) -> set[str]:
    """Return whose a thing is: the user's, a pronoun's, or a word's."""
    named = {tree.keys[n] for n in tree.of(at, "nmod") if tree.keys[n] and _tells_whose(tree, n)}
    return {_ME if owner in USERS else owner for owner in tree.owners(at) | named}


def _differ(mine: set[str], theirs: set[str]) -> bool:
    """Tell whether owners are two; "his" may be anybody's but the user's."""
    if not theirs or mine & theirs:
        return False
    if (mine | theirs) & _THEIRS:
        return _ME in mine | theirs
    return not any(kin.support(one, two) for one in mine for two in theirs)
