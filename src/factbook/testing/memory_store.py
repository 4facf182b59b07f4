"""A store in memory: dicts and no SQL, for tests, and to compare other stores with.

All that it holds is one mapping of tables, which nothing changes: a write copies the tables that it
touches and puts its mapping in the place of the other at its end. So a snapshot, a rehearsal and an
export are a mapping that is kept. It is lost with the last store of its name that is open.
"""

from __future__ import annotations

import threading
import uuid
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from typing import Any, cast
from weakref import WeakValueDictionary

import orjson

from factbook.errors import EmbedderMismatch, UsageError
from factbook.model.facts import EVERYONE, At, Episode, Everyone, Millis, SourceState, Status
from factbook.store.kinds import (
    ERASED,
    ERASURE,
    EVENT,
    OWNER,
    Kind,
    OwnerRow,
    R,
    appended,
    changes_memory,
    checked,
)
from factbook.store.port import Store
from factbook.store.rows import EvidenceRow, Life, Mode, Problem
from factbook.testing.memory_reads import MemoryReads, Root, meets

__all__ = ["MemoryStore", "MemoryWriter", "open_memory"]


class _Ledger:
    """What the stores of one name share."""

    def __init__(self, root: Root | None = None, tenant: str = "") -> None:
        self.root: Root = root or {}
        self.tenant = tenant or str(uuid.uuid4())
        self.lock = threading.Lock()


_LEDGERS: WeakValueDictionary[str, _Ledger] = WeakValueDictionary()
_OPENING = threading.Lock()


def open_memory(url: str, *, mode: Mode = "create") -> Store:
    """Open the store that a URL names, as an entry point of `factbook.stores` is called.

    All that are open by one URL hold the same; `mode` is for what outlives its process.
    """
    with _OPENING:
        ledger = _LEDGERS.get(url) or _LEDGERS.setdefault(url, _Ledger())
    return MemoryStore(ledger, url)


class MemorySnapshot(MemoryReads):
    """What a store held at one moment."""

    def __init__(self, root: Root) -> None:
        self._root = root

    def root(self) -> Root:
        return self._root


class MemoryWriter(MemoryReads):
    """The verbs of one open write, as `store.port.Writer` says them."""

    def __init__(self, root: Root, *, now: Millis, quiet: bool = False) -> None:
        """Begin with what there is; `quiet` is no commit."""
        self._quiet = quiet
        self._tables = dict(root)
        self._owned: set[str] = set()
        self._dropped: set[tuple[str, int]] = set()  # (table, id) of vectors
        self._now = now

    def root(self) -> Root:
        return self._tables

    def own(self, name: str) -> dict[Any, Any]:
        """Return a table that may be changed: a copy, made once."""
        if name not in self._owned:
            self._owned.add(name)
            self._tables[name] = dict(self._tables.get(name, {}))
        return cast("dict[Any, Any]", self._tables[name])

    def commit(self, before: Root, touches: Collection[str] | Everyone) -> None:
        """Write down the number of this write, what it brought, and whose memory it may change."""
        no = self.head().commit + 1
        for name in sorted(self._owned & {"episode", "fact", "episode vector", "fact vector"}):
            old, new = before.get(name, {}), self._tables[name]
            came, gone = self.own(f"{name} came"), self.own(f"{name} gone")
            dropped = {id_ for table, id_ in self._dropped if table == name}
            for id_ in dropped | (old.keys() - new.keys()):
                came.pop(id_, None)
                gone[At(no, id_)] = None
            for id_, row in new.items():
                if id_ not in old or (" " in name and old[id_] is not row):
                    came[id_] = no
        names = ["commit"]
        touched = () if isinstance(touches, Everyone) else touches
        if touches:
            names += ["memory"] if touched else ["memory", "everyone"]
        self.own("meta").update(dict.fromkeys(names, no))
        self.own(OWNER.name).update({(owner,): OwnerRow(owner, no) for owner in touched})

    def add(self, kind: Kind[R], rows: Sequence[R]) -> list[int | None]:
        changes_memory(kind, quiet=self._quiet)
        table, ids = self.own(kind.name), list[int | None]()
        for given in rows:
            row = _kept(given)
            if kind.has_ids and not row[0]:
                row = row._replace(id=max(table, default=(0,))[0] + 1)  # type: ignore[attr-defined]
            key = _key(kind, row)
            if key in table or _alike(kind, row, table):
                ids.append(None)
                continue
            table[key] = row
            self._let_wait(kind, row)
            ids.append(row[0] if kind.has_ids else 0)
        return ids

    def put(self, kind: Kind[R], rows: Sequence[R]) -> None:
        appended(kind)
        changes_memory(kind, quiet=self._quiet)
        table = self.own(kind.name)
        for row in map(_kept, rows):
            key = _key(kind, row)
            others = {other_key: other for other_key, other in table.items() if other_key != key}
            if _alike(kind, row, others):
                raise UsageError(
                    detail=f"another {kind.name} has the same {', '.join(kind.unique)}"
                )
            table[key] = row
            self._let_wait(kind, row)

    def drop(self, kind: Kind[Any], where: Mapping[str, object]) -> int:
        appended(kind)
        changes_memory(kind, quiet=self._quiet)
        checked(kind, where)
        table = self.own(kind.name)
        gone = [key for key, row in table.items() if meets(row, where)]
        for key in gone:
            del table[key]
        return len(gone)

    def _let_wait(self, kind: Kind[Any], row: Any) -> None:
        """Let a row that may have a vector wait for one, or lose it."""
        if not kind.embedded:
            return
        if row.retired_at is not None:
            self.drop_vectors(kind.name, [row.id])
            self.own(f"{kind.name} waiting").pop(row.id, None)
        elif row.id not in self.table(f"{kind.name} vector"):
            self.own(f"{kind.name} waiting")[row.id] = None

    def put_sources(self, rows: Sequence[SourceState]) -> list[int]:
        table, ids = self.own("source"), []
        for row in rows:
            given = row.id or max(table, default=0) + 1
            known = table.get(given, SourceState(source=row.source))
            counts = {
                name: getattr(known, name) for name in ("episode_count", "first_at", "last_at")
            }
            table[given] = replace(row, id=given, **counts)
            ids.append(given)
        return ids

    def add_episodes(
        self, episodes: Sequence[tuple[int, Episode]], *, kept: Sequence[tuple[int, Millis]] = ()
    ) -> list[int]:
        if not episodes:
            return []
        table, sources = self.own("episode"), self.own("source")
        learned, ids = self.own("episode learned_at"), []
        given = kept or [(0, self._now)] * len(episodes)
        for (source_id, episode), (id_, at) in zip(episodes, given, strict=True):
            n = max(id_, max(table, default=0) + 1)
            ids.append(n)
            learned[n] = at
            table[n] = (source_id, episode)
            if episode.embed and not episode.injected:
                self.own("episode waiting")[n] = None
            source = sources[source_id]
            times = [
                at
                for at in (source.first_at, source.last_at, episode.occurred_at)
                if at is not None
            ]
            sources[source_id] = replace(
                source,
                episode_count=source.episode_count + 1,
                first_at=min(times, default=None),
                last_at=max(times, default=None),
            )
        return ids

    def rewrite_episodes(self, episodes: Mapping[int, Episode]) -> None:
        table, waiting = self.own("episode"), self.own("episode waiting")
        sources = {table[id_][0] for id_ in episodes}
        self.drop_vectors("episode", [*episodes])
        for id_, episode in episodes.items():
            waiting.pop(id_, None)
            if episode.embed and not episode.injected:
                waiting[id_] = None
            table[id_] = (table[id_][0], episode)
        for source_id in sources:
            self._recount(source_id)

    def _recount(self, source_id: int) -> None:
        sources, erased = self.own("source"), self.table(ERASED.name)
        kept = [
            episode
            for id_, (source, episode) in self.table("episode").items()
            if source == source_id and ("episode", id_) not in erased
        ]
        times = [episode.occurred_at for episode in kept if episode.occurred_at is not None]
        sources[source_id] = replace(
            sources[source_id],
            episode_count=len(kept),
            first_at=min(times, default=None),
            last_at=max(times, default=None),
        )

    def rewrite_history(self, details: Mapping[int, Mapping[str, object]], erasure_id: int) -> None:
        table = self.own(EVENT.name)
        is_longer = any(
            (id_,) not in table or len(_json(detail)) > len(_json(table[id_,].detail))
            for id_, detail in details.items()
        )
        if is_longer or (erasure_id,) not in self.table(ERASURE.name):
            raise UsageError(detail="the history is append-only; an erasure makes it shorter")
        for id_, detail in details.items():
            table[id_,] = _kept(table[id_,]._replace(detail=detail))

    def add_facts(self, facts: Sequence[Life]) -> list[int]:
        if not facts:
            return []
        table, ids = self.own("fact"), []
        for row in facts:
            n = max(row.id, max(table, default=0) + 1)
            ids.append(n)
            table[n] = row._replace(id=n, learned_at=row.learned_at or self._now)
        return ids

    def put_facts(self, changes: Sequence[tuple[Life, Life]]) -> None:
        table = self.own("fact")
        for before, after in changes:
            pairs = zip(Life._fields, before, after, strict=True)
            moved = {name: new for name, old, new in pairs if new != old}
            table[after.id] = table[after.id]._replace(**moved)

    def add_evidence(self, rows: Sequence[EvidenceRow]) -> int:
        table = self.own("evidence")
        for row in rows:
            table[row.fact_id, row.episode_id] = row._replace(
                learned_at=row.learned_at or self._now
            )
        return len(rows)

    def drop_evidence(self, pairs: Collection[tuple[int, int]]) -> int:
        table = self.own("evidence")
        return sum(table.pop(pair, None) is not None for pair in pairs)

    def set_vectors(
        self,
        target: str,
        ids: Sequence[int],
        vectors: bytes,
        *,
        model: str,
        dim: int,
        next: bool = False,
    ) -> list[int]:
        if next:
            return self._set_next_vectors(target, ids, vectors, model, dim)
        used = self.embedder()
        if used not in (None, (model, dim)):
            raise EmbedderMismatch(path="memory", found=used[0] if used else "", given=model)
        self.own("meta")["embedder"] = (model, dim)
        wait = {id_ for id_, _ in self.waiting(target, limit=len(ids), among=ids)}
        table, written = self.own(f"{target} vector"), []
        for n, row_id in enumerate(ids):
            if row_id not in wait:
                continue
            table[row_id] = vectors[2 * dim * n : 2 * dim * (n + 1)]
            written.append(row_id)
            self.own(f"{target} waiting").pop(row_id, None)
            if target == "fact":
                facts = self.own("fact")
                facts[row_id] = facts[row_id]._replace(status=Status.ACTIVE)
        return written

    def _set_next_vectors(
        self, target: str, ids: Sequence[int], vectors: bytes, model: str, dim: int
    ) -> list[int]:
        """Keep vectors of the next model; return the ids that were written."""
        if self.embedder(next=True) != (model, dim):
            self._tables["next vector"] = {}
            self._owned.add("next vector")
            self.own("meta")["next embedder"] = (model, dim)
        there, table = self.table(f"{target} vector"), self.own("next vector")
        for n, row_id in enumerate(ids):
            if row_id in there:
                table[target, row_id] = vectors[2 * dim * n : 2 * dim * (n + 1)]
        return [id_ for id_ in ids if id_ in there]

    def replace_vectors(self, *, model: str, dim: int) -> int:
        made = self.table("next vector")
        if self.embedder(next=True) != (model, dim):
            raise UsageError(detail=f"no vectors of {model} wait")
        targets = [
            name for name in self.root() if name.endswith(" vector") and name != "next vector"
        ]
        for name in targets:
            lacking = [id_ for id_ in self.table(name) if (name.partition(" ")[0], id_) not in made]
            if lacking:
                raise UsageError(detail=f"{len(lacking)} rows lack a vector of {model}")
        for (target, row_id), row in made.items():
            self.own(f"{target} vector")[row_id] = row
        self.own("meta")["embedder"] = (model, dim)
        del self.own("meta")["next embedder"]
        self._tables["next vector"] = {}
        return len(made)

    def drop_vectors(self, target: str, ids: Sequence[int]) -> None:
        name = f"{target} vector"
        vectors = self.own(name)
        for id_ in ids:
            if vectors.pop(id_, None) is not None:
                self._dropped.add((name, id_))
            self.own("next vector").pop((target, id_), None)
            self.own("embed_task").pop((target, id_), None)


class MemoryStore(MemoryReads):
    """One tenant's ledger in memory; thread-safe."""

    files = None

    def __init__(self, ledger: _Ledger, url: str) -> None:
        self._url = url
        self._ledger = ledger
        self._thread = threading.local()

    @property
    def name(self) -> str:
        return self._url

    @property
    def tenant(self) -> str:
        return self._ledger.tenant

    def root(self) -> Root:
        moment: MemoryReads | None = getattr(self._thread, "moment", None)
        return moment.root() if moment is not None else self._ledger.root

    def writing(
        self, *, now: Millis, touches: Collection[str] | Everyone = EVERYONE
    ) -> AbstractContextManager[MemoryWriter]:
        return self._write(now, touches, quiet=False)

    def locked(self) -> AbstractContextManager[MemoryWriter]:
        return self._write(0, (), quiet=True)

    @contextmanager
    def _write(
        self, now: Millis, touches: Collection[str] | Everyone, *, quiet: bool
    ) -> Iterator[MemoryWriter]:
        if getattr(self._thread, "moment", None) is not None:
            raise UsageError(detail="a write cannot begin within a snapshot or another write")
        with self._ledger.lock:
            writer = MemoryWriter(self._ledger.root, now=now, quiet=quiet)
            self._thread.moment = writer
            try:
                yield writer
                if not quiet:
                    writer.commit(self._ledger.root, touches)
                self._ledger.root = dict(writer.root())
            finally:
                self._thread.moment = None

    @contextmanager
    def snapshot(self) -> Iterator[MemoryReads]:
        outer: MemoryReads | None = getattr(self._thread, "moment", None)
        if outer is not None:
            yield outer
            return
        self._thread.moment = moment = MemorySnapshot(self._ledger.root)
        try:
            yield moment
        finally:
            self._thread.moment = None

    @contextmanager
    def rehearsal(self) -> Iterator[MemoryStore]:
        ledger = _Ledger(self.root(), self.tenant)
        yield MemoryStore(ledger, self._url)

    @contextmanager
    def apart(self) -> Iterator[MemoryReads]:
        yield MemorySnapshot(self._ledger.root)

    def check(self) -> list[Problem]:
        """Find nothing wrong: there are no counters and no indexes that could differ from rows."""
        return []

    def close_thread(self) -> None:
        """Let go of nothing: a thread holds nothing."""

    def close(self) -> None:
        """Let go of nothing: what there is goes with the last store of its name."""


def _json(detail: Mapping[str, object]) -> str:
    return orjson.dumps(detail).decode()


def _kept(row: R) -> R:
    """Return a row as it comes back: its mappings and lists as JSON gives them."""
    parts = [
        orjson.loads(orjson.dumps(part, default=str))
        if isinstance(part, (Mapping, list, tuple))
        else part
        for part in row
    ]
    made: R = type(row)._make(parts)  # type: ignore[attr-defined]
    return made


def _key(kind: Kind[Any], row: Any) -> tuple[Any, ...]:
    return tuple(getattr(row, name) for name in kind.key)


def _alike(kind: Kind[Any], row: Any, table: Mapping[Any, Any]) -> bool:
    """Tell whether another row has the unique fields of this one."""
    if not kind.unique:
        return False

    def stands_for(rec: Any) -> tuple[Any, ...] | None:
        values = tuple(getattr(rec, name) for name in kind.unique)
        return None if values[0] is None or getattr(rec, "retired_at", None) is not None else values

    mine = stands_for(row)
    return mine is not None and any(stands_for(other) == mine for other in table.values())
