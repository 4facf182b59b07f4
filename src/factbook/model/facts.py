"""The nouns: what a source, an episode, a claim and its evidence are. Values only, no I/O.

Times are integers, milliseconds since 1970-01-01 UTC (`Millis`); `None` where a log gives none.
Offsets are characters into the text of one episode, end exclusive.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from enum import Enum, StrEnum
from typing import Final, NamedTuple, TypeAlias
from urllib.parse import parse_qs

from factbook import policy
from factbook.errors import UsageError
from factbook.model.frame import speaker_of
from factbook.model.turns import Turn

Millis: TypeAlias = int


def moment(at: Millis | None) -> datetime | None:
    """Return a time as a datetime in UTC; None for one that is not known."""
    return None if at is None else _moment(at)


def iso(at: Millis | None) -> str | None:
    """Return a moment as ISO 8601 in UTC, with milliseconds and "Z"; None for None."""
    if at is None:
        return None
    return _moment(at).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _moment(at: Millis) -> datetime:
    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=at)


ME = "me"  # the owner when none is named
_FILE: Final = "file:"  # the key of a source that is a file begins so


class Everyone(Enum):
    """Stand for all owners at once; no text equals it, so that it is never meant by accident."""

    EVERYONE = "everyone"

    def __repr__(self) -> str:
        return "EVERYONE"


EVERYONE: Final = Everyone.EVERYONE


class At(NamedTuple):
    """A place in the log of commits: behind what a commit did to the rows up to this id."""

    commit: int = 0
    id: int = 1 << 62


def whose(owner: str | Everyone) -> str | Everyone:
    """Return whom a read is about; raises UsageError where an owner has no name."""
    if owner is EVERYONE:
        return EVERYONE
    if not isinstance(owner, str) or not owner.strip():
        raise UsageError(
            detail=f"the owner is {owner!r}; give a name, {ME!r} for the usual one, or EVERYONE to"
            " read about all of them"
        )
    return owner


def one_owner(owner: str | Everyone) -> str:
    """Return whom a write is about; raises UsageError for EVERYONE and for no name."""
    name = whose(owner)
    if isinstance(name, Everyone):
        raise UsageError(
            detail="EVERYONE is for reading; what is kept, changed or done is one owner's: give a"
            " name"
        )
    return name


class Trust(StrEnum):
    """Say how far a channel is believed, from best to worst (the channel decides, never the content)."""  # noqa: E501

    DIRECT = "direct"  # the user said or typed it
    OBSERVED = "observed"  # a tool call that was really made, a field that the host recorded
    DERIVED = "derived"  # text that a model wrote
    EXTERNAL = "external"  # web pages, tool output


class Role(StrEnum):
    """Say who speaks in an episode."""

    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"
    SYSTEM = "system"


class Trigger(StrEnum):
    """Say what caused a write; `policy.MAY_EMIT` says what each may do."""

    SESSION_LOG = "session_log"  # reading the log of an agent
    USER_MESSAGE = "user_message"  # a turn of a conversation
    COMMAND = "command"  # a person at the command line or in Python
    LEARN_COMMAND = "learn_command"  # the searches that `/learn` asked for
    ENRICHMENT = "enrichment"  # a search of our own about what is known already
    UPKEEP = "upkeep"  # embedding and the nightly work


class EpisodeKind(StrEnum):
    """Say what an episode is."""

    PROMPT = "prompt"  # what the human typed
    REPLY = "reply"  # what the assistant wrote
    TOOL_CALL = "tool_call"  # a call that the assistant made, with its input
    TOOL_RESULT = "tool_result"  # what came back
    SUMMARY = "summary"  # a compaction summary or recap, written by a model
    RECORD = "record"  # a field that the host states exactly (branch, pull request, title)
    TURN = "turn"  # one turn of a conversation that is not an agent's log
    NOTE = "note"  # a paragraph of a note that a person wrote
    COMMAND = "command"  # a command that a person gave to factbook itself
    SEARCH_RESULT = "search_result"  # one result of a search: text of others


DIRECTED_IN: Final = (EpisodeKind.PROMPT,)
"""Where rules and decisions are read: the reader learned its marks from prompts alone, and sees
rules in any chat."""


class FactKind(StrEnum):
    """Say which family a fact belongs to; it decides whether the fact fades and how it is shown."""

    OBSERVATION = "observation"
    STATEMENT = "statement"
    TYPED = "typed"
    WORLD = "world"
    KEYED = "keyed"
    DIRECTIVE = "directive"  # a rule or a decision that its owner gave to agents
    GRAPH = "graph"  # an entity, an observation or a relation that an agent keeps


MERGED_KINDS: Final = tuple(sorted(map(FactKind, policy.MERGED_KINDS)))
"""Kinds whose facts are compared with each other, and may be merged or contradicted."""
NOTIFY_ON: Final = frozenset(map(Trigger, policy.NOTIFY_ON))
"""What may lead to a notice, as it comes."""


class Status(StrEnum):
    """Say where a fact stands in its life."""

    PENDING_EMBED = "pending_embed"
    ACTIVE = "active"
    PROPOSED = "proposed"
    DEPRECATED = "deprecated"  # computed from the confidence now, never stored
    SUPERSEDED = "superseded"
    MERGED_INTO = "merged_into"
    RETRACTED = "retracted"  # its owner took it back: a key that was cleared, an item of a list
    ERASED = "erased"


class Stance(StrEnum):
    """Say whether a piece of evidence speaks for or against its fact."""

    SUPPORTS = "supports"
    CONTRADICTS = "contradicts"


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """One input: a log file, a chat, a search."""

    key: str  # what identifies it for ever, e.g. "file:/home/ann/.claude/projects/x/1234.jsonl"
    kind: str  # session_log, conversation, ...
    host: str  # claude-code, codex, gemini-cli, specstory, ...
    session: str  # the host's own id of the session
    uri: str  # where it was read from (a path)
    project: str = ""  # the working folder that it names
    title: str = ""  # the host's or the user's title
    agent: str = ""  # the sub-agent's id, empty for the main agent

    @property
    def reader(self) -> str:
        """For whom a file was read, as its key says; empty for what is no file."""
        if not self.key.startswith(_FILE):
            return ""
        # A path may hold a question mark, too.
        named = self.key.removeprefix(_FILE).removeprefix(self.uri)
        told = parse_qs(named.rpartition("?")[2], errors="surrogatepass")
        return told.get("owner", [ME])[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """A named part of a tool call's input, as a span of the episode's text."""

    name: str  # canonical: command, path, url, query, pattern, description, ...
    start: int  # first character
    end: int  # one past the last character


class Overheard(NamedTuple):
    """A part of a text that is not its owner's own words."""

    start: int
    end: int
    why: str  # in words


class Outcome(StrEnum):
    """Say what became of a tool call."""

    DONE = "done"  # it did what it was called for, as far as the host can tell
    FAILED = "failed"
    REFUSED = "refused"  # it was never run: the user, a rule or a hook declined it
    STOPPED = "stopped"  # it ran, and was ended before it was done
    RUNNING = "running"  # it goes on in the background
    UNTOLD = "untold"  # it ran; how it ended shows at most in what it printed


WENT_ON: Final = "it went on in the background"
NOT_TOLD: Final = "outcome unknown"
CUT_SHORT: Final = "it was stopped before its end"
END_UNKNOWN: Final = (WENT_ON, NOT_TOLD, CUT_SHORT)
"""What a fact about a call ends with of which it is not known how it ended."""


class Mended(NamedTuple):
    """What failed before, and what was done until the same command passed."""

    error: str  # the line that said why it failed
    files: tuple[str, ...]  # that were changed since
    commands: tuple[str, ...]  # that were run since and may have changed something


class Staged(NamedTuple):
    """What a log tells of what the next commit will hold; all paths are whole ones."""

    named: tuple[str, ...] = ()  # files that were added by name
    swept: tuple[str, ...] = ()  # what was added as a whole; without a slash it may be a file
    changed: tuple[str, ...] = ()  # files that were changed and not committed yet
    created: tuple[str, ...] = ()  # those of them that were not there before
    unseen: tuple[str, ...] = ()  # programs that may have changed others, or taken changes back


class Answer(NamedTuple):
    """What came back of a tool call."""

    outcome: Outcome
    text: str
    code: str = ""  # exit code, where one is recorded
    error: str = ""  # the line that says why it failed
    mended: Mended | None = None
    staged: Staged | None = None  # before a commit


@dataclass(frozen=True, slots=True, kw_only=True)
class Episode:
    """One immutable piece of a source, already redacted and bounded."""

    uid: str  # the same wherever a record is copied to, so that copies count once
    source: str  # Source.key
    kind: EpisodeKind
    role: Role
    trust: Trust
    text: str  # redacted, then cut
    position: int  # line number in the file, from 1 (Gemini: message number)
    offset: int  # byte where that line starts (Gemini: 0)
    occurred_at: Millis | None = None
    owner: str = ME
    subject: str = ""  # task_<uuid>, action_<uuid> or session_<id>: what facts here are about
    group: str = ""  # the assistant's message id, which several records share
    session: str = ""  # the host's session id
    project: str = ""  # working folder at that moment
    branch: str = ""  # git branch at that moment
    agent: str = ""  # sub-agent id, empty for the main agent
    speaker: str = ""  # who says a turn, where its text begins with "Name: "
    tool: str = ""  # name of the called tool, as the log writes it
    call_id: str = ""  # id of the tool call that this is, or that this answers
    fields: tuple[Field, ...] = ()  # spans of the input of a tool call; not stored
    attributes: Mapping[str, str] = field(default_factory=dict)  # exact values of the record
    is_error: bool = False  # the host marked this result as failed
    cut: int = 0  # how many characters were left out of the text
    injected: bool = False  # text that factbook itself put there: never evidence
    embed: bool = True  # whether it is worth a vector
    pasted: tuple[tuple[int, int], ...] = ()  # parts of the text that are known to be a paste
    overheard: tuple[tuple[int, int], ...] = ()  # parts that who speaks only hands on
    asked: str = ""  # of a result that failed: what was called, in short; not stored
    shown_by: tuple[str, ...] = ()  # of a result that failed: what only shows texts; not stored
    answer: Answer | None = None  # of a call whose result is known; not stored

    def value(self, name: str) -> str | None:
        """Return the text of the first field of that name, or None."""
        for part in self.fields:
            if part.name == name:
                return self.text[part.start : part.end]
        return None


UNSTORED: Final = frozenset({"fields", "asked", "shown_by", "answer"})
"""Fields of an episode that serve while it is read, and are not kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """What an extractor proposes: a claim with the span that shows it."""

    subject: str
    predicate: str
    object: str
    statement: str  # the readable sentence
    confidence: float  # 0 to 1, before the cap by trust
    rule: str  # name of the rule that fired
    method: str  # how it was found, in words (origins 000.1: "Direct from `tool_use.name`")
    start: int  # span in the episode's text
    end: int
    kind: FactKind = FactKind.OBSERVATION
    trust: Trust | None = (
        None  # where the record itself is surer than its channel; else the episode's
    )
    embed: bool = False  # statement-like: worth a vector


@dataclass(frozen=True, slots=True, kw_only=True)
class Accepted:
    """The gate lets a candidate in, with the confidence that its trust allows."""

    candidate: Candidate
    confidence: float
    trust: Trust


@dataclass(frozen=True, slots=True, kw_only=True)
class Rejected:
    """The gate refuses a candidate, and says why."""

    candidate: Candidate
    reason: str  # one of policy.REJECTION_REASONS
    detail: str = ""


Verdict: TypeAlias = Accepted | Rejected


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """One episode that speaks for or against a fact, as it is read back."""

    fact_id: int
    episode_id: int
    rule: str
    method: str
    stance: Stance
    quote: str  # the span's text, cut at policy.QUOTE_CHARS
    start: int
    end: int
    occurred_at: Millis | None
    source: str  # Source.uri
    position: int  # line number
    offset: int  # byte offset of the line

    @property
    def when(self) -> datetime | None:
        """When it happened, in UTC."""
        return moment(self.occurred_at)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """A claim as the store holds it."""

    id: int
    owner: str
    subject: str
    predicate: str
    object: str
    statement: str
    kind: FactKind
    status: Status
    confidence: float  # as of `confidence_at`
    confidence_at: Millis
    trust: Trust
    evidence_count: int  # distinct supporting episodes
    occurred_at: Millis | None  # when its last evidence happened
    learned_at: Millis
    episode_id: int  # its first evidence
    retired_at: Millis | None = None
    valid_from: Millis | None = None
    valid_to: Millis | None = None  # LASTING_TO, of what lasts
    merged_into_id: int | None = None
    superseded_by: int | None = None
    pinned: bool = False  # its owner wants it kept as it is: it does not fade
    host: str = ""  # of the source of its first evidence
    session: str = ""
    project: str = ""

    @property
    def when(self) -> datetime | None:
        """When it happened, in UTC."""
        return moment(self.occurred_at)

    @property
    def learned(self) -> datetime:
        """When it came into the memory, in UTC."""
        return _moment(self.learned_at)

    @property
    def true_to(self) -> Millis | None:
        """Until when it is true, where that is known."""
        return None if self.valid_to == policy.LASTING_TO else self.valid_to


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredEpisode:
    """An episode as the store holds it."""

    id: int
    uid: str
    source_id: int
    source: str  # Source.uri
    kind: EpisodeKind
    role: Role
    trust: Trust
    text: str
    position: int
    offset: int
    occurred_at: Millis | None
    owner: str
    subject: str
    group: str
    session: str
    project: str
    branch: str
    agent: str
    tool: str
    call_id: str
    host: str
    is_error: bool
    cut: int
    injected: bool
    speaker: str = ""  # who says a turn, where its text begins with "Name: "
    pasted: tuple[tuple[int, int], ...] = ()  # parts of the text that are known to be a paste
    overheard: tuple[tuple[int, int], ...] = ()  # parts that who speaks only hands on

    @property
    def when(self) -> datetime | None:
        """When it happened, in UTC."""
        return moment(self.occurred_at)

    def heard(self, start: int = 0, end: int | None = None) -> Trust:
        """Return how far a part of its text is trusted: not as its owner's, where it is not."""
        end = len(self.text) if end is None else end
        theirs = any(first < end and start < last for first, last in self.overheard)
        return Trust.DERIVED if theirs and self.trust is Trust.DIRECT else self.trust


class Event(NamedTuple):
    """One row of the append-only history."""

    id: int
    at: Millis
    actor: str
    trigger: Trigger
    op: str
    target_kind: str  # fact, episode, source
    target_id: int
    detail: Mapping[str, object]
    run_id: int | None = None  # the consolidation that it belongs to

    @property
    def target(self) -> str:
        """What it is of: "fact:12", "episode:3"."""
        return f"{self.target_kind}:{self.target_id}"

    @property
    def when(self) -> datetime:
        """When it was written, in UTC."""
        return _moment(self.at)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cursor:
    """How far a file has been read, so that the next run goes on from there."""

    offset: int = 0  # bytes consumed
    line: int = 0  # lines consumed
    size: int = 0  # size of the file at that time
    mtime_ns: int = 0
    head: str = ""  # digest of the consumed file's first bytes: another digest means another file
    tail: str = ""  # digest of the last consumed bytes: another digest means rewritten content
    state: Mapping[str, object] = field(default_factory=dict)  # what the reader must remember


@dataclass(frozen=True, slots=True, kw_only=True)
class RejectedLine:
    """A line that could not be read, kept with its reason."""

    position: int
    offset: int
    reason: str  # one of policy.LINE_REJECTIONS
    detail: str
    excerpt: str  # redacted first characters


def _add(account: Receipt | LineCount, other: Receipt | LineCount) -> None:
    """Add to each field of an account that of another one of its class."""
    for name in account.__slots__:
        mine, more = getattr(account, name), getattr(other, name)
        if isinstance(mine, dict):
            for key, count in more.items():
                mine[key] = mine.get(key, 0) + count
        else:
            setattr(account, name, mine + more)


@dataclass(slots=True, kw_only=True)
class Receipt:
    """What the database really changed, as it counted; never what was asked for."""

    sources: int = 0  # new sources
    episodes: int = 0  # new episodes
    episodes_unchanged: int = 0  # offered again, already there
    stored: int = 0  # new facts
    updated: int = 0  # facts whose row changed
    unchanged: int = 0  # facts offered again with nothing new
    evidence: int = 0  # new evidence rows
    proposed: int = 0
    rejected: int = 0
    merged: int = 0
    embedded: int = 0  # vectors written
    supported: int = 0  # facts that gained confidence from new evidence
    contradicted: int = 0  # facts that lost confidence to another one or to an episode
    superseded: int = 0  # facts that a newer one took the place of
    unmerged: int = 0
    reverted: int = 0  # changes taken back by an undo
    judged: int = 0  # pairs judged for the first time
    queued: int = 0  # of these, ambiguous ones that wait for a verdict
    settled: int = 0  # waiting pairs and proposals that were decided
    confirmed: int = 0  # proposed facts that a person or a second observation made active
    retracted: int = 0  # keyed facts and those of a graph that were taken back, or unsupported now
    withdrawn: int = 0  # evidence that a better reader does not find
    entities: int = 0  # new ones, or brought back
    engagements: int = 0
    preferences: int = 0  # set or taken back
    searches: int = 0  # made, or queued
    notices: int = 0  # made, or claimed
    keys: list[tuple[str, str]] = field(default_factory=list)  # (key, one of policy.KEY_ACTIONS)
    graph: list[str] = field(default_factory=list)  # new claims of an agent's graph, in hex
    problems: list[str] = field(default_factory=list)  # steps that were left out, and why
    rejections: dict[str, int] = field(default_factory=dict)  # reason -> count
    kept_out: int = 0  # what was erased before and was offered again
    erased: dict[str, int] = field(default_factory=dict)  # kind of row -> how many are gone

    def add(self, other: Receipt) -> None:
        """Add the counts of another receipt to this one."""
        _add(self, other)


@dataclass(slots=True, kw_only=True)
class LineCount:
    """Account for every line of a file: kept, ignored by kind, or rejected with a reason."""

    lines: int = 0  # physical lines seen
    records: int = 0  # JSON records in them (two glued on one line count two)
    kept: dict[str, int] = field(default_factory=dict)  # kind of record -> count
    ignored: dict[str, int] = field(default_factory=dict)  # kind -> count, on purpose
    unknown: dict[str, int] = field(default_factory=dict)  # record types that nobody knows yet
    rejected: dict[str, int] = field(default_factory=dict)  # reason -> count
    repaired: dict[str, int] = field(default_factory=dict)  # what was mended or taken out
    waiting: int = 0  # a half-written last line, left for the next run

    def total(self) -> int:
        """Count what has an outcome: `records`, blank lines and `waiting`, when all is well."""
        parts = (self.kept, self.ignored, self.unknown, self.rejected)
        return sum(sum(part.values()) for part in parts) + self.waiting

    def add(self, other: LineCount) -> None:
        """Add another count to this one."""
        _add(self, other)


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """One answer of recall: a fact or an episode, with what shows it."""

    id: str  # "f12" or "e34"
    kind: str  # "fact" or "episode"
    text: str
    score: float  # 0 to 1, comparable within one answer
    confidence: float
    occurred_at: Millis | None
    source: str
    position: int
    host: str
    project: str
    session: str
    predicate: str = ""
    object: str = ""
    count: int = 1  # how many facts of the same predicate and object stand behind it
    evidence: Sequence[Evidence] = ()
    trust: Trust | None = None  # of the fact or of all that is shown; None where it is not known
    role: Role | None = None  # who speaks in an episode
    speaker: str = ""  # by which name, where several do
    overheard: tuple[tuple[int, int], ...] = ()  # parts of its text that who speaks only hands on
    turn: Turn | None = None  # the turn of an agent's log that it was found in
    bearing: float = 0.0  # 0 to 1: how much it bears on the question, whatever else was found
    replaced_by: int | None = None  # the fact that took the place of all that an episode states

    @property
    def by(self) -> str:
        """Who speaks, in words; what its owner pasted or quoted is not the owner's own word."""
        return speaker_of(self)

    @property
    def when(self) -> datetime | None:
        """When it happened, in UTC."""
        return moment(self.occurred_at)

    @property
    def timestamp(self) -> str | None:
        """When it happened, as ISO 8601 in UTC."""
        at = self.when
        return None if at is None else at.isoformat(timespec="seconds").replace("+00:00", "Z")


SQLValue: TypeAlias = str | int | float | bytes | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceState:
    """What the store knows of a source."""

    id: int = 0  # of one that is to be added
    source: Source
    cursor: Cursor = field(default_factory=Cursor)
    lines: LineCount = field(default_factory=LineCount)
    episode_count: int = 0
    first_at: Millis | None = None
    last_at: Millis | None = None


class Run(NamedTuple):
    """A consolidation."""

    id: int
    started_at: Millis
    finished_at: Millis | None
    state: str  # running, done, failed, undone
    phase: str  # the last phase that is done
    report: Mapping[str, object]


class Proposal(NamedTuple):
    """Something that waits for a person, or that one decided."""

    id: int
    kind: str
    title: str
    payload: Mapping[str, object]
    proposed_at: Millis
    state: str  # open, accepted, edited (accepted in other words), refused
    decided_at: Millis | None
    reason: str
    claim: bytes  # what stands for it, so that it is made once
    decided_by: str


class ModelTask(NamedTuple):
    """What became of an input of a language model."""

    kind: str  # what is asked of a model: "tell"; of "heard": whether a message was read at all
    target: int  # the episode's id; of a pair, `maintenance.verdict_queue.task_of`
    state: str  # queued, done, failed (waits for another try) or aside
    attempts: int  # failures
    error: str  # of the last one
    version: str  # of the prompt
    until: Millis  # not to be tried before
    at: Millis


class Injection(NamedTuple):
    """What was put before a model or a person at one moment."""

    id: int
    at: Millis
    owner: str
    session: str
    mode: str
    items: Sequence[str]
    used: Sequence[str]
    judged_at: Millis | None
    resolved: bool | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Rejection:
    """A row of the rejection log, as it is read back."""

    id: int
    at: Millis
    source: str
    position: int
    reason: str
    detail: str
    excerpt: str
    rule: str
    predicate: str
    owner: str = ""
    type: str = ""  # of a typed memory; empty for everything else
    confidence: float | None = None
    threshold: float | None = None
    validation: Mapping[str, object] = field(default_factory=dict)


class ErasureAct(NamedTuple):
    """One act of erasing, as it is remembered."""

    id: int
    at: Millis
    actor: str
    what: str  # fact, episode, source, rejection, entity or owner
    counts: Mapping[str, int]  # kind of row -> how many are gone
    clean: bool  # the file has been looked through since, and nothing was left
    allowed_at: Millis | None  # since then the same may be kept again


class Taken(NamedTuple):
    """A text that was erased, as long as it takes to look for it in what was kept."""

    text: str
    how: str  # "name" of a thing or person, "fact", "said", or "page": nobody's own words


@dataclass(frozen=True, slots=True, kw_only=True)
class Scoured:
    """What became of the bytes of a file after an erasure."""

    clean: bool  # nothing of it is left in the file
    rewritten: bool  # pieces were left in free parts of it, so it was written anew
    waiting: str = ""  # who kept the file from being cleaned; it is done the next time
    pieces: int = 0  # runs of eight bytes that are there and in nothing that is kept
    copies: Sequence[str] = ()  # files beside it that hold it: copies, and what a kill left


@dataclass(frozen=True, slots=True, kw_only=True)
class Sighting:
    """Where a text stands."""

    rows: Sequence[str]  # that hold it: e34, f12 (at most a screenful)
    in_file: bool | None  # its bytes stand in the file, in rows or not; None: it is no file
    pieces: int  # runs of eight bytes of it that are there and in nothing that is kept
    copies: Sequence[str]  # copies of the file that hold it
