"""Cut a text into words as the reader's network knows them: as Universal Dependencies does.

Contractions are two words ("do" + "n't"), a hyphen is a word of its own; an address, a path or a
number is one. Nothing is lost: a word knows where it stands in the text.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple


class Word(NamedTuple):
    """A word of a text and where it stands there, in characters."""

    text: str
    begin: int
    end: int


_CUT: Final = re.compile(
    r"""
      (?:https?://|www\.)[^\s<>()"]+[^\s<>()".,;:!?']   # an address of the web
    | [\w.+-]+@[\w-]+\.[\w.-]*\w                         # of a person
    | (?:~|\.{1,2})?/[\w./@+-]*\w                        # a path
    | [^\W\d_]+(?=n['’]t\b) | n['’]t\b                   # do n't
    | ['’](?:s|m|re|ve|ll|d)\b                           # 's 'm 're
    | \d+(?:[.,:]\d+)*%?                                 # 3.5  1,000  18:30  40%
    | [^\W_]+(?:(?:[.&_]|['’](?!(?:s|m|re|ve|ll|d)\b))[^\W_]+)*[+\#]*  # O'Brien U.S C++ a_b
    | \.{2,} | [!?]{2,}
    | [^\w\s] | _
    """,
    re.VERBOSE | re.IGNORECASE,
)


def words_of(text: str) -> list[Word]:
    """Return the words of a text in their order, each with its place."""
    return [Word(m.group(), m.start(), m.end()) for m in _CUT.finditer(text)]


def shape_of(word: str) -> int:
    """Return how a word is written, 1 to 7, as the network's table of shapes counts it.

    1 digits, 2 neither letters nor digits, 3 both, 4 lower case, 5 upper case, 6 capitalised,
    7 anything else. 0 is no word.
    """
    letters = any(c.isalpha() for c in word)
    digits = any(c.isdigit() for c in word)
    if not letters:
        return 1 if digits else 2
    if digits:
        return 3
    if word.islower():
        return 4
    if len(word) > 1 and word.isupper():
        return 5
    if word[0].isupper() and (len(word) == 1 or word[1:].islower()):
        return 6
    return 7
