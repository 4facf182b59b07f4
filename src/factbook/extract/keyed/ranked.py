"""Tell whether words make a value a favorite, give it a rank, or put it on a list.

A rank alone says nothing: "I sold some SOL at the #3 exchange" puts SOL nowhere. A place is a rank or
"favorite" with the words around it, and it is told of a value that stands beside it ("BTC is my #1")
or that somebody puts there ("put BTC at #1").
"""  # noqa: E501

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from factbook.extract.keyed.told import OWN, Told, stems_of
from factbook.extract.keyed.wording import COUNT, FAVORITE, RANK, rank_value, words_of

__all__ = ["PICK", "PLACING", "Placed"]

PLACING: Final = stems_of(
    "make put set rank place keep mark name choose pick want call add insert move shift bump"
    " promote demote push slot list have consider change update switch raise lower swap crown rate"
    " give include save store append count record drop replace like note go"
)
"""Verbs by which somebody puts something at a place, by their stems."""

_TAKING: Final = stems_of("be come go move take get belong hold stay become")
_LIKING: Final = stems_of("like love enjoy adore prefer dig")
_INCLUDING: Final = stems_of("include become remain stay come go")
_BESIDE: Final = words_of(
    "above below ahead behind before after between up down higher lower over under"
)
_ENDS: Final = words_of("bottom end last")
_THEIRS: Final = words_of("your his her their its")
PICK: Final = words_of(
    "pick picks choice choices spot position place slot entry item number one ones thing things"
)
_LINKING: Final = words_of("as one two some of among a an in at the by far")
_OURS: Final = OWN | words_of("me us all mine")
_NO_RANK: Final = 8  # words that a place without a number counts as farther away
_PLACE: Final = re.compile(
    rf"(?<![\w#])(?P<rank>{RANK})|\b{COUNT}|(?<!\w){FAVORITE}",
    re.IGNORECASE,
)
_SURE: Final = re.compile(
    r"#|\btop\b|\b(?:number|no\.?|nr\.?|rank|position|place|spot|slot|uno|picks?|choices?)\b",
    re.IGNORECASE,
)
_NUMBER: Final = re.compile(r"(?:(?:^|[\n,;:])\s*\(?|\s\(?)(\d{1,3})[.):]\s+\Z")
_IN_ORDER: Final = re.compile(r"\border\b|\brank(?:ed|ing)\b|\bbest\s+to\s+worst\b", re.IGNORECASE)
_MOST: Final = words_of("most best")


@dataclass(frozen=True, slots=True)
class _Place:
    """A rank or "favorite" with the words that belong to it."""

    words: list[int]
    ranks: frozenset[int]
    owner: str  # "me", "other", or "" where nobody is named
    extra: bool  # it is the place of something that is no list: "the #3 exchange"
    sure: bool  # it is about favorites: "my second dog" is not


class Placed:
    """What a message says of the place of one value."""

    def __init__(self, told: Told) -> None:
        self.told = told

    @cached_property
    def places(self) -> list[_Place]:
        """Every place that the message names, those that are told together as one."""
        told = self.told
        taken = set(told.at(told.value)) if told.value else set()
        groups: list[tuple[list[int], set[int], str]] = []
        for match in _PLACE.finditer(told.text):
            words = told.at(match.span())
            if taken & {*words} or not words:
                continue
            ranks = {rank_value(match["rank"])} if match["rank"] else set()
            last = groups[-1] if groups else None
            between = range(last[0][-1] + 1, words[0]) if last else range(0)
            joined = last and all(told.words[i] in ("and", "my") for i in between)
            if last and (words[0] <= last[0][-1] or joined):
                groups[-1] = ([*last[0], *words], last[1] | ranks, f"{last[2]} {match[0]}")
                continue
            groups.append((self._widened(words, taken), ranks, match[0]))
        return [self._place(words, ranks, said, taken) for words, ranks, said in groups]

    def _widened(self, words: list[int], taken: set[int]) -> list[int]:
        tokens, told = self.told.tokens, self.told
        first, last = words[0], words[-1]
        while first > 0 and first - 1 not in taken and tokens[first - 1].pos in ("ADJ", "DET"):
            first -= 1
        if first and told.words[first - 1] in OWN | _THEIRS and told.words[first] not in OWN:
            first -= 1
        while (
            last + 1 < len(tokens)
            and last + 1 not in taken
            and tokens[last + 1].pos in ("ADJ", "NOUN", "PROPN", "SYM", "NUM")
            and told.sentence(last + 1) == told.sentence(last)
            and "\n" not in told.text[tokens[last].end : tokens[last + 1].begin]
        ):
            last += 1
        return list(range(first, last + 1))

    def _place(self, words: list[int], ranks: set[int], said: str, taken: set[int]) -> _Place:
        told = self.told
        words = sorted({*words})
        before = told.words[words[0] - 1] if words[0] else ""
        owners = {before, *(told.words[i] for i in words)}
        after = told.words[words[-1] + 1 : words[-1] + 4]
        owner = "me" if owners & OWN or "mine" in after else ""
        genitive = words[0] and told.tokens[words[0] - 1].relation == "case"
        if owners & _THEIRS or (genitive and before in ("'s", "'")):
            owner = "other"
        own = [i for m in _PLACE.finditer(told.text) for i in told.at(m.span())]
        extra = any(
            (
                told.tokens[i].pos in ("NOUN", "PROPN")
                and i not in own
                and i not in told.about
                and told.words[i] not in PICK
            )
            or any(told.tokens[j].relation == "acl" for j in told.below[i])
            for i in words
        )
        favorite = re.search(FAVORITE, said, re.IGNORECASE)
        near = [i for i in told.about if told.sentence(i) == told.sentence(words[0])]
        sure = bool(favorite or near or _SURE.search(said) or {*told.words} & PICK)
        follows = words[-1] + 1
        if not owner and not extra and after and told.tokens[follows].pos == "ADP":
            of = range(follows, min(follows + 5, len(told.tokens)))
            mine = any(i in told.about or i in taken or told.words[i] in _OURS for i in of)
            extra = (
                not mine and after[0] not in ("to", "with", "and") and after[:2] != ["by", "far"]
            )
        return _Place(words, frozenset(ranks), owner, extra, sure)

    # --- what is told of the value ------------------------------------------------------------

    @cached_property
    def here(self) -> tuple[_Place | None, str]:
        """The place that is told of the value, or None; and why it is not meant, or ""."""
        best: tuple[int, _Place | None, str] = (99, None, "")
        for place in self.places:
            if place.owner == "other" or not place.sure:
                continue
            for word in self.told.meant:
                gap = self._linked(word, place)
                gap = gap if gap is None or place.ranks else gap + _NO_RANK
                if gap is not None and gap < best[0]:
                    best = (gap, place, self._unmeant(word, place))
        return best[1], best[2]

    def _linked(self, word: int, place: _Place) -> int | None:
        """Return how far a place that is told of a word is from it, or None where it is not."""
        told = self.told
        last, first = place.words[-1], place.words[0]
        group = told.siblings(word)
        between = range(word + 1, first) if word < first else range(last + 1, word)
        apart = sum(4 if told.tokens[i].pos in ("PUNCT", "CCONJ") else 1 for i in between)
        if place.extra and not place.owner:
            return None
        if all(self._joins(i, group, place) for i in between):
            alone = not any(told.tokens[i].pos == "AUX" for i in between)
            verbs = [i for i in told.up(word) if told.tokens[i].pos == "VERB"]
            token = told.tokens[word]
            other = alone and first < word and token.relation in ("nsubj", "obj")
            if other and token.head not in place.words and told.tokens[token.head].pos != "AUX":
                return None  # "BTC is my #1, SOL is dull"
            if not (alone and place.owner != "me" and verbs and not self._puts(verbs[0])):
                return apart
        if self._is_subject(word, place) or any(self._is_subject(i, group) for i in place.words):
            return apart
        if place.extra:
            return None
        above = [i for i in told.up(word) if i != word]
        verb = next((i for i in above if told.stems[i] in PLACING | _TAKING), None)
        if verb is None or not (self._puts(verb) or self._takes(verb, word)):
            return None
        if told.sentence(word) != told.sentence(first):
            return None
        return apart + 2

    def _is_subject(self, word: int, of: _Place | list[int]) -> bool:
        words = of.words if isinstance(of, _Place) else of
        token = self.told.tokens[word]
        return token.relation == "nsubj" and token.head in words

    def _joins(self, i: int, group: list[int], place: _Place) -> bool:
        told = self.told
        if told.tokens[i].pos in ("AUX", "ADV", "CCONJ", "INTJ", "SYM", "PART"):
            return True
        if told.tokens[i].pos == "PUNCT":
            return told.tokens[i].text != "."
        return (
            i in group
            or told.stems[i] in _INCLUDING
            or (told.words[i] in _LINKING and not place.extra)
            or bool({*told.up(i)} & {*group} and told.tokens[i].relation in ("compound", "flat"))
        )

    def _puts(self, verb: int) -> bool:
        """Say whether a verb has its writer put something somewhere."""
        return self.told.stems[verb] in PLACING and self.told.requested(verb)

    def _takes(self, verb: int, word: int) -> bool:
        """Say whether a verb tells of the place that its subject takes: "BTC moves to #3"."""
        told = self.told
        inner = told.tokens[word].relation == "nsubj" and told.tokens[word].head == verb
        return inner and told.stems[verb] in _TAKING

    def _unmeant(self, word: int, place: _Place) -> str:
        told = self.told
        head = told.head(place.words)
        between = range(min(word, head), max(word, head))
        for i in (
            word,
            *([head] if word < head else []),
            *(i for i in between if told.tokens[i].pos in ("VERB", "AUX")),
        ):
            problem = told.unmeant(i)
            if problem:
                return problem
        if any(told.words[i] in ("not", "n't", "never") for i in between):
            return "it says what is not so"
        return ""

    # --- what else may be asked ------------------------------------------------------------------

    def number(self) -> int | None:
        """Return the number that stands before the value in a list: "2. Alien"."""
        told = self.told
        match = _NUMBER.search(told.text[: told.value.start]) if told.value else None
        return int(match[1]) if match else None

    def counted(self) -> int:
        """Return which one the value is of several that are told one after another."""
        told = self.told
        return told.siblings(told.own).index(told.own) + 1 if told.own is not None else 0

    def in_order(self) -> bool:
        """Say whether words tell a list in its order: "my cryptos in order: BTC, ETH"."""
        return bool(self.told.about and _IN_ORDER.search(self.told.text))

    def first(self) -> bool:
        """Say whether words put the value above all others without a rank: "I like BTC most"."""
        return bool(self.told.named) and any(
            {*(self.told.words[j] for j in self.told.below[i])} & _MOST for i in self._likes()
        )

    def _likes(self) -> Iterator[int]:
        told = self.told
        for word in told.meant:
            for i in told.up(word):
                if told.stems[i] in _LIKING and told.subject(i) in ("i", "we"):
                    yield i

    def relative(self) -> bool:
        """Say whether words ask for a place that only the list tells: "put ETH above BTC"."""
        told = self.told
        for word in told.meant:
            for i in told.up(word):
                if told.stems[i] not in PLACING or told.subject(i) not in ("you", None, "i", "we"):
                    continue
                below = {told.words[j] for k in told.below[i] for j in (k, *told.below[k])}
                swapped = told.stems[i] in ("replac", "swap", "switch", "chang") and told.about
                if below & (_BESIDE | _ENDS) or swapped:
                    return not told.unmeant(i)
        return False

    def added(self) -> str | None:
        """Return why the value is put on no list, "" for no reason at all; None where it is."""
        place, problem = self.here
        if place is not None:
            return problem or None
        if self.number() is not None and self.places:
            return None
        told = self.told
        if not told.about:
            return ""
        for word in told.meant:
            for i in told.up(word):
                puts = self._puts(i) and told.stems[i] != "like"
                takes = self._takes(i, word) or told.stems[i] in _INCLUDING
                if puts or takes or i in self._likes() or i in told.about:
                    return told.unmeant(i) or told.unmeant(word) or None
            if any(i in told.about for i in told.below[word]):
                return told.unmeant(word) or None
        return ""
