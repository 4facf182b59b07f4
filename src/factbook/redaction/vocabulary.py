"""Write lists of words the way people read them."""

from __future__ import annotations


def vocabulary(words: str) -> frozenset[str]:
    """Make a set of the words of a text."""
    return frozenset(words.split())
