"""Words to the numbers that the reader's networks take: pieces of words, shapes, segments."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from factbook.language.reader.words import shape_of

if TYPE_CHECKING:
    import tokenizers

MAX_TOKENS: Final = 256  # what the networks have places for
AFTER_TOKENS: Final = 60  # read of the line that a text answers
WORD_TOKENS: Final = 12  # read of a word
SECOND_TOKENS: Final = 80  # read of the second of two texts
BEGINNING: Final = 4  # letters by which two pieces are likely forms of one word
KNOWN_WORDS: Final = 50_000  # kept with their pieces
CLS, SEP, UNKNOWN = 101, 102, 100
_HALF: Final = re.compile("[\ud800-\udfff]")


class Numbers(NamedTuple):
    """One text, or two, as a network takes it; lists of one length but for `first`."""

    ids: list[int]
    shapes: list[int]
    segments: list[int]  # 1 for what stands behind the text
    first: list[int]  # where each word's first piece stands; shorter than the text that is too long


class Pieces:
    """Words to the embedder's pieces; those of a word are made once."""

    def __init__(self, tokenizer: tokenizers.Tokenizer) -> None:
        """Take the embedder's tokenizer, without its limits."""
        self._tokenizer = tokenizer
        self._known: dict[str, list[int]] = {}

    def of(self, word: str) -> list[int]:
        """Return at most 12 ids of a word; one for what the tokenizer cannot read."""
        ids = self._known.get(word)
        if ids is None:
            ids = self._encoded(word)[:WORD_TOKENS]
            ids = ids or [UNKNOWN]
            if len(self._known) > KNOWN_WORDS:  # people type few; a log's are endless
                self._known.clear()
            self._known[word] = ids
        return ids

    def text(self, words: Sequence[str], after: Sequence[str] = ()) -> Numbers:
        """Return as many words as fit, and behind them the line that they answer."""
        ids, shapes, first = [CLS], [0], []
        for word in words:
            pieces = self.of(word)
            if len(ids) + len(pieces) >= MAX_TOKENS:
                break
            first.append(len(ids))
            ids += pieces
            shapes += [shape_of(word)] * len(pieces)
        ids.append(SEP)
        shapes.append(0)
        segments = [0] * len(ids)
        room = min(AFTER_TOKENS, MAX_TOKENS - len(ids) - 1)
        more = [piece for word in after for piece in self.of(word)][: max(0, room)]
        if more:
            ids += [*more, SEP]
            shapes += [0] * (len(more) + 1)
            segments += [1] * (len(more) + 1)
        return Numbers(ids, shapes, segments, first)

    def pair(self, first: str, second: str) -> Numbers:
        """Return two texts as one; of a long first text the tail is cut.

        The shape of a piece says whether the other text has it too: a small network does not find
        out by itself that all is the same but for one word.
        """
        b, second_texts = self._pieces(second, SECOND_TOKENS)
        a, first_texts = self._pieces(first, MAX_TOKENS - len(b) - 3)
        ids = [CLS, *a, SEP, *b, SEP]
        segments = [0] * (len(a) + 2) + [1] * (len(b) + 1)
        shapes = [0, *_met(first_texts, second_texts), 0, *_met(second_texts, first_texts), 0]
        return Numbers(ids, shapes, segments, [0])

    def _encoded(self, text: str) -> list[int]:
        # the tokenizer takes no halves of characters, which text cut inside one has
        whole = _HALF.sub("\ufffd", text)
        ids: list[int] = self._tokenizer.encode(whole, add_special_tokens=False).ids
        return ids

    def _pieces(self, text: str, most: int) -> tuple[list[int], list[str]]:
        whole = _HALF.sub("\ufffd", text)
        encoded = self._tokenizer.encode(whole, add_special_tokens=False)
        return encoded.ids[:most], encoded.tokens[:most]


def _met(pieces: Sequence[str], others: Sequence[str]) -> list[int]:
    """Return for each piece: 1 where the others have it, 2 where one begins alike, else 3."""
    whole, begun = set(others), {other[:BEGINNING] for other in others}
    return [1 if p in whole else 2 if p[:BEGINNING] in begun else 3 for p in pieces]
