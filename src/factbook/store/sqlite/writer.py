"""The verbs of one open write transaction on a SQLite file."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

import apsw

from factbook.model.facts import Everyone, Millis
from factbook.store.sqlite.ledger import LedgerWrites
from factbook.store.sqlite.living import LivingVerbs
from factbook.store.sqlite.reads import SQLiteReads
from factbook.store.sqlite.records import RecordWrites


class SQLiteQuietWriter(SQLiteReads, RecordWrites):
    """The verbs of a write that is no commit."""

    quiet = True

    def __init__(self, connection: apsw.Connection, path: Path) -> None:
        self._db = connection
        self.path = path


class SQLiteWriter(SQLiteReads, LedgerWrites, LivingVerbs, RecordWrites):
    """The verbs of one open write transaction on a SQLite file; its reads are of that moment."""

    def __init__(self, connection: apsw.Connection, path: Path, *, now: Millis) -> None:
        self._db = connection
        self.path = path
        self._now = now
        self.commit_no = self.head().commit + 1  # nobody else can take it: the lock is held

    def commit(self, touches: Collection[str] | Everyone) -> None:
        """Write down the number of this write, and whose memory it may change."""
        no = self.commit_no
        touched = () if isinstance(touches, Everyone) else touches
        names = ["commit"]
        if touches:
            names += ["memory"] if touched else ["memory", "everyone"]
        self._db.executemany(
            "UPDATE meta SET value = ? WHERE name = ?", [(str(no), name) for name in names]
        )
        self._db.execute(
            "INSERT INTO commit_row SELECT ?, coalesce((SELECT max(id) FROM episode_data), 0),"
            " coalesce((SELECT max(id) FROM fact_row), 0)",
            (no,),
        )
        self._db.executemany(
            "INSERT INTO owner_row VALUES (?1, ?2) ON CONFLICT DO UPDATE SET memory = ?2",
            [(owner, no) for owner in touched],
        )
