"""Say which claims hold one value at a time."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence, Set
from typing import Final

from factbook.gate.lexicon import tables
from factbook.gate.reading import TextReading, read
from factbook.gate.trees import tree_of
from factbook.language.words import stem, word_set

# Words that make a claim hold one thing at a time: a place, a name, a person.
_ONE_THING: Final = word_set("""
live reside dwell base home hometown work employ employer job profession occupation call name named
born birthplace marry married engaged wife husband spouse partner boss manager supervisor leader
dentist doctor therapist landlord bank owner address email phone password username theme language
currency timezone default status state
capital headquarters favourite favorite best main primary located locate location path directory
folder colour color title role position theme mode host branch version
""")
ONE_THING: Final = frozenset(map(stem, _ONE_THING))

# The same for a day, a month, a time of day.
_ONE_DATE: Final = word_set("""
born birthday birth deadline due start begin end finish close open expire expiry leave depart arrive
schedule release launch collect appointment anniversary renew marry wedding flight rent payday join
""")
ONE_DATE: Final = ONE_THING.union(map(stem, _ONE_DATE))

# The same where it is said in the passive: "logs are written to", "the project is led by".
STATED: Final = frozenset(
    map(stem, word_set("write store keep save set host deploy lead head own"))
)

# Of these, the ones that last even where they are said to be going on: "is living in".
LASTING: Final = frozenset(map(stem, word_set("live reside stay work employ listen lead")))
_SLOTS: Final = ONE_DATE | STATED | LASTING
_AT_A_PLACE: Final = frozenset(map(stem, word_set("live reside dwell work employ base locate")))
_PLACED: Final = frozenset({"in", "for", ""})

# Verbs that say where somebody lives or works; who joined Nordlys works for Fjordbank no more.
_PLACES: Final[Mapping[str, str]] = {
    **dict.fromkeys(map(stem, word_set("live reside dwell base home move relocate")), "home"),
    **dict.fromkeys(map(stem, word_set("work employ employer join")), "work"),
}
_JOIN: Final = stem("join")


def one_date(old: TextReading, new: TextReading) -> bool:
    """Say whether both texts date something definite that has one date."""
    if old.copular and new.copular and old.definite and new.definite:
        return True
    return _holds_one(old, new, ONE_DATE)


def one_thing(
    old: TextReading, new: TextReading, left: Sequence[str], right: Sequence[str]
) -> bool:
    """Say whether what is left of two texts are two values of a slot that holds one.

    It must stand where a value stands, after "is" or after the verb, with the same preposition: who
    or what the texts are about is no value.
    """
    if not _SLOTS.isdisjoint((*left, *right)):
        return False  # "lives in", "works in": what is said differs, and not what of
    if not _one_value(old, new, left, right):
        return False  # most pairs need no tree
    return _one_value(*_claimed(old, new), left, right)


def _one_value(
    old: TextReading, new: TextReading, left: Sequence[str], right: Sequence[str]
) -> bool:
    """Say the same of texts without who says what they claim."""
    first, second = _roles_of(old, left), _roles_of(new, right)
    somewhere = old.copular and new.copular and first == {"in"}
    if not somewhere and not _holds_one(old, new, ONE_THING):
        return False
    if _around(old, left) and _around(new, right):
        return False  # "Anna lives in Oslo": of whom it is said differs as well
    if first != second or "of" in first:
        return False
    if not _AT_A_PLACE.isdisjoint(old.keys & new.keys) and not first <= _PLACED:
        return False
    leading = [_leads(old, left), _leads(new, right)]
    if all(leading):  # "Rex is my dog" and "Luna is my dog": the same owner
        return "1" in old.persons and "1" in new.persons
    return (leading[0] or _follows(old, left)) and (leading[1] or _follows(new, right))


def of_a_series(old: TextReading, new: TextReading) -> bool:
    """Say whether both are about things that a number tells apart: widget 10, widget 11.

    "The" or "my" something is one thing all the same: "version 3 is the default". What a text
    claims may stand behind who says so: "the lease says that flat 3 ...".
    """
    if _series(old, new):
        return True
    if not (old.numbered - new.numbered and new.numbered - old.numbered):
        return False  # most pairs need no tree
    return _series(*_claimed(old, new))


def _claimed(old: TextReading, new: TextReading) -> tuple[TextReading, TextReading]:
    """Return the readings of what two texts claim, without who says so."""
    cuts = [tree_of(reading.text).claim() for reading in (old, new)]
    cut = max(cuts)
    if old.text[:cut] == new.text[:cut]:  # what is understood of one holds for the other
        cuts = [cut, cut]
    first, second = (
        read(reading.text[at:]) if at else reading
        for reading, at in zip((old, new), cuts, strict=True)
    )
    return first, second


def _series(old: TextReading, new: TextReading) -> bool:
    labels = old.label, new.label
    if not all(labels) or labels[0] == labels[1] or old.first != new.first:
        return False
    if old.keys != new.keys:
        return True
    rest = [difference(reading.values, [reading.label]) for reading in (old, new)]
    said_of_each = old.be and new.be and not _IDENTIFIES.search(new.normal)
    return rest[0] != rest[1] or said_of_each


_IDENTIFIES: Final = re.compile(r"\b(?:is|are|was|were) (?:the|my|our|your|their|his|her)\b")


def place_of(reading: TextReading) -> str:
    """Return what is said to be somewhere: "home", "work"; "" where a text begins otherwise."""
    for key in reading.order:
        if key in _PLACES or not (tables().mild(key) or key in reading.cue_keys):
            return _PLACES.get(key, "")
    return ""


def elsewhere(older: TextReading, newer: TextReading) -> str:
    """Return where somebody is now who was said to be in another place; "" for nothing of it.

    Both are named; no word need be shared: "I live in Oslo", "I moved to Bergen".
    """
    place = place_of(newer)
    if not place or place != place_of(older) or not same_people(older, newer):
        return ""
    if older.denies or newer.denies or older.asks or newer.asks or older.modals or newer.modals:
        return ""
    went = not newer.cues.isdisjoint({"moved", "now"}) or _JOIN in newer.keys
    was, come = _first_name(older), _first_name(newer)
    return come if was and was != come and (went or place == "home") else ""


def _first_name(reading: TextReading) -> str:
    placed = zip(reading.written, reading.roles, strict=True)
    return next((word for word, role in placed if word in reading.names and role in _AT), "")


_AT: Final = frozenset({"", "in", "for", "to"})


def _holds_one(old: TextReading, new: TextReading, words: Set[str]) -> bool:
    if not (old.definite and new.definite):
        return False
    if old.progressive or new.progressive:
        words = LASTING
    elif old.be and new.be:
        words = words | STATED
    return not (words.isdisjoint(old.keys) or words.isdisjoint(new.keys))


def _roles_of(reading: TextReading, keys: Sequence[str]) -> set[str]:
    return {role for key, role in zip(reading.order, reading.roles, strict=True) if key in keys}


def _follows(reading: TextReading, keys: Sequence[str]) -> bool:
    """Say whether keys stand in what is said of the subject, not in the subject."""
    return reading.first not in keys and not any(
        key in keys for key in reading.order[: reading.hinge]
    )


def _around(reading: TextReading, keys: Sequence[str]) -> bool:
    """Say whether keys stand on both sides of a word that makes a claim hold one thing."""
    placed = [at for at, key in enumerate(reading.order) if key in keys]
    between = reading.order[placed[0] : placed[-1]] if placed else ()
    return not ONE_THING.isdisjoint(between)


def _leads(reading: TextReading, keys: Sequence[str]) -> bool:
    """Say whether keys are all that stands before "is": "Rex is the name of my dog"."""
    before = reading.order[: reading.hinge]
    return reading.copular and not reading.owned and bool(before) and set(before) == set(keys)


def same_people(old: TextReading, new: TextReading) -> bool:
    """Say whether nothing tells that two texts are about different persons: I, he, she."""
    mine, theirs = old.persons & _FIRM, new.persons & _FIRM
    return mine <= theirs or theirs <= mine


_FIRM: Final = frozenset({"1", "he", "she"})  # "we" and "they" may hold either of these


def difference(values: Sequence[str], others: Sequence[str]) -> list[str]:
    """Return the values that the others do not hold, as often as they do not."""
    rest = list(others)
    missing = []
    for value in values:
        if value in rest:
            rest.remove(value)
        else:
            missing.append(value)
    return missing
