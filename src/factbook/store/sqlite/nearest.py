"""Hold in memory what ranking needs to know of every episode, and the vectors of each owner.

Both follow the file: what was written since the last question is read before the next one. A
question sees them as of its own snapshot, whatever other threads do meanwhile: what it is given
never changes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from factbook.model.facts import EVERYONE, Everyone
from factbook.store.rows import Nearest, Outlines
from factbook.store.sqlite.episode_table import CODES, COLUMNS, EpisodeTable, joined, table_of

if TYPE_CHECKING:
    from factbook.store.sqlite.vectors import VectorIndex, VectorView

SPREADS: Final = 2.0
"""How far a bound lies above its estimate where vectors look for candidates. With the index's own 3
no more of the best ten are found, 100 % of them (99.5 on questions unlike anything stored, against
99.8), and more of all 60 (99.9 % against 98.5), whose last count for little; but the search takes
half as long again."""

_EPISODES: Final = (
    "SELECT id, source_id, occurred_at, chars, asks, speaker, owner,"
    " CASE WHEN injected = 0 OR chars = 0 THEN kind END FROM episode_data WHERE id > ? ORDER BY id"
)
_VECTORS: Final = {  # of the targets that are held; the others are few
    "episode": "SELECT episode_id, vector FROM episode_vector WHERE commit_no > ?"
    " ORDER BY commit_no, episode_id",
    "fact": "SELECT v.fact_id, v.vector, f.owner FROM fact_vector v"
    " JOIN fact_row f ON f.id = v.fact_id WHERE v.commit_no > ? ORDER BY v.commit_no, v.fact_id",
}
_GONE: Final = "SELECT row_id FROM vector_gone WHERE target = ? AND commit_no > ?"

Rows = Callable[[str, Sequence[Any]], list[Any]]  # reads SQL as of the caller's snapshot


@dataclass(frozen=True, slots=True, eq=False)
class Held:
    """What is held in memory, as of one commit; it never changes."""

    table: EpisodeTable
    views: Mapping[str, Mapping[str, VectorView]]  # target -> owner -> the owner's vectors
    names: dict[str | Everyone, Sequence[str]] = field(default_factory=dict)  # who speaks, by owner

    def nearest(
        self,
        target: str,
        vectors: NDArray[np.float32],
        owner: str | Everyone,
        k: int,
        *,
        allowed: Sequence[int] | None = None,
    ) -> list[Nearest]:
        """Return for each vector the k nearest rows of an owner, with `allowed` of these only."""
        views = self.views.get(target, {})
        mine = [view for name, view in views.items() if owner in (name, EVERYONE)]
        among = None if allowed is None else np.asarray(allowed, np.int64)
        if among is not None and not np.all(among[1:] > among[:-1]):
            among = np.asarray(sorted(set(among.tolist())), np.int64)
        return [_best([_in_view(view, vector, k, among) for view in mine], k) for vector in vectors]

    def outlines(self, ids: Sequence[int], *, reach: int, owner: str | Everyone) -> Outlines:
        """Return what is known of these episodes of an owner, and of those around them."""
        table = self.table
        wanted = np.sort(np.asarray(ids, np.int64))
        wanted = wanted[np.concatenate(([True], wanted[1:] != wanted[:-1]))[: len(wanted)]]
        rows = table.rows(wanted)
        if reach:
            rows = table.around(rows, reach)
        if not table.is_all_of(owner):
            rows = rows[table.owners[rows] == table.code_of(owner)]
        names = table.names
        return Outlines(
            table.ids[rows],
            table.sources[rows],
            table.positions[rows],
            table.times[rows],
            table.chars[rows],
            table.asks[rows],
            [names[code] for code in table.speakers[rows].tolist()]
            if len(names) > 1
            else [""] * len(rows),
        )

    def speakers(self, owner: str | Everyone) -> Sequence[str]:
        """Return the names that speak in the episodes of an owner."""
        names = self.names.get(owner)
        if names is None:
            table = self.table
            speakers = table.speakers
            if not table.is_all_of(owner):
                speakers = speakers[table.owners == table.code_of(owner)]
            said = np.bincount(speakers, minlength=len(table.names)).tolist()
            names = [name for name, count in zip(table.names, said, strict=True) if count and name]
            self.names[owner] = names
        return names


def _in_view(
    view: VectorView, vector: NDArray[np.float32], k: int, allowed: NDArray[np.int64] | None
) -> Nearest:
    if allowed is not None and len(allowed) <= k:  # there is no choice to make
        cosines = view.cosines(vector, allowed)
        there = ~np.isnan(cosines)
        return Nearest(allowed[there], cosines[there])
    return Nearest(*view.search(vector, k=k, allowed=allowed, spreads=SPREADS))


def _best(parts: Sequence[Nearest], k: int) -> Nearest:
    ids = np.concatenate([np.empty(0, np.int64), *(nearest.ids for nearest in parts)])
    cosines = np.concatenate([np.empty(0, np.float32), *(nearest.cosines for nearest in parts)])
    order = np.lexsort((ids, -cosines))[:k]
    return Nearest(ids[order], cosines[order])


class Follower:
    """The episode table and the vectors of one file, kept up to date by one thread at a time."""

    def __init__(self) -> None:
        """Hold nothing yet."""
        self.commit = -1
        self._names: dict[str, int] = {"": 0}
        self._owned_by: dict[str, int] = {}
        self._table: EpisodeTable | None = None
        self._indexes: dict[str, dict[str, VectorIndex]] = {}
        self._model: tuple[str, int] | None = None
        self._held: Held | None = None

    def follow(
        self, rows: Rows, embedder: Callable[[], tuple[str, int] | None], commit: int
    ) -> Held:
        """Read what was written since, up to that commit; `embedder` says what made the vectors."""
        if self._held is not None and commit == self.commit:
            return self._held
        model = embedder()
        self._table = self._read_episodes(rows)
        after = self.commit
        if model != self._model:
            # The vectors were made anew by another model: what is held is of no use.
            self._indexes = {}
            self._model = model
            after = -1
        if model is not None:
            for target in _VECTORS:
                self._read_vectors(rows, target, model[1], after)
        self.commit = commit
        self._held = Held(
            self._table,
            {
                target: {owner: index.view() for owner, index in indexes.items() if len(index)}
                for target, indexes in self._indexes.items()
            },
        )
        return self._held

    def _read_episodes(self, rows: Rows) -> EpisodeTable:
        known = self._table
        fresh = rows(_EPISODES, (int(known.ids[-1]) if known and len(known.ids) else 0,))
        if not fresh and known is not None:
            return known
        columns: dict[str, list[float]] = {name: [] for name in COLUMNS}
        for id_, source, at, chars, asks, speaker, owner, kind in fresh:
            columns["ids"].append(id_)
            columns["sources"].append(source)
            columns["times"].append(math.nan if at is None else at)
            columns["chars"].append(chars)
            columns["asks"].append(asks)
            columns["speakers"].append(self._names.setdefault(speaker, len(self._names)))
            columns["owners"].append(self._owned_by.setdefault(owner, len(self._owned_by)))
            columns["kinds"].append(CODES.get(kind, -1))
        new = table_of(columns, tuple(self._names), tuple(self._owned_by))
        return new if known is None else joined(known, new)

    def _read_vectors(self, rows: Rows, target: str, dim: int, after: int) -> None:
        indexes = self._indexes.setdefault(target, {})
        gone = rows(_GONE, (target, after)) if indexes else []
        if gone:
            for index in indexes.values():
                index.remove([row[0] for row in gone])
        fresh = rows(_VECTORS[target], (after,))
        if fresh:
            ids = np.asarray([row[0] for row in fresh], np.int64)
            halves = np.frombuffer(b"".join(row[1] for row in fresh), np.float16)
            self._add(indexes, ids, halves.reshape(-1, dim), self._owners_of(fresh, ids))

    def _owners_of(self, rows: Sequence[Any], ids: NDArray[np.int64]) -> Sequence[str]:
        if len(rows[0]) > 2:
            return [row[2] for row in rows]
        assert self._table is not None
        owners = tuple(self._owned_by)
        return [owners[code] for code in self._table.owners[self._table.rows(ids)].tolist()]

    def _add(
        self,
        indexes: dict[str, VectorIndex],
        ids: NDArray[np.int64],
        halves: NDArray[np.float16],
        owners: Sequence[str],
    ) -> None:
        from factbook.store.sqlite.vectors import VectorIndex

        rows_of: dict[str, list[int]] = {}
        for row, owner in enumerate(owners):
            rows_of.setdefault(owner, []).append(row)
        for owner, rows in rows_of.items():
            mine = (ids, halves) if len(rows_of) == 1 else (ids[rows], halves[rows])
            if owner in indexes:
                indexes[owner].add(*mine)
            else:
                indexes[owner] = VectorIndex.from_blobs(*mine, dim=halves.shape[1])
