"""Find what of a text would give it away elsewhere: its names, its values, and runs of its words.

A name is in no list of everyday words, or in capitals inside a sentence; a value has digits enough
to be no count, is an address, or a small number with a word ("94 kg"); a run is five words of which
three mean something. What is common among the rows gives nothing away, and is counted as such.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from itertools import chain, pairwise
from typing import Final, NamedTuple

import re2

from factbook import policy
from factbook.extract.name_tokens import is_english
from factbook.language.calendar import is_calendar_word
from factbook.language.common_words import (
    is_everyday,
    is_function_word,
    is_greeting,
    is_nationality,
    opens_sentences,
)
from factbook.language.words import WORD, stem
from factbook.model.facts import EpisodeKind

_TOKEN: Final = re.compile(rf"{WORD.pattern}|\x1f")
_CHUNK: Final = re.compile(r"\d+(?:[ /.-]\d+)+|[^\s,;!?\"()\[\]<>]*[\d@][^\s;!?\"()\[\]<>]*")
_CAPITALS: Final = re.compile(r"\b[A-Z][\w'’]*(?:[ &-]{1,3}[A-Z0-9][\w'’]*){1,7}")  # whole names
_CLOCK: Final = re.compile(r"\D?(?:[01]?\d|2[0-4]):[0-5]\d(?::[0-5]\d)?(?:[ap]m)?\D?")
_COUNT: Final = re.compile(r"\d+(?:st|nd|rd|th|s|[ap]m|[^\W\d_]{4,})|(?:19|20)\d\d")
_CODE_LIKE: Final = re.compile(r"[{}=;$\\|<>]|\w\(|\w/\w+/|^\s*[#@]", re.MULTILINE)
_LABELS: Final = frozenset(kind.value for kind in EpisodeKind)  # each row has one of its own
_MARKS: Final = re.compile("[\u0300-\u036f]")
_AT_ONCE: Final = 2_000  # tells that one automaton looks for; it grows with their letters
_PATTERN_BYTES: Final = 256 << 20  # at most
_MASK: Final = "█"
BETWEEN: Final = "\x1f"  # between the texts of one row: no run of words goes over it
_RUN: Final = 5  # words
_RUN_MEANING: Final = 3  # of them, words that mean something
_DIGIT_RUN: Final = 4  # words of a run that has a number
_PAGE_RUN: Final = 8  # words of a run of a page: pages say the same things in the same words
_JOINED: Final = 6  # words that one value may be written as: "0176 5550 1234"
_BESIDE: Final = 2  # words that mean something, which a row right beside has in common
_AROUND: Final = 24  # characters that are shown on each side


class How(StrEnum):
    """How a text came to be gone."""

    NAME = "name"  # it names a thing or a person that was erased
    FACT = "fact"  # a claim, or what it claims
    SAID = "said"  # what somebody said or did
    PAGE = "page"  # of a page, which is nobody's own words


class Gone(NamedTuple):
    """A text that was erased."""

    text: str
    how: How


class Tell(NamedTuple):
    """What gives a text away: words in a row, or the letters and digits of a value."""

    what: str  # "name", "value" or "words"
    words: tuple[str, ...]
    most: tuple[int, float] | None  # rows and share of them above which it is common; None: never
    capital: bool = False  # an everyday word, which names something only in capitals
    opened: bool = False  # and had its capital only where any word has one: at a sentence's start


class Residue(NamedTuple):
    """A row that still has something of it."""

    key: str  # what the row is called
    what: str  # "name", "value", "words", or "beside": it speaks of the same
    text: str
    spans: Sequence[tuple[int, int]] = ()  # of the tells, in `text`, once they are asked for

    def shown(self) -> str:
        """Return the words around the first tell, each tell hidden but for its first letter."""
        hidden = list(self.text)
        for start, end in self.spans:
            hidden[start + 1 : end] = _MASK * (end - start - 1)
        first, last = self.spans[0] if self.spans else (0, _AROUND)
        if not self.spans:  # what it says first, and not what it is called
            last = min(last, len(self.text.partition(BETWEEN)[0]))
        begin = max(0, first - _AROUND, self.text.rfind(BETWEEN, 0, first) + 1)
        end = self.text.find(BETWEEN, last)
        end = min(len(hidden) if end < 0 else end, last + _AROUND)
        inside = " ".join("".join(hidden[begin:end]).split())
        before = "…" * (begin > 0 and self.text[begin - 1] != BETWEEN)
        behind = "…" * (end < len(hidden) and self.text[end] != BETWEEN)
        return f"{before}{inside}{behind}"


class Telltales:
    """What is looked for after something was erased, and the looking."""

    def __init__(self, gone: Iterable[Gone]) -> None:
        tells: dict[tuple[str, ...], Tell] = {}
        self._stems: set[str] = set()
        for text, how in gone:
            # The sign that parts the texts of a row parts one that holds it as well.
            for tell in chain.from_iterable(_tells(part, how) for part in text.split(BETWEEN)):
                known = tells.get(tell.words)
                if known is None or _rank(tell) > _rank(known):
                    tells[tell.words] = tell
            if how is How.SAID:
                self._stems.update(_meanings(text))
        self.tells: Sequence[Tell] = list(tells.values())
        self.common: list[Tell] = []  # that gave nothing away, for too many rows have them
        self._runs: dict[tuple[str, ...], Tell] = {}
        self._sizes: dict[str, set[int]] = {}  # of the runs that begin with a word
        self._values: dict[str, Tell] = {}
        for tell in self.tells:
            if tell.what == "value" and len(tell.words) == 1:
                self._values[tell.words[0]] = tell
            else:
                self._runs[tell.words] = tell
                self._sizes.setdefault(tell.words[0], set()).add(len(tell.words))
        self._begins = {value[:n] for value in self._values for n in range(1, len(value) + 1)}
        self._may = _pattern(self.tells) if len(self.tells) <= _AT_ONCE else None

    def __len__(self) -> int:
        return len(self.tells)

    def look(self, rows: Iterable[tuple[str, str]], *, beside: frozenset[str]) -> list[Residue]:
        """Return the rows, given as (key, text), that still have a tell, each once.

        Those of `beside` stood right beside what went: of them it is enough that they speak of the
        same.
        """
        seen: set[str] = set()
        hits: dict[str, list[tuple[Tell, str]]] = {}
        near: dict[str, str] = {}
        for key, text in rows:
            seen.add(key)
            mine = self._in(text)
            if mine:
                hits.setdefault(key, []).extend((tell, text) for tell in mine)
            if key in beside and len(self._stems & _meanings(text)) >= _BESIDE:
                near[key] = text
        counts = Counter(tell for mine in hits.values() for tell in {hit for hit, _ in mine})
        self.common = [
            tell
            for tell, rows_of in counts.items()
            if tell.most is not None and rows_of > max(tell.most[0], tell.most[1] * len(seen))
        ]
        too_common = set(self.common)
        residues = []
        for key, pairs in hits.items():
            left = [(tell, text) for tell, text in pairs if tell not in too_common]
            if left:
                text = left[0][1]
                best = max((tell for tell, other in left if other is text), key=_rank)
                residues.append(Residue(key, best.what, text))
        told = {residue.key for residue in residues}
        residues += [Residue(key, "beside", text) for key, text in near.items() if key not in told]
        return residues

    def again(self, residue: Residue, text: str) -> Residue:
        """Return a residue with its text as shown to somebody, and the places of the tells."""
        return residue._replace(text=text, spans=self._places(text, self._in(text)))

    def _in(self, text: str) -> list[Tell]:
        # One pass of an automaton passes over nearly every row at a fifteenth of the price.
        if self._may is not None and self._may.search(_folded(text).replace("'", "")) is None:
            return []
        words = _words(text)
        tells = {tell for tell, _, _ in self._run(words) if not tell.capital or _named(tell, text)}
        tells.update(self._values[value] for value, _, _ in self._joined(words))
        return list(tells)

    def _run(self, words: Sequence[str]) -> Iterator[tuple[Tell, int, int]]:
        """Yield the tells that stand in a row, with the first and last of their words."""
        for first, word in enumerate(words):
            for size in self._sizes.get(word, ()):
                if first + size > len(words):
                    continue
                tell = self._runs.get(tuple(words[first : first + size]))
                if tell is not None:
                    yield tell, first, first + size - 1

    def _joined(self, words: Sequence[str]) -> Iterator[tuple[str, int, int]]:
        """Yield the values that words in a row spell out, with the first and last of them."""
        for first in range(len(words)):
            value = ""
            for last in range(first, min(first + _JOINED, len(words))):
                value += words[last]
                if value not in self._begins:
                    break
                if value in self._values:
                    yield value, first, last

    def _places(self, text: str, tells: Sequence[Tell]) -> list[tuple[int, int]]:
        places = [(_plain(match[0]), *match.span()) for match in _TOKEN.finditer(text)]
        words = [place[0] for place in places]
        spans = [(places[a][1], places[b][2]) for _, a, b in self._joined(words)]
        wanted = set(tells)
        spans += [(places[a][1], places[b][2]) for tell, a, b in self._run(words) if tell in wanted]
        return sorted(spans)


def _tells(text: str, how: How) -> Iterator[Tell]:
    words = _words(text)
    if not words:
        return
    if how is not How.PAGE and len(words) <= policy.TELL_WHOLE_WORDS and _is_telling(words):
        # All of it, as it was said; a name or a value of a claim that is no everyday word.
        yield Tell("name" if how is How.NAME else "words", tuple(words), None)
    size = _PAGE_RUN if how is How.PAGE else _RUN
    yield from _runs(words, size, _RUN_MEANING)
    if how in (How.PAGE, How.NAME):
        return
    yield from _runs(words, _DIGIT_RUN, 1, with_digit=True)
    yield from _values(text, words)
    if _CODE_LIKE.search(text) is None:
        yield from _names(text)


def _is_telling(words: Sequence[str]) -> bool:
    if len(words) == 1:
        return len(words[0]) >= policy.TELL_CHARS and not is_everyday(words[0])
    return not all(map(_is_empty, words))


def _runs(
    words: Sequence[str], size: int, meaning: int, *, with_digit: bool = False
) -> Iterator[Tell]:
    for n in range(len(words) - size + 1):
        run = tuple(words[n : n + size])
        full = sum(not _is_empty(word) for word in run)
        if full >= meaning and (not with_digit or any(word[0].isdigit() for word in run)):
            yield Tell("words", run, policy.TELL_RUNS)


def _values(text: str, words: Sequence[str]) -> Iterator[Tell]:
    for chunk in _CHUNK.findall(text):
        if _CLOCK.fullmatch(chunk):
            continue
        value = "".join(_words(chunk))
        digits = sum(char.isdigit() for char in value)
        is_code = "@" in chunk or (digits and len(value) > digits + 1)
        says = len(value) >= policy.TELL_DIGITS and (is_code or digits >= policy.TELL_DIGITS)
        if says and not _COUNT.fullmatch(value):
            yield Tell("value", (value,), policy.TELL_NAMES)
    for first, second in pairwise(words):
        number, word = (first, second) if first.isdigit() else (second, first)
        if number.isdigit() and word.isalpha() and not _is_empty(word):
            yield Tell("value", (first, second), policy.TELL_RUNS)


def _names(text: str) -> Iterator[Tell]:
    english = is_english(text)
    if english:
        for run in _CAPITALS.finditer(text):
            words = tuple(_words(run[0]))
            words = words[1:] if opens_sentences(words[0]) else words
            if len(words) > 1 and _is_telling(words):
                yield Tell("name", words, policy.TELL_NAMES)
    # "sunflower-teapot-9" names no sunflower
    chunks = [chunk.span() for chunk in _CHUNK.finditer(text)]
    for match, opens in _openings(text):
        word = _plain(match[0])
        capital = match[0][0].isupper() and not match[0].isupper()
        if len(word) < policy.TELL_CHARS or not word.isalpha() or _is_empty(word):
            continue
        if any(start <= match.start() < end for start, end in chunks):
            continue
        if is_calendar_word(word) or is_nationality(word) or word in _LABELS:
            continue
        if not is_everyday(word):
            if english or (capital and not opens):
                yield Tell("name", (word,), policy.TELL_NAMES)
        elif capital and not opens_sentences(word):
            yield Tell("name", (word,), policy.TELL_NAMES, capital=True, opened=opens)


def _openings(text: str) -> Iterator[tuple[re.Match[str], bool]]:
    """Yield every word of a text, and whether a sentence or a line begins with it."""
    opens, last = True, 0
    for match in _TOKEN.finditer(text):
        opens = opens or re.search(r"[.!?:\n]", text[last : match.start()]) is not None
        yield match, opens
        opens, last = match[0] == BETWEEN, match.end()


def _meanings(text: str) -> set[str]:
    """Return the stems of the words of a text that mean something."""
    return {
        stem(word)
        for word in _words(text)
        if len(word) > policy.TELL_CHARS and not _is_empty(word) and not is_calendar_word(word)
    }


def _words(text: str) -> list[str]:
    """Return the words of a text as they are compared: without case, accents and apostrophes."""
    found = _TOKEN.findall(_folded(text))
    return [word.removesuffix("'s").replace("'", "") if "'" in word else word for word in found]


def _folded(text: str) -> str:
    if text.isascii():
        return text.lower()
    folded = unicodedata.normalize("NFKD", text.casefold())
    return _MARKS.sub("", folded).replace("’", "'")


def _pattern(tells: Sequence[Tell]) -> re2._Regexp:
    """Return what finds every text, folded and without apostrophes, that may have one of them."""
    parts = [
        "[^a-z0-9]*".join(map(re2.escape, tell.words[0]))
        if tell.what == "value" and len(tell.words) == 1
        else "s?[^a-z0-9]+".join(map(re2.escape, tell.words))
        for tell in tells
    ]
    options = re2.Options()
    options.max_mem = _PATTERN_BYTES
    return re2.compile(f"(?:^|[^a-z0-9])(?:{'|'.join(parts) or '.^'})", options)


def _plain(word: str) -> str:
    return "".join(_words(word))


def _is_empty(word: str) -> bool:
    return is_function_word(word) or is_greeting(word) or len(word) < 2


def _rank(tell: Tell) -> tuple[bool, bool, bool, bool]:
    return (tell.what == "name", tell.most is None, not tell.capital, not tell.opened)


def _named(tell: Tell, text: str) -> bool:
    """Tell whether an everyday word stands there as a name does, here or there in a sentence."""
    return any(
        match[0][0].isupper()
        and not match[0].isupper()
        and not (opens and tell.opened)
        and (_plain(match[0]),) == tell.words
        for match, opens in _openings(text)
    )
