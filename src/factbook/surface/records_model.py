"""What the commands of a language model print with --json."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from factbook.model.facts import iso

if TYPE_CHECKING:
    from factbook.maintenance.meter import CostLine
    from factbook.memory.refused import RejectionSummary
    from factbook.memory.standing import Unanswered
    from factbook.pipelines.commands import CommandsReport
    from factbook.pipelines.keyed import RetriedTold
    from factbook.pipelines.typed import TypedReport

Redact = Callable[[str], str]


def typed(
    found: TypedReport,
    told: RetriedTold,
    left: Sequence[Unanswered],
    *,
    told_failed: Sequence[tuple[int, str]],
    revived: int,
    redact: Redact,
) -> dict[str, Any]:
    """Return what one pass over summaries and messages did, and what waits on."""
    return {
        "summaries": found.summaries,
        "offered": found.offered,
        "failed": [{"episode": one, "why": redact(why)} for one, why in found.failed],
        "receipt": asdict(found.receipt),
        "judged": [
            {
                "episode": episode,
                "text": redact(one.claim.text),
                "type": str(one.claim.type),
                "model_confidence": one.claim.confidence,
                "action": one.outcome()[0],
                "reason": one.outcome()[1],
                "detail": redact(one.outcome()[2]),
                "final": one.verdict.final if one.verdict else None,
                "threshold": one.verdict.threshold if one.verdict else None,
            }
            for episode, one in found.judged
        ],
        "told_again": [one.to_json() for one in told.done],
        "told_failed": [{"episode": one, "why": redact(why)} for one, why in told_failed],
        "revived": revived,
        "unanswered": unanswered(left),
    }


def commands(
    found: CommandsReport, left: Sequence[Unanswered], *, revived: int, redact: Redact
) -> dict[str, Any]:
    """Return what one pass over commands did, and what waits on."""
    return {
        "read": found.read,
        "understood_by_rules": found.understood,
        "calls": found.calls,
        "failed": [{"commands": one, "why": redact(why)} for one, why in found.failed],
        "receipt": asdict(found.receipt),
        "revived": revived,
        "unanswered": unanswered(left),
    }


def unanswered(found: Sequence[Unanswered]) -> list[dict[str, Any]]:
    """Return what a model was asked about in vain."""
    return [
        {
            "kind": one.kind,
            "ids": list(one.ids),
            "what": one.what,
            "state": "aside" if one.aside else "waiting",
            "attempts": one.attempts,
            "reason": one.reason,
            "until": None if one.aside else iso(one.until),
            "command": one.command.replace("`", ""),
        }
        for one in found
    ]


def summary(found: RejectionSummary) -> dict[str, Any]:
    """Return what became of the last proposals of memories."""
    trend = found.trend
    return {
        "last": found.total,
        "counts": dict(found.counts),
        "trend": None
        if trend is None
        else {
            "type": trend.type,
            "group": trend.group,
            "count": trend.count,
            "confidence": [trend.lowest, trend.highest],
            "needed": trend.needed,
            "recommendation": trend.advice,
        },
        "text": "\n".join(found.lines()),
    }


def cost(found: Sequence[CostLine]) -> dict[str, Any]:
    """Return what calls of models came to."""
    return {
        "calls": [
            {
                "day": one.day,
                "purpose": one.purpose,
                "model": one.model,
                "outcome": one.outcome,
                **one.count._asdict(),
            }
            for one in found
        ],
        "total": {
            "calls": sum(one.count.calls for one in found),
            "prompt_tokens": sum(one.count.prompt_tokens for one in found),
            "answer_tokens": sum(one.count.answer_tokens for one in found),
            "money": sum(one.count.money for one in found),
        },
    }
