"""Deliver the notices that wait to whoever chats.

`Notifier.pass_once` takes them in order, one for each owner: the next one has to wait after it,
unless its owner does something in between. It claims a notice before it delivers it, and the store
refuses the claim where the back-off says no, under its write lock: however many processes try, none
sends too many and no notice goes twice. What nothing is left of is dropped with the reason.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from factbook import policy
from factbook.interests.notify import notice_text
from factbook.model.backoff import may_send
from factbook.model.entities import Entity, Notice, NoticeState
from factbook.model.facts import ME, Everyone, Millis, Trigger, whose
from factbook.model.interest_ops import ClaimNotice, FinishNotice
from factbook.net import cancel
from factbook.net.address import is_public
from factbook.store.derived.entities import entities_of
from factbook.store.derived.notices import notices_of, notify_state
from factbook.store.leases import holder_name, is_held, notice_lease

if TYPE_CHECKING:
    from factbook.context import Context


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """One notice, ready to be shown."""

    notice: Notice
    entity: str  # its name
    text: str  # what is said: plain, one line for each fact, fit for a terminal
    facts: Mapping[int, str]  # id -> text, of those that are still held
    image: str = ""  # http(s) address of a picture, empty without one


_Show: TypeAlias = Callable[[Delivery], object]


@dataclass(slots=True, kw_only=True)
class NotifyReport:
    """What one pass over the waiting notices did."""

    sent: list[Delivery] = field(default_factory=list)
    failed: int = 0  # whoever showed them ended before that was done
    dropped: int = 0  # nothing was left to tell
    held: int = 0  # wait on: their owners have to be left alone for now
    next_at: Millis | None = None  # when the first of these may go; None where that is not known


class Notifier:
    """Delivers the waiting notices of one store."""

    def __init__(self, context: Context, *, show: _Show | None, owner: str | Everyone = ME) -> None:
        """Compose the notifier; `show` tells somebody a notice, None says that nobody is there.

        Every text is redacted again, as a rule that was learned today protects what was stored
        yesterday. Only `owner` is told: a chat is with one person. A worker, which serves all, says
        EVERYONE.
        """
        self._context = context
        self._store = context.store
        self._clock = context.clock
        self._redact = context.redact
        self._show = show
        self._owner = whose(owner)

    def pass_once(self) -> NotifyReport:
        """Deliver what may go now, which is one notice of each owner; the others wait.

        Where nobody is there nothing is claimed and nothing is lost. Raises what showing one
        raises, and `Cancelled` where the caller is told to stop; a notice that was being shown
        then counts as failed.
        """
        self._context.resources.look_again()
        report = NotifyReport()
        self._clear_claims(report)
        show = self._show
        if show is None:
            return report
        waiting: dict[str, list[Notice]] = {}
        for notice in notices_of(self._store, self._owner, states=(NoticeState.WAITING,)):
            waiting.setdefault(notice.owner, []).append(notice)
        for owner, notices in waiting.items():
            cancel.check()
            self._tell(owner, notices, show, report)
        return report

    def _tell(
        self, owner: str, notices: Sequence[Notice], show: _Show, report: NotifyReport
    ) -> None:
        for number, notice in enumerate(notices):
            now = self._clock()
            first = may_send(notify_state(self._store, owner), now)
            if first != now:
                report.held += len(notices) - number
                if first is not None and (report.next_at is None or first < report.next_at):
                    report.next_at = first
                return
            delivery = self._compose(notice)
            if isinstance(delivery, str):
                self._finish(notice, NoticeState.DROPPED, reason=delivery)
                report.dropped += 1
            elif self._claim(notice):
                self._deliver(delivery, show, report)

    def _compose(self, notice: Notice) -> Delivery | str:
        """Return what there is to show, or why there is nothing."""
        entities: Sequence[Entity] = entities_of(self._store, notice.owner, ids=[notice.entity_id])
        if not entities:
            return "its entity is gone"
        if entities[0].muted:
            return "its entity is muted"
        held = self._store.facts_by_id(notice.fact_ids)
        since = self._clock() - policy.NOTICE_STALE_MS
        if held and all(fact.learned_at < since for fact in held.values()):
            return "it waited for so long that it is no news"
        facts = {
            id_: self._redact(held[id_].object)
            for id_ in notice.fact_ids
            if id_ in held and held[id_].retired_at is None and held[id_].learned_at >= since
            if held[id_].confidence > 0  # its owner called it wrong
        }
        name = self._redact(entities[0].name)
        text = notice_text(name, notice.kind, list(facts.values()))
        if not text:
            return "too little is left of its facts" if facts else "its facts are gone"
        # whoever shows it fetches it, and no page may have them ask their own network for things
        image = notice.image if is_public(notice.image) else ""
        return Delivery(notice=notice, entity=name, text=text, facts=facts, image=image)

    def _deliver(self, delivery: Delivery, show: _Show, report: NotifyReport) -> None:
        try:
            show(delivery)
        except BaseException:
            # Also a stop: whether it arrived is not known, and it must not go twice.
            self._finish(delivery.notice, NoticeState.FAILED, reason="it was interrupted")
            raise
        self._finish(delivery.notice, NoticeState.SENT, channels=["chat"])
        report.sent.append(delivery)

    def _clear_claims(self, report: NotifyReport) -> None:
        """Let go of what a process that was killed had begun to deliver."""
        for notice in notices_of(self._store, self._owner, states=(NoticeState.CLAIMED,)):
            if not is_held(self._store, notice_lease(notice.id), now=self._clock()):
                reason = "whoever delivered it ended before it was done"
                self._finish(notice, NoticeState.FAILED, reason=reason)
                report.failed += 1

    def _claim(self, notice: Notice) -> bool:
        claim = ClaimNotice(notice_id=notice.id, holder=holder_name())
        return self._context.write([claim], Trigger.UPKEEP).notices > 0

    def _finish(
        self, notice: Notice, state: NoticeState, *, channels: Sequence[str] = (), reason: str = ""
    ) -> None:
        done = FinishNotice(notice_id=notice.id, state=state, channels=channels, reason=reason)
        self._context.write([done], Trigger.UPKEEP)
