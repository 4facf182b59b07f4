"""Decide again what others were faster with."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from typing import Final, TypeVar

from factbook.errors import RecordChanged

_T = TypeVar("_T")
_TIMES: Final = 20  # ours: who loses so often is not merely unlucky
_PAUSE: Final = 0.1  # seconds at most; drawn, so that two do not go on in step


def again_if_overtaken(
    step: Callable[[], _T], *, pause: Callable[[float], None] = time.sleep
) -> _T:
    """Return what a step returns; it is taken anew where what it rests on changed meanwhile.

    Raises RecordChanged where that goes on.
    """
    for left in reversed(range(_TIMES)):
        try:
            return step()
        except RecordChanged:
            if not left:
                raise
        pause(random.uniform(0.0, _PAUSE))  # noqa: S311 - it is no secret
    raise AssertionError("a step ends or raises")
