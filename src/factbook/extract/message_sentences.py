"""Cut a message into the sentences of its writer, with what others say in it blotted out.

Knows: quotes that are told, questions. Does not know what a sentence says.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from factbook.extract.base import word_set
from factbook.language.questions import ends_asking
from factbook.language.sentences import sentences
from factbook.net import cancel

__all__ = [
    "SENTENCE_CHARS",
    "SPOKEN_OF",
    "MessageSentence",
    "sentences_of",
    "spaced",
]

SENTENCE_CHARS: Final = 500  # ours: nobody says more in one; what is longer is read in pieces, so


def spaced(pattern: str) -> re.Pattern[str]:
    """Compile a pattern of words, case aside: a blank is any white space, `)*` at most four times.

    Nobody says "really" five times before a verb, and groups of words that may be repeated without
    end, one after the other, are slow on a text that was made to be.
    """
    bounded = re.sub(r"(?<=[ *])\)\*", "){0,4}", pattern)
    return re.compile(bounded.replace(" ", r"\s+"), re.IGNORECASE)


# --- sentences ------------------------------------------------------------------------------------


class MessageSentence(NamedTuple):
    """One sentence of a message."""

    text: str  # with what is not read blotted out
    start: int
    asks: bool  # it ends in a question mark


def _sentences(plain: str) -> Iterator[MessageSentence]:
    for start, end in sentences(plain):
        cancel.check()
        asks = ends_asking(plain[max(start, end - _ENDING) : end])
        yield from _sentence(plain, start, end, asks=asks)


_ENDING: Final = 12  # characters in which the marks at the end of a sentence stand


def _sentence(plain: str, start: int, end: int, *, asks: bool) -> Iterator[MessageSentence]:
    while end - start > SENTENCE_CHARS:
        cut = plain.rfind(" ", start + 1, start + SENTENCE_CHARS)
        stop = cut if cut > 0 else start + SENTENCE_CHARS
        yield from _sentence(plain, start, stop, asks=False)
        start = stop
    yield MessageSentence(plain[start:end], start, asks)


_SPEECH: Final = re.compile(
    r"(?<![\w\"])\"[^\"\n]{3,2000}\"(?![\w\"])|“[^”\n]{3,2000}”|„[^“”\n]{3,2000}[“”]"
    r"|«[^»\n]{3,2000}»|(?<!\w)'(?:[^'\n]|(?<=\w)'(?=\w)){8,2000}'(?!\w)"
    r"|‘(?:[^’\n]|(?<=\w)’(?=\w)){8,2000}’(?!\w)"
)
_SAYS: Final = spaced(
    r"\b(?:i|i'm|i've|you|we|he|she|they|it|my|is|are|was)\b",
)
_REPORTED: Final = spaced(
    r"\b(?:said|says|saying|wrote|writes|told(?: \w+)?|tells(?: \w+)?|replied|answered"
    r"|asked(?: \w+)?|texted(?: \w+)?|messaged(?: \w+)?|posted|tweeted|commented|claimed|claims"
    r"|shouted|added|was like|went|goes|quote)\b\W*$"
)
_REPORTED_CHARS: Final = 40  # of the words before a quote, to see that it is told


def _without_speech(plain: str) -> str:
    """Blot the signs of others' words out: what stands in quotes and is more than a name."""

    def hide(match: re.Match[str]) -> str:
        words = match[0][1:-1].split()
        begin = max(0, match.start() - _REPORTED_CHARS)
        told = _REPORTED.search(plain[begin : match.start()]) is not None
        spoken = len(words) > 2 and _SAYS.search(match[0].replace("’", "'")) is not None
        if spoken if told else spoken and not _is_titled(words):
            return _blotted(match[0])
        if told and len(words) > 1 and not _is_titled(words):
            return _blotted(match[0])
        return match[0]

    return _SPEECH.sub(hide, plain)


_MINOR: Final = word_set("a an the of and or in on at to for by with from is vs n &")


def _is_titled(words: Sequence[str]) -> bool:
    """Say whether every word of weight has a capital, as in the title of a song or a show."""
    weighty = [word for word in words if word.casefold().strip(".,!?") not in _MINOR]
    return len(weighty) > 1 and all(map(_is_tall, (words[0], *weighty)))


def _is_tall(word: str) -> bool:
    return word[0].isupper() or not word[0].isalpha()


def _blotted(quoted: str) -> str:
    return quoted[0] + SPOKEN_OF * (len(quoted) - 2) + quoted[-1]


SPOKEN_OF: Final = "\x1e"
"""Stands for every character of others' words inside quotes."""


def sentences_of(plain: str) -> list[MessageSentence]:
    """Return the sentences of a message that is masked (`names.masked`)."""
    return list(_sentences(_without_speech(plain)))
