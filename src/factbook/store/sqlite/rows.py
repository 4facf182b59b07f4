"""The SQL of the reads, and how its rows become values."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson

from factbook import policy
from factbook.model.facts import (
    EVERYONE,
    Episode,
    EpisodeKind,
    Fact,
    FactKind,
    Role,
    Status,
    StoredEpisode,
    Trust,
)
from factbook.store.rows import Filters, KeptEpisode, spans_in, without_spans
from factbook.store.sqlite.file import not_text

# By value: calling an Enum takes longer than the rest of a row, and a telling reads hundreds.
FACT_KINDS = {fact_kind.value: fact_kind for fact_kind in FactKind}
EPISODE_KINDS = {episode_kind.value: episode_kind for episode_kind in EpisodeKind}
ROLES = {role.value: role for role in Role}
STATES = {status.value: status for status in Status}
TRUSTS = {trust.value: trust for trust in Trust}

# What failed may be tried again; bound to now and the longest wait from now (`leases.due`).
DUE = "NOT (until > ? AND until <= ?)"

VECTOR_TABLES = {
    "episode": ("episode_vector", "episode_id"),
    "fact": ("fact_vector", "fact_id"),
    "entity": ("entity_vector", "entity_id"),
    "preference": ("preference_vector", "preference_id"),
}

# Where the rows of a target are, for what asks for nothing of their places.
ROWS = {target: f"{target}_row" for target in VECTOR_TABLES} | {"episode": "episode_data"}

# Which rows of a target wait for their vector.
WAITS = {
    target: "status = 'pending_embed'" if target == "fact" else "vector_state = 1"
    for target in VECTOR_TABLES
}

FACT = """
SELECT f.id, f.owner, f.subject, f.predicate, f.object, f.statement, f.kind, f.status,
       f.confidence, f.confidence_at, f.trust, f.evidence_count, f.occurred_at, f.learned_at,
       f.retired_at, f.valid_from, f.valid_to, f.merged_into_id, f.superseded_by,
       s.host, e.session, e.project, f.episode_id, f.pinned
FROM fact_row f JOIN episode_row e ON e.id = f.episode_id JOIN source_row s ON s.id = e.source_id"""

EPISODE = """
SELECT e.id, e.uid, e.source_id, s.uri, e.kind, e.role, e.trust, e.text, e.position, e.byte_offset,
       e.occurred_at, e.owner, e.subject, e.message, e.session, e.project, e.branch, e.agent,
       e.tool, e.call_id, s.host, e.is_error, e.cut, e.injected,
       e.speaker, e.attributes
FROM episode_row e JOIN source_row s ON s.id = e.source_id"""

KEPT = """
SELECT e.id, e.source_id, e.learned_at, e.uid, s.key, e.kind, e.role, e.trust, e.text, e.position,
       e.byte_offset, e.occurred_at, e.owner, e.subject, e.message, e.session, e.project, e.branch,
       e.agent, e.speaker, e.tool, e.call_id, e.attributes, e.is_error, e.cut, e.injected,
       e.vector_state
FROM episode_row e JOIN source_row s ON s.id = e.source_id
WHERE e.id NOT IN (SELECT row_id FROM erased_row WHERE target = 'episode')"""

# What leads to the indexes of a subject and of a kind.
SUBJECT_ENDS = "substr(f.subject, -12)"
NO_OBSERVATION = "f.kind <> 'observation'"

_HOLDS = " ".join(f"WHEN '{name}' THEN {days!r}" for name, days in policy.HOLD_DAYS.items())
_LASTING = ", ".join(f"'{kind}'" for kind in sorted(policy.LASTING_KINDS))
VALUE_NOW = (
    f"max(CASE WHEN f.pinned = 1 OR f.kind IN ({_LASTING}) THEN f.confidence ELSE f.confidence"
    f" * exp({-policy.DECAY_PER_DAY!r} * max(0.0, (? - f.confidence_at) / 86400000.0"
    f" - CASE WHEN f.kind = 'typed' THEN CASE f.predicate {_HOLDS} ELSE 0.0 END ELSE 0.0 END)"
    f" - {policy.PASSED_PER_DAY!r} * CASE WHEN f.retired_at IS NULL AND f.valid_to IS NOT NULL"
    " THEN max(0.0, (? - max(f.valid_to, f.confidence_at)) / 86400000.0) ELSE 0.0 END) END,"
    f" CASE WHEN f.retired_at IS NULL AND f.valid_to = {policy.LASTING_TO}"
    f" THEN min(f.confidence, {policy.LASTING_FLOOR!r}) ELSE 0.0 END)"
)
"""`confidence.value_at` in SQL; its two parameters are the time, twice."""


class Rows:
    """What reads a file: a store, or the write that is open on it."""

    path: Path

    def _rows(self, sql: str, bindings: Sequence[Any] | Mapping[str, Any] = ()) -> list[Any]:
        raise NotImplementedError

    def _each(self, sql: str, bindings: Sequence[Any], limit: int | None) -> Iterator[Any]:
        """Iterate over rows, so many at most."""
        yield from self._rows(limited(sql, limit), bindings)

    def _scan(self, sql: str) -> Iterable[Any]:
        """Iterate over all rows of a table, as they are read where that can be."""
        return self._rows(sql)

    def _meta(self, name: str) -> str | None:
        rows = self._rows("SELECT value FROM meta WHERE name = ?", (name,))
        return str(rows[0][0]) if rows else None

    def _plain(self, filters: Filters) -> Filters:
        """Return filters without what is known to find nothing out."""
        return filters


def limited(sql: str, limit: int | None) -> str:
    """Return a query for so many rows at most.

    By its number: for one that is bound, SQLite makes its plan anew each time, which takes longer
    than to find a few rows.
    """
    return sql if limit is None else f"{sql} LIMIT {limit}"


def as_fact(row: Sequence[Any]) -> Fact:
    """Read a row of FACT."""
    return Fact(
        id=row[0],
        owner=row[1],
        subject=row[2],
        predicate=row[3],
        object=row[4],
        statement=row[5],
        kind=FACT_KINDS[row[6]],
        status=STATES[row[7]],
        confidence=row[8],
        confidence_at=row[9],
        trust=TRUSTS[row[10]],
        evidence_count=row[11],
        occurred_at=row[12],
        learned_at=row[13],
        retired_at=row[14],
        valid_from=row[15],
        valid_to=row[16],
        merged_into_id=row[17],
        superseded_by=row[18],
        host=row[19],
        session=row[20],
        project=row[21],
        episode_id=row[22],
        pinned=bool(row[23]),
    )


def as_episode(row: Sequence[Any]) -> StoredEpisode:
    """Read a row of EPISODE."""
    return StoredEpisode(
        id=row[0],
        uid=row[1],
        source_id=row[2],
        source=row[3],
        kind=EPISODE_KINDS[row[4]],
        role=ROLES[row[5]],
        trust=TRUSTS[row[6]],
        text=row[7],
        position=row[8],
        offset=row[9],
        occurred_at=row[10],
        owner=row[11],
        subject=row[12],
        group=row[13],
        session=row[14],
        project=row[15],
        branch=row[16],
        agent=row[17],
        tool=row[18],
        call_id=row[19],
        host=row[20],
        is_error=bool(row[21]),
        cut=row[22],
        injected=bool(row[23]),
        speaker=row[24],
        **({} if row[25] == "{}" else spans_in(orjson.loads(row[25]))),  # hardly any has some
    )


def as_kept(row: Sequence[Any]) -> KeptEpisode:
    """Read a row of KEPT."""
    episode = Episode(
        uid=row[3],
        source=row[4],
        kind=EpisodeKind(row[5]),
        role=Role(row[6]),
        trust=Trust(row[7]),
        text=row[8],
        position=row[9],
        offset=row[10],
        occurred_at=row[11],
        owner=row[12],
        subject=row[13],
        group=row[14],
        session=row[15],
        project=row[16],
        branch=row[17],
        agent=row[18],
        speaker=row[19],
        tool=row[20],
        call_id=row[21],
        is_error=bool(row[23]),
        cut=row[24],
        injected=bool(row[25]),
        embed=row[26] != 0,
        **without_spans(orjson.loads(row[22])),
    )
    return KeptEpisode(row[0], row[1], row[2], episode)


def json_list(values: Iterable[Any]) -> str:
    """Return values as a JSON array, for `json_each`; raises NotText for half a character."""
    values = list(values)
    try:
        return orjson.dumps(values).decode()
    except orjson.JSONEncodeError as error:
        raise not_text(values) from error


def _common_where(filters: Filters, time_column: str) -> tuple[list[str], list[Any]]:
    parts: list[str] = []
    bindings: list[Any] = []
    times: list[str] = []
    if filters.since is not None:
        times.append(f"{time_column} >= ?")
        bindings.append(filters.since)
    if filters.until is not None:
        times.append(f"{time_column} < ?")
        bindings.append(filters.until)
    if times:
        within = " AND ".join(times)
        parts.append(f"(e.kind = 'turn' OR {within})" if filters.turns_any_time else within)
    if filters.host:
        parts.append("s.host = ?")
        bindings.append(filters.host)
    if filters.project:
        parts.append("instr(lower(e.project), lower(?)) > 0")
        bindings.append(filters.project)
    if filters.session:
        parts.append("(e.session = ? OR s.session = ?)")
        bindings += [filters.session, filters.session]
    return parts, bindings


def episode_where(filters: Filters) -> tuple[str, list[Any]]:
    """Return the condition on episodes (e) and sources (s), with its bindings."""
    parts, bindings = _common_where(filters, "e.occurred_at")
    parts.append("e.injected = 0")
    if filters.owner is not EVERYONE:
        parts.append("e.owner = ?")
        bindings.append(filters.owner)
    if filters.episode_kinds:
        parts.append("e.kind IN (SELECT value FROM json_each(?))")
        bindings.append(json_list(filters.episode_kinds))
    if filters.ids is not None:
        parts.append("e.id IN (SELECT value FROM json_each(?))")
        bindings.append(json_list(filters.ids))
    if filters.before is not None:
        parts.append("e.id < ?")
        bindings.append(filters.before)
    if filters.roles:
        parts.append("e.role IN (SELECT value FROM json_each(?))")
        bindings.append(json_list(filters.roles))
    if filters.trusts:
        parts.append("e.trust IN (SELECT value FROM json_each(?))")
        bindings.append(json_list(filters.trusts))
    return " AND ".join(parts), bindings


def fact_where(filters: Filters) -> tuple[str, list[Any]]:
    """Return the condition on facts (f), episodes (e) and sources (s), with its bindings."""
    parts, bindings = _common_where(filters, "f.occurred_at")
    parts.append("f.retired_at IS NULL")
    if not filters.proposed:
        parts.append("f.status <> 'proposed'")
    if filters.owner is not EVERYONE:
        parts.append("f.owner = ?")
        bindings.append(filters.owner)
    if filters.predicates:
        parts.append("f.predicate IN (SELECT value FROM json_each(?))")
        bindings.append(json_list(filters.predicates))
    if filters.kinds:
        parts.append("f.kind IN (SELECT value FROM json_each(?))")
        bindings.append(json_list(filters.kinds))
        if FactKind.OBSERVATION not in filters.kinds:
            parts.append(NO_OBSERVATION)
    floor = filters.min_confidence
    if filters.now is not None and not filters.deprecated:
        floor = max(floor, policy.MIN_CONFIDENCE_ACTIVE)
    if floor > 0:
        if filters.now is None:
            parts.append("f.confidence >= ?")
        else:
            # A fact never grows by waiting, so the stored value refuses most of those that fail.
            parts.append(f"(f.confidence >= ? AND {VALUE_NOW} >= ?)")
            bindings += [floor, filters.now, filters.now]
        bindings.append(floor)
    if filters.object:
        parts.append("f.object = ?")
        bindings.append(filters.object)
    if filters.rules:
        parts.append(
            "EXISTS (SELECT 1 FROM evidence_row v JOIN rule_row r ON r.id = v.rule_id"
            " WHERE v.fact_id = f.id AND r.name IN (SELECT value FROM json_each(?)))"
        )
        bindings.append(json_list(filters.rules))
    if filters.subject:
        parts.append(f"f.subject = ? AND {SUBJECT_ENDS} = substr(?, -12)")
        bindings += [filters.subject] * 2
    if filters.ids is not None:
        parts.append("f.id IN (SELECT value FROM json_each(?))")
        bindings.append(json_list(filters.ids))
    if filters.before is not None:
        parts.append("f.id < ?")
        bindings.append(filters.before)
    return " AND ".join(parts), bindings
