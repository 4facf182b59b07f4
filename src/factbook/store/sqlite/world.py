"""Verbs and reads around messages and searches that are no records yet."""

from __future__ import annotations

from factbook.model.facts import (
    StoredEpisode,
)
from factbook.store.sqlite.rows import (
    EPISODE,
    Rows,
    as_episode,
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
