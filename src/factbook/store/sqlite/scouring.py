"""Clean a SQLite file of what was erased from it, and show that it is gone.

Rows that are deleted leave their bytes behind: in the write-ahead log, in free parts of pages, in
the terms of an index. SQLite overwrites most of it at once (`secure_delete`); what it moved about
before stays. So after each erasure the log is emptied into the file and the file is looked through,
and where a piece is left, indexes and file are written anew.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Final

import apsw
import orjson

from factbook.errors import StoreReadOnly
from factbook.store.base_erase import Erasure, Scoured, Sighting
from factbook.store.sqlite.erasing import FTS, WORD_CHARS
from factbook.store.sqlite.file import busy_timeout_ms, translated
from factbook.store.sqlite.guard import beside
from factbook.store.sqlite.repeating import escaped

SHOWN_ELSEWHERE: Final = 20
TEXTS_SOUGHT: Final = 32
"""Of more texts that were erased at once, only the first are looked for in rows that are kept: each
makes the pass over every row longer."""
PATIENCE_MS: Final = 5_000  # how long readers may keep the file from being cleaned
_BUSY: Final = "somebody is reading the file as it was before"


# Rows that stay: they are not touched, but where they stand is said.
_KEPT: Final = (
    ("e", "episode_row", "text"),
    ("e", "episode_row", "attributes"),
    ("f", "fact_row", "statement"),
    ("f", "fact_row", "object"),
    ("n", "entity_row", "name"),
    ("p", "preference_row", "topic"),
    ("l", "learn_prompt_row", "text"),
    ("q", "search_log_row", "query"),
    ("s", "source_row", "uri"),
    ("s", "source_row", "title"),
    ("r", "rejection_row", "excerpt"),
)


class EraseReads:
    """The part of the store that reads what was erased, and cleans the file."""

    path: Path
    _scours: threading.local

    def _rows(self, sql: str, bindings: Sequence[Any] | Mapping[str, Any] = ()) -> list[Any]:
        raise NotImplementedError

    @property
    def _connection(self) -> apsw.Connection:
        raise NotImplementedError

    @property
    def _may_write(self) -> bool:
        raise NotImplementedError

    def _alone(self) -> AbstractContextManager[None]:
        raise NotImplementedError

    def erasures(self, *, limit: int = 100) -> list[Erasure]:
        """Return acts of erasing, newest first."""
        rows = self._rows(
            "SELECT id, at, actor, what, counts, clean, allowed_at FROM erasure_row"
            " ORDER BY id DESC LIMIT ?",
            (limit,),
        )
        return [
            Erasure._make((*row[:4], orjson.loads(row[4]), bool(row[5]), row[6])) for row in rows
        ]

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

    def _after_erasing(
        self, erasures: Sequence[int], wiped: Sequence[str], sought: Sequence[str]
    ) -> None:
        """Clean the file of what a transaction has just erased, and remember what was found.

        The rows are gone already, whatever happens here: what cannot be cleaned now, because
        somebody reads the file as it was before, is left for the next time and said.
        """
        from factbook.store.sqlite.traces import Windows, blocks_of

        windows = Windows.of([*wiped, *escaped(wiped)])
        kept = windows.found_in(self._kept())
        left = windows.without(kept)
        trouble = self._flush()
        seen = left.found_in(self._bytes())
        # Of what an earlier erasure could not clean nobody knows the words any more.
        unknown = {row[0] for row in self._rows("SELECT id FROM erasure_row WHERE clean = 0")}
        rewritten = not trouble and bool(len(seen) or unknown.difference(erasures))
        if rewritten:
            trouble = self._write_anew() or self._flush()
            seen = left.found_in(self._bytes())
        if not trouble:
            self._note_clean()
        wanted = _worth_seeking(sought)
        holding = self._holding(wanted[:TEXTS_SOUGHT], whole=True)
        self._scours.last = Scoured(
            clean=not trouble and not len(seen),
            rewritten=rewritten,
            waiting=trouble,
            pieces=len(seen),
            elsewhere=holding[:SHOWN_ELSEWHERE],
            more=max(0, len(holding) - SHOWN_ELSEWHERE),
            unsought=max(0, len(wanted) - TEXTS_SOUGHT),
            copies=[str(one) for one in self.copies() if len(left.found_in(blocks_of(one)))],
        )

    def sight(self, text: str) -> Sighting:
        """Say where a text stands: in rows, in the bytes of the file, in its copies."""
        from factbook.store.sqlite.traces import WIDTH, Windows, blocks_of

        windows = Windows.of([text])
        whole = text.encode("utf-8", "surrogatepass")
        overlap = max(len(whole), WIDTH) - 1
        with translated(self.path):
            left = windows.without(windows.found_in(self._kept()))
            return Sighting(
                rows=self._holding([text])[:SHOWN_ELSEWHERE],
                in_file=any(whole in block for block in self._bytes(overlap=overlap)),
                pieces=len(left.found_in(self._bytes())),
                copies=[
                    str(one)
                    for one in self.copies()
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
                for target in FTS:
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
        from factbook.store.sqlite.traces import WIDTH, blocks_of

        overlap = WIDTH - 1 if overlap is None else overlap
        for suffix in ("", "-wal", "-shm", "-journal"):
            yield from blocks_of(beside(self.path, suffix), overlap=overlap)

    def copies(self) -> list[Path]:
        """Return the copies that were made before the file was upgraded, or to save what was held.

        `LedgerFile.rescue` makes the latter.
        """
        name = _globbed(self.path.name)
        found = [
            *self.path.parent.glob(f"{name}.schema-*"),
            *self.path.parent.glob(f"{name}.saved-*"),
        ]
        return sorted(one for one in found if one.is_file())

    def _kept(self) -> Iterator[bytes]:
        """Yield everything that the rows hold now, and the terms of the full-text indexes."""
        from factbook.store.sqlite.traces import joined

        return joined(self._pieces())

    def _pieces(self) -> Iterator[bytes]:
        from factbook.store.sqlite.traces import WIDTH

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
        for target in FTS:
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

    def _holding(self, texts: Sequence[str], *, whole: bool = False) -> list[str]:
        """Return rows that hold one of the texts, in any case and however its words are spaced.

        With `whole` as words of its own: nobody is told of "steam" where "tea" is meant.
        """
        wanted = [(_longest_word(said), said) for one in texts if (said := _spaced(one.casefold()))]
        found: list[str] = []
        for letter, table, column in _KEPT if wanted else ():
            rows = f"SELECT id, {column} FROM {table} WHERE {column} <> ''"
            for one, text in self._connection.execute(rows):
                folded = text.casefold()
                if any(
                    word in folded and _stands_in(said, _spaced(folded), whole=whole)
                    for word, said in wanted
                ):
                    found.append(f"{letter}{one}")
        return list(dict.fromkeys(found))


def _worth_seeking(texts: Sequence[str]) -> list[str]:
    """Return texts, each once, without those that stand anywhere by chance."""
    low, _ = WORD_CHARS
    return [one for one in dict.fromkeys(texts) if len(one.strip()) >= low]


def _spaced(folded: str) -> str:
    """Return a text with one space wherever words of a name may be joined."""
    return " ".join(folded.replace("-", " ").replace("_", " ").split())


def _longest_word(spaced: str) -> str:
    return max(spaced.split(), key=len)


def _stands_in(said: str, text: str, *, whole: bool) -> bool:
    if not whole:
        return said in text
    return said in text and re.search(rf"(?<!\w){re.escape(said)}(?!\w)", text) is not None


def _globbed(name: str) -> str:
    return re.sub(r"([*?\[])", r"[\1]", name)
