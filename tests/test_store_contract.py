"""The SQLite store keeps the contract of every store."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from factbook.store.kinds import PROPOSAL, Tally
from factbook.store.screened import screened
from factbook.store.sqlite import SQLiteStore
from factbook.testing.contract import FileContract, StoreContract
from factbook.testing.contract.base import writing
from factbook.testing.contract.examples import proposal


class TestSQLite(StoreContract, FileContract):
    def open(self, path: Path, *, tenant: str = "one") -> SQLiteStore:
        return SQLiteStore(path / f"{tenant}.db")


def test_names_are_compared_as_they_are_kept(tmp_path: Path) -> None:
    def screen(record: Any) -> Any:
        if isinstance(record, str):
            return record.replace("hunter22", "[REDACTED]")
        return type(record)(map(screen, record)) if isinstance(record, (list, tuple)) else record

    store = screened(SQLiteStore(tmp_path / "m.db"), screen)
    row = proposal(1, b"a", kind="about [REDACTED]")
    with writing(store) as writer:
        writer.add(PROPOSAL, [row])
    assert store.find(PROPOSAL, {"kind": "about hunter22"}) == [row]
    assert store.find(PROPOSAL, {"kind": ["about hunter22"]}) == [row]
    assert store.tally(PROPOSAL, ["kind"], {"kind": "about hunter22"}) == {
        ("about [REDACTED]",): Tally(1)
    }
    store.close()
