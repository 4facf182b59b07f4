"""Say what speaks against a claim although its words are there.

Knows: a claim and where its words stand in a passage. Does not know: how the words were found.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from factbook.gate.given_up import given_up
from factbook.gate.grounding.claim import ClaimSentence
from factbook.gate.grounding.words import SentenceWords
from factbook.gate.lexicon import Sort
from factbook.language.reader.read import read


class WordMatch(NamedTuple):
    """A word of a claim, and where the passage says it."""

    key: str
    line: SentenceWords
    at: int  # among the keys of the line


class Objection(NamedTuple):
    """What speaks against a claim."""

    conflict: str  # over, negated, question or hypothetical; "" for nothing
    detail: str  # the word or the sentence that says so


NOTHING: Final = Objection("", "")
_UNREAL: Final = frozenset({"possible", "wish", "plan", "condition", "failure", "nearly", "fake"})


def objection(claim: ClaimSentence, matches: Sequence[WordMatch], pattern: bool) -> Objection:
    """Return the first thing that speaks against a claim.

    What is over, or denied on one side alone, speaks against any claim; a question, a supposition
    and a wish speak against one about the user. A `pattern` may be seen in questions and wishes.
    """
    said = claim.line
    for key, line, at in matches:
        there = line.keys[at]
        if key in said.over or there in line.over:
            if (key in said.over) != (there in line.over):
                return Objection("over", line.text)
            continue
        denied_here = key in said.denied and key not in said.affirmed
        denied_there = there in line.denied and there not in line.affirmed
        if denied_here != denied_there and not (_gives_up(said, key) and _gives_up(line, there)):
            return Objection("negated", there)
    if pattern or not claim.personal:
        return NOTHING
    for _, line, at in matches:
        if line.asks and not said.asks:
            return Objection("question", line.text)
        unreal = _unreal_before(line, line.places[at]) - said.modals
        if unreal:
            return Objection("hypothetical", min(unreal))
    return NOTHING


def _gives_up(line: SentenceWords, key: str) -> bool:
    """Say whether a sentence chooses something against what a word says: "tea, not coffee"."""
    return any(key in given.keys for given in given_up(read(line.text)))


def _unreal_before(line: SentenceWords, place: int) -> set[str]:
    """Return the classes of modals that stand before a word in its clause."""
    modals = set()
    tokens = line.tokens
    for index in range(place - 1, -1, -1):
        token = tokens[index]
        if token.ends and token.surface not in {"if", "unless"}:
            break
        if token.key == "condition" and tokens[index + 1].surface in {"prefer", "rather"}:
            continue  # "I'd rather have tea"
        if token.sort is Sort.MODAL and token.key in _UNREAL:
            modals.add(token.key)
    return modals
