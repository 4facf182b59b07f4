"""Hold one claim against one passage: exact, by its key phrases, or by similar sentences."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from factbook import policy
from factbook.gate import grammar
from factbook.gate.grounding import kin
from factbook.gate.grounding.passage import Passage, Spoken, read_passage
from factbook.gate.grounding.words import MAX_CLAIM_CHARS, Line, read_line, sentences
from factbook.gate.lexicon import Sort, tables

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Embed = Callable[[Sequence[str]], NDArray[np.float32]]

WINDOW: Final = 3  # sentences of one speaker that may support a claim together
LEAST_SUPPORT: Final = kin.GENERAL  # a key phrase with less is missing


class Support(StrEnum):
    """Say what supports a claim."""

    EXACT = "exact"  # it stands there word for word
    PHRASES = "phrases"  # all its key phrases do
    SIMILAR = "similar"  # a sentence says nearly the same, in words that are close
    NONE = "none"


@dataclass(frozen=True, slots=True, kw_only=True)
class Grounding:
    """What a passage says of a claim."""

    support: Support
    start: int  # of the sentences that support it best, in the passage's text
    end: int
    quote: str  # what stands there
    similarity: float | None  # of the most similar sentences; None where it was not needed
    exact_match: bool
    key_phrases: bool  # all of them are there
    missing: tuple[str, ...]  # content words without support, as the claim writes them
    conflict: str  # what speaks against it: negated, number, name, antonym, speaker ...; or ""
    mentions: int  # sentences that support it
    speaker: str  # who said so: owner, assistant, other, or "" where nobody is named
    why: str  # one sentence for a person

    @property
    def grounded(self) -> bool:
        """Say whether the claim may be taken from the passage."""
        return self.support is not Support.NONE and not self.conflict


# ------------------------------------------------------------------ the claim


@dataclass(frozen=True, slots=True)
class _Claim:
    """One sentence of a claim."""

    line: Line
    phrases: tuple[str, ...]  # keys that must be supported
    surfaces: tuple[str, ...]  # the same as written
    verb: str  # the first of its keys, where the claim is about the user
    personal: bool  # is about the user: "Loves ...", "I love ...", "The user loves ..."
    has: bool  # claims that the user has something: "Has a dog"
    is_: bool  # claims what the user is: "Is a teacher"


PATTERN_VERBS: Final = frozenset(
    """prefer like ask use tend want request seek appreciate enjoy favor favour often usual frequent
    regular consist always typic general user""".split()
)  # Seed 002: a pattern is inferred from how the user writes; these name it and are not said
_COMMUNICATION: Final = frozenset(
    """explan explain exampl answer detail question step summari tone format languag languag style
    descript instruct respons repli overview breakdown guidanc comparison clarif bullet visual"""
    .split()
)
_WEAK: Final = frozenset(
    """specif particular absolut realli veri user current mention said especi also just total
    definit strong extrem someth anyth actual simpli""".split()
)


@functools.lru_cache(maxsize=4_096)
def _read_claim(text: str, pattern: bool) -> tuple[_Claim, ...]:
    found = []
    for start, end in sentences(text[:MAX_CLAIM_CHARS]):
        line = read_line(text[start:end], start)
        found.append(_claim_of(line, pattern))
    return tuple(found)


def _claim_of(line: Line, pattern: bool) -> _Claim:
    mild = tables().mild
    phrases, surfaces = [], []
    for key, place in zip(line.keys, line.places, strict=True):
        if key in _WEAK or (pattern and key in PATTERN_VERBS):
            continue
        token = line.tokens[place]
        if mild(key) and key not in line.names and token.surface.endswith("ly"):
            continue
        phrases.append(key)
        surfaces.append(token.surface)
    first = line.tokens[0] if line.tokens else None
    at = 0
    while at < len(line.tokens) and (
        line.tokens[at].sort is Sort.ARTICLE or line.tokens[at].key == "1"
    ):
        at += 1
    verb_token = line.tokens[at] if at < len(line.tokens) else None
    told = any(token.sort is Sort.PERSON and token.key == "1" for token in line.tokens[:3])
    bare = first is not None and (
        (first.sort is Sort.CONTENT and first.surface.endswith("s") and first.surface != first.key)
        or first.sort in (Sort.NEGATOR, Sort.MODAL)
        or first.surface in {"has", "is", "was", "had", "does", "been", "being"}
        or first.surface.endswith("ed")
    )
    personal = told or bare
    return _Claim(
        line=line,
        phrases=tuple(phrases),
        surfaces=tuple(surfaces),
        verb=phrases[0] if personal and phrases else "",
        personal=personal,
        has=personal and verb_token is not None and verb_token.surface in {"has", "have", "owns"},
        is_=personal and verb_token is not None and verb_token.surface in {"is", "am", "'m"},
    )


# ------------------------------------------------------------------ the passage


@dataclass(frozen=True, slots=True)
class _Fit:
    """How well some sentences of a passage support one sentence of a claim."""

    window: tuple[Spoken, ...]
    missing: tuple[int, ...]  # of the claim's phrases
    conflict: str
    detail: str


def _may_speak(spoken: Spoken, speaker: str | None) -> bool:
    if speaker is None:
        return True
    return spoken.speaker == speaker or (speaker == "owner" and not spoken.speaker)


def _supported(key: str, line: Line) -> tuple[float, int]:
    """Return how well a line supports a key, and where among the line's keys."""
    best, at = 0.0, -1
    for index, said in enumerate(line.keys):
        found = kin.support(key, said)
        if found > best:
            best, at = found, index
            if best == kin.SAME:
                break
    return best, at


_HAVING: Final = frozenset("have has had having got own owns owned 've my our mine bought".split())
_BEING: Final = frozenset("am is was were be been being 'm 're as became become".split())
_UNREAL: Final = frozenset({"possible", "wish", "plan", "condition", "failure", "nearly", "fake"})


def _fit(claim: _Claim, window: tuple[Spoken, ...], pattern: bool) -> _Fit:
    missing = []
    conflict = detail = ""
    matched: list[tuple[str, Line, int]] = []
    for index, key in enumerate(claim.phrases):
        best, line, at = 0.0, window[0].line, -1
        for spoken in window:
            if key in _names_of(spoken):
                best, line, at = 1.0, spoken.line, -1
                break
            found, where = _supported(key, spoken.line)
            if found > best:
                best, line, at = found, spoken.line, where
        if best < LEAST_SUPPORT:
            missing.append(index)
            for spoken in window:
                for said in spoken.line.keys:
                    if kin.opposed(key, said):
                        conflict, detail = "antonym", f"{key} / {said}"
        elif at >= 0:
            matched.append((key, line, at))
    values = frozenset().union(*(spoken.line.values for spoken in window))
    absent = claim.line.values - values
    if absent:
        conflict, detail = "number", ", ".join(sorted(absent))
    if not conflict and matched:
        conflict, detail = _against(claim, matched, pattern)
    if not conflict and claim.has and not pattern and not _holds(window, _HAVING):
        missing.append(-1)
    if not conflict and claim.is_ and not pattern and not _holds(window, _BEING):
        missing.append(-2)
    return _Fit(window, tuple(missing), conflict, detail)


def _holds(window: Iterable[Spoken], surfaces: frozenset[str]) -> bool:
    return any(token.surface in surfaces for spoken in window for token in spoken.line.tokens)


def _names_of(spoken: Spoken) -> frozenset[str]:
    return _name_keys(spoken.name) if spoken.speaker == "other" else frozenset()


@functools.lru_cache(maxsize=1_024)
def _name_keys(name: str) -> frozenset[str]:
    return frozenset(read_line(name).keys)


def _against(
    claim: _Claim, matched: Sequence[tuple[str, Line, int]], pattern: bool
) -> tuple[str, str]:
    """Return what speaks against a claim although its words are there."""
    said = claim.line
    for key, line, at in matched:
        there = line.keys[at]
        if key in said.over or there in line.over:
            if (key in said.over) != (there in line.over):
                return "over", line.text
            continue
        claimed_no = key in said.denied and key not in said.affirmed
        said_no = there in line.denied and there not in line.affirmed
        if claimed_no != said_no:
            return "negated", there
    if pattern or not claim.personal:
        return "", ""
    for key, line, at in matched:
        if line.asks and not said.asks:
            return "question", line.text
        unreal = _unreal_before(line, line.places[at]) - said.modals
        if unreal:
            return "hypothetical", min(unreal)
        if key == claim.verb:
            who = _subject(line, line.places[at])
            if who:
                return "someone_else", who
    return "", ""


def _unreal_before(line: Line, place: int) -> set[str]:
    """Return the classes of modals that stand before a word in its clause."""
    found = set()
    for index in range(place - 1, -1, -1):
        token = line.tokens[index]
        if token.ends and token.surface not in {"if", "unless"}:
            break
        if token.sort is Sort.MODAL and token.key in _UNREAL:
            found.add(token.key)
        elif index + 1 < place:
            pair = f"{token.surface}_{line.tokens[index + 1].surface}"
            name = grammar.MODALS.get(pair)
            if name is None and index + 2 < place:
                name = grammar.MODALS.get(f"{pair}_{line.tokens[index + 2].surface}")
            if name in _UNREAL:
                found.add(name)
    return found


_PERSON_NOUNS: Final = frozenset(
    """roommat flatmat cowork neighbor neighbour niec nephew parent famili team everyon peopl son
    daughter kid children partner spous fianc fiance ex grandma grandpa mom dad mum client custom
    friend colleagu boss""".split()
)


def _subject(line: Line, place: int) -> str:
    """Return who else than the user does what a word of a line says; "" for the user."""
    about_user = any(token.surface in {"user", "users"} for token in line.tokens[:place])
    for index in range(place - 1, max(-1, place - 8), -1):
        token = line.tokens[index]
        before = line.tokens[index - 1] if index else None
        if token.sort is Sort.PERSON:
            if before is not None and before.surface == "and":
                return ""
            if token.key in {"1", "we"}:
                if index + 1 < place and line.tokens[index + 1].sort in (
                    Sort.CONTENT,
                    Sort.POSSESSIVE,
                ):
                    following = line.tokens[index + 1]
                    owned = token.surface in {"my", "our"} or following.sort is Sort.POSSESSIVE
                    if owned:
                        continue
                return ""
            if token.surface in {"his", "her", "their", "him", "them"}:
                continue
            return "" if about_user else token.surface
        if token.ends or token.sort is Sort.BREAK:
            return ""
        if token.sort is Sort.CONTENT and (
            token.key in tables().subjects or token.key in _PERSON_NOUNS
        ):
            return token.surface
        if token.key in line.names and index + 1 == place:
            return token.surface
    return ""


def _windows(passage: Passage, speaker: str | None) -> list[tuple[Spoken, ...]]:
    memo = passage.memo
    known = memo.get(("windows", speaker))
    if known is None:
        lines = [spoken for spoken in passage.lines if _may_speak(spoken, speaker)]
        known = []
        for size in range(1, WINDOW + 1):
            for begin in range(len(lines) - size + 1):
                window = tuple(lines[begin : begin + size])
                if all(one.turn == window[0].turn for one in window):
                    known.append(window)
        memo["windows", speaker] = known
    found: list[tuple[Spoken, ...]] = known
    return found


def _best_fit(claim: _Claim, passage: Passage, speaker: str | None, pattern: bool) -> _Fit | None:
    best: _Fit | None = None
    best_rank: tuple[int, int, int] = (1 << 30, 0, 0)
    for window in _windows(passage, speaker):
        fit = _fit(claim, window, pattern)
        rank = (len(fit.missing) + (1 if fit.conflict else 0), len(window), window[0].line.start)
        if rank < best_rank:
            best, best_rank = fit, rank
            if best_rank[:2] == (0, 1):
                break
    return best


def ground(
    claim: str,
    passage: Passage,
    *,
    embed: Embed | None = None,
    speaker: str | None = None,
    pattern: bool = False,
) -> Grounding:
    """Say whether a passage supports a claim, by which of its sentences, and what is against it.

    `speaker` says whose words may support it ("owner": the owner's and those of nobody named);
    None takes anybody's. `pattern` is for a pattern of behaviour, whose verb ("prefers") nobody
    says and which questions may show. `embed` turns texts into unit vectors; without it nothing
    is grounded by similarity.
    """
    claims = _read_claim(claim, pattern)
    if not claims or not passage.lines:
        return _nothing("The claim or the passage is empty.")
    fits = [_best_fit(one, passage, speaker, pattern) for one in claims]
    found = [fit for fit in fits if fit is not None]
    if len(found) < len(claims):
        return _nothing(f"Nothing in the passage was said by {speaker}.")
    worst_index = max(
        range(len(found)), key=lambda i: (bool(found[i].conflict), len(found[i].missing), -i)
    )
    worst = found[worst_index]
    missing: list[str] = []
    for one, fit in zip(claims, found, strict=True):
        for index in fit.missing:
            missing.append(one.surfaces[index] if index >= 0 else one.line.tokens[0].surface)
    phrases = not missing and any(one.phrases or one.line.values for one in claims)
    exact = _exact(claim, passage, speaker)
    similarity: float | None = None
    support = Support.NONE
    if exact:
        support = Support.EXACT
    elif phrases:
        support = Support.PHRASES
    elif embed is not None:
        similarity = _similarity(claim, passage, speaker, embed)
    conflict = next((fit.conflict for fit in found if fit.conflict), "")
    if exact and conflict in {"number", "antonym"}:
        conflict = ""
    start, end = worst.window[0].line.start, worst.window[-1].line.end
    mentions = 0
    if support is not Support.NONE:
        mentions = max(1, _mentions(claims[0], passage, speaker))
    return Grounding(
        support=support,
        start=start,
        end=end,
        quote=passage.text[start:end],
        similarity=similarity,
        exact_match=exact,
        key_phrases=phrases,
        missing=tuple(dict.fromkeys(missing)),
        conflict=conflict,
        mentions=mentions,
        speaker=worst.window[0].speaker,
        why=_why(support, conflict, worst.detail, missing, similarity),
    )


def _nothing(why: str) -> Grounding:
    return Grounding(
        support=Support.NONE,
        start=0,
        end=0,
        quote="",
        similarity=None,
        exact_match=False,
        key_phrases=False,
        missing=(),
        conflict="",
        mentions=0,
        speaker="",
        why=why,
    )


def _why(
    support: Support, conflict: str, detail: str, missing: Sequence[str], similarity: float | None
) -> str:
    if conflict:
        return f"The passage speaks against it: {conflict} ({detail})."
    if support is Support.EXACT:
        return "It stands there word for word."
    if support is Support.PHRASES:
        return "All its key phrases are there."
    if support is Support.SIMILAR:
        return f"A sentence says nearly the same (similarity {similarity:.2f})."
    if missing:
        return "Nothing supports: " + ", ".join(dict.fromkeys(missing)) + "."
    return "Nothing in the passage supports it."


def _exact(claim: str, passage: Passage, speaker: str | None) -> bool:
    """Say whether a claim stands in the passage word for word, said by whom it may be."""
    wanted = " ".join(claim.lower().split()).strip(" .!\"'")
    if not wanted:
        return False
    pattern = re.compile(r"(?<!\w)" + re.escape(wanted).replace(r"\ ", r"\s+") + r"(?!\w)")
    for match in pattern.finditer(passage.lower):
        if speaker is None:
            return True
        for spoken in passage.lines:
            if spoken.line.start <= match.start() < spoken.line.end:
                if _may_speak(spoken, speaker):
                    return True
                break
    return False


def _mentions(claim: _Claim, passage: Passage, speaker: str | None) -> int:
    """Count the sentences that hold at least half of a claim's key phrases."""
    if not claim.phrases:
        return 1
    needed = len(claim.phrases) / 2
    count = 0
    for spoken in passage.lines:
        if _may_speak(spoken, speaker):
            held = sum(_supported(key, spoken.line)[0] >= LEAST_SUPPORT for key in claim.phrases)
            count += held >= needed
    return count


def _similarity(claim: str, passage: Passage, speaker: str | None, embed: Embed) -> float:
    windows = [window for window in _windows(passage, speaker) if len(window) < WINDOW]
    if not windows:
        return 0.0
    key = ("vectors", speaker, id(embed))
    vectors = passage.memo.get(key)
    if vectors is None:
        texts = [passage.text[w[0].line.start : w[-1].line.end] for w in windows]
        vectors = passage.memo[key] = embed(texts)
    return float((vectors @ embed([claim])[0]).max())


def validate_fact_against_summary(fact: str, summary: str) -> bool:
    """Say whether a fact about the user is grounded in a summary (seed 002, by its own name)."""
    passage = read_passage(summary)
    claims = _read_claim(fact, False)
    pattern = bool(claims) and (
        claims[0].verb in PATTERN_VERBS and not _COMMUNICATION.isdisjoint(claims[0].line.keys)
    )
    speaker = "owner" if passage.named else None
    return ground(fact, passage, speaker=speaker, pattern=pattern).grounded


_ = policy
