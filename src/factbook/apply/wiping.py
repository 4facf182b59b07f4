"""Take what is erased out of its rows, and out of everything that repeats it.

A row that is erased stays as an empty one: pointers hold, and no number is given out twice. What it
said is gone from the row, from its index entries and vectors, and from every other row that repeats
it.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any, Final, Literal

from factbook.apply.delete_cascade import OWNED, DeleteCascade, Doomed, pages
from factbook.apply.repeating import (
    PLAIN,
    Repeats,
    facts_named,
    loose_pattern,
    overlap,
    without,
    wordless,
)
from factbook.apply.tombstones import proposed_claim, same_words
from factbook.apply.turns import embed_again
from factbook.model.entities import NoticeState, SearchState
from factbook.model.facts import (
    EVERYONE,
    Cursor,
    Episode,
    Event,
    FactKind,
    LineCount,
    Millis,
    Proposal,
    Source,
    Status,
    Taken,
    Trust,
)
from factbook.model.text import strings
from factbook.store.derived.facts import lives_by_id
from factbook.store.kinds import (
    ALIAS,
    ALL,
    EMBED_TASK,
    ENGAGEMENT,
    ENTITY,
    EPISODE,
    ERASED,
    EVENT,
    FACT,
    INJECTION,
    LEARN_PROMPT,
    LOOSE,
    MODEL_TASK,
    NOTICE,
    NOTICE_FACT,
    NOTIFY,
    OWNER,
    PAIR,
    PREFERENCE,
    PROPOSAL,
    REJECTION,
    RUN,
    SCHEDULE,
    SEARCH_FIND,
    SEARCH_LOG,
    SEARCH_RESULT,
    SEARCH_TASK,
    Above,
    ErasedRow,
    Kind,
    SearchRow,
)
from factbook.store.port import Writer
from factbook.store.rows import Life, LifeWhere, claim_digest

MASK: Final = "█"  # in the place of every character that is erased from an episode that stays
_WORD_CHARS: Final = (3, 40)  # ours: a value in these bounds is looked for as a word of its own
_AROUND: Final = 2  # ours: episodes before and behind one that may speak of it
_SOUGHT: Final = 500  # ours: more values than that are not looked for one by one
_PAGE: Final = 5_000  # rows that are read at once
_REASON: Final = "erased"

# Fields that repeat what other rows say, and what they become in a row that does; a kind without
# loses the row.
_REPEATING: Final[Sequence[tuple[Kind[Any], Sequence[str], Mapping[str, str]]]] = (
    (PAIR, ("detail",), {"detail": ""}),
    (MODEL_TASK, ("error",), {"error": ""}),
    (EMBED_TASK, ("error",), {"error": ""}),
    (SEARCH_TASK, ("error",), {"error": ""}),
    (NOTICE, ("reason",), {"reason": _REASON}),
    (NOTICE, ("image",), {"image": ""}),  # the address of a picture tells whose page it was
    (REJECTION, ("detail", "excerpt", "validation"), {}),
    (PROPOSAL, ("title", "payload", "reason"), {}),
)
# What goes with an owner besides what is `OWNED`.
_LEFT: Final[Sequence[Kind[Any]]] = (INJECTION, NOTIFY, ENGAGEMENT, OWNER)
# What came in by an episode, and how an engagement names it.
_CAUSED: Final[Sequence[tuple[Kind[Any], Literal["entity_id", "preference_id"]]]] = (
    (ENTITY, "entity_id"),
    (PREFERENCE, "preference_id"),
)
# What models are asked by the number of something else than an episode.
_NOT_OF_EPISODES: Final = frozenset({"judge", "search", "clean"})


class Wiping:
    """One erasure of rows: what it takes, and what is looked for afterwards."""

    def __init__(
        self, writer: Writer, doomed: Doomed, erasure_id: int, *, now: Millis, owner: str = ""
    ) -> None:
        """Take what goes; with `owner`, whose it is goes too."""
        self._writer = writer
        self._doomed = doomed
        self._erasure_id = erasure_id
        self._now = now
        self._owner = owner
        self._cascade = DeleteCascade(writer)
        self._names = self._cascade.names(doomed.entities)
        self._lives = lives_by_id(writer, doomed.facts)
        self.texts: list[str] = []  # everything that was taken out
        self.taken: list[Taken] = []  # of it, what is looked for in rows that are kept
        self.beside = self._around()  # episodes that stood right beside those that went
        self._places, self._sessions = self._staying()
        self._owners = self._whose_all()

    def run(self) -> dict[str, int]:
        """Take the content out of the rows and out of everything that repeats it.

        Returns how many rows of each kind it took.
        """
        values = self._values()
        longer = self._cascade.longer_names(loose_pattern(values), self._doomed)
        counts = {
            "proposals": self._proposals(),
            "facts": self._facts(),
            "masked": self._masks(),
            "episodes": self._episodes(),
            "entities": self._entities(),
            "preferences": self._preferences(),
            "searches": self._searches(),
            "rejections": self._rejections(),
            "sources": self._sources(),
        }
        if self._owner:
            self._forget_owner()
        self._history()
        sought = [self._nameless(text) for text in self.texts if text not in self._places]
        self._sweep(Repeats(sought, values, longer=longer))
        return {name: count for name, count in counts.items() if count}

    def _gone(self, texts: Iterable[str]) -> None:
        self.texts += filter(None, texts)

    def _take(self, how: str, texts: Iterable[str]) -> None:
        self.taken += [Taken(text, how) for text in texts if text]

    def _nameless(self, text: str) -> str:
        """Return a text without the ids of sessions that stay, which are names of their rows."""
        return self._sessions.sub("", text)

    def _whose(self, owner: str) -> str:
        """Return whose an erased row is: with an owner, whose it was goes too."""
        return "" if self._owner else owner

    def _say_erased(self, target: str, ids: Iterable[int]) -> None:
        self._writer.add(ERASED, [ErasedRow(target, id_, self._erasure_id) for id_ in sorted(ids)])

    def _empty(
        self,
        kind: Kind[Any],
        rows: Sequence[Any],
        text: str,
        *,
        sign: str = "erased:{}",
        **others: object,
    ) -> None:
        """Put a sign in the place of the words of rows, and other values in that of some fields."""
        self._writer.put(
            kind,
            [
                row._replace(**{text: sign.format(row.id)}, owner=self._whose(row.owner), **others)
                for row in rows
            ],
        )
        self._say_erased(kind.name, [row.id for row in rows])

    def _values(self) -> list[str]:
        """Return short words of what goes, which other rows may repeat on their own."""
        low, high = _WORD_CHARS
        values = dict.fromkeys((*self._names, *(life.object for life in self._lives.values())))
        short = [
            value for value in values if low <= len(value.strip()) <= high and self._nameless(value)
        ]
        # What a fact that stays claims as well is no mark of what goes: a tool, a branch, a town.
        where = {"owner": {*self._owners}, "object": short, "retired_at": None}
        claimed = self._writer.tally(FACT, ["object", "id"], where)
        stays = {value for value, id_ in claimed if id_ not in self._doomed.facts}
        short = [value for value in short if value in self._names or value not in stays]
        return short if len(short) <= _SOUGHT else [word for word in short if word in self._names]

    def _whose_all(self) -> frozenset[str]:
        """Return whose the rows are that go, and "": what is nobody's may repeat them too."""
        heads = self._writer.heads(self._doomed.episodes | self._doomed.masks.keys())
        rows: list[Any] = [*self._lives.values(), *heads.values()]
        rows += self._writer.find(ENTITY, {"id": self._doomed.entities})
        rows += self._writer.find(PREFERENCE, {"id": self._doomed.preferences})
        return frozenset({"", self._owner, *(row.owner for row in rows)})

    def _staying(self) -> tuple[frozenset[str], re.Pattern[str]]:
        """Return what the rows that stay are called by: where they stand, and what finds sessions.

        What goes is called so too, but that is no word of it: who looks for it finds every row of
        the session or the folder, and a log that is read on would no longer know its own.
        """
        going = self._doomed.episodes | self._doomed.masks.keys()
        ids = {head.source_id for head in self._writer.heads(going).values()}
        states = self._writer.sources(ids=ids - self._doomed.sources)
        sources = [state.source for state in states]
        rows = [kept.episode for kept in self._writer.whole_episodes(sorted(self.beside))]
        places = {name for row in rows for name in (row.branch, row.tool, row.speaker)}
        places |= {name for row in rows for name in (row.session, row.project, row.agent)}
        places |= {name for one in sources for name in (one.session, one.project, one.agent)}
        ids_of = sorted({one.session for one in sources} - {""}, key=len, reverse=True)
        parts = "|".join(re.escape(id_) for id_ in ids_of if not id_.isalpha())
        pattern = rf"(?<![^\W_])(?:{parts})(?![^\W_])" if parts else r"(?!)"
        return frozenset(places - {""}), re.compile(pattern)

    def _around(self) -> set[int]:
        """Return the episodes right before and behind those that go, which stay."""
        going = sorted(self._doomed.episodes | self._doomed.masks.keys())[:_SOUGHT]
        sources = {head.id: head.source_id for head in self._writer.heads(going).values()}
        where = {"owner": EVERYONE, "source_id": {*sources.values()}}
        rows = self._writer.tally(EPISODE, ["source_id", "id"], where)
        places: dict[int, list[int]] = {}
        for source_id, id_ in sorted(rows):
            places.setdefault(source_id, []).append(id_)
        around: set[int] = set()
        for id_, source_id in sources.items():
            ids = places[source_id]
            before, behind = bisect_left(ids, id_), bisect_right(ids, id_)
            around.update(ids[max(0, before - _AROUND) : before], ids[behind : behind + _AROUND])
        return around - self._doomed.episodes

    def _proposals(self) -> int:
        """Drop what waits for a person's word, or had it, on something that goes."""
        heads = self._writer.heads(self._doomed.episodes | self._doomed.masks.keys())
        uids = {head.uid for head in heads.values()}
        said = {
            (life.owner, life.predicate.casefold(), same_words(life.object))
            for life in self._lives.values()
        }

        def goes(row: Proposal) -> bool:
            owner, _, type_, text = proposed_claim(row.payload)
            return (
                row.id in self._doomed.proposals
                or row.payload.get("episode") in uids
                or (owner, type_.casefold(), same_words(text)) in said
                or (self._owner != "" and owner == self._owner)
            )

        rows = list(filter(goes, self._writer.find(PROPOSAL)))
        for row in rows:
            words = [row.title, *strings(row.payload)]
            self._gone([*words, row.reason])
            self._take("said", words if row.id in self._doomed.proposals else [])
        return self._writer.drop(PROPOSAL, {"id": [row.id for row in rows]})

    def _facts(self) -> int:
        lives = self._lives.values()
        if not lives:
            return 0
        for life in lives:
            self._gone([life.statement, life.subject, life.predicate, life.object])
            how = "page" if life.kind is FactKind.WORLD else "fact"
            of_session = self._sessions.fullmatch(life.object)  # the claim that it was asked there
            said = [life.statement, life.object]
            self._take(how, {*map(self._nameless, said)} if of_session else {*said})
        ids = list(self._lives)
        evidence = self._writer.evidence(fact_ids=ids)
        self._gone(row.quote for row in evidence)
        self._writer.drop_evidence([(row.fact_id, row.episode_id) for row in evidence])
        self._writer.drop(NOTICE_FACT, {"fact_id": ids})
        self._writer.drop(PAIR, {"low_id": ids})
        self._writer.drop(PAIR, {"high_id": ids})
        self._writer.drop_vectors("fact", ids)
        self._writer.put_facts([(life, self._blank(life)) for life in lives])
        self._say_erased("fact", ids)
        self._drop_empty_notices()
        return len(lives)

    def _blank(self, life: Life) -> Life:
        owner = self._whose(life.owner)
        return life._replace(
            claim=claim_digest(owner, "", "", ""),
            owner=owner,
            subject="",
            predicate="",
            object="",
            statement="",
            status=Status.ERASED,
            confidence=0.0,
            confidence_at=self._now,
            evidence_count=0,
            occurred_at=None,
            retired_at=self._now,
            valid_to=None,
            merged_into_id=None,
            superseded_by=None,
            pinned=False,
            embeddable=False,
        )

    def _drop_empty_notices(self) -> None:
        """Drop notices that were still to be told and have no fact any more."""
        states = (NoticeState.WAITING, NoticeState.CLAIMED)
        open_ = self._writer.find(NOTICE, {"owner": EVERYONE, "state": states})
        told = self._writer.find(NOTICE_FACT, {"notice_id": [notice.id for notice in open_]})
        full = {row.notice_id for row in told}
        self._writer.put(
            NOTICE,
            [
                notice._replace(state=NoticeState.DROPPED, reason=_REASON)
                for notice in open_
                if notice.id not in full
            ],
        )

    def _masks(self) -> int:
        """Put a sign in the place of every character of the spans: all other spans still hold.

        Attributes that repeat them, or have the name of a thing that goes, go whole: an address.
        """
        has_name = self._cascade.finder_of_names(self._doomed)
        for page in pages(sorted(self._doomed.masks), _PAGE):
            rows = {}
            for kept in self._writer.whole_episodes(page):
                episode, spans = kept.episode, self._doomed.masks[kept.id]
                cut = [episode.text[start:end] for start, end in spans]
                self._gone(cut)
                self._take(_speaks(episode.trust), cut)
                left = list(episode.text)
                for start, end in spans:
                    left[start:end] = MASK * (min(end, len(left)) - start)
                attributes = {
                    name: value
                    for name, value in episode.attributes.items()
                    if not any(overlap(str(value), piece) for piece in cut)
                    and not has_name(str(value))
                }
                self._gone(v for k, v in episode.attributes.items() if k not in attributes)
                rows[kept.id] = replace(episode, text="".join(left), attributes=attributes)
            self._writer.rewrite_episodes(rows)
            embed_again(self._writer, rows)
        return len(self._doomed.masks)

    def _episodes(self) -> int:
        ids = self._doomed.episodes
        count = 0
        for page in pages(sorted(ids), _PAGE):
            rows = [kept.episode for kept in self._writer.whole_episodes(page)]
            for row in rows:
                self._gone([row.text, row.subject, row.group, row.session, row.project, row.branch])
                self._gone([row.agent, row.tool, row.call_id, row.speaker, row.uid])
                self._gone(strings(row.attributes))
                self._take(_speaks(row.trust), [row.text])
            embed_again(self._writer, page)  # while it is known where their turns began
            self._say_erased("episode", page)
            self._blank_episodes(page)
            count += len(rows)
        if count:
            self._let_go_of_episodes(ids)
        return count

    def _blank_episodes(self, ids: Collection[int]) -> None:
        self._writer.rewrite_episodes(
            {
                head.id: Episode(
                    uid=f"erased:{head.id}",
                    source="",
                    kind=head.kind,
                    role=head.role,
                    trust=head.trust,
                    text="",
                    position=0,
                    offset=0,
                    owner=self._whose(head.owner),
                    injected=True,  # this keeps it out of everything that reads episodes
                )
                for head in self._writer.heads(ids).values()
            }
        )

    def _let_go_of_episodes(self, ids: set[int]) -> None:
        """Take out what points to episodes that are gone; what has another cause keeps that."""
        where = {"owner": EVERYONE, "episode_id": ids}
        for kind, what in _CAUSED:
            rows = self._writer.find(kind, where)
            causes = self._cascade.other_causes(what, [row.id for row in rows], ids)
            moved = [row._replace(episode_id=causes[row.id]) for row in rows if row.id in causes]
            self._writer.put(kind, moved)
        evidence = self._writer.evidence(episode_ids=ids)
        self._writer.drop_evidence([(row.fact_id, row.episode_id) for row in evidence])
        self._writer.drop(LOOSE, {"episode_id": ids})
        self._writer.drop(SEARCH_RESULT, {"episode_id": ids})
        self._writer.drop(ENGAGEMENT, where)
        kinds = {kind for (kind,) in self._writer.tally(MODEL_TASK, ["kind"])} - _NOT_OF_EPISODES
        self._writer.drop(MODEL_TASK, {"kind": kinds, "target": ids})

    def _entities(self) -> int:
        rows = self._writer.find(ENTITY, {"id": self._doomed.entities})
        if not rows:
            return 0
        self._gone(self._names)
        self._take("name", self._names)
        where = {"owner": EVERYONE, "entity_id": self._doomed.entities}
        self._writer.drop(ALIAS, where)
        self._writer.drop(ENGAGEMENT, where)
        notices = self._writer.find(NOTICE, where)
        self._writer.drop(NOTICE_FACT, {"notice_id": [notice.id for notice in notices]})
        self._writer.drop(NOTICE, where)
        self._empty(ENTITY, rows, "name", retired_at=self._now, merged_into_id=None)
        return len(rows)

    def _preferences(self) -> int:
        rows = self._writer.find(PREFERENCE, {"id": self._doomed.preferences})
        topics = [row.topic for row in rows]
        self._gone(topics)
        self._take("name", topics)
        where = {"owner": EVERYONE, "preference_id": self._doomed.preferences}
        self._writer.drop(ENGAGEMENT, where)
        self._empty(PREFERENCE, rows, "topic", retired_at=self._now)
        return len(rows)

    def _searches(self) -> int:
        """Empty what was searched for: prompts, schedules, tasks and the log."""
        doomed = self._doomed
        prompts = self._writer.find(LEARN_PROMPT, {"id": doomed.prompts})
        schedules = self._writer.find(SCHEDULE, {"id": doomed.schedules})
        logs = self._writer.find(SEARCH_LOG, {"id": doomed.searches})
        tasks = self._writer.find(SEARCH_TASK, {"id": doomed.tasks})
        words = [prompt.text for prompt in prompts] + [schedule.topic for schedule in schedules]
        words += [log.query for log in logs] + [task.query for task in tasks]
        self._gone(words)
        self._take("said", words)
        self._search_sources(logs)
        self._writer.drop(SEARCH_TASK, {"id": doomed.tasks})
        self._writer.drop(SEARCH_FIND, {"search_id": doomed.searches})
        self._empty(SEARCH_LOG, logs, "query", sign="", extracted=True)
        self._empty(LEARN_PROMPT, prompts, "text", status="completed")
        self._complete_prompts({log.learn_prompt_id for log in logs} - {None})
        self._empty(SCHEDULE, schedules, "topic", retired_at=self._now)
        return len(doomed.prompts | doomed.searches) + len(doomed.tasks) + len(doomed.schedules)

    def _complete_prompts(self, ids: Collection[int | None]) -> None:
        """Complete what was to be learned where no search of it is left."""
        of_them = {"owner": EVERYONE, "learn_prompt_id": ids}
        states = (SearchState.QUEUED, SearchState.FAILED)
        left = self._writer.find(SEARCH_TASK, {**of_them, "state": states})
        unread = self._writer.find(SEARCH_LOG, {**of_them, "extracted": False})
        open_ = {task.learn_prompt_id for task in left} | {log.learn_prompt_id for log in unread}
        active = self._writer.find(LEARN_PROMPT, {"id": ids, "status": "active"})
        done = [row._replace(status="completed") for row in active if row.id not in open_]
        self._writer.put(LEARN_PROMPT, done)

    def _search_sources(self, logs: Sequence[SearchRow]) -> None:
        """Take the words that were searched for from the sources that hold the results.

        The source of a search that found nothing has no owner; it goes by its words alone.
        """
        uris: dict[str, set[str]] = {}
        for row in logs:
            uris.setdefault(f"search:{row.query}", set()).add(row.owner)
        self._gone(uris)
        states = [
            state
            for state in (self._writer.sources() if uris else ())
            if state.source.kind == "search" and state.source.uri in uris
        ]
        of_them = {"owner": EVERYONE, "source_id": [state.id for state in states]}
        whose: dict[int, set[str]] = {}
        for source_id, owner in self._writer.tally(EPISODE, ["source_id", "owner"], of_them):
            whose.setdefault(source_id, set()).add(owner)
        self._writer.put_sources(
            [
                replace(state, source=replace(state.source, uri="search", title=""))
                for state in states
                if any(
                    whose.get(state.id, set()) <= {owner, ""} for owner in uris[state.source.uri]
                )
            ]
        )

    def _rejections(self) -> int:
        where = {"id": self._doomed.rejections}
        for row in self._writer.find(REJECTION, where):
            self._gone([row.detail, row.excerpt, row.predicate, *strings(row.validation)])
            self._take("said", [row.excerpt])
        return self._writer.drop(REJECTION, where)

    def _sources(self) -> int:
        states = self._writer.sources(ids=self._doomed.sources)
        blank = []
        for state in states:
            old = state.source
            self._gone([old.key, old.session, old.uri, old.project, old.title, old.agent])
            self._gone(strings(asdict(state.cursor)))
            self._take("said", [old.title])
            source = Source(
                key=f"erased:{state.id}", kind=old.kind, host=old.host, session="", uri=""
            )
            blank.append(replace(state, source=source, cursor=Cursor(), lines=LineCount()))
        self._writer.put_sources(blank)
        self._say_erased("source", self._doomed.sources)
        return len(states)

    def _forget_owner(self) -> None:
        """Take out whose it was, also from rows that were erased before."""
        owner = {"owner": self._owner}
        self._gone([self._owner])
        self._take("name", [self._owner])
        for kind in _LEFT:
            self._writer.drop(kind, owner)
        for _, kind in OWNED:
            rows = self._writer.find(kind, owner)
            self._writer.put(kind, [row._replace(owner="") for row in rows])
        lives = self._writer.lives(LifeWhere(owner=self._owner))
        self._writer.put_facts([(life, self._blank(life)) for life in lives])
        self._blank_episodes([id_ for (id_,) in self._writer.tally(EPISODE, ["id"], owner)])

    def _history(self) -> None:
        """Take the words out of the history of what is gone."""
        doomed = self._doomed
        for kind, ids in (
            ("fact", doomed.facts),
            ("episode", doomed.episodes),
            ("source", doomed.sources),
            ("entity", doomed.entities),
            ("preference", doomed.preferences),
            ("learn_prompt", doomed.prompts),
            ("schedule", doomed.schedules),
        ):
            self._cut(self._writer.find(EVENT, {"target_kind": kind, "target_id": ids}))
        events = self._writer.find(EVENT, {"target_kind": "proposal"})
        left = self._writer.find(PROPOSAL, {"id": {event.target_id for event in events}})
        there = {proposal.id for proposal in left}
        self._cut(event for event in events if event.target_id not in there)

    def _cut(self, events: Iterable[Event]) -> None:
        details = {}
        for event in events:
            left = wordless(event.detail)
            if left != event.detail:
                self._gone(strings(event.detail))
                details[event.id] = left
        if details:
            self._writer.rewrite_history(details, self._erasure_id)

    def _sweep(self, repeats: Repeats) -> None:
        """Take it out of everything that repeats words of other rows."""
        for events in self._events():
            named, worded = [], []
            for event in events:
                if not self._doomed.facts.isdisjoint(facts_named(event.detail)):
                    named.append(event)
                elif words := strings(event.detail, besides=PLAIN):
                    worded.append((event, "\n".join(words)))
            hits = repeats.among([words for _, words in worded])
            self._cut([*named, *(worded[n][0] for n in hits)])
        for kind, fields, change in _REPEATING:
            rows = self._writer.find(kind, {"owner": EVERYONE} if "owner" in kind.fields else ALL)
            said = [strings([getattr(row, name) for name in fields]) for row in rows]
            owners = [
                row.payload.get("owner", "") if kind is PROPOSAL else getattr(row, "owner", "")
                for row in rows
            ]
            theirs = [owner in self._owners for owner in owners]
            hits = repeats.among(["\n".join(texts) for texts in said], theirs)
            for n in hits:
                self._gone(said[n])
            if change:
                self._writer.put(kind, [rows[n]._replace(**change) for n in hits])
            else:
                self._writer.drop(kind, {"id": [rows[n].id for n in hits]})
        self._sweep_sources(repeats)
        runs = self._writer.find(RUN)
        hits = repeats.among(["\n".join(strings(run.report)) for run in runs])
        left = [runs[n]._replace(report=without(runs[n].report, repeats)) for n in hits]
        self._writer.put(RUN, left)

    def _sweep_sources(self, repeats: Repeats) -> None:
        states = self._writer.sources()
        whose: dict[int, set[str]] = {}
        for id_, owner in self._writer.tally(EPISODE, ["source_id", "owner"], {"owner": EVERYONE}):
            whose.setdefault(id_, set()).add(owner)
        theirs = [not whose.get(state.id, {""}).isdisjoint(self._owners) for state in states]
        titles = {*repeats.among([state.source.title for state in states], theirs)}
        cursors = [asdict(state.cursor) for state in states]
        in_cursors = {*repeats.among(["\n".join(strings(cursor)) for cursor in cursors], theirs)}
        changed = []
        for n in sorted(titles | in_cursors):
            state = states[n]
            if n in titles:
                self._gone([state.source.title])
                state = replace(state, source=replace(state.source, title=""))
            if n in in_cursors:
                state = replace(state, cursor=Cursor(**without(cursors[n], repeats)))
            changed.append(state)
        self._writer.put_sources(changed)

    def _events(self) -> Iterator[Sequence[Event]]:
        """Iterate over the whole history, some thousand events at a time."""
        last = 0
        while events := self._writer.find(EVENT, {"id": Above(last)}, limit=_PAGE):
            yield events
            last = events[-1].id


def _speaks(trust: Trust) -> str:
    """Return how what an episode said is looked for."""
    return "page" if trust is Trust.EXTERNAL else "said"
