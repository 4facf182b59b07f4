"""5 store: keep the ledger, and answer plain questions about it.

Knows rows, indexes and transactions. Knows no rule of the domain: what may be written, and what
follows from it, is decided in `apply`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

from factbook.errors import UsageError

if TYPE_CHECKING:
    from factbook.store.base import Mode, Screen, Store

__all__ = ["GROUP", "open_store"]

GROUP: Final = "factbook.stores"
"""Entry points of stores in other packages, each by the scheme of its URLs."""


def open_store(
    place: str | os.PathLike[str],
    *,
    mode: Mode = "create",
    screen: Screen | None = None,
    readers: Callable[[], Mapping[str, str]] = dict,
) -> Store:
    """Open the ledger at a path, at `sqlite:///` and a path, or at a URL of a scheme of `GROUP`.

    What is registered there is called with the URL and the same arguments, and returns a Store.
    Raises UsageError for a scheme that nobody registered, and what the store raises.
    """
    from factbook.store.base import place_of, unscreened

    where, screen = place_of(place), screen or unscreened
    if isinstance(where, Path):
        from factbook.store.sqlite import SQLiteStore

        return SQLiteStore(where, mode=mode, screen=screen, readers=readers)
    from importlib.metadata import entry_points

    scheme = where.partition(":")[0].lower()
    others = {point.name: point for point in entry_points(group=GROUP)}
    if scheme not in others:  # the URL itself may hold a password
        known = ", ".join(f"{one}://" for one in sorted({"sqlite", *others}))
        raise UsageError(
            detail=f"no store is installed for {scheme}://, only for {known}; install the package"
            f" that has it as an entry point of {GROUP}, or name a file"
        )
    try:
        opened = others[scheme].load()
    except (ImportError, AttributeError) as error:
        raise UsageError(
            detail=f"the store for {scheme}://, {others[scheme].value}, cannot be loaded ({error});"
            " install its package again, or name a file"
        ) from error
    store: Store = opened(where, mode=mode, screen=screen, readers=readers)
    return store
