"""Turn a question into what the two legs of recall search for."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable
from typing import Final

from factbook.language.words import MAX_TERMS as MAX_TERMS
from factbook.language.words import STOPWORDS as STOPWORDS
from factbook.language.words import content_terms as content_terms
from factbook.language.words import words as words
from factbook.model.text import asks as asks


def folded(text: str) -> str:
    """Return what equal texts have in common, whatever their case, spaces and forms of letters."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def speaker_of(text: str) -> str | None:
    """Return who says a turn that is written as "Name: what is said", or None."""
    match = _LABEL.match(text)
    return match[1] if match else None


def speakers(texts: Iterable[str]) -> frozenset[str]:
    """Return the speakers of a dialog: the labels that its turns begin with.

    A label counts when it opens at least two turns, and only where most turns have one: a lone
    "Error: ..." or "Note: ..." among plain texts speaks for nobody.
    """
    labels = [speaker_of(text) for text in texts]
    counts = Counter(label for label in labels if label is not None)
    if counts.total() * 2 < len(labels):
        return frozenset()
    return frozenset(label for label, count in counts.items() if count >= 2)


def named_speakers(question: str, speakers: Iterable[str]) -> frozenset[str]:
    """Return those of the speakers whom a question names, by the whole label or its first word."""
    return frozenset(label for label in speakers if _name_pattern([label]).search(question))


def first_person(question: str, names: Iterable[str]) -> str:
    """Return a question as the named speakers would put it: "Ana's dog" becomes "my dog".

    This is the text to embed. A label stands on every turn of its speaker, so a name in the
    question draws the vector to all turns of that person, whatever they say; and people call
    themselves "I".
    """
    labels = [label for label in names if label]
    if not labels:
        return question
    return _name_pattern(labels).sub(lambda match: "my" if match["of"] else "I", question)


def without_names(terms: list[str], names: Iterable[str]) -> list[str]:
    """Return the terms that are no part of the names; all of them when nothing else is left.

    Who speaks is weighed once, by the ranking; counted as a word too, a name is rare or common by
    how many other people the store knows, which has nothing to do with the question.
    """
    parts = {part for name in names for part in words(name)}
    return [term for term in terms if term not in parts] or terms


_LABEL: Final = re.compile(r"([^\W\d_][\w.'’-]{0,39}(?: [\w.'’-]{1,40}){0,2}): ")


def _name_pattern(labels: Iterable[str]) -> re.Pattern[str]:
    names = {name for label in labels for name in (label, label.split(" ")[0])}
    longest_first = sorted(names, key=lambda name: (-len(name), name))
    alternatives = "|".join(map(re.escape, longest_first))
    return re.compile(rf"(?<!\w)(?:{alternatives})(?P<of>['’]s)?(?!\w)", re.IGNORECASE)
