"""What several pages are laid out with: names beside values, and rows with texts below them."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from factbook.surface import text
from factbook.surface.text import Column

if TYPE_CHECKING:
    from factbook.surface.output import Page

__all__ = ["Detail", "rows_of", "with_details"]

Detail = tuple[str, int]  # raw text, and how many lines it may take; 0 for one that stays whole


def rows_of(page: Page, pairs: Sequence[tuple[str, str]]) -> None:
    """Show names and what they stand for, without those that stand for nothing."""
    wide = max(len(name) for name, _ in pairs) + 2
    for name, value in pairs:
        if value:
            page.say(value, lead="  " + page.paint(name.ljust(wide), "dim"))


def with_details(
    page: Page,
    columns: Sequence[Column],
    rows: Iterable[tuple[Sequence[str], Sequence[Detail]]],
) -> None:
    """Write a table in which every row has texts of its own below it."""
    waiting: deque[Sequence[Detail]] = deque()

    def cells() -> Iterator[Sequence[str]]:
        for row, details in rows:
            waiting.append(details)
            yield row

    laid_out = text.table(columns, cells(), width=page.width, color=page.color)
    for number, line in enumerate(laid_out):
        page.line(line)
        if number == 0:
            continue  # the titles of the columns
        for raw, most in waiting.popleft():
            cleaned = text.one_line(raw)
            parts = text.wrap(cleaned, page.prose - 6, lines=most) if most else [cleaned]
            for part in parts:
                page.line("      " + page.paint(part, "dim"))
