"""Run the command line as `python -m factbook`."""

from __future__ import annotations

from factbook.surface.cli import main

if __name__ == "__main__":
    main()
