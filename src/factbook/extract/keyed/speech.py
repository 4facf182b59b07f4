"""Look at the words around a value: which clause it stands in, and whether they ask for a change.

Works on a sentence in which the value is blotted out by `VALUE` and the list's topic by `TOPIC`, so
that a film called "Never Say Never" negates nothing and "science fiction movies" is one word.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from factbook.extract.keyed.wording import (
    FAVORITE,
    RANK,
    asks_something,
    mood_problem,
    negations,
    without_requests,
)
from factbook.language.questions import INVERTED, QUESTION_WORD

__all__ = [
    "CLEARING",
    "LEADS",
    "LIST_WORD",
    "MOVING",
    "REMOVING",
    "TOPIC",
    "VALUE",
    "Order",
    "clauses",
    "command_problem",
    "commands",
    "is_bare",
    "is_linked",
    "without_others",
]

VALUE: Final = "▮"  # of any length
TOPIC: Final = "◆"

LIST_WORD: Final = r"(?:lists?|rankings?|favou?rites|favs|faves)\b"
LEADS: Final = (
    r"(?:(?:please|pls|now|then|also|and|so|ok(?:ay)?|hey|hi|hello|actually|just|kindly|yes|yeah|yep"
    r"|oh|well|alright|right|instead|again|first|next|finally|today|too|simply|go\s+ahead\s+and"
    r"|go\s+and|feel\s+free\s+to|you\s+(?:can|may)|let['’]?s|time\s+to|note\s+that|remember(?:\s+that)?"
    r"|by\s+the\s+way|btw|fyi|from\s+now\s+on|these\s+days|currently|honestly|still|definitely"
    r"|really|officially|of\s+course)(?:\s*[,:]\s*|\s+))*"
)
"""What may stand before the words that say something."""

REMOVING: Final = (
    r"(?:remove|delete|drop|erase|forget(?:\s+about)?|take|strike|kick|cross|scratch|unset|clear"
    r"|discard|exclude|eliminate|purge|scrap|trash|dump|ditch|wipe|replace|get\s+rid\s+of"
    r"|throw(?:\s+(?:out|away))?)"
)
CLEARING: Final = (
    r"(?:clear|empty|erase|reset|delete|remove|drop|forget(?:\s+about)?|wipe|scrap|purge|trash|dump"
    r"|discard|unset|clean|nuke|destroy|replace|redo|restart|get\s+rid\s+of|throw(?:\s+(?:out|away))?"
    r"|start\s+over(?:\s+with)?)"
)
MOVING: Final = (
    r"(?:make|put|set|rank|place|keep|mark|name|choose|pick|want|call|add|insert|move|shift|bump"
    r"|promote|demote|push|slot|squeeze|slip|list|have|consider|change|update|switch|raise|lower"
    r"|swap|crown|rate|give|include|save|store|append|count|record|drop|replace|pop|stick)"
)

# --- clauses --------------------------------------------------------------------------------------

_PARTS: Final = re.compile(
    r"\s*[,;]?\s+(?:and|but|while|then|plus|so|whereas|because|since)\s+(?:then\s+)?|\s*[;,]\s+|\n",
    re.IGNORECASE,
)
_NOTHING: Final = re.compile(
    r"(?:is|are|be|am|was|as|at|to|in|on|with|by|for|of|the|an?|my|our|also|then|and|or|now|too|both"
    r"|please|thanks|thank|you|make|put|add|include|set|place|rank|have|want|i|namely|only|maybe"
    r"|last(?:ly)?|finally|followed|plus|say|answer|value|it|it['’]s|that['’]s)",
    re.IGNORECASE,
)
_BARE_WORD: Final = re.compile(r"[^\W\d_](?:[\w'’-]*[^\W_])?")
_PRONOUN: Final = r"(?:it|that|this|they|them|these|those|which|who|he|she|him|her|both|one|mine)\b"
_LINK: Final = re.compile(
    rf"\W*{LEADS}(?:{_PRONOUN}|(?:{MOVING}|{REMOVING})\s+{_PRONOUN}"
    rf"|(?:i|we)(?:['’]d)?\s+(?:want|need|like|would\s+like)\s+{_PRONOUN}"
    rf"|(?:is|are|was)\s+(?:my|our)\b|(?:my|our)\s+(?:{RANK}|{FAVORITE}))",
    re.IGNORECASE,
)
_OTHERS: Final = re.compile(
    r"\b(?:his|her|their|your|its|(?!(?:it|that|this|here|there|what|who|let|one|he|she)['’])"
    r"[^\W\d_]+['’]s|[^\W\d_]+s['’])\s+"
    rf"(?:(?!my\b|our\b)[\w-]+\s+){{0,2}}?(?:{RANK}|{FAVORITE})",
    re.IGNORECASE,
)


def clauses(sentence: str) -> list[str]:
    """Return the parts of a sentence, as "and", "but", commas and their like part it."""
    return [part for part in _PARTS.split(sentence) if part.strip()]


def is_bare(clause: str) -> bool:
    """Say whether a clause holds a value and nothing that says something of it."""
    return all(map(_NOTHING.fullmatch, _BARE_WORD.findall(clause)))


def is_linked(following: str) -> bool:
    """Say whether words go on about what was named just before: "it is my #1", "remove it"."""
    return _LINK.match(following) is not None


def without_others(text: str) -> str:
    """Blot out the ranks and favorites of others: "my brother's #1", "your favorite"."""
    return _OTHERS.sub(lambda match: "_" * len(match[0]), text)


# --- commands -------------------------------------------------------------------------------------

_WANTED: Final = (
    r"(?:(?:i|we)(?:['’]d|\s+would)?\s+(?:want|need|like|wish|love)\s+(?:you\s+)?to\s+(?:please\s+)?"
    r"|(?:can|could|would|will)\s+you\s+(?:please\s+|kindly\s+|just\s+)?)?"
)
_BEGINS: Final = rf"(?:^|[,;:–—(]\s*|\s-\s+|\b(?:and|then|but|so)\s+){LEADS}{_WANTED}{LEADS}"
_BREAK: Final = re.compile(r";|\bbut\b|,\s*(?:just|instead|rather|simply)\b", re.IGNORECASE)
_CONDITION: Final = re.compile(
    r"\b(?:if|unless|when|whenever|until|till|as\s+soon\s+as|in\s+case|once\s+(?!and\b|more\b)(?=\w+\s+\w+)"
    r"|tomorrow|next\s+(?:week|month|year|time)|remind)\b|(?<!at )\bonce\s+(?:i|it|we|you|the)\b",
    re.IGNORECASE,
)
_ASKS: Final = re.compile(rf"[^\w{VALUE}]*{LEADS}(?:{QUESTION_WORD}|{INVERTED})\b", re.IGNORECASE)
_WIDE: Final = re.compile(
    r"\b(?:want|like|need|wish|ask|asked|tell|told|mean|meant|plan|intend|going|try|have|ought|dare)\b"
    r"(?:\s+\S+){0,3}?\s+to\b|\blet\b",
    re.IGNORECASE,
)
_ONLY_LEADS: Final = re.compile(rf"\W*{LEADS}(?:do|did|ca|wo)?\W*", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """What a sentence asks to be done."""

    verb: str
    before: str  # of the sentence, up to the verb
    after: str  # of it, up to a "but"
    rest: str  # of it, to its end


_OWN_WORDS: Final = re.compile(r"\b(?:i|we)\s+(?:said|told\s+you|have\s+told\s+you)\b", re.I)


def command_problem(sentence: str) -> str:
    """Say why a sentence gives no order now, or "": a question, a supposition, another's words."""
    if asks_something(sentence) or _ASKS.match(sentence):
        return "it is a question"
    plain = without_requests(sentence)
    if _CONDITION.search(plain):
        return "it speaks of another time or of a condition"
    return mood_problem(_OWN_WORDS.sub(" ", plain), only_order=True)


def commands(sentence: str, verbs: str) -> Iterator[Order]:
    """Yield every order that a sentence gives with one of these verbs.

    An order stands at the beginning of a clause, or after "I want you to" and its like; one that is
    negated is none: "please don't clear it", "do not move or delete it".
    """
    pattern = _order_of(verbs)
    at = 0
    while match := pattern.search(sentence, at):
        at = match.start("verb") + 1
        start = match.start("verb")
        parts = list(_BREAK.finditer(sentence))
        begin = max((part.end() for part in parts if part.end() <= start), default=0)
        end = min((part.start() for part in parts if part.start() >= match.end()), default=None)
        if not _negated(sentence[begin:start]):
            yield Order(
                verb=match["verb"].lower(),
                before=sentence[:start],
                after=sentence[match.end() : end],
                rest=sentence[match.end() :],
            )


@lru_cache(maxsize=8)
def _order_of(verbs: str) -> re.Pattern[str]:
    return re.compile(rf"{_BEGINS}(?P<verb>{verbs})(?![\w'’])", re.IGNORECASE)


def _negated(before: str) -> bool:
    """Say whether a negation reaches what follows."""
    spans = negations(before)
    if not spans:
        return False
    begin, end = spans[-1]
    between = before[end:]
    if re.search(r"\b(?:or|nor)\b", between, re.IGNORECASE) or _WIDE.search(between):
        return True
    if _ONLY_LEADS.fullmatch(re.split(r"[,;]", before[:begin])[-1]):
        return True  # "don't ask, clear it" may mean both
    return not re.search(r"[,;:–—]|\b(?:so|and|then)\b", between, re.IGNORECASE)
