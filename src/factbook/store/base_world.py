"""The part of the port that keeps what people care about; see `store.base`."""

from __future__ import annotations

from typing import Protocol

from factbook.model.facts import StoredEpisode


class WorldReads(Protocol):
    """The reads of what people care about."""

    def said_before(self, episode_id: int, *, limit: int) -> list[StoredEpisode]:
        """Return what was said before a message in its conversation, newest first."""
