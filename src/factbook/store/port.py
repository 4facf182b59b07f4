"""The port to a database: the verbs that every store has.

`Reads` is what may be asked, `Writer` what `apply` writes through, `Store` leads to both. No verb
holds a rule of the domain. `factbook.testing.contract.StoreContract` is the runnable contract.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from factbook.model.facts import (
    EVERYONE,
    At,
    Episode,
    EpisodeKind,
    Event,
    Everyone,
    Fact,
    Millis,
    Scoured,
    Sighting,
    SourceState,
    SQLValue,
    StoredEpisode,
)
from factbook.store.kinds import ALL, EVENT, MARK, Kind, R, Tally, Where
from factbook.store.rows import (
    Changes,
    EpisodeHead,
    EvidenceRow,
    Filters,
    Head,
    KeptEpisode,
    Life,
    LifeWhere,
    Nearest,
    Outlines,
    Problem,
    Wiped,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Reads(Protocol):
    """What may be asked of a ledger: of a store, in a snapshot of it, and inside a write."""

    def find(
        self,
        kind: Kind[R],
        where: Where = ALL,
        *,
        limit: int | None = None,
        newest_first: bool = False,
    ) -> list[R]:
        """Return the rows of a kind that meet every condition, by their key.

        Raises UsageError for a field that the kind is not asked by, and for rows with owners asked
        for without an owner, their key or their unique fields.
        """

    def tally(
        self,
        kind: Kind[Any],
        by: Sequence[str],
        where: Where = ALL,
        *,
        most: str = "",
        distinct: str = "",
    ) -> dict[tuple[Any, ...], Tally]:
        """Count the rows of a kind that meet every condition, by the values of some fields.

        `most` and `distinct` name fields whose greatest value, and number of values, each group
        comes with. Raises UsageError as `find` does, and for a field that the kind has not.
        """

    def head(self, owner: str | Everyone = EVERYONE) -> Head:
        """Return the numbers of the last commits: each write has the next one.

        Of an owner, the last that may have changed what is remembered of theirs. Vectors do not:
        what was found before they came is as true as it was.
        """

    def changed(self, what: str, after: At, *, limit: int | None = None) -> Changes:
        """Return what came and went since, at most `limit` that came, so that pages can follow.

        `what` is "episode" or "fact" (new rows, which never go), or "vector:" and what has one.
        """

    def sources(
        self,
        *,
        ids: Collection[int] | None = None,
        keys: Sequence[str] | None = None,
        owner: str | Everyone = EVERYONE,
    ) -> list[SourceState]:
        """Return sources by id, without erased ones; of an owner those that say something of them.

        All of them without `ids` and `keys`.
        """

    def facts_by_id(self, ids: Sequence[int]) -> dict[int, Fact]:
        """Return facts by id."""

    def facts(
        self, filters: Filters, *, limit: int | None, newest_first: bool = False
    ) -> Iterator[Fact]:
        """Iterate over current facts that pass the filters, by id or newest first."""

    def episodes_by_id(self, ids: Sequence[int]) -> dict[int, StoredEpisode]:
        """Return episodes by id."""

    def episodes(
        self, filters: Filters, *, limit: int | None, newest_first: bool = False
    ) -> Iterator[StoredEpisode]:
        """Iterate over episodes that pass the filters."""

    def search(
        self, target: str, terms: Sequence[str], filters: Filters, k: int
    ) -> list[tuple[int, float]]:
        """Return (id, BM25 score, larger is better) of the k best rows that hold any of the terms.

        `target` is "episode" or "fact", of which only current ones are found. A term of several
        words is those words in a row. Any text is a legal term; case, accents and English endings
        do not matter.
        """

    def nearest(
        self, target: str, vectors: NDArray[np.float32], filters: Filters, k: int
    ) -> list[Nearest]:
        """Return for each vector, shape (n, dim), the k nearest episodes or facts that pass.

        Fewer come back only where fewer have a vector. The cosines are exact.
        """

    def vectors(self, target: str, ids: Sequence[int]) -> tuple[list[int], bytes]:
        """Return (ids that have a vector, their rows of float16), ascending by id."""

    def ids(self, target: str, filters: Filters) -> list[int]:
        """Return the ids of the episodes or current facts that pass the filters, ascending."""

    def outlines(
        self, ids: Sequence[int], *, reach: int = 0, owner: str | Everyone = EVERYONE
    ) -> Outlines:
        """Return what ranking needs of an owner's episodes, those known among the ids.

        With `reach`, also of those up to so many positions before and after them in their sources.
        """

    def turns(self, ids: Sequence[int]) -> dict[int, Sequence[tuple[int, EpisodeKind]]]:
        """Return for each episode that lies in a turn of an agent's log the turn's records.

        Each is an id and its kind, in the order of the log; all of one turn are one object.

        A turn begins with a prompt, the first of its records, and ends before the next one of its
        source; what we put there ourselves begins none and is no record of one, nor is what has
        another owner than the prompt.
        """

    def speakers(self, owner: str | Everyone) -> Sequence[str]:
        """Return the names that speak in the episodes of an owner."""

    def waiting(
        self,
        target: str,
        *,
        limit: int,
        after: int = 0,
        due: Millis | None = None,
        besides: Collection[int] = (),
        next: bool = False,
    ) -> list[tuple[int, str]]:
        """Return (id, text) of rows that wait for a vector; `next`: for one of the next model.

        With `due`, without those that were put aside, may not be tried yet at that moment, or are
        claimed under one of the tokens `besides`.
        """

    def embedder(self, *, next: bool = False) -> tuple[str, int] | None:
        """Return the id and dimension of the model whose vectors the store holds.

        `next`: of the one whose vectors are being made, to take their place.
        """

    def episode_ids(self, uids: Sequence[str]) -> dict[str, int]:
        """Return the ids of episodes by uid."""

    def untasked(
        self, kind: str, filters: Filters, *, now: Millis, limit: int, tried_only: bool = False
    ) -> list[StoredEpisode]:
        """Return episodes that pass, no model has answered for, and may be tried; by id.

        What a model has answered for is a `MODEL_TASK` of the kind that is done. With `tried_only`,
        those that were queued, or tried in vain.
        """

    def each_text(self) -> Iterator[tuple[str, str]]:
        """Iterate over every text of every row, as (what the row is called, text).

        It is called as a person types it: e34, f12; one without a number of its own by the row
        that it belongs to. Strings within JSON are texts; digests, ids that were drawn, and quotes,
        which stand in the text of their episode, not.
        """

    def texts(self, target: str, ids: Sequence[int]) -> dict[int, str]:
        """Return what episodes or facts say, by id."""

    def heads(self, ids: Collection[int]) -> dict[int, EpisodeHead]:
        """Return everything of episodes but their texts, by id."""

    def whole_episodes(self, ids: Collection[int]) -> list[KeptEpisode]:
        """Return everything of episodes, by id, without erased ones."""

    def evidence(
        self,
        *,
        fact_ids: Collection[int] | None = None,
        episode_ids: Collection[int] | None = None,
        pairs: Collection[tuple[int, int]] | None = None,
        each: int | None = None,
    ) -> list[EvidenceRow]:
        """Return what episodes say of facts, by fact and episode: of these ones, or pairs of both.

        With `each`, at most so many of a fact.
        """

    def lives(self, where: LifeWhere, *, limit: int | None = None) -> list[Life]:
        """Return the rows of facts that meet what is given, by id."""


class QuietWriter(Reads, Protocol):
    """The verbs of a write that is no commit; of the kinds, it may change only quiet ones."""

    def add(self, kind: Kind[R], rows: Sequence[R]) -> list[int | None]:
        """Insert rows; return their ids, 0 for kinds without, None where one is there already.

        One is there when it has the same key, or the same unique fields; it stays as it is.
        """

    def put(self, kind: Kind[R], rows: Sequence[R]) -> None:
        """Insert rows, or overwrite those of the same key.

        Raises UsageError for a kind that is never changed.
        """

    def drop(self, kind: Kind[Any], where: Where) -> int:
        """Delete the rows that meet every condition; return how many.

        Raises UsageError as `find` does, and for a kind that is never changed.
        """


class Writer(QuietWriter, Protocol):
    """The verbs of one open write transaction; it commits when its block ends without an error.

    What it reads is as of that write, under the lock of the tenant.
    """

    def put_sources(self, rows: Sequence[SourceState]) -> list[int]:
        """Insert sources (id 0), or overwrite them by their ids; return the ids.

        Their counts and dates move with their episodes.
        """

    def add_episodes(
        self, episodes: Sequence[tuple[int, Episode]], *, kept: Sequence[tuple[int, Millis]] = ()
    ) -> list[int]:
        """Insert (source id, episode) pairs, none of them known, index them, return their ids.

        With `kept`, each was learned at the time that is given there, and has the id that is, where
        that is above all there are; else the next one.
        """

    def rewrite_episodes(self, episodes: Mapping[int, Episode]) -> None:
        """Overwrite what episodes say, by their ids: what an erasure leaves of them.

        Each is indexed as it is then and loses its vector; it waits for one if it is worth it. Its
        source counts and dates what is not ERASED.
        """

    def rewrite_history(self, details: Mapping[int, Mapping[str, object]], erasure_id: int) -> None:
        """Put shorter details in the place of those of events: only an erasure changes history.

        Raises UsageError for one that is longer, and where there is no such erasure.
        """

    def add_facts(self, facts: Sequence[Life]) -> list[int]:
        """Insert facts, none of them current by its claim, index them, return their ids.

        One with an id has that where it is above all there are; else the next one.
        """

    def put_facts(self, changes: Sequence[tuple[Life, Life]]) -> None:
        """Write what differs between each fact before and after; it is indexed as it is then."""

    def add_evidence(self, rows: Sequence[EvidenceRow]) -> int:
        """Insert evidence, none of it known, and return how many rows were inserted.

        The quote of each is what its span of the episode begins with.
        """

    def drop_evidence(self, pairs: Collection[tuple[int, int]]) -> int:
        """Delete the evidence of these (fact id, episode id) pairs; return how many rows."""

    def drop_vectors(self, target: str, ids: Sequence[int]) -> None:
        """Remove the vectors of rows that recall no longer needs."""

    def replace_vectors(self, *, model: str, dim: int) -> int:
        """Put the next model's vectors in the place of those in use; return how many.

        Raises UsageError while any row with a vector lacks one of the next model.
        """

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
        """Keep one vector per id and mark the rows; return the ids that were still waiting.

        `next`: keep vectors of the model that is to take over, beside those in use, of rows that
        have one; return their ids. Raises EmbedderMismatch where another model's are in use.
        """


class Files(Protocol):
    """What a store can do besides that is a file on this machine: no verb of the port."""

    @property
    def path(self) -> Path:
        """Where the file is."""

    def live_bytes(self) -> int:
        """Return the bytes of the file that are in use."""

    def sql(
        self,
        text: str,
        params: Sequence[SQLValue] | Mapping[str, SQLValue] = (),
        *,
        limit: int | None,
        seconds: float,
    ) -> list[dict[str, SQLValue]]:
        """Return the rows of one statement that only reads; raises UsageError for a wrong one."""

    def reopen(self) -> Path | None:
        """Open anew what somebody replaced; return where what only this process held was saved."""

    def scour(self, wiped: Wiped | None = None) -> Scoured | None:
        """Clean the file of what a committed write erased, and say what was found.

        Without it, clean it after erasures that could not be finished; None where there are none.
        """

    def find_residues(self, text: str) -> Sighting:
        """Say where a text stands in the bytes of the file and in its copies, but not in rows."""


class Store(Reads, Protocol):
    """One tenant's ledger: its reads, and the way to its Writer."""

    @property
    def tenant(self) -> str:
        """The tenant that this store was opened for (a UUID)."""

    def writing(
        self, *, now: Millis, touches: Collection[str] | Everyone = EVERYONE
    ) -> AbstractContextManager[Writer]:
        """Open one write transaction; `touches` says of whom it may change what is remembered."""

    def locked(self) -> AbstractContextManager[QuietWriter]:
        """Open a write of who works on what: it is under the same lock, and moves no number."""

    @property
    def name(self) -> str:
        """Where the ledger is, as messages name it: a path, or a URL without a password."""

    @property
    def files(self) -> Files | None:
        """What can be done with the bytes of a store that is a file; None where it is none."""

    def snapshot(self) -> AbstractContextManager[Reads]:
        """Let all that the calling thread reads in the block be of one moment.

        Within another snapshot of the thread, or within its write, the moment is that one's. A
        write that is begun in the block raises UsageError. What was written since it began cannot
        be tidied away before it ends: keep it as short as one answer. What is given may be handed
        to one helper thread, for what `nearest` needs no more than an owner and ids for; UsageError
        says where it needs more, or where the snapshot's own thread has not asked for `speakers`.
        """

    def rehearsal(self) -> AbstractContextManager[Store]:
        """Give a store that begins as this one is now, and whose writes nobody else ever sees.

        It is for the calling thread, leaves nothing behind, and holds up nobody who writes.
        """

    def apart(self) -> AbstractContextManager[Reads]:
        """Give the reads of this moment, however long they take, and whatever the thread writes."""

    def close_thread(self) -> None:
        """Let go of what the calling thread holds, where it ends before the store does."""

    def check(self) -> list[Problem]:
        """Audit counters, spans, indexes, vectors, pointers and JSON; an empty list is clean."""

    def close(self) -> None:
        """Close every connection."""


def first(reads: Reads, kind: Kind[R], where: Where) -> R | None:
    """Return the first row that meets every condition, None without one. Raises as `find` does."""
    rows = reads.find(kind, where, limit=1)
    return rows[0] if rows else None


def count(reads: Reads, kind: Kind[Any], where: Where = ALL) -> int:
    """Return how many rows meet every condition. Raises as `find` does."""
    return sum(tally.rows for tally in reads.tally(kind, (), where).values())


def marked(reads: Reads, name: str) -> At:
    """Return how far work has come, by its name; the beginning at first."""
    mark = first(reads, MARK, {"name": name})
    return At(mark.commit_no, mark.row_id) if mark else At()


def events_of(reads: Reads, target_kind: str, target_id: int) -> list[Event]:
    """Return the history of one row, oldest first."""
    return reads.find(EVENT, {"target_kind": target_kind, "target_id": target_id})


def pages_of(reads: Reads, what: str, size: int) -> Iterator[Sequence[int]]:
    """Iterate over the ids of all rows that came, at most `size` at a time; see `changed`."""
    at, more = At(), True
    while more:
        page = reads.changed(what, at, limit=size)
        yield page.came
        at, more = page.last, page.more


def one_id(ids: Sequence[int | None]) -> int:
    """Return the id that `add` gave to one row that is new by what the writer has read."""
    [id_] = ids
    assert id_ is not None, "a row that was read to be missing is there"
    return id_
