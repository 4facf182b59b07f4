"""Judge what a model says that a turn states: its size, and whether the turn says so.

A statement in the very words of its quote is its owner's own; in others it is a model's text, which
is only derived from it (`policy.TRUST_CAP`). Every content word must stand in the quote, and
nothing around it may say otherwise: "I love PHP" is not said by "do not assume that I love PHP",
and "Ben hired Anna" not by "Anna hired Ben".
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from factbook import policy
from factbook.gate import kin
from factbook.gate.grounding import ground, read_passage
from factbook.gate.grounding.inverted import inverted
from factbook.gate.trees import tree_of
from factbook.gate.turn_binding import misbound
from factbook.gate.type_rules import is_ordered
from factbook.language.reader.reading import JOINING, NOT_MEANT, Clause, Reading, Span

STATEMENT_WORDS: Final = 30  # ours: as of what the reader keeps; a longer one says several things
_WORD: Final = re.compile(r"\w+")
_DIRECTIONS: Final = re.compile("[\u200e\u200f\u202a-\u202e\u2066-\u2069]")  # hide what is said
_UNLIKED: Final = NOT_MEANT | {"over", "past"}  # flags of a clause that shows no taste of today
_ORDERED: Final = "the turn orders what to keep, to ignore or to believe"


class TurnVerdict(NamedTuple):
    """What the gate says of a statement."""

    reason: str = ""  # why it is refused, of `policy.REJECTION_REASONS`; empty where it is let in
    detail: str = ""
    is_own: bool = False  # it is in the words of its quote


def judge_statement(said: str, quote: str, around: str) -> TurnVerdict:
    """Say whether a quote says a statement; `around` are the sentences that hold the quote."""
    words = _WORD.findall(said)
    if not words or _DIRECTIONS.search(said):
        return TurnVerdict("malformed", "it has no word, or hides what it says")
    if len(words) > STATEMENT_WORDS or len(said) > policy.SNIPPET_CHARS:
        most = f"{STATEMENT_WORDS} words and {policy.SNIPPET_CHARS} characters"
        return TurnVerdict("malformed", f"a statement has at most {most}")
    for passage in dict.fromkeys((quote, around)):
        grounding = ground(said, read_passage(passage))
        if not grounding.grounded:
            return TurnVerdict("hallucination", grounding.why)
    # A clause by itself is bound as it stands; only what it hangs on may say otherwise.
    why = inverted(said, around) if _is_clause(said, around) else misbound(said, around)
    if why:
        return TurnVerdict("hallucination", f"The words are bound otherwise: {why}.")
    return TurnVerdict(is_own=_stands_in(said, quote))


def judge_order(text: str, start: int, end: int) -> TurnVerdict:
    """Say whether a place of a turn is what orders a memory or a program what to believe."""
    if is_ordered(read_passage(text), start, end):
        return TurnVerdict("external_instruction", _ORDERED)
    return TurnVerdict()


def judge_topic(
    likes: bool, read_as: bool | None, reading: Reading, start: int, end: int
) -> TurnVerdict:
    """Say whether an opinion may have this sign.

    `read_as` is how the rules read the same words; where they read nothing, the thing, which stands
    at `start` to `end` of what was read, must stand in a clause about its owner, and be neither
    denied nor over there.
    """
    told = [one for one in reading.opinions if _meet(one, start, end)]
    told = [one for one in told if one.sure >= policy.TASTE_SIGN_SURE]
    if read_as is (not likes) or any((one.type == "like") is not likes for one in told):
        return TurnVerdict("not_said", "the words say the opposite of it")
    if read_as is likes or any(one.chance >= policy.TASTE_SURE for one in told):
        return TurnVerdict(is_own=True)
    clause = reading.clause_at(start)
    if clause is None or clause.of != "me":
        return TurnVerdict("not_said", "no words say that its owner does")
    if clause.flags & _UNLIKED or (likes and "neg" in clause.flags):
        return TurnVerdict("not_said", "it is denied there, or over")
    return TurnVerdict(is_own=True)


def judge_directive(reading: Reading, start: int, end: int) -> TurnVerdict:
    """Say whether words may be a rule or a decision: not what only asks, or tells what was."""
    if any(
        _meet(mark, start, end) and mark.chance >= policy.DIRECTIVE_LIKELY for mark in reading.marks
    ):
        return TurnVerdict(is_own=True)
    clauses = [clause for clause in reading.clauses if _meet(clause, start, end)]
    if any(clause.act == "ask" or "past" in clause.flags for clause in clauses):
        return TurnVerdict("not_said", "it asks, or tells what was, and sets no rule")
    return TurnVerdict(is_own=True)


def covers(text: str, said: str) -> bool:
    """Say whether a statement claims what another one of the same turn does, or that with detail.

    The words of `said` are bound in `text` as in itself, and what `text` says besides has no verb
    of its own: where somebody works is a part of that they do.
    """
    if not ground(said, read_passage(text)).grounded or misbound(said, text):
        return False
    one, two = tree_of(said), tree_of(text)
    known = {*one.keys, *one.lower} - {""}
    return all(
        any(kin.support(word, two.keys[at] or two.lower[at]) for word in known)
        for at, token in enumerate(two.tokens)
        if token.pos == "VERB" or two.of(at, "nsubj", "csubj", "cop")
    )


def _meet(part: Clause | Span, start: int, end: int) -> bool:
    return part.begin < end and start < part.end


def _is_clause(said: str, around: str) -> bool:
    """Tell whether a statement is a whole clause of these words, without what joins it."""
    reading, words = tree_of(around).reading, _words(said)
    for clause in reading.clauses:
        tokens = list(reading.tokens[clause.first : clause.last])
        while tokens and tokens[0].relation in JOINING | {"mark"}:
            del tokens[0]
        if tokens and _words(around[tokens[0].begin : tokens[-1].end]) == words:
            return True
    return False


def _words(text: str) -> list[str]:
    return [word.casefold() for word in _WORD.findall(text)]


def _stands_in(said: str, quote: str) -> bool:
    words, there = _words(said), _words(quote)
    size = len(words)
    return any(there[at : at + size] == words for at in range(len(there) - size + 1))
