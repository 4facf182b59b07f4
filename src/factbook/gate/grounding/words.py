"""Read sentences for grounding: their words, values and names, and what is denied or only supposed.

Knows: one sentence. Does not know: a second one, speakers, similarity. Every piece of text between
blanks is looked up once and remembered, so that a passage of many claims is cheap.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from factbook.gate import grammar
from factbook.gate.lexicon import ADVERB, Sort, words_of
from factbook.language.questions import ends_asking
from factbook.language.sentences import sentences

MAX_CHARS: Final = 100_000  # of a passage; what follows is not read
MAX_WORD: Final = 120  # characters that are read of a piece between blanks: bounds what is kept
VALUES: Final = frozenset({Sort.NUMBER, Sort.MONTH, Sort.DAY})
MAX_CLAIM_CHARS: Final = 4_000  # of a claim; a longer one is no claim

_CHUNK: Final = re.compile(r"[^\s/|…—–()\[\]{}<>\"“”„«»]+[\"”»)\]]*|/")

SCALES: Final = {
    "k": 1e3, "thousand": 1e3, "m": 1e6, "mn": 1e6, "mln": 1e6, "million": 1e6, "bn": 1e9,
    "b": 1e9, "billion": 1e9, "tn": 1e12, "trillion": 1e12, "hundred": 1e2, "dozen": 12.0,
}  # fmt: skip
_MONEY: Final = {"$": "usd", "€": "eur", "£": "gbp", "¥": "jpy", "₹": "inr"}
_UNIT_WORDS: Final = {
    "%": "%", "percent": "%", "pct": "%", "dollar": "usd", "dollars": "usd", "usd": "usd",
    "euro": "eur", "euros": "eur", "eur": "eur", "pounds": "gbp", "gbp": "gbp",
}  # fmt: skip
_NUMBER: Final = re.compile(
    r"(?P<money>(?:US|A|C|NZ)?[$€£¥₹])?(?P<digits>\d[\d,]*(?:\.\d+)?)(?P<rest>[%a-zA-Z°+]{0,9})"
    r"(?P<tail>(?:-[a-zA-Z]+)*)"
)
_CLOCK: Final = re.compile(r"(\d{1,2})[:.h](\d{2})(?::\d{2})?(am|pm)?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class SentenceToken:
    """One word of a sentence."""

    surface: str  # in lower case
    key: str  # its stem, or the canonical form of a number
    sort: Sort
    capital: bool  # written with a capital
    ends: bool  # a comma, a stop or the like follows
    unit: str = ""  # of a number: "usd", "%", or ""


@dataclass(frozen=True, slots=True)
class SentenceWords:
    """One sentence and what is worth knowing of it."""

    start: int
    end: int
    text: str
    tokens: tuple[SentenceToken, ...]
    keys: tuple[str, ...]  # content words in their order, names among them
    places: tuple[int, ...]  # where each of them stands among the tokens
    names: frozenset[str]  # those of the keys that are written as a name
    values: frozenset[str]  # numbers, months and days
    denied: frozenset[str]  # keys that a negator reaches
    affirmed: frozenset[str]  # keys that stand somewhere with no negator before them
    over: frozenset[str]  # keys after "no longer", "used to", "stopped"
    modals: frozenset[str]  # possible, wish, plan, condition, hearsay, ...
    asks: bool  # is a question

    def written(self, value: str) -> str:
        """Return one of the values as the sentence writes it."""
        tokens = (token for token in self.tokens if token.sort in VALUES)
        return next((token.surface for token in tokens if _value(token) == value), value)


_GLUED: Final = re.compile(r"(never|non|no|not)-(?=\w)", re.IGNORECASE)
_PLURAL: Final = re.compile(r"(\W*[A-Z]{2,6})s(\W*)")
_ROUGH: Final = frozenset({"dozens", "hundreds", "thousands", "millions", "billions", "trillions"})
_QUARTER: Final = re.compile(r"[qQ]([1-4])")


@functools.lru_cache(maxsize=65_536)
def tokens_of(chunk: str) -> tuple[SentenceToken, ...]:
    """Return the tokens of one piece of text between blanks."""
    if match := _GLUED.match(chunk):
        return tokens_of(match[1] + chunk[match.end() :])  # "never-ending" denies nothing
    if match := _PLURAL.fullmatch(chunk):
        return tokens_of(match[1] + match[2])  # "CNNs" are more than one CNN
    bare = chunk.strip(".,;:!?\"'”’»)]*`“‘")
    if match := _QUARTER.fullmatch(bare):
        return (
            SentenceToken("#" + match[1], "#" + match[1], Sort.NUMBER, False, False),
            *tokens_of("quarter"),
        )
    mark = chunk[len(chunk.rstrip(".,;:!?\"'”’»)]*`")) :]
    ends = any(char in ",;:.!?" for char in mark)
    number = _number(bare, ends=ends)
    if number:
        return number
    sentence_tokens = []
    words = words_of(chunk)
    for index, word in enumerate(words):
        key = word.key
        if word.sort is Sort.CONTENT and key.endswith(ADVERB):
            key = word.stem
        if word.sort is Sort.CONTENT and word.surface != word.stem and "-" in key:
            key = key.strip("-")
        sentence_tokens.append(
            SentenceToken(
                surface=word.surface,
                key=key,
                sort=word.sort,
                capital=word.capital,
                ends=word.ends or (ends and index == len(words) - 1),
            )
        )
    return tuple(sentence_tokens)


def _number(bare: str, *, ends: bool) -> tuple[SentenceToken, ...]:
    """Read a piece of text that is a number with what is glued to it."""
    if not bare or not any(char.isdigit() for char in bare):
        return ()
    if _CLOCK.fullmatch(bare) and (":" in bare or bare[-1] in "mM"):
        return ()  # the lexicon knows times of day
    match = _NUMBER.fullmatch(bare)
    if match is None:
        return ()
    digits = match["digits"].rstrip(",").replace(",", "")
    rest = match["rest"].lower().strip("+")
    unit = _MONEY.get((match["money"] or " ")[-1], "")
    value = float(digits)
    key = ""
    tail = [part for part in match["tail"].split("-") if part]
    if rest in SCALES and (unit or rest not in {"m", "b", "k"} or rest == "k"):
        value *= SCALES[rest]
    elif rest in {"st", "nd", "rd", "th"}:
        key = f"#{value:.12g}"
    elif rest in {"am", "pm"}:
        return ()
    elif rest == "%":
        unit = "%"
    elif rest and rest != "s":
        tail = [rest, *tail]
    if tail and tail[0].lower() in SCALES:
        value *= SCALES[tail.pop(0).lower()]
    first = SentenceToken(
        key or f"{value:.12g}", key or f"{value:.12g}", Sort.NUMBER, False, ends, unit
    )
    words = [word for part in tail for word in tokens_of(part)]
    return (first, *words)


_PHRASES: Final = {
    tuple(phrase.split("_")): name for phrase, name in grammar.MODALS.items() if "_" in phrase
} | {("used", "to"): "former"}
_PHRASE_HEADS: Final = frozenset(phrase[0] for phrase in _PHRASES)
_NOT_DENIALS: Final = frozenset(tuple(phrase.split("_")[:2]) for phrase in grammar.NOT_DENIALS) | {
    ("not", "to"),
    ("no", "one"),
}
_STOPPERS: Final = frozenset({"stopped", "quit", "ceased", "stop", "stops"})
_BE: Final = frozenset({"am", "is", "are", "was", "were", "be", "been", "being", "'m", "'re"})
_EMPTY: Final = frozenset({"be", "do", "have", "get", "thing", "something", "own"})


def tokenise(text: str) -> list[SentenceToken]:
    """Return the tokens of a sentence, numbers joined with their scale and unit."""
    flat: list[SentenceToken] = []
    for chunk in _CHUNK.findall(text):
        flat += tokens_of(chunk[:MAX_WORD])
    sentence_tokens: list[SentenceToken] = []
    for token in flat:
        last = sentence_tokens[-1] if sentence_tokens else None
        if last is not None and last.sort is Sort.NUMBER and not last.ends:
            joined = _joined(last, token)
            if joined is not None:
                sentence_tokens[-1] = joined
                continue
        surface = token.surface
        if surface in _ROUGH:
            token = SentenceToken(surface, "~" + surface, Sort.NUMBER, False, token.ends)
        elif surface == "second" and (last is None or last.sort is not Sort.NUMBER):
            token = SentenceToken(surface, "#2", Sort.NUMBER, False, token.ends)
        sentence_tokens.append(token)
    return sentence_tokens


_PLAIN: Final = re.compile(r"\d+(?:\.\d+)?")


def _joined(number: SentenceToken, token: SentenceToken) -> SentenceToken | None:
    """Join "5" with "billion", "20" with "five", "3" with "percent"."""
    if not _PLAIN.fullmatch(number.key):
        return None
    surface = token.surface
    if surface in SCALES and len(surface) > 1:
        key = f"{float(number.key) * SCALES[surface]:.12g}"
        return SentenceToken(key, key, Sort.NUMBER, False, token.ends, number.unit)
    if surface in {"cent", "cents"} and not number.unit:
        key = f"{float(number.key) / 100:.12g}"
        return SentenceToken(key, key, Sort.NUMBER, False, token.ends, "usd")
    if surface in _UNIT_WORDS:
        unit = _UNIT_WORDS[surface]
        return SentenceToken(number.surface, number.key, Sort.NUMBER, False, token.ends, unit)
    if (
        token.sort is Sort.NUMBER
        and number.surface.isalpha()
        and token.surface.isalpha()
        and number.key in {"20", "30", "40", "50", "60", "70", "80", "90"}
        and token.key.isdigit()
        and int(token.key) < 10
    ):
        key = str(int(number.key) + int(token.key))
        return SentenceToken(key, key, Sort.NUMBER, False, token.ends)
    return None


def read_lines(text: str, start: int = 0, end: int | None = None) -> Iterator[SentenceWords]:
    """Read the sentences of a text; the number of an item belongs to none."""
    stop = min(len(text), MAX_CHARS) if end is None else end
    for sentence in sentences(text, start, stop):
        number = _LIST_NUMBER.match(text, sentence.start, sentence.end)
        begin = number.end() if number else sentence.start
        if begin < sentence.end:
            yield read_line(text[begin : sentence.end], begin)


_LIST_NUMBER: Final = re.compile(r"[(\[]?\d{1,3}\.[)\]]*(?:\s+|$)")


def read_line(text: str, start: int = 0) -> SentenceWords:
    """Read one sentence, which begins at `start` of a larger text."""
    tokens = tokenise(text)
    keys: list[str] = []
    places: list[int] = []
    names: set[str] = set()
    values: set[str] = set()
    denied: set[str] = set()
    affirmed: set[str] = set()
    over: set[str] = set()
    modals: set[str] = set()
    scope = ending = False
    sentence_start = True
    count = len(tokens)
    for index, token in enumerate(tokens):
        sort, surface = token.sort, token.surface
        following = tokens[index + 1].surface if index + 1 < count else ""
        if surface in _PHRASE_HEADS:
            third = tokens[index + 2].surface if index + 2 < count else ""
            name = _PHRASES.get((surface, following)) or _PHRASES.get((surface, following, third))
            if name == "former":
                if not (index and tokens[index - 1].surface in _BE):
                    ending = True
            elif name:
                modals.add(name)
        if sort is Sort.NEGATOR:
            if (surface, following) not in _NOT_DENIALS and not (surface == "no" and token.ends):
                scope = True
                if following in {"longer", "more", "anymore"}:
                    ending = True
        elif sort is Sort.MODAL:
            if token.capital and not sentence_start:
                keys.append(surface)
                places.append(index)
                names.add(surface)
                affirmed.add(surface)
            else:
                modals.add(token.key)
        elif sort in VALUES:
            values.add(_value(token))
        elif sort is Sort.CONTENT:
            key = token.key
            if key not in _EMPTY or token.capital:
                keys.append(key)
                places.append(index)
                if token.capital and not sentence_start:
                    names.add(key)
                (denied if scope else affirmed).add(key)
                if ending:
                    over.add(key)
            if surface in _STOPPERS:
                ending = True
        elif sort is Sort.BREAK:
            scope = ending = False
        if token.ends:
            scope = ending = False
        sentence_start = False
    return SentenceWords(
        start=start,
        end=start + len(text),
        text=text,
        tokens=tuple(tokens),
        keys=tuple(keys),
        places=tuple(places),
        names=frozenset(names),
        values=frozenset(values),
        denied=frozenset(denied),
        affirmed=frozenset(affirmed),
        over=frozenset(over),
        modals=frozenset(modals),
        asks=ends_asking(text),
    )


def _value(token: SentenceToken) -> str:
    if token.sort is Sort.MONTH:
        return "m" + token.key
    return token.key
