"""What the other changes of one call of `apply` ask of the changes of facts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from factbook.model.ops import MergeFacts, RetryTasks, UnmergeFact
from factbook.store.rows import Life

if TYPE_CHECKING:
    from factbook.extract.voice import OwnWords


class FactChanges(Protocol):
    """The changes of facts (`facts.Changes`), as keys, entities and erasures use them."""

    def change(
        self,
        op: str,
        before: Life,
        after: Life,
        *,
        why: str,
        added: Sequence[int] = (),
        removed: Sequence[int] = (),
        detail: Mapping[str, object] | None = None,
    ) -> None:
        """Write a fact with its event."""

    def event(
        self, op: str, kind: str, target: int, detail: Mapping[str, object] | None = None
    ) -> None:
        """Append to the history."""

    def merge(self, op: MergeFacts) -> None:
        """Merge facts."""

    def unmerge(self, op: UnmergeFact) -> None:
        """Take a merged fact out again."""

    def retry_tasks(self, op: RetryTasks) -> None:
        """Let inputs that were set aside be tried again."""

    def voice(self, episode_id: int) -> OwnWords:
        """Return which words of an episode are its owner's own; None where that is no question."""
