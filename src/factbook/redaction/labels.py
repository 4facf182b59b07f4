"""Know the labels that stand where secrets stood, because a label is never redacted again."""

from __future__ import annotations

import re
import sys
from bisect import bisect_right
from collections.abc import Container, Sequence
from typing import Final

DIGEST_BYTES: Final = 6
"""Enough to join equal secrets: among a million different ones a collision has odds of 1 in 600."""

_MARK: Final = "[REDACTED:"
_LONGEST: Final = 64
# The bracket may be missing: what was redacted may be cut, also in the middle of a label.
_LABEL: Final = re.compile(
    rf"\[REDACTED:([a-z0-9-]{{3,40}})(?::[0-9a-f]{{0,{2 * DIGEST_BYTES}}})?\]?"
)

_ANY: Final = re.compile(r"\[REDACTED\b(?::[^\]\s]*)?\]?")


def label_places(text: str, kinds: Container[str]) -> list[tuple[int, int]]:
    """Find the labels of a text whose kind is one of ours, in order."""
    if _MARK not in text:
        return []
    return [label.span() for label in _LABEL.finditer(text) if label[1] in kinds]


def without_labels(text: str) -> str:
    """Return a text without labels, whole or cut: what leaves this machine tells no digest."""
    return " ".join(_ANY.sub(" ", text).split()) if _ANY.search(text) else text


def label_near(text: str, at: int) -> int | None:
    """Find what looks like a label in which `at` stands: where it ends, or None."""
    start = text.rfind(_MARK, max(0, at - _LONGEST), at)
    match = _LABEL.match(text, start) if start >= 0 else None
    return match.end() if match is not None and at < match.end() else None


def label_around(labels: Sequence[tuple[int, int]], at: int) -> int | None:
    """Find the one of some labels, in order, in which `at` stands: where it ends, or None."""
    near = bisect_right(labels, (at - len(_MARK), sys.maxsize)) - 1
    return labels[near][1] if near >= 0 and at < labels[near][1] else None
