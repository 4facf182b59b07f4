"""What a memory was read from: logs, chats and notes, their episodes, and what was refused."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import islice
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING

from factbook import policy
from factbook.context import part
from factbook.errors import NotFound
from factbook.model.confidence import as_of
from factbook.model.directives import PROJECT, holds_in, scope_of
from factbook.model.facts import (
    EVERYONE,
    ME,
    Episode,
    EpisodeKind,
    Event,
    Everyone,
    Evidence,
    Fact,
    FactKind,
    Hit,
    Receipt,
    Rejection,
    Role,
    Source,
    SourceState,
    StoredEpisode,
    Trigger,
    one_owner,
    whose,
)
from factbook.model.ops import RecordEpisode, RecordSource
from factbook.model.owners import spelled
from factbook.pipelines.failures import CALLED, went_on
from factbook.pipelines.timeline import closing, told_of, worth_telling
from factbook.recall.counting import ROWS, Computed, compute, no_time, nothing
from factbook.recall.facts import fact_of, shown
from factbook.recall.hits import episode_hit, fact_hit
from factbook.recall.measured import Measure
from factbook.recall.sessions import (
    PREDICATES,
    SessionSummary,
    SessionTurn,
    session_named,
    summarised,
)
from factbook.recall.time_expressions import without
from factbook.recall.understood import (
    Understood,
    named,
    narrowed,
    uncounted_time,
    understood,
    window_asked,
)
from factbook.sources.discover import Paths, discover, each
from factbook.sources.project_languages import languages_in
from factbook.store.derived.facts import fact_by_id
from factbook.store.derived.ledger import evidence_of, rejections
from factbook.store.kinds import EPISODE, FACT
from factbook.store.port import count, events_of
from factbook.store.rows import Filters, RejectionFilters

if TYPE_CHECKING:
    from factbook.context import Context
    from factbook.extract.base import Rule
    from factbook.model.ops import Op
    from factbook.pipelines.observed import IngestReport
    from factbook.sources.original import Original
    from factbook.sources.session_log import Discovery


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """Everything that stands behind one fact."""

    fact: Fact
    evidence: Sequence[Evidence]
    originals: Sequence[Original]  # for each evidence, the line of the log as it is now, redacted
    history: Sequence[Event]
    rule: Rule | None  # the rule of the first evidence, as it is defined now
    disputes: Sequence[Mapping[str, str]] = ()  # what waits for an answer (`Review.disputed`)


@part
class Sources:
    """The sources of a memory; `Memory.sources`."""

    def __init__(self, context: Context) -> None:
        """Compose over what the memory works with."""
        self._context = context
        self._store = context.store

    def discover(
        self,
        paths: Paths | None = None,
        *,
        owner: str = ME,
        kind: str | None = None,
    ) -> Discovery:
        """Find what can be read: where agents put their logs, or in the files and folders given.

        `paths`, `owner` and `kind` are those of `ingest`.
        """
        return discover(paths, owner=owner, kind=kind)

    def read_rule_files(self, paths: Paths | None = None, *, owner: str = ME) -> IngestReport:
        """Read the rules in the files that agents load (CLAUDE.md, AGENTS.md and the like).

        `paths` are such files, or folders of projects, one or several; an empty list is none.
        Without them, those of the projects that sessions name, and those that hold everywhere.
        Files that are as they were are passed over. Raises UsageError for a path that no file can
        have, and ReaderError where the reader cannot be loaded.
        """
        from factbook.pipelines.rule_files import known_rule_files, read_rule_files
        from factbook.sources.rule_files import rule_files_at

        known = known_rule_files(self._context, owner=owner)
        files = known if paths is None else rule_files_at(each(paths), known)
        return read_rule_files(self._context, files, owner=owner)

    def record(self, source: Source, episodes: Sequence[Episode]) -> Receipt:
        """Keep the turns of a conversation as episodes of a source; their text is redacted here."""
        ops: list[Op] = [RecordSource(source=source)]
        ops += [RecordEpisode(episode=episode) for episode in episodes]
        return self._context.write(ops, Trigger.USER_MESSAGE)

    def episode(self, episode_id: int, *, owner: str | Everyone = ME) -> StoredEpisode:
        """Return an episode; raises NotFound for an id that is unknown, or of another owner."""
        episode = self._store.episodes_by_id([episode_id]).get(episode_id)
        if episode is None or owner not in (episode.owner, EVERYONE):
            raise NotFound(what="episode", name=episode_id, hint="`factbook recall` shows ids.")
        return episode

    def facts(
        self,
        *,
        filters: Filters | None = None,
        limit: int | None = None,
        newest_first: bool = False,
    ) -> Iterator[Fact]:
        """Iterate over the facts that pass the filters, as they are kept: not aged to now."""
        return self._store.facts(filters or Filters(), limit=limit, newest_first=newest_first)

    def count(
        self,
        what: str = "",
        *,
        filters: Filters | None = None,
        by: str = "",
        last: bool = False,
        limit: int = ROWS,
    ) -> Computed:
        """Count the facts that pass the filters and that words name, or show the last of them.

        The words are a question ("how often did I deploy"), what is counted ("commits", "deploys",
        "edited cli.py"), or what the facts hold; a time that they name narrows it. With a `limit`
        of 0 all rows come.
        """
        wanted = filters or Filters()
        rules = self._context.resources.rules.rules
        with self._store.snapshot():
            now, redact = self._context.clock(), self._context.redact
            window = window_asked(what, self._store, wanted, now=now)
            if time := uncounted_time(what, window, wanted, now=now):
                return no_time(redact(time))
            asked = what if window is None else without(what, window)
            meant = named(asked, self._store, wanted, rules=rules)
            if meant is None:
                return nothing(redact(asked))
            counted = replace(meant.counted, by=by or meant.counted.by)
            if last:
                counted = replace(counted, measure=Measure.LAST)
            among, meant = narrowed(wanted, window), meant._replace(counted=counted)
            return compute(meant, self._store, among, redact=redact, limit=limit)

    def understood(
        self,
        question: str,
        hits: Sequence[Hit],
        *,
        filters: Filters | None = None,
        in_time: bool = True,
    ) -> Understood:
        """Return what is to be said beside hits: their time, a computed answer, what there is not.

        `recall` does so by itself; this is for what was found otherwise. Where they were not
        searched `in_time`, that this is empty is said only where nothing at all lies in it.
        """
        wanted = filters or Filters()
        with self._store.snapshot():
            now = self._context.clock()
            window = window_asked(question, self._store, wanted, now=now)
            if window is not None and not in_time:
                then = narrowed(wanted, window)
                if next(iter(self._store.episodes(then, limit=1)), None) is not None:
                    hits = ()
            return understood(
                question,
                hits,
                window,
                self._store,
                wanted,
                rules=self._context.resources.rules.rules,
                redact=self._context.redact,
                now=now,
            )

    def spelled(self, owner: str) -> str:
        """Return an owner as they are written here, where it was in another Unicode normal form."""
        return spelled(
            one_owner(owner),
            lambda name: any(count(self._store, kind, {"owner": name}) for kind in (FACT, EPISODE)),
        )

    def predicates(self, *, owner: str | Everyone = ME) -> dict[str, int]:
        """Return the predicates of an owner's current facts, and how many each has."""
        groups = self._store.tally(FACT, ("predicate",), {"owner": owner, "retired_at": None})
        return {predicate: tally.rows for (predicate,), tally in sorted(groups.items())}

    def directives(self, *, project: str = "", owner: str | Everyone = ME) -> Sequence[Fact]:
        """Return the rules and decisions that hold, with `project` those that hold in its folder.

        Those of the project come first, then the newest.
        """
        kinds, now = [FactKind.DIRECTIVE], self._context.clock()
        filters = Filters(kinds=kinds, owner=owner, now=now, deprecated=False)
        known = cache(lambda: languages_in(project))
        holding = [
            as_of(fact, now)
            for fact in self.facts(filters=filters)
            if not project or holds_in(fact.subject, project, known)
        ]
        return sorted(
            holding,
            key=lambda fact: (scope_of(fact.subject)[0] != PROJECT, -(fact.occurred_at or 0)),
        )

    def fact(self, fact_id: int, *, owner: str | Everyone = ME) -> Fact:
        """Return a fact in whatever state it is, as it is kept: not aged; raises NotFound."""
        return fact_of(self._context, fact_id, owner)

    def evidence(self, fact_id: int, *, owner: str | Everyone = ME) -> Sequence[Evidence]:
        """Return the places that speak for a fact of an owner, or against it; else none."""
        fact = fact_by_id(self._store, fact_id)
        if fact is None or owner not in (fact.owner, EVERYONE):
            return ()
        return evidence_of(self._store, [fact_id])[fact_id]

    def episodes(
        self, ids: Iterable[int], *, owner: str | Everyone = ME
    ) -> dict[int, StoredEpisode]:
        """Return those of the episodes that are there and the owner's, by their ids."""
        stored = self._store.episodes_by_id(sorted(set(ids)))
        return {n: episode for n, episode in stored.items() if owner in (episode.owner, EVERYONE)}

    def sessions(self, *, owner: str | Everyone = ME) -> list[SourceState]:
        """Return the sources that say something of an owner, the newest first."""
        states = self._store.sources(owner=whose(owner))
        return sorted(states, key=lambda state: (state.last_at or 0, state.id), reverse=True)

    def session(
        self, name: str, *, owner: str | Everyone = ME, whole: bool = False
    ) -> SessionSummary:
        """Return a session on one page: what was asked and done, and what was left open.

        `name` is its id, the beginning of that, or the number of a source of it, as s12. With
        `whole`, nothing is left out. Raises NotFound, and UsageError where several are meant.
        """
        redact = self._context.redact
        with self._store.snapshot() as moment:
            sources = session_named(self.sessions(owner=owner), name)
            main = sources[0].source
            of_it = Filters(host=main.host, session=main.session, owner=owner)
            kinds = (EpisodeKind.PROMPT, EpisodeKind.RECORD)
            stored = sorted(
                moment.episodes(replace(of_it, episode_kinds=kinds), limit=None),
                key=lambda episode: (episode.occurred_at or 0, episode.id),
            )
            turns = moment.turns([each.id for each in stored])
            # What a sub-agent was told is no prompt of a person.
            prompts = [
                each
                for each in stored
                if not each.agent and each.id in turns and turns[each.id][0][0] == each.id
            ]
            last = {each.id: _last_reply(turns[each.id]) for each in prompts}
            said = moment.texts("episode", [reply for reply in last.values() if reply])
            wanted = tuple({*PREDICATES, *CALLED})
            facts = [
                shown(self._context, fact)
                for fact in moment.facts(replace(of_it, predicates=wanted), limit=None)
            ]
        return summarised(
            [
                replace(state, source=replace(state.source, title=redact(state.source.title)))
                for state in sources
            ],
            [
                SessionTurn(
                    id=each.id,
                    at=each.occurred_at,
                    prompt=redact(each.text),
                    reply=redact(said.get(last[each.id], "")),
                    records=[record for record, _ in turns[each.id]],
                )
                for each in prompts
            ],
            [fact for fact in facts if fact.predicate in PREDICATES],
            # By id: a record of a branch has no time of its own, but a place.
            [redact(each.branch) for each in sorted(stored, key=attrgetter("id")) if each.branch],
            went_on=went_on(facts),
            whole=whole,
        )

    def timeline(
        self, *, filters: Filters | None = None, limit: int | None = 100, records: bool = False
    ) -> list[Hit]:
        """Return what was asked and done, in the order in which it happened, the newest part.

        Of a chat that is what its owner said in it. Of an agent's log it is what matters of each
        turn: what was decided, found, mended, checked, committed and changed. With `records`, or
        where predicates are asked for, it is every single fact.
        """
        redact = self._context.redact
        wanted = filters or Filters()
        single = records or bool(wanted.predicates)
        prompts = Filters(
            episode_kinds=(EpisodeKind.PROMPT, EpisodeKind.TURN),
            roles=(Role.USER,),
            since=wanted.since,
            until=wanted.until,
            host=wanted.host,
            project=wanted.project,
            session=wanted.session,
            owner=wanted.owner,
        )
        done = replace(
            prompts,
            episode_kinds=(),
            roles=(),
            predicates=wanted.predicates if single else policy.TIMELINE_PREDICATES,
        )
        of_each = 1 if single else policy.TIMELINE_FACTS
        most = None if limit is None else limit * of_each
        with self._store.snapshot():
            # What a sub-agent was told is no prompt of a person.
            typed = (
                each
                for each in self._store.episodes(prompts, limit=None, newest_first=True)
                if not each.agent
            )
            asked = list(islice(typed, limit))
            facts = list(self._store.facts(done, limit=most, newest_first=True))
            if not single:
                turns = self._store.turns([fact.episode_id for fact in facts])
                asked = worth_telling(asked, facts, turns)
                said = {n for turn in turns.values() for n in (turn[0][0], closing(turn)) if n}
                texts = self._store.texts("episode", sorted(said))
                facts = told_of(facts, turns, {id_: redact(text) for id_, text in texts.items()})
        rows = [episode_hit(episode, text=redact(episode.text)) for episode in asked]
        rows += [fact_hit(shown(self._context, fact)) for fact in facts]
        rows.sort(key=lambda hit: (hit.occurred_at or 0, int(hit.id[1:])))
        return rows if limit is None else rows[-limit:]

    def rejections(
        self, *, limit: int = 100, filters: RejectionFilters | None = None
    ) -> list[Rejection]:
        """Return the newest lines, candidates and memories that were refused, with the reasons."""
        redact = self._context.redact
        return [
            replace(rejection, excerpt=redact(rejection.excerpt), detail=redact(rejection.detail))
            for rejection in rejections(self._store, filters or RejectionFilters(), limit=limit)
        ]


def explain(context: Context, fact_id: int, *, owner: str | Everyone) -> Explanation:
    """Return the evidence, the lines of the log, the rule and the history of a fact.

    Raises NotFound for an id that is unknown, or of another owner.
    """
    from factbook.sources.original import read_original  # only this needs it

    with context.store.snapshot():
        fact = fact_of(context, fact_id, owner)
        evidence = evidence_of(context.store, [fact_id])[fact_id]
        history = events_of(context.store, "fact", fact_id)
    redact = context.redact
    return Explanation(
        fact=shown(context, as_of(fact, context.clock())),
        evidence=[replace(piece, quote=redact(piece.quote)) for piece in evidence],
        originals=[
            read_original(
                Path(piece.source),
                offset=piece.offset,
                position=piece.position,
                quote=piece.quote,
                redactor=context.resources.redactor,
            )
            for piece in evidence
        ],
        history=history,
        rule=_rule(context, evidence[0].rule) if evidence else None,
    )


def _last_reply(turn: Sequence[tuple[int, EpisodeKind]]) -> int:
    """Return the record that says how a turn ended: its last reply, else a summary; else 0."""
    for kind in (EpisodeKind.REPLY, EpisodeKind.SUMMARY):
        for record, its_kind in reversed(turn):
            if its_kind is kind:
                return record
    return 0


def _rule(context: Context, name: str) -> Rule | None:
    # A rule of a user may be gone since: the evidence keeps its name and method.
    return next((rule for rule in context.resources.rules.rules if rule.name == name), None)
