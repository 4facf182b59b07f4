"""Entities, over the verbs of a store."""

from __future__ import annotations

from collections.abc import Sequence

from factbook.model.entities import Entity
from factbook.model.facts import EVERYONE
from factbook.store.base import Reads


def entities_by_id(reads: Reads, ids: Sequence[int]) -> dict[int, Entity]:
    """Return entities by id, whatever their state."""
    return {one.id: one for one in reads.entities(EVERYONE, include_retired=True, ids=ids)}
