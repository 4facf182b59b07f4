"""The verbs: everything that changes memory is one of these Ops; `apply` is their only reader.

The union is closed. Each Op is a frozen value and has a strict JSON form (`to_json`, `from_json`).
"""

from __future__ import annotations

import base64
import dataclasses
import types
import typing
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, TypeAlias, get_args, get_origin

import orjson

from factbook.errors import UsageError
from factbook.model import (
    Candidate,
    Cursor,
    Episode,
    LineCount,
    RejectedLine,
    Source,
    Trust,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordSource:
    """Make a source known, or bring its title and project up to date."""

    source: Source


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordEpisode:
    """Keep an episode; one with the same uid is kept once."""

    episode: Episode


@dataclass(frozen=True, slots=True, kw_only=True)
class AssertFact:
    """Claim a fact with an episode as its evidence."""

    candidate: Candidate
    episode: str  # Episode.uid of the evidence
    owner: str
    confidence: float  # capped by trust, as the gate decided
    trust: Trust
    quote: str  # the span's text in that episode, cut at policy.QUOTE_CHARS


@dataclass(frozen=True, slots=True, kw_only=True)
class RejectCandidate:
    """Keep what the gate refused, with its reason."""

    candidate: Candidate
    episode: str
    owner: str
    reason: str
    detail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RejectLine:
    """Keep the place and the reason of a line that could not be read."""

    source: str
    line: RejectedLine


@dataclass(frozen=True, slots=True, kw_only=True)
class AdvanceCursor:
    """Remember how far a source has been read and what its lines were."""

    source: str
    cursor: Cursor
    lines: LineCount  # of this step
    began: int | None = None  # the byte where this step began: another run may have been faster
    restart: bool = False  # the file was replaced: its counts begin anew


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreVectors:
    """Keep the vectors of episodes and facts; a waiting fact becomes active."""

    target: str  # "episode" or "fact"
    model: str  # Embedder.id
    ids: Sequence[int]
    vectors: bytes  # len(ids) rows of float16, normalised
    dim: int


Op: TypeAlias = (
    RecordSource
    | RecordEpisode
    | AssertFact
    | RejectCandidate
    | RejectLine
    | AdvanceCursor
    | StoreVectors
)

OPS: Mapping[str, type] = {op.__name__: op for op in get_args(Op)}


def to_json(op: Op) -> bytes:
    """Return the JSON form of an Op: its name under "op", its fields as they are."""
    return orjson.dumps({"op": type(op).__name__, **_plain(op)})


def from_json(data: bytes | str) -> Op:
    """Read an Op from its JSON form.

    Raises UsageError for anything but exactly the fields of a known Op, each of its type.
    """
    try:
        value = orjson.loads(data)
    except orjson.JSONDecodeError as error:
        raise UsageError(detail=f"this is not the JSON of an op: {error}") from error
    if not isinstance(value, dict) or value.get("op") not in OPS:
        raise UsageError(detail=f'an op needs "op", one of {", ".join(OPS)}')
    name = value.pop("op")
    return typing.cast(Op, _read(OPS[name], value, name))


def _plain(value: Any) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {part.name: _plain(getattr(value, part.name)) for part in dataclasses.fields(value)}
    if isinstance(value, bytes):
        return base64.b64encode(value).decode("ascii")
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return value


def _read(kind: Any, value: Any, where: str) -> Any:
    """Build a value of type `kind` from plain JSON, or say where it does not fit."""
    if kind is Any or kind is object:
        return value
    if dataclasses.is_dataclass(kind) and isinstance(kind, type):
        return _read_dataclass(kind, value, where)
    origin = get_origin(kind)
    if origin in (typing.Union, types.UnionType):
        return _read_union(get_args(kind), value, where)
    if origin is tuple:
        if isinstance(value, list):
            item = get_args(kind)[0]
            return tuple(_read(item, one, f"{where}[{n}]") for n, one in enumerate(value))
    elif origin in (Sequence, list):
        if isinstance(value, list):
            item = get_args(kind)[0]
            return [_read(item, one, f"{where}[{n}]") for n, one in enumerate(value)]
    elif origin in (Mapping, dict):
        if isinstance(value, dict):
            item = get_args(kind)[1]
            return {key: _read(item, one, f"{where}.{key}") for key, one in value.items()}
    elif isinstance(kind, type) and issubclass(kind, StrEnum):
        if isinstance(value, str) and value in set(kind):
            return kind(value)
    elif kind is bytes:
        if isinstance(value, str):
            try:
                return base64.b64decode(value, validate=True)
            except ValueError as error:
                raise UsageError(detail=f"{where} is not base64") from error
    elif kind is float:
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            return float(value)
    elif kind is type(None):
        if value is None:
            return None
    elif isinstance(kind, type) and type(value) is kind:
        return value
    raise UsageError(detail=f"{where} is {value!r:.60}, which is not {kind}")


def _read_union(kinds: tuple[Any, ...], value: Any, where: str) -> Any:
    for kind in kinds:
        try:
            return _read(kind, value, where)
        except UsageError:
            continue  # the next member of the union may fit; the last refusal is raised below
    raise UsageError(detail=f"{where} is {value!r:.60}, which fits none of {kinds}")


def _read_dataclass(kind: type, value: Any, where: str) -> Any:
    if not isinstance(value, dict):
        raise UsageError(detail=f"{where} is {value!r:.60}, not an object")
    hints = typing.get_type_hints(kind)
    parts = {part.name: part for part in dataclasses.fields(kind)}
    unknown = sorted(set(value) - set(parts))
    if unknown:
        raise UsageError(detail=f"{where} has no field {unknown[0]}")
    given = {
        name: _read(hints[name], value[name], f"{where}.{name}") for name in parts if name in value
    }
    for name, part in parts.items():
        needed = part.default is dataclasses.MISSING and part.default_factory is dataclasses.MISSING
        if needed and name not in given:
            raise UsageError(detail=f"{where} lacks {name}")
    return kind(**given)
