"""A store whose typed memories have their record elsewhere: it reads its own rows, and writes both.

What is read is a projection of the record in the other store, as new as the last commit that was
acknowledged before the read began. A write first takes in what others committed, is decided on
that, and is acknowledged when both have it: the record first, so that a kill in between leaves the
projection behind, and never ahead. Where somebody else committed meanwhile, nothing is written and
RecordChanged says so.
"""

from __future__ import annotations

import functools
import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, Final, Protocol, cast

from factbook.errors import RecordChanged, RecordError, UsageError
from factbook.model.facts import Episode, FactKind, Millis
from factbook.store.kinds import (
    BOUND,
    EVENT,
    MARK,
    OWNER,
    PROPOSAL,
    RECORD,
    RECORDED,
    REJECTION,
    Kind,
    Mark,
    R,
    Recorded,
    Where,
)
from factbook.store.mongo.record import KINDS, Document, TypedRecord
from factbook.store.overtaken import again_if_overtaken
from factbook.store.port import Reads, Store, Writer, first, marked
from factbook.store.rows import Life, Problem, Wiped

MARKED: Final = "typed record"  # the mark of the last commit that is projected
_ADOPTING: Final = "typed adoption"  # the mark of a file whose rows go into the record
_ADOPTED: Final = 1_000  # rows of a kind that go into the record in one commit
_ASKING: Final = frozenset(
    name for part in Reads.__mro__ for name in vars(part) if not name.startswith("_")
)


@dataclass(slots=True)
class Touched:
    """Rows that a write changed and that may be typed, by their ids."""

    facts: set[int] = field(default_factory=set)
    episodes: set[int] = field(default_factory=set)
    rejections: set[int] = field(default_factory=set)
    proposals: set[int] = field(default_factory=set)
    events: set[int] = field(default_factory=set)
    owners: set[str] = field(default_factory=set)  # who was erased, with all that is theirs
    wiped: Wiped | None = None  # what was erased elsewhere, and has been here now

    def __bool__(self) -> bool:
        return bool(self.facts or self.episodes or self.rejections or self.proposals or self.events)

    def pages(self, size: int) -> Iterator[Touched]:
        """Yield the rows some at a time; events come after what they happened to."""
        for names in (("facts", "episodes", "rejections", "proposals"), ("events",)):
            ids = {name: sorted(getattr(self, name)) for name in names}
            for start in range(0, max(map(len, ids.values())), size):
                page = Touched()
                for name in names:
                    setattr(page, name, {*ids[name][start : start + size]})
                yield page


class Projection(Protocol):
    """What lets rows say what documents say, in one write."""

    def take(self, kind: str, documents: Sequence[Document]) -> None:
        """Take documents of a kind; what was taken under the same `_id` before is older."""

    def end(self) -> Touched:
        """Bring what was taken to its end; return rows that say more than the record."""


class Mirror(Protocol):
    """What turns rows into documents, and documents into rows."""

    aside: list[str]  # what could not be taken in, and why

    def documents(
        self, writer: Writer, touched: Touched, number: int
    ) -> Mapping[str, Sequence[Document]]:
        """Return what the record is to say of rows after a commit of this number."""

    def projection(self, writer: Writer, *, now: Millis) -> Projection:
        """Return what lets rows say what documents say."""

    def adopted(self, reads: Reads) -> Touched:
        """Return the typed rows that no document stands for yet."""


class SplitStore:
    """A `Store` that is another one, but for typed memories, whose record is in MongoDB."""

    def __init__(
        self,
        base: Store,
        record: TypedRecord,
        mirror: Mirror,
        *,
        clock: Callable[[], Millis],
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        """Take the store that is read, and the record; it closes both."""
        self._base = base
        self._record = record
        self._mirror = mirror
        self._clock = clock
        self._pause = pause
        self._bound = False  # whether the file is known to belong to this record
        self._within = threading.local()
        self._seen = -1  # the last commit that this process knows to be projected

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._base, name)
        return functools.partial(self._asked, value) if name in _ASKING else value

    def _asked(self, read: Callable[..., Any], *args: Any, **named: Any) -> Any:
        self.bring_up()
        return read(*args, **named)

    def reopened(self, record: TypedRecord, mirror: Mirror) -> None:
        """Take the record of what stands at the file's path now; nothing is known of that yet."""
        self._record.close()
        self._record, self._mirror = record, mirror
        self._bound, self._seen = False, -1

    def bring_up(self) -> None:
        """Take in what was committed since; raises RecordError where the record cannot be asked.

        Raises UsageError for a file that belongs to another record, or to another tenant of it.
        """
        if getattr(self._within, "depth", 0):
            return
        if self._seen >= 0 and self._record.generation() == self._seen:
            return
        with self._inside():
            again_if_overtaken(self._take_in, pause=self._pause)

    def rebuild(self) -> int:
        """Project the whole record anew, with what never came into it; return its memories."""
        now, wiped = self._clock(), list[Wiped]()
        self._record.repair()
        with self._inside():
            with self._base.writing(now=now) as writer:
                writer.drop(MARK, {"name": MARKED})
                self._project(writer, now=now, wiped=wiped)
            self._scour(wiped)
            self._adopt(now)
            return self._record.count("memories")

    @contextmanager
    def snapshot(self) -> Iterator[Reads]:
        self.bring_up()
        with self._inside(), self._base.snapshot() as reads:
            yield reads

    @contextmanager
    def apart(self) -> Iterator[Reads]:
        self.bring_up()
        with self._base.apart() as reads:
            yield reads

    @contextmanager
    def rehearsal(self) -> Iterator[Store]:
        """Give a store that begins as this one is now; the record never hears of it."""
        self.bring_up()
        with self._inside(), self._base.rehearsal() as store:
            yield store

    def check(self) -> list[Problem]:
        """Audit both."""
        self.bring_up()
        return [*self._base.check(), *self.problems()]

    def problems(self) -> list[Problem]:
        """Say what is wrong with the record, and what of it could not be taken in."""
        aside = [Problem(what="typed store", detail=why) for why in self._mirror.aside]
        return [*self._record.check(), *aside]

    def close(self) -> None:
        self._record.close()
        self._base.close()

    @contextmanager
    def writing(self, *, now: Millis, **named: Any) -> Iterator[Writer]:
        """Open one write transaction on what was committed last; it commits in both.

        Raises RecordChanged where somebody else committed since this thread looked.
        """
        with self._inside(), ExitStack() as opened:
            writer, after = self._opened(opened, now=now, **named)
            noting = _NotingWriter(writer)
            yield cast("Writer", noting)
            after = self._commit(writer, noting.touched, after=after, at=now)
        self._seen = after

    def _opened(self, opened: ExitStack, **named: Any) -> tuple[Writer, int]:
        """Open a write of the file, and return the commit that rows are as of."""
        if self._seen >= 0:
            with suppress(RecordChanged), ExitStack() as opening:
                writer = opening.enter_context(self._base.writing(**named))
                opening.enter_context(self._record.holding())
                after = self._as_of(writer)
                opened.push(opening.pop_all())
                return writer, after
        again_if_overtaken(self._take_in, pause=self._pause)
        writer = opened.enter_context(self._base.writing(**named))
        opened.enter_context(self._record.holding())
        return writer, self._as_of(writer)

    def _as_of(self, writer: Writer) -> int:
        """Return the commit that rows are as of; RecordChanged where it is not the last one."""
        mark = marked(writer, MARKED).commit
        if self._record.generation() != mark:
            raise RecordChanged(name=self._record.name)
        return mark

    def _take_in(self) -> None:
        """Take in what is new; at the very first, what was kept here before there was a record."""
        mark = first(self._base, MARK, {"name": MARKED})
        generation = self._record.generation()
        self._check_bound()
        is_adopted = mark is not None and first(self._base, MARK, {"name": _ADOPTING}) is None
        if mark is not None and mark.commit_no == generation and is_adopted:
            self._seen = generation
            return
        if mark is not None and mark.commit_no > generation:
            raise RecordError(
                name=self._record.name,
                reason=f"it is at commit {generation}, and this file has taken in {mark.commit_no}:"
                " an older state was put back there; `factbook export` and `import` into a new file"
                " keep what this one holds",
            )
        now, wiped = self._clock(), list[Wiped]()
        if generation:
            with self._base.writing(now=now) as writer:
                upto = self._project(writer, now=now, wiped=wiped)
                if not is_adopted:
                    writer.put(MARK, [Mark(_ADOPTING, upto, 0)])
            self._seen = upto  # no sooner: others believe it without a look at the file
            self._scour(wiped)
        else:
            self._seen = 0
        if not is_adopted:
            self._adopt(now)

    def _check_bound(self) -> None:
        """Refuse a record that is not the one that the file belongs to since its first commit."""
        known = None if self._bound else first(self._base, RECORDED, BOUND)
        if known is None:
            return
        if known.key != self._record.identity():
            raise UsageError(
                detail=f"{self._base.name} holds typed memories of another record, or of another"
                f" tenant, than {self._record.name} is; name that one, or open another file"
            )
        self._bound = True

    def _reached(self, writer: Writer, number: int) -> None:
        """Keep how far the file has come, and which record it belongs to."""
        if not self._bound and first(writer, RECORDED, BOUND) is None:
            writer.put(RECORDED, [Recorded(RECORD, 0, self._record.identity())])
        writer.put(MARK, [Mark(MARKED, number, 0)])

    def _adopt(self, now: Millis) -> None:
        """Put typed rows that no document stands for into the record, some at a time.

        Where that breaks off, the next who opens the file goes on.
        """
        for touched in self._mirror.adopted(self._base).pages(_ADOPTED):
            with self._base.writing(now=now, touches=()) as writer, self._record.holding():
                after = self._commit(writer, touched, after=self._as_of(writer), at=now)
                writer.put(MARK, [Mark(_ADOPTING, after, 0)])
            self._seen = after
        if first(self._base, MARK, {"name": _ADOPTING}) is not None:
            with self._base.writing(now=now, touches=()) as writer:
                writer.drop(MARK, {"name": _ADOPTING})

    def _scour(self, wiped: Sequence[Wiped]) -> None:
        """Clean the file of what others erased from the record."""
        for gone in wiped:
            if self._base.files is not None:
                self._base.files.scour(gone)

    def _project(self, writer: Writer, *, now: Millis, wiped: list[Wiped]) -> int:
        """Take in what was committed since the mark; return the commit that rows are as of."""
        upto = marked(writer, MARKED).commit
        projection = self._mirror.projection(writer, now=now)
        for commit, kind, documents in self._record.changed(upto):
            projection.take(kind, documents)
            upto = commit
        more = projection.end()
        if more.wiped is not None:
            wiped.append(more.wiped)
        if more:
            upto = self._commit(writer, more, after=upto, at=now)
        self._reached(writer, upto)
        return upto

    def _commit(self, writer: Writer, touched: Touched, *, after: int, at: Millis) -> int:
        """Write what was touched into the record; return its last commit."""
        documents = self._mirror.documents(writer, touched, after + 1) if touched else {}
        if touched.owners:
            documents = self._with_the_rest(documents, touched.owners)
        if not any(documents.values()):
            return after
        number = self._record.commit(documents, after=after, at=at)
        self._reached(writer, number)
        return number

    def _with_the_rest(
        self, documents: Mapping[str, Sequence[Document]], owners: Collection[str]
    ) -> Mapping[str, Sequence[Document]]:
        """Return documents with what is left of erased owners though no row here stands for it."""
        whole = {kind: [*documents.get(kind, ())] for kind in KINDS}
        said = [document["_id"] for some in whole.values() for document in some]
        for owner in owners:
            for kind, some in whole.items():
                rest = self._record.living(kind, f"USER:{owner}")
                gone = {"subject_id": "USER:", "erased": True, "was": f"USER:{owner}"}
                some += [{"_id": key, **gone} for key in rest if key not in said]
        return whole

    @contextmanager
    def _inside(self) -> Iterator[None]:
        """Let the calling thread's reads be of the moment that it has, not of a newer one."""
        self._within.depth = getattr(self._within, "depth", 0) + 1
        try:
            yield
        finally:
            self._within.depth -= 1


class _NotingWriter:
    """A writer that notes which rows it changed."""

    def __init__(self, writer: Writer) -> None:
        object.__setattr__(self, "_writer", writer)
        object.__setattr__(self, "touched", Touched())

    def __getattr__(self, name: str) -> Any:
        return getattr(self._writer, name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self._writer, name, value)

    def add_facts(self, facts: Sequence[Life]) -> list[int]:
        ids: list[int] = self._writer.add_facts(facts)
        typed = (id_ for id_, fact in zip(ids, facts, strict=True) if fact.kind is FactKind.TYPED)
        self.touched.facts.update(typed)
        return ids

    def put_facts(self, changes: Sequence[tuple[Life, Life]]) -> None:
        self._writer.put_facts(changes)
        typed = (after.id for before, after in changes if before.kind is FactKind.TYPED)
        self.touched.facts.update(typed)

    def rewrite_episodes(self, episodes: Mapping[int, Episode]) -> None:
        self._writer.rewrite_episodes(episodes)
        self.touched.episodes.update(episodes)

    def rewrite_history(self, details: Mapping[int, Mapping[str, object]], erasure_id: int) -> None:
        self._writer.rewrite_history(details, erasure_id)
        self.touched.events.update(details)

    def add(self, kind: Kind[R], rows: Sequence[R]) -> list[int | None]:
        ids: list[int | None] = self._writer.add(kind, rows)
        self._note(kind, (id_ for id_ in ids if id_))
        return ids

    def put(self, kind: Kind[R], rows: Sequence[R]) -> None:
        self._writer.put(kind, rows)
        self._note(kind, (getattr(row, "id", 0) for row in rows))

    def drop(self, kind: Kind[Any], where: Where) -> int:
        if kind in (PROPOSAL, REJECTION):
            self._note(kind, [row.id for row in self._writer.find(kind, where)])
        if kind is OWNER and isinstance(owner := where.get("owner"), str):
            self.touched.owners.add(owner)
        dropped: int = self._writer.drop(kind, where)
        return dropped

    def _note(self, kind: Kind[Any], ids: Collection[int] | Iterator[int]) -> None:
        noted = {EVENT: "events", PROPOSAL: "proposals", REJECTION: "rejections"}.get(kind)
        if noted:
            getattr(self.touched, noted).update(ids)
