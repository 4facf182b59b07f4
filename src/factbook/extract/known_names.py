"""Find the names of known things in a text."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Final

_GAP: Final = r"[\s\-‐‑–_]+"
_SPACE: Final = re.compile(_GAP)


class KnownNames:
    """The names of known things, found in texts whatever their case, blanks and hyphens.

    Of two names at one place the longer one is meant. A name that two things share is nobody's.
    """

    def __init__(self, names: Mapping[str, Sequence[str]]) -> None:
        """Take canonical names, each with all names of the thing; one without any is left out."""
        self._owner: dict[str, str] = {}
        shared: set[str] = set()
        for canonical, surfaces in names.items():
            for surface in (canonical, *surfaces) if surfaces else ():
                key = _key(surface)
                if key and self._owner.setdefault(key, canonical) != canonical:
                    shared.add(key)
        for key in shared:
            if key not in names:
                del self._owner[key]
            else:
                self._owner[key] = key

    def within(self, text: str) -> KnownNames:
        """Return the names that may stand in a text: patterns of a few are fast."""
        plain = _key(text)
        knownnames = KnownNames({})
        knownnames._owner = {key: owner for key, owner in self._owner.items() if key in plain}
        return knownnames

    def with_short(self, short: Mapping[str, str]) -> KnownNames:
        """Return these names and short ones, as far as no other thing has them."""
        knownnames = KnownNames({})
        knownnames._owner = {**{_key(key): owner for key, owner in short.items()}, **self._owner}
        return knownnames

    def __bool__(self) -> bool:
        return bool(self._owner)

    @property
    def surfaces(self) -> Mapping[str, str]:
        """Return every name in its compared form, with the canonical name it stands for."""
        return self._owner

    def find(self, text: str) -> list[tuple[int, int, str]]:
        """Return (start, end, canonical name) of every place where a known thing is named."""
        if not self._owner:
            return []
        pattern = _pattern(tuple(sorted(self._owner)))
        places = []
        for match in pattern.finditer(text):
            key = _key(match["name"])
            owner = self._owner.get(key) or self._owner.get(key.removesuffix("s"))
            if owner is not None:
                places.append((match.start("name"), match.end("name"), owner))
        return places


def _key(name: str) -> str:
    return _SPACE.sub(" ", name.replace("’", "'").casefold()).strip()


@lru_cache(maxsize=256)
def _pattern(keys: tuple[str, ...]) -> re.Pattern[str]:
    longest = sorted(keys, key=len, reverse=True)
    parts = [_GAP.join(re.escape(word).replace("'", "['’]") for word in k.split()) for k in longest]
    return re.compile(
        rf"(?<![\w@#/.\-])(?P<name>(?:{'|'.join(parts)})s?)(?![\w@/]|-\w|\.\w)", re.IGNORECASE
    )
