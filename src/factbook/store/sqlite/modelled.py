"""The verbs and reads for what a language model brings: keyed facts, its inputs, its cost."""

from __future__ import annotations

from factbook import policy
from factbook.model.facts import Millis, StoredEpisode
from factbook.store.base import Filters
from factbook.store.sqlite.rows import DUE, EPISODE, Rows, as_episode, episode_where


class ModelReads(Rows):
    """The reads of keyed facts, of what waits for a model, and of what it cost."""

    def untasked(
        self, kind: str, filters: Filters, *, now: Millis, limit: int, tried_only: bool = False
    ) -> list[StoredEpisode]:
        """Return episodes that pass, no model has answered for, and may be tried; by id."""
        where, bindings = episode_where(filters)
        may = f"t.state IN ('queued', 'failed') AND {DUE}"
        joined, may = ("JOIN", may) if tried_only else ("LEFT JOIN", f"coalesce({may}, 1)")
        rows = self._rows(
            f"{EPISODE} {joined} model_task t ON t.target = e.id AND t.kind = ?"
            f" WHERE {where} AND {may} ORDER BY e.id LIMIT ?",
            (kind, *bindings, now, now + policy.LONGEST_WAIT_MS, limit),
        )
        return [as_episode(row) for row in rows]

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
