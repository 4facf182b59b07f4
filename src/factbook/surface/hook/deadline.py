"""The end of a hook: when its time is over, the process is, whatever it is waiting for."""

from __future__ import annotations

import os
import time
from _thread import start_new_thread  # `threading` alone takes longer to import than this file

_STEP_S = 0.01


class Deadline:
    """Ends the process with exit code 0 when its time is over; it can be put off."""

    def __init__(self, seconds: float) -> None:
        self._began = time.monotonic()
        self._ends = self._began + seconds
        start_new_thread(self._watch, ())

    def put_off(self, seconds: float) -> None:
        """Let the whole last so many seconds from its begin."""
        self._ends = self._began + seconds

    @property
    def left(self) -> float:
        return self._ends - time.monotonic()

    def _watch(self) -> None:
        while self.left > 0:
            time.sleep(_STEP_S)
        os._exit(0)
