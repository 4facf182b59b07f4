"""Find what a claim turns round although all its words stand in its source."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from factbook.gate.given_up import given_up
from factbook.gate.lexicon import tables
from factbook.gate.reading import read
from factbook.gate.trees import USERS, ClaimTree, tree_of
from factbook.language.words import word_set

_THEIRS: Final = word_set("his her their")
_UNREAL: Final = word_set("doubt doubts dream dreamed dreamt pretend pretended pretends")
_NEARLY: Final = word_set("almost nearly")
_AND: Final = frozenset({"and", "or"})
_FROM: Final = word_set("from over not")
_DENYING: Final = word_set("against without")
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
    for word in listed.split()
}


def _chosen(claim: ClaimTree, said: ClaimTree) -> str:
    """Find that a claim takes what its source takes another thing for: "tea over coffee"."""
    order, left = read(said.text).order, _left(claim)
    own = read(claim.text).keys - left
    against = _given_up(said)
    for gone in _given_up(claim):
        if gone <= set(order) and all(gone.isdisjoint(other) for other in against):
            return "the source chooses nothing against it"
    for gone in against:
        if gone.isdisjoint(left) and any(order.count(key) < 2 for key in gone & own):
            return "the source chooses it the other way round"
    return ""


def _left(claim: ClaimTree) -> frozenset[str]:
    """Return what a claim chooses against; of a fragment not every tree is right."""
    behind = zip(claim.keys[1:], claim.lower, strict=False)
    over = {key for key, word in behind if word in _FROM}
    return frozenset().union(over, *_given_up(claim))


def _given_up(tree: ClaimTree) -> list[frozenset[str]]:
    return [given.keys for given in given_up(tree.reading)]


def _more(claim: ClaimTree, said: ClaimTree) -> str:
    """Find that a claim says more, or more often, than its source."""
    amounts = [(_AMOUNTS[word], word) for word in claim.lower if word in _AMOUNTS]
    own, word = max(amounts, default=(_NOT_ALL, ""))
    held = [len(claim.shared(said, number)) for number in range(said.clauses)]
    there = [
        _AMOUNTS[low]
        for low, clause in zip(said.lower, said.clause, strict=True)
        if low in _AMOUNTS and clause >= 0 and held[clause] == max(held)
    ]
    if there and own > max(there):
        return f'it says "{word}", and the source says less'
    if there and own == _NOT_ALL and max(there) == 0:
        return "the source says that it hardly is so"
    return ""


def _linked(claim: ClaimTree, said: ClaimTree) -> str:
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


def _moved(claim: ClaimTree, said: ClaimTree) -> str:
    """Find two words that the source says of two things side by side: "blue bike"."""
    left = _left(claim)
    for at, other in claim.joined():
        one, two = claim.keys[at], claim.keys[other]
        if not one or not two or one in left or two in left:
            continue
        if not _AND.isdisjoint(claim.lower[min(at, other) : max(at, other)]):
            continue  # it says both, whatever its tree
        pairs = [(n, m) for n in said.where(one) for m in said.where(two)]
        if pairs and all(said.beside(n, m) for n, m in pairs):
            return f'"{claim.tokens[at].text}" and "{claim.tokens[other].text}" are of two things'
    return ""


def _theirs(claim: ClaimTree, said: ClaimTree) -> str:
    """Find that a thing without an owner in the claim is his or hers in what the user said."""
    subject = claim.subject(claim.root)
    who = subject if subject >= 0 else claim.root
    if who < 0 or not claim.keys[who] or claim.of(who, "nmod"):
        return ""
    owners = [said.owners(n) & _THEIRS for n in said.where(claim.keys[who])]
    if owners and all(owners):
        return f"the source says it of {min(owners[0])} {claim.tokens[who].text}"
    return ""


def _unreal(claim: ClaimTree, said: ClaimTree) -> str:
    """Find what a source tells as nearly so, doubted, dreamt, past, or said by others."""
    root = claim.root
    places = said.where(claim.keys[root]) if root >= 0 and claim.keys[root] else []
    whys = [why for n in places if (why := _only_told(claim, said, n))]
    return whys[0] if whys and len(whys) == len(places) else ""


def _only_told(claim: ClaimTree, said: ClaimTree, at: int) -> str:
    marks = {said.lower[n] for n in said.below[at]}
    own = {claim.lower[n] for n in claim.below[claim.root]}
    if marks & _NEARLY - set(claim.lower):
        return "the source says that it nearly was"
    if own & {"is", "am"} and marks & {"was", "were"} and not marks & {"is", "am", "'m"}:
        return "the source says that it was"
    for above in said.above(at):
        if said.lower[above] in _UNREAL - set(claim.lower):
            return f'the source says "{said.lower[above]}"'
    return _of_others(claim, said, at)


def _of_others(claim: ClaimTree, said: ClaimTree, at: int) -> str:
    """Find that others say it of the user."""
    if not said.by_user:
        return ""
    if any("according" in said.links(n) for n in said.below[at]):
        return "it is what others say"
    for above in said.above(at):
        under = [said.lower[n] for n in said.of(above, "obj")]
        who = said.subject(above)
        named = who >= 0 and said.lower[who] not in USERS
        if "me" in under or (
            named and said.subject(at) != who and said.lower[above] not in claim.lower
        ):
            return f'it is what others say: "{said.lower[above]}"'
    return ""


class Turn(NamedTuple):
    """One way in which a claim turns round what its source says."""

    name: str
    source: str  # a text
    claim: str  # a claim of its words that it refuses
    find: Callable[[ClaimTree, ClaimTree], str]  # what is wrong, in words; "" for nothing
    of_patterns: bool = False  # also where a pattern of behaviour is claimed
    of_words: bool = True  # of how its words hang together, and not of what stands around them


TURNS: Final[tuple[Turn, ...]] = (
    Turn("chosen", "I prefer tea over coffee", "Prefers coffee", _chosen, of_patterns=True),
    Turn(
        "unreal",
        "I almost bought a kiln",
        "Bought a kiln",
        _unreal,
        of_patterns=True,
        of_words=False,
    ),
    Turn("more", "I like some operas", "Likes all operas", _more, of_patterns=True),
    Turn("linked", "I drink tea with milk", "Drinks tea without milk", _linked, of_patterns=True),
    Turn("moved", "I have a grey hat and a green scarf", "Has a green hat", _moved),
    Turn("theirs", "Her best dish is soup", "Best dish is soup", _theirs, of_words=False),
)
"""What is looked for, in this order; the words of each claim all stand in its source."""


def inverted(text: str, source: str, *, pattern: bool = False) -> str:
    """Say what a claim turns round of what it rests on; "" where it turns nothing.

    `pattern` is for a pattern of behaviour: nobody says who does what it names.
    """
    claim, said = tree_of(text), tree_of(source)
    # What stands there word for word binds its words alike, whatever the two trees say.
    verbatim = _stands_in(claim.lower, said.lower)
    for turn in TURNS:
        asked = (not pattern or turn.of_patterns) and not (verbatim and turn.of_words)
        if asked and (why := turn.find(claim, said)):
            return why
    return ""


def _stands_in(words: Sequence[str], others: Sequence[str]) -> bool:
    size = len(words) - (bool(words) and words[-1] in _STOPS)
    return any(others[at : at + size] == words[:size] for at in range(len(others) - size + 1))


_STOPS: Final = frozenset(".!")
