"""The verbs and reads for what lives: facts that change, pairs, runs, leases, proposals."""

from __future__ import annotations

from collections.abc import (
    Collection,
    Iterable,
    Sequence,
)
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import apsw

from factbook import policy
from factbook.errors import EmbedderMismatch, UsageError
from factbook.model.facts import (
    EVERYONE,
    Everyone,
    Millis,
    StoredEpisode,
)
from factbook.store.base import Claimed
from factbook.store.leases import stands
from factbook.store.sqlite.rows import (
    DUE,
    EMBEDDING,
    VALUE_NOW,
    VECTOR_TABLES,
    Rows,
    end_claims,
    hold,
    json_list,
)

_IN = "(SELECT value FROM json_each(?))"
# What waits for a vector, with its text: (rows, text column).
_CLAIMS = f"SELECT token, holder, until FROM lease_row WHERE name GLOB '{EMBEDDING}*'"
_WAITING = {
    "episode": ("episode_row w", "w.text", "w.vector_state = 1"),
    "fact": ("fact_row w", "w.statement", "w.status = 'pending_embed'"),
    "entity": ("entity_row w", "w.name", "w.vector_state = 1"),
    "preference": ("preference_row w", "w.topic", "w.vector_state = 1"),
}


class LivingVerbs(Rows):
    """The part of the writer that changes what is there."""

    _db: apsw.Connection
    path: Path
    _actor: str
    _now: Millis
    touches: Collection[str] | Everyone = EVERYONE
    commit_no: int

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
        found = self._meta("embedder")
        if found is None:
            self._db.execute(
                "INSERT INTO meta VALUES ('embedder', ?), ('embedder_dim', ?)", (model, str(dim))
            )
        elif (found, self._meta("embedder_dim")) != (model, str(dim)):
            raise EmbedderMismatch(path=self.path, found=found, given=model)

    def drop_vectors(self, target: str, ids: Sequence[int]) -> None:
        """Remove the vectors of rows that recall no longer needs."""
        table, column = VECTOR_TABLES[target]
        wanted = (json_list(ids),)
        self._db.execute(
            f"INSERT OR IGNORE INTO vector_gone SELECT '{target}', ?, {column} FROM {table}"
            f" WHERE {column} IN {_IN}",
            (self.commit_no, *wanted),
        )
        self._db.execute(f"DELETE FROM {table} WHERE {column} IN {_IN}", wanted)
        self._db.execute(
            f"DELETE FROM next_vector WHERE target = '{target}' AND row_id IN {_IN}", wanted
        )
        self._db.execute(
            f"DELETE FROM embed_task WHERE target = '{target}' AND row_id IN {_IN}", wanted
        )

    def held(self, target: str, ids: Sequence[int], token: int) -> set[int]:
        """Return the rows that are still claimed under this token."""
        return {
            row[0]
            for row in self._db.execute(
                f"SELECT row_id FROM embed_task WHERE target = ? AND token = ? AND row_id IN {_IN}",
                (target, token, json_list(ids)),
            )
        }

    def set_next_vectors(
        self, target: str, ids: Sequence[int], vectors: bytes, *, model: str, dim: int
    ) -> list[int]:
        """Keep vectors of the next model; return the ids that were written."""
        found = _meta(self._db, "next_embedder")
        if found != f"{model} {dim}":
            # Another model was begun before: what it made is of no use.
            self._db.execute("DELETE FROM next_vector")
            self._db.execute(
                "INSERT OR REPLACE INTO meta VALUES ('next_embedder', ?)", (f"{model} {dim}",)
            )
        table, column = VECTOR_TABLES[target]
        there = {
            row[0]
            for row in self._db.execute(
                f"SELECT {column} FROM {table} WHERE {column} IN {_IN}", (json_list(ids),)
            )
        }
        width = 2 * dim
        self._db.executemany(
            "INSERT OR REPLACE INTO next_vector VALUES (?,?,?)",
            [
                (target, one, vectors[n * width : (n + 1) * width])
                for n, one in enumerate(ids)
                if one in there
            ],
        )
        return [one for one in ids if one in there]

    def replace_vectors(self, *, model: str, dim: int) -> int:
        """Put the next model's vectors in the place of those in use; return how many.

        Raises UsageError while any row with a vector lacks one of the next model.
        """
        if _meta(self._db, "next_embedder") != f"{model} {dim}":
            raise UsageError(detail=f"no vectors of {model} wait in {self.path}")
        written = 0
        for target, (table, column) in VECTOR_TABLES.items():
            missing = self._db.execute(
                f"SELECT count(*) FROM {table} v WHERE NOT EXISTS (SELECT 1 FROM next_vector n"
                f" WHERE n.target = '{target}' AND n.row_id = v.{column})"
            ).fetchall()[0][0]
            if missing:
                raise UsageError(
                    detail=f"{missing} {target}s lack a vector of {model}; embed them first"
                )
            self._db.execute(f"DELETE FROM {table}")
            self._db.execute(
                f"INSERT INTO {table} ({column}, commit_no, vector)"
                f" SELECT row_id, ?, vector FROM next_vector WHERE target = '{target}'",
                (self.commit_no,),
            )
            written += self._db.changes()
        self._db.execute("DELETE FROM next_vector")
        self._db.execute("DELETE FROM meta WHERE name = 'next_embedder'")
        self._db.execute("UPDATE meta SET value = ? WHERE name = 'embedder'", (model,))
        self._db.execute("UPDATE meta SET value = ? WHERE name = 'embedder_dim'", (str(dim),))
        return written


def _meta(connection: apsw.Connection, name: str) -> str | None:
    rows = connection.execute("SELECT value FROM meta WHERE name = ?", (name,)).fetchall()
    return str(rows[0][0]) if rows else None


def _standing(claims: Iterable[Any], now: Millis) -> list[int]:
    """Return the tokens of the leases that keep others out."""
    return [token for token, holder, until in claims if stands(holder, until, now=now)]


class LivingReads(Rows):
    """The part of the store that the work behind reads, and its leases.

    Leases say who works on what; they are not memory, so they have no history and no Op.
    """

    path: Path

    def episodes_by_id(self, ids: Sequence[int]) -> dict[int, StoredEpisode]:
        """Return episodes by id."""
        raise NotImplementedError

    # --- the embedding queue --------------------------------------------------------------------

    def attempts(self, target: str, ids: Sequence[int]) -> dict[int, int]:
        """Return how often embedding rows has failed."""
        return dict(
            self._rows(
                f"SELECT row_id, attempts FROM embed_task WHERE target = ? AND row_id IN {_IN}",
                (target, json_list(ids)),
            )
        )

    def held_now(self, *, now: Millis) -> int:
        """Return how many rows other workers are embedding at this moment."""
        held = _standing(self._rows(_CLAIMS), now)
        rows = self._rows(
            f"SELECT count(*) FROM embed_task WHERE token IN {_IN}", (json_list(held),)
        )
        return int(rows[0][0])

    def set_aside(self) -> list[tuple[str, int, str]]:
        """Return (target, id, error) of rows that cannot be embedded."""
        rows = self._rows(
            "SELECT target, row_id, error FROM embed_task WHERE aside = 1 ORDER BY target, row_id"
        )
        return [(row[0], row[1], row[2]) for row in rows]

    # --- leases and runs ------------------------------------------------------------------------

    def is_held(self, name: str, *, now: Millis) -> bool:
        """Tell whether somebody has a lease."""
        rows = self._rows("SELECT holder, until FROM lease_row WHERE name = ?", (name,))
        return bool(rows) and stands(*rows[0], now=now)

    # --- injections, counters -------------------------------------------------------------------

    # --- facts and vectors in bulk --------------------------------------------------------------

    def fact_states(self, *, now: Millis) -> dict[str, int]:
        """Count facts by how they stand: active (found by themselves), tool_only, deprecated.

        Current ones stand by their confidence at that time; of the others, and of proposed ones,
        the status counts.
        """
        rows = self._rows(
            f"""SELECT CASE WHEN retired_at IS NOT NULL OR status = 'proposed' THEN status
                  WHEN value > ? THEN 'active' WHEN value >= ? THEN 'tool_only'
                  ELSE 'deprecated' END AS state, count(*)
                FROM (SELECT f.retired_at, f.status, {VALUE_NOW} AS value FROM fact_row f)
                GROUP BY state ORDER BY state""",
            (policy.MIN_CONFIDENCE_PASSIVE, policy.MIN_CONFIDENCE_ACTIVE, now),
        )
        return {row[0]: row[1] for row in rows}

    def live_bytes(self) -> int:
        """Return the bytes of the file's pages that are in use."""
        pages = self._rows("PRAGMA page_count")[0][0] - self._rows("PRAGMA freelist_count")[0][0]
        return int(pages) * int(self._rows("PRAGMA page_size")[0][0])


class LivingLeases(Rows):
    """Leases on work, and on rows to embed.

    They say who works on what; they are not memory, so they have no history and no Op.
    """

    def _locked(self) -> AbstractContextManager[apsw.Connection]:
        raise NotImplementedError

    def claim_waiting(self, target: str, *, limit: int, holder: str, now: Millis) -> Claimed:
        """Lease waiting rows that nobody holds; their token makes older claims worthless."""
        table, text, waits = _WAITING[target]
        with self._locked() as db:
            rows: list[Any] = db.execute(
                f"SELECT w.id, {text} FROM {table} LEFT JOIN embed_task t"
                f" ON t.target = ? AND t.row_id = w.id WHERE {waits}"
                f" AND (t.row_id IS NULL OR (t.aside = 0 AND t.token NOT IN {_IN} AND {DUE}))"
                " ORDER BY w.id LIMIT ?",
                (
                    target,
                    json_list(_standing(db.execute(_CLAIMS), now)),
                    now,
                    now + policy.LONGEST_WAIT_MS,
                    limit,
                ),
            ).fetchall()
            if not rows:
                return Claimed(target, 0, ())
            token = int(_meta(db, "token") or 0) + 1
            db.execute("INSERT OR REPLACE INTO meta VALUES ('token', ?)", (str(token),))
            hold(db, f"{EMBEDDING}{token}", holder, token=token, now=now)
            db.executemany(
                "INSERT INTO embed_task (target, row_id, token, until, attempts)"
                " VALUES (?,?,?,0,0) ON CONFLICT (target, row_id)"
                " DO UPDATE SET token = excluded.token, until = 0",
                [(target, row[0], token) for row in rows],
            )
            end_claims(db)  # of those that these rows were taken over from
        return Claimed(target, token, [(row[0], row[1]) for row in rows])

    def release(
        self,
        claim: Claimed,
        ids: Sequence[int],
        *,
        error: str,
        until: Millis,
        aside: bool = False,
        tried: bool = True,
    ) -> None:
        """Give claimed rows back, not to be tried before `until`, or put aside.

        `tried` tells that they failed, and not what was to embed them.
        """
        with self._locked() as db:
            db.execute(
                "UPDATE embed_task SET attempts = attempts + ?, error = ?, until = ?, aside = ?,"
                f" token = 0 WHERE target = ? AND token = ? AND row_id IN {_IN}",
                (tried, error, until, aside, claim.target, claim.token, json_list(ids)),
            )
            end_claims(db)

    def retry_aside(self) -> int:
        """Let rows that were put aside be tried again; return how many."""
        with self._locked() as db:
            db.execute("DELETE FROM embed_task WHERE aside = 1")
            return db.changes()

    def take_lease(
        self,
        name: str,
        *,
        holder: str,
        now: Millis,
    ) -> int | None:
        """Take or renew work that one process at a time may do; None when another holds it.

        `leases.stands` says which lease holds; a renewed one keeps its token.
        """
        with self._locked() as db:
            rows: list[Any] = db.execute(
                "SELECT holder, token, until FROM lease_row WHERE name = ?", (name,)
            ).fetchall()
            token = 1
            if rows:
                held_by, token, held_until = rows[0]
                if held_by != holder:
                    if stands(held_by, held_until, now=now):
                        return None
                    token += 1
            hold(db, name, holder, token=token, now=now)
            return int(token)

    def drop_lease(self, name: str, *, token: int) -> None:
        """Give a lease back."""
        with self._locked() as db:
            db.execute(
                "UPDATE lease_row SET until = 0, holder = '' WHERE name = ? AND token = ?",
                (name, token),
            )


__all__ = ["LivingLeases", "LivingReads", "LivingVerbs"]
