"""Read the sentences of a passage or a claim: their words, values and names, and what is denied."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from factbook.gate import grammar
from factbook.gate.lexicon import ADVERB, LexiconEntry, Sort, words_of
from factbook.gate.reading import read
from factbook.language.sentences import sentences
from factbook.language.words import stem

MAX_CHARS: Final = 100_000  # of a passage; what follows is not read
VALUES: Final = frozenset({Sort.NUMBER, Sort.MONTH, Sort.DAY})
MAX_CLAIM_CHARS: Final = 4_000  # of a claim; a longer one is no claim

_CHUNK: Final = re.compile(r"[^\s/|…—–()\[\]{}<>\"“”„«»]+[\"”»)\]]*|/")
_EMPTY: Final = frozenset({"be", "do", "have", "get", "thing", "something", "own"})
_UNITS: Final = {same: stem(unit) for unit, same in reversed(list(grammar.UNITS.items()))}
"""What stands for all that measure alike: years, yrs."""
_SIGNS: Final = frozenset({"%", "usd", "eur", "gbp"})  # units that are written in several ways


@dataclass(frozen=True, slots=True)
class SentenceWords:
    """One sentence and what is worth knowing of it."""

    start: int
    end: int
    text: str
    opening: LexiconEntry | None  # its first word, be it an article
    tokens: tuple[LexiconEntry, ...]
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
        tokens = _values(self.tokens)
        return next((token.surface for token in tokens if _value(token) == value), value)


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
    chunks = _CHUNK.findall(text)
    reading = read(" ".join(chunks))
    tokens = reading.words
    said = dict(zip(reading.places, reading.order, strict=True))
    keys, places, names = [], [], set()
    for place, token in enumerate(tokens):
        counted = place > 0 and tokens[place - 1].sort is Sort.NUMBER
        unit, _ = grammar.UNITS.get(token.surface, ("", 0)) if counted else ("", 0)
        key = _UNITS[grammar.UNITS[token.surface]] if unit else said.get(place, "")
        if not key or unit in _SIGNS or (key in _EMPTY and not token.capital):
            continue
        keys.append(_key(key))
        places.append(place)
        if token.surface in reading.names:
            names.add(_key(key))
    return SentenceWords(
        start=start,
        end=start + len(text),
        text=text,
        opening=next((word for chunk in chunks for word in words_of(chunk)), None),
        tokens=tokens,
        keys=tuple(keys),
        places=tuple(places),
        names=frozenset(names),
        values=frozenset(map(_value, _values(tokens))),
        denied=frozenset(map(_key, reading.denied)),
        affirmed=frozenset(map(_key, reading.affirmed)),
        over=frozenset(map(_key, reading.ended)),
        modals=reading.modals,
        asks=reading.asks,
    )


def _values(tokens: Sequence[LexiconEntry]) -> Iterator[LexiconEntry]:
    """Yield numbers, months and days; the 4th of July is July 4."""
    for at, token in enumerate(tokens):
        if token.sort not in VALUES:
            continue
        behind = at + 2 if tokens[at + 1 : at + 2] and tokens[at + 1].surface == "of" else at + 1
        beside = (*tokens[max(0, at - 1) : at], *tokens[behind : behind + 1])
        if token.key.startswith("#") and any(other.sort is Sort.MONTH for other in beside):
            token = replace(token, key=token.key[1:])
        yield token


def _key(key: str) -> str:
    return key.removesuffix(ADVERB)


def _value(token: LexiconEntry) -> str:
    return "m" + token.key if token.sort is Sort.MONTH else token.key
