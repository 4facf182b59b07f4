"""The embedding queue: rows wait, workers lease them, and nothing that fails blocks the others.

A worker claims a batch for a while under a token that is given out once. Killed, it holds nothing
any more; slow, it finds that a newer token has taken over, and its vectors are not taken.
A row that fails is tried again later, twice as late each time, and put aside with the reason after
a few attempts. Waiting rows are found by text all the while.

Vectors of what an older factbook embedded rows by are made anew where nothing waits, and are in use
until the last is made. One process at a time makes them; the others leave it to that one.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from factbook import policy
from factbook.embed.halves import packed
from factbook.errors import EmbedderMismatch, FactbookError, TakenOver, UsageError
from factbook.model.facts import At, EpisodeKind, Receipt, Trigger
from factbook.model.interest_ops import Fence
from factbook.model.ops import (
    EMBEDDED,
    MarkProgress,
    Op,
    ReplaceVectors,
    StoreNextVectors,
    StoreVectors,
)
from factbook.model.turns import MEANING, meaning_of_record, meaning_of_turn
from factbook.store.derived.counts import row_counts
from factbook.store.kinds import EMBED_TASK
from factbook.store.leases import (
    Claimed,
    claim_waiting,
    drop_lease,
    holder_name,
    release,
    take_lease,
)
from factbook.store.port import Reads, first, marked

if TYPE_CHECKING:
    from factbook.context import Context
    from factbook.embed import Embedder

_IN_USE = "embedded as"  # the mark of what the vectors in use say, as MEANING numbers it
_ANEW = "embedded anew as"  # that of those being made
_MAKING = "vectors made anew"  # the lease on them
_LOG = logging.getLogger(__name__)


@dataclass(slots=True, kw_only=True)
class EmbedReport:
    """What one pass over the queue did."""

    receipt: Receipt = field(default_factory=Receipt)
    failed: int = 0  # rows to be tried again
    aside: int = 0  # rows put aside
    claimed: int = 0
    lost: int = 0  # rows that another worker had taken over before their vectors were ready

    def add(self, other: EmbedReport) -> None:
        """Add the counts of another pass."""
        self.receipt.add(other.receipt)
        self.failed += other.failed
        self.aside += other.aside
        self.claimed += other.claimed
        self.lost += other.lost


def outdated(reads: Reads) -> int:
    """Return how many vectors are still to be made anew, of what rows are embedded by now."""
    if not _is_outdated(reads):
        return 0
    if marked(reads, _ANEW).id == MEANING and reads.embedder(next=True) == reads.embedder():
        left = sum(_lacking(reads, target) for target in EMBEDDED)
    else:  # what was begun, if anything, is of no use
        counts = row_counts(reads)
        left = counts["episode_vectors"] + counts["fact_vectors"]
    return max(1, left)  # 1: the swap is left


def _is_outdated(reads: Reads) -> bool:
    return reads.embedder() is not None and marked(reads, _IN_USE).id != MEANING


def _lacking(reads: Reads, target: str) -> int:
    """Return how many rows with a vector lack one of those being made."""
    lacking = after = 0
    while page := reads.waiting(target, limit=policy.HELD_PAGE, after=after, next=True):
        lacking += len(page)
        after = page[-1][0]
    return lacking


class EmbeddingQueue:
    """Works off the rows of one store that wait for their vector."""

    def __init__(self, context: Context) -> None:
        """Compose the queue; the embedder is made when there is something to embed."""
        self._context = context
        self._store = context.store
        self._clock = context.clock

    def drain(
        self, *, limit: int | None = None, progress: Callable[[int], object] | None = None
    ) -> EmbedReport:
        """Embed what waits, `limit` rows at most; rows that fail now are left for later."""
        total = EmbedReport()
        for target in EMBEDDED:
            while limit is None or total.claimed < limit:
                room = policy.EMBED_BATCH
                if limit is not None:
                    room = min(room, limit - total.claimed)
                done = self.work(target, limit=room)
                if not done.claimed:
                    break
                total.add(done)
                if done.lost:
                    break  # left to whoever has them: two clocks apart would take over for ever
                if progress:
                    progress(done.claimed)
        while _is_outdated(self._store) and (limit is None or total.claimed < limit):
            made = self.renew(limit=policy.EMBED_BATCH if limit is None else limit - total.claimed)
            total.claimed += made
            total.receipt.embedded += made
            if progress:
                progress(made)
            if not made:
                break
        return total

    def renew(self, *, limit: int) -> int:
        """Make anew a batch of vectors that say what an older factbook embedded by.

        Returns how many were made; 0 where none is left, and then the new ones are in use, or where
        another process is making them.
        """
        if not _is_outdated(self._store):
            return 0  # the model need not be loaded
        embedder = self._context.embedder
        if self._store.embedder() != (embedder.id, embedder.dim):
            return 0
        try:
            with self._making() as hold:
                fence = hold()
                if not _is_outdated(self._store):
                    return 0  # another has made the last of them meanwhile
                return self._make_next(embedder, fence, limit=min(limit, policy.EMBED_BATCH))
        except TakenOver:
            return 0

    def work(self, target: str, *, limit: int) -> EmbedReport:
        """Claim one batch and embed it.

        Raises EmbedderMismatch where the file holds vectors of another model; the rows wait on.
        """
        now = self._clock()
        claim = claim_waiting(self._store, target, limit=limit, holder=holder_name(), now=now)
        report = EmbedReport(claimed=len(claim.rows))
        if not claim.rows:
            return report
        try:
            embedder = self._context.embedder
            stored = self._store.embedder()
            if stored is not None and stored != (embedder.id, embedder.dim):
                raise EmbedderMismatch(path=self._store.name, found=stored[0], given=embedder.id)
            rows = self._meant(target, claim.rows)
            good, vectors, bad = self._vectors(embedder, rows)
        except BaseException as error:
            # Given back at once, for the next worker may have the right model.
            ids = [id_ for id_, _ in claim.rows]
            screened = self._context.resources.screened
            release(self._store, claim, ids, error=screened(_said(error)), until=now, tried=False)
            raise
        if good:
            ops: list[Op] = []
            if self._store.embedder() is None:
                ops.append(MarkProgress(name=_IN_USE, at=At(0, MEANING)))
            op = StoreVectors(
                target=target,
                model=embedder.id,
                ids=good,
                vectors=packed(vectors),
                dim=embedder.dim,
                token=claim.token,
            )
            report.receipt = self._context.write([*ops, op], Trigger.UPKEEP)
            report.lost = len(good) - report.receipt.embedded
        for row_id, why in bad.items():
            self._fail(claim, row_id, why, report)
        return report

    def _meant(self, target: str, rows: Sequence[tuple[int, str]]) -> list[tuple[int, str]]:
        """Return rows with what they are embedded by: a prompt with what followed, this with it."""
        if target != "episode":
            return list(rows)
        turns = self._store.turns([id_ for id_, _ in rows])
        replies = {
            id_: [n for n, kind in turn if kind is EpisodeKind.REPLY][-policy.TURN_REPLIES :]
            for id_, turn in turns.items()
            if turn[0][0] == id_
        }
        prompts = {turn[0][0] for turn in turns.values()}
        said = self._store.texts("episode", [*prompts, *(n for r in replies.values() for n in r)])
        meant = []
        for id_, text in rows:
            if id_ in replies:
                text = meaning_of_turn(text, [said[n] for n in replies[id_] if n in said])
            elif id_ in turns:
                text = meaning_of_record(said.get(turns[id_][0][0], ""), text)
            meant.append((id_, text))
        return meant

    def _vectors(
        self, embedder: Embedder, rows: Sequence[tuple[int, str]]
    ) -> tuple[list[int], NDArray[np.float32], dict[int, str]]:
        """Return (ids with a good vector, their vectors, id -> what was wrong)."""
        failed = ""
        try:
            made = embedder.embed([text for _, text in rows])
        except FactbookError:
            raise
        except Exception as error:  # noqa: BLE001 - any embedder may be plugged in
            failed, made = _said(error), None
        if made is None:
            if len(rows) == 1:
                return [], np.empty((0, embedder.dim), np.float32), {rows[0][0]: failed}
            # One row may have spoiled the batch: halves tell which.
            half = len(rows) // 2
            parts = [self._vectors(embedder, part) for part in (rows[:half], rows[half:])]
            return (
                [id_ for ids, _, _ in parts for id_ in ids],
                np.concatenate([vectors for _, vectors, _ in parts]),
                {id_: why for _, _, bad in parts for id_, why in bad.items()},
            )
        array = np.asarray(made, np.float32)
        if array.shape != (len(rows), embedder.dim):
            raise EmbedderMismatch(
                path=self._store.name,
                found=f"vectors of {embedder.dim} numbers",
                given=f"{embedder.id} with an array of shape {array.shape}",
            )
        length = np.sqrt(np.einsum("ij,ij->i", array.astype(np.float64), array))
        usable = np.isfinite(length) & (length > 0)
        bad = {
            rows[n][0]: "its vector is zero" if length[n] == 0 else "its vector is not finite"
            for n in np.flatnonzero(~usable).tolist()
        }
        keep = np.flatnonzero(usable)
        unit = (array[keep] / length[keep, None]).astype(np.float32)
        return [rows[n][0] for n in keep.tolist()], unit, bad

    def _fail(self, claim: Claimed, row_id: int, why: str, report: EmbedReport) -> None:
        known = first(self._store, EMBED_TASK, {"target": claim.target, "row_id": row_id})
        tried = (known.attempts if known else 0) + 1
        aside = tried >= policy.EMBED_ATTEMPTS
        wait = min(policy.EMBED_BACKOFF_MS * 2 ** (tried - 1), policy.EMBED_BACKOFF_MAX_MS)
        why = self._context.resources.screened(why)
        release(self._store, claim, [row_id], error=why, until=self._clock() + wait, aside=aside)
        report.failed += not aside
        report.aside += aside
        if aside:
            _LOG.warning(
                "%s %d cannot be embedded and was put aside after %d attempts: %s",
                claim.target,
                row_id,
                tried,
                why,
            )

    def reembed(self, *, progress: Callable[[int], None] | None = None) -> int:
        """Make every vector anew with this embedder and swap them all at the end.

        Recall goes on with the vectors in use until then. Killed, it goes on where it stopped.
        Returns how many vectors are in use after the swap, 0 where the model is the one in use.
        Raises TakenOver where another process is making vectors anew.
        """
        embedder = self._context.embedder
        ours = (embedder.id, embedder.dim)
        if self._store.embedder() in (None, ours):
            return 0
        with self._making() as hold:
            while True:
                fence = hold()
                if self._store.embedder() == ours:
                    break  # swapped, by us or by another
                made = self._make_next(embedder, fence, limit=policy.EMBED_BATCH)
                if made and progress:
                    progress(made)
        counts = row_counts(self._store)
        return counts["episode_vectors"] + counts["fact_vectors"]

    @contextmanager
    def _making(self) -> Iterator[Callable[[], Fence]]:
        """Let one process at a time make vectors anew.

        What is given takes the lease, or holds it longer, and returns what refuses a write once
        another has it; it raises TakenOver where another has it now.
        """
        holder, token = holder_name(), -1

        def hold() -> Fence:
            nonlocal token
            taken = take_lease(self._store, _MAKING, holder=holder, now=self._clock())
            if taken is None:
                raise TakenOver(what=_MAKING)
            token = taken
            return Fence(lease=_MAKING, token=token)

        try:
            yield hold
        finally:
            drop_lease(self._store, _MAKING, token=token)

    def _make_next(self, embedder: Embedder, fence: Fence, *, limit: int) -> int:
        """Make a batch of vectors anew and return how many; 0: all were, and are in use now."""
        self._begin(embedder, fence)
        for target in EMBEDDED:
            rows = self._store.waiting(target, limit=limit, next=True)
            if rows:
                self._store_next(embedder, fence, target, rows)
                return len(rows)
        try:
            self._swap(embedder, fence)
        except UsageError:
            if not any(_lacking(self._store, target) for target in EMBEDDED):
                raise
            # Another worker has embedded new rows by the old ways meanwhile.
            return self._make_next(embedder, fence, limit=limit)
        return 0

    def _begin(self, embedder: Embedder, fence: Fence) -> None:
        """See that the vectors being made are of this model, and of what rows are embedded by."""
        begun = self._store.embedder(next=True)
        if begun == (embedder.id, embedder.dim) and marked(self._store, _ANEW).id == MEANING:
            return
        ops = [
            StoreNextVectors(target="episode", model=model, ids=(), vectors=b"", dim=embedder.dim)
            for model in ("", embedder.id)  # of none: what was begun otherwise is of no use
        ]
        mark = MarkProgress(name=_ANEW, at=At(0, MEANING))
        self._context.write([fence, *ops, mark], Trigger.UPKEEP)

    def _swap(self, embedder: Embedder, fence: Fence) -> None:
        swap = ReplaceVectors(model=embedder.id, dim=embedder.dim)
        mark = MarkProgress(name=_IN_USE, at=At(0, MEANING))
        self._context.write([fence, swap, mark], Trigger.UPKEEP)

    def _store_next(
        self, embedder: Embedder, fence: Fence, target: str, rows: Sequence[tuple[int, str]]
    ) -> None:
        good, vectors, bad = self._vectors(embedder, self._meant(target, rows))
        kept: Sequence[int] = ()
        old = b""
        if bad and self._store.embedder() == (embedder.id, embedder.dim):
            kept, old = self._store.vectors(target, list(bad))
        elif bad:
            id_, why = next(iter(bad.items()))
            raise FactbookError(
                detail=f"{target} {id_} cannot be embedded by {embedder.id} ({why}); the vectors in"
                " use were kept"
            )
        op = StoreNextVectors(
            target=target,
            model=embedder.id,
            ids=[*good, *kept],
            vectors=packed(vectors) + old,
            dim=embedder.dim,
        )
        self._context.write([fence, op], Trigger.UPKEEP)


def _said(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"[:500]
