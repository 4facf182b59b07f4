"""Say when somebody may be told something without having asked.

Pure and low in the layers, because the store asks it too, under its write lock: two processes that
read the same free slot before either of them wrote could both send. The count of unanswered
notices decides, not a comparison of times: an engagement and a notice of the same millisecond
have no order in their times, and a clock that is set back must not open the gate.
"""

from __future__ import annotations

from factbook import policy
from factbook.errors import UsageError
from factbook.model.entities import NotifyState
from factbook.model.facts import Millis


def delay_ms(unanswered: int) -> int:
    """Return how long after the last notice the next one waits: 0, 1, 2, 4, 8 ... minutes.

    `unanswered` is the number of notices since the last thing that their owner did; the delay
    doubles with each, up to `policy.NOTICE_CAP_MS`.
    """
    if unanswered < 0:
        raise UsageError(
            detail=f"A count of unanswered notices cannot be {unanswered}; give 0 or more."
        )
    if not unanswered:
        return 0
    doublings = min(unanswered - 1, policy.NOTICE_CAP_MS.bit_length())  # no endless integers
    return min(policy.NOTICE_FIRST_MS << doublings, policy.NOTICE_CAP_MS)


def next_at(state: NotifyState) -> Millis | None:
    """Return the first moment at which a notice may go: 0 for at once, None while muted."""
    if state.muted:
        return None
    if state.unanswered == 0 or state.last_sent_at is None:
        return 0
    return state.last_sent_at + delay_ms(state.unanswered)


def may_send(state: NotifyState, now: Millis) -> Millis | None:
    """Return when the next notice may go, never before `now`; None while muted.

    A notice may go now exactly when the answer is `now`.
    """
    first = next_at(state)
    return None if first is None else max(now, first)
