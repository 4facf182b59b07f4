"""Find what repeats words that are erased, in texts and in JSON."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

SHARED_BYTES: Final = 12
"""Ours: so much in a row that a note shares with what is erased is no chance."""

# What an event may keep of an erased row: names that the program gives, never words of anyone.
PLAIN: Final = frozenset(
    {"action", "status", "trust", "state", "verdict", "kind", "type", "planner", "model"}
)


class Repeats:
    """Tells which texts repeat something that is erased."""

    def __init__(
        self, texts: Sequence[str], values: Sequence[str], *, longer: Sequence[str] = ()
    ) -> None:
        """Take the texts, and the values that are words of their own.

        A value inside one of the `longer` names, which stay, is a part of something else.
        """
        from factbook.store.windows import Windows  # numpy is loaded where it is needed

        self._windows = Windows.of(texts)
        self._words = word_pattern(values) if values else None
        self._longer = loose_pattern(longer)

    def among(self, texts: Sequence[str], theirs: Sequence[bool] | None = None) -> list[int]:
        """Return the numbers of the texts that do, of those that are `theirs`.

        Somebody else's title that has the same words repeats nothing.
        """
        numbers = set(self._windows.sharing(texts, least=SHARED_BYTES))
        if self._words is not None:
            numbers.update(
                n
                for n, text in enumerate(texts)
                if self._words.search(folded(text))
                and self._words.search(self._longer.sub(" ", folded(text)))
            )
        return sorted(n for n in numbers if theirs is None or theirs[n])


def folded(text: str) -> str:
    """Return a text as it is compared with others."""
    return text.casefold()


def word_pattern(values: Sequence[str]) -> re.Pattern[str]:
    """Return what finds any of the values as words of their own in a folded text."""
    parts = "|".join(re.escape(folded(value.strip())) for value in values if value.strip())
    return re.compile(rf"(?<!\w)(?:{parts})(?!\w)" if parts else r"(?!)")


def loose_pattern(names: Sequence[str]) -> re.Pattern[str]:
    """Return what finds names in a text, in any case and however they are spaced."""
    parts = "|".join(
        r"[\s_-]+".join(re.escape(word) for word in name.split())
        for name in sorted(names, key=len, reverse=True)
        if name.strip()
    )
    return re.compile(rf"(?<!\w)(?:{parts})(?!\w)" if parts else r"(?!)", re.IGNORECASE)


def overlap(value: str, piece: str) -> bool:
    """Tell whether a value holds a piece, or a piece that value."""
    value, piece = value.casefold(), piece.casefold()
    return bool(value) and bool(piece) and (value in piece or piece in value)


def wordless(value: Any) -> Any:
    """Return JSON data without its strings, but for what the program itself named."""
    if isinstance(value, dict):
        return {
            name: wordless(inner)
            for name, inner in value.items()
            if not isinstance(inner, str) or name in PLAIN
        }
    if isinstance(value, list):
        return [wordless(item) for item in value if not isinstance(item, str)]
    return value


def without(value: Any, repeats: Repeats) -> Any:
    """Return JSON data with every string emptied that repeats what is erased."""
    if isinstance(value, str):
        return "" if repeats.among([value]) else value
    if isinstance(value, dict):
        return {name: without(inner, repeats) for name, inner in value.items()}
    if isinstance(value, list):
        return [without(item, repeats) for item in value]
    return value


def facts_named(detail: Mapping[str, Any]) -> list[int]:
    """Return the other facts that an event of a fact names."""
    named = [detail.get(name) for name in ("other", "loser", "replaces")]
    after = detail.get("after")
    if isinstance(after, dict):
        named += [after.get("merged_into_id"), after.get("superseded_by")]
    return [id_ for id_ in named if isinstance(id_, int)]
