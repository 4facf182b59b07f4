"""A row of the pool that recall orders."""

from __future__ import annotations

import math
from dataclasses import dataclass

from factbook.model.facts import Fact


@dataclass(slots=True)
class PoolRow:
    """One row of the pool before it is shown."""

    target: str  # "episode" or "fact"
    id: int
    episode: int  # its own id, or that of the fact's first evidence
    lexical: float = math.nan
    cosine: float = math.nan
    cued: float = 0.0  # how well a fact of a named predicate fits, 0 to 1
    chars: int = 0  # of the episode's text
    leaning: float = 0.0  # how much advice has to respect the fact, as a share of the most
    fact: Fact | None = None
