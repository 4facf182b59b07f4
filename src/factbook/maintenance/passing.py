"""Tell until when a statement is true, where its own words say so: "I'm tired today".

To forget what lasts is worse than to keep what is over, and much of what is told with a day begins
there ("I'm starting insulin tomorrow"). So an end is only what is exact: of a state that is said to
be today's, of where somebody is this week, and of an event that is on a day to come. It must be all
that the text says, and name nobody that it would be forgotten with.
"""

from __future__ import annotations

import re
from datetime import timedelta, tzinfo
from typing import Final, NamedTuple

from factbook.language.reader.reading import Reading, Token, children
from factbook.model.facts import Millis
from factbook.recall.time_expressions import local, to_ms
from factbook.recall.time_points import midnight, month_start

_TIME: Final = re.compile(
    r"(?i)\b(?:(?P<today>today|tonight)|this (?P<this>week|weekend)"
    r"|(?P<after>the day after )?(?P<tomorrow>tomorrow)|next (?P<next>week|weekend|month))\b"
)
_HAPPENING: Final = frozenset({"event", "study"})  # an exam is of the one kind and the other
_PRESENT: Final = frozenset({"am", "is", "are", "'m", "'s", "'re", "’m", "’s", "’re"})
_MORE: Final = frozenset(  # relations of what a text says besides
    {"acl", "advcl", "appos", "ccomp", "conj", "csubj", "dislocated", "list", "parataxis", "xcomp"}
)


def true_until(
    reading: Reading, at: Millis, *, today: bool = False, zone: tzinfo | None = None
) -> Millis | None:
    """Return until when a statement of that moment is true; None where its words do not say.

    `today` leaves out all that is not said to be today's alone.
    """
    time = _TIME.search(reading.text)
    said = None if time is None else _said(reading, *time.span())
    if time is None or said is None:
        return None
    if time["today"] or time["this"]:
        ends = _is_place(said) or (time["today"] and _is_state(said))
    else:
        ends = not today and reading.clauses[0].kind in _HAPPENING and _is_event(said)
    return _end(time, at, zone) if ends and (time["today"] or not today) else None


def _end(time: re.Match[str], at: Millis, zone: tzinfo | None) -> Millis:
    today = midnight(local(at, zone))
    monday = today - timedelta(days=today.weekday())
    if time["today"]:
        return to_ms(today + timedelta(days=1))
    if time["tomorrow"]:
        return to_ms(today + timedelta(days=3 if time["after"] else 2))
    if time["this"]:
        return to_ms(monday + timedelta(weeks=1))
    if time["next"].lower() == "month":
        return to_ms(month_start(today.year, today.month + 2, today))
    return to_ms(monday + timedelta(weeks=2))


class _Said(NamedTuple):
    """The one thing that a text says at a time."""

    root: Token
    under: list[Token]  # what hangs on it, besides the time
    is_time: bool  # the root is the time: "the exam is tomorrow"
    names: bool  # somebody or something


def _said(reading: Reading, begin: int, end: int) -> _Said | None:
    """Return what is said at a time; None where that is not all, or it is no plain time of it."""
    tokens, below = reading.tokens, children(reading.tokens)
    roots = [n for n, token in enumerate(tokens) if token.head < 0]
    if len(reading.clauses) != 1 or len(roots) != 1:
        return None
    if any(token.relation in _MORE for token in tokens):
        return None
    (root,) = roots
    time = {n for n, token in enumerate(tokens) if begin <= token.begin < end}
    tops = [n for n in time if tokens[n].head not in time]
    if len(tops) != 1:
        return None
    (top,) = tops
    if top != root and (tokens[top].head != root or not time.issuperset(below[top])):
        return None  # "from today on"
    return _Said(
        tokens[root],
        [tokens[n] for n in below[root] if n not in time],
        top == root,
        any(token.pos == "PROPN" for token in tokens),
    )


def _is_present(said: _Said) -> bool:
    """Tell whether something "is" so now; "will be" and "was" are not, nor is "is moving"."""
    helping = [token for token in said.under if token.pos == "AUX"]
    return [token.relation for token in helping] == ["cop"] and helping[0].text.lower() in _PRESENT


def _is_state(said: _Said) -> bool:
    """Tell whether somebody "is tired", and no more than that: "sober for a year"."""
    of_it = any(token.relation in ("obl", "obj") for token in said.under)
    return said.root.pos == "ADJ" and _is_present(said) and not of_it


def _is_place(said: _Said) -> bool:
    """Tell whether somebody "is in Rome"."""
    placed = any(token.relation == "case" for token in said.under)
    return said.root.pos == "PROPN" and placed and _is_present(said)


def _is_event(said: _Said) -> bool:
    """Tell whether something "is" at its time, or somebody "has" it then."""
    if said.names:
        return False
    relations = {token.relation for token in said.under}
    if said.is_time:
        return _is_present(said) and relations <= {"nsubj", "cop", "case", "punct"}
    has = said.root.text.lower() in ("have", "has") and "obj" in relations
    return has and "aux" not in relations
