"""What is said beside the hits: the time, a computed answer, what there is none of."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final, NamedTuple

from factbook import policy
from factbook.errors import ReaderError
from factbook.language.common_words import is_function_word
from factbook.language.reader.read import read
from factbook.language.reader.reading import Reading
from factbook.language.words import stem, words
from factbook.model.facts import EpisodeKind, Hit, Millis
from factbook.recall.commands import begins
from factbook.recall.counted_questions import COMMAND, counted_question, kind_asked, what_of
from factbook.recall.counting import Computed, Meant, compute, every_fact, meant
from factbook.recall.measured import may_count
from factbook.recall.query import content_terms
from factbook.recall.query_intent import Cued, is_ours, own_directives, read_intent
from factbook.recall.question_tree import GENERIC_STEMS
from factbook.recall.time_anchors import find_anchor, window_of
from factbook.recall.time_expressions import Window, find_window, local, to_ms, without
from factbook.recall.time_points import midnight
from factbook.recall.time_unread import unread_time
from factbook.recall.time_usual import is_told_then, is_usual, may_be_told, may_be_usual
from factbook.store.kinds import FACT

if TYPE_CHECKING:
    from factbook.store.port import Reads
    from factbook.store.rows import Filters

_log = logging.getLogger(__name__)

_TOLD: Final = "turn"  # the kind of episode in which people tell of other times
_ANYTHING: Final = GENERIC_STEMS | {stem("work")}  # "what did I do", "what did I work on"
_NEAR: Final = 500  # facts on each side of a window among which the nearest day is looked for


class NearestDay(NamedTuple):
    """The day nearest to an empty window that has something."""

    at: Millis  # the first of it
    hits: int
    what: str = "hit"  # or "record", where nothing at all lies in the window


@dataclass(frozen=True, slots=True, kw_only=True)
class Understood:
    """How a question was understood, and what was computed for it."""

    window: Window | None = None  # the time that it named
    prompts: int = 0  # that lie in it, where all that was done then is asked for
    outside: bool = False  # nothing was found in that time: what is shown is from other times
    beyond: int = 0  # else: how many of the hits are from other times; they come last
    nearest: NearestDay | None = None  # then: where the nearest lies
    unread: str = ""  # what it gives for a time, and no calendar reads: "june 31"
    unanchored: str = ""  # the event that it counts time from, where memory knows of none
    computed: Computed | None = None  # the answer, where it asks for a number or for the last
    lacking: tuple[str, ...] = ()  # what it clearly asks for, and there is no fact of (then)


def understood(
    question: str,
    hits: Sequence[Hit],
    window: Window | None,
    reads: Reads,
    filters: Filters,
    *,
    rules: Sequence[Cued],
    redact: Callable[[str], str],
    predicates: Sequence[str] | None = None,
    counting: bool = True,
    now: Millis,
) -> Understood:
    """Return what is to be said beside the hits of a question.

    `predicates` are those that its words point at, where they are known.
    """
    if predicates is None:
        ours = is_ours(question)
        predicates = read_intent(content_terms(question), rules, ours=ours).predicates
    timed = filters.since is not None or filters.until is not None
    anchor = None if timed or window is not None else find_anchor(question)
    none, nearest = lacking(question, predicates, window, reads, filters, rules=rules)
    beyond = _beyond(hits, window)
    outside = nearest is not None or is_outside(hits, window)
    if window is not None and hits and not any(within(hit.occurred_at, window) for hit in hits):
        outside = outside or told_then(question, window)
    if outside and window is not None and not none:
        nearest = nearest_records(window, reads, filters)
        nearest = nearest or nearest_day([hit.occurred_at for hit in hits], window)
    return Understood(
        window=window,
        outside=outside,
        prompts=0 if outside or window is None else _prompts(question, window, reads, filters),
        beyond=0 if outside else beyond,
        nearest=nearest,
        unread="" if timed else unread_time(question, now=now),
        unanchored="" if anchor is None else anchor.phrase,
        computed=computed(question, window, reads, filters, rules=rules, redact=redact, now=now)
        if counting
        else None,
        lacking=none,
    )


def window_asked(question: str, reads: Reads, filters: Filters, *, now: Millis) -> Window | None:
    """Return the time that a question names, also by an event that memory knows of.

    A time at which things usually happen is none of its own: "which job starts at 02:00". Where the
    filters have a time, that is meant, whatever the question names.
    """
    if filters.since is not None or filters.until is not None:
        return None
    window = find_window(question, now=now)
    if window is not None and may_be_usual(window) and _reads(is_usual, window, question):
        return None
    if window is None and (anchor := find_anchor(question)) is not None:
        window = window_of(anchor, reads, filters)
    return window


def uncounted_time(question: str, window: Window | None, filters: Filters, *, now: Millis) -> str:
    """Return the words for a time of which nothing can be counted: unread ones, or a usual time."""
    if filters.since is not None or filters.until is not None:
        return ""
    if unread := unread_time(question, now=now):
        return unread
    usual = find_window(question, now=now) if window is None else None
    return "" if usual is None else usual.phrase


def told_then(question: str, window: Window | None) -> bool:
    """Say whether the time of a question is when something was said: "what did I say in May"."""
    if window is None or window.vague or not may_be_told(question):
        return False
    return _reads(is_told_then, window, question)


def _reads(says: Callable[[Window, Reading], bool], window: Window, question: str) -> bool:
    """Say what the tree of a question says of its time; where no tree can be had, it says no.

    Only questions whose words leave it open are read: for others nothing is loaded.
    """
    try:
        return says(window, read(question))
    except ReaderError as error:
        _log.warning("the time of a question is taken as it stands: %s", error)
        return False


def answers(hits: Sequence[Hit], window: Window) -> bool:
    """Say whether hits answer a question of a time: some are of it, or tell of what is asked."""
    return any(within(hit.occurred_at, window) or hit.bearing >= policy.SAID_BEARS for hit in hits)


def within_first(hits: Sequence[Hit], window: Window | None) -> list[Hit]:
    """Return hits in their order, but those within a window first, and those of no time last."""
    if window is None or not _puts_first(window):
        return list(hits)
    return sorted(
        hits, key=lambda hit: (not within(hit.occurred_at, window), hit.occurred_at is None)
    )


def within(at: Millis | None, window: Window) -> bool:
    """Say whether a moment lies in a window."""
    if at is None:
        return False
    return (window.since or 0) <= at and (window.until is None or at < window.until)


def _puts_first(window: Window) -> bool:
    """Say whether what lies in a window comes first: what was "before May" is told after it too."""
    return window.since is not None and not window.vague


def _beyond(hits: Sequence[Hit], window: Window | None) -> int:
    if window is None or not _puts_first(window):
        return 0
    return sum(not within(hit.occurred_at, window) for hit in hits)


def nearest_day(moments: Iterable[Millis | None], window: Window) -> NearestDay | None:
    """Return the day of those moments that is nearest to a window, and how many lie on it."""
    known = sorted(at for at in moments if at is not None)
    if not known:
        return None
    nearest = _day(min(known, key=lambda at: _distance(at, window)))
    there = [at for at in known if _day(at) == nearest]
    return NearestDay(at=there[0], hits=len(there))


def nearest_records(window: Window, reads: Reads, filters: Filters) -> NearestDay | None:
    """Return the day nearest to an empty window that has records; None where it is not empty."""
    among = narrowed(filters, window)
    if not filters.episodes_wanted or _newest(reads, among) is not None:
        return None
    before = after = None
    if window.since is not None:
        before = _newest(reads, replace(among, since=filters.since, until=window.since))
    if window.until is not None:
        after = _oldest(reads, replace(among, since=window.until, until=filters.until))
    near = [at for at in (before, after) if at is not None]
    if not near:
        return None
    start = midnight(local(min(near, key=lambda at: _distance(at, window))))
    day = replace(among, since=to_ms(start), until=to_ms(start + timedelta(days=1)))
    first = _oldest(reads, day)
    there = len(reads.ids("episode", day))
    return None if first is None else NearestDay(at=first, hits=there, what="record")


def _newest(reads: Reads, filters: Filters) -> Millis | None:
    found = next(iter(reads.episodes(filters, limit=1, newest_first=True)), None)
    return None if found is None else found.occurred_at


def _oldest(reads: Reads, filters: Filters) -> Millis | None:
    """Return when the oldest episode is that passes, all from a moment on; by halves."""
    low, high = filters.since or 0, _newest(reads, filters)
    while high is not None and low < high:
        middle = (low + high) // 2
        earlier = _newest(reads, replace(filters, since=low, until=middle + 1))
        low, high = (middle + 1, high) if earlier is None else (low, earlier)
    return high


def _prompts(question: str, window: Window, reads: Reads, filters: Filters) -> int:
    """Return how many prompts lie in a window, where a question asks for all that was done then."""
    asked = words(without(question, window))
    if window.vague or not filters.episodes_wanted or not all(map(_is_anything, asked)):
        return 0
    then = replace(narrowed(filters, window), episode_kinds=(EpisodeKind.PROMPT,))
    return len(reads.ids("episode", then))


def _is_anything(word: str) -> bool:
    return is_function_word(word.lower()) or stem(word.lower()) in _ANYTHING


def _distance(at: Millis, window: Window) -> Millis:
    if window.since is not None and at < window.since:
        return window.since - at
    return 0 if window.until is None else max(0, at - window.until)


def _day(at: Millis) -> str:
    return datetime.fromtimestamp(at / 1000).astimezone().strftime("%Y-%m-%d")


def computed(
    question: str,
    window: Window | None,
    reads: Reads,
    filters: Filters,
    *,
    rules: Sequence[Cued],
    redact: Callable[[str], str],
    now: Millis,
) -> Computed | None:
    """Return what a question asks to be counted, counted; None where it asks for nothing so.

    Where its time cannot be read nothing is counted: a number of all times would be of another
    question.
    """
    if not may_count(question) or uncounted_time(question, window, filters, now=now):
        return None
    asked = question if window is None else without(question, window)
    is_command = _commands(reads, filters)
    readings = counted_question(asked, read=read, rules=rules, is_command=is_command)
    of = meant(readings, reads, filters)
    if of is None:
        return None
    return compute(of, reads, narrowed(filters, window), redact=redact)


def lacking(
    question: str,
    predicates: Sequence[str],
    window: Window | None,
    reads: Reads,
    filters: Filters,
    *,
    rules: Sequence[Cued],
) -> tuple[tuple[str, ...], NearestDay | None]:
    """Return the predicate that a question clearly asks for where no fact passes, and the nearest.

    `predicates` are those that its words point at; the tree is read only where one has no fact.
    """
    among = narrowed(filters, window)
    empty = [predicate for predicate in predicates if not _any(predicate, reads, among)]
    if not empty:
        return (), None
    asked = question if window is None else without(question, window)
    predicate = kind_asked(asked, read=read, rules=rules) or own_directives(read(asked))
    if predicate not in empty:
        return (), None
    if window is None:
        return (predicate,), None
    every = replace(filters, predicates=(predicate,), rules=(), turns_any_time=False)
    around = [
        fact.occurred_at
        for side in (replace(every, until=window.since), replace(every, since=window.until))
        if side.since is not None or side.until is not None
        for fact in reads.facts(side, limit=_NEAR, newest_first=side.until is not None)
    ]
    return (predicate,), nearest_day(around, window)


def is_told(hit: Hit) -> bool:
    """Say whether a hit is a turn of a conversation, in which people tell of other times."""
    return hit.predicate == _TOLD and hit.turn is None  # that of an agent's log holds what was done


def is_outside(hits: Sequence[Hit], window: Window | None) -> bool:
    """Say whether hits were found, and none of them in the window.

    In a conversation people tell of a day or a month at any time, so turns are about it then too.
    """
    if window is None or window.vague or not hits:
        return False
    if any(within(hit.occurred_at, window) for hit in hits):
        return False
    return window.exact or not any(map(is_told, hits))


def named(words: str, reads: Reads, filters: Filters, *, rules: Sequence[Cued]) -> Meant | None:
    """Return what words name that are to be counted; None where memory knows nothing so called."""
    if not words.strip():
        return every_fact(reads, filters)
    is_command = _commands(reads, filters)
    return meant(what_of(words, read=read, rules=rules, is_command=is_command), reads, filters)


def _commands(reads: Reads, filters: Filters) -> Callable[[Sequence[str]], bool]:
    """Return what says whether a command of memory begins with some words."""
    where = {"predicate": COMMAND, "retired_at": None, "owner": filters.owner}
    commands = [command.lower() for (command,) in reads.tally(FACT, ("object",), where)]
    every = "\n".join(commands)

    def is_command(words: Sequence[str]) -> bool:
        said = " ".join(words)
        if said not in every:  # most words of a question are in no command: one look is enough
            return False
        return any(said in command and begins(command, words) for command in commands)

    return is_command


def narrowed(filters: Filters, window: Window | None) -> Filters:
    """Return filters narrowed to a window, of turns too."""
    if window is None or window.vague:
        return replace(filters, turns_any_time=False)
    return replace(filters, since=window.since, until=window.until, turns_any_time=False)


def _any(predicate: str, reads: Reads, filters: Filters) -> bool:
    facts = reads.facts(replace(filters, predicates=(predicate,), rules=()), limit=1)
    return next(iter(facts), None) is not None
