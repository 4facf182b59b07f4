"""Embed the situations that recall knows with the bundled model, for the package to ship.

    python scripts/make_situations.py

Run it after a change of `src/factbook/recall/data/situations.txt` or of the model; a test fails
until then. The same list and model give the same bytes.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from factbook.embed import bundled
from factbook.recall.query_expansion import brought, digest, situations

TARGET = Path(__file__).resolve().parent.parent / "src/factbook/recall/data/situations.npz"


def main() -> None:
    """Write the vectors in half precision, with what they are vectors of."""
    embedder = bundled()
    np.savez(
        TARGET,
        embedder=np.asarray(embedder.id),
        digest=np.asarray(digest()),
        questions=embedder.embed([one.question for one in situations()]).astype(np.float16),
        things=embedder.embed(brought()).astype(np.float16),
    )
    print(f"{TARGET}: {TARGET.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
