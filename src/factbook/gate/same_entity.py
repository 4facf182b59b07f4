"""Tell whether two descriptions are of one thing: merge them, ask somebody, or keep them apart.

Knows: names, attributes, a cosine, and how rare terms are among what else is known. Does not know:
the store, owners, what is written after a verdict. Pure, with no input and output.

Two ways lead to a verdict. Bare names go by rules (`compare` without attributes): rare evidence is
all there is, so numbers that differ always mean two things, and only what adds nothing is merged
unasked. Descriptions with attributes are weighed as Fellegi and Sunter do ("A Theory for Record
Linkage", 1969): the agreement of each attribute counts as often as it tells, which `TermRarity`
estimates from the pairs at hand without any label. What two things share beside their names can
make up only little for names that differ: the songs of one album are not one song.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Final

from factbook import policy
from factbook.gate.terms import Alignment, Term, TermKind, align, near, terms_of
from factbook.language.common_words import is_everyday
from factbook.language.nouns import singular
from factbook.model.keys import entity_name

__all__ = [
    "Description",
    "NameMatch",
    "Same",
    "SameEntityVerdict",
    "TermRarity",
    "best_match",
    "compare",
    "compare_all",
    "known_as",
    "part_of",
]

KIND_WEIGHT: Final[Mapping[TermKind, float]] = {
    TermKind.WORD: 1.0,
    TermKind.NUMBER: 0.9,
    TermKind.MEASURE: 0.8,
    TermKind.CODE: 1.6,  # a model number names one thing
    TermKind.PHONE: 2.0,
    TermKind.LENGTH: 1.0,
    TermKind.DATE: 1.0,
}  # ours: what a term of each kind tells, beside how rare it is
ELSEWHERE: Final = 0.6  # ours: a term of one name that only the other's attributes hold
NAME_WEIGHT: Final = 10.0  # ours: log odds from names without and with all terms in common
NAME_MIDDLE: Final = 0.69  # ours: names this alike tell nothing either way
OTHER_LENGTH: Final = -1.5  # ours: both say how long it lasts, and it is not the same
SHARED_CODE: Final = 1.0  # ours: log odds of a model number that both have
OTHER_CODE: Final = -2.0  # ours: both have one, and none is shared
OTHER_NUMBER: Final = -1.0  # ours: both names hold numbers that the other lacks
BESIDE_NAMES: Final = 1.0  # ours: log odds at most of all attributes that agree
DISAGREES: Final = 0.35  # ours: attributes less alike than this disagree
AGREES: Final = 0.75  # ours: from here on they agree
AGREE: Final = 2  # the level of that
OWN_NUMBER: Final = 0.6  # ours: how rare a telephone or model number is that names one thing
PRIOR_SAME: Final = (0.15, 0.2, 0.65)  # ours: disagree, partly, agree, of one thing
PRIOR_OTHER: Final = (0.6, 0.2, 0.2)  # and of two
SAME_PRIOR_COUNT: Final = 4.0  # ours: pairs that the prior stands for
OTHER_PRIOR_COUNT: Final = 6.0
MOST_EVIDENCE: Final = 3.0  # ours: log odds of one attribute at most
MOST_OF_PRICE: Final = 1.0  # ours: prices change, and differ from shop to shop
SURE: Final = 2.5  # ours: log odds from where a pair teaches what agrees in one thing
ROUNDS: Final = 3  # ours: of estimating; more change little
FOUND_ELSEWHERE: Final = 0.8  # ours: share of an attribute that stands in the other's text
NUMBER_STEEPNESS: Final = 4.0  # ours: numbers that differ by a quarter are not alike at all
LENGTH_TOLERANCE_S: Final = 6.0  # ours: recordings whose lengths differ by this much are two
YEARS: Final = (1800, 2100)  # ours: whole numbers that are compared as years
RIVAL: Final = 1.5  # ours: log odds that a better partner takes at most
INITIAL_IS_NO_WORD: Final = 0.7  # ours: words less alike than this are not shared between names
MAKER_SIMILARITY: Final = 0.6  # ours: of names of which one has the maker too
SPELLING_SIMILARITY: Final = 0.75  # ours: of names that differ in spelling alone
MERGE_ODDS: Final = 3.3  # ours: log odds from where two descriptions are merged unasked
DOUBT: Final = -1.0  # ours: log odds of an attribute that forbids merging unasked
MERGE_NAMES: Final = 0.8  # ours: and their names must be this alike

_PRICES: Final = frozenset({"price", "prices", "cost", "msrp", "amount"})
_PARTS: Final = """
part chapter version volume vol season series episode level type mark model gen generation edition
release phase step unit class grade no number issue day week
"""
_PART_NOUNS: Final = frozenset(_PARTS.split())
_EMPTY_WORDS: Final = """
the a an review reviews official website site homepage company inc llc ltd corp corporation gmbh co
brand
"""
# Beside a name these tell nothing of what is named.
_ADDS_NOTHING: Final = frozenset(_EMPTY_WORDS.split())
_MERGED_SPELLING: Final = 8  # ours: letters of a word from which one slip of the pen is let pass
_LETTER_NUMERALS: Final = frozenset("ivx")
_LEFT_BEFORE: Final = 1  # ours: words of a maker before a name with a model number


class SameEntityVerdict(StrEnum):
    """Say what is to be done with two descriptions."""

    MERGE = "merge"  # one thing, without asking
    ASK = "ask"  # a model or a person may say
    DIFFERENT = "different"


@dataclass(frozen=True, slots=True, kw_only=True)
class Description:
    """What is known of one thing."""

    name: str
    attributes: Mapping[str, str] = field(default_factory=dict)  # in the order of its source
    aliases: Sequence[str] = ()  # other names of it


@dataclass(frozen=True, slots=True, kw_only=True)
class Same:
    """What two descriptions are to each other."""

    verdict: SameEntityVerdict
    score: float  # 0 to 1, how likely one thing; over 0.5 the better guess is that they are
    why: str  # one sentence for a person

    @property
    def likely(self) -> bool:
        """Tell whether one thing is the better guess."""
        return self.score > 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class NameMatch:
    """How a new name stands to what is known."""

    index: int  # of the known one
    verdict: SameEntityVerdict  # merge or ask
    score: float  # Same.score
    why: str  # one sentence for a person


# --- what else is known ---------------------------------------------------------------------------


Weights = tuple[float, float, float]  # log odds where an attribute disagrees, partly, agrees
_PRIOR_WEIGHTS: Final[Weights] = (
    math.log(PRIOR_SAME[0] / PRIOR_OTHER[0]),
    math.log(PRIOR_SAME[1] / PRIOR_OTHER[1]),
    math.log(PRIOR_SAME[2] / PRIOR_OTHER[2]),
)


class TermRarity:
    """How rare each term is, and how much each attribute tells, among many descriptions."""

    __slots__ = ("_count", "_holding", "_weights")

    def __init__(self) -> None:
        """Know nothing: all terms count as rare, all attributes tell what the prior says."""
        self._holding: Counter[Term] = Counter()
        self._count = 0
        self._weights: dict[str, Weights] = {}

    @classmethod
    def of(
        cls,
        descriptions: Sequence[Description],
        pairs: Sequence[tuple[Description, Description]] = (),
    ) -> TermRarity:
        """Count terms over descriptions, and estimate attributes from candidate pairs.

        Nothing says which pairs are of one thing: names alike teach how often each attribute agrees
        then, the rest how often it agrees by chance, in a few rounds (expectation maximisation with
        a prior, so that few pairs change little).
        """
        known = cls()
        known._count = len(descriptions)
        for description in descriptions:
            known._holding.update(set(_all_terms(description)))
        evidence = [_evidence(a, b, known) for a, b in pairs]
        for _ in range(ROUNDS if evidence else 0):
            known._weights = _estimated(evidence, known)
        return known

    def weight(self, term: Term) -> float:
        """Return what a term tells: 1 for a word that one description has, 0 for a common one."""
        rare = 1.0
        if self._count:
            held = self._holding.get(term, 0)
            rare = math.log((self._count + 1) / (held + 0.5)) / math.log((self._count + 1) / 1.5)
        return max(rare, 0.0) * KIND_WEIGHT[term.kind]

    def total(self, terms: Sequence[Term]) -> float:
        """Return what terms tell together."""
        return sum(self.weight(term) for term in terms)

    def weights(self, attribute: str) -> Weights:
        """Return the log odds of an attribute that disagrees, agrees partly, and agrees."""
        return self._weights.get(attribute, _PRIOR_WEIGHTS)


def _estimated(evidence: Sequence[_Evidence], known: TermRarity) -> dict[str, Weights]:
    """Return what each attribute tells, as the pairs that look the same now would have it."""
    same = [[PRIOR_SAME[n] * SAME_PRIOR_COUNT for n in range(3)]]
    other = [[PRIOR_OTHER[n] * OTHER_PRIOR_COUNT for n in range(3)]]
    counts: dict[str, tuple[list[float], list[float]]] = {}
    for pair_evidence in evidence:
        likely = _chance(2 * (pair_evidence.odds(known) - SURE))
        for name, level in pair_evidence.levels.items():
            alike, unlike = counts.setdefault(name, (list(same[0]), list(other[0])))
            alike[level] += likely
            unlike[level] += 1 - likely
    return {name: _log_odds(name, *both) for name, both in counts.items()}


def _log_odds(name: str, alike: Sequence[float], unlike: Sequence[float]) -> Weights:
    most = MOST_OF_PRICE if name.casefold() in _PRICES else MOST_EVIDENCE
    low, middle, high = (
        max(-most, min(most, math.log(a * sum(unlike) / (b * sum(alike)))))
        for a, b in zip(alike, unlike, strict=True)
    )
    # Whatever few pairs say, agreeing never tells against one thing, nor disagreeing for it.
    low, high = min(low, 0.0), max(high, 0.0)
    return low, min(max(middle, low), high), high


def _chance(odds: float) -> float:
    return 1 / (1 + math.exp(-max(-30.0, min(30.0, odds))))


# --- what two descriptions have in common ---------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class _Evidence:
    """What two descriptions have in common."""

    names: float  # how alike their names are, 0 to 1
    by_kind: float  # log odds of model numbers and numbers
    clash: str  # what excludes merging unasked; empty without
    levels: Mapping[str, int]  # attribute -> 0 disagrees, 1 partly, 2 agrees; those of both
    missing: Sequence[str]  # attributes that only one of them has
    naming: frozenset[str]  # attributes that agree in a telephone or model number of its own

    def doubted(self, known: TermRarity) -> bool:
        """Tell whether merging would be a guess: an attribute that tells much differs or lacks.

        A number of its own that both have makes good for what one of them does not say.
        """
        told = [name for name, level in self.levels.items() if level == 0]
        if self.by_kind <= 0 and not self.naming:
            told += self.missing
        return any(known.weights(name)[0] <= DOUBT for name in told)

    def odds(self, known: TermRarity) -> float:
        """Return the log odds that both are one thing."""
        against = beside = naming = 0.0
        for name, level in self.levels.items():
            told = known.weights(name)[level]
            if told < 0:
                against += told
            elif name in self.naming:
                naming += told
            else:
                beside += told
        told = against + naming + min(BESIDE_NAMES, beside)
        return NAME_WEIGHT * (self.names - NAME_MIDDLE) + self.by_kind + told


def _rest(description: Description) -> list[Term]:
    return [term for value in description.attributes.values() for term in terms_of(value)]


def _all_terms(description: Description) -> list[Term]:
    return [*terms_of(description.name), *_rest(description)]


def _evidence(a: Description, b: Description, known: TermRarity) -> _Evidence:
    both = align(terms_of(a.name), terms_of(b.name))
    found_a, left_a = _elsewhere(both.only_a, _rest(b))
    found_b, left_b = _elsewhere(both.only_b, _rest(a))
    shared = sum(
        value * (known.weight(left) + known.weight(right)) / 2 for left, right, value in both.shared
    ) + ELSEWHERE * known.total([*found_a, *found_b])
    by_kind, clash = _by_kind(both, [*found_a, *found_b], left_a, left_b)
    lengths = _lengths(a), _lengths(b)
    if all(lengths) and not any(
        abs(length - other) < LENGTH_TOLERANCE_S for length in lengths[0] for other in lengths[1]
    ):
        by_kind += OTHER_LENGTH
        clash = clash or f"the lengths differ: {lengths[0][0]} and {lengths[1][0]} seconds"
    levels: dict[str, int] = {}
    missing: list[str] = []
    for name in dict.fromkeys([*a.attributes, *b.attributes]):
        alike = _attribute(name, a, b, known)
        if alike is not None:
            levels[name] = 0 if alike < DISAGREES else 1 if alike < AGREES else AGREE
        elif a.attributes.get(name) or b.attributes.get(name):
            missing.append(name)
    agreed = [name for name, level in levels.items() if level == AGREE]
    return _Evidence(
        names=_alike(shared, known.total(left_a), known.total(left_b)),
        by_kind=by_kind,
        clash=clash,
        levels=levels,
        missing=missing,
        naming=frozenset(name for name in agreed if _is_naming(name, a, b, known)),
    )


def _lengths(description: Description) -> list[int]:
    return [int(term.text) for term in _all_terms(description) if term.kind is TermKind.LENGTH]


def _alike(shared: float, only_a: float, only_b: float) -> float:
    """Return how much is shared: half of the whole (Dice), half of the smaller (containment)."""
    if not shared:
        return 0.0
    dice = shared / (shared + (only_a + only_b) / 2)
    return (dice + shared / (shared + min(only_a, only_b))) / 2


def _elsewhere(left: Sequence[Term], others: Sequence[Term]) -> tuple[list[Term], list[Term]]:
    """Part the terms that the other's name lacks: its attributes have them, or nothing of it."""
    held = set(others)
    codes = [term for term in held if term.kind is TermKind.CODE]
    terms = [
        term
        for term in left
        if term in held or (term.kind is TermKind.CODE and any(near(term, code) for code in codes))
    ]
    return terms, [term for term in left if term not in terms]


def _by_kind(
    both: Alignment, elsewhere: Sequence[Term], left_a: Sequence[Term], left_b: Sequence[Term]
) -> tuple[float, str]:
    """Return the log odds of model numbers and numbers, and what of them excludes merging."""
    codes = _texts_of_kind(left_a, TermKind.CODE), _texts_of_kind(left_b, TermKind.CODE)
    numbers = (
        _texts_of_kind(left_a, TermKind.NUMBER, TermKind.MEASURE),
        _texts_of_kind(left_b, TermKind.NUMBER, TermKind.MEASURE),
    )
    shared = [left for left, right, _ in both.shared if left.kind is TermKind.CODE is right.kind]
    shared += [term for term in elsewhere if term.kind is TermKind.CODE]
    odds, clash = 0.0, ""
    if shared:
        odds += SHARED_CODE
    elif all(codes):
        odds += OTHER_CODE
    if all(numbers) and not shared:
        odds += OTHER_NUMBER
    if all(codes):
        clash = f"the model numbers differ: {codes[0][0]} and {codes[1][0]}"
    elif all(numbers):
        clash = f"the numbers differ: {numbers[0][0]} and {numbers[1][0]}"
    return odds, clash


def _texts_of_kind(terms: Sequence[Term], *kinds: TermKind) -> list[str]:
    return [term.text for term in terms if term.kind in kinds]


def _is_naming(name: str, a: Description, b: Description, known: TermRarity) -> bool:
    """Tell whether an attribute that agrees holds what few things have: a number of its own."""
    for description in (a, b):
        terms = terms_of(description.attributes.get(name, ""))
        if terms and (len(terms) > 1 or not _is_own_number(terms[0], known)):
            return False
    return True


def _is_own_number(term: Term, known: TermRarity) -> bool:
    if term.kind not in (TermKind.PHONE, TermKind.CODE):
        return False
    return known.weight(term) >= OWN_NUMBER * KIND_WEIGHT[term.kind]


# --- one attribute --------------------------------------------------------------------------------


def _attribute(name: str, a: Description, b: Description, known: TermRarity) -> float | None:
    """Say how alike an attribute is, 0 to 1; None where it cannot be told."""
    terms_a = terms_of(a.attributes.get(name, ""))
    terms_b = terms_of(b.attributes.get(name, ""))
    if not terms_a and not terms_b:
        return None
    if not terms_a:
        return _moved(terms_b, _all_terms(a), known)
    if not terms_b:
        return _moved(terms_a, _all_terms(b), known)
    first_a, first_b = terms_a[0], terms_b[0]
    if first_a.kind is TermKind.LENGTH is first_b.kind:
        return max(0.0, 1 - abs(int(first_a.text) - int(first_b.text)) / LENGTH_TOLERANCE_S)
    if first_a.kind is TermKind.DATE is first_b.kind:
        return float(first_a == first_b)
    if len(terms_a) == 1 == len(terms_b):
        numbers = _value(first_a), _value(first_b)
        if numbers[0] is not None and numbers[1] is not None:
            return _near_numbers(numbers[0], numbers[1])
    both = align(terms_a, terms_b)
    shared = sum(
        value * (known.weight(left) + known.weight(right)) / 2 for left, right, value in both.shared
    )
    only_a, only_b = known.total(both.only_a), known.total(both.only_b)
    return _alike(shared, only_a, only_b) if shared + only_a + only_b else None


def _moved(terms: Sequence[Term], others: Sequence[Term], known: TermRarity) -> float | None:
    """Look for an attribute that one side lacks in all that this side says.

    Where values stand under the wrong name, or in the name itself, they still agree. What is not
    found is missing, unless the other side says another time, telephone or year.
    """
    first = terms[0]
    if first.kind in (TermKind.LENGTH, TermKind.PHONE, TermKind.DATE):
        said = [other for other in others if other.kind is first.kind]
        return float(first in said) if said else None
    if len(terms) == 1 and _is_year(first):
        years = [other for other in others if _is_year(other)]
        return float(first in years) if years else None
    distinct = set(terms)
    elsewhere, _ = _elsewhere(list(distinct), others)
    whole = known.total(list(distinct))
    return 1.0 if whole and known.total(elsewhere) / whole >= FOUND_ELSEWHERE else None


_LEADING_NUMBER: Final = re.compile(r"\d+(?:\.\d+)?")


def _value(term: Term) -> float | None:
    if term.kind not in (TermKind.NUMBER, TermKind.MEASURE, TermKind.CODE):
        return None
    if term.kind is TermKind.CODE and not term.text.isdigit():
        return None
    number = _LEADING_NUMBER.match(term.text)
    return float(number[0]) if number else None


def _is_year(term: Term) -> bool:
    value = _value(term)
    return (
        term.kind is TermKind.NUMBER
        and value is not None
        and value.is_integer()
        and YEARS[0] <= value <= YEARS[1]
    )


def _near_numbers(a: float, b: float) -> float:
    if a == b:
        return 1.0
    if all(YEARS[0] <= year <= YEARS[1] and year.is_integer() for year in (a, b)):
        return 0.5 if abs(a - b) == 1 else 0.0  # published at the turn of a year
    return max(0.0, 1 - NUMBER_STEEPNESS * abs(a - b) / max(a, b))


# --- verdicts -------------------------------------------------------------------------------------


def compare(
    a: Description,
    b: Description,
    *,
    cosine: float = math.nan,
    background: TermRarity | None = None,
) -> Same:
    """Say whether two descriptions are of one thing.

    `cosine` is that of both names by the embedder that ships with the package; bare names need it
    for anything but the same name, and what is no number counts as 0. Symmetric.
    """
    if not (a.attributes or b.attributes):
        return _by_names(a, b, cosine=cosine)
    known = background if background is not None else TermRarity()
    evidence = _evidence(a, b, known)
    return _weighed(evidence, evidence.odds(known), known)


def compare_all(
    pairs: Sequence[tuple[Description, Description]], *, background: TermRarity
) -> list[Same]:
    """Compare candidate pairs that have attributes, in their order, each beside its rivals.

    A description whose better partner is among the pairs is the less likely to have another one,
    but it may: a list can hold one thing twice.
    """
    evidence = [_evidence(a, b, background) for a, b in pairs]
    odds = [pair_evidence.odds(background) for pair_evidence in evidence]
    best: dict[object, list[tuple[float, int]]] = {}  # the two best pairs of each description
    for number, (pair, value) in enumerate(zip(pairs, odds, strict=True)):
        for description in pair:
            held = best.setdefault(_key(description), [])
            held.append((value, number))
            held.sort(reverse=True)
            del held[2:]
    sames = []
    for number, (pair, value) in enumerate(zip(pairs, odds, strict=True)):
        rival = max(
            (
                most
                for description in pair
                for most, where in best[_key(description)]
                if where != number
            ),
            default=value,
        )
        lost = min(RIVAL, max(0.0, rival - value))
        sames.append(_weighed(evidence[number], value - lost, background))
    return sames


def _key(description: Description) -> object:
    return description.name, tuple(description.attributes.items())


def _weighed(evidence: _Evidence, odds: float, known: TermRarity) -> Same:
    agree = [name for name, level in evidence.levels.items() if level == AGREE]
    differ = [name for name, level in evidence.levels.items() if level == 0]
    why = f"The names are alike by {evidence.names:.2f}"
    why += f"; {', '.join(agree)} agree" if agree else ""
    why += f"; {', '.join(differ)} differ" if differ else ""
    why += f"; {evidence.clash}" if evidence.clash else ""
    verdict = SameEntityVerdict.DIFFERENT
    if odds > 0:
        sure = (
            odds >= MERGE_ODDS
            and evidence.names >= MERGE_NAMES
            and not evidence.clash
            and not evidence.doubted(known)
        )
        verdict = SameEntityVerdict.MERGE if sure else SameEntityVerdict.ASK
    return Same(verdict=verdict, score=round(_chance(odds), 4), why=why + ".")


def _by_names(a: Description, b: Description, *, cosine: float) -> Same:
    """Take the best verdict over all names of both."""
    sames = [
        _two_names(name_a, name_b, cosine=cosine)
        for name_a in (a.name, *a.aliases)
        for name_b in (b.name, *b.aliases)
    ]
    return max(sames, key=lambda same: same.score)


_SIGNS: Final = re.compile(r"[+#]+")


def _says(verdict: SameEntityVerdict, score: float, why: str) -> Same:
    return Same(verdict=verdict, score=score, why=why)


def _two_names(a: str, b: str, *, cosine: float) -> Same:
    first, second = entity_name(a), entity_name(b)
    if not first or not second:
        return _says(SameEntityVerdict.DIFFERENT, 0.0, "One of them has no name.")
    if first == second:
        return _says(SameEntityVerdict.MERGE, 1.0, "It is the same name.")
    terms_a = [term for term in terms_of(first) if term.text not in _ADDS_NOTHING]
    terms_b = [term for term in terms_of(second) if term.text not in _ADDS_NOTHING]
    if not terms_a or not terms_b:
        return _says(SameEntityVerdict.DIFFERENT, 0.0, "One of the names says nothing by itself.")
    if _SIGNS.findall(first) != _SIGNS.findall(second):
        return _says(
            SameEntityVerdict.DIFFERENT, 0.02, "The names differ in a sign, as C and C++ do."
        )
    if "".join(t.text for t in terms_a) == "".join(t.text for t in terms_b):
        return _says(
            SameEntityVerdict.MERGE, 0.98, "The names differ only in how they are written."
        )
    both = align(terms_a, terms_b)
    clash = _number_clash(both)
    if clash:
        return _says(SameEntityVerdict.DIFFERENT, 0.02, f"The names differ in a number: {clash}.")
    near_cosine = cosine if -1.01 <= cosine <= 1.01 else 0.0  # false for NaN too
    smaller = min(len(set(terms_a)), len(set(terms_b)))
    contained = sum(value for *_, value in both.shared if value > INITIAL_IS_NO_WORD) / smaller
    left = both.only_a or both.only_b
    longer = terms_a if both.only_a else terms_b
    one_sided = bool(left) and not (both.only_a and both.only_b)
    if one_sided and near_cosine >= MAKER_SIMILARITY and _maker_only(left, longer, both):
        return _says(SameEntityVerdict.MERGE, 0.9, "One name only says the maker of the model too.")
    if not left and near_cosine >= SPELLING_SIMILARITY and _slips(both):
        return _says(SameEntityVerdict.MERGE, 0.9, "The names differ only in spelling.")
    if contained < policy.SAME_NAME_TOKENS or near_cosine < policy.SAME_NAME_SIMILARITY:
        return _says(
            SameEntityVerdict.DIFFERENT,
            round(min(0.45, max(0.0, contained * near_cosine / 2)), 4),
            f"The names share {contained:.2f} of their words at a cosine of {near_cosine:.2f}.",
        )
    more = ", ".join(term.text for term in left)
    why = f"One name says more: {more}." if more else "The names are spelled otherwise."
    return _says(SameEntityVerdict.ASK, 0.6, why)


def _number_clash(both: Alignment) -> str:
    """Return the numbers in which two names differ; both must have one that the other lacks."""
    kinds = (TermKind.NUMBER, TermKind.MEASURE, TermKind.CODE, TermKind.DATE)
    only_a, only_b = _texts_of_kind(both.only_a, *kinds), _texts_of_kind(both.only_b, *kinds)
    if only_a and only_b:
        return f"{only_a[0]} and {only_b[0]}"
    # "Episode V" beside "Episode IV": such a letter is a numeral where the other has a number.
    for number, others in ((only_a, both.only_b), (only_b, both.only_a)):
        letters = [term.text for term in others if term.text in _LETTER_NUMERALS]
        if number and letters:
            return f"{number[0]} and {letters[0]}"
    # Another ending of a model number is another model, whatever a shop's catalogue may mean.
    for left, right, _ in both.shared:
        if left.kind is TermKind.CODE and left != right:
            return f"{left.text} and {right.text}"
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


def part_of(name: str, known: Sequence[str]) -> str | None:
    """Return the one known name that holds all words of a shorter one, in their order; else None.

    Whoever says "the LS50" or "the Denton" of what was just spoken of means that thing. The name
    without its number may be another thing ("python" and "python 3"). All names are canonical.
    """
    words = name.split()
    if len(words) > 1 and words[0] in _ARTICLES:
        words = words[1:]
    if not any(len(word) > 2 and not word.isdigit() for word in words):
        return None
    wholes = [
        whole for whole in known if len(whole.split()) > len(words) and _holds(whole.split(), words)
    ]
    if len(wholes) != 1:
        return None
    rest = wholes[0].split()[len(words) :]
    versions = wholes[0].split()[: len(words)] == words and any(
        char.isdigit() for word in rest for char in word
    )
    return None if versions else wholes[0]


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
    entities = sorted(set(known.values()))
    near = [math.nan if cosines is None else cosines.get(entity, math.nan) for entity in entities]
    match = best_match(name, entities, near)
    if match is None or match.verdict is not SameEntityVerdict.MERGE:
        return None
    return entities[match.index]


_OTHER_IN_PLURAL: Final = frozenset(
    [
        "arm",
        "beat",
        "custom",
        "door",
        "eagle",
        "good",
        "king",
        "mean",
        "queen",
        "stone",
        "time",
        "window",
    ]
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


_ARTICLES: Final = frozenset({"the", "a", "an", "my", "our", "this", "that"})


def _holds(words: Sequence[str], part: Sequence[str]) -> bool:
    size = len(part)
    return any(list(words[at : at + size]) == list(part) for at in range(len(words) - size + 1))


def best_match(
    name: str, known: Sequence[str | Description], cosines: Sequence[float] | None = None
) -> NameMatch | None:
    """Return which known thing a new name means or may mean; None where it is a new one.

    `cosines` are those of the name and each known name, in their order. Two that fit equally well
    cannot both be meant: then it is asked.
    """
    given = [math.nan] * len(known) if cosines is None else cosines
    new = Description(name=name)
    name_matches: list[NameMatch] = []
    for index, (candidate, cosine) in enumerate(zip(known, given, strict=True)):
        other = Description(name=candidate) if isinstance(candidate, str) else candidate
        same = _by_names(new, other, cosine=cosine)
        if same.verdict is not SameEntityVerdict.DIFFERENT:
            name_matches.append(
                NameMatch(index=index, verdict=same.verdict, score=same.score, why=same.why)
            )
    if not name_matches:
        return None
    best = max(name_matches, key=lambda match: match.score)
    if best.verdict is SameEntityVerdict.MERGE and best.score < 1.0:
        others = [
            name_match
            for name_match in name_matches
            if name_match.score >= best.score and name_match is not best
        ]
        if others:
            why = "Several known ones fit equally well."
            return replace(best, verdict=SameEntityVerdict.ASK, why=why)
    return best
