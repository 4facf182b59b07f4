"""The part of the port that erases; see `store.base`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Protocol

from factbook.model.facts import Scoured, Sighting


@dataclass(slots=True, kw_only=True)
class Doomed:
    """Rows that are to be erased, by what they are."""

    facts: set[int] = field(default_factory=set)
    episodes: set[int] = field(default_factory=set)
    masks: dict[int, list[tuple[int, int]]] = field(default_factory=dict)  # of episodes that stay
    sources: set[int] = field(default_factory=set)
    rejections: set[int] = field(default_factory=set)
    proposals: set[int] = field(default_factory=set)
    entities: set[int] = field(default_factory=set)
    preferences: set[int] = field(default_factory=set)
    prompts: set[int] = field(default_factory=set)  # what was to be learned
    searches: set[int] = field(default_factory=set)  # that were made
    tasks: set[int] = field(default_factory=set)  # searches that were asked for
    schedules: set[int] = field(default_factory=set)

    def add(self, other: Doomed) -> None:
        """Take over everything of another one."""
        for name in self.__slots__:
            if name == "masks":
                for episode, spans in other.masks.items():
                    self.masks.setdefault(episode, []).extend(spans)
            else:
                getattr(self, name).update(getattr(other, name))

    @property
    def size(self) -> int:
        """Count the rows; it grows with every one that joins."""
        return sum(len(getattr(self, name)) for name in self.__slots__)


class EraseWriter(Protocol):
    """The verbs that erase."""

    def lineage(self, fact_ids: Iterable[int]) -> set[int]:
        """Return facts with all that stands behind them.

        That is what was merged into them or superseded by them, older rows of the same claim, and
        everything that the same key has held.
        """

    def beside(self, doomed: Doomed) -> Doomed:
        """Return what cannot stay when these rows go."""

    def about_entity(self, entity_id: int) -> Doomed:
        """Return everything that is about an entity."""

    def belonging_to(self, owner: str) -> Doomed:
        """Return everything of an owner."""

    def part_of_source(self, source_id: int) -> Doomed:
        """Return everything of a source."""

    def wipe(self, doomed: Doomed, erasure_id: int, *, owner: str = "") -> dict[str, int]:
        """Take the content out of rows and out of everything that repeats it; return the counts.

        With `owner`, whose they are goes too.
        """


class EraseStore(Protocol):
    """The reads of what was erased, and the cleaning of the file."""

    def last_scour(self) -> Scoured | None:
        """Return what became of the file after this thread's last erasure, once."""

    def scour(self) -> Scoured | None:
        """Clean the file after erasures that could not be finished; None where there are none."""

    def kept_texts(self) -> Iterator[tuple[str, str]]:
        """Iterate over every text of every row, as (what the row is called, text).

        It is called as a person types it: e34, f12; one without a number of its own by the row
        that it belongs to.
        """

    def find_residues(self, text: str) -> Sighting:
        """Say where a text stands: in rows, in the bytes of the file, in its copies."""
