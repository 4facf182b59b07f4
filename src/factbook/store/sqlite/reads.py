"""The reads of a SQLite file: of a store, of a snapshot of it, and inside a write."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from factbook.model.facts import EVERYONE
from factbook.store.base import EpisodeRow, Filters, Vectors
from factbook.store.sqlite.ledger import LedgerReads
from factbook.store.sqlite.living import LivingReads
from factbook.store.sqlite.modelled import ModelReads
from factbook.store.sqlite.records import RecordReads
from factbook.store.sqlite.rows import VECTOR_TABLES, episode_where, fact_where, json_list
from factbook.store.sqlite.world import WorldReads

# Not "ORDER BY rank": FTS5 then sorts every row that matches, with all its positions, which takes
# nearly twice as long as the scores themselves.
_BEST = {
    target: f"SELECT rowid, -bm25({target}_fts) AS score FROM {target}_fts"
    f" WHERE {target}_fts MATCH ? ORDER BY score DESC, rowid LIMIT ?"
    for target in ("episode", "fact")
}


class SQLiteReads(RecordReads, LedgerReads, LivingReads, ModelReads, WorldReads):
    """What may be asked of a ledger in a SQLite file."""

    def generation(self) -> int:
        """Return the number of committed writes."""
        return int(self._meta("generation") or 0)

    def memory_generation(self) -> int:
        """Return a number that moves with every write that may change what is remembered."""
        return int(self._meta("memory_generation") or 0)

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
        name, dim = self._meta("embedder"), self._meta("embedder_dim")
        return (name, int(dim)) if name and dim else None
