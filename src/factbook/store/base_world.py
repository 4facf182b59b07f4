"""The part of the port that keeps what people care about; see `store.base`."""

from __future__ import annotations

from typing import Protocol

from factbook.model.entities import (
    SearchTask,
)
from factbook.model.facts import Millis, StoredEpisode


class WorldWriter(Protocol):
    """The verbs for entities, engagements, searches and notices."""

    def lease(self, name: str) -> tuple[str, int, Millis]:
        """Return (holder, token, until) of who took a lease last; ("", 0, 0) where nobody has."""

    def set_lease(self, name: str, holder: str) -> None:
        """Let somebody hold a lease from now on; nobody does where `holder` is empty."""


class WorldReads(Protocol):
    """The reads of what people care about."""

    def said_before(self, episode_id: int, *, limit: int) -> list[StoredEpisode]:
        """Return what was said before a message in its conversation, newest first."""


class SearchLeases(Protocol):
    """Leases on searches that are to be made."""

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

    def release_search(self, task_id: int, *, claimer: str) -> None:
        """Give a search back that was taken and not made; nothing where another has it."""
