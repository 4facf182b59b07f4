"""Tell whether two names are of one thing: merge them, ask somebody, or keep them apart.

Names go by rules: rare evidence is all there is, so numbers that differ always mean two things, and
only what adds nothing is merged unasked.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from factbook import policy
from factbook.gate.terms import Alignment, Term, TermKind, align, terms_of
from factbook.language.common_words import is_everyday
from factbook.language.nouns import singular
from factbook.language.words import word_set
from factbook.model.keys import entity_name

INITIAL_IS_NO_WORD: Final = 0.7  # ours: words less alike than this are not shared between names
MAKER_SIMILARITY: Final = 0.6  # ours: of names of which one has the maker too
SPELLING_SIMILARITY: Final = 0.75  # ours: of names that differ in spelling alone

_PART_NOUNS: Final = word_set("""
part chapter version volume vol season series episode level type mark model gen generation edition
release phase step unit class grade no number issue day week
""")
# Beside a name these tell nothing of what is named.
_ADDS_NOTHING: Final = word_set("""
the a an review reviews official website site homepage company inc llc ltd corp corporation gmbh co
brand
""")
_MERGED_SPELLING: Final = 8  # ours: letters of a word from which one slip of the pen is let pass
_LETTER_NUMERALS: Final = frozenset("ivx")
_LEFT_BEFORE: Final = 1  # ours: words of a maker before a name with a model number


class SameEntityVerdict(StrEnum):
    """Say what is to be done with two names."""

    MERGE = "merge"  # one thing, without asking
    ASK = "ask"  # a model or a person may say
    DIFFERENT = "different"


@dataclass(frozen=True, slots=True)
class Same:
    """What two names are to each other."""

    verdict: SameEntityVerdict
    score: float  # 0 to 1, how likely one thing; over 0.5 the better guess is that they are
    why: str  # one sentence for a person


def compare(a: Sequence[str], b: Sequence[str], *, cosine: float = math.nan) -> Same:
    """Say whether the names of one thing and those of another, one or more each, are of one thing.

    The best verdict over all pairs of names counts. `cosine` is that of the first names by the
    embedder that ships with the package; anything but the same name needs it, and what is no number
    counts as 0. Symmetric.
    """
    sames = [_two_names(name, other, cosine=cosine) for name in a for other in b]
    return max(sames, key=lambda same: same.score)


_SIGNS: Final = re.compile(r"[+#]+")


def _two_names(a: str, b: str, *, cosine: float) -> Same:
    first, second = entity_name(a), entity_name(b)
    if not first or not second:
        return Same(SameEntityVerdict.DIFFERENT, 0.0, "One of them has no name.")
    if first == second:
        return Same(SameEntityVerdict.MERGE, 1.0, "It is the same name.")
    terms_a = [term for term in terms_of(first) if term.text not in _ADDS_NOTHING]
    terms_b = [term for term in terms_of(second) if term.text not in _ADDS_NOTHING]
    if not terms_a or not terms_b:
        return Same(SameEntityVerdict.DIFFERENT, 0.0, "One of the names says nothing by itself.")
    if _SIGNS.findall(first) != _SIGNS.findall(second):
        return Same(
            SameEntityVerdict.DIFFERENT, 0.02, "The names differ in a sign, as C and C++ do."
        )
    if "".join(t.text for t in terms_a) == "".join(t.text for t in terms_b):
        return Same(SameEntityVerdict.MERGE, 0.98, "The names differ only in how they are written.")
    both = align(terms_a, terms_b)
    if clash := _number_clash(both):
        return Same(SameEntityVerdict.DIFFERENT, 0.02, f"The names differ in a number: {clash}.")
    near_cosine = cosine if -1.01 <= cosine <= 1.01 else 0.0  # false for NaN too
    smaller = min(len(set(terms_a)), len(set(terms_b)))
    contained = sum(value for *_, value in both.shared if value > INITIAL_IS_NO_WORD) / smaller
    left = both.only_a or both.only_b
    longer = terms_a if both.only_a else terms_b
    one_sided = bool(left) and not (both.only_a and both.only_b)
    if one_sided and near_cosine >= MAKER_SIMILARITY and _maker_only(left, longer, both):
        return Same(SameEntityVerdict.MERGE, 0.9, "One name only says the maker of the model too.")
    if not left and near_cosine >= SPELLING_SIMILARITY and _slips(both):
        return Same(SameEntityVerdict.MERGE, 0.9, "The names differ only in spelling.")
    if contained < policy.SAME_NAME_TOKENS or near_cosine < policy.SAME_NAME_SIMILARITY:
        return Same(
            SameEntityVerdict.DIFFERENT,
            round(min(0.45, max(0.0, contained * near_cosine / 2)), 4),
            f"The names share {contained:.2f} of their words at a cosine of {near_cosine:.2f}.",
        )
    more = ", ".join(term.text for term in left)
    why = f"One name says more: {more}." if more else "The names are spelled otherwise."
    return Same(SameEntityVerdict.ASK, 0.6, why)


def _number_clash(both: Alignment) -> str:
    """Return the numbers in which two names differ; both must have one that the other lacks."""
    kinds = (TermKind.NUMBER, TermKind.MEASURE, TermKind.CODE)
    only_a, only_b = (
        [term.text for term in terms if term.kind in kinds] for terms in (both.only_a, both.only_b)
    )
    if only_a and only_b:
        return f"{only_a[0]} and {only_b[0]}"
    # "Episode V" beside "Episode IV": such a letter is a numeral where the other has a number.
    for number, others in ((only_a, both.only_b), (only_b, both.only_a)):
        letters = [term.text for term in others if term.text in _LETTER_NUMERALS]
        if number and letters:
            return f"{number[0]} and {letters[0]}"
    return ""


def _slips(both: Alignment) -> bool:
    """Tell whether all that differs is a plural, a join, or a slip of the pen in a long word."""
    return all(
        left == right
        or left.text.rstrip("s") == right.text.rstrip("s")
        or (
            min(len(left.text), len(right.text)) >= _MERGED_SPELLING
            and value > INITIAL_IS_NO_WORD
            and not left.text.startswith(right.text)
            and not right.text.startswith(left.text)
        )
        for left, right, value in both.shared
    )


def _maker_only(left: Sequence[Term], longer: Sequence[Term], both: Alignment) -> bool:
    """Tell whether the longer name only has a maker before a name with a model number."""
    if len(left) > _LEFT_BEFORE or any(term != other for term, other, _ in both.shared):
        return False
    if left[0].kind is not TermKind.WORD or longer[0] != left[0]:
        return False
    shared = [term for term, *_ in both.shared]
    words = [term for term in shared if term.kind is TermKind.WORD and term.text not in _PART_NOUNS]
    codes = [term for term in shared if term.kind is TermKind.CODE]
    numbers = [term for term in shared if term.kind is TermKind.NUMBER]
    return bool(codes) or bool(words and numbers)


def known_as(
    name: str,
    known: Mapping[str, str],
    *,
    cosines: Mapping[str, float] | None = None,
    written: str = "",
) -> str | None:
    """Return the known entity that a name stands for without asking anybody; None for a new one.

    `known` leads from every name and alias to the entity, `cosines` from entities to that of their
    name, `written` is a text that has the name as somebody wrote it. A part of a name stands for
    nothing: "apple" is not "apple pie". "espresso machines" are what "espresso machine" is; written
    with a capital the last word belongs to a name, and "Cars" is not "car".
    """
    bare = name.removeprefix("the ")
    for form in (name, bare, f"the {bare}"):  # "The Hollow Crown" is "Hollow Crown" to most
        if form in known:
            return known[form]
    counted = _in_other_number(name, known, written)
    if counted is not None:
        return counted
    merged: list[tuple[float, str]] = []
    for entity in sorted(set(known.values())):
        same = _two_names(name, entity, cosine=(cosines or {}).get(entity, math.nan))
        if same.verdict is SameEntityVerdict.MERGE:
            merged.append((same.score, entity))
    best = max((score for score, _ in merged), default=0.0)
    names = [entity for score, entity in merged if score == best]
    # Two that fit equally well cannot both be meant.
    return names[0] if len(names) == 1 or best == 1.0 else None


_OTHER_IN_PLURAL: Final = word_set(
    "arm beat custom door eagle good king mean queen stone time window"
)  # what their plural names is seldom several of them: "windows", "rolling stones"


def _in_other_number(name: str, known: Mapping[str, str], written: str) -> str | None:
    """Return the one known entity whose name has another number only; its last word is a noun."""
    lead, _, last = name.rpartition(" ")
    noun = singular(last)
    if not noun.isalpha() or not is_everyday(noun) or noun in _OTHER_IN_PLURAL:
        return None
    if lead.split(" ")[0] == "the":
        return None  # "the birds" is a name
    at = written.casefold().rfind(name)
    # Case is told only where folding leaves a text its length.
    plain = at >= 0 and len(written) == len(written.casefold())
    if plain and written[at + len(name) - len(last)].isupper():
        return None
    entities = set()
    for other, entity in known.items():
        before, _, ending = other.rpartition(" ")
        if before == lead and ending[:1] == last[:1] and singular(ending) == noun:
            entities.add(entity)
    return entities.pop() if len(entities) == 1 else None
