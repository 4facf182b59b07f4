"""Refuse what a message does not say: every value a model proposes must stand in it (seed 004).

A model that writes "Bitcoin" for "BTC" has made something up. What is looked for is the value
itself, in any case, width and spelling of blanks and quotes, as whole words.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import cached_property, lru_cache
from typing import Final

from factbook.keyed.contracts import FactsOp, op_values
from factbook.keyed.wording import (
    Span,
    asks_something,
    mood_problem,
    named_ranks,
    sentences,
    unquoted,
)
from factbook.keys import split_rank_key

__all__ = ["Heard", "locate", "op_objection"]

_SAME: Final = str.maketrans(
    dict.fromkeys("’‘ʼ`´′", "'") | dict.fromkeys("“”„«»″", '"') | dict.fromkeys("‐‑‒–—−", "-")
)
_BOUNDLESS: Final = ("CJK", "HIRAGANA", "KATAKANA", "THAI", "LAO", "KHMER", "MYANMAR", "HANGUL")


def locate(value: str, message: str) -> tuple[int, int] | None:
    """Return where a message holds a value, as (start, end), or None.

    Case, width, composition, blanks, and the forms of quotes and dashes do not count; apostrophes
    count only where the value is not found with them ("mens shoes" for "men's shoes"). A part of a
    word is no place: "SOL" does not stand in "solid", "5" not in "3.5", "C" not in "C++".
    """
    return Heard(message).locate(value)


class Heard:
    """A message that was read once, for many values and operations."""

    def __init__(self, message: str) -> None:
        self.message = message
        self.unquoted = unquoted(message)
        self._forms: dict[bool, tuple[str, list[tuple[int, int]]]] = {}

    @cached_property
    def ranks(self) -> set[int]:
        """Every rank that the message names."""
        return named_ranks(self.unquoted)

    @cached_property
    def sentences(self) -> list[Span]:
        """The sentences of the message."""
        return sentences(self.unquoted)

    def locate(self, value: str) -> tuple[int, int] | None:
        """Return where the message holds a value (`locate`)."""
        for bare in (False, True):
            wanted = _folded(value, bare=bare)[0].strip()
            if not wanted:
                return None
            if bare not in self._forms:
                self._forms[bare] = _folded(self.message, bare=bare)
            text, places = self._forms[bare]
            at = text.find(wanted)
            while at >= 0:
                end = at + len(wanted)
                if _stands_alone(text, at, end):
                    return places[at][0], places[end - 1][1]
                at = text.find(wanted, at + 1)
        return None

    def without(self, values: Iterable[str]) -> str:
        """Return the message with a comma in the place of each value."""
        spans = sorted({place for value in values if (place := self.locate(value))})
        parts: list[str] = []
        at = 0
        for start, end in spans:
            if start >= at:
                parts += [self.message[at:start], " , "]
            at = max(at, end)
        return "".join([*parts, self.message[at:]])

    def sentence_at(self, start: int, end: int) -> Span:
        """Return the sentence that holds a span, or all the sentences that it reaches over."""
        over = [one for one in self.sentences if one.end > start and one.start < end]
        if not over:
            return Span(start=start, end=end)
        return Span(start=over[0].start, end=over[-1].end)


def _folded(text: str, *, bare: bool) -> tuple[str, list[tuple[int, int]]]:
    """Return a text in one form, and for each of its characters where it came from."""
    folded: list[str] = []
    places: list[tuple[int, int]] = []
    for index, char in enumerate(text):
        for one in _plain(char):
            if one == "'" and bare:
                continue
            if one == " " and (not folded or folded[-1] == " "):
                continue
            folded.append(one)
            places.append((index, index + 1))
    return "".join(folded), places


@lru_cache(maxsize=8192)
def _plain(char: str) -> str:
    """Return one character in one form: compatible, decomposed, without case."""
    if char.isspace():
        return " "
    if unicodedata.category(char) in ("Cf", "Cs"):
        return ""
    plain = unicodedata.normalize("NFKD", char.translate(_SAME)).casefold()
    plain = unicodedata.normalize("NFKD", plain).translate(_SAME)
    return "".join(" " if one.isspace() else one for one in plain)


def _stands_alone(text: str, start: int, end: int) -> bool:
    before = text[start - 1] if start else " "
    after = text[end] if end < len(text) else " "
    if unicodedata.category(after)[0] == "M":
        return False  # the last letter of the value is another one in the text
    first, last = text[start], text[end - 1]
    if _is_word(before) and _is_word(first) and not (_unspaced(before) or _unspaced(first)):
        return False
    if _is_word(after) and _is_word(last) and not (_unspaced(after) or _unspaced(last)):
        return False
    if before == "#" and first.isdigit():
        return False  # a rank is no value
    if after in "+#" and last.isalnum():
        return False  # C++ and C# are no C
    if last.isdigit() and after in ".,:" and text[end + 1 : end + 2].isdigit():
        return False
    return not (first.isdigit() and before in ".,:" and text[max(0, start - 2)].isdigit())


def _is_word(char: str) -> bool:
    return char == "_" or unicodedata.category(char)[0] in "LMN"


def _unspaced(char: str) -> bool:
    """Say whether a letter is of a script that puts no blanks between words."""
    return not char.isascii() and unicodedata.name(char, "").startswith(_BOUNDLESS)


_ASSERTING: Final = frozenset(
    {"set", "ranked_list_set", "ranked_list_insert", "ranked_list_append", "ranked_list_move"}
)
_TURN: Final = re.compile(r";|\bbut\b|,\s+(?=\S+\s+(?:is|are)\b)", re.IGNORECASE)


def op_objection(op: FactsOp, message: str | Heard) -> str | None:
    """Say why a message does not ask for an operation, in one sentence, or None where it does.

    Every value must stand in the message, in words that state it: not in a question, a negation, a
    supposition or somebody else's mouth. Where the message names ranks, the operation's rank must
    be one of them. Give a `Heard` for many operations of one message.
    """
    heard = Heard(message) if isinstance(message, str) else message
    for value in op_values(op):
        place = heard.locate(value)
        if place is None:
            return f"the message does not hold {_shown(value)}"
        if op.op in _ASSERTING:
            problem = _stated_problem(heard, *place)
            if problem:
                return f"the message does not state {_shown(value)}: {problem}"
    return _rank_objection(op, heard)


def _stated_problem(heard: Heard, start: int, end: int) -> str:
    sentence = heard.sentence_at(start, end)
    if asks_something(sentence.of(heard.message)):
        return "it is a question"
    at = sentence.start
    words = sentence.of(heard.unquoted)
    words = words[: start - at] + "_" * (end - start) + words[end - at :]
    turns = [match.span() for match in _TURN.finditer(words)]
    left = max((stop for _, stop in turns if stop <= start - at), default=0)
    right = min((begin for begin, _ in turns if begin >= end - at), default=len(words))
    # A supposition at the beginning holds for the whole sentence: "If ..., BTC is my #1".
    opening = words.split(maxsplit=1)
    if left and opening and opening[0].lower() in ("if", "suppose", "unless", "imagine"):
        return mood_problem(opening[0])
    return mood_problem(words[left:right])


def _rank_objection(op: FactsOp, heard: Heard) -> str | None:
    asked = op.rank
    if asked is None and op.fact_key is not None:
        ranked = split_rank_key(op.fact_key)
        asked = ranked[1] if ranked else None
    if asked is None or not heard.ranks or asked in heard.ranks:
        return None
    shown = ", ".join(f"#{rank}" for rank in sorted(heard.ranks)[:5])
    return f"the message names {shown} and not #{asked}"


def _shown(value: str) -> str:
    return repr(value if len(value) <= 60 else value[:59] + "…")
