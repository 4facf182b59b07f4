"""Look words up: what a word is, and what it adds to a sentence."""

from __future__ import annotations

import functools
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import Final

from factbook.gate import grammar
from factbook.language.calendar import MONTHS, RELATIVE_DAYS
from factbook.language.numbers import ORDINALS
from factbook.language.verbs import PAST
from factbook.language.words import base_of, stem, word_set

CACHED_CHUNKS: Final = 65_536  # pieces of text between blanks whose words are remembered
LONGEST_CACHED: Final = 64  # characters; a longer piece is no word that comes again


class Sort(IntEnum):
    """Say what a word does in a sentence."""

    CONTENT = 0
    FUNCTION = 1
    ARTICLE = 2
    NEGATOR = 3
    MODAL = 4
    QUANTIFIER = 5
    PREPOSITION = 6
    PERSON = 7
    NUMBER = 8  # also a time of day, a version, an address of numbers
    MONTH = 9
    DAY = 10
    POSSESSIVE = 11  # the 's of "Anna's", or of "Anna's tired"
    BREAK = 12  # "but", a comma: what a negation reaches up to


class Tense(IntEnum):
    """Say what a verb's form tells of time."""

    NONE = 0
    PRESENT = 1
    PERFECT = 2  # have, has: with a participle
    PAST = 3
    FUTURE = 4
    MAYBE_PAST = 5  # "adopted": past, unless another verb says otherwise
    UNKNOWN = 6  # "set", "quit": past and present look alike


TENSES_APART: Final = frozenset(
    both
    for tense, other in (
        (Tense.PAST, Tense.PRESENT),
        (Tense.PAST, Tense.FUTURE),
        (Tense.PERFECT, Tense.FUTURE),
    )
    for both in ((tense, other), (other, tense))
)


@dataclass(frozen=True, slots=True, kw_only=True)
class LexiconEntry:
    """One word, or one phrase that means one thing."""

    surface: str  # as written, in lower case
    stem: str  # of its base form: phrases are written in these
    sort: Sort
    key: str  # what stands for it: the stem, a class of modals, a canonical number
    tense: Tense = Tense.NONE
    capital: bool = False  # written with a capital, or an identifier: perhaps a name
    participle: bool = False  # may be one: "hired", "taken"
    ends: bool = False  # a comma, a stop or the like follows
    stops: bool = False  # a sentence ends with it


Phrases = Mapping[str, tuple[tuple[tuple[str, ...], LexiconEntry], ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tables:
    """What the word lists say, by stem; a phrase is its stems joined by underscores."""

    soft: frozenset[str]  # keys that add colour only
    empty: frozenset[str]  # keys that name nothing
    light: frozenset[str]  # keys that carry a sentence only
    phrases: Phrases  # first stem -> rest, word
    opposed_prepositions: frozenset[tuple[str, str]]  # both ways round
    quantifier_clashes: frozenset[tuple[str, str]]  # both ways round

    def mild(self, key: str) -> bool:
        """Say whether a key, on one side alone, adds no fact."""
        return key in self.soft or key in self.light or key in self.empty or key.endswith(ADVERB)


ADVERB: Final = "-ly"  # ends the key of an adverb of manner, which adds colour and no fact


def is_adverb(word: str) -> bool:
    """Say whether a word in lower case is an adverb of manner by its form."""
    return word.endswith("ly") and len(word) > 4 and word not in grammar.FIRM_LY


def _key(entry: str) -> str:
    """Return the key of an entry of the lists: the stems of its words."""
    if is_adverb(entry):
        return stem(entry) + ADVERB
    return "_".join(stem(part) for part in entry.split("_"))


@functools.cache
def tables() -> Tables:
    """Build the tables from the word lists."""
    return Tables(
        soft=frozenset(map(_key, grammar.SOFT)),
        empty=frozenset(map(_key, grammar.EMPTY)),
        light=frozenset(map(_key, grammar.LIGHT)),
        phrases=_phrases(),
        opposed_prepositions=_both_ways(grammar.OPPOSED_PREPOSITIONS),
        quantifier_clashes=_both_ways(tuple(x) for x in grammar.QUANTIFIER_CLASHES),
    )


def _both_ways(pairs: Iterable[tuple[str, ...]]) -> frozenset[tuple[str, str]]:
    return frozenset(both for left, right in pairs for both in ((left, right), (right, left)))


def _phrases() -> Phrases:
    """Return the phrases of all lists by their first stem, the longest first."""
    lexicon_entries: dict[tuple[str, ...], LexiconEntry] = {}

    def add(entry: str, sort: Sort, key: str | None = None) -> None:
        parts = tuple(stem(part) for part in entry.split("_"))
        if len(parts) > 1:
            word = LexiconEntry(
                surface=entry, stem="_".join(parts), sort=sort, key=key or "_".join(parts)
            )
            lexicon_entries.setdefault(parts, word)

    for entry in grammar.NOT_DENIALS:
        sort = Sort.QUANTIFIER if entry in grammar.QUANTIFIERS else Sort.FUNCTION
        add(entry, sort, grammar.QUANTIFIERS.get(entry))
    add("no_longer", Sort.NEGATOR)
    add("no_one", Sort.NEGATOR)
    add("used_to", Sort.MODAL, "former")
    for table, sort in (
        (grammar.MODALS, Sort.MODAL),
        (grammar.QUANTIFIERS, Sort.QUANTIFIER),
        (grammar.PREPOSITIONS, Sort.PREPOSITION),
    ):
        for entry, key in table.items():
            add(entry, sort, key)
    for entry in grammar.EMPTY:
        add(entry, Sort.CONTENT)
    by_first: defaultdict[str, list[tuple[tuple[str, ...], LexiconEntry]]] = defaultdict(list)
    for parts in sorted(lexicon_entries, key=lambda parts: (-len(parts), parts)):
        by_first[parts[0]].append((parts[1:], lexicon_entries[parts]))
    return {first: tuple(rest) for first, rest in by_first.items()}


_OPENING: Final = "\"'([{<“‘«„¿¡*`"
_CLOSING: Final = "\"')]}>”’».,;:!?…*`"
_BREAKS: Final = frozenset(",;:.!?…")
_AND: Final = frozenset("&+")
_STOPS: Final = frozenset(".!?")
_NUMBER: Final = re.compile(
    r"(?P<money>[€$£])?(?P<sign>[-+−])?(?P<digits>\d[\d,]*(?:\.\d+)*)(?P<rest>[%°a-zA-Zµ€$£]{0,12})"
)
_PLAIN_NUMBER: Final = re.compile(r"-?[0-9]+(?:\.[0-9]+)?")
_GROUPED: Final = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?")
_CLOCK: Final = re.compile(r"(\d{1,2})[:.h](\d{2})(?::\d{2})?(am|pm)?", re.IGNORECASE)
_HALF_DAY: Final = re.compile(r"(\d{1,2})(am|pm|a\.m|p\.m)", re.IGNORECASE)
_ISO_DATE: Final = re.compile(r"(\d{4})[-/](\d{1,2})[-/](\d{1,2})")
_ALPHA: Final = re.compile(r"[^\W\d_]+")
_PIECES: Final = re.compile(r"[-‐‑–—_/&+]")
_APOSTROPHES: Final = str.maketrans({"’": "'", "ʼ": "'", "‘": "'", "`": "'"})

_AUXILIARY: Final[Mapping[str, Tense]] = {
    **dict.fromkeys(word_set("am is are does do 'm 're isn aren don doesn"), Tense.PRESENT),
    **dict.fromkeys(word_set("has have 've"), Tense.PERFECT),
    **dict.fromkeys(word_set("was were had did"), Tense.PAST),
    **dict.fromkeys(word_set("will shall 'll"), Tense.FUTURE),
}
_CONTRACTED: Final[Mapping[str, tuple[str, ...]]] = {
    "can't": ("can", "not"), "cannot": ("can", "not"), "cant": ("can", "not"),
    "won't": ("will", "not"), "wont": ("will", "not"), "shan't": ("shall", "not"),
    "ain't": ("is", "not"), "isnt": ("is", "not"), "arent": ("are", "not"),
    "wasnt": ("was", "not"), "werent": ("were", "not"), "dont": ("do", "not"),
    "doesnt": ("does", "not"), "didnt": ("did", "not"), "couldnt": ("could", "not"),
    "shouldnt": ("should", "not"), "wouldnt": ("would", "not"), "hasnt": ("has", "not"),
    "havent": ("have", "not"), "hadnt": ("had", "not"), "im": ("i", "am"), "ive": ("i", "have"),
    "gonna": ("going", "to"), "wanna": ("want", "to"), "gotta": ("have", "to"),
    "unable": ("not", "can"), "let's": ("let", "us"), "nobody": ("no",), "noone": ("no",),
    "nothing": ("no",), "none": ("no",), "nowhere": ("no",), "hardly": ("not",),
    "lacks": ("has", "no"), "lack": ("have", "no"), "lacking": ("without",),
    "daily": ("every", "day"), "weekly": ("every", "week"), "monthly": ("every", "month"),
    "yearly": ("every", "year"), "annually": ("every", "year"), "nightly": ("every", "night"),
    "hourly": ("every", "hour"), "o'clock": (), "whilst": ("while",), "noon": ("12:00",),
    "midday": ("12:00",), "midnight": ("00:00",), "w/o": ("without",), "w/": ("with",),
}  # fmt: skip
_NOT_PAST: Final = frozenset({"hundred", "naked", "wicked", "sacred", "red", "bed", "kindred"})
_SHOUTED: Final = frozenset({"US", "IT", "OR", "ME", "WHO", "MAY", "IS"})  # names, in capitals


def words_of(chunk: str) -> tuple[LexiconEntry, ...]:
    """Return the words of a piece of text between blanks: none for punctuation alone."""
    if len(chunk) > LONGEST_CACHED:
        return _words_of(chunk)
    return _cached_words_of(chunk)


def _words_of(chunk: str) -> tuple[LexiconEntry, ...]:
    written = chunk.translate(_APOSTROPHES).lstrip(_OPENING)
    bare = written.rstrip(_CLOSING)
    mark = written[len(bare) :]
    if bare in _AND:
        return (_plain("and", capital=False),)
    if not bare:
        return ()
    words = _split(bare)
    if words and not _BREAKS.isdisjoint(mark):
        words = (*words[:-1], replace(words[-1], ends=True, stops=not _STOPS.isdisjoint(mark)))
    return words


_cached_words_of = functools.lru_cache(maxsize=CACHED_CHUNKS)(_words_of)


def _split(bare: str) -> tuple[LexiconEntry, ...]:
    """Cut a piece without punctuation around it into words."""
    if not bare:
        return ()
    if bare in _SHOUTED:
        return (_identifier(bare),)
    lower = bare.lower()
    if lower.isalpha() and lower not in _CONTRACTED:
        shouted = len(bare) > 1 and bare.isupper()  # "do NOT": loud, and no name
        return (_plain(lower, capital=bare[0] != lower[0], shouted=shouted),)
    expanded = _CONTRACTED.get(lower)
    if expanded is not None:
        return tuple(word for part in expanded for word in _split(part))
    head, mark, tail = lower.rpartition("'")
    if mark and head:
        if tail == "t" and head.endswith("n"):
            return (*_split(bare[: len(head) - 1]), _plain("not", capital=False))
        if tail == "s":
            return (*_split(bare[: len(head)]), _POSSESSIVE_WORD)
        if tail in {"m", "re", "ve", "ll", "d"}:
            return (*_split(bare[: len(head)]), _SHORT[tail])
        if not tail.isalpha() or head[-1] == "s":
            return _split(bare[: len(head)])
    numbers = _number(lower)
    if numbers is not None:
        return numbers
    pieces = [piece for piece in _PIECES.split(bare) if piece]
    if len(pieces) == 2 and pieces[0].isdigit() and pieces[1].lower() in grammar.UNITS:
        return (*_split(pieces[0]), *_split(pieces[1]))  # a 30-day trial
    plain = len(pieces) > 1 and all(_ALPHA.fullmatch(piece) for piece in pieces)
    if plain and "/" not in bare and pieces[0].lower() not in grammar.NEGATORS:
        return tuple(word for piece in pieces for word in _split(piece))
    return (_identifier(bare),)


_SAME_WORD: Final = {
    stem(word): stem(row.split()[0]) for row in grammar.SAME_WORDS for word in row.split()
}


def _plain(lower: str, *, capital: bool, shouted: bool = False) -> LexiconEntry:
    base = stem(lower)
    sort, key = Sort.CONTENT, base if capital else _SAME_WORD.get(base, base)
    if is_adverb(lower) and not capital:  # Emily is no adverb
        key += ADVERB
    if lower in grammar.ARTICLES:
        sort = Sort.ARTICLE
    elif lower in {"but", "however", "whereas", "although", "though", "because"}:
        sort = Sort.BREAK
    elif lower in grammar.NEGATORS:
        sort = Sort.NEGATOR
    elif lower in MONTHS and (capital or lower not in {"may", "march", "mar", "jan"}):
        sort, key = Sort.MONTH, f"{MONTHS[lower]:02d}"
    elif lower in grammar.DAYS:
        sort, key = Sort.DAY, grammar.DAYS[lower]
    elif lower in RELATIVE_DAYS:
        sort, key = Sort.DAY, lower
    elif lower in grammar.NUMBER_WORDS:
        sort, key = Sort.NUMBER, str(grammar.NUMBER_WORDS[lower])
        if lower in {"twice", "once", "thrice"}:
            key += "x"
        elif lower in ORDINALS:
            key = "#" + key
    elif lower in grammar.PERSONS:
        sort, key = Sort.PERSON, grammar.PERSONS[lower]
    elif lower in grammar.QUANTIFIERS:
        sort, key = Sort.QUANTIFIER, grammar.QUANTIFIERS[lower]
    elif lower in grammar.MODALS:
        sort, key = Sort.MODAL, grammar.MODALS[lower]
    elif lower in grammar.PREPOSITIONS:
        sort, key = Sort.PREPOSITION, grammar.PREPOSITIONS[lower]
    elif lower in grammar.FUNCTION:
        sort = Sort.FUNCTION
    tense = _AUXILIARY.get(lower, Tense.NONE)
    past = lower in PAST or (
        lower.endswith("ed")
        and len(lower) > 3
        and not lower.endswith("eed")
        and lower not in _NOT_PAST
        and not capital
    )
    if tense is Tense.NONE and past:
        tense = Tense.MAYBE_PAST
    elif lower in grammar.UNCHANGED_PARTICIPLES:
        tense = Tense.UNKNOWN
    return LexiconEntry(
        surface=lower,
        stem=base,
        sort=sort,
        key=key,
        tense=tense,
        capital=capital and (sort is Sort.CONTENT or not shouted),
        participle=past
        or lower in grammar.UNCHANGED_PARTICIPLES
        or (base_of(lower) != lower and not lower.endswith("ing")),
    )


_POSSESSIVE_WORD: Final = LexiconEntry(surface="'s", stem="'s", sort=Sort.POSSESSIVE, key="'s")
_SHORT: Final[Mapping[str, LexiconEntry]] = {
    tail: LexiconEntry(
        surface="'" + tail,
        stem="have" if tail == "ve" else "be",
        sort=Sort.MODAL if tail == "d" else Sort.FUNCTION,
        key="condition" if tail == "d" else tail,
        tense=_AUXILIARY.get("'" + tail, Tense.NONE),
    )
    for tail in ("m", "re", "ve", "ll", "d")
}


def _value(key: str, surface: str) -> LexiconEntry:
    return LexiconEntry(surface=surface, stem=surface, sort=Sort.NUMBER, key=key)


def _number(lower: str) -> tuple[LexiconEntry, ...] | None:
    """Read a number, a date, a time or an amount."""
    if not any(char.isdigit() for char in lower):
        return None
    if match := _ISO_DATE.fullmatch(lower):
        month_day = _value(f"{int(match[2]):02d}-{int(match[3]):02d}", lower)
        return (_value(str(int(match[1])), match[1]), month_day)
    if match := _CLOCK.fullmatch(lower):
        if ":" in lower or "h" in lower or match[3]:
            hour, minute = int(match[1]), int(match[2])
            if hour < 25 and minute < 60:
                return (_value(clock(hour, minute, match[3] or ""), lower),)
    elif match := _HALF_DAY.fullmatch(lower):
        return (_value(clock(int(match[1]), 0, match[2][0] + "m"), lower),)
    match = _NUMBER.fullmatch(lower)
    if match is None:
        return None
    digits, rest = match["digits"], match["rest"]
    if "," in digits:
        if not _GROUPED.fullmatch(digits):
            return None
        digits = digits.replace(",", "")
    sign = "-" if match["sign"] in {"-", "−"} else ""
    money = match["money"] or ""
    if rest in {"st", "nd", "rd", "th"}:
        return (_value("#" + digits, lower),)
    if rest in SCALES and (money or rest not in grammar.UNITS):
        digits, rest = scaled(digits, rest), ""
    unit = money or rest
    if unit and unit not in grammar.UNITS:
        return (_value(sign + digits + unit, lower),)
    number = _value(sign + digits, sign + digits if unit else lower)
    if not unit:
        return (number,)
    return (number, LexiconEntry(surface=unit, stem=unit, sort=Sort.CONTENT, key=unit))


SCALES: Final = {
    "k": 1e3, "thousand": 1e3, "m": 1e6, "mn": 1e6, "mln": 1e6, "million": 1e6, "bn": 1e9,
    "b": 1e9, "billion": 1e9, "tn": 1e12, "trillion": 1e12, "hundred": 1e2, "dozen": 12.0,
}  # fmt: skip


def scaled(digits: str, scale: str) -> str:
    """Write a number out: "3.5" million is "3500000"."""
    if not _PLAIN_NUMBER.fullmatch(digits):
        return digits + scale
    return f"{float(digits) * SCALES[scale]:.12g}"


def amount(digits: str, unit: str) -> str:
    """Write an amount in its base unit: "5" km is "5000m", and "0.5" h is "1800s"."""
    if not unit or unit not in grammar.UNITS:
        return digits
    base, factor = grammar.UNITS[unit]
    if not _PLAIN_NUMBER.fullmatch(digits):
        return digits + base
    return f"{float(digits) * factor:.10g}{base}"


def clock(hour: int, minute: int, half: str) -> str:
    """Write a time of day with 24 hours: 8 "pm" is "t20:00"."""
    if half == "pm" and hour < 12:
        hour += 12
    elif half == "am" and hour == 12:
        hour = 0
    return f"t{hour:02d}:{minute:02d}"


def _identifier(bare: str) -> LexiconEntry:
    """Return a word that is no plain word: a path, a host, a branch, a product with digits."""
    key = bare.lower() if bare.isascii() else bare
    if key[0] == "v" and key[1:2].isdigit() and (value := _number(key[1:])):
        return value[0]
    return LexiconEntry(surface=key, stem=key, sort=Sort.CONTENT, key=key, capital=True)
