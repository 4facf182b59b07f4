"""Read what a text gives up: what it puts something else in the place of, and what it ends.

"Let's use vitest instead of jest" gives up jest. Prepositions, negation and verbs of ending say so,
and what they govern in the tree is given up. What a text allows, or has a change of mind about
(`set_free`), ends only what forbids it.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final, NamedTuple

from factbook import policy
from factbook.gate.reading import read
from factbook.language.reader.reading import Reading
from factbook.language.reader.tree import Tree
from factbook.language.words import word_set


class How(StrEnum):
    """How a text gives something up."""

    REPLACED = "replaced"  # it puts one thing for another, or stops something
    PARTED = "parted"  # somebody parts with what they had, which ends no rule
    OVER = "over"  # it says of a rule that it is over
    RETHOUGHT = "rethought"  # its owner has another mind about it
    ALLOWED = "allowed"  # it may be done, which a rule may have forbidden


class GivenUp(NamedTuple):
    """What a text gives up, and where it says so."""

    begin: int  # of the clause that says so, in characters
    end: int
    keys: frozenset[str]  # content words of what is given up, as `gate.reading` has them
    words: frozenset[int]  # that say so, by their number
    how: How
    lasts: bool = False  # what is allowed is so again, or is worth keeping
    things: frozenset[str] = frozenset()  # of the keys, those of nouns

    @property
    def named(self) -> bool:
        """Tell whether it says of a rule that it is over."""
        return self.how is How.OVER


_RULES: Final = word_set(
    "rule rules convention guideline policy requirement restriction decision ban"
)
_DROPS: Final = word_set("""
    abandon cancel delete ditch drop forget ignore lift remove retire revoke scrap undo withdraw
    dropped cancelled canceled lifted removed retired scrapped
    """)  # what is done to a rule that holds no more
_OVER: Final = frozenset({"over", "gone", "off", "obsolete", "dead", "history"})
_SAID: Final = frozenset({"said", "told", "wrote", "asked"})
_LIGHT: Final = frozenset({"use", "go", "do", "have", "need", "want", "keep", "let", "rule"})
_CONTENT: Final = frozenset({"ADJ", "NOUN", "NUM", "PROPN", "VERB", "X"})
_CLAUSES: Final = frozenset({"conj", "parataxis", "advcl", "list", "acl:relcl"})
_NOT: Final = frozenset({"not", "n't", "never", "dont", "don't"})
_BESIDE: Final = frozenset({"conj", "parataxis"})
_THINGS: Final = frozenset({"NOUN", "NUM", "PROPN", "X"})
_PREFERS: Final = frozenset({"prefer", "prefers", "preferred", "rather"})  # to, over, than
_CHOOSES: Final = word_set(
    "choose chose chosen decided favor favour opted pick picked picks select selected settled"
)  # over
_ENDS: Final = frozenset({"quit", "stop", "stopped", "used"})  # doing a thing
_PARTS: Final = frozenset({"canceled", "cancelled", "deleted", "divorced", "left", "sold"})
_WHERE: Final = frozenset({"acl", "advcl", "advmod", "ccomp", "obl", "xcomp"})
_GIVES: Final = frozenset({"gave", "give", "given", "giving"})
_DONE: Final = frozenset({"advcl", "ccomp", "obj", "xcomp"})
_ADVERBS: Final = ("more", "longer", "anymore")
_MAY: Final = frozenset({"may", "can"})
_FINE: Final = frozenset({"allowed", "fine", "free", "ok", "okay", "welcome"})
_AGAIN: Final = frozenset({"again", "anymore", "longer"})
_WRONG: Final = frozenset({"wrong", "mistaken", "mind"})  # about: "I changed my mind about"


def _keys(tree: Tree, words: set[int]) -> frozenset[str]:
    """Return the content words among words, as `gate.reading` has them."""
    said, end = "", -1
    for n in sorted(words):
        token = tree.tokens[n]
        if token.begin == end:  # "src/gen" is one, however many the tree makes of it
            said += token.text
        elif token.pos in _CONTENT:
            said += f" {token.text}"
        else:
            continue
        end = token.end
    reading = read(said)
    keys = (reading.keys | set(reading.values)) - {*reading.cue_keys, "more", "longer"}
    return keys - _LIGHT or keys


def _nouns(tree: Tree, words: set[int]) -> frozenset[str]:
    """Return the keys of the nouns among words, with what stands before one."""
    nouns = {
        n
        for n in words
        if tree.tokens[n].pos in _THINGS
        or tree.tokens[n].relation in ("amod", "compound", "nummod")
        or (n - 1 in words and tree.tokens[n].begin == tree.tokens[n - 1].end)
    }
    return _keys(tree, nouns)


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
    given: list[GivenUp] = []
    for n in range(len(tree.tokens)):
        given += _given(tree, n, _replaced(tree, n), How.REPLACED)
        words, named = _ended(tree, n)
        given += _given(tree, n, words, How.OVER if named else How.REPLACED)
        given += _given(tree, n, _parted(tree, n), How.PARTED)
    return given


def set_free(text: Reading) -> list[GivenUp]:
    """Return what a text allows, and what its owner has another mind about, in its order."""
    tree = Tree(text)
    lasts = not _AGAIN.isdisjoint(tree.lower) or any(
        _is_over(tree, n) for n in range(len(tree.lower))
    )
    free: list[GivenUp] = []
    for n, token in enumerate(tree.tokens):
        clause = text.clause_at(token.begin)
        kept = clause is not None and clause.keep >= policy.DIRECTIVE_KEEP
        free += [
            each._replace(lasts=lasts or kept)
            for each in _given(tree, n, _allowed(tree, n), How.ALLOWED)
        ]
        free += _given(tree, n, _rethought(tree, n), How.RETHOUGHT)
        if tree.lower[n] == "optional" and not _denied(tree, n):
            free += _given(tree, n, tree.under(n, _CLAUSES) - {n}, How.REPLACED)
    return free


def things(text: Reading) -> frozenset[str]:
    """Return the content words of a text that are nouns, or stand with one."""
    tree = Tree(text)
    return _nouns(tree, set(range(len(tree.tokens))))


def _given(tree: Tree, n: int, words: set[int], how: How) -> list[GivenUp]:
    keys = _keys(tree, words) if words else frozenset()
    place = tree.span(n)
    said = frozenset({n, *words})
    return [GivenUp(*place, keys, said, how, things=_nouns(tree, words))] if keys else []


def _replaced(tree: Tree, n: int) -> set[int]:
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
        if gone in sides:  # the tree hangs both on what is new
            gone = tree.lower.index("to", n) - 1 if "to" in tree.lower[n:gone] else -1
    elif word in ("replace", "swap", "replaced", "swapped") and token.pos == "VERB":
        gone = next(iter(tree.of(n, "obj")), -1)
    if gone < 0 or (word != "not" and _denied(tree, n)):
        return set()
    words = tree.under(gone, _CLAUSES)
    own = {m for m in words if tree.tokens[m].relation in ("case", "cc", "fixed", "mark")}
    own |= {m for m in words if m != gone and "to" in tree.links(m)}
    left = words - own - {n, n + 1 if word in ("instead", "rather") else n}
    return {m for m in left if m >= n or word not in ("instead", "rather", "not")}


def _ended(tree: Tree, n: int) -> tuple[set[int], bool]:
    """Return what is said to be over at a word: prefixes, of "drop the rule about prefixes"."""
    word, token = tree.lower[n], tree.tokens[n]
    before = tree.lower[n - 1] if n else ""
    if word in _ADVERBS and (word == "anymore" or before in ("any", "no")):
        begin, end = tree.span(n)
        clause = {m for m, other in enumerate(tree.tokens) if begin <= other.begin < end}
        denied = before == "no" or any(tree.lower[m] in _NOT | {"no"} for m in clause)
        if n + 1 < len(tree.tokens) and tree.tokens[n + 1].pos in _THINGS:
            behind = tree.tokens[n + 1].relation
            if behind in _BESIDE or (behind == "obl" and not tree.links(n + 1)):
                clause = tree.under(n + 1, _CLAUSES)  # "bun now, no longer pnpm"
        return (clause if denied else set()), False
    if _denied(tree, n):
        return set(), False
    gives = word in _GIVES and tree.lower[n + 1 : n + 2] == ["up"]
    ends = (word in _ENDS or gives) and token.pos == "VERB"
    if ends and not (word == "used" and tree.of(n, "aux")):
        done = _DONE | {"obl"} if gives else _DONE  # "gave up on film"
        if word == "used":
            done = frozenset({"xcomp"})  # "used to smoke", and not "used jest"
        doing = tree.of(n, *done)
        return (tree.under(doing[0], _CLAUSES) if doing else set()), False
    if _is_over(tree, n):
        return (tree.under(n, _CLAUSES) | _right_behind(tree, n)) - {n}, True
    if word in _SAID and token.head >= 0:
        verb = _verb(tree, n)
        if tree.lower[verb] in _DROPS and n > verb:
            return {m for m in tree.under(n) if m > n}, True
    return set(), False


def _parted(tree: Tree, n: int) -> set[int]:
    """Return what somebody parts with: Northwind, of "Anna left Northwind"; no cat left at home."""
    word, token = tree.lower[n], tree.tokens[n]
    if word not in _PARTS or token.pos != "VERB" or _denied(tree, n):
        return set()
    done = tree.of(n, "obj")
    where = any(m > n for m in tree.of(n, *_WHERE))
    return set() if not done or (word == "left" and where) else tree.under(done[0], _CLAUSES)


def _is_over(tree: Tree, n: int) -> bool:
    token = tree.tokens[n]
    return tree.lower[n] in _RULES and token.head >= 0 and tree.lower[token.head] in _DROPS | _OVER


def _allowed(tree: Tree, n: int) -> set[int]:
    """Return what is allowed at a word: to touch src/gen, of "you may touch src/gen again"."""
    word, token = tree.lower[n], tree.tokens[n]
    done = -1
    if word in _MAY and token.relation == "aux" and token.head > n:
        asked = tree.of(token.head, "nsubj")
        done = token.head if asked and asked[0] < n else -1  # "can you" asks
    elif word in _FINE and token.pos in ("ADJ", "VERB") and tree.below[n]:
        done = n
    elif word == "go" and "ahead" in (tree.lower[m] for m in tree.below[n]):
        done = next(iter(tree.of(n, "conj")), -1)
    if done < 0 or _denied(tree, n):
        return set()
    own = {n} if done == n else set()
    words = tree.under(done, _CLAUSES) - own
    return {m for m in words if tree.lower[m] not in _AGAIN | {"now", "on"}}


def _rethought(tree: Tree, n: int) -> set[int]:
    """Return what its owner has another mind about: the queue, of "my mind about the queue"."""
    token = tree.tokens[n]
    if tree.lower[n] != "about" or token.head <= n or _WRONG.isdisjoint(tree.lower[:n]):
        return set()
    begin, _ = tree.span(n)
    mine = {tree.lower[m] for m in range(n) if tree.tokens[m].begin >= begin}
    own = "i" in mine and not mine.isdisjoint(_WRONG)
    return tree.under(token.head, _CLAUSES) - {n} if own and not _denied(tree, n) else set()


def _right_behind(tree: Tree, n: int) -> set[int]:
    """Return the phrase right behind a word that hangs on its verb: "drop the rule about mocks"."""
    phrases = (tree.under(m, _CLAUSES) for m in tree.of(tree.tokens[n].head, "obl"))
    return next((phrase for phrase in phrases if min(phrase) == n + 1), set())
