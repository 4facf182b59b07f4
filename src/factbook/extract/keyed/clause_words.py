"""Know the words that the clauses of a message about keyed facts are made of.

Knows: fillers, leads, links, pronouns, what no value is, and the attributes that a person has. Does
not know the shapes of clauses (`clauses`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from factbook.extract.keyed.contracts import OpName
from factbook.extract.keyed.wording import (
    FAVORITE,
    RANK,
)
from factbook.language.coordination import spoken_items
from factbook.language.sentences import Span
from factbook.model.keys import (
    canonical_list_key,
    names_something,
    normalize_fact_key,
)

__all__ = [
    "ADVERBS",
    "ATTRIBUTES",
    "DEFINED",
    "FILLERS",
    "LATER_WORDS",
    "LEADING_WORDS",
    "LINK",
    "MORE",
    "NO_BEGINNING",
    "NO_VALUE",
    "OR",
    "PICK",
    "PRONOUNS",
    "TRIALS",
    "Refused",
    "UnplacedOp",
    "attribute_key",
    "topic_in",
]

TRIALS: Final = 600  # readings of clauses that one message is worth


class Refused(Exception):  # an outcome of reading, turned into a reason by `phrases`
    """Carries why words that a rule knows say nothing that could be done."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UnplacedOp:
    """One operation before its list is known."""

    op: OpName
    clause: Span
    topic: str | None = None  # as it was said; None: none was named
    key: str = ""  # of a fact that is in no list; empty for a list
    rank: int | None = None
    from_rank: int | None = None
    values: tuple[Span, ...] = ()


# --- words ----------------------------------------------------------------------------------------

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

LEADING_WORDS: Final = re.compile(
    r"(?:(?:hey|hi|hello|ok|okay|alright|well|so|oh|yes|yeah|yep|actually|honestly|btw|by\s+the\s+way"
    r"|fyi|also|and|then|please|kindly|now|note\s+that|please\s+note\s+that|remember\s+that|remember"
    r"|just\s+so\s+you\s+know|for\s+the\s+record|today|from\s+now\s+on|these\s+days|currently"
    r"|i\s+(?:want|need|would\s+like|['’]d\s+like)\s+you\s+to|let['’]?s)(?:\s*[,:]\s*|\s+))+",
    re.IGNORECASE,
)
LATER_WORDS: Final = re.compile(
    r"(?:[\s,]+(?:now|right\s+now|please|instead|again|too|as\s+well|these\s+days|at\s+the\s+moment"
    r"|thanks|thank\s+you|btw|though|of\s+course|of\s+all\s+time|of\s+all|ever|so\s+far|from\s+now\s+on"
    r"|for\s+me|by\s+far|of\s+mine))+$"
)  # in lower case: a film is called "Apocalypse Now"
ADVERBS: Final = (
    r"(?:(?:actually|really|now|currently|still|definitely|also|honestly|officially|absolutely|truly"
    r"|clearly|obviously|by\s+far|easily|hands\s+down|just|already|again)\s+)*"
)
FILLERS: Final = re.compile(
    r"(?:hi|hello|hey|thanks|thank\s+you|cheers|please|ok|okay|great|got\s+it|please\s+remember"
    r"(?:\s+(?:this|that|it))?|remember\s+(?:this|that|it)|note\s+(?:this|that))"
    r"(?:\s+(?:there|so\s+much|very\s+much|a\s+lot|please))*[.!]*",
    re.IGNORECASE,
)

PICK: Final = r"(?:picks?|choices?|spot|position|place|slot)"
DEFINED: Final = rf"(?:(?P<rank>{RANK})|(?P<favorite>{FAVORITE}))"
LINK: Final = (
    rf"(?:\s+(?P<are>are)(?:\s*:\s*|\s+{ADVERBS})|\s+is(?:\s*:\s*|\s+{ADVERBS})"
    rf"|['’]s\s+{ADVERBS}|\s*[:=]\s*)"
)

_WORD_OF_TOPIC: Final = re.compile(r"[\w'’&+#./%-]*[^\W_][\w'’&+#./%!-]*|&|\+")
_NO_TOPIC_WORDS: Final = frozenset(
    """
    is are was were be been being am isn't aren't my your his her their our its i you he she it they
    we me us them this these those not no never if because since when while but so which who whom
    whose what will would could should might may has have had does did says said think thinks than
    """.split()  # noqa: SIM905
)
_JOINING: Final = frozenset(("and", "or", "but", "then", "plus", "&", "with", "as", "at", "to"))
PRONOUNS: Final = frozenset(
    """
    it that this these those he she him her they them one ones so something anything everything
    nothing someone somebody nobody none both all mine yours what whatever the same here there
    """.split()  # noqa: SIM905
)
NO_BEGINNING: Final = re.compile(
    r"(?:if|when|whenever|unless|until|suppose|supposing|imagine|assume|assuming|whether|maybe"
    r"|perhaps|probably|possibly|because|since|although|though|while|i|we|he|she|they|you|my|your"
    r"|his|our|their|what|who|which|why|how|where|whose|not|never|neither|nor|no|but|or|is|are|was"
    r"|were|do|does|did)(?!\w)",
    re.IGNORECASE,
)
NO_VALUE: Final = re.compile(
    r"(?:not|never|no longer|neither|nor|maybe|perhaps|probably|possibly|unknown|undecided|either"
    r"|whatever|what|when|where|who|how|if|between)(?!\w)"
)  # in lower case: a book is called "Never Let Me Go"
MORE: Final = re.compile(r"\bmy\s|#\s?\d|[?？]|\bno longer\b", re.IGNORECASE)  # of no plain value
OR: Final = re.compile(r"\s+or\s+", re.IGNORECASE)


def attribute_key(words: str) -> str | None:
    """Return the key of what a person has one of: "time zone", "dog's name"; None for no such."""
    plain = " ".join(words.lower().replace("’", "'").split())
    if plain in ATTRIBUTES:
        return ATTRIBUTES[plain]
    owned = _OWNED.fullmatch(plain)
    if owned and owned["who"] not in PRONOUNS:
        return normalize_fact_key(f"user.{owned['who']}.{owned['what']}")[0]
    return None


def topic_in(words: str, known: frozenset[str]) -> tuple[bool, str | None]:
    """Return (is it a place for a topic, the topic) of the words after "my #1" or "my favorite".

    Takes away what is said besides: "favorite", "pick for", "in my ... list". No words are a place
    without a topic. What holds a verb or a pronoun is none: there something else is said.
    """
    text = LATER_WORDS.sub("", " " + " ".join(words.split())).strip(" ,:")
    text = re.sub(rf"(?i)^(?:(?:{FAVORITE}|{PICK}|ones?|things?)(?:\s+|$))+", "", text)
    within = re.match(
        r"(?i)(?:in|on|for|from|among|amongst|of|under|within|out\s+of)(?:\s+|$)(?:(?:my|the)(?:\s+|$))?",
        text,
    )
    if within:
        text = text[within.end() :]
    else:
        inner = re.match(
            r"(?i)(?P<pick>.*?)\s*(?:in|on|for|from|of|among)\s+my\s+(?P<rest>.*)", text
        )
        if inner and not inner["pick"]:
            text = inner["rest"]
    text = re.sub(r"(?i)^(?:list|ranking)\s+of\s+(?:my\s+)?", "", text)
    text = re.sub(rf"(?i)^(?:{FAVORITE})(?:\s+|$)", "", text)
    text = re.sub(r"(?i)(?:^|\s+)(?:favou?rites|favs|faves)?\s*(?:lists?|ranking)$", "", text)
    text = re.sub(r"(?i)\s+(?:favou?rites|favs|faves)$", "", text).strip()
    if not text:
        return True, None
    parts = text.split()
    if len(parts) > 6 or not all(map(_WORD_OF_TOPIC.fullmatch, parts)):
        return False, None
    if any(part.lower().strip(".") in _NO_TOPIC_WORDS for part in parts):
        return False, None
    if parts[0].lower() in _JOINING or any(re.match(r"#\d", part) for part in parts):
        return False, None  # "at #1 and ETH at #2": another clause
    if not names_something(text):
        return False, None
    if len(spoken_items(text)) > 1 and canonical_list_key(text) not in known:
        return False, None  # "books and films": two lists, or one? That is for the person to say.
    return True, text
