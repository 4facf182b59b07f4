"""Hold a summary against the document it was made from.

A summary tells a text in other words, so that a common word without support says little here,
unlike in the claim of one fact. What says much is listed in `RULES`: each finds one way in which a
summary says what its document does not. The first that finds something refuses the summary.

Knows: a summary and a passage. Does not know: vectors (they tell a synonym from another thing too
seldom, docs/grounding.md has the figures).
"""

from __future__ import annotations

import functools
import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import pairwise
from typing import Final

from factbook.gate.grammar import words
from factbook.gate.grounding import kin
from factbook.gate.grounding.index import SUPPORTED, Index, index_of
from factbook.gate.grounding.passage import Passage
from factbook.gate.grounding.words import VALUES, SentenceToken, SentenceWords, read_lines
from factbook.gate.lexicon import Sort

ALIGNED: Final = 3  # sentences of the document that a sentence of the summary is compared with
SAID: Final = kin.SYNONYM  # the document says the word itself, or one that says the same
INVENTED: Final = 3  # content words without support at the end of a sentence are an addition
LEAST_SHARE: Final = 0.25  # of a sentence's content words that must have support
SHARED_AROUND: Final = 2  # words that a word and its opposite must both stand beside

_REFUSALS: Final = frozenset(
    words("refuse refuses refused fail fails failed deny denies denied lack lacks lacking unable")
)
_LIMITS: Final = (
    frozenset(["only", "solely", "merely", "exclusively"]),
    frozenset({"instead"}),
    frozenset({"rather"}),
    frozenset({"despite"}),
    frozenset(["except", "excluding"]),
    frozenset({"without"}),
    frozenset(["until", "unless"]),
)
_ONLY: Final = frozenset(["only", "solely", "just", "exclusive", "exclusively", "merely", "sole"])

# Names of one place or people: whoever reads "Chinese" where the text says "China" is not misled.
# Capitals are not among them: an embassy of Russia need not be in Moscow.
_ALIASES: Final = tuple(
    frozenset(row.split())
    for row in """
    u.k uk britain british england english scotland
    u.s us u.s.a usa america american
    eu e.u europe european
    china chines
    russia russian
    ukrain ukrainian
    franc french
    germani german
    spain spanish
    itali italian
    japan japanes
    india indian
    poland polish
    netherland dutch holland
    switzerland swiss
    ireland irish
    scotland scottish
    greec greek
    turkey turkish
    israel isra
    iran iranian
    iraq iraqi
    korea korean
    vietnam vietnames
    thailand thai
    brazil brazilian
    mexico mexican
    canada canadian
    australia australian
    sweden swedish
    norway norwegian
    denmark danish
    finland finnish
    portug portugues
    """.strip().splitlines()
)


# ------------------------------------------------------------------ one sentence against its source


@dataclass(frozen=True, slots=True)
class _View:
    """A sentence of a summary beside the sentences of the document that are closest to it."""

    line: SentenceWords
    index: Index
    beside: tuple[SentenceWords, ...]
    numbers: tuple[int, ...]  # of these sentences
    keys: frozenset[str]  # content words of the whole summary


def _closest(line: SentenceWords, index: Index) -> list[int]:
    """Return the sentences that share most words with a line, rare words first."""
    scores: defaultdict[int, float] = defaultdict(float)
    for key in set(line.keys):
        where = index.supporters(key)
        for number, place in where.items():
            scores[number] += place.strength / math.sqrt(len(where))
    for value in line.values:
        holding = [n for n, sentence in enumerate(index.lines) if value in sentence.values]
        for number in holding:
            scores[number] += 1 / math.sqrt(len(holding))
    ranked = sorted(
        scores, key=lambda n: (-scores[n] / (6 + len(index.lines[n].keys)) ** 0.3, n)
    )  # a long sentence holds many words by its length alone
    return ranked[:ALIGNED]


def _denies(token: SentenceToken) -> bool:
    return token.sort is Sort.NEGATOR or token.surface in _REFUSALS


def _governed(line: SentenceWords, place: int, count: int) -> list[str]:
    """Return the content words right behind a place, as written."""
    after = line.tokens[place + 1 : place + 1 + count]
    return [token.surface for token in after if token.sort is Sort.CONTENT]


def _around(line: SentenceWords, place: int, reach: int) -> set[str]:
    """Return the content words and numbers near a place."""
    low, high = max(0, place - reach), place + reach + 1
    return {
        token.key
        for at, token in enumerate(line.tokens[low:high], start=low)
        if at != place and token.sort in (Sort.CONTENT, Sort.NUMBER)
    }


def _shared(mine: Iterable[str], theirs: Iterable[str]) -> int:
    """Count the words of one side that the other supports."""
    others = tuple(theirs)
    return sum(any(kin.support(word, other) >= SUPPORTED for other in others) for word in mine)


def _closely_denied(line: SentenceWords, place: int) -> bool:
    """Say whether a negator stands before a word with at most one content word between."""
    between = 0
    for at in range(place - 1, -1, -1):
        token = line.tokens[at]
        if token.ends:
            return False
        if token.sort is Sort.NEGATOR:
            return True
        if token.sort is Sort.CONTENT:
            between += 1
            if between > 1:
                return False
    return False


# ------------------------------------------------------------------ the rules


def _new_name(view: _View) -> str:
    line, index = view.line, view.index
    names = [key for key in line.keys if key in line.names]
    for key, place in zip(line.keys, line.places, strict=True):
        if key in line.names and not (index.names(key) or _known_otherwise(key, names, index)):
            return line.tokens[place].surface
    return ""


def _known_otherwise(key: str, names: Sequence[str], index: Index) -> bool:
    """Say whether a name is there in another form: a people's name, an abbreviation."""
    for group in _ALIASES:
        if key in group and any(name in index.places or name in index.surfaces for name in group):
            return True
    letters = key.replace(".", "")
    if key == "&":
        return True
    if 2 <= len(letters) <= 6 and letters.isalpha() and letters in index.initials(len(letters)):
        return True
    for begin in range(len(names)):  # "Los Angeles" where the text says "LA"
        for end in range(begin + 2, min(len(names), begin + 5) + 1):
            part = names[begin:end]
            if key in part and "".join(name[0] for name in part) in index.surfaces:
                return True
    return False


def _new_value(view: _View) -> str:
    for value in sorted(view.line.values - view.index.values):
        if value == str(view.index.speakers):
            continue  # "Two friends" of a talk between two
        return view.line.written(value)
    return ""


def _other_unit(view: _View) -> str:
    tokens = view.line.tokens
    for number, unit in pairwise(tokens):
        if number.sort is not Sort.NUMBER or unit.sort is not Sort.CONTENT or number.ends:
            continue
        conflict = ""
        for line in view.index.lines:
            if number.key not in line.values:
                continue
            for said, after in pairwise(line.tokens):
                if said.key == number.key and said.sort is Sort.NUMBER:
                    if kin.support(unit.key, after.key) >= SUPPORTED:
                        return ""
                    if kin.rival(unit.key, after.key):
                        conflict = f"{number.key} {unit.surface}"
        if conflict:
            return conflict
    return ""


def _new_denial(view: _View) -> str:
    """Find a negator where the closest sentences deny nothing."""
    if any(_denies(token) for line in view.beside for token in line.tokens):
        return ""
    for place, token in enumerate(view.line.tokens):
        if _denies(token):
            return " ".join([token.surface, *_governed(view.line, place, 3)])
    return ""


def _turned(view: _View) -> str:
    """Find a word that is denied here, and that the document says and never denies."""
    line, index = view.line, view.index
    for key, place in zip(line.keys, line.places, strict=True):
        if key in line.names or not _closely_denied(line, place):
            continue
        mine = _around(line, place, 3)
        told = denied = 0
        for number, support_place in index.supporters(key).items():
            if support_place.strength < SAID:
                continue
            said = index.lines[number]
            for other, at in zip(said.keys, said.places, strict=True):
                if kin.support(key, other) >= SAID and _shared(mine, _around(said, at, 5)):
                    told += 1
                    denied += _closely_denied(said, at)
        if told and not denied:
            return line.tokens[place].surface
    return ""


def _limit(view: _View) -> str:
    """Find a word that limits or contrasts, and that nothing in the document does."""
    here = {token.surface for token in view.line.tokens}
    close = {token.surface for line in view.beside for token in line.tokens}
    for number, group in enumerate(_LIMITS):
        said = here & group
        if said and not (close & _ONLY if number == 0 else view.index.surfaces & group):
            return min(said)
    return ""


@dataclass(frozen=True, slots=True)
class _Gap:
    """What two sentences have in one place of equal surroundings."""

    here: tuple[SentenceToken, ...]
    there: tuple[SentenceToken, ...]
    closed: bool  # content words are equal on both sides of it, not on one only


def _gaps(view: _View) -> Iterator[_Gap]:
    """Lay each of the closest sentences beside the line; yield where they differ."""
    keys = frozenset(view.line.keys)
    mine = [token for token in view.line.tokens if token.sort is not Sort.ARTICLE]
    spelled = [_spelled(token, keys) for token in mine]
    for line in view.beside:
        theirs = [token for token in line.tokens if token.sort is not Sort.ARTICLE]
        other = [_spelled(token, keys) for token in theirs]
        steps = SequenceMatcher(None, spelled, other, autojunk=False).get_opcodes()
        for number, (tag, low, high, begin, end) in enumerate(steps):
            if tag != "replace" or high - low > 4 or end - begin > 4:
                continue
            left = mine[steps[number - 1][1] : steps[number - 1][2]][-3:] if number else []
            last = number + 1 == len(steps)
            right = [] if last else mine[steps[number + 1][1] : steps[number + 1][2]][:3]
            held = [
                any(token.sort is Sort.CONTENT or token.sort in VALUES for token in side)
                for side in (left, right)
            ]
            if any(held):
                yield _Gap(tuple(mine[low:high]), tuple(theirs[begin:end]), all(held))


def _spelled(token: SentenceToken, keys: frozenset[str]) -> str:
    """Return a token's key, or the summary's word that it supports, so that both look alike."""
    if token.sort is not Sort.CONTENT:
        return token.surface if token.sort is Sort.FUNCTION else token.key
    return _as_in(token.key, keys)


@functools.lru_cache(maxsize=16_384)
def _as_in(key: str, keys: frozenset[str]) -> str:
    if key in keys:
        return key
    return next((known for known in sorted(keys) if kin.support(known, key) >= SUPPORTED), key)


def _replaced(view: _View) -> str:
    """Find an opposite, or another value, in the very place of a word."""
    for gap in _gaps(view):
        here = [token for token in gap.here if token.sort is Sort.CONTENT]
        there = [token for token in gap.there if token.sort is Sort.CONTENT]
        for sentence_token in here:
            for other in there:
                if kin.opposed(sentence_token.key, other.key):
                    return f"{sentence_token.surface} for {other.surface}"
        if gap.closed:
            here = [token for token in gap.here if token.sort in VALUES]
            there = [token for token in gap.there if token.sort in VALUES]
            if here and there:
                return f"{here[0].surface} for {there[0].surface}"
    return ""


def _excluded(view: _View, kind: str) -> str:
    """Find a word where the document has one that excludes it, between the same words."""
    line, index = view.line, view.index
    for key, place in zip(line.keys, line.places, strict=True):
        if key in line.names or (kind == "antonym" and index.support(key) >= SAID):
            continue
        mine = _around(line, place, 3)
        for said, how in index.against(key):
            if how != kind or said in view.keys:
                continue
            for number in index.places[said]:
                other = index.lines[number]
                for word, at in zip(other.keys, other.places, strict=True):
                    if word == said and _shared(mine, _around(other, at, 4)) >= SHARED_AROUND:
                        return f"{line.tokens[place].surface} for {other.tokens[at].surface}"
    return ""


def _antonym(view: _View) -> str:
    return _excluded(view, "antonym")


def _other_kind(view: _View) -> str:
    return _excluded(view, "other_kind")


def _invented(view: _View) -> str:
    """Find an end of a sentence of which the document knows nothing."""
    tail: list[str] = []
    for key, place in zip(reversed(view.line.keys), reversed(view.line.places), strict=True):
        if view.index.holds(key):
            break
        tail.append(view.line.tokens[place].surface)
    return " ".join(reversed(tail)) if len(tail) >= INVENTED else ""


def _unrelated(view: _View) -> str:
    keys = view.line.keys
    held = sum(view.index.holds(key) for key in keys)
    return view.line.text if keys and held < LEAST_SHARE * len(keys) else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryRule:
    """One way in which a summary says what its document does not."""

    conflict: str  # what Grounding.conflict is then
    says: str  # in words, for people
    find: Callable[[_View], str]  # returns what was found, "" for nothing


RULES: Final[tuple[SummaryRule, ...]] = (
    SummaryRule(conflict="name", says="a name that is not there", find=_new_name),
    SummaryRule(conflict="number", says="a number or date that is not there", find=_new_value),
    SummaryRule(conflict="number", says="a number with another unit", find=_other_unit),
    SummaryRule(conflict="negated", says="a denial of its own", find=_new_denial),
    SummaryRule(conflict="negated", says="a denial of what is said", find=_turned),
    SummaryRule(conflict="limit", says="a limit or contrast of its own", find=_limit),
    SummaryRule(conflict="replaced", says="another value or the opposite", find=_replaced),
    SummaryRule(conflict="antonym", says="the opposite of what is said", find=_antonym),
    SummaryRule(conflict="other_kind", says="another kind of thing", find=_other_kind),
    SummaryRule(conflict="invented", says="an end that is not there", find=_invented),
    SummaryRule(conflict="unrelated", says="a sentence about something else", find=_unrelated),
)
"""The rules in the order in which they are tried."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryFindings:
    """What the rules find in a summary."""

    start: int  # of the sentences of the passage that it was compared with first
    end: int
    conflict: str  # of the rule that refuses it; "" for none
    why: str  # one sentence for a person
    missing: tuple[str, ...]  # content words without support
    speaker: str


def judge_summary(text: str, passage: Passage) -> SummaryFindings:
    """Hold each sentence of a summary against a passage; the first conflict decides."""
    index = index_of(passage)
    lines = list(read_lines(text))
    keys = frozenset(key for line in lines for key in line.keys)
    first: _View | None = None
    missing: list[str] = []
    refused: tuple[_View, SummaryRule, str] | None = None
    for line in lines:
        numbers = tuple(_closest(line, index))
        view = _View(line, index, tuple(index.lines[n] for n in numbers), numbers, keys)
        first = first or view
        missing += [
            line.tokens[place].surface
            for key, place in zip(line.keys, line.places, strict=True)
            if not index.holds(key)
        ]
        if refused is None:
            for rule in RULES:
                what = rule.find(view)
                if what:
                    refused = (view, rule, what)
                    break
    shown = refused[0] if refused else first
    start = end = 0
    speaker = ""
    if shown is not None and shown.numbers:
        best = index.lines[shown.numbers[0]]
        start, end = best.start, best.end
        speaker = index.spoken[shown.numbers[0]].speaker
    return SummaryFindings(
        start=start,
        end=end,
        conflict=refused[1].conflict if refused else "",
        why=f"It has {refused[1].says}: {refused[2]}." if refused else "Nothing speaks against it.",
        missing=tuple(dict.fromkeys(missing)),
        speaker=speaker,
    )
