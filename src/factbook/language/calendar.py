"""Name the months and the days of the week, in full and cut short, in English."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

MONTH_NAMES: Final = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september",
    "october", "november", "december",
)  # fmt: skip
"""The months in their order, in lower case."""

WEEKDAY_NAMES: Final = (
    "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday",
)  # fmt: skip
"""The days of the week from Monday, in lower case."""

MONTHS: Final[Mapping[str, int]] = {
    form: number
    for number, name in enumerate(MONTH_NAMES, start=1)
    for form in (name, name[:3], *(["sept"] if name == "september" else []))
}
"""Every form of a month's name, with its number from 1."""

WEEKDAYS: Final[Mapping[str, str]] = {
    form: name for name in WEEKDAY_NAMES for form in (name, name + "s", name[:3])
} | {"tues": "tuesday", "thur": "thursday", "thurs": "thursday"}
"""Every form of a day's name, also its plural, with the name in full."""

RELATIVE_DAYS: Final = frozenset({"yesterday", "today", "tonight", "tomorrow"})
"""Days that are told from the day on which somebody speaks."""

MONTH: Final = "|".join(sorted(MONTHS, key=len, reverse=True))
"""A month in a regular expression, without a group around it."""


def is_calendar_word(word: str) -> bool:
    """Say whether a lower-case word is a month or a day of the week, in full or cut short."""
    bare = word.rstrip(".")
    return bare in MONTHS or bare in WEEKDAYS
