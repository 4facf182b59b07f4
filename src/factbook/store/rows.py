"""The rows that a store gives and takes, and what a read of facts is narrowed to."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

import orjson

from factbook import policy
from factbook.errors import UsageError
from factbook.model.facts import (
    EVERYONE,
    ME,
    At,
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

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Mode = Literal["create", "write", "read"]  # how a ledger is opened


def claim_digest(owner: str, subject: str, predicate: str, obj: str) -> bytes:
    """Return the 16 bytes that stand for a claim in the unique index of current facts."""
    # Lengths keep ("ab", "c") and ("a", "bc") apart, whatever characters the parts hold.
    data = f"{len(owner)},{len(subject)},{len(predicate)}\0{owner}{subject}{predicate}{obj}"
    return hashlib.blake2b(data.encode("utf-8", "surrogatepass"), digest_size=16).digest()


ERASE_KEY: Final = "erase_key"  # the name of the `Secret` that tombstones are made with


def tombstone_mark(key: str, kind: str, *parts: str) -> bytes:
    """Return the digest of what must not come back, under a key in hexadecimal."""
    data = "".join(f"{len(part)}:{part}" for part in (kind, *parts))
    return hashlib.blake2b(
        data.encode("utf-8", "surrogatepass"), key=bytes.fromhex(key), digest_size=16
    ).digest()


def latest(times: Sequence[Millis | None]) -> Millis | None:
    """Return the last of the moments that are known; None where none is."""
    if len(times) == 1:  # nearly always
        return times[0]
    return max((at for at in times if at is not None), default=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Filters:
    """What a read is narrowed to: one owner, unless it says EVERYONE, and what else is given."""

    predicates: Sequence[str] = ()
    kinds: Sequence[FactKind] = ()
    episode_kinds: Sequence[EpisodeKind] = ()
    roles: Sequence[Role] = ()  # who speaks in an episode
    trusts: Sequence[Trust] = ()  # how far an episode is trusted
    min_confidence: float = 0.0
    since: Millis | None = None  # inclusive
    until: Millis | None = None  # exclusive
    host: str = ""
    project: str = ""  # equals the folder, or is a part of its path
    session: str = ""
    owner: str | Everyone = ME
    object: str = ""  # exact object of a fact
    subject: str = ""
    rules: Sequence[str] = ()  # names of rules that made the fact's evidence
    turns_any_time: bool = False  # the times narrow everything but turns of conversations
    now: Millis | None = None  # confidence is what it is then; without it, as it was stored
    deprecated: bool = True  # with `now`: facts that have faded below 0.3 pass too
    proposed: bool = False  # facts that wait for a yes pass too
    ids: Sequence[int] | None = None  # only of these rows
    before: int | None = None  # only of rows with lower ids

    def __post_init__(self) -> None:
        """Refuse an owner without a name: that would be everybody."""
        whose(self.owner)

    def of_owner(self, owner: str) -> bool:
        """Tell whether what is this owner's passes, as far as its owner goes."""
        return self.owner in (owner, EVERYONE)

    @property
    def facts_wanted(self) -> bool:
        """Tell whether facts can pass: a filter that only episodes can meet leaves none."""
        return not (self.episode_kinds or self.roles or self.trusts)

    @property
    def episodes_wanted(self) -> bool:
        """Tell whether episodes can pass: a filter that only facts can meet leaves none."""
        return not (
            self.predicates or self.kinds or self.object or self.subject or self.min_confidence > 0
        )

    @property
    def narrows_episodes(self) -> bool:
        """Tell whether any part applies to episodes."""
        return not self.facts_wanted or self._narrows_both

    @property
    def narrows_facts(self) -> bool:
        """Tell whether any part applies to facts."""
        return not self.episodes_wanted or bool(self.rules) or self._narrows_both

    @property
    def _narrows_both(self) -> bool:
        """Tell whether any part applies to episodes and facts alike."""
        return bool(
            self.host
            or self.project
            or self.session
            or self.owner is not EVERYONE
            or any(part is not None for part in (self.since, self.until, self.ids, self.before))
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class RejectionFilters:
    """What a read of the rejection log is narrowed to."""

    reason: str = ""
    type: str = ""
    rule: str = ""
    owner: str | Everyone = ME
    since: Millis | None = None
    until: Millis | None = None
    typed_only: bool = False  # only what a model proposed as a memory

    def __post_init__(self) -> None:
        """Refuse an owner without a name: that would be everybody."""
        whose(self.owner)


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One thing that `check` found wrong."""

    what: str  # short name of the check
    detail: str  # which row, and what it should be


class Nearest(NamedTuple):
    """The rows nearest to one vector, best first, equal cosines by id."""

    ids: NDArray[np.int64]
    cosines: NDArray[np.float32]  # exact


class Outlines(NamedTuple):
    """What ranking needs to know of some episodes: columns, ascending by id."""

    ids: NDArray[np.int64]
    sources: NDArray[np.int64]
    positions: NDArray[np.int64]  # ordinals within the source
    times: NDArray[np.float64]  # milliseconds; NaN where unknown
    chars: NDArray[np.int64]  # of the text
    asks: NDArray[np.bool_]  # whether it holds a question
    speakers: Sequence[str]  # "" is nobody


class Head(NamedTuple):
    """How far the log of commits goes."""

    commit: int  # the last one
    memory: int  # the last that may have changed what is remembered


class Changes(NamedTuple):
    """What happened to one kind of rows since a place in the log of commits."""

    came: Sequence[int]  # in the order of (commit, id)
    gone: Sequence[int]  # some may have come again since
    last: At  # where to go on
    more: bool  # whether anything has come behind it


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


SPANS: Final = ("pasted", "overheard")
"""Fields of an episode that are kept among its attributes: hardly any has some."""


def with_spans(episode: Episode) -> dict[str, str]:
    """Return the attributes of an episode, and with them parts of its text: "3-120 130-140"."""
    kept = dict(episode.attributes)
    for name in SPANS:
        if spans := getattr(episode, name):
            kept[name] = " ".join(f"{start}-{end}" for start, end in spans)
    return kept


def without_spans(kept: Mapping[str, str]) -> dict[str, Any]:
    """Return the fields of an episode that `with_spans` made such attributes of."""
    attributes = {name: kept[name] for name in kept if name not in SPANS}
    return {"attributes": attributes, **spans_in(kept)}


def spans_in(kept: Mapping[str, str]) -> dict[str, tuple[tuple[int, int], ...]]:
    """Return the parts of its text that an episode was kept with, by the names of the fields."""
    spans = {}
    for name in SPANS:
        parts = (part.split("-") for part in kept.get(name, "").split())
        spans[name] = tuple((int(start), int(end)) for start, end in parts)
    return spans


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
        if self.owner is EVERYONE and all(value is None for value in asked):
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
