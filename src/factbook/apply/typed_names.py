"""How the record of typed memories names rows and moments, and what they are here."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from factbook.model.facts import Millis
from factbook.store.kinds import RECORDED, Recorded
from factbook.store.port import Writer
from factbook.store.transfer.records import COUNTED, NAMED_IN_DETAILS

_KEY: Final = re.compile("[0-9a-f]{32}")  # what a row is called in the record
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
SUMMARY_ROW, FACT_ROW, REJECTION_ROW, PROPOSAL_ROW, EVENT_ROW = (
    "episode",
    "fact",
    "rejection",
    "proposal",
    "event",
)


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
        self._keys: dict[tuple[str, int], str] = {}
        self._ids: dict[tuple[str, str], int] = {}

    def keys(self, target: str, ids: Iterable[int]) -> dict[int, str]:
        """Return the keys of rows that have one."""
        asked = set(ids)
        unknown = sorted(id_ for id_ in asked if (target, id_) not in self._keys)
        if unknown:
            where = {"target": target, "row_id": unknown}
            for row in self._writer.find(RECORDED, where):
                self.note(row)
        return {id_: self._keys[target, id_] for id_ in asked if (target, id_) in self._keys}

    def ids(self, target: str, keys: Iterable[str]) -> dict[str, int]:
        """Return the rows here of keys that have one."""
        asked = set(keys)
        unknown = sorted(key for key in asked if (target, key) not in self._ids)
        if unknown:
            # By the keys alone, which are digests: with the target, SQLite reads all of that.
            for row in self._writer.find(RECORDED, {"key": unknown}):
                self.note(row)
        return {key: self._ids[target, key] for key in asked if (target, key) in self._ids}

    def note(self, row: Recorded) -> None:
        """Remember what a row is called."""
        self._keys[row.target, row.row_id] = row.key
        self._ids[row.target, row.key] = row.row_id

    def record(self, target: str, keys: Mapping[int, str]) -> None:
        """Keep what rows are called, by their ids."""
        rows = [Recorded(target, row_id, key) for row_id, key in keys.items()]
        self._writer.put(RECORDED, rows)
        for row in rows:
            self.note(row)

    def out(self, target: str, row_id: Any) -> object:
        """Return how the record names a row: by its key, or as a row of this ledger alone."""
        if not isinstance(row_id, int) or isinstance(row_id, bool):
            return row_id  # it is named otherwise already
        key = self.keys(target, [row_id]).get(row_id)
        return key or {"ledger": self._tenant, "id": row_id}

    def back(self, target: str, named: Any) -> Any:
        """Return the row here that the record names; None where there is none."""
        if isinstance(named, str) and _KEY.fullmatch(named):
            return self.ids(target, [named]).get(named)
        if isinstance(named, Mapping) and "ledger" in named:
            return int(named["id"]) if named["ledger"] == self._tenant else None
        return named

    def said_out(self, detail: Mapping[str, Any]) -> dict[str, Any]:
        """Return what an event or a proposal says, with rows named as in the record."""
        return _renamed(detail, self.out)

    def said_here(self, detail: Mapping[str, Any]) -> dict[str, Any]:
        """Return what an event or a proposal says, with rows named as they are here."""
        return _renamed(detail, self.back)


def _renamed(detail: Mapping[str, Any], name: Callable[[str, Any], object]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in detail.items():
        kind = NAMED_IN_DETAILS.get(key)
        if kind in (FACT_ROW, SUMMARY_ROW) and isinstance(value, list):
            named = [name(kind, one) for one in value]
            found[key] = [one for one in named if one is not None]
        elif kind in (FACT_ROW, SUMMARY_ROW) and key not in COUNTED:
            found[key] = name(kind, value)
        elif isinstance(value, Mapping):
            found[key] = _renamed(value, name)
        else:
            found[key] = value
    return found
