"""The verbs of vectors in a write."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import apsw

from factbook.errors import EmbedderMismatch, UsageError
from factbook.store.sqlite.rows import IN, ROWS, VECTOR_TABLES, WAITS, Rows, json_list


class LivingVerbs(Rows):
    """The part of the writer that changes vectors."""

    _db: apsw.Connection
    commit_no: int

    def set_vectors(
        self,
        target: str,
        ids: Sequence[int],
        vectors: bytes,
        *,
        model: str,
        dim: int,
        next: bool = False,
    ) -> list[int]:
        if next:
            return self._set_next_vectors(target, ids, vectors, model, dim)
        self._claim_embedder(model, dim)
        table, column = VECTOR_TABLES[target]
        has_it = "status = 'active'" if target == "fact" else "vector_state = 2"
        wanted = f"SELECT id FROM {ROWS[target]} WHERE {WAITS[target]} AND id IN {IN}"
        waiting = {row[0] for row in self._db.execute(wanted, (json_list(ids),))}
        rows = _cut(vectors, dim, ids, waiting)
        self._db.executemany(
            f"INSERT INTO {table} ({column}, commit_no, vector) VALUES (?,?,?)",
            [(id_, self.commit_no, vector) for id_, vector in rows],
        )
        mark = f"UPDATE {ROWS[target]} SET {has_it} WHERE id = ?"
        self._db.executemany(mark, [(id_,) for id_, _ in rows])
        return [id_ for id_, _ in rows]

    def _claim_embedder(self, model: str, dim: int) -> None:
        embedder = self._meta("embedder")
        if embedder is None:
            self._db.execute(
                "INSERT INTO meta VALUES ('embedder', ?), ('embedder_dim', ?)", (model, str(dim))
            )
        elif (embedder, self._meta("embedder_dim")) != (model, str(dim)):
            raise EmbedderMismatch(path=self.path, found=embedder, given=model)

    def drop_vectors(self, target: str, ids: Sequence[int]) -> None:
        table, column = VECTOR_TABLES[target]
        wanted = (json_list(ids),)
        self._db.execute(
            f"INSERT OR IGNORE INTO vector_gone SELECT '{target}', ?, {column} FROM {table}"
            f" WHERE {column} IN {IN}",
            (self.commit_no, *wanted),
        )
        self._db.execute(f"DELETE FROM {table} WHERE {column} IN {IN}", wanted)
        for beside in ("next_vector", "embed_task"):
            self._db.execute(
                f"DELETE FROM {beside} WHERE target = '{target}' AND row_id IN {IN}", wanted
            )

    def _set_next_vectors(
        self, target: str, ids: Sequence[int], vectors: bytes, model: str, dim: int
    ) -> list[int]:
        """Keep vectors of the next model; return the ids that were written."""
        begun = self._meta("next_embedder")
        if begun != f"{model} {dim}":
            # Another model was begun before: what it made is of no use.
            self._db.execute("DELETE FROM next_vector")
            self._db.execute(
                "INSERT OR REPLACE INTO meta VALUES ('next_embedder', ?)", (f"{model} {dim}",)
            )
        table, column = VECTOR_TABLES[target]
        wanted = f"SELECT {column} FROM {table} WHERE {column} IN {IN}"
        there = {row[0] for row in self._db.execute(wanted, (json_list(ids),))}
        rows = _cut(vectors, dim, ids, there)
        self._db.executemany(
            "INSERT OR REPLACE INTO next_vector VALUES (?,?,?)", [(target, *row) for row in rows]
        )
        return [id_ for id_, _ in rows]

    def replace_vectors(self, *, model: str, dim: int) -> int:
        if self._meta("next_embedder") != f"{model} {dim}":
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


def _cut(
    vectors: bytes, dim: int, ids: Sequence[int], wanted: Collection[int]
) -> list[tuple[int, bytes]]:
    size = 2 * dim
    return [(id_, vectors[n * size : (n + 1) * size]) for n, id_ in enumerate(ids) if id_ in wanted]
