"""What several pages are laid out with: names beside values, and rows with texts below them."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, TypeVar

from factbook.surface import text
from factbook.surface.text import Column

if TYPE_CHECKING:
    from factbook.surface.output import Page

_T = TypeVar("_T")
Detail = tuple[str, int]  # raw text, and how many lines it may take; 0 for one that stays whole


def rows_of(page: Page, pairs: Sequence[tuple[str, str]]) -> None:
    wide = max(len(name) for name, _ in pairs) + 2
    for name, value in pairs:
        if value:
            page.say(value, lead="  " + page.paint(name.ljust(wide), "dim"))


def with_details(
    page: Page,
    columns: Sequence[Column],
    values: Iterable[_T],
    details: Callable[[_T], Sequence[Detail]],
) -> None:
    """Write a table in which every row has texts of its own below it."""
    waiting: deque[Sequence[Detail]] = deque()

    def noted() -> Iterator[_T]:
        for value in values:
            waiting.append(details(value))
            yield value

    laid_out = text.table(columns, noted(), width=page.width, color=page.color)
    for number, line in enumerate(laid_out):
        page.line(line)
        if number == 0:
            continue  # the titles of the columns
        for raw, most in waiting.popleft():
            cleaned = text.one_line(raw)
            parts = text.wrap(cleaned, page.prose - 6, lines=most) if most else [cleaned]
            for part in parts:
                page.line("      " + page.paint(part, "dim"))
