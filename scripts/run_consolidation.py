"""Do the nightly work: the same as `factbook consolidate`, with the same options (seed 001)."""

from __future__ import annotations

from factbook.surface.cli import run_consolidation

if __name__ == "__main__":
    run_consolidation()
