"""The verbs of what people care about: entities, engagement, searches and notices.

They are members of the one union `factbook.model.ops.Op`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from factbook.model.entities import EngagementType, NoticeState, PreferenceType, Valence
from factbook.model.facts import Millis


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateEntity:
    """Make a thing that its owner cares about known; one that is known stays as it is.

    `episode` is what its owner did (a message, a command) or a result of a search that its owner
    caused. Nothing else can bring an entity in, whatever the trigger says.
    """

    owner: str
    name: str  # canonical (`keys.entity_name`)
    episode: str  # Episode.uid


@dataclass(frozen=True, slots=True, kw_only=True)
class AddAlias:
    """Let a current entity be known by another name too."""

    owner: str
    entity: str
    alias: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MergeEntities:
    """Give one entity everything of another that is the same thing; can be taken back."""

    winner_id: int
    loser_id: int
    rule: str
    detail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class UnmergeEntity:
    """Take a merged entity out again, with what was its own."""

    entity_id: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RetireEntity:
    """Forget an entity and the facts about it, so that it can be brought back."""

    entity_id: int
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RestoreEntity:
    """Bring back an entity that was forgotten, with the facts about it."""

    entity_id: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MuteEntity:
    """Tell nothing more of an entity by itself, or begin again."""

    entity_id: int
    muted: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class MuteOwner:
    """Tell an owner nothing by itself, or begin again."""

    owner: str
    muted: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordEngagement:
    """Keep what an owner did about an entity or a preference, once for each message."""

    owner: str
    type: EngagementType
    valence: Valence
    strength: float  # 0 to 1
    entity: str = ""  # its canonical name, or
    preference: str = ""  # the topic of a current preference, or both
    episode: str  # Episode.uid of what was said or typed


@dataclass(frozen=True, slots=True, kw_only=True)
class SetPreference:
    """Keep that an owner likes or dislikes a topic; the opposite of the same topic goes."""

    owner: str
    topic: str  # canonical, as names of entities are
    type: PreferenceType
    episode: str  # Episode.uid


@dataclass(frozen=True, slots=True, kw_only=True)
class DropPreference:
    """Take back that an owner likes or dislikes a topic."""

    owner: str
    topic: str
    type: PreferenceType


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenLearnPrompt:
    """Keep what an owner wants learned, with the searches that it takes, which then wait."""

    owner: str
    text: str
    episode: str  # Episode.uid of the command
    queries: Sequence[str] = ()  # none where they are planned later


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanLearning:
    """Give what is to be learned its searches, once; they then wait."""

    prompt_id: int
    queries: Sequence[str]
    planner: str  # "rules", or the model that thought of them


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueSearch:
    """Let a search wait until it is made; its trigger is that of the call."""

    owner: str
    query: str
    entity_id: int | None = None
    episode: str = ""  # Episode.uid of the message or command that asks for it


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordSearch:
    """Keep that a search was made and which episodes it gave; its trigger is that of the call."""

    owner: str
    query: str
    provider: str
    duration_ms: int | None
    results: Sequence[str]  # Episode.uid of each, best first
    task_id: int | None = None  # that is done by it
    entity_id: int | None = None
    episode: str = ""  # Episode.uid of the message or command that it was made for
    uid: str = ""  # of its own, by which whoever made it finds it again
    claimer: str = ""  # who makes the task: refused where that is another one by now


@dataclass(frozen=True, slots=True, kw_only=True)
class FailSearch:
    """Leave a search waiting after a failure, with its reason; too many set it aside."""

    task_id: int
    error: str
    tried: bool = True  # False: nobody answered there, so the count stays
    aside: bool = False  # at once: it would fail alike every time
    claimer: str = ""  # who makes the task: refused where that is another one by now


@dataclass(frozen=True, slots=True, kw_only=True)
class RetrySearches:
    """Let searches that were set aside be tried again, and searches and messages be read again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenName:
    """A place where a model saw the name of something new."""

    start: int  # in the episode
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class KeepSeen:
    """Remember the new names that a model saw in a result, which are weighed with the others'."""

    search_id: int
    episode_id: int
    names: Sequence[SeenName] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkDiscovered:
    """Remember that the results of a search were looked through for new things."""

    search_id: int


@dataclass(frozen=True, slots=True, kw_only=True)
class NewFind:
    """A fact that a result brings; it is news only where the same call stores it."""

    entity: str
    object: str
    nearest: float | None = None  # greatest cosine to a fact known before; None without any


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkResultRead:
    """Remember that a result was read for facts, and which new ones are to be told at the end."""

    search_id: int
    episode_id: int
    finds: Sequence[NewFind] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class FailResult:
    """Remember that a result could not be read, so that the others come before it."""

    search_id: int
    episode_id: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Fence:
    """Refuse the whole call where the lease that it was worked out under was taken over."""

    lease: str
    token: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkExtracted:
    """Remember that the results of a search were read for facts."""

    search_id: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkHeard:
    """Remember that a message was read for entities and engagements."""

    episode_id: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Announce:
    """Let new facts about an entity be told to its owner: those that this call stored.

    With `search_id` those of `fact_ids` that this search brought and nobody was told.
    """

    owner: str
    entity: str
    facts: Sequence[str] | None = None  # objects worth telling; all that are new, without it
    image: str = ""
    search_id: int | None = None
    fact_ids: Sequence[int] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimNotice:
    """Begin to deliver a notice; refused while the back-off, a mute or another holds it."""

    notice_id: int
    holder: str  # who delivers it (`leases.holder_name`): where that has ended, it is let go


@dataclass(frozen=True, slots=True, kw_only=True)
class FinishNotice:
    """Say what became of a notice that was claimed, or drop one that waits."""

    notice_id: int
    state: NoticeState  # sent, failed or dropped
    channels: Sequence[str] = ()
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteAction:
    """Remember that an owner did something just now: notices may come at once again."""

    owner: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SetSchedule:
    """Let a topic be searched for again and again."""

    owner: str
    topic: str
    every_ms: int
    next_at: Millis
    episode: str  # Episode.uid of the command


@dataclass(frozen=True, slots=True, kw_only=True)
class DropSchedule:
    """End a schedule."""

    schedule_id: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSchedule:
    """Queue the search of a schedule that is due, and put its next time off."""

    schedule_id: int


InterestOp: TypeAlias = (
    CreateEntity
    | AddAlias
    | MergeEntities
    | UnmergeEntity
    | RetireEntity
    | RestoreEntity
    | MuteEntity
    | MuteOwner
    | RecordEngagement
    | SetPreference
    | DropPreference
    | OpenLearnPrompt
    | PlanLearning
    | QueueSearch
    | RecordSearch
    | FailSearch
    | RetrySearches
    | KeepSeen
    | MarkDiscovered
    | MarkResultRead
    | FailResult
    | Fence
    | MarkExtracted
    | MarkHeard
    | Announce
    | ClaimNotice
    | FinishNotice
    | NoteAction
    | SetSchedule
    | DropSchedule
    | RunSchedule
)
