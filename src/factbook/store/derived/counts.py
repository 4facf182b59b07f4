"""How much there is of what, over the verbs of a store."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from typing import Any

from factbook import policy
from factbook.model.facts import EVERYONE, ME, Everyone, Millis, Status
from factbook.store.kinds import (
    EPISODE,
    ERASED,
    EVENT,
    EVIDENCE,
    FACT,
    KINDS,
    PROPOSAL,
    REJECTION,
    SOURCE,
    VECTOR,
    WAITING,
    Least,
    Other,
    Tally,
    Where,
)
from factbook.store.port import Reads, count, first
from factbook.store.rows import Filters, LifeWhere

_ROWS = {kind.name: kind for kind in KINDS}
_CURRENT: Where = {"owner": EVERYONE, "retired_at": None}


def row_counts(reads: Reads) -> dict[str, int]:
    """Return the number of rows by kind, counted now."""
    erased = reads.tally(ERASED, ("target",))
    waiting, embedded = (reads.tally(kind, ("target",)) for kind in (WAITING, VECTOR))

    def of(groups: Mapping[tuple[Any, ...], Tally], target: str) -> int:
        return groups[target,].rows if (target,) in groups else 0

    return {
        "sources": count(reads, SOURCE),
        "episodes": count(reads, EPISODE, {"owner": EVERYONE}) - of(erased, "episode"),
        "facts": count(reads, FACT, _CURRENT),
        "evidence": count(reads, EVIDENCE),
        "events": count(reads, EVENT),
        "rejections": count(reads, REJECTION, {"owner": EVERYONE}),
        "episodes_waiting": of(waiting, "episode"),
        "facts_waiting": of(waiting, "fact"),
        "episode_vectors": of(embedded, "episode"),
        "fact_vectors": of(embedded, "fact"),
    }


def count_waiting(reads: Reads) -> int:
    """Return how many rows wait for a vector."""
    return count(reads, WAITING)


def fact_states(reads: Reads, *, now: Millis, owner: str | Everyone = EVERYONE) -> dict[str, int]:
    """Count facts by how they stand: active (found by themselves), tool_only, deprecated.

    Current ones stand by their confidence at that time; of the others, and of proposed ones, the
    status counts.
    """

    current: Where = {**_CURRENT, "owner": owner}

    def surer(least: float) -> int:
        return len(reads.ids("fact", Filters(owner=owner, min_confidence=least, now=now)))

    retired = reads.tally(FACT, ("status",), {"owner": owner, "retired_at": Least(0)})
    states = Counter({str(status): tally.rows for (status,), tally in retired.items()})
    proposed = count(reads, FACT, {**current, "status": Status.PROPOSED})
    passive = surer(math.nextafter(policy.MIN_CONFIDENCE_PASSIVE, 1))  # more than that
    findable = surer(policy.MIN_CONFIDENCE_ACTIVE)
    states[Status.PROPOSED] += proposed
    states["active"] += passive
    states["tool_only"] += findable - passive
    states["deprecated"] += count(reads, FACT, current) - proposed - findable
    return {state: rows for state, rows in sorted(states.items()) if rows}


def predicate_counts(reads: Reads) -> list[tuple[str, float, int, int]]:
    """Return (predicate, confidence, facts, distinct objects), most frequent first."""
    groups = reads.tally(FACT, ("predicate",), _CURRENT, most="confidence", distinct="object")
    counts = [(name, tally.most, tally.rows, tally.distinct) for (name,), tally in groups.items()]
    return sorted(counts, key=lambda entry: (-entry[2], entry[0]))


def rule_counts(reads: Reads) -> dict[str, int]:
    """Return how many evidence rows each rule has made, by its name."""
    groups = reads.tally(EVIDENCE, ("rule",))
    return {rule: tally.rows for (rule,), tally in sorted(groups.items())}


def has_others(reads: Reads, owner: str) -> bool:
    """Tell whether anything in the ledger is of somebody else than this owner."""
    return any(count(reads, kind, {"owner": Other(owner)}) for kind in (EPISODE, FACT))


def row_owners(reads: Reads, target: str, row_id: int) -> set[str]:
    """Return whose a row is: of a source all of whom it holds something; none, none at all.

    A file that holds nothing of anybody is of whom it was read for: the turns of a chat are of
    their conversations, and what could not be read of it is of the file.
    """
    match target:
        case "source":
            groups = reads.tally(EPISODE, ("owner",), {"owner": EVERYONE, "source_id": row_id})
            owners = {owner for (owner,) in groups}
            if not owners:
                sources = [state.source for state in reads.sources(ids=[row_id])]
                return {source.reader for source in sources} - {""}
        case "episode":
            owners = {head.owner for head in reads.heads([row_id]).values()}
        case "fact":
            owners = {life.owner for life in reads.lives(LifeWhere(ids=[row_id]))}
        case "proposal":  # what names no owner was proposed of logs, which are about `me`
            proposal = first(reads, PROPOSAL, {"id": row_id})
            owners = {str(proposal.payload.get("owner", ""))} if proposal else set()
        case "rejection":
            refusal = first(reads, REJECTION, {"id": row_id})
            if refusal and not refusal.owner:  # of whom the rest of its file is about
                return row_owners(reads, "source", refusal.source_id)
            owners = {refusal.owner} if refusal else set()
        case _:
            owners = {row.owner for row in reads.find(_ROWS[target], {"id": row_id})}
    return {owner or ME for owner in owners}
