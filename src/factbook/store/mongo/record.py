"""One tenant's documents in MongoDB: what is committed is there whole, and once.

A commit is one journal document with the next number, which nobody else can insert: whoever comes
second has decided on what is no longer true and is told so. Where the server has transactions, the
journal and the documents are written in one. Where it has none, the journal holds the documents
until they are in their places; it is the moment of the commit, and whoever meets one that was left
half way ends it. Every step may be taken twice: what a document says is replaced only by what a
later commit says.
"""

from __future__ import annotations

import hashlib
import threading
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import groupby
from operator import itemgetter
from typing import Any, Final, TypeAlias, TypeVar

import pymongo
from bson import encode
from bson.codec_options import CodecOptions, DatetimeConversion
from bson.errors import BSONError
from pymongo import MongoClient, ReadPreference, ReplaceOne, UpdateOne, WriteConcern
from pymongo.client_session import ClientSession
from pymongo.errors import (
    AutoReconnect,
    BulkWriteError,
    ConnectionFailure,
    DuplicateKeyError,
    ExecutionTimeout,
    NetworkTimeout,
    NotPrimaryError,
    OperationFailure,
    PyMongoError,
    ServerSelectionTimeoutError,
    WriteConcernError,
    WTimeoutError,
)
from pymongo.read_concern import ReadConcern

from factbook import policy
from factbook.errors import RecordChanged, RecordError, StoreError, UsageError
from factbook.store.mongo.address import parsed
from factbook.store.rows import Problem

Document: TypeAlias = dict[str, Any]
_T = TypeVar("_T")

SCHEMA: Final = 1  # of the documents; a later one is refused, never guessed at
KINDS: Final = ("summaries", "memories", "rejections", "proposals", "events")  # as they are read
COLLECTIONS: Final = {kind: f"typed_{kind}" for kind in KINDS} | {"events": "memory_events"}
_JOURNAL, _GENERATIONS = "typed_commits", "typed_generations"
INDEXES: Final[Mapping[str, Mapping[str, Sequence[tuple[str, int]]]]] = {
    **{
        name: {
            "tenant_commit": (("tenant_id", 1), ("commit", 1)),
            "tenant_subject": (("tenant_id", 1), ("subject_id", 1)),
        }
        for name in COLLECTIONS.values()
    },
    _JOURNAL: {"tenant_commit": (("tenant_id", 1), ("commit", 1))},
}
_REPAIRS = "`factbook doctor --rebuild-typed`"
_EVERYBODY = ""  # the subject of a tenant's own generation
_PAGE = 1_000  # documents that are read at once, and the rest of their last commit
_PASSES = 32  # over what is changed while it is read; each has less to read than the one before
_INLINE = 4_000_000  # bytes of documents in a journal document; MongoDB takes 16 MiB
_LARGEST = 15_000_000  # bytes of one document: the journal holds it with a little around it
_DUPLICATE = 11000
_OTHERWISE_CALLED = 85  # an index that is there under a name that somebody else gave it
_CONFLICT = 112  # somebody else's transaction is at the same documents
_AGAIN = (AutoReconnect, NotPrimaryError, NetworkTimeout, ExecutionTimeout, WTimeoutError)
_LABELS = ("RetryableWriteError", "TransientTransactionError", "UnknownTransactionCommitResult")


class TypedRecord:
    """A tenant's typed memories in MongoDB, as documents."""

    def __init__(
        self,
        url: str,
        *,
        tenant: str,
        attempts: int = 4,
        pause: Callable[[float], None] = time.sleep,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        """Connect; nothing is asked of the server before it is needed.

        `attempts` are how often a step is taken where the server cannot be reached or has no
        primary; `pause` waits in between; `now` are seconds. Raises UsageError for a URL that is
        none, that asks for less than a majority that has it on disk, or to wait for longer than
        the lock of a file can be held.
        """
        self._tenant = tenant
        self._attempts = attempts
        self._pause = pause
        self._now = now
        address = parsed(url)
        times: dict[str, Any] = {**address.times}
        # One attempt at most: to find the primary, to connect and be greeted, to be answered, which
        # the driver waits for twice where it is the end of a transaction.
        self._longest_s = (
            times["serverSelectionTimeoutMS"]
            + 2 * times["connectTimeoutMS"]
            + 2 * times["socketTimeoutMS"]
        ) / 1000
        self._waiting = threading.local()
        self._concern = WriteConcern(w="majority", j=True, wtimeout=times.pop("wTimeoutMS"))
        self.name = address.name
        try:
            self._client: MongoClient[Document] = MongoClient(
                url,
                appname="factbook",
                connect=False,
                retryReads=False,  # `_again` does, as long as there is time
                retryWrites=False,
                **times,
            )
        except (PyMongoError, OSError, ValueError) as error:
            raise UsageError(
                detail=f"the typed store at {self.name} cannot be used as its URL says"
                f" ({type(error).__name__}); check its options and files"
            ) from None
        self._db = self._client.get_database(
            address.database,
            codec_options=CodecOptions(
                tz_aware=True, datetime_conversion=DatetimeConversion.DATETIME_AUTO
            ),
            read_preference=ReadPreference.PRIMARY,
            write_concern=self._concern,
            read_concern=ReadConcern("majority"),
        )
        self._transactions: bool | None = None  # whether the server has them, once it was asked
        self._ready = False

    def close(self) -> None:
        """Close every connection."""
        self._client.close()

    def id_of(self, subject: str, *parts: str) -> str:
        """Return the `_id` that stands for what is named, of one subject of this tenant."""
        named = (self._tenant, subject, *parts)
        data = "".join(f"{len(part)}:{part}" for part in named)
        return hashlib.blake2b(data.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()

    def _mine(self, subject: str | None = None, **conditions: Any) -> Document:
        """Return a filter of this tenant's documents: every read and every write has one."""
        scope: Document = {"tenant_id": self._tenant}
        if subject is not None:
            scope["subject_id"] = subject
        return scope | conditions

    def identity(self) -> str:
        """Return what stands for this tenant's record; empty before its first commit.

        Another database, or one that was made anew, has another one.
        """
        where = self._mine(_id=self.id_of(_EVERYBODY, "record"))
        drawn = self._again(self._db[_GENERATIONS].find_one, where)
        return str(drawn["record"]) if drawn else ""

    def generation(self, subject: str | None = None) -> int:
        """Return the number of the last commit that changed something of a subject; 0 at first.

        Of all of them without one.
        """
        where = self._mine(_id=self.id_of(subject or _EVERYBODY, "generation"))
        last = self._again(self._db[_GENERATIONS].find_one, where)
        return self._number(last, "generation") if last else 0

    def changed(self, after: int) -> Iterator[tuple[int, str, list[Document]]]:
        """Yield (commit, kind, documents) of what was changed after a commit, some at a time.

        It is read up to the commit that is yielded with it, kinds in their order. What was changed
        while it was read is left out and comes again later as it was then, until nothing is newer:
        the last commit that is yielded is the last one there is. Raises RecordError where there is
        always another one.
        """
        for _ in range(_PASSES):
            upto = self._settled()
            if upto == after:
                return
            for kind in KINDS:
                for documents in self._between(kind, after, upto):
                    yield upto, kind, documents
            after = upto
        raise RecordError(name=self.name, reason="it was written to all the time it was read")

    def _between(self, kind: str, after: int, upto: int) -> Iterator[list[Document]]:
        """Yield documents of a kind, and none at the end.

        Where the server was away, what follows is asked for anew.
        """
        reading: Iterator[list[Document]] | None = None

        def read() -> list[Document]:
            nonlocal reading
            reading = reading or self._whole_commits(kind, after, upto)
            try:
                return next(reading, [])
            except PyMongoError:
                reading = None
                raise

        while True:
            documents = self._again(read)
            versions = [document.get("schema_version") for document in documents]
            newest = max((said for said in versions if isinstance(said, int)), default=0)
            if newest > SCHEMA:
                raise RecordError(
                    name=self.name,
                    reason=f"its documents have schema {newest}, and this factbook knows up to"
                    f" {SCHEMA}; upgrade factbook",
                )
            yield documents
            if not documents:
                return
            after = documents[-1]["commit"]

    def _whole_commits(self, kind: str, after: int, upto: int) -> Iterator[list[Document]]:
        where = self._mine(commit={"$gt": after, "$lte": upto})
        cursor = self._db[COLLECTIONS[kind]].find(where, sort=[("commit", 1)], batch_size=_PAGE)
        page: list[Document] = []
        for _, documents in groupby(cursor, key=itemgetter("commit")):
            page += sorted(documents, key=lambda document: str(document["_id"]))
            if len(page) >= _PAGE:
                yield page
                page = []
        if page:
            yield page

    def living(self, kind: str, subject: str) -> list[Any]:
        """Return the `_id`s of a subject's documents of a kind, without erased ones."""
        where = self._mine(subject, erased={"$exists": False})
        there = self._db[COLLECTIONS[kind]]
        return self._again(lambda: [document["_id"] for document in there.find(where, {"_id": 1})])

    def count(self, kind: str, subject: str | None = None) -> int:
        """Return how many documents there are of a kind."""
        return self._again(
            lambda: self._db[COLLECTIONS[kind]].count_documents(
                self._mine(subject, erased={"$exists": False})
            )
        )

    def _last(self) -> tuple[int, bool]:
        """Return (number, whether it is done) of the last commit."""
        head = self._again(
            lambda: self._db[_JOURNAL].find_one(
                self._mine(commit={"$gt": 0}),
                {"commit": 1, "done": 1},
                sort=[("commit", pymongo.DESCENDING)],
            )
        )
        if head is None:
            return 0, True
        number = self._number(head, "commit")
        if head["_id"] != self.id_of(_EVERYBODY, "commit", str(number)):
            raise self._foreign(_JOURNAL)
        return number, bool(head.get("done"))

    def _number(self, document: Document, name: str) -> int:
        value = document.get(name)
        if not isinstance(value, int):
            raise self._foreign(name)
        return value

    def _foreign(self, what: str) -> RecordError:
        return RecordError(name=self.name, reason=f"{what} there was written by something else")

    def _settled(self) -> int:
        """Return the last commit, after whatever somebody left half way was ended."""
        number, is_done = self._last()
        if not is_done:
            self._end(number)
        return number

    def commit(self, documents: Mapping[str, Sequence[Document]], *, after: int, at: int) -> int:
        """Write documents by kind in one commit, and return its number, `after` + 1.

        Each has its `_id` and `subject_id`, and where it says no longer whose it is, that under
        "was", which is not kept. `at` is the moment of the commit in milliseconds.

        Raises RecordChanged where somebody else committed since `after`, and RecordError where the
        server did not acknowledge it; nothing is then there, or all of it will be. Raises
        StoreError for a document that is too large for the server, before anything is written.
        """
        number, token = after + 1, uuid.uuid4().hex
        signed = [
            (kind, self._signed(document, number))
            for kind in KINDS
            for document in documents.get(kind, ())
        ]
        with self._named():
            parts = list(_parts(signed))
        self._prepare()
        subjects = {document["subject_id"] for _, document in signed}
        subjects |= {
            document["was"] for kind in documents.values() for document in kind if "was" in document
        }
        head = self._mine(
            _id=self.id_of(_EVERYBODY, "commit", str(number)),
            commit=number,
            at=at,
            token=token,
            subjects=sorted(subjects),
            schema_version=SCHEMA,
        )
        if self._has_transactions():
            self._in_one(head, signed)
            return number
        for place, part in enumerate(parts[1:], 1):
            # Part of nothing until the journal names them: their numbers are below all commits.
            self._insert(
                self._mine(
                    _id=self.id_of(_EVERYBODY, "part", token, str(place)), commit=-number, redo=part
                )
            )
        head |= {"done": False, "redo": parts[0] if parts else [], "parts": len(parts)}
        try:
            self._insert(head)
        except RecordChanged:
            self.sweep(number)  # those parts are of nothing, and hold texts
            raise
        self._end(number)
        if any(document.get("erased") for _, document in signed):
            self.sweep(number)
        return number

    def _signed(self, document: Document, number: int) -> Document:
        if not document["subject_id"]:
            raise UsageError(detail="a document of a typed memory names whose it is")
        kept = {name: value for name, value in document.items() if name != "was"}
        return kept | {"tenant_id": self._tenant, "commit": number, "schema_version": SCHEMA}

    def _insert(self, head: Document) -> None:
        """Insert a document of the journal; raises RecordChanged where another has its place."""

        def insert() -> None:
            try:
                self._db[_JOURNAL].insert_one(head)
            except DuplicateKeyError:
                there = self._db[_JOURNAL].find_one(self._mine(_id=head["_id"]))
                if there is None:  # no majority has what stands there yet: it may be ours
                    raise WTimeoutError("waiting for a majority") from None
                if there.get("token") != head.get("token"):
                    raise

        try:
            self._again(insert)
        except DuplicateKeyError as error:
            self._settled()  # so that whoever looks again sees what came first
            raise RecordChanged(name=self.name) from error

    def _end(self, number: int) -> None:
        """Put what a journal document holds in its place; again, where somebody began with it."""
        where = self._mine(_id=self.id_of(_EVERYBODY, "commit", str(number)))
        head = self._again(lambda: self._db[_JOURNAL].find_one(where))
        if head is None:
            raise RecordError(name=self.name, reason=f"commit {number} is not there to be ended")
        if head["done"]:
            return
        redo = list(head["redo"])
        ids = [
            self.id_of(_EVERYBODY, "part", head["token"], str(n)) for n in range(1, head["parts"])
        ]
        for id_ in ids:
            part = self._again(self._db[_JOURNAL].find_one, self._mine(_id=id_))
            if part is None:  # somebody else ends it, too: it is whole, or what is left is lost
                if self._last() == (number, False):
                    raise RecordError(name=self.name, reason=f"a part of commit {number} is lost")
                return
            redo += part["redo"]
        for collection, writes in self._writes(redo, head["subjects"], number).items():
            self._bulk(collection, writes)
        done = {"$set": {"done": True}, "$unset": {"redo": "", "parts": "", "subjects": ""}}
        self._again(lambda: self._db[_JOURNAL].update_one(where, done))
        if ids:
            self.sweep(number)

    def sweep(self, number: int) -> None:
        """Delete the parts of commits up to a number: they are done, or were never made."""
        rest = self._mine(commit={"$lt": 0, "$gte": -number})
        self._again(lambda: self._db[_JOURNAL].delete_many(rest))

    def _writes(
        self, signed: Iterable[Sequence[Any]], subjects: Sequence[str], number: int
    ) -> dict[str, list[ReplaceOne[Document] | UpdateOne]]:
        """Return by collection what a commit writes; what a later one has changed stays.

        Last come the generations of its subjects and of the tenant: they are then its number.
        """
        writes: dict[str, list[ReplaceOne[Document] | UpdateOne]] = {}
        for kind, document in signed:
            # Whose it was is in its `_id`: what was erased does not say it any more.
            older = self._mine(_id=document["_id"], commit={"$lt": document["commit"]})
            writes.setdefault(COLLECTIONS[kind], []).append(
                ReplaceOne(older, document, upsert=True)
            )
        writes[_GENERATIONS] = [
            UpdateOne(
                self._mine(_id=self.id_of(subject, "generation"), generation={"$lt": number}),
                {"$set": {"generation": number}},
                upsert=True,
            )
            for subject in (*subjects, _EVERYBODY)
        ]
        return writes

    def _bulk(self, collection: str, writes: Sequence[ReplaceOne[Document] | UpdateOne]) -> None:
        """Write what is older; what is as new already finds its place taken, and stays."""

        def write() -> None:
            try:
                self._db[collection].bulk_write(writes, ordered=False)
            except BulkWriteError as error:
                if error.details.get("writeConcernErrors"):
                    raise WTimeoutError("waiting for a majority timed out") from error
                failed = error.details.get("writeErrors", [])
                if any(refused.get("code") != _DUPLICATE for refused in failed):
                    raise

        self._again(write)

    def _in_one(self, head: Document, signed: Sequence[Sequence[Any]]) -> None:
        """Write a commit in one transaction of the server."""
        writes = self._writes(signed, head["subjects"], head["commit"])
        head = {name: value for name, value in head.items() if name != "subjects"} | {"done": True}

        def body(session: ClientSession) -> None:
            self._db[_JOURNAL].insert_one(head, session=session)
            for collection, some in writes.items():
                self._check_time()
                self._db[collection].bulk_write(some, ordered=False, session=session)
            self._check_time()

        def transact() -> None:
            try:
                with (
                    self._client.start_session() as session,
                    # Not `with_transaction`: that goes on for two minutes.
                    session.start_transaction(
                        ReadConcern("snapshot"), self._concern, ReadPreference.PRIMARY
                    ),
                ):
                    body(session)
            except DuplicateKeyError:  # of somebody else, or of an attempt that had no answer
                there = self._db[_JOURNAL].find_one(self._mine(_id=head["_id"]))
                if there is None:
                    raise WTimeoutError("waiting for a majority") from None
                if there["token"] != head["token"]:
                    raise
            except OperationFailure as error:
                if error.code == _CONFLICT:  # they are before us, and not done yet
                    raise RecordChanged(name=self.name) from error
                raise

        try:
            self._again(transact)
        except DuplicateKeyError as error:
            self._settled()  # the server may have had no transactions when that was written
            raise RecordChanged(name=self.name) from error

    def _has_transactions(self) -> bool:
        if self._transactions is None:
            hello = self._again(lambda: self._client.admin.command("hello"))
            self._transactions = "setName" in hello or hello.get("msg") == "isdbgrid"
        return self._transactions

    def _prepare(self) -> None:
        """Build the indexes, once for each process; those that are there stay."""
        if self._ready:
            return
        for collection, indexes in INDEXES.items():
            for name, keys in indexes.items():
                self._again(self._build, collection, name, keys)
        if not self.identity():
            drawn = self._mine(_id=self.id_of(_EVERYBODY, "record"), record=uuid.uuid4().hex)
            with suppress(DuplicateKeyError):  # somebody else has drawn it
                self._again(self._db[_GENERATIONS].insert_one, drawn)
        self._ready = True

    def _build(self, collection: str, name: str, keys: Sequence[tuple[str, int]]) -> None:
        try:
            self._db[collection].create_index(list(keys), name=name)
        except OperationFailure as error:
            if error.code != _OTHERWISE_CALLED:
                raise

    def repair(self) -> None:
        """Build the indexes that are missing, end what somebody left half way, and clear it up."""
        self._ready = False
        self._prepare()
        self.sweep(self._settled())

    def check(self) -> list[Problem]:
        """Say what is wrong with the record: an index that is missing, a commit left half way."""
        number, is_done = self._last()
        if not number:
            return []
        found = []
        for collection, indexes in INDEXES.items():
            listed = self._again(lambda here: list(here.list_indexes()), self._db[collection])
            built = [[*index["key"].items()] for index in listed]
            for name, keys in indexes.items():
                if built and [*keys] not in built:
                    lacks = f"{collection} in {self.name} lacks its index {name}"
                    found.append(f"{lacks}; {_REPAIRS} builds it")
        if not is_done:
            found.append(
                f"commit {number} in {self.name} was left half way; the next write ends it, and"
                f" {_REPAIRS} does"
            )
        return [Problem(what="typed store", detail=detail) for detail in found]

    @contextmanager
    def holding(self) -> Iterator[None]:
        """Wait for the server no longer than policy.RECORD_WAIT_S in all of a block.

        It is for what is asked while others wait for a lock. RecordError says that it was longer.
        """
        self._waiting.left_s = policy.RECORD_WAIT_S
        try:
            yield
        finally:
            del self._waiting.left_s

    def _again(self, step: Callable[..., _T], *given: Any) -> _T:
        """Take a step, again where the server was away; raises RecordError where it stays away.

        No attempt is begun that could last longer than there is time left.
        """
        began = self._now()
        left_s = getattr(self._waiting, "left_s", policy.RECORD_WAIT_S)
        self._waiting.last = began + left_s - self._longest_s
        try:
            for attempt in range(self._attempts):
                with self._named():
                    self._check_time()
                    try:
                        return step(*given)
                    except PyMongoError as error:
                        is_last = attempt + 1 == self._attempts or self._now() > self._waiting.last
                        if is_last or not _may_pass(error):
                            raise
                self._pause(0.05 * 2**attempt)
        finally:
            if hasattr(self._waiting, "left_s"):
                self._waiting.left_s = left_s - (self._now() - began)
        raise AssertionError("a step ends or raises")

    def _check_time(self) -> None:
        """Raise RecordError where another request could last longer than there is time left."""
        if self._now() > self._waiting.last:
            raise RecordError(
                name=self.name,
                reason=f"it took longer than the {policy.RECORD_WAIT_S:g} seconds that a write may"
                " hold others up",
            )

    @contextmanager
    def _named(self) -> Iterator[None]:
        """Raise what the driver raises as an error of ours, but for a place that is taken."""
        try:
            yield
        except DuplicateKeyError:
            raise
        except (WTimeoutError, WriteConcernError):
            raise RecordError(
                name=self.name, reason="a majority did not acknowledge the write in time"
            ) from None
        except ConnectionFailure as error:
            raise RecordError(name=self.name, reason=f"it cannot be reached: {error}") from error
        except PyMongoError as error:
            raise RecordError(name=self.name, reason=_said(error)) from None
        except (BSONError, OverflowError, UnicodeError) as error:
            why = f"a value cannot be kept there ({type(error).__name__})"
            raise RecordError(name=self.name, reason=why) from None


def _may_pass(error: PyMongoError) -> bool:
    """Tell whether the same step may go well a moment later."""
    if isinstance(error, ServerSelectionTimeoutError):  # it was waited for already
        return False
    return isinstance(error, _AGAIN) or any(map(error.has_error_label, _LABELS))


def _said(error: PyMongoError) -> str:
    """Return what a server says, without the documents that it says it of."""
    details = error.details if isinstance(error, OperationFailure) else None
    errors = [details or {}, *(details or {}).get("writeErrors", [])]
    said = {
        f"{why.get('code')} {str(why.get('errmsg', ''))[:80]}" for why in errors if "code" in why
    }
    return f"{type(error).__name__}{': ' if said else ''}{'; '.join(sorted(said))}"


def _parts(signed: Sequence[tuple[str, Document]]) -> Iterator[list[list[Any]]]:
    """Divide documents into lists that a journal document can hold.

    Raises StoreError for one that no document can hold.
    """
    part, size = list[list[Any]](), 0
    for kind, document in signed:
        length = len(encode(document))
        if length > _LARGEST:
            raise StoreError(
                detail=f"a document of {COLLECTIONS[kind]} would have {length / 1e6:.0f} MB, and"
                f" MongoDB takes none over 16; nothing was written, so give it in smaller parts"
            )
        if part and size + length > _INLINE:
            yield part
            part, size = [], 0
        part.append([kind, document])
        size += length
    if part:
        yield part
