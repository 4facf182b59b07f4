"""Read names as terms: words, numbers, measures, model numbers."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from enum import StrEnum
from functools import lru_cache
from typing import Final, NamedTuple

from factbook.language.numbers import CARDINALS, ORDINALS, ordinal
from factbook.language.words import word_set

MOST_TERMS: Final = 200  # ours: terms of one text that are read; a name can be a page
SHORTEST_CODE: Final = 5  # ours: digits alone are a code from here on; shorter is a number
PLURAL: Final = 0.97  # ours: how far two spellings are one word
CUT_SHORT: Final = 0.75  # ours: "intl" is no beginning, but "tech" is one of "technology"
INITIAL: Final = 0.5  # ours: "m" beside "maria"
SPELLING: Final = 0.8  # ours: share of letters that two spellings of a word have in common
SHORT_WORD: Final = 3  # ours: letters; what is no longer has no second spelling


class TermKind(StrEnum):
    """Say what a term is."""

    WORD = "word"
    NUMBER = "number"  # a version, a year, a rank
    MEASURE = "measure"  # a number with its unit
    CODE = "code"  # a model number: letters and digits, or a long number


class Term(NamedTuple):
    """One term of a text, in the spelling that is compared."""

    kind: TermKind
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Alignment:
    """How the terms of two texts go together."""

    shared: Sequence[tuple[Term, Term, float]]  # of each side, and how alike: 1 is equal
    only_a: Sequence[Term]
    only_b: Sequence[Term]


_SMALL: Final = word_set("the a an of and for in on with to by at from or is w")
_WRITTEN: Final = """
gb mb tb kb in mm cm ghz mhz hz khz lb oz ft w x mp pack user ml l kg g v mah cu hour min year piece
channel disc cup quart percent inch/in inches/in megapixel/mp megapixels/mp lbs/lb pounds/lb
users/user watt/w watts/w volt/v volts/v hours/hour years/year foot/ft feet/ft gigabyte/gb
megabyte/mb cubic/cu minutes/min discs/disc channels/channel
"""  # as a unit is written, and as it is called where that is another
_UNITS: Final = {
    written: name or written
    for written, _, name in (unit.partition("/") for unit in _WRITTEN.split())
}
# Not "i", "v" and "x", which are letters of names as often, nor "one" and "first".
_NUMERALS: Final = {
    "ii": "2", "iii": "3", "iv": "4", "vi": "6", "vii": "7", "viii": "8", "ix": "9",
    **{word: str(number) for word, number in CARDINALS.items() if 1 < number < 11},
    **{word: ordinal(number) for word, number in ORDINALS.items() if 1 < number < 11},
}  # fmt: skip
_POSSESSIVE: Final = re.compile(r"\s*'\s*s\b")
_INCHES: Final = re.compile(r"(?<=\d)\s*(?:'+|\")")
_THOUSANDS: Final = re.compile(r"(?<=\d),(?=\d{3}\b)")
_RAW: Final = re.compile(r"[^\W_]+(?:[-/._][^\W_]+)*")
_PARTS: Final = re.compile(r"[-/._]")
_PLAIN_NUMBER: Final = re.compile(r"\d+(?:\.\d+)?")
_NUMBER_AND_LETTERS: Final = re.compile(r"(\d+(?:\.\d+)?)-?([a-z]+)")
_ORDINALS: Final = frozenset(("st", "nd", "rd", "th"))


@lru_cache(maxsize=32_768)
def terms_of(text: str) -> tuple[Term, ...]:
    """Return the terms of a text in their order."""
    text = unicodedata.normalize("NFKD", text).casefold()
    text = "".join(char for char in text if not unicodedata.combining(char))
    text = _POSSESSIVE.sub("", text.replace("\\", "").replace("’", "'"))
    terms: list[Term] = []
    text = _THOUSANDS.sub("", _INCHES.sub(" in ", text))
    raw = _RAW.findall(text)
    index = 0
    while index < len(raw) and len(terms) < MOST_TERMS:
        unit = _UNITS.get(raw[index + 1], "") if index + 1 < len(raw) else ""
        if unit and _PLAIN_NUMBER.fullmatch(raw[index]):
            terms.append(Term(TermKind.MEASURE, _number(raw[index]) + unit))
            index += 2
            continue
        terms.extend(_terms_of_one(raw[index]))
        index += 1
    return tuple(terms[:MOST_TERMS])


def _number(text: str) -> str:
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return text.lstrip("0") or "0"


def _terms_of_one(raw: str) -> list[Term]:
    parts = _PARTS.split(raw)
    bare = "".join(parts)
    if not any(char.isdigit() for char in bare):
        return _words(parts)
    if _PLAIN_NUMBER.fullmatch(raw):
        if len(bare) >= SHORTEST_CODE and "." not in raw:
            return [Term(TermKind.CODE, bare)]
        return [Term(TermKind.NUMBER, _number(raw))]
    if not any(char.isalpha() for char in bare):
        if len(bare) > SHORTEST_CODE:
            return [Term(TermKind.CODE, bare)]
        return [Term(TermKind.NUMBER, _number(part)) for part in parts]
    measure = _NUMBER_AND_LETTERS.fullmatch(raw)
    if measure:
        number, letters = _number(measure[1]), measure[2]
        if letters in _UNITS or letters in _ORDINALS:
            return [Term(TermKind.MEASURE, number + _UNITS.get(letters, letters))]
        if len(letters) > SHORT_WORD + 1:  # "5-star": a number and a word
            return [Term(TermKind.NUMBER, number), Term(TermKind.WORD, letters)]
    mixed = any(
        any(char.isdigit() for char in part) and any(char.isalpha() for char in part)
        for part in parts
    )
    if not mixed and any(part.isalpha() and len(part) > SHORT_WORD for part in parts):
        # "harmony-890": a word and a number, not a code of its own
        return [term for part in parts for term in _terms_of_one(part)]
    return [Term(TermKind.CODE, bare)]


def _words(parts: Sequence[str]) -> list[Term]:
    terms: list[Term] = []
    for part in parts:
        if part in _NUMERALS:
            value = _NUMERALS[part]
            kind = TermKind.NUMBER if value.isdigit() else TermKind.MEASURE
            terms.append(Term(kind, value))
        elif part and part not in _SMALL:
            terms.append(Term(TermKind.WORD, part))
    return terms


def near(a: Term, b: Term) -> float:
    """Say how far two terms are one and the same: 1 where they are equal, 0 where they are not.

    Numbers and codes are equal or not; only words have several spellings.
    """
    if a == b:
        return 1.0
    if a.kind is b.kind is TermKind.WORD:
        return _near_words(*sorted((a.text, b.text), key=len))
    return 0.0


def _near_words(short: str, long: str) -> float:
    if short[0] != long[0]:
        return 0.0
    if len(short) == 1:
        return INITIAL
    if len(short) <= 2:
        return 0.0
    if short.rstrip("s") == long.rstrip("s"):
        return PLURAL
    if len(short) > SHORT_WORD and len(long) - len(short) <= 2:
        alike = SequenceMatcher(None, short, long).ratio()
        if alike >= SPELLING:
            return alike
    return CUT_SHORT if long.startswith(short) else 0.0


def align(a: Sequence[Term], b: Sequence[Term]) -> Alignment:
    """Match the terms of two texts, each once: equal ones, then the nearest."""
    in_a, in_b = dict.fromkeys(a), dict.fromkeys(b)
    shared = [(term, term, 1.0) for term in in_a if term in in_b]
    only_a = [term for term in in_a if term not in in_b]
    only_b = [term for term in in_b if term not in in_a]
    close = sorted(
        ((near(term, other), term, other) for term in only_a for other in only_b), reverse=True
    )
    for value, left, right in close:
        if value and left in only_a and right in only_b:
            only_a.remove(left)
            only_b.remove(right)
            shared.append((left, right, value))
    return Alignment(shared=shared, only_a=only_a, only_b=only_b)
