"""Tell whether two sentences say the same of one thing in other words.

"The weight of the Denton is 7.5 kg" and "It weighs 7.5 kg" share no verb and no order, and yet
every page words it anew. Both are taken down to what they tell: numbers, names, and content words
by their stem, where words of one matter ("weighs", "weight") count as one and words that only hold
a sentence together ("comes with", "has", "unit") not at all. What then differs, differs.

Knows: two sentences about one thing and that thing's name. Does not know: other facts, vectors,
what is right. It is stricter than `judge` where that has no rule, and looser in nothing: numbers,
names, denials, conditions, limits and who did it to whom must be equal. English.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Final

from factbook.language.common_words import is_function_word
from factbook.language.numbers import CARDINALS
from factbook.language.questions import ends_asking
from factbook.language.words import stem

__all__ = ["RESTATED_SIMILARITY", "contains", "restates"]

RESTATED_SIMILARITY: Final = 0.70  # ours: cosine from which two sentences may restate each other
_LONGEST: Final = 30  # words of a sentence; a longer one says more than one thing


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


_NUMBERS: Final = {word: str(number) for word, number in CARDINALS.items()}

# Words of one matter, each row led by the word that stands for all of them.
_MATTERS: Final = {
    word: row.split()[0]
    for row in """
    price prices priced cost costs pricing
    weight weigh weighs weighing heavy
    length long
    width wide
    height high tall
    depth deep
    thickness thick
    make makes made making maker manufacture manufactures manufactured manufacturer produced
    make produces producer production built builds build assembled assembles constructed factory
    write writes wrote written author writer authors
    design designs designed designer designers
    found founded founder founders
    develop develops developed developer developers
    direct directed directs director
    invent invented invents inventor
    compose composed composes composer
    publish published publishes publisher
    create created creates creator
    paint painted paints painter
    narrate narrated narrates narrator
    read reads reader
    own owns owned owner
    discover discovered discovers discoverer
    warranty guarantee warranties guaranteed
    open opens opened opening
    begin begins began begun start starts started
    end ends ended finish finishes finished
    release released releases launched launch launches
    set setting
    photo photos photograph photographs picture pictures
    movie movies film films
    colour color colours colors
    litre litres liter liters l
    metre metres meter meters m
    millimetre millimetres millimeter millimeters mm
    centimetre centimetres centimeter centimeters cm
    kilometre kilometres kilometer kilometers km
    kilogram kilograms kilo kilos kg
    gram grams g
    minute minutes min mins
    second seconds sec secs
    hour hours h hrs
    euro euros eur €
    dollar dollars usd $
    """.strip().splitlines()
    for word in row.split()
}
# Hold a sentence together: say nothing beside what is had, is, or is said to be.
_EMPTY: Final = _set("""
    has have had having is are was were be been being it its they their this that these those the a
    an of with in on at for to by and comes come coming features feature featuring offers offer
    offering uses use using used equipped unit units which who there also there's it's does do did
    currently now overall total each both can who's whose made-of
    """)
# Say that a thing has what follows, where nothing else is said with them; "takes two batteries"
# and "comes with two batteries" are two matters all the same.
_HAVING: Final = _set("""
    run take hold need reach measur play stori contain includ requir amount piec model stand
    """)
_WANTING: Final = _set("need requir")  # "needs 40 watts" is not "has 40 watts"
_HOLDING: Final = _set("hold take contain includ")  # one matter with an amount of something
_DELIVERED: Final = "bundl"  # "comes with": of the two sides only one may say how it is had
_PHRASES: Final = (
    (re.compile(r"\b(?:is |are |was |were )?(?:made|built|made up|crafted|consists?)"
                r" (?:out )?(?:of|from)\b"), "of"),
    (re.compile(r"\bcomes? (?=with\b)|\bis delivered (?=with\b)|\bships (?=with\b)"), "bundles "),
    (re.compile(r"\btakes? place\b|\btook place\b|\bplays? (?=in [A-Z])"), "set"),
    (re.compile(r"\bat (?:once|a time|the same time)\b|\bin total\b"), " "),
    # A property needs no verb of its own: "the warranty of it runs for".
    (re.compile(r"(?<= of \x00) (?:(?:runs|lasts)(?: for)?|(?:takes|holds|reaches|measures"
                r"|stands at|amounts to|comes to))\b"), " is"),
    (re.compile(rf"\bruns? on (?=(?:\d|(?:{'|'.join(_NUMBERS)})\b))"), "takes "),
    (re.compile(r"\b(?:an?|the) (?:[\w.]+ )?\w+ one\b"), lambda match: match[0][: -len(" one")]),
    (re.compile(r",? (?:made|built|manufactured) by\b"), " by"),
)  # fmt: skip
_DENIES: Final = _set("""
    not no never nor neither none without hardly barely n't cannot lacks lack fails
    """)
_CONDITIONS: Final = _set("""
    may might could would should will shall must if unless when while although though but except
    only almost nearly about around over under below above least most up more less than until since
    before after from into against between rumoured rumored reportedly allegedly
    expected planned said supposed likely probably perhaps maybe
    """)  # a word that bounds what is said
_TOKEN: Final = re.compile(
    r"\d+(?:[.,:/]\d+)*(?:st|nd|rd|th)?|[^\W\d_]+(?:['’][^\W\d_]+)?|[$€£%]", re.UNICODE
)
_ENTITY: Final = "\x00"  # stands for the thing that both speak of
_PART_HAS: Final = re.compile(
    rf"the (?P<part>(?:[\w-]+ )?[\w-]+) of {_ENTITY} (?:has|have|holds?|takes?|contains?|includes?)"
    r" (?P<much>\w[\w.,]*)\b",
    re.IGNORECASE,
)
_TELLING: Final = 10  # ours: a whole number from which two parts seldom have as many by chance
_OWN: Final = re.compile(rf"{_ENTITY}'s (\w+)(?= (?:is|are|was|were|has|have)\b)")
_ITSELF: Final = re.compile(r"\b(?:it|they)\b", re.IGNORECASE)
_NUMBER: Final = re.compile(r"\d[\d.,:/]*(?:st|nd|rd|th)?")
_MEASURED: Final = re.compile(
    r"(?P<what>[^\W\d_]+) of (?P<much>\w[\w.,/]*) (?P<unit>\w+)"  # "stands on legs of 30 cm"
    r"|(?P<whole>[^\W\d_]+) +(?:of +)?(?:measures?|is|are) (?P<is_much>\w[\w.,/]*) (?P<in_unit>\w+)"
)
_AGENT: Final = re.compile(rf"\b(\w+) of (?:the )?{_ENTITY} (?:is|are|was|were)\b|\bby\b", re.I)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Told:
    """What one sentence tells of the thing."""

    keys: frozenset[str]
    numbers: tuple[str, ...]  # as they stand
    counted: frozenset[tuple[str, str]]  # number and what comes after it
    names: frozenset[str]  # words with a capital inside the sentence, in lower case
    bounds: frozenset[str]  # denials, conditions, limits
    measured: tuple[str, str, str] | None  # what of it measures how many of what; None without
    said_plainly: bool  # by "is" or "measures", and not beside something that the thing does
    part: frozenset[str]  # the part of it that is said to have so many of what
    named_first: bool | None  # a name does it before the thing is told of; None where there is none
    asks: bool
    words: int


_GOES_ON: Final = re.compile(r"(?:\s*[,;:–—]|\s+(?:and|but|while|which|who|as|so|because)\b)")


def contains(known: str, said: str) -> bool:
    """Tell whether a sentence is the beginning of a known one, up to where a clause of it ends.

    What is cut after its first clause at one time and kept whole at another is one statement.
    """
    whole, part = " ".join(known.split()), " ".join(said.split()).rstrip(" .!;,")
    if not part or not whole.casefold().startswith(part.casefold()):
        return False
    return _GOES_ON.match(whole[len(part) :]) is not None


def restates(entity: str, older: str, newer: str) -> bool:
    """Say whether two sentences about an entity say the same in other words, by their words alone.

    `entity` is its canonical name. Symmetric. A cosine below `RESTATED_SIMILARITY` is for whoever
    compares vectors to refuse.
    """
    old, new = _told(entity, older), _told(entity, newer)
    if max(old.words, new.words) > _LONGEST or old.asks or new.asks:
        return False
    if (
        old.numbers != new.numbers
        or old.names != new.names
        or old.bounds != new.bounds
        or old.named_first != new.named_first
    ):
        return False
    if len(old.numbers) > 1 and old.counted != new.counted:
        return False
    if not old.keys & new.keys and not (old.numbers or old.names):
        return False
    left, right = old.keys - new.keys, new.keys - old.keys
    if bool(old.part) != bool(new.part):  # "the hall of it has 120 seats", "it has 120 seats"
        left, right = left - old.part, right - new.part
    if left and right:
        holds = left | right <= _HOLDING and len(old.keys & new.keys) > 1
        return bool(old.numbers) and (holds or _measures(old, new))
    rest = (left or right) - {_DELIVERED}
    if not rest <= _HAVING or (rest & _WANTING and len(old.keys & new.keys) < 2):
        return False
    return not rest or bool(old.numbers or old.names)


def _measures(old: _Told, new: _Told) -> bool:
    """Say whether both only give the same measure of the same part.

    "Its legs measure 30 cm" says no less than "it stands on legs of 30 cm": beside a measure that
    is said plainly, what the thing does with that part tells nothing more.
    """
    if old.measured is None or old.measured != new.measured or len(old.numbers) > 1:
        return False
    told = {old.measured[0], old.measured[2]}
    plain, busy = (old, new) if old.said_plainly else (new, old)
    return plain.said_plainly and plain.keys - told <= _HAVING and len(busy.keys - told) <= 1


@lru_cache(maxsize=16_384)
def _told(entity: str, text: str) -> _Told:
    """Read a sentence."""
    plain = " ".join(text.replace("’", "'").split())
    plain = _called(entity).sub(_ENTITY, plain.removeprefix(f"{entity}: "))
    if _ENTITY not in plain:
        short = _called_short(entity)
        plain = short.sub(_ENTITY, plain, count=1) if short else plain
    if _ENTITY not in plain:
        plain = _ITSELF.sub(_ENTITY, plain, count=1)
    plain = _OWN.sub(rf"the \1 of {_ENTITY}", plain).replace(f"{_ENTITY}'s", _ENTITY)
    part = _part(plain)
    for pattern, instead in _PHRASES:
        plain = pattern.sub(instead, plain)
    spoken = plain.replace("-", " ").replace("n't", " not").replace(_ENTITY, " ")
    keys: list[str] = []
    numbers: list[str] = []
    places: list[tuple[str, bool]] = []  # (key, whether it is a number), in order
    names: set[str] = set()
    bounds: set[str] = set()
    matches = list(_TOKEN.finditer(spoken))
    for index, match in enumerate(matches):
        word, low = match[0], match[0].casefold()
        number = _NUMBERS.get(low) or (word if _NUMBER.fullmatch(word) else None)
        if number is not None:
            value = re.sub(r"(?<=\d),(?=\d{3})", "", number).rstrip(".,:")
            numbers.append(value)
            places.append((value, True))
            continue
        if low in _DENIES or low in _CONDITIONS:
            bounds.add("not" if low in _DENIES else low)
            continue
        if word[:1].isupper() and not (index == 0 and _is_common(low)):
            names.add(low.removesuffix("'s"))
            continue
        if low in _EMPTY or is_function_word(low):
            continue
        key = _key(low)
        keys.append(key)
        places.append((key, False))
    counted = {
        (first, second)
        for (first, is_number), (second, is_other) in pairwise(places)
        if is_number and not is_other
    }
    measured, said_plainly = _measure(spoken)
    return _Told(
        keys=frozenset(keys),
        measured=measured,
        said_plainly=said_plainly,
        part=part,
        numbers=tuple(numbers),
        counted=frozenset(counted),
        names=frozenset(names),
        bounds=frozenset(bounds),
        named_first=_named_first(plain, names),
        asks=ends_asking(plain),
        words=len(matches),
    )


def _key(word: str) -> str:
    return _MATTERS.get(word) or stem(_MATTERS.get(word.removesuffix("'s"), word))


def _part(plain: str) -> frozenset[str]:
    """Return the keys of the part that has an exact number of something; empty without."""
    match = _PART_HAS.match(plain)
    much = match["much"].casefold().rstrip(".,") if match else ""
    number = _NUMBERS.get(much, much)
    if match is None or not _NUMBER.fullmatch(number):
        return frozenset()
    if number.isdigit() and int(number) < _TELLING:
        return frozenset()
    words = match["part"].casefold().replace("-", " ").split()
    return frozenset(_key(word) for word in words)


def _measure(spoken: str) -> tuple[tuple[str, str, str] | None, bool]:
    """Return the part, the number and the unit of a measure, and whether it is said plainly."""
    for match in _MEASURED.finditer(spoken):
        much = (match["much"] or match["is_much"]).casefold()
        number = _NUMBERS.get(much) or (much if _NUMBER.fullmatch(much) else None)
        if number is not None:
            part, unit = match["what"] or match["whole"], match["unit"] or match["in_unit"]
            said = _key(part.casefold()), number, _key(unit.casefold())
            return said, match["whole"] is not None
    return None, False


@lru_cache(maxsize=4_096)
def _called(entity: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w)(?:the )?{re.escape(entity)}(?!\w)", re.IGNORECASE)


@lru_cache(maxsize=4_096)
def _called_short(entity: str) -> re.Pattern[str] | None:
    """Return what finds a thing by a part of its name, written as a name: "the Denton"."""
    words = [word for word in entity.split() if len(word) > 2 and word[0].isalpha()]
    if not words:
        return None
    capitalised = "|".join(re.escape(word.capitalize()) for word in words)
    rest = "|".join(re.escape(word) for word in entity.split())
    return re.compile(rf"(?<!\w)(?:[Tt]he )?(?:{capitalised})(?: (?i:{rest}))*(?!\w)")


def _is_common(word: str) -> bool:
    """Say whether a word at a sentence's beginning has its capital from there."""
    from factbook.language.common_words import is_everyday

    return word in _EMPTY or word in _MATTERS or is_everyday(word)


def _named_first(text: str, names: set[str]) -> bool | None:
    """Say who acts where a name and the thing stand in one sentence: the name or the thing.

    "Anna designed it" and "it was designed by Anna" agree, "it sued Anna" and "Anna sued it" not.
    """
    at = text.find(_ENTITY)
    low = text.casefold()
    spots = [low.find(name) for name in names if name in low]
    if at < 0 or not spots:
        return None
    return (min(spots) < at) != (_AGENT.search(text) is not None)
