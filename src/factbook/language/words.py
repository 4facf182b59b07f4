"""The words of a text: where they are cut, which carry its subject, and their stems.

Stems are English, by the Snowball stemmer, and so are the words that carry grammar alone.
"""

from __future__ import annotations

import re
import unicodedata
import zlib
from functools import cache, lru_cache
from threading import Lock
from typing import TYPE_CHECKING, Final

from factbook.language.nouns import IRREGULAR_PLURALS
from factbook.language.verbs import IRREGULAR

if TYPE_CHECKING:
    from snowballstemmer.english_stemmer import EnglishStemmer

WORD: Final = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
"""A word of letters and digits, with the apostrophes inside it."""

_ASCII_WORD: Final = re.compile("[a-z0-9]+")
_RUN: Final = re.compile("[0-9A-Za-z\x80-\U0010ffff]+")
"""What may hold a word: of ASCII letters and digits, and all that is not ASCII."""

LETTERS: Final = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
"""A word of letters alone, with the apostrophes inside it."""

COMPOUND: Final = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
"""A word of letters and digits, with the apostrophes and hyphens inside it."""

CACHED_WORDS: Final = 65_536  # ours
_LOCK: Final = Lock()  # a stemmer works on its own fields: two threads at once spoil the word


def word_set(text: str) -> frozenset[str]:
    """Return the words of a list that is written as a text."""
    return frozenset(text.split())


@cache
def _stemmer() -> EnglishStemmer:
    from snowballstemmer.english_stemmer import EnglishStemmer

    return EnglishStemmer()


@lru_cache(maxsize=CACHED_WORDS)
def stem(word: str) -> str:
    """Return the stem of a word, irregular forms by their base; safe in any thread."""
    base = base_of(word.lower())
    with _LOCK:
        return str(_stemmer().stemWord(base))


def base_of(word: str) -> str:
    """Return the base of an irregular form in lower case ("went", "mice"), any other as it is."""
    return IRREGULAR.get(word) or IRREGULAR_PLURALS.get(word, word)


MAX_TERMS: Final = 64
"""Terms kept of one question: a pasted page must not become a query of ten thousand branches."""

_FUNCTION_WORDS: Final = """
a an the this that these those such
i me my mine myself we us our ours ourselves you your yours yourself yourselves
he him his himself she her hers herself it its itself they them their theirs themselves
and or but nor so if then than because while although though unless until
of in on at by to from for with without about into onto over under between among through during
before after since against within upon as per via up down out off
am is are was were be been being do does did doing done has have had having
can could will would shall should may might must ought
not no yes too very just also only even still yet ever never again already
here there where when why how what which who whom whose
any some each every either neither both all most more much many few other another own same
s t d m ll re ve don doesn didn isn aren wasn weren hasn haven hadn won wouldn couldn shouldn mustn
let lets please tell show list
"""
STOPWORDS: Final = frozenset(_FUNCTION_WORDS.split())
"""English words that carry grammar and no subject, cut as FTS5 cuts them (`didn`, `t`)."""

_SMALL_TALK_WORDS: Final = """
ok okay yes yeah yep no nope sure fine great cool nice thanks thank thx please hello hi hey bye
goodbye good morning evening night lol haha wow hmm um uh right well alright perfect awesome
sorry welcome got understood agreed exactly indeed true correct go ahead continue next
"""
SMALL_TALK: Final = frozenset(_SMALL_TALK_WORDS.split())
"""English words of which what is said about nothing is made."""


def words(text: str) -> list[str]:
    """Cut a text into words, where FTS5's `unicode61 remove_diacritics 2` would cut it.

    Letters, digits and private-use characters make words, everything else (also NUL and lone
    surrogates) separates them. Combining marks stay inside their word: where FTS5 cuts there, the
    quoted word becomes a phrase of its pieces, which finds the same text. Only ASCII is lowered
    here: FTS5 folds case and accents by tables of its own, and must see what stood in the text.
    """
    if text.isascii():  # most are: of these, all that is told apart below
        return _ASCII_WORD.findall(text.lower())
    found: list[str] = []
    for run in _RUN.findall(text):
        if run.isascii():
            found.append(run.lower())
        else:
            found += _cut(run)
    return found


def _cut(run: str) -> list[str]:
    tokens: list[str] = []
    word: list[str] = []
    for char in run:
        kind = unicodedata.category(char)
        if kind[0] in "LN" or kind == "Co" or (kind[0] == "M" and word):
            word.append(char)
        elif word:
            tokens.append("".join(word))
            word = []
    if word:
        tokens.append("".join(word))
    return [part.lower() if part.isascii() else part for part in tokens]


def place_of(sign: str, places: int) -> int:
    """Return which of so many numbers a sign of a text is counted in, the same in each process."""
    return zlib.crc32(sign.encode("utf-8", "replace")) % places


def content_terms(question: str) -> list[str]:
    """Return the words of a question that carry its subject, each once, in their order.

    A question of nothing but stopwords keeps them all: a poor query is better than none.
    """
    unique = list(dict.fromkeys(words(question)))
    return ([word for word in unique if word not in STOPWORDS] or unique)[:MAX_TERMS]
