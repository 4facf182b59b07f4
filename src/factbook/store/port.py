"""The port to a database: the verbs that every store has, and what is said with them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from factbook.model.facts import (
    At,
    Event,
)
from factbook.store.kinds import ALL, EVENT, MARK, Kind, R, Tally, Where


class Reads(Protocol):
    """What a store answers; within a write, as of that write."""

    def find(
        self,
        kind: Kind[R],
        where: Where = ALL,
        *,
        limit: int | None = None,
        newest_first: bool = False,
    ) -> list[R]:
        """Return the rows of a kind that meet every condition, by their key.

        Raises UsageError for a field that the kind is not asked by, and for rows with owners asked
        for without an owner, their key or their unique fields.
        """

    def tally(
        self,
        kind: Kind[Any],
        by: Sequence[str],
        where: Where = ALL,
        *,
        most: str = "",
        distinct: str = "",
    ) -> dict[tuple[Any, ...], Tally]:
        """Count the rows of a kind that meet every condition, by the values of some fields.

        `most` and `distinct` name fields whose greatest value, and number of values, each group
        comes with. Raises UsageError as `find` does, and for a field that the kind has not.
        """


class Writes(Reads, Protocol):
    """What one open write changes."""

    def add(self, kind: Kind[R], rows: Sequence[R]) -> list[int | None]:
        """Insert rows; return their ids, 0 for kinds without, None where one is there already.

        One is there when it has the same key, or the same unique fields; it stays as it is.
        """

    def put(self, kind: Kind[R], rows: Sequence[R]) -> None:
        """Insert rows, or overwrite those of the same key.

        Raises UsageError for a kind that is never changed.
        """

    def drop(self, kind: Kind[Any], where: Where) -> int:
        """Delete the rows that meet every condition; return how many.

        Raises UsageError as `find` does, and for a kind that is never changed.
        """


def first(reads: Reads, kind: Kind[R], where: Where) -> R | None:
    """Return the first row that meets every condition, None without one. Raises as `find` does."""
    found = reads.find(kind, where, limit=1)
    return found[0] if found else None


def count(reads: Reads, kind: Kind[Any], where: Where = ALL) -> int:
    """Return how many rows meet every condition. Raises as `find` does."""
    return sum(tally.rows for tally in reads.tally(kind, (), where).values())


def marked(reads: Reads, name: str) -> At:
    """Return how far work has come, by its name; the beginning at first."""
    mark = first(reads, MARK, {"name": name})
    return At(mark.commit_no, mark.row_id) if mark else At()


def events_of(reads: Reads, target_kind: str, target_id: int) -> list[Event]:
    """Return the history of one row, oldest first."""
    return reads.find(EVENT, {"target_kind": target_kind, "target_id": target_id})


def one_id(ids: Sequence[int | None]) -> int:
    """Return the id that `add` gave to one row that is new by what the writer has read."""
    [found] = ids
    assert found is not None, "a row that was read to be missing is there"
    return found
