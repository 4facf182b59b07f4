"""The JSON forms of what the operations return; docs/cli.md shows them and they stay as they are.

Each form is named once, by its fields (`fields`). Moments are ISO 8601 in UTC. Nothing here reads a
memory; what may not be shown was taken out before.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from math import isfinite
from typing import TYPE_CHECKING, Final

from factbook.model.facts import iso
from factbook.surface.records.fields import Record, fields, listed, plain

if TYPE_CHECKING:
    from factbook.maintenance.maintenance import RuleUse
    from factbook.memory import Stats
    from factbook.model.facts import Evidence, Fact, Hit, Rejection, SourceState, SQLValue
    from factbook.pipelines.imported import ImportReport
    from factbook.pipelines.observed import IngestReport
    from factbook.pipelines.sources import Explanation
    from factbook.recall.search import Answer

__all__ = [
    "Ingested",
    "Record",
    "answer",
    "explanation",
    "fact",
    "fields",
    "hit",
    "imported",
    "ingest",
    "listed",
    "plain",
    "rejection",
    "rule",
    "session",
    "sql_row",
    "stats",
]

_EVIDENCE: Final = "rule method stance quote start end source position occurred_at"
_HIT: Final = (
    "id kind text score confidence occurred_at source position host project session predicate"
    " object count trust role"
)
_FACT: Final = (
    "id:f subject predicate object statement kind status confidence trust evidence_count"
    " occurred_at learned_at retired_at valid_from valid_to merged_into=merged_into_id:f"
    " superseded_by:f pinned owner host project session"
)
_RULE: Final = "name predicate confidence method subject looks_in pattern keywords"
_SESSION: Final = (
    "id session=source.session host=source.host project=source.project title=source.title"
    " agent=source.agent source=source.uri episodes=episode_count started_at=first_at"
    " ended_at=last_at lines"
)
_REJECTION: Final = "id at source position reason detail excerpt rule predicate"
_WINDOW: Final = "phrase since until"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ingested:
    """What an ingest did."""

    report: IngestReport
    predicates: Sequence[tuple[str, float, int]]  # name, confidence, new facts
    embedded: int
    waiting: int  # rows without a vector
    seconds: float  # of the reading


def hit(one: Hit) -> Record:
    """Return a hit of recall or an entry of the timeline."""
    return fields(one, _HIT, evidence=listed(one.evidence, _EVIDENCE))


def answer(found: Answer) -> Record:
    """Return the answer to a question."""
    window = None if found.window is None else fields(found.window, _WINDOW)
    return {
        "question": found.question,
        "window": window,
        **fields(found, "outside predicates waiting"),
        "hits": [hit(one) for one in found.hits],
    }


def fact(one: Fact, *, shown_by: Sequence[Evidence] | None = None) -> Record:
    """Return a fact, with its evidence where that was asked for."""
    more = {} if shown_by is None else {"evidence": listed(shown_by, _EVIDENCE)}
    return fields(one, _FACT, **more)


def explanation(found: Explanation) -> Record:
    """Return everything that stands behind a fact."""
    return {
        "fact": fact(found.fact),
        "rule": None if found.rule is None else fields(found.rule, _RULE),
        "evidence": [
            fields(one, _EVIDENCE, original=fields(original, "state text"))
            for one, original in zip(found.evidence, found.originals, strict=True)
        ],
        "history": listed(found.history, "at actor trigger op detail"),
        "disputes": [dict(dispute) for dispute in found.disputes],
    }


def session(state: SourceState) -> Record:
    """Return one session: a log file and what is known of it."""
    return fields(state, _SESSION)


def ingest(done: Ingested, *, database: str) -> Record:
    """Return the receipt of an ingest, with every line accounted for by kind."""
    report = done.report
    return {
        "database": database,
        "receipt": {**asdict(report.receipt), "embedded": done.embedded},
        "lines": asdict(report.lines),
        "predicates": [
            {"predicate": name, "confidence": confidence, "new_facts": number}
            for name, confidence, number in done.predicates
        ],
        "files": listed(report.files, "path host state read_bytes error"),
        "unsupported": [{"path": str(path), "host": host} for path, host in report.unsupported],
        "skipped": [{"path": str(path), "why": why} for path, why in report.skipped],
        "read_bytes": report.read_bytes,
        "waiting": done.waiting,
        "seconds": round(done.seconds, 3),
    }


def imported(done: ImportReport, *, embedded: int, waiting: int) -> Record:
    """Return what an import came to, by kind of record."""
    return {
        **fields(
            done, "owner at dry_run records added known kept_out still_here unread incomplete"
        ),
        "left": [{"line": one.line, "record": one.kind, "why": one.why} for one in done.left],
        "embedded": embedded,
        "waiting": waiting,
    }


def stats(found: Stats) -> Record:
    """Return the numbers of a database."""
    return {
        **fields(found, "database=path tenant size_bytes counts hosts"),
        "predicates": [
            {"predicate": name, "confidence": confidence, "facts": facts, "objects": objects}
            for name, confidence, facts, objects in found.predicates
        ],
        **fields(found, "lines passive_failures"),
    }


def rule(use: RuleUse) -> Record:
    """Return a rule with how often it fired, and its signs of noise where they were asked for."""
    noise = {} if use.noise is None else {"noise": asdict(use.noise)}
    return fields(use.rule, f"{_RULE} enabled", fired=use.fired, **noise)


def rejection(one: Rejection, *, tenant: str = "") -> Record:
    """Return a line, a candidate or a memory that was refused."""
    more = {"record": rejection_record(one, tenant=tenant)} if one.type else {}
    return fields(one, _REJECTION, **more)


def rejection_record(one: Rejection, *, tenant: str = "") -> Record:
    """Return the record of a refused memory with the names of origins 002.6's rejection log."""
    return {
        "timestamp": iso(one.at),
        "subject_id": f"USER:{one.owner}",
        "tenant_id": f"TENANT:{tenant}",
        **fields(
            one,
            "rejection_reason=reason extracted_text=excerpt confidence_score=confidence threshold"
            " type validation_details=validation",
        ),
    }


def sql_row(row: Mapping[str, SQLValue]) -> Record:
    """Return a row of a query: a blob as its hex digits, an endless number as text."""
    return {name: _sql_value(value) for name, value in row.items()}


def _sql_value(value: SQLValue) -> object:
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, float) and not isfinite(value):
        return str(value)
    return value
