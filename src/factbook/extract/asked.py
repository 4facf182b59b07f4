"""Read what a message asks: the sentences that ask, what to search for, what an answer must hold.

Forms only: which things it asks about says `things`, and whose matter it is `matter`. Rules are
English; in another language a question mark is what tells.

Knows: how English asks. Does not know: what is known, a model, a provider.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import StrEnum
from typing import Final

from factbook.extract.opinions import HEARD_CHARS
from factbook.extract.topics import request_of
from factbook.language.calendar import MONTHS, WEEKDAY_NAMES
from factbook.language.numbers import SEVERAL
from factbook.language.questions import begins_asking
from factbook.language.sentences import sentences
from factbook.language.words import STOPWORDS, stem, words
from factbook.model.text import asks

__all__ = [
    "LINK",
    "OPINION",
    "POINTS",
    "QUERY_CHARS",
    "REFERS",
    "Amount",
    "after_lead",
    "amount_asked",
    "asked_text",
    "asks_for_search",
    "holds",
    "is_bare",
    "is_broad_word",
    "search_query",
    "spaced",
    "subject_of",
    "wanted",
]

QUERY_CHARS: Final = 200  # ours: of what is searched for


def spaced(pattern: str) -> re.Pattern[str]:
    """Compile a pattern in which a blank stands for any white space."""
    return re.compile(pattern.replace(" ", r"\s+"), re.IGNORECASE)


_REQUEST: Final = spaced(
    r"^\W*(?:(?:hey|hi|hello|ok|okay|so|now|then|please|pls|also|and|well)\b\W*)*"
    r"(?:(?:can|could|would|will) (?:you|u) (?:please )?|i want (?:you )?to |help me (?:to )?"
    r"|i(?:['’]d| would) (?:like|love) (?:you )?to )?"
    r"(?:(?:tell|show|remind)(?= (?:me|us)\b)|explain|describe|summari[sz]e|compare|recommend"
    r"|suggest|list|search|look up|look into|find|google|research|know (?:more )?about"
    r"|learn (?:more )?about|read up on|give)\b(?: (?:me|us)\b)?"
)
_WONDER: Final = spaced(
    r"\b(?:i wonder|i['’]?d like to know|i want to know|do you know|any idea)\b"
)
_SMALL_TALK: Final = spaced(
    r"^\W*(?:(?:hey|hi|hello|ok|okay|so|well|and|oh)\b\W*)*"
    r"(?:how(?:['’]?s| is| are| was) (?:you|it going|things|life|your \w+)\b"
    r"|what(?:['’]?s| is) up\b|what are you (?:doing|up to)|who are you|what are you\b"
    r"|what(?:['’]?s| is) your \w+|are you (?:there|ok|okay|a |an |real|sure|serious)"
    r"|can you (?:help|hear)( me)?\W*$|what can you do|really|right|ok(?:ay)?|isn['’]?t it"
    r"|(?:will|can|could|would) you (?:stop|wait|repeat|shut)\b)"
)
_BEGINS: Final = r"^\W*(?:(?:so|and|but|ok|okay|hey|hi|well|oh|then|now|also)\b\W*)*"
# "I'm thinking of buying an X, what do you think?": it is asked behind the comma
_LEAD: Final = spaced(
    rf"{_BEGINS}(?:i|we|i['’](?:m|d|ve|ll)|we['’](?:re|d|ve|ll))\b[^?!]*?[,;:–—]\W*(?:(?:so|but"
    r"|and)\b\W*)?(?=(?:what|which|who|how|is|are|was|were|do|does|would|can|could|will|any"
    r"|worth)\b)"
)
OPINION: Final = spaced(
    r"^\W*(?:what do you (?:think|say|reckon)|what['’]?s your (?:opinion|take|view)|any (?:thoughts"
    r"|opinions?|advice|experiences?))(?: (?:of|about|on|with) (?:it|that|this|them))?\W*$"
)

# "what do you think, is it expensive?"
_OPINION_FIRST: Final = spaced(OPINION.pattern.removesuffix(r"\W*$") + r"\s*[,;:–—-]+\s*(?=\w)")
# "look it up" is asking for a search, and "tell me" is not
_SEARCH_FOR: Final = spaced(
    rf"{_BEGINS}(?:(?:please|pls)\b\W*)?(?:(?:can|could|would|will) (?:you|u) (?:please )?)?"
    r"(?:look up|look into|search(?: for)?|google|research|read up on|find(?: me)?)\b"
)


def asks_for_search(message: str) -> bool:
    """Tell whether a message asks for a search in so many words: "look up the KEF LS50"."""
    return _SEARCH_FOR.match(message) is not None


def wanted(message: str) -> list[str]:
    """Return the sentences of a message that ask."""
    heard = message[:HEARD_CHARS]
    return [said for sentence in sentences(heard) if _asks(said := sentence.of(heard))]


def after_lead(sentence: str) -> str:
    """Return what a sentence asks, without what whoever asks tells of themselves before it."""
    lead = _LEAD.match(sentence)
    return sentence[lead.end() :] if lead else sentence


LINK: Final = spaced(
    r"^\W*(?:(?:and|but|so|ok|okay|well|then|now|also|or|hey|hi|hello)\b\W*)+"
    r"(?:(?:what|how) about\b\W*)?(?:(?:the|a|an)\b\W*)?"
    r"|^\W*(?:what|how) about\b\W*(?:(?:the|a|an)\b\W*)?"
)
# What refers to something that was said before: to a thing as "it", or to a part of one.
POINTS: Final = spaced(r"\b(?:it|its|it['’]s|they|them|their|theirs|this|that|these|those|such)\b")
REFERS: Final = spaced(rf"{POINTS.pattern}|\b(?:the|he|him|his|she|her|hers|there|one)\b")


def _asks(sentence: str) -> bool:
    if _SMALL_TALK.match(sentence):
        return False
    return bool(
        asks(sentence)
        or begins_asking(sentence)
        or _REQUEST.match(sentence)
        or _WONDER.search(sentence)
    )


def search_query(message: str, names: Sequence[str] = ()) -> str:
    """Return what to search for to answer a message: what it asks, with the names of its things.

    `names` are what it is about, put in front where it does not name them ("how heavy is it?").
    """
    asked = _asked(message, names)
    topic = request_of(asked).topic if _REQUEST.match(asked) else asked
    query = _with_names(" ".join(topic.split()).strip(" ?!.,;:"), names)
    if len(query) <= QUERY_CHARS:
        return query
    return query[:QUERY_CHARS].rsplit(" ", 1)[0]


def asked_text(message: str, names: Sequence[str] = ()) -> str:
    """Return what a message asks as it is worded, with the names of its things."""
    return _with_names(" ".join(_asked(message, names).split()), names)


def _asked(message: str, names: Sequence[str]) -> str:
    sentences = wanted(message) or [message[:HEARD_CHARS]]
    asked = " ".join(after_lead(sentence) if names else sentence for sentence in sentences)
    if names and OPINION.match(asked):  # "what do you think?"
        asked = " ".join(names)
    if names:
        asked = _OPINION_FIRST.sub("", asked, count=1) or asked
    return LINK.sub("", asked, count=1) or asked  # "and the Pelle Mini?"


def _with_names(asked: str, names: Sequence[str]) -> str:
    written = {stem(word) for word in words(asked)}
    missing = [name for name in names if written.isdisjoint(map(stem, words(name)))]
    return " ".join([*missing, asked]).strip()


_BROAD_WORDS: Final = """
about know known thing things stuff info information facts fact anything everything something
overview summary summarize summarise describe explain give more new news remember learn learned
heard hear tell say find search look up like kind sort little bit quick quickly briefly detail
details hey hi hello ok okay so well now then penny thanks else
"""
_BROAD: Final = frozenset(_BROAD_WORDS.split())


def is_bare(text: str) -> bool:
    """Tell whether a text names nothing that could be looked up."""
    return all(is_broad_word(word) for word in words(text))


def is_broad_word(word: str) -> bool:
    """Tell whether a word of a question names nothing: "what", "about", "anything"."""
    return word in STOPWORDS or word in _BROAD


def subject_of(message: str) -> str:
    """Return what is asked without who asks: "tell me", "I wonder"."""
    return _WONDER.sub(" ", " ".join(_REQUEST.sub(" ", sentence) for sentence in wanted(message)))


# --- what an answer has to hold -------------------------------------------------------------------


class Amount(StrEnum):
    """Say what a question asks for that can be told from its form."""

    MONEY = "money"
    DATE = "date"
    WEIGHT = "weight"
    NUMBER = "number"


_NUMBER_WORD: Final = (
    rf"(?:one(?! (?:of|another|can)\b)|(?:{SEVERAL}|dozen)s?|half|quarter|once|twice|none|both"
    r"|zero|no)"
)
_DIGITS: Final = r"\d[\d.,]*(?:\s?(?:k|m|bn|thousand|million|billion))?"
_AMOUNT: Final = rf"(?:{_DIGITS}|{_NUMBER_WORD})"
_MONTH: Final = (
    rf"(?:{'|'.join(month for month in MONTHS if month not in ('mar', 'may'))}|(?-i:Mar|May))"
)
_HELD: Final = {
    Amount.MONEY: spaced(
        rf"[$€£¥₹]\s?\d|\d\s?[$€£¥₹]|\b{_AMOUNT}[ -](?:\w+ )?(?:euros?|dollars?|pounds?|francs?|yen"
        r"|yuan|rupees?|krone[rn]?|kron[ao]r?|crowns?|zlot(?:y|ych|ys)|pesos?|cents?|pence|quid"
        r"|bucks|eur|usd|gbp|chf|jpy|cny|inr|sek|nok|dkk|pln|aud|cad)\b"
        r"|\b(?:eur|usd|gbp|chf|jpy|cny|inr|sek|nok|dkk|pln|aud|cad|us\$)\s?\d"
        r"|\bfree of charge\b|\b(?:is|are|was|were) free\b(?! (?:of|from)\b)|\bfor free\b"
    ),
    Amount.DATE: spaced(
        rf"\b(?:1\d|20|21)\d\ds?\b|\b{_MONTH}\b"
        r"|\b\d{1,4}[./-]\d{1,2}[./-]\d{1,4}\b|\b\d{1,2}(?:st|nd|rd|th)\b|\b\d{1,2}\s?[ap]\.?m\b"
        rf"|\b\d{{1,2}}:\d\d\b|\b(?:{'|'.join(WEEKDAY_NAMES)})s?\b"
        r"|\b(?:today|tomorrow|yesterday|tonight|century|centuries|midnight|noon|dawn|dusk|spring"
        r"|summer|autumn|winter|daily|weekly|monthly|yearly|annually|morning|evening|ago)\b"
        r"|\b(?:next|last|this|every|each|per|after|before|until|within)"
        r" (?:\w+ ){0,2}?(?:seconds?|minutes?|hours?|days?|weeks?|months?|years?)\b"
        r"|\b(?:when|once|as soon as|after|before|until)\b"
    ),
    Amount.WEIGHT: spaced(
        rf"\b{_AMOUNT}(?:[ -](?:and a half|a half))?[ -]?(?:kg|kgs|g|mg|grams?|grammes?|kilos?"
        r"|kilogram(?:me)?s?|milligrams?|lbs?|pounds?|oz|ounces?|tons?|tonnes?|stones?|t)\b"
    ),
    Amount.NUMBER: spaced(rf"\b(?:{_DIGITS}|{_NUMBER_WORD})(?![^\W\d])|\d"),
}
_COST: Final = r"(?:cost|price|prices|priced|pay|sell|sells|sold|go for|retail|fee|fees|worth)"
_CLAUSE: Final = r"[^.?!]{0,200}"
_ITS: Final = r"(?:what(?:['’]?s| is| are| was| were)|at what|for what|the|its|their)"
_WANTED: Final = (
    (
        Amount.WEIGHT,
        spaced(
            rf"\bhow heavy\b|\b(?:how much|what) (?:do|does|did|will|would|can) {_CLAUSE}\bweigh\b"
            rf"|\b{_ITS} (?:\w+ ){{0,2}}?weights?\b(?! (?:limit|loss|lift|train|rack|plate))"
        ),
    ),
    (
        Amount.MONEY,
        spaced(
            rf"\bhow much (?:money|cash)\b|\bhow much\b{_CLAUSE}\b{_COST}\b"
            r"|\bhow much(?: (?:is|are|was|were|would|will|for)|['’]s)\b"
            rf"(?!{_CLAUSE} (?:left|known|in it|of (?:it|them))\b)"
            r"|\bhow (?:expensive|pricey|cheap|costly)\b"
            rf"|\bwhat (?:do|does|did|would|will)\b{_CLAUSE}\bcost\b"
            rf"|\b{_ITS} (?:\w+ ){{0,2}}?(?:prices?|costs?|fees?)\b"
            r"|^\W*(?:\w+ ){0,8}?(?:price|prices|cost)\W*$"
        ),
    ),
    (
        Amount.DATE,
        spaced(
            rf"{_BEGINS}(?:(?:since|until|from) )?when(?: (?:is|are|was|were|do|does|did|will|would"
            r"|can|could|has|have|had)|['’]s)\b"
            r"|\b(?:what|which) (?:year|date|day|month|decade|century)\b"
        ),
    ),
    (Amount.NUMBER, spaced(r"\bhow many\b|\bhow much (?!more\b|less\b|better\b)\w")),
)


def amount_asked(message: str) -> Amount | None:
    """Return what an answer to a message has to hold: money, a date, a weight, or a number.

    None where that cannot be told from how it is asked.
    """
    text = " ".join(wanted(message))
    return next((amount for amount, pattern in _WANTED if pattern.search(text)), None)


def holds(said: str, amount: Amount) -> bool:
    """Tell whether a text, without the names of its things, holds such an amount."""
    return _HELD[amount].search(said) is not None
