"""Tell how likely a claim is something that a memory of its type must not be.

A layer over what the network knows of a sentence, learned from claims that hands wrote as models
and people word them (`scripts/train_breaches.py`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Final

from factbook import policy
from factbook.language.reader.layer import PLACES, Seen
from factbook.language.reader.network import shared
from factbook.language.reader.read import sentences_of
from factbook.language.words import place_of

BREACHES: Final[Mapping[str, tuple[str, ...]]] = {
    "USER_FACT": ("hypothetical", "vague", "opinion"),
    "USER_PATTERN": ("one_time_action", "transient_mood", "speculation"),
    "SHARED_NARRATIVE": ("authority", "binding", "factual_claim"),
}
"""What the layer tells apart, by the type of a claim: seed 002's exclusions."""
ANSWERS: Final = tuple(name for names in BREACHES.values() for name in names)
_LONGEST: Final = 600  # characters of a text that are read: a claim is a sentence


def seen_as(kind: str, text: str) -> Iterator[tuple[Seen, frozenset[str]]]:
    """Yield what is known of the sentences of a text that is claimed to be of a type, and flags.

    Beside what rules are told by, it is how the sentence's clauses are meant: hedged, wished.
    """
    for _, _, seen, flags in sentences_of(text):
        meant = [f"type {kind}", *(f"{kind} {flag}" for flag in sorted(flags))]
        yield Seen(seen.row, (*seen.signs, [place_of(sign, PLACES) for sign in meant])), flags


@lru_cache(maxsize=1024)
def breach(text: str, kind: str) -> str:
    """Return the rule of a type that a text likely breaks, by its worst sentence; "" for none.

    Raises ReaderError where the network cannot be loaded.
    """
    worst: dict[str, float] = {}
    hedged = False
    for seen, flags in seen_as(kind, text[:_LONGEST]):
        told = dict(zip(ANSWERS, shared().breaches.chances(seen), strict=True))
        likely = {name: told[name] for name in BREACHES[kind]}
        if sum(likely.values()) > sum(worst.values()):
            worst = likely
        hedged = hedged or "hedge" in flags
    if sum(worst.values()) >= policy.TYPE_BROKEN:
        return max(worst, key=lambda name: worst[name])
    # A pattern that is hedged is a guess, whatever else it says.
    return "speculation" if hedged and "speculation" in BREACHES[kind] else ""
