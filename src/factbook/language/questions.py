"""Tell whether a sentence asks: by the mark at its end, or by the words that it begins with.

Knows: English openings, the question marks of any script. Does not know: what is asked, or whether
"can you" asks for an answer or for a deed. Whether a text holds a question mark anywhere, which the
store asks too, is `model.text.asks`.
"""

from __future__ import annotations

import re
from typing import Final

__all__ = ["INVERTED", "QUESTION_WORD", "begins_asking", "ends_asking"]

QUESTION_WORD: Final = (
    r"(?:what(?:['’]?s)?|who(?:['’]?s|m|se)?|which|where(?:['’]?s)?|when|why|how(?:['’]?s)?)"
)
"""A word that a question begins with, in a regular expression."""

INVERTED: Final = (
    r"(?:is|are|am|was|were|does|did|should|shall|do\s+(?:i|you|we)"
    r"|(?:can|could|may|might|must|would)\s+(?:i|we|it|that))"
)
"""A verb before who it is of, as only a question has it and no order, in a regular expression."""

_BEGINS: Final = re.compile(
    r"\W*(?:(?:so|and|but|ok|okay|hey|hi|well|also|oh|hmm+|wait|then|penny|btw)\b\W*)*"
    rf"(?:{QUESTION_WORD}|{INVERTED}|do|can(?!['’]?t\b)|can['’]?t\s+(?=(?:you|u|we|i|he|she|they|it"
    r"|one)\b)|could|will|would|has|have|any\s+(?:news|idea|thoughts|info|updates?)|anything\s+new"
    r"|anyone)\b",
    re.IGNORECASE,
)
_ENDS: Final = re.compile(r"[?？؟][?？؟!！.…\"'”’»)\]*_\s]*\Z")
_ENDING: Final = 16  # characters in which the marks at the end of a sentence stand


def begins_asking(sentence: str) -> bool:
    """Say whether a sentence begins as a question or a request does, whatever mark it ends in."""
    return _BEGINS.match(sentence) is not None


def ends_asking(sentence: str) -> bool:
    """Say whether a sentence ends in a question mark, other marks and quotes behind it aside."""
    return _ENDS.search(sentence, max(0, len(sentence) - _ENDING)) is not None
