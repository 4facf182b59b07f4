"""Tell until when a statement is true, where its own words say so: "I'm tired today".

Only what is exact is taken: a day or a week that is named from the day of saying ("today",
"tomorrow", "this week"), and a date that a plan names ("I'm going to Lisbon in May"). What is told
in the past stays true. Of which kind a statement is, mood or plan, is not asked.

Knows: words in trees, times. Does not know: facts, what becomes of them.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Final, NamedTuple

from factbook.language.numbers import CARDINALS
from factbook.language.reader.reading import Reading, children
from factbook.language.verbs import base_forms, is_past
from factbook.model.facts import Millis
from factbook.recall.time_expressions import DAY_MS, Window, find_window, to_ms
from factbook.recall.time_points import midnight, month_start

__all__ = ["true_until"]

_NOW: Final = re.compile(r"(?i)\b(?:today|tonight|this)\b")
_AGO: Final = re.compile(r"(?i)\b(?:ago|last|past|yesterday|earlier|other|before)\b")
_NUMBER: Final = "|".join(["an?", r"\d{1,2}", *CARDINALS])
_COMING: Final = re.compile(
    r"(?i)\b(?:(?P<after>the day after )?(?P<tomorrow>tomorrow)"
    r"|next (?P<next>week|weekend|month|year)"
    r"|this (?P<this>week|weekend|month|year)"
    rf"|in (?P<number>{_NUMBER}) (?P<unit>day|week|month)s?)\b"
)
_WILL: Final = frozenset({"will", "'ll", "’ll", "shall", "wo", "gonna"})
_DONE: Final = frozenset({"did", "was", "were", "had", "has", "have", "'ve", "’ve"})
_BEING: Final = frozenset({"am", "is", "are", "'m", "'s", "'re", "’m", "’s", "’re", "be"})
_PLANS: Final = frozenset({"plan", "intend", "hope", "want", "expect", "aim", "go", "mean", "wish"})
_AHEAD_DAYS: Final = (0, 7, 366)  # how far ahead a day of the week, and a month, may be


def true_until(reading: Reading, at: Millis, *, zone: tzinfo | None = None) -> Millis | None:
    """Return until when a statement of that moment is true; None where its words do not say."""
    text = reading.text
    coming = _COMING.search(text)
    if coming is not None:
        place = coming.start(), coming.end()
        told = _is_told(reading, *place) or (coming["unit"] and not _is_planned(reading, *place))
        return None if told else _end(coming, at, zone)
    window = find_window(text, now=at, zone=zone)
    if window is None or window.vague or _AGO.search(window.phrase):
        return None
    begin = text.find(window.phrase)
    end = begin + len(window.phrase)
    if _is_told(reading, begin, end):
        return None
    if _NOW.search(window.phrase):
        return _ahead(window, at)
    if not _is_planned(reading, begin, end):
        return None
    ahead = (find_window(text, now=at + n * DAY_MS, zone=zone) for n in _AHEAD_DAYS)
    return next((until for each in ahead if each and (until := _ahead(each, at))), None)


def _ahead(window: Window, at: Millis) -> Millis | None:
    return window.until if window.until is not None and window.until > at else None


def _end(coming: re.Match[str], at: Millis, zone: tzinfo | None) -> Millis:
    moment = datetime.fromtimestamp(at / 1000, UTC)
    today = midnight(moment.astimezone(zone) if zone else moment.astimezone())
    monday = today - timedelta(days=today.weekday())
    if coming["tomorrow"]:
        return to_ms(today + timedelta(days=3 if coming["after"] else 2))
    if coming["next"] or coming["this"]:
        named, number = (coming["next"] or coming["this"]).lower(), 2 if coming["next"] else 1
        if named in ("week", "weekend"):
            return to_ms(monday + timedelta(weeks=number))
        if named == "month":
            return to_ms(month_start(today.year, today.month + number, today))
        return to_ms(month_start(today.year + number, 1, today))
    said = coming["number"].lower()
    number = int(said) if said.isdigit() else CARDINALS.get(said, 1)
    days = {"day": 1, "week": 7, "month": 31}[coming["unit"].lower()]
    return to_ms(today + timedelta(days=number * days + 1))


# --- the verb that a time hangs on ----------------------------------------------------------------


class _Over(NamedTuple):
    """A word over a time that says something, with what helps it."""

    word: str
    auxiliaries: frozenset[str]
    leads: bool  # to another verb: "plan to go"


def _over(reading: Reading, begin: int, end: int) -> list[_Over]:
    """Return what is over a time in its tree, the nearest first."""
    tokens, below = reading.tokens, children(reading.tokens)
    at = next((n for n, token in enumerate(tokens) if begin <= token.begin < end), -1)
    found = []
    while at >= 0:
        inside = [tokens[n] for n in below[at]]
        helped = frozenset(token.text.lower() for token in inside if token.pos == "AUX")
        if tokens[at].pos == "VERB" or helped:
            leads = any(token.relation == "xcomp" for token in inside)
            found.append(_Over(tokens[at].text.lower(), helped, leads))
        at = tokens[at].head
    return found


def _is_told(reading: Reading, begin: int, end: int) -> bool:
    """Tell whether a time is that of what has been, or of nothing that is said."""
    over = _over(reading, begin, end)
    if not over:
        return True
    word, helped, _ = over[0]
    return bool(helped & _DONE) or (not helped and is_past(word))


def _is_planned(reading: Reading, begin: int, end: int) -> bool:
    """Tell whether a time is that of what is to come: by "will", a plan, or "I'm flying"."""
    return any(
        each.auxiliaries & _WILL
        or (each.leads and not _PLANS.isdisjoint(base_forms(each.word)))
        or (each.word.endswith("ing") and each.auxiliaries & _BEING)
        for each in _over(reading, begin, end)
    )
