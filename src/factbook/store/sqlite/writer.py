"""The verbs of one open write transaction on a SQLite file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import apsw
import orjson

from factbook.errors import EmbedderMismatch
from factbook.model.facts import (
    Episode,
    Everyone,
    Millis,
    Trigger,
)
from factbook.model.text import asks
from factbook.store.sqlite.erasing import EraseVerbs
from factbook.store.sqlite.ledger import LedgerWrites
from factbook.store.sqlite.living import LivingVerbs
from factbook.store.sqlite.reads import SQLiteReads
from factbook.store.sqlite.records import RecordWrites
from factbook.store.sqlite.rows import (
    VECTOR_TABLES,
    end_claims,
    json_list,
    with_pasted,
)
from factbook.store.sqlite.world import WorldVerbs


class SQLiteWriter(SQLiteReads, LedgerWrites, LivingVerbs, WorldVerbs, EraseVerbs, RecordWrites):
    """The verbs of one open write transaction on a SQLite file; its reads are of that moment."""

    def __init__(
        self,
        connection: apsw.Connection,
        path: Path,
        *,
        trigger: Trigger,
        actor: str,
        now: Millis,
    ) -> None:
        self._db = connection
        self.path = path
        self._trigger = trigger
        self._actor = actor
        self._now = now
        self.commit_no = self.head().commit + 1  # nobody else can take it: the lock is held

    def _rows(self, sql: str, bindings: Sequence[Any] | Mapping[str, Any] = ()) -> list[Any]:
        return self._db.execute(sql, bindings).fetchall()

    def commit(self) -> None:
        """Write down the number of this write, and whose memory it may change."""
        no = self.commit_no
        touched = () if isinstance(self.touches, Everyone) else self.touches
        names = ["commit"]
        if self.touches:
            names += ["memory"] if touched else ["memory", "everyone"]
        self._db.executemany(
            "UPDATE meta SET value = ? WHERE name = ?", [(str(no), one) for one in names]
        )
        self._db.execute(
            "INSERT INTO commit_row SELECT ?, coalesce((SELECT max(id) FROM episode_row), 0),"
            " coalesce((SELECT max(id) FROM fact_row), 0)",
            (no,),
        )
        self._db.executemany(
            "INSERT INTO owner_row VALUES (?1, ?2) ON CONFLICT DO UPDATE SET memory = ?2",
            [(one, no) for one in touched],
        )

    def add_episodes(self, episodes: Sequence[tuple[int, Episode]]) -> list[int]:
        """Insert (source id, episode) pairs, none of them known, index them, return their ids."""
        if not episodes:
            return []
        first = self._next_id("episode_row")
        now = self._now
        self._db.executemany(
            "INSERT INTO episode_row VALUES"
            " (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
            [
                (
                    first + n,
                    one.uid,
                    source_id,
                    one.owner,
                    one.kind,
                    one.role,
                    one.trust,
                    one.position,
                    one.offset,
                    one.occurred_at,
                    one.subject,
                    one.group,
                    one.session,
                    one.project,
                    one.branch,
                    one.agent,
                    one.tool,
                    one.call_id,
                    orjson.dumps(with_pasted(one)).decode(),
                    one.is_error,
                    one.cut,
                    one.injected,
                    1 if one.embed and not one.injected else 0,
                    now,
                    one.speaker,
                    len(one.text),
                    asks(one.text),
                    one.text,
                )
                for n, (source_id, one) in enumerate(episodes)
            ],
        )
        last = first + len(episodes) - 1
        self._db.execute(
            "INSERT INTO episode_fts(rowid, text)"
            " SELECT id, text FROM episode_row WHERE id BETWEEN ? AND ?",
            (first, last),
        )
        self._db.executemany(
            "UPDATE source_row SET episode_count = episode_count + ?1,"
            " first_at = min(coalesce(first_at, ?2), coalesce(?2, first_at)),"
            " last_at = max(coalesce(last_at, ?3), coalesce(?3, last_at)) WHERE id = ?4",
            _spans_of(episodes),
        )
        return list(range(first, last + 1))

    def set_vectors(
        self, target: str, ids: Sequence[int], vectors: bytes, *, model: str, dim: int
    ) -> list[int]:
        """Keep one vector per id and mark the rows; return the ids that were still waiting.

        Raises EmbedderMismatch where the file holds vectors of another model.
        """
        self._claim_embedder(model, dim)
        table, column = VECTOR_TABLES[target]
        if target != "fact":
            wanted = f"SELECT id FROM {target}_row WHERE vector_state = 1"
            mark = f"UPDATE {target}_row SET vector_state = 2 WHERE id = ?"
        else:
            wanted = "SELECT id FROM fact_row WHERE status = 'pending_embed'"
            mark = "UPDATE fact_row SET status = 'active' WHERE id = ?"
        waiting = {
            row[0]
            for row in self._db.execute(
                f"{wanted} AND id IN (SELECT value FROM json_each(?))", (json_list(ids),)
            )
        }
        width = 2 * dim
        rows = [
            (one, vectors[n * width : (n + 1) * width])
            for n, one in enumerate(ids)
            if one in waiting
        ]
        self._db.executemany(
            f"INSERT INTO {table} ({column}, commit_no, vector) VALUES (?,?,?)",
            [(one, self.commit_no, vector) for one, vector in rows],
        )
        self._db.executemany(mark, [(one,) for one, _ in rows])
        self._db.execute(
            "DELETE FROM embed_task WHERE target = ?"
            " AND row_id IN (SELECT value FROM json_each(?))",
            (target, json_list(one for one, _ in rows)),
        )
        end_claims(self._db)
        return [one for one, _ in rows]

    def _claim_embedder(self, model: str, dim: int) -> None:
        found = self.embedder()
        if found is None:
            self._db.execute(
                "INSERT INTO meta VALUES ('embedder', ?), ('embedder_dim', ?)", (model, str(dim))
            )
        elif found != (model, dim):
            raise EmbedderMismatch(path=self.path, found=found[0], given=model)


def _spans_of(
    episodes: Sequence[tuple[int, Episode]],
) -> list[tuple[int, Millis | None, Millis | None, int]]:
    """Return (count, first date, last date, source id) of the episodes of each source."""
    times: dict[int, list[Millis]] = {}
    counts: dict[int, int] = {}
    for source_id, episode in episodes:
        counts[source_id] = counts.get(source_id, 0) + 1
        if episode.occurred_at is not None:
            times.setdefault(source_id, []).append(episode.occurred_at)
    return [
        (
            count,
            min(times.get(source_id, ()), default=None),
            max(times.get(source_id, ()), default=None),
            source_id,
        )
        for source_id, count in counts.items()
    ]
