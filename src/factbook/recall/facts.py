"""Facts as they are asked for: by conditions, by number, with all that stands behind one.

Knows: the store's facts and what shows them safely. Does not know: how a question is answered.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from factbook.confidence import as_of
from factbook.errors import NotFound, UsageError
from factbook.model import (
    EVERYONE,
    Event,
    Everyone,
    Evidence,
    Fact,
)

if TYPE_CHECKING:
    from factbook.context import Context
    from factbook.extract.rules import Rule
    from factbook.sources.original import Original
    from factbook.store.base import Filters

__all__ = ["Explanation", "current_fact", "explain", "fact_of", "query_facts", "shown"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """Everything that stands behind one fact."""

    fact: Fact
    evidence: Sequence[Evidence]
    originals: Sequence[Original]  # for each evidence, the line of the log as it is now, redacted
    history: Sequence[Event]
    rule: Rule | None  # the rule of the first evidence, as it is defined now
    disputes: Sequence[Mapping[str, str]] = ()  # what waits for an answer (`Review.disputed`)


def query_facts(
    context: Context, filters: Filters, *, limit: int | None = None, newest_first: bool = False
) -> list[Fact]:
    """Return the current facts that pass the filters, with the confidence they have now."""
    now = context.clock()
    found = context.store.facts(replace(filters, now=now), limit=limit, newest_first=newest_first)
    return [shown(context, as_of(one, now)) for one in found]


def explain(context: Context, fact_id: int, *, owner: str | Everyone) -> Explanation:
    """Return the evidence, the lines of the log, the rule and the history of a fact.

    Raises NotFound for an id that is unknown, or of another owner.
    """
    from factbook.sources.original import read_original

    with context.store.snapshot():
        fact = fact_of(context, fact_id, owner)
        evidence = context.store.evidence_of([fact_id])[fact_id]
        history = context.store.events_of("fact", fact_id)
    redact = context.redact
    return Explanation(
        fact=shown(context, as_of(fact, context.clock())),
        evidence=[replace(one, quote=redact(one.quote)) for one in evidence],
        originals=[
            read_original(
                Path(one.source),
                offset=one.offset,
                position=one.position,
                quote=one.quote,
                redactor=context.resources.redactor,
            )
            for one in evidence
        ],
        history=history,
        rule=_rule(context, evidence[0].rule) if evidence else None,
    )


def _rule(context: Context, name: str) -> Rule | None:
    # A rule of a user may be gone since: the evidence keeps its name and method.
    return next((rule for rule in context.resources.rules.rules if rule.name == name), None)


def fact_of(context: Context, fact_id: int, owner: str | Everyone) -> Fact:
    """Return a fact; that of another owner is not there (NotFound)."""
    fact = context.store.fact(fact_id)
    if fact is None or owner not in (fact.owner, EVERYONE):
        raise NotFound(
            what="fact", name=fact_id, hint="`factbook facts` lists the facts with their ids."
        )
    return fact


def current_fact(context: Context, fact_id: int, owner: str | Everyone) -> Fact:
    """Return a fact that holds; raises NotFound, and UsageError for one that was retired."""
    fact = fact_of(context, fact_id, owner)
    if fact.retired_at is not None:
        raise UsageError(
            detail=f"fact {fact_id} is {fact.status} already; `factbook explain {fact_id}` says"
            " what took its place"
        )
    return fact


def shown(context: Context, fact: Fact) -> Fact:
    """Redact a fact again: a rule learned today protects what was stored yesterday."""
    object_, statement = context.redact(fact.object), context.redact(fact.statement)
    if object_ == fact.object and statement == fact.statement:
        return fact
    return replace(fact, object=object_, statement=statement)
