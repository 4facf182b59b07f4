"""What can be told of a text by looking at it, for every part of factbook that asks."""

from __future__ import annotations

import re
from typing import Final

_ASKS: Final = re.compile(r"""[?？؟][?!]*(?=["'”’)\]]*(?:\s|$))""")


def asks(text: str) -> bool:
    """Say whether a text holds a question, as its question marks tell it.

    A mark counts at the end of a word: `?` inside an address or a pattern asks nothing.
    """
    # Most texts hold no such mark at all, which is told at once.
    marked = "?" in text or (not text.isascii() and ("？" in text or "؟" in text))
    return marked and _ASKS.search(text) is not None
