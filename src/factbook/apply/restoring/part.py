"""What the parts of an import have in common."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from factbook.apply.tombstones import Tombstones, any_tombstones
from factbook.model.restored import FileRow, ImportState, LeftOut

if TYPE_CHECKING:
    from factbook.apply.facts import Changes

SHOWN = 100
"""Ours: so many records that were not taken over are named; all are counted."""


class Part:
    """Puts some kinds of rows back."""

    def __init__(self, facts: Changes, state: ImportState) -> None:
        self._writer, self._receipt, self._now = facts.writer, facts.receipt, facts.now
        self._facts = facts
        self._state = state

    def _lacks(self, row: FileRow, kind: str, old: int | None, why: str = "") -> None:
        """Leave a row out that names another one which is not there, or was erased here."""
        if old in self._state.gone.get(kind, ()):
            self._state.keep_out(row.kind, row.row)
        else:
            self._leave(row, why or f"its {kind} {old} is not there")

    def _leave(self, row: FileRow, why: str) -> None:
        """Leave a row out that cannot stand alone."""
        self._state.left_count += 1
        if len(self._state.left) < SHOWN:
            self._state.left.append(LeftOut(row.line, row.kind, why))

    def _erased(self, named: Sequence[Sequence[tuple[str, ...]]]) -> list[bool]:
        """Tell of each list of (kind, parts) whether any of it was erased here."""
        # What a file itself has erased is not in it, save what was said anew since.
        if self._state.fresh or not any_tombstones(self._writer):
            return [False] * len(named)
        stones = Tombstones(self._writer)
        marks = [[stones.mark(*parts) for parts in some] for some in named]
        met = stones.met({mark for some in marks for mark in some})
        return [any(mark in met for mark in some) for some in marks]
