"""Understand when: "7d", "2026-11-02", and the time phrases of a question.

General date parsers were tried first: they read dates, but a question needs the window that a
phrase means ("last week" is seven days) and the place where the phrase stands, and they cost more
than the whole search. So the few phrases that questions use are listed here.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo

from factbook.errors import UsageError
from factbook.language.calendar import MONTH, MONTHS, WEEKDAY_NAMES
from factbook.language.numbers import CARDINALS, SEVERAL
from factbook.model.facts import Millis

DAY_MS = 24 * 3600 * 1000

_UNITS = {
    "s": 1000,
    "min": 60_000,
    "h": 3_600_000,
    "d": DAY_MS,
    "w": 7 * DAY_MS,
    "m": 30 * DAY_MS,
    "mo": 30 * DAY_MS,
    "y": 365 * DAY_MS,
}
_WORDS = {**CARDINALS, "a": 1, "an": 1, "couple of": 2, "few": 3}
_NUMBER = rf"(\d{{1,3}}|a couple of|couple of|a few|few|an?|one|{SEVERAL})"
_MONTH = f"({MONTH})"
_DAY = f"({'|'.join(WEEKDAY_NAMES)})"
_ISO = r"(\d{4}-\d{2}-\d{2})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """A span of time, and the words of the question that named it."""

    since: Millis | None  # inclusive
    until: Millis | None  # exclusive
    phrase: str  # as it stands in the question
    exact: bool  # counted from now or typed as a date; else a day or month that the text speaks of


def now_ms() -> Millis:
    """Return the time now."""
    return int(datetime.now(UTC).timestamp() * 1000)


def to_ms(moment: datetime) -> Millis:
    """Return a moment as milliseconds; one without a zone is local time."""
    return int(moment.timestamp() * 1000)


def parse_moment(text: str, *, now: Millis, zone: tzinfo | None = None) -> Millis:
    """Read an option's moment: "7d", "36h", "2w", "2026-11-02", "2026-11-02T10:30", "yesterday".

    A moment without a zone is local time. Raises UsageError with the accepted forms.
    """
    value = text.strip().lower()
    relative = re.fullmatch(r"(\d{1,6})\s*(s|min|h|d|w|mo|m|y)", value)
    if relative:
        return now - int(relative[1]) * _UNITS[relative[2]]
    window = find_window(value, now=now, zone=zone)
    if window and window.since is not None and window.phrase == value:
        return window.since
    try:
        moment = datetime.fromisoformat(text.strip())
    except ValueError:
        raise UsageError(
            detail=f"{text!r} is not a moment; give one like 7d, 36h, 2w, yesterday, last week,"
            " 2026-11-02 or 2026-11-02T10:30"
        ) from None
    return to_ms(moment.replace(tzinfo=moment.tzinfo or _local(now, zone).tzinfo))


def find_window(question: str, *, now: Millis, zone: tzinfo | None = None) -> Window | None:
    """Return the window of the first time phrase of a question, or None.

    Weeks begin on Monday; "last week" is the calendar week before this one and the days since, so
    that what happened "last week" in either sense is found.
    """
    here = _local(now, zone)
    for pattern, reading in _PHRASES:
        match = pattern.search(question)
        if match is None:
            continue
        try:
            span = reading(match, here)
        except (ValueError, OverflowError):  # "on 2026-02-31" is no date: the words stay a query
            continue
        since, until = span
        return Window(
            since=None if since is None else to_ms(since),
            until=None if until is None else to_ms(until),
            phrase=match[0].strip(),
            exact=reading not in (_in_month, _in_year, _day_month_year, _month_day_year),
        )
    return None


def without(question: str, window: Window) -> str:
    """Return the question without its time phrase, which would only match by chance."""
    return " ".join(question.replace(window.phrase, " ", 1).split())


_Span = tuple[datetime | None, datetime | None]


def _local(now: Millis, zone: tzinfo | None) -> datetime:
    moment = datetime.fromtimestamp(now / 1000, UTC)
    return moment.astimezone(zone) if zone else moment.astimezone()


def _midnight(moment: datetime) -> datetime:
    return moment.replace(hour=0, minute=0, second=0, microsecond=0)


def _day(moment: datetime) -> _Span:
    start = _midnight(moment)
    return start, start + timedelta(days=1)


def _month_start(year: int, month: int, here: datetime) -> datetime:
    years, month = divmod(month - 1, 12)
    return _midnight(here).replace(year=year + years, month=month + 1, day=1)


def _amount(text: str) -> int:
    return int(text) if text.isdigit() else _WORDS[text.lower().removeprefix("a ").strip() or "a"]


def _ago(match: re.Match[str], here: datetime) -> _Span:
    amount, unit = _amount(match[1]), match[2].lower()
    if unit == "hour":
        return here - timedelta(hours=amount + 1), here - timedelta(hours=amount - 1)
    if unit == "day":
        return _day(here - timedelta(days=amount))
    if unit == "week":
        middle = _midnight(here - timedelta(weeks=amount))
        return middle - timedelta(days=4), middle + timedelta(days=4)
    if unit == "month":
        start = _month_start(here.year, here.month - amount, here)
        return start, _month_start(start.year, start.month + 1, here)
    start = _midnight(here).replace(year=here.year - amount, month=1, day=1)
    return start, start.replace(year=start.year + 1)


def _past(match: re.Match[str], here: datetime) -> _Span:
    amount = _amount(match[1]) if match[1] else 1
    days = {"day": 1, "week": 7, "month": 31, "year": 366}
    unit = match[2].lower()
    if unit == "hour":
        return here - timedelta(hours=amount), None
    return _midnight(here - timedelta(days=amount * days[unit])), None


def _last(match: re.Match[str], here: datetime) -> _Span:
    unit = match[1].lower()
    today = _midnight(here)
    if unit == "night":
        return today - timedelta(hours=6), today + timedelta(hours=6)
    if unit == "week":
        return today - timedelta(days=today.weekday() + 7), None
    if unit == "weekend":
        monday = today - timedelta(days=today.weekday())
        return monday - timedelta(days=2), monday
    if unit == "month":
        return _month_start(today.year, today.month - 1, here), _month_start(
            today.year, today.month, here
        )
    return today.replace(year=today.year - 1, month=1, day=1), today.replace(month=1, day=1)


def _this(match: re.Match[str], here: datetime) -> _Span:
    today, unit = _midnight(here), match[1].lower()
    if unit in ("morning", "afternoon", "evening"):
        return _day(here)
    if unit == "week":
        return today - timedelta(days=today.weekday()), None
    if unit == "month":
        return today.replace(day=1), None
    return today.replace(month=1, day=1), None


def _weekday(match: re.Match[str], here: datetime) -> datetime:
    back = (here.weekday() - WEEKDAY_NAMES.index(match[1].lower())) % 7
    return here - timedelta(days=back or 7)


def _day_month_year(match: re.Match[str], here: datetime) -> _Span:
    return _day(here.replace(year=int(match[3]), month=MONTHS[match[2].lower()], day=int(match[1])))


def _month_day_year(match: re.Match[str], here: datetime) -> _Span:
    return _day(here.replace(year=int(match[3]), month=MONTHS[match[1].lower()], day=int(match[2])))


def _in_month(match: re.Match[str], here: datetime) -> _Span:
    month = MONTHS[match[1].lower()]
    year = int(match[2] or (here.year if month <= here.month else here.year - 1))
    return _month_start(year, month, here), _month_start(year, month + 1, here)


def _in_year(match: re.Match[str], here: datetime) -> _Span:
    start = _midnight(here).replace(year=int(match[1]), month=1, day=1)
    return start, start.replace(year=start.year + 1)


def _iso_day(match: re.Match[str], here: datetime) -> datetime:
    return datetime.fromisoformat(match[1]).replace(tzinfo=here.tzinfo)


_Reading = Callable[[re.Match[str], datetime], _Span]
_PHRASES: tuple[tuple[re.Pattern[str], _Reading], ...] = tuple(
    (re.compile(rf"(?i)\b{pattern}\b"), reading)
    for pattern, reading in (
        (
            rf"between {_ISO} and (\d{{4}}-\d{{2}}-\d{{2}})",
            lambda m, h: (
                _iso_day(m, h),
                datetime.fromisoformat(m[2]).replace(tzinfo=h.tzinfo) + timedelta(days=1),
            ),
        ),
        (rf"since {_ISO}", lambda m, h: (_iso_day(m, h), None)),
        (rf"(?:before|until) {_ISO}", lambda m, h: (None, _iso_day(m, h))),
        (rf"(?:on )?{_ISO}", lambda m, h: _day(_iso_day(m, h))),
        (rf"{_NUMBER} (hour|day|week|month|year)s? ago", _ago),
        (
            rf"(?:in|over|within|during) the (?:last|past) (?:{_NUMBER} )?"
            r"(hour|day|week|month|year)s?",
            _past,
        ),
        (rf"(?:the )?(?:last|past) {_NUMBER} (hour|day|week|month|year)s?", _past),
        (r"the day before yesterday", lambda m, h: _day(h - timedelta(days=2))),
        (r"since yesterday", lambda m, h: (_midnight(h) - timedelta(days=1), None)),
        (r"yesterday", lambda m, h: _day(h - timedelta(days=1))),
        (r"today", lambda m, h: _day(h)),
        (r"last (night|weekend|week|month|year)", _last),
        (r"this (morning|afternoon|evening|week|month|year)", _this),
        (rf"since (?:last )?{_DAY}", lambda m, h: (_midnight(_weekday(m, h)), None)),
        (rf"(?:on |last ){_DAY}", lambda m, h: _day(_weekday(m, h))),
        (rf"(?:on )?(\d{{1,2}})(?:st|nd|rd|th)? (?:of )?{_MONTH},? (\d{{4}})", _day_month_year),
        (rf"(?:on )?{_MONTH} (\d{{1,2}})(?:st|nd|rd|th)?,? (\d{{4}})", _month_day_year),
        (rf"in {_MONTH}(?:,? (\d{{4}}))?", _in_month),
        (rf"{_MONTH},? (\d{{4}})", _in_month),
        (r"in ((?:19|20)\d\d)", _in_year),
    )
)
