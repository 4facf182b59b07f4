"""What finders give: places in a text, which stay known where the text is written anew."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

Span: TypeAlias = tuple[int, int, str]
"""First character, behind the last character, kind."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rewritten:
    """A text with some parts replaced, and how its places and those of the text before go."""

    text: str  # the text as it is now
    starts: list[int]  # where its pieces begin: at 0, and behind what was replaced
    shifts: list[int]  # what to add to a place in that piece to have its place in the text before

    def mapped_back(self, spans: Iterable[Span]) -> list[Span]:
        """Turn places here into places of the text before."""
        return [(self._before(start), self._before(end), kind) for start, end, kind in spans]

    def _before(self, at: int) -> int:
        return at + self.shifts[bisect_right(self.starts, at) - 1]

    def placed(self, spans: Sequence[Span]) -> list[Span]:
        """Give what stands here for some of the replaced spans of the text before, in order."""
        ends = [start + shift for start, shift in zip(self.starts, self.shifts, strict=True)]
        labels: list[Span] = []
        for start, end, kind in spans:
            piece = bisect_left(ends, end, 1)
            labels.append((start - self.shifts[piece - 1], self.starts[piece], kind))
        return labels


def rewritten(text: str, replaced: Iterable[tuple[int, int, str]]) -> Rewritten:
    """Write a text with other words at some places, which are in order and without overlap."""
    pieces: list[str] = []
    starts, shifts = [0], [0]
    done = shift = 0
    for start, end, word in replaced:
        pieces += (text[done:start], word)
        done = end
        shift += end - start - len(word)
        starts.append(end - shift)
        shifts.append(shift)
    pieces.append(text[done:])
    return Rewritten(text="".join(pieces), starts=starts, shifts=shifts)
