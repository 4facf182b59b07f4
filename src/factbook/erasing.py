"""What takes things out of a memory for good, and shows that they are gone.

`Memory` inherits it. It composes the Ops of erasing with what the store says of its file, and holds
no rule.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from factbook.errors import NotFound, StoreReadOnly, UsageError
from factbook.keeping import Keeping
from factbook.model import ME, Receipt, Trigger

if TYPE_CHECKING:
    from factbook.ops import Op
    from factbook.store.base_erase import Erasure, Scoured, Sighting

__all__ = ["Erased", "Erasing"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Erased:
    """What one act of erasing took."""

    receipt: Receipt  # `erased` counts the rows by what they were
    file: Scoured | None  # what became of the file's bytes; None where nothing was written


class _Rehearsed(Exception):
    """Take back a transaction that was only to show what it would do."""


class Erasing(Keeping):
    """The part of `Memory` that erases for good.

    Everything else in a memory keeps what it changes. What is erased is gone from every row, index
    and vector, from the history and from the bytes of the file, and a tombstone without content
    keeps it from coming back. With `dry_run` nothing is written: the receipt says what would go.
    """

    def erase_fact(
        self, fact_id: int, *, whole_episodes: bool = False, dry_run: bool = False
    ) -> Erased:
        """Erase a fact with all that stands behind it, and its words in what it was read from.

        That is what was merged into it or superseded by it, and all that its key has held. The rest
        of the episodes stays unless `whole_episodes` erases them too. Raises NotFound.
        """
        from factbook.ops import EraseFact

        return self._erase(EraseFact(fact_id=fact_id, whole_episodes=whole_episodes), dry_run)

    def erase_episode(self, episode_id: int, *, dry_run: bool = False) -> Erased:
        """Erase an episode, and the facts that stand on nothing else; raises NotFound."""
        from factbook.ops import EraseEpisode

        return self._erase(EraseEpisode(episode_id=episode_id), dry_run)

    def erase_source(self, source: int | str, *, dry_run: bool = False) -> Erased:
        """Erase a log, a chat or a note, by its number, its path or its key.

        What the same file holds from before this moment is not read again. Raises NotFound, and
        UsageError where several sources have that path.
        """
        from factbook.ops import EraseSource

        return self._erase(EraseSource(source_id=self._source_id(source)), dry_run)

    def erase_rejection(self, rejection_id: int, *, dry_run: bool = False) -> Erased:
        """Erase one entry of the log of what was refused; raises NotFound."""
        from factbook.ops import EraseRejection

        return self._erase(EraseRejection(rejection_id=rejection_id), dry_run)

    def erase_entity(self, name: str, *, owner: str = ME, dry_run: bool = False) -> Erased:
        """Erase a thing that its owner cares about, and everything about it.

        Its facts, engagements, notices and searches go, its name in what its owner said of it and
        in pages that stay, and each sentence of an answer that names it. Where its name still
        stands is in `Erased.file.elsewhere`. Raises NotFound.
        """
        from factbook.keys import entity_name
        from factbook.ops import EraseEntity

        wanted = entity_name(name)
        entity = self.store.entity_named(owner, wanted)
        if entity is None:  # one that was forgotten before can be erased too
            forgotten = [
                one
                for one in self.store.entities(owner, include_retired=True)
                if one.name == wanted
            ]
            if not forgotten:
                raise NotFound(what="entity", name=name, hint=f"{owner} has none of that name.")
            entity = forgotten[-1]
        return self._erase(EraseEntity(entity_id=entity.id), dry_run)

    def erase_owner(self, owner: str, *, dry_run: bool = False) -> Erased:
        """Erase everything of an owner; raises NotFound where there is nothing."""
        from factbook.ops import EraseOwner

        return self._erase(EraseOwner(owner=owner), dry_run)

    # --- afterwards -----------------------------------------------------------------------------

    def erasures(self, *, limit: int = 100) -> list[Erasure]:
        """Return what was erased, newest first: how much and when, never what it said."""
        return self.store.erasures(limit=limit)

    def allow_again(self, erasure_id: int) -> Receipt:
        """Let what one erasure took be kept again, where it is met again; raises NotFound."""
        from factbook.ops import AllowAgain

        return self._apply([AllowAgain(erasure_id=erasure_id)])

    def finish_erasing(self) -> Scoured | None:
        """Clean the file where an erasure could not, for somebody was reading it; None if none."""
        return self.store.scour()

    def sight(self, text: str) -> Sighting:
        """Say where a text stands: in rows, in the bytes of the file, in copies of it."""
        if not text.strip():
            raise UsageError(detail="there is nothing to look for: the text is empty")
        return self.store.sight(text)

    def drop_copies(self) -> list[Path]:
        """Delete the copies that were made before the file was upgraded; return which.

        What was erased since may still stand in them. The file itself is left as it is.
        """
        gone = []
        for one in self.store.copies():
            try:
                one.unlink()
            except OSError as error:
                raise StoreReadOnly(path=one, reason=error.strerror or str(error)) from error
            gone.append(one)
        return gone

    # --- parts ----------------------------------------------------------------------------------

    def _let_go(self) -> None:
        """Forget what this process holds of the memory's texts."""

    def _erase(self, op: Op, dry_run: bool) -> Erased:
        if dry_run:
            return Erased(receipt=self._rehearsed([op]), file=None)
        receipt = self._apply([op])
        self._let_go()
        return Erased(receipt=receipt, file=self.store.last_scour())

    def _rehearsed(self, ops: Sequence[Op]) -> Receipt:
        """Return what ops of erasing would do, by doing it and taking it back."""
        from factbook.changes import Changes

        receipt, now = Receipt(), self._clock()
        try:
            with self.store.writing(trigger=Trigger.COMMAND, actor=self._actor, now=now) as writer:
                Changes(writer, receipt, now=now, trigger=Trigger.COMMAND).run(ops)
                raise _Rehearsed
        except _Rehearsed:
            return receipt

    def _source_id(self, source: int | str) -> int:
        if isinstance(source, int):
            return source
        states = self.store.source_states()
        if source in states:
            return states[source].id
        same = {source, str(Path(source).expanduser()), str(Path(source).expanduser().absolute())}
        found = [one.id for one in states.values() if one.source.uri in same]
        if len(found) > 1:
            raise UsageError(
                detail=f"{source} is the path of {len(found)} sources; give the number of one"
                f" ({', '.join(map(str, found))})"
            )
        if not found:
            raise NotFound(
                what="source", name=source, hint="`factbook sessions` lists the sources."
            )
        return found[0]
