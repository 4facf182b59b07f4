"""The operations that read: facts, the timeline, sessions, a query."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import chain, islice
from typing import TYPE_CHECKING, Annotated, Final

from factbook import policy
from factbook.model.confidence import as_of
from factbook.surface.operations.arguments import Limit, Narrow, NoRedact, Whose
from factbook.surface.operations.base import ASK, Arg, Outcome, Run, operation

if TYPE_CHECKING:
    from factbook import Filters
    from factbook.model.facts import Evidence, Fact, SourceState

FACTS_SHOWN: Final = 50
SESSIONS_SHOWN: Final = 50
TIMELINE_SHOWN: Final = 100


@operation(ASK)
def facts(
    run: Run,
    narrow: Narrow,
    whose: Whose,
    limit: Limit = FACTS_SHOWN,
    newest: Annotated[bool, Arg("The newest first.")] = False,
    evidence: Annotated[bool, Arg("With the places that show each fact.")] = False,
    include_deprecated: Annotated[bool, Arg("Also facts that have faded below 0.3.")] = False,
) -> Outcome:
    """List facts by exact conditions."""
    from factbook.surface import records, render

    memory, now = run.memory, run.memory.clock()
    filters = replace(narrow.filters(whose.about), now=now, deprecated=include_deprecated)
    # One more than is shown tells whether there are more.
    found = memory.sources.facts(
        filters=filters, limit=limit + 1 if limit else None, newest_first=newest
    )
    rows = (run.shown(as_of(one, now)) for one in found)
    first = list(islice(rows, 1))
    shown = chain(first, islice(rows, limit - 1) if limit else rows)

    def shown_by(one: Fact) -> Sequence[Evidence]:
        return run.shown(memory.sources.evidence(one.id, owner=one.owner))

    reader: Callable[[Fact], Sequence[Evidence]] | None = shown_by if evidence else None
    if not first:
        return Outcome(
            record={"facts": iter(())},
            show="No facts match. `factbook stats` lists the predicates that there are.",
            nothing_of=filters.owner,
        )
    return Outcome(
        record={
            "facts": (
                records.fact(one, shown_by=None if reader is None else reader(one)) for one in shown
            )
        },
        show=lambda page: render.facts(
            page,
            shown,
            one_predicate=len(filters.predicates) == 1,
            shown_by=reader,
            disputes=_disputes(run, filters),
            more=rows,
        ),
    )


def _disputes(run: Run, filters: Filters) -> dict[int, list[str]]:
    """Return what waits for an answer, by the number of the fact."""
    return {
        fact: [f"{one['how']} otherwise: {dispute(one)}" for one in sides]
        for fact, sides in run.memory.review.disputed(owner=filters.owner).items()
    }


def dispute(side: Mapping[str, str]) -> str:
    """Return the other side of what is not known for sure, in words."""
    return f"{side['fact']} {side['text']} ({side['episode']}); `factbook review` waits for a yes"


@operation(ASK)
def timeline(
    run: Run,
    narrow: Annotated[Narrow, "since until predicate host project session"],
    whose: Whose,
    limit: Limit = TIMELINE_SHOWN,
) -> Outcome:
    """Show what was asked and done, day by day."""
    from factbook.surface import records, render

    filters = narrow.filters(whose.about)
    found = run.shown(run.memory.sources.timeline(filters=filters, limit=limit or None))
    return Outcome(
        record={"entries": map(records.hit, found)},
        show=lambda page: render.timeline(page, found),
        nothing_of=None if found else filters.owner,
    )


@operation(ASK)
def sessions(
    run: Run,
    narrow: Annotated[Narrow, "since until host project"],
    whose: Whose,
    limit: Limit = SESSIONS_SHOWN,
) -> Outcome:
    """List the sessions that were read, the newest first."""
    from factbook.surface import records, render

    filters = narrow.filters(whose.about)
    every = run.memory.sources.sessions(owner=filters.owner)
    matching = [one for one in every if _session_passes(one, filters)]
    found = run.shown(matching[:limit] if limit else matching)
    return Outcome(
        record={"sessions": map(records.session, found)},
        show=lambda page: render.sessions(page, found, of=len(matching)),
        nothing_of=None if found else filters.owner,
    )


def _session_passes(one: SourceState, filters: Filters) -> bool:
    if filters.host and one.source.host != filters.host:
        return False
    if filters.project and filters.project.lower() not in one.source.project.lower():
        return False
    if filters.since is not None and (one.last_at is None or one.last_at < filters.since):
        return False
    return not (
        filters.until is not None and (one.first_at is None or one.first_at >= filters.until)
    )


@operation(ASK)
def sql(
    run: Run,
    query: Annotated[
        str, Arg('One SELECT, like "SELECT * FROM facts".', metavar="QUERY", given="argument")
    ],
    params: Annotated[
        Sequence[str],
        Arg("What stands for the next ? of the query.", metavar="VALUE", flag="--param"),
    ] = (),
    limit: Annotated[
        int, Arg("The most rows; 0 allows any number.", "-n", metavar="N", least=0)
    ] = policy.SQL_ROWS,
    seconds: Annotated[
        float, Arg("The longest it may take.", metavar="SECONDS", flag="--timeout")
    ] = policy.SQL_SECONDS,
    no_redact: NoRedact = False,
) -> Outcome:
    """Ask in plain SQL, for reading only."""
    from factbook.surface import records, render

    del no_redact
    rows = run.memory.sql(query, params, limit=limit or None, seconds=seconds)
    return Outcome(
        record={"rows": map(records.sql_row, rows)},
        show=lambda page: render.sql_rows(page, rows),
    )
