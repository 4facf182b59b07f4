"""Rows as records, and records as rows: the shapes of the format."""

from __future__ import annotations

import math
import typing
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, asdict
from enum import Enum
from functools import cache, partial
from typing import Any, Final, NamedTuple, TypeAlias

from factbook.model.facts import UNSTORED, Cursor, Episode, LineCount, Source, SourceState
from factbook.store.kinds import (
    EMBED_TASK,
    ERASED,
    KINDS,
    LEASE,
    LOOSE,
    MARK,
    OWNER,
    RECORDED,
    SEARCH_LOG,
    TOLD,
    Kind,
    or_none,
    plain_type,
)
from factbook.store.rows import SPANS, EvidenceRow, KeptEpisode, Life, with_spans, without_spans

FORMAT: Final = 1
"""The version of the format: a greater one holds what this factbook does not know."""

HEADER: Final = "export"
"""The kind of the first record."""

Record: TypeAlias = dict[str, object]

NOT_CARRIED: Final = frozenset({LEASE, EMBED_TASK, MARK, OWNER, LOOSE, ERASED, RECORDED, TOLD})
"""Who works on what, how far work has come in the commits of one store, its empty rows, and digests
that say nothing without its key."""

NAMED_IN_DETAILS: Final[Mapping[str, str]] = {
    "added": "episode",
    "removed": "episode",
    "episode": "episode",
    "episode_id": "episode",
    "loser": "fact",
    "other": "fact",
    "replaces": "fact",
    "moved": "fact",
    "merged": "fact",
    "facts": "fact",
    "against": "fact",
    "merged_into_id": "fact",
    "superseded_by": "fact",
    "winner": "entity",  # of an entity that was merged
    "engagements": "engagement",
    "run": "run",
    "erasure": "erasure",
}
"""What details of events and proposals name by its number: key -> kind of row."""

COUNTED: Final = frozenset({"facts"})
"""Keys of details under which a number alone says how many, and names none."""

SMALL: Final[Mapping[str, Kind[Any]]] = {
    kind.name: kind for kind in KINDS if kind not in NOT_CARRIED
}
"""The kinds of records that are rows of a `Kind`."""

OF_PAIRS: Final = ("judge", "clean")
"""Tasks of a model whose target is no row; they are not carried either."""

EVENT_KINDS: Final[Mapping[str, str]] = {"search": SEARCH_LOG.name}
"""Kinds that the history calls otherwise."""

_INTS: Final = range(-(1 << 63), 1 << 63)
_NAMED: Final = {  # the fields that are called otherwise in records
    "fact": {"claim": ""},  # made anew of what it stands for
    "evidence": {"start": "start_char", "end": "end_char"},
    "episode": {"offset": "byte_offset", "group": "message"},
}


class BadRecord(ValueError):
    """A record lacks something, or holds what cannot stand there."""


class Checked(NamedTuple):
    """How one field of a row is written and read."""

    field: str  # of the row
    name: str  # of the record
    write: Callable[[Any], object] | None  # None: as it is
    read: Callable[[object], Any]  # raises ValueError for what is no such value
    given: bool  # whether a record must have it


def record_of(kind: str, row: Any) -> Record:
    """Return a row as a record."""
    if isinstance(row, SourceState):
        return _source_record(row)
    if isinstance(row, KeptEpisode):
        return _episode_record(row)
    rows: Any = type(row)
    names, writers = _plan(kind, rows)
    record: Record = {"record": kind, **dict(zip(names, row, strict=True))}
    for name, write in writers:
        record[name] = write(record[name])
    record.pop("", None)
    return record


def row_of(record: Mapping[str, object]) -> Any:
    """Return the row that a record is; its ids are those of the file.

    Raises BadRecord, with what is wrong, for one that is no whole record of its kind.
    """
    kind = str(record["record"])
    if kind == "source":
        return _source_of(record)
    if kind == "episode":
        return _episode_of(record)
    row: Any = {"fact": Life, "evidence": EvidenceRow}.get(kind) or SMALL[kind].row
    return row(**_read(record, _fields(kind, row)))


def target_of(task: str) -> str:
    """Return the kind of what a model is asked about in a task, by the kind of the task."""
    return SEARCH_LOG.name if task == "search" else "episode"


def known(kind: object) -> bool:
    """Tell whether there are records of a kind."""
    return kind in ("source", "episode", "fact", "evidence") or kind in SMALL


def _source_record(row: SourceState) -> Record:
    return {
        "record": "source",
        "id": row.id,
        **asdict(row.source),
        "first_at": row.first_at,
        "last_at": row.last_at,
        "episode_count": row.episode_count,
        "cursor": {**asdict(row.cursor), "state": dict(row.cursor.state)},
        "lines": asdict(row.lines),
    }


def _source_of(record: Mapping[str, object]) -> SourceState:
    cursor, lines = (_mapping(record.get(name, {})) for name in ("cursor", "lines"))
    return SourceState(
        id=_int(record.get("id")),
        source=Source(**_read(record, _parts("source", Source))),
        cursor=Cursor(**_read(cursor, _parts("cursor", Cursor))),
        lines=LineCount(**_read(lines, _parts("lines", LineCount))),
    )


def _episode_record(row: KeptEpisode) -> Record:
    record: Record = {"record": "episode", "id": row.id, "source_id": row.source_id}
    for part in _episode_parts():
        value = getattr(row.episode, part.field)
        record[part.name] = value if part.write is None else part.write(value)
    record["attributes"] = with_spans(row.episode)
    record["learned_at"] = row.learned_at
    return record


def _episode_of(record: Mapping[str, object]) -> KeptEpisode:
    given = _read(record, _episode_parts())
    attributes = dict(given.get("attributes", {}))
    if not all(isinstance(value, str) for value in attributes.values()):
        raise BadRecord("attributes is no mapping of texts")
    given |= {**without_spans(attributes), "source": ""}
    return KeptEpisode(
        _int(record.get("id")),
        _int(record.get("source_id")),
        _int(record.get("learned_at", 0)),
        Episode(**given),
    )


def _read(record: Mapping[str, object], parts: Sequence[Checked]) -> dict[str, Any]:
    fields = {}
    for part in parts:
        if not part.name:
            fields[part.field] = b""
        elif part.name in record:
            try:
                fields[part.field] = part.read(record[part.name])
            except ValueError as error:
                raise BadRecord(f"{part.name} {error}") from None
        elif part.given:
            raise BadRecord(f"{part.name} is missing")
    return fields


@cache
def _plan(
    kind: str, row: Any
) -> tuple[Sequence[str], Sequence[tuple[str, Callable[[Any], object]]]]:
    """Return the names of a row's fields, and those that are not written as they are."""
    parts = _fields(kind, row)
    return [part.name for part in parts], [
        (part.name, part.write) for part in parts if part.name and part.write is not None
    ]


@cache
def _episode_parts() -> Sequence[Checked]:
    # Its source is named by its id, and parts of its text stand among the attributes.
    left_out = ("source", *SPANS)
    return [part for part in _parts("episode", Episode) if part.name not in left_out]


@cache
def _fields(kind: str, row: Any) -> Sequence[Checked]:
    hints, defaults = typing.get_type_hints(row), row._field_defaults
    return [_checked(kind, name, hints[name], name not in defaults) for name in row._fields]


@cache
def _parts(kind: str, values: Any) -> Sequence[Checked]:
    hints = typing.get_type_hints(values)
    fields = values.__dataclass_fields__
    return [
        _checked(kind, name, hints[name], _is_required(fields[name]))
        for name in fields
        if name not in UNSTORED
    ]


def _is_required(part: Any) -> bool:
    return part.default is MISSING and part.default_factory is MISSING


def _checked(kind: str, field: str, hint: Any, given: bool) -> Checked:
    name = _NAMED.get(kind, {}).get(field, field)
    plain, optional = plain_type(hint)
    is_enum = isinstance(plain, type) and issubclass(plain, Enum)
    read = partial(_enum, plain) if is_enum else _READERS[plain]
    write = str if is_enum else _WRITERS.get(plain)
    if optional:
        read, write = or_none(read), or_none(write) if write else None
    return Checked(field, name, write, read, given)


def _enum(kind: type[Enum], value: object) -> Enum:
    try:
        return kind(value)
    except ValueError:
        raise BadRecord(f"is none of {', '.join(str(enum.value) for enum in kind)}") from None


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise BadRecord("is no text")
    return value


def _bool(value: object) -> bool:
    if value not in (0, 1):
        raise BadRecord("is neither true nor false")
    return bool(value)


def _int(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value not in _INTS:
        raise BadRecord("is no whole number of 64 bits")
    return value


def _float(value: object) -> float:
    if not isinstance(value, int | float) or isinstance(value, bool) or not math.isfinite(value):
        raise BadRecord("is no number")
    return float(value)


def _digest(value: object) -> bytes:
    return bytes.fromhex(_text(value))


def _mapping(value: object) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise BadRecord("is no object")
    return value


def _list(value: object) -> Sequence[Any]:
    if not isinstance(value, list):
        raise BadRecord("is no list")
    return value


_READERS: Final[Mapping[Any, Callable[[object], Any]]] = {
    str: _text,
    bool: _bool,
    int: _int,
    float: _float,
    bytes: _digest,
    Mapping: _mapping,
    dict: _mapping,
    Sequence: _list,
    tuple: _list,
}
_WRITERS: Final[Mapping[Any, Callable[[Any], object]]] = {
    bytes: bytes.hex,
    Mapping: dict,
    Sequence: list,
}
