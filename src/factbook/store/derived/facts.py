"""Facts by what they were merged into, over the verbs of a store."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from factbook.store.base import Reads
from factbook.store.rows import Life, LifeWhere


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
