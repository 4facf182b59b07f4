"""The operations that read: facts, the timeline, sessions, a query."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, Literal

from factbook import policy
from factbook.errors import NotFound, UsageError
from factbook.model.confidence import as_of, is_passive
from factbook.model.facts import EpisodeKind, FactKind, iso
from factbook.surface import records, views
from factbook.surface.operations.arguments import (
    FactId,
    Limit,
    Narrow,
    NoRedact,
    RuleFile,
    Whose,
    fact_number,
)
from factbook.surface.operations.base import ASK, Arg, Effect, Outcome, Run, operation

if TYPE_CHECKING:
    from factbook import Filters
    from factbook.model.facts import Everyone, Evidence, Fact, Hit, SourceState, StoredEpisode
    from factbook.recall.counting import Computed
    from factbook.surface.output import Page

FACTS_SHOWN: Final = 50
SESSIONS_SHOWN: Final = 50
COUNTED_SHOWN: Final = 10
TIMELINE_SHOWN: Final = 100
EVIDENCE_SHOWN: Final = 5
RULES: Final = 6  # rules and decisions that a context begins with
CONTEXT_TOKENS: Final = 1_500  # origins 001.4: the hard limit
_KINDS: Final = ("fact", "episode", *(str(kind) for kind in EpisodeKind))

GroupBy = Annotated[
    str,
    Arg(
        f"Count them by this: {', '.join(policy.COUNTED_BY)}.",
        metavar="FIELD",
        choices=policy.COUNTED_BY,
    ),
]
WorkSession = Annotated[
    str,
    Arg(
        "The conversation that it is shown in, so that it is never taken for evidence.",
        metavar="ID",
    ),
]


@operation(ASK)
def recall(
    run: Run,
    question: Annotated[str, Arg("In your own words.", metavar="QUESTION", given="words")],
    narrow: Annotated[Narrow, "since until predicate host project min_confidence"],
    whose: Whose,
    limit: Annotated[int, Arg(short="-n", metavar="N", least=1)] = policy.DEFAULT_LIMIT,
    kind: Annotated[
        str, Arg(f"Only hits of one kind: {', '.join(_KINDS)}.", metavar="KIND", choices=_KINDS)
    ] = "",
    single: Annotated[
        bool, Arg("Single records of agents' logs instead of turns.", flag="--records")
    ] = False,
    rules: RuleFile = None,
) -> Outcome:
    """Answer a question with facts and episodes, and their evidence.

    Args:
        limit: At most N hits.
    """
    del rules
    if not question:
        raise UsageError(detail="the question is empty; ask something, in your own words")
    filters = _of_kind(narrow.filters(whose.about), kind)
    answer = run.memory.recall(question, limit=limit, filters=filters, turns=not single)
    unknown = [] if answer.hits else _unknown(run, filters)
    shown = [
        hit.evidence[0].episode_id for hit in answer.hits if hit.kind == "fact" and hit.evidence
    ]
    episodes = run.memory.sources.episodes(shown, owner=whose.about)
    return Outcome(
        record=answer,
        show=lambda page: views.ask.answer(page, answer, episodes=episodes, redact=run.redact),
        notes=unknown,
        nothing_of=None if answer.hits else whose.about,
    )


def _of_kind(filters: Filters, kind: str) -> Filters:
    if kind == "fact":
        return replace(filters, kinds=tuple(FactKind))
    if kind:
        kinds = tuple(EpisodeKind) if kind == "episode" else (EpisodeKind(kind),)
        return replace(filters, episode_kinds=kinds)
    return filters


@operation(ASK)
def explain(
    run: Run,
    fact: FactId,
    whose: Whose,
    all_: Annotated[
        bool, Arg(f"Show every piece of evidence, not the first {EVIDENCE_SHOWN}.", terminal=True)
    ] = False,
    rules: RuleFile = None,
) -> Outcome:
    """Show why a fact is believed: rule, evidence, history."""
    from factbook.maintenance.confidence_history import course
    from factbook.memory.standing import successors

    del rules
    memory = run.memory
    if fact.strip()[:1] == "e":
        return _episode(run, fact.strip(), whose)
    explanation = memory.explain(fact_number(fact), owner=whose.about)
    stored = memory.sources.fact(explanation.fact.id, owner=whose.about)
    following = run.shown(successors(memory, stored))
    life = run.shown(course(stored, explanation.history, now=memory.clock()))
    shown = run.shown(explanation)
    episodes = memory.sources.episodes(
        [evidence.episode_id for evidence in explanation.evidence], owner=whose.about
    )
    most = None if all_ else EVIDENCE_SHOWN

    def show(page: Page) -> None:
        views.ask.explanation(
            page,
            explanation,
            episodes=episodes,
            redact=run.redact,
            most=most,
            more=[
                *views.keep.life_rows(stored, following),
                *(
                    (f"{side['how']} otherwise", dispute(run, side))
                    for side in explanation.disputes
                ),
            ],
        )
        page.line()
        views.keep.history(page, life, evidence=shown.evidence)

    return Outcome(
        record={**records.plain(shown), "course": life, "successors": following}, show=show
    )


def episode_of(run: Run, said: str, *, owner: str | Everyone, hint: str) -> StoredEpisode:
    """Return an episode by its id ("e12"); raises NotFound, with the hint, where there is none."""
    digits = said.removeprefix("e")
    number = int(digits[:18]) if digits.isascii() and digits.isdigit() else 0
    episode = run.memory.sources.episodes([number], owner=owner).get(number)
    if episode is None:
        raise NotFound(what="episode", name=said, hint=hint)
    return episode


def _episode(run: Run, said: str, whose: Whose) -> Outcome:
    episode = episode_of(run, said, owner=whose.about, hint="`factbook recall` shows ids.")
    from factbook.recall.hits import episode_hit

    hit = run.shown(episode_hit(episode, text=episode.text))
    return Outcome(
        record=records.plain(hit), show=lambda page: views.ask.episode(page, hit, redact=run.redact)
    )


@operation(ASK)
def facts(
    run: Run,
    narrow: Narrow,
    whose: Whose,
    limit: Limit = FACTS_SHOWN,
    newest: Annotated[bool, Arg("The newest first.")] = False,
    evidence: Annotated[bool, Arg("With the places that show each fact, and the quotes.")] = False,
    include_deprecated: Annotated[bool, Arg("Also facts that have faded below 0.3.")] = False,
    group_by: GroupBy = "",
) -> Outcome:
    """List facts by exact conditions."""
    memory, now = run.memory, run.memory.clock()
    filters = replace(narrow.filters(whose.about), now=now, deprecated=include_deprecated)
    if group_by:
        counted = memory.sources.count(filters=filters, by=group_by, limit=limit)
        return _computed(run, counted, filters)
    # One more than is shown tells whether there are more.
    matching = memory.sources.facts(
        filters=filters, limit=limit + 1 if limit else None, newest_first=newest
    )
    rows = (run.shown(as_of(fact, now)) for fact in matching)
    first = list(islice(rows, 1))
    shown = chain(first, islice(rows, limit - 1) if limit else rows)

    def shown_by(fact: Fact) -> Sequence[Evidence]:
        return run.shown(memory.sources.evidence(fact.id, owner=fact.owner))

    if not first:
        return Outcome(
            record={"facts": iter(())},
            show="\n".join(_unknown(run, filters))
            or "No facts match. `factbook stats` lists the predicates that there are.",
            nothing_of=filters.owner,
        )
    return Outcome(
        record={
            "facts": (
                records.fact(fact, shown_by=shown_by(fact) if evidence else None) for fact in shown
            )
        },
        show=lambda page: views.ask.facts(
            page,
            shown,
            single=len(filters.predicates) == 1,
            shown_by=shown_by if evidence else None,
            disputes=_disputes(run, filters),
            more=rows,
        ),
    )


@operation(ASK, examples=("/count commits by week", "/count how often did I deploy"))
def count(
    run: Run,
    narrow: Narrow,
    whose: Whose,
    what: Annotated[str, Arg(metavar="[WHAT]", given="words")] = "",
    by: GroupBy = "",
    last: Annotated[bool, Arg("The newest of them, and not how many there are.")] = False,
    limit: Limit = COUNTED_SHOWN,
) -> Outcome:
    """Count facts: how often, by what, and when last.

    Args:
        what: A question, or what is counted: "commits", "deploy", "edited cli.py in July".
    """
    filters = narrow.filters(whose.about)
    counted = run.memory.sources.count(what, filters=filters, by=by, last=last, limit=limit)
    return _computed(run, counted, filters)


def _computed(run: Run, counted: Computed, filters: Filters) -> Outcome:
    unknown = [] if counted.total else _unknown(run, filters)
    return Outcome(
        record=counted,
        show="\n".join(unknown) or (lambda page: views.counted.computed(page, counted)),
        nothing_of=None if counted.total else filters.owner,
    )


def _unknown(run: Run, filters: Filters) -> list[str]:
    """Return what to say of names that nothing is called by, predicates where others are near."""
    there = run.memory.sources.predicates(owner=filters.owner)
    said = []
    for predicate in filters.predicates:
        near = [] if predicate in there else difflib.get_close_matches(predicate, there, n=3)
        if near:
            meant = " or ".join(near)
            said.append(f"No fact has the predicate {predicate!r}; did you mean {meant}?")
    sources = [state.source for state in run.memory.sources.sessions(owner=filters.owner)]
    hosts = sorted({source.host for source in sources} - {""})
    if filters.host and filters.host not in hosts:
        known = f"there are {', '.join(hosts)}" if hosts else "there is none"
        said.append(f"Nothing was read of {filters.host!r}; {known}.")
    if filters.session and all(filters.session != source.session for source in sources):
        said.append(f"No session is {filters.session!r}; `factbook sessions` lists them.")
    return said


def _disputes(run: Run, filters: Filters) -> dict[int, list[str]]:
    return {
        fact: [f"{side['how']} otherwise: {dispute(run, side)}" for side in sides]
        for fact, sides in run.memory.review.disputed(owner=filters.owner).items()
    }


def dispute(run: Run, side: Mapping[str, str]) -> str:
    review = run.page.typed("review")
    return f"{side['fact']} {side['text']} ({side['episode']}); {review} waits for a yes"


@operation(ASK, examples=["/rules"])
def rules(
    run: Run,
    whose: Whose,
    project: Annotated[str, Arg("Only what holds in this working folder.", metavar="DIR")] = "",
    form: Annotated[
        Literal["table", "agents-md"], Arg(metavar="FORMAT", flag="--format")
    ] = "table",
) -> Outcome:
    """List the rules and decisions that agents were given, since when, and where each holds.

    Args:
        form: table, or agents-md: Markdown for a file that agents load.
    """
    sources, as_file = run.memory.sources, form == "agents-md"
    if as_file and run.screen.as_json:
        raise UsageError(detail="--json and --format agents-md exclude each other")
    folder = _folder(project) if project else ""
    held = [
        views.rules.Held(fact, sources.evidence(fact.id, owner=fact.owner))
        for fact in run.shown(sources.directives(project=folder, owner=whose.about))
    ]
    return Outcome(
        record={
            "rules": [
                {
                    **records.fact(row.fact, shown_by=None),
                    "since": iso(row.since),
                    "times": len(row.said),
                    "evidence": row.shown_by,
                }
                for row in held
            ]
        },
        show=lambda page: (
            page.lines(views.rules.agents_md(held)) if as_file else views.rules.table(page, held)
        ),
        nothing_of=None if held else whose.about,
    )


@operation(ASK)
def timeline(
    run: Run,
    narrow: Annotated[Narrow, "since until predicate host project session"],
    whose: Whose,
    limit: Limit = TIMELINE_SHOWN,
    single: Annotated[
        bool, Arg("Every single fact instead of what matters of each turn.", flag="--records")
    ] = False,
) -> Outcome:
    """Show what was asked and what came of it, day by day."""
    filters = narrow.filters(whose.about)
    hits = run.shown(
        run.memory.sources.timeline(filters=filters, limit=limit or None, records=single)
    )
    return Outcome(
        record={"entries": iter(hits)},
        show=lambda page: views.ask.timeline(page, hits),
        notes=[] if hits else _unknown(run, filters),
        nothing_of=None if hits else filters.owner,
    )


@operation(ASK)
def sessions(
    run: Run,
    narrow: Annotated[Narrow, "since until host project"],
    whose: Whose,
    session: Annotated[str, Arg(metavar="[SESSION]", given="argument")] = "",
    limit: Limit = SESSIONS_SHOWN,
    all_: Annotated[
        bool, Arg("With SESSION, everything of it.", flag="--all", terminal=True)
    ] = False,
) -> Outcome:
    """List the sessions that were read, the newest first, or show one on a page.

    Args:
        session: Show this one: its id, the beginning of that, or its number, as s12.
    """
    filters = narrow.filters(whose.about)
    if session:
        if any((narrow.since, narrow.until, narrow.host, narrow.project)):
            raise UsageError(
                detail="--since, --until, --host and --project narrow the list; leave them out"
                f" where one session is named ({session!r})"
            )
        summary = run.shown(run.memory.sources.session(session, owner=whose.about, whole=all_))
        return Outcome(record=summary, show=lambda page: views.sessions.session(page, summary))
    every = run.memory.sources.sessions(owner=filters.owner)
    matching = [source for source in every if _session_passes(source, filters)]
    sources = run.shown(matching[:limit] if limit else matching)
    return Outcome(
        record={"sessions": iter(sources)},
        show=lambda page: views.ask.sessions(page, sources, of=len(matching)),
        notes=[] if sources else _unknown(run, filters),
        nothing_of=None if sources else filters.owner,
    )


def _session_passes(source_state: SourceState, filters: Filters) -> bool:
    source, first, last = source_state.source, source_state.first_at, source_state.last_at
    return (
        filters.host in ("", source.host)
        and filters.project.lower() in source.project.lower()
        and (filters.since is None or (last is not None and last >= filters.since))
        and (filters.until is None or (first is not None and first < filters.until))
    )


@operation(ASK)
def sql(
    run: Run,
    query: Annotated[str, Arg(metavar="QUERY", given="argument")],
    params: Annotated[Sequence[str], Arg(metavar="VALUE", flag="--param")] = (),
    limit: Annotated[int, Arg(short="-n", metavar="N", least=0)] = policy.SQL_ROWS,
    seconds: Annotated[float, Arg(metavar="SECONDS", flag="--timeout")] = policy.SQL_SECONDS,
    no_redact: NoRedact = False,
) -> Outcome:
    """Ask in plain SQL, for reading only.

    Args:
        query: One SELECT, like "SELECT * FROM facts".
        params: What stands for the next ? of the query.
        limit: The most rows, with more it fails; 0 allows any number.
        seconds: The longest it may take.
    """
    del no_redact
    rows = run.memory.sql(query, params, limit=limit or None, seconds=seconds)
    return Outcome(
        record={"rows": map(records.sql_row, rows)},
        show=lambda page: views.ask.sql_rows(page, rows),
    )


@operation(ASK, Effect.WRITES)
def search(
    run: Run,
    query: Annotated[str, Arg("Any words.", metavar="QUERY", given="words")],
    whose: Annotated[Whose, "owner all_owners"],
    search_type: Annotated[
        Literal["facts", "episodes", "both"], Arg(metavar="TYPE", flag="--type")
    ] = "both",
    limit: Annotated[int, Arg("At most N.", "-n", metavar="N", least=1)] = 5,
    session: WorkSession = "",
) -> Outcome:
    """Search as an agent does with `search_memory`: one of each cluster, sure enough.

    Args:
        search_type: facts, episodes or both.
    """
    hits = run.memory.search_memory(query, search_type, limit, session=session, owner=whose.about)
    return Outcome(
        record={"hits": hits},
        show=lambda page: views.ask.found(page, hits),
        nothing_of=None if hits else whose.about,
    )


@operation(ASK, Effect.OWN)
def context(
    run: Run,
    question: Annotated[str, Arg("The turn that begins.", metavar="QUESTION", given="words")],
    whose: Annotated[Whose, "owner all_owners"],
    tokens: Annotated[int, Arg("The hard limit of the whole text.", metavar="N")] = CONTEXT_TOKENS,
    project: Annotated[
        str, Arg("The working folder; its rules and decisions come first.", metavar="DIR")
    ] = "",
    system: Annotated[Path | None, Arg(metavar="FILE", terminal=True)] = None,
    session: WorkSession = "",
) -> Outcome:
    """Show the context that a model would be given for a turn, and what was left out.

    Args:
        system: The system text, which fills up.
    """
    from factbook.recall.budget import ContextLimits

    limits = ContextLimits(total=tokens)
    instructions = "" if system is None else _text_of(system)
    # Looking is not showing: nothing is remembered as injected unless a conversation is named.
    memory = run.open(Effect.WRITES if session else Effect.READS)
    talk = memory.conversation(owner=whose.about, session=session)
    holding = rules_of(run, _folder(project), whose.about) if project else []
    prompt_context = talk.context(
        question,
        memories=[*holding, *talk.called_to_mind(question)] if holding else None,
        system=instructions,
        limits=limits,
    )
    return Outcome(
        record=prompt_context,
        show=lambda page: views.ask.context(page, prompt_context),
        nothing_of=None if prompt_context.included else whose.about,
    )


def rules_of(run: Run, project: str, owner: str | Everyone) -> list[Hit]:
    """Return the rules and decisions that hold in a working folder, and are told unasked."""
    from factbook.recall.hits import fact_hit

    holding = run.memory.sources.directives(project=project, owner=owner)
    sure = [run.shown(fact) for fact in holding if is_passive(fact.confidence)]
    return [fact_hit(fact) for fact in sure[:RULES]]


def _folder(project: str) -> str:
    return str(Path(project).expanduser().absolute())


def _text_of(path: Path) -> str:
    try:
        return path.expanduser().read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(
            detail=f"the system text {path} cannot be read ({error}); give a text file"
        ) from error
