"""Find a value or a topic in a message.

Works on the message as it was said. Does not know operations or what the words ask for.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from functools import cached_property, lru_cache
from itertools import islice
from typing import Final

from factbook.extract.keyed.wording import named_ranks, unquoted
from factbook.language.nouns import counted
from factbook.language.sentences import Span
from factbook.model.keys import topic_title

__all__ = ["Heard", "locate", "singular", "topic_places"]

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
    return Heard(message).locate(value)


class Heard:
    """A message that was read once, for many values and operations."""

    def __init__(self, message: str) -> None:
        self.message = message
        self.unquoted = unquoted(message)
        self._forms: dict[bool, tuple[str, list[tuple[int, int]]]] = {}

    @cached_property
    def ranks(self) -> set[int]:
        """Every rank that the message names."""
        return named_ranks(self.unquoted)

    def locate(self, value: str) -> tuple[int, int] | None:
        """Return where the message holds a value (`locate`)."""
        return next(self._places(value), None)

    def places(self, value: str) -> list[Span]:
        """Return every place where the message holds a value, as far as it is worth looking."""
        places = self._places(value)
        return [Span(start=start, end=end) for start, end in islice(places, _PLACES)]

    def _places(self, value: str) -> Iterator[tuple[int, int]]:
        for bare in (False, True):
            wanted = _folded(value, bare=bare)[0].strip()
            if not wanted:
                return
            if bare not in self._forms:
                self._forms[bare] = _folded(self.message, bare=bare)
            text, places = self._forms[bare]
            at = text.find(wanted)
            has_place = False
            while at >= 0:
                end = at + len(wanted)
                if _stands_alone(text, at, end):
                    has_place = True
                    yield places[at][0], places[end - 1][1]
                at = text.find(wanted, at + 1)
            if has_place:
                return

    def without(self, values: Iterable[str]) -> str:
        """Return the message with a comma in the place of each value."""
        spans = sorted({place for value in values if (place := self.locate(value))})
        parts: list[str] = []
        at = 0
        for start, end in spans:
            if start >= at:
                parts += [self.message[at:start], " , "]
            at = max(at, end)
        return "".join([*parts, self.message[at:]])


def _folded(text: str, *, bare: bool) -> tuple[str, list[tuple[int, int]]]:
    """Return a text in one form, and for each of its characters where it came from."""
    folded: list[str] = []
    places: list[tuple[int, int]] = []
    for index, char in enumerate(text):
        for plain in _plain(char):
            if plain == "'" and bare:
                continue
            if plain == " " and (not folded or folded[-1] == " "):
                continue
            folded.append(plain)
            places.append((index, index + 1))
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
    before = text[start - 1] if start else " "
    after = text[end] if end < len(text) else " "
    if unicodedata.category(after)[0] == "M":
        return False  # the last letter of the value is another one in the text
    first, last = text[start], text[end - 1]
    if _is_word(before) and _is_word(first) and not (_unspaced(before) or _unspaced(first)):
        return False
    if _is_word(after) and _is_word(last) and not (_unspaced(after) or _unspaced(last)):
        return False
    if before == "#" and first.isdigit():
        return False  # a rank is no value
    if after in "+#" and last.isalnum():
        return False  # C++ and C# are no C
    if last.isdigit() and after in ".,:" and text[end + 1 : end + 2].isdigit():
        return False
    return not (first.isdigit() and before in ".,:" and text[max(0, start - 2)].isdigit())


def _is_word(char: str) -> bool:
    return char == "_" or unicodedata.category(char)[0] in "LMN"


def _unspaced(char: str) -> bool:
    """Say whether a letter is of a script that puts no blanks between words."""
    return not char.isascii() and unicodedata.name(char, "").startswith(_BOUNDLESS)


# --- a topic --------------------------------------------------------------------------------------

_WORD: Final = re.compile(r"[^\W_]+(?:['’.&+#-]*[^\W_]+)*[+#]*")


def topic_places(text: str, topic: str) -> list[tuple[int, int]]:
    """Return where a text names a topic or the topic of a list's key, in singular or plural."""
    matches = list(_WORD.finditer(text))
    # "rock & roll" is two words here and three in its key, so that forms are compared by words.
    forms = [(form, n) for n, match in enumerate(matches) for form in singular(match[0]).split()]
    wanted = [part for word in topic_title(topic).split() for part in singular(word).split()]
    places: list[tuple[int, int]] = []
    at = 0
    while wanted and at + len(wanted) <= len(forms):
        if [form for form, _ in forms[at : at + len(wanted)]] == wanted:
            last = forms[at + len(wanted) - 1][1]
            places.append((matches[forms[at][1]].start(), matches[last].end()))
            at += len(wanted)
        else:
            at += 1
    return places


@lru_cache(maxsize=4096)
def singular(word: str) -> str:
    """Return a word as topics are compared, in the number that keys have."""
    return " ".join(counted(part) for part in topic_title(word).split())
