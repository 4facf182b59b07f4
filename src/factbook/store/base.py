"""The port to a database: what `apply` writes through and what everything else reads.

`Writer` offers set-based verbs inside one transaction and holds no rule of the domain; `Store`
offers the reads. `factbook.testing.contract.StoreContract` is the runnable contract of both.
"""

from __future__ import annotations

import functools
import hashlib
import inspect
import os
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, Protocol, TypeVar

from factbook.errors import UsageError
from factbook.model.facts import (
    EVERYONE,
    ME,
    At,
    Episode,
    EpisodeKind,
    Everyone,
    Fact,
    FactKind,
    Millis,
    Role,
    Scoured,
    Sighting,
    SourceState,
    SQLValue,
    StoredEpisode,
    Trigger,
    Trust,
    one_owner,
    whose,
)
from factbook.store.port import Reads as RecordReads
from factbook.store.port import Writes as RecordWrites
from factbook.store.rows import EpisodeHead, EvidenceRow, KeptEpisode, Life, LifeWhere, Wiped

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Mode = Literal["create", "write", "read"]  # how a ledger is opened
_T = TypeVar("_T")
_S = TypeVar("_S")


def claim_digest(owner: str, subject: str, predicate: str, obj: str) -> bytes:
    """Return the 16 bytes that stand for a claim in the unique index of current facts."""
    # Lengths keep ("ab", "c") and ("a", "bc") apart, whatever characters the parts hold.
    data = f"{len(owner)},{len(subject)},{len(predicate)}\0{owner}{subject}{predicate}{obj}"
    return hashlib.blake2b(data.encode("utf-8", "surrogatepass"), digest_size=16).digest()


ERASE_KEY: Final = "erase_key"  # the name of the `Secret` that tombstones are made with


def tombstone_mark(key: str, kind: str, *parts: str) -> bytes:
    """Return the digest of what must not come back, under a key in hexadecimal."""
    data = "".join(f"{len(part)}:{part}" for part in (kind, *parts))
    return hashlib.blake2b(
        data.encode("utf-8", "surrogatepass"), key=bytes.fromhex(key), digest_size=16
    ).digest()


@dataclass(frozen=True, slots=True, kw_only=True)
class Filters:
    """What a read is narrowed to: one owner, unless it says EVERYONE, and what else is given."""

    predicates: Sequence[str] = ()
    kinds: Sequence[FactKind] = ()
    episode_kinds: Sequence[EpisodeKind] = ()
    roles: Sequence[Role] = ()  # who speaks in an episode
    trusts: Sequence[Trust] = ()  # how far an episode is trusted
    min_confidence: float = 0.0
    since: Millis | None = None  # inclusive
    until: Millis | None = None  # exclusive
    host: str = ""
    project: str = ""  # equals the folder, or is a part of its path
    session: str = ""
    owner: str | Everyone = ME
    object: str = ""  # exact object of a fact
    subject: str = ""
    rules: Sequence[str] = ()  # names of rules that made the fact's evidence
    turns_any_time: bool = False  # the times narrow everything but turns of conversations
    now: Millis | None = None  # confidence is what it is then; without it, as it was stored
    deprecated: bool = True  # with `now`: facts that have faded below 0.3 pass too
    proposed: bool = False  # facts that wait for a yes pass too
    ids: Sequence[int] | None = None  # only of these rows
    before: int | None = None  # only of rows with lower ids

    def __post_init__(self) -> None:
        """Refuse an owner without a name: that would be everybody."""
        whose(self.owner)

    def of_owner(self, owner: str) -> bool:
        """Tell whether what is this owner's passes, as far as its owner goes."""
        return self.owner in (owner, EVERYONE)

    @property
    def facts_wanted(self) -> bool:
        """Tell whether facts can pass: a filter that only episodes can meet leaves none."""
        return not (self.episode_kinds or self.roles or self.trusts)

    @property
    def episodes_wanted(self) -> bool:
        """Tell whether episodes can pass: a filter that only facts can meet leaves none."""
        return not (
            self.predicates or self.kinds or self.object or self.subject or self.min_confidence > 0
        )

    @property
    def narrows_episodes(self) -> bool:
        """Tell whether any part applies to episodes."""
        return bool(
            self.episode_kinds
            or self.roles
            or self.trusts
            or self.since is not None
            or self.until is not None
            or self.host
            or self.project
            or self.session
            or self.owner is not EVERYONE
            or self.ids is not None
            or self.before is not None
        )

    @property
    def narrows_facts(self) -> bool:
        """Tell whether any part applies to facts."""
        return bool(
            self.predicates
            or self.kinds
            or self.min_confidence > 0
            or self.since is not None
            or self.until is not None
            or self.host
            or self.project
            or self.session
            or self.owner is not EVERYONE
            or self.object
            or self.subject
            or self.rules
            or self.ids is not None
            or self.before is not None
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class RejectionFilters:
    """What a read of the rejection log is narrowed to."""

    reason: str = ""
    type: str = ""
    rule: str = ""
    owner: str | Everyone = ME
    since: Millis | None = None
    until: Millis | None = None
    typed_only: bool = False  # only what a model proposed as a memory

    def __post_init__(self) -> None:
        """Refuse an owner without a name: that would be everybody."""
        whose(self.owner)


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One thing that `check` found wrong."""

    what: str  # short name of the check
    detail: str  # which row, and what it should be


class Nearest(NamedTuple):
    """The rows nearest to one vector, best first, equal cosines by id."""

    ids: NDArray[np.int64]
    cosines: NDArray[np.float32]  # exact


class Outlines(NamedTuple):
    """What ranking needs to know of some episodes: columns, ascending by id."""

    ids: NDArray[np.int64]
    sources: NDArray[np.int64]
    positions: NDArray[np.int64]  # ordinals within the source
    times: NDArray[np.float64]  # milliseconds; NaN where unknown
    chars: NDArray[np.int64]  # of the text
    asks: NDArray[np.bool_]  # whether it holds a question
    speakers: Sequence[str]  # "" is nobody


class Head(NamedTuple):
    """How far the log of commits goes."""

    commit: int  # the last one
    memory: int  # the last that may have changed what is remembered


class Changes(NamedTuple):
    """What happened to one kind of rows since a place in the log of commits."""

    came: Sequence[int]  # in the order of (commit, id)
    gone: Sequence[int]  # some may have come again since
    last: At  # where to go on
    more: bool  # whether anything has come behind it


def named_owners(kind: type[_S]) -> type[_S]:
    """Let every public method of a class refuse an owner that is none before it does anything.

    One that is annotated as `str` keeps or changes something: it refuses EVERYONE too.
    """
    for name in dir(kind):
        method = getattr(kind, name)
        if name.startswith("_") or not inspect.isfunction(method):
            continue
        hint = method.__annotations__.get("owner")
        if hint is not None:
            place = list(inspect.signature(method).parameters).index("owner")
            setattr(kind, name, _checking(method, place, one_owner if hint == "str" else whose))
    return kind


def _checking(
    method: Callable[..., Any], place: int, check: Callable[[Any], str | Everyone]
) -> Callable[..., Any]:
    @functools.wraps(method)
    def checked(*args: Any, **named: Any) -> Any:
        if "owner" in named:
            check(named["owner"])
        elif len(args) > place:
            check(args[place])
        return method(*args, **named)

    return checked


_URL = re.compile(r"[a-z][a-z0-9+.-]+://", re.IGNORECASE)


def place_of(named: str | os.PathLike[str]) -> Path | str:
    """Return the path that a text names as one or as `sqlite:///`; any other URL as it is.

    Raises UsageError for a `sqlite:` URL without a whole path, or with more than that.
    """
    if not isinstance(named, str) or not _URL.match(named):
        return Path(named)
    from urllib.parse import urlsplit
    from urllib.request import url2pathname

    url = urlsplit(named)
    if url.scheme != "sqlite":
        return named
    if url.netloc or url.query or url.fragment or url.path in ("", "/"):
        raise UsageError(
            detail=f"{named} names no file; give a path, or sqlite:/// and a whole one"
        )
    return Path(url2pathname(url.path))


class Reads(RecordReads, Protocol):
    """What may be asked of a ledger: of a store, in a snapshot of it, and inside a write."""

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
        raise NotImplementedError

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
        that it belongs to. Strings within JSON are texts; digests, and ids that were drawn, not.
        """
        raise NotImplementedError

    def texts(self, target: str, ids: Sequence[int]) -> dict[int, str]:
        """Return what episodes or facts say, by id."""
        raise NotImplementedError

    def heads(self, ids: Collection[int]) -> dict[int, EpisodeHead]:
        """Return everything of episodes but their texts, by id."""
        raise NotImplementedError

    def whole_episodes(self, ids: Collection[int]) -> list[KeptEpisode]:
        """Return everything of episodes, by id, without erased ones."""
        raise NotImplementedError

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
        raise NotImplementedError

    def lives(self, where: LifeWhere, *, limit: int | None = None) -> list[Life]:
        """Return the rows of facts that meet what is given, by id."""
        raise NotImplementedError


class Writer(Reads, RecordWrites, Protocol):
    """The verbs of one open write transaction; it commits when its block ends without an error.

    What it reads is as of that write, under the lock of the tenant.
    """

    def put_sources(self, rows: Sequence[SourceState]) -> list[int]:
        """Insert sources (id 0), or overwrite them by their ids; return the ids.

        Their counts and dates move with their episodes.
        """
        raise NotImplementedError

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
        raise NotImplementedError

    def rewrite_history(self, details: Mapping[int, Mapping[str, object]], erasure_id: int) -> None:
        """Put shorter details in the place of those of events: only an erasure changes history.

        Raises UsageError for one that is longer, and where there is no such erasure.
        """
        raise NotImplementedError

    def add_facts(self, facts: Sequence[Life]) -> list[int]:
        """Insert facts, none of them current by its claim, index them, return their ids.

        One with an id has that where it is above all there are; else the next one.
        """
        raise NotImplementedError

    def put_facts(self, changes: Sequence[tuple[Life, Life]]) -> None:
        """Write what differs between each fact before and after; it is indexed as it is then."""

    def add_evidence(self, rows: Sequence[EvidenceRow]) -> int:
        """Insert evidence, none of it known, and return how many rows were inserted."""
        raise NotImplementedError

    def drop_evidence(self, pairs: Collection[tuple[int, int]]) -> int:
        """Delete the evidence of these (fact id, episode id) pairs; return how many rows."""
        raise NotImplementedError

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


class QuietWriter(Reads, RecordWrites, Protocol):
    """The verbs of a write that is no commit; of the kinds, it may change only quiet ones."""


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
        self,
        *,
        trigger: Trigger,
        actor: str,
        now: Millis,
        touches: Collection[str] | Everyone = EVERYONE,
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
