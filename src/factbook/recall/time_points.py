"""Read the single times of a text: a day, a month, a season, a feast, an hour; each is a span.

A reading takes the match and the moment of asking, and returns the span that is meant: the newest
that has begun, where the words leave the year or the day open. What stands around a time ("since",
"between", "the last week of") is read by `time_expressions`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from enum import StrEnum
from functools import cache
from typing import Final, NamedTuple

from factbook.language.calendar import MONTH, MONTHS, WEEKDAY_NAMES, WEEKDAYS
from factbook.language.numbers import CARDINALS, ORDINALS, SEVERAL


class Span(NamedTuple):
    """From a moment to before another; None is open."""

    since: datetime | None
    until: datetime | None


class Unit(StrEnum):
    """How long a time is: what may stand before it depends on that."""

    YEAR = "year"
    QUARTER = "quarter"
    MONTH = "month"
    DAYS = "days"  # one or several, also open spans
    VAGUE = "vague"  # some day or other
    UNREAD = "unread"  # a day that no calendar has, of no span


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """A time as it stands in a text, with what belongs to it: its day, the end of a range."""

    begin: int
    end: int
    span: Span
    unit: Unit
    alone: bool  # it is a time without a word such as "in" or "since" before it
    named: bool = False  # a date or month by its name, which a text may speak of at any time
    whole: bool = False  # the word before it is a part of it: "from ... to ..."


_Reading = Callable[[re.Match[str], datetime], Span]

_WORDS: Final = {**CARDINALS, "a": 1, "an": 1, "couple of": 2, "few": 3}
_NUMBER: Final = rf"(\d{{1,3}}|a couple of|couple of|a few|few|an?|one|{SEVERAL})"
_MONTH: Final = f"({MONTH})"
_LONG_DAY: Final = "|".join(WEEKDAY_NAMES)
_SHORT_DAY: Final = "mon|tues?|wed|thu(?:rs?)?|fri"  # "sat" and "sun" are words of their own
_DAY: Final = f"({_LONG_DAY})"
_ANY_DAY: Final = f"({_LONG_DAY}|{_SHORT_DAY})"
_NUMBERED: Final = r"(\d{1,2})(?:st|nd|rd|th)?"
_FIRST_TO_LAST: Final = (
    r"(?P<first>\d{1,2})(?:st|nd|rd|th)?(?: ?[-–] ?| (?:and|to|until|till|through) )"
    r"(?:the )?(?P<last>\d{1,2})(?:st|nd|rd|th)?"
)
_TH: Final = r"(\d{1,2})(?:st|nd|rd|th)"
_YEAR: Final = r"(?:,? ((?:19|20)\d\d))?"
_ISO: Final = r"((?:19|20)\d\d)([-/])(\d\d)\2(\d\d)"
_SEASONS: Final = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}  # the north's
_SEASON: Final = "spring|summer|autumn|fall|winter"
_FEAST: Final = (
    r"(christmas eve|christmas|xmas|new year['’]?s eve|new year(?:['’]?s(?: day)?)?|halloween"
    r"|valentine['’]?s day|easter|thanksgiving)"
)
_PARTS: Final = {"morning": (5, 12), "afternoon": (12, 18), "evening": (18, 24), "night": (18, 30)}
_PART: Final = f"({'|'.join(_PARTS)})"
_NTH: Final = f"({'|'.join(list(ORDINALS)[:4])})"


def midnight(moment: datetime) -> datetime:
    """Return the begin of the day of a moment."""
    return moment.replace(hour=0, minute=0, second=0, microsecond=0)


def day(moment: datetime) -> Span:
    """Return the day of a moment."""
    start = midnight(moment)
    return Span(start, start + timedelta(days=1))


def month_start(year: int, month: int, here: datetime) -> datetime:
    """Return the begin of a month; one below 1 or above 12 is of another year."""
    years, month = divmod(month - 1, 12)
    return midnight(here).replace(year=year + years, month=month + 1, day=1)


def _before(here: datetime, **ago: int) -> datetime:
    """Return the moment that hours or minutes before another, though clocks were changed since."""
    return datetime.fromtimestamp(here.timestamp() - timedelta(**ago).total_seconds(), here.tzinfo)


def _months(year: int, month: int, here: datetime, number: int = 1) -> Span:
    return Span(month_start(year, month, here), month_start(year, month + number, here))


def _of_year(
    said: str | None, at: Callable[[int], Span], here: datetime, *, over: bool = False
) -> Span:
    """Return the span of the year that is said, or else the newest that has begun (or is over).

    A day that a year lacks (29 February) is that of an earlier one.
    """
    if said:
        return at(int(said))
    for year in range(here.year, here.year - 9, -1):
        try:
            span = at(year)
        except ValueError:
            continue
        if ((span.until if over else span.since) or here) <= here:
            return span
    raise ValueError("no such day")


def _amount(text: str) -> int:
    return int(text) if text.isdigit() else _WORDS[text.lower().removeprefix("a ").strip() or "a"]


def _ago(match: re.Match[str], here: datetime) -> Span:
    amount, unit = _amount(match[1]), match[2].lower()
    loosely = match[1].lower().removeprefix("a ")
    if unit == "fortnight":
        amount, unit = 2 * amount, "week"
    if unit == "hour":
        return Span(_before(here, hours=amount + 1), _before(here, hours=amount - 1))
    today = midnight(here)
    if loosely == "few":  # at least two, and hardly more than seven
        least, most = {"day": (2, 7), "week": (14, 45), "month": (60, 200)}.get(unit, (700, 2600))
        return Span(today - timedelta(days=most), today - timedelta(days=least - 1))
    if unit == "day" and loosely == "couple of":
        return Span(today - timedelta(days=3), today)
    if unit == "day":
        return day(here - timedelta(days=amount))
    if unit == "week":
        middle = today - timedelta(weeks=amount)
        return Span(middle - timedelta(days=4), middle + timedelta(days=4))
    return _calendar(unit, here, amount)


def _past(match: re.Match[str], here: datetime) -> Span:
    amount, unit = _amount(match[1]), match[2].lower()
    if unit in ("hour", "minute"):
        return Span(_before(here, **{unit + "s": amount}), None)
    if unit in ("month", "year"):
        return Span(_moved(here, -amount * (12 if unit == "year" else 1)), None)
    return Span(midnight(here) - timedelta(days=amount * (7 if unit == "week" else 1)), None)


def _moved(here: datetime, months: int) -> datetime:
    """Return the begin of a day so many months later, the last of its month where that is short."""
    first = month_start(here.year, here.month + months, here)
    length = month_start(first.year, first.month + 1, first) - first
    return first + timedelta(days=min(here.day, length.days) - 1)


def _calendar(unit: str, here: datetime, back: int) -> Span:
    """Return a week, weekend, month, quarter or year so many before that of a moment."""
    monday = midnight(here) - timedelta(days=here.weekday() + 7 * back)
    match unit:
        case "week":
            return Span(monday, monday + timedelta(days=7))
        case "weekend":
            return Span(monday + timedelta(days=5), monday + timedelta(days=7))
        case "month":
            return _months(here.year, here.month - back, here)
        case "quarter":
            return _months(here.year, (here.month - 1) // 3 * 3 + 1 - 3 * back, here, 3)
        case _:
            return _months(here.year - back, 1, here, 12)


def _last(match: re.Match[str], here: datetime) -> Span:
    span = _calendar(match[1].lower(), here, 1)
    # That week before this one, and the days since: both are called so.
    return Span(span.since, None) if match[1].lower() == "week" else span


def _this(match: re.Match[str], here: datetime) -> Span:
    span = _calendar(match[1].lower(), here, 0)
    return span if match[1].lower() == "weekend" else Span(span.since, None)


def _before_last(match: re.Match[str], here: datetime) -> Span:
    unit = match[1].lower()
    if unit in WEEKDAYS:
        return day(_weekday(unit, here) - timedelta(weeks=1))
    return _calendar(unit, here, 2)


def _weekend(match: re.Match[str], here: datetime) -> Span:
    return _calendar("weekend", here, int(here.weekday() < 5))


def _weekday(name: str, here: datetime) -> datetime:
    back = (here.weekday() - WEEKDAY_NAMES.index(WEEKDAYS[name.lower()])) % 7
    return here - timedelta(days=back or 7)


def _on_weekday(match: re.Match[str], here: datetime) -> Span:
    return day(_weekday(match[1], here))


def _this_weekday(match: re.Match[str], here: datetime) -> Span:
    monday = here - timedelta(days=here.weekday())
    return day(monday + timedelta(days=WEEKDAY_NAMES.index(match[1].lower())))


def _date(number: str, month: str, year: str | None, here: datetime) -> Span:
    of, at = MONTHS[month.lower()], int(number)
    return _of_year(year, lambda year: day(here.replace(year=year, month=of, day=at)), here)


def _in_numbers(match: re.Match[str], here: datetime) -> Span:
    """Return the day of "6/17" or "17.6.2026": the month first, where slashes let it be."""
    first, second, year = int(match["one"]), int(match["two"]), match["year"]
    is_month_first = match["mark"] == "/" and first <= 12
    of, at = (first, second) if is_month_first else (second, first)
    return _of_year(year, lambda year: day(here.replace(year=year, month=of, day=at)), here)


def _nth_week(match: re.Match[str], here: datetime) -> Span:
    """Return a week by its number in the calendar (ISO 8601), of a year or else the newest."""
    number, said = int(match[1]), match[2]
    years = [int(said)] if said else range(here.year, here.year - 9, -1)
    for year in years:
        try:
            at = date.fromisocalendar(year, number, 1)
        except ValueError:  # few years have a week 53
            continue
        monday = midnight(here).replace(year=at.year, month=at.month, day=at.day)
        if said or monday <= here:
            return Span(monday, monday + timedelta(weeks=1))
    raise ValueError("no such week")


def _days_of_month(match: re.Match[str], here: datetime) -> Span:
    first = _date(match["first"], match["month"], match["year"], here)
    last = _date(match["last"], match["month"], match["year"], here)
    return Span(first.since, last.until)


def _th(match: re.Match[str], here: datetime) -> Span:
    for back in range(13):
        start = month_start(here.year, here.month - back, here)
        at = start + timedelta(days=int(match[1]) - 1)
        if at.month == start.month and at <= here:
            return day(at)
    raise ValueError("no such day")


def _month(match: re.Match[str], here: datetime) -> Span:
    return _named(match, MONTHS[match["month"].lower()], here)


def _season(match: re.Match[str], here: datetime) -> Span:
    return _named(match, _SEASONS[match["season"].lower()], here, 3)


def _named(match: re.Match[str], month: int, here: datetime, number: int = 1) -> Span:
    """Return so many months from one on, in the year of a match or the newest that is meant."""

    def of_year(year: int) -> Span:
        return _months(year, month, here, number)

    return _of_year(match["year"], of_year, here, over=bool(match["last"]))


_DATED: Final = {
    "christmas eve": (12, 24),
    "christmas": (12, 25),
    "xmas": (12, 25),
    "new years eve": (12, 31),
    "new year eve": (12, 31),
    "halloween": (10, 31),
    "valentines day": (2, 14),
    "valentine day": (2, 14),
}  # else it is the first of January


def _feast(match: re.Match[str], here: datetime) -> Span:
    name = re.sub(r"['’]", "", match[1].lower())

    def days(year: int) -> Span:
        if name == "easter":
            first = _easter(year)
        elif name == "thanksgiving":  # the fourth Thursday
            november = date(year, 11, 1)
            first = november + timedelta(days=(3 - november.weekday()) % 7 + 21)
        else:
            first = date(year, *_DATED.get(name, (1, 1)))
        start = midnight(here).replace(year=first.year, month=first.month, day=first.day)
        return Span(start, start + timedelta(days=2 if name in ("christmas", "xmas") else 1))

    return _of_year(match[2], days, here)


def _easter(year: int) -> date:
    """Return Easter Sunday of the Gregorian calendar (Meeus, Jones, Butcher)."""
    a, (b, c) = year % 19, divmod(year, 100)
    h = (19 * a + b - b // 4 - (b - (b + 8) // 25 + 1) // 3 + 15) % 30
    m = (32 + 2 * (b % 4) + 2 * (c // 4) - h - c % 4) % 7
    month, number = divmod(h + m - 7 * ((a + 11 * h + 22 * m) // 451) + 114, 31)
    return date(year, month, number + 1)


def _nth_quarter(match: re.Match[str], here: datetime) -> Span:
    said = match[1].lower()
    number = int(said) if said.isdigit() else ORDINALS[said]
    return _of_year(match[2], lambda year: _months(year, 3 * number - 2, here, 3), here)


def _iso_day(match: re.Match[str], here: datetime) -> Span:
    return day(here.replace(year=int(match[1]), month=int(match[3]), day=int(match[4])))


def _vague(match: re.Match[str], here: datetime) -> Span:
    days = {"day": 10, "night": 10, "morning": 10, "evening": 10, "week": 28, "month": 90}
    today = midnight(here)
    return Span(today - timedelta(days=days[match[1].lower()]), today)


def _relative(days: int) -> _Reading:
    return lambda match, here: day(here - timedelta(days=days))


def _part_of(days: int, part: str = "") -> _Reading:
    """Return what reads a part of the day so many days ago: `part`, or the one that is named."""
    return lambda match, here: part_of(here - timedelta(days=days), part or match[1])


_HOUR: Final = (
    r"(?:\d{1,2}(?::[0-5]\d)? ?[ap]\.?m\b\.?|(?:[01]?\d|2[0-3]):[0-5]\d(?::[0-5]\d)?(?![:\d])"
    r"|noon|midday|midnight)"
)
CLOCK: Final = re.compile(
    rf"(?i)(?<![\w:.])(?:(?P<lead>at|around|about|since|after|before|until|till|by|from|between) )?"
    rf"(?P<first>{_HOUR})(?: ?(?:-|–|and|to|until|till) ?(?P<last>{_HOUR}))?(?![\w:])"
    r"(?! (?:each|every|daily)\b)"
)
"""A time of day or two, with the word before it."""


def clock(said: str) -> timedelta:
    """Return a time of day, from midnight; raises ValueError for one that no clock shows."""
    said = said.lower().replace(".", "")
    if said in ("noon", "midday", "midnight"):
        return timedelta(hours=24 if said == "midnight" else 12)
    hour, _, rest = said.removesuffix("m").rstrip("ap ").partition(":")
    number = int(hour)
    if said.endswith("m"):
        if not 1 <= number <= 12:
            raise ValueError(f"no such hour: {said}")
        number = number % 12 + (12 if "p" in said else 0)
    return timedelta(hours=number, minutes=int(rest[:2] or 0))


def within_day(match: re.Match[str], start: datetime, *, day_named: bool, now: datetime) -> Span:
    """Return what a time of day, or two, with the word before them mean of a day that begins then.

    Where the day is not named, it is the newest that has seen this time.
    """
    first = clock(match["first"])
    if not day_named and start + first > now:
        start -= timedelta(days=1)
    at, end = start + first, start + timedelta(days=1)
    if match["last"]:
        last = start + clock(match["last"])
        return Span(at, last if last > at else last + timedelta(days=1))
    match (match["lead"] or "").lower():
        case "since" | "from":
            return Span(at, None)
        case "after":
            return Span(at, end if day_named else None)
        case "before" | "until" | "till" | "by":
            return Span(start, at)
        case "around" | "about":
            return Span(at - timedelta(hours=1), at + timedelta(hours=1))
        case _:
            return Span(at - timedelta(minutes=30), at + timedelta(minutes=30))


WEEK_OF: Final = re.compile(r"(?i)(?<!\w)(?:the )?week of (?:the )?$")
"""What stands before a day and means its week."""
PART_AFTER: Final = re.compile(rf"(?i),? (?:in the |at )?{_PART}(?!\w)")
"""What stands behind a day and takes a part of it: "june 17 in the evening"."""
COUNTED_FROM: Final = (
    rf"(?:(?P<the>the )?(?P<number>{_NUMBER[1:-1]}) |the )(?P<unit>day|week|month)s? "
)
"""What stands before "before" or "after" and counts from a time: "two weeks before july 1"."""


def offset(match: re.Match[str], of: Span) -> Span:
    """Return the time that is counted from another: "the day after", "the two weeks before".

    The match has the groups of COUNTED_FROM and "relation".

    Without "the" some weeks or months from it are meant as loosely as "two weeks ago" means them.
    """
    since, until = of
    amount, unit = _amount(match["number"] or "a"), match["unit"].lower()
    before = match["relation"].lower() == "before"
    if since is None:
        raise ValueError("from when is not said")
    since = midnight(since)
    end = since + timedelta(days=1) if until is None else until
    if unit == "month":
        first = month_start(since.year, since.month + (-amount if before else amount), since)
        return Span(first, month_start(first.year, first.month + 1, first))
    days = amount * (7 if unit == "week" else 1)
    if match["the"] or not match["number"]:
        length = timedelta(days=days)
        return Span(since - length, since) if before else Span(end, end + length)
    at = since - timedelta(days=days) if before else end + timedelta(days=days - 1)
    around = timedelta(days=4 if unit == "week" else 0)
    return Span(at - around, max(at + around, at + timedelta(days=1)))


DAY_PART: Final = re.compile(rf"(?i)(?<!\w)(?:the )?{_PART} of (?:the )?$")
"""What stands before a day and takes a part of it."""


def part_of(at: datetime, part: str) -> Span:
    """Return the morning, afternoon, evening or night of a day."""
    first, last = _PARTS[part.lower()]
    start = midnight(at)
    return Span(start + timedelta(hours=first), start + timedelta(hours=last))


# What follows and makes another thing of a number or a name: "the 8th test", "on the 3rd of the".
_NO_NOUN: Final = (
    r"(?! (?!(?:at|and|to|until|till|through|or|in|i|did|we|you|what|which|was)\b)[a-z])"
)

_NO_NUMBER: Final = r"(?! (?!(?:was|is|has|does|this)\b)\w+s\b)"  # "after 2000 requests"

_BEGINS: Final = r"(?<!\w)(?<!(?<!\.)\.)(?<!(?<!mid)-)"  # not in a name: "notes-2026-07-08"

_ON_WEEKDAY: Final = rf"(?:(?:{_LONG_DAY}|{_SHORT_DAY}),? (?:the )?)?"  # "on thursday june 18"
_MONTH_AND_DAY: Final = (
    r"(?<!by )(?<!in )(?<!at )(?<!for )(?<!over )(?<!about )(?<!within )"  # "by 2/3" is a share
    r"(?P<one>\d{1,2})(?P<mark>/)(?P<two>\d{1,2})(?![/.\d])(?P<year>)"
)
_DAY_IN_NUMBERS: Final = (
    r"(?P<one>\d{1,2})(?P<mark>[./-])(?P<two>\d{1,2})(?P=mark)(?P<year>(?:19|20)\d\d)(?![-/.]\w)"
)
_WEEK: Final = r"week (\d{1,2})(?:,? (?:of )?((?:19|20)\d\d))?(?! of\b)"

# fmt: off
_ALONE: Final[tuple[tuple[str, _Reading, Unit], ...]] = (
    (rf"{_ON_WEEKDAY}{_ISO}(?![-/]\w|\.[a-z])", _iso_day, Unit.DAYS),
    (rf"{_ON_WEEKDAY}{_DAY_IN_NUMBERS}", _in_numbers, Unit.DAYS),
    (rf"{_NUMBER} (hour|day|week|fortnight|month|year)s? ago", _ago, Unit.DAYS),
    (rf"{_NUMBER} ({_LONG_DAY})s ago",
     lambda match, here: day(_weekday(match[2], here) - timedelta(weeks=_amount(match[1]) - 1)),
     Unit.DAYS),
    (rf"(?:the )?(?:last|past) {_NUMBER} (minute|hour|day|week|month|year)s?", _past, Unit.DAYS),
    (rf"(?:the )?(week|month|year|{_LONG_DAY}) before last", _before_last, Unit.DAYS),
    (r"the day before yesterday", _relative(2), Unit.DAYS),
    (rf"yesterday {_PART}", _part_of(1), Unit.DAYS),
    (r"yesterday(?:['’]?s)?", _relative(1), Unit.DAYS),
    (r"(?:earlier )?today", _relative(0), Unit.DAYS),
    (r"tonight", _part_of(0, "night"), Unit.DAYS),
    (r"last night", _part_of(1, "night"), Unit.DAYS),
    (rf"last (weekend|week|month|quarter)(?! of (?:last )?(?:{MONTH})\b)", _last, Unit.DAYS),
    (r"last (year)", _last, Unit.YEAR),
    (r"this (morning|afternoon|evening)", _part_of(0), Unit.DAYS),
    (r"this (weekend|week|month|quarter)", _this, Unit.DAYS),
    (r"this (year)", _this, Unit.YEAR),
    (r"(?:over|on|at|during) the (weekend)", _weekend, Unit.DAYS),
    (rf"(?:last |this )?{_ANY_DAY} {_PART}",
     lambda match, here: part_of(_weekday(match[1], here), match[2]), Unit.DAYS),
    (rf"last {_ANY_DAY}", _on_weekday, Unit.DAYS),
    (rf"this {_DAY}", _this_weekday, Unit.DAYS),
    (r"the other (day|night|morning|evening|week|month)", _vague, Unit.VAGUE),
)
"""Times that need no word before them, from the longest on."""
_NAMED: Final[tuple[tuple[str, _Reading, Unit], ...]] = (
    (rf"(?:the )?{_FIRST_TO_LAST} (?:of )?(?P<month>{MONTH})(?:,? (?P<year>\d{{4}}))?",
     _days_of_month, Unit.DAYS),
    (rf"(?P<month>{MONTH}) {_FIRST_TO_LAST}(?!:)(?:,? (?P<year>\d{{4}}))?",
     _days_of_month, Unit.DAYS),
    (rf"{_ON_WEEKDAY}(?:the )?{_NUMBERED} (?:of )?{_MONTH}{_YEAR}",
     lambda match, here: _date(match[1], match[2], match[3], here), Unit.DAYS),
    (rf"{_ON_WEEKDAY}{_MONTH} (?:the )?{_NUMBERED}{_YEAR}(?![:\d])",
     lambda match, here: _date(match[2], match[1], match[3], here), Unit.DAYS),
    (rf"(?P<last>)(?P<month>{MONTH}),? (?P<year>(?:19|20)\d\d)", _month, Unit.MONTH),
    (rf"(?P<last>last) (?P<month>{MONTH})(?P<year>)", _month, Unit.MONTH),
    (rf"(?P<last>last) (?P<season>{_SEASON})(?P<year>)", _season, Unit.QUARTER),
    (rf"(?P<last>)this (?P<season>{_SEASON})(?P<year>)",
     lambda match, here: Span(_season(match, here).since, None), Unit.QUARTER),
    (r"q([1-4])(?: (?:of )?((?:19|20)\d\d))?", _nth_quarter, Unit.QUARTER),
    (rf"calendar {_WEEK}", _nth_week, Unit.DAYS),
    (rf"(?:the )?{_NTH} quarter(?: (?:of )?((?:19|20)\d\d))?", _nth_quarter, Unit.QUARTER),
)
"""The same, by the name of a month or its like: a text may speak of them at any time."""
_LED: Final[tuple[tuple[str, _Reading, Unit], ...]] = (
    (r"((?:19|20)\d\d)-(0[1-9]|1[0-2])(?![-/.]\w)",
     lambda match, here: _months(int(match[1]), int(match[2]), here), Unit.MONTH),
    (r"the (?:last|past)( )(minute|hour|day|week|month|year)(?! of)", _past, Unit.DAYS),
    (rf"{_ANY_DAY}(?!\.\w|,? the \d)", _on_weekday, Unit.DAYS),
    (r"the (year)", _this, Unit.YEAR),
)
"""Times only where a word such as "in" or "since" leads to them."""
_NAMED_LED: Final[tuple[tuple[str, _Reading, Unit], ...]] = (
    (rf"{_ON_WEEKDAY}{_MONTH_AND_DAY}{_NO_NOUN}", _in_numbers, Unit.DAYS),
    (rf"{_WEEK}{_NO_NOUN}", _nth_week, Unit.DAYS),
    (rf"{_ON_WEEKDAY}the {_TH}{_NO_NOUN}", _th, Unit.DAYS),
    (rf"(?P<last>)(?P<month>{MONTH})(?P<year>)", _month, Unit.MONTH),
    (rf"(?P<last>)(?:the )?(?P<season>{_SEASON})(?:(?: of)? (?P<year>(?:19|20)\d\d))?",
     _season, Unit.QUARTER),
    (rf"{_FEAST}(?: ((?:19|20)\d\d))?", _feast, Unit.DAYS),
    (rf"((?:19|20)\d\d)(?![-/.:]\w){_NO_NUMBER}",
     lambda match, here: _months(int(match[1]), 1, here, 12), Unit.YEAR),
)
# fmt: on


@cache
def _patterns() -> Sequence[tuple[re.Pattern[str], _Reading, Unit, bool, bool]]:
    """Return the patterns with what they mean: whether alone, whether by a name."""
    return [
        (re.compile(rf"(?i){_BEGINS}{pattern}(?!\w)"), reading, unit, alone, named)
        for table, alone, named in (
            (_ALONE, True, False),
            (_NAMED, True, True),
            (_LED, False, False),
            (_NAMED_LED, False, True),
        )
        for pattern, reading, unit in table
    ]


_NOT_PAST: Final = re.compile(
    r"(?i)(?:\b(?:next|coming|upcoming|every|each|per|any)|\bfirst\b.{0,3}) $"
)


def _could_be_a_day(match: re.Match[str]) -> bool:
    """Tell "june 31", which some month has, from "may 45"."""
    return all(int(number) <= 31 for number in re.findall(r"\b\d\d?(?=\b|[a-z])", match[0]))


def points(text: str, here: datetime) -> list[Point]:
    """Return the times of a text in their order, none within another.

    A day that there is not ("june 31", 2026-02-30) is one that is UNREAD.
    """
    found: list[Point] = []
    for pattern, reading, unit, alone, named in _patterns():
        for match in pattern.finditer(text):
            begin, end = match.span()
            if any(begin < one.end and one.begin < end for one in found):
                continue
            if _NOT_PAST.search(text, max(0, begin - 12), begin):
                continue
            whole = False
            try:
                span = reading(match, here)
            except (ValueError, OverflowError):
                quoted = text[begin - 1 : begin] in ("'", '"', "`")
                if unit is not Unit.DAYS or not alone or quoted or not _could_be_a_day(match):
                    continue
                span, whole = Span(None, None), True
            found.append(
                Point(
                    begin=begin,
                    end=end,
                    span=span,
                    unit=Unit.UNREAD if whole else unit,
                    alone=alone,
                    named=named,
                    whole=whole,
                )
            )
    return sorted(found, key=lambda one: one.begin)
