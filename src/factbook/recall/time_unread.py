"""Find what a question gives for a time and no calendar reads: "june 31", "in febuary".

Such words are told and never dropped: without them all times would be searched, or counted.
"""

from __future__ import annotations

import difflib
import re
from datetime import timedelta, tzinfo
from typing import Final

from factbook.language.calendar import MONTH_NAMES, RELATIVE_DAYS, WEEKDAY_NAMES, is_calendar_word
from factbook.language.common_words import is_everyday, is_place
from factbook.model.facts import Millis
from factbook.recall.time_expressions import local
from factbook.recall.time_points import PART_AFTER, Unit, points

_NAMES: Final = tuple(
    name for name in (*MONTH_NAMES, *WEEKDAY_NAMES, *sorted(RELATIVE_DAYS)) if len(name) > 3
)  # "may" is the beginning of many a name: "since maya joined"
_NUMBER: Final = r"(?:0?[1-9]|[12]\d|3[01])(?:st|nd|rd|th)?"
_MAY_BE_MISSPELT: Final = re.compile(
    r"(?i)(?<![\w.@/-])(?:(?P<lead>in|on|since|until|during|before|after|last|this|did|do) )?"
    rf"(?P<said>(?P<first>{_NUMBER} (?:of )?)?(?P<word>[a-z]{{4,10}})"
    rf"(?P<last> {_NUMBER}(?![\w.:/]))?)(?![\w/@-]|\.\w)"
)
_LEAST: Final = 0.85  # of the letters of a name in their order: "augst", "febuary", "yesturday"
_LEAST_NUMBERED: Final = 0.75  # where a number makes it a day: "juli 1"


def unread_time(question: str, *, now: Millis, zone: tzinfo | None = None) -> str:
    """Return what a question gives for a time that cannot be read, as it stands; empty for none."""
    for point in points(question, local(now, zone)):
        if point.unit is Unit.UNREAD:
            return question[point.begin : point.end]
        since, until = point.span
        if since is None or until != since + timedelta(days=1):
            part = PART_AFTER.match(question, point.end)  # of many days: "last week in the evening"
            if part is not None and part[0].startswith((" in", " at")):
                return part[0].strip()
    may_be = _MAY_BE_MISSPELT.finditer(question)
    return next((match["said"] for match in may_be if _is_misspelt(match)), "")


def _is_misspelt(match: re.Match[str]) -> bool:
    word, numbered = match["word"].lower(), bool(match["first"] or match["last"])
    if is_calendar_word(word) or is_calendar_word(word.removesuffix("s")):
        return False
    if is_everyday(word) or is_place(match["word"]) or match["word"].isupper():
        return False
    if not numbered and (match["lead"] is None or not match["word"].islower()):
        return False  # a name of somebody: "since Marc joined"
    near = difflib.get_close_matches(word, _NAMES, 1, _LEAST_NUMBERED if numbered else _LEAST)
    return bool(near) and near[0][0] == word[0]
