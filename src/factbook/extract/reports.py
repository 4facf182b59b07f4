"""Tell whether a sentence of a reply reports a fault, a fix or a finding, by how it is built.

"Error" or "fixed" stands in plans, questions and praise as well. A linear model over the words
around it (`scripts/train_reports.py`) tells, at a tenth of a millisecond a sentence: the language
reader would take a hundred times as long, and a third of the time that reading a log takes.
"""

from __future__ import annotations

import json
import math
import re
from base64 import b64decode
from functools import lru_cache
from importlib.resources import files
from typing import Final, NamedTuple

from factbook.language.common_words import is_function_word
from factbook.language.words import place_of

PLACES: Final = 8192  # numbers that signs are counted in
SIGN_WEIGHT: Final = 3.0  # of all signs of a sentence together
LIKELY: Final = math.log(0.6 / 0.4)  # ours: from here on it is a report; more would be refused
_KEY, _CODE = "\x00", "\x01"
_NOT_SAID: Final = re.compile(r"`[^`]*`|[\"“][^\"“”]{1,200}[\"”]")
EMPHASIS: Final = re.compile(r"\*\*|__(?=\w)|(?<=\w)__")
_TOKEN: Final = re.compile(r"[\x00\x01]|[^\W_]+(?:['’_-][^\W_]+)*|[^\w\s]")
_ENDINGS: Final = ("ed", "ing", "ly", "s")
_STEM: Final = 6  # letters by which a word is known


def masked(sentence: str) -> str:
    """Return a sentence of the same length without the code and the quotations in it."""
    return _NOT_SAID.sub(lambda match: _CODE * len(match[0]), sentence)


def reports(sentence: str, kind: str, words: re.Pattern[str], *, lead: str = "") -> bool:
    """Tell whether a sentence reports what a predicate, `kind`, claims by one of some words.

    `lead` is the line that leads to the list in which it stands. Of words that their owner chose,
    and that nothing was learned of, each reports.
    """
    learned = _learned()
    found = words.findall(masked(sentence).lower())
    if learned.words.isdisjoint(" ".join(key.split()) for key in found):
        return True
    places = signs(sentence, kind, words, lead=lead)
    share = SIGN_WEIGHT / math.sqrt(len(places))
    return learned.bias + share * sum(learned.weights[place] for place in places) >= LIKELY


def signs(sentence: str, kind: str, words: re.Pattern[str], *, lead: str = "") -> set[int]:
    """Return the places of what tells of a sentence.

    That are up to three words in a row, once with a mark for those in question and content words by
    their form; its words and those of `lead`; and what stands before and behind the mark.
    """
    lower = re.sub(f"{_CODE}+", _CODE, masked(EMPHASIS.sub("", sentence))).lower()
    keys = [" ".join(match[0].split()) for match in words.finditer(lower)]
    tokens = _TOKEN.findall(words.sub(f" {_KEY} ", lower))
    built = ["^", *map(_form, tokens), "$"]
    first = built.index(_KEY) if _KEY in built else 0
    named = iter(keys)
    spelled = [next(named) if token == _KEY else token for token in built]
    seen = {
        " ".join(line[at : at + size])
        for line in (built, spelled)
        for size in (1, 2, 3)
        for at in range(len(line) - size + 1)
    }
    seen.update(f"{'behind' if at > first else 'before'} {x}" for at, x in enumerate(built))
    seen.update(f"word {token[:_STEM]}" for token in tokens)
    seen.update(f"lead {token[:_STEM]}" for token in _TOKEN.findall(lead.lower()))
    return {place_of(sign, PLACES) for sign in (*seen, *(f"{kind} {sign}" for sign in seen))}


def _form(token: str) -> str:
    if not token[0].isalnum() or "'" in token or "’" in token or is_function_word(token):
        return token
    if token[0].isdigit():
        return "<number>"
    return "<word " + next((end for end in _ENDINGS if token.endswith(end)), "") + ">"


class _Learned(NamedTuple):
    """What was learned: the weight of each place, and of which words."""

    weights: list[float]
    bias: float
    words: frozenset[str]


@lru_cache(maxsize=1)
def _learned() -> _Learned:
    """Return the weights, which are held as 8-bit numbers and their scale."""
    held = json.loads(files("factbook.extract").joinpath("data", "reports.json").read_text("utf-8"))
    raw = memoryview(b64decode(held["int8"])).cast("b")
    weights = [held["scale"] * value for value in raw]
    return _Learned(weights, held["bias"], frozenset(held["words"]))
