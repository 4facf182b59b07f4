"""The JSON forms of what keeps a memory in order: runs, reviews, the life of a fact, the models.

As in `records`: nothing here reads a memory, and what may not be shown was taken out before.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Final

from factbook.surface.records.fields import Record, fields, listed

if TYPE_CHECKING:
    from factbook.maintenance.changes_report import Account
    from factbook.maintenance.confidence_history import Course
    from factbook.maintenance.erasure import Erased, Standing
    from factbook.maintenance.meter import CostLine
    from factbook.maintenance.metrics import Metrics, Share
    from factbook.maintenance.verdict_queue import PairQuestion
    from factbook.memory.refused import RejectionSummary
    from factbook.memory.standing import Living, Successor, Unanswered
    from factbook.model.facts import Proposal, Run
    from factbook.pipelines.commands import CommandsReport
    from factbook.pipelines.typed import TypedReport

__all__ = [
    "ERASURE",
    "ROWS",
    "SCOURED",
    "account",
    "aside",
    "commands",
    "cost",
    "course",
    "living",
    "numbers",
    "proposal",
    "question",
    "run",
    "standing",
    "successor",
    "summary",
    "typed",
    "unanswered",
]

ROWS: Final = {"fact": "f", "episode": "e"}  # how ids of rows begin; others are named

ERASURE: Final = "id at actor what rows=counts clean allowed_at"
SCOURED: Final = "clean rewritten waiting copies"
_MOVED: Final = "id=fact_id:f before after episodes rules=why"
_STEP: Final = (
    "at as_of op why says before after others:f added:e removed:e actor trigger"  # of a confidence
)
_FIGURES: Final = (
    "passive_relevance tool_effectiveness searches diversity passive_latency_ms deduplication"
    " deprecation confidence_accuracy resolved_by_rules right"
)


# --- the night ------------------------------------------------------------------------------------


def run(one: Run) -> Record:
    """Return one consolidation."""
    found = one.report
    return {
        **fields(one, "run=id state started_at finished_at phase"),
        "receipt": found.get("receipt", {}),
        "faded": _ids(numbers(found.get("faded"))),
        "seconds": found.get("seconds", {}),
    }


def account(found: Account) -> Record:
    """Return every change of a run, by kind, and the texts of all facts that it names."""
    return {
        "new": _ids(found.new),
        "supported": listed(found.supported, _MOVED),
        "doubted": listed(found.doubted, _MOVED),
        "contradicted": [
            {
                "facts": [
                    {"id": f"f{fact}", "before": before, "after": after}
                    for fact, before, after in zip(one.fact_ids, one.before, one.after, strict=True)
                ],
                **fields(one, "unmoved=other_ids:f rule why"),
            }
            for one in found.contradicted
        ],
        "superseded": listed(found.superseded, "old=old_id:f new=new_id:f rule why"),
        "merged": listed(found.merged, "winner=winner_id:f losers=loser_ids:f rule"),
        "faded": _ids(found.faded),
        "queued": listed(found.queued, "low=low_id:f high=high_id:f rule why=detail similarity"),
        "settled": [
            {"low": f"f{low}", "high": f"f{high}", "verdict": verdict}
            for low, high, verdict in found.settled
        ],
        "proposed": [{"id": number, "title": title} for number, title in found.proposed],
        "other": [{"what": what, "id": f"f{fact}"} for what, fact in found.other],
        "facts": {
            f"f{fact.id}": fields(fact, "statement predicate owner")
            for fact in found.facts.values()
        },
    }


def aside(rows: Iterable[tuple[str, int, str]]) -> list[Record]:
    """Return the rows that cannot be embedded, and why."""
    return [
        {"id": f"{ROWS.get(target, f'{target} ')}{number}", "reason": reason}
        for target, number, reason in rows
    ]


# --- what waits for a person ----------------------------------------------------------------------


def proposal(one: Proposal) -> Record:
    """Return something that waits for a person, or that one decided."""
    return fields(one, "id kind title payload reason state proposed_at decided_at")


def question(pair_question: PairQuestion) -> Record:
    """Return a pair of facts that rules could not decide."""
    return {
        **fields(pair_question, "low=low_id:f high=high_id:f texts sources"),
        "overheard": f"f{pair_question.heard}" if pair_question.heard else None,
        **fields(pair_question, "confidences why asked_in_vain=attempts set_aside=aside"),
    }


# --- how facts stand ------------------------------------------------------------------------------


def course(found: Course) -> Record:
    """Return how sure a fact was over time, and what moved it."""
    return {"steps": listed(found.steps, _STEP), **fields(found, "end value retired")}


def successor(one: Successor) -> Record:
    """Return what took the place of a fact."""
    named = fields(one, "how id=fact.id:f statement=fact.statement")
    return {**named, "current": one.fact.retired_at is None}


def living(found: Living) -> Record:
    """Return how facts stand, what waits, and the figures of success."""
    return {
        **fields(found, "facts_by_state=states waiting aside pairs_waiting proposals_open"),
        "unanswered": unanswered(found.unanswered),
        "last_run": None if found.last_run is None else run(found.last_run),
        "metrics": _metrics(found.metrics),
    }


def _metrics(found: Metrics) -> Record:
    def figure(share: Share | float | None) -> object:
        return (
            share
            if share is None or isinstance(share, (int, float))
            else fields(share, "value part of")
        )

    known = {name: figure(getattr(found, name)) for name in _FIGURES.split()}
    return {name: value for name, value in known.items() if value is not None}


# --- what is erased -------------------------------------------------------------------------------


def standing(done: Erased) -> Record:
    """Return where what was erased still stands; nothing where it was not looked for."""
    found: Standing | None = done.standing
    if found is None:
        return {}
    return {
        "elsewhere": listed(found.rows, "row what excerpt"),
        **fields(found, "more of_other_owners=others"),
        "looked_for": fields(found, "names values words common"),
    }


# --- the models -----------------------------------------------------------------------------------


def typed(found: TypedReport) -> Record:
    """Return what one pass over summaries did."""
    judged = []
    for episode, one in found.judged:
        action, reason, detail = one.outcome()
        claim = fields(one.claim, "text type model_confidence=confidence")
        verdict = fields(one.verdict, "final threshold") if one.verdict else _NO_VERDICT
        outcome = {"action": action, "reason": reason, "detail": detail}
        judged.append({"episode": episode, **claim, **outcome, **verdict})
    return {
        **fields(found, "summaries offered"),
        "failed": [{"episode": one, "why": why} for one, why in found.failed],
        "receipt": asdict(found.receipt),
        "judged": judged,
    }


_NO_VERDICT: Final[Mapping[str, object]] = {"final": None, "threshold": None}


def commands(found: CommandsReport) -> Record:
    """Return what one pass over commands did."""
    return {
        **fields(found, "read understood_by_rules=understood calls"),
        "failed": [{"commands": one, "why": why} for one, why in found.failed],
        "receipt": asdict(found.receipt),
    }


def unanswered(found: Iterable[Unanswered]) -> list[Record]:
    """Return what a model was asked about in vain."""
    return [
        {
            **fields(one, "kind ids what"),
            "state": "aside" if one.aside else "waiting",
            **fields(one, "attempts reason until"),
            **({"until": None} if one.aside else {}),
            "command": one.command.replace("`", ""),
        }
        for one in found
    ]


def summary(found: RejectionSummary) -> Record:
    """Return what became of the last proposals of memories."""
    trend = found.trend
    return {
        **fields(found, "last=total counts"),
        "trend": None
        if trend is None
        else {
            **fields(trend, "type group count"),
            "confidence": [trend.lowest, trend.highest],
            **fields(trend, "needed recommendation=advice"),
        },
        "text": "\n".join(found.lines()),
    }


def cost(found: Sequence[CostLine]) -> Record:
    """Return what calls of models came to."""
    total = ("calls", "prompt_tokens", "answer_tokens", "money")
    return {
        "calls": [
            {**fields(cost_line, "day purpose model outcome"), **cost_line.count._asdict()}
            for cost_line in found
        ],
        "total": {
            name: sum(getattr(cost_line.count, name) for cost_line in found) for name in total
        },
    }


def _ids(of: Sequence[int]) -> list[str]:
    return [f"f{one}" for one in of]


def numbers(value: object) -> list[int]:
    """Return the whole numbers of a list that was read from JSON."""
    return [one for one in value if isinstance(one, int)] if isinstance(value, list) else []
