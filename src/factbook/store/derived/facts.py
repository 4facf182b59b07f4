"""Facts by what they were merged into and who stands for them, over the verbs of a store."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from factbook.model.facts import FactKind, Stance, Status, Trust
from factbook.store.base import Reads
from factbook.store.kinds import EVENT
from factbook.store.rows import Life, LifeWhere

_SAID = tuple(one for one in FactKind if one is not FactKind.OBSERVATION)


def lives_by_id(reads: Reads, ids: Collection[int]) -> dict[int, Life]:
    """Return facts by id, ascending, whatever their state."""
    return {one.id: one for one in reads.lives(LifeWhere(ids=ids))}


def current_by_claim(reads: Reads, claims: Collection[bytes]) -> dict[bytes, Life]:
    """Return the current facts among these claims."""
    return {one.claim: one for one in reads.lives(LifeWhere(claims=claims, current=True))}


def merged_into(reads: Reads, claims: Collection[bytes]) -> dict[bytes, int]:
    """Return the current facts that retired ones of these claims were merged into."""
    retired = reads.lives(LifeWhere(claims=claims, current=False))
    known = _with_winners(reads, [one for one in retired if one.merged_into_id is not None])
    ends = ((one.claim, _end(known, one)) for one in retired if one.id in known)
    return {claim: end.id for claim, end in ends if end.current}


def standing(reads: Reads, claims: Collection[bytes]) -> dict[bytes, int]:
    """Return the fact that each claim stands in now: its own, or what that was merged into.

    A claim whose facts are all retired stands in the newest of them.
    """
    # Apart: what is current and what is retired are indexed apart.
    found = [
        one
        for current in (False, True)
        for one in reads.lives(LifeWhere(claims=claims, current=current))
    ]
    known = _with_winners(reads, found)
    ends = sorted((_end(known, one).current, one.id, one.claim) for one in found)
    return {claim: _end(known, known[at]).id for _, at, claim in ends}


def vouched(reads: Reads, owner: str) -> list[Life]:
    """Return the current facts that an owner told, pinned or called right, by id."""
    lives = [
        one
        for one in reads.lives(LifeWhere(owner=owner, kinds=_SAID, current=True))
        if one.status is not Status.PROPOSED and one.confidence > 0
    ]
    # A fact is as trusted as its best evidence: nobody told what is known from others alone.
    asked = [one.id for one in lives if one.trust is not Trust.EXTERNAL]
    rows = [one for one in reads.evidence(fact_ids=asked) if one.stance is Stance.SUPPORTS]
    heads = reads.heads({one.episode_id for one in rows})
    told = {one.fact_id for one in rows if heads[one.episode_id].told}
    open_ = [one.id for one in lives if not one.pinned and one.id not in told]
    words = reads.find(
        EVENT, {"target_kind": "fact", "target_id": open_, "op": ("rate", "confirm")}
    )
    right = {
        one.target_id: one.op == "confirm" or one.detail.get("why") == "right" for one in words
    }
    return [one for one in lives if one.pinned or one.id in told or right.get(one.id, False)]


def _with_winners(reads: Reads, lives: Iterable[Life]) -> dict[int, Life]:
    """Return facts by id with all that they were merged into."""
    known = {one.id: one for one in lives}
    while True:
        winners = {one.merged_into_id for one in known.values()} - known.keys() - {None}
        if not winners:
            return known
        known.update(lives_by_id(reads, [one for one in winners if one is not None]))


def _end(known: Mapping[int, Life], life: Life) -> Life:
    while life.merged_into_id is not None:
        life = known[life.merged_into_id]
    return life
