"""Write a memory out as records, page by page, by the verbs of the port alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib.metadata import version
from typing import Any, Final

from factbook.model.facts import EVERYONE, ME, Everyone, Status
from factbook.store import kinds
from factbook.store.derived.counts import has_others
from factbook.store.port import Reads, Store, pages_of
from factbook.store.rows import LifeWhere
from factbook.store.transfer.records import (
    EVENT_KINDS,
    FORMAT,
    HEADER,
    OF_PAIRS,
    Record,
    record_of,
    target_of,
)

_PAGE: Final = 500  # rows that are in memory at once

# In this order, so that what a record names stands before it; and first of all what must not come
# back, with the key of its digests.
_BEFORE: Final = (kinds.ERASURE, kinds.SECRET, kinds.TOMBSTONE)
_CARED: Final = (kinds.READER, kinds.ENTITY, kinds.ALIAS, kinds.PREFERENCE, kinds.RUN)
_BEHIND: Final = (
    kinds.PAIR, kinds.ENGAGEMENT, kinds.LEARN_PROMPT, kinds.SCHEDULE, kinds.SEARCH_TASK,
    kinds.SEARCH_LOG, kinds.SEARCH_RESULT, kinds.SEARCH_FIND, kinds.NOTICE, kinds.NOTICE_FACT,
    kinds.NOTIFY, kinds.PROPOSAL, kinds.REJECTION, kinds.MODEL_TASK, kinds.INJECTION, kinds.COUNT,
    kinds.CALL, kinds.EVENT
)  # fmt: skip


def exported(store: Store, owner: str | Everyone) -> Iterator[Record]:
    """Iterate over all of an owner as records, of one moment, the header first.

    Where nobody else has anything it is all that there is, also what is nobody's. Of one owner
    beside others, the history is that of what is theirs.
    """
    with store.apart() as reads:
        all_of_it = isinstance(owner, Everyone) or not has_others(reads, owner)
        yield _header(reads, store.tenant, owner)
        yield from _Export(reads, EVERYONE if all_of_it else owner).records()


def _header(reads: Reads, tenant: str, owner: str | Everyone) -> Record:
    newest = reads.find(kinds.EVENT, limit=1, newest_first=True)
    embedder = reads.embedder()
    return {
        "record": HEADER,
        "format": FORMAT,
        "factbook": version("factbook"),
        "tenant": tenant,
        "owner": None if isinstance(owner, Everyone) else owner,
        "at": newest[0].at if newest else None,  # not now: the same memory makes the same file
        "embedder": embedder and {"model": embedder[0], "dim": embedder[1]},
    }


class _Export:
    """One export: what is read, and which rows of an owner it has met."""

    def __init__(self, reads: Reads, owner: str | Everyone) -> None:
        self._reads = reads
        self._owner = owner
        self._mine: dict[str, set[int]] = {}

    def records(self) -> Iterator[Record]:
        yield from self._small(_BEFORE)
        yield from self._kept("source", self._reads.sources(owner=self._owner))
        for ids in pages_of(self._reads, "episode", _PAGE):
            whole = self._reads.whole_episodes(ids)
            yield from self._kept("episode", [row for row in whole if self._has(row.episode.owner)])
        yield from self._small(_CARED)
        for ids in pages_of(self._reads, "fact", _PAGE):
            lives = [
                life
                for life in self._reads.lives(LifeWhere(ids=ids))
                if life.status is not Status.ERASED and self._has(life.owner)
            ]
            spoken: dict[int, list[Record]] = {}
            for row in self._reads.evidence(fact_ids=[life.id for life in lives]):
                spoken.setdefault(row.fact_id, []).append(record_of("evidence", row))
            for life in lives:
                yield from self._kept("fact", [life])
                yield from spoken.get(life.id, ())
        yield from self._small(_BEHIND)

    def _has(self, owner: str) -> bool:
        return self._owner in (owner, EVERYONE)

    def _kept(self, kind: str, rows: Iterable[Any]) -> Iterator[Record]:
        """Write rows, and remember their ids where others are written by whose they are of."""
        for row in rows:
            if self._owner is not EVERYONE:
                self._mine.setdefault(kind, set()).add(row.id)
            yield record_of(kind, row)

    def _small(self, some: Sequence[kinds.Kind[Any]]) -> Iterator[Record]:
        for kind in some:
            for rows in _read(self._reads, kind, self._owner):
                mine = rows if self._owner is EVERYONE else filter(self._is_mine(kind), rows)
                if kind.has_ids:
                    yield from self._kept(kind.name, mine)
                else:
                    yield from (record_of(kind.name, row) for row in mine)

    def _is_mine(self, kind: kinds.Kind[Any]) -> Callable[[Any], bool]:
        if "owner" in kind.fields:
            return lambda row: bool(row.owner == self._owner)
        mine = self._mine
        of: dict[kinds.Kind[Any], Callable[[Any], bool]] = {
            kinds.READER: lambda row: row.source_id in mine.get("source", ()),
            kinds.PAIR: lambda row: row.low_id in mine.get("fact", ()),
            kinds.SEARCH_RESULT: lambda row: row.search_id in mine.get(kinds.SEARCH_LOG.name, ()),
            kinds.SEARCH_FIND: lambda row: row.search_id in mine.get(kinds.SEARCH_LOG.name, ()),
            kinds.NOTICE_FACT: lambda row: row.notice_id in mine.get(kinds.NOTICE.name, ()),
            kinds.PROPOSAL: lambda row: row.payload.get("owner", ME) == self._owner,
            kinds.MODEL_TASK: lambda row: row.target in mine.get(target_of(row.kind), ()),
            kinds.EVENT: lambda row: (
                row.target_id in mine.get(EVENT_KINDS.get(row.target_kind, row.target_kind), ())
            ),
        }
        return of.get(kind, lambda _: False)


def _read(reads: Reads, kind: kinds.Kind[Any], owner: str | Everyone) -> Iterator[Sequence[Any]]:
    """Iterate over all rows of a kind, by their key, in pages."""
    narrowed: dict[str, object] = {"owner": owner} if "owner" in kind.fields else {}
    by, last, limit = kind.key[0], None, _PAGE
    while True:
        where: kinds.Where = narrowed if last is None else {**narrowed, by: kinds.Least(last[0])}
        rows = reads.find(kind, where, limit=limit)
        keys = [tuple(getattr(row, name) for name in kind.key) for row in rows]
        page = [row for row, key in zip(rows, keys, strict=True) if last is None or key > last]
        yield [row for row in page if kind is not kinds.MODEL_TASK or row.kind not in OF_PAIRS]
        if len(rows) < limit:
            return
        # Many rows may begin with the same part of a key: then the next page has to be longer.
        limit = _PAGE if page else limit * 2
        last = keys[-1]
