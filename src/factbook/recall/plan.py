"""Say what each mode of recall may see, and put what was found in the seed's order.

Two modes share one engine. Passive recall brings memories by itself and must be sure of them; an
agent that asks may also see what is doubtful.

| confidence now | passive | asked (`search_memory`) |
|---|---|---|
| above 0.5 | yes | yes |
| 0.3 to 0.5, both ends included | no | yes |
| below 0.3 | no | no: the fact is deprecated |

Vectors find active facts only; text finds facts that still wait for their vector as well. So a fact
is found from the moment at which it is written.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from factbook.errors import UsageError
from factbook.model.confidence import is_deprecated, is_passive
from factbook.model.facts import Hit, Millis, Role
from factbook.recall.diversity import clusters

SearchType: TypeAlias = Literal["facts", "episodes", "both"]  # origins 001.3: search_memory

CANDIDATES: Final = 20  # origins 001.3: "Top 20 candidates"
STREAMED_FACTS: Final = 5  # origins 001.3: "Top 3-5 facts (diversity sampled)"
STREAMED_EPISODES: Final = 5  # origins 001.3: "Top 3-5 episodes (if relevant)"
DEFAULT_TOOL_LIMIT: Final = 5  # origins 001.3: search_memory(..., limit=5)


class Mode(StrEnum):
    """Say who asks: nobody (the passive stream) or an agent (the tool)."""

    PASSIVE = "passive"
    ACTIVE = "active"


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One message of a running conversation."""

    role: Role
    text: str
    at: Millis | None = None  # when it was said
    id: str = ""  # what names it in a context's account; empty: its place in the list
    pasted: tuple[tuple[int, int], ...] = ()  # parts of the text that were pasted into it


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchPlan:
    """What one search may see and how much of it is wanted."""

    mode: Mode
    search_type: SearchType
    facts: int  # at most so many facts
    episodes: int  # at most so many episodes
    limit: int  # at most so many in all
    candidates: int = CANDIDATES  # rows that are weighed before any is chosen

    def admits(self, confidence: float) -> bool:
        """Tell whether a memory of this confidence now may be shown."""
        if math.isnan(confidence):
            return False
        if self.mode is Mode.PASSIVE:
            return is_passive(confidence)
        return not is_deprecated(confidence)


def plan_search(
    mode: Mode, *, search_type: SearchType = "both", limit: int | None = None
) -> SearchPlan:
    """Return the plan of one search; `limit` is that of the seed's tool.

    Passive recall takes up to five facts and five episodes unless `limit` says otherwise. Raises
    UsageError for another search type and for a limit that is no count.
    """
    if search_type not in ("facts", "episodes", "both"):
        raise UsageError(
            detail=f"search_type is {search_type!r}; give 'facts', 'episodes' or 'both'."
        )
    if limit is not None and (isinstance(limit, bool) or not isinstance(limit, int) or limit < 1):
        raise UsageError(detail=f"limit is {limit!r}; give a whole number from 1 on.")
    if mode is Mode.PASSIVE:
        facts, episodes = limit or STREAMED_FACTS, limit or STREAMED_EPISODES
        whole = facts * (search_type != "episodes") + episodes * (search_type != "facts")
    else:
        facts = episodes = whole = limit or DEFAULT_TOOL_LIMIT
    return SearchPlan(
        mode=mode,
        search_type=search_type,
        facts=facts if search_type != "episodes" else 0,
        episodes=episodes if search_type != "facts" else 0,
        limit=whole,
        candidates=max(CANDIDATES, 4 * whole),
    )


def select(
    hits: Sequence[Hit], plan: SearchPlan, *, vectors: Mapping[str, NDArray[np.float32]]
) -> list[Hit]:
    """Return the hits that a plan lets through, one of each cluster, best relevance first.

    `Hit.score` is the relevance that the engine gave. Facts and episodes are clustered together, so
    that a fact and the turn it came from are not both shown; the better one stands for both.
    """
    allowed = [hit for hit in hits if plan.admits(hit.confidence)]
    room = {"fact": plan.facts, "episode": plan.episodes}
    chosen: list[Hit] = []
    for hit, *_ in clusters(allowed, vectors=vectors):
        if room[hit.kind] and len(chosen) < plan.limit:
            room[hit.kind] -= 1
            chosen.append(hit)
    return chosen
