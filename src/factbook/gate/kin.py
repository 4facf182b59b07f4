"""Say how well one word stands for another: the same stem, or a derivation of it."""

from __future__ import annotations

import functools
from typing import Final

from factbook.gate.opposites import opposite_pairs
from factbook.language.words import word_set

SAME: Final = 1.0  # equal stems
DERIVED: Final = 0.8  # explain, explanation
NONE: Final = 0.0

_SUFFIXES: Final = word_set("""
    ational ation ations ition ution ion ions sion ment ments al ally ial ual ical ic ics er ers or
    ors ar ee ist ists ism ing ings ed es s ness ity ies ility ability able ible ive ively ous ously
    y ly ance ence ancy ency ant ent ants ents u ful less ize ise ized ised ize izing ify ification
    ate ated ates en ened th age e t d n an ian ians ese ish hood ship
    """) | {""}
_LEAST_ROOT: Final = 4
_NOT_KIN: Final = frozenset(
    frozenset(pair.split("/"))
    for pair in word_set("""
    experi/experiment experienc/experiment experi/experienc product/produc organ/organ
    general/generat import/import commun/communic communist/communiti univers/universal
    intern/internet person/personnel histor/historian physic/physician politi/polit statist/station
    patient/patienc
    """)
)  # stems that look like one family and are two


@functools.lru_cache(maxsize=65_536)
def derived(word: str, other: str) -> bool:
    """Say whether two stems are of one family: explan and explain, conceptu and concept."""
    if word == other:
        return True
    if not (word.isalpha() and other.isalpha()):
        return False
    least = min(len(word), len(other))
    if least < _LEAST_ROOT or frozenset((word, other)) in _NOT_KIN:
        return False
    letters = enumerate(zip(word, other, strict=False))
    same = next((n for n, (left, right) in letters if left != right), least)
    if same < _LEAST_ROOT or same < least - 3 or same < 0.6 * least:
        return False
    left, right = word[same:], other[same:]
    if left in _SUFFIXES and right in _SUFFIXES:
        return True
    return (left, right) in _CHANGES or (right, left) in _CHANGES


_CHANGES: Final = frozenset(
    tuple(pair.split("/")) for pair in word_set("in/n in/nat de/s d/s it/pt v/f v/pt e/iv")
)  # explain, explanation; decide, decision; receive, receipt; prove, proof


@functools.lru_cache(maxsize=131_072)
def support(claimed: str, said: str) -> float:
    """Say how well a word that is said supports a claimed one, both as stems."""
    if claimed == said:
        return SAME
    return DERIVED if derived(claimed, said) else NONE


_DENYING: Final = ("un", "in", "im", "ir", "il", "dis", "non", "mis", "de", "anti")


@functools.lru_cache(maxsize=65_536)
def opposed(word: str, other: str) -> bool:
    """Say whether two words exclude each other: by the lists, or by a prefix that denies."""
    if word == other:
        return False
    if (word, other) in opposite_pairs():
        return True
    short, long = sorted((word, other), key=len)
    if len(short) < _LEAST_ROOT:
        return False
    for prefix in _DENYING:
        if long.startswith(prefix) and len(long) - len(prefix) >= _LEAST_ROOT:
            rest = long[len(prefix) :]
            if rest == short or (len(short) > 5 and rest.startswith(short[:-1])):
                return True
    return False
