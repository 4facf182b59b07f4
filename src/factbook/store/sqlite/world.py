"""Verbs and reads around messages and searches that are no records yet."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from typing import Any

import apsw

from factbook.model.entities import (
    SearchTask,
)
from factbook.model.facts import (
    Millis,
    StoredEpisode,
)
from factbook.store.kinds import SEARCH_TASK
from factbook.store.leases import due, stands
from factbook.store.sqlite.records import RecordReads
from factbook.store.sqlite.rows import (
    EPISODE,
    Rows,
    as_episode,
    hold,
)

_IN = "(SELECT value FROM json_each(?))"
_OPEN = "('queued', 'failed')"


class WorldReads(Rows):
    """The reads of what people care about."""

    def said_before(self, episode_id: int, *, limit: int) -> list[StoredEpisode]:
        """Return what was said before a message in its conversation, newest first."""
        rows = self._rows(
            f"{EPISODE} JOIN episode_row m ON m.id = ?1 AND m.owner = e.owner"
            " AND m.session = e.session WHERE e.id < ?1 AND e.kind IN ('turn', 'command')"
            " ORDER BY e.id DESC LIMIT ?2",
            (episode_id, limit),
        )
        return [as_episode(row) for row in rows]


class WorldVerbs(WorldReads):
    """The part of the writer that entities, engagements, searches and notices go through."""

    _db: apsw.Connection
    _now: Millis
    drop_vectors: Callable[[str, Sequence[int]], None]

    def lease(self, name: str) -> tuple[str, int, Millis]:
        """Return (holder, token, until) of who took a lease last; ("", 0, 0) where nobody has."""
        rows = self._rows("SELECT holder, token, until FROM lease_row WHERE name = ?", (name,))
        return tuple(rows[0]) if rows else ("", 0, 0)

    def set_lease(self, name: str, holder: str) -> None:
        """Let somebody hold a lease from now on; nobody does where `holder` is empty."""
        if holder:
            hold(self._db, name, holder, token=0, now=self._now)
        else:
            self._db.execute("DELETE FROM lease_row WHERE name = ?", (name,))


class SearchLeases(RecordReads):
    """Leases on searches that are to be made."""

    def _locked(self) -> AbstractContextManager[apsw.Connection]:
        raise NotImplementedError

    def claim_search(
        self,
        *,
        claimer: str,
        now: Millis,
        after: int = 0,
    ) -> SearchTask | None:
        """Take the oldest search that may be made and that nobody makes; None without any.

        It is taken under the write lock; `after` is the id of the one before.
        """
        sql = (
            "SELECT t.id, t.until, l.holder, l.until FROM search_task t"
            " LEFT JOIN lease_row l ON l.name = 'search ' || t.id"
            f" WHERE t.state IN {_OPEN} AND t.id > ? ORDER BY t.id"
        )

        def free(rows: Iterable[Any]) -> int | None:
            for task_id, until, held_by, held_until in rows:
                held = held_by is not None and stands(held_by, held_until, now=now)
                if due(until, now=now) and not held:
                    return int(task_id)
            return None

        if free(self._rows(sql, (after,))) is None:
            return None  # nobody waits for the write lock where nothing is to be done
        with self._locked() as db:
            task_id = free(db.execute(sql, (after,)).fetchall())
            if task_id is None:
                return None
            hold(db, f"search {task_id}", claimer, token=0, now=now)
        return self.find(SEARCH_TASK, {"id": task_id})[0]

    def release_search(self, task_id: int, *, claimer: str) -> None:
        """Give a search back that was taken and not made; nothing where another has it."""
        with self._locked() as db:
            db.execute(
                "DELETE FROM lease_row WHERE name = 'search ' || ? AND holder = ?",
                (task_id, claimer),
            )
