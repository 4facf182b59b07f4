"""Find what was erased in the other memory and lives on in this one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from factbook.apply.restoring.part import SHOWN, Part
from factbook.apply.tombstones import Tombstones, marks_of
from factbook.model.facts import EVERYONE
from factbook.store.kinds import ALIAS, ENTITY, TOMBSTONE
from factbook.store.port import pages_of
from factbook.store.rows import LifeWhere

_PAGE: Final = 500


class StillHere(Part):
    """Lets what lives here live: an import erases nothing, and says what the other one erased."""

    def end(self) -> None:
        """Lift the tombstones of what is here, and remember what that is."""
        if not self._state.added[TOMBSTONE.name]:
            return
        stones = Tombstones(self._writer)
        lifted: set[bytes] = set()
        for page in self._named():
            marks = {stones.mark(*mark): (name, mark[0]) for name, some in page for mark in some}
            met = stones.met(marks)
            lifted |= met.keys()
            told = {marks[mark][0] for mark in met if marks[mark][1] in ("claim", "uid", "name")}
            room = SHOWN - len(self._state.still_here)
            self._state.still_here += sorted(told - {*self._state.still_here})[:room]
        self._state.added[TOMBSTONE.name] -= stones.let_in(sorted(lifted))

    def _named(self) -> Iterator[Sequence[tuple[str, Sequence[tuple[str, ...]]]]]:
        """Iterate over pages of (what a row is called, its (kind, parts) as a tombstone)."""
        for ids in pages_of(self._writer, "fact", _PAGE):
            yield [
                (f"f{life.id}", [("claim", life.owner, life.subject, life.predicate, life.object)])
                for life in self._writer.lives(LifeWhere(ids=ids, current=True))
            ]
        for ids in pages_of(self._writer, "episode", _PAGE):
            whole = self._writer.whole_episodes(ids)
            yield [(f"e{kept.id}", marks_of(kept.episode)) for kept in whole]
        entities = self._writer.find(ENTITY, {"owner": EVERYONE, "retired_at": None})
        yield [(entity.name, [("name", entity.owner, entity.name)]) for entity in entities]
        aliases = self._writer.find(ALIAS, {"owner": EVERYONE})
        yield [(alias.name, [("name", alias.owner, alias.name)]) for alias in aliases]
