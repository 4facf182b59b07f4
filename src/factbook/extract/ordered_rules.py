"""Find the rules that somebody orders to be written down: "add a rule that titles are short".

What is ordered is the rule, not the writing: the clause behind "that", "to" or a colon, the items
of the list below, or, where the order has nothing but "this", what was said right before it. Beside
these stand orders that say themselves from when on they hold ("next time, ...").
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from factbook.extract.keyed.told import NEGATIONS
from factbook.extract.whole_rules import ITEM
from factbook.language.reader.tree import Tree
from factbook.language.sentences import Span as Sentence
from factbook.language.sentences import sentences
from factbook.language.words import word_set

RULES: Final = word_set("rule rules guideline guidelines convention instruction preference note")
"""What rules are called where somebody has one written down."""
_WRITES: Final = word_set("add create make put write update record document save include")
_KEEPS: Final = word_set("remember note mention record document specify")
_SAYS: Final = word_set("""
    specify specifies say says saying state states stating mention mentions mentioning explain
    explains require requires tell tells record specifying
    """)
_HOLDS: Final = word_set("always never must should")
_BINDS: Final = _HOLDS | word_set("""
    shall only not n't don't dont no when whenever every each before after if
    """)
"""Words by which what is written down is more than the thing to do now."""
_DENIES: Final = NEGATIONS | {"dont"}
_THIS: Final = word_set("this that it")
_LEADS: Final = word_set("that to which")
_JOINS: Final = frozenset({"mark", "fixed"})  # relations of "that" in "so that"
_LATER: Final = (
    ("next", "time"),
    *(("from", when, "on") for when in ("now", "here", "today")),
    ("going", "forward"),
)
_DO: Final = frozenset({"do", "don't", "dont"})
_LED: Final = 4  # words before "next time", as "no, and also"
_BACK: Final = 2  # sentences before an order that "this" may be


class Ordered(NamedTuple):
    """A rule that is ordered, where it stands, and the order itself, in characters."""

    begin: int
    end: int
    order: tuple[int, int]
    sure: bool


def ordered(tree: Tree) -> list[Ordered]:
    """Return the rules that a text orders to be written down, or to hold from now on."""
    found: list[Ordered] = []
    places = [_unstopped(tree.text, place) for place in sentences(tree.text)]
    for n, place in enumerate(places):
        words = [k for k, t in enumerate(tree.tokens) if place.start <= t.begin < place.end]
        order = (place.start, place.end)
        if not words or not _is_order(tree, place):
            continue
        if _holds_later(tree, words):
            found.append(Ordered(*order, order, sure=True))
        orders = list(_orders(tree, words))
        said = (_told(tree, at, words, place, named=named) for at, named in orders)
        told = next(filter(None, said), None)
        if told is not None:
            found.append(told)
        elif any(named for _, named in orders):
            found += _this(tree, words, places[:n], order) or _items(
                tree.text, places[n + 1 :], order
            )
    return found


def _unstopped(text: str, place: Sentence) -> Sentence:
    """Return a sentence without its full stop; "..." stays."""
    stopped = text[place.start : place.end].endswith(".") and text[place.end - 2] != "."
    return place._replace(end=place.end - 1) if stopped else place


def _told(
    tree: Tree, at: int, words: Sequence[int], place: Sentence, *, named: bool
) -> Ordered | None:
    """Return the rule that is said behind a word of an order; `named`: which calls it a rule."""
    said = _said(tree, at, words)
    if said is None:
        return None
    noted = tree.lower[at] == "note" or not named  # of what is so as often as of what holds
    what = set(tree.lower[said : words[-1] + 1])
    written = not noted and tree.lower[said - 1] != "to"
    sure = written or not what.isdisjoint(_HOLDS if noted else _BINDS)
    heads = tree.lower[at] == "note" and tree.lower[said - 1] == ":"  # a remark, as in a README
    if heads or (not sure and tree.lower[at] != "remember"):
        return None
    return Ordered(tree.tokens[said].begin, place.end, (place.start, place.end), sure)


def _is_order(tree: Tree, place: Sentence) -> bool:
    """Tell whether a sentence wants something, and asks nothing."""
    over = [c for c in tree.reading.clauses if c.begin < place.end and place.start < c.end]
    asked = tree.text[: place.end].endswith("?") and any(clause.act == "ask" for clause in over)
    return not asked and any(clause.act != "ask" for clause in over)


def _holds_later(tree: Tree, words: Sequence[int]) -> bool:
    """Tell whether a sentence begins with when it holds, and goes on with an order."""
    for first in words[: _LED + 1]:
        for run in _LATER:
            if tuple(tree.lower[first : first + len(run)]) == run:
                return any(_is_done(tree, n, words[0]) for n in words if n >= first + len(run))
    return False


def _is_done(tree: Tree, n: int, first: int) -> bool:
    """Tell whether a word is the verb of an order: the root of its sentence, and nobody does it."""
    token = tree.tokens[n]
    is_head = token.relation in ("root", "conj", "parataxis") and token.pos == "VERB"
    beside = {tree.lower[m] for m in tree.of(n, "nsubj", "expl", "aux") if m >= first}
    return is_head and (beside <= _DO or not beside.isdisjoint(_HOLDS))


def _orders(tree: Tree, words: Sequence[int]) -> Iterator[tuple[int, bool]]:
    """Yield the words behind which an order has what it orders, and whether they are "rule"."""
    verbs = {n for n in words if tree.lower[n] in _WRITES | _KEEPS and _is_bare(tree, n, words[0])}
    for n in words:
        if n in verbs and tree.lower[n] in _KEEPS:
            yield n, False
        elif tree.lower[n] in RULES and any(verb < n for verb in verbs):
            yield n, True


def _is_bare(tree: Tree, n: int, first: int) -> bool:
    """Tell whether a word is a verb that nobody is said to do: an order."""
    subjects = [tree.lower[m] for m in tree.of(n, "nsubj") if m >= first]
    begins = n == first or tree.tokens[n - 1].pos in ("PUNCT", "CCONJ", "ADV", "INTJ", "PRON")
    begins = begins or tree.tokens[n - 1].pos in ("PART", "VERB", "SCONJ")
    begins = begins and not _is_denied(tree, n, first)
    return begins and all(subject in ("you", "we", "'s") for subject in subjects)


def _is_denied(tree: Tree, n: int, first: int) -> bool:
    """Tell whether what leads to a verb denies it: "no need to add"; "don't forget to" does not."""
    for m in range(n - 1, first - 1, -1):
        token = tree.tokens[m]
        if token.pos in ("PUNCT", "CCONJ", "SCONJ", "INTJ") or tree.lower[m] == "forget":
            return False
        if tree.lower[m] in _DENIES:
            return True
    return False


def _is_argument(tree: Tree, n: int) -> bool:
    return tree.tokens[n].relation in ("nsubj", "obj")


def _said(tree: Tree, at: int, words: Sequence[int]) -> int | None:
    """Return the first word of the rule that stands behind "rule" or "remember"; None for none."""
    n, last = at + 1, words[-1]
    if n <= last and tree.lower[n] in ("should", "must", "to") and tree.lower[n + 1 : n + 2]:
        n += tree.lower[n + 1] in _SAYS
    if n < last and tree.lower[n] == "that" and tree.lower[n + 1] in _SAYS:
        n += 1
    if n < last and tree.lower[n] in _SAYS:
        n += 1
        if tree.lower[n] not in (*_LEADS, ":"):
            return None
    if n >= last or tree.lower[n] not in (*_LEADS, ":"):
        return None
    if tree.lower[n] in ("that", "which") and not _is_whole(tree, n + 1, last):
        return None
    if tree.lower[n] == "to" and not _is_to_do(tree, n + 1, last):
        return None
    return n + 1


def _is_whole(tree: Tree, n: int, last: int) -> bool:
    """Tell whether a clause with somebody who does it begins at a word: "that titles are short"."""
    for m in range(n, last + 1):
        if tree.tokens[m].pos in ("VERB", "AUX"):
            return m > n
    return False


def _is_to_do(tree: Tree, n: int, last: int) -> bool:
    while n < last and tree.tokens[n].pos in ("ADV", "PART"):
        n += 1
    return tree.tokens[n].pos in ("VERB", "AUX")


def _items(text: str, below: Sequence[Sentence], order: tuple[int, int]) -> list[Ordered]:
    """Return the items of the list that stands right below an order, which is none itself."""
    found: list[Ordered] = []
    if ITEM.match(text, order[0]):
        return found
    end = order[1]
    for place in below:
        item = ITEM.match(text, place.start)
        if text[end : place.start].strip(" \t\r\n.:") or not item:
            break
        found.append(Ordered(item.end(), place.end, order, sure=True))
        end = place.end
    return found


def _this(
    tree: Tree, words: Sequence[int], before: Sequence[Sentence], order: tuple[int, int]
) -> list[Ordered]:
    """Return what was said right before an order to write "this" down."""
    named = [n for n in words if tree.lower[n] in RULES]
    meant = [n for n in words if tree.lower[n] in _THIS and tree.tokens[n].relation not in _JOINS]
    # "update the rule so that it is short": the rule itself is meant
    own = {n for n in meant if tree.lower[n] == "it" and named[0] < n and _is_argument(tree, n)}
    if not any(n + 1 not in named[:1] and n not in own for n in meant):
        return []
    for place in reversed(before[-_BACK:]):
        said = [k for k, t in enumerate(tree.tokens) if place.start <= t.begin < place.end]
        if (
            said
            and tree.lower[said[0]] not in _THIS
            and _is_order(tree, place)
            and (
                any(tree.lower[n] in _BINDS for n in said)
                or any(_is_done(tree, n, said[0]) for n in said)
            )
        ):
            return [Ordered(place.start, place.end, order, sure=True)]
    return []
