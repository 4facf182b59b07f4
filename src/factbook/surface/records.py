"""The JSON forms of what the commands print; docs/cli.md shows them and they stay as they are.

Moments are ISO 8601 in UTC. Every function returns plain data and reads nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from math import isfinite
from typing import TYPE_CHECKING

from factbook.recall.time_expressions import iso

if TYPE_CHECKING:
    from factbook.maintenance.maintenance import RuleUse
    from factbook.memory import Stats
    from factbook.model.facts import (
        Event,
        Evidence,
        Fact,
        Hit,
        LineCount,
        Rejection,
        SourceState,
        SQLValue,
    )
    from factbook.pipelines.observed import IngestReport
    from factbook.pipelines.sources import Explanation
    from factbook.recall.search import Answer

__all__ = [
    "answer",
    "evidence",
    "explanation",
    "fact",
    "hit",
    "ingest",
    "rejection",
    "rule",
    "session",
    "stats",
]

Record = dict[str, object]


def evidence(one: Evidence) -> Record:
    """Return a piece of evidence."""
    return {
        "rule": one.rule,
        "method": one.method,
        "stance": one.stance,
        "quote": one.quote,
        "start": one.start,
        "end": one.end,
        "source": one.source,
        "position": one.position,
        "occurred_at": iso(one.occurred_at),
    }


def hit(one: Hit) -> Record:
    """Return a hit of recall or an entry of the timeline."""
    return {
        "id": one.id,
        "kind": one.kind,
        "text": one.text,
        "score": one.score,
        "confidence": one.confidence,
        "occurred_at": iso(one.occurred_at),
        "source": one.source,
        "position": one.position,
        "host": one.host,
        "project": one.project,
        "session": one.session,
        "predicate": one.predicate,
        "object": one.object,
        "count": one.count,
        "trust": one.trust,
        "role": one.role,
        "evidence": [evidence(part) for part in one.evidence],
    }


def answer(found: Answer) -> Record:
    """Return the answer to a question."""
    window = found.window
    return {
        "question": found.question,
        "window": None
        if window is None
        else {
            "phrase": window.phrase,
            "since": iso(window.since),
            "until": iso(window.until),
        },
        "outside": found.outside,
        "predicates": list(found.predicates),
        "waiting": found.waiting,
        "hits": [hit(one) for one in found.hits],
    }


def fact(one: Fact, *, shown_by: Sequence[Evidence] | None = None) -> Record:
    """Return a fact, with its evidence where that was asked for."""
    found: Record = {
        "id": f"f{one.id}",
        "subject": one.subject,
        "predicate": one.predicate,
        "object": one.object,
        "statement": one.statement,
        "kind": one.kind,
        "status": one.status,
        "confidence": one.confidence,
        "trust": one.trust,
        "evidence_count": one.evidence_count,
        "occurred_at": iso(one.occurred_at),
        "learned_at": iso(one.learned_at),
        "retired_at": iso(one.retired_at),
        "valid_from": iso(one.valid_from),
        "valid_to": iso(one.valid_to),
        "merged_into": _fact_id(one.merged_into_id),
        "superseded_by": _fact_id(one.superseded_by),
        "pinned": one.pinned,
        "owner": one.owner,
        "host": one.host,
        "project": one.project,
        "session": one.session,
    }
    if shown_by is not None:
        found["evidence"] = [evidence(part) for part in shown_by]
    return found


def _fact_id(number: int | None) -> str | None:
    return None if number is None else f"f{number}"


def explanation(found: Explanation) -> Record:
    """Return everything that stands behind a fact."""
    rule = found.rule
    return {
        "fact": fact(found.fact),
        "rule": None
        if rule is None
        else {
            "name": rule.name,
            "predicate": rule.predicate,
            "confidence": rule.confidence,
            "method": rule.method,
            "subject": rule.subject,
            "looks_in": rule.looks_in,
            "pattern": rule.pattern,
            "keywords": list(rule.keywords),
        },
        "evidence": [
            {**evidence(one), "original": {"state": original.state, "text": original.text}}
            for one, original in zip(found.evidence, found.originals, strict=True)
        ],
        "history": [_event(one) for one in found.history],
        "disputes": [dict(one) for one in found.disputes],
    }


def _event(one: Event) -> Record:
    return {
        "at": iso(one.at),
        "actor": one.actor,
        "trigger": one.trigger,
        "op": one.op,
        "detail": dict(one.detail),
    }


def session(state: SourceState) -> Record:
    """Return one session: a log file and what is known of it."""
    source = state.source
    return {
        "id": state.id,
        "session": source.session,
        "host": source.host,
        "project": source.project,
        "title": source.title,
        "agent": source.agent,
        "source": source.uri,
        "episodes": state.episode_count,
        "started_at": iso(state.first_at),
        "ended_at": iso(state.last_at),
        "lines": asdict(state.lines),
    }


def lines(found: LineCount) -> Record:
    """Return the account of lines."""
    return asdict(found)


def ingest(
    report: IngestReport,
    *,
    database: str,
    predicates: Sequence[tuple[str, float, int]],
    embedded: int,
    waiting: int,
    seconds: float,
) -> Record:
    """Return the receipt of an ingest, with every line accounted for by kind."""
    return {
        "database": database,
        "receipt": {**asdict(report.receipt), "embedded": embedded},
        "lines": lines(report.lines),
        "predicates": [
            {"predicate": name, "confidence": confidence, "new_facts": number}
            for name, confidence, number in predicates
        ],
        "files": [
            {
                "path": str(one.path),
                "host": one.host,
                "state": one.state,
                "read_bytes": one.read_bytes,
                "error": one.error,
            }
            for one in report.files
        ],
        "unsupported": [{"path": str(path), "host": host} for path, host in report.unsupported],
        "skipped": [{"path": str(path), "why": why} for path, why in report.skipped],
        "read_bytes": report.read_bytes,
        "waiting": waiting,
        "seconds": round(seconds, 3),
    }


def stats(found: Stats) -> Record:
    """Return the numbers of a database."""
    return {
        "database": str(found.path),
        "tenant": found.tenant,
        "size_bytes": found.size_bytes,
        "counts": dict(found.counts),
        "hosts": dict(found.hosts),
        "predicates": [
            {"predicate": name, "confidence": confidence, "facts": facts, "objects": objects}
            for name, confidence, facts, objects in found.predicates
        ],
        "lines": lines(found.lines),
        "passive_failures": dict(found.passive_failures),
    }


def rule(use: RuleUse) -> Record:
    """Return a rule with how often it fired, and its signs of noise where they were asked for."""
    one = use.rule
    found: Record = {
        "name": one.name,
        "predicate": one.predicate,
        "confidence": one.confidence,
        "method": one.method,
        "subject": one.subject,
        "looks_in": one.looks_in,
        "pattern": one.pattern,
        "keywords": list(one.keywords),
        "enabled": one.enabled,
        "fired": use.fired,
    }
    if use.noise is not None:
        found["noise"] = asdict(use.noise)
    return found


def rejection(one: Rejection, *, tenant: str = "") -> Record:
    """Return a line, a candidate or a memory that was refused."""
    return {
        "id": one.id,
        "at": iso(one.at),
        "source": one.source,
        "position": one.position,
        "reason": one.reason,
        "detail": one.detail,
        "excerpt": one.excerpt,
        "rule": one.rule,
        "predicate": one.predicate,
        **({"record": rejection_record(one, tenant=tenant)} if one.type else {}),
    }


def rejection_record(one: Rejection, *, tenant: str = "") -> Record:
    """Return the record of a refused memory with the names of seed 002's rejection log."""
    return {
        "timestamp": iso(one.at),
        "subject_id": f"USER:{one.owner}",
        "tenant_id": f"TENANT:{tenant}",
        "rejection_reason": one.reason,
        "extracted_text": one.excerpt,
        "confidence_score": one.confidence,
        "threshold": one.threshold,
        "type": one.type,
        "validation_details": dict(one.validation),
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
