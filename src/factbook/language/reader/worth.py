"""Tell how likely a clause is worth knowing in a month.

A layer over what the network knows of the clause, of its sentence and of the whole text, and over
the words of the clause. It learned from what people published (`scripts/train_layers.py`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Final

import numpy as np

from factbook.language.reader.decode import Floats, Stretch, softmax
from factbook.language.reader.layer import PLACES, Seen
from factbook.language.reader.reading import Token
from factbook.language.words import place_of

_TELLING: Final = frozenset(
    ["nsubj", "root", "obj", "aux", "obl", "advmod", "cop", "det", "nmod:poss", "mark", "xcomp"]
)  # relations of the words that say what a clause is about
_BEFORE: Final = 2  # words
_IT: Final = frozenset(["it", "its", "it's", "this", "that", "thats"])


def seen_of(
    scores: Mapping[str, Floats],
    told: Mapping[str, Floats],
    spans: Sequence[Stretch],
    tokens: Sequence[Token],
    sentences: Sequence[tuple[int, int]],
) -> Iterator[Seen]:
    """Yield what is known of each clause of a part, whose words are `tokens`.

    `told` holds by name what the network's small matrices say of the clauses, one row for each.
    """
    if not spans:
        return
    vectors = scores["tokens"]
    own = softmax(scores["tag.foreign"])[:, 0]
    share, whole = own.mean(), vectors.mean(axis=0)
    words = [token.text.lower() for token in tokens]
    keep = [0.0, *told["keep"][:, 0], 0.0]
    for n, span in enumerate(spans):
        clause = slice(span.first, span.last)
        begin, end = next(
            (place for place in sentences if place[0] <= span.first < place[1]),
            (span.first, span.last),
        )
        size = [
            own[clause].mean(),
            share,
            len(spans),
            span.last - span.first,
            n / len(spans),
            keep[n],
            keep[n + 2],
        ]
        row = [
            vectors[clause].mean(axis=0),
            vectors[begin:end].mean(axis=0),
            whole,
            *(told[name][n] for name in ("state", "act", "of", "keep", "kind", "flags")),
            np.array(size, np.float32),
        ]
        said = words[clause]
        signs = [f"w {word}" for word in said]
        signs += [f"b {a} {b}" for a, b in pairwise(said)]
        signs += [f"s {word}" for word in words[begin:end]]
        signs += [f"p {token.pos}" for token in tokens[clause]]
        signs += [
            f"{token.relation} {token.text.lower()}"
            for token in tokens[clause]
            if token.relation in _TELLING
        ]
        signs += [f"prev {word}" for word in words[max(0, span.first - _BEFORE) : span.first]]
        if _of_nothing_named(tokens, clause):
            signs.append("nothing named")
        places = sorted({place_of(sign, PLACES) for sign in signs})
        yield Seen(np.concatenate(row), (places,))


def _of_nothing_named(tokens: Sequence[Token], clause: slice) -> bool:
    """Tell whether a clause is about "it" or "that" and no noun before says what this is."""
    for n, token in enumerate(tokens[clause], clause.start):
        if token.relation in ("nsubj", "expl"):
            named = any(before.pos in ("NOUN", "PROPN") for before in tokens[:n])
            return token.text.lower() in _IT and not named
    return False
