"""What can be done with the bytes of a SQLite file: clean them of what was erased, most of all.

Rows that are deleted leave their bytes behind: in the write-ahead log, in free parts of pages, in
the terms of an index. SQLite overwrites most of it at once (`secure_delete`); what it moved about
before stays. So after each erasure the log is emptied into the file and the file is looked through,
and where a piece is left, indexes and file are written anew.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Final

import apsw
import orjson

from factbook.errors import StoreReadOnly
from factbook.model.facts import Scoured, Sighting, SQLValue
from factbook.store.partial_files import left_behind
from factbook.store.rows import Wiped
from factbook.store.sqlite.file import MAGIC, LedgerFile, busy_timeout_ms, translated
from factbook.store.sqlite.guard import beside
from factbook.store.sqlite.ledger import INDEXED
from factbook.store.sqlite.plain import select

PATIENCE_MS: Final = 5_000  # how long readers may keep the file from being cleaned
_BUSY: Final = "somebody is reading the file as it was before"


class SQLiteFiles:
    """What a store that is a SQLite file can do with its bytes; see `port.Files`."""

    def __init__(self, file: LedgerFile, reopened: Callable[[], None]) -> None:
        """Take the open file, and what is to be done when another one stands in its place."""
        self._file = file
        self._reopened = reopened

    @property
    def path(self) -> Path:
        return self._file.path

    def live_bytes(self) -> int:
        pages = self._number("page_count") - self._number("freelist_count")
        return pages * self._number("page_size")

    def sql(
        self,
        text: str,
        params: Sequence[SQLValue] | Mapping[str, SQLValue] = (),
        *,
        limit: int | None,
        seconds: float,
    ) -> list[dict[str, SQLValue]]:
        self._file.check_same()
        with translated(self.path), closing(self._file.open_to_read()) as connection:
            return select(connection, text, params, limit=limit, seconds=seconds)

    def reopen(self) -> Path | None:
        """Save what only this process holds and open what stands there; see `LedgerFile.reopen`."""
        saved = self._file.reopen()
        self._reopened()
        return saved

    def scour(self, wiped: Wiped | None = None) -> Scoured | None:
        """Clean the file of what a write has just erased, or could not be cleaned of before.

        What was erased before is known no more, so the file is written anew then: what it holds is
        what its rows say.
        """
        if self._file.mode == "read":
            raise StoreReadOnly(path=self.path, reason="it was opened for reading only")
        with translated(self.path):
            if wiped is not None:
                return self._scoured_of(wiped)
            if not self._unclean():
                return None
            trouble = self._write_anew() or self._flush() or self._note_clean()
        return Scoured(clean=not trouble, rewritten=True, waiting=trouble)

    def _scoured_of(self, gone: Wiped) -> Scoured:
        """Clean the file of texts; the rows are gone already, whatever happens here.

        What cannot be cleaned now, because somebody reads the file as it was before, is left for
        the next time and said.
        """
        from factbook.store.sqlite.traces import blocks_of
        from factbook.store.windows import Windows

        windows = Windows.of([*gone.texts, *_escaped(gone.texts)])
        kept = windows.found_in(self._kept())
        left = windows.without(kept)
        trouble = self._flush()
        seen = left.found_in(self._bytes())
        # Of what an earlier erasure could not clean nobody knows the words any more.
        unknown = self._unclean().difference(gone.erasures)
        rewritten = not trouble and bool(len(seen) or unknown)
        if rewritten:
            trouble = self._write_anew() or self._flush()
            seen = left.found_in(self._bytes())
        trouble = trouble or self._note_clean()
        return Scoured(
            clean=not trouble and not len(seen),
            rewritten=rewritten,
            waiting=trouble,
            pieces=len(seen),
            copies=[str(path) for path in self._beside() if len(left.found_in(blocks_of(path)))],
        )

    def find_residues(self, text: str) -> Sighting:
        """Say where a text stands in the bytes of the file, and in its copies."""
        from factbook.store.sqlite.traces import blocks_of
        from factbook.store.windows import WIDTH, Windows

        windows = Windows.of([text])
        whole = text.encode("utf-8", "surrogatepass")
        overlap = max(len(whole), WIDTH) - 1
        with translated(self.path):
            left = windows.without(windows.found_in(self._kept()))
            return Sighting(
                rows=(),
                in_file=any(whole in block for block in self._bytes(overlap=overlap)),
                pieces=len(left.found_in(self._bytes())),
                copies=[
                    str(path)
                    for path in self._beside()
                    if any(whole in block for block in blocks_of(path, overlap=overlap))
                    or len(left.found_in(blocks_of(path)))
                ],
            )

    def _number(self, pragma: str) -> int:
        with translated(self.path):
            rows = self._file.connection.execute(f"PRAGMA {pragma}").fetchall()
        return int(str(rows[0][0]))

    def _unclean(self) -> set[int]:
        """Return the acts of erasing that the file was not cleaned after."""
        sql = "SELECT id FROM erasure_row WHERE clean = 0"
        return {int(str(row[0])) for row in self._file.connection.execute(sql)}

    def _flush(self) -> str:
        """Move the write-ahead log into the file and empty it; say what keeps it from that."""
        connection = self._file.connection
        connection.set_busy_timeout(PATIENCE_MS)
        try:
            return self._tried(self._empty_log)
        finally:
            connection.set_busy_timeout(busy_timeout_ms())

    def _empty_log(self) -> None:
        if self._file.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()[0][0]:
            raise apsw.BusyError

    def _write_anew(self) -> str:
        """Write the indexes and the file anew: what is left in free parts of them goes."""

        def write() -> None:
            for target in INDEXED:
                self._file.connection.execute(
                    f"INSERT INTO {target}_fts({target}_fts) VALUES ('optimize')"
                )
            self._file.vacuum()  # the file in between holds what is kept, nothing else

        try:
            return self._tried(write)
        except apsw.SQLError as error:  # a statement of this thread is still being read
            return f"{_BUSY} ({error})"

    def _note_clean(self) -> str:
        """Note that the file is clean; say what keeps it from that."""
        clean = "UPDATE erasure_row SET clean = 1 WHERE clean = 0"
        trouble = self._tried(lambda: self._file.connection.execute(clean).fetchall())
        self._flush()
        return trouble

    def _tried(self, step: Callable[[], object]) -> str:
        """Do one step of the cleaning alone; say what keeps it from that.

        The rows are gone by then: whoever erased them has to hear so, whatever fails here.
        """
        try:
            with self._file.alone():
                step()
        except (apsw.BusyError, apsw.LockedError):
            return _BUSY
        except apsw.FullError:
            return "the disk is too full"
        except apsw.IOError as error:
            return f"the file cannot be written ({error})"
        return ""

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

        connection = self._file.connection
        schema = connection.execute("SELECT type, name, sql FROM sqlite_master").fetchall()
        for _, _, sql in schema:
            yield str(sql or "").encode()
        for kind, name, _ in schema:
            if kind != "table" or "_fts" in str(name):
                continue  # what an index holds of its texts comes below, as terms
            for columns in ("*", *self._indexed(str(name))):
                for row in connection.execute(f"SELECT {columns} FROM {name}"):
                    yield from (run for run in _runs(row) if len(run) >= WIDTH)
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

    def _indexed(self, table: str) -> Iterator[str]:
        """Yield the columns of each index of a table, in their order."""
        connection = self._file.connection
        for (index,) in connection.execute("SELECT name FROM pragma_index_list(?)", (table,)):
            columns = [
                f'"{column}"' if column else "rowid" if number == -1 else "NULL"
                for number, column in connection.execute(
                    "SELECT cid, name FROM pragma_index_xinfo(?) ORDER BY seqno", (index,)
                )
            ]
            yield ", ".join(columns)

    def _beside(self) -> list[Path]:
        """Return other files that may hold what this one held: copies, and what a kill left."""
        begin = f"{self.path.name}."
        try:
            there = [path for path in self.path.parent.iterdir() if path.name.startswith(begin)]
        except OSError:
            there = []
        whole = [path for path in there if path.is_file() and _is_database(path)]
        return sorted({*whole, *left_behind(self.path.parent)})


def _is_database(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(len(MAGIC)) == MAGIC
    except OSError:
        return False


def _escaped(texts: Sequence[str]) -> list[str]:
    """Return how texts look inside JSON, where that differs."""
    escaped = []
    for text in texts:
        try:
            inside = orjson.dumps(text)[1:-1].decode()
        except orjson.JSONEncodeError:  # half a surrogate pair stands in no JSON
            continue
        if inside != text:
            escaped.append(inside)
    return escaped


def _runs(row: Sequence[object]) -> Iterator[bytes]:
    """Yield what a row holds as it stands in a file: texts, with the numbers right beside them.

    The word "episode" before the number 58 has the bytes of "episode:".
    """
    run = b""
    for value in row:
        if isinstance(value, str):
            run += value.encode("utf-8", "surrogatepass")
        elif isinstance(value, int):
            run += _number_as_stored(value)
        elif value is not None:
            yield run
            run = b""
    yield run


def _number_as_stored(number: int) -> bytes:
    """Return the bytes of a whole number in a record; 0 and 1 have none."""
    if number in (0, 1):
        return b""
    size = next(n for n in (1, 2, 3, 4, 6, 8) if -(1 << 8 * n - 1) <= number < 1 << 8 * n - 1)
    return number.to_bytes(size, "big", signed=True)
