"""Run one piece of work beside another, in threads that stay for the next one.

A search by meaning needs the processor and no store, a search by words mostly the store: side by
side on two cores, a question waits for the longer of the two and not for their sum. Both spend
their time outside the interpreter's lock. Threads made for one question were left: starting one is
a wait of its own, and a new thread has none of the buffers that the vector search keeps.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Final, TypeVar

T = TypeVar("T")

THREADS: Final = 4  # at most; further work waits for one of them


class Beside:
    """Threads that take work; they start with the first piece and end with this object."""

    def __init__(self, *, threads: int = THREADS) -> None:
        self._threads = threads
        self._lock = threading.Lock()
        self._pool: ThreadPoolExecutor | None = None
        self._process = 0

    def begin(self, work: Callable[[], T]) -> Future[T]:
        """Start a piece of work, and return at once what its result will be in."""
        with self._lock:
            if self._pool is None or self._process != os.getpid():  # threads do not survive a fork
                self._pool = ThreadPoolExecutor(self._threads, thread_name_prefix="factbook-beside")
                self._process = os.getpid()
            pool = self._pool
        try:
            return pool.submit(work)
        except RuntimeError:  # the interpreter is ending and starts no more work
            done: Future[T] = Future()
            done.set_result(work())
            return done

    def close(self) -> None:
        """End the threads, after what they have begun; the next piece of work starts new ones."""
        with self._lock:
            pool, self._pool = self._pool, None
            mine = self._process == os.getpid()
        if pool is not None and mine:
            pool.shutdown()
