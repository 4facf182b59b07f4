"""The verbs: everything that changes memory is one of these Ops; `apply` is their only reader.

The union is closed, and each Op is a frozen value. What people care about has its Ops in
`interest_ops`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias, get_args

from factbook.model.facts import (
    At,
    Candidate,
    Cursor,
    Episode,
    LineCount,
    Millis,
    RejectedLine,
    Source,
    Trust,
)
from factbook.model.interest_ops import InterestOp
from factbook.model.restored import FileRow, ImportState


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordSource:
    """Make a source known, or bring its title and project up to date."""

    source: Source


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordEpisode:
    """Keep an episode; one with the same uid is kept once."""

    episode: Episode


@dataclass(frozen=True, slots=True, kw_only=True)
class AssertFact:
    """Claim a fact with an episode as its evidence."""

    candidate: Candidate
    episode: str  # Episode.uid of the evidence
    owner: str
    confidence: float  # capped by trust, as the gate decided
    trust: Trust
    quote: str  # the whole of the span's text in that episode
    proposed: bool = False  # it waits for a person's yes or a second observation
    factors: Mapping[str, object] | None = None  # what its confidence was made of (origins 002.2)


@dataclass(frozen=True, slots=True, kw_only=True)
class RejectCandidate:
    """Keep what the gate refused, with its reason."""

    candidate: Candidate
    episode: str
    owner: str
    reason: str
    detail: str = ""
    type: str = ""  # of a typed memory (origins 002.2): USER_FACT, USER_PATTERN or SHARED_NARRATIVE
    confidence: float | None = None  # how sure it was in the end
    threshold: float | None = None  # how sure it should have been
    validation: Mapping[str, object] | None = None  # origins 002.2: validation_details


@dataclass(frozen=True, slots=True, kw_only=True)
class RejectLine:
    """Keep the place and the reason of a line that could not be read."""

    source: str
    line: RejectedLine
    owner: str = ""  # whose it is; empty: of whom the rest of its source is about


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteReaders:
    """Remember with what sources were read.

    Of the episodes of a call `apply` notes the redactor and the rules by itself.
    """

    readers: Mapping[str, str]  # "redactor", "rules", "directives", "statements" -> version
    sources: Sequence[int] = ()  # ids; without any, those of the episodes of this call
    only: bool = False  # all of them was read so: what other versions read counts no more


@dataclass(frozen=True, slots=True, kw_only=True)
class KeepTold:
    """Remember secrets by keyed digests, so that they are known where nothing announces them."""

    secrets: Sequence[tuple[bytes, int, str]]  # digest, number of characters, kind


@dataclass(frozen=True, slots=True, kw_only=True)
class AdvanceCursor:
    """Remember how far a source has been read and what its lines were."""

    source: str
    cursor: Cursor
    lines: LineCount  # of this step
    began: int | None = None  # the byte where this step began: another run may have been faster
    restart: bool = False  # the file was replaced: its counts begin anew


EMBEDDED: Final = ("fact", "entity", "preference", "episode")
"""What has vectors; facts first: they are few, and what is asked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreVectors:
    """Keep vectors; a waiting fact becomes active."""

    target: str  # one of EMBEDDED
    model: str  # Embedder.id
    ids: Sequence[int]
    vectors: bytes  # len(ids) rows of float16, normalised
    dim: int
    token: int | None = None  # of the claim on these rows: a newer claim makes it worthless


@dataclass(frozen=True, slots=True, kw_only=True)
class SupportFact:
    """Let one more episode speak for a fact; an episode counts once."""

    fact_id: int
    episode_id: int
    quote: str  # what of the episode supports it: the whole of the span's text
    start: int  # span in the episode's text
    end: int
    rule: str
    method: str
    trust: Trust  # of the episode's channel: it bounds how far the fact grows
    confidence: float = 0.0  # how sure this episode alone makes the fact
    agrees: bool = False  # it was read of its words before: no more evidence, but as sure as this


@dataclass(frozen=True, slots=True, kw_only=True)
class DoubtFact:
    """Let an episode speak against a fact: it loses half its confidence, once per episode."""

    fact_id: int
    episode_id: int
    quote: str
    start: int
    end: int
    rule: str
    method: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WithdrawEvidence:
    """Let an episode speak for a fact no more: read again, it does not say so.

    A fact that nothing else speaks for retires, and what it took the place of comes back. What its
    owner stands for or has called wrong stays as it is.
    """

    fact_id: int
    episode_id: int
    rule: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ContradictFacts:
    """Halve two facts that cannot both be true, once per pair."""

    low_id: int
    high_id: int
    rule: str
    detail: str
    similarity: float


@dataclass(frozen=True, slots=True, kw_only=True)
class SupersedeFact:
    """Retire a fact in favour of a newer one in the same slot; its row and history stay."""

    old_id: int
    new_id: int
    rule: str
    detail: str
    similarity: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class MergeFacts:
    """Make one fact of several that say the same: the winner takes over their evidence."""

    winner_id: int
    loser_ids: Sequence[int]
    evidence_counts: Sequence[int]  # as they were seen, winner first: who changed is left alone
    rule: str
    detail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class UnmergeFact:
    """Take a merged fact out again, with its own evidence."""

    fact_id: int


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgePair:
    """Remember what a pair of facts is to each other; an ambiguous one waits for a verdict."""

    low_id: int
    high_id: int
    relation: str  # gate.judge.Relation
    rule: str
    detail: str
    similarity: float


@dataclass(frozen=True, slots=True, kw_only=True)
class SettlePair:
    """Decide a waiting pair; what follows from it (merge, contradiction) are Ops of their own."""

    low_id: int
    high_id: int
    verdict: str  # one of policy.VERDICTS


@dataclass(frozen=True, slots=True, kw_only=True)
class PinFact:
    """Keep a fact from fading, or let it fade again."""

    fact_id: int
    pinned: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class HoldFact:
    """Let no silence make a fact less sure: it holds until something is said of it.

    With `until`, it is true up to then, as it says itself, and fades fast from then on.
    """

    fact_id: int
    until: Millis | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RateFact:
    """Take a person's word on whether a fact is right, or a model's that it is to be left out."""

    fact_id: int
    right: bool
    session: str = ""  # of the model that says so; it leaves alone what is pinned
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RetractFact:
    """Take out of all recall what an agent, or a file of rules, holds no more.

    Its row and its history stay.
    """

    fact_id: int
    rule: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RetractNode:
    """Take all out that an agent's graph says of a name, as it stands then; see `RetractFact`."""

    owner: str
    name: str
    rule: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RevertFact:
    """Take back one change of a fact, if the fact is still as that change left it."""

    event_id: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Propose:
    """Put something before a person; the same proposal is made once."""

    kind: str
    key: str  # what makes it the same proposal
    title: str
    payload: Mapping[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class DecideProposal:
    """Take a person's yes or no."""

    proposal_id: int
    accept: bool
    reason: str = ""
    edited: bool = False  # accepted in other words: as it was proposed it is not to come back


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkProgress:
    """Remember how far a part of the nightly work has come."""

    name: str
    at: At


@dataclass(frozen=True, slots=True, kw_only=True)
class KeepLoose:
    """Remember the episodes whose statements stand alone so far, instead of those before."""

    episode_ids: Sequence[int]


@dataclass(frozen=True, slots=True, kw_only=True)
class StartRun:
    """Begin a consolidation."""

    run_id: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FinishRun:
    """Say where a consolidation stands: a phase that is done, or its end."""

    run_id: int
    state: str  # running, done, failed, undone
    phase: str
    report: Mapping[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreNextVectors:
    """Keep vectors of the next embedding model beside those in use."""

    target: str
    model: str
    ids: Sequence[int]
    vectors: bytes
    dim: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplaceVectors:
    """Put the vectors of the next model in the place of those in use, all at once."""

    model: str
    dim: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordInjection:
    """Remember what was put before a model or a person."""

    session: str
    owner: str
    mode: str  # passive, tool or context
    items: Sequence[str]  # ids as hits have them: f12, e34
    used: Sequence[str] | None = None  # which of them the answer used, where that is known
    latency_ms: float | None = None  # from the end of the turn before until they were ready


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordUse:
    """Remember which of it the answer used, and whether it was enough."""

    injection_id: int
    used: Sequence[str]
    resolved: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Count:
    """Add to a counter of the day."""

    name: str
    value: float = 1.0


# with a language model (seeds 002 and 004)


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyStep:
    """One step of a change of keyed facts."""

    action: str  # one of policy.KEY_STEPS
    key: str  # canonical: of the fact, or of the list
    value: str = ""
    rank: int | None = None  # from 1: where the value is to stand, or what is to be removed
    from_rank: int | None = None  # of a move that names no value
    insert: bool = False  # what stands at the rank moves down, instead of leaving the list
    confidence: float = 1.0
    start: int = 0  # span in the episode that says so
    end: int = 0
    number: int = 0  # which of the given operations it is part of, from 1


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeKeys:
    """Set, move and clear keyed facts of one owner, as one message asks for it.

    The steps are taken in their order on the lists as they stand under the write lock; what counts
    as stored or updated is the difference between before and after.
    """

    owner: str
    episode: str  # Episode.uid of the message
    steps: Sequence[KeyStep]
    trust: Trust
    rule: str
    method: str
    atomic: bool = True  # one bad step takes all back; else it is left out and said
    late: bool = False  # the message waited: what was said since under the same keys must stay


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfirmFact:
    """Make a proposed fact active on a person's word."""

    fact_id: int


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueTask:
    """Remember, with the input itself, that a model is to be asked about it."""

    kind: str
    episode: str  # Episode.uid of the input
    version: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FinishTask:
    """Remember that a model has answered for an input, so that it is not asked again."""

    kind: str  # typed, tell, commands, turns or judge
    target: int  # the episode's id; of a pair, upkeep.settling.task_of
    version: str  # of the prompt


@dataclass(frozen=True, slots=True, kw_only=True)
class FailTask:
    """Leave an input queued after a failure, with its reason; too many set it aside."""

    kind: str
    target: int
    version: str
    error: str
    tried: bool = True  # False: nothing was made of the input (the budget is spent, the endpoint
    # does not answer), so the count stays
    wait_ms: Millis = 0  # that the endpoint asks for; it is not tried again before


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryTasks:
    """Let inputs that were set aside be tried again."""

    kind: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BeginCall:
    """Reserve one call of a model; refused where the budget of the day is spent."""

    purpose: str
    model: str
    max_calls: int | None = None
    max_tokens: int | None = None
    max_money: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class EndCall:
    """Count a call that was reserved, however it ended."""

    purpose: str
    model: str
    began_at: Millis  # when it was reserved
    outcome: str
    prompt_tokens: int
    answer_tokens: int
    latency_ms: float
    money: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Restore:
    """Put rows of an export back as they were: a batch of one import, in the order of the file."""

    rows: Sequence[FileRow]  # a fact and its evidence in one batch
    so_far: ImportState  # what is known from one batch to the next
    last: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class EraseFact:
    """Erase a fact with all that stands behind it, and its words in the episodes it was read from.

    With `whole_episodes` these episodes are erased entirely.
    """

    fact_id: int
    whole_episodes: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class EraseEpisode:
    """Erase an episode, and the facts that stand on nothing else."""

    episode_id: int


@dataclass(frozen=True, slots=True, kw_only=True)
class EraseSource:
    """Erase every episode of a source; what it holds is not read again."""

    source_id: int


@dataclass(frozen=True, slots=True, kw_only=True)
class EraseRejection:
    """Erase one entry of the log of what was refused."""

    rejection_id: int


@dataclass(frozen=True, slots=True, kw_only=True)
class EraseEntity:
    """Erase an entity, everything about it, and its name in what its owner said."""

    entity_id: int


@dataclass(frozen=True, slots=True, kw_only=True)
class EraseNoted:
    """Erase one row of what was noted beside facts and episodes."""

    target: str  # preference, learn_prompt, schedule, search_log, search_task or proposal
    row_id: int


@dataclass(frozen=True, slots=True, kw_only=True)
class EraseOwner:
    """Erase everything of an owner."""

    owner: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AllowAgain:
    """Let what one erasure took be kept again, where it is met again."""

    erasure_id: int


ErasingOp: TypeAlias = (
    EraseFact
    | EraseEpisode
    | EraseSource
    | EraseRejection
    | EraseEntity
    | EraseNoted
    | EraseOwner
    | AllowAgain
)

Op: TypeAlias = (
    RecordSource
    | RecordEpisode
    | AssertFact
    | RejectCandidate
    | RejectLine
    | AdvanceCursor
    | NoteReaders
    | KeepTold
    | StoreVectors
    | SupportFact
    | DoubtFact
    | WithdrawEvidence
    | ContradictFacts
    | SupersedeFact
    | MergeFacts
    | UnmergeFact
    | JudgePair
    | SettlePair
    | PinFact
    | HoldFact
    | RateFact
    | RetractFact
    | RetractNode
    | RevertFact
    | Propose
    | DecideProposal
    | MarkProgress
    | KeepLoose
    | StartRun
    | FinishRun
    | StoreNextVectors
    | ReplaceVectors
    | RecordInjection
    | RecordUse
    | Count
    | ChangeKeys
    | ConfirmFact
    | QueueTask
    | FinishTask
    | FailTask
    | RetryTasks
    | BeginCall
    | EndCall
    | Restore
    | InterestOp
    | ErasingOp
)

OPS: Mapping[str, type] = {op.__name__: op for op in get_args(Op)}
