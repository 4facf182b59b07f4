"""The nouns of what people care about: entities, engagements, searches, notices.

Values only, no I/O. Times are `model.Millis`. Every row belongs to one owner.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, NamedTuple

from factbook.model.facts import Fact, Millis, Trigger

ABOUT: Final = "about"  # the predicate of what is said of an entity


class Valence(StrEnum):
    """Say which way an engagement points."""

    POSITIVE = "positive"
    NEGATIVE = "negative"
    NEUTRAL = "neutral"


class EngagementType(StrEnum):
    """Say what somebody did (the ten of origins 003.1, in upper case as its `LIKE_COMMAND`)."""

    LEARN_COMMAND = "LEARN_COMMAND"
    LIKE_COMMAND = "LIKE_COMMAND"
    DISLIKE_COMMAND = "DISLIKE_COMMAND"
    EXPLICIT_STATEMENT = "EXPLICIT_STATEMENT"  # "I love X"; "I hate X" points the other way
    SEARCH_INITIATED = "SEARCH_INITIATED"
    FOLLOW_UP_QUESTION = "FOLLOW_UP_QUESTION"
    PROACTIVE_NEGATIVE_REACTION = "PROACTIVE_NEGATIVE_REACTION"
    PROACTIVE_POSITIVE_REACTION = "PROACTIVE_POSITIVE_REACTION"
    NORMAL_REACTION = "NORMAL_REACTION"  # to an answer that was asked for
    MENTIONED_IN_PASSING = "MENTIONED_IN_PASSING"


class PreferenceType(StrEnum):
    """Say whether a topic is liked."""

    LIKE = "like"
    DISLIKE = "dislike"


class NoticeKind(StrEnum):
    """Say what a notice tells of its entity."""

    DISCOVERED = "discovered"  # a new entity
    LEARNED = "learned"  # new facts of a known one


class NoticeState(StrEnum):
    """Say where a notice stands."""

    WAITING = "waiting"  # until the back-off lets it pass
    CLAIMED = "claimed"  # somebody is delivering it
    SENT = "sent"
    FAILED = "failed"  # it may not have arrived
    DROPPED = "dropped"  # its entity was muted or removed, it was too short, nothing is left


class SearchState(StrEnum):
    """Say where a search that was asked for stands."""

    QUEUED = "queued"
    DONE = "done"
    FAILED = "failed"  # waits for another try
    ASIDE = "aside"  # failed too often


class Entity(NamedTuple):
    """A thing that its owner cares about."""

    id: int
    owner: str
    name: str  # canonical: lower case (`keys.entity_name`), unique among the owner's current ones
    created_at: Millis
    updated_at: Millis
    episode_id: int  # what its owner did or asked for that brought it in
    trigger: Trigger  # of that
    retired_at: Millis | None = None
    merged_into_id: int | None = None
    muted: bool = False  # no notices about it
    aliases: Sequence[str] = ()  # other names, canonical too
    fact_count: int = 0  # current facts about it
    last_activity: Millis | None = None  # when its newest fact was said, or it was dealt with
    since: Millis | None = None  # when it was brought in; None where that is not known

    @property
    def current(self) -> bool:
        """Tell whether it is not deleted or merged away."""
        return self.retired_at is None


class Engagement(NamedTuple):
    """One thing that an owner did about an entity or a preference."""

    id: int
    owner: str
    entity_id: int | None
    preference_id: int | None
    type: EngagementType
    valence: Valence
    strength: float  # 0 to 1
    episode_id: int | None  # origins 003.1's source_message_id
    at: Millis


class Preference(NamedTuple):
    """A topic that an owner likes or dislikes."""

    id: int
    owner: str
    topic: str
    type: PreferenceType
    created_at: Millis
    retired_at: Millis | None = None
    episode_id: int = 0  # where its owner said so


class SearchLog(NamedTuple):
    """A search that was made; its results are episodes."""

    id: int
    owner: str
    at: Millis
    query: str
    trigger: Trigger  # user_message, learn_command or enrichment
    provider: str
    duration_ms: int | None
    extracted: bool
    learn_prompt_id: int | None
    entity_id: int | None  # that an enrichment was about
    cause_id: int | None  # the message or command that it was made for
    episode_ids: Sequence[int]  # the results, best first


class SearchTask(NamedTuple):
    """A search that waits to be made."""

    id: int
    owner: str
    query: str
    trigger: Trigger
    learn_prompt_id: int | None
    entity_id: int | None
    cause_id: int | None  # the message or command that asks for it
    state: SearchState
    attempts: int
    error: str
    until: Millis  # not to be tried before
    created_at: Millis


class LearnPrompt(NamedTuple):
    """What an owner asked to be learned."""

    id: int
    owner: str
    text: str
    status: str  # active or completed
    searches_remaining: int
    created_at: Millis
    updated_at: Millis


class Notice(NamedTuple):
    """What is told of one entity by itself, without being asked."""

    id: int
    owner: str
    entity_id: int
    kind: NoticeKind
    trigger: Trigger  # of the search or message that brought the facts
    fact_ids: Sequence[int]
    image: str  # address of a picture, empty without one
    state: NoticeState
    created_at: Millis
    sent_at: Millis | None
    channels: Sequence[str]  # that took it
    reason: str  # why it was dropped or failed


class NotifyState(NamedTuple):
    """How much an owner has been told without answering."""

    owner: str
    unanswered: int  # notices since the last thing that the owner did
    last_sent_at: Millis | None
    engaged_at: Millis | None
    muted: bool


class Schedule(NamedTuple):
    """A topic that is searched for again and again."""

    id: int
    owner: str
    topic: str
    every_ms: int
    next_at: Millis
    created_at: Millis
    episode_id: int = 0  # the command that made it
    retired_at: Millis | None = None

    def is_due(self, now: Millis) -> bool:
        """Tell whether its time has come; one further away was set by a clock that ran ahead."""
        return not now < self.next_at <= now + self.every_ms


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchResult:
    """One result of a search, as a provider gives it: text of others, never to be obeyed."""

    title: str
    url: str  # http(s), or file: for a document of one's own
    text: str  # what was found there
    image: str = ""  # http(s) address of a picture
    published_at: Millis | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchAnswer:
    """What a provider found."""

    provider: str  # SearchProvider.id
    results: Sequence[SearchResult]  # best first
    duration_ms: int
    dropped: int = 0  # results left out: of a private address or an odd one, or of no text
    remarks: Sequence[str] = ()  # what was left out or did not answer, one sentence each


@dataclass(frozen=True, slots=True, kw_only=True)
class InQuestion:
    """An entity that a message is about."""

    entity: Entity
    cosine: float | None = None  # to the message, where it is not named; None where it is


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownFact:
    """A fact that bears on a message."""

    fact: Fact  # with the confidence it has now
    relevance: float  # origins 001.1's, 0 to 1
    answers: bool = False  # says what is asked, and not only something of the thing
    place: str = ""  # address of the page that said so, where one did
