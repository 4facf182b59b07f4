"""The part of the port that erases; see `store.base`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from factbook.model.facts import ErasureAct, Millis, Scoured, Sighting


def same_words(text: str) -> str:
    """Return what texts have in common that differ only in case and in spaces."""
    return " ".join(text.casefold().split())


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

    def any_tombstones(self) -> bool:
        """Tell whether anything was ever erased."""

    def tombstone_mark(self, kind: str, *parts: str) -> bytes:
        """Return the digest that stands for what must not come back."""

    def tombstones(self, marks: Sequence[bytes]) -> dict[bytes, Millis]:
        """Return when those of the marks were erased that were."""

    def lift_tombstones(self, marks: Sequence[bytes]) -> None:
        """Let these come back."""

    def begin_erasure(self, what: str) -> int:
        """Begin an act of erasing, and return its number."""

    def end_erasure(self, erasure_id: int, counts: Mapping[str, int]) -> None:
        """End it; what is gone is looked for in the file once this is committed."""

    def add_tombstones(self, erasure_id: int, marks: Sequence[tuple[str, bytes]]) -> None:
        """Keep (kind, mark) from coming back."""

    def allow_again(self, erasure_id: int) -> bool:
        """Let everything that was erased then come back; False for an unknown number."""

    def is_erased(self, target: str, row_id: int) -> bool:
        """Tell whether a row was erased."""

    def missing(self, target: str, ids: Sequence[int]) -> list[int]:
        """Return which of these rows are not there, or erased already."""

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

    def marks_of(self, doomed: Doomed) -> list[tuple[str, bytes]]:
        """Return (kind, mark) of what must not come back."""

    def wipe(self, doomed: Doomed, erasure_id: int, *, owner: str = "") -> dict[str, int]:
        """Take the content out of rows and out of everything that repeats it; return the counts.

        With `owner`, whose they are goes too.
        """


class EraseStore(Protocol):
    """The reads of what was erased, and the cleaning of the file."""

    def erasures(self, *, limit: int = 100) -> list[ErasureAct]:
        """Return acts of erasing, newest first."""

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
