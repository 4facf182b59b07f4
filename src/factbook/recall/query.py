"""Turn a question into what the two legs of recall search for.

Knows: words, English stopwords, and how FTS5 reads a query. Does not know: the store, scores, time.

Any text is a legal question. What reaches FTS5 is a list of quoted strings joined by OR, so none
of its operators (AND, NEAR, `*`, `^`, `:`, `-`, brackets, column names) is ever interpreted.
"""

from __future__ import annotations

import unicodedata
from typing import Final

__all__ = ["MAX_TERMS", "STOPWORDS", "content_terms", "fts_query", "words"]

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
"""English words that carry grammar and no subject, as FTS5's tokeniser cuts them (so `didn`, `t`)."""


def words(text: str) -> list[str]:
    """Cut a text into folded words, where FTS5's `unicode61 remove_diacritics 2` would cut it.

    Letters, digits and private-use characters make words, everything else (also NUL and lone
    surrogates) separates them. Combining marks stay inside their word: where FTS5 cuts there, the
    quoted word becomes a phrase of its pieces, which finds the same text.
    """
    found: list[str] = []
    word: list[str] = []
    for char in unicodedata.normalize("NFD", text):
        category = unicodedata.category(char)
        if category[0] in "LN" or category == "Co":
            word.append(char)
        elif category[0] == "M":
            if word and not "\u0300" <= char <= "\u036f":
                word.append(char)
        elif word:
            found.append("".join(word))
            word = []
    if word:
        found.append("".join(word))
    return [unicodedata.normalize("NFC", part).lower() for part in found]


def content_terms(question: str) -> list[str]:
    """Return the words of a question that carry its subject, each once, in their order.

    A question of nothing but stopwords keeps them all: a poor query is better than none.
    """
    unique = list(dict.fromkeys(words(question)))
    return ([word for word in unique if word not in STOPWORDS] or unique)[:MAX_TERMS]


def fts_query(terms: list[str]) -> str:
    """Write an FTS5 query that finds rows with any of the terms; empty when there are none."""
    return " OR ".join('"' + term.replace('"', '""') + '"' for term in terms)
