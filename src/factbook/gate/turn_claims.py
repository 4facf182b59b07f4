"""Judge what a model says that a turn states: its size, and whether the turn says so.

A statement in the very words of its quote is its owner's own; in others it is a model's text, which
is only derived from it (`policy.TRUST_CAP`). Every content word must stand in the quote, and
nothing around it may say otherwise: "I love PHP" is not said by "do not assume that I love PHP".
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from factbook import policy
from factbook.gate.grounding import ground, read_passage

STATEMENT_WORDS: Final = 30  # ours: as of what the reader keeps; a longer one says several things
_WORD: Final = re.compile(r"\w+")
_DIRECTIONS: Final = re.compile("[\u200e\u200f\u202a-\u202e\u2066-\u2069]")  # hide what is said


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
    return TurnVerdict(is_own=_stands_in(said, quote))


def judge_topic(likes: bool, read_as: bool | None) -> TurnVerdict:
    """Say whether an opinion may have this sign; `read_as` is how the rules read the same words."""
    if read_as is None or read_as is likes:
        return TurnVerdict(is_own=True)
    return TurnVerdict("not_said", "the words say the opposite of it")


def _stands_in(said: str, quote: str) -> bool:
    words = [word.casefold() for word in _WORD.findall(said)]
    there = [word.casefold() for word in _WORD.findall(quote)]
    size = len(words)
    return any(there[at : at + size] == words for at in range(len(there) - size + 1))
