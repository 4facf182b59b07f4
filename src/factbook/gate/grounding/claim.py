"""Read a claim: which of its words must have support, and whether it is about the user."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Final

from factbook.gate.grounding.words import SentenceWords, read_lines
from factbook.gate.lexicon import Sort, tables
from factbook.language.words import word_set

CACHED_CLAIMS: Final = 4_096


@dataclass(frozen=True, slots=True)
class ClaimSentence:
    """One sentence of a claim."""

    line: SentenceWords
    phrases: tuple[str, ...]  # keys that must be supported
    surfaces: tuple[str, ...]  # the same as written
    first: str  # the first of them, where the claim is about the user: mostly its verb
    personal: bool  # is about the user: "Loves ...", "I love ...", "The user loves ..."
    verb: str  # the word behind the subject, as written
    has: bool  # claims that the user has something: "Has a dog"
    is_: bool  # claims what the user is: "Is a teacher"


# Seed 002: a pattern is inferred from how the user writes. These name it and nobody says them.
PATTERN_VERBS: Final = word_set("""
    prefer like ask use tend want request seek appreciate enjoy favor favour often usual frequent
    regular consist always typic general user
    """)
_TALK: Final = word_set("""
    explan explain exampl answer detail question step summari tone format languag style descript
    instruct respons repli overview breakdown guidanc comparison clarif bullet visual
    """)  # what a pattern of how someone communicates is about
_WEAK: Final = word_set("""
    specif particular absolut realli veri user current mention said especi also just total definit
    strong extrem someth anyth actual simpli
    """)  # these strengthen or frame a claim and add nothing that could be untrue
_HAVE: Final = frozenset({"has", "have", "owns"})
_IS: Final = frozenset({"is", "am", "'m"})
_OPENING: Final = frozenset({"has", "is", "was", "had", "does", "been", "being"})


@functools.lru_cache(maxsize=CACHED_CLAIMS)
def read_claim(text: str, pattern: bool) -> tuple[ClaimSentence, ...]:
    """Read the sentences of a claim; the verbs of a `pattern` need no support."""
    return tuple(_claim_of(line, pattern) for line in read_lines(text))


def shows_in_talk(text: str) -> bool:
    """Say whether a claim begins with a verb that nobody says and that questions show."""
    claims = read_claim(text, False)
    return bool(claims) and claims[0].first in PATTERN_VERBS


def is_pattern(text: str) -> bool:
    """Say whether a claim is about how the user communicates, by its words alone."""
    claims = read_claim(text, False)
    return shows_in_talk(text) and not _TALK.isdisjoint(claims[0].line.keys)


def _claim_of(line: SentenceWords, pattern: bool) -> ClaimSentence:
    mild = tables().mild
    phrases, surfaces = [], []
    for key, place in zip(line.keys, line.places, strict=True):
        surface = line.tokens[place].surface
        if key in _WEAK or (pattern and key in PATTERN_VERBS):
            continue
        if surface.endswith("ly") and mild(key) and key not in line.names:
            continue
        phrases.append(key)
        surfaces.append(surface)
    told = any(token.sort is Sort.PERSON and token.key == "1" for token in line.tokens[:3])
    personal = told or _has_no_subject(line)
    verb = next((token.surface for token in line.tokens if token.key != "1"), "")
    return ClaimSentence(
        line=line,
        phrases=tuple(phrases),
        surfaces=tuple(surfaces),
        first=phrases[0] if personal and phrases else "",
        personal=personal,
        verb=verb,
        has=personal and verb in _HAVE,
        is_=personal and verb in _IS,
    )


def _has_no_subject(line: SentenceWords) -> bool:
    """Say whether a sentence begins with its verb, as "Loves fettuccini" does."""
    first = line.opening
    return first is not None and (
        (first.sort is Sort.CONTENT and first.surface.endswith("s") and first.surface != first.key)
        or first.sort in (Sort.NEGATOR, Sort.MODAL)
        or first.surface in _OPENING
        or first.surface.endswith("ed")
    )
