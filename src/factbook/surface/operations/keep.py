"""The operations that look after a memory, and say how it is."""

from __future__ import annotations

from factbook.surface.operations.base import KEEP, Effect, Outcome, Run, operation


@operation(KEEP, Effect.OWN, tool=False)
def version(run: Run) -> Outcome:
    """Print the version."""
    from factbook import __version__

    del run
    return Outcome(record={"version": __version__}, show=f"factbook {__version__}")
