"""Tell what the time of a question is bound to: what usually happens then, or when it was told.

"Why did the importer stop at midnight?" asks about the importer, on whatever day; "what did I do at
midnight?" asks for what lies there. Only a time of day without its day, or a day of the week
without its date, can be of the first kind: the verb that it hangs on tells, by its tense and by
whose act it is. "What did I say in May" asks for what was said then; "what did I do in May" may be
told at any time, as "what did I say about the trip in May".
"""

from __future__ import annotations

import re
from typing import Final

from factbook.language.calendar import WEEKDAY_NAMES
from factbook.language.reader.reading import Reading, children
from factbook.language.verbs import is_past
from factbook.recall.question_tree import OURS
from factbook.recall.time_expressions import Window
from factbook.recall.time_points import CLOCK

_WEEKDAY: Final = re.compile(rf"(?i)on (?:a )?(?:{'|'.join(WEEKDAY_NAMES)})")
_DID: Final = frozenset({"did", "was", "were", "had"})
_SUBJECTS: Final = ("nsubj", "nsubj:pass", "csubj")
_ASKING: Final = frozenset({"what", "which", "who"})

_LEAD: Final = re.compile(
    r"(?i)(?:about|after|around|at|before|between|by|during|from|in|on|since)\b"
)
_TELLING: Final = re.compile(
    r"(?i)\b(?:say|said|tell|told|mention(?:ed)?|ask(?:ed)?|talk(?:ed)?|discuss(?:ed)?|speak|spoke"
    r"|wr(?:ite|ote|itten))\b"
)


def may_be_told(question: str) -> bool:
    """Say whether a question has a verb of telling."""
    return _TELLING.search(question) is not None


def is_told_then(window: Window, reading: Reading) -> bool:
    """Say whether the time of a question hangs on a verb of telling: it is when that was said.

    The verb has a subject of its own: nobody is told anything by "he had to say goodbye".
    """
    at = _hangs_on(window, reading)
    below = children(reading.tokens)
    # "About painting last month": the time is the verb's. "About the trip in May": the trip's.
    bare = _LEAD.match(window.phrase) is None
    while at >= 0:
        if _TELLING.fullmatch(reading.tokens[at].text) is not None:
            return any(reading.tokens[n].relation in _SUBJECTS for n in below[at])
        at = reading.tokens[at].head if bare else -1
    return False


def _hangs_on(window: Window, reading: Reading) -> int:
    """Return the first word outside of a time that it hangs on; else the verb before it."""
    begin = reading.text.find(window.phrase)
    within = range(begin, begin + len(window.phrase))
    first = next((n for n, token in enumerate(reading.tokens) if token.begin in within), -1)
    at = first
    while at >= 0 and reading.tokens[at].begin in within:
        at = reading.tokens[at].head
    if at >= 0:
        return at
    before = range(first - 1, -1, -1)
    return next((n for n in before if reading.tokens[n].pos in ("VERB", "AUX")), -1)


def may_be_usual(window: Window) -> bool:
    """Say whether the words of a time name no day that there was once."""
    clock = CLOCK.fullmatch(window.phrase)
    at = clock is not None and (clock["lead"] or "").lower() in ("at", "around", "about", "by")
    return at or _WEEKDAY.fullmatch(window.phrase) is not None


def is_usual(window: Window, reading: Reading) -> bool:
    """Say whether the time of a question is bound to what its verb says of something else.

    In the present it is what usually happens then ("which job starts at 02:00"). In the past it is
    so of a time of day, where neither the owner nor an agent did it and why or how is asked.
    """
    said = [token.text.lower() for token in reading.tokens]
    verb = at = _hangs_on(window, reading)
    while verb >= 0 and reading.tokens[verb].pos not in ("VERB", "AUX"):
        verb = reading.tokens[verb].head
    if verb < 0:  # the reader knows no verb above it: the one before it
        verb = next((n for n in range(at, -1, -1) if reading.tokens[n].pos in ("VERB", "AUX")), -1)
    if verb < 0:  # "what runs at midnight": the reader takes "runs" for a noun
        return said[0] in _ASKING and _DID.isdisjoint(said)
    below = children(reading.tokens)[verb]
    auxiliaries = {said[n] for n in below if reading.tokens[n].pos == "AUX"}
    subject = next((n for n in below if reading.tokens[n].relation in _SUBJECTS), None)
    if not (auxiliaries & _DID or is_past(said[verb])):
        return True
    of_ours = subject is None or said[subject] in OURS or said[subject] in _ASKING
    return not (of_ours or _WEEKDAY.fullmatch(window.phrase)) and said[:1] in (["why"], ["how"])
