"""Cut a message into sentences of a length that can be read, and compile patterns of words."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from factbook.language.sentences import sentences
from factbook.net import cancel

SENTENCE_CHARS: Final = 500  # ours: nobody says more in one; what is longer is read in pieces, so


def spaced(pattern: str) -> re.Pattern[str]:
    """Compile a pattern of words, case aside: a blank is any white space, `)*` at most four times.

    Nobody says "really" five times before a verb, and groups of words that may be repeated without
    end, one after the other, are slow on a text that was made to be.
    """
    bounded = re.sub(r"(?<=[ *])\)\*", "){0,4}", pattern)
    return re.compile(bounded.replace(" ", r"\s+"), re.IGNORECASE)


class MessageSentence(NamedTuple):
    """One sentence of a message, or a piece of a long one."""

    text: str
    start: int


def sentences_of(plain: str) -> list[MessageSentence]:
    """Return the sentences of a message that is masked (`names.masked`)."""
    pieces = []
    for start, end in sentences(plain):
        cancel.check()
        while end - start > SENTENCE_CHARS:
            cut = plain.rfind(" ", start + 1, start + SENTENCE_CHARS)
            stop = cut if cut > 0 else start + SENTENCE_CHARS
            pieces.append(MessageSentence(plain[start:stop], start))
            start = stop
        pieces.append(MessageSentence(plain[start:end], start))
    return pieces
