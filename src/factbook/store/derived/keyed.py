"""Keyed facts by their keys, over the verbs of a store."""

from __future__ import annotations

from collections.abc import Collection

from factbook.model.facts import Fact, FactKind, Millis
from factbook.store.port import Reads
from factbook.store.rows import Life, LifeWhere

_KINDS = (FactKind.KEYED,)


def keyed_facts(
    reads: Reads,
    owner: str,
    *,
    keys: Collection[str] = (),
    prefix: str = "",
    limit: int | None = None,
    after: str = "",
) -> list[Fact]:
    """Return current keyed facts, by key and rank; a prefix ends at a segment.

    `after` is the last key of the page before.
    """
    where = LifeWhere(
        owner=owner, kinds=_KINDS, predicates=keys or None, under=prefix, current=True
    )
    lives = sorted(reads.lives(where), key=lambda life: key_order(life.predicate))
    if after:
        lives = [life for life in lives if key_order(life.predicate) > key_order(after)]
    page = lives[:limit]
    facts = reads.facts_by_id([life.id for life in page])
    return [facts[life.id] for life in page]


def key_history(reads: Reads, owner: str, key: str) -> list[Fact]:
    """Return everything that a key has held, the oldest first."""
    lives = reads.lives(LifeWhere(owner=owner, kinds=_KINDS, predicates=[key]))
    facts = reads.facts_by_id([life.id for life in lives])
    return [facts[life.id] for life in lives]


def current_keys(reads: Reads, owner: str, prefixes: Collection[str]) -> dict[str, Life]:
    """Return the current keyed facts of an owner at or under these keys, by key."""
    return {
        life.predicate: life
        for prefix in prefixes
        for life in reads.lives(LifeWhere(owner=owner, kinds=_KINDS, under=prefix, current=True))
    }


def key_times(reads: Reads, owner: str, prefixes: Collection[str]) -> dict[str, Millis]:
    """Return when each key at or under these was last changed, by what messages said."""
    times: dict[str, Millis] = {}
    for prefix in prefixes:
        for life in reads.lives(LifeWhere(owner=owner, kinds=_KINDS, under=prefix)):
            at = life.occurred_at if life.valid_to is None else life.valid_to
            if at is not None:
                times[life.predicate] = max(at, times.get(life.predicate, at))
    return times


def key_order(key: str) -> tuple[tuple[int, int, str], ...]:
    """Return what orders keys as people count: rank 2 before rank 10."""
    return tuple(
        (0, int(part), "") if part.isascii() and part.isdigit() else (1, 0, part)
        for part in key.split(".")
    )
