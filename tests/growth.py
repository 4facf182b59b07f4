"""Whether work grows with the length of a text, on whatever machine: a short one tells the unit."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, Final

_TIMES: Final = 4  # so much longer is the long text
_SLACK: Final = (
    2.5  # twice the work for twice the length, and what machines do besides; squares are 4
)
_FREE_SECONDS: Final = 1.0  # too little to tell anything by


def grows_with_length(run: Callable[[str], Any], text: str) -> bool:
    """Tell whether a text takes about as much longer than its beginning as it is longer."""
    short = _spent(run, text[: len(text) // _TIMES])
    return _spent(run, text) <= max(_FREE_SECONDS, _SLACK * _TIMES * short)


def _spent(run: Callable[[str], Any], text: str) -> float:
    began = time.process_time()
    run(text)
    return time.process_time() - began
