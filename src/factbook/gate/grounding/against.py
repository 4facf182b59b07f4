"""Say what speaks against a claim although its words are there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from factbook.gate import grammar
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

    conflict: str  # over, negated, question, hypothetical or someone_else; "" for nothing
    detail: str  # the word or the sentence that says so


NOTHING: Final = Objection("", "")
_UNREAL: Final = frozenset({"possible", "wish", "plan", "condition", "failure", "nearly", "fake"})
_REACH: Final = 8  # words that are looked at before a verb, for who does it
_THEIR: Final = frozenset({"his", "her", "their"})
_THEIRS: Final = _THEIR | {"him", "them"}


def objection(claim: ClaimSentence, matches: Sequence[WordMatch], pattern: bool) -> Objection:
    """Return the first thing that speaks against a claim.

    What is over, or denied on one side alone, speaks against any claim; a question, a supposition,
    a wish, and what somebody else does speak against one about the user. A `pattern` may be seen
    in questions and wishes, and who does what it names is not asked.
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
        if denied_here != denied_there:
            return Objection("negated", there)
    if pattern or not claim.personal:
        return NOTHING
    for key, line, at in matches:
        if line.asks and not said.asks:
            return Objection("question", line.text)
        if unreal := _unreal_before(line, line.places[at]) - said.modals:
            return Objection("hypothetical", min(unreal))
        if key == claim.first and (who := _other_subject(line, line.places[at])):
            return Objection("someone_else", who)
    return NOTHING


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


def _other_subject(line: SentenceWords, place: int) -> str:
    """Return who else than the user does what a word of a line says; "" for the user."""
    tokens = line.tokens
    about_user = any(token.surface in {"user", "users"} for token in tokens[:place])
    if place and tokens[place - 1].surface in _THEIR and not about_user:
        return tokens[place - 1].surface  # "her favourite film" is not mine
    for index in range(place - 1, max(-1, place - _REACH), -1):
        token = tokens[index]
        before = tokens[index - 1] if index else None
        if token.sort is Sort.PERSON:
            if before is not None and before.surface == "and":
                return ""  # "my brother and I"
            if token.key in {"1", "we"}:
                following = tokens[index + 1] if index + 1 < place else None
                if following is not None and (
                    following.sort is Sort.POSSESSIVE
                    or (token.surface in {"my", "our"} and following.sort is Sort.CONTENT)
                ):
                    continue  # whose it is, not who does it
                return ""
            if token.surface in _THEIRS:
                continue
            return "" if about_user else token.surface
        if token.ends or token.sort is Sort.BREAK:
            return ""
        if token.sort is Sort.CONTENT and token.key in grammar.PERSON_NOUNS:
            return token.surface
        if index + 1 == place and token.sort is Sort.CONTENT and _is_name(line, index):
            return token.surface
    return ""


def _is_name(line: SentenceWords, place: int) -> bool:
    """Say whether the word before a verb is a name; the first of a sentence only for its verb."""
    token = line.tokens[place]
    return token.key in line.names or (
        place == 0
        and token.capital
        and line.tokens[place + 1].surface.endswith("s")
        and read(line.text).tokens[0].pos == "PROPN"
    )
