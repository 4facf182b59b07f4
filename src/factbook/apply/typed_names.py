"""How the record of typed memories names rows and moments, and what they are here."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from factbook.model.facts import Millis, Status
from factbook.store.kinds import RECORDED, Recorded
from factbook.store.port import Writer
from factbook.store.transfer.records import COUNTED, NAMED_IN_DETAILS

_KEY: Final = re.compile("[0-9a-f]{32}")  # what a row is called in the record
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
SUMMARY_ROW, FACT_ROW, REJECTION_ROW = "episode", "fact", "rejection"
PROPOSAL_ROW, EVENT_ROW = "proposal", "event"
MEMORY: Final = "memory"  # the kind of the proposals that are typed memories
WAKING: Final = (Status.ACTIVE, Status.PENDING_EMBED)
# Fields of a fact's row that its document has by their own names.
SAME: Final = (
    "statement", "subject", "confidence", "trust", "evidence_count", "pinned", "embeddable"
)  # fmt: skip
TIMES: Final = ("confidence_at", "occurred_at", "retired_at", "valid_to", "learned_at")
ROWS: Final = {  # kinds of documents -> of rows
    "summaries": SUMMARY_ROW,
    "memories": FACT_ROW,
    "rejections": REJECTION_ROW,
    "proposals": PROPOSAL_ROW,
    "events": EVENT_ROW,
}


def date(at: Millis | None) -> datetime | int | None:
    """Return a moment as a date, as far as calendars have it."""
    if at is None:
        return None
    try:
        return _EPOCH + timedelta(milliseconds=at)
    except OverflowError:
        return at


def millis(at: datetime | int | None) -> Millis | None:
    """Return a date as a moment."""
    return (at - _EPOCH) // timedelta(milliseconds=1) if isinstance(at, datetime) else at


class Names:
    """What rows are called in the record."""

    def __init__(self, writer: Writer, tenant: str) -> None:
        self._writer = writer
        self._tenant = tenant
        self._keys: dict[tuple[str, int], str | None] = {}  # None: it was asked for, and has none
        self._ids: dict[tuple[str, str], int | None] = {}
        self.missed = 0  # how often a row was named that is not here

    def keys(self, target: str, ids: Iterable[int]) -> dict[int, str]:
        """Return the keys of rows that have one."""
        asked = set(ids)
        unknown = sorted(row_id for row_id in asked if (target, row_id) not in self._keys)
        if unknown:
            self._keys |= dict.fromkeys(((target, row_id) for row_id in unknown), None)
            for row in self._writer.find(RECORDED, {"target": target, "row_id": unknown}):
                self._note(row)
        return {row_id: key for row_id in asked if (key := self._keys[target, row_id]) is not None}

    def ids(self, target: str, keys: Iterable[str]) -> dict[str, int]:
        """Return the rows here of keys that have one."""
        asked = set(keys)
        unknown = sorted(key for key in asked if (target, key) not in self._ids)
        if unknown:
            self._ids |= dict.fromkeys(((target, key) for key in unknown), None)
            # By the keys alone, which are digests: with the target, SQLite reads all of that.
            for row in self._writer.find(RECORDED, {"key": unknown}):
                self._note(row)
        return {key: row_id for key in asked if (row_id := self._ids[target, key]) is not None}

    def _note(self, row: Recorded) -> None:
        self._keys[row.target, row.row_id] = row.key
        self._ids[row.target, row.key] = row.row_id

    def record(self, target: str, keys: Mapping[int, str]) -> None:
        """Keep what rows are called, by their ids."""
        rows = [Recorded(target, row_id, key) for row_id, key in keys.items()]
        self._writer.put(RECORDED, rows)
        for row in rows:
            self._note(row)

    def out(self, target: str, row_id: Any) -> object:
        """Return how the record names a row: by its key, or as a row of this ledger alone."""
        if not isinstance(row_id, int) or isinstance(row_id, bool):
            return row_id  # it is named otherwise already
        key = self.keys(target, [row_id]).get(row_id)
        return key or {"ledger": self._tenant, "id": row_id}

    def back(self, target: str, named: Any) -> Any:
        """Return the row here that the record names; None where there is none."""
        if isinstance(named, str) and _KEY.fullmatch(named):
            if (target, named) not in self._ids:
                self.ids(target, [named])
            row_id = self._ids[target, named]
            self.missed += row_id is None
            return row_id
        if isinstance(named, Mapping) and "ledger" in named:
            row_id = named.get("id") if named["ledger"] == self._tenant else None
            return row_id if isinstance(row_id, int) else None
        return named

    def said_out(self, detail: Mapping[str, Any]) -> dict[str, Any]:
        """Return what an event or a proposal says, with rows named as in the record."""
        return _renamed(detail, self.out)

    def said_here(self, detail: Mapping[str, Any]) -> dict[str, Any]:
        """Return what an event or a proposal says, with rows named as they are here."""
        return _renamed(detail, self.back)


def _renamed(detail: Mapping[str, Any], name: Callable[[str, Any], object]) -> dict[str, Any]:
    renamed: dict[str, Any] = {}
    for key, value in detail.items():
        kind = NAMED_IN_DETAILS.get(key)
        if kind in (FACT_ROW, SUMMARY_ROW) and isinstance(value, list):
            names = [name(kind, row) for row in value]
            renamed[key] = [row for row in names if row is not None]
        elif kind in (FACT_ROW, SUMMARY_ROW) and key not in COUNTED:
            renamed[key] = name(kind, value)
        elif isinstance(value, Mapping):
            renamed[key] = _renamed(value, name)
        else:
            renamed[key] = value
    return renamed
