"""Tell whether words say what a key is about: "I live in Oslo" says what `user.city` is.

Every key has words of its own, and some that mean the same. Some are said by what one does or is.
A word that is somebody else's does not count: "my dog's name is Rex" says nothing of `user.name`.
English only.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Final

from factbook.embed import bundled
from factbook.extract.keyed.told import OWN, SELF, Told, stems_of
from factbook.extract.keyed.wording import words_of
from factbook.language.nouns import singular
from factbook.model.keys import normalize_fact_key

__all__ = ["ATTRIBUTES", "attribute_key", "said_of_me", "says_key"]


# --- what the rules know --------------------------------------------------------------------------

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
_NOBODY: Final = words_of("it that this these those he she him her they them who what")
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


# --- any key --------------------------------------------------------------------------------------

ALIKE: Final = 0.5  # the least cosine of two nouns that speak of one thing: "wife", "spouse"

_DOING: Final = """
live move base reside relocate settle locate stay in : location city town home residence address
 country state region area neighborhood district county
come grow raise born from : country hometown birthplace origin nationality citizenship
work employ join hire start retire : employer company workplace work organization office occupation
 job profession career role title position
call name : name nickname username
go know : nickname username
a : occupation job profession career role title position
turn old year : age
born : birthday birthdate dob birth
speak fluent write : language tongue
marry engage date wed with : spouse partner wife husband relationship marital
am a : relationship marital gender pronoun religion faith species
drive ride own : car vehicle bike
allergic intolerant : allergy
tall : height
weigh : weight
study graduate attend go major : school university college education degree major field
use run switch on : editor ide browser os shell terminal keyboard tool laptop framework stack
 database computer system theme app
like love enjoy prefer adore fan into : hobby interest like love preference preferred prefer
 favorite
hate dislike loathe avoid : dislike hate
want plan hope aim try dream intend : goal plan dream
earn make pay : salary income
feel : mood feeling
play do : instrument sport game
reach call text : mobile phone contact
reach write mail contact : email mail
eat follow : diet
build work : project
"""
"""What one does or is, and what that speaks of; "am", "a" and what stands before it: "I am in"."""


def _groups(text: str) -> list[list[str]]:
    return [line.split() for line in text.strip().replace("\n ", " ").splitlines()]


_DEEDS: Final = [
    (stems_of(doing), words_of(keys))
    for doing, _, keys in (" ".join(group).partition(" : ") for group in _groups(_DOING))
]
# What "I am ..." says depends on what follows: (a word of a key, the value it needs).
_BY_VALUE: Final = (
    ("name", re.compile(r"[A-ZÀ-ÖØ-Þ][^\W\d_'’.-]*(?:[\s'’.-]+[A-ZÀ-ÖØ-Þ]?[^\W\d_]*){0,3}")),
    ("age", re.compile(r"\d{1,3}(?:\s+years?(?:\s+old)?)?")),
    ("nationality", re.compile(r"[A-ZÀ-ÖØ-Þ][^\W\d_]+(?:[\s-][^\W\d_]+)?")),
    ("diet", re.compile(r"(?i)(?:vegan|vegetarian|pescatarian|lactose.*|gluten.*|keto)")),
    ("height", re.compile(r"\d[\d.,'\" ]*(?:cm|m|ft|feet|inches)?.*")),
)
_TO_ME: Final = stems_of("call reach text write mail contact")  # of me only where they say so
_NOT_AT_WORK: Final = words_of("as in with on out from")
_EMPLOYERS: Final = words_of("employer company workplace work organization office")
_HOLDERS: Final = words_of(
    "user profile info information detail setting contact personal basic current main primary own"
    " default general data about status value fact misc other type the of is my me self"
)
_COMMON: Final = words_of(
    "name age birthday email phone address job breed color type size number date title location"
    " city"
)
_THEIRS: Final = words_of("his her their your its whose no another")


@lru_cache(maxsize=1024)
def _key_words(key: str) -> tuple[tuple[str, ...], ...]:
    """Return the words of a key's segments that say what it is about, in the singular."""
    segments = [
        tuple(_single(word) for word in segment.split("_") if word)
        for segment in normalize_fact_key(key)[0].split(".")
    ]
    telling = [tuple(word for word in segment if word not in _HOLDERS) for segment in segments]
    whole = [segment for segment in segments if segment != ("user",)]
    return tuple(segment for segment in telling if segment) or tuple(whole)


@lru_cache(maxsize=4096)
def _single(word: str) -> str:
    return singular(word.lower().replace("’", "'").replace("-", "").removesuffix("'s"))


def says_key(key: str, told: Told, words: Sequence[int], *, owned: bool = False) -> bool:
    """Say whether words of a message speak of what a key is about.

    Of a key in parts one word is enough, but for a part that many things have: `user.dog.name`
    needs the dog, and `user.name` must not be the dog's. `owned` asks for a noun that is mine.
    """
    segments = _key_words(key)
    called = [said for said, named in ATTRIBUTES.items() if named == normalize_fact_key(key)[0]]
    mine = {word for segment in segments for word in segment} | {
        *re.findall(r"\w+", " ".join(called))
    }
    if len(segments) > 1 and segments[-1][-1] in _COMMON:
        segments = segments[:-1]
    wanted = {word for part in segments for word in ("".join(part), *part)} - _HOLDERS
    wanted |= {part for said in called if " " not in said for part in re.findall(r"\w+", said)}
    if any(_is_mine(told, i, mine | wanted, owned=owned) for i in _nouns(told, words, wanted)):
        return True
    done = set() if owned else set(_deeds(told, words))
    value = told.value_said
    if "am" in done and any(word in wanted and shape.fullmatch(value) for word, shape in _BY_VALUE):
        return True
    before = {told.words[j] for j in told.below[told.own]} if told.own is not None else set()
    if wanted <= _EMPLOYERS and before & _NOT_AT_WORK:
        return False  # "I work with Bob"
    return any(done & doing and wanted & keys for doing, keys in _DEEDS)


def _nouns(told: Told, words: Iterable[int], wanted: set[str]) -> Iterator[int]:
    """Yield the words that name what a key is about, also in two words: "time zone"."""
    taken = told.at(told.value) if told.value else []
    for i in words:
        if i in taken or told.tokens[i].pos == "VERB":
            continue
        single = _single(told.words[i])
        pair = single + _single(told.words[i + 1]) if i + 1 < len(told.words) else single
        if single and any(_same(noun, single) or noun == pair for noun in wanted):
            yield i


def _is_mine(told: Told, i: int, mine: set[str], *, owned: bool) -> bool:
    """Say whether nobody and nothing else is said to have what a word names."""
    head = i
    while told.tokens[head].relation in ("compound", "flat"):
        head = told.tokens[head].head
    around = {*told.below[i], *told.below[head]} - {i, head}
    own = bool(OWN & {told.words[j] for j in around})
    common = bool({_single(told.words[i]), _single(told.words[head])} & _COMMON)
    for j in around:
        relation, single = told.tokens[j].relation, _single(told.words[j])
        if any(_same(noun, single) for noun in mine) or j == told.own:
            continue
        below = {told.words[k] for k in told.below[j]}
        if told.words[j] in _THEIRS or (relation == "nmod" and below & {"'s", "'"}):
            return False
        if relation == "nmod" and "of" in below and common:
            return False  # "the name of my dog"
        if relation == "compound" and (common or not own):
            return False  # a file name, the office phone
    return own or not owned


def _deeds(told: Told, words: Iterable[int]) -> Iterator[str]:
    """Yield the stems of what one does or is; "am" and "a", or what stands before the value."""
    for i in words:
        subject, below = told.subject(i), {told.words[j] for j in told.below[i]}
        token, me = told.tokens[i], "me" in {told.words[j] for j in told.under(i)}
        bare = subject is None and token.pos == "VERB" and token.relation != "xcomp"
        of_me = subject in SELF or (bare and told.stems[i] not in _TO_ME)
        if i != told.own and (of_me or (me and not told.does(told.own, i))):
            yield told.stems[i]
        if i == told.own and subject in SELF:
            before = [told.words[j] for j in told.below[i] if told.tokens[j].relation == "case"]
            yield from before or (["a", "am"] if below & {"a", "an", "the"} else ["am"])


def _same(noun: str, single: str) -> bool:
    """Say whether two nouns speak of one thing: by their endings, or by their vectors."""
    short = min(len(noun), len(single))
    begins = short >= 5 and noun[: max(5, short - 2)] == single[: max(5, short - 2)]
    return noun == single or begins or (short > 2 and _near(noun, single) >= ALIKE)


@lru_cache(maxsize=4096)
def _near(one: str, other: str) -> float:
    """Return the cosine of two words; 0 for what is none."""
    if not (len(one) > 1 and one.isalpha() and len(other) > 1 and other.isalpha()):
        return 0.0
    first, second = bundled().embed([one, other])
    return float(first @ second)
