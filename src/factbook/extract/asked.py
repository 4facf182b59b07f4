"""Read what a message asks: the sentences that ask, what to search for, what an answer must hold.

A sentence is read, and told by its question mark; in another language by the mark alone.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from enum import StrEnum
from typing import Final

from factbook.extract.base import word_set
from factbook.extract.message_sentences import spaced
from factbook.extract.name_tokens import is_english
from factbook.extract.opinions import HEARD_CHARS
from factbook.extract.topics import request_of
from factbook.language.calendar import MONTHS, WEEKDAY_NAMES
from factbook.language.numbers import SEVERAL
from factbook.language.reader.read import read
from factbook.language.reader.reading import Clause, Reading, Token
from factbook.language.sentences import sentences
from factbook.language.words import STOPWORDS, stem, words
from factbook.model.text import asks

QUERY_CHARS: Final = 200  # ours: of what is searched for

# what is asked for by these words is to be told; "turn on the light" is not
_TELLING: Final = word_set("""
    tell show remind explain describe summarize summarise compare recommend suggest list search look
    find google research know learn read give
    """)
_CONTENT: Final = frozenset({"NOUN", "PROPN", "NUM", "ADJ", "VERB"})
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
    """Return the sentences of a message that ask, or want to be told something."""
    heard = message[:HEARD_CHARS]
    told = to_be_told(heard) if is_english(heard) else None
    return [
        sentence.of(heard)
        for sentence in sentences(heard)
        if is_asking(sentence.start, sentence.end, sentence.of(heard), told)
    ]


def is_asking(start: int, end: int, said: str, told: Sequence[tuple[int, bool]] | None) -> bool:
    """Tell whether a sentence asks: by its mark, or by a clause in it, of more than who listens.

    `told` are the clauses of its text that ask (`to_be_told`), None where it cannot be read.
    """
    here = [wants for at, wants in told or () if start <= at < end]
    return any(here) or (asks(said) and not here)


def to_be_told(text: str) -> list[tuple[int, bool]]:
    """Return (where, whether of more than who listens) of the clauses of a text that ask."""
    reading = read(text)
    clauses = []
    for clause in reading.clauses:
        tokens = reading.tokens[clause.first : clause.last]
        if clause.act == "ask":
            clauses.append((clause.begin, not _is_of_listener(reading, clause)))
        elif clause.act == "want":
            clauses += [(clause.begin, True)] * any(map(_is_telling, tokens))
    return clauses


def has_word(tokens: Sequence[Token], head: int, words: Collection[str]) -> bool:
    """Tell whether one of some words, in lower case, hangs on the word at a place."""
    return any(other.head == head and other.text.casefold() in words for other in tokens)


def asks_listener(sentence: str) -> bool:
    """Tell whether a sentence asks who listens of themselves: "do you like jazz?"."""
    tokens = read(sentence).tokens
    return any(
        token.text.casefold() in ("you", "u", "ya")
        and token.relation == "nsubj"
        and not _is_telling(tokens[token.head])
        and not has_word(tokens, token.head, ("can", "could", "will"))
        for token in tokens
    )


def _is_telling(token: Token) -> bool:
    return token.pos == "VERB" and token.text.casefold() in _TELLING


def _is_of_listener(reading: Reading, clause: Clause) -> bool:
    places = range(clause.first, clause.last)
    tokens = reading.tokens
    yours = [at for at in places if tokens[at].text.casefold() in ("you", "u", "your", "ya")]
    roots = {at for at in places if tokens[at].head not in places}
    if any(_is_object_asked(tokens, at, roots) for at in places):
        return False
    owned = {tokens[at].head for at in yours}
    return bool(yours) and not any(
        tokens[at].pos in _CONTENT and not is_broad_word(tokens[at].text.casefold())
        for at in places
        if at not in roots | owned
    )


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
_MAY_ANNOUNCE: Final = spaced(r"\b(?:it|that)\b")
# relations of a clause that "it" announces; that of "is it able to play records?" is another
_ANNOUNCED: Final = frozenset({"csubj", "ccomp", "advcl", "conj", "root"})


def pointing(text: str) -> str:
    """Return a text with blanks for each "it" and "that" that only announces a clause.

    "is it legal to record a boss?" goes on about nothing that was said before. "is it safe to
    drink?" may: its clause does not say what is drunk.
    """
    if not _MAY_ANNOUNCE.search(text) or not is_english(text):
        return text
    tokens = read(text).tokens
    for at, token in enumerate(tokens):
        if _announces(tokens, at):
            text = text[: token.begin] + " " * (token.end - token.begin) + text[token.end :]
    return text


def _announces(tokens: Sequence[Token], at: int) -> bool:
    token = tokens[at]
    low = token.text.casefold()
    if low == "that":
        return token.relation == "mark"
    if low != "it" or token.relation != "expl" or token.head < 0:
        return False
    if has_word(tokens, token.head, ("too", "enough")):  # "is it strong enough to carry me?"
        return False
    for one in tokens[at + 1 :]:
        if one.text in (".", "?", "!"):
            break
        behind = one.head > token.head and tokens[one.head].relation in _ANNOUNCED
        if behind and one.relation in ("obj", "nsubj"):
            return True
    return False


def _is_object_asked(tokens: Sequence[Token], at: int, roots: Collection[int]) -> bool:
    """Tell "what do you think?" from "what are you doing?": the former asks for what is known."""
    token = tokens[at]
    return (
        token.relation == "obj"
        and token.head in roots
        and token.text.casefold() in ("what", "which", "who")
        and not has_word(tokens, token.head, ("are", "were", "r"))
    )


def search_query(message: str, names: Sequence[str] = ()) -> str:
    """Return what to search for: what a message asks, behind such `names` as it does not hold."""
    asked = _asked(message, names)
    topic = request_of(asked).topic if is_request(asked) else asked
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


_BROAD: Final = word_set("""
about know known thing things stuff info information facts fact anything everything something
overview summary summarize summarise describe explain give more new news remember learn learned
heard hear tell say find search look up like kind sort little bit quick quickly briefly detail
details hey hi hello ok okay so well now then penny thanks else
""")


def is_bare(text: str) -> bool:
    """Tell whether a text names nothing that could be looked up."""
    return all(is_broad_word(word) for word in words(text))


def is_broad_word(word: str) -> bool:
    """Tell whether a word of a question names nothing: "what", "about", "anything"."""
    return word in STOPWORDS or word in _BROAD


def is_request(asked: str) -> bool:
    """Tell whether a text begins by asking to be told: "can you tell me about", "look up"."""
    if not is_english(asked):
        return False
    reading = read(asked)
    first = next(iter(reading.clauses), None)
    return first is not None and any(
        _is_telling(token) and token.relation == "root"
        for token in reading.tokens[first.first : first.last]
    )


class Amount(StrEnum):
    """Say what a question asks for that can be told from its form."""

    MONEY = "money"
    DATE = "date"
    WEIGHT = "weight"
    NUMBER = "number"


_NUMBER_WORD: Final = (
    rf"(?:one(?! (?:of|another|can)\b)|(?:{SEVERAL}|dozen)s?|half|once|twice|none)"
)
_MONTH: Final = (
    rf"(?:{'|'.join(month for month in MONTHS if month not in ('mar', 'may'))}|(?-i:Mar|May))"
)
_HELD: Final = {
    Amount.MONEY: spaced(
        r"[$€£¥₹]\s?\d|\d\s?[$€£¥₹]|\b(?:euros?|dollars?|pounds?|francs?|yen|yuan|rupees?"
        r"|kron[aeo]r?|pesos?|cents?|pence|quid|bucks|eur|usd|gbp|chf|jpy|cny|inr|sek|nok|dkk|pln"
        r"|aud|cad)\b|\b(?:is|are|was|were|for) free\b(?! (?:of|from)\b)"
    ),
    Amount.DATE: spaced(
        rf"\b(?:1\d|20|21)\d\ds?\b|\b{_MONTH}\b|\b\d{{1,4}}[./-]\d{{1,2}}[./-]\d{{1,4}}\b"
        r"|\b\d{1,2}(?:st|nd|rd|th|:\d\d|\s?[ap]\.?m)\b"
        rf"|\b(?:{'|'.join(WEEKDAY_NAMES)})s?\b|\b(?:today|tomorrow|yesterday|tonight|midnight|noon"
        r"|spring|summer|autumn|winter|daily|weekly|monthly|yearly|morning|evening|ago|century)\b"
        r"|\b(?:when|once|as soon as|after|before|until|next|last|every) \w"
    ),
    Amount.WEIGHT: spaced(
        rf"(?:\d|\b{_NUMBER_WORD}(?: an?)?)[ -]?(?:kg|g|mg|kilos?|lbs?|pounds?|oz|ounces?|stones?"
        r"|(?:kilo|milli)?gram(?:me)?s?|tonn?e?s?|t)\b"
    ),
    Amount.NUMBER: spaced(rf"\d|\b{_NUMBER_WORD}\b"),
}
_WANTED: Final = (
    (Amount.WEIGHT, spaced(r"\bhow heavy\b|\bweighs?\b|\bweight\b")),
    (
        Amount.MONEY,
        spaced(
            r"\bhow (?:expensive|pricey|cheap|costly)\b|\bhow much (?:is|are|was|were|money)\b"
            r"|\bhow much\b[^.?!]{0,200}\b(?:pay|sell|sold|worth)\b|\b(?:costs?|prices?|fees?)\b"
        ),
    ),
    (
        Amount.DATE,
        spaced(rf"{_BEGINS}(?:since |until )?when\b|\b(?:what|which) (?:year|date|day)\b"),
    ),
    (Amount.NUMBER, spaced(r"\bhow many\b|\bhow much (?!more\b|less\b|better\b)\w")),
)


def amount_asked(message: str) -> Amount | None:
    """Return what an answer to a message has to hold; None where how it is asked does not tell."""
    text = " ".join(wanted(message))
    return next((amount for amount, pattern in _WANTED if pattern.search(text)), None)


def holds(said: str, amount: Amount) -> bool:
    """Tell whether a text, without the names of its things, holds such an amount."""
    return _HELD[amount].search(said) is not None
