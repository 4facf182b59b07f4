"""The names of owners: what looks the same may be other characters."""

from __future__ import annotations

from collections.abc import Callable


def spelled(owner: str, is_known: Callable[[str], bool]) -> str:
    """Return an owner as they are known, where it is in one other Unicode normal form alone."""
    if owner.isascii() or is_known(owner):
        return owner
    from unicodedata import normalize  # seldom needed

    forms = {normalize("NFC", owner), normalize("NFD", owner)} - {owner}
    others = [form for form in forms if is_known(form)]
    return others[0] if len(others) == 1 else owner
