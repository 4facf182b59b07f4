"""Find a value in a message, and the sentences around it.

Works on the message as it was said. Does not know operations or what the words ask for.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property, lru_cache
from itertools import islice
from typing import Final

from factbook.extract.keyed.speech import TOPIC, VALUE, clauses, is_bare, is_linked, without_others
from factbook.extract.keyed.wording import (
    RANK,
    asks_something,
    mood_problem,
    named_ranks,
    unquoted,
    without_requests,
)
from factbook.language.nouns import counted
from factbook.language.sentences import Span, sentences
from factbook.model.keys import split_rank_key, topic_title

__all__ = ["LONGEST", "Heard", "Sentences", "locate", "singular", "topic_places"]

LONGEST: Final = 600  # characters of a sentence that is looked at whole
_NEAR: Final = 250  # of a longer one, before and after the value
_BEFORE: Final = 30  # sentences before a value that may be its heading: lines of a list are some
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

    @cached_property
    def sentences(self) -> list[Span]:
        """The sentences of the message."""
        return list(sentences(self.unquoted))

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

    def sentence_at(self, start: int, end: int) -> Span:
        """Return the sentence that holds a span, or all the sentences that it reaches over."""
        over = [
            sentence for sentence in self.sentences if sentence.end > start and sentence.start < end
        ]
        if not over:
            return Span(start=start, end=end)
        return Span(start=over[0].start, end=over[-1].end)


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


# --- around a value -------------------------------------------------------------------------------


class Sentences:
    """The sentences of a message around one place of a value, with the value and the topic blotted.

    Whose a rank or a favorite is counts: what is another's is blotted out too. Of a sentence that
    is longer than people speak, the words near the value are looked at.
    """

    def __init__(self, heard: Heard, place: Span | None, list_key: str | None) -> None:
        masked = heard.unquoted.replace(VALUE, " ").replace(TOPIC, " ")
        spans = heard.sentences
        self.heard = heard
        self.at = 0  # of the sentence that holds the value
        self.is_cut = False  # that sentence is longer, and what it begins with is not seen
        if place is not None:
            masked = masked[: place.start] + VALUE * (place.end - place.start) + masked[place.end :]
            over = heard.sentence_at(place.start, place.end)
            spans = [span for span in spans if span.end <= over.start]
            self.at = len(spans)
            if over.end - over.start > LONGEST:
                near = (max(over.start, place.start - _NEAR), min(over.end, place.end + _NEAR))
                over = Span(start=near[0], end=near[1])
                self.is_cut = True
            spans += [
                over,
                *(sentence for sentence in heard.sentences if sentence.start >= over.end),
            ]
        shown = [span.of(masked) if span.end - span.start <= LONGEST else "" for span in spans] or [
            ""
        ]
        self.own = [without_others(_without_topic(text, list_key)) for text in shown]

    @property
    def here(self) -> str:
        """The sentence that holds the value."""
        return self.own[self.at]

    def scope(self, tells: Callable[[str], bool]) -> str:
        """Return the words that may tell something of the value: its clause and what belongs to it.

        A clause that holds no more than the value, or is taken up by the next one ("it is my #1"),
        is told of by its sentence; a sentence of that kind, by the message.
        """
        parts = clauses(self.here)
        index = next((n for n, part in enumerate(parts) if VALUE in part), 0)
        clause = parts[index] if parts else self.here
        together = _TOGETHER.search(self.here)
        if tells(clause) and not together:
            return clause
        if all(map(is_bare, parts)):
            # "1." ends a sentence, and is a number all the same.
            return _NUMBER.sub(r"\1 ", "\n".join(self._around()))
        later = [part for part in parts[index + 1 :] if mood_problem(part)]
        sentence = ", ".join(part for part in parts if part not in later) if later else self.here
        if together or is_bare(clause) or _HEADING.match(self.here) or _TRAILS.match(clause):
            return sentence
        if any(is_linked(part) for part in parts[index + 1 : index + 2]):
            return sentence
        following = self.own[self.at + 1 : self.at + 2]
        if following and is_linked(following[0]) and _states(following[0]):
            return f"{sentence}\n{following[0]}"
        if _REFERS.match(clause):
            return "\n".join([*filter(_states, self.own[max(0, self.at - 1) : self.at]), sentence])
        return clause

    def _around(self) -> list[str]:
        """Return the sentence of the value and those around it that state something."""
        before = self.own[max(0, self.at - _BEFORE) : self.at]
        heading = [sentence for sentence in before[-1:] if _OWN_QUESTION.match(sentence)]
        before = [sentence for sentence in before if _states(sentence)] or heading
        return [*before, self.here, *filter(_states, self.own[self.at + 1 : self.at + 3])]


def _states(sentence: str) -> bool:
    return not asks_something(sentence) and not mood_problem(without_requests(sentence))


_OWN_QUESTION: Final = re.compile(r"\W*(?:and\s+)?my\b", re.IGNORECASE)
_NUMBER: Final = re.compile(r"(?<!\w)(\(?\d{1,3}[.)])\n")
_TOGETHER: Final = re.compile(
    rf"\brespectively\b|{RANK}\s+and\s+{RANK}[^.;!?]*\bare\b", re.IGNORECASE
)
_HEADING: Final = re.compile(
    r"\W*(?:as\s+for|regarding|about|concerning|speaking\s+of|when\s+it\s+comes\s+to|of\s+all|among"
    r"|in\s+terms\s+of|on\s+the\s+topic\s+of)\b",
    re.IGNORECASE,
)
_TRAILS: Final = re.compile(
    rf"\W*{VALUE}+\s+(?:to|in|on|onto|into|from|off|as|at|of|for|out)\b", re.IGNORECASE
)  # the last of several: "add BTC, ETH and ADA to my list"
_REFERS: Final = re.compile(r"\W*(?:it|that|this|mine|the\s+(?:answer|value|one))\b", re.IGNORECASE)


def _without_topic(text: str, list_key: str | None) -> str:
    """Return a text with a sign in the place of each mention of a list's topic.

    A rank's key that is written out becomes the topic and the rank: "user.favorites.crypto.2".
    """
    for start, end in reversed(topic_places(text, list_key) if list_key else []):
        ranked = split_rank_key(text[start:end])
        sign = f"{TOPIC} #{ranked[1]}" if ranked else TOPIC
        text = f"{text[:start]}{sign}{text[end:]}"
    return text
