"""What can be told of a text by looking at it, for every part of factbook that asks."""

from __future__ import annotations

import re
from typing import Final

_ASKS: Final = re.compile(r"""[?？؟][?!]*(?=["'”’)\]]*(?:\s|$))""")


def asks(text: str) -> bool:
    """Say whether a text holds a question, as its question marks tell it.

    A mark counts at the end of a word: `?` inside an address or a pattern asks nothing.
    """
    return _ASKS.search(text) is not None
