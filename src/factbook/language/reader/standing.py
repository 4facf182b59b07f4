"""Tell how likely a sentence states what holds beyond the request: a rule or a decision.

A layer over what the network knows of a sentence, its words and letters, learned from prompts that
developers type to agents (`scripts/train_standing.py`), of which the network's own tags tell
little.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from factbook.language.reader.decode import Floats, softmax
from factbook.language.reader.reading import Clause
from factbook.language.reader.words import Word
from factbook.language.words import place_of

PLACES: Final = 8192  # numbers that runs of words are counted in, and as many for runs of letters
_WORDS, _LETTERS = (1, 2, 3), (3, 4, 5)  # in a row
_WRAPPED: Final = 60  # characters of a line that is likely broken for its length alone
_WORD_CHARS: Final = 30  # of a word that are read: hashes and the like say nothing
_SHOUTED: Final = 3  # letters of a word in capitals that may be shouted


def row_of(
    scores: Mapping[str, Floats],
    words: Sequence[Word],
    place: tuple[int, int],
    clauses: Sequence[Clause],
    of_text: Floats,
) -> Floats:
    """Return what the network knows of the sentence of words `place`, shape (784,).

    The mean and the greatest of its words' vectors; how much they are tagged as a rule or a
    decision; `of_text` (labels of `PROMPT_TYPES`); its clauses; and how it is written.
    """
    first, last = place
    tokens = scores["tokens"][first:last]
    marked = 1 - softmax(scores["tag.mark"][first:last])[:, 0]
    begin, end = words[first].begin, words[last - 1].end
    own = [c for c in clauses if c.begin < end and begin < c.end]
    said = [word.text for word in words[first:last]]
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
    return np.concatenate([tokens.mean(0), tokens.max(0), np.array(more, np.float32)])


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
    return _places(runs), _places(letters)


def _spelled(word: str) -> str:
    """Return a word as it is counted: of a path or an address only that it is one."""
    if "/" in word:
        return "/"
    word = word[:_WORD_CHARS]
    return "".join("0" if char.isdigit() else char for char in word.lower())


def _places(runs: Iterable[str]) -> list[int]:
    return sorted({place_of(run, PLACES) for run in runs})


class Standing:
    """What was learned: a weight of each number of a row, and of each place."""

    def __init__(self, held: Mapping[str, NDArray[Any]]) -> None:
        self._row = held["row"].astype(np.float32)
        scale = held["scale"].astype(np.float32)
        self._words = held["words"].astype(np.float32) * scale[0]
        self._letters = held["letters"].astype(np.float32) * scale[1]
        self._bias = float(held["bias"])

    def chance(self, row: Floats, signs: tuple[Sequence[int], Sequence[int]]) -> float:
        """Return how likely a sentence states what holds on, by `row_of` and `signs_of` it."""
        runs, letters = signs
        odds = self._bias + float(np.einsum("i,i->", row, self._row))
        for places, weights in ((runs, self._words), (letters, self._letters)):
            if places:
                odds += float(weights[places].sum()) / math.sqrt(len(places))
        return 1 / (1 + math.exp(-odds))


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
