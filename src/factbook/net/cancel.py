"""Stop work that has begun, from another thread, at once.

    token = Cancel()
    with cancelling(token):   # in the thread that works
        step()                # calls check() now and then; HTTP exchanges do so by themselves
    token.cancel()            # in any other thread: the step ends with `Cancelled`

What waits (a socket, a statement of the database) registers a callback that ends the wait; what
computes asks `check()` between two pieces. A token says "stop" once and for ever, so nothing that
starts under it later runs on.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from typing import Final


class Cancelled(BaseException):
    """The work was told to stop; it is no failure of anything, and may be done again later.

    No `Exception`, as that of asyncio is none: what guards itself against any error of a part that
    was plugged in (an embedder, a provider of searches) must not take it for one.
    """


class Cancel:
    """A token that tells work to stop; safe to share between threads."""

    __slots__ = ("_callbacks", "_cancelled", "_lock")

    def __init__(self) -> None:
        """Make a token that tells nothing yet."""
        self._cancelled = threading.Event()
        # held while callbacks run, so that none runs after its context has ended: an interrupt
        # that came late would hit what the connection does next. Of the reentrant kind, since a
        # callback may end its own context.
        self._lock = threading.RLock()
        self._callbacks: dict[object, Callable[[], object]] = {}

    def __repr__(self) -> str:
        return f"Cancel(cancelled={self.cancelled})"

    @property
    def cancelled(self) -> bool:
        """Whether the work is to stop."""
        return self._cancelled.is_set()

    def cancel(self) -> None:
        """Tell the work to stop, and run what was registered; a second time does nothing.

        Every callback runs, in this thread and in the order of registration, also where one of
        them raises; the first error comes out at the end.
        """
        with self._lock:
            if self._cancelled.is_set():
                return
            self._cancelled.set()
            with ExitStack() as stack:
                for callback in reversed(self._callbacks.values()):
                    stack.callback(callback)
                self._callbacks.clear()

    def check(self) -> None:
        """Raise `Cancelled` where the work is to stop."""
        if self._cancelled.is_set():
            raise Cancelled

    def wait(self, seconds: float) -> None:
        """Sleep; raises `Cancelled` as soon as the work is to stop."""
        if self._cancelled.wait(seconds):
            raise Cancelled

    @contextmanager
    def on_cancel(self, callback: Callable[[], object]) -> Iterator[None]:
        """Have a callback run on `cancel` while the context lasts; at once if it came before.

        It runs in the thread that cancels, never after the context has ended, and at most once.
        It must be quick and must wait for no other thread.
        """
        key = object()
        with self._lock:
            if self._cancelled.is_set():
                callback()
            else:
                self._callbacks[key] = callback
        try:
            yield
        finally:
            with self._lock:
                self._callbacks.pop(key, None)


_CURRENT: Final[ContextVar[Cancel | None]] = ContextVar("factbook_cancel", default=None)


def current() -> Cancel | None:
    """Return the token that what runs here obeys; None where nothing can stop it.

    A new thread obeys none until it enters `cancelling`; a task of asyncio and
    `asyncio.to_thread` obey that of their maker.
    """
    return _CURRENT.get()


def check() -> None:
    """Raise `Cancelled` where what runs here is to stop; long work asks between two pieces."""
    token = _CURRENT.get()
    if token is not None:
        token.check()


@contextmanager
def cancelling(token: Cancel) -> Iterator[Cancel]:
    """Let what runs in this context obey a token, and the token of the context around it too."""
    with ExitStack() as stack:
        outer = _CURRENT.get()
        if outer is not None and outer is not token:
            stack.enter_context(outer.on_cancel(token.cancel))
        reset = _CURRENT.set(token)
        stack.callback(_CURRENT.reset, reset)
        yield token
