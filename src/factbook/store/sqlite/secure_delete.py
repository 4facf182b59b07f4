"""Clean a SQLite file of what was erased from it, and show that it is gone.

Rows that are deleted leave their bytes behind: in the write-ahead log, in free parts of pages, in
the terms of an index. SQLite overwrites most of it at once (`secure_delete`); what it moved about
before stays. So after each erasure the log is emptied into the file and the file is looked through,
and where a piece is left, indexes and file are written anew.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Final

import apsw
import orjson

from factbook.errors import StoreReadOnly
from factbook.model.facts import Scoured, Sighting
from factbook.model.text import strings
from factbook.store.partial_files import left_behind
from factbook.store.rows import Wiped
from factbook.store.sqlite.file import busy_timeout_ms, translated
from factbook.store.sqlite.guard import beside
from factbook.store.sqlite.ledger import INDEXED
from factbook.store.sqlite.rows import Rows

SHOWN: Final = 20  # rows that `find_residues` names
PATIENCE_MS: Final = 5_000  # how long readers may keep the file from being cleaned
_BUSY: Final = "somebody is reading the file as it was before"


# What a row is called where it stands: by its own number, or by that of the row it belongs to.
# These can all be erased by that name.
CALLED: Final = {
    "episode_row": ("e", "id"),
    "fact_row": ("f", "id"),
    "evidence_row": ("f", "fact_id"),
    "pair_row": ("f", "low_id"),
    "source_row": ("s", "id"),
    "rejection_row": ("r", "id"),
    "entity_row": ("n", "id"),
    "entity_alias": ("n", "entity_id"),
    "notice_row": ("n", "entity_id"),
    "preference_row": ("p", "id"),
    "learn_prompt_row": ("l", "id"),
    "schedule_row": ("c", "id"),
    "search_log_row": ("q", "id"),
    "search_find": ("q", "search_id"),
    "search_result_row": ("q", "search_id"),
    "search_task": ("t", "id"),
    "proposal_row": ("o", "id"),
}
_OF_EVENTS: Final = {
    name.removesuffix("_row"): letter for name, (letter, key) in CALLED.items() if key == "id"
}


class EraseReads(Rows):
    """The part of the store that reads what was erased, and cleans the file."""

    path: Path
    _scours: threading.local

    @property
    def _connection(self) -> apsw.Connection:
        raise NotImplementedError

    @property
    def _may_write(self) -> bool:
        raise NotImplementedError

    def _alone(self) -> AbstractContextManager[None]:
        raise NotImplementedError

    def last_scour(self) -> Scoured | None:
        """Return what became of the file after this thread's last erasure, once."""
        found: Scoured | None = getattr(self._scours, "last", None)
        self._scours.last = None
        return found

    def scour(self) -> Scoured | None:
        """Clean the file after erasures that could not be finished; None where there are none.

        What was erased is known no more, so the file is written anew: what it then holds is what
        its rows say.
        """
        if not self._may_write:
            raise StoreReadOnly(path=self.path, reason="it was opened for reading only")
        if not self._rows("SELECT 1 FROM erasure_row WHERE clean = 0"):
            return None
        with translated(self.path):
            trouble = self._write_anew() or self._flush()
            if not trouble:
                self._note_clean()
        return Scoured(clean=not trouble, rewritten=True, waiting=trouble)

    def _after_erasing(self, gone: Wiped) -> None:
        """Clean the file of what a transaction has just erased, and remember what was found.

        The rows are gone already, whatever happens here: what cannot be cleaned now, because
        somebody reads the file as it was before, is left for the next time and said.
        """
        from factbook.store.sqlite.traces import blocks_of
        from factbook.store.windows import Windows

        windows = Windows.of([*gone.texts, *_escaped(gone.texts)])
        kept = windows.found_in(self._kept())
        left = windows.without(kept)
        trouble = self._flush()
        seen = left.found_in(self._bytes())
        # Of what an earlier erasure could not clean nobody knows the words any more.
        unknown = {row[0] for row in self._rows("SELECT id FROM erasure_row WHERE clean = 0")}
        rewritten = not trouble and bool(len(seen) or unknown.difference(gone.erasures))
        if rewritten:
            trouble = self._write_anew() or self._flush()
            seen = left.found_in(self._bytes())
        if not trouble:
            self._note_clean()
        self._scours.last = Scoured(
            clean=not trouble and not len(seen),
            rewritten=rewritten,
            waiting=trouble,
            pieces=len(seen),
            copies=[str(one) for one in self._beside() if len(left.found_in(blocks_of(one)))],
            taken=gone.taken,
            beside=frozenset(f"e{one}" for one in gone.beside),
        )

    def find_residues(self, text: str) -> Sighting:
        """Say where a text stands: in rows, in the bytes of the file, in its copies."""
        from factbook.store.sqlite.traces import blocks_of
        from factbook.store.windows import WIDTH, Windows

        windows = Windows.of([text])
        whole = text.encode("utf-8", "surrogatepass")
        overlap = max(len(whole), WIDTH) - 1
        with translated(self.path):
            left = windows.without(windows.found_in(self._kept()))
            return Sighting(
                rows=self._holding(text)[:SHOWN],
                in_file=any(whole in block for block in self._bytes(overlap=overlap)),
                pieces=len(left.found_in(self._bytes())),
                copies=[
                    str(one)
                    for one in self._beside()
                    if any(whole in block for block in blocks_of(one, overlap=overlap))
                    or len(left.found_in(blocks_of(one)))
                ],
            )

    # --- steps ----------------------------------------------------------------------------------

    def _flush(self) -> str:
        """Move the write-ahead log into the file and empty it; say what keeps it from that."""
        connection = self._connection
        connection.set_busy_timeout(PATIENCE_MS)
        try:
            with self._alone():
                busy = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()[0][0]
        except (apsw.BusyError, apsw.LockedError):
            busy = 1
        finally:
            connection.set_busy_timeout(busy_timeout_ms())
        return _BUSY if busy else ""

    def _write_anew(self) -> str:
        """Write the indexes and the file anew: what is left in free parts of them goes."""
        connection = self._connection
        try:
            with self._alone():
                for target in INDEXED:
                    connection.execute(
                        f"INSERT INTO {target}_fts({target}_fts) VALUES ('optimize')"
                    )
                # In memory it might not fit; the file in between holds what is kept, nothing else.
                connection.execute("PRAGMA temp_store=FILE")
                try:
                    connection.execute("VACUUM")
                finally:
                    connection.execute("PRAGMA temp_store=MEMORY")
        except (apsw.BusyError, apsw.LockedError):
            return _BUSY
        except apsw.FullError:
            return "the disk is too full to write the file anew"
        except apsw.SQLError as error:  # a statement of this thread is still being read
            return f"{_BUSY} ({error})"
        return ""

    def _note_clean(self) -> None:
        with self._alone():
            self._connection.execute("UPDATE erasure_row SET clean = 1 WHERE clean = 0")
        self._flush()

    def _bytes(self, *, overlap: int | None = None) -> Iterator[bytes]:
        """Yield the bytes of the file and of what lies beside it."""
        from factbook.store.sqlite.traces import blocks_of
        from factbook.store.windows import WIDTH

        overlap = WIDTH - 1 if overlap is None else overlap
        for suffix in ("", "-wal", "-shm", "-journal"):
            yield from blocks_of(beside(self.path, suffix), overlap=overlap)

    def _kept(self) -> Iterator[bytes]:
        """Yield everything that the rows hold now, and the terms of the full-text indexes."""
        from factbook.store.windows import joined

        return joined(self._pieces())

    def _pieces(self) -> Iterator[bytes]:
        from factbook.store.windows import WIDTH

        connection = self._connection
        schema = connection.execute("SELECT type, name, sql FROM sqlite_master").fetchall()
        for _, _, sql in schema:
            yield str(sql or "").encode()
        for kind, name, _ in schema:
            if kind != "table" or "_fts" in str(name):
                continue  # what an index holds of its texts comes below, as terms
            for row in connection.execute(f"SELECT * FROM {name}"):
                for value in row:
                    if isinstance(value, str) and len(value) * 4 >= WIDTH:
                        yield value.encode("utf-8", "surrogatepass")
        for target in INDEXED:
            connection.execute(
                "CREATE VIRTUAL TABLE temp.kept_terms USING"
                f" fts5vocab('main', '{target}_fts', 'row')"
            )
            try:
                for (term,) in connection.execute("SELECT term FROM temp.kept_terms"):
                    if len(term) * 4 >= WIDTH:
                        yield term.encode("utf-8", "surrogatepass")
            finally:
                connection.execute("DROP TABLE temp.kept_terms")

    def _beside(self) -> list[Path]:
        """Return other files that may hold what this one held: copies, and what a kill left."""
        begin = f"{self.path.name}."
        try:
            there = [one for one in self.path.parent.iterdir() if one.name.startswith(begin)]
        except OSError:
            there = []
        whole = [one for one in there if one.is_file() and _is_database(one)]
        return sorted({*whole, *left_behind(self.path.parent)})

    def kept_texts(self) -> Iterator[tuple[str, str]]:
        """Iterate over every text of every row, as (what the row is called, text)."""
        connection = self._connection
        for (table,) in self._rows("SELECT name FROM sqlite_master WHERE type = 'table'"):
            columns = [
                row[1]
                for row in self._rows(f"PRAGMA table_info({table})")
                if row[2] == "TEXT" and row[1] not in _NO_WORDS
            ]
            if "_fts" in table or not columns:
                continue  # an index holds what its rows say
            letter, key = CALLED.get(table, ("", "id"))
            if table == "event_row":
                key = "target_kind || ':' || target_id"
            elif not letter:
                key = f"'{table}'"
            # The last column first: there stands what somebody said.
            for row in connection.execute(f"SELECT {key}, {', '.join(columns[::-1])} FROM {table}"):
                text = "\x1f".join(filter(None, map(_inside, filter(None, row[1:]))))
                if text:
                    yield (f"{letter}{row[0]}" if letter else _owner_of(row[0])), text

    def _holding(self, text: str) -> list[str]:
        """Return rows that hold a text, in any case and however its words are spaced."""
        said = _spaced(text.casefold())
        word = _longest_word(said)
        found = []
        for row, other in self.kept_texts():
            folded = other.casefold()
            if word in folded and said in _spaced(folded):
                found.append(row)
        return list(dict.fromkeys(found))


_SQLITE: Final = b"SQLite format 3\x00"  # what such a file begins with
# Columns of numbers that the program drew, and of the names of rows.
_NO_WORDS: Final = frozenset({"uid", "claim", "items", "used"})


def _inside(value: str) -> str:
    """Return the words of a text, or of every string of one that is JSON."""
    if value[:1] not in ("{", "["):
        return value
    try:
        return "\n".join(strings(orjson.loads(value)))
    except orjson.JSONDecodeError:
        return value


def _owner_of(called: str) -> str:
    """Return the row that an event is of, as it is called; other names stay."""
    kind, _, number = called.partition(":")
    return f"{_OF_EVENTS[kind]}{number}" if kind in _OF_EVENTS else called


def _is_database(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(len(_SQLITE)) == _SQLITE
    except OSError:
        return False


def _spaced(folded: str) -> str:
    """Return a text with one space wherever words of a name may be joined."""
    return " ".join(folded.replace("-", " ").replace("_", " ").split())


def _longest_word(spaced: str) -> str:
    return max(spaced.split(), key=len)


def _escaped(texts: Sequence[str]) -> list[str]:
    """Return how texts look inside JSON, where that differs."""
    found = []
    for text in texts:
        try:
            inside = orjson.dumps(text)[1:-1].decode()
        except orjson.JSONEncodeError:  # half a surrogate pair stands in no JSON
            continue
        if inside != text:
            found.append(inside)
    return found
