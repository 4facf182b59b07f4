"""Where the sample data is that some tests measure on; it is not part of the project."""

from __future__ import annotations

import os
from pathlib import Path


def data_dir() -> Path | None:
    """Return $FACTBOOK_DATA, else the folder beside the checkout, or None where there is none."""
    named = os.environ.get("FACTBOOK_DATA")
    folder = Path(named) if named else Path(__file__).parents[2] / "shared" / "data"
    return folder if folder.is_dir() else None
