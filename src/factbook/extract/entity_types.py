"""Say of which kind a thing is, and which kind was asked for: "cargo bikes", "brands of e-bikes".

Knows: the noun that a group of words is built on and what narrows it ("green" of "green tea"),
nouns that only count others ("types of tea"), the few kinds that have two names, and where a text
speaks of what narrows a kind. Does not know things or where they stand.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from factbook.extract.base import word_set
from factbook.language.common_words import is_function_word, is_nationality
from factbook.language.nouns import is_plural, singular
from factbook.language.words import COMPOUND, WORD, stem

__all__ = [
    "Kind",
    "asked_kinds",
    "denies",
    "fits",
    "nouns_of",
    "plural_of",
    "rival",
    "said_kinds",
    "says",
    "says_it_is",
]

MOST_WORDS: Final = 40  # ours: of a group of words that names a kind
WINDOW: Final = 3  # ours: words before another in which a denial denies it


class Kind(NamedTuple):
    """A noun in the singular with the words before it that narrow it."""

    noun: str
    modifiers: tuple[str, ...] = ()  # without words of quality and size


# They count or sort what the noun beside them names: "tomato varieties", "brands of e-bikes".
_SORTS: Final = word_set("variety brand model type kind sort species style make")
# With these before it a model is a kind of its own.
_OWN_MODELS: Final = word_set("""
    language role fashion business data scale diffusion climate learning world mathematical
    statistical foundation ai
    """)
# Two names of one kind; the second is used.
_SAME: Final = {
    "automobile": "car",
    "bicycle": "bike",
    "cell phone": "mobile phone",
    "cellphone": "mobile phone",
    "e-bike": "electric bike",
    "ebike": "electric bike",
    "ev": "electric car",
    "film": "movie",
    "loudspeaker": "speaker",
    "motorbike": "motorcycle",
    "pedelec": "electric bike",
    "smartphone": "mobile phone",
    "tv": "television",
    "videogame": "video game",
}
# They say how good, new, large or dear something is, or which one: of every kind there are such.
_SOFT: Final = word_set("""
    best better good great top popular famous favorite favourite new newer newest latest recent
    current modern cheap cheaper cheapest budget affordable expensive premium pricey inexpensive
    low-cost entry-level high-end mid-range luxury nice nicer interesting cool awesome amazing
    excellent fantastic perfect beautiful lovely decent solid reliable quality high-quality
    recommended must-have must-see award-winning well-known best-known best-selling bestselling
    top-rated flagship leading major main important essential classic iconic legendary successful
    unique special different various several many some any all other similar own upcoming rare
    common typical simple basic easy small smaller smallest big bigger biggest large larger largest
    little tiny huge compact light lightweight heavy fast fastest quick slow steady steadiest sturdy
    stylish elegant sleek smart versatile practical comfortable powerful strong quiet old older
    oldest young real true whole full first second third last next only single more most few two
    three four five six seven eight nine ten very really so quite rather super ultra fully all-new
    brand-new second-generation third-generation long short tall wide little-known underrated
    overrated find show get give learn search look buy me us please
    """)
_COLOURS: Final = word_set("""
    black white green red blue yellow brown orange pink purple grey gray silver gold
    """)
_DRIVEN: Final = ("-powered", "-driven", "-fuelled", "-fueled")
_TOKEN: Final = re.compile(rf"{COMPOUND.pattern}|[,;:.()]")
_PREDICATE: Final = re.compile(
    r"\W*(?:(?:is|are|was|were)\s+)?(?:(?:[\w-]+ly|also|still|just|perhaps|now)\s+)*"
    r"(?:one\s+of\s+(?=the\s))?(?:(?:an?|the)\s+)?",
    re.IGNORECASE,
)
_DENIES: Final = word_set("""
    not no non never without unlike than neither nor instead isn't aren't wasn't doesn't don't
    hasn't didn't cannot can't
    """)


def asked_kinds(query: str, topic: str) -> list[Kind]:
    """Return of which kinds the things are that were asked about; none where it is no kind."""
    for asked in (topic, query):
        kinds = [kind for kind in _kinds_in(_TOKEN.findall(asked.lower())) if len(kind.noun) > 2]
        if kinds:
            return kinds
    return []


def said_kinds(predicate: str) -> list[Kind]:
    """Return of which kinds words say that something is: "is a type of green tea", "a tea"."""
    return _kinds_in(_TOKEN.findall(_PREDICATE.sub("", predicate, count=1)))


def plural_of(title: str, kind: Kind) -> str:
    """Return the plural by which a title names a kind: "tomato varieties"; "" for none."""
    words: list[str] = _TOKEN.findall(title.lower())
    nouns = nouns_of([kind])
    for word in words:
        noun = singular(word)
        if is_plural(word) and (
            noun in nouns or (noun in _SORTS and any(singular(other) in nouns for other in words))
        ):
            return word
    return ""


def nouns_of(kinds: Iterable[Kind]) -> frozenset[str]:
    """Return the nouns that stand for kinds, also those that mean the same."""
    nouns = {kind.noun for kind in kinds}
    return frozenset(
        nouns | {name for name, same in _SAME.items() if same.rpartition(" ")[2] in nouns}
    )


def fits(said: Sequence[Kind], asked: Sequence[Kind]) -> list[tuple[Kind, Kind]]:
    """Return the (said, asked) kinds that have their noun in common."""
    return [(kind, other) for kind in said for other in asked if kind.noun == other.noun]


def rival(said: Kind, asked: Kind) -> bool:
    """Tell whether something else narrows the one kind where the other is narrowed: "petrol car".

    What has a capital or a digit is a maker, a size or a year, and a word of two parts how it is
    built ("dual-motor"). Colours, and where it comes from, stand in the place only of their like.
    """
    if not asked.modifiers or says(" ".join(said.modifiers), asked):
        return False
    wanted = {word for modifier in asked.modifiers for word in modifier.lower().split("-")}
    for modifier in said.modifiers:
        low = modifier.lower()
        if low in _COLOURS:
            if wanted & _COLOURS:
                return True
        elif is_nationality(low):
            if any(map(is_nationality, wanted)):
                return True
        elif (modifier.isalpha() and modifier.islower()) or low.endswith(_DRIVEN):
            return True
    return False


def says(text: str, asked: Kind) -> bool:
    """Tell whether a text names what narrows a kind, and does not deny it; yes for no such word."""
    return not asked.modifiers or False in _narrowing(WORD.findall(text.lower()), asked).values()


def denies(text: str, asked: Kind) -> bool:
    """Tell whether a text names what narrows a kind only to deny it: "is not electric"."""
    return set(_narrowing(WORD.findall(text.lower()), asked).values()) == {True}


def says_it_is(sentence: str, asked: Kind) -> bool:
    """Tell whether a sentence names something just of a kind: "it is now an electric car"."""
    words = WORD.findall(sentence.lower())
    nouns = nouns_of([asked])
    return any(
        singular(word) in nouns and not denied
        for end, denied in _narrowing(words, asked).items()
        for word in words[end : end + 1]
    )


def head_noun(words: Sequence[str]) -> str:
    """Return the noun that a group of words is built on, in the singular; "" where none is."""
    head = ""
    for word in words:
        low = word.lower()
        if not word[:1].isalnum() or (head and is_function_word(low)):
            break
        if not word[0].isdigit():
            head = low
    if not head.isalpha() and not re.fullmatch(r"[a-z]+(?:-[a-z]+)+", head):
        return ""
    return singular(head)


def _kinds_in(tokens: Sequence[str]) -> list[Kind]:
    """Return what a group of words names, that of a noun which only counts after what it counts."""
    tokens = tokens[:MOST_WORDS]
    noun = head_noun(tokens)
    places = [
        at
        for at, token in enumerate(tokens)
        if singular(token.lower()) == noun and head_noun(tokens[: at + 1]) == noun
    ]
    if not noun or not places:
        return []
    at = places[0]
    modifiers = tuple(token for token in tokens[:at] if _narrows(token))
    itself = _same(noun, modifiers)
    if noun not in _SORTS:
        return [itself]
    if [token.lower() for token in tokens[at + 1 : at + 2]] == ["of"]:
        behind = [token for token in tokens[at + 2 :] if token.lower() not in ("a", "an", "the")]
        counted = [
            kind._replace(modifiers=kind.modifiers + modifiers) for kind in _kinds_in(behind)
        ]
        return counted or [itself]
    if not modifiers or modifiers[-1].lower() in _OWN_MODELS:
        return [itself]
    return [_same(singular(modifiers[-1].lower()), modifiers[:-1]), itself]


def _same(noun: str, modifiers: tuple[str, ...]) -> Kind:
    """Return a kind by the one of its names that is used."""
    for taken in (1, 0):
        if taken > len(modifiers):
            continue
        name = " ".join(
            [*(modifier.lower() for modifier in modifiers[len(modifiers) - taken :]), noun]
        )
        if name in _SAME:
            *more, noun = _SAME[name].split()
            return Kind(noun, (*modifiers[: len(modifiers) - taken], *more))
    return Kind(noun, modifiers)


def _narrows(word: str) -> bool:
    low = word.lower()
    return low[:1].isalpha() and low not in _SOFT and not is_function_word(low)


def _narrowing(words: Sequence[str], asked: Kind) -> dict[int, bool]:
    """Return where words, hyphens apart, end that narrow a kind, each with whether it is denied."""
    wanted = {_stem(modifier) for modifier in asked.modifiers}
    return {
        end: not _DENIES.isdisjoint(words[max(0, start - WINDOW) : start])
        for start in range(len(words))
        for end in range(start + 1, min(start + 3, len(words)) + 1)
        if _stems(words[start:end]) & wanted
    }


def _stems(words: Sequence[str]) -> set[str]:
    """Return by which stems words that follow each other may be known: "book shelf", "e bike"."""
    if len(words) == 1:
        more = _SAME.get(singular(words[0]), "").split()[:-1]
    else:
        more = _SAME.get("-".join([*words[:-1], singular(words[-1])]), "").split()[:-1]
        more += _SAME.get(" ".join([*words[:-1], singular(words[-1])]), "").split()[:-1]
    return {_stem("".join(words)), *map(_stem, more)}


_SPELLINGS: Final = (
    (re.compile(r"our"), "or"),
    (re.compile(r"(?<=[tb])re$"), "er"),
    (re.compile(r"is(?=e|ing$)"), "iz"),
    (re.compile(r"^grey$"), "gray"),
    (re.compile(r"minium$"), "minum"),
)


@lru_cache(maxsize=8192)
def _stem(word: str) -> str:
    """Return what the forms and the spellings of a word have in common."""
    spelled = singular(word.lower().replace("-", "").replace("’", "'").removesuffix("'s"))
    for pattern, other in _SPELLINGS:
        spelled = pattern.sub(other, spelled)
    return stem(spelled)
