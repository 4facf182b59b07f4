"""Tell whether words say what a key is about: "I live in Oslo" says what `user.city` is.

A key has words, and some that mean the same; a sentence says it too that is near to one that names
it ("my city is X"). What is somebody else's does not count: "my dog's name is Rex". English only.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Final

from factbook.embed import bundled
from factbook.extract.base import word_set
from factbook.extract.keyed.told import OWN, SELF, Told
from factbook.language.nouns import singular
from factbook.model.keys import normalize_fact_key

_ATTRIBUTES: Final = """
timezone: time zone
name: full name
first_name: first name, given name
last_name: last name, surname, family name
middle_name: middle name
nickname: username, user name
email: e-mail, email address, e-mail address
phone: phone number, mobile number, cell number, telephone number
birthday: birth date, birthdate, date of birth
birthplace: place of birth
address: home address
location: home, home city, city
hometown: home town
occupation: job, profession
job_title: job title
employer: company, workplace
language: native language, mother tongue
shoe_size: shoe size
blood_type: blood type
star_sign: star sign
age pronouns gender country nationality currency locale height weight website github
wife husband partner girlfriend boyfriend boss
"""


def _attributes() -> Iterator[tuple[str, str]]:
    for line in _ATTRIBUTES.strip().splitlines():
        names, _, words = line.partition(":")
        for name in names.split():
            yield from ((said, f"user.{name}") for said in {name, *filter(None, words.split(", "))})


ATTRIBUTES: Final = {said.strip(): key for said, key in _attributes() if "_" not in said}
"""What a person has one of, by the words for it, and its key."""

_OWNED: Final = re.compile(
    r"(?P<who>[^\W\d_]+(?:\s+[^\W\d_]+)?)['’]s?\s+"
    r"(?P<what>name|birthday|age|email|phone number|address|breed|job)",
    re.IGNORECASE,
)
_NOBODY: Final = word_set("it that this these those he she him her they them who what")
_SAID: Final = (
    (r"i(?:['’]m|\s+am)\s+called", "user.name"),
    (r"call\s+me", "user.nickname"),
    (r"i\s+(?:(?:currently|now)\s+)?live\s+in", "user.location"),
    (r"i\s+was\s+born\s+on", "user.birthday"),
    (r"i\s+was\s+born\s+in", "user.birthplace"),
    (r"i\s+work\s+(?:at|for)", "user.employer"),
    (r"i\s+work\s+as", "user.occupation"),
)


def attribute_key(words: str) -> str | None:
    """Return the key of what a person has one of: "time zone", "dog's name"; None for no such."""
    plain = " ".join(words.lower().replace("’", "'").split())
    if plain in ATTRIBUTES:
        return ATTRIBUTES[plain]
    owned = _OWNED.fullmatch(plain)
    if owned and owned["who"] not in _NOBODY:
        return normalize_fact_key(f"user.{owned['who']}.{owned['what']}")[0]
    return None


def said_of_me(clause: str) -> tuple[str, int] | None:
    """Return (the key, where its value begins) of "I live in Oslo"; None for other words."""
    for pattern, key in _SAID:
        match = re.match(rf"(?i){pattern}\s+", clause)
        if match:
            return key, match.end()
    return None


ALIKE: Final = 0.5  # the least cosine of two nouns that speak of one thing: "wife", "spouse"
SAYS_AS_MUCH: Final = 0.47  # of a sentence of what one is, to one that names the key; of its frame
SAYS_OF_VALUE: Final = 0.63  # the same with the value in both: "I am tired" is no job
DONE_TO: Final = 0.65  # of the frame where the value is what something is done to: "I met X"

_HOLDERS: Final = word_set(
    "user profile info information detail setting contact personal basic current main primary own"
    " default general data about status value fact misc other type the of is my me self preference"
)
_COMMON: Final = word_set(
    "name age birthday email phone address job breed color type size number date title location"
    " city"
)
_THEIRS: Final = word_set("his her their your its whose no another")
_ME: Final = SELF | word_set("me us")


@lru_cache(maxsize=1024)
def _key_words(key: str) -> tuple[frozenset[str], frozenset[str], str]:
    """Return (the words of a key, those that say what it is about, the key in words)."""
    key = normalize_fact_key(key)[0]
    called = [said for said, named in ATTRIBUTES.items() if named == key]
    segments = [
        [_single(word) for word in segment.split("_") if word]
        for segment in key.removeprefix("user.").split(".")
    ]
    parts = [word for segment in segments for word in segment]
    if len(segments) > 1 and segments[-1][-1] in _COMMON:
        segments = segments[:-1]  # `user.dog.name` needs the dog
    telling = {word for segment in segments for word in ("".join(segment), *segment)}
    telling |= {part for said in called if " " not in said for part in said.split("-")}
    every = {*parts, *telling, *re.findall(r"\w+", " ".join(called))}
    return frozenset(every), frozenset(telling - _HOLDERS or telling), " ".join(parts)


@lru_cache(maxsize=4096)
def _single(word: str) -> str:
    return singular(word.lower().replace("’", "'").replace("-", "").removesuffix("'s"))


def says_key(
    key: str, told: Told, words: Sequence[int] | None = None, *, owned: bool = False
) -> bool:
    """Say whether words of a message speak of what a key is about; those of its value, if not said.

    `owned` asks for a noun that is mine.
    """
    every, wanted, named = _key_words(key)
    if words is None:
        meant = [i for i in told.meant if i == told.own or not told.unmeant(i)]
        words = sorted({j for i in meant for j in told.beside(i)})
    for i in words:
        if i in told.taken or told.tokens[i].pos not in ("ADJ", "NOUN", "PROPN", "X"):
            continue
        single = _single(told.words[i])
        pair = single + _single(told.words[i + 1]) if i + 1 < len(told.words) else single
        said = any(_same(noun, single) or noun == pair for noun in wanted)
        if said and _is_mine(told, i, every, owned=owned):
            return True
    return not owned and _says_as_much(told, named, list(words))


def _is_mine(told: Told, i: int, every: frozenset[str], *, owned: bool) -> bool:
    """Say whether nobody and nothing else is said to have what a word names."""
    head = i
    while told.tokens[head].relation in ("compound", "flat"):
        head = told.tokens[head].head
    around = {*told.below[i], *told.below[head]} - {i, head}
    own = bool(OWN & {told.words[j] for j in around})
    common = _single(told.words[head]) in _COMMON
    for j in around:
        relation, single = told.tokens[j].relation, _single(told.words[j])
        if any(_same(noun, single) for noun in every) or j == told.own:
            continue
        below = {told.words[k] for k in told.below[j]}
        if told.words[j] in _THEIRS or (relation == "nmod" and below & {"'s", "'"}):
            return False
        if relation == "nmod" and "of" in below and common:
            return False  # "the name of my dog"
        if relation == "compound" and (common or not own):
            return False  # a file name, the office phone
    return own or not owned


def _says_as_much(told: Told, named: str, words: Sequence[int]) -> bool:
    """Say whether what its writer is or does says as much as a sentence that names a key."""
    said, own = {told.words[i] for i in words}, told.own
    subjects = [i for i in words if told.tokens[i].relation == "nsubj" and i != own]
    others = not said & {"me", "us"} and any(told.words[i] not in SELF for i in subjects)
    if not said & _ME or others or any("wish" in c.flags for c in told.reading.clauses):
        return False
    taken = told.taken if own is not None else {i for i in words if told.tokens[i].pos == "PROPN"}
    frame = " ".join("X" if i in taken else told.words[i] for i in words)
    relation, above = (
        ("", -1) if own is None else (told.tokens[own].relation, told.tokens[own].head)
    )
    if relation == "nsubj" and told.tokens[above].pos == "VERB":
        return False  # "Carla called me"
    if _near(frame, f"my {named} is X") < (DONE_TO if relation == "obj" else SAYS_AS_MUCH):
        return False
    value = told.value_said or "X"  # none is said in "I no longer live in Oslo"
    known = own is None or _near(frame.replace("X", value), f"my {named} is {value}")
    return known is True or known >= SAYS_OF_VALUE


def _same(noun: str, single: str) -> bool:
    words = len(noun) > 2 and len(single) > 2 and noun.isalpha() and single.isalpha()
    return noun == single or (words and _near(noun, single) >= ALIKE)


@lru_cache(maxsize=4096)
def _near(one: str, other: str) -> float:
    first, second = bundled().embed([one, other])
    return float(first @ second)
