"""The JSON forms of what the operations return; docs/cli.md shows them and they stay as they are.

Each type has one form, which holds wherever a value of it stands in an answer: the names of its
fields (`FORMS`), or a function that is marked with `form` where more is to be said.

    FORMS["Fact"] == "id:f subject occurred_at merged_into=merged_into_id:f ..."
    plain(fact) == {"id": "f12", "subject": "...", "occurred_at": "2026-...Z", ...}

A name stands for the field of that name, `key=path` for another one, with dots into what it holds.
A moment becomes ISO 8601 in UTC, which the annotation of its field tells; `:f` makes the id of a
row, which begins with a letter, or of several; `?` makes null of what is empty. Nothing here reads
a memory; what may not be shown was taken out before.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, is_dataclass
from enum import Enum
from functools import cache
from math import isfinite
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast

from factbook.model.facts import iso

if TYPE_CHECKING:
    from factbook.interests.interests import EntityView, LearnStatus
    from factbook.maintenance.changes_report import Account, Opposed
    from factbook.maintenance.erasure import Erased
    from factbook.maintenance.maintenance import RuleUse
    from factbook.maintenance.meter import CostLine
    from factbook.maintenance.metrics import Metrics
    from factbook.maintenance.verdict_queue import PairQuestion
    from factbook.memory import Stats
    from factbook.memory.answering import Asked
    from factbook.memory.reasons import EntityWhy, FactWhy, NoticeWhy, Origin, Part
    from factbook.memory.refused import RejectionSummary
    from factbook.memory.standing import Successor, Unanswered
    from factbook.model.entities import Entity, Notice, Schedule
    from factbook.model.facts import Evidence, Fact, Rejection, Run, SQLValue
    from factbook.pipelines.commands import CommandsReport
    from factbook.pipelines.keyed import Told
    from factbook.pipelines.observed import IngestReport
    from factbook.pipelines.sources import Explanation
    from factbook.pipelines.turns import TurnsReport
    from factbook.pipelines.typed import TypedReport

Record = dict[str, object]

ROWS: Final = {"fact": "f", "episode": "e"}  # how ids of rows begin; others are named
SCOURED: Final = "clean rewritten waiting copies"
_EVIDENCE: Final = "rule method stance quote start end source position occurred_at"
_WORLD_FACT: Final = "id:f subject text=object statement confidence trust learned_at"
_CHAIN: Final = "quote start end episode=episode_id:e rule"
_ENGAGEMENT: Final = "id type valence strength at episode=episode_id:e"
_FIGURES: Final = (
    "passive_relevance tool_effectiveness searches diversity passive_latency_ms deduplication"
    " deprecation confidence_accuracy resolved_by_rules right"
)

FORMS: Final[dict[str, str | Callable[[Any], Record]]] = {
    # what was read, and what is found in it
    "Answer": "question window prompts outside beyond nearest lacking unread unanchored computed"
    " predicates waiting hits",
    "Computed": "title measure predicate by total different rows",
    "CountedRow": "label count newest_at facts:f why took_ms",
    "Evidence": _EVIDENCE,
    "Event": "at actor trigger op detail",
    "Fact": "id:f subject predicate object statement kind status confidence trust evidence_count"
    " occurred_at learned_at retired_at valid_from valid_to=true_to merged_into=merged_into_id:f"
    " superseded_by:f pinned owner host project session",
    "FileReport": "path host state read_bytes error",
    "Hit": "id kind text score confidence occurred_at source position host project session"
    " predicate object count trust role by bearing replaced_by:f turn evidence",
    "Turn": "id asked passages ended outcome files records began until",
    "ImportReport": "owner at dry_run records added known kept_out still_here unread incomplete"
    " left",
    "KeyedFact": "key=fact_key value rank fact=fact_id:f confidence set_at",
    "LeftOut": "line record=kind why",
    "Rule": "name predicate confidence method subject looks_in pattern keywords",
    "Block": "kind tokens ids trimmed",
    "PieceLeftOut": "id why",
    "PromptContext": "text tokens limit tier_tokens blocks included left_out",
    "SourceState": "id session=source.session host=source.host project=source.project"
    " title=source.title agent=source.agent source=source.uri episodes=episode_count"
    " started_at=first_at ended_at=last_at lines",
    "SessionSummary": "session host project title branches sources:s agents items started_at"
    " ended_at turns files commits installs hosts checks failures open left_out",
    "Prompted": "id:e at asked more ended",
    "Act": "text outcome times at fact:f",
    "NearestDay": "at hits",
    "Window": "phrase since until taken",
    # what keeps a memory in order
    "ConfidenceStep": "at as_of op why says before after others:f added:e removed:e actor trigger",
    "Course": "steps end value retired",
    "ErasureAct": "id at actor what rows=counts clean allowed_at",
    "Living": "facts_by_state=states waiting outdated aside pairs_waiting proposals_open unanswered"
    " last_run metrics",
    "Merged": "winner=winner_id:f losers=loser_ids:f rule",
    "Moved": "id=fact_id:f before after episodes rules=why",
    "Pair": "low=low_id:f high=high_id:f rule why=detail similarity",
    "Proposal": "id kind title payload reason state proposed_at decided_at",
    "Replaced": "old=old_id:f new=new_id:f rule why",
    "Sighting": "rows in_file pieces copies",
    "Scoured": SCOURED,
    "Share": "value part of",
    "Stands": "row what excerpt",
    # what a person cares about
    "Cause": "text at command=is_command",
    "CleanReport": "merged merged_facts retired asked waiting note",
    "Engagement": _ENGAGEMENT,
    "Entity": "id name aliases facts=fact_count trigger muted created_at updated_at last_activity"
    " deleted_at=retired_at merged_into=merged_into_id",
    "InterestRow": "id=entity.id name=entity.name score facts=fact_count last_activity"
    " muted=entity.muted",
    "LoopReport": "name enabled steps did cancelled failed error last_at",
    "NotifyState": "muted unanswered last_sent_at engaged_at",
    "Operation": "name=slash form help examples",
    "Origin": "prompt? cause search title url",
    "Preference": "topic type created_at",
    "PreferenceWhy": "topic=preference.topic type=preference.type causes",
    "SearchLog": "id query provider trigger at duration_ms extracted learn_prompt=learn_prompt_id",
    "SearchResult": "title url text image published_at",
}
"""How the fields of a type are written, by its name."""


def fields(value: Any, names: str, **more: object) -> Record:
    """Return the named fields of a value as a record, and `more` behind them."""
    return {key: read(value) for key, read in _readers(names)} | more


def plain(value: Any) -> Any:
    """Return a value as JSON holds it, in the form of its type where it has one."""
    if isinstance(value, (str, int, float, type(None))):
        return str(value) if isinstance(value, Enum) else value
    if isinstance(value, Mapping):
        return {str(key): plain(part) for key, part in value.items()}
    if written := FORMS.get(type(value).__name__):
        return fields(value, written) if isinstance(written, str) else plain(written(value))
    if is_dataclass(value) and not isinstance(value, type):
        return plain(asdict(value))
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return plain(value._asdict())
    if isinstance(value, Iterable):
        return [plain(part) for part in value]
    return str(value)


_F = TypeVar("_F", bound=Callable[[Any], Record])


def _form(named: str) -> Callable[[_F], _F]:
    def made(form: _F) -> _F:
        FORMS[named] = form
        return form

    return made


@cache
def _readers(names: str) -> list[tuple[str, Callable[[Any], object]]]:
    return [_reader(name) for name in names.split()]


def _reader(name: str) -> tuple[str, Callable[[Any], object]]:
    named, _, letter = name.removesuffix("?").partition(":")
    key, _, path = named.partition("=")
    *steps, last = (path or key).split(".")

    def read(holder: Any) -> object:
        for step in steps:
            holder = getattr(holder, step)
        value = getattr(holder, last)
        if letter:
            return _named(letter, value)
        if name.endswith("?"):
            return plain(value or None)
        return iso(value) if _is_moment(cast(Hashable, type(holder)), last) else plain(value)

    return key, read


def _named(letter: str, number: object) -> object:
    if isinstance(number, Sequence):
        return [_named(letter, part) for part in number]
    return None if number is None else f"{letter}{number}"


@cache
def _is_moment(kind: Hashable, name: str) -> bool:
    for base in inspect.getmro(cast(type, kind)):
        told = vars(base).get("__annotations__", {})
        if name in told:
            return "Millis" in str(told[name])
    return False


@dataclass(frozen=True, slots=True, kw_only=True)
class Ingested:
    report: IngestReport
    predicates: Sequence[tuple[str, float, int]]  # name, confidence, new facts
    embedded: int
    waiting: int  # rows without a vector
    seconds: float  # of the reading


@_form("Ingested")
def _ingested(done: Ingested) -> Record:
    report = done.report
    return {
        "receipt": {**asdict(report.receipt), "embedded": done.embedded},
        "lines": report.lines,
        "predicates": [
            {"predicate": name, "confidence": confidence, "new_facts": number}
            for name, confidence, number in done.predicates
        ],
        "files": report.files,
        "unsupported": [{"path": path, "host": host} for path, host in report.unsupported],
        "skipped": [{"path": path, "why": why} for path, why in report.skipped],
        "read_bytes": report.read_bytes,
        "waiting": done.waiting,
        "seconds": round(done.seconds, 3),
    }


@_form("Told")
def _told(told: Told) -> Record:
    return {
        **fields(told, "label failed owner planner message_id message"),
        **fields(told.result, "store_count update_count"),
        "keys": [{"key": key, "action": action} for key, action in told.receipt.keys],
        **fields(told, "needs_clarification warnings errors notes"),
    }


@_form("Asked")
def _asked(asked: Asked) -> Record:
    return {
        **fields(asked, "label planner"),
        "plan": asked.plan and asked.plan.model_dump(exclude_none=True),
        **fields(asked.answer, "count canonical_keys facts"),
        "needs_clarification": asked.needs_clarification,
    }


@_form("Explanation")
def _explanation(explanation: Explanation) -> Record:
    return {
        **fields(explanation, "fact rule"),
        "evidence": [
            fields(evidence, _EVIDENCE, original=fields(original, "state text"))
            for evidence, original in zip(explanation.evidence, explanation.originals, strict=True)
        ],
        **fields(explanation, "history disputes"),
    }


@_form("Stats")
def _stats(stats: Stats) -> Record:
    return {
        **fields(stats, "database=path tenant size_bytes counts hosts"),
        "predicates": [
            {"predicate": name, "confidence": confidence, "facts": facts, "objects": objects}
            for name, confidence, facts, objects in stats.predicates
        ],
        **fields(stats, "lines passive_failures"),
    }


@_form("RuleUse")
def _rule_use(use: RuleUse) -> Record:
    noise = {} if use.noise is None else {"noise": use.noise}
    return {**plain(use.rule), "enabled": use.rule.enabled, "fired": use.fired, **noise}


def fact(row: Fact, *, shown_by: Sequence[Evidence] | None = None) -> Record:
    return {**plain(row), **({} if shown_by is None else {"evidence": shown_by})}


def rejection(refused: Rejection, *, tenant: str = "") -> Record:
    more = {"record": rejection_record(refused, tenant=tenant)} if refused.type else {}
    return fields(refused, "id at source position reason detail excerpt rule predicate", **more)


def rejection_record(refused: Rejection, *, tenant: str = "") -> Record:
    """Return the record of a refused memory with the names of origins 002.6's rejection log."""
    return {
        "timestamp": iso(refused.at),
        "subject_id": f"USER:{refused.owner}",
        "tenant_id": f"TENANT:{tenant}",
        **fields(
            refused,
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
    return str(value) if isinstance(value, float) and not isfinite(value) else value


@_form("Run")
def _run(run: Run) -> Record:
    return {
        **fields(run, "run=id state started_at finished_at phase"),
        "receipt": run.report.get("receipt", {}),
        "faded": _named("f", numbers(run.report.get("faded"))),
        "seconds": run.report.get("seconds", {}),
    }


@_form("Account")
def _account(account: Account) -> Record:
    return {
        **fields(account, "new:f supported doubted contradicted superseded merged faded:f queued"),
        "settled": [
            {"low": f"f{low}", "high": f"f{high}", "verdict": verdict}
            for low, high, verdict in account.settled
        ],
        "proposed": [{"id": number, "title": title} for number, title in account.proposed],
        "other": [{"what": what, "id": f"f{number}"} for what, number in account.other],
        "facts": {
            f"f{row.id}": fields(row, "statement predicate owner") for row in account.facts.values()
        },
    }


@_form("Opposed")
def _opposed(clash: Opposed) -> Record:
    moved = [
        {"id": f"f{number}", "before": before, "after": after}
        for number, before, after in zip(clash.fact_ids, clash.before, clash.after, strict=True)
    ]
    return {"facts": moved, **fields(clash, "unmoved=other_ids:f rule why")}


def aside(rows: Iterable[tuple[str, int, str]]) -> list[Record]:
    return [
        {"id": f"{ROWS.get(target, f'{target} ')}{number}", "reason": reason}
        for target, number, reason in rows
    ]


@_form("PairQuestion")
def _question(pair: PairQuestion) -> Record:
    return {
        **fields(pair, "low=low_id:f high=high_id:f texts sources"),
        "overheard": f"f{pair.heard}" if pair.heard else None,
        **fields(pair, "confidences why asked_in_vain=attempts set_aside=aside"),
    }


@_form("Successor")
def _successor(successor: Successor) -> Record:
    named = fields(successor, "how id=fact.id:f statement=fact.statement")
    return {**named, "current": successor.fact.retired_at is None}


@_form("Metrics")
def _metrics(metrics: Metrics) -> Record:
    return {name: value for name, value in fields(metrics, _FIGURES).items() if value is not None}


def standing(done: Erased) -> Record:
    """Return where what was erased still stands; nothing where it was not looked for."""
    if done.standing is None:
        return {}
    return {
        **fields(done.standing, "elsewhere=rows more of_other_owners=others"),
        "looked_for": fields(done.standing, "names values words common"),
        **({"record": done.record} if done.record else {}),
    }


@_form("TypedReport")
def _typed(report: TypedReport) -> Record:
    judged = []
    for episode, judgement in report.judged:
        action, reason, detail = judgement.outcome()
        judged.append(
            {
                "episode": episode,
                **fields(judgement.claim, "text type model_confidence=confidence"),
                "action": action,
                "reason": reason,
                "detail": detail,
                "final": judgement.verdict.final if judgement.verdict else None,
                "threshold": judgement.verdict.threshold if judgement.verdict else None,
            }
        )
    return {
        **fields(report, "summaries offered"),
        "failed": [{"episode": number, "why": why} for number, why in report.failed],
        "stopped": report.stopped,
        "receipt": report.receipt,
        "judged": judged,
    }


@_form("CommandsReport")
def _commands(report: CommandsReport) -> Record:
    return {
        **fields(report, "read understood_by_rules=understood calls"),
        "failed": [{"commands": number, "why": why} for number, why in report.failed],
        "stopped": report.stopped,
        "receipt": report.receipt,
    }


@_form("TurnsReport")
def _turns(report: TurnsReport) -> Record:
    return {**report.counts(), "receipt": report.receipt}


@_form("Unanswered")
def _unanswered(question: Unanswered) -> Record:
    return {
        **fields(question, "kind ids what"),
        "state": "aside" if question.aside else "waiting",
        **fields(question, "attempts reason"),
        "until": None if question.aside else iso(question.until),
        "command": question.command.replace("`", ""),
    }


@_form("RejectionSummary")
def _summary(recap: RejectionSummary) -> Record:
    trend = recap.trend and {
        **fields(recap.trend, "type group count"),
        "confidence": [recap.trend.lowest, recap.trend.highest],
        **fields(recap.trend, "needed recommendation=advice"),
    }
    return {**fields(recap, "last=total counts"), "trend": trend, "text": "\n".join(recap.lines())}


def cost(lines: Sequence[CostLine]) -> Record:
    total = ("calls", "prompt_tokens", "answer_tokens", "money")
    return {
        "calls": [
            {**fields(line, "day purpose model outcome"), **line.count._asdict()} for line in lines
        ],
        "total": {name: sum(getattr(line.count, name) for line in lines) for name in total},
    }


def receipt_of(run: Run) -> Mapping[str, int]:
    """Return what a consolidation changed, as it counted."""
    receipt = run.report.get("receipt")
    return receipt if isinstance(receipt, dict) else {}


def numbers(value: object) -> list[int]:
    """Return the whole numbers of a list that was read from JSON."""
    return [item for item in value if isinstance(item, int)] if isinstance(value, list) else []


def numbered(things: Sequence[Entity]) -> list[Record]:
    return [{"number": number, **plain(thing)} for number, thing in enumerate(things, 1)]


def entity_view(view: EntityView, brought: Origin, *, place: int) -> Record:
    return {
        "entity": {"number": place, **plain(view.entity)},
        "interest": view.interest,
        "brought_in_by": brought,
        "facts": [
            fields(fact, _WORLD_FACT, url=url, search=search)
            for fact in view.facts
            for url, search in [view.places.get(fact.id, ("", None))]
        ],
        "engagements": view.engagements,
        "preferences": [
            {**plain(liked), "cosine": round(cosine, 4)} for liked, cosine in view.preferences
        ],
    }


@_form("LearnStatus")
def _learn_status(status: LearnStatus) -> Record:
    return {
        **fields(status.prompt, "id text status"),
        "searches_made": len(status.searches),
        **fields(status.prompt, "searches_remaining created_at"),
        "entities": [{"name": of.name, "facts": facts} for of, facts in status.entities],
        "failed": [{"query": query, "why": why} for query, why in status.failed],
    }


def schedule(row: Schedule, number: int) -> Record:
    """Return what is searched for again and again; `number` is its place in `/schedule`."""
    record = {"number": number, "topic": row.topic, "every_seconds": row.every_ms / 1000}
    return {**record, "next_at": iso(row.next_at)}


def notice(row: Notice, name: str) -> Record:
    return {
        "id": f"n{row.id}",
        "entity": name,
        **fields(row, "kind trigger facts=fact_ids:f state created_at sent_at channels reason"),
    }


@_form("EntityWhy")
def _why_entity(why: EntityWhy) -> Record:
    parts = [_part(part, why.at) for part in why.parts]
    return {
        **fields(why, "entity interest brought_in_by=brought preferences"),
        "engagements": parts,
    }


def _part(part: Part, now: int) -> Record:
    return {
        **fields(part.engagement, _ENGAGEMENT),
        "age_days": max(0, now - part.engagement.at) / 86_400_000,
        **fields(part, "adds share"),
        "preference": part.preference and part.preference.topic,
        **fields(part, "taken_back cause"),
    }


@_form("FactWhy")
def _why_fact(why: FactWhy) -> Record:
    chain = [plain(link.origin) | fields(link.evidence, _CHAIN) for link in why.chains]
    return {"fact": fields(why.fact, _WORLD_FACT), "entity": why.entity, "chain": chain}


@_form("NoticeWhy")
def _why_notice(why: NoticeWhy) -> Record:
    return {"notice": notice(why.notice, why.entity.name), **fields(why, "interest facts")}
