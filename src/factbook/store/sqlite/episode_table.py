"""Hold as columns what ranking needs to know of every episode."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from factbook.model.facts import EpisodeKind, Everyone

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
COLUMNS: Mapping[str, type[np.generic]] = {  # as they are read, by name
    "ids": np.int64,
    "sources": np.int64,
    "times": np.float64,
    "chars": np.int64,
    "asks": np.bool_,
    "speakers": np.int32,
    "owners": np.int32,
    "kinds": np.int8,
}
KINDS = tuple(EpisodeKind)
CODES = {kind.value: code for code, kind in enumerate(KINDS)}
_PROMPT = CODES[EpisodeKind.PROMPT]
Turn: TypeAlias = Sequence[tuple[int, EpisodeKind]]


@dataclass(frozen=True, eq=False)  # without slots: what is derived of it is kept
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
    kinds: NDArray[np.int8]  # index into KINDS; -1 for what is no record of a turn
    names: tuple[str, ...]
    owned_by: tuple[str, ...]
    by_place: Ints  # row numbers ordered by (source, position)
    rank: Ints  # of each row: where it stands in `by_place`

    def rows(self, ids: Ints) -> Ints:
        """Return the row numbers of those episodes that are there."""
        rows = np.searchsorted(self.ids, ids).astype(np.int64)
        inside = rows < len(self.ids)
        rows = rows[inside]
        present: Ints = rows[self.ids[rows] == ids[inside]]
        return present

    def is_all_of(self, owner: str | Everyone) -> bool:
        """Tell whether there is nobody's episode but this owner's."""
        return isinstance(owner, Everyone) or self.owned_by in ((), (owner,))

    def code_of(self, owner: str | Everyone) -> int:
        """Return which number of `owners` is this owner; -1 where nothing is theirs."""
        return self.owned_by.index(owner) if owner in self.owned_by else -1

    def around(self, rows: Ints, reach: int) -> Ints:
        """Return these rows and those up to `reach` positions from them in the same source."""
        if not len(rows):
            return rows
        offsets = np.arange(-reach, reach + 1)
        places = self.rank[rows][:, None] + offsets[None, :]
        inside = (places >= 0) & (places < len(self.by_place))
        near = self.by_place[np.clip(places, 0, len(self.by_place) - 1)]
        same = inside & (self.sources[near] == self.sources[rows][:, None])
        nearby = np.sort(near[same])
        # np.unique would import numpy.ma, which takes longer than the whole search
        return (
            nearby[np.concatenate(([True], nearby[1:] != nearby[:-1]))] if len(nearby) else nearby
        )

    def turns(self, ids: Sequence[int]) -> dict[int, Turn]:
        """Return for each episode that lies in a turn the turn's records, as `Reads.turns`."""
        rows = self.rows(np.asarray(sorted(set(ids)), np.int64))
        begins = self._begins[self.rank[rows]]
        turns = zip(self.ids[rows].tolist(), begins.tolist(), strict=True)
        found = {id_: self._turn(begin) for id_, begin in turns if begin >= 0}
        # What another owner's prompt began is no record of its turn.
        return {id_: found[id_][0] for id_ in ids if id_ in found and id_ in found[id_][1]}

    def _turn(self, begin: int) -> tuple[Turn, frozenset[int]]:
        """Return the turn that begins at a place of `by_place`, and its records' ids."""
        known = self._turns.get(begin)
        if known is None:
            end = int(self._breaks[np.searchsorted(self._breaks, begin, side="right")])
            rows = self.by_place[begin:end]
            rows = rows[(self.kinds[rows] >= 0) & (self.owners[rows] == self.owners[rows[0]])]
            kinds = [KINDS[code] for code in self.kinds[rows].tolist()]
            turn = list(zip(self.ids[rows].tolist(), kinds, strict=True))
            known = self._turns[begin] = turn, frozenset(id_ for id_, _ in turn)
        return known

    @cached_property
    def _turns(self) -> dict[int, tuple[Turn, frozenset[int]]]:
        """The turns that were asked for, by where they begin: a table never changes."""
        return {}

    @cached_property
    def _is_prompt(self) -> Bools:
        """Tell of each place whether a prompt stands there."""
        prompts: Bools = self.kinds[self.by_place] == _PROMPT
        return prompts

    @cached_property
    def _begins(self) -> Ints:
        """The place of the last prompt up to each place, within its source; -1 for none."""
        sources = self.sources[self.by_place]
        places = np.arange(len(sources))
        last = np.maximum.accumulate(np.where(self._is_prompt, places, -1))
        begins: Ints = np.where((last >= 0) & (sources[last] == sources), last, -1)
        return begins

    @cached_property
    def _breaks(self) -> Ints:
        """The places where turns and sources begin, and the end of all."""
        sources = self.sources[self.by_place]
        breaks = self._is_prompt.copy()
        breaks[1:] |= sources[1:] != sources[:-1]
        return np.append(np.flatnonzero(breaks), len(sources))


def joined(old: EpisodeTable, new: EpisodeTable) -> EpisodeTable:
    """Put new episodes behind the old ones; their ids are higher.

    Sorting all rows again would take longer than the rest of a search, after every turn.
    """
    count = len(old.ids)
    ordered = old.sources[old.by_place]
    coming = new.sources[new.by_place]
    end = np.searchsorted(ordered, coming, side="right")
    by_place = np.insert(old.by_place, end, new.by_place + count)
    positions = new.positions.copy()
    positions[new.by_place] += end - np.searchsorted(ordered, coming, side="left")
    return EpisodeTable(
        positions=np.concatenate((old.positions, positions)),
        names=new.names,
        owned_by=new.owned_by,
        by_place=by_place,
        rank=_ranks(by_place),
        **{name: np.concatenate((getattr(old, name), getattr(new, name))) for name in COLUMNS},
    )


def table_of(
    columns: Mapping[str, Sequence[float]], names: tuple[str, ...], owned_by: tuple[str, ...]
) -> EpisodeTable:
    arrays = {name: np.asarray(columns[name], kind) for name, kind in COLUMNS.items()}
    by_place = np.lexsort((arrays["ids"], arrays["sources"])).astype(np.int64)
    ordered = arrays["sources"][by_place]
    starts = np.searchsorted(ordered, ordered, side="left")
    positions = np.empty_like(by_place)
    positions[by_place] = np.arange(len(by_place)) - starts
    return EpisodeTable(
        positions=positions,
        names=names,
        owned_by=owned_by,
        by_place=by_place,
        rank=_ranks(by_place),
        **arrays,
    )


def _ranks(by_place: Ints) -> Ints:
    """Return of each row where it stands in `by_place`."""
    rank = np.empty_like(by_place)
    rank[by_place] = np.arange(len(by_place))
    return rank
