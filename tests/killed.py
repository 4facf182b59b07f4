"""Kill a process between two writes, with SIGKILL."""

from __future__ import annotations

import os
import signal
import warnings
from collections.abc import Callable
from typing import Any

from factbook.context import Context
from factbook.model.facts import Receipt


def killed_after(writes: int, work: Callable[[], object]) -> bool:
    """Do something in a process that is killed behind so many writes; tell whether it was."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of forking beside threads
        child = os.fork()
    if child:
        return os.WIFSIGNALED(os.waitpid(child, 0)[1])
    left = iter(range(writes - 1))
    whole_write = Context.write

    def write(*args: Any, **more: Any) -> Receipt:
        receipt = whole_write(*args, **more)
        if next(left, None) is None:
            os.kill(os.getpid(), signal.SIGKILL)
        return receipt

    Context.write = write  # type: ignore[method-assign]
    try:
        work()
    finally:
        os._exit(0)
