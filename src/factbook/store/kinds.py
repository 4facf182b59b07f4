"""The kinds of small rows: what a row holds, what stands for it, and what it may be asked by.

A store keeps all of them with the same verbs (`port.QuietWriter`); its tables, indexes and
codecs follow these declarations.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType, NoneType, UnionType
from typing import Any, Final, Generic, NamedTuple, TypeAlias, TypeVar, get_args, get_origin

from factbook.errors import UsageError
from factbook.model.entities import (
    Engagement,
    NoticeKind,
    NoticeState,
    NotifyState,
    Preference,
    Schedule,
    SearchTask,
)
from factbook.model.facts import (
    EVERYONE,
    ErasureAct,
    Event,
    FactKind,
    Injection,
    Millis,
    ModelTask,
    Proposal,
    Run,
    Stance,
    Status,
    Trigger,
    whose,
)
from factbook.store.rows import EpisodeHead, EvidenceRow, Life

R = TypeVar("R", bound=tuple[Any, ...])


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition on a field, by another value than its own; an empty field does not meet it."""

    value: object


class Least(Condition):
    """This value or more."""


class Above(Condition):
    """More than this value."""


class Below(Condition):
    """Less than this value."""


class Other(Condition):
    """Any value but this."""


Where: TypeAlias = Mapping[str, object]
"""What rows are asked for by: field -> value, None for an empty one, values of which it is one,
`Least`, `Above`, `Below` or `Other`. An owner may be EVERYONE, which leaves none out."""

ALL: Final[Where] = MappingProxyType({})


def given(**conditions: object) -> dict[str, object]:
    """Return conditions by their fields, without those that are None."""
    return {field: value for field, value in conditions.items() if value is not None}


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Kind(Generic[R]):
    """One kind of rows."""

    name: str
    row: type[R]  # a NamedTuple; its fields are the columns, those of mappings and lists as JSON
    key: Sequence[str]  # ("id",): a row of id 0 is given one; else what stands for a row by itself
    unique: Sequence[str] = ()  # fields that together stand for a row too, where the key is an id;
    # of what can be retired they stand for the current one (`retired_at` is empty)
    asked: Collection[str] = ()  # further fields that rows may be asked by
    append_only: bool = False
    quiet: bool = False  # it is no memory: a write that is no commit may change it
    embedded: bool = False  # whether a row has a vector as long as it is current

    @property
    def fields(self) -> tuple[str, ...]:
        """The fields of a row in their order."""
        fields: tuple[str, ...] = self.row._fields  # type: ignore[attr-defined]
        return fields

    @property
    def has_ids(self) -> bool:
        """Whether the store gives its rows their key."""
        return tuple(self.key) == ("id",)


def plain_type(hint: Any) -> tuple[Any, bool]:
    """Return what a field holds, without its parameters, and whether it may be None instead."""
    optional = False
    if isinstance(hint, UnionType):
        args = [arg for arg in get_args(hint) if arg is not NoneType]
        optional, hint = len(args) < len(get_args(hint)), args[0]
    return get_origin(hint) or hint, optional


def or_none(convert: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return what converts a value and leaves None as it is."""
    return lambda value: None if value is None else convert(value)


class Tally(NamedTuple):
    """What there is of one group of rows."""

    rows: int
    most: Any = None  # the greatest value of the field that was named for it
    distinct: int = 0  # how many values the field has that was named for it; empty is none


def appended(kind: Kind[Any]) -> None:
    """Refuse to change rows that are never changed; raises UsageError."""
    if kind.append_only:
        raise UsageError(detail=f"a {kind.name} is never changed")


def changes_memory(kind: Kind[Any], *, quiet: bool) -> None:
    """Refuse to change memory in a write that is no commit; raises UsageError."""
    if quiet and not kind.quiet:
        raise UsageError(detail=f"a {kind.name} is memory: a commit changes it")


def checked(
    kind: Kind[Any], where: Where, by: Sequence[str] = (), shown: Collection[str] = ()
) -> None:
    """Refuse what a kind cannot be asked by, or shows, and rows with owners asked without one.

    Raises UsageError.
    """
    askable = {*kind.key, *kind.unique, *kind.asked}
    unknown = sorted(({*where, *by} - askable) | ({*shown} - askable - {*kind.fields, ""}))
    if unknown:
        raise UsageError(
            detail=f"a {kind.name} is not asked for by {', '.join(unknown)}, only by"
            f" {', '.join(sorted(askable))}"
        )
    if "owner" not in kind.fields:
        return
    if "owner" in where:
        owner = where["owner"]
        if owner is EVERYONE or isinstance(owner, str):
            whose(owner)
    elif not (where.keys() >= {*kind.key} or (kind.unique and where.keys() >= {*kind.unique})):
        raise UsageError(
            detail=f"a {kind.name} is somebody's: ask for those of an owner, or of EVERYONE"
        )


class Pair(NamedTuple):
    """Two facts that were judged."""

    low_id: int
    high_id: int
    relation: str
    rule: str
    detail: str
    similarity: float
    judged_at: Millis
    verdict: str  # empty while it waits, or where rules decided
    settled_at: Millis | None = None
    settled_by: str = ""


PAIR: Final = Kind(name="pair", row=Pair, key=("low_id", "high_id"), asked=("relation", "verdict"))
PROPOSAL: Final = Kind(
    name="proposal", row=Proposal, key=("id",), unique=("claim",), asked=("state", "kind")
)

RUN: Final = Kind(name="run", row=Run, key=("id",))


class Mark(NamedTuple):
    """How far work has followed the log of commits, by its name."""

    name: str
    commit_no: int
    row_id: int


MARK: Final = Kind(name="mark", row=Mark, key=("name",))


class Loose(NamedTuple):
    """An episode with a statement that stands alone so far."""

    episode_id: int


LOOSE: Final = Kind(name="loose", row=Loose, key=("episode_id",))
INJECTION: Final = Kind(
    name="injection", row=Injection, key=("id",), asked=("at", "owner", "session")
)


class DayCount(NamedTuple):
    """What a counter came to on a day."""

    day: str
    name: str
    value: float


COUNT: Final = Kind(name="count", row=DayCount, key=("day", "name"))


class Reader(NamedTuple):
    """With what version of a part a source was read."""

    source_id: int
    part: str  # "redactor" or "rules"
    version: str
    first_at: Millis
    last_at: Millis


READER: Final = Kind(name="reader", row=Reader, key=("source_id", "part", "version"))

EVENT: Final = Kind(
    name="event",
    row=Event,
    key=("id",),
    asked=("target_kind", "target_id", "run_id", "op"),
    append_only=True,
)


class Refusal(NamedTuple):
    """A row of the rejection log, once for its claim."""

    id: int
    claim: bytes
    at: Millis
    source_id: int
    episode_id: int | None
    position: int
    byte_offset: int
    reason: str
    detail: str
    excerpt: str
    rule: str = ""
    predicate: str = ""
    owner: str = ""
    type: str = ""
    confidence: float | None = None
    threshold: float | None = None
    validation: Mapping[str, object] = {}


REJECTION: Final = Kind(
    name="rejection",
    row=Refusal,
    key=("id",),
    unique=("claim",),
    asked=("owner", "reason", "type", "rule", "source_id", "episode_id", "at"),
)


class CallCount(NamedTuple):
    """What calls of a language model came to."""

    calls: int = 0
    prompt_tokens: int = 0
    answer_tokens: int = 0
    latency_ms: float = 0.0
    money: float = 0.0


class Calls(NamedTuple):
    """What the calls of one day, purpose, model and outcome came to."""

    day: str
    purpose: str
    model: str
    outcome: str
    calls: int
    prompt_tokens: int
    answer_tokens: int
    latency_ms: float
    money: float

    @property
    def came_to(self) -> CallCount:
        """What they came to."""
        return CallCount._make(self[4:])


CALL: Final = Kind(name="call", row=Calls, key=("day", "purpose", "model", "outcome"))

MODEL_TASK: Final = Kind(name="model_task", row=ModelTask, key=("kind", "target"), asked=("state",))


class Lease(NamedTuple):
    """Who works on what."""

    name: str
    holder: str  # empty: nobody
    token: int  # another one for each who takes it
    until: Millis


LEASE: Final = Kind(name="lease", row=Lease, key=("name",), quiet=True)


class EmbedTask(NamedTuple):
    """What became of earlier attempts at a row that waits for its vector."""

    target: str
    row_id: int
    token: int  # of the claim under which it is embedded now; 0: of none
    until: Millis  # not to be tried before
    attempts: int  # failures
    error: str  # of the last one
    aside: bool  # it failed too often


EMBED_TASK: Final = Kind(
    name="embed_task", row=EmbedTask, key=("target", "row_id"), asked=("token", "aside"), quiet=True
)


class EntityRow(NamedTuple):
    """An entity without what is counted of it (`model.entities.Entity`)."""

    id: int
    owner: str
    name: str
    created_at: Millis
    updated_at: Millis
    episode_id: int
    trigger: Trigger
    retired_at: Millis | None = None
    merged_into_id: int | None = None
    muted: bool = False

    @property
    def current(self) -> bool:
        """Tell whether it is not deleted or merged away."""
        return self.retired_at is None


class Alias(NamedTuple):
    """Another name of an entity."""

    owner: str
    name: str
    entity_id: int


ENTITY: Final = Kind(
    name="entity",
    row=EntityRow,
    key=("id",),
    unique=("owner", "name"),
    asked=("episode_id", "retired_at", "merged_into_id"),
    embedded=True,
)
ALIAS: Final = Kind(name="alias", row=Alias, key=("owner", "name"), asked=("entity_id",))
ENGAGEMENT: Final = Kind(
    name="engagement",
    row=Engagement,
    key=("id",),
    unique=("episode_id", "type", "entity_id", "preference_id"),  # of those with an episode
    asked=("owner", "valence", "at"),
)
PREFERENCE: Final = Kind(
    name="preference",
    row=Preference,
    key=("id",),
    unique=("owner", "topic"),
    asked=("episode_id", "retired_at"),
    embedded=True,
)


class SearchRow(NamedTuple):
    """A search that was made, without its results (`model.entities.SearchLog`)."""

    id: int
    uid: str  # given by who made it, and says nothing of it; empty without
    owner: str
    at: Millis
    query: str
    trigger: Trigger
    provider: str
    duration_ms: int | None
    discovered: bool = False  # whether it was looked through for new things
    extracted: bool = False
    learn_prompt_id: int | None = None
    entity_id: int | None = None
    cause_id: int | None = None


SEARCH_LOG: Final = Kind(
    name="search_log",
    row=SearchRow,
    key=("id",),
    asked=("uid", "owner", "extracted", "learn_prompt_id", "entity_id", "cause_id", "trigger"),
)


class ResultRow(NamedTuple):
    """How far one result of a search was read."""

    search_id: int
    position: int
    episode_id: int
    seen: Sequence[Sequence[int]] | None = None  # (start, end) of new names that a model saw
    is_read: bool = False
    failed: int = 0  # how often reading it failed


SEARCH_RESULT: Final = Kind(
    name="search_result", row=ResultRow, key=("search_id", "position"), asked=("episode_id",)
)


class FindRow(NamedTuple):
    """A new fact of a search that is still being read, to be told at its end."""

    search_id: int
    fact_id: int
    nearest: float | None  # the greatest cosine to what was known before


SEARCH_FIND: Final = Kind(name="search_find", row=FindRow, key=("search_id", "fact_id"))


class PromptRow(NamedTuple):
    """What an owner asked to be learned, without what is counted of it."""

    id: int
    owner: str
    text: str
    status: str  # active or completed
    episode_id: int
    created_at: Millis
    updated_at: Millis


LEARN_PROMPT: Final = Kind(
    name="learn_prompt", row=PromptRow, key=("id",), asked=("owner", "episode_id", "status")
)
SEARCH_TASK: Final = Kind(
    name="search_task",
    row=SearchTask,
    key=("id",),
    asked=("owner", "trigger", "learn_prompt_id", "entity_id", "cause_id", "state", "created_at"),
)
SCHEDULE: Final = Kind(
    name="schedule",
    row=Schedule,
    key=("id",),
    asked=("owner", "episode_id", "next_at", "retired_at"),
)


class NoticeRow(NamedTuple):
    """A notice without the facts that it tells (`model.entities.Notice`)."""

    id: int
    owner: str
    entity_id: int
    kind: NoticeKind
    trigger: Trigger
    image: str
    state: NoticeState
    created_at: Millis
    sent_at: Millis | None
    channels: Sequence[str]
    reason: str


class NoticeFact(NamedTuple):
    """A fact that a notice tells."""

    notice_id: int
    fact_id: int


NOTICE: Final = Kind(
    name="notice", row=NoticeRow, key=("id",), asked=("owner", "entity_id", "state")
)
NOTICE_FACT: Final = Kind(name="notice_fact", row=NoticeFact, key=("notice_id", "fact_id"))
NOTIFY: Final = Kind(name="notify", row=NotifyState, key=("owner",))

ERASURE: Final = Kind(name="erasure", row=ErasureAct, key=("id",))


class ErasedRow(NamedTuple):
    """A row that was erased: it stays, so that pointers to it hold, and says nothing."""

    target: str  # what kind of row it is
    row_id: int
    erasure_id: int


ERASED: Final = Kind(name="erased", row=ErasedRow, key=("target", "row_id"), asked=("erasure_id",))


class Tombstone(NamedTuple):
    """What must not come back, as a digest (`rows.tombstone_mark`)."""

    mark: bytes
    kind: str
    erasure_id: int


TOMBSTONE: Final = Kind(name="tombstone", row=Tombstone, key=("mark",), asked=("erasure_id",))


class Secret(NamedTuple):
    """What is drawn once for a ledger, and leaves it only when all of it is exported."""

    name: str
    value: str


SECRET: Final = Kind(name="secret", row=Secret, key=("name",))


class ToldRow(NamedTuple):
    """A secret that was told, as `redaction.told` knows it again."""

    digest: bytes
    chars: int
    kind: str


TOLD: Final = Kind(name="told", row=ToldRow, key=("digest",))


class OwnerRow(NamedTuple):
    """The last commit that may have changed what is remembered of an owner (`head`)."""

    owner: str
    memory: int


OWNER: Final = Kind(name="owner", row=OwnerRow, key=("owner",))


class SourceId(NamedTuple):
    """What is counted of a source."""

    id: int


class Embedded(NamedTuple):
    """What is counted of a row that has its vector, or waits for it."""

    target: str  # "episode", "fact", "entity" or "preference"


class Cited(NamedTuple):
    """What is counted of evidence by the fact that it stands for."""

    fact_id: int
    episode_id: int
    stance: Stance
    kind: FactKind
    status: Status
    confidence: float
    predicate: str


class Recorded(NamedTuple):
    """What the record of typed memories calls a row, where that record is another store's."""

    target: str  # what kind of row it is: fact, episode, rejection, proposal, event
    row_id: int
    key: str


RECORDED: Final = Kind(name="recorded", row=Recorded, key=("target", "row_id"), asked=("key",))
RECORD: Final = "record"  # the target of the row that says which record a file belongs to
BOUND: Final[Where] = {"target": RECORD, "row_id": 0}

# What is only counted as records: the ledger has verbs of its own.
SOURCE: Final = Kind(name="source", row=SourceId, key=("id",))  # without erased ones
EPISODE: Final = Kind(
    name="episode", row=EpisodeHead, key=("id",), asked=("owner", "source_id", "kind", "role")
)
FACT: Final = Kind(
    name="fact",
    row=Life,
    key=("id",),
    asked=("owner", "subject", "predicate", "object", "kind", "status", "confidence", "retired_at"),
)
EVIDENCE: Final = Kind(
    name="evidence", row=EvidenceRow, key=("fact_id", "episode_id"), asked=("rule",)
)
CITED: Final = Kind(
    name="cited",
    row=Cited,
    key=("fact_id", "episode_id"),
    asked=("stance", "kind", "status", "predicate"),
)
VECTOR: Final = Kind(name="vector", row=Embedded, key=("target",))
WAITING: Final = Kind(name="waiting", row=Embedded, key=("target",))

KINDS: Final[Sequence[Kind[Any]]] = (
    PAIR, PROPOSAL, RUN, MARK, LOOSE, INJECTION, COUNT, READER, EVENT, REJECTION, CALL,
    MODEL_TASK, LEASE, EMBED_TASK, ENTITY, ALIAS, ENGAGEMENT, PREFERENCE, SEARCH_LOG,
    SEARCH_RESULT, SEARCH_FIND, LEARN_PROMPT, SEARCH_TASK, SCHEDULE, NOTICE, NOTICE_FACT, NOTIFY,
    ERASURE, ERASED, TOMBSTONE, SECRET, TOLD, OWNER, RECORDED
)  # fmt: skip

# What a row is called where it stands: by its own number, or by that of the row it belongs to.
# These can all be erased by that name.
CALLED: Final[Mapping[str, tuple[str, str]]] = MappingProxyType(
    {
        "episode": ("e", "id"),
        "fact": ("f", "id"),
        "evidence": ("f", "fact_id"),
        "pair": ("f", "low_id"),
        "source": ("s", "id"),
        "rejection": ("r", "id"),
        "entity": ("n", "id"),
        "alias": ("n", "entity_id"),
        "notice": ("n", "entity_id"),
        "preference": ("p", "id"),
        "learn_prompt": ("l", "id"),
        "schedule": ("c", "id"),
        "search_log": ("q", "id"),
        "search_find": ("q", "search_id"),
        "search_result": ("q", "search_id"),
        "search_task": ("t", "id"),
        "proposal": ("o", "id"),
    }
)
# Fields of what the program drew, and of the names of rows: `each_text` leaves them out.
NO_WORDS: Final = frozenset({"uid", "claim", "items", "used"})


def called(kind: str, row_id: object) -> str:
    """Return what a row of its own number is called: e34, f12; other kinds by what they are."""
    letter, key = CALLED.get(kind, ("", ""))
    return f"{letter}{row_id}" if key == "id" else f"{kind}:{row_id}"
