"""The rows that a store gives and takes, and what a read of facts is narrowed to."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import orjson

from factbook import policy
from factbook.errors import UsageError
from factbook.model.facts import (
    EVERYONE,
    Episode,
    EpisodeKind,
    Everyone,
    FactKind,
    Millis,
    Role,
    Scoured,
    Stance,
    Status,
    Taken,
    Trust,
    whose,
)


class Life(NamedTuple):
    """The row of a fact."""

    id: int  # 0 for one that is to be added
    owner: str
    subject: str
    predicate: str
    object: str
    statement: str
    kind: FactKind
    status: Status
    confidence: float
    confidence_at: Millis  # the moment that the confidence is of
    trust: Trust
    evidence_count: int
    occurred_at: Millis | None
    retired_at: Millis | None
    valid_to: Millis | None
    merged_into_id: int | None
    superseded_by: int | None
    pinned: bool
    embeddable: bool
    episode_id: int  # its first evidence
    claim: bytes  # digest of (owner, subject, predicate, object)
    learned_at: Millis = 0  # the store gives it, unless it is given

    @property
    def current(self) -> bool:
        """Tell whether it is not merged away, superseded or erased."""
        return self.retired_at is None


class EvidenceRow(NamedTuple):
    """What an episode says of a fact, and the rule that read it so."""

    fact_id: int
    episode_id: int
    rule: str
    method: str
    stance: Stance
    quote: str
    start: int
    end: int
    learned_at: Millis = 0  # the store gives it, unless it is given


class EpisodeHead(NamedTuple):
    """Everything of an episode but its text."""

    id: int
    uid: str
    source_id: int
    source: str  # where it comes from, as its source calls itself
    host: str
    kind: EpisodeKind
    role: Role
    trust: Trust
    owner: str
    speaker: str
    session: str
    injected: bool
    occurred_at: Millis | None
    position: int
    offset: int
    details: str  # its attributes as JSON, which few ask for

    @property
    def attributes(self) -> dict[str, str]:
        """Its exact values by name."""
        loads: dict[str, str] = orjson.loads(self.details)
        return loads

    @property
    def told(self) -> bool:
        """Tell whether its owner said it to factbook itself, on purpose."""
        return self.trust is Trust.DIRECT and self.host == policy.TOLD_HOST

    @property
    def other(self) -> bool:
        """Tell whether somebody else says it, by a name."""
        return self.speaker != "" and self.speaker.lower() != self.owner.lower()


class KeptEpisode(NamedTuple):
    """An episode as it was given, less its fields, with since when it is kept."""

    id: int
    source_id: int
    learned_at: Millis
    episode: Episode


def pasted_parts(text: str | None) -> tuple[tuple[int, int], ...]:
    """Read where an episode holds what was pasted: "3-120 130-140"."""
    parts = (part.split("-") for part in (text or "").split())
    return tuple((int(start), int(end)) for start, end in parts)


def with_pasted(episode: Episode) -> dict[str, str]:
    """Return the attributes of an episode, with where it holds what was pasted."""
    spans = " ".join(f"{start}-{end}" for start, end in episode.pasted)
    return {**episode.attributes, "pasted": spans} if spans else dict(episode.attributes)


@dataclass(slots=True)
class Wiped:
    """What the erasures of a write took, to be looked for in what is left once it is committed."""

    erasures: list[int] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)  # everything that was taken out
    taken: list[Taken] = field(default_factory=list)  # of it, what kept rows are searched for
    beside: set[int] = field(default_factory=set)  # episodes right beside those that went
    file: Scoured | None = None  # what became of the file's bytes; None where there is no file


@dataclass(frozen=True, slots=True, kw_only=True)
class LifeWhere:
    """Which rows of facts are asked for: those that meet all that is given.

    An empty collection is met by none.
    """

    ids: Collection[int] | None = None
    claims: Collection[bytes] | None = None
    owner: str | Everyone = EVERYONE
    kinds: Collection[FactKind] | None = None
    subjects: Collection[str] | None = None
    predicates: Collection[str] | None = None
    under: str = ""  # a key, or what begins with it and goes on at a point
    merged_into: Collection[int] | None = None
    superseded_by: Collection[int] | None = None
    current: bool | None = None  # True: not retired; False: retired

    def __post_init__(self) -> None:
        """Refuse an owner without a name, and a read of everything there is.

        Raises UsageError.
        """
        whose(self.owner)
        asked = (self.ids, self.claims, self.kinds, self.merged_into, self.superseded_by)
        if self.owner is EVERYONE and all(one is None for one in asked):
            raise UsageError(
                detail="a read of facts names ids, claims, kinds, an owner, or what took them over"
            )

    def screened(self, screen: Callable[[str], str]) -> LifeWhere:
        """Return it with its names as they are kept; those given are found as they are, too."""
        owner = self.owner if isinstance(self.owner, Everyone) else screen(self.owner)
        subjects, predicates = (
            named and sorted({*named, *map(screen, named)})
            for named in (self.subjects, self.predicates)
        )
        after = replace(
            self, owner=owner, subjects=subjects, predicates=predicates, under=screen(self.under)
        )
        return self if after == self else after
