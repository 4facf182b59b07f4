"""Read what a text gives up: what it puts something else in the place of, and what it ends.

"Let's use vitest instead of jest" gives up jest; "we can drop the rule about commit prefixes" a
rule about these. Read from the tree of the text: the words that say so are prepositions, negation
and verbs of ending, and what they govern is given up.

Knows: a text that was read. Does not know: facts, other texts.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from factbook.gate.reading import read
from factbook.gate.trees import Tree
from factbook.language.reader.reading import Reading

__all__ = ["GivenUp", "given_up"]


class GivenUp(NamedTuple):
    """What a text gives up, and where it says so."""

    begin: int  # of the clause that says so, in characters
    end: int
    keys: frozenset[str]  # content words of what is given up, as `gate.reading` has them
    named: bool  # it says of a rule that it is over; else it only puts one thing for another
    words: frozenset[int]  # that say so, by their number


_RULES: Final = frozenset(
    {"rule", "rules", "convention", "guideline", "policy", "requirement", "restriction", "decision"}
)
_DROPS: Final = frozenset(
    {"abandon", "cancel", "delete", "ditch", "drop", "forget", "ignore", "lift", "remove"}
    | {"retire", "revoke", "scrap", "undo", "withdraw"}
    | {"dropped", "cancelled", "canceled", "lifted", "removed", "retired", "scrapped"}
)  # what is done to a rule that holds no more
_OVER: Final = frozenset({"over", "gone", "off", "obsolete", "dead", "history"})
_SAID: Final = frozenset({"said", "told", "wrote", "asked"})
_LIGHT: Final = frozenset({"use", "go", "do", "have", "need", "want", "keep", "let", "rule"})
_CONTENT: Final = frozenset({"ADJ", "NOUN", "NUM", "PROPN", "VERB", "X"})
_CLAUSES: Final = frozenset({"conj", "parataxis", "advcl", "list", "acl:relcl"})
_NOT: Final = frozenset({"not", "n't", "never", "dont", "don't"})
_BESIDE: Final = frozenset({"conj", "parataxis"})
_THINGS: Final = frozenset({"NOUN", "NUM", "PROPN", "X"})
_PREFERS: Final = frozenset({"prefer", "prefers", "preferred", "rather"})  # to, over, than
_CHOOSES: Final = frozenset(
    {"choose", "chose", "chosen", "decided", "favor", "favour", "opted", "pick", "picked"}
    | {"picks", "select", "selected", "settled"}
)  # over
_ENDS: Final = frozenset(
    {"cancelled", "deleted", "divorced", "left", "quit", "sold", "stop", "stopped", "used"}
)  # doing a thing, or a thing that one had
_GIVES: Final = frozenset({"gave", "give", "given", "giving"})
_DONE: Final = frozenset({"advcl", "ccomp", "obj", "xcomp"})
_ADVERBS: Final = ("more", "longer", "anymore")


def _keys(tree: Tree, words: set[int]) -> frozenset[str]:
    """Return the content words among words, as `gate.reading` has them."""
    said = " ".join(tree.tokens[n].text for n in sorted(words) if tree.tokens[n].pos in _CONTENT)
    reading = read(said)
    keys = (reading.keys | set(reading.values)) - {*reading.cue_keys, "more", "longer"}
    return keys - _LIGHT or keys


def _denied(tree: Tree, word: int) -> bool:
    """Tell whether something is denied before a word in its clause, or its verb is."""
    begin, _ = tree.span(word)
    before = (n for n in range(word) if tree.tokens[n].begin >= begin)
    return any(tree.lower[n] in _NOT for n in (*before, *tree.below[_verb(tree, word)]))


def _chooses(tree: Tree, n: int) -> bool:
    """Tell whether a preposition stands behind what is chosen, before what is not."""
    before = set(tree.lower[:n])
    if tree.lower[n] == "over":
        return not before.isdisjoint(_PREFERS | _CHOOSES)
    return "rather" in before if tree.lower[n] == "than" else not before.isdisjoint(_PREFERS)


def _verb(tree: Tree, word: int) -> int:
    """Return the word that the clause of a word hangs on."""
    while tree.tokens[word].head >= 0 and tree.tokens[word].relation not in _CLAUSES:
        word = tree.tokens[word].head
    return word


def given_up(text: Reading) -> list[GivenUp]:
    """Return what a text gives up, in its order."""
    tree = Tree(text)
    given = []
    for n in range(len(tree.tokens)):
        for words, named in (_replaced(tree, n), _ended(tree, n)):
            if words and (keys := _keys(tree, words)):
                given.append(GivenUp(*tree.span(n), keys, named, frozenset({n, *words})))
    return given


def _replaced(tree: Tree, n: int) -> tuple[set[int], bool]:
    """Return what another thing is put in the place of at a word: jest, of "instead of jest"."""
    word, token = tree.lower[n], tree.tokens[n]
    following = tree.lower[n + 1] if n + 1 < len(tree.lower) else ""
    gone = -1
    if (word, following) in (("instead", "of"), ("rather", "than")):
        behind = (m for m in range(n + 2, len(tree.tokens)) if tree.tokens[m].pos in _CONTENT)
        gone = token.head if token.head > n else next(behind, -1)
    elif word == "not" and n and token.head > n and tree.tokens[token.head].pos in _THINGS:
        beside = tree.tokens[token.head].relation in _BESIDE or tree.lower[n - 1] == ","
        gone = token.head if beside else -1  # "vitest, not jest"
    elif word in ("over", "to", "than") and token.relation == "case" and token.head > n:
        gone = token.head if _chooses(tree, n) else -1  # "prefer pnpm over npm"
    elif word == "from" and token.relation == "case" and token.head >= 0:
        verb = tree.tokens[token.head].head  # "from jest to vitest"
        sides = [m for m in tree.below[verb] if "to" in tree.links(m)] if verb >= 0 else []
        sides += [m for m in tree.below[token.head] if "to" in tree.links(m)]
        gone = token.head if sides else -1
    elif word in ("replace", "swap", "replaced", "swapped") and token.pos == "VERB":
        objects = [m for m in tree.below[n] if tree.tokens[m].relation == "obj"]
        gone = objects[0] if objects else -1
    if gone < 0 or (word != "not" and _denied(tree, n)):
        return set(), False
    words = tree.under(gone, _CLAUSES)
    own = {m for m in words if tree.tokens[m].relation in ("case", "cc", "fixed", "mark")}
    own |= {m for m in words if m != gone and "to" in tree.links(m)}
    left = words - own - {n, n + 1 if word in ("instead", "rather") else n}
    return {m for m in left if m >= n or word not in ("instead", "rather", "not")}, False


def _ended(tree: Tree, n: int) -> tuple[set[int], bool]:
    """Return what is said to be over at a word: prefixes, of "drop the rule about prefixes"."""
    word, token = tree.lower[n], tree.tokens[n]
    before = tree.lower[n - 1] if n else ""
    if word in _ADVERBS and (word == "anymore" or before in ("any", "no")):
        begin, end = tree.span(n)
        clause = {m for m, other in enumerate(tree.tokens) if begin <= other.begin < end}
        denied = before == "no" or any(tree.lower[m] in _NOT | {"no"} for m in clause)
        return (clause if denied else set()), False
    if _denied(tree, n):
        return set(), False
    passive = any(tree.tokens[m].relation == "aux" for m in tree.below[n])
    gives = word in _GIVES and tree.lower[n + 1 : n + 2] == ["up"]
    if (word in _ENDS or gives) and token.pos == "VERB" and not (word == "used" and passive):
        done = _DONE | {"obl"} if gives else _DONE  # "gave up on film"
        doing = [m for m in tree.below[n] if tree.tokens[m].relation in done]
        return (tree.under(doing[0], _CLAUSES) if doing else set()), False
    if word in _RULES and token.head >= 0 and tree.lower[token.head] in _DROPS | _OVER:
        return (tree.under(n, _CLAUSES) | _right_behind(tree, n)) - {n}, True
    if word in _SAID and token.head >= 0:
        verb = _verb(tree, n)
        if tree.lower[verb] in _DROPS and n > verb:
            return {m for m in tree.under(n) if m > n}, True
    return set(), False


def _right_behind(tree: Tree, n: int) -> set[int]:
    """Return the phrase right behind a word that hangs on its verb: "drop the rule about mocks"."""
    beside = (m for m in tree.below[tree.tokens[n].head] if tree.tokens[m].relation == "obl")
    phrases = (tree.under(m, _CLAUSES) for m in beside)
    return next((phrase for phrase in phrases if min(phrase) == n + 1), set())
