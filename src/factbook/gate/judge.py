"""Judge two claims: the same, the end of the older, a contradiction, unclear, or two matters.

The words of both texts are matched first: equal stems, synonyms, then more general words. What is
left over on either side decides. docs/judging.md tells every rule with examples and figures.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial
from itertools import combinations, product
from typing import Final

from factbook.gate import grammar, kin
from factbook.gate.given_up import given_up
from factbook.gate.lexicon import TENSES_APART, Tables, Tense, tables
from factbook.gate.reading import TextReading, read
from factbook.gate.related import proposed
from factbook.gate.slots import difference, elsewhere, of_a_series, one_date, one_thing, same_people
from factbook.language.reader.read import read as read_tree
from factbook.language.reader.relate import Relater
from factbook.language.words import stem, word_set
from factbook.model.facts import FactKind, Millis

__all__ = ["JudgedClaim", "Judgement", "Relation", "TextReading", "judge", "read"]

LEAST_SIMILARITY: Final = 0.35  # ours: below it no rule is tried; two texts share too little
SAME_WORDS_SIMILARITY: Final = 0.60  # ours: all content words are equal
MILD_SIMILARITY: Final = 0.75  # ours: one text has a light word that the other has not
REPEATED_SIMILARITY: Final = 0.85  # ours: one text says a word twice: two dogs, not one
SAME_FOREIGN_SIMILARITY: Final = 0.95  # ours: a language whose small words nobody here knows
OPPOSED_SIMILARITY: Final = 0.55  # ours: an opposite, and nothing else differs
DENIED_SIMILARITY: Final = 0.45  # ours: a denial of what the other text says
VALUE_SIMILARITY: Final = 0.40  # ours: another value in the same slot
SUSPICIOUS_SIMILARITY: Final = 0.85  # origins 001.4: where a contradiction is looked for
MOST_LEFT: Final = 12  # words that only one text has: with more on both sides they are two matters
MOST_PLACES: Final = 40  # shared words of which every pair and what stands between is compared
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


@dataclass(frozen=True, slots=True)
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

    `similarity` is the cosine of both texts by the embedder that ships with the package; no number
    counts as 0. A reading that is given must be `read` of that claim's text. `net` is asked where
    the words tell nothing (`gate.related`); of what it says only what `closest` allows is merged or
    retired: what has no nearer one in the memory. SAME and CONTRADICTION hold in both directions;
    SUPERSEDES only in the given one, and of two dated claims the newer one must be no earlier.
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
    judged = _FAR
    if old.foreign or new.foreign:
        judged = _foreign(old, new, similarity)
    elif similarity >= LEAST_SIMILARITY:
        judged = _by_words(old, new, similarity, newer.text)
    if judged.rule in _OPEN and (place := elsewhere(old, new)):
        judged = _conflict(new, "value", f"{place!r} is another place.")
    elif net is not None and _is_open(judged):
        told = proposed((older.text, old), (newer.text, new), similarity, net, closest)
        if told is not None and (judged.relation is Relation.DIFFERENT or told.relation == "same"):
            judged = Judgement(Relation(told.relation), told.rule, told.detail)
    return _in_time(older, newer, judged)


_OPEN: Final = frozenset(
    {"far", "other_subject", "other_words", "says_more", "value", "tense", "negation"}
)
"""Rules by which two texts only look like two matters: their words tell no more."""


def _is_open(judged: Judgement) -> bool:
    """Say whether the network may tell more than the words did: not of a denial that they found."""
    if judged.rule == "value":
        return True
    return judged.relation is Relation.DIFFERENT and judged.rule in _OPEN


def _over(older: TextReading, newer: TextReading, text: str) -> str:
    """Return what the newer text gives up of what is said of the same in the older; "" for none."""
    if not (newer.cues or newer.denies) or older.denies or older.tense is Tense.PAST:
        return ""
    if not older.cues.isdisjoint({"ended", "stopped"}):
        return ""  # it says itself that something is over
    if newer.first not in older.keys.union(newer.cue_keys) or not same_people(older, newer):
        return ""
    says = {*older.keys, *older.values}
    if says.isdisjoint({*newer.keys, *newer.values}):
        return ""  # what is given up is named; most pairs need no tree
    for given in given_up(read_tree(text)):
        left = says - given.keys - {*newer.keys, *newer.values}
        if not left.isdisjoint(grammar.PERSON_NOUNS):
            continue
        if given.keys <= says and sum(not tables().mild(key) for key in left) <= len(given.keys):
            return " ".join(key for key in newer.order if key in given.keys) or "a value"
    return ""


def _in_time(older: JudgedClaim, newer: JudgedClaim, judged: Judgement) -> Judgement:
    """Return the judgement, unless what was said before would end the other."""
    if (
        judged.relation is Relation.SUPERSEDES
        and older.occurred_at is not None
        and newer.occurred_at is not None
        and newer.occurred_at < older.occurred_at
    ):
        return _contradiction(judged.rule, f"{judged.detail}, but it was said before the other.")
    return judged


_contradiction: Final = partial(Judgement, Relation.CONTRADICTION)
_ambiguous: Final = partial(Judgement, Relation.AMBIGUOUS)
_different: Final = partial(Judgement, Relation.DIFFERENT)
_DIFFERENT_SUBJECT: Final = _different("subject", "They are about different subjects.")
_EQUAL_TEXT: Final = Judgement(Relation.SAME, "equal_text", "Both texts are equal.")
_EQUAL_FACT: Final = Judgement(Relation.SAME, "equal_fact", "Both are the same fact.")
_TOO_LONG: Final = _different("too_long", "A text is too long to be read as one claim.")
_FAR: Final = _different("far", "They share too little.")
_OTHER_SUBJECT: Final = _different("other_subject", "They are about someone else.")
_OTHER_WORDS: Final = _different("other_words", "They speak of different things.")
_OTHER_SLOT: Final = _different("other_slot", "They fill different slots.")
_OTHER_KIND: Final = _different("other_kind", "One is a keyed value, the other a statement.")
_OTHER_EVENT: Final = _different("other_event", "They are two observations.")


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
    key = older.predicate or "The key"
    return _contradiction("keyed_value", f"{key} cannot be both {first!r} and {second!r}.")


def _foreign(old: TextReading, new: TextReading, similarity: float) -> Judgement:
    """Judge texts whose grammar is unknown: the same only when every word is, in its place."""
    if (
        similarity >= SAME_FOREIGN_SIMILARITY
        and old.order
        and (old.order, old.written, old.values) == (new.order, new.written, new.values)
        and (old.negations, old.asks) == (new.negations, new.asks)
    ):
        return Judgement(Relation.SAME, "same_words", "Both texts have the same words.")
    if similarity >= SUSPICIOUS_SIMILARITY and old.values != new.values and old.values:
        return _ambiguous("foreign_value", "A number or a date differs.")
    return _different("foreign", "The language is not known well enough.")


class _Match:
    """What is left of two texts when the words that both have are taken away."""

    def __init__(self, old: TextReading, new: TextReading, table: Tables) -> None:
        sides = old.keys - new.keys, new.keys - old.keys
        # Content only, of the older and of the newer one; then light words that one alone has.
        self.left, self.right = ([key for key in side if not table.mild(key)] for side in sides)
        self.mild = [{key for key in side if table.mild(key)} - table.empty for side in sides]


def _by_words(old: TextReading, new: TextReading, similarity: float, text: str) -> Judgement:
    """Judge two English texts by what their words leave over; `text` is the newer one."""
    table = tables()
    if of_a_series(old, new):
        return _different("series", "They are about two of a series.")
    if over := _over(old, new, text):
        return Judgement(
            Relation.SUPERSEDES, "given_up", f"The newer one says that this is over: {over}."
        )
    match = _Match(old, new, table)
    if len(match.left) > MOST_LEFT and len(match.right) > MOST_LEFT:
        return _OTHER_WORDS
    if old.denies != new.denies:
        return _denial(old, new, similarity, table)
    clash = _opposed_direction(old, new, match, similarity, table) or _opposite(
        old, new, match, similarity
    )
    if clash is not None:
        return clash
    if old.values != new.values:
        return _other_value(old, new, match, similarity)
    if match.left and match.right:
        return _other_words(old, new, match, similarity)
    if blocked := _blocked(old, new, match):
        if blocked.relation is Relation.AMBIGUOUS and similarity < SUSPICIOUS_SIMILARITY:
            return replace(blocked, relation=Relation.DIFFERENT)
        return blocked
    if match.left or match.right:
        return _different("says_more", "One says more than the other.")
    least = SAME_WORDS_SIMILARITY
    if old.keys != new.keys:
        least = MILD_SIMILARITY
    elif len(old.order) != len(new.order):
        least = REPEATED_SIMILARITY
    if similarity < least:
        return _FAR
    return Judgement(Relation.SAME, "same_words", "Both texts have the same content words.")


def _denial(old: TextReading, new: TextReading, similarity: float, table: Tables) -> Judgement:
    """Judge two texts of which exactly one denies something."""
    denying, affirming = (old, new) if old.denies else (new, old)
    told = affirming.keys | denying.cue_keys  # "turns out I am not ..." denies no more than that
    open_keys = [key for key in denying.keys if not table.mild(key) and key not in told]
    values = all(value in affirming.values for value in denying.values)
    if affirming.owned and not grammar.PERSON_NOUNS.isdisjoint(affirming.keys - denying.keys):
        return _OTHER_SUBJECT
    gone, come = old.particles - new.particles, new.particles - old.particles
    if not table.opposed_prepositions.isdisjoint(product(gone, come)):
        return _different("denied_opposite", "One denies the opposite of the other.")
    if (
        not open_keys
        and values
        and similarity >= DENIED_SIMILARITY
        and denying.modals == affirming.modals
        and same_people(denying, affirming)
        and not (denying.asks or affirming.asks)
        and not _swapped(old, new)
    ):
        return _contradiction("negation", "One denies what the other one says.")
    if similarity >= SUSPICIOUS_SIMILARITY:
        return _ambiguous("negation", "One denies something close to what the other says.")
    return _different("negation", "One denies something else.")


_TASTES: Final = frozenset(
    map(stem, word_set("like love enjoy adore hate dislike detest loathe despise"))
)  # whoever does one of these to a thing does not do its opposite


def _opposite(
    old: TextReading, new: TextReading, match: _Match, similarity: float
) -> Judgement | None:
    """Judge texts that say of one thing what excludes each other: is hot, is cold."""
    if len(match.left) != 1 or len(match.right) != 1 or similarity < OPPOSED_SIMILARITY:
        return None
    x, y = match.left[0], match.right[0]
    said = (
        (old.be and new.be)
        and not (old.progressive or new.progressive)
        and (old.definite and new.definite)
        and x not in old.order[: old.hinge]
        and y not in new.order[: new.hinge]
    )
    if (
        kin.opposed(x, y)
        and (said or {x, y} <= _TASTES)
        and (old.values, old.modals) == (new.values, new.modals)
        and old.asks == new.asks
        and same_people(old, new)
    ):
        return _contradiction("opposite", f"{x!r} excludes {y!r}.")
    return None


def _opposed_direction(
    old: TextReading, new: TextReading, match: _Match, similarity: float, table: Tables
) -> Judgement | None:
    if old.particles == new.particles or match.left or match.right:
        return None
    gone, come = old.particles - new.particles, new.particles - old.particles
    for x, y in product(gone, come):
        if (x, y) in table.opposed_prepositions:
            clear = old.values == new.values and (old.definite or new.definite)
            made = _contradiction if clear and similarity >= OPPOSED_SIMILARITY else _ambiguous
            return made("direction", f"{x!r} stands against {y!r}.")
    return None


def _other_value(old: TextReading, new: TextReading, match: _Match, similarity: float) -> Judgement:
    """Judge texts whose numbers, amounts, dates or times differ."""
    gone, come = (difference(old.values, new.values), difference(new.values, old.values))
    detail = f"{' and '.join(gone) or 'no number'} against {' and '.join(come) or 'none'}."
    left = [key for key in match.left if key not in old.cue_keys]
    right = [key for key in match.right if key not in new.cue_keys]
    aligned = not left and not right and similarity >= VALUE_SIMILARITY
    if aligned and come and not gone and old.values and not new.cues.isdisjoint(_TURNED):
        return Judgement(Relation.SUPERSEDES, "value_changed", detail)
    if aligned and gone and come and old.modals == new.modals and same_people(old, new):
        dated = not old.dates.isdisjoint(gone) or not new.dates.isdisjoint(come)
        past = old.tense is new.tense is Tense.PAST
        event = past and not set(old.values) & set(new.values)
        counted = not dated and not event and old.definite and new.definite
        if counted or one_date(old, new):
            return _conflict(new, "date" if dated else "number", detail)
        if similarity >= SUSPICIOUS_SIMILARITY:
            return _ambiguous("value", detail)
    return _different("value", detail)


_TURNED: Final = frozenset({"switched", "moved"})  # "from 3.11 to 3.12" names both


def _conflict(newer: TextReading, rule: str, detail: str) -> Judgement:
    """Return a contradiction, or a supersession when the newer text says that things changed."""
    if newer.cues:
        return Judgement(Relation.SUPERSEDES, f"{rule}_changed", detail)
    return _contradiction(rule, detail)


def _other_words(old: TextReading, new: TextReading, match: _Match, similarity: float) -> Judgement:
    """Judge texts that each have a word that the other one lacks."""
    left = [key for key in old.order if key in match.left and key not in old.cue_keys]
    right = [key for key in new.order if key in match.right and key not in new.cue_keys]
    if not left or not right:
        return _OTHER_WORDS
    if similarity < VALUE_SIMILARITY:
        return _FAR
    if not any(grammar.PERSON_NOUNS.isdisjoint(side) for side in (left, right)):
        return _OTHER_SUBJECT
    if old.modals != new.modals or not same_people(old, new):
        return _OTHER_WORDS
    moved = "moved" in new.cues and old.keys & _LIVING
    if moved:
        left = [key for key in left if key not in _LIVING]
    if (
        0 < len(left) <= LONGEST_VALUE
        and 0 < len(right) <= LONGEST_VALUE
        and (one_thing(old, new, left, right) or (moved and old.first not in left))
    ):
        detail = f"{' '.join(left)!r} against {' '.join(right)!r} in the same place."
        return _conflict(new, "value", detail)
    if (
        similarity >= SUSPICIOUS_SIMILARITY
        and len(left) == len(right) == 1
        and len(old.keys & new.keys) > 1
        and old.definite
        and new.definite
        and Tense.PAST not in (old.tense, new.tense)
        and not (old.progressive or new.progressive)
        and old.first not in left
        and new.first not in right
    ):
        return _ambiguous("value", f"{left[0]!r} and {right[0]!r} may be two values of one thing.")
    return _OTHER_WORDS


_LIVING: Final = frozenset({"live", "resid", "dwell", "base", "home", "stay", "locat", "move"})


def _blocked(old: TextReading, new: TextReading, match: _Match) -> Judgement | None:
    """Return why two texts whose words match are not the same all the same; None if they are."""
    if old.asks != new.asks:
        return _different("question", "One is a question.")
    if old.modals != new.modals:
        return _ambiguous("modal", "One is possible, wished or due, the other is so.")
    if old.quantifiers != new.quantifiers:
        gone = old.quantifiers - new.quantifiers
        come = new.quantifiers - old.quantifiers
        for x, y in product(gone, come):
            if (x, y) in tables().quantifier_clashes:
                return _contradiction("quantifier", f"{x!r} against {y!r}.")
        if not (gone | come) <= grammar.MILD_QUANTIFIERS:
            return _ambiguous("quantifier", "They differ in how much or how often.")
    if not same_people(old, new):
        return _different("person", "They are about different persons.")
    if (old.tense, new.tense) in TENSES_APART:
        return _different("tense", "One was, the other is or will be.")
    if old.negations != new.negations:
        return _ambiguous("negation_scope", "One denies more than the other.")
    if old.negations and old.denied != new.denied:
        return _ambiguous("negation_scope", "They deny different things.")
    if old.names.difference(new.written) or new.names.difference(old.written):
        return _different("name", "A name differs.")
    gone, come = old.particles - new.particles, new.particles - old.particles
    if not gone.isdisjoint(_FIRM_ROLES) and not come.isdisjoint(_FIRM_ROLES):
        return _different("direction", "A preposition differs.")
    if match.mild[0] and match.mild[1]:
        return _different("other_words", "A word differs on either side.")
    if _bindings_differ(old, new):
        return _different("bound_value", "The numbers count different things.")
    if _swapped(old, new):
        return _different("roles", "Who does it to whom differs.")
    return None


def rebound(old: TextReading, new: TextReading) -> bool:
    """Say whether two texts bind words otherwise: numbers to things, or who does what to whom."""
    return _bindings_differ(old, new) or _swapped(old, new)


def _bindings_differ(old: TextReading, new: TextReading) -> bool:
    """Say whether two numbers changed places: 3 cats and 5 dogs, 5 cats and 3 dogs."""
    return len(old.bound) > 1 and (_rebound(old, new) or _rebound(new, old))


def _rebound(old: TextReading, new: TextReading) -> bool:
    values, words = dict(new.bound), {word: value for value, word in new.bound if word}
    return any(
        word and words.get(word, value) != value and values.get(value, word) != word
        for value, word in old.bound
    )


def _swapped(old: TextReading, new: TextReading) -> bool:
    """Say whether two words changed roles: "A sent B to C" and "C sent B to A"."""
    if bool(old.agent) != bool(new.agent):
        passive, active = (old, new) if old.agent else (new, old)
        order = [key for key, _ in active.frame]
        patient = passive.frame[0][0]
        if active.copular or passive.agent not in order or patient not in order:
            return False
        return order.index(patient) < order.index(passive.agent)
    if old.frame == new.frame:
        return False
    # a word that stands twice has its last place here, so the answer may depend on who asks
    return _exchanged(old, new) or _exchanged(new, old)


def _exchanged(old: TextReading, new: TextReading) -> bool:
    """Say whether two words of the first text stand in each other's place in the second."""
    places = {key: index for index, (key, _) in enumerate(old.frame)}
    others = {key: index for index, (key, _) in enumerate(new.frame)}
    shared = [key for key in places if key in others]
    if len(shared) > MOST_PLACES:
        return old.order != new.order
    first, second = dict(old.frame), dict(new.frame)
    moved = [key for key in shared if first[key] != second[key]]
    if any(first[key] in _FIRM_ROLES and second[key] in _FIRM_ROLES for key in moved):
        return True
    gained = any(not first[key] and second[key] in _LOOSE_ROLES for key in moved)
    lost = any(not second[key] and first[key] in _LOOSE_ROLES for key in moved)
    if gained and lost:
        return True
    if any(first[x] == second[y] and first[y] == second[x] for x, y in combinations(moved, 2)):
        return True
    core = [key for key in shared if not first[key] and not second[key]]
    for i, x in enumerate(core):
        for y in core[i + 2 :]:
            if others[x] > others[y] and any(
                places[x] < places[pivot] < places[y] and others[y] < others[pivot] < others[x]
                for pivot in shared
            ):
                return True
    return False


_FIRM_ROLES: Final = frozenset(
    {"from", "into", "out", "onto", "off", "before", "after", "under", "near", "far", "front",
     "behind", "ontop", "without", "against", "until", "since", "outside", "between"}
)  # fmt: skip
_LOOSE_ROLES: Final = _FIRM_ROLES | {"in", "to", "for", "with", "over", "through", "about", "than"}
