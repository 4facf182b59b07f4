"""The verbs of small rows: one statement for each kind and set of fields, made once."""

from __future__ import annotations

import typing
from collections.abc import Callable, Collection, Mapping, Sequence
from enum import Enum, StrEnum
from functools import cache
from typing import Any, NamedTuple

import apsw
import orjson

from factbook.model.facts import EVERYONE
from factbook.store.kinds import (
    ALL,
    VECTOR,
    WAITING,
    Above,
    Below,
    Condition,
    Kind,
    Least,
    Other,
    R,
    Tally,
    Where,
    appended,
    changes_memory,
    checked,
    or_none,
    plain_type,
)
from factbook.store.sqlite.file import not_text
from factbook.store.sqlite.rows import IN, ROWS, WAITS, Rows, json_list, limited

# What a condition on a field is in SQL, by its shape.
_CONDITIONS = {
    "equal": "{} = ?",
    "empty": "{} IS NULL",
    Above.__name__: "{} > ?",
    Least.__name__: "{} >= ?",
    Below.__name__: "{} < ?",
    Other.__name__: "{} <> ?",
    "among": f"{{}} IN {IN}",
    "among bytes": "{} IN (SELECT unhex(value) FROM json_each(?))",
}


def _counted(tables: Mapping[str, str]) -> str:
    """Return a table of the counts of others; to count a union of them takes several times."""
    counts = (
        f"SELECT '{target}' AS target, count(*) AS counted FROM {table}"
        for target, table in tables.items()
    )
    return f"({' UNION ALL '.join(counts)})"


# Of kinds whose tables are not called like them; some are only counted.
_TABLES = {
    "alias": "entity_alias",
    "call": "model_call",
    "cited": "(SELECT v.fact_id, v.episode_id, v.stance, f.kind, f.status, f.confidence,"
    " f.predicate FROM evidence_row v JOIN fact_row f ON f.id = v.fact_id)",
    "embed_task": "embed_task",
    "evidence": "(SELECT (SELECT name FROM rule_row WHERE id = rule_id) AS rule FROM evidence_row)",
    "model_task": "model_task",
    "notice_fact": "notice_fact",
    "search_find": "search_find",
    "search_task": "search_task",
    "source": "(SELECT id FROM source_row WHERE id NOT IN"
    " (SELECT row_id FROM erased_row WHERE target = 'source'))",
    "tombstone": "tombstone",
    "vector": _counted({target: f"{target}_vector" for target in WAITS}),
    "waiting": _counted(
        {target: f"{ROWS[target]} WHERE {waits}" for target, waits in WAITS.items()}
    ),
}


class _Codec(NamedTuple):
    """How the rows of a kind become values and back, field by field, where that is not as is."""

    table: str
    columns: str
    decode: Sequence[tuple[int, Callable[[Any], Any]]]
    encode: Sequence[int]  # the fields that are kept as JSON


@cache
def _codec(kind: Kind[Any]) -> _Codec:
    hints = typing.get_type_hints(kind.row)
    decode: list[tuple[int, Callable[[Any], Any]]] = []
    encode = []
    for n, name in enumerate(kind.fields):
        plain, optional = plain_type(hints[name])
        read: Callable[[Any], Any]
        if plain is bool:
            read = bool
        elif isinstance(plain, type) and issubclass(plain, Enum):
            read = {enum.value: enum for enum in plain}.__getitem__  # calling it takes far longer
        elif plain in (Mapping, Sequence):
            read = orjson.loads
            encode.append(n)
        else:
            continue
        decode.append((n, or_none(read) if optional else read))
    table = _TABLES.get(kind.name, f"{kind.name}_row")
    return _Codec(table, ", ".join(kind.fields), decode, encode)


def _decoded(kind: Kind[R], rows: Sequence[Sequence[Any]]) -> list[R]:
    make, decode = kind.row._make, _codec(kind).decode  # type: ignore[attr-defined]
    if not decode:
        return list(map(make, rows))
    decoded = []
    for row in rows:
        parts = list(row)
        for n, read in decode:
            parts[n] = read(parts[n])
        decoded.append(make(parts))
    return decoded


def _encoded(kind: Kind[R], rows: Sequence[R]) -> list[list[Any]]:
    encoded: list[list[Any]] = [list(row) for row in rows]
    for n in _codec(kind).encode:
        for parts in encoded:
            try:
                parts[n] = orjson.dumps(parts[n], default=str).decode()
            except orjson.JSONEncodeError as error:
                raise not_text(parts[n]) from error
    return encoded


def _conditions(where: Where) -> tuple[tuple[tuple[str, str], ...], list[Any]]:
    """Return the fields of a condition with their shapes, and what is bound to them."""
    shapes: list[tuple[str, str]] = []
    bindings: list[Any] = []
    for name, value in where.items():
        shape, bound = _condition(value)
        if shape:
            shapes.append((name, shape))
            bindings += bound
    return tuple(shapes), bindings


def _condition(value: object) -> tuple[str, Sequence[Any]]:
    if value is EVERYONE:
        return "", ()
    if value is None:
        return "empty", ()
    named = value.value if isinstance(value, Other) else value
    if isinstance(named, StrEnum):  # not bound, as the number of `limited`
        return f"{{}} {'=' if named is value else '<>'} '{named.value}'", ()
    if isinstance(value, Condition):
        return type(value).__name__, (value.value,)
    if isinstance(value, int) and not -(1 << 63) <= value < 1 << 63:
        return "equal", (None,)  # no row holds such a number
    if isinstance(value, (str, bytes)) or not isinstance(value, Collection):
        return "equal", (value,)
    if isinstance(next(iter(value), None), bytes):
        return "among bytes", (json_list(item.hex() for item in value),)
    return "among", (json_list(value),)


def _where(shapes: tuple[tuple[str, str], ...]) -> str:
    parts = [_CONDITIONS.get(shape, shape).format(name) for name, shape in shapes]
    return f" WHERE {' AND '.join(parts)}" if parts else ""


@cache
def _select(kind: Kind[Any], shapes: tuple[tuple[str, str], ...], newest_first: bool) -> str:
    codec = _codec(kind)
    order = ", ".join(f"{name} DESC" if newest_first else name for name in kind.key)
    return f"SELECT {codec.columns} FROM {codec.table}{_where(shapes)} ORDER BY {order}"


@cache
def _count(
    kind: Kind[Any],
    by: Sequence[str],
    shapes: tuple[tuple[str, str], ...],
    most: str,
    distinct: str,
) -> str:
    table = f"{_codec(kind).table}{_where(shapes)}"
    counted = "sum(counted)" if kind in (VECTOR, WAITING) else "count(*)"
    if not (by or most or distinct):  # SQLite counts a table by itself where nothing stands beside
        return f"SELECT {counted} FROM {table}"
    shown = (
        counted,
        f"max({most})" if most else "NULL",
        f"count(DISTINCT {distinct})" if distinct else "0",
    )
    groups = f"GROUP BY {', '.join(by)}" if by else ""
    return f"SELECT {', '.join((*by, *shown))} FROM {table} {groups}"


@cache
def _delete(kind: Kind[Any], shapes: tuple[tuple[str, str], ...]) -> str:
    return f"DELETE FROM {_codec(kind).table}{_where(shapes)}"


@cache
def _insert(kind: Kind[Any]) -> str:
    codec = _codec(kind)
    marks = ",".join("?" * len(kind.fields))
    return f"INSERT INTO {codec.table} ({codec.columns}) VALUES ({marks})"


@cache
def _upsert(kind: Kind[Any]) -> str:
    # Not OR REPLACE, which deletes the row before: others may point to it.
    others = [f"{name} = excluded.{name}" for name in kind.fields if name not in kind.key]
    if kind.embedded:  # what comes back waits for its vector again
        others.append(
            "vector_state = CASE WHEN excluded.retired_at IS NOT NULL THEN 0"
            " WHEN vector_state = 0 THEN 1 ELSE vector_state END"
        )
    then = f"UPDATE SET {', '.join(others)}" if others else "NOTHING"
    return f"{_insert(kind)} ON CONFLICT ({', '.join(kind.key)}) DO {then}"


class RecordReads(Rows):
    """The reads of small rows."""

    def find(
        self,
        kind: Kind[R],
        where: Where = ALL,
        *,
        limit: int | None = None,
        newest_first: bool = False,
    ) -> list[R]:
        checked(kind, where)
        shapes, bindings = _conditions(where)
        sql = limited(_select(kind, shapes, newest_first), limit)
        return _decoded(kind, self._rows(sql, bindings))

    def tally(
        self,
        kind: Kind[Any],
        by: Sequence[str],
        where: Where = ALL,
        *,
        most: str = "",
        distinct: str = "",
    ) -> dict[tuple[Any, ...], Tally]:
        checked(kind, where, by, (most, distinct))
        shapes, bindings = _conditions(where)
        rows = self._rows(_count(kind, tuple(by), shapes, most, distinct), bindings)
        if not (by or most or distinct):
            return {(): Tally(rows[0][0])} if rows[0][0] else {}
        return {row[:-3]: Tally._make(row[-3:]) for row in rows if row[-3]}


class RecordWrites(RecordReads):
    """The verbs of small rows in a write."""

    _db: apsw.Connection
    quiet: bool = False  # whether the write is no commit
    drop_vectors: Callable[[str, Sequence[int]], None]

    def _rows(self, sql: str, bindings: Sequence[Any] | Mapping[str, Any] = ()) -> list[Any]:
        return self._db.execute(sql, bindings).fetchall()

    def add(self, kind: Kind[R], rows: Sequence[R]) -> list[int | None]:
        changes_memory(kind, quiet=self.quiet)
        has_ids = kind.has_ids
        if has_ids and not kind.unique and not any(row[0] for row in rows):
            return self._append(kind, rows)
        sql = f"{_insert(kind)} ON CONFLICT DO NOTHING"
        ids: list[int | None] = []
        for row in _encoded(kind, rows):
            values = (row[0] or None, *row[1:]) if has_ids else row
            self._db.execute(sql, values)
            added = self._db.last_insert_rowid() if has_ids else 0
            ids.append(added if self._db.changes() else None)
        return ids

    def _append(self, kind: Kind[R], rows: Sequence[R]) -> list[int | None]:
        """Insert rows that get the next ids, all at once."""
        table = _codec(kind).table
        last = self._rows(f"SELECT coalesce(max(id), 0) FROM {table}")[0][0]
        ids = range(last + 1, last + 1 + len(rows))
        encoded = _encoded(kind, rows)
        for n, row in zip(ids, encoded, strict=True):
            row[0] = n
        self._db.executemany(_insert(kind), encoded)
        return list(ids)

    def put(self, kind: Kind[R], rows: Sequence[R]) -> None:
        """Insert rows, or overwrite those of the same key; what retires loses its vector."""
        appended(kind)
        changes_memory(kind, quiet=self.quiet)
        if kind.embedded:
            retired = [row[0] for row in rows if row[kind.fields.index("retired_at")] is not None]
            self.drop_vectors(kind.name, retired)
        self._db.executemany(_upsert(kind), _encoded(kind, rows))

    def drop(self, kind: Kind[Any], where: Where) -> int:
        appended(kind)
        changes_memory(kind, quiet=self.quiet)
        checked(kind, where)
        shapes, bindings = _conditions(where)
        self._db.execute(_delete(kind, shapes), bindings)
        return self._db.changes()
