"""The reads of a SQLite file: of a store, of a snapshot of it, and inside a write."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import orjson

from factbook import policy
from factbook.model.facts import EVERYONE, At, EpisodeKind, Everyone, Millis
from factbook.model.text import strings
from factbook.store.kinds import CALLED, NO_WORDS, called
from factbook.store.rows import Changes, Filters, Head, Nearest, Outlines
from factbook.store.sqlite.ledger import LedgerReads
from factbook.store.sqlite.records import RecordReads
from factbook.store.sqlite.rows import (
    IN,
    ROWS,
    VECTOR_TABLES,
    WAITS,
    episode_where,
    fact_where,
    json_list,
    limited,
)
from factbook.store.sqlite.text import fts_query, search_text

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from factbook.store.sqlite.nearest import Held

_ROWS: Final = {"episode": "episode_row e", "fact": "fact_row f"}
_JOINED: Final = {
    "episode": " JOIN source_row s ON s.id = e.source_id",
    "fact": " JOIN episode_row e ON e.id = f.episode_id JOIN source_row s ON s.id = e.source_id",
}
_EMBEDDER: Final = (
    "SELECT name, value FROM meta WHERE name IN ('embedder', 'embedder_dim', 'next_embedder')"
)
_HEAD: Final = "SELECT name, value FROM meta WHERE name IN ('commit', 'memory', 'everyone')"
_EMBEDDED: Final = {"episode": "text", "fact": "statement", "entity": "name", "preference": "topic"}


# Each episode is told with its place, so by its view.
_TOLD: Final = (
    "SELECT CASE name WHEN 'episode_data' THEN 'episode_row' ELSE name END FROM sqlite_master"
    " WHERE type = 'table' AND name <> 'place_row'"
)
_PROMPTS: Final = (
    "SELECT id FROM episode_row WHERE source_id = ? AND kind = 'prompt'"
    " AND (injected = 0 OR text = '')"  # an erased one still is where its turn began
)
_TURN_BEGINS: Final = """
    SELECT p.source_id, p.id, p.owner FROM episode_row e
    JOIN source_row s ON s.id = e.source_id AND s.kind = 'session_log'  -- only these have prompts
    JOIN episode_row p ON p.source_id = e.source_id
    WHERE e.id = ? AND p.kind = 'prompt' AND (p.injected = 0 OR p.text = '') AND p.id <= e.id
    ORDER BY p.id DESC LIMIT 1
"""


class SQLiteReads(RecordReads, LedgerReads):
    """What may be asked of a ledger in a SQLite file."""

    def head(self, owner: str | Everyone = EVERYONE) -> Head:
        known = dict(self._rows(_HEAD))
        if owner is EVERYONE:
            return Head(int(known["commit"]), int(known["memory"]))
        theirs = self._rows("SELECT memory FROM owner_row WHERE owner = ?", (owner,))
        everyone = int(known["everyone"])
        return Head(int(known["commit"]), max([everyone, *(row[0] for row in theirs)]))

    def changed(self, what: str, after: At, *, limit: int | None = None) -> Changes:
        kind, _, target = what.rpartition(":")
        page = None if limit is None else limit + 1
        if not kind:
            rows = self._new_rows(target, after, page)
        else:
            table, column = VECTOR_TABLES[target]
            sql = (
                f"SELECT commit_no, {column} FROM {table} WHERE (commit_no, {column}) > (?, ?)"
                f" ORDER BY commit_no, {column}"
            )
            rows = self._rows(limited(sql, page), after)
        more = limit is not None and len(rows) > limit
        rows = rows[:limit]
        last = At(*rows[-1]) if rows else after
        gone: list[tuple[int, int]] = []
        if kind:
            gone = self._rows(
                "SELECT commit_no, row_id FROM vector_gone WHERE target = ?"
                " AND (commit_no, row_id) > (?, ?) ORDER BY commit_no, row_id",
                (target, *after),
            )
            if more:
                gone = [place for place in gone if place <= last]
            elif gone:
                last = max(last, At(*gone[-1]))
        return Changes([row[1] for row in rows], [row[1] for row in gone], last, more)

    def _new_rows(self, target: str, after: At, limit: int | None) -> list[tuple[int, int]]:
        """Return (commit, id) of rows behind a place; their ids ascend with the commits."""
        so_far = (
            f"SELECT coalesce((SELECT {target}_to FROM commit_row WHERE no <= ?"
            " ORDER BY no DESC LIMIT 1), 0)"
        )
        before, end = (self._rows(so_far, (no,))[0][0] for no in (after.commit - 1, after.commit))
        first = max(before, min(after.id, end))
        sql = limited(f"SELECT id FROM {ROWS[target]} WHERE id > ? ORDER BY id", limit)
        ids = [row[0] for row in self._rows(sql, (first,))]
        if not ids:
            return []
        sql = f"SELECT no, {target}_to FROM commit_row WHERE no >= ? ORDER BY no"
        placed: list[tuple[int, int]] = []
        commits = iter([*self._rows(sql, (after.commit,)), (self.head().commit + 1, ids[-1])])
        no, end = next(commits)
        for id_ in ids:
            while id_ > end:
                no, end = next(commits)
            placed.append((no, id_))
        return placed

    def search(
        self, target: str, terms: Sequence[str], filters: Filters, k: int
    ) -> list[tuple[int, float]]:
        match = fts_query(terms)
        if not match:
            return []
        filters = self._plain(filters)
        if target == "episode" and not filters.narrows_episodes:
            return search_text(self._rows, target, match, "", (), k, wide=True)
        where, bindings = _where(target, filters)
        wide = not _narrows(target, replace(filters, owner=EVERYONE))
        passing = f"{_table(target, filters)} WHERE {where}"
        return search_text(self._rows, target, match, passing, bindings, k, wide=wide)

    def in_memory(self) -> Held:
        """Return what is held in memory as of this moment; inside a write, all is read anew."""
        from factbook.store.sqlite.nearest import Follower

        return Follower().follow(self._rows, self.embedder, self.head().commit)

    def nearest(
        self, target: str, vectors: NDArray[np.float32], filters: Filters, k: int
    ) -> list[Nearest]:
        allowed = filters.ids
        if _narrows(target, replace(filters, owner=EVERYONE, ids=None)):
            allowed = self.ids(target, filters)
        return self.in_memory().nearest(target, vectors, filters.owner, k, allowed=allowed)

    def vectors(self, target: str, ids: Sequence[int]) -> tuple[list[int], bytes]:
        table, column = VECTOR_TABLES[target]
        sql = f"SELECT {column}, vector FROM {table} WHERE {column} IN {IN} ORDER BY {column}"
        rows = self._rows(sql, (json_list(ids),))
        return [row[0] for row in rows], b"".join(row[1] for row in rows)

    def ids(self, target: str, filters: Filters) -> list[int]:
        filters = self._plain(filters)
        where, bindings = _where(target, filters)
        column = f"{target[0]}.id"
        sql = f"SELECT {column} FROM {_table(target, filters)} WHERE {where} ORDER BY {column}"
        return [row[0] for row in self._rows(sql, bindings)]

    def outlines(
        self, ids: Sequence[int], *, reach: int = 0, owner: str | Everyone = EVERYONE
    ) -> Outlines:
        return self.in_memory().outlines(ids, reach=reach, owner=owner)

    def turns(self, ids: Sequence[int]) -> dict[int, Sequence[tuple[int, EpisodeKind]]]:
        found: dict[int, Sequence[tuple[int, EpisodeKind]]] = {}
        for id_ in sorted(set(ids)):
            if id_ in found:
                continue
            for source, first, owner in self._rows(_TURN_BEGINS, (id_,)):
                ends = self._rows(f"{_PROMPTS} AND id > ? ORDER BY id LIMIT 1", (source, first))
                end = next((row[0] for row in ends), None)
                members = [
                    (row[0], EpisodeKind(row[1]))
                    for row in self._rows(
                        "SELECT id, kind FROM episode_row WHERE source_id = ? AND id >= ?"
                        " AND (?3 IS NULL OR id < ?3) AND (injected = 0 OR text = '')"
                        " AND owner = ?4 ORDER BY id",
                        (source, first, end, owner),
                    )
                ]
                found.update((member, members) for member, _ in members)
        return {id_: found[id_] for id_ in ids if id_ in found}

    def speakers(self, owner: str | Everyone) -> Sequence[str]:
        return self.in_memory().speakers(owner)

    def each_text(self) -> Iterator[tuple[str, str]]:
        for (table,) in self._rows(_TOLD):
            columns = [
                row[1]
                for row in self._rows(f"PRAGMA table_info({table})")
                if row[2] == "TEXT" and row[1] not in NO_WORDS
            ]
            if "_fts" in table or not columns:
                continue  # an index holds what its rows say
            kind = "alias" if table == "entity_alias" else table.removesuffix("_row")
            letter, key = CALLED.get(kind, ("", f"'{table}'"))
            if kind == "event":
                key = "target_kind, target_id"
            # The last column first: there stands what somebody said.
            for row in self._scan(f"SELECT {', '.join(columns[::-1])}, {key} FROM {table}"):
                parts = filter(None, row[: len(columns)])
                if text := "\x1f".join(filter(None, map(_inside, parts))):
                    name = called(*row[-2:]) if kind == "event" else f"{letter}{row[-1]}"
                    yield name, text

    def waiting(
        self,
        target: str,
        *,
        limit: int,
        after: int = 0,
        due: Millis | None = None,
        besides: Collection[int] = (),
        next: bool = False,
    ) -> list[tuple[int, str]]:
        text, waits = _EMBEDDED[target], WAITS[target]
        bindings: list[Any] = []
        if next:
            table, column = VECTOR_TABLES[target]
            waits = (
                f"id IN (SELECT {column} FROM {table}) AND NOT EXISTS"
                f" (SELECT 1 FROM next_vector n WHERE n.target = '{target}' AND n.row_id = id)"
            )
        if due is not None:
            waits += (
                f" AND NOT EXISTS (SELECT 1 FROM embed_task t WHERE t.target = '{target}'"
                " AND t.row_id = w.id AND (t.aside = 1 OR (t.until > ? AND t.until <= ?)"
                f" OR t.token IN {IN}))"
            )
            bindings += [due, due + policy.LONGEST_WAIT_MS, json_list(besides)]
        sql = f"SELECT id, {text} FROM {ROWS[target]} w WHERE {waits} AND id > ? ORDER BY id"
        return [(row[0], row[1]) for row in self._rows(limited(sql, limit), (*bindings, after))]

    def embedder(self, *, next: bool = False) -> tuple[str, int] | None:
        meta = dict(self._rows(_EMBEDDER))
        if next:
            name, _, dim = str(meta.get("next_embedder", "")).rpartition(" ")
        else:
            name, dim = meta.get("embedder", ""), meta.get("embedder_dim", "")
        return (name, int(dim)) if name and dim else None


def _inside(value: str) -> str:
    """Return the words of a text, or of every string of one that is JSON."""
    if value[:1] not in ("{", "["):
        return value
    try:
        return "\n".join(strings(orjson.loads(value)))
    except orjson.JSONDecodeError:
        return value


def _narrows(target: str, filters: Filters) -> bool:
    return filters.narrows_episodes if target == "episode" else filters.narrows_facts


def _table(target: str, filters: Filters) -> str:
    """Return what the conditions of filters need: a fact's host is that of its source."""
    joins = filters.host or filters.project or filters.session or filters.turns_any_time
    return f"{_ROWS[target]}{_JOINED[target] if joins else ''}"


def _where(target: str, filters: Filters) -> tuple[str, list[Any]]:
    return episode_where(filters) if target == "episode" else fact_where(filters)
