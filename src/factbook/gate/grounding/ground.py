"""Hold one claim against one passage: exact, by its key phrases, or by similar sentences.

Seed 002, "Validation Against Summary". docs/grounding.md tells every step with examples.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Final, NamedTuple

from factbook import policy
from factbook.gate import kin
from factbook.gate.grounding.against import WordMatch, objection
from factbook.gate.grounding.claim import ClaimSentence, is_pattern, read_claim
from factbook.gate.grounding.exact import invented
from factbook.gate.grounding.passage import Passage, SpokenSentence, read_passage
from factbook.gate.grounding.words import MAX_CLAIM_CHARS, read_line
from factbook.gate.lexicon import Sort
from factbook.language.reader.relate import Relater, bearing, shares_words
from factbook.language.words import word_set

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Embed = Callable[[Sequence[str]], NDArray[np.float32]]

WINDOW: Final = 3  # sentences of one speaker that may support a claim together
BEARING: Final = (1, 2, 3)  # sentences that the reader is shown of a passage, each time so many
NEAR_WORD: Final = 0.70  # ours: cosine of two words that may say the same; sales and profits: 0.65


class Support(StrEnum):
    """Say what supports a claim."""

    EXACT = "exact"  # it stands there word for word
    PHRASES = "phrases"  # all its key phrases do, or the reader finds it said
    SIMILAR = "similar"  # sentences say nearly the same, in words that are close
    NONE = "none"


@dataclass(frozen=True, slots=True, kw_only=True)
class Grounding:
    """What a passage says of a claim."""

    support: Support = Support.NONE
    start: int = 0  # of the sentences that support it best, in the passage's text
    end: int = 0
    quote: str = ""  # what stands there
    similarity: float | None = None  # of the most similar sentences; None where it was not needed
    exact_match: bool = False
    key_phrases: bool = False  # all of them are there
    missing: tuple[str, ...] = ()  # content words without support, as the claim writes them
    conflict: str = ""  # what speaks against it: negated, number, antonym, question ...
    mentions: int = 0  # sentences that support it
    speaker: str = ""  # who said so: owner, assistant, other, or "" where nobody is named
    why: str  # one sentence for a person

    @property
    def grounded(self) -> bool:
        """Say whether the claim may be taken from the passage."""
        return self.support is not Support.NONE and not self.conflict


def ground(
    claim: str,
    passage: Passage,
    *,
    embed: Embed | None = None,
    speaker: str | None = None,
    pattern: bool = False,
    net: Relater | None = None,
    least: float = policy.CLAIM_SUPPORTED,
) -> Grounding:
    """Say whether a passage supports a claim, by which of its sentences, and what is against it.

    `speaker` says whose words may support it ("owner": the owner's and those of nobody named); None
    takes anybody's. `pattern` is for a pattern of behaviour, whose verb ("prefers") nobody says and
    which questions may show. `embed` gives unit vectors; without it nothing is grounded by
    similarity (origins 002.3: over 0.85), and with it nothing that has a name, a number or another
    word without support. With `net` the reader says whether the sentences that bear on the claim
    bear it out, with a chance of `least` or more, unless it stands there word for word.
    """
    if len(claim) > MAX_CLAIM_CHARS:
        why = f"The claim has more than {MAX_CLAIM_CHARS:,} characters: it is a page."
        return Grounding(why=why)
    claims = read_claim(claim, pattern)
    if not claims or not passage.lines:
        return Grounding(why="The claim or the passage is empty.")
    allowed = allowed_lines(passage, speaker)
    if not allowed:
        return Grounding(why=f"Nothing in the passage was said by the {speaker}.")
    if net is not None and not _stands_there(claim, passage, allowed):
        return _read(claim, passage, allowed, net, embed, least)
    spoken = [passage.lines[number] for number in allowed]
    fits = [_best_fit(sentence, spoken, pattern) for sentence in claims]
    worst = max(fits, key=lambda fit: (bool(fit.conflict), len(fit.missing)))
    missing = tuple(dict.fromkeys(word for fit in fits for word in fit.missing))
    conflict = next((fit.conflict for fit in fits if fit.conflict), "")
    phrases = not missing and any(sentence.phrases or sentence.line.values for sentence in claims)
    exact = _stands_there(claim, passage, allowed)
    if exact and conflict in {"number", "antonym"}:
        conflict = ""  # found in another sentence than the one that says it
    similarity: float | None = None
    support = Support.NONE
    if exact:
        support = Support.EXACT
    elif phrases:
        support = Support.PHRASES
    elif embed is not None:
        windows, vectors = _embedded(passage, allowed, embed)
        cosines = vectors @ embed([claim])[0]
        best = int(cosines.argmax())
        similarity, near = float(cosines[best]), windows[best]
        if (
            similarity > policy.GROUNDING_SIMILARITY
            and not conflict
            and all(_near(word, claims, near, embed) for word in missing)
        ):
            support = Support.SIMILAR
    start, end = worst.window[0].line.start, worst.window[-1].line.end
    return Grounding(
        support=support,
        start=start,
        end=end,
        quote=passage.text[start:end],
        similarity=similarity,
        exact_match=exact,
        key_phrases=phrases,
        missing=missing,
        conflict=conflict,
        mentions=max(1, *(fit.mentions for fit in fits)) if support is not Support.NONE else 0,
        speaker=worst.window[0].speaker,
        why=_why(support, conflict, worst.detail, missing, similarity),
    )


def validate_fact_against_summary(fact: str, summary: str, *, embed: Embed | None = None) -> bool:
    """Say whether a fact about the user is grounded in a summary.

    Where the summary names speakers, only the user's words count, and those of nobody named.
    """
    passage = read_passage(summary)
    speaker = "owner" if passage.named else None
    grounding = ground(
        fact, passage, embed=embed, speaker=speaker, pattern=is_pattern(fact[:MAX_CLAIM_CHARS])
    )
    return grounding.grounded


def _read(
    claim: str,
    passage: Passage,
    allowed: tuple[int, ...],
    net: Relater,
    embed: Embed | None,
    least: float,
) -> Grounding:
    """Ask the reader whether what bears on a claim bears it out, as the mean over 1 to 3 sentences.

    One alone may say "she", and three may bury what one says.
    """
    lines = [passage.lines[number] for number in allowed]
    texts = [spoken.line.text for spoken in lines]
    conflict, new = invented(claim, [spoken.line for spoken in lines], shown(lines))
    order = _bearing(claim, texts, passage, allowed, embed)
    near = [sorted(order[:most]) for most in BEARING]
    chances = [net.supports(shown([lines[i] for i in some]), claim) for some in near]
    chance = sum(chances) / len(chances)
    best = order[0]
    read = " ".join(texts[i] for i in near[-1]).lower()
    # Of talk most lines bear on nothing that is claimed, and the reader has seen little of it.
    bears = not passage.told_by_oneself or shares_words(read, claim)
    holds = chance >= least and not conflict and bears
    said = sum(net.supports(shown([lines[i]]), claim) >= least for i in near[-1])
    missing = () if holds or conflict else tuple(dict.fromkeys(_unsaid(claim, read)))
    start, end = lines[best].line.start, lines[best].line.end
    return Grounding(
        support=Support.PHRASES if holds else Support.NONE,
        start=start,
        end=end,
        quote=passage.text[start:end],
        key_phrases=holds,
        missing=missing,
        conflict=conflict,
        mentions=max(1, said) if holds else 0,
        speaker=lines[best].speaker,
        why=(
            f"The passage says so (chance {chance:.2f})."
            if holds
            else f"The passage has no such {conflict}: {new}."
            if conflict
            else f"Nothing supports: {', '.join(missing)}."
            if missing
            else f"The passage does not say so (chance {chance:.2f})."
        ),
    )


def _bearing(
    claim: str,
    texts: Sequence[str],
    passage: Passage,
    allowed: tuple[int, ...],
    embed: Embed | None,
) -> list[int]:
    """Return the numbers of sentences, nearest to a claim first; by vectors, as words differ."""
    if embed is None:
        return bearing(texts, claim)
    _, vectors = _embedded(passage, allowed, embed)  # single sentences come first
    return nearest(vectors[: len(texts)], embed([claim])[0])


def nearest(vectors: NDArray[np.float32], vector: NDArray[np.float32]) -> list[int]:
    """Return the rows of unit vectors, the nearest to a unit vector first."""
    order: list[int] = (-(vectors @ vector)).argsort(kind="stable").tolist()
    return order


def shown(lines: Sequence[SpokenSentence]) -> str:
    """Return sentences as the reader is shown them: a speaker who is named stands before a turn."""
    texts, turn = [], -1
    for spoken in lines:
        named = spoken.name and spoken.turn != turn
        texts.append(f"{spoken.name}: {spoken.line.text}" if named else spoken.line.text)
        turn = spoken.turn
    return " ".join(texts)


def _unsaid(claim: str, text: str) -> Iterator[str]:
    """Yield the key phrases of a claim of which a text in lower case has not even the stem."""
    for sentence in read_claim(claim, False):
        for key, surface in zip(sentence.phrases, sentence.surfaces, strict=True):
            if key[:STEM] not in text:
                yield surface


STEM: Final = 5  # letters


_Sentences = Sequence[SpokenSentence]


@dataclass(frozen=True, slots=True)
class _Fit:
    """How well some sentences of a passage support one sentence of a claim."""

    window: _Sentences
    missing: tuple[str, ...]  # words of the claim without support, as written
    conflict: str
    detail: str
    mentions: int = 0  # sentences of the whole passage that hold at least half of its key phrases

    @property
    def lacks(self) -> int:
        return len(self.missing) + bool(self.conflict)


class _Place(NamedTuple):
    """Where a sentence supports a key phrase of a claim, and how well."""

    strength: float
    at: int  # among the keys of the sentence; -1 for the name of who says it


_HAVING: Final = word_set("have has had having got own owns owned 've my our mine bought")
_BEING: Final = word_set("am is was were be been being 'm 're as became become")


def allowed_lines(passage: Passage, speaker: str | None) -> tuple[int, ...]:
    """Return the numbers of the sentences that may support a claim."""
    known = passage.memo.get(("allowed", speaker))
    if known is None:
        known = passage.memo["allowed", speaker] = tuple(
            number
            for number, spoken in enumerate(passage.lines)
            if speaker is None
            or spoken.speaker == speaker
            or (speaker == "owner" and not spoken.speaker)
        )
    numbers: tuple[int, ...] = known
    return numbers


def _windows(spoken: _Sentences, *, across: bool) -> Iterator[slice]:
    """Yield where one to three neighbours stand that may support a claim: one turn, or `across`."""
    for size in range(1, WINDOW + 1):
        for begin in range(len(spoken) - size + 1):
            if across or spoken[begin].turn == spoken[begin + size - 1].turn:
                yield slice(begin, begin + size)


def _best_fit(claim: ClaimSentence, spoken: _Sentences, pattern: bool) -> _Fit:
    """Return the sentences that lack least: the fewest, and the first of these."""
    places = [_places(claim, one) for one in spoken]
    best: _Fit | None = None
    for window in _windows(spoken, across=pattern):
        missing = sum(all(key not in held for held in places[window]) for key in claim.phrases)
        if any(places[window]) and (best is None or missing < best.lacks):
            fit = _fit(claim, spoken[window], places[window], pattern)
            best = fit if best is None or fit.lacks < best.lacks else best
    best = best or _fit(claim, spoken[:1], places[:1], pattern)
    counts = [sum(key in held for key in claim.phrases) for held in places]
    enough = len(claim.phrases)
    return replace(best, mentions=sum(2 * count >= enough > 0 for count in counts))


def _places(claim: ClaimSentence, spoken: SpokenSentence) -> dict[str, _Place]:
    """Return where a sentence supports key phrases of a claim, each by the best of its words."""
    found: dict[str, _Place] = {}
    if spoken.speaker == "other" and spoken.name:
        found = {key: _Place(kin.SAME, -1) for key in read_line(spoken.name).keys}
    for key in claim.phrases:
        for at, said in enumerate(spoken.line.keys):
            strength = kin.support(key, said)
            if strength > found.get(key, _NOWHERE).strength:
                found[key] = _Place(strength, at)
    return {key: found[key] for key in claim.phrases if key in found}


_NOWHERE: Final = _Place(kin.NONE, -1)


def _fit(
    claim: ClaimSentence, window: _Sentences, places: Sequence[Mapping[str, _Place]], pattern: bool
) -> _Fit:
    lines = [spoken.line for spoken in window]
    missing: list[str] = []
    matches: list[WordMatch] = []
    conflict = detail = ""
    for key, surface in zip(claim.phrases, claim.surfaces, strict=True):
        line, place = max(
            zip(lines, (held.get(key, _NOWHERE) for held in places), strict=True),
            key=lambda found: found[1].strength,
        )
        # Who reads of plumbing is no plumber.
        if place is _NOWHERE or (claim.is_ and place.strength == kin.DERIVED and not pattern):
            missing.append(surface)
            said = (word for line in lines for word in line.keys)
            opposite = next((word for word in said if kin.opposed(key, word)), "")
            if opposite:
                detail = f"{surface} / {opposite}"
        elif place.at >= 0:
            matches.append(WordMatch(key, line, place.at))
    absent = claim.line.values.difference(*(line.values for line in lines))
    if absent:
        conflict, detail = "number", ", ".join(map(claim.line.written, sorted(absent)))
    elif detail and matches:
        conflict = "antonym"  # of the same matter: another word of the claim is there
    elif matches:
        conflict, detail = objection(claim, _beside(claim, matches), pattern)
    if not conflict and not pattern:
        surfaces = _HAVING if claim.has else _BEING if claim.is_ else None
        if surfaces and not any(t.surface in surfaces for line in lines for t in line.tokens):
            missing.append(claim.verb)
    return _Fit(window, tuple(missing), conflict, detail)


def _beside(claim: ClaimSentence, matches: list[WordMatch]) -> list[WordMatch]:
    """Take the occurrence of the verb that stands nearest to what it is about."""
    if len(matches) < 2 or matches[0].key != claim.first:
        return matches
    key, line, at = matches[0]
    about = next((match.at for match in matches[1:] if match.line is line), None)
    if about is None:
        return matches
    strength = kin.support(key, line.keys[at])
    places = [place for place, said in enumerate(line.keys) if kin.support(key, said) == strength]
    nearest = min(places, key=lambda place: (abs(place - about), place), default=at)
    return [WordMatch(key, line, nearest), *matches[1:]]


def _stands_there(claim: str, passage: Passage, allowed: Collection[int]) -> bool:
    """Say whether a claim stands in the passage word for word, said by whom it may be."""
    wanted = " ".join(claim.lower().split()).strip(" .!\"'")
    flat: str | None = passage.memo.get("flat")
    if flat is None:
        flat = passage.memo["flat"] = " ".join(passage.lower.split())
    if not wanted or wanted not in flat:
        return False
    pattern = re.compile(r"(?<!\w)" + re.escape(wanted).replace(r"\ ", r"\s+") + r"(?!\w)")
    lines = [passage.lines[number].line for number in allowed]
    return any(
        line.start <= match.start() < line.end
        for match in pattern.finditer(passage.lower)
        for line in lines
    )


def _embedded(
    passage: Passage, allowed: tuple[int, ...], embed: Embed
) -> tuple[list[_Sentences], NDArray[np.float32]]:
    """Return single sentences, then two neighbours of one turn each, with their unit vectors."""
    if (allowed, embed) not in passage.memo:
        spoken = [passage.lines[number] for number in allowed]
        windows = [spoken[window] for window in _windows(spoken, across=False)]
        windows = [window for window in windows if len(window) < WINDOW]
        texts = [" ".join(one.line.text for one in window) for window in windows]
        passage.memo[allowed, embed] = (windows, embed(texts))
    known: tuple[list[_Sentences], NDArray[np.float32]] = passage.memo[allowed, embed]
    return known


def _near(
    word: str, claims: Sequence[ClaimSentence], spoken: Sequence[SpokenSentence], embed: Embed
) -> bool:
    """Say whether a word without support, if no name, is close to one of similar sentences."""
    keys = {
        key
        for claim in claims
        for key, surface in zip(claim.phrases, claim.surfaces, strict=True)
        if surface == word
    }
    names = frozenset().union(*(claim.line.names for claim in claims))
    said = [
        token
        for spoken_sentence in spoken
        for token in spoken_sentence.line.tokens
        if token.sort is Sort.CONTENT and token.key not in spoken_sentence.line.names
    ]
    if not keys or not said or keys & names:
        return False
    if any(kin.opposed(k, t.key) for k in keys for t in said):
        return False
    vectors = embed([word, *(token.surface for token in said)])
    return float((vectors[1:] @ vectors[0]).max()) > NEAR_WORD


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
        return f"Sentences say nearly the same (similarity {similarity:.2f})."
    if missing:
        return f"Nothing supports: {', '.join(missing)}."
    return "Nothing in the passage supports it."
