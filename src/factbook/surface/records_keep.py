"""The JSON forms of the commands that keep a memory in order; docs/cli.md shows them.

Every function returns plain data and reads nothing. Stored text is redacted here once more: a rule
learned today protects what was stored yesterday.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Final

from factbook.model.facts import iso
from factbook.surface.records_model import unanswered

if TYPE_CHECKING:
    from factbook.maintenance.changes_report import Account, Moved
    from factbook.maintenance.confidence_history import Course
    from factbook.maintenance.consolidate import Question
    from factbook.maintenance.metrics import Metrics, Share
    from factbook.memory.standing import Living, Successor
    from factbook.model.facts import Fact, Proposal, Receipt, Run

__all__ = [
    "account",
    "course",
    "living",
    "proposal",
    "question",
    "receipt",
    "run",
    "successor",
]

Record = dict[str, object]
Redact = Callable[[str], str]
RedactValue = Callable[[object], object]

_ROWS: Final = {"fact": "f", "episode": "e"}  # how ids of rows begin; others are named


def receipt(found: Receipt) -> Record:
    """Return what the database changed."""
    return asdict(found)


def run(one: Run) -> Record:
    """Return one consolidation."""
    found = one.report
    return {
        "run": one.id,
        "state": one.state,
        "started_at": iso(one.started_at),
        "finished_at": iso(one.finished_at),
        "phase": one.phase,
        "receipt": found.get("receipt", {}),
        "faded": _ids(_numbers(found.get("faded"))),
        "seconds": found.get("seconds", {}),
    }


def account(found: Account, *, redact: Redact) -> Record:
    """Return every change of a run, by kind, and the texts of all facts that it names."""
    return {
        "new": _ids(found.new),
        "supported": [_moved(one) for one in found.supported],
        "doubted": [_moved(one) for one in found.doubted],
        "contradicted": [
            {
                "facts": [
                    {"id": f"f{fact}", "before": before, "after": after}
                    for fact, before, after in zip(one.fact_ids, one.before, one.after, strict=True)
                ],
                "unmoved": _ids(one.other_ids),
                "rule": one.rule,
                "why": redact(one.why),
            }
            for one in found.contradicted
        ],
        "superseded": [
            {
                "old": f"f{one.old_id}",
                "new": f"f{one.new_id}",
                "rule": one.rule,
                "why": redact(one.why),
            }
            for one in found.superseded
        ],
        "merged": [
            {"winner": f"f{one.winner_id}", "losers": _ids(one.loser_ids), "rule": one.rule}
            for one in found.merged
        ],
        "faded": _ids(found.faded),
        "queued": [
            {
                "low": f"f{one.low_id}",
                "high": f"f{one.high_id}",
                "rule": one.rule,
                "why": redact(one.detail),
                "similarity": one.similarity,
            }
            for one in found.queued
        ],
        "settled": [
            {"low": f"f{low}", "high": f"f{high}", "verdict": verdict}
            for low, high, verdict in found.settled
        ],
        "proposed": [{"id": number, "title": redact(title)} for number, title in found.proposed],
        "other": [{"what": what, "id": f"f{fact}"} for what, fact in found.other],
        "facts": {f"f{one.id}": _text(one, redact) for one in found.facts.values()},
    }


def _text(one: Fact, redact: Redact) -> Record:
    return {"statement": redact(one.statement), "predicate": one.predicate, "owner": one.owner}


def _moved(one: Moved) -> Record:
    return {
        "id": f"f{one.fact_id}",
        "before": one.before,
        "after": one.after,
        "episodes": one.episodes,
        "rules": list(one.why),
    }


def aside(rows: Iterable[tuple[str, int, str]], *, redact: Redact) -> list[Record]:
    """Return the rows that cannot be embedded, and why."""
    return [
        {"id": f"{_ROWS.get(target, f'{target} ')}{number}", "reason": redact(reason)}
        for target, number, reason in rows
    ]


def proposal(one: Proposal, *, redact_value: RedactValue) -> Record:
    """Return something that waits for a person, or that one decided."""
    found = redact_value(
        {
            "id": one.id,
            "kind": one.kind,
            "title": one.title,
            "payload": dict(one.payload),
            "reason": one.reason,
        }
    )
    assert isinstance(found, dict)
    return {
        **found,
        "state": one.state,
        "proposed_at": iso(one.proposed_at),
        "decided_at": iso(one.decided_at),
    }


def question(one: Question) -> Record:
    """Return a pair of facts that rules could not decide."""
    return {
        "low": f"f{one.low_id}",
        "high": f"f{one.high_id}",
        "texts": list(one.texts),
        "sources": list(one.sources),
        "overheard": f"f{one.heard}" if one.heard else None,
        "confidences": list(one.confidences),
        "why": one.why,
        "asked_in_vain": one.attempts,
        "set_aside": one.aside,
    }


def course(found: Course, *, redact: Redact) -> Record:
    """Return how sure a fact was over time, and what moved it."""
    return {
        "steps": [
            {
                "at": iso(one.at),
                "as_of": iso(one.as_of),
                "op": one.op,
                "why": one.why,
                "says": redact(one.says),
                "before": one.before,
                "after": one.after,
                "others": _ids(one.others),
                "added": [f"e{number}" for number in one.added],
                "removed": [f"e{number}" for number in one.removed],
                "actor": one.actor,
                "trigger": one.trigger,
            }
            for one in found.steps
        ],
        "end": iso(found.end),
        "value": found.value,
        "retired": found.retired,
    }


def successor(one: Successor, *, redact: Redact) -> Record:
    """Return what took the place of a fact."""
    return {
        "how": one.how,
        "id": f"f{one.fact.id}",
        "statement": redact(one.fact.statement),
        "current": one.fact.retired_at is None,
    }


def living(found: Living) -> Record:
    """Return how facts stand, what waits, and the figures of success."""
    return {
        "facts_by_state": dict(found.states),
        "waiting": found.waiting,
        "aside": found.aside,
        "pairs_waiting": found.pairs_waiting,
        "proposals_open": found.proposals_open,
        "unanswered": unanswered(found.unanswered),
        "last_run": None if found.last_run is None else run(found.last_run),
        "metrics": _metrics(found.metrics),
    }


def _metrics(found: Metrics) -> Record:
    def share(one: Share | None) -> Record | None:
        return None if one is None else {"value": one.value, "part": one.part, "of": one.of}

    figures: Mapping[str, object] = {
        "passive_relevance": share(found.passive_relevance),
        "tool_effectiveness": share(found.tool_effectiveness),
        "searches": found.searches,
        "diversity": share(found.diversity),
        "passive_latency_ms": found.passive_latency_ms,
        "deduplication": share(found.deduplication),
        "deprecation": share(found.deprecation),
        "confidence_accuracy": found.confidence_accuracy,
        "resolved_by_rules": share(found.resolved_by_rules),
        "right": share(found.right),
    }
    return {name: value for name, value in figures.items() if value is not None}


def _ids(numbers: Sequence[int]) -> list[str]:
    return [f"f{one}" for one in numbers]


def _numbers(value: object) -> list[int]:
    return [one for one in value if isinstance(one, int)] if isinstance(value, list) else []
