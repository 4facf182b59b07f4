"""Tell whether words say what a key is about: "I live in Oslo" says what `user.city` is.

Every key has words of its own. Some are said in others, as the table below has it. A word that is
somebody else's does not count: "my dog's name is Rex" says nothing of `user.name`. English only.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Final

from factbook.extract.keyed.told import VALUE
from factbook.extract.keyed.wording import words_of
from factbook.language.nouns import singular
from factbook.language.words import COMPOUND
from factbook.model.keys import normalize_fact_key

__all__ = ["ATTRIBUTES", "attribute_key", "key_words", "said_of_me", "says_key"]

ATTRIBUTES: Final[Mapping[str, str]] = {
    **dict.fromkeys(("timezone", "time zone"), "user.timezone"),
    **dict.fromkeys(("name", "full name"), "user.name"),
    **dict.fromkeys(("first name", "given name"), "user.first_name"),
    **dict.fromkeys(("last name", "surname", "family name"), "user.last_name"),
    "middle name": "user.middle_name",
    **dict.fromkeys(("nickname", "username", "user name"), "user.nickname"),
    **dict.fromkeys(("email", "e-mail", "email address", "e-mail address"), "user.email"),
    **dict.fromkeys(
        ("phone", "phone number", "mobile number", "cell number", "telephone number"), "user.phone"
    ),
    **dict.fromkeys(("birthday", "birth date", "birthdate", "date of birth"), "user.birthday"),
    **dict.fromkeys(("birthplace", "place of birth"), "user.birthplace"),
    "age": "user.age",
    **dict.fromkeys(("pronouns",), "user.pronouns"),
    "gender": "user.gender",
    **dict.fromkeys(("address", "home address"), "user.address"),
    **dict.fromkeys(("location", "home", "home city", "city"), "user.location"),
    **dict.fromkeys(("hometown", "home town"), "user.hometown"),
    "country": "user.country",
    "nationality": "user.nationality",
    **dict.fromkeys(("occupation", "job", "profession"), "user.occupation"),
    "job title": "user.job_title",
    **dict.fromkeys(("employer", "company", "workplace"), "user.employer"),
    **dict.fromkeys(("language", "native language", "mother tongue"), "user.language"),
    "currency": "user.currency",
    "locale": "user.locale",
    "height": "user.height",
    "weight": "user.weight",
    "shoe size": "user.shoe_size",
    "blood type": "user.blood_type",
    "website": "user.website",
    "github": "user.github",
    "star sign": "user.star_sign",
    **{
        relative: f"user.{relative}"
        for relative in ("wife", "husband", "partner", "girlfriend", "boyfriend", "boss")
    },
}
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


_I: Final = (
    r"(?:\b(?:i|we)(?:['’](?:m|ve|re|ll))?|\b(?:im|ive)\b|^)\W*(?:(?:am|are|have|been|just|now"
    r"|currently|also|still|recently|really|actually|mostly|usually|mainly|only|always|do|will|used"
    r"|speak|hi|hello|hey|well|yes)\s+|[,:]\s*)*"
)
_V: Final = f"{VALUE}+"
_LIVE: Final = (
    rf"{_I}(?:live|living|moved|moving|based|reside|residing|relocated|relocating|settled|located"
    rf"|stay|staying|home)\b|{_I}in\s+{_V}|\bhome\s+is\b"
)
_FROM: Final = rf"{_I}(?:from|come\s+from|grew\s+up|(?:was\s+|were\s+)?(?:raised|born))\b"
_WORK: Final = (
    rf"{_I}(?:(?:work|working|worked)\b(?!\s+(?:with|on|out|from)\b)|(?:employed|joined|joining"
    rf"|hired|job|started\s+at|start\s+at|retired)\b)"
)
_AT_WORK: Final = (
    rf"{_WORK}(?!\s+(?:in|as)\b)|\bi(?:['’]?m|\s+am)\s+(?:an?|the)\s+(?:[\w-]+\s+){{1,4}}(?:at|for)"
    rf"\s+{_V}"
)
_AM: Final = rf"{_I}(?:an?\s+|the\s+)?{_V}"
_AM_A: Final = rf"{_I}(?:an?\s+|the\s+){_V}"
_CALLED: Final = rf"{_I}(?:called|named)\b|\bcall\s+me\b|\bthis\s+is\s+{_V}"
_USE: Final = rf"{_I}(?:use|using|switched\s+to|run|on)\b"
_LIKE: Final = (
    rf"{_I}(?:like|love|enjoy|prefer|into|would\s+rather|rather|adore|fan)\b|\bfavou?rite\b"
)
_WED: Final = rf"{_I}(?:married|engaged|dating|with|wed)\b"

# What a word of a key may be said with: nouns, which are words like the key's own, and forms.
_NOUNS: Final[Mapping[str, str]] = {
    "timezone": "time zone tz utc gmt",
    "zone": "time",
    "name": "names",
    "nickname": "nick handle username",
    "username": "handle nickname login user",
    "handle": "username nickname",
    "surname": "last family",
    "last": "surname family",
    "lastname": "surname",
    "language": "tongue mothertongue",
    "email": "mail e-mail",
    "phone": "telephone mobile cell number",
    "mobile": "phone cell number",
    "birthday": "birth birthdate dob",
    "birthdate": "birthday dob birth",
    "dob": "birthday birth birthdate",
    "birth": "birthday birthdate",
    "birthplace": "birth",
    "age": "years yrs",
    "address": "street",
    "location": "home city town address",
    "city": "home town hometown location",
    "town": "city home hometown",
    "home": "house address",
    "residence": "home address",
    "hometown": "home town",
    "country": "nation nationality home",
    "nationality": "citizen citizenship national",
    "citizenship": "citizen nationality",
    "occupation": "job profession career role title trade",
    "job": "occupation profession role title position work",
    "profession": "job occupation career",
    "career": "job profession occupation",
    "role": "job position title",
    "title": "job role position",
    "position": "job role title",
    "employer": "company workplace firm boss",
    "company": "employer firm workplace startup business",
    "workplace": "employer company office",
    "work": "job employer company",
    "spouse": "wife husband partner",
    "partner": "wife husband spouse girlfriend boyfriend fiance fiancee",
    "relationship": "married single divorced partner",
    "marital": "married single divorced widowed",
    "pet": "dog cat puppy kitten hamster rabbit bird parrot fish horse",
    "dog": "puppy pup",
    "cat": "kitten kitty",
    "kid": "child children son daughter",
    "child": "kid kids son daughter",
    "mother": "mom mum mama",
    "father": "dad papa",
    "sibling": "brother sister",
    "car": "vehicle",
    "vehicle": "car bike truck motorcycle",
    "diet": "eat vegan vegetarian food",
    "dietary": "diet eat vegan vegetarian food",
    "school": "university college student",
    "university": "college school uni student",
    "college": "university school uni student",
    "education": "degree university college school",
    "degree": "graduate graduated diploma",
    "major": "degree",
    "website": "site url homepage blog page",
    "url": "website site link",
    "color": "colour",
    "hobby": "hobbies pastime",
    "theme": "mode",
    "os": "system linux",
    "ide": "editor",
    "doctor": "physician gp",
    "height": "tall",
    "salary": "income pay",
    "drink": "coffee tea",
}
_FORMS: Final[Mapping[str, str]] = {
    **dict.fromkeys(("location", "city", "town", "home", "residence", "address"), _LIVE),
    "country": rf"{_LIVE}|{_FROM}",
    **dict.fromkeys(("state", "region", "area", "neighborhood", "district", "county"), _LIVE),
    **dict.fromkeys(("hometown", "birthplace", "origin", "nationality", "citizenship"), _FROM),
    **dict.fromkeys(
        ("employer", "company", "workplace", "work", "organization", "office"), _AT_WORK
    ),
    **dict.fromkeys(
        ("occupation", "job", "profession", "career", "role", "title", "position"),
        rf"{_WORK}|{_AM_A}",
    ),
    "name": _CALLED,
    **dict.fromkeys(("nickname", "username"), rf"{_CALLED}|\bgo(?:es)?\s+by\b|\bknown\s+as\b"),
    "age": rf"\byears?\s+old\b|{_I}turn(?:ed|ing)?\b",
    **dict.fromkeys(("birthday", "birthdate", "dob", "birth"), rf"{_I}(?:was\s+)?born\b"),
    **dict.fromkeys(("language", "tongue"), rf"{_I}(?:speak|fluent|write|speaking)\b|\bnative\b"),
    **dict.fromkeys(("spouse", "partner", "wife", "husband"), _WED),
    **dict.fromkeys(("relationship", "marital"), rf"{_WED}|{_AM}"),
    **dict.fromkeys(("car", "vehicle", "bike"), rf"{_I}(?:drive|driving|ride|own)\b"),
    "allergy": rf"{_I}(?:allergic|intolerant)\b",
    "height": r"\btall\b",
    "weight": rf"{_I}weigh\b",
    **dict.fromkeys(
        ("school", "university", "college", "education", "degree", "major", "field"),
        rf"{_I}(?:stud(?:y|ied|ying)|graduat\w+|attend\w*|went\s+to|major\w*|go\s+to)\b",
    ),
    **dict.fromkeys(("gender", "pronoun", "religion", "faith", "species"), _AM),
    **dict.fromkeys(
        (
            *("editor", "ide", "browser", "os", "shell", "terminal", "keyboard", "tool", "laptop"),
            *("framework", "stack", "database", "computer", "system", "theme", "app"),
        ),
        _USE,
    ),
    **dict.fromkeys(
        ("hobby", "interest", "like", "love", "preference", "preferred", "prefer", "favorite"),
        _LIKE,
    ),
    **dict.fromkeys(("dislike", "hate"), rf"{_I}(?:hate|dislike|loathe|avoid)\b"),
    **dict.fromkeys(
        ("goal", "plan", "dream"),
        rf"{_I}(?:want|plan|planning|hope|aim|aiming|trying|dream|intend|going)\b",
    ),
    **dict.fromkeys(("salary", "income"), rf"{_I}(?:earn|make|paid|get\s+paid)\b"),
    **dict.fromkeys(("mood", "feeling"), rf"{_I}(?:feel|feeling)\b"),
    **dict.fromkeys(("instrument", "sport", "game"), rf"{_I}(?:play|playing|do)\b"),
    **dict.fromkeys(("mobile", "phone", "contact"), r"\b(?:reach|call|text)\s+me\b"),
    **dict.fromkeys(("email", "mail"), r"\b(?:reach|write|mail|contact)\s+(?:to\s+)?me\b"),
    "diet": rf"{_I}(?:eat|follow)\b",
    "project": rf"{_I}(?:work|working|build|building)\b",
}

# What "I am ..." says depends on what follows: (a word of a key, the value it needs).
_BY_VALUE: Final = (
    ("name", re.compile(r"[A-ZÀ-ÖØ-Þ][^\W\d_'’.-]*(?:[\s'’.-]+[A-ZÀ-ÖØ-Þ]?[^\W\d_]*){0,3}")),
    ("age", re.compile(r"\d{1,3}(?:\s+years?(?:\s+old)?)?")),
    ("nationality", re.compile(r"[A-ZÀ-ÖØ-Þ][^\W\d_]+(?:[\s-][^\W\d_]+)?")),
    (
        "diet",
        re.compile(r"(?i)(?:an?\s+)?(?:vegan|vegetarian|pescatarian|lactose.*|gluten.*|keto)"),
    ),
    ("height", re.compile(r"\d[\d.,'\" ]*(?:cm|m|ft|feet|inches)?.*")),
)
_I_AM: Final = re.compile(rf"{_I}(?:an?\s+)?{_V}", re.IGNORECASE)
_MAIL: Final = re.compile(r"\S+@\S+\.\S+")
_LINK: Final = re.compile(r"(?:https?://|www\.)\S+", re.IGNORECASE)

_HOLDERS: Final = frozenset(
    """
    user profile info information detail setting contact personal basic current main primary own
    default general data about status value fact misc other type the of is my me self
    """.split()  # noqa: SIM905
)
_COMMON: Final = frozenset(
    """
    name age birthday email phone address job breed color type size number date title location city
    """.split()  # noqa: SIM905
)
_WORD: Final = re.compile(rf"{COMPOUND.pattern}['’]?")
_THEIRS: Final = frozenset(("his", "her", "their", "your", "its", "whose", "no", "another"))
_OF_A_NAME: Final = frozenset(
    """
    my our the a own full real actual legal first last given family complete new preferred correct
    user birth maiden middle chosen by and or whole proper what i is for me
    """.split()  # noqa: SIM905
)
_RELATIONS: Final = frozenset(
    """
    wife husband partner spouse mother father mom mum dad brother sister son daughter boss friend
    dog cat pet parents boyfriend girlfriend colleague neighbor roommate uncle aunt cousin
    """.split()  # noqa: SIM905
)


@lru_cache(maxsize=1024)
def key_words(key: str) -> tuple[tuple[str, ...], ...]:
    """Return the words of a key's segments that say what it is about, in the singular."""
    segments = [
        tuple(_single(word) for word in segment.split("_") if word)
        for segment in normalize_fact_key(key)[0].split(".")
    ]
    telling = [
        kept
        for segment in segments
        if (kept := tuple(word for word in segment if word not in _HOLDERS))
    ]
    whole = [segment for segment in segments if segment != ("user",)]
    return tuple(telling or whole)


@lru_cache(maxsize=4096)
def _single(word: str) -> str:
    """Return a word in the singular, as keys are compared."""
    plain = word.lower().replace("’", "'")
    if plain.endswith(("'s", "s'")):
        plain = plain[:-2] if plain.endswith("'s") else plain[:-1]
    return singular(plain)


def says_key(key: str, words: str, value: str = "", *, owned: bool = False) -> bool:
    """Say whether words speak of what a key is about.

    Of a key in parts one word is enough, but for a part that many things have: `user.dog.name`
    needs the dog, and `user.name` must not be the dog's. `owned` asks for a noun that is mine.
    """
    segments = key_words(key)
    last = segments[-1]
    if len(segments) > 1 and last[-1] in _COMMON:
        segments = segments[:-1]
    mine = {word for segment in key_words(key) for word in segment}
    for segment in segments:
        joined = "".join(segment)
        for word in dict.fromkeys((joined, *segment)):
            if word == joined or word not in _HOLDERS:
                if _says_word(word, words, mine, owned=owned):
                    return True
                if not owned and _says_by_value(word, words, value):
                    return True
    return False


def _says_word(word: str, words: str, mine: set[str], *, owned: bool) -> bool:
    form = _FORMS.get(word)
    if form and not owned and re.search(form, words, re.IGNORECASE):
        return True
    nouns = {word, *_NOUNS.get(word, "").split()}
    tokens = _WORD.findall(words.replace(VALUE, " "))
    singles = [_single(token).replace("-", "") for token in tokens]
    for index, single in enumerate(singles):
        pair = single + singles[index + 1] if index + 1 < len(singles) else single
        noun = next((n for n in nouns if _same(n, single) or _same(n, pair)), None)
        if noun is not None and _is_mine(tokens, singles, index, noun, mine, owned=owned):
            return True
    return False


def _is_mine(
    tokens: list[str], singles: list[str], index: int, noun: str, mine: set[str], *, owned: bool
) -> bool:
    """Say whether nobody else is said to have what a word names."""
    before = tokens[max(0, index - 3) : index]
    near = [token.lower().replace("’", "'") for token in before]
    for token, single in zip(near, singles[max(0, index - 3) : index], strict=True):
        of_other = token.endswith(("'s", "s'")) and token not in _CONTRACTED
        if (token in _THEIRS or of_other) and single not in mine:
            return False
        if token in _RELATIONS and single not in mine and noun not in _RELATIONS:
            return False  # "my dog name"
    last = near[-1] if near and singles[index - 1] not in mine else ""
    if noun == "name" and last and last not in _OF_A_NAME and not last.endswith(("'s", "s'")):
        return False  # a file name, a brand name
    after = [token.lower() for token in tokens[index + 1 : index + 4]]
    whose = after[2] if after[:1] == ["of"] and len(after) == 3 else ""
    if whose and noun in _COMMON and _single(whose) not in mine:
        return False  # "the name of my dog"
    return not owned or bool({"my", "our"} & set(near))


_CONTRACTED: Final = frozenset(
    ("it's", "that's", "this's", "there's", "here's", "what's", "who's", "let's", "he's", "she's")
)


def _says_by_value(word: str, words: str, value: str) -> bool:
    if word in ("email", "mail") and _MAIL.fullmatch(value.strip()):
        return True
    if word in ("website", "url", "link", "blog", "homepage") and _LINK.fullmatch(value.strip()):
        return True
    for asked, shape in _BY_VALUE:
        if word == asked and shape.fullmatch(value.strip()) and _I_AM.search(words):
            return True
    return False


def _same(noun: str, single: str) -> bool:
    """Say whether two words are one, up to an ending: "allergy" and "allergic"."""
    if noun == single:
        return True
    short = min(len(noun), len(single))
    if short < 5:
        return False
    common = 0
    for letter, other in zip(noun, single, strict=False):
        if letter != other:
            break
        common += 1
    return common >= max(5, short - 2)
