"""What was known at a moment: what was said before it, as sure as it was then.

found now, said before -> stays
found now, said since  -> what it took the place of, where that held at the moment
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from factbook.context import Context
from factbook.maintenance.confidence_history import course
from factbook.model.confidence import is_deprecated
from factbook.model.facts import Evidence, Fact, Hit, Millis, Stance
from factbook.recall.facts import shown
from factbook.recall.hits import fact_hit
from factbook.store.derived.ledger import evidence_of
from factbook.store.port import events_of
from factbook.store.rows import LifeWhere


def as_known(context: Context, hits: Sequence[Hit], at: Millis) -> list[Hit]:
    """Return what of hits was known at a moment, each once, the best first.

    A fact is in the place of the episodes that it rests on. What its owner has called wrong or had
    erased since is not there, nor is what has no date.
    """
    kept: dict[str, Hit] = {}
    with context.store.snapshot():
        for hit in sorted(hits, key=lambda hit: -hit.score):
            if hit.kind == "fact":
                for held in _held(context, hit, at):
                    kept.setdefault(held.id, held)
            elif hit.occurred_at is not None and hit.occurred_at < at:
                kept.setdefault(hit.id, hit)
    facts = [hit for hit in kept.values() if hit.kind == "fact"]
    told = {f"e{piece.episode_id}" for hit in facts for piece in hit.evidence}
    return [hit for hit in kept.values() if hit.id not in told]


def _held(context: Context, hit: Hit, at: Millis) -> Iterator[Hit]:
    """Yield what held at a moment of a fact and all that it took the place of."""
    ids, seen = {int(hit.id[1:])}, set[int]()
    while ids - seen:
        seen |= ids
        facts = context.store.facts_by_id(sorted(ids))
        evidence = evidence_of(context.store, list(facts))
        since = set()
        for fact in facts.values():
            before = [piece for piece in evidence[fact.id] if (piece.occurred_at or at) < at]
            if not any(piece.stance is Stance.SUPPORTS for piece in before):
                since.add(fact.id)
            elif (_ended(fact) or at + 1) > at:
                yield from _as_it_was(context, fact, before, hit, at)
        ids = {life.id for life in context.store.lives(LifeWhere(superseded_by=since))}


def _ended(fact: Fact) -> Millis | None:
    """Return when a fact ceased to hold: by what took its place, or when it was retired."""
    if fact.retired_at is None:
        return None
    return fact.retired_at if fact.true_to is None else fact.true_to


def _as_it_was(
    context: Context, fact: Fact, before: Sequence[Evidence], hit: Hit, at: Millis
) -> Iterator[Hit]:
    history = events_of(context.store, "fact", fact.id)
    confidence = course(fact, history, now=context.clock()).value_on(at)
    if is_deprecated(confidence):
        return
    said_at = max(piece.occurred_at or 0 for piece in before)
    fact = replace(shown(context, fact), confidence=confidence, occurred_at=said_at)
    evidence = [replace(piece, quote=context.redact(piece.quote)) for piece in before]
    yield replace(fact_hit(fact, score=hit.score, evidence=evidence), bearing=hit.bearing)
