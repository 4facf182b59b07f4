"""Tell how likely a sentence states what holds beyond the request: a rule or a decision.

A layer over what the network knows of a sentence, its words and letters, learned from prompts that
developers type to agents (`scripts/train_standing.py`), of which the network's own tags tell
little.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Final

import numpy as np

from factbook.language.reader.decode import Floats, softmax
from factbook.language.reader.layer import PLACES, Seen
from factbook.language.reader.reading import Clause
from factbook.language.reader.words import Word
from factbook.language.words import place_of

_HALF: Final = PLACES // 2  # runs of words are counted below, runs of letters from there
_WORDS, _LETTERS = (1, 2, 3), (3, 4, 5)  # in a row
_WRAPPED: Final = 60  # characters of a line that is likely broken for its length alone
_WORD_CHARS: Final = 30  # of a word that are read: hashes and the like say nothing
_SHOUTED: Final = 3  # letters of a word in capitals that may be shouted


def sentence_seen(
    scores: Mapping[str, Floats],
    words: Sequence[Word],
    place: tuple[int, int],
    clauses: Sequence[Clause],
    of_text: Floats,
) -> Seen:
    """Return what is known of the sentence of words `place`: a row of 784 numbers, and its signs.

    The numbers are the mean and the greatest of its words' vectors; how much they are tagged as a
    rule or a decision; `of_text` (labels of `PROMPT_TYPES`); its clauses; and how it is written.
    """
    first, last = place
    tokens = scores["tokens"][first:last]
    marked = 1 - softmax(scores["tag.mark"][first:last])[:, 0]
    begin, end = words[first].begin, words[last - 1].end
    own = [c for c in clauses if c.begin < end and begin < c.end]
    sentence = words[first:last]
    said = [word.text for word in sentence]
    more = [
        float(marked.max()),
        float(marked.mean()),
        *of_text.tolist(),
        max((c.keep for c in own), default=0.0),
        float(any(c.act == "want" for c in own)),
        math.log(1 + end - begin) / 5,
        math.log(1 + words[-1].end - words[0].begin) / 5,
        float(any(w.isupper() and len(w) >= _SHOUTED for w in said)),
        float(said[-1].startswith("?")),
        float(said[-1] == ":"),
    ]
    row = np.concatenate([tokens.mean(0), tokens.max(0), np.array(more, np.float32)])
    return Seen(row, signs_of(sentence))


def signs_of(words: Sequence[Word]) -> tuple[list[int], list[int]]:
    """Return the places of a sentence's runs of words, and those of its runs of letters."""
    spelled = [_spelled(word.text) for word in words]
    runs = (
        " ".join(spelled[at : at + size])
        for size in _WORDS
        for at in range(len(spelled) - size + 1)
    )
    letters = (
        f" {word} "[at : at + size]
        for word in dict.fromkeys(spelled)
        for size in _LETTERS
        for at in range(len(word) + 3 - size)
    )
    return _places(runs, 0), _places(letters, _HALF)


def _spelled(word: str) -> str:
    """Return a word as it is counted: of a path or an address only that it is one."""
    if "/" in word:
        return "/"
    word = word[:_WORD_CHARS]
    return "".join("0" if char.isdigit() else char for char in word.lower())


def _places(runs: Iterable[str], begin: int) -> list[int]:
    return sorted({begin + place_of(run, _HALF) for run in runs})


def sentence_places(words: Sequence[Word], ends: Sequence[int], text: str) -> list[tuple[int, int]]:
    """Return the first word of each sentence and the one behind its last.

    `ends` says behind which words one ends. A line ends one, too, unless a long one goes on in
    lower case: what is typed in lines has no stops.
    """
    cuts = [0]
    begun = 0
    for n, (word, after) in enumerate(pairwise(words), 1):
        line = "\n" in text[word.end : after.begin]
        long = word.end - words[begun].begin >= _WRAPPED and after.text[0].islower()
        if ends[n - 1] or (line and not long):
            cuts.append(n)
        begun = n if line else begun
    return list(pairwise([*cuts, len(words)])) if words else []
