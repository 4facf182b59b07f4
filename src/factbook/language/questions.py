"""Tell whether a sentence asks by the mark at its end.

Whether a text holds a question mark anywhere, which the store asks too, is `model.text.asks`.
"""

from __future__ import annotations

import re
from typing import Final

_ENDS: Final = re.compile(r"[?？؟][?？؟!！.…\"'”’»)\]*_\s]*\Z")
_ENDING: Final = 16  # characters in which the marks at the end of a sentence stand


def ends_asking(sentence: str) -> bool:
    """Say whether a sentence ends in a question mark, other marks and quotes behind it aside."""
    return _ENDS.search(sentence, max(0, len(sentence) - _ENDING)) is not None
