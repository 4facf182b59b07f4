"""Say where a rule or a decision begins and ends, so that nothing is cut off that it needs.

The reader tags words. A rule is said with the verb of its clause and all that hangs on it: who,
what, when, and what it is opposed to. Other clauses of its sentence are left out, and so is what
only leads to it ("no, and also").
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from factbook.language.reader.reading import JOINING
from factbook.language.reader.tree import Tree
from factbook.language.sentences import around
from factbook.language.words import word_set

Place = tuple[int, int]

_CLAUSES: Final = frozenset({"parataxis", "conj", "root"})
_DOES: Final = frozenset({"VERB", "AUX"})
_SUBJECTS: Final = frozenset({"nsubj", "csubj", "expl"})
_LIMITS: Final = word_set("""
    if unless when whenever until while once where wherever except but or otherwise
    """)
"""Words that a clause begins with without which the one beside it would say too much."""
_REASONS: Final = word_set("as because cause cos since")
_BACK: Final = word_set("this that it its it's these those they them thats that's")
_NO: Final = word_set("no nope nah not never dont don't")
_ALSO: Final = word_set("also")
ITEM: Final = re.compile(r"[ \t]*(?:[-*+\u2022]|\d{1,3}[.)])[ \t]+")
"""What stands before an item of a list."""
_STOPS: Final = frozenset(",;:.!?…–—-")
_TRAILING: Final = JOINING - {"punct"}
_PAIRS: Final = {")": "(", "]": "[", '"': '"', "`": "`", "”": "“"}


class _Clause(NamedTuple):
    """A clause with what hangs on it: the number of its first word, the one behind its last."""

    first: int
    last: int
    heads: frozenset[int]


def whole(tree: Tree, begin: int, end: int) -> Place:
    """Return where what stands at a place is said in full, in characters."""
    sentence = around(tree.text, begin, end)
    clauses = _clauses(tree, *sentence)
    own = [
        n for n, c in enumerate(clauses) if any(_is_in(tree, m, begin, end) for m in range(*c[:2]))
    ]
    if not own:
        return begin, end
    first, last = own[0], own[-1]
    while first and (
        tree.lower[clauses[first - 1].first] in _LIMITS or _points_back(tree, clauses[first])
    ):
        first -= 1
    while last + 1 < len(clauses) and _goes_on(tree, clauses[last], clauses[last + 1]):
        last += 1
    start = _led_to(tree, clauses[first].first, clauses[last].last, begin)
    stop = _without_reason(tree, clauses[last], end)
    return start, _closed(tree.text, start, stop)


def _is_in(tree: Tree, n: int, begin: int, end: int) -> bool:
    token = tree.tokens[n]
    return begin <= token.begin < end and token.pos != "PUNCT" and token.relation not in JOINING


def _clauses(tree: Tree, begin: int, end: int) -> list[_Clause]:
    """Cut a sentence into its clauses; what has no verb belongs to the one before it."""
    inside = [n for n, token in enumerate(tree.tokens) if begin <= token.begin < end]
    spans: dict[int, tuple[int, int]] = {}
    for n in inside:
        head = _head(tree, n, inside[0])
        first, last = spans.get(head, (n, n))
        spans[head] = (min(first, n), max(last, n))
    found: list[_Clause] = []
    for head, (first, last) in sorted(spans.items(), key=lambda item: item[1]):
        clause = _Clause(first, last + 1, frozenset({head}))
        before = found[-1] if found else None
        if before and (
            first < before.last
            or not _does(tree, clause)
            or not _does(tree, before)
            or _is_cut_wrongly(tree, first)
        ):
            found[-1] = _Clause(
                before.first, max(before.last, clause.last), before.heads | clause.heads
            )
        else:
            found.append(clause)
    return found


def _is_cut_wrongly(tree: Tree, n: int) -> bool:
    """Tell whether no clause can begin at a word: in ".env", or at the verb of "README should"."""
    before, token = tree.tokens[n - 1], tree.tokens[n]
    if before.end == token.begin:
        return token.text not in _STOPS
    return token.pos == "AUX" and before.pos != "PUNCT"


def _head(tree: Tree, n: int, first: int) -> int:
    """Return the word that a word's clause hangs on."""
    while True:
        token = tree.tokens[n]
        is_clause = token.relation in _CLAUSES and (
            token.pos in _DOES or tree.of(n, "cop", *_SUBJECTS)
        )
        if token.head < first or is_clause:
            return n
        n = token.head


def _does(tree: Tree, clause: _Clause) -> bool:
    return any(tree.tokens[n].pos in _DOES for n in range(clause.first, clause.last))


def _points_back(tree: Tree, clause: _Clause) -> bool:
    """Tell whether a clause is about what the one before it names: "this must never happen"."""
    subjects = (n for head in clause.heads for n in tree.of(head, *_SUBJECTS))
    return any(tree.lower[n] in _BACK and clause.first <= n <= clause.first + 1 for n in subjects)


def _goes_on(tree: Tree, clause: _Clause, following: _Clause) -> bool:
    """Tell whether a clause limits the one before it, is about it, or does the same otherwise."""
    if tree.lower[following.first] in _LIMITS or _points_back(tree, following):
        return True
    done = {tree.lower[n] for n in range(clause.first, clause.last) if tree.tokens[n].pos == "VERB"}
    return any(tree.lower[n] in done for n in following.heads if tree.tokens[n].pos == "VERB")


def led_to(tree: Tree, begin: int, end: int) -> Place:
    """Return a place without the words that only lead to what it says, in characters."""
    inside = [n for n, token in enumerate(tree.tokens) if begin <= token.begin < end]
    return (_led_to(tree, inside[0], inside[-1] + 1, begin), end) if inside else (begin, end)


def _led_to(tree: Tree, first: int, last: int, begin: int) -> int:
    """Return where a clause begins behind the words that only lead to it, in characters."""
    text = tree.text
    at = first
    for n in range(first, last):
        if tree.tokens[n].end > begin or tree.tokens[n].pos in _DOES:
            break
        if tree.lower[n] == ":":  # "not like that: ..."
            at = n
    while at + 1 < last:
        token, behind = tree.tokens[at], text[tree.tokens[at].end : tree.tokens[at].end + 1]
        parted = tree.lower[at + 1] in _STOPS
        # "dont" may be read as a word that only joins, and turns what is ordered around
        joins = parted and token.relation in JOINING and token.pos not in _DOES
        leads = joins or token.pos in ("CCONJ", "INTJ")
        if token.pos == "PUNCT" or token.text in _STOPS:
            if token.text not in _STOPS or not behind.isspace():
                break
        elif tree.lower[at] in _REASONS and token.end < begin:
            pass  # what is marked is the reason alone
        elif not ((leads and (parted or tree.lower[at] not in _NO)) or tree.lower[at] in _ALSO):
            break
        at += 1
    start = tree.tokens[at].begin
    item = ITEM.match(text, start)
    return item.end() if item else start


def _without_reason(tree: Tree, clause: _Clause, end: int) -> int:
    """Return where a clause ends without the reason behind a comma that nobody marked."""
    for n in range(clause.first + 1, clause.last):
        reason = tree.lower[n] in _REASONS and tree.tokens[n].relation == "mark"
        if reason and tree.tokens[n].begin >= end and tree.lower[n - 1] == ",":
            return tree.tokens[n - 1].begin
    last = clause.last
    while last - 1 > clause.first and (
        tree.tokens[last - 1].text in _STOPS or tree.tokens[last - 1].relation in _TRAILING
    ):
        last -= 1
    return tree.tokens[last - 1].end


def _closed(text: str, begin: int, end: int) -> int:
    """Return where a place ends with the bracket or quote that closes one opened in it."""
    while end < len(text) and text[end] in _PAIRS:
        opened, said = _PAIRS[text[end]], text[begin:end]
        is_open = (
            said.count(opened) % 2
            if opened == text[end]
            else said.count(opened) > said.count(text[end])
        )
        if not is_open:
            break
        end += 1
    return end
