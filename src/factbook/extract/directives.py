"""Find the rules and decisions in what an owner says: what an agent ought to know next time too."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Final

from factbook import policy
from factbook.extract.keyed.wording import QUOTED
from factbook.extract.ordered_rules import RULES, Ordered, ordered
from factbook.extract.prompt_injection import TaintKind, taint, touching
from factbook.extract.voice import blanked, in_layout, is_others
from factbook.extract.whole_rules import ITEM, led_to, whole
from factbook.language.reader.read import read
from factbook.language.reader.reading import NOT_MEANT, Clause, Reader, Reading, Span
from factbook.language.reader.tree import Tree
from factbook.language.sentences import around
from factbook.language.words import word_set
from factbook.model.directives import DECISION, EVERYWHERE, PREDICATES, PROJECT, subject_of
from factbook.model.facts import DIRECTED_IN, Candidate, FactKind, Role, StoredEpisode, Trust

RULE: Final = "directive"
_MARKED: Final = "Marked by the reader as a {type} that holds on, with a chance of {chance:.2f}"
_WRITTEN: Final = "Written into a file of rules that agents load"
LINE: Final = "rule_line"
_ENDING: Final = "Gives up a rule or a decision that held"
_FORGED: Final = frozenset({TaintKind.SPEECH, TaintKind.MEMORY, TaintKind.HIDDEN})
"""What is no owner's word even in their own message; an order is what a rule is."""
_SUPPOSING: Final = frozenset({"if", "unless", "whether"})
_LETTERS: Final = re.compile(r"\w+")
_WORD: Final = re.compile(r"(?<!\S)\S*[A-Za-z0-9]\S*")  # of English, which alone is read
_ASKED: Final = re.compile(r"[^.!?\n]*\?")
_SPEAKERS: Final = frozenset({"i", "we", "you"})
_REMINDING: Final = frozenset({"told", "asked"})
_EVERYWHERE: Final = frozenset({"anywhere", "everywhere", "globally"})
_PLACES: Final = word_set("""
    codebase codebases project projects repo repos repositories repository workspace workspaces
    """)
_ALL: Final = frozenset({"across", "all", "any", "each", "every", "other"})
_ONLY: Final = frozenset({"just", "only"})
_Placed = tuple[int, int, Span]


def own_reading(episode: StoredEpisode, reader: Reader | None = None) -> Reading | None:
    """Return what an owner says to an agent, read; None where none of it is the owner's own.

    What is pasted, quoted, or given to be worked on is not read, nor what a model or a tool wrote.
    `reader` is the one that ships unless another is given. Raises ReaderError if it cannot load.
    """
    if episode.injected or episode.kind not in DIRECTED_IN or episode.agent:
        return None
    if episode.role is not Role.USER or episode.trust is not Trust.DIRECT:
        return None
    text = blanked(episode.text, in_layout(episode.text, episode.pasted))[: policy.DIRECTIVE_CHARS]
    if not text.strip():
        return None
    return reader.read(text) if reader is not None else read(text)


def directives_in(
    episode: StoredEpisode, reading: Reading, reader: Reader | None = None
) -> list[Candidate]:
    """Return the rules and decisions of what an owner says, in their order.

    What is only likely to be one is not shown by itself until it is said again.
    """
    tree = Tree(reading)
    orders = ordered(tree)
    placed = [
        one
        for one in _placed(tree, 0)
        if not _is_led_to_by_if(reading, one[0])
        if not any(order[0] <= one[0] < order[1] for _, _, order, _ in orders)
    ]
    placed += _ordered(tree, orders)
    for at, end in _reminders(tree):
        # "I told you to use pnpm": what it reminds of is read as if it were said again
        if not is_others(reading, at, end, chance=policy.DIRECTIVE_FOREIGN):
            said = (read if reader is None else reader.read)(reading.text[at:end])
            placed += _placed(Tree(said), at, again=True)
    directives: list[Candidate] = []
    for begin, end, mark in _apart(placed):
        candidate = directive_at(
            episode,
            (begin, end),
            subject_of(mark.scope, episode.project, reading.text[begin:end]),
            mark.type,
            _MARKED.format(type=mark.type, chance=mark.chance),
            sure=mark.chance >= policy.DIRECTIVE_SURE,
        )
        if candidate is not None:
            directives.append(candidate)
    return directives


def _apart(placed: Iterable[_Placed]) -> Iterator[_Placed]:
    """Yield what is placed in its order: of what meets, one, as sure as the surest."""
    held: _Placed | None = None
    for one in sorted(placed, key=lambda place: place[:2]):
        if held is None or one[0] >= held[1]:
            if held is not None:
                yield held
            held = one
        else:
            surest = max(held[2], one[2], key=lambda mark: mark.chance)
            held = (held[0], max(held[1], one[1]), surest)
    if held is not None:
        yield held


def stated_in(
    episode: StoredEpisode, reading: Reading, subject: str, *, sure: bool
) -> list[Candidate]:
    """Return what a line of a rule file gives as a rule or a decision: the line as it stands.

    What is written there is meant to hold, so an order is a rule, though only likely to be one. Of
    a long line it is what is marked in it.
    """
    marks = [mark for mark in reading.marks if mark.chance >= policy.DIRECTIVE_LIKELY]
    if len(episode.text) > policy.RULE_CHARS:
        places = [((mark.begin, mark.end), mark.type, sure) for mark in marks]
    elif marks:
        best = max(marks, key=lambda mark: mark.chance)
        places = [((0, len(episode.text)), best.type, sure)]
    else:
        orders = any(clause.act == "want" for clause in reading.clauses)
        places = [((0, len(episode.text)), PREDICATES[0], False)] * orders
    said = (
        directive_at(episode, place, subject, kind, _WRITTEN, sure=sure, rule=LINE)
        for place, kind, sure in places
    )
    return [candidate for candidate in said if candidate is not None]


def _placed(tree: Tree, at: int, *, again: bool = False) -> list[_Placed]:
    """Return what is marked and meant, in full; what is said `again` counts by that alone."""
    placed = []
    for mark in tree.reading.marks:
        if mark.chance < policy.DIRECTIVE_LIKELY and not again:
            continue
        if is_unsaid(tree.reading, mark.begin, mark.end, foreign=policy.DIRECTIVE_FOREIGN):
            continue
        begin, end = whole(tree, mark.begin, mark.end)
        if _says_enough(tree, mark):
            mark = replace(mark, scope=_scope(tree, mark.scope, (begin, end)))
            placed.append((at + begin, at + end, mark))
    return placed


def _ordered(tree: Tree, orders: Iterable[Ordered]) -> list[_Placed]:
    """Return what is ordered to be written down as a rule, or to hold from now on."""
    placed = []
    for one in orders:
        if is_others(tree.reading, *one.order, chance=policy.DIRECTIVE_FOREIGN):
            continue
        scope = _scope(tree, PROJECT, (min(one.begin, one.order[0]), max(one.end, one.order[1])))
        marks = (mark for mark in tree.reading.marks if one.order[0] <= mark.begin < one.order[1])
        least = 1.0 if one.sure else policy.DIRECTIVE_LIKELY
        chance = max((least, *(mark.chance for mark in marks)))
        begin, end = led_to(tree, one.begin, one.end)
        placed.append((begin, end, Span(begin, end, PREDICATES[0], chance, scope)))
    return placed


def _scope(tree: Tree, scope: str, place: tuple[int, int]) -> str:
    """Return where a rule holds that is read to hold somewhere: everywhere where it says so."""
    begin, end = around(tree.text, *place)
    inside = [n for n, token in enumerate(tree.tokens) if begin <= token.begin < end]
    for n in inside:
        word, first = tree.lower[n], n == inside[0]
        if (word in _EVERYWHERE and (first or scope == EVERYWHERE)) or (
            word == "global" and not RULES.isdisjoint(tree.lower[n + 1 : n + 2])
        ):
            return EVERYWHERE
        if word in _PLACES and _is_for_all(tree, n):
            return EVERYWHERE
    return PROJECT if scope == EVERYWHERE else scope


def _is_for_all(tree: Tree, n: int) -> bool:
    """Tell whether a noun is of more than one place: "all my projects", "not just this repo"."""
    before = {tree.lower[m] for m in tree.below[n] if m < n}
    return not _ALL.isdisjoint(before) or ("not" in before and not _ONLY.isdisjoint(before))


def _says_enough(tree: Tree, mark: Span) -> bool:
    """Tell whether a mark says something: alone, or by its verb."""
    if len(_WORD.findall(tree.text[mark.begin : mark.end])) >= policy.DIRECTIVE_WORDS:
        return True
    own = (token for token in tree.tokens if mark.begin <= token.begin < mark.end)
    return any(token.pos in ("AUX", "VERB") for token in own)


def _is_led_to_by_if(reading: Reading, at: int) -> bool:
    """Tell whether a place is in a list that a line ending in "if:" leads to."""
    lines = reading.text[:at].split("\n")
    above = (line.rstrip() for line in reversed(lines[:-1]))
    lead = next((line for line in above if line and not ITEM.match(line)), "")
    if not ITEM.match(lines[-1]) or not lead.endswith(":"):
        return False
    last = [t for t in reading.tokens if t.end <= at and t.begin < reading.text.rfind(":", 0, at)]
    return any(token.text.lower() in _SUPPOSING for token in last[-1:])


def is_copied(text: str, place: tuple[int, int], reply: str) -> bool:
    """Tell whether a place stands in a longer stretch that is copied out of a reply."""
    said = [(match.start(), match[0].lower()) for match in _LETTERS.finditer(text)]
    first = sum(begin < place[0] for begin, _ in said)
    last = sum(begin < place[1] for begin, _ in said)
    size = max(policy.COPIED_WORDS, last - first)
    told = _ASKED.sub(" ", reply)  # who is asked may say yes in the words of the question
    words = f" {' '.join(match[0].lower() for match in _LETTERS.finditer(told))} "
    return any(
        f" {' '.join(word for _, word in said[at : at + size])} " in words
        for at in range(max(0, last - size), first + 1)
        if at + size <= len(said)
    )


def _reminders(tree: Tree) -> Iterator[tuple[int, int]]:
    """Yield where a text says what its writer told the agent to do."""
    for n, token in enumerate(tree.tokens):
        if tree.lower[n] not in _REMINDING or not any(
            tree.lower[k] == "i" for k in tree.of(n, "nsubj")
        ):
            continue
        places = tree.reading.sentences
        stop = next((end for begin, end in places if begin <= token.begin < end), 0)
        for k in tree.below[n]:
            marked = [d for d in tree.below[k] if tree.lower[d] == "to"]
            if tree.tokens[k].pos == "VERB" and marked and max(marked) == k - 1 > n:
                said = [t for t in tree.tokens[k:] if t.end <= stop and t.pos != "PUNCT"]
                if said:
                    yield said[0].begin, said[-1].end


def decision_at(
    episode: StoredEpisode, reading: Reading, place: tuple[int, int], subject: str, *, sure: bool
) -> Candidate | None:
    """Return a clause that gives something up as a decision; None where nobody asserts it."""
    if is_unsaid(reading, *place):
        return None
    return directive_at(episode, place, subject, DECISION, _ENDING, sure=sure)


def is_unsaid(reading: Reading, begin: int, end: int, *, foreign: float = 0.0) -> bool:
    """Tell whether a place is asked, supposed or, with a chance of `foreign`, somebody else's."""
    if is_others(reading, begin, end, chance=foreign):
        return True
    clauses = [c for c in reading.clauses if c.begin < end and begin < c.end]
    return any(
        (c.act == "ask" and _is_question(reading, c))
        or not (NOT_MEANT & c.flags).issubset({"quoted"} if _quotes(reading, c, begin) else ())
        for c in clauses
    )


def _is_question(reading: Reading, clause: Clause) -> bool:
    """Tell whether what reads as a question is marked as one; else it is as often a terse rule."""
    near = (at for at in reading.sentences if at[0] < clause.end and clause.begin < at[1])
    return any("?" in QUOTED.sub("", reading.text[begin:end]) for begin, end in near)


def _quotes(reading: Reading, clause: Clause, at: int) -> bool:
    """Tell whether a clause is its writer's own, with a quote in it: never ask "shall I?"."""
    said = reading.text[clause.begin : clause.end]
    quote = QUOTED.search(said)
    if quote is None or quote.start() < max(1, at - clause.begin + 1):
        return False
    own = reading.tokens[clause.first : clause.last]
    verbs = {n for n, t in enumerate(own, clause.first) if t.begin < clause.begin + quote.start()}
    doers = (t for t in own if t.relation == "nsubj" and t.head in verbs)
    does = any(reading.tokens[n].pos == "VERB" for n in verbs)
    return does and all(doer.text.lower() in _SPEAKERS for doer in doers)


def is_forged(text: str, begin: int, end: int) -> bool:
    """Tell whether a place of a text poses as somebody else's words, or is hidden."""
    forged = [piece for piece in taint(text) if piece.kind in _FORGED]
    return touching(forged, begin, end) is not None


def line_of(episode: StoredEpisode, subject: str) -> Candidate:
    """Return the whole of a line as the rule that it would be."""
    return _directive(episode, (0, len(episode.text)), subject, PREDICATES[0], _WRITTEN, rule=LINE)


def directive_at(
    episode: StoredEpisode,
    place: tuple[int, int],
    subject: str,
    predicate: str,
    method: str,
    *,
    sure: bool,
    rule: str = RULE,
) -> Candidate | None:
    """Return what an episode claims at a place, unless that is too little or plays somebody."""
    begin, end = place
    if len(_WORD.findall(episode.text[begin:end])) < policy.DIRECTIVE_WORDS:
        return None
    if is_forged(episode.text, begin, end):
        return None
    return _directive(episode, place, subject, predicate, method, sure=sure, rule=rule)


def _directive(
    episode: StoredEpisode,
    place: tuple[int, int],
    subject: str,
    predicate: str,
    method: str,
    *,
    rule: str,
    sure: bool = False,
) -> Candidate:
    begin, end = place
    text = episode.text[begin:end].rstrip(" ,;:")
    said = " ".join(text.split())
    return Candidate(
        subject=subject,
        predicate=predicate,
        object=said,
        statement=said,
        confidence=policy.DIRECTIVE if sure else policy.DIRECTIVE_UNSURE,
        rule=rule,
        method=method,
        start=begin,
        end=begin + len(text),
        kind=FactKind.DIRECTIVE,
        embed=True,
    )
