"""Read of a memory what the commands that keep it in order show.

Everything here is composed of reads of the store and of pure functions; nothing is written.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from factbook import policy
from factbook.confidence import as_of, value_at

if TYPE_CHECKING:
    from factbook.memory import Memory
    from factbook.model import Fact, Millis
    from factbook.store.base import Injection, Run, Store
    from factbook.upkeep.metrics import Metrics

__all__ = ["Living", "Successor", "fact_now", "injections", "living", "successors"]

_INJECTIONS: Final = 100_000  # the newest that the figures are computed from


@dataclass(frozen=True, slots=True, kw_only=True)
class Living:
    """How facts stand, what waits, and the figures of success."""

    states: Mapping[str, int]  # active, tool_only, deprecated, superseded, merged_into, ...
    waiting: int  # rows that wait for a vector
    aside: int  # rows that cannot be embedded
    pairs_waiting: int
    proposals_open: int
    last_run: Run | None
    metrics: Metrics


@dataclass(frozen=True, slots=True, kw_only=True)
class Successor:
    """A fact that took the place of another one."""

    how: str  # "merged into" or "superseded by"
    fact: Fact


def living(memory: Memory, *, now: Millis) -> Living:
    """Count how facts stand, what waits, and compute the figures."""
    from factbook.upkeep.metrics import compute

    store = memory.store
    states = store.fact_states(now=now)
    aside = len(store.set_aside())
    pairs = store.pairs(waiting=False)
    runs = store.runs(limit=1)
    believed = [
        (value_at(one, now), one.evidence_count)
        for one in store.lives_of(sorted(policy.MERGED_KINDS))
    ]
    return Living(
        states=states,
        waiting=max(0, store.counts_waiting() - aside),  # what is set aside waits no more
        aside=aside,
        pairs_waiting=sum(1 for one in pairs if one.relation == "ambiguous" and not one.verdict),
        proposals_open=len(store.proposals()),
        last_run=runs[0] if runs else None,
        metrics=compute(
            day_counts=store.day_counts(),
            injections=injections(store),
            pairs=pairs,
            states=states,
            believed=believed,
        ),
    )


def injections(store: Store) -> list[Injection]:
    """Return what was injected, newest first, as far back as the figures look."""
    return store.injections(limit=_INJECTIONS)


def successors(store: Store, fact: Fact) -> list[Successor]:
    """Follow what took the place of a fact, to the one that holds now."""
    found: list[Successor] = []
    seen = {fact.id}
    while True:
        merged = fact.merged_into_id
        number = merged if merged is not None else fact.superseded_by
        if number is None or number in seen:
            return found
        seen.add(number)
        following = store.fact(number)
        if following is None:
            return found
        how = "merged into" if merged is not None else "superseded by"
        found.append(Successor(how=how, fact=following))
        fact = following


def fact_now(memory: Memory, fact_id: int, *, now: Millis) -> Fact:
    """Return a fact with the confidence and the status that it has now, redacted once more."""
    from factbook.errors import NotFound
    from factbook.surface.options import redacted_fact

    found = memory.store.fact(fact_id)
    if found is None:
        raise NotFound(
            what="fact", name=fact_id, hint="`factbook facts` lists the facts with their ids."
        )
    return redacted_fact(as_of(found, now), memory.redactor.redact)
