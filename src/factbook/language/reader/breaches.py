"""Tell how likely a claim is something that a memory of its type must not be.

A layer over what the network knows of a sentence, learned from claims that hands wrote as models
and people word them (`scripts/train_breaches.py`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Final

from factbook.language.reader.layer import PLACES, Seen
from factbook.language.reader.network import shared
from factbook.language.reader.read import read, sentences_of
from factbook.language.words import place_of

BREACHES: Final[Mapping[str, tuple[str, ...]]] = {
    "USER_FACT": ("hypothetical", "vague", "opinion"),
    "USER_PATTERN": ("one_time_action", "transient_mood", "speculation"),
    "SHARED_NARRATIVE": ("authority", "binding", "factual_claim"),
}
"""What the layer tells apart, by the type of a claim: seed 002's exclusions."""
ANSWERS: Final = tuple(name for names in BREACHES.values() for name in names)
LONGEST: Final = 600  # characters of a text that are read: a claim is a sentence


def seen_as(kind: str, text: str) -> Iterator[Seen]:
    """Yield what is known of the sentences of a text that is claimed to be of a type.

    Beside what rules are told by, it is how the sentence's clauses are meant: hedged, wished.
    """
    clauses = read(text).clauses
    for begin, end, seen in sentences_of(text):
        flags = {
            flag for one in clauses if one.begin < end and begin < one.end for flag in one.flags
        }
        meant = [f"type {kind}", *(f"{kind} {flag}" for flag in sorted(flags))]
        yield Seen(seen.row, (*seen.signs, [place_of(sign, PLACES) for sign in meant]))


@lru_cache(maxsize=1024)
def breaches(text: str, kind: str) -> Mapping[str, float]:
    """Return how likely a text breaks each rule of a type, of its worst sentence; {} for no words.

    Raises ReaderError where the network cannot be loaded.
    """
    worst: dict[str, float] = {}
    for seen in seen_as(kind, text[:LONGEST]):
        told = dict(zip(ANSWERS, shared().breaches.chances(seen), strict=True))
        likely = {name: told[name] for name in BREACHES[kind]}
        if sum(likely.values()) > sum(worst.values()):
            worst = likely
    return worst
