"""Write down what was shown, without letting who asks wait for who writes.

What a search shows is remembered, so that an answer that repeats it is never taken for evidence.
That is a write, and a write waits for every other one of the store, also for those of other
processes. So one thread writes it, as of the moment at which it was shown. Who asked waits for that
a little, so that nearly always it is there when the answer is; where the store is taken for longer
the answer goes out, and the note is written as soon as the store is free.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from concurrent.futures import Future, wait
from typing import TYPE_CHECKING

from factbook import policy
from factbook.errors import StoreLocked
from factbook.model.facts import Millis, Receipt, Trigger
from factbook.recall.executor import Beside

if TYPE_CHECKING:
    from factbook.context import Context
    from factbook.model.ops import Op

_log = logging.getLogger(__name__)


class ShownNotes:
    """Notes of what was shown, each written in its turn."""

    def __init__(self, context: Context, *, release: Callable[[], object]) -> None:
        """Write with this context; `release` gives back what a thread holds of the store."""
        self._context = context
        self._release = release
        self._beside = Beside(threads=1)
        self._late = set[Future[Receipt]]()  # which nobody waits for any more
        self._closing = threading.Event()
        self._begun = False

    def write(self, op: Op) -> None:
        """Write a note; raises what went wrong, where that was while it was waited for."""
        now, self._begun = self._context.clock(), True
        note = self._beside.begin(lambda: self._write(op, now))
        wait([note], timeout=0 if self._late else policy.SHOWN_WAIT_S)
        if note.done():
            note.result()
        else:
            self._late.add(note)
            note.add_done_callback(self._ended)

    def settle(self) -> None:
        """Wait until all of them are written, as long as for any writer."""
        wait(list(self._late), timeout=policy.BUSY_TIMEOUT_MS / 1000)

    def close(self) -> None:
        """Write what waits, where the store can be had, and end the thread; a later one begins."""
        if not self._begun:
            return
        self._closing.set()
        self.settle()
        for note in list(self._late):
            note.cancel()  # what has begun ends by itself
        self._beside.begin(self._release)
        self._beside.close()
        self._begun = False
        self._closing.clear()

    def _write(self, op: Op, now: Millis) -> Receipt:
        for left in reversed(range(policy.SHOWN_TRIES)):  # else a process might never end
            try:
                return self._context.write([op], Trigger.USER_MESSAGE, now=now)
            except StoreLocked:  # somebody writes for longer than anybody is waited for
                if not left or self._closing.wait(policy.SHOWN_WAIT_S):
                    raise
        raise AssertionError("the last try returns or raises")

    def _ended(self, note: Future[Receipt]) -> None:
        self._late.discard(note)
        error = "the store was closed" if note.cancelled() else note.exception()
        if error:
            _log.warning("what was shown could not be written down: %s", error)
