"""Understand when: "7d", "2026-11-02", and the time that a question names.

A question needs the window that its words mean ("last week" is seven days and more) and the place
where they stand, and must not take "may" or "the 8th test" for a time. General parsers of dates
return single moments and find one in most questions that name none (docs/decisions.md), so
`time_points` reads the times that questions use, and what stands around them is read here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Final

from factbook.errors import UsageError
from factbook.language.numbers import ORDINALS
from factbook.model.facts import Millis
from factbook.recall.time_points import (
    CLOCK,
    COUNTED_FROM,
    DAY_PART,
    PART_AFTER,
    WEEK_OF,
    Point,
    Span,
    Unit,
    midnight,
    month_start,
    offset,
    part_of,
    points,
    within_day,
)

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """A span of time, and the words of the question that named it."""

    since: Millis | None  # inclusive
    until: Millis | None  # exclusive
    phrase: str  # as it stands in the question
    exact: bool  # counted from now or typed as a date; else a day or month that the text speaks of
    vague: bool = False  # some day or other: it weighs, and excludes nothing
    taken: str = ""  # the event that it is counted from, where it names one ("since the release")


def now_ms() -> Millis:
    """Return the time now."""
    return int(datetime.now(UTC).timestamp() * 1000)


def to_ms(moment: datetime) -> Millis:
    """Return a moment as milliseconds; one without a zone is local time."""
    return int(moment.timestamp() * 1000)


def local(at: Millis, zone: tzinfo | None = None) -> datetime:
    """Return a moment as the clocks of a zone show it, without a zone those of this machine.

    The local one is naive on purpose: an aware one has the offset of its own day, which is an hour
    off on days of the other half of the year.
    """
    return datetime.fromtimestamp(at / 1000, zone)


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
    return to_ms(moment.replace(tzinfo=moment.tzinfo or zone))


def find_window(question: str, *, now: Millis, zone: tzinfo | None = None) -> Window | None:
    """Return the window of the first time that a question names, or None.

    Weeks begin on Monday; "last week" is the calendar week before this one and the days since, so
    that what happened "last week" in either sense is found. Where one cannot be read none is
    named, for it would be read by halves: "since june 31" is not "since june".
    """
    here = local(now, zone)
    text = _JOINED_CLOCK.sub(r"\1 ", question)
    days = [_parted(text, point) for point in points(text, here)]
    if any(day.unit is Unit.UNREAD for day in days):
        return None
    for time in _ranges(text, _with_clocks(text, days, here)):
        window = _led(text, question, time)
        if window is not None:
            return window
    return None


def without(question: str, window: Window) -> str:
    """Return the question without its time phrase, which would only match by chance."""
    return " ".join(question.replace(window.phrase, " ", 1).split())


_JOINED_CLOCK: Final = re.compile(r"(\d{4}-\d\d-\d\d)T(?=\d\d:\d\d)")
_PART: Final = re.compile(
    r"(?i)(?<!\w)(?:the )?(?:(?P<third>early|late|mid|(?:middle|beginning|start|end) of)"
    r"|(?P<half>first|second) half of"
    rf"|(?P<week>{'|'.join(list(ORDINALS)[:4])}|last) (?P<of>week|weekend) of)"
    r"[ -](?:in )?(?:the )?$"
)
_OFFSET: Final = re.compile(rf"(?i)(?<!\w){COUNTED_FROM}(?P<relation>before|after) (?:the )?$")
_NEAR: Final = 60  # characters before a time among which what is said of it stands
_THIRDS: Final = {
    "early": 0,
    "beginning": 0,
    "start": 0,
    "mid": 1,
    "middle": 1,
    "late": 2,
    "end": 2,
}
_LEAD: Final = re.compile(
    r"(?i)(?<!\w)(since|after|before|until|till|up to|by|from|starting(?: from| in| on| at)?"
    r"|between|in|on|at|during|over|within|around|about|through|throughout|of|for)(?: the)? $"
)
_TO: Final = re.compile(
    r"(?i)\s*(?:,? (?P<word>to|until|till|through|and)(?: the)? |\.\.+|–| ?- ?)"
)
_ONWARDS: Final = re.compile(r"(?i) on(?:wards?)?\b(?! \w)")
_CLOCK_AND_DAY: Final = re.compile(r"(?i),? (?:on |of |in )?(?:the )?")
_FROM: Final = frozenset({"from", "between", "since", "in"})
_SINCE: Final = frozenset(
    {"since", "starting", "starting from", "starting in", "starting on", "starting at"}
)
_UP_TO: Final = frozenset({"until", "till", "up to", "by"})
_NO_LEAD: Final = {
    Unit.MONTH: frozenset({"on", "at", "by", "about", "for"}),
    Unit.YEAR: frozenset({"on", "at", "by", "about", "of", "for", "over"}),
    Unit.QUARTER: frozenset({"on", "at", "by", "about", "for"}),
}  # "by april" may be somebody, "of 2000" a number; "plans for june" are made at other times


def _parted(text: str, time: Point) -> Point:
    """Return a day, a month or a longer time, or the part of it that is named."""
    since, near = time.span.since, max(0, time.begin - _NEAR)
    if since is None:
        return time
    if time.unit is Unit.DAYS and (match := DAY_PART.search(text, near, time.begin)):
        return replace(time, begin=match.start(), span=part_of(since, match[1]))
    if (match := _OFFSET.search(text, near, time.begin)) is not None:
        return replace(time, begin=match.start(), span=offset(match, time.span), alone=True)
    if time.unit is Unit.DAYS and time.span.until == since + timedelta(days=1):
        if match := WEEK_OF.search(text, near, time.begin):
            monday = since - timedelta(days=since.weekday())
            week = Span(monday, monday + timedelta(weeks=1))
            return replace(time, begin=match.start(), span=week, alone=True)
        if match := PART_AFTER.match(text, time.end):
            return replace(time, end=match.end(), span=part_of(since, match[1]))
    if time.unit not in (Unit.MONTH, Unit.QUARTER, Unit.YEAR):
        return time
    match = _PART.search(text, near, time.begin)
    if match is None:
        return time
    until = time.span.until or since.replace(year=since.year + 1)
    if match["week"]:
        weeks = ORDINALS.get(match["week"].lower())
        last_week = until - timedelta(days=7)
        begin = last_week if weeks is None else since + timedelta(weeks=weeks - 1)
        span = Span(begin, begin + timedelta(days=7))
        if match["of"].lower() == "weekend":
            begin += timedelta(days=(5 - begin.weekday()) % 7)
            span = Span(begin, begin + timedelta(days=2))
    elif match["half"]:
        span = _half(since, until, second=match["half"].lower() == "second")
    else:
        span = _third(since, until, _THIRDS[match["third"].lower().split()[0]], time.unit)
    return replace(time, begin=match.start(), span=span, alone=True)


def _half(since: datetime, until: datetime, *, second: bool) -> Span:
    months = (until.year - since.year) * 12 + until.month - since.month
    if months == 1:
        middle = since + timedelta(days=15)
    else:
        middle = month_start(since.year, since.month + months // 2, since)
    return Span(middle, until) if second else Span(since, middle)


def _third(since: datetime, until: datetime, part: int, unit: Unit) -> Span:
    """Return what "early", "mid" or "late" means: of a month ten days, of a year some months."""
    if unit is Unit.YEAR:
        first, last = ((1, 3), (5, 9), (11, 13))[part]
        return Span(month_start(since.year, first, since), month_start(since.year, last, since))
    third = (until - since) // 3 if unit is Unit.QUARTER else timedelta(days=10)
    if part == 2:
        return Span(since + 2 * third, until)
    return Span(since + part * third, since + (part + 1) * third)


def _with_clocks(text: str, days: Sequence[Point], here: datetime) -> list[Point]:
    """Return the times of a text with the times of day, each joined to the day that it is of."""
    times = list(days)
    for match in CLOCK.finditer(text):
        begin, end = match.span()
        if any(begin < day.end and day.begin < end for day in days):
            continue
        day = next((day for day in days if _touch(text, begin, end, day)), None)
        if day is not None and day not in times:
            continue  # "5pm yesterday at 10am": the first clock has the day
        named = day is not None and day.span.since is not None
        if not (named or match["lead"]):
            continue
        start = midnight(day.span.since if day and day.span.since else here)
        try:
            span = within_day(match, start, day_named=named, now=here)
        except (ValueError, OverflowError):
            continue
        if day is not None:
            times.remove(day)
            begin, end = min(begin, _lead_of(text, day)[0]), max(end, day.end)
        times.append(Point(begin=begin, end=end, span=span, unit=Unit.DAYS, alone=True, whole=True))
    return sorted(times, key=lambda time: time.begin)


def _touch(text: str, begin: int, end: int, day: Point) -> bool:
    """Say whether a time of day and a day stand side by side."""
    if day.unit is not Unit.DAYS:
        return False
    gap = text[end : day.begin] if end <= day.begin else text[day.end : begin]
    return _CLOCK_AND_DAY.fullmatch(gap) is not None


def _lead_of(text: str, time: Point) -> tuple[int, str]:
    """Return where the word that leads to a time begins, and the word; else the time's begin."""
    lead = None if time.whole else _LEAD.search(text, max(0, time.begin - _NEAR), time.begin)
    if lead is None or lead[1].lower() in _NO_LEAD.get(time.unit, ()):
        return time.begin, ""
    return lead.start(), lead[1].lower()


def _ranges(text: str, times: Sequence[Point]) -> Iterator[Point]:
    """Give the times in their order, two that are the ends of a range as one."""
    taken = False
    for n, first in enumerate(times):
        if taken:
            taken = False
            continue
        last = times[n + 1] if n + 1 < len(times) else None
        joined = None if last is None or first.whole or last.whole else _joined(text, first, last)
        taken = joined is not None
        yield joined or first


def _joined(text: str, first: Point, last: Point) -> Point | None:
    to = _TO.fullmatch(text, first.end, last.begin)
    if to is None:
        return None
    begin, lead = _lead_of(text, first)
    word = (to["word"] or "").lower()
    onto = lead in _FROM or (first.alone and last.alone)
    ranged = lead == "between" if word == "and" else onto
    since, until = first.span.since, last.span.until
    if not ranged or since is None:
        return None
    if until is not None and since >= until:  # "from November to March", "from Friday to Tuesday"
        back = since.replace(year=since.year - 1) if first.named else since - timedelta(days=7)
        since = min(back, since.replace(year=until.year)) if first.named else back
    return replace(
        first,
        begin=begin if lead in _FROM else first.begin,
        end=last.end,
        span=Span(since, until),
        alone=True,
        whole=True,
    )


def _led(text: str, question: str, time: Point) -> Window | None:
    """Return the window that a time means with the word before it; None where it is none."""
    begin, lead = _lead_of(text, time)
    if not (time.alone or lead):
        return None
    (since, until), end = time.span, time.end
    onwards = _ONWARDS.match(text, end)
    if onwards is not None and not time.whole:
        lead, end = "since", onwards.end()
    if lead in _SINCE:
        until = None
    elif lead == "after":
        since, until = until or since, None
    elif lead == "before":
        since, until = None, since
    elif lead in _UP_TO:
        since = None
    elif lead == "around" and since and until and time.unit is Unit.DAYS:
        since, until = since - timedelta(days=2), until + timedelta(days=2)
    if since is not None and until is not None and since >= until:
        return None
    return Window(
        since=None if since is None else to_ms(since),
        until=None if until is None else to_ms(until),
        phrase=question[begin:end].strip(),
        exact=not time.named and time.unit is not Unit.VAGUE,
        vague=time.unit is Unit.VAGUE,
    )
