"""Read one text: what it names, counts, denies and limits. One pass over its words.

English is read in full. Of another language only words, numbers, names and a few negators are
known; `TextReading.foreign` says so, and the judge then asks for more.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Final

from factbook.gate import grammar
from factbook.gate.lexicon import (
    SCALES,
    LexiconEntry,
    Phrases,
    Sort,
    Tense,
    amount,
    clock,
    scaled,
    tables,
    words_of,
)
from factbook.language.calendar import MONTHS
from factbook.language.common_words import is_everyday, opens_sentences
from factbook.language.questions import ends_asking
from factbook.language.words import word_set

MAX_WORDS: Final = 160
"""Words that are read of one text: a page holds many claims, and no rule here weighs two pages."""
MAX_CHARS: Final = 4_000  # the same bound for texts without blanks


@dataclass(frozen=True, slots=True, kw_only=True)
class TextReading:
    """What is worth knowing of one text when it is held against another one."""

    text: str  # as it was given
    normal: str  # the text in one case, blanks and closing stop aside
    words: tuple[LexiconEntry, ...]  # all but articles; a phrase of the lists is one
    order: tuple[str, ...]  # keys of the content words, in their order
    roles: tuple[str, ...]  # for each of them the preposition before it, or ""
    frame: tuple[tuple[str, str], ...]  # the same as pairs, with "@1" for I and "@he" for him
    hinge: int  # how many content words stand before the first form of "be"; 0 without one
    owned: bool  # an owner stands before the first content word: "my", "the user's"
    keys: frozenset[str]  # the content words
    written: tuple[str, ...]  # the same words as they stand there, in lower case
    places: tuple[int, ...]  # where each of them stands among the words
    names: frozenset[str]  # those written with a capital inside a sentence, and identifiers
    first: str  # the key of the first content word, "" for none
    label: str  # the number that tells it from others of a series: 10 of "Widget 10 is"; else ""
    numbered: frozenset[str]  # the numbers that stand as a label may: right behind a content word
    values: tuple[str, ...]  # numbers, amounts, dates and times in canonical form, sorted
    bound: tuple[tuple[str, str], ...]  # (value, the content word that it counts or stands after)
    dates: frozenset[str]  # those of the values that are days, months or times of day
    negations: int  # how many negators
    denied: frozenset[str]  # content words that a negator reaches
    affirmed: frozenset[str]  # content words that stand somewhere without one
    modals: frozenset[str]  # classes: possible, duty, wish, condition, ...
    quantifiers: frozenset[str]  # classes: all, only, most, at least, ...
    persons: frozenset[str]  # 1 (I, the user), we, he, she, they
    particles: frozenset[str]  # prepositions that stand anywhere in the text
    tense: Tense
    agent: str  # of a passive sentence, the content word after "by"; else ""
    definite: bool  # begins with "the", "my", a name: not "a man", "two dogs", "there is"
    asks: bool  # is a question
    cut: bool  # longer than what is read
    foreign: bool  # no English word that the lists know
    be: bool  # has a form of "be"
    copular: bool  # says what something is or where: "is" with no other verb form
    progressive: bool  # tells what is going on: "is running"
    cues: frozenset[str]  # that something ended, moved, was switched, is so now
    cue_keys: frozenset[str]  # content words that are such a cue, and no claim of their own
    ended: frozenset[str]  # content words after "no longer", "used to", "stopped": what is over

    @property
    def denies(self) -> bool:
        """Say whether the text, as a whole, denies something."""
        return self.negations > 0


_BE: Final = frozenset({"am", "is", "are", "was", "were", "be", "been", "being", "'m", "'re"})
# They belong to the noun that follows; "her" does only sometimes.
_OWNERS: Final = word_set("my our your his their mr mrs ms sir miss")
_OVER: Final = frozenset({"ended", "stopped"})
_CUE_FIRST: Final = frozenset(
    word for entry in grammar.ENDINGS for word in (entry, entry.split("_")[0])
)
_NAMEABLE: Final = frozenset({Sort.FUNCTION, Sort.MODAL})  # "I met Will": a name inside a sentence
_LOCATIVE: Final = frozenset({"in", "on", "at", "inside", "within", "upon"})


def read(text: str) -> TextReading:
    """Return everything worth knowing of one text; any string is legal."""
    given = text
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text)
    chunks = text[:MAX_CHARS].split()
    words: list[LexiconEntry] = []
    for chunk in chunks[:MAX_WORDS]:
        words += words_of(chunk)
    table = tables()
    words = _dated(words)
    joined = _joined([word for word in words if word.sort is not Sort.ARTICLE], table.phrases)
    walk = _Walk(joined)
    walk.run()
    order = walk.order
    lowered = text.lower() if text.isascii() else text.casefold()
    return TextReading(
        text=given,
        normal=" ".join(lowered.split()).rstrip(".! "),
        hinge=max(walk.hinge, 0),
        keys=frozenset(order),
        first=order[0] if order else "",
        values=tuple(sorted(walk.values)),
        bound=tuple((value, order[at] if at < len(order) else "") for value, at in walk.bound),
        tense=walk.when(),
        definite=_definite(words),
        asks=ends_asking(text),
        cut=len(chunks) > MAX_WORDS or len(text) > MAX_CHARS,
        foreign=not walk.known and not any(map(is_everyday, walk.written)),
        copular=walk.be and not walk.passive and not walk.gerund,
        progressive=walk.be and walk.gerund,
        cue_keys=frozenset(walk.cue_keys),
        **{name: _frozen(getattr(walk, name)) for name in _AS_GATHERED},
    )


@dataclass(slots=True)
class _Walk:
    """One pass over the words of a text; each sort of word has a method of its own."""

    words: list[LexiconEntry]
    order: list[str] = field(default_factory=list)
    roles: list[str] = field(default_factory=list)
    written: list[str] = field(default_factory=list)
    places: list[int] = field(default_factory=list)
    frame: list[tuple[str, str]] = field(default_factory=list)
    names: set[str] = field(default_factory=set)
    values: list[str] = field(default_factory=list)
    bound: list[tuple[str, int]] = field(default_factory=list)
    dates: set[str] = field(default_factory=set)
    denied: set[str] = field(default_factory=set)
    affirmed: set[str] = field(default_factory=set)
    modals: set[str] = field(default_factory=set)
    quantifiers: set[str] = field(default_factory=set)
    persons: set[str] = field(default_factory=set)
    particles: set[str] = field(default_factory=set)
    cues: set[str] = field(default_factory=set)
    cue_keys: list[str] = field(default_factory=list)
    ended: set[str] = field(default_factory=set)
    tenses: set[Tense] = field(default_factory=set)
    negations: int = 0
    hinge: int = -1
    role: str = ""
    agent: str = ""
    label: str = ""
    numbered: set[str] = field(default_factory=set)
    after_stop: bool = True  # at the beginning of a sentence, where a capital says nothing
    scope: bool = False  # a negator reaches here
    ending: bool = False  # what follows is over
    skip: bool = False  # the next word was read with this one
    be: bool = False
    passive: bool = False
    gerund: bool = False
    owned: bool = False
    known: bool = False

    def run(self) -> None:
        for index, word in enumerate(self.words):
            if self.skip:
                self.skip = False
                continue
            if word.surface in _CUE_FIRST:
                self._notice(word, index)
            if word.capital and word.sort in _NAMEABLE and not self.after_stop:
                self._content(replace(word, sort=Sort.CONTENT, key=word.surface), index)
            elif word.sort is not Sort.CONTENT:
                _METHODS[word.sort](self, word, index)
            else:
                self._content(word, index)
            if word.tense:
                self._tense(word, index)
            if word.ends:
                self.scope = self.ending = False
                self.role = ""
                self.after_stop = word.stops
            else:
                self.after_stop = False

    def when(self) -> Tense:
        """Return the tense of the whole: auxiliaries tell more than forms that may be past."""
        for tense in (Tense.PAST, Tense.FUTURE, Tense.PERFECT, Tense.PRESENT, Tense.MAYBE_PAST):
            if tense in self.tenses:
                return Tense.PAST if tense is Tense.MAYBE_PAST else tense
        return Tense.PERFECT if Tense.UNKNOWN in self.tenses else Tense.PRESENT

    def _next(self, index: int) -> LexiconEntry | None:
        return self.words[index + 1] if index + 1 < len(self.words) else None

    def _notice(self, word: LexiconEntry, index: int) -> None:
        cue = _cue(self.words, index)
        if cue:
            self.cues.add(cue)
            self.ending = cue in _OVER
            if word.sort is Sort.CONTENT:
                self.cue_keys.append(word.key)

    def _content(self, word: LexiconEntry, index: int) -> None:
        key, role = word.key, self.role
        if self.ending and not (self.cue_keys and self.cue_keys[-1] == key):
            self.ended.add(key)
        self.order.append(key)
        self.roles.append(role)
        self.frame.append((key, role))
        self.written.append(word.surface)
        self.places.append(index)
        if word.capital and not self.after_stop:
            self.names.add(word.surface)
        (self.denied if self.scope else self.affirmed).add(key)
        if role == "by" and self.passive and not self.agent:
            self.agent = key
        if self.be and word.participle:
            self.passive = True
        if word.surface.endswith("ing"):
            self.gerund = True

    def _preposition(self, word: LexiconEntry, _index: int) -> None:
        self.known = True
        self.role = word.key
        self.particles.add(word.key)

    def _number(self, word: LexiconEntry, index: int) -> None:
        following = self._next(index)
        value, self.skip = _amount(word, following)
        if following is not None and (day := _day(value)) is not None:
            month = following
            if following.key == "of" and index + 2 < len(self.words):
                month = self.words[index + 2]  # "3rd of March"; the month is then passed over
            if month.sort is Sort.MONTH:
                value = f"{month.key}-{day:02d}"
                self.skip = month is following
        dated = _DATE.fullmatch(value) is not None
        if following is not None and not (dated or self.skip) and index - 1 in self.places[-1:]:
            self.numbered.add(value)
            # "Keep 3 copies" counts; a noun that begins a text is told from others of its kind.
            if index == 1 and not opens_sentences(self.written[0]):
                self.label = value
        self._value(value, dated=dated)
        if self.skip or dated:
            self.role = ""  # else the preposition goes on to what is counted: "by two men"

    def _month(self, word: LexiconEntry, index: int) -> None:
        if self.values and index > 1 and self.words[index - 1].key == "of":
            before = self.values[-1]
            if before.startswith(word.key + "-"):
                return
        value = "m" + word.key
        following = self._next(index)
        if (
            following is not None
            and following.sort is Sort.NUMBER
            and (day := _day(following.key)) is not None
        ):
            value, self.skip = f"{word.key}-{day:02d}", True
        self._value(value, dated=True)
        self.role = ""

    def _weekday(self, word: LexiconEntry, _index: int) -> None:
        self._value(word.key, dated=True)
        self.role = ""

    def _value(self, value: str, *, dated: bool) -> None:
        self.values.append(value)
        self.bound.append((value, len(self.order)))
        if dated:
            self.dates.add(value)

    def _negator(self, word: LexiconEntry, _index: int) -> None:
        self.known = True
        if word.surface == "no" and word.ends:
            return  # "No, it is" denies what someone else said; "No. 5" denies nothing
        self.negations += 1
        self.scope = True

    def _modal(self, word: LexiconEntry, index: int) -> None:
        self.known = True
        if word.key == "former" and index and self.words[index - 1].surface in _BE:
            return  # "is used to": a purpose or a habit, not the past
        self.modals.add(word.key)

    def _quantifier(self, word: LexiconEntry, _index: int) -> None:
        self.known = True
        if word.key:
            self.quantifiers.add(word.key)

    def _person(self, word: LexiconEntry, index: int) -> None:
        self.known = True
        self.persons.add(word.key)
        following = self._next(index)
        if word.surface in _OWNERS or (
            following is not None
            and (
                following.sort is Sort.POSSESSIVE
                or (word.surface == "her" and following.sort is Sort.CONTENT)
            )
        ):
            self.owned = self.owned or not self.order
            return
        key = "@" + word.key
        self.frame.append((key, self.role))
        if self.role == "by" and self.passive and not self.agent:
            self.agent = key
        self.role = ""

    def _break(self, _word: LexiconEntry, _index: int) -> None:
        self.known = True
        self.scope = self.ending = False
        self.role = ""

    def _possessive(self, _word: LexiconEntry, index: int) -> None:
        self.known = True
        owns = bool(self.order) and self.frame[-1][0] == self.order[-1]
        if owns and not _is_verb_after(self.words, index):
            self.roles[-1] = "of"
            self.frame[-1] = (self.order[-1], "of")
        elif not (index and self.words[index - 1].sort is Sort.PERSON):
            self.tenses.add(Tense.PRESENT)
            self._is()

    def _function(self, word: LexiconEntry, _index: int) -> None:
        self.known = True
        surface = word.surface
        self.role = ""
        if surface in _LOCATIVE:
            self.role = "in"
            if surface == "on":
                self.particles.add("on")
        elif surface in _BE:
            self._is()
        elif surface == "and":
            self.ending = False

    def _is(self) -> None:
        self.be = True
        if self.hinge < 0:
            self.hinge = len(self.order)

    def _tense(self, word: LexiconEntry, index: int) -> None:
        tense = word.tense
        if tense is Tense.PERFECT:
            following = self._next(index)
            if following is None or not following.participle:
                tense = Tense.PRESENT
        self.tenses.add(tense)


_GATHERED: Final = {each.name for each in fields(_Walk)} - {"values", "bound", "hinge", "cue_keys"}
_AS_GATHERED: Final = [each.name for each in fields(TextReading) if each.name in _GATHERED]
"""What a reading tells as its walk gathered it."""


def _frozen(gathered: Any) -> Any:
    if isinstance(gathered, list):
        return tuple(gathered)
    return frozenset(gathered) if isinstance(gathered, set) else gathered


_METHODS: Final[Mapping[Sort, Callable[[_Walk, LexiconEntry, int], None]]] = {
    Sort.FUNCTION: _Walk._function,
    Sort.NEGATOR: _Walk._negator,
    Sort.MODAL: _Walk._modal,
    Sort.QUANTIFIER: _Walk._quantifier,
    Sort.PREPOSITION: _Walk._preposition,
    Sort.PERSON: _Walk._person,
    Sort.NUMBER: _Walk._number,
    Sort.MONTH: _Walk._month,
    Sort.DAY: _Walk._weekday,
    Sort.POSSESSIVE: _Walk._possessive,
    Sort.BREAK: _Walk._break,
}


def _definite(words: list[LexiconEntry]) -> bool:
    """Say whether a text begins with something definite: not with a scene's "a man"."""
    for word in words:
        if word.surface in grammar.INDEFINITE or word.surface == "there":
            return False
        if word.sort is Sort.PREPOSITION or word.surface in _LOCATIVE:
            continue
        return True
    return False


def _dated(words: list[LexiconEntry]) -> list[LexiconEntry]:
    """Read a month for what it is without its capital too, where words around it show that."""
    for at, word in enumerate(words):
        if word.sort is Sort.MONTH or word.surface not in MONTHS or not at:
            continue
        before = words[at - 1]
        if not before.ends and (before.surface in _BEFORE_MONTHS or before.sort is Sort.NUMBER):
            number = f"{MONTHS[word.surface]:02d}"
            words[at] = replace(word, sort=Sort.MONTH, key=number, tense=Tense.NONE)
    return words


_BEFORE_MONTHS: Final = word_set("in on of since until till by before after from last next")


def _joined(words: list[LexiconEntry], phrases: Phrases) -> list[LexiconEntry]:
    """Join the words of each known phrase to one, the longest phrase first."""
    lexicon_entries: list[LexiconEntry] = []
    words = _written_out(words)
    index, count = 0, len(words)
    while index < count:
        word = words[index]
        index += 1
        candidates = phrases.get(word.stem)
        if candidates is not None and not word.ends and index < count:
            following = words[index].stem
            for rest, joined in candidates:
                if rest[0] != following:
                    continue
                size = len(rest)
                if size > 1 and tuple(x.stem for x in words[index : index + size]) != rest:
                    continue
                last = words[index + size - 1]
                tense = word.tense if joined.sort is Sort.CONTENT else Tense.NONE
                if tense or last.ends or word.participle:
                    joined = replace(
                        joined,
                        tense=tense,
                        participle=word.participle,
                        ends=last.ends,
                        stops=last.stops,
                    )
                word = joined
                index += size
                break
        lexicon_entries.append(word)
    return lexicon_entries


def _written_out(words: list[LexiconEntry]) -> list[LexiconEntry]:
    """Join a number with what it is multiplied by or has added: 3 million, twenty five."""
    joined: list[LexiconEntry] = []
    for word in words:
        last = joined[-1] if joined else None
        if last is None or last.sort is not Sort.NUMBER or last.ends:
            joined.append(word)
            continue
        tens = last.surface.isalpha() and last.key.endswith("0") and len(last.key) == 2
        if word.surface in SCALES and len(word.surface) > 1:
            number = scaled(last.key, word.surface)
        elif tens and word.surface.isalpha() and len(word.key) == 1 and word.sort is Sort.NUMBER:
            number = str(int(last.key) + int(word.key))
        else:
            joined.append(word)
            continue
        joined[-1] = replace(word, surface=number, stem=number, key=number, sort=Sort.NUMBER)
    return joined


def _cue(words: list[LexiconEntry], index: int) -> str:
    """Return the class of the cue that begins at a word, "" for none; longer cues win."""
    surface = words[index].surface
    if surface not in _CUE_FIRST:
        return ""
    if index + 1 < len(words):
        cue = grammar.ENDINGS.get(f"{surface}_{words[index + 1].surface}")
        if cue is not None:
            return cue
    if surface == "used_to" and index and words[index - 1].surface in _BE:
        return ""
    return grammar.ENDINGS.get(surface, "")


def _amount(word: LexiconEntry, following: LexiconEntry | None) -> tuple[str, bool]:
    """Return a number with the unit that follows, and whether that took the next word."""
    value = word.key
    if following is None or word.ends or not value[-1].isdigit() or value[0] == "#":
        return value, False
    unit = following.surface
    if value[0] == "t":
        if unit in _HALVES:
            return clock(int(value[1:3]), int(value[4:]), unit[0] + "m"), True
        return value, False
    if unit in _HALVES and value.isdigit() and int(value) <= 12:
        return clock(int(value), 0, unit[0] + "m"), True
    if unit in grammar.UNITS and not (following.capital and unit in {"may", "march"}):
        return amount(value, unit), True
    return value, False


_DATE: Final = re.compile(r"\d\d-\d\d|t\d\d:\d\d")
_HALVES: Final = frozenset({"am", "pm", "a.m", "p.m"})


def _day(value: str) -> int | None:
    """Return the day of a month that a number may be, or None."""
    digits = value.removeprefix("#")
    if digits.isdigit() and len(digits) <= 2 and 1 <= int(digits) <= 31:
        return int(digits)
    return None


def _is_verb_after(words: list[LexiconEntry], index: int) -> bool:
    """Say whether an 's is short for "is" or "has": what follows is no thing that is owned."""
    if index + 1 >= len(words):
        return False
    after = words[index + 1]
    if after.sort in (Sort.NEGATOR, Sort.PREPOSITION, Sort.NUMBER, Sort.PERSON):
        return True
    if after.surface in _LOCATIVE or after.surface.endswith("ing"):
        return True
    return after.participle or after.capital
