"""Facts by what they were merged into and who stands for them, over the verbs of a store."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from factbook.model.facts import Fact, FactKind, Millis, Stance, Status, Trust
from factbook.store.kinds import EVENT
from factbook.store.port import Reads
from factbook.store.rows import Life, LifeWhere

_SAID = tuple(fact_kind for fact_kind in FactKind if fact_kind is not FactKind.OBSERVATION)


def holds(fact: Life | Fact) -> bool:
    """Tell whether a fact is current, no mere proposal, and not called wrong."""
    return fact.retired_at is None and fact.status is not Status.PROPOSED and fact.confidence > 0


def fact_by_id(reads: Reads, fact_id: int) -> Fact | None:
    """Return one fact in whatever state it is."""
    return reads.facts_by_id([fact_id]).get(fact_id)


def lives_by_id(reads: Reads, ids: Collection[int]) -> dict[int, Life]:
    """Return facts by id, ascending, whatever their state."""
    return {life.id: life for life in reads.lives(LifeWhere(ids=ids))}


def current_by_claim(reads: Reads, claims: Collection[bytes]) -> dict[bytes, Life]:
    """Return the current facts among these claims."""
    return {life.claim: life for life in reads.lives(LifeWhere(claims=claims, current=True))}


def merged_into(reads: Reads, claims: Collection[bytes]) -> dict[bytes, int]:
    """Return the current facts that retired ones of these claims were merged into."""
    retired = reads.lives(LifeWhere(claims=claims, current=False))
    known = _with_winners(reads, [life for life in retired if life.merged_into_id is not None])
    ends = ((life.claim, _end(known, life)) for life in retired if life.id in known)
    return {claim: end.id for claim, end in ends if end.current}


def standing(reads: Reads, claims: Collection[bytes]) -> dict[bytes, int]:
    """Return the fact that each claim stands in now: its own, or what that was merged into.

    A claim whose facts are all retired stands in the newest of them.
    """
    # Apart: what is current and what is retired are indexed apart.
    lives = [
        life
        for current in (False, True)
        for life in reads.lives(LifeWhere(claims=claims, current=current))
    ]
    known = _with_winners(reads, lives)
    ends = sorted((_end(known, life).current, life.id, life.claim) for life in lives)
    return {claim: _end(known, known[at]).id for _, at, claim in ends}


def vouched(reads: Reads, owner: str) -> list[Life]:
    """Return the current facts that an owner told, pinned or called right, by id."""
    lives = list(filter(holds, reads.lives(LifeWhere(owner=owner, kinds=_SAID, current=True))))
    # A fact is as trusted as its best evidence: nobody told what is known from others alone.
    told = told_at(reads, [life.id for life in lives if life.trust is not Trust.EXTERNAL])
    open_ = [life.id for life in lives if not life.pinned and life.id not in told]
    where = {"target_kind": "fact", "target_id": open_, "op": ("rate", "confirm")}
    words = reads.find(EVENT, where)
    right = {
        word.target_id: word.op == "confirm" or word.detail.get("why") == "right" for word in words
    }
    return [life for life in lives if life.pinned or life.id in told or right.get(life.id, False)]


def told_at(reads: Reads, fact_ids: Collection[int]) -> dict[int, Millis]:
    """Return when their owner told facts to factbook on purpose, last; others are left out."""
    rows = [row for row in reads.evidence(fact_ids=fact_ids) if row.stance is Stance.SUPPORTS]
    heads = reads.heads({row.episode_id for row in rows})
    told: dict[int, Millis] = {}
    for row in rows:
        head = heads[row.episode_id]
        if head.told:
            told[row.fact_id] = max(told.get(row.fact_id, 0), head.occurred_at or 0)
    return told


def _with_winners(reads: Reads, lives: Iterable[Life]) -> dict[int, Life]:
    """Return facts by id with all that they were merged into."""
    known = {life.id: life for life in lives}
    while True:
        winners = {life.merged_into_id for life in known.values()} - known.keys() - {None}
        if not winners:
            return known
        known.update(lives_by_id(reads, [winner for winner in winners if winner is not None]))


def merged_ends(reads: Reads, lives: Sequence[Life]) -> dict[int, Life]:
    """Return what facts are a part of by now, themselves where they are merged into none, by id."""
    known = _with_winners(reads, lives)
    return {life.id: _end(known, life) for life in lives}


def _end(known: Mapping[int, Life], life: Life) -> Life:
    while life.merged_into_id is not None:
        life = known[life.merged_into_id]
    return life
