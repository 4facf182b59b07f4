"""Find a value or a topic in a message, as it was said."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from functools import cached_property, lru_cache
from itertools import islice
from typing import Final

from factbook.extract.base import finds
from factbook.extract.keyed.wording import named_ranks, unquoted
from factbook.language.nouns import counted
from factbook.language.sentences import Span
from factbook.model.keys import topic_title

_PLACES: Final = 8  # places of one value that are worth looking at

_SAME: Final = str.maketrans(
    dict.fromkeys("’‘ʼ`´′", "'") | dict.fromkeys("“”„«»″", '"') | dict.fromkeys("‐‑‒–—−", "-")
)
_BOUNDLESS: Final = ("CJK", "HIRAGANA", "KATAKANA", "THAI", "LAO", "KHMER", "MYANMAR", "HANGUL")


def locate(value: str, message: str) -> tuple[int, int] | None:
    """Return where a message holds a value, as (start, end), or None.

    Case, width, composition, blanks, and the forms of quotes and dashes do not count; apostrophes
    count only where the value is not found with them ("mens shoes" for "men's shoes"). A part of a
    word is no place: "SOL" does not stand in "solid", "5" not in "3.5", "C" not in "C++".
    """
    return next(iter(Heard(message).places(value)), None)


class Heard:
    """A message that was read once, for many values and operations."""

    def __init__(self, message: str, values: Iterable[str] = ()) -> None:
        self.message = message
        self.values = list(dict.fromkeys(values))  # that are looked for in it, as far as is known

    @cached_property
    def ranks(self) -> set[int]:
        """Every rank that the message names."""
        return named_ranks(unquoted(self.message))

    @cached_property
    def _forms(self) -> list[tuple[bool, str, list[int]]]:
        return [(bare, *_folded(self.message, bare=bare)) for bare in (False, True)]

    def places(self, value: str) -> list[Span]:
        """Return every place where the message holds a value, as far as it is worth looking."""
        for bare, text, places in self._forms:
            found = list(islice(_found(_folded(value, bare=bare)[0].strip(), text), _PLACES))
            if found:
                return [Span(start=places[at], end=places[end - 1] + 1) for at, end in found]
        return []

    def without(self, values: Iterable[str]) -> str:
        """Return the message with a comma in the place of each value."""
        spans = sorted({place for value in values for place in self.places(value)[:1]})
        parts: list[str] = []
        at = 0
        for start, end in spans:
            if start >= at:
                parts += [self.message[at:start], " , "]
            at = max(at, end)
        return "".join([*parts, self.message[at:]])


def _found(wanted: str, text: str) -> Iterator[tuple[int, int]]:
    for at in finds(text, wanted) if wanted else ():
        if _stands_alone(text, at, at + len(wanted)):
            yield at, at + len(wanted)


def _folded(text: str, *, bare: bool) -> tuple[str, list[int]]:
    """Return a text in one form, and for each of its characters where it came from."""
    folded: list[str] = []
    places: list[int] = []
    for index, char in enumerate(text):
        for plain in _plain(char):
            apostrophe = bare and plain == "'"
            if not apostrophe and (plain != " " or folded[-1:] not in ([], [" "])):
                folded.append(plain)
                places.append(index)
    return "".join(folded), places


@lru_cache(maxsize=8192)
def _plain(char: str) -> str:
    """Return one character in one form: compatible, decomposed, without case."""
    if char.isspace():
        return " "
    if unicodedata.category(char) in ("Cf", "Cs"):
        return ""
    plain = unicodedata.normalize("NFKD", char.translate(_SAME)).casefold()
    plain = unicodedata.normalize("NFKD", plain).translate(_SAME)
    return "".join(" " if sign.isspace() else sign for sign in plain)


def _stands_alone(text: str, start: int, end: int) -> bool:
    before, after = text[start - 1 : start] or " ", text[end : end + 1] or " "
    first, last = text[start], text[end - 1]
    if unicodedata.category(after)[0] == "M":
        return False  # the last letter of the value is another one in the text
    if _of_one_word(before, first) or _of_one_word(last, after):
        return False
    if before == "#" and first.isdigit():
        return False  # a rank is no value
    if after in "+#" and last.isalnum():
        return False  # C++ and C# are no C
    ahead, behind = text[max(0, start - 2) : start], text[end : end + 2]
    part = re.fullmatch(r"[.,:]\d", behind) if last.isdigit() else None
    return not part and not (first.isdigit() and re.fullmatch(r"\d[.,:]", ahead))


def _of_one_word(left: str, right: str) -> bool:
    return all(
        (char == "_" or unicodedata.category(char)[0] in "LMN")
        and (char.isascii() or not unicodedata.name(char, "").startswith(_BOUNDLESS))
        for char in (left, right)
    )


_WORD: Final = re.compile(r"[^\W_]+(?:['’.&+#-]*[^\W_]+)*[+#]*")


def topic_places(text: str, topic: str) -> list[tuple[int, int]]:
    """Return where a text names a topic or the topic of a list's key, in singular or plural."""
    # "rock & roll" is two words here and three in its key, so that forms are compared by words.
    forms = [(form, m) for m in _WORD.finditer(text) for form in singular(m[0]).split()]
    wanted = [part for word in topic_title(topic).split() for part in singular(word).split()]
    size = len(wanted) or len(forms) + 1
    return [
        (forms[at][1].start(), forms[at + size - 1][1].end())
        for at in range(len(forms) - size + 1)
        if [form for form, _ in forms[at : at + size]] == wanted
    ]


@lru_cache(maxsize=4096)
def singular(word: str) -> str:
    """Return a word as topics are compared, in the number that keys have."""
    return " ".join(counted(part) for part in topic_title(word).split())
