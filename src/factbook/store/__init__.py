"""5 store: keep the ledger, and answer plain questions about it.

Knows rows, indexes and transactions. Knows no rule of the domain: what may be written, and what
follows from it, is decided in `apply`.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Final

from factbook.errors import UsageError

if TYPE_CHECKING:
    from factbook.store.port import Store
    from factbook.store.rows import Mode
    from factbook.store.screened import Screen

GROUP: Final = "factbook.stores"
"""Entry points of stores in other packages, each by the scheme of its URLs."""


def open_store(
    place: str | os.PathLike[str],
    *,
    mode: Mode = "create",
    screen: Screen | None = None,
    over: Callable[[Store], Store] | None = None,
) -> Store:
    """Open the ledger at a path, at `sqlite:///` and a path, or at a URL of a scheme of `GROUP`.

    What is registered there is called with the URL and `mode`, and returns a Store. Whatever opens
    it, every name that its reads are given goes through `screen` first: so was kept what they are
    compared with. `over` is laid over what was opened, below that. Raises UsageError for a scheme
    that nobody registered, and what the store raises.
    """
    from factbook.store.named import place_of

    where = place_of(place)
    store: Store
    if isinstance(where, Path):
        from factbook.store.sqlite import SQLiteStore

        store = SQLiteStore(where, mode=mode)
    else:
        store = _registered(where)(where, mode=mode)
    if over is not None:
        store = over(store)
    if screen is None:
        return store
    from factbook.store.screened import screened

    return screened(store, screen)


def _registered(where: str) -> Callable[..., Store]:
    """Return what opens the stores of a URL's scheme; raises UsageError where there is nothing."""
    from importlib.metadata import entry_points

    scheme = where.partition(":")[0].lower()
    others = {point.name: point for point in entry_points(group=GROUP)}
    if scheme not in others:  # the URL itself may hold a password
        known = ", ".join(f"{name}://" for name in sorted({"sqlite", *others}))
        raise UsageError(
            detail=f"no store is installed for {scheme}://, only for {known}; install the package"
            f" that has it as an entry point of {GROUP}, or name a file"
        )
    try:
        opened: Callable[..., Store] = others[scheme].load()
    except (ImportError, AttributeError) as error:
        raise UsageError(
            detail=f"the store for {scheme}://, {others[scheme].value}, cannot be loaded ({error});"
            " install its package again, or name a file"
        ) from error
    return opened
