"""Tell the languages of a project by the names of its files.

Imports the standard library alone: hooks load this file.
"""

from __future__ import annotations

import os
from collections import deque
from typing import Final

from factbook.model.directives import LANGUAGES

_ENTRIES: Final = 1_000  # that are looked at, those of the upper folders first
_LEFT_OUT: Final = frozenset({"node_modules", "vendor", "venv", "target", "build", "dist"})
_ENDINGS: Final = {
    ending: [name for name, endings in LANGUAGES.items() if ending in endings.split()]
    for endings in LANGUAGES.values()
    for ending in endings.split()
}


def languages_in(folder: str) -> frozenset[str]:
    """Return the languages that files of a folder are in; none where it cannot be read."""
    languages: set[str] = set()
    folders = deque([folder] if folder else [])
    left = _ENTRIES
    while folders and left > 0:
        try:
            with os.scandir(folders.popleft()) as entries:
                for entry in entries:
                    left -= 1
                    if left < 0:
                        break
                    if entry.is_dir(follow_symlinks=False):
                        if not entry.name.startswith(".") and entry.name not in _LEFT_OUT:
                            folders.append(entry.path)
                    else:
                        _, dot, ending = entry.name.rpartition(".")
                        languages.update(_ENDINGS.get(f"{dot}{ending.lower()}", ()))
        except OSError:
            continue
    return frozenset(languages)
