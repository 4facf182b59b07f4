"""What waits for a language model or a reader, over the verbs of a store."""

from __future__ import annotations

from typing import Final

from factbook.model.facts import (
    ME,
    EpisodeKind,
    Everyone,
    Millis,
    ModelTask,
    Role,
    StoredEpisode,
    Trust,
)
from factbook.store.kinds import MODEL_TASK
from factbook.store.port import Reads
from factbook.store.rows import Filters

HEARD: Final = "heard"
"""The tasks of messages that were read for entities and engagements; they are all done."""
_OPEN: Final = ("queued", "failed", "aside")


def open_tasks(reads: Reads, *kinds: str) -> list[ModelTask]:
    """Return inputs that no model has answered for, of these kinds or of all, oldest first."""
    where = {"state": _OPEN, **({"kind": kinds} if kinds else {})}
    return sorted(reads.find(MODEL_TASK, where), key=lambda model_task: model_task.at)


def unheard(
    reads: Reads, owner: str | Everyone = ME, *, now: Millis, limit: int
) -> list[StoredEpisode]:
    """Return messages of owners that were not read yet, oldest first."""
    said = Filters(
        owner=owner, episode_kinds=[EpisodeKind.TURN], roles=[Role.USER], trusts=[Trust.DIRECT]
    )
    return reads.untasked(HEARD, said, now=now, limit=limit)
