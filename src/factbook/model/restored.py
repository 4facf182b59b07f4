"""What one import knows from one batch to the next."""

from __future__ import annotations

from collections import Counter
from typing import Final, NamedTuple

_IDS_KEPT: Final = 1 << 31  # ours: a greater one would leave too little room above it


class FileRow(NamedTuple):
    """A row of an export, with the ids of that file."""

    line: int  # of the file, from 1
    kind: str  # of the record
    row: object


class LeftOut(NamedTuple):
    """A record that was not taken over."""

    line: int
    kind: str  # empty where it could not be read
    why: str  # in words, with what to do


class Pointer(NamedTuple):
    """What a row points to that has not come yet."""

    kind: str
    id: int  # of the row, here
    field: str


class ImportState:
    """What has come of an export so far; `apply` adds to it. Ids are file -> here, by kind.

    It is no dataclass: the border of texts goes through the rows of a batch, and not through this.
    """

    def __init__(self, *, fresh: bool, last_event: int) -> None:
        """Begin an import."""
        self.fresh = fresh  # there was nothing here before it began: rows keep their ids
        self.last_event = last_event  # the newest one before it began
        self.ids: dict[str, dict[int, int]] = {}
        self.taken: dict[str, set[int]] = {}  # rows here that stand for one of the file
        self.merged: set[int] = set()  # facts of the file that were known otherwise here
        self.pointers: dict[tuple[str, int], list[Pointer]] = {}  # by the target in the file
        self.untold: set[int] = set()  # facts here that no event has stored yet
        self.added: Counter[str] = Counter()  # by kind
        self.known: Counter[str] = Counter()  # were there already
        self.kept_out: Counter[str] = Counter()  # were erased here, or stand on what was
        self.holed: set[int] = set()  # episodes of the file that something was erased from here
        self.gone: dict[str, set[int]] = {}  # these, by their ids in the file
        self.still_here: list[str] = []  # f12, e34 or a name: erased there, and kept here
        self.left: list[LeftOut] = []
        self.left_count = 0

    def kept_id(self, old: int) -> int:
        """Return the id that a new row is to have here; 0 for the next one."""
        return old if self.fresh and 0 < old <= _IDS_KEPT else 0

    def is_here(self, kind: str, old: int, here: int, *, new: bool) -> None:
        """Remember what a row of the file is called here."""
        self.ids.setdefault(kind, {})[old] = here
        self.taken.setdefault(kind, set()).add(here)
        (self.added if new else self.known)[kind] += 1

    def keep_out(self, kind: str, row: object) -> None:
        """Count a row of the file that was erased here."""
        self.kept_out[kind] += 1
        self.gone.setdefault(kind, set()).add(getattr(row, "id", 0))

    def here(self, kind: str, old: int | None) -> int | None:
        """Return what a row of the file is called here; None for one that is not."""
        return None if old is None else self.ids.get(kind, {}).get(old)
