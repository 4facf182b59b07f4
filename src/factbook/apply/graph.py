"""4 apply: what of an agent's graph is new. Called by `apply` in its transaction, and before it.

A name has one entity, an observation is of an entity that is there, and what is known is not said
again. Before the transaction it shows whether there is anything to write; within it, under the
write lock, it decides, whoever else has written meanwhile.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Final, TypeAlias

from factbook.errors import UsageError
from factbook.model.facts import FactKind, Status
from factbook.model.ops import AssertFact, Op, RecordEpisode, RecordSource
from factbook.store.derived.facts import current_by_claim, holds
from factbook.store.port import Reads
from factbook.store.rows import LifeWhere, claim_digest

ENTITY: Final = "entity"
OBSERVATION: Final = "observation"

_Node: TypeAlias = tuple[str, str]  # owner, name


def is_of_graph(op: AssertFact) -> bool:
    """Tell whether a claim is one of an agent's graph."""
    return op.candidate.kind is FactKind.GRAPH


def entities_of(reads: Reads, owner: str, names: Collection[str]) -> set[str]:
    """Return those of these names that have an entity."""
    # Not by the predicate: every entity has it, and it would be looked for first.
    lives = reads.lives(
        LifeWhere(owner=owner, kinds=[FactKind.GRAPH], subjects=names, current=True)
    )
    return {life.subject for life in lives if life.predicate == ENTITY and holds(life)}


def new_in_graph(reads: Reads, ops: Sequence[Op], *, offered: Sequence[Op]) -> list[Op]:
    """Return Ops without those of graphs that say nothing new, and without their episodes.

    What is observed of an entity comes with it: where they were `offered` together, before what was
    erased was taken out, and the entity is not new, it is left out too. Raises UsageError for what
    is observed of nobody.
    """
    told = _claims(ops)
    made = {_node(op) for op in _claims(offered) if op.candidate.predicate == ENTITY}
    there = {
        (owner, name)
        for owner in {op.owner for op in told}
        for name in entities_of(reads, owner, {op.candidate.subject for op in told})
    }
    claims = list(map(_claim, told))
    known = _settled(reads, claims)
    fresh: dict[_Node, AssertFact] = {}
    for op, claim in zip(told, claims, strict=True):
        is_entity = op.candidate.predicate == ENTITY
        if is_entity and _node(op) not in there and claim not in known:
            fresh.setdefault(_node(op), op)
    stale: set[str] = set()
    for op, claim in zip(told, claims, strict=True):
        node, predicate = _node(op), op.candidate.predicate
        if predicate == OBSERVATION and node not in made and node not in there:
            raise UsageError(detail=f"Entity with name {node[1]} not found")
        is_new = claim not in known
        if predicate == ENTITY:
            is_new = fresh.get(node) is op
        elif predicate == OBSERVATION and node in made:
            is_new = is_new and node in fresh
        if not is_new:
            stale.add(op.episode)
    return _without(ops, stale)


def _claims(ops: Iterable[Op]) -> list[AssertFact]:
    return [op for op in ops if isinstance(op, AssertFact) and is_of_graph(op)]


def _node(op: AssertFact) -> _Node:
    return op.owner, op.candidate.subject


def _claim(op: AssertFact) -> bytes:
    fact = op.candidate
    return claim_digest(op.owner, fact.subject, fact.predicate, fact.object)


def _settled(reads: Reads, claims: Collection[bytes]) -> set[bytes]:
    """Return the claims that are known, or that their owner put something else in the place of."""
    # Apart: what is current and what is retired are indexed apart.
    retired = reads.lives(LifeWhere(claims=claims, current=False))
    corrected = {life.claim for life in retired if life.status is Status.SUPERSEDED}
    return corrected | current_by_claim(reads, claims).keys()


def _without(ops: Sequence[Op], stale: Collection[str]) -> list[Op]:
    """Return Ops without these episodes, what they say, and sources that are of nothing else."""
    left: list[Op] = []
    for op in ops:
        uid = op.episode.uid if isinstance(op, RecordEpisode) else ""
        uid = op.episode if isinstance(op, AssertFact) else uid
        if uid not in stale:
            left.append(op)
    sources = {op.episode.source for op in left if isinstance(op, RecordEpisode)}
    return [op for op in left if not isinstance(op, RecordSource) or op.source.key in sources]
