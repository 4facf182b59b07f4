"""The reads of the ledger itself: sources, episodes, facts, evidence, history."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import compress
from operator import is_not, itemgetter
from typing import Any, Final, TypeAlias

import apsw
import orjson

from factbook import policy
from factbook.errors import UsageError
from factbook.model.facts import (
    EVERYONE,
    Cursor,
    Episode,
    Everyone,
    Fact,
    FactKind,
    LineCount,
    Millis,
    Source,
    SourceState,
    Stance,
    StoredEpisode,
)
from factbook.model.text import asks
from factbook.store.rows import (
    EpisodeHead,
    EvidenceRow,
    Filters,
    KeptEpisode,
    Life,
    LifeWhere,
    with_spans,
)
from factbook.store.sqlite.rows import (
    DUE,
    EPISODE,
    EPISODE_KINDS,
    FACT,
    FACT_KINDS,
    IN,
    KEPT,
    NO_OBSERVATION,
    ROLES,
    ROWS,
    STATES,
    SUBJECT_ENDS,
    TRUSTS,
    Rows,
    as_episode,
    as_fact,
    as_kept,
    episode_where,
    fact_where,
    json_list,
    limited,
)

_LIFE = f"SELECT {', '.join(f'f.{name}' for name in Life._fields)} FROM"
_HEAD = (
    "SELECT e.id, e.uid, e.source_id, s.uri, s.host, e.kind, e.role, e.trust, e.owner, e.speaker,"
    " e.session, e.injected, e.occurred_at, e.position, e.byte_offset, e.attributes"
    " FROM episode_row e JOIN source_row s ON s.id = e.source_id"
)
_EVIDENCE = (
    "SELECT v.fact_id, v.episode_id, r.name, r.method, v.stance,"
    " substr(e.text, v.start_char + 1, v.quote_chars), v.start_char, v.end_char, v.learned_at,"
    " v.quote_chars FROM"
)
INDEXED: Final = {"episode": "text", "fact": "statement"}  # what of a row is in its index
_GRAPH: Final = repr(FactKind.GRAPH.value)
_ENDS_IN = "(SELECT substr(value, -12) FROM json_each(?))"
# What a prefix finds: the key itself and what stands below it, never a longer segment; and no
# character of it is a wildcard. The first two alone lead through an index.
_UNDER = (
    "f.predicate >= ? AND f.predicate < ? || '/' AND (f.predicate = ? OR f.predicate >= ? || '.')"
)


_STANCES = {stance.value: stance for stance in Stance}


def as_life(row: Sequence[Any]) -> Life:
    """Read a row of facts as `Life`."""
    parts = list(row)
    parts[6], parts[7], parts[10] = FACT_KINDS[row[6]], STATES[row[7]], TRUSTS[row[10]]
    parts[17], parts[18] = row[17] != 0, row[18] != 0
    return Life._make(parts)


def _as_evidence(row: Sequence[Any], text: str) -> EvidenceRow:
    *parts, quote_chars = row
    parts[4] = _STANCES[row[4]]
    if text:
        parts[5] = text[row[6] :][:quote_chars]
    return EvidenceRow._make(parts)


def _as_head(row: Sequence[Any]) -> EpisodeHead:
    parts = list(row)
    parts[5], parts[6], parts[7] = EPISODE_KINDS[row[5]], ROLES[row[6]], TRUSTS[row[7]]
    parts[11] = row[11] != 0
    return EpisodeHead._make(parts)


def _as_source(row: Sequence[Any]) -> SourceState:
    id_, *source, cursor, lines, episode_count, first_at, last_at = row
    return SourceState(
        id=id_,
        source=Source(**dict(zip(_SOURCE_FIELDS, source, strict=True))),
        episode_count=episode_count,
        first_at=first_at,
        last_at=last_at,
        cursor=Cursor(**orjson.loads(cursor)),
        lines=LineCount(**orjson.loads(lines)),
    )


_SOURCE_FIELDS: Final = ("key", "kind", "host", "session", "uri", "project", "title", "agent")
_SOURCE: Final = ", ".join(_SOURCE_FIELDS)
Place: TypeAlias = tuple[str, str, str, str]
_PLACE: Final = "session, project, branch, agent"
_FIELDS = range(len(Life._fields))
_STATEMENT = Life._fields.index("statement")
_ADD_FACT = (
    f"INSERT INTO fact_row ({', '.join(Life._fields)}) VALUES ({','.join('?' * len(Life._fields))})"
)


class LedgerReads(Rows):
    """The reads of sources, episodes, facts, evidence and history."""

    def sources(
        self,
        *,
        ids: Collection[int] | None = None,
        keys: Sequence[str] | None = None,
        owner: str | Everyone = EVERYONE,
    ) -> list[SourceState]:
        sql = (
            f"SELECT id, {_SOURCE}, cursor, lines, episode_count, first_at, last_at FROM source_row"
            " WHERE id NOT IN (SELECT row_id FROM erased_row WHERE target = 'source')"
        )
        bindings: list[Any] = []
        for column, wanted in (("id", ids), ("key", keys)):
            if wanted is not None:
                sql += f" AND {column} IN {IN}"
                bindings.append(json_list(wanted))
        if owner is not EVERYONE:
            sql += (
                " AND EXISTS (SELECT 1 FROM episode_row e"
                " WHERE e.source_id = source_row.id AND e.owner = ?)"
            )
            bindings.append(owner)
        return [_as_source(row) for row in sorted(self._rows(sql, bindings))]

    def facts_by_id(self, ids: Sequence[int]) -> dict[int, Fact]:
        rows = self._rows(f"{FACT} WHERE f.id IN {IN}", (json_list(ids),))
        return {row[0]: as_fact(row) for row in rows}

    def facts(
        self, filters: Filters, *, limit: int | None, newest_first: bool = False
    ) -> Iterator[Fact]:
        where, bindings = fact_where(self._plain(filters))
        order = "f.occurred_at DESC, f.id DESC" if newest_first else "f.id"
        sql = f"{FACT} WHERE {where} ORDER BY {order}"
        for row in self._each(sql, bindings, limit):
            yield as_fact(row)

    def episode_ids(self, uids: Sequence[str]) -> dict[str, int]:
        if not uids:
            return {}
        # Joined: for IN, SQLite would first sort what is asked for.
        sql = "SELECT e.uid, e.id FROM json_each(?) j CROSS JOIN episode_row e ON e.uid = j.value"
        return dict(self._rows(sql, (json_list(uids),)))

    def untasked(
        self, kind: str, filters: Filters, *, now: Millis, limit: int, tried_only: bool = False
    ) -> list[StoredEpisode]:
        where, bindings = episode_where(filters)
        may = f"t.state IN ('queued', 'failed') AND {DUE}"
        joined, may = ("JOIN", may) if tried_only else ("LEFT JOIN", f"coalesce({may}, 1)")
        sql = (
            f"{EPISODE} {joined} model_task t ON t.target = e.id AND t.kind = ?"
            f" WHERE {where} AND {may} ORDER BY e.id"
        )
        times = now, now + policy.LONGEST_WAIT_MS
        return list(map(as_episode, self._each(sql, (kind, *bindings, *times), limit)))

    def texts(self, target: str, ids: Sequence[int]) -> dict[int, str]:
        column = INDEXED[target]
        sql = f"SELECT id, {column} FROM {ROWS[target]} WHERE id IN {IN} ORDER BY id"
        return dict(self._rows(sql, (json_list(ids),))) if ids else {}

    def heads(self, ids: Collection[int]) -> dict[int, EpisodeHead]:
        rows = self._rows(f"{_HEAD} WHERE e.id IN {IN}", (json_list(ids),)) if ids else []
        return {row[0]: _as_head(row) for row in rows}

    def whole_episodes(self, ids: Collection[int]) -> list[KeptEpisode]:
        rows = self._rows(f"{KEPT} AND e.id IN {IN} ORDER BY e.id", (json_list(ids),))
        return [as_kept(row) for row in rows]

    def evidence(
        self,
        *,
        fact_ids: Collection[int] | None = None,
        episode_ids: Collection[int] | None = None,
        pairs: Collection[tuple[int, int]] | None = None,
        each: int | None = None,
    ) -> list[EvidenceRow]:
        if each is not None:
            # One by one: a fact may have thousands, of which the rest is not even read.
            where = limited("v.fact_id = ? ORDER BY v.episode_id", each)
            return [
                row
                for id_ in sorted(fact_ids or ())
                for row in self._evidence("evidence_row v", where, id_)
            ]
        if pairs is not None:
            table = "json_each(?) j CROSS JOIN evidence_row v"
            where = "v.fact_id = j.value ->> 0 AND v.episode_id = j.value ->> 1"
            return self._evidence(table, where, json_list(pairs)) if pairs else []
        column, ids = ("fact_id", fact_ids) if fact_ids is not None else ("episode_id", episode_ids)
        if not ids:
            return []
        return self._evidence("evidence_row v", f"v.{column} IN {IN}", json_list(ids))

    def _evidence(self, table: str, where: str, binding: object) -> list[EvidenceRow]:
        sql = (
            f"{_EVIDENCE} {table} JOIN rule_row r ON r.id = v.rule_id"
            f" JOIN episode_row e ON e.id = v.episode_id WHERE {where}"
        )
        # Sorted here, as `lives`: to sort few, SQLite first makes a table of them.
        rows = sorted(self._rows(sql, (binding,)))
        # SQLite's substr() ends at a NUL; the few texts that hold one are read whole.
        short = {row[1] for row in rows if len(row[5]) != row[-1]}
        texts = self.texts("episode", sorted(short))
        return [_as_evidence(row, texts.get(row[1], "")) for row in rows]

    def lives(self, where: LifeWhere, *, limit: int | None = None) -> list[Life]:
        clause = _life_where(where)
        if clause is None:
            return []
        sql, bindings = clause
        if limit is None:
            # Sorted here: else SQLite takes an index for its order, and not one that finds few.
            return [as_life(row) for row in sorted(self._rows(f"{_LIFE} {sql}", bindings))]
        rows = self._rows(limited(f"{_LIFE} {sql} ORDER BY f.id", limit), bindings)
        return [as_life(row) for row in rows]

    def episodes_by_id(self, ids: Sequence[int]) -> dict[int, StoredEpisode]:
        rows = self._rows(f"{EPISODE} WHERE e.id IN {IN}", (json_list(ids),))
        return {row[0]: as_episode(row) for row in rows}

    def episodes(
        self, filters: Filters, *, limit: int | None, newest_first: bool = False
    ) -> Iterator[StoredEpisode]:
        where, bindings = episode_where(self._plain(filters))
        order = "e.occurred_at DESC, e.id DESC" if newest_first else "e.id"
        sql = f"{EPISODE} WHERE {where} ORDER BY {order}"
        for row in self._each(sql, bindings, limit):
            yield as_episode(row)


class LedgerWrites(LedgerReads):
    """What a write changes of facts and evidence."""

    _db: apsw.Connection
    _now: Millis
    drop_vectors: Callable[[str, Sequence[int]], None]
    _rules: dict[tuple[str, str], int] | None = None  # (name, method) -> id, as this write knows

    def _next_id(self, table: str) -> int:
        # The write lock is held, so ids can be given out here and bulk inserts need no round trip.
        row = self._db.execute(f"SELECT coalesce(max(id), 0) + 1 FROM {table}").fetchall()[0]
        return int(str(row[0]))

    def put_sources(self, rows: Sequence[SourceState]) -> list[int]:
        free, ids = self._next_id("source_row") if rows else 0, list[int]()
        for row in rows:
            ids.append(row.id or free)
            free += not row.id
            self._db.execute(
                f"INSERT INTO source_row (id, {_SOURCE}, cursor, lines, learned_at, updated_at)"
                " VALUES (?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?12) ON CONFLICT (id) DO UPDATE"
                " SET key = ?2, session = ?5, uri = ?6, project = ?7, title = ?8, agent = ?9,"
                " cursor = ?10, lines = ?11, updated_at = ?12",
                (
                    ids[-1],
                    *(getattr(row.source, name) for name in _SOURCE_FIELDS),
                    orjson.dumps(row.cursor).decode(),
                    orjson.dumps(row.lines).decode(),
                    self._now,
                ),
            )
        return ids

    def add_episodes(
        self, episodes: Sequence[tuple[int, Episode]], *, kept: Sequence[tuple[int, Millis]] = ()
    ) -> list[int]:
        if not episodes:
            return []
        given = kept or [(0, self._now)] * len(episodes)
        ids = _numbered(self._next_id("episode_data"), [pair[0] for pair in given])
        places = self._place_ids(episode for _, episode in episodes)
        self._db.executemany(
            f"INSERT INTO episode_data (id, source_id, kind, role, trust, learned_at, {_SAID})"
            f" VALUES (?,?,?,?,?,?{',?' * (_SAID.count(',') + 1)})",
            [
                (id_, source_id, new.kind, new.role, new.trust, at, *_said_by(new, places))
                for id_, (_, at), (source_id, new) in zip(ids, given, episodes, strict=True)
            ],
        )
        self._db.execute(
            "INSERT INTO episode_fts(rowid, text)"
            " SELECT id, text FROM episode_data WHERE id BETWEEN ? AND ?",
            (ids[0], ids[-1]),
        )
        self._db.executemany(
            "UPDATE source_row SET episode_count = episode_count + ?1,"
            " first_at = min(coalesce(first_at, ?2), coalesce(?2, first_at)),"
            " last_at = max(coalesce(last_at, ?3), coalesce(?3, last_at)) WHERE id = ?4",
            _spans_of(episodes),
        )
        return ids

    def rewrite_episodes(self, episodes: Mapping[int, Episode]) -> None:
        ids = list(episodes)
        self._unindex("episode", ids)
        self.drop_vectors("episode", ids)
        left = self._rows(
            f"SELECT DISTINCT place_id FROM episode_data WHERE id IN {IN}", (json_list(ids),)
        )
        places = self._place_ids(episodes.values())
        self._db.executemany(
            f"UPDATE episode_data SET {_SAID.replace(',', ' = ?,')} = ? WHERE id = ?",
            [(*_said_by(episode, places), id_) for id_, episode in episodes.items()],
        )
        self._index("episode", ids)
        self._db.executemany(
            "DELETE FROM place_row WHERE id = ?1"
            " AND NOT EXISTS (SELECT 1 FROM episode_data WHERE place_id = ?1)",
            left,
        )
        self._db.execute(
            "UPDATE source_row SET (episode_count, first_at, last_at) ="
            " (SELECT count(*), min(e.occurred_at), max(e.occurred_at) FROM episode_data e"
            "  WHERE e.source_id = source_row.id AND NOT EXISTS (SELECT 1 FROM erased_row x"
            "   WHERE x.target = 'episode' AND x.row_id = e.id))"
            f" WHERE id IN (SELECT source_id FROM episode_data WHERE id IN {IN})",
            (json_list(ids),),
        )

    def _place_ids(self, episodes: Iterable[Episode]) -> Mapping[Place, int]:
        """Return the ids of the places where episodes were said, inserting those that are new."""
        places = dict.fromkeys(map(_place_of, episodes), 0)
        for place in places:
            self._db.execute(
                f"INSERT INTO place_row ({_PLACE}) VALUES (?,?,?,?) ON CONFLICT DO NOTHING", place
            )
            sql = f"SELECT id FROM place_row WHERE ({_PLACE}) = (?,?,?,?)"
            places[place] = self._rows(sql, place)[0][0]
        return places

    def _unindex(self, target: str, ids: Sequence[int]) -> None:
        """Take rows out of the full-text index, which needs their texts for that."""
        self._db.executemany(
            f"INSERT INTO {target}_fts({target}_fts, rowid, {INDEXED[target]})"
            " VALUES ('delete', ?, ?)",
            self.texts(target, ids).items(),
        )

    def _index(self, target: str, ids: Sequence[int]) -> None:
        column = INDEXED[target]
        self._db.execute(
            f"INSERT INTO {target}_fts(rowid, {column}) SELECT id, {column} FROM {ROWS[target]}"
            f" WHERE id IN {IN}",
            (json_list(ids),),
        )

    def rewrite_history(self, details: Mapping[int, Mapping[str, object]], erasure_id: int) -> None:
        given = {id_: orjson.dumps(detail).decode() for id_, detail in details.items()}
        sql = f"SELECT id, length(detail) FROM event_row WHERE id IN {IN}"
        sizes = dict(self._rows(sql, (json_list(given),)))
        begun = self._rows("SELECT 1 FROM erasure_row WHERE id = ?", (erasure_id,))
        if not begun or any(len(detail) > sizes.get(id_, 0) for id_, detail in given.items()):
            raise UsageError(detail="the history is append-only; an erasure makes it shorter")
        # While this row is there its trigger lets text be taken out of it.
        self._db.execute("INSERT INTO meta VALUES ('erasing', '1')")
        self._db.executemany(
            "UPDATE event_row SET detail = ? WHERE id = ?",
            [(detail, id_) for id_, detail in given.items()],
        )
        self._db.execute("DELETE FROM meta WHERE name = 'erasing'")

    def add_facts(self, facts: Sequence[Life]) -> list[int]:
        if not facts:
            return []
        ids = _numbered(self._next_id("fact_row"), [fact.id for fact in facts])
        now = self._now
        # Rows at once: to take them one by one from an iterator makes the insert a tenth slower.
        rows = [(id_, *fact[1:-1], fact[-1] or now) for id_, fact in zip(ids, facts, strict=True)]
        self._db.executemany(_ADD_FACT, rows)
        self._db.execute(
            "INSERT INTO fact_fts(rowid, statement)"
            " SELECT id, statement FROM fact_row WHERE id BETWEEN ? AND ?",
            (ids[0], ids[-1]),
        )
        return ids

    def put_facts(self, changes: Sequence[tuple[Life, Life]]) -> None:
        # SQLite writes every index with a column that is named, changed or not.
        alike: dict[tuple[int, ...], list[Life]] = {}
        for before, after in changes:
            others = compress(_FIELDS, map(is_not, before, after))
            moved = tuple([n for n in others if before[n] != after[n]])
            if moved:
                alike.setdefault(moved, []).append(after)
        said = [life.id for moved, lives in alike.items() if _STATEMENT in moved for life in lives]
        self._unindex("fact", said)
        for moved, lives in alike.items():
            self._db.executemany(_put_fact(moved), list(map(itemgetter(*moved, 0), lives)))
        self._index("fact", said)

    def add_evidence(self, rows: Sequence[EvidenceRow]) -> int:
        now = self._now
        rules = self._rule_ids({(row.rule, row.method) for row in rows})
        values = [
            (fact, episode, rules[rule, method], stance, start, end, len(quote), at or now)
            for fact, episode, rule, method, stance, quote, start, end, at in rows
        ]
        before = self._db.total_changes()
        self._db.executemany("INSERT INTO evidence_row VALUES (?,?,?,?,?,?,?,?)", values)
        return self._db.total_changes() - before

    def _rule_ids(self, wanted: Collection[tuple[str, str]]) -> Mapping[tuple[str, str], int]:
        """Return the ids of (name, method) pairs, inserting those that are new."""
        if self._rules is None:
            self._rules = {(row[1], row[2]): row[0] for row in self._rows("SELECT * FROM rule_row")}
        for pair in sorted(set(wanted) - self._rules.keys()):
            self._rules[pair] = self._next_id("rule_row")
            self._db.execute("INSERT INTO rule_row VALUES (?,?,?)", (self._rules[pair], *pair))
        return self._rules

    def drop_evidence(self, pairs: Collection[tuple[int, int]]) -> int:
        before = self._db.total_changes()
        self._db.executemany("DELETE FROM evidence_row WHERE fact_id = ? AND episode_id = ?", pairs)
        return self._db.total_changes() - before


def _numbered(free: int, given: Sequence[int]) -> list[int]:
    """Return the ids of new rows: those that are given where they ascend, else the next ones."""
    if not any(given):  # nearly always
        return list(range(free, free + len(given)))
    ids = []
    for id_ in given:
        ids.append(max(id_, free))
        free = ids[-1] + 1
    return ids


@cache
def _put_fact(moved: tuple[int, ...]) -> str:
    parts = ", ".join(f"{Life._fields[n]} = ?" for n in moved)
    return f"UPDATE fact_row SET {parts} WHERE id = ?"


def _life_where(where: LifeWhere) -> tuple[str, list[Any]] | None:
    """Return the rows of facts (f) that are asked for, with bindings; None where none can be."""
    table, parts, bindings = "fact_row f", ["1"], list[Any]()
    if where.claims is not None:
        # The few claims lead: what is current is found by its own index, what is retired too.
        table = "json_each(?) j CROSS JOIN fact_row f"
        parts.append("f.claim = unhex(j.value)")
        bindings.append(json_list([claim.hex() for claim in where.claims]))
    if where.current is not None:
        parts.append(f"f.retired_at IS {'' if where.current else 'NOT '}NULL")
    if where.owner is not EVERYONE:
        parts.append("f.owner = ?")
        bindings.append(where.owner)
    if where.under:
        parts.append(_UNDER)
        bindings += [where.under] * 4
    for column, values in (
        ("id", where.ids),
        ("predicate", where.predicates),
        ("merged_into_id", where.merged_into),
        ("superseded_by", where.superseded_by),
    ):
        if values is not None:
            parts.append(f"f.{column} = ?" if len(values) == 1 else f"f.{column} IN {IN}")
            bindings.append(next(iter(values)) if len(values) == 1 else json_list(values))
    if where.subjects is not None:
        parts.append(f"f.subject IN {IN} AND {SUBJECT_ENDS} IN {_ENDS_IN}")
        bindings += [json_list(where.subjects)] * 2
    if where.kinds is not None:
        # By name: only so does SQLite use the indexes that hold one kind alone.
        kinds = [repr(kind.value) for kind in where.kinds]
        # A graph has many names and each few facts: those of a name are found by that (`+`).
        column = "+f.kind" if where.subjects and kinds == [_GRAPH] else "f.kind"
        parts.append(
            f"{column} = {kinds[0]}" if len(kinds) == 1 else f"f.kind IN ({', '.join(kinds)})"
        )
        if FactKind.OBSERVATION not in where.kinds:
            parts.append(NO_OBSERVATION)
    asked = (where.claims, where.ids, where.subjects, where.predicates, where.kinds)
    more = (where.merged_into, where.superseded_by)
    if any(values is not None and not values for values in (*asked, *more)):
        return None
    return f"{table} WHERE {' AND '.join(parts)}", bindings


# What an episode says, as `_said_by` gives it; the rest of a row stays as it is.
_SAID: Final = (
    "uid, owner, position, byte_offset, occurred_at, subject, message, place_id, tool, call_id,"
    " attributes, is_error, cut, injected, vector_state, speaker, chars, asks, text"
)


def _place_of(episode: Episode) -> Place:
    return episode.session, episode.project, episode.branch, episode.agent


def _said_by(episode: Episode, places: Mapping[Place, int]) -> tuple[Any, ...]:
    return (
        episode.uid,
        episode.owner,
        episode.position,
        episode.offset,
        episode.occurred_at,
        episode.subject,
        episode.group,
        places[_place_of(episode)],
        episode.tool,
        episode.call_id,
        # Hardly any has some: to write them out each time would take as long as all the rest.
        orjson.dumps(with_spans(episode)).decode()
        if episode.attributes or episode.pasted or episode.overheard
        else "{}",
        episode.is_error,
        episode.cut,
        episode.injected,
        1 if episode.embed and not episode.injected else 0,
        episode.speaker,
        len(episode.text),
        asks(episode.text),
        episode.text,
    )


def _spans_of(
    episodes: Sequence[tuple[int, Episode]],
) -> list[tuple[int, Millis | None, Millis | None, int]]:
    """Return (count, first date, last date, source id) of the episodes of each source."""
    times: dict[int, list[Millis | None]] = {}
    for source_id, episode in episodes:
        times.setdefault(source_id, []).append(episode.occurred_at)
    spans = []
    for source_id, some in times.items():
        known = [at for at in some if at is not None]
        spans.append((len(some), min(known, default=None), max(known, default=None), source_id))
    return spans
