"""What a store in memory answers: plain Python over tables that nothing changes."""

from __future__ import annotations

import math
import operator
import re
import unicodedata
from abc import abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeAlias

import numpy as np
import orjson
from numpy.typing import NDArray

from factbook import policy
from factbook.language.words import stem
from factbook.model.confidence import value_at
from factbook.model.facts import (
    EVERYONE,
    At,
    Episode,
    EpisodeKind,
    Everyone,
    Fact,
    Millis,
    Source,
    SourceState,
    Status,
    StoredEpisode,
)
from factbook.model.text import asks
from factbook.store import leases
from factbook.store.kinds import (
    ALL,
    CALLED,
    CITED,
    ENTITY,
    EPISODE,
    ERASED,
    EVIDENCE,
    FACT,
    MODEL_TASK,
    NO_WORDS,
    OWNER,
    PREFERENCE,
    VECTOR,
    WAITING,
    Above,
    Below,
    Cited,
    Condition,
    Embedded,
    Kind,
    Least,
    Other,
    R,
    Tally,
    Where,
    called,
    checked,
)
from factbook.store.rows import (
    Changes,
    EpisodeHead,
    EvidenceRow,
    Filters,
    Head,
    KeptEpisode,
    Life,
    LifeWhere,
    Nearest,
    Outlines,
    with_spans,
)

Root: TypeAlias = Mapping[str, Mapping[Any, Any]]
"""The tables by name, each with its rows by what stands for them."""

_COMPARED: Mapping[type[Condition], Callable[[Any, Any], Any]] = {
    Least: operator.ge,
    Above: operator.gt,
    Below: operator.lt,
    Other: operator.ne,
}
_TOKEN = re.compile(r"[^\W_]+")


def meets(row: object, where: Where) -> bool:
    """Tell whether a row meets every condition."""
    return all(_met(getattr(row, name), condition) for name, condition in where.items())


def _met(value: Any, condition: Any) -> bool:
    if condition is EVERYONE:
        return True
    if condition is None or value is None:
        return condition is value
    if isinstance(condition, Condition):
        return bool(_COMPARED[type(condition)](value, condition.value))
    if isinstance(condition, Collection) and not isinstance(condition, (str, bytes)):
        return value in condition
    return bool(value == condition)


def tokens(text: str) -> list[str]:
    """Return the stems of the words of a text, without case and accents."""
    folded = unicodedata.normalize("NFKD", text.casefold())
    bare = "".join(part for part in folded if not unicodedata.combining(part))
    return [stem(word) for word in _TOKEN.findall(bare)]


def _passes(filters: Filters, at: Millis | None, episode: Episode, source: Source) -> bool:
    """Tell whether what facts and episodes have in common passes."""
    if filters.since is not None or filters.until is not None:
        since = filters.since is None or (at is not None and at >= filters.since)
        until = filters.until is None or (at is not None and at < filters.until)
        any_time = filters.turns_any_time and episode.kind is EpisodeKind.TURN
        if not (any_time or (since and until)):
            return False
    return (
        filters.host in ("", source.host)
        and filters.project.lower() in episode.project.lower()
        and filters.session in ("", episode.session, source.session)
    )


def episode_passes(filters: Filters, id: int, episode: Episode, source: Source) -> bool:
    """Tell whether an episode passes the filters."""
    return (
        not episode.injected
        and filters.of_owner(episode.owner)
        and (not filters.episode_kinds or episode.kind in filters.episode_kinds)
        and (not filters.roles or episode.role in filters.roles)
        and (not filters.trusts or episode.trust in filters.trusts)
        and (filters.ids is None or id in filters.ids)
        and (filters.before is None or id < filters.before)
        and _passes(filters, episode.occurred_at, episode, source)
    )


def fact_passes(
    filters: Filters, fact: Life, episode: Episode, source: Source, rules: Collection[str]
) -> bool:
    """Tell whether a fact passes the filters: one of `rules` made its evidence."""
    floor = filters.min_confidence
    if filters.now is not None and not filters.deprecated:
        floor = max(floor, policy.MIN_CONFIDENCE_ACTIVE)
    sure = fact.confidence if filters.now is None else value_at(fact, filters.now)
    return (
        fact.current
        and (filters.proposed or fact.status is not Status.PROPOSED)
        and filters.of_owner(fact.owner)
        and (not filters.predicates or fact.predicate in filters.predicates)
        and (not filters.kinds or fact.kind in filters.kinds)
        and (floor <= 0 or sure >= floor)
        and filters.object in ("", fact.object)
        and filters.subject in ("", fact.subject)
        and (not filters.rules or not {*filters.rules}.isdisjoint(rules))
        and (filters.ids is None or fact.id in filters.ids)
        and (filters.before is None or fact.id < filters.before)
        and _passes(filters, fact.occurred_at, episode, source)
    )


class MemoryReads:
    """The reads of tables in memory, as `store.port.Reads` says them."""

    @abstractmethod
    def root(self) -> Root:
        """Return the tables as of the moment that is read."""

    def table(self, name: str) -> Mapping[Any, Any]:
        """Return a table; one that nothing was put into is empty."""
        return self.root().get(name, {})

    def head(self, owner: str | Everyone = EVERYONE) -> Head:
        meta = self.table("meta")
        memory = meta.get("memory", 0)
        if owner is not EVERYONE:
            known = self.table(OWNER.name).get((owner,))
            memory = max(meta.get("everyone", 0), known.memory if known else 0)
        return Head(meta.get("commit", 0), memory)

    def changed(self, what: str, after: At, *, limit: int | None = None) -> Changes:
        name = f"{what.removeprefix('vector:')} vector" if ":" in what else what
        came = sorted(At(no, id) for id, no in self.table(f"{name} came").items())
        came = [at for at in came if at > after]
        page = came[:limit]
        more = len(page) < len(came)
        last = page[-1] if page else after
        gone = sorted(at for at in self.table(f"{name} gone") if at > after)
        if more:
            gone = [at for at in gone if at <= last]
        last = max([last, *gone])
        return Changes([at.id for at in page], [at.id for at in gone], last, more)

    def find(
        self,
        kind: Kind[R],
        where: Where = ALL,
        *,
        limit: int | None = None,
        newest_first: bool = False,
    ) -> list[R]:
        checked(kind, where)
        table = self.table(kind.name)
        keys = sorted(
            (key for key, row in table.items() if meets(row, where)), reverse=newest_first
        )
        return [table[key] for key in keys[:limit]]

    def tally(
        self,
        kind: Kind[Any],
        by: Sequence[str],
        where: Where = ALL,
        *,
        most: str = "",
        distinct: str = "",
    ) -> dict[tuple[Any, ...], Tally]:
        checked(kind, where, by, (most, distinct))
        groups: dict[tuple[Any, ...], list[Any]] = {}
        for row in self._counted(kind):
            if meets(row, where):
                groups.setdefault(tuple(getattr(row, name) for name in by), []).append(row)

        def values(rows: Sequence[Any], name: str) -> list[Any]:
            cells = (getattr(row, name) for row in rows if name)
            return [value for value in cells if value is not None]

        return {
            group: Tally(
                len(rows), max(values(rows, most), default=None), len({*values(rows, distinct)})
            )
            for group, rows in groups.items()
        }

    def _counted(self, kind: Kind[Any]) -> Iterable[Any]:
        """Return the rows of a kind, also of those that are only counted."""
        if kind is EPISODE:
            return self.heads([*self.table(kind.name)]).values()
        if kind is CITED:
            facts = self.table(FACT.name)
            cited = ((row, facts[row.fact_id]) for row in self.table(EVIDENCE.name).values())
            return [
                Cited(
                    row.fact_id,
                    row.episode_id,
                    row.stance,
                    fact.kind,
                    fact.status,
                    fact.confidence,
                    fact.predicate,
                )
                for row, fact in cited
            ]
        if kind not in (VECTOR, WAITING):
            return self.table(kind.name).values()
        targets = (EPISODE.name, FACT.name, ENTITY.name, PREFERENCE.name)
        return [
            Embedded(target)
            for target in targets
            for _ in (self._waiting(target) if kind is WAITING else self.table(f"{target} vector"))
        ]

    def sources(
        self,
        *,
        ids: Collection[int] | None = None,
        keys: Sequence[str] | None = None,
        owner: str | Everyone = EVERYONE,
    ) -> list[SourceState]:
        owned = {source for source, row in self.table("episode").values() if row.owner == owner}
        return [
            row
            for _, row in sorted(self.table("source").items())
            if ("source", row.id) not in self.table(ERASED.name)
            and (ids is None or row.id in ids)
            and (keys is None or row.source.key in keys)
            and (owner is EVERYONE or row.id in owned)
        ]

    def _source(self, source_id: int) -> Source:
        source: Source = self.table("source")[source_id].source
        return source

    def _stored(self, id: int) -> StoredEpisode:
        source_id, episode = self.table("episode")[id]
        source = self._source(source_id)
        same = {
            name: getattr(episode, name)
            for name in StoredEpisode.__dataclass_fields__
            if name not in ("id", "source_id", "source", "host")
        }
        return StoredEpisode(
            id=id, source_id=source_id, source=source.uri, host=source.host, **same
        )

    def _newest_first(self, ids: Iterable[int], times: Mapping[int, Millis | None]) -> list[int]:
        def order(id: int) -> tuple[bool, Millis, int]:
            return times[id] is not None, times[id] or 0, id

        return sorted(ids, key=order, reverse=True)

    def episodes(
        self, filters: Filters, *, limit: int | None, newest_first: bool = False
    ) -> Iterator[StoredEpisode]:
        ids = self.ids("episode", filters)
        if newest_first:
            ids = self._newest_first(
                ids, {id: self.table("episode")[id][1].occurred_at for id in ids}
            )
        yield from [self._stored(id) for id in ids[:limit]]

    def episodes_by_id(self, ids: Sequence[int]) -> dict[int, StoredEpisode]:
        return {id: self._stored(id) for id in ids if id in self.table("episode")}

    def episode_ids(self, uids: Sequence[str]) -> dict[str, int]:
        wanted = {*uids}
        return {row.uid: id for id, (_, row) in self.table("episode").items() if row.uid in wanted}

    def each_text(self) -> Iterator[tuple[str, str]]:
        for name, table in self.root().items():
            if " " in name or name in ("meta", EVIDENCE.name):
                continue
            letter, field = CALLED.get(name, (name, ""))
            for key, row in table.items():
                values = [*_words(row)]
                if name == "event":
                    row_name = called(row.target_kind, row.target_id)
                else:
                    row_name = f"{letter}{getattr(row, field, key) if field else ''}"
                if values:
                    yield row_name, "\x1f".join(values)

    def texts(self, target: str, ids: Sequence[int]) -> dict[int, str]:
        table = self.table(target)
        return {id: self._text(target, id) for id in sorted({*ids}) if id in table}

    def _text(self, target: str, id: int) -> str:
        row = self.table(target)[(id,) if target in (ENTITY.name, PREFERENCE.name) else id]
        if target == "episode":
            return str(row[1].text)
        name = {"fact": "statement", ENTITY.name: "name", PREFERENCE.name: "topic"}[target]
        return str(getattr(row, name))

    def heads(self, ids: Collection[int]) -> dict[int, EpisodeHead]:
        episode_heads = {}
        for id in ids:
            if id not in self.table("episode"):
                continue
            source_id, episode = self.table("episode")[id]
            source = self._source(source_id)
            episode_heads[id] = EpisodeHead(
                id=id,
                source_id=source_id,
                source=source.uri,
                host=source.host,
                details=orjson.dumps(with_spans(episode)).decode(),
                **{
                    name: getattr(episode, name)
                    for name in EpisodeHead._fields
                    if name not in ("id", "source_id", "source", "host", "details")
                },
            )
        return episode_heads

    def whole_episodes(self, ids: Collection[int]) -> list[KeptEpisode]:
        table, learned = self.table("episode"), self.table("episode learned_at")
        erased = self.table(ERASED.name)
        kept_episodes = []
        for id in sorted(id for id in {*ids} & table.keys() if ("episode", id) not in erased):
            source_id, episode = table[id]
            whole = replace(
                episode,
                source=self._source(source_id).key,
                fields=(),
                embed=episode.embed and not episode.injected,
            )
            kept_episodes.append(KeptEpisode(id, source_id, learned[id], whole))
        return kept_episodes

    def untasked(
        self, kind: str, filters: Filters, *, now: Millis, limit: int, tried_only: bool = False
    ) -> list[StoredEpisode]:
        tasks = {task.target: task for task in self.find(MODEL_TASK, {"kind": kind})}

        def may(id: int) -> bool:
            task = tasks.get(id)
            if task is None:
                return not tried_only
            return task.state in ("queued", "failed") and leases.due(task.until, now=now)

        ids = [id for id in self.ids("episode", filters) if may(id)]
        return [self._stored(id) for id in ids[:limit]]

    def _fact(self, id: int) -> Fact:
        row: Life = self.table("fact")[id]
        source_id, episode = self.table("episode")[row.episode_id]
        same = {
            name: getattr(row, name) for name in Life._fields if name in Fact.__dataclass_fields__
        }
        return Fact(
            host=self._source(source_id).host,
            session=episode.session,
            project=episode.project,
            **same,
        )

    def facts(
        self, filters: Filters, *, limit: int | None, newest_first: bool = False
    ) -> Iterator[Fact]:
        ids = self.ids("fact", filters)
        if newest_first:
            ids = self._newest_first(ids, {id: self.table("fact")[id].occurred_at for id in ids})
        yield from [self._fact(id) for id in ids[:limit]]

    def facts_by_id(self, ids: Sequence[int]) -> dict[int, Fact]:
        return {id: self._fact(id) for id in ids if id in self.table("fact")}

    def lives(self, where: LifeWhere, *, limit: int | None = None) -> list[Life]:
        asked = {
            "id": where.ids,
            "claim": where.claims,
            "kind": where.kinds,
            "subject": where.subjects,
            "predicate": where.predicates,
            "merged_into_id": where.merged_into,
            "superseded_by": where.superseded_by,
        }
        named = {name: values for name, values in asked.items() if values is not None}
        rows = [
            row
            for _, row in sorted(self.table("fact").items())
            if where.owner in (row.owner, EVERYONE)
            and where.current in (None, row.current)
            and (not where.under or f"{row.predicate}.".startswith(f"{where.under}."))
            and meets(row, named)
        ]
        return rows[:limit]

    def evidence(
        self,
        *,
        fact_ids: Collection[int] | None = None,
        episode_ids: Collection[int] | None = None,
        pairs: Collection[tuple[int, int]] | None = None,
        each: int | None = None,
    ) -> list[EvidenceRow]:
        rows: list[EvidenceRow] = []
        counts: dict[int, int] = {}
        for (fact_id, episode_id), row in sorted(self.table("evidence").items()):
            asked = (
                (fact_ids is None or fact_id in fact_ids)
                and (episode_ids is None or episode_id in episode_ids)
                and (pairs is None or (fact_id, episode_id) in pairs)
            )
            if asked and (each is None or counts.get(fact_id, 0) < each):
                counts[fact_id] = counts.get(fact_id, 0) + 1
                # As in a file: what is quoted is a part of the episode, and changes with it.
                text = self._text("episode", episode_id)
                rows.append(row._replace(quote=text[row.start :][: len(row.quote)]))
        return rows

    def ids(self, target: str, filters: Filters) -> list[int]:
        episodes = self.table("episode")
        if target == "episode":
            return sorted(
                id
                for id, (source_id, episode) in episodes.items()
                if episode_passes(filters, id, episode, self._source(source_id))
            )
        rules: dict[int, set[str]] = {}
        for row in self.table("evidence").values() if filters.rules else ():
            rules.setdefault(row.fact_id, set()).add(row.rule)
        return sorted(
            id
            for id, row in self.table("fact").items()
            if fact_passes(
                filters,
                row,
                episodes[row.episode_id][1],
                self._source(episodes[row.episode_id][0]),
                rules.get(id, ()),
            )
        )

    def search(
        self, target: str, terms: Sequence[str], filters: Filters, k: int
    ) -> list[tuple[int, float]]:
        """Return (id, BM25 score) of the k best rows that hold any of the terms, best first.

        As SQLite's FTS5 counts it: how rare a word and how long a text is, all rows tell.
        """
        phrases = [phrase for phrase in map(tokens, terms) if phrase]
        table = self.table(target)
        rows = {id: tokens(text) for id, text in self.texts(target, list(table)).items()}
        passing = set(self.ids(target, filters))
        average = sum(map(len, rows.values())) / max(1, len(rows))
        scores: dict[int, float] = {}
        for phrase in phrases:
            counts = {id: n for id, words in rows.items() if (n := _occurs(phrase, words))}
            rarity = math.log((len(rows) - len(counts) + 0.5) / (len(counts) + 0.5))
            for id in counts.keys() & passing:
                n, length = counts[id], 0.25 + 0.75 * len(rows[id]) / average
                score = max(rarity, 1e-6) * n * 2.2 / (n + 1.2 * length)
                scores[id] = scores.get(id, 0.0) + score
        return sorted(scores.items(), key=lambda hit: (-hit[1], hit[0]))[:k]

    def nearest(
        self, target: str, vectors: NDArray[np.float32], filters: Filters, k: int
    ) -> list[Nearest]:
        allowed = {*self.ids(target, filters)}
        table = self.table(f"{target} vector")
        ids = np.asarray(sorted(id for id in table if id in allowed), np.int64)
        packed = b"".join(table[id] for id in ids.tolist())
        rows = np.frombuffer(packed, np.float16).reshape(len(ids), vectors.shape[1])
        cosines = _unit(vectors.astype(np.float32)) @ _unit(rows.astype(np.float32)).T
        nearests = []
        for row in cosines:
            best = np.lexsort((ids, -row))[:k]
            nearests.append(Nearest(ids[best], row[best]))
        return nearests

    def vectors(self, target: str, ids: Sequence[int]) -> tuple[list[int], bytes]:
        table = self.table(f"{target} vector")
        present = sorted(id for id in {*ids} if id in table)
        return present, b"".join(table[id] for id in present)

    def waiting(
        self,
        target: str,
        *,
        limit: int,
        after: int = 0,
        due: Millis | None = None,
        besides: Collection[int] = (),
        next: bool = False,
        among: Collection[int] | None = None,
    ) -> list[tuple[int, str]]:
        if next:
            made = self.table("next vector")
            ids = [id for id in self.table(f"{target} vector") if (target, id) not in made]
        else:
            ids = self._waiting(target)
        if due is not None:
            tried = self.table("embed_task")
            late = due + policy.LONGEST_WAIT_MS
            ids = [
                id
                for id in ids
                if (task := tried.get((target, id))) is None
                or not (task.aside or due < task.until <= late or task.token in besides)
            ]
        wait = sorted(id for id in ids if id > after and (among is None or id in among))
        return [(id, self._text(target, id)) for id in wait[:limit]]

    def _waiting(self, target: str) -> list[int]:
        if target != "fact":
            return [*self.table(f"{target} waiting")]
        facts = self.table("fact").items()
        return [id for id, row in facts if row.status is Status.PENDING_EMBED]

    def embedder(self, *, next: bool = False) -> tuple[str, int] | None:
        model: tuple[str, int] | None = self.table("meta").get(f"{'next ' if next else ''}embedder")
        return model

    def outlines(
        self, ids: Sequence[int], *, reach: int = 0, owner: str | Everyone = EVERYONE
    ) -> Outlines:
        episodes = self.table("episode")
        places: dict[int, list[int]] = {}
        for id in sorted(episodes, key=lambda id: (episodes[id][1].position, id)):
            places.setdefault(episodes[id][0], []).append(id)
        ordinals = {id: n for place in places.values() for n, id in enumerate(place)}
        wanted = set()
        for id in ids:
            if id in episodes:
                n = ordinals[id]
                wanted.update(places[episodes[id][0]][max(0, n - reach) : n + reach + 1])
        reached = sorted(id for id in wanted if owner in (episodes[id][1].owner, EVERYONE))
        rows = [episodes[id][1] for id in reached]
        times = [math.nan if row.occurred_at is None else row.occurred_at for row in rows]
        return Outlines(
            np.asarray(reached, np.int64),
            np.asarray([episodes[id][0] for id in reached], np.int64),
            np.asarray([ordinals[id] for id in reached], np.int64),
            np.asarray(times, np.float64),
            np.asarray([len(row.text) for row in rows], np.int64),
            np.asarray([asks(row.text) for row in rows], np.bool_),
            [row.speaker for row in rows],
        )

    def turns(self, ids: Sequence[int]) -> dict[int, Sequence[tuple[int, EpisodeKind]]]:
        # What goes on in each source, and whose it is.
        begun: dict[int, tuple[str, list[tuple[int, EpisodeKind]]]] = {}
        found: dict[int, Sequence[tuple[int, EpisodeKind]]] = {}
        for id, (source, episode) in sorted(self.table("episode").items()):
            if episode.injected and episode.text:
                continue
            if episode.kind is EpisodeKind.PROMPT:
                begun[source] = episode.owner, []
            owner, records = begun.get(source, (None, []))
            if owner == episode.owner:
                records.append((id, episode.kind))
                found[id] = records
        return {id: found[id] for id in ids if id in found}

    def speakers(self, owner: str | Everyone) -> Sequence[str]:
        episodes = [episode for _, episode in self.table("episode").values()]
        owned = {episode.speaker for episode in episodes if owner in (episode.owner, EVERYONE)}
        return sorted(owned - {""})


def _words(value: Any) -> Iterator[str]:
    """Give every text within a row, but for what the program drew."""
    if isinstance(value, str):
        yield from [value] if value else []
    elif hasattr(value, "_asdict") or is_dataclass(value):
        names = (
            value._fields if hasattr(value, "_fields") else [field.name for field in fields(value)]
        )
        for name in names:
            if name not in NO_WORDS:
                yield from _words(getattr(value, name))
    elif isinstance(value, Mapping):
        yield from _words([*value.values()])
    elif isinstance(value, (list, tuple)):
        for part in value:
            yield from _words(part)


def _occurs(phrase: Sequence[str], words: Sequence[str]) -> int:
    """Count how often words stand in a row."""
    size = len(phrase)
    return sum(words[n : n + size] == phrase for n in range(len(words) - size + 1))


def _unit(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return (rows / np.where(lengths == 0, 1, lengths)).astype(np.float32)
