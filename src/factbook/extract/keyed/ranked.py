"""Tell whether words make a value a favorite, give it a rank, or put it on a list.

A rank alone says nothing: "I sold some SOL at the #3 exchange" puts SOL nowhere. A place is a rank or
"favorite" with the words around it, and it is told of a value that stands beside it ("BTC is my #1")
or that somebody puts there ("put BTC at #1").
"""  # noqa: E501

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Final, NamedTuple

from factbook.extract.keyed.places import place_in
from factbook.extract.keyed.told import OWN, SELF, Told, stems_of
from factbook.extract.keyed.wording import COUNT, FAVORITE, RANK, rank_value, words_of
from factbook.model.keys import canonical_list_key

__all__ = ["PLACING", "Placed"]

PLACING: Final = stems_of(
    "make put set rank place keep mark name choose pick want call add insert move shift bump"
    " promote demote push slot list have consider change update switch raise lower swap crown rate"
    " squeeze slip give include save store append count record drop replace like note go"
)
"""Verbs by which somebody puts something at a place, by their stems."""

_TAKING: Final = stems_of("be become go come move take get belong hold stay remain include")
_LIKING: Final = stems_of("like love enjoy adore prefer dig")
_BESIDE: Final = words_of(
    "above below ahead behind before after between up down higher lower over under bottom end last"
)
_THEIRS: Final = words_of("your his her their its")
_LINKING: Final = words_of("as one two some of among a an in at the by far")
_PLACE: Final = re.compile(
    rf"(?<![\w#])(?P<rank>{RANK})|\b{COUNT}|(?<!\w){FAVORITE}", re.IGNORECASE
)
_SURE: Final = re.compile(
    r"#|\btop\b|\b(?:number|no\.?|nr\.?|rank|position|place|spot|slot|uno|picks?|choices?)\b"
    rf"|{FAVORITE}",
    re.IGNORECASE,
)
_OF_PLACE: Final = ("ADJ", "ADP", "DET", "NOUN", "NUM", "PROPN", "SYM")
_NUMBER: Final = re.compile(r"(?:(?:^|[\n,;:])\s*\(?|\s\(?)(\d{1,3})[.):]\s+\Z")
_IN_ORDER: Final = re.compile(r"\border\b|\brank(?:ed|ing)\b|\bbest\s+to\s+worst\b", re.IGNORECASE)
_MOST: Final = words_of("most best")


class _Place(NamedTuple):
    """A rank or "favorite" with the words that belong to it."""

    words: Sequence[int]
    ranks: frozenset[int]
    mine: bool
    extra: bool  # it is the place of something that is no list: "the #3 exchange"


class Placed:
    """What a message says of the place of one value."""

    def __init__(self, told: Told) -> None:
        self.told = told
        self._taken = frozenset(told.at(told.value) if told.value else ())

    @cached_property
    def places(self) -> list[_Place]:
        """Every place of favorites that the message names, those that are told together as one."""
        told, groups = self.told, []  # type: ignore[var-annotated]
        for match in _PLACE.finditer(told.text):
            words = told.at(match.span())
            if words and not self._taken & {*words}:
                between = range(groups[-1][-1] + 1, words[0]) if groups else range(0)
                if groups and all(told.words[i] in ("and", "my") for i in between):
                    groups[-1] = sorted({*groups[-1], *words})
                else:
                    groups.append(self._widened(words))
        return [place for place in map(self._place, groups) if place is not None]

    def _widened(self, words: list[int]) -> list[int]:
        """Return the words of a place with whose it is, and with the noun that it is of."""
        told, first, last = self.told, words[0], words[-1]
        if first and told.words[first - 1] in OWN | _THEIRS:
            first -= 1
        for i, token in list(enumerate(told.tokens))[last + 1 :]:
            broken = "\n" in told.text[told.tokens[last].end : token.begin]
            ours = told.words[i] in OWN and told.tokens[last].pos == "ADP"
            if i in self._taken or not (token.pos in _OF_PLACE or ours) or broken:
                break
            last = i
        while last > words[-1] and told.tokens[last].pos in ("ADP", "DET"):
            last -= 1
        return list(range(first, last + 1))

    def _place(self, words: list[int]) -> _Place | None:
        """Return a place, or None where it is somebody else's or of no list: "second dog"."""
        told, first = self.told, words[0]
        text = told.text_of(words)
        before = told.words[first - 1] if first else ""
        genitive = first and told.tokens[first - 1].relation == "case" and before in ("'s", "'")
        near = any(told.sentence(i) == told.sentence(first) for i in told.about)
        if told.words[first] in _THEIRS or genitive or not (near or _SURE.search(text)):
            return None
        mine = told.words[first] in OWN
        place = place_in(text, [told.list_key or ""])
        named = canonical_list_key(place.topic) if place and place.topic else told.list_key
        extra = place is not None and named != told.list_key
        extra = extra or any(told.tokens[j].relation == "acl" for i in words for j in told.below[i])
        ranks = {rank_value(match["rank"]) for match in _PLACE.finditer(text) if match["rank"]}
        return _Place(words, frozenset(ranks), mine, extra)

    # --- what is told of the value ----------------------------------------------------------------

    @cached_property
    def here(self) -> tuple[_Place | None, str]:
        """The place that is told of the value, or None; and why it is not meant, or ""."""
        linked = [
            (gap, n, word, place)
            for n, place in enumerate(self.places)
            for word in self.told.meant
            if (gap := self._linked(word, place)) is not None
        ]
        if not linked:
            return None, ""
        _, _, word, place = min(linked)
        return place, self.told.unmeant(word)

    def _linked(self, word: int, place: _Place) -> int | None:
        """Return how far a place that is told of a word is from it, or None where it is not."""
        told = self.told
        if place.extra and not place.mine:
            return None
        first, last = place.words[0], place.words[-1]
        between = range(word + 1, first) if word < first else range(last + 1, word)
        apart = sum(4 if told.tokens[i].pos in ("PUNCT", "CCONJ") else 1 for i in between)
        group, token = told.siblings(word), told.tokens[word]
        if all(self._joins(i, group, place) for i in between):
            stated = any(told.tokens[i].pos == "AUX" or told.stems[i] in _TAKING for i in between)
            other = token.head not in place.words and told.tokens[token.head].pos != "AUX"
            if other and not stated and first < word and token.relation in ("nsubj", "obj"):
                return None  # "BTC is my #1, SOL is dull"
            verb = next((i for i in told.up(word) if told.tokens[i].pos == "VERB"), None)
            if stated or place.mine or verb is None or self._puts(verb):
                return apart
        if token.relation == "nsubj" and token.head in place.words:
            return apart
        verb = next((i for i in told.up(word) if told.stems[i] in PLACING | _TAKING), None)
        puts = verb is not None and (self._puts(verb) or self._takes(verb, word))
        near = told.sentence(word) == told.sentence(first)
        return apart if puts and near and not place.extra else None

    def _joins(self, i: int, group: Sequence[int], place: _Place) -> bool:
        """Say whether a word between a value and a place only joins them."""
        told, token = self.told, self.told.tokens[i]
        if token.pos in ("AUX", "ADV", "CCONJ", "INTJ", "SYM", "PART"):
            return True
        of_group = token.relation in ("compound", "flat") and not {*told.up(i)}.isdisjoint(group)
        linking = told.words[i] in _LINKING and not place.extra
        linking = linking or told.stems[i] in _TAKING
        return of_group or linking or i in group or (token.pos == "PUNCT" and token.text != ".")

    def _puts(self, verb: int) -> bool:
        """Say whether a verb has its writer put something somewhere."""
        return self.told.stems[verb] in PLACING and self.told.requested(verb)

    def _takes(self, verb: int, word: int) -> bool:
        """Say whether a verb tells of the place that its subject takes: "BTC moves to #3"."""
        return self.told.does(word, verb) and self.told.stems[verb] in _TAKING

    # --- what else may be asked -------------------------------------------------------------------

    def number(self) -> int | None:
        """Return the number that stands before the value in a list: "2. Alien"."""
        told = self.told
        match = _NUMBER.search(told.text[: told.value.start]) if told.value else None
        return int(match[1]) if match else None

    def counted(self) -> int:
        """Return which one the value is of several that are told one after another."""
        told = self.told
        return told.siblings(told.own).index(told.own) + 1 if told.own is not None else 0

    def is_at(self, rank: int) -> bool:
        """Say whether words put the value at a rank that they do not name beside it.

        In a list ("2. Alien", "in order: BTC, ETH"), above all others ("I like BTC most"), or at a
        rank that only the list tells ("put ETH above BTC").
        """
        told = self.told
        ordered = told.about and _IN_ORDER.search(told.text) and self.counted() == rank
        if ordered or (self.number() == rank and self.places):
            return True
        most = any({told.words[j] for j in told.below[i]} & _MOST for i in self._likes())
        return bool(told.named and most and rank == 1) or self._relative()

    def _likes(self) -> Iterator[int]:
        told = self.told
        for i in (i for word in told.meant for i in told.up(word)):
            if told.stems[i] in _LIKING and told.subject(i) in SELF:
                yield i

    def _relative(self) -> bool:
        told = self.told
        for i in (i for word in told.meant for i in told.up(word)):
            beside = {told.words[j] for j in told.under(i)} & _BESIDE
            swapped = told.stems[i] in ("replac", "swap", "switch", "chang") and told.about
            if self._puts(i) and (beside or swapped):
                return not told.unmeant(i)
        return False

    def added(self) -> str | None:
        """Return why the value is put on no list, "" for no reason at all; None where it is."""
        told, (place, problem) = self.told, self.here
        if place is not None:
            return problem or None
        for word in told.meant if told.about else ():
            for i in told.up(word):
                puts = self._puts(i) or self._takes(i, word)
                if puts or i in (*self._likes(), *told.about):
                    return told.unmeant(i) or told.unmeant(word) or None
        return ""
