"""Find what a claim turns round although all its words stand in its source.

Knows: a claim, and the sentences that ground it. Does not know: types, confidence, other facts.
Pure.

`grounding` asks whether the words of a claim are there, and what denies or supposes them. This asks
what `grounding.bound` does not: how much of it, what links them, and whether it is told as
something that nearly was or that others say.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from factbook.gate.grammar import words
from factbook.gate.grounding import Grounding, kin
from factbook.gate.grounding.claim import ClaimSentence, read_claim
from factbook.gate.grounding.words import VALUES, SentenceWords, read_line
from factbook.gate.lexicon import Sort
from factbook.language.words import stem

__all__ = ["TURNS", "Inversion", "turned"]

CACHED_TEXTS: Final = 4_096  # a quote is the ground of several claims
READ_CHARS: Final = 4_000  # ours: of what a claim rests on; longer sentences are no speech

_DETERMINERS: Final = frozenset(
    words("a an the my our his her their your its this that these those")
)
_THEIRS: Final = frozenset(words("his her their"))
_PARTS: Final = frozenset(words("and but or nor while whereas because although though"))
_LIKINGS: Final = frozenset(map(stem, words("like love enjoy adore prefer favor favour want")))
_NOT_ALL: Final = -1

# How much or how often: 0 hardly, 1 some, 2 most, 3 all.
_AMOUNTS: Final = {
    word: rank
    for rank, listed in enumerate(
        (
            "rarely seldom hardly barely scarcely",
            "some sometimes few several occasionally part partly half",
            "most mostly many often usually frequently regularly generally",
            "all every each always whole entire entirely everything everyone constantly",
        )
    )
    for word in words(listed)
}
_OPPOSED_LINKS: Final = frozenset(
    pair
    for row in words(
        "with/without before/after for/against on/against into/out above/below over/under to/from "
        "up/down inside/outside"
    )
    for link, other in (row.split("/"),)
    for pair in ((link, other), (other, link))
)
_DENIES: Final = re.compile(
    r"\b(?:not|never|no|nor|without|against|refus\w*|declin\w*|avoid\w*|reject\w*)\b|n['’]t\b", re.I
)
_NOT_TO: Final = re.compile(r"(?<!sure )(?<!or )(?<!why )\bnot to (?!mention\b)(?P<what>\w+)", re.I)
_NEARLY: Final = re.compile(r"\b(?:almost|nearly) (?P<what>[^\W\d_]+)", re.IGNORECASE)
_UNREAL: Final = (
    re.compile(r"\bdoubt (?:that )?(?P<what>[^.;!?\n]{1,120})", re.IGNORECASE),
    re.compile(r"\bdream(?:ed|t) (?:that )?(?P<what>[^.;!?\n]{1,120})", re.IGNORECASE),
    re.compile(r"\bcall(?:s|ing|ed)? me (?P<what>[^.,;!?\n]{1,60})", re.IGNORECASE),
)
_I_WAS: Final = re.compile(r"\bi was (?P<what>[^.,;!?\n]{1,60})", re.IGNORECASE)
_I_AM: Final = re.compile(r"\bi(?: am|['’]m|['’]ve)\b", re.IGNORECASE)
_IS_NOW: Final = re.compile(r"\W*(?:(?:the )?user |i )?(?:is|am)\b|\W*i['’]m\b", re.IGNORECASE)
_PRETENDS: Final = re.compile(r"\bpretend\w*\b", re.IGNORECASE)
_HEARSAY: Final = re.compile(
    r"\b(?:they|people|some|others|everyone|everybody|he|she|rumou?r has it)(?: all| people)?"
    r"(?: (?:say|says|said|claim|claims|claimed|think|thinks|thought|believe|believes))?"
    r"(?<=s|y|d|k|m|e|t) (?:that )?(?:i|i['’]m|i['’]ve|my)\b",
    re.IGNORECASE,
)
_SAYING: Final = re.compile(r"\b(?:say|says|said|claim|think|thought|believe|rumou?r)", re.I)


@dataclass(frozen=True, slots=True)
class _Node:
    """A word of a text that says something."""

    key: str
    at: int  # among the tokens
    part: int  # number of its part: what stands between commas and conjunctions
    links: frozenset[str]  # words between the one before and this one, articles aside


@dataclass(frozen=True, slots=True, eq=False)
class _Text:
    """A text as its words that say something; the same object for the same text."""

    line: SentenceWords
    nodes: tuple[_Node, ...]
    parts: tuple[tuple[int, int], ...]  # where each part stands among the tokens


@functools.lru_cache(maxsize=CACHED_TEXTS)
def _read(text: str) -> _Text:
    line = read_line(text)
    nodes: list[_Node] = []
    parts: list[tuple[int, int]] = []
    links: set[str] = set()
    begin = 0
    for at, token in enumerate(line.tokens):
        if token.surface in _PARTS and at > begin:
            parts.append((begin, at))
            begin, links = at, set()
        if token.sort is Sort.CONTENT or token.sort in VALUES:
            nodes.append(_Node(token.key, at, len(parts), frozenset(links)))
            links = set()
        elif token.surface not in _DETERMINERS:
            links.add(token.surface)
        if token.ends:
            parts.append((begin, at + 1))
            begin, links = at + 1, set()
    parts.append((begin, len(line.tokens)))
    return _Text(line, tuple(nodes), tuple(parts))


def _supports(claimed: str, said: str) -> bool:
    return kin.support(claimed, said) > kin.NONE


@functools.lru_cache(maxsize=4 * CACHED_TEXTS)
def _where(key: str, text: _Text) -> tuple[int, ...]:
    """Return the numbers of the words of a text that support one."""
    return tuple(number for number, node in enumerate(text.nodes) if _supports(key, node.key))


def _closest_part(claim: _Text, source: _Text) -> list[int]:
    """Return the parts of a source that hold the most words of a claim."""
    counts = [0] * len(source.parts)
    for key in {node.key for node in claim.nodes}:
        for part in {source.nodes[number].part for number in _where(key, source)}:
            counts[part] += 1
    most = max(counts, default=0)
    return [part for part, count in enumerate(counts) if count == most > 0]


# ------------------------------------------------------------------ the turns


def _more(claim: _Text, source: _Text, _read_claim: ClaimSentence) -> str:
    """Find that a claim says more, or more often, than its source."""
    said = [(_AMOUNTS[t.surface], t.surface) for t in claim.line.tokens if t.surface in _AMOUNTS]
    if not said:
        own = _NOT_ALL
        word = ""
    else:
        own, word = max(said)
    there = [
        _AMOUNTS[token.surface]
        for part in _closest_part(claim, source)
        for token in source.line.tokens[slice(*source.parts[part])]
        if token.surface in _AMOUNTS
    ]
    if there and own > max(there):
        return f'it says "{word}", and the source says less'
    if there and own == _NOT_ALL and max(there) == 0:
        return "the source says that it hardly is so"
    return ""


def _linked(claim: _Text, source: _Text, _read_claim: ClaimSentence) -> str:
    """Find "with" where the source says "without", "from" where it says "to"."""
    for left, right in zip((None, *claim.nodes), claim.nodes, strict=False):
        for link in right.links:
            opposed = {other for listed, other in _OPPOSED_LINKS if listed == link}
            if not opposed:
                continue
            linked = [
                source.nodes[number].links
                for number in _where(right.key, source)
                if left is None or (number and _supports(left.key, source.nodes[number - 1].key))
            ]
            if linked and all(link not in links and links & opposed for links in linked):
                return f'it says "{link}", and the source the opposite'
    return ""


def _moved(claim: _Text, source: _Text, _read_claim: ClaimSentence) -> str:
    """Find a word that the source says of another thing: "blue bike" of a red bike and a blue car.

    Both words stand there, in parts of their own, and each with another word in the same place.
    """
    if len(source.parts) < 2:
        return ""
    keys = [node.key for node in claim.nodes]
    for left, right in zip(claim.nodes, claim.nodes[1:], strict=False):
        together = {source.nodes[a].part for a in _where(left.key, source)}
        if not together.isdisjoint(source.nodes[b].part for b in _where(right.key, source)):
            continue
        lefts, rights = (_same(node.key, source) for node in (left, right))
        if not lefts or not rights:
            continue
        if all(_crossed(source, a, b, keys, right.links) for a in lefts for b in rights):
            return f'"{_surface(claim, left)} ... {_surface(claim, right)}" is said of two things'
    return ""


def _same(key: str, text: _Text) -> list[int]:
    """Return the numbers of the words of a text that are one."""
    return [number for number, node in enumerate(text.nodes) if key == node.key]


def _crossed(source: _Text, a: int, b: int, keys: Sequence[str], links: frozenset[str]) -> bool:
    """Say whether one word has another one behind it, and the other another one before it."""
    nodes = source.nodes
    behind = nodes[a + 1] if a + 1 < len(nodes) and nodes[a + 1].part == nodes[a].part else None
    before = nodes[b - 1] if b and nodes[b - 1].part == nodes[b].part else None
    if behind is None or before is None:
        return False
    if not (behind.links == nodes[b].links == links) or {nodes[a].key, before.key} <= _LIKINGS:
        return False
    if _surface(source, before).endswith("ly"):
        return False  # "games, especially chess"
    return not any(_supports(key, other.key) for key in keys for other in (behind, before))


def _surface(text: _Text, node: _Node) -> str:
    return text.line.tokens[node.at].surface


def _theirs(claim: _Text, source: _Text, read: ClaimSentence) -> str:
    """Find that a thing without an owner in the claim is his or hers in what the user said."""
    if read.personal or not claim.nodes:
        return ""
    if any(
        token.surface in _THEIRS or token.sort is Sort.POSSESSIVE for token in claim.line.tokens
    ):
        return ""
    first = claim.nodes[0]
    if first.at:
        return ""  # "The film", "My film"
    places = [source.nodes[number].at for number in _where(first.key, source)]
    tokens = source.line.tokens
    if places and all(at and tokens[at - 1].surface in _THEIRS for at in places):
        return f"the source says it of {tokens[places[0] - 1].surface} {_surface(claim, first)}"
    return ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Inversion:
    """One way in which a claim turns round what its source says."""

    name: str
    source: str  # a text
    claim: str  # a claim of its words that it refuses
    find: Callable[[_Text, _Text, ClaimSentence], str]  # what is wrong, in words; "" for nothing
    of_patterns: bool = False  # also where a pattern of behaviour is claimed


TURNS: Final[tuple[Inversion, ...]] = (
    Inversion(
        name="more",
        source="I like some operas",
        claim="Likes all operas",
        find=_more,
        of_patterns=True,
    ),
    Inversion(
        name="linked",
        source="I drink tea with milk",
        claim="Drinks tea without milk",
        find=_linked,
        of_patterns=True,
    ),
    Inversion(
        name="moved",
        source="I have a grey hat and a green scarf",
        claim="Has a green hat",
        find=_moved,
    ),
    Inversion(
        name="theirs",
        source="Her best dish is soup",
        claim="Best dish is soup",
        find=_theirs,
    ),
)
"""What is looked for, in this order; the words of each claim all stand in its source."""


def turned(text: str, grounding: Grounding, *, pattern: bool = False) -> str:
    """Say what a claim turns round of what it rests on; "" where it turns nothing.

    `pattern` is for a pattern of behaviour: nobody says who does what it names.
    """
    quote = grounding.quote[:READ_CHARS]
    if why := _only_told(text, quote):
        return why
    claims = read_claim(text, pattern)
    if not claims:
        return ""
    claim, source = _read(text), _read(quote)
    for turn in TURNS:
        if (not pattern or turn.of_patterns) and (why := turn.find(claim, source, claims[0])):
            return why
    return ""


def _only_told(text: str, quote: str) -> str:
    """Find what a source tells as denied, nearly so, pretended or said by others."""
    keys = _read(text).line.keys
    said = _NOT_TO.search(text)
    if said and not _DENIES.search(quote):
        return f'it says "{said[0]}", and the source denies nothing'
    denied = _NOT_TO.search(quote)
    if denied and not _DENIES.search(text) and _any_key(denied["what"], keys):
        return f'the source says "{denied[0]}"'
    nearly = _NEARLY.search(quote)
    if nearly and not _NEARLY.search(text) and _any_key(nearly["what"], keys):
        return f'the source says "{nearly[0]}"'
    for unreal in _UNREAL:
        match = unreal.search(quote)
        if match and not unreal.search(text) and _any_key(match["what"], keys):
            return f'the source says "{" ".join(match[0].split())}"'
    was = _I_WAS.search(quote)
    if was and _IS_NOW.match(text) and not _I_AM.search(quote) and _any_key(was["what"], keys):
        return f'the source says "{" ".join(was[0].split())}"'
    if _PRETENDS.search(quote) and not _PRETENDS.search(text):
        return "the source tells of pretending"
    heard = _HEARSAY.search(quote)
    if heard and _SAYING.search(heard[0]) and not _SAYING.search(text):
        return f'it is what others say: "{heard[0]}"'
    return ""


def _any_key(text: str, keys: Sequence[str]) -> bool:
    return any(_supports(key, said) for said in _read(text).line.keys for key in keys)
