"""Tell whether words make a value a favorite, give it a rank, or put it on a list.

A rank alone says nothing: "I sold some SOL at the #3 exchange". A place is a rank or "favorite"
with the words around it, told of a value beside it ("BTC is my #1") or that somebody puts there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from factbook.extract.base import word_set
from factbook.extract.keyed.places import place_in
from factbook.extract.keyed.told import OWN, Told
from factbook.extract.keyed.wording import COUNT, FAVORITE, RANK, rank_value, stems_of
from factbook.model.keys import canonical_list_key

PLACING: Final = stems_of(
    "make put set rank place keep mark name choose pick want call add insert move shift bump"
    " promote demote push slot list have consider change update switch raise lower swap crown rate"
    " squeeze slip give include save store append count record drop replace like note go love enjoy"
    " prefer"
)
"""Verbs by which somebody puts something at a place, by their stems."""

_TAKING: Final = stems_of("be become go come move take get belong hold stay remain include")
_BESIDE: Final = word_set(
    "above below ahead behind before after between up down higher lower over under bottom end last"
)
_THEIRS: Final = word_set("your his her their its")
_LINKING: Final = word_set("as and one two some of among a an in at the by far")
_PLACE: Final = re.compile(
    rf"(?<![\w#])(?P<rank>{RANK})|\b{COUNT}|(?<!\w){FAVORITE}", re.IGNORECASE
)
_SURE: Final = re.compile(
    r"#|\btop\b|\b(?:number|no\.?|nr\.?|rank|position|place|spot|slot|uno|picks?|choices?)\b"
    rf"|{FAVORITE}",
    re.IGNORECASE,
)
_OF_PLACE: Final = ("ADJ", "ADP", "DET", "NOUN", "NUM", "PROPN", "SYM")
_JOINING: Final = ("ADV", "AUX", "INTJ", "PART", "PUNCT", "SYM")
_NUMBER: Final = re.compile(r"(?:(?:^|[\n,;:])\s*\(?|\s\(?)(\d{1,3})[.):]\s+\Z")
_IN_ORDER: Final = re.compile(r"\border\b|\brank(?:ed|ing)\b", re.IGNORECASE)
_MOST: Final = word_set("most best")
_SWAPPING: Final = stems_of("replace swap switch change")


class _Place(NamedTuple):
    """A rank or "favorite" with the words that belong to it."""

    words: Sequence[int]
    ranks: frozenset[int]
    mine: bool
    extra: bool  # it is the place of something that is no list: "the #3 exchange"


def placed(told: Told, rank: int) -> tuple[str, str]:
    """Return (why the place of a value is not meant, why it is not the rank that is asked)."""
    found, quoted = _place_of(told), repr(told.value_said)
    if found is None:
        why = f"the message does not say that {quoted} is a favorite or has a rank"
        return "", "" if _is_at(told, rank) else why
    word, ranks = found
    problem = told.unmeant(word)
    if rank in (ranks or {_number(told) or _counted(told)}):
        return problem, ""
    if not ranks:
        return problem, f"the message does not say that {quoted} is #{rank}"
    named = ", ".join(f"#{number}" for number in sorted(ranks)[:5])
    of = f" for {quoted}" if rank in told.heard.ranks else ""
    return problem, f"the message names {named} and not #{rank}{of}"


def added(told: Told) -> tuple[str, str]:
    """Return (why what puts a value on a list is not meant, why nothing does)."""
    found = _place_of(told)
    if found is not None:
        return told.unmeant(found[0]), ""
    for word in told.meant if told.about else ():
        for i in told.beside(word):
            listed = i in told.about and any(told.words[j] in OWN for j in told.beside(i))
            if _puts(told, i) or _takes(told, i, word) or listed:
                return told.unmeant(word) or told.unmeant(i), ""
    return "", f"the message does not put {told.value_said!r} on a list of favorites"


def _places(told: Told) -> Iterator[_Place]:
    """Yield every place of favorites that the message names, those told together as one."""
    groups: list[list[int]] = []
    for match in _PLACE.finditer(told.text):
        words = told.at(match.span())
        if not words or told.taken & {*words}:
            continue
        between = range(groups[-1][-1] + 1, words[0]) if groups else range(0)
        if groups and all(told.words[i] in ("and", "my") for i in between):
            groups[-1] = sorted({*groups[-1], *words})
        else:
            groups.append(_widened(told, words))
    for words in groups:
        place = _place(told, words)
        if place is not None:
            yield place


def _widened(told: Told, words: list[int]) -> list[int]:
    """Return the words of a place with whose it is, and with the noun that it is of."""
    first, last = words[0], words[-1]
    if first and told.words[first - 1] in OWN | _THEIRS:
        first -= 1
    for i, token in list(enumerate(told.tokens))[last + 1 :]:
        broken = "\n" in told.text[told.tokens[last].end : token.begin]
        ours = told.words[i] in OWN and told.tokens[last].pos == "ADP"
        if i in told.taken or not (token.pos in _OF_PLACE or ours) or broken:
            break
        last = i
    while last > words[-1] and told.tokens[last].pos in ("ADP", "DET"):
        last -= 1
    return list(range(first, last + 1))


def _place(told: Told, words: list[int]) -> _Place | None:
    """Return a place, or None where it is somebody else's or of no list: "second dog"."""
    first, text = words[0], told.text_of(words)
    genitive = first and told.tokens[first - 1].relation == "case"
    genitive = genitive and told.words[first - 1] in ("'s", "'")
    near = any(told.sentence(i) == told.sentence(first) for i in told.about)
    if told.words[first] in _THEIRS or genitive or not (near or _SURE.search(text)):
        return None
    place = place_in(text, [told.list_key or ""])
    extra = bool(place and place.topic and canonical_list_key(place.topic) != told.list_key)
    extra = extra or any(told.tokens[j].relation == "acl" for i in words for j in told.below[i])
    ranks = {rank_value(match["rank"]) for match in _PLACE.finditer(text) if match["rank"]}
    return _Place(words, frozenset(ranks), told.words[first] in OWN, extra)


def _place_of(told: Told) -> tuple[int, frozenset[int]] | None:
    """Return (the word that a place is told of, its ranks) for the nearest one, or None."""
    linked = [
        (gap, n, word, place.ranks)
        for n, place in enumerate(_places(told))
        for word in told.meant
        if (gap := _linked(told, word, place)) is not None
    ]
    return min(linked)[2:] if linked else None


def _linked(told: Told, word: int, place: _Place) -> int | None:
    """Return how far a place that is told of a word is from it, or None where it is not."""
    if place.extra and not place.mine:
        return None
    first, last = place.words[0], place.words[-1]
    between = range(word + 1, first) if word < first else range(last + 1, word)
    apart = sum(4 if told.tokens[i].pos in ("PUNCT", "CCONJ") else 1 for i in between)
    token = told.tokens[word]
    verb = next((i for i in told.way(word) if told.tokens[i].pos == "VERB"), None)
    puts = verb is not None and _puts(told, verb)
    if all(_joins(told, i, word, place) for i in between):
        stated = any(told.tokens[i].pos == "AUX" or told.stems[i] in _TAKING for i in between)
        other = token.head not in place.words and told.tokens[token.head].pos != "AUX"
        if other and not stated and first < word and token.relation in ("nsubj", "obj"):
            return None  # "BTC is my #1, SOL is dull"
        if stated or place.mine or verb is None or puts:
            return apart
    if token.relation == "nsubj" and token.head in place.words:
        return apart
    puts = puts or (verb is not None and _takes(told, verb, word))
    near = told.sentence(word) == told.sentence(first)
    return apart if puts and near and not place.extra else None


def _joins(told: Told, i: int, word: int, place: _Place) -> bool:
    """Say whether a word between a value and a place only joins them."""
    token = told.tokens[i]
    if token.pos in _JOINING:
        return token.text != "."
    group = told.siblings(word)
    linking = told.words[i] in _LINKING and not place.extra
    return linking or told.words[i] == "and" or i in group or told.stems[i] in _TAKING


def _puts(told: Told, verb: int) -> bool:
    does = told.tokens[verb].pos == "VERB" and told.stems[verb] in PLACING
    return does and told.requested(verb)


def _takes(told: Told, verb: int, word: int) -> bool:
    """Say whether a verb tells of the place that its subject takes: "BTC moves to #3"."""
    subject = word in told.below[verb] and told.tokens[word].relation == "nsubj"
    return subject and told.stems[verb] in _TAKING


def _number(told: Told) -> int | None:
    """Return the number that stands before the value in a list: "2. Alien"."""
    match = _NUMBER.search(told.text[: told.value.start]) if told.value else None
    return int(match[1]) if match else None


def _counted(told: Told) -> int:
    """Return which one the value is of several that are told one after another."""
    return told.siblings(told.own).index(told.own) + 1 if told.own is not None else 0


def _is_at(told: Told, rank: int) -> bool:
    """Say whether words put the value at a rank without naming it: a list, "most", "above BTC"."""
    if told.about and _IN_ORDER.search(told.text) and _counted(told) == rank:
        return True
    if _number(told) == rank and any(_places(told)):
        return True
    for i in (i for word in told.meant for i in told.way(word)):
        around = {told.words[j] for j in told.phrase(i)}
        moved = around & _BESIDE or (told.about and told.stems[i] in _SWAPPING)
        most = told.about and rank == 1 and around & _MOST
        if _puts(told, i) and (moved or most):
            return not told.unmeant(i)
    return False
