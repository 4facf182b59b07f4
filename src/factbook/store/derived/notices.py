"""Notices, and how much was told unasked, over the verbs of a store."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection

from factbook.model.entities import Notice, NoticeState, NotifyState
from factbook.model.facts import EVERYONE, ME, Everyone, Millis
from factbook.store.kinds import NOTICE, NOTICE_FACT, NOTIFY, NoticeRow, Where, given
from factbook.store.port import Reads, first
from factbook.store.rows import latest


def notices_of(
    reads: Reads,
    owner: str | Everyone = ME,
    *,
    states: Collection[NoticeState] = (),
    ids: Collection[int] | None = None,
    entity_id: int | None = None,
    limit: int | None = None,
) -> list[Notice]:
    """Return notices with the facts that they tell, oldest first."""
    where = given(owner=owner, state=tuple(states) or None, id=ids, entity_id=entity_id)
    rows = reads.find(NOTICE, where, limit=limit)
    facts: dict[int, list[int]] = defaultdict(list)
    for told in reads.find(NOTICE_FACT, {"notice_id": [row.id for row in rows]}):
        facts[told.notice_id].append(told.fact_id)
    return [
        Notice(
            **row._replace(channels=tuple(row.channels))._asdict(), fact_ids=tuple(facts[row.id])
        )
        for row in rows
    ]


def row_of(notice: Notice) -> NoticeRow:
    """Return the row of a notice."""
    fields = notice._asdict()
    del fields["fact_ids"]
    return NoticeRow(**fields)


def waiting_notice(reads: Reads, owner: str, entity_id: int) -> Notice | None:
    """Return the notice about an entity that waits."""
    waiting = (NoticeState.WAITING,)
    notices = notices_of(reads, owner, states=waiting, entity_id=entity_id, limit=1)
    return notices[0] if notices else None


def told_at(reads: Reads, entity_id: int) -> Millis | None:
    """Return when a notice about an entity was made last; one that was dropped told nothing."""
    where: Where = {"owner": EVERYONE, "entity_id": entity_id}
    tallies = reads.tally(NOTICE, ("state",), where, most="created_at")
    times = [tally.most for (state,), tally in tallies.items() if state != NoticeState.DROPPED]
    return max(times, default=None)


def notify_state(reads: Reads, owner: str) -> NotifyState:
    """Return how much an owner has been told without answering."""
    state = first(reads, NOTIFY, {"owner": owner})
    return NotifyState(owner, 0, None, None, False) if state is None else state


def last_action(reads: Reads) -> Millis | None:
    """Return when any owner did something last."""
    states = reads.find(NOTIFY, {"owner": EVERYONE})
    return latest([state.engaged_at for state in states])
