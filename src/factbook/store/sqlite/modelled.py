"""The verbs and reads for what a language model brings: keyed facts, its inputs, its cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import apsw
import orjson

from factbook import policy
from factbook.model.facts import Millis, ModelTask, StoredEpisode
from factbook.store.sqlite.rows import DUE, EPISODE, Rows, as_episode, json_list

_TASK = "SELECT kind, target, state, attempts, error, version, until, at FROM model_task"


class ModelVerbs:
    """The part of the writer that keyed facts and calls of a model go through."""

    _db: apsw.Connection
    _now: Millis

    def put_task(self, task: ModelTask) -> None:
        """Insert or overwrite what became of an input."""
        self._db.execute(
            "INSERT OR REPLACE INTO model_task (kind, target, state, attempts, error, version,"
            " until, at) VALUES (?,?,?,?,?,?,?,?)",
            task,
        )

    def task(self, kind: str, target: int) -> ModelTask | None:
        """Return what became of an input."""
        rows = self._db.execute(f"{_TASK} WHERE kind = ? AND target = ?", (kind, target)).fetchall()
        return ModelTask._make(rows[0]) if rows else None

    def retry_tasks(self, kind: str) -> int:
        """Let inputs that were set aside be tried again, with a clean count; return how many."""
        self._db.execute(
            "UPDATE model_task SET state = 'failed', attempts = 0, until = 0"
            " WHERE kind = ? AND state = 'aside'",
            (kind,),
        )
        return self._db.changes()


class ModelReads(Rows):
    """The reads of keyed facts, of what waits for a model, and of what it cost."""

    def unasked(
        self, kind: str, *, episode_kinds: Sequence[str], now: Millis, limit: int
    ) -> list[StoredEpisode]:
        """Return episodes of these kinds that no model has answered for yet and that may be tried.

        Without kinds, those that were tried in vain.
        """
        if not episode_kinds:
            return self._episodes(
                f"{EPISODE} JOIN model_task t ON t.target = e.id AND t.kind = ?"
                f" WHERE t.state IN ('queued', 'failed') AND {DUE} ORDER BY e.id LIMIT ?",
                (kind, now, now + policy.LONGEST_WAIT_MS, limit),
            )
        return self._episodes(
            f"{EPISODE} LEFT JOIN model_task t ON t.target = e.id AND t.kind = ?"
            " WHERE e.kind IN (SELECT value FROM json_each(?)) AND e.injected = 0"
            f" AND coalesce(t.state IN ('queued', 'failed') AND {DUE}, 1)"
            " ORDER BY e.id LIMIT ?",
            (kind, json_list(episode_kinds), now, now + policy.LONGEST_WAIT_MS, limit),
        )

    def _episodes(self, sql: str, bindings: Sequence[Any]) -> list[StoredEpisode]:
        return [as_episode(row) for row in self._rows(sql, bindings)]

    def model_tasks(
        self, *, states: Sequence[str] = ("queued", "failed", "aside")
    ) -> list[ModelTask]:
        """Return inputs by what became of them."""
        rows = self._rows(
            f"{_TASK} WHERE state IN (SELECT value FROM json_each(?)) ORDER BY at, kind, target",
            (json_list(states),),
        )
        return [ModelTask._make(row) for row in rows]

    def typed_log(self, *, limit: int) -> list[tuple[Millis, str, str, float | None, float | None]]:
        """Return (at, type, reason or "", confidence, threshold) of the newest typed proposals.

        What was let in comes from the history, what was refused from its log; newest first.
        """
        rows = self._rows(
            """SELECT * FROM (
                 SELECT at, type, reason, confidence, threshold FROM rejection_row
                 WHERE type <> '' ORDER BY at DESC, id DESC LIMIT :limit)
               UNION ALL SELECT * FROM (
                 SELECT v.learned_at, upper(f.predicate), '', f.confidence, NULL
                 FROM fact_row f JOIN evidence_row v ON v.fact_id = f.id
                   AND v.episode_id = f.episode_id
                 WHERE f.kind = 'typed' ORDER BY v.learned_at DESC, f.id DESC LIMIT :limit)
               ORDER BY 1 DESC LIMIT :limit""",
            {"limit": limit},
        )
        return [tuple(row) for row in rows]


def as_json(value: Mapping[str, object] | None) -> str:
    """Return a mapping as JSON text, "{}" for none."""
    return orjson.dumps(value or {}, default=str).decode()
