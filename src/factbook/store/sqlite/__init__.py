"""Keep a tenant's ledger in one SQLite file.

WAL, `synchronous=FULL`, `BEGIN IMMEDIATE` and a busy timeout: an acknowledged write is on the disk,
and many processes may read and write the same file. Facts, evidence, full text, vectors, queue and
history are tables of that one file, so they commit together.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import apsw
import orjson

from factbook.errors import StoreCorrupt
from factbook.model.facts import (
    EVERYONE,
    Event,
    Everyone,
    Evidence,
    Fact,
    Millis,
    Rejection,
    SourceState,
    SQLValue,
    Stance,
    StoredEpisode,
    Trigger,
)
from factbook.store.base import (
    EpisodeRow,
    Filters,
    Mode,
    Problem,
    ReaderUse,
    RejectionFilters,
    Screen,
    Vectors,
    screening,
    unscreened,
)
from factbook.store.sqlite.audit import audit
from factbook.store.sqlite.file import CopyInMemory, LedgerFile, translated
from factbook.store.sqlite.living import LivingReads
from factbook.store.sqlite.modelled import ModelReads
from factbook.store.sqlite.plain import select
from factbook.store.sqlite.records import RecordReads
from factbook.store.sqlite.rows import (
    EPISODE,
    EXPORTS,
    FACT,
    VECTOR_TABLES,
    as_episode,
    as_fact,
    episode_where,
    fact_where,
    json_list,
    source_states,
)
from factbook.store.sqlite.secure_delete import EraseReads
from factbook.store.sqlite.world import WorldReads
from factbook.store.sqlite.writer import SQLiteWriter

__all__ = ["SQLiteStore"]


# Not "ORDER BY rank": FTS5 then sorts every row that matches, with all its positions, which takes
# nearly twice as long as the scores themselves.
_BEST = {
    target: f"SELECT rowid, -bm25({target}_fts) AS score FROM {target}_fts"
    f" WHERE {target}_fts MATCH ? ORDER BY score DESC, rowid LIMIT ?"
    for target in ("episode", "fact")
}

_JSON_COLUMNS = {
    "source": ("lines",),
    "episode": ("attributes",),
    "event": ("detail",),
    "rejection": ("validation",),
}


@screening()
class SQLiteStore(RecordReads, LivingReads, ModelReads, WorldReads, EraseReads):
    """A `Store` in one SQLite file; thread-safe, with one connection per thread."""

    def __init__(
        self,
        path: Path,
        *,
        mode: Mode = "create",
        screen: Screen = unscreened,
        readers: Callable[[], Mapping[str, str]] = dict,
        opened: LedgerFile | None = None,
    ) -> None:
        """Open the file, making it where the mode allows, or take one that is open.

        `screen` is what every Op goes through before it is written, and every name that stored
        rows are compared with. `readers` says with what texts are read, as it is remembered.

        Raises StoreMissing, NotAStore, StoreTooNew, StoreTooOld, StoreLocked, StoreReadOnly or
        StoreCorrupt.
        """
        self.path = path
        self.screen = screen
        self.readers = readers
        self._file = opened or LedgerFile(path, mode=mode)
        self._scours = threading.local()
        with translated(path):
            self._tenant = self._meta("tenant") or ""

    @property
    def tenant(self) -> str:
        """The tenant's UUID, kept in the file."""
        return self._tenant

    def close(self) -> None:
        """Close every thread's connection."""
        self._file.close()

    def reopen(self) -> Path | None:
        """Save what only this process holds and open what stands at the path now.

        For after StoreReplaced. Returns the copy that had to be made for it beside the file, or
        None. No other call may be under way.
        """
        saved = self._file.reopen()
        with translated(self.path):
            self._tenant = self._meta("tenant") or ""
        return saved

    def close_thread(self) -> None:
        """Close the calling thread's connection, where a thread ends before the store does."""
        self._file.close_thread()

    def _meta(self, name: str) -> str | None:
        row = self._file.connection.execute("SELECT value FROM meta WHERE name = ?", (name,))
        found = row.fetchall()
        return str(found[0][0]) if found else None

    @contextmanager
    def rehearsal(self) -> Iterator[SQLiteStore]:
        """Give a store that begins as this one is now, and whose writes nobody else ever sees.

        It is in memory: a kill leaves nothing of it on the disk. It is for the calling thread.
        """
        with translated(self.path):
            copy = SQLiteStore(self.path, screen=self.screen, opened=CopyInMemory(self._file))
        try:
            yield copy
        finally:
            copy.close()

    # --- writing --------------------------------------------------------------------------------

    @contextmanager
    def writing(self, *, trigger: Trigger, actor: str, now: Millis) -> Iterator[SQLiteWriter]:
        """Open one write transaction; it commits at the end of the block, or rolls back whole."""
        with self._file.transaction() as connection:
            writer = SQLiteWriter(
                connection, self.path, self.embedder, trigger=trigger, actor=actor, now=now
            )
            yield writer
            connection.execute("UPDATE meta SET value = value + 1 WHERE name = 'generation'")
            if writer.moves_memory:
                connection.execute(
                    "INSERT INTO meta VALUES ('memory_generation', '1')"
                    " ON CONFLICT (name) DO UPDATE SET value = value + 1"
                )
        if writer.erasures:
            with translated(self.path):
                self._after_erasing(
                    writer.erasures, writer.wiped or (), writer.taken or (), writer.near
                )

    @property
    def _connection(self) -> apsw.Connection:
        return self._file.connection

    @property
    def _may_write(self) -> bool:
        return self._file.mode != "read"

    def _alone(self) -> AbstractContextManager[None]:
        return self._file.alone()

    @contextmanager
    def _locked(self) -> Iterator[apsw.Connection]:
        """Write what is not memory (leases): one transaction that moves no generation."""
        with self._file.transaction() as connection:
            yield connection

    # --- reading --------------------------------------------------------------------------------

    @contextmanager
    def snapshot(self) -> Iterator[int]:
        """Let all that the calling thread reads in the block be of one moment; give its generation.

        Within another snapshot of the thread, or within its write, the moment is that one's.
        """
        connection = self._file.connection
        outermost = connection.get_autocommit()
        if outermost:
            connection.execute("BEGIN")
        try:
            yield self.generation()  # the first read is what fixes the moment
        finally:
            if outermost and not connection.get_autocommit():  # an I/O error may have ended it
                connection.execute("ROLLBACK")

    def _rows(self, sql: str, bindings: Sequence[Any] | Mapping[str, Any] = ()) -> list[Any]:
        with translated(self.path):
            return self._file.connection.execute(sql, bindings).fetchall()

    def _each(self, sql: str, bindings: Sequence[Any], limit: int | None) -> Iterator[Any]:
        """Iterate over rows, without keeping the thread at this moment until the last is taken.

        A statement that is half read would hide what others write, and refuse what the thread does.
        """
        if limit is not None or not self._connection.get_autocommit():
            yield from self._rows(sql, (*bindings, -1 if limit is None else limit))
            return
        with translated(self.path), self._file.reading_apart() as connection:
            yield from connection.execute(sql, (*bindings, -1))

    def generation(self) -> int:
        """Return the number of committed writes."""
        with translated(self.path):
            return int(self._meta("generation") or 0)

    def memory_generation(self) -> int:
        """Return a number that moves with every write that may change what is remembered."""
        with translated(self.path):
            return int(self._meta("memory_generation") or 0)

    def source_states(
        self, *, keys: Sequence[str] | None = None, owner: str | Everyone = EVERYONE
    ) -> dict[str, SourceState]:
        """Return sources by key; all of them without `keys`, and with an owner those of theirs."""
        with translated(self.path):
            return source_states(self._file.connection, keys, owner)

    def has_others(self, owner: str) -> bool:
        """Tell whether anything in the ledger is of somebody else than this owner."""
        found = self._rows(
            "SELECT EXISTS (SELECT 1 FROM episode_row WHERE owner <> ?1)"
            " OR EXISTS (SELECT 1 FROM fact_row WHERE owner <> ?1)",
            (owner,),
        )
        return bool(found[0][0])

    def fact(self, fact_id: int) -> Fact | None:
        """Return one fact in whatever state it is."""
        return self.facts_by_id([fact_id]).get(fact_id)

    def facts_by_id(self, ids: Sequence[int]) -> dict[int, Fact]:
        """Return facts by id."""
        rows = self._rows(
            f"{FACT} WHERE f.id IN (SELECT value FROM json_each(?))", (json_list(ids),)
        )
        return {row[0]: as_fact(row) for row in rows}

    def facts(
        self, filters: Filters, *, limit: int | None, newest_first: bool = False
    ) -> Iterator[Fact]:
        """Iterate over current facts that pass the filters."""
        where, bindings = fact_where(filters)
        order = "f.occurred_at DESC, f.id DESC" if newest_first else "f.id"
        sql = f"{FACT} WHERE {where} ORDER BY {order} LIMIT ?"
        for row in self._each(sql, bindings, limit):
            yield as_fact(row)

    def evidence_of(
        self, fact_ids: Sequence[int], *, limit: int | None = None
    ) -> dict[int, list[Evidence]]:
        """Return the evidence of facts, oldest first, at most `limit` of each."""
        found: dict[int, list[Evidence]] = {one: [] for one in fact_ids}
        sql = """
            SELECT v.fact_id, v.episode_id, r.name, r.method, v.stance, v.quote, v.start_char,
                   v.end_char, e.occurred_at, s.uri, e.position, e.byte_offset
            FROM evidence_row v
            JOIN episode_row e ON e.id = v.episode_id
            JOIN source_row s ON s.id = e.source_id
            JOIN rule_row r ON r.id = v.rule_id
            WHERE v.fact_id = ? ORDER BY v.episode_id LIMIT ?"""
        for one in fact_ids:
            for row in self._rows(sql, (one, -1 if limit is None else limit)):
                found[one].append(
                    Evidence(
                        fact_id=row[0],
                        episode_id=row[1],
                        rule=row[2],
                        method=row[3],
                        stance=Stance(row[4]),
                        quote=row[5],
                        start=row[6],
                        end=row[7],
                        occurred_at=row[8],
                        source=row[9],
                        position=row[10],
                        offset=row[11],
                    )
                )
        return found

    def events_of(self, target_kind: str, target_id: int) -> list[Event]:
        """Return the history of one row, oldest first."""
        rows = self._rows(
            "SELECT id, at, actor, trigger, op, target_kind || ':' || target_id, detail"
            " FROM event_row WHERE target_kind = ? AND target_id = ? ORDER BY id",
            (target_kind, target_id),
        )
        return [
            Event(
                id=row[0],
                at=row[1],
                actor=row[2],
                trigger=Trigger(row[3]),
                op=row[4],
                target=row[5],
                detail=orjson.loads(row[6]),
            )
            for row in rows
        ]

    def episodes_by_id(self, ids: Sequence[int]) -> dict[int, StoredEpisode]:
        """Return episodes by id."""
        rows = self._rows(
            f"{EPISODE} WHERE e.id IN (SELECT value FROM json_each(?))", (json_list(ids),)
        )
        return {row[0]: as_episode(row) for row in rows}

    def episodes(
        self, filters: Filters, *, limit: int | None, newest_first: bool = False
    ) -> Iterator[StoredEpisode]:
        """Iterate over episodes that pass the filters."""
        where, bindings = episode_where(filters)
        order = "e.occurred_at DESC, e.id DESC" if newest_first else "e.id"
        sql = f"{EPISODE} WHERE {where} ORDER BY {order} LIMIT ?"
        for row in self._each(sql, bindings, limit):
            yield as_episode(row)

    def search_episodes(
        self, match: str, filters: Filters, *, limit: int
    ) -> list[tuple[int, float]]:
        """Return (episode id, BM25 score) for an FTS5 expression, best first."""
        if not filters.narrows_episodes:
            return self._rows(_BEST["episode"], (match, limit))
        where, bindings = episode_where(filters)
        rows = "episode_row e JOIN source_row s ON s.id = e.source_id"
        wide = not replace(filters, owner=EVERYONE).narrows_episodes
        return self._search("episode", match, f"{rows} WHERE {where}", bindings, limit, wide=wide)

    def search_facts(self, match: str, filters: Filters, *, limit: int) -> list[tuple[int, float]]:
        """Return (fact id, BM25 score) of current facts for an FTS5 expression, best first."""
        where, bindings = fact_where(filters)
        rows = (
            "fact_row f JOIN episode_row e ON e.id = f.episode_id"
            " JOIN source_row s ON s.id = e.source_id"
        )
        wide = not replace(filters, owner=EVERYONE).narrows_facts
        return self._search("fact", match, f"{rows} WHERE {where}", bindings, limit, wide=wide)

    def _search(
        self,
        target: str,
        match: str,
        passing: str,
        bindings: Sequence[Any],
        limit: int,
        *,
        wide: bool,
    ) -> list[tuple[int, float]]:
        """Return the best rows of a full-text search that pass a filter.

        A filter that most rows pass (`wide`) is asked about twice as many rows as are wanted, and
        about all that match only where these do not do.
        """
        id_column = f"{target[0]}.id"
        if wide:
            found: list[tuple[int, float]] = self._rows(_BEST[target], (match, 2 * limit))
            asked = json_list(one for one, _ in found)
            kept = self._rows(
                f"SELECT {id_column} FROM {passing}"
                f" AND {id_column} IN (SELECT value FROM json_each(?))",
                (*bindings, asked),
            )
            good = {row[0] for row in kept}
            if len(good) >= limit or len(found) < 2 * limit:
                return [(one, score) for one, score in found if one in good][:limit]
        return self._rows(
            f"SELECT {id_column}, -bm25({target}_fts) AS score FROM {target}_fts"
            f" CROSS JOIN {passing} AND {id_column} = {target}_fts.rowid"
            f" AND {target}_fts MATCH ? ORDER BY score DESC, {id_column} LIMIT ?",
            (*bindings, match, limit),
        )

    def waiting(self, target: str, *, limit: int, after: int = 0) -> list[tuple[int, str]]:
        """Return (id, text) of rows that wait for a vector, by id."""
        sql = {
            "episode": "SELECT id, text FROM episode_row WHERE vector_state = 1 AND id > ?"
            " ORDER BY id LIMIT ?",
            "fact": "SELECT id, statement FROM fact_row WHERE status = 'pending_embed' AND id > ?"
            " ORDER BY id LIMIT ?",
            "entity": "SELECT id, name FROM entity_row WHERE vector_state = 1 AND id > ?"
            " ORDER BY id LIMIT ?",
            "preference": "SELECT id, topic FROM preference_row WHERE vector_state = 1 AND id > ?"
            " ORDER BY id LIMIT ?",
        }[target]
        return [(row[0], row[1]) for row in self._rows(sql, (after, limit))]

    def ids(
        self, target: str, filters: Filters, *, among: Sequence[int] | None = None
    ) -> list[int]:
        """Return the ids of the episodes or current facts that pass the filters, ascending.

        With `among`, only of these.
        """
        if target == "episode":
            where, bindings = episode_where(filters)
            sql = "SELECT e.id FROM episode_row e JOIN source_row s ON s.id = e.source_id"
        else:
            where, bindings = fact_where(filters)
            sql = (
                "SELECT f.id FROM fact_row f JOIN episode_row e ON e.id = f.episode_id"
                " JOIN source_row s ON s.id = e.source_id"
            )
        if among is not None:
            where += f" AND {target[0]}.id IN (SELECT value FROM json_each(?))"
            bindings.append(json_list(among))
        rows = self._rows(f"{sql} WHERE {where} ORDER BY {target[0]}.id", bindings)
        return [row[0] for row in rows]

    def vectors(self, target: str, *, after: int = 0) -> Vectors:
        """Return the vectors that were written after a sequence number."""
        table, column = VECTOR_TABLES[target]
        rows = self._rows(
            f"SELECT seq, {column}, vector FROM {table} WHERE seq > ? ORDER BY seq", (after,)
        )
        found = self.embedder()
        return Vectors(
            ids=[row[1] for row in rows],
            rows=b"".join(row[2] for row in rows),
            last=rows[-1][0] if rows else after,
            dim=found[1] if found else 0,
        )

    def sequence(self, *, after: int = 0) -> list[EpisodeRow]:
        """Return the episodes with a larger id without their texts, by id."""
        rows = self._rows(
            "SELECT id, source_id, occurred_at, chars, asks, speaker, owner FROM episode_row"
            " WHERE id > ? ORDER BY id",
            (after,),
        )
        return [EpisodeRow(*row) for row in rows]

    def embedder(self) -> tuple[str, int] | None:
        """Return the id and dimension of the model whose vectors the store holds."""
        with translated(self.path):
            name, dim = self._meta("embedder"), self._meta("embedder_dim")
        return (name, int(dim)) if name and dim else None

    def readers_used(self) -> list[ReaderUse]:
        """Return with what sources were read, by part and version; the newest use first."""
        rows = self._rows(
            "SELECT part, version, count(*), min(first_at), max(last_at) FROM reader_row r"
            " WHERE NOT EXISTS (SELECT 1 FROM erased_row x WHERE x.target = 'source'"
            "  AND x.row_id = r.source_id) GROUP BY part, version ORDER BY part, 5 DESC"
        )
        return [ReaderUse._make(row) for row in rows]

    def rule_counts(self) -> dict[str, int]:
        """Return how many evidence rows each rule has made, by its name."""
        return dict(
            self._rows(
                "SELECT r.name, count(*) FROM evidence_row v JOIN rule_row r ON r.id = v.rule_id"
                " GROUP BY r.name ORDER BY r.name"
            )
        )

    def counts(self) -> dict[str, int]:
        """Return the number of rows by kind, counted now."""
        row = self._rows(
            """SELECT (SELECT count(*) FROM source_row)
                        - (SELECT count(*) FROM erased_row WHERE target = 'source'),
                      (SELECT count(*) FROM episode_row)
                        - (SELECT count(*) FROM erased_row WHERE target = 'episode'),
                      (SELECT count(*) FROM fact_row WHERE retired_at IS NULL),
                      (SELECT count(*) FROM evidence_row), (SELECT count(*) FROM event_row),
                      (SELECT count(*) FROM rejection_row),
                      (SELECT count(*) FROM episode_row WHERE vector_state = 1),
                      (SELECT count(*) FROM fact_row WHERE status = 'pending_embed'),
                      (SELECT count(*) FROM episode_vector), (SELECT count(*) FROM fact_vector)"""
        )[0]
        names = (
            "sources",
            "episodes",
            "facts",
            "evidence",
            "events",
            "rejections",
            "episodes_waiting",
            "facts_waiting",
            "episode_vectors",
            "fact_vectors",
        )
        return dict(zip(names, row, strict=True))

    def counts_waiting(self) -> int:
        """Return how many rows wait for a vector."""
        rows = self._rows(
            "SELECT (SELECT count(*) FROM episode_row WHERE vector_state = 1)"
            " + (SELECT count(*) FROM fact_row WHERE status = 'pending_embed')"
            " + (SELECT count(*) FROM entity_row WHERE vector_state = 1)"
            " + (SELECT count(*) FROM preference_row WHERE vector_state = 1)"
        )
        return int(rows[0][0])

    def predicate_counts(self) -> list[tuple[str, float, int, int]]:
        """Return (predicate, confidence, facts, distinct objects), most frequent first."""
        return self._rows(
            "SELECT predicate, max(confidence), count(*), count(DISTINCT object) FROM fact_row"
            " WHERE retired_at IS NULL GROUP BY predicate ORDER BY count(*) DESC, predicate"
        )

    def rule_objects(self, rule: str) -> tuple[list[tuple[str, int]], int]:
        """Return (object, facts) of a rule's facts, and how many of its candidates were refused."""
        objects = self._rows(
            "SELECT f.object, count(DISTINCT f.id) FROM evidence_row v"
            " JOIN rule_row r ON r.id = v.rule_id JOIN fact_row f ON f.id = v.fact_id"
            " WHERE r.name = ? AND f.retired_at IS NULL GROUP BY f.object ORDER BY 2 DESC, 1",
            (rule,),
        )
        refused = self._rows("SELECT count(*) FROM rejection_row WHERE rule = ?", (rule,))
        return objects, refused[0][0]

    def export(self) -> Iterator[dict[str, object]]:
        """Iterate over everything as plain records, each with its "record" kind."""
        # Of one moment, however long its reader takes, and whatever that writes meanwhile.
        with translated(self.path), self._file.reading_apart() as connection:
            for record, sql in EXPORTS:
                cursor = connection.execute(sql)
                for row in cursor:
                    names = [part[0] for part in cursor.getdescription()]
                    values = dict(zip(names, row, strict=True))
                    for name in _JSON_COLUMNS.get(record, ()):
                        values[name] = orjson.loads(values[name])
                    yield {"record": record, **values}

    def rejections(self, *, limit: int, filters: RejectionFilters | None = None) -> list[Rejection]:
        """Return the newest rejections that pass the filters."""
        where, bindings = _rejection_where(filters or RejectionFilters())
        rows = self._rows(
            "SELECT r.id, r.at, s.uri, r.position, r.reason, r.detail, r.excerpt, r.rule,"
            " r.predicate, r.owner, r.type, r.confidence, r.threshold, r.validation"
            " FROM rejection_row r JOIN source_row s ON s.id = r.source_id"
            f" {where} ORDER BY r.id DESC LIMIT ?",
            (*bindings, limit),
        )
        return [
            Rejection(
                id=row[0],
                at=row[1],
                source=row[2],
                position=row[3],
                reason=row[4],
                detail=row[5],
                excerpt=row[6],
                rule=row[7],
                predicate=row[8],
                owner=row[9],
                type=row[10],
                confidence=row[11],
                threshold=row[12],
                validation=orjson.loads(row[13]),
            )
            for row in rows
        ]

    def sql(
        self,
        text: str,
        params: Sequence[SQLValue] | Mapping[str, SQLValue] = (),
        *,
        limit: int | None,
        seconds: float,
    ) -> list[dict[str, SQLValue]]:
        """Return the rows of one statement in plain SQL; raises UsageError for one that is wrong.

        No verb of the port: other stores speak another SQL.
        """
        self._file.check_same()
        with translated(self.path), closing(self._file.open_to_read()) as connection:
            return select(connection, text, params, limit=limit, seconds=seconds)

    def check(self) -> list[Problem]:
        """Audit the file; an empty list is clean."""
        try:
            with translated(self.path):
                return audit(self._file.connection, writable=self._file.mode != "read")
        except StoreCorrupt as error:
            return [Problem(what="file", detail=str(error))]


def _rejection_where(filters: RejectionFilters) -> tuple[str, list[Any]]:
    parts: list[str] = []
    bindings: list[Any] = []
    equal = {"reason": filters.reason, "type": filters.type, "rule": filters.rule}
    for column, value in equal.items():
        if value:
            parts.append(f"r.{column} = ?")
            bindings.append(value)
    if filters.owner is not EVERYONE:
        # A line that could not be read is of whom the rest of its file is about.
        parts.append(
            "(r.owner = ? OR (r.owner = '' AND NOT EXISTS (SELECT 1 FROM episode_row e"
            " WHERE e.source_id = r.source_id AND e.owner <> ?)))"
        )
        bindings += [filters.owner, filters.owner]
    if filters.since is not None:
        parts.append("r.at >= ?")
        bindings.append(filters.since)
    if filters.until is not None:
        parts.append("r.at < ?")
        bindings.append(filters.until)
    if filters.typed_only:
        parts.append("r.type <> ''")
    return f"WHERE {' AND '.join(parts)}" if parts else "", bindings
