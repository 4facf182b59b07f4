"""Count facts, rank them, find the last and the first, and how long commands took.

Every number is of all facts that pass, never of the best hits. A fact about an action is one time
that it was done, so facts are counted as they stand.
"""

from __future__ import annotations

import posixpath
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import lru_cache
from statistics import median
from typing import TYPE_CHECKING, Final, NamedTuple

from factbook.language.nouns import singular
from factbook.language.values import amount, clock, count
from factbook.model.facts import END_UNKNOWN, EpisodeKind, Fact, FactKind, Millis
from factbook.recall.commands import does, doing
from factbook.recall.counted_questions import COMMAND, FAILURE, PROMPTED, Counted, Outcome
from factbook.recall.measured import Measure
from factbook.recall.named_objects import holds_name, is_named
from factbook.store.rows import Filters

if TYPE_CHECKING:
    from factbook.store.port import Reads

ROWS: Final = 10
_TOLD_ROWS: Final = 5  # that a model is told of
_LABEL_CHARS: Final = 120  # of each of them
_SHOWN_BY: Final = 20  # facts that are named for a row
_TIMED: Final = 200  # the newest runs of a command whose time is measured
_FAILURES: Final = (FAILURE, "exited_with")
_VERIFIED: Final = "verified"  # a check, that it passed or failed
_RAN: Final = "ran"
_TOOL: Final = "used_tool"
_DELEGATING: Final = ("Agent", "Task")
"""Tools that give a sub-agent work, of the host whose logs tell for which session one worked."""
_TEXTS: Final = frozenset({COMMAND, _RAN, "searched_code", "searched_for"})
"""Their objects are texts in which names stand, and not names."""
_FILES: Final = frozenset({"modified_file", "read_file"})
"""Their objects are files, by the folder that somebody worked in or by the whole path."""
_CHECK: Final = "operation_type"
_IN_TIME: Final = frozenset({"day", "week", "month"})


@dataclass(frozen=True, slots=True, kw_only=True)
class CountedRow:
    """One line of what was counted."""

    label: str
    count: int
    newest_at: Millis | None  # when it was last so
    facts: tuple[int, ...]  # that it stands on, the newest first; of many the first of these
    why: str = ""  # where failures are asked for: what most of its commands failed with
    took_ms: Millis | None = None  # how long it took, where that is asked


@dataclass(frozen=True, slots=True, kw_only=True)
class Computed:
    """An answer that was computed over all facts that pass."""

    title: str  # the answer in a line
    measure: str
    predicate: str = ""  # "" for those of any kind
    by: str = ""  # what the rows are grouped by; "" where each is one fact
    total: int = 0  # facts that were counted
    different: int = 0  # groups that there are, also those that are not shown
    rows: Sequence[CountedRow] = ()


class Meant(NamedTuple):
    """What is to be counted, and all facts of it, whenever and however they ended."""

    counted: Counted
    ever: Sequence[Fact]


def compute(
    meant: Meant, reads: Reads, filters: Filters, *, redact: Callable[[str], str], limit: int = ROWS
) -> Computed:
    """Return what a question asks to be counted, of the facts that pass the filters.

    Which facts are of what is named is told by all that were ever done, not by those of a time.
    """
    counted, ever = meant
    done = [fact for fact in ever if _in_time(fact, filters)]
    facts = _ended(done, counted.outcome, reads, filters)
    reasons = _reasons(facts, reads, filters) if counted.outcome is Outcome.FAILED else {}
    facts.sort(key=lambda fact: (fact.occurred_at or 0, fact.id), reverse=True)
    what = redact(_what(counted, filters))
    if counted.measure is Measure.LONG:
        return _durations(what, facts, reads, redact=redact, limit=limit)
    if counted.measure in (Measure.LAST, Measure.FIRST):
        made = _ends(what, facts, counted.measure, reads, filters, redact=redact, limit=limit)
        return _with_reasons(made, reasons, reads, redact=redact)
    by = counted.by or ("object" if counted.predicate or filters.predicates else "predicate")
    ranked = counted.measure is Measure.MOST
    made = grouped(facts, by, title="", redact=redact, limit=limit, ranked=ranked)
    made = _with_reasons(made, reasons, reads, redact=redact)
    title = f"{what}: once" if len(facts) == 1 else f"{what}: {len(facts):,} times"
    if not ever:
        return replace(made, title=_never(what, reads, filters), predicate=counted.predicate)
    if counted.outcome:
        title = f"{what}: {len(facts):,} of {count(len(done), 'time')}"
    if counted.different:
        title = f"{by}s of {what}: {made.different:,}"
    elif counted.measure is Measure.MOST and made.rows:
        first = made.rows[0]
        title = f"most often {what}: {first.label} ({first.count} of {count(len(facts), 'time')})"
    elif by == "object" and counted.things and made.different < len(facts):
        title = f"{what}: {made.different:,} different, {len(facts):,} times"
    elif by == "object" and made.different > 1:
        title += f", {made.different:,} different"
    return replace(made, title=title, measure=counted.measure, predicate=counted.predicate)


def grouped(
    facts: Iterable[Fact],
    by: str,
    *,
    title: str,
    redact: Callable[[str], str],
    limit: int = ROWS,
    ranked: bool = False,
) -> Computed:
    """Count facts by a field or by when they happened: most first, times in their order.

    Where it is `ranked`, times come most first too.
    """
    groups: defaultdict[str, list[Fact]] = defaultdict(list)
    for fact in facts:
        groups[_group(fact, by)].append(fact)
    if by in _IN_TIME and not ranked:
        keys = sorted(groups)[-limit:] if limit else sorted(groups)
    else:
        keys = sorted(groups, key=lambda key: (-len(groups[key]), key))[: limit or None]
    return Computed(
        title=title,
        measure=Measure.COUNT,
        by=by,
        total=sum(map(len, groups.values())),
        different=len(groups),
        rows=[_row(redact(key), groups[key]) for key in keys],
    )


def meant(readings: Sequence[Counted], reads: Reads, filters: Filters) -> Meant | None:
    """Return the first reading that memory has any fact of, whenever and however it ended.

    Else the words mean something else: "the last book that I read", "how often did I swim". Only
    where it is plain what is asked, and there are such facts of other things, "never" is meant.
    """
    ever = replace(filters, since=None, until=None)
    for counted in readings:
        if passing := _passing(counted, reads, ever):
            return Meant(counted, passing)
    for counted in readings:
        sure = counted.sure or _is_of_projects(counted, reads, ever)
        if sure and next(iter(_facts(counted, reads, ever)), None) is not None:
            return Meant(counted, ())
    return None


def _is_of_projects(counted: Counted, reads: Reads, filters: Filters) -> bool:
    """Tell whether a kind of facts is to be of nothing but projects that somebody worked in."""
    if not counted.names or counted.guessed or not counted.predicate or filters.project:
        return False
    among = replace(filters, predicates=(PROMPTED,), kinds=(), turns_any_time=False)
    return all(
        next(iter(reads.facts(replace(among, project=name), limit=1)), None) is not None
        for name in counted.names
    )


def every_fact(reads: Reads, filters: Filters) -> Meant:
    """Return what is meant where nothing is named: all facts that pass, at any time."""
    counted = Counted(measure=Measure.COUNT, predicate="")
    return Meant(counted, _passing(counted, reads, replace(filters, since=None, until=None)))


def nothing(said: str) -> Computed:
    """Return the answer where nothing that is known is called so: no number, which would be wrong.

    A zero would claim that it was never done.
    """
    title = f'not counted: nothing that is known is meant by "{said}"'
    return Computed(title=title, measure=Measure.COUNT)


def told(counted: Computed) -> str:
    """Return a computed answer as lines for a model: the answer, then its rows with their times."""
    rows = (
        f"- {' '.join(row.label.split())[:_LABEL_CHARS]}"
        + (f" ({' '.join(row.why.split())[:_LABEL_CHARS]})" if row.why else "")
        + (f": {count(row.count, 'time')}, last" if counted.by else ",")
        + f" {_moment(row.newest_at)}"
        for row in counted.rows[:_TOLD_ROWS]
    )
    return "\n".join([counted.title, *rows])


def no_time(said: str) -> Computed:
    """Return the answer where a time says no day: no number of any other time."""
    title = f'not counted: no day is known that is meant by "{said}"'
    return Computed(title=title, measure=Measure.COUNT)


def _facts(counted: Counted, reads: Reads, filters: Filters) -> Iterable[Fact]:
    predicates = (counted.predicate,) if counted.predicate else filters.predicates
    kinds = filters.kinds or ((FactKind.OBSERVATION,) if not predicates else ())
    return reads.facts(
        replace(filters, predicates=predicates, kinds=kinds, turns_any_time=False), limit=None
    )


def _passing(counted: Counted, reads: Reads, filters: Filters) -> list[Fact]:
    """Return the facts that hold what is asked for: of a thing that is just that, those alone."""
    checks = _checks(counted, reads, filters)
    acts = counted.act if counted.predicate else ""
    facts = list(_facts(counted, reads, filters))
    if acts:
        facts = [fact for fact in facts if fact.subject in checks or does(fact.object, acts)]
    if not counted.names and counted.words and counted.predicate not in _TEXTS:
        called = " ".join(counted.words)
        facts = [fact for fact in facts if is_named(called, fact.object)] or facts
    for name in counted.names:
        just = [fact for fact in facts if is_named(name, fact.object)]
        if not counted.whole and (not just or counted.predicate in _TEXTS):
            just = [
                fact
                for fact in facts
                if holds_name(name, fact.object) or holds_name(name, fact.project)
            ]
        facts = just
    words = [_beginning(word) for word in counted.words]
    if not words:
        return facts
    return [fact for fact in facts if all(word.search(_said(fact, acts)) for word in words)]


def _said(fact: Fact, act: str) -> str:
    """Return what is said of a fact; of a line of commands that which does what is asked for."""
    said = doing(fact.object, act) if act else f"{fact.object}\n{fact.statement}"
    return f"{said}\n{fact.project}"


@lru_cache(maxsize=64)
def _beginning(word: str) -> re.Pattern[str]:
    """Return what finds a word at the begin of one, also within a name: "tab" of "SummaryTab"."""
    least = re.escape(singular(word))
    capital = re.escape(word[:1].upper()) + re.escape(singular(word)[1:])
    return re.compile(rf"(?i:(?<![^\W_]){least})|(?<=[a-z]){capital}")


def _in_time(fact: Fact, filters: Filters) -> bool:
    at = fact.occurred_at
    if filters.since is None and filters.until is None:
        return True
    if at is None or (filters.until is not None and at >= filters.until):
        return False
    return (filters.since or at) <= at


def _checks(counted: Counted, reads: Reads, filters: Filters) -> frozenset[str]:
    """Return the actions that check what is asked for, as rules told when they were read.

    A rule knows a check within any line ("rtk bun run test"), and shows it apart from the rest.
    """
    if not (counted.act and counted.predicate == COMMAND):
        return frozenset()
    told = replace(
        filters, predicates=(_CHECK,), kinds=(), since=None, until=None, turns_any_time=False
    )
    return frozenset(
        fact.subject
        for fact in reads.facts(told, limit=None)
        if does("".join(fact.statement.split("`")[1:2]), counted.act)
    )


def _ended(facts: Sequence[Fact], outcome: Outcome, reads: Reads, filters: Filters) -> list[Fact]:
    if outcome is Outcome.ANY or not facts:
        return list(facts)
    among = replace(
        filters,
        predicates=(*_FAILURES, _VERIFIED, *([] if outcome is Outcome.FAILED else [_RAN])),
        kinds=(),
        since=None,
        until=None,
        turns_any_time=False,
    )
    failed: set[str] = set()
    ended: set[str] = set()  # of which it is known that they came to an end
    for fact in reads.facts(among, limit=None):
        if fact.predicate in _FAILURES or (fact.predicate == _VERIFIED and fact.object == "failed"):
            failed.add(fact.subject)
        elif fact.predicate == _VERIFIED or not fact.statement.endswith(END_UNKNOWN):
            ended.add(fact.subject)
    wanted = failed if outcome is Outcome.FAILED else ended - failed
    return [fact for fact in facts if fact.subject in wanted]


def _reasons(facts: Sequence[Fact], reads: Reads, filters: Filters) -> Mapping[str, str]:
    """Return what actions failed with, by their subjects; of those of which it is known."""
    if not facts:
        return {}
    subjects = {fact.subject for fact in facts}
    among = replace(
        filters, predicates=(FAILURE,), kinds=(), since=None, until=None, turns_any_time=False
    )
    failures = reads.facts(among, limit=None)
    return {fact.subject: fact.object for fact in failures if fact.subject in subjects}


def _with_reasons(
    made: Computed, reasons: Mapping[str, str], reads: Reads, *, redact: Callable[[str], str]
) -> Computed:
    """Return an answer with what most of each row failed with: a call may have run nothing."""
    if not reasons:
        return made
    known = reads.facts_by_id(sorted({id_ for row in made.rows for id_ in row.facts}))
    rows = []
    for row in made.rows:
        said = Counter(
            reasons[known[id_].subject] for id_ in row.facts if known[id_].subject in reasons
        )
        rows.append(replace(row, why=redact(said.most_common(1)[0][0]) if said else ""))
    return replace(made, rows=rows)


def _what(counted: Counted, filters: Filters) -> str:
    what = counted.predicate or ", ".join(filters.predicates) or "facts"
    act = counted.act if counted.predicate else ""
    held = " ".join(filter(None, [act, *counted.names, *counted.words]))
    ended = f", {counted.outcome}" if counted.outcome else ""
    return what + (f' "{held}"' if held else "") + ended


def _never(what: str, reads: Reads, filters: Filters) -> str:
    unseen = _unseen(reads, filters)
    if unseen:
        did = count(unseen, "sub-agent")
        return f"{what}: none in these logs, which may lack what {did} did"
    return f"{what}: never, as far as these logs tell"


def _unseen(reads: Reads, filters: Filters) -> int:
    """Return how many sub-agents were given work of which their sessions hold no record.

    Whatever a sub-agent does begins with what it was told, a prompt of its own.
    """
    among = Filters(
        host=filters.host, project=filters.project, session=filters.session, owner=filters.owner
    )
    calls = [
        fact
        for tool in _DELEGATING
        for fact in reads.facts(replace(among, predicates=(_TOOL,), object=tool), limit=None)
    ]
    if not calls:
        return 0
    given = Counter((call.host, call.session) for call in calls)
    # A sub-agent may work in another folder.
    prompts = replace(among, project="", episode_kinds=(EpisodeKind.PROMPT,))
    told = (prompt for prompt in reads.episodes(prompts, limit=None) if prompt.agent)
    given -= Counter((prompt.host, prompt.session) for prompt in told)
    for host, session in list(given):
        # What was declined or failed at once gave nobody work.
        results = replace(
            among, host=host, session=session, episode_kinds=(EpisodeKind.TOOL_RESULT,)
        )
        found = reads.episodes(results, limit=None)
        vain = {result.subject for result in found if result.is_error}
        given[host, session] -= sum(
            call.subject in vain and (call.host, call.session) == (host, session) for call in calls
        )
    return (+given).total()


def _row(label: str, facts: Sequence[Fact], *, took: Millis | None = None) -> CountedRow:
    newest = sorted(facts, key=lambda fact: (fact.occurred_at or 0, fact.id), reverse=True)
    return CountedRow(
        label=label,
        count=len(facts),
        newest_at=newest[0].occurred_at,
        facts=tuple(fact.id for fact in newest[:_SHOWN_BY]),
        took_ms=took,
    )


def _group(fact: Fact, by: str) -> str:
    if by == "object" and fact.predicate in _FILES and fact.project:
        return posixpath.normpath(posixpath.join(fact.project, fact.object))
    if by not in _IN_TIME:
        return str(getattr(fact, by)) or "-"
    if fact.occurred_at is None:
        return "no date"
    at = datetime.fromtimestamp(fact.occurred_at / 1000).astimezone()
    if by == "month":
        return at.strftime("%Y-%m")
    if by == "week":  # by its Monday
        at -= timedelta(days=at.weekday())
    return at.strftime("%Y-%m-%d")


def _ends(
    what: str,
    facts: Sequence[Fact],
    measure: Measure,
    reads: Reads,
    filters: Filters,
    *,
    redact: Callable[[str], str],
    limit: int,
) -> Computed:
    """Return the newest or the oldest, the one that is asked for first."""
    dated = [fact for fact in facts if fact.occurred_at is not None]
    if measure is Measure.FIRST:
        dated.reverse()
    rows = [
        _row(redact(fact.statement if fact.predicate == PROMPTED else fact.object), [fact])
        for fact in dated[: limit or None]
    ]
    if rows:
        title = f"{measure} {what}: {_moment(rows[0].newest_at)}, {rows[0].label}"
    else:
        title = _never(f"{measure} {what}", reads, filters)
    return Computed(
        title=title,
        measure=measure,
        predicate=dated[0].predicate if dated else "",
        total=len(facts),
        different=len({fact.object for fact in facts}),
        rows=rows,
    )


def _moment(at: Millis | None) -> str:
    if at is None:
        return "no date"
    return datetime.fromtimestamp(at / 1000).astimezone().strftime("%Y-%m-%d ") + clock(at)


def _durations(
    what: str, facts: Sequence[Fact], reads: Reads, *, redact: Callable[[str], str], limit: int
) -> Computed:
    """Return how long the newest runs took, from the call to its result."""
    newest = facts[:_TIMED]
    took = _took([fact.episode_id for fact in newest], reads)
    timed = [fact for fact in newest if fact.episode_id in took]
    title = f"{what}: no run of which the end is known"
    if timed:
        last, all_ = took[timed[0].episode_id], [took[fact.episode_id] for fact in timed]
        title = f"{what}: {amount(last / 1000)} at {_moment(timed[0].occurred_at)}"
        if len(timed) > 1:
            title += f"; median {amount(median(all_) / 1000)} of {len(timed)} runs"
    return Computed(
        title=title,
        measure=Measure.LONG,
        predicate=COMMAND,
        total=len(timed),
        different=len({fact.object for fact in timed}),
        rows=[
            _row(redact(fact.object), [fact], took=took[fact.episode_id])
            for fact in timed[: limit or None]
        ],
    )


def _took(calls: Sequence[int], reads: Reads) -> Mapping[int, Millis]:
    """Return how long calls took, by the ids of their episodes, of those that have a result."""
    asked = [episode for episode in reads.episodes_by_id(calls).values() if episode.call_id]
    ended: dict[tuple[int, str], Millis] = {}
    for owner, session in {(episode.owner, episode.session) for episode in asked}:
        results = Filters(owner=owner, session=session, episode_kinds=(EpisodeKind.TOOL_RESULT,))
        for episode in reads.episodes(results, limit=None):
            if episode.occurred_at is not None:
                ended[episode.source_id, episode.call_id] = episode.occurred_at
    return {
        episode.id: max(0, ended[episode.source_id, episode.call_id] - episode.occurred_at)
        for episode in asked
        if episode.occurred_at is not None and (episode.source_id, episode.call_id) in ended
    }
