"""The stems of English words, by the Snowball stemmer.

Knows: words. Does not know: what a stem is used for.
"""

from __future__ import annotations

from functools import cache, lru_cache
from threading import Lock
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from snowballstemmer.english_stemmer import EnglishStemmer

__all__ = ["snowball_stem", "stem"]

CACHED_WORDS: Final = 65_536  # ours
_LOCK: Final = Lock()  # a stemmer works on its own fields: two threads at once spoil the word


@cache
def _stemmer() -> EnglishStemmer:
    from snowballstemmer.english_stemmer import EnglishStemmer

    return EnglishStemmer()


@lru_cache(maxsize=CACHED_WORDS)
def snowball_stem(word: str) -> str:
    """Return the stem of a word in lower case; safe in any thread."""
    with _LOCK:
        return str(_stemmer().stemWord(word))


def stem(word: str) -> str:
    """Return the stem of a word, however it is written; safe in any thread."""
    return snowball_stem(word.lower())
