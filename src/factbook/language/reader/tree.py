"""What was read of a text as a tree: what hangs on what, and in which clause."""

from __future__ import annotations

from collections.abc import Set

from factbook.language.reader.reading import Reading, children


class Tree:
    """The words of a text, each by its number, and what hangs on each."""

    def __init__(self, reading: Reading) -> None:
        self.reading = reading
        self.text = reading.text
        self.tokens = reading.tokens
        self.lower = [token.text.lower() for token in reading.tokens]
        self.below = children(reading.tokens)

    def of(self, at: int, *relations: str) -> list[int]:
        """Return the words that hang on a word by one of some relations."""
        return [n for n in self.below[at] if self.tokens[n].relation in relations]

    def links(self, at: int) -> set[str]:
        """Return the prepositions of a word."""
        return {self.lower[n] for n in self.of(at, "case", "mark")}

    def way(self, at: int) -> list[int]:
        """Return a word and those that it hangs on, up to the root; none for -1."""
        way = []
        while at >= 0:
            way.append(at)
            at = self.tokens[at].head
        return way

    def under(self, at: int, without: Set[str] = frozenset()) -> set[int]:
        """Return a word and all that hangs on it, but for what hangs by certain relations."""
        found, open_ = {at}, [at]
        while open_:
            for n in self.below[open_.pop()]:
                if n not in found and self.tokens[n].relation not in without:
                    found.add(n)
                    open_.append(n)
        return found

    def span(self, at: int) -> tuple[int, int]:
        """Return where the clause of a word begins and ends, in characters."""
        place = self.reading.clause_at(self.tokens[at].begin) or self.tokens[at]
        return place.begin, place.end
