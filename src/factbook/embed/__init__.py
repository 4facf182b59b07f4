"""Turn texts into vectors: what an embedder is, and the one that ships with factbook.

Knows: texts and unit vectors. Does not know: the store, what a text means to factbook, or where the
vectors go. Importing this package loads neither numpy nor a model; the first text does.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from factbook.embed.minilm import BundledEmbedder


class Embedder(Protocol):
    """Anything that turns texts into unit vectors; two properties and one method."""

    @property
    def id(self) -> str:
        """The model's name, kept in the database file.

        It changes whenever the same text would get another vector: with the weights, with the
        tokenisation, and with how much of a text is read.
        """
        ...

    @property
    def dim(self) -> int:
        """How many numbers a vector has."""
        ...

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one row for each text, in their order: shape (texts, dim), each of length 1.

        Any string is legal, also an empty one. A row depends on its own text alone.
        """
        ...


@runtime_checkable
class AsksApart(Protocol):
    """An embedder that puts questions near what answers them by a way of its own."""

    def embed_questions(self, questions: Sequence[str]) -> NDArray[np.float32]:
        """Return one row for each question, to compare with the rows of `embed`."""
        ...


def embed_questions(embedder: Embedder, questions: Sequence[str]) -> NDArray[np.float32]:
    """Return one row for each question: by the embedder's own way for them, if it has one."""
    if isinstance(embedder, AsksApart):
        return embedder.embed_questions(questions)
    return embedder.embed(questions)


def bundled() -> BundledEmbedder:
    """Return the embedder that ships with the package, the same one for the whole process."""
    # imported here, and not named like this function: a submodule's name shadows its package's
    from factbook.embed.minilm import shared

    return shared()


def token_counter() -> Callable[[str], int]:
    """Return a function that counts the tokens of a text with the tokenizer of the bundled model.

    It counts a text of any length whole. Another model cuts text in another way: where a context
    must fit that model exactly, count with its own tokenizer. Raises `EmbedderError` when the
    tokenizer cannot be read.
    """
    from factbook.embed.minilm import token_counter as counter

    return counter()


__all__ = ["AsksApart", "Embedder", "bundled", "embed_questions", "token_counter"]
