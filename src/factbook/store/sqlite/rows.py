"""The SQL of the reads, and how its rows become values."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import orjson

from factbook import policy
from factbook.model import fast_dataclass
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
from factbook.store.rows import SPANS, Filters, KeptEpisode, spans_in, without_spans
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
       f.episode_id, f.retired_at, f.valid_from, f.valid_to, f.merged_into_id, f.superseded_by,
       f.pinned, s.host, e.session, e.project
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
       e.agent, e.speaker, e.tool, e.call_id, e.is_error, e.cut, e.injected, e.vector_state,
       e.attributes
FROM episode_row e JOIN source_row s ON s.id = e.source_id
WHERE e.id NOT IN (SELECT row_id FROM erased_row WHERE target = 'episode')"""

IN = "(SELECT value FROM json_each(?))"  # bound to a `json_list`

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


# Of rows whose columns stand in the order of the fields; what is not kept, or is made of another
# column, comes last.
_fact: Final = fast_dataclass.by_place(Fact)
_stored: Final = fast_dataclass.by_place(StoredEpisode)
_episode: Final = fast_dataclass.by_place(
    Episode, without=("fields", "attributes", *SPANS, "asked", "shown_by", "answer")
)


def as_fact(row: Sequence[Any]) -> Fact:
    """Read a row of FACT."""
    parts = list(row)
    parts[6], parts[7], parts[10] = FACT_KINDS[row[6]], STATES[row[7]], TRUSTS[row[10]]
    parts[20] = row[20] != 0
    return _fact(*parts)


def as_episode(row: Sequence[Any]) -> StoredEpisode:
    """Read a row of EPISODE."""
    *parts, kept = row
    parts[4], parts[5], parts[6] = EPISODE_KINDS[row[4]], ROLES[row[5]], TRUSTS[row[6]]
    parts[21], parts[23] = row[21] != 0, row[23] != 0
    spans = ((), ()) if kept == "{}" else spans_in(orjson.loads(kept)).values()  # hardly any has
    return _stored(*parts, *spans)


def as_kept(row: Sequence[Any]) -> KeptEpisode:
    """Read a row of KEPT."""
    id_, source_id, learned_at, *parts, kept = row
    parts[2], parts[3], parts[4] = EPISODE_KINDS[parts[2]], ROLES[parts[3]], TRUSTS[parts[4]]
    for n in (19, 21, 22):
        parts[n] = parts[n] != 0
    more = without_spans(orjson.loads(kept)).values()
    return KeptEpisode(id_, source_id, learned_at, _episode(*parts, (), *more, "", (), None))


def json_list(values: Iterable[Any]) -> str:
    """Return values as a JSON array, for `json_each`; raises NotText for half a character."""
    values = list(values)
    try:
        return orjson.dumps(values).decode()
    except orjson.JSONEncodeError as error:
        raise not_text(values) from error


def _common_where(filters: Filters, row: str) -> tuple[list[str], list[Any]]:
    """Return the conditions that episodes (e) and facts (f) have in common, on rows of either."""
    parts: list[str] = []
    bindings: list[Any] = []
    times: list[str] = []
    if filters.since is not None:
        times.append(f"{row}.occurred_at >= ?")
        bindings.append(filters.since)
    if filters.until is not None:
        times.append(f"{row}.occurred_at < ?")
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
    if filters.owner is not EVERYONE:
        parts.append(f"{row}.owner = ?")
        bindings.append(filters.owner)
    if filters.ids is not None:
        parts.append(f"{row}.id IN {IN}")
        bindings.append(json_list(filters.ids))
    if filters.before is not None:
        parts.append(f"{row}.id < ?")
        bindings.append(filters.before)
    return parts, bindings


def episode_where(filters: Filters) -> tuple[str, list[Any]]:
    """Return the condition on episodes (e) and sources (s), with its bindings."""
    parts, bindings = _common_where(filters, "e")
    parts.append("e.injected = 0")
    among = {"kind": filters.episode_kinds, "role": filters.roles, "trust": filters.trusts}
    for column, values in among.items():
        if values:
            parts.append(f"e.{column} IN {IN}")
            bindings.append(json_list(values))
    return " AND ".join(parts), bindings


def fact_where(filters: Filters) -> tuple[str, list[Any]]:
    """Return the condition on facts (f), episodes (e) and sources (s), with its bindings."""
    parts, bindings = _common_where(filters, "f")
    parts.append("f.retired_at IS NULL")
    if not filters.proposed:
        parts.append("f.status <> 'proposed'")
    if filters.predicates:
        parts.append(f"f.predicate IN {IN}")
        bindings.append(json_list(filters.predicates))
    if filters.kinds:
        parts.append(f"f.kind IN {IN}")
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
            f" WHERE v.fact_id = f.id AND r.name IN {IN})"
        )
        bindings.append(json_list(filters.rules))
    if filters.subject:
        parts.append(f"f.subject = ? AND {SUBJECT_ENDS} = substr(?, -12)")
        bindings += [filters.subject] * 2
    return " AND ".join(parts), bindings
