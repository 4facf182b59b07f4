"""Hold in memory what ranking needs to know of every episode, and the vectors.

Both follow the store: what was written since the last question is read before the next one. A
question sees them as of its own snapshot of the store, whatever other threads do meanwhile: what it
is given never changes.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from factbook.model.facts import Everyone

if TYPE_CHECKING:
    from factbook.recall.vectors import VectorIndex, VectorView
    from factbook.store.base import Store

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
_COLUMNS = ("ids", "sources", "times", "chars", "asks", "speakers", "owners")


@dataclass(frozen=True, slots=True, eq=False)
class EpisodeTable:
    """The episodes as columns, ascending by id; `position` is the ordinal within the source."""

    ids: Ints
    sources: Ints
    positions: Ints
    times: NDArray[np.float64]  # milliseconds; NaN where unknown
    chars: Ints
    asks: Bools
    speakers: NDArray[np.int32]  # index into `names`; 0 is nobody
    owners: NDArray[np.int32]  # index into `owned_by`
    names: tuple[str, ...]
    owned_by: tuple[str, ...]
    by_place: Ints  # row numbers ordered by (source, position)
    rank: Ints  # of each row: where it stands in `by_place`

    def holds(self, ids: Ints) -> Bools:
        """Tell of each id whether its episode is there."""
        if not len(self.ids):
            return np.zeros(len(ids), np.bool_)
        rows = np.minimum(np.searchsorted(self.ids, ids), len(self.ids) - 1)
        found: Bools = self.ids[rows] == ids
        return found

    def rows(self, ids: Ints) -> Ints:
        """Return the row numbers of episodes, all of which are there."""
        return np.searchsorted(self.ids, ids).astype(np.int64)

    def of_owner(self, owner: str | Everyone) -> Bools | None:
        """Return which rows are an owner's; None where all are."""
        if isinstance(owner, Everyone) or self.owned_by in ((), (owner,)):
            return None
        code = self.owned_by.index(owner) if owner in self.owned_by else -1
        mine: Bools = self.owners == code
        return mine

    def around(self, rows: Ints, reach: int) -> Ints:
        """Return these rows and those up to `reach` positions from them in the same source."""
        if not len(rows):
            return rows
        offsets = np.arange(-reach, reach + 1)
        places = self.rank[rows][:, None] + offsets[None, :]
        inside = (places >= 0) & (places < len(self.by_place))
        near = self.by_place[np.clip(places, 0, len(self.by_place) - 1)]
        same = inside & (self.sources[near] == self.sources[rows][:, None])
        found = np.sort(near[same])
        # np.unique would import numpy.ma, which takes longer than the whole search
        return found[np.concatenate(([True], found[1:] != found[:-1]))] if len(found) else found


@dataclass(frozen=True, slots=True, eq=False)
class Held:
    """What is held in memory, as of one generation of the store; it never changes."""

    table: EpisodeTable
    episodes: VectorView | None  # None: no vector was ever made
    facts: VectorView | None


class Catalog:
    """The episode table and the vector indexes of one store, kept up to date."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._lock = threading.Lock()
        self._local = threading.local()
        self._generation = -1
        self._names: dict[str, int] = {"": 0}
        self._owned_by: dict[str, int] = {}
        self._table: EpisodeTable | None = None
        self._indexes: dict[str, VectorIndex | None] = {"episode": None, "fact": None}
        self._last: dict[str, int] = {"episode": 0, "fact": 0}
        self._gone: dict[str, int] = {"episode": 0, "fact": 0}
        self._model: tuple[str, int] | None = None

    @contextmanager
    def snapshot(self) -> Iterator[Held]:
        """Read the store as of one moment in the block, and give what is held as of that moment.

        Within another block of the same thread, it is that one's moment.
        """
        outer: Held | None = getattr(self._local, "held", None)
        if outer is not None:
            yield outer
            return
        with ExitStack() as reading:
            # Begun one after the other, so that no thread comes with an older moment than the last.
            with self._lock:
                generation = reading.enter_context(self._store.snapshot()).generation()
                follows = generation >= self._generation
                held = self._as_of(generation) if follows else None
            if held is None:
                # The caller's snapshot was begun before: read all of it anew, for this one answer.
                held = Catalog(self._store)._as_of(generation)
            self._local.held = held
            try:
                yield held
            finally:
                self._local.held = None

    def _as_of(self, generation: int) -> Held:
        """Read what was written since; the store is read as of that generation."""
        if generation != self._generation or self._table is None:
            self._read_episodes()
            for target in ("episode", "fact"):
                self._read_vectors(target)
            self._generation = generation
        assert self._table is not None
        episodes, facts = self._indexes["episode"], self._indexes["fact"]
        return Held(
            self._table,
            None if episodes is None else episodes.view(),
            None if facts is None else facts.view(),
        )

    def _read_episodes(self) -> None:
        known = self._table
        rows = self._store.sequence(after=int(known.ids[-1]) if known and len(known.ids) else 0)
        if not rows and known is not None:
            return
        columns: dict[str, list[float]] = {name: [] for name in _COLUMNS}
        for row in rows:
            columns["ids"].append(row.id)
            columns["sources"].append(row.source_id)
            columns["times"].append(math.nan if row.occurred_at is None else row.occurred_at)
            columns["chars"].append(row.chars)
            columns["asks"].append(row.asks)
            columns["speakers"].append(self._names.setdefault(row.speaker, len(self._names)))
            columns["owners"].append(self._owned_by.setdefault(row.owner, len(self._owned_by)))
        new = _table(columns, tuple(self._names), tuple(self._owned_by))
        self._table = new if known is None else _joined(known, new)

    def _read_vectors(self, target: str) -> None:
        from factbook.recall.vectors import VectorIndex

        model = self._store.embedder()
        if model != self._model:
            # The vectors were made anew by another model: what is held is of no use.
            self._indexes = {"episode": None, "fact": None}
            self._last = {"episode": 0, "fact": 0}
            self._model = model
        index = self._indexes[target]
        gone, last_gone = self._store.gone(target, after=self._gone[target])
        if gone and index is not None:
            index.remove(gone)
        self._gone[target] = last_gone
        found = self._store.vectors(target, after=self._last[target])
        if not found.ids:
            return
        ids = np.asarray(found.ids, np.int64)
        halves = np.frombuffer(found.rows, np.float16).reshape(len(ids), found.dim)
        if index is None:
            self._indexes[target] = VectorIndex.from_blobs(ids, halves, dim=found.dim)
        else:
            index.add(ids, halves)
        self._last[target] = found.last


def _joined(old: EpisodeTable, new: EpisodeTable) -> EpisodeTable:
    """Put new episodes behind the old ones; their ids are higher.

    Sorting all rows again would take longer than the rest of a search, after every turn.
    """
    count = len(old.ids)
    ordered = old.sources[old.by_place]
    coming = new.sources[new.by_place]
    end = np.searchsorted(ordered, coming, side="right")
    by_place = np.insert(old.by_place, end, new.by_place + count)
    rank = np.empty_like(by_place)
    rank[by_place] = np.arange(len(by_place))
    positions = new.positions.copy()
    positions[new.by_place] += end - np.searchsorted(ordered, coming, side="left")
    return EpisodeTable(
        np.concatenate((old.ids, new.ids)),
        np.concatenate((old.sources, new.sources)),
        np.concatenate((old.positions, positions)),
        np.concatenate((old.times, new.times)),
        np.concatenate((old.chars, new.chars)),
        np.concatenate((old.asks, new.asks)),
        np.concatenate((old.speakers, new.speakers)),
        np.concatenate((old.owners, new.owners)),
        new.names,
        new.owned_by,
        by_place,
        rank,
    )


def _table(
    columns: Mapping[str, Sequence[float]], names: tuple[str, ...], owned_by: tuple[str, ...]
) -> EpisodeTable:
    ids = np.asarray(columns["ids"], np.int64)
    sources = np.asarray(columns["sources"], np.int64)
    by_place = np.lexsort((ids, sources)).astype(np.int64)
    rank = np.empty_like(by_place)
    rank[by_place] = np.arange(len(by_place))
    ordered = sources[by_place]
    starts = np.searchsorted(ordered, ordered, side="left")
    positions = np.empty_like(by_place)
    positions[by_place] = np.arange(len(by_place)) - starts
    return EpisodeTable(
        ids,
        sources,
        positions,
        np.asarray(columns["times"], np.float64),
        np.asarray(columns["chars"], np.int64),
        np.asarray(columns["asks"], np.bool_),
        np.asarray(columns["speakers"], np.int32),
        np.asarray(columns["owners"], np.int32),
        names,
        owned_by,
        by_place,
        rank,
    )
