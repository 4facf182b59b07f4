"""Find the words of a passage: where each stands, what supports it, what excludes it.

Knows: one passage. Does not know: claims. An index is made with the first claim that is held
against a passage, and remembers what it was asked.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from factbook.gate.grounding import kin
from factbook.gate.grounding.passage import Passage, SpokenSentence
from factbook.gate.grounding.words import SentenceWords, read_line

SUPPORTED: Final = kin.DERIVED  # a word with less has no support


class SupportPlace(NamedTuple):
    """Where a word of the passage supports one of a claim, and how well."""

    strength: float
    at: int  # among the keys of its sentence; -1 for the name of who says it


class Index:
    """The words of a passage by their sentences."""

    def __init__(self, passage: Passage) -> None:
        self.spoken: tuple[SpokenSentence, ...] = passage.lines
        self.lines: tuple[SentenceWords, ...] = tuple(spoken.line for spoken in passage.lines)
        places: defaultdict[str, dict[int, int]] = defaultdict(dict)
        named: defaultdict[str, set[int]] = defaultdict(set)
        for number, spoken in enumerate(passage.lines):
            for at, key in enumerate(spoken.line.keys):
                places[key].setdefault(number, at)
            if spoken.speaker == "other" and spoken.name:
                for key in read_line(spoken.name).keys:
                    named[key].add(number)
        self.places: Mapping[str, Mapping[int, int]] = places
        self._order = {key: number for number, key in enumerate(places)}
        rooted: defaultdict[str, list[str]] = defaultdict(list)
        for key in places:
            rooted[kin.root(key)].append(key)
        self._rooted: Mapping[str, Sequence[str]] = rooted
        self.named: Mapping[str, set[int]] = named
        self.memo: dict[Any, Any] = {}  # vectors of the sentences, by who may speak and embedder
        self._support: dict[str, Mapping[int, SupportPlace]] = {}
        self._opposites: dict[str, Mapping[int, str]] = {}

    def supporters(self, key: str) -> Mapping[int, SupportPlace]:
        """Return the sentences with a word that supports this one, each with the best of its."""
        known = self._support.get(key)
        if known is None:
            support_places = {
                number: SupportPlace(kin.SAME, -1) for number in self.named.get(key, ())
            }
            for said in self._said((key,), (kin.root(key),)):
                strength = kin.support(key, said)
                if strength >= SUPPORTED:
                    for number, at in self.places[said].items():
                        if (
                            number not in support_places
                            or support_places[number].strength < strength
                        ):
                            support_places[number] = SupportPlace(strength, at)
            known = self._support[key] = support_places
        return known

    def _said(self, listed: Iterable[str], roots: Iterable[str]) -> list[str]:
        """Return the words of the passage that are listed or have a root, in the passage's order.

        Only these are looked at more closely: a passage holds hundreds of others.
        """
        words = {said for said in listed if said in self._order}
        for root in roots:
            words.update(self._rooted.get(root, ()))
        return sorted(words, key=self._order.__getitem__)

    def opposites(self, key: str) -> Mapping[int, str]:
        """Return the sentences that say the opposite of a word, each with its first such word."""
        known = self._opposites.get(key)
        if known is None:
            first_places: dict[int, int] = {}
            listed, roots = kin.may_oppose(key)
            for said in self._said(listed, roots):
                if kin.opposed(key, said):
                    for number, at in self.places[said].items():
                        first_places[number] = min(at, first_places.get(number, at))
            known = self._opposites[key] = {
                number: self.lines[number].keys[at] for number, at in first_places.items()
            }
        return known


def index_of(passage: Passage) -> Index:
    """Return the index of a passage, made with the first call."""
    index = passage.memo.get("index")
    if index is None:
        index = passage.memo["index"] = Index(passage)
    made: Index = index
    return made
