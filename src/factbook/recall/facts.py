"""Facts as they are asked for: by conditions, by number."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from factbook.errors import NotFound, UsageError
from factbook.model.confidence import as_of
from factbook.model.facts import EVERYONE, Everyone, Fact
from factbook.store.derived.facts import fact_by_id

if TYPE_CHECKING:
    from factbook.context import Context
    from factbook.store.rows import Filters


def query_facts(
    context: Context, filters: Filters, *, limit: int | None = None, newest_first: bool = False
) -> list[Fact]:
    """Return the current facts that pass the filters, with the confidence they have now."""
    now = context.clock()
    facts = context.store.facts(replace(filters, now=now), limit=limit, newest_first=newest_first)
    return [shown(context, as_of(fact, now)) for fact in facts]


def fact_of(context: Context, fact_id: int, owner: str | Everyone) -> Fact:
    """Return a fact; that of another owner is not there (NotFound)."""
    fact = fact_by_id(context.store, fact_id)
    if fact is None or owner not in (fact.owner, EVERYONE):
        raise NotFound(
            what="fact",
            name=fact_id,
            hint="`factbook facts` lists the facts with their ids, and the tool `search_memory`"
            " finds them.",
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
