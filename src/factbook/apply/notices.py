"""4 apply: notices, and how much an owner is told unasked.

What is told is counted before it is sent, so that no two processes tell too much.
"""

from __future__ import annotations

from collections.abc import Sequence

from factbook.apply.interest_rows import InterestPart
from factbook.errors import NotFound, UsageError
from factbook.model.backoff import may_send
from factbook.model.entities import Notice, NoticeKind, NoticeState
from factbook.model.facts import EVERYONE
from factbook.model.interest_ops import Announce, ClaimNotice, FinishNotice, MuteOwner, NoteAction
from factbook.store.derived.entities import world_lives
from factbook.store.derived.notices import notices_of, notify_state, row_of, waiting_notice
from factbook.store.kinds import (
    LEASE,
    NOTICE,
    NOTICE_FACT,
    NOTIFY,
    SEARCH_FIND,
    EntityRow,
    NoticeFact,
)
from factbook.store.leases import hold, notice_lease
from factbook.store.port import one_id


class NoticeChanges(InterestPart):
    """The changes of notices of one call of `apply`."""

    def hand_over(self, loser: EntityRow, winner: EntityRow, *, muted: bool) -> None:
        """Let what waits to be told of one entity be told of the other."""
        waiting = waiting_notice(self._writer, loser.owner, loser.id)
        if waiting is None:
            return
        if not muted and winner.current:
            other = waiting_notice(self._writer, winner.owner, winner.id)
            if other is not None:
                self._tell(other.id, waiting.fact_ids)
            else:
                moved = waiting._replace(id=0, entity_id=winner.id, kind=NoticeKind.LEARNED)
                self._add_notice(moved._replace(created_at=self._now))
        self.drop(waiting, f"it is now known as {winner.name}")

    def announce(self, op: Announce) -> None:
        entity = self._rows.entity(op.owner, op.entity)
        if entity is None or entity.muted or notify_state(self._writer, op.owner).muted:
            return
        known = [life.id for life in world_lives(self._writer, op.owner, entity.name)]
        if op.search_id is None:
            stored = self._rows.made.get((op.owner, entity.name), {})
            new = set(stored.values())
            told = [id_ for text, id_ in stored.items() if op.facts is None or text in op.facts]
        else:
            finds = self._writer.find(SEARCH_FIND, {"search_id": op.search_id})
            new = {find.fact_id for find in finds}.intersection(known)
            told = sorted(new.intersection(op.fact_ids))
            self._writer.drop(SEARCH_FIND, {"search_id": op.search_id, "fact_id": told})
        if not told:
            return
        waiting = waiting_notice(self._writer, op.owner, entity.id)
        if waiting is not None:
            self._tell(waiting.id, told)
            if op.image and not waiting.image:
                self._put_notice(waiting._replace(image=op.image))
            self._receipt.notices += 1
            return
        first = new.issuperset(known)
        notice_id = self._add_notice(
            Notice(
                0,
                op.owner,
                entity.id,
                NoticeKind.DISCOVERED if first else NoticeKind.LEARNED,
                self._rows.search_trigger(),
                told,
                op.image,
                NoticeState.WAITING,
                self._now,
                None,
                (),
                "",
            )
        )
        self._receipt.notices += 1
        self._facts.event("store", "notice", notice_id, {"facts": len(told)})

    def claim(self, op: ClaimNotice) -> None:
        notice = self._notice(op.notice_id)
        entity = self._rows.life(notice.entity_id)
        state = notify_state(self._writer, notice.owner)
        ready = notice.state is NoticeState.WAITING and entity.current and not entity.muted
        if not ready or may_send(state, self._now) != self._now:
            self._receipt.unchanged += 1
            return
        self._put_notice(notice._replace(state=NoticeState.CLAIMED, sent_at=self._now))
        hold(self._writer, notice_lease(notice.id), op.holder, now=self._now)
        self._writer.put(
            NOTIFY, [state._replace(unanswered=state.unanswered + 1, last_sent_at=self._now)]
        )
        self._receipt.notices += 1
        self._facts.event("claim", "notice", notice.id)

    def finish(self, op: FinishNotice) -> None:
        notice = self._notice(op.notice_id)
        ends = {NoticeState.SENT, NoticeState.FAILED, NoticeState.DROPPED}
        may = {NoticeState.CLAIMED: ends, NoticeState.WAITING: {NoticeState.DROPPED}}
        if op.state not in ends:
            raise UsageError(detail=f"{op.state} is no end of a notice")
        if op.state not in may.get(notice.state, ()):
            self._receipt.unchanged += 1
            return
        if op.state is NoticeState.DROPPED:
            self.drop(notice, op.reason)
            return
        self._writer.drop(LEASE, {"name": notice_lease(notice.id)})
        self._put_notice(
            notice._replace(state=op.state, channels=tuple(op.channels), reason=op.reason)
        )
        self._receipt.updated += 1
        self._facts.event(str(op.state), "notice", notice.id, {"channels": list(op.channels)})

    def note_action(self, op: NoteAction) -> None:
        state = notify_state(self._writer, op.owner)
        self._writer.put(NOTIFY, [state._replace(unanswered=0, engaged_at=self._now)])

    def mute_owner(self, op: MuteOwner) -> None:
        state = notify_state(self._writer, op.owner)
        if state.muted == op.muted:
            self._receipt.unchanged += 1
            return
        self._writer.put(NOTIFY, [state._replace(muted=op.muted)])
        self._receipt.updated += 1

    def _notice(self, notice_id: int) -> Notice:
        notices = notices_of(self._writer, EVERYONE, ids=[notice_id])
        if not notices:
            raise NotFound(what="notice", name=notice_id, hint="`factbook why` shows them.")
        return notices[0]

    def drop(self, notice: Notice, reason: str) -> None:
        self._put_notice(notice._replace(state=NoticeState.DROPPED, reason=reason))
        self._receipt.updated += 1
        self._facts.event("drop", "notice", notice.id, {"why": reason})

    def _tell(self, notice_id: int, fact_ids: Sequence[int]) -> None:
        self._writer.add(NOTICE_FACT, [NoticeFact(notice_id, fact_id) for fact_id in fact_ids])

    def _add_notice(self, notice: Notice) -> int:
        notice_id = one_id(self._writer.add(NOTICE, [row_of(notice)]))
        self._tell(notice_id, notice.fact_ids)
        return notice_id

    def _put_notice(self, notice: Notice) -> None:
        self._writer.put(NOTICE, [row_of(notice)])
