"""Say of which kind things were asked for, and whether a text says that a thing is of it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from factbook import policy
from factbook.extract.base import word_set
from factbook.extract.topics import QUALITIES
from factbook.language.common_words import is_function_word
from factbook.language.nouns import is_plural, singular
from factbook.language.reader.relate import supports
from factbook.language.words import COMPOUND, WORD

MOST_WORDS: Final = 40  # ours: of a group of words that names a kind


class Kind(NamedTuple):
    """What things were asked for, in the singular: "electric car"."""

    noun: str
    narrowed: str = ""  # the words before it

    @property
    def name(self) -> str:
        return f"{self.narrowed} {self.noun}".strip()


# They count or sort what stands beside them: "tomato varieties", "brands of e-bikes".
_SORTS: Final = word_set("variety brand type kind sort species style make")
_TOKEN: Final = re.compile(rf"{COMPOUND.pattern}|[,;:.()]")


def asked_kind(query: str, topic: str) -> Kind | None:
    """Return of which kind the things are that were asked about; None where it is no kind."""
    for asked in (topic, query):
        kind = _kind_of(_TOKEN.findall(asked)[:MOST_WORDS])
        if kind is not None and len(kind.noun) > 2:
            return kind
    return None


def _kind_of(words: Sequence[str]) -> Kind | None:
    noun = head_noun(words)
    if not noun:
        return None
    at = next(at for at in range(len(words)) if head_noun(words[: at + 1]) == noun)
    if noun in _SORTS and words[at + 1 : at + 2] == ["of"]:
        return _kind_of(words[at + 2 :])
    if noun in _SORTS and at:
        return _kind_of(words[:at])
    *parts, noun = noun.split("-")  # of "e-bikes" too the noun is "bike"
    which = [word for word in words[:at] if word.lower() not in QUALITIES]
    return Kind(noun, " ".join([*which, *parts]))


def head_noun(words: Sequence[str]) -> str:
    """Return the noun that a group of words is built on, in the singular; "" where none is."""
    head = ""
    for word in words:
        low = word.lower()
        if not word[:1].isalnum() or (head and is_function_word(low)):
            break
        if not word[0].isdigit():
            head = low
    if not head.isalpha() and not re.fullmatch(r"[a-z]+(?:-[a-z]+)+", head):
        return ""
    return singular(head)


def plural_of(title: str, kind: Kind) -> str:
    """Return the plural by which a title names a kind: "speakers"; "" for none."""
    words: list[str] = _TOKEN.findall(title.lower())
    return next((word for word in words if is_plural(word) and singular(word) == kind.noun), "")


def is_of(kind: Kind, noun: str, sentence: str) -> bool:
    """Tell whether a thing that a sentence says to be a `noun` is what a kind is built on."""
    if noun in _SORTS and kind.noun in map(singular, _words(sentence)):
        return True
    return noun == kind.noun or supports(_it_is(noun), _it_is(kind.noun)) >= policy.OF_NOUN


def says_it_is(name: str, kind: Kind, text: str, title: str) -> bool:
    """Tell whether a text says of which sort a thing is that is of the noun of a kind.

    What a title says holds of it where the text says nothing else: "a petrol car" is none of "10
    electric cars", nor is what "is not electric".
    """
    if not kind.narrowed or _letters(kind.name) in _letters(text):
        return True
    if _letters(kind.narrowed) in map(_letters, _BRACKETED.findall(text)):
        return True  # "Halden X3 (electric)"
    if supports(text, _it_is(kind.name, name)) >= policy.OF_KIND:
        return True
    of_another = any(
        singular(word) == kind.noun and before not in ("a", "an", "the")
        for before, word in pairwise(_words(text))
    )
    which = _letters(kind.narrowed)
    return which in _letters(title) and which not in _letters(text) and not of_another


_BRACKETED: Final = re.compile(r"\(([^()]{1,40})\)")


def _it_is(kind: str, name: str = "Tarn") -> str:
    return f"{name} is {'an' if kind[0].lower() in 'aeiou' else 'a'} {kind}."


def _words(text: str) -> list[str]:
    return [word.lower() for word in WORD.findall(text)]


def _letters(text: str) -> str:
    """Return a text without blanks and hyphens: "book-shelf" is "bookshelf"."""
    return "".join(filter(str.isalnum, text.lower()))
