"""Judge two claims: the same, the end of the older, a contradiction, unclear, or two matters.

Knows: two claims, what `reading` found in them, and their cosine. Does not know: the store, other
facts, confidence, what follows from a judgement. Pure, with no input and output.

The words of both texts are matched first: equal stems, synonyms, then more general words. What is
left over on either side decides. docs/judging.md tells every rule with examples and figures.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass
from enum import StrEnum
from itertools import combinations, product
from typing import Final

from factbook.gate import grammar, kin
from factbook.gate.given_up import given_up
from factbook.gate.lexicon import Tense, tables
from factbook.gate.reading import TextReading, read
from factbook.gate.related import proposed
from factbook.gate.slots import difference, elsewhere, of_a_series, one_date, one_thing, same_people
from factbook.language.reader.read import read as read_tree
from factbook.language.reader.relate import Relater
from factbook.language.words import stem
from factbook.model.facts import FactKind, Millis

__all__ = ["JudgedClaim", "Judgement", "Relation", "TextReading", "judge", "read"]

LEAST_SIMILARITY: Final = 0.35  # ours: below it no rule is tried; two texts share too little
SAME_WORDS_SIMILARITY: Final = 0.60  # ours: all content words are equal
MILD_SIMILARITY: Final = 0.75  # ours: one text has a light word that the other has not
SAME_FOREIGN_SIMILARITY: Final = 0.95  # ours: a language whose small words nobody here knows
OPPOSED_SIMILARITY: Final = 0.55  # ours: an opposite, and nothing else differs
DENIED_SIMILARITY: Final = 0.45  # ours: a denial of what the other text says
SUSPICIOUS_SIMILARITY: Final = 0.85  # ours: of these only one denies something: never the same
VALUE_SIMILARITY: Final = 0.40  # ours: another value in the same slot
MOST_PLACES: Final = 40  # words of which every pair and what stands between is compared
LONGEST_VALUE: Final = 3  # words of a name or a thing that stands in a slot


class Relation(StrEnum):
    """Say how a newer claim stands to an older one."""

    SAME = "same"  # both say the same and may be merged
    SUPERSEDES = "supersedes"  # the newer says that the older has ended
    CONTRADICTION = "contradiction"  # both cannot be true at one time
    AMBIGUOUS = "ambiguous"  # close and suspicious; no rule can tell
    DIFFERENT = "different"  # two matters


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedClaim:
    """What is judged of a fact."""

    text: str  # the statement
    subject: str = ""  # the owner, action_<uuid>, an entity; "" when unknown
    predicate: str = ""  # states, about, user.favorites.crypto.1, ...
    object: str = ""
    kind: FactKind = FactKind.STATEMENT
    occurred_at: Millis | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """How two claims stand to each other, and by which rule."""

    relation: Relation
    rule: str  # the rule's name, one of docs/judging.md
    detail: str  # one sentence for a person


def judge(
    older: JudgedClaim,
    newer: JudgedClaim,
    *,
    similarity: float,
    older_reading: TextReading | None = None,
    newer_reading: TextReading | None = None,
    net: Relater | None = None,
    closest: Callable[[], bool] | None = None,
) -> Judgement:
    """Say how the newer claim stands to the older one.

    `similarity` is the cosine of both texts by the embedder that ships with the package; what is no
    number counts as 0. A reading that is given must be `read` of that claim's text. `net` is asked
    where the words tell nothing (`gate.related`); without it they are two matters then. Of what
    it says only what `closest` allows is merged or retired: what has no nearer one in the memory.
    SAME and CONTRADICTION hold in both directions; SUPERSEDES only in the given one, and where both
    claims are dated it needs the newer one to be no earlier.
    """
    if older.subject and newer.subject and older.subject != newer.subject:
        return _DIFFERENT_SUBJECT
    if FactKind.OBSERVATION in (older.kind, newer.kind):
        return _observed(older, newer)
    if FactKind.KEYED in (older.kind, newer.kind):
        return _keyed(older, newer)
    if not -1.01 <= similarity <= 1.01:  # also false for NaN
        similarity = 0.0
    old = older_reading if older_reading is not None else read(older.text)
    new = newer_reading if newer_reading is not None else read(newer.text)
    if old.normal == new.normal:
        return _EQUAL_TEXT
    if old.cut or new.cut:
        return _TOO_LONG
    judged = _FAR if similarity < LEAST_SIMILARITY else _by_words(old, new, similarity, newer.text)
    if judged.rule in _OPEN and (place := elsewhere(old, new)):
        judged = _conflict(new, "value", f"{place!r} is another place.")
    untold = judged.relation is Relation.DIFFERENT and judged.rule in _OPEN
    if net is not None and (untold or judged.rule == "value"):
        told = proposed((older.text, old), (newer.text, new), similarity, net, closest)
        if told is not None and (untold or told.relation == "same"):
            judged = _fixed(Relation(told.relation), told.rule, told.detail)
    return _in_time(older, newer, judged)


_OPEN: Final = frozenset(
    {"far", "other_subject", "other_words", "says_more", "value", "tense", "negation"}
)
"""Rules by which two texts only look like two matters: their words tell no more.

Of two values in one slot the network may still say that both say the same.
"""


def _in_time(older: JudgedClaim, newer: JudgedClaim, judged: Judgement) -> Judgement:
    """Return the judgement; what was said before cannot say that the other has ended."""
    if (
        judged.relation is Relation.SUPERSEDES
        and older.occurred_at is not None
        and newer.occurred_at is not None
        and newer.occurred_at < older.occurred_at
    ):
        return Judgement(
            relation=Relation.CONTRADICTION,
            rule=judged.rule,
            detail=f"{judged.detail}, but it was said before the other.",
        )
    return judged


# ------------------------------------------------------------------ by their fields


def _fixed(relation: Relation, rule: str, detail: str) -> Judgement:
    return Judgement(relation=relation, rule=rule, detail=detail)


_DIFFERENT_SUBJECT: Final = _fixed(
    Relation.DIFFERENT, "subject", "They are about different subjects."
)
_EQUAL_TEXT: Final = _fixed(Relation.SAME, "equal_text", "Both texts are equal.")
_EQUAL_FACT: Final = _fixed(Relation.SAME, "equal_fact", "Both are the same fact.")
_TOO_LONG: Final = _fixed(
    Relation.DIFFERENT, "too_long", "A text is too long to be read as one claim."
)
_FAR: Final = _fixed(Relation.DIFFERENT, "far", "They share too little.")
_OTHER_SUBJECT: Final = _fixed(Relation.DIFFERENT, "other_subject", "They are about someone else.")
_OTHER_WORDS: Final = _fixed(Relation.DIFFERENT, "other_words", "They speak of different things.")
_OTHER_VALUE: Final = _fixed(Relation.DIFFERENT, "value", "Their numbers or dates differ.")
_OTHER_SLOT: Final = _fixed(Relation.DIFFERENT, "other_slot", "They fill different slots.")
_OTHER_KIND: Final = _fixed(
    Relation.DIFFERENT, "other_kind", "One is a keyed value, the other a statement."
)
_OTHER_EVENT: Final = _fixed(Relation.DIFFERENT, "other_event", "They are two observations.")


def _observed(older: JudgedClaim, newer: JudgedClaim) -> Judgement:
    """Judge observations: what happened never contradicts that something else happened too."""
    equal = (
        older.kind is newer.kind
        and (older.predicate, older.object) == (newer.predicate, newer.object)
        and older.subject == newer.subject
        and (older.object != "" or older.text == newer.text)
    )
    return _EQUAL_FACT if equal else _OTHER_EVENT


def _keyed(older: JudgedClaim, newer: JudgedClaim) -> Judgement:
    """Judge values with a key: a key holds one value."""
    if older.kind is not newer.kind:
        return _OTHER_KIND
    if older.predicate != newer.predicate:
        return _OTHER_SLOT
    first, second = older.object or older.text, newer.object or newer.text
    if " ".join(first.split()) == " ".join(second.split()):
        return _EQUAL_FACT
    detail = f"{older.predicate or 'The key'} cannot be both {first!r} and {second!r}."
    return _fixed(Relation.CONTRADICTION, "keyed_value", detail)


# ------------------------------------------------------------------ by their words


def _by_words(old: TextReading, new: TextReading, similarity: float, text: str) -> Judgement:
    """Judge two texts by what their words leave over; `text` is the newer one."""
    if old.foreign or new.foreign:
        return _foreign(old, new, similarity)
    if of_a_series(old, new):
        return _fixed(Relation.DIFFERENT, "series", "They are about two of a series.")
    if over := _over(old, new, text):
        detail = f"The newer one says that this is over: {over}."
        return _fixed(Relation.SUPERSEDES, "given_up", detail)
    mild = tables().mild
    left = [key for key in old.order if key not in new.keys and not mild(key)]
    right = [key for key in new.order if key not in old.keys and not mild(key)]
    if old.denies != new.denies:
        return _denial(*((old, new) if old.denies else (new, old)), similarity)
    if why := _excluded(old, new, left, right, similarity):
        return _fixed(Relation.CONTRADICTION, "opposite", why)
    if old.values != new.values or (left and right):
        said = [key for key in left if key not in old.cue_keys]
        says = [key for key in right if key not in new.cue_keys]
        alike = old.modals == new.modals and same_people(old, new)
        if similarity < VALUE_SIMILARITY or not alike:
            return _OTHER_WORDS if old.values == new.values else _OTHER_VALUE
        if old.values != new.values:
            return _other_value(old, new, said, says)
        return _other_words(old, new, said, says)
    if left or right:
        return _fixed(Relation.DIFFERENT, "says_more", "One says more than the other.")
    for rule, apart, detail in _APART:
        if apart(old, new):
            return _fixed(Relation.DIFFERENT, rule, detail)
    if similarity < (SAME_WORDS_SIMILARITY if old.keys == new.keys else MILD_SIMILARITY):
        return _FAR
    return _fixed(Relation.SAME, "same_words", "Both texts have the same content words.")


def _foreign(old: TextReading, new: TextReading, similarity: float) -> Judgement:
    """Judge texts whose grammar is unknown: the same only when every word is, in its place."""
    exact = ("order", "written", "values", "negations", "asks")
    equal = all(getattr(old, name) == getattr(new, name) for name in exact)
    if equal and old.order and similarity >= SAME_FOREIGN_SIMILARITY:
        return _fixed(Relation.SAME, "same_words", "Both texts have the same words.")
    return _fixed(Relation.DIFFERENT, "foreign", "The language is not known well enough.")


def _over(older: TextReading, newer: TextReading, text: str) -> str:
    """Return what the newer text gives up of what the older one says; "" for nothing.

    Who or what it is said of must be the same, and of the older one hardly more may be left.
    """
    if not (newer.cues or newer.denies) or older.denies or older.tense is Tense.PAST:
        return ""
    if not older.cues.isdisjoint({"ended", "stopped"}):
        return ""  # it says itself that something is over
    if newer.first not in older.keys.union(newer.cue_keys) or not same_people(older, newer):
        return ""
    says, said = {*older.keys, *older.values}, {*newer.keys, *newer.values}
    if says.isdisjoint(said):
        return ""  # what is given up is named; most pairs need no tree
    for given in given_up(read_tree(text)):
        left = says - given.keys - said
        if not left.isdisjoint(grammar.PERSON_NOUNS):
            continue
        if given.keys <= says and sum(not tables().mild(key) for key in left) <= len(given.keys):
            return " ".join(key for key in newer.order if key in given.keys) or "a value"
    return ""


def _denial(denying: TextReading, affirming: TextReading, similarity: float) -> Judgement:
    """Judge two texts of which exactly one denies something: all that it denies must be said."""
    open_keys = [key for key in denying.keys - affirming.keys if not tables().mild(key)]
    if (
        not open_keys
        and set(denying.values) <= set(affirming.values)
        and similarity >= DENIED_SIMILARITY
        and denying.modals == affirming.modals
        and same_people(denying, affirming)
        and not (denying.asks or affirming.asks)
        and not (affirming.persons and grammar.PERSON_NOUNS & (affirming.keys - denying.keys))
        and not _opposed_ways(denying, affirming)  # "not on" is "off"
        and not _swapped(denying, affirming)
    ):
        return _fixed(Relation.CONTRADICTION, "negation", "One denies what the other one says.")
    rule = "negation" if similarity < SUSPICIOUS_SIMILARITY else "denied"
    return _fixed(Relation.DIFFERENT, rule, "One denies something else.")


_TASTES: Final = frozenset(
    map(stem, grammar.words("like love enjoy adore hate dislike detest loathe despise"))
)  # whoever does one of these to a thing does not do its opposite


def _opposed_ways(old: TextReading, new: TextReading) -> bool:
    """Say whether a preposition of one stands against one of the other: before, after."""
    gone, come = old.particles - new.particles, new.particles - old.particles
    return not tables().opposed_prepositions.isdisjoint(product(gone, come))


def _excluded(
    old: TextReading,
    new: TextReading,
    left: Sequence[str],
    right: Sequence[str],
    similarity: float,
) -> str:
    """Say what excludes each other in texts that are otherwise alike: is hot, is cold."""
    named = old.definite and new.definite
    alike = (old.values, old.modals, old.asks) == (new.values, new.modals, new.asks)
    if not (alike and named and same_people(old, new)) or similarity < OPPOSED_SIMILARITY:
        return ""
    if not left and not right:
        amounts = product(old.quantifiers - new.quantifiers, new.quantifiers - old.quantifiers)
        clash = not tables().quantifier_clashes.isdisjoint(amounts)
        return "One says the opposite of the other." if clash or _opposed_ways(old, new) else ""
    states = old.be and new.be and not (old.progressive or new.progressive)
    opposed = len(left) == len(right) == 1 and kin.opposed(left[0], right[0])
    if opposed and (states or {*left, *right} <= _TASTES):
        return f"{left[0]!r} excludes {right[0]!r}."
    return ""


def _other_value(
    old: TextReading, new: TextReading, left: Sequence[str], right: Sequence[str]
) -> Judgement:
    """Judge texts whose numbers, amounts, dates or times differ; what else does is given."""
    gone, come = difference(old.values, new.values), difference(new.values, old.values)
    if left or right or not come or not old.values:
        return _OTHER_VALUE
    detail = f"{' and '.join(gone) or 'no number'} against {' and '.join(come)}."
    if not gone:  # "from 3.11 to 3.12" names both
        turned = not new.cues.isdisjoint({"switched", "moved"})
        return _conflict(new, "value", detail) if turned else _OTHER_VALUE
    dated = not old.dates.isdisjoint(gone) or not new.dates.isdisjoint(come)
    event = old.tense is new.tense is Tense.PAST and set(old.values).isdisjoint(new.values)
    if one_date(old, new) or (old.definite and new.definite and not dated and not event):
        return _conflict(new, "date" if dated else "number", detail)
    return _OTHER_VALUE


def _conflict(newer: TextReading, rule: str, detail: str) -> Judgement:
    """Return a contradiction, or a supersession when the newer text says that things changed."""
    if newer.cues:
        return _fixed(Relation.SUPERSEDES, f"{rule}_changed", detail)
    return _fixed(Relation.CONTRADICTION, rule, detail)


def _other_words(
    old: TextReading, new: TextReading, left: Sequence[str], right: Sequence[str]
) -> Judgement:
    """Judge texts that each have words that the other one lacks."""
    if not all(0 < len(side) <= LONGEST_VALUE for side in (left, right)):
        return _OTHER_WORDS
    if all(not grammar.PERSON_NOUNS.isdisjoint(side) for side in (left, right)):
        return _OTHER_SUBJECT
    if one_thing(old, new, left, right):
        detail = f"{' '.join(left)!r} against {' '.join(right)!r} in the same place."
        return _conflict(new, "value", detail)
    return _OTHER_WORDS


# ------------------------------------------------------------------ what forbids a merge


def _rebound(old: TextReading, new: TextReading) -> bool:
    """Say whether numbers changed places: 3 cats and 5 dogs, 5 cats and 3 dogs."""
    values, words = dict(new.bound), {word: value for value, word in new.bound if word}
    return any(
        word and words.get(word, value) != value and values.get(value, word) != word
        for value, word in old.bound
    )


def _swapped(old: TextReading, new: TextReading) -> bool:
    """Say whether two words changed roles: "A sent B to C" and "C sent B to A"."""
    if bool(old.agent) != bool(new.agent):
        passive, active = (old, new) if old.agent else (new, old)
        order, patient = [key for key, _ in active.frame], passive.frame[0][0]
        if active.copular or passive.agent not in order or patient not in order:
            return False
        return order.index(patient) < order.index(passive.agent)
    # a word that stands twice has its last place here, so the answer may depend on who asks
    return old.frame != new.frame and (_exchanged(old, new) or _exchanged(new, old))


def _exchanged(old: TextReading, new: TextReading) -> bool:
    """Say whether two words of the first text stand in each other's place in the second."""
    one, other = dict(old.frame), dict(new.frame)
    moved = {(one[key], other[key]) for key in one if key in other and one[key] != other[key]}
    if any((role, was) in moved for was, role in moved):
        return True
    # what does it, and to what, with a word between them: "Ann hired Ben", "Ben hired Ann"
    places = {key: place for place, key in enumerate(other)}
    order = [key for key in one if key in other]
    core = [key for key in order if not one[key] and not other[key]]
    return any(
        places[y] < places[between] < places[x]
        for x, y in combinations(core[:MOST_PLACES], 2)
        for between in order[order.index(x) + 1 : order.index(y)]
    )


_FIRM: Final = frozenset(
    {"from", "into", "out", "onto", "off", "before", "after", "under", "near", "far", "front",
     "behind", "ontop", "without", "against", "until", "since", "outside", "between"}
)  # fmt: skip
_TENSES_APART: Final = (
    {Tense.PAST, Tense.PRESENT},
    {Tense.PAST, Tense.FUTURE},
    {Tense.PERFECT, Tense.FUTURE},
)
_APART: Final[Sequence[tuple[str, Callable[[TextReading, TextReading], bool], str]]] = (
    ("question", lambda a, b: a.asks != b.asks, "One is a question."),
    (
        "modal",
        lambda a, b: a.modals != b.modals,
        "One is possible, wished or due, the other is so.",
    ),
    (
        "quantifier",
        lambda a, b: not (a.quantifiers ^ b.quantifiers) <= grammar.MILD_QUANTIFIERS,
        "They differ in how much or how often.",
    ),
    ("person", lambda a, b: not same_people(a, b), "They are about different persons."),
    (
        "tense",
        lambda a, b: {a.tense, b.tense} in _TENSES_APART,
        "One was, the other is or will be.",
    ),
    (
        "negation_scope",
        lambda a, b: a.denies and (a.negations, a.denied) != (b.negations, b.denied),
        "They deny different things.",
    ),
    (
        "name",
        lambda a, b: bool(a.names.difference(b.written) or b.names.difference(a.written)),
        "A name differs.",
    ),
    (
        "direction",
        lambda a, b: (
            not (
                _FIRM.isdisjoint(a.particles - b.particles)
                or _FIRM.isdisjoint(b.particles - a.particles)
            )
        ),
        "A preposition differs.",
    ),
    (
        "other_words",
        lambda a, b: bool(_told(a.keys - b.keys) and _told(b.keys - a.keys)),
        "A word differs on either side.",
    ),
    (
        "bound_value",
        lambda a, b: len(a.bound) > 1 and (_rebound(a, b) or _rebound(b, a)),
        "The numbers count different things.",
    ),
    ("roles", _swapped, "Who does it to whom differs."),
)
"""What tells two texts of the same words apart: a rule's name, its test, and what it says."""


def _told(keys: Set[str]) -> Set[str]:
    return keys - tables().empty
